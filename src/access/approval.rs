//! Approval: what happens to one call, in P1's order up to the card, and the grants that a person gives (§6).
//!
//! Nothing here asks anybody.

use serde::{Deserialize, Serialize};

use super::declare::{Background, ServerDefault};
use super::grant::{Answer, Grant};
use super::held::HeldTool;
use super::name::{AgentName, Span, ToolId, ToolsetName, shown};
use super::planted::{Bug, planted};
use super::policy::{AskReason, Decision, Entry, GateList, Policy};
use super::registry::Kind;
use super::world::{Fact, World};

/// Whether a person is at this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attendance {
    /// A person started it here.
    Attended,
    /// Scheduled, proactive or headless.
    Unattended,
}

/// Where the conversation of a call is, as far as a person is concerned (P12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    /// On screen.
    #[default]
    OnScreen,
    /// Not on screen, and somebody is present.
    Unseen,
    /// Not on screen, and nobody pressed a key for `presence_minutes`.
    UnseenAndAway,
}

/// The call that a decision is asked for.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// The conversation's id.
    pub conversation: &'a str,
    /// The agent that calls.
    pub agent: &'a AgentName,
    /// The held tool.
    pub tool: &'a HeldTool,
    /// Arguments as canonical JSON, after coercion.
    pub arguments: &'a str,
    /// Whether anybody is there.
    pub attendance: Attendance,
    /// Where its conversation is.
    pub sight: Sight,
    /// The `[[compute.allow]]` line that covers all of it, if one does (P21).
    pub allow_line: Option<u32>,
}

impl<'a> CallFacts<'a> {
    /// A call of the conversation on screen that no allow line covers.
    pub fn on_screen(
        conversation: &'a str,
        agent: &'a AgentName,
        tool: &'a HeldTool,
        arguments: &'a str,
        attendance: Attendance,
    ) -> Self {
        Self { conversation, agent, tool, arguments, attendance, sight: Sight::OnScreen, allow_line: None }
    }
}

/// Why one call asks first.
#[derive(Clone, Copy)]
pub(super) enum Gate<'a> {
    /// An entry of the caller's policy.
    Entry(&'a Policy, &'a Entry),
    /// P18: no entry matches, and a server's tools ask by default.
    Server(ServerGate<'a>),
}

/// The key of P18 that gates a server's tools.
#[derive(Clone, Copy)]
pub(super) struct ServerGate<'a> {
    /// The server, where it has a key of its own.
    server: Option<&'a ToolsetName>,
    pub(super) span: Span,
}

impl ServerGate<'_> {
    /// The table that the key stands in.
    pub(super) fn table(&self) -> String {
        self.server.map_or_else(|| "[mcp]".to_owned(), |server| format!("[[mcp.server]] '{server}'"))
    }
}

impl Gate<'_> {
    /// Which list it stands in; what P18 gates is treated as in `confirm`.
    pub(super) fn list(&self) -> GateList {
        match self {
            Self::Entry(_, entry) => entry.list,
            Self::Server(_) => GateList::Confirm,
        }
    }

    /// `'fs' in confirm of [assistant.tools]`, and where that stands.
    pub(super) fn place(&self) -> (String, Span) {
        match self {
            Self::Entry(policy, entry) => (policy.place(entry), entry.span),
            Self::Server(gate) => (format!("default = \"confirm\" of {}", gate.table()), gate.span),
        }
    }

    /// What a card and a log say of it.
    fn reason(&self) -> AskReason {
        match self {
            Self::Entry(policy, entry) => {
                AskReason { list: entry.list, entry: entry.written.clone(), source: policy.source_of(entry) }
            }
            Self::Server(gate) => AskReason {
                list: GateList::Confirm,
                entry: "default = \"confirm\"".to_owned(),
                source: format!("from {} line {}", gate.table(), gate.span.line),
            },
        }
    }
}

impl World {
    /// What happens to this call, in P1's order up to the card: policy resolved, gated, allow line, `--allow`, grant,
    /// unattended or unseen, reviewer, card. Counts the use of the `--allow` entry or grant that answers.
    pub fn decide(&mut self, call: CallFacts<'_>) -> Decision {
        let decision = self.judge(&call);
        if let Decision::RunAnswered(_, answer) = &decision {
            self.count_use(&call, answer);
        }
        decision
    }

    /// The same, and nothing is counted: what `explain` asks.
    pub(super) fn judge(&self, call: &CallFacts<'_>) -> Decision {
        if !self.resolved || !self.tables.contains_key(call.agent) {
            return Decision::Unresolved(format!(
                "Tool '{}' was not run: no approval policy is resolved for '{}' yet.",
                shown(call.tool.id.name.as_str()),
                call.agent
            ));
        }
        let Some(gate) = self.gate(call.agent, &call.tool.id) else { return Decision::Run };
        let reason = gate.reason();
        if let Some(answer) = self.answered(call) {
            return Decision::RunAnswered(reason, answer);
        }
        let nobody = match (call.attendance, call.sight, self.declarations.background) {
            (Attendance::Unattended, _, _) => Some("nobody is here to ask"),
            (Attendance::Attended, Sight::Unseen, Background::Deny) => {
                Some("its conversation is not on screen, and [security].background is \"deny\"")
            }
            (Attendance::Attended, Sight::UnseenAndAway, _) => {
                Some("its conversation is not on screen and nobody is here")
            }
            (Attendance::Attended, Sight::OnScreen, _) | (Attendance::Attended, Sight::Unseen, Background::Park) => {
                None
            }
        };
        if let Some(why) = nobody {
            return Decision::AutoDenied(reason, Answer::AutoDenied { reason: why.to_owned() });
        }
        // The checks keep the floor out of `review` (P6, P9); whatever reaches it all the same asks a person.
        if self.reviews(gate.list()) && self.policies.floor_reaches(&call.tool.id).is_none() {
            return Decision::Review(reason);
        }
        Decision::Ask(reason)
    }

    /// Whether what stands in `list` goes to a reviewer first (P1, P11).
    pub(super) fn reviews(&self, list: GateList) -> bool {
        list == GateList::Review && self.declarations.auto_approval
    }

    /// What makes a call of `tool` by `agent` ask first: the first entry of its policy that matches, else P18's default of a
    /// server.
    pub(super) fn gate<'a>(&'a self, agent: &'a AgentName, tool: &'a ToolId) -> Option<Gate<'a>> {
        let reaches = |(_, entry): &(_, &Entry)| entry.gate.names(tool) || !planted(Bug::GatesOwnersOnly);
        let entry = self.policies.gates(agent, tool).find(reaches).map(|(policy, entry)| Gate::Entry(policy, entry));
        entry.or_else(|| self.server_gate(tool.toolset()?).map(Gate::Server))
    }

    /// P18 for the tools of one server: its own key goes before that of all servers.
    pub(super) fn server_gate<'a>(&'a self, toolset: &'a ToolsetName) -> Option<ServerGate<'a>> {
        if self.registry.kind(toolset) != Some(Kind::Mcp) {
            return None;
        }
        let defaults = &self.declarations.server_defaults;
        let own = defaults.each.get(toolset);
        let word = own.or(defaults.every.as_ref())?;
        let server = own.map(|_| toolset);
        (word.value == ServerDefault::Confirm).then_some(ServerGate { server, span: word.span })
    }

    /// Why no grant can be given to `agent` for `tool`, if so (P16): the floor reaches it, the agent was composed, or the
    /// tool's server changed.
    pub fn ungrantable(&self, agent: &AgentName, tool: &ToolId) -> Option<String> {
        if let Some(entry) = self.policies.floor_reaches(tool) {
            return Some(format!(
                "{tool} asks every time: '{}' stands in [security].never_auto_approve, line {}",
                entry.written, entry.span.line
            ));
        }
        if self.policies.is_composed(agent) {
            return Some(format!("{tool} asks every time: '{agent}' is a composed worker"));
        }
        let facts = self.facts.get(tool.toolset()?)?;
        let changed = facts.whole.iter().chain(facts.tools.values()).any(|fact| *fact == Fact::ChangedSinceAccepted);
        changed.then(|| format!("{tool} asks every time: its server changed since it was accepted"))
    }

    /// Adds a grant (P16); the number of the one there is, if this exact call has one.
    ///
    /// # Errors
    /// No grant can be given for this call ([`World::ungrantable`]).
    pub fn grant(&mut self, call: CallFacts<'_>) -> Result<u32, String> {
        if let Some(why) = self.ungrantable(call.agent, &call.tool.id) {
            return Err(why);
        }
        if let Some(grant) = self.grants.iter().find(|grant| grant.covers(&call)) {
            return Ok(grant.number);
        }
        self.last_grant += 1;
        self.grants.push(Grant {
            number: self.last_grant,
            conversation: call.conversation.to_owned(),
            agent: call.agent.clone(),
            tool: call.tool.id.clone(),
            digest: call.tool.digest.clone(),
            arguments: call.arguments.to_owned(),
            uses: 0,
        });
        Ok(self.last_grant)
    }

    /// Revokes a grant by number; whether there was one.
    pub fn revoke(&mut self, number: u32) -> bool {
        let before = self.grants.len();
        self.grants.retain(|grant| grant.number != number);
        self.grants.len() < before
    }

    /// Revokes every grant of a conversation, which was rewound (P16); how many there were.
    pub fn lapse_grants(&mut self, conversation: &str) -> usize {
        let before = self.grants.len();
        self.grants.retain(|grant| grant.conversation != conversation);
        before - self.grants.len()
    }

    /// The grants of a conversation.
    pub fn grants(&self, conversation: &str) -> Vec<&Grant> {
        self.grants.iter().filter(|grant| grant.conversation == conversation).collect()
    }
}
