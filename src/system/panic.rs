//! What happens when the program's own code is wrong: a crash file, and the terminal given back.
//!
//! A panic that somebody contains, such as a tool's, leaves a crash file and a log line and nothing on the screen.

use std::any::Any;
use std::backtrace::Backtrace;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

use super::{clock, files};

/// Crash files kept in the directory.
const KEPT: usize = 10;

/// Whether the panicking thread may write to standard error now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// No screen is up any more, or never was.
    Free,
    /// A screen of another thread is up and stays.
    Taken,
}

/// Installs the hook. `directory` takes `crash-<time>-<process>.txt`; `restore` gives the terminal back when the
/// panicking thread is the one that has the screen, and says whether it is free now.
pub fn install(directory: PathBuf, restore: impl Fn() -> Terminal + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |info| {
        let terminal = restore();
        let saved = save(&directory, &report(info));
        tracing::error!(panic = %one_line(info), "kokua panicked");
        if terminal == Terminal::Free {
            let hint = match saved {
                Ok(path) => format!("details: {}", path.display()),
                Err(error) => format!("no crash file was written: {error}"),
            };
            // Standard error may be gone; there is nobody left to tell.
            let _unheard = writeln!(io::stderr(), "kokua crashed: {}\n  {hint}", one_line(info));
        }
    }));
}

/// What a contained panic said, at most 300 characters of it.
pub fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("an unexpected panic");
    text.chars().take(300).collect()
}

/// What was said, and where.
fn one_line(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("a value that is no text").replace('\n', " ");
    info.location().map_or_else(|| message.clone(), |place| format!("{message} ({place})"))
}

/// The crash file's text.
fn report(info: &PanicHookInfo<'_>) -> String {
    let mut text = String::new();
    let thread = thread::current();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "kokua {} on {} {}\ntime {} (milliseconds since 1970)\nthread {}\n{}\n\n{}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        clock::now_ms(),
        thread.name().unwrap_or("without a name"),
        one_line(info),
        Backtrace::force_capture(),
    );
    text
}

/// Writes a crash file and drops the oldest ones beyond [`KEPT`].
fn save(directory: &Path, text: &str) -> Result<PathBuf, files::FileError> {
    files::create_directory(directory)?;
    let path = directory.join(format!("crash-{}-{}.txt", clock::now_ms(), std::process::id()));
    files::write(&path, text.as_bytes())?;
    let mut older: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("crash-")))
        .collect();
    older.sort();
    for path in older.iter().rev().skip(KEPT) {
        // One that stays is tried again at the next crash.
        let _stays = files::remove(path);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{KEPT, save};

    #[test]
    fn crash_files_are_written_and_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let logs = directory.path().join("logs");
        fs::create_dir(&logs).unwrap();
        fs::write(logs.join("kokua.log"), "kept").unwrap();
        for number in 0..KEPT + 3 {
            fs::write(logs.join(format!("crash-100000000000{number:02}-1.txt")), "old").unwrap();
        }
        let path = save(&logs, "what happened").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "what happened");
        assert_eq!(fs::read_dir(&logs).unwrap().count(), KEPT + 1, "the log and the newest crashes");
        assert!(!logs.join("crash-10000000000000-1.txt").exists());
    }
}
