//! kokua: a full-screen terminal for agents whose every capability is declared.

pub mod access;
pub mod agent;
pub mod app;
pub mod assistant;
pub mod cli;
pub mod config;
#[cfg(test)]
mod histories;
pub mod model;
pub mod store;
pub mod system;
pub mod terminal;
pub mod tool;
pub mod toolsets;
pub mod ui;
