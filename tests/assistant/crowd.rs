//! Many workers at once: every call has one result, every agent one end, and nothing of them is kept. The same with ten times as
//! many over the real store is measured in `benches/agents.rs`.

use std::collections::BTreeMap;

use kokua::agent::{Delta, Ending, Event, Message, Request, TurnEnd};
use serde_json::json;

use crate::house::{Bench, Options, Play, assert_one_ending_each, events, results, spawn, task, text, words};

const WORKERS: usize = 20;
const CALLS: usize = 5;
/// Pieces of each answer: together more than the driver may tell before something of it is read.
const PIECES: usize = 60;

/// What each agent says next, by what it was answered so far.
fn rule(request: &Request) -> Play {
    let results = request.messages.iter().filter(|message| matches!(message, Message::Result(_))).count();
    let mut pieces: Vec<_> = (0..PIECES).map(|_| text("word ")).collect();
    let mut call = |index: usize, name: &str, arguments: &serde_json::Value| {
        pieces.push(Ok(Delta::CallStart { index, id: format!("p{index}"), name: name.to_owned() }));
        pieces.push(Ok(Delta::CallArguments { index, text: arguments.to_string() }));
    };
    match task(request) {
        "go" if results == 0 => {
            for number in 0..WORKERS {
                let (name, arguments) = spawn("coder", &format!("part {number}"));
                call(number, name, &arguments);
            }
        }
        "go" => return words("All of them."),
        part if results == CALLS => return words(&format!("done {part}")),
        _ => call(0, "look", &json!({ "n": results })),
    }
    Play::Says(pieces)
}

#[tokio::test]
async fn many_workers_with_a_front_end_that_reads_slowly_lose_nothing() {
    let mut bench = Bench::with(Options::workers()).await;
    bench.plays_by(|request| Some(rule(request)));
    bench.say("go");
    // The driver can go on only once something is read; it loses nothing, and takes commands after.
    bench.until_full().await;
    let told = bench.until_end_told().await;
    let mut ended: BTreeMap<u32, usize> = BTreeMap::new();
    let mut calls: BTreeMap<u64, usize> = BTreeMap::new();
    for update in &told {
        match &update.event {
            Event::End { end, .. } => {
                assert_eq!(*end, TurnEnd::Answered);
                *ended.entry(update.node.0).or_default() += 1;
            }
            Event::ToolCall { call, .. } => *calls.entry(call.0).or_default() += 1,
            _ => {}
        }
    }
    let nodes: Vec<u32> = (0..=u32::try_from(WORKERS).unwrap()).collect();
    assert_eq!(ended.keys().copied().collect::<Vec<_>>(), nodes);
    assert!(ended.values().chain(calls.values()).all(|count| *count == 1), "{ended:?} {calls:?}");
    assert_eq!(calls.len(), WORKERS * (CALLS + 1));
    let results = results(&events(&told));
    let mut answered: Vec<u64> = results.iter().map(|(call, ..)| *call).collect();
    answered.sort_unstable();
    assert_eq!(answered, calls.keys().copied().collect::<Vec<_>>());
    assert!(results.iter().all(|(_, ending, _)| *ending == Ending::Ok));
    for number in 0..WORKERS {
        let (call, answer) = (number as u64 + 1, format!("done part {number}"));
        assert!(results.iter().any(|(id, _, text)| *id == call && *text == answer), "{answer}");
    }
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
    let lines = bench.diagnostics().await;
    for nothing in ["workers     0", "model calls none", "running     nothing", "asking      nothing"] {
        assert!(lines.iter().any(|line| line == nothing), "{nothing}: {lines:#?}");
    }
    assert_eq!(bench.stage().ran().len(), WORKERS * CALLS);
}
