//! Answers to gated calls: the closed set of what can answer (P13), and grants (P16).
//!
//! Grants live in memory only and are never offered to a model.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::approval::CallFacts;
use super::name::{AgentName, GateEntry, ToolId, did_you_mean, near, shown};
use super::policy::listed;
use super::world::World;

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
    /// A `[[compute.allow]]` line covered it (P21).
    AllowedByLine {
        /// Its number in the file, from 1.
        line: u32,
    },
    /// Every reviewer that was asked approved it (V2).
    ReviewerApproved {
        /// The model or models.
        model: String,
        /// Their sentence.
        reason: String,
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

impl Answer {
    /// Whether the call may run on it.
    pub fn allows(&self) -> bool {
        match self {
            Self::AllowedOnce
            | Self::AllowedForConversation
            | Self::AllowedByGrant { .. }
            | Self::AllowedByFlag { .. }
            | Self::AllowedByLine { .. }
            | Self::ReviewerApproved { .. } => true,
            Self::Denied
            | Self::DeniedWithReason { .. }
            | Self::AutoDenied { .. }
            | Self::Expired
            | Self::Withdrawn
            | Self::Interrupted => false,
        }
    }
}

/// Exactly P13's words, for the receipt row.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllowedOnce => f.write_str("allowed once"),
            Self::AllowedForConversation => f.write_str("allowed for this conversation"),
            Self::AllowedByGrant { grant } => write!(f, "allowed by grant {grant}"),
            Self::AllowedByFlag { .. } => f.write_str("allowed by --allow"),
            Self::AllowedByLine { line } => write!(f, "allowed by allow line {line}"),
            Self::ReviewerApproved { .. } => f.write_str("reviewer approved"),
            Self::Denied => f.write_str("denied"),
            Self::DeniedWithReason { .. } => f.write_str("denied with a reason"),
            Self::AutoDenied { .. } => f.write_str("auto-denied"),
            Self::Expired => f.write_str("expired"),
            Self::Withdrawn => f.write_str("withdrawn (stopped)"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
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

impl Grant {
    /// Whether it is for this very call: any other conversation, agent, tool, definition or argument lapses it.
    pub(super) fn covers(&self, call: &CallFacts<'_>) -> bool {
        self.conversation == call.conversation
            && self.agent == *call.agent
            && self.tool == call.tool.id
            && self.digest == call.tool.digest
            && self.arguments == call.arguments
    }
}

/// One `--allow` of this run (P22).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Allow {
    written: String,
    agent: AgentName,
    entry: GateEntry,
    used: bool,
}

impl Allow {
    fn covers(&self, call: &CallFacts<'_>) -> bool {
        self.agent == *call.agent && self.entry.names(&call.tool.id)
    }
}

impl World {
    /// Sets the `--allow` entries of this run (P21, P22): `ENTRY` for the entry agent, `AGENT=ENTRY` for another. Called
    /// after startup's builds, so that a tool name which matches nothing is seen where its toolset is built already.
    ///
    /// # Errors
    /// One sentence for each entry that does not parse, matches nothing registered, or reaches the floor; then none is set.
    pub fn allow(&mut self, entries: &[String]) -> Result<(), Vec<String>> {
        let mut allows = Vec::new();
        let mut faults = Vec::new();
        for written in entries {
            match self.parse_allow(written) {
                Ok(allow) => allows.push(allow),
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.allows = allows;
        Ok(())
    }

    /// `--allow` entries that answered no gated call so far, as written (P22).
    pub fn unused_allows(&self) -> Vec<String> {
        self.allows.iter().filter(|allow| !allow.used).map(|allow| allow.written.clone()).collect()
    }

    /// Every fault names what is wrong once: the whole entry, or the part of it.
    fn parse_allow(&self, written: &str) -> Result<Allow, String> {
        let whole = |fault: String| format!("--allow {}: {fault}", shown(written));
        let (agent, text) = match written.split_once('=') {
            // A tool's name may hold '=', an agent's name no dot.
            Some((agent, text)) if !agent.contains('.') => (AgentName::new(agent), text),
            _ => (self.entry().clone(), written),
        };
        if let Some((fault, hint)) = self.undeclared(&agent) {
            return Err(format!("--allow: {fault}; {hint}"));
        }
        let entry = GateEntry::parse(text).map_err(|fault| format!("--allow: {fault}"))?;
        if let Some(toolset) = entry.toolset().filter(|toolset| !self.registry.contains(toolset.as_str())) {
            let hint = did_you_mean(&self.registry.near(toolset.as_str()))
                .unwrap_or_else(|| "`kokua toolsets` prints every name".to_owned());
            return Err(format!("--allow: no toolset is named '{toolset}'; {hint}"));
        }
        self.must_match(&agent, &entry).map_err(whole)?;
        let floor = self.policies.floor.entries.iter().find(|floor| {
            floor.gate.overlaps(&entry)
                || self
                    .policies
                    .resolved(&entry, &self.earned(&agent))
                    .iter()
                    .any(|tool| self.policies.reaches(&floor.gate, tool))
        });
        if let Some(floor) = floor {
            return Err(whole(format!(
                "it reaches '{}' of [security].never_auto_approve (line {}), which always asks a person",
                floor.written, floor.span.line
            )));
        }
        Ok(Allow { written: written.to_owned(), agent, entry, used: false })
    }

    fn must_match(&self, agent: &AgentName, entry: &GateEntry) -> Result<(), String> {
        let Some(toolset) = entry.toolset() else {
            let earned = self.earned(agent);
            if self.policies.resolved(entry, &earned).is_empty() {
                let close = match entry {
                    GateEntry::CoreTool(name) => near(name.as_str(), earned.iter().copied(), 3),
                    _ => Vec::new(),
                };
                let hint = did_you_mean(&close).map(|hint| format!("; {hint}")).unwrap_or_default();
                return Err(format!("'{agent}' holds no such core tool{hint}"));
            }
            return Ok(());
        };
        let (GateEntry::Tool(_, tool), Some(tools)) = (entry, self.last_build(toolset)) else { return Ok(()) };
        if tools.iter().any(|facts| facts.name == *tool) {
            return Ok(());
        }
        let names = tools.iter().map(|facts| &facts.name).cloned().collect();
        let hint = did_you_mean(&near(tool.as_str(), tools.iter().map(|facts| facts.name.as_str()), 3))
            .unwrap_or_else(|| format!("its tools: {}", listed(&names)));
        Err(format!("'{toolset}' has no tool of that name; {hint}"))
    }

    pub(super) fn earned(&self, agent: &AgentName) -> std::collections::BTreeSet<&'static str> {
        self.core_tools(agent).iter().copied().collect()
    }

    /// What a person wrote or said earlier that answers for this call, if anything does and may (P1, P16, P21): an allow line,
    /// `--allow`, a grant. Never for what the floor reaches; no grant and no flag for a composed worker.
    pub(super) fn answered(&self, call: &CallFacts<'_>) -> Option<Answer> {
        if self.policies.floor_reaches(&call.tool.id).is_some() {
            return None;
        }
        let line = call.allow_line.map(|line| Answer::AllowedByLine { line });
        // A gate matches by name, whoever holds it (P19); what lets a call through matches only what it says. No entry of
        // `--allow` and no grant is a composed worker's: both are a declared agent's (P16, P22).
        let flag = || {
            let allow = self.allows.iter().find(|allow| allow.covers(call))?;
            Some(Answer::AllowedByFlag { entry: allow.written.clone() })
        };
        let grant = || {
            let grant = self.grants.iter().find(|grant| grant.covers(call))?;
            self.ungrantable(call.agent, &call.tool.id)
                .is_none()
                .then_some(Answer::AllowedByGrant { grant: grant.number })
        };
        line.or_else(flag).or_else(grant)
    }

    /// Counts what answered.
    pub(super) fn count_use(&mut self, call: &CallFacts<'_>, answer: &Answer) {
        match answer {
            Answer::AllowedByGrant { grant } => {
                if let Some(grant) = self.grants.iter_mut().find(|known| known.number == *grant) {
                    grant.uses = grant.uses.saturating_add(1);
                }
            }
            Answer::AllowedByFlag { .. } => {
                if let Some(allow) = self.allows.iter_mut().find(|allow| allow.covers(call)) {
                    allow.used = true;
                }
            }
            _ => {}
        }
    }
}
