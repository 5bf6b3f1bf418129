//! What can go wrong with stored conversations, each with what to do about it.

use std::path::PathBuf;

use crate::system::{FileError, LockError};

/// An operation on stored conversations that failed: a lower-case fragment that names the file or the id.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk said no.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something could not be locked, or somebody writes it for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Another process, or this one, has the conversation open.
    #[error("{conversation} is open in {holder}")]
    Held {
        /// Its title in quotes, or its id.
        conversation: String,
        /// Who: `another kokua (process 4242, since 21:04)`.
        holder: String,
    },
    /// A word that cannot be an id.
    #[error("'{id}' is not a conversation's id")]
    NotAnId {
        /// It, cut to 80 characters.
        id: String,
    },
    /// No stored conversation has this id or prefix.
    #[error("no stored conversation begins with '{id}'")]
    Unknown {
        /// What was looked for.
        id: String,
    },
    /// A prefix under [`super::catalogue::SHORTEST_PREFIX`] characters.
    #[error("'{prefix}' is too short to name a conversation")]
    TooShort {
        /// It.
        prefix: String,
    },
    /// A prefix of several ids.
    #[error("'{prefix}' names {count} conversations: {}", .examples.join(", "))]
    Ambiguous {
        /// It.
        prefix: String,
        /// How many begin with it.
        count: usize,
        /// At most three of them, the newest first.
        examples: Vec<String>,
    },
    /// The file does not begin with a header line of this program.
    #[error("{} does not begin with a conversation's header: {reason}", .path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// What its first line is instead.
        reason: String,
    },
    /// A write failed before and could not be undone, so nothing more may be written.
    #[error("{} may end in half a line after a failed write, so nothing more is written to it", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// The key of the audit log is no key.
    #[error("{} is not the key of an audit log", .path.display())]
    AuditKey {
        /// The file.
        path: PathBuf,
    },
    /// The audit log ends in a line that this program never wrote.
    #[error("{} ends in a line that is too long to be an entry", .path.display())]
    AuditTail {
        /// The file.
        path: PathBuf,
    },
    /// An entry of the audit log that would be too long.
    #[error("its entry has {bytes} bytes, and {most} is the most")]
    AuditEntry {
        /// Its bytes.
        bytes: usize,
        /// The most there may be.
        most: usize,
    },
    /// A record that cannot be written as JSON.
    #[error("could not write a record of {} as JSON: {reason}", .path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl StoreError {
    /// Whether the words that were given name nothing, or several: nothing outside is wrong.
    pub fn is_of_the_asker(&self) -> bool {
        match self {
            Self::NotAnId { .. } | Self::Unknown { .. } | Self::TooShort { .. } | Self::Ambiguous { .. } => true,
            Self::File(_)
            | Self::Lock(_)
            | Self::Held { .. }
            | Self::NoHeader { .. }
            | Self::Broken { .. }
            | Self::AuditKey { .. }
            | Self::AuditTail { .. }
            | Self::AuditEntry { .. }
            | Self::Encode { .. } => false,
        }
    }

    /// Whether it did not work because somebody has it open.
    pub const fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// What a person can do about it, if anything in particular.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Held { .. } => Some("close the conversation there, or open another one here"),
            Self::NotAnId { .. } | Self::Unknown { .. } => Some("`kokua conversations list` prints every id"),
            Self::TooShort { .. } | Self::Ambiguous { .. } => {
                Some("give the whole id, or enough of its beginning: at least 6 characters and no other id's")
            }
            Self::NoHeader { .. } => {
                Some("nothing can be read from it; `kokua conversations rm` with its whole id removes it")
            }
            Self::Broken { .. } => Some("make room on the disk, then open the conversation again"),
            Self::AuditKey { .. } => {
                Some("restore it from a backup, or remove it: digests of arguments then begin anew")
            }
            Self::AuditTail { .. } => Some("`kokua audit verify` says what is wrong; move the file away to begin anew"),
            Self::File(_) | Self::Lock(_) | Self::AuditEntry { .. } | Self::Encode { .. } => None,
        }
    }
}
