//! The agents of the conversation in view: each with a transcript of its own, how it stands and what it does now. What is
//! told of a worker reaches its own transcript and no other; which one is looked at is a person's choice.
//!
//! It draws nothing and asks for nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::spent;
use super::story::Story;
use super::text::clean_line;
use super::transcript::{Block, BlockId, Transcript};
use crate::access::Ledger;
use crate::access::offer::RowState;
use crate::agent::cost::TurnCost;
use crate::agent::{CallId, CallLine, Event, Ground, NodeId, Spawned, TurnEnd, Usage};

/// Workers of a conversation whose transcripts are kept; the oldest that has finished goes first.
pub(super) const TRANSCRIPTS: usize = 500;
/// Model calls of one agent whose ledger and bytes are kept.
const MODEL_CALLS: usize = 2_000;

/// A failed model call that will be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Retry {
    /// What went wrong.
    pub message: String,
    /// When it is tried again, milliseconds.
    pub until: i64,
    /// Which try that is.
    pub attempt: u32,
}

/// An agent's running turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    /// When it began, as this screen saw it.
    pub since: i64,
    /// The model call it is in; 0 before the first.
    pub call: u32,
    /// The call that the model writes, and bytes of its arguments so far.
    pub writing: Option<(String, usize)>,
    /// A failure that waits for its next try.
    pub retry: Option<Retry>,
    /// A stop was asked for.
    pub stopping: bool,
}

/// One model call of an agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelCall {
    /// Its turn among the conversation's, from 1.
    pub turn: usize,
    /// Its rule, without the ledger.
    pub line: CallLine,
    /// Who was in it, where that is known.
    pub ledger: Option<Arc<Ledger>>,
    /// Its tokens, once it ended.
    pub usage: Option<Usage>,
    /// How long it took, milliseconds.
    pub took_ms: Option<u64>,
}

/// What an agent said and did, as a person looks at it.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub transcript: Transcript,
    pub story: Story,
    pub calls: VecDeque<ModelCall>,
    pub calls_dropped: usize,
}

impl Scene {
    fn new(unfold_reasoning: bool) -> Self {
        Self { story: Story::new(unfold_reasoning), ..Self::default() }
    }

    /// The model call at this place among all of the agent's, if it is still kept.
    pub(super) fn model_call(&self, place: usize) -> Option<&ModelCall> {
        self.calls.get(place.checked_sub(self.calls_dropped)?)
    }

    /// Keeps a model call; a ledger that did not change is the one of the call before. One that a log did not keep is
    /// not taken from there: what the call carried says so.
    fn keep_call(&mut self, mut line: CallLine, turn: usize) {
        let carried = |ledger: &Arc<Ledger>| {
            let offered = ledger.tools.iter().filter(|tool| tool.state == RowState::Offered);
            offered.fold((0, 0), |(tools, bytes), tool| (tools + 1, bytes + tool.bytes))
                == (line.tools, line.tool_bytes)
        };
        let ledger = match line.ledger.take() {
            Some(ledger) => Some(Arc::new(ledger)),
            None => self.calls.back().and_then(|call| call.ledger.clone()).filter(carried),
        };
        let again = |call: &&mut ModelCall| call.turn == turn && call.line.number == line.number;
        if let Some(call) = self.calls.back_mut().filter(again) {
            (call.line, call.ledger) = (line, ledger);
            return;
        }
        if self.calls.len() >= MODEL_CALLS {
            self.calls.pop_front();
            self.calls_dropped += 1;
        }
        self.calls.push_back(ModelCall { turn, line, ledger, usage: None, took_ms: None });
    }
}

/// How an agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was never asked anything.
    Idle,
    /// It works.
    Running,
    /// It works, and a person asked it to stop.
    Stopping,
    /// This many of its calls wait for a person.
    Asks(usize),
    /// Its answer is there, and workers of it go on in the background (D7).
    Waiting,
    /// It answered.
    Done,
    /// It failed.
    Failed,
    /// A person stopped it.
    Stopped,
    /// The program, or its turn, ended first.
    Interrupted,
}

/// Where a call that has not ended stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStands {
    Called,
    Running,
    Asks,
}

/// One agent.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its number.
    pub id: NodeId,
    /// Who spawned it; of the entry agent, itself.
    pub parent: NodeId,
    /// Agents above it.
    pub depth: usize,
    /// The turn that it belongs to, among the conversation's, from 1.
    pub turn: usize,
    /// Its address, clean: `researcher#1`; the entry agent's is its name.
    pub name: String,
    /// Its model, clean.
    pub model: String,
    /// How it came to be; `None`: it is the entry agent.
    pub spawned: Option<Box<Spawned>>,
    /// What it said and did.
    pub scene: Scene,
    /// The scene is not what it said and did: that was dropped.
    pub dropped: bool,
    /// Its running turn.
    pub run: Option<Turn>,
    /// How its last turn ended, and how long it took, milliseconds.
    pub end: Option<(TurnEnd, u64)>,
    /// Tools and bytes of its last model call.
    pub carried: Option<(usize, usize)>,
    /// Workers in the background that its turn stays open for.
    pub waits_for: Vec<String>,
    open: BTreeMap<CallId, (String, CallStands)>,
}

impl Node {
    /// How it stands.
    pub(super) fn standing(&self) -> Standing {
        let Some(run) = &self.run else {
            return match self.end.as_ref().map(|(end, _)| end) {
                None => Standing::Idle,
                Some(TurnEnd::Answered | TurnEnd::WrappedUp) => Standing::Done,
                Some(TurnEnd::Failed { .. }) => Standing::Failed,
                Some(TurnEnd::Stopped) => Standing::Stopped,
                Some(TurnEnd::Interrupted) => Standing::Interrupted,
            };
        };
        let asks = self.open.values().filter(|(_, stands)| *stands == CallStands::Asks).count();
        match asks {
            _ if run.stopping => Standing::Stopping,
            0 if self.waits_for.is_empty() => Standing::Running,
            0 => Standing::Waiting,
            asks => Standing::Asks(asks),
        }
    }

    /// A worker that has ended: nothing can be said to it any more.
    pub(super) fn has_ended(&self) -> bool {
        !self.id.is_entry() && self.run.is_none()
    }

    /// How long it has run, or ran, milliseconds.
    pub(super) fn took(&self, now: i64) -> Option<i64> {
        match (&self.run, &self.end) {
            (Some(run), _) => Some(now - run.since),
            (None, Some((_, took_ms))) => Some(i64::try_from(*took_ms).unwrap_or(i64::MAX)),
            (None, None) => None,
        }
    }

    /// The tool that it asks for or runs, with how many others: what it waits for a person for comes first.
    pub(super) fn at_tool(&self) -> Option<(&str, usize)> {
        let of = |wanted: CallStands| self.open.values().filter(move |(_, stands)| *stands == wanted);
        let wanted = [CallStands::Asks, CallStands::Running].into_iter().find(|stands| of(*stands).next().is_some())?;
        let (tool, _) = of(wanted).next()?;
        Some((tool, of(wanted).count() - 1))
    }

    fn tell(&mut self, event: &Event, now: i64, began: i64, turn: usize) {
        self.scene.story.tell(&mut self.scene.transcript, self.id, event, now);
        match event {
            Event::TurnStarted { .. } => {
                // A worker's began when it was spawned.
                let since = self.run.as_ref().filter(|_| !self.id.is_entry()).map_or(began, |run| run.since);
                self.begin(since);
            }
            Event::Call(line) => {
                self.carried = Some((line.tools, line.tool_bytes));
                self.waits_for.clear();
                self.scene.keep_call(line.clone(), turn);
                if let Some(run) = &mut self.run {
                    run.call = line.number;
                    run.retry = None;
                }
            }
            Event::Delta { .. } | Event::Reasoning { .. } => {
                if let Some(run) = &mut self.run {
                    (run.writing, run.retry) = (None, None);
                }
            }
            Event::Writing { tool, bytes } => {
                if let Some(run) = &mut self.run {
                    (run.writing, run.retry) = (Some((clean_line(tool), *bytes)), None);
                }
            }
            Event::Usage { number, usage, took_ms } => {
                if let Some(call) = self.scene.calls.back_mut().filter(|call| call.line.number == *number) {
                    (call.usage, call.took_ms) = (Some(*usage), Some(*took_ms));
                }
                if let Some(run) = &mut self.run {
                    run.writing = None;
                }
            }
            Event::Retrying { message, ms, attempt } => {
                if let Some(run) = &mut self.run {
                    let until = now.saturating_add(i64::try_from(*ms).unwrap_or(i64::MAX));
                    run.retry = Some(Retry { message: clean_line(message), until, attempt: *attempt });
                    run.writing = None;
                }
            }
            Event::ToolCall { call, tool, wire, .. } => {
                let name = tool.as_ref().map_or_else(|| wire.clone(), ToString::to_string);
                self.open.insert(*call, (clean_line(&name), CallStands::Called));
            }
            Event::Ask { ask, .. } => self.stands(ask.call, CallStands::Asks),
            Event::Answer { call, .. } => self.stands(*call, CallStands::Called),
            Event::Running { call, .. } => self.stands(*call, CallStands::Running),
            Event::ToolResult { call, .. } => drop(self.open.remove(call)),
            Event::Waiting { workers } => self.waits_for = workers.iter().map(|worker| clean_line(worker)).collect(),
            Event::End { end, took_ms } => self.ended(end.clone(), *took_ms),
            _ => {}
        }
    }

    fn begin(&mut self, since: i64) {
        self.ended(TurnEnd::Interrupted, 0);
        self.end = None;
        self.run = Some(Turn { since, call: 0, writing: None, retry: None, stopping: false });
    }

    fn ended(&mut self, end: TurnEnd, took_ms: u64) {
        self.run = None;
        self.end = Some((end, took_ms));
        self.open.clear();
        self.waits_for.clear();
    }

    fn stands(&mut self, call: CallId, now: CallStands) {
        if let Some((_, stands)) = self.open.get_mut(&call) {
            *stands = now;
        }
    }

    /// Its transcript goes; that it was there is said.
    fn forget(&mut self) {
        self.scene = Scene::default();
        let words = format!("this transcript is no longer kept: those of {TRANSCRIPTS} workers are");
        self.scene.transcript.push(Block::Note(words));
        self.dropped = true;
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Tree {
    entry: Node,
    workers: BTreeMap<NodeId, Node>,
    viewed: NodeId,
    /// Turns of the conversation that have begun.
    pub turns: usize,
    /// What the last turn cost.
    pub cost: TurnCost,
    /// Where the last turn's cost is said, once it ended.
    cost_line: Option<BlockId>,
    /// Workers whose transcripts are kept.
    kept: usize,
    /// Those of them that have ended, the oldest first.
    finished: VecDeque<NodeId>,
    unfold_reasoning: bool,
}

impl Tree {
    /// The entry agent alone. `unfold_reasoning`: transcripts show reasoning whole.
    pub(super) fn new(unfold_reasoning: bool) -> Self {
        let entry = Node { scene: Scene::new(unfold_reasoning), ..Node::default() };
        Self { entry, unfold_reasoning, ..Self::default() }
    }

    /// Another conversation begins.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.unfold_reasoning);
    }

    /// The agent that a person talks to.
    pub(super) fn entry(&self) -> &Node {
        &self.entry
    }

    /// One agent.
    pub(super) fn get(&self, node: NodeId) -> Option<&Node> {
        if node.is_entry() { Some(&self.entry) } else { self.workers.get(&node) }
    }

    /// One agent, to change it.
    pub(super) fn get_mut(&mut self, node: NodeId) -> Option<&mut Node> {
        if node.is_entry() { Some(&mut self.entry) } else { self.workers.get_mut(&node) }
    }

    /// The agent that is looked at.
    pub(super) fn viewed(&self) -> &Node {
        self.workers.get(&self.viewed).unwrap_or(&self.entry)
    }

    /// The agent that is looked at, to change it.
    pub(super) fn viewed_mut(&mut self) -> &mut Node {
        self.workers.get_mut(&self.viewed).unwrap_or(&mut self.entry)
    }

    /// Looks at another agent. Whether there is one of this number.
    pub(super) fn view(&mut self, node: NodeId) -> bool {
        let known = self.get(node).is_some();
        if known && node != self.viewed {
            let left = &mut self.viewed_mut().scene.transcript;
            left.end_search();
            left.select(None);
            self.viewed = node;
        }
        known
    }

    /// An agent and those above it, the entry agent last: `scout#1 < coder#1 < assistant`.
    pub(super) fn chain(&self, node: &Node) -> String {
        let above = self.above(node.id).into_iter().filter_map(|above| self.get(above));
        std::iter::once(node).chain(above).map(|node| node.name.as_str()).collect::<Vec<_>>().join(" < ")
    }

    /// The workers of the last turn, the newest first.
    fn workers_of_turn(&self) -> impl Iterator<Item = &Node> {
        self.workers.values().rev().take_while(|node| node.turn == self.turns)
    }

    /// The last turn's agents: each under the one that spawned it, in the order of their spawns.
    pub(super) fn rows(&self) -> Vec<&Node> {
        let mut below: HashMap<NodeId, Vec<&Node>> = HashMap::new();
        for node in self.workers_of_turn() {
            below.entry(node.parent).or_default().push(node);
        }
        let mut rows = Vec::new();
        let mut next = vec![&self.entry];
        while let Some(node) = next.pop() {
            rows.push(node);
            next.extend(below.remove(&node.id).unwrap_or_default());
        }
        rows
    }

    /// Workers that have not ended.
    pub(super) fn running_workers(&self) -> usize {
        self.workers_of_turn().filter(|node| node.run.is_some()).count()
    }

    /// The worker that came last of those that have not ended.
    pub(super) fn newest_running(&self) -> Option<&Node> {
        self.workers_of_turn().find(|node| node.run.is_some())
    }

    /// Takes in what was told of one agent. One that never came to be is passed over. `replaying`: it happened before, at
    /// the time that it says itself.
    pub(super) fn tell(&mut self, of: NodeId, event: &Event, now: i64, replaying: bool) {
        self.cost.tell(of, event);
        let mut began = now;
        match event {
            Event::Session { agent, model, .. } => {
                self.entry.name = clean_line(agent.as_str());
                self.entry.model = clean_line(model);
            }
            Event::TurnStarted { at, .. } => {
                began = if replaying { *at } else { now };
                if of.is_entry() {
                    self.turns += 1;
                    self.entry.turn = self.turns;
                    self.cost_line = None;
                }
            }
            Event::Spawned(spawned) => {
                began = if replaying { spawned.at } else { now };
                self.spawn(of, spawned, began);
            }
            _ => {}
        }
        let turn = self.turns;
        let Some(node) = self.get_mut(of).filter(|node| !node.dropped) else { return };
        let ran = node.run.is_some();
        node.tell(event, now, began, turn);
        for above in self.above(of) {
            if let Some(Node { scene, .. }) = self.get_mut(above) {
                scene.story.tell_below(&mut scene.transcript, of, event, began);
            }
        }
        match event {
            Event::End { .. } => {
                if of.is_entry() {
                    self.close_turn(now);
                } else if ran {
                    self.finished.push_back(of);
                }
                self.say_cost(of);
                self.bound();
            }
            Event::SideCall { .. } => self.say_cost_again(),
            _ => {}
        }
    }

    fn spawn(&mut self, id: NodeId, spawned: &Spawned, since: i64) {
        if self.get(id).is_some() {
            return;
        }
        let parent = self.get(spawned.call.node()).filter(|parent| parent.turn == self.turns).unwrap_or(&self.entry);
        let mut node = Node {
            id,
            parent: parent.id,
            depth: parent.depth + 1,
            turn: self.turns,
            name: clean_line(&spawned.address),
            model: clean_line(&spawned.model),
            spawned: Some(Box::new(spawned.clone())),
            scene: Scene::new(self.unfold_reasoning),
            ..Node::default()
        };
        node.begin(since);
        self.workers.insert(id, node);
        self.kept += 1;
        self.bound();
    }

    /// No worker outlives its turn (D7): one whose end was not told yet does not run any more.
    fn close_turn(&mut self, now: i64) {
        self.entry.scene.transcript.rest();
        let turn = self.turns;
        for (id, node) in self.workers.iter_mut().rev().take_while(|(_, node)| node.turn == turn) {
            if let Some(run) = &node.run {
                let took_ms = u64::try_from(now - run.since).unwrap_or(0);
                node.ended(TurnEnd::Interrupted, took_ms);
                self.finished.push_back(*id);
            }
            node.scene.transcript.rest();
        }
    }

    /// Marks the calls that wait with their places among all `of`, in their own transcripts and under the rows above.
    pub(super) fn mark_waiting(&mut self, waiting: &[CallId], of: usize) {
        for (at, call) in waiting.iter().enumerate() {
            if let Some(Node { scene, .. }) = self.get_mut(call.node()) {
                scene.story.mark_waiting(&mut scene.transcript, *call, at + 1, of);
            }
            for above in self.above(call.node()) {
                if let Some(Node { scene, .. }) = self.get_mut(above) {
                    scene.transcript.mark_work(*call, at + 1, of);
                }
            }
        }
    }

    /// The agents above one, the entry agent last.
    fn above(&self, node: NodeId) -> Vec<NodeId> {
        let mut above = Vec::new();
        let mut at = node;
        // A parent is always older, so this ends.
        while let Some(worker) = self.workers.get(&at).filter(|worker| worker.parent < worker.id) {
            at = worker.parent;
            above.push(at);
        }
        above
    }

    /// Nothing of it is seen to go on: another program runs it.
    pub(super) fn rest(&mut self) {
        for node in self.workers.values_mut().chain([&mut self.entry]) {
            node.run = None;
            node.scene.transcript.rest();
        }
    }

    /// Drops the transcripts of the workers that finished first, but never the one that is looked at.
    fn bound(&mut self) {
        while self.kept > TRANSCRIPTS
            && let Some(place) = self.finished.iter().position(|node| *node != self.viewed)
            && let Some(oldest) = self.finished.remove(place)
        {
            self.kept -= 1;
            if let Some(node) = self.workers.get_mut(&oldest) {
                node.forget();
            }
        }
    }

    /// Says what a turn cost, where its one model call does not say it already.
    fn say_cost(&mut self, of: NodeId) {
        let Some(words) = spent::of_turn(&self.cost, of) else { return };
        let Some(node) = self.get_mut(of).filter(|node| !node.dropped) else { return };
        let line = node.scene.transcript.push(Block::Note(words));
        if of.is_entry() {
            self.cost_line = Some(line);
        }
    }

    /// What came after the end of the turn and belongs to it is in its line too.
    fn say_cost_again(&mut self) {
        if let (Some(line), Some(words)) = (self.cost_line, spent::of_turn(&self.cost, NodeId::ENTRY)) {
            self.entry.scene.transcript.update(line, |block| *block = Block::Note(words));
        }
    }
}

/// Whether its parent waits for a worker.
pub(super) fn is_background(node: &Node) -> bool {
    node.spawned.as_ref().is_some_and(|spawned| spawned.ground == Ground::Background)
}
