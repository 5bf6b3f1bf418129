//! Files whose every error carries the path and what was tried. What is written here is for this user's eyes only.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file operation that failed: `could not read /home/me/.kokua/config.toml: permission denied`.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}: {}", .path.display(), describe(.source))]
pub struct FileError {
    /// What was tried: a verb such as `read`.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl FileError {
    /// For use with `map_err`: `file.sync_data().map_err(FileError::at("sync", &path))`.
    pub fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { action, path: path.to_owned(), source }
    }

    /// Whether there was nothing at the path.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// The system's words as a lower-case fragment, without its error number.
pub fn describe(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(number) = text.find(" (os error ") {
        text.truncate(number);
    }
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

/// All bytes of a file.
///
/// # Errors
/// With the path.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::at("read", path))
}

/// A file's text.
///
/// # Errors
/// With the path; also when it is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(FileError::at("read", path))
}

/// Replaces a file whole, or not at all: a reader sees the old bytes or the new ones, also after a power cut. The new
/// file is readable by its owner only. A symbolic link stays one, and the file it points to is replaced. Its directory
/// must exist.
///
/// # Errors
/// With the path; the old file is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(path, bytes, Durability::Synced).map_err(FileError::at("write", path))
}

/// Like [`write()`], for what can be made again: nothing waits for the disk, and a power cut may leave the file empty.
///
/// # Errors
/// With the path; the old file is then as it was.
pub fn write_derived(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(path, bytes, Durability::Cached).map_err(FileError::at("write", path))
}

/// Whether a write waits for the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Synced,
    Cached,
}

fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let target = if path.is_symlink() { fs::canonicalize(path)? } else { path.to_owned() };
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Made with mode 0600, in the same directory so that the rename cannot cross file systems.
    let mut fresh = tempfile::NamedTempFile::new_in(directory)?;
    fresh.write_all(bytes)?;
    if durability == Durability::Synced {
        fresh.as_file().sync_all()?;
    }
    fresh.persist(&target).map_err(|error| error.error)?;
    if durability == Durability::Synced { sync_directory(directory) } else { Ok(()) }
}

/// Makes a directory and those above it, open to their owner only. One that exists is left as it is.
///
/// # Errors
/// With the path.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(FileError::at("create the directory", path))
}

/// Removes a file; whether there was one.
///
/// # Errors
/// With the path.
pub fn remove(path: &Path) -> Result<bool, FileError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::at("remove", path)(error)),
    }
}

/// Removes a directory with all that is in it; nothing where there is none.
///
/// # Errors
/// With the path.
pub fn remove_directory(path: &Path) -> Result<(), FileError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::at("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Makes a rename or a new name in `directory` outlast a power cut, where the system can.
///
/// # Errors
/// The system's.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Options that make a new file readable by its owner only.
pub fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{create_directory, read_text, remove, write};

    #[test]
    fn errors_name_the_path_and_what_was_tried() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent/a.txt");
        let error = read_text(&path).unwrap_err();
        assert_eq!(error.to_string(), format!("could not read {}: no such file or directory", path.display()));
        assert!(error.is_missing());
        assert!(write(&path, b"x").unwrap_err().to_string().starts_with("could not write "));
        assert!(!remove(&path).unwrap());
    }

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        write(&path, b"a longer first text").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(read_text(&path).unwrap(), "second");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(remove(&path).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn files_and_directories_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("data/logs");
        create_directory(&inner).unwrap();
        create_directory(&inner).unwrap();
        write(&inner.join("a"), b"x").unwrap();
        assert_eq!((mode(&directory.path().join("data")), mode(&inner), mode(&inner.join("a"))), (0o700, 0o700, 0o600));
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_written_through() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(read_text(&real).unwrap(), "new");
    }
}
