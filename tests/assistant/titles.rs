//! Titles: silent when they do not work, never in the way of a person's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kokua::agent::{CallKind, Command, Delta, Event, Failure, FailureKind, Record, Retry};
use kokua::assistant::Titles;

use crate::house::{Bench, Options, Play, alerts, sent, shape, text, words};

async fn bench() -> Bench {
    Bench::with(Options { titles: Titles::Generated, ..Options::default() }).await
}

fn titles(records: &[Record]) -> Vec<&str> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Titled { title } => Some(title.as_str()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_first_answer_is_followed_by_a_title_and_no_second_one() {
    let mut bench = bench().await;
    bench.plays([words("Tidied."), words("Again.")]);
    bench.titles([words("\"Tidy the folder.\"")]);
    bench.turn("tidy the folder").await;
    let events = bench.until("title", |event| matches!(event, Event::Titled { .. })).await;
    assert!(matches!(events.last(), Some(Event::Titled { title }) if title == "Tidy the folder"));
    bench.turn("again").await;
    let kinds: Vec<_> = bench.requests().iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [CallKind::Agent, CallKind::Title, CallKind::Agent]);
    assert_eq!(titles(&bench.house.shelf.records("conversation-1")), ["Tidy the folder"]);
}

#[tokio::test]
async fn a_persons_title_stays() {
    let mut bench = bench().await;
    let (speak, play) = sent();
    bench.plays([words("Tidied."), words("Yes.")]);
    bench.titles([play]);
    bench.turn("tidy").await;
    bench.submit(Command::Rename { title: "Mine".to_owned() });
    bench.until("title", |event| matches!(event, Event::Titled { .. })).await;
    speak.send(text("Theirs")).unwrap();
    drop(speak);
    bench.turn("still there?").await;
    let house = bench.house.clone();
    bench.quit().await;
    assert_eq!(titles(&house.shelf.records("conversation-1")), ["Mine"]);
}

#[tokio::test]
async fn a_title_that_fails_or_panics_is_silent_and_asked_for_again() {
    let failure = Failure { kind: FailureKind::Cut, message: "cut".to_owned(), hint: None, retry: Retry::Never };
    let mut bench = bench().await;
    bench.plays([words("One."), words("Two."), words("Three.")]);
    bench.titles([Play::Says(vec![text("Half"), Err(failure)]), Play::Panics, words("Whole")]);
    let mut events = bench.turn("one").await;
    events.extend(bench.turn("two").await);
    events.extend(bench.turn("three").await);
    events.extend(bench.until("title", |event| matches!(event, Event::Titled { .. })).await);
    assert!(alerts(&events).is_empty());
    assert_eq!(titles(&bench.house.shelf.records("conversation-1")), ["Whole"]);
}

#[tokio::test]
async fn a_title_without_end_is_given_up() {
    let mut bench = bench().await;
    let taken = Arc::new(AtomicU64::new(0));
    bench.plays([words("One."), words("Two.")]);
    bench.titles([Play::Endless(Delta::Text { text: "word ".repeat(1_000) }, Arc::clone(&taken)), words("Two")]);
    bench.turn("one").await;
    bench.turn("two").await;
    bench.until("title", |event| matches!(event, Event::Titled { .. })).await;
    assert!(taken.load(Ordering::Relaxed) < 100);
}

#[tokio::test]
async fn first_words_cost_no_call() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    assert_eq!(bench.requests().len(), 1);
    assert_eq!(shape(&bench.house.shelf.records("conversation-1")), ["turn", "model", "end"]);
}

#[tokio::test]
async fn a_title_of_no_words_is_said() {
    let mut bench = Bench::new().await;
    bench.submit(Command::Rename { title: " .\n".to_owned() });
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["A title needs at least one word."]);
}
