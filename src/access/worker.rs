//! Workers: which toolsets one may be made of, and agents that another composes (§8's part in access).
//!
//! Nothing here spawns anything.

use super::available::Table;
use super::conditions::Life;
use super::name::{AgentName, Owner, ToolsetName, did_you_mean, shown};
use super::offer::Chain;
use super::world::World;

/// The toolset whose holder composes workers.
pub(super) const CAPABILITIES: &str = "capabilities";

/// Whether a composed worker may compose in its turn (D3): while depth remains it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Nested {
    /// It also holds `capabilities`, last, which no list of toolsets can name.
    Composes,
    /// It holds what it is composed from and nothing else.
    Leaf,
}

impl World {
    /// Composes a worker for `composer` from `toolsets` (D3): its name, `composed:<label>`, under which every question is
    /// asked about it. Its policy is the default pair and every name that its composer's gates (D8). Spaces around a label or
    /// a name are no part of it, and a toolset named twice counts once.
    ///
    /// # Errors
    /// The sentence after `Could not compose …: `: a label that is no name, no toolset at all, one that nothing installs, that
    /// nobody can be composed from, that is refused (P9), not there (R11), or withheld from the composer's turn (O7).
    pub fn compose(
        &mut self,
        composer: Life<'_>,
        label: &str,
        toolsets: &[ToolsetName],
        nested: Nested,
    ) -> Result<AgentName, String> {
        let label = label.trim();
        AgentName::parse(label)?;
        if self.declaration(&AgentName::new(label)).is_some() {
            return Err(format!("'{label}' is a declared agent; call this worker otherwise"));
        }
        if toolsets.is_empty() {
            return Err("name at least one toolset; list_capabilities shows them all".to_owned());
        }
        let mut from: Vec<ToolsetName> = Vec::new();
        for named in toolsets {
            let toolset = ToolsetName::new(named.as_str().trim());
            if toolset.as_str().eq_ignore_ascii_case(CAPABILITIES) {
                return Err(format!("nobody can be composed from '{CAPABILITIES}'"));
            }
            let Some(facts) = self.registry.get(toolset.as_str()) else {
                let hint = did_you_mean(&self.registry.near(toolset.as_str())).map(|hint| format!("; {hint}"));
                return Err(format!("nothing installs '{}'{}", shown(toolset.as_str()), hint.unwrap_or_default()));
            };
            if facts.entry_agent_only {
                return Err(format!("nobody can be composed from '{toolset}'"));
            }
            if !from.contains(&toolset) {
                from.push(toolset);
            }
        }
        if nested == Nested::Composes {
            let capabilities = ToolsetName::new(CAPABILITIES);
            if !self.registry.contains(CAPABILITIES) {
                return Err(format!("nothing installs '{CAPABILITIES}'"));
            }
            from.push(capabilities);
        }
        for toolset in &from {
            if let Some(why) = self.may_build(composer, toolset) {
                return Err(format!("'{toolset}': {why}"));
            }
        }
        let name = |number: usize| match number {
            1 => AgentName::composed(label),
            _ => AgentName::composed(&format!("{label}#{number}")),
        };
        // As many as there are workers are taken at most, so one more is free.
        let free = (1..=self.tables.len() + 1).map(name).find(|name| !self.tables.contains_key(name));
        let worker = free.unwrap_or_else(|| name(self.tables.len() + 2));
        self.tables.insert(worker.clone(), Table::composed(from));
        self.policies.compose(worker.clone(), composer.agent.clone());
        Ok(worker)
    }

    /// Forgets a composed worker that has ended.
    pub fn dissolve(&mut self, worker: &AgentName) {
        if self.policies.is_composed(worker) {
            self.tables.remove(worker);
            self.policies.dissolve(worker);
        }
    }

    /// Why a build of `toolset` can be given to nobody of this life now (O7, R11, P9), if so: for loads, spawns and composes.
    pub fn may_build(&self, life: Life<'_>, toolset: &ToolsetName) -> Option<String> {
        let owner = Owner::Toolset(toolset.clone());
        if let Some((filter, reason)) = Chain::new(self, life.conditions).refuses(&owner) {
            return Some(format!("it is {}: {}", filter.words(), reason.text));
        }
        if let Some(fact) = self.facts.get(toolset).and_then(|facts| facts.whole.as_ref()) {
            return Some(fact.reason().text);
        }
        self.refusal(toolset).map(|refusal| refusal.message.clone())
    }

    /// The declared agents that `agent` may spawn (D1), in the order written, each with its description.
    pub fn delegates(&self, agent: &AgentName) -> Vec<(&AgentName, &str)> {
        let words = self.declaration(agent).map_or(&[][..], |declared| &declared.delegates_to);
        let described = words.iter().filter_map(|word| self.declaration(&word.value));
        described.map(|delegate| (&delegate.name.value, delegate.description.as_str())).collect()
    }

    /// The agent that `spawn_subagent(agent_type, family)` of this life names (D1, W4).
    ///
    /// # Errors
    /// The result that the model reads: it delegates to nobody of that name, or the family is no toolset of that agent or is
    /// withheld from this turn (O7).
    pub fn may_spawn(
        &self,
        life: Life<'_>,
        agent_type: &str,
        family: Option<&ToolsetName>,
    ) -> Result<AgentName, String> {
        let delegates = self.delegates(life.agent);
        let Some((agent, _)) = delegates.iter().find(|(name, _)| name.as_str() == agent_type) else {
            let names: Vec<&str> = delegates.iter().map(|(name, _)| name.as_str()).collect();
            let (asked, names) = (shown(agent_type), names.join(", "));
            return Err(format!("Unknown agent_type '{asked}'. Available agent_type values: {names}."));
        };
        if let Some(family) = family {
            let available = self.available(agent);
            if !available.contains(family) {
                let names: Vec<&str> = available.iter().map(ToolsetName::as_str).collect();
                let (asked, names) = (shown(family.as_str()), names.join(", "));
                return Err(format!("Could not spawn '{agent}': it has no toolset '{asked}'. Its toolsets: {names}."));
            }
            if let Some(why) = self.may_build(life, family) {
                return Err(format!("Could not spawn '{agent}': '{family}': {why}"));
            }
        }
        Ok((*agent).clone())
    }

    /// Whether `spawn_subagent` of `agent` has `background` (R20): fixed by its table, so at wiring.
    pub fn spawns_in_background(&self, agent: &AgentName) -> bool {
        self.table(agent).available.iter().any(|toolset| toolset.as_str() == "messaging")
    }
}
