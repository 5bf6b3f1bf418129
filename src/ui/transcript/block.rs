//! What a transcript is made of: one block per thing that happened, with the words each is shown in.
//!
//! A block holds text as it arrived and no layout; how it looks at a width is [`super::Transcript`]'s matter.

use super::work::Work;
use crate::access::{Answer, Risk};
use crate::agent::call::{CallId, Ending};
use crate::agent::effect::TurnEnd;
use crate::agent::message::{CallKind, Usage, UserOrigin};
use crate::agent::update::{CallLine, Severity};

/// A block's number: unique in its transcript, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub(super) u64);

/// Whether a person's words reached the model yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// They did.
    Delivered,
    /// They wait to join the running turn at its next round.
    Queued,
    /// The turn ended before they could join it.
    Undelivered,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words for the model.
    User {
        /// Who wrote them, where that was no person: an agent's address, or what they are (`task`).
        from: Option<String>,
        /// As typed.
        text: String,
        /// Whose.
        origin: UserOrigin,
        /// Whether they were delivered.
        delivery: Delivery,
    },
    /// A model call.
    Call(Box<CallRule>),
    /// What an agent said: markdown, streamed with [`super::Transcript::append_text`].
    Assistant {
        /// Its name.
        agent: String,
        /// The words so far.
        text: String,
    },
    /// Reasoning, folded to one line at first; streamed with [`super::Transcript::append_text`].
    Reasoning {
        /// The words so far.
        text: String,
    },
    /// A tool call with its result, folded to one line at first.
    Tool(Box<ToolRow>),
    /// An answered card.
    Receipt(Receipt),
    /// Something a person should know.
    Alert {
        /// How much it matters.
        severity: Severity,
        /// The sentence.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A turn is over. An answered one leaves no mark.
    End(TurnEnd),
    /// One dim line about the run: what a turn cost, what it waits for.
    Note(String),
    /// Lines as they are: `/diag`, help.
    Lines {
        /// What they are.
        title: String,
        /// They.
        lines: Vec<String>,
    },
}

/// What a model call's dim rule says.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRule {
    /// What it carried; with its ledger, when that changed.
    pub line: CallLine,
    /// Tools and bytes of the agent's call before it: what differs is bold.
    pub before: Option<(usize, usize)>,
    /// The provider is known to refuse more tools than this.
    pub limit: Option<usize>,
    /// Tokens, once known.
    pub usage: Option<Usage>,
    /// From request to last byte, milliseconds.
    pub took_ms: Option<u64>,
    /// It failed and will be tried again: why, and when (milliseconds since the epoch, for [`super::Transcript::tick`]).
    pub retry: Option<Retry>,
}

/// A model call that waits for its next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// What went wrong.
    pub message: String,
    /// Which try is next, from 2.
    pub attempt: u32,
    /// When, milliseconds since the Unix epoch.
    pub at: i64,
}

impl CallRule {
    /// A call that just began.
    pub const fn new(line: CallLine, before: Option<(usize, usize)>, limit: Option<usize>) -> Self {
        Self { line, before, limit, usage: None, took_ms: None, retry: None }
    }
}

/// A tool call's row.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRow {
    /// The call.
    pub call: CallId,
    /// The declared name people read: `fs.list_directory`; the wire name where nothing held has it.
    pub name: String,
    /// What it may touch, where that is known (P17): what only reads is one dim line of status, anything else a row.
    pub risk: Option<Risk>,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// Where it stands.
    pub state: ToolState,
    /// What the model reads, once there is one.
    pub result: Option<String>,
    /// The unified diff its card showed, for a write.
    pub diff: Option<String>,
    /// The worker that it spawned.
    pub work: Option<Box<Work>>,
}

impl ToolRow {
    /// A call that was just made.
    pub fn new(call: CallId, name: impl Into<String>, arguments: serde_json::Value) -> Self {
        let name = name.into();
        Self { call, name, risk: None, arguments, state: ToolState::Called, result: None, diff: None, work: None }
    }
}

/// Where a tool call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolState {
    /// Made, not yet begun.
    Called,
    /// Running since this moment, milliseconds since the epoch; shown as `running 0:14` through
    /// [`super::Transcript::tick`].
    Running {
        /// When it began.
        since: i64,
    },
    /// It waits for a person: `WAITS FOR YOU · 1 of 2`.
    Waits {
        /// Its place in the inbox, from 1.
        place: usize,
        /// How many wait.
        of: usize,
    },
    /// It ended.
    Ended {
        /// How.
        ending: Ending,
        /// A few words: `14 entries`.
        note: Option<String>,
        /// What answered it, where it was gated: its word when it was not allowed.
        answer: Option<Answer>,
        /// How long it ran, milliseconds.
        took_ms: u64,
    },
}

/// An answered card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The tool: `compute.run_command`.
    pub tool: String,
    /// Who asked, outermost last.
    pub chain: Vec<String>,
    /// The answer.
    pub answer: Answer,
}

/// What an answer says beyond its words: the reason, the entry.
pub fn answer_detail(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::DeniedWithReason { reason }
        | Answer::AutoDenied { reason }
        | Answer::ReviewerApproved { reason, .. } => Some(reason),
        Answer::AllowedByFlag { entry } => Some(entry),
        _ => None,
    }
}

/// The word of an ending, for a row.
pub fn ending_word(ending: &Ending, answer: Option<&Answer>) -> String {
    let word = match ending {
        Ending::Ok | Ending::Loaded { .. } => "ok",
        Ending::Failed => "failed",
        Ending::InvalidArguments => "invalid arguments",
        Ending::Unknown => "unknown tool",
        Ending::Refused => "refused",
        Ending::NotAllowed => return answer.map_or_else(|| "not allowed".to_owned(), ToString::to_string),
        Ending::TimedOut => "timed out",
        Ending::NotExecuted => "not executed",
        Ending::Interrupted => "interrupted",
    };
    word.to_owned()
}

/// What a call was for, where it was not the agent's own.
pub const fn kind_word(kind: CallKind) -> Option<&'static str> {
    match kind {
        CallKind::Agent => None,
        CallKind::WrapUp => Some("wrap-up"),
        CallKind::Title => Some("title"),
    }
}

/// Bytes for people: `512 B`, `18.0 kB`, `1.2 MB`.
pub fn bytes(number: usize) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..999_950 => format!("{} kB", tenths(number, 1_000)),
        _ => format!("{} MB", tenths(number, 1_000_000)),
    }
}

/// Tokens for people: `96`, `7.0k`, `1.2M`.
pub fn tokens(number: u64) -> String {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    match number {
        0..1_000 => number.to_string(),
        1_000..999_950 => format!("{}k", tenths(number, 1_000)),
        _ => format!("{}M", tenths(number, 1_000_000)),
    }
}

/// A time span for people: `0.3 s`, `1.1 s`, `14 s`, `2 min 05 s`.
pub fn span(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min {:02} s", ms / 60_000, ms / 1_000 % 60),
    }
}

/// When something began that has gone on for so many milliseconds.
pub fn since(now: i64, for_ms: u64) -> i64 {
    now.saturating_sub(i64::try_from(for_ms).unwrap_or(i64::MAX))
}

/// A running clock: `0:14`, `1:02:03`.
pub fn clock(seconds: u64) -> String {
    match seconds {
        0..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

/// `number / unit`, rounded to one decimal.
fn tenths(number: usize, unit: usize) -> String {
    let tenths = (number / (unit / 100) + 5) / 10;
    format!("{}.{}", tenths / 10, tenths % 10)
}
