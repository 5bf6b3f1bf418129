//! Tests of the model wires: recorded streams cut everywhere, requests as each provider wants them, failures, selection,
//! and the rehearsal model.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test serves, reads its own files and asks the environment")]

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
mod rehearsed_agents;
mod selection;
