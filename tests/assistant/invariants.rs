//! The driver's concurrency invariants, as `src/assistant/turns.rs` lists them, and the bugs that a program of this kind has had.

use std::collections::BTreeSet;

use kokua::access::Answer;
use kokua::agent::{
    Activity, CallId, Command, Ending, Event, Failure, FailureKind, NodeId, Record, Retry, TurnEnd, UserOrigin,
};
use serde_json::json;

use crate::house::{
    Bench, Options, Play, alerts, assert_one_ending_each, bare, call, calls, ends, events, lock, results, sent, shape,
    spawn, text, words,
};

/// Every file in which an invariant's test may stand.
const TESTS: [&str; 8] = [
    include_str!("invariants.rs"),
    include_str!("background.rs"),
    include_str!("workers.rs"),
    include_str!("turns.rs"),
    include_str!("conversations.rs"),
    include_str!("cards.rs"),
    include_str!("saving.rs"),
    include_str!("audit.rs"),
];

#[test]
fn every_invariant_names_a_test_that_is_there() {
    let head = include_str!("../../src/assistant/turns.rs").lines().take_while(|line| line.starts_with("//!"));
    let head: String = head.collect();
    let named: Vec<&str> = head.split('`').skip(1).step_by(2).filter(|name| name.contains('_')).collect();
    assert!(named.len() >= 8, "{named:?}");
    for name in named {
        let heading = format!("async fn {name}()");
        assert!(TESTS.iter().any(|file| file.contains(&heading)), "no test is named {name}");
    }
}

fn wait(n: u64) -> Play {
    calls(&[("wait", json!({ "n": n }))])
}

/// The texts of every answer in a log, workers' included.
fn answers(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .filter_map(|record| match bare(record) {
            Record::ModelCall { message, .. } => Some(message.text()),
            _ => None,
        })
        .collect()
}

/// What a person said, as a log has it.
fn said(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .filter_map(|record| match bare(record) {
            Record::TurnStarted { message, .. } | Record::Said { message, .. } => {
                (message.origin == UserOrigin::Person).then(|| message.text.clone())
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_tool_that_changes_a_hot_setting_in_its_own_turn_does_not_deadlock() {
    let mut bench = Bench::with(Options::workers()).await;
    bench.plays([call("tune"), calls(&[spawn("coder", "tune it")]), words("Both.")]);
    bench.plays_for("tune it", [call("tune"), words("I tuned it.")]);
    let events = bench.turn("go").await;
    let tuned = || "tuned".to_owned();
    assert_eq!(
        results(&events),
        [
            (1, Ending::Ok, tuned()),
            (CallId::of(NodeId(1), 1).0, Ending::Ok, tuned()),
            (2, Ending::Ok, "I tuned it.".to_owned())
        ]
    );
    assert_eq!(bench.house.knobs.saved(), [["other Off"], ["other Off"]]);
}

#[tokio::test]
async fn p14_a_running_conversation_is_kept_beyond_the_cap() {
    let mut bench = Bench::with(Options { agent_cache_cap: 1, ..Options::workers() }).await;
    let (first, second) = (bench.stage().waiting(1), bench.stage().waiting(2));
    bench.plays_for("one", [wait(1), words("First.")]);
    bench.plays_for("two", [wait(2), words("Second.")]);
    bench.plays_for("three", [call("run"), words("Third.")]);
    for task in ["one", "two"] {
        bench.say(task);
        bench.until_running(1).await;
        bench.leave().await;
    }
    bench.say("three");
    bench.until_ask(1).await;
    bench.leave().await;
    second.send(()).unwrap();
    let mut told = bench.until_end_told().await;
    bench.answer_in("conversation-3", CallId(1), Answer::AllowedOnce);
    told.extend(bench.until_end_told().await);
    first.send(()).unwrap();
    told.extend(bench.until_end_told().await);
    let ended: Vec<_> = ends(&told).into_iter().map(|(conversation, _, end)| (conversation, end)).collect();
    let answered = |id: &str| (id.to_owned(), TurnEnd::Answered);
    assert_eq!(ended, [answered("conversation-2"), answered("conversation-3"), answered("conversation-1")]);
    for (id, answer) in [("conversation-1", "First."), ("conversation-2", "Second."), ("conversation-3", "Third.")] {
        let records = bench.house.shelf.records(id);
        assert_eq!(answers(&records).last().map(String::as_str), Some(answer));
        assert_one_ending_each(&records);
        assert!(!bench.house.shelf.is_open(id), "{id} is over and beyond the cap, so it rests no longer");
    }
}

#[tokio::test]
async fn the_view_switched_during_a_turn_changes_nothing_of_it() {
    let mut bench = Bench::with(Options::workers()).await;
    let (speak, play) = sent();
    bench.plays_for("one", [calls(&[spawn("coder", "part"), ("look", json!({}))]), words("All of it.")]);
    bench.plays_for("part", [play]);
    bench.say("one");
    speak.send(text("Half ")).unwrap();
    bench.until("words", |event| matches!(event, Event::Delta { .. })).await;
    bench.leave().await;
    bench.plays_for("two", [call("look"), words("There.")]);
    bench.say("two");
    speak.send(text("and half.")).unwrap();
    drop(speak);
    let mut told = bench.until_end_told().await;
    told.extend(bench.until_end_told().await);
    // Out of sight, a turn tells that it ended, and nothing else.
    let unseen: Vec<_> = told.iter().filter(|update| update.conversation == "conversation-1").collect();
    assert!(matches!(unseen.as_slice(), [update] if matches!(update.event, Event::End { .. })), "{unseen:#?}");
    let records = bench.house.shelf.records("conversation-2");
    assert_eq!(answers(&records), ["", "There."]);
    assert_eq!(shape(&records), ["turn", "model", "ended", "model", "end"]);
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(answers(&records), ["", "Half and half.", "All of it."]);
    assert_one_ending_each(&records);
}

#[tokio::test]
async fn a_turn_that_ends_in_the_background_leaves_the_view_alone() {
    let mut bench = Bench::with(Options::workers()).await;
    let word = bench.stage().waiting(1);
    bench.plays_for("one", [wait(1), words("Done.")]);
    bench.say("one");
    bench.until_running(1).await;
    bench.leave().await;
    word.send(()).unwrap();
    let mut told = bench.until_end_told().await;
    bench.plays_for("two", [words("Here.")]);
    bench.say("two");
    told.extend(bench.until_end_told().await);
    assert!(!told.iter().any(|update| matches!(update.event, Event::Session { .. })));
    assert_eq!(said(&bench.house.shelf.records("conversation-2")), ["two"]);
    bench.submit(Command::List);
    let told = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    let Some(Event::Conversations { list }) = told.last() else { unreachable!() };
    let marks: Vec<_> = list.iter().map(|one| (one.id.as_str(), one.current, one.unread, one.activity)).collect();
    assert_eq!(
        marks,
        [("conversation-2", true, false, Activity::Idle), ("conversation-1", false, true, Activity::Idle)]
    );
    bench.open("conversation-1").await;
    bench.submit(Command::List);
    let told = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    let Some(Event::Conversations { list }) = told.last() else { unreachable!() };
    assert!(list.iter().all(|one| !one.unread), "seen, it is unread no more");
}

#[tokio::test]
async fn the_second_stop_during_the_first_changes_nothing() {
    let mut bench = Bench::with(Options::workers()).await;
    let mut drops = bench.stage().drops();
    bench.plays_for("go", [calls(&[spawn("coder", "part"), ("run", json!({}))]), words("Again.")]);
    bench.plays_for("part", [calls(&[("hang", json!({})), ("run", json!({})), spawn("researcher", "deep")])]);
    bench.plays_for("deep", [call("hang")]);
    bench.say("go");
    let mut waits = 3;
    bench
        .until("everything", |event| {
            waits -= match event {
                Event::Ask { .. } => 1,
                Event::Running { call, .. } if *call == CallId::of(NodeId(2), 1) => 1,
                _ => 0,
            };
            waits == 0
        })
        .await;
    for command in [Command::Stop, Command::Stop, Command::StopAgent { node: NodeId(1) }, Command::Stop] {
        bench.submit(command);
    }
    let mut told = bench.until_end_told().await;
    told.extend(bench.settled().await);
    let stopped = |node| ("conversation-1".to_owned(), node, TurnEnd::Stopped);
    assert_eq!(ends(&told), [stopped(2), stopped(1), stopped(0)], "those below first");
    let told = events(&told);
    assert!(alerts(&told).is_empty(), "{told:#?}");
    let withdrawn = told.iter().filter(|event| matches!(event, Event::Answer { answer: Answer::Withdrawn, .. }));
    assert_eq!(withdrawn.count(), 2);
    assert_eq!(results(&told).len(), 6);
    assert!(results(&told).iter().all(|(_, ending, _)| *ending == Ending::Interrupted), "{told:#?}");
    for _ in 0..2 {
        drops.recv().await.expect("what ran is dropped");
    }
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
    // A stop where nothing runs is nothing either, and the conversation goes on.
    bench.submit(Command::Stop);
    assert!(matches!(bench.turn("and now").await.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
}

#[tokio::test]
async fn the_displaced_turn_is_ended_at_shutdown() {
    let mut bench = Bench::with(Options::workers()).await;
    let mut drops = bench.stage().drops();
    bench.plays_for("one", [calls(&[spawn("coder", "part")])]);
    bench.plays_for("part", [calls(&[("hang", json!({})), ("run", json!({}))])]);
    bench.plays_for("two", [call("hang")]);
    bench.say("one");
    bench.until_ask(CallId::of(NodeId(1), 2).0).await;
    bench.leave().await;
    bench.say("two");
    bench.until_running(1).await;
    let house = bench.house.clone();
    bench.submit(Command::Quit);
    let told = bench.drain_told().await;
    let interrupted = |id: &str| (id.to_owned(), 0, TurnEnd::Interrupted);
    assert_eq!(ends(&told), [interrupted("conversation-1"), interrupted("conversation-2")]);
    for _ in 0..2 {
        drops.recv().await.expect("what ran is dropped");
    }
    let records = house.shelf.records("conversation-1");
    assert_one_ending_each(&records);
    assert_eq!(
        shape(&records),
        // Its task and call; the worker's turn, its answer, two endings and its end; the call's ending, and the end.
        ["turn", "model", "worker", "worker", "worker", "worker", "worker", "worker", "ended", "end"]
    );
    let records = house.shelf.records("conversation-2");
    assert_eq!(shape(&records), ["turn", "model", "ended", "end"]);
    assert!(!house.shelf.is_open("conversation-1") && !house.shelf.is_open("conversation-2"), "both logs are closed");
}

#[tokio::test]
async fn words_of_a_dropped_model_call_are_not_heard() {
    let mut bench = Bench::with(Options::workers()).await;
    let (speak, play) = sent();
    bench.plays_for("go", [calls(&[spawn("coder", "part"), ("run", json!({}))]), words("Without it.")]);
    bench.plays_for("part", [play]);
    bench.say("go");
    speak.send(text("Early. ")).unwrap();
    let (mut asked, mut spoke) = (false, false);
    bench
        .until("words and a card", |event| {
            asked |= matches!(event, Event::Ask { .. });
            spoke |= matches!(event, Event::Delta { .. });
            asked && spoke
        })
        .await;
    // Both wait for the driver together, and commands come first.
    speak.send(text("LATE")).unwrap();
    bench.submit(Command::StopAgent { node: NodeId(1) });
    speak.closed().await;
    bench.answer(2, Answer::AllowedOnce);
    let told = bench.until_end().await;
    let stopped = "Sub-agent 'coder#1' was stopped by the user before it finished.".to_owned();
    assert_eq!(results(&told), [(1, Ending::Failed, stopped), (2, Ending::Ok, "run done".to_owned())]);
    assert_eq!(answers(&bench.house.shelf.records("conversation-1")), ["", "Early. ", "Without it."]);
    assert!(!told.iter().any(|event| matches!(event, Event::Delta { text } if text == "LATE")));
    // The same agent already speaks again when the words of the call before it come.
    let (late, dropped) = sent();
    let (speak, play) = sent();
    bench.plays_for("go", [dropped, play]);
    bench.say("again");
    bench.until("call", |event| matches!(event, Event::Call(_))).await;
    late.send(text("LATE")).unwrap();
    bench.submit(Command::Stop);
    bench.say("once more");
    bench.until_end().await;
    bench.settled().await;
    speak.send(text("The new answer.")).unwrap();
    drop(speak);
    bench.until_end().await;
    let all = ["", "Early. ", "Without it.", "", "The new answer."];
    assert_eq!(answers(&bench.house.shelf.records("conversation-1")), all);
}

#[tokio::test]
async fn a_message_typed_mid_turn_joins_or_begins_the_next_turn() {
    let mut bench = Bench::new().await;
    // It joins at the next round.
    bench.plays([call("run"), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.say("be quick");
    bench.until("queue", |event| matches!(event, Event::Queued { .. })).await;
    // The end of the program finds them on disk.
    let queued = |record: &Record| matches!(record, Record::Queued { text, .. } if text == "be quick");
    assert!(bench.house.shelf.records("conversation-1").iter().any(queued));
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!((said(&records), shape(&records).len()), (vec!["go".to_owned(), "be quick".to_owned()], 8));
    // The turn fails before it could join: it begins the next one.
    let (speak, play) = sent();
    bench.plays([play, words("Here.")]);
    bench.say("again");
    bench.until("call", |event| matches!(event, Event::Call(_))).await;
    bench.say("this too");
    bench.until("queue", |event| matches!(event, Event::Queued { .. })).await;
    let failure = Failure { kind: FailureKind::Cut, message: "cut".to_owned(), hint: None, retry: Retry::Never };
    speak.send(Err(failure)).unwrap();
    let failed = bench.until_end().await;
    assert!(matches!(failed.last(), Some(Event::End { end: TurnEnd::Failed { .. }, .. })));
    let next = bench.until_end().await;
    assert!(alerts(&failed).is_empty() && alerts(&next).is_empty());
    assert!(next.iter().any(|event| matches!(event, Event::TurnStarted { .. })));
    // Stopped, it is neither, and that is said.
    bench.plays([call("hang")]);
    bench.say("once more");
    bench.until_running(2).await;
    bench.say("lost words");
    bench.submit(Command::Stop);
    let stopped = bench.until_end().await;
    assert_eq!(alerts(&stopped), ["Your message was not delivered, because the turn was stopped: lost words"]);
    let all = ["go", "be quick", "again", "this too", "once more"];
    assert_eq!(said(&bench.house.shelf.records("conversation-1")), all);
}

#[tokio::test]
async fn a_message_typed_for_a_worker_joins_its_run_or_is_said_to_be_undelivered() {
    let mut bench = Bench::with(Options::workers()).await;
    let to_worker = |bench: &Bench, text: &str| {
        bench.submit(Command::Say { to: NodeId(1), text: text.to_owned() });
    };
    bench.plays_for("go", [calls(&[spawn("coder", "part")]), call("run"), words("Done.")]);
    bench.plays_for("part", [call("run"), words("My part.")]);
    bench.say("go");
    bench.until_ask(CallId::of(NodeId(1), 1).0).await;
    to_worker(&bench, "mind the gap");
    bench.answer(CallId::of(NodeId(1), 1).0, Answer::AllowedOnce);
    // It has ended, and its turn goes on.
    bench.until_ask(2).await;
    to_worker(&bench, "too late");
    bench.answer(2, Answer::AllowedOnce);
    let told = bench.until_end().await;
    assert_eq!(alerts(&told), ["coder#1 has ended, so your message was not delivered: too late"]);
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(said(&records), ["go", "part", "mind the gap"]);
    let last = bench.requests_of("part").pop().unwrap();
    assert!(matches!(last.messages.last(), Some(kokua::agent::Message::User(user)) if user.text == "mind the gap"));
}

#[tokio::test]
async fn the_view_switched_while_a_card_is_open() {
    let mut bench = Bench::new().await;
    bench.plays_for("one", [call("run"), words("Done.")]);
    bench.say("one");
    bench.until_ask(1).await;
    // A yes is being checked once more when the view changes: it counts for its own conversation, and for no other.
    let (word, waits) = std::sync::mpsc::channel();
    *lock(&bench.stage().preview_waits) = Some(waits);
    bench.answer(1, Answer::AllowedOnce);
    while lock(&bench.stage().preview_waits).is_some() {
        tokio::task::yield_now().await;
    }
    bench.leave().await;
    bench.plays_for("two", [call("run"), words("No.")]);
    bench.say("two");
    bench
        .until_told("card", |told| told.conversation == "conversation-2" && matches!(told.event, Event::Ask { .. }))
        .await;
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    assert_eq!(ends(&told), [("conversation-1".to_owned(), 0, TurnEnd::Answered)]);
    assert!(told.iter().all(|update| update.conversation == "conversation-1"), "{told:#?}");
    assert_eq!(bench.stage().ran(), ["run {}"]);
    bench.answer_in("conversation-2", CallId(1), Answer::Denied);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), ["run {}"]);
    let answered: BTreeSet<_> = bench
        .house
        .shelf
        .records("conversation-2")
        .iter()
        .filter_map(|record| match record {
            Record::CallEnded { answer, .. } => answer.clone().map(|answer| answer.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(answered, BTreeSet::from(["denied".to_owned()]));
}
