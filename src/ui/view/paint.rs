//! Small helps that every view draws with: lines with two ends, rules, counts of bytes and seconds. Whatever comes from
//! outside is cleaned by whoever hands it in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::ui::action::Action;
use crate::ui::state::Ui;
use crate::ui::text::{truncate, width};
use crate::ui::theme::Role;

/// Columns of some spans.
pub(super) fn columns(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// The first key of each of `actions` in the colour of keys, and `words`, dim: `Up/Down scroll`.
pub(super) fn keyed(ui: &Ui, actions: &[Action], words: &str) -> Vec<Span<'static>> {
    let dim = ui.theme.style(Role::Dim);
    let mut spans = Vec::with_capacity(2 * actions.len());
    for (at, action) in actions.iter().enumerate() {
        if at > 0 {
            spans.push(Span::styled("/", dim));
        }
        spans.push(Span::styled(ui.keys.first(*action), ui.theme.style(Role::Key)));
    }
    spans.push(Span::styled(words.to_owned(), dim));
    spans
}

/// `spans` in at most `room` columns; what is cut ends in `…`.
pub(super) fn fitted(spans: Vec<Span<'static>>, room: usize) -> Vec<Span<'static>> {
    let mut left = room;
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let wide = width(&span.content);
        if wide <= left {
            left -= wide;
            out.push(span);
            continue;
        }
        if left > 0 {
            out.push(Span::styled(truncate(&span.content, left).into_owned(), span.style));
        }
        break;
    }
    out
}

/// A line of exactly `room` columns with `left` at its start and `right` at its end; `left` gives way.
pub(super) fn ends(left: Vec<Span<'static>>, right: Vec<Span<'static>>, room: usize) -> Line<'static> {
    let right = fitted(right, room);
    let wide = columns(&right);
    let gap = usize::from(wide > 0 && !left.is_empty());
    let left = fitted(left, room.saturating_sub(wide + gap));
    let fill = room.saturating_sub(columns(&left) + wide);
    let mut spans = left;
    spans.push(Span::raw(" ".repeat(fill)));
    spans.extend(right);
    Line::from(spans)
}

/// Draws `line` as row `row` of `area`; outside of it nothing happens.
pub(super) fn put(buffer: &mut Buffer, area: Rect, row: usize, line: &Line<'_>) {
    if let Some(y) = u16::try_from(row).ok().filter(|row| *row < area.height).and_then(|row| area.y.checked_add(row)) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

/// Draws `lines` from the top of `area`, as many as fit.
pub(super) fn put_all<'a>(buffer: &mut Buffer, area: Rect, lines: impl IntoIterator<Item = &'a Line<'a>>) {
    for (row, line) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        put(buffer, area, row, line);
    }
}

/// Takes everything out of `area`.
pub(super) fn blank(buffer: &mut Buffer, area: Rect) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}

/// A rule of `room` columns: `─ left ───── right ─`.
pub(super) fn rule(left: Vec<Span<'static>>, right: Vec<Span<'static>>, room: usize, style: Style) -> Line<'static> {
    let mut start = vec![Span::styled("─", style)];
    if !left.is_empty() {
        start.push(Span::styled(" ", style));
        start.extend(left);
        start.push(Span::styled(" ", style));
    }
    let mut end = Vec::new();
    if !right.is_empty() {
        end.push(Span::styled(" ", style));
        end.extend(right);
        end.push(Span::styled(" ─", style));
    }
    let end = fitted(end, room);
    let start = fitted(start, room.saturating_sub(columns(&end)));
    let fill = room.saturating_sub(columns(&start) + columns(&end));
    let mut spans = start;
    spans.push(Span::styled("─".repeat(fill), style));
    spans.extend(end);
    Line::from(spans)
}

/// Draws an upright line.
pub(super) fn upright(buffer: &mut Buffer, area: Rect, style: Style) {
    if area.is_empty() {
        return;
    }
    for y in area.top()..area.bottom() {
        buffer.set_string(area.x, y, "│", style);
    }
}

/// `28 bytes`, `18.0 kB`, `1.2 MB`: thousands, not 1,024s.
pub(in crate::ui) fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{count} bytes"),
        1_000..999_950 => format!("{}.{} kB", (count + 50) / 1_000, (count + 50) % 1_000 / 100),
        _ => format!("{}.{} MB", (count + 50_000) / 1_000_000, (count + 50_000) % 1_000_000 / 100_000),
    }
}

/// [`bytes`] for a column: `28`, `18.0k`, `1.2M`.
pub(super) fn bytes_short(count: usize) -> String {
    bytes(count).replace(" bytes", "").replace(" byte", "").replace(" kB", "k").replace(" MB", "M")
}

/// `1 tool`, `2 tools`.
pub(in crate::ui) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// `0:14`, `1:02:03`.
pub(super) fn clock(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// How long ago, in one unit: `now`, `5 min`, `3 h`, `12 d`.
pub(super) fn age(ms: i64) -> String {
    match ms / 60_000 {
        ..1 => "now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes @ 60..1_440 => format!("{} h", minutes / 60),
        minutes => format!("{} d", minutes / 1_440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_well() {
        let table = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (18_049, "18.0 kB"),
            (999_949, "999.9 kB"),
            (1_250_000, "1.3 MB"),
        ];
        for (count, text) in table {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(bytes_short(2_100), "2.1k");
        assert_eq!(clock(14_999), "0:14");
        assert_eq!(clock(3_723_000), "1:02:03");
        assert_eq!(age(59_999), "now");
        assert_eq!(age(7_200_000), "2 h");
    }

    #[test]
    fn a_line_with_two_ends_is_exactly_as_wide_as_asked() {
        for room in 0..40 {
            let line = ends(vec![Span::raw("a long left part")], vec![Span::raw("right")], room);
            assert_eq!(line.width(), room);
            let line = rule(vec![Span::raw("title")], vec![Span::raw("end")], room, Style::new());
            assert_eq!(line.width(), room, "{line}");
        }
    }
}
