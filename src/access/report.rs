//! Everything that is shown of one agent: what `kokua agents`, F3 and F4 print (K1).
//!
//! Nothing here decides by itself: it asks the functions that own each question.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::conditions::Life;
use super::declare::Available;
use super::explain::off;
use super::grant::Grant;
use super::held::{Arrival, HeldTool};
use super::name::{AgentName, GateEntry, Owner, ToolId, ToolName, ToolsetName, shown};
use super::offer::{Chain, Filter, offer, size};
use super::planted::{Bug, planted};
use super::policy::{Entry, GateList, Policy};
use super::reason::Reason;
use super::registry::{Kind, Risk, ToolFacts, ToolsetFacts};
use super::world::World;

/// A toolset's state for one agent (R5, F3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolsetState {
    /// In the context from the start.
    Resident,
    /// Restored from the conversation's own loads.
    Preloaded,
    /// Loaded in this life.
    Loaded,
    /// Available and one `load_tools` away.
    Loadable,
    /// The last build failed; a retry may work.
    Failed {
        /// The error.
        error: String,
    },
    /// P9.
    Refused {
        /// The entry that refused it.
        entry: String,
    },
    /// No call carries any of it: switched off, or another filter withholds the whole of it.
    Off {
        /// The filter that withholds it.
        by: Filter,
        /// Why.
        reason: String,
        /// Line of the configuration that switched it off, if one did.
        line: Option<usize>,
    },
    /// Installed, and this agent's table does not list it.
    NotAvailable,
}

impl ToolsetState {
    /// Why a toolset that is off is off, with the line of the configuration that says so.
    pub fn off_words(&self) -> Option<String> {
        match self {
            Self::Off { reason, line: Some(line), .. } => Some(format!("{reason}, line {line}")),
            Self::Off { reason, line: None, .. } => Some(reason.clone()),
            _ => None,
        }
    }
}

/// One tool of a toolset in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRow {
    /// Declared name.
    pub name: ToolName,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition.
    pub bytes: usize,
    /// The list that gates it, under this agent's policy.
    pub gate: Option<GateList>,
    /// Who holds its name instead, if it lost it.
    pub shadowed_by: Option<String>,
    /// Why it is withheld from a call made now.
    pub withheld: Option<String>,
    /// Whether a call made now carries it: held, and no filter withholds it.
    pub offered: bool,
    /// The schema of its arguments. Not in `--json`: a listing is not a definition.
    #[serde(skip)]
    pub schema: Arc<Value>,
}

/// One toolset of a report, in available order, those not available last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolsetRow {
    /// The toolset.
    pub name: ToolsetName,
    /// Its provider.
    pub kind: Kind,
    /// Its description.
    pub description: String,
    /// Its state for this agent.
    #[serde(flatten)]
    pub state: ToolsetState,
    /// Its tools as of the last build, and held ones that it has no more; `None`: not built yet.
    pub tools: Option<Vec<ToolRow>>,
}

/// One entry of a resolved policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryRow {
    /// As written.
    pub entry: String,
    /// Which list.
    pub list: GateList,
    /// Its line.
    pub line: usize,
    /// The tools it resolved to; empty while pending.
    pub tools: Vec<ToolId>,
    /// No build of its toolset has resolved it yet.
    pub pending: bool,
    /// It matched nothing in a build of its toolset, which it refuses to everybody (P9).
    pub refusing: bool,
}

/// Everything that is shown of one agent: `kokua agents`, F3 and F4 print this value and nothing else (K1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentReport {
    /// The agent.
    #[serde(rename = "name")]
    pub agent: AgentName,
    /// Whether it is the entry agent.
    pub entry: bool,
    /// Its description.
    pub description: String,
    /// Agents it delegates to.
    pub delegates_to: Vec<AgentName>,
    /// `all (22): …` is printed when this is set.
    pub available_all: bool,
    /// In available order.
    pub available: Vec<ToolsetName>,
    /// `None`: no `resident` key, so every available toolset.
    pub resident: Option<Vec<ToolsetName>>,
    /// In available order.
    pub deferred: Vec<ToolsetName>,
    /// Every installed toolset with its state.
    pub toolsets: Vec<ToolsetRow>,
    /// The core tools that it holds, which belong to no toolset (A8), in held order.
    pub core: Vec<ToolRow>,
    /// Where the pair comes from: `declared in [agents.coder.tools], line 41` or `inherited from [assistant.tools], line 12`.
    pub policy_source: String,
    /// Resolved and pending entries of both lists.
    pub entries: Vec<EntryRow>,
    /// The floor, resolved. It has no lists; its rows say `confirm`.
    pub floor: Vec<EntryRow>,
    /// Entries of the default pair that this agent's own pair dropped, as written.
    pub dropped_defaults: Vec<String>,
    /// Grants of the conversation the report was made for.
    pub grants: Vec<Grant>,
    /// Tools and bytes of the tool block it starts with: what of its resident, preloaded and core tools a call made now
    /// would carry.
    pub start_tools: (usize, usize),
    /// Tools and bytes of what a call made now would carry: the sum of every row of `toolsets` and `core` that is offered.
    pub offered: (usize, usize),
}

/// Where `agent`'s pair comes from (P3): `declared in [agents.coder.tools], line 41`.
pub(super) fn source(world: &World, agent: &AgentName) -> Reason {
    let policy = world.policies.of(agent);
    let how = if world.policies.is_declared(agent) { "declared in" } else { "inherited from" };
    match policy.key {
        Some(key) => Reason::at(format!("{how} [{}]", policy.table), key),
        None => Reason::rule(format!("{how} [{}], which gates nothing", policy.table)),
    }
}

/// Everything that is shown of `agent`. `running` and `conversation`: of a running agent; `None`: a fresh one in the default
/// mode, as far as its resident toolsets were built.
pub fn report(world: &World, agent: &AgentName, running: Option<Life<'_>>, conversation: Option<&str>) -> AgentReport {
    let (wired, conditions);
    let (life, freshness) = match running {
        Some(life) => (life, Freshness::Running),
        None => {
            (wired, conditions) = (world.fresh(agent), world.default_conditions());
            (Life::new(agent, &wired).under(&conditions), Freshness::Fresh)
        }
    };
    let held = life.held;
    let declared = world.declaration(agent);
    let available = world.available(agent);
    let installed = world.registry().toolsets();
    let first = available.iter().filter_map(|name| world.registry().get(name.as_str()));
    let rest = installed.iter().filter(|facts| !available.contains(&facts.name));
    let toolsets = first.chain(rest).map(|facts| toolset_row(world, life, freshness, facts)).collect();
    let core = held.tools().iter().filter(|tool| tool.arrival == Arrival::Core);
    let core =
        core.filter_map(|tool| Some(tool_row(world, life, &tool.id, world.core(agent, &tool.id.name)?))).collect();
    let offer = offer(world, life);
    let earned: BTreeSet<&str> =
        world.declarations().agents.iter().flat_map(|other| world.core_tools(&other.name.value)).copied().collect();
    let rows = |policy: &Policy| {
        let rows = policy.entries.iter().map(|entry| entry_row(world, entry, &earned));
        rows.filter(|row| !row.pending || !planted(Bug::HidesPending)).collect()
    };
    AgentReport {
        agent: agent.clone(),
        entry: agent == world.entry(),
        description: declared.map(|declared| declared.description.clone()).unwrap_or_default(),
        delegates_to: declared
            .map(|declared| declared.delegates_to.iter().map(|word| word.value.clone()).collect())
            .unwrap_or_default(),
        available_all: declared.is_some_and(|declared| matches!(declared.available, Available::All(_))),
        resident: declared.and_then(|declared| declared.resident.as_ref()).map(|_| world.resident(agent)),
        deferred: world.deferred(agent),
        available,
        toolsets,
        core,
        policy_source: source(world, agent).to_string(),
        entries: rows(world.policies.of(agent)),
        floor: rows(&world.policies.floor),
        dropped_defaults: dropped_defaults(world, agent),
        grants: conversation
            .map(|conversation| {
                world.grants(conversation).into_iter().filter(|grant| grant.agent == *agent).cloned().collect()
            })
            .unwrap_or_default(),
        start_tools: size(offer.tools(held).filter(|tool| tool.arrival != Arrival::Loaded)),
        offered: size(offer.tools(held)),
    }
}

fn toolset_row(world: &World, life: Life<'_>, fresh: Freshness, facts: &ToolsetFacts) -> ToolsetRow {
    let toolset = &facts.name;
    let held = life.held.tools().iter().filter(|tool| tool.id.toolset() == Some(toolset)).map(HeldTool::facts);
    let held: Vec<ToolFacts> = held.collect();
    let row = |tool: &ToolFacts| tool_row(world, life, &ToolId::of(toolset, &tool.name), tool);
    // What is held is shown as it is held, whatever a later build says of it or has no more (R17).
    let rows = |built: &[ToolFacts]| {
        let gone = held.iter().filter(|held| built.iter().all(|tool| tool.name != held.name));
        let built = built.iter().map(|tool| held.iter().find(|held| held.name == tool.name).unwrap_or(tool));
        built.chain(gone).map(row).collect()
    };
    ToolsetRow {
        name: toolset.clone(),
        kind: facts.kind,
        description: facts.description.clone(),
        state: toolset_state(world, life, fresh, toolset),
        tools: world.last_build(toolset).map(rows),
    }
}

fn tool_row(world: &World, life: Life<'_>, id: &ToolId, tool: &ToolFacts) -> ToolRow {
    let holder = match id.toolset() {
        Some(toolset) if life.held.arrival(toolset).is_none() => None,
        _ => life.held.holder(&id.owner, &id.name),
    };
    let withheld = withheld(world, life, id, tool).filter(|_| !planted(Bug::CountsWithheld));
    ToolRow {
        name: tool.name.clone(),
        risk: tool.risk,
        bytes: tool.bytes,
        gate: world.gate(life.agent, id).map(|gate| gate.list()),
        offered: withheld.is_none() && holder.is_some_and(|holder| holder.id == *id),
        shadowed_by: holder.filter(|holder| holder.id != *id).map(|holder| match &holder.id.owner {
            Owner::Core => "core".to_owned(),
            Owner::Toolset(owner) => owner.to_string(),
        }),
        withheld,
        schema: Arc::clone(&tool.schema),
    }
}

/// Why a call made now does not carry a tool that is held, or would not if it were.
fn withheld(world: &World, life: Life<'_>, id: &ToolId, tool: &ToolFacts) -> Option<String> {
    let chain = Chain::new(world, life.conditions);
    let held = life.held.place(id).and_then(|index| Some(chain.held(life.held.tools().get(index)?, index)));
    let question = held.unwrap_or_else(|| chain.absent(id, tool.trigger));
    let mut reasons = chain.withholds(question).filter(|(filter, _)| filter.decides());
    reasons.next().map(|(_, reason)| reason.text)
}

fn toolset_state(world: &World, life: Life<'_>, fresh: Freshness, toolset: &ToolsetName) -> ToolsetState {
    let table = world.table(life.agent);
    if !table.reaches(toolset) {
        return ToolsetState::NotAvailable;
    }
    if let Some((by, reason)) = off(world, life, toolset) {
        return ToolsetState::Off { by, line: reason.line(), reason: reason.text };
    }
    match life.held.arrival(toolset) {
        Some(Arrival::Resident | Arrival::Core | Arrival::Skill) => return ToolsetState::Resident,
        Some(Arrival::Preloaded) => return ToolsetState::Preloaded,
        Some(Arrival::Loaded) => return ToolsetState::Loaded,
        None => {}
    }
    if let Some(refusal) = world.refusal(toolset) {
        return ToolsetState::Refused { entry: refusal.entry.clone() };
    }
    if let Some(error) = world.failure(toolset) {
        return ToolsetState::Failed { error: error.to_owned() };
    }
    if fresh == Freshness::Fresh && table.resident.contains(toolset) {
        return ToolsetState::Resident;
    }
    ToolsetState::Loadable
}

fn entry_row(world: &World, entry: &Entry, earned: &BTreeSet<&str>) -> EntryRow {
    let tools = world.policies.resolved(&entry.gate, earned);
    let refused = entry.gate.toolset().and_then(|toolset| world.refusal(toolset));
    let refusing = tools.is_empty() && refused.is_some_and(|refusal| refusal.entry == entry.written);
    EntryRow {
        entry: entry.written.clone(),
        list: entry.list,
        line: entry.span.line,
        pending: tools.is_empty() && !refusing,
        refusing,
        tools,
    }
}

/// Whose held list a report shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Running,
    Fresh,
}

/// Entries of the default pair on what `agent` lists that its own pair leaves without a gate.
fn dropped_defaults(world: &World, agent: &AgentName) -> Vec<String> {
    if !world.policies.is_declared(agent) {
        return Vec::new();
    }
    let own = world.policies.of(agent);
    let gated = |tool: &ToolId| world.gate(agent, tool).is_some();
    let dropped = |entry: &&Entry| match &entry.gate {
        GateEntry::Toolset(toolset) => {
            let whole = own.entries.iter().any(|other| other.gate == entry.gate);
            let built = world.last_build(toolset).filter(|tools| !tools.is_empty());
            let all = built.is_some_and(|tools| tools.iter().all(|facts| gated(&ToolId::of(toolset, &facts.name))));
            world.table(agent).reaches(toolset) && !whole && !all
        }
        GateEntry::Tool(toolset, tool) => world.table(agent).reaches(toolset) && !gated(&ToolId::of(toolset, tool)),
        GateEntry::Core => world.core_tools(agent).iter().any(|name| !gated(&ToolId::core(name))),
        GateEntry::CoreTool(name) => {
            let tool = ToolId::core(name.as_str());
            world.may_hold(agent, &tool) && !gated(&tool)
        }
    };
    world.policies.default_pair().entries.iter().filter(dropped).map(|entry| shown(&entry.written)).collect()
}
