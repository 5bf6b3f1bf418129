//! One file per part of the screen: each draws what it is given into a rectangle and decides nothing.

pub mod transcript;
