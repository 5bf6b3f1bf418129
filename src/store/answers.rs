//! Long answers of workers, each whole in a file of its own: `data/answers/<digest>.txt`. What is kept is never changed.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::error::StoreError;
use super::hex;
use crate::system::files;

/// Bytes of the digest that name a file.
const NAME: usize = 8;

/// Keeps `text` whole below `data`; its file, for its owner's eyes only. The same text is the same file.
///
/// # Errors
/// It could not be written, with its path.
pub fn keep(data: &Path, text: &str) -> Result<PathBuf, StoreError> {
    let directory = data.join("answers");
    let name: String = hex(&Sha256::digest(text)).chars().take(2 * NAME).collect();
    let path = directory.join(format!("{name}.txt"));
    // One that somebody wrote in is no answer any more.
    if files::read(&path).is_ok_and(|kept| kept == text.as_bytes()) {
        return Ok(path);
    }
    files::create_directory(&directory)?;
    files::write(&path, text.as_bytes())?;
    Ok(path)
}
