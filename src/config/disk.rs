//! The few file operations of this room, each with the path in its error. Nothing here knows what a file means.
#![expect(clippy::disallowed_methods, reason = "the configuration is read before anything else exists")]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::system::files::describe;
use crate::system::{LockError, lock};

/// Most bytes of a configuration.
const MOST: u64 = 1 << 20;

/// Why a file could not be read.
pub(super) enum ReadError {
    Missing,
    Other(String),
}

/// The text of a file of at most 1 MiB.
pub(super) fn read(path: &Path) -> Result<String, ReadError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Other(format!("cannot be read: {}", describe(&error))),
    };
    // Counted as it is read: a pipe or a device says nothing of its size.
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        return Err(ReadError::Other(format!("is larger than {MOST} bytes, which no configuration is")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        ReadError::Other(format!("is not UTF-8: line {line} has other bytes"))
    })
}

/// Writes a file that is not there yet, and the folders above it; for this user only.
pub(super) fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        folders(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn folders(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Waits until no other program writes in the folder that the file at `path` really is in; dropping what is returned lets
/// the next one. The folder is locked and not the file, which every write replaces; so nothing is left behind either.
/// `None`: others wrote all the time.
pub(super) fn lock(path: &Path) -> io::Result<Option<fs::File>> {
    let path = fs::canonicalize(path)?;
    let folder = fs::File::open(path.parent().unwrap_or(Path::new("/")))?;
    match lock::wait_for(&folder, &path) {
        Ok(()) => Ok(Some(folder)),
        Err(LockError::Held { .. }) => Ok(None),
        Err(LockError::Failed { source, .. }) => Err(source),
    }
}

/// Replaces a file's text whole or not at all, keeping its permissions; a symbolic link stays one.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".config-").suffix(".toml").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}
