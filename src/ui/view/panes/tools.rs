//! F3: every installed toolset with its state for the agent, in the order the model sees them, and what each call carried.

use std::cmp::Reverse;

use ratatui::text::{Line, Span};

use super::{Content, Row, note};
use crate::access::Ledger;
use crate::access::explain::{ToolRow, ToolsetRow, ToolsetState};
use crate::access::held::Arrival;
use crate::access::offer::RowState;
use crate::access::policy::GateList;
use crate::ui::pane::ToolSort;
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::Role;
use crate::ui::view::ledger::risk_word;
use crate::ui::view::paint::{bytes, bytes_short, counted, ends};

/// Calls in the bar chart.
const BARS: usize = 6;

/// The rows, filtered and sorted.
pub(super) fn rows(ui: &Ui) -> Vec<&ToolsetRow> {
    let Some(report) = ui.report() else { return Vec::new() };
    let filter = ui.panes.tool_filter.to_lowercase();
    let tool_matches =
        |row: &ToolsetRow| row.tools.iter().flatten().any(|tool| tool.name.as_str().to_lowercase().contains(&filter));
    let mut rows: Vec<_> = report
        .toolsets
        .iter()
        .filter(|row| row.name.as_str().to_lowercase().contains(&filter) || tool_matches(row))
        .collect();
    if ui.panes.tool_sort == ToolSort::Bytes {
        rows.sort_by_key(|row| Reverse(size(row)));
    }
    rows
}

fn size(row: &ToolsetRow) -> usize {
    row.tools.iter().flatten().map(|tool| tool.bytes).sum()
}

fn letter(row: &ToolsetRow) -> &'static str {
    let unavailable = || {
        let tools = row.tools.as_deref().unwrap_or_default();
        !tools.is_empty() && tools.iter().all(|tool| tool.withheld.is_some())
    };
    match row.state {
        ToolsetState::Resident | ToolsetState::Preloaded | ToolsetState::Loaded if unavailable() => "?",
        ToolsetState::Resident | ToolsetState::Preloaded => "R",
        ToolsetState::Loaded => "L",
        ToolsetState::Loadable => "-",
        ToolsetState::Failed { .. } | ToolsetState::Refused { .. } => "!",
        ToolsetState::Off { .. } => "off",
        ToolsetState::NotAvailable => "·",
    }
}

/// The state in words, with its reason.
fn state_words(row: &ToolsetRow) -> String {
    match &row.state {
        ToolsetState::Resident => "resident".to_owned(),
        ToolsetState::Preloaded => "resident: this conversation loaded it before".to_owned(),
        ToolsetState::Loaded => "loaded".to_owned(),
        ToolsetState::Loadable => "loadable: the model can load it".to_owned(),
        ToolsetState::Failed { error } => format!("the last build failed: {}", clean_line(error)),
        ToolsetState::Refused { entry } => format!("refused: {}", clean_line(entry)),
        ToolsetState::Off { reason } => format!("off: {}", clean_line(reason)),
        ToolsetState::NotAvailable => "not available: the agent's table does not list it".to_owned(),
    }
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
    // What its calls carry is known of the agent in view; of another, what it starts with.
    let calls = ui.entry_report().is_some_and(|entry| entry.agent == report.agent);
    let (tools, block) = match ui.calls.back() {
        Some(call) if calls => (call.line.tools, call.line.tool_bytes),
        _ => report.start_tools,
    };
    let shown = rows(ui);
    let mut made = Content {
        title: format!("tools of {}", clean_line(report.agent.as_str())),
        right: format!("{tools}, {}", bytes(block)),
        ..Content::default()
    };
    let heads = ends(
        vec![Span::styled("     toolset", dim)],
        vec![Span::styled(format!("{:>5} {:>6} {:>4} ", "tools", "bytes", "asks"), dim)],
        room,
    );
    made.rows.extend(shown.iter().map(|row| toolset(ui, row, room)));
    match made.rows.first_mut() {
        Some(first) => {
            first.lines.insert(0, heads);
            first.main += 1;
        }
        None => made.rows.push(note(ui, "nothing matches the filter")),
    }
    if !ui.panes.tool_filter.is_empty() {
        made.right = format!("filter: {}", clean_line(&ui.panes.tool_filter));
    }
    if let Some(row) = super::selected_toolset(ui) {
        made.foot.push(Line::default());
        let indent = [Span::raw(" ")];
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        let mut text = vec![Span::styled(state_words(row), ui.theme.style(Role::Text))];
        wrap.append(&text, &mut made.foot);
        text = vec![Span::styled(clean_line(&row.description), dim)];
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

fn toolset(ui: &Ui, row: &ToolsetRow, room: usize) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let held = super::is_held(&row.state);
    let name = clean_line(row.name.as_str());
    let letter = letter(row);
    let style = match letter {
        "!" => Role::Error,
        "off" | "?" => Role::Warning,
        _ if held => Role::Text,
        _ => Role::Dim,
    };
    let mut left = vec![
        Span::styled(format!(" {}", fit(letter, 4)), ui.theme.style(style)),
        Span::styled(
            if room > 70 { fit(&name, 16) } else { name },
            ui.theme.style(if held { Role::Tool } else { Role::Dim }),
        ),
    ];
    if room > 70 {
        left.push(Span::styled(format!("  {}", clean_line(&row.description)), dim));
    }
    let right = match &row.tools {
        Some(tools) => {
            let asks = tools.iter().filter(|tool| tool.gate.is_some()).count();
            let asks = if asks == 0 { String::new() } else { asks.to_string() };
            format!("{:>5} {:>6} {asks:>4} ", tools.len(), bytes_short(size(row)))
        }
        None if matches!(row.state, ToolsetState::NotAvailable | ToolsetState::Off { .. }) => String::new(),
        None => "not built yet ".to_owned(),
    };
    let mut made = Row::one(ends(left, vec![Span::styled(right, dim)], room));
    if ui.panes.expanded.contains(row.name.as_str()) {
        match row.tools.as_deref() {
            None => made.lines.push(Line::styled("       its tools are known once it is built", dim)),
            Some(tools) => tools.iter().for_each(|tool| tool_lines(ui, tool, room, &mut made.lines)),
        }
    }
    made
}

fn tool_lines(ui: &Ui, tool: &ToolRow, room: usize, lines: &mut Vec<Line<'static>>) {
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
        Span::styled(if room > 70 { format!("{:>6}      ", bytes_short(tool.bytes)) } else { String::new() }, dim),
    ];
    lines.push(ends(left, right, room));
    let indent = [Span::raw("       ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    let mut reason = |text: String| wrap.append(&[Span::styled(text, ui.theme.style(Role::Warning))], lines);
    if let Some(holder) = &tool.shadowed_by {
        reason(format!("shadowed by {}", clean_line(holder)));
    }
    if let Some(why) = &tool.withheld {
        reason(format!("withheld: {}", clean_line(why)));
    }
}

/// Resident and loaded bytes of what a call carried.
fn split(ledger: &Ledger) -> (usize, usize) {
    let offered = ledger.tools.iter().filter(|tool| matches!(tool.state, RowState::Offered));
    offered.fold((0, 0), |(resident, loaded), tool| match tool.arrival {
        Arrival::Loaded => (resident, loaded + tool.bytes),
        Arrival::Resident | Arrival::Preloaded | Arrival::Core => (resident + tool.bytes, loaded),
    })
}

fn chart(ui: &Ui, room: usize, lines: &mut Vec<Line<'static>>) {
    let skip = ui.calls.len().saturating_sub(BARS);
    let calls: Vec<_> = ui.calls.iter().skip(skip).collect();
    let most = calls.iter().map(|call| call.line.tool_bytes).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let dim = ui.theme.style(Role::Dim);
    lines.push(Line::default());
    let left = vec![Span::styled(" bytes per call", ui.theme.style(Role::Heading))];
    lines.push(ends(left, vec![Span::styled("━ resident ┅ loaded ", dim)], room));
    let bar = room.saturating_sub(6 + 9).min(60);
    // The newest first: where there is little room, the foot is cut at its end.
    for call in calls.into_iter().rev() {
        let (resident, loaded) = call.ledger.as_deref().map_or((call.line.tool_bytes, 0), split);
        let all = resident + loaded;
        let whole = (call.line.tool_bytes * bar / most).max(1);
        let late = if all == 0 { 0 } else { (loaded * whole).div_ceil(all).min(whole) };
        let left = vec![
            Span::styled(format!(" {:>3} ", call.line.number), dim),
            Span::styled("━".repeat(whole - late), ui.theme.style(Role::Tool)),
            Span::styled("┅".repeat(late), ui.theme.style(Role::Changed)),
        ];
        let right = format!("{} ", bytes(call.line.tool_bytes));
        lines.push(ends(left, vec![Span::styled(right, dim)], room));
    }
    let more = counted(ui.calls_dropped + skip, "call");
    if ui.calls_dropped + skip > 0 {
        lines.push(Line::styled(format!("     {more} before"), dim));
    }
}
