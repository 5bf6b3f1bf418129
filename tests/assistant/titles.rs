//! Titles: silent when they do not work, never in the way of a person's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kokua::agent::{CallKind, Command, Delta, Event, Failure, FailureKind, Record, Retry};
use kokua::assistant::Titles;

use crate::house::{
    Bench, Options, Play, alerts, assert_one_ending_each, call, load, results, sent, shape, text, words,
};

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

/// A conversation whose agent loaded something and rests while its title is still being written.
async fn resting() -> (Bench, tokio::sync::mpsc::UnboundedSender<crate::house::Piece>) {
    let mut bench = bench().await;
    let (speak, play) = sent();
    bench.plays([load("extra"), words("Tidied.")]);
    bench.titles([play]);
    bench.turn("tidy").await;
    bench.leave().await;
    assert!(!bench.house.shelf.is_open("conversation-1"), "it rests");
    (bench, speak)
}

#[tokio::test]
async fn a_title_of_a_conversation_whose_agent_rests_is_kept_and_nothing_is_lost() {
    let (mut bench, speak) = resting().await;
    speak.send(text("Tidy")).unwrap();
    drop(speak);
    let told = bench.until_told("title", |update| matches!(update.event, Event::Titled { .. })).await;
    assert_eq!(told.last().unwrap().conversation, "conversation-1");
    assert_eq!(titles(&bench.house.shelf.records("conversation-1")), ["Tidy"]);
    assert!(!bench.house.shelf.is_open("conversation-1"), "its log is closed again");
    let told = bench.open("conversation-1").await;
    assert!(
        told.iter().any(|update| matches!(&update.event, Event::Session { title: Some(title), .. } if title == "Tidy"))
    );
    // Its agent knows what it had loaded, and no title is asked for again.
    bench.plays([call("more"), words("There.")]);
    let told = bench.turn("and more").await;
    assert!(matches!(results(&told).as_slice(), [(2, kokua::agent::Ending::Ok, _)]), "{told:#?}");
    assert_eq!(bench.requests().iter().filter(|request| request.kind == CallKind::Title).count(), 1);
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(titles(&records), ["Tidy"]);
    assert_one_ending_each(&records);
}

#[tokio::test]
async fn a_title_that_comes_to_rest_never_replaces_a_persons() {
    let (mut bench, speak) = resting().await;
    bench.open("conversation-1").await;
    bench.submit(Command::Rename { title: "Mine".to_owned() });
    bench.until("title", |event| matches!(event, Event::Titled { .. })).await;
    bench.leave().await;
    speak.send(text("Theirs")).unwrap();
    drop(speak);
    speak_is_heard(&mut bench).await;
    assert_eq!(titles(&bench.house.shelf.records("conversation-1")), ["Mine"]);
}

/// Another conversation's title comes after whatever came before it.
async fn speak_is_heard(bench: &mut Bench) {
    bench.plays([words("Here.")]);
    bench.titles([words("Later")]);
    bench.turn("and here").await;
    bench.until("title", |event| matches!(event, Event::Titled { title } if title == "Later")).await;
}

#[tokio::test]
async fn a_title_for_a_conversation_that_is_gone_or_held_is_dropped() {
    for held in [true, false] {
        let (mut bench, speak) = resting().await;
        if held {
            bench.house.shelf.hold("conversation-1");
        } else {
            bench.submit(Command::Delete { id: "conversation-1".to_owned() });
            bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
        }
        speak.send(text("Tidy")).unwrap();
        drop(speak);
        speak_is_heard(&mut bench).await;
        assert!(titles(&bench.house.shelf.records("conversation-1")).is_empty());
    }
}
