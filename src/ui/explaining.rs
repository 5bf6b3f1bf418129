//! The open view of the five answers: whose tools it lists, which is selected or read, and what has been answered so far.
//! It asks for every answer and works none out: `access::explain` does.

use std::collections::{BTreeMap, BTreeSet};

use super::command::Cmd;
use super::pane::Overlay;
use super::state::Ui;
use super::view::panes::group;
use crate::access::{AgentName, Explanation, Owner, ToolId};
use crate::agent::Command;

/// What is on the screen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The tools, a line each.
    Tools,
    /// All reasons for the selected one.
    Answers {
        /// First line drawn.
        scroll: usize,
    },
}

/// What it was opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// A cell of the matrix: all tools of the toolset.
    Cell,
    /// A tool's row.
    Tool,
}

/// The view.
#[derive(Debug, Clone, PartialEq)]
pub struct Explaining {
    /// For whom.
    pub agent: AgentName,
    /// Whose tools.
    pub owner: Owner,
    /// The tools: those that are known, or the one.
    pub tools: Vec<ToolId>,
    /// Which of them is selected.
    pub selected: usize,
    /// What is shown.
    pub level: Level,
    /// What it was opened from.
    pub from: From,
    /// The answers that have come.
    pub answers: BTreeMap<ToolId, Explanation>,
}

impl Explaining {
    /// The selected tool.
    pub fn tool(&self) -> Option<&ToolId> {
        self.tools.get(self.selected)
    }

    fn ask(&self) -> Vec<Cmd> {
        let ask = |tool: &ToolId| Cmd::Submit(Command::Explain { agent: self.agent.clone(), tool: tool.clone() });
        self.tools.iter().map(ask).collect()
    }
}

/// Opens it on every known tool of `owner`, for the agent that the panes show.
pub(super) fn open_cell(ui: &mut Ui, owner: Owner) -> Vec<Cmd> {
    let tools = tools_of(ui, &owner);
    open(ui, owner, tools, From::Cell)
}

/// Opens it on one tool, for the agent that the panes show.
pub(super) fn open_tool(ui: &mut Ui, tool: ToolId) -> Vec<Cmd> {
    open(ui, tool.owner.clone(), vec![tool], From::Tool)
}

fn open(ui: &mut Ui, owner: Owner, tools: Vec<ToolId>, from: From) -> Vec<Cmd> {
    let Some(agent) = ui.report().map(|report| report.agent.clone()) else { return Vec::new() };
    let level = match from {
        From::Cell => Level::Tools,
        From::Tool => Level::Answers { scroll: 0 },
    };
    let view = Explaining { agent, owner, tools, selected: 0, level, from, answers: BTreeMap::new() };
    let cmds = view.ask();
    ui.overlay = Some(Overlay::Explain(view));
    cmds
}

/// The tools of `owner` that any agent's report knows, in order.
fn tools_of(ui: &Ui, owner: &Owner) -> Vec<ToolId> {
    let mut seen = BTreeSet::new();
    let groups = ui.agents().into_iter().filter_map(|report| group(report, owner));
    let rows = groups.flat_map(|group| group.tools().unwrap_or_default());
    rows.map(|row| ToolId { owner: owner.clone(), name: row.name.clone() })
        .filter(|id| seen.insert(id.clone()))
        .collect()
}

/// Enter: the selected tool's answers, or back.
pub(super) fn enter(ui: &mut Ui) {
    match &mut ui.overlay {
        Some(Overlay::Explain(view)) if view.level == Level::Tools => {
            if view.tool().is_some() {
                view.level = Level::Answers { scroll: 0 };
            }
        }
        _ => _ = close(ui),
    }
}

/// Closes one level. Whether it was open.
pub(super) fn close(ui: &mut Ui) -> bool {
    let Some(Overlay::Explain(view)) = &mut ui.overlay else { return false };
    if view.from == From::Cell && view.level != Level::Tools {
        view.level = Level::Tools;
    } else {
        ui.overlay = None;
    }
    true
}

/// The panes show another agent: the same tools are asked about for that one.
pub(super) fn follow_agent(ui: &mut Ui) -> Vec<Cmd> {
    let Some(agent) = ui.report().map(|report| report.agent.clone()) else { return Vec::new() };
    let Some(Overlay::Explain(view)) = &mut ui.overlay else { return Vec::new() };
    if view.agent == agent {
        return Vec::new();
    }
    view.agent = agent;
    view.answers.clear();
    view.ask()
}

/// What was reported of `agent` may have changed the answers. Those that are shown stay until the new ones come.
pub(super) fn ask_again(ui: &mut Ui, agent: &AgentName) -> Vec<Cmd> {
    let Some(Overlay::Explain(view)) = &ui.overlay else { return Vec::new() };
    if view.agent != *agent {
        return Vec::new();
    }
    let tools = (view.from == From::Cell).then(|| tools_of(ui, &view.owner));
    let Some(Overlay::Explain(view)) = &mut ui.overlay else { return Vec::new() };
    if let Some(tools) = tools.filter(|tools| *tools != view.tools) {
        let selected = view.tool().and_then(|tool| tools.iter().position(|other| other == tool));
        (view.tools, view.selected) = (tools, selected.unwrap_or(0));
        if selected.is_none() {
            view.level = Level::Tools;
        }
    }
    view.ask()
}

/// An answer came.
pub(super) fn answered(ui: &mut Ui, agent: &AgentName, tool: ToolId, explanation: Explanation) {
    if let Some(Overlay::Explain(view)) = &mut ui.overlay
        && view.agent == *agent
        && view.tools.contains(&tool)
    {
        view.answers.insert(tool, explanation);
    }
}
