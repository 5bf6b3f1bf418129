//! The file as it was before each write, kept so that a conversation can be rewound. It only ever adds.
//!
//! `<data>/backups/<conversation>/index.jsonl` has a line for each write; `<digest>` beside it holds a content once.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::super::file_name;
use super::super::fs::paths::reason;
use super::super::fs::replace::{NewFile, replace};
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
    ) -> Result<(), String> {
        let folder = self.folder.join(file_name(&context.conversation));
        let before = old.map(digest);
        if let (Some(old), Some(name)) = (old, &before) {
            let kept = folder.join(name);
            if !kept.exists() {
                replace(&kept, old, NewFile::Private)?;
            }
        }
        let entry = json!({
            "at": context.now,
            "agent": context.agent,
            "tool": tool,
            "path": path.to_string_lossy(),
            "before": before,
            "after": digest(new),
        });
        let index = folder.join("index.jsonl");
        let failed = |error: std::io::Error| format!("{}: {}", index.display(), reason(&error));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mut file = OpenOptions::new().create(true).append(true).open(&index).map_err(failed)?;
        file.write_all(format!("{entry}\n").as_bytes()).and_then(|()| file.sync_data()).map_err(failed)
    }
}
