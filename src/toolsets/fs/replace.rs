//! Whole-file replacement: a reader sees the file as it was or as it will be, never a part.

use std::io::Write as _;
use std::path::Path;

use super::paths::reason;

/// Who may read a file that did not exist before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::toolsets) enum NewFile {
    /// As any new file of this process.
    Usual,
    /// Its owner alone.
    Private,
}

/// Writes `bytes` to `path` through a temporary file beside it, synced before it takes the name. Makes missing folders.
/// An existing file's mode is kept. The name itself must not be a link; see `Paths::resolve`.
pub(in crate::toolsets) fn replace(path: &Path, bytes: &[u8], new: NewFile) -> Result<(), String> {
    let folder = path.parent().ok_or_else(|| format!("{}: not a file name", path.display()))?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {}", folder.display(), reason(&error)))?;
    let failed = |error: &std::io::Error| format!("{}: {}", path.display(), reason(error));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kokua-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The process's mask applies on top.
        let mode = match new {
            NewFile::Usual => 0o666,
            NewFile::Private => 0o600,
        };
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    let mut file = builder.tempfile_in(folder).map_err(|error| failed(&error))?;
    file.write_all(bytes).map_err(|error| failed(&error))?;
    if let Ok(metadata) = std::fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions()).map_err(|error| failed(&error))?;
    }
    file.as_file().sync_all().map_err(|error| failed(&error))?;
    file.persist(path).map_err(|error| failed(&error.error))?;
    Ok(())
}
