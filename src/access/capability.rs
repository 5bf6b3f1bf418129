//! What each agent can ever do under one configuration, as a value that can be compared with another one (K4).
//!
//! It is as whole as the builds that its world knows: a toolset that was not built is said, never left out.

use std::collections::BTreeMap;

use serde::Serialize;

use super::available::Role;
use super::conditions::{Conditions, Life};
use super::declare::{AgentDeclaration, Available};
use super::held::{Arrival, Held};
use super::mode::ModeName;
use super::name::{AgentName, Owner, ToolId, ToolName, ToolsetName, shown};
use super::offer::{Chain, Filter, offer, size};
use super::policy::{Entry, GateList, Policy};
use super::registry::ToolFacts;
use super::world::World;

/// How something stands, with the line of the configuration that decided it, if one did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stand {
    /// For people: a lower-case fragment.
    pub text: String,
    /// The line.
    pub line: Option<usize>,
}

impl Stand {
    pub(super) fn new(text: impl Into<String>, line: Option<usize>) -> Self {
        Self { text: text.into(), line: line.filter(|line| *line > 0) }
    }
}

/// Who answers before a tool runs, the least strict first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asks {
    /// It runs.
    Nobody,
    /// A model may: it stands in `review`, and auto-approval is on.
    Reviewer,
    /// Only a person. `review` without auto-approval is that too (P11).
    Person,
}

/// One tool that an agent can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// Who answers first.
    pub asks: Asks,
    /// The list that gates it.
    pub list: Option<GateList>,
    /// The same in words.
    pub gate: Stand,
    /// The floor's entry that reaches it (P20).
    pub floor: Option<Stand>,
    /// Why no call of a fresh agent would carry it: a switch, a check that says no, or the default mode.
    pub withheld: Option<Stand>,
    /// Every mode, and what of it withholds the tool, if something does.
    pub modes: BTreeMap<ModeName, Option<Stand>>,
    /// Digest of its definition.
    pub digest: String,
    /// Bytes of its definition.
    pub bytes: usize,
}

/// What is known of a toolset's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Build {
    /// All of them.
    Built,
    /// Nobody gets any: every build is refused, with the sentence (P9).
    Refused(String),
    /// It could not be built, so they are not known.
    Unknown {
        /// Why.
        error: String,
        /// What the agent's policy and the floor say of them: entries as written.
        entries: Vec<String>,
    },
}

/// Whether a toolset is in the context from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residency {
    /// It is.
    Resident,
    /// `load_tools` adds it.
    Deferred,
}

/// One toolset that an agent's table makes available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The line that does.
    pub line: Option<usize>,
    /// Whether it is resident.
    pub residency: Residency,
    /// The line that says so: of `resident`, or where that is not written, of `available` (R2).
    pub residency_line: Option<usize>,
    /// What is known of its tools.
    pub build: Build,
}

/// Tools and bytes of an agent's tool block: what a call made then would carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Weight {
    /// At the start: tools, bytes.
    pub resident: (usize, usize),
    /// With every available toolset loaded, as far as they were built: tools, bytes.
    pub all: (usize, usize),
}

/// Everything that one agent can ever do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The agent.
    pub agent: AgentName,
    /// The line of its table.
    pub line: Option<usize>,
    /// Whether a person talks to it.
    pub role: Role,
    /// The line that says so.
    pub role_line: Option<usize>,
    /// `available` in words, with its line: `"all"`, a list, or none.
    pub available: Stand,
    /// Whether `available` is `"all"`, which grows with what is installed.
    pub open_ended: bool,
    /// The agents that it may spawn, each with its line.
    pub delegates: BTreeMap<AgentName, Option<usize>>,
    /// Its toolsets.
    pub toolsets: BTreeMap<ToolsetName, Listed>,
    /// The tools that it can call, core ones too.
    pub tools: BTreeMap<ToolId, Ability>,
    /// Tools of its toolsets that it can never hold, because this one has their name from the start (N1, N2).
    pub shadowed: BTreeMap<ToolId, ToolId>,
    /// The bytes of it.
    pub weight: Weight,
}

/// What every agent of one configuration can ever do, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// One for each declared agent.
    pub agents: Vec<Capability>,
}

impl Snapshot {
    /// Of a world whose available toolsets were all built, as far as they can be.
    pub fn of(world: &World) -> Self {
        Self { agents: world.declarations().agents.iter().map(|declared| capability(world, declared)).collect() }
    }

    /// The available toolsets that were not built or are refused, each with the reason.
    pub fn not_built(&self) -> BTreeMap<&ToolsetName, &str> {
        self.agents.iter().flat_map(Capability::not_built).collect()
    }
}

impl Capability {
    /// Its toolsets that were not built or are refused, each with the reason.
    pub fn not_built(&self) -> impl Iterator<Item = (&ToolsetName, &str)> {
        self.toolsets.iter().filter_map(|(name, listed)| match &listed.build {
            Build::Built => None,
            Build::Refused(why) => Some((name, why.as_str())),
            Build::Unknown { error, .. } => Some((name, error.as_str())),
        })
    }
}

/// The tool block of a fresh `agent`, at the start and with every toolset that was built loaded in available order.
pub fn weight(world: &World, agent: &AgentName) -> Weight {
    let mut held = world.fresh(agent);
    let resident = carried(world, agent, &held);
    for toolset in world.table(agent).every().filter(|toolset| world.refusal(toolset).is_none()) {
        if let Some(tools) = world.last_build(toolset) {
            held.add(toolset, Arrival::Loaded, tools);
        }
    }
    Weight { resident, all: carried(world, agent, &held) }
}

fn carried(world: &World, agent: &AgentName, held: &Held) -> (usize, usize) {
    let conditions = world.default_conditions();
    size(offer(world, Life::new(agent, held).under(&conditions)).tools(held))
}

/// Everything that the agent of this table can ever do.
pub fn capability(world: &World, declared: &AgentDeclaration) -> Capability {
    let agent = &declared.name.value;
    let fresh = world.fresh(agent);
    let mut toolsets = BTreeMap::new();
    let mut tools = BTreeMap::new();
    let mut shadowed = BTreeMap::new();
    for toolset in world.table(agent).every() {
        let build = match (world.refusal(toolset), world.last_build(toolset)) {
            (Some(refusal), _) => Build::Refused(refusal.message.clone()),
            (None, Some(_)) => Build::Built,
            (None, None) => Build::Unknown {
                error: world.failure(toolset).unwrap_or("it was not built").to_owned(),
                entries: entries_on(world, agent, toolset),
            },
        };
        let built = if build == Build::Built { world.last_build(toolset) } else { None };
        for facts in built.unwrap_or_default() {
            let id = ToolId::of(toolset, &facts.name);
            match fresh.holder(&Owner::Toolset(toolset.clone()), &facts.name) {
                Some(holder) if holder.id != id => drop(shadowed.insert(id, holder.id.clone())),
                _ => {
                    let ability = ability(world, agent, &id, facts);
                    tools.insert(id, ability);
                }
            }
        }
        let table = world.table(agent);
        let resident = table.resident.contains(toolset) || table.skills.contains(toolset);
        let residency = if resident { Residency::Resident } else { Residency::Deferred };
        let line = match &declared.available {
            Available::Absent => None,
            Available::All(span) => Some(span.line),
            Available::List(words) => words.iter().find(|word| word.value == *toolset).map(|word| word.span.line),
        };
        let named = declared.resident.iter().flatten();
        let named = named.clone().find(|word| word.value == *toolset).or_else(|| named.clone().next());
        let residency_line = named.map(|word| word.span.line).or(line);
        toolsets.insert(toolset.clone(), Listed { line, residency, residency_line, build });
    }
    for name in world.core_tools(agent) {
        if let Some(facts) = world.core(agent, &ToolName::new(*name)) {
            let id = ToolId::core(name);
            let ability = ability(world, agent, &id, facts);
            tools.insert(id, ability);
        }
    }
    let here = declared.name.span.line;
    let available = match &declared.available {
        Available::Absent => Stand::new("no list", Some(here)),
        Available::All(span) => Stand::new("\"all\", with whatever is installed later", Some(span.line)),
        Available::List(words) => Stand::new("a list", Some(words.first().map_or(here, |word| word.span.line))),
    };
    Capability {
        agent: agent.clone(),
        line: Some(here),
        role: if agent == world.entry() { Role::Entry } else { Role::Worker },
        role_line: world.declarations().entry.as_ref().map(|word| word.span.line),
        available,
        open_ended: matches!(declared.available, Available::All(_)),
        delegates: declared.delegates_to.iter().map(|word| (word.value.clone(), Some(word.span.line))).collect(),
        toolsets,
        tools,
        shadowed,
        weight: weight(world, agent),
    }
}

fn ability(world: &World, agent: &AgentName, id: &ToolId, facts: &ToolFacts) -> Ability {
    let gated = world.gate(agent, id);
    let asks = match gated.map(|gate| gate.list()) {
        None => Asks::Nobody,
        Some(list) if world.reviews(list) => Asks::Reviewer,
        Some(_) => Asks::Person,
    };
    let gate = match gated {
        None => Stand::new("runs without asking", world.policies.of(agent).key.map(|key| key.line)),
        Some(gate) => {
            let who = if asks == Asks::Reviewer { "asks a reviewer first" } else { "asks you" };
            let (place, span) = gate.place();
            Stand::new(format!("{who}: {place}"), Some(span.line))
        }
    };
    let floor = &world.policies.floor;
    Ability {
        asks,
        list: gated.map(|gate| gate.list()),
        gate,
        floor: world.policies.floor_reaches(id).map(|entry| {
            Stand::new(format!("where it asks, only you can answer: {}", floor.place(entry)), Some(entry.span.line))
        }),
        withheld: {
            let conditions = world.default_conditions();
            let chain = Chain::new(world, &conditions);
            let mut reasons = chain.withholds(chain.absent(id, facts.trigger));
            let found = reasons.find(|(filter, _)| filter.lasts());
            found.map(|(_, reason)| Stand::new(reason.text.clone(), reason.line()))
        },
        // The default mode's is `withheld`.
        modes: world
            .modes()
            .filter(|(mode, _)| **mode != world.default_mode())
            .map(|(mode, _)| (mode.clone(), in_mode(world, id, mode)))
            .collect(),
        digest: facts.digest.clone(),
        bytes: facts.bytes,
    }
}

/// The word of `mode` that withholds the tool.
fn in_mode(world: &World, id: &ToolId, mode: &ModeName) -> Option<Stand> {
    let conditions = Conditions { mode: Some(mode.clone()), ..Conditions::default() };
    let chain = Chain::new(world, &conditions);
    let mut reasons = chain.withholds(chain.absent(id, None));
    let (_, reason) = reasons.find(|(filter, _)| *filter == Filter::Mode)?;
    Some(Stand::new(reason.text.clone(), reason.line()))
}

/// The entries of the agent's policy and of the floor that name `toolset`, each with its list.
fn entries_on(world: &World, agent: &AgentName, toolset: &ToolsetName) -> Vec<String> {
    let written = |policy: &Policy| -> Vec<String> {
        let on = |entry: &&Entry| entry.gate.toolset() == Some(toolset);
        policy.entries.iter().filter(on).map(|entry| format!("{} {}", entry.list, shown(&entry.written))).collect()
    };
    let mut entries = written(world.policies.of(agent));
    // What else decides about tools that nobody knows.
    let owner = Owner::Toolset(toolset.clone());
    for (mode, _) in world.modes() {
        let conditions = Conditions { mode: Some(mode.clone()), ..Conditions::default() };
        let chain = Chain::new(world, &conditions);
        let withheld = chain.withholds(chain.toolset(&owner)).filter(|(filter, _)| filter.decides());
        entries.extend(withheld.map(|(_, reason)| reason.text));
    }
    entries.extend(world.server_gate(toolset).map(|gate| format!("default of {}", gate.table())));
    entries.extend(world.declarations().auto_approval.then(|| "auto-approval".to_owned()));
    entries.extend(written(&world.policies.floor).into_iter().map(|entry| format!("floor {entry}")));
    entries
}
