//! One toolset of a report, or an agent's core tools, as every pane and view shows it: its letter, its state in words, and
//! what of it counts. It decides nothing: the report says what is so.

use crate::access::Filter;
use crate::access::report::{ToolRow, ToolsetRow, ToolsetState};
use crate::ui::text::clean_line;
use crate::ui::theme::Role;

/// A toolset, or the core tools, which belong to none (A8).
#[derive(Debug, Clone, Copy)]
pub enum Group<'a> {
    /// An installed toolset.
    Toolset(&'a ToolsetRow),
    /// The agent's core tools; none where it earns none.
    Core(&'a [ToolRow]),
}

impl<'a> Group<'a> {
    /// Its name: no toolset is called `core` (A4).
    pub fn name(self) -> &'a str {
        match self {
            Self::Toolset(row) => row.name.as_str(),
            Self::Core(_) => "core",
        }
    }

    /// The toolset, if it is one.
    pub fn toolset(self) -> Option<&'a ToolsetRow> {
        match self {
            Self::Toolset(row) => Some(row),
            Self::Core(_) => None,
        }
    }

    pub(super) fn state(self) -> &'a ToolsetState {
        match self {
            Self::Toolset(row) => &row.state,
            Self::Core([]) => &ToolsetState::NotAvailable,
            Self::Core(_) => &ToolsetState::Resident,
        }
    }

    /// Why the whole of it is off, if it is.
    pub(super) fn off(self) -> Option<&'a str> {
        match self.state() {
            ToolsetState::Off { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Its tools, where they are known.
    pub fn tools(self) -> Option<&'a [ToolRow]> {
        match self {
            Self::Toolset(row) => row.tools.as_deref(),
            Self::Core(tools) => Some(tools),
        }
    }

    pub(super) fn is_held(self) -> bool {
        super::is_held(self.state())
    }

    /// Of its tools, those that its columns count: of what is held, what a call made now carries; of the rest, all that a
    /// load would add.
    pub(super) fn counted(self) -> impl Iterator<Item = &'a ToolRow> {
        let held = self.is_held();
        self.tools().unwrap_or_default().iter().filter(move |tool| tool.offered || !held)
    }

    pub(super) fn bytes(self) -> usize {
        self.counted().map(|tool| tool.bytes).sum()
    }

    pub(super) fn matches(self, filter: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(filter);
        has(self.name()) || self.tools().unwrap_or_default().iter().any(|tool| has(tool.name.as_str()))
    }

    /// Whether a filter withholds every one of its tools.
    fn is_withheld(self) -> bool {
        let tools = self.tools().unwrap_or_default();
        !tools.is_empty() && tools.iter().all(|tool| tool.withheld.is_some())
    }

    /// Its state as one letter.
    pub(super) fn letter(self) -> &'static str {
        match self.state() {
            ToolsetState::Resident | ToolsetState::Preloaded | ToolsetState::Loaded if self.is_withheld() => "?",
            ToolsetState::Resident => "R",
            ToolsetState::Preloaded | ToolsetState::Loaded => "L",
            ToolsetState::Loadable => "-",
            ToolsetState::Failed { .. } | ToolsetState::Refused { .. } => "!",
            ToolsetState::Off { by: Filter::SwitchedOff, .. } => "o",
            ToolsetState::Off { .. } => "?",
            ToolsetState::NotAvailable => "·",
        }
    }

    /// How its letter is drawn.
    pub(super) fn role(self) -> Role {
        match self.letter() {
            "!" => Role::Error,
            "o" | "?" => Role::Warning,
            _ if self.is_held() => Role::Text,
            _ => Role::Dim,
        }
    }

    /// Its state in words, with its reason.
    pub fn state_words(self) -> String {
        let Self::Toolset(row) = self else {
            return if self.is_held() { "held from the start" } else { "the agent earns none of them" }.to_owned();
        };
        match &row.state {
            ToolsetState::Resident => "resident".to_owned(),
            ToolsetState::Preloaded => "loaded: this conversation loaded it before".to_owned(),
            ToolsetState::Loaded => "loaded".to_owned(),
            ToolsetState::Loadable => "loadable: the model can load it".to_owned(),
            ToolsetState::Failed { error } => format!("the last build failed: {}", clean_line(error)),
            ToolsetState::Refused { entry } => format!("refused: {}", clean_line(entry)),
            ToolsetState::Off { by, reason, line } => {
                let how = if *by == Filter::SwitchedOff { "off" } else { "not now" };
                let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
                format!("{how}: {}{line}", clean_line(reason))
            }
            ToolsetState::NotAvailable => "not available: the agent's table does not list it".to_owned(),
        }
    }

    /// What it is for.
    pub fn description(self) -> String {
        match self {
            Self::Toolset(row) => clean_line(&row.description),
            Self::Core(_) => "Tools of the program itself, which belong to no toolset.".to_owned(),
        }
    }
}

/// The letters of a group's state in words: on one line, or on three where a pane is narrow.
pub(super) fn legend(narrow: bool) -> &'static [&'static str] {
    if narrow {
        &["R resident  L loaded  - loadable", "! failed or refused  o off", "? not now  · not available"]
    } else {
        &["R resident  L loaded  - loadable  ! failed or refused  o off  ? not now", "· not available"]
    }
}
