//! The life of one tool call, from the model's words to its one ending.
//!
//! A call owns its ending; nothing here runs anything.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::effect::Ask;
use super::message::ResultMessage;
use super::node::NodeId;
use crate::access::{Answer, AskReason, ToolsetName};

/// A call's number: unique in its conversation, never reused. The lower 32 bits count the calls of one agent, ascending; the
/// bits above are its [`NodeId`]. So calls sort by spawn order, then by the order of the calls: the order of the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

impl CallId {
    /// The call of this number of one agent.
    pub const fn of(node: NodeId, number: u32) -> Self {
        Self((node.0 as u64) << 32 | number as u64)
    }

    /// Whose call it is.
    pub const fn node(self) -> NodeId {
        NodeId((self.0 >> 32) as u32)
    }

    /// Its number among that agent's.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half of 64 bits")]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for CallId {
    /// `call-7`, of a worker `call-3.7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            NodeId::ENTRY => write!(f, "call-{}", self.number()),
            node => write!(f, "call-{}.{}", node.0, self.number()),
        }
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
    /// A card is open on this.
    Asking(Box<Ask>),
    /// A card is open on this, and the driver checks what a person made of its arguments.
    Editing(Box<Ask>),
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
    /// The entry that asked first, once one did.
    pub gate: Option<AskReason>,
    /// The arguments that a decision is about, as canonical text, once they were checked.
    pub canonical: Option<String>,
    /// The model's own arguments after coercion, once somebody is asked about them.
    pub asked: Option<Value>,
    /// The arguments that run, where a person changed them (P16).
    pub edited: Option<Value>,
    /// When it began to run.
    pub began: Option<i64>,
}

impl Call {
    /// Whether it has its ending.
    pub(super) fn ended(&self) -> bool {
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

/// The result of a call that a person changed: it begins with what ran (P16).
pub fn edited_result(arguments: &Value, result: &str) -> String {
    format!("{EDITED}. What ran: {}\n\n{result}", canonical(arguments))
}

/// The result of such a call of which nobody knows whether it ran.
pub fn edited_unknown(arguments: &Value, result: &str) -> String {
    format!("{EDITED}. What was allowed: {}\n\n{result}", canonical(arguments))
}

/// What such a result says without that beginning, for people who see what ran beside it.
pub fn without_edited(result: &str) -> &str {
    let rest = result.strip_prefix(EDITED).and_then(|rest| rest.split_once("\n\n"));
    rest.map_or(result, |(_, rest)| rest)
}

const EDITED: &str = "The user changed the arguments of this call before allowing it";

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
    use crate::access::name::shown;

    /// Arguments that never reached the schema check.
    pub(crate) fn invalid_arguments(wire: &str, why: &str) -> String {
        format!("invalid arguments for tool '{}': {why}", shown(wire))
    }

    /// A person, or nobody, did not allow it.
    pub(crate) fn not_approved(wire: &str, reason: Option<&str>) -> String {
        match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("Tool '{}' was not approved: {reason}", shown(wire)),
            None => format!("Tool '{}' was not approved.", shown(wire)),
        }
    }

    /// An expiry is neither a yes nor a no (P13).
    pub(crate) fn expired(wire: &str) -> String {
        format!("Tool '{}' was not run: nobody answered in time, which is neither a yes nor a no.", shown(wire))
    }

    /// The question went away unanswered.
    pub(crate) fn unanswered(wire: &str, why: &str) -> String {
        format!("Tool '{}' was not run: {why} before anybody answered.", shown(wire))
    }

    /// It was let go, and the driver kept it back.
    pub(crate) fn kept_back(wire: &str, why: &str) -> String {
        format!("Tool '{}' was not run: {why}", shown(wire))
    }

    /// The cap came first.
    pub(crate) fn capped(wire: &str) -> String {
        format!("Tool '{}' was not executed: the tool-use limit for this task was reached.", shown(wire))
    }

    /// The provider refused the whole answer.
    pub(crate) fn declined(wire: &str) -> String {
        format!("Tool '{}' was not executed: the model declined this request.", shown(wire))
    }

    /// Stopped before it ran. `why`: what ended, as `the turn was stopped`.
    pub(crate) fn stopped_before(wire: &str, why: &str) -> String {
        format!("Tool '{}' was not run: {why} first.", shown(wire))
    }

    /// Stopped while its build ran (R9).
    pub(crate) fn stopped_loading(wire: &str, why: &str) -> String {
        format!("Tool '{}' was interrupted: {why} first, and nothing was loaded.", shown(wire))
    }

    /// Stopped while it ran.
    pub(crate) fn stopped_within(wire: &str, why: &str) -> String {
        format!("Tool '{}' was interrupted: {why} while it ran, so part of it may have happened.", shown(wire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn p16_equal_arguments_have_one_canonical_text() {
        let one = json!({"b": [{"y": 1, "x": "é\n"}], "a": null});
        let two = json!({"a": null, "b": [{"x": "é\n", "y": 1}]});
        assert_eq!(canonical(&one), r#"{"a":null,"b":[{"x":"é\n","y":1}]}"#);
        assert_eq!(canonical(&one), canonical(&two));
        assert_ne!(canonical(&json!({"a": [1, 2]})), canonical(&json!({"a": [2, 1]})));
        assert_ne!(canonical(&json!({"a": 1})), canonical(&json!({"a": "1"})));
    }

    #[test]
    fn p15_arguments_over_one_mebibyte_are_refused() {
        let raw = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
        assert!(parse_arguments(&raw(ARGUMENT_LIMIT)).is_ok());
        let error = parse_arguments(&raw(ARGUMENT_LIMIT + 1)).unwrap_err();
        assert_eq!(error, "1048577 bytes are more than the limit of 1048576");
    }

    #[test]
    fn arguments_nested_without_end_are_an_error_and_no_overflow() {
        assert!(parse_arguments(&format!("{{\"a\":{}", "[".repeat(100_000))).unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn a_name_from_a_model_is_bounded_and_escaped_in_a_result() {
        let text = text::capped(&format!("\u{1b}[2J{}", "x".repeat(10_000)));
        assert!(text.len() < 200 && !text.contains('\u{1b}'), "{text}");
    }
}
