//! The life of one tool call, from the model's words to its one ending.
//!
//! A call owns its ending; nothing here runs anything.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A call's number: unique in its conversation, ascending, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call-{}", self.0)
    }
}

/// How a call ended: exactly one for every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// It ran and answered.
    Ok,
    /// It ran and answered with an error.
    Failed,
    /// `load_tools` loaded this toolset (R12 reads this field, never text).
    Loaded {
        /// The toolset.
        toolset: String,
    },
    /// Its arguments were not JSON, or did not fit the schema; it never ran.
    InvalidArguments,
    /// Nothing held has its name (A12); it never ran.
    Unknown,
    /// The dispatch re-check refused it (O3); it never ran.
    Refused,
    /// It was not allowed; the answer says by whom. It never ran.
    NotAllowed,
    /// Its time ran out.
    TimedOut,
    /// The cap on model calls was reached first; it never ran.
    NotExecuted,
    /// A stop or the program's end cut it off.
    Interrupted,
}
