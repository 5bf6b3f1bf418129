//! The agent that the scripts run: four toolsets, real access, no driver.

use kokua::access::declare::{EntryList, ModeDeclaration, Pair};
use kokua::access::{
    AgentDeclaration, AgentName, Attendance, Available, Conditions, Declarations, Kind, Registry, Risk, Span, Spanned,
    ToolFacts, ToolsetFacts, ToolsetName, World,
};
use kokua::agent::{AgentSpec, BuiltTool, Ending, LoadedToolset, Record, Run};
use serde_json::json;

pub(crate) const AGENT: &str = "assistant";
pub(crate) const CONVERSATION: &str = "c1";

type Shelf = (&'static str, &'static [(&'static str, Risk)], Option<&'static str>);

/// Every toolset with its tools and guidance. `documents` brings a name that `fs` has.
const TOOLSETS: [Shelf; 5] = [
    ("fs", &[("list_directory", Risk::Read), ("read_file", Risk::Read)], None),
    ("compute", &[("run_command", Risk::Exec), ("erase_disk", Risk::Exec)], Some("Run one command at a time.")),
    ("documents", &[("save_document", Risk::Write), ("read_file", Risk::Read)], Some("List before saying empty.")),
    ("todo", &[("todo", Risk::Read)], None),
    ("bare", &[], None),
];

pub(crate) fn spanned<T>(value: T, line: usize) -> Spanned<T> {
    Spanned::new(value, Span { start: 0, end: 1, line, column: 1 })
}

pub(crate) fn toolset(name: &str) -> ToolsetName {
    ToolsetName::new(name)
}

/// A build of a toolset, as a driver would make it.
pub(crate) fn build(name: &str) -> LoadedToolset {
    let (_, tools, guidance) = TOOLSETS.iter().find(|(known, ..)| *known == name).expect("a toolset of the house");
    let schema = json!({"type": "object"});
    LoadedToolset {
        toolset: toolset(name),
        tools: tools
            .iter()
            .map(|(tool, risk)| BuiltTool::new(tool, *risk, &format!("{tool}."), schema.clone()))
            .collect(),
        guidance: guidance.map(str::to_owned),
    }
}

pub(crate) fn facts(build: &LoadedToolset) -> Vec<ToolFacts> {
    build.tools.iter().map(|tool| tool.facts.clone()).collect()
}

/// Built-in toolsets of these names.
pub(crate) fn registry(names: impl IntoIterator<Item = &'static str>) -> Registry {
    let mut registry = Registry::new(["assistant"]);
    for name in names {
        let facts = ToolsetFacts {
            name: toolset(name),
            kind: Kind::BuiltIn,
            description: format!("About {name}."),
            entry_agent_only: false,
            commands: Vec::new(),
        };
        registry.register(facts).expect("a fresh name");
    }
    registry
}

/// `fs` and `compute` resident; `documents`, `todo` and `bare` deferred. `run_command`, `erase_disk` and everything of
/// `extra` ask first; `erase_disk` is on the floor. Mode `quiet` withholds `compute` and `load_tools`.
pub(crate) fn world(extra: &[&str]) -> World {
    let registry = registry(TOOLSETS.map(|(name, ..)| name));
    let names = |names: &[&str]| names.iter().map(|name| spanned(toolset(name), 2)).collect();
    let confirm = ["compute.run_command", "compute.erase_disk"].iter().chain(extra);
    let confirm = confirm.map(|entry| spanned((*entry).to_owned(), 3)).collect();
    let declarations = Declarations {
        entry: Some(spanned(AgentName::new(AGENT), 1)),
        default_pair: Pair { confirm: Some(EntryList { key: spanned((), 3).span, entries: confirm }), review: None },
        agents: vec![AgentDeclaration {
            name: spanned(AgentName::new(AGENT), 1),
            description: "The assistant.".to_owned(),
            available: Available::List(names(&["fs", "compute", "documents", "todo", "bare"])),
            resident: Some(names(&["fs", "compute"])),
            pair: Pair::default(),
            delegates_to: Vec::new(),
        }],
        floor: vec![spanned("compute.erase_disk".to_owned(), 5)],
        modes: vec![ModeDeclaration {
            name: spanned("quiet".to_owned(), 6),
            withhold: ["compute", "core.load_tools"].map(|word| spanned(word.to_owned(), 7)).to_vec(),
        }],
        ..Declarations::default()
    };
    let mut world = World::new(declarations, registry).expect("valid declarations");
    for name in ["fs", "compute"] {
        world.report_build(&toolset(name), &facts(&build(name))).expect("an accepted build");
    }
    world.resolve().expect("entries that match");
    world
}

/// What the records say was loaded, in first-loaded order (R12).
fn loads(records: &[Record]) -> Vec<&str> {
    let mut loads = Vec::new();
    for record in records {
        if let Record::CallEnded { ending: Ending::Loaded { toolset }, .. } = record
            && !loads.contains(&toolset.as_str())
        {
            loads.push(toolset.as_str());
        }
    }
    loads
}

/// A run of the house's agent with what its records say it loaded.
pub(crate) fn run(world: &mut World, spec: AgentSpec, records: &[Record]) -> Run {
    let preloaded: Vec<_> = loads(records).into_iter().map(build).collect();
    for loaded in &preloaded {
        world.report_build(&loaded.toolset, &facts(loaded)).expect("an accepted build");
    }
    Run::new(spec, world, vec![build("fs"), build("compute")], preloaded, records)
}

pub(crate) fn spec(max_iterations: u32, concurrent_tools: bool, max_attempts: u32) -> AgentSpec {
    AgentSpec {
        name: AgentName::new(AGENT),
        node: kokua::agent::NodeId::ENTRY,
        address: None,
        above: Vec::new(),
        conversation: CONVERSATION.to_owned(),
        opener: "You help.".to_owned(),
        max_iterations,
        concurrent_tools,
        max_attempts,
        conditions: Conditions::default(),
    }
}

pub(crate) const ATTENDED: Attendance = Attendance::Attended;
