//! One namespace of toolsets over every kind of provider, in trust order.
//!
//! The registry says what a name can resolve to; it never says what an agent holds.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conditions::Trigger;
use super::name::{NameDefect, ToolName, ToolsetName, near};

/// Longest description or reason that is kept, in characters.
const LINE_MAX: usize = 500;

/// Who provides a toolset, most trusted first (A6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The product's own.
    BuiltIn,
    /// A command toolset or a compiled-in third party.
    Plugin,
    /// One skill on disk.
    Skill,
    /// One MCP server.
    Mcp,
}

/// What a tool may touch (P17). Never an approval level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Looks only.
    Read,
    /// Changes state on this machine.
    Write,
    /// Runs a program.
    Exec,
    /// Talks to another machine.
    Network,
}

/// What access knows of a toolset before it is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolsetFacts {
    /// Its name, unique in the registry.
    pub name: ToolsetName,
    /// Its provider.
    pub kind: Kind,
    /// One sentence for people and for `available_tools`.
    pub description: String,
    /// Only the entry agent may list it (A7).
    pub entry_agent_only: bool,
    /// Slash commands that whoever makes it available can use, loaded or not (R19).
    pub commands: Vec<String>,
}

/// What access knows of one built tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFacts {
    /// Declared name.
    pub name: ToolName,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition (name, description, schema) as compact JSON: what one model call pays for it.
    pub bytes: usize,
    /// Hex digest of the definition, so that a change after the card was drawn is seen (O3).
    pub digest: String,
    /// What it waits for before it is offered (W7), if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The schema of its arguments, to be shown. Nothing here decides by it, and it is stored nowhere: the digest is.
    #[serde(skip)]
    pub schema: Arc<Value>,
}

/// Every installed toolset, in trust order, then in registration order within a kind (A6).
#[derive(Debug, Clone, Default)]
pub struct Registry {
    toolsets: Vec<ToolsetFacts>,
    /// Sections of the configuration that belong to no toolset.
    sections: BTreeSet<String>,
    /// Name to kind: one flat namespace (A3).
    kinds: HashMap<ToolsetName, Kind>,
}

/// Why a toolset could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// A3, A4: not a name, or a reserved one.
    #[error("{0}")]
    Name(String),
    /// A3: the name of somebody else's section of the configuration.
    #[error("a toolset cannot be named '{0}': [{0}] is a section of the configuration; rename the toolset")]
    Section(ToolsetName),
    /// A3: two providers claim one name.
    #[error("two toolsets are named '{name}': one is {first}, the other {second}; rename one of them")]
    Collision {
        /// The name.
        name: ToolsetName,
        /// Who has it.
        first: Kind,
        /// Who wants it.
        second: Kind,
    },
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::BuiltIn => "built-in",
            Self::Plugin => "plugin",
            Self::Skill => "skill",
            Self::Mcp => "mcp",
        })
    }
}

impl Registry {
    /// An empty registry. `sections`: the configuration's sections that no toolset owns (`assistant`, `security`, …),
    /// whose names no toolset may take (A3).
    pub fn new<'a>(sections: impl IntoIterator<Item = &'a str>) -> Self {
        Self { sections: sections.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// Registers one toolset: after the more trusted kinds, and within its kind in registration order, plugins and skills
    /// by name so that nothing depends on how a directory was read (A6). Its description is kept on one line, cut at 500
    /// characters.
    ///
    /// # Errors
    /// A name that is malformed, reserved, a section's, or taken (A3, A4).
    pub fn register(&mut self, mut facts: ToolsetFacts) -> Result<(), RegisterError> {
        let name = ToolsetName::parse(facts.name.as_str()).map_err(RegisterError::Name)?;
        if self.sections.contains(name.as_str()) {
            return Err(RegisterError::Section(name));
        }
        if let Some(first) = self.kinds.get(&name) {
            return Err(RegisterError::Collision { name, first: *first, second: facts.kind });
        }
        facts.description = one_line(&facts.description);
        let by_name = matches!(facts.kind, Kind::Plugin | Kind::Skill);
        let place = self
            .toolsets
            .iter()
            .position(|other| other.kind > facts.kind || (by_name && other.kind == facts.kind && other.name > name))
            .unwrap_or(self.toolsets.len());
        self.kinds.insert(name, facts.kind);
        self.toolsets.insert(place, facts);
        Ok(())
    }

    /// Registers a skill, or replaces what is known of one of that name where it stands.
    ///
    /// # Errors
    /// A name that is malformed, reserved, a section's, or taken by something that is no skill.
    pub(super) fn put_skill(&mut self, facts: ToolsetFacts) -> Result<(), RegisterError> {
        let known = self.toolsets.iter_mut().find(|known| known.name == facts.name && known.kind == Kind::Skill);
        match known {
            Some(known) => {
                known.description = one_line(&facts.description);
                Ok(())
            }
            None => self.register(ToolsetFacts { kind: Kind::Skill, ..facts }),
        }
    }

    /// Every toolset in trust order.
    pub fn toolsets(&self) -> &[ToolsetFacts] {
        &self.toolsets
    }

    /// The toolset of this name.
    pub fn get(&self, name: &str) -> Option<&ToolsetFacts> {
        self.kinds.contains_key(name).then(|| self.toolsets.iter().find(|facts| facts.name.as_str() == name)).flatten()
    }

    /// Who provides `toolset`.
    pub fn kind(&self, toolset: &ToolsetName) -> Option<Kind> {
        self.kinds.get(toolset).copied()
    }

    /// Whether a toolset of this name is installed.
    pub fn contains(&self, name: &str) -> bool {
        self.kinds.contains_key(name)
    }

    /// Every name in trust order.
    pub fn names(&self) -> impl Iterator<Item = &ToolsetName> {
        self.toolsets.iter().map(|facts| &facts.name)
    }

    /// At most three installed names that `word` may have been meant as.
    pub(super) fn near(&self, word: &str) -> Vec<&str> {
        near(word, self.names().map(ToolsetName::as_str), 3)
    }
}

/// Text from outside on one line, cut at [`LINE_MAX`] characters: it must not forge a line of a listing.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(LINE_MAX) {
        Some((cut, _)) => format!("{}...", &line[..cut]),
        None => line,
    }
}

/// What of a build may be held at all (A17).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screened {
    /// Indices of the tools that stay, ascending.
    pub kept: Vec<usize>,
    /// Tools left out of their own build, each with its reason. One named like a core tool is worth an alert.
    pub left_out: Vec<(ToolName, NameDefect)>,
}

/// Leaves out what no agent can hold: unusable names, core tools' names, and every tool after the first of its name (A17).
pub fn screen(tools: &[ToolFacts]) -> Screened {
    let mut seen = BTreeSet::new();
    let mut screened = Screened::default();
    for (index, tool) in tools.iter().enumerate() {
        let repeated = !seen.insert(&tool.name);
        match tool.name.defect().or(repeated.then_some(NameDefect::Repeated)) {
            Some(defect) => screened.left_out.push((tool.name.clone(), defect)),
            None => screened.kept.push(index),
        }
    }
    screened
}
