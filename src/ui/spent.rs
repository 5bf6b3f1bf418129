//! What was spent, in words: model calls, tokens, seconds. A number that nobody reported is said to be missing.

use super::transcript::{clock, span, tokens};
use super::view::paint::counted;
use crate::agent::NodeId;
use crate::agent::cost::{Tally, Tokens, TurnCost};

/// `in 21.0k out 1.9k`; `in 6.1k+` where some calls did not say; `None`: no call has ended.
pub(super) fn tokens_words(tally: &Tally) -> Option<String> {
    let cached = Some(tally.cached).filter(|cached| cached.known.is_some_and(|known| known > 0));
    if tally.input.known.is_none() && tally.output.known.is_none() {
        return (tally.input.unreported > 0).then(|| "tokens not reported".to_owned());
    }
    let parts = [("in", Some(tally.input)), ("cached", cached), ("out", Some(tally.output))];
    let words = parts.into_iter().filter_map(|(name, of)| of.map(|of| format!("{name} {}", number(of))));
    Some(words.collect::<Vec<_>>().join(" "))
}

fn number(of: Tokens) -> String {
    match of.known {
        None => "not reported".to_owned(),
        Some(known) => format!("{}{}", tokens(known), if of.is_partial() { "+" } else { "" }),
    }
}

/// `7 calls · in 21.0k out 1.9k · model 14.2 s · 0:31`: of what is known.
pub(super) fn words(tally: &Tally) -> String {
    let mut parts = vec![counted(usize::try_from(tally.model_calls).unwrap_or(usize::MAX), "call")];
    parts.extend(tokens_words(tally));
    if tally.model_ms > 0 {
        parts.push(format!("model {}", seconds(tally.model_ms)));
    }
    parts.extend(tally.wall_ms.map(|ms| clock(ms / 1_000)));
    parts.join(" · ")
}

/// Tenths of a second up to a minute.
fn seconds(ms: u64) -> String {
    if ms < 60_000 { format!("{}.{} s", ms / 1_000, ms % 1_000 / 100) } else { span(ms) }
}

/// The line at the end of an agent's turn; of the entry agent's, with all its workers. `None` where one model call was all:
/// its own line says as much.
pub(super) fn of_turn(cost: &TurnCost, node: NodeId) -> Option<String> {
    if !node.is_entry() {
        let tally = cost.of(node).filter(|tally| tally.model_calls > 1)?;
        return Some(format!("all of it · {}", words(tally)));
    }
    let own = cost.of(node)?;
    let agents = cost.agents().len();
    if agents < 2 && own.model_calls < 2 {
        return None;
    }
    let agents = if agents < 2 { String::new() } else { format!("{} · ", counted(agents, "agent")) };
    Some(format!("turn · {agents}{}", words(&cost.total())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(known: Option<u64>, unreported: u32) -> Tokens {
        Tokens { known, unreported }
    }

    #[test]
    fn a_number_that_was_not_reported_is_no_zero() {
        let table = [
            (of(None, 0), of(None, 0), None),
            (of(None, 2), of(None, 2), Some("tokens not reported")),
            (of(Some(6_100), 0), of(Some(0), 0), Some("in 6.1k out 0")),
            (of(Some(6_100), 1), of(Some(96), 0), Some("in 6.1k+ out 96")),
            (of(Some(6_100), 0), of(None, 1), Some("in 6.1k out not reported")),
        ];
        for (input, output, words) in table {
            let tally = Tally { input, output, ..Tally::default() };
            assert_eq!(tokens_words(&tally).as_deref(), words);
        }
    }

    #[test]
    fn a_line_says_calls_tokens_and_both_times() {
        let tally = Tally {
            model_calls: 7,
            model_ms: 14_250,
            wall_ms: Some(31_900),
            input: of(Some(21_000), 0),
            output: of(Some(1_900), 0),
            cached: of(Some(3_000), 2),
            tool_calls: 4,
        };
        assert_eq!(words(&tally), "7 calls · in 21.0k cached 3.0k+ out 1.9k · model 14.2 s · 0:31");
        assert_eq!(words(&Tally::default()), "0 calls");
    }
}
