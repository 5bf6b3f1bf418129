//! Availability: what each agent can ever call, with `"all"` expanded, and the split into resident and deferred.
//!
//! One function expands and every reader calls it (A6). Nothing here says what is held.

use super::declare::{AgentDeclaration, Available};
use super::name::ToolsetName;
use super::registry::Registry;

/// Whether an agent is the one that a person talks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `[assistant].agent`.
    Entry,
    /// Any other: it runs when it is spawned.
    Worker,
}

/// One agent's toolsets, looked up. Each list is in available order (R3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    /// Everything it can ever hold.
    pub(super) available: Vec<ToolsetName>,
    /// What it holds from the start (R2).
    pub(super) resident: Vec<ToolsetName>,
    /// The rest: one load away.
    pub(super) deferred: Vec<ToolsetName>,
}

impl Table {
    /// Looks `agent`'s lists up. Words that the checks refuse are left out here.
    pub(super) fn new(agent: &AgentDeclaration, role: Role, registry: &Registry) -> Self {
        let available = expand(&agent.available, role, registry);
        let is_resident = |toolset: &ToolsetName| match &agent.resident {
            None => true,
            Some(resident) => resident.iter().any(|word| word.value == *toolset),
        };
        let (resident, deferred) = available.iter().cloned().partition(is_resident);
        Self { available, resident, deferred }
    }
}

/// The toolsets that `available` stands for (A1, A6): the list as written, or every registered toolset in trust order,
/// for a worker without those that only the entry agent may list (A7).
pub fn expand(available: &Available, role: Role, registry: &Registry) -> Vec<ToolsetName> {
    match available {
        Available::Absent => Vec::new(),
        Available::All(_) => registry
            .toolsets()
            .iter()
            .filter(|facts| role == Role::Entry || !facts.entry_agent_only)
            .map(|facts| facts.name.clone())
            .collect(),
        Available::List(words) => {
            words.iter().map(|word| &word.value).filter(|name| registry.contains(name.as_str())).cloned().collect()
        }
    }
}
