//! A tool's answer, bounded: what was cut says how much.
//!
//! Nothing here decides what an answer says; it only keeps every answer within [`MAX_BYTES`].

use std::borrow::Cow;

/// No answer is longer than this, marker included (64 KiB). Tools with a tighter bound of their own state it.
pub const MAX_BYTES: usize = 64 * 1024;

/// No note is longer than this, in characters.
const MAX_NOTE_CHARS: usize = 60;

/// How a tool's own run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Ok,
    /// It answered with an error.
    Failed,
    /// Its own time limit ended it.
    TimedOut,
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub outcome: Outcome,
    /// What the model reads. At most [`MAX_BYTES`] when made by the functions here.
    pub text: String,
    /// A few words for the row, such as `14 entries`.
    pub note: Option<String>,
}

impl Output {
    /// It answered with `text`, cut to [`MAX_BYTES`].
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Outcome::Ok, text)
    }

    /// It answered with an error, cut to [`MAX_BYTES`].
    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(Outcome::Failed, text)
    }

    /// Its time limit ended it; `text` is what there was until then, cut to [`MAX_BYTES`].
    pub fn timed_out(text: impl Into<String>) -> Self {
        Self::new(Outcome::TimedOut, text)
    }

    /// The same answer with a few words for the row, cut to 60 characters.
    #[must_use]
    pub fn with_note(mut self, note: impl AsRef<str>) -> Self {
        self.note = Some(note.as_ref().chars().take(MAX_NOTE_CHARS).collect());
        self
    }

    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        let text = text.into();
        let text = match bounded(&text, MAX_BYTES) {
            Cow::Borrowed(_) => text,
            Cow::Owned(cut) => cut,
        };
        Self { outcome, text, note: None }
    }
}

/// `1 line`, `2 lines`: a count with its noun.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The head of `text` that fits `limit` bytes together with a marker that says how many bytes were cut. Never cuts
/// inside a character. A limit too small for the marker yields the marker alone.
pub fn bounded(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    // The marker's length depends on the number in it; the whole length is the longest that number can be.
    let room = limit.saturating_sub(cut_marker(text.len()).len() + 1);
    let head = head(text, room);
    let separator = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    Cow::Owned(format!("{head}{separator}{}", cut_marker(text.len() - head.len())))
}

/// The longest head of `text` of at most `limit` bytes that ends between characters.
pub fn head(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default()
}

/// `[... truncated 812 more bytes]`.
pub fn cut_marker(bytes: usize) -> String {
    format!("[... truncated {bytes} more bytes]")
}

/// Shortens one line to `limit` characters, with `…` where something was cut.
pub fn one_line(text: &str, limit: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = characters.by_ref().take(limit).collect();
    if characters.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_says_how_many_bytes_are_missing() {
        let text = "x".repeat(100);
        let cut = bounded(&text, 60);
        let kept = cut.chars().take_while(|c| *c == 'x').count();
        assert_eq!(*cut, format!("{}\n[... truncated {} more bytes]", "x".repeat(kept), 100 - kept));
        assert!(cut.len() <= 60);
    }

    #[test]
    fn what_fits_is_not_touched() {
        assert!(matches!(bounded("abc", 3), Cow::Borrowed("abc")));
    }

    #[test]
    fn an_answer_is_bounded_and_a_note_is_short() {
        let output = Output::ok("é".repeat(MAX_BYTES)).with_note("n".repeat(500));
        assert!(output.text.len() <= MAX_BYTES);
        assert!(output.text.contains("truncated"));
        assert_eq!(output.note.map(|note| note.len()), Some(MAX_NOTE_CHARS));
    }

    #[test]
    fn one_line_has_no_control_characters() {
        assert_eq!(one_line("a\nb\u{1b}[31m", 80), "a b [31m");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }

    proptest! {
        #[test]
        fn a_cut_adds_up(text in "\\PC{0,200}", limit in 40usize..120) {
            let cut = bounded(&text, limit);
            prop_assert!(cut.len() <= limit);
            if let Cow::Owned(cut) = cut {
                let (kept, marker) = cut.rsplit_once("[... truncated ").unwrap();
                let kept = kept.strip_suffix('\n').unwrap_or(kept);
                let missing: usize = marker.trim_end_matches(" more bytes]").parse().unwrap();
                prop_assert!(text.starts_with(kept));
                // The separator may itself stand for a newline of the text.
                prop_assert!(kept.len() + missing == text.len() || kept.len() + missing + 1 == text.len());
            }
        }
    }
}
