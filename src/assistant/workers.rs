//! Workers as the driver sees them: what each is built from, its model, and what its calls ask of the agents beside it.
//!
//! Which worker there is, and what comes of it, is the tree's to say.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use tokio::sync::oneshot;

use super::build::{Built, build};
use super::ports::Model;
use super::tasks::spawn;
use super::turns::Inputs;
use super::{Driver, Id, Message, Severity};
use crate::access::{AgentName, Arrival, Conditions, Slot, ToolsetName};
use crate::agent::{
    AgentSpec, CallId, Ending, Failure, FailureKind, NodeId, Retry, ToolOutcome, TreeInput, Wiring, Worker,
};
use crate::tool::{Agents, Output};

impl Driver {
    /// Builds what a worker holds from its start, anew for each (D1), off the loop.
    pub(super) fn wire_worker(&mut self, id: &Id, wiring: Wiring, inputs: &mut Inputs) {
        if !self.dispatching(id) || self.stays_out(id, wiring.call, inputs) {
            return;
        }
        let capabilities = &self.setup.capabilities;
        let slots = capabilities.world.wiring(&wiring.agent, &[]);
        let names = slots.into_iter().filter_map(|slot| match slot {
            Slot::Toolset(name, Arrival::Resident | Arrival::Skill) => Some(name),
            Slot::Toolset(..) | Slot::Core(_) => None,
        });
        let wanted: Vec<_> = names.map(|name| (capabilities.toolsets.get(&name).cloned(), name)).collect();
        let (services, limit) = (capabilities.services.clone(), capabilities.build_timeout);
        let (conversation, messages) = (Arc::clone(id), self.messages.clone());
        if let Some(live) = self.lives.get_mut(id) {
            live.loads.insert(wiring.call);
        }
        spawn(async move {
            let builds = wanted.into_iter().map(|(toolset, name)| {
                let services = services.clone();
                async move {
                    let built = match toolset {
                        Some(toolset) => build(toolset, services, limit).await,
                        None => Err("nothing installs it".to_owned()),
                    };
                    (name, built)
                }
            });
            let builds = join_all(builds).await;
            let _gone = messages.send(Message::Wired { conversation, wiring: Box::new(wiring), builds }).await;
        });
    }

    /// The hook on each build (P8), before any of it is given to the worker; one that is refused or failed spawns nobody (P9).
    pub(super) async fn wired_worker(
        &mut self,
        id: &Id,
        wiring: Wiring,
        builds: Vec<(ToolsetName, Result<Built, String>)>,
    ) {
        let (call, node) = (wiring.call, wiring.node);
        let wanted = self.lives.get_mut(id).is_some_and(|live| live.loads.remove(&call));
        let mut accepted = Vec::new();
        let mut wrong = None;
        for (name, built) in builds {
            match self.setup.capabilities.judged(&name, built) {
                Ok(built) => accepted.push(built),
                Err(error) => {
                    let error = format!("'{name}': {error}");
                    if !wanted && self.setup.capabilities.world.refusal(&name).is_some() {
                        // Nobody waits for it any more, but it is refused to everybody from here on (P9).
                        let verb = if wiring.instructions.is_some() { "compose" } else { "spawn" };
                        let message = format!("Could not {verb} '{}': {error}", wiring.agent);
                        self.alert(Severity::Warning, message, None).await;
                    }
                    wrong = wrong.or(Some(error));
                }
            }
        }
        let model = self.setup.models.of(&wiring.agent);
        let worker = match (wrong, model) {
            (Some(error), _) => Err(error),
            (None, Err(failure)) => Err(format!("its model cannot be used: {}", failure.message)),
            (None, Ok(model)) => {
                let spec = self.spec(&wiring.agent, id, wiring.instructions.clone(), Conditions::default());
                let resident = accepted.iter().map(Built::loaded).collect();
                Ok((Box::new(Worker { spec, resident, model: model.label() }), model))
            }
        };
        let Some(live) = self.lives.get_mut(id) else { return };
        let worker = worker.map(|(worker, model)| {
            live.models.insert(node, model);
            for built in &accepted {
                live.keep_tools(node, built);
            }
            worker
        });
        self.feed(id, TreeInput::Wired { call, worker }).await;
        // Nobody waited for it any more, or it has ended already.
        if let Some(live) = self.lives.get_mut(id).filter(|live| live.tree.run(node).is_none()) {
            live.bury(node);
        }
    }

    /// What an agent is wired from. The tree says which node a worker is, and who stands above it.
    pub(super) fn spec(
        &self,
        agent: &AgentName,
        conversation: &str,
        instructions: Option<String>,
        conditions: Conditions,
    ) -> AgentSpec {
        let settings = self.setup.agents.get(agent).unwrap_or(&self.setup.composed);
        AgentSpec {
            name: agent.clone(),
            node: NodeId::ENTRY,
            address: None,
            above: Vec::new(),
            conversation: conversation.to_owned(),
            opener: instructions.unwrap_or_else(|| settings.opener.clone()),
            max_iterations: settings.max_iterations,
            concurrent_tools: settings.concurrent_tools,
            max_attempts: settings.max_attempts,
            conditions,
        }
    }

    /// The model of an agent that runs.
    ///
    /// # Errors
    /// The worker is gone.
    pub(super) fn model_of(&self, id: &Id, node: NodeId) -> Result<Arc<dyn Model>, Failure> {
        if node.is_entry() {
            return Ok(Arc::clone(&self.setup.model));
        }
        let model = self.lives.get(id).and_then(|live| live.models.get(&node));
        model.cloned().ok_or_else(|| Failure {
            kind: FailureKind::Unreachable,
            message: "its model is not there any more".to_owned(),
            hint: None,
            retry: Retry::Never,
        })
    }

    /// The way from one call to the agents beside it.
    pub(super) fn agents_of(&self, id: &Id, call: CallId) -> Agents {
        let (conversation, messages) = (Arc::clone(id), self.messages.clone());
        Agents::new(move |request| {
            let (conversation, messages) = (Arc::clone(&conversation), messages.clone());
            async move {
                let (reply, answer) = oneshot::channel();
                // What could not be sent goes at once, and its reply with it: nobody waits for an answer of a driver that is gone.
                drop(messages.send(Message::Requested { conversation, call, request, reply }).await);
                answer.await.unwrap_or_else(|_| Output::failed("The turn is over."))
            }
            .boxed()
        })
    }

    /// A call that asked other agents has its answer.
    pub(super) fn reply(&mut self, id: &Id, call: CallId, outcome: ToolOutcome) {
        let Some(reply) = self.lives.get_mut(id).and_then(|live| live.replies.remove(&call)) else { return };
        let output = if outcome.ending == Ending::Ok { Output::ok(outcome.text) } else { Output::failed(outcome.text) };
        // A call that was dropped hears nothing.
        let _gone = reply.send(output);
    }
}
