//! What a failure leads to: how long until the next try, or the sentence that the turn ends with.
//!
//! It waits for nothing and draws no number of its own.

use super::effect::TurnEnd;
use super::message::{Failure, FailureKind};

/// First back-off ceiling of a failed model call, in milliseconds; doubled per try.
pub const RETRY_BASE_MS: u64 = 1_000;
/// Highest back-off ceiling, in milliseconds. A server's own floor may be higher.
pub const RETRY_CAP_MS: u64 = 30_000;

/// Why a turn failed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The model call failed, and no try is left.
    Model(Failure),
    /// The model declined.
    Declined(Option<String>),
    /// Nothing came, because the output limit came first. Asking again would only make it shorter.
    Truncated,
    /// Nothing came, asked again or not.
    Empty,
}

impl Trouble {
    /// How the turn ends: the sentence and what to do.
    pub(super) fn end(self) -> TurnEnd {
        let (message, hint) = match self {
            Self::Model(failure) => {
                let what = match failure.kind {
                    FailureKind::Unreachable => "The request could not reach the model server",
                    _ => "The request failed",
                };
                (format!("{what}: {}.", failure.message.trim_end_matches('.')), failure.hint)
            }
            Self::Declined(why) => {
                let why = why.map(|why| why.trim().trim_end_matches('.').to_owned()).filter(|why| !why.is_empty());
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                (
                    format!("The model declined this request{why}."),
                    Some("Say it differently, or ask another model.".to_owned()),
                )
            }
            Self::Truncated => (
                "The model ran out of output tokens before it said anything.".to_owned(),
                Some("Allow it more output tokens or less reasoning, or ask for less at once.".to_owned()),
            ),
            Self::Empty => ("The model gave no answer.".to_owned(), Some("Say more, or try another model.".to_owned())),
        };
        TurnEnd::Failed { message, hint }
    }
}

/// Full jitter: anywhere between nothing and a ceiling that doubles with each try, never below the server's own floor.
pub(super) fn backoff(attempt: u32, at_least_ms: u64, random: u64) -> u64 {
    let doubled = RETRY_BASE_MS.checked_shl(attempt.saturating_sub(1).min(16)).unwrap_or(RETRY_CAP_MS);
    let ceiling = doubled.min(RETRY_CAP_MS);
    let jitter = (u128::from(random) * u128::from(ceiling + 1)) >> 64;
    u64::try_from(jitter).unwrap_or(ceiling).max(at_least_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_back_off_doubles_to_its_cap_and_never_undercuts_the_servers_floor() {
        for (attempt, at_least_ms, random, ms) in [
            (1, 0, 0, 0),
            (1, 0, u64::MAX, 1_000),
            (2, 0, u64::MAX, 2_000),
            (3, 0, u64::MAX / 2, 2_000),
            (5, 0, u64::MAX, 16_000),
            (6, 0, u64::MAX, 30_000),
            (u32::MAX, 0, u64::MAX, 30_000),
            (1, 7_000, 0, 7_000),
            (6, 7_000, u64::MAX, 30_000),
            (1, 3_600_000, u64::MAX, 3_600_000),
        ] {
            assert_eq!(backoff(attempt, at_least_ms, random), ms, "try {attempt}, floor {at_least_ms}");
        }
    }
}
