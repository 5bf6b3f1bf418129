//! Tables with their columns fitted to the page; where that is too narrow for columns, one line per cell instead.

use pulldown_cmark::Alignment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Page;
use crate::ui::text::Wrap;
use crate::ui::text::wrap::clip;
use crate::ui::theme::Role;

/// Columns that a column has at least where a table is drawn as one.
const NARROWEST: usize = 5;
/// Between two columns.
const SEPARATOR: &str = " │ ";

type Cell = Vec<Span<'static>>;

/// A table as it was read; the first row is its head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) const fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn append(self, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
        let first = clip(page.first, page.width / 2);
        let rest = clip(page.rest, page.width / 2);
        let page = Page { first: &first, rest: &rest, ..*page };
        let indent: usize = page.rest.iter().map(Span::width).sum();
        let count = self.alignments.len();
        let between = SEPARATOR.chars().count() * count.saturating_sub(1);
        let room = page.width.saturating_sub(indent + between);
        let natural: Vec<usize> = (0..count)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max().unwrap_or(0).max(1)
            })
            .collect();
        if room < natural.iter().map(|natural| (*natural).min(NARROWEST)).sum() {
            self.as_records(&page, lines);
        } else {
            self.as_columns(&fitted(&natural, room), &page, lines);
        }
    }

    fn as_columns(&self, widths: &[usize], page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
        let border = page.theme.style(Role::Border);
        let mut first = Some(page.first);
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line<'static>>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    let cell = row.get(column).map(Vec::as_slice).unwrap_or_default();
                    Wrap::words(*width).lines(&strong(cell, number == 0, page))
                })
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
                let mut spans = first.take().unwrap_or(page.rest).to_vec();
                for (column, width) in widths.iter().enumerate() {
                    if column > 0 {
                        spans.push(Span::styled(SEPARATOR, border));
                    }
                    let cell = cells.get(column).and_then(|cell| cell.get(line)).cloned().unwrap_or_default();
                    let free = width.saturating_sub(columns(&cell.spans));
                    let left = match self.alignments.get(column) {
                        Some(Alignment::Right) => free,
                        Some(Alignment::Center) => free / 2,
                        _ => 0,
                    };
                    let right = if column + 1 == widths.len() { 0 } else { free - left };
                    spans.extend((left > 0).then(|| Span::raw(" ".repeat(left))));
                    spans.extend(cell.spans);
                    spans.extend((right > 0).then(|| Span::raw(" ".repeat(right))));
                }
                lines.push(Line::from(spans));
            }
            if number == 0 {
                let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
                let mut spans = page.rest.to_vec();
                spans.push(Span::styled(rule, border));
                lines.push(Line::from(spans));
            }
        }
    }

    /// `head: cell`, a row after the other.
    fn as_records(&self, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
        let mut first = Some(page.first);
        let mut out = |spans: &[Span<'_>], lines: &mut Vec<Line<'static>>| {
            let start = first.take().unwrap_or(page.rest);
            let hanging = [page.rest, &[Span::raw("  ")]].concat();
            Wrap::words(page.width).indented(start, &hanging).append(spans, lines);
        };
        let head = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        if self.rows.len() < 2 {
            for cell in head {
                out(&strong(cell, true, page), lines);
            }
        }
        for (number, row) in self.rows.iter().enumerate().skip(1) {
            if number > 1 {
                lines.push(Line::from(page.rest.to_vec()));
            }
            for (column, cell) in row.iter().enumerate() {
                let mut spans = strong(head.get(column).map(Vec::as_slice).unwrap_or_default(), true, page);
                spans.push(Span::styled(": ", page.theme.style(Role::Dim)));
                spans.extend(cell.iter().cloned());
                out(&spans, lines);
            }
        }
    }
}

fn strong(cell: &[Span<'static>], head: bool, page: &Page<'_>) -> Cell {
    let role = if head { page.theme.style(Role::Strong) } else { Style::new() };
    cell.iter().map(|span| Span { style: span.style.patch(role), ..span.clone() }).collect()
}

fn columns(cell: &[Span<'_>]) -> usize {
    cell.iter().map(|span| crate::ui::text::width(&span.content)).sum()
}

/// Widths that fit `room`: the widest columns give way first, down to one common width.
fn fitted(natural: &[usize], room: usize) -> Vec<usize> {
    if natural.iter().sum::<usize>() <= room {
        return natural.to_vec();
    }
    let mut cap = room;
    while cap > 1 && natural.iter().map(|width| (*width).min(cap)).sum::<usize>() > room {
        cap -= 1;
    }
    let mut widths: Vec<usize> = natural.iter().map(|width| (*width).min(cap)).collect();
    // What is left over goes to the first that want more.
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, natural) in widths.iter_mut().zip(natural) {
        if left > 0 && *width < *natural {
            *width += 1;
            left -= 1;
        }
    }
    widths
}
