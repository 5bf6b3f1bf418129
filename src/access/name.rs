//! Names of agents, toolsets and tools, the places they were written at, and gate entries.
//!
//! Nothing here decides anything: a name that parsed is well formed, not known.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a word stands in a file: byte offsets into its text, and a 1-based line and column for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte of the word.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// 1-based line of `start`.
    pub line: usize,
    /// 1-based column of `start`, in characters.
    pub column: usize,
}

/// A value with the place it was written at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name as written; compared byte for byte (A3).
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// An agent's name: the `<name>` of `[agents.<name>]`.
    AgentName
);
name!(
    /// A toolset's name: a word of `available`.
    ToolsetName
);
name!(
    /// A tool's declared name, verbatim from its provider (A17). What people read.
    ToolName
);
name!(
    /// What the provider of the model sees a tool called (N5).
    WireName
);

/// Where a tool comes from: a toolset, or the program itself (A8).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// One of the tools no toolset provides: `available_tools`, `load_tools`, later `spawn_subagent`, `activate_skill`.
    Core,
    /// A tool that this toolset's build returned.
    Toolset(ToolsetName),
}

/// One tool of one owner. Shown as `compute.run_command` or `core.load_tools`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolId {
    /// Who provides it.
    pub owner: Owner,
    /// Its declared name.
    pub name: ToolName,
}

impl ToolId {
    /// A tool of a toolset.
    pub fn of(toolset: &ToolsetName, name: &ToolName) -> Self {
        Self { owner: Owner::Toolset(toolset.clone()), name: name.clone() }
    }

    /// A core tool (A8).
    pub fn core(name: &str) -> Self {
        Self { owner: Owner::Core, name: ToolName::new(name) }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owner {
            Owner::Core => write!(f, "core.{}", self.name),
            Owner::Toolset(toolset) => write!(f, "{toolset}.{}", self.name),
        }
    }
}

/// An entry of `confirm`, `review` or the floor (P2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GateEntry {
    /// `<toolset>` or `<toolset>.*`: every tool of it, later arrivals included.
    Toolset(ToolsetName),
    /// `<toolset>.<tool>`.
    Tool(ToolsetName, ToolName),
    /// `core` or `core.*`.
    Core,
    /// `core.<tool>`.
    CoreTool(ToolName),
}
