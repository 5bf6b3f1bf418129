//! This process and others, by their numbers. Nothing here starts or stops one.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// This process's number.
pub fn id() -> u32 {
    std::process::id()
}

/// Whether a process of this machine has this number and still runs; `true` where that can't be told.
pub fn is_running(id: u32) -> bool {
    // One that ended and was not yet waited for has its number still, and nothing else.
    if let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) {
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        return !matches!(state, Some('Z' | 'X'));
    }
    match i32::try_from(id).ok().and_then(Pid::from_raw) {
        Some(process) => !matches!(test_kill_process(process), Err(Errno::SRCH)),
        None => false,
    }
}

/// This machine's name, where it costs no more than reading a file.
pub fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{id, is_running};

    #[test]
    fn what_runs_is_told_from_what_ended() {
        assert!(is_running(id()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert!(is_running(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_running(child.id()));
        assert!(!is_running(0) && !is_running(u32::MAX));
    }

    /// Its parent has not asked for its exit code yet.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_ended_and_was_not_waited_for_does_not_run() {
        let mut child = Command::new("cat").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        // Its output ends when it does.
        std::io::copy(&mut child.stdout.take().unwrap(), &mut std::io::sink()).unwrap();
        let stat = format!("/proc/{}/stat", child.id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
            std::thread::yield_now();
        }
        assert!(!is_running(child.id()));
        child.wait().unwrap();
    }
}
