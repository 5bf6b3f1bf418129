//! The terminal: the only room that knows crossterm. It never decides what a key means.
//!
//! [`run()`] is the loop of the full screen; everything it takes from the terminal it gives back, on every way out.

#![expect(
    clippy::disallowed_methods,
    reason = "the loop of the screen tells the time, and the editor's file is read back by name"
)]

pub mod canvas;
mod cells;
pub mod clipboard;
pub mod editor;
pub mod frame;
pub mod guard;
pub mod input;
pub mod notify;
pub mod pace;
pub mod question;
pub mod run;
pub mod signals;

pub use guard::{Restored, restore};
pub use question::{Reply, ask};
pub use run::{Exit, Surroundings, run};
pub use signals::Signals;
