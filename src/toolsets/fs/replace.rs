//! Whole-file replacement: a reader sees the file as it was or as it will be, never a part.

#![expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]

use std::io::Write as _;
use std::path::Path;

use super::paths::reason;

/// Writes `bytes` to `path` through a temporary file beside it, synced before it takes the name. Makes missing folders.
/// An existing file's mode is kept. The name itself must not be a link; see `Paths::resolve`.
pub(in crate::toolsets) fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().ok_or_else(|| format!("{}: not a file name", path.display()))?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {}", folder.display(), reason(&error)))?;
    let failed = |error: &std::io::Error| format!("{}: {}", path.display(), reason(error));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kokua-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any new file of the user; the process's mask applies on top.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
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
