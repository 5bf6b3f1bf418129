//! Messages, model requests and what a model streams back, provider-neutral.
//!
//! Data that only a provider understands is kept verbatim and never interpreted here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::{CallId, Ending};
use crate::access::{Risk, WireName};

/// Who put words into a user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserOrigin {
    /// A person typed it.
    Person,
    /// The run, after an empty turn.
    Continuation,
    /// The run, asking for the wrap-up at the cap.
    FinalAnswer,
    /// Another agent of the same turn (D6). The words begin with the mark that says which.
    Agent,
}

/// What was said to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The words.
    pub text: String,
    /// Whose.
    pub origin: UserOrigin,
}

/// Provider data kept verbatim and sent back to the provider that it came from, and to no other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Opaque {
    /// The wire it came over: `openai`, `anthropic`, `ollama`.
    pub wire: String,
    /// Its fields as received.
    pub fields: Map<String, Value>,
}

impl Opaque {
    /// How long its fields are as JSON, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.fields.iter().map(|(key, value)| key.len() + value.to_string().len()).sum()
    }
}

/// A stretch of reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reasoning {
    /// Its text; may be empty when the provider sends only `opaque`.
    pub text: String,
    /// Signatures, encrypted content and the like.
    pub opaque: Option<Opaque>,
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ours: unique in the conversation.
    pub id: CallId,
    /// The provider's own id, empty when it sent none. Sent back as it was; adapters mint one from `id` when empty.
    pub provider_id: String,
    /// The wire name as the model wrote it.
    pub wire: String,
    /// The declared name people read, `toolset.tool`; the wire name where nothing held has it.
    pub shown: String,
    /// What the tool may touch; nothing where nothing held has it, and in logs written before it was kept (P17).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The arguments as received: JSON text, possibly broken. Never repaired.
    pub arguments: String,
    /// Provider data that belongs to the call.
    pub opaque: Option<Opaque>,
}

/// A part of an assistant message, in the order streamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Text for the reader.
    Text {
        /// The words.
        text: String,
    },
    /// Reasoning.
    Reasoning(Reasoning),
    /// A tool call.
    Call(ToolCall),
}

/// One answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// In the order streamed.
    pub parts: Vec<Part>,
    /// Why it ended, if it did by itself.
    pub stop: Option<StopReason>,
}

impl AssistantMessage {
    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text { .. } | Part::Reasoning(_) => None,
        })
    }

    /// Its text parts, joined.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Reasoning(_) | Part::Call(_) => None,
            })
            .collect()
    }
}

/// The one result of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultMessage {
    /// The call.
    pub call: CallId,
    /// How it ended.
    pub ending: Ending,
    /// What the model reads.
    pub text: String,
}

/// One message of a request, in order. Results follow the assistant message whose calls they end, in call order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// To the model.
    User(UserMessage),
    /// From the model.
    Assistant(AssistantMessage),
    /// A call's result.
    Result(ResultMessage),
}

/// A tool as one request carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name on the wire.
    pub wire: WireName,
    /// For the model.
    pub description: String,
    /// JSON Schema of the arguments: an object schema.
    pub schema: Value,
}

impl ToolDefinition {
    /// Name, description and schema as compact JSON: what one model call pays for it, whatever the wire wraps it in.
    fn compact(&self) -> String {
        serde_json::json!({"name": self.wire, "description": self.description, "schema": self.schema}).to_string()
    }

    /// Its length as compact JSON, in bytes.
    pub fn bytes(&self) -> usize {
        self.compact().len()
    }

    /// Hex SHA-256 of its compact JSON: another digest is another definition (O3).
    pub fn digest(&self) -> String {
        use sha2::Digest as _;
        format!("{:x}", sha2::Sha256::digest(self.compact()))
    }
}

/// What a model call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// The agent's own round.
    Agent,
    /// The forced last answer at the cap, tools off (O10).
    WrapUp,
    /// A title for the conversation.
    Title,
}

/// Whether the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// It decides.
    Auto,
    /// It may not, though the list is sent (O10).
    None,
}

/// One model call. What model, how it reasons and with which sampling is the client's, not the request's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What for.
    pub kind: CallKind,
    /// The system message.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The offer, in wire order.
    pub tools: Vec<ToolDefinition>,
    /// Whether it may call.
    pub tool_choice: ToolChoice,
}

/// Why a model stopped by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It wants its calls run.
    Calls,
    /// It ran out of output tokens.
    Length,
    /// It declined, with the provider's words if any.
    Refusal(Option<String>),
    /// Anything else, as the provider wrote it.
    Other(String),
}

/// Tokens of one model call; absent where the provider said nothing, never zero for absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Input tokens read from the provider's cache.
    pub cached: Option<u64>,
}

/// One piece of a model's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "delta", rename_all = "snake_case")]
pub enum Delta {
    /// Text.
    Text {
        /// The piece.
        text: String,
    },
    /// Reasoning text.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// Provider data that closes the reasoning part now open, or stands alone as one.
    ReasoningData {
        /// As received.
        opaque: Opaque,
    },
    /// A call begins. `index` is minted by the decoder: 0, 1, 2 in order of appearance, never repeated in one stream.
    CallStart {
        /// Which call of this stream.
        index: usize,
        /// The provider's id; empty when it sent none.
        id: String,
        /// The wire name, whole.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// Which call.
        index: usize,
        /// The piece.
        text: String,
    },
    /// Provider data that belongs to a call.
    CallData {
        /// Which call.
        index: usize,
        /// As received.
        opaque: Opaque,
    },
    /// Token counts so far; a later one replaces fields that it has.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// Why it stopped. Usage may still follow.
    Stop {
        /// The reason.
        reason: StopReason,
    },
}

/// The kind of a model failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No connection, or it broke before the first byte.
    Unreachable,
    /// The stream broke off in the middle.
    Cut,
    /// No byte for `stall_timeout_s`.
    Stalled,
    /// 401, 403, or no key.
    Unauthorized,
    /// 404: no such model or endpoint.
    NotFound,
    /// 429.
    RateLimited,
    /// 5xx, 529, "overloaded" inside a 200 stream.
    Overloaded,
    /// The request does not fit the model's window.
    ContextOverflow,
    /// Another 4xx: the request itself is refused.
    BadRequest,
    /// Bytes that are not this wire.
    Malformed,
}

/// When a failed model call may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "retry", rename_all = "snake_case")]
pub enum Retry {
    /// Not without a change.
    Never,
    /// With full-jitter back-off, not before `at_least_ms`.
    Backoff {
        /// The server's own floor (`Retry-After`), in milliseconds; 0 when it named none.
        at_least_ms: u64,
    },
}

/// A model call that failed. Never holds a key or a whole body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What happened and where: a lower-case fragment, bounded to 1,000 characters.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether to try again.
    pub retry: Retry,
}
