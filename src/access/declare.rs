//! What the tables of a configuration say, with the place of every word, before anything is looked up.
//!
//! Parsing happens elsewhere; this module never reads a file.

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
