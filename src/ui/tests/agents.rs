//! Workers on the screen: their tree, their own transcripts, and who is spoken to.

use insta::assert_snapshot;

use super::asks::{asked, tell_of};
use super::*;
use crate::agent::{Ground, NodeId, Spawned};
use crate::ui::Focus;
use crate::ui::transcript::Block;

const ENTRY: NodeId = NodeId::ENTRY;
const RESEARCHER: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);
const CODER: NodeId = NodeId(3);
const SCOUT: NodeId = NodeId(4);
const MASON: NodeId = NodeId(5);

fn of(ui: &mut Ui, node: NodeId, event: Event, now: i64) -> Vec<Cmd> {
    tell_of(ui, "c1", node, event, now)
}

fn all_of(ui: &mut Ui, node: NodeId, events: impl IntoIterator<Item = Event>) {
    for event in events {
        of(ui, node, event, NOW);
    }
}

fn spawned(call: CallId, agent: &str, address: &str, task: &str) -> Event {
    Event::Spawned(Box::new(Spawned {
        at: NOW,
        call,
        agent: AgentName::new(agent),
        address: address.to_owned(),
        task: task.to_owned(),
        model: "llama3.2:3b".to_owned(),
        ground: Ground::Foreground,
        toolsets: Vec::new(),
    }))
}

fn tool_of(node: NodeId, number: u32, toolset: &str, name: &str, arguments: Value) -> Event {
    tool_call(CallId::of(node, number).0, toolset, name, arguments)
}

fn running(node: NodeId, number: u32) -> Event {
    Event::Running { call: CallId::of(node, number), for_ms: 0 }
}

fn ending(end: TurnEnd) -> Event {
    Event::End { end, took_ms: 7_300 }
}

/// A worker as the driver tells it from its spawn to its first call.
fn begin_worker(ui: &mut Ui, node: NodeId, by: CallId, agent: &str, address: &str, task: &str, now: i64) {
    let started = Event::TurnStarted { at: now, attendance: Attendance::Attended, agent: Some(AgentName::new(agent)) };
    for event in [spawned(by, agent, address, task), started, said(task), call(1, &[], true)] {
        of(ui, node, event, now);
    }
}

/// The entry agent spawned two researchers and a coder, and the coder a scout: one is done, one failed, two ask.
fn a_crew(ui: &mut Ui) {
    let spawn = |number, agent: &str, task: &str| {
        tool_of(ENTRY, number, "core", "spawn_subagent", json!({"agent_type": agent, "task": task}))
    };
    tell_all(
        ui,
        [
            started(),
            said("find out what the folder is for, then tidy it"),
            call(1, &[], true),
            delta("I will ask two researchers and the coder."),
            used(1),
            spawn(1, "researcher", "what is in build/?"),
            spawn(2, "researcher", "who wrote it?"),
            spawn(3, "coder", "remove build/, write NOTE.md"),
            running(ENTRY, 1),
            running(ENTRY, 2),
            running(ENTRY, 3),
        ],
    );
    let by = |number| CallId::of(ENTRY, number);
    begin_worker(ui, RESEARCHER, by(1), "researcher", "researcher#1", "what is in build/?", NOW);
    begin_worker(ui, OTHER, by(2), "researcher", "researcher#2", "who wrote it?", NOW);
    begin_worker(ui, CODER, by(3), "coder", "coder#1", "remove build/, write NOTE.md", NOW + 1_000);
    all_of(ui, RESEARCHER, [delta("Fourteen objects, nothing else."), used(1), ending(TurnEnd::Answered)]);
    let failed = TurnEnd::Failed { message: "the model server went away".to_owned(), hint: None };
    all_of(ui, OTHER, [ending(failed)]);
    all_of(
        ui,
        CODER,
        [
            Event::Reasoning { text: "Someone should look at it first.".to_owned() },
            delta("A scout looks first, and I write the note."),
            used(1),
            tool_of(CODER, 1, "core", "spawn_subagent", json!({"agent_type": "scout", "task": "is build/ in use?"})),
            running(CODER, 1),
            tool_of(CODER, 2, "fs_write", "write_file", json!({"path": "NOTE.md", "content": "tidied\n"})),
        ],
    );
    let by = CallId::of(CODER, 1);
    begin_worker(ui, SCOUT, by, "scout", "scout#1", "is build/ in use?", NOW + 2_000);
    let command = json!({"command": "lsof build/", "cwd": "~/proj"});
    let asks = tool_of(SCOUT, 1, "compute", "run_command", command.clone());
    all_of(ui, SCOUT, [used(1), asks, ask_of(SCOUT, 1, command, &["scout#1", "coder#2", "assistant"])]);
    let mut card = write_ask(CallId::of(CODER, 2).0);
    if let Event::Ask { changed, .. } = &mut card {
        *changed = false;
    }
    all_of(ui, CODER, [card]);
    begin_worker(ui, MASON, CallId::of(CODER, 3), "coder", "mason#1", "mend the wall", NOW + 3_000);
    let message = "[message from coder#1] use the old bricks";
    all_of(
        ui,
        MASON,
        [
            used(1),
            Event::Said { text: message.to_owned(), origin: UserOrigin::Agent },
            call(2, &["todo"], true),
            Event::Writing { tool: "fs_write.write_file".to_owned(), bytes: 2_100 },
        ],
    );
}

fn ask_of(node: NodeId, number: u32, arguments: Value, chain: &[&str]) -> Event {
    asked(CallId::of(node, number), chain, ask(0, arguments))
}

fn crew(width: u16, height: u16) -> Ui {
    let mut ui = screen(width, height);
    tell_all(
        &mut ui,
        [session(Some("build tidy")), Event::Replayed, Event::Report(Box::new(report())), conversations()],
    );
    a_crew(&mut ui);
    ui
}

#[test]
fn d5_the_tree_of_a_turn() {
    for (width, height) in SIZES {
        let mut ui = crew(width, height);
        press_all(&mut ui, "F2 Down Down Down", NOW + 5_000, 10);
        assert_snapshot!(format!("tree_{width}x{height}"), frame(&mut ui, NOW + 14_000));
    }
}

#[test]
fn d5_a_worker_has_a_transcript_of_its_own_and_is_spoken_to() {
    for (width, height) in SIZES {
        let mut ui = crew(width, height);
        press_all(&mut ui, "F2 End Enter", NOW + 5_000, 10);
        type_text(&mut ui, "and leave a gap for the door", NOW + 6_000);
        assert_snapshot!(format!("worker_{width}x{height}"), frame(&mut ui, NOW + 14_000));
    }
}

#[test]
fn a_worker_that_has_ended_is_looked_at() {
    let mut ui = crew(80, 24);
    press_all(&mut ui, "F2 Down Enter", NOW + 5_000, 10);
    type_text(&mut ui, "thanks", NOW + 6_000);
    assert_snapshot!("worker_ended_80x24", frame(&mut ui, NOW + 14_000));
}

#[test]
fn what_waits_for_a_worker_that_fails_was_not_delivered_and_for_the_entry_agent_it_still_waits() {
    let failed = || ending(TurnEnd::Failed { message: "cut".to_owned(), hint: None });
    let words = |ui: &mut Ui, node: NodeId| {
        of(ui, node, Event::Queued { text: "and a gap".to_owned() }, NOW);
        of(ui, node, failed(), NOW);
        frame(ui, NOW + 1_000)
    };
    let mut ui = crew(80, 24);
    press_all(&mut ui, "F2 End Enter", NOW, 10);
    let text = words(&mut ui, MASON);
    assert!(text.contains("and a gap  (not delivered: the turn ended before)"), "{text}");
    let mut ui = crew(80, 24);
    let text = words(&mut ui, ENTRY);
    assert!(text.contains("and a gap  (queued: joins the turn at its next round)"), "{text}");
}

#[test]
fn the_end_of_a_turn_says_what_all_of_it_cost() {
    let mut ui = crew(80, 24);
    all_of(&mut ui, MASON, [used(2), ending(TurnEnd::Answered)]);
    all_of(&mut ui, SCOUT, [ending(TurnEnd::Stopped)]);
    all_of(&mut ui, CODER, [ending(TurnEnd::Answered)]);
    let unread =
        Event::Undelivered { from: "coder#1".to_owned(), to: "researcher#2".to_owned(), text: "never mind".to_owned() };
    let end = Event::End { end: TurnEnd::Answered, took_ms: 31_400 };
    tell_all(&mut ui, [call(2, &[], true), delta("It is tidy."), used(2), unread, end]);
    assert_snapshot!("turn_cost_80x24", frame(&mut ui, NOW + 32_000));
    let usage = Usage { input: Some(300), output: Some(12), cached: None };
    let Event::Call(mut line) = call(0, &[], false) else { panic!() };
    line.kind = CallKind::Title;
    tell(&mut ui, Event::SideCall { line, usage, took_ms: 700 }, NOW + 33_000);
    let text = ui.transcript().text();
    assert!(text.contains("turn · 6 agents · 9 calls · in 43.0k+"), "the title is in it: {text}");
    press(&mut ui, "F2", NOW + 34_000);
    assert_snapshot!("tree_ended_80x24", frame(&mut ui, NOW + 40_000));
}

#[test]
fn d7_a_turn_that_stays_open_says_for_whom() {
    let mut ui = crew(80, 24);
    let workers = vec!["coder#1".to_owned(), "mason#1".to_owned()];
    tell_all(&mut ui, [call(2, &[], true), delta("Started."), used(2)]);
    for number in 1..=3 {
        tell(&mut ui, result(number, Ending::Ok, ""), NOW);
    }
    tell(&mut ui, Event::Waiting { workers }, NOW + 9_000);
    press(&mut ui, "F2", NOW + 9_000);
    let shown = frame(&mut ui, NOW + 10_000);
    assert!(shown.contains("›W* assistant") && shown.contains("waiting"), "{shown}");
    assert!(shown.contains("open for coder#1, mason#1"), "{shown}");
    press(&mut ui, "Esc", NOW + 9_000);
    let shown = frame(&mut ui, NOW + 10_000);
    assert!(shown.contains("answered; the turn stays open for coder#1, mason#1"), "{shown}");
    assert!(ui.is_running());
}

#[test]
fn two_hundred_workers_scroll() {
    for (width, height) in SIZES {
        let mut ui = begun(width, height);
        tell_all(&mut ui, [started(), said("all of you"), call(1, &[], true)]);
        for number in 1..=200 {
            let node = NodeId(number);
            let by = CallId::of(ENTRY, number);
            begin_worker(&mut ui, node, by, "coder", &format!("coder#{number}"), "count to ten", NOW);
            all_of(&mut ui, node, [used(1)]);
            if number % 3 == 0 {
                all_of(&mut ui, node, [ending(TurnEnd::Answered)]);
            }
        }
        press_all(&mut ui, "F2 PgDn PgDn PgDn", NOW, 1);
        assert_snapshot!(format!("many_{width}x{height}"), frame(&mut ui, NOW + 3_000));
    }
}

#[test]
fn what_is_told_of_a_worker_stays_out_of_other_transcripts() {
    let mut ui = crew(80, 24);
    let entry = ui.transcript().text();
    // Its calls stand under the row that spawned it, each as one line; its words do not.
    assert!(!entry.contains("Fourteen objects") && entry.contains("lsof"), "{entry}");
    press_all(&mut ui, "F2 Down Enter", NOW, 1);
    let worker = ui.transcript().text();
    assert!(worker.contains("Fourteen objects") && !worker.contains("two researchers"), "{worker}");
}

#[test]
fn a_worker_s_asks_are_in_the_one_inbox_and_marked_in_its_own_transcript() {
    let mut ui = crew(80, 24);
    let calls: Vec<_> = ui.inbox().of("c1").map(|card| card.ask.call).collect();
    assert_eq!(calls, [CallId::of(CODER, 2), CallId::of(SCOUT, 1)], "in the order of the spawns");
    press_all(&mut ui, "Ctrl+Y n g", NOW + 5_000, 10);
    assert_eq!(ui.tree.viewed().id, SCOUT, "going to the call goes to its agent");
    assert!(frame(&mut ui, NOW + 6_000).contains("WAITS FOR YOU · 2 of 2"));
    all_of(&mut ui, SCOUT, [ending(TurnEnd::Stopped)]);
    assert_eq!(
        ui.inbox().of("c1").map(|card| card.ask.call).collect::<Vec<_>>(),
        [CallId::of(CODER, 2)],
        "its end takes its own alone"
    );
    tell(&mut ui, ending(TurnEnd::Stopped), NOW);
    assert!(ui.inbox().is_empty(), "and the turn's end all");
}

#[test]
fn typing_goes_to_whoever_is_looked_at() {
    let mut ui = crew(120, 40);
    let say = |to, text: &str| here(Command::Say { to, text: text.to_owned() });
    let sent = |ui: &mut Ui, text: &str| {
        type_text(ui, text, NOW);
        submitted(&press(ui, "Enter", NOW)).into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(sent(&mut ui, "one"), [say(ENTRY, "one")]);
    press_all(&mut ui, "F2 Down Down Down Enter", NOW, 1);
    assert_eq!(ui.focus(), Focus::Composer, "an x is a letter again");
    assert_eq!(sent(&mut ui, "xtwo"), [say(CODER, "xtwo")]);
    assert_eq!(
        sent(&mut ui, "/rename three"),
        [here(Command::Rename { title: "three".to_owned() })],
        "of the conversation"
    );
    all_of(&mut ui, CODER, [ending(TurnEnd::Answered)]);
    assert_eq!(sent(&mut ui, "four"), [] as [Command; 0], "it has ended");
    assert_eq!(ui.draft(), "four", "the draft is kept");
    assert!(frame(&mut ui, NOW + 10).contains("coder#1 has ended: your draft is kept"));
    assert_eq!(press(&mut ui, "Esc", NOW), [], "back to the entry agent, and no stop");
    assert_eq!(ui.tree.viewed().id, ENTRY);
    assert_eq!(submitted(&press(&mut ui, "Enter", NOW)), [&say(ENTRY, "four")]);
}

#[test]
fn escape_goes_back_before_it_stops() {
    let mut ui = crew(120, 40);
    press_all(&mut ui, "F2 Down Enter", NOW, 1);
    assert_eq!(ui.tree.viewed().id, RESEARCHER);
    assert_eq!(press_all(&mut ui, "Esc Esc", NOW, 1), [], "one to go back, the first of two to stop");
    assert_eq!(ui.tree.viewed().id, ENTRY);
    assert_eq!(submitted(&press(&mut ui, "Esc", NOW + 10)), [&here(Command::Stop)]);
    press_all(&mut ui, "F2 Down Enter F2 Home Enter", NOW + 5_000, 1);
    assert_eq!(ui.tree.viewed().id, ENTRY, "the first row leads back as well");
}

#[test]
fn enter_on_a_worker_s_row_opens_its_transcript_also_in_a_later_turn() {
    let mut ui = crew(120, 40);
    tell_all(&mut ui, [ending(TurnEnd::Stopped), started(), said("again")]);
    assert_eq!(ui.tree.rows().len(), 1, "the tree is that of the new turn");
    ui.focus = Focus::Transcript;
    let rows: Vec<_> = ui.transcript().blocks().map(|(id, _)| id).collect();
    let of_coder = rows.into_iter().find(|id| {
        ui.transcript_mut().select(Some(*id));
        ui.transcript().selected_worker() == Some(CODER)
    });
    assert!(of_coder.is_some());
    press(&mut ui, "Enter", NOW);
    assert_eq!(ui.tree.viewed().id, CODER);
    assert!(ui.transcript().text().contains("A scout looks first"));
    assert!(frame(&mut ui, NOW).contains("coder#1 has ended"));
}

#[test]
fn x_stops_one_agent_alone_and_the_first_row_the_turn() {
    let mut ui = crew(80, 24);
    let cmds = press_all(&mut ui, "F2 Down Down Down x", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Report, &here(Command::StopAgent { node: CODER })]);
    let shown = frame(&mut ui, NOW + 10);
    assert!(shown.contains("stopping coder#1") && shown.contains("stopping"), "{shown}");
    assert_eq!(submitted(&press(&mut ui, "Up", NOW)), [] as [&Command; 0]);
    assert_eq!(press(&mut ui, "x", NOW), [], "researcher#2 has ended");
    assert!(frame(&mut ui, NOW + 10).contains("researcher#2 has ended"));
    let cmds = press_all(&mut ui, "Home x", NOW, 1);
    assert_eq!(submitted(&cmds), [&here(Command::Stop)]);
    tell(&mut ui, ending(TurnEnd::Stopped), NOW);
    assert_eq!(press(&mut ui, "x", NOW), [], "nothing runs");
}

#[test]
fn a_row_that_moves_takes_the_selection_with_it() {
    let mut ui = crew(80, 24);
    press_all(&mut ui, "F2 End", NOW, 1);
    begin_worker(&mut ui, NodeId(9), CallId::of(RESEARCHER, 9), "scout", "scout#2", "look", NOW);
    assert_eq!(submitted(&press(&mut ui, "x", NOW)), [&here(Command::StopAgent { node: MASON })]);
}

#[test]
fn ledger_search_folds_and_copies_are_those_of_the_transcript_in_view() {
    let mut ui = crew(120, 40);
    press_all(&mut ui, "F2 End Enter", NOW, 1);
    press_all(&mut ui, "Ctrl+F", NOW, 1);
    type_text(&mut ui, "bricks", NOW);
    assert_eq!(ui.transcript().found().unwrap().total, 1);
    press_all(&mut ui, "Enter k k", NOW, 1);
    let copied = press(&mut ui, "y", NOW);
    assert!(matches!(copied.as_slice(), [Cmd::Copy(_)]), "{copied:?}");
    press_all(&mut ui, "j j j j Enter", NOW, 1);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("ledger of call 2"), "{shown}");
    press_all(&mut ui, "Esc Esc Esc Esc", NOW, 1);
    assert_eq!(ui.tree.viewed().id, ENTRY);
    assert!(ui.transcript().found().is_none(), "the search was of the other one");
}

#[test]
fn another_conversation_begins_at_its_entry_agent() {
    let mut ui = crew(120, 40);
    press_all(&mut ui, "F2 Down Enter", NOW, 1);
    tell_all(&mut ui, [session(None)]);
    assert_eq!(ui.tree.viewed().id, ENTRY);
    assert_eq!(ui.tree.rows().len(), 1);
}

#[test]
fn a_stored_tree_comes_back_with_its_states() {
    let mut ui = screen(80, 24);
    tell_all(&mut ui, [session(None), started(), said("go"), call(1, &[], true), used(1)]);
    begin_worker(&mut ui, RESEARCHER, CallId::of(ENTRY, 1), "researcher", "researcher#1", "look", NOW);
    begin_worker(&mut ui, OTHER, CallId::of(ENTRY, 2), "researcher", "researcher#2", "look", NOW);
    all_of(&mut ui, RESEARCHER, [used(1), ending(TurnEnd::Interrupted)]);
    tell_all(&mut ui, [ending(TurnEnd::Interrupted), Event::Replayed]);
    assert_eq!(ui.composer.history(), ["go"], "a task was typed by nobody");
    press(&mut ui, "F2", NOW);
    let shown = frame(&mut ui, NOW + 60_000);
    assert!(shown.contains(" I    researcher#1") && shown.contains(" I    researcher#2"), "{shown}");
    assert_eq!(ui.next_wake(NOW + 60_000), None, "nothing of it moves");
}

#[test]
fn idle_costs_no_tick_and_workers_one_a_second() {
    let mut ui = crew(120, 40);
    press(&mut ui, "F2", NOW);
    assert_eq!(ui.next_wake(NOW + 20_100), Some(900));
    tell(&mut ui, ending(TurnEnd::Stopped), NOW + 21_000);
    assert_eq!(ui.next_wake(NOW + 60_000), None, "with the turn end its workers");
    let shown = frame(&mut ui, NOW + 60_000);
    assert!(!shown.contains("│ R ") && shown.contains("│ I "), "{shown}");
}

#[test]
fn the_transcripts_of_so_many_workers_are_kept_and_no_more() {
    let mut ui = begun(80, 24);
    let limit = u32::try_from(crate::ui::tree::TRANSCRIPTS).unwrap();
    tell_all(&mut ui, [started(), call(1, &[], true)]);
    for number in 1..=limit + 20 {
        let by = CallId::of(ENTRY, number);
        begin_worker(&mut ui, NodeId(number), by, "coder", &format!("coder#{number}"), "count", NOW);
        // The first one runs on, and the second is looked at.
        if number == 2 {
            ui.tree.view(NodeId(2));
        }
        if number > 1 {
            all_of(&mut ui, NodeId(number), [delta("ten"), ending(TurnEnd::Answered)]);
        }
    }
    let dropped: Vec<_> = ui.tree.rows().iter().filter(|node| node.dropped).map(|node| node.id.0).collect();
    assert_eq!(dropped, (3..=22).collect::<Vec<_>>(), "the oldest finished, but not the one in view");
    assert_eq!(ui.tree.rows().len(), usize::try_from(limit).unwrap() + 21, "every row is there");
    press_all(&mut ui, "F2 Home Down Down Down", NOW, 1);
    assert!(frame(&mut ui, NOW).contains("not kept · "));
    press(&mut ui, "Enter", NOW);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("this transcript is no longer kept: those of 500 workers are"), "{shown}");
}

#[test]
fn d6_a_message_stands_under_its_sender() {
    let mut ui = crew(120, 40);
    press_all(&mut ui, "F2 End Enter", NOW, 1);
    let blocks: Vec<_> = ui.transcript().blocks().map(|(_, block)| block.clone()).collect();
    let said = |from: &str, text: &str| {
        blocks.iter().any(
            |block| matches!(block, Block::User { from: Some(by), text: words, .. } if by == from && words == text),
        )
    };
    assert!(said("coder#1", "use the old bricks") && said("task", "mend the wall"), "{blocks:?}");
    let early = "[message from scout#1, sent before you started] mind the step";
    of(&mut ui, MASON, Event::Said { text: early.to_owned(), origin: UserOrigin::Agent }, NOW);
    assert!(frame(&mut ui, NOW).contains("scout#1    (sent before you started) mind the step"));
    of(&mut ui, MASON, Event::Queued { text: "hurry".to_owned() }, NOW);
    of(&mut ui, MASON, said_by_person("hurry"), NOW);
    assert!(frame(&mut ui, NOW).contains("you        hurry"));
}

fn said_by_person(text: &str) -> Event {
    Event::Said { text: text.to_owned(), origin: UserOrigin::Person }
}
