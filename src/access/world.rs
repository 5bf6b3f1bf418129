//! The one shared value that every question is asked of: declarations, registry, builds, switches, checks, grants.
//!
//! It changes only by its own transitions, applied in arrival order by its owner.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declare::{Declarations, Fault};
use super::grant::Grant;
use super::held::{Held, HeldTool};
use super::name::{AgentName, Spanned, ToolId, ToolsetName};
use super::offer::Withheld;
use super::policy::{BuildRefusal, Decision};
use super::registry::{Registry, ToolFacts};

/// Whether a person is at this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attendance {
    /// A person started it here.
    Attended,
    /// Scheduled, proactive or headless.
    Unattended,
}

/// What is known of a toolset's build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildState {
    /// The last accepted build's tools, in build order.
    Built(Vec<ToolFacts>),
    /// The last build failed with this sentence.
    Failed(String),
    /// P9 refused it.
    Refused(BuildRefusal),
}

/// The shared value.
#[derive(Debug, Clone, Default)]
pub struct World {
    pub(super) declarations: Declarations,
    pub(super) registry: Registry,
    pub(super) builds: BTreeMap<ToolsetName, BuildState>,
    pub(super) grants: Vec<Grant>,
}

/// The call that a decision is asked for.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// The conversation's id.
    pub conversation: &'a str,
    /// The agent that calls.
    pub agent: &'a AgentName,
    /// The held tool.
    pub tool: &'a HeldTool,
    /// Arguments as canonical JSON, after coercion.
    pub arguments: &'a str,
    /// Whether anybody is there.
    pub attendance: Attendance,
}

impl World {
    /// Checks every table against the registry before anything is built (A2); every fault together.
    ///
    /// # Errors
    /// Each fault of the declarations.
    pub fn new(declarations: Declarations, registry: Registry) -> Result<Self, Vec<Fault>> {
        let _ = (declarations, registry);
        unimplemented!("access")
    }

    /// The declarations.
    pub fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The entry agent.
    pub fn entry(&self) -> &AgentName {
        unimplemented!("access")
    }

    /// `agent`'s toolsets in available order, `"all"` expanded (A6). Empty for an unknown agent.
    pub fn available(&self, agent: &AgentName) -> Vec<ToolsetName> {
        let _ = agent;
        unimplemented!("access")
    }

    /// `agent`'s resident toolsets in available order (R2, R3).
    pub fn resident(&self, agent: &AgentName) -> Vec<ToolsetName> {
        let _ = agent;
        unimplemented!("access")
    }

    /// `agent`'s available toolsets that are not resident, in available order.
    pub fn deferred(&self, agent: &AgentName) -> Vec<ToolsetName> {
        let _ = agent;
        unimplemented!("access")
    }

    /// The names line of the system message (R4), if something is loadable at wiring.
    pub fn names_line(&self, agent: &AgentName, held: &Held) -> Option<String> {
        let _ = (agent, held);
        unimplemented!("access")
    }

    /// Toolsets that must be built at startup: P7.
    pub fn startup_builds(&self) -> Vec<ToolsetName> {
        unimplemented!("access")
    }

    /// The hook (P8): judges one build before any of its tools is returned to anybody, and resolves entries on it.
    ///
    /// # Errors
    /// The refusal (P9); the toolset stays refused until the program restarts.
    pub fn report_build(&mut self, toolset: &ToolsetName, tools: &[ToolFacts]) -> Result<(), BuildRefusal> {
        let _ = (toolset, tools);
        unimplemented!("access")
    }

    /// A build that failed on its own (R10): it stays loadable.
    pub fn report_failure(&mut self, toolset: &ToolsetName, error: &str) {
        let _ = (toolset, error);
        unimplemented!("access")
    }

    /// Startup's builds are done: entries on what was built must have matched (P6); every fault together.
    ///
    /// # Errors
    /// Each entry that matches nothing or stands in conflict.
    pub fn resolve(&mut self) -> Result<(), Vec<Fault>> {
        unimplemented!("access")
    }

    /// What happens to this call (P1's order up to the card).
    pub fn decide(&mut self, call: CallFacts<'_>) -> Decision {
        let _ = call;
        unimplemented!("access")
    }

    /// The dispatch re-check of axis 5 (O3): `None` when the call may run now, else the refusal for the model.
    pub fn dispatch(&self, agent: &AgentName, held: &Held, tool: &ToolId, digest: &str) -> Option<String> {
        let _ = (agent, held, tool, digest);
        unimplemented!("access")
    }

    /// Whether `load_tools(name)` by `agent` may build now; `Err` is the result the model reads (R5, R9, A12's texts).
    ///
    /// # Errors
    /// The exact answer: unknown, resident, already loaded, switched off, or refused.
    pub fn may_load(&self, agent: &AgentName, held: &Held, name: &str) -> Result<ToolsetName, String> {
        let _ = (agent, held, name);
        unimplemented!("access")
    }

    /// The answer of `available_tools(filter)` (R5).
    pub fn available_tools(&self, agent: &AgentName, held: &Held, filter: &str) -> String {
        let _ = (agent, held, filter);
        unimplemented!("access")
    }

    /// The error result for a wire name that is not held (A12): near names out of `offered` and the toolset to load.
    pub fn unknown_tool(&self, agent: &AgentName, held: &Held, offered: &[&HeldTool], wire: &str) -> String {
        let _ = (agent, held, offered, wire);
        unimplemented!("access")
    }

    /// Sets the person's switches (W1). Hot.
    ///
    /// # Errors
    /// Names that nothing installs; the switches stay as they were.
    pub fn switch_off(&mut self, disabled: Vec<Spanned<ToolsetName>>) -> Result<(), Vec<Fault>> {
        let _ = disabled;
        unimplemented!("access")
    }

    /// Records what a health check last said (W2): `None` = yes. `tool` absent: the whole toolset.
    pub fn report_check(&mut self, toolset: &ToolsetName, tool: Option<&str>, withheld: Option<Withheld>) {
        let _ = (toolset, tool, withheld);
        unimplemented!("access")
    }

    /// Adds a grant (P16). `Err`: no grant can be given for this tool, with the sentence.
    ///
    /// # Errors
    /// The floor reaches the tool.
    pub fn grant(&mut self, call: CallFacts<'_>) -> Result<u32, String> {
        let _ = call;
        unimplemented!("access")
    }

    /// Revokes a grant by number; whether there was one.
    pub fn revoke(&mut self, number: u32) -> bool {
        let _ = number;
        unimplemented!("access")
    }

    /// The grants of a conversation.
    pub fn grants(&self, conversation: &str) -> Vec<&Grant> {
        let _ = conversation;
        unimplemented!("access")
    }

    /// Sets the `--allow` entries of this run (P21, P22).
    ///
    /// # Errors
    /// One sentence for each entry that does not parse, matches nothing registered, or reaches the floor.
    pub fn allow(&mut self, entries: &[String]) -> Result<(), Vec<String>> {
        let _ = entries;
        unimplemented!("access")
    }

    /// `--allow` entries that never matched a call so far, as written (P22).
    pub fn unused_allows(&self) -> Vec<String> {
        unimplemented!("access")
    }

    /// Resident tools that lost their name (N3): one sentence each, and the agents not checked (N4).
    pub fn shadows(&self) -> Shadows {
        unimplemented!("access")
    }
}

/// N3 and N4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shadows {
    /// `researcher: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name).`
    pub alerts: Vec<String>,
    /// Agents whose resident toolsets were not all built.
    pub not_checked: Vec<AgentName>,
}
