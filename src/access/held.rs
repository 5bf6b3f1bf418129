//! Residency: what one agent holds in one life, in wire order, and how a load adds to it.
//!
//! A held list only grows by a suffix (R7); nothing here removes or reorders.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conditions::Trigger;
use super::name::{NameDefect, Owner, ToolId, ToolName, ToolsetName, WireName};
use super::planted::{Bug, planted};
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
    /// Of a skill that the entry agent reaches (A9): from the start, or when it came to be.
    Skill,
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
    /// What it waits for before it is offered (W7), if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The schema of its arguments, to be shown.
    #[serde(skip)]
    pub schema: Arc<Value>,
}

impl HeldTool {
    /// What was known of it when it came to be held (R17).
    pub(super) fn facts(&self) -> ToolFacts {
        ToolFacts {
            name: self.id.name.clone(),
            risk: self.risk,
            bytes: self.bytes,
            digest: self.digest.clone(),
            trigger: self.trigger,
            schema: Arc::clone(&self.schema),
        }
    }
}

/// A held toolset: how it came, and what made it come where something that happened did (`call-7`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct HeldToolset {
    name: ToolsetName,
    arrival: Arrival,
    event: Option<String>,
}

/// One step of wiring an agent, in held order (R16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// All tools of a toolset's build.
    Toolset(ToolsetName, Arrival),
    /// A core tool.
    Core(&'static str),
}

/// What one agent holds, in wire order (R16).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    tools: Vec<HeldTool>,
    /// Toolsets whose build is in here, in order of arrival.
    toolsets: Vec<HeldToolset>,
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

    /// The held toolsets in order of arrival, with how they came.
    pub fn toolsets(&self) -> impl Iterator<Item = (&ToolsetName, Arrival)> {
        self.toolsets.iter().map(|held| (&held.name, held.arrival))
    }

    /// The held tool whose wire name is exactly `wire` (A12): no trimming, case folding or repair.
    pub fn by_wire(&self, wire: &str) -> Option<&HeldTool> {
        self.tools.get(*self.by_wire.get(wire)?)
    }

    /// The held tool that is exactly `tool`.
    pub fn get(&self, tool: &ToolId) -> Option<&HeldTool> {
        self.tools.get(self.place(tool)?)
    }

    /// The held tool of this declared name, whoever provides it: there is at most one.
    pub fn by_declared(&self, name: &str) -> Option<&HeldTool> {
        self.tools.get(*self.by_name.get(name)?)
    }

    /// How `toolset` came to be held, if it is.
    pub fn arrival(&self, toolset: &ToolsetName) -> Option<Arrival> {
        self.of(toolset).map(|held| held.arrival)
    }

    /// What made `toolset` come, if something that happened did.
    pub(super) fn event(&self, toolset: &ToolsetName) -> Option<&str> {
        self.of(toolset)?.event.as_deref()
    }

    fn of(&self, toolset: &ToolsetName) -> Option<&HeldToolset> {
        self.toolsets.iter().find(|held| held.name == *toolset)
    }

    /// The place of the tool that is exactly `tool`.
    pub(super) fn place(&self, tool: &ToolId) -> Option<usize> {
        self.by_name
            .get(&tool.name)
            .copied()
            .filter(|index| self.tools.get(*index).is_some_and(|held| held.id == *tool))
    }

    /// Adds one toolset's build at the end; names already held are skipped and said (R7, N1, N2), names that nobody can
    /// hold are left out (A17). A toolset that is already held changes nothing (R9).
    pub fn add(&mut self, toolset: &ToolsetName, arrival: Arrival, tools: &[ToolFacts]) -> LoadOutcome {
        self.add_by(toolset, arrival, None, tools)
    }

    /// The same, and what made it come: `call-7`.
    pub fn add_by(
        &mut self,
        toolset: &ToolsetName,
        arrival: Arrival,
        event: Option<String>,
        tools: &[ToolFacts],
    ) -> LoadOutcome {
        if self.arrival(toolset).is_some() {
            return LoadOutcome::default();
        }
        self.toolsets.push(HeldToolset { name: toolset.clone(), arrival, event });
        self.append(toolset, arrival, tools)
    }

    /// Adds at the end what a held skill's new build has and its held one had not (A9, R16). A tool that is held stays as it
    /// is, whatever the new build says of it (R17).
    pub fn grow(&mut self, skill: &ToolsetName, tools: &[ToolFacts]) -> LoadOutcome {
        let Some(arrival) = self.arrival(skill) else { return LoadOutcome::default() };
        let fresh: Vec<ToolFacts> =
            tools.iter().filter(|facts| self.get(&ToolId::of(skill, &facts.name)).is_none()).cloned().collect();
        self.append(skill, arrival, &fresh)
    }

    fn append(&mut self, toolset: &ToolsetName, arrival: Arrival, tools: &[ToolFacts]) -> LoadOutcome {
        let screened = screen(tools);
        let mut outcome = LoadOutcome { left_out: screened.left_out, ..LoadOutcome::default() };
        for facts in screened.kept.into_iter().filter_map(|index| tools.get(index)) {
            match self.push(Owner::Toolset(toolset.clone()), arrival, facts) {
                Ok(index) => outcome.added.push(index),
                Err(holder) => outcome.skipped.push((facts.name.clone(), holder_words(holder))),
            }
        }
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
        let named = if planted(Bug::WiresByArrival) && arrival == Arrival::Loaded { &Owner::Core } else { &owner };
        let wire = WireName::of(named, &facts.name);
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
            trigger: facts.trigger,
            schema: Arc::clone(&facts.schema),
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
