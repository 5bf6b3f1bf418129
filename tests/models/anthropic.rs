//! Messages: what streams mean, and what requests look like.

use kokua::agent::{Delta, Ending, FailureKind, Opaque, StopReason, ToolChoice, Usage, UserMessage, UserOrigin};
use kokua::config::{Generation, Thinking};
use kokua::model::sse::Framing;
use kokua::model::wire::Wire;
use kokua::model::{ModelOptions, Provider, anthropic};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::common::*;

fn options() -> ModelOptions {
    ModelOptions::new(Provider::Anthropic, "claude-sonnet-4-5")
}

fn data(fields: Value) -> Delta {
    let fields = fields.as_object().cloned().unwrap();
    Delta::ReasoningData { opaque: Opaque { wire: "anthropic".into(), fields } }
}

#[test]
fn a_real_text_stream() {
    let (deltas, end) = decode_named("llamacpp-text.anthropic.sse");
    assert_eq!(end, Ok(()));
    assert_eq!(deltas[1], text("I'm here to help with any kind of creative writing project."));
    // 26 cached and 1 fresh: the wire counts them apart.
    let usage = Usage { input: Some(27), output: Some(14), cached: Some(26) };
    assert_eq!(deltas[2..], [Delta::Usage { usage }, Delta::Stop { reason: StopReason::End }]);
}

#[test]
fn a_real_call() {
    let (deltas, _) = decode_named("llamacpp-call.anthropic.sse");
    let expected = ("Q0MMNFUk5fZfkBFW1h9xdLHI7qcFGHTw", "read_file", r#"{"path": "cargo.toml"}"#);
    assert_eq!(calls(&deltas), [(expected.0.to_owned(), expected.1.to_owned(), expected.2.to_owned())]);
}

#[test]
fn thinking_keeps_its_signature_and_redacted_thinking_its_place() {
    let (deltas, end) = decode_named("thinking.anthropic.sse");
    assert_eq!(end, Ok(()));
    assert_eq!(
        deltas,
        [
            Delta::Usage { usage: Usage { input: Some(3210), output: Some(1), cached: Some(3000) } },
            Delta::Reasoning { text: "The file first – 先.".into() },
            data(json!({"type": "thinking", "signature": "EqQBCkYI=="})),
            data(json!({"type": "redacted_thinking", "data": "EmwKAhgB"})),
            text("I'll look."),
            start(0, "toolu_1", "read_file"),
            arguments(0, r#"{"path": "Cargo.toml"}"#),
            start(1, "toolu_2", "get_time"),
            Delta::Usage { usage: Usage { input: Some(3210), output: Some(89), cached: Some(3000) } },
            arguments(1, "{}"),
            Delta::Stop { reason: StopReason::Calls },
        ]
    );
}

#[test]
fn overloaded_inside_a_200_stream() {
    let (deltas, end) = decode_named("overloaded.anthropic.sse");
    assert_eq!(deltas.last(), Some(&text("I'll")));
    let failure = end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Overloaded);
    assert_eq!(failure.message, "anthropic at api.anthropic.com failed: Overloaded");
}

#[test]
fn missing_indices_mean_the_open_block() {
    let frames = [
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": "A"}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}}),
        json!({"type": "content_block_stop"}),
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "name": "f", "input": {"a": 1}}}),
        json!({"type": "content_block_stop"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let body: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
    let (deltas, end) = decode(Wire::Anthropic, Framing::Events, &[body.as_bytes()]);
    assert_eq!(
        deltas,
        [text("Ab"), start(0, "", "f"), arguments(0, r#"{"a":1}"#), Delta::Stop { reason: StopReason::Calls }]
    );
    // No `message_stop`; the stop reason is enough.
    assert_eq!(end, Ok(()));
}

#[test]
fn a_request_with_its_cache_breakpoints() {
    let request = request(vec![user("hi")], &["read_file", "write_file"]);
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let cache = json!({"type": "ephemeral"});
    assert_eq!(
        anthropic::encode(&request, &options()),
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 8192,
            "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": cache}],
            "tools": [
                {"name": "read_file", "description": "Does read_file. And more.", "input_schema": schema},
                {"name": "write_file", "description": "Does write_file. And more.", "input_schema": schema,
                 "cache_control": cache},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": cache}]},
            ],
        })
    );
}

#[test]
fn results_are_one_user_message_and_what_follows_joins_it() {
    let nudge = UserMessage { text: "go on".into(), origin: UserOrigin::Continuation };
    let messages = vec![
        user("hi"),
        assistant(vec![
            reasoning("Hm.", "anthropic", json!({"type": "thinking", "signature": "sig"})),
            reasoning("", "anthropic", json!({"type": "redacted_thinking", "data": "d"})),
            reasoning("foreign", "deepseek", json!({"text_field": "reasoning_content"})),
            reasoning("unsigned", "anthropic", json!({"type": "thinking", "signature": ""})),
            said("  "),
            call(1, "functions.f:0", "f", "[1]"),
            call(2, "toolu_2", "f", r#"{"a":1}"#),
            call(3, "toolu_2", "f", "{}"),
        ]),
        result(1, Ending::InvalidArguments, "not an object: [1]"),
        result(2, Ending::Ok, ""),
        result(3, Ending::NotAllowed, "Tool 'f' was not approved: too early"),
        assistant(vec![reasoning("Hm.", "anthropic", json!({"type": "thinking", "signature": "sig"}))]),
        kokua::agent::Message::User(nudge),
    ];
    let body = anthropic::encode(&request(messages, &[]), &options());
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "signature": "sig", "thinking": "Hm."},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
                {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "call_3", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "not an object: [1]", "is_error": true},
                {"type": "tool_result", "tool_use_id": "toolu_2"},
                {"type": "tool_result", "tool_use_id": "call_3", "content": "Tool 'f' was not approved: too early",
                 "is_error": true},
                {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}},
            ]},
        ])
    );
}

#[test]
fn o10_the_wrap_up_sends_the_same_list_with_choice_none() {
    let mut request = request(vec![user("hi")], &["read_file"]);
    request.tool_choice = ToolChoice::None;
    let body = anthropic::encode(&request, &options());
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
}

#[test]
fn thinking_gets_a_budget_under_the_limit_and_drops_what_the_wire_refuses() {
    let encode = |model: &str, thinking, max_tokens| {
        let mut options = ModelOptions::new(Provider::Anthropic, model);
        options.thinking = Some(thinking);
        options.generation = Generation { temperature: Some(0.3), top_k: Some(5), max_tokens, ..Generation::default() };
        (anthropic::encode(&request(vec![user("hi")], &[]), &options), options.unsent())
    };
    let (body, unsent) = encode("claude-sonnet-4-5", Thinking::Low, None);
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2048}));
    assert_eq!(body["max_tokens"], 8192 + 2048);
    assert_eq!((body.get("temperature"), body.get("top_k")), (None, None));
    assert_eq!(unsent, ["temperature", "top_k"]);
    let (body, _) = encode("claude-3-7-sonnet-20250219", Thinking::High, Some(2000));
    assert_eq!((&body["thinking"]["budget_tokens"], &body["max_tokens"]), (&json!(1999), &json!(2000)));
    let (body, _) = encode("claude-opus-4-6", Thinking::High, None);
    assert_eq!(body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(body["output_config"], json!({"effort": "high"}));
    let (body, unsent) = encode("claude-sonnet-4-5", Thinking::Off, None);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!((&body["temperature"], unsent.len()), (&json!(0.3), 0));
}

#[test]
fn the_prefix_of_a_longer_request_does_not_change() {
    let short = vec![user("hi"), assistant(vec![call(1, "", "f", "{}")]), result(1, Ending::Ok, "x")];
    let mut long = short.clone();
    long.extend([assistant(vec![call(2, "call_1", "f", "{}")]), result(2, Ending::Ok, "y")]);
    let ids = |messages| anthropic::encode(&request(messages, &[]), &options())["messages"][1].clone();
    assert_eq!(ids(short), ids(long.clone()));
    let body = anthropic::encode(&request(long, &[]), &options());
    assert_eq!(body["messages"][3]["content"][0]["id"], "call_2", "an id used before is minted anew");
}
