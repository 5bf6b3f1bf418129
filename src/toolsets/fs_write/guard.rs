//! What `fs_write` never writes: the configuration, command toolsets and everything the program itself keeps (P23).
//! Paths are compared after every link was followed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::super::fs::paths::real;
use crate::config::Config;

/// What in the data folder belongs to people and agents. Everything else there (conversation logs, audit, pins, tokens,
/// backups, what comes later) is the program's own.
const SHARED: [&str; 7] = ["skills", "documents", "downloads", "images", "reports", "exports", "memory.md"];

/// What directly under `$KOKUA_HOME` is refused; compared without regard to case, as some disks do.
const REFUSED_IN_HOME: [&str; 2] = ["config.toml", "toolsets"];

/// The places that are refused.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    home: PathBuf,
    data: PathBuf,
    config: PathBuf,
}

impl Guard {
    pub(super) fn new(config: &Config) -> Self {
        Self { home: config.home.clone(), data: config.data.clone(), config: config.source.path.clone() }
    }

    /// Refuses `path`, which is resolved, when it is the program's own. `text` is the path as written.
    pub(super) fn check(&self, path: &Path, text: &str) -> Result<(), String> {
        let inside =
            |folder: &Path| real(folder).ok().and_then(|folder| path.strip_prefix(folder).ok().map(Path::to_owned));
        let first = |below: &Path| below.components().next().map(|part| part.as_os_str().to_owned());
        if let Some(below) = inside(&self.data) {
            return match first(&below) {
                Some(name) if SHARED.iter().any(|shared| name == OsStr::new(shared)) => Ok(()),
                _ => Err(own(text)),
            };
        }
        let in_home = inside(&self.home).and_then(|below| first(&below));
        let refused_in_home = in_home
            .is_some_and(|name| REFUSED_IN_HOME.iter().any(|refused| name.eq_ignore_ascii_case(OsStr::new(refused))));
        if refused_in_home || real(&self.config).is_ok_and(|config| config == path) {
            return Err(own(text));
        }
        Ok(())
    }

    /// Whether a file there is read as part of a skill.
    pub(super) fn is_skill(&self, path: &Path) -> bool {
        real(&self.data.join("skills")).is_ok_and(|skills| path.starts_with(skills))
    }
}

fn own(text: &str) -> String {
    format!(
        "{text} belongs to kokua itself (configuration, toolsets, logs and other state); fs_write never writes there."
    )
}
