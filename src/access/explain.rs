//! All five answers for a tool or a whole agent, with every reason. Offering, dispatch, screens and commands ask here.
//!
//! Nothing here decides by itself: it calls the one function that owns each question.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::declare::{AgentDeclaration, Available};
use super::grant::Grant;
use super::held::{Arrival, Held, HeldTool};
use super::name::{AgentName, GateEntry, Owner, ToolId, ToolName, ToolsetName, shown};
use super::offer::{all_withheld, first_withheld, offer};
use super::policy::{Entry, GateList, Policy};
use super::registry::{Kind, Risk, ToolFacts, ToolsetFacts};
use super::world::World;

/// One reason with the place that decided it; shown as `reason, line 12`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// For people: a sentence fragment.
    pub text: String,
    /// Line of the configuration, if one decided.
    pub line: Option<usize>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.line.iter().try_for_each(|line| write!(f, ", line {line}"))
    }
}

/// The five answers for one tool of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// 1: can it ever call it?
    pub available: (bool, Vec<Reason>),
    /// 2: is it in its context?
    pub held: (bool, Vec<Reason>),
    /// 3: does a call made now carry it?
    pub offered: (bool, Vec<Reason>),
    /// 4: does it ask first?
    pub gated: (Option<GateList>, Vec<Reason>),
    /// 5: would it run now, after an answer?
    pub dispatched: (bool, Vec<Reason>),
}

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
    /// Switched off or its check says no.
    Off {
        /// Why.
        reason: String,
        /// Line of the configuration that switched it off, if one did.
        line: Option<usize>,
    },
    /// Installed, and this agent's table does not list it.
    NotAvailable,
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
    /// Its tools as of the last build; `None`: not built yet.
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

/// The five answers for `tool` of `agent`, each with every reason. `held`: a running agent's list; `None`: a fresh agent's,
/// as far as its resident toolsets were built.
pub fn explain(world: &World, agent: &AgentName, held: Option<&Held>, tool: &ToolId) -> Explanation {
    let held = held.map_or_else(|| Cow::Owned(world.fresh(agent)), Cow::Borrowed);
    let held = held.as_ref();
    let available = explain_available(world, agent, tool);
    let holds = explain_held(world, agent, held, tool, available.0);
    let withheld: Vec<Reason> = all_withheld(world, tool)
        .into_iter()
        .map(|withheld| {
            let line = match withheld.filter {
                super::offer::Filter::SwitchedOff => tool.toolset().and_then(|toolset| switch_line(world, toolset)),
                super::offer::Filter::Check | super::offer::Filter::NotLoaded => None,
            };
            Reason { text: withheld.reason, line }
        })
        .collect();
    let offered = match (holds.0, withheld.is_empty()) {
        (true, true) => (true, vec![reason("no filter withholds it")]),
        (true, false) => (false, withheld),
        (false, _) => {
            let mut reasons = vec![reason("it is not held")];
            reasons.extend(withheld);
            (false, reasons)
        }
    };
    let digest = held.get(tool).map_or("", |holding| holding.digest.as_str());
    let dispatched = match world.dispatch(agent, held, tool, digest) {
        None => (true, vec![reason("it is held, offered and unchanged")]),
        Some(refusal) => (false, vec![Reason { text: refusal, line: None }]),
    };
    Explanation { available, held: holds, offered, gated: explain_gated(world, agent, tool), dispatched }
}

fn reason(text: &str) -> Reason {
    Reason { text: text.to_owned(), line: None }
}

fn at(text: String, line: usize) -> Reason {
    Reason { text, line: (line > 0).then_some(line) }
}

fn declaration<'a>(world: &'a World, agent: &AgentName) -> Option<&'a AgentDeclaration> {
    world.declarations().agents.iter().find(|declared| declared.name.value == *agent)
}

/// Why no agent's calls carry `toolset`, if that is so: it is switched off (W1), or its check says no (W2).
pub fn off(world: &World, toolset: &ToolsetName) -> Option<Reason> {
    if let Some(text) = world.switched_off(toolset) {
        return Some(Reason { text, line: switch_line(world, toolset) });
    }
    world.toolset_check_says_no(toolset).map(|withheld| Reason { text: withheld.reason.clone(), line: None })
}

fn switch_line(world: &World, toolset: &ToolsetName) -> Option<usize> {
    let named = world.declarations().disabled.iter().find(|word| word.value == *toolset)?;
    (named.span.line > 0).then_some(named.span.line)
}

fn explain_available(world: &World, agent: &AgentName, tool: &ToolId) -> (bool, Vec<Reason>) {
    let Some(declared) = declaration(world, agent) else {
        return (false, vec![reason("no such agent is declared")]);
    };
    let here = declared.name.span.line;
    let may = world.may_hold(agent, tool);
    let Some(toolset) = tool.toolset() else {
        let text = if may {
            format!("[agents.{agent}] earns the core tool")
        } else {
            format!("[agents.{agent}] does not earn the core tool")
        };
        return (may, vec![at(text, here)]);
    };
    let Some(facts) = world.registry().get(toolset.as_str()) else {
        return (false, vec![Reason { text: format!("no toolset is named '{toolset}'"), line: None }]);
    };
    let table = format!("[agents.{agent}.tools]");
    let because = match &declared.available {
        Available::Absent => at(format!("{table} has no available list"), here),
        Available::All(span) if may => at(format!("available of {table} is \"all\""), span.line),
        Available::All(span) => {
            at(format!("available of {table} is \"all\", which leaves '{}' to the entry agent", facts.name), span.line)
        }
        Available::List(words) => match words.iter().find(|listed| listed.value == *toolset) {
            Some(named) => at(format!("available of {table} names '{toolset}'"), named.span.line),
            None => at(
                format!("available of {table} does not name '{toolset}'"),
                words.first().map_or(here, |first| first.span.line),
            ),
        },
    };
    let mut reasons = vec![because];
    let exists = world.last_build(toolset).is_none_or(|tools| tools.iter().any(|facts| facts.name == tool.name));
    if !exists {
        reasons.push(Reason { text: format!("the last build of '{toolset}' has no such tool"), line: None });
    }
    (may && exists, reasons)
}

fn explain_held(world: &World, agent: &AgentName, held: &Held, tool: &ToolId, available: bool) -> (bool, Vec<Reason>) {
    let declared = declaration(world, agent);
    let here = declared.map_or(0, |declared| declared.name.span.line);
    if let Some(holding) = held.get(tool) {
        let because = match holding.arrival {
            Arrival::Core => at(format!("[agents.{agent}] earns the core tool"), here),
            Arrival::Preloaded => reason("the conversation loaded it before"),
            Arrival::Loaded => reason("load_tools loaded it"),
            Arrival::Resident => {
                let words = declared.and_then(|declared| declared.resident.as_ref());
                match words.and_then(|words| words.iter().find(|word| Some(&word.value) == tool.toolset())) {
                    Some(named) => at(format!("resident of [agents.{agent}.tools] names its toolset"), named.span.line),
                    None => at(
                        format!("[agents.{agent}.tools] has no resident list: every available toolset is resident"),
                        here,
                    ),
                }
            }
        };
        return (true, vec![because]);
    }
    let Some(toolset) = tool.toolset() else { return (false, vec![reason("it is not available")]) };
    if !available {
        return (false, vec![reason("it is not available")]);
    }
    if held.arrival(toolset).is_some() {
        let text = match held.holder(&tool.owner, &tool.name).map(|holder| &holder.id) {
            Some(holder) if *holder != *tool => format!("{holder} holds its name"),
            _ => "its toolset is held, and the build that it came from had no such tool".to_owned(),
        };
        return (false, vec![Reason { text, line: None }]);
    }
    let text = if let Some(refusal) = world.refusal(toolset) {
        format!("every build of '{toolset}' is refused: {}", refusal.message)
    } else if let Some(error) = world.failure(toolset) {
        format!("the last build of '{toolset}' failed: {error}")
    } else if world.resident(agent).contains(toolset) {
        format!("'{toolset}' is resident and was not built yet")
    } else {
        format!("'{toolset}' is deferred: load_tools with that name adds it")
    };
    (false, vec![Reason { text, line: None }])
}

fn explain_gated(world: &World, agent: &AgentName, tool: &ToolId) -> (Option<GateList>, Vec<Reason>) {
    let policy = world.policies.of(agent);
    let matching: Vec<&Entry> =
        policy.entries.iter().filter(|entry| world.policies.reaches(&entry.gate, tool)).collect();
    let mut reasons: Vec<Reason> = matching
        .iter()
        .map(|entry| {
            let by_name = if entry.gate.names(tool) { "" } else { ", by the tool's name: whoever holds it" };
            at(format!("'{}' in {} of [{}]{by_name}", entry.written, entry.list, policy.table), entry.span.line)
        })
        .collect();
    if reasons.is_empty() {
        let text = format!("in neither list; its pair is {}", source(world, agent));
        reasons.push(at(text, policy.line.unwrap_or(0)));
    }
    if let Some(floor) = world.policies.floor_reaches(tool) {
        let text = format!("'{}' in [security].never_auto_approve: only a person's own answer counts", floor.written);
        reasons.push(at(text, floor.span.line));
    }
    (matching.first().map(|entry| entry.list), reasons)
}

/// Where `agent`'s pair comes from (P3).
fn source(world: &World, agent: &AgentName) -> String {
    let policy = world.policies.of(agent);
    let how = if world.policies.is_declared(agent) { "declared in" } else { "inherited from" };
    match policy.line {
        Some(line) => format!("{how} [{}], line {line}", policy.table),
        None => format!("{how} [{}], which gates nothing", policy.table),
    }
}

/// Everything that is shown of `agent`. `held` and `conversation`: of a running agent; `None`: a fresh one, as far as its
/// resident toolsets were built.
pub fn report(world: &World, agent: &AgentName, held: Option<&Held>, conversation: Option<&str>) -> AgentReport {
    let life = if held.is_some() { Life::Running } else { Life::Fresh };
    let held = held.map_or_else(|| Cow::Owned(world.fresh(agent)), Cow::Borrowed);
    let held = held.as_ref();
    let declared = declaration(world, agent);
    let available = world.available(agent);
    let installed = world.registry().toolsets();
    let first = available.iter().filter_map(|name| world.registry().get(name.as_str()));
    let rest = installed.iter().filter(|facts| !available.contains(&facts.name));
    let toolsets = first.chain(rest).map(|facts| toolset_row(world, agent, held, life, facts)).collect();
    let core = held.tools().iter().filter(|tool| tool.arrival == Arrival::Core);
    let core =
        core.filter_map(|tool| Some(tool_row(world, agent, held, &tool.id, world.core(&tool.id.name)?))).collect();
    let kept = offer(world, agent, held).kept;
    let kept: Vec<&HeldTool> = kept.iter().filter_map(|index| held.tools().get(*index)).collect();
    let earned: BTreeSet<&str> =
        world.declarations().agents.iter().flat_map(|other| world.core_tools(&other.name.value)).collect();
    let rows = |policy: &Policy| policy.entries.iter().map(|entry| entry_row(world, entry, &earned)).collect();
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
        policy_source: source(world, agent),
        entries: rows(world.policies.of(agent)),
        floor: rows(&world.policies.floor),
        dropped_defaults: dropped_defaults(world, agent),
        grants: conversation
            .map(|conversation| {
                world.grants(conversation).into_iter().filter(|grant| grant.agent == *agent).cloned().collect()
            })
            .unwrap_or_default(),
        start_tools: sum(kept.iter().filter(|tool| tool.arrival != Arrival::Loaded)),
        offered: sum(kept.iter()),
    }
}

/// Whose held list a report shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Running,
    Fresh,
}

fn toolset_row(world: &World, agent: &AgentName, held: &Held, life: Life, facts: &ToolsetFacts) -> ToolsetRow {
    let toolset = &facts.name;
    let arrival = held.arrival(toolset);
    let row = |tool: &ToolFacts| tool_row(world, agent, held, &ToolId::of(toolset, &tool.name), tool);
    ToolsetRow {
        name: toolset.clone(),
        kind: facts.kind,
        description: facts.description.clone(),
        state: toolset_state(world, agent, arrival, life, toolset),
        tools: world.last_build(toolset).map(|tools| tools.iter().map(row).collect()),
    }
}

fn tool_row(world: &World, agent: &AgentName, held: &Held, id: &ToolId, tool: &ToolFacts) -> ToolRow {
    let holder = match id.toolset() {
        Some(toolset) if held.arrival(toolset).is_none() => None,
        _ => held.holder(&id.owner, &id.name),
    };
    let withheld = first_withheld(world, id).map(|withheld| withheld.reason);
    ToolRow {
        name: tool.name.clone(),
        risk: tool.risk,
        bytes: tool.bytes,
        gate: world.policies.gate(agent, id).map(|(_, entry)| entry.list),
        offered: withheld.is_none() && holder.is_some_and(|holder| holder.id == *id),
        shadowed_by: holder.filter(|holder| holder.id != *id).map(|holder| match &holder.id.owner {
            Owner::Core => "core".to_owned(),
            Owner::Toolset(owner) => owner.to_string(),
        }),
        withheld,
        schema: Arc::clone(&tool.schema),
    }
}

fn toolset_state(
    world: &World,
    agent: &AgentName,
    arrival: Option<Arrival>,
    life: Life,
    toolset: &ToolsetName,
) -> ToolsetState {
    if !world.table(agent).available.contains(toolset) {
        return ToolsetState::NotAvailable;
    }
    if let Some(Reason { text: reason, line }) = off(world, toolset) {
        return ToolsetState::Off { reason, line };
    }
    match arrival {
        Some(Arrival::Resident | Arrival::Core) => return ToolsetState::Resident,
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
    if life == Life::Fresh && world.table(agent).resident.contains(toolset) {
        return ToolsetState::Resident;
    }
    ToolsetState::Loadable
}

fn entry_row(world: &World, entry: &Entry, earned: &BTreeSet<&str>) -> EntryRow {
    let tools = world.policies.resolved(&entry.gate, earned);
    EntryRow { entry: entry.written.clone(), list: entry.list, line: entry.span.line, pending: tools.is_empty(), tools }
}

/// Entries of the default pair on what `agent` lists that its own pair leaves without a gate.
fn dropped_defaults(world: &World, agent: &AgentName) -> Vec<String> {
    if !world.policies.is_declared(agent) {
        return Vec::new();
    }
    let own = world.policies.of(agent);
    let gated = |tool: &ToolId| world.policies.gate(agent, tool).is_some();
    let dropped = |entry: &&Entry| match &entry.gate {
        GateEntry::Toolset(toolset) => {
            let whole = own.entries.iter().any(|other| other.gate == entry.gate);
            let built = world.last_build(toolset).filter(|tools| !tools.is_empty());
            let all = built.is_some_and(|tools| tools.iter().all(|facts| gated(&ToolId::of(toolset, &facts.name))));
            world.table(agent).available.contains(toolset) && !whole && !all
        }
        GateEntry::Tool(toolset, tool) => {
            world.table(agent).available.contains(toolset) && !gated(&ToolId::of(toolset, tool))
        }
        GateEntry::Core => world.core_tools(agent).iter().any(|name| !gated(&ToolId::core(name))),
        GateEntry::CoreTool(name) => {
            let tool = ToolId::core(name.as_str());
            world.may_hold(agent, &tool) && !gated(&tool)
        }
    };
    world.policies.default_pair().entries.iter().filter(dropped).map(|entry| shown(&entry.written)).collect()
}

/// Tools and bytes.
fn sum<'a>(tools: impl Iterator<Item = &'a &'a HeldTool>) -> (usize, usize) {
    tools.fold((0, 0), |(tools, bytes), tool| (tools + 1, bytes + tool.bytes))
}
