//! What an encoder needs beyond the request: the model, its flags, how it thinks and its sampling.
//!
//! Pure values; nothing secret is in them.

use crate::config::{Generation, Thinking};

use super::failure::Place;
use super::select::{Flag, Flags, Provider};

/// The client's side of a model call.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    /// Who answers, and where.
    pub place: Place,
    /// What goes into [`crate::agent::Opaque::wire`]: the provider, with the host where that is not its usual one. Data
    /// that only a provider understands is sent to nobody else.
    pub origin: String,
    /// What the model string says the model can do.
    pub flags: Flags,
    /// How hard it should think; unset: nothing is sent.
    pub thinking: Option<Thinking>,
    /// Sampling; only keys that were written are sent.
    pub generation: Generation,
}

impl ModelOptions {
    /// For a model at its provider's usual address, with nothing set.
    pub fn new(provider: Provider, model: &str) -> Self {
        Self {
            place: Place { provider, host: provider.usual_host().to_owned(), model: model.to_owned() },
            origin: provider.name().to_owned(),
            flags: Flags::default(),
            thinking: None,
            generation: Generation::default(),
        }
    }

    /// How hard to think, where the flags do not say that it cannot.
    pub fn thinking(&self) -> Option<Thinking> {
        self.thinking.filter(|_| self.flags.allow(Flag::Thinking))
    }

    /// Whether tools are sent.
    pub fn sends_tools(&self) -> bool {
        self.flags.allow(Flag::Tools)
    }

    /// Settings that were written and that this provider's wire has no place for, by key.
    pub fn unsent(&self) -> Vec<&'static str> {
        let Generation { temperature: _, top_p: _, top_k, min_p, presence_penalty, repetition_penalty, .. } =
            &self.generation;
        let provider = self.place.provider;
        let mut unsent = Vec::new();
        let anthropic = provider == Provider::Anthropic;
        if top_k.is_some() && !anthropic && !provider.takes_extended_sampling() {
            unsent.push("top_k");
        }
        if min_p.is_some() && !provider.takes_extended_sampling() {
            unsent.push("min_p");
        }
        if presence_penalty.is_some() && anthropic {
            unsent.push("presence_penalty");
        }
        if repetition_penalty.is_some() && !provider.takes_extended_sampling() {
            unsent.push("repetition_penalty");
        }
        if anthropic && super::anthropic::thinks(self) {
            let sampling = [(self.generation.temperature.is_some(), "temperature"), (top_k.is_some(), "top_k")];
            unsent.extend(sampling.iter().filter(|(written, _)| *written).map(|(_, key)| *key));
        }
        if self.thinking.is_some() && !self.flags.allow(Flag::Thinking) {
            unsent.push("thinking");
        }
        unsent
    }
}
