//! The driver over ports of the tests' own: a model that reads from a script, conversations in memory that can fail to be
//! saved, and toolsets whose builds, tools and previews do what a test says, when it says so.
#![cfg(test)]

mod audit;
mod background;
mod cards;
mod conversations;
mod crowd;
mod held;
mod house;
mod invariants;
mod loads;
mod saving;
mod titles;
mod turns;
mod window;
mod workers;
