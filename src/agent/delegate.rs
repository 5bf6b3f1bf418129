//! What a call asks of the other agents of its turn, and what a worker is wired from.
//!
//! Nothing here runs; the tree answers.

use super::call::CallId;
use super::input::LoadedToolset;
use super::node::NodeId;
use super::run::AgentSpec;
use crate::access::AgentName;

/// What a tool of `messaging` or `capabilities` asks (D3, D6, D7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// `send_message`.
    Send {
        /// A selector: an address, a label, or `everyone`.
        to: String,
        /// The words.
        text: String,
    },
    /// `list_agents`.
    List,
    /// `check_agent`.
    Check {
        /// Of whom.
        address: String,
    },
    /// `await_agents`: answered when each of them has ended.
    Await {
        /// Of whom.
        addresses: Vec<String>,
    },
    /// `stop_agent`.
    Stop {
        /// Of whom.
        address: String,
    },
    /// `list_capabilities`.
    Capabilities {
        /// Only toolsets whose name or description has this in it.
        filter: String,
    },
    /// `compose_subagent`: answered with the worker's own answer.
    Compose {
        /// The label it is called by.
        label: String,
        /// What it is to do.
        task: String,
        /// What it is composed from.
        toolsets: Vec<String>,
        /// The opener of its system message; empty: a default one.
        instructions: String,
    },
}

/// A worker that is to be wired: what to build for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wiring {
    /// The call that asked for it.
    pub call: CallId,
    /// Which of the conversation's agents it will be.
    pub node: NodeId,
    /// A declared agent, or one that `World::compose` has named.
    pub agent: AgentName,
    /// The opener of a composed worker's system message; `None`: a declared agent has its own.
    pub instructions: Option<String>,
}

/// A worker that was wired: what it is made of.
#[derive(Debug, Clone)]
pub struct Worker {
    /// Its settings. The tree says which node it is, who stands above it, and under which conditions it runs.
    pub spec: AgentSpec,
    /// The accepted builds of what it holds from its start.
    pub resident: Vec<LoadedToolset>,
    /// Its model as a person reads it.
    pub model: String,
}
