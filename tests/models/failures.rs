//! What goes wrong, as typed failures.

use kokua::agent::{FailureKind, Retry};
use kokua::model::Provider;
use kokua::model::failure::{Place, in_stream, refused, retry_after};
use pretty_assertions::assert_eq;
use serde_json::json;

fn place(provider: Provider) -> Place {
    Place { provider, host: "host:1".to_owned(), model: "m".to_owned() }
}

const NEVER: Retry = Retry::Never;
const AGAIN: Retry = Retry::Backoff { at_least_ms: 2000 };

#[test]
fn each_status_has_its_kind_its_retry_class_and_a_hint_where_a_person_can_do_something() {
    use FailureKind::{BadRequest, NotFound, Overloaded, RateLimited, Unauthorized};
    let table = [
        (
            400,
            r#"{"error":{"message":"bad temperature"}}"#,
            BadRequest,
            NEVER,
            "openai at host:1 refused the request (400): bad temperature",
        ),
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-123"}}"#,
            Unauthorized,
            NEVER,
            "openai at host:1 does not accept the key (401)",
        ),
        (
            402,
            r#"{"error":{"message":"Insufficient Balance"}}"#,
            BadRequest,
            NEVER,
            "openai at host:1 will not answer on this account (402): Insufficient Balance",
        ),
        (
            403,
            r#"{"error":{"message":"no access to m"}}"#,
            Unauthorized,
            NEVER,
            "openai at host:1 does not allow this (403): no access to m",
        ),
        (
            404,
            r#"{"error":"model 'm' not found"}"#,
            NotFound,
            NEVER,
            "openai at host:1 has no model m or no such endpoint (404): model 'm' not found",
        ),
        (405, "", NotFound, NEVER, "openai at host:1 has no model m or no such endpoint (405)"),
        (501, "", NotFound, NEVER, "openai at host:1 has no model m or no such endpoint (501)"),
        (408, "", Overloaded, AGAIN, "openai at host:1 failed (408)"),
        (
            422,
            r#"{"detail":[{"msg":"extra field"}]}"#,
            BadRequest,
            NEVER,
            "openai at host:1 refused the request (422): extra field",
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached"}}"#,
            RateLimited,
            AGAIN,
            "openai at host:1 asks to slow down (429): Rate limit reached",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#,
            BadRequest,
            NEVER,
            "openai at host:1 will not answer on this account (429): You exceeded",
        ),
        (500, "oops\nmore", Overloaded, AGAIN, "openai at host:1 failed (500): oops more"),
        (502, "<html><body>nginx</body></html>", Overloaded, AGAIN, "openai at host:1 failed (502): an HTML page"),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            AGAIN,
            "openai at host:1 failed (529): Overloaded",
        ),
    ];
    for (status, body, kind, retry, message) in table {
        let failure = refused(&place(Provider::OpenAi), status, 2000, body);
        assert_eq!((failure.kind, failure.retry, failure.message.as_str()), (kind, retry, message));
        let doable = retry == NEVER && kind != BadRequest;
        assert!(!doable || failure.hint.is_some(), "{status} has no hint");
    }
}

#[test]
fn hints_say_what_to_do() {
    let hint = |provider, status, body: &str| refused(&place(provider), status, 0, body).hint.unwrap_or_default();
    assert_eq!(hint(Provider::Ollama, 404, ""), "ollama pull m");
    assert_eq!(hint(Provider::Groq, 401, ""), "set GROQ_API_KEY, or [providers.groq] api_key_env or api_key_command");
    let no_tools = r#"{"error":"registry.ollama.ai/library/m does not support tools"}"#;
    assert!(hint(Provider::Ollama, 400, no_tools).contains("no tools are sent"));
}

#[test]
fn context_overflow_as_each_provider_words_it() {
    let bodies = [
        (
            400,
            r#"{"error":{"code":400,"message":"request (20022 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":20022,"n_ctx":8192}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","code":400}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"}}"#,
        ),
        (413, r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#),
        (400, r#"{"error":"the input length exceeds the context length"}"#),
        (
            400,
            r#"{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}"#,
        ),
        (400, r#"{"error":{"message":"Your input exceeds the context window of this model."}}"#),
    ];
    for (status, body) in bodies {
        let failure = refused(&place(Provider::OpenAi), status, 0, body);
        assert_eq!(failure.kind, FailureKind::ContextOverflow, "{body}");
        assert_eq!(failure.retry, NEVER);
        assert!(failure.hint.is_some());
    }
    let other = refused(&place(Provider::OpenAi), 400, 0, r#"{"error":{"message":"context is fine, tools are not"}}"#);
    assert_eq!(other.kind, FailureKind::BadRequest);
}

#[test]
fn errors_inside_a_stream_by_their_words() {
    use FailureKind::{BadRequest, ContextOverflow, Overloaded, RateLimited, Unauthorized};
    let table = [
        (json!({"type": "overloaded_error", "message": "x"}), Overloaded),
        (json!({"type": "rate_limit_error"}), RateLimited),
        (json!({"code": 429, "message": "slow"}), RateLimited),
        (json!({"code": "429", "message": "slow", "type": "rate_limit_exceeded"}), RateLimited),
        (json!({"type": "invalid_request_error", "message": "no"}), BadRequest),
        (json!({"type": "exceed_context_size_error", "message": "x", "code": 400}), ContextOverflow),
        (json!({"error": {"type": "authentication_error"}}), Unauthorized),
        (json!("something broke"), Overloaded),
        (json!({"message": "EngineCore died"}), Overloaded),
    ];
    for (error, kind) in table {
        assert_eq!(in_stream(&place(Provider::OpenAi), &error).kind, kind, "{error}");
    }
}

#[test]
fn retry_after_in_every_form() {
    let now = 1_445_412_480_000; // Wed, 21 Oct 2015 07:28:00 GMT
    let table = [
        (Some("2"), None, 2000),
        (Some("0.5"), None, 500),
        (Some("Wed, 21 Oct 2015 07:28:30 GMT"), None, 30_000),
        (Some("Wed, 21 Oct 2015 07:20:00 GMT"), None, 0),
        (Some("soon"), None, 0),
        (Some("-3"), None, 0),
        (Some("99999999999999"), None, 86_400_000),
        (Some("7"), Some("250"), 250),
        (None, None, 0),
    ];
    for (value, millis, floor) in table {
        assert_eq!(retry_after(value, millis, now), floor, "{value:?} {millis:?}");
    }
}

#[test]
fn a_message_is_bounded_and_on_one_line() {
    let body = format!(r#"{{"error":{{"message":"{}\n\u001b[31m"}}}}"#, "é".repeat(5000));
    let failure = refused(&place(Provider::OpenAi), 500, 0, &body);
    assert!(failure.message.chars().count() <= 1000);
    assert!(!failure.message.chars().any(char::is_control));
}
