//! Model strings: `provider:model[@base_url][;flags]`, and what is known of each provider.
//!
//! Pure. Nothing here connects; what runs when no model is named is found in `discover`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::access::name::{did_you_mean, near};
use crate::agent::{Failure, FailureKind, Retry};

use super::wire::Wire;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// `OpenAI`.
    OpenAi,
    /// Anthropic, or whoever speaks its wire.
    Anthropic,
    /// Ollama's native wire.
    Ollama,
    /// Any server that speaks Chat Completions; its address has to be named.
    Compatible,
    /// `OpenRouter`.
    OpenRouter,
    /// Groq.
    Groq,
    /// `DeepSeek`.
    DeepSeek,
    /// Mistral.
    Mistral,
    /// LM Studio on this machine.
    LmStudio,
    /// llama.cpp's server on this machine.
    LlamaCpp,
    /// vLLM on this machine.
    Vllm,
    /// The embedded rehearsal model.
    Rehearsal,
}

impl Provider {
    /// Every provider, in the order they are listed to people.
    pub const ALL: [Self; 12] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Ollama,
        Self::Compatible,
        Self::OpenRouter,
        Self::Groq,
        Self::DeepSeek,
        Self::Mistral,
        Self::LmStudio,
        Self::LlamaCpp,
        Self::Vllm,
        Self::Rehearsal,
    ];

    /// Its name in model strings and in `[providers.<name>]`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
            Self::Compatible => "openai-compat",
            Self::OpenRouter => "openrouter",
            Self::Groq => "groq",
            Self::DeepSeek => "deepseek",
            Self::Mistral => "mistral",
            Self::LmStudio => "lmstudio",
            Self::LlamaCpp => "llamacpp",
            Self::Vllm => "vllm",
            Self::Rehearsal => "rehearsal",
        }
    }

    /// What it speaks; `None` for the rehearsal model, which speaks to nobody.
    pub const fn wire(self) -> Option<Wire> {
        match self {
            Self::Anthropic => Some(Wire::Anthropic),
            Self::Ollama => Some(Wire::Ollama),
            Self::Rehearsal => None,
            _ => Some(Wire::OpenAi),
        }
    }

    /// Its usual address, if it has one.
    pub const fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::OpenRouter => Some("https://openrouter.ai/api/v1"),
            Self::Groq => Some("https://api.groq.com/openai/v1"),
            Self::DeepSeek => Some("https://api.deepseek.com/v1"),
            Self::Mistral => Some("https://api.mistral.ai/v1"),
            Self::LmStudio => Some("http://127.0.0.1:1234/v1"),
            Self::LlamaCpp => Some("http://127.0.0.1:8080/v1"),
            Self::Vllm => Some("http://127.0.0.1:8000/v1"),
            Self::Compatible | Self::Rehearsal => None,
        }
    }

    /// Tools in one call that it is known to refuse more of.
    pub const fn tool_limit(self) -> Option<usize> {
        match self {
            Self::OpenAi => Some(128),
            _ => None,
        }
    }

    /// Host and port of the usual address; empty without one.
    pub fn usual_host(self) -> &'static str {
        let url = self.usual_url().unwrap_or_default();
        let host = url.split_once("://").map_or(url, |(_, rest)| rest);
        host.split('/').next().unwrap_or_default()
    }

    /// The environment variable that usually holds its key. Read only for the usual address: a key is not sent to
    /// another one unless `[providers.<name>]` says so.
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenRouter => Some("OPENROUTER_API_KEY"),
            Self::Groq => Some("GROQ_API_KEY"),
            Self::DeepSeek => Some("DEEPSEEK_API_KEY"),
            Self::Mistral => Some("MISTRAL_API_KEY"),
            _ => None,
        }
    }

    /// It usually runs on the person's own machine and needs no key.
    pub const fn is_local(self) -> bool {
        self.key_variable().is_none()
    }

    /// It takes `top_k`, `min_p` and a repetition penalty.
    pub const fn takes_extended_sampling(self) -> bool {
        matches!(
            self,
            Self::Ollama | Self::Compatible | Self::OpenRouter | Self::LmStudio | Self::LlamaCpp | Self::Vllm
        )
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a model can do, where its string says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// It calls tools.
    Tools,
    /// It reasons and can be told how hard.
    Thinking,
    /// It sees images.
    Vision,
    /// It hears sound.
    Audio,
    /// It keeps to an output schema.
    Structured,
}

impl Flag {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Tools, "tools"),
        (Self::Thinking, "thinking"),
        (Self::Vision, "vision"),
        (Self::Audio, "audio"),
        (Self::Structured, "structured"),
    ];
}

/// The flags of a model string. They narrow only where they were written: without any, everything is assumed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Flags(Option<BTreeSet<Flag>>);

impl Flags {
    /// Exactly these.
    pub fn only(flags: impl IntoIterator<Item = Flag>) -> Self {
        Self(Some(flags.into_iter().collect()))
    }

    /// Whether the model may be assumed to do this.
    pub fn allow(&self, flag: Flag) -> bool {
        self.0.as_ref().is_none_or(|flags| flags.contains(&flag))
    }
}

/// A parsed model string. `Display` writes it back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelSpec {
    /// Who answers.
    pub provider: Provider,
    /// The model's id. For the rehearsal model a script file's path, or empty for the one that ships.
    pub model: String,
    /// Where, if the string says so. Holds no user name and no password.
    pub base_url: Option<String>,
    /// What it can do, if the string says so.
    pub flags: Flags,
}

/// Why a model string is none: a lower-case fragment and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        super::failure::failure(FailureKind::BadRequest, &error.message, error.hint, Retry::Never)
    }
}

fn wrong(message: String, hint: impl Into<String>) -> SpecError {
    SpecError { message, hint: hint.into() }
}

impl ModelSpec {
    /// The rehearsal model with the script that ships.
    pub fn rehearsal() -> Self {
        Self { provider: Provider::Rehearsal, model: String::new(), base_url: None, flags: Flags::default() }
    }

    /// What people read: the model's id.
    pub fn label(&self) -> &str {
        if self.provider == Provider::Rehearsal { Provider::Rehearsal.name() } else { &self.model }
    }
}

impl FromStr for ModelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let text = text.trim();
        // What messages quote.
        let quoted = &*crate::config::without_credentials(text);
        let (rest, flags) = match text.split_once(';') {
            Some((rest, flags)) => (rest, parse_flags(flags, quoted)?),
            None => (text, Flags::default()),
        };
        let (rest, base_url) = split_url(rest, quoted)?;
        let text = quoted;
        let (provider, model) = rest.split_once(':').unwrap_or((rest, ""));
        let Some(provider) = Provider::ALL.into_iter().find(|known| known.name() == provider) else {
            let names: Vec<&str> = Provider::ALL.iter().map(|known| known.name()).collect();
            let known = format!("write provider:model, with one of {}", names.join(", "));
            let close = did_you_mean(&near(provider, names, 2)).map(|close| format!("{close} ")).unwrap_or_default();
            return Err(wrong(format!("model '{text}': unknown provider '{provider}'"), format!("{close}{known}")));
        };
        let name = provider.name();
        if provider == Provider::Rehearsal {
            if base_url.is_some() {
                return Err(wrong(format!("model '{text}': the rehearsal model has no address"), "rehearsal"));
            }
        } else if model.is_empty() {
            return Err(wrong(format!("model '{text}' names no model"), format!("write {name}:<the model's id>")));
        }
        Ok(Self { provider, model: model.to_owned(), base_url, flags })
    }
}

fn parse_flags(flags: &str, text: &str) -> Result<Flags, SpecError> {
    let words = flags.split([',', ';']).map(str::trim).filter(|word| !word.is_empty());
    let mut found = BTreeSet::new();
    for word in words {
        let Some((flag, _)) = Flag::ALL.into_iter().find(|(_, name)| *name == word) else {
            let names: Vec<&str> = Flag::ALL.iter().map(|(_, name)| *name).collect();
            return Err(wrong(
                format!("model '{text}': unknown flag '{word}'"),
                format!("flags: {}", names.join(", ")),
            ));
        };
        found.insert(flag);
    }
    Ok(if found.is_empty() { Flags::default() } else { Flags(Some(found)) })
}

/// Splits at the `@` before an address. A model's id may hold an `@` of its own; an address begins with its scheme.
fn split_url<'a>(rest: &'a str, text: &str) -> Result<(&'a str, Option<String>), SpecError> {
    let start = ["@http://", "@https://"].iter().filter_map(|mark| rest.find(mark)).min();
    let Some((head, url)) = start.and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?))) else {
        let tail = rest.rsplit_once('@').map(|(_, tail)| tail);
        if let Some(tail) = tail.filter(|tail| tail.starts_with("localhost") || tail.contains(':')) {
            return Err(wrong(format!("model '{text}': the address has no scheme"), format!("write @http://{tail}")));
        }
        return Ok((rest, None));
    };
    check_url(url).map_err(|cause| wrong(format!("model '{text}': {cause}"), "write @http://host:port"))?;
    Ok((head, Some(url.trim_end_matches('/').to_owned())))
}

/// Checks an address.
///
/// # Errors
/// What is wrong with it: a lower-case fragment.
pub fn check_url(url: &str) -> Result<(), String> {
    // An address is shown to people and logged; a password in it would be too.
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if authority.contains('@') {
        return Err("the address holds a user name or password: put it in [providers.<name>] headers".to_owned());
    }
    let parsed = reqwest::Url::parse(url).map_err(|error| format!("this is no address: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err("this is no http address".to_owned());
    }
    Ok(())
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.provider.name())?;
        if !self.model.is_empty() {
            write!(f, ":{}", self.model)?;
        }
        if let Some(url) = &self.base_url {
            write!(f, "@{url}")?;
        }
        let flags = self.flags.0.iter().flatten();
        for (place, flag) in flags.enumerate() {
            let name = Flag::ALL.iter().find(|(known, _)| known == flag).map_or("", |(_, name)| name);
            write!(f, "{}{name}", if place == 0 { ';' } else { ',' })?;
        }
        Ok(())
    }
}
