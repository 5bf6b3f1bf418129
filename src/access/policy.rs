//! Approval: entries to resolved sets, pending entries, the floor, and the decision for one call (§6).
//!
//! A resolved policy only ever gains names (P8); nothing here asks anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::declare::{Declarations, Fault, Pair};
use super::grant::Answer;
use super::name::{
    AgentName, CORE_TOOLS, GateEntry, Span, Spanned, ToolId, ToolName, ToolsetName, did_you_mean, near, shown,
};
use super::planted::{Bug, planted};

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
    /// Gated: a card. One of a conversation that is not on screen waits in the inbox (P12).
    Ask(AskReason),
    /// Gated by `review`, with auto-approval on: a reviewer first, a card where it does not approve.
    Review(AskReason),
    /// Gated, and nobody can be asked.
    AutoDenied(AskReason, Answer),
    /// No policy is resolved for this agent yet (P8): refused, with the sentence.
    Unresolved(String),
}

impl Decision {
    /// The entry that gates the call, if one does.
    pub fn gate(&self) -> Option<&AskReason> {
        match self {
            Self::RunAnswered(reason, _) | Self::Ask(reason) | Self::Review(reason) | Self::AutoDenied(reason, _) => {
                Some(reason)
            }
            Self::Run | Self::Unresolved(_) => None,
        }
    }
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

impl fmt::Display for GateList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Confirm => "confirm",
            Self::Review => "review",
        })
    }
}

/// One parsed entry of a pair or of the floor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) written: String,
    pub(super) span: Span,
    /// The floor has no lists; its entries count as `confirm`.
    pub(super) list: GateList,
    pub(super) gate: GateEntry,
}

/// What a list of entries is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// `confirm` and `review` of one table.
    Pair,
    /// `[security].never_auto_approve`.
    Floor,
}

/// The entries of one pair (the default one, or an agent's own), or of the floor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) purpose: Purpose,
    /// The table that it stands in: `assistant.tools`, `agents.coder.tools`, `security`.
    pub(super) table: String,
    /// Where its first key stands, if it has one.
    pub(super) key: Option<Span>,
    /// `confirm` first, then `review`, each in the order written.
    pub(super) entries: Vec<Entry>,
}

/// Every policy of the program, and which toolsets' accepted builds ever offered which tool names.
///
/// An entry's resolved set is not stored: it is what `owners` says about it. `owners` only gains names, so no resolved
/// policy can lose one (P8).
#[derive(Debug, Clone)]
pub(super) struct Policies {
    /// The default pair first, then every declared one.
    all: Vec<Policy>,
    /// Which of `all` is whose; an agent that inherits has none here.
    declared: BTreeMap<AgentName, usize>,
    pub(super) floor: Policy,
    owners: BTreeMap<ToolName, BTreeSet<ToolsetName>>,
    /// The composed workers.
    composed: BTreeMap<AgentName, Composed>,
    auto_approval: bool,
}

/// Where a composed worker comes from.
#[derive(Debug, Clone)]
struct Composed {
    /// Who composed it.
    composer: AgentName,
    /// The declared agent at the top: those between it and the worker were composed and declare nothing.
    declared: AgentName,
}

/// What is wrong with an entry in the light of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) rule: &'static str,
    pub(super) entry: Spanned<String>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn into_fault(self) -> Fault {
        Fault { rule: self.rule, span: Some(self.entry.span), message: self.message, hint: self.hint }
    }
}

impl Policy {
    fn new(table: String, pair: &Pair, faults: &mut Vec<Fault>) -> Self {
        let lists = [(GateList::Confirm, &pair.confirm), (GateList::Review, &pair.review)];
        let mut entries = Vec::new();
        for (list, written) in lists.iter().filter_map(|(list, written)| Some((*list, written.as_ref()?))) {
            let place = format!("{list} of [{table}]");
            entries.extend(parse_list(&written.entries, list, &place, faults));
        }
        let key = lists.iter().filter_map(|(_, written)| written.as_ref()).map(|list| list.key).min();
        Self { purpose: Purpose::Pair, table, key, entries }
    }

    /// `'fs.raed_file' in confirm of [assistant.tools]`: how a message names an entry.
    pub(super) fn place(&self, entry: &Entry) -> String {
        let written = shown(&entry.written);
        match self.purpose {
            Purpose::Pair => format!("'{written}' in {} of [{}]", entry.list, self.table),
            Purpose::Floor => format!("'{written}' in [security].never_auto_approve"),
        }
    }

    /// The first entry of `list` that resolves to the tool name `name`, which builds of `owners` offer.
    fn resolved_to(&self, list: GateList, name: &ToolName, owners: &BTreeSet<ToolsetName>) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.list == list && matches(&entry.gate, name, Some(owners)))
    }

    /// The rule that an entry which matches nothing breaks.
    pub(super) fn rule(&self) -> &'static str {
        match self.purpose {
            Purpose::Pair => "P6",
            Purpose::Floor => "P20",
        }
    }

    /// `from [assistant.tools] line 12`, as a card says it.
    pub(super) fn source_of(&self, entry: &Entry) -> String {
        format!("from [{}] line {}", self.table, entry.span.line)
    }
}

fn parse_list(written: &[Spanned<String>], list: GateList, place: &str, faults: &mut Vec<Fault>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for word in written {
        let gate = match GateEntry::parse(&word.value) {
            Ok(gate) => gate,
            Err(message) => {
                let message = format!("{message} (in {place})");
                faults.push(Fault { rule: "P2", span: Some(word.span), message, hint: None });
                continue;
            }
        };
        if let Some(first) = entries.iter().find(|other| other.gate == gate) {
            let (now, before) = (&word.value, &first.written);
            let message = if now == before {
                format!("'{now}' stands twice in {place}, first on line {}", first.span.line)
            } else {
                format!("'{now}' in {place} means the same as '{before}' on line {}", first.span.line)
            };
            faults.push(Fault {
                rule: "A15",
                span: Some(word.span),
                message,
                hint: Some("take one of them out".to_owned()),
            });
            continue;
        }
        entries.push(Entry { written: word.value.clone(), span: word.span, list, gate });
    }
    entries
}

impl Policies {
    /// Reads every pair and the floor. Entries that do not parse, and duplicates, are faults.
    pub(super) fn new(declarations: &Declarations, faults: &mut Vec<Fault>) -> Self {
        let mut all = vec![Policy::new("assistant.tools".to_owned(), &declarations.default_pair, faults)];
        let mut declared = BTreeMap::new();
        for agent in &declarations.agents {
            if agent.pair.confirm.is_some() || agent.pair.review.is_some() {
                declared.insert(agent.name.value.clone(), all.len());
                all.push(Policy::new(format!("agents.{}.tools", agent.name.value), &agent.pair, faults));
            }
        }
        let entries = parse_list(&declarations.floor, GateList::Confirm, "[security].never_auto_approve", faults);
        let key = entries.first().map(|entry| entry.span);
        let floor = Policy { purpose: Purpose::Floor, table: "security".to_owned(), key, entries };
        Self {
            all,
            declared,
            floor,
            owners: BTreeMap::new(),
            composed: BTreeMap::new(),
            auto_approval: declarations.auto_approval,
        }
    }

    /// The pair that holds for `agent`: its own whole, or the default whole (P3).
    pub(super) fn of(&self, agent: &AgentName) -> &Policy {
        &self.all[self.declared.get(agent).copied().unwrap_or(0)]
    }

    /// The pairs that hold for `agent` (P4, D8): a declared agent's one; for a composed worker the default pair, and that of
    /// the declared agent above it.
    pub(super) fn lineage(&self, agent: &AgentName) -> impl Iterator<Item = &Policy> {
        let above = self.composed.get(agent).map(|composed| self.of(&composed.declared));
        std::iter::once(self.of(agent)).chain(above)
    }

    /// Binds a composed worker's policy to its composer's (D8), whatever becomes of the composer.
    pub(super) fn compose(&mut self, worker: AgentName, composer: AgentName) {
        let declared = self.composed.get(&composer).map_or_else(|| composer.clone(), |above| above.declared.clone());
        self.composed.insert(worker, Composed { composer, declared });
    }

    /// Forgets a composed worker.
    pub(super) fn dissolve(&mut self, worker: &AgentName) {
        self.composed.remove(worker);
    }

    /// Who composed `agent`, if somebody did.
    pub(super) fn composer(&self, agent: &AgentName) -> Option<&AgentName> {
        self.composed.get(agent).map(|composed| &composed.composer)
    }

    /// Whether `agent` was composed by another.
    pub(super) fn is_composed(&self, agent: &AgentName) -> bool {
        self.composed.contains_key(agent)
    }

    /// Whether `agent` declares its own pair.
    pub(super) fn is_declared(&self, agent: &AgentName) -> bool {
        self.declared.contains_key(agent)
    }

    /// The default pair.
    pub(super) fn default_pair(&self) -> &Policy {
        &self.all[0]
    }

    /// Every pair, the default first, with whose it is.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (Option<&AgentName>, &Policy)> {
        self.all.iter().enumerate().map(|(index, policy)| {
            (self.declared.iter().find(|(_, own)| **own == index).map(|(agent, _)| agent), policy)
        })
    }

    /// The entries of `agent`'s policy that gate `tool`, the deciding one first: by declared name, whoever holds it (P19);
    /// `confirm` before `review` (D8).
    pub(super) fn gates<'a>(
        &'a self,
        agent: &'a AgentName,
        tool: &'a ToolId,
    ) -> impl Iterator<Item = (&'a Policy, &'a Entry)> {
        [GateList::Confirm, GateList::Review].into_iter().flat_map(move |list| {
            let entries = move |policy: &'a Policy| {
                let reaching = self.reaching(policy, tool).filter(move |entry| entry.list == list);
                reaching.map(move |entry| (policy, entry))
            };
            self.lineage(agent).flat_map(entries)
        })
    }

    /// The floor's entry that reaches `tool`, pending ones included (P20).
    pub(super) fn floor_reaches<'a>(&'a self, tool: &'a ToolId) -> Option<&'a Entry> {
        self.reaching(&self.floor, tool).find(|entry| entry.gate.names(tool) || !planted(Bug::FloorsOwnersOnly))
    }

    fn reaching<'a>(&'a self, policy: &'a Policy, tool: &'a ToolId) -> impl Iterator<Item = &'a Entry> {
        let owners = self.owners.get(&tool.name);
        policy.entries.iter().filter(move |entry| entry.gate.names(tool) || matches(&entry.gate, &tool.name, owners))
    }

    /// Whether an entry reaches this tool: by its text, or by the tool names it resolved to (P19).
    pub(super) fn reaches(&self, entry: &GateEntry, tool: &ToolId) -> bool {
        entry.names(tool) || matches(entry, &tool.name, self.owners.get(&tool.name))
    }

    /// The tools an entry resolved to so far, by name. Empty: pending.
    pub(super) fn resolved(&self, entry: &GateEntry, earned_core: &BTreeSet<&str>) -> Vec<ToolId> {
        let owned = |toolset: &ToolsetName, name: &ToolName| {
            self.owners.get(name).is_some_and(|owners| owners.contains(toolset)).then(|| ToolId::of(toolset, name))
        };
        match entry {
            GateEntry::Toolset(toolset) => self.owners.keys().filter_map(|name| owned(toolset, name)).collect(),
            GateEntry::Tool(toolset, name) => owned(toolset, name).into_iter().collect(),
            GateEntry::Core => {
                CORE_TOOLS.iter().filter(|name| earned_core.contains(*name)).map(|name| ToolId::core(name)).collect()
            }
            GateEntry::CoreTool(name) => {
                earned_core.contains(name.as_str()).then(|| ToolId::core(name.as_str())).into_iter().collect()
            }
        }
    }

    /// What a build of `toolset` that offers `names` breaks (P9), before any of it counts.
    pub(super) fn judge(&self, toolset: &ToolsetName, names: &BTreeSet<ToolName>) -> Vec<Problem> {
        let mut problems = self.unmatched(toolset, names);
        for name in names {
            // Two entries on one toolset that share a tool conflict by their text (P10); only a name that another toolset
            // offers too can bring a new conflict.
            let Some(others) = self.owners.get(name).filter(|owners| owners.iter().any(|owner| owner != toolset))
            else {
                continue;
            };
            let mut owners = others.clone();
            owners.insert(toolset.clone());
            self.conflicts(name, &owners, &mut problems);
        }
        problems
    }

    /// Counts an accepted build (P8): names are only ever added.
    pub(super) fn accept(&mut self, toolset: &ToolsetName, names: BTreeSet<ToolName>) {
        if planted(Bug::ForgetsNames) {
            self.owners.values_mut().for_each(|owners| drop(owners.take(toolset)));
        }
        for name in names {
            self.owners.entry(name).or_default().insert(toolset.clone());
        }
    }

    /// Every fault of every list in the light of all that startup built (P6).
    pub(super) fn startup_problems(&self, builds: &BTreeMap<&ToolsetName, BTreeSet<ToolName>>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut owners: BTreeMap<&ToolName, BTreeSet<ToolsetName>> = BTreeMap::new();
        for (toolset, names) in builds {
            problems.extend(self.unmatched(toolset, names));
            for name in names {
                owners.entry(name).or_default().insert((*toolset).clone());
            }
        }
        for (name, owners) in owners.iter().filter(|(_, owners)| owners.len() > 1) {
            self.conflicts(name, owners, &mut problems);
        }
        problems
    }

    /// Entries on `toolset` that match none of `names`.
    fn unmatched(&self, toolset: &ToolsetName, names: &BTreeSet<ToolName>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for policy in self.all.iter().chain([&self.floor]) {
            for entry in policy.entries.iter().filter(|entry| entry.gate.toolset() == Some(toolset)) {
                let found = match &entry.gate {
                    GateEntry::Tool(_, name) => names.contains(name),
                    _ => !names.is_empty(),
                };
                if !found {
                    problems.push(self.no_match(policy, entry, toolset, names));
                }
            }
        }
        problems
    }

    fn no_match(&self, policy: &Policy, entry: &Entry, toolset: &ToolsetName, names: &BTreeSet<ToolName>) -> Problem {
        let place = format!("{}, line {},", policy.place(entry), entry.span.line);
        let (message, hint) = match &entry.gate {
            GateEntry::Tool(_, name) => {
                let close: Vec<String> = near(name.as_str(), names.iter().map(ToolName::as_str), 3)
                    .into_iter()
                    .map(|name| format!("{toolset}.{name}"))
                    .collect();
                let close: Vec<&str> = close.iter().map(String::as_str).collect();
                let elsewhere = self.owners.get(name).and_then(|owners| owners.iter().next());
                let hint = match (did_you_mean(&close), elsewhere) {
                    _ if name.as_str().contains('*') => {
                        format!("a * stands alone, as in '{toolset}.*'; its tools: {}", listed(names))
                    }
                    (Some(hint), _) => hint,
                    (None, Some(owner)) => format!("'{owner}' has a tool of that name: write '{owner}.{name}'"),
                    (None, None) => format!("its tools: {}", listed(names)),
                };
                (format!("{place} matches no tool of '{toolset}'"), hint)
            }
            _ => (format!("{place} matches nothing: '{toolset}' provides no tools"), "take the entry out".to_owned()),
        };
        Problem {
            rule: policy.rule(),
            entry: Spanned::new(entry.written.clone(), entry.span),
            message,
            hint: Some(hint),
        }
    }

    /// What one tool name that `owners` offer breaks: in both lists of a policy, or in `review` and the floor.
    fn conflicts(&self, name: &ToolName, owners: &BTreeSet<ToolsetName>, problems: &mut Vec<Problem>) {
        for policy in &self.all {
            let Some(review) = policy.resolved_to(GateList::Review, name, owners) else { continue };
            if let Some(confirm) = policy.resolved_to(GateList::Confirm, name, owners) {
                push_once(problems, review, || {
                    format!(
                        "'{}' in confirm (line {}) and '{}' in review (line {}) of [{}] both gate the name '{}'",
                        confirm.written,
                        confirm.span.line,
                        review.written,
                        review.span.line,
                        policy.table,
                        shown(name.as_str())
                    )
                });
            }
            if self.auto_approval
                && let Some(floor) = self.floor.resolved_to(GateList::Confirm, name, owners)
            {
                push_once(problems, review, || reaches_floor(policy, review, floor));
            }
        }
    }
}

/// Reports each entry's conflicts once.
fn push_once(problems: &mut Vec<Problem>, entry: &Entry, message: impl FnOnce() -> String) {
    let entry = Spanned::new(entry.written.clone(), entry.span);
    if problems.iter().any(|problem| problem.entry == entry) {
        return;
    }
    let hint = Some("leave a tool in one list only".to_owned());
    problems.push(Problem { rule: "P6", entry, message: message(), hint });
}

pub(super) fn reaches_floor(policy: &Policy, review: &Entry, floor: &Entry) -> String {
    format!(
        "'{}' in review of [{}] (line {}) reaches the floor's '{}' ([security].never_auto_approve, line {})",
        review.written, policy.table, review.span.line, floor.written, floor.span.line
    )
}

/// The first twenty names, and how many more there are.
pub(super) fn listed(names: &BTreeSet<ToolName>) -> String {
    let mut first: Vec<String> = names.iter().take(20).map(|name| shown(name.as_str())).collect();
    match names.len() - first.len() {
        0 if first.is_empty() => return "none".to_owned(),
        0 => {}
        more => first.push(format!("and {more} more")),
    }
    first.join(", ")
}

/// Whether `entry` resolved to the tool name `name`, which builds of `owners` offered.
fn matches(entry: &GateEntry, name: &ToolName, owners: Option<&BTreeSet<ToolsetName>>) -> bool {
    match entry {
        GateEntry::Toolset(toolset) => owners.is_some_and(|owners| owners.contains(toolset)),
        GateEntry::Tool(toolset, tool) => tool == name && owners.is_some_and(|owners| owners.contains(toolset)),
        GateEntry::Core | GateEntry::CoreTool(_) => false,
    }
}
