//! The agents of one conversation as one pure machine: the entry agent's run, those of its turn's workers, the messages
//! between them, and what each call that waits for another agent is answered with.
//!
//! A worker lives in the turn that it was spawned in (D7) and is one [`Run`] of one turn. Nothing here builds, waits or reads a
//! clock; who holds what and what asks is each run's own business.

mod requests;

use std::collections::BTreeMap;

use super::call::{CallId, Ending};
use super::delegate::{Request, Wiring, Worker};
use super::effect::{Effect, TurnEnd};
use super::input::{Input, Moment, ToolOutcome};
use super::mail::Bus;
use super::message::FailureKind;
use super::node::{Ground, NodeId, Spawned};
use super::record::Record;
use super::run::Run;
use super::turn::opening;
use super::update::{Alert, Event, Severity};
use crate::access::{AgentName, Held, Sight, ToolsetName, World};

/// A worker's answer longer than this many characters is kept whole on the disk, and its delegator reads so much of it.
pub const ANSWER_LIMIT: usize = 4_000;

/// Workers of one turn that may be there at the same time.
const LIVE: usize = 1_000;

/// Workers of one turn in all.
const TOTAL: usize = 10_000;

/// Who stops a worker where no agent does.
const USER: &str = "the user";

/// What can happen to the agents of a conversation.
#[derive(Debug, Clone)]
pub enum TreeInput {
    /// Something for one agent's run. [`Input::Stop`] and [`Input::Leave`] reach everybody below it first.
    Run {
        /// Whose.
        node: NodeId,
        /// What.
        input: Input,
    },
    /// What [`Effect::Spawn`] asked for: the worker's parts, or the sentence after `Could not spawn '<agent>': `.
    Wired {
        /// The call.
        call: CallId,
        /// The parts or the error.
        worker: Result<Box<Worker>, String>,
    },
    /// What [`Effect::Keep`] asked for: the file, or why there is none.
    Kept {
        /// Whose answer.
        node: NodeId,
        /// Its path, or a fragment.
        file: Result<String, String>,
    },
    /// A tool asks the other agents of the turn; answered with [`Effect::Reply`] unless its call ends first.
    Requested {
        /// The tool's call.
        call: CallId,
        /// What it asks.
        request: Request,
    },
    /// A person stopped one worker: who spawned it goes on with that.
    StopAgent {
        /// Which.
        node: NodeId,
    },
}

/// The agents of one conversation.
#[derive(Debug)]
pub struct Tree {
    entry: Run,
    /// The workers that run.
    workers: BTreeMap<NodeId, Run>,
    /// The workers of the running turn, ended ones included.
    nodes: BTreeMap<NodeId, Node>,
    bus: Bus,
    waits: Vec<Wait>,
    next: NodeId,
    max_depth: u32,
    /// Where the conversation is (P12).
    sight: Sight,
}

/// One worker of the running turn.
#[derive(Debug)]
struct Node {
    /// The call that asked for it.
    call: CallId,
    agent: AgentName,
    address: String,
    task: String,
    family: Option<ToolsetName>,
    ground: Ground,
    origin: Origin,
    state: NodeState,
    /// Who stopped it, if it was.
    stopped_by: Option<String>,
    /// Who asked for it is stopped as well, so nobody is told what came of it.
    silent: bool,
    /// Its delegator has read its answer.
    collected: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum NodeState {
    /// It is being built.
    Wiring,
    Running,
    /// It ended well and its answer is being kept: the note before it, and the answer.
    Keeping(String, String),
    Ended(ToolOutcome),
}

impl NodeState {
    /// It was built, and its answer is not there yet.
    fn works(&self) -> bool {
        matches!(self, Self::Running | Self::Keeping(..))
    }

    fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// How a worker came to be asked for, and so how its call is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// `spawn_subagent`, which the run itself answers.
    Spawned,
    /// `compose_subagent`, whose tool waits for a reply.
    Composed {
        /// What it calls itself.
        label: String,
        toolsets: Vec<ToolsetName>,
        /// How many levels may still be composed below it (D3).
        depth: u32,
    },
}

/// A call of `await_agents`.
#[derive(Debug)]
struct Wait {
    call: CallId,
    nodes: Vec<NodeId>,
}

impl Tree {
    /// The agents of a conversation whose entry agent is wired and has no turn open. `records`: its log, so that no number is
    /// given twice. `max_depth`: how many levels a declared agent may compose (D3); 0: none.
    pub fn new(entry: Run, records: &[Record], max_depth: u32) -> Self {
        let numbers = records.iter().filter_map(|record| match record {
            Record::Worker { node, .. } => Some(node.0),
            _ => None,
        });
        let next = NodeId(numbers.max().unwrap_or(0).saturating_add(1));
        let bus = Bus::of(entry.agent().as_str());
        Self {
            entry,
            workers: BTreeMap::new(),
            nodes: BTreeMap::new(),
            bus,
            waits: Vec::new(),
            next,
            max_depth,
            sight: Sight::OnScreen,
        }
    }

    /// The entry agent's run.
    pub fn entry(&self) -> &Run {
        &self.entry
    }

    /// The run of an agent that runs, the entry agent's always.
    pub fn run(&self, node: NodeId) -> Option<&Run> {
        if node.is_entry() { Some(&self.entry) } else { self.workers.get(&node) }
    }

    fn run_mut(&mut self, node: NodeId) -> Option<&mut Run> {
        if node.is_entry() { Some(&mut self.entry) } else { self.workers.get_mut(&node) }
    }

    /// Every agent that runs, or the entry agent alone where no turn is open.
    pub fn runs(&self) -> impl Iterator<Item = (NodeId, &Run)> {
        std::iter::once((NodeId::ENTRY, &self.entry)).chain(self.workers.iter().map(|(node, run)| (*node, run)))
    }

    /// Whether a turn is open.
    pub fn is_running(&self) -> bool {
        self.entry.is_running()
    }

    /// The conversation came into view, or left it (P12).
    pub fn look(&mut self, sight: Sight) {
        self.sight = sight;
    }

    /// What goes on and stands in no record yet, of every agent, as it was told. Open cards are the driver's to show.
    pub fn standing(&self, now: i64) -> Vec<(NodeId, Event)> {
        self.runs().flat_map(|(node, run)| run.standing(now).into_iter().map(move |event| (node, event))).collect()
    }

    /// Gives the entry agent up, to rest: its turn is over.
    pub fn into_entry(self) -> Run {
        self.entry
    }

    /// Takes one input: the effects, in order, each with the agent whose it is. An input that nothing waits for changes
    /// nothing.
    pub fn step(&mut self, moment: Moment, world: &mut World, input: TreeInput) -> Vec<(NodeId, Effect)> {
        let mut step = TreeStep { tree: self, world, moment, out: Vec::new() };
        match input {
            TreeInput::Run { node, input: input @ (Input::Stop | Input::Leave) } => step.stop(node, &input, USER),
            TreeInput::Run { node, input: Input::Mode { mode } } => {
                step.feed(node, Input::Mode { mode: mode.clone() });
                step.tree.workers.values_mut().for_each(|run| run.conditions.mode = Some(mode.clone()));
            }
            TreeInput::Run { node, input: Input::Said { text, .. } } if step.tree.run(node).is_none() => {
                step.too_late(node, &text);
            }
            TreeInput::Run { node, input } => {
                if let Input::ToolEnded { call, .. } | Input::KeptBack { call, .. } = &input {
                    step.abandon(*call);
                }
                // O7: a list that tightens does so for everybody who runs.
                if let Input::Said { only: only @ Some(_), .. } = &input {
                    step.tree.workers.values_mut().for_each(|run| run.narrow(only.as_ref()));
                }
                step.feed(node, input);
            }
            TreeInput::Wired { call, worker } => step.wired(call, worker),
            TreeInput::Kept { node, file } => step.kept(node, file),
            TreeInput::Requested { call, request } => step.requested(call, request),
            TreeInput::StopAgent { node } => step.stop_alone(node, USER),
        }
        step.out
    }
}

/// One input being taken.
struct TreeStep<'a> {
    tree: &'a mut Tree,
    world: &'a mut World,
    moment: Moment,
    out: Vec<(NodeId, Effect)>,
}

impl TreeStep<'_> {
    fn feed(&mut self, node: NodeId, input: Input) {
        let sight = self.tree.sight;
        let Some(run) = self.tree.run_mut(node) else { return };
        run.look(sight);
        for effect in run.step(self.moment, self.world, input) {
            self.take(node, effect);
        }
    }

    /// What a run asks for: most of it is the driver's, some the tree's own.
    fn take(&mut self, node: NodeId, effect: Effect) {
        match effect {
            Effect::Delegate { call, agent, task, family, ground } => {
                let label = agent.to_string();
                if let Err(text) = self.plan(call, agent, &label, task, family, ground, Origin::Spawned, None) {
                    let outcome = ToolOutcome { ending: Ending::Failed, text, note: None };
                    self.feed(node, Input::ToolEnded { call, outcome });
                }
            }
            Effect::Unread { mail } => self.tree.bus.unread(mail),
            Effect::CancelRun { call } => {
                self.forget(call);
                self.out.push((node, Effect::CancelRun { call }));
            }
            Effect::Record(record) => {
                if node.is_entry() && matches!(record, Record::TurnEnded { .. }) {
                    self.report_unread();
                }
                self.record(node, record);
            }
            Effect::Tell(Event::End { end, took_ms }) => {
                self.tell(node, Event::End { end: end.clone(), took_ms });
                if node.is_entry() {
                    // All below it have ended before it.
                    debug_assert!(self.tree.workers.is_empty(), "no agent outlives its turn");
                    self.tree.nodes.clear();
                    self.tree.waits.clear();
                    self.tree.bus = Bus::of(self.tree.entry.agent().as_str());
                } else {
                    self.ended(node, &end);
                }
            }
            effect => self.out.push((node, effect)),
        }
    }

    fn tell(&mut self, node: NodeId, event: Event) {
        self.out.push((node, Effect::Tell(event)));
    }

    fn record(&mut self, node: NodeId, record: Record) {
        self.out.push((node, Effect::Record(record.of(node))));
    }

    fn alert(&mut self, node: NodeId, message: String, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.tell(node, Event::Alert(Alert { severity: Severity::Warning, message, hint }));
    }

    /// D6: what nobody read is kept and told as the turn ends.
    fn report_unread(&mut self) {
        let at = self.moment.now;
        for lost in self.tree.bus.lost() {
            let (from, to, text) = (lost.from, lost.to, lost.text);
            let record = Record::Undelivered { at, from: from.clone(), to: to.clone(), text: text.clone() };
            self.record(NodeId::ENTRY, record);
            self.tell(NodeId::ENTRY, Event::Undelivered { from, to, text });
        }
    }

    /// A person's words to a worker that has ended.
    fn too_late(&mut self, node: NodeId, text: &str) {
        let known = self.tree.nodes.get(&node).map(|node| node.address.clone());
        let who = known.unwrap_or_else(|| "That agent".to_owned());
        let words = opening(text);
        let hint = Some("Say it to the agent that spawned it.");
        self.alert(NodeId::ENTRY, format!("{who} has ended, so your message was not delivered: {words}"), hint);
    }

    /// A worker is asked for: it has its number and its address from now on.
    #[expect(clippy::too_many_arguments, reason = "each is one fact of the call that asks")]
    fn plan(
        &mut self,
        call: CallId,
        agent: AgentName,
        label: &str,
        task: String,
        family: Option<ToolsetName>,
        ground: Ground,
        origin: Origin,
        instructions: Option<String>,
    ) -> Result<(), String> {
        let live = self.tree.nodes.values().filter(|node| !node.state.has_ended()).count();
        if live >= LIVE || self.tree.nodes.len() >= TOTAL {
            self.world.dissolve(&agent);
            return Err(format!(
                "No further sub-agent: a turn has at most {LIVE} at once and {TOTAL} in all. Go on with what is there."
            ));
        }
        let node = self.tree.next;
        self.tree.next = NodeId(node.0.saturating_add(1));
        let address = self.tree.bus.address(label);
        self.out
            .push((call.node(), Effect::Spawn(Box::new(Wiring { call, node, agent: agent.clone(), instructions }))));
        let (state, stopped_by) = (NodeState::Wiring, None);
        let (silent, collected) = (false, false);
        let planned = Node { call, agent, address, task, family, ground, origin, state, stopped_by, silent, collected };
        self.tree.nodes.insert(node, planned);
        Ok(())
    }

    /// The call ended before what it asked for was there: nobody waits for it any more.
    fn forget(&mut self, call: CallId) {
        self.tree.waits.retain(|wait| wait.call != call);
        let wiring = |node: &Node| node.call == call && node.state == NodeState::Wiring;
        let gone: Vec<NodeId> =
            self.tree.nodes.iter().filter(|(_, node)| wiring(node)).map(|(node, _)| *node).collect();
        for node in gone {
            if let Some(node) = self.tree.nodes.remove(&node) {
                self.world.dissolve(&node.agent);
            }
        }
    }

    /// A call ends by itself: whom it still waits for is stopped, and nobody hears of it.
    fn abandon(&mut self, call: CallId) {
        let waited_for: Vec<NodeId> =
            self.tree.waits.iter().filter(|wait| wait.call == call).flat_map(|wait| wait.nodes.clone()).collect();
        self.forget(call);
        for node in waited_for {
            self.announce(node);
        }
        let waited = |node: &Node| node.call == call && node.ground == Ground::Foreground;
        let of_call = self.tree.nodes.iter().filter(|(_, node)| waited(node) && node.state.works());
        let workers: Vec<NodeId> = of_call.map(|(node, _)| *node).collect();
        let by = self.tree.bus.address_of(call.node()).unwrap_or("its delegator").to_owned();
        for node in workers {
            if let Some(worker) = self.tree.nodes.get_mut(&node) {
                worker.silent = true;
            }
            self.stop(node, &Input::Stop, &by);
        }
    }

    /// A worker is there: it begins, or the call that asked for it reads why not (P9, R11).
    fn wired(&mut self, call: CallId, worker: Result<Box<Worker>, String>) {
        let wiring = |(_, node): &(&NodeId, &Node)| node.call == call && node.state == NodeState::Wiring;
        let Some(node) = self.tree.nodes.iter().find(wiring).map(|(node, _)| *node) else { return };
        match worker {
            Ok(worker) => self.begin(node, *worker),
            Err(error) => {
                let Some(planned) = self.tree.nodes.remove(&node) else { return };
                self.world.dissolve(&planned.agent);
                let text = match &planned.origin {
                    Origin::Spawned => format!("Could not spawn '{}': {error}", planned.agent),
                    Origin::Composed { label, .. } => format!("Could not compose '{label}': {error}"),
                };
                self.alert(call.node(), text.clone(), None);
                self.answer_call(call, &planned.origin, ToolOutcome { ending: Ending::Failed, text, note: None });
            }
        }
    }

    fn begin(&mut self, node: NodeId, worker: Worker) {
        let Some(planned) = self.tree.nodes.get_mut(&node) else { return };
        let (call, ground, address, task) =
            (planned.call, planned.ground, planned.address.clone(), planned.task.clone());
        let toolsets = match &planned.origin {
            Origin::Spawned => Vec::new(),
            Origin::Composed { toolsets, .. } => toolsets.clone(),
        };
        planned.state = NodeState::Running;
        let (agent, family) = (planned.agent.clone(), planned.family.clone());
        let Some(parent) = self.tree.run(call.node()) else { return };
        let mut spec = worker.spec;
        spec.node = node;
        spec.address = Some(address.clone());
        spec.above = parent.spec.chain().collect();
        // Its allow-list is laid over what it holds where it is wired.
        spec.conditions = parent.conditions.for_worker(family, &Held::default(), &task);
        let attendance = parent.attendance();
        let run = Run::new(spec, self.world, worker.resident, Vec::new(), &[]);
        self.tree.workers.insert(node, run);
        let letters = self.tree.bus.open(node, &address);
        let (at, model) = (self.moment.now, worker.model);
        let spawned = Box::new(Spawned { at, call, agent, address, task: task.clone(), model, ground, toolsets });
        self.record(node, Record::Spawned(spawned.clone()));
        self.tell(node, Event::Spawned(spawned.clone()));
        self.feed(node, Input::Said { text: task, attendance, only: None });
        self.deliver(letters);
        if ground == Ground::Background {
            self.count_background(call.node());
            let address = &spawned.address;
            let text = format!(
                "Started {address} in the background. check_agent('{address}') says how far it is, await_agents waits for its \
                 answer, and its answer comes as a message when it has ended."
            );
            let outcome = ToolOutcome { ending: Ending::Ok, text, note: Some(format!("{address} in the background")) };
            self.feed(call.node(), Input::ToolEnded { call, outcome });
        }
    }

    fn deliver(&mut self, letters: Vec<super::mail::Letter>) {
        for letter in letters {
            self.feed(letter.to, Input::Mail { mail: letter.mail, kind: letter.kind, text: letter.text });
        }
    }

    /// D7: who still runs in the background for `parent`.
    fn count_background(&mut self, parent: NodeId) {
        let open = |node: &&Node| node.call.node() == parent && node.ground == Ground::Background && node.state.works();
        let workers = self.tree.nodes.values().filter(open).map(|node| node.address.clone()).collect();
        self.feed(parent, Input::Background { workers });
    }

    /// Stops an agent, everybody below it first. Those below answer nobody: who asked for them is stopped as well.
    fn stop(&mut self, node: NodeId, how: &Input, by: &str) {
        if let Some(worker) = self.tree.nodes.get_mut(&node) {
            worker.stopped_by.get_or_insert_with(|| by.to_owned());
        }
        let below = |(_, child): &(&NodeId, &Node)| child.call.node() == node && child.state.works();
        let children: Vec<NodeId> = self.tree.nodes.iter().rev().filter(below).map(|(child, _)| *child).collect();
        for child in children {
            if let Some(child) = self.tree.nodes.get_mut(&child) {
                child.silent = true;
            }
            self.stop(child, how, by);
        }
        self.feed(node, how.clone());
    }

    /// Stops one worker and those below it; who asked for it goes on with that result.
    fn stop_alone(&mut self, node: NodeId, by: &str) {
        if self.tree.nodes.get(&node).is_some_and(|node| node.state == NodeState::Running) {
            self.stop(node, &Input::Stop, by);
        }
    }

    /// A worker's turn is over, and so is the worker.
    fn ended(&mut self, node: NodeId, end: &TurnEnd) {
        let Some(run) = self.tree.workers.remove(&node) else { return };
        self.tree.bus.finish(node);
        let Some(worker) = self.tree.nodes.get_mut(&node) else { return };
        let (address, rounds) = (&worker.address, run.spec.max_iterations);
        let failed = |text: String| (Ending::Failed, text, String::new());
        let (ending, note, answer) = match end {
            TurnEnd::Answered => (Ending::Ok, String::new(), run.answer()),
            TurnEnd::WrappedUp => {
                let note = format!(
                    "[The sub-agent '{address}' reached its tool-use limit of {rounds} rounds before it finished, so this is \
                     what it had by then.]\n\n"
                );
                (Ending::Ok, note, run.answer())
            }
            TurnEnd::Stopped => {
                let by = worker.stopped_by.as_deref().unwrap_or(USER);
                failed(format!("Sub-agent '{address}' was stopped by {by} before it finished."))
            }
            TurnEnd::Interrupted => failed(format!("Sub-agent '{address}' was cut off when the program ended.")),
            TurnEnd::Failed { .. } if run.failed_by == Some(FailureKind::ContextOverflow) => failed(format!(
                "Sub-agent '{address}' filled its own context window before it finished; yours is not full. Give it a smaller \
                 task, or split it."
            )),
            TurnEnd::Failed { message, .. } => failed(format!("Sub-agent '{address}' failed: {message}")),
        };
        let agent = worker.agent.clone();
        self.world.dissolve(&agent);
        let whole = answer.chars().count() <= ANSWER_LIMIT;
        if whole {
            let text = format!("{note}{answer}");
            self.conclude(node, ToolOutcome { ending, text, note: None });
        } else {
            if let Some(worker) = self.tree.nodes.get_mut(&node) {
                worker.state = NodeState::Keeping(note, answer.clone());
            }
            self.out.push((node, Effect::Keep { text: answer }));
        }
    }

    /// A long answer is on the disk, or could not be put there: then it is passed on whole.
    fn kept(&mut self, node: NodeId, file: Result<String, String>) {
        let Some(worker) = self.tree.nodes.get(&node) else { return };
        let NodeState::Keeping(note, answer) = &worker.state else { return };
        let text = match file {
            Ok(file) => {
                let head: String = answer.chars().take(ANSWER_LIMIT).collect();
                let bytes = answer.len();
                format!("{note}{head}\n\n[This is the beginning. The whole answer, {bytes} bytes, is in {file}]")
            }
            Err(why) => {
                let message = format!("The answer of {} could not be kept on the disk: {why}", worker.address);
                let (text, parent) = (format!("{note}{answer}"), worker.call.node());
                // Nothing is told of a worker that has ended, and who is stopped reads no answer.
                if !worker.silent {
                    self.alert(parent, message, Some("It was passed on whole."));
                }
                text
            }
        };
        self.conclude(node, ToolOutcome { ending: Ending::Ok, text, note: None });
    }

    /// What came of a worker reaches whoever waits for it.
    fn conclude(&mut self, node: NodeId, outcome: ToolOutcome) {
        let Some(worker) = self.tree.nodes.get_mut(&node) else { return };
        worker.state = NodeState::Ended(outcome.clone());
        let (parent, ground, silent) = (worker.call.node(), worker.ground, worker.silent);
        let awaited = self.tree.waits.iter().any(|wait| wait.nodes.contains(&node) && wait.call.node() == parent);
        self.end_waits();
        if silent {
            return;
        }
        let Some(worker) = self.tree.nodes.get_mut(&node) else { return };
        match ground {
            Ground::Foreground => {
                worker.collected = true;
                let (call, origin) = (worker.call, worker.origin.clone());
                self.answer_call(call, &origin, outcome);
            }
            Ground::Background => {
                if !awaited {
                    self.announce(node);
                }
                self.count_background(parent);
            }
        }
    }

    /// The answer of a worker in the background reaches whoever spawned it, once, unless that has read it already.
    fn announce(&mut self, node: NodeId) {
        let Some(worker) = self.tree.nodes.get_mut(&node) else { return };
        let NodeState::Ended(outcome) = &worker.state else { return };
        if worker.collected || worker.silent || worker.ground == Ground::Foreground {
            return;
        }
        worker.collected = true;
        let letter = self.tree.bus.announce(node, worker.call.node(), &outcome.text);
        self.deliver(letter.into_iter().collect());
    }

    fn answer_call(&mut self, call: CallId, origin: &Origin, outcome: ToolOutcome) {
        match origin {
            Origin::Spawned => self.feed(call.node(), Input::ToolEnded { call, outcome }),
            Origin::Composed { .. } => self.out.push((call.node(), Effect::Reply { call, outcome })),
        }
    }
}
