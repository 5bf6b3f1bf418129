//! What everything from outside passes before it reaches a cell: no escape sequence, control character, bidi override,
//! zero-width character or risky emoji cluster gets through; [`visible`] shows them instead, for approval cards.
//!
//! It never looks at meaning, and a cut anywhere in a stream gives the same text.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// Columns between tab stops.
const TAB: usize = 4;
/// Combining marks kept on one base character; more of them draw over neighbouring rows.
const MARKS: u8 = 4;
/// The longest escape sequence taken for one, in characters; after that the text goes on.
const SEQUENCE: u16 = 4_096;

/// Where in an escape sequence the stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// After a carriage return whose line feed may still come.
    Return,
    /// After ESC.
    Escape,
    /// ESC with intermediate bytes.
    Intermediate,
    /// Control sequence: parameters up to a final byte.
    Control,
    /// Operating-system command and its kin: up to ST or BEL, or the end of its line.
    Text,
    /// ESC inside of that: the first half of ST.
    TextEscape,
}

/// Cleans a stream piece by piece: any cut of the same text gives the same result.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    state: State,
    column: usize,
    length: u16,
    marks: u8,
}

impl Cleaner {
    /// Appends the cleaned `piece` to `out`. The start of an escape sequence, or a carriage return, at the end of the
    /// piece is held back until its rest comes.
    pub fn push(&mut self, piece: &str, out: &mut String) {
        let mut rest = piece;
        while !rest.is_empty() {
            if self.state == State::Ground {
                let plain = rest.bytes().take_while(|byte| (0x20..0x7f).contains(byte)).count();
                if plain > 0 {
                    out.push_str(&rest[..plain]);
                    self.column += plain;
                    self.marks = 0;
                    rest = &rest[plain..];
                    continue;
                }
            }
            let Some(character) = rest.chars().next() else { break };
            rest = &rest[character.len_utf8()..];
            self.take(character, out);
        }
    }

    fn take(&mut self, character: char, out: &mut String) {
        if self.state == State::Ground {
            return self.ground(character, out);
        }
        self.length = self.length.saturating_add(1);
        let over = self.length >= SEQUENCE;
        self.state = match (self.state, character) {
            (State::Return, '\n') => {
                self.newline(out);
                State::Ground
            }
            (State::Return, _) => {
                self.newline(out);
                return self.again(character, out);
            }
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Text,
            (State::Escape | State::Intermediate, ' '..='/') if !over => State::Intermediate,
            (State::Escape | State::Intermediate, '0'..='~')
            | (State::Control, '@'..='~')
            | (State::Text, '\u{7}' | '\u{9c}')
            | (State::TextEscape, '\\') => State::Ground,
            (State::Control, ' '..='?') if !over => State::Control,
            (State::Text, '\u{1b}') => State::TextEscape,
            // One that never ends goes no further than its line.
            (State::Text, _) if !over && !matches!(character, '\n' | '\r') => State::Text,
            (State::TextEscape, _) => {
                self.state = State::Escape;
                return self.take(character, out);
            }
            _ => return self.again(character, out),
        };
    }

    /// The sequence broke off here: `character` is ordinary again.
    fn again(&mut self, character: char, out: &mut String) {
        self.state = State::Ground;
        self.ground(character, out);
    }

    fn newline(&mut self, out: &mut String) {
        out.push('\n');
        self.column = 0;
        self.marks = 0;
    }

    fn ground(&mut self, character: char, out: &mut String) {
        let enter = |state| (state, 0);
        match character {
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => self.newline(out),
            '\r' => (self.state, self.length) = enter(State::Return),
            '\u{1b}' => (self.state, self.length) = enter(State::Escape),
            '\u{9b}' => (self.state, self.length) = enter(State::Control),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => (self.state, self.length) = enter(State::Text),
            '\t' => {
                let spaces = TAB - self.column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                self.column += spaces;
                self.marks = 0;
            }
            // A flag is two regional indicators, drawn as one, two or four columns depending on the terminal.
            '\u{1f1e6}'..='\u{1f1ff}' => {
                let letter = u8::try_from(u32::from(character) - 0x1f1e6).unwrap_or(0) + b'A';
                self.plain(char::from(letter), 1, out);
            }
            // Half-width voicing marks join the letter before in one place and stand alone in another.
            '\u{ff9e}' => self.plain('\u{309b}', 2, out),
            '\u{ff9f}' => self.plain('\u{309c}', 2, out),
            _ if hidden(character) => {}
            _ => match character.width() {
                Some(0) if self.column > 0 && self.marks < MARKS => {
                    self.marks += 1;
                    out.push(character);
                }
                // A mark without a base, or one too many, would join a cell that is not its own.
                Some(0) | None => {}
                Some(columns) => self.plain(character, columns, out),
            },
        }
    }

    fn plain(&mut self, character: char, columns: usize, out: &mut String) {
        out.push(character);
        self.column += columns;
        self.marks = 0;
    }
}

/// Characters that draw nothing, change the direction or the shape of others, or merge them into clusters whose width
/// terminals disagree about.
fn hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{20e3}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

/// `text` without anything that could draw outside its cell; line ends become `\n`, tabs spaces.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | 0x20..0x7f)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    Cleaner::default().push(text, &mut out);
    Cow::Owned(out)
}

/// [`clean`], on one line: line ends and runs of white space become one space, the ends are trimmed.
pub fn clean_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in clean(text).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// `text` with everything that [`clean`] would take away, and every space that only looks like one, shown: `␍`, `␛`,
/// `⟨U+202E⟩` (P15). Line feeds stay line ends; nothing is dropped.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut marks, mut base) = (0_u8, false);
    for character in text.chars() {
        let code = u32::from(character);
        let mark = character.width() == Some(0);
        match character {
            '\n' => out.push('\n'),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + code)),
            '\u{7f}' => out.push('\u{2421}'),
            _ if deceives(character) || (mark && (!base || marks >= MARKS)) => {
                let _ = write!(out, "\u{27e8}U+{code:04X}\u{27e9}");
            }
            _ => out.push(character),
        }
        (marks, base) = if mark { (marks.saturating_add(1), base) } else { (0, character != '\n') };
    }
    out
}

/// JSON text with every character that draws nothing, looks like another or changes how others are drawn as its escape,
/// which means the same there.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && deceives(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether a character draws nothing, looks like another, or changes how others are drawn.
fn deceives(character: char) -> bool {
    hidden(character)
        || lookalike_space(character)
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{ff9e}' | '\u{ff9f}' | '\u{1f1e6}'..='\u{1f1ff}')
}

/// Spaces that look like U+0020 and are another character to a shell.
fn lookalike_space(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}')
}
