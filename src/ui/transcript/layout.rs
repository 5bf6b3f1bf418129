//! How each kind of block looks at a width: its words, its indents, its one line when folded.
//!
//! Everything that came from outside is cleaned here or was when it was appended.

use std::fmt::Write as _;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::block::{
    Block, CallRule, Delivery, Receipt, ToolRow, ToolState, answer_detail, bytes, clock, ending_word, kind_word, span,
    tokens,
};
use super::item::Fold;
use super::search::Chrome;
use crate::access::Risk;
use crate::agent::call::{Ending, without_edited};
use crate::agent::effect::TurnEnd;
use crate::agent::message::UserOrigin;
use crate::agent::update::Severity;
use crate::ui::text::markdown::{self, OpenCode};
use crate::ui::text::wrap::truncate_spans;
use crate::ui::text::{Wrap, clean, clean_line, diff, truncate, width};
use crate::ui::theme::{Role, Theme};

/// Characters of a result that an open row shows.
const RESULT_CHARACTERS: usize = 4_000;
/// More lines than an open result is guessed to have.
pub(super) const RESULT_LINES: usize = 80;
/// Columns of the label before what somebody said, the space after it included.
const GUTTER: usize = 11;
/// Columns of an address before a message; a longer one is cut.
const ADDRESS: usize = 24;
/// Below this many columns a label has a line of its own.
const NARROW: usize = 58;
/// Characters of one argument in a row.
const ARGUMENT: usize = 200;
/// Bytes from which a text stands behind the shorter arguments of its row.
const LONG: usize = 60;
/// Tools from which a count is amber.
const MANY_TOOLS: usize = 100;

/// What a frame's layout depends on.
pub(super) struct Frame<'a> {
    /// Columns to lay out in.
    pub width: usize,
    pub theme: &'a Theme,
    /// Milliseconds since the epoch, for clocks.
    pub now: i64,
    /// Counts frames.
    pub number: u64,
}

/// Some of a block.
pub(super) struct Part<'a> {
    pub block: &'a Block,
    pub fold: Fold,
    pub range: Range<usize>,
    pub first: bool,
    /// An empty line stands before it.
    pub spaced: bool,
    /// It is the last piece of its block: more text may still join it.
    pub streams: bool,
}

/// Lays `part` out into `lines`, which hold what `open` says is final of it, and nothing otherwise.
pub(super) fn lines(
    part: &Part<'_>,
    frame: &Frame<'_>,
    open: &mut Option<Box<OpenCode>>,
    lines: &mut Vec<Line<'static>>,
) {
    let layout = Layout { frame };
    let slice = |text: &'_ str| text.get(part.range.clone()).unwrap_or_default().to_owned();
    if open.is_none() {
        lines.clear();
        if part.spaced {
            lines.push(Line::default());
        }
    }
    match part.block {
        Block::User { from, text, origin, delivery } => {
            let (role, style) = match (from, origin) {
                (Some(_), _) | (None, UserOrigin::Agent) => (Role::Agent, Role::Text),
                (None, UserOrigin::Person) => (Role::User, Role::Text),
                (None, UserOrigin::Continuation | UserOrigin::FinalAnswer) => (Role::Dim, Role::Dim),
            };
            let label = part.first.then(|| speaker(from.as_deref(), *origin));
            let (first, rest) = layout.labelled(label, ADDRESS, role, lines);
            let style = layout.style(style);
            let mut spans = vec![Span::styled(slice(text).trim_end_matches('\n').to_owned(), style)];
            let note = match delivery {
                Delivery::Delivered => None,
                Delivery::Queued => Some("  (queued: joins the turn at its next round)"),
                Delivery::Undelivered => Some("  (not delivered: the turn ended before)"),
            };
            if let Some(note) = note.filter(|_| part.streams) {
                spans.push(Span::styled(note, layout.style(Role::Dim)));
            }
            Wrap::words(frame.width).indented(&first, &rest).append(&spans, lines);
        }
        Block::Assistant { agent, text } => {
            let source = text.get(part.range.clone()).unwrap_or_default();
            // The label's own line, where it has one, is final as soon as anything is.
            let mut before = Vec::new();
            let label = part.first.then_some(agent.as_str());
            let (first, rest) = layout.labelled(label, GUTTER - 1, Role::Agent, &mut before);
            if open.is_none() {
                lines.append(&mut before);
            }
            let page = markdown::Page { width: frame.width, theme: frame.theme, first: &first, rest: &rest };
            if part.streams || open.is_some() {
                markdown::stream(source, &page, open, lines);
            } else {
                markdown::chunk(source, &page, lines);
            }
        }
        Block::Reasoning { text } => layout.reasoning(part, text, &slice(text), lines),
        Block::Call(rule) => lines.push(layout.rule(rule)),
        Block::Tool(row) => layout.tool(row, part.fold, lines),
        Block::Receipt(receipt) => layout.receipt(receipt, lines),
        Block::Alert { severity, message, hint } => {
            let (label, role) = match severity {
                Severity::Notice => ("notice", Role::Dim),
                Severity::Warning => ("warning", Role::Warning),
            };
            layout.sentence(label, role, message, hint.as_deref(), lines);
        }
        Block::End(end) => layout.end(end, lines),
        Block::Note(words) => layout.note(&clean_line(words), lines),
        Block::Lines { title, lines: rows } => {
            lines.push(Line::styled(
                truncate(&clean_line(title), frame.width).into_owned(),
                layout.style(Role::Heading),
            ));
            let indent = [Span::raw("  ")];
            for row in rows {
                let row = [Span::styled(clean(row).into_owned(), layout.style(Role::Text))];
                Wrap::words(frame.width).indented(&indent, &indent).append(&row, lines);
            }
        }
    }
}

pub(super) struct Layout<'a> {
    pub(super) frame: &'a Frame<'a>,
}

impl Layout<'_> {
    pub(super) fn style(&self, role: Role) -> Style {
        self.frame.theme.style(role)
    }

    pub(super) fn blank(&self, columns: usize) -> Span<'static> {
        Span::raw(" ".repeat(columns.min(self.frame.width / 2)))
    }

    /// The indents of what somebody said, with a label of at most `widest` columns: one that is wider than the gutter pushes
    /// its first line on. Where it is narrow, the label is put on a line of its own.
    fn labelled(
        &self,
        label: Option<&str>,
        widest: usize,
        role: Role,
        lines: &mut Vec<Line<'static>>,
    ) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
        let narrow = self.frame.width < NARROW;
        let rest = vec![self.blank(if narrow { 2 } else { GUTTER })];
        let Some(label) = label else { return (rest.clone(), rest) };
        let label = clean_line(label);
        if narrow {
            let line = vec![self.blank(0), Span::styled(label, self.style(role))];
            lines.push(Line::from(truncate_spans(line, self.frame.width)));
            return (rest.clone(), rest);
        }
        let label = truncate(&label, widest).into_owned();
        let gap = " ".repeat(GUTTER.saturating_sub(width(&label)).max(1));
        (vec![self.blank(0), Span::styled(label, self.style(role)), Span::raw(gap)], rest)
    }

    fn reasoning(&self, part: &Part<'_>, all: &str, slice: &str, lines: &mut Vec<Line<'static>>) {
        let dim = self.style(Role::Dim);
        if part.first {
            let words = all.split_whitespace().count();
            let (mark, plural) = (mark(part.fold), if words == 1 { "word" } else { "words" });
            let line =
                vec![self.blank(2), Span::styled(format!("{mark} reasoning · {} {plural}", grouped(words)), dim)];
            lines.push(Line::from(truncate_spans(line, self.frame.width)));
        }
        if part.fold == Fold::Open {
            let indent = [self.blank(4)];
            let text = [Span::styled(slice.trim_end_matches('\n').to_owned(), dim)];
            Wrap::words(self.frame.width).indented(&indent, &indent).append(&text, lines);
        }
    }

    /// `── call 2 · 24 tools (+5 documents) · 18.3 kB · in 7.0k out 96 · 1.1 s ────`
    fn rule(&self, rule: &CallRule) -> Line<'static> {
        let CallRule { line, before, limit, usage, took_ms, retry } = rule;
        let (dim, bold) = (self.style(Role::Dim), self.style(Role::Changed));
        // A call beside the turn has no number in it.
        let call = if line.number == 0 { "── call".to_owned() } else { format!("── call {}", line.number) };
        let mut spans = vec![self.blank(0), Span::styled(call, dim)];
        if let Some(kind) = kind_word(line.kind) {
            spans.push(Span::styled(format!(" · {kind}"), dim));
        }
        let (alarm, many) = match crowd(line.tools, *limit) {
            Some((words, role)) => (format!(" {words}"), Some(self.style(role))),
            None => (String::new(), None),
        };
        let differs =
            |index: fn(&(usize, usize)) -> usize, now: usize| before.as_ref().is_some_and(|was| index(was) != now);
        let tools_style = many.unwrap_or(if differs(|was| was.0, line.tools) { bold } else { dim });
        spans.push(Span::styled(" · ", dim));
        let noun = if line.tools == 1 { "tool" } else { "tools" };
        spans.push(Span::styled(format!("{} {noun}{alarm}", line.tools), tools_style));
        if !line.grown.is_empty() {
            let grown: Vec<String> = line
                .grown
                .iter()
                .map(|name| clean_line(name))
                .map(|name| if name.starts_with('+') { name } else { format!("+{name}") })
                .collect();
            spans.push(Span::styled(format!(" ({})", grown.join(", ")), bold));
        }
        spans.push(Span::styled(" · ", dim));
        spans
            .push(Span::styled(bytes(line.tool_bytes), if differs(|was| was.1, line.tool_bytes) { bold } else { dim }));
        let mut facts = String::new();
        if let Some(usage) = usage {
            // Absent is absent: a provider that counts nothing gets no zero.
            let parts =
                [("in", usage.input), ("cached", usage.cached.filter(|cached| *cached > 0)), ("out", usage.output)];
            let parts: Vec<String> =
                parts.iter().filter_map(|(name, number)| number.map(|n| format!("{name} {}", tokens(n)))).collect();
            if !parts.is_empty() {
                let _ = write!(facts, " · {}", parts.join(" "));
            }
        }
        if let Some(took) = took_ms {
            let _ = write!(facts, " · {}", span(*took));
        }
        spans.push(Span::styled(facts, dim));
        if let Some(retry) = retry {
            let left = u64::try_from(retry.at.saturating_sub(self.frame.now)).unwrap_or(0).div_ceil(1_000);
            let words = format!(" · {} · try {} in {left} s, Esc stops", clean_line(&retry.message), retry.attempt);
            spans.push(Span::styled(words, self.style(Role::Warning)));
        }
        spans.push(Span::styled(" ", dim));
        let used: usize = spans.iter().map(Span::width).sum();
        spans.push(Span::styled("─".repeat(self.frame.width.saturating_sub(used)), dim));
        Line::from(truncate_spans(spans, self.frame.width))
    }

    /// The row of a call.
    fn tool(&self, row: &ToolRow, fold: Fold, lines: &mut Vec<Line<'static>>) {
        let state = match &row.work {
            Some(work) => work.state_words(row, self.frame.now),
            None => state_words(&row.state, self.frame.now),
        };
        let reads = row.risk == Some(Risk::Read) && row.work.is_none();
        let mark = if reads && fold == Fold::Folded { "·" } else { mark(fold) };
        let (name, given) = (clean_line(&row.name), condensed(&row.arguments));
        lines.push(self.call_row(self.blank(2), mark, reads, &name, &given, state));
        if let Some(work) = &row.work {
            self.work(work, fold, lines);
        }
        match (fold, failure(row)) {
            (Fold::Open, _) => self.tool_body(row, lines),
            (Fold::Folded, Some(reason)) => {
                let line = vec![self.blank(4), Span::styled(format!("└ {reason}"), self.style(Role::Text))];
                lines.push(Line::from(truncate_spans(line, self.frame.width)));
            }
            (Fold::Folded, None) => {}
        }
    }

    fn tool_body(&self, row: &ToolRow, lines: &mut Vec<Line<'static>>) {
        let (dim, text) = (self.style(Role::Dim), self.style(Role::Text));
        let (head, body) = ([self.blank(4)], [self.blank(6)]);
        let wrap = Wrap::words(self.frame.width);
        let mut section = |title: String, content: Vec<Span<'static>>| {
            wrap.indented(&head, &head).append(&[Span::styled(title, dim)], lines);
            wrap.indented(&body, &body).append(&content, lines);
        };
        if let Value::Object(arguments) = &row.arguments {
            for (name, value) in arguments {
                let value = match value {
                    Value::String(text) => text.clone(),
                    other => serde_json::to_string_pretty(other).unwrap_or_default(),
                };
                section(clean_line(name), clamped(&value, text, dim));
            }
        } else if let Value::String(raw) = &row.arguments {
            section("arguments, as received".to_owned(), clamped(raw, text, dim));
        }
        if let ToolState::Ended { took_ms, answer, .. } = &row.state {
            if let Some(answer) = answer {
                let detail =
                    answer_detail(answer).map(|detail| format!(": {}", clean_line(detail))).unwrap_or_default();
                section("asked".to_owned(), vec![Span::styled(format!("{answer}{detail}"), text)]);
            }
            if let Some(result) = &row.result {
                section(format!("result · {}", span(*took_ms)), clamped(result, text, dim));
            }
        }
        if let Some(change) = &row.diff {
            wrap.indented(&head, &head).append(&[Span::styled("change", dim)], lines);
            diff::append(
                change,
                &diff::Page { width: self.frame.width, theme: self.frame.theme, indent: &body },
                lines,
            );
        }
    }

    fn receipt(&self, receipt: &Receipt, lines: &mut Vec<Line<'static>>) {
        let dim = self.style(Role::Dim);
        let chain: Vec<_> = receipt.chain.iter().map(|name| clean_line(name)).collect();
        let mut spans = vec![self.blank(4), Span::styled(format!("└ {}", receipt.answer), self.style(Role::Text))];
        // The reason first: it is what a narrow screen should keep.
        let detail = answer_detail(&receipt.answer).map(clean_line);
        let chain = (chain.len() > 1).then(|| chain.join(" < "));
        for part in [detail, Some(clean_line(&receipt.tool)), chain].into_iter().flatten() {
            spans.push(Span::styled(format!(" · {part}"), dim));
        }
        lines.push(Line::from(truncate_spans(spans, self.frame.width)));
    }

    fn sentence(&self, label: &str, role: Role, message: &str, hint: Option<&str>, lines: &mut Vec<Line<'static>>) {
        let (first, rest) = self.labelled(Some(label), GUTTER - 1, role, lines);
        let style = if role == Role::Dim { self.style(Role::Dim) } else { self.style(Role::Text) };
        let wrap = Wrap::words(self.frame.width);
        wrap.indented(&first, &rest).append(&[Span::styled(clean(message).trim_end().to_owned(), style)], lines);
        if let Some(hint) = hint {
            let hint = format!("hint: {}", clean(hint).trim_end());
            wrap.indented(&rest, &rest).append(&[Span::styled(hint, self.style(Role::Dim))], lines);
        }
    }

    fn end(&self, end: &TurnEnd, lines: &mut Vec<Line<'static>>) {
        let words = match end {
            TurnEnd::Answered => return,
            TurnEnd::WrappedUp => "wrapped up: the limit of model calls for one turn was reached",
            TurnEnd::Stopped => "stopped",
            TurnEnd::Failed { message, hint } => {
                return self.sentence("failed", Role::Error, message, hint.as_deref(), lines);
            }
            TurnEnd::Interrupted => "interrupted: the program ended before the turn did",
        };
        self.note(words, lines);
    }

    fn note(&self, words: &str, lines: &mut Vec<Line<'static>>) {
        let dim = self.style(Role::Dim);
        let mut spans = vec![self.blank(0), Span::styled(format!("── {words} "), dim)];
        let used: usize = spans.iter().map(Span::width).sum();
        spans.push(Span::styled("─".repeat(self.frame.width.saturating_sub(used)), dim));
        lines.push(Line::from(truncate_spans(spans, self.frame.width)));
    }
}

/// The label of words for the model.
fn speaker(from: Option<&str>, origin: UserOrigin) -> &str {
    from.unwrap_or(match origin {
        UserOrigin::Person => "you",
        UserOrigin::Continuation | UserOrigin::FinalAnswer => "kokua",
        UserOrigin::Agent => "agents",
    })
}

/// What is said of this many tools in one call: amber from a hundred, red from what the provider is known to take at most.
pub(in crate::ui) fn crowd(tools: usize, limit: Option<usize>) -> Option<(String, Role)> {
    match limit {
        Some(limit) if tools > limit => Some((format!("!! the provider takes {limit}"), Role::Error)),
        Some(limit) if tools == limit => Some(("!! the provider takes no more".to_owned(), Role::Error)),
        _ if tools >= MANY_TOOLS => Some(("! many".to_owned(), Role::Warning)),
        _ => None,
    }
}

const fn mark(fold: Fold) -> &'static str {
    match fold {
        Fold::Folded => "▸",
        Fold::Open => "▾",
    }
}

pub(super) fn state_words(state: &ToolState, now: i64) -> (String, Role) {
    match state {
        ToolState::Called => ("called".to_owned(), Role::Dim),
        ToolState::Running { since } => {
            let seconds = u64::try_from(now.saturating_sub(*since)).unwrap_or(0) / 1_000;
            (format!("running {}", clock(seconds)), Role::Text)
        }
        ToolState::Waits { place, of } => (format!(" WAITS FOR YOU · {place} of {of} "), Role::Decision),
        ToolState::Ended { ending, note, answer, .. } => {
            let role = match ending {
                Ending::Ok | Ending::Loaded { .. } => Role::Ok,
                Ending::Failed | Ending::InvalidArguments | Ending::Unknown | Ending::Refused | Ending::TimedOut => {
                    Role::Error
                }
                Ending::NotAllowed | Ending::NotExecuted | Ending::Interrupted => Role::Warning,
            };
            let word = ending_word(ending, answer.as_ref());
            match note.as_deref().map(clean_line).filter(|note| !note.is_empty()) {
                Some(note) => (format!("{word} · {note}"), role),
                None => (word, role),
            }
        }
    }
}

/// The line of what a failed call answered that says why. A call that was not allowed has a receipt that says more.
fn failure(row: &ToolRow) -> Option<String> {
    let ToolState::Ended { ending, .. } = &row.state else { return None };
    match ending {
        Ending::Failed | Ending::InvalidArguments | Ending::Unknown | Ending::Refused | Ending::TimedOut => {}
        Ending::Ok | Ending::Loaded { .. } | Ending::NotAllowed | Ending::NotExecuted | Ending::Interrupted => {
            return None;
        }
    }
    let mut lines = without_edited(row.result.as_deref()?).lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    // What a program wrote may stand before its error, and a traceback says the error at its end.
    let error = std::iter::once(first).chain(lines.clone()).find(|line| line.starts_with("Error:"));
    let line = match error {
        Some("Error:") => lines.next_back().unwrap_or(first),
        Some(error) => error,
        None => first,
    };
    Some(clean_line(line.get(..line.floor_char_boundary(4 * ARGUMENT)).unwrap_or_default()))
}

/// Arguments on one line: words bare, words with spaces quoted, everything else by its name.
pub(super) fn condensed(arguments: &Value) -> String {
    let short = |text: &str| {
        let line = clean_line(text.get(..text.floor_char_boundary(ARGUMENT * 4)).unwrap_or_default());
        truncate(&line, ARGUMENT).into_owned()
    };
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.is_empty() || text.contains(char::is_whitespace) => format!("\"{}\"", short(text)),
        Value::String(text) => short(text),
        other => format!("{}={}", short(name), short(&other.to_string())),
    };
    match arguments {
        Value::Object(map) => {
            // A path is read before what is written there, whatever their names sort as.
            let long = |value: &Value| value.as_str().is_some_and(|text| text.len() > LONG || text.contains('\n'));
            let (last, first): (Vec<_>, Vec<_>) = map.iter().partition(|(_, value)| long(value));
            first.into_iter().chain(last).map(one).collect::<Vec<_>>().join(" ")
        }
        Value::String(raw) => short(raw),
        Value::Null => String::new(),
        other => short(&other.to_string()),
    }
}

/// The beginning of a long text, and how much is hidden.
fn clamped(text: &str, style: Style, dim: Style) -> Vec<Span<'static>> {
    let end = text.char_indices().nth(RESULT_CHARACTERS).map(|(end, _)| end);
    let shown = clean(text.get(..end.unwrap_or(text.len())).unwrap_or_default());
    let mut spans = vec![Span::styled(shown.trim_end().to_owned(), style)];
    if let Some(rest) = end.and_then(|end| text.get(end..)) {
        let hidden = grouped(rest.chars().count());
        spans.push(Span::styled(format!("\n… {hidden} more characters hidden; copying takes them all"), dim));
    }
    spans
}

/// `12,345`
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What of a block's lines is not what was said, for the search.
pub(super) fn chrome(block: &Block) -> Chrome {
    let (label, widest) = match block {
        Block::User { from, origin, .. } => (speaker(from.as_deref(), *origin), ADDRESS),
        Block::Assistant { agent, .. } => (agent.as_str(), GUTTER - 1),
        Block::Reasoning { .. } => return Chrome::Line,
        _ => return Chrome::None,
    };
    Chrome::Label(truncate(&clean_line(label), widest).into_owned())
}

/// A block's text for copying and for the pager.
pub(super) fn plain(block: &Block) -> String {
    let with_hint = |label: &str, message: &str, hint: &Option<String>| match hint {
        Some(hint) => format!("{label}: {}\nhint: {}", clean(message), clean(hint)),
        None => format!("{label}: {}", clean(message)),
    };
    match block {
        Block::User { text, .. } | Block::Assistant { text, .. } | Block::Reasoning { text } => text.clone(),
        Block::Call(rule) => {
            let line = &rule.line;
            format!("call {} · {} tools · {}", line.number, line.tools, bytes(line.tool_bytes))
        }
        Block::Tool(row) => {
            let mut out = format!("{} {}", clean_line(&row.name), clean(&row.arguments.to_string()));
            let (state, _) = state_words(&row.state, 0);
            if !matches!(row.state, ToolState::Running { .. }) {
                let _ = write!(out, "\n{}", state.trim());
            }
            if let Some(work) = &row.work {
                let _ = write!(out, "\n{}", work.plain());
            }
            for part in [&row.diff, &row.result].into_iter().flatten() {
                let _ = write!(out, "\n{}", clean(part));
            }
            out
        }
        Block::Receipt(receipt) => {
            let detail =
                answer_detail(&receipt.answer).map(|detail| format!(": {}", clean_line(detail))).unwrap_or_default();
            format!("{} · {}{detail}", receipt.answer, clean_line(&receipt.tool))
        }
        Block::Alert { severity, message, hint } => {
            let label = if *severity == Severity::Warning { "warning" } else { "notice" };
            with_hint(label, message, hint)
        }
        Block::Note(words) => clean_line(words),
        Block::End(TurnEnd::Answered) => String::new(),
        Block::End(TurnEnd::WrappedUp) => "wrapped up".to_owned(),
        Block::End(TurnEnd::Stopped) => "stopped".to_owned(),
        Block::End(TurnEnd::Interrupted) => "interrupted".to_owned(),
        Block::End(TurnEnd::Failed { message, hint }) => with_hint("failed", message, hint),
        Block::Lines { title, lines } => {
            let mut out = clean_line(title);
            for line in lines {
                let _ = write!(out, "\n{}", clean(line));
            }
            out
        }
    }
}
