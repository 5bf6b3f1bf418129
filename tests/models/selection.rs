//! Model strings, and which model runs when none is named.

use std::collections::BTreeMap;

use kokua::model::discover::{first_model, ollama_url, window_in};
use kokua::model::{Because, Candidates, Flag, Flags, ModelSpec, Provider, SpecError, select};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::net::TcpListener;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

fn spec(provider: Provider, model: &str, base_url: Option<&str>, flags: Flags) -> ModelSpec {
    ModelSpec { provider, model: model.to_owned(), base_url: base_url.map(str::to_owned), flags }
}

#[test]
fn strings_and_back() {
    let none = Flags::default;
    let table = [
        ("ollama:qwen3:8b", spec(Provider::Ollama, "qwen3:8b", None, none())),
        ("openai:gpt-5", spec(Provider::OpenAi, "gpt-5", None, none())),
        (
            "openai-compat:smollm2-135m@http://127.0.0.1:18080/v1;tools",
            spec(Provider::Compatible, "smollm2-135m", Some("http://127.0.0.1:18080/v1"), Flags::only([Flag::Tools])),
        ),
        (
            "openrouter:deepseek/deepseek-r1:free;tools,thinking",
            spec(Provider::OpenRouter, "deepseek/deepseek-r1:free", None, Flags::only([Flag::Tools, Flag::Thinking])),
        ),
        ("vllm:@cf/meta/llama@https://h/v1", spec(Provider::Vllm, "@cf/meta/llama", Some("https://h/v1"), none())),
        ("rehearsal", ModelSpec::rehearsal()),
        ("rehearsal:scripts/own.toml", spec(Provider::Rehearsal, "scripts/own.toml", None, none())),
    ];
    for (text, expected) in table {
        let parsed: ModelSpec = text.parse().unwrap();
        assert_eq!(parsed, expected, "{text}");
        assert_eq!(parsed.to_string(), text);
    }
    assert_eq!(ModelSpec::rehearsal().label(), "rehearsal");
}

#[test]
fn strings_that_are_none_say_what_to_write() {
    let table = [
        ("gpt-5", "unknown provider 'gpt-5'", "openai"),
        ("opnai:gpt", "unknown provider 'opnai'", "openai"),
        ("ollama:", "names no model", "ollama:<the model's id>"),
        ("ollama", "names no model", "ollama:<the model's id>"),
        ("openai:x;tool", "unknown flag 'tool'", "tools, thinking, vision, audio, structured"),
        ("llamacpp:x@localhost:8080", "no scheme", "@http://localhost:8080"),
        ("openai:x@http://user:secret@h/v1", "user name or password", "@http://host:port"),
        ("rehearsal@http://h", "no address", "rehearsal"),
    ];
    for (text, message, hint) in table {
        let error: SpecError = text.parse::<ModelSpec>().unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.contains(hint), "{text}: {}", error.hint);
    }
}

#[test]
fn ollama_host_is_written_for_the_server() {
    let table = [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("http://box:1234/", "http://box:1234"),
        ("https://box", "https://box"),
    ];
    for (host, url) in table {
        assert_eq!(ollama_url(host).as_deref(), Some(url));
    }
    assert_eq!(ollama_url(" "), None);
}

#[test]
fn never_a_cloud_model_and_never_an_embedder() {
    let list = json!({"models": [
        {"name": "gpt-oss:120b-cloud"},
        {"name": "kimi", "remote_host": "https://ollama.com:443", "remote_model": "kimi"},
        {"name": "nomic-embed-text:latest"},
        {"name": "minilm", "details": {"family": "bert"}},
        {"name": "qwen3:8b", "details": {"family": "qwen3"}},
    ]});
    assert_eq!(first_model(Provider::Ollama, &list).as_deref(), Some("qwen3:8b"));
    assert_eq!(first_model(Provider::LlamaCpp, &json!({"status": "some web server"})), None);
}

#[test]
fn windows_as_servers_name_them() {
    let llamacpp = json!({"data": [{"id": "smollm2-135m", "meta": {"n_ctx": 8192, "n_ctx_train": 8192}}]});
    assert_eq!(window_in(Provider::Compatible, "smollm2-135m", &llamacpp), Some(8192));
    assert_eq!(window_in(Provider::LlamaCpp, "any", &llamacpp), Some(8192));
    assert_eq!(window_in(Provider::Compatible, "any", &llamacpp), None);
    let vllm = json!({"data": [{"id": "a"}, {"id": "b", "max_model_len": 4096}]});
    assert_eq!(window_in(Provider::Vllm, "b", &vllm), Some(4096));
    assert_eq!(window_in(Provider::Vllm, "a", &vllm), None);
    let loaded = json!({"models": [{"name": "qwen3:8b", "context_length": 16384}]});
    assert_eq!(window_in(Provider::Ollama, "qwen3:8b", &loaded), Some(16_384));
}

async fn listing(at: &str, body: serde_json::Value) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(path(at)).respond_with(ResponseTemplate::new(200).set_body_json(body)).mount(&server).await;
    server
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[tokio::test]
async fn what_is_named_wins_then_the_environment_then_what_runs_then_the_rehearsal() {
    let ollama = listing("/api/tags", json!({"models": [{"name": "qwen3:8b"}]})).await;
    let llamacpp = listing("/v1/models", json!({"data": [{"id": "smollm2"}]})).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let v1 = format!("{}/v1", llamacpp.uri());
    let both = Candidates(vec![(Provider::Ollama, ollama.uri()), (Provider::LlamaCpp, v1.clone())]);

    let environment = |name: &str| (name == "KOKUA_MODEL").then(|| "openai:gpt-5".to_owned());
    let selection = select(Some("ollama:x"), &environment, &both).await.unwrap();
    assert_eq!((selection.spec.to_string().as_str(), selection.because), ("ollama:x", Because::Configured));
    let selection = select(None, &environment, &both).await.unwrap();
    assert_eq!((selection.spec.to_string().as_str(), selection.because), ("openai:gpt-5", Because::Environment));
    let selection = select(None, &nothing, &both).await.unwrap();
    assert_eq!(selection.spec.to_string(), format!("ollama:qwen3:8b@{}", ollama.uri()));
    assert_eq!(selection.because, Because::Running);

    // Ollama without models, or nobody there: the next.
    let empty = listing("/api/tags", json!({"models": []})).await;
    let web = listing("/", json!({})).await;
    for first in [empty.uri(), nobody.clone(), web.uri()] {
        let candidates = Candidates(vec![(Provider::Ollama, first), (Provider::LlamaCpp, v1.clone())]);
        let selection = select(None, &nothing, &candidates).await.unwrap();
        assert_eq!(selection.spec.to_string(), format!("llamacpp:smollm2@{v1}"));
    }
    let selection = select(None, &nothing, &Candidates(vec![(Provider::Ollama, nobody)])).await.unwrap();
    assert_eq!((selection.spec, selection.because), (ModelSpec::rehearsal(), Because::NothingFound));

    let wrong = |name: &str| (name == "KOKUA_MODEL").then(|| "nonsense".to_owned());
    let error = select(None, &wrong, &both).await.unwrap_err();
    assert!(error.message.starts_with("$KOKUA_MODEL: "), "{error}");
}

#[test]
fn the_usual_candidates_are_all_on_this_machine() {
    let Candidates(list) = Candidates::usual(&BTreeMap::new(), &nothing);
    let providers: Vec<Provider> = list.iter().map(|(provider, _)| *provider).collect();
    assert_eq!(providers, [Provider::Ollama, Provider::LlamaCpp, Provider::LmStudio, Provider::Vllm]);
    assert!(list.iter().all(|(_, url)| url.starts_with("http://127.0.0.1:")));
    let Candidates(list) =
        Candidates::usual(&BTreeMap::new(), &|name| (name == "OLLAMA_HOST").then(|| "box:1".to_owned()));
    assert_eq!(list[0].1, "http://box:1");
}
