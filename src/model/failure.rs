//! What goes wrong with a model call, as typed failures: kind, sentence, hint and retry class.
//!
//! Pure. No sentence here holds a key: callers hand in text that was already cleared of them, and a 401's own words,
//! which often quote the key, are left out.

use serde_json::Value;

use crate::agent::{Failure, FailureKind, Retry};

use super::select::Provider;

/// Characters of a failure's message.
const MESSAGE_LIMIT: usize = 1000;
/// Characters of what a server said.
const QUOTE_LIMIT: usize = 600;
/// A server's floor is believed up to a day.
const FLOOR_LIMIT_MS: u64 = 86_400_000;

/// Who is being talked to, for sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The provider.
    pub provider: Provider,
    /// Host and port.
    pub host: String,
    /// The model's id.
    pub model: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.provider.name(), self.host)
    }
}

/// A failure with a bounded message.
pub fn failure(kind: FailureKind, message: &str, hint: impl Into<Option<String>>, retry: Retry) -> Failure {
    Failure { kind, message: bounded(message, MESSAGE_LIMIT), hint: hint.into(), retry }
}

/// No connection, or it broke before the first byte.
pub fn unreachable(place: &Place, cause: &str) -> Failure {
    let hint = if place.provider.is_local() {
        format!("start its server, or name another address: {}:{}@http://host:port", place.provider.name(), place.model)
    } else {
        "check the network and the address".to_owned()
    };
    failure(FailureKind::Unreachable, &format!("no connection to {place}: {cause}"), hint, backoff())
}

/// The stream broke off without a finish reason.
pub fn cut(place: &Place, cause: &str) -> Failure {
    failure(FailureKind::Cut, &format!("{place} broke off in the middle of its answer: {cause}"), None, backoff())
}

/// No byte for too long.
pub fn stalled(place: &Place, seconds: u64) -> Failure {
    let hint = format!("a slow machine may need longer: raise [providers.{}] stall_timeout_s", place.provider.name());
    failure(FailureKind::Stalled, &format!("{place} sent nothing for {seconds} s"), hint, backoff())
}

/// Bytes that are not this wire.
pub fn malformed(place: &Place, what: &str) -> Failure {
    let hint = format!("check that the address speaks the wire of {}", place.provider.name());
    failure(FailureKind::Malformed, &format!("{place} sent what is not this wire: {what}"), hint, Retry::Never)
}

/// One frame or line of a stream as JSON. `unit`: which of the two, for the failure's words.
///
/// # Errors
/// It is none: [`malformed`].
pub fn json(place: &Place, unit: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| malformed(place, &format!("a {unit} that is not JSON: {error}")))
}

/// There is no key to call with.
pub fn no_key(place: &Place, cause: &str) -> Failure {
    failure(FailureKind::Unauthorized, &format!("no key for {place}: {cause}"), key_hint(place), Retry::Never)
}

/// It refused a call that carried no key.
pub fn wants_key(place: &Place, status: u16) -> Failure {
    let name = place.provider.name();
    // The usual variable is not read for an address that is not the usual one.
    let variable = place.provider.key_variable().unwrap_or("MY_KEY");
    let hint = format!("set [providers.{name}] api_key_env = \"{variable}\", or api_key_command");
    failure(FailureKind::Unauthorized, &format!("{place} wants a key ({status})"), hint, Retry::Never)
}

/// The failure behind an answer that is not 2xx. `floor_ms`: what `Retry-After` asked for.
pub fn refused(place: &Place, status: u16, floor_ms: u64, body: &str) -> Failure {
    let said = Said::read(body);
    classify(place, Some(status), floor_ms, &said)
}

/// The failure behind an error inside a stream that began with 200.
pub fn in_stream(place: &Place, error: &Value) -> Failure {
    let said = Said::of(error);
    classify(place, said.status, 0, &said)
}

/// The `Retry-After` floor in milliseconds; 0 when there is none. `millis` is the header `retry-after-ms` that some send.
pub fn retry_after(value: Option<&str>, millis: Option<&str>, now_ms: i64) -> u64 {
    if let Some(ms) = millis.and_then(|text| text.trim().parse::<u64>().ok()) {
        return ms.min(FLOOR_LIMIT_MS);
    }
    let Some(value) = value.map(str::trim) else { return 0 };
    if let Ok(seconds) = value.parse::<u64>() {
        return seconds.saturating_mul(1000).min(FLOOR_LIMIT_MS);
    }
    if let Some(seconds) = value.parse::<f64>().ok().filter(|seconds| (0.0..86_400.0).contains(seconds)) {
        return u64::try_from(std::time::Duration::from_secs_f64(seconds).as_millis()).unwrap_or(FLOOR_LIMIT_MS);
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value);
    date.map_or(0, |date| u64::try_from(date.as_millisecond().saturating_sub(now_ms)).unwrap_or(0).min(FLOOR_LIMIT_MS))
}

/// What a server said about an error, in any of the shapes they use.
#[derive(Debug, Default)]
struct Said {
    message: String,
    words: Vec<String>,
    status: Option<u16>,
}

impl Said {
    fn read(body: &str) -> Self {
        if let Ok(value) = serde_json::from_str::<Value>(body) {
            return Self::of(&value);
        }
        let text = body.trim();
        let message = if text.starts_with('<') { "an HTML page".to_owned() } else { text.to_owned() };
        Self { message, ..Self::default() }
    }

    fn of(value: &Value) -> Self {
        let mut said = Self::default();
        match value {
            Value::String(text) => text.clone_into(&mut said.message),
            Value::Array(list) => return list.first().map(Self::of).unwrap_or_default(),
            Value::Object(fields) => {
                // `{"error": {...}}`, `{"error": "..."}`, `{"detail": ...}`, or the error itself.
                if let Some(inner) =
                    ["error", "detail"].iter().find_map(|key| fields.get(*key)).filter(|v| !v.is_null())
                {
                    said = Self::of(inner);
                }
                for key in ["type", "code", "status"] {
                    match fields.get(key) {
                        Some(Value::String(word)) => said.words.push(word.clone()),
                        Some(Value::Number(number)) => {
                            let status = number.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| *n >= 400);
                            said.status = said.status.or(status);
                        }
                        _ => {}
                    }
                }
                if said.message.is_empty() {
                    let message = ["message", "msg"].iter().find_map(|key| fields.get(*key).and_then(Value::as_str));
                    message.unwrap_or_default().clone_into(&mut said.message);
                }
                // OpenRouter puts the words of the provider behind it here.
                if let Some(raw) = fields.get("metadata").and_then(|m| m.get("raw")).and_then(Value::as_str) {
                    said.message = format!("{}: {raw}", said.message);
                }
            }
            _ => {}
        }
        said
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    /// The kind that its words name.
    fn kind(&self) -> Option<FailureKind> {
        self.words.iter().find_map(|word| match word.as_str() {
            "authentication_error" | "invalid_api_key" | "permission_error" => Some(FailureKind::Unauthorized),
            "not_found_error" | "model_not_found" => Some(FailureKind::NotFound),
            "rate_limit_error" | "rate_limit_exceeded" => Some(FailureKind::RateLimited),
            "invalid_request_error" => Some(FailureKind::BadRequest),
            _ => None,
        })
    }

    fn quoted(&self) -> String {
        if self.message.trim().is_empty() {
            return self.words.first().map(|word| format!(": {word}")).unwrap_or_default();
        }
        format!(": {}", bounded(self.message.trim(), QUOTE_LIMIT))
    }
}

fn classify(place: &Place, status: Option<u16>, floor_ms: u64, said: &Said) -> Failure {
    let number = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let quoted = said.quoted();
    let again = Retry::Backoff { at_least_ms: floor_ms.min(FLOOR_LIMIT_MS) };
    if is_overflow(status, said) {
        let hint = match place.provider {
            Provider::Ollama => "start a new conversation, or raise [assistant.generation] context_length",
            _ => "start a new conversation, load fewer toolsets, or serve the model with a larger window",
        };
        let message = format!("the request does not fit the window of {} on {place}{quoted}", place.model);
        return failure(FailureKind::ContextOverflow, &message, hint.to_owned(), Retry::Never);
    }
    if said.has("insufficient_quota") || said.has("billing_error") || status == Some(402) {
        let message = format!("{place} will not answer on this account{number}{quoted}");
        return failure(FailureKind::BadRequest, &message, "check its credit and plan".to_owned(), Retry::Never);
    }
    let kind = match status {
        Some(401 | 403) => FailureKind::Unauthorized,
        // 405 and 501 are what servers of another kind answer to a POST.
        Some(404 | 405 | 410 | 501) => FailureKind::NotFound,
        Some(429) => FailureKind::RateLimited,
        Some(408 | 425 | 500..) => FailureKind::Overloaded,
        Some(_) | None => said.kind().unwrap_or(match status {
            Some(_) => FailureKind::BadRequest,
            // A server that had accepted the request and names no class of error: it is the server's.
            None => FailureKind::Overloaded,
        }),
    };
    match kind {
        FailureKind::Unauthorized if status == Some(403) || said.has("permission_error") => {
            failure(kind, &format!("{place} does not allow this{number}{quoted}"), key_hint(place), Retry::Never)
        }
        // Its own words often quote the key.
        FailureKind::Unauthorized => {
            failure(kind, &format!("{place} does not accept the key{number}"), key_hint(place), Retry::Never)
        }
        FailureKind::NotFound => {
            let hint = match place.provider {
                Provider::Ollama => format!("ollama pull {}", place.model),
                _ => "check the model's name and the address".to_owned(),
            };
            let message = format!("{place} has no model {} or no such endpoint{number}{quoted}", place.model);
            failure(kind, &message, hint, Retry::Never)
        }
        FailureKind::RateLimited => failure(kind, &format!("{place} asks to slow down{number}{quoted}"), None, again),
        FailureKind::Overloaded => failure(kind, &format!("{place} failed{number}{quoted}"), None, again),
        _ => {
            let hint = request_hint(place, said);
            failure(kind, &format!("{place} refused the request{number}{quoted}"), hint, Retry::Never)
        }
    }
}

/// Words that only an overflow has.
const OVERFLOW: [&str; 7] = [
    "maximum context length",
    "prompt is too long",
    "available context size",
    "exceeds the context length",
    "exceed context limit",
    "context the overflows",
    "reduce the length of the messages",
];

/// Servers word it differently; most give no code.
fn is_overflow(status: Option<u16>, said: &Said) -> bool {
    if status == Some(413) || said.has("context_length_exceeded") || said.has("exceed_context_size_error") {
        return true;
    }
    if said.has("request_too_large") || matches!(status, Some(401 | 403 | 404)) {
        return said.has("request_too_large");
    }
    let text = said.message.to_ascii_lowercase();
    OVERFLOW.iter().any(|phrase| text.contains(phrase)) || (text.contains("context window") && text.contains("exceed"))
}

fn request_hint(place: &Place, said: &Said) -> Option<String> {
    let text = said.message.to_ascii_lowercase();
    let model = format!("{}:{}", place.provider.name(), place.model);
    if text.contains("does not support tools") || text.contains("tool use is not supported") {
        return Some(format!("say so in the model string, and no tools are sent: {model};thinking (or ;structured)"));
    }
    if text.contains("does not support thinking") {
        return Some("remove `thinking` from the configuration".to_owned());
    }
    None
}

fn key_hint(place: &Place) -> String {
    let name = place.provider.name();
    match place.provider.key_variable() {
        Some(variable) => format!("set {variable}, or [providers.{name}] api_key_env or api_key_command"),
        None => format!("set [providers.{name}] api_key_env or api_key_command"),
    }
}

const fn backoff() -> Retry {
    Retry::Backoff { at_least_ms: 0 }
}

/// `text` on one line, without control characters, cut to `limit` characters.
pub fn bounded(text: &str, limit: usize) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = clean.clone().take(limit).collect();
    if clean.count() > limit {
        out.pop();
        out.push('…');
    }
    out
}
