//! Modes: what a conversation's mode withholds (W3), the shipped ones and those of `[modes.<name>]`.
//!
//! A mode only ever withholds; none gives anything to anybody.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declare::{Fault, ModeDeclaration};
use super::name::{CORE_TOOLS, Owner, Span, ToolsetName, did_you_mean, near, shown};
use super::registry::{Kind, Registry};

/// The mode of a conversation that was given none, unless `[assistant].mode` names another.
pub const DEFAULT_MODE: &str = "work";

/// The shipped modes and what they withhold. A `[modes.<name>]` table of the same name replaces one whole.
pub const SHIPPED_MODES: [(&str, &[&str]); 2] =
    [("companion", &["kind:mcp", "kind:plugin", "mcp", "capabilities", "core.spawn_subagent"]), (DEFAULT_MODE, &[])];

/// A mode's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModeName(String);

impl ModeName {
    /// The name as written.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ModeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

/// One word of `withhold`, looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Toolset(ToolsetName),
    Core(String),
    Kind(Kind),
}

/// One word of `withhold` with its place; a shipped mode's words stand in no file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    target: Target,
    written: String,
    span: Option<Span>,
}

/// One mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mode {
    words: Vec<Word>,
}

impl Mode {
    /// The words that withhold a tool of `owner`, which is of `kind`, or the whole toolset where `tool` is `None`: as written, with their places.
    pub(super) fn withholds<'a>(
        &'a self,
        owner: &'a Owner,
        kind: Option<Kind>,
        tool: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, Option<Span>)> {
        let matches = move |word: &&Word| match (&word.target, owner) {
            (Target::Toolset(named), Owner::Toolset(toolset)) => named == toolset,
            (Target::Kind(named), Owner::Toolset(_)) => Some(*named) == kind,
            (Target::Core(named), Owner::Core) => tool == Some(named.as_str()),
            (Target::Toolset(_) | Target::Kind(_), Owner::Core) | (Target::Core(_), Owner::Toolset(_)) => false,
        };
        self.words.iter().filter(matches).map(|word| (word.written.as_str(), word.span))
    }
}

/// `kind:<kind>`; the product's own toolsets are named one by one.
fn kind(text: &str) -> Option<Kind> {
    match text {
        "mcp" => Some(Kind::Mcp),
        "plugin" => Some(Kind::Plugin),
        "skill" => Some(Kind::Skill),
        _ => None,
    }
}

fn target(text: &str, registry: &Registry) -> Result<Target, (String, Option<String>)> {
    if let Some(word) = text.strip_prefix("kind:") {
        return kind(word).map(Target::Kind).ok_or_else(|| {
            (
                format!("'{}' is no kind of toolset", shown(text)),
                Some("write kind:mcp, kind:plugin or kind:skill".into()),
            )
        });
    }
    if let Some(word) = text.strip_prefix("core.") {
        return if CORE_TOOLS.contains(&word) {
            Ok(Target::Core(word.to_owned()))
        } else {
            let hint = did_you_mean(&near(word, CORE_TOOLS, 3));
            Err((
                format!("'{}' names no core tool", shown(text)),
                hint.or_else(|| Some(format!("core tools: {}", CORE_TOOLS.join(", ")))),
            ))
        };
    }
    if registry.contains(text) {
        return Ok(Target::Toolset(ToolsetName::new(text)));
    }
    let hint = did_you_mean(&registry.near(text)).unwrap_or_else(|| {
        "a mode withholds toolsets, core.<tool>, kind:mcp, kind:plugin and kind:skill; `kokua toolsets` prints every name"
            .to_owned()
    });
    Err((format!("'{}' names no installed toolset", shown(text)), Some(hint)))
}

/// Every mode: the shipped ones, over them the declared. A shipped mode's word for what is not installed is left out, for
/// it withholds nothing; a declared one's is a fault.
pub(super) fn modes(
    declared: &[ModeDeclaration],
    registry: &Registry,
    faults: &mut Vec<Fault>,
) -> BTreeMap<ModeName, Mode> {
    let shipped = |words: &[&str]| Mode {
        words: words
            .iter()
            .filter_map(|word| {
                Some(Word { target: target(word, registry).ok()?, written: (*word).to_owned(), span: None })
            })
            .collect(),
    };
    let mut modes: BTreeMap<ModeName, Mode> =
        SHIPPED_MODES.iter().map(|(name, words)| (ModeName::new(*name), shipped(words))).collect();
    for mode in declared {
        let name = mode.name.value.as_str();
        if let Err(message) = ToolsetName::parse(name) {
            let message = message.replace("a toolset name", "a mode's name").replace("name a toolset", "name a mode");
            faults.push(Fault { rule: "W3", span: Some(mode.name.span), message, hint: None });
        }
        let mut words: Vec<Word> = Vec::new();
        for written in &mode.withhold {
            let place = format!("withhold of [modes.{}]", shown(name));
            match target(&written.value, registry) {
                Err((message, hint)) => {
                    let message = format!("{message} (in {place})");
                    faults.push(Fault { rule: "W3", span: Some(written.span), message, hint });
                }
                Ok(target) => {
                    if let Some(first) = words.iter().find(|word| word.target == target) {
                        let line = first.span.map_or(0, |span| span.line);
                        faults.push(Fault {
                            rule: "A15",
                            span: Some(written.span),
                            message: format!("'{}' stands twice in {place}, first on line {line}", written.value),
                            hint: Some("take one of them out".to_owned()),
                        });
                    } else {
                        words.push(Word { target, written: written.value.clone(), span: Some(written.span) });
                    }
                }
            }
        }
        modes.insert(ModeName::new(name), Mode { words });
    }
    modes
}

/// What a mode withholds, as written: what `/mode` shows beside it.
pub(super) fn written(mode: &Mode) -> impl Iterator<Item = &str> {
    mode.words.iter().map(|word| word.written.as_str())
}
