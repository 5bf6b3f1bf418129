//! What every front end is told, in order: the only thing the screen and the headless command see of a run.
//!
//! A stored conversation is shown by replaying its records as these same events.

use serde::Serialize;
use serde_json::Value;

use super::call::{CallId, Ending};
use super::effect::{Ask, TurnEnd};
use super::message::{CallKind, Usage, UserOrigin};
use super::node::{NodeId, Spawned};
use crate::access::{AgentName, AgentReport, Answer, Attendance, Explanation, Ledger, ModeName, Risk, ToolId};

/// How much an alert matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Notice,
    /// Something did not work.
    Warning,
}

/// Something a person should know, outside of any answer. Self-contained: what failed, for whom, what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// How much it matters.
    pub severity: Severity,
    /// The sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// The dim rule of one model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallLine {
    /// Its number in the turn, from 1.
    pub number: u32,
    /// What for.
    pub kind: CallKind,
    /// Tools in it.
    pub tools: usize,
    /// Bytes of its tool block.
    pub tool_bytes: usize,
    /// Resident toolsets, preloaded ones included, in wire order.
    pub resident: Vec<String>,
    /// Loaded toolsets in order.
    pub loaded: Vec<String>,
    /// Toolsets new since the agent's call before, each with its tools: `+5 documents`. Empty on an agent's first call.
    pub grown: Vec<String>,
    /// Every row; absent when unchanged since the call before it in this session.
    #[serde(skip)]
    pub ledger: Option<Ledger>,
}

/// A stored conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationSummary {
    /// Its id.
    pub id: String,
    /// Its title; the first words said when none was given.
    pub title: String,
    /// When it last changed, milliseconds since the Unix epoch.
    pub updated: i64,
    /// Turns in it.
    pub turns: u32,
    /// Unattended: every turn of it was one that no person was at, as those of `kokua run`.
    pub attendance: Attendance,
    /// It is the one in view.
    pub current: bool,
    /// What goes on in it.
    pub activity: Activity,
    /// A turn of it ended and it was not in view since.
    pub unread: bool,
}

/// What goes on in a conversation, as far as this program runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// A turn runs.
    Running,
    /// A turn runs, and a call of it waits for a person.
    Asking,
}

/// A card's extra lines, made by the tool for a person: what would change, or how a command reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Preview {
    /// A unified diff, for a write.
    pub diff: Option<String>,
    /// Facts by name: `words`, `file`.
    pub facts: Vec<(String, String)>,
    /// Digest of what the preview depends on: another digest at dispatch means it changed.
    pub digest: String,
}

/// One thing that happened. `type` names it in `--json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A conversation is in view from here on; what follows up to `Replayed` is its history.
    Session {
        /// Its id: the update's own `conversation`.
        #[serde(skip)]
        conversation: String,
        /// Its title, if any.
        title: Option<String>,
        /// The entry agent.
        agent: AgentName,
        /// Its mode (W3).
        mode: ModeName,
        /// The model as a person reads it: `qwen3:8b`.
        model: String,
        /// It is the rehearsal model.
        rehearsal: bool,
        /// The model's window in tokens, where known.
        window: Option<u64>,
        /// Its provider is known to refuse a call with more tools than this.
        tool_limit: Option<usize>,
        /// Nothing can be said here: who has the conversation open, as a sentence.
        #[serde(skip_serializing_if = "Option::is_none")]
        read_only: Option<String>,
    },
    /// History is complete.
    Replayed,
    /// The model's window, which was not known when the conversation came into view.
    Window {
        /// In tokens.
        tokens: u64,
    },
    /// The conversation has another mode from here on (W3).
    Mode {
        /// Which.
        mode: ModeName,
    },
    /// Every mode with what it withholds, as written, and the one that holds: somebody asked.
    Modes {
        /// The one that the conversation has.
        current: ModeName,
        /// By name.
        modes: Vec<(ModeName, Vec<String>)>,
    },
    /// The title changed.
    Titled {
        /// The new one.
        title: String,
    },
    /// A turn began.
    TurnStarted {
        /// When.
        at: i64,
        /// Whether a person is there.
        attendance: Attendance,
        /// Who answers, where that is known.
        agent: Option<AgentName>,
    },
    /// Words for the model: a person's, or the run's own.
    Said {
        /// The words.
        text: String,
        /// Whose.
        origin: UserOrigin,
    },
    /// A person's words wait to join the running turn at its next round.
    Queued {
        /// The words.
        text: String,
    },
    /// A model call began; one of the number before it, that its next try carries other tools.
    Call(CallLine),
    /// A piece of the answer.
    Delta {
        /// It.
        text: String,
    },
    /// A piece of reasoning.
    Reasoning {
        /// It.
        text: String,
    },
    /// The model writes a call, which is told whole once the answer has ended.
    Writing {
        /// The tool as people read it.
        tool: String,
        /// Bytes of its arguments so far.
        bytes: usize,
    },
    /// The model call ended.
    Usage {
        /// The call's number.
        number: u32,
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// From request to last byte, milliseconds.
        took_ms: u64,
    },
    /// A model call beside the turn, such as the one for a title, ended; its kind says what it was for.
    SideCall {
        /// Its rule.
        line: CallLine,
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// From request to last byte, milliseconds.
        took_ms: u64,
    },
    /// A model call failed and will be tried again. What this try streamed is void: the next one begins anew under the
    /// same call line.
    Retrying {
        /// What went wrong.
        message: String,
        /// In how many milliseconds.
        ms: u64,
        /// Which try this will be, from 2.
        attempt: u32,
    },
    /// The model called a tool. `arguments` is as received when it does not parse.
    ToolCall {
        /// The call.
        call: CallId,
        /// The tool, where one is held by that name.
        tool: Option<ToolId>,
        /// What it may touch, where that is known: it decides the row that is drawn (P17).
        risk: Option<Risk>,
        /// The wire name.
        wire: String,
        /// What it was called with.
        arguments: Value,
    },
    /// A gated call waits for a person.
    Ask {
        /// The card.
        #[serde(flatten)]
        ask: Ask,
        /// Its extra lines.
        preview: Preview,
        /// It was shown before and what it depends on changed since.
        changed: bool,
        /// Which showing of a card this is: a yes names the one that it is to.
        showing: u64,
    },
    /// A call that is about to run has other arguments than the model wrote: a person changed them (P16).
    Edited {
        /// The call.
        call: CallId,
        /// What runs.
        arguments: Value,
    },
    /// A card was answered, by a person or otherwise.
    Answer {
        /// The call.
        call: CallId,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// A call is running.
    Running {
        /// The call.
        call: CallId,
        /// For how long already, milliseconds: more than 0 where a front end comes back to it.
        for_ms: u64,
    },
    /// A call ended.
    ToolResult {
        /// The call.
        call: CallId,
        /// How.
        #[serde(flatten)]
        ending: Ending,
        /// What the model reads.
        text: String,
        /// A short summary for the row.
        note: Option<String>,
        /// How long it ran, milliseconds.
        took_ms: u64,
    },
    /// Something a person should know.
    Alert(Alert),
    /// The turn failed; `end` follows.
    Error {
        /// The sentence.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The turn is over; of a worker: it has ended.
    End {
        /// How.
        #[serde(flatten)]
        end: TurnEnd,
        /// How long it took, milliseconds.
        took_ms: u64,
    },
    /// A worker came to be; the update's node is its own.
    Spawned(Box<Spawned>),
    /// The answer is there, and the turn stays open for workers in the background (D7).
    Waiting {
        /// Their addresses.
        workers: Vec<String>,
    },
    /// A message that nobody read when the turn ended (D6).
    Undelivered {
        /// The sender's address.
        from: String,
        /// To whom it was sent.
        to: String,
        /// Its words.
        text: String,
    },
    /// A conversation that was asked for is open in another program, which is said; it can be opened read-only
    /// ([`super::Command::OpenReadOnly`]).
    Held {
        /// Its id.
        id: String,
        /// Who has it: a whole sentence.
        holder: String,
    },
    /// What F3 and F4 show, whole; replaces the one before for that agent.
    Report(Box<AgentReport>),
    /// A person asked for the five answers for one tool: of the running agent as it is, of another as it would start.
    Explained {
        /// The agent.
        agent: AgentName,
        /// The tool.
        tool: ToolId,
        /// The answers.
        explanation: Box<Explanation>,
    },
    /// The list of conversations, newest first.
    Conversations {
        /// The list.
        list: Vec<ConversationSummary>,
    },
    /// The program ends: `--allow` entries that never matched a call (P22).
    UnusedAllows {
        /// As written.
        entries: Vec<String>,
    },
    /// A person asked for diagnostics; lines for the screen.
    Diagnostics {
        /// The lines.
        lines: Vec<String>,
    },
}

/// An event with where it happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Update {
    /// The conversation; empty for what concerns the whole program.
    pub conversation: String,
    /// Which of its agents this is about.
    #[serde(skip_serializing_if = "NodeId::is_entry")]
    pub node: NodeId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
