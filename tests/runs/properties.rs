//! Generated histories: whatever comes, however late, doubled or out of place, a run keeps its promises.

use std::collections::{BTreeMap, BTreeSet};

use kokua::access::audit::{Outcome, What};
use kokua::access::{Answer, Attendance, CallFacts, GateList, Risk, Sight, Span, Spanned, ToolId, World};
use kokua::agent::{
    CallId, CallKind, Delta, Effect, Ending, Event, Failure, FailureKind, Input, Message, Moment, Opaque, Record,
    Request, Retry, Run, StopReason, ToolOutcome, Usage, UserOrigin, replay,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, json};

use crate::house;

/// Everything that asks first in these histories.
const GATES: [&str; 2] = ["core.load_tools", "documents"];

#[derive(Debug, Clone)]
enum Act {
    /// Gives one thing that the run waits for what it waits for; the number picks which, and how it goes.
    Oblige(u8, u8),
    /// Any input at all.
    Any(Input),
    /// A person's switch.
    Switch(u8),
    /// The program ends and starts again.
    Reopen,
}

/// What the run waits for.
#[derive(Debug, Clone)]
enum Wanted {
    Model,
    Retry,
    Check(CallId, serde_json::Value),
    Answer(CallId),
    Tool(CallId),
    Load(CallId, String),
}

impl Wanted {
    fn call(&self) -> Option<CallId> {
        match self {
            Self::Model | Self::Retry => None,
            Self::Check(call, _) | Self::Answer(call) | Self::Tool(call) | Self::Load(call, _) => Some(*call),
        }
    }
}

fn call_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "read_file",
        "run_command",
        "erase_disk",
        "load_tools",
        "load_tools",
        "available_tools",
        "save_document",
        "todo",
        "nothing",
        "core.load_tools",
        "",
    ])
}

fn call_arguments() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{}",
        "",
        "{\"name\":\"documents\"}",
        "{\"name\":\"todo\"}",
        "{\"name\":\"todo\"}",
        "{\"name\":\"bare\"}",
        "{\"a\":1,\"b\":{\"d\":2,\"c\":3}}",
        "{\"name\":",
        "[]",
        "null",
        "{\"path\":\"a\"}",
    ])
}

fn deltas() -> impl Strategy<Value = Vec<Delta>> {
    let opaque = || Opaque { wire: "w".to_owned(), fields: Map::new() };
    let piece = prop_oneof![
        3 => prop::sample::select(vec!["", " ", "word", "two words\n"]).prop_map(|text| vec![Delta::Text { text: text.to_owned() }]),
        1 => prop::sample::select(vec!["", "hm"]).prop_map(|text| vec![Delta::Reasoning { text: text.to_owned() }]),
        1 => Just(vec![Delta::ReasoningData { opaque: opaque() }]),
        6 => (0..4_usize, call_name(), call_arguments()).prop_map(|(index, name, arguments)| vec![
            Delta::CallStart { index, id: String::new(), name: name.to_owned() },
            Delta::CallArguments { index, text: arguments.to_owned() },
        ]),
        1 => (0..5_usize).prop_map(move |index| vec![Delta::CallData { index, opaque: opaque() }]),
        1 => (0..9_u64).prop_map(|count| vec![Delta::Usage { usage: Usage { input: Some(count), output: None, cached: None } }]),
        1 => prop::sample::select(vec![StopReason::Length, StopReason::Refusal(None), StopReason::End])
            .prop_map(|reason| vec![Delta::Stop { reason }]),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn answers() -> impl Strategy<Value = Answer> {
    prop::sample::select(vec![
        Answer::AllowedOnce,
        Answer::AllowedForConversation,
        Answer::AllowedByGrant { grant: 1 },
        Answer::AllowedByFlag { entry: "compute".to_owned() },
        Answer::Denied,
        Answer::DeniedWithReason { reason: " ".to_owned() },
        Answer::AutoDenied { reason: "away".to_owned() },
        Answer::Expired,
        Answer::Withdrawn,
        Answer::Interrupted,
    ])
}

fn failure(retry: Retry) -> Failure {
    Failure { kind: FailureKind::Cut, message: "cut".to_owned(), hint: None, retry }
}

fn inputs() -> impl Strategy<Value = Input> {
    let call = || (0..12_u64).prop_map(CallId);
    prop_oneof![
        4 => (prop::sample::select(vec!["go", "", "more"]), prop::bool::weighted(0.8)).prop_map(|(text, here)| Input::Said {
            text: text.to_owned(),
            attendance: if here { Attendance::Attended } else { Attendance::Unattended },
            only: None,
        }),
        2 => deltas().prop_filter_map("one", |deltas| deltas.into_iter().next().map(Input::Delta)),
        1 => Just(Input::ModelEnded(Ok(()))),
        1 => Just(Input::ModelEnded(Err(failure(Retry::Never)))),
        1 => Just(Input::RetryDue),
        1 => call().prop_map(|call| Input::Checked { call, arguments: Ok(json!({})) }),
        2 => (call(), answers()).prop_map(|(call, answer)| Input::Answered { call, answer }),
        1 => call().prop_map(|call| Input::ToolEnded {
            call,
            outcome: ToolOutcome { ending: Ending::Loaded { toolset: "fs".to_owned() }, text: String::new(), note: None },
        }),
        1 => (call(), prop::sample::select(vec!["documents", "fs"]))
            .prop_map(|(call, name)| Input::LoadEnded { call, result: Ok(house::build(name)) }),
        1 => call().prop_map(|call| Input::Edited { call, arguments: "{\"path\":\"b\"}".to_owned() }),
        1 => Just(Input::Stop),
        1 => Just(Input::Leave),
    ]
}

fn acts() -> impl Strategy<Value = Vec<(Act, Vec<Delta>)>> {
    let act = prop_oneof![
        12 => (any::<u8>(), any::<u8>()).prop_map(|(which, how)| Act::Oblige(which, how)),
        4 => inputs().prop_map(Act::Any),
        1 => (0..4_u8).prop_map(Act::Switch),
        1 => Just(Act::Reopen),
    ];
    prop::collection::vec((act, deltas()), 1..60)
}

/// What the audit was told of a call.
#[derive(Debug, Default)]
struct Audited {
    allowed: bool,
    dispatched: u32,
    refused: u32,
}

struct Watch {
    world: World,
    run: Run,
    spec: kokua::agent::AgentSpec,
    records: Vec<Record>,
    events: Vec<Event>,
    wanted: Vec<Wanted>,
    /// Calls in recorded answers, with how many endings each has.
    endings: BTreeMap<u64, u32>,
    /// The arguments that the last card of each call asked about.
    asked: BTreeMap<u64, serde_json::Value>,
    /// Calls that somebody allowed.
    allowed: BTreeSet<u64>,
    started: BTreeSet<u64>,
    /// What the audit was told of each call: its answers that allow, whether it was let go, and whether it was refused.
    audited: BTreeMap<u64, Audited>,
    held: Vec<String>,
    /// Agent rounds since words last joined.
    rounds: u32,
    now: i64,
    max_call: u64,
}

impl Watch {
    fn new(max: u32, together: bool, attempts: u32) -> Self {
        let mut world = house::world(&GATES);
        let spec = house::spec(max, together, attempts);
        let run = house::run(&mut world, spec.clone(), &[]);
        Self {
            world,
            run,
            spec,
            records: Vec::new(),
            events: Vec::new(),
            wanted: Vec::new(),
            endings: BTreeMap::new(),
            asked: BTreeMap::new(),
            allowed: BTreeSet::new(),
            started: BTreeSet::new(),
            audited: BTreeMap::new(),
            held: Vec::new(),
            rounds: 0,
            now: 0,
            max_call: 0,
        }
    }

    fn act(&mut self, act: Act, deltas: Vec<Delta>) {
        match act {
            Act::Any(input) => self.step(input),
            Act::Switch(which) => {
                let names = ["fs", "compute", "documents"];
                let off = names
                    .iter()
                    .take(usize::from(which))
                    .map(|name| Spanned::new(house::toolset(name), Span::default()));
                self.world.switch_off(off.collect()).unwrap();
            }
            Act::Reopen if !self.run.is_running() => {
                self.run = house::run(&mut self.world, self.spec.clone(), &self.records);
                self.held.clear();
            }
            Act::Reopen => {}
            Act::Oblige(which, how) => {
                if self.wanted.is_empty() {
                    let attendance = if how.is_multiple_of(5) { Attendance::Unattended } else { Attendance::Attended };
                    return self.step(Input::Said { text: "go".to_owned(), attendance, only: None });
                }
                let wanted = self.wanted.remove(usize::from(which) % self.wanted.len());
                self.oblige(wanted, how, deltas);
            }
        }
    }

    fn oblige(&mut self, wanted: Wanted, how: u8, deltas: Vec<Delta>) {
        let input = match wanted {
            Wanted::Model => {
                for delta in deltas {
                    self.step(Input::Delta(delta));
                }
                Input::ModelEnded(if how.is_multiple_of(4) {
                    Err(failure(Retry::Backoff { at_least_ms: 1 }))
                } else {
                    Ok(())
                })
            }
            Wanted::Retry => Input::RetryDue,
            Wanted::Check(call, arguments) => {
                let arguments = if how.is_multiple_of(8) { Err("invalid arguments".to_owned()) } else { Ok(arguments) };
                Input::Checked { call, arguments }
            }
            Wanted::Answer(call) if how.is_multiple_of(7) => {
                // It is asked again, whatever comes of it.
                let arguments = if how.is_multiple_of(2) { "{\"path\":\"b\"}" } else { "[" }.to_owned();
                Input::Edited { call, arguments }
            }
            Wanted::Answer(call) => {
                let answer = match how % 4 {
                    0 => Answer::AllowedOnce,
                    1 => Answer::AllowedForConversation,
                    2 => Answer::Denied,
                    _ => Answer::Expired,
                };
                Input::Answered { call, answer }
            }
            Wanted::Tool(call) | Wanted::Load(call, _) if how.is_multiple_of(9) => {
                Input::KeptBack { call, why: "full".to_owned() }
            }
            Wanted::Tool(call) => {
                let ending = if how.is_multiple_of(2) { Ending::Ok } else { Ending::Failed };
                Input::ToolEnded { call, outcome: ToolOutcome { ending, text: "out".to_owned(), note: None } }
            }
            Wanted::Load(call, toolset) => {
                let build = house::build(&toolset);
                let result = match how % 4 {
                    0 => Err("broken".to_owned()),
                    1 => Ok(house::build("fs")),
                    _ => self
                        .world
                        .report_build(&build.toolset, &house::facts(&build))
                        .map(|()| build)
                        .map_err(|e| e.message),
                };
                Input::LoadEnded { call, result }
            }
        };
        self.step(input);
    }

    fn step(&mut self, input: Input) {
        self.now += 7;
        let moment = Moment { now: self.now, random: self.now.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) };
        let was_running = self.run.is_running();
        let starts = !was_running && matches!(&input, Input::Said { text, .. } if !text.trim().is_empty());
        let twin = starts.then(|| {
            let mut world = self.world.clone();
            let mut run = house::run(&mut world, self.spec.clone(), &self.records);
            request(&run.step(moment, &mut world, input.clone()))
        });
        let shown = format!("{input:?}");
        let effects = self.run.step(moment, &mut self.world, input);
        if !was_running && !starts {
            assert!(effects.is_empty(), "no effect between turns, got {effects:?} for {shown}");
        }
        if let Some(twin) = twin {
            assert_eq!(twin.messages, request(&effects).messages, "a rebuilt history is the live one");
        }
        let mut over = false;
        for effect in effects {
            // What was said to a turn that failed begins the next one.
            if over && matches!(effect, Effect::Record(Record::TurnStarted { .. })) {
                self.at_the_end();
                over = false;
            }
            assert!(!over, "no effect after the end: {effect:?}");
            over = matches!(effect, Effect::Tell(Event::End { .. }));
            self.watch(effect);
        }
        assert_eq!(over, (was_running || starts) && !self.run.is_running());
        let held: Vec<_> =
            self.run.held().tools().iter().map(|tool| format!("{} {}", tool.wire, tool.digest)).collect();
        assert!(held.starts_with(&self.held), "R7: a held list only grows by a suffix");
        self.held = held;
        for tool in self.run.held().tools() {
            assert_eq!(self.run.definition(&tool.id).map(|definition| &definition.wire), Some(&tool.wire));
        }
        if !self.spec.concurrent_tools {
            let open: BTreeSet<_> = self.wanted.iter().filter_map(Wanted::call).collect();
            assert!(open.len() <= 1, "one at a time: {open:?}");
        }
        if over {
            self.at_the_end();
        }
    }

    fn watch(&mut self, effect: Effect) {
        match effect {
            Effect::Record(record) => {
                match &record {
                    Record::ModelCall { message, failure, .. } => {
                        self.wanted.retain(|wanted| !matches!(wanted, Wanted::Model | Wanted::Retry));
                        for call in message.calls() {
                            assert!(failure.is_none(), "a failed answer has no calls");
                            assert!(call.id.0 > self.max_call, "numbers go up");
                            self.max_call = call.id.0;
                            self.endings.insert(call.id.0, 0);
                        }
                    }
                    Record::CallEnded { call, ending, .. } => {
                        let never = matches!(
                            ending,
                            Ending::Refused | Ending::NotAllowed | Ending::Unknown | Ending::InvalidArguments
                        );
                        let audited = self.audited.entry(call.0).or_default();
                        assert_eq!(audited.refused, u32::from(never), "K5: each refusal is one entry");
                        let count = self.endings.get_mut(&call.0).expect("a call that was recorded");
                        *count += 1;
                        assert_eq!(*count, 1, "exactly one ending");
                        self.wanted.retain(|wanted| wanted.call() != Some(*call));
                    }
                    Record::Allowed { call, answer, .. } => {
                        assert!(answer.allows());
                        self.allowed.insert(call.0);
                    }
                    _ => {}
                }
                self.records.push(record);
            }
            Effect::Audit(draft) => {
                let entry = draft.entry();
                assert_eq!((entry.at, entry.agent.as_ref()), (self.now, Some(self.run.agent())));
                match &entry.what {
                    What::Call(call) => {
                        assert!(call.arguments.is_none() && draft.arguments().is_some(), "text only beside the entry");
                        let audited = self.audited.entry(call.call).or_default();
                        if call.outcome == Outcome::Dispatched {
                            assert_eq!(call.gate.is_some(), audited.allowed, "K5: the entry that gated it, answered");
                            audited.dispatched += 1;
                        } else {
                            audited.refused += 1;
                        }
                    }
                    What::Answer { call, answer, gate, .. } => {
                        assert!(gate.is_some(), "K5: the entry that asked");
                        self.audited.entry(*call).or_default().allowed = answer.allows();
                    }
                    _ => {}
                }
            }
            Effect::Tell(event) => {
                let started = self.events.iter().rposition(|event| matches!(event, Event::TurnStarted { .. }));
                let again = |told: &Event| match (told, &event) {
                    (Event::Call(told), Event::Call(line)) => told.number == line.number,
                    _ => false,
                };
                // The next try of a call that carries something else takes its place.
                if let Some(told) = self.events[started.unwrap_or(0)..].iter_mut().find(|told| again(told)) {
                    *told = event;
                    return;
                }
                match &event {
                    Event::Said { origin: UserOrigin::Person, .. } => self.rounds = 0,
                    Event::Call(line) if line.kind == CallKind::Agent => {
                        self.rounds += 1;
                        assert!(self.rounds <= self.spec.max_iterations, "the cap holds");
                    }
                    _ => {}
                }
                self.events.push(event);
            }
            Effect::CallModel(request) => {
                assert!(self.endings.values().all(|count| *count == 1), "no model call while a call has no ending");
                paired(&request);
                // A wait may be cut short; its timer has then no meaning any more.
                self.wanted.retain(|wanted| !matches!(wanted, Wanted::Retry));
                assert!(self.wanted.is_empty(), "nothing else is open: {:?}", self.wanted);
                self.wanted.push(Wanted::Model);
            }
            Effect::Delegate { .. }
            | Effect::Unread { .. }
            | Effect::Spawn(_)
            | Effect::Keep { .. }
            | Effect::Reply { .. } => panic!("this agent delegates to nobody: {effect:?}"),
            Effect::CancelModel => self.wanted.retain(|wanted| !matches!(wanted, Wanted::Model | Wanted::Retry)),
            Effect::RetryAfter { .. } => {
                self.wanted.retain(|wanted| !matches!(wanted, Wanted::Model));
                self.wanted.push(Wanted::Retry);
            }
            Effect::Check { call, arguments, .. } => {
                assert_eq!(self.endings.get(&call.0), Some(&0), "recorded before it is checked");
                assert!(arguments.is_object());
                self.wanted.push(Wanted::Check(call, arguments));
            }
            Effect::Ask(ask) => {
                assert_eq!(ask.reason.list, GateList::Confirm);
                self.asked.insert(ask.call.0, ask.arguments.clone());
                self.allowed.remove(&ask.call.0);
                self.wanted.retain(|wanted| !matches!(wanted, Wanted::Answer(id) if *id == ask.call));
                self.wanted.push(Wanted::Answer(ask.call));
            }
            Effect::Withdraw { call } => {
                self.wanted.retain(|wanted| !matches!(wanted, Wanted::Answer(id) if *id == call));
            }
            Effect::Grant { call, tool, arguments } => {
                assert!(tool.name.as_str() != "erase_disk", "P16: no grant for a floor tool");
                assert!(self.allowed.contains(&call.0));
                let held = self.run.held().get(&tool).unwrap();
                let agent = self.run.agent();
                let attendance = Attendance::Attended;
                let facts = CallFacts {
                    conversation: house::CONVERSATION,
                    agent,
                    tool: held,
                    arguments: &arguments,
                    attendance,
                    sight: Sight::OnScreen,
                    allow_line: None,
                };
                self.world.grant(facts).unwrap();
            }
            Effect::Run { call, tool, arguments } => {
                self.starts(call, &tool);
                let asked = self.asked.get(&call.0);
                assert!(asked.is_none_or(|asked| *asked == arguments), "what runs is what was asked last");
                let risk = self.run.held().get(&tool).unwrap().risk;
                assert!(risk != Risk::Exec || self.allowed.contains(&call.0), "gated, and nobody allowed it: {tool}");
                assert!(!tool.to_string().starts_with("documents.") || self.allowed.contains(&call.0), "gated: {tool}");
                self.wanted.push(Wanted::Tool(call));
            }
            Effect::Load { call, toolset } => {
                self.starts(call, &ToolId::core("load_tools"));
                assert!(self.allowed.contains(&call.0), "load_tools is gated here");
                self.wanted.push(Wanted::Load(call, toolset.to_string()));
            }
            Effect::CancelRun { call } => {
                assert!(self.started.contains(&call.0));
                self.wanted.retain(|wanted| !matches!(wanted, Wanted::Tool(id) | Wanted::Load(id, _) if *id == call));
            }
        }
    }

    fn starts(&mut self, call: CallId, tool: &ToolId) {
        assert_eq!(self.audited.get(&call.0).map(|audited| audited.dispatched), Some(1), "K5: audited before it runs");
        assert!(self.started.insert(call.0), "runs once: {tool}");
        assert_eq!(self.endings.get(&call.0), Some(&0), "runs before its ending");
        let digest = &self.run.held().get(tool).unwrap().digest;
        let refusal = self.world.dispatch(self.run.life(), tool, digest);
        assert_eq!(refusal, None, "O3: checked at the instant it runs");
    }

    /// The program was killed after `cut` records: whatever they are, the next request is whole and numbers go on.
    fn killed_after(&self, cut: usize) {
        let records = &self.records[..cut.min(self.records.len())];
        let mut world = house::world(&GATES);
        let mut run = house::run(&mut world, self.spec.clone(), records);
        let said = Input::Said { text: "go on".to_owned(), attendance: Attendance::Attended, only: None };
        let moment = Moment { now: self.now, random: 0 };
        paired(&request(&run.step(moment, &mut world, said)));
        let start = Delta::CallStart { index: 0, id: String::new(), name: "read_file".to_owned() };
        run.step(moment, &mut world, Input::Delta(start));
        let effects = run.step(moment, &mut world, Input::ModelEnded(Ok(())));
        let used: BTreeSet<_> = records.iter().flat_map(calls).collect();
        let new: Vec<_> = effects
            .iter()
            .filter_map(|effect| if let Effect::Record(record) = effect { Some(calls(record)) } else { None })
            .flatten()
            .collect();
        assert!(!new.is_empty() && new.iter().all(|call| used.iter().all(|old| old < call)), "{new:?} after {used:?}");
        replay(records);
    }

    fn at_the_end(&self) {
        assert!(self.endings.values().all(|count| *count == 1), "every call has its one ending");
        assert!(self.wanted.is_empty(), "nothing is left open: {:?}", self.wanted);
        for event in &self.events {
            let json = serde_json::to_value(event).expect("every event is a line of --json");
            assert!(json["type"].is_string());
        }
        let replayed: Vec<Event> = replay(&self.records).into_iter().map(|(_, event)| event).collect();
        assert_eq!(told(&self.events), told(&replayed), "a log replays as what was told");
    }
}

fn calls(record: &Record) -> Vec<CallId> {
    match record {
        Record::ModelCall { message, .. } => message.calls().map(|call| call.id).collect(),
        _ => Vec::new(),
    }
}

fn request(effects: &[Effect]) -> Request {
    let mut requests = effects.iter().filter_map(|effect| match effect {
        Effect::CallModel(request) => Some((**request).clone()),
        _ => None,
    });
    requests.next().expect("a model call")
}

/// Results stand right behind the answer whose calls they end, each once, in call order; no empty answer is sent.
fn paired(request: &Request) {
    let mut due: Vec<CallId> = Vec::new();
    for message in &request.messages {
        match message {
            Message::Result(result) => {
                assert_eq!(due.first(), Some(&result.call), "results in call order behind their answer");
                due.remove(0);
            }
            Message::User(_) | Message::Assistant(_) => {
                assert!(due.is_empty(), "a call without a result: {due:?}");
                if let Message::Assistant(answer) = message {
                    due = answer.calls().map(|call| call.id).collect();
                    assert!(!due.is_empty() || !answer.text().trim().is_empty(), "no empty answer is sent");
                }
            }
        }
    }
    assert!(due.is_empty(), "a call without a result: {due:?}");
}

/// What was told, up to how it was cut into pieces: streamed words joined, voided tries dropped, an answer beside its call's
/// result, words that wait where they join or the turn ends, and without what matters only while it happens.
pub(crate) fn told(events: &[Event]) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::new();
    let (mut answers, mut edited, mut waiting) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for event in events {
        match (event, kept.last_mut()) {
            (Event::Queued { .. }, _) => waiting.push(event.clone()),
            (Event::Said { .. } | Event::End { .. }, _) => {
                kept.append(&mut waiting);
                kept.push(event.clone());
            }
            (Event::Delta { text }, Some(Event::Delta { text: open }))
            | (Event::Reasoning { text }, Some(Event::Reasoning { text: open })) => open.push_str(text),
            (Event::Retrying { .. }, _) => {
                while matches!(kept.last(), Some(Event::Delta { .. } | Event::Reasoning { .. })) {
                    kept.pop();
                }
            }
            (Event::Answer { call, answer }, _) => {
                answers.insert(*call, answer.clone());
            }
            (Event::Edited { call, arguments }, _) => {
                edited.insert(*call, arguments.clone());
            }
            (Event::ToolResult { call, .. }, _) => {
                kept.extend(edited.remove(call).map(|arguments| Event::Edited { call: *call, arguments }));
                kept.extend(answers.remove(call).map(|answer| Event::Answer { call: *call, answer }));
                kept.push(event.clone());
            }
            (
                Event::Writing { .. }
                | Event::Running { .. }
                | Event::Waiting { .. }
                // It may change inside of a model call, of which a log knows no more than its end.
                | Event::Mode { .. }
                | Event::Alert(_),
                _,
            ) => {}
            _ => kept.push(event.clone()),
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_keeps_its_promises(acts in acts(), max in 1..4_u32, together: bool, attempts in 1..3_u32, cut: prop::sample::Index) {
        let mut watch = Watch::new(max, together, attempts);
        for (act, deltas) in acts {
            watch.act(act, deltas);
        }
        watch.step(Input::Stop);
        prop_assert!(!watch.run.is_running());
        watch.killed_after(cut.index(watch.records.len() + 1));
    }
}

/// The promises above are worth as much as the corners that their histories reach.
#[test]
fn the_generated_histories_reach_every_ending() {
    let mut runner = TestRunner::deterministic();
    let strategy = (acts(), 1..4_u32, any::<bool>(), 1..3_u32);
    let mut reached = BTreeMap::<String, u32>::new();
    for _ in 0..400 {
        let (acts, max, together, attempts) = strategy.new_tree(&mut runner).unwrap().current();
        let mut watch = Watch::new(max, together, attempts);
        for (act, deltas) in acts {
            watch.act(act, deltas);
        }
        for record in &watch.records {
            let name = match record {
                Record::CallEnded { ending, answer, .. } => {
                    let answer = serde_json::to_value(answer).unwrap();
                    *reached.entry(format!("answer {}", answer["answer"])).or_default() += 1;
                    format!("call {}", serde_json::to_value(ending).unwrap()["ending"])
                }
                Record::TurnEnded { end, .. } => format!("turn {}", serde_json::to_value(end).unwrap()["end"]),
                Record::ModelCall { kind, failure, .. } => format!("{kind:?}, failed: {}", failure.is_some()),
                Record::Said { message, .. } => format!("said by {:?}", message.origin),
                Record::Preloaded { .. } => "preloaded".to_owned(),
                Record::Allowed { .. } => "allowed".to_owned(),
                Record::Queued { .. } => "queued".to_owned(),
                Record::TurnStarted { .. }
                | Record::Mode { .. }
                | Record::Titled { .. }
                | Record::AuditHead(_)
                | Record::Worker { .. }
                | Record::Spawned(_)
                | Record::Undelivered { .. } => continue,
            };
            *reached.entry(name).or_default() += 1;
        }
    }
    let missing: Vec<_> = [
        "call \"ok\"",
        "call \"failed\"",
        "call \"loaded\"",
        "call \"invalid_arguments\"",
        "call \"unknown\"",
        "call \"refused\"",
        "call \"not_allowed\"",
        "call \"not_executed\"",
        "call \"interrupted\"",
        "turn \"answered\"",
        "turn \"wrapped_up\"",
        "turn \"stopped\"",
        "turn \"failed\"",
        "Agent, failed: true",
        "WrapUp, failed: false",
        "WrapUp, failed: true",
        "allowed",
        "queued",
        "said by Person",
        "said by Continuation",
        "said by FinalAnswer",
        "preloaded",
        "answer \"allowed_once\"",
        "answer \"allowed_for_conversation\"",
        "answer \"allowed_by_grant\"",
        "answer \"denied\"",
        "answer \"auto_denied\"",
        "answer \"expired\"",
        "answer \"withdrawn\"",
    ]
    .into_iter()
    .filter(|name| !reached.contains_key(*name))
    .collect();
    assert_eq!(missing, Vec::<&str>::new(), "reached: {reached:#?}");
}
