//! Model wires: pure encoders and decoders, and the one place that talks to a model server.
//!
//! A request goes in, deltas and typed failures come out. Nothing here decides to try again, keeps a conversation, or
//! knows a tool.

pub mod anthropic;
pub mod client;
pub mod discover;
pub mod failure;
mod history;
pub mod http;
pub mod key;
pub mod ollama;
pub mod openai;
pub mod options;
pub mod pattern;
pub mod rehearsal;
pub mod script;
pub mod select;
pub mod sse;
pub mod wire;

pub use client::Client;
pub use discover::{Because, Candidates, Selection, select};
pub use key::Environment;
pub use options::ModelOptions;
pub use rehearsal::Rehearsal;
pub use select::{Flag, Flags, ModelSpec, Provider, SpecError};
