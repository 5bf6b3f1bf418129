//! The side panes: what each lists, which row is selected, and how it is drawn beside or over the transcript.

mod agents;
mod conversations;
mod group;
mod matrix;
mod policy;
mod tools;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub use self::group::Group;
pub use self::tools::Entry;
use super::paint::{ends, keyed, put, put_all};
use crate::access::report::ToolsetState;
use crate::access::{AgentReport, Owner};
use crate::agent::NodeId;
use crate::agent::update::ConversationSummary;
use crate::ui::action::Action;
use crate::ui::pane::{PaneKind, PolicyView};
use crate::ui::state::{Focus, Ui};
use crate::ui::text::{clean_line, truncate};
use crate::ui::theme::Role;

/// Rows from which the foot of the agents pane has room of its own.
const TALL: usize = 16;

/// A pane laid out: a heading, lines that stay under it, rows that can be selected and scrolled, and lines that stay at its
/// foot.
#[derive(Debug, Default)]
struct Content {
    title: String,
    right: Vec<Span<'static>>,
    head: Vec<Line<'static>>,
    rows: Vec<Row>,
    foot: Vec<Line<'static>>,
}

impl Content {
    /// Rows that it would fill, its heading included.
    fn height(&self) -> u16 {
        let rows: usize = self.rows.iter().map(|row| row.lines.len()).sum();
        u16::try_from(1 + self.head.len() + rows + self.foot.len()).unwrap_or(u16::MAX)
    }
}

/// One selectable row; what stands under it scrolls with it.
#[derive(Debug, Default)]
struct Row {
    lines: Vec<Line<'static>>,
    /// Which of them is the row itself; headings may stand above it.
    main: usize,
}

impl Row {
    fn one(line: Line<'static>) -> Self {
        Self { lines: vec![line], main: 0 }
    }
}

fn content(ui: &Ui, kind: PaneKind, room: usize, now: i64) -> Content {
    match kind {
        PaneKind::Agents => agents::content(ui, room, now),
        PaneKind::Tools => tools::content(ui, room),
        PaneKind::Policy if ui.panes.policy_view == PolicyView::Matrix => matrix::content(ui, room),
        PaneKind::Policy => policy::content(ui, room),
        PaneKind::Conversations => conversations::content(ui, room, now),
    }
}

/// How many rows a pane has.
pub fn count(ui: &Ui, kind: PaneKind) -> usize {
    match kind {
        PaneKind::Agents => ui.tree.rows().len(),
        PaneKind::Tools => tools::rows(ui).len(),
        PaneKind::Policy if ui.panes.policy_view == PolicyView::Matrix => matrix::owners(ui).len(),
        PaneKind::Policy => ui.report().map_or(0, |report| policy::entries(report).len()),
        PaneKind::Conversations => conversations::rows(ui).len(),
    }
}

/// A pane's selected row.
pub fn selected(ui: &Ui, kind: PaneKind) -> usize {
    match kind {
        PaneKind::Agents => ui.tree.rows().iter().position(|agent| agent.id == ui.panes.node).unwrap_or(0),
        _ => ui.panes.row(kind),
    }
}

/// The agent on a row of the agents pane.
pub fn agent_at(ui: &Ui, row: usize) -> NodeId {
    ui.tree.rows().get(row).map_or(NodeId::ENTRY, |agent| agent.id)
}

/// The agent on the agents pane's selected row; one that is no longer in the tree is not.
pub fn selected_agent(ui: &Ui) -> Option<NodeId> {
    ui.session()?;
    ui.tree.rows().iter().any(|agent| agent.id == ui.panes.node).then_some(ui.panes.node)
}

/// The agents below the conversations: they have what they need, up to half of `area`.
pub fn draw_left(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    if area.is_empty() {
        return;
    }
    let made = content(ui, PaneKind::Agents, usize::from(area.width), now);
    let agents = made.height().clamp(8.min(area.height / 3), area.height / 2);
    let top = Rect { height: area.height - agents, ..area };
    let bottom = Rect { y: area.y + top.height, height: agents, ..area };
    draw(ui, PaneKind::Conversations, top, buffer, now);
    draw_made(ui, PaneKind::Agents, made, bottom, buffer);
}

/// The tools pane's selected row.
pub fn selected_tools_row(ui: &Ui) -> Option<Entry<'_>> {
    let rows = tools::rows(ui);
    let at = ui.panes.row(PaneKind::Tools).min(rows.len().saturating_sub(1));
    rows.get(at).copied()
}

/// The grant on the policy pane's selected row.
pub fn selected_grant(ui: &Ui) -> Option<u32> {
    if ui.panes.policy_view == PolicyView::Matrix {
        return None;
    }
    let entries = policy::entries(ui.report()?);
    let at = ui.panes.row(PaneKind::Policy).min(entries.len().saturating_sub(1));
    entries.get(at).and_then(policy::Entry::grant)
}

/// Whose tools the matrix's selected row is about.
pub fn selected_owner(ui: &Ui) -> Option<Owner> {
    let mut owners = matrix::owners(ui);
    let at = ui.panes.row(PaneKind::Policy).min(owners.len().saturating_sub(1));
    (at < owners.len()).then(|| owners.swap_remove(at))
}

/// How an owner is shown: no toolset is called `core` (A4).
pub fn name(owner: &Owner) -> String {
    match owner {
        Owner::Core => "core".to_owned(),
        Owner::Toolset(name) => clean_line(name.as_str()),
    }
}

/// What a report says of a toolset, or of the core tools.
pub fn group<'a>(report: &'a AgentReport, owner: &Owner) -> Option<Group<'a>> {
    match owner {
        Owner::Core => Some(Group::Core(&report.core)),
        Owner::Toolset(name) => report.toolsets.iter().find(|row| row.name == *name).map(Group::Toolset),
    }
}

/// The rows of the conversations pane.
pub fn conversations(ui: &Ui) -> Vec<&ConversationSummary> {
    conversations::rows(ui)
}

/// The conversation on the conversations pane's selected row.
pub fn selected_conversation(ui: &Ui) -> Option<&ConversationSummary> {
    let rows = conversations(ui);
    let at = ui.panes.row(PaneKind::Conversations).min(rows.len().saturating_sub(1));
    rows.get(at).copied()
}

/// Whether a toolset is in the agent's context.
pub fn is_held(state: &ToolsetState) -> bool {
    matches!(state, ToolsetState::Resident | ToolsetState::Preloaded | ToolsetState::Loaded)
}

/// Tools of a call made now that are asked about first.
pub fn asks_first(report: &AgentReport) -> usize {
    let tools = report.toolsets.iter().flat_map(|row| row.tools.iter().flatten()).chain(&report.core);
    tools.filter(|tool| tool.offered && tool.gate.is_some()).count()
}

/// Whether a pane has the keys.
fn is_focused(ui: &Ui, kind: PaneKind) -> bool {
    ui.focus == Focus::Pane && ui.pane() == kind && ui.overlay.is_none()
}

/// The right end of a pane's heading: its filter while there is one, with the key that clears it where that key is heard;
/// else `otherwise`.
fn heading_end(ui: &Ui, kind: PaneKind, filter: &str, otherwise: String, room: usize) -> Vec<Span<'static>> {
    let dim = ui.theme.style(Role::Dim);
    if filter.is_empty() {
        return vec![Span::styled(otherwise, dim)];
    }
    let mut spans = vec![Span::styled(format!("filter: {}", truncate(&clean_line(filter), room / 3)), dim)];
    if is_focused(ui, kind) && ui.prompt.is_none() {
        spans.push(Span::raw("  "));
        spans.extend(keyed(ui, &[Action::Close], " clears"));
    }
    spans
}

/// Draws a pane.
pub fn draw(ui: &Ui, kind: PaneKind, area: Rect, buffer: &mut Buffer, now: i64) {
    if area.is_empty() {
        return;
    }
    draw_made(ui, kind, content(ui, kind, usize::from(area.width), now), area, buffer);
}

fn draw_made(ui: &Ui, kind: PaneKind, made: Content, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width);
    let focused = is_focused(ui, kind);
    let title = ui.theme.style(if focused { Role::Focus } else { Role::Heading });
    let dim = ui.theme.style(Role::Dim);
    let key = match kind {
        PaneKind::Agents => Action::Agents,
        PaneKind::Tools => Action::Tools,
        PaneKind::Policy => Action::Policy,
        PaneKind::Conversations => Action::Conversations,
    };
    let left = vec![
        Span::styled(if focused { "▸" } else { " " }, title),
        Span::styled(made.title, title),
        Span::styled(format!("  {}", ui.keys.first(key)), dim),
    ];
    let mut right = made.right;
    right.push(Span::raw(" "));
    put(buffer, area, 0, &ends(left, right, room));
    // Head and foot give way to the rows when there is little room.
    let inner = usize::from(area.height).saturating_sub(1);
    let head = made.head.len().min(inner / 3);
    let foot = match kind {
        // Of a tree every row counts: its foot has what they leave, and a third of a tall pane.
        PaneKind::Agents => {
            let rows: usize = made.rows.iter().map(|row| row.lines.len()).sum();
            let least = if inner >= TALL { inner / 3 } else { 0 };
            made.foot.len().min((inner - head).saturating_sub(rows).max(least))
        }
        _ => made.foot.len().min((inner - head) / 2),
    };
    let list = inner - head - foot;
    let rows = |y: u16, rows: usize| Rect { y, height: u16::try_from(rows).unwrap_or(0), ..area };
    let head_area = rows(area.y + 1, head);
    // What is nearest to the rows stays.
    put_all(buffer, head_area, made.head.iter().skip(made.head.len() - head));
    let list_area = rows(head_area.bottom(), list);
    let selected = selected(ui, kind).min(made.rows.len().saturating_sub(1));
    let (lines, at) = flatten(&made.rows, selected);
    // What says how many are below stands on the last line, which must not be the selected row's.
    let room_for_rows = if at.end < lines.len() { list.saturating_sub(1) } else { list };
    let first = at.end.saturating_sub(room_for_rows).min(at.start);
    put_all(buffer, list_area, lines.iter().skip(first).copied());
    if focused && !made.rows.is_empty() {
        let main = made.rows.get(selected).map_or(0, |row| row.main);
        mark(buffer, list_area, (at.start + main).saturating_sub(first), ui);
    }
    let hidden = lines.len().saturating_sub(first + list);
    if hidden > 0 && list > 0 {
        let more = vec![Span::styled(format!("{hidden} more below "), dim)];
        put(buffer, list_area, list - 1, &ends(Vec::new(), more, room));
    }
    let foot_area = rows(list_area.bottom(), foot);
    put_all(buffer, foot_area, made.foot.iter().take(foot));
}

/// All lines, and which of them are the selected row's.
fn flatten(rows: &[Row], selected: usize) -> (Vec<&Line<'static>>, std::ops::Range<usize>) {
    let mut lines = Vec::new();
    let mut at = 0..0;
    for (number, row) in rows.iter().enumerate() {
        let start = lines.len();
        lines.extend(row.lines.iter());
        if number == selected {
            at = start..lines.len();
        }
    }
    (lines, at)
}

/// Marks the selected row with a sign and its style: colour is never the only carrier.
fn mark(buffer: &mut Buffer, area: Rect, row: usize, ui: &Ui) {
    let Some(y) = u16::try_from(row).ok().filter(|row| *row < area.height).map(|row| area.y + row) else { return };
    buffer.set_style(Rect { y, height: 1, ..area }, ui.theme.style(Role::Selected));
    buffer.set_string(area.x, y, "›", ui.theme.style(Role::Selected));
}

/// A note in place of rows.
fn note(ui: &Ui, text: &str) -> Row {
    Row::one(Line::styled(format!("  {text}"), ui.theme.style(Role::Dim)))
}
