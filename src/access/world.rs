//! The one shared value that every question is asked of: declarations, registry, builds, switches, checks, grants.
//!
//! It changes only by its own transitions, applied in arrival order by its owner.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::available::{Role, Table};
use super::declare::{Declarations, Fault};
use super::grant::{Allow, Answer, Grant};
use super::held::{Arrival, Held, HeldTool};
use super::name::{AgentName, Owner, Spanned, ToolId, ToolName, ToolsetName, shown};
use super::offer::{Filter, Withheld, first_withheld};
use super::policy::{AskReason, BuildRefusal, Decision, Policies, Problem};
use super::registry::{Registry, ToolFacts, one_line, screen};
use super::validate::{self, Context, core_earned};

/// The entry agent where `[assistant].agent` is not set.
const DEFAULT_ENTRY: &str = "assistant";

/// Whether a person is at this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attendance {
    /// A person started it here.
    Attended,
    /// Scheduled, proactive or headless.
    Unattended,
}

/// What is known of one toolset's builds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Builds {
    /// What the last accepted one returned, screened (A17), in build order.
    accepted: Option<Vec<ToolFacts>>,
    /// The names that the last one offered, accepted or not.
    offered: Option<BTreeSet<ToolName>>,
    /// What the last one failed with, if it did.
    failed: Option<String>,
    /// P9: for good.
    refused: Option<BuildRefusal>,
}

/// What a toolset's health check last said (W2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Checks {
    whole: Option<Withheld>,
    tools: BTreeMap<ToolName, Withheld>,
}

/// The shared value.
///
/// A start: [`World::new`] checks the tables, [`World::define_core`] tells the core tools, every toolset of
/// [`World::startup_builds`] is built and reported ([`World::report_build`] or [`World::report_failure`]), and
/// [`World::resolve`] says what is wrong with all of it together. From then on calls are decided. Later builds are reported
/// before any of their tools is given to anybody.
#[derive(Debug, Clone)]
pub struct World {
    pub(super) declarations: Declarations,
    pub(super) registry: Registry,
    pub(super) policies: Policies,
    pub(super) grants: Vec<Grant>,
    pub(super) allows: Vec<Allow>,
    entry: AgentName,
    tables: BTreeMap<AgentName, Table>,
    builds: BTreeMap<ToolsetName, Builds>,
    checks: BTreeMap<ToolsetName, Checks>,
    switched_off: BTreeSet<ToolsetName>,
    core: Vec<ToolFacts>,
    last_grant: u32,
    resolved: bool,
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
}

/// N3 and N4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shadows {
    /// `researcher: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name).`
    pub alerts: Vec<String>,
    /// Agents whose resident toolsets were not all built.
    pub not_checked: Vec<AgentName>,
}

const NO_TABLE: &Table = &Table { available: Vec::new(), resident: Vec::new(), deferred: Vec::new() };

impl World {
    /// Checks every table against the registry before anything is built (A2); every fault together, in file order.
    ///
    /// # Errors
    /// Each fault of the declarations.
    pub fn new(declarations: Declarations, registry: Registry) -> Result<Self, Vec<Fault>> {
        let entry = match &declarations.entry {
            Some(entry) => entry.value.clone(),
            None => AgentName::new(DEFAULT_ENTRY),
        };
        let role = |agent: &AgentName| if *agent == entry { Role::Entry } else { Role::Worker };
        let tables = declarations
            .agents
            .iter()
            .map(|agent| (agent.name.value.clone(), Table::new(agent, role(&agent.name.value), &registry)))
            .collect();
        let mut faults = Vec::new();
        let policies = Policies::new(&declarations, &mut faults);
        let context = Context { declarations: &declarations, registry: &registry, entry: &entry, tables: &tables };
        let faults = validate::check(&context, &policies, faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let switched_off = declarations.disabled.iter().map(|word| word.value.clone()).collect();
        Ok(Self {
            declarations,
            registry,
            policies,
            grants: Vec::new(),
            allows: Vec::new(),
            entry,
            tables,
            builds: BTreeMap::new(),
            checks: BTreeMap::new(),
            switched_off,
            core: Vec::new(),
            last_grant: 0,
            resolved: false,
        })
    }

    /// Tells what the core tools are: every one that the agent room defines, in the order in which agents hold them. Said
    /// once, before the first report of a fresh agent.
    pub fn define_core(&mut self, tools: Vec<ToolFacts>) {
        self.core = tools;
    }

    /// The declarations.
    pub fn declarations(&self) -> &Declarations {
        &self.declarations
    }

    /// The registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The entry agent.
    pub fn entry(&self) -> &AgentName {
        &self.entry
    }

    /// `agent`'s toolsets in available order, `"all"` expanded (A6). Empty for an unknown agent.
    pub fn available(&self, agent: &AgentName) -> Vec<ToolsetName> {
        self.table(agent).available.clone()
    }

    /// `agent`'s resident toolsets in available order (R2, R3).
    pub fn resident(&self, agent: &AgentName) -> Vec<ToolsetName> {
        self.table(agent).resident.clone()
    }

    /// `agent`'s available toolsets that are not resident, in available order.
    pub fn deferred(&self, agent: &AgentName) -> Vec<ToolsetName> {
        self.table(agent).deferred.clone()
    }

    /// The core tools that `agent` holds (A8), in held order (R16): `available_tools` and `load_tools` exactly when its
    /// table defers something, whatever has been loaded since.
    pub fn core_tools(&self, agent: &AgentName) -> Vec<&'static str> {
        let declaration = self.declarations.agents.iter().find(|declared| declared.name.value == *agent);
        declaration.map_or_else(Vec::new, |declared| core_earned(declared, self.tables.get(agent)))
    }

    /// What a fresh agent holds as far as its resident toolsets were built: resident tools in available order, then core
    /// tools (R16). A toolset that was refused since gives nothing to anybody who does not hold it already (P9).
    pub fn fresh(&self, agent: &AgentName) -> Held {
        let mut held = Held::default();
        for toolset in self.table(agent).resident.iter().filter(|toolset| self.refusal(toolset).is_none()) {
            if let Some(tools) = self.last_build(toolset) {
                held.add(toolset, Arrival::Resident, tools);
            }
        }
        let earned = self.core_tools(agent);
        let core: Vec<ToolFacts> =
            self.core.iter().filter(|facts| earned.contains(&facts.name.as_str())).cloned().collect();
        held.add_core(&core);
        held
    }

    /// Toolsets that must be built at startup (P7): the resident ones of the entry agent and of every agent that it can
    /// reach by `delegates_to`, each once.
    pub fn startup_builds(&self) -> Vec<ToolsetName> {
        let mut agents = vec![&self.entry];
        let mut next = 0;
        while let Some(agent) = agents.get(next) {
            let declared = self.declarations.agents.iter().find(|declared| declared.name.value == **agent);
            for delegate in declared.map_or(&[][..], |declared| &declared.delegates_to) {
                if !agents.contains(&&delegate.value) {
                    agents.push(&delegate.value);
                }
            }
            next += 1;
        }
        let mut toolsets: Vec<ToolsetName> = Vec::new();
        for toolset in agents.iter().flat_map(|agent| &self.table(agent).resident) {
            if !toolsets.contains(toolset) {
                toolsets.push(toolset.clone());
            }
        }
        toolsets
    }

    /// The hook (P8): judges one build before any of its tools is returned to anybody, and resolves entries on it. Tools
    /// that nobody can hold (A17, [`screen`]) do not count.
    ///
    /// # Errors
    /// The refusal (P9); the toolset stays refused until the program restarts. At startup the caller may go on and read
    /// every refusal together from [`World::resolve`].
    pub fn report_build(&mut self, toolset: &ToolsetName, tools: &[ToolFacts]) -> Result<(), BuildRefusal> {
        if let Some(refusal) = self.refusal(toolset) {
            return Err(refusal.clone());
        }
        if !self.registry.contains(toolset.as_str()) {
            let message = format!("no toolset is named '{toolset}'");
            return Err(BuildRefusal { toolset: toolset.clone(), message, entry: toolset.to_string() });
        }
        let kept: Vec<ToolFacts> =
            screen(tools).kept.into_iter().filter_map(|index| tools.get(index)).cloned().collect();
        let names: BTreeSet<ToolName> = kept.iter().map(|facts| facts.name.clone()).collect();
        let problems = self.policies.judge(toolset, &names);
        let builds = self.builds.entry(toolset.clone()).or_default();
        builds.failed = None;
        builds.offered = Some(names.clone());
        if let Some(first) = problems.first() {
            let hint = first.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            let refusal = BuildRefusal {
                toolset: toolset.clone(),
                message: format!("{}{hint}. Correct the configuration and restart.", first.message),
                entry: first.entry.value.clone(),
            };
            builds.refused = Some(refusal.clone());
            return Err(refusal);
        }
        builds.accepted = Some(kept);
        self.policies.accept(toolset, names);
        Ok(())
    }

    /// A build that failed on its own (R10): it stays loadable, and its entries stay pending. The error is kept on one line,
    /// cut at 500 characters.
    pub fn report_failure(&mut self, toolset: &ToolsetName, error: &str) {
        self.builds.entry(toolset.clone()).or_default().failed = Some(one_line(error));
    }

    /// Startup's builds are done: entries on what was built must have matched (P6); every fault together, in file order.
    /// Until this succeeds every call is refused (P8).
    ///
    /// # Errors
    /// Each entry that matches nothing or stands in conflict.
    pub fn resolve(&mut self) -> Result<(), Vec<Fault>> {
        let builds: BTreeMap<&ToolsetName, BTreeSet<ToolName>> =
            self.builds.iter().filter_map(|(toolset, builds)| Some((toolset, builds.offered.clone()?))).collect();
        let mut faults: Vec<Fault> =
            self.policies.startup_problems(&builds).into_iter().map(Problem::into_fault).collect();
        if faults.is_empty() {
            self.resolved = true;
            return Ok(());
        }
        faults.sort_by_key(|fault| fault.span);
        Err(faults)
    }

    /// What happens to this call, in P1's order up to the card: policy resolved, gated, `--allow`, grant, unattended, card.
    /// Counts the use of the `--allow` entry or grant that answers.
    pub fn decide(&mut self, call: CallFacts<'_>) -> Decision {
        if !self.resolved || !self.tables.contains_key(call.agent) {
            return Decision::Unresolved(format!(
                "Tool '{}' was not run: no approval policy is resolved for '{}' yet.",
                shown(call.tool.id.name.as_str()),
                call.agent
            ));
        }
        let Some((policy, entry)) = self.policies.gate(call.agent, &call.tool.id) else {
            return Decision::Run;
        };
        let reason = AskReason { list: entry.list, entry: entry.written.clone(), source: policy.source_of(entry) };
        if self.grantable(&call.tool.id)
            && let Some(answer) = self.answered_by_flag(&call).or_else(|| self.answered_by_grant(&call))
        {
            return Decision::RunAnswered(reason, answer);
        }
        match call.attendance {
            Attendance::Attended => Decision::Ask(reason),
            Attendance::Unattended => {
                let why = "nobody is here to ask".to_owned();
                Decision::AutoDenied(reason, Answer::AutoDenied { reason: why })
            }
        }
    }

    /// The dispatch re-check of axis 5 (O3), after approval: `None` when the call may run now, else the refusal for the
    /// model. `digest`: of the definition that the card showed.
    pub fn dispatch(&self, agent: &AgentName, held: &Held, tool: &ToolId, digest: &str) -> Option<String> {
        let name = shown(tool.name.as_str());
        let Some(holding) = held.get(tool) else {
            return Some(format!("{name} is not held"));
        };
        if !self.may_hold(agent, tool) {
            return Some(format!("{name} is not available to '{agent}'"));
        }
        if let Some(withheld) = first_withheld(self, tool) {
            return Some(match withheld.filter {
                Filter::SwitchedOff => format!("{name} is switched off: {}", withheld.reason),
                Filter::Check | Filter::NotLoaded => format!("{name} is not available now: {}", withheld.reason),
            });
        }
        (holding.digest != digest).then(|| format!("{name} changed since it was shown; call it again"))
    }

    /// Sets the person's switches (W1). Hot.
    ///
    /// # Errors
    /// Names that nothing installs; the switches stay as they were.
    pub fn switch_off(&mut self, disabled: Vec<Spanned<ToolsetName>>) -> Result<(), Vec<Fault>> {
        let faults = validate::disabled(&self.registry, &disabled);
        if !faults.is_empty() {
            return Err(faults);
        }
        self.switched_off = disabled.iter().map(|word| word.value.clone()).collect();
        self.declarations.disabled = disabled;
        Ok(())
    }

    /// Records what a health check last said (W2): `None` = yes. `tool` absent: the whole toolset. The caller reports the
    /// answers for every tool of a toolset that declares a check before each model call; what was never reported counts as
    /// yes, because most toolsets declare none.
    pub fn report_check(&mut self, toolset: &ToolsetName, tool: Option<&str>, withheld: Option<Withheld>) {
        let withheld = withheld.map(|no| Withheld { reason: one_line(&no.reason), ..no });
        let checks = self.checks.entry(toolset.clone()).or_default();
        match (tool, withheld) {
            (None, withheld) => checks.whole = withheld,
            (Some(tool), Some(withheld)) => {
                checks.tools.insert(ToolName::new(tool), withheld);
            }
            (Some(tool), None) => {
                checks.tools.remove(tool);
            }
        }
    }

    /// Whether a grant or `--allow` can ever answer for `tool`: not where the floor reaches it (P16, P21).
    pub fn grantable(&self, tool: &ToolId) -> bool {
        self.policies.floor_reaches(tool).is_none()
    }

    /// Adds a grant (P16); the number of the one there is, if this exact call has one. `Err`: no grant can be given for this
    /// tool, with the sentence.
    ///
    /// # Errors
    /// The floor reaches the tool.
    pub fn grant(&mut self, call: CallFacts<'_>) -> Result<u32, String> {
        if let Some(entry) = self.policies.floor_reaches(&call.tool.id) {
            return Err(format!(
                "{} asks every time: '{}' stands in [security].never_auto_approve, line {}",
                call.tool.id, entry.written, entry.span.line
            ));
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

    /// The grants of a conversation.
    pub fn grants(&self, conversation: &str) -> Vec<&Grant> {
        self.grants.iter().filter(|grant| grant.conversation == conversation).collect()
    }

    /// Resident tools that lost their name (N3): one sentence for each, for every declared agent; and the agents not
    /// checked because a resident toolset of theirs was not built (N4).
    pub fn shadows(&self) -> Shadows {
        let mut shadows = Shadows::default();
        for (agent, table) in self
            .declarations
            .agents
            .iter()
            .filter_map(|agent| Some((&agent.name.value, self.tables.get(&agent.name.value)?)))
        {
            let builds: Option<Vec<(&ToolsetName, &[ToolFacts])>> =
                table.resident.iter().map(|toolset| Some((toolset, self.last_build(toolset)?))).collect();
            let Some(builds) = builds else {
                shadows.not_checked.push(agent.clone());
                continue;
            };
            let mut held = Held::default();
            for (toolset, tools) in builds {
                for (name, _) in held.add(toolset, Arrival::Resident, tools).skipped {
                    let holder = held.holder(&Owner::Toolset(toolset.clone()), &name);
                    if let Some(first) = holder.and_then(|holder| holder.id.toolset()) {
                        shadows.alerts.push(format!(
                            "{agent}: {} from '{toolset}' is shadowed by '{first}' (the earlier resident toolset keeps the name).",
                            shown(name.as_str())
                        ));
                    }
                }
            }
        }
        shadows
    }

    /// Whether the table of `agent` allows `tool` at all (axis 1).
    pub(super) fn may_hold(&self, agent: &AgentName, tool: &ToolId) -> bool {
        match &tool.owner {
            Owner::Core => self.core_tools(agent).contains(&tool.name.as_str()),
            Owner::Toolset(toolset) => self.table(agent).available.contains(toolset),
        }
    }

    pub(super) fn table(&self, agent: &AgentName) -> &Table {
        self.tables.get(agent).unwrap_or(NO_TABLE)
    }

    /// What the last accepted build of `toolset` returned, in build order. `None`: not built yet.
    pub fn last_build(&self, toolset: &ToolsetName) -> Option<&[ToolFacts]> {
        self.builds.get(toolset)?.accepted.as_deref()
    }

    /// What is known of the core tool of this name, whoever earns it.
    pub(super) fn core(&self, name: &ToolName) -> Option<&ToolFacts> {
        self.core.iter().find(|facts| facts.name == *name)
    }

    /// Why `toolset` may not be built again, if P9 refused it.
    pub fn refusal(&self, toolset: &ToolsetName) -> Option<&BuildRefusal> {
        self.builds.get(toolset)?.refused.as_ref()
    }

    /// What the last build of `toolset` failed with, if it did.
    pub fn failure(&self, toolset: &ToolsetName) -> Option<&str> {
        self.builds.get(toolset)?.failed.as_deref()
    }

    /// W1: why `toolset` is switched off, if it is.
    pub(super) fn switched_off(&self, toolset: &ToolsetName) -> Option<String> {
        self.switched_off.contains(toolset).then(|| "[toolsets].disabled names it".to_owned())
    }

    /// W2: what says no for `tool`, the whole toolset's answer first.
    pub(super) fn check_says_no(&self, toolset: &ToolsetName, tool: &ToolName) -> Option<&Withheld> {
        let checks = self.checks.get(toolset)?;
        checks.whole.as_ref().or_else(|| checks.tools.get(tool))
    }

    /// W2: what says no for the whole of `toolset`.
    pub(super) fn toolset_check_says_no(&self, toolset: &ToolsetName) -> Option<&Withheld> {
        self.checks.get(toolset)?.whole.as_ref()
    }
}
