//! A real model on a real server, where `KOKUA_REAL_LLM` names one (`http://127.0.0.1:18080/v1`). Skipped otherwise.

use futures_util::StreamExt;
use kokua::agent::{Delta, FailureKind, StopReason};
use kokua::config::Generation;
use kokua::model::Client;
use serde_json::Value;

use super::common::{calls, joined, request, user};

async fn ask(provider: &str, base: &str, words: &str) -> Result<Vec<Delta>, kokua::agent::Failure> {
    let spec = format!("{provider}:smollm2-135m@{base};tools").parse().unwrap();
    let generation = Generation { max_tokens: Some(200), temperature: Some(0.0), ..Generation::default() };
    let client = Client::new(&spec, None, None, generation, &|_| None).unwrap();
    let deltas: Vec<_> = client.stream(request(vec![user(words)], &["read_file"])).collect().await;
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
        let failure = ask(provider, base, &"word ".repeat(20_000)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ContextOverflow, "{failure}");
        let failure = ask(provider, &format!("{root}/nothing"), "hi").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotFound, "{failure}");
    }
}
