//! Conversations out of sight (P12, P14): what becomes of their gated calls, and how one that runs comes back into view.

use std::time::Duration;

use kokua::access::Answer;
use kokua::access::declare::Background;
use kokua::agent::{Activity, CallId, Command, Ending, Event, NodeId, Record, TurnEnd, Update};
use kokua::assistant::Opening;
use serde_json::json;
use tokio::sync::oneshot;

use crate::house::{
    Bench, Options, alerts, assert_one_ending_each, call, calls, ends, events, results, sent, spawn, text, words,
};

const FIRST: &str = "conversation-1";

/// A conversation that was left while a call of it runs; after the test's word it makes a gated one, and says `Done.`
async fn left(options: Options) -> (Bench, oneshot::Sender<()>) {
    let mut bench = Bench::with(options).await;
    let word = bench.stage().waiting(1);
    bench.plays_for("one", [calls(&[("wait", json!({"n": 1}))]), call("run"), words("Done.")]);
    bench.say("one");
    bench.until_running(1).await;
    bench.leave().await;
    (bench, word)
}

/// A conversation that was left with a card of an entry agent's call.
async fn parked(options: Options) -> Bench {
    let (mut bench, word) = left(options).await;
    word.send(()).unwrap();
    bench.until_ask(2).await;
    bench
}

fn answers(updates: &[Update]) -> Vec<(String, u64, Answer)> {
    updates
        .iter()
        .filter_map(|update| match &update.event {
            Event::Answer { call, answer } => Some((update.conversation.clone(), call.0, answer.clone())),
            _ => None,
        })
        .collect()
}

/// How a call ended, as the log has it.
fn ended(bench: &Bench, call: u64) -> (Ending, Option<Answer>, String) {
    let records = bench.house.shelf.records(FIRST);
    let found = records.iter().find_map(|record| match record {
        Record::CallEnded { call: id, ending, answer, text, .. } if id.0 == call => {
            Some((ending.clone(), answer.clone(), text.clone()))
        }
        _ => None,
    });
    found.expect("an ending")
}

async fn activity(bench: &mut Bench) -> Activity {
    bench.submit(Command::List);
    let told = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    let Some(Event::Conversations { list }) = told.last() else { unreachable!() };
    list.iter().find(|one| one.id == FIRST).expect("it is listed").activity
}

#[tokio::test]
async fn p12_a_gated_call_out_of_sight_is_parked_shown_and_answered_from_another_conversation() {
    let (mut bench, word) = left(Options::workers()).await;
    word.send(()).unwrap();
    let told = bench.until_told("card", |update| matches!(update.event, Event::Ask { .. })).await;
    assert_eq!(told.last().unwrap().conversation, FIRST);
    assert_eq!(activity(&mut bench).await, Activity::Asking);
    // A yes in the conversation in view is to none of its cards.
    bench.answer(2, Answer::AllowedOnce);
    let told = bench.settled().await;
    assert!(answers(&told).is_empty() && bench.stage().ran() == [r#"wait {"n":1}"#]);
    bench.answer_in(FIRST, CallId(2), Answer::AllowedOnce);
    let told = bench.until_end_told().await;
    assert_eq!(answers(&told), [(FIRST.to_owned(), 2, Answer::AllowedOnce)]);
    // Its row is told as well: the card stands beside it.
    assert_eq!(results(&events(&told)), [(2, Ending::Ok, "run done".to_owned())]);
    assert_eq!(ends(&told), [(FIRST.to_owned(), 0, TurnEnd::Answered)]);
    assert_eq!(activity(&mut bench).await, Activity::Idle);
}

#[tokio::test]
async fn p12_a_gated_call_out_of_sight_is_auto_denied_where_the_configuration_says_so() {
    let (mut bench, word) = left(Options { background: Background::Deny, ..Options::workers() }).await;
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    assert!(!told.iter().any(|update| matches!(update.event, Event::Ask { .. })));
    let [(id, 2, Answer::AutoDenied { reason })] = &answers(&told)[..] else { panic!("one answer: {told:#?}") };
    assert_eq!(id, FIRST);
    assert_eq!(reason, "its conversation is not on screen, and [security].background is \"deny\"");
    assert_eq!(ended(&bench, 2).0, Ending::NotAllowed);
    assert_eq!(ends(&told), [(FIRST.to_owned(), 0, TurnEnd::Answered)], "its turn goes on");
}

#[tokio::test]
async fn p12_a_gated_call_out_of_sight_is_auto_denied_when_nobody_is_present() {
    let (mut bench, word) = left(Options::workers()).await;
    bench.house.pass(901);
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    let [(_, 2, Answer::AutoDenied { reason })] = &answers(&told)[..] else { panic!("one answer: {told:#?}") };
    assert_eq!(reason, "its conversation is not on screen and nobody is here");
    assert!(!bench.stage().ran().iter().any(|ran| ran.starts_with("run")));
}

#[tokio::test]
async fn p12_a_key_makes_present_and_presence_lapsing_later_changes_nothing() {
    let (mut bench, word) = left(Options::workers()).await;
    bench.house.pass(901);
    bench.submit(Command::Present);
    word.send(()).unwrap();
    bench.until_ask(2).await;
    bench.house.pass(90_001);
    bench.answer_in(FIRST, CallId(2), Answer::AllowedOnce);
    let told = bench.until_end_told().await;
    assert_eq!(results(&events(&told)), [(2, Ending::Ok, "run done".to_owned())]);
}

#[tokio::test]
async fn p12_on_screen_a_card_waits_whatever_the_presence_a_workers_too() {
    let mut bench = Bench::with(Options { background: Background::Deny, ..Options::workers() }).await;
    bench.house.pass(90_001);
    bench.plays_for("one", [calls(&[("run", json!({})), spawn("coder", "part")]), words("Done.")]);
    bench.plays_for("part", [call("run"), words("My part.")]);
    bench.say("one");
    let of_worker = CallId::of(NodeId(1), 1);
    // Either may be shown first.
    while ![1, of_worker.0].iter().all(|call| bench.showings.contains_key(call)) {
        bench.until("an ask", |event| matches!(event, Event::Ask { .. })).await;
    }
    bench.house.pass(90_001);
    bench.answer(1, Answer::AllowedOnce);
    bench.answer(of_worker.0, Answer::AllowedOnce);
    let told = bench.until_end().await;
    assert!(results(&told).iter().all(|(_, ending, _)| *ending == Ending::Ok), "{told:#?}");
}

#[tokio::test]
async fn p12_a_workers_call_out_of_sight_is_parked_or_auto_denied_alike() {
    for (background, ran) in [(Background::Park, 1), (Background::Deny, 0)] {
        let mut bench = Bench::with(Options { background, ..Options::workers() }).await;
        let word = bench.stage().waiting(1);
        bench.plays_for("one", [calls(&[spawn("coder", "part")]), words("Done.")]);
        bench.plays_for("part", [calls(&[("wait", json!({"n": 1}))]), call("run"), words("My part.")]);
        bench.say("one");
        bench.until_runs(1, 1).await;
        bench.leave().await;
        word.send(()).unwrap();
        if background == Background::Park {
            let told = bench.until_told("card", |update| matches!(update.event, Event::Ask { .. })).await;
            let told = told.last().unwrap();
            assert_eq!((told.conversation.as_str(), told.node), (FIRST, NodeId(1)));
            bench.answer_in(FIRST, CallId::of(NodeId(1), 2), Answer::AllowedOnce);
        }
        bench.until_end().await;
        assert_eq!(bench.stage().ran().iter().filter(|tool| tool.starts_with("run")).count(), ran);
    }
}

#[tokio::test]
async fn p12_a_parked_card_expires_which_is_neither_yes_nor_no_and_its_turn_goes_on() {
    // What the clock says has no part in it: this one hardly moves.
    let expires = Some(Duration::from_millis(40));
    let mut bench = parked(Options { approval_timeout: expires, ..Options::workers() }).await;
    let told = bench.until_end_told().await;
    assert_eq!(answers(&told), [(FIRST.to_owned(), 2, Answer::Expired)]);
    assert_eq!(ends(&told), [(FIRST.to_owned(), 0, TurnEnd::Answered)]);
    let (ending, answer, _) = ended(&bench, 2);
    assert_eq!((ending, answer), (Ending::NotAllowed, Some(Answer::Expired)));
    // What is said to it now is said to nobody.
    bench.answer_in(FIRST, CallId(2), Answer::AllowedOnce);
    bench.settled().await;
    assert!(!bench.stage().ran().iter().any(|tool| tool.starts_with("run")));
}

#[tokio::test]
async fn p12_a_card_whose_conversation_was_left_expires_and_not_if_it_came_back() {
    let options = || Options { approval_timeout: Some(Duration::ZERO), ..Options::workers() };
    let mut bench = Bench::with(options()).await;
    bench.plays_for("one", [call("run"), words("Done.")]);
    bench.say("one");
    bench.until_ask(1).await;
    bench.leave().await;
    let told = bench.until_end_told().await;
    assert_eq!(answers(&told), [(FIRST.to_owned(), 1, Answer::Expired)]);
    // It is back before anybody hears that its time is over: both commands wait for the driver together.
    let mut bench = Bench::with(options()).await;
    bench.plays_for("one", [call("run"), words("Done.")]);
    bench.say("one");
    bench.until_ask(1).await;
    bench.submit(Command::New);
    bench.submit(Command::Open { id: FIRST.to_owned() });
    bench.until_ask(1).await;
    bench.settled().await;
    bench.answer(1, Answer::AllowedOnce);
    let told = bench.until_end_told().await;
    assert_eq!(answers(&told), [(FIRST.to_owned(), 1, Answer::AllowedOnce)]);
}

#[tokio::test]
async fn p14_a_stop_withdraws_parked_cards_of_the_turn_and_of_its_workers() {
    let mut bench = Bench::with(Options::workers()).await;
    bench.plays_for("one", [calls(&[("run", json!({})), spawn("coder", "part")])]);
    bench.plays_for("part", [call("run")]);
    bench.say("one");
    let of_worker = CallId::of(NodeId(1), 1);
    bench.until_ask(of_worker.0).await;
    bench.leave().await;
    // What is in view is stopped, and nothing else.
    bench.submit(Command::Stop);
    let told = bench.settled().await;
    assert!(answers(&told).is_empty() && ends(&told).is_empty());
    bench.submit(Command::Open { id: FIRST.to_owned() });
    bench.submit(Command::Stop);
    let told = bench.until_end_told().await;
    let withdrawn: Vec<_> = answers(&told).into_iter().map(|(_, call, answer)| (call, answer)).collect();
    assert_eq!(withdrawn, [(of_worker.0, Answer::Withdrawn), (1, Answer::Withdrawn)]);
    bench.answer(1, Answer::AllowedOnce);
    bench.answer(of_worker.0, Answer::AllowedOnce);
    bench.settled().await;
    assert!(bench.stage().ran().is_empty());
}

#[tokio::test]
async fn p12_nothing_parked_survives_the_programs_end() {
    let bench = parked(Options::workers()).await;
    let house = bench.house.clone();
    bench.submit(Command::Quit);
    let told = bench.drain_told().await;
    assert_eq!(answers(&told), [(FIRST.to_owned(), 2, Answer::Interrupted)]);
    assert_one_ending_each(&house.shelf.records(FIRST));
    let mut bench = house.open(Options { opening: Opening::Stored(FIRST.to_owned()), ..Options::workers() }).await;
    let mut told = bench.until_told("history", |update| matches!(update.event, Event::Replayed)).await;
    told.extend(bench.settled().await);
    assert!(!told.iter().any(|update| matches!(update.event, Event::Ask { .. })), "nothing asks by itself");
    assert_eq!(ended(&bench, 2).0, Ending::Interrupted);
}

#[tokio::test]
async fn coming_back_shows_history_what_is_under_way_and_the_open_cards_whose_yes_counts() {
    let mut bench = Bench::with(Options::workers()).await;
    let word = bench.stage().waiting(1);
    let (speak, play) = sent();
    let round = [spawn("coder", "part"), spawn("researcher", "search"), ("wait", json!({"n": 1})), ("look", json!({}))];
    bench.plays_for("one", [calls(&round), words("Done.")]);
    bench.plays_for("part", [play]);
    bench.plays_for("search", [calls(&[("run", json!({"n": 7}))]), words("Found.")]);
    bench.say("one");
    speak.send(text("Half of ")).unwrap();
    let card = CallId::of(NodeId(2), 1);
    let (mut spoke, mut asked) = (false, false);
    bench
        .until("words and a card", |event| {
            spoke |= matches!(event, Event::Delta { .. });
            asked |= matches!(event, Event::Ask { .. });
            spoke && asked
        })
        .await;
    bench.say("and one more thing");
    bench.until("queue", |event| matches!(event, Event::Queued { .. })).await;
    let showing = bench.showings[&card.0];
    bench.leave().await;
    speak.send(text("it")).unwrap();
    bench.settled().await;
    let history = bench.open(FIRST).await;
    assert!(
        history.iter().all(|update| update.conversation == FIRST || !matches!(update.event, Event::Session { .. }))
    );
    let told = events(&history);
    assert!(told.iter().any(|event| matches!(event, Event::Session { .. })), "{told:#?}");
    assert_eq!(told.iter().filter(|event| matches!(event, Event::Spawned(_))).count(), 2);
    assert_eq!(told.iter().filter(|event| matches!(event, Event::ToolCall { .. })).count(), 5);
    assert_eq!(results(&told), [(4, Ending::Ok, "look done".to_owned())]);
    assert!(!told.iter().any(|event| matches!(event, Event::End { .. } | Event::Delta { .. } | Event::Ask { .. })));
    // What no record has, after it: of each agent, under its own number.
    let standing = bench.until_told("card", |update| matches!(update.event, Event::Ask { .. })).await;
    let running: Vec<_> = standing
        .iter()
        .filter_map(|update| match update.event {
            Event::Running { call, .. } => Some((update.node.0, call.0)),
            _ => None,
        })
        .collect();
    assert_eq!(running, [(0, 1), (0, 2), (0, 3)]);
    let words_of_worker: Vec<_> = standing
        .iter()
        .filter_map(|update| match &update.event {
            Event::Delta { text } => Some((update.node.0, text.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(words_of_worker, [(1, "Half of it")]);
    assert!(standing.iter().any(|update| update.node == NodeId(1) && matches!(update.event, Event::Call(_))));
    let queued = |update: &Update| matches!(&update.event, Event::Queued { text } if text == "and one more thing");
    assert!(standing.iter().any(queued));
    let Some(Update { node: NodeId(2), event: Event::Ask { ask, showing: again, .. }, .. }) = standing.last() else {
        panic!("the worker's card: {standing:#?}")
    };
    assert_eq!((ask.call, *again), (card, showing), "as it was shown last");
    bench.answer(card.0, Answer::AllowedOnce);
    word.send(()).unwrap();
    drop(speak);
    let told = bench.until_end().await;
    assert!(alerts(&told).is_empty());
    assert!(results(&told).iter().all(|(_, ending, _)| *ending == Ending::Ok), "{told:#?}");
    assert_eq!(results(&told).len(), 4);
    assert_one_ending_each(&bench.house.shelf.records(FIRST));
}

/// A card whose preview was still being made when its conversation was left is shown when it is there.
#[tokio::test]
async fn a_card_that_was_not_there_yet_is_shown_once_whether_its_conversation_is_back_or_not() {
    for back in [true, false] {
        let mut bench = Bench::new().await;
        let (word, waits) = std::sync::mpsc::channel();
        *crate::house::lock(&bench.stage().preview_waits) = Some(waits);
        bench.plays_for("one", [calls(&[("run", json!({})), ("hang", json!({}))])]);
        bench.say("one");
        bench.until_running(2).await;
        bench.leave().await;
        if back {
            bench.open(FIRST).await;
        }
        word.send(()).unwrap();
        let mut told = bench.until_told("card", |update| matches!(update.event, Event::Ask { .. })).await;
        told.extend(bench.settled().await);
        assert_eq!(told.iter().filter(|update| matches!(update.event, Event::Ask { .. })).count(), 1);
        bench.answer_in(FIRST, CallId(1), Answer::AllowedOnce);
        bench.until("result", |event| matches!(event, Event::ToolResult { .. })).await;
        assert_eq!(bench.stage().ran().iter().filter(|tool| tool.starts_with("run")).count(), 1);
    }
}
