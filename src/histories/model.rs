//! The reference model of the histories: access.md once more, in strings, sets and ifs, too plain to share a mistake. It uses
//! nothing of the crate (a test says so), is slow, and keeps nothing that it can look up again.

use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Word = &'static str;

/// Owner (`core` for the program's own) and declared name.
pub(crate) type Id = (String, String);

/// One installed toolset: its name, its kind, and whether only the entry agent may list it (A7).
pub(crate) type Installed = (String, Word, bool);

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
#[derive(Debug, Clone, Default)]
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

/// One agent in one life.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub agent: String,
    pub held: Vec<(Id, Offered)>,
    /// Held toolset to `resident`, `preloaded`, `skill` or `loaded`.
    pub toolsets: BTreeMap<String, Word>,
    pub mode: String,
    pub families: Vec<String>,
    pub allow: Option<(BTreeSet<String>, usize)>,
    pub link: bool,
}

/// What the filters are asked: whose tool, which (its name, and whether it waits for a link), and its place if it is held.
pub(crate) type Question<'a> = (&'a str, Option<(&'a str, bool)>, Option<usize>);

/// A person's "this exact call in this conversation": conversation, agent, tool, version, arguments.
pub(crate) type Grant = (String, String, Id, u32, String);

#[derive(Default)]
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
    pub facts: BTreeMap<(String, Option<String>), Word>,
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

/// A6: trust order.
pub(crate) fn sorted(mut setup: Setup) -> Setup {
    let rank = |kind: Word| ["built-in", "plugin", "skill", "mcp"].iter().position(|known| *known == kind);
    let by_name = |kind: Word| kind == "plugin" || kind == "skill";
    setup.installed.sort_by_key(|(name, kind, _)| (rank(kind), by_name(kind).then(|| name.clone())));
    setup
}

impl Model {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { off: setup.disabled.iter().cloned().collect(), setup: sorted(setup), ..Self::default() }
    }

    pub(crate) fn kind(&self, toolset: &str) -> Word {
        self.setup.installed.iter().find(|known| known.0 == toolset).map_or("", |known| known.1)
    }

    fn all(&self) -> Vec<String> {
        self.setup.installed.iter().map(|(name, ..)| name.clone()).collect()
    }

    fn agent(&self, name: &str) -> Option<&Agent> {
        self.setup.agents.iter().find(|agent| agent.name == name)
    }

    fn is_entry(&self, agent: &str) -> bool {
        self.setup.agents[0].name == agent
    }

    pub(crate) fn available(&self, agent: &str) -> Vec<String> {
        if let Some((_, toolsets)) = self.composed.get(agent) {
            return toolsets.clone();
        }
        let may = |name: &String| self.is_entry(agent) || !self.entry_only(name);
        match self.agent(agent).map(|agent| &agent.available) {
            Some(Some(list)) => list.clone(),
            Some(None) => self.all().into_iter().filter(may).collect(),
            None => Vec::new(),
        }
    }

    pub(crate) fn entry_only(&self, toolset: &str) -> bool {
        self.setup.installed.iter().any(|known| known.0 == toolset && known.2)
    }

    /// A9.
    pub(crate) fn skills(&self, agent: &str) -> Vec<String> {
        let available = self.available(agent);
        let all = self.agent(agent).is_some_and(|agent| agent.available.is_none());
        let reaches = |name: &String| all || available.iter().any(|listed| listed == "skills" || listed == name);
        let mut skills = self.all();
        skills.retain(|name| self.is_entry(agent) && self.kind(name) == "skill" && reaches(name));
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
        let there = [self.resident(agent), self.skills(agent)].concat();
        self.available(agent).into_iter().filter(|name| !there.contains(name)).collect()
    }

    /// A8, A9.
    pub(crate) fn earns(&self, agent: &str, tool: &str) -> bool {
        let Some(declared) = self.agent(agent) else { return false };
        match tool {
            "spawn_subagent" => !declared.delegates_to.is_empty(),
            "activate_skill" if self.is_entry(agent) && self.reaches(agent, "skills") => true,
            "activate_skill" => self.all().iter().any(|name| self.kind(name) == "skill" && self.reaches(agent, name)),
            _ => !self.deferred(agent).is_empty(),
        }
    }

    /// R7, N1, N2: at the end, and what is taken is skipped; for a skill that grew, what it held before is.
    pub(crate) fn hold(&self, life: &mut Life, toolset: &str, arrival: Word, build: &[Offered]) {
        life.toolsets.entry(toolset.to_owned()).or_insert(arrival);
        for tool in usable(build) {
            let id = (toolset.to_owned(), tool.name.clone());
            if !life.held.iter().any(|(held, _)| held.1 == id.1 || wire(held) == wire(&id)) {
                life.held.push((id, tool));
            }
        }
    }

    /// R16: a life begins. `given`: the accepted builds that it gets; `loads`: what its conversation loaded, in order.
    pub(crate) fn wire_up(&self, mut life: Life, given: &BTreeMap<String, Vec<Offered>>, loads: &[String]) -> Life {
        let (agent, deferred) = (life.agent.clone(), self.deferred(&life.agent));
        let mut order: Vec<(Word, String)> = Vec::new();
        let mut then = |arrival: Word, names: Vec<String>| order.extend(names.into_iter().map(|name| (arrival, name)));
        then("resident", self.resident(&agent));
        then("preloaded", loads.iter().filter(|name| deferred.contains(name)).cloned().collect());
        then("core", CORE[..2].iter().map(ToString::to_string).collect());
        then("skill", self.skills(&agent));
        then("core", CORE[2..].iter().map(ToString::to_string).collect());
        for (arrival, name) in order {
            if arrival != "core" {
                given.get(&name).into_iter().for_each(|build| self.hold(&mut life, &name, arrival, build));
            } else if self.earns(&agent, &name) && self.setup.core.contains(&name) {
                life.held.push((("core".to_owned(), name.clone()), Offered { name, version: 0, link: false }));
            }
        }
        life.allow = life.allow.map(|(names, _)| (names, life.held.len()));
        life
    }

    /// P3, P4, D8: an agent's own pair or the default; then its composer's.
    pub(crate) fn pairs(&self, agent: &str) -> Vec<&Pair> {
        let own = self.agent(agent).and_then(|agent| agent.pair.as_ref());
        let mut pairs = vec![own.unwrap_or(&self.setup.pair)];
        if let Some((composer, _)) = self.composed.get(agent) {
            pairs.extend(self.pairs(composer));
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
    pub(crate) fn gated(&self, agent: &str, id: &Id) -> Option<Word> {
        let pairs = self.pairs(agent);
        if pairs.iter().any(|pair| self.reached(&pair.0, id)) {
            return Some("confirm");
        }
        if pairs.iter().any(|pair| self.reached(&pair.1, id)) {
            return Some("review");
        }
        let asks = self.setup.server_confirms.get(&id.0).copied().or(self.setup.mcp_confirms);
        (self.kind(&id.0) == "mcp" && asks == Some(true)).then_some("confirm")
    }

    fn reached(&self, list: &[String], id: &Id) -> bool {
        list.iter().any(|entry| self.matches(entry, id))
    }

    pub(crate) fn floor(&self, id: &Id) -> bool {
        self.reached(&self.setup.floor, id)
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

    /// The tools that entries on a toolset name (`*`: all of it).
    pub(crate) fn named(&self, toolset: &str) -> Vec<&str> {
        let pairs = self.setup.agents.iter().filter_map(|agent| agent.pair.as_ref()).chain([&self.setup.pair]);
        let entries = pairs.flat_map(|pair| pair.0.iter().chain(&pair.1)).chain(&self.setup.floor);
        entries.map(|entry| split(entry)).filter(|(owner, _)| *owner == toolset).map(|(_, tool)| tool).collect()
    }

    /// P9: whether the hook refuses a build that offers these: an entry matches nothing, or a name is in two lists.
    fn refuses(&self, toolset: &str, build: &[Offered]) -> bool {
        let unmatched = |name: &&str| !build.iter().any(|tool| *name == "*" || *name == tool.name);
        let pairs: Vec<&Pair> = self.setup.agents.iter().flat_map(|agent| self.pairs(&agent.name)).collect();
        let clashes = |tool: &Offered| {
            let id = (toolset.to_owned(), tool.name.clone());
            let floor = self.setup.auto_approval && self.floor(&id);
            let both = |pair: &&Pair| self.reached(&pair.1, &id) && (floor || self.reached(&pair.0, &id));
            pairs.iter().chain([&&self.setup.pair]).any(both)
        };
        self.named(toolset).iter().any(unmatched) || build.iter().any(clashes)
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

    /// The filters that withhold a tool, or all of a toolset, in their order.
    pub(crate) fn filters(&self, life: &Life, (owner, tool, place): Question<'_>) -> Vec<Word> {
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
        let outside = |family: &String| if core { !CORE[1..3].contains(&name.unwrap_or("")) } else { family != owner };
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
    pub(crate) fn why_not(&self, life: &Life, id: &Id) -> Option<Word> {
        let Some(place) = life.held.iter().position(|(held, _)| held == id) else { return Some("not held") };
        self.filters(life, (&id.0, Some((&id.1, life.held[place].1.link)), Some(place))).first().copied()
    }

    /// O7: why a toolset can't be loaded, spawned into or composed.
    pub(crate) fn withholds_load(&self, life: &Life, toolset: &str) -> Option<Word> {
        self.filters(life, (toolset, None, None)).into_iter().find(|filter| ["W1", "W3", "W4", "W6"].contains(filter))
    }

    /// Whether `load_tools(name)` builds now (R5, R9, R11, O7, P9).
    pub(crate) fn may_load(&self, life: &Life, name: &str) -> bool {
        let listed = self.available(&life.agent).iter().any(|listed| listed == name);
        listed && !life.toolsets.contains_key(name) && self.may_build(life, name)
    }

    pub(crate) fn may_build(&self, life: &Life, name: &str) -> bool {
        let gone = self.refused.contains(name) || self.facts.contains_key(&(name.to_owned(), None));
        !gone && self.withholds_load(life, name).is_none()
    }

    /// R5's state.
    pub(crate) fn listed(&self, life: &Life, toolset: &str) -> Word {
        match (self.withholds_load(life, toolset), life.toolsets.get(toolset).copied()) {
            (Some(why), None) => why,
            (Some(why), Some(_)) if why != "W6" => why,
            (_, Some("loaded")) => "loaded",
            (_, Some(_)) => "resident",
            (None, None) if self.refused.contains(toolset) => "refused",
            (_, None) => "loadable",
        }
    }

    /// P16: floor tools, composed workers and changed servers have no grant.
    pub(crate) fn grantable(&self, agent: &str, id: &Id) -> bool {
        let changed = self.facts.iter().any(|((toolset, _), fact)| *toolset == id.0 && *fact == "changed");
        !self.floor(id) && !self.composed.contains_key(agent) && !changed
    }

    /// P1, up to the card: `call` as a grant of it would say it.
    pub(crate) fn verdict(&self, life: &Life, call: &Grant, attended: bool, sight: Word, line: bool) -> Word {
        let (agent, id) = (&life.agent, &call.2);
        let away = sight == "away" || (sight == "unseen" && self.setup.background_deny);
        match self.gated(agent, id) {
            None => "run",
            Some(_) if line && !self.floor(id) => "allow line",
            Some(_) if self.grantable(agent, id) && self.grants.contains(call) => "grant",
            Some(_) if !attended || away => "auto-denied",
            Some("review") if self.setup.auto_approval && !self.floor(id) => "review",
            Some(_) => "ask",
        }
    }
}
