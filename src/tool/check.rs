//! Health checks with their cache (W2): answers are kept 30 s, a check that fails to answer keeps the last one.
//!
//! The clock is an argument. Facts (a server's connection, a changed pin) never pass through here.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Check;

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
    asking: Asking,
}

/// Whether an answer is still awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// It is: a check that hangs is not asked beside itself.
    Open,
    Over,
}

/// The last answer of each tool's check.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    entries: BTreeMap<(String, String), Entry>,
}

impl Checks {
    /// Whether `tool`'s check must be asked at `now`: never asked, or answered and asked 30 s ago or more. A clock that went
    /// back asks again.
    pub fn due(&self, toolset: &str, tool: &str, now: i64) -> bool {
        self.entry(toolset, tool).is_none_or(|entry| {
            entry.asking == Asking::Over && !(0..FRESH_MS).contains(&now.saturating_sub(entry.asked_at))
        })
    }

    /// It is asked at `now`.
    pub fn ask(&mut self, toolset: &str, tool: &str, now: i64) {
        let key = (toolset.to_owned(), tool.to_owned());
        let entry = self.entries.entry(key).or_insert(Entry { answer: None, asked_at: now, asking: Asking::Open });
        (entry.asked_at, entry.asking) = (now, Asking::Open);
    }

    /// Keeps what asking brought. No answer keeps the last one, and that is not asked again for 30 s either.
    pub fn record(&mut self, toolset: &str, tool: &str, probe: Probe) {
        let Some(entry) = self.entries.get_mut(&(toolset.to_owned(), tool.to_owned())) else { return };
        entry.asking = Asking::Over;
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

/// Runs a check. A panic is no answer. May block as long as the check does.
pub fn probe(check: Check) -> Probe {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(standing) => Probe::Answered(standing),
        Err(_) => Probe::NoAnswer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked at `now`, and this came of it.
    fn asked(checks: &mut Checks, now: i64, probe: Probe) {
        checks.ask("a", "t", now);
        checks.record("a", "t", probe);
    }

    #[test]
    fn w2_no_answer_yet_is_a_no() {
        let mut checks = Checks::default();
        assert!(checks.standing("a", "t").is_err());
        asked(&mut checks, 0, Probe::NoAnswer);
        assert!(checks.standing("a", "t").is_err());
    }

    #[test]
    fn w2_an_answer_is_kept_30_seconds() {
        let mut checks = Checks::default();
        asked(&mut checks, 1_000, Probe::Answered(Ok(())));
        assert!(!checks.due("a", "t", 30_999));
        assert!(checks.due("a", "t", 31_000));
        assert!(checks.due("a", "t", 999), "the clock went back");
        assert!(checks.due("a", "other", 1_000));
    }

    #[test]
    fn w2_a_check_that_fails_to_answer_keeps_the_last_answer() {
        let mut checks = Checks::default();
        asked(&mut checks, 0, Probe::Answered(Err("down".to_owned())));
        asked(&mut checks, 40_000, Probe::NoAnswer);
        assert_eq!(checks.standing("a", "t"), Err("down".to_owned()));
        assert!(!checks.due("a", "t", 41_000), "a check that breaks is not asked at every call");
        asked(&mut checks, 80_000, Probe::Answered(Ok(())));
        asked(&mut checks, 120_000, Probe::NoAnswer);
        assert_eq!(checks.standing("a", "t"), Ok(()));
    }

    #[test]
    fn w2_a_check_that_hangs_is_not_asked_beside_itself() {
        let mut checks = Checks::default();
        asked(&mut checks, 0, Probe::Answered(Ok(())));
        checks.ask("a", "t", 40_000);
        assert!(!checks.due("a", "t", 400_000));
        assert_eq!(checks.standing("a", "t"), Ok(()), "the last known answer");
        checks.record("a", "t", Probe::Answered(Err("down".to_owned())));
        assert!(checks.due("a", "t", 400_000));
    }

    #[test]
    fn w2_a_panicking_check_is_contained() {
        assert_eq!(probe(Box::new(|| Err("down".to_owned()))), Probe::Answered(Err("down".to_owned())));
        assert_eq!(probe(Box::new(|| panic!("it breaks"))), Probe::NoAnswer);
    }
}
