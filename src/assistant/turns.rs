//! Turns: feeding inputs to the run and carrying out its effects, in order.
//!
//! Invariants, each with the bug it prevents:
//! 1. One task owns the run, the world and the log. A tool that changes a setting inside its own turn cannot deadlock.
//! 2. A record is on disk before the effects behind it are carried out. Nothing runs that a crash would forget.
//! 3. When a record cannot be written, nothing further is dispatched and the turn is stopped: no unrecorded answer runs.
//! 4. What a task says for an earlier model call, an ended call or another conversation is not heard.
//! 5. A decision is in the audit log before what it lets happen. What the audit does not know does not run.
//! 6. Dropping a task's future ends all that it started; a task that panics ends as a failed call, not as the program.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use super::build::build;
use super::live::Saving;
use super::tasks::{contained, spawn};
use super::{Driver, Message, Severity, ended};
use crate::access::{CallFacts, Sight, ToolId};
use crate::agent::{
    CallId, Effect, Ending, Event, Failure, FailureKind, Input, Moment, NodeId, Record, Request, Retry, ToolOutcome,
    TurnEnd,
};
use crate::tool::output::Outcome;
use crate::tool::{Agents, CallContext, arguments, facts};

impl Driver {
    /// A person's words: a turn, or part of the running one.
    pub(super) async fn say(&mut self, text: String) {
        self.mend().await;
        if self.setup.switches.changed() {
            let hint = Some("It takes effect when kokua is started again.".to_owned());
            self.alert(Severity::Notice, "The configuration was changed since the start.".to_owned(), hint).await;
        }
        let attendance = self.setup.attendance;
        let only = self.setup.only.clone();
        self.feed(Input::Said { text, attendance, only }).await;
    }

    /// One input and all that follows from it.
    pub(super) async fn feed(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            if !matches!(input, Input::Delta(_)) {
                self.refresh_checks().await;
            }
            let moment = self.moment();
            let Some(live) = &mut self.live else { return };
            for effect in live.run.step(moment, &mut self.setup.capabilities.world, input) {
                self.carry_out(effect, &mut inputs).await;
            }
        }
    }

    fn moment(&self) -> Moment {
        Moment { now: self.setup.surroundings.now(), random: self.setup.surroundings.random() }
    }

    async fn carry_out(&mut self, effect: Effect, inputs: &mut VecDeque<Input>) {
        match effect {
            Effect::Record(record) => {
                if let Some(head) = self.audit_head_due(&record) {
                    self.record(&head, inputs).await;
                }
                self.record(&record, inputs).await;
            }
            Effect::Audit(draft) => self.audit(*draft).await,
            Effect::Tell(event) => self.relay(event).await,
            Effect::CallModel(request) => self.call_model(*request),
            Effect::CancelModel => self.cancel_model(),
            Effect::RetryAfter { ms } => self.retry_after(ms),
            Effect::Check { call, tool, arguments } => {
                inputs.push_back(Input::Checked { call, arguments: self.check(&tool, arguments) });
            }
            Effect::Ask(ask) => self.ask(*ask),
            Effect::Withdraw { call } => {
                if let Some(live) = &mut self.live {
                    live.asks.remove(&call);
                }
            }
            Effect::Grant { call, tool, arguments } => self.grant(call, &tool, &arguments).await,
            Effect::Run { call, tool, arguments } => self.run_tool(call, tool, arguments, inputs),
            Effect::CancelRun { call } => {
                if let Some(live) = &mut self.live {
                    live.loads.remove(&call);
                    if let Some(task) = live.tasks.remove(&call) {
                        task.abort();
                    }
                }
            }
            Effect::Load { call, toolset } => self.load(call, toolset, inputs),
            Effect::Delegate { .. }
            | Effect::Unread { .. }
            | Effect::Spawn(_)
            | Effect::Keep { .. }
            | Effect::Reply { .. } => {}
        }
    }

    /// Invariants 2 and 3.
    async fn record(&mut self, record: &Record, inputs: &mut VecDeque<Input>) {
        let store = Arc::clone(&self.setup.store);
        let (entry, now) = (self.entry.clone(), self.setup.surroundings.now());
        let Some(live) = &mut self.live else { return };
        if live.saving == Saving::Broken {
            return;
        }
        if let Record::TurnStarted { message, at, .. } = record {
            live.turn_started = Some(*at);
            live.first_words.get_or_insert_with(|| message.text.clone());
        }
        if let Err(error) = live.append(record, |id| store.create(id, &entry, now)) {
            live.saving = Saving::Broken;
            inputs.push_back(Input::Stop);
            let hint = error.hint.or_else(|| Some("Your next message starts from what was saved.".to_owned()));
            let sentence = format!("The conversation could not be saved, so the turn was stopped: {}", error.message);
            self.alert(Severity::Warning, sentence, hint).await;
        }
    }

    /// An event on its way out, and what the driver itself does at that point.
    async fn relay(&mut self, event: Event) {
        let ended = match &event {
            Event::End { end, .. } => Some(end.clone()),
            Event::Error { message, .. } => {
                tracing::warn!(%message, "the turn failed");
                None
            }
            _ => None,
        };
        self.tell(event).await;
        if let Some(end) = ended {
            if let Some(live) = &mut self.live {
                live.turn_started = None;
            }
            if matches!(end, TurnEnd::Answered | TurnEnd::WrappedUp) {
                self.title_if_new();
                self.ask_window();
            }
            self.report().await;
        }
    }

    pub(super) fn dispatching(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.saving == Saving::Whole)
    }

    fn call_model(&mut self, request: Request) {
        if !self.dispatching() {
            return;
        }
        let model = Arc::clone(&self.setup.model);
        let messages = self.messages.clone();
        let Some(generation) = self.next_generation() else { return };
        let task = spawn(async move {
            let send = |input| messages.send(Message::Model { generation, input });
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
        self.set_model_task(Some(task));
    }

    /// From here on nothing is heard of the model call or back-off before.
    fn next_generation(&mut self) -> Option<u64> {
        self.generations += 1;
        let live = self.live.as_mut()?;
        live.model_generation = self.generations;
        Some(self.generations)
    }

    fn set_model_task(&mut self, task: Option<AbortHandle>) {
        if let Some(live) = &mut self.live {
            live.model_task = task;
        }
    }

    fn cancel_model(&mut self) {
        self.next_generation();
        if let Some(task) = self.live.as_mut().and_then(|live| live.model_task.take()) {
            task.abort();
        }
    }

    fn retry_after(&mut self, ms: u64) {
        let messages = self.messages.clone();
        let Some(generation) = self.next_generation() else { return };
        let task = spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            let _gone = messages.send(Message::Retry { generation }).await;
        });
        self.set_model_task(Some(task));
    }

    fn check(&self, tool: &ToolId, given: serde_json::Value) -> Result<serde_json::Value, String> {
        let name = tool.name.as_str();
        match self.live.as_ref().and_then(|live| live.run.definition(tool)) {
            Some(definition) => arguments::check(name, &definition.schema, given),
            None => Err(format!("'{name}' is not here any more.")),
        }
    }

    async fn grant(&mut self, call: CallId, tool: &ToolId, arguments: &str) {
        if !self.dispatching() || self.is_unaudited(call) {
            return;
        }
        let Some(live) = &self.live else { return };
        let Some(held) = live.run.held().tools().iter().find(|held| held.id == *tool).cloned() else { return };
        let conversation = Arc::clone(&live.id);
        let facts = CallFacts {
            conversation: &conversation,
            agent: &self.entry,
            tool: &held,
            arguments,
            attendance: self.setup.attendance,
            sight: Sight::OnScreen,
            allow_line: None,
        };
        match self.setup.capabilities.world.grant(facts) {
            Ok(number) => self.audit_grant(number, tool, arguments).await,
            Err(sentence) => self.alert(Severity::Notice, sentence, None).await,
        }
        self.report().await;
    }

    fn run_tool(&mut self, call: CallId, tool: ToolId, arguments: serde_json::Value, inputs: &mut VecDeque<Input>) {
        if !self.dispatching() || self.stays_out(call, inputs) {
            return;
        }
        let messages = self.messages.clone();
        let context = CallContext {
            conversation: self.live.as_ref().map(|live| live.id.to_string()).unwrap_or_default(),
            agent: self.entry.to_string(),
            node: NodeId::ENTRY,
            agents: Agents::nobody(),
            now: self.setup.surroundings.now(),
        };
        let Some(live) = &mut self.live else { return };
        let Some(runnable) = live.tools.get(&tool).cloned() else {
            let text = format!("Tool '{}' is not here any more.", tool.name);
            inputs.push_back(Input::ToolEnded { call, outcome: failed(text) });
            return;
        };
        // O3: what runs is what was shown, also where its provider changed it since it was built.
        let shown = live.run.held().get(&tool).map(|held| held.digest.clone());
        if shown.is_none_or(|shown| shown != facts(runnable.spec()).digest) {
            let text = format!("{} changed since it was shown; a new conversation can call it as it is now", tool.name);
            inputs.push_back(Input::ToolEnded { call, outcome: failed(text) });
            return;
        }
        let conversation = Arc::clone(&live.id);
        let task = spawn(async move {
            let name = tool.name.clone();
            let outcome = match contained(async { runnable.call(arguments, context).await }).await {
                Ok(output) => ToolOutcome {
                    ending: match output.outcome {
                        Outcome::Ok => Ending::Ok,
                        Outcome::Failed => Ending::Failed,
                        Outcome::TimedOut => Ending::TimedOut,
                    },
                    text: output.text,
                    note: output.note,
                },
                Err(panic) => failed(format!("Tool '{name}' raised an error: {panic}")),
            };
            let _gone = messages.send(Message::Tool { conversation, call, outcome }).await;
        });
        live.tasks.insert(call, task);
    }

    fn load(&mut self, call: CallId, toolset: crate::access::ToolsetName, inputs: &mut VecDeque<Input>) {
        if !self.dispatching() || self.stays_out(call, inputs) {
            return;
        }
        let Some(live) = &mut self.live else { return };
        let Some(found) = self.setup.capabilities.toolsets.get(&toolset).cloned() else {
            inputs.push_back(Input::LoadEnded { call, result: Err("nothing installs it".to_owned()) });
            return;
        };
        let (services, limit) = (self.setup.capabilities.services.clone(), self.setup.capabilities.build_timeout);
        let (conversation, messages) = (Arc::clone(&live.id), self.messages.clone());
        live.loads.insert(call);
        // Not one of the call's tasks: a load whose caller is stopped is still judged by the hook, and held by nobody.
        spawn(async move {
            let result = build(found, services, limit).await;
            let _gone = messages.send(Message::Built { conversation, call, toolset, result }).await;
        });
    }

    pub(super) fn forget_task(&mut self, call: CallId) {
        if let Some(live) = &mut self.live {
            live.tasks.remove(&call);
        }
    }
}

fn failed(text: String) -> ToolOutcome {
    ToolOutcome { ending: Ending::Failed, text, note: None }
}
