//! Every agent's model and settings (D2): a worker's are its own or the default ones, never its delegator's.
//!
//! A model that can't be used keeps its agent from working, not the program from starting. The entry agent's does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::adapters::ModelPort;
use super::{OPENER, StartError, other, select_model, warning};
use crate::access::{AgentName, World};
use crate::agent::{Alert, Failure, Severity};
use crate::assistant::{AgentSettings, ports};
use crate::config::{Config, Generation, Provider, Thinking};
use crate::model::{self, Client, ModelSpec, Selection};
use crate::system::environment;

/// The model string of `agent`, as far as somebody wrote one: the entry agent's is `asked` (`--model`), else its own, else
/// `[assistant]`'s; another agent's is its own, else `asked`, else `[assistant]`'s. A composed worker has none of its own.
pub(super) fn configured<'a>(
    config: &'a Config,
    asked: Option<&'a str>,
    entry: &AgentName,
    agent: Option<&AgentName>,
) -> Option<&'a str> {
    let own = agent.and_then(|agent| config.agents.get(agent)).and_then(|own| own.model.as_deref());
    let first = if agent == Some(entry) { asked.or(own) } else { own.or(asked) };
    first.or(config.assistant.model.as_deref())
}

/// Whether anybody can come to be who runs by the default model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultModel {
    /// A worker without a model of its own can be spawned, or one composed.
    Used,
    /// Nobody can.
    Unused,
}

impl DefaultModel {
    /// As the tables say it.
    pub(super) fn of(config: &Config, world: &World) -> Self {
        let composes =
            |agent: &AgentName| world.available(agent).iter().any(|toolset| toolset.as_str() == "capabilities");
        let has_none = |agent: &AgentName| config.agents.get(agent).is_none_or(|own| own.model.is_none());
        let uses = |agent: &AgentName| composes(agent) || (agent != world.entry() && has_none(agent));
        if world.reachable().into_iter().any(uses) { Self::Used } else { Self::Unused }
    }
}

/// What an agent's client is made of. Agents that agree in it share one, and what it keeps: a key, say.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    spec: Result<ModelSpec, Failure>,
    thinking: Option<Thinking>,
    generation: Generation,
}

/// The models of all agents. Clients are made when they are first asked for, and kept.
pub(super) struct Models {
    entry: AgentName,
    declared: BTreeMap<AgentName, Plan>,
    composed: Plan,
    providers: BTreeMap<String, Provider>,
    made: Mutex<Vec<(Plan, Arc<ModelPort>)>>,
}

impl Models {
    /// Decides which model each agent has. `asked` is `--model`; `selected` what was selected for the entry agent already.
    /// Looks for a running server only for an agent that has no model string and can come to be, and makes the entry agent's
    /// client.
    ///
    /// # Errors
    /// The entry agent's model string is none, or its client can't be made.
    pub(super) async fn new(
        config: &Config,
        entry: &AgentName,
        asked: Option<&str>,
        selected: Option<Selection>,
        used: DefaultModel,
    ) -> Result<Self, StartError> {
        let named = configured(config, asked, entry, Some(entry));
        let of_entry = match selected {
            Some(selection) => selection.spec,
            None => select_model(config, named).await?.spec,
        };
        let default = configured(config, asked, entry, None);
        let default = if default == named {
            Ok(of_entry.clone())
        } else if default.is_none() && used == DefaultModel::Unused {
            let message = "no model was looked for, because no agent runs by the default one".to_owned();
            Err(model::SpecError { message, hint: "set model in [assistant]".to_owned() }.into())
        } else {
            super::select(config, default).await.map(|selection| selection.spec).map_err(Failure::from)
        };
        let models = Self::of_specs(config, entry, of_entry, default);
        models.client(Some(entry)).map_err(|failure| other(failure.message, failure.hint))?;
        Ok(models)
    }

    /// As [`Models::new`], where the entry agent's model and the default one are known.
    fn of_specs(config: &Config, entry: &AgentName, of_entry: ModelSpec, default: Result<ModelSpec, Failure>) -> Self {
        let plan = |agent: &AgentName, spec: Result<ModelSpec, Failure>| {
            let settings = config.effective(agent);
            Plan { spec, thinking: settings.thinking, generation: settings.generation }
        };
        let spec = |agent: &AgentName| {
            let own = config.agents.get(agent).and_then(|own| own.model.as_deref());
            match own {
                _ if agent == entry => Ok(of_entry.clone()),
                Some(own) => own.parse().map_err(|error: model::SpecError| error.into()),
                None => default.clone(),
            }
        };
        let mut declared: BTreeMap<AgentName, Plan> =
            config.agents.keys().map(|agent| (agent.clone(), plan(agent, spec(agent)))).collect();
        declared.entry(entry.clone()).or_insert_with(|| plan(entry, Ok(of_entry.clone())));
        let composed = Plan {
            spec: default.clone(),
            thinking: config.assistant.thinking,
            generation: config.assistant.generation.clone(),
        };
        Self { entry: entry.clone(), declared, composed, providers: config.providers.clone(), made: Mutex::default() }
    }

    /// What a person should know of the models of the entry agent and of every agent that it can reach (D1): settings that
    /// are not sent, and workers that have no usable model.
    pub(super) fn alerts(&self, world: &World) -> Vec<Alert> {
        let mut alerts = Vec::new();
        for agent in world.reachable() {
            let own = *agent == self.entry;
            match self.usable(Some(agent)) {
                Ok(port) => alerts.extend(
                    port.0
                        .notices()
                        .iter()
                        .map(|notice| warning(if own { notice.clone() } else { format!("{agent}: {notice}") })),
                ),
                Err(Failure { message, hint, .. }) => alerts.push(Alert {
                    severity: Severity::Warning,
                    message: format!("{agent} can't work for another agent: {message}"),
                    hint,
                }),
            }
        }
        alerts
    }

    fn plan(&self, agent: Option<&AgentName>) -> &Plan {
        agent.and_then(|agent| self.declared.get(agent)).unwrap_or(&self.composed)
    }

    fn client(&self, agent: Option<&AgentName>) -> Result<Arc<ModelPort>, Failure> {
        let plan = self.plan(agent);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, port)) = made.iter().find(|(known, _)| known == plan) {
            return Ok(Arc::clone(port));
        }
        let spec = plan.spec.clone()?;
        let provider = self.providers.get(spec.provider.name());
        let client = Client::new(&spec, provider, plan.thinking, plan.generation.clone(), &environment::variable)?;
        let port = Arc::new(ModelPort(client));
        made.push((plan.clone(), Arc::clone(&port)));
        Ok(port)
    }

    /// A client that could be called. The entry agent's is given without a key too: its first call says that, where a
    /// person reads it.
    fn usable(&self, agent: Option<&AgentName>) -> Result<Arc<ModelPort>, Failure> {
        let port = self.client(agent)?;
        match port.0.missing_key() {
            Some(failure) if agent != Some(&self.entry) => Err(failure),
            _ => Ok(port),
        }
    }
}

impl ports::Models for Models {
    fn of(&self, agent: &AgentName) -> Result<Arc<dyn ports::Model>, Failure> {
        Ok(self.usable(Some(agent))?)
    }
}

/// How each declared agent runs, and how a composed worker does, whose opener its composer adds to.
pub(super) fn settings_of(config: &Config, models: &Models) -> (BTreeMap<AgentName, AgentSettings>, AgentSettings) {
    let attempts = |plan: &Plan| {
        let provider = plan.spec.as_ref().map_or("", |spec| spec.provider.name());
        config.provider(provider).max_attempts
    };
    let settings = |opener: Option<&str>, max_iterations, plan: &Plan| AgentSettings {
        opener: opener.unwrap_or(OPENER).trim().to_owned(),
        max_iterations,
        concurrent_tools: config.assistant.concurrent_tools,
        max_attempts: attempts(plan),
    };
    let declared = models.declared.iter().map(|(agent, plan)| {
        let effective = config.effective(agent);
        (agent.clone(), settings(effective.system_message, effective.max_iterations, plan))
    });
    let common = &config.assistant;
    (declared.collect(), settings(common.system_message.as_deref(), common.max_iterations, &models.composed))
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
