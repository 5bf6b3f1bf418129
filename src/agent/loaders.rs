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
use crate::access::{Held, LoadOutcome, Risk};

/// `available_tools(filter="")`.
pub const AVAILABLE_TOOLS: &str = "available_tools";
/// `load_tools(name)`.
pub const LOAD_TOOLS: &str = "load_tools";

/// Every core tool in held order (R16), whoever earns it: what `World::define_core` is told.
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
