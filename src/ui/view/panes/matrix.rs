//! F4's second view: which agent stands how to which toolset, a letter each. A row is a toolset, a column an agent; the
//! agent of the selected column is the one that every pane shows.

use ratatui::text::{Line, Span};

use super::group::{Group, legend};
use super::{Content, Row, group, name, note};
use crate::access::{AgentReport, Owner};
use crate::ui::pane::PaneKind;
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, clean_line, truncate, width};
use crate::ui::theme::Role;
use crate::ui::view::paint::{bytes, counted, ends};

/// Columns from which there is room for sentences.
const WIDE: usize = 70;
/// Columns of the longest agent's name that stands above its column.
const NAME: usize = 16;
/// Agents whose names stand as stairs above narrow columns.
const STAIRS: usize = 6;

/// The rows: every installed toolset in the order of the agent that a person talks to, and the core tools where any agent
/// earns one.
pub(super) fn owners(ui: &Ui) -> Vec<Owner> {
    let Some(report) = ui.entry_report() else { return Vec::new() };
    let core = ui.reports.values().any(|report| !report.core.is_empty());
    let toolsets = report.toolsets.iter().map(|row| Owner::Toolset(row.name.clone()));
    toolsets.chain(core.then_some(Owner::Core)).collect()
}

/// How the columns are laid out.
struct Grid<'a> {
    /// The agents in sight.
    agents: Vec<&'a AgentReport>,
    /// Which of them is selected.
    selected: usize,
    /// Columns of the toolsets' names, the mark before them included.
    first: usize,
    /// Columns of each agent; `None`: two, with the names as stairs.
    wide: Option<Vec<usize>>,
}

pub(super) fn content(ui: &Ui, room: usize) -> Content {
    let dim = ui.theme.style(Role::Dim);
    let owners = owners(ui);
    let all = ui.agents();
    let Some(report) = ui.report().filter(|_| !owners.is_empty()) else {
        let rows = vec![note(ui, "nothing reported yet")];
        return Content { title: "matrix".to_owned(), rows, ..Content::default() };
    };
    let at = all.iter().position(|other| other.agent == report.agent).unwrap_or(0);
    let longest = owners.iter().map(|owner| width(&name(owner))).max().unwrap_or(0);
    let first = 2 + longest.min(room * 2 / 5);
    let grid = grid(&all, at, first, room);
    let count = if grid.agents.len() < all.len() {
        let from = at - grid.selected;
        format!("{}-{} of {} agents", from + 1, from + grid.agents.len(), all.len())
    } else {
        String::new()
    };
    let mut made = Content {
        title: "agents and toolsets".to_owned(),
        right: vec![Span::styled(count, dim)],
        head: heading(ui, &grid, room),
        ..Content::default()
    };
    let picked = ui.panes.row(PaneKind::Policy).min(owners.len() - 1);
    made.rows.extend(owners.iter().enumerate().map(|(row, owner)| line(ui, &grid, owner, row == picked)));
    if let Some((owner, cell)) = owners.get(picked).and_then(|owner| Some((owner, group(report, owner)?))) {
        foot(ui, report, owner, cell, room, &mut made.foot);
    }
    made.foot.push(Line::default());
    let legend = legend(room <= WIDE);
    made.foot.extend(legend.iter().map(|line| Line::styled(format!(" {line}"), dim)));
    made
}

fn grid<'a>(all: &[&'a AgentReport], at: usize, first: usize, room: usize) -> Grid<'a> {
    let widths: Vec<_> = all.iter().map(|report| width(&clean_line(report.agent.as_str())).min(NAME) + 2).collect();
    if first + widths.iter().sum::<usize>() <= room {
        return Grid { agents: all.to_vec(), selected: at, first, wide: Some(widths) };
    }
    let page = at / STAIRS * STAIRS;
    let agents = all.iter().skip(page).take(STAIRS).copied().collect();
    Grid { agents, selected: at - page, first, wide: None }
}

/// The agents' names: above their columns, or as stairs that lead down to them.
fn heading(ui: &Ui, grid: &Grid<'_>, room: usize) -> Vec<Line<'static>> {
    let dim = ui.theme.style(Role::Dim);
    let style = |column: usize| ui.theme.style(if column == grid.selected { Role::Heading } else { Role::Dim });
    let names = grid.agents.iter().map(|report| clean_line(report.agent.as_str())).enumerate();
    if let Some(widths) = &grid.wide {
        let mut spans = vec![Span::styled(fit(" toolset", grid.first), dim)];
        for ((column, name), wide) in names.zip(widths) {
            spans.push(Span::raw(" "));
            spans.push(Span::styled(fit(&truncate(&name, wide - 2), wide - 1), style(column)));
        }
        return vec![ends(spans, Vec::new(), room)];
    }
    names
        .map(|(column, name)| {
            let mut spans = vec![Span::raw(" ".repeat(grid.first))];
            spans.extend((0..column).map(|column| Span::styled(" │", style(column))));
            spans.push(Span::styled(format!(" {name}"), style(column)));
            ends(spans, Vec::new(), room)
        })
        .collect()
}

fn line(ui: &Ui, grid: &Grid<'_>, owner: &Owner, picked: bool) -> Row {
    let text = ui.theme.style(Role::Text);
    let mut spans = vec![Span::styled(fit(&format!("  {}", name(owner)), grid.first), text)];
    for (column, report) in grid.agents.iter().enumerate() {
        let cell = group(report, owner);
        // The cell that is selected stands in brackets: colour is never the only carrier.
        let before = match column {
            _ if picked && column == grid.selected => "[",
            _ if picked && column == grid.selected + 1 && grid.wide.is_none() => "]",
            _ => " ",
        };
        spans.push(Span::styled(before, text));
        spans.push(Span::styled(cell.map_or(" ", Group::letter), ui.theme.style(cell.map_or(Role::Dim, Group::role))));
        let last = column + 1 == grid.agents.len();
        let after = if picked && column == grid.selected && (grid.wide.is_some() || last) { "]" } else { "" };
        let fill = grid.wide.as_ref().and_then(|widths| widths.get(column)).map_or(after.len(), |wide| wide - 2);
        spans.push(Span::styled(fit(after, fill), text));
    }
    Row::one(Line::from(spans))
}

/// The selected cell in words.
fn foot(ui: &Ui, report: &AgentReport, owner: &Owner, cell: Group<'_>, room: usize, lines: &mut Vec<Line<'static>>) {
    let dim = ui.theme.style(Role::Dim);
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    lines.push(Line::default());
    let who = format!(" {} and {}", clean_line(report.agent.as_str()), name(owner));
    lines.push(Line::styled(who, ui.theme.style(Role::Heading)));
    wrap.append(&[Span::styled(cell.state_words(), ui.theme.style(Role::Text))], lines);
    let size = match cell.tools() {
        None => "its tools are known once it is built".to_owned(),
        Some(_) => {
            let (tools, asks) =
                cell.counted().fold((0, 0), |(tools, asks), tool| (tools + 1, asks + usize::from(tool.gate.is_some())));
            let asks = match asks {
                0 => "none asks first".to_owned(),
                1 => "1 asks first".to_owned(),
                many => format!("{many} ask first"),
            };
            let size = format!("{}, {}", counted(tools, "tool"), bytes(cell.bytes()));
            if matches!(cell.state(), crate::access::report::ToolsetState::NotAvailable) {
                size
            } else {
                format!("{size}; {asks}")
            }
        }
    };
    wrap.append(&[Span::styled(size, dim)], lines);
    if !report.dropped_defaults.is_empty() {
        let text = match report.dropped_defaults.len() {
            1 => "1 entry of the default pair is no longer gated".to_owned(),
            many => format!("{many} entries of the default pair are no longer gated"),
        };
        wrap.append(&[Span::styled(text, ui.theme.style(Role::Warning))], lines);
    }
}
