//! What is looked at after everything that happens: the product's answers beside the model's, and the invariants by number.

use std::collections::BTreeSet;

use super::drive::{Check, House, Live, ensure};
use super::model::{Grant, Id, Life as Plain, wire};
use super::plain;
use crate::access::explain::AnsweredBy;
use crate::access::report::ToolsetState;
use crate::access::*;
use crate::agent::{CallId, Effect, Ending, Record};

/// What became of a call so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    Unknown,
    Refused,
    Asked { grantable: bool },
    Denied,
    Running,
    Loading,
    Joining,
    Ok,
    Failed,
    Loaded(String),
    Interrupted,
    Other(Ending),
}

impl Seen {
    /// Whether it waits for something.
    pub(super) fn is_open(&self) -> bool {
        self.leads() || *self == Self::Joining
    }

    /// Whether what it waits for is its own.
    pub(super) fn leads(&self) -> bool {
        matches!(self, Self::Asked { .. } | Self::Running | Self::Loading)
    }
}

fn words(filter: Filter) -> &'static str {
    match filter {
        Filter::SwitchedOff => "W1",
        Filter::Check => "W2",
        Filter::Mode => "W3",
        Filter::Family => "W4",
        Filter::NotLoaded => "W5",
        Filter::Exclusion => "W6",
        Filter::Trigger => "W7",
    }
}

impl House {
    /// What the last step did with a call.
    pub(super) fn seen(&self, place: usize, id: CallId) -> Seen {
        let live = &self.lives[place];
        let ended = live.records.iter().rev().find_map(|record| match record {
            Record::CallEnded { call, ending, .. } if *call == id => Some(ending.clone()),
            _ => None,
        });
        match ended {
            Some(Ending::Unknown) => return Seen::Unknown,
            Some(Ending::Refused) => return Seen::Refused,
            Some(Ending::NotAllowed) => return Seen::Denied,
            Some(Ending::Ok) => return Seen::Ok,
            Some(Ending::Failed) => return Seen::Failed,
            Some(Ending::Loaded { toolset }) => return Seen::Loaded(toolset),
            Some(Ending::Interrupted) => return Seen::Interrupted,
            Some(other) => return Seen::Other(other),
            None => {}
        }
        let done = live.effects.iter().find_map(|effect| match effect {
            Effect::Ask(ask) if ask.call == id => Some(Seen::Asked { grantable: ask.grantable }),
            Effect::Run { call, .. } if *call == id => Some(Seen::Running),
            Effect::Load { call, .. } if *call == id => Some(Seen::Loading),
            _ => None,
        });
        done.unwrap_or(Seen::Joining)
    }

    pub(super) fn expect(&self, place: usize, id: CallId, expected: &Seen) -> Check {
        let seen = self.seen(place, id);
        let agent = &self.lives[place].model.agent;
        ensure!(
            seen != Seen::Asked { grantable: true } || *expected != Seen::Asked { grantable: false },
            "invariant 10: the card of {id} by {agent} offers a grant that nobody may give"
        );
        ensure!(seen == *expected, "P1: {id} of {agent} should be {expected:?} and is {seen:?}");
        Ok(())
    }

    /// The invariants on a call that was just dispatched, if it was.
    pub(super) fn ran(&self, place: usize, id: CallId, tool: &Id) -> Check {
        let live = &self.lives[place];
        let (agent, seen) = (&live.model.agent, self.seen(place, id));
        let ran = match seen {
            Seen::Running | Seen::Loading | Seen::Joining => true,
            Seen::Ok | Seen::Failed | Seen::Loaded(_) => tool.0 == "core",
            _ => false,
        };
        if !ran {
            return Ok(());
        }
        let core = tool.0 == "core";
        ensure!(core || self.model.reaches(agent, &tool.0), "invariant 1: {agent} runs {tool:?}");
        let why = self.model.why_not(&live.model, tool);
        ensure!(why.is_none(), "invariant 9: {agent} runs {tool:?}, which {why:?} withholds");
        ensure!(
            core || self.model.owners.contains(tool),
            "invariant 6: {tool:?} runs, and comes from no accepted build"
        );
        let answer = live.records.iter().rev().find_map(|record| match record {
            Record::Allowed { call, answer, .. } if *call == id => Some(answer),
            _ => None,
        });
        let list = self.model.gated(agent, tool);
        ensure!(
            list.is_none() || answer.is_some_and(Answer::allows),
            "invariant 3: {agent} runs {tool:?}, which {list:?} gates, and nobody answered"
        );
        let person = matches!(answer, None | Some(Answer::AllowedOnce | Answer::AllowedForConversation));
        ensure!(person || !self.model.floor(tool), "invariant 10: {tool:?} of the floor runs on {answer:?}");
        let loads = live.effects.iter().find_map(|effect| match effect {
            Effect::Load { call, toolset } if *call == id => Some(toolset),
            _ => None,
        });
        if let Some(toolset) = loads {
            let listed = self.model.reaches(agent, toolset.as_str());
            ensure!(listed, "invariant 1: a load of '{toolset}' by {agent}, whose table does not list it");
            let why = self.model.withholds_load(&live.model, toolset.as_str());
            ensure!(why.is_none(), "invariant 9: a load of '{toolset}' by {agent}, which {why:?} withholds");
            let refused = self.model.refused.contains(toolset.as_str());
            ensure!(!refused, "invariant 6: a load of '{toolset}', which was refused");
        }
        Ok(())
    }

    pub(super) fn look_at_all(&mut self) -> Check {
        for place in 0..self.lives.len() {
            self.look(place)?;
        }
        let agents: Vec<String> = self.model.setup.agents.iter().map(|agent| agent.name.clone()).collect();
        // Everybody is looked at sooner or later.
        self.looks += 1;
        let agent = &agents[self.looks % agents.len()];
        self.look_at_entries_of(agent)?;
        self.look_at_fresh(agent)
    }

    /// One life, whole.
    pub(super) fn look(&mut self, place: usize) -> Check {
        self.look_at_held(place)?;
        let live = &self.lives[place];
        self.look_at_offer(live)?;
        let report = report(&self.world, live.run.agent(), Some(live.run.life()), Some(&live.conversation));
        self.look_at_report(&live.model, &report, false)?;
        let count =
            self.model.grants.iter().filter(|grant| grant.0 == live.conversation && grant.1 == live.model.agent);
        let count = count.count();
        ensure!(report.grants.len() == count, "P16: {count} grants, and the report shows {:?}", report.grants);
        Ok(())
    }

    /// Invariants 1, 2, 4, 6 and 11, and the order of R7 and R16.
    fn look_at_held(&mut self, place: usize) -> Check {
        let Live { run, model: life, seen, .. } = &self.lives[place];
        let (agent, held) = (&life.agent, run.held().tools());
        let mut now = Vec::new();
        for tool in held {
            let id = plain::id(&tool.id);
            let core = id.0 == "core";
            ensure!(core || self.model.reaches(agent, &id.0), "invariant 1: {agent} holds {id:?}");
            ensure!(core || self.model.owners.contains(&id), "invariant 6: {id:?} is held, and of no accepted build");
            // Hashing is dear in a build for tests, so a wire name is worked out once.
            let known = self.wires.entry(id.clone()).or_insert_with(|| wire(&id));
            ensure!(
                *known == tool.wire.as_str(),
                "invariant 11: {id:?} was '{known}' on the wire and is '{}'",
                tool.wire
            );
            let definition = run.definition(&tool.id).map(|shown| (&shown.wire, &shown.description));
            let version = life.held.iter().find(|(held, _)| *held == id).map(|(_, tool)| plain::about(tool.version));
            let same = definition.map(|(_, about)| about) == version.as_ref();
            ensure!(core || same, "R17: {id:?} should be {version:?} and is {definition:?}");
            now.push(format!("{id:?} {definition:?} {}", tool.digest));
        }
        ensure!(now.starts_with(seen), "invariant 2: {agent} held {seen:?}, and now holds {now:?}");
        for (toolset, arrival) in run.held().toolsets() {
            let preloaded = arrival == Arrival::Preloaded;
            let loaded = self.loads.get(place).is_some_and(|log| log.iter().any(|(name, _)| name == toolset.as_str()));
            ensure!(!preloaded || loaded, "invariant 4: '{toolset}' is preloaded, and no load of it ever succeeded");
        }
        let ids: Vec<Id> = held.iter().map(|tool| plain::id(&tool.id)).collect();
        let expected: Vec<Id> = life.held.iter().map(|(id, _)| id.clone()).collect();
        ensure!(ids == expected, "R16: {agent} holds {ids:?} and not {expected:?}");
        self.lives[place].seen = now;
        Ok(())
    }

    /// Offer, ledger, dispatch and explain say the same, and what the model says.
    fn look_at_offer(&self, live: &Live) -> Check {
        let (world, life, plain_life) = (&self.world, live.run.life(), &live.model);
        let agent = &plain_life.agent;
        let offer = offer(world, life);
        for (place, (tool, row)) in life.held.tools().iter().zip(&offer.ledger.tools).enumerate() {
            let id = plain::id(&tool.id);
            let why = self.model.why_not(plain_life, &id);
            let said = match &row.state {
                offer::RowState::Offered => None,
                offer::RowState::Withheld(withheld) => Some(words(withheld.filter)),
            };
            ensure!(said == why, "O1: {agent}'s {id:?} is withheld by {said:?} and not {why:?}");
            ensure!(offer.kept.contains(&place) == why.is_none(), "O1: {id:?}: the offer and its ledger disagree");
            let refusal = world.dispatch(life, &tool.id, &tool.digest);
            ensure!(refusal.is_none() == why.is_none(), "O3: {id:?} is withheld by {why:?}; dispatch says {refusal:?}");
            let changed = world.dispatch(life, &tool.id, "another");
            ensure!(changed.is_some(), "O3: {id:?} runs although its definition is another than the one shown");
            self.look_at_explanation(live, tool, place == self.looks % life.held.tools().len())?;
        }
        for row in &offer.ledger.deferred {
            let why = self.model.filters(plain_life, (row.toolset.as_str(), None, None)).first().copied();
            let said = Some(words(row.withheld.filter));
            ensure!(said == why, "O9: '{}' is withheld by {said:?} and not {why:?}", row.toolset);
        }
        self.look_at_absent(live)?;
        let listing = world.available_tools(life, "");
        let states: Vec<(&str, &str)> = listing
            .lines()
            .filter_map(|line| line.split_once(" ["))
            .filter_map(|(name, rest)| Some((name, rest.split([']', ':']).next()?)))
            .collect();
        for (at, name) in self.model.available(agent).iter().enumerate() {
            let expected = self.model.listed(plain_life, name);
            let expected = if expected.starts_with('W') { "off" } else { expected };
            let said = states.get(at).copied();
            ensure!(said == Some((name.as_str(), expected)), "R5: '{name}' should be {expected} for {agent}: {said:?}");
        }
        Ok(())
    }

    /// The five answers about a held tool, and what `decide` says.
    fn look_at_explanation(&self, live: &Live, tool: &HeldTool, decide: bool) -> Check {
        let (id, life) = (plain::id(&tool.id), &live.model);
        let withheld = self.model.why_not(life, &id);
        // Every combination is met sooner or later.
        let turn = self.looks + id.1.len();
        let (attended, line) = (!turn.is_multiple_of(4), turn.is_multiple_of(7));
        let (sight, seeing) = match turn % 3 {
            0 => (Sight::OnScreen, "on screen"),
            1 => (Sight::Unseen, "unseen"),
            _ => (Sight::UnseenAndAway, "away"),
        };
        let call = CallFacts {
            conversation: &live.conversation,
            agent: live.run.agent(),
            tool,
            arguments: "{}",
            attendance: if attended { Attendance::Attended } else { Attendance::Unattended },
            sight,
            allow_line: line.then_some(3),
        };
        let held = life.held.iter().find(|(held, _)| *held == id);
        let version = held.map_or(0, |(_, tool)| tool.version);
        let grant: Grant = (live.conversation.clone(), life.agent.clone(), id.clone(), version, "{}".to_owned());
        let verdict = self.model.verdict(life, &grant, attended, seeing, line);
        let told = explain(&self.world, live.run.life(), &tool.id, Some(&call));
        let agent = &life.agent;
        ensure!(told.held.yes, "explain: {agent} holds {id:?}: {:?}", told.held);
        ensure!(
            told.offered.yes == withheld.is_none(),
            "explain: {id:?} is withheld by {withheld:?}: {:?}",
            told.offered
        );
        ensure!(told.dispatched.yes == withheld.is_none(), "explain: {id:?} would run: {:?}", told.dispatched);
        let list = told.approval.list.map(|list| list.to_string());
        let gated = self.model.gated(agent, &id).map(str::to_owned);
        ensure!(list == gated, "invariant 3: {gated:?} gates {agent}'s {id:?}, and explain says {list:?}");
        let floor = self.model.floor(&id);
        let answered = match &told.approval.answered_by {
            AnsweredBy::NotAsked => "run",
            AnsweredBy::Person => "ask",
            AnsweredBy::Reviewer => "review",
            AnsweredBy::Already { answer: Answer::AllowedByLine { .. } } => "allow line",
            AnsweredBy::Already { answer: Answer::AllowedByGrant { .. } } => "grant",
            AnsweredBy::Already { answer: Answer::AutoDenied { .. } } => "auto-denied",
            AnsweredBy::Already { .. } => "unresolved",
        };
        let person = ["run", "ask", "auto-denied"].contains(&answered);
        ensure!(person || !floor, "invariant 10: {id:?} of the floor is answered by {answered:?}");
        ensure!(answered == verdict, "P1: {agent}'s {id:?} should be {verdict:?}, and explain says {answered:?}");
        let outcome = match verdict {
            _ if withheld.is_some() => Outcome::NotNow,
            "run" | "grant" | "allow line" => Outcome::Runs,
            "ask" => Outcome::Asks,
            "review" => Outcome::AsksReviewer,
            _ => Outcome::NotNow,
        };
        ensure!(told.outcome == outcome, "explain: {agent}'s {id:?} comes to {outcome:?}, not {:?}", told.outcome);
        if decide {
            let decided = match self.world.clone().decide(call) {
                Decision::Run => "run",
                Decision::RunAnswered(_, Answer::AllowedByLine { .. }) => "allow line",
                Decision::RunAnswered(..) => "grant",
                Decision::Ask(_) => "ask",
                Decision::Review(_) => "review",
                Decision::AutoDenied(..) => "auto-denied",
                Decision::Unresolved(_) => "unresolved",
            };
            ensure!(decided == verdict, "P1: {agent}'s {id:?} should be {verdict:?}, and is decided {decided:?}");
        }
        Ok(())
    }

    /// A tool that is not held is never dispatched, and explain says why.
    fn look_at_absent(&self, live: &Live) -> Check {
        let life = &live.model;
        let absent = |id: &&Id| !life.held.iter().any(|(held, _)| held == *id);
        let absent: Vec<&Id> = self.model.owners.iter().filter(absent).collect();
        let Some(id) = absent.get(self.looks % absent.len().max(1)) else { return Ok(()) };
        let tool = plain::tool(id);
        let refusal = self.world.dispatch(live.run.life(), &tool, "");
        ensure!(refusal.is_some(), "O3: {id:?} is not held by {} and would run", life.agent);
        let told = explain(&self.world, live.run.life(), &tool, None);
        ensure!(!told.held.yes && !told.offered.yes && !told.dispatched.yes, "explain: {id:?} is not held: {told:?}");
        let listed = self.model.reaches(&life.agent, &id.0);
        ensure!(listed || told.outcome == Outcome::Never, "explain: {id:?} can never be called: {:?}", told.outcome);
        let exists = self.model.built.get(&id.0).is_some_and(|build| build.iter().any(|tool| tool.name == id.1));
        let never = !listed || !exists || self.model.refused.contains(&id.0);
        let outcome = if never { Outcome::Never } else { Outcome::NotNow };
        ensure!(told.outcome == outcome, "explain: {}'s {id:?} comes to {outcome:?}: {:?}", life.agent, told.outcome);
        Ok(())
    }

    /// Invariant 7 for an agent that nobody runs: what it would hold, as far as its toolsets were built.
    fn look_at_fresh(&self, agent: &str) -> Check {
        let given = self.model.built.iter().filter(|(name, _)| !self.model.refused.contains(*name));
        let given = given.map(|(name, build)| (name.clone(), build.clone())).collect();
        let life = Plain { agent: agent.to_owned(), mode: "work".to_owned(), ..Plain::default() };
        let life = self.model.wire_up(life, &given, &[]);
        let agent = AgentName::new(agent);
        let fresh: Vec<Id> = self.world.fresh(&agent).tools().iter().map(|tool| plain::id(&tool.id)).collect();
        let expected: Vec<Id> = life.held.iter().map(|(id, _)| id.clone()).collect();
        ensure!(fresh == expected, "invariant 7: a fresh {agent} would hold {expected:?}, and {fresh:?} is said");
        self.look_at_report(&life, &report(&self.world, &agent, None, None), true)
    }

    /// Invariant 7: the report is what the life holds and a call of it carries.
    fn look_at_report(&self, life: &Plain, report: &AgentReport, fresh: bool) -> Check {
        let agent = &life.agent;
        let mut shown: BTreeSet<Id> = BTreeSet::new();
        let reached = [self.model.available(agent), self.model.skills(agent)].concat();
        let resident = self.model.resident(agent);
        for row in &report.toolsets {
            let name = row.name.as_str();
            let off = self.model.filters(life, (name, None, None));
            let off = off.iter().any(|filter| ["W1", "W2", "W3", "W4"].contains(filter));
            let resident = resident.iter().any(|resident| resident == name);
            let expected = match life.toolsets.get(name) {
                _ if reached.iter().all(|reached| reached != name) => "not available",
                _ if off => "off",
                Some(&"skill") => "resident",
                Some(arrival) => arrival,
                None if self.model.refused.contains(name) => "refused",
                None if self.model.failed.contains(name) => "failed",
                None if fresh && resident => "resident",
                None => "loadable",
            };
            let said = match &row.state {
                ToolsetState::Resident => "resident",
                ToolsetState::Preloaded => "preloaded",
                ToolsetState::Loaded => "loaded",
                ToolsetState::Loadable => "loadable",
                ToolsetState::Failed { .. } => "failed",
                ToolsetState::Refused { .. } => "refused",
                ToolsetState::Off { .. } => "off",
                ToolsetState::NotAvailable => "not available",
            };
            ensure!(said == expected, "invariant 7: '{name}' is {expected} for {agent}, and the report says {said}");
            for tool in row.tools.iter().flatten() {
                let id: Id = (name.to_owned(), tool.name.to_string());
                let (gate, gated) = (tool.gate.map(|list| list.to_string()), self.model.gated(agent, &id));
                ensure!(
                    gate.as_deref() == gated,
                    "invariant 3: {gated:?} gates {id:?} for {agent}, and the report says {gate:?}"
                );
                shown.extend(tool.offered.then_some(id));
            }
        }
        let core = report.core.iter().filter(|tool| tool.offered);
        shown.extend(core.map(|tool| ("core".to_owned(), tool.name.to_string())));
        let offered = life.held.iter().map(|(id, _)| id).filter(|id| self.model.why_not(life, id).is_none());
        let offered: BTreeSet<Id> = offered.cloned().collect();
        ensure!(shown == offered, "invariant 7: a call of {agent} carries {offered:?}, and the report says {shown:?}");
        let count = report.offered.0;
        ensure!(
            count == offered.len(),
            "invariant 7: {} tools are offered to {agent}, and {count} counted",
            offered.len()
        );
        let rows = report.toolsets.iter().filter_map(|row| row.tools.as_ref()).flatten().chain(&report.core);
        let bytes: usize = rows.filter(|row| row.offered).map(|row| row.bytes).sum();
        let said = report.offered.1;
        ensure!(bytes == said, "invariant 7: the rows of {agent} are {bytes} bytes, and {said} are said");
        let early = |id: &&Id| life.toolsets.get(&id.0) != Some(&"loaded");
        let (count, early) = (report.start_tools.0, offered.iter().filter(early).count());
        ensure!(count == early, "invariant 7: {agent} starts with {early} tools, and {count} are counted");
        Ok(())
    }

    /// Invariants 5 and 12, for everybody who has a table.
    pub(super) fn look_at_entries(&mut self) -> Check {
        let agents: Vec<String> = self.model.setup.agents.iter().map(|agent| agent.name.clone()).collect();
        agents.iter().try_for_each(|agent| self.look_at_entries_of(agent))
    }

    fn look_at_entries_of(&mut self, agent: &str) -> Check {
        let report = report(&self.world, &AgentName::new(agent), None, None);
        let pair = self.model.pairs(agent)[0].clone();
        let written: Vec<String> = pair.0.into_iter().chain(pair.1).collect();
        let lists = [("policy", written, &report.entries), ("floor", self.model.setup.floor.clone(), &report.floor)];
        for (list, written, rows) in lists {
            for entry in &written {
                let row = rows.iter().find(|row| row.entry == *entry);
                let row = row.ok_or_else(|| format!("invariant 12: '{entry}' of {agent}'s {list} is silent"))?;
                let now: BTreeSet<Id> = row.tools.iter().map(plain::id).collect();
                let before = self.resolved.entry(entry.clone()).or_default();
                let lost: Vec<&Id> = before.difference(&now).collect();
                ensure!(lost.is_empty(), "invariant 5: '{entry}' of {agent}'s {list} lost {lost:?}");
                before.extend(now.iter().cloned());
                let expected = self.model.resolved(entry);
                ensure!(now == expected, "P8: '{entry}' resolves to {expected:?}, and {now:?} is said");
                let toolset = entry.split('.').next().unwrap_or_default();
                ensure!(
                    !row.refusing || self.model.refused.contains(toolset),
                    "invariant 12: '{entry}' is said to refuse '{toolset}', which nothing refuses"
                );
                let pending = expected.is_empty();
                ensure!(
                    (row.pending || row.refusing) == pending,
                    "invariant 12: '{entry}' is pending: {pending}, and {} is said",
                    row.pending
                );
            }
            ensure!(
                rows.len() == written.len(),
                "invariant 12: {agent}'s {list} has {} entries: {rows:?}",
                written.len()
            );
        }
        Ok(())
    }
}
