//! A real model on a real server, where `KOKUA_REAL_LLM` names one (`http://127.0.0.1:18080/v1`). Skipped otherwise.

use futures_util::StreamExt;
use kokua::agent::{CallKind, Delta, Ending, Failure, FailureKind, Request, StopReason, ToolChoice};
use kokua::config::Generation;
use kokua::model::Client;
use serde_json::Value;

use super::common::{assistant, call, calls, joined, request, result, user};

async fn ask(provider: &str, base: &str, words: &str) -> Result<Vec<Delta>, Failure> {
    send(provider, base, request(vec![user(words)], &["read_file"])).await
}

async fn send(provider: &str, base: &str, request: Request) -> Result<Vec<Delta>, Failure> {
    let spec = format!("{provider}:smollm2-135m@{base};tools").parse().unwrap();
    let generation = Generation { max_tokens: Some(200), temperature: Some(0.0), ..Generation::default() };
    let client = Client::new(&spec, None, None, generation, &|_| None).unwrap();
    let deltas: Vec<_> = client.stream(request).collect().await;
    deltas.into_iter().collect::<Result<Vec<_>, _>>().map(joined)
}

#[tokio::test]
async fn text_calls_and_failures_on_both_wires() {
    let Ok(base) = std::env::var("KOKUA_REAL_LLM") else { return };
    let root = base.trim_end_matches("/v1").to_owned();
    let spec = format!("openai-compat:smollm2-135m@{base}").parse().unwrap();
    let client = Client::new(&spec, None, None, Generation::default(), &|_| None).unwrap();
    assert_eq!(client.find_window().await, Some(8192));
    for (provider, base) in
        [("openai-compat", &base), ("openai-compat", &root), ("anthropic", &base), ("anthropic", &root)]
    {
        let deltas = ask(provider, base, "Say hello.").await.unwrap();
        assert!(deltas.iter().any(|delta| matches!(delta, Delta::Text { .. })), "{deltas:?}");
        let deltas = ask(provider, base, "Read Cargo.toml using the read_file tool. #call").await.unwrap();
        assert!(deltas.contains(&Delta::Stop { reason: StopReason::Calls }), "{deltas:?}");
        let (_, name, arguments) = calls(&deltas).remove(0);
        assert_eq!(name, "read_file");
        assert!(serde_json::from_str::<Value>(&arguments).unwrap()["path"].is_string());
        assert!(deltas.iter().any(|delta| matches!(delta, Delta::Usage { usage } if usage.input.is_some())));
        // The call and its result go back, and the wrap-up's choice is accepted.
        let id = calls(&deltas).remove(0).0;
        let messages = vec![
            user("Read Cargo.toml"),
            assistant(vec![call(1, &id, "read_file", &arguments), call(2, "", "no such tool", "{broken")]),
            result(1, Ending::Ok, "[package]"),
            result(2, Ending::InvalidArguments, "not JSON: {broken"),
        ];
        let mut request = request(messages, &["read_file"]);
        (request.kind, request.tool_choice) = (CallKind::WrapUp, ToolChoice::None);
        let deltas = send(provider, base, request).await.unwrap();
        assert!(deltas.iter().any(|delta| matches!(delta, Delta::Stop { .. })), "{deltas:?}");
        let failure = ask(provider, base, &"word ".repeat(20_000)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ContextOverflow, "{failure}");
        let failure = ask(provider, &format!("{root}/nothing"), "hi").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotFound, "{failure}");
    }
}
