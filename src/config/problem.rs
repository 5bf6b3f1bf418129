//! What is wrong with a configuration, all of it at once, in the one form that every such error has.
//!
//! Nothing here decides what is wrong. Values of keys that may be secrets are never quoted.

use std::fmt;
use std::path::Path;

use unicode_width::UnicodeWidthChar;

use super::Source;
use crate::access::{Fault, Span};

/// Most characters of a line that are quoted.
const QUOTE: usize = 110;
/// Most problems that are printed.
const MOST: usize = 60;

/// One thing wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where; `None`: not at any one word of the file.
    pub span: Option<Span>,
    /// What is wrong: a lower-case fragment.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self { span: fault.span, message: fault.message, hint: fault.hint }
    }
}

/// Everything wrong with one configuration, in the order of its lines. Its `Display` is what a person reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    source: Source,
    list: Vec<Problem>,
    missing: bool,
}

impl std::error::Error for Problems {}

impl Problems {
    pub(super) fn new(source: &Source, mut list: Vec<Problem>) -> Self {
        // Sorted by place, so that a person can work down the file; what has no place comes last.
        list.sort_by_key(|problem| problem.span.map_or(usize::MAX, |span| span.start));
        list.dedup_by(|later, earlier| later.span == earlier.span && later.message == earlier.message);
        Self { source: source.clone(), list, missing: false }
    }

    /// There is no file, so there is nothing to point at.
    pub(super) fn missing(path: &Path, message: String, hint: &str) -> Self {
        Self { missing: true, ..Self::unreadable(path, message, Some(hint.to_owned())) }
    }

    /// The file is there and its text could not be had.
    pub(super) fn unreadable(path: &Path, message: String, hint: Option<String>) -> Self {
        let source = Source { path: path.to_owned(), text: String::new() };
        Self { source, list: vec![Problem { span: None, message, hint }], missing: false }
    }

    /// What another check found, in the same form as this room's own.
    pub fn from_faults(source: &Source, faults: Vec<Fault>) -> Self {
        Self::new(source, faults.into_iter().map(Problem::from).collect())
    }

    /// Whether there simply is no configuration yet: the first run.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    /// The problems.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().take(MOST).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            print(f, &self.source, problem)?;
        }
        if self.list.len() > MOST {
            writeln!(f, "\n… and {} more", self.list.len() - MOST)?;
        }
        if self.list.len() > 1 {
            writeln!(f, "\n{} problems in {}", self.list.len(), self.source.path.display())?;
        }
        Ok(())
    }
}

fn print(f: &mut fmt::Formatter<'_>, source: &Source, problem: &Problem) -> fmt::Result {
    let path = source.path.display();
    match problem.span {
        Some(span) => {
            writeln!(f, "{path}:{}:{}: {}", span.line, span.column, plain(&problem.message))?;
            let number = span.line.to_string();
            let quote = Quote::of(&source.text, span);
            writeln!(f, "  {number} | {}", quote.line)?;
            writeln!(f, "  {:width$} | {:pad$}{}", "", "", quote.carets, width = number.len(), pad = quote.pad)?;
        }
        None => writeln!(f, "{path}: {}", plain(&problem.message))?,
    }
    if let Some(hint) = &problem.hint {
        writeln!(f, "  {}", plain(hint))?;
    }
    Ok(())
}

/// A line of the file as it is shown, and the carets below it.
struct Quote {
    line: String,
    pad: usize,
    carets: String,
}

impl Quote {
    fn of(text: &str, span: Span) -> Self {
        let start = floor(text, span.start);
        let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let line_end = text.get(start..).and_then(|after| after.find('\n')).map_or(text.len(), |at| start + at);
        let line = text.get(line_start..line_end).unwrap_or_default().trim_end_matches('\r');
        let first = text.get(line_start..start).map_or(0, |before| before.chars().count());
        let end = floor(text, span.end.clamp(start, line_end));
        let marked = text.get(start..end).map_or(0, |word| word.trim_end().chars().count()).max(1);

        let mut shown: Vec<char> = line.chars().collect();
        let hidden = secret(line).or_else(|| {
            let equals = line.chars().position(|character| character == '=');
            equals.filter(|_| is_below_headers(text.get(..line_start).unwrap_or_default()))
        });
        if let Some(equals) = hidden {
            shown.truncate(equals + 1);
            shown.extend([' ', '…']);
        }
        // A window that keeps the marked word in sight.
        let from = if first + marked.min(QUOTE / 2) > QUOTE { first.saturating_sub(QUOTE / 4) } else { 0 };
        let mut line = String::new();
        if from > 0 {
            line.push('…');
        }
        let mut pad = usize::from(from > 0);
        let mut under = 0;
        for (index, character) in shown.iter().enumerate().skip(from).take(QUOTE) {
            let character = visible(*character);
            let width = character.width().unwrap_or(0);
            if index < first {
                pad += width;
            } else if index < first + marked {
                under += width;
            }
            line.push(character);
        }
        if shown.len() > from + QUOTE {
            line.push('…');
        }
        Self { line, pad, carets: "^".repeat(under.max(1)) }
    }
}

/// Where the value of a line begins that may hold a secret: the index of its `=`, in characters.
fn secret(line: &str) -> Option<usize> {
    let lower = line.to_lowercase();
    let equals = lower.chars().position(|character| character == '=')?;
    let key: String = lower.chars().take(equals).collect();
    let key = key.trim().trim_matches(['"', '\'']);
    let names_a_secret =
        ["password", "secret", "authorization", "bearer", "credential"].iter().any(|word| lower.contains(word))
            || key.ends_with("token")
            || key.contains("headers")
            || (["api_key", "api-key", "apikey"].iter().any(|word| lower.contains(word)) && !names_a_variable(line));
    let signs_in = lower
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split(['/', '"', '\'', ' ']).next().is_some_and(|host| host.contains('@')));
    (names_a_secret || signs_in).then_some(equals)
}

/// Whether a line says `api_key_env = "NAME"` and nothing else. Anything else there may be a key, or print one.
fn names_a_variable(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let value = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    key.trim().ends_with("api_key_env")
        && value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether the table that the text ends in is one of headers: every value there may be a secret.
fn is_below_headers(text: &str) -> bool {
    let table = text.lines().rev().map(str::trim_start).find(|line| line.starts_with('['));
    table.is_some_and(|line| line.contains("headers"))
}

/// A character as it may stand on a terminal: nothing that moves, hides or reorders.
pub(super) fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' => '\u{FFFD}',
        other if other.is_control() => '\u{FFFD}',
        other => other,
    }
}

fn plain(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Turns byte ranges into places.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    pub(super) fn span(&self, range: std::ops::Range<usize>) -> Span {
        let start = floor(self.text, range.start);
        let line = self.starts.partition_point(|first| *first <= start).max(1);
        let first = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(first..start).map_or(0, |before| before.chars().count()) + 1;
        Span { start, end: range.end.clamp(start, self.text.len()), line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, word: &str) -> String {
        let at = text.find(word).unwrap();
        let source = Source { path: "config.toml".into(), text: text.to_owned() };
        let span = Lines::new(text).span(at..at + word.len());
        Problems::new(&source, vec![Problem { span: Some(span), message: "wrong".to_owned(), hint: None }]).to_string()
    }

    #[test]
    fn the_caret_stands_under_the_word_whatever_stands_before_it() {
        assert_eq!(
            shown("a = 1\n\t日本 = bad\n", "bad"),
            "config.toml:2:7: wrong\n  2 |  日本 = bad\n    |         ^^^\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_word() {
        let text = format!("key = \"{}\" # bad {}", "x".repeat(300), "y".repeat(300));
        let shown = shown(&text, "bad");
        let lines: Vec<&str> = shown.lines().collect();
        let caret = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().skip(caret).take(3).collect::<String>(), "bad");
        assert!(lines[1].chars().count() < 130);
    }

    #[test]
    fn a_secret_is_never_quoted() {
        for line in [
            "api_key = \"hush\"",
            "token = \"hush\"",
            "headers = { Authorization = \"hush\" }",
            "x-api-key = \"hush\"",
            "api_key_env = \"sk-hush\"",
            "api_key_command = [\"echo\", \"hush\"]",
            "openai = { api_key_env = \"sk-hush\" }",
            "headers.X-Mine = \"hush\"",
            "[providers.openai.headers]\nX-Mine = \"hush\"",
            "base_url = \"http://me:hush@host\"",
        ] {
            assert!(!shown(line, "hush").contains("hush"), "{line}");
        }
        for line in ["api_key_env = \"NAME\"", "max_tokens = \"NAME\""] {
            assert!(shown(line, "NAME").contains("NAME"), "{line}");
        }
    }

    #[test]
    fn nothing_in_a_quoted_line_moves_the_terminal() {
        let shown = shown("a = \"\u{1b}[2J\u{202e}bad\"", "bad");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    }

    #[test]
    fn a_place_past_the_end_or_inside_a_character_is_still_a_place() {
        let lines = Lines::new("é\nb");
        assert_eq!(lines.span(1..9).column, 1);
        assert_eq!(lines.span(99..100).line, 2);
        assert_eq!(Lines::new("").span(0..0).line, 1);
    }
}
