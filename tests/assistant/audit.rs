//! K5 with a driver: what is written when, and that nothing runs which is not.

use kokua::access::audit::{Entry, Outcome, Position, What};
use kokua::access::{Answer, ToolsetName};
use kokua::agent::command::Switched;
use kokua::agent::{Command, Ending, Event, Record};
use serde_json::json;

use crate::house::{Bench, alerts, call, calls, load, results, words};

const BROKEN: &str = "The audit log could not be written: the disk is full";

/// Each entry in a word, with what it is about.
fn told(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| match &entry.what {
            What::Call(call) => {
                let outcome = serde_json::to_value(&call.outcome).unwrap()["outcome"].as_str().unwrap().to_owned();
                let gate = call.gate.as_ref().map(|gate| format!(" by '{}' {}", gate.entry, gate.source));
                format!("call {} {outcome}{}", call.wire, gate.unwrap_or_default())
            }
            What::Answer { tool, answer, .. } => format!("answer {tool} {answer}"),
            What::Load { toolset, arrival, tools, .. } => format!("load {toolset} {arrival:?} {}", tools.len()),
            What::LoadFailed { toolset, error, .. } => format!("load {toolset} failed: {error}"),
            What::Withheld { changes, .. } => format!("withheld {}", changes.len()),
            What::Grant { number, tool, arguments } => format!("grant {number} {tool} {}", arguments.clone().unwrap()),
            What::Revoke { number } => format!("revoke {number}"),
            What::Mode { mode } => format!("mode {mode}"),
            What::Switch { toolset, to } => format!("switch {toolset} {to:?}"),
        })
        .collect()
}

#[tokio::test]
async fn k5_calls_answers_loads_grants_and_switches_are_an_entry_each() {
    let mut bench = Bench::new().await;
    bench.plays([
        calls(&[("look", json!({})), ("run", json!({"n": 1}))]),
        load("extra"),
        call("nothing"),
        words("Done."),
    ]);
    bench.say("go");
    bench.until_ask(2).await;
    bench.answer(2, Answer::AllowedForConversation);
    bench.until_end().await;
    bench.submit(Command::Revoke { grant: 1 });
    bench.until_report().await;
    bench.submit(Command::Switch { toolset: ToolsetName::new("work"), to: Switched::Off });
    bench.until_report().await;
    bench.plays([call("run"), words("Done.")]);
    bench.turn("again").await;
    let entries = bench.house.minutes.entries();
    assert_eq!(
        told(&entries),
        [
            "call look dispatched",
            "answer work.run allowed for this conversation",
            "grant 1 work.run digest of {\"n\":1}",
            "call run dispatched by 'work' from [assistant.tools] line 3",
            "call load_tools dispatched",
            "load extra Loaded 1",
            "call nothing unknown",
            "revoke 1",
            "switch work Off",
            "withheld 1",
            "call run refused",
        ]
    );
    // What holds everywhere names no conversation, and what a person did no agent.
    let switch = entries.iter().find(|entry| matches!(entry.what, What::Switch { to: Position::Off, .. })).unwrap();
    assert_eq!((&switch.conversation, &switch.agent), (&None, &None));
    assert!(entries.iter().all(|entry| entry.conversation.is_some() || matches!(entry.what, What::Switch { .. })));
    // The head stands in front of the end of each turn that something was decided in.
    let records = bench.house.shelf.records("conversation-1");
    let heads: Vec<_> = records
        .windows(2)
        .filter_map(|pair| match pair {
            [Record::AuditHead(head), Record::TurnEnded { .. }] => Some(head.entries),
            _ => None,
        })
        .collect();
    assert_eq!(heads, [7, 11]);
    bench.plays([words("Nothing to decide.")]);
    bench.turn("and now").await;
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(records.iter().filter(|record| matches!(record, Record::AuditHead(_))).count(), 2);
}

#[tokio::test]
async fn k5_what_cannot_be_audited_does_not_run_and_is_said_once() {
    let mut bench = Bench::new().await;
    bench.house.minutes.refuse(|_| true);
    bench.plays([calls(&[("look", json!({})), ("look", json!({"n": 2}))]), load("extra"), words("I could not.")]);
    let events = bench.turn("go").await;
    let sentence =
        |tool: &str| format!("Tool '{tool}' was not run: the audit log could not be written: the disk is full");
    assert_eq!(
        results(&events),
        [
            (1, Ending::Refused, sentence("look")),
            (2, Ending::Refused, sentence("look")),
            (3, Ending::Refused, sentence("load_tools"))
        ]
    );
    assert_eq!(alerts(&events), [BROKEN]);
    assert!(bench.stage().ran().is_empty());
    assert_eq!(bench.stage().builds_of("extra"), 0);
    assert!(bench.house.minutes.entries().is_empty());
    // The turn went on, and nothing was lost: once the log can be written, calls run again.
    bench.house.minutes.refuse_nothing();
    bench.plays([call("look"), words("Done.")]);
    let events = bench.turn("again").await;
    assert_eq!(results(&events)[0].1, Ending::Ok);
    assert_eq!(bench.stage().ran(), ["look {}"]);
    // It is said again when it breaks again.
    bench.house.minutes.refuse(|_| true);
    bench.plays([call("look"), words("No.")]);
    assert_eq!(alerts(&bench.turn("once more").await), [BROKEN]);
}

#[tokio::test]
async fn k5_an_answer_that_cannot_be_audited_lets_nothing_run_and_grants_nothing() {
    let mut bench = Bench::new().await;
    bench.house.minutes.refuse(|entry| matches!(entry.what, What::Answer { .. }));
    bench.plays([call("run"), call("run"), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedForConversation);
    // The same call asks again: the person's word reached no further than its answer.
    bench.until_ask(2).await;
    bench.house.minutes.refuse_nothing();
    bench.answer(2, Answer::AllowedOnce);
    let events = bench.until_end().await;
    assert_eq!(results(&events)[0].1, Ending::Ok);
    assert_eq!(bench.stage().ran(), ["run {}"]);
    let outcomes = bench.house.minutes.entries().into_iter().filter_map(|entry| match entry.what {
        What::Call(call) => Some((call.call, call.outcome == Outcome::Dispatched)),
        _ => None,
    });
    // The first was let go as far as the log knows, and then refused.
    assert_eq!(outcomes.collect::<Vec<_>>(), [(1, true), (1, false), (2, true)]);
}

#[tokio::test]
async fn k5_a_grant_that_cannot_be_audited_is_taken_back() {
    let mut bench = Bench::new().await;
    bench.house.minutes.refuse(|entry| matches!(entry.what, What::Grant { .. }));
    bench.plays([call("run"), call("run"), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedForConversation);
    let events = bench.until_ask(2).await;
    assert_eq!(alerts(&events), [BROKEN]);
    assert!(events.iter().any(|event| matches!(event, Event::ToolResult { ending: Ending::Ok, .. })), "allowed once");
}

#[tokio::test]
async fn k5_withdrawn_and_interrupted_cards_are_answers_and_no_calls() {
    let mut bench = Bench::new().await;
    bench.plays([call("run")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.submit(Command::Stop);
    bench.until_end().await;
    bench.plays([call("write")]);
    bench.say("go");
    bench.until_ask(2).await;
    let minutes = std::sync::Arc::clone(&bench.house.minutes);
    bench.quit().await;
    assert_eq!(told(&minutes.entries()), ["answer work.run withdrawn (stopped)", "answer work.write interrupted"]);
}
