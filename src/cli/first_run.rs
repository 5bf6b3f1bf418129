//! The first run: says what will be written and where, and writes it when the person presses Enter.
//!
//! It comes before the screen is taken, so a terminal that can do nothing else can answer it.

use std::io::BufRead as _;

use super::print::{line, piece};
use super::{Ended, INTERRUPTED};
use crate::config::{self, Locations};

/// What the person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The configuration is there.
    GoOn,
    /// Nothing was written.
    Leave(u8),
}

/// Offers to write the shipped configuration where there is none.
pub(super) fn offer(locations: &Locations) -> Result<Choice, Ended> {
    let path = locations.config().map_err(|problems| Ended::usage(problems.to_string()))?;
    let home = locations.home().map_err(|problems| Ended::usage(problems.to_string()))?;
    line("kokua: first run\n")?;
    line("There is no configuration yet, and an agent may do only what is written there.\n")?;
    line(&format!("  will write   {}", path.display()))?;
    line("               one agent, its toolsets, and what asks you first")?;
    line(&format!("  will use     {}", home.join("data").display()))?;
    line("               conversations, memory and logs; made when first needed\n")?;
    piece("Enter writes it and goes on. q and Enter leaves without writing anything. ")?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer)?;
    if read == 0 || !answer.trim().is_empty() {
        line("Nothing was written.")?;
        return Ok(Choice::Leave(if read == 0 { INTERRUPTED } else { super::ANSWERED }));
    }
    config::init(locations).map_err(|error| Ended::failed(format!("error: {error}")))?;
    Ok(Choice::GoOn)
}
