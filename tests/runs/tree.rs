//! The agents of one conversation, rule by rule: who is spawned, what each holds, who reads what, and how all of it ends.

use kokua::access::{AgentName, Answer, Attendance};
use kokua::agent::{ANSWER_LIMIT, Asker, CallId, Effect, Ending, Event, FailureKind, Ground, NodeId, Record, TurnEnd};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::team::{ENTRY, Setup, Team, Wanted, compose, send, spawn, spawn_behind, wait_for};

pub(crate) fn going() -> Team {
    Team::going(Setup::default())
}

pub(crate) fn with_depth(depth: u32) -> Team {
    Team::going(Setup { depth, ..Setup::default() })
}

/// A team with these workers in the foreground, spawned at once.
pub(crate) fn with(agents: &[&str]) -> (Team, Vec<CallId>) {
    let mut team = going();
    let calls: Vec<_> = agents.iter().map(|agent| spawn(agent)).collect();
    let calls = team.calls(ENTRY, &calls);
    (team, calls)
}

/// A team with these workers in the background.
pub(crate) fn with_behind(agents: &[&str]) -> Team {
    let mut team = going();
    let calls: Vec<_> = agents.iter().map(|agent| spawn_behind(agent)).collect();
    team.calls(ENTRY, &calls);
    team
}

// D1.

#[test]
fn d1_the_menu_names_whom_it_may_spawn_and_nobody_else_holds_it() {
    let (team, _) = with(&["coder", "researcher"]);
    let spawn = team.requests[&ENTRY].tools.iter().find(|tool| tool.wire.as_str() == "spawn_subagent").unwrap();
    assert!(spawn.description.ends_with("Agents: researcher — Finds out.; coder."), "{}", spawn.description);
    assert!(spawn.schema["properties"]["background"].is_object(), "R20: messaging is available");
    let coder = team.requests[&team.who("coder#1")].tools.iter().find(|tool| tool.wire.as_str() == "spawn_subagent");
    assert!(coder.unwrap().description.ends_with("Agents: tester — Tests.."));
    assert!(!team.wires("researcher#1").contains(&"spawn_subagent".to_owned()));
}

#[test]
fn d1_a_worker_is_fresh_sees_its_task_alone_and_answers_one_text() {
    let (mut team, calls) = with(&["researcher"]);
    assert_eq!(team.reads("researcher#1"), ["be a researcher"]);
    assert_eq!(team.requests[&NodeId(1)].system, "You are researcher.");
    assert_eq!(team.result(calls[0]), None, "who spawned it waits");
    let tool = team.call("researcher#1", "read_file", json!({"path": "a"}));
    team.ends(tool, "contents");
    team.answers("researcher#1", "found");
    assert_eq!(team.ok(calls[0]), "found");
    let again = team.call(ENTRY, spawn("researcher").0, spawn("researcher").1);
    assert_eq!(team.reads("researcher#2"), ["be a researcher"], "nothing of the one before");
    team.answers("researcher#2", "found more");
    assert_eq!(team.ok(again), "found more");
    team.answers(ENTRY, "All found.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
}

#[test]
fn d1_what_cannot_be_spawned_is_said_in_its_result() {
    let mut team = going();
    let spawn = |agent: &str, task: &str| ("spawn_subagent", json!({"agent_type": agent, "task": task}));
    let calls = team.calls(ENTRY, &[spawn("tester", "test"), spawn("researcher", " \n"), spawn("assistant", "x")]);
    assert_eq!(team.failed(calls[0]), "Unknown agent_type 'tester'. Available agent_type values: researcher, coder.");
    assert_eq!(team.failed(calls[1]), "A sub-agent needs a task: it sees nothing of this conversation but that.");
    assert!(team.failed(calls[2]).starts_with("Unknown agent_type 'assistant'."));
    assert_eq!(team.seen.len(), 1, "nobody came to be");
}

#[test]
fn d1_one_that_cannot_be_wired_is_said_to_the_model_and_the_person() {
    let mut team = going();
    for name in ["researcher", "composed:helper"] {
        team.broken.insert(AgentName::new(name), "'fs': no disk".to_owned());
    }
    let calls = team.calls(ENTRY, &[spawn("researcher"), compose("helper", &["fs"]), spawn("coder")]);
    let texts = ["Could not spawn 'researcher': 'fs': no disk", "Could not compose 'helper': 'fs': no disk"];
    assert_eq!([team.failed(calls[0]), team.failed(calls[1])], texts);
    assert_eq!(team.alerts(), texts.map(|text| (ENTRY, text)));
    assert_eq!(team.world.composer(&AgentName::new("composed:helper")), None, "it is forgotten");
    assert_eq!(team.address(*team.seen.keys().next_back().unwrap()), "coder#1");
}

#[test]
fn w4_a_family_narrows_a_worker_and_everybody_below_it() {
    let mut team = going();
    let of =
        |agent: &str, family: &str| ("spawn_subagent", json!({"agent_type": agent, "task": "go", "family": family}));
    let calls = team.calls(ENTRY, &[of("researcher", "compute"), of("researcher", "fs"), of("coder", "compute")]);
    let expected = "Could not spawn 'researcher': it has no toolset 'compute'. Its toolsets: fs, messaging.";
    assert_eq!(team.failed(calls[0]), expected);
    assert_eq!(team.wires("researcher#1"), ["read_file"]);
    assert_eq!(team.wires("coder#1"), ["run_command"]);
    let refused = team.call("coder#1", "read_file", json!({"path": "a"}));
    assert_eq!(team.result(refused).unwrap().0, Ending::Refused, "O3: and at dispatch");
    let mut team = going();
    team.mode("quiet");
    let call = team.call(ENTRY, "spawn_subagent", of("coder", "compute").1);
    assert!(
        team.failed(call).starts_with("Could not spawn 'coder': 'compute': it is withheld"),
        "{}",
        team.failed(call)
    );
}

// D2, D3, D8.

#[test]
fn d3_a_composed_worker_has_its_label_its_toolsets_and_the_right_to_compose_while_levels_remain() {
    let mut team = with_depth(2);
    let calls = team.calls(ENTRY, &[compose(" helper ", &["fs"]), compose("", &["fs", "fs"])]);
    let spawned: Vec<_> = team.seen.values().filter_map(|seen| seen.spawned.clone()).collect();
    let facts: Vec<_> =
        spawned.iter().map(|one| (one.agent.as_str(), one.address.as_str(), one.toolsets.len())).collect();
    assert_eq!(facts, [("composed:helper", "helper#1", 1), ("composed:helper#2", "helper#2", 2)]);
    assert_eq!(team.wires("helper#1"), ["read_file", "list_capabilities", "compose_subagent"]);
    assert!(team.requests[&NodeId(1)].system.starts_with("You are a sub-agent."));
    let inner = team.call("helper#1", "compose_subagent", compose("inner", &["fs", "compute"]).1);
    assert_eq!(team.wires("inner#1"), ["read_file", "run_command"], "at the last level neither");
    team.answers("inner#1", "inside");
    assert_eq!(team.ok(inner), "inside");
    team.answers("helper#1", "one");
    team.answers("helper#2", "two");
    assert_eq!((team.ok(calls[0]), team.ok(calls[1])), ("one", "two"));
    for name in ["composed:helper", "composed:helper#2", "composed:inner"] {
        assert_eq!(team.world.composer(&AgentName::new(name)), None, "it is forgotten with its end");
    }
}

#[test]
fn d3_how_deep_a_declared_worker_may_compose_is_no_less_and_a_composed_ones_count_is_its_own() {
    let mut team = with_depth(3);
    let mut above = ENTRY;
    for level in 1..=3_u32 {
        let label = format!("level{level}");
        team.call(above, "compose_subagent", compose(&label, &["fs"]).1);
        above = team.who(&format!("{label}#1"));
        assert_eq!(team.wires(above).contains(&"compose_subagent".to_owned()), level < 3, "level {level}");
    }
}

#[test]
fn d3_what_cannot_be_composed_is_said_in_its_result() {
    let mut team = going();
    let blank = ("compose_subagent", json!({"name": "x", "task": " ", "tools": ["fs"], "instructions": ""}));
    let calls = team.calls(
        ENTRY,
        &[
            compose("x", &[]),
            compose("x", &["nothing"]),
            compose("x", &["Capabilities"]),
            compose("everyone", &["fs"]),
            blank,
        ],
    );
    let texts: Vec<_> = calls.iter().map(|call| team.failed(*call)).collect();
    assert_eq!(texts[0], "Could not compose 'x': name at least one toolset; list_capabilities shows them all");
    assert!(texts[1].starts_with("Could not compose 'x': nothing installs 'nothing'"), "{}", texts[1]);
    assert_eq!(texts[2], "Could not compose 'x': nobody can be composed from 'capabilities'");
    assert!(texts[3].starts_with("Could not compose 'everyone': "), "{}", texts[3]);
    assert_eq!(texts[4], "Could not compose 'x': it needs a task");
    let mut team = with_depth(0);
    let call = team.call(ENTRY, "compose_subagent", compose("x", &["fs"]).1);
    let off = "Composing a sub-agent is switched off: [capabilities].max_depth is 0. Ask the user to raise it.";
    assert_eq!(team.failed(call), off);
    assert_eq!(team.seen.len(), 1);
}

#[test]
fn d8_composing_sheds_no_gate_of_the_composer_and_the_card_says_who_asks() {
    let mut team = Team::going(Setup { own: Some(vec!["fs.read_file"]), ..Setup::default() });
    let own = team.call(ENTRY, "run_command", json!({"command": "ls"}));
    team.ends(own, "nothing here");
    team.call(ENTRY, "compose_subagent", compose("helper", &["fs", "compute"]).1);
    let calls =
        team.calls("helper#1", &[("read_file", json!({"path": "a"})), ("run_command", json!({"command": "ls"}))]);
    let cards: Vec<_> = team.cards().into_iter().map(|ask| (ask.call, ask.chain.clone(), ask.grantable)).collect();
    let asker =
        |agent: &str, address: Option<&str>| Asker { agent: AgentName::new(agent), address: address.map(Into::into) };
    let chain = vec![asker("composed:helper", Some("helper#1")), asker("assistant", None)];
    assert_eq!(cards, [(calls[0], chain.clone(), false), (calls[1], chain, false)]);
    team.card(calls[1], Answer::AllowedOnce);
    team.card(calls[0], Answer::Denied);
    assert_eq!(team.result(calls[0]).unwrap().0, Ending::NotAllowed);
    team.ends(calls[1], "ran");
    assert_eq!(team.ok(calls[1]), "ran");
}

// D4, D5.

#[test]
fn d4_several_run_at_once_and_their_answers_are_read_in_call_order() {
    let (mut team, calls) = with(&["researcher", "researcher", "coder"]);
    let addresses: Vec<_> = team.seen.keys().map(|node| team.address(*node)).collect();
    assert_eq!(addresses, ["assistant", "researcher#1", "researcher#2", "coder#1"]);
    for (address, text) in [("coder#1", "c"), ("researcher#1", "a"), ("researcher#2", "b")] {
        assert!(!team.open.contains(&Wanted::Model(ENTRY)));
        team.answers(address, text);
    }
    let texts: Vec<_> = calls.iter().map(|call| team.ok(*call)).collect();
    assert_eq!(texts, ["a", "b", "c"]);
    assert!(team.open.contains(&Wanted::Model(ENTRY)));
}

#[test]
fn d4_one_at_a_time_where_calls_do_not_run_together() {
    let mut team = Team::going(Setup { together: false, ..Setup::default() });
    let calls = team.calls(ENTRY, &[spawn("researcher"), spawn("coder")]);
    assert_eq!(team.seen.len(), 2);
    team.answers("researcher#1", "a");
    assert_eq!((team.ok(calls[0]), team.seen.len()), ("a", 3));
    team.answers("coder#1", "b");
    assert_eq!(team.ok(calls[1]), "b");
}

#[test]
fn d5_numbers_go_on_after_a_turn_and_after_a_restart() {
    let (mut team, calls) = with(&["researcher"]);
    assert_eq!(calls[0].to_string(), "call-1");
    let tool = team.call("researcher#1", "read_file", json!({}));
    assert_eq!(tool.to_string(), "call-1.1");
    team.ends(tool, "x");
    team.answers("researcher#1", "found");
    team.answers(ENTRY, "Done.");
    for (number, again) in [(2, false), (3, true)] {
        if again {
            team.reopen();
        }
        team.say(ENTRY, "again");
        let call = team.call(ENTRY, "spawn_subagent", spawn("researcher").1);
        assert_eq!((call.number(), team.who("researcher#1")), (number, NodeId(number)), "an address is its turn's");
        team.answers(NodeId(number), "found");
        team.answers(ENTRY, "Done.");
    }
    let spawned = team.seen[&NodeId(3)].spawned.clone().unwrap();
    assert_eq!(
        (spawned.ground, spawned.model.as_str(), spawned.task.as_str()),
        (Ground::Foreground, "tiny:1b", "be a researcher")
    );
}

// D6.

#[test]
fn d6_an_address_a_label_and_everyone_are_reached_and_the_receipt_names_them() {
    let (mut team, _) = with(&["researcher", "researcher", "coder"]);
    let calls = team.calls(
        "researcher#1",
        &[send("coder#1", "one"), send(" researcher ", "two"), send("everyone", "three"), send("assistant", "four")],
    );
    let texts: Vec<_> = calls.iter().map(|call| team.ok(*call).to_owned()).collect();
    let receipt =
        |names: &str| format!("Accepted for {names}. Delivered to whichever of them reads it next, if any of them do.");
    let expected = ["coder#1", "researcher#2", "assistant, researcher#2, coder#1", "assistant"].map(receipt);
    assert_eq!(texts, expected);
    assert_eq!(team.reads("researcher#1"), ["be a researcher"], "its own never comes back");
    assert_eq!(team.reads("coder#1"), ["be a coder"], "not inside of a model call");
    let call = team.call("coder#1", "read_file", json!({}));
    team.ends(call, "x");
    assert_eq!(
        team.reads("coder#1"),
        ["be a coder", "[message from researcher#1] one", "[message from researcher#1] three"],
        "at the next round, each with its mark"
    );
    team.answers("researcher#2", "found");
    assert_eq!(
        team.reads("researcher#2"),
        ["be a researcher", "[message from researcher#1] two", "[message from researcher#1] three"],
        "an answer is followed by what waits"
    );
    for address in ["researcher#1", "researcher#2", "coder#1"] {
        team.answers(address, "done");
    }
    assert_eq!(team.reads(ENTRY).len(), 3, "{:?}", team.reads(ENTRY));
    team.answers(ENTRY, "Done.");
    assert_eq!(team.undelivered(), []);
}

#[test]
fn d6_what_is_not_sent_is_said() {
    let (mut team, _) = with(&["researcher", "researcher", "coder"]);
    team.answers("coder#1", "done");
    let calls = team.calls(
        "researcher#1",
        &[
            send("coder#1", "x"),
            send("coder", "x"),
            send("tester", "x"),
            send("researcher#1", "x"),
            send("everyone", " \n"),
            send("assistant", &"x".repeat(16 * 1024 + 1)),
        ],
    );
    let texts: Vec<_> = calls.iter().map(|call| team.failed(*call).to_owned()).collect();
    let nobody =
        |who: &str| format!("No agent matches '{who}'. Addressable right now: assistant, researcher#2, or 'everyone'.");
    assert_eq!(texts[..2], ["Not sent: coder#1 has finished and reads no more."; 2].map(str::to_owned));
    assert_eq!(texts[2..4], [nobody("tester"), nobody("researcher#1")]);
    assert_eq!(texts[4], "Blank text was not sent; there is nothing for another agent to read.");
    assert_eq!(texts[5], "Not sent: 16385 bytes are more than the limit of 16384.");
    team.stop();
    assert_eq!(team.undelivered(), [], "nothing was sent");
}

#[test]
fn d6_what_is_sent_before_a_worker_starts_is_marked_so() {
    let mut team = going();
    let call = team.call(ENTRY, "send_message", send("everyone", "be brief").1);
    let later = "Accepted for every agent that starts later in this turn; nobody else is running.";
    assert_eq!(team.ok(call), later);
    let call = team.call(ENTRY, "spawn_subagent", spawn("researcher").1);
    team.answers("researcher#1", "found");
    let mark = "[message from assistant, sent before you started] be brief";
    assert_eq!(team.reads("researcher#1"), ["be a researcher", mark]);
    team.answers("researcher#1", "briefly");
    assert_eq!(team.ok(call), "found\n\nbriefly", "what came late adds to its answer and takes none of it");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.undelivered(), []);
    assert_eq!(team.reads(ENTRY), ["go"], "who sent it does not get it");
}

#[test]
fn d6_list_agents_says_who_runs_and_who_has_finished() {
    let (mut team, _) = with(&["researcher", "coder"]);
    team.answers("coder#1", "done");
    let call = team.call("researcher#1", "list_agents", json!({}));
    let roster = "- assistant: running\n- researcher#1 (you): running\n- coder#1: finished\n\
                  - everyone: every one of the above at once.";
    assert_eq!(team.ok(call), roster);
}

#[test]
fn d6_what_nobody_read_is_told_before_the_turn_ends() {
    let (mut team, _) = with(&["researcher", "researcher", "coder"]);
    let long = "é".repeat(3_000);
    team.calls(
        "researcher#1",
        &[send("researcher", "read by nobody"), send("everyone", "read by one"), send("coder#1", &long)],
    );
    let call = team.call("coder#1", "read_file", json!({}));
    team.ends(call, "x");
    let unread = team.call("coder#1", "send_message", send("assistant", "x").1);
    assert!(team.ok(unread).starts_with("Accepted for assistant."));
    team.stop();
    let lost = [("researcher#1", "researcher", "read by nobody"), ("coder#1", "assistant", "x")];
    assert_eq!(team.undelivered(), lost);
    let tail: Vec<_> = team
        .records
        .iter()
        .rev()
        .take(3)
        .map(|record| serde_json::to_value(record).unwrap()["record"].clone())
        .collect();
    assert_eq!(tail, ["turn_ended", "undelivered", "undelivered"]);
    let told = team.events.iter().filter(|(node, event)| node.is_entry() && matches!(event, Event::Undelivered { .. }));
    assert_eq!(told.count(), 2);

    let (mut team, _) = with(&["coder"]);
    team.call("coder#1", "send_message", send("assistant", &long).1);
    team.stop();
    assert_eq!(team.undelivered()[0].2.chars().count(), 2_000);
    team.say(ENTRY, "next");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.undelivered().len(), 1, "a turn's messages end with it");
}

#[test]
fn d6_two_agents_cannot_keep_each_other_going() {
    let mut team = Team::going(Setup { max: 3, ..Setup::default() });
    let calls = team.calls(ENTRY, &[spawn("researcher"), spawn("researcher")]);
    let other = |node: NodeId| if node == NodeId(1) { "researcher#2" } else { "researcher#1" };
    let mut steps = 0;
    while let Some(node) = team.open.iter().find_map(|open| match open {
        Wanted::Model(node) if !node.is_entry() => Some(*node),
        _ => None,
    }) {
        steps += 1;
        assert!(steps < 60, "they go on for ever");
        if steps % 2 == 0 {
            team.answers(node, "answered, and there may be more");
        } else {
            team.call(node, "send_message", send(other(node), "again").1);
        }
    }
    assert!(calls.iter().all(|call| team.result(*call).is_some()), "both have ended");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
}

#[test]
fn d6_a_turns_messages_have_a_bound() {
    let mut team = Team::going(Setup { max: 2_000, ..Setup::default() });
    for _ in 0..10 {
        let calls = team.calls(ENTRY, &vec![send("everyone", "x"); 100]);
        assert!(team.ok(calls[99]).starts_with("Accepted"));
    }
    let call = team.call(ENTRY, "send_message", send("everyone", "x").1);
    assert_eq!(team.failed(call), "Not sent: this turn's agents have sent 1000 messages, which is the limit.");
}

// D7.

#[test]
fn d7_a_background_worker_gives_its_address_at_once_and_its_answer_as_a_message() {
    let mut team = going();
    let call = team.call(ENTRY, "spawn_subagent", spawn_behind("researcher").1);
    assert!(team.ok(call).starts_with("Started researcher#1 in the background."), "{}", team.ok(call));
    team.answers(ENTRY, "It runs.");
    let waiting = Event::Waiting { workers: vec!["researcher#1".to_owned()] };
    assert_eq!(team.events.last(), Some(&(ENTRY, waiting)));
    assert!(team.tree.is_running(), "the turn is open");
    team.say(ENTRY, "how far?");
    assert_eq!(team.reads(ENTRY), ["go", "how far?"], "it joins the turn that waits");
    team.answers(ENTRY, "Not yet.");
    team.answers("researcher#1", "found");
    assert_eq!(team.reads(ENTRY), ["go", "how far?", "[message from researcher#1] found"]);
    team.answers(ENTRY, "Found.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
    let turns = team.records.iter().filter(|record| matches!(record, Record::TurnStarted { .. })).count();
    assert_eq!(turns, 1);
}

#[test]
fn d7_the_turn_is_open_until_the_last_has_ended() {
    let mut team = with_behind(&["researcher", "coder"]);
    team.call("coder#1", "spawn_subagent", spawn_behind("tester").1);
    team.answers("coder#1", "my part is done");
    team.answers(ENTRY, "They run.");
    team.answers("researcher#1", "found");
    team.answers(ENTRY, "Found.");
    let waiting = Event::Waiting { workers: vec!["coder#1".to_owned()] };
    assert_eq!(team.events.last(), Some(&(ENTRY, waiting)), "who waits itself still runs");
    team.answers("tester#1", "tested");
    assert_eq!(team.reads("coder#1").last().unwrap(), "[message from tester#1] tested");
    team.answers("coder#1", "all done");
    assert_eq!(team.reads(ENTRY).last().unwrap(), "[message from coder#1] my part is done\n\nall done");
    team.answers(ENTRY, "Done.");
    assert!(!team.tree.is_running());
}

#[test]
fn d7_an_awaited_answer_is_read_once() {
    let mut team = with_behind(&["researcher", "coder"]);
    let wait = team.call(ENTRY, "await_agents", wait_for(&["coder#1", "researcher#1", "coder#1"]).1);
    team.answers("researcher#1", "found");
    assert_eq!(team.result(wait), None, "each of them");
    team.answers("coder#1", "written");
    assert_eq!(team.ok(wait), "[coder#1] written\n\n[researcher#1] found");
    assert_eq!(team.reads(ENTRY), ["go"], "and no message says it again");
    let again = team.call(ENTRY, "await_agents", wait_for(&["coder#1"]).1);
    assert_eq!(team.ok(again), "[coder#1] written", "one that has ended is not waited for");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
}

#[test]
fn d7_check_agent_says_how_far_one_is_or_what_it_answered() {
    let mut team = with_behind(&["coder"]);
    let check = |team: &mut Team| {
        let call = team.call(ENTRY, "check_agent", json!({"address": "coder#1"}));
        team.result(call).unwrap().1.to_owned()
    };
    assert_eq!(check(&mut team), "coder#1 is running: model call 1.");
    let command = team.call("coder#1", "run_command", json!({"command": "ls"}));
    let asks = "coder#1 is running: model call 1, waits for the user to allow compute.run_command.";
    assert_eq!(check(&mut team), asks);
    team.card(command, Answer::AllowedOnce);
    assert_eq!(check(&mut team), "coder#1 is running: model call 1, runs compute.run_command.");
    team.ends(command, "nothing");
    team.answers("coder#1", "written");
    assert_eq!(check(&mut team), "coder#1 has finished.\n\nwritten");
    let calls = team
        .calls(ENTRY, &[("check_agent", json!({"address": "x"})), ("check_agent", json!({"address": "assistant"}))]);
    assert_eq!(team.failed(calls[0]), "No agent has the address 'x'. Addresses: assistant, coder#1.");
    assert_eq!(team.failed(calls[1]), "That is your own address.");
}

#[test]
fn d7_a_wait_that_would_never_end_is_refused() {
    let mut team = with_behind(&["researcher", "coder"]);
    team.call("coder#1", "spawn_subagent", spawn("tester").1);
    let wait = |team: &mut Team, who: &str, whom: &[&str]| team.call(who, "await_agents", wait_for(whom).1);
    let itself = wait(&mut team, "assistant", &["assistant"]);
    assert_eq!(team.failed(itself), "You cannot wait for yourself.");
    let nobody = wait(&mut team, "assistant", &[]);
    assert_eq!(team.failed(nobody), "Name at least one address in `addresses`; list_agents shows them.");
    for (whom, text) in [
        ("coder#1", "coder#1 waits for you, so waiting for it would never end."),
        ("assistant", "assistant waits for you, so waiting for it would never end."),
    ] {
        let call = wait(&mut team, "tester#1", &[whom]);
        assert_eq!(team.failed(call), text, "who stands above it");
    }
    let waits = wait(&mut team, "researcher#1", &["coder#1"]);
    let cycle = wait(&mut team, "tester#1", &["researcher#1"]);
    let text = "researcher#1 waits for you, so waiting for it would never end.";
    assert_eq!(team.failed(cycle), text, "it waits for whom the asker keeps open");
    team.answers("tester#1", "tested");
    assert_eq!(team.result(waits), None);
    team.answers("coder#1", "written");
    assert_eq!(team.ok(waits), "[coder#1] written");
}

#[test]
fn d7_who_spawned_a_worker_and_those_above_may_stop_it_and_nobody_else() {
    let mut team = with_behind(&["researcher", "coder"]);
    let below = team.call("coder#1", "spawn_subagent", spawn("tester").1);
    let stop = |team: &mut Team, who: &str, whom: &str| team.call(who, "stop_agent", json!({"address": whom}));
    for (who, whom) in [("researcher#1", "coder#1"), ("tester#1", "coder#1"), ("tester#1", "tester#1")] {
        let call = stop(&mut team, who, whom);
        assert_eq!(team.failed(call), "You can stop agents that you spawned, and those below them.", "{who} {whom}");
    }
    let call = stop(&mut team, "assistant", "tester#1");
    assert_eq!(team.ok(call), "Stopped tester#1.");
    assert_eq!(team.failed(below), "Sub-agent 'tester#1' was stopped by assistant before it finished.");
    let call = stop(&mut team, "assistant", "tester#1");
    assert_eq!(team.failed(call), "tester#1 has finished already.");
    let call = stop(&mut team, "assistant", "researcher#1");
    assert_eq!(team.ok(call), "Stopped researcher#1.");
    assert_eq!(team.reads(ENTRY), ["go"], "who stops it needs no message about it");
    let call = team.call(ENTRY, "await_agents", wait_for(&["researcher#1"]).1);
    let text = "[researcher#1] Sub-agent 'researcher#1' was stopped by assistant before it finished.";
    assert_eq!(team.ok(call), text);
}

#[test]
fn d7_nothing_runs_in_the_background_where_nobody_is() {
    let mut team = Team::new(Setup::default());
    team.say_as(ENTRY, "go", Attendance::Unattended, None);
    let call = team.call(ENTRY, "spawn_subagent", spawn_behind("researcher").1);
    let text = "Nobody is at this turn, so no worker of it runs in the background. Spawn it without `background`.";
    assert_eq!(team.failed(call), text);
    team.call(ENTRY, "spawn_subagent", spawn("coder").1);
    let denied = team.call("coder#1", "run_command", json!({"command": "ls"}));
    assert_eq!(team.result(denied).unwrap().0, Ending::NotAllowed, "P12: a worker of an unattended turn is unattended");
}

#[test]
fn d7_a_failure_while_others_run_is_said_and_the_turn_may_go_on() {
    let mut team = with_behind(&["researcher"]);
    team.fails(ENTRY, FailureKind::Unreachable);
    assert!(team.tree.is_running());
    let sentence = "The request could not reach the model server: no such luck.";
    assert_eq!(team.alerts(), [(ENTRY, sentence)]);
    team.answers("researcher#1", "found");
    team.answers(ENTRY, "Found.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered));
    assert!(!team.events.iter().any(|(_, event)| matches!(event, Event::Error { .. })), "the turn did not fail");

    let mut team = with_behind(&["researcher"]);
    team.fails(ENTRY, FailureKind::Unreachable);
    team.answers("researcher#1", "found");
    team.fails(ENTRY, FailureKind::Unreachable);
    assert!(matches!(team.end(ENTRY), Some(TurnEnd::Failed { .. })));
    assert_eq!(team.events.iter().filter(|(_, event)| matches!(event, Event::Error { .. })).count(), 1);
}

// O7.

#[test]
fn o7_the_mode_holds_for_every_worker_and_a_change_reaches_those_that_run() {
    let mut team = going();
    team.mode("quiet");
    team.call(ENTRY, "spawn_subagent", spawn("coder").1);
    assert!(!team.wires("coder#1").contains(&"run_command".to_owned()));
    team.call("coder#1", "spawn_subagent", spawn("tester").1);
    assert!(!team.wires("tester#1").contains(&"run_command".to_owned()));
    team.mode("work");
    let call = team.call("tester#1", "read_file", json!({}));
    team.ends(call, "x");
    assert!(team.wires("tester#1").contains(&"run_command".to_owned()), "from the next call on");
    let command = team.call("tester#1", "run_command", json!({"command": "ls"}));
    team.mode("quiet");
    team.card(command, Answer::AllowedOnce);
    assert_eq!(team.result(command).unwrap().0, Ending::Refused, "O3: and at dispatch at once");
    let noted = team.records.iter().filter(|record| matches!(record.whose().1, Record::Mode { .. }));
    assert!(noted.clone().all(|record| record.whose().0.is_entry()), "the conversation's mode is its own");
    team.stop();
}

#[test]
fn o7_an_allow_list_passes_to_every_worker_and_ends_with_the_turn() {
    let mut team = Team::new(Setup::default());
    team.say_as(ENTRY, "go", Attendance::Attended, Some(&["spawn_subagent", "read_file", "compose_subagent"]));
    let calls = team.calls(ENTRY, &[spawn("coder"), compose("helper", &["compute"])]);
    assert_eq!(team.wires("coder#1"), ["read_file", "spawn_subagent"]);
    assert!(
        team.failed(calls[1]).starts_with("Could not compose 'helper': 'compute': it is"),
        "{}",
        team.failed(calls[1])
    );
    team.call("coder#1", "spawn_subagent", spawn("tester").1);
    assert_eq!(team.wires("tester#1"), ["read_file"]);
    team.stop();
    team.say(ENTRY, "go");
    team.call(ENTRY, "spawn_subagent", spawn("tester").1);
    team.call(ENTRY, "spawn_subagent", spawn("researcher").1);
    assert!(team.wires("researcher#1").contains(&"send_message".to_owned()));
}

// What comes of a worker.

#[test]
fn a_cap_an_overflow_and_a_failure_say_whose_they_are() {
    let mut team = Team::going(Setup { max: 2, ..Setup::default() });
    let calls = team.calls(ENTRY, &[spawn("researcher"), spawn("researcher"), spawn("coder")]);
    for _ in 0..2 {
        let call = team.call("researcher#1", "read_file", json!({}));
        if team.result(call).is_none() {
            team.ends(call, "x");
        }
    }
    team.answers("researcher#1", "so far");
    let note = "[The sub-agent 'researcher#1' reached its tool-use limit of 2 rounds before it finished, so this is what it \
                had by then.]\n\nso far";
    assert_eq!(team.ok(calls[0]), note);
    team.fails("researcher#2", FailureKind::ContextOverflow);
    let full = "Sub-agent 'researcher#2' filled its own context window before it finished; yours is not full. Give it a \
                smaller task, or split it.";
    assert_eq!(team.failed(calls[1]), full);
    team.fails("coder#1", FailureKind::Cut);
    assert_eq!(team.failed(calls[2]), "Sub-agent 'coder#1' failed: The request failed: no such luck.");
    team.answers(ENTRY, "Done.");
    assert_eq!(team.end(ENTRY), Some(TurnEnd::Answered), "the turn goes on with that");
}

#[test]
fn a_long_answer_is_kept_whole_and_its_beginning_read() {
    let answer = "ü".repeat(ANSWER_LIMIT + 1);
    let (mut team, calls) = with(&["researcher", "coder"]);
    team.answers("researcher#1", &answer);
    let kept: Vec<_> =
        team.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Keep { .. })).cloned().collect();
    assert_eq!(kept, [(NodeId(1), Effect::Keep { text: answer.clone() })]);
    let head = "ü".repeat(ANSWER_LIMIT);
    let expected = format!("{head}\n\n[This is the beginning. The whole answer, 8002 bytes, is in answers/1.txt]");
    assert_eq!(team.ok(calls[0]), expected);
    team.answers("coder#1", &head);
    assert_eq!(team.ok(calls[1]), head, "one that is no longer than that is passed on whole");
}

#[test]
fn a_long_answer_that_cannot_be_kept_is_passed_on_whole() {
    let answer = "u".repeat(ANSWER_LIMIT + 1);
    let (mut team, calls) = with(&["researcher"]);
    team.shelf = Err("the disk is full".to_owned());
    team.answers("researcher#1", &answer);
    assert_eq!(team.ok(calls[0]), answer);
    let alert = "The answer of researcher#1 could not be kept on the disk: the disk is full";
    assert_eq!(team.alerts(), [(ENTRY, alert)], "nothing is told of a worker after its end");
}
