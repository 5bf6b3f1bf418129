//! One inbox for every agent and every conversation, the rows of workers, and what goes on in other conversations.

use insta::assert_snapshot;

use super::*;
use crate::access::Answer;
use crate::agent::update::{Activity, Alert, Severity};
use crate::agent::{Ground, NodeId, Spawned};
use crate::ui::Focus;
use crate::ui::inbox::CardId;

/// The coder.
const CODER: NodeId = NodeId(1);
/// What the coder composed.
const TIDY: NodeId = NodeId(2);

fn at_each_size(name: &str, prepare: impl Fn(&mut Ui), now: i64) {
    for (width, height) in SIZES {
        let mut ui = begun(width, height);
        tell_all(&mut ui, [conversations()]);
        prepare(&mut ui);
        assert_snapshot!(format!("{name}_{width}x{height}"), frame(&mut ui, now));
    }
}

pub(super) fn tell_of(ui: &mut Ui, conversation: &str, node: NodeId, event: Event, now: i64) -> Vec<Cmd> {
    update(ui, Msg::Update(Box::new(Update { conversation: conversation.to_owned(), node, event })), now)
}

pub(super) fn spawned(call: CallId, agent: &str, address: &str, ground: Ground) -> Event {
    Event::Spawned(Box::new(Spawned {
        at: NOW,
        call,
        agent: AgentName::new(agent),
        address: address.to_owned(),
        task: "remove build/, write NOTE".to_owned(),
        model: "qwen3:8b".to_owned(),
        ground,
        toolsets: Vec::new(),
    }))
}

pub(super) fn asked(call: CallId, chain: &[&str], event: Event) -> Event {
    let Event::Ask { ask, preview, changed, showing } = event else { panic!() };
    let chain = chain.iter().copied().map(asker).collect();
    Event::Ask { ask: Ask { call, chain, ..ask }, preview, changed, showing }
}

fn spawns_coder(ui: &mut Ui, ground: Ground) {
    let spawn = json!({"agent_type": "coder", "task": "remove build/, write NOTE"});
    tell_all(
        ui,
        [
            started(),
            said("tidy the build folder and add a note"),
            call(1, &[], true),
            delta("I will ask the coder to do it."),
            used(1),
            Event::ToolCall {
                call: CallId(1),
                tool: Some(ToolId::core("spawn_subagent")),
                risk: Some(Risk::Exec),
                wire: "spawn_subagent".to_owned(),
                arguments: spawn,
            },
            Event::Running { call: CallId(1), for_ms: 0 },
        ],
    );
    let begins = [
        spawned(CallId(1), "coder", "coder#1", ground),
        started(),
        said("remove build/, write NOTE"),
        call(1, &[], true),
        tool_call(CallId::of(CODER, 1).0, "fs", "list_directory", json!({"path": "build/"})),
        Event::Running { call: CallId::of(CODER, 1), for_ms: 0 },
        result(CallId::of(CODER, 1).0, Ending::Ok, "14 entries"),
    ];
    for event in begins {
        tell_of(ui, "c1", CODER, event, NOW);
    }
}

/// An agent, its worker, and what that composed: each of them asks; and so does another conversation.
fn all_ask(ui: &mut Ui) {
    spawns_coder(ui, Ground::Foreground);
    let compose = json!({"name": "tidy", "task": "empty the folder", "tools": ["compute"], "instructions": ""});
    let told = [
        (CODER, tool_call(CallId::of(CODER, 2).0, "fs_write", "write_file", json!({"path": "NOTE.md"}))),
        (CODER, tool_call(CallId::of(CODER, 3).0, "capabilities", "compose_subagent", compose)),
        (CODER, Event::Running { call: CallId::of(CODER, 3), for_ms: 0 }),
        (TIDY, spawned(CallId::of(CODER, 3), "composed:tidy", "tidy#1", Ground::Foreground)),
        (TIDY, call(1, &[], true)),
        (TIDY, tool_call(CallId::of(TIDY, 1).0, "compute", "run_command", json!({"command": "rm -rf build"}))),
        (NodeId::ENTRY, tool_call(2, "compute", "run_command", json!({"command": "make"}))),
        (NodeId::ENTRY, tool_call(3, "compute", "run_command", json!({"command": "make install"}))),
    ];
    for (node, event) in told {
        tell_of(ui, "c1", node, event, NOW);
    }
    let (tidy, write) = (CallId::of(TIDY, 1), CallId::of(CODER, 2));
    // As they come: never in the order in which they are shown.
    let asks = [
        ("c2", asked(CallId(7), &["assistant"], command_ask(7))),
        ("c1", asked(tidy, &["composed:tidy", "coder#2", "assistant"], ask(9, json!({"command": "rm -rf build"})))),
        ("c1", asked(CallId(3), &["assistant"], ask(3, json!({"command": "make install"})))),
        ("c1", asked(write, &["coder#1", "assistant"], write_ask(2))),
        ("c1", asked(CallId(2), &["assistant"], ask(2, json!({"command": "make"})))),
    ];
    for (conversation, event) in asks {
        let Event::Ask { ask, .. } = &event else { panic!() };
        let node = ask.call.node();
        tell_of(ui, conversation, node, event, NOW);
    }
}

fn id(conversation: &str, node: NodeId, number: u32) -> CardId {
    CardId { conversation: conversation.to_owned(), call: CallId::of(node, number) }
}

/// Their order.
fn five() -> [CardId; 5] {
    [
        id("c1", NodeId::ENTRY, 2),
        id("c1", NodeId::ENTRY, 3),
        id("c1", CODER, 2),
        id("c1", TIDY, 1),
        id("c2", NodeId::ENTRY, 7),
    ]
}

fn order(ui: &Ui) -> Vec<CardId> {
    ui.inbox().cards().map(crate::ui::inbox::Card::id).collect()
}

#[test]
fn five_cards_of_a_tree_and_of_another_conversation() {
    at_each_size("five_asks", all_ask, NOW + 14_000);
    let composed = |ui: &mut Ui| {
        all_ask(ui);
        press_all(ui, "Ctrl+Y n n n", NOW + 5_000, 10);
    };
    at_each_size("five_asks_composed", composed, NOW + 14_000);
    let elsewhere = |ui: &mut Ui| {
        all_ask(ui);
        press_all(ui, "Ctrl+Y p", NOW + 5_000, 10);
    };
    at_each_size("five_asks_elsewhere", elsewhere, NOW + 14_000);
}

#[test]
fn an_open_row_of_a_worker_with_a_worker_of_its_own() {
    let open = |ui: &mut Ui| {
        all_ask(ui);
        let row = ui.transcript().blocks().find_map(|(id, block)| match block {
            crate::ui::transcript::Block::Tool(row) if row.work.is_some() => Some(id),
            _ => None,
        });
        ui.transcript_mut().select(row);
        ui.focus = Focus::Transcript;
        press(ui, "Space", NOW + 5_000);
    };
    at_each_size("spawn_row_open", open, NOW + 14_000);
}

#[test]
fn the_inbox_begins_with_the_conversation_in_view_in_the_order_of_spawns_and_calls() {
    let mut ui = begun(120, 40);
    all_ask(&mut ui);
    assert_eq!(order(&ui), five());
    // Another conversation's first card came later than the one before it, and its second does not change that.
    tell_of(&mut ui, "c3", NodeId::ENTRY, asked(CallId(1), &["assistant"], command_ask(1)), NOW);
    tell_of(&mut ui, "c2", NodeId::ENTRY, asked(CallId(9), &["assistant"], command_ask(9)), NOW);
    let expected: Vec<_> = five().into_iter().chain([id("c2", NodeId::ENTRY, 9), id("c3", NodeId::ENTRY, 1)]).collect();
    assert_eq!(order(&ui), expected);
}

#[test]
fn p14_cards_are_answered_in_any_order_and_each_answer_goes_to_its_own_conversation() {
    let later = NOW + 20_000;
    for (keys, place) in [("Ctrl+Y", 0), ("Ctrl+Y n", 1), ("Ctrl+Y n n", 2), ("Ctrl+Y p p", 3), ("Ctrl+Y p", 4)] {
        let mut ui = begun(120, 40);
        all_ask(&mut ui);
        // A card that comes into the strip takes no yes for a moment.
        let cmds = press_all(&mut ui, &format!("{keys} a"), later, 500);
        let CardId { conversation, call } = five()[place].clone();
        let answer =
            Command::Answer { conversation: conversation.clone(), call, answer: Answer::AllowedOnce, showing: 0 };
        assert_eq!(submitted(&cmds), [&answer], "{keys}");
        // Once it is told, that one alone goes.
        tell_of(&mut ui, &conversation, call.node(), Event::Answer { call, answer: Answer::AllowedOnce }, later);
        let rest: Vec<_> = five().into_iter().enumerate().filter(|(at, _)| *at != place).map(|(_, id)| id).collect();
        assert_eq!(order(&ui), rest, "{keys}");
        assert!(ui.alerts.is_empty(), "the person who answered knows");
    }
}

#[test]
fn a_card_of_another_conversation_is_withdrawn_with_its_turn_or_its_expiry() {
    for (event, said) in [
        (
            Event::Answer { call: CallId(7), answer: Answer::Expired },
            Some("assistant in \"trip notes\" asks no more: expired"),
        ),
        (result(7, Ending::Interrupted, ""), None),
        (Event::End { end: TurnEnd::Stopped, took_ms: 0 }, None),
        (Event::End { end: TurnEnd::Answered, took_ms: 0 }, Some("Reply ready in \"trip notes\".")),
        (
            Event::End { end: TurnEnd::Failed { message: "it broke".to_owned(), hint: None }, took_ms: 0 },
            Some("A reply in \"trip notes\" failed."),
        ),
    ] {
        let mut ui = begun(120, 40);
        tell_all(&mut ui, [conversations()]);
        all_ask(&mut ui);
        tell_of(&mut ui, "c2", NodeId::ENTRY, event.clone(), NOW);
        assert_eq!(order(&ui), five()[..4], "{event:?}");
        let alerts: Vec<_> = ui.shown_alerts(NOW).map(|alert| alert.message.as_str()).collect();
        assert_eq!(alerts, said.into_iter().collect::<Vec<_>>(), "{event:?}");
    }
}

#[test]
fn p14_a_stop_withdraws_the_cards_of_the_turn_and_all_its_workers_and_no_others() {
    let mut ui = begun(80, 24);
    all_ask(&mut ui);
    // A worker alone: its own cards; what it spawned is told itself.
    tell_of(&mut ui, "c1", TIDY, Event::End { end: TurnEnd::Stopped, took_ms: 9 }, NOW);
    assert_eq!(order(&ui), [&five()[..3], &five()[4..]].concat());
    assert!(ui.is_running(), "the end of a worker is not the end of the turn");
    press_all(&mut ui, "Ctrl+Y n n D", NOW + 5_000, 10);
    type_text(&mut ui, "no notes", NOW + 6_000);
    tell_of(&mut ui, "c1", NodeId::ENTRY, Event::End { end: TurnEnd::Stopped, took_ms: 9 }, NOW + 7_000);
    assert_eq!(order(&ui), five()[4..]);
    assert_eq!(ui.composer.history().last().map(String::as_str), Some("no notes"), "nothing typed is lost");
    assert!(ui.prompt.is_none());
}

#[test]
fn the_next_card_is_inert_also_when_it_is_of_another_conversation() {
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [started(), command_ask(3)]);
    tell_of(&mut ui, "c2", NodeId::ENTRY, asked(CallId(3), &["assistant"], command_ask(3)), NOW);
    let cmds = press_all(&mut ui, "Ctrl+Y a", NOW + 5_000, 1);
    assert_eq!(submitted(&cmds).len(), 1);
    tell(&mut ui, Event::Answer { call: CallId(3), answer: Answer::AllowedOnce }, NOW + 5_010);
    assert_eq!(ui.inbox().len(), 1, "a call of the same number in another conversation is another call");
    assert_eq!(press(&mut ui, "a", NOW + 5_020), []);
    let cmds = press(&mut ui, "a", NOW + 7_000);
    assert!(matches!(submitted(&cmds)[..], [Command::Answer { conversation, .. }] if conversation == "c2"), "{cmds:?}");
}

fn session_of(id: &str, title: &str) -> Event {
    let mut event = session(Some(title));
    if let Event::Session { conversation, .. } = &mut event {
        id.clone_into(conversation);
    }
    event
}

#[test]
fn cards_of_others_survive_another_conversation_in_view_and_its_own_are_told_again() {
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [conversations()]);
    all_ask(&mut ui);
    press_all(&mut ui, "Ctrl+Y n n D", NOW + 5_000, 10);
    type_text(&mut ui, "because", NOW + 6_000);
    tell_of(&mut ui, "c2", NodeId::ENTRY, session_of("c2", "trip notes"), NOW + 7_000);
    assert_eq!(order(&ui), five()[..4], "they wait on");
    assert_eq!(ui.inbox().shown().unwrap().elsewhere.as_deref(), Some("\"build tidy\""));
    tell_of(&mut ui, "c2", NodeId::ENTRY, Event::Replayed, NOW + 7_000);
    tell_of(&mut ui, "c2", NodeId::ENTRY, asked(CallId(7), &["assistant"], command_ask(7)), NOW + 7_000);
    let [.., last] = five();
    assert_eq!(order(&ui), [&[last][..], &five()[..4]].concat(), "the one in view is first");
    // The sentence that was begun is still of the card that it was begun for.
    let cmds = press(&mut ui, "Enter", NOW + 9_000);
    let CardId { conversation, call } = five()[2].clone();
    let answer = Answer::DeniedWithReason { reason: "because".to_owned() };
    assert_eq!(submitted(&cmds), [&Command::Answer { conversation, call, answer, showing: 0 }]);
}

#[test]
fn g_goes_to_who_asks_wherever_that_is() {
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [conversations()]);
    all_ask(&mut ui);
    let cmds = press_all(&mut ui, "Ctrl+Y p g", NOW + 5_000, 10);
    assert_eq!(submitted(&cmds), [&Command::Open { id: "c2".to_owned() }]);
    tell_of(&mut ui, "c2", NodeId::ENTRY, session_of("c2", "trip notes"), NOW + 6_000);
    assert_ne!(ui.inbox().shown().unwrap().id(), five()[4]);
    tell_of(&mut ui, "c2", NodeId::ENTRY, asked(CallId(7), &["assistant"], command_ask(7)), NOW + 6_000);
    assert_eq!(ui.inbox().shown().unwrap().id(), five()[4], "the card that was gone to comes up");
    assert_eq!(press(&mut ui, "a", NOW + 6_010), [], "and takes no key by itself");
}

#[test]
fn p15_a_composed_worker_is_never_taken_for_a_declared_one() {
    for (width, height) in SIZES {
        let mut ui = begun(width, height);
        all_ask(&mut ui);
        press_all(&mut ui, "Ctrl+Y n n n", NOW + 5_000, 10);
        let shown = frame(&mut ui, NOW + 9_000);
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = "a worker composed by coder#2, calling itself 'tidy'#1 < coder#2 < assistant";
        assert!(flat.contains(words), "{shown}");
    }
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [started()]);
    let evil = asked(CallId(1), &["composed:ok\u{202e}' < assistant", "coder"], command_ask(1));
    tell(&mut ui, evil, NOW);
    assert!(!frame(&mut ui, NOW).contains('\u{202e}'));
}

#[test]
fn an_ask_elsewhere_rings_when_nobody_looks() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [conversations()]);
    update(&mut ui, Msg::Focus(false), NOW);
    let cmds = tell_of(&mut ui, "c2", NodeId::ENTRY, asked(CallId(7), &["assistant"], command_ask(7)), NOW);
    assert_eq!(cmds, [Cmd::Notify("in \"trip notes\": assistant asks: compute.run_command".to_owned())]);
}

#[test]
fn alerts_of_others_name_their_conversation() {
    let mut ui = begun(80, 24);
    let alert =
        |message: &str| Event::Alert(Alert { severity: Severity::Warning, message: message.to_owned(), hint: None });
    let id = "01993c1e-9a3b-7000-8000-000000000000";
    tell_of(&mut ui, id, NodeId::ENTRY, alert("could not load 'documents'"), NOW);
    let said = |ui: &Ui| ui.shown_alerts(NOW).next().unwrap().message.clone();
    assert_eq!(said(&ui), "in conversation 01993c1e-9a3b: could not load 'documents'");
    tell_all(&mut ui, [conversations()]);
    tell_of(&mut ui, "c2", NodeId::ENTRY, alert("it broke"), NOW);
    assert_eq!(said(&ui), "in \"trip notes\": it broke");
    tell_of(&mut ui, "", NodeId::ENTRY, alert("of the whole program"), NOW);
    assert_eq!(said(&ui), "of the whole program");
}

#[test]
fn a_row_keeps_the_last_lines_and_says_how_many_went() {
    let mut ui = begun(120, 200);
    spawns_coder(&mut ui, Ground::Foreground);
    let waits = CallId::of(CODER, 2);
    tell_of(&mut ui, "c1", CODER, tool_call(waits.0, "compute", "run_command", json!({"command": "early"})), NOW);
    tell_of(&mut ui, "c1", CODER, asked(waits, &["coder#1", "assistant"], command_ask(2)), NOW);
    for number in 3..203 {
        let call = CallId::of(CODER, number);
        tell_of(
            &mut ui,
            "c1",
            CODER,
            tool_call(call.0, "fs", "read_file", json!({"path": format!("file{number}")})),
            NOW,
        );
        tell_of(&mut ui, "c1", CODER, result(call.0, Ending::Ok, "one line"), NOW);
    }
    let row = ui.tree.entry().scene.story.block_of(CallId(1)).unwrap();
    // Folded, the last lines show what happens now, and what waits for a person before that.
    let shown = frame(&mut ui, NOW + 1_000);
    assert!(shown.contains("file202") && shown.contains("early") && !shown.contains("file199"), "{shown}");
    assert!(ui.transcript_mut().toggle_fold(row));
    let shown = frame(&mut ui, NOW + 1_000);
    let lines = shown.lines().filter(|line| line.contains("fs.read_file") || line.contains("early")).count();
    assert_eq!(lines, crate::ui::transcript::WORK_LINES, "{shown}");
    assert!(shown.contains("… 153 lines before these not shown"), "{shown}");
    assert!(shown.contains("early") && shown.contains("coder#1 · qwen3:8b · 202 calls"), "{shown}");
}

#[test]
fn a_worker_in_the_background_runs_on_in_its_row_and_then_says_how_it_ended() {
    let mut ui = begun(120, 40);
    spawns_coder(&mut ui, Ground::Background);
    tell_all(&mut ui, [result(1, Ending::Ok, "coder#1")]);
    let shown = frame(&mut ui, NOW + 14_000);
    assert!(shown.contains("in the background 0:14") && shown.contains("fs.list_directory"), "{shown}");
    assert!(ui.transcript().ticks());
    tell_of(&mut ui, "c1", CODER, Event::End { end: TurnEnd::Answered, took_ms: 31_400 }, NOW + 31_000);
    let shown = frame(&mut ui, NOW + 40_000);
    assert!(shown.contains("done · 31 s") && !shown.contains("fs.list_directory"), "folded it is one line\n{shown}");
    assert!(!ui.transcript().ticks());
    // No worker outlives its turn, told or not (D7).
    let mut ui = begun(120, 40);
    spawns_coder(&mut ui, Ground::Background);
    tell_all(&mut ui, [result(1, Ending::Ok, "coder#1"), Event::End { end: TurnEnd::Stopped, took_ms: 0 }]);
    assert!(!ui.transcript().ticks());
    assert_eq!(ui.next_wake(NOW + 60_000), None);
}

/// A conversation that another program runs was read in the middle of a worker's work: its row ran on for ever.
#[test]
fn a_worker_that_is_only_looked_at_does_not_run() {
    let mut ui = begun(120, 40);
    let mut event = session(Some("build tidy"));
    if let Event::Session { read_only, .. } = &mut event {
        *read_only = Some("another kokua has it open".to_owned());
    }
    tell_all(&mut ui, [event]);
    spawns_coder(&mut ui, Ground::Background);
    tell_all(&mut ui, [result(1, Ending::Ok, "coder#1"), Event::Replayed]);
    assert!(!ui.transcript().ticks() && !ui.is_running());
    let shown = frame(&mut ui, NOW + 14_000);
    assert!(!shown.contains("in the background"), "{shown}");
    // Looking at the worker, one still reads the way back.
    assert!(ui.tree.view(CODER));
    assert!(frame(&mut ui, NOW + 14_000).contains("back to the entry agent"));
}

fn busy() -> Event {
    let Event::Conversations { mut list } = conversations() else { panic!() };
    let row = |id: &str, title: &str, activity, unread| ConversationSummary {
        id: id.to_owned(),
        title: title.to_owned(),
        activity,
        unread,
        ..list[2].clone()
    };
    let others = [
        row("c4", "a release in many steps with a long title", Activity::Running, false),
        row("c5", "garden", Activity::Asking, true),
        row("c6", "letters", Activity::Idle, true),
    ];
    list.extend(others);
    Event::Conversations { list }
}

#[test]
fn the_list_of_conversations_marks_what_goes_on_by_word_and_letter() {
    let prepare = |ui: &mut Ui| {
        tell_all(ui, [started(), busy()]);
        press(ui, "F6", NOW);
    };
    at_each_size("conversations_busy", prepare, NOW + 4_000);
}

#[test]
fn one_that_runs_is_not_deleted_and_says_why() {
    let table = [(0, true), (1, false), (2, false), (3, true), (4, true), (5, false)];
    for (row, runs) in table {
        let mut ui = begun(120, 40);
        tell_all(&mut ui, [started(), busy()]);
        press(&mut ui, "F6", NOW);
        (0..row).for_each(|_| drop(press(&mut ui, "Down", NOW)));
        let cmds = press_all(&mut ui, "d y", NOW, 1);
        assert_eq!(submitted(&cmds).is_empty(), runs, "row {row}: {cmds:?}");
        assert_eq!(frame(&mut ui, NOW + 10).contains("not while a turn of it runs"), runs, "row {row}");
    }
}

#[test]
fn another_conversation_is_gone_to_while_a_turn_runs() {
    for (text, expected) in [
        ("/new", Command::New),
        ("/switch trip", Command::Open { id: "c2".to_owned() }),
        ("/rename a title", here(Command::Rename { title: "a title".to_owned() })),
    ] {
        let mut ui = begun(80, 24);
        tell_all(&mut ui, [conversations(), started()]);
        type_text(&mut ui, text, NOW);
        assert_eq!(submitted(&press(&mut ui, "Enter", NOW)), [&expected], "{text}");
    }
}

#[test]
fn leaving_says_that_another_conversation_runs() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [busy()]);
    assert_eq!(press(&mut ui, "Ctrl+D", NOW), []);
    assert!(frame(&mut ui, NOW).contains("another conversation runs"));
    assert_eq!(press(&mut ui, "Ctrl+D", NOW + 10), [Cmd::Submit(Command::Quit), Cmd::Quit]);
}

fn held_event() -> Event {
    let holder = "\"Tidy\" is open in another kokua (process 4242, since 21:04).".to_owned();
    Event::Held { id: "c9".to_owned(), holder }
}

#[test]
fn a_conversation_that_another_program_has_open() {
    at_each_size("held", |ui| tell_all(ui, [held_event()]), NOW);
}

#[test]
fn enter_looks_at_it_read_only_and_any_other_key_leaves_it() {
    let open = Command::OpenReadOnly { id: "c9".to_owned() };
    for (keys, expected, draft) in [("Enter", Some(&open), ""), ("Esc", None, ""), ("h i", None, "hi")] {
        for conversation in ["c1", "c9", ""] {
            let mut ui = begun(80, 24);
            tell_of(&mut ui, conversation, NodeId::ENTRY, held_event(), NOW);
            let cmds = press_all(&mut ui, keys, NOW, 1);
            assert_eq!(submitted(&cmds), expected.into_iter().collect::<Vec<_>>(), "{keys} {conversation}");
            assert!(ui.prompt.is_none());
            assert_eq!(ui.draft(), draft);
        }
    }
    // A sentence that is being typed is not taken away.
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    press_all(&mut ui, "Ctrl+Y D n o", NOW, 1);
    tell(&mut ui, held_event(), NOW);
    assert!(frame(&mut ui, NOW).contains("why not › no"), "{}", frame(&mut ui, NOW));
    assert!(ui.shown_alerts(NOW).next().unwrap().message.contains("process 4242"));
}

fn read_only() -> Event {
    let mut event = session_of("c9", "Tidy");
    if let Event::Session { read_only, .. } = &mut event {
        *read_only = Some("another kokua has it open (process 4242, since 21:04)".to_owned());
    }
    event
}

fn looked_at(ui: &mut Ui) {
    for event in [read_only(), started(), said("tidy up"), call(1, &[], true), delta("I begin."), Event::Replayed] {
        tell_of(ui, "c9", NodeId::ENTRY, event, NOW);
    }
}

#[test]
fn a_conversation_that_is_only_looked_at() {
    at_each_size("read_only", looked_at, NOW);
}

#[test]
fn nothing_is_said_where_one_only_looks_and_the_draft_stays() {
    let mut ui = begun(80, 24);
    looked_at(&mut ui);
    assert!(!ui.is_running(), "what goes on in another program is not seen here");
    type_text(&mut ui, "hello", NOW);
    assert_eq!(press(&mut ui, "Enter", NOW), []);
    assert_eq!(ui.draft(), "hello");
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("read-only, your draft stays: another kokua has it open"), "{shown}");
    press(&mut ui, "Ctrl+C", NOW);
    type_text(&mut ui, "/rename x", NOW);
    assert_eq!(press(&mut ui, "Enter", NOW), []);
    type_text(&mut ui, "/new", NOW);
    assert_eq!(submitted(&press(&mut ui, "Enter", NOW)), [&Command::New]);
}

#[test]
fn p12_a_key_says_that_somebody_is_here_every_five_seconds() {
    let mut ui = begun(80, 24);
    ui.presence_told = None;
    let present = Cmd::Submit(Command::Present);
    for (at, msg, told) in [
        (0, Msg::Tick, false),
        (0, Msg::Focus(true), false),
        (0, Msg::Key(key("x")), true),
        (1, Msg::Key(key("x")), false),
        (4_999, Msg::Paste("x".to_owned()), false),
        (5_000, Msg::Paste("x".to_owned()), true),
        (6_000, Msg::Key(key("x")), false),
        // The clock was set back.
        (-5_000, Msg::Key(key("x")), true),
    ] {
        let cmds = update(&mut ui, msg.clone(), NOW + at);
        assert_eq!(cmds.contains(&present), told, "{at} {msg:?}");
    }
}

#[test]
fn p12_what_is_denied_out_of_view_is_said_where_a_person_looks() {
    let mut ui = begun(120, 40);
    let reason = "its conversation is not on screen".to_owned();
    let answer = Answer::AutoDenied { reason };
    tell_of(&mut ui, "c2", NodeId::ENTRY, Event::Answer { call: CallId(3), answer }, NOW);
    let screen = frame(&mut ui, NOW);
    assert!(
        screen.contains("A call in conversation c2 was not allowed: its conversation is not on screen"),
        "{screen}"
    );
}
