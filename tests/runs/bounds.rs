//! What a run takes at most.

use kokua::agent::{Delta, Effect, Event, Input, Moment, QUEUE_LIMIT};

use crate::house;

#[test]
fn at_most_so_much_waits_for_a_round_and_the_rest_is_said_to_be_undelivered() {
    let mut world = house::world(&[]);
    let mut run = house::run(&mut world, house::spec(10, true, 1), &[]);
    let mut said = |text: &str| {
        let input = Input::Said { text: text.to_owned(), attendance: house::ATTENDED, only: None };
        run.step(Moment { now: 0, random: 0 }, &mut world, input)
    };
    said("go");
    for _ in 0..QUEUE_LIMIT {
        assert!(matches!(said("more").as_slice(), [Effect::Record(_), Effect::Tell(Event::Queued { .. })]));
    }
    let effects = said(&"é".repeat(5_000));
    let [Effect::Tell(Event::Alert(alert))] = effects.as_slice() else { panic!("one alert, got {effects:?}") };
    assert!(alert.message.starts_with("Your message was not delivered, because too much already waits"));
    assert!(alert.message.chars().count() < 400, "the words in it are bounded");
}

/// A long file that a model writes took a minute during which nothing moved.
#[test]
fn a_call_that_is_being_written_says_how_far_it_is_and_bounds_its_name() {
    let mut world = house::world(&[]);
    let mut run = house::run(&mut world, house::spec(10, true, 1), &[]);
    let mut step = |input| run.step(Moment { now: 0, random: 0 }, &mut world, input);
    step(Input::Said { text: "go".to_owned(), attendance: house::ATTENDED, only: None });
    let mut told = |delta| match step(Input::Delta(delta)).as_slice() {
        [Effect::Tell(Event::Writing { tool, bytes })] => (tool.clone(), *bytes),
        other => panic!("one event, got {other:?}"),
    };
    let start = |index, name: &str| Delta::CallStart { index, id: String::new(), name: name.to_owned() };
    let more = |index, text: &str| Delta::CallArguments { index, text: text.to_owned() };
    assert_eq!(told(start(0, "read_file")), ("fs.read_file".to_owned(), 0));
    assert_eq!(told(more(0, "{\"path\":")), ("fs.read_file".to_owned(), 8));
    assert_eq!(told(start(1, &"x".repeat(100_000))).0.len(), 83);
    assert_eq!(told(more(0, "\"a\"}")), ("fs.read_file".to_owned(), 12));
}
