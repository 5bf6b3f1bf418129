//! The one place with I/O, against real sockets: what is sent, what comes back, what breaks, and that no key gets out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use kokua::agent::{Delta, Failure, FailureKind, Retry, StopReason};
use kokua::config::{self, Generation};
use kokua::model::http::{self, Link};
use kokua::model::key::KeySource;
use kokua::model::wire::Wire;
use kokua::model::{Client, ModelOptions, ModelSpec, Provider};
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::matchers::{body_partial_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::common::{joined, request, text, user};

const KEY: &str = "sk-test-0123456789";
const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

fn declared() -> config::Provider {
    config::Provider {
        base_url: None,
        api_key_env: Some("MY_KEY".to_owned()),
        api_key_command: None,
        stall_timeout_s: 30,
        max_attempts: 3,
        headers: BTreeMap::new(),
    }
}

fn environment(name: &str) -> Option<String> {
    match name {
        "MY_KEY" => Some(KEY.to_owned()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some("sk-usual-key".to_owned()),
        _ => None,
    }
}

fn client(spec: &str, declared: Option<&config::Provider>) -> Client {
    let spec: ModelSpec = spec.parse().unwrap();
    Client::new(&spec, declared, None, Generation::default(), &environment).unwrap()
}

async fn ask(client: &Client) -> (Vec<Delta>, Option<Failure>) {
    let mut deltas = Vec::new();
    let mut stream = client.stream(request(vec![user("hi")], &["read_file"]));
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(failure) => {
                assert!(stream.next().await.is_none(), "nothing follows a failure");
                return (joined(deltas), Some(failure));
            }
        }
    }
    (joined(deltas), None)
}

async fn answering(status: u16, content_type: &str, body: &str) -> MockServer {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(status).set_body_raw(body.as_bytes().to_vec(), content_type);
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    server
}

#[tokio::test]
async fn what_is_sent_on_each_wire() {
    let server = MockServer::start().await;
    let stream = |body: &str| ResponseTemplate::new(200).set_body_raw(body.as_bytes().to_vec(), "text/event-stream");
    Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .and(header("authorization", format!("Bearer {KEY}").as_str()))
        .and(header("content-type", "application/json"))
        .and(body_partial_json(serde_json::json!({"model": "m", "stream": true})))
        .respond_with(stream(&format!("{HELLO}{END}")))
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(method("POST"))
        .and(path("/v1/messages"))
        .and(header("x-api-key", KEY))
        .and(header("anthropic-version", "2023-06-01"))
        .and(header("x-mine", "yes"))
        .respond_with(stream(include_str!("streams/llamacpp-text.anthropic.sse")))
        .expect(1)
        .mount(&server)
        .await;
    let ndjson = ResponseTemplate::new(200)
        .set_body_raw(include_bytes!("streams/thinking.ollama.ndjson").to_vec(), "application/x-ndjson");
    Mock::given(method("POST")).and(path("/api/chat")).respond_with(ndjson).expect(1).mount(&server).await;

    let (deltas, failure) = ask(&client(&format!("openai:m@{}", server.uri()), Some(&declared()))).await;
    assert_eq!((deltas, failure), (vec![text("Hello"), Delta::Stop { reason: StopReason::End }], None));
    let mut with_header = declared();
    with_header.headers.insert("x-mine".to_owned(), "yes".to_owned());
    let (_, failure) = ask(&client(&format!("anthropic:m@{}/v1", server.uri()), Some(&with_header))).await;
    assert_eq!(failure, None);
    let (deltas, failure) = ask(&client(&format!("ollama:m@{}", server.uri()), None)).await;
    assert_eq!((deltas.len(), failure), (9, None));
}

#[tokio::test]
async fn the_usual_key_goes_only_to_the_usual_address() {
    let server = answering(200, "text/event-stream", &format!("{HELLO}{END}")).await;
    let (_, failure) = ask(&client(&format!("openai:m@{}", server.uri()), None)).await;
    assert_eq!(failure, None);
    let sent = server.received_requests().await.unwrap();
    assert_eq!(sent[0].headers.get("authorization"), None);
    let server = answering(401, "application/json", "{}").await;
    let failure = ask(&client(&format!("openai:m@{}", server.uri()), None)).await.1.unwrap();
    assert!(failure.message.ends_with("wants a key (401)"), "{failure}");
    assert!(failure.hint.unwrap().contains("api_key_env = \"OPENAI_API_KEY\""));
}

#[tokio::test]
async fn the_usual_address_written_out_is_the_usual_address() {
    for spec in ["groq:m", "groq:m@https://api.groq.com/openai/v1"] {
        let spec: ModelSpec = spec.parse().unwrap();
        let client = Client::new(&spec, None, None, Generation::default(), &|_| None).unwrap();
        assert!(ask(&client).await.1.unwrap().message.contains("no GROQ_API_KEY"));
    }
}

#[tokio::test]
async fn a_missing_key_fails_the_call_with_what_to_do() {
    let spec: ModelSpec = "groq:m".parse().unwrap();
    let client = Client::new(&spec, None, None, Generation::default(), &|_| None).unwrap();
    let failure = ask(&client).await.1.unwrap();
    assert_eq!(failure.kind, FailureKind::Unauthorized);
    assert_eq!(failure.message, "no key for groq at api.groq.com: the environment has no GROQ_API_KEY");
    assert!(failure.hint.unwrap().starts_with("set GROQ_API_KEY"));
}

#[tokio::test]
async fn a_command_gives_the_key() {
    let server = MockServer::start().await;
    Mock::given(header("authorization", "Bearer sk-from-command"))
        .respond_with(ResponseTemplate::new(200).set_body_raw(format!("{HELLO}{END}"), "text/event-stream"))
        .mount(&server)
        .await;
    let command = |argv: &[&str]| config::Provider {
        api_key_env: None,
        api_key_command: Some(argv.iter().map(|word| (*word).to_owned()).collect()),
        ..declared()
    };
    let spec = format!("openai:m@{}", server.uri());
    assert_eq!(ask(&client(&spec, Some(&command(&["echo", "sk-from-command"])))).await.1, None);
    let failure = ask(&client(&spec, Some(&command(&["false"])))).await.1.unwrap();
    assert_eq!(failure.kind, FailureKind::Unauthorized);
    assert!(failure.message.contains("api_key_command 'false' failed"), "{failure}");
    let failure = ask(&client(&spec, Some(&command(&["/nonexistent/key"])))).await.1.unwrap();
    assert!(failure.message.contains("did not start"), "{failure}");
}

#[tokio::test]
async fn no_key_in_a_failure_or_a_debug_print() {
    let echo = format!("{{\"error\":{{\"message\":\"your key {KEY} is not for this\"}}}}");
    for status in [400, 401, 403, 404, 429, 500] {
        let server = answering(status, "application/json", &echo).await;
        let client = client(&format!("openai:m@{}", server.uri()), Some(&declared()));
        let failure = ask(&client).await.1.unwrap();
        let printed = format!("{failure:?} {failure} {client:?} {}", serde_json::to_string(&failure).unwrap());
        assert!(!printed.contains(KEY), "{printed}");
        assert!(status == 401 || printed.contains("[key]"), "{printed}");
    }
    let server = answering(200, "text/event-stream", &format!("data: {echo}\n\n")).await;
    let failure = ask(&client(&format!("openai:m@{}", server.uri()), Some(&declared()))).await.1.unwrap();
    assert!(!format!("{failure:?}").contains(KEY));
    let known = KeySource::find(Provider::OpenAi, Some(&declared()), true, &environment);
    assert_eq!(format!("{known:?}"), "KeySource::Known(…)");
}

#[tokio::test]
async fn no_value_of_a_configured_header_in_a_failure() {
    let echo = r#"{"error":{"message":"the token hush-hush is not for this"}}"#;
    let mut declared = declared();
    declared.api_key_env = None;
    declared.headers.insert("Authorization".to_owned(), "Bearer hush-hush".to_owned());
    for (status, kind, body) in
        [(403, "application/json", echo.to_owned()), (200, "text/event-stream", format!("data: {echo}\n\n"))]
    {
        let server = answering(status, kind, &body).await;
        let failure = ask(&client(&format!("openai-compat:m@{}", server.uri()), Some(&declared))).await.1.unwrap();
        assert!(failure.message.contains("the token [key]"), "{failure}");
    }
}

#[tokio::test]
async fn a_key_command_that_never_stops_printing_is_no_key() {
    let declared = config::Provider {
        api_key_env: None,
        api_key_command: Some(vec!["yes".to_owned(), "k".repeat(100)]),
        ..declared()
    };
    let failure = ask(&client("openai:m@http://127.0.0.1:9", Some(&declared))).await.1.unwrap();
    assert!(failure.message.contains("printed more than a key"), "{failure}");
}

#[tokio::test]
async fn a_refusal_keeps_the_servers_floor() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(429).insert_header("retry-after", "3").set_body_string("{}");
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    let failure = ask(&client(&format!("openai-compat:m@{}", server.uri()), None)).await.1.unwrap();
    assert_eq!((failure.kind, failure.retry), (FailureKind::RateLimited, Retry::Backoff { at_least_ms: 3000 }));
}

#[tokio::test]
async fn answers_that_are_no_stream() {
    let kind = async |status, content_type: &str, body: &str| {
        let server = answering(status, content_type, body).await;
        ask(&client(&format!("openai-compat:m@{}", server.uri()), None)).await.1.map(|failure| failure.kind)
    };
    assert_eq!(kind(200, "text/html", "<html>").await, Some(FailureKind::Malformed));
    assert_eq!(kind(200, "text/plain", "hello").await, Some(FailureKind::Cut));
    assert_eq!(kind(302, "text/plain", "").await, Some(FailureKind::Malformed));
    assert_eq!(kind(200, "application/json", r#"{"error":"model is loading"}"#).await, Some(FailureKind::Overloaded));
    let whole = include_str!("streams/llamacpp-whole.openai.json");
    assert_eq!(kind(200, "application/json; charset=utf-8", whole).await, None);
}

#[tokio::test]
async fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = ask(&client(&format!("llamacpp:m@http://{address}"), None)).await.1.unwrap();
    assert_eq!(failure.kind, FailureKind::Unreachable);
    let start = format!("no connection to llamacpp at {address}: ");
    assert!(failure.message.starts_with(&start), "{failure}");
    assert!(failure.hint.unwrap().contains("llamacpp:m@http://host:port"));
}

/// A server that answers one request with these bytes and then does as told.
async fn raw(pieces: &'static [&'static str], then: Then) -> (String, tokio::sync::oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (gone, is_gone) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 65_536];
        let _ = socket.read(&mut buffer).await.unwrap();
        for piece in pieces {
            socket.write_all(piece.as_bytes()).await.unwrap();
        }
        if then == Then::Wait {
            while socket.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
            let _ = gone.send(());
        }
    });
    (base, is_gone)
}

#[derive(PartialEq)]
enum Then {
    Close,
    Wait,
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const LONG: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";

fn impatient(base: &str) -> Arc<Link> {
    Arc::new(Link {
        wire: Wire::OpenAi,
        options: ModelOptions::new(Provider::OpenAi, "m"),
        url: http::endpoint(Wire::OpenAi, base).unwrap(),
        key: KeySource::None,
        headers: reqwest::header::HeaderMap::new(),
        stall: Duration::from_millis(80),
    })
}

async fn all(link: Arc<Link>) -> Vec<Result<Delta, FailureKind>> {
    let stream = http::stream(link, request(vec![user("hi")], &[]));
    stream.map(|item| item.map_err(|failure| failure.kind)).collect().await
}

#[tokio::test]
async fn a_stream_that_breaks_off_keeps_what_was_said() {
    for head in [HEAD, LONG] {
        let pieces: &'static [&'static str] = if head == HEAD { &[HEAD, HELLO] } else { &[LONG, HELLO] };
        let (base, _) = raw(pieces, Then::Close).await;
        let (deltas, failure) = ask(&client(&format!("openai-compat:m@{base}"), None)).await;
        assert_eq!((deltas, failure.unwrap().kind), (vec![text("Hello")], FailureKind::Cut));
    }
    // After a finish reason a broken connection is an end.
    let (base, _) = raw(&[LONG, HELLO, END], Then::Close).await;
    let (deltas, failure) = ask(&client(&format!("openai-compat:m@{base}"), None)).await;
    assert_eq!((deltas.len(), failure), (2, None));
}

#[tokio::test]
async fn a_stream_that_stalls() {
    let (base, _) = raw(&[HEAD, HELLO], Then::Wait).await;
    assert_eq!(all(impatient(&base)).await, [Ok(text("Hello")), Err(FailureKind::Stalled)]);
    // Before the first byte, too.
    let (base, _) = raw(&[], Then::Wait).await;
    assert_eq!(all(impatient(&base)).await, [Err(FailureKind::Stalled)]);
    // After a finish reason nothing is missing but usage.
    let (base, _) = raw(&[HEAD, HELLO, END], Then::Wait).await;
    assert_eq!(all(impatient(&base)).await, [Ok(text("Hello")), Ok(Delta::Stop { reason: StopReason::End })]);
}

#[tokio::test]
async fn nothing_is_waited_for_after_the_end_marker() {
    // Waiting would hang this test: the server never closes.
    let (base, gone) = raw(&[HEAD, HELLO, END, "data: [DONE]\n\n"], Then::Wait).await;
    let patient = config::Provider { stall_timeout_s: 1_000_000, api_key_env: None, ..declared() };
    let (deltas, failure) = ask(&client(&format!("openai-compat:m@{base}"), Some(&patient))).await;
    assert_eq!((deltas.len(), failure), (2, None));
    gone.await.unwrap();
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_request() {
    let (base, gone) = raw(&[HEAD, HELLO], Then::Wait).await;
    let client = client(&format!("openai-compat:m@{base}"), None);
    let mut stream = client.stream(request(vec![user("hi")], &[]));
    assert_eq!(stream.next().await.unwrap().unwrap(), text("Hello"));
    drop(stream);
    gone.await.unwrap();
}

#[tokio::test]
async fn a_window_is_what_the_server_lists_and_no_command_is_run_for_it() {
    let server = MockServer::start().await;
    let list =
        ResponseTemplate::new(200).set_body_raw(r#"{"data":[{"id":"m","context_length":4096}]}"#, "application/json");
    Mock::given(method("GET")).and(path("/v1/models")).respond_with(list).expect(2).mount(&server).await;
    let answer = ResponseTemplate::new(200).set_body_raw(format!("{HELLO}{END}"), "text/event-stream");
    Mock::given(method("POST")).respond_with(answer).mount(&server).await;
    let spec = format!("openai-compat:m@{}", server.uri());
    assert_eq!(client(&spec, None).find_window().await, Some(4096));

    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let script = format!("touch {}; echo {KEY}", ran.display());
    let command = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let declared = config::Provider { api_key_env: None, api_key_command: Some(command), ..declared() };
    let client = client(&spec, Some(&declared));
    assert_eq!((client.find_window().await, ran.exists()), (None, false));
    // A call has asked for the key: now it is at hand.
    assert!(ask(&client).await.1.is_none());
    assert_eq!((client.find_window().await, ran.exists()), (Some(4096), true));
}

#[tokio::test]
async fn a_server_that_says_nothing_has_no_window() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = client(&format!("openai-compat:m@http://{}", listener.local_addr().unwrap()), None);
    drop(listener);
    assert_eq!(client.find_window().await, None);
}

#[test]
fn addresses_with_or_without_their_version() {
    let table = [
        (Wire::OpenAi, "http://h:1", "http://h:1/v1/chat/completions"),
        (Wire::OpenAi, "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        (Wire::OpenAi, "https://h/api/v1", "https://h/api/v1/chat/completions"),
        (Wire::OpenAi, "https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        (Wire::Anthropic, "http://h:1", "http://h:1/v1/messages"),
        (Wire::Anthropic, "http://h:1/v1", "http://h:1/v1/messages"),
        (Wire::Anthropic, "https://h/anthropic", "https://h/anthropic/v1/messages"),
        (Wire::Ollama, "http://h:1", "http://h:1/api/chat"),
        (Wire::Ollama, "http://h:1/v1", "http://h:1/api/chat"),
        (Wire::Ollama, "http://h:1/api", "http://h:1/api/chat"),
    ];
    for (wire, base, url) in table {
        assert_eq!(http::endpoint(wire, base).unwrap().as_str(), url);
    }
    assert!(http::endpoint(Wire::OpenAi, "ftp://h").is_err());
}

#[test]
fn a_client_says_what_it_does_not_send_and_what_it_cannot_use() {
    let generation = Generation { min_p: Some(0.1), context_length: Some(4096), ..Generation::default() };
    let new = |spec: &str, declared: Option<&config::Provider>| {
        Client::new(&spec.parse().unwrap(), declared, None, generation.clone(), &environment)
    };
    let client = new("openai:gpt", None).unwrap();
    assert_eq!(client.notices(), ["min_p is not sent: openai does not take it for gpt"]);
    assert_eq!((client.label(), client.window(), client.is_rehearsal()), ("gpt", Some(4096), false));
    let failure = new("openai-compat:m", None).unwrap_err();
    assert_eq!(failure.message, "openai-compat has no usual address");
    let mut bad = declared();
    bad.headers.insert("x".to_owned(), "secret\nvalue".to_owned());
    let failure = new("openai:m", Some(&bad)).unwrap_err();
    assert!(!failure.message.contains("secret"), "{failure}");
}
