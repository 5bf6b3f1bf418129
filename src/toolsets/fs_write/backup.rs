//! The file as it was before each write, kept so that a conversation can be rewound. It only ever adds.
//!
//! `<data>/backups/<conversation>/index.jsonl` has a line for each write; `<digest>` beside it holds a content once.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::file_name;
use crate::system::{FileError, files};
use crate::tool::{CallContext, digest};

/// Where backups are kept.
pub(super) struct Backups {
    folder: PathBuf,
}

impl Backups {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps `old` (`None`: there was no file) and notes the write that is about to happen. The digest of the new content
    /// lets a rewind see whether somebody wrote to the file since.
    pub(super) fn keep(
        &self,
        context: &CallContext,
        tool: &str,
        path: &Path,
        old: Option<&[u8]>,
        new: &[u8],
    ) -> Result<(), FileError> {
        let folder = self.folder.join(file_name(&context.conversation));
        files::create_directory(&folder)?;
        let before = old.map(digest);
        if let (Some(old), Some(name)) = (old, &before) {
            files::write(&folder.join(name), old)?;
        }
        let entry = json!({
            "at": context.now,
            "agent": context.agent,
            "tool": tool,
            "path": path.to_string_lossy(),
            "before": before,
            "after": digest(new),
        });
        append(&folder.join("index.jsonl"), &format!("{entry}\n"))
    }
}

#[expect(clippy::disallowed_methods, reason = "a log is appended to; its errors name the path")]
fn append(path: &Path, line: &str) -> Result<(), FileError> {
    let mut file = files::private().create(true).append(true).open(path).map_err(FileError::at("open", path))?;
    file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(FileError::at("write", path))
}
