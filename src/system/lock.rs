//! One holder of a file at a time, across processes. A lock ends with its file handle, however the process ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Tries to get a lock that is held for moments only, and the time between two of them.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Why a file was not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("another kokua has {} open", .path.display())]
    Held {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("could not lock {}: {source}", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Takes the lock of `file` without waiting; `path` is for the error only. Dropping the file gives it back.
///
/// # Errors
/// It is held (by another process, or through another handle of this one), or the file system has no locks.
pub fn try_lock(file: &File, path: &Path) -> Result<(), LockError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => LockError::Held { path: path.to_owned() },
        TryLockError::Error(source) => LockError::Failed { path: path.to_owned(), source },
    })
}

/// As [`try_lock`], for what is held for moments only: waits for it, two seconds at most.
///
/// # Errors
/// As [`try_lock`].
pub fn wait_for(file: &File, path: &Path) -> Result<(), LockError> {
    wait_while(file, path, || true)
}

/// As [`wait_for`], as long as `is_worth_it` says so; it is asked whenever the lock is held.
///
/// # Errors
/// As [`try_lock`].
pub fn wait_while(file: &File, path: &Path, mut is_worth_it: impl FnMut() -> bool) -> Result<(), LockError> {
    for _ in 1..TRIES {
        match try_lock(file, path) {
            Err(LockError::Held { .. }) if is_worth_it() => thread::sleep(PAUSE),
            ended => return ended,
        }
    }
    try_lock(file, path)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{LockError, try_lock, wait_while};

    #[test]
    fn a_second_handle_is_refused_until_the_first_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let first = File::create(&path).unwrap();
        try_lock(&first, &path).unwrap();
        let second = File::open(&path).unwrap();
        let error = try_lock(&second, &path).unwrap_err();
        assert!(matches!(error, LockError::Held { .. }));
        assert_eq!(error.to_string(), format!("another kokua has {} open", path.display()));
        drop(first);
        try_lock(&second, &path).unwrap();
    }

    #[test]
    fn a_wait_ends_when_it_is_of_no_use_or_the_lock_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let mut first = Some(File::create(&path).unwrap());
        try_lock(first.as_ref().unwrap(), &path).unwrap();
        let second = File::open(&path).unwrap();
        let mut asked = 0;
        let error = wait_while(&second, &path, || {
            asked += 1;
            asked < 3
        });
        assert!(matches!(error, Err(LockError::Held { .. })) && asked == 3);
        wait_while(&second, &path, || {
            drop(first.take());
            true
        })
        .unwrap();
    }
}
