//! What holds for one agent: its own table over `[assistant]`. Nothing is ever taken from a delegator (D2).

use super::{Config, Generation, Provider, Thinking};
use crate::access::AgentName;

/// The settings of one agent's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective<'a> {
    /// Model string; `None`: discovery.
    pub model: Option<&'a str>,
    /// `None`: nothing is sent. A written `false` is [`Thinking::Off`], which is something.
    pub thinking: Option<Thinking>,
    /// Opener; `None`: the built-in one.
    pub system_message: Option<&'a str>,
    /// Model calls in one turn; at least 1.
    pub max_iterations: u32,
    /// Merged key by key.
    pub generation: Generation,
}

impl Config {
    /// What holds for `agent`: its own keys, else `[assistant]`'s. An agent without a table has `[assistant]`'s.
    pub fn effective(&self, agent: &AgentName) -> Effective<'_> {
        let own = self.agents.get(agent);
        let common = &self.assistant;
        Effective {
            model: own.and_then(|own| own.model.as_deref()).or(common.model.as_deref()),
            thinking: own.and_then(|own| own.thinking).or(common.thinking),
            system_message: own.and_then(|own| own.system_message.as_deref()).or(common.system_message.as_deref()),
            max_iterations: own.and_then(|own| own.max_iterations).unwrap_or(common.max_iterations),
            generation: own.map_or_else(|| common.generation.clone(), |own| own.generation.over(&common.generation)),
        }
    }

    /// `[providers.<name>]`, with every default where the table or a key of it is not written.
    pub fn provider(&self, name: &str) -> Provider {
        self.providers.get(name).cloned().unwrap_or_default()
    }
}

impl Generation {
    /// These keys, and `other`'s where one is not written.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        Self {
            temperature: self.temperature.or(other.temperature),
            top_p: self.top_p.or(other.top_p),
            top_k: self.top_k.or(other.top_k),
            min_p: self.min_p.or(other.min_p),
            presence_penalty: self.presence_penalty.or(other.presence_penalty),
            repetition_penalty: self.repetition_penalty.or(other.repetition_penalty),
            max_tokens: self.max_tokens.or(other.max_tokens),
            context_length: self.context_length.or(other.context_length),
        }
    }
}
