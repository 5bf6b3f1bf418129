//! The ledger of one model call: every tool that was in it, was held back, or could be loaded, with its one reason and
//! what it costs (O9).

use std::fmt::Write as _;

use ratatui::text::{Line, Span};

use super::paint::{bytes, bytes_short, counted, ends};
use crate::access::held::Arrival;
use crate::access::offer::{LedgerTool, RowState};
use crate::access::{Ledger, Risk};
use crate::ui::state::{ModelCall, Ui};
use crate::ui::text::clean_line;
use crate::ui::theme::{Role, Theme};

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

/// Every row.
pub(super) fn lines(ui: &Ui, call: &ModelCall, room: usize) -> Vec<Line<'static>> {
    let theme = &ui.theme;
    let Some(ledger) = &call.ledger else {
        return vec![Line::styled(" the ledger of this call is not kept", theme.style(Role::Dim))];
    };
    let mut lines = Vec::new();
    let (offered, withheld): (Vec<_>, Vec<_>) =
        ledger.tools.iter().partition(|tool| matches!(tool.state, RowState::Offered));
    let sum = |tools: &[&LedgerTool]| tools.iter().map(|tool| tool.bytes).sum::<usize>();
    let heading = |text: &str, right: String| {
        let left = vec![Span::styled(format!(" {text}"), theme.style(Role::Heading))];
        ends(left, vec![Span::styled(right, theme.style(Role::Dim)), Span::raw(" ")], room)
    };
    lines.push(heading("in this call", format!("{}, {}", counted(offered.len(), "tool"), bytes(sum(&offered)))));
    lines.extend(offered.iter().map(|tool| tool_line(tool, room, theme)));
    if !withheld.is_empty() {
        lines.push(Line::default());
        let right = format!("{}, {}", counted(withheld.len(), "tool"), bytes(sum(&withheld)));
        lines.push(heading("held, not in this call", right));
        lines.extend(withheld.iter().map(|tool| tool_line(tool, room, theme)));
    }
    if !ledger.deferred.is_empty() {
        lines.push(Line::default());
        lines.push(heading("not held", deferred_cost(ledger)));
        deferred(ledger, room, theme, &mut lines);
    }
    lines
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
    for row in &ledger.deferred {
        let left = vec![
            Span::styled("  · ", dim),
            Span::styled(clean_line(row.toolset.as_str()), theme.style(Role::Tool)),
            Span::styled(format!("  {}", clean_line(&row.withheld.reason)), dim),
        ];
        let right = match &row.last_build {
            Some((names, size)) => format!("would add {}, {} ", counted(names.len(), "tool"), bytes(*size)),
            None => "not built yet ".to_owned(),
        };
        lines.push(ends(left, vec![Span::styled(right, dim)], room));
        if let Some((names, _)) = &row.last_build {
            let names = names.iter().map(|name| clean_line(name.as_str())).collect::<Vec<_>>().join(", ");
            let indent = [Span::raw("      ")];
            let wrap = crate::ui::text::Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
            wrap.append(&[Span::styled(names, dim)], lines);
        }
    }
}

fn deferred_cost(ledger: &Ledger) -> String {
    let known: usize = ledger.deferred.iter().filter_map(|row| row.last_build.as_ref()).map(|(_, size)| size).sum();
    let unknown = ledger.deferred.iter().filter(|row| row.last_build.is_none()).count();
    let mut text = counted(ledger.deferred.len(), "toolset");
    if known > 0 {
        let _ = write!(text, ", {} as last built", bytes(known));
    }
    if unknown > 0 {
        let _ = write!(text, ", {unknown} not built yet");
    }
    text
}
