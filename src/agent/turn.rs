//! A turn: its rounds, its cap, the nudge, the wrap-up, retries, and every way it ends.
//!
//! The calls of a round are worked off in `round.rs`; this file never looks into one.

use std::collections::{BTreeSet, VecDeque};

use super::call::{Call, CallId, CallState, text};
use super::effect::{Effect, TurnEnd};
use super::failure::{Trouble, backoff};
use super::input::{Input, MailKind, Moment};
use super::message::{
    AssistantMessage, CallKind, Delta, Failure, FailureKind, Message, Part, Request, Retry, StopReason, ToolChoice,
    Usage, UserMessage, UserOrigin,
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
    queued: VecDeque<Queued>,
    /// Addresses of the workers that run in the background for it (D7).
    background: Vec<String>,
    /// The answer that it has given already, if words that came later made one more round of it.
    answered: Option<TurnEnd>,
    pub phase: Phase,
}

/// Words that wait for a round.
#[derive(Debug, PartialEq, Eq)]
enum Queued {
    /// A person's.
    Person(String),
    /// Another agent's (D6, D7): of which kind, the bus's count, and the words behind the mark that says whose.
    Agent(MailKind, usize, String),
}

impl Turn {
    /// How many of what waits are such.
    fn waiting(&self, such: impl Fn(&Queued) -> bool) -> usize {
        self.queued.iter().filter(|queued| such(queued)).count()
    }

    /// Whether what waits would give a round: a person's words always do, those of agents while they may still extend the
    /// turn, so that two agents cannot keep each other going without end.
    fn goes_on(&self, max: u32) -> bool {
        let person = self.queued.iter().any(|queued| matches!(queued, Queued::Person(_)));
        person || (!self.queued.is_empty() && (self.refreshed < max || self.spent < max))
    }
}

/// What a turn is at.
#[derive(Debug)]
pub(super) enum Phase {
    /// A model call runs, or waits to be tried again.
    Model(Box<ModelCall>),
    /// The calls of a round are worked off.
    Round(Round),
    /// It has its end, and stays open for workers in the background (D7).
    Waiting(TurnEnd),
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
            Input::Mail { mail, kind, text } => self.mail(mail, kind, text),
            Input::Background { workers } => self.background(workers),
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
        if turn.waiting(|queued| matches!(queued, Queued::Person(_))) >= QUEUE_LIMIT {
            self.undelivered(&text, "too much already waits for the next round");
        } else {
            turn.queued.push_back(Queued::Person(text.clone()));
            self.run.narrow(only.as_ref());
            // On disk before they are seen to wait: the end of the program does not lose them.
            self.record(Record::Queued { at: self.moment.now, text: text.clone() });
            self.tell(Event::Queued { text });
            self.wake();
        }
    }

    /// What another agent sent joins at the next round, or ends unread. A worker's answer always has room: there is one of each.
    fn mail(&mut self, mail: usize, kind: MailKind, text: String) {
        let message = |queued: &Queued| matches!(queued, Queued::Agent(MailKind::Message, ..));
        match &mut self.run.turn {
            Some(turn) if kind == MailKind::Answer || turn.waiting(message) < QUEUE_LIMIT => {
                turn.queued.push_back(Queued::Agent(kind, mail, text));
            }
            Some(_) | None => return self.out.push(Effect::Unread { mail }),
        }
        self.wake();
    }

    /// A turn that waits for its workers is at a round's boundary already.
    fn wake(&mut self) {
        let max = self.run.spec.max_iterations.max(1);
        let Some(turn) = &self.run.turn else { return };
        if matches!(turn.phase, Phase::Waiting(_)) && turn.goes_on(max) {
            self.next_round();
        }
    }

    /// D7: the turn stays open until the last of them has ended.
    fn background(&mut self, workers: Vec<String>) {
        let Some(turn) = &mut self.run.turn else { return };
        turn.background = workers;
        if let (Phase::Waiting(end), true) = (&turn.phase, turn.background.is_empty()) {
            let end = end.clone();
            self.end_turn(end);
        }
    }

    fn start(&mut self, text: String, attendance: Attendance, only: Option<BTreeSet<ToolName>>) {
        self.run.narrow(only.as_ref());
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
        self.run.turn = Some(Turn {
            attendance,
            began: at,
            number: 0,
            spent: 0,
            refreshed: 0,
            queued: VecDeque::new(),
            background: Vec::new(),
            answered: None,
            phase: Phase::Round(round),
        });
        self.call_model(CallKind::Agent);
    }

    fn say(&mut self, text: String, origin: UserOrigin) {
        let message = UserMessage { text: text.clone(), origin };
        self.record(Record::Said { at: self.moment.now, message: message.clone() });
        self.tell(Event::Said { text, origin });
        self.run.history.push(Message::User(message));
    }

    fn undelivered(&mut self, text: &str, why: &str) {
        let message = format!("Your message was not delivered, because {why}: {}", opening(text));
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
            Phase::Round(_) | Phase::Waiting(_) => None,
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
                    self.run.failed_by = Some(failure.kind);
                    self.record_model(stream.words(), usage, Some(failure.clone()));
                    self.close(Trouble::Model(failure).end());
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
        let took_ms = took(call.started, now);
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
        self.run.failed_by = None;
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
        let (spent, waiting, answered) = (turn.spent, turn.goes_on(max), turn.answered.clone());
        let (empty, calls) = (message.text().trim().is_empty(), message.calls().next().is_some());
        let truncated = message.stop == Some(StopReason::Length);
        if let Some(StopReason::Refusal(why)) = message.stop {
            self.not_executed(text::declined);
            self.close(Trouble::Declined(why).end());
        } else if kind == CallKind::WrapUp {
            // It may call although it was told not to; nothing runs any more.
            self.not_executed(text::capped);
            self.close_round();
            match (empty, truncated) {
                (false, _) => self.finish(TurnEnd::WrappedUp),
                (true, true) => self.close(Trouble::Truncated.end()),
                (true, false) => self.close(Trouble::Empty.end()),
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
            self.close(Trouble::Truncated.end());
        } else if waiting {
            self.next_round();
        } else if let Some(end) = answered {
            // It had nothing to add to its answer.
            self.finish(end);
        } else if spent < max {
            self.say(prompt::NUDGE.to_owned(), UserOrigin::Continuation);
            self.call_model(CallKind::Agent);
        } else {
            self.close(Trouble::Empty.end());
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

    /// What was said meanwhile joins. It gives the turn a fresh budget, `max_iterations` times at most; after that a person's
    /// words give one more round, and those of agents none.
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
        } else if queued.iter().any(|queued| matches!(queued, Queued::Person(_))) {
            turn.spent = turn.spent.min(max - 1);
        }
        for queued in queued {
            match queued {
                Queued::Person(text) => self.say(text, UserOrigin::Person),
                Queued::Agent(_, _, text) => self.say(text, UserOrigin::Agent),
            }
        }
    }

    /// The turn has its answer. Words that still wait make one more round of it.
    fn finish(&mut self, end: TurnEnd) {
        let max = self.run.spec.max_iterations.max(1);
        if let Some(turn) = &mut self.run.turn {
            turn.answered = Some(end.clone());
        }
        if self.run.turn.as_ref().is_some_and(|turn| turn.goes_on(max)) {
            self.next_round();
        } else {
            self.close(end);
        }
    }

    /// The turn has its end: at once, or when its last worker in the background has ended (D7).
    fn close(&mut self, end: TurnEnd) {
        let Some(turn) = self.run.turn.as_ref().filter(|turn| !turn.background.is_empty()) else {
            return self.end_turn(end);
        };
        let workers = turn.background.clone();
        self.close_round();
        // It may go on yet, so this is not its end.
        if let TurnEnd::Failed { message, hint } = &end {
            self.alert(Severity::Warning, message.clone(), hint.clone());
        }
        if let Some(turn) = &mut self.run.turn {
            turn.phase = Phase::Waiting(end);
        }
        self.tell(Event::Waiting { workers });
        // What a person said meanwhile waits for nobody's end.
        self.wake();
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
        let only = self.run.conditions.allow.as_ref().map(|allow| allow.names().clone());
        self.run.conditions.allow.clone_from(&self.run.spec.conditions.allow);
        let mut words = Vec::new();
        for queued in turn.queued {
            match queued {
                Queued::Person(text) => words.push(text),
                Queued::Agent(_, mail, _) => self.out.push(Effect::Unread { mail }),
            }
        }
        // What a person said is part of this turn or begins the next, never both, never neither; after a stop, and where a
        // worker has no next turn, they are told that it was not read.
        let next = end.passes_words_on(self.run.spec.node) && !words.is_empty();
        if !next {
            let why = if self.run.spec.node.is_entry() || end != TurnEnd::Stopped {
                ended_by(&end)
            } else {
                "the agent was stopped"
            };
            for text in &words {
                self.undelivered(text, why);
            }
        }
        self.record(Record::TurnEnded { at: self.moment.now, end: end.clone() });
        if let TurnEnd::Failed { message, hint } = &end {
            self.tell(Event::Error { message: message.clone(), hint: hint.clone() });
        }
        self.tell(Event::End { end, took_ms: took(turn.began, self.moment.now) });
        if next {
            self.start(words.join("\n\n"), turn.attendance, only);
        }
    }
}

/// The words that tell a person which message is meant.
pub(super) fn opening(text: &str) -> String {
    let mut words: String = text.chars().take(200).collect();
    if words.len() < text.len() {
        words.push('…');
    }
    words
}

impl Run {
    /// W6: a list of what may be called only ever tightens, also where it comes with words that join.
    pub(super) fn narrow(&mut self, only: Option<&BTreeSet<ToolName>>) {
        let Some(names) = only else { return };
        let allow = self.conditions.allow.take();
        self.conditions.allow = Some(match allow {
            Some(allow) => allow.narrowed(names, &self.held),
            None => AllowList::new(names.clone(), &self.held),
        });
    }

    /// Whether this call of it runs.
    pub(super) fn runs(&self, id: CallId) -> bool {
        let Some(Turn { phase: Phase::Round(round), .. }) = &self.turn else { return false };
        round.calls.iter().any(|call| call.id == id && call.state == CallState::Running)
    }

    /// What goes on and stands in no record yet, as it was told: for a front end that comes back to it.
    pub(super) fn standing(&self, now: i64) -> Vec<Event> {
        let Some(turn) = &self.turn else { return Vec::new() };
        let mut events = Vec::new();
        match &turn.phase {
            Phase::Model(call) => {
                events.push(Event::Call(call_line(turn.number, call.kind, &call.offer, call.before.as_deref())));
                if let ModelState::Streaming(stream) = &call.state {
                    events.extend(stream.parts().iter().filter_map(|part| match part {
                        Part::Text { text } => Some(Event::Delta { text: text.clone() }),
                        Part::Reasoning(reasoning) => Some(Event::Reasoning { text: reasoning.text.clone() }),
                        Part::Call(_) => None,
                    }));
                }
            }
            Phase::Round(round) => {
                let runs = |call: &&super::call::Call| call.began.is_some() && !call.ended();
                events.extend(round.calls.iter().filter(runs).map(|call| Event::Running {
                    call: call.id,
                    for_ms: call.began.map_or(0, |began| took(began, now)),
                }));
            }
            Phase::Waiting(_) => events.push(Event::Waiting { workers: turn.background.clone() }),
        }
        events.extend(turn.queued.iter().filter_map(|queued| match queued {
            Queued::Person(text) => Some(Event::Queued { text: text.clone() }),
            Queued::Agent(..) => None,
        }));
        events
    }

    /// What it is at, in words for another agent.
    pub(super) fn doing(&self) -> String {
        let Some(turn) = &self.turn else { return "nothing".to_owned() };
        let names = |state: fn(&CallState) -> bool| match &turn.phase {
            Phase::Round(round) => {
                let calls = round.calls.iter().filter(|call| state(&call.state));
                calls.map(|call| self.shown(&call.wire)).collect::<Vec<_>>().join(", ")
            }
            Phase::Model(_) | Phase::Waiting(_) => String::new(),
        };
        let runs = names(|state| matches!(state, CallState::Running | CallState::Loading(_) | CallState::Joining(_)));
        let asks = names(|state| matches!(state, CallState::Asking(_) | CallState::Editing(_)));
        let mut words = vec![format!("model call {}", turn.number)];
        if !runs.is_empty() {
            words.push(format!("runs {}", crate::access::name::shown(&runs)));
        }
        if !asks.is_empty() {
            words.push(format!("waits for the user to allow {}", crate::access::name::shown(&asks)));
        }
        if matches!(turn.phase, Phase::Waiting(_)) {
            words.push(format!("has its answer and waits for {}", turn.background.join(", ")));
        }
        words.join(", ")
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
