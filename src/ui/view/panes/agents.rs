//! F2: the agents of the turn. For now that is the entry agent alone.

use ratatui::text::{Line, Span};

use super::{Content, Row, note};
use crate::ui::state::Ui;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::Role;
use crate::ui::transcript::tokens;
use crate::ui::view::paint::{clock, counted, ends};

pub(super) fn content(ui: &Ui, room: usize, now: i64) -> Content {
    let mut made = Content { title: "agents".to_owned(), ..Content::default() };
    let Some(session) = &ui.session else {
        made.rows.push(note(ui, "none yet"));
        return made;
    };
    let dim = ui.theme.style(Role::Dim);
    let text = ui.theme.style(Role::Text);
    let (state, role) = match (&ui.turn, ui.inbox.len()) {
        (None, _) => ("idle".to_owned(), Role::Dim),
        (Some(_), 0) => ("running".to_owned(), Role::Ok),
        (Some(_), asks) => (format!("ASKS {asks}"), Role::Decision),
    };
    let left =
        vec![Span::styled("  * ", dim), Span::styled(clean_line(session.agent.as_str()), ui.theme.style(Role::Agent))];
    let right = vec![Span::styled(state, ui.theme.style(role)), Span::raw(" ")];
    let mut lines = vec![ends(left, right, room)];
    let mut fact = |words: String| lines.push(Line::styled(format!("    {words}"), text));
    fact(clean_line(&session.model));
    if let Some(turn) = &ui.turn {
        let call = if turn.call > 0 { format!("call {} · ", turn.call) } else { String::new() };
        fact(format!("{call}{}", clock(now - turn.since)));
    }
    if let Some((tools, _)) = ui.carries() {
        fact(counted(tools, "tool"));
    }
    let spent = |of: fn(&crate::agent::Usage) -> Option<u64>| -> Option<u64> {
        let known: Vec<u64> = ui.calls.iter().filter_map(|call| call.usage.as_ref().and_then(of)).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
    if let (Some(input), Some(output)) = (spent(|usage| usage.input), spent(|usage| usage.output)) {
        fact(format!("in {} · out {} tokens so far", tokens(input), tokens(output)));
    }
    if let Some(report) = ui.entry_report().filter(|report| !report.description.is_empty()) {
        let indent = [Span::raw("    ")];
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        wrap.append(&[Span::styled(clean_line(&report.description), dim)], &mut lines);
    }
    made.rows.push(Row { lines, main: 0 });
    made
}
