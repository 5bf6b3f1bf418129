//! Loads: one build function, the hook before anybody gets a tool, and what a conversation keeps.

use std::sync::mpsc::Sender;

use kokua::access::report::ToolsetState;
use kokua::access::{AgentName, Answer, ToolId};
use kokua::agent::{Command, Ending, Event, TurnEnd};
use kokua::assistant::Opening;
use serde_json::json;

use crate::conversations::session;
use crate::house::{Bench, Building, Options, alerts, call, calls, load, results, shape, words};

/// A turn whose load of `extra` is under way until a word is sent.
async fn loading(bench: &mut Bench) -> Sender<()> {
    let (word, begins) = bench.stage().building_waits("extra");
    bench.plays([load("extra")]);
    bench.say("go");
    bench.until_running(1).await;
    begins.await.unwrap();
    word
}

#[tokio::test]
async fn r12_a_loaded_tool_runs_and_is_preloaded_when_its_agent_is_rebuilt() {
    let mut bench = Bench::with(Options { agent_cache_cap: 1, ..Options::default() }).await;
    bench.plays([load("extra"), call("more"), words("Done.")]);
    let events = bench.turn("go").await;
    assert_eq!(results(&events)[1], (2, Ending::Ok, "more of build 1".to_owned()));
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.submit(Command::Open { id: "conversation-1".to_owned() });
    bench.until_replayed().await;
    bench.plays([call("more"), words("Done.")]);
    let events = bench.turn("go").await;
    assert_eq!(results(&events), [(3, Ending::Ok, "more of build 2".to_owned())]);
    // R13: its guidance is in the prompt now, and the names line names the rest.
    let system = bench.requests()[3].system.clone();
    assert_eq!(system, "You help.\n\nMore is less.\n\nAlso available, load before use: other.");
    assert_eq!(shape(&bench.house.shelf.records("conversation-1"))[7..9], ["preloaded", "turn"]);
}

#[tokio::test]
async fn r14_a_preload_that_fails_is_no_alert_and_the_next_load_reads_the_error() {
    let mut bench = Bench::with(Options { agent_cache_cap: 1, ..Options::default() }).await;
    bench.plays([load("extra"), words("Loaded.")]);
    bench.turn("go").await;
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.stage().building("extra", Building::Fails("no network"));
    bench.stage().building("extra", Building::Fails("no network"));
    bench.submit(Command::Open { id: "conversation-1".to_owned() });
    bench.until_replayed().await;
    assert!(alerts(&bench.until_report().await).is_empty());
    bench.plays([load("extra"), load("extra"), words("Now.")]);
    let events = bench.turn("go").await;
    let results = results(&events);
    assert_eq!(results[0], (2, Ending::Failed, "Could not load 'extra': no network".to_owned()));
    assert_eq!(results[1].1, Ending::Loaded { toolset: "extra".to_owned() });
    assert_eq!(alerts(&events), ["assistant could not load 'extra': no network"]);
}

#[tokio::test]
async fn r9_two_loads_at_once_are_one_build() {
    let mut bench = Bench::new().await;
    let one = ("load_tools", json!({"name": "extra"}));
    bench.plays([calls(&[one.clone(), one]), words("Done.")]);
    let events = bench.turn("go").await;
    let endings: Vec<_> = results(&events).into_iter().map(|result| result.1).collect();
    assert_eq!(endings, [Ending::Loaded { toolset: "extra".to_owned() }, Ending::Ok]);
    assert_eq!(bench.stage().builds_of("extra"), 1);
}

#[tokio::test]
async fn r9_a_load_that_was_stopped_is_held_by_nobody_and_gives_no_later_one_its_tools() {
    let mut bench = Bench::new().await;
    let word = loading(&mut bench).await;
    bench.submit(Command::Stop);
    bench.until_end().await;
    bench.until_report().await;
    bench.plays([load("extra"), words("Loaded.")]);
    bench.turn("again").await;
    bench.until_report().await;
    // The stopped one's build ends after the other's.
    word.send(()).unwrap();
    bench.until_report().await;
    bench.plays([call("more"), words("Done.")]);
    let events = bench.turn("use it").await;
    assert_eq!(results(&events), [(3, Ending::Ok, "more of build 2".to_owned())]);
}

#[tokio::test]
async fn a_build_of_a_conversation_that_was_left_reaches_no_other() {
    let mut bench = Bench::new().await;
    let word = loading(&mut bench).await;
    bench.submit(Command::Stop);
    bench.until_end().await;
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.until_report().await;
    bench.plays([load("extra"), words("Loaded.")]);
    bench.turn("go").await;
    bench.until_report().await;
    word.send(()).unwrap();
    bench.until_report().await;
    bench.plays([call("more"), words("Done.")]);
    let events = bench.turn("use it").await;
    assert_eq!(results(&events), [(2, Ending::Ok, "more of build 2".to_owned())]);
}

#[tokio::test]
async fn a_build_whose_tools_panic_when_they_are_looked_at_is_a_failed_load() {
    let mut bench = Bench::new().await;
    bench.stage().building("extra", Building::PanicsLater);
    bench.plays([load("extra"), load("extra"), words("Done.")]);
    let events = bench.turn("go").await;
    let results = results(&events);
    assert_eq!(results[0].1, Ending::Failed);
    assert!(results[0].2.contains("the tool is broken"), "{}", results[0].2);
    assert_eq!(results[1].1, Ending::Loaded { toolset: "extra".to_owned() });
}

#[tokio::test]
async fn a_resident_toolset_that_does_not_build_is_said_and_the_rest_is_there() {
    let mut bench = Bench::new().await;
    bench.stage().building("work", Building::Fails("no shell"));
    bench.submit(Command::New);
    // Behind the history, where every front end hears it.
    bench.until_replayed().await;
    let events = bench.until_report().await;
    assert_eq!(alerts(&events), ["assistant starts without 'work': no shell"]);
    bench.plays([call("look"), words("Here.")]);
    let events = bench.turn("go").await;
    assert_eq!(results(&events)[0].1, Ending::Ok);
}

#[tokio::test]
async fn f3_shows_a_load_before_the_next_call() {
    let mut bench = Bench::new().await;
    bench.until_report().await;
    bench.plays([load("other"), words("Done.")]);
    bench.say("go");
    let events = bench.until_report().await;
    let Some(Event::Report(report)) = events.last() else { panic!("a report") };
    let row = report.toolsets.iter().find(|row| row.name.as_str() == "other").unwrap();
    assert_eq!(row.state, ToolsetState::Loaded);
    // An answer to a call that asks nothing is nobody's.
    bench.answer(1, Answer::AllowedOnce);
    bench.until_end().await;
}

#[tokio::test]
async fn k1_the_rule_of_a_call_its_request_and_the_report_agree_on_what_it_carried() {
    let mut bench = Bench::new().await;
    bench.plays([load("extra"), words("Done.")]);
    let events = bench.turn("go").await;
    let carried = |event: &Event| match event {
        Event::Call(line) => Some((line.tools, line.tool_bytes)),
        _ => None,
    };
    let carried: Vec<_> = events.iter().filter_map(carried).collect();
    let sent: Vec<_> = bench.requests().iter().map(|request| request.tools.len()).collect();
    assert_eq!(carried.iter().map(|(tools, _)| *tools).collect::<Vec<_>>(), sent);
    bench.submit(Command::Report);
    let events = bench.until_report().await;
    let Some(Event::Report(report)) = events.last() else { panic!("a report") };
    assert_eq!(Some(&report.offered), carried.last());
    let rows = report.toolsets.iter().flat_map(|row| row.tools.iter().flatten()).chain(&report.core);
    let sum = rows.filter(|tool| tool.offered).fold((0, 0), |(tools, bytes), tool| (tools + 1, bytes + tool.bytes));
    assert_eq!(sum, report.offered);
    assert_eq!(Some(&report.start_tools), carried.first(), "what it started with");
}

/// The running agent is explained as it is; what is asked of another agent, or of nothing there is, has an answer too.
#[tokio::test]
async fn k4_the_screen_is_told_all_five_answers_of_the_running_agent() {
    let mut bench = Bench::new().await;
    bench.until_report().await;
    let tool = ToolId::parse("other.thing").unwrap();
    let ask = async |bench: &mut Bench, agent: &str| {
        let agent = AgentName::new(agent);
        bench.submit(Command::Explain { agent: agent.clone(), tool: tool.clone() });
        let events = bench.until("explained", |event| matches!(event, Event::Explained { .. })).await;
        match events.last() {
            Some(Event::Explained { agent: of, tool: what, explanation }) => {
                assert_eq!((of, what), (&agent, &tool));
                explanation.clone()
            }
            _ => unreachable!("until found it"),
        }
    };
    let before = ask(&mut bench, "assistant").await;
    assert_eq!(
        (before.available.yes, before.held.yes, before.offered.yes, before.dispatched.yes),
        (true, false, false, false)
    );
    bench.plays([load("other"), words("Done.")]);
    bench.turn("go").await;
    let after = ask(&mut bench, "assistant").await;
    assert_eq!(
        (after.held.yes, after.offered.yes, after.approval.list, after.dispatched.yes),
        (true, true, None, true)
    );
    assert_eq!(after.held.reasons[0].to_string(), "load_tools loaded it (call-1)");
    let stranger = ask(&mut bench, "nobody").await;
    assert_eq!((stranger.available.yes, stranger.dispatched.yes), (false, false));
}

/// A build that blocks for as long as it likes: commands are answered meanwhile, and another conversation has a turn.
#[tokio::test]
async fn r6_a_build_that_blocks_holds_up_nobody() {
    let mut bench = Bench::new().await;
    let word = loading(&mut bench).await;
    assert!(bench.diagnostics().await.iter().any(|line| line.contains("call-1")));
    bench.submit(Command::Stop);
    bench.until_end().await;
    bench.submit(Command::New);
    bench.until_replayed().await;
    bench.plays([words("Here.")]);
    let events = bench.turn("and you?").await;
    assert!(matches!(events.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
    word.send(()).unwrap();
}

/// The state of a toolset in the report that follows `command`.
async fn state_after(bench: &mut Bench, command: Command, toolset: &str) -> ToolsetState {
    bench.submit(command);
    bench.until_replayed().await;
    let events = bench.until_report().await;
    let Some(Event::Report(report)) = events.last() else { panic!("a report") };
    report.toolsets.iter().find(|row| row.name.as_str() == toolset).unwrap().state.clone()
}

#[tokio::test]
async fn r12_an_agent_that_rests_keeps_its_load_and_an_evicted_one_preloads_it() {
    // Room for one beside the one in view, and for none.
    for (agent_cache_cap, kept) in [(2, ToolsetState::Loaded), (1, ToolsetState::Preloaded)] {
        let house = Bench::new().await.house.clone();
        let mut bench = house.open(Options { agent_cache_cap, ..Options::default() }).await;
        let first = session(&bench.until_replayed().await);
        bench.plays([load("other"), words("Done.")]);
        bench.turn("go").await;
        let open = Command::Open { id: first.clone() };
        state_after(&mut bench, Command::New, "other").await;
        assert_eq!(state_after(&mut bench, open.clone(), "other").await, kept, "cap {agent_cache_cap}");
        // It calls what it loaded as before, and its log goes on.
        bench.plays([call("thing"), words("Done.")]);
        let events = bench.turn("again").await;
        assert_eq!(results(&events)[0].1, Ending::Ok);
        // A second conversation in between evicts it where there is room for one.
        state_after(&mut bench, Command::New, "other").await;
        bench.plays([words("Hello.")]);
        bench.turn("hi").await;
        state_after(&mut bench, Command::New, "other").await;
        bench.plays([words("Hello.")]);
        bench.turn("hi").await;
        state_after(&mut bench, Command::New, "other").await;
        assert_eq!(state_after(&mut bench, open, "other").await, ToolsetState::Preloaded);
        bench.quit().await;
    }
}

#[tokio::test]
async fn r12_an_agent_at_rest_is_not_used_for_a_log_that_somebody_else_went_on_with() {
    let mut bench = Bench::new().await;
    let first = "conversation-1".to_owned();
    bench.plays([load("other"), words("Done.")]);
    bench.turn("go").await;
    state_after(&mut bench, Command::New, "other").await;
    let house = bench.house.clone();
    let mut elsewhere = house.open(Options { opening: Opening::Stored(first.clone()), ..Options::default() }).await;
    elsewhere.until_replayed().await;
    elsewhere.plays([words("From elsewhere.")]);
    elsewhere.turn("hello").await;
    elsewhere.quit().await;
    let open = Command::Open { id: first };
    assert_eq!(state_after(&mut bench, open, "other").await, ToolsetState::Preloaded);
    bench.plays([words("Yes.")]);
    bench.turn("do you know?").await;
    let asked = format!("{:?}", bench.requests().last().unwrap().messages);
    assert!(asked.contains("From elsewhere."), "{asked}");
}
