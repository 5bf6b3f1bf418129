//! Markdown as styled lines (first version: the text, wrapped).
//!
//! It never draws.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::Wrap;
use crate::ui::theme::{Role, Theme};

/// A text cut into pieces that are laid out on their own.
#[derive(Debug)]
pub struct Split {
    /// In order, without gaps.
    pub ranges: Vec<Range<usize>>,
    /// How many of them no later text changes.
    pub settled: usize,
}

/// What of a streaming code block is final.
#[derive(Debug)]
pub struct OpenCode {}

/// Where the lines go.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Columns of a line, indents included.
    pub width: usize,
    /// Its colours.
    pub theme: &'a Theme,
    /// Before the first line.
    pub first: &'a [Span<'static>],
    /// Before the others.
    pub rest: &'a [Span<'static>],
}

/// Cuts.
pub fn split(text: &str) -> Split {
    Split { ranges: vec![0..text.len()], settled: 0 }
}

/// Whether it ends with an empty line.
pub fn ends_blank(text: &str) -> bool {
    text.trim_end_matches(' ').ends_with("\n\n")
}

/// One piece.
pub fn chunk(text: &str, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
    let spans = [Span::styled(text.trim_end().to_owned(), page.theme.style(Role::Text))];
    Wrap::words(page.width).indented(page.first, page.rest).append(&spans, lines);
}

/// The last piece.
pub fn stream(text: &str, page: &Page<'_>, _open: &mut Option<Box<OpenCode>>, lines: &mut Vec<Line<'static>>) {
    chunk(text, page, lines);
}

/// Without markup.
pub fn plain(text: &str) -> String {
    text.to_owned()
}
