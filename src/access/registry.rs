//! One namespace of toolsets over every kind of provider, in trust order.
//!
//! The registry says what a name can resolve to; it never says what an agent holds.

use serde::{Deserialize, Serialize};

use super::name::{ToolName, ToolsetName};

/// Who provides a toolset, most trusted first (A6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The product's own.
    BuiltIn,
    /// A command toolset or a compiled-in third party.
    Plugin,
    /// One skill on disk.
    Skill,
    /// One MCP server.
    Mcp,
}

/// What a tool may touch (P17). Never an approval level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Looks only.
    Read,
    /// Changes state on this machine.
    Write,
    /// Runs a program.
    Exec,
    /// Talks to another machine.
    Network,
}

/// What access knows of a toolset before it is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolsetFacts {
    /// Its name, unique in the registry.
    pub name: ToolsetName,
    /// Its provider.
    pub kind: Kind,
    /// One sentence for people and for `available_tools`.
    pub description: String,
    /// Only the entry agent may list it (A7).
    pub entry_agent_only: bool,
}

/// What access knows of one built tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFacts {
    /// Declared name.
    pub name: ToolName,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition (name, description, schema) as compact JSON: what one model call pays for it.
    pub bytes: usize,
    /// Hex digest of the definition, so that a change after the card was drawn is seen (O3).
    pub digest: String,
}

/// Every installed toolset, in trust order, then in registration order within a kind.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    toolsets: Vec<ToolsetFacts>,
}
