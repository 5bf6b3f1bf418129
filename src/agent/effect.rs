//! What a run asks its driver to do. Effects are carried out in order.
//!
//! Nothing here does anything.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::CallId;
use super::delegate::Wiring;
use super::input::ToolOutcome;
use super::message::Request;
use super::node::{Ground, NodeId};
use super::record::Record;
use super::update::Event;
use crate::access::audit::Draft;
use crate::access::{AgentName, AskReason, Risk, ToolId, ToolsetName};

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// It answered.
    Answered,
    /// The cap was reached and the wrap-up answered.
    WrappedUp,
    /// A person stopped it.
    Stopped,
    /// It failed, with the sentence and what to do.
    Failed {
        /// The sentence.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The program ended first: written as it ends, or on reopening where it could not be.
    Interrupted,
}

impl TurnEnd {
    /// Whether the words that still waited for `node` when its turn ended begin its next one. Else nobody read them: after a
    /// stop, and where a worker has no next turn.
    pub fn passes_words_on(&self, node: NodeId) -> bool {
        matches!(self, Self::Failed { .. }) && node.is_entry()
    }

    /// The one word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Answered | Self::WrappedUp => "done",
            Self::Stopped => "stopped",
            Self::Failed { .. } => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Who wrote the arguments of a call as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The model that called.
    Model,
    /// A person, on the card (P16).
    Person,
}

/// One of those who ask: the caller, or one that stands above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asker {
    /// The agent.
    pub agent: AgentName,
    /// Which of its runs it is, where it is a worker: `coder#2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// A gated call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ask {
    /// The call.
    pub call: CallId,
    /// Who asks, outermost last: `coder#2`, `assistant`. Never empty.
    pub chain: Vec<Asker>,
    /// What would run.
    pub tool: ToolId,
    /// What it may touch.
    pub risk: Risk,
    /// The arguments after coercion: exactly what would run.
    pub arguments: Value,
    /// Whose they are.
    pub author: Author,
    /// The list and entry that gated it.
    pub reason: AskReason,
    /// Whether "for this conversation" may be answered (P16: not for floor tools).
    pub grantable: bool,
}

/// One effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Append to the log; written and synced before the effects after it are carried out.
    Record(Record),
    /// Append to the audit log (K5); written and synced before the effects after it are carried out. Where it can't be, what
    /// they would do for its call is not done: [`super::Input::KeptBack`] comes back in its place.
    Audit(Box<Draft>),
    /// Tell every front end.
    Tell(Event),
    /// Start a model call.
    CallModel(Box<Request>),
    /// Drop the running model call, or the wait for its next try. Nothing that it still has to say may become an input.
    CancelModel,
    /// Send [`super::Input::RetryDue`] after this many milliseconds.
    RetryAfter {
        /// How long.
        ms: u64,
    },
    /// Check a call's arguments against the schema of [`super::Run::definition`] (core tools have one too) and answer
    /// with [`super::Input::Checked`].
    Check {
        /// The call.
        call: CallId,
        /// The tool.
        tool: ToolId,
        /// As received; known to be a JSON object.
        arguments: Value,
    },
    /// Show a card: make its preview, tell [`Event::Ask`], and answer with [`super::Input::Answered`].
    Ask(Box<Ask>),
    /// Take a card away unanswered.
    Withdraw {
        /// Its call.
        call: CallId,
    },
    /// A person allowed this exact call for the conversation: give `World::grant` what is here (P16).
    Grant {
        /// The call.
        call: CallId,
        /// The tool.
        tool: ToolId,
        /// Canonical arguments.
        arguments: String,
    },
    /// Run a tool.
    Run {
        /// The call.
        call: CallId,
        /// The tool.
        tool: ToolId,
        /// Coerced arguments.
        arguments: Value,
    },
    /// Drop a running tool, or the interest in a build: what it still brings is held by nobody (R9).
    CancelRun {
        /// Its call.
        call: CallId,
    },
    /// Build a toolset through the one build function and answer with [`super::Input::LoadEnded`].
    Load {
        /// The call.
        call: CallId,
        /// The toolset.
        toolset: ToolsetName,
    },
    /// A call of `spawn_subagent`, for the tree: what it asks for. Never leaves the tree.
    Delegate {
        /// The call.
        call: CallId,
        /// Which declared agent.
        agent: AgentName,
        /// The task.
        task: String,
        /// The one toolset that it is narrowed to (W4).
        family: Option<ToolsetName>,
        /// Whether the call waits.
        ground: Ground,
    },
    /// A message to this agent ended unread with its turn. Never leaves the tree.
    Unread {
        /// The message, by the bus's count.
        mail: usize,
    },
    /// Build what a worker holds from its start and answer with [`super::TreeInput::Wired`].
    Spawn(Box<Wiring>),
    /// Keep the whole answer of this node on the disk and answer with [`super::TreeInput::Kept`] at once.
    Keep {
        /// The answer.
        text: String,
    },
    /// What a tool asked of other agents ([`super::TreeInput::Requested`]) is answered.
    Reply {
        /// The call.
        call: CallId,
        /// The answer.
        outcome: ToolOutcome,
    },
}
