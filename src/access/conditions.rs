//! What holds for one agent in one turn beside the shared world: mode, family, allow-list and triggers.
//!
//! It only narrows (O7); nothing here decides what it withholds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::held::{Held, HeldTool};
use super::mode::ModeName;
use super::name::{AgentName, ToolName, ToolsetName};

/// What a tool may wait for before it is offered (W7): a closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// An http(s) link in one of the last [`TRIGGER_MESSAGES`] user messages.
    Link,
}

/// How many user messages back a trigger is looked for (W7).
pub const TRIGGER_MESSAGES: usize = 3;

impl Trigger {
    /// Why a tool that waits for it is withheld.
    pub(super) fn missing(self) -> String {
        match self {
            Self::Link => format!("no http(s) link stands in the last {TRIGGER_MESSAGES} user messages"),
        }
    }

    /// The triggers that hold, given everything that a user (for a worker: its task) said, the newest first. Text of tools
    /// and agents is not asked.
    pub fn holding<'a>(user_messages: impl IntoIterator<Item = &'a str>) -> BTreeSet<Self> {
        let linked = user_messages.into_iter().take(TRIGGER_MESSAGES).any(has_link);
        linked.then_some(Self::Link).into_iter().collect()
    }
}

/// Whether `http://` or `https://`, in any casing, stands in `text` with something like a host behind it.
fn has_link(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let host_follows = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    ["http://", "https://"].iter().any(|scheme| {
        lower.match_indices(scheme).any(|(at, _)| {
            // `xhttp://` is no scheme.
            !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) && host_follows(&lower[at + scheme.len()..])
        })
    })
}

/// A turn's exclusions, written as what may still be called (W6): a guest's turn. What becomes held while the turn runs is
/// outside, whatever its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowList {
    names: BTreeSet<ToolName>,
    /// For each tool that was held when the turn began, whether it is on the list.
    held: Vec<bool>,
}

impl AllowList {
    /// The list of a turn that begins now, or of a worker that is wired now, with `held`. `names`: declared tool names, core
    /// tools included.
    pub fn new(names: BTreeSet<ToolName>, held: &Held) -> Self {
        let held = held.tools().iter().map(|tool| names.contains(&tool.id.name)).collect();
        Self { names, held }
    }

    /// This list without what is not among `names` either. `held`: now; what became held since the turn began stays outside.
    #[must_use]
    pub fn narrowed(&self, names: &BTreeSet<ToolName>, held: &Held) -> Self {
        let on_both = |(listed, tool): (&bool, &HeldTool)| *listed && names.contains(&tool.id.name);
        Self {
            names: self.names.intersection(names).cloned().collect(),
            held: self.held.iter().zip(held.tools()).map(on_both).collect(),
        }
    }

    /// The same list for a worker that is wired now.
    #[must_use]
    pub fn for_worker(&self, held: &Held) -> Self {
        Self::new(self.names.clone(), held)
    }

    /// What is on it, by declared name.
    pub fn names(&self) -> &BTreeSet<ToolName> {
        &self.names
    }

    /// Why the tool at this place of the held list is outside, if it is; `None`: it is not held.
    pub(super) fn excludes(&self, place: Option<usize>) -> Option<&'static str> {
        match place.and_then(|place| self.held.get(place)) {
            Some(true) => None,
            Some(false) => Some("this turn may call other tools only"),
            None => Some("it was not held when this turn began, which may call no more than that"),
        }
    }
}

/// The conditions of one agent's turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions {
    /// The conversation's mode (W3); `None` withholds nothing.
    pub mode: Option<ModeName>,
    /// The toolsets that this worker, and every one that it descends from, was narrowed to (W4): a tool must be of each.
    pub families: Vec<ToolsetName>,
    /// This turn's allow-list (W6).
    pub allow: Option<AllowList>,
    /// The triggers that hold (W7).
    pub triggers: BTreeSet<Trigger>,
}

/// No condition at all.
pub const UNCONDITIONAL: &Conditions =
    &Conditions { mode: None, families: Vec::new(), allow: None, triggers: BTreeSet::new() };

impl Conditions {
    /// What holds for a worker spawned or composed under these conditions (O7): the same mode, the same allow-list over what
    /// the worker holds from its start (`held`), and every family so far with its own. Its task is its only user message.
    #[must_use]
    pub fn for_worker(&self, family: Option<ToolsetName>, held: &Held, task: &str) -> Self {
        Self {
            mode: self.mode.clone(),
            families: self.families.iter().cloned().chain(family).collect(),
            allow: self.allow.as_ref().map(|allow| allow.for_worker(held)),
            triggers: Trigger::holding([task]),
        }
    }
}

/// One agent in one life: who it is, what it holds, and under which conditions its turn runs. What every question about a
/// call is asked with.
#[derive(Debug, Clone, Copy)]
pub struct Life<'a> {
    /// A declared agent, or `composed:<label>`.
    pub agent: &'a AgentName,
    /// What it holds.
    pub held: &'a Held,
    /// What its turn runs under.
    pub conditions: &'a Conditions,
}

impl<'a> Life<'a> {
    /// `agent` with `held`, under no condition.
    pub const fn new(agent: &'a AgentName, held: &'a Held) -> Self {
        Self { agent, held, conditions: UNCONDITIONAL }
    }

    /// The same under `conditions`.
    #[must_use]
    pub const fn under(self, conditions: &'a Conditions) -> Self {
        Self { conditions, ..self }
    }
}
