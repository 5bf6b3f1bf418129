//! The rules of the access room, one test named after each.
#![cfg(test)]

mod approval;
mod availability;
mod common;
mod explained;
mod names;
mod offered;
mod residency;
mod words;
