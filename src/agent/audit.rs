//! What a run says to the audit log (K5): each decision as a value, before what it lets happen.
//!
//! It writes nothing, and it says nothing about calls that nobody decided: those that a cap or a stop came before.

use super::call::{Call, CallId, Ending, canonical, shown_arguments, text};
use super::effect::Effect;
use super::turn::Step;
use crate::access::audit::{self, Draft, Entry, Gate, Outcome, PastCall, What};
use crate::access::name::shown;
use crate::access::{Answer, Arrival, Ledger, ModeName, ToolName, ToolsetName};

impl Step<'_> {
    fn audit(&mut self, what: What, arguments: Option<String>) {
        let entry = Entry {
            at: self.moment.now,
            conversation: Some(self.run.spec.conversation.clone()),
            agent: Some(self.run.spec.name.clone()),
            node: self.run.spec.node.0,
            what,
        };
        let draft = match arguments {
            Some(arguments) => Draft::about(entry, arguments),
            None => Draft::new(entry),
        };
        self.out.push(Effect::Audit(Box::new(draft)));
    }

    /// What the next model call's offer withholds otherwise than the last one's.
    pub(super) fn audit_withheld(&mut self, model_call: u32, after: &Ledger) {
        for changes in audit::changes(self.run.last_ledger.as_ref(), after) {
            self.audit(What::Withheld { model_call, changes }, None);
        }
    }

    /// A call is about to run.
    pub(super) fn audit_dispatch(&mut self, index: usize) {
        self.audit_call(index, Outcome::Dispatched);
    }

    /// A call ends without having run, where that was decided.
    pub(super) fn audit_ending(&mut self, index: usize, ending: &Ending, text: &str) {
        let outcome = match ending {
            Ending::InvalidArguments => Outcome::InvalidArguments,
            Ending::Unknown => Outcome::Unknown,
            Ending::Refused => Outcome::Refused { why: audit::sentence(text) },
            Ending::NotAllowed => Outcome::NotAllowed,
            Ending::Ok
            | Ending::Failed
            | Ending::Loaded { .. }
            | Ending::TimedOut
            | Ending::NotExecuted
            | Ending::Interrupted => return,
        };
        self.audit_call(index, outcome);
    }

    fn audit_call(&mut self, index: usize, outcome: Outcome) {
        let (tool, attendance) = (self.held_tool(index), self.attendance());
        let Some(call) = self.call(index) else { return };
        let past = PastCall {
            call: call.id.0,
            wire: shown(&call.wire),
            definition: tool.as_ref().map(|tool| tool.digest.clone()),
            tool: tool.map(|tool| tool.id),
            arguments: None,
            attendance,
            gate: call.gate.as_ref().map(Gate::from),
            answer: call.answer.as_ref().map(audit::bounded),
            outcome,
        };
        let arguments = arguments_of(call);
        self.audit(What::Call(Box::new(past)), Some(arguments));
    }

    /// A gated call was answered.
    pub(super) fn audit_answer(&mut self, index: usize, answer: &Answer) {
        let Some(tool) = self.held_tool(index) else { return };
        let Some(call) = self.call(index) else { return };
        let what = What::Answer {
            call: call.id.0,
            tool: tool.id,
            arguments: None,
            gate: call.gate.as_ref().map(Gate::from),
            answer: audit::bounded(answer),
        };
        let arguments = arguments_of(call);
        self.audit(what, Some(arguments));
    }

    /// A toolset is held from here on. `call`: who loaded it.
    pub(super) fn audit_load(&mut self, call: Option<CallId>, toolset: &ToolsetName, tools: Vec<ToolName>) {
        let arrival = if call.is_some() { Arrival::Loaded } else { Arrival::Preloaded };
        let call = call.map(|call| call.0);
        self.audit(What::Load { call, toolset: toolset.clone(), arrival, tools }, None);
    }

    /// The conversation has another mode (W3).
    pub(super) fn audit_mode(&mut self, mode: &ModeName) {
        self.audit(What::Mode { mode: mode.clone() }, None);
    }

    /// A load built nothing that may be held.
    pub(super) fn audit_load_failed(&mut self, call: CallId, toolset: &ToolsetName, error: &str) {
        let (toolset, error) = (toolset.clone(), audit::sentence(error));
        self.audit(What::LoadFailed { call: call.0, toolset, error }, None);
    }

    /// The driver kept a call back that was let go.
    pub(super) fn kept_back(&mut self, id: CallId, why: &str) {
        let Some(index) = self.place(id) else { return };
        let Some(call) = self.call(index).filter(|call| call.began.is_some() && !call.ended()) else { return };
        let (sentence, state) = (text::kept_back(&call.wire, why), call.state.clone());
        // It was let go and never began.
        call.began = None;
        self.end(index, Ending::Refused, sentence.clone(), None);
        if let super::call::CallState::Loading(toolset) = state {
            self.end_joined(&toolset, &Ending::Refused, &sentence);
        }
        self.advance();
    }
}

/// The arguments that a decision was about: canonical once they were checked, else as received.
fn arguments_of(call: &Call) -> String {
    call.canonical.clone().unwrap_or_else(|| match shown_arguments(&call.raw) {
        serde_json::Value::String(raw) => raw,
        object => canonical(&object),
    })
}
