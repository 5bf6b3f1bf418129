//! Cuts a text into top-level blocks, and says which of them no later text can change.
//!
//! Markdown decides blocks line by line, and a block that closed never opens again: all but the last block of the
//! complete lines is settled. The one exception, a link definition whose title may still come, is kept with what follows.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::code;
use super::render::options;

/// A text cut into pieces that are laid out on their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// In order, without gaps, together the whole text.
    pub ranges: Vec<Range<usize>>,
    /// How many of them, from the first, no later text changes.
    pub settled: usize,
}

/// Something at the top level.
#[derive(Debug, Clone, Copy)]
struct Element {
    /// Start of its first line.
    start: usize,
    /// Lines that make no block: link definitions.
    bare: bool,
}

/// The top-level blocks of `text`, which begins at a block's first line.
pub fn split(text: &str) -> Split {
    if text.is_empty() {
        return Split { ranges: Vec::new(), settled: 0 };
    }
    if code::is_open(text) {
        return Split { ranges: vec![Range { start: 0, end: text.len() }], settled: 0 };
    }
    let complete = text.rfind('\n').map_or(0, |end| end + 1);
    let found = elements(text.get(..complete).unwrap_or_default());
    let mut last = found.len().saturating_sub(1);
    while let Some(before) = last.checked_sub(1).and_then(|index| found.get(index)) {
        let end = found.get(last).map_or(complete, |element| element.start);
        if !before.bare || ends_blank(text.get(before.start..end).unwrap_or_default()) {
            break;
        }
        last -= 1;
    }
    let from = if last == 0 { 0 } else { found.get(last).map_or(0, |element| element.start) };
    let mut starts: Vec<usize> = found.iter().take(last).map(|element| element.start).collect();
    let settled = starts.len();
    if complete == text.len() {
        starts.extend(found.iter().skip(last).map(|element| element.start));
    } else {
        starts.extend(elements(text.get(from..).unwrap_or_default()).iter().map(|element| element.start + from));
    }
    // Empty lines before the first block belong to it.
    match starts.first_mut() {
        Some(first) => *first = 0,
        None => starts.push(0),
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let ranges = starts.iter().zip(ends).map(|(start, end)| *start..end).collect();
    Split { ranges, settled }
}

/// Whether `source`, a piece of [`split`], ends with an empty line: then one stands before the next piece.
pub fn ends_blank(source: &str) -> bool {
    let words = source.trim_end_matches([' ', '\n']);
    source.get(words.len()..).unwrap_or_default().bytes().filter(|byte| *byte == b'\n').count() > 1
}

fn elements(text: &str) -> Vec<Element> {
    let mut out: Vec<Element> = Vec::new();
    let mut depth = 0_usize;
    let mut covered = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
            bare_lines(text, covered, start, &mut out);
            if start >= covered {
                out.push(Element { start, bare: false });
            }
        }
        // How far a list or quotation says it reaches depends on what follows it; what is in it does not.
        let end = match event {
            Event::Start(Tag::List(_) | Tag::Item | Tag::BlockQuote(_)) => range.start + 1,
            Event::End(TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_)) => 0,
            _ => range.end,
        };
        covered = covered.max(next_line(text, text.floor_char_boundary(end)));
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    bare_lines(text, covered, text.len(), &mut out);
    out
}

/// Where the line after the one that `end` stands in begins; `end` itself when it is at a line's start.
fn next_line(text: &str, end: usize) -> usize {
    if end == 0 || text.get(..end).is_some_and(|before| before.ends_with('\n')) {
        return end;
    }
    text.get(end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| end + newline + 1)
}

/// Runs of lines between blocks that are not empty.
fn bare_lines(text: &str, from: usize, to: usize, out: &mut Vec<Element>) {
    let mut start = from;
    let mut in_run = false;
    for line in text.get(from..to).unwrap_or_default().split_inclusive('\n') {
        // The signs of a quotation that says nothing more belong to it.
        let blank = line.bytes().all(|byte| matches!(byte, b' ' | b'\n' | b'>'));
        if !blank && !in_run {
            out.push(Element { start, bare: true });
        }
        in_run = !blank;
        start += line.len();
    }
}
