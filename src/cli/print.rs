//! Writing to stdout and stderr, and the few forms that several commands print.

use std::io::{self, IsTerminal as _, Write as _};

use crate::agent::{Alert, Ending};

/// Writes `text` and a line end to stdout, [`clean`].
///
/// # Errors
/// Stdout is closed or full.
pub fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(clean(text).as_bytes())?;
    out.write_all(b"\n")
}

/// Writes one JSON value as a line to stdout. What a terminal could take for a command is written as an escape.
///
/// # Errors
/// Stdout is closed or full, or the value is none that JSON has.
pub fn json(value: &impl serde::Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    out.write_all(escaped(&text).as_bytes())?;
    out.write_all(b"\n")
}

/// Writes a piece of an answer to stdout at once, without a line end: [`clean`] on a terminal, as it is into a pipe or a
/// file.
///
/// # Errors
/// Stdout is closed or full.
pub fn piece(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        out.write_all(clean(text).as_bytes())?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

/// Writes `text` and a line end to stderr, [`clean`]. A closed stderr has nobody to tell.
pub fn error(text: &str) {
    let mut out = io::stderr().lock();
    let _closed = out.write_all(clean(text).as_bytes()).and_then(|()| out.write_all(b"\n"));
}

/// Writes what a person should know of a start that is not followed by a screen to stderr.
pub fn alerts(alerts: &[Alert]) {
    for alert in alerts {
        error(&format!("[alert] {}", alert.message));
        if let Some(hint) = &alert.hint {
            error(&format!("        {hint}"));
        }
    }
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
/// overrides and zero-width characters included. Joiners stay: scripts and emoji are written with them.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if moves(c) && c != '\n' && c != '\t' { '\u{FFFD}' } else { c }).collect()
}

/// JSON text that says the same and in which nothing is left that could move a terminal. Control characters below a
/// space are escaped already; any other one can only stand inside of a string.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if moves(c) {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            text.push(c);
        }
    }
    text
}

/// What moves, hides or reorders on a terminal.
fn moves(c: char) -> bool {
    let hidden = matches!(c, '\u{200B}' | '\u{200E}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
    c.is_control() || hidden
}

/// A call's ending in a word or two.
pub fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Ok | Ending::Loaded { .. } => "ok",
        Ending::Failed => "failed",
        Ending::InvalidArguments => "invalid arguments",
        Ending::Unknown => "unknown tool",
        Ending::Refused => "refused",
        Ending::NotAllowed => "not allowed",
        Ending::TimedOut => "timed out",
        Ending::NotExecuted => "not executed",
        Ending::Interrupted => "interrupted",
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, escaped};

    #[test]
    fn nothing_from_outside_moves_the_terminal() {
        assert_eq!(clean("a\u{1b}[2J\u{9b}1m\u{202e}\r\n\tb"), "a\u{fffd}[2J\u{fffd}1m\u{fffd}\u{fffd}\n\tb");
        assert_eq!(clean("👩\u{200d}🚀"), "👩\u{200d}🚀");
    }

    #[test]
    fn json_says_the_same_without_a_character_that_moves() {
        let value = serde_json::json!({"text": "\u{1b}\u{9b}\u{7f}\u{202e}é\n"});
        let text = escaped(&value.to_string());
        assert!(text.chars().all(|c| c == 'é' || (' '..='~').contains(&c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
