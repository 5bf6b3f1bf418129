//! Chat Completions: what streams mean, and what requests look like.

use kokua::agent::{Delta, Ending, FailureKind, Opaque, StopReason, ToolChoice, Usage};
use kokua::config::{Generation, Thinking};
use kokua::model::sse::Framing;
use kokua::model::wire::Wire;
use kokua::model::{Flag, Flags, ModelOptions, Provider, openai};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::common::*;

fn usage(input: u64, output: u64, cached: Option<u64>) -> Delta {
    Delta::Usage { usage: Usage { input: Some(input), output: Some(output), cached } }
}

fn decode_data(frames: &[Value]) -> (Vec<Delta>, Result<(), kokua::agent::Failure>) {
    let body: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
    decode(Wire::OpenAi, Framing::Events, &[body.as_bytes()])
}

fn chunk(delta: Value, reason: Option<&str>) -> Value {
    json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

#[test]
fn a_real_text_stream() {
    let (deltas, end) = decode_named("llamacpp-text.openai.sse");
    assert_eq!(
        deltas,
        [
            text("I'm here to help with any kind of creative writing project."),
            Delta::Stop { reason: StopReason::End },
            usage(27, 14, Some(0)),
        ]
    );
    assert_eq!(end, Ok(()));
}

#[test]
fn a_real_call_whose_usage_follows_the_finish_reason() {
    let (deltas, end) = decode_named("llamacpp-call.openai.sse");
    assert_eq!(
        deltas,
        [
            start(0, "J1d9sE5k88edJ7CvU5T8Mf5A0LEvbscX", "read_file"),
            arguments(0, r#"{"path": "cargo.toml"}"#),
            Delta::Stop { reason: StopReason::Calls },
            usage(161, 29, Some(10)),
        ]
    );
    assert_eq!(end, Ok(()));
}

#[test]
fn real_calls_in_one_message() {
    let (deltas, _) = decode_named("llamacpp-calls.openai.sse");
    let names: Vec<String> = calls(&deltas).into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(names, ["read_file", "get_time", "get_time"]);
}

#[test]
fn out_of_tokens() {
    let (deltas, _) = decode_named("llamacpp-length.openai.sse");
    assert!(deltas.contains(&Delta::Stop { reason: StopReason::Length }));
}

#[test]
fn a_server_that_does_not_stream() {
    let (deltas, end) = decode_named("llamacpp-whole.openai.json");
    assert_eq!(deltas[0], text("I'm here to help with any kind of creative writing project"));
    assert_eq!(end, Ok(()));
}

#[test]
fn reasoning_details_are_kept_verbatim_and_closed_before_the_text() {
    let (deltas, end) = decode_named("reasoning-details.openai.sse");
    let fields = json!({
        "text_field": "reasoning",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "Look at the file.", "format": "anthropic-claude-v1", "index": 0,
             "signature": "Ep8BCkYIBxgC=="},
            {"type": "reasoning.encrypted", "data": "gAAAAABo", "format": "anthropic-claude-v1", "index": 1},
        ],
    });
    assert_eq!(
        deltas,
        [
            Delta::Reasoning { text: "Look at the file.".into() },
            Delta::ReasoningData {
                opaque: Opaque { wire: "openai".into(), fields: fields.as_object().cloned().unwrap() }
            },
            text("Ça va – 世界 🌍"),
            start(0, "toolu_01", "read_file"),
            arguments(0, r#"{"path": "Cargo.toml"}"#),
            Delta::Stop { reason: StopReason::Calls },
            usage(1100, 58, Some(1024)),
        ]
    );
    assert_eq!(end, Ok(()));
}

#[test]
fn reasoning_content_is_reasoning_and_tags_in_text_are_text() {
    let (deltas, _) = decode_named("reasoning-content.openai.sse");
    assert_eq!(deltas[0], Delta::Reasoning { text: "Two and two.".into() });
    assert_eq!(deltas[2], text("It is <think>4</think>."));
    assert_eq!(deltas[4], usage(12, 20, Some(8)));
}

#[test]
fn several_calls_of_one_chunk_without_index_or_id() {
    let (deltas, end) = decode_named("several-calls-one-chunk.openai.sse");
    let expected = [
        ("read_file", r#"{"path":"a"}"#),
        ("read_file", r#"{"path":"b"}"#),
        ("get_time", "{}"),
        ("read_file", r#"{"path":"c"}"#),
    ];
    let expected = expected.map(|(name, text)| (String::new(), name.to_owned(), text.to_owned()));
    assert_eq!(calls(&deltas), expected);
    // `stop` with calls is a server's slip; the stream has no end marker and its finish reason is enough.
    assert!(deltas.contains(&Delta::Stop { reason: StopReason::Calls }));
    assert_eq!(end, Ok(()));
}

#[test]
fn one_index_for_several_calls_and_unknown_fields_kept() {
    let (deltas, _) = decode_named("repeated-index.openai.sse");
    let ids_and_arguments: Vec<_> = calls(&deltas).into_iter().map(|(id, _, text)| (id, text)).collect();
    let expected = [("call_a", r#"{"path":"a"}"#), ("call_b", r#"{"path":"b"}"#), ("", r#"{"path":"c"}"#)];
    assert_eq!(ids_and_arguments, expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
    let fields = json!({"extra_content": {"google": {"thought_signature": "c2ln"}}});
    let opaque = Opaque { wire: "openai".into(), fields: fields.as_object().cloned().unwrap() };
    assert!(deltas.contains(&Delta::CallData { index: 1, opaque }));
}

#[test]
fn the_name_after_the_id_and_arguments_before_the_name() {
    let entry = |entry: Value| chunk(json!({"tool_calls": [entry]}), None);
    let (deltas, _) = decode_data(&[
        entry(json!({"index": 0, "id": "a"})),
        entry(json!({"index": 0, "function": {"arguments": "{"}})),
        entry(json!({"index": 0, "function": {"name": "f", "arguments": "}"}})),
        chunk(json!({}), Some("tool_calls")),
    ]);
    assert_eq!(calls(&deltas), [("a".to_owned(), "f".to_owned(), "{}".to_owned())]);
}

#[test]
fn another_id_under_the_same_index_is_another_call_even_without_arguments() {
    let piece = |id: &str| {
        chunk(json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": "f", "arguments": ""}}]}), None)
    };
    let (deltas, _) = decode_data(&[piece("a"), piece("a"), piece("b"), chunk(json!({}), Some("tool_calls"))]);
    let expected = [("a", "{}"), ("b", "{}")].map(|(id, text)| (id.to_owned(), "f".to_owned(), text.to_owned()));
    assert_eq!(calls(&deltas), expected);
}

#[test]
fn a_new_id_in_every_piece_is_one_call() {
    let piece = |id: &str, function: Value| chunk(json!({"tool_calls": [{"id": id, "function": function}]}), None);
    let (deltas, _) = decode_data(&[
        piece("x1", json!({"name": "f", "arguments": "{\"a\""})),
        piece("x2", json!({"arguments": ":1}"})),
        chunk(json!({}), Some("tool_calls")),
    ]);
    assert_eq!(calls(&deltas), [("x1".to_owned(), "f".to_owned(), r#"{"a":1}"#.to_owned())]);
}

#[test]
fn arguments_cut_off_by_the_limit_do_not_become_an_object() {
    let (deltas, _) = decode_data(&[
        chunk(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]}), None),
        chunk(json!({}), Some("length")),
    ]);
    assert_eq!(calls(&deltas)[0].2, "");
}

#[test]
fn a_refusal_has_its_words() {
    let (deltas, _) = decode_data(&[
        chunk(json!({"refusal": "I can't "}), None),
        chunk(json!({"refusal": "do that."}), None),
        chunk(json!({}), Some("stop")),
    ]);
    assert_eq!(deltas, [Delta::Stop { reason: StopReason::Refusal(Some("I can't do that.".into())) }]);
}

#[test]
fn an_error_inside_a_200_stream() {
    let (deltas, end) = decode_named("error-in-stream.openai.sse");
    assert_eq!(deltas, [text("So")]);
    let failure = end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Overloaded);
    assert_eq!(failure.message, "openai at api.openai.com failed (502): Provider returned error: upstream reset");
}

#[test]
fn a_stream_that_just_ends() {
    let (deltas, end) = decode_data(&[chunk(json!({"content": "So"}), None)]);
    assert_eq!(deltas, [text("So")]);
    assert_eq!(end.unwrap_err().kind, FailureKind::Cut);
}

#[test]
fn an_end_marker_without_a_finish_reason_is_an_end() {
    let body = format!("data: {}\n\ndata: [DONE]\n\n", chunk(json!({"content": "So"}), None));
    let (deltas, end) = decode(Wire::OpenAi, Framing::Events, &[body.as_bytes()]);
    assert_eq!(deltas, [text("So"), Delta::Stop { reason: StopReason::End }]);
    assert_eq!(end, Ok(()));
}

#[test]
fn bytes_of_another_wire() {
    let (_, end) = decode(Wire::OpenAi, Framing::Events, &[b"data: hello\n\n"]);
    assert_eq!(end.unwrap_err().kind, FailureKind::Malformed);
    let (_, end) = decode(Wire::OpenAi, Framing::Events, &[b"data: {\"type\":\"message_start\"}\n\n"]);
    assert_eq!(end.unwrap_err().kind, FailureKind::Malformed);
}

#[test]
fn a_request() {
    let request = request(vec![user("hi")], &["read_file"]);
    let options = ModelOptions::new(Provider::OpenAi, "gpt");
    assert_eq!(
        openai::encode(&request, &options),
        json!({
            "model": "gpt",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {
                "name": "read_file",
                "description": "Does read_file. And more.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
            }}],
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn a_conversation_goes_back_as_the_provider_takes_it() {
    let messages = vec![
        user("one"),
        assistant(vec![]),
        user("two"),
        assistant(vec![
            said("Looking."),
            call(1, "", "read_file", r#"{"path":"a"}"#),
            call(2, "own", "compute.run command", "{broken"),
            call(3, "own", "", ""),
        ]),
        result(1, Ending::Ok, "A"),
        result(2, Ending::InvalidArguments, "not JSON: {broken"),
        result(3, Ending::Unknown, "no tool"),
    ];
    let body = openai::encode(&request(messages, &[]), &ModelOptions::new(Provider::OpenAi, "gpt"));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "one\n\ntwo"},
            {"role": "assistant", "content": "Looking.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
                {"id": "own", "type": "function", "function": {"name": "compute_run_command", "arguments": "{}"}},
                {"id": "call_3", "type": "function", "function": {"name": "unnamed", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "A"},
            {"role": "tool", "tool_call_id": "own", "content": "not JSON: {broken"},
            {"role": "tool", "tool_call_id": "call_3", "content": "no tool"},
        ])
    );
    assert_eq!(body.get("tools"), None);
}

#[test]
fn provider_data_goes_back_verbatim_and_to_nobody_else() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let parts = vec![
        reasoning("Hm.", "openrouter", json!({"text_field": "reasoning", "reasoning_details": details})),
        reasoning("secret", "anthropic", json!({"type": "thinking", "signature": "s"})),
        said("Yes."),
    ];
    let request = request(vec![user("hi"), assistant(parts), user("and?")], &[]);
    let own = openai::encode(&request, &ModelOptions::new(Provider::OpenRouter, "m"));
    let expected = json!({"role": "assistant", "content": "Yes.", "reasoning": "Hm.", "reasoning_details": details});
    assert_eq!(own["messages"][2], expected);
    for other in [Provider::OpenAi, Provider::DeepSeek, Provider::Groq] {
        let body = openai::encode(&request, &ModelOptions::new(other, "m"));
        assert_eq!(body["messages"][2], json!({"role": "assistant", "content": "Yes."}), "{other}");
    }
}

#[test]
fn what_was_decoded_is_what_goes_back() {
    let (deltas, _) = decode_named("reasoning-content.openai.sse");
    let Delta::ReasoningData { opaque } = &deltas[1] else { panic!("{deltas:?}") };
    let part = reasoning("Two and two.", &opaque.wire, Value::Object(opaque.fields.clone()));
    let request = request(vec![user("hi"), assistant(vec![part, said("4")])], &[]);
    let body = openai::encode(&request, &ModelOptions::new(Provider::OpenAi, "m"));
    assert_eq!(body["messages"][2]["reasoning_content"], "Two and two.");
}

#[test]
fn o10_the_wrap_up_sends_the_same_list_with_choice_none() {
    let mut request = request(vec![user("hi")], &["read_file"]);
    request.tool_choice = ToolChoice::None;
    let body = openai::encode(&request, &ModelOptions::new(Provider::OpenAi, "m"));
    assert_eq!(body["tool_choice"], "none");
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
}

#[test]
fn flags_narrow_only_where_they_are_written() {
    let request = request(vec![user("hi")], &["read_file"]);
    let mut options = ModelOptions::new(Provider::Compatible, "m");
    options.thinking = Some(Thinking::High);
    assert!(openai::encode(&request, &options).get("tools").is_some());
    options.flags = Flags::only([Flag::Tools]);
    let body = openai::encode(&request, &options);
    assert!(body.get("tools").is_some() && body.get("reasoning_effort").is_none());
    assert_eq!(options.unsent(), ["thinking"]);
    options.flags = Flags::only([Flag::Thinking]);
    let body = openai::encode(&request, &options);
    assert!(body.get("tools").is_none() && body.get("reasoning_effort").is_some());
}

#[test]
fn each_dialect_names_its_settings_its_own_way() {
    let generation = Generation {
        temperature: Some(0.5),
        top_k: Some(40),
        repetition_penalty: Some(1.1),
        max_tokens: Some(100),
        context_length: Some(4096),
        ..Generation::default()
    };
    let encode = |provider| {
        let mut options = ModelOptions::new(provider, "m");
        options.generation = generation.clone();
        let mut body = openai::encode(&request(vec![user("hi")], &[]), &options);
        for common in ["model", "messages", "stream", "stream_options"] {
            body.as_object_mut().unwrap().remove(common);
        }
        (body, options.unsent())
    };
    let (body, unsent) = encode(Provider::OpenAi);
    assert_eq!(body, json!({"temperature": 0.5, "max_completion_tokens": 100}));
    assert_eq!(unsent, ["top_k", "repetition_penalty"]);
    let (body, unsent) = encode(Provider::LlamaCpp);
    assert_eq!(body, json!({"temperature": 0.5, "max_tokens": 100, "top_k": 40, "repeat_penalty": 1.1}));
    assert!(unsent.is_empty());
    let (body, _) = encode(Provider::Vllm);
    assert_eq!(body["repetition_penalty"], 1.1);
    let (body, _) = encode(Provider::Mistral);
    assert_eq!(body, json!({"temperature": 0.5, "max_tokens": 100}));
}

#[test]
fn thinking_as_each_dialect_has_it() {
    let encode = |provider, thinking| {
        let mut options = ModelOptions::new(provider, "m");
        options.thinking = Some(thinking);
        openai::encode(&request(vec![user("hi")], &[]), &options)
    };
    assert_eq!(encode(Provider::OpenAi, Thinking::Low)["reasoning_effort"], "low");
    assert_eq!(encode(Provider::OpenAi, Thinking::On).get("reasoning_effort"), None);
    assert_eq!(encode(Provider::OpenRouter, Thinking::Off)["reasoning"], json!({"enabled": false}));
    assert_eq!(encode(Provider::OpenRouter, Thinking::High)["reasoning"], json!({"effort": "high"}));
    assert_eq!(encode(Provider::DeepSeek, Thinking::Off)["thinking"], json!({"type": "disabled"}));
    assert_eq!(encode(Provider::LlamaCpp, Thinking::Off)["chat_template_kwargs"], json!({"enable_thinking": false}));
}

#[test]
fn mistral_takes_ids_of_nine() {
    let messages = vec![user("hi"), assistant(vec![call(7, "toolu_01", "f", "{}")]), result(7, Ending::Ok, "x")];
    let body = openai::encode(&request(messages, &[]), &ModelOptions::new(Provider::Mistral, "m"));
    assert_eq!(body["messages"][3]["tool_call_id"], "000000007");
    assert_eq!(body.get("stream_options"), None);
}
