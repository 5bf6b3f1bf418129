//! F6: the stored conversations, newest first.

use ratatui::text::Span;

use super::{Content, Row, note};
use crate::agent::update::ConversationSummary;
use crate::ui::pane::PaneKind;
use crate::ui::state::Ui;
use crate::ui::text::clean_line;
use crate::ui::theme::Role;
use crate::ui::view::paint::{age, counted, ends};

/// The rows, filtered by title.
pub(super) fn rows(ui: &Ui) -> Vec<&ConversationSummary> {
    let filter = ui.panes.conversation_filter.to_lowercase();
    ui.conversations.iter().filter(|row| row.title.to_lowercase().contains(&filter)).collect()
}

pub(super) fn content(ui: &Ui, room: usize, now: i64) -> Content {
    let shown = rows(ui);
    let count = shown.len().to_string();
    let right = super::heading_end(ui, PaneKind::Conversations, &ui.panes.conversation_filter, count, room);
    let mut made = Content { title: "conversations".to_owned(), right, ..Content::default() };
    made.rows.extend(shown.iter().map(|row| conversation(ui, row, room, now)));
    if made.rows.is_empty() {
        made.rows
            .push(note(ui, if ui.conversations.is_empty() { "none stored yet" } else { "nothing matches the filter" }));
    }
    made
}

fn conversation(ui: &Ui, row: &ConversationSummary, room: usize, now: i64) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let running = row.current && ui.is_running();
    let sign = match (row.current, running) {
        (_, true) => "» ",
        (true, false) => "* ",
        (false, false) => "  ",
    };
    let title = clean_line(&row.title);
    let title = if title.is_empty() { "(no words yet)".to_owned() } else { title };
    let style = ui.theme.style(if row.current { Role::Strong } else { Role::Text });
    let left = vec![Span::styled(format!("  {sign}"), dim), Span::styled(title, style)];
    let turns = counted(usize::try_from(row.turns).unwrap_or(0), "turn");
    let when = age(now - row.updated);
    let right = if room < 60 { format!("{when} ") } else { format!("{turns:>9}  {when:>6} ") };
    Row::one(ends(left, vec![Span::styled(right, dim)], room))
}
