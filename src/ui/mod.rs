//! The screen as a pure value: state, reducer and view. It knows no clock, disk, socket or terminal.

pub mod text;
pub mod theme;
pub mod transcript;
pub mod view;
