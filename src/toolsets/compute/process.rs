//! One child process: its own process group, a chosen environment, bounded time and output. Whatever way the run ends
//! but a quick return of the child itself, the whole group is killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use crate::tool::output::cut_marker;

/// Bytes a child may write before it is stopped: its output goes to files, and a disk is finite.
const MAX_WRITTEN: u64 = 64 * 1024 * 1024;

/// How often the size of the output is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Variables any child sees, where they are set.
const BASE: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TEMP", "TMP", "TMPDIR"];

/// What commands see besides.
const FOR_COMMANDS: [&str; 6] = ["SHELL", "TERM", "TZ", "USER", "LOGNAME", "PYTHONIOENCODING"];

/// The variables a child sees: an allow-list, never what this process has.
#[derive(Debug, Clone)]
pub(super) struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The allow-list for commands and the names in `passthrough`. A name that is not set yields no variable.
    pub(super) fn for_commands(passthrough: &[String]) -> Self {
        let names = BASE.iter().chain(&FOR_COMMANDS).copied().chain(passthrough.iter().map(String::as_str));
        Self(collect(names))
    }

    /// The allow-list for Python, which always writes UTF-8.
    pub(super) fn for_python() -> Self {
        let mut variables = collect(BASE.iter().copied());
        variables.push(("PYTHONIOENCODING".into(), "utf-8".into()));
        Self(variables)
    }

    #[cfg(test)]
    pub(super) fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a child may see is read from the process once, when tools are built"
)]
fn collect<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(OsString, OsString)> {
    names
        // Asking for these two shapes is a panic.
        .filter(|name| !name.is_empty() && !name.contains(['=', '\0']))
        .filter_map(|name| std::env::var_os(name).map(|value| (OsString::from(name), value)))
        .collect()
}

/// How the bytes of an answer are shared between the two streams.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shares {
    /// Both together; what one leaves the other may use.
    Together(usize),
    /// Each by itself.
    Each(usize),
}

/// What is run.
pub(super) struct Program<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<String>,
    pub(super) folder: &'a Path,
    pub(super) environment: &'a Environment,
    /// `None`: it reads nothing.
    pub(super) stdin: Option<File>,
    pub(super) time: Duration,
    pub(super) shares: Shares,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
    TooMuchOutput,
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) exit: Exit,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Kills a process group when it goes, unless it was told that the child ended by itself.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // It may be gone already, and then there is nothing to do.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn release(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Program<'_> {
    /// Starts it and waits. What it started in the background survives its own quick end and nothing else. Output goes to
    /// files, not pipes, so that a background process that holds them open keeps nobody waiting.
    ///
    /// # Errors
    /// It could not be started, or its output could not be read.
    pub(super) async fn run(self) -> io::Result<Finished> {
        let (stdout, stderr) = tokio::task::spawn_blocking(|| Ok((tempfile::tempfile()?, tempfile::tempfile()?)))
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))?;
        let mut child = Command::new(self.name)
            .args(&self.arguments)
            .current_dir(self.folder)
            .env_clear()
            .envs(self.environment.0.iter().map(|(name, value)| (name, value)))
            .stdin(self.stdin.map_or_else(Stdio::null, Stdio::from))
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let mut group = Group::of(&child);
        let exit = wait(&mut child, self.time, [&stdout, &stderr]).await?;
        match exit {
            Exit::Code(_) | Exit::Signal(_) => group.release(),
            Exit::TimedOut | Exit::TooMuchOutput => {
                group.kill();
                child.wait().await?;
            }
        }
        let shares = self.shares;
        let (stdout, stderr) = tokio::task::spawn_blocking(move || read(stdout, stderr, shares))
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))?;
        Ok(Finished { exit, stdout, stderr })
    }
}

async fn wait(child: &mut Child, time: Duration, outputs: [&File; 2]) -> io::Result<Exit> {
    let over = tokio::time::sleep(time);
    tokio::pin!(over);
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            biased;
            status = child.wait() => {
                let status = status?;
                use std::os::unix::process::ExitStatusExt as _;
                return Ok(match (status.code(), status.signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, signal) => Exit::Signal(signal.unwrap_or_default()),
                });
            }
            () = &mut over => return Ok(Exit::TimedOut),
            _ = look.tick() => {
                let written: u64 = outputs.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
                if written > MAX_WRITTEN {
                    return Ok(Exit::TooMuchOutput);
                }
            }
        }
    }
}

fn read(mut stdout: File, mut stderr: File, shares: Shares) -> io::Result<(String, String)> {
    let sizes = (stdout.metadata()?.len(), stderr.metadata()?.len());
    let (for_stdout, for_stderr) = split(shares, sizes);
    Ok((head(&mut stdout, sizes.0, for_stdout)?, head(&mut stderr, sizes.1, for_stderr)?))
}

/// How many bytes of each stream are shown.
fn split(shares: Shares, (stdout, stderr): (u64, u64)) -> (usize, usize) {
    let clamp = |size: u64, most: usize| usize::try_from(size).unwrap_or(usize::MAX).min(most);
    match shares {
        Shares::Each(most) => (clamp(stdout, most), clamp(stderr, most)),
        Shares::Together(most) => {
            let half = most / 2;
            let for_stdout = clamp(stdout, most - clamp(stderr, half));
            (for_stdout, clamp(stderr, most - for_stdout))
        }
    }
}

/// The first `most` bytes of a stream as text, and how much more there was.
fn head(file: &mut File, size: u64, most: usize) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::with_capacity(most);
    file.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    let cut = size > u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if cut {
        // Not in the middle of a character.
        let whole = bytes.len() - incomplete(&bytes);
        bytes.truncate(whole);
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        let more = size - u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&cut_marker(usize::try_from(more).unwrap_or(usize::MAX)));
    }
    Ok(text)
}

/// Bytes at the end that begin a character without ending it.
fn incomplete(bytes: &[u8]) -> usize {
    for back in 1..=3.min(bytes.len()) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0..0xF8 => 4,
            0x80..0xC0 => continue,
            _ => return 0,
        };
        return if back < length { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests;
