//! Which model runs when none is configured: the environment's, else one that is running here, else the rehearsal model.
//! And what a server says of the window of the one that runs.
//!
//! Never a cloud model by itself, not even one that a local server would pass on to.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::config;

use super::http::{Link, connections, headers};
use super::key::Environment;
use super::select::{Flags, ModelSpec, Provider, SpecError};
use super::wire::Wire;

/// A server on this machine accepts at once or is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(150);
/// One that accepts lists its models in no time.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);
/// A window is worth this wait; nobody waits for it.
const WINDOW_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of a list of models.
const LIST_LIMIT: usize = 4 << 20;

/// Why this model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// The configuration or the command line names it.
    Configured,
    /// `$KOKUA_MODEL` names it.
    Environment,
    /// Its server runs here.
    Running,
    /// Nothing else was found.
    NothingFound,
}

/// The model to call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The model.
    pub spec: ModelSpec,
    /// Why it.
    pub because: Because,
}

/// Addresses that are asked, in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates(pub Vec<(Provider, String)>);

impl Candidates {
    /// Ollama, llama.cpp, LM Studio and vLLM: each where `[providers.<name>] base_url` says, Ollama else where
    /// `OLLAMA_HOST` says, else at their usual addresses.
    pub fn usual(declared: &BTreeMap<String, config::Provider>, environment: Environment<'_>) -> Self {
        let servers = [Provider::Ollama, Provider::LlamaCpp, Provider::LmStudio, Provider::Vllm];
        let address = |provider: Provider| {
            let declared = declared.get(provider.name()).and_then(|declared| declared.base_url.clone());
            let host = || environment("OLLAMA_HOST").filter(|_| provider == Provider::Ollama);
            declared
                .or_else(|| host().and_then(|host| ollama_url(&host)))
                .or_else(|| provider.usual_url().map(str::to_owned))
        };
        Self(servers.into_iter().filter_map(|provider| Some((provider, address(provider)?))).collect())
    }
}

/// An address out of `OLLAMA_HOST`, which is written for the server: without a scheme or port, or as "every interface".
pub fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim();
    if host.is_empty() {
        return None;
    }
    let with_scheme = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    super::select::check_url(&with_scheme).ok()?;
    let mut url = Url::parse(&with_scheme).ok()?;
    if url.port().is_none() && !host.contains("://") {
        url.set_port(Some(11434)).ok()?;
    }
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// The model that `configured` names, else `$KOKUA_MODEL`, else the first that runs at `candidates`, else the rehearsal
/// model. Asks all candidates at once and waits under a second.
///
/// # Errors
/// A model string that is none.
pub async fn select(
    configured: Option<&str>,
    environment: Environment<'_>,
    candidates: &Candidates,
) -> Result<Selection, SpecError> {
    if let Some(text) = configured {
        return Ok(Selection { spec: text.parse()?, because: Because::Configured });
    }
    if let Some(text) = environment("KOKUA_MODEL").filter(|text| !text.trim().is_empty()) {
        let spec = text.parse().map_err(|mut error: SpecError| {
            error.message = format!("$KOKUA_MODEL: {}", error.message);
            error
        })?;
        return Ok(Selection { spec, because: Because::Environment });
    }
    let asked = candidates.0.iter().map(|(provider, url)| running(*provider, url));
    let found = join_all(asked).await.into_iter().flatten().next();
    Ok(match found {
        Some(spec) => Selection { spec, because: Because::Running },
        None => Selection { spec: ModelSpec::rehearsal(), because: Because::NothingFound },
    })
}

/// The first model of a server, if one answers there.
async fn running(provider: Provider, base: &str) -> Option<ModelSpec> {
    let base = base.trim_end_matches('/');
    let url = list_url(provider, base)?;
    let address = (url.host_str()?.trim_matches(['[', ']']).to_owned(), url.port_or_known_default()?);
    let connecting = tokio::net::TcpStream::connect((address.0.as_str(), address.1));
    drop(tokio::time::timeout(CONNECT_TIMEOUT, connecting).await.ok()?.ok()?);
    let list = tokio::time::timeout(ANSWER_TIMEOUT, list(url, HeaderMap::new())).await.ok()??;
    let model = first_model(provider, &list)?;
    let usual = provider.usual_url() == Some(base);
    let base_url = (!usual).then(|| base.to_owned());
    Some(ModelSpec { provider, model, base_url, flags: Flags::default() })
}

/// Where a server lists its models; `base` may be written with or without its `/v1`.
fn list_url(provider: Provider, base: &str) -> Option<Url> {
    let wire = provider.wire()?;
    let mut url = super::http::endpoint(wire, base).ok()?;
    let (chat, list) = match wire {
        Wire::Ollama => ("/chat", "/tags"),
        Wire::OpenAi => ("/chat/completions", "/models"),
        Wire::Anthropic => ("/messages", "/models"),
    };
    let path = format!("{}{list}", url.path().strip_suffix(chat)?);
    url.set_path(&path);
    Some(url)
}

async fn list(url: Url, headers: HeaderMap) -> Option<Value> {
    let mut response = connections(&url).ok()?.get(url).headers(headers).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > LIST_LIMIT {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

/// The model's window in tokens, where its server says: asks its list of models once, Ollama what it has loaded. Runs no
/// command for a key: only a call is worth a question to the person.
pub async fn window(link: &Link) -> Option<u64> {
    let place = &link.options.place;
    let base = link.url.as_str();
    let mut url = list_url(place.provider, base)?;
    if link.wire == Wire::Ollama {
        let path = url.path().replace("/tags", "/ps");
        url.set_path(&path);
    }
    let key = link.key.at_hand().ok()?;
    let headers = headers(link, key.as_ref()).ok()?;
    let list = tokio::time::timeout(WINDOW_TIMEOUT, list(url, headers)).await.ok()??;
    window_in(place.provider, &place.model, &list)
}

/// The window that a list of models names for `model`.
pub fn window_in(provider: Provider, model: &str, list: &Value) -> Option<u64> {
    let (models, name) = if provider == Provider::Ollama { ("models", "name") } else { ("data", "id") };
    let entries = list.get(models)?.as_array()?;
    let own = entries.iter().find(|entry| entry.get(name).and_then(Value::as_str) == Some(model));
    // llama.cpp serves its one model under any name.
    let entry = own.or_else(|| entries.first().filter(|_| provider == Provider::LlamaCpp && entries.len() == 1))?;
    let keys = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens"];
    let named = keys.iter().find_map(|key| entry.get(*key).and_then(Value::as_u64));
    named.or_else(|| entry.get("meta").and_then(|meta| meta.get("n_ctx")).and_then(Value::as_u64))
}

/// The first model of a list that can chat and runs here.
pub fn first_model(provider: Provider, list: &Value) -> Option<String> {
    let (models, name) = if provider == Provider::Ollama { ("models", "name") } else { ("data", "id") };
    let entries = list.get(models)?.as_array()?;
    entries.iter().filter(|entry| !is_remote(entry)).find_map(|entry| {
        let id = entry.get(name)?.as_str()?;
        (!id.is_empty() && !is_embedder(id, entry)).then(|| id.to_owned())
    })
}

/// Ollama lists models of its cloud among those that it has.
fn is_remote(entry: &Value) -> bool {
    let written = |key: &str| entry.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
    written("remote_host") || written("remote_model") || name.ends_with("-cloud") || name.ends_with(":cloud")
}

fn is_embedder(id: &str, entry: &Value) -> bool {
    let family = entry.get("details").and_then(|details| details.get("family")).and_then(Value::as_str);
    id.to_ascii_lowercase().contains("embed") || family.is_some_and(|family| family.contains("bert"))
}
