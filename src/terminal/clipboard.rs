//! The clipboard, through the terminal (OSC 52): works over ssh, and the terminal may refuse without a word.

use std::io::{self, Write};

use crossterm::clipboard::CopyToClipboard;
use crossterm::queue;

/// Bytes of text that terminals take in one sequence; the common limit is 100,000 after encoding.
pub const LIMIT: usize = 74_000;

/// What stands between this program and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    /// Nothing that is known.
    None,
    /// tmux, which hands a sequence on only when it is wrapped.
    Tmux,
}

/// Sends `text` to the terminal's clipboard. The answer is what to tell the person: nothing confirms a copy.
///
/// # Errors
/// The terminal is gone.
pub fn copy(out: &mut impl Write, text: &str, multiplexer: Multiplexer) -> io::Result<String> {
    if text.len() > LIMIT {
        return Ok(format!(
            "not copied: {} bytes are more than a terminal's clipboard takes ({LIMIT}); open it in the pager instead",
            text.len()
        ));
    }
    queue!(out, CopyToClipboard::to_clipboard_from(text))?;
    if multiplexer == Multiplexer::Tmux {
        let mut sequence = Vec::new();
        queue!(sequence, CopyToClipboard::to_clipboard_from(text))?;
        out.write_all(b"\x1bPtmux;")?;
        for byte in sequence {
            if byte == b'\x1b' {
                out.write_all(b"\x1b")?;
            }
            out.write_all(&[byte])?;
        }
        out.write_all(b"\x1b\\")?;
    }
    out.flush()?;
    let count = text.chars().count();
    Ok(format!("{count} character{} sent to the terminal's clipboard", if count == 1 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use super::{LIMIT, Multiplexer, copy};

    #[test]
    fn text_goes_out_encoded() {
        let mut out = Vec::new();
        let said = copy(&mut out, "hé\x1b]", Multiplexer::None).unwrap();
        assert_eq!(out, b"\x1b]52;c;aMOpG10=\x1b\\");
        assert_eq!(said, "4 characters sent to the terminal's clipboard");
    }

    #[test]
    fn tmux_gets_it_wrapped_as_well() {
        let mut out = Vec::new();
        copy(&mut out, "a", Multiplexer::Tmux).unwrap();
        assert_eq!(out, b"\x1b]52;c;YQ==\x1b\\\x1bPtmux;\x1b\x1b]52;c;YQ==\x1b\x1b\\\x1b\\");
    }

    #[test]
    fn too_much_is_not_cut_but_refused() {
        let mut out = Vec::new();
        let said = copy(&mut out, &"x".repeat(LIMIT + 1), Multiplexer::None).unwrap();
        assert!(out.is_empty());
        assert!(said.starts_with("not copied: 74001 bytes"), "{said}");
    }
}
