//! Names of agents, toolsets and tools, the places they were written at, and gate entries.
//!
//! Nothing here decides anything: a name that parsed is well formed, not known.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The core tools (A8): names that no toolset's tool may have (A17).
pub const CORE_TOOLS: [&str; 4] = ["spawn_subagent", "activate_skill", "available_tools", "load_tools"];

/// Longest wire name, in bytes, that every provider takes (N5).
const WIRE_MAX: usize = 64;
/// Longest toolset or agent name, in bytes (A3).
const NAME_MAX: usize = 64;
/// Longest word that near misses are looked up for, in characters.
const NEAR_MAX: usize = 128;

/// Where a word stands in a file: byte offsets into its text, and a 1-based line and column for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte of the word.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// 1-based line of `start`.
    pub line: usize,
    /// 1-based column of `start`, in characters.
    pub column: usize,
}

/// A value with the place it was written at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Cheap to clone: the text is shared.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as written; compared byte for byte (A3).
            pub fn new(name: impl Into<String>) -> Self {
                Self(Arc::from(name.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::new)
            }
        }
    };
}

name!(
    /// An agent's name: the `<name>` of `[agents.<name>]`.
    AgentName
);
name!(
    /// A toolset's name: a word of `available`.
    ToolsetName
);
name!(
    /// A tool's declared name, verbatim from its provider (A17). What people read.
    ToolName
);
name!(
    /// What the provider of the model sees a tool called (N5).
    WireName
);

impl ToolsetName {
    /// A well-formed toolset name: `[a-z0-9][a-z0-9_-]{0,63}`, and neither `core` nor `all` (A3, A4).
    ///
    /// # Errors
    /// A lower-case fragment that says which of the two is broken.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("all") || text == "core" {
            return Err(format!("'{}' is reserved and cannot name a toolset", shown(text)));
        }
        if well_formed(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
            return Ok(Self::new(text));
        }
        Err(format!(
            "'{}' is not a toolset name: 1 to 64 of a-z, 0-9, '_' and '-', the first a letter or digit",
            shown(text)
        ))
    }
}

impl AgentName {
    /// A well-formed agent name: `[A-Za-z0-9][A-Za-z0-9_-]{0,63}`, and none of the reserved words in any casing (A3).
    ///
    /// # Errors
    /// A lower-case fragment that says which of the two is broken.
    pub fn parse(text: &str) -> Result<Self, String> {
        const RESERVED: [&str; 5] = ["user", "everyone", "composed", "core", "all"];
        if RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Err(format!("'{}' is reserved and cannot name an agent", shown(text)));
        }
        if well_formed(text, |c| c.is_ascii_alphanumeric()) {
            return Ok(Self::new(text));
        }
        Err(format!(
            "'{}' is not an agent name: 1 to 64 of A-Z, a-z, 0-9, '_' and '-', the first a letter or digit",
            shown(text)
        ))
    }
}

/// What the name of a composed worker begins with; its label follows. No declared agent's name has a colon.
const COMPOSED: &str = "composed:";

impl AgentName {
    /// A composed worker's name (D3).
    pub fn composed(label: &str) -> Self {
        Self::new(format!("{COMPOSED}{label}"))
    }

    /// What a composed worker calls itself, with the number that tells two of one label apart.
    pub fn label(&self) -> Option<&str> {
        self.as_str().strip_prefix(COMPOSED)
    }
}

impl ToolName {
    /// Why no agent can hold a tool of this name, if so (A17).
    pub fn defect(&self) -> Option<NameDefect> {
        match self.as_str() {
            "" => Some(NameDefect::Empty),
            "*" => Some(NameDefect::Star),
            name if name.chars().any(char::is_control) => Some(NameDefect::ControlCharacter),
            name if CORE_TOOLS.contains(&name) => Some(NameDefect::Core),
            _ => None,
        }
    }
}

/// Why a provider's tool is left out of its own build (A17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NameDefect {
    /// No name.
    #[error("its name is empty")]
    Empty,
    /// `*` means every tool in an entry.
    #[error("'*' is not a tool name")]
    Star,
    /// A name that a terminal or a log could be fooled with.
    #[error("its name holds a control character")]
    ControlCharacter,
    /// The program's own name for something; worth an alert.
    #[error("the program has a tool of that name itself")]
    Core,
    /// An earlier tool of the same build has the name.
    #[error("an earlier tool of the same toolset has the name")]
    Repeated,
}

impl WireName {
    /// The wire name of one tool (N5): the declared name where it is legal on the wire, else its legal characters, cut,
    /// with six hex digits of SHA-256(toolset, NUL, tool). Depends on nothing else, so it survives restarts.
    pub fn of(owner: &Owner, tool: &ToolName) -> Self {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = tool.as_str();
        if (1..=WIRE_MAX).contains(&name.len()) && name.chars().all(legal) {
            return Self(Arc::clone(&tool.0));
        }
        let toolset = match owner {
            Owner::Core => "core",
            Owner::Toolset(toolset) => toolset.as_str(),
        };
        let digest = Sha256::new().chain_update(toolset).chain_update([0]).chain_update(name).finalize();
        let mut wire: String = name.chars().filter(|c| legal(*c)).take(WIRE_MAX - 7).collect();
        wire.push('_');
        wire.extend(
            digest
                .iter()
                .take(3)
                .flat_map(|byte| [byte >> 4, byte & 15])
                .filter_map(|digit| char::from_digit(digit.into(), 16)),
        );
        Self::new(wire)
    }
}

/// Where a tool comes from: a toolset, or the program itself (A8).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// One of the tools no toolset provides: `available_tools`, `load_tools`, later `spawn_subagent`, `activate_skill`.
    Core,
    /// A tool that this toolset's build returned.
    Toolset(ToolsetName),
}

/// One tool of one owner. Shown as `compute.run_command` or `core.load_tools`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolId {
    /// Who provides it.
    pub owner: Owner,
    /// Its declared name.
    pub name: ToolName,
}

impl ToolId {
    /// A tool of a toolset.
    pub fn of(toolset: &ToolsetName, name: &ToolName) -> Self {
        Self { owner: Owner::Toolset(toolset.clone()), name: name.clone() }
    }

    /// A core tool (A8).
    pub fn core(name: &str) -> Self {
        Self { owner: Owner::Core, name: ToolName::new(name) }
    }

    /// Reads `toolset.tool` or `core.tool`, split at the first dot.
    ///
    /// # Errors
    /// A lower-case fragment that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        match GateEntry::parse(text)? {
            GateEntry::Tool(toolset, name) => Ok(Self { owner: Owner::Toolset(toolset), name }),
            GateEntry::CoreTool(name) => Ok(Self { owner: Owner::Core, name }),
            GateEntry::Toolset(_) | GateEntry::Core => {
                Err(format!("'{}' names no single tool: write '<toolset>.<tool>'", shown(text)))
            }
        }
    }

    /// The toolset that provides it; `None` for a core tool.
    pub fn toolset(&self) -> Option<&ToolsetName> {
        match &self.owner {
            Owner::Core => None,
            Owner::Toolset(toolset) => Some(toolset),
        }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owner {
            Owner::Core => write!(f, "core.{}", self.name),
            Owner::Toolset(toolset) => write!(f, "{toolset}.{}", self.name),
        }
    }
}

/// An entry of `confirm`, `review` or the floor (P2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GateEntry {
    /// `<toolset>` or `<toolset>.*`: every tool of it, later arrivals included.
    Toolset(ToolsetName),
    /// `<toolset>.<tool>`.
    Tool(ToolsetName, ToolName),
    /// `core`: every core tool.
    Core,
    /// `core.<tool>`.
    CoreTool(ToolName),
}

impl GateEntry {
    /// Reads an entry (P2): split at the first dot, the rest is the declared tool name, verbatim.
    ///
    /// # Errors
    /// A lower-case fragment that says which form was meant.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (owner, tool) = match text.split_once('.') {
            Some((owner, tool)) => (owner, Some(tool)),
            None => (text, None),
        };
        if owner == "core" {
            return match tool {
                None => Ok(Self::Core),
                Some("*") => Err("'core.*' is not an entry: write 'core' for every core tool".to_owned()),
                Some(tool) => tool_part(text, tool).map(Self::CoreTool),
            };
        }
        let toolset = ToolsetName::parse(owner).map_err(|_| {
            let exact = owner.trim().to_ascii_lowercase();
            let how = if exact != owner && ToolsetName::parse(&exact).is_ok() {
                format!("toolsets are named letter by letter, did you mean '{exact}'?")
            } else {
                "write '<toolset>', '<toolset>.<tool>', 'core' or 'core.<tool>'".to_owned()
            };
            format!("'{}' is not an entry: {how}", shown(text))
        })?;
        match tool {
            None | Some("*") => Ok(Self::Toolset(toolset)),
            Some(tool) => Ok(Self::Tool(toolset, tool_part(text, tool)?)),
        }
    }

    /// The toolset it names; `None` for core.
    pub fn toolset(&self) -> Option<&ToolsetName> {
        match self {
            Self::Toolset(toolset) | Self::Tool(toolset, _) => Some(toolset),
            Self::Core | Self::CoreTool(_) => None,
        }
    }

    /// Whether the text alone says that some tool is in both (P10).
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Core | Self::CoreTool(_), Self::Core) | (Self::Core, Self::CoreTool(_)) => true,
            (Self::CoreTool(one), Self::CoreTool(two)) => one == two,
            (Self::Toolset(one) | Self::Tool(one, _), Self::Toolset(two))
            | (Self::Toolset(one), Self::Tool(two, _)) => one == two,
            (Self::Tool(one, first), Self::Tool(two, second)) => one == two && first == second,
            (Self::Core | Self::CoreTool(_), Self::Toolset(_) | Self::Tool(..))
            | (Self::Toolset(_) | Self::Tool(..), Self::Core | Self::CoreTool(_)) => false,
        }
    }

    /// Whether the text alone says that it reaches this very tool.
    pub fn names(&self, tool: &ToolId) -> bool {
        match (self, &tool.owner) {
            (Self::Core, Owner::Core) => true,
            (Self::CoreTool(name), Owner::Core) => *name == tool.name,
            (Self::Toolset(toolset), Owner::Toolset(owner)) => toolset == owner,
            (Self::Tool(toolset, name), Owner::Toolset(owner)) => toolset == owner && *name == tool.name,
            (Self::Core | Self::CoreTool(_), Owner::Toolset(_)) | (Self::Toolset(_) | Self::Tool(..), Owner::Core) => {
                false
            }
        }
    }
}

impl fmt::Display for GateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toolset(toolset) => write!(f, "{toolset}"),
            Self::Tool(toolset, tool) => write!(f, "{toolset}.{tool}"),
            Self::Core => f.write_str("core"),
            Self::CoreTool(tool) => write!(f, "core.{tool}"),
        }
    }
}

fn tool_part(entry: &str, tool: &str) -> Result<ToolName, String> {
    match ToolName::new(tool).defect() {
        None | Some(NameDefect::Core) => Ok(ToolName::new(tool)),
        Some(NameDefect::Empty) => Err(format!("'{}' is not an entry: no tool is named after the dot", shown(entry))),
        Some(defect) => Err(format!("'{}' is not an entry: of the tool after the dot, {defect}", shown(entry))),
    }
}

fn well_formed(text: &str, first: impl Fn(char) -> bool) -> bool {
    text.len() <= NAME_MAX
        && text.chars().next().is_some_and(&first)
        && text.chars().all(|c| first(c) || c == '_' || c == '-')
}

/// A word from outside as a message may quote it: control characters and those that deceive the eye escaped, at most 80
/// characters.
pub fn shown(word: &str) -> String {
    let mut text = String::new();
    for (index, c) in word.chars().enumerate() {
        if index == 80 {
            text.push_str("...");
            break;
        }
        if c.is_control() || deceives(c) { text.extend(c.escape_default()) } else { text.push(c) }
    }
    text
}

/// Whether a character is not seen, or changes the order in which others are: bidirectional controls and what has no width.
fn deceives(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// At most `most` of `candidates` that `word` may have been meant as, nearest first, else in their own order.
pub fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let letters: Vec<char> = word.chars().take(NEAR_MAX + 1).flat_map(char::to_lowercase).collect();
    if letters.is_empty() || letters.len() > NEAR_MAX {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.chars().take(NEAR_MAX).flat_map(char::to_lowercase).collect();
            let shorter = letters.len().min(other.len());
            let allowed = (letters.len().max(other.len()) / 3).clamp(1, 4);
            let distance = if letters.len().abs_diff(other.len()) <= allowed {
                edit_distance(&letters, &other)
            } else {
                usize::MAX
            };
            if distance <= allowed && distance < letters.len().max(2) {
                return Some((distance, candidate));
            }
            let (long, short) = if letters.len() > other.len() { (&letters, &other) } else { (&other, &letters) };
            let inside = shorter >= 3 && long.windows(shorter).any(|part| part == &short[..]);
            (inside || is_abbreviation(&letters, &other)).then_some((NEAR_MAX, candidate))
        })
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.dedup_by_key(|(_, name)| *name);
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Whether `word` is `name` with letters left out, as `run_cmd` is of `run_command`. Both begin alike.
fn is_abbreviation(word: &[char], name: &[char]) -> bool {
    let mut rest = name.iter();
    word.len() >= 4 && word.first() == name.first() && word.iter().all(|letter| rest.any(|other| other == letter))
}

/// `did you mean 'a' or 'b'?`, if there is anything near.
pub fn did_you_mean(near: &[&str]) -> Option<String> {
    let (last, rest) = near.split_last()?;
    if rest.is_empty() {
        return Some(format!("did you mean '{last}'?"));
    }
    let rest: Vec<String> = rest.iter().map(|name| format!("'{name}'")).collect();
    Some(format!("did you mean {} or '{last}'?", rest.join(", ")))
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    let width = to.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, a) in from.iter().enumerate() {
        let mut line = vec![row + 1; width];
        for (column, b) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(a != b);
            let mut cost = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *b && *a == to[column - 1] {
                cost = cost.min(before[column - 1] + 1);
            }
            line[column + 1] = cost;
        }
        before = last;
        last = line;
    }
    last[to.len()]
}
