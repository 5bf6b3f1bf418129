//! Word wrap of styled text: no line is wider than asked, no word is lost, and every line knows its indent.
//!
//! Only white space at a break goes away. It does not interpret its text: clean it before.

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::width::grapheme_width;

/// Where a line may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Between words, after hyphens, between wide characters; inside a word only when it is longer than a line.
    Words,
    /// Anywhere, keeping every space: diffs and arguments.
    Anywhere,
    /// Between words in the second half of the line, else anywhere, keeping every space but one that is such a break: code.
    Code,
}

/// How to wrap: a width in columns, indents included, and what stands before the first line and before the others.
#[derive(Debug, Clone, Copy)]
pub struct Wrap<'a> {
    /// Columns of a line, at least 1.
    pub width: usize,
    /// Before the first line. Indents are cut to half of the width where they would take more.
    pub first: &'a [Span<'static>],
    /// Before every other line.
    pub rest: &'a [Span<'static>],
    /// Where to break.
    pub breaks: Breaks,
}

/// One grapheme cluster of the input.
#[derive(Debug, Clone, Copy)]
struct Cell {
    span: u32,
    start: u32,
    end: u32,
    columns: u8,
    kind: Kind,
    /// A line may end after this cell.
    breaks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Newline,
    Other,
}

impl<'a> Wrap<'a> {
    /// Words, no indent.
    pub const fn words(width: usize) -> Self {
        Self { width, first: &[], rest: &[], breaks: Breaks::Words }
    }

    /// Anywhere, no indent.
    pub const fn anywhere(width: usize) -> Self {
        Self { width, first: &[], rest: &[], breaks: Breaks::Anywhere }
    }

    /// With these indents.
    #[must_use]
    pub const fn indented(self, first: &'a [Span<'static>], rest: &'a [Span<'static>]) -> Self {
        Self { first, rest, ..self }
    }

    /// `spans` as lines; `\n` inside them ends a line. Always at least one line.
    pub fn lines(&self, spans: &[Span<'_>]) -> Vec<Line<'static>> {
        let mut out = Vec::new();
        self.append(spans, &mut out);
        out
    }

    /// [`Self::lines`], appended to `out`.
    pub fn append(&self, spans: &[Span<'_>], out: &mut Vec<Line<'static>>) {
        let width = self.width.max(1);
        let first = clip(self.first, width / 2);
        let rest = clip(self.rest, width / 2);
        let room = |indent: &[Span<'_>]| width - columns(indent).min(width - 1);
        let cells = cells(spans, self.breaks);
        let mut writer = Writer { spans, out, first: Some(first), rest };
        let mut room_now = room(writer.first.as_deref().unwrap_or_default());
        let room_rest = room(&writer.rest);

        let (mut start, mut used, mut breakable) = (0, 0, 0);
        let mut at = 0;
        while let Some(cell) = cells.get(at) {
            let wide = usize::from(cell.columns);
            if cell.kind == Kind::Newline {
                writer.line(&cells[start..at], self.breaks, room_now);
                (start, used, breakable, room_now) = (at + 1, 0, at + 1, room_rest);
            } else if used + wide > room_now && at > start {
                if cell.kind == Kind::Space && self.breaks == Breaks::Words {
                    writer.line(&cells[start..at], self.breaks, room_now);
                    while cells.get(at).is_some_and(|cell| cell.kind == Kind::Space) {
                        at += 1;
                    }
                    (start, used, breakable, room_now) = (at, 0, at, room_rest);
                    // A line end right after the break is that break.
                    if cells.get(at).is_some_and(|cell| cell.kind == Kind::Newline) {
                        (start, breakable, at) = (at + 1, at + 1, at + 1);
                    } else if at == cells.len() {
                        return;
                    }
                    continue;
                }
                if cell.kind == Kind::Space
                    && self.breaks == Breaks::Code
                    && cells.get(at + 1).is_some_and(|next| next.kind == Kind::Other)
                {
                    // The line is full right after a word: the one space before the next is the break.
                    writer.line(&cells[start..at], self.breaks, room_now);
                    at += 1;
                    (start, used, breakable, room_now) = (at, 0, at, room_rest);
                    continue;
                }
                let late = |cut: usize| {
                    let kept: usize = cells[start..cut].iter().map(|cell| usize::from(cell.columns)).sum();
                    2 * kept >= room_now
                };
                let cut = match self.breaks {
                    Breaks::Code if cell.kind == Kind::Space || !late(breakable) => at,
                    _ if breakable > start => breakable,
                    _ => at,
                };
                writer.line(&cells[start..cut], self.breaks, room_now);
                (start, breakable, room_now) = (cut, cut, room_rest);
                used = cells[cut..at].iter().map(|cell| usize::from(cell.columns)).sum();
                continue;
            } else {
                used += wide;
                if cell.breaks {
                    breakable = at + 1;
                }
            }
            at += 1;
        }
        writer.line(cells.get(start..).unwrap_or_default(), self.breaks, room_now);
    }
}

struct Writer<'w, 's, 't> {
    spans: &'w [Span<'s>],
    out: &'t mut Vec<Line<'static>>,
    first: Option<Vec<Span<'static>>>,
    rest: Vec<Span<'static>>,
}

impl Writer<'_, '_, '_> {
    fn line(&mut self, cells: &[Cell], breaks: Breaks, room: usize) {
        let kept = match breaks {
            Breaks::Words => cells.iter().rposition(|cell| cell.kind != Kind::Space).map_or(0, |last| last + 1),
            Breaks::Anywhere | Breaks::Code => cells.len(),
        };
        let mut line = self.first.take().unwrap_or_else(|| self.rest.clone());
        let mut cells = &cells[..kept];
        while let Some(head) = cells.first() {
            let same = cells.iter().take_while(|cell| cell.span == head.span).count();
            let (run, others) = cells.split_at(same);
            cells = others;
            let Some(span) = self.spans.get(head.span as usize) else { continue };
            let end = run.last().map_or(head.end, |cell| cell.end);
            let text = if usize::from(head.columns) > room {
                // Not even one of them fits: say that something is here.
                "·".to_owned()
            } else {
                span.content.get(head.start as usize..end as usize).unwrap_or_default().to_owned()
            };
            line.push(Span { content: text.into(), style: span.style });
        }
        self.out.push(Line::from(line));
    }
}

fn columns(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| super::width(&span.content)).sum()
}

/// `spans` in at most `max` columns.
pub(super) fn clip(spans: &[Span<'static>], max: usize) -> Vec<Span<'static>> {
    let mut left = max;
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let columns = super::width(&span.content);
        if columns <= left {
            out.push(span.clone());
            left -= columns;
        } else {
            out.push(Span { content: super::width::head(&span.content, left).to_owned().into(), style: span.style });
            break;
        }
    }
    out
}

fn cells(spans: &[Span<'_>], breaks: Breaks) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::with_capacity(spans.iter().map(|span| span.content.len()).sum());
    // Bounded far below what the narrow numbers hold; a longer text is cut into several calls by its owner.
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut before = ('\n', '\n');
    for (index, span) in spans.iter().enumerate() {
        let mut add = |start: usize, text: &str| {
            let head = text.chars().next().unwrap_or(' ');
            let kind = match head {
                '\n' => Kind::Newline,
                // A mark may sit on a space: what has one is no gap to break at.
                ' ' if text.len() == 1 => Kind::Space,
                _ => Kind::Other,
            };
            let columns = u8::try_from(grapheme_width(text)).unwrap_or(u8::MAX);
            if let Some(last) = cells.last_mut() {
                last.breaks = match breaks {
                    Breaks::Words => last.kind == Kind::Space || may_break(before, last.columns, head, columns),
                    Breaks::Code => last.kind == Kind::Space,
                    Breaks::Anywhere => false,
                };
            }
            cells.push(Cell {
                span: narrow(index),
                start: narrow(start),
                end: narrow(start + text.len()),
                columns,
                kind,
                breaks: false,
            });
            before = (before.1, text.chars().next_back().unwrap_or(' '));
        };
        if span.content.is_ascii() {
            for start in 0..span.content.len() {
                add(start, &span.content[start..=start]);
            }
        } else {
            for (start, grapheme) in span.content.grapheme_indices(true) {
                add(start, grapheme);
            }
        }
    }
    cells
}

/// Whether a line may end between two characters that are not spaces.
fn may_break((earlier, before): (char, char), before_columns: u8, after: char, after_columns: u8) -> bool {
    if matches!(before, '-' | '–' | '—') {
        return earlier.is_alphanumeric() && after.is_alphabetic();
    }
    if before_columns < 2 && after_columns < 2 {
        return false;
    }
    !no_line_starts_with(after) && !no_line_ends_with(before)
}

fn no_line_starts_with(character: char) -> bool {
    matches!(
        character,
        '、' | '。'
            | '，'
            | '．'
            | '」'
            | '』'
            | '）'
            | '】'
            | '〉'
            | '》'
            | '！'
            | '？'
            | '：'
            | '；'
            | '々'
            | 'ー'
            | 'っ'
            | 'ゃ'
            | 'ゅ'
            | 'ょ'
            | 'ッ'
            | 'ャ'
            | 'ュ'
            | 'ョ'
            | '・'
            | '％'
            | '.'
            | ','
            | ')'
            | ']'
            | '}'
            | '!'
            | '?'
            | ':'
            | ';'
            | '%'
    )
}

fn no_line_ends_with(character: char) -> bool {
    matches!(character, '「' | '『' | '（' | '【' | '〈' | '《' | '(' | '[' | '{')
}

/// `spans` in at most `max` columns; what is cut ends in `…`.
pub fn truncate_spans(mut spans: Vec<Span<'static>>, max: usize) -> Vec<Span<'static>> {
    let mut used = 0;
    for index in 0..spans.len() {
        let Some(span) = spans.get_mut(index) else { break };
        let columns = super::width(&span.content);
        let last_fits = used + columns <= max;
        if last_fits {
            used += columns;
            continue;
        }
        span.content = if max == used { String::new() } else { cut(&span.content, max - used) }.into();
        spans.truncate(index + 1);
        if max == used
            && let Some(before) = spans.iter_mut().rev().find(|span| !span.content.is_empty())
        {
            // The cut falls between two spans: the mark takes the last column of the one before.
            let columns = super::width(&before.content);
            before.content = cut(&before.content, columns).into();
        }
        break;
    }
    spans
}

/// The beginning of `text` in `columns` columns at most, its last one the mark of a cut.
fn cut(text: &str, columns: usize) -> String {
    let head = super::width::head(text, columns.saturating_sub(1));
    if columns == 0 { String::new() } else { format!("{head}{}", super::width::ELLIPSIS) }
}
