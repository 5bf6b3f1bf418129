//! The log file: `kokua.log` with four older ones, 2 MB each, at most 10 MB in all.
//!
//! Only this program's own lines are taken at the level asked for. Of libraries only warnings are, because the debug
//! lines of an HTTP stack may carry request headers, and with them a key.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::files::{self, FileError};

/// The newest log's name inside its directory; older ones are `kokua.log.1` to `kokua.log.4`, oldest last.
pub const FILE: &str = "kokua.log";
/// Bytes after which a file is put aside.
const LIMIT: u64 = 2_000_000;
/// Files kept, the newest included.
const KEPT: u32 = 5;

/// Starts writing what the program traces to `directory`, made if it is not there. `level` is for this program's own
/// lines. Call once per process.
///
/// # Errors
/// The file cannot be opened, or logging was started before.
pub fn start(directory: &Path, level: LevelFilter) -> Result<(), FileError> {
    files::create_directory(directory)?;
    let path = directory.join(FILE);
    let log = RollingFile::open(path.clone(), LIMIT, KEPT).map_err(FileError::at("open", &path))?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Shared(Mutex::new(log)));
    let chosen = Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("kokua", level);
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines).with(chosen))
        .map_err(|error| FileError::at("log to", &path)(io::Error::other(error)))
}

/// A file that is put aside when it is full. Several processes may write to one: each line is one append.
#[derive(Debug)]
struct RollingFile {
    path: PathBuf,
    file: File,
    /// Bytes in `file` as far as this process knows.
    size: u64,
    limit: u64,
    kept: u32,
}

impl RollingFile {
    fn open(path: PathBuf, limit: u64, kept: u32) -> io::Result<Self> {
        let file = files::private().create(true).append(true).open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size, limit, kept })
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        name.into()
    }

    /// Puts the full file aside. When another process did so already, only opens the new one.
    fn roll(&mut self) -> io::Result<()> {
        if fs::metadata(&self.path).is_ok_and(|now| now.len() >= self.limit) {
            for number in (1..self.kept.saturating_sub(1)).rev() {
                let _ = fs::rename(self.numbered(number), self.numbered(number + 1));
            }
            fs::rename(&self.path, self.numbered(1))?;
        }
        *self = Self::open(self.path.clone(), self.limit, self.kept)?;
        Ok(())
    }
}

impl Write for RollingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.size >= self.limit {
            // A roll that fails leaves the old file open: lines go on to it, and the next line tries again.
            let _ = self.roll();
        }
        let written = self.file.write(bytes)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The one log, for every thread.
#[derive(Debug)]
struct Shared(Mutex<RollingFile>);

/// The log while one line is written.
struct Line<'a>(MutexGuard<'a, RollingFile>);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<'a> MakeWriter<'a> for Shared {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        // A thread that panicked while it logged leaves at worst half a line; the others go on.
        Line(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;

    use super::RollingFile;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_full_file_is_put_aside_and_the_oldest_goes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kokua.log");
        let mut log = RollingFile::open(path.clone(), 10, 3).unwrap();
        for line in ["first 11b.\n", "second 12b.\n", "third 11b.\n", "fourth 12b.\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(names(directory.path()), ["kokua.log", "kokua.log.1", "kokua.log.2"]);
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(read("kokua.log"), "fourth 12b.\n");
        assert_eq!(read("kokua.log.1"), "third 11b.\n");
        assert_eq!(read("kokua.log.2"), "second 12b.\n");
    }

    #[test]
    fn a_second_process_does_not_put_aside_what_the_first_just_began() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kokua.log");
        let mut one = RollingFile::open(path.clone(), 10, 5).unwrap();
        one.write_all(b"0123456789\n").unwrap();
        let mut other = RollingFile::open(path.clone(), 10, 5).unwrap();
        one.write_all(b"one\n").unwrap();
        other.write_all(b"two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(names(directory.path()), ["kokua.log", "kokua.log.1"]);
    }
}
