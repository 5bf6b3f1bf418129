//! The five answers for a tool of an agent, each with every reason and the place that decided it; and for a whole toolset
//! a line for each of its tools.

use ratatui::text::{Line, Span};

use super::paint::{bytes, ends};
use super::{ledger, panes, parameters};
use crate::access::report::ToolRow;
use crate::access::{AgentReport, Explanation, GateList, Reason, ToolId};
use crate::ui::explaining::{Explaining, Level};
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::Role;

/// The heads of the list, each as wide as its column.
const HEADS: [&str; 5] = ["available", "in context", "next call", "asks   ", "runs now"];
/// Columns between them.
const GAP: usize = 2;
/// Columns of a question and of its answer, before its reasons.
const QUESTION: usize = 21;
const ANSWER: usize = 9;

/// The heading of the view.
pub(super) fn title(view: &Explaining) -> String {
    let what = match (view.level, view.tool()) {
        (Level::Answers { .. }, Some(tool)) => tool.to_string(),
        _ => panes::name(&view.owner),
    };
    format!("{} and {}", clean_line(view.agent.as_str()), clean_line(&what))
}

/// Every line, and which of them is selected.
pub(super) fn lines(ui: &Ui, view: &Explaining, room: usize) -> (Vec<Line<'static>>, Option<usize>) {
    let report = ui.reports.get(&view.agent);
    match (view.level, view.tool()) {
        (Level::Answers { .. }, Some(tool)) => (answers(ui, view, report, tool, room), None),
        _ => list(ui, view, report, room),
    }
}

fn list(ui: &Ui, view: &Explaining, report: Option<&AgentReport>, room: usize) -> (Vec<Line<'static>>, Option<usize>) {
    let dim = ui.theme.style(Role::Dim);
    let mut lines = Vec::new();
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    if let Some(group) = report.and_then(|report| panes::group(report, &view.owner)) {
        wrap.append(&[Span::styled(group.state_words(), ui.theme.style(Role::Text))], &mut lines);
        wrap.append(&[Span::styled(group.description(), dim)], &mut lines);
        lines.push(Line::default());
    }
    if view.tools.is_empty() {
        lines.push(Line::styled(" Its tools are known once it is built, and each is explained then.", dim));
        return (lines, None);
    }
    let heads = HEADS.map(|head| format!("{:GAP$}{head}", "")).concat();
    lines.push(ends(vec![Span::styled("   tool", dim)], vec![Span::styled(format!("{heads} "), dim)], room));
    let first = lines.len();
    for (row, tool) in view.tools.iter().enumerate() {
        let on = row == view.selected;
        let style = |role: Role| ui.theme.style(if on { Role::Selected } else { role });
        let left = vec![
            Span::styled(if on { " › " } else { "   " }, style(Role::Text)),
            Span::styled(clean_line(tool.name.as_str()), style(Role::Tool)),
        ];
        let cells = view.answers.get(tool).map_or([("…", Role::Dim); 5], summary);
        let mut right: Vec<_> = cells
            .into_iter()
            .zip(HEADS)
            .map(|((word, role), head)| Span::styled(format!("{:GAP$}{}", "", fit(word, head.len())), style(role)))
            .collect();
        right.push(Span::styled(" ", style(Role::Text)));
        let mut line = ends(left, right, room);
        if on {
            line.spans.iter_mut().for_each(|span| span.style = ui.theme.style(Role::Selected));
        }
        lines.push(line);
    }
    (lines, Some(first + view.selected))
}

fn yes_no(yes: bool) -> (&'static str, Role) {
    if yes { ("yes", Role::Text) } else { ("no", Role::Warning) }
}

fn gate(list: Option<GateList>) -> (&'static str, Role) {
    match list {
        None => ("no", Role::Text),
        Some(GateList::Confirm) => ("confirm", Role::Decision),
        Some(GateList::Review) => ("review", Role::Decision),
    }
}

/// The five answers, a word each.
fn summary(explanation: &Explanation) -> [(&'static str, Role); 5] {
    [
        yes_no(explanation.available.yes),
        yes_no(explanation.held.yes),
        yes_no(explanation.offered.yes),
        gate(explanation.approval.list),
        yes_no(explanation.dispatched.yes),
    ]
}

fn answers(ui: &Ui, view: &Explaining, report: Option<&AgentReport>, tool: &ToolId, room: usize) -> Vec<Line<'static>> {
    let dim = ui.theme.style(Role::Dim);
    let mut lines = Vec::new();
    let Some(explanation) = view.answers.get(tool) else {
        lines.push(Line::styled(" …", dim));
        return lines;
    };
    let [available, held, offered, gated, runs] = summary(explanation);
    let questions: [(&str, (&str, Role), &[Reason]); 5] = [
        ("1 available", available, &explanation.available.reasons),
        ("2 in its context", held, &explanation.held.reasons),
        ("3 in the next call", offered, &explanation.offered.reasons),
        ("4 asks first", gated, &explanation.approval.reasons),
        ("5 runs now", runs, &explanation.dispatched.reasons),
    ];
    let outcome = format!(" A call {}.", explanation.outcome);
    lines.push(Line::styled(outcome, ui.theme.style(Role::Text)));
    lines.push(Line::default());
    let asks = explanation.approval.list.is_some() && explanation.dispatched.yes;
    for (question, (word, role), reasons) in questions {
        let answer = [
            Span::styled(fit(&format!(" {question}"), QUESTION), ui.theme.style(Role::Heading)),
            Span::styled(fit(word, ANSWER), ui.theme.style(role)),
        ];
        let mut reasons: Vec<String> = reasons.iter().map(|reason| clean_line(&reason.to_string())).collect();
        if asks && question.starts_with('5') {
            reasons.push("once it is allowed: see 4".to_owned());
        }
        // A line that goes on stands further in than one that begins.
        let begins = [Span::raw(" ".repeat(QUESTION + ANSWER))];
        let goes_on = [Span::raw(" ".repeat(QUESTION + ANSWER + 2))];
        for (number, reason) in reasons.into_iter().enumerate() {
            let first: &[Span<'static>] = if number == 0 { &answer } else { &begins };
            let wrap = Wrap::words(room.saturating_sub(1)).indented(first, &goes_on);
            wrap.append(&[Span::styled(reason, ui.theme.style(Role::Text))], &mut lines);
        }
    }
    if let Some(row) = row(ui, report, tool) {
        lines.push(Line::default());
        let facts = format!(" {} · its definition is {}", ledger::risk_word(row.risk), bytes(row.bytes));
        lines.push(Line::styled(facts, dim));
        lines.push(Line::styled(" arguments", ui.theme.style(Role::Heading)));
        parameters::lines(ui, &row.schema, room, &mut lines);
    }
    lines.push(Line::default());
    lines.push(Line::styled(" Lines are those of config.toml as it was read at the start.", dim));
    lines
}

/// What is known of `tool`: as this agent has it, else as any other has.
fn row<'a>(ui: &'a Ui, report: Option<&'a AgentReport>, tool: &ToolId) -> Option<&'a ToolRow> {
    let groups = report.into_iter().chain(ui.reports.values()).filter_map(|report| panes::group(report, &tool.owner));
    groups.flat_map(|group| group.tools().unwrap_or_default()).find(|row| row.name == tool.name)
}
