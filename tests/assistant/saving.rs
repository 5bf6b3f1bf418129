//! What cannot be saved does not happen: the log fails at each kind of record in turn.

use kokua::access::Answer;
use kokua::agent::{Command, Ending, Event, Record, TurnEnd};
use serde_json::json;

use crate::house::{Bench, alerts, assert_one_ending_each, call, calls, shape, words};

const SENTENCE: &str = "The conversation could not be saved, so the turn was stopped: the disk is full";

#[tokio::test]
async fn a_turn_that_cannot_be_begun_asks_no_model_and_the_next_one_starts_afresh() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse(|_| true);
    let events = bench.turn("go").await;
    assert_eq!(alerts(&events), [SENTENCE]);
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Stopped, .. })));
    assert!(bench.requests().is_empty());
    bench.house.shelf.refuse_nothing();
    bench.plays([words("Here.")]);
    assert!(matches!(bench.turn("go").await.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
    assert_eq!(shape(&bench.house.shelf.records("conversation-1")), ["turn", "model", "end"]);
}

#[tokio::test]
async fn a_log_that_cannot_be_begun_is_said_and_tried_again() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse_to_open();
    let events = bench.turn("go").await;
    assert_eq!(alerts(&events).len(), 1);
    assert!(bench.requests().is_empty());
    let events = bench.turn("go").await;
    assert_eq!(alerts(&events).len(), 1);
    assert!(bench.house.shelf.ids().is_empty());
}

#[tokio::test]
async fn calls_of_an_answer_that_was_not_saved_do_not_run() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse(|record| matches!(record, Record::ModelCall { .. }));
    bench.plays([calls(&[("look", json!({})), ("run", json!({}))])]);
    let events = bench.turn("go").await;
    assert_eq!(alerts(&events), [SENTENCE]);
    assert!(!events.iter().any(|event| matches!(event, Event::Ask { .. })));
    assert!(bench.stage().ran().is_empty());
}

#[tokio::test]
async fn an_answer_that_was_not_saved_runs_nothing_and_grants_nothing() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse(|record| matches!(record, Record::Allowed { .. }));
    bench.plays([call("run")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedForConversation);
    let events = bench.until_end().await;
    assert_eq!(alerts(&events), [SENTENCE]);
    assert!(bench.stage().ran().is_empty());
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(shape(&records), ["turn", "model"]);
    // The conversation goes on from what was saved: the call ended as interrupted, and the same call asks again.
    bench.house.shelf.refuse_nothing();
    bench.plays([call("run"), words("Done.")]);
    bench.say("go on");
    let events = bench.until_ask(2).await;
    let interrupted = |event: &Event| matches!(event, Event::ToolResult { ending: Ending::Interrupted, .. });
    assert!(events.iter().any(interrupted), "{events:#?}");
    bench.answer(2, Answer::AllowedOnce);
    bench.until_end().await;
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
}

#[tokio::test]
async fn a_result_that_was_not_saved_reaches_no_model() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse(|record| matches!(record, Record::CallEnded { .. }));
    bench.plays([call("look")]);
    let events = bench.turn("go").await;
    assert_eq!(alerts(&events), [SENTENCE]);
    assert_eq!(bench.requests().len(), 1);
}

#[tokio::test]
async fn nothing_is_written_behind_a_hole() {
    let mut bench = Bench::new().await;
    bench.house.shelf.refuse(|record| matches!(record, Record::CallEnded { .. }));
    bench.plays([call("look")]);
    bench.turn("go").await;
    bench.house.shelf.refuse_nothing();
    bench.submit(Command::Rename { title: "A title".to_owned() });
    bench.until("title", |event| matches!(event, Event::Titled { .. })).await;
    let records = bench.house.shelf.records("conversation-1");
    // The conversation was opened again first, so the call has its ending and the turn its end.
    assert_eq!(shape(&records), ["turn", "model", "ended", "end", "title"]);
}
