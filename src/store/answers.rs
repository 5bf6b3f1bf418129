//! Long answers of workers, each whole in a file of its own below its conversation's folder:
//! `data/answers/<conversation>/<digest>.txt`. What is kept is never changed; it goes with its conversation.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::error::StoreError;
use super::{hex, legal_id};
use crate::system::files;

/// Bytes of the digest that name a file.
const NAME: usize = 8;

/// Keeps `text` whole for conversation `id`; its file, for its owner's eyes only. The same text is the same file.
///
/// # Errors
/// It could not be written, with its path; `id` is none.
pub fn keep(data: &Path, id: &str, text: &str) -> Result<PathBuf, StoreError> {
    let directory = folder(data, id)?;
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

/// Deletes every answer that was kept for conversation `id`.
///
/// # Errors
/// One could not be deleted, with its path; `id` is none.
pub fn forget(data: &Path, id: &str) -> Result<(), StoreError> {
    Ok(files::remove_directory(&folder(data, id)?)?)
}

fn folder(data: &Path, id: &str) -> Result<PathBuf, StoreError> {
    Ok(data.join("answers").join(legal_id(id)?))
}
