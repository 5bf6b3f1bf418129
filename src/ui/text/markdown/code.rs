//! Code blocks: bars at the left, highlighted, every space kept; and the one that is still streaming, line by line.
//!
//! A fence in a list or quotation is not streamed specially: it is laid out with its block.

use ratatui::text::{Line, Span};

use super::Page;
use crate::ui::text::highlight::Highlighter;
use crate::ui::text::{Breaks, Wrap};
use crate::ui::theme::Role;

/// What stands before a line of code.
const BAR: &str = "│ ";

/// What of a streaming code block is laid out for good.
#[derive(Debug)]
pub struct OpenCode {
    highlighter: Highlighter,
    /// Bytes of the source that are done.
    done: usize,
    /// Lines laid out from them, and those before.
    rows: usize,
    /// Lines of code among them.
    count: usize,
    closed: bool,
}

/// An opening fence.
#[derive(Debug, Clone, Copy)]
struct Fence<'a> {
    indent: usize,
    sign: u8,
    length: usize,
    info: &'a str,
    /// Where the line after it begins.
    body: usize,
}

impl Fence<'_> {
    fn closes(&self, line: &str) -> bool {
        let bare = line.trim_end_matches(['\n', ' ']);
        let signs = bare.trim_start_matches(' ');
        bare.len() - signs.len() <= 3 && signs.len() >= self.length && signs.bytes().all(|byte| byte == self.sign)
    }
}

/// The fence that `text` begins with, its whole line there.
fn fence(text: &str) -> Option<Fence<'_>> {
    let skipped = text.len() - text.trim_start_matches('\n').len();
    let text = text.get(skipped..)?;
    let body = text.find('\n')? + 1;
    let line = text.get(..body - 1)?;
    let bare = line.trim_start_matches(' ');
    let indent = line.len() - bare.len();
    let sign = *bare.as_bytes().first()?;
    let length = bare.bytes().take_while(|byte| *byte == sign).count();
    let info = bare.get(length..)?.trim();
    let fits = indent <= 3 && length >= 3 && (sign == b'~' || (sign == b'`' && !info.contains('`')));
    fits.then_some(Fence { indent, sign, length, info, body: skipped + body })
}

/// Whether `text` is one code block whose end is yet to come.
pub(super) fn is_open(text: &str) -> bool {
    fence(text).is_some_and(|fence| {
        let body = text.get(fence.body..).unwrap_or_default();
        !body.split_inclusive('\n').any(|line| fence.closes(line))
    })
}

/// Lays out what of `source`, a fenced block, is new since the last call. False when it is no such block: nothing done.
pub(super) fn stream(
    source: &str,
    page: &Page<'_>,
    open: &mut Option<Box<OpenCode>>,
    lines: &mut Vec<Line<'static>>,
) -> bool {
    let Some(fence) = fence(source) else { return false };
    let code = open.get_or_insert_with(|| {
        Box::new(OpenCode {
            highlighter: Highlighter::new(fence.info),
            done: fence.body,
            rows: lines.len(),
            count: 0,
            closed: false,
        })
    });
    lines.truncate(code.rows);
    while !code.closed {
        let Some(line) = source.get(code.done..).and_then(|rest| rest.split_inclusive('\n').next()) else { break };
        if fence.closes(line) {
            // Without its line end, the line may still turn out to be code.
            code.closed = line.ends_with('\n');
            break;
        }
        let content = unindented(line, fence.indent);
        if line.ends_with('\n') {
            let spans = code.highlighter.line(content, page.theme);
            row(&spans, page, code.count == 0, lines);
            (code.done, code.rows, code.count) = (code.done + line.len(), lines.len(), code.count + 1);
        } else {
            let spans = code.highlighter.clone().line(content, page.theme);
            row(&spans, page, code.count == 0, lines);
            return true;
        }
    }
    if code.count == 0 {
        row(&[], page, true, lines);
    }
    true
}

/// `line` without its line end and without as many spaces as its fence is indented by.
fn unindented(line: &str, indent: usize) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    line.get(spaces..).unwrap_or_default()
}

/// A whole block of code.
pub(super) fn block(info: &str, body: &str, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
    let mut highlighter = Highlighter::new(info);
    let mut first = true;
    for line in body.lines() {
        row(&highlighter.line(line, page.theme), page, first, lines);
        first = false;
    }
    if first {
        row(&[], page, true, lines);
    }
}

fn row(spans: &[Span<'_>], page: &Page<'_>, first: bool, lines: &mut Vec<Line<'static>>) {
    let bar = Span::styled(BAR, page.theme.style(Role::Border));
    let with_bar = |indent: &[Span<'static>]| [indent, std::slice::from_ref(&bar)].concat();
    let rest = with_bar(page.rest);
    let first = if first { with_bar(page.first) } else { rest.clone() };
    Wrap { width: page.width, first: &first, rest: &rest, breaks: Breaks::Code }.append(spans, lines);
}
