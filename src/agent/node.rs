//! The agents of one conversation by number, and what is said of a worker when it comes to be.
//!
//! Nothing here spawns anything.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::CallId;
use crate::access::{AgentName, ToolsetName};

/// One agent of a conversation: 0 is the entry agent, workers count from 1 in the order of their spawns. Never reused within
/// the conversation, so that numbers are the order in which a person reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The entry agent.
    pub const ENTRY: Self = Self(0);

    /// Whether it is the entry agent.
    pub const fn is_entry(&self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent-{}", self.0)
    }
}

/// Whether who spawned a worker waits for it (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// The call that spawned it ends with its answer.
    Foreground,
    /// The call ended with its address; it belongs to the turn.
    Background,
}

/// A worker came to be (D1, D3, D5): its node's first record and first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawned {
    /// When, milliseconds since the Unix epoch.
    pub at: i64,
    /// The call that asked for it; its node is the parent.
    #[serde(rename = "spawned_by")]
    pub call: CallId,
    /// A declared agent, or `composed:<label>`.
    pub agent: AgentName,
    /// Where messages reach it in its turn (D6): `researcher#1`.
    pub address: String,
    /// What it was asked to do, whole.
    pub task: String,
    /// Its model as a person reads it.
    pub model: String,
    /// Whether its parent waits for it.
    pub ground: Ground,
    /// What it is composed from; empty for a declared agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<ToolsetName>,
}
