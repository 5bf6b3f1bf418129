//! The one function that builds toolsets: startup, wiring, load and preload all come through here.
//!
//! What it returns has not been judged yet: the policy hook sees it before anybody else does (P8).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::access::{BuildRefusal, ToolFacts, ToolName, ToolsetName, World};
use crate::agent::{BuiltTool, LoadedToolset};
use crate::tool::{Services, Tool, Toolset, definition, facts};

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
    let name = ToolsetName::new(toolset.name());
    let guidance = toolset.guidance().map(str::to_owned);
    let task = tokio::task::spawn_blocking(move || toolset.build(&services));
    let tools = match tokio::time::timeout(limit, task).await {
        Ok(Ok(Ok(tools))) => tools,
        Ok(Ok(Err(error))) => return Err(error.0),
        Ok(Err(panic)) => return Err(format!("its build stopped unexpectedly: {panic}")),
        Err(_) => return Err(format!("its build took longer than {} s", limit.as_secs())),
    };
    Ok(sorted_out(name, tools, guidance))
}

/// Leaves out what A17 leaves out: second tools of one name, names that cannot stand, names of core tools.
fn sorted_out(toolset: ToolsetName, tools: Vec<Arc<dyn Tool>>, guidance: Option<String>) -> Built {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    let mut left_out = Vec::new();
    for tool in tools {
        let name = ToolName::new(tool.spec().name.clone());
        match crate::access::name::tool_name_fault(&name) {
            Some(fault) => left_out.push(format!("{toolset}: a tool was left out: {fault}")),
            None if !seen.insert(name.clone()) => {
                left_out.push(format!("{toolset}: a second tool named '{name}' was left out"));
            }
            None => {
                let known = BuiltTool { facts: facts(tool.spec()), definition: definition(tool.spec()) };
                kept.push(BuiltEntry { tool, known });
            }
        }
    }
    Built { toolset, tools: kept, guidance, left_out }
}
