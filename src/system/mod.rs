//! Clock, ids, files with their path in every error, locks, logging, panic. Nothing here knows an agent.
//!
//! The one room besides `terminal` that may touch the machine for its own sake; it names no other room.

#![expect(clippy::disallowed_methods, reason = "this room is where files, clock and ids come from")]

pub mod clock;
pub mod environment;
pub mod files;
pub mod identity;
pub mod lock;
pub mod logging;
pub mod panic;
pub mod process;
pub mod signals;

pub use files::FileError;
pub use lock::LockError;
