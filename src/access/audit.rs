//! The audit (K5): what an entry of the log says, what of withholding is new, and what another world would have decided.
//!
//! Nothing here writes anything, and arguments are never part of an entry: only their keyed digest is. Replaying asks the
//! functions that decide calls; there is no second copy of a rule.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::approval::{Attendance, CallFacts};
use super::conditions::{Conditions, Life, Trigger};
use super::grant::Answer;
use super::held::{Arrival, Held, HeldTool};
use super::mode::{DEFAULT_MODE, ModeName};
use super::name::{AgentName, Owner, ToolId, ToolName, ToolsetName, shown};
use super::offer::{Filter, Ledger, RowState, Withheld};
use super::policy::{AskReason, Decision, GateList};
use super::registry::one_line;
use super::world::World;

/// The version of the entries that this program writes. A new kind of entry or a new field needs no new version.
pub const VERSION: u32 = 1;

/// Rows of one [`What::Withheld`] entry at most; more make further entries, so that a line stays bounded.
const ROWS: usize = 200;

/// How far the log goes: its entries, and the hash of the last one's line. Kept in each conversation's log too, so that a
/// cut tail is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Entries so far.
    pub entries: u64,
    /// SHA-256 of the last entry's line, as 64 hex digits.
    pub hash: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_entry(node: &u32) -> bool {
    *node == 0
}

/// One entry: when, where, who, and what was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the Unix epoch.
    pub at: i64,
    /// The conversation's id; nothing for what holds in all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The agent; nothing for what a person did to all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Which of the conversation's agents that is: 0 the entry agent, else a worker, of whom several may have one name.
    #[serde(default, skip_serializing_if = "is_entry")]
    pub node: u32,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A call reached dispatch, or was refused before. Written before it runs.
    Call(Box<PastCall>),
    /// A gated call was answered, by a person or otherwise (P13).
    Answer {
        /// The call's number in its conversation.
        call: u64,
        /// What was asked about.
        tool: ToolId,
        /// Keyed digest of the arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
        /// The entry that asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<Gate>,
        /// The answer.
        answer: Answer,
    },
    /// A toolset is held from here on, by a load or restored at wiring (R12).
    Load {
        /// The call that asked for it; nothing for one that was restored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
        /// Which.
        toolset: ToolsetName,
        /// `loaded` or `preloaded`.
        arrival: Arrival,
        /// The tools that it added.
        tools: Vec<ToolName>,
    },
    /// A load built nothing that may be held (R10, P9).
    LoadFailed {
        /// The call that asked for it.
        call: u64,
        /// Which.
        toolset: ToolsetName,
        /// Why, in one line.
        error: String,
    },
    /// What is withheld from a model call otherwise than from the agent's call before; all of it at the first one of its
    /// life.
    Withheld {
        /// The model call's number in its turn.
        model_call: u32,
        /// What changed, alike reasons together.
        changes: Vec<Change>,
    },
    /// A person allowed one exact call for this conversation (P16).
    Grant {
        /// Its number, unique while that program runs.
        number: u32,
        /// The tool.
        tool: ToolId,
        /// Keyed digest of the arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
    },
    /// A person took a grant back.
    Revoke {
        /// Its number.
        number: u32,
    },
    /// The conversation is in another mode from here on (W3): a person gave it one, or it began in one.
    Mode {
        /// Which.
        mode: ModeName,
    },
    /// A person switched a toolset (W1).
    Switch {
        /// Which.
        toolset: ToolsetName,
        /// Which way.
        to: Position,
    },
}

/// Where a switch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Offered.
    On,
    /// Withheld from every call.
    Off,
}

/// One past call and what was decided of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastCall {
    /// Its number in its conversation.
    pub call: u64,
    /// The name that the model called, cut and escaped as for people.
    pub wire: String,
    /// The held tool of that name, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolId>,
    /// Digest of that tool's definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Keyed digest of the arguments: canonical once they were checked, else as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Whether anybody was there.
    pub attendance: Attendance,
    /// The entry that asked first; nothing where none gates it, or nobody got as far as to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What was decided of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It ran from here on. How it ended is in its conversation.
    Dispatched,
    /// Its arguments did not fit.
    InvalidArguments,
    /// Nothing held has its name (A12).
    Unknown,
    /// The dispatch check refused it (O3), no policy was resolved (P8), or it could not be written here first.
    Refused {
        /// The sentence.
        why: String,
    },
    /// It was asked about, and the answer was no.
    NotAllowed,
}

/// The entry of a policy that decided, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Its list.
    pub list: GateList,
    /// It.
    pub entry: String,
    /// Where it stands: `from [assistant.tools] line 12`.
    pub source: String,
}

impl From<&AskReason> for Gate {
    fn from(reason: &AskReason) -> Self {
        Self { list: reason.list, entry: reason.entry.clone(), source: reason.source.clone() }
    }
}

/// What is withheld otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Why it is withheld now; nothing: it is not any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// Held tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// Deferred toolsets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toolsets: Vec<ToolsetName>,
}

/// An entry on its way to the log. The arguments are still text here; only their keyed digest gets into the entry, and a
/// draft cannot be serialized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    entry: Entry,
    arguments: Option<String>,
}

impl Draft {
    /// An entry about no arguments.
    pub fn new(entry: Entry) -> Self {
        Self { entry, arguments: None }
    }

    /// An entry about a call with these arguments.
    pub fn about(entry: Entry, arguments: String) -> Self {
        Self { entry, arguments: Some(arguments) }
    }

    /// What it will say, without the digest.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The arguments that its digest will be of.
    pub fn arguments(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    /// The call that it is about, if it is about one.
    pub fn call(&self) -> Option<u64> {
        match &self.entry.what {
            What::Call(call) => Some(call.call),
            What::Answer { call, .. } | What::LoadFailed { call, .. } => Some(*call),
            What::Load { call, .. } => *call,
            What::Withheld { .. }
            | What::Grant { .. }
            | What::Revoke { .. }
            | What::Mode { .. }
            | What::Switch { .. } => None,
        }
    }

    /// The entry, with the digest in place of the arguments.
    pub fn sealed(self, digest: impl FnOnce(&str) -> String) -> Entry {
        let Self { mut entry, arguments: text } = self;
        if let (What::Call(_) | What::Answer { .. } | What::Grant { .. }, Some(text)) = (&entry.what, text) {
            let sealed = Some(digest(&text));
            match &mut entry.what {
                What::Call(call) => call.arguments = sealed,
                What::Answer { arguments, .. } | What::Grant { arguments, .. } => *arguments = sealed,
                _ => {}
            }
        }
        entry
    }
}

/// An answer as it is written: a sentence in one line, cut.
pub fn bounded(answer: &Answer) -> Answer {
    match answer {
        Answer::DeniedWithReason { reason } => Answer::DeniedWithReason { reason: one_line(reason) },
        Answer::AutoDenied { reason } => Answer::AutoDenied { reason: one_line(reason) },
        other => other.clone(),
    }
}

/// A sentence as it is written: one line, cut at 500 characters.
pub fn sentence(text: &str) -> String {
    one_line(text)
}

/// What `after` withholds otherwise than `before`, the ledger of the agent's last call; all that it withholds where there
/// was none. That a deferred toolset is not loaded withholds nothing that anybody decided, so it is no change. Alike
/// reasons stand together, in pieces of at most 200 rows.
pub fn changes(before: Option<&Ledger>, after: &Ledger) -> Vec<Vec<Change>> {
    let empty = Ledger::default();
    let before = before.unwrap_or(&empty);
    let mut grouped: BTreeMap<Option<(Filter, String)>, Change> = BTreeMap::new();
    let mut tell =
        |was: Option<&Withheld>, is: Option<&Withheld>, tool: Option<&ToolId>, toolset: Option<&ToolsetName>| {
            if was == is {
                return;
            }
            let key = is.map(|withheld| (withheld.filter, withheld.reason.clone()));
            let group = grouped.entry(key).or_insert_with(|| Change {
                withheld: is.cloned(),
                tools: Vec::new(),
                toolsets: Vec::new(),
            });
            group.tools.extend(tool.cloned());
            group.toolsets.extend(toolset.cloned());
        };
    let rows: BTreeMap<&ToolId, &RowState> = before.tools.iter().map(|row| (&row.tool, &row.state)).collect();
    for row in &after.tools {
        tell(rows.get(&row.tool).and_then(|state| of_tool(state)), of_tool(&row.state), Some(&row.tool), None);
    }
    let deferred: BTreeMap<&ToolsetName, &Withheld> =
        before.deferred.iter().map(|row| (&row.toolset, &row.withheld)).collect();
    for row in &after.deferred {
        let was = deferred.get(&row.toolset).copied().and_then(decided);
        tell(was, decided(&row.withheld), None, Some(&row.toolset));
    }
    pieces(grouped.into_values())
}

fn of_tool(state: &RowState) -> Option<&Withheld> {
    match state {
        RowState::Offered => None,
        RowState::Withheld(withheld) => Some(withheld),
    }
}

fn decided(withheld: &Withheld) -> Option<&Withheld> {
    Some(withheld).filter(|withheld| withheld.filter.decides())
}

/// Cuts changes so that no piece has more than [`ROWS`] rows.
fn pieces(changes: impl Iterator<Item = Change>) -> Vec<Vec<Change>> {
    let mut pieces: Vec<Vec<Change>> = Vec::new();
    let mut room = 0;
    for Change { withheld, tools, toolsets } in changes {
        let (mut tools, mut toolsets) = (tools.into_iter().peekable(), toolsets.into_iter().peekable());
        while tools.peek().is_some() || toolsets.peek().is_some() {
            if room == 0 {
                pieces.push(Vec::new());
                room = ROWS;
            }
            let tools: Vec<ToolId> = tools.by_ref().take(room).collect();
            room -= tools.len();
            let toolsets: Vec<ToolsetName> = toolsets.by_ref().take(room).collect();
            room -= toolsets.len();
            if let Some(piece) = pieces.last_mut() {
                piece.push(Change { withheld: withheld.clone(), tools, toolsets });
            }
        }
    }
    pieces
}

/// What a world would have decided of a past call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It would run.
    Run {
        /// What answers for the person, where an entry asks: the same grant or `--allow` as then.
        answer: Option<Answer>,
    },
    /// It would ask.
    Ask {
        /// The entry that does.
        gate: Gate,
    },
    /// It would be refused.
    Refused {
        /// Why: a lower-case fragment or a sentence.
        why: String,
    },
    /// The log has only the digest of its arguments, and the answer depends on them.
    DependsOnArguments {
        /// What would have to be known.
        why: String,
    },
}

/// A past call of the entries, by its place in them, and what the other world would have decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// Index of its entry.
    pub place: usize,
    /// The verdict.
    pub verdict: Verdict,
}

/// What `world` would have decided of every call in `entries`, which are in the log's order. Loads happen as they did,
/// where the world lets them; who was there, and which grant or `--allow` answered, is as it was; nothing else a person
/// said is taken for said again. What no build of the world has shown counts as not held, so the caller builds every
/// toolset that the entries name and the world installs. What a check withholds is as it is now.
pub fn replay(entries: &[Entry], world: &World) -> Vec<Replayed> {
    let mut world = world.clone();
    let mut lives: BTreeMap<(&str, &AgentName, u32), PastLife> = BTreeMap::new();
    let mut modes: BTreeMap<&str, ModeName> = BTreeMap::new();
    let mut replayed = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let Some(agent) = &entry.agent else { continue };
        let conversation = entry.conversation.as_deref().unwrap_or_default();
        let life = lives.entry((conversation, agent, entry.node)).or_insert_with(|| PastLife::begin(&world, agent));
        if let Some(mode) = modes.get(conversation) {
            life.conditions.mode = Some(mode.clone());
        }
        match &entry.what {
            What::Load { toolset, .. } => {
                if let Ok(toolset) = world.may_load(life.now(agent), toolset.as_str())
                    && let Some(tools) = world.last_build(&toolset)
                {
                    life.held.add(&toolset, Arrival::Loaded, tools);
                }
            }
            What::Call(call) => {
                let verdict = judge(&mut world, conversation, agent, life, call);
                replayed.push(Replayed { place, verdict });
            }
            What::Withheld { changes, .. } => life.take(changes),
            What::Mode { mode } => drop(modes.insert(conversation, mode.clone())),
            What::Answer { .. }
            | What::LoadFailed { .. }
            | What::Grant { .. }
            | What::Revoke { .. }
            | What::Switch { .. } => {}
        }
    }
    replayed
}

/// One agent of one conversation, as the log tells its life in another world.
struct PastLife {
    held: Held,
    conditions: Conditions,
    /// What its turn's own list kept out (W6): that was no policy's doing, so it stays out.
    excluded: BTreeSet<ToolId>,
}

impl PastLife {
    /// In `work`, unless the log says another mode. Which triggers held is not in it, so none keeps a call out.
    fn begin(world: &World, agent: &AgentName) -> Self {
        let mode = Some(ModeName::new(DEFAULT_MODE));
        let conditions = Conditions { mode, triggers: BTreeSet::from([Trigger::Link]), ..Conditions::default() };
        Self { held: world.fresh(agent), conditions, excluded: BTreeSet::new() }
    }

    fn now<'a>(&'a self, agent: &'a AgentName) -> Life<'a> {
        Life::new(agent, &self.held).under(&self.conditions)
    }

    fn take(&mut self, changes: &[Change]) {
        for change in changes {
            let out = change.withheld.as_ref().is_some_and(|withheld| withheld.filter == Filter::Exclusion);
            self.excluded.retain(|tool| !change.tools.contains(tool));
            self.excluded.extend(change.tools.iter().filter(|_| out).cloned());
        }
    }
}

fn judge(world: &mut World, conversation: &str, agent: &AgentName, life: &PastLife, call: &PastCall) -> Verdict {
    let held = &life.held;
    let refused = |why: String| Verdict::Refused { why };
    if !world.declarations().agents.iter().any(|declared| declared.name.value == *agent) {
        return refused(format!("no agent is named '{agent}'"));
    }
    let Some(id) = &call.tool else {
        return match held.by_wire(&call.wire) {
            None => refused("nothing held has that name".to_owned()),
            Some(tool) => {
                Verdict::DependsOnArguments { why: format!("{} is held, and they were never checked", tool.id) }
            }
        };
    };
    if !world.may_hold(agent, id) {
        return refused(match &id.owner {
            Owner::Core => format!("'{agent}' does not earn {id}"),
            Owner::Toolset(toolset) => format!("'{toolset}' is not available to '{agent}'"),
        });
    }
    let Some(tool) = held.get(id) else { return refused(not_held(world, life.now(agent), id)) };
    // Its turn's own list kept it out then; what was let further is of a later turn, which had no such list.
    if life.excluded.contains(id) && matches!(call.outcome, Outcome::Refused { .. }) {
        return refused(format!("{id} was outside of what that turn might call, as then"));
    }
    if let Some(sentence) = world.dispatch(life.now(agent), id, &tool.digest) {
        return refused(sentence);
    }
    if call.outcome == Outcome::InvalidArguments {
        return if call.definition.as_ref() == Some(&tool.digest) {
            refused("its arguments do not fit, as then".to_owned())
        } else {
            Verdict::DependsOnArguments { why: "they did not fit, and the tool's definition is another one".to_owned() }
        };
    }
    gate(world, conversation, agent, tool, call)
}

/// Why a tool that the agent's table allows would not be held.
fn not_held(world: &World, life: Life<'_>, id: &ToolId) -> String {
    let (agent, held) = (life.agent, life.held);
    let Owner::Toolset(toolset) = &id.owner else { return format!("{id} is not held") };
    let offers = world.last_build(toolset).is_some_and(|tools| tools.iter().any(|facts| facts.name == id.name));
    match (held.arrival(toolset), world.failure(toolset)) {
        (Some(_), _) if offers => {
            format!("another tool that '{agent}' holds has the name {}", shown(id.name.as_str()))
        }
        (Some(_), _) => format!("'{toolset}' has no tool of that name"),
        (None, Some(error)) => format!("'{toolset}' could not be built: {error}"),
        (None, None) => match world.may_load(life, toolset.as_str()) {
            Ok(_) => format!("'{toolset}' is deferred, and nothing had loaded it"),
            Err(sentence) => sentence,
        },
    }
}

/// P1's order, asked of the world itself.
fn gate(world: &mut World, conversation: &str, agent: &AgentName, tool: &HeldTool, call: &PastCall) -> Verdict {
    // Equal arguments have equal digests, and that is all that a grant asks of them.
    let arguments = call.arguments.as_deref().unwrap_or_default();
    let facts = CallFacts::on_screen(conversation, agent, tool, arguments, call.attendance);
    // An entry of `--allow` or a grant that this world does not take answers nothing.
    let (mut allowed, mut granted, mut why_not) = (false, None, None);
    match &call.answer {
        Some(Answer::AllowedByFlag { entry }) => match world.allow(std::slice::from_ref(entry)) {
            Ok(()) => allowed = true,
            Err(faults) => why_not = faults.into_iter().next(),
        },
        Some(Answer::AllowedByGrant { .. }) => match world.grant(facts) {
            Ok(number) => granted = Some(number),
            Err(fault) => why_not = Some(fault),
        },
        _ => {}
    }
    let decision = world.decide(facts);
    if allowed {
        // Nothing is no fault.
        let _none = world.allow(&[]);
    }
    if let Some(number) = granted {
        world.revoke(number);
    }
    match decision {
        Decision::Run => Verdict::Run { answer: None },
        Decision::RunAnswered(_, Answer::AllowedByGrant { .. }) => Verdict::Run { answer: call.answer.clone() },
        Decision::RunAnswered(_, answer) => Verdict::Run { answer: Some(answer) },
        Decision::Ask(reason) | Decision::Review(reason) => Verdict::Ask { gate: Gate::from(&reason) },
        Decision::AutoDenied(reason, answer) => {
            let why = match answer {
                Answer::AutoDenied { reason } => reason,
                other => other.to_string(),
            };
            Verdict::Refused {
                why: format!(
                    "'{}' in {} {} asks first, and {why}{}",
                    reason.entry,
                    reason.list,
                    reason.source,
                    why_not.map(|fault| format!("; what answered then does not now: {fault}")).unwrap_or_default()
                ),
            }
        }
        Decision::Unresolved(sentence) => Verdict::Refused { why: sentence },
    }
}
