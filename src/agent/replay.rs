//! Turns a stored log into the events that a live run told, so that a reopened conversation looks as it did.
//!
//! What only mattered while it happened (cards, retries, alerts) is not told again.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{CallId, shown_arguments};
use super::effect::TurnEnd;
use super::message::{CallKind, Part, ToolCall};
use super::node::NodeId;
use super::record::{OfferRecord, Record};
use super::update::{CallLine, Event};
use crate::access::mode::DEFAULT_MODE;
use crate::access::{AgentName, ModeName, Owner, ToolId, ToolName, ToolsetName};

/// The events of a log, in order, each with the agent that it is about. Streamed text comes in one piece per part.
pub fn replay(records: &[Record]) -> Vec<(NodeId, Event)> {
    let mut nodes: BTreeMap<NodeId, Told> = BTreeMap::new();
    let mut events = Vec::new();
    for record in records {
        let (node, record) = record.whose();
        let told = nodes.entry(node).or_default().tell(record);
        events.extend(told.into_iter().map(|event| (node, event)));
    }
    events
}

/// What was told of one agent so far.
#[derive(Default)]
struct Told {
    last: Option<Vec<String>>,
    answers: Option<AgentName>,
    allowed: BTreeSet<CallId>,
    began: i64,
}

impl Told {
    fn tell(&mut self, record: &Record) -> Vec<Event> {
        let mut events = Vec::new();
        match record {
            Record::TurnStarted { at, attendance, agent, message } => {
                // What one agent carried is no measure of what another does.
                let same = |_: &Vec<String>| agent.is_none() || self.answers.is_none() || *agent == self.answers;
                self.last = self.last.take().filter(same);
                self.answers.clone_from(agent);
                self.began = *at;
                events.push(Event::TurnStarted { at: *at, attendance: *attendance, agent: agent.clone() });
                events.push(Event::Said { text: message.text.clone(), origin: message.origin });
            }
            Record::Said { message, .. } => {
                events.push(Event::Said { text: message.text.clone(), origin: message.origin });
            }
            Record::Queued { text, .. } => events.push(Event::Queued { text: text.clone() }),
            Record::ModelCall { number, kind, message, offer, usage, took_ms, .. } => {
                events.push(Event::Call(call_line(*number, *kind, offer, self.last.as_deref())));
                self.last = Some([offer.resident.clone(), offer.loaded.clone()].concat());
                events.extend(message.parts.iter().filter_map(|part| match part {
                    Part::Text { text } => Some(Event::Delta { text: text.clone() }),
                    Part::Reasoning(reasoning) if reasoning.text.is_empty() => None,
                    Part::Reasoning(reasoning) => Some(Event::Reasoning { text: reasoning.text.clone() }),
                    Part::Call(_) => None,
                }));
                events.push(Event::Usage { number: *number, usage: *usage, took_ms: *took_ms });
                events.extend(message.calls().map(call_told));
            }
            Record::Allowed { call, answer, arguments, .. } => {
                self.allowed.insert(*call);
                let edited = arguments.clone();
                events.extend(edited.map(|arguments| Event::Edited { call: *call, arguments }));
                events.push(Event::Answer { call: *call, answer: answer.clone() });
            }
            Record::CallEnded { call, ending, answer, text, note, took_ms, .. } => {
                let untold = answer.clone().filter(|_| !self.allowed.contains(call));
                events.extend(untold.map(|answer| Event::Answer { call: *call, answer }));
                events.push(Event::ToolResult {
                    call: *call,
                    ending: ending.clone(),
                    text: text.clone(),
                    note: note.clone(),
                    took_ms: *took_ms,
                });
            }
            Record::TurnEnded { at, end } => {
                if let TurnEnd::Failed { message, hint } = end {
                    events.push(Event::Error { message: message.clone(), hint: hint.clone() });
                }
                events.push(Event::End { end: end.clone(), took_ms: took(self.began, *at) });
            }
            Record::Titled { title } => events.push(Event::Titled { title: title.clone() }),
            Record::Mode { mode, .. } => events.push(Event::Mode { mode: mode.clone() }),
            Record::Spawned(spawned) => events.push(Event::Spawned(spawned.clone())),
            Record::Undelivered { from, to, text, .. } => {
                events.push(Event::Undelivered { from: from.clone(), to: to.clone(), text: text.clone() });
            }
            Record::Preloaded { .. } | Record::AuditHead(_) | Record::Worker { .. } => {}
        }
        events
    }
}

/// From one instant to another, milliseconds; a clock that was set back counts as no time.
pub(super) fn took(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

/// The mode of a conversation (W3), whether there is one of that name or not: what its log says last, the shipped default
/// where it says nothing of its turns, and `first` where it has none yet.
pub fn mode(records: &[Record], first: impl FnOnce() -> ModeName) -> ModeName {
    let given = records.iter().rev().find_map(|record| match record {
        Record::Mode { mode, .. } => Some(mode.clone()),
        _ => None,
    });
    let begun = records.iter().any(|record| matches!(record, Record::TurnStarted { .. }));
    given.unwrap_or_else(|| if begun { ModeName::new(DEFAULT_MODE) } else { first() })
}

/// The dim rule of a model call. `last`: the toolsets of the agent's call before, `None` for its first.
pub(super) fn call_line(number: u32, kind: CallKind, offer: &OfferRecord, last: Option<&[String]>) -> CallLine {
    let now = offer.resident.iter().chain(&offer.loaded);
    let new: Vec<_> = now.filter(|name| last.is_some_and(|last| !last.contains(name))).collect();
    let grown = new.iter().map(|name| {
        let owner = Owner::Toolset(ToolsetName::new(name.as_str()));
        let tools =
            offer.ledger.as_ref().map(|ledger| ledger.tools.iter().filter(|row| row.tool.owner == owner).count());
        tools.map_or_else(|| format!("+{name}"), |tools| format!("+{tools} {name}"))
    });
    CallLine {
        number,
        kind,
        tools: offer.tools,
        tool_bytes: offer.tool_bytes,
        grown: grown.collect(),
        resident: offer.resident.clone(),
        loaded: offer.loaded.clone(),
        ledger: offer.ledger.clone(),
    }
}

/// A call as it is told.
pub(super) fn call_told(call: &ToolCall) -> Event {
    Event::ToolCall {
        call: call.id,
        tool: shown_tool(call),
        risk: call.risk,
        wire: call.wire.clone(),
        arguments: shown_arguments(&call.arguments),
    }
}

/// The tool of a call, out of its shown name. A held tool's has its owner in front, so it never equals the wire name.
fn shown_tool(call: &ToolCall) -> Option<ToolId> {
    if call.shown == call.wire {
        return None;
    }
    let (owner, name) = call.shown.split_once('.')?;
    let owner = if owner == "core" { Owner::Core } else { Owner::Toolset(ToolsetName::new(owner)) };
    Some(ToolId { owner, name: ToolName::new(name) })
}
