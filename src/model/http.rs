//! The one place that talks to a model server: one request, one stream of deltas, typed failures.
//!
//! Never tries again (the run decides that), never follows a redirect with a key, never logs a header or a body.
//! Dropping the stream drops the connection, which cancels the request.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client as Http, Url};
use secrecy::{ExposeSecret, SecretString};

use crate::agent::{Delta, Failure, FailureKind, Request};

use super::failure;
use super::key::{KeySource, redact};
use super::options::ModelOptions;
use super::sse::Framing;
use super::wire::{Decoding, Wire};

/// To a server that is up, a connection takes less.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an error's body that are read.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// The version of Anthropic's wire that `anthropic` speaks.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// One model server, one model.
#[derive(Debug)]
pub struct Link {
    /// What it speaks.
    pub wire: Wire,
    /// For the codec and for sentences.
    pub options: ModelOptions,
    /// Where requests go.
    pub url: Url,
    /// Its key.
    pub key: KeySource,
    /// Headers from the configuration; treated as secret.
    pub headers: HeaderMap,
    /// No byte for this long: the stream is given up.
    pub stall: Duration,
}

/// Where requests of `wire` go at `base`, which may be written with or without its `/v1`, or whole.
///
/// # Errors
/// A lower-case fragment.
pub fn endpoint(wire: Wire, base: &str) -> Result<Url, String> {
    super::select::check_url(base)?;
    let mut url = Url::parse(base).map_err(|error| format!("this is no address: {error}"))?;
    let path = url.path().trim_end_matches('/');
    let path = match wire {
        Wire::OpenAi if path.ends_with("/chat/completions") => path.to_owned(),
        Wire::OpenAi if path.is_empty() => "/v1/chat/completions".to_owned(),
        Wire::OpenAi => format!("{path}/chat/completions"),
        Wire::Anthropic if path.ends_with("/messages") => path.to_owned(),
        Wire::Anthropic if path.ends_with("/v1") => format!("{path}/messages"),
        Wire::Anthropic => format!("{path}/v1/messages"),
        Wire::Ollama if path.ends_with("/api/chat") => path.to_owned(),
        Wire::Ollama => {
            let root = path.strip_suffix("/v1").or_else(|| path.strip_suffix("/api")).unwrap_or(path);
            format!("{root}/api/chat")
        }
    };
    url.set_path(&path);
    Ok(url)
}

/// Headers as configured.
///
/// # Errors
/// Which one is none; never its value.
pub fn extra_headers(written: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in written {
        let parsed = HeaderName::try_from(name.as_str()).map_err(|_| format!("'{name}' is no header name"))?;
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("the value of header '{name}' has characters that a header cannot carry"))?;
        value.set_sensitive(true);
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// The shared connections. Loopback never goes through a proxy; plain HTTP works on a machine without certificates.
pub(super) fn connections(url: &Url) -> Result<&'static Http, String> {
    static CLIENTS: [OnceLock<Result<Http, String>>; 4] = [const { OnceLock::new() }; 4];
    let (near, plain) = (is_loopback(url), url.scheme() == "http");
    let cell = CLIENTS.get(usize::from(near) + 2 * usize::from(plain)).ok_or("no such client")?;
    cell.get_or_init(|| {
        // Fails only when it is installed already, which is just as well.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Http::builder()
            .user_agent(concat!("kokua/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none());
        if near {
            builder = builder.no_proxy();
        }
        if plain {
            builder = builder.tls_certs_only([]);
        }
        builder.build().map_err(|error| format!("no HTTP client: {}", chain(error)))
    })
    .as_ref()
    .map_err(Clone::clone)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// One model call.
pub fn stream(link: Arc<Link>, request: Request) -> BoxStream<'static, Result<Delta, Failure>> {
    stream::unfold(State::Start(link, Box::new(request)), advance).boxed()
}

enum State {
    Start(Arc<Link>, Box<Request>),
    Reading(Box<Reading>),
    Over,
}

struct Reading {
    link: Arc<Link>,
    key: Option<SecretString>,
    response: reqwest::Response,
    decoding: Decoding,
    ready: VecDeque<Delta>,
    failed: Option<Failure>,
    ended: bool,
}

async fn advance(mut state: State) -> Option<(Result<Delta, Failure>, State)> {
    loop {
        match state {
            State::Over => return None,
            State::Start(link, request) => match open(link, &request).await {
                Ok(reading) => state = State::Reading(Box::new(reading)),
                Err(failure) => return Some((Err(failure), State::Over)),
            },
            State::Reading(mut reading) => {
                if let Some(delta) = reading.ready.pop_front() {
                    return Some((Ok(delta), State::Reading(reading)));
                }
                if let Some(failure) = reading.failed.take() {
                    return Some((Err(failure), State::Over));
                }
                if reading.ended {
                    return None;
                }
                reading.read().await;
                state = State::Reading(reading);
            }
        }
    }
}

impl Reading {
    /// Waits for bytes, or the end, and decodes them.
    async fn read(&mut self) {
        let mut deltas = Vec::new();
        let place = &self.link.options.place;
        let result = match tokio::time::timeout(self.link.stall, self.response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let pushed = self.decoding.push(&bytes, &mut deltas);
                self.ended = self.decoding.is_done();
                pushed
            }
            Ok(Ok(None)) => {
                self.ended = true;
                self.decoding.finish(&mut deltas)
            }
            // After a finish reason only usage is missing.
            Ok(Err(_)) | Err(_) if self.decoding.has_stopped() => {
                self.ended = true;
                Ok(())
            }
            Ok(Err(error)) => Err(failure::cut(place, &chain(error))),
            Err(_) => Err(failure::stalled(place, self.link.stall.as_secs())),
        };
        self.ready.extend(deltas);
        self.failed = result.err().map(|mut failure| {
            failure.message = self.link.cleared(&failure.message, self.key.as_ref());
            failure
        });
    }
}

impl Link {
    /// What a server said, with the key and the values of configured headers taken out.
    fn cleared(&self, text: &str, key: Option<&SecretString>) -> String {
        let mut text = redact(text, key);
        for value in self.headers.values().filter_map(|value| value.to_str().ok()) {
            // A server may quote a header without its scheme.
            let bare = value.split_once(' ').map(|(_, rest)| rest);
            for secret in [Some(value), bare].into_iter().flatten() {
                text = redact(&text, Some(&secret.into()));
            }
        }
        text
    }
}

async fn open(link: Arc<Link>, request: &Request) -> Result<Reading, Failure> {
    let place = link.options.place.clone();
    let body = link.wire.encode(request, &link.options);
    let key = link.key.get().await.map_err(|why| failure::no_key(&place, &why))?;
    let http = connections(&link.url).map_err(|why| failure::unreachable(&place, &why))?;
    let headers = headers(&link, key.as_ref())?;
    let sending = http.post(link.url.clone()).headers(headers).body(body.to_string()).send();
    let response = match tokio::time::timeout(link.stall, sending).await {
        Err(_) => return Err(failure::stalled(&place, link.stall.as_secs())),
        Ok(Err(error)) => return Err(failure::unreachable(&place, &chain(error))),
        Ok(Ok(response)) => response,
    };
    let status = response.status().as_u16();
    if status != 200 {
        let failure = refusal(response, &link, key.as_ref()).await;
        if failure.kind != FailureKind::Unauthorized {
            return Err(failure);
        }
        link.key.forget();
        // A key may also be written as a header.
        let signed =
            key.is_some() || link.headers.contains_key(AUTHORIZATION) || link.headers.contains_key("x-api-key");
        return Err(if signed { failure } else { failure::wants_key(&place, status) });
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let framing = match content_type.split(';').next().unwrap_or_default().trim() {
        "text/html" => return Err(failure::malformed(&place, "an HTML page")),
        "application/json" if link.wire != Wire::Ollama => Framing::Whole,
        _ => link.wire.framing(),
    };
    let decoding = Decoding::new(link.wire, framing, &link.options);
    Ok(Reading { link, key, response, decoding, ready: VecDeque::new(), failed: None, ended: false })
}

pub(super) fn headers(link: &Link, key: Option<&SecretString>) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = if link.wire == Wire::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if link.wire == Wire::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = key {
        let (name, text) = match link.wire {
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.expose_secret().to_owned()),
            Wire::OpenAi | Wire::Ollama => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
        };
        let mut value = HeaderValue::try_from(text)
            .map_err(|_| failure::no_key(&link.options.place, "the key has characters that a header cannot carry"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers.extend(link.headers.clone());
    Ok(headers)
}

/// The failure behind a status that is not 200.
async fn refusal(mut response: reqwest::Response, link: &Link, key: Option<&SecretString>) -> Failure {
    let place = &link.options.place;
    let status = response.status();
    let header = |name: &HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    let now = crate::system::clock::now_ms();
    let millis = HeaderName::from_static("retry-after-ms");
    let floor = failure::retry_after(header(&RETRY_AFTER), header(&millis), now);
    if status.is_redirection() || status.is_success() {
        let what = format!("status {} where a stream was asked for", status.as_u16());
        return failure::malformed(place, &what);
    }
    let mut body = Vec::new();
    // What arrives in time is enough for a sentence.
    while body.len() < ERROR_BODY_LIMIT {
        match tokio::time::timeout(link.stall, response.chunk()).await {
            Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body.truncate(ERROR_BODY_LIMIT);
    let body = link.cleared(&String::from_utf8_lossy(&body), key);
    failure::refused(place, status.as_u16(), floor, &body)
}

/// An error and its causes on one line, without the address it was for.
fn chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut causes = Vec::new();
    let mut next: Option<&dyn std::error::Error> = Some(&error);
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    // The last one says what happened; those before it say only that something did.
    causes.pop().unwrap_or_default()
}
