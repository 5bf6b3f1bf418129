//! Ollama's own wire: what streams mean, and what requests look like.

use kokua::agent::{Delta, Ending, FailureKind, Opaque, StopReason, ToolChoice, Usage};
use kokua::config::{Generation, Thinking};
use kokua::model::{ModelOptions, Provider, ollama};
use pretty_assertions::assert_eq;
use serde_json::{Map, json};

use super::common::*;

#[test]
fn thinking_text_and_calls_without_ids() {
    let (deltas, end) = decode_named("thinking.ollama.ndjson");
    assert_eq!(end, Ok(()));
    assert_eq!(
        deltas,
        [
            Delta::Reasoning { text: "Hm – ça.".into() },
            Delta::ReasoningData { opaque: Opaque { wire: "ollama".into(), fields: Map::new() } },
            text("Let me look."),
            start(0, "", "read_file"),
            arguments(0, r#"{"path":"Cargo.toml","max_lines":5}"#),
            start(1, "call_x", "get_time"),
            arguments(1, "{}"),
            Delta::Usage { usage: Usage { input: Some(321), output: Some(45), cached: None } },
            Delta::Stop { reason: StopReason::Calls },
        ]
    );
}

#[test]
fn an_error_inside_the_stream() {
    let (deltas, end) = decode_named("error.ollama.ndjson");
    assert_eq!(deltas, [text("So")]);
    assert_eq!(end.unwrap_err().kind, FailureKind::Overloaded);
}

#[test]
fn a_request() {
    let mut options = ModelOptions::new(Provider::Ollama, "qwen3:8b");
    options.thinking = Some(Thinking::Low);
    options.generation = Generation {
        temperature: Some(0.2),
        max_tokens: Some(50),
        context_length: Some(16_384),
        repetition_penalty: Some(1.1),
        ..Generation::default()
    };
    let messages = vec![
        user("hi"),
        assistant(vec![
            reasoning("Hm.", "ollama", json!({})),
            reasoning("foreign", "anthropic", json!({})),
            call(1, "", "read_file", r#"{"path":"a"}"#),
            call(2, "", "read_file", "{broken"),
        ]),
        result(1, Ending::Ok, "A"),
        result(2, Ending::InvalidArguments, "not JSON: {broken"),
    ];
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let request = request(messages, &["read_file"]);
    assert_eq!(
        ollama::encode(&request, &options),
        json!({
            "model": "qwen3:8b",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [
                    {"function": {"name": "read_file", "arguments": {"path": "a"}}},
                    {"function": {"name": "read_file", "arguments": {}}},
                ]},
                {"role": "tool", "tool_name": "read_file", "content": "A"},
                {"role": "tool", "tool_name": "read_file", "content": "not JSON: {broken"},
            ],
            "tools": [{"type": "function", "function": {
                "name": "read_file", "description": "Does read_file. And more.", "parameters": schema}}],
            "stream": true,
            "truncate": false,
            "think": "low",
            "options": {"temperature": 0.2, "repeat_penalty": 1.1, "num_predict": 50, "num_ctx": 16384},
        })
    );
    assert!(options.unsent().is_empty());
}

#[test]
fn o10_the_wire_has_no_choice_none_so_the_list_is_left_out() {
    let mut request = request(vec![user("hi")], &["read_file"]);
    request.tool_choice = ToolChoice::None;
    assert_eq!(ollama::encode(&request, &ModelOptions::new(Provider::Ollama, "m")).get("tools"), None);
}
