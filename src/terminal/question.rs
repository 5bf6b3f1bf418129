//! A page that asks one yes or no, before there is a screen to tell messages to. The terminal is given back with the
//! answer, whatever it is.

use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, EventStream};
use futures_util::StreamExt as _;
use ratatui::Frame;

use super::frame::{Screen, terminal_size};
use super::guard::{Guard, Mouse};
use super::input;
use super::signals::{Heard, Signals};
use crate::ui::layout::Columns;
use crate::ui::{Key, KeyCode, Modifiers, Msg};

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Enter.
    Yes,
    /// Esc, Ctrl+C or Ctrl+D.
    No,
    /// A signal or the terminal's end came before an answer.
    Ended,
}

/// What a key means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Reply(Reply),
    Suspend,
    Nothing,
}

/// Shows `page` until it is answered. Where it has no room to be read, it cannot be agreed to.
///
/// # Errors
/// The terminal cannot be taken; it is then as it was.
pub async fn ask(signals: &mut Signals, page: impl Fn(&mut Frame<'_>)) -> io::Result<Reply> {
    let mut guard = Guard::enter(Mouse::Off)?;
    // From here on an error is the terminal's: it is gone.
    Ok(answer(signals, &mut guard, page).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the terminal went away");
        Reply::Ended
    }))
}

async fn answer(signals: &mut Signals, guard: &mut Guard, page: impl Fn(&mut Frame<'_>)) -> io::Result<Reply> {
    // What was typed before there was anything to read is no answer to it.
    while event::poll(Duration::ZERO)? {
        event::read()?;
    }
    let mut screen = Screen::new(io::stdout(), Box::new(terminal_size))?;
    let mut events = Some(EventStream::new());
    loop {
        let mut readable = false;
        screen.draw(|frame| {
            readable = Columns::of(frame.area().width, frame.area().height) != Columns::None;
            page(frame);
        })?;
        let event = async {
            match events.get_or_insert_with(EventStream::new).next().await {
                Some(event) => event,
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let meaning = tokio::select! {
            biased;
            heard = signals.next() => match heard {
                Heard::End | Heard::HungUp => return Ok(Reply::Ended),
                Heard::Continued => {
                    guard.resume()?;
                    screen.forget();
                    continue;
                }
            },
            event = event => meaning(event?, readable),
        };
        match meaning {
            Meaning::Reply(reply) => return Ok(reply),
            Meaning::Suspend => {
                // Its thread would take keys from the shell.
                events = None;
                guard.pause();
                signals.stop_here().await?;
                guard.resume()?;
                screen.forget();
            }
            // A frame finds out by itself that the size is another one.
            Meaning::Nothing => {}
        }
    }
}

fn meaning(event: Event, readable: bool) -> Meaning {
    let Some(Msg::Key(key)) = input::message(event) else { return Meaning::Nothing };
    let ctrl = Modifiers { ctrl: true, ..Modifiers::default() };
    match key {
        Key { code: KeyCode::Enter, modifiers } if modifiers == Modifiers::default() && readable => {
            Meaning::Reply(Reply::Yes)
        }
        Key { code: KeyCode::Esc, .. } => Meaning::Reply(Reply::No),
        Key { code: KeyCode::Char('c' | 'd'), modifiers } if modifiers == ctrl => Meaning::Reply(Reply::No),
        Key { code: KeyCode::Char('z'), modifiers } if modifiers == ctrl => Meaning::Suspend,
        _ => Meaning::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    use super::{Meaning, Reply, meaning};

    #[test]
    fn only_enter_agrees_and_only_to_what_can_be_read() {
        let of = |code, modifiers, readable| meaning(Event::Key(KeyEvent::new(code, modifiers)), readable);
        let (none, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        assert_eq!(of(KeyCode::Enter, none, true), Meaning::Reply(Reply::Yes));
        assert_eq!(of(KeyCode::Enter, none, false), Meaning::Nothing);
        for (code, modifiers) in [(KeyCode::Esc, none), (KeyCode::Char('c'), ctrl), (KeyCode::Char('d'), ctrl)] {
            assert_eq!(of(code, modifiers, false), Meaning::Reply(Reply::No), "{code}");
        }
        assert_eq!(of(KeyCode::Char('z'), ctrl, true), Meaning::Suspend);
        for (code, modifiers) in [(KeyCode::Char('y'), none), (KeyCode::Char(' '), none), (KeyCode::Enter, ctrl)] {
            assert_eq!(of(code, modifiers, true), Meaning::Nothing, "{code}");
        }
        assert_eq!(meaning(Event::Paste("\r".to_owned()), true), Meaning::Nothing);
        assert_eq!(meaning(Event::Resize(1, 1), true), Meaning::Nothing);
    }
}
