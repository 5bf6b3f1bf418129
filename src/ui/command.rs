//! What the screen asks of the terminal and the assistant: data, carried out elsewhere and in order.

use super::message::EditorPurpose;
use crate::agent;

/// One wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cmd {
    /// Hand this to the assistant.
    Submit(agent::Command),
    /// Put this on the clipboard.
    Copy(String),
    /// Give the terminal to `$VISUAL` or `$EDITOR` on this text, take it back, draw everything again, and answer with
    /// [`super::Msg::EditorReturned`].
    OpenEditor {
        /// The text.
        text: String,
        /// What it is.
        purpose: EditorPurpose,
    },
    /// Give the terminal to `$PAGER` on this text, take it back, and draw everything again.
    OpenPager(String),
    /// Title the terminal window. Already clean: no control characters.
    SetTitle(String),
    /// Ring, and tell the desktop this sentence (OSC 9): an ask waits and nobody looks. Already clean.
    Notify(String),
    /// Turn mouse reports on or off.
    SetMouse(bool),
    /// Give the terminal back and stop this process until it is continued; then clear and draw everything.
    Suspend,
    /// Clear the terminal and draw everything again.
    Redraw,
    /// Leave. `Submit(Command::Quit)` was emitted just before.
    Quit,
}
