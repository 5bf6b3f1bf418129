//! The rules of the access room, one test named after each.
#![cfg(test)]

mod approval;
mod audit;
mod availability;
mod common;
mod explained;
mod histories;
mod names;
mod offered;
mod residency;
