//! The window's title, and the bell with a desktop notification (OSC 9). When to ring is the screen's decision.

use std::io::{self, Write};

/// Characters of a title or a notification.
const LIMIT: usize = 200;

/// Rings, and shows `text` on the desktop where the terminal can.
///
/// # Errors
/// The terminal is gone.
pub fn notify(out: &mut impl Write, text: &str) -> io::Result<()> {
    // Without a word before it, a text that begins with `4;` would be a progress report to some terminals.
    write!(out, "\x07\x1b]9;kokua: {}\x1b\\", bounded(text))?;
    out.flush()
}

/// Titles the window.
///
/// # Errors
/// The terminal is gone.
pub fn title(out: &mut impl Write, text: &str) -> io::Result<()> {
    write!(out, "\x1b]2;{}\x1b\\", bounded(text))?;
    out.flush()
}

/// A text that cannot end its own sequence.
fn bounded(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::{notify, title};

    #[test]
    fn the_bell_rings_and_the_text_is_named() {
        let mut out = Vec::new();
        notify(&mut out, "coder asks: run_command").unwrap();
        assert_eq!(out, b"\x07\x1b]9;kokua: coder asks: run_command\x1b\\");
    }

    #[test]
    fn a_text_cannot_leave_its_sequence() {
        let mut out = Vec::new();
        title(&mut out, "a\x1b\\b\u{9c}c\x07d\n").unwrap();
        assert_eq!(out, b"\x1b]2;a\\bcd\x1b\\");
        out.clear();
        title(&mut out, &"x".repeat(5000)).unwrap();
        assert_eq!(out.len(), 200 + 6);
    }
}
