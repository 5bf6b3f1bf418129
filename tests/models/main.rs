//! Tests of the model wires: recorded streams cut everywhere, requests as each provider wants them, failures, selection,
//! and the rehearsal model.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may")]
#![expect(clippy::needless_pass_by_value, clippy::format_collect, reason = "a test reads better so")]

mod anthropic;
mod common;
mod cuts;
mod failures;
mod frames;
mod network;
mod ollama;
mod openai;
mod real;
mod rehearsal;
mod selection;
