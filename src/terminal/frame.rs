//! Draws frames: what changed since the one before, as one write that the terminal shows at once.
//!
//! A frame in which nothing changed writes nothing.

use std::io::{self, Write};

use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};

use super::canvas::{Canvas, SizeOf};

/// Bytes of memory kept between frames.
const KEPT: usize = 64 * 1024;

/// The drawn screen.
pub struct Screen<Out: Write> {
    terminal: Terminal<Canvas>,
    /// Memory for a frame's bytes.
    frame: Vec<u8>,
    out: Out,
}

impl<Out: Write> Screen<Out> {
    /// A screen as large as `size` says, now and at every frame. The first frame clears it.
    ///
    /// # Errors
    /// The size is not known.
    pub fn new(out: Out, size: SizeOf) -> io::Result<Self> {
        Ok(Self { terminal: Terminal::new(Canvas::new(size)?)?, frame: Vec::new(), out })
    }

    /// Draws one frame; how many bytes the terminal was sent.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<usize> {
        self.frame.clear();
        queue!(self.frame, BeginSynchronizedUpdate)?;
        let empty = self.frame.len();
        render(&mut self.terminal, &mut self.frame, view)?;
        if self.frame.len() == empty {
            return Ok(0);
        }
        queue!(self.frame, EndSynchronizedUpdate)?;
        self.out.write_all(&self.frame)?;
        self.out.flush()?;
        let written = self.frame.len();
        self.frame.shrink_to(KEPT);
        Ok(written)
    }

    /// Somebody else wrote to the terminal: the next frame clears it and draws everything.
    pub fn forget(&mut self) {
        self.terminal.backend_mut().forget();
    }

    /// Where bytes that are no part of a frame go: title, clipboard, bell.
    pub fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}

/// Draws one frame into `out`.
pub(super) fn render(
    terminal: &mut Terminal<Canvas>,
    out: &mut Vec<u8>,
    view: impl FnOnce(&mut Frame<'_>),
) -> io::Result<()> {
    let mut whole = None;
    terminal.draw(|frame| {
        view(frame);
        whole = Some(frame.buffer_mut().clone());
    })?;
    let canvas = terminal.backend_mut();
    if let Some(whole) = whole {
        canvas.want(whole);
    }
    canvas.emit(out)
}

/// The terminal's own size.
///
/// # Errors
/// There is no terminal.
pub fn terminal_size() -> io::Result<Size> {
    let (width, height) = crossterm::terminal::size()?;
    Ok(Size::new(width, height))
}

#[cfg(test)]
mod tests {
    use ratatui::layout::{Position, Size};

    use super::Screen;

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
        let mut screen = Screen::new(Vec::new(), Box::new(|| Ok(Size::new(20, 3)))).unwrap();
        let first = show(&mut screen, "hello");
        assert!(first.starts_with("␛[?2026h␛[0m␛[2J") && first.ends_with("␛[2;3H␛[?25h␛[?2026l"), "{first}");
        assert_eq!(first.matches("␛[?2026").count(), 2, "{first}");
        assert_eq!(show(&mut screen, "hellO"), "␛[?2026h␛[1;5HO␛[2;3H␛[?2026l");
        assert_eq!(show(&mut screen, "hellO"), "");
        screen.forget();
        assert!(show(&mut screen, "hellO").contains("␛[2J␛[1;1HhellO"));
    }
}
