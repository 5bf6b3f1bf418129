//! F6: the stored conversations, newest first, and what goes on in each.

use ratatui::text::Span;

use super::{Content, Row, note};
use crate::agent::update::{Activity, ConversationSummary};
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

/// `* ● build tidy              running  now`: the one in view, a letter or sign and a word for what goes on in it, its age.
fn conversation(ui: &Ui, row: &ConversationSummary, room: usize, now: i64) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let asks = ui.inbox.of(&row.id).count();
    let (sign, word, role) = match ui.activity(row) {
        Activity::Running => ("●", "running".to_owned(), Role::Ok),
        Activity::Asking if asks > 0 => ("A", counted(asks, "ask"), Role::Decision),
        Activity::Asking => ("A", "asks".to_owned(), Role::Decision),
        Activity::Idle if row.unread && !row.current => ("U", "unread".to_owned(), Role::Changed),
        Activity::Idle => (" ", String::new(), Role::Dim),
    };
    let title = clean_line(&row.title);
    let title = if title.is_empty() { "(no words yet)".to_owned() } else { title };
    let style = ui.theme.style(if row.current { Role::Strong } else { Role::Text });
    let current = if row.current { "*" } else { " " };
    let marked = ui.theme.style(role);
    let left = vec![
        Span::styled(format!("  {current}"), dim),
        Span::styled(sign, marked),
        Span::styled(format!(" {title}"), style),
    ];
    let turns = counted(usize::try_from(row.turns).unwrap_or(0), "turn");
    let when = age(now - row.updated);
    let when = if room < 60 { format!(" {when} ") } else { format!("  {turns:>9}  {when:>6} ") };
    Row::one(ends(left, vec![Span::styled(word, marked), Span::styled(when, dim)], room))
}
