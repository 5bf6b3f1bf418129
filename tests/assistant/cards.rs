//! Cards: what a person was shown is what runs.

use std::time::Duration;

use kokua::access::Answer;
use kokua::agent::{Author, CallId, Command, Ending, Event};
use serde_json::json;

use crate::house::{Bench, Options, alerts, call, calls, lock, results, words};

fn set_file(bench: &Bench, content: &str) {
    content.clone_into(&mut lock(&bench.stage().file));
}

/// The card's file and whether it says that it changed.
fn cards(events: &[Event]) -> Vec<(String, bool)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Ask { preview, changed, .. } => Some((preview.digest.clone(), *changed)),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn p15_a_file_that_changed_since_the_card_is_asked_again() {
    let mut bench = Bench::new().await;
    set_file(&bench, "one");
    bench.plays([call("write"), words("Written.")]);
    bench.say("go");
    assert_eq!(cards(&bench.until_ask(1).await), [("one".to_owned(), false)]);
    set_file(&bench, "two");
    bench.answer(1, Answer::AllowedOnce);
    assert_eq!(cards(&bench.until_ask(1).await), [("two".to_owned(), true)]);
    assert!(bench.stage().ran().is_empty());
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), ["write {}"]);
}

#[tokio::test]
async fn p15_two_answers_to_one_card_allow_nothing_that_was_not_shown() {
    let mut bench = Bench::new().await;
    set_file(&bench, "one");
    bench.plays([call("write"), words("Written.")]);
    bench.say("go");
    bench.until_ask(1).await;
    set_file(&bench, "two");
    bench.answer(1, Answer::AllowedOnce);
    bench.answer(1, Answer::AllowedOnce);
    assert_eq!(cards(&bench.until_ask(1).await), [("two".to_owned(), true)]);
    // Denied by the next answer, unless the second one above already let it run.
    bench.answer(1, Answer::Denied);
    let events = bench.until_end().await;
    assert!(matches!(results(&events).as_slice(), [(1, Ending::NotAllowed, _)]), "{events:#?}");
    assert!(bench.stage().ran().is_empty());
}

#[tokio::test]
async fn no_counts_at_once_even_before_the_card_is_there() {
    let mut bench = Bench::new().await;
    bench.plays([calls(&[("write", json!({})), ("hang", json!({}))])]);
    let (word, waits) = std::sync::mpsc::channel();
    *lock(&bench.stage().preview_waits) = Some(waits);
    bench.say("go");
    bench.until_running(2).await;
    // Yes counts only for what was shown.
    bench.answer(1, Answer::AllowedOnce);
    bench.answer(1, Answer::Denied);
    let events = bench.until("result", |event| matches!(event, Event::ToolResult { .. })).await;
    assert!(matches!(results(&events).as_slice(), [(1, Ending::NotAllowed, _)]));
    word.send(()).unwrap();
    bench.submit(Command::Stop);
    let events = bench.until_end().await;
    assert!(cards(&events).is_empty(), "a card that was answered is not shown");
    assert_eq!(bench.stage().ran(), ["hang {}"]);
}

#[tokio::test]
async fn a_preview_that_panics_still_shows_its_card() {
    let mut bench = Bench::new().await;
    set_file(&bench, "unreadable");
    bench.plays([call("write"), words("Written.")]);
    bench.say("go");
    let why = "it stopped unexpectedly; the log under data/logs has more";
    assert_eq!(cards(&bench.until_ask(1).await), [(why.to_owned(), false)]);
    set_file(&bench, "readable");
    bench.answer(1, Answer::AllowedOnce);
    assert_eq!(cards(&bench.until_ask(1).await), [("readable".to_owned(), true)]);
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), ["write {}"]);
}

#[tokio::test]
async fn p13_nobody_gives_an_answer_that_is_not_a_persons() {
    let mut bench = Bench::new().await;
    bench.plays([call("run")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedByGrant { grant: 1 });
    bench.answer(1, Answer::AllowedByFlag { entry: "work".to_owned() });
    bench.submit(Command::Stop);
    let events = bench.until_end().await;
    assert_eq!(alerts(&events).len(), 2);
    assert!(bench.stage().ran().is_empty());
}

#[tokio::test]
async fn p16_a_grant_is_for_this_exact_call_in_this_conversation_and_survives_a_switch() {
    let mut bench = Bench::new().await;
    let same = || calls(&[("run", json!({"n": 1}))]);
    bench.plays([same(), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedForConversation);
    bench.until_end().await;
    // Another conversation asks.
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.plays([same()]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.submit(Command::Stop);
    bench.until_end().await;
    // Back in the first, it answers for the exact call, and for no other.
    bench.submit(Command::Open { id: "conversation-1".to_owned() });
    bench.until_replayed().await;
    bench.plays([same(), calls(&[("run", json!({"n": 2}))])]);
    bench.say("go");
    let events = bench.until_ask(3).await;
    let granted = |event: &Event| matches!(event, Event::Answer { answer: Answer::AllowedByGrant { grant: 1 }, .. });
    assert!(events.iter().any(granted));
    bench.answer(3, Answer::Denied);
    bench.plays([words("Done.")]);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), [r#"run {"n":1}"#, r#"run {"n":1}"#]);
    // Revoked, it asks.
    bench.submit(Command::Revoke { grant: 1 });
    bench.plays([same()]);
    bench.say("go");
    bench.until_ask(4).await;
}

#[tokio::test]
async fn p16_a_floor_tool_is_never_granted() {
    let mut bench = Bench::new().await;
    bench.plays([call("wipe"), call("wipe")]);
    bench.say("go");
    let events = bench.until_ask(1).await;
    assert!(matches!(events.last(), Some(Event::Ask { ask, .. }) if !ask.grantable));
    bench.answer(1, Answer::AllowedForConversation);
    bench.until_ask(2).await;
}

#[tokio::test]
async fn a_preview_that_never_answers_still_shows_its_card_and_says_so() {
    let (word, waits) = std::sync::mpsc::channel();
    let mut bench = Bench::with(Options { preview_timeout: Duration::ZERO, ..Options::default() }).await;
    *lock(&bench.stage().preview_waits) = Some(waits);
    bench.plays([call("write"), words("Denied.")]);
    bench.say("go");
    let events = bench.until_ask(1).await;
    let Some(Event::Ask { preview, .. }) = events.last() else { panic!("a card") };
    assert_eq!(preview.facts, [("no preview".to_owned(), "it took over 0 s".to_owned())]);
    bench.answer(1, Answer::Denied);
    bench.until_end().await;
    drop(word);
}

/// A yes to the card before an edit reaches nothing of the card after it.
#[tokio::test]
async fn p16_a_yes_to_the_card_before_an_edit_allows_nothing() {
    let mut bench = Bench::new().await;
    bench.plays([calls(&[("run", json!({"n": 1}))]), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.answer(1, Answer::AllowedOnce);
    bench.submit(Command::Edit {
        conversation: bench.conversation.clone(),
        call: CallId(1),
        arguments: "{\"n\": \"2\"}".to_owned(),
    });
    let events = bench.until_ask(1).await;
    let Some(Event::Ask { ask, changed: false, .. }) = events.last() else { panic!("a new card") };
    assert_eq!((ask.author, &ask.arguments), (Author::Person, &json!({"n": 2})), "checked and coerced");
    assert!(bench.stage().ran().is_empty());
    bench.answer(1, Answer::AllowedOnce);
    let events = bench.until_end().await;
    let results = results(&events);
    let [(1, Ending::Ok, text)] = results.as_slice() else { panic!("one result: {results:?}") };
    assert!(text.starts_with("The user changed the arguments"), "{text}");
    assert_eq!(bench.stage().ran(), [r#"run {"n":2}"#]);
}

/// Typed ahead, a yes met the card as it was before the edit and let the changed call run unseen.
#[tokio::test]
async fn p16_a_yes_to_an_earlier_showing_allows_nothing_whatever_came_of_the_edit() {
    for edit in ["{\"n\": 2}", "{\"n\": ", "{\"n\": 1}"] {
        let mut bench = Bench::new().await;
        bench.plays([calls(&[("run", json!({"n": 1}))]), words("Done.")]);
        bench.say("go");
        bench.until_ask(1).await;
        let first = bench.showings[&1];
        bench.submit(Command::Edit {
            conversation: bench.conversation.clone(),
            call: CallId(1),
            arguments: edit.to_owned(),
        });
        bench.until_ask(1).await;
        bench.submit(Command::Answer {
            conversation: bench.conversation.clone(),
            call: CallId(1),
            answer: Answer::AllowedOnce,
            showing: first,
        });
        let answered = bench.until("answer", |event| matches!(event, Event::Answer { .. }));
        assert!(tokio::time::timeout(Duration::from_millis(200), answered).await.is_err(), "{edit}");
        bench.answer(1, Answer::Denied);
        bench.until_end().await;
        assert!(bench.stage().ran().is_empty(), "{edit}");
    }
}
