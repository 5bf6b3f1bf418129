//! For each invariant a bug is planted, and the same histories find it: a search that never finds anything proves nothing.

use std::cell::Cell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::generate::history;
use super::run;
use crate::access::planted::{Bug, plant};

/// The same histories at every run.
pub(super) fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn find(number: usize, bug: Bug) {
    plant(Some(bug));
    let count = Cell::new(0);
    let result = runner(400).run(&history(), |history| {
        count.set(count.get() + 1);
        run(&history).map(|_| ()).map_err(TestCaseError::fail)
    });
    plant(None);
    let Err(TestError::Fail(reason, _)) = result else { panic!("{bug:?} was not found: {result:?}") };
    let named = format!("invariant {number}:");
    println!("{bug:?}: found by history {}: {reason}", count.get());
    assert!(reason.message().starts_with(&named), "{bug:?} was found as something else: {reason}");
}

macro_rules! found {
    ($($test:ident: $number:literal $bug:ident,)+) => {
        $(#[test] fn $test() { find($number, Bug::$bug); })+
    };
}

found! {
    planted_bug_1_is_found: 1 LoadsForOthers,
    planted_bug_2_is_found: 2 SortsTheOffer,
    planted_bug_3_is_found: 3 GatesOwnersOnly,
    planted_bug_4_is_found: 4 CountsAskedLoads,
    planted_bug_5_is_found: 5 ForgetsNames,
    planted_bug_6_is_found: 6 ForgetsRefusals,
    planted_bug_7_is_found: 7 CountsWithheld,
    planted_bug_8_is_found: 8 DropsJoined,
    planted_bug_9_is_found: 9 TrustsTheCard,
    planted_bug_10_is_found: 10 FloorsOwnersOnly,
    planted_bug_11_is_found: 11 WiresByArrival,
    planted_bug_12_is_found: 12 HidesPending,
}
