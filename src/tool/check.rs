//! Health checks with their cache (W2): answers are kept 30 s, a check that fails to answer keeps the last one.
//!
//! The clock is an argument. Facts (a server's connection, a changed pin) never pass through here.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Toolset;

/// How long an answer is good, in milliseconds.
pub const FRESH_MS: i64 = 30_000;

/// Whether a tool may be offered, as far as its check says: `Err` is the reason, a lower-case fragment.
pub type Standing = Result<(), String>;

/// What asking a check brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It answered.
    Answered(Standing),
    /// It panicked, so nothing new is known.
    NoAnswer,
}

#[derive(Debug, Clone)]
struct Entry {
    /// The last answer; `None`: it was asked and never answered.
    answer: Option<Standing>,
    asked_at: i64,
}

/// The last answer of each tool's check.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    entries: BTreeMap<(String, String), Entry>,
}

impl Checks {
    /// Whether `tool`'s check must be asked again at `now`: never asked, or asked 30 s ago or more. A clock that went
    /// back asks again.
    pub fn due(&self, toolset: &str, tool: &str, now: i64) -> bool {
        self.entry(toolset, tool).is_none_or(|entry| !(0..FRESH_MS).contains(&now.saturating_sub(entry.asked_at)))
    }

    /// Keeps what asking at `now` brought. No answer keeps the last one, and that is not asked again for 30 s either.
    pub fn record(&mut self, toolset: &str, tool: &str, now: i64, probe: Probe) {
        let entry =
            self.entries.entry((toolset.to_owned(), tool.to_owned())).or_insert(Entry { answer: None, asked_at: now });
        entry.asked_at = now;
        if let Probe::Answered(standing) = probe {
            entry.answer = Some(standing);
        }
    }

    /// What is known of `tool`, however old. No answer yet is a no.
    ///
    /// # Errors
    /// The reason why it is withheld.
    pub fn standing(&self, toolset: &str, tool: &str) -> Standing {
        match self.entry(toolset, tool) {
            Some(Entry { answer: Some(standing), .. }) => standing.clone(),
            Some(Entry { answer: None, .. }) => Err("its health check gave no answer".to_owned()),
            None => Err("its health check has not been asked yet".to_owned()),
        }
    }

    fn entry(&self, toolset: &str, tool: &str) -> Option<&Entry> {
        self.entries.get(&(toolset.to_owned(), tool.to_owned()))
    }
}

/// Asks `tool`'s check once, whatever is cached. A panic is no answer. May block as long as the check does.
pub fn probe(toolset: &dyn Toolset, tool: &str) -> Probe {
    match catch_unwind(AssertUnwindSafe(|| toolset.check(tool))) {
        Ok(standing) => Probe::Answered(standing),
        Err(_) => Probe::NoAnswer,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::Mutex;

    use super::super::{BuildError, Kind, Services, Tool};
    use super::*;

    #[test]
    fn w2_no_answer_yet_is_a_no() {
        let mut checks = Checks::default();
        assert!(checks.standing("compute", "run_command").is_err());
        checks.record("compute", "run_command", 0, Probe::NoAnswer);
        assert!(checks.standing("compute", "run_command").is_err());
    }

    #[test]
    fn w2_an_answer_is_kept_30_seconds() {
        let mut checks = Checks::default();
        checks.record("a", "t", 1_000, Probe::Answered(Ok(())));
        assert!(!checks.due("a", "t", 30_999));
        assert!(checks.due("a", "t", 31_000));
        assert!(checks.due("a", "t", 999), "the clock went back");
        assert!(checks.due("a", "other", 1_000));
    }

    #[test]
    fn w2_a_check_that_fails_to_answer_keeps_the_last_answer() {
        let mut checks = Checks::default();
        checks.record("a", "t", 0, Probe::Answered(Err("down".to_owned())));
        checks.record("a", "t", 40_000, Probe::NoAnswer);
        assert_eq!(checks.standing("a", "t"), Err("down".to_owned()));
        assert!(!checks.due("a", "t", 41_000), "a check that hangs is not asked at every call");
        checks.record("a", "t", 80_000, Probe::Answered(Ok(())));
        checks.record("a", "t", 120_000, Probe::NoAnswer);
        assert_eq!(checks.standing("a", "t"), Ok(()));
    }

    struct Flaky(Mutex<Cell<u32>>);

    impl Toolset for Flaky {
        fn name(&self) -> &'static str {
            "flaky"
        }
        fn kind(&self) -> Kind {
            Kind::BuiltIn
        }
        fn description(&self) -> &'static str {
            "Answers once."
        }
        fn check(&self, _tool: &str) -> Result<(), String> {
            let asked = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            asked.set(asked.get() + 1);
            assert!(asked.get() < 2, "the second time it breaks");
            Ok(())
        }
        fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn w2_a_panicking_check_is_contained() {
        let toolset = Flaky(Mutex::new(Cell::new(0)));
        assert_eq!(probe(&toolset, "t"), Probe::Answered(Ok(())));
        assert_eq!(probe(&toolset, "t"), Probe::NoAnswer);
        let asked = toolset.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get();
        assert_eq!(asked, 2);
    }
}
