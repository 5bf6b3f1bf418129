//! How agents are stopped, left and lost, and what becomes of what a person says to them.

use kokua::access::{Answer, ToolsetName};
use kokua::agent::{
    AgentsRequest, Effect, Ending, Event, FailureKind, Input, NodeId, Record, ToolOutcome, TreeInput, TurnEnd,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::team::{ENTRY, Team, Wanted, compose, spawn, spawn_behind};
use crate::tree::{going, with, with_behind};

#[test]
fn a_stop_of_the_turn_ends_everybody_below_first() {
    let (mut team, _) = with(&["researcher", "coder"]);
    team.call("coder#1", "spawn_subagent", spawn("tester").1);
    team.call("researcher#1", "read_file", json!({}));
    let card = team.call("tester#1", "run_command", json!({"command": "ls"}));
    team.stop();
    let ends = |team: &Team| {
        let end = |(node, event): &(NodeId, Event)| matches!(event, Event::End { .. }).then(|| team.address(*node));
        team.events.iter().filter_map(end).collect::<Vec<_>>()
    };
    assert_eq!(ends(&team), ["tester#1", "coder#1", "researcher#1", "assistant"]);
    assert!(team.effects.contains(&(team.who("tester#1"), Effect::Withdraw { call: card })));
    assert!(
        team.records.iter().all(
            |record| !matches!(record.whose().1, Record::CallEnded { ending, .. } if *ending != Ending::Interrupted)
        )
    );
    team.stop();
    assert_eq!(team.effects, [], "a second stop finds nothing");
    team.say(ENTRY, "go on");
    assert_eq!(team.reads(ENTRY), ["go", "go on"]);
}

#[test]
fn a_second_stop_during_the_first_changes_nothing() {
    let (mut team, _) = with(&["coder"]);
    team.answers("coder#1", "x");
    team.calls(ENTRY, &[spawn("coder"), spawn("researcher")]);
    team.stop();
    let records = team.records.clone();
    for input in [Input::Stop, Input::Leave] {
        team.run(ENTRY, input);
        assert_eq!(team.effects, []);
    }
    team.step(TreeInput::StopAgent { node: team.who("coder#2") });
    assert_eq!((team.effects.len(), &team.records), (0, &records));
}

#[test]
fn p12_the_programs_end_interrupts_everybody() {
    let (mut team, _) = with(&["coder"]);
    let card = team.call("coder#1", "run_command", json!({"command": "ls"}));
    team.run(ENTRY, Input::Leave);
    assert_eq!([team.end(ENTRY), team.end("coder#1")], [const { Some(TurnEnd::Interrupted) }; 2]);
    let answer = team.records.iter().find_map(|record| match record.whose().1 {
        Record::CallEnded { call, answer, .. } if *call == card => answer.clone(),
        _ => None,
    });
    assert_eq!(answer, Some(Answer::Interrupted));
}

#[test]
fn one_worker_is_stopped_alone_and_who_spawned_it_goes_on() {
    let (mut team, calls) = with(&["researcher", "coder"]);
    team.call("coder#1", "spawn_subagent", spawn("tester").1);
    team.step(TreeInput::StopAgent { node: team.who("coder#1") });
    assert_eq!([team.end("coder#1"), team.end("tester#1")], [const { Some(TurnEnd::Stopped) }; 2]);
    assert_eq!(team.failed(calls[1]), "Sub-agent 'coder#1' was stopped by the user before it finished.");
    assert_eq!(team.end("researcher#1"), None);
    team.answers("researcher#1", "found");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
}

#[test]
fn one_in_the_background_that_is_stopped_is_told_of() {
    let mut team = with_behind(&["researcher"]);
    team.answers(ENTRY, "It runs.");
    team.step(TreeInput::StopAgent { node: NodeId(1) });
    let told = "[message from researcher#1] Sub-agent 'researcher#1' was stopped by the user before it finished.";
    assert_eq!(team.reads(ENTRY), ["go", told]);
    team.answers(ENTRY, "Stopped.");
    assert!(!team.tree.is_running());
}

#[test]
fn one_that_is_being_wired_is_stopped_with_its_call_and_comes_to_nothing_later() {
    for asks in [spawn("researcher"), spawn_behind("researcher"), compose("helper", &["fs"])] {
        let mut team = going();
        team.prompt = false;
        let call = team.call(ENTRY, asks.0, asks.1.clone());
        if let Some(asking) = team.open.iter().find(|wanted| matches!(wanted, Wanted::Asking(..))).cloned() {
            team.oblige(asking);
        }
        let Some(Wanted::Wire(wiring)) = team.open.first().cloned() else { panic!("{:?}", team.open) };
        let worker = team.wire(&wiring).map(Box::new);
        team.stop();
        assert!(team.cancelled.contains(&call));
        assert_eq!(team.result(call).unwrap().0, Ending::Interrupted);
        assert_eq!(team.world.composer(&wiring.agent), None);
        team.step(TreeInput::Wired { call, worker: worker.clone() });
        assert_eq!(team.effects, [], "late");
        team.say(ENTRY, "again");
        team.step(TreeInput::Wired { call, worker });
        assert_eq!(team.effects, [], "and in another turn");
        assert_eq!(team.seen.len(), 1);
    }
}

#[test]
fn a_call_that_was_kept_back_spawns_nobody_later() {
    let mut team = going();
    team.prompt = false;
    let call = team.call(ENTRY, "spawn_subagent", spawn("researcher").1);
    let Some(Wanted::Wire(wiring)) = team.open.first().cloned() else { panic!("{:?}", team.open) };
    let worker = team.wire(&wiring).map(Box::new);
    team.run(ENTRY, Input::KeptBack { call, why: "the audit log is full".to_owned() });
    team.step(TreeInput::Wired { call, worker });
    assert_eq!((team.effects.len(), team.seen.len()), (0, 1));
    team.answers(ENTRY, "Done.");
    assert!(!team.tree.is_running());
}

#[test]
fn a_call_that_ends_by_itself_leaves_nobody_behind() {
    for asks in [compose("helper", &["fs"]), spawn("researcher")] {
        let mut team = going();
        let call = team.call(ENTRY, asks.0, asks.1.clone());
        team.tool_ended(call, ToolOutcome { ending: Ending::TimedOut, text: "too late".to_owned(), note: None });
        assert_eq!(team.result(call), Some((Ending::TimedOut, "too late")));
        assert_eq!(team.end(NodeId(1)), Some(TurnEnd::Stopped));
        team.answers(ENTRY, "Done.");
        assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
    }
}

/// A tool's question comes by a queue, so it may come when its call has ended and another turn runs.
#[test]
fn a_question_of_a_call_that_has_ended_is_none() {
    let ask = |request: AgentsRequest| {
        let mut team = going();
        team.prompt = false;
        let call = team.call(ENTRY, "compose_subagent", compose("helper", &["fs"]).1);
        team.stop();
        team.say(ENTRY, "again");
        team.step(TreeInput::Requested { call, request });
        assert_eq!((team.effects.len(), team.seen.len()), (0, 1), "{:?}", team.effects);
    };
    let (label, task, toolsets) = ("helper".to_owned(), "x".to_owned(), vec![ToolsetName::new("fs").to_string()]);
    ask(AgentsRequest::Compose { label, task, toolsets, instructions: String::new() });
    ask(AgentsRequest::Send { to: "everyone".to_owned(), text: "x".to_owned() });
    ask(AgentsRequest::List);
}

// What a person says.

#[test]
fn what_a_person_says_to_a_worker_joins_its_next_round() {
    let (mut team, calls) = with(&["researcher"]);
    team.say(NodeId(1), "look under the stairs");
    let queued = Event::Queued { text: "look under the stairs".to_owned() };
    let kept = Record::Queued { at: 49, text: "look under the stairs".to_owned() }.of(NodeId(1));
    assert_eq!(team.effects, [(NodeId(1), Effect::Record(kept)), (NodeId(1), Effect::Tell(queued))]);
    team.answers("researcher#1", "nothing");
    assert_eq!(team.reads("researcher#1"), ["be a researcher", "look under the stairs"]);
    team.answers("researcher#1", "found");
    assert_eq!(team.ok(calls[0]), "nothing\n\nfound");
    team.say(NodeId(1), "thanks");
    team.say(NodeId(9), "hello?");
    let late = "researcher#1 has ended, so your message was not delivered: thanks";
    let unknown = "That agent has ended, so your message was not delivered: hello?";
    assert_eq!(team.alerts(), [(ENTRY, late), (ENTRY, unknown)]);
}

#[test]
fn what_a_worker_did_not_read_is_said_to_be_undelivered() {
    let (mut team, _) = with(&["researcher", "coder"]);
    team.say(NodeId(1), "hurry");
    team.say(NodeId(2), "slowly");
    team.fails("researcher#1", FailureKind::Cut);
    team.stop();
    let lost = |why: &str, words: &str| format!("Your message was not delivered, because {why}: {words}");
    let expected = [lost("the turn failed", "hurry"), lost("the agent was stopped", "slowly")];
    assert_eq!(team.alerts(), [(NodeId(1), expected[0].as_str()), (NodeId(2), expected[1].as_str())]);
}

#[test]
fn words_that_wait_when_a_turn_fails_begin_the_next_one() {
    let mut team = going();
    team.say(ENTRY, "and this");
    team.say(ENTRY, "and that");
    team.fails(ENTRY, FailureKind::Cut);
    assert!(matches!(team.end(ENTRY), Some(TurnEnd::Failed { .. })));
    assert!(team.tree.is_running());
    assert_eq!(team.reads(ENTRY), ["go", "and this\n\nand that"]);
    assert_eq!(team.alerts(), []);
    team.say(ENTRY, "one more");
    team.stop();
    assert!(!team.tree.is_running());
    let lost = "Your message was not delivered, because the turn was stopped: one more";
    assert_eq!(team.alerts(), [(ENTRY, lost)]);
}
