//! The rules of the access room, one test named after each.
#![cfg(test)]

mod approval;
mod audit;
mod availability;
mod common;
mod diff;
mod explained;
mod names;
mod offered;
mod residency;
mod seeds;
mod startup;
mod words;
