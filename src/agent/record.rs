//! What a conversation's log holds, in order: enough to rebuild the run and the transcript.
//!
//! These are the domain's values; how they are written to disk is the store's business.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{CallId, Ending};
use super::message::{AssistantMessage, CallKind, Failure, Usage, UserMessage};
use super::node::{NodeId, Spawned};
use crate::access::audit::Head;
use crate::access::{AgentName, Answer, Attendance, Ledger, ModeName};

/// One entry of a conversation's log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// A turn begins with these words.
    TurnStarted {
        /// Milliseconds since the Unix epoch.
        at: i64,
        /// Whether a person is there.
        attendance: Attendance,
        /// Who answers; nothing in logs written before it was kept.
        agent: Option<AgentName>,
        /// What was said.
        message: UserMessage,
    },
    /// More words joined the running turn, or the run itself said something.
    Said {
        /// When.
        at: i64,
        /// What.
        message: UserMessage,
    },
    /// A person's words wait for the running turn's next round. The [`Record::Said`] of the same words says that they joined it;
    /// without one they were not read.
    Queued {
        /// When.
        at: i64,
        /// The words.
        text: String,
    },
    /// A model call ended; its message is whole, or what was said before a stop (neither `failure` nor `message.stop`)
    /// or before the failure of its last try (then without calls: none came to be). Tries before that leave no record.
    ModelCall {
        /// When it ended.
        at: i64,
        /// Its number in the turn, from 1.
        number: u32,
        /// What for.
        kind: CallKind,
        /// What it said.
        message: AssistantMessage,
        /// Tools offered, their bytes, and who was in the call and why.
        offer: OfferRecord,
        /// Tokens.
        usage: Usage,
        /// From request to last byte, milliseconds.
        took_ms: u64,
        /// The failure that ended it, if one did.
        failure: Option<Failure>,
    },
    /// A gated call may run: who said so, on disk before it runs (P13). Its ending says it again.
    Allowed {
        /// When.
        at: i64,
        /// Which.
        call: CallId,
        /// The answer.
        answer: Answer,
        /// What runs, where a person changed it (P16).
        arguments: Option<Value>,
    },
    /// A call reached its one ending.
    CallEnded {
        /// When.
        at: i64,
        /// Which.
        call: CallId,
        /// How.
        ending: Ending,
        /// Who answered, if it was gated (P13).
        answer: Option<Answer>,
        /// What the model reads.
        text: String,
        /// A short summary for its row, such as `14 entries`.
        note: Option<String>,
        /// How long it ran, milliseconds.
        took_ms: u64,
    },
    /// The turn is over.
    TurnEnded {
        /// When.
        at: i64,
        /// How.
        end: super::effect::TurnEnd,
    },
    /// The conversation has a new title.
    Titled {
        /// It.
        title: String,
    },
    /// The conversation has another mode from here on (W3).
    Mode {
        /// When.
        at: i64,
        /// Which.
        mode: ModeName,
    },
    /// How far the audit log went when this turn ended (K5): what it lost since is found by it.
    AuditHead(Head),
    /// A held toolset restored at wiring (R12), in order.
    Preloaded {
        /// Its name.
        toolset: String,
    },
    /// A worker's own record (D5): its [`Record::Spawned`] first, then those of its one turn. Whatever reads a conversation for
    /// its entry agent passes over it.
    Worker {
        /// Whose.
        node: NodeId,
        /// What; never another worker's.
        of: Box<Record>,
    },
    /// A worker came to be.
    Spawned(Box<Spawned>),
    /// A message that nobody read when the turn ended (D6).
    Undelivered {
        /// When.
        at: i64,
        /// The sender's address.
        from: String,
        /// To whom it was sent: the selector.
        to: String,
        /// Its words, cut at 2,000 characters.
        text: String,
    },
}

impl Record {
    /// Whose it is, and what of theirs: out of its wrapping, where it is a worker's.
    pub fn whose(&self) -> (NodeId, &Self) {
        match self {
            Self::Worker { node, of } => (*node, of),
            record => (NodeId::ENTRY, record),
        }
    }

    /// This record as one of `node`.
    #[must_use]
    pub fn of(self, node: NodeId) -> Self {
        if node.is_entry() { self } else { Self::Worker { node, of: Box::new(self) } }
    }
}

/// What is kept of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OfferRecord {
    /// Tools offered.
    pub tools: usize,
    /// Bytes of the tool block.
    pub tool_bytes: usize,
    /// Toolsets resident (preloaded ones included) in wire order.
    pub resident: Vec<String>,
    /// Toolsets loaded in this life, in order.
    pub loaded: Vec<String>,
    /// Every row; absent where nothing in it differs from the call before in the same life of the agent, and in logs that
    /// were written before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "readable_ledger")]
    pub ledger: Option<Ledger>,
}

/// A ledger with a word that a newer program wrote is left out: what was said in the call is worth more than its rows.
fn readable_ledger<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Ledger>, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(from)?).unwrap_or_default())
}
