//! A conversation that another program has open: it is said, it can be read, and nothing of it changes.

use kokua::agent::{Command, Event, Record};
use kokua::assistant::Opening;
use serde_json::json;

use crate::house::{Bench, House, Options, alerts, call, calls, events, words};

const HELD: &str = "conversation-1";
const HOLDER: &str = "\"conversation-1\" is open in another kokua (process 4242, since 21:04)";

/// A house with one conversation, which another program has open.
async fn house() -> House {
    let mut bench = Bench::new().await;
    bench.plays([call("look"), words("Hello.")]);
    bench.turn("hi").await;
    let house = bench.house.clone();
    bench.quit().await;
    house.shelf.hold(HELD);
    house
}

/// A bench in it whose own, new conversation is in view.
async fn bench(house: &House) -> Bench {
    let mut bench = house.open(Options::default()).await;
    bench.until_replayed().await;
    bench
}

async fn read_only(house: &House) -> Bench {
    let mut bench = bench(house).await;
    bench.submit(Command::OpenReadOnly { id: HELD.to_owned() });
    bench.until_replayed().await;
    bench
}

fn holder(events: &[Event]) -> Option<(&str, &str)> {
    events.iter().find_map(|event| match event {
        Event::Held { id, holder } => Some((id.as_str(), holder.as_str())),
        _ => None,
    })
}

fn session(events: &[Event]) -> (String, Option<String>) {
    let found = events.iter().rev().find_map(|event| match event {
        Event::Session { conversation, read_only, .. } => Some((conversation.clone(), read_only.clone())),
        _ => None,
    });
    found.expect("a session")
}

#[tokio::test]
async fn a_held_conversation_is_said_and_the_one_in_view_stays() {
    let house = house().await;
    let mut bench = bench(&house).await;
    bench.submit(Command::Open { id: HELD.to_owned() });
    let told = events(&bench.settled().await);
    assert_eq!(holder(&told), Some((HELD, HOLDER)));
    assert!(alerts(&told).is_empty() && !told.iter().any(|event| matches!(event, Event::Session { .. })));
    bench.plays([words("Here.")]);
    bench.turn("still here?").await;
    assert_eq!(house.shelf.ids(), [HELD, "conversation-2"]);
}

#[tokio::test]
async fn the_latest_conversation_held_at_the_start_a_new_one_begins_and_that_is_said() {
    let house = house().await;
    let mut bench = house.open(Options { opening: Opening::Latest, ..Options::default() }).await;
    let mut told = bench.until_replayed().await;
    told.extend(events(&bench.settled().await));
    assert_eq!(session(&told), ("conversation-2".to_owned(), None));
    assert_eq!(holder(&told), Some((HELD, HOLDER)));
    assert!(alerts(&told).is_empty(), "{told:#?}");
}

#[tokio::test]
async fn read_only_shows_the_records_and_whatever_would_write_is_refused_with_the_holders_sentence() {
    let house = house().await;
    let before = house.shelf.records(HELD);
    let mut bench = bench(&house).await;
    bench.submit(Command::OpenReadOnly { id: HELD.to_owned() });
    let told = bench.until_replayed().await;
    assert_eq!(session(&told), (HELD.to_owned(), Some(HOLDER.to_owned())));
    assert!(told.iter().any(|event| matches!(event, Event::Delta { text } if text == "Hello.")));
    bench.say("let me in");
    bench.submit(Command::Mode { name: Some("companion".to_owned()) });
    bench.submit(Command::Rename { title: "Mine".to_owned() });
    bench.submit(Command::Stop);
    let told = events(&bench.settled().await);
    assert_eq!(
        alerts(&told),
        [
            format!("Nothing can be said here: {HOLDER}"),
            format!("The mode stays as it is: {HOLDER}"),
            format!("The title stays as it is: {HOLDER}"),
        ]
    );
    assert!(!told.iter().any(|event| matches!(event, Event::Titled { .. } | Event::Mode { .. })));
    // Which modes there are may be asked all the same.
    bench.submit(Command::Mode { name: None });
    bench.until("modes", |event| matches!(event, Event::Modes { .. })).await;
    let requests = bench.requests().len();
    bench.leave().await;
    let told = bench.quit().await;
    assert!(alerts(&told).is_empty(), "{told:#?}");
    assert_eq!(requests, 2, "those of the first turn");
    assert_eq!(house.shelf.records(HELD), before);
    assert!(house.shelf.is_open(HELD), "it is still the other program's");
    assert!(house.minutes.entries().iter().all(|entry| !matches!(entry.what, kokua::access::audit::What::Mode { .. })));
}

#[tokio::test]
async fn read_only_again_shows_what_was_written_since() {
    let house = house().await;
    let mut bench = read_only(&house).await;
    house.shelf.write(HELD, Record::Titled { title: "Theirs".to_owned() });
    bench.submit(Command::OpenReadOnly { id: HELD.to_owned() });
    let told = bench.until_replayed().await;
    let title = told.iter().find_map(|event| match event {
        Event::Session { title, .. } => title.clone(),
        _ => None,
    });
    assert_eq!(title.as_deref(), Some("Theirs"));
}

#[tokio::test]
async fn a_conversation_whose_holder_has_left_is_opened_and_can_be_said_to() {
    let house = house().await;
    let mut bench = bench(&house).await;
    bench.submit(Command::Open { id: HELD.to_owned() });
    bench.until("holder", |event| matches!(event, Event::Held { .. })).await;
    house.shelf.let_go(HELD);
    bench.submit(Command::OpenReadOnly { id: HELD.to_owned() });
    let told = bench.until("history", |event| matches!(event, Event::Replayed | Event::Held { .. })).await;
    assert!(holder(&told).is_none(), "nobody else has it open: {told:#?}");
    assert_eq!(session(&told), (HELD.to_owned(), None));
    bench.plays([words("In.")]);
    let told = bench.turn("let me in").await;
    assert!(alerts(&told).is_empty(), "{told:#?}");
}

#[tokio::test]
async fn read_only_of_one_that_this_program_runs_shows_the_running_one() {
    let mut bench = Bench::with(Options::workers()).await;
    let word = bench.stage().waiting(1);
    bench.plays_for("one", [calls(&[("wait", json!({"n": 1}))]), words("Done.")]);
    bench.say("one");
    bench.until_running(1).await;
    bench.leave().await;
    bench.submit(Command::OpenReadOnly { id: HELD.to_owned() });
    let told = bench.until_running(1).await;
    assert_eq!(session(&told), (HELD.to_owned(), None));
    word.send(()).unwrap();
    let told = bench.until_end().await;
    assert_eq!(crate::house::results(&told).len(), 1);
}
