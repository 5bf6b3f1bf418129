//! The core tools that the run answers itself: `available_tools` and `load_tools` (A8).
//!
//! Which toolset may be loaded, and what the model reads of it, is access's to say.

use serde_json::json;

use super::input::BuiltTool;
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

/// The row's summary of a load: `+5 tools, 2.1 kB`.
pub(super) fn loaded_note(held: &Held, outcome: &LoadOutcome) -> String {
    let bytes: usize = outcome.added.iter().filter_map(|index| held.tools().get(*index)).map(|tool| tool.bytes).sum();
    let tenths = (bytes + 50) / 100;
    let tools = outcome.added.len();
    format!("+{tools} tool{}, {}.{} kB", if tools == 1 { "" } else { "s" }, tenths / 10, tenths % 10)
}
