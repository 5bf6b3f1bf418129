//! What can happen to a run.
//!
//! Time, chance and everything from outside enters here as values.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::call::CallId;
use super::message::{Delta, Failure, ToolDefinition};
use crate::access::{Answer, Attendance, ModeName, Risk, ToolFacts, ToolName, ToolsetName, WireName};

/// When an input arrives, and a fresh random number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the Unix epoch.
    pub now: i64,
    /// 64 random bits.
    pub random: u64,
}

/// One built tool: what access knows of it and what a request carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltTool {
    /// For access.
    pub facts: ToolFacts,
    /// For the model. Its wire name is set by the held list.
    pub definition: ToolDefinition,
}

impl BuiltTool {
    /// A tool by its declared name. Its bytes and digest are taken from the definition, so that every build counts alike.
    pub fn new(name: &str, risk: Risk, description: &str, schema: Value) -> Self {
        let definition = ToolDefinition { wire: WireName::new(name), description: description.to_owned(), schema };
        let facts = ToolFacts {
            name: ToolName::new(name),
            risk,
            bytes: definition.bytes(),
            digest: definition.digest(),
            trigger: None,
            schema: Arc::new(definition.schema.clone()),
        };
        Self { facts, definition }
    }
}

/// A toolset's accepted build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedToolset {
    /// Which.
    pub toolset: ToolsetName,
    /// Its tools in build order.
    pub tools: Vec<BuiltTool>,
    /// Its guidance, if it has one (R8).
    pub guidance: Option<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutcome {
    /// `Ok`, `Failed` or `TimedOut`.
    pub ending: super::call::Ending,
    /// What the model reads, bounded by the tool seam.
    pub text: String,
    /// A short summary for the row.
    pub note: Option<String>,
}

/// What an agent of the turn sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailKind {
    /// A message (D6): at most [`super::QUEUE_LIMIT`] of them wait for a round.
    Message,
    /// The answer of a worker in the background, which has ended (D7).
    Answer,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A person (or a schedule) said something: starts a turn, or joins the running one at its next round.
    Said {
        /// The words.
        text: String,
        /// Whether a person is there. Fixed for the turn by the message that starts it.
        attendance: Attendance,
        /// The only tools that the turn may call, by declared name (W6); `None`: no such list. Fixed likewise.
        only: Option<BTreeSet<ToolName>>,
    },
    /// The conversation has another mode from now on (W3).
    Mode {
        /// Which; one that the world has.
        mode: ModeName,
    },
    /// A piece of the running model call.
    Delta(Delta),
    /// The running model call ended.
    ModelEnded(Result<(), Failure>),
    /// The wait that [`super::Effect::RetryAfter`] asked for is over.
    RetryDue,
    /// The driver checked a call's arguments against the schema: coerced, or one sentence naming every fault.
    Checked {
        /// Which call.
        call: CallId,
        /// Coerced arguments, or the result's text.
        arguments: Result<Value, String>,
    },
    /// A card was answered.
    Answered {
        /// Which call.
        call: CallId,
        /// The answer.
        answer: Answer,
    },
    /// A person changed the arguments on a card: they are checked, gated and asked again (P16).
    Edited {
        /// Which call.
        call: CallId,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// A running tool ended.
    ToolEnded {
        /// Which call.
        call: CallId,
        /// How.
        outcome: ToolOutcome,
    },
    /// A load's build ended: the accepted build, or the sentence after `Could not load '<name>': `.
    LoadEnded {
        /// Which call.
        call: CallId,
        /// The build or the error.
        result: Result<LoadedToolset, String>,
    },
    /// A call that was let go did not run: the audit log could not be written (K5).
    KeptBack {
        /// Which call.
        call: CallId,
        /// Why: a fragment.
        why: String,
    },
    /// Another agent of the turn sent this (D6): it joins at the next round.
    Mail {
        /// The message, by the bus's count.
        mail: usize,
        /// What it is.
        kind: MailKind,
        /// The words, behind the mark that says whose they are.
        text: String,
    },
    /// These workers that this agent spawned run in the background now (D7): its turn stays open until there are none.
    Background {
        /// Their addresses.
        workers: Vec<String>,
    },
    /// A person stopped the turn.
    Stop,
    /// The program ends: like a stop, but nobody withdrew what was open; it is interrupted (P12).
    Leave,
}
