//! Text on its way to the screen: cleaned, measured, wrapped, and laid out from markdown, code and diffs.
//!
//! Nothing here knows what a text means to the product, and nothing here draws.

pub mod clean;
pub mod diff;
pub mod highlight;
pub mod markdown;
pub mod width;
pub mod wrap;

pub use clean::{Cleaner, clean, clean_line, visible, visible_json};
pub use width::{truncate, width};
pub use wrap::{Breaks, Wrap};

#[cfg(test)]
pub(crate) mod tests;
