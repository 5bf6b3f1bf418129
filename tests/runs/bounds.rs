//! What a run takes at most.

use kokua::agent::{Effect, Event, Input, Moment, QUEUE_LIMIT};

use crate::house;

#[test]
fn at_most_so_much_waits_for_a_round_and_the_rest_is_said_to_be_undelivered() {
    let mut world = house::world(&[]);
    let mut run = house::run(&mut world, house::spec(10, true, 1), &[]);
    let mut said = |text: &str| {
        let input = Input::Said { text: text.to_owned(), attendance: house::ATTENDED };
        run.step(Moment { now: 0, random: 0 }, &mut world, input)
    };
    said("go");
    for _ in 0..QUEUE_LIMIT {
        assert!(matches!(said("more").as_slice(), [Effect::Tell(Event::Queued { .. })]));
    }
    let effects = said(&"é".repeat(5_000));
    let [Effect::Tell(Event::Alert(alert))] = effects.as_slice() else { panic!("one alert, got {effects:?}") };
    assert!(alert.message.starts_with("Your message was not delivered, because too much already waits"));
    assert!(alert.message.chars().count() < 400, "the words in it are bounded");
}
