//! What the terminal sends, in the screen's own words. What the screen has no word for is nothing.

use crossterm::event::{Event, KeyCode as Code, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};

use crate::ui::{Key, KeyCode, Modifiers, Mouse, MouseKind, Msg};

/// A terminal event as the screen's message, if it means anything to it: releases, movements and keys held with Super
/// do not.
pub fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(event) => key(event).map(Msg::Key),
        // Terminals send line ends of a paste as the Enter key does.
        Event::Paste(text) => Some(Msg::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))),
        Event::Resize(width, height) => Some(Msg::Resize { width, height }),
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        Event::Mouse(event) => {
            let kind = match event.kind {
                MouseEventKind::Down(MouseButton::Left) => MouseKind::Press,
                MouseEventKind::ScrollUp => MouseKind::ScrollUp,
                MouseEventKind::ScrollDown => MouseKind::ScrollDown,
                _ => return None,
            };
            Some(Msg::Mouse(Mouse { kind, column: event.column, row: event.row }))
        }
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release || event.modifiers.intersects(KeyModifiers::SUPER | KeyModifiers::HYPER) {
        return None;
    }
    let held = |modifier| event.modifiers.contains(modifier);
    let mut modifiers = Modifiers {
        ctrl: held(KeyModifiers::CONTROL),
        alt: held(KeyModifiers::ALT) || held(KeyModifiers::META),
        shift: held(KeyModifiers::SHIFT),
    };
    let code = match event.code {
        Code::Char(character) => KeyCode::Char(character),
        Code::Enter => KeyCode::Enter,
        Code::Tab => KeyCode::Tab,
        Code::BackTab => {
            modifiers.shift = true;
            KeyCode::Tab
        }
        Code::Esc => KeyCode::Esc,
        Code::Backspace => KeyCode::Backspace,
        Code::Delete => KeyCode::Delete,
        Code::Insert => KeyCode::Insert,
        Code::Up => KeyCode::Up,
        Code::Down => KeyCode::Down,
        Code::Left => KeyCode::Left,
        Code::Right => KeyCode::Right,
        Code::Home => KeyCode::Home,
        Code::End => KeyCode::End,
        Code::PageUp => KeyCode::PageUp,
        Code::PageDown => KeyCode::PageDown,
        Code::F(number) => KeyCode::F(number),
        // The byte 0, which terminals send for Ctrl+Space.
        Code::Null => {
            modifiers.ctrl = true;
            KeyCode::Char(' ')
        }
        Code::CapsLock
        | Code::ScrollLock
        | Code::NumLock
        | Code::PrintScreen
        | Code::Pause
        | Code::Menu
        | Code::KeypadBegin
        | Code::Media(_)
        | Code::Modifier(_) => return None,
    };
    Some(Key::new(code, modifiers))
}

#[cfg(test)]
mod tests {
    use crossterm::event::{
        Event, KeyCode as Code, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
    };

    use super::message;
    use crate::ui::{Mouse, MouseKind, Msg};

    #[test]
    fn keys_have_one_name_whatever_the_terminal_speaks() {
        let table = [
            (Code::Char('a'), KeyModifiers::NONE, "a"),
            (Code::Char('A'), KeyModifiers::SHIFT, "A"),
            (Code::Char('D'), KeyModifiers::NONE, "D"),
            (Code::Char('j'), KeyModifiers::CONTROL, "Ctrl+J"),
            (Code::Char('7'), KeyModifiers::CONTROL, "Ctrl+_"),
            (Code::Char('x'), KeyModifiers::META, "Alt+x"),
            (Code::BackTab, KeyModifiers::SHIFT, "Shift+Tab"),
            (Code::BackTab, KeyModifiers::NONE, "Shift+Tab"),
            (Code::Enter, KeyModifiers::SHIFT, "Shift+Enter"),
            (Code::Enter, KeyModifiers::ALT, "Alt+Enter"),
            (Code::Null, KeyModifiers::NONE, "Ctrl+Space"),
            (Code::F(2), KeyModifiers::NONE, "F2"),
            (Code::PageUp, KeyModifiers::NONE, "PgUp"),
        ];
        for (code, modifiers, name) in table {
            let Some(Msg::Key(key)) = message(Event::Key(KeyEvent::new(code, modifiers))) else {
                panic!("{name} is no key");
            };
            assert_eq!(key.to_string(), name);
        }
    }

    #[test]
    fn releases_lone_modifiers_and_super_are_nothing() {
        let press = KeyEvent::new(Code::Char('a'), KeyModifiers::NONE);
        let nothing = [
            KeyEvent { kind: KeyEventKind::Release, ..press },
            KeyEvent::new(Code::Char('q'), KeyModifiers::SUPER),
            KeyEvent::new(Code::CapsLock, KeyModifiers::NONE),
        ];
        for event in nothing {
            assert_eq!(message(Event::Key(event)), None, "{event:?}");
        }
        assert!(message(Event::Key(KeyEvent { kind: KeyEventKind::Repeat, ..press })).is_some());
    }

    #[test]
    fn pastes_have_one_line_end() {
        assert_eq!(message(Event::Paste("a\r\nb\rc\nd".into())), Some(Msg::Paste("a\nb\nc\nd".into())));
    }

    #[test]
    fn of_the_mouse_only_the_left_button_and_the_wheel_count() {
        let of = |kind| message(Event::Mouse(MouseEvent { kind, column: 3, row: 4, modifiers: KeyModifiers::NONE }));
        let expected = |kind| Some(Msg::Mouse(Mouse { kind, column: 3, row: 4 }));
        assert_eq!(of(MouseEventKind::Down(MouseButton::Left)), expected(MouseKind::Press));
        assert_eq!(of(MouseEventKind::ScrollDown), expected(MouseKind::ScrollDown));
        assert_eq!(of(MouseEventKind::Down(MouseButton::Right)), None);
        assert_eq!(of(MouseEventKind::Moved), None);
    }
}
