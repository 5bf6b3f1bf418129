//! The core tools that the run answers itself: `available_tools` and `load_tools` (A8), and the texts of a load.
//!
//! Which toolset may be loaded, and what a listing says, is access's to decide.

use serde_json::json;

use super::input::{BuiltTool, LoadedToolset};
use crate::access::{Held, LoadOutcome, Risk, ToolsetName};

/// `available_tools(filter="")`.
pub const AVAILABLE_TOOLS: &str = "available_tools";
/// `load_tools(name)`.
pub const LOAD_TOOLS: &str = "load_tools";

/// The two loaders in wire order (R16).
pub fn loaders() -> Vec<BuiltTool> {
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

/// The result of a load that worked (R7, R8): what came, what was left out and who holds its name, the guidance.
pub(super) fn loaded_text(held: &Held, loaded: &LoadedToolset, outcome: &LoadOutcome) -> String {
    let toolset = &loaded.toolset;
    let added: Vec<_> =
        outcome.added.iter().filter_map(|index| held.tools().get(*index)).map(|tool| tool.wire.as_str()).collect();
    let mut text = if !added.is_empty() {
        format!("Loaded '{toolset}': {}.", added.join(", "))
    } else if loaded.tools.is_empty() {
        format!("Loaded '{toolset}': it provides no tools right now.")
    } else {
        format!("Loaded '{toolset}': no new tools.")
    };
    if !outcome.skipped.is_empty() {
        let skipped: Vec<_> = outcome.skipped.iter().map(|(tool, holder)| format!("{tool} ({holder})")).collect();
        text.push_str("\nNot loaded, because the name is already taken: ");
        text.push_str(&skipped.join(", "));
        text.push('.');
    }
    if let Some(guidance) = loaded.guidance.as_deref().map(str::trim).filter(|guidance| !guidance.is_empty()) {
        text.push('\n');
        text.push_str(guidance);
    }
    text
}

/// The row's summary of a load: `+5 tools, 2.1 kB`.
pub(super) fn loaded_note(held: &Held, outcome: &LoadOutcome) -> String {
    let bytes: usize = outcome.added.iter().filter_map(|index| held.tools().get(*index)).map(|tool| tool.bytes).sum();
    let tenths = (bytes + 50) / 100;
    let tools = outcome.added.len();
    format!("+{tools} tool{}, {}.{} kB", if tools == 1 { "" } else { "s" }, tenths / 10, tenths % 10)
}

/// The result of a load that failed (R10).
pub(super) fn failed_text(toolset: &ToolsetName, error: &str) -> String {
    format!("Could not load '{toolset}': {error}")
}
