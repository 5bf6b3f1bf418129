//! The reference model of the histories: access.md once more, in strings, sets and ifs, too plain to share a mistake.
//!
//! It uses nothing of the crate (a test says so), is slow, and keeps nothing that it can look up again.

use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Owner (`core` for the program's own) and declared name.
pub(crate) type Id = (String, String);

/// One installed toolset: its name, its kind, and whether only the entry agent may list it (A7).
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub name: String,
    pub kind: &'static str,
    pub entry_only: bool,
}

/// One tool of a build. `version` stands for its definition; `link`: it waits for a link (W7).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    pub name: String,
    pub version: u32,
    pub link: bool,
}

/// `confirm` and `review`.
pub(crate) type Pair = (Vec<String>, Vec<String>);

/// One `[agents.<name>]`. `available` absent: `"all"`.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub name: String,
    pub available: Option<Vec<String>>,
    pub resident: Option<Vec<String>>,
    pub pair: Option<Pair>,
    pub delegates_to: Vec<String>,
}

/// One configuration and what it meets. The first agent is the entry agent.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub installed: Vec<Installed>,
    /// Core tools that the program defines, in held order.
    pub core: Vec<String>,
    pub agents: Vec<Agent>,
    pub pair: Pair,
    pub floor: Vec<String>,
    pub auto_approval: bool,
    pub background_deny: bool,
    pub mcp_confirms: Option<bool>,
    pub server_confirms: BTreeMap<String, bool>,
    pub disabled: Vec<String>,
    pub modes: BTreeMap<String, Vec<String>>,
}

/// A held tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeldTool {
    pub id: Id,
    pub version: u32,
    pub link: bool,
}

/// One agent in one life.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub agent: String,
    pub held: Vec<HeldTool>,
    /// Held toolset to `resident`, `preloaded`, `skill` or `loaded`.
    pub toolsets: BTreeMap<String, &'static str>,
    pub mode: String,
    pub families: Vec<String>,
    pub allow: Option<(BTreeSet<String>, usize)>,
    pub link: bool,
}

/// A person's "this exact call in this conversation": conversation, agent, tool, version, arguments.
pub(crate) type Grant = (String, String, Id, u32, String);

/// What the gate says of one call (P1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Refused,
    Run,
    Granted,
    AllowLine,
    AutoDenied,
    Review,
    Ask,
}

/// Where the conversation of a call is (P12).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sight {
    OnScreen,
    Unseen,
    Away,
}

pub(crate) struct Model {
    pub setup: Setup,
    pub composed: BTreeMap<String, (String, Vec<String>)>,
    pub built: BTreeMap<String, Vec<Offered>>,
    /// Every (toolset, tool) that an accepted build ever offered.
    pub owners: BTreeSet<Id>,
    pub refused: BTreeSet<String>,
    pub failed: BTreeSet<String>,
    pub off: BTreeSet<String>,
    /// What is said against a toolset or one of its tools; a fact also by which one.
    pub checks: BTreeSet<(String, Option<String>)>,
    pub facts: BTreeMap<(String, Option<String>), &'static str>,
    pub grants: Vec<Grant>,
}

const CORE: [&str; 4] = ["spawn_subagent", "activate_skill", "available_tools", "load_tools"];

fn split(entry: &str) -> (&str, &str) {
    entry.split_once('.').unwrap_or((entry, "*"))
}

/// N5.
pub(crate) fn wire(id: &Id) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.1.is_empty() && id.1.len() <= 64 && id.1.chars().all(legal) {
        return id.1.clone();
    }
    let hash = format!("{:x}", Sha256::digest(format!("{}\0{}", id.0, id.1)));
    let cut: String = id.1.chars().filter(|c| legal(*c)).take(57).collect();
    format!("{cut}_{}", &hash[..6])
}

/// A17: which tools of a build anybody may hold.
pub(crate) fn usable(build: &[Offered]) -> Vec<Offered> {
    let mut kept: Vec<Offered> = Vec::new();
    for tool in build {
        let name = tool.name.as_str();
        let bad = name.is_empty() || name == "*" || name.contains(char::is_control) || CORE.contains(&name);
        if !bad && !kept.iter().any(|first| first.name == name) {
            kept.push(tool.clone());
        }
    }
    kept
}

impl Model {
    pub(crate) fn new(setup: Setup) -> Self {
        let off = setup.disabled.iter().cloned().collect();
        Self {
            setup,
            off,
            composed: BTreeMap::new(),
            built: BTreeMap::new(),
            owners: BTreeSet::new(),
            refused: BTreeSet::new(),
            failed: BTreeSet::new(),
            checks: BTreeSet::new(),
            facts: BTreeMap::new(),
            grants: Vec::new(),
        }
    }

    // Availability and residency.

    pub(crate) fn kind(&self, toolset: &str) -> &'static str {
        self.setup.installed.iter().find(|known| known.name == toolset).map_or("", |known| known.kind)
    }

    /// A6: trust order.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut names = Vec::new();
        for kind in ["built-in", "plugin", "skill", "mcp"] {
            let mut of_kind: Vec<String> = self
                .setup
                .installed
                .iter()
                .filter(|known| known.kind == kind)
                .map(|known| known.name.clone())
                .collect();
            if kind == "plugin" || kind == "skill" {
                of_kind.sort();
            }
            names.extend(of_kind);
        }
        names
    }

    fn agent(&self, name: &str) -> Option<&Agent> {
        self.setup.agents.iter().find(|agent| agent.name == name)
    }

    fn is_entry(&self, agent: &str) -> bool {
        self.setup.agents[0].name == agent
    }

    fn entry_only(&self, toolset: &str) -> bool {
        self.setup.installed.iter().any(|known| known.name == toolset && known.entry_only)
    }

    pub(crate) fn available(&self, agent: &str) -> Vec<String> {
        if let Some((_, toolsets)) = self.composed.get(agent) {
            return toolsets.clone();
        }
        match self.agent(agent).map(|agent| &agent.available) {
            Some(Some(list)) => list.clone(),
            Some(None) => {
                self.all().into_iter().filter(|name| self.is_entry(agent) || !self.entry_only(name)).collect()
            }
            None => Vec::new(),
        }
    }

    /// A9.
    pub(crate) fn skills(&self, agent: &str) -> Vec<String> {
        let available = self.available(agent);
        let every =
            self.agent(agent).is_some_and(|agent| agent.available.is_none()) || available.contains(&"skills".into());
        let mut skills = self.all();
        skills.retain(|name| self.is_entry(agent) && self.kind(name) == "skill" && (every || available.contains(name)));
        skills
    }

    pub(crate) fn reaches(&self, agent: &str, toolset: &str) -> bool {
        self.available(agent).iter().chain(&self.skills(agent)).any(|name| name == toolset)
    }

    pub(crate) fn resident(&self, agent: &str) -> Vec<String> {
        let skills = self.skills(agent);
        let mut names = self.available(agent);
        names.retain(|name| !skills.contains(name));
        if let Some(resident) = self.agent(agent).and_then(|agent| agent.resident.as_ref()) {
            names.retain(|name| resident.contains(name));
        }
        names
    }

    pub(crate) fn deferred(&self, agent: &str) -> Vec<String> {
        let (resident, skills) = (self.resident(agent), self.skills(agent));
        let mut names = self.available(agent);
        names.retain(|name| !resident.contains(name) && !skills.contains(name));
        names
    }

    /// A8, A9.
    pub(crate) fn earns(&self, agent: &str, tool: &str) -> bool {
        let Some(declared) = self.agent(agent) else { return false };
        match tool {
            "spawn_subagent" => !declared.delegates_to.is_empty(),
            "activate_skill" => {
                let writes = self.is_entry(agent) && self.available(agent).contains(&"skills".into());
                writes || self.available(agent).iter().chain(&self.skills(agent)).any(|name| self.kind(name) == "skill")
            }
            _ => !self.deferred(agent).is_empty(),
        }
    }

    /// R7, N1, N2: at the end, and what is taken is skipped. `toolset` held already: nothing (R9), but for a skill that grew.
    pub(crate) fn hold(&self, life: &mut Life, toolset: &str, arrival: &'static str, build: &[Offered]) {
        life.toolsets.entry(toolset.to_owned()).or_insert(arrival);
        for tool in usable(build) {
            self.push(life, (toolset.to_owned(), tool.name), tool.version, tool.link);
        }
    }

    fn push(&self, life: &mut Life, id: Id, version: u32, link: bool) {
        if !life.held.iter().any(|held| held.id.1 == id.1 || wire(&held.id) == wire(&id)) {
            life.held.push(HeldTool { id, version, link });
        }
    }

    /// R16: a life begins. `given`: the accepted builds that it gets; `loads`: what its conversation loaded, in order.
    pub(crate) fn wire_up(&self, mut life: Life, given: &BTreeMap<String, Vec<Offered>>, loads: &[String]) -> Life {
        let agent = life.agent.clone();
        let add = |life: &mut Life, names: Vec<String>, arrival: &'static str| {
            for name in names {
                if let Some(build) = given.get(&name).filter(|_| !life.toolsets.contains_key(&name)) {
                    self.hold(life, &name, arrival, build);
                }
            }
        };
        let deferred = self.deferred(&agent);
        add(&mut life, self.resident(&agent), "resident");
        add(&mut life, loads.iter().filter(|name| deferred.contains(name)).cloned().collect(), "preloaded");
        for core in CORE {
            if core == "available_tools" {
                add(&mut life, self.skills(&agent), "skill");
            }
            if self.earns(&agent, core) && self.setup.core.iter().any(|known| known == core) {
                self.push(&mut life, ("core".to_owned(), core.to_owned()), 0, false);
            }
        }
        let held = life.held.len();
        life.allow = life.allow.map(|(names, _)| (names, held));
        life
    }

    // Policy.

    fn pair(&self, agent: &str) -> &Pair {
        self.agent(agent).and_then(|agent| agent.pair.as_ref()).unwrap_or(&self.setup.pair)
    }

    /// P4, D8: a composed worker's own (the default pair), then its composer's.
    pub(crate) fn pairs(&self, agent: &str) -> Vec<&Pair> {
        let mut pairs = vec![self.pair(agent)];
        let mut next = agent;
        while let Some((composer, _)) = self.composed.get(next) {
            pairs.push(self.pair(composer));
            next = composer;
        }
        pairs
    }

    /// Whether an entry reaches a tool: by its text, or by the name, whoever holds it (P19).
    pub(crate) fn matches(&self, entry: &str, id: &Id) -> bool {
        let (toolset, tool) = split(entry);
        let named = tool == "*" || tool == id.1;
        let by_name = id.0 != "core" && self.owners.contains(&(toolset.to_owned(), id.1.clone()));
        named && (toolset == id.0 || by_name)
    }

    /// The list that gates a tool (P3, P18, P19).
    pub(crate) fn gated(&self, agent: &str, id: &Id) -> Option<&'static str> {
        let pairs = self.pairs(agent);
        if pairs.iter().any(|pair| pair.0.iter().any(|entry| self.matches(entry, id))) {
            return Some("confirm");
        }
        if pairs.iter().any(|pair| pair.1.iter().any(|entry| self.matches(entry, id))) {
            return Some("review");
        }
        let asks = self.setup.server_confirms.get(&id.0).copied().or(self.setup.mcp_confirms);
        (self.kind(&id.0) == "mcp" && asks == Some(true)).then_some("confirm")
    }

    pub(crate) fn floor(&self, id: &Id) -> bool {
        self.setup.floor.iter().any(|entry| self.matches(entry, id))
    }

    /// What an entry resolved to so far (P8); empty: pending.
    pub(crate) fn resolved(&self, entry: &str) -> BTreeSet<Id> {
        let (toolset, tool) = split(entry);
        let earned = |name: &str| self.setup.agents.iter().any(|agent| self.earns(&agent.name, name));
        let core =
            CORE.iter().filter(|name| toolset == "core" && earned(name)).map(|name| ("core".into(), (*name).into()));
        let known = self.owners.iter().filter(|id| id.0 == toolset).cloned();
        core.chain(known).filter(|id: &Id| tool == "*" || tool == id.1).collect()
    }

    /// Whether any entry names a toolset.
    pub(crate) fn names(&self, toolset: &str) -> bool {
        self.entries().any(|entry| split(entry).0 == toolset)
    }

    fn entries(&self) -> impl Iterator<Item = &String> {
        let pairs = self.setup.agents.iter().filter_map(|agent| agent.pair.as_ref()).chain([&self.setup.pair]);
        pairs.flat_map(|pair| pair.0.iter().chain(&pair.1)).chain(&self.setup.floor)
    }

    /// P9: whether the hook refuses a build that offers `names`.
    fn refuses(&self, toolset: &str, names: &[Offered]) -> bool {
        let mut pairs: Vec<&Pair> = self.setup.agents.iter().filter_map(|agent| agent.pair.as_ref()).collect();
        pairs.push(&self.setup.pair);
        let lists = pairs.iter().flat_map(|pair| pair.0.iter().chain(&pair.1)).chain(&self.setup.floor);
        for entry in lists.filter(|entry| split(entry).0 == toolset) {
            if !names.iter().any(|tool| split(entry).1 == "*" || split(entry).1 == tool.name) {
                return true;
            }
        }
        names.iter().any(|tool| {
            let reaches = |list: &[String]| {
                list.iter().any(|entry| {
                    let (owner, name) = split(entry);
                    let offers = owner == toolset || self.owners.contains(&(owner.to_owned(), tool.name.clone()));
                    offers && (name == "*" || name == tool.name)
                })
            };
            let floor = self.setup.auto_approval && reaches(&self.setup.floor);
            pairs.iter().any(|pair| reaches(&pair.1) && (floor || reaches(&pair.0)))
        })
    }

    /// The hook (P8, P9): whether the build is accepted.
    pub(crate) fn build(&mut self, toolset: &str, build: &[Offered]) -> bool {
        let build = usable(build);
        if self.refused.contains(toolset) {
            return false;
        }
        self.failed.remove(toolset);
        if self.refuses(toolset, &build) {
            self.refused.insert(toolset.to_owned());
            return false;
        }
        self.owners.extend(build.iter().map(|tool| (toolset.to_owned(), tool.name.clone())));
        self.built.insert(toolset.to_owned(), build);
        true
    }

    // Offer and dispatch.

    /// The filters that withhold a tool of `owner` (`None`: all of a toolset), in their order. `place`: where it is held.
    pub(crate) fn filters(
        &self,
        life: &Life,
        owner: &str,
        tool: Option<(&str, bool)>,
        place: Option<usize>,
    ) -> Vec<&'static str> {
        let (core, name) = (owner == "core", tool.map(|(name, _)| name));
        let said = |of: Option<&str>| {
            let of = (owner.to_owned(), of.map(str::to_owned));
            self.checks.contains(&of) || self.facts.contains_key(&of)
        };
        let in_mode = |word: &String| match (word.strip_prefix("kind:"), word.strip_prefix("core.")) {
            (Some(kind), _) => self.kind(owner) == kind,
            (_, Some(named)) => core && name == Some(named),
            _ => word == owner,
        };
        let kept = ["available_tools", "activate_skill"];
        let outside = |family: &String| if core { !kept.contains(&name.unwrap_or("")) } else { family != owner };
        let late = |held: usize| place.is_none_or(|place| place >= held);
        let excluded = |names: &BTreeSet<String>| name.is_some_and(|name| !names.contains(name));
        let all = [
            ("W1", self.off.contains(owner)),
            ("W2", !core && (said(None) || (name.is_some() && said(name)))),
            ("W3", self.setup.modes.get(&life.mode).is_some_and(|words| words.iter().any(in_mode))),
            ("W4", life.families.iter().any(outside)),
            ("W5", !core && place.is_none()),
            ("W6", life.allow.as_ref().is_some_and(|(names, held)| excluded(names) || late(*held))),
            ("W7", tool.is_some_and(|(_, link)| link && !life.link)),
        ];
        all.into_iter().filter(|(_, withholds)| *withholds).map(|(filter, _)| filter).collect()
    }

    /// Why a call made now does not carry a tool.
    pub(crate) fn why_not(&self, life: &Life, id: &Id) -> Option<&'static str> {
        let Some(place) = life.held.iter().position(|held| held.id == *id) else { return Some("not held") };
        self.filters(life, &id.0, Some((&id.1, life.held[place].link)), Some(place)).first().copied()
    }

    /// O7: why a toolset can't be loaded, spawned into or composed.
    pub(crate) fn withholds_load(&self, life: &Life, toolset: &str) -> Option<&'static str> {
        let lasting = |filter: &&str| ["W1", "W3", "W4", "W6"].contains(filter);
        self.filters(life, toolset, None, None).into_iter().find(lasting)
    }

    /// Whether `load_tools(name)` builds now (R5, R9, R11, O7, P9).
    pub(crate) fn may_load(&self, life: &Life, name: &str) -> bool {
        self.available(&life.agent).iter().any(|listed| listed == name)
            && !life.toolsets.contains_key(name)
            && self.may_build(life, name)
    }

    pub(crate) fn may_build(&self, life: &Life, name: &str) -> bool {
        let there = !self.facts.contains_key(&(name.to_owned(), None));
        self.withholds_load(life, name).is_none() && there && !self.refused.contains(name)
    }

    /// R5's state.
    pub(crate) fn listed(&self, life: &Life, toolset: &str) -> &'static str {
        let arrival = life.toolsets.get(toolset).copied();
        match (self.withholds_load(life, toolset), arrival) {
            (Some(why), None) => why,
            (Some(why), Some(_)) if why != "W6" => why,
            (_, Some("loaded")) => "loaded",
            (_, Some(_)) => "resident",
            (None, None) if self.refused.contains(toolset) => "refused",
            (_, None) => "loadable",
        }
    }

    // Approval.

    /// P16: floor tools, composed workers and changed servers have no grant.
    pub(crate) fn grantable(&self, agent: &str, id: &Id) -> bool {
        let changed = self.facts.iter().any(|((toolset, _), fact)| *toolset == id.0 && *fact == "changed");
        !self.floor(id) && !self.composed.contains_key(agent) && !changed
    }

    /// P1, up to the card: `call` as a grant of it would say it.
    pub(crate) fn verdict(&self, life: &Life, call: &Grant, attended: bool, sight: Sight, line: bool) -> Verdict {
        let (agent, id) = (&life.agent, &call.2);
        let Some(list) = self.gated(agent, id) else { return Verdict::Run };
        if line && !self.floor(id) {
            return Verdict::AllowLine;
        }
        if self.grantable(agent, id) && self.grants.contains(call) {
            return Verdict::Granted;
        }
        let away = sight == Sight::Away || (sight == Sight::Unseen && self.setup.background_deny);
        if !attended || away {
            return Verdict::AutoDenied;
        }
        if list == "review" && self.setup.auto_approval && !self.floor(id) { Verdict::Review } else { Verdict::Ask }
    }
}
