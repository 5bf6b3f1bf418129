//! A turn: its rounds, its cap, the nudge, the wrap-up, retries, and every way it ends.
//!
//! The calls of a round are worked off in `round.rs`; this file never looks into one.

use std::collections::{BTreeSet, VecDeque};

use super::call::{Call, CallState, text};
use super::effect::{Effect, TurnEnd};
use super::failure::{Trouble, backoff};
use super::input::{Input, Moment};
use super::message::{
    AssistantMessage, CallKind, Delta, Failure, FailureKind, Message, Request, Retry, StopReason, ToolChoice, Usage,
    UserMessage, UserOrigin,
};
use super::prompt;
use super::record::{OfferRecord, Record};
use super::replay::{call_line, call_told, took};
use super::run::{Run, joins_history};
use super::stream::Stream;
use super::update::{Alert, Event, Severity};
use crate::access::{AllowList, Arrival, Attendance, HeldTool, ModeName, ToolName, Trigger, World, offer};

/// At most this many things said wait for a round.
pub const QUEUE_LIMIT: usize = 64;

/// One open turn.
#[derive(Debug)]
pub(super) struct Turn {
    /// Came with the message that started it, and stays.
    pub attendance: Attendance,
    /// When it began.
    began: i64,
    /// Model calls so far, the wrap-up included.
    number: u32,
    /// Model calls against the cap, since the turn began or a person's words last joined it.
    spent: u32,
    /// How often words that joined gave it a fresh budget; at most `max_iterations` times.
    refreshed: u32,
    /// Said meanwhile, for the next round.
    queued: VecDeque<String>,
    pub phase: Phase,
}

/// What a turn is at.
#[derive(Debug)]
pub(super) enum Phase {
    /// A model call runs, or waits to be tried again.
    Model(Box<ModelCall>),
    /// The calls of a round are worked off.
    Round(Round),
}

/// One model call, over all its tries.
#[derive(Debug)]
pub(super) struct ModelCall {
    kind: CallKind,
    /// Which try this is, from 1.
    attempt: u32,
    /// When this try began.
    started: i64,
    /// Indices of the held tools that it carries.
    kept: Vec<usize>,
    offer: OfferRecord,
    /// Toolsets of the agent's model call before, which it is compared with.
    before: Option<Vec<String>>,
    state: ModelState,
}

#[derive(Debug)]
enum ModelState {
    Streaming(Stream),
    /// A try failed; the next one is due.
    Waiting(Failure),
}

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Round {
    pub calls: Vec<Call>,
    /// The offer of the model call that made them.
    pub kept: Vec<usize>,
    /// Whether the answer joined the history, so that the results must, too.
    joins: bool,
}

/// One input being taken: what it may change, and the effects so far.
pub(super) struct Step<'a> {
    pub run: &'a mut Run,
    pub world: &'a mut World,
    pub moment: Moment,
    pub out: Vec<Effect>,
}

impl<'a> Step<'a> {
    pub(super) fn new(run: &'a mut Run, world: &'a mut World, moment: Moment) -> Self {
        Self { run, world, moment, out: Vec::new() }
    }

    pub(super) fn take(mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Said { text, attendance, only } => self.said(text, attendance, only),
            Input::Mode { mode } => self.mode(mode),
            Input::Delta(delta) => self.delta(delta),
            Input::ModelEnded(result) => self.model_ended(result),
            Input::RetryDue => self.retry_due(),
            Input::Checked { call, arguments } => self.checked(call, arguments),
            Input::Answered { call, answer } => self.answered(call, answer),
            Input::Edited { call, arguments } => self.edited(call, &arguments),
            Input::ToolEnded { call, outcome } => self.tool_ended(call, outcome),
            Input::LoadEnded { call, result } => self.load_ended(call, result),
            Input::KeptBack { call, why } => self.kept_back(call, &why),
            Input::Mail { .. } | Input::Background { .. } => {}
            Input::Stop => self.stop(TurnEnd::Stopped),
            Input::Leave => self.stop(TurnEnd::Interrupted),
        }
        self.out
    }

    pub(super) fn record(&mut self, record: Record) {
        self.out.push(Effect::Record(record));
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.out.push(Effect::Tell(event));
    }

    pub(super) fn alert(&mut self, severity: Severity, message: String, hint: Option<String>) {
        self.tell(Event::Alert(Alert { severity, message, hint }));
    }

    /// W3: from the next offer on, and at dispatch at once.
    fn mode(&mut self, mode: ModeName) {
        if self.run.conditions.mode.as_ref() == Some(&mode) {
            return;
        }
        self.run.conditions.mode = Some(mode.clone());
        if self.run.begun {
            self.note_mode();
        }
        self.tell(Event::Mode { mode });
    }

    /// Writes down the mode where the log says another, so that the conversation keeps it.
    fn note_mode(&mut self) {
        let Some(mode) = self.run.conditions.mode.clone().filter(|mode| *mode != self.run.noted_mode) else { return };
        self.run.noted_mode = mode.clone();
        self.audit_mode(&mode);
        self.record(Record::Mode { at: self.moment.now, mode });
    }

    fn said(&mut self, text: String, attendance: Attendance, only: Option<BTreeSet<ToolName>>) {
        if text.trim().is_empty() {
            return;
        }
        let Some(turn) = &mut self.run.turn else {
            self.start(text, attendance, only);
            return;
        };
        if turn.queued.len() >= QUEUE_LIMIT {
            self.undelivered(&text, "too much already waits for the next round");
        } else {
            turn.queued.push_back(text.clone());
            self.narrow(only);
            self.tell(Event::Queued { text });
        }
    }

    /// W6: a list of what may be called only ever tightens, also where it comes with words that join.
    fn narrow(&mut self, only: Option<BTreeSet<ToolName>>) {
        let Some(names) = only else { return };
        let allow = self.run.conditions.allow.take();
        self.run.conditions.allow = Some(match allow {
            Some(allow) => allow.narrowed(&names, &self.run.held),
            None => AllowList::new(names, &self.run.held),
        });
    }

    fn start(&mut self, text: String, attendance: Attendance, only: Option<BTreeSet<ToolName>>) {
        self.narrow(only);
        for toolset in std::mem::take(&mut self.run.unrecorded) {
            let of_it = |tool: &&HeldTool| tool.id.toolset() == Some(&toolset);
            let tools = self.run.held.tools().iter().filter(of_it).map(|tool| tool.id.name.clone()).collect();
            self.audit_load(None, &toolset, tools);
            self.record(Record::Preloaded { toolset: toolset.to_string() });
        }
        let at = self.moment.now;
        let message = UserMessage { text: text.clone(), origin: UserOrigin::Person };
        let agent = Some(self.run.spec.name.clone());
        self.record(Record::TurnStarted { at, attendance, agent: agent.clone(), message: message.clone() });
        self.run.begun = true;
        self.note_mode();
        self.tell(Event::TurnStarted { at, attendance, agent });
        self.tell(Event::Said { text, origin: UserOrigin::Person });
        self.run.history.push(Message::User(message));
        let round = Round { calls: Vec::new(), kept: Vec::new(), joins: false };
        let (queued, phase) = (VecDeque::new(), Phase::Round(round));
        self.run.turn = Some(Turn { attendance, began: at, number: 0, spent: 0, refreshed: 0, queued, phase });
        self.call_model(CallKind::Agent);
    }

    fn say(&mut self, text: String, origin: UserOrigin) {
        let message = UserMessage { text: text.clone(), origin };
        self.record(Record::Said { at: self.moment.now, message: message.clone() });
        self.tell(Event::Said { text, origin });
        self.run.history.push(Message::User(message));
    }

    fn undelivered(&mut self, text: &str, why: &str) {
        let mut words: String = text.chars().take(200).collect();
        if words.len() < text.len() {
            words.push('…');
        }
        let message = format!("Your message was not delivered, because {why}: {words}");
        self.alert(Severity::Warning, message, Some("Say it again when you want it read.".to_owned()));
    }

    /// Asks the model: the offer of this instant, the whole history, the fixed system message.
    fn call_model(&mut self, kind: CallKind) {
        let Some(turn) = &mut self.run.turn else { return };
        turn.number += 1;
        if kind == CallKind::Agent {
            turn.spent += 1;
        }
        let number = turn.number;
        let (kept, offer) = self.offer(number);
        let before = self.run.last_toolsets.take();
        let line = call_line(number, kind, &offer, before.as_deref());
        self.run.last_toolsets = Some([offer.resident.clone(), offer.loaded.clone()].concat());
        let request = request(self.run, kind, &kept);
        if let Some(turn) = &mut self.run.turn {
            turn.phase = Phase::Model(Box::new(ModelCall {
                kind,
                attempt: 1,
                started: self.moment.now,
                kept,
                offer,
                before,
                state: ModelState::Streaming(Stream::default()),
            }));
        }
        self.tell(Event::Call(line));
        self.out.push(Effect::CallModel(Box::new(request)));
    }

    /// What model call `number` carries at this instant, and what is kept of it.
    fn offer(&mut self, number: u32) -> (Vec<usize>, OfferRecord) {
        let run = &mut *self.run;
        run.conditions.triggers = Trigger::holding(run.user_messages());
        let offer = offer(self.world, run.life());
        let tools = run.held.tools();
        let toolsets = |loaded: bool| {
            let of = run.held.toolsets().filter(move |(_, arrival)| (*arrival == Arrival::Loaded) == loaded);
            of.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        let ledger = (run.last_ledger.as_ref() != Some(&offer.ledger)).then(|| offer.ledger.clone());
        let record = OfferRecord {
            tools: offer.kept.len(),
            tool_bytes: offer.kept.iter().filter_map(|index| tools.get(*index)).map(|tool| tool.bytes).sum(),
            resident: toolsets(false),
            loaded: toolsets(true),
            ledger,
        };
        if record.ledger.is_some() {
            self.audit_withheld(number, &offer.ledger);
        }
        self.run.last_ledger = Some(offer.ledger);
        (offer.kept, record)
    }

    fn model_call(&mut self) -> Option<&mut ModelCall> {
        match &mut self.run.turn.as_mut()?.phase {
            Phase::Model(call) => Some(call),
            Phase::Round(_) => None,
        }
    }

    fn delta(&mut self, delta: Delta) {
        let Some(ModelState::Streaming(stream)) = self.model_call().map(|call| &mut call.state) else { return };
        let told = match &delta {
            Delta::Text { text } if !text.is_empty() => Some(Event::Delta { text: text.clone() }),
            Delta::Reasoning { text } if !text.is_empty() => Some(Event::Reasoning { text: text.clone() }),
            _ => None,
        };
        let writes = match &delta {
            Delta::CallStart { index, .. } | Delta::CallArguments { index, .. } => Some(*index),
            _ => None,
        };
        if let Err(bound) = stream.push(delta) {
            self.out.push(Effect::CancelModel);
            return self.model_ended(Err(Failure {
                kind: FailureKind::Malformed,
                message: bound.to_string(),
                hint: Some("Ask for less at once.".to_owned()),
                retry: Retry::Never,
            }));
        }
        let writing = writes.and_then(|index| stream.writing(index));
        let writing = writing.map(|(wire, bytes)| Event::Writing { tool: self.run.shown(&wire), bytes });
        self.out.extend(told.or(writing).map(Effect::Tell));
    }

    fn model_ended(&mut self, result: Result<(), Failure>) {
        let (random, attempts) = (self.moment.random, self.run.spec.max_attempts);
        let Some(call) = self.model_call() else { return };
        let ModelState::Streaming(stream) = &mut call.state else { return };
        match result {
            Ok(()) => {
                let stream = std::mem::take(stream);
                self.model_answered(stream);
            }
            Err(failure) => match failure.retry {
                Retry::Backoff { at_least_ms } if call.attempt < attempts => {
                    let ms = backoff(call.attempt, at_least_ms, random);
                    call.attempt += 1;
                    let (message, attempt) = (failure.message.clone(), call.attempt);
                    call.state = ModelState::Waiting(failure);
                    self.tell(Event::Retrying { message, ms, attempt });
                    self.out.push(Effect::RetryAfter { ms });
                }
                Retry::Backoff { .. } | Retry::Never => {
                    let stream = std::mem::take(stream);
                    let usage = stream.usage();
                    self.record_model(stream.words(), usage, Some(failure.clone()));
                    self.end_turn(Trouble::Model(failure).end());
                }
            },
        }
    }

    /// The next try carries what holds now: while it waited, a switch or the mode may have changed.
    fn retry_due(&mut self) {
        let now = self.moment.now;
        let Some(turn) = &self.run.turn else { return };
        let Phase::Model(call) = &turn.phase else { return };
        if !matches!(call.state, ModelState::Waiting(_)) {
            return;
        }
        let (number, kind, before) = (turn.number, call.kind, call.before.clone());
        let (kept, offer) = self.offer(number);
        let request = request(self.run, kind, &kept);
        let Some(call) = self.model_call() else { return };
        call.state = ModelState::Streaming(Stream::default());
        call.started = now;
        call.kept = kept;
        // A ledger that did not change stands already.
        if offer.ledger.is_some() {
            call.offer = offer.clone();
            self.tell(Event::Call(call_line(number, kind, &offer, before.as_deref())));
        }
        self.out.push(Effect::CallModel(Box::new(request)));
    }

    /// Records an ended model call and tells it: tokens, then its calls.
    fn record_model(&mut self, message: AssistantMessage, usage: Usage, failure: Option<Failure>) {
        let now = self.moment.now;
        let Some(turn) = &mut self.run.turn else { return };
        let Phase::Model(call) = &turn.phase else { return };
        let number = turn.number;
        let took_ms = u64::try_from(now.saturating_sub(call.started)).unwrap_or(0);
        let (kind, offer) = (call.kind, call.offer.clone());
        let told: Vec<_> = message.calls().map(call_told).collect();
        if joins_history(&message, failure.as_ref()) {
            self.run.history.push(Message::Assistant(message.clone()));
        }
        self.record(Record::ModelCall { at: now, number, kind, message, offer, usage, took_ms, failure });
        self.tell(Event::Usage { number, usage, took_ms });
        self.out.extend(told.into_iter().map(Effect::Tell));
    }

    /// Turns a finished stream into a recorded answer whose calls are open.
    fn close_model(&mut self, stream: Stream, stopped: bool) -> Option<(CallKind, AssistantMessage)> {
        let usage = stream.usage();
        let mut next = self.run.next_call;
        let mut message = stream.finish(&mut next, |wire| (self.run.shown(wire), self.run.risk(wire)));
        self.run.next_call = next;
        if stopped {
            message.stop = None;
        } else if message.stop.is_none() {
            // No reason to stop is the mark of a stopped answer; this one ended by itself.
            message.stop = Some(if message.calls().next().is_some() { StopReason::Calls } else { StopReason::End });
        }
        self.record_model(message.clone(), usage, None);
        let cut = message.stop == Some(StopReason::Length);
        let count = message.calls().count();
        let calls = message.calls().enumerate().map(|(index, call)| Call {
            id: call.id,
            wire: call.wire.clone(),
            raw: call.arguments.clone(),
            cut: cut && index + 1 == count && call.arguments.trim().is_empty(),
            tool: self.run.held.tools().iter().position(|held| held.wire.as_str() == call.wire),
            state: CallState::Waiting,
            answer: None,
            gate: None,
            canonical: None,
            asked: None,
            edited: None,
            began: None,
        });
        let calls = calls.collect();
        let turn = self.run.turn.as_mut()?;
        let Phase::Model(ended) = &mut turn.phase else { return None };
        let (kind, kept) = (ended.kind, std::mem::take(&mut ended.kept));
        turn.phase = Phase::Round(Round { calls, kept, joins: joins_history(&message, None) });
        Some((kind, message))
    }

    fn model_answered(&mut self, stream: Stream) {
        let max = self.run.spec.max_iterations.max(1);
        let Some((kind, message)) = self.close_model(stream, false) else { return };
        let Some(turn) = &self.run.turn else { return };
        let (spent, waiting) = (turn.spent, !turn.queued.is_empty());
        let (empty, calls) = (message.text().trim().is_empty(), message.calls().next().is_some());
        let truncated = message.stop == Some(StopReason::Length);
        if let Some(StopReason::Refusal(why)) = message.stop {
            self.not_executed(text::declined);
            self.end_turn(Trouble::Declined(why).end());
        } else if kind == CallKind::WrapUp {
            // It may call although it was told not to; nothing runs any more.
            self.not_executed(text::capped);
            self.close_round();
            match (empty, truncated) {
                (false, _) => self.finish(TurnEnd::WrappedUp),
                (true, true) => self.end_turn(Trouble::Truncated.end()),
                (true, false) => self.end_turn(Trouble::Empty.end()),
            }
        } else if calls {
            // Words that wait give a fresh budget at the boundary, so they lift the cap.
            if spent >= max && !waiting {
                self.not_executed(text::capped);
                self.close_round();
                self.say(prompt::WRAP_UP.to_owned(), UserOrigin::FinalAnswer);
                self.call_model(CallKind::WrapUp);
            } else {
                self.advance();
            }
        } else if !empty {
            if truncated {
                let hint = Some("Ask it to go on, or allow it more output tokens.".to_owned());
                self.alert(Severity::Notice, "The answer stops where the output limit came.".to_owned(), hint);
            }
            self.finish(TurnEnd::Answered);
        } else if truncated {
            self.end_turn(Trouble::Truncated.end());
        } else if waiting {
            self.deliver();
            self.call_model(CallKind::Agent);
        } else if spent < max {
            self.say(prompt::NUDGE.to_owned(), UserOrigin::Continuation);
            self.call_model(CallKind::Agent);
        } else {
            self.end_turn(Trouble::Empty.end());
        }
    }

    /// Every call of a round has its ending: what was said joins, and the model is asked again.
    pub(super) fn next_round(&mut self) {
        self.close_round();
        self.deliver();
        self.call_model(CallKind::Agent);
    }

    /// The round's results join the history in call order.
    fn close_round(&mut self) {
        let Some(Turn { phase: Phase::Round(round), .. }) = &mut self.run.turn else { return };
        let joins = round.joins;
        for call in std::mem::take(&mut round.calls) {
            if let CallState::Ended(result) = call.state
                && joins
            {
                self.run.history.push(Message::Result(result));
            }
        }
    }

    /// What a person said meanwhile joins. It gives the turn a fresh budget, `max_iterations` times at most; after that
    /// one more round.
    fn deliver(&mut self) {
        let max = self.run.spec.max_iterations.max(1);
        let Some(turn) = &mut self.run.turn else { return };
        let queued = std::mem::take(&mut turn.queued);
        if queued.is_empty() {
            return;
        }
        if turn.refreshed < max {
            turn.refreshed += 1;
            turn.spent = 0;
        } else {
            turn.spent = turn.spent.min(max - 1);
        }
        for text in queued {
            self.say(text, UserOrigin::Person);
        }
    }

    /// The turn has its answer. Words that still wait make one more round of it.
    fn finish(&mut self, end: TurnEnd) {
        if self.run.turn.as_ref().is_some_and(|turn| !turn.queued.is_empty()) {
            self.deliver();
            self.call_model(CallKind::Agent);
        } else {
            self.end_turn(end);
        }
    }

    fn stop(&mut self, end: TurnEnd) {
        let Some(turn) = &mut self.run.turn else { return };
        if let Phase::Model(call) = &mut turn.phase {
            let state = std::mem::replace(&mut call.state, ModelState::Streaming(Stream::default()));
            self.out.push(Effect::CancelModel);
            match state {
                ModelState::Streaming(stream) => {
                    self.close_model(stream, true);
                }
                // The words of the failed try are already void on screen.
                ModelState::Waiting(failure) => {
                    self.record_model(AssistantMessage::default(), Usage::default(), Some(failure));
                }
            }
        }
        self.interrupt(&end);
        self.close_round();
        self.end_turn(end);
    }

    fn end_turn(&mut self, end: TurnEnd) {
        self.close_round();
        let Some(turn) = self.run.turn.take() else { return };
        self.run.conditions.allow.clone_from(&self.run.spec.conditions.allow);
        let why = ended_by(&end);
        for text in turn.queued {
            self.undelivered(&text, why);
        }
        self.record(Record::TurnEnded { at: self.moment.now, end: end.clone() });
        if let TurnEnd::Failed { message, hint } = &end {
            self.tell(Event::Error { message: message.clone(), hint: hint.clone() });
        }
        self.tell(Event::End { end, took_ms: took(turn.began, self.moment.now) });
    }
}

/// What an end says of what was still open.
pub(super) fn ended_by(end: &TurnEnd) -> &'static str {
    match end {
        TurnEnd::Stopped => "the turn was stopped",
        TurnEnd::Interrupted => "the program ended",
        TurnEnd::Failed { .. } => "the turn failed",
        TurnEnd::Answered | TurnEnd::WrappedUp => "the turn ended",
    }
}

fn request(run: &Run, kind: CallKind, kept: &[usize]) -> Request {
    Request {
        kind,
        system: run.system.clone(),
        messages: run.history.clone(),
        tools: kept.iter().filter_map(|index| run.definitions.get(*index)).cloned().collect(),
        // O10: the same list, tools off.
        tool_choice: if kind == CallKind::Agent { ToolChoice::Auto } else { ToolChoice::None },
    }
}
