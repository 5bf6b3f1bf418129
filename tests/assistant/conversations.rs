//! Which conversation is in view, and that nothing of one is heard in another.

use kokua::access::Attendance;
use kokua::agent::{Activity, Command, Event, Record, TurnEnd};
use kokua::assistant::Opening;

use crate::house::{Bench, Options, alerts, call, sent, shape, text, words};

pub(crate) fn session(events: &[Event]) -> String {
    events
        .iter()
        .find_map(|event| match event {
            Event::Session { conversation, .. } => Some(conversation.clone()),
            _ => None,
        })
        .expect("a session")
}

fn open(id: &str) -> Command {
    Command::Open { id: id.to_owned() }
}

#[tokio::test]
async fn the_latest_conversation_comes_into_view_with_its_history() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    let house = bench.house.clone();
    bench.quit().await;
    let mut bench = house.open(Options { opening: Opening::Latest, ..Options::default() }).await;
    let events = bench.until_replayed().await;
    assert_eq!(session(&events), "conversation-1");
    assert!(events.iter().any(|event| matches!(event, Event::Delta { text } if text == "Hello.")));
}

#[tokio::test]
async fn the_screen_opens_the_last_one_that_a_person_was_at() {
    let house = Bench::new().await.house.clone();
    let run = async |attendance, opening, plays: &str, prompt: &str| {
        let mut bench = house.open(Options { opening, attendance, ..Options::default() }).await;
        let first = session(&bench.until_replayed().await);
        bench.plays([words(plays)]);
        bench.turn(prompt).await;
        bench.quit().await;
        first
    };
    let headless = run(Attendance::Unattended, Opening::New, "Hello.", "from a script").await;
    let mut bench = house.open(Options { opening: Opening::Latest, ..Options::default() }).await;
    assert_ne!(session(&bench.until_replayed().await), headless, "nobody was at it: a new one begins");
    bench.quit().await;
    // Gone on with by a person, it is theirs, also after a script went on with it once more.
    let opened = Opening::Stored(headless.clone());
    assert_eq!(run(Attendance::Attended, opened.clone(), "Hello.", "from me").await, headless);
    run(Attendance::Unattended, opened, "Hello.", "from a script").await;
    run(Attendance::Unattended, Opening::New, "Hello.", "from a script").await;
    let mut bench = house.open(Options { opening: Opening::Latest, ..Options::default() }).await;
    assert_eq!(session(&bench.until_replayed().await), headless);
}

#[tokio::test]
async fn an_empty_conversation_leaves_no_file() {
    let bench = Bench::new().await;
    bench.submit(Command::New);
    let house = bench.house.clone();
    bench.quit().await;
    assert!(house.shelf.ids().is_empty());
}

#[tokio::test]
async fn a_conversation_with_a_running_turn_goes_on_when_it_is_left_and_is_not_deleted() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.plays([call("hang")]);
    bench.say("go");
    bench.until_running(1).await;
    bench.submit(Command::Delete { id: "conversation-2".to_owned() });
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["A turn is running in this conversation."]);
    bench.submit(open("conversation-1"));
    bench.until_replayed().await;
    bench.submit(Command::Stop);
    bench.submit(Command::List);
    let events = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    let Some(Event::Conversations { list }) = events.last() else { unreachable!() };
    let running: Vec<_> = list.iter().filter(|summary| summary.activity == Activity::Running).collect();
    assert_eq!(running.iter().map(|summary| summary.id.as_str()).collect::<Vec<_>>(), ["conversation-2"]);
    bench.submit(open("conversation-2"));
    let events = bench.until_running(1).await;
    assert!(events.iter().any(|event| matches!(event, Event::ToolCall { .. })), "what it did is told again");
    bench.submit(Command::Stop);
    bench.until_end().await;
    assert_eq!(bench.house.shelf.ids().len(), 2);
}

#[tokio::test]
async fn what_cannot_be_opened_is_said_and_the_one_in_view_stays() {
    let mut bench = Bench::new().await;
    bench.submit(open("nothing"));
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["The conversation could not be opened: there is no such conversation"]);
    bench.plays([words("Still here.")]);
    bench.turn("hi").await;
    assert_eq!(bench.house.shelf.ids(), ["conversation-1"]);
}

#[tokio::test]
async fn the_beginning_of_the_id_in_view_is_the_one_in_view() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    bench.submit(open("conversation-1"));
    bench.submit(open("conversat"));
    bench.submit(Command::List);
    let events = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    assert_eq!(alerts(&events), Vec::<String>::new());
    assert!(!events.iter().any(|event| matches!(event, Event::Session { .. })));
    let Some(Event::Conversations { list }) = events.last() else { panic!("a list") };
    assert!(list[0].current);
    bench.submit(Command::Delete { id: "conversat".to_owned() });
    bench.until("list", |event| matches!(event, Event::Conversations { list } if list.is_empty())).await;
}

#[tokio::test]
async fn deleting_the_one_in_view_begins_a_new_one() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    bench.submit(Command::Delete { id: "conversation-1".to_owned() });
    let events = bench.until("list", |event| matches!(event, Event::Conversations { .. })).await;
    assert_eq!(session(&events), "conversation-2");
    assert!(bench.house.shelf.ids().is_empty());
}

#[tokio::test]
async fn what_an_earlier_life_of_a_conversation_still_had_to_say_is_not_heard() {
    let mut bench = Bench::new().await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.submit(open("conversation-1"));
    bench.until_replayed().await;
    let (speak, play) = sent();
    bench.plays([play, words("The new answer.")]);
    bench.say("go");
    speak.send(text("Early. ")).unwrap();
    bench.until("words", |event| matches!(event, Event::Delta { .. })).await;
    // All of this waits for the driver together, and commands come first.
    speak.send(text("LATE")).unwrap();
    bench.submit(Command::Stop);
    bench.submit(Command::New);
    bench.submit(open("conversation-1"));
    bench.say("again");
    bench.until_end().await;
    bench.until_end().await;
    bench.until_end().await;
    bench.until_end().await;
    let records = bench.house.shelf.records("conversation-1");
    let said: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::ModelCall { message, .. } => Some(message.text()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["Hello.", "Early. ", "The new answer."]);
    assert!(matches!(records.last(), Some(Record::TurnEnded { end: TurnEnd::Answered, .. })));
    assert_eq!(shape(&records).last(), Some(&"end"));
}

#[tokio::test]
async fn a_conversation_asked_for_by_name_that_cannot_be_opened_ends_the_driver() {
    let bench = Bench::new().await;
    let house = bench.house.clone();
    bench.quit().await;
    let bench = house.open(Options { opening: Opening::Stored("typo".to_owned()), ..Options::default() }).await;
    let events = bench.drain().await;
    assert!(
        matches!(events.as_slice(), [Event::Error { message, .. }] if message.contains("there is no such conversation")),
        "{events:#?}"
    );
}

/// The modes that a conversation's log says, in order.
fn noted(bench: &Bench, id: &str) -> Vec<String> {
    let records = bench.house.shelf.records(id);
    records
        .iter()
        .filter_map(|record| match record {
            Record::Mode { mode, .. } => Some(mode.to_string()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn w3_a_conversation_keeps_the_mode_that_it_began_in_and_an_empty_one_leaves_no_log() {
    let mut bench = Bench::with(Options { agent_cache_cap: 1, ..Options::default() }).await;
    let mode = |name: &str| Command::Mode { name: Some(name.to_owned()) };
    bench.submit(mode("companion"));
    bench.until_report().await;
    assert_eq!(noted(&bench, "conversation-1"), Vec::<String>::new(), "nothing was said yet");
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    assert_eq!(noted(&bench, "conversation-1"), ["companion"]);
    bench.submit(mode("companion"));
    bench.submit(mode("nonsense"));
    bench.submit(mode("work"));
    bench.submit(mode("companion"));
    bench.submit(Command::New);
    bench.until_replayed().await;
    assert_eq!(noted(&bench, "conversation-1"), ["companion", "work", "companion"]);
    bench.submit(open("conversation-1"));
    let events = bench.until_replayed().await;
    let session = events.iter().find_map(|event| match event {
        Event::Session { mode, .. } => Some(mode.to_string()),
        _ => None,
    });
    assert_eq!(session.as_deref(), Some("companion"));
}
