//! The screen as a pure value: state, reducer and view. It knows no clock, disk, socket or terminal.
//!
//! A front end hands messages to [`update()`], carries out the [`Cmd`]s it answers with, draws [`view()`], and sleeps as long
//! as [`Ui::next_wake`] says.

mod act;
pub mod action;
mod cards;
mod command;
pub mod composer;
mod elsewhere;
mod explaining;
mod fold;
pub mod inbox;
pub mod layout;
pub mod line;
mod message;
pub mod pane;
pub mod slash;
mod spent;
mod state;
mod story;
pub mod text;
pub mod theme;
pub mod transcript;
mod tree;
mod update;
pub mod view;

#[cfg(test)]
mod tests;

pub use action::{KeyFault, KeyMap, keys_table_markdown};
pub use command::Cmd;
pub use fold::fold;
pub use message::{EditorPurpose, Key, KeyCode, Modifiers, Mouse, MouseKind, Msg, UnknownKey};
pub use slash::commands_table_markdown;
pub use state::{Focus, Session, Settings, Ui};
pub use update::update;
pub use view::view;
