//! Conversation logs on disk: append-only files of JSON lines, and what is derived from them.
//!
//! The logs are the truth; the list's sidecar may be deleted at any time. Nothing here shows anything or runs anything.

#![expect(
    clippy::disallowed_methods,
    reason = "logs are read and appended through open files; every error made here names its path"
)]

pub mod answers;
pub mod audit;
pub mod catalogue;
pub mod error;
pub mod history;
pub mod holder;
pub mod log;
mod stored;

use std::path::{Path, PathBuf};

pub use answers::{forget as forget_answers, keep as keep_answer};
pub use audit::AuditLog;
pub use catalogue::{Listing, find, list, remove, rename};
pub use error::StoreError;
pub use history::{repair, title};
pub use log::{Header, Log, Opened, read};

/// Where the conversations of a data directory are: `data/conversations`.
pub fn directory(data: &Path) -> PathBuf {
    data.join("conversations")
}

/// The log of conversation `id`.
fn path_of(directory: &Path, id: &str) -> Result<PathBuf, StoreError> {
    Ok(directory.join(format!("{}.{EXTENSION}", legal_id(id)?)))
}

/// `id` as a file's name. It comes from a person or a file name, so one that could leave its folder is none.
fn legal_id(id: &str) -> Result<&str, StoreError> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(legal) {
        return Err(StoreError::NotAnId { id: id.chars().take(80).collect() });
    }
    Ok(id)
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// What a log's file name ends with.
const EXTENSION: &str = "jsonl";
