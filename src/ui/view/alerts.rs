//! The alert strip: what a person should know outside of any answer, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::paint::{ends, put};
use crate::agent::update::Severity;
use crate::ui::state::Ui;
use crate::ui::text::clean_line;
use crate::ui::theme::Role;

/// Draws as many as fit, and how many more there are.
pub(super) fn draw(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    let count = ui.shown_alerts(now).count();
    let rows = usize::from(area.height);
    for (row, alert) in ui.shown_alerts(now).take(rows).enumerate() {
        let (word, role) = match alert.severity {
            Severity::Notice => ("note", Role::Dim),
            Severity::Warning => ("warning", Role::Warning),
        };
        let mut left = vec![
            Span::styled(format!(" {word}: "), ui.theme.style(role)),
            Span::styled(clean_line(&alert.message), ui.theme.style(Role::Text)),
        ];
        if let Some(hint) = &alert.hint {
            left.push(Span::styled(format!("  {}", clean_line(hint)), ui.theme.style(Role::Dim)));
        }
        let more = count.saturating_sub(rows);
        let last = row + 1 == rows;
        let right = match (last, more) {
            (true, 1..) => format!("{more} more  Esc: put away "),
            (true, 0) => "Esc: put away ".to_owned(),
            (false, _) => String::new(),
        };
        let right = vec![Span::styled(right, ui.theme.style(Role::Dim))];
        put(buffer, area, row, &ends(left, right, usize::from(area.width)));
    }
}
