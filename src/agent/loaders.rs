//! The core tools that the run answers itself: `available_tools` and `load_tools` (A8).
//!
//! Which toolset may be loaded, and what the model reads of it, is access's to say.

use std::collections::BTreeSet;

use serde_json::json;

use super::call::{Ending, shown_arguments};
use super::input::BuiltTool;
use super::message::AssistantMessage;
use super::record::Record;
use crate::access::planted::{Bug, planted};
use crate::access::{AgentName, Held, LoadOutcome, Risk, World};

/// `available_tools(filter="")`.
pub const AVAILABLE_TOOLS: &str = "available_tools";
/// `load_tools(name)`.
pub const LOAD_TOOLS: &str = "load_tools";
/// `spawn_subagent(agent_type, task)`.
pub const SPAWN_SUBAGENT: &str = "spawn_subagent";

/// The core tools that are the same for whoever earns them, in held order (R16): what `World::define_core` is told.
pub fn core_tools() -> Vec<BuiltTool> {
    vec![
        BuiltTool::new(
            AVAILABLE_TOOLS,
            Risk::Read,
            include_str!("../../assets/tools/available_tools.md").trim_ascii(),
            json!({
                "type": "object",
                "properties": {
                    "filter": {"type": "string", "description": "Only toolsets whose name or description has this in it."}
                },
                "additionalProperties": false
            }),
        ),
        BuiltTool::new(
            LOAD_TOOLS,
            Risk::Read,
            include_str!("../../assets/tools/load_tools.md").trim_ascii(),
            json!({
                "type": "object",
                "properties": {"name": {"type": "string", "description": "The toolset's name."}},
                "required": ["name"],
                "additionalProperties": false
            }),
        ),
    ]
}

/// The core tools of one agent: [`core_tools`] and `spawn_subagent` over whom it delegates to (D1, R20), in held order.
pub fn core_tools_of(world: &World, agent: &AgentName) -> Vec<BuiltTool> {
    let spawn = spawn_tool(&world.delegates(agent), world.spawns_in_background(agent));
    spawn.into_iter().chain(core_tools()).collect()
}

/// Tells the world every core tool, and of each declared agent those that say whom it may spawn.
pub fn define_core(world: &mut World) {
    let facts = |tools: Vec<BuiltTool>| tools.into_iter().map(|tool| tool.facts).collect();
    world.define_core(facts(core_tools()));
    let agents: Vec<AgentName> = world.declarations().agents.iter().map(|agent| agent.name.value.clone()).collect();
    for agent in agents {
        let own = spawn_tool(&world.delegates(&agent), world.spawns_in_background(&agent));
        world.define_core_of(&agent, facts(own.into_iter().collect()));
    }
}

/// `spawn_subagent` with its menu; nothing for an agent that delegates to nobody (A8).
fn spawn_tool(delegates: &[(&AgentName, &str)], background: bool) -> Option<BuiltTool> {
    if delegates.is_empty() {
        return None;
    }
    let line = |(name, description): &(&AgentName, &str)| {
        let first = description.lines().next().unwrap_or_default().trim();
        if first.is_empty() { name.to_string() } else { format!("{name} — {first}") }
    };
    let menu: Vec<String> = delegates.iter().map(line).collect();
    let about = include_str!("../../assets/tools/spawn_subagent.md").trim_ascii();
    let mut properties = json!({
        "agent_type": {"type": "string", "description": "Which agent."},
        "task": {"type": "string", "description": "What to do, whole: it sees nothing else of this conversation."},
        "family": {"type": "string", "description": "Narrows it to one toolset of its own."}
    });
    if background && let Some(properties) = properties.as_object_mut() {
        let about =
            "Answer with its address at once and let it run beside you; check_agent or await_agents reads its answer.";
        properties.insert("background".to_owned(), json!({"type": "boolean", "description": about}));
    }
    Some(BuiltTool::new(
        SPAWN_SUBAGENT,
        Risk::Exec,
        &format!("{about} Agents: {}.", menu.join("; ")),
        json!({
            "type": "object",
            "properties": properties,
            "required": ["agent_type", "task"],
            "additionalProperties": false
        }),
    ))
}

/// Toolsets to preload when a conversation is wired again (R12): those that a call's recorded ending says were loaded, each
/// once, in first-loaded order. What the agent's table no longer makes available is left out where it is wired.
pub fn loads(records: &[Record]) -> Vec<String> {
    let mut loaded: Vec<String> = Vec::new();
    for record in records {
        match record {
            Record::CallEnded { ending: Ending::Loaded { toolset }, .. } => loaded.push(toolset.clone()),
            Record::ModelCall { message, .. } if planted(Bug::CountsAskedLoads) => loaded.extend(asked(message)),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    loaded.retain(|toolset| seen.insert(toolset.clone()));
    loaded
}

/// What the calls of an answer ask to load, whatever came of it.
fn asked(message: &AssistantMessage) -> impl Iterator<Item = String> {
    let loads = message.calls().filter(|call| call.wire == LOAD_TOOLS);
    loads.filter_map(|call| Some(shown_arguments(&call.arguments).get("name")?.as_str()?.to_owned()))
}

/// The row's summary of a load: `+5 tools, 2.1 kB`.
pub(super) fn loaded_note(held: &Held, outcome: &LoadOutcome) -> String {
    let bytes: usize = outcome.added.iter().filter_map(|index| held.tools().get(*index)).map(|tool| tool.bytes).sum();
    let tenths = (bytes + 50) / 100;
    let tools = outcome.added.len();
    format!("+{tools} tool{}, {}.{} kB", if tools == 1 { "" } else { "s" }, tenths / 10, tenths % 10)
}
