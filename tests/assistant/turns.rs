//! Turns: what runs, what is told and recorded, and every way to stop.

use std::time::Duration;

use kokua::access::{Answer, Attendance, ToolsetName};
use kokua::agent::command::Switched;
use kokua::agent::{CallKind, Command, Ending, Event, Failure, FailureKind, Message, Record, Retry, TurnEnd};
use serde_json::json;

use crate::house::{
    Bench, House, Options, Play, alerts, assert_one_ending_each, call, calls, lock, results, sent, shape, text, words,
};

fn switch(toolset: &str, to: Switched) -> Command {
    Command::Switch { toolset: ToolsetName::new(toolset), to }
}

#[tokio::test]
async fn a_turn_is_told_and_recorded() {
    let mut bench = Bench::new().await;
    bench.plays([call("look"), words("There.")]);
    let events = bench.turn("what is here").await;
    assert_eq!(results(&events), [(1, Ending::Ok, "look done".to_owned())]);
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(shape(&records), ["turn", "model", "ended", "model", "end"]);
}

#[tokio::test]
async fn an_allowed_call_runs_after_its_answer_is_on_disk() {
    let mut bench = Bench::new().await;
    bench.plays([call("run"), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    assert!(bench.stage().ran().is_empty());
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), ["run {}"]);
    let log_at_run = crate::house::lock(&bench.stage().log_at_run).clone();
    assert_eq!(shape(&log_at_run), ["turn", "model", "allowed"]);
}

#[tokio::test]
async fn p14_two_calls_at_once_the_first_denied_the_second_still_asks_and_the_turn_goes_on() {
    let mut bench = Bench::new().await;
    bench.plays([calls(&[("run", json!({"n": 1})), ("run", json!({"n": 2})), ("look", json!({}))]), words("Done.")]);
    bench.say("go");
    let mut open = Vec::new();
    bench
        .until("two cards", |event| {
            if let Event::Ask { ask, .. } = event {
                open.push(ask.call.0);
            }
            open.len() == 2
        })
        .await;
    bench.answer(1, Answer::DeniedWithReason { reason: "not that one".to_owned() });
    bench.answer(2, Answer::AllowedOnce);
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), ["look {}", r#"run {"n":2}"#]);
    let sent_back: Vec<_> = bench.requests()[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => Some((result.call.0, result.text.clone())),
            _ => None,
        })
        .collect();
    let sent_back: Vec<_> = sent_back.iter().map(|(call, text)| (*call, text.as_str())).collect();
    assert_eq!(sent_back, [(1, "Tool 'run' was not approved: not that one"), (2, "run done"), (3, "look done")]);
}

#[tokio::test]
async fn a_tool_that_panics_is_a_failed_call() {
    let mut bench = Bench::new().await;
    bench.plays([call("boom"), words("It broke.")]);
    let events = bench.turn("go").await;
    assert_eq!(results(&events), [(1, Ending::Failed, "Tool 'boom' raised an error: it went off".to_owned())]);
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
}

#[tokio::test]
async fn a_model_that_panics_fails_the_turn_and_the_next_one_works() {
    let mut bench = Bench::new().await;
    bench.plays([Play::Panics, words("Here.")]);
    let events = bench.turn("go").await;
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Failed { .. }, .. })), "{events:#?}");
    assert!(matches!(bench.turn("again").await.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
}

#[tokio::test]
async fn p12_nobody_is_asked_in_an_unattended_turn() {
    let mut bench = Bench::with(Options { attendance: Attendance::Unattended, ..Options::default() }).await;
    bench.plays([call("run"), words("It was not allowed.")]);
    let events = bench.turn("go").await;
    assert!(!events.iter().any(|event| matches!(event, Event::Ask { .. })));
    assert!(matches!(results(&events).as_slice(), [(1, Ending::NotAllowed, _)]));
    assert!(bench.stage().ran().is_empty());
}

#[tokio::test]
async fn p22_allow_answers_what_it_names_and_what_never_matched_is_said_at_the_end() {
    let allow = &["work.run", "work.write"];
    let mut bench = Bench::with(Options { attendance: Attendance::Unattended, allow, ..Options::default() }).await;
    bench.plays([call("run"), words("Done.")]);
    bench.turn("go").await;
    assert_eq!(bench.stage().ran(), ["run {}"]);
    let last = bench.quit().await.pop();
    assert!(matches!(last, Some(Event::UnusedAllows { entries }) if entries == ["work.write"]));
}

#[tokio::test]
async fn o3_a_toolset_switched_off_while_its_card_is_open_does_not_run() {
    let mut bench = Bench::new().await;
    bench.plays([calls(&[("run", json!({})), ("hang", json!({}))]), words("Off.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.submit(switch("work", Switched::Off));
    bench.answer(1, Answer::AllowedOnce);
    let events = bench.until("result", |event| matches!(event, Event::ToolResult { .. })).await;
    let text = "run is switched off: [toolsets].disabled names it".to_owned();
    assert_eq!(results(&events), [(1, Ending::Refused, text)]);
    assert_eq!(bench.stage().ran(), ["hang {}"]);
    assert_eq!(bench.house.knobs.saved(), [["work Off"]]);
    bench.submit(Command::Stop);
    bench.until_end().await;
    // O2: it is off in the next call, and back in the one after it was switched on again.
    bench.plays([words("One."), words("Two.")]);
    let offers = |bench: &Bench| bench.requests().iter().map(|request| request.tools.len()).collect::<Vec<_>>();
    bench.turn("and now").await;
    bench.submit(switch("work", Switched::On));
    bench.turn("and now").await;
    assert_eq!(offers(&bench), [8, 5, 8]);
}

#[tokio::test]
async fn a_switch_that_cannot_be_saved_changes_nothing() {
    let mut bench = Bench::new().await;
    bench.house.knobs.fail();
    bench.submit(switch("work", Switched::Off));
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["'work' was not switched: config.toml cannot be written"]);
    bench.plays([words("All there.")]);
    bench.turn("go").await;
    assert_eq!(bench.requests()[0].tools.len(), 8);
}

#[tokio::test]
async fn a_theme_is_kept_and_whether_it_was_is_said() {
    let mut bench = Bench::new().await;
    let keep = || Command::KeepTheme { name: "mono".to_owned() };
    bench.submit(keep());
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["The theme is mono, saved for the next start."]);
    assert_eq!(bench.house.knobs.saved(), [["theme mono"]]);
    bench.house.knobs.fail();
    bench.submit(keep());
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert_eq!(alerts(&events), ["The theme is mono until you leave; it was not saved: config.toml cannot be written"]);
}

#[tokio::test]
async fn a_name_that_nothing_installs_is_never_saved_as_switched_off() {
    let mut bench = Bench::new().await;
    bench.submit(switch("wrok", Switched::Off));
    let events = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert!(alerts(&events)[0].starts_with("'wrok' was not switched"), "{events:?}");
    // It would keep the program from starting.
    assert!(bench.house.knobs.saved().is_empty());
}

#[tokio::test]
async fn stop_while_the_model_speaks_keeps_what_was_said() {
    let mut bench = Bench::new().await;
    let (speak, play) = sent();
    bench.plays([play, words("Going on.")]);
    bench.say("go");
    speak.send(text("Half a ")).unwrap();
    bench.until("words", |event| matches!(event, Event::Delta { .. })).await;
    bench.submit(Command::Stop);
    let events = bench.until_end().await;
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Stopped, .. })));
    speak.closed().await;
    bench.turn("go on").await;
    let said: Vec<_> = bench.requests()[1]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Assistant(message) => Some(message.text()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["Half a "]);
}

#[tokio::test]
async fn stop_drops_what_runs_and_ends_every_open_call() {
    let mut bench = Bench::new().await;
    let mut drops = bench.stage().drops();
    let (word, begins) = bench.stage().building_waits("extra");
    let load = ("load_tools", json!({"name": "extra"}));
    bench.plays([calls(&[("hang", json!({})), ("run", json!({})), load])]);
    bench.say("go");
    bench.until_ask(2).await;
    begins.await.unwrap();
    bench.submit(Command::Stop);
    let events = bench.until_end().await;
    let endings: Vec<_> = results(&events).into_iter().map(|(call, ending, _)| (call, ending)).collect();
    assert_eq!(endings, [(1, Ending::Interrupted), (2, Ending::Interrupted), (3, Ending::Interrupted)]);
    drops.recv().await.expect("the running tool is dropped");
    word.send(()).unwrap();
    // The card that was open answers to nobody any more.
    bench.answer(2, Answer::AllowedOnce);
    bench.plays([words("Again.")]);
    bench.turn("again").await;
    assert_eq!(bench.stage().ran(), ["hang {}"]);
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
}

#[tokio::test]
async fn stop_ends_the_wait_for_the_next_try() {
    let failure = Failure {
        kind: FailureKind::Overloaded,
        message: "overloaded".to_owned(),
        hint: None,
        retry: Retry::Backoff { at_least_ms: 3_600_000 },
    };
    let mut bench = Bench::with(Options { max_attempts: 3, ..Options::default() }).await;
    bench.plays([Play::Says(vec![Err(failure)])]);
    bench.say("go");
    bench.until("countdown", |event| matches!(event, Event::Retrying { .. })).await;
    bench.submit(Command::Stop);
    let events = bench.until_end().await;
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Stopped, .. })));
    assert_eq!(bench.requests().len(), 1);
}

#[tokio::test]
async fn a_failed_try_is_tried_again() {
    let failure = Failure {
        kind: FailureKind::Overloaded,
        message: "overloaded".to_owned(),
        hint: None,
        retry: Retry::Backoff { at_least_ms: 0 },
    };
    let mut bench = Bench::with(Options { max_attempts: 2, ..Options::default() }).await;
    bench.plays([Play::Says(vec![text("void"), Err(failure)]), words("Here.")]);
    let events = bench.turn("go").await;
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
    let records = bench.house.shelf.records("conversation-1");
    assert_eq!(shape(&records), ["turn", "model", "end"]);
    assert!(matches!(&records[1], Record::ModelCall { message, .. } if message.text() == "Here."));
}

#[tokio::test]
async fn words_said_meanwhile_join_at_the_next_round() {
    let mut bench = Bench::new().await;
    bench.plays([call("run"), words("Done.")]);
    bench.say("go");
    bench.until_ask(1).await;
    bench.say("and be quick");
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
    let last = bench.requests()[1].messages.last().cloned();
    assert!(matches!(last, Some(Message::User(message)) if message.text == "and be quick"));
}

#[tokio::test]
async fn leaving_ends_open_calls_before_the_driver_ends() {
    let mut bench = Bench::new().await;
    bench.plays([calls(&[("hang", json!({})), ("run", json!({}))])]);
    bench.say("go");
    bench.until_ask(2).await;
    let house = bench.house.clone();
    bench.quit().await;
    let records = house.shelf.records("conversation-1");
    assert_one_ending_each(&records);
    assert_eq!(shape(&records), ["turn", "model", "ended", "ended", "end"]);
}

#[tokio::test]
async fn diagnostics_say_what_is_under_way_and_nothing_when_nothing_is() {
    let mut bench = Bench::new().await;
    let (speak, play) = sent();
    bench.plays([play, call("hang")]);
    let line = |lines: Vec<String>, key: &str| lines.into_iter().find(|line| line.starts_with(key)).unwrap();
    bench.say("go");
    bench.until("call", |event| matches!(event, Event::Call(line) if line.kind == CallKind::Agent)).await;
    assert_eq!(line(bench.diagnostics().await, "model calls"), "model calls 1 under way");
    speak.send(text("Here.")).unwrap();
    drop(speak);
    bench.until_end().await;
    assert_eq!(line(bench.diagnostics().await, "model calls"), "model calls none");
    bench.say("go");
    bench.until_running(1).await;
    let lines = bench.diagnostics().await;
    assert_eq!(line(lines.clone(), "model calls"), "model calls none");
    assert_eq!(line(lines, "running"), "running     call-1");
}

#[tokio::test]
async fn w2_a_check_that_hangs_holds_up_nobody_and_no_answer_yet_is_a_no() {
    let house = House::default();
    let (word, waits) = std::sync::mpsc::channel();
    *lock(&house.stage.check_waits) = Some(waits);
    let mut bench = house.open(Options { check_timeout: Duration::ZERO, ..Options::default() }).await;
    bench.plays([words("Here."), words("There.")]);
    let offered = |bench: &Bench| {
        let requests = bench.requests();
        let last = requests.last().unwrap();
        last.tools.iter().map(|tool| tool.wire.as_str().to_owned()).collect::<Vec<_>>()
    };
    bench.turn("go").await;
    assert_eq!(offered(&bench), ["look", "boom", "hang", "write", "wipe", "available_tools", "load_tools"]);
    // It answers after all, and the report that follows says so.
    bench.until_report().await;
    word.send(()).unwrap();
    bench.until_report().await;
    bench.turn("and now").await;
    assert!(offered(&bench).contains(&"run".to_owned()));
}

/// A card was open for longer than the check's answer is good.
#[tokio::test]
async fn w2_and_o3_an_old_answer_is_asked_again_before_an_allowed_call_runs() {
    let mut bench = Bench::new().await;
    bench.plays([call("run"), words("Well.")]);
    bench.say("go");
    bench.until_ask(1).await;
    *lock(&bench.stage().unwell) = Some("its server is down");
    bench.house.pass(31);
    bench.answer(1, Answer::AllowedOnce);
    let events = bench.until_end().await;
    assert_eq!(results(&events), [(1, Ending::Refused, "run is not available now: its server is down".to_owned())]);
    assert!(bench.stage().ran().is_empty());
}
