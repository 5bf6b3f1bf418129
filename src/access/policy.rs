//! Approval: entries to resolved sets, pending entries, the floor, and the decision for one call (§6).
//!
//! A resolved policy only ever gains names (P8); nothing here asks anybody.

use serde::{Deserialize, Serialize};

use super::grant::Answer;
use super::name::ToolsetName;

/// Why a call asks first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskReason {
    /// `confirm` or `review`.
    pub list: GateList,
    /// The entry that matched, as written.
    pub entry: String,
    /// Where its list was declared, for people: `from [assistant.tools] line 12`.
    pub source: String,
}

/// Which list of a pair gated a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateList {
    /// Asks the person.
    Confirm,
    /// Asks a reviewer where there is one, else the person.
    Review,
}

/// What happens to one call, decided in the order of P1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Not gated: it runs.
    Run,
    /// Gated, and something a person wrote or said earlier answers for them.
    RunAnswered(AskReason, Answer),
    /// Gated: a card.
    Ask(AskReason),
    /// Gated, and nobody can be asked.
    AutoDenied(AskReason, Answer),
    /// No policy is resolved for this agent yet (P8): refused, with the sentence.
    Unresolved(String),
}

/// A build that may not be returned to anybody (P9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct BuildRefusal {
    /// The toolset.
    pub toolset: ToolsetName,
    /// The sentence, naming the entry and its line.
    pub message: String,
    /// The entry, as written: what `available_tools` shows behind `refused:`.
    pub entry: String,
}
