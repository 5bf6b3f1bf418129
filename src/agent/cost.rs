//! What a turn costs, by agent and in total: a fold over what was told of it, live or replayed. What a provider did not say
//! stays unsaid.
//!
//! It reads no clock and formats nothing: times are those of the events.

use serde::Serialize;

use super::message::{CallKind, Usage};
use super::node::NodeId;
use super::update::Event;

/// Tokens of one kind over several model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tokens {
    /// The sum of what was reported; `None`: no call reported any, which is not zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<u64>,
    /// Model calls that ended without a word of it: with any, `known` is a lower bound.
    pub unreported: u32,
}

impl Tokens {
    /// Whether the sum is only a part: some calls reported, others did not.
    pub const fn is_partial(&self) -> bool {
        self.known.is_some() && self.unreported > 0
    }

    fn add(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.known = Some(self.known.unwrap_or(0).saturating_add(number)),
            None => self.unreported = self.unreported.saturating_add(1),
        }
    }

    fn join(&mut self, other: Self) {
        self.known = match (self.known, other.known) {
            (None, other) => other,
            (known, None) => known,
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
        };
        self.unreported = self.unreported.saturating_add(other.unreported);
    }
}

/// What was spent by somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Model calls begun. The next try of a call is the same call.
    pub model_calls: u32,
    /// From request to last byte, summed over those that ended, milliseconds.
    pub model_ms: u64,
    /// From the beginning to the end, milliseconds; `None`: it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Input tokens, cached ones included.
    #[serde(rename = "in")]
    pub input: Tokens,
    /// Output tokens, reasoning included.
    #[serde(rename = "out")]
    pub output: Tokens,
    /// Input tokens read from a provider's cache.
    pub cached: Tokens,
    /// Tool calls that a model made, whether they ran or not.
    pub tool_calls: u32,
}

impl Tally {
    fn used(&mut self, usage: &Usage, took_ms: u64) {
        self.model_ms = self.model_ms.saturating_add(took_ms);
        self.input.add(usage.input);
        self.output.add(usage.output);
        self.cached.add(usage.cached);
    }

    fn called(&mut self) {
        self.model_calls = self.model_calls.saturating_add(1);
    }

    /// Everything but the wall time, which runs for several at once.
    fn join(&mut self, other: &Self) {
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.model_ms = self.model_ms.saturating_add(other.model_ms);
        self.input.join(other.input);
        self.output.join(other.output);
        self.cached.join(other.cached);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
    }
}

/// What one agent of the turn spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentCost {
    /// Which.
    pub node: NodeId,
    /// Its address: `researcher#1`; the entry agent's is its name.
    pub address: String,
    /// What it spent.
    #[serde(flatten)]
    pub tally: Tally,
    /// The model call that runs, until its tokens are told.
    #[serde(skip)]
    open: Option<u32>,
}

/// What model calls of one kind beside the turn spent, such as those for titles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideCost {
    /// What for.
    pub kind: CallKind,
    /// What they spent. They call no tools, and their wall time is their model time.
    #[serde(flatten)]
    pub tally: Tally,
}

/// All of it as one value, for `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport<'a> {
    /// Each agent's.
    pub agents: &'a [AgentCost],
    /// What was spent beside the turn, by kind.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub beside: &'a [SideCost],
    /// The sum.
    pub total: Tally,
}

/// What the turn that began last has cost so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnCost {
    agents: Vec<AgentCost>,
    beside: Vec<SideCost>,
    entry: String,
}

impl TurnCost {
    /// Takes in what was told of one agent. A turn of the entry agent begins anew; what comes after its end and before the
    /// next one, such as a title, still belongs to it. Events of agents that never came to be are passed over.
    pub fn tell(&mut self, node: NodeId, event: &Event) {
        match event {
            Event::Session { agent, .. } => *self = Self { entry: agent.as_str().to_owned(), ..Self::default() },
            Event::TurnStarted { agent, .. } if node.is_entry() => {
                let entry = agent.as_ref().map_or_else(|| self.entry.clone(), |agent| agent.as_str().to_owned());
                *self = Self { entry: entry.clone(), ..Self::default() };
                self.begin(node, entry);
            }
            Event::Spawned(spawned) if !self.agents.is_empty() => self.begin(node, spawned.address.clone()),
            Event::SideCall { line, usage, took_ms } => {
                let known = self.beside.iter().position(|side| side.kind == line.kind);
                let place = known.unwrap_or_else(|| {
                    self.beside.push(SideCost { kind: line.kind, tally: Tally::default() });
                    self.beside.len() - 1
                });
                if let Some(side) = self.beside.get_mut(place) {
                    side.tally.called();
                    side.tally.used(usage, *took_ms);
                }
            }
            Event::Call(line) => {
                if let Some(agent) = self.agent(node).filter(|agent| agent.open != Some(line.number)) {
                    agent.close();
                    agent.tally.called();
                    agent.open = Some(line.number);
                }
            }
            Event::Usage { usage, took_ms, .. } => {
                if let Some(agent) = self.agent(node) {
                    agent.open = None;
                    agent.tally.used(usage, *took_ms);
                }
            }
            Event::ToolCall { .. } => {
                if let Some(agent) = self.agent(node) {
                    agent.tally.tool_calls = agent.tally.tool_calls.saturating_add(1);
                }
            }
            Event::End { took_ms, .. } => {
                if let Some(agent) = self.agent(node) {
                    agent.close();
                    agent.tally.wall_ms = Some(*took_ms);
                }
            }
            _ => {}
        }
    }

    /// Each agent of the turn, in the order of their spawns: the entry agent first.
    pub fn agents(&self) -> &[AgentCost] {
        &self.agents
    }

    /// What was spent beside it, by kind.
    pub fn beside(&self) -> &[SideCost] {
        &self.beside
    }

    /// All of it as one value.
    pub fn report(&self) -> CostReport<'_> {
        CostReport { agents: &self.agents, beside: &self.beside, total: self.total() }
    }

    /// What one agent spent.
    pub fn of(&self, node: NodeId) -> Option<&Tally> {
        let place = self.agents.binary_search_by_key(&node, |agent| agent.node).ok()?;
        self.agents.get(place).map(|agent| &agent.tally)
    }

    /// All of it, what was spent beside it included. Its wall time is the entry agent's: the turn's.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in self.agents.iter().map(|agent| &agent.tally).chain(self.beside.iter().map(|side| &side.tally)) {
            total.join(tally);
        }
        total.wall_ms = self.of(NodeId::ENTRY).and_then(|tally| tally.wall_ms);
        total
    }

    /// Nodes are numbered in the order of their spawns, so the list is in that of its numbers.
    fn begin(&mut self, node: NodeId, address: String) {
        if let Err(place) = self.agents.binary_search_by_key(&node, |agent| agent.node) {
            self.agents.insert(place, AgentCost { node, address, tally: Tally::default(), open: None });
        }
    }

    fn agent(&mut self, node: NodeId) -> Option<&mut AgentCost> {
        let place = self.agents.binary_search_by_key(&node, |agent| agent.node).ok()?;
        self.agents.get_mut(place)
    }
}

impl AgentCost {
    /// A call that ended without a word of its tokens: they are not zero.
    fn close(&mut self) {
        if self.open.take().is_some() {
            self.tally.input.add(None);
            self.tally.output.add(None);
            self.tally.cached.add(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{AgentName, Attendance};
    use crate::agent::{
        AssistantMessage, CallId, CallLine, Ground, OfferRecord, Record, Spawned, TurnEnd, UserMessage, UserOrigin,
        replay,
    };

    const ENTRY: NodeId = NodeId::ENTRY;

    fn line(number: u32, kind: CallKind) -> CallLine {
        CallLine {
            number,
            kind,
            tools: 3,
            tool_bytes: 900,
            resident: Vec::new(),
            loaded: Vec::new(),
            grown: Vec::new(),
            ledger: None,
        }
    }

    fn started() -> Event {
        let agent = Some(AgentName::new("assistant"));
        Event::TurnStarted { at: 0, attendance: Attendance::Attended, agent }
    }

    fn call(number: u32) -> Event {
        Event::Call(line(number, CallKind::Agent))
    }

    fn used(number: u32, input: Option<u64>, output: Option<u64>) -> Event {
        Event::Usage { number, usage: Usage { input, output, cached: None }, took_ms: 1_000 }
    }

    fn tool(node: NodeId, number: u32) -> Event {
        Event::ToolCall {
            call: CallId::of(node, number),
            tool: None,
            risk: None,
            wire: "x".to_owned(),
            arguments: serde_json::Value::Null,
        }
    }

    fn spawned(number: u32) -> Event {
        Event::Spawned(Box::new(Spawned {
            at: 0,
            call: CallId::of(ENTRY, number),
            agent: AgentName::new("coder"),
            address: format!("coder#{number}"),
            task: String::new(),
            model: String::new(),
            ground: Ground::Foreground,
            toolsets: Vec::new(),
        }))
    }

    fn ended(took_ms: u64) -> Event {
        Event::End { end: TurnEnd::Answered, took_ms }
    }

    fn told(events: impl IntoIterator<Item = (u32, Event)>) -> TurnCost {
        let mut cost = TurnCost::default();
        for (node, event) in events {
            cost.tell(NodeId(node), &event);
        }
        cost
    }

    #[test]
    fn workers_are_counted_by_themselves_and_in_the_total() {
        let cost = told([
            (0, started()),
            (0, call(1)),
            (0, used(1, Some(6_000), Some(200))),
            (0, tool(ENTRY, 1)),
            (1, spawned(1)),
            (1, call(1)),
            (1, used(1, Some(100), Some(10))),
            (1, tool(NodeId(1), 1)),
            (1, tool(NodeId(1), 2)),
            (1, ended(4_000)),
            (0, call(2)),
            (0, used(2, Some(7_000), Some(90))),
            (0, ended(9_000)),
        ]);
        let names: Vec<_> = cost.agents().iter().map(|agent| agent.address.as_str()).collect();
        assert_eq!(names, ["assistant", "coder#1"]);
        let worker = cost.of(NodeId(1)).unwrap();
        assert_eq!((worker.model_calls, worker.tool_calls, worker.wall_ms), (1, 2, Some(4_000)));
        let total = cost.total();
        assert_eq!((total.model_calls, total.tool_calls, total.model_ms), (3, 3, 3_000));
        assert_eq!((total.input.known, total.output.known), (Some(13_100), Some(300)));
        assert_eq!(total.wall_ms, Some(9_000), "agents run at once: their times are no sum");
        let json = serde_json::to_value(cost.report()).unwrap();
        assert_eq!(json["agents"][1]["address"], "coder#1");
        assert_eq!(json["agents"][1]["in"]["known"], 100);
        assert_eq!(json["total"]["model_calls"], 3);
        assert!(json.get("beside").is_none());
    }

    #[test]
    fn what_nobody_reported_is_absent_and_a_part_says_so() {
        let mut cost = told([(0, started()), (0, call(1)), (0, used(1, None, None))]);
        let total = cost.total();
        assert_eq!((total.input.known, total.input.is_partial()), (None, false), "not reported is not zero");
        cost.tell(ENTRY, &call(2));
        cost.tell(ENTRY, &used(2, Some(6_100), Some(0)));
        let total = cost.total();
        assert_eq!((total.input.known, total.input.is_partial()), (Some(6_100), true));
        assert_eq!(total.output.known, Some(0), "a zero that was reported is one");
        let json = serde_json::to_value(total).unwrap();
        assert_eq!(json["in"], serde_json::json!({"known": 6_100, "unreported": 1}));
        assert_eq!(json["cached"], serde_json::json!({"unreported": 2}));
    }

    #[test]
    fn a_call_that_was_cut_off_reported_nothing() {
        let cost = told([
            (0, started()),
            (0, call(1)),
            (0, used(1, Some(5), Some(5))),
            (0, call(2)),
            (0, ended(10)),
            (0, ended(10)),
        ]);
        let total = cost.total();
        assert_eq!((total.model_calls, total.input.known, total.input.unreported), (2, Some(5), 1));
    }

    #[test]
    fn the_next_try_of_a_call_is_the_same_call() {
        let cost = told([(0, started()), (0, call(1)), (0, call(1)), (0, used(1, Some(5), None)), (0, call(2))]);
        assert_eq!(cost.total().model_calls, 2);
        assert_eq!(cost.total().input.unreported, 0, "one that still runs did not fail to report");
    }

    #[test]
    fn a_title_counts_for_the_turn_under_its_own_kind() {
        let usage = Usage { input: Some(300), output: Some(12), cached: None };
        let title = Event::SideCall { line: line(0, CallKind::Title), usage, took_ms: 700 };
        let cost = told([(0, started()), (0, call(1)), (0, used(1, Some(1), Some(1))), (0, ended(5)), (0, title)]);
        assert_eq!(cost.of(ENTRY).unwrap().model_calls, 1);
        let [side] = cost.beside() else { panic!("{:?}", cost.beside()) };
        assert_eq!((side.kind, side.tally.model_calls, side.tally.model_ms), (CallKind::Title, 1, 700));
        assert_eq!((cost.total().model_calls, cost.total().input.known), (2, Some(301)));
        assert_eq!(cost.total().wall_ms, Some(5), "nobody waited for it");
    }

    #[test]
    fn d5_a_stored_turn_costs_what_it_cost() {
        let by = |node: u32, record: Record| match node {
            0 => record,
            node => Record::Worker { node: NodeId(node), of: Box::new(record) },
        };
        let message = |text: &str| UserMessage { text: text.to_owned(), origin: UserOrigin::Person };
        let began = |at| Record::TurnStarted {
            at,
            attendance: Attendance::Attended,
            agent: Some(AgentName::new("assistant")),
            message: message("go"),
        };
        let called = |number, input| Record::ModelCall {
            at: 0,
            number,
            kind: CallKind::Agent,
            message: AssistantMessage::default(),
            offer: OfferRecord::default(),
            usage: Usage { input, output: Some(10), cached: None },
            took_ms: 1_000,
            failure: None,
        };
        let Event::Spawned(spawned) = spawned(1) else { panic!() };
        let ended = |at| Record::TurnEnded { at, end: TurnEnd::Answered };
        let records = [
            by(0, began(1_000)),
            by(0, called(1, Some(600))),
            by(1, Record::Spawned(spawned)),
            by(1, began(2_000)),
            by(1, called(1, None)),
            by(1, ended(5_000)),
            by(0, called(2, Some(700))),
            by(0, ended(9_000)),
        ];
        let cost = told(replay(&records).into_iter().map(|(node, event)| (node.0, event)));
        let total = cost.total();
        assert_eq!((total.model_calls, total.model_ms, total.wall_ms), (3, 3_000, Some(8_000)));
        assert_eq!((total.input.known, total.input.unreported, total.output.known), (Some(1_300), 1, Some(30)));
        assert_eq!(cost.of(NodeId(1)).unwrap().wall_ms, Some(3_000));
    }

    #[test]
    fn the_next_turn_begins_at_nothing() {
        let cost = told([(0, started()), (0, call(1)), (1, spawned(1)), (1, call(1)), (0, ended(5)), (0, started())]);
        assert_eq!(cost.agents().len(), 1);
        assert_eq!(cost.total(), Tally::default());
        let late = told([(0, started()), (7, call(1)), (7, ended(1))]);
        assert_eq!(late.agents().len(), 1, "an agent that never came to be");
    }
}
