//! One line of text being typed outside the composer: a search, a filter, a reason.

use super::message::{Key, KeyCode};

/// Characters a line holds at most.
const LONGEST: usize = 2_000;

/// The line and its caret.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineInput {
    text: Vec<char>,
    caret: usize,
}

impl LineInput {
    /// A line that holds `text`, with the caret at its end.
    pub fn of(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    /// What was typed.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// What stands before the caret.
    pub fn before_caret(&self) -> String {
        self.text.iter().take(self.caret).collect()
    }

    /// Nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Inserts at the caret; line ends become spaces, other control characters are dropped.
    pub fn insert(&mut self, text: &str) {
        for character in text.chars() {
            let character = if matches!(character, '\n' | '\t') { ' ' } else { character };
            if !character.is_control() && self.text.len() < LONGEST {
                self.text.insert(self.caret, character);
                self.caret += 1;
            }
        }
    }

    /// Takes a key. Whether it did anything.
    pub fn key(&mut self, key: Key) -> bool {
        let ctrl = key.modifiers.ctrl;
        match key.code {
            KeyCode::Char('u') if ctrl => drop(self.text.drain(..self.caret)),
            KeyCode::Char('k') if ctrl => self.text.truncate(self.caret),
            KeyCode::Char('e') if ctrl => {}
            KeyCode::Char('w') if ctrl => {
                let word = self.text.iter().take(self.caret).rev().skip_while(|c| c.is_whitespace());
                let kept = word.skip_while(|c| !c.is_whitespace()).count();
                self.text.drain(kept..self.caret);
                self.caret = kept;
                return true;
            }
            KeyCode::Backspace => {
                if self.caret > 0 {
                    self.caret -= 1;
                    self.text.remove(self.caret);
                }
                return true;
            }
            KeyCode::Delete => {
                if self.caret < self.text.len() {
                    self.text.remove(self.caret);
                }
                return true;
            }
            KeyCode::Left => {
                self.caret = self.caret.saturating_sub(1);
                return true;
            }
            KeyCode::Right => {
                self.caret = (self.caret + 1).min(self.text.len());
                return true;
            }
            KeyCode::Home => {
                self.caret = 0;
                return true;
            }
            KeyCode::End => {}
            _ => match key.typed() {
                Some(character) => {
                    self.insert(character.encode_utf8(&mut [0; 4]));
                    return true;
                }
                None => return false,
            },
        }
        self.caret = if matches!(key.code, KeyCode::Char('u')) { 0 } else { self.text.len() };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_at_its_caret() {
        let mut line = LineInput::of("not this\nnow");
        assert_eq!(line.text(), "not this now");
        for key in ["Ctrl+W", "Left", "x", "Home", "Delete", "End", "!"] {
            line.key(key.parse().unwrap());
        }
        assert_eq!(line.text(), "ot thisx !");
        line.key("Ctrl+U".parse().unwrap());
        assert!(line.is_empty());
        assert!(!line.key("F2".parse().unwrap()));
    }
}
