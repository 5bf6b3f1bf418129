//! State of the side panes and of the views that cover the transcript: which is open, its row and its filter.

use super::explaining::Explaining;
use super::inbox::CardId;
use super::line::LineInput;
use crate::access::AgentName;
use crate::agent::NodeId;

/// A side pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaneKind {
    /// F2.
    Agents,
    /// F3.
    Tools,
    /// F4.
    Policy,
    /// F6.
    Conversations,
}

impl PaneKind {
    /// Every pane, in the order of their keys.
    pub const ALL: [Self; 4] = [Self::Agents, Self::Tools, Self::Policy, Self::Conversations];
}

/// Whether the narrow layout shows a pane over the transcript; wider ones always show it beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opened {
    /// A person asked for it.
    ByPerson,
    /// It is what a wide screen shows by itself.
    ByWidth,
}

/// How the tools pane sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolSort {
    /// As the model sees them.
    Model,
    /// The largest first.
    Bytes,
}

/// What the policy pane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyView {
    /// One agent's lists, floor and grants.
    Lists,
    /// Every agent's state of every toolset.
    Matrix,
}

/// The panes' own state; each keeps its row while another is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Panes {
    /// Which is shown.
    pub kind: PaneKind,
    /// Why.
    pub opened: Opened,
    /// The agent whose tools and policy are shown; `None`: the entry agent.
    pub agent: Option<AgentName>,
    /// The agent on the selected row of the agents pane: its row moves as others are spawned.
    pub node: NodeId,
    /// Selected row of each of the others, in the order of [`PaneKind::ALL`].
    rows: [usize; 4],
    /// What the policy pane shows.
    pub policy_view: PolicyView,
    /// The selected row of its matrix; the column is `agent`.
    matrix_row: usize,
    /// The tools pane's filter.
    pub tool_filter: String,
    /// The tools pane's order.
    pub tool_sort: ToolSort,
    /// Toolsets whose tools are listed under them.
    pub expanded: std::collections::BTreeSet<String>,
    /// The conversations pane's filter.
    pub conversation_filter: String,
}

impl Default for Panes {
    fn default() -> Self {
        Self {
            kind: PaneKind::Tools,
            opened: Opened::ByWidth,
            agent: None,
            node: NodeId::ENTRY,
            rows: [0; 4],
            policy_view: PolicyView::Lists,
            matrix_row: 0,
            tool_filter: String::new(),
            tool_sort: ToolSort::Model,
            expanded: std::collections::BTreeSet::new(),
            conversation_filter: String::new(),
        }
    }
}

impl Panes {
    /// A pane's selected row.
    pub fn row(&self, kind: PaneKind) -> usize {
        if kind == PaneKind::Policy && self.policy_view == PolicyView::Matrix {
            return self.matrix_row;
        }
        self.rows.get(kind as usize).copied().unwrap_or(0)
    }

    /// Selects a row of a pane.
    pub fn select(&mut self, kind: PaneKind, row: usize) {
        if kind == PaneKind::Policy && self.policy_view == PolicyView::Matrix {
            self.matrix_row = row;
        } else if let Some(place) = self.rows.get_mut(kind as usize) {
            *place = row;
        }
    }
}

/// A view over the transcript. At most one is open.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The keys in force.
    Help {
        /// First line drawn.
        scroll: usize,
    },
    /// Actions and commands by name.
    Palette {
        /// What is typed.
        query: LineInput,
        /// The selected row.
        selected: usize,
    },
    /// Who was in one model call and why.
    Ledger {
        /// The call, as its place among the conversation's model calls.
        call: usize,
        /// First line drawn.
        scroll: usize,
    },
    /// The five answers for an agent's tools.
    Explain(Explaining),
    /// The shown card, whole.
    Card,
    /// Lines of text under a heading: diagnostics.
    Text {
        /// The heading.
        title: String,
        /// The lines, as received.
        lines: Vec<String>,
        /// First line drawn.
        scroll: usize,
    },
}

/// A line that is being typed, or a question, outside the composer. It takes every key until it closes.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// Words to search the transcript for.
    Search(LineInput),
    /// Why a call is denied.
    Reason {
        /// Which.
        card: CardId,
        /// The sentence.
        line: LineInput,
    },
    /// The tools pane's filter.
    FilterTools(LineInput),
    /// The conversations pane's filter.
    FilterConversations(LineInput),
    /// Whether a conversation should be deleted: `y` does it.
    Delete {
        /// Its id.
        id: String,
        /// Its title.
        title: String,
    },
    /// A conversation is open in another program: Enter looks at it read-only, any other key leaves it.
    Held {
        /// Its id.
        id: String,
        /// Who has it: a sentence.
        holder: String,
    },
}
