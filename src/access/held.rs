//! Residency: what one agent holds in one life, in wire order, and how a load adds to it.
//!
//! A held list only grows by a suffix (R7); nothing here removes or reorders.

use serde::Serialize;

use super::name::{ToolId, ToolName, ToolsetName, WireName};
use super::registry::{Risk, ToolFacts};

/// How a held tool came to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Of a resident toolset.
    Resident,
    /// Restored because this conversation had loaded its toolset (R12).
    Preloaded,
    /// Of the program itself (A8).
    Core,
    /// By `load_tools` in this life.
    Loaded,
}

/// One held tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldTool {
    /// Whose and its declared name.
    pub id: ToolId,
    /// What the model's provider sees (N5).
    pub wire: WireName,
    /// How it came.
    pub arrival: Arrival,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition.
    pub bytes: usize,
    /// Digest of its definition.
    pub digest: String,
}

/// What one agent holds, in wire order (R16).
#[derive(Debug, Clone, Default)]
pub struct Held {
    pub(super) tools: Vec<HeldTool>,
    /// Toolsets whose build is in here, in order of arrival, with how they came.
    pub(super) toolsets: Vec<(ToolsetName, Arrival)>,
}

/// What adding one toolset's build to a held list did (R7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOutcome {
    /// Indices into [`Held::tools`] of the tools that were added, all at the end.
    pub added: Vec<usize>,
    /// Tools left out because their declared or wire name is taken, each with the words that name the holder:
    /// `by 'files'` or `by a tool given to this agent directly`.
    pub skipped: Vec<(ToolName, String)>,
}

impl Held {
    /// The held tools in wire order.
    pub fn tools(&self) -> &[HeldTool] {
        &self.tools
    }

    /// The held toolsets in order of arrival.
    pub fn toolsets(&self) -> &[(ToolsetName, Arrival)] {
        &self.toolsets
    }

    /// The held tool whose wire name is exactly `wire` (A12).
    pub fn by_wire(&self, wire: &str) -> Option<&HeldTool> {
        self.tools.iter().find(|tool| tool.wire.as_str() == wire)
    }

    /// Adds one toolset's build at the end; names already held are skipped and said (R7, N1, N2).
    pub fn add(&mut self, toolset: &ToolsetName, arrival: Arrival, tools: &[ToolFacts]) -> LoadOutcome {
        let _ = (toolset, arrival, tools);
        unimplemented!("access")
    }

    /// Adds core tools (A8) at the end.
    pub fn add_core(&mut self, tools: &[ToolFacts]) {
        let _ = tools;
        unimplemented!("access")
    }
}
