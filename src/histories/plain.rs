//! From the plain words of a history to the types of the product, and back.

use serde_json::json;

use super::generate::Reply;
use super::model::{self, Id, Offered, Setup};
use crate::access::declare::{Background, EntryList, ModeDeclaration, Pair, ServerDefault, ServerDefaults};
use crate::access::*;
use crate::agent::{BuiltTool, define_core};

/// A place that no other word has: every word stands on its own line.
struct Lines(usize);

impl Lines {
    fn next(&mut self) -> Span {
        self.0 += 1;
        Span { start: self.0 * 10, end: self.0 * 10 + 1, line: self.0, column: 1 }
    }

    fn word<T>(&mut self, value: T) -> Spanned<T> {
        Spanned::new(value, self.next())
    }

    fn toolsets(&mut self, names: &[String]) -> Vec<Spanned<ToolsetName>> {
        names.iter().map(|name| self.word(ToolsetName::new(name.as_str()))).collect()
    }

    fn texts(&mut self, words: &[String]) -> Vec<Spanned<String>> {
        words.iter().map(|word| self.word(word.clone())).collect()
    }

    fn pair(&mut self, pair: &model::Pair) -> Pair {
        let mut list = |words: &[String]| Some(EntryList { key: self.next(), entries: self.texts(words) });
        Pair { confirm: list(&pair.0), review: list(&pair.1) }
    }
}

pub(super) fn toolset(name: &str, kind: &str, entry_agent_only: bool) -> ToolsetFacts {
    let kind = match kind {
        "plugin" => Kind::Plugin,
        "skill" => Kind::Skill,
        "mcp" => Kind::Mcp,
        _ => Kind::BuiltIn,
    };
    let description = format!("About {name}.");
    ToolsetFacts { name: ToolsetName::new(name), kind, description, entry_agent_only, commands: Vec::new() }
}

/// A world that nothing was built in yet.
pub(super) fn world(setup: &Setup) -> World {
    let mut registry = Registry::new(["assistant", "security"]);
    for (name, kind, entry_only) in &setup.installed {
        registry.register(toolset(name, kind, *entry_only)).unwrap();
    }
    let mut lines = Lines(0);
    let agents = setup.agents.iter().map(|agent| AgentDeclaration {
        name: lines.word(AgentName::new(agent.name.as_str())),
        description: format!("The {}.", agent.name),
        available: match &agent.available {
            None => Available::All(lines.next()),
            Some(names) => Available::List(lines.toolsets(names)),
        },
        resident: agent.resident.as_ref().map(|names| lines.toolsets(names)),
        pair: agent.pair.as_ref().map(|pair| lines.pair(pair)).unwrap_or_default(),
        delegates_to: agent.delegates_to.iter().map(|name| lines.word(AgentName::new(name.as_str()))).collect(),
    });
    let agents = agents.collect();
    let default = |asks: bool| if asks { ServerDefault::Confirm } else { ServerDefault::Run };
    let declarations = Declarations {
        entry: None,
        default_pair: lines.pair(&setup.pair),
        agents,
        floor: lines.texts(&setup.floor),
        auto_approval: setup.auto_approval,
        disabled: lines.toolsets(&setup.disabled),
        mode: None,
        modes: vec![ModeDeclaration {
            name: lines.word("quiet".to_owned()),
            withhold: lines.texts(&setup.modes["quiet"]),
        }],
        server_defaults: ServerDefaults {
            every: setup.mcp_confirms.map(|asks| lines.word(default(asks))),
            each: setup
                .server_confirms
                .iter()
                .map(|(name, asks)| (ToolsetName::new(name.as_str()), lines.word(default(*asks))))
                .collect(),
        },
        background: if setup.background_deny { Background::Deny } else { Background::Park },
    };
    let mut world = World::new(declarations, registry).expect("the generator makes sound tables");
    define_core(&mut world);
    world
}

/// One tool of a build: its version is its description, so another version is another definition.
pub(super) fn built(tool: &Offered) -> BuiltTool {
    let mut built = BuiltTool::new(&tool.name, Risk::Read, &about(tool.version), json!({"type": "object"}));
    built.facts.trigger = tool.link.then_some(Trigger::Link);
    built
}

/// The description of a tool of this version.
pub(super) fn about(version: u32) -> String {
    format!("version {version}")
}

pub(super) fn id(tool: &ToolId) -> Id {
    (tool.toolset().map_or("core", ToolsetName::as_str).to_owned(), tool.name.to_string())
}

pub(super) fn tool(id: &Id) -> ToolId {
    match id.0.as_str() {
        "core" => ToolId::core(&id.1),
        toolset => ToolId::of(&ToolsetName::new(toolset), &ToolName::new(id.1.as_str())),
    }
}

pub(super) fn fact(word: &str) -> Fact {
    match word {
        "down" => Fact::NotConnected("no answer".to_owned()),
        "gone" => Fact::Gone,
        "changed" => Fact::ChangedSinceAccepted,
        _ => Fact::ChangedOnDisk,
    }
}

/// The answer of a card, and whether it lets the call run.
pub(super) fn answer(reply: Reply) -> (Answer, bool) {
    match reply {
        Reply::AllowForConversation => (Answer::AllowedForConversation, true),
        Reply::Deny => (Answer::Denied, false),
        Reply::DenyWhy => (Answer::DeniedWithReason { reason: "not today".to_owned() }, false),
        Reply::Expire => (Answer::Expired, false),
        Reply::Allow | Reply::Stop | Reply::Leave => (Answer::AllowedOnce, true),
    }
}
