//! Whole turns: a model's calls, the answers to their cards, what happens meanwhile, and every way they end.

use std::collections::BTreeSet;

use serde_json::json;

use super::compare::Seen;
use super::drive::{CONVERSATIONS, Check, House, ensure, has_link, noted_mode, one_result_per_call, task};
use super::generate::{Call, Happening, Reply, Turn, Wants};
use super::model::{self, Grant, Id, Offered};
use super::plain;
use crate::access::*;
use crate::agent::*;

impl House {
    /// A whole turn of one life.
    pub(super) fn turn(&mut self, place: usize, turn: &Turn) -> Check {
        let worker = place >= CONVERSATIONS.len();
        let names = |only: &BTreeSet<&'static str>| only.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let only = turn.only.as_ref().filter(|_| !worker).map(names);
        let attendance = if turn.attended { Attendance::Attended } else { Attendance::Unattended };
        let declared = only.clone().map(|names| names.into_iter().map(ToolName::new).collect());
        {
            let life = &mut self.lives[place].model;
            // Its last three messages are asked for a link; here every message is told apart by its turn.
            if let Some(names) = only {
                life.allow = Some((names, life.held.len()));
            }
        }
        let text = task(turn.link).to_owned();
        self.step(place, Input::Said { text, attendance, only: declared });
        if let Some(modes) = self.modes.get(place) {
            let (noted, mode) = (noted_mode(modes), &self.lives[place].model.mode);
            ensure!(noted == mode, "W3: the log says mode '{noted}' of a turn in '{mode}'");
        }
        for round in &turn.rounds {
            if !self.round(place, round, turn.attended)? {
                break;
            }
        }
        if self.lives[place].run.is_running() {
            self.request(place)?;
            self.step(place, Input::Delta(Delta::Text { text: "Done.".to_owned() }));
            self.step(place, Input::ModelEnded(Ok(())));
        }
        let live = &mut self.lives[place];
        ensure!(!live.run.is_running(), "a turn that answered is still open");
        live.model.allow = live.model.allow.take().filter(|_| worker);
        one_result_per_call(&live.records, "a turn that ended")?;
        self.look(place)
    }

    /// What one model call carries: the offer, and a result for every call.
    fn request(&mut self, place: usize) -> Check {
        self.lives[place].model.link = has_link(&self.lives[place].records);
        let request = self.lives[place].request.take().ok_or("a turn that goes on calls no model")?;
        let live = &self.lives[place];
        let mut offered: Vec<&str> = request.tools.iter().map(|tool| tool.wire.as_str()).collect();
        let held: Vec<&str> = live.run.held().tools().iter().map(|tool| tool.wire.as_str()).collect();
        let mut rest = held.iter();
        ensure!(
            offered.iter().all(|wire| rest.any(|held| held == wire)),
            "invariant 2: the offer {offered:?} is no subsequence of what is held, {held:?}"
        );
        for (id, _) in &live.model.held {
            let (wire, why) = (self.wire_of(id), self.model.why_not(&live.model, id));
            let carried = offered.contains(&wire.as_str());
            ensure!(carried == why.is_none(), "O2: {id:?} is offered: {carried}; withheld by {why:?}");
            offered.retain(|offered| *offered != wire);
        }
        ensure!(offered.is_empty(), "O2: {offered:?} is offered and not held");
        let results = |id: CallId| {
            request
                .messages
                .iter()
                .filter(|message| matches!(message, Message::Result(result) if result.call == id))
                .count()
        };
        for message in &request.messages {
            let Message::Assistant(message) = message else { continue };
            for call in message.calls() {
                ensure!(
                    results(call.id) == 1,
                    "invariant 8: {} has {} results in a request",
                    call.id,
                    results(call.id)
                );
            }
        }
        Ok(())
    }

    fn wire_of(&self, id: &Id) -> String {
        self.wires.get(id).cloned().unwrap_or_else(|| model::wire(id))
    }

    /// The wire name and arguments of a call.
    fn words(&self, place: usize, call: &Call) -> (String, serde_json::Value) {
        let live = &self.lives[place];
        let load = |name: String| ("load_tools".to_owned(), json!({"name": name}));
        let deferred = self.model.deferred(&live.model.agent);
        let plain = if call.other { json!({"a": 1}) } else { json!({}) };
        match call.wants {
            Wants::Held(pick) if !live.model.held.is_empty() => {
                let (id, _) = &live.model.held[pick % live.model.held.len()];
                match id.1.as_str() {
                    "load_tools" if !deferred.is_empty() => load(deferred[pick % deferred.len()].clone()),
                    _ => (self.wire_of(id), plain),
                }
            }
            Wants::Held(_) => ("nothing".to_owned(), plain),
            Wants::Word(word) => (word.to_owned(), plain),
            Wants::Load(pick) if !deferred.is_empty() => load(deferred[pick % deferred.len()].clone()),
            Wants::Load(pick) => load(self.installed(pick)),
            Wants::LoadAny(0) => load("nowhere".to_owned()),
            Wants::LoadAny(pick) => load(self.installed(pick)),
            Wants::List => ("available_tools".to_owned(), json!({})),
        }
    }

    /// One round. Whether the turn goes on.
    fn round(&mut self, place: usize, calls: &[Call], attended: bool) -> Result<bool, String> {
        self.request(place)?;
        let said: Vec<(String, serde_json::Value)> = calls.iter().map(|call| self.words(place, call)).collect();
        for (index, (wire, arguments)) in said.iter().enumerate() {
            let start = Delta::CallStart { index, id: String::new(), name: wire.clone() };
            self.step(place, Input::Delta(start));
            self.step(place, Input::Delta(Delta::CallArguments { index, text: arguments.to_string() }));
        }
        self.step(place, Input::ModelEnded(Ok(())));
        let made = self.lives[place].records.iter().rev().find_map(|record| match record {
            Record::ModelCall { message, .. } => Some(message.calls().map(|call| call.id).collect::<Vec<_>>()),
            _ => None,
        });
        let made = made.unwrap_or_default();
        let mut states: Vec<Seen> = Vec::new();
        for (index, (wire, arguments)) in said.iter().enumerate() {
            let held = self.lives[place].model.held.iter().find(|(id, _)| self.wire_of(id) == *wire).cloned();
            let Some(held) = held else {
                self.expect(place, made[index], &Seen::Unknown)?;
                states.push(Seen::Unknown);
                continue;
            };
            let call = self.grant_of(place, &held, arguments);
            let expected = self.gate(place, &call, attended, &states, &said);
            self.step(place, Input::Checked { call: made[index], arguments: Ok(arguments.clone()) });
            self.ran(place, made[index], &held.0)?;
            self.expect(place, made[index], &expected)?;
            states.push(expected);
        }
        // Every call goes on by one step before any goes on by two, so that what one waits for can meet what another does.
        while states.iter().any(Seen::is_open) {
            ensure!(states.iter().any(Seen::leads), "R9: calls wait for a build that nobody leads: {states:?}");
            for index in 0..calls.len() {
                if !states[index].leads() {
                    continue;
                }
                if let Some(happening) = &calls[index].meanwhile {
                    self.happens_within(place, happening)?;
                }
                if !self.go_on(place, index, calls, &made, &said, &mut states)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn happens_within(&mut self, place: usize, happening: &Happening) -> Check {
        // A conversation that a turn is open in is neither evicted nor cut; workers may come and work.
        self.happens(happening, &[place])?;
        self.looks += 1;
        self.look(place)?;
        self.look(self.looks % self.lives.len())
    }

    fn grant_of(&self, place: usize, (id, held): &(Id, Offered), arguments: &serde_json::Value) -> Grant {
        let live = &self.lives[place];
        (live.conversation.clone(), live.model.agent.clone(), id.clone(), held.version, canonical(arguments))
    }

    /// What must come of a call that is checked now (P1).
    fn gate(
        &self,
        place: usize,
        call: &Grant,
        attended: bool,
        states: &[Seen],
        said: &[(String, serde_json::Value)],
    ) -> Seen {
        let life = &self.lives[place].model;
        if self.model.why_not(life, &call.2).is_some() {
            return Seen::Refused;
        }
        match self.model.verdict(life, call, attended, "on screen", false) {
            "ask" | "review" => Seen::Asked { grantable: self.model.grantable(&life.agent, &call.2) },
            "auto-denied" => Seen::Denied,
            _ => self.start_of(place, call, states, said),
        }
    }

    /// What must come of a call that is dispatched now.
    fn start_of(&self, place: usize, call: &Grant, states: &[Seen], said: &[(String, serde_json::Value)]) -> Seen {
        let life = &self.lives[place].model;
        if self.model.why_not(life, &call.2).is_some() {
            return Seen::Refused;
        }
        match (call.2.0.as_str(), call.2.1.as_str()) {
            ("core", "available_tools") => Seen::Ok,
            ("core", _) => {
                let arguments: serde_json::Value = serde_json::from_str(&call.4).unwrap_or_default();
                let name = arguments["name"].as_str().unwrap_or_default();
                let loading = |(state, (_, other)): (&Seen, &(String, serde_json::Value))| {
                    *state == Seen::Loading && other["name"].as_str() == Some(name)
                };
                if life.toolsets.contains_key(name) {
                    Seen::Ok
                } else if !self.model.may_load(life, name) {
                    Seen::Failed
                } else if states.iter().zip(said).any(loading) {
                    Seen::Joining
                } else {
                    Seen::Loading
                }
            }
            _ => Seen::Running,
        }
    }

    /// One open call goes on: it is answered, its tool ends, its build ends, or the turn is stopped. Whether the turn goes on.
    fn go_on(
        &mut self,
        place: usize,
        index: usize,
        calls: &[Call],
        made: &[CallId],
        said: &[(String, serde_json::Value)],
        states: &mut [Seen],
    ) -> Result<bool, String> {
        let (id, reply, state) = (made[index], calls[index].answer, states[index].clone());
        if matches!(reply, Reply::Stop | Reply::Leave) {
            let loading = (0..states.len()).filter(|at| states[*at] == Seen::Loading);
            let late: Vec<String> = loading.filter_map(|at| said[at].1["name"].as_str().map(str::to_owned)).collect();
            self.step(place, if reply == Reply::Stop { Input::Stop } else { Input::Leave });
            for (at, state) in states.iter().enumerate().filter(|(_, state)| state.is_open()) {
                let ended = self.seen(place, made[at]);
                ensure!(
                    ended == Seen::Interrupted,
                    "invariant 8: {} was {state:?} at a stop and is {ended:?}",
                    made[at]
                );
            }
            // R9: the build still ends, before the hook, and is held by nobody.
            for name in late {
                self.build(&name)?;
            }
            return Ok(false);
        }
        let held = self.lives[place].model.held.iter().find(|(id, _)| self.wire_of(id) == said[index].0).cloned();
        let Some(held) = held else { return Err(format!("R7: {id} lost its tool")) };
        match state {
            Seen::Asked { grantable } => {
                let call = self.grant_of(place, &held, &said[index].1);
                let (answer, allows) = plain::answer(reply);
                let expected = if allows { self.start_of(place, &call, states, said) } else { Seen::Denied };
                self.step(place, Input::Answered { call: id, answer });
                self.ran(place, id, &held.0)?;
                self.grant(place, &call, grantable && reply == Reply::AllowForConversation)?;
                self.expect(place, id, &expected)?;
                states[index] = expected;
            }
            Seen::Running => {
                let outcome = ToolOutcome { ending: Ending::Ok, text: "done".to_owned(), note: None };
                self.step(place, Input::ToolEnded { call: id, outcome });
                self.expect(place, id, &Seen::Ok)?;
                states[index] = Seen::Ok;
            }
            Seen::Loading => {
                let name = said[index].1["name"].as_str().unwrap_or_default().to_owned();
                let built = self.build(&name)?;
                let ending = if built.is_some() { Seen::Loaded(name.clone()) } else { Seen::Failed };
                if built.is_some() {
                    let build = self.builds[&name].clone();
                    self.model.hold(&mut self.lives[place].model, &name, "loaded", &build);
                }
                let (before, result) = (self.lives[place].records.len(), built.ok_or_else(|| "it broke".to_owned()));
                self.step(place, Input::LoadEnded { call: id, result });
                if let (Some(log), Seen::Loaded(_)) = (self.loads.get_mut(place), &ending) {
                    log.push((name.clone(), before));
                }
                self.look(place)?;
                self.expect(place, id, &ending)?;
                states[index] = ending.clone();
                for at in 0..states.len() {
                    if states[at] == Seen::Joining && said[at].1["name"].as_str() == Some(&name) {
                        let joined = if ending == Seen::Failed { Seen::Failed } else { Seen::Ok };
                        self.expect(place, made[at], &joined)?;
                        states[at] = joined;
                    }
                }
            }
            other => return Err(format!("R9: {id} is {other:?} and nothing leads it on")),
        }
        Ok(true)
    }

    /// P16: what the run asks to be granted is granted, on both sides.
    fn grant(&mut self, place: usize, call: &Grant, expected: bool) -> Check {
        let asked = self.lives[place].effects.iter().find_map(|effect| match effect {
            Effect::Grant { tool, arguments, .. } => Some((tool.clone(), arguments.clone())),
            _ => None,
        });
        ensure!(asked.is_some() == expected, "P16: a grant of {call:?} should be {expected}: {asked:?}");
        let Some((tool, arguments)) = asked else { return Ok(()) };
        let live = &self.lives[place];
        let held = live.run.held().get(&tool).cloned().ok_or("P16: a grant for what is not held")?;
        let (conversation, agent) = (&live.conversation, live.run.agent());
        let facts = CallFacts::on_screen(conversation, agent, &held, &arguments, Attendance::Attended);
        let given = self.world.grant(facts);
        let may = self.model.grantable(&call.1, &call.2);
        ensure!(given.is_ok() == may, "invariant 10: a grant of {call:?} should be {may}: {given:?}");
        if may && !self.model.grants.contains(call) {
            self.model.grants.push(call.clone());
        }
        Ok(())
    }
}
