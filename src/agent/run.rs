//! The run: one agent's life as a value that turns inputs into effects.
//!
//! It never calls a model, a tool or a clock itself.

use std::collections::HashMap;

use super::call::{CallId, Ending};
use super::effect::{Asker, Effect};
use super::input::{BuiltTool, Input, LoadedToolset, Moment};
use super::loaders;
use super::message::{
    AssistantMessage, Failure, FailureKind, Message, ResultMessage, StopReason, ToolDefinition, UserOrigin,
};
use super::node::NodeId;
use super::prompt;
use super::record::Record;
use super::replay;
use super::turn::{Step, Turn};
use crate::access::mode::DEFAULT_MODE;
use crate::access::{
    AgentName, Arrival, Attendance, Conditions, Held, Ledger, Life, LoadOutcome, ModeName, Risk, Sight, Slot, ToolId,
    ToolName, ToolsetName, Trigger, World,
};

/// What a run is made of.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// The agent.
    pub name: AgentName,
    /// Which of the conversation's agents it is.
    pub node: NodeId,
    /// Its address (D6), where it is a worker.
    pub address: Option<String>,
    /// Who stands above it, its delegator first; empty for the entry agent.
    pub above: Vec<Asker>,
    /// The conversation's id.
    pub conversation: String,
    /// The opener of its system message.
    pub opener: String,
    /// Model calls per turn; at least 1.
    pub max_iterations: u32,
    /// Whether calls of one round run together.
    pub concurrent_tools: bool,
    /// Tries of one failing model call, the first included; at least 1.
    pub max_attempts: u32,
    /// What it begins under: its conversation's mode, and what a worker takes over from its delegator's turn (O7).
    pub conditions: Conditions,
}

impl AgentSpec {
    /// Itself and who stands above it, outermost last.
    pub(super) fn chain(&self) -> impl Iterator<Item = Asker> {
        let own = Asker { agent: self.name.clone(), address: self.address.clone() };
        std::iter::once(own).chain(self.above.iter().cloned())
    }
}

/// A tool that a resident or preloaded build offered and whose name was taken (R16): for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Whose build.
    pub toolset: ToolsetName,
    /// Which tool.
    pub tool: ToolName,
    /// The words that name the holder.
    pub holder: String,
}

/// One agent's run.
#[derive(Debug)]
pub struct Run {
    pub(super) spec: AgentSpec,
    pub(super) held: Held,
    pub(super) conditions: Conditions,
    /// The mode that the log says last; one that says none is in the shipped default.
    pub(super) noted_mode: ModeName,
    /// Whether the log has a turn: before its first one nothing is written.
    pub(super) begun: bool,
    /// Beside `held`, by the same index.
    pub(super) definitions: Vec<ToolDefinition>,
    pub(super) system: String,
    pub(super) history: Vec<Message>,
    pub(super) next_call: u64,
    pub(super) turn: Option<Turn>,
    /// Toolsets of the agent's last model call, so that the next one can say what it grew by.
    pub(super) last_toolsets: Option<Vec<String>>,
    /// The ledger of this session's last model call.
    pub(super) last_ledger: Option<Ledger>,
    /// Where its conversation is (P12).
    pub(super) sight: Sight,
    /// What its last model call failed with for good.
    pub(super) failed_by: Option<FailureKind>,
    /// Preloads that the log does not name yet.
    pub(super) unrecorded: Vec<ToolsetName>,
    skipped: Vec<Skipped>,
}

impl Run {
    /// Wires an agent in R16's order, out of its accepted builds: resident toolsets and skills in `resident`, what its
    /// conversation had loaded in `preloaded`, in first-loaded order; and the history that its conversation's records hold. A
    /// call in them without a result reads as interrupted.
    pub fn new(
        spec: AgentSpec,
        world: &World,
        resident: Vec<LoadedToolset>,
        preloaded: Vec<LoadedToolset>,
        history: &[Record],
    ) -> Self {
        let last = history.iter().rev().find_map(|record| match record {
            Record::ModelCall { offer, .. } => Some([offer.resident.clone(), offer.loaded.clone()].concat()),
            _ => None,
        });
        // What another agent carried is no measure of what this one does.
        let answered = history.iter().rev().find_map(|record| match record {
            Record::TurnStarted { agent, .. } => agent.as_ref(),
            _ => None,
        });
        let last = last.filter(|_| answered.is_none_or(|agent| *agent == spec.name));
        let names: Vec<_> = preloaded.iter().map(|build| build.toolset.clone()).collect();
        let node = spec.node;
        let mut run = Self {
            spec,
            held: Held::default(),
            conditions: Conditions::default(),
            noted_mode: replay::mode(history, || ModeName::new(DEFAULT_MODE)),
            begun: !history.is_empty(),
            definitions: Vec::new(),
            system: String::new(),
            history: rebuild(history),
            next_call: next_call(history, node),
            sight: Sight::OnScreen,
            failed_by: None,
            turn: None,
            last_toolsets: last,
            last_ledger: None,
            unrecorded: names.clone(),
            skipped: Vec::new(),
        };
        let builds: Vec<LoadedToolset> = resident.into_iter().chain(preloaded).collect();
        let core = loaders::core_tools_of(world, &run.spec.name);
        let mut guidance = Vec::new();
        for slot in world.wiring(&run.spec.name, &names) {
            match slot {
                Slot::Core(name) => run.hold_core(core.iter().find(|tool| tool.facts.name.as_str() == name)),
                Slot::Toolset(toolset, arrival) => {
                    let Some(build) = builds.iter().find(|build| build.toolset == toolset) else { continue };
                    let event = loading_call(history, &toolset).filter(|_| arrival == Arrival::Preloaded);
                    let outcome = run.hold(build, arrival, event.map(|call| call.to_string()));
                    run.skipped.extend(outcome.skipped.into_iter().map(|(tool, holder)| Skipped {
                        toolset: toolset.clone(),
                        tool,
                        holder,
                    }));
                    guidance.extend(build.guidance.clone());
                }
            }
        }
        // A worker's turn begins when it is wired, and what it takes over holds for its whole life (O7).
        run.spec.conditions.allow = run.spec.conditions.allow.map(|allow| allow.for_worker(&run.held));
        run.conditions = run.spec.conditions.clone();
        if !node.is_entry() {
            // Its delegator's, which the conversation's own log has.
            run.noted_mode = run.conditions.mode.clone().unwrap_or(run.noted_mode);
        }
        if run.begun {
            run.conditions.triggers = Trigger::holding(run.user_messages());
        }
        let names = world.names_line(run.life());
        run.system = prompt::assemble(&run.spec.opener, guidance.iter().map(String::as_str), names.as_deref());
        run
    }

    fn hold_core(&mut self, tool: Option<&BuiltTool>) {
        let Some(tool) = tool else { return };
        let before = self.held.tools().len();
        self.held.add_core(std::slice::from_ref(&tool.facts));
        self.define(before..self.held.tools().len(), std::slice::from_ref(tool));
    }

    /// Adds one accepted build at the end of what is held, definitions beside it.
    pub(super) fn hold(&mut self, build: &LoadedToolset, arrival: Arrival, event: Option<String>) -> LoadOutcome {
        let facts: Vec<_> = build.tools.iter().map(|tool| tool.facts.clone()).collect();
        let outcome = self.held.add_by(&build.toolset, arrival, event, &facts);
        self.define(outcome.added.iter().copied(), &build.tools);
        outcome
    }

    /// A skill came to be, or was written again, and its build was accepted: its tools that are not held yet are from now on, at
    /// the end (A9, R16).
    pub fn grow(&mut self, build: &LoadedToolset) -> LoadOutcome {
        if self.held.arrival(&build.toolset).is_none() {
            return self.hold(build, Arrival::Skill, None);
        }
        let facts: Vec<_> = build.tools.iter().map(|tool| tool.facts.clone()).collect();
        let outcome = self.held.grow(&build.toolset, &facts);
        self.define(outcome.added.iter().copied(), &build.tools);
        outcome
    }

    /// Puts the definitions of newly held tools beside them, under the wire names they were given.
    fn define(&mut self, added: impl IntoIterator<Item = usize>, tools: &[BuiltTool]) {
        for held in added.into_iter().filter_map(|index| self.held.tools().get(index)) {
            if let Some(tool) = tools.iter().find(|tool| tool.facts.name == held.id.name) {
                self.definitions.push(ToolDefinition { wire: held.wire.clone(), ..tool.definition.clone() });
            }
        }
    }

    /// What it holds.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Who it is, what it holds and under which conditions: what access is asked with.
    pub fn life(&self) -> Life<'_> {
        Life::new(&self.spec.name, &self.held).under(&self.conditions)
    }

    /// What a person said, the newest first; a worker's task counts as such.
    pub(super) fn user_messages(&self) -> impl Iterator<Item = &str> {
        self.history.iter().rev().filter_map(|message| match message {
            Message::User(user) if user.origin == UserOrigin::Person => Some(user.text.as_str()),
            _ => None,
        })
    }

    /// Its name.
    pub fn agent(&self) -> &AgentName {
        &self.spec.name
    }

    /// Its system message, fixed for its life (R4).
    pub fn system(&self) -> &str {
        &self.system
    }

    /// A held tool's definition, core tools included: what [`Effect::Check`] is to be checked against.
    pub fn definition(&self, tool: &ToolId) -> Option<&ToolDefinition> {
        let index = self.held.tools().iter().position(|held| held.id == *tool)?;
        self.definitions.get(index)
    }

    /// Tools of its resident and preloaded builds that lost their name, for the log (R16).
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Its conversation came into view, or left it (P12).
    pub fn look(&mut self, sight: Sight) {
        self.sight = sight;
    }

    /// A worker's answer: what it said since its last call. Words that came when it had answered already may have made it say
    /// more, and both are its answer.
    pub(super) fn answer(&self) -> String {
        let mut said = Vec::new();
        for message in self.history.iter().rev() {
            match message {
                Message::Assistant(answer) if answer.calls().next().is_none() => said.push(answer.text()),
                Message::User(_) => {}
                Message::Assistant(_) | Message::Result(_) => break,
            }
        }
        said.reverse();
        said.join("\n\n")
    }

    /// Whether a person is at its turn; nobody is at none.
    pub(super) fn attendance(&self) -> Attendance {
        self.turn.as_ref().map_or(Attendance::Unattended, |turn| turn.attendance)
    }

    /// Whether a turn is open.
    pub fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    /// Takes one input. `world` is borrowed for this step only; a grant's use is counted in it. An input that nothing
    /// waits for (late, doubled, of another phase) changes nothing and has no effects.
    pub fn step(&mut self, moment: Moment, world: &mut World, input: Input) -> Vec<Effect> {
        Step::new(self, world, moment).take(input)
    }

    /// What a call by this wire name may touch, where something held has it.
    pub(super) fn risk(&self, wire: &str) -> Option<Risk> {
        self.held.by_wire(wire).map(|tool| tool.risk)
    }

    /// What a call by this wire name is called for people: `toolset.tool`, or the wire name where nothing held has it.
    pub(super) fn shown(&self, wire: &str) -> String {
        self.held.by_wire(wire).map_or_else(|| wire.to_owned(), |tool| tool.id.to_string())
    }
}

/// Whether an answer is sent back to the model in later calls. Failed, declined and empty ones are not: no provider
/// takes them.
pub(super) fn joins_history(message: &AssistantMessage, failure: Option<&Failure>) -> bool {
    failure.is_none()
        && !matches!(message.stop, Some(StopReason::Refusal(_)))
        && (message.calls().next().is_some() || !message.text().trim().is_empty())
}

/// The call that loaded `toolset` in a conversation, by its recorded ending (R12).
fn loading_call(records: &[Record], toolset: &ToolsetName) -> Option<CallId> {
    records.iter().find_map(|record| match record {
        Record::CallEnded { call, ending: Ending::Loaded { toolset: loaded }, .. } if loaded == toolset.as_str() => {
            Some(*call)
        }
        _ => None,
    })
}

fn next_call(records: &[Record], node: NodeId) -> u64 {
    let numbers = records.iter().flat_map(|record| match record {
        Record::ModelCall { message, .. } => message.calls().map(|call| call.id.0).collect(),
        Record::CallEnded { call, .. } => vec![call.0],
        _ => Vec::new(),
    });
    numbers.max().unwrap_or(CallId::of(node, 0).0).saturating_add(1)
}

/// The messages of a conversation: results stand behind the answer whose calls they end, in call order, whatever the
/// order they came in.
fn rebuild(records: &[Record]) -> Vec<Message> {
    let mut results: HashMap<CallId, (&Ending, &str)> = HashMap::new();
    for record in records {
        if let Record::CallEnded { call, ending, text, .. } = record {
            results.entry(*call).or_insert((ending, text));
        }
    }
    let mut messages = Vec::new();
    for record in records {
        match record {
            Record::TurnStarted { message, .. } | Record::Said { message, .. } => {
                messages.push(Message::User(message.clone()));
            }
            Record::ModelCall { message, failure, .. } if joins_history(message, failure.as_ref()) => {
                messages.push(Message::Assistant(message.clone()));
                messages.extend(message.calls().map(|call| {
                    let (ending, text) = results.get(&call.id).map_or_else(
                        || {
                            let text = format!("Tool '{}' was interrupted: its result was not saved.", call.wire);
                            (Ending::Interrupted, text)
                        },
                        |(ending, text)| ((*ending).clone(), (*text).to_owned()),
                    );
                    Message::Result(ResultMessage { call: call.id, ending, text })
                }));
            }
            _ => {}
        }
    }
    messages
}
