//! Markdown as styled lines: what an agent says. Works on text that is still coming, block by block.
//!
//! Each top-level block is laid out from its own source alone, so that a text looks the same however it was streamed.
//! Nothing of the text is hidden: links show where they go, reference definitions and HTML stand as written.

mod code;
mod render;
mod split;
mod table;

#[cfg(test)]
mod tests;

pub use code::OpenCode;
pub use split::{Split, ends_blank, split};

use ratatui::text::{Line, Span};

use super::clean;
use crate::ui::theme::Theme;

/// Where the lines go.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Columns of a line, indents included.
    pub width: usize,
    /// Its styles.
    pub theme: &'a Theme,
    /// Before the first line.
    pub first: &'a [Span<'static>],
    /// Before every other line.
    pub rest: &'a [Span<'static>],
}

/// `text` as lines of at most `width` columns. Cleaned here.
pub fn lines(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let text = clean(text);
    let page = Page { width, theme, first: &[], rest: &[] };
    let mut out = Vec::new();
    let mut before = None;
    for range in split(&text).ranges {
        let source = text.get(range).unwrap_or_default();
        if before.is_some_and(ends_blank) {
            out.push(Line::default());
        }
        chunk(source, &page, &mut out);
        before = Some(source);
    }
    out
}

/// One piece of [`split()`], appended to `lines`. Its text was cleaned before; what entities stand for is cleaned here.
pub fn chunk(source: &str, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
    render::render(source, page, lines);
}

/// [`chunk`] for the last piece of a text that still grows. While it is one open code block, `open` remembers which of
/// `lines` are final, and only what came since is laid out; `lines` must then be those of the call before.
pub fn stream(source: &str, page: &Page<'_>, open: &mut Option<Box<OpenCode>>, lines: &mut Vec<Line<'static>>) {
    if !code::stream(source, page, open, lines) {
        chunk(source, page, lines);
    }
}

/// The words of `text` without its markup, in the order in which they show: for searching.
pub fn plain(text: &str) -> String {
    render::plain(text)
}
