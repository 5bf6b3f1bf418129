//! The one shared value that every question is asked of: declarations, registry, builds, switches, checks, grants.
//!
//! It changes only by its own transitions, applied in arrival order by its owner.

use std::collections::{BTreeMap, BTreeSet};

use super::available::{Role, Table};
use super::conditions::{Conditions, Life, Trigger};
use super::declare::{AgentDeclaration, Declarations, Fault};
use super::grant::{Allow, Grant};
use super::held::{Arrival, Held, Slot};
use super::mode::{self, DEFAULT_MODE, Mode, ModeName};
use super::name::{AgentName, Owner, Spanned, ToolId, ToolName, ToolsetName, did_you_mean, near, shown};
use super::planted::{Bug, planted};
use super::policy::{BuildRefusal, Policies, Problem};
use super::reason::Reason;
use super::registry::{RegisterError, Registry, ToolFacts, ToolsetFacts, one_line, screen};
use super::validate::{self, Context};

/// The entry agent where `[assistant].agent` is not set.
const DEFAULT_ENTRY: &str = "assistant";

/// A fact about a toolset or one of its tools (W2): true now, never cached, never "last known".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Its server is not connected, and why.
    NotConnected(String),
    /// What provided it has it no more (R17, L6).
    Gone,
    /// A server's tool is not as a person accepted it (L4).
    ChangedSinceAccepted,
    /// A skill changed other than through an authoring call (L5).
    ChangedOnDisk,
}

impl Fact {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::NotConnected(why) => {
                Reason::event(format!("its server is not connected: {}", one_line(why)), "its server")
            }
            Self::Gone => Reason::event("gone", "its provider"),
            Self::ChangedSinceAccepted => Reason::event("changed since it was accepted", "its server"),
            Self::ChangedOnDisk => Reason::event("changed on disk", "its file"),
        }
    }
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

/// What is said of one toolset as a whole and of single tools of it: by health checks, or as facts (W2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said<T> {
    pub(super) whole: Option<T>,
    pub(super) tools: BTreeMap<ToolName, T>,
}

impl<T> Default for Said<T> {
    fn default() -> Self {
        Self { whole: None, tools: BTreeMap::new() }
    }
}

impl<T> Said<T> {
    /// Keeps what is said now; `None` takes it back.
    fn keep(&mut self, tool: Option<&str>, said: Option<T>) {
        match (tool, said) {
            (None, said) => self.whole = said,
            (Some(tool), Some(said)) => {
                self.tools.insert(ToolName::new(tool), said);
            }
            (Some(tool), None) => {
                self.tools.remove(tool);
            }
        }
    }

    /// What is said of `tool`, the whole toolset first.
    fn of(&self, tool: Option<&ToolName>) -> impl Iterator<Item = &T> {
        self.whole.iter().chain(tool.and_then(|tool| self.tools.get(tool)))
    }
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
    pub(super) modes: BTreeMap<ModeName, Mode>,
    pub(super) tables: BTreeMap<AgentName, Table>,
    builds: BTreeMap<ToolsetName, Builds>,
    checks: BTreeMap<ToolsetName, Said<String>>,
    pub(super) facts: BTreeMap<ToolsetName, Said<Fact>>,
    switched_off: BTreeSet<ToolsetName>,
    core: Vec<ToolFacts>,
    /// Of single agents, before what holds for all.
    core_of: BTreeMap<AgentName, Vec<ToolFacts>>,
    pub(super) last_grant: u32,
    pub(super) resolved: bool,
}

/// N3 and N4.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shadows {
    /// `researcher: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name).`
    pub alerts: Vec<String>,
    /// Agents whose resident toolsets were not all built.
    pub not_checked: Vec<AgentName>,
}

const NO_TABLE: &Table =
    &Table { available: Vec::new(), resident: Vec::new(), deferred: Vec::new(), skills: Vec::new(), core: Vec::new() };

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
        let modes = mode::modes(&declarations.modes, &registry, &mut faults);
        if let Some(word) = declarations.mode.as_ref().filter(|word| !modes.contains_key(&ModeName::new(&word.value))) {
            let (message, hint) = unknown_mode(&modes, &word.value);
            let message = format!("{message} ([assistant].mode)");
            faults.push(Fault { rule: "W3", span: Some(word.span), message, hint: Some(hint) });
        }
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
            modes,
            tables,
            builds: BTreeMap::new(),
            checks: BTreeMap::new(),
            facts: BTreeMap::new(),
            switched_off,
            core: Vec::new(),
            core_of: BTreeMap::new(),
            last_grant: 0,
            resolved: false,
        })
    }

    /// Tells what the core tools are: every one that the agent room defines, in the order in which agents hold them. Said
    /// once, before the first report of a fresh agent.
    pub fn define_core(&mut self, tools: Vec<ToolFacts>) {
        self.core = tools;
    }

    /// Tells what a core tool of one agent is, where that depends on the agent: `spawn_subagent` says whom it may spawn.
    pub fn define_core_of(&mut self, agent: &AgentName, tools: Vec<ToolFacts>) {
        self.core_of.insert(agent.clone(), tools);
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

    /// The core tools that `agent` earns (A8), in held order (R16): `available_tools` and `load_tools` exactly when its
    /// table defers something, whatever has been loaded since.
    pub fn core_tools(&self, agent: &AgentName) -> &[&'static str] {
        &self.table(agent).core
    }

    /// The order in which `agent` is wired (R16): resident toolsets in available order, `preloaded` ones in first-loaded
    /// order, `spawn_subagent`, skill tools, the two loaders. What is loadable no more is not preloaded (R12).
    pub fn wiring(&self, agent: &AgentName, preloaded: &[ToolsetName]) -> Vec<Slot> {
        let table = self.table(agent);
        let mut slots: Vec<Slot> = Vec::new();
        slots.extend(table.resident.iter().map(|toolset| Slot::Toolset(toolset.clone(), Arrival::Resident)));
        let again = preloaded.iter().filter(|toolset| table.deferred.contains(toolset));
        slots.extend(again.map(|toolset| Slot::Toolset(toolset.clone(), Arrival::Preloaded)));
        let (before, loaders): (Vec<_>, Vec<_>) =
            table.core.iter().copied().partition(|name| ["spawn_subagent", "activate_skill"].contains(name));
        slots.extend(before.into_iter().map(Slot::Core));
        slots.extend(table.skills.iter().map(|skill| Slot::Toolset(skill.clone(), Arrival::Skill)));
        slots.extend(loaders.into_iter().map(Slot::Core));
        slots
    }

    /// What a fresh agent holds as far as its toolsets were built. A toolset that was refused since gives nothing to anybody
    /// who does not hold it already (P9).
    pub fn fresh(&self, agent: &AgentName) -> Held {
        self.rebuilt(agent, &[])
    }

    /// What an agent holds when it is wired anew and its conversation had loaded `preloaded`, as far as that was built.
    pub fn rebuilt(&self, agent: &AgentName, preloaded: &[ToolsetName]) -> Held {
        let mut held = Held::default();
        for slot in self.wiring(agent, preloaded) {
            match slot {
                Slot::Toolset(toolset, arrival) if self.refusal(&toolset).is_none() => {
                    if let Some(tools) = self.last_build(&toolset) {
                        held.add(&toolset, arrival, tools);
                    }
                }
                Slot::Toolset(..) => {}
                Slot::Core(name) => {
                    let facts: Vec<ToolFacts> = self.core(agent, &ToolName::new(name)).cloned().into_iter().collect();
                    held.add_core(&facts);
                }
            }
        }
        held
    }

    /// The entry agent, and every agent that it can reach by `delegates_to`, each once.
    pub fn reachable(&self) -> Vec<&AgentName> {
        let mut agents = vec![&self.entry];
        let mut next = 0;
        while let Some(agent) = agents.get(next) {
            let declared = self.declaration(agent);
            for delegate in declared.map_or(&[][..], |declared| &declared.delegates_to) {
                if !agents.contains(&&delegate.value) {
                    agents.push(&delegate.value);
                }
            }
            next += 1;
        }
        agents
    }

    /// Toolsets that must be built at startup (P7): the resident ones of the entry agent and of every agent that it can
    /// reach by `delegates_to`, and every skill that the entry agent holds, each once.
    pub fn startup_builds(&self) -> Vec<ToolsetName> {
        let mut toolsets: Vec<ToolsetName> = Vec::new();
        let tables = self.reachable().into_iter().map(|agent| self.table(agent));
        for toolset in tables.flat_map(|table| table.resident.iter().chain(&table.skills)) {
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
        if let Some(refusal) = self.refusal(toolset).filter(|_| !planted(Bug::ForgetsRefusals)) {
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

    /// The dispatch re-check of axis 5 (O3), after approval: `None` when the call may run now, else the refusal for the
    /// model. `digest`: of the definition that the card showed.
    pub fn dispatch(&self, life: Life<'_>, tool: &ToolId, digest: &str) -> Option<String> {
        let refusal = super::explain::obstacles(self, life, tool, digest).next()?;
        Some(format!("{} {}", shown(tool.name.as_str()), refusal.sentence()))
    }

    /// The mode of this name (W3).
    ///
    /// # Errors
    /// There is none: a sentence with near misses.
    pub fn mode(&self, name: &str) -> Result<ModeName, String> {
        let mode = ModeName::new(name);
        if self.modes.contains_key(&mode) {
            return Ok(mode);
        }
        let (message, hint) = unknown_mode(&self.modes, name);
        Err(format!("{message}; {hint}"))
    }

    /// Every mode with what it withholds, as written, by name.
    pub fn modes(&self) -> impl Iterator<Item = (&ModeName, Vec<&str>)> {
        self.modes.iter().map(|(name, mode)| (name, mode::written(mode).collect()))
    }

    /// The conditions of a fresh conversation: the default mode and nothing else.
    pub fn default_conditions(&self) -> Conditions {
        Conditions { mode: Some(self.default_mode()), ..Conditions::default() }
    }

    /// The mode that conversations begin in: `[assistant].mode`, else `work`.
    pub fn default_mode(&self) -> ModeName {
        ModeName::new(self.declarations.mode.as_ref().map_or(DEFAULT_MODE, |word| word.value.as_str()))
    }

    /// Registers a skill that was written while the program runs (L1), or replaces what is known of it, and looks every
    /// table up again. Its build is reported, like any other, before anybody is given its tools.
    ///
    /// # Errors
    /// Its name is taken by something that is no skill, or cannot be one's.
    pub fn register_skill(&mut self, facts: ToolsetFacts) -> Result<(), RegisterError> {
        self.registry.put_skill(facts)?;
        for agent in &self.declarations.agents {
            let role = if agent.name.value == self.entry { Role::Entry } else { Role::Worker };
            self.tables.insert(agent.name.value.clone(), Table::new(agent, role, &self.registry));
        }
        Ok(())
    }

    /// What a word that begins with a slash is, as far as toolsets provide such words (R19): availability decides, whatever is
    /// resident or loaded.
    pub fn workflow(&self, agent: &AgentName, word: &str) -> Workflow<'_> {
        let provides = |facts: &&ToolsetFacts| facts.commands.iter().any(|command| command == word);
        match self.registry.toolsets().iter().find(provides) {
            None => Workflow::Unknown,
            Some(facts) if self.table(agent).reaches(&facts.name) => Workflow::Available(&facts.name),
            Some(facts) => Workflow::NotDeclared(&facts.name),
        }
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

    /// Records what a health check last said (W2): `None` = yes, else why not. `tool` absent: the whole toolset. The caller
    /// reports the answers for every tool of a toolset that declares a check before each model call; what was never
    /// reported counts as yes, because most toolsets declare none.
    pub fn report_check(&mut self, toolset: &ToolsetName, tool: Option<&str>, no: Option<String>) {
        self.checks.entry(toolset.clone()).or_default().keep(tool, no.map(|no| one_line(&no)));
    }

    /// Records a fact about a toolset or one of its tools (W2); `None`: it is so no more.
    pub fn report_fact(&mut self, toolset: &ToolsetName, tool: Option<&str>, fact: Option<Fact>) {
        self.facts.entry(toolset.clone()).or_default().keep(tool, fact);
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

    /// Floor entries that reach a tool which runs without asking (P20): the floor gates nothing by itself, and whoever wrote
    /// one may think that it does. A sentence for each entry.
    pub fn idle_floor(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for entry in &self.policies.floor.entries {
            let runs = |agent: &AgentName| {
                let toolsets = self.table(agent).every();
                let built = toolsets.filter_map(|toolset| Some((toolset, self.last_build(toolset)?)));
                let tools =
                    built.flat_map(|(toolset, tools)| tools.iter().map(|facts| ToolId::of(toolset, &facts.name)));
                let mut unasked =
                    tools.filter(|tool| self.policies.reaches(&entry.gate, tool) && self.gate(agent, tool).is_none());
                unasked.next()
            };
            let mut agents = self.declarations.agents.iter().map(|agent| &agent.name.value);
            if let Some((agent, tool)) = agents.find_map(|agent| Some((agent, runs(agent)?))) {
                sentences.push(format!(
                    "'{}' in [security].never_auto_approve, line {}, gates nothing by itself: {agent} runs {tool} without asking. \
                     Name it in confirm too.",
                    shown(&entry.written),
                    entry.span.line
                ));
            }
        }
        sentences
    }

    /// Whether the table of `agent` allows `tool` at all (axis 1).
    pub(super) fn may_hold(&self, agent: &AgentName, tool: &ToolId) -> bool {
        match &tool.owner {
            Owner::Core => self.core_tools(agent).contains(&tool.name.as_str()),
            Owner::Toolset(toolset) => self.table(agent).reaches(toolset),
        }
    }

    pub(super) fn table(&self, agent: &AgentName) -> &Table {
        self.tables.get(agent).unwrap_or(NO_TABLE)
    }

    /// What the last accepted build of `toolset` returned, in build order. `None`: not built yet.
    pub fn last_build(&self, toolset: &ToolsetName) -> Option<&[ToolFacts]> {
        self.builds.get(toolset)?.accepted.as_deref()
    }

    /// What `tool` waits for before it is offered (W7), as far as it was built.
    pub(super) fn trigger(&self, tool: &ToolId) -> Option<Trigger> {
        self.last_build(tool.toolset()?)?.iter().find(|facts| facts.name == tool.name)?.trigger
    }

    /// What is known of the core tool of this name as `agent` earns it.
    pub fn core(&self, agent: &AgentName, name: &ToolName) -> Option<&ToolFacts> {
        let own = self.core_of.get(agent).into_iter().flatten();
        own.chain(&self.core).find(|facts| facts.name == *name)
    }

    /// Why `toolset` may not be built again, if P9 refused it.
    pub fn refusal(&self, toolset: &ToolsetName) -> Option<&BuildRefusal> {
        self.builds.get(toolset)?.refused.as_ref()
    }

    /// What the last build of `toolset` failed with, if it did.
    pub fn failure(&self, toolset: &ToolsetName) -> Option<&str> {
        self.builds.get(toolset)?.failed.as_deref()
    }

    /// What `[agents.<name>]` of `agent` says, where there is such a table.
    pub(super) fn declaration(&self, agent: &AgentName) -> Option<&AgentDeclaration> {
        self.declarations.agents.iter().find(|declared| declared.name.value == *agent)
    }

    /// That no table declares `agent`, and what to write instead; nothing where one does.
    pub fn undeclared(&self, agent: &AgentName) -> Option<(String, String)> {
        if self.declaration(agent).is_some() {
            return None;
        }
        let names: Vec<&str> = self.declarations.agents.iter().map(|declared| declared.name.value.as_str()).collect();
        let hint = did_you_mean(&near(agent.as_str(), names.iter().copied(), 3))
            .unwrap_or_else(|| format!("declared agents: {}", names.join(", ")));
        Some((format!("no agent is named '{}'", shown(agent.as_str())), hint))
    }

    /// Who composed `agent`, if somebody did.
    pub fn composer(&self, agent: &AgentName) -> Option<&AgentName> {
        self.policies.composer(agent)
    }

    /// W1: why `toolset` is switched off, if it is.
    pub(super) fn switched_off(&self, toolset: &ToolsetName) -> Option<Reason> {
        if !self.switched_off.contains(toolset) {
            return None;
        }
        const TEXT: &str = "[toolsets].disabled names it";
        let word = self.declarations.disabled.iter().find(|word| word.value == *toolset)?;
        Some(if word.span.line > 0 {
            Reason::at(TEXT, word.span)
        } else {
            Reason::event(TEXT, "switched off since the start")
        })
    }

    /// W2: everything that says no to `tool`, or to the whole of `toolset`: facts first, then checks.
    pub(super) fn says_no(&self, toolset: &ToolsetName, tool: Option<&ToolName>) -> Vec<Reason> {
        let facts = self.facts.get(toolset).into_iter().flat_map(|facts| facts.of(tool)).map(Fact::reason);
        let checks = self.checks.get(toolset).into_iter().flat_map(|checks| checks.of(tool));
        facts.chain(checks.map(|no| Reason::event(no.clone(), "its health check"))).collect()
    }

    /// W5: why `toolset`, which an agent does not hold, is not loaded. Never empty.
    pub(super) fn not_loaded(&self, toolset: &ToolsetName) -> Vec<Reason> {
        let refused =
            self.refusal(toolset).map(|refusal| Reason::event(format!("refused: {}", refusal.entry), "a build of it"));
        let failed = self
            .failure(toolset)
            .map(|error| Reason::event(format!("not loaded; its last build failed: {error}"), "its last build"));
        let reasons: Vec<Reason> = refused.into_iter().chain(failed).collect();
        if reasons.is_empty() { vec![Reason::rule("not loaded")] } else { reasons }
    }
}

/// What a slash word is (R19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workflow<'a> {
    /// The agent can use it: this toolset, which it makes available, provides it.
    Available(&'a ToolsetName),
    /// Installed with this toolset, which the agent does not list.
    NotDeclared(&'a ToolsetName),
    /// No toolset provides it.
    Unknown,
}

fn unknown_mode(modes: &BTreeMap<ModeName, Mode>, name: &str) -> (String, String) {
    let names: Vec<&str> = modes.keys().map(ModeName::as_str).collect();
    let hint =
        did_you_mean(&near(name, names.iter().copied(), 3)).unwrap_or_else(|| format!("modes: {}", names.join(", ")));
    (format!("no mode is named '{}'", shown(name)), hint)
}
