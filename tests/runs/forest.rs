//! Generated histories of a whole team: whatever is spawned, said, stopped or lost, in whatever order, a turn keeps its promises.
//! What is expected comes from a plain model beside the tree: who runs, whose call waits for whom, and who is to read what.

use std::collections::{BTreeMap, BTreeSet};

use kokua::access::Answer;
use kokua::agent::{
    AgentsRequest, CallId, Effect, Ending, Event, Failure, FailureKind, Ground, Input, NodeId, Record, Retry,
    ToolChoice, ToolOutcome, Tree, TreeInput, TurnEnd, UserOrigin, replay,
};
use kokua::store::repair;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::team::{ENTRY, Setup, Team, Wanted, compose, ground, send, spawn, spawn_behind, wait_for};

#[derive(Debug, Clone)]
enum Act {
    /// Gives one thing that the driver owes; the numbers pick which, how it goes, and what a model calls.
    Oblige(u8, u8, Vec<(u8, u8)>),
    /// A person says something to somebody.
    Say(u8),
    /// A person stops one agent.
    StopAgent(u8),
    Stop,
    /// A tool that asked ends before it is answered.
    TimeOut(u8),
    /// An input that was taken comes again.
    Late(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let calls = || prop::collection::vec((any::<u8>(), any::<u8>()), 0..4);
    let act = prop_oneof![
        30 => (any::<u8>(), any::<u8>(), calls()).prop_map(|(which, how, calls)| Act::Oblige(which, how, calls)),
        3 => any::<u8>().prop_map(Act::Say),
        1 => any::<u8>().prop_map(Act::StopAgent),
        1 => any::<u8>().prop_map(Act::TimeOut),
        2 => any::<u8>().prop_map(Act::Late),
    ];
    // A stop of everything is rare, or nothing grows.
    let act = prop_oneof![60 => act, 1 => Just(Act::Stop)];
    prop::collection::vec(act, 1..90)
}

fn setups() -> impl Strategy<Value = Setup> {
    (1..6_u32, prop::bool::weighted(0.8), 0..4_u32).prop_map(|(max, together, depth)| Setup {
        max: max + 1,
        together,
        depth,
        own: None,
    })
}

/// A message as the model expects it.
#[derive(Debug)]
struct Mail {
    from: String,
    to: String,
    text: String,
    /// Whoever may read it, and with which mark.
    readers: BTreeMap<NodeId, &'static str>,
}

/// The team beside what is expected of it.
struct Forest {
    team: Team,
    /// The workers of the running turn, as they began.
    turn: Vec<NodeId>,
    /// The messages of the running turn begin here.
    mail: Vec<Mail>,
    mail_of_turn: usize,
    said: Vec<String>,
    /// Calls of `await_agents`, and whom each waits for.
    waits: BTreeMap<CallId, Vec<NodeId>>,
    /// Calls that asked the tree.
    asked: BTreeSet<CallId>,
    /// Agents that their delegator stopped, or whose answer it waited for.
    collected: BTreeSet<NodeId>,
    cursor: usize,
    counter: u32,
    reached: BTreeMap<&'static str, u32>,
}

const ADDRESSES: [&str; 9] = [
    "assistant",
    "researcher#1",
    "coder#1",
    "tester#1",
    "helper#1",
    "researcher#2",
    "everyone",
    "researcher",
    "nobody",
];

impl Forest {
    fn new(setup: Setup) -> Self {
        let mut team = Team::new(setup);
        team.prompt = false;
        Self {
            team,
            turn: Vec::new(),
            mail: Vec::new(),
            mail_of_turn: 0,
            said: Vec::new(),
            waits: BTreeMap::new(),
            asked: BTreeSet::new(),
            collected: BTreeSet::new(),
            cursor: 0,
            counter: 0,
            reached: BTreeMap::new(),
        }
    }

    fn reach(&mut self, what: &'static str) {
        *self.reached.entry(what).or_default() += 1;
    }

    // The model.

    fn running(&self, node: NodeId) -> bool {
        self.team.seen.get(&node).is_some_and(|seen| seen.open)
    }

    fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.team.seen.get(&node)?.spawned.as_ref().map(|spawned| spawned.call.node())
    }

    fn readers(&self) -> impl Iterator<Item = NodeId> {
        std::iter::once(ENTRY).chain(self.turn.iter().copied())
    }

    fn find(&self, address: &str) -> Option<NodeId> {
        self.readers().find(|node| self.team.address(*node) == address)
    }

    fn label(&self, node: NodeId) -> String {
        let address = self.team.address(node);
        address.split_once('#').map_or(String::new(), |(label, _)| label.to_owned())
    }

    fn is_named(&self, node: NodeId, to: &str) -> bool {
        to == "everyone" || self.team.address(node) == to || self.label(node) == to
    }

    /// Whether `from` cannot end before `to`.
    fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let below = self.readers().filter(|node| self.parent(*node) == Some(from) && self.running(*node));
        let awaited = self.waits.iter().filter(|(call, _)| call.node() == from).flat_map(|(_, nodes)| nodes).copied();
        from == to || below.chain(awaited).collect::<Vec<_>>().into_iter().any(|next| self.reaches(next, to))
    }

    /// What the tree is to answer at once: nothing, a text, or only whether it refuses.
    fn expect(&mut self, call: CallId, request: &AgentsRequest) -> (Option<Ending>, Option<String>) {
        let asker = call.node();
        let running = self.team.result(call).is_none() && self.running(asker);
        assert!(running, "a call that asks runs");
        match request {
            AgentsRequest::Send { to, text } => {
                let named: Vec<_> = self.readers().filter(|node| *node != asker && self.is_named(*node, to)).collect();
                let reads: Vec<_> = named.iter().copied().filter(|node| self.running(*node)).collect();
                let names: Vec<_> = reads.iter().map(|node| self.team.address(*node)).collect();
                let text_of = match (names.is_empty(), to.as_str()) {
                    (true, "everyone") => {
                        "Accepted for every agent that starts later in this turn; nobody else is running.".to_owned()
                    }
                    (true, _) => {
                        self.reach("not sent");
                        return (Some(Ending::Failed), None);
                    }
                    (false, _) => format!(
                        "Accepted for {}. Delivered to whichever of them reads it next, if any of them do.",
                        names.join(", ")
                    ),
                };
                self.reach("sent");
                let (from, to, text) = (self.team.address(asker), to.clone(), text.clone());
                let readers = reads.into_iter().map(|node| (node, "")).collect();
                self.mail.push(Mail { from, to, text, readers });
                (Some(Ending::Ok), Some(text_of))
            }
            AgentsRequest::Await { addresses } => {
                let nodes: Option<Vec<_>> = addresses.iter().map(|address| self.find(address)).collect();
                let refused = nodes
                    .as_ref()
                    .is_none_or(|nodes| nodes.is_empty() || nodes.iter().any(|node| self.reaches(*node, asker)));
                if refused {
                    self.reach("wait refused");
                    return (Some(Ending::Failed), None);
                }
                let nodes = nodes.unwrap_or_default();
                let over = nodes.iter().all(|node| !self.running(*node));
                self.reach(if over { "wait over" } else { "wait" });
                let own: Vec<_> = nodes.iter().copied().filter(|node| self.parent(*node) == Some(asker)).collect();
                self.collected.extend(own);
                if !over {
                    self.waits.insert(call, nodes);
                }
                (over.then_some(Ending::Ok), None)
            }
            AgentsRequest::Stop { address } => {
                let node = self.find(address);
                let above = |mut node: NodeId| {
                    while let Some(parent) = self.parent(node) {
                        if parent == asker {
                            return true;
                        }
                        node = parent;
                    }
                    false
                };
                let may = node.is_some_and(|node| above(node) && self.running(node));
                if let Some(node) = node.filter(|node| may && self.parent(*node) == Some(asker)) {
                    self.collected.insert(node);
                }
                self.reach(if may { "stopped by another" } else { "stop refused" });
                (Some(if may { Ending::Ok } else { Ending::Failed }), None)
            }
            AgentsRequest::Check { address } => {
                let known = self.find(address).is_some_and(|node| node != asker);
                (Some(if known { Ending::Ok } else { Ending::Failed }), None)
            }
            AgentsRequest::List | AgentsRequest::Capabilities { .. } => (Some(Ending::Ok), None),
            AgentsRequest::Compose { .. } => {
                let mut levels = self.team.setup.depth;
                let mut node = asker;
                while let Some(spawned) = self.team.seen[&node].spawned.clone().filter(|one| !one.toolsets.is_empty()) {
                    levels = levels.saturating_sub(1);
                    node = spawned.call.node();
                }
                if levels == 0 { (Some(Ending::Failed), None) } else { (None, None) }
            }
        }
    }

    /// Takes in what the last input brought, and compares.
    fn compare(&mut self) {
        while let Some(record) = self.team.records.get(self.cursor).cloned() {
            self.cursor += 1;
            match record.whose() {
                (ENTRY, Record::TurnStarted { .. }) => {
                    self.turn.clear();
                    self.waits.clear();
                    self.mail_of_turn = self.mail.len();
                }
                (node, Record::Spawned(spawned)) => {
                    self.turn.push(node);
                    let label = self.label(node);
                    let before = &mut self.mail[self.mail_of_turn..];
                    for mail in before.iter_mut().filter(|mail| mail.to == "everyone" || mail.to == label) {
                        mail.readers.insert(node, ", sent before you started");
                    }
                    self.reach(match (spawned.ground, spawned.toolsets.is_empty()) {
                        (Ground::Background, _) => "in the background",
                        (Ground::Foreground, true) => "in the foreground",
                        (Ground::Foreground, false) if spawned.call.node().is_entry() => "composed",
                        (Ground::Foreground, false) => "composed below another",
                    });
                }
                _ => {}
            }
        }
        let answered = |call: CallId| {
            self.team.open.iter().any(|wanted| matches!(wanted, Wanted::Ending(id, _) if *id == call))
                || self.team.result(call).is_some()
        };
        // Whose call waits for whom: it has its answer exactly when all that it waits for have ended.
        for (node, seen) in self.team.seen.iter().filter(|(node, _)| self.turn.contains(node)) {
            let call = seen.spawned.as_ref().unwrap().call;
            if ground(seen) == Ground::Foreground {
                assert_eq!(answered(call), !seen.open, "the call of {node} waits for it");
            } else {
                assert!(answered(call), "the call of {node} ended with its address");
            }
            assert!(!seen.open || self.running(call.node()), "{node} runs and its delegator does not");
        }
        let gone = |call: &CallId| self.team.result(*call).is_some() || !self.running(call.node());
        let waits: BTreeMap<_, _> = self.waits.iter().filter(|(call, _)| !gone(call)).collect();
        for (call, nodes) in &waits {
            let over = nodes.iter().all(|node| !self.running(*node));
            assert_eq!(answered(**call), over, "{call} waits for {nodes:?}");
        }
        self.waits = waits.into_iter().map(|(call, nodes)| (*call, nodes.clone())).collect();
    }

    // The driver.

    fn act(&mut self, act: Act) {
        match act {
            Act::Oblige(which, how, calls) => {
                if !self.team.tree.is_running() {
                    self.say(ENTRY);
                } else if !self.team.open.is_empty() {
                    let wanted = self.team.open[usize::from(which) % self.team.open.len()].clone();
                    self.oblige(wanted, how, &calls);
                }
            }
            Act::Say(which) => {
                let nodes: Vec<_> = self.team.seen.keys().copied().collect();
                self.say(nodes[usize::from(which) % nodes.len()]);
            }
            Act::StopAgent(which) => {
                let node = NodeId(u32::from(which) % (self.team.seen.len() as u32 + 1));
                self.team.step(TreeInput::StopAgent { node });
            }
            Act::Stop => self.team.stop(),
            Act::TimeOut(which) => {
                let open: Vec<_> = self.asked.iter().filter(|call| self.team.result(**call).is_none()).collect();
                if let Some(call) = open.get(usize::from(which) % open.len().max(1)) {
                    let call = **call;
                    self.reach("timed out");
                    let outcome = ToolOutcome { ending: Ending::TimedOut, text: "late".to_owned(), note: None };
                    self.team.tool_ended(call, outcome);
                }
            }
            Act::Late(which) => {
                let len = self.team.past.len().max(1);
                let late = self.team.past.get(usize::from(which) % len).cloned();
                // One call may ask twice; one that has ended asks for nothing.
                let asks_on = |input: &TreeInput| matches!(input, TreeInput::Requested { call, .. } if self.team.result(*call).is_none());
                if let Some(late) = late.filter(|late| !asks_on(late)) {
                    self.team.step(late.clone());
                    assert_eq!(self.team.effects, [], "an input that nothing waits for changes nothing: {late:?}");
                }
            }
        }
        self.compare();
    }

    fn say(&mut self, node: NodeId) {
        self.counter += 1;
        let text = format!("p{}.", self.counter);
        self.said.push(text.clone());
        self.team.say(node, &text);
    }

    fn oblige(&mut self, wanted: Wanted, how: u8, calls: &[(u8, u8)]) {
        match wanted {
            Wanted::Model(node) => self.model(node, how, calls),
            Wanted::Card(ask) => {
                let answer = match how % 3 {
                    0 => Answer::AllowedOnce,
                    1 => Answer::Denied,
                    _ => Answer::Expired,
                };
                self.team.card(ask.call, answer);
            }
            Wanted::Tool(call, _) => {
                let ending = if how.is_multiple_of(3) { Ending::Failed } else { Ending::Ok };
                self.team.tool_ended(call, ToolOutcome { ending, text: "out".to_owned(), note: None });
            }
            Wanted::Wire(wiring) if how.is_multiple_of(9) => {
                self.team.open.retain(|open| open.call() != Some(wiring.call));
                self.team.step(TreeInput::Wired { call: wiring.call, worker: Err("no disk".to_owned()) });
                self.reach("not wired");
            }
            Wanted::Wire(wiring) if how.is_multiple_of(13) && !wiring.agent.as_str().starts_with("composed:") => {
                self.team.run(wiring.call.node(), Input::KeptBack { call: wiring.call, why: "full".to_owned() });
            }
            Wanted::Asking(call, request) => {
                let (ending, text) = self.expect(call, &request);
                self.asked.insert(call);
                let spawns = matches!(request, AgentsRequest::Compose { .. });
                self.team.oblige(Wanted::Asking(call, request.clone()));
                let reply = self.team.open.iter().find_map(|wanted| match wanted {
                    Wanted::Ending(id, outcome) if *id == call => Some(outcome.clone()),
                    _ => None,
                });
                let wires = self.team.open.iter().any(|w| matches!(w, Wanted::Wire(wiring) if wiring.call == call));
                // What cannot be composed is told at once too, whatever the depth.
                if !(spawns && ending.is_none() && !wires) {
                    assert_eq!(reply.as_ref().map(|reply| reply.ending.clone()), ending, "{request:?}: {reply:?}");
                }
                if let (Some(text), Some(reply)) = (text, reply) {
                    assert_eq!(reply.text, text);
                }
            }
            wanted @ (Wanted::Retry(_) | Wanted::Wire(_) | Wanted::Ending(..)) => self.team.oblige(wanted),
        }
    }

    fn model(&mut self, node: NodeId, how: u8, calls: &[(u8, u8)]) {
        let none = self.team.requests[&node].tool_choice == ToolChoice::None;
        let failure = |kind, retry| Failure { kind, message: "no".to_owned(), hint: None, retry };
        match how % 16 {
            0 => self.team.model(node, "said", &[], Err(failure(FailureKind::Cut, Retry::Never))),
            1 => self.team.model(node, "", &[], Err(failure(FailureKind::ContextOverflow, Retry::Never))),
            2 => self.team.model(node, "void", &[], Err(failure(FailureKind::Cut, Retry::Backoff { at_least_ms: 1 }))),
            3 => self.team.answers(node, ""),
            4 => self.team.answers(node, &"long ".repeat(1_000)),
            5..=7 => self.team.answers(node, "done"),
            _ if calls.is_empty() || none => self.team.answers(node, "done"),
            _ => {
                let calls: Vec<_> = calls.iter().map(|(what, whom)| self.call(*what, *whom)).collect();
                self.team.calls(node, &calls);
            }
        }
    }

    fn call(&mut self, what: u8, whom: u8) -> (&'static str, Value) {
        let agent = ["researcher", "coder", "tester"][usize::from(whom) % 3];
        let to = ADDRESSES[usize::from(whom) % ADDRESSES.len()];
        match what % 16 {
            0..=2 => spawn(agent),
            3..=5 => spawn_behind(agent),
            6 | 7 => compose("helper", &["fs", "messaging"]),
            8 | 9 => {
                self.counter += 1;
                send(to, &format!("m{}.", self.counter))
            }
            10 => wait_for(&[to]),
            11 => wait_for(&[to, ADDRESSES[usize::from(what / 16) % ADDRESSES.len()]]),
            12 => ("stop_agent", json!({"address": to})),
            13 => ("check_agent", json!({"address": to})),
            14 => ("run_command", json!({"command": "ls"})),
            _ => ("read_file", json!({"path": "a"})),
        }
    }

    /// Gives everything that is owed, in the order it came, and lets every model answer.
    fn drain(&mut self) {
        for step in 0.. {
            let Some(wanted) = self.team.open.first().cloned() else { break };
            assert!(step < 20_000, "it never ends: {wanted:?}");
            match wanted {
                Wanted::Model(node) => self.team.answers(node, "done"),
                // Neither refused nor failed.
                wanted => self.oblige(wanted, 1, &[]),
            }
            self.compare();
        }
        let left: Vec<_> = self.team.tree.runs().map(|(node, run)| (node, run.is_running())).collect();
        assert!(!self.team.tree.is_running(), "nothing is owed and the turn is open: {left:?}, waits {:?}", self.waits);
        self.fates();
    }

    /// What became of each message, of a person and of an agent, once everything has ended.
    fn fates(&mut self) {
        let mut turn = 0;
        let mut words: Vec<(NodeId, u32, UserOrigin, String)> = Vec::new();
        let mut lost: Vec<(String, String, String)> = Vec::new();
        let mut ends: BTreeMap<(NodeId, u32), (TurnEnd, u32)> = BTreeMap::new();
        let mut calls: BTreeMap<NodeId, u32> = BTreeMap::new();
        for record in &self.team.records {
            let (node, record) = record.whose();
            match record {
                Record::TurnStarted { message, .. } | Record::Said { message, .. } => {
                    if node.is_entry() && matches!(record, Record::TurnStarted { .. }) {
                        turn += 1;
                        calls.clear();
                    }
                    words.push((node, turn, message.origin, message.text.clone()));
                }
                Record::ModelCall { .. } => *calls.entry(node).or_default() += 1,
                Record::TurnEnded { end, .. } => {
                    ends.insert((node, turn), (end.clone(), calls.get(&node).copied().unwrap_or(0)));
                }
                Record::Undelivered { from, to, text, .. } => lost.push((from.clone(), to.clone(), text.clone())),
                _ => {}
            }
        }
        let alerts: Vec<_> = self.team.alerts().into_iter().map(|(_, text)| text.to_owned()).collect();
        for said in &self.said {
            let read = words.iter().filter(|(_, _, origin, text)| *origin == UserOrigin::Person && text.contains(said));
            let told = alerts.iter().filter(|text| text.contains("not delivered") && text.contains(said));
            let (read, told) = (read.count(), told.count());
            assert_eq!(read + told, 1, "{said} was read {read} times and told undelivered {told} times");
        }
        let max = self.team.setup.max;
        // One that ended by itself read what it was sent, as long as its turn could be extended.
        let excused = |node: NodeId, turn: u32| {
            let (end, calls) = &ends[&(node, turn)];
            !matches!(end, TurnEnd::Answered | TurnEnd::WrappedUp) || *calls >= max
        };
        let turn_of = |node: NodeId| words.iter().find(|word| word.0 == node).map_or(0, |word| word.1);
        let mut reached = Vec::new();
        for mail in &self.mail {
            let read: Vec<_> =
                words.iter().filter(|(_, _, _, text)| text.ends_with(&format!("] {}", mail.text))).collect();
            let mut once = BTreeSet::new();
            for (node, _, origin, text) in &read {
                let mark = mail.readers.get(node).unwrap_or_else(|| panic!("{node} was not sent {mail:?}"));
                assert_eq!((*text).clone(), format!("[message from {}{mark}] {}", mail.from, mail.text));
                assert_eq!(*origin, UserOrigin::Agent);
                assert!(once.insert(*node), "{node} read twice {mail:?}");
            }
            let unread = lost.iter().filter(|(_, _, text)| *text == mail.text).count();
            assert_eq!(unread, usize::from(read.is_empty()), "what nobody read is told once: {mail:?}");
            reached.push(if read.is_empty() { "unread" } else { "read" });
            for node in mail.readers.keys().filter(|node| !node.is_entry() && !once.contains(node)) {
                assert!(excused(*node, turn_of(*node)), "{node} ended and has not read {mail:?}");
            }
        }
        for (node, seen) in &self.team.seen {
            let Some(spawned) = seen.spawned.as_ref().filter(|one| one.ground == Ground::Background) else { continue };
            let (parent, turn) = (spawned.call.node(), turn_of(*node));
            let mark = format!("[message from {}] ", spawned.address);
            let told = words.iter().filter(|(of, at, _, text)| {
                let own = text.strip_prefix(&mark).is_some_and(|rest| !rest.starts_with('m'));
                *of == parent && *at == turn && own
            });
            let told = told.count();
            assert!(told <= 1, "{} told of its end {told} times", spawned.address);
            let expected = self.collected.contains(node) || excused(parent, turn);
            assert!(told == 1 || expected, "{parent} never heard of the end of {}", spawned.address);
            reached.push(if told == 1 { "told of its end" } else { "its end was read otherwise" });
        }
        for (end, _) in ends.iter().map(|((node, _), (end, _))| (end, node)) {
            reached.push(match end {
                TurnEnd::Answered => "answered",
                TurnEnd::WrappedUp => "wrapped up",
                TurnEnd::Stopped => "stopped",
                TurnEnd::Failed { .. } => "failed",
                TurnEnd::Interrupted => "interrupted",
            });
        }
        let kept = self.team.events.iter().any(
            |(_, event)| matches!(event, Event::ToolResult { text, .. } if text.contains("[This is the beginning.")),
        );
        reached.extend(kept.then_some("kept"));
        for what in reached {
            self.reach(what);
        }
    }

    /// The program was killed after `cut` records: mended, each agent has its end, those above last, and numbers go on.
    fn killed_after(&self, cut: usize) {
        let mut records = self.team.records[..cut.min(self.team.records.len())].to_vec();
        let kept = records.len();
        records.extend(repair(&records));
        assert_eq!(repair(&records), [], "what is mended needs no mending");
        let mut open: BTreeMap<NodeId, CallId> = BTreeMap::new();
        let mut calls: BTreeMap<CallId, u32> = BTreeMap::new();
        for (place, record) in records.iter().enumerate() {
            let (node, own) = record.whose();
            assert!(place < kept || !matches!(own, Record::Worker { .. }), "wrapped once");
            match own {
                Record::Spawned(spawned) => {
                    open.insert(node, spawned.call);
                }
                Record::TurnStarted { .. } if node.is_entry() => {
                    open.insert(node, CallId(0));
                }
                Record::TurnEnded { .. } => {
                    open.remove(&node).expect("it was open");
                    let below = open.iter().find(|(of, call)| !of.is_entry() && call.node() == node);
                    assert_eq!(below, None, "nobody below {node} runs when it ends");
                }
                Record::ModelCall { message, .. } => calls.extend(message.calls().map(|call| (call.id, 0))),
                Record::CallEnded { call, .. } => *calls.get_mut(call).expect("recorded") += 1,
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(calls.values().all(|endings| *endings == 1), "{calls:?}");
        replay(&records);
        let highest = records.iter().map(|record| record.whose().0).max().unwrap_or(ENTRY);
        let mut again = Team::new(self.team.setup.clone());
        again.records = records;
        again.reopen();
        let effects =
            |tree: &mut Tree, world: &mut _, input| tree.step(kokua::agent::Moment { now: 0, random: 0 }, world, input);
        let said =
            Input::Said { text: "go on".to_owned(), attendance: kokua::access::Attendance::Attended, only: None };
        let mut run = |input| effects(&mut again.tree, &mut again.world, TreeInput::Run { node: ENTRY, input });
        run(said);
        let (index, id) = (0, String::new());
        let (name, arguments) = spawn("researcher");
        run(Input::Delta(kokua::agent::Delta::CallStart { index, id, name: name.to_owned() }));
        run(Input::Delta(kokua::agent::Delta::CallArguments { index, text: arguments.to_string() }));
        let checks = run(Input::ModelEnded(Ok(())));
        let call = checks.iter().find_map(|(_, effect)| match effect {
            Effect::Check { call, .. } => Some(*call),
            _ => None,
        });
        let call = call.expect("a new call");
        assert!(calls.keys().filter(|old| old.node().is_entry()).all(|old| *old < call), "{call} was used");
        let wires = run(Input::Checked { call, arguments: Ok(arguments) });
        let wiring = wires.into_iter().find_map(|(_, effect)| match effect {
            Effect::Spawn(wiring) => Some(wiring),
            _ => None,
        });
        let worker = again.wire(&wiring.expect("a worker")).map(Box::new);
        let born = effects(&mut again.tree, &mut again.world, TreeInput::Wired { call, worker });
        let born = born
            .into_iter()
            .find_map(|(node, effect)| matches!(effect, Effect::Tell(Event::Spawned(_))).then_some(node));
        assert!(born.is_some_and(|node| node > highest), "{born:?} after {highest}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_team_keeps_its_promises(setup in setups(), acts in acts(), cut: prop::sample::Index) {
        let mut forest = Forest::new(setup);
        for act in acts {
            forest.act(act);
        }
        forest.drain();
        forest.killed_after(cut.index(forest.team.records.len() + 1));
    }
}

/// The promises above are worth as much as the corners that their histories reach.
#[test]
fn the_generated_histories_of_teams_reach_every_corner() {
    let mut runner = TestRunner::deterministic();
    let strategy = (setups(), acts());
    let mut reached = BTreeMap::<&str, u32>::new();
    for _ in 0..300 {
        let (setup, acts) = strategy.new_tree(&mut runner).unwrap().current();
        let mut forest = Forest::new(setup);
        for act in acts {
            forest.act(act);
        }
        forest.drain();
        for (what, count) in forest.reached {
            *reached.entry(what).or_default() += count;
        }
    }
    let missing: Vec<_> = [
        "in the background",
        "in the foreground",
        "composed",
        "composed below another",
        "not wired",
        "sent",
        "not sent",
        "read",
        "unread",
        "wait",
        "wait over",
        "wait refused",
        "stopped by another",
        "stop refused",
        "timed out",
        "told of its end",
        "its end was read otherwise",
        "answered",
        "wrapped up",
        "stopped",
        "failed",
        "kept",
    ]
    .into_iter()
    .filter(|what| !reached.contains_key(*what))
    .collect();
    assert_eq!(missing, Vec::<&str>::new(), "reached: {reached:#?}");
}
