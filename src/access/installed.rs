//! What is installed, whoever may call it: what `kokua toolsets` prints (K2).
//!
//! Installed is not held: nothing here says what an agent has.

use serde::Serialize;

use super::conditions::Life;
use super::explain::off;
use super::held::Held;
use super::name::{ToolName, ToolsetName};
use super::reason::Reason;
use super::registry::{Kind, Risk, ToolFacts, ToolsetFacts};
use super::world::World;

/// One installed toolset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledToolset {
    /// Its name: a word that `available` accepts.
    pub name: ToolsetName,
    /// Its provider.
    pub kind: Kind,
    /// One sentence.
    pub description: String,
    /// Only the entry agent may list it (A7).
    pub entry_agent_only: bool,
    /// Why no agent's calls carry it, if a switch or its check says so.
    pub off: Option<Reason>,
    /// Why nobody gets a tool of it: the hook's sentence (P9).
    pub refused: Option<String>,
    /// What its last build failed with.
    pub error: Option<String>,
    /// Bytes of all its tools.
    pub bytes: usize,
    /// As of its last accepted build, in build order; `None`: there is none.
    pub tools: Option<Vec<InstalledTool>>,
}

/// One of its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledTool {
    /// Declared name.
    pub name: ToolName,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition.
    pub bytes: usize,
    /// Why its check says no, if it does.
    pub not_now: Option<String>,
}

/// Every installed toolset in trust order, as far as each was built and asked.
pub fn installed(world: &World) -> Vec<InstalledToolset> {
    // Nobody's: what withholds a toolset from everybody in the default mode.
    let (held, conditions) = (Held::default(), world.default_conditions());
    let fresh = Life::new(world.entry(), &held).under(&conditions);
    let toolset = |facts: &ToolsetFacts| {
        let refused = world.refusal(&facts.name).map(|refusal| refusal.message.clone());
        let built = world.last_build(&facts.name).filter(|_| refused.is_none());
        let tools: Option<Vec<InstalledTool>> = built.map(|tools| {
            let not_now =
                |name: &ToolName| world.says_no(&facts.name, Some(name)).into_iter().next().map(|reason| reason.text);
            let row = |tool: &ToolFacts| InstalledTool {
                name: tool.name.clone(),
                risk: tool.risk,
                bytes: tool.bytes,
                not_now: not_now(&tool.name),
            };
            tools.iter().map(row).collect()
        });
        InstalledToolset {
            name: facts.name.clone(),
            kind: facts.kind,
            description: facts.description.clone(),
            entry_agent_only: facts.entry_agent_only,
            off: off(world, fresh, &facts.name).map(|(_, reason)| reason),
            refused,
            error: world.failure(&facts.name).map(str::to_owned),
            bytes: tools.iter().flatten().map(|tool| tool.bytes).sum(),
            tools,
        }
    };
    world.registry().toolsets().iter().map(toolset).collect()
}
