//! Clock, ids, files with their path in every error, locks, logging, panic. Nothing here knows an agent.
//!
//! The one room besides `terminal` that may touch the machine for its own sake; it names no other room.

pub mod clock;
pub mod files;
pub mod identity;
pub mod lock;
pub mod logging;
pub mod panic;

pub use files::FileError;
pub use lock::LockError;
