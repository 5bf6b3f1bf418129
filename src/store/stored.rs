//! How a conversation is written: one JSON object a line, a header first. Version 1.
//!
//! These types are the file format. They change only so that old files still read, whatever the domain's types do. A
//! new kind of line, or a new field, needs no new version: older programs skip it. `version` goes up when a line that
//! older programs read comes to mean something else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::audit::Head;
use crate::access::{AgentName, Answer, Attendance, ModeName};
use crate::agent::record::OfferRecord;
use crate::agent::{
    AssistantMessage, CallId, CallKind, Ending, Failure, NodeId, Record, Spawned, TurnEnd, Usage, UserMessage,
};

/// The version that is written, and the newest that is read without a notice.
pub(super) const VERSION: u32 = 1;

/// The first line of every log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename = "conversation")]
pub(super) struct StoredHeader {
    pub version: u32,
    pub id: String,
    pub agent: AgentName,
    pub created: i64,
}

/// Every later line. The fields are explained where the domain declares them: [`Record`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Stored {
    TurnStarted {
        at: i64,
        attendance: Attendance,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentName>,
        message: UserMessage,
    },
    Said {
        at: i64,
        message: UserMessage,
    },
    ModelCall {
        at: i64,
        number: u32,
        kind: CallKind,
        message: AssistantMessage,
        offer: OfferRecord,
        usage: Usage,
        took_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
    Allowed {
        at: i64,
        call: CallId,
        #[serde(flatten)]
        answer: Answer,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
    },
    CallEnded {
        at: i64,
        call: CallId,
        #[serde(flatten)]
        ending: Ending,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Answer>,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        took_ms: u64,
    },
    TurnEnded {
        at: i64,
        #[serde(flatten)]
        end: TurnEnd,
    },
    Titled {
        title: String,
    },
    Mode {
        at: i64,
        mode: ModeName,
    },
    Preloaded {
        toolset: String,
    },
    AuditHead {
        entries: u64,
        hash: String,
    },
    Worker {
        node: NodeId,
        of: Box<Stored>,
    },
    Spawned(Box<Spawned>),
    Queued {
        at: i64,
        text: String,
    },
    Undelivered {
        at: i64,
        from: String,
        to: String,
        text: String,
    },
}

/// The `record` of every line that this version knows.
const KINDS: [&str; 15] = [
    "conversation",
    "turn_started",
    "said",
    "model_call",
    "allowed",
    "call_ended",
    "turn_ended",
    "titled",
    "mode",
    "preloaded",
    "audit_head",
    "worker",
    "spawned",
    "queued",
    "undelivered",
];

impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        match record {
            Record::TurnStarted { at, attendance, agent, message } => {
                Self::TurnStarted { at, attendance, agent, message }
            }
            Record::Said { at, message } => Self::Said { at, message },
            Record::ModelCall { at, number, kind, message, offer, usage, took_ms, failure } => {
                Self::ModelCall { at, number, kind, message, offer, usage, took_ms, failure }
            }
            Record::Allowed { at, call, answer, arguments } => Self::Allowed { at, call, answer, arguments },
            Record::CallEnded { at, call, ending, answer, text, note, took_ms } => {
                Self::CallEnded { at, call, ending, answer, text, note, took_ms }
            }
            Record::TurnEnded { at, end } => Self::TurnEnded { at, end },
            Record::Titled { title } => Self::Titled { title },
            Record::Mode { at, mode } => Self::Mode { at, mode },
            Record::Preloaded { toolset } => Self::Preloaded { toolset },
            Record::AuditHead(Head { entries, hash }) => Self::AuditHead { entries, hash },
            Record::Worker { node, of } => Self::Worker { node, of: Box::new((*of).into()) },
            Record::Spawned(spawned) => Self::Spawned(spawned),
            Record::Queued { at, text } => Self::Queued { at, text },
            Record::Undelivered { at, from, to, text } => Self::Undelivered { at, from, to, text },
        }
    }
}

impl From<Stored> for Record {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::TurnStarted { at, attendance, agent, message } => {
                Self::TurnStarted { at, attendance, agent, message }
            }
            Stored::Said { at, message } => Self::Said { at, message },
            Stored::ModelCall { at, number, kind, message, offer, usage, took_ms, failure } => {
                Self::ModelCall { at, number, kind, message, offer, usage, took_ms, failure }
            }
            Stored::Allowed { at, call, answer, arguments } => Self::Allowed { at, call, answer, arguments },
            Stored::CallEnded { at, call, ending, answer, text, note, took_ms } => {
                Self::CallEnded { at, call, ending, answer, text, note, took_ms }
            }
            Stored::TurnEnded { at, end } => Self::TurnEnded { at, end },
            Stored::Titled { title } => Self::Titled { title },
            Stored::Mode { at, mode } => Self::Mode { at, mode },
            Stored::Preloaded { toolset } => Self::Preloaded { toolset },
            Stored::AuditHead { entries, hash } => Self::AuditHead(Head { entries, hash }),
            Stored::Worker { node, of } => Self::Worker { node, of: Box::new((*of).into()) },
            Stored::Spawned(spawned) => Self::Spawned(spawned),
            Stored::Queued { at, text } => Self::Queued { at, text },
            Stored::Undelivered { at, from, to, text } => Self::Undelivered { at, from, to, text },
        }
    }
}

/// Why a line gave no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineFault {
    /// A kind of line that a newer version writes.
    Newer(String),
    /// Not JSON, or not what its kind holds.
    Unreadable(String),
}

/// A record as its line, without the line end.
pub(super) fn encode(record: &Record) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Stored::from(record.clone()))
}

/// A line as its record.
pub(super) fn decode(line: &[u8]) -> Result<Record, LineFault> {
    #[derive(Deserialize)]
    struct Kind {
        record: String,
    }
    let record =
        serde_json::from_slice::<Stored>(line).map(Record::from).map_err(|error| {
            match serde_json::from_slice::<Kind>(line) {
                Ok(Kind { record }) if !KINDS.contains(&record.as_str()) => LineFault::Newer(record),
                Ok(_) | Err(_) => LineFault::Unreadable(reason(&error)),
            }
        })?;
    if sound(&record) {
        Ok(record)
    } else {
        Err(LineFault::Unreadable("it numbers an agent or a call as no program does".to_owned()))
    }
}

/// Whether the numbers in a line are such as are given: a worker's own, in its own records, with room above them.
fn sound(record: &Record) -> bool {
    const MOST: u32 = u32::MAX / 2;
    let (node, record) = match record {
        Record::Worker { of, .. } if matches!(**of, Record::Worker { .. }) => return false,
        Record::Worker { node, .. } if node.is_entry() || node.0 > MOST => return false,
        record => record.whose(),
    };
    let own = |call: CallId| call.node() == node && call.number() <= MOST;
    match record {
        Record::ModelCall { message, .. } => message.calls().all(|call| own(call.id)),
        Record::Spawned(spawned) => spawned.call.node() < node,
        _ => true,
    }
}

/// A parser's words without `at line 1 column n`: the line is always 1, and the notice names the real one.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.find(" at line ").unwrap_or(text.len());
    text.chars().take(text.get(..end).map_or(0, |kept| kept.chars().count()).min(200)).collect()
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
