//! Scripts: lines that begin with `> ` are inputs, `= ` is the set-up, `# ` speaks to the reader, every other line is what
//! the run did. A script that no longer reads the same fails; `KOKUA_SCRIPTS=write` writes it anew, for a person to read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kokua::access::{Answer, Attendance, CallFacts, Span, Spanned, World};
use kokua::agent::{
    Author, CallId, CallKind, Delta, Effect, Ending, Event, Failure, FailureKind, Input, Message, Moment, Record,
    Request, Retry, Run, StopReason, ToolChoice, ToolOutcome, TurnEnd, Usage, UserOrigin,
};
use serde_json::Value;

use crate::house;

/// A run with its world, its log, and what it told.
pub(crate) struct Bench {
    pub world: World,
    pub run: Run,
    pub records: Vec<Record>,
    pub events: Vec<Event>,
    now: i64,
    calls: usize,
    checks: BTreeMap<u64, Value>,
    request: Option<Request>,
    held_before: Vec<String>,
}

/// What `= ` sets.
struct Setup {
    max: u32,
    together: bool,
    attempts: u32,
    gates: Vec<String>,
}

impl Setup {
    fn of(script: &str) -> Self {
        let mut setup = Self { max: 10, together: true, attempts: 1, gates: Vec::new() };
        for word in script.lines().filter_map(|line| line.strip_prefix("= ")).flat_map(str::split_whitespace) {
            match word.split_once('=').expect("key=value") {
                ("max", value) => setup.max = value.parse().expect("a number"),
                ("together", value) => setup.together = value == "yes",
                ("attempts", value) => setup.attempts = value.parse().expect("a number"),
                ("gate", value) => setup.gates.push(value.to_owned()),
                (key, _) => panic!("unknown set-up {key}"),
            }
        }
        setup
    }

    fn bench(&self, records: Vec<Record>) -> Bench {
        let gates: Vec<_> = self.gates.iter().map(String::as_str).collect();
        let mut world = house::world(&gates);
        let run = house::run(&mut world, house::spec(self.max, self.together, self.attempts), &records);
        Bench {
            world,
            run,
            records,
            events: Vec::new(),
            now: 1_000,
            calls: 0,
            checks: BTreeMap::new(),
            request: None,
            held_before: Vec::new(),
        }
    }
}

/// Plays `scripts/<name>.txt` and compares.
pub(crate) fn play(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runs/scripts").join(format!("{name}.txt"));
    let script = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let setup = Setup::of(&script);
    let mut bench = setup.bench(Vec::new());
    let mut played = String::new();
    for line in script.lines().filter(|line| line.is_empty() || line.starts_with(['>', '=', '#'])) {
        played.push_str(line);
        played.push('\n');
        if line.strip_prefix("> ") == Some("reopen") {
            bench = setup.bench(bench.records);
        } else if let Some(input) = line.strip_prefix("> ") {
            for line in bench.play(input) {
                played.extend(["  ", &line.replace('\n', "\n  | "), "\n"]);
            }
        }
    }
    if std::env::var("KOKUA_SCRIPTS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &played).expect("a writable script");
        return;
    }
    pretty_assertions::assert_eq!(played, script, "{name}");
}

impl Bench {
    fn play(&mut self, line: &str) -> Vec<String> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        let call = || CallId(first.parse().expect("a call's number"));
        match verb {
            "said" => self.step(Input::Said { text: rest.to_owned(), attendance: Attendance::Attended, only: None }),
            "said-alone" => {
                self.step(Input::Said { text: rest.to_owned(), attendance: Attendance::Unattended, only: None })
            }
            "said-with-only" => {
                let only = first.split(',').map(kokua::access::ToolName::new).collect();
                let (text, attendance) = (second.to_owned(), Attendance::Attended);
                self.step(Input::Said { text, attendance, only: Some(only) })
            }
            "mode" => self.step(Input::Mode { mode: kokua::access::ModeName::new(rest) }),
            "text" => self.step(Input::Delta(Delta::Text { text: rest.to_owned() })),
            "thought" => self.step(Input::Delta(Delta::Reasoning { text: rest.to_owned() })),
            "call" => {
                let index = self.calls;
                self.calls += 1;
                let (id, name, text) = (format!("p{index}"), first.to_owned(), second.to_owned());
                let mut lines = self.step(Input::Delta(Delta::CallStart { index, id, name }));
                lines.extend(self.step(Input::Delta(Delta::CallArguments { index, text })));
                lines
            }
            "usage" => {
                let usage = Usage { input: first.parse().ok(), output: second.parse().ok(), cached: None };
                self.step(Input::Delta(Delta::Usage { usage }))
            }
            "because" => {
                let reason = match first {
                    "length" => StopReason::Length,
                    "refusal" => StopReason::Refusal((!second.is_empty()).then(|| second.to_owned())),
                    other => StopReason::Other(other.to_owned()),
                };
                self.step(Input::Delta(Delta::Stop { reason }))
            }
            "done" => self.step(Input::ModelEnded(Ok(()))),
            "fail" => {
                let retry = first.parse().map_or(Retry::Never, |at_least_ms| Retry::Backoff { at_least_ms });
                let hint = Some("Look at the server.".to_owned());
                self.step(Input::ModelEnded(Err(Failure {
                    kind: FailureKind::Cut,
                    message: second.to_owned(),
                    hint,
                    retry,
                })))
            }
            "due" => self.step(Input::RetryDue),
            "fits" => {
                let arguments = self.checks.get(&call().0).cloned().unwrap_or_default();
                self.step(Input::Checked { call: call(), arguments: Ok(arguments) })
            }
            "misfits" => self.step(Input::Checked { call: call(), arguments: Err(second.to_owned()) }),
            "allow" => self.step(Input::Answered { call: call(), answer: Answer::AllowedOnce }),
            "allow-always" => self.step(Input::Answered { call: call(), answer: Answer::AllowedForConversation }),
            "claim-flag" => {
                let answer = Answer::AllowedByFlag { entry: "compute".to_owned() };
                self.step(Input::Answered { call: call(), answer })
            }
            "deny" if second.is_empty() => self.step(Input::Answered { call: call(), answer: Answer::Denied }),
            "deny" => self
                .step(Input::Answered { call: call(), answer: Answer::DeniedWithReason { reason: second.to_owned() } }),
            "edit" => self.step(Input::Edited { call: call(), arguments: second.to_owned() }),
            "expire" => self.step(Input::Answered { call: call(), answer: Answer::Expired }),
            "ok" => self.tool(call(), Ending::Ok, second),
            "failed" => self.tool(call(), Ending::Failed, second),
            "timed-out" => self.tool(call(), Ending::TimedOut, second),
            "built" => {
                let build = house::build(second);
                let refused = self.world.report_build(&build.toolset, &house::facts(&build));
                let result = refused.map(|()| build).map_err(|refusal| refusal.to_string());
                self.step(Input::LoadEnded { call: call(), result })
            }
            "broke" => self.step(Input::LoadEnded { call: call(), result: Err(second.to_owned()) }),
            "kept-back" => self.step(Input::KeptBack { call: call(), why: second.to_owned() }),
            "stop" => self.step(Input::Stop),
            "leave" => self.step(Input::Leave),
            "switch-off" => {
                let off = rest.split_whitespace().map(|name| Spanned::new(house::toolset(name), Span::default()));
                self.world.switch_off(off.collect()).expect("installed names");
                Vec::new()
            }
            "wait" => {
                self.now += rest.parse::<i64>().expect("milliseconds");
                Vec::new()
            }
            "system?" => vec![self.run.system().to_owned()],
            "held?" => self.held(),
            "request?" => self.request.as_ref().map_or_else(Vec::new, messages),
            other => panic!("unknown input {other}"),
        }
    }

    fn tool(&mut self, call: CallId, ending: Ending, text: &str) -> Vec<String> {
        self.step(Input::ToolEnded { call, outcome: ToolOutcome { ending, text: text.to_owned(), note: None } })
    }

    fn held(&self) -> Vec<String> {
        let tools = self.run.held().tools();
        tools.iter().map(|tool| format!("{} as {} ({:?})", tool.id, tool.wire, tool.arrival)).collect()
    }

    fn step(&mut self, input: Input) -> Vec<String> {
        let moment = Moment { now: self.now, random: u64::MAX / 2 };
        let effects = self.run.step(moment, &mut self.world, input);
        let held = self.held();
        assert!(held.starts_with(&self.held_before), "R7: a held list only grows by a suffix");
        self.held_before = held;
        let mut lines = Vec::new();
        for effect in effects {
            lines.extend(line(&effect));
            match effect {
                Effect::Record(record) => self.records.push(record),
                Effect::Tell(event) => self.events.push(event),
                Effect::CallModel(request) => {
                    self.calls = 0;
                    self.request = Some(*request);
                }
                Effect::Check { call, arguments, .. } => {
                    self.checks.insert(call.0, arguments);
                }
                Effect::Grant { tool, arguments, .. } => {
                    let tool = self.run.held().tools().iter().find(|held| held.id == tool).expect("held");
                    let facts = CallFacts {
                        conversation: house::CONVERSATION,
                        agent: self.run.agent(),
                        tool,
                        arguments: &arguments,
                        attendance: house::ATTENDED,
                        sight: kokua::access::Sight::OnScreen,
                        allow_line: None,
                    };
                    self.world.grant(facts).expect("a grantable tool");
                }
                _ => {}
            }
        }
        lines
    }
}

/// One message of a request a line.
fn messages(request: &Request) -> Vec<String> {
    let one = |message: &Message| match message {
        Message::User(user) => format!("user {}: {}", origin(user.origin), user.text),
        Message::Assistant(answer) => {
            let calls: Vec<_> =
                answer.calls().map(|call| format!("{}={}{}", call.id.0, call.wire, call.arguments)).collect();
            format!("assistant: {} [{}]", answer.text(), calls.join(", "))
        }
        Message::Result(result) => format!("result {}: {}", result.call.0, result.text),
    };
    request.messages.iter().map(one).collect()
}

fn origin(origin: UserOrigin) -> &'static str {
    match origin {
        UserOrigin::Person => "person",
        UserOrigin::Continuation => "continuation",
        UserOrigin::FinalAnswer => "final answer",
        UserOrigin::Agent => "agent",
    }
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Loaded { toolset } => format!("loaded {toolset}"),
        other => serde_json::to_value(other).unwrap()["ending"].as_str().unwrap().replace('_', " "),
    }
}

fn turn_end(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Failed { message, hint } => format!("failed: {message} ({})", hint.as_deref().unwrap_or("no hint")),
        other => serde_json::to_value(other).unwrap()["end"].as_str().unwrap().replace('_', " "),
    }
}

fn answer(answer: &Answer) -> String {
    let value = serde_json::to_value(answer).unwrap();
    let detail: Vec<_> = value
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| *key != "answer")
        .map(|(_, value)| format!(" {value}"))
        .collect();
    value["answer"].as_str().unwrap().replace('_', " ") + &detail.concat()
}

/// An effect as a line. What only repeats the record before it has none.
fn line(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Record(record) => match record {
            Record::TurnStarted { attendance, message, .. } => format!("log turn, {attendance:?}: {}", message.text),
            Record::Said { message, .. } => format!("log said by {}: {}", origin(message.origin), message.text),
            Record::Queued { text, .. } => format!("log queued: {text}"),
            Record::ModelCall { number, kind, message, usage, failure, took_ms, .. } => {
                let kind = if *kind == CallKind::WrapUp { " wrap-up" } else { "" };
                let stop = message.stop.as_ref().map_or_else(|| "stopped".to_owned(), |stop| format!("{stop:?}"));
                let end = failure.as_ref().map_or(stop, |failure| format!("failed, {failure}"));
                let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
                let usage = format!("in {} out {}", tokens(usage.input), tokens(usage.output));
                format!("log model call {number}{kind}: {end}, {usage}, {took_ms} ms: {}", message.text())
            }
            Record::CallEnded { call, ending: end, text, note, answer: by, took_ms, .. } => {
                let note = note.as_ref().map(|note| format!(" [{note}]")).unwrap_or_default();
                let by = by.as_ref().map(|by| format!(", {}", answer(by))).unwrap_or_default();
                format!("log call {} {}{by}, {took_ms} ms{note}: {text}", call.0, ending(end))
            }
            Record::TurnEnded { end, .. } => format!("log turn ended: {}", turn_end(end)),
            Record::Titled { title } => format!("log title: {title}"),
            Record::Mode { mode, .. } => format!("log mode {mode}"),
            Record::Preloaded { toolset } => format!("log preloaded {toolset}"),
            Record::AuditHead(_) | Record::Worker { .. } | Record::Spawned(_) | Record::Undelivered { .. } => {
                panic!("a run does not write {record:?}")
            }
            Record::Allowed { call, answer: by, arguments, .. } => {
                let edited =
                    arguments.as_ref().map(|arguments| format!(", changed to {arguments}")).unwrap_or_default();
                format!("log call {} may run: {}{edited}", call.0, answer(by))
            }
        },
        // What the audit is told has tests of its own.
        Effect::Audit(_) => return None,
        Effect::Tell(event) => match event {
            Event::Call(call) => {
                let grown = if call.grown.is_empty() { String::new() } else { format!(" ({})", call.grown.join(", ")) };
                let ledger = if call.ledger.is_some() { ", ledger" } else { "" };
                let toolsets = [call.resident.join(" "), call.loaded.join(" ")].join(" + ");
                format!("tell call {}: {} tools{grown}{ledger}, {toolsets}", call.number, call.tools)
            }
            Event::Delta { text } => format!("tell text: {text}"),
            Event::Reasoning { text } => format!("tell reasoning: {text}"),
            Event::Mode { mode } => format!("tell mode {mode}"),
            Event::Queued { text } => format!("tell queued: {text}"),
            Event::Retrying { message, ms, attempt } => format!("tell retrying, try {attempt} in {ms} ms: {message}"),
            Event::Answer { call, answer: by } => format!("tell call {} answered: {}", call.0, answer(by)),
            Event::Edited { call, arguments } => format!("tell call {} changed to {arguments}", call.0),
            Event::Running { call, .. } => format!("tell call {} runs", call.0),
            Event::Alert(alert) => {
                format!("tell {:?}: {} ({})", alert.severity, alert.message, alert.hint.as_deref().unwrap_or("no hint"))
            }
            Event::TurnStarted { .. }
            | Event::Said { .. }
            | Event::Writing { .. }
            | Event::Usage { .. }
            | Event::ToolCall { .. }
            | Event::ToolResult { .. }
            | Event::Error { .. }
            | Event::End { .. } => return None,
            other => panic!("a run never tells {other:?}"),
        },
        Effect::CallModel(request) => {
            let choice = if request.tool_choice == ToolChoice::None { ", no calls" } else { "" };
            let tools: Vec<_> = request.tools.iter().map(|tool| tool.wire.as_str()).collect();
            format!("MODEL {} messages{choice}: {}", request.messages.len(), tools.join(" "))
        }
        Effect::CancelModel => "CANCEL MODEL".to_owned(),
        Effect::RetryAfter { ms } => format!("WAIT {ms} ms"),
        Effect::Check { call, tool, arguments } => format!("CHECK {} {tool} {arguments}", call.0),
        Effect::Ask(ask) => {
            let grantable = if ask.grantable { "" } else { ", this once only" };
            let whose = if ask.author == Author::Person { " (the person's)" } else { "" };
            format!("ASK {} {} {}{whose} for {}{grantable}", ask.call.0, ask.tool, ask.arguments, ask.reason.entry)
        }
        Effect::Withdraw { call } => format!("WITHDRAW {}", call.0),
        Effect::Grant { call, tool, arguments } => format!("GRANT {} {tool} {arguments}", call.0),
        Effect::Run { call, tool, arguments } => format!("RUN {} {tool} {arguments}", call.0),
        Effect::CancelRun { call } => format!("CANCEL {}", call.0),
        Effect::Load { call, toolset } => format!("LOAD {} {toolset}", call.0),
        Effect::Delegate { call, agent, task, family, ground } => {
            let family = family.as_ref().map(|family| format!(" of {family}")).unwrap_or_default();
            format!("DELEGATE {} {agent}{family}, {ground:?}: {task}", call.0)
        }
        Effect::Unread { mail } => format!("UNREAD {mail}"),
        other => panic!("a run has no {other:?}"),
    })
}
