//! A round: the calls of one answer, each from the model's words through check, gate and dispatch to its one ending.
//!
//! Every rule is asked of access; nothing here decides what may run.

use serde_json::Value;

use super::call::{Call, CallId, CallState, Ending, canonical, edited_result, parse_arguments, text};
use super::effect::{Ask, Author, Effect, TurnEnd};
use super::input::{LoadedToolset, ToolOutcome};
use super::loaders;
use super::message::ResultMessage;
use super::node::Ground;
use super::record::Record;
use super::replay::took;
use super::turn::{Phase, Round, Step, ended_by};
use super::update::{Event, Severity};
use crate::access::planted::{Bug, planted};
use crate::access::{
    Answer, Arrival, AskReason, Attendance, CallFacts, Decision, HeldTool, Owner, ToolsetName, answers,
};

impl Step<'_> {
    fn round(&mut self) -> Option<&mut Round> {
        match &mut self.run.turn.as_mut()?.phase {
            Phase::Round(round) => Some(round),
            Phase::Model(_) | Phase::Waiting(_) => None,
        }
    }

    pub(super) fn call(&mut self, index: usize) -> Option<&mut Call> {
        self.round()?.calls.get_mut(index)
    }

    /// The place of a call of this round.
    pub(super) fn place(&mut self, id: CallId) -> Option<usize> {
        self.round()?.calls.iter().position(|call| call.id == id)
    }

    pub(super) fn held_tool(&mut self, index: usize) -> Option<HeldTool> {
        let tool = self.call(index)?.tool?;
        self.run.held.tools().get(tool).cloned()
    }

    pub(super) fn attendance(&self) -> Attendance {
        self.run.turn.as_ref().map_or(Attendance::Unattended, |turn| turn.attendance)
    }

    /// Begins what may begin: every call when they run together, else the next one when the one before has ended. Goes on
    /// to the next round when every call has its ending.
    pub(super) fn advance(&mut self) {
        let together = self.run.spec.concurrent_tools;
        loop {
            let Some(round) = self.round() else { return };
            if round.calls.iter().all(Call::ended) {
                self.next_round();
                return;
            }
            let next = round.calls.iter().position(|call| call.state == CallState::Waiting);
            let busy = round.calls.iter().any(|call| call.state != CallState::Waiting && !call.ended());
            match next {
                Some(index) if together || !busy => self.begin(index),
                _ => return,
            }
        }
    }

    /// First two questions that need no driver: are the arguments an object, and is the name held (A12)?
    fn begin(&mut self, index: usize) {
        let Some(call) = self.call(index) else { return };
        let (id, wire) = (call.id, call.wire.clone());
        let parsed = if call.cut {
            Err("the model ran out of output tokens before it wrote them".to_owned())
        } else {
            parse_arguments(&call.raw)
        };
        let arguments = match parsed {
            Ok(arguments) => Value::Object(arguments),
            Err(why) => return self.end(index, Ending::InvalidArguments, text::invalid_arguments(&wire, &why), None),
        };
        if let Some(tool) = self.held_tool(index) {
            if let Some(call) = self.call(index) {
                call.state = CallState::Checking;
            }
            self.out.push(Effect::Check { call: id, tool: tool.id, arguments });
        } else {
            let kept = self.round().map(|round| round.kept.clone()).unwrap_or_default();
            let held = &self.run.held;
            let offered: Vec<_> = kept.iter().filter_map(|place| held.tools().get(*place)).collect();
            let text = self.world.unknown_tool(self.run.life(), &offered, &wire);
            self.end(index, Ending::Unknown, text, None);
        }
    }

    /// The driver checked the arguments: the gate is next.
    pub(super) fn checked(&mut self, id: CallId, arguments: Result<Value, String>) {
        let Some(index) = self.place(id) else { return };
        match self.call(index).map(|call| call.state.clone()) {
            Some(CallState::Checking) => {}
            Some(CallState::Editing(ask)) => {
                self.edit_checked(index, *ask, arguments);
                return self.advance();
            }
            _ => return,
        }
        match arguments {
            Ok(arguments) => self.gate(index, arguments),
            Err(text) => self.end(index, Ending::InvalidArguments, text, None),
        }
        self.advance();
    }

    /// A person changed what a card asks: the driver checks it as it checked the model's (P16).
    pub(super) fn edited(&mut self, id: CallId, arguments: &str) {
        let Some(index) = self.place(id) else { return };
        let Some(call) = self.call(index) else { return };
        let CallState::Asking(ask) = &call.state else { return };
        match parse_arguments(arguments) {
            Ok(arguments) => {
                let (ask, tool) = (ask.clone(), ask.tool.clone());
                call.state = CallState::Editing(ask);
                self.out.push(Effect::Check { call: id, tool, arguments: Value::Object(arguments) });
            }
            Err(why) => {
                let ask = ask.clone();
                self.out.push(Effect::Ask(ask));
                self.not_taken(&why);
            }
        }
    }

    /// The check of a person's change. Whatever comes of it, the card is shown anew, and only that showing is answered: with
    /// the change, or as it was.
    fn edit_checked(&mut self, index: usize, ask: Ask, checked: Result<Value, String>) {
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(why) => {
                self.not_taken(&why);
                ask.arguments.clone()
            }
        };
        let Some(tool) = self.held_tool(index) else { return };
        if let Some(refusal) = self.world.dispatch(self.run.life(), &tool.id, &tool.digest) {
            self.out.push(Effect::Withdraw { call: ask.call });
            return self.end(index, Ending::Refused, refusal, None);
        }
        let Some(call) = self.call(index) else { return };
        call.canonical = Some(canonical(&arguments));
        let own = call.asked.as_ref().is_some_and(|asked| canonical(asked) == canonical(&arguments));
        let author = if own { Author::Model } else { Author::Person };
        let ask = Box::new(Ask { arguments, author, ..ask });
        call.state = CallState::Asking(ask.clone());
        self.out.push(Effect::Ask(ask));
    }

    fn not_taken(&mut self, why: &str) {
        let hint = Some("The card stands as it was; edit it again to correct your change.".to_owned());
        self.alert(Severity::Notice, format!("Your change to the call was not taken: {why}"), hint);
    }

    /// Offer before approval: nobody is asked about what cannot run. Then P1's order up to the card.
    fn gate(&mut self, index: usize, arguments: Value) {
        let Some(tool) = self.held_tool(index) else { return };
        if let Some(refusal) = self.world.dispatch(self.run.life(), &tool.id, &tool.digest) {
            return self.end(index, Ending::Refused, refusal, None);
        }
        let canonical = canonical(&arguments);
        if let Some(call) = self.call(index) {
            call.canonical = Some(canonical.clone());
        }
        let facts = CallFacts {
            conversation: &self.run.spec.conversation,
            agent: &self.run.spec.name,
            tool: &tool,
            arguments: &canonical,
            attendance: self.attendance(),
            sight: self.run.sight,
            allow_line: None,
        };
        let decision = self.world.decide(facts);
        if let Some(call) = self.call(index) {
            call.gate = decision.gate().cloned();
        }
        match decision {
            Decision::Run => self.dispatch(index, &tool, arguments),
            Decision::RunAnswered(_, answer) => {
                self.answer(index, answer);
                self.dispatch(index, &tool, arguments);
            }
            // P1: the user where no reviewer approves, and there is none to ask yet.
            Decision::Ask(reason) | Decision::Review(reason) => self.ask(index, &tool, arguments, reason),
            Decision::AutoDenied(_, answer) => self.denied(index, answer),
            Decision::Unresolved(sentence) => self.end(index, Ending::Refused, sentence, None),
        }
    }

    fn ask(&mut self, index: usize, tool: &HeldTool, arguments: Value, reason: AskReason) {
        let grantable = self.world.ungrantable(&self.run.spec.name, &tool.id).is_none();
        let chain = self.run.spec.chain().collect();
        let Some(call) = self.call(index) else { return };
        let (id, tool, risk, author) = (call.id, tool.id.clone(), tool.risk, Author::Model);
        call.asked = Some(arguments.clone());
        let ask = Box::new(Ask { call: id, chain, tool, risk, arguments, author, reason, grantable });
        call.state = CallState::Asking(ask.clone());
        self.out.push(Effect::Ask(ask));
    }

    fn answer(&mut self, index: usize, answer: Answer) {
        self.audit_answer(index, &answer);
        let Some(call) = self.call(index) else { return };
        call.answer = Some(answer.clone());
        let edited = match &call.state {
            CallState::Asking(ask) if ask.author == Author::Person => Some(ask.arguments.clone()),
            _ => None,
        };
        let id = call.id;
        if answer.allows() {
            call.edited.clone_from(&edited);
            let at = self.moment.now;
            self.record(Record::Allowed { at, call: id, answer: answer.clone(), arguments: edited.clone() });
            self.out.extend(edited.map(|arguments| Effect::Tell(Event::Edited { call: id, arguments })));
        }
        self.tell(Event::Answer { call: id, answer });
    }

    /// A card was answered. Only its own call moves (P14).
    pub(super) fn answered(&mut self, id: CallId, answer: Answer) {
        let Some(index) = self.place(id) else { return };
        let Some(tool) = self.held_tool(index) else { return };
        let Some(call) = self.call(index) else { return };
        let CallState::Asking(ask) = &call.state else { return };
        let (arguments, grantable) = (ask.arguments.clone(), ask.grantable);
        match answer {
            Answer::AllowedOnce => {
                self.answer(index, answer);
                self.dispatch(index, &tool, arguments);
            }
            Answer::AllowedForConversation if grantable => {
                self.answer(index, answer);
                let arguments_text = canonical(&arguments);
                self.out.push(Effect::Grant { call: id, tool: tool.id.clone(), arguments: arguments_text });
                self.dispatch(index, &tool, arguments);
            }
            // P16: no grant for this tool, so the answer reaches no further than this call.
            Answer::AllowedForConversation => {
                self.answer(index, Answer::AllowedOnce);
                self.dispatch(index, &tool, arguments);
            }
            // These are found by access when it decides. Nobody gives them to a card.
            Answer::AllowedByGrant { .. }
            | Answer::AllowedByFlag { .. }
            | Answer::AllowedByLine { .. }
            | Answer::ReviewerApproved { .. } => return,
            Answer::Denied
            | Answer::DeniedWithReason { .. }
            | Answer::AutoDenied { .. }
            | Answer::Expired
            | Answer::Withdrawn
            | Answer::Interrupted => self.denied(index, answer),
        }
        self.advance();
    }

    /// An answer that lets nothing run.
    fn denied(&mut self, index: usize, answer: Answer) {
        let Some(call) = self.call(index) else { return };
        let wire = call.wire.clone();
        let (ending, text) = match &answer {
            Answer::DeniedWithReason { reason } | Answer::AutoDenied { reason } => {
                (Ending::NotAllowed, text::not_approved(&wire, Some(reason)))
            }
            Answer::Expired => (Ending::NotAllowed, text::expired(&wire)),
            Answer::Withdrawn => (Ending::Interrupted, text::unanswered(&wire, "the question was withdrawn")),
            Answer::Interrupted => (Ending::Interrupted, text::unanswered(&wire, "the program ended")),
            _ => (Ending::NotAllowed, text::not_approved(&wire, None)),
        };
        self.answer(index, answer);
        self.end(index, ending, text, None);
    }

    /// The re-check of axis 5 at the instant it runs (O3), then it runs.
    fn dispatch(&mut self, index: usize, tool: &HeldTool, arguments: Value) {
        let refusal = self.world.dispatch(self.run.life(), &tool.id, &tool.digest);
        if let Some(refusal) = refusal.filter(|_| !planted(Bug::TrustsTheCard)) {
            return self.end(index, Ending::Refused, refusal, None);
        }
        self.audit_dispatch(index);
        let now = self.moment.now;
        let Some(call) = self.call(index) else { return };
        call.began = Some(now);
        call.state = CallState::Running;
        let id = call.id;
        if tool.id.owner == Owner::Core {
            return self.core(index, tool, &arguments);
        }
        self.tell(Event::Running { call: id, for_ms: 0 });
        self.out.push(Effect::Run { call: id, tool: tool.id.clone(), arguments });
    }

    /// The core tools, answered here.
    fn core(&mut self, index: usize, tool: &HeldTool, arguments: &Value) {
        let word = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        match tool.id.name.as_str() {
            loaders::LOAD_TOOLS => self.load(index, &word("name")),
            loaders::AVAILABLE_TOOLS => {
                let text = self.world.available_tools(self.run.life(), &word("filter"));
                self.end(index, Ending::Ok, text, None);
            }
            loaders::SPAWN_SUBAGENT => self.spawn(index, &word("agent_type"), &word("task"), arguments),
            name => self.end(index, Ending::Failed, format!("Tool '{name}' has no implementation."), None),
        }
    }

    /// D1: hands the task over to the tree, or says why not.
    fn spawn(&mut self, index: usize, agent_type: &str, task: &str, arguments: &Value) {
        let background = arguments.get("background").and_then(Value::as_bool).unwrap_or_default();
        let family = arguments.get("family").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
        let family = family.map(ToolsetName::new);
        let agent = match self.world.may_spawn(self.run.life(), agent_type, family.as_ref()) {
            Ok(agent) => agent,
            Err(text) => return self.end(index, Ending::Failed, text, None),
        };
        let refusal = if task.is_empty() {
            Some("A sub-agent needs a task: it sees nothing of this conversation but that.")
        } else if background && self.attendance() == Attendance::Unattended {
            Some("Nobody is at this turn, so no worker of it runs in the background. Spawn it without `background`.")
        } else {
            None
        };
        if let Some(text) = refusal {
            return self.end(index, Ending::Failed, text.to_owned(), None);
        }
        let ground = if background { Ground::Background } else { Ground::Foreground };
        let Some(call) = self.call(index).map(|call| call.id) else { return };
        self.tell(Event::Running { call, for_ms: 0 });
        self.out.push(Effect::Delegate { call, agent, task: task.to_owned(), family, ground });
    }

    /// R5–R10: one build per name, however many calls ask for it.
    fn load(&mut self, index: usize, name: &str) {
        let toolset = match self.world.may_load(self.run.life(), name) {
            Ok(toolset) => toolset,
            Err(text) => {
                // R9: asking for what is held changes nothing and is no fault.
                let is_held = self.run.held.arrival(&ToolsetName::new(name)).is_some();
                return self.end(index, if is_held { Ending::Ok } else { Ending::Failed }, text, None);
            }
        };
        let building = self
            .round()
            .is_some_and(|round| round.calls.iter().any(|call| call.state == CallState::Loading(toolset.clone())));
        let Some(call) = self.call(index) else { return };
        let id = call.id;
        if building {
            call.state = CallState::Joining(toolset);
            self.tell(Event::Running { call: id, for_ms: 0 });
        } else {
            call.state = CallState::Loading(toolset.clone());
            self.tell(Event::Running { call: id, for_ms: 0 });
            self.out.push(Effect::Load { call: id, toolset });
        }
    }

    /// A build ended: its call and those that joined it get their answers.
    pub(super) fn load_ended(&mut self, id: CallId, result: Result<LoadedToolset, String>) {
        let Some(index) = self.place(id) else { return };
        let Some(CallState::Loading(toolset)) = self.call(index).map(|call| call.state.clone()) else { return };
        let result = result.and_then(|build| {
            if build.toolset == toolset { Ok(build) } else { Err(format!("its build is called '{}'", build.toolset)) }
        });
        match result {
            Ok(build) => {
                let event = self.call(index).map(|call| call.id.to_string());
                let outcome = self.run.hold(&build, Arrival::Loaded, event);
                let text = answers::loaded(&toolset, &self.run.held, &outcome, build.guidance.as_deref());
                let note = loaders::loaded_note(&self.run.held, &outcome);
                let held = self.run.held.tools();
                let added = outcome.added.iter().filter_map(|index| held.get(*index)).map(|tool| tool.id.name.clone());
                let added = added.collect();
                self.audit_load(Some(id), &toolset, added);
                self.end(index, Ending::Loaded { toolset: toolset.to_string() }, text, Some(note));
                let again = self.world.may_load(self.run.life(), toolset.as_str());
                let again = again.err().unwrap_or_else(|| format!("'{toolset}' is already loaded."));
                self.end_joined(&toolset, &Ending::Ok, &again);
            }
            Err(error) => {
                let text = answers::could_not_load(&toolset, &error);
                self.audit_load_failed(id, &toolset, &error);
                self.end(index, Ending::Failed, text.clone(), None);
                self.end_joined(&toolset, &Ending::Failed, &text);
                let again = self.world.may_load(self.run.life(), toolset.as_str()).is_ok();
                let hint = if again {
                    "It stays loadable: ask for it again once the cause is gone."
                } else {
                    "It stays out until that is fixed and kokua is started again."
                };
                let message = format!("{} could not load '{toolset}': {error}", self.run.spec.name);
                self.alert(Severity::Warning, message, Some(hint.to_owned()));
            }
        }
        self.advance();
    }

    pub(super) fn end_joined(&mut self, toolset: &ToolsetName, ending: &Ending, text: &str) {
        let joined = CallState::Joining(toolset.clone());
        let places: Vec<_> = self.round().map_or_else(Vec::new, |round| {
            round.calls.iter().enumerate().filter(|(_, call)| call.state == joined).map(|(place, _)| place).collect()
        });
        for place in places {
            self.end(place, ending.clone(), text.to_owned(), None);
        }
    }

    /// A running tool answered.
    pub(super) fn tool_ended(&mut self, id: CallId, outcome: ToolOutcome) {
        let Some(index) = self.place(id) else { return };
        if self.call(index).is_none_or(|call| call.state != CallState::Running) {
            return;
        }
        let ending = match outcome.ending {
            ending @ (Ending::Ok | Ending::TimedOut) => ending,
            _ => Ending::Failed,
        };
        self.end(index, ending, outcome.text, outcome.note);
        self.advance();
    }

    /// Ends every open call of the round without running it.
    pub(super) fn not_executed(&mut self, text: fn(&str) -> String) {
        for index in 0..self.round().map_or(0, |round| round.calls.len()) {
            if let Some(wire) = self.call(index).filter(|call| !call.ended()).map(|call| call.wire.clone()) {
                self.end(index, Ending::NotExecuted, text(&wire), None);
            }
        }
    }

    /// A stop, or the program's end: cards go, running tools and builds are dropped, and every open call ends as
    /// interrupted.
    pub(super) fn interrupt(&mut self, end: &TurnEnd) {
        let why = ended_by(end);
        let unanswered = if *end == TurnEnd::Interrupted { Answer::Interrupted } else { Answer::Withdrawn };
        for index in 0..self.round().map_or(0, |round| round.calls.len()) {
            let Some(call) = self.call(index).filter(|call| !call.ended()) else { continue };
            if planted(Bug::DropsJoined) && matches!(call.state, CallState::Joining(_)) {
                continue;
            }
            let (id, wire) = (call.id, call.wire.clone());
            let text = match call.state {
                CallState::Asking(_) | CallState::Editing(_) => {
                    self.out.push(Effect::Withdraw { call: id });
                    self.answer(index, unanswered.clone());
                    text::stopped_before(&wire, why)
                }
                CallState::Running => {
                    self.out.push(Effect::CancelRun { call: id });
                    text::stopped_within(&wire, why)
                }
                CallState::Loading(_) => {
                    self.out.push(Effect::CancelRun { call: id });
                    text::stopped_loading(&wire, why)
                }
                CallState::Joining(_) => text::stopped_loading(&wire, why),
                CallState::Waiting | CallState::Checking | CallState::Ended(_) => text::stopped_before(&wire, why),
            };
            self.end(index, Ending::Interrupted, text, None);
        }
    }

    /// Gives a call its one ending.
    pub(super) fn end(&mut self, index: usize, ending: Ending, mut text: String, mut note: Option<String>) {
        let now = self.moment.now;
        if self.call(index).is_some_and(|call| !call.ended() && call.began.is_none()) {
            self.audit_ending(index, &ending, &text);
        }
        let Some(call) = self.call(index).filter(|call| !call.ended()) else { return };
        if let Some(arguments) = call.edited.take().filter(|_| call.began.is_some()) {
            text = edited_result(&arguments, &text);
            note = Some(note.map_or_else(|| "as you edited it".to_owned(), |note| format!("{note}, as you edited it")));
        }
        let id = call.id;
        let took_ms = call.began.map_or(0, |began| took(began, now));
        let answer = call.answer.clone();
        call.state = CallState::Ended(ResultMessage { call: id, ending: ending.clone(), text: text.clone() });
        let (at, told) = (
            now,
            Event::ToolResult { call: id, ending: ending.clone(), text: text.clone(), note: note.clone(), took_ms },
        );
        self.record(Record::CallEnded { at, call: id, ending, answer, text, note, took_ms });
        self.tell(told);
    }
}
