//! One model as the rest of the program calls it: a request in, a stream of deltas and at most one failure out.
//!
//! Puts the adapters together; decides nothing about a conversation.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;

use crate::agent::{Delta, Failure, FailureKind, Request, Retry};
use crate::config::{self, Generation, Thinking};

use super::failure::{Place, failure, no_key};
use super::http::{self, Link};
use super::key::{Environment, KeySource};
use super::options::ModelOptions;
use super::rehearsal::Rehearsal;
use super::select::{ModelSpec, Provider};

/// Seconds without a byte, where `[providers.<name>]` says nothing.
const STALL_TIMEOUT_S: u64 = 120;

/// One model, ready to be called. Cheap to clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    spec: ModelSpec,
    window: Option<u64>,
    notices: Vec<String>,
    model: Model,
}

enum Model {
    Remote(Arc<Link>),
    Rehearsal(Rehearsal),
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.0.spec.to_string()).finish()
    }
}

impl Client {
    /// A client for `spec`. `declared` is `[providers.<name>]` of its provider, if the configuration has it. Connects to
    /// nothing and runs nothing; a missing key fails the first call, not this.
    ///
    /// # Errors
    /// The address, a header or the rehearsal script cannot be used; the failure says which and what to do.
    pub fn new(
        spec: &ModelSpec,
        declared: Option<&config::Provider>,
        thinking: Option<Thinking>,
        generation: Generation,
        environment: Environment<'_>,
    ) -> Result<Self, Failure> {
        if spec.provider == Provider::Rehearsal {
            let rehearsal = rehearsal(&spec.model)?;
            let model = Model::Rehearsal(rehearsal);
            return Ok(Self(Arc::new(Inner { spec: spec.clone(), window: None, notices: Vec::new(), model })));
        }
        let link = link(spec, declared, thinking, generation, environment)?;
        let name = spec.provider.name();
        let unsent = link.options.unsent();
        let notices =
            unsent.iter().map(|key| format!("{key} is not sent: {name} does not take it for {}", spec.label()));
        Ok(Self(Arc::new(Inner {
            spec: spec.clone(),
            window: link.options.generation.context_length.map(u64::from),
            notices: notices.collect(),
            model: Model::Remote(Arc::new(link)),
        })))
    }

    /// A rehearsal model with its own script, for tests.
    pub fn rehearsing(rehearsal: Rehearsal) -> Self {
        let model = Model::Rehearsal(rehearsal);
        Self(Arc::new(Inner { spec: ModelSpec::rehearsal(), window: None, notices: Vec::new(), model }))
    }

    /// One model call. After an `Err` nothing follows. Dropping the stream cancels the call.
    pub fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, Failure>> {
        match &self.0.model {
            Model::Remote(link) => http::stream(Arc::clone(link), request),
            Model::Rehearsal(rehearsal) => rehearsal.stream(&request),
        }
    }

    /// The model as a person reads it: `qwen3:8b`, `rehearsal`.
    pub fn label(&self) -> &str {
        self.0.spec.label()
    }

    /// The model string it was made from.
    pub fn spec(&self) -> &ModelSpec {
        &self.0.spec
    }

    /// It is the rehearsal model.
    pub fn is_rehearsal(&self) -> bool {
        self.0.spec.provider == Provider::Rehearsal
    }

    /// The window in tokens, where the configuration names it.
    pub fn window(&self) -> Option<u64> {
        self.0.window
    }

    /// Tools that its provider is known to take in one call at most.
    pub fn tool_limit(&self) -> Option<usize> {
        self.0.spec.provider.tool_limit()
    }

    /// The window in tokens as its server says, where the configuration does not: one request, `None` where it does not
    /// say. For Ollama only once the model is loaded.
    pub async fn find_window(&self) -> Option<u64> {
        match (&self.0.model, self.0.window) {
            (_, Some(window)) => Some(window),
            (Model::Remote(link), None) => super::discover::window(link).await,
            (Model::Rehearsal(_), None) => None,
        }
    }

    /// What every call would fail with for want of a key, as far as that is known without running anything.
    pub fn missing_key(&self) -> Option<Failure> {
        match &self.0.model {
            Model::Remote(link) => match &link.key {
                KeySource::Missing(why) => Some(no_key(&link.options.place, why)),
                KeySource::None | KeySource::Known(_) | KeySource::Command { .. } => None,
            },
            Model::Rehearsal(_) => None,
        }
    }

    /// Settings that were written and are not sent, each a sentence for an alert.
    pub fn notices(&self) -> &[String] {
        &self.0.notices
    }
}

fn rehearsal(path: &str) -> Result<Rehearsal, Failure> {
    let broken = |message: String| {
        let hint = "docs/rehearsal.md describes scripts; `rehearsal` alone plays the one that ships".to_owned();
        failure(FailureKind::BadRequest, &message, hint, Retry::Never)
    };
    if path.is_empty() {
        return Rehearsal::shipped().map_err(|fault| broken(format!("the shipped rehearsal script: {fault}")));
    }
    let text = crate::system::files::read_text(Path::new(path))
        .map_err(|error| broken(format!("the rehearsal script cannot be read: {error}")))?;
    Rehearsal::from_toml(&text).map_err(|fault| broken(format!("rehearsal script {path}: {fault}")))
}

fn link(
    spec: &ModelSpec,
    declared: Option<&config::Provider>,
    thinking: Option<Thinking>,
    generation: Generation,
    environment: Environment<'_>,
) -> Result<Link, Failure> {
    let provider = spec.provider;
    let name = provider.name();
    let refuse = |what: String, hint: String| failure(FailureKind::BadRequest, &what, hint, Retry::Never);
    let Some(wire) = provider.wire() else {
        return Err(refuse(format!("{name} speaks no wire"), "rehearsal".to_owned()));
    };
    let ollama_host = || environment("OLLAMA_HOST").filter(|_| provider == Provider::Ollama);
    let chosen = spec
        .base_url
        .clone()
        .or_else(|| declared.and_then(|declared| declared.base_url.clone()))
        .or_else(|| ollama_host().and_then(|host| super::discover::ollama_url(&host)));
    let Some(base) = chosen.as_deref().or(provider.usual_url()) else {
        let hint = format!("write {name}:{}@http://host:port, or set [providers.{name}] base_url", spec.model);
        return Err(refuse(format!("{name} has no usual address"), hint));
    };
    let url = http::endpoint(wire, base)
        .map_err(|why| refuse(format!("{name}: {why}"), format!("check [providers.{name}] base_url")))?;
    // The usual address written out is still the usual address.
    let usual = provider.usual_url().and_then(|usual| http::endpoint(wire, usual).ok()) == Some(url.clone());
    let host = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let headers = declared.map(|declared| http::extra_headers(&declared.headers)).transpose();
    let headers = headers
        .map_err(|why| refuse(format!("{name}: {why}"), format!("check [providers.{name}] headers")))?
        .unwrap_or_default();
    let stall = declared.map_or(STALL_TIMEOUT_S, |declared| declared.stall_timeout_s.max(1));
    let options = ModelOptions {
        origin: if usual { name.to_owned() } else { format!("{name}@{host}") },
        place: Place { provider, host, model: spec.model.clone() },
        flags: spec.flags.clone(),
        thinking,
        generation,
    };
    Ok(Link {
        wire,
        options,
        url,
        key: KeySource::find(provider, declared, usual, environment),
        headers,
        stall: Duration::from_secs(stall),
    })
}
