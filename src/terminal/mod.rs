//! The terminal: the only room that knows crossterm. It never decides what a key means.
