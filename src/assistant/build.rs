//! The one function that builds toolsets: startup, wiring, load and preload all come through here.
//!
//! What it returns has not been judged yet: the policy hook sees it before anybody else does (P8).

use std::sync::Arc;
use std::time::Duration;

use crate::access::name::shown;
use crate::access::registry::screen;
use crate::access::{BuildRefusal, ToolFacts, ToolsetName, World};
use crate::agent::{BuiltTool, LoadedToolset};
use crate::system::panic::words;
use crate::tool::{BuildError, Services, Tool, Toolset, definition, facts};

/// A toolset's build, before or after the hook.
#[derive(Clone)]
pub struct Built {
    /// The toolset.
    pub toolset: ToolsetName,
    /// Its tools in build order.
    pub tools: Vec<BuiltEntry>,
    /// Its guidance.
    pub guidance: Option<String>,
    /// Tools left out by A17, a sentence each.
    pub left_out: Vec<String>,
}

/// One tool of a build: what runs, and what access and the model know of it.
#[derive(Clone)]
pub struct BuiltEntry {
    /// What runs.
    pub tool: Arc<dyn Tool>,
    /// What is known.
    pub known: BuiltTool,
}

impl Built {
    /// What access knows of the tools.
    pub fn facts(&self) -> Vec<ToolFacts> {
        self.tools.iter().map(|entry| entry.known.facts.clone()).collect()
    }

    /// What a run is given.
    pub fn loaded(&self) -> LoadedToolset {
        LoadedToolset {
            toolset: self.toolset.clone(),
            tools: self.tools.iter().map(|entry| entry.known.clone()).collect(),
            guidance: self.guidance.clone(),
        }
    }

    /// The hook (P8): `Err` where no tool of this build may be returned to anybody (P9).
    ///
    /// # Errors
    /// The refusal, naming the entry.
    pub fn judge(&self, world: &mut World) -> Result<(), BuildRefusal> {
        world.report_build(&self.toolset, &self.facts())
    }
}

/// Builds `toolset` off the event loop, within `limit` (R6, R9).
///
/// # Errors
/// A fragment that says what failed: the build's own error, a panic, or the time limit.
pub async fn build(toolset: Arc<dyn Toolset>, services: Services, limit: Duration) -> Result<Built, String> {
    // Looking at what was built is the toolset's code as well, so it has the same limit and its panic the same end.
    let task = tokio::task::spawn_blocking(move || {
        let tools = toolset.build(&services)?;
        let guidance = toolset.guidance().map(str::to_owned);
        Ok(sorted_out(ToolsetName::new(toolset.name()), tools, guidance))
    });
    match tokio::time::timeout(limit, task).await {
        Ok(Ok(built)) => built.map_err(|error: BuildError| error.0),
        Ok(Err(ended)) => Err(format!("its build stopped unexpectedly: {}", why(ended))),
        Err(_) => Err(format!("its build took longer than {} s", limit.as_secs())),
    }
}

fn why(ended: tokio::task::JoinError) -> String {
    ended.try_into_panic().map_or_else(|_| "the program is ending".to_owned(), |panic| words(&*panic))
}

/// Leaves out what no agent can hold (A17).
fn sorted_out(toolset: ToolsetName, tools: Vec<Arc<dyn Tool>>, guidance: Option<String>) -> Built {
    let known: Vec<BuiltTool> =
        tools.iter().map(|tool| BuiltTool { facts: facts(tool.spec()), definition: definition(tool.spec()) }).collect();
    let screened = screen(&known.iter().map(|tool| tool.facts.clone()).collect::<Vec<_>>());
    let left_out = screened
        .left_out
        .iter()
        .map(|(name, defect)| format!("A tool of '{toolset}' was left out: {}: {defect}.", shown(name.as_str())))
        .collect();
    let tools = tools
        .into_iter()
        .zip(known)
        .enumerate()
        .filter(|(index, _)| screened.kept.contains(index))
        .map(|(_, (tool, known))| BuiltEntry { tool, known })
        .collect();
    Built { toolset, tools, guidance, left_out }
}
