//! All five answers for a tool or a whole agent, with every reason. Offering, dispatch, screens and commands ask here.
//!
//! Nothing here decides by itself: it calls the one function that owns each question.

use serde::Serialize;

use super::grant::Grant;
use super::held::Held;
use super::name::{AgentName, ToolId, ToolName, ToolsetName};
use super::policy::GateList;
use super::registry::{Kind, Risk};
use super::world::World;

/// One reason with the place that decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// For people: a sentence fragment.
    pub text: String,
    /// Line of the configuration, if one decided.
    pub line: Option<usize>,
}

/// The five answers for one tool of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// 1: can it ever call it?
    pub available: (bool, Vec<Reason>),
    /// 2: is it in its context?
    pub held: (bool, Vec<Reason>),
    /// 3: does a call made now carry it?
    pub offered: (bool, Vec<Reason>),
    /// 4: does it ask first?
    pub gated: (Option<GateList>, Vec<Reason>),
    /// 5: would it run now, after an answer?
    pub dispatched: (bool, Vec<Reason>),
}

/// A toolset's state for one agent (R5, F3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolsetState {
    /// In the context from the start.
    Resident,
    /// Restored from the conversation's own loads.
    Preloaded,
    /// Loaded in this life.
    Loaded,
    /// Available and one `load_tools` away.
    Loadable,
    /// The last build failed; a retry may work.
    Failed {
        /// The error.
        error: String,
    },
    /// P9.
    Refused {
        /// The entry that refused it.
        entry: String,
    },
    /// Switched off or its check says no.
    Off {
        /// Why.
        reason: String,
    },
    /// Installed, and this agent's table does not list it.
    NotAvailable,
}

/// One tool of a toolset in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRow {
    /// Declared name.
    pub name: ToolName,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition.
    pub bytes: usize,
    /// The list that gates it, under this agent's policy.
    pub gate: Option<GateList>,
    /// Who holds its name instead, if it lost it.
    pub shadowed_by: Option<String>,
    /// Why it is withheld from a call made now.
    pub withheld: Option<String>,
}

/// One toolset of a report, in available order, those not available last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolsetRow {
    /// The toolset.
    pub name: ToolsetName,
    /// Its provider.
    pub kind: Kind,
    /// Its description.
    pub description: String,
    /// Its state for this agent.
    #[serde(flatten)]
    pub state: ToolsetState,
    /// Its tools as of the last build; `None`: not built yet.
    pub tools: Option<Vec<ToolRow>>,
}

/// One entry of a resolved policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryRow {
    /// As written.
    pub entry: String,
    /// Which list.
    pub list: GateList,
    /// Its line.
    pub line: usize,
    /// The tools it resolved to; empty while pending.
    pub tools: Vec<ToolId>,
    /// No build of its toolset has resolved it yet.
    pub pending: bool,
}

/// Everything that is shown of one agent: `kokua agents`, F3 and F4 print this value and nothing else (K1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentReport {
    /// The agent.
    pub agent: AgentName,
    /// Whether it is the entry agent.
    pub entry: bool,
    /// Its description.
    pub description: String,
    /// Agents it delegates to.
    pub delegates_to: Vec<AgentName>,
    /// `all (22): …` is printed when this is set.
    pub available_all: bool,
    /// In available order.
    pub available: Vec<ToolsetName>,
    /// `None`: no `resident` key, so every available toolset.
    pub resident: Option<Vec<ToolsetName>>,
    /// In available order.
    pub deferred: Vec<ToolsetName>,
    /// Every installed toolset with its state.
    pub toolsets: Vec<ToolsetRow>,
    /// Where the pair comes from: `declared in [agents.coder.tools], line 41` or `inherited from [assistant.tools], line 12`.
    pub policy_source: String,
    /// Resolved and pending entries of both lists.
    pub entries: Vec<EntryRow>,
    /// The floor, resolved.
    pub floor: Vec<EntryRow>,
    /// Entries of the default pair that this agent's own pair dropped, as written.
    pub dropped_defaults: Vec<String>,
    /// Grants of the conversation the report was made for.
    pub grants: Vec<Grant>,
    /// Tools and bytes of the tool block it starts with, core tools included.
    pub start_tools: (usize, usize),
}

/// The five answers for `tool` of `agent`. `held`: a running agent's list; `None`: a fresh agent's.
pub fn explain(world: &World, agent: &AgentName, held: Option<&Held>, tool: &ToolId) -> Explanation {
    let _ = (world, agent, held, tool);
    unimplemented!("access")
}

/// Everything that is shown of `agent`. `held` and `conversation`: of a running agent; `None`: a fresh one.
pub fn report(world: &World, agent: &AgentName, held: Option<&Held>, conversation: Option<&str>) -> AgentReport {
    let _ = (world, agent, held, conversation);
    unimplemented!("access")
}
