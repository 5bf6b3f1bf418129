//! Workers with a driver: each has its own builds, loads, model and policy, and none of them outlives its turn.

use std::time::Duration;

use kokua::access::Answer;
use kokua::access::audit::What;
use kokua::agent::{AgentsRequest, CallId, Command, Ending, Event, NodeId, Record, TurnEnd, Update};
use kokua::tool::{Agents, Outcome};
use serde_json::json;

use crate::house::{
    Bench, Options, Play, alerts, assert_one_ending_each, bare, call, calls, ends, events, load, lock, results, sent,
    spawn, spawn_beside, text, words,
};

async fn bench() -> Bench {
    Bench::with(Options::workers()).await
}

fn of(node: u32, number: u32) -> CallId {
    CallId::of(NodeId(node), number)
}

/// The result of one call.
fn result(events: &[Event], call: CallId) -> (Ending, String) {
    let found = results(events).into_iter().find(|(id, ..)| *id == call.0);
    let (_, ending, text) = found.unwrap_or_else(|| panic!("no result of {call}: {events:#?}"));
    (ending, text)
}

fn spawned(updates: &[Update]) -> Vec<(u32, String)> {
    updates
        .iter()
        .filter_map(|update| match &update.event {
            Event::Spawned(spawned) => Some((update.node.0, spawned.address.clone())),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn two_workers_tools_of_one_name_run_apart() {
    let mut bench = bench().await;
    let (first, second) = (bench.stage().waiting(1), bench.stage().waiting(2));
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("coder", "two")]), words("Both.")]);
    bench.plays_for("one", [calls(&[("wait", json!({"n": 1}))]), words("One.")]);
    bench.plays_for("two", [calls(&[("wait", json!({"n": 2}))]), words("Two.")]);
    bench.say("go");
    let mut running = 0;
    bench
        .until("both", |event| {
            running += usize::from(matches!(event, Event::Running { call, .. } if !call.node().is_entry()));
            running == 2
        })
        .await;
    second.send(()).unwrap();
    let mut told = bench
        .until_told("result", |update| update.node == NodeId(2) && matches!(update.event, Event::End { .. }))
        .await;
    assert!(!results(&events(&told)).iter().any(|(call, ..)| *call == of(1, 1).0), "the other one still runs");
    first.send(()).unwrap();
    told.extend(bench.until_end_told().await);
    let mut both = spawned(&history(&bench));
    both.sort();
    assert_eq!(both, [(1, "coder#1".to_owned()), (2, "coder#2".to_owned())]);
    let told = events(&told);
    assert_eq!(result(&told, of(1, 1)), (Ending::Ok, "waited for 1".to_owned()));
    assert_eq!(result(&told, of(2, 1)), (Ending::Ok, "waited for 2".to_owned()));
    assert_eq!(result(&told, CallId(1)), (Ending::Ok, "One.".to_owned()));
    assert_eq!(result(&told, CallId(2)), (Ending::Ok, "Two.".to_owned()));
}

/// What a front end is told of the log.
fn history(bench: &Bench) -> Vec<Update> {
    let records = bench.house.shelf.records("conversation-1");
    let told = kokua::agent::replay(&records).into_iter();
    told.map(|(node, event)| Update { conversation: "conversation-1".to_owned(), node, event }).collect()
}

#[tokio::test]
async fn d1_a_load_by_a_worker_is_its_own() {
    let mut bench = bench().await;
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("coder", "two")]), call("more"), words("Done.")]);
    bench.plays_for("one", [load("extra"), call("more"), words("One.")]);
    bench.plays_for("two", [call("more"), load("extra"), call("more"), words("Two.")]);
    let told = bench.turn("go").await;
    assert_eq!(bench.stage().builds_of("extra"), 2, "each builds for itself");
    let texts = [result(&told, of(1, 2)).1, result(&told, of(2, 3)).1];
    assert!(
        texts.contains(&"more of build 1".to_owned()) && texts.contains(&"more of build 2".to_owned()),
        "{texts:?}"
    );
    assert_eq!(result(&told, of(2, 1)).0, Ending::Unknown, "what another loaded is not held");
    assert_eq!(result(&told, CallId(3)).0, Ending::Unknown, "nor by who spawned it");
    // What a worker loaded is not preloaded for anybody.
    assert!(kokua::agent::loads(&bench.house.shelf.records("conversation-1")).is_empty());
}

#[tokio::test]
async fn p9_a_worker_whose_toolset_is_refused_spawns_nobody() {
    let mut bench = bench().await;
    let (word, begins) = bench.stage().renaming_waits("paper");
    bench.plays_for("go", [calls(&[spawn("clerk", "sign it")]), calls(&[spawn("clerk", "again")]), words("No.")]);
    bench.say("go");
    begins.await.unwrap();
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    assert!(spawned(&told).is_empty());
    let told = events(&told);
    let (ending, sentence) = result(&told, CallId(1));
    assert_eq!(ending, Ending::Failed);
    assert!(sentence.starts_with("Could not spawn 'clerk': 'paper': "), "{sentence}");
    assert!(sentence.contains("paper.sign"), "the entry is named: {sentence}");
    // It stays refused, though the build of now would match; each spawn that comes to nothing is one alert.
    assert_eq!(result(&told, CallId(2)), (Ending::Failed, sentence.clone()));
    assert_eq!(alerts(&told), [sentence.clone(), sentence]);
    assert!(bench.requests_of("sign it").is_empty());
    assert!(!bench.house.shelf.records("conversation-1").iter().any(|record| matches!(record, Record::Worker { .. })));
}

#[tokio::test]
async fn p9_a_refusal_that_nobody_waits_for_any_more_is_said() {
    let mut bench = bench().await;
    let (word, begins) = bench.stage().renaming_waits("paper");
    bench.plays_for("go", [calls(&[spawn("clerk", "sign it")])]);
    bench.say("go");
    begins.await.unwrap();
    bench.submit(Command::Stop);
    assert!(alerts(&bench.until_end().await).is_empty());
    word.send(()).unwrap();
    let told = bench.until("alert", |event| matches!(event, Event::Alert(_))).await;
    assert!(alerts(&told)[0].starts_with("Could not spawn 'clerk': 'paper': "), "{told:#?}");
}

#[tokio::test]
async fn a_worker_whose_model_cannot_be_used_is_not_spawned() {
    let mut bench = bench().await;
    bench.without_model("coder");
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("researcher", "two")]), words("One of them.")]);
    bench.plays_for("two", [words("Two.")]);
    let told = bench.turn("go").await;
    let sentence = "Could not spawn 'coder': its model cannot be used: there is no key for it".to_owned();
    assert_eq!(result(&told, CallId(1)), (Ending::Failed, sentence.clone()));
    assert_eq!(result(&told, CallId(2)), (Ending::Ok, "Two.".to_owned()));
    assert_eq!(alerts(&told), [sentence]);
}

#[tokio::test]
async fn a_worker_whose_model_or_tool_panics_fails_alone() {
    let mut bench = bench().await;
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("coder", "two")]), words("Well.")]);
    bench.plays_for("one", [Play::Panics]);
    bench.plays_for("two", [call("boom"), words("It broke.")]);
    let told = bench.turn("go").await;
    let (ending, text) = result(&told, CallId(1));
    assert_eq!(ending, Ending::Failed);
    assert!(
        text.starts_with(
            "Sub-agent 'coder#1' failed: The request failed: reading the model's answer stopped unexpectedly"
        ),
        "{text}"
    );
    assert_eq!(result(&told, of(2, 1)).1, "Tool 'boom' raised an error: it went off");
    assert_eq!(result(&told, CallId(2)), (Ending::Ok, "It broke.".to_owned()));
    assert!(matches!(told.last(), Some(Event::End { end: TurnEnd::Answered, .. })));
}

/// Asks, and takes an answer that does not come for a hang.
async fn ask(agents: &Agents) -> (Outcome, String) {
    let answer = tokio::time::timeout(Duration::from_secs(30), agents.ask(AgentsRequest::List)).await;
    let output = answer.expect("an answer, whatever it is");
    (output.outcome, output.text)
}

#[tokio::test]
async fn a_tool_that_asks_other_agents_after_its_call_or_turn_ended_is_answered() {
    let mut bench = bench().await;
    let over = (Outcome::Failed, "The turn is over.".to_owned());
    bench.plays_for("go", [calls(&[spawn("coder", "part"), ("keep", json!({}))]), call("hang")]);
    bench.plays_for("part", [call("keep"), words("Kept.")]);
    bench.say("go");
    bench.until_running(3).await;
    let kept = lock(&bench.stage().kept).clone();
    assert_eq!(kept.len(), 2);
    for agents in &kept {
        assert_eq!(ask(agents).await, over, "its call has ended, though the turn runs");
    }
    bench.submit(Command::Stop);
    bench.until_end().await;
    for agents in &kept {
        assert_eq!(ask(agents).await, over, "its turn has ended");
    }
    bench.leave().await;
    assert_eq!(ask(&kept[0]).await, over, "its conversation rests");
    bench.quit().await;
    assert_eq!(ask(&kept[0]).await, over, "the program has ended");
}

#[tokio::test]
async fn stop_while_a_worker_is_being_wired_spawns_nobody() {
    let mut bench = bench().await;
    let (word, begins) = bench.stage().building_waits("odd");
    bench.plays_for("go", [calls(&[spawn("coder", "one")]), calls(&[spawn("coder", "two")]), words("Done.")]);
    bench.plays_for("two", [words("Two.")]);
    bench.say("go");
    begins.await.unwrap();
    bench.submit(Command::Stop);
    let told = bench.until_end().await;
    assert_eq!(result(&told, CallId(1)).0, Ending::Interrupted);
    word.send(()).unwrap();
    bench.say("and now");
    let told = bench.until_end_told().await;
    assert_eq!(spawned(&told), [(2, "coder#1".to_owned())], "numbers are never used twice, addresses begin anew");
    assert!(bench.requests_of("one").is_empty());
    let lines = bench.diagnostics().await;
    assert!(
        lines.contains(&"workers     0".to_owned()) && lines.contains(&"running     nothing".to_owned()),
        "{lines:?}"
    );
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
}

#[tokio::test]
async fn stopping_one_worker_leaves_the_others_and_who_spawned_it_goes_on() {
    let mut bench = bench().await;
    let mut drops = bench.stage().drops();
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("researcher", "two")]), words("With one.")]);
    bench.plays_for("one", [calls(&[spawn("researcher", "below"), ("run", json!({}))])]);
    bench.plays_for("below", [call("hang")]);
    bench.plays_for("two", [call("run"), words("Two.")]);
    bench.say("go");
    let mut waits = 3;
    bench
        .until("everything", |event| {
            waits -= i32::from(matches!(event, Event::Ask { .. }));
            waits -= i32::from(matches!(event, Event::Running { call, .. } if call.node() == NodeId(3)));
            waits == 0
        })
        .await;
    bench.submit(Command::StopAgent { node: NodeId(1) });
    bench.submit(Command::StopAgent { node: NodeId(1) });
    drops.recv().await.expect("what ran below it is dropped");
    bench.answer(of(2, 1).0, Answer::AllowedOnce);
    let told = bench.until_end_told().await;
    let ended: Vec<_> = ends(&told).into_iter().map(|(_, node, end)| (node, end)).collect();
    assert_eq!(ended, [(3, TurnEnd::Stopped), (1, TurnEnd::Stopped), (2, TurnEnd::Answered), (0, TurnEnd::Answered)]);
    let told = events(&told);
    let stopped = "Sub-agent 'coder#1' was stopped by the user before it finished.".to_owned();
    assert_eq!(result(&told, CallId(1)), (Ending::Failed, stopped));
    assert_eq!(result(&told, CallId(2)), (Ending::Ok, "Two.".to_owned()));
    assert_eq!(bench.stage().ran(), ["hang {}", "run {}"]);
}

#[tokio::test]
async fn p16_a_workers_grant_counts_for_the_next_worker_of_that_name_and_for_no_other() {
    let mut bench = bench().await;
    let same = || calls(&[("run", json!({"n": 1}))]);
    bench.plays_for("go", [calls(&[spawn("coder", "one")]), calls(&[spawn("coder", "two")]), words("Done.")]);
    bench.plays_for("one", [same(), words("One.")]);
    bench.plays_for("two", [same(), words("Two.")]);
    bench.say("go");
    bench.until_ask(of(1, 1).0).await;
    bench.answer(of(1, 1).0, Answer::AllowedForConversation);
    let told = bench.until_end().await;
    assert!(!told.iter().any(|event| matches!(event, Event::Ask { .. })));
    let granted = |event: &Event| matches!(event, Event::Answer { call, answer: Answer::AllowedByGrant { grant: 1 } } if *call == of(2, 1));
    assert!(told.iter().any(granted), "{told:#?}");
    // Another agent asks, and so does the one at the top.
    bench.plays_for("three", [same(), words("Three.")]);
    bench.plays([]);
    bench.plays_for("go", [calls(&[spawn("researcher", "three"), ("run", json!({"n": 1}))]), words("Denied.")]);
    bench.say("and they?");
    let mut asked = Vec::new();
    bench
        .until("two cards", |event| {
            if let Event::Ask { ask, .. } = event {
                asked.push(ask.call);
            }
            asked.len() == 2
        })
        .await;
    for call in asked {
        bench.answer(call.0, Answer::Denied);
    }
    bench.until_end().await;
    assert_eq!(bench.stage().ran(), [r#"run {"n":1}"#, r#"run {"n":1}"#]);
}

#[tokio::test]
async fn p16_a_composed_worker_gets_no_grant() {
    let mut bench = bench().await;
    let same = || calls(&[("run", json!({"n": 1}))]);
    let compose = json!({"name": "helper", "task": "one", "tools": ["work"], "instructions": "Help."});
    bench.plays_for("go", [calls(&[("compose_subagent", compose)]), words("Done.")]);
    bench.plays_for("one", [same(), same(), words("One.")]);
    bench.say("go");
    for number in 1..=2 {
        let told = bench.until_ask(of(1, number).0).await;
        let Some(Event::Ask { ask, .. }) = told.last() else { panic!("a card") };
        assert!(!ask.grantable);
        let chain: Vec<_> = ask.chain.iter().map(|asker| (asker.agent.as_str(), asker.address.as_deref())).collect();
        assert_eq!(chain, [("composed:helper", Some("helper#1")), ("assistant", None)]);
        bench.answer(of(1, number).0, Answer::AllowedForConversation);
    }
    let told = bench.until_end().await;
    assert_eq!(result(&told, CallId(1)), (Ending::Ok, "One.".to_owned()));
    assert!(!bench.house.minutes.entries().iter().any(|entry| matches!(entry.what, What::Grant { .. })));
    assert_eq!(bench.requests_of("one")[0].system.lines().next(), Some("Help."));
}

#[tokio::test]
async fn k5_audit_entries_carry_the_workers_name() {
    let mut bench = bench().await;
    let compose = json!({"name": "helper", "task": "three", "tools": ["fs"], "instructions": ""});
    bench.plays_for(
        "go",
        [calls(&[spawn("coder", "one"), ("compose_subagent", compose), ("look", json!({}))]), words("Done.")],
    );
    bench.plays_for("one", [call("run"), load("extra"), words("One.")]);
    bench.plays_for("three", [call("look"), words("Three.")]);
    bench.say("go");
    bench.until_ask(of(1, 1).0).await;
    bench.answer(of(1, 1).0, Answer::AllowedForConversation);
    bench.until_end().await;
    let mut said: Vec<(String, String)> = Vec::new();
    for entry in bench.house.minutes.entries() {
        assert_eq!(entry.conversation.as_deref(), Some("conversation-1"));
        let what = match entry.what {
            What::Call(call) => format!("call {}", call.wire),
            What::Answer { tool, .. } => format!("answer {tool}"),
            What::Load { toolset, .. } => format!("load {toolset}"),
            What::Grant { tool, .. } => format!("grant {tool}"),
            other => panic!("{other:?}"),
        };
        said.push((entry.agent.expect("whose it is").to_string(), what));
    }
    let of_agent = |name: &str| -> Vec<&str> {
        said.iter().filter(|(agent, _)| agent == name).map(|(_, what)| what.as_str()).collect()
    };
    assert_eq!(of_agent("assistant"), ["call spawn_subagent", "call compose_subagent", "call look"]);
    assert_eq!(of_agent("coder"), ["answer work.run", "grant work.run", "call run", "call load_tools", "load extra"]);
    assert_eq!(of_agent("composed:helper"), ["call look"]);
    assert_eq!(said.len(), 9);
}

#[tokio::test]
async fn a_broken_log_stops_the_whole_tree() {
    let mut bench = bench().await;
    let mut drops = bench.stage().drops();
    let (word, (speak, play)) = (bench.stage().waiting(1), sent());
    bench.plays_for("go", [calls(&[spawn("coder", "one"), spawn("researcher", "two"), spawn("coder", "three")])]);
    bench.plays_for("one", [calls(&[("wait", json!({"n": 1}))])]);
    bench.plays_for("two", [calls(&[("hang", json!({})), ("run", json!({}))])]);
    bench.plays_for("three", [play]);
    bench.say("go");
    speak.send(text("Words.")).unwrap();
    let mut waits = 4;
    bench
        .until("everything", |event| {
            let counts = match event {
                Event::Running { call, .. } => !call.node().is_entry(),
                Event::Ask { .. } | Event::Delta { .. } => true,
                _ => false,
            };
            waits -= i32::from(counts);
            waits == 0
        })
        .await;
    let before = bench.house.shelf.records("conversation-1").len();
    bench.house.shelf.refuse(|record| matches!(bare(record), Record::CallEnded { .. }));
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    let mut ended: Vec<_> = ends(&told).into_iter().map(|(_, node, end)| (node, end)).collect();
    ended.sort_by_key(|(node, _)| *node);
    assert_eq!(ended, (0..=3).map(|node| (node, TurnEnd::Stopped)).collect::<Vec<_>>());
    assert_eq!(
        alerts(&events(&told)),
        ["The conversation could not be saved, so the turn was stopped: the disk is full"]
    );
    for _ in 0..2 {
        drops.recv().await.expect("the one that ended, and the one that hung");
    }
    speak.closed().await;
    assert_eq!(bench.requests().len(), 4, "nobody is asked any more");
    assert_eq!(bench.house.shelf.records("conversation-1").len(), before, "nothing is written behind the hole");
    // It goes on from what was saved, where every call has its one ending.
    bench.house.shelf.refuse_nothing();
    bench.plays_for("go", [words("Again.")]);
    bench.say("again");
    bench.until_replayed().await;
    bench.until_end().await;
    assert_one_ending_each(&bench.house.shelf.records("conversation-1"));
}

#[tokio::test]
async fn d7_a_turn_with_a_worker_in_the_background_goes_on_out_of_sight_and_ends_with_its_last() {
    let mut bench = bench().await;
    let word = bench.stage().waiting(1);
    bench.plays_for("go", [calls(&[spawn_beside("coder", "one")]), words("It works on it."), words("It is done.")]);
    bench.plays_for("one", [calls(&[("wait", json!({"n": 1}))]), words("One.")]);
    bench.say("go");
    bench.until("waiting", |event| matches!(event, Event::Waiting { .. })).await;
    bench.leave().await;
    let history = bench.open("conversation-1").await;
    assert_eq!(spawned(&history), [(1, "coder#1".to_owned())]);
    let standing = bench.until("waiting", |event| matches!(event, Event::Waiting { .. })).await;
    assert!(matches!(standing.last(), Some(Event::Waiting { workers }) if workers == &["coder#1"]));
    bench.leave().await;
    word.send(()).unwrap();
    let told = bench.until_end_told().await;
    assert_eq!(ends(&told), [("conversation-1".to_owned(), 0, TurnEnd::Answered)]);
    let last = bench.requests_of("go").pop().unwrap();
    let told: Vec<_> = last
        .messages
        .iter()
        .filter_map(|message| match message {
            kokua::agent::Message::User(user) => Some(user.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["go", "[message from coder#1] One."]);
}
