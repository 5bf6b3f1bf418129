//! The model's window: asked beside everything else, told once, and never news when there is none.

use kokua::access::Attendance;
use kokua::agent::Event;

use crate::house::{Bench, House, Options, words};

async fn opened(windows: &[Option<u64>], attendance: Attendance) -> Bench {
    let house = House::default();
    house.windows(windows);
    let mut bench = house.open(Options { attendance, ..Options::default() }).await;
    bench.until_replayed().await;
    bench
}

fn windows(events: &[Event]) -> Vec<u64> {
    let window = |event: &Event| match event {
        Event::Window { tokens } => Some(*tokens),
        _ => None,
    };
    events.iter().filter_map(window).collect()
}

#[tokio::test]
async fn what_the_server_says_is_told_once_and_known_from_then_on() {
    let mut bench = opened(&[Some(8192), Some(1)], Attendance::Attended).await;
    let events = bench.until("window", |event| matches!(event, Event::Window { .. })).await;
    assert_eq!(windows(&events), [8192]);
    bench.plays([words("Hello.")]);
    assert_eq!(windows(&bench.turn("hi").await), Vec::<u64>::new());
    bench.submit(kokua::agent::Command::New);
    let events = bench.until_replayed().await;
    assert!(events.iter().any(|event| matches!(event, Event::Session { window: Some(8192), .. })));
}

#[tokio::test]
async fn a_server_that_knows_it_once_the_model_is_loaded_is_asked_again_and_not_for_ever() {
    let mut bench = opened(&[None, Some(4096)], Attendance::Attended).await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    let events = bench.until("window", |event| matches!(event, Event::Window { .. })).await;
    assert_eq!(windows(&events), [4096]);

    let mut bench = opened(&[None, None, Some(4096)], Attendance::Attended).await;
    bench.plays([words("Hello."), words("Hello."), words("Hello.")]);
    for _ in 0..3 {
        bench.turn("hi").await;
    }
    assert_eq!(bench.house.windows_left(), 1, "asked twice and no more");
}

#[tokio::test]
async fn nobody_asks_where_nobody_looks() {
    let mut bench = opened(&[Some(8192)], Attendance::Unattended).await;
    bench.plays([words("Hello.")]);
    bench.turn("hi").await;
    assert_eq!(bench.house.windows_left(), 1);
}
