//! Small builders for declarations, registries and worlds. Each key of a table stands on its own line, so that a test can
//! tell which one a message points at.

use kokua::access::declare::{EntryList, Pair};
use kokua::access::*;

pub(crate) fn toolset(name: &str) -> ToolsetName {
    ToolsetName::new(name)
}

pub(crate) fn agent_name(name: &str) -> AgentName {
    AgentName::new(name)
}

/// The entry agent of nearly every world here.
pub(crate) fn me() -> AgentName {
    agent_name("assistant")
}

pub(crate) fn id(text: &str) -> ToolId {
    ToolId::parse(text).unwrap()
}

pub(crate) fn span(line: usize) -> Span {
    Span { start: line * 100, end: line * 100 + 1, line, column: 1 }
}

pub(crate) fn words(names: &[&str], line: usize) -> Vec<Spanned<ToolsetName>> {
    names.iter().map(|name| Spanned::new(toolset(name), span(line))).collect()
}

pub(crate) fn entries(written: &[&str], line: usize) -> EntryList {
    EntryList { key: span(line), entries: written.iter().map(|e| Spanned::new((*e).to_owned(), span(line))).collect() }
}

/// `[assistant.tools]` with `confirm` on line 1 and `review` on line 2.
pub(crate) fn default_pair(confirm: &[&str], review: &[&str]) -> Pair {
    Pair { confirm: Some(entries(confirm, 1)), review: Some(entries(review, 2)) }
}

/// A table at `line`: `delegates_to` on line + 1, `available` + 2, `resident` + 3, `confirm` + 4, `review` + 5.
pub(crate) fn agent(name: &str, line: usize) -> AgentDeclaration {
    AgentDeclaration {
        name: Spanned::new(agent_name(name), span(line)),
        description: format!("The {name}."),
        available: Available::Absent,
        resident: None,
        pair: Pair::default(),
        delegates_to: Vec::new(),
    }
}

pub(crate) trait Table: Sized {
    fn available(self, names: &[&str]) -> Self;
    fn all(self) -> Self;
    fn resident(self, names: &[&str]) -> Self;
    fn confirm(self, written: &[&str]) -> Self;
    fn review(self, written: &[&str]) -> Self;
    fn delegates_to(self, names: &[&str]) -> Self;
}

impl Table for AgentDeclaration {
    fn available(mut self, names: &[&str]) -> Self {
        self.available = Available::List(words(names, self.name.span.line + 2));
        self
    }

    fn all(mut self) -> Self {
        self.available = Available::All(span(self.name.span.line + 2));
        self
    }

    fn resident(mut self, names: &[&str]) -> Self {
        self.resident = Some(words(names, self.name.span.line + 3));
        self
    }

    fn confirm(mut self, written: &[&str]) -> Self {
        self.pair.confirm = Some(entries(written, self.name.span.line + 4));
        self
    }

    fn review(mut self, written: &[&str]) -> Self {
        self.pair.review = Some(entries(written, self.name.span.line + 5));
        self
    }

    fn delegates_to(mut self, names: &[&str]) -> Self {
        let line = self.name.span.line + 1;
        self.delegates_to = names.iter().map(|name| Spanned::new(agent_name(name), span(line))).collect();
        self
    }
}

pub(crate) fn declare(agents: Vec<AgentDeclaration>) -> Declarations {
    Declarations { agents, ..Declarations::default() }
}

pub(crate) fn facts(name: &str) -> ToolFacts {
    ToolFacts {
        name: ToolName::new(name),
        risk: Risk::Read,
        bytes: 100,
        digest: format!("digest of {name}"),
        trigger: None,
        schema: std::sync::Arc::default(),
    }
}

pub(crate) fn tools(names: &[&str]) -> Vec<ToolFacts> {
    names.iter().map(|name| facts(name)).collect()
}

pub(crate) fn toolset_facts(name: &str, kind: Kind) -> ToolsetFacts {
    ToolsetFacts {
        name: toolset(name),
        kind,
        description: format!("About {name}."),
        entry_agent_only: false,
        commands: Vec::new(),
    }
}

pub(crate) fn registry(names: &[&str]) -> Registry {
    let mut registry = Registry::new([]);
    for name in names {
        registry.register(toolset_facts(name, Kind::BuiltIn)).unwrap();
    }
    registry
}

/// The core tools in wire order.
pub(crate) fn core() -> Vec<ToolFacts> {
    tools(&["spawn_subagent", "available_tools", "load_tools"])
}

/// A world whose startup built exactly `builds`.
pub(crate) fn started(declarations: Declarations, registry: Registry, builds: &[(&str, &[&str])]) -> World {
    let mut world = World::new(declarations, registry).unwrap();
    world.define_core(core());
    for (name, offered) in builds {
        world.report_build(&toolset(name), &tools(offered)).unwrap();
    }
    world.resolve().unwrap();
    world
}

/// Every fault as `rule line: message | hint`.
pub(crate) fn faults(result: Result<World, Vec<Fault>>) -> Vec<String> {
    texts(&result.unwrap_err())
}

pub(crate) fn texts(faults: &[Fault]) -> Vec<String> {
    faults
        .iter()
        .map(|fault| {
            let line = fault.span.map_or_else(|| "-".to_owned(), |span| span.line.to_string());
            format!("{} {line}: {} | {}", fault.rule, fault.message, fault.hint.as_deref().unwrap_or("-"))
        })
        .collect()
}

pub(crate) fn held_names(held: &Held) -> Vec<&str> {
    held.tools().iter().map(|tool| tool.id.name.as_str()).collect()
}

pub(crate) fn names(toolsets: &[ToolsetName]) -> Vec<&str> {
    toolsets.iter().map(ToolsetName::as_str).collect()
}

/// An attended call with empty arguments.
pub(crate) fn call<'a>(agent: &'a AgentName, held: &'a Held, tool: &str) -> CallFacts<'a> {
    CallFacts::on_screen("c1", agent, held.get(&id(tool)).unwrap(), "{}", Attendance::Attended)
}

/// What `decide` says of one attended call with empty arguments.
pub(crate) fn decide(world: &mut World, agent: &str, held: &Held, tool: &str) -> Decision {
    decide_as(world, agent, held, tool, "{}", Attendance::Attended)
}

pub(crate) fn decide_as(
    world: &mut World,
    agent: &str,
    held: &Held,
    tool: &str,
    arguments: &str,
    attendance: Attendance,
) -> Decision {
    let tool = held.get(&id(tool)).unwrap();
    world.decide(CallFacts::on_screen("c1", &agent_name(agent), tool, arguments, attendance))
}

/// The entry that makes a call ask, if it asks.
pub(crate) fn asks(world: &mut World, agent: &str, held: &Held, tool: &str) -> Option<String> {
    match decide(world, agent, held, tool) {
        Decision::Ask(reason) => Some(reason.entry),
        _ => None,
    }
}

/// The five answers of a fresh agent.
pub(crate) fn explained(world: &World, agent: &AgentName, tool: &ToolId) -> Explanation {
    explain(world, Life::new(agent, &world.fresh(agent)), tool, None)
}
