//! Takes the terminal for a full screen and gives it back whole: on exit, error, panic, signal and suspend.
//!
//! What is taken: raw mode, alternate screen, bracketed paste, focus reports, keyboard flags, the title, and the mouse
//! when asked. Nothing is asked of the terminal, so nothing waits for an answer that may never come.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crossterm::cursor::{MoveTo, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{QueueableCommand as _, queue};

/// Whether mouse reports are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// The terminal selects text by itself.
    Off,
    /// Presses and the wheel come as events.
    On,
}

/// What [`restore`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restored {
    /// The terminal is the shell's: it never was taken, or has just been given back.
    Free,
    /// Another thread has the screen and goes on.
    Taken,
}

/// The thread that has the screen, if one has.
static OWNER: Mutex<Option<ThreadId>> = Mutex::new(None);

/// The taken terminal. Dropping it gives it back.
#[derive(Debug)]
pub struct Guard {
    mouse: Mouse,
}

impl Guard {
    /// Takes the terminal for the calling thread.
    ///
    /// # Errors
    /// There is no terminal, or it refuses raw mode; it is then as it was.
    pub fn enter(mouse: Mouse) -> io::Result<Self> {
        take(mouse)?;
        Ok(Self { mouse })
    }

    /// Gives the terminal back for a while, such as for an editor. [`Guard::resume`] takes it again.
    pub fn pause(&mut self) {
        give_back();
    }

    /// Takes the terminal again, also when somebody else changed its modes meanwhile. Its screen is blank then.
    ///
    /// # Errors
    /// As [`Guard::enter`].
    pub fn resume(&mut self) -> io::Result<()> {
        // After a stop from outside the modes are the shell's while crossterm remembers raw mode as on.
        give_back();
        take(self.mouse)
    }

    /// Turns mouse reports on or off, and remembers it for [`Guard::resume`].
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_mouse(&mut self, mouse: Mouse, out: &mut impl Write) -> io::Result<()> {
        self.mouse = mouse;
        write_mouse(out, mouse)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back if the calling thread has it. For the panic hook, which runs before anything is unwound.
pub fn restore() -> Restored {
    match owner() {
        None => Restored::Free,
        Some(thread) if thread == thread::current().id() => {
            give_back();
            Restored::Free
        }
        Some(_) => Restored::Taken,
    }
}

fn owner() -> Option<ThreadId> {
    *OWNER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set_owner(thread: Option<ThreadId>) {
    *OWNER.lock().unwrap_or_else(PoisonError::into_inner) = thread;
}

fn take(mouse: Mouse) -> io::Result<()> {
    enable_raw_mode()?;
    set_owner(Some(thread::current().id()));
    let mut sequence = Vec::new();
    let written = write_enter(&mut sequence, mouse).and_then(|()| emit(&sequence));
    if written.is_err() {
        give_back();
    }
    written
}

/// Every step is tried, whatever the ones before did: there is nobody to report to, and half is better than none.
fn give_back() {
    if owner().is_none() {
        return;
    }
    set_owner(None);
    let mut sequence = Vec::new();
    let _unheard = write_leave(&mut sequence).and_then(|()| emit(&sequence));
    let _gone = disable_raw_mode();
}

fn emit(sequence: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(sequence)?;
    out.flush()
}

/// What a terminal is told when it is taken. Flags that it does not know it passes over.
///
/// # Errors
/// The sink's.
pub fn write_enter(out: &mut impl Write, mouse: Mouse) -> io::Result<()> {
    queue!(
        out,
        Print(PUSH_TITLE),
        EnterAlternateScreen,
        Clear(ClearType::All),
        MoveTo(0, 0),
        EnableBracketedPaste,
        EnableFocusChange,
        // After the alternate screen: terminals keep one stack of flags for each screen.
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    )?;
    write_mouse(out, mouse)
}

/// What a terminal is told when it is given back: everything of [`write_enter`] backwards, and what a frame that broke
/// off may have left open.
///
/// # Errors
/// The sink's.
pub fn write_leave(out: &mut impl Write) -> io::Result<()> {
    out.queue(EndSynchronizedUpdate)?;
    write_mouse(out, Mouse::Off)?;
    queue!(
        out,
        PopKeyboardEnhancementFlags,
        DisableFocusChange,
        DisableBracketedPaste,
        SetAttribute(Attribute::Reset),
        Show,
        LeaveAlternateScreen,
        Print(POP_TITLE),
    )
}

fn write_mouse(out: &mut impl Write, mouse: Mouse) -> io::Result<()> {
    // Buttons and wheel only. crossterm's own command also asks for every movement, which nothing here uses.
    out.write_all(match mouse {
        Mouse::On => b"\x1b[?1000h\x1b[?1006h",
        Mouse::Off => b"\x1b[?1006l\x1b[?1000l",
    })
}

/// Saves the window's title on the terminal's own stack.
const PUSH_TITLE: &str = "\x1b[22;0t";
/// Brings it back.
const POP_TITLE: &str = "\x1b[23;0t";

#[cfg(test)]
mod tests {
    use super::{Mouse, Restored, restore, write_enter, write_leave};

    fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap().replace('\x1b', "␛")
    }

    #[test]
    fn entering_takes_screen_paste_focus_and_keys_and_asks_nothing() {
        assert_eq!(
            written(|out| write_enter(out, Mouse::Off)),
            "␛[22;0t␛[?1049h␛[2J␛[1;1H␛[?2004h␛[?1004h␛[>1u␛[?1006l␛[?1000l"
        );
        assert!(written(|out| write_enter(out, Mouse::On)).ends_with("␛[>1u␛[?1000h␛[?1006h"));
    }

    #[test]
    fn leaving_gives_everything_back_in_the_opposite_order() {
        assert_eq!(written(write_leave), "␛[?2026l␛[?1006l␛[?1000l␛[<1u␛[?1004l␛[?2004l␛[0m␛[?25h␛[?1049l␛[23;0t");
    }

    #[test]
    fn every_mode_that_is_set_is_reset() {
        let (enter, leave) = (written(|out| write_enter(out, Mouse::On)), written(write_leave));
        let modes = enter.split('␛').filter_map(|part| part.strip_prefix("[?")?.strip_suffix('h'));
        let missing: Vec<&str> = modes.filter(|mode| !leave.contains(&format!("␛[?{mode}l"))).collect();
        assert_eq!(missing, Vec::<&str>::new());
        assert!(enter.contains("␛[>1u") && leave.contains("␛[<1u"));
    }

    #[test]
    fn a_terminal_that_was_never_taken_is_free() {
        assert_eq!(restore(), Restored::Free);
    }
}
