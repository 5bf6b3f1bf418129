//! The rules of the access room, one test named after each.
#![cfg(test)]

mod answered;
mod approval;
mod audit;
mod availability;
mod common;
mod composing;
mod conditions;
mod diff;
mod explained;
mod names;
mod offered;
mod residency;
mod seeds;
mod startup;
mod words;
mod workers;
