//! The life of one tool call, from the model's words to its one ending.
//!
//! A call owns its ending; nothing here runs anything.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::message::ResultMessage;
use crate::access::{Answer, ToolsetName};

/// A call's number: unique in its conversation, ascending, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call-{}", self.0)
    }
}

/// How a call ended: exactly one for every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// It ran and answered.
    Ok,
    /// It ran and answered with an error.
    Failed,
    /// `load_tools` loaded this toolset (R12 reads this field, never text).
    Loaded {
        /// The toolset.
        toolset: String,
    },
    /// Its arguments were not JSON, or did not fit the schema; it never ran.
    InvalidArguments,
    /// Nothing held has its name (A12); it never ran.
    Unknown,
    /// The dispatch re-check refused it (O3); it never ran.
    Refused,
    /// It was not allowed; the answer says by whom. It never ran.
    NotAllowed,
    /// Its time ran out.
    TimedOut,
    /// The cap on model calls was reached first; it never ran.
    NotExecuted,
    /// A stop or the program's end cut it off.
    Interrupted,
}

/// Arguments longer than this many bytes are refused as a result (P15).
pub const ARGUMENT_LIMIT: usize = 1024 * 1024;

/// Where a call stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallState {
    /// Not looked at yet; its turn comes when the one before it has ended.
    Waiting,
    /// The driver checks its arguments.
    Checking,
    /// A card is open.
    Asking {
        /// What would run.
        arguments: Value,
        /// Whether "for this conversation" can be answered.
        grantable: bool,
    },
    /// Its tool runs.
    Running,
    /// It leads the build of this toolset.
    Loading(ToolsetName),
    /// It waits for another call's build of the same toolset (R9).
    Joining(ToolsetName),
    /// It has its one ending.
    Ended(ResultMessage),
}

/// One call of the round that is being worked off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// Its number.
    pub id: CallId,
    /// The wire name as the model wrote it.
    pub wire: String,
    /// Its arguments as received.
    pub raw: String,
    /// The model ran out of output before it wrote them.
    pub cut: bool,
    /// Index into the held list; it never moves, because a held list only grows by a suffix (R7).
    pub tool: Option<usize>,
    /// Where it stands.
    pub state: CallState,
    /// Who answered it, once somebody did (P13).
    pub answer: Option<Answer>,
    /// When it began to run.
    pub began: Option<i64>,
}

impl Call {
    /// Whether it has its ending.
    pub fn ended(&self) -> bool {
        matches!(self.state, CallState::Ended(_))
    }
}

/// What a model wrote as a call's arguments. Nothing at all means no arguments; anything else must be a JSON object and
/// is never repaired or replaced.
///
/// # Errors
/// A fragment that says why this is no JSON object, with the parser's own message.
pub fn parse_arguments(raw: &str) -> Result<Map<String, Value>, String> {
    if raw.len() > ARGUMENT_LIMIT {
        return Err(format!("{} bytes are more than the limit of {ARGUMENT_LIMIT}", raw.len()));
    }
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    let kind = match serde_json::from_str(raw) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Err(error) => return Err(format!("not valid JSON: {error}")),
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Array(_)) => "an array",
    };
    Err(format!("expected a JSON object, got {kind}"))
}

/// A call's arguments for people: parsed where they parse, else the text as received.
pub fn shown_arguments(raw: &str) -> Value {
    parse_arguments(raw).map_or_else(|_| Value::String(raw.to_owned()), Value::Object)
}

/// Compact JSON with the keys of every object sorted: equal values have equal text (P16).
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The result texts of calls that did not run, or not to their end.
pub(super) mod text {
    /// Arguments that never reached the schema check.
    pub fn invalid_arguments(wire: &str, why: &str) -> String {
        format!("invalid arguments for tool '{wire}': {why}")
    }

    /// A person, or nobody, did not allow it.
    pub fn not_approved(wire: &str, reason: Option<&str>) -> String {
        match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("Tool '{wire}' was not approved: {reason}"),
            None => format!("Tool '{wire}' was not approved."),
        }
    }

    /// An expiry is neither a yes nor a no (P13).
    pub fn expired(wire: &str) -> String {
        format!("Tool '{wire}' was not run: nobody answered in time, which is neither a yes nor a no.")
    }

    /// The question went away unanswered.
    pub fn unanswered(wire: &str, why: &str) -> String {
        format!("Tool '{wire}' was not run: {why} before anybody answered.")
    }

    /// The cap came first.
    pub fn capped(wire: &str) -> String {
        format!("Tool '{wire}' was not executed: the tool-use limit for this task was reached.")
    }

    /// The provider refused the whole answer.
    pub fn declined(wire: &str) -> String {
        format!("Tool '{wire}' was not executed: the model declined this request.")
    }

    /// Stopped before it ran.
    pub fn stopped_before(wire: &str) -> String {
        format!("Tool '{wire}' was not run: the turn was stopped first.")
    }

    /// Stopped while its build ran (R9).
    pub fn stopped_loading(wire: &str) -> String {
        format!("Tool '{wire}' was interrupted: the turn was stopped first, and nothing was loaded.")
    }

    /// Stopped while it ran.
    pub fn stopped_within(wire: &str) -> String {
        format!("Tool '{wire}' was interrupted: the turn was stopped while it ran, so part of it may have happened.")
    }
}
