//! The alert strip: what a person should know outside of any answer, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{columns, ends, keyed, put};
use crate::agent::update::{Alert, Severity};
use crate::ui::action::Action;
use crate::ui::state::Ui;
use crate::ui::text::{Wrap, clean_line};
use crate::ui::theme::{Role, Theme};

/// Rows of the strip at most.
const ROWS: usize = 4;
/// Columns at the end of the last row that words leave to `12 more  Esc: put away`.
const RIGHT: usize = 24;

/// An alert, wrapped.
fn lines(alert: &Alert, room: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (word, role) = match alert.severity {
        Severity::Notice => ("note", Role::Dim),
        Severity::Warning => ("warning", Role::Warning),
    };
    let first = [Span::styled(format!(" {word}: "), theme.style(role))];
    let rest = [Span::raw(" ".repeat(columns(&first)))];
    let message = clean_line(&alert.message);
    let words = match &alert.hint {
        None => vec![Span::styled(message, theme.style(Role::Text))],
        Some(hint) => vec![
            Span::styled(format!("{} ", sentence(&message)), theme.style(Role::Text)),
            Span::styled(capital(&clean_line(hint)), theme.style(Role::Dim)),
        ],
    };
    Wrap::words(room.saturating_sub(1)).indented(&first, &rest).lines(&words)
}

/// `message` with an end that another sentence can follow.
fn sentence(message: &str) -> String {
    let message = message.trim_end();
    let ends = ['.', '!', '?', '…', '。', '！', '？'];
    // A quotation or a bracket may have the full stop inside.
    let inner = message.trim_end_matches(['"', '\'', '`', ')', '”', '’']);
    if inner.ends_with(ends) { message.to_owned() } else { format!("{message}.") }
}

/// `hint` as a sentence: a plain first word has a capital, but for the name of this program.
fn capital(hint: &str) -> String {
    let word = hint.split(' ').next().unwrap_or_default();
    let plain = word != "kokua" && word.trim_end_matches(',').chars().all(|c| c.is_ascii_lowercase());
    match hint.split_at_checked(1) {
        Some((first, rest)) if plain => first.to_uppercase() + rest,
        _ => hint.to_owned(),
    }
}

/// The rows to draw in `room` columns, and how many alerts are not among them.
fn strip(ui: &Ui, room: usize, now: i64) -> (Vec<Line<'static>>, usize) {
    let mut rows: Vec<Line<'static>> = Vec::new();
    let mut left_out = 0;
    for alert in ui.shown_alerts(now) {
        let lines = lines(alert, room, &ui.theme);
        // The newest is shown as far as it goes; the ones before it only whole.
        if rows.is_empty() || rows.len() + lines.len() <= ROWS {
            rows.extend(lines.into_iter().take(ROWS));
        } else {
            left_out += 1;
        }
    }
    if rows.len() < ROWS && rows.last().is_some_and(|line| columns(&line.spans) + RIGHT > room) {
        rows.push(Line::default());
    }
    (rows, left_out)
}

/// Rows that the strip wants at `room` columns.
pub(in crate::ui) fn rows(ui: &Ui, room: usize, now: i64) -> u16 {
    u16::try_from(strip(ui, room, now).0.len()).unwrap_or(u16::MAX)
}

/// Draws as many as fit, and how many more there are.
pub(super) fn draw(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    let room = usize::from(area.width);
    let (lines, more) = strip(ui, room, now);
    let last = lines.len().min(usize::from(area.height));
    for (row, line) in lines.into_iter().take(last).enumerate() {
        let mut right = Vec::new();
        if row + 1 == last {
            if more > 0 {
                right.push(Span::styled(format!("{more} more  "), ui.theme.style(Role::Dim)));
            }
            right.extend(keyed(ui, &[Action::Close], ": put away "));
        }
        put(buffer, area, row, &ends(line.spans, right, room));
    }
}

#[cfg(test)]
mod tests {
    use super::{capital, sentence};

    #[test]
    fn a_hint_follows_a_sentence() {
        for (message, ended) in [
            ("trailing characters at line 1 column 12", "trailing characters at line 1 column 12."),
            ("Nothing was saved. ", "Nothing was saved."),
            ("Really?", "Really?"),
            ("it said \"No.\"", "it said \"No.\""),
            ("could not load 'documents'", "could not load 'documents'."),
            ("see `a.b` (line 3)", "see `a.b` (line 3)."),
        ] {
            assert_eq!(sentence(message), ended);
        }
        for (hint, shown) in [
            ("make it readable", "Make it readable"),
            ("kokua config check says more", "kokua config check says more"),
            ("config.toml has it", "config.toml has it"),
            ("F6 lists them", "F6 lists them"),
            ("é", "é"),
            ("", ""),
        ] {
            assert_eq!(capital(hint), shown);
        }
    }
}
