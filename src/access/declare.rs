//! What the tables of a configuration say, with the place of every word, before anything is looked up.
//!
//! Parsing happens elsewhere; this module never reads a file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::name::{AgentName, Span, Spanned, ToolsetName};

/// `available` of one agent (A1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Available {
    /// No key: the agent holds no toolset.
    #[default]
    Absent,
    /// Exactly the string `"all"`.
    All(Span),
    /// The names, in the order written. May be empty.
    List(Vec<Spanned<ToolsetName>>),
}

/// One side of an approval pair as written, each entry still text, with the place of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryList {
    /// Where the key stands.
    pub key: Span,
    /// The entries as written, in order.
    pub entries: Vec<Spanned<String>>,
}

/// The approval pair of a table (P3). A table with neither key inherits the default pair whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pair {
    /// `confirm`, if the key was written.
    pub confirm: Option<EntryList>,
    /// `review`, if the key was written.
    pub review: Option<EntryList>,
}

/// What `[agents.<name>]` and `[agents.<name>.tools]` say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDeclaration {
    /// The table's name and place.
    pub name: Spanned<AgentName>,
    /// One line for people and delegators.
    pub description: String,
    /// Its toolsets.
    pub available: Available,
    /// `resident`, if the key was written (R2).
    pub resident: Option<Vec<Spanned<ToolsetName>>>,
    /// Its own approval pair.
    pub pair: Pair,
    /// Agents it may spawn (A10).
    pub delegates_to: Vec<Spanned<AgentName>>,
}

/// Everything the configuration declares about capability.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declarations {
    /// `[assistant].agent`, the entry agent, and where it was written (`None`: the default).
    pub entry: Option<Spanned<AgentName>>,
    /// `[assistant.tools]`: the default pair (A15).
    pub default_pair: Pair,
    /// Every `[agents.<name>]`, in file order.
    pub agents: Vec<AgentDeclaration>,
    /// `[security].never_auto_approve`: the floor (P20), as written.
    pub floor: Vec<Spanned<String>>,
    /// `[security.auto_approval].enabled`.
    pub auto_approval: bool,
    /// `[toolsets].disabled`: the person's switches (W1).
    pub disabled: Vec<Spanned<ToolsetName>>,
    /// `[assistant].mode`: the mode that conversations begin in, if the key was written (W3).
    pub mode: Option<Spanned<String>>,
    /// Every `[modes.<name>]`, in file order (W3).
    pub modes: Vec<ModeDeclaration>,
    /// `[mcp].default` and `[[mcp.server]].default` (P18).
    pub server_defaults: ServerDefaults,
    /// `[security].background` (P12).
    pub background: Background,
}

/// One `[modes.<name>]` (W3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeDeclaration {
    /// The table's name and place.
    pub name: Spanned<String>,
    /// What it withholds, as written.
    pub withhold: Vec<Spanned<String>>,
}

/// What happens to a server's tool that no entry matches (P18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerDefault {
    /// It is treated as in `confirm`.
    Confirm,
    /// It runs.
    #[default]
    Run,
}

/// What of P18 is written. A server's own key goes before `[mcp].default`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerDefaults {
    /// `[mcp].default`, if the key was written.
    pub every: Option<Spanned<ServerDefault>>,
    /// `[[mcp.server]].default`, of each server that has the key.
    pub each: BTreeMap<ToolsetName, Spanned<ServerDefault>>,
}

/// What becomes of a gated call whose conversation is not on screen (P12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Its card waits in the inbox, as long as somebody is present.
    #[default]
    Park,
    /// It is auto-denied.
    Deny,
}

/// One thing wrong with the declarations. All faults of a configuration are reported together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The rule that it breaks, such as `A2`.
    pub rule: &'static str,
    /// Where, if a word in the file is to blame.
    pub span: Option<Span>,
    /// What is wrong: a lower-case fragment.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}
