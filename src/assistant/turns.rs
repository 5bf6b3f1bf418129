//! Turns: feeding inputs to the agents of a conversation and carrying out their effects, in order.
//!
//! Invariants, each with the bug it prevents and the test that holds it (`tests/assistant`):
//! 1. One task owns every run, the world and the logs, and no lock is held over a wait. A tool that changes a hot setting inside
//!    its own turn cannot deadlock with it. (`a_tool_that_changes_a_hot_setting_in_its_own_turn_does_not_deadlock`)
//! 2. A conversation with a running turn or an open card is never evicted: its output would be lost.
//!    (`p14_a_running_conversation_is_kept_beyond_the_cap`)
//! 3. Which conversation and agent an effect belongs to is said with the effect, never read from what is in view: a turn that
//!    ends while another is viewed must not write there. (`the_view_switched_during_a_turn_changes_nothing_of_it`)
//! 4. A turn never moves the view. (`a_turn_that_ends_in_the_background_leaves_the_view_alone`)
//! 5. A record is on disk before the effects behind it are carried out; when it can't be, nothing further of that conversation is
//!    dispatched and its turn is stopped: nothing runs that a crash would forget. (`saving.rs`)
//! 6. A decision is in the audit log before what it lets happen. What the audit does not know does not run. (`audit.rs`)
//! 7. A stop ends a turn and all its workers, the program's end ends every live turn, not only the one in view; a second stop
//!    during the first finds nothing to stop. (`the_second_stop_during_the_first_changes_nothing`,
//!    `the_displaced_turn_is_ended_at_shutdown`)
//! 8. What a task says for an earlier model call, an ended call, an ended worker or a conversation that is gone is not heard.
//!    (`words_of_a_dropped_model_call_are_not_heard`)
//! 9. A message typed mid-turn joins it or begins the next turn, never both, never neither; after a stop it is said to be
//!    undelivered. (`a_message_typed_mid_turn_joins_or_begins_the_next_turn`)
//! 10. Dropping a task's future ends all that it started; a task that panics ends as a failed call, not as the program.
//!     (`a_tool_that_panics_is_a_failed_call`)

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::build::build;
use super::live::Saving;
use super::tasks::{contained, spawn};
use super::{Driver, Id, Message, Severity, ended};
use crate::access::{CallFacts, ToolId, ToolsetName};
use crate::agent::{
    CallId, Effect, Ending, Event, Failure, FailureKind, Input, Moment, NodeId, Record, Request, Retry, ToolOutcome,
    TreeInput, TurnEnd,
};
use crate::tool::output::Outcome;
use crate::tool::{CallContext, Output, arguments, facts};

/// What follows from one input, in order.
pub(super) type Inputs = VecDeque<TreeInput>;

impl Driver {
    /// A person's words: a turn, or part of the running one.
    pub(super) async fn say(&mut self, to: NodeId, text: String) {
        if self.is_refused("Nothing can be said here").await {
            return;
        }
        self.mend().await;
        if self.setup.switches.changed() {
            let hint = Some("It takes effect when kokua is started again.".to_owned());
            self.alert(Severity::Notice, "The configuration was changed since the start.".to_owned(), hint).await;
        }
        let attendance = self.setup.attendance;
        let only = self.setup.only.clone();
        let input = Input::Said { text, attendance, only };
        self.feed_viewed(TreeInput::Run { node: to, input }).await;
    }

    /// [`Self::feed`] for the conversation in view.
    pub(super) async fn feed_viewed(&mut self, input: TreeInput) {
        if let Some(id) = self.viewed.clone() {
            self.feed(&id, input).await;
        }
    }

    /// One input of a conversation and all that follows from it.
    pub(super) async fn feed(&mut self, id: &Id, input: TreeInput) {
        let mut inputs = Inputs::from([input]);
        while let Some(input) = inputs.pop_front() {
            if !matches!(input, TreeInput::Run { input: Input::Delta(_), .. }) {
                self.refresh_checks().await;
            }
            let (moment, sight) = (self.moment(), self.sight(id));
            let Some(live) = self.lives.get_mut(id) else { return };
            live.tree.look(sight);
            for (node, effect) in live.tree.step(moment, &mut self.setup.capabilities.world, input) {
                self.carry_out(id, node, effect, &mut inputs).await;
            }
        }
        self.rest_if_over(id);
    }

    fn moment(&self) -> Moment {
        Moment { now: self.setup.surroundings.now(), random: self.setup.surroundings.random() }
    }

    async fn carry_out(&mut self, id: &Id, node: NodeId, effect: Effect, inputs: &mut Inputs) {
        match effect {
            Effect::Record(record) => {
                if let Some(head) = self.audit_head_due(id, &record) {
                    self.record(id, &head, inputs).await;
                }
                self.record(id, &record, inputs).await;
            }
            Effect::Audit(draft) => self.audit(id, *draft).await,
            Effect::Tell(event) => self.relay(id, node, event).await,
            Effect::CallModel(request) => self.call_model(id, node, *request, inputs),
            Effect::CancelModel => self.cancel_model(id, node),
            Effect::RetryAfter { ms } => self.retry_after(id, node, ms),
            Effect::Check { call, tool, arguments } => {
                let input = Input::Checked { call, arguments: self.check(id, node, &tool, arguments) };
                inputs.push_back(TreeInput::Run { node, input });
            }
            Effect::Ask(ask) => self.ask(id, *ask),
            Effect::Withdraw { call } => {
                if let Some(live) = self.lives.get_mut(id) {
                    live.asks.remove(&call);
                }
            }
            Effect::Grant { call, tool, arguments } => self.grant(id, call, &tool, &arguments).await,
            Effect::Run { call, tool, arguments } => self.run_tool(id, call, tool, arguments, inputs),
            Effect::CancelRun { call } => {
                if let Some(live) = self.lives.get_mut(id) {
                    live.loads.remove(&call);
                    live.replies.remove(&call);
                    if let Some(task) = live.tasks.remove(&call) {
                        task.abort();
                    }
                }
            }
            Effect::Load { call, toolset } => self.load(id, call, toolset, inputs),
            Effect::Spawn(wiring) => self.wire_worker(id, *wiring, inputs),
            Effect::Keep { text } => {
                let kept = self.setup.store.keep_answer(id, &text);
                let file = kept.map(|path| path.display().to_string()).map_err(|error| error.message);
                inputs.push_back(TreeInput::Kept { node, file });
            }
            Effect::Reply { call, outcome } => self.reply(id, call, outcome),
            // The tree keeps these to itself.
            Effect::Delegate { .. } | Effect::Unread { .. } => {}
        }
    }

    /// Invariant 5.
    async fn record(&mut self, id: &Id, record: &Record, inputs: &mut Inputs) {
        let store = Arc::clone(&self.setup.store);
        let (entry, now) = (self.entry.clone(), self.setup.surroundings.now());
        let Some(live) = self.lives.get_mut(id) else { return };
        if live.saving == Saving::Broken {
            return;
        }
        if let Record::TurnStarted { message, at, .. } = record {
            live.turn_started = Some(*at);
            live.first_words.get_or_insert_with(|| message.text.clone());
        }
        if let Err(error) = live.append(record, |id| store.create(id, &entry, now)) {
            live.saving = Saving::Broken;
            inputs.push_back(TreeInput::Run { node: NodeId::ENTRY, input: Input::Stop });
            let hint = error.hint.or_else(|| Some("Your next message starts from what was saved.".to_owned()));
            let sentence = format!("The conversation could not be saved, so the turn was stopped: {}", error.message);
            self.alert_in(id, Severity::Warning, sentence, hint).await;
        }
    }

    /// An event on its way out, and what the driver itself does at that point.
    async fn relay(&mut self, id: &Id, node: NodeId, event: Event) {
        if let Event::Error { message, .. } = &event {
            tracing::warn!(%message, %node, "the turn failed");
        }
        let ended = match &event {
            Event::End { end, .. } => Some(end.clone()),
            _ => None,
        };
        self.tell_of(id, node, event).await;
        let Some(end) = ended else { return };
        let Some(live) = self.lives.get_mut(id) else { return };
        if !node.is_entry() {
            return live.bury(node);
        }
        live.turn_started = None;
        live.asked.clear();
        if matches!(end, TurnEnd::Answered | TurnEnd::WrappedUp) {
            self.title_if_new(id);
            self.ask_window();
        }
        if !self.is_viewed(id) {
            self.unread.insert(Arc::clone(id));
        }
        self.report().await;
    }

    pub(super) fn dispatching(&self, id: &Id) -> bool {
        self.lives.get(id).is_some_and(|live| live.saving == Saving::Whole)
    }

    fn call_model(&mut self, id: &Id, node: NodeId, request: Request, inputs: &mut Inputs) {
        if !self.dispatching(id) {
            return;
        }
        let model = match self.model_of(id, node) {
            Ok(model) => model,
            Err(failure) => return inputs.push_back(TreeInput::Run { node, input: ended(failure) }),
        };
        let (messages, conversation) = (self.messages.clone(), Arc::clone(id));
        let Some(generation) = self.next_generation(id, node) else { return };
        let task = spawn(async move {
            let send = |input| {
                let conversation = Arc::clone(&conversation);
                messages.send(Message::Model { conversation, node, generation, input })
            };
            let outcome = contained(async {
                use futures_util::StreamExt as _;
                let mut stream = model.stream(request);
                while let Some(piece) = stream.next().await {
                    let input = match piece {
                        Ok(delta) => Input::Delta(delta),
                        Err(failure) => return ended(failure),
                    };
                    if send(input).await.is_err() {
                        break;
                    }
                }
                Input::ModelEnded(Ok(()))
            })
            .await;
            let last = outcome.unwrap_or_else(|panic| {
                ended(Failure {
                    kind: FailureKind::Malformed,
                    message: format!("reading the model's answer stopped unexpectedly: {panic}"),
                    hint: Some("The log under data/logs has more; please report it.".to_owned()),
                    retry: Retry::Never,
                })
            });
            let _gone = send(last).await;
        });
        self.set_model_task(id, node, Some(task));
    }

    /// From here on nothing is heard of this agent's model call or back-off before.
    fn next_generation(&mut self, id: &Id, node: NodeId) -> Option<u64> {
        self.generations += 1;
        let live = self.lives.get_mut(id)?;
        live.calling.insert(node, (self.generations, None));
        Some(self.generations)
    }

    pub(super) fn set_model_task(&mut self, id: &Id, node: NodeId, task: Option<tokio::task::AbortHandle>) {
        if let Some((_, running)) = self.lives.get_mut(id).and_then(|live| live.calling.get_mut(&node)) {
            *running = task;
        }
    }

    /// Whether it is this agent's present model call or back-off that speaks (invariant 8).
    pub(super) fn hears_model(&self, id: &Id, node: NodeId, generation: u64) -> bool {
        let calling = self.lives.get(id).and_then(|live| live.calling.get(&node));
        calling.is_some_and(|(present, _)| *present == generation)
    }

    fn cancel_model(&mut self, id: &Id, node: NodeId) {
        if let Some((_, Some(task))) = self.lives.get_mut(id).and_then(|live| live.calling.remove(&node)) {
            task.abort();
        }
    }

    fn retry_after(&mut self, id: &Id, node: NodeId, ms: u64) {
        let (messages, conversation) = (self.messages.clone(), Arc::clone(id));
        let Some(generation) = self.next_generation(id, node) else { return };
        let task = spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            let _gone = messages.send(Message::Retry { conversation, node, generation }).await;
        });
        self.set_model_task(id, node, Some(task));
    }

    fn check(
        &self,
        id: &Id,
        node: NodeId,
        tool: &ToolId,
        given: serde_json::Value,
    ) -> Result<serde_json::Value, String> {
        let name = tool.name.as_str();
        let run = self.lives.get(id).and_then(|live| live.tree.run(node));
        match run.and_then(|run| run.definition(tool)) {
            Some(definition) => arguments::check(name, &definition.schema, given),
            None => Err(format!("'{name}' is not here any more.")),
        }
    }

    async fn grant(&mut self, id: &Id, call: CallId, tool: &ToolId, arguments: &str) {
        if !self.dispatching(id) || self.is_unaudited(id, call) {
            return;
        }
        let Some(run) = self.lives.get(id).and_then(|live| live.tree.run(call.node())) else { return };
        let agent = run.agent().clone();
        let Some(held) = run.held().get(tool).cloned() else { return };
        let facts = CallFacts::on_screen(id, &agent, &held, arguments, self.setup.attendance);
        match self.setup.capabilities.world.grant(facts) {
            Ok(number) => self.audit_grant(id, (call.node(), &agent), number, tool, arguments).await,
            Err(sentence) => self.alert_in(id, Severity::Notice, sentence, None).await,
        }
        self.report().await;
    }

    fn run_tool(&mut self, id: &Id, call: CallId, tool: ToolId, arguments: serde_json::Value, inputs: &mut Inputs) {
        if !self.dispatching(id) || self.stays_out(id, call, inputs) {
            return;
        }
        let (node, now) = (call.node(), self.setup.surroundings.now());
        let agents = self.agents_of(id, call);
        let messages = self.messages.clone();
        let Some(live) = self.lives.get_mut(id) else { return };
        let mut refuse = |text: String| {
            inputs.push_back(TreeInput::Run { node, input: Input::ToolEnded { call, outcome: failed(text) } });
        };
        let Some(runnable) = live.tools.get(&node).and_then(|tools| tools.get(&tool)).cloned() else {
            return refuse(format!("Tool '{}' is not here any more.", tool.name));
        };
        // O3: what runs is what was shown, also where its provider changed it since it was built.
        let run = live.tree.run(node);
        let shown = run.and_then(|run| run.held().get(&tool)).map(|held| held.digest.clone());
        if shown.is_none_or(|shown| shown != facts(runnable.spec()).digest) {
            let name = &tool.name;
            return refuse(format!("{name} changed since it was shown; a new conversation can call it as it is now"));
        }
        let agent = run.map(|run| run.agent().to_string()).unwrap_or_default();
        let context = CallContext { conversation: id.to_string(), agent, node, agents, now };
        let conversation = Arc::clone(id);
        let task = spawn(async move {
            let name = tool.name.clone();
            let outcome = match contained(async { runnable.call(arguments, context).await }).await {
                Ok(output) => outcome(output),
                Err(panic) => failed(format!("Tool '{name}' raised an error: {panic}")),
            };
            let _gone = messages.send(Message::Tool { conversation, call, outcome }).await;
        });
        live.tasks.insert(call, task);
    }

    fn load(&mut self, id: &Id, call: CallId, toolset: ToolsetName, inputs: &mut Inputs) {
        if !self.dispatching(id) || self.stays_out(id, call, inputs) {
            return;
        }
        let Some(live) = self.lives.get_mut(id) else { return };
        let Some(found) = self.setup.capabilities.toolsets.get(&toolset).cloned() else {
            let input = Input::LoadEnded { call, result: Err("nothing installs it".to_owned()) };
            return inputs.push_back(TreeInput::Run { node: call.node(), input });
        };
        let (services, limit) = (self.setup.capabilities.services.clone(), self.setup.capabilities.build_timeout);
        let (conversation, messages) = (Arc::clone(id), self.messages.clone());
        live.loads.insert(call);
        // Not one of the call's tasks: a load whose caller is stopped is still judged by the hook, and held by nobody.
        spawn(async move {
            let result = build(found, services, limit).await;
            let _gone = messages.send(Message::Built { conversation, call, toolset, result }).await;
        });
    }
}

pub(super) fn failed(text: String) -> ToolOutcome {
    ToolOutcome { ending: Ending::Failed, text, note: None }
}

fn outcome(output: Output) -> ToolOutcome {
    let ending = match output.outcome {
        Outcome::Ok => Ending::Ok,
        Outcome::Failed => Ending::Failed,
        Outcome::TimedOut => Ending::TimedOut,
    };
    ToolOutcome { ending, text: output.text, note: output.note }
}
