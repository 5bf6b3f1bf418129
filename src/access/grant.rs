//! Answers to gated calls: the closed set of what can answer (P13), and grants (P16).
//!
//! Grants live in memory only and are never offered to a model.

use serde::{Deserialize, Serialize};

use super::name::{AgentName, ToolId};

/// Who or what answered a gated call (P13). Recorded with the call; the receipt row uses exactly these words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// A person allowed this one call.
    AllowedOnce,
    /// A person allowed this exact call for this conversation.
    AllowedForConversation,
    /// A grant a person gave earlier covered it.
    AllowedByGrant {
        /// The grant's number as listed.
        grant: u32,
    },
    /// `kokua run --allow ENTRY` covered it (P21).
    AllowedByFlag {
        /// The entry as written.
        entry: String,
    },
    /// A person denied it.
    Denied,
    /// A person denied it with a sentence that the model reads.
    DeniedWithReason {
        /// The sentence.
        reason: String,
    },
    /// Nobody was there to ask (P12).
    AutoDenied {
        /// Why nobody was asked.
        reason: String,
    },
    /// The question's time ran out: neither a yes nor a no.
    Expired,
    /// A stop withdrew the question.
    Withdrawn,
    /// The program ended while the question was open.
    Interrupted,
}

/// A person's "this exact call in this conversation" (P16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// Its number in the list, from 1, never used again in this process.
    pub number: u32,
    /// The conversation it holds in.
    pub conversation: String,
    /// The declared agent it holds for.
    pub agent: AgentName,
    /// The tool.
    pub tool: ToolId,
    /// Digest of the tool's definition when it was granted.
    pub digest: String,
    /// The arguments as canonical JSON after coercion.
    pub arguments: String,
    /// How often it answered since.
    pub uses: u32,
}
