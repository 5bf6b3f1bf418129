//! What can happen to the screen: keys, pastes, sizes, ticks, and what the assistant tells. Every message arrives with
//! the time it arrived at; nothing here reads a clock or a terminal.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::inbox::CardId;
use crate::agent::Update;

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyCode {
    /// A character; its case is the character's own, so Shift is never set beside it.
    Char(char),
    /// Enter.
    Enter,
    /// Tab; Shift+Tab is this with Shift.
    Tab,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, from 1.
    F(u8),
}

/// What was held down with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Modifiers {
    /// Control.
    pub ctrl: bool,
    /// Alt or Meta.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
}

impl Modifiers {
    /// None held.
    pub const NONE: Self = Self { ctrl: false, alt: false, shift: false };
    /// Control alone.
    pub const CTRL: Self = Self { ctrl: true, alt: false, shift: false };
    /// Alt alone.
    pub const ALT: Self = Self { ctrl: false, alt: true, shift: false };
    /// Shift alone.
    pub const SHIFT: Self = Self { ctrl: false, alt: false, shift: true };
}

/// One press of a key, normalized: see [`Key::new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which.
    pub code: KeyCode,
    /// With what.
    pub modifiers: Modifiers,
}

impl Key {
    /// A press in its one normal form, whatever protocol the terminal speaks: a character drops Shift, a control
    /// letter is lower case, and `Ctrl+/` and `Ctrl+7` (the byte that both send) are `Ctrl+_`.
    pub fn new(code: KeyCode, modifiers: Modifiers) -> Self {
        let mut key = Self { code, modifiers };
        if let KeyCode::Char(character) = key.code {
            let cased = match character {
                '\t' => return Self::new(KeyCode::Tab, modifiers),
                '\r' => return Self::new(KeyCode::Enter, modifiers),
                '\n' => return Self::new(KeyCode::Char('j'), Modifiers { ctrl: true, ..modifiers }),
                '7' | '/' if modifiers.ctrl => '_',
                _ if modifiers.ctrl => character.to_ascii_lowercase(),
                _ if modifiers.shift => {
                    let mut upper = character.to_uppercase();
                    upper.next().filter(|_| upper.next().is_none()).unwrap_or(character)
                }
                _ => character,
            };
            key.code = KeyCode::Char(cased);
            key.modifiers.shift = false;
        }
        key
    }

    /// A key alone.
    pub fn plain(code: KeyCode) -> Self {
        Self::new(code, Modifiers::NONE)
    }

    /// The character that this press types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(character) if self.modifiers == Modifiers::NONE && !character.is_control() => Some(character),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::new();
        for (held, word) in
            [(self.modifiers.ctrl, "Ctrl+"), (self.modifiers.alt, "Alt+"), (self.modifiers.shift, "Shift+")]
        {
            if held {
                name.push_str(word);
            }
        }
        match self.code {
            KeyCode::Char(' ') => name.push_str("Space"),
            KeyCode::Char(character) if self.modifiers.ctrl => name.extend(character.to_uppercase()),
            KeyCode::Char(character) => name.push(character),
            KeyCode::F(number) => _ = write!(name, "F{number}"),
            KeyCode::PageUp => name.push_str("PgUp"),
            KeyCode::PageDown => name.push_str("PgDn"),
            other => _ = write!(name, "{other:?}"),
        }
        f.pad(&name)
    }
}

/// A key's name that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a key")]
pub struct UnknownKey(pub String);

impl FromStr for Key {
    type Err = UnknownKey;

    /// Reads `Ctrl+Y`, `alt+enter`, `F2`, `Space`, `?`, `D`. Modifiers and names in any casing; a lone letter keeps its own.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownKey(text.to_owned());
        let mut modifiers = Modifiers::NONE;
        let mut rest = text.trim();
        while let Some((word, tail)) =
            rest.split_once(['+', '-']).filter(|(word, tail)| !word.is_empty() && !tail.is_empty())
        {
            match word.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => modifiers.ctrl = true,
                "alt" | "meta" => modifiers.alt = true,
                "shift" => modifiers.shift = true,
                _ => return Err(unknown()),
            }
            rest = tail;
        }
        let mut characters = rest.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Ok(Self::new(KeyCode::Char(only), modifiers));
        }
        let code = match rest.to_ascii_lowercase().as_str() {
            "enter" | "return" => KeyCode::Enter,
            "tab" => KeyCode::Tab,
            "esc" | "escape" => KeyCode::Esc,
            "space" => KeyCode::Char(' '),
            "backspace" => KeyCode::Backspace,
            "delete" | "del" => KeyCode::Delete,
            "insert" => KeyCode::Insert,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "pgup" | "pageup" => KeyCode::PageUp,
            "pgdn" | "pagedown" => KeyCode::PageDown,
            name => {
                let number = name.strip_prefix('f').and_then(|digits| digits.parse::<u8>().ok());
                KeyCode::F(number.filter(|number| (1..=24).contains(number)).ok_or_else(unknown)?)
            }
        };
        Ok(Self::new(code, modifiers))
    }
}

/// What a mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseKind {
    /// The left button went down.
    Press,
    /// The wheel turned away.
    ScrollUp,
    /// The wheel turned towards.
    ScrollDown,
}

/// One mouse event; the cell counts from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mouse {
    /// What.
    pub kind: MouseKind,
    /// The cell's column.
    pub column: u16,
    /// The cell's row.
    pub row: u16,
}

/// What text an editor was opened on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EditorPurpose {
    /// The composer's draft.
    Draft,
    /// The arguments of a call that asks, as JSON.
    Arguments(CardId),
}

/// One message. Each is handed to [`super::update()`] with the time it arrived.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed (or repeats).
    Key(Key),
    /// Text was pasted, whole.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal has this size, in cells. The first message of every session.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal window got the focus (`true`) or lost it.
    Focus(bool),
    /// Nothing happened but time: sent when [`super::Ui::next_wake`] asked for it.
    Tick,
    /// The assistant told something.
    Update(Box<Update>),
    /// An editor that [`super::Cmd::OpenEditor`] opened is closed: the text, or why there is none. The text is unchanged
    /// when the person did not save.
    EditorReturned {
        /// What it was opened on.
        purpose: EditorPurpose,
        /// The text as saved.
        text: Result<String, String>,
    },
    /// Somebody else had the terminal until now: an editor, a pager, a shell.
    Returned,
    /// Something the terminal was asked for could not be done, or was done in a way worth saying: one sentence.
    Notice(String),
}
