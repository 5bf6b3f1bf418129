//! What each agent gains and loses between two configurations (K4): a comparison of two values and nothing else.
//!
//! A gain is whatever lets an agent do more, or do it with fewer questions; so losing a gate is one.

use std::collections::BTreeSet;

use serde::Serialize;

use super::available::Role;
use super::capability::{Ability, Asks, Build, Capability, Listed, Residency, Snapshot, Stand, Weight};
use super::name::{AgentName, ToolId, ToolsetName};

/// Which way something went, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The agent can do more, or is asked less.
    Gain,
    /// It can't be told: one side could not be built.
    Unknown,
    /// The agent can do less, or is asked more.
    Loss,
    /// Neither.
    Change,
}

/// What of an agent changed, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Whether it is declared at all.
    Agent,
    /// Whether it is the entry agent.
    Entry,
    /// Whether it may spawn another agent.
    Delegate,
    /// Whether `available` is `"all"`, which grows with what is installed.
    Available,
    /// A toolset whose tools are not known on one side.
    Toolset,
    /// Whether it can ever call a tool.
    Tool,
    /// Who answers before the tool runs.
    Gate,
    /// Whether the floor reaches the tool.
    Floor,
    /// Whether a switch or a check withholds the tool.
    Offer,
    /// Whether a toolset is in the context from the start.
    Residency,
    /// The definition that a model reads.
    Definition,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which way it went.
    pub direction: Direction,
    /// What changed.
    pub aspect: Aspect,
    /// The tool, toolset or agent that it is about.
    pub subject: String,
    /// How it was.
    pub old: Stand,
    /// How it is.
    pub new: Stand,
}

/// Everything that changed for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentDiff {
    /// The agent.
    #[serde(rename = "name")]
    pub agent: AgentName,
    /// At least one, gains first.
    pub changes: Vec<Change>,
    /// What its tool block weighed; `None`: it was not declared.
    pub old: Option<Weight>,
    /// What it weighs; `None`: it is not declared any more.
    pub new: Option<Weight>,
}

/// What each agent gains and loses from `old` to `new`: the agents of `new` in its order, then those that are gone. An
/// agent for which nothing changed is left out.
pub fn diff(old: &Snapshot, new: &Snapshot) -> Vec<AgentDiff> {
    let find = |snapshot: &'_ Snapshot, agent: &AgentName| snapshot.agents.iter().position(|one| one.agent == *agent);
    let gone = old.agents.iter().filter(|one| find(new, &one.agent).is_none());
    let agents = new.agents.iter().chain(gone).map(|one| &one.agent);
    agents
        .filter_map(|agent| {
            let old = find(old, agent).and_then(|index| old.agents.get(index));
            let new = find(new, agent).and_then(|index| new.agents.get(index));
            let mut both = Comparison { agent, old, new, changes: Vec::new() };
            both.agents();
            both.toolsets();
            both.tools();
            let mut changes = both.changes;
            changes.sort_by(|a, b| (a.direction, a.aspect, &a.subject).cmp(&(b.direction, b.aspect, &b.subject)));
            let weight = |side: Option<&Capability>| side.map(|capability| capability.weight);
            (!changes.is_empty()).then(|| AgentDiff {
                agent: agent.clone(),
                changes,
                old: weight(old),
                new: weight(new),
            })
        })
        .collect()
}

/// How many changes of `diffs` went that way.
pub fn count(diffs: &[AgentDiff], direction: Direction) -> usize {
    diffs.iter().flat_map(|agent| &agent.changes).filter(|change| change.direction == direction).count()
}

/// Whether less strict is a gain: `old` and `new` say how strict each side is.
fn from_strictness<T: Ord>(old: T, new: T) -> Direction {
    match new.cmp(&old) {
        std::cmp::Ordering::Less => Direction::Gain,
        std::cmp::Ordering::Greater => Direction::Loss,
        std::cmp::Ordering::Equal => Direction::Change,
    }
}

/// One agent on both sides; `None`: it is not declared there.
struct Comparison<'a> {
    agent: &'a AgentName,
    old: Option<&'a Capability>,
    new: Option<&'a Capability>,
    changes: Vec<Change>,
}

impl<'a> Comparison<'a> {
    fn push(&mut self, direction: Direction, aspect: Aspect, subject: impl ToString, old: Stand, new: Stand) {
        self.changes.push(Change { direction, aspect, subject: subject.to_string(), old, new });
    }

    /// What `of` says of each side.
    fn sides<T>(&self, of: impl Fn(&'a Capability) -> T) -> (Option<T>, Option<T>) {
        (self.old.map(&of), self.new.map(&of))
    }

    fn agents(&mut self) {
        if self.old.is_some() != self.new.is_some() {
            let stand = |side: Option<&Capability>| match side {
                Some(capability) => Stand::new("declared", capability.line),
                None => Stand::new("not declared", None),
            };
            let direction = from_strictness(self.old.is_none(), self.new.is_none());
            self.push(direction, Aspect::Agent, self.agent, stand(self.old), stand(self.new));
        }
        let is_entry = |side: Option<&Capability>| side.is_some_and(|capability| capability.role == Role::Entry);
        if is_entry(self.old) != is_entry(self.new) {
            let stand = |side: Option<&Capability>| {
                let text = if is_entry(side) { "the entry agent" } else { "not the entry agent" };
                Stand::new(text, side.and_then(|capability| capability.role_line))
            };
            let direction = from_strictness(!is_entry(self.old), !is_entry(self.new));
            self.push(direction, Aspect::Entry, self.agent, stand(self.old), stand(self.new));
        }
        if let (Some(old), Some(new)) = (self.old, self.new)
            && old.open_ended != new.open_ended
        {
            let direction = from_strictness(!old.open_ended, !new.open_ended);
            self.push(direction, Aspect::Available, "available", old.available.clone(), new.available.clone());
        }
        for delegate in self.union(|capability| capability.delegates.keys()) {
            let line = |side: Option<&'a Capability>| side.and_then(|capability| capability.delegates.get(delegate));
            let (old, new) = (line(self.old), line(self.new));
            if old.is_some() != new.is_some() {
                let stand = |line: Option<&Option<usize>>, side: Option<&Capability>| match line {
                    Some(line) => Stand::new("may be spawned", *line),
                    None => Stand::new("may not be spawned", side.and_then(|capability| capability.line)),
                };
                let direction = from_strictness(old.is_none(), new.is_none());
                self.push(direction, Aspect::Delegate, delegate, stand(old, self.old), stand(new, self.new));
            }
        }
    }

    fn toolsets(&mut self) {
        for name in self.union(|capability| capability.toolsets.keys()) {
            let of = |side: Option<&'a Capability>| side.and_then(|capability| capability.toolsets.get(name));
            let (old, new) = (of(self.old), of(self.new));
            if let (Some(was), Some(is)) = (old, new)
                && was.residency != is.residency
            {
                // Loading is a question of its own where load_tools is gated.
                let (before, after) = (loading(self.old, was), loading(self.new, is));
                self.push(from_strictness(before.0, after.0), Aspect::Residency, name, before.1, after.1);
            }
            let unknown = |listed: Option<&Listed>| matches!(listed, Some(Listed { build: Build::Unknown { .. }, .. }));
            if !unknown(old) && !unknown(new) {
                continue;
            }
            let direction = match (old, new) {
                (Some(was), Some(is)) if was.build == is.build => continue,
                (Some(_), Some(_)) => Direction::Unknown,
                _ => from_strictness(old.is_none(), new.is_none()),
            };
            let stands = (known(self.old, old), known(self.new, new));
            self.push(direction, Aspect::Toolset, name, stands.0, stands.1);
        }
    }

    fn tools(&mut self) {
        for id in self.union(|capability| capability.tools.keys()) {
            if [self.old, self.new].into_iter().flatten().any(|side| is_unknown(side, id.toolset())) {
                continue;
            }
            let of = |side: Option<&'a Capability>| side.and_then(|capability| capability.tools.get(id));
            match (of(self.old), of(self.new)) {
                (Some(old), Some(new)) => self.tool(id, old, new),
                (old, new) => {
                    // They reach nothing that `available` does not, and come and go with residency.
                    let direction = match id.toolset() {
                        None if matches!(id.name.as_str(), "available_tools" | "load_tools") => Direction::Change,
                        _ => from_strictness(old.is_none(), new.is_none()),
                    };
                    let stands = (callable(self.old, id, old), callable(self.new, id, new));
                    self.push(direction, Aspect::Tool, id, stands.0, stands.1);
                }
            }
        }
    }

    /// A tool that both sides can call.
    fn tool(&mut self, id: &ToolId, old: &Ability, new: &Ability) {
        if (old.asks, old.list) != (new.asks, new.list) {
            let direction = from_strictness(old.asks, new.asks);
            self.push(direction, Aspect::Gate, id, old.gate.clone(), new.gate.clone());
        }
        for (aspect, without, old, new) in [
            (Aspect::Floor, "not on the floor", &old.floor, &new.floor),
            (Aspect::Offer, "offered", &old.withheld, &new.withheld),
        ] {
            if old.is_some() != new.is_some() {
                let stand = |side: &Option<Stand>| match (side, aspect) {
                    (None, _) => Stand::new(without, None),
                    (Some(stand), Aspect::Offer) => Stand::new(format!("withheld: {}", stand.text), stand.line),
                    (Some(stand), _) => stand.clone(),
                };
                self.push(from_strictness(old.is_some(), new.is_some()), aspect, id, stand(old), stand(new));
            }
        }
        // A mode that one side has not is no mode that a conversation went on in.
        for (mode, was) in &old.modes {
            let Some(is) = new.modes.get(mode).filter(|is| is.is_some() != was.is_some()) else { continue };
            let stand = |side: &Option<Stand>| {
                side.clone().unwrap_or_else(|| Stand::new(format!("offered in mode '{mode}'"), None))
            };
            self.push(from_strictness(was.is_some(), is.is_some()), Aspect::Offer, id, stand(was), stand(is));
        }
        if old.digest != new.digest {
            let stand = |ability: &Ability| Stand::new(format!("a definition of {} B", ability.bytes), None);
            self.push(Direction::Change, Aspect::Definition, id, stand(old), stand(new));
        }
    }

    /// The keys of both sides, each once and in order.
    fn union<K: Ord + 'a, I: Iterator<Item = &'a K>>(&self, of: impl Fn(&'a Capability) -> I) -> BTreeSet<&'a K> {
        let (old, new) = self.sides(of);
        old.into_iter().flatten().chain(new.into_iter().flatten()).collect()
    }
}

/// Whether the tools of `toolset` are not known on this side.
fn is_unknown(side: &Capability, toolset: Option<&ToolsetName>) -> bool {
    let listed = toolset.and_then(|toolset| side.toolsets.get(toolset));
    matches!(listed, Some(Listed { build: Build::Unknown { .. }, .. }))
}

/// What stands before the first call of an available toolset's tools: who answers, and the words.
fn loading(side: Option<&Capability>, listed: &Listed) -> (Asks, Stand) {
    if listed.residency == Residency::Resident {
        return (Asks::Nobody, Stand::new("resident", listed.residency_line));
    }
    let loader = side.and_then(|capability| capability.tools.get(&ToolId::core("load_tools")));
    match loader {
        Some(loader) if loader.asks > Asks::Nobody => {
            (loader.asks, Stand::new(format!("deferred, and load_tools {}", loader.gate.text), loader.gate.line))
        }
        _ => (Asks::Nobody, Stand::new("deferred", listed.residency_line)),
    }
}

/// What is known of a toolset.
fn known(side: Option<&Capability>, listed: Option<&Listed>) -> Stand {
    match (side, listed) {
        (_, Some(Listed { build: Build::Unknown { error, .. }, line, .. })) => {
            Stand::new(format!("available, and could not be built: {error}"), *line)
        }
        (_, Some(Listed { build: Build::Refused(why), line, .. })) => Stand::new(format!("refused: {why}"), *line),
        (_, Some(Listed { build: Build::Built, line, .. })) => Stand::new("available", *line),
        (Some(capability), None) => Stand::new("not available", capability.available.line),
        (None, None) => Stand::new("not declared", None),
    }
}

/// Whether a side can ever call a tool, and how; or why not.
fn callable(side: Option<&Capability>, id: &ToolId, ability: Option<&Ability>) -> Stand {
    let Some(capability) = side else { return Stand::new("no agent", None) };
    let listed = id.toolset().and_then(|toolset| capability.toolsets.get(toolset));
    if let Some(ability) = ability {
        let gate = match ability.gate.line {
            Some(line) if ability.list.is_some() => format!("{} line {line}", ability.gate.text),
            _ => ability.gate.text.clone(),
        };
        let text = match &ability.withheld {
            None => format!("available, {gate}"),
            Some(stand) => format!("available, {gate}; withheld: {}", stand.text),
        };
        return Stand::new(text, listed.map_or(capability.line, |listed| listed.line));
    }
    let Some(toolset) = id.toolset() else { return Stand::new("not earned", capability.line) };
    match listed.map(|listed| (&listed.build, listed.line)) {
        None => Stand::new("not available", capability.available.line),
        Some((Build::Refused(why), line)) => Stand::new(format!("'{toolset}' is refused: {why}"), line),
        Some((_, line)) => match capability.shadowed.get(id) {
            Some(holder) => Stand::new(format!("{holder} holds its name"), line),
            None => Stand::new(format!("'{toolset}' has no such tool"), line),
        },
    }
}
