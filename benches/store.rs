//! What the disk's part costs: opening a long conversation and listing many.
//! Budgets: 10,000 messages within 150 ms, 1,000 conversations within 20 ms.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the files are its own")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use kokua::access::{AgentName, Attendance};
use kokua::agent::message::UserMessage;
use kokua::agent::{
    AssistantMessage, CallId, CallKind, Ending, OfferRecord, Part, Record, StopReason, ToolCall, TurnEnd, Usage,
    UserOrigin,
};
use kokua::store::{self, Log};

const NOW: i64 = 1_790_000_000_000;

fn model_call(parts: Vec<Part>, stop: StopReason) -> Record {
    Record::ModelCall {
        at: NOW,
        number: 1,
        kind: CallKind::Agent,
        message: AssistantMessage { parts, stop: Some(stop) },
        offer: OfferRecord { tools: 20, tool_bytes: 9_000, resident: vec!["fs".to_owned()], ..OfferRecord::default() },
        usage: Usage { input: Some(900), output: Some(80), cached: None },
        took_ms: 900,
        failure: None,
    }
}

/// One turn of four messages: a question, an answer with a call, its result, an answer.
fn turn(number: u64) -> Vec<Record> {
    let message = UserMessage { text: format!("question {number}"), origin: UserOrigin::Person };
    let call = ToolCall {
        risk: None,
        id: CallId(number),
        provider_id: format!("call_{number}"),
        wire: "read_file".to_owned(),
        shown: "fs.read_file".to_owned(),
        arguments: "{\"path\":\"src/main.rs\"}".to_owned(),
        opaque: None,
    };
    let text = "The words of an answer go on for a while. ".repeat(10);
    vec![
        Record::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None, message },
        model_call(vec![Part::Call(call)], StopReason::Calls),
        Record::CallEnded {
            at: NOW,
            call: CallId(number),
            ending: Ending::Ok,
            answer: None,
            text: "a line of a file\n".repeat(20),
            note: Some("20 lines".to_owned()),
            took_ms: 3,
        },
        model_call(vec![Part::Text { text }], StopReason::End),
        Record::TurnEnded { at: NOW, end: TurnEnd::Answered },
    ]
}

fn conversation(directory: &Path, id: &str, turns: u64) {
    let mut log = Log::create(directory, id, &AgentName::new("assistant"), NOW).expect("a fresh folder");
    log.append_all(&(1..=turns).flat_map(turn).collect::<Vec<_>>()).expect("room on the disk");
}

fn open(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    conversation(folder.path(), "long", 2_500);
    criterion.bench_function("store/open 10,000 messages", |bench| {
        bench.iter(|| {
            let (log, opened) = Log::open(folder.path(), "long").expect("it was just written");
            black_box(opened.records.len());
            log
        });
    });
    let (_log, opened) = Log::open(folder.path(), "long").expect("it was just written");
    criterion.bench_function("store/replay 10,000 messages", |bench| {
        bench.iter(|| black_box(kokua::agent::replay(black_box(&opened.records))));
    });
}

fn list(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for number in 0..1_000 {
        conversation(folder.path(), &format!("c{number:04}"), 1);
    }
    let listed = store::list(folder.path(), None).expect("a readable folder");
    assert_eq!(listed.conversations.len(), 1_000, "{:?}", listed.faults);
    criterion.bench_function("store/list 1,000 conversations", |bench| {
        bench.iter(|| black_box(store::list(folder.path(), None)));
    });
    criterion.bench_function("store/list 1,000 conversations without summaries", |bench| {
        bench.iter(|| {
            std::fs::remove_file(folder.path().join("summaries.json")).expect("it was written");
            black_box(store::list(folder.path(), None))
        });
    });
}

criterion_group!(benches, open, list);
criterion_main!(benches);
