//! A tool's answer, bounded: what was cut says how much.

/// How a tool's own run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Ok,
    /// It answered with an error.
    Failed,
    /// Its own time limit ended it.
    TimedOut,
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub outcome: Outcome,
    /// What the model reads.
    pub text: String,
    /// A few words for the row, such as `14 entries`.
    pub note: Option<String>,
}
