//! Draws a transcript's window into its rectangle, and the line that says how much is below it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::theme::{Role, Theme};
use crate::ui::transcript::Transcript;

/// Draws `transcript` into `area`. When it does not follow its end, the last row says how many lines are below.
pub fn draw(transcript: &mut Transcript, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let area = area.intersection(*buffer.area());
    let mut window = transcript.render(area.width, area.height, theme);
    if window.below > 0 && area.height > 1 {
        // The row of the notice hides one line more.
        window.lines.truncate(usize::from(area.height) - 1);
    }
    for (line, row) in window.lines.iter().zip(area.top()..area.bottom()) {
        buffer.set_line(area.x, row, line, area.width);
    }
    if window.below > 0 && area.height > 1 {
        let lines = window.below + 1;
        let notice = Line::styled(format!("↓ {lines} lines below "), theme.style(Role::Key));
        let width = u16::try_from(notice.width()).unwrap_or(u16::MAX).min(area.width);
        buffer.set_line(area.right() - width, area.bottom() - 1, &notice, width);
    }
}
