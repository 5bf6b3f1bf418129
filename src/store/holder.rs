//! Who has a conversation open: a small file beside its log, `<id>.holder`. It is for people's eyes and for knowing whether
//! waiting is of use; it never decides anything: the lock of the log does.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use crate::system::{FileError, LockError, clock, files, lock, process};

/// What the file's name ends with.
const EXTENSION: &str = "holder";

/// Who has a log open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process's number.
    pub process: u32,
    /// The machine's name, where it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Since when, milliseconds since the Unix epoch.
    pub since: i64,
}

impl Holder {
    fn this(since: i64) -> Self {
        Self { process: process::id(), host: process::host(), since }
    }

    /// Who may have the log at `log`: `None` where nobody says so, or who did has ended.
    fn who_runs(log: &Path) -> Option<Self> {
        let holder: Self = files::read(&beside(log)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())?;
        // Of another machine nothing is known.
        (!holder.is_here() || process::is_running(holder.process)).then_some(holder)
    }

    fn is_here(&self) -> bool {
        self.host == process::host()
    }

    /// `another kokua (process 4242, since 21:04)`, as of `now`, milliseconds since the Unix epoch.
    pub fn describe(&self, now: i64) -> String {
        let since = clock::local_since(self.since, now);
        let (process, here) = (self.process, self.is_here());
        if here && process == process::id() {
            return format!("this kokua (since {since})");
        }
        match self.host.as_deref().filter(|_| !here) {
            Some(host) => {
                format!("another kokua (process {process} on {}, since {since})", crate::access::name::shown(host))
            }
            None => format!("another kokua (process {process}, since {since})"),
        }
    }
}

/// Says who has a log, until it is dropped. Drop it before the lock.
#[derive(Debug)]
pub(super) struct Holding {
    path: PathBuf,
}

impl Holding {
    /// Says that this process has the log at `log`, whose lock it has.
    pub(super) fn begin(log: &Path) -> Self {
        let path = beside(log);
        let written = serde_json::to_vec(&Holder::this(clock::now_ms()))
            .map_err(|error| FileError::at("write", &path)(std::io::Error::other(error)))
            .and_then(|bytes| files::write_derived(&path, &bytes));
        if let Err(error) = written {
            tracing::warn!(%error, "others are not told who has this conversation");
        }
        Self { path }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        forget(&self.path);
    }
}

/// Locks `file`, the log at `path`. Where it is held and nobody who runs says so, it is held for a moment only, by a
/// command that was being born when its parent ended or closed the log: that is waited for, two seconds at most.
///
/// # Errors
/// [`StoreError::Held`] without a name of the conversation, or the system refused.
pub(super) fn take(file: &File, path: &Path) -> Result<(), StoreError> {
    lock::wait_while(file, path, || Holder::who_runs(path).is_none()).map_err(|error| match error {
        LockError::Held { .. } => {
            let holder = Holder::who_runs(path).map(|holder| holder.describe(clock::now_ms()));
            let holder = holder.unwrap_or_else(|| "another kokua".to_owned());
            StoreError::Held { conversation: String::new(), holder }
        }
        error @ LockError::Failed { .. } => error.into(),
    })
}

/// Removes what a process that ended left beside the log at `log`, which is gone.
pub(super) fn clear(log: &Path) {
    forget(&beside(log));
}

fn forget(path: &Path) {
    if let Err(error) = files::remove(path) {
        tracing::warn!(%error, "it goes on saying who has this conversation");
    }
}

fn beside(log: &Path) -> PathBuf {
    log.with_extension(EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::{Holder, beside};
    use crate::system::process;

    #[test]
    fn a_holder_is_named_by_process_machine_and_time() {
        let noon = 1_700_000_000_000;
        let here = Holder { process: u32::MAX - 1, host: process::host(), since: noon };
        let said = here.describe(noon);
        assert!(said.starts_with("another kokua (process 4294967294, since ") && said.len() < 56, "{said}");
        let later = here.describe(noon + 3 * 86_400_000);
        assert!(later.contains("since 2023-11-1"), "another day is named: {later}");
        let elsewhere = Holder { host: Some("box\u{1b}".to_owned()), ..here.clone() };
        assert!(elsewhere.describe(noon).contains("(process 4294967294 on box\\u{1b}, since "), "{elsewhere:?}");
        assert!(Holder { process: process::id(), ..here }.describe(noon).starts_with("this kokua (since "));
    }

    /// Where nobody does, whoever has the lock has it for a moment only.
    #[test]
    fn who_may_have_a_log_is_who_says_so_and_runs() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("a.jsonl");
        assert_eq!(Holder::who_runs(&log), None);
        let write = |text: &[u8]| crate::system::files::write(&beside(&log), text).unwrap();
        let runs = |holder: &Holder| {
            write(&serde_json::to_vec(holder).unwrap());
            Holder::who_runs(&log).as_ref() == Some(holder)
        };
        let this = Holder::this(1);
        assert!(runs(&this));
        assert!(!runs(&Holder { process: u32::MAX - 1, ..this.clone() }));
        assert!(runs(&Holder { process: u32::MAX - 1, host: Some("elsewhere".to_owned()), ..this }));
        write(b"{\"process\":1}");
        assert_eq!(Holder::who_runs(&log), None);
    }
}
