//! Writing to stdout and stderr, and the few forms that several commands print.

use std::io::{self, Write as _};

/// Writes `text` and a line end to stdout.
///
/// # Errors
/// Stdout is closed or full.
pub fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Writes `text` to stdout at once, without a line end.
///
/// # Errors
/// Stdout is closed or full.
pub fn piece(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes `text` and a line end to stderr. A closed stderr has nobody to tell.
pub fn error(text: &str) {
    let mut out = io::stderr().lock();
    let _closed = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
}

/// Bytes for people, in thousands: `812 B`, `18.0 kB`.
pub fn bytes(count: usize) -> String {
    if count < 1000 {
        format!("{count} B")
    } else {
        #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
        let thousands = count as f64 / 1000.0;
        format!("{thousands:.1} kB")
    }
}

/// `one, two`, or `none`.
pub fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

/// Text from outside for a terminal: what is neither text nor a line end or tab shows as a replacement character, bidi
/// overrides and zero-width characters included.
pub fn clean(text: &str) -> String {
    let hidden =
        |c: char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
    let shown = |c: char| if (c.is_control() && c != '\n' && c != '\t') || hidden(c) { '\u{FFFD}' } else { c };
    text.chars().map(shown).collect()
}
