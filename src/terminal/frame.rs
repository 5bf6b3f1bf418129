//! Draws frames: what changed since the one before, as one write that the terminal shows at once.
//!
//! A frame in which nothing changed writes nothing.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

/// Bytes kept for the next frame; a larger frame's memory is given back.
const KEPT: usize = 256 * 1024;

/// The bytes of a frame in the making. The backend flushes after every cursor command, which means nothing here.
#[derive(Debug, Clone, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

impl Pending {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The drawn screen.
#[derive(Debug)]
pub struct Screen<Out: Write> {
    terminal: Terminal<CrosstermBackend<Pending>>,
    viewport: Viewport,
    pending: Pending,
    /// The bytes of the frame before.
    last: Vec<u8>,
    out: Out,
}

impl<Out: Write> Screen<Out> {
    /// A screen that believes the terminal to be blank.
    ///
    /// # Errors
    /// The terminal does not say its size.
    pub fn new(out: Out, viewport: Viewport) -> io::Result<Self> {
        let pending = Pending::default();
        let terminal = terminal(&pending, &viewport)?;
        Ok(Self { terminal, viewport, pending, last: Vec::new(), out })
    }

    /// Draws one frame; how many bytes the terminal was sent.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<usize> {
        self.pending.bytes().clear();
        self.terminal.draw(view)?;
        let mut bytes = self.pending.bytes();
        // No cell can change twice to the same thing, so equal bytes only place the cursor where it stands.
        if *bytes == self.last {
            return Ok(0);
        }
        let mut frame = Vec::with_capacity(bytes.len() + 16);
        queue!(frame, BeginSynchronizedUpdate)?;
        frame.extend_from_slice(&bytes);
        queue!(frame, EndSynchronizedUpdate)?;
        std::mem::swap(&mut self.last, &mut bytes);
        if bytes.capacity() > KEPT {
            *bytes = Vec::new();
        }
        drop(bytes);
        self.out.write_all(&frame)?;
        self.out.flush()?;
        Ok(frame.len())
    }

    /// Clears the terminal; the next frame is drawn whole. For after anybody else wrote to it.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn reset(&mut self) -> io::Result<()> {
        // A new one: the old one's own way to clear asks the terminal where its cursor is, and waits for the answer.
        self.terminal = terminal(&self.pending, &self.viewport)?;
        self.last.clear();
        queue!(self.out, SetAttribute(Attribute::Reset), Clear(ClearType::All), MoveTo(0, 0))?;
        self.out.flush()
    }

    /// Where bytes that are no part of a frame go: title, clipboard, bell.
    pub fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

fn terminal(pending: &Pending, viewport: &Viewport) -> io::Result<Terminal<CrosstermBackend<Pending>>> {
    let options = TerminalOptions { viewport: viewport.clone() };
    Terminal::with_options(CrosstermBackend::new(pending.clone()), options)
}

#[cfg(test)]
mod tests {
    use ratatui::Viewport;
    use ratatui::layout::{Position, Rect};

    use super::Screen;

    fn screen() -> Screen<Vec<u8>> {
        Screen::new(Vec::new(), Viewport::Fixed(Rect::new(0, 0, 20, 3))).unwrap()
    }

    fn show(screen: &mut Screen<Vec<u8>>, text: &str) -> String {
        screen.out().clear();
        let written = screen
            .draw(|frame| {
                frame.render_widget(text, frame.area());
                frame.set_cursor_position(Position::new(2, 1));
            })
            .unwrap();
        assert_eq!(written, screen.out().len());
        String::from_utf8(screen.out().clone()).unwrap().replace('\x1b', "␛")
    }

    #[test]
    fn a_frame_is_one_synchronized_update_of_what_changed() {
        let mut screen = screen();
        let first = show(&mut screen, "hello");
        assert!(first.starts_with("␛[?2026h") && first.ends_with("␛[?2026l"), "{first}");
        assert_eq!(first.matches("␛[?2026").count(), 2, "{first}");
        assert!(first.contains("hello") && first.contains("␛[2;3H"), "{first}");
        let second = show(&mut screen, "hellO");
        assert!(second.contains('O') && !second.contains("hell"), "{second}");
        assert!(second.len() < 90, "{second}");
    }

    #[test]
    fn a_frame_without_a_change_writes_nothing() {
        let mut screen = screen();
        show(&mut screen, "hello");
        show(&mut screen, "hello");
        assert_eq!(show(&mut screen, "hello"), "");
        assert!(show(&mut screen, "help").contains('p'));
    }

    #[test]
    fn after_a_reset_everything_is_drawn_again() {
        let mut screen = screen();
        show(&mut screen, "hello");
        screen.out().clear();
        screen.reset().unwrap();
        assert_eq!(screen.out().as_slice(), b"\x1b[0m\x1b[2J\x1b[1;1H");
        assert!(show(&mut screen, "hello").contains("hello"));
    }
}
