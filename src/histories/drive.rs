//! The system under test: one world, the runs of two conversations and of their workers, and what they record. Beside it the
//! reference model, which is told the same and says beforehand what must come of it.

use std::collections::{BTreeMap, BTreeSet};

use super::generate::{Event, Happening, History};
use super::model::{self, Grant, Id, Model, Offered, usable};
use super::plain;
use crate::access::*;
use crate::agent::*;
use crate::store;

/// What is wrong, beginning with the number of an invariant or with a rule's id.
pub(super) type Check = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds { return Err(format!($($words)+)) }
    };
}
pub(super) use ensure;

/// One agent in one life, as it is and as the model has it.
pub(super) struct Live {
    pub run: Run,
    pub model: model::Life,
    pub conversation: String,
    /// Every record; a worker's are in nobody's log.
    pub records: Vec<Record>,
    /// Whose turn it works in.
    works_for: Option<usize>,
    /// What it held when it was last looked at: names and definitions.
    pub seen: Vec<String>,
    /// The request that waits for its answer.
    pub request: Option<Box<Request>>,
    /// What the effects of the last step were, but for records and what is told.
    pub effects: Vec<Effect>,
}

/// Both sides of one history.
pub(super) struct House {
    pub world: World,
    pub model: Model,
    pub lives: Vec<Live>,
    /// What each toolset's next build offers.
    pub builds: BTreeMap<String, Vec<Offered>>,
    failing: BTreeSet<String>,
    /// What each conversation loaded, and the mode it was given, each with the place of its record: the model's own log.
    pub loads: [Vec<(String, usize)>; 2],
    pub(super) modes: [Vec<(String, usize)>; 2],
    /// The wire name that each tool ever had, over restarts too.
    pub wires: BTreeMap<Id, String>,
    /// What each entry was ever resolved to in this process.
    pub resolved: BTreeMap<String, BTreeSet<Id>>,
    /// How often everybody was looked at.
    pub looks: usize,
    /// What the builds offer now does not start any more, so the history ends here.
    pub over: bool,
}

pub(super) const CONVERSATIONS: [&str; 2] = ["c1", "c2"];
/// As many lives as are looked at.
const MOST: usize = 6;
const MOMENT: Moment = Moment { now: 0, random: 0 };

impl House {
    /// Starts the program. `None`: startup refuses this configuration, and both sides say so.
    pub(super) fn start(history: &History) -> Result<Option<Self>, String> {
        let mut house = Self {
            world: plain::world(&history.setup),
            model: Model::new(history.setup.clone()),
            lives: Vec::new(),
            builds: history.builds.clone(),
            failing: history.failing.iter().cloned().collect(),
            loads: [Vec::new(), Vec::new()],
            modes: [Vec::new(), Vec::new()],
            wires: BTreeMap::new(),
            resolved: BTreeMap::new(),
            looks: 0,
            over: false,
        };
        let started = house.startup()?;
        if started {
            for place in 0..CONVERSATIONS.len() {
                house.wire(place, Vec::new())?;
            }
            house.look_at_all()?;
        }
        Ok(started.then_some(house))
    }

    /// P6, P7.
    fn startup(&mut self) -> Result<bool, String> {
        let mut accepted = true;
        for toolset in self.world.startup_builds() {
            if self.failing.contains(toolset.as_str()) {
                self.fail(toolset.as_str());
            } else {
                accepted &= self.report(toolset.as_str())?;
            }
        }
        ensure!(self.world.resolve().is_ok() == accepted, "P6: startup says yes: {}", !accepted);
        Ok(accepted)
    }

    fn fail(&mut self, toolset: &str) {
        self.world.report_failure(&ToolsetName::new(toolset), "it broke");
        self.model.failed.insert(toolset.to_owned());
    }

    /// One build before the hook. Whether both sides accept it.
    fn report(&mut self, toolset: &str) -> Result<bool, String> {
        let build = self.builds.get(toolset).cloned().unwrap_or_default();
        let facts: Vec<ToolFacts> = build.iter().map(|tool| plain::built(tool).facts).collect();
        let accepted = self.world.report_build(&ToolsetName::new(toolset), &facts);
        let expected = self.model.build(toolset, &build);
        ensure!(
            accepted.is_ok() == expected,
            "invariant 6: the hook should say {expected} to a build of '{toolset}', and says {accepted:?}"
        );
        if expected && !self.model.named(toolset).is_empty() {
            self.look_at_entries()?;
        }
        Ok(expected)
    }

    /// One build for somebody: accepted, or not.
    pub(super) fn build(&mut self, toolset: &str) -> Result<Option<LoadedToolset>, String> {
        if self.failing.contains(toolset) {
            self.fail(toolset);
            return Ok(None);
        }
        let accepted = self.report(toolset)?;
        let tools = usable(&self.builds.get(toolset).cloned().unwrap_or_default());
        let tools = tools.iter().map(plain::built).collect();
        Ok(accepted.then(|| LoadedToolset { toolset: ToolsetName::new(toolset), tools, guidance: None }))
    }

    /// Builds and wires the agent of a life that begins with these records; `life`: its conditions.
    fn wired(
        &mut self,
        life: model::Life,
        conditions: Conditions,
        conversation: &str,
        loaded: &[String],
        records: Vec<Record>,
    ) -> Result<Live, String> {
        let agent = life.agent.clone();
        let deferred = self.model.deferred(&agent);
        let mut given: BTreeMap<String, Vec<Offered>> = BTreeMap::new();
        let (mut resident, mut preloaded) = (Vec::new(), Vec::new());
        let recorded = loads(&records);
        for name in &recorded {
            ensure!(loaded.contains(name), "invariant 4: '{name}' is preloaded, and no load of it ever succeeded");
        }
        ensure!(recorded == loaded, "R12: what was loaded is {loaded:?}, and the records say {recorded:?}");
        for name in [self.model.resident(&agent), self.model.skills(&agent)].concat() {
            if let Some(build) = self.build(&name)? {
                given.insert(name.clone(), self.builds[&name].clone());
                resident.push(build);
            }
        }
        for name in recorded.iter().filter(|name| deferred.contains(name)) {
            if let Some(build) = self.build(name)? {
                given.insert(name.to_owned(), self.builds[name].clone());
                preloaded.push(build);
            }
        }
        let spec = AgentSpec {
            name: AgentName::new(agent),
            node: crate::agent::NodeId::ENTRY,
            address: None,
            above: Vec::new(),
            conversation: conversation.to_owned(),
            opener: "You help.".to_owned(),
            max_iterations: 20,
            concurrent_tools: true,
            max_attempts: 1,
            conditions,
        };
        let run = Run::new(spec, &self.world, resident, preloaded, &records);
        let model = self.model.wire_up(life, &given, loaded);
        let loadable: Vec<String> = self.model.available(&model.agent);
        let loadable: Vec<String> =
            loadable.into_iter().filter(|name| self.model.listed(&model, name) == "loadable").collect();
        let line = format!("Also available, load before use: {}.", loadable.join(", "));
        let expected = !loadable.is_empty() && self.model.earns(&model.agent, "load_tools");
        ensure!(run.system().contains(&line) == expected, "R4: {:?} should say {loadable:?}", run.system());
        Ok(Live {
            run,
            model,
            conversation: conversation.to_owned(),
            records,
            works_for: None,
            seen: Vec::new(),
            request: None,
            effects: Vec::new(),
        })
    }

    /// Wires the entry agent for a conversation whose log is `records`.
    fn wire(&mut self, place: usize, mut records: Vec<Record>) -> Check {
        self.loads[place].retain(|(_, at)| *at < records.len());
        self.modes[place].retain(|(_, at)| *at < records.len());
        records.extend(store::repair(&records));
        one_result_per_call(&records, "a reopened conversation")?;
        let mode = noted_mode(&self.modes[place]).to_owned();
        let mut loads: Vec<String> = Vec::new();
        for (name, _) in &self.loads[place] {
            if !loads.contains(name) {
                loads.push(name.clone());
            }
        }
        let agent = self.model.setup.agents[0].name.clone();
        let link = has_link(&records);
        let life = model::Life { agent, mode: mode.clone(), link, ..model::Life::default() };
        let conditions = Conditions { mode: Some(ModeName::new(mode)), ..Conditions::default() };
        let live = self.wired(life, conditions, CONVERSATIONS[place], &loads, records)?;
        if self.lives.len() <= place {
            self.lives.push(live);
        } else {
            self.lives[place] = live;
        }
        Ok(())
    }

    /// A conversation ends in memory, its workers with it; its records stay.
    fn unwire(&mut self, place: usize) -> Vec<Record> {
        // Who was composed last ends first: nobody outlives who composed it (D7).
        while let Some(worker) = (2..self.lives.len()).rfind(|worker| self.lives[*worker].works_for == Some(place)) {
            self.end_worker(worker);
        }
        std::mem::take(&mut self.lives[place].records)
    }

    fn end_worker(&mut self, worker: usize) {
        let ended = self.lives.remove(worker);
        for live in &mut self.lives {
            live.works_for = live.works_for.map(|place| if place > worker { place - 1 } else { place });
        }
        self.world.dissolve(ended.run.agent());
        self.model.composed.remove(&ended.model.agent);
    }

    /// One event, then a look at everybody.
    pub(super) fn happen(&mut self, event: &Event) -> Check {
        match event {
            Event::Turn(life, turn) => self.turn(life % self.lives.len(), turn)?,
            Event::Happens(happening) => self.happens(happening, &[])?,
            Event::Evict(place) => {
                let records = self.unwire(*place);
                self.wire(*place, records)?;
            }
            Event::Truncate(place, turn) => {
                let mut records = self.unwire(*place);
                let starts = |record: &Record| matches!(record, Record::TurnStarted { .. });
                let turns: Vec<usize> = (0..records.len()).filter(|at| starts(&records[*at])).collect();
                if let Some(at) = turns.get(turn % (turns.len() + 1)) {
                    records.truncate(*at);
                }
                self.world.lapse_grants(CONVERSATIONS[*place]);
                self.model.grants.retain(|grant| grant.0 != CONVERSATIONS[*place]);
                self.wire(*place, records)?;
            }
            Event::Restart(lost) => {
                self.restart(*lost)?;
                if self.over {
                    return Ok(());
                }
            }
            Event::EndWorker(worker) => {
                let leaf = |worker: &usize| {
                    let name = &self.lives[*worker].model.agent;
                    !self.model.composed.values().any(|(composer, _)| composer == name)
                };
                let workers: Vec<usize> = (2..self.lives.len()).filter(leaf).collect();
                if let Some(worker) = workers.get(*worker) {
                    self.end_worker(*worker);
                }
            }
        }
        self.look_at_all()
    }

    /// Owners, refusals, failures, grants and what was said are gone; switches are saved.
    fn restart(&mut self, lost: [usize; 2]) -> Check {
        let mut logs = [self.unwire(0), self.unwire(1)];
        for (log, lost) in logs.iter_mut().zip(lost) {
            log.truncate(log.len().saturating_sub(lost));
        }
        self.model.setup.disabled = self.model.off.iter().cloned().collect();
        self.world = plain::world(&self.model.setup);
        self.model = Model::new(self.model.setup.clone());
        self.resolved.clear();
        if !self.startup()? {
            self.over = true;
            return Ok(());
        }
        self.lives.clear();
        for (place, log) in logs.into_iter().enumerate() {
            self.wire(place, log)?;
        }
        Ok(())
    }

    pub(super) fn installed(&self, pick: usize) -> String {
        self.model.setup.installed[pick % self.model.setup.installed.len()].0.clone()
    }

    /// `busy`: lives with an open turn, which take no other.
    pub(super) fn happens(&mut self, happening: &Happening, busy: &[usize]) -> Check {
        match happening {
            Happening::Switch(picks) => {
                let names: BTreeSet<String> = picks.iter().map(|pick| self.installed(*pick)).collect();
                let word = |name: &String| Spanned::new(ToolsetName::new(name.as_str()), Span::default());
                self.world.switch_off(names.iter().map(word).collect()).map_err(|faults| format!("W1: {faults:?}"))?;
                self.model.off = names;
            }
            Happening::Check(pick, tool, no) => {
                let toolset = self.installed(*pick);
                self.world.report_check(&ToolsetName::new(toolset.as_str()), *tool, no.then(|| "down".to_owned()));
                let key = (toolset, tool.map(str::to_owned));
                if *no {
                    self.model.checks.insert(key)
                } else {
                    self.model.checks.remove(&key)
                };
            }
            Happening::Fact(pick, tool, fact) => {
                let toolset = self.installed(*pick);
                self.world.report_fact(&ToolsetName::new(toolset.as_str()), *tool, fact.map(plain::fact));
                let key = (toolset, tool.map(str::to_owned));
                match fact {
                    Some(fact) => self.model.facts.insert(key, fact),
                    None => self.model.facts.remove(&key),
                };
            }
            Happening::Mode(place, mode) => {
                let of = |live: usize, lives: &[Live]| live == *place || lives[live].works_for == Some(*place);
                for live in (0..self.lives.len()).filter(|live| of(*live, &self.lives)).collect::<Vec<_>>() {
                    self.step(live, Input::Mode { mode: ModeName::new(*mode) });
                    (*mode).clone_into(&mut self.lives[live].model.mode);
                }
            }
            Happening::Provide(pick, build) => {
                let toolset = self.installed(*pick);
                self.builds.insert(toolset, build.clone());
            }
            Happening::Fails(pick, fails) => {
                let toolset = self.installed(*pick);
                if *fails {
                    self.failing.insert(toolset)
                } else {
                    self.failing.remove(&toolset)
                };
            }
            Happening::Build(pick) => {
                let toolset = self.installed(*pick);
                self.build(&toolset)?;
            }
            Happening::Write(skill, build) => self.write(skill, build)?,
            Happening::Revoke(pick) => {
                let count = self.model.grants.len();
                let Some(grant) = self.model.grants.get(pick % (count + 1)).cloned() else { return Ok(()) };
                let same = |other: &&Grant| other.0 == grant.0;
                let place = self.model.grants.iter().take_while(|other| **other != grant).filter(same).count();
                let number = self.world.grants(&grant.0).get(place).map(|grant| grant.number);
                ensure!(number.is_some_and(|number| self.world.revoke(number)), "P16: there is no grant {grant:?}");
                self.model.grants.retain(|other| *other != grant);
            }
            Happening::Spawn(life, agent, family, link) => self.spawn(*life, *agent, *family, *link)?,
            Happening::Compose(life, toolsets, nested) => self.compose(*life, toolsets, *nested)?,
            Happening::Works(worker, turn) => {
                let idle: Vec<usize> = (2..self.lives.len()).filter(|live| !busy.contains(live)).collect();
                if let Some(worker) = idle.get(worker % (idle.len() + 1)) {
                    self.turn(*worker, turn)?;
                }
            }
        }
        Ok(())
    }

    /// L1, A9: a skill comes to be or grows; the hook sees it first, then the entry agent holds its new tools, at the end.
    fn write(&mut self, skill: &str, build: &[Offered]) -> Check {
        let known = self.model.setup.installed.iter().any(|known| known.0 == skill);
        self.world.register_skill(plain::toolset(skill, "skill", false)).map_err(|error| format!("L1: {error}"))?;
        if !known {
            self.model.setup.installed.push((skill.to_owned(), "skill", false));
            self.model.setup = model::sorted(std::mem::take(&mut self.model.setup));
        }
        self.builds.insert(skill.to_owned(), build.to_vec());
        self.failing.remove(skill);
        let Some(built) = self.build(skill)? else { return Ok(()) };
        for place in 0..CONVERSATIONS.len() {
            let live = &mut self.lives[place];
            if self.model.skills(&live.model.agent).iter().any(|name| name == skill) {
                live.run.grow(&built);
                self.model.hold(&mut live.model, skill, "skill", build);
            }
        }
        Ok(())
    }

    fn spawn(&mut self, life: usize, agent: usize, family: Option<usize>, link: bool) -> Check {
        let parent = life % self.lives.len();
        let name = self.lives[parent].model.agent.clone();
        let delegates = self.model.setup.agents.iter().find(|agent| agent.name == name);
        let delegates = delegates.map(|agent| agent.delegates_to.clone()).unwrap_or_default();
        if delegates.is_empty() || self.lives.len() >= MOST {
            return Ok(());
        }
        let agent = delegates[agent % delegates.len()].clone();
        let available = self.model.available(&agent);
        let family = family.filter(|_| !available.is_empty()).map(|pick| available[pick % available.len()].clone());
        if let Some(family) = &family {
            let may = self.world.may_build(self.lives[parent].run.life(), &ToolsetName::new(family.as_str()));
            let expected = self.model.may_build(&self.lives[parent].model, family);
            ensure!(may.is_none() == expected, "O7: a spawn into '{family}' should be {expected}: {may:?}");
            if !expected {
                return Ok(());
            }
        }
        if self.model.resident(&agent).iter().any(|name| self.model.refused.contains(name)) {
            // P9: could not spawn.
            return Ok(());
        }
        self.work(parent, agent, family, link)
    }

    fn compose(&mut self, life: usize, toolsets: &[usize], nested: bool) -> Check {
        let parent = life % self.lives.len();
        let names: BTreeSet<String> = toolsets.iter().map(|pick| self.installed(*pick)).collect();
        if self.lives.len() >= MOST {
            return Ok(());
        }
        let toolsets: Vec<ToolsetName> = names.iter().map(|name| ToolsetName::new(name.as_str())).collect();
        let kind = if nested { Nested::Composes } else { Nested::Leaf };
        let composed = self.world.compose(self.lives[parent].run.life(), "helper", &toolsets, kind);
        let may = |name: &String| {
            !self.model.entry_only(name)
                && name != "capabilities"
                && self.model.may_build(&self.lives[parent].model, name)
        };
        // It may compose in its turn, whatever it was composed from.
        let nests = || {
            let installed = self.model.setup.installed.iter().any(|known| known.0 == "capabilities");
            installed && self.model.may_build(&self.lives[parent].model, "capabilities")
        };
        let expected = names.iter().all(may) && (!nested || nests());
        ensure!(composed.is_ok() == expected, "D3: composing from {names:?} should be {expected}: {composed:?}");
        let Ok(worker) = composed else { return Ok(()) };
        let composer = self.lives[parent].model.agent.clone();
        let mut holds: Vec<String> = names.into_iter().collect();
        holds.extend(nested.then(|| "capabilities".to_owned()));
        self.model.composed.insert(worker.to_string(), (composer, holds));
        self.work(parent, worker.to_string(), None, false)
    }

    /// A worker begins (O7).
    fn work(&mut self, parent: usize, agent: String, family: Option<String>, link: bool) -> Check {
        let from = &self.lives[parent];
        let named = family.as_deref().map(ToolsetName::new);
        let conditions = from.run.life().conditions.for_worker(named, &Held::default(), task(link));
        let life = model::Life {
            agent,
            mode: from.model.mode.clone(),
            families: from.model.families.iter().cloned().chain(family).collect(),
            allow: from.model.allow.clone(),
            link,
            ..model::Life::default()
        };
        let (conversation, works_for) = (from.conversation.clone(), from.works_for.unwrap_or(parent));
        let live = self.wired(life, conditions, &conversation, &[], Vec::new())?;
        self.lives.push(Live { works_for: Some(works_for), ..live });
        self.look(self.lives.len() - 1)
    }

    /// One input; records go to the log.
    pub(super) fn step(&mut self, place: usize, input: Input) {
        let live = &mut self.lives[place];
        live.effects.clear();
        for effect in live.run.step(MOMENT, &mut self.world, input) {
            match effect {
                Effect::Record(record) => {
                    if let (Record::Mode { mode, .. }, Some(modes)) = (&record, self.modes.get_mut(place)) {
                        modes.push((mode.to_string(), live.records.len()));
                    }
                    live.records.push(record);
                }
                Effect::Tell(_) => {}
                Effect::CallModel(request) => live.request = Some(request),
                other => live.effects.push(other),
            }
        }
    }
}

/// Whether one of the last three messages of a log has a link (W7).
pub(super) fn has_link(records: &[Record]) -> bool {
    let links = records.iter().rev().filter_map(|record| match record {
        Record::TurnStarted { message, .. } => Some(message.text.contains("://")),
        _ => None,
    });
    links.take(3).any(|link| link)
}

/// The mode that a log says, `work` where it says none (W3).
pub(super) fn noted_mode(modes: &[(String, usize)]) -> &str {
    modes.last().map_or("work", |(mode, _)| mode.as_str())
}

/// Words of a person, or a worker's task.
pub(super) fn task(link: bool) -> &'static str {
    if link { "look at https://example.org/a" } else { "go on" }
}

/// Invariant 8.
pub(super) fn one_result_per_call(records: &[Record], of: &str) -> Check {
    let mut results: BTreeMap<CallId, usize> = BTreeMap::new();
    for record in records {
        if let Record::CallEnded { call, .. } = record {
            *results.entry(*call).or_default() += 1;
        }
    }
    let calls = records.iter().filter_map(|record| match record {
        Record::ModelCall { message, .. } => Some(message.calls().map(|call| call.id)),
        _ => None,
    });
    for call in calls.flatten() {
        let count = results.remove(&call).unwrap_or(0);
        ensure!(count == 1, "invariant 8: {call} of {of} has {count} results");
    }
    ensure!(results.is_empty(), "invariant 8: {of} has results that no call waits for: {results:?}");
    Ok(())
}
