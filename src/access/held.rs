//! Residency: what one agent holds in one life, in wire order, and how a load adds to it.
//!
//! A held list only grows by a suffix (R7); nothing here removes or reorders.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::name::{NameDefect, Owner, ToolId, ToolName, ToolsetName, WireName};
use super::registry::{Risk, ToolFacts, screen};

/// How a held tool came to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    tools: Vec<HeldTool>,
    /// Toolsets whose build is in here, in order of arrival, with how they came.
    toolsets: Vec<(ToolsetName, Arrival)>,
    by_name: BTreeMap<ToolName, usize>,
    by_wire: BTreeMap<WireName, usize>,
}

/// What adding one toolset's build to a held list did (R7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOutcome {
    /// Indices into [`Held::tools`] of the tools that were added, all at the end.
    pub added: Vec<usize>,
    /// Tools left out because their declared or wire name is taken, each with the words that name the holder:
    /// `by 'files'` or `by a tool given to this agent directly`.
    pub skipped: Vec<(ToolName, String)>,
    /// Tools that nobody can hold under that name (A17).
    pub left_out: Vec<(ToolName, NameDefect)>,
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

    /// The held tool whose wire name is exactly `wire` (A12): no trimming, case folding or repair.
    pub fn by_wire(&self, wire: &str) -> Option<&HeldTool> {
        self.tools.get(*self.by_wire.get(wire)?)
    }

    /// The held tool that is exactly `tool`.
    pub fn get(&self, tool: &ToolId) -> Option<&HeldTool> {
        self.by_declared(tool.name.as_str()).filter(|held| held.id == *tool)
    }

    /// The held tool of this declared name, whoever provides it: there is at most one.
    pub fn by_declared(&self, name: &str) -> Option<&HeldTool> {
        self.tools.get(*self.by_name.get(name)?)
    }

    /// How `toolset` came to be held, if it is.
    pub fn arrival(&self, toolset: &ToolsetName) -> Option<Arrival> {
        self.toolsets.iter().find(|(name, _)| name == toolset).map(|(_, arrival)| *arrival)
    }

    /// Adds one toolset's build at the end; names already held are skipped and said (R7, N1, N2), names that nobody can
    /// hold are left out (A17). A toolset that is already held changes nothing (R9).
    pub fn add(&mut self, toolset: &ToolsetName, arrival: Arrival, tools: &[ToolFacts]) -> LoadOutcome {
        if self.arrival(toolset).is_some() {
            return LoadOutcome::default();
        }
        let screened = screen(tools);
        let mut outcome = LoadOutcome { left_out: screened.left_out, ..LoadOutcome::default() };
        for facts in screened.kept.into_iter().filter_map(|index| tools.get(index)) {
            match self.push(Owner::Toolset(toolset.clone()), arrival, facts) {
                Ok(index) => outcome.added.push(index),
                Err(holder) => outcome.skipped.push((facts.name.clone(), holder_words(holder))),
            }
        }
        self.toolsets.push((toolset.clone(), arrival));
        outcome
    }

    /// Adds core tools (A8) at the end. One that is held already changes nothing.
    pub fn add_core(&mut self, tools: &[ToolFacts]) {
        for facts in tools {
            // No toolset's tool can be named like a core tool (A17), so the only holder there can be is itself.
            let _ = self.push(Owner::Core, Arrival::Core, facts);
        }
    }

    /// Whoever holds the declared or the wire name that `tool` of `owner` would have (N5).
    pub(super) fn holder(&self, owner: &Owner, tool: &ToolName) -> Option<&HeldTool> {
        let index = self.by_name.get(tool).or_else(|| self.by_wire.get(&WireName::of(owner, tool)))?;
        self.tools.get(*index)
    }

    fn push(&mut self, owner: Owner, arrival: Arrival, facts: &ToolFacts) -> Result<usize, &HeldTool> {
        let wire = WireName::of(&owner, &facts.name);
        let index = self.tools.len();
        if let Some(taken) = self.by_name.get(&facts.name).or_else(|| self.by_wire.get(&wire)) {
            return Err(&self.tools[*taken]);
        }
        self.by_name.insert(facts.name.clone(), index);
        self.by_wire.insert(wire.clone(), index);
        self.tools.push(HeldTool {
            id: ToolId { owner, name: facts.name.clone() },
            wire,
            arrival,
            risk: facts.risk,
            bytes: facts.bytes,
            digest: facts.digest.clone(),
        });
        Ok(index)
    }
}

/// The words of R7 that name a holder.
fn holder_words(holder: &HeldTool) -> String {
    match (&holder.id.owner, holder.arrival) {
        (Owner::Toolset(toolset), Arrival::Loaded) => format!("by '{toolset}'"),
        _ => "by a tool given to this agent directly".to_owned(),
    }
}
