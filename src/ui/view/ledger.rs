//! The ledger of one model call (O9): what each toolset costs or would cost, and every tool that was in the call, was held
//! back, or could be loaded, with its one reason.

use std::cmp::Reverse;
use std::collections::HashMap;

use ratatui::text::{Line, Span};

use super::paint::{bytes, bytes_short, counted, ends};
use super::panes;
use crate::access::held::Arrival;
use crate::access::offer::{LedgerTool, RowState};
use crate::access::{Ledger, Owner, Risk};
use crate::ui::state::Ui;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::{Role, Theme};
use crate::ui::tree::ModelCall;

/// A risk's word.
pub(super) fn risk_word(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "read",
        Risk::Write => "write",
        Risk::Exec => "exec",
        Risk::Network => "network",
    }
}

fn arrival_word(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Resident => "resident",
        Arrival::Preloaded => "preloaded",
        Arrival::Core => "core",
        Arrival::Skill => "skill",
        Arrival::Loaded => "loaded",
    }
}

/// The heading of the view.
pub(super) fn title(call: &ModelCall) -> String {
    let offered = counted(call.line.tools, "tool");
    format!("ledger of call {} · {offered} · {}", call.line.number, bytes(call.line.tool_bytes))
}

/// Every row: the sums, what each toolset costs or would cost, then the tools.
pub(super) fn lines(ui: &Ui, call: &ModelCall, room: usize) -> Vec<Line<'static>> {
    let theme = &ui.theme;
    let Some(ledger) = &call.ledger else {
        return vec![Line::styled(" the ledger of this call is not kept", theme.style(Role::Dim))];
    };
    let (offered, withheld): (Vec<_>, Vec<_>) = ledger.tools.iter().partition(|tool| is_offered(tool));
    let mut lines = Vec::new();
    sums(ledger, &offered, &withheld, room, theme, &mut lines);
    if !ledger.tools.is_empty() {
        lines.push(Line::default());
        lines.push(heading("held, the largest first", "switching it off would save".to_owned(), room, theme));
        lines.extend(held(ledger).iter().map(|cost| held_line(cost, room, theme)));
    }
    if !ledger.deferred.is_empty() {
        lines.push(Line::default());
        lines.push(heading(
            "deferred, the largest first",
            "loading it would add, as last built".to_owned(),
            room,
            theme,
        ));
        deferred(ledger, room, theme, &mut lines);
    }
    for (text, tools) in [("in this call", offered), ("held, not in this call", withheld)] {
        if !tools.is_empty() {
            lines.push(Line::default());
            lines.push(heading(text, format!("{}, {}", counted(tools.len(), "tool"), bytes(sum(&tools))), room, theme));
            lines.extend(tools.iter().map(|tool| tool_line(tool, room, theme)));
        }
    }
    lines
}

fn heading(text: &str, right: String, room: usize, theme: &Theme) -> Line<'static> {
    let left = vec![Span::styled(format!(" {text}"), theme.style(Role::Heading))];
    ends(left, vec![Span::styled(right, theme.style(Role::Dim)), Span::raw(" ")], room)
}

fn is_offered(tool: &LedgerTool) -> bool {
    matches!(tool.state, RowState::Offered)
}

fn sum(tools: &[&LedgerTool]) -> usize {
    tools.iter().map(|tool| tool.bytes).sum()
}

/// `held 10, 6.0k  offered 9, 5.2k  withheld 1, 733  deferred 2 toolsets, 900`.
fn sums(
    ledger: &Ledger,
    offered: &[&LedgerTool],
    withheld: &[&LedgerTool],
    room: usize,
    theme: &Theme,
    lines: &mut Vec<Line<'static>>,
) {
    let all = sum(offered) + sum(withheld);
    let known: usize = ledger.deferred.iter().filter_map(|row| row.last_build.as_ref()).map(|(_, size)| size).sum();
    let parts = [
        ("held", format!("{}, {}", ledger.tools.len(), bytes_short(all))),
        ("offered", format!("{}, {}", offered.len(), bytes_short(sum(offered)))),
        ("withheld", format!("{}, {}", withheld.len(), bytes_short(sum(withheld)))),
        ("deferred", format!("{}, {}", counted(ledger.deferred.len(), "toolset"), bytes_short(known))),
    ];
    let mut spans = Vec::new();
    for (word, numbers) in parts {
        spans
            .push(Span::styled(format!("{}{word} ", if spans.is_empty() { "" } else { "  " }), theme.style(Role::Dim)));
        spans.push(Span::styled(numbers, theme.style(Role::Text)));
    }
    let indent = [Span::raw(" ")];
    Wrap::words(room.saturating_sub(1)).indented(&indent, &indent).append(&spans, lines);
}

/// What one owner's tools cost in this call.
struct Cost<'a> {
    owner: &'a Owner,
    arrival: Arrival,
    /// Tools in this call, and all that are held.
    tools: (usize, usize),
    /// Bytes in this call.
    bytes: usize,
}

/// Of every owner that holds something, the largest first; core tools, which stay whatever is switched, last (O8).
fn held(ledger: &Ledger) -> Vec<Cost<'_>> {
    let mut places: HashMap<&Owner, usize> = HashMap::new();
    let mut costs: Vec<Cost<'_>> = Vec::new();
    for tool in &ledger.tools {
        let owner = &tool.tool.owner;
        let place = *places.entry(owner).or_insert_with(|| {
            costs.push(Cost { owner, arrival: tool.arrival, tools: (0, 0), bytes: 0 });
            costs.len() - 1
        });
        let Some(cost) = costs.get_mut(place) else { continue };
        cost.tools.1 += 1;
        if is_offered(tool) {
            cost.tools.0 += 1;
            cost.bytes += tool.bytes;
        }
    }
    costs.sort_by_key(|cost| (*cost.owner == Owner::Core, Reverse(cost.bytes)));
    costs
}

fn held_line(cost: &Cost<'_>, room: usize, theme: &Theme) -> Line<'static> {
    let dim = theme.style(Role::Dim);
    let mut left = vec![Span::raw("    "), Span::styled(panes::name(cost.owner), theme.style(Role::Tool))];
    let (now, all) = cost.tools;
    let tools = if now == all { counted(all, "tool") } else { format!("{now} of {}", counted(all, "tool")) };
    let size = if *cost.owner == Owner::Core {
        left.push(Span::styled(format!("  {}", bytes(cost.bytes)), dim));
        "no switch".to_owned()
    } else {
        bytes(cost.bytes)
    };
    let right = format!("{:<9}  {tools:>13}  {size:>11} ", arrival_word(cost.arrival));
    ends(left, vec![Span::styled(right, dim)], room)
}

fn tool_line(tool: &LedgerTool, room: usize, theme: &Theme) -> Line<'static> {
    let dim = theme.style(Role::Dim);
    let (sign, reason) = match &tool.state {
        RowState::Offered => ("+", None),
        RowState::Withheld(withheld) => ("-", Some(clean_line(&withheld.reason))),
    };
    let mut left = vec![
        Span::styled(format!("  {sign} "), dim),
        Span::styled(clean_line(&tool.tool.to_string()), theme.style(Role::Tool)),
    ];
    if let Some(reason) = reason {
        left.push(Span::styled(format!("  {reason}"), theme.style(Role::Warning)));
    }
    let arrival = arrival_word(tool.arrival);
    let right = format!("{arrival:<9}  {:<7} {:>7} ", risk_word(tool.risk), bytes_short(tool.bytes));
    ends(left, vec![Span::styled(right, dim)], room)
}

fn deferred(ledger: &Ledger, room: usize, theme: &Theme, lines: &mut Vec<Line<'static>>) {
    let dim = theme.style(Role::Dim);
    let mut rows: Vec<_> = ledger.deferred.iter().collect();
    // Of what was never built nothing is known, so it stands last.
    rows.sort_by_key(|row| Reverse(row.last_build.as_ref().map(|(_, size)| *size)));
    for row in rows {
        let left = vec![
            Span::raw("    "),
            Span::styled(clean_line(row.toolset.as_str()), theme.style(Role::Tool)),
            Span::styled(format!("  {}", clean_line(&row.withheld.reason)), dim),
        ];
        let right = match &row.last_build {
            Some((names, size)) => {
                format!("{:>13}  {:>11} ", counted(names.len(), "tool"), format!("+{}", bytes(*size)))
            }
            None => "not built yet ".to_owned(),
        };
        lines.push(ends(left, vec![Span::styled(right, dim)], room));
        if let Some((names, _)) = &row.last_build {
            let names = names.iter().map(|name| clean_line(name.as_str())).collect::<Vec<_>>().join(", ");
            let indent = [Span::raw("      ")];
            let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
            wrap.append(&[Span::styled(names, dim)], lines);
        }
    }
}
