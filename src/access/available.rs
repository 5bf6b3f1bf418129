//! Availability: what each agent can ever call, with `"all"` expanded, and the split into resident and deferred.
//!
//! One function expands and every reader calls it (A6). Nothing here says what is held.

use super::declare::{AgentDeclaration, Available};
use super::name::ToolsetName;
use super::registry::{Kind, Registry};

/// Whether an agent is the one that a person talks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `[assistant].agent`.
    Entry,
    /// Any other: it runs when it is spawned.
    Worker,
}

/// The toolset whose holder writes skills: an entry agent that lists it reaches every skill (A9).
const SKILLS: &str = "skills";

/// One agent's toolsets, looked up. Each list is in available order (R3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    /// Everything it can ever hold, but for skills that the entry agent reaches without naming them.
    pub(super) available: Vec<ToolsetName>,
    /// What it holds from the start (R2).
    pub(super) resident: Vec<ToolsetName>,
    /// The rest: one load away.
    pub(super) deferred: Vec<ToolsetName>,
    /// The skills that the entry agent reaches, in trust order: always held, never deferred (A9). A worker's skill is a
    /// toolset like any other, so a worker has none here.
    pub(super) skills: Vec<ToolsetName>,
    /// The core tools that it earns (A8), in held order.
    pub(super) core: Vec<&'static str>,
}

impl Table {
    /// Looks `agent`'s lists up. Words that the checks refuse are left out here.
    pub(super) fn new(agent: &AgentDeclaration, role: Role, registry: &Registry) -> Self {
        let available = expand(&agent.available, role, registry);
        let skills = match role {
            Role::Entry => skills(&agent.available, &available, registry),
            Role::Worker => Vec::new(),
        };
        let is_resident = |toolset: &ToolsetName| match &agent.resident {
            None => true,
            Some(resident) => resident.iter().any(|word| word.value == *toolset),
        };
        let toolsets = available.iter().filter(|toolset| !skills.contains(toolset)).cloned();
        let (resident, deferred): (Vec<_>, Vec<_>) = toolsets.partition(is_resident);
        let lists_skill = available.iter().any(|toolset| registry.kind(toolset) == Some(Kind::Skill));
        let activates = lists_skill || !skills.is_empty() || (role == Role::Entry && writes_skills(&available));
        let mut core = Vec::new();
        if !agent.delegates_to.is_empty() {
            core.push("spawn_subagent");
        }
        if activates {
            core.push("activate_skill");
        }
        if !deferred.is_empty() {
            core.extend(["available_tools", "load_tools"]);
        }
        Self { available, resident, deferred, skills, core }
    }

    /// A composed worker that holds `toolsets`: no residency, so everything is there from its start (R15), and no core tool.
    pub(super) fn composed(toolsets: Vec<ToolsetName>) -> Self {
        Self { available: toolsets.clone(), resident: toolsets, ..Self::default() }
    }

    /// Everything that it can ever hold, in available order, skills that it does not name last.
    pub(super) fn every(&self) -> impl Iterator<Item = &ToolsetName> {
        let unnamed = self.skills.iter().filter(|skill| !self.available.contains(skill));
        self.available.iter().chain(unnamed)
    }

    /// Whether it can ever hold `toolset`.
    pub(super) fn reaches(&self, toolset: &ToolsetName) -> bool {
        self.available.contains(toolset) || self.skills.contains(toolset)
    }
}

fn writes_skills(available: &[ToolsetName]) -> bool {
    available.iter().any(|toolset| toolset.as_str() == SKILLS)
}

/// A9: every skill for an entry agent that lists `skills` or is `"all"`, otherwise those that it names.
fn skills(written: &Available, available: &[ToolsetName], registry: &Registry) -> Vec<ToolsetName> {
    let every = matches!(written, Available::All(_)) || writes_skills(available);
    let all = registry.toolsets().iter().filter(|facts| facts.kind == Kind::Skill).map(|facts| &facts.name);
    all.filter(|skill| every || available.contains(skill)).cloned().collect()
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
