//! Requests and streams that the tests share.

use kokua::access::WireName;
use kokua::agent::{
    AssistantMessage, CallId, CallKind, Delta, Ending, Failure, Message, Opaque, Part, Reasoning, Request,
    ResultMessage, ToolCall, ToolChoice, ToolDefinition, UserMessage, UserOrigin,
};
use kokua::model::sse::Framing;
use kokua::model::wire::{Decoding, Wire};
use kokua::model::{ModelOptions, Provider};
use serde_json::{Value, json};

pub(crate) const STREAMS: &[(&str, Wire, Framing, &[u8])] = &[
    stream("llamacpp-text.openai.sse", include_bytes!("streams/llamacpp-text.openai.sse")),
    stream("llamacpp-call.openai.sse", include_bytes!("streams/llamacpp-call.openai.sse")),
    stream("llamacpp-calls.openai.sse", include_bytes!("streams/llamacpp-calls.openai.sse")),
    stream("llamacpp-length.openai.sse", include_bytes!("streams/llamacpp-length.openai.sse")),
    stream("llamacpp-whole.openai.json", include_bytes!("streams/llamacpp-whole.openai.json")),
    stream("reasoning-details.openai.sse", include_bytes!("streams/reasoning-details.openai.sse")),
    stream("reasoning-content.openai.sse", include_bytes!("streams/reasoning-content.openai.sse")),
    stream("several-calls-one-chunk.openai.sse", include_bytes!("streams/several-calls-one-chunk.openai.sse")),
    stream("repeated-index.openai.sse", include_bytes!("streams/repeated-index.openai.sse")),
    stream("error-in-stream.openai.sse", include_bytes!("streams/error-in-stream.openai.sse")),
    stream("llamacpp-text.anthropic.sse", include_bytes!("streams/llamacpp-text.anthropic.sse")),
    stream("llamacpp-call.anthropic.sse", include_bytes!("streams/llamacpp-call.anthropic.sse")),
    stream("thinking.anthropic.sse", include_bytes!("streams/thinking.anthropic.sse")),
    stream("overloaded.anthropic.sse", include_bytes!("streams/overloaded.anthropic.sse")),
    stream("thinking.ollama.ndjson", include_bytes!("streams/thinking.ollama.ndjson")),
    stream("error.ollama.ndjson", include_bytes!("streams/error.ollama.ndjson")),
];

const fn stream(name: &'static str, bytes: &'static [u8]) -> (&'static str, Wire, Framing, &'static [u8]) {
    // Names end in `openai.sse`, `openai.json`, `anthropic.sse` or `ollama.ndjson`.
    let letters = name.as_bytes();
    let (wire, framing) = match letters[letters.len() - 5] {
        b'd' | b'.' if letters[letters.len() - 6] == b'n' => (Wire::Ollama, Framing::Lines),
        b'.' => (Wire::OpenAi, Framing::Whole),
        b'c' => (Wire::Anthropic, Framing::Events),
        _ => (Wire::OpenAi, Framing::Events),
    };
    (name, wire, framing, bytes)
}

pub(crate) fn provider(wire: Wire) -> Provider {
    match wire {
        Wire::OpenAi => Provider::OpenAi,
        Wire::Anthropic => Provider::Anthropic,
        Wire::Ollama => Provider::Ollama,
    }
}

/// What a stream decodes to, adjacent pieces joined, and how it ended.
pub(crate) fn decode(wire: Wire, framing: Framing, pieces: &[&[u8]]) -> (Vec<Delta>, Result<(), Failure>) {
    let mut decoding = Decoding::new(wire, framing, &ModelOptions::new(provider(wire), "m"));
    let mut deltas = Vec::new();
    for piece in pieces {
        if let Err(failure) = decoding.push(piece, &mut deltas) {
            return (joined(deltas), Err(failure));
        }
        if decoding.is_done() {
            return (joined(deltas), Ok(()));
        }
    }
    let end = decoding.finish(&mut deltas);
    (joined(deltas), end)
}

pub(crate) fn decode_named(name: &str) -> (Vec<Delta>, Result<(), Failure>) {
    let (_, wire, framing, bytes) = STREAMS.iter().find(|(known, ..)| *known == name).expect("a known stream");
    decode(*wire, *framing, &[bytes])
}

/// Adjacent text, reasoning and arguments as one.
pub(crate) fn joined(deltas: Vec<Delta>) -> Vec<Delta> {
    let mut out: Vec<Delta> = Vec::new();
    for delta in deltas {
        match (out.last_mut(), &delta) {
            (Some(Delta::Text { text }), Delta::Text { text: more })
            | (Some(Delta::Reasoning { text }), Delta::Reasoning { text: more }) => text.push_str(more),
            (Some(Delta::CallArguments { index, text }), Delta::CallArguments { index: other, text: more })
                if index == other =>
            {
                text.push_str(more);
            }
            _ => out.push(delta),
        }
    }
    out
}

pub(crate) fn text(text: &str) -> Delta {
    Delta::Text { text: text.to_owned() }
}

pub(crate) fn start(index: usize, id: &str, name: &str) -> Delta {
    Delta::CallStart { index, id: id.to_owned(), name: name.to_owned() }
}

pub(crate) fn arguments(index: usize, text: &str) -> Delta {
    Delta::CallArguments { index, text: text.to_owned() }
}

/// The calls of a decoded stream, put together: id, name, arguments.
pub(crate) fn calls(deltas: &[Delta]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for delta in deltas {
        match delta {
            Delta::CallStart { index, id, name } => {
                assert_eq!(*index, calls.len(), "indices are minted in order");
                calls.push((id.clone(), name.clone(), String::new()));
            }
            Delta::CallArguments { index, text } => calls[*index].2.push_str(text),
            _ => {}
        }
    }
    calls
}

pub(crate) fn user(words: &str) -> Message {
    Message::User(UserMessage { text: words.to_owned(), origin: UserOrigin::Person })
}

pub(crate) fn call(id: u64, provider_id: &str, wire: &str, arguments: &str) -> Part {
    Part::Call(ToolCall {
        risk: None,
        id: CallId(id),
        provider_id: provider_id.to_owned(),
        wire: wire.to_owned(),
        shown: format!("toolset.{wire}"),
        arguments: arguments.to_owned(),
        opaque: None,
    })
}

pub(crate) fn said(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

pub(crate) fn reasoning(text: &str, wire: &str, fields: Value) -> Part {
    let fields = fields.as_object().cloned().unwrap_or_default();
    Part::Reasoning(Reasoning { text: text.to_owned(), opaque: Some(Opaque { wire: wire.to_owned(), fields }) })
}

pub(crate) fn assistant(parts: Vec<Part>) -> Message {
    Message::Assistant(AssistantMessage { parts, stop: None })
}

pub(crate) fn result(id: u64, ending: Ending, text: &str) -> Message {
    Message::Result(ResultMessage { call: CallId(id), ending, text: text.to_owned() })
}

pub(crate) fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        wire: WireName::new(name),
        description: format!("Does {name}. And more."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

pub(crate) fn request(messages: Vec<Message>, tools: &[&str]) -> Request {
    Request {
        kind: CallKind::Agent,
        system: "Be brief.".to_owned(),
        messages,
        tools: tools.iter().map(|name| tool(name)).collect(),
        tool_choice: ToolChoice::Auto,
    }
}
