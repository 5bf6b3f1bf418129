//! Generated histories: any configuration and whatever happens under it, the product beside a reference model. The twelve
//! invariants of access.md §11 hold in all of them, and a bug planted against any of the twelve is found.
//!
//! `PROPTEST_CASES=20000` makes it long; `.ci/run --long` does.

mod compare;
mod drive;
mod generate;
mod model;
mod plain;
mod planted;
mod turns;

use proptest::prelude::*;

use drive::House;
use generate::{History, history};

/// Runs one history. How many of its events happened before it ended.
fn run(history: &History) -> Result<usize, String> {
    let Some(mut house) = House::start(history)? else { return Ok(0) };
    for (count, event) in history.events.iter().enumerate() {
        house.happen(event).map_err(|why| format!("{why}\n(event {count}: {event:?})"))?;
        if house.over {
            return Ok(count);
        }
    }
    Ok(history.events.len())
}

proptest! {
    #[test]
    fn invariants_1_to_12_hold_over_any_history(history in history()) {
        run(&history).map_err(TestCaseError::fail)?;
    }
}

/// Otherwise a history that ends before it begins would prove everything.
#[test]
fn most_histories_run_to_their_end() {
    use proptest::strategy::ValueTree as _;
    let mut runner = planted::runner(0);
    let mut whole = 0;
    for _ in 0..40 {
        let history = history().new_tree(&mut runner).unwrap().current();
        whole += usize::from(run(&history).unwrap() == history.events.len());
    }
    assert!(whole >= 25, "{whole} of 40");
}

#[test]
fn the_model_shares_nothing_with_the_product_and_is_short() {
    let source = include_str!("model.rs");
    for (number, line) in source.lines().enumerate() {
        for word in ["crate::", "super::", "kokua"] {
            assert!(!line.contains(word), "model.rs:{}: {word}", number + 1);
        }
        let uses = line.trim_start().strip_prefix("use ");
        assert!(uses.is_none_or(|path| path.starts_with("std::") || path.starts_with("sha2::")), "{line}");
    }
    let lines = source.lines().count();
    assert!(lines <= 400, "the model has {lines} lines; 400 is what one can check against access.md by eye");
}
