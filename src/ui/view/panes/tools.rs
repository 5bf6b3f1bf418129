//! F3: every installed toolset with its state for the agent, in the order the model sees them, and what each call carried.

use std::cmp::Reverse;

use ratatui::text::{Line, Span};

use super::group::Group;
use super::{Content, Row, note};
use crate::access::held::Arrival;
use crate::access::offer::RowState;
use crate::access::policy::GateList;
use crate::access::report::{ToolRow, ToolsetRow, ToolsetState};
use crate::access::{Ledger, Owner, ToolId};
use crate::ui::pane::{PaneKind, ToolSort};
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::Role;
use crate::ui::tree::ModelCall;
use crate::ui::view::ledger::risk_word;
use crate::ui::view::paint::{bytes, bytes_short, counted, ends};

/// Calls in the bar chart.
const BARS: usize = 6;
/// Columns from which descriptions and the bytes of single tools are shown.
const WIDE: usize = 70;

/// One selectable row: a group, or a tool of an opened one.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Whose row, or whose tool's.
    pub group: Group<'a>,
    /// The tool.
    pub tool: Option<&'a ToolRow>,
}

impl Entry<'_> {
    /// The tool, if it is one.
    pub fn id(&self) -> Option<ToolId> {
        let owner = self.group.toolset().map_or(Owner::Core, |row| Owner::Toolset(row.name.clone()));
        self.tool.map(|tool| ToolId { owner, name: tool.name.clone() })
    }
}

/// The rows, filtered and sorted: available toolsets, the core tools, and what the table does not list.
pub(super) fn rows(ui: &Ui) -> Vec<Entry<'_>> {
    let Some(report) = ui.report() else { return Vec::new() };
    let filter = ui.panes.tool_filter.to_lowercase();
    let listed = |row: &&ToolsetRow| row.state != ToolsetState::NotAvailable;
    let first = report.toolsets.iter().filter(listed).map(Group::Toolset);
    let core = (!report.core.is_empty()).then_some(Group::Core(&report.core));
    let last = report.toolsets.iter().filter(|row| !listed(row)).map(Group::Toolset);
    let mut groups: Vec<_> = first.chain(core).chain(last).filter(|group| group.matches(&filter)).collect();
    if ui.panes.tool_sort == ToolSort::Bytes {
        groups.sort_by_key(|group| Reverse(group.bytes()));
    }
    let opened = |key: &str| ui.panes.expanded.contains(key);
    let mut rows = Vec::with_capacity(groups.len());
    for group in groups {
        rows.push(Entry { group, tool: None });
        let tools = group.tools().filter(|_| opened(group.name())).unwrap_or_default();
        rows.extend(tools.iter().map(|tool| Entry { group, tool: Some(tool) }));
    }
    rows
}

pub(super) fn content(ui: &Ui, room: usize) -> Content {
    let dim = ui.theme.style(Role::Dim);
    let Some(report) = ui.report() else {
        return Content {
            title: "tools".to_owned(),
            rows: vec![note(ui, "nothing reported yet")],
            ..Content::default()
        };
    };
    // What its calls carried is known of the agent in view alone.
    let calls = ui.entry_report().is_some_and(|entry| entry.agent == report.agent);
    let (tools, block) = report.offered;
    let sum = if room > WIDE {
        format!("a call now carries {}, {}", counted(tools, "tool"), bytes(block))
    } else {
        format!("{tools}, {}", bytes(block))
    };
    let by_bytes = ui.panes.tool_sort == ToolSort::Bytes;
    let mut made = Content {
        title: format!(
            "tools of {}{}",
            clean_line(report.agent.as_str()),
            if by_bytes && room > WIDE { ", by bytes" } else { "" }
        ),
        right: super::heading_end(ui, PaneKind::Tools, &ui.panes.tool_filter, sum, room),
        ..Content::default()
    };
    let heads = ends(
        vec![Span::styled("     toolset", dim)],
        vec![Span::styled(
            format!("{:>5} {:>6} {:>4} ", "tools", if by_bytes { "bytes▾" } else { "bytes" }, "asks"),
            dim,
        )],
        room,
    );
    made.rows.extend(rows(ui).iter().map(|entry| match entry.tool {
        None => group(ui, entry.group, room),
        Some(tool) => tool_row(ui, entry.group, tool, room),
    }));
    if made.rows.is_empty() {
        made.rows.push(note(ui, "nothing matches the filter"));
    } else {
        made.head.push(heads);
    }
    if let Some(Entry { group, .. }) = super::selected_tools_row(ui) {
        made.foot.push(Line::default());
        let indent = [Span::raw(" ")];
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        let mut text = vec![Span::styled(group.state_words(), ui.theme.style(Role::Text))];
        wrap.append(&text, &mut made.foot);
        text = vec![Span::styled(group.description(), dim)];
        wrap.append(&text, &mut made.foot);
    }
    made.foot.push(Line::default());
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    wrap.append(
        &[Span::styled("R resident  L loaded  - loadable  ! failed  ? not now  · not listed", dim)],
        &mut made.foot,
    );
    if calls {
        chart(ui, room, &mut made.foot);
    }
    made
}

/// The columns of a group. What a call made now carries is counted, so that the rows sum to it; what a load would add has
/// a `+`.
fn columns(group: Group<'_>) -> String {
    let all = match (group.state(), group.tools()) {
        (ToolsetState::NotAvailable | ToolsetState::Off { .. }, _) => return String::new(),
        (ToolsetState::Refused { .. }, _) => return "refused ".to_owned(),
        (ToolsetState::Failed { .. }, None) => return "build failed ".to_owned(),
        (ToolsetState::Loadable, None) => return "known once loaded ".to_owned(),
        (ToolsetState::Resident | ToolsetState::Preloaded | ToolsetState::Loaded, None) => {
            return "known once it runs ".to_owned();
        }
        (_, Some(tools)) => tools.len(),
    };
    let (tools, asks) =
        group.counted().fold((0, 0), |(tools, asks), tool| (tools + 1, asks + usize::from(tool.gate.is_some())));
    let (plus, of) = match (group.is_held(), tools == all) {
        (false, _) => ("+", String::new()),
        (true, true) => ("", String::new()),
        (true, false) => ("", format!("/{all}")),
    };
    let asks = if asks == 0 { String::new() } else { asks.to_string() };
    let tools = format!("{plus}{tools}{of}");
    let size = format!("{plus}{}", bytes_short(group.bytes()));
    format!("{tools:>5} {size:>6} {asks:>4} ")
}

fn group(ui: &Ui, group: Group<'_>, room: usize) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let held = group.is_held();
    let name = clean_line(group.name());
    let letter = group.letter();
    // The one state that a person made is a word here.
    let word = if letter == "o" { "off" } else { letter };
    let mut left = vec![
        Span::styled(format!(" {}", fit(word, 4)), ui.theme.style(group.role())),
        Span::styled(
            if room > WIDE { fit(&name, 16) } else { name },
            ui.theme.style(if held { Role::Tool } else { Role::Dim }),
        ),
    ];
    if room > WIDE {
        left.push(Span::styled(format!("  {}", group.description()), dim));
    }
    let mut made = Row::one(ends(left, vec![Span::styled(columns(group), dim)], room));
    if ui.panes.expanded.contains(group.name()) && group.tools().is_none() {
        made.lines.push(Line::styled("       its tools are known once it is loaded", dim));
    }
    made
}

fn tool_row(ui: &Ui, group: Group<'_>, tool: &ToolRow, room: usize) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let left = vec![Span::styled(format!("     {}", clean_line(tool.name.as_str())), ui.theme.style(Role::Text))];
    let gate = match tool.gate {
        Some(GateList::Confirm) => "confirm ",
        Some(GateList::Review) => "review ",
        None => "",
    };
    let right = vec![
        Span::styled(gate, ui.theme.style(Role::Decision)),
        Span::styled(format!("{:<7}", risk_word(tool.risk)), dim),
        Span::styled(if room > WIDE { format!("{:>6}      ", bytes_short(tool.bytes)) } else { String::new() }, dim),
    ];
    let mut lines = vec![ends(left, right, room)];
    let indent = [Span::raw("       ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    let mut reason = |text: String| wrap.append(&[Span::styled(text, ui.theme.style(Role::Warning))], &mut lines);
    if let Some(holder) = &tool.shadowed_by {
        reason(format!("shadowed by {}", clean_line(holder)));
    }
    // Why the whole toolset is off stands at the foot, once.
    if let Some(why) = tool.withheld.as_ref().filter(|why| group.off() != Some(why.as_str())) {
        reason(format!("withheld: {}", clean_line(why)));
    }
    Row { lines, main: 0 }
}

/// Resident and loaded bytes of what a call carried.
fn split(ledger: &Ledger) -> (usize, usize) {
    let offered = ledger.tools.iter().filter(|tool| matches!(tool.state, RowState::Offered));
    offered.fold((0, 0), |(resident, loaded), tool| match tool.arrival {
        Arrival::Loaded => (resident, loaded + tool.bytes),
        Arrival::Resident | Arrival::Preloaded | Arrival::Core | Arrival::Skill => (resident + tool.bytes, loaded),
    })
}

fn chart(ui: &Ui, room: usize, lines: &mut Vec<Line<'static>>) {
    let scene = &ui.tree.entry().scene;
    let skip = scene.calls.len().saturating_sub(BARS);
    let calls: Vec<_> = scene.calls.iter().skip(skip).collect();
    let most = calls.iter().map(|call| call.line.tool_bytes).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let dim = ui.theme.style(Role::Dim);
    lines.push(Line::default());
    let left = vec![Span::styled(" bytes per call", ui.theme.style(Role::Heading))];
    lines.push(ends(left, vec![Span::styled("━ resident ┅ loaded ", dim)], room));
    let turn = |call: &ModelCall| format!("turn {}", call.turn);
    let label = calls.iter().map(|call| turn(call).len()).max().unwrap_or(0);
    let bar = room.saturating_sub(label + 6 + 9).min(60);
    // The newest first: where there is little room, the foot is cut at its end.
    let mut turn_before = None;
    for call in calls.into_iter().rev() {
        let (resident, loaded) = call.ledger.as_deref().map_or((call.line.tool_bytes, 0), split);
        let all = resident + loaded;
        let whole = (call.line.tool_bytes * bar / most).max(1);
        let late = if all == 0 { 0 } else { (loaded * whole).div_ceil(all).min(whole) };
        // A call's number begins again with each turn, which is named at the first of its bars.
        let name = if turn_before.replace(call.turn) == Some(call.turn) { String::new() } else { turn(call) };
        let left = vec![
            Span::styled(format!(" {name:<label$}{:>3} ", call.line.number), dim),
            Span::styled("━".repeat(whole - late), ui.theme.style(Role::Tool)),
            Span::styled("┅".repeat(late), ui.theme.style(Role::Changed)),
        ];
        let right = format!("{} ", bytes(call.line.tool_bytes));
        lines.push(ends(left, vec![Span::styled(right, dim)], room));
    }
    let more = counted(scene.calls_dropped + skip, "call");
    if scene.calls_dropped + skip > 0 {
        lines.push(Line::styled(format!(" {more} before"), dim));
    }
}
