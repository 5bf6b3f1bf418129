//! What keys do, as tables: from a state, through keys, to commands.

use super::*;
use crate::access::Answer;
use crate::agent::command::Switched;
use crate::agent::update::{Alert, Severity};
use crate::ui::Focus;

fn answer(call: u64, answer: Answer) -> Command {
    Command::Answer { conversation: "c1".to_owned(), call: CallId(call), answer, showing: 0 }
}

fn with_cards() -> Ui {
    let mut ui = begun(120, 40);
    turn_with_card(&mut ui);
    ui
}

#[test]
fn enter_sends_and_remembers() {
    let mut ui = begun(80, 24);
    type_text(&mut ui, "hello", NOW);
    let cmds = press(&mut ui, "Enter", NOW);
    assert_eq!(cmds, [Cmd::Submit(here(Command::Say { to: crate::agent::NodeId::ENTRY, text: "hello".to_owned() }))]);
    assert_eq!(ui.draft(), "");
    press(&mut ui, "Up", NOW);
    assert_eq!(ui.draft(), "hello");
    assert_eq!(press(&mut ui, "Ctrl+C", NOW), []);
    assert_eq!(press(&mut ui, "Enter", NOW), [], "nothing is sent from an empty composer");
}

#[test]
fn three_keys_make_a_new_line() {
    for name in ["Ctrl+J", "Alt+Enter", "Shift+Enter"] {
        let mut ui = begun(80, 24);
        type_text(&mut ui, "a", NOW);
        assert_eq!(press(&mut ui, name, NOW), []);
        type_text(&mut ui, "b", NOW);
        assert_eq!(ui.draft(), "a\nb", "{name}");
    }
}

#[test]
fn a_card_takes_its_keys_only_with_the_focus() {
    let mut ui = with_cards();
    let later = NOW + 10_000;
    type_text(&mut ui, "asdDvnpg", later);
    assert_eq!(ui.draft(), "asdDvnpg");
    assert_eq!(ui.inbox().len(), 2);
    let table: &[(&str, Option<Command>)] = &[
        ("a", Some(answer(3, Answer::AllowedOnce))),
        ("s", Some(answer(3, Answer::AllowedForConversation))),
        ("d", Some(answer(3, Answer::Denied))),
        ("Enter", None),
        ("Space", None),
        ("n d", Some(answer(4, Answer::Denied))),
        ("n n d", Some(answer(3, Answer::Denied))),
        ("p d", Some(answer(4, Answer::Denied))),
        ("n s", None),
        ("D Enter", Some(answer(3, Answer::Denied))),
        ("D n o Enter", Some(answer(3, Answer::DeniedWithReason { reason: "no".to_owned() }))),
        ("D n o Esc", None),
        ("a a a d d", Some(answer(3, Answer::AllowedOnce))),
    ];
    for focus in ["Ctrl+Y", "Tab"] {
        for (keys, expected) in table {
            let mut ui = with_cards();
            let cmds = press_all(&mut ui, &format!("{focus} {keys}"), later, 10);
            assert_eq!(submitted(&cmds), expected.iter().collect::<Vec<_>>(), "{focus} {keys}");
        }
    }
}

#[test]
fn a_letter_that_is_no_key_of_the_card_goes_to_the_composer() {
    let mut ui = with_cards();
    press_all(&mut ui, "Ctrl+Y h i", NOW + 10_000, 10);
    assert_eq!(ui.draft(), "hi");
    assert_eq!(ui.focus(), Focus::Composer);
}

#[test]
fn a_full_view_without_the_focus_takes_no_key() {
    let mut ui = with_cards();
    press_all(&mut ui, "Ctrl+Y v", NOW + 10_000, 1);
    update(&mut ui, Msg::Paste("pasted ".to_owned()), NOW + 11_000);
    type_text(&mut ui, "and", NOW + 12_000);
    assert_eq!(ui.draft(), "pasted and");
    press_all(&mut ui, "Ctrl+Y v", NOW + 13_000, 1);
    frame(&mut ui, NOW);
    let press = crate::ui::Mouse { kind: crate::ui::MouseKind::Press, column: 30, row: 37 };
    update(&mut ui, Msg::Mouse(press), NOW + 14_000);
    type_text(&mut ui, "ad", NOW + 15_000);
    assert_eq!(ui.draft(), "pasted andad");
    assert_eq!(ui.inbox().len(), 2);
}

#[test]
fn allow_waits_for_quiet_and_deny_does_not() {
    // (milliseconds after the arrival at which the key is pressed, whether it answers)
    for (after, key, answers) in [(0, "a", false), (399, "a", false), (400, "a", true), (0, "d", true), (0, "s", false)]
    {
        let mut ui = begun(80, 24);
        turn_with_card(&mut ui);
        ui.focus = Focus::Card;
        let cmds = press(&mut ui, key, NOW + after);
        assert_eq!(!cmds.is_empty(), answers, "{key} after {after} ms");
    }
}

#[test]
fn a_key_puts_off_allow_but_not_beyond_a_second_and_a_half() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    ui.focus = Focus::Card;
    let mut answered_at = None;
    for at in (0..3_000).step_by(100) {
        if !press(&mut ui, "a", NOW + at).is_empty() {
            answered_at = Some(at);
            break;
        }
    }
    assert_eq!(answered_at, Some(1_500));
}

#[test]
fn the_next_card_that_comes_up_by_itself_is_inert_again() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), command_ask(3), command_ask(4)]);
    let cmds = press_all(&mut ui, "Ctrl+Y a", NOW + 5_000, 1);
    assert_eq!(submitted(&cmds), [&answer(3, Answer::AllowedOnce)]);
    tell(&mut ui, Event::Answer { call: CallId(3), answer: Answer::AllowedOnce }, NOW + 5_010);
    assert_eq!(press(&mut ui, "a", NOW + 5_020), [], "a second press of the same key");
    assert_eq!(submitted(&press(&mut ui, "a", NOW + 6_000)), [&answer(4, Answer::AllowedOnce)]);
}

#[test]
fn a_burst_of_typing_answers_nothing_and_loses_nothing() {
    let letters = "asdDvnpg \n";
    let text: String = letters.chars().cycle().take(200).collect();
    // The card may arrive before any of the keys.
    for arrival in 0..=200 {
        let mut ui = begun(80, 24);
        tell_all(&mut ui, [started()]);
        let mut cmds = Vec::new();
        for (at, character) in text.chars().enumerate() {
            let now = NOW + i64::try_from(at).unwrap() * 15;
            if at == arrival {
                tell(&mut ui, command_ask(3), now);
            }
            let pressed =
                if character == '\n' { key("Ctrl+J") } else { Key::plain(crate::ui::KeyCode::Char(character)) };
            cmds.extend(update(&mut ui, Msg::Key(pressed), now));
        }
        assert_eq!(cmds, [], "arrival before key {arrival}");
        assert_eq!(ui.draft(), text);
        assert_eq!(ui.inbox().len(), usize::from(arrival < 200));
    }
}

#[test]
fn esc_closes_one_level_at_a_time_and_stops_with_the_second() {
    let mut ui = with_cards();
    press_all(&mut ui, "F3 F1", NOW, 10);
    assert_eq!(press(&mut ui, "Esc", NOW), [], "the help");
    assert_eq!(ui.focus(), Focus::Pane);
    assert_eq!(press(&mut ui, "Esc", NOW), [], "the pane's focus");
    assert_eq!(ui.focus(), Focus::Composer);
    assert_eq!(press(&mut ui, "Esc", NOW), [], "the first says what the second does");
    assert_eq!(press(&mut ui, "Esc", NOW + 100), [Cmd::Submit(here(Command::Stop))]);
}

#[test]
fn two_escapes_stop_a_turn_whatever_the_strip_says() {
    let mut ui = begun(80, 24);
    let notice = Alert { severity: Severity::Notice, message: "by the way".to_owned(), hint: None };
    tell_all(&mut ui, [started(), call(1, &[], true), Event::Alert(notice)]);
    assert_eq!(press(&mut ui, "Esc", NOW), []);
    assert_eq!(submitted(&press(&mut ui, "Esc", NOW + 300)), [&here(Command::Stop)]);
}

#[test]
fn two_escapes_far_apart_stop_nothing() {
    let mut ui = with_cards();
    assert_eq!(press(&mut ui, "Esc", NOW), []);
    assert_eq!(press(&mut ui, "Esc", NOW + 2_000), []);
    assert_eq!(press(&mut ui, "x", NOW + 2_100), []);
    assert_eq!(press(&mut ui, "Esc", NOW + 2_200), [], "a key between them");
}

#[test]
fn one_escape_stops_a_countdown() {
    let mut ui = begun(80, 24);
    let retrying = Event::Retrying { message: "overloaded".to_owned(), ms: 9_000, attempt: 2 };
    let alert = Alert { severity: Severity::Warning, message: "it failed".to_owned(), hint: None };
    tell_all(&mut ui, [started(), call(1, &[], true), retrying, Event::Alert(alert)]);
    assert_eq!(press(&mut ui, "Esc", NOW + 1_000), [Cmd::Submit(here(Command::Stop))]);
}

#[test]
fn a_notice_that_goes_by_itself_takes_no_escape_from_a_turn() {
    let mut ui = begun(80, 24);
    let alert =
        crate::agent::Alert { severity: crate::agent::Severity::Notice, message: "worth it".to_owned(), hint: None };
    tell_all(&mut ui, [started(), call(1, &[], true), Event::Alert(alert)]);
    assert_eq!(press(&mut ui, "Esc", NOW + 10), []);
    assert_eq!(press(&mut ui, "Esc", NOW + 20), [Cmd::Submit(here(Command::Stop))]);
}

#[test]
fn ctrl_c_stops_then_clears_then_quits_twice() {
    let mut ui = with_cards();
    type_text(&mut ui, "draft", NOW);
    assert_eq!(press(&mut ui, "Ctrl+C", NOW), [Cmd::Submit(here(Command::Stop))]);
    assert_eq!(ui.draft(), "draft");
    tell(&mut ui, Event::End { end: TurnEnd::Stopped, took_ms: 0 }, NOW);
    assert_eq!(press(&mut ui, "Ctrl+C", NOW), []);
    assert_eq!(ui.draft(), "");
    assert_eq!(press(&mut ui, "Ctrl+C", NOW), [], "clearing is not the first of two");
    assert_eq!(press(&mut ui, "Ctrl+C", NOW + 10), [Cmd::Submit(Command::Quit), Cmd::Quit]);
    let mut ui = begun(80, 24);
    assert_eq!(press(&mut ui, "Ctrl+C", NOW), []);
    assert_eq!(press(&mut ui, "Ctrl+C", NOW + 2_500), [], "too late");
    press(&mut ui, "Up", NOW + 2_600);
    assert_eq!(press(&mut ui, "Ctrl+C", NOW + 2_700), [], "a key between them");
}

#[test]
fn ctrl_d_quits_only_with_nothing_written() {
    let mut ui = begun(80, 24);
    type_text(&mut ui, "x", NOW);
    assert_eq!(press(&mut ui, "Ctrl+D", NOW), []);
    press(&mut ui, "Backspace", NOW);
    assert_eq!(press(&mut ui, "Ctrl+D", NOW), [Cmd::Submit(Command::Quit), Cmd::Quit]);
}

#[test]
fn commands_run_and_unknown_words_are_said() {
    let say =
        |text: &str| vec![Cmd::Submit(here(Command::Say { to: crate::agent::NodeId::ENTRY, text: text.to_owned() }))];
    let submit = |command| vec![Cmd::Submit(command)];
    let table: &[(&str, Vec<Cmd>)] = &[
        ("/new", submit(Command::New)),
        ("/n", submit(Command::New)),
        ("/rename a title", submit(here(Command::Rename { title: "a title".to_owned() }))),
        ("/conversations", submit(Command::List)),
        ("/agents", submit(Command::Report)),
        ("/tools", submit(Command::Report)),
        ("/policy", submit(Command::Report)),
        ("/diag", submit(Command::Diagnostics)),
        ("/switch trip", submit(Command::Open { id: "c2".to_owned() })),
        ("/switch c3", submit(Command::Open { id: "c3".to_owned() })),
        ("/switch t", submit(Command::List)),
        ("/mouse", vec![Cmd::SetMouse(true)]),
        ("/quit", vec![Cmd::Submit(Command::Quit), Cmd::Quit]),
        ("/stop", vec![]),
        ("/copy", vec![]),
        ("/theme mono", submit(Command::KeepTheme { name: "mono".to_owned() })),
        ("/theme nonesuch", vec![]),
        ("/theme", vec![]),
        ("/help", vec![]),
        ("/keys", vec![]),
        ("/find words", vec![]),
        ("/etc/hosts", say("/etc/hosts")),
        ("/unknown", say("/unknown")),
        ("/new ideas", say("/new ideas")),
        ("hello /new", say("hello /new")),
    ];
    for (text, expected) in table {
        let mut ui = begun(80, 24);
        tell_all(&mut ui, [conversations()]);
        type_text(&mut ui, text, NOW);
        assert_eq!(press(&mut ui, "Enter", NOW), *expected, "{text}");
        assert_eq!(ui.draft(), "", "{text}");
    }
}

#[test]
fn a_command_that_wants_words_is_written_out() {
    let mut ui = begun(80, 24);
    type_text(&mut ui, "/ren", NOW);
    assert_eq!(press(&mut ui, "Enter", NOW), []);
    assert_eq!(ui.draft(), "/rename ");
    assert_eq!(press(&mut ui, "Enter", NOW), [], "and is not said to the model");
}

#[test]
fn the_tools_pane_asks_and_switches() {
    let mut ui = begun(80, 24);
    press_all(&mut ui, "F3 End Up Up Up Up", NOW, 1);
    press(&mut ui, "l", NOW);
    assert_eq!(ui.draft(), "Please load the toolset misc.");
    assert_eq!(ui.focus(), Focus::Composer);

    let mut ui = begun(80, 24);
    let cmds = press_all(&mut ui, "F3 Down o", NOW, 1);
    let off = Command::Switch { toolset: ToolsetName::new("fs"), to: Switched::Off };
    assert_eq!(submitted(&cmds), [&Command::Report, &off, &Command::Report]);

    let mut ui = begun(80, 24);
    press_all(&mut ui, "F3 /", NOW, 1);
    type_text(&mut ui, "repo", NOW);
    let cmds = press_all(&mut ui, "Enter o", NOW, 1);
    let on = Command::Switch { toolset: ToolsetName::new("report"), to: Switched::On };
    assert_eq!(submitted(&cmds), [&on, &Command::Report]);
}

#[test]
fn a_selected_conversation_stays_selected_when_the_list_is_in_another_order() {
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [started(), conversations()]);
    press_all(&mut ui, "F6 Down", NOW, 1);
    let Event::Conversations { list } = conversations() else { panic!() };
    for order in [[2, 0, 1], [1, 2, 0]] {
        tell(&mut ui, Event::Conversations { list: order.map(|at: usize| list[at].clone()).to_vec() }, NOW);
        let cmds = press(&mut ui, "Enter", NOW);
        assert_eq!(submitted(&cmds), [&Command::Open { id: "c2".to_owned() }]);
    }
    // Where it is gone, its place is.
    tell(&mut ui, Event::Conversations { list: vec![list[2].clone(), list[0].clone()] }, NOW);
    let cmds = press(&mut ui, "Enter", NOW);
    assert_eq!(submitted(&cmds), [&Command::Open { id: "c3".to_owned() }]);
}

#[test]
fn the_other_panes_act_on_their_row() {
    let mut ui = begun(80, 24);
    let cmds = press_all(&mut ui, "F4 End r", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Report, &Command::Revoke { grant: 1 }, &Command::Report]);

    let mut ui = begun(80, 24);
    tell_all(&mut ui, [conversations()]);
    let cmds = press_all(&mut ui, "F6 Down Enter", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::List, &Command::Open { id: "c2".to_owned() }]);
    let cmds = press_all(&mut ui, "d n", NOW, 1);
    assert_eq!(submitted(&cmds), [] as [&Command; 0], "deleting asks, and n is no yes");
    let cmds = press_all(&mut ui, "d y", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Delete { id: "c2".to_owned() }, &Command::List]);
}

#[test]
fn a_conversation_is_renamed_only_when_it_is_the_one_in_view() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [conversations()]);
    type_text(&mut ui, "a draft", NOW);
    press_all(&mut ui, "F6 Down r", NOW, 1);
    assert_eq!(ui.draft(), "a draft");
    assert!(frame(&mut ui, NOW + 2).contains("only the conversation in view is renamed"));
    press_all(&mut ui, "Up r", NOW, 1);
    assert_eq!(ui.draft(), "/rename ", "alone, so that it is a command");
    assert_eq!(ui.composer.history(), ["a draft"]);
}

#[test]
fn a_page_of_a_card_passes_over_no_line() {
    for (width, height, full) in [(60, 15, true), (80, 24, false), (80, 24, true), (120, 40, true), (200, 60, false)] {
        let mut ui = begun(width, height);
        let words: Vec<_> = (0..400).map(|line| format!("word{line}x")).collect();
        tell_all(&mut ui, [started(), call(1, &[], true), tool_call(1, "compute", "run_command", json!({}))]);
        tell(&mut ui, ask(1, json!({"command": words.join("\n")})), NOW);
        press(&mut ui, "Ctrl+Y", NOW);
        if full && ui.overlay.is_none() {
            press(&mut ui, "v", NOW);
        }
        let mut seen = frame(&mut ui, NOW);
        for _ in 0..200 {
            press(&mut ui, "PgDn", NOW);
            seen.push_str(&frame(&mut ui, NOW));
        }
        let missed: Vec<_> = words.iter().filter(|word| !seen.contains(word.as_str())).collect();
        assert!(missed.is_empty(), "{width}x{height}: {missed:?}");
    }
}

#[test]
fn a_search_says_where_it_stands_and_how_to_go_on() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), said("one word"), call(1, &[], true), delta("a word\n\nand a word"), ended()]);
    press(&mut ui, "Ctrl+F", NOW);
    type_text(&mut ui, "word", NOW);
    press(&mut ui, "Enter", NOW);
    let hints = |ui: &mut Ui| frame(ui, NOW).lines().nth(23).unwrap().to_owned();
    let line = hints(&mut ui);
    assert!(line.contains("n/N match") && line.ends_with("match 3 of 3"), "{line}");
    press(&mut ui, "n", NOW);
    assert!(hints(&mut ui).ends_with("match 1 of 3"));
}

#[test]
fn a_filter_is_said_with_the_key_that_clears_it() {
    for (pane, word, hidden) in [("F6", "trip", "csv import"), ("F3", "todo", "memory")] {
        let mut ui = begun(80, 24);
        tell_all(&mut ui, [conversations()]);
        press_all(&mut ui, &format!("{pane} /"), NOW, 1);
        type_text(&mut ui, word, NOW);
        press(&mut ui, "Esc", NOW);
        assert!(frame(&mut ui, NOW).contains(hidden), "Esc in the prompt shows all");
        press(&mut ui, "/", NOW);
        type_text(&mut ui, word, NOW);
        press(&mut ui, "Enter", NOW);
        let shown = frame(&mut ui, NOW);
        assert!(!shown.contains(hidden) && shown.contains(&format!("filter: {word}  Esc clears")), "{shown}");
        press(&mut ui, "Esc", NOW);
        let shown = frame(&mut ui, NOW);
        assert!(shown.contains(hidden) && !shown.contains("filter: "), "{shown}");
        assert_eq!(ui.focus(), Focus::Pane, "the pane is closed by the next one");
        press(&mut ui, "Esc", NOW);
        assert_eq!(ui.focus(), Focus::Composer);
    }
}

/// The text of one line with its keys in brackets.
fn keys_marked(ui: &mut Ui, row: u16, now: i64) -> String {
    let (width, height) = (ui.width, ui.height);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view(ui, frame, now)).unwrap();
    let key = ui.theme.style(super::super::theme::Role::Key).fg;
    let (mut line, mut inside) = (String::new(), false);
    for x in 0..width {
        let cell = terminal.backend().buffer().cell((x, row)).unwrap();
        if inside != (Some(cell.fg) == key) {
            line.push(if inside { ']' } else { '[' });
            inside = !inside;
        }
        line.push_str(cell.symbol());
    }
    line.trim_end().to_owned()
}

fn hints_marked(ui: &mut Ui) -> String {
    let last = ui.height - 1;
    keys_marked(ui, last, NOW + 9_000)
}

#[test]
fn every_key_of_a_hint_looks_like_one() {
    let mut ui = with_cards();
    press(&mut ui, "Ctrl+Y", NOW + 5_000);
    let hints = hints_marked(&mut ui);
    assert_eq!(hints, " [Esc] back  [Up]/[Down] scroll  [v] full  [g] its call  [n]/[p] other asks  [Ctrl+C] stop");
    press(&mut ui, "D", NOW + 9_000);
    assert!(hints_marked(&mut ui).ends_with("[Enter] denies  [Esc] back"));
    // Only what is bound is said.
    let mut ui = begun(80, 24);
    let keys = [("card_down".to_owned(), vec!["Ctrl+N".to_owned()])].into();
    ui.keys = KeyMap::with(&keys).unwrap();
    turn_with_card(&mut ui);
    press(&mut ui, "Ctrl+Y", NOW + 5_000);
    assert!(hints_marked(&mut ui).contains("[Up]/[Ctrl+N] scroll"));
}

#[test]
fn a_card_without_focus_shows_no_live_key_but_the_one_that_focuses_it() {
    let mut ui = with_cards();
    let footer = |ui: &mut Ui, now: i64| {
        let row = frame(ui, now).lines().position(|line| line.contains("a allow once")).unwrap();
        keys_marked(ui, u16::try_from(row).unwrap(), now)
    };
    let unfocused = footer(&mut ui, NOW + 9_000);
    assert!(unfocused.starts_with(" [Ctrl+Y] to answer:  a allow once  s allow this exact call here"), "{unfocused}");
    assert_eq!(unfocused.matches('[').count(), 1, "{unfocused}");
    press(&mut ui, "Ctrl+Y", NOW + 9_000);
    assert!(footer(&mut ui, NOW + 12_000).starts_with(" [a] allow once   [s] allow this exact call here   [d] deny"));
    press(&mut ui, "D", NOW + 12_000);
    assert!(!footer(&mut ui, NOW + 12_000).contains('['), "a reason is being typed");
    // The second one, left by Esc: the key for the oldest would answer the first.
    press_all(&mut ui, "Esc n Esc", NOW + 13_000, 10);
    assert_eq!((ui.focus(), ui.inbox().place()), (Focus::Composer, 2));
    assert!(footer(&mut ui, NOW + 14_000).starts_with(" [Tab] to answer:"));
    press(&mut ui, "Tab", NOW + 14_000);
    assert_eq!((ui.focus(), ui.inbox().place()), (Focus::Card, 2));
    // Just come up: allowing is inert and said to be, denying works.
    let mut ui = with_cards();
    press(&mut ui, "Ctrl+Y", NOW + 1);
    let inert = footer(&mut ui, NOW + 2);
    assert!(inert.starts_with(" a allow once   s allow this exact call here   [d] deny"), "{inert}");
    assert!(frame(&mut ui, NOW + 2).contains("allow: in a moment"));
}

#[test]
fn a_long_argument_stands_after_the_short_ones() {
    let mut ui = begun(80, 24);
    let content = "a line of the file\n".repeat(30);
    let arguments = json!({"content": content, "mode": "overwrite", "path": "notes/plan.md"});
    tell_all(&mut ui, [started(), said("write it"), call(1, &[], true), ask(1, arguments)]);
    let shown = frame(&mut ui, NOW + 5_000);
    let place = |word: &str| shown.find(word).unwrap_or_else(|| panic!("{word} is out of view\n{shown}"));
    assert!(place("mode   ") < place("path   ") && place("path   ") < place("content   "), "{shown}");
    // What the tool adds for a person too.
    let mut ui = begun(80, 24);
    let Event::Ask { ask, mut preview, .. } = ask(1, json!({"command": "echo a line\n".repeat(30)})) else { panic!() };
    preview.facts = vec![
        ("cwd".to_owned(), "/home/me/proj".to_owned()),
        ("words".to_owned(), "[\"echo\",\"a\",\"line\"]".repeat(30)),
    ];
    let asked = Event::Ask { ask, preview, changed: false, showing: 0 };
    tell_all(&mut ui, [started(), said("run it"), call(1, &[], true), asked]);
    let shown = frame(&mut ui, NOW + 5_000);
    assert!(shown.find("/home/me/proj").unwrap() < shown.find("echo a line").unwrap(), "{shown}");
}

#[test]
fn the_panes_show_every_reported_agent() {
    let mut ui = begun(80, 24);
    let coder = AgentReport { agent: AgentName::new("coder"), entry: false, ..report() };
    tell_all(&mut ui, [Event::Report(Box::new(coder))]);
    press_all(&mut ui, "F3 Right", NOW, 1);
    assert!(frame(&mut ui, NOW).contains("tools of coder"));
    press_all(&mut ui, "End Up Up Up l", NOW, 1);
    assert_eq!(ui.draft(), "", "nobody can ask another agent to load");
    press_all(&mut ui, "F4 Right", NOW, 1);
    assert!(frame(&mut ui, NOW).contains("policy of assistant"));
    // Revoking is offered where there is something to revoke.
    assert_eq!(hints_marked(&mut ui), " [m] matrix  [Esc] back  [Left]/[Right] agent");
    press(&mut ui, "End", NOW);
    assert_eq!(hints_marked(&mut ui), " [m] matrix  [r] revoke  [Esc] back  [Left]/[Right] agent");
}

#[test]
fn tab_goes_round() {
    let mut ui = with_cards();
    let mut seen = vec![ui.focus()];
    for _ in 0..4 {
        press(&mut ui, "Tab", NOW);
        seen.push(ui.focus());
    }
    assert_eq!(seen, [Focus::Composer, Focus::Card, Focus::Pane, Focus::Transcript, Focus::Composer]);
    press(&mut ui, "Shift+Tab", NOW);
    assert_eq!(ui.focus(), Focus::Transcript);
    let mut narrow = begun(80, 24);
    press(&mut narrow, "Tab", NOW);
    assert_eq!(narrow.focus(), Focus::Transcript, "without card and pane");
}

#[test]
fn the_editor_gets_the_draft_and_gives_it_back() {
    let mut ui = begun(80, 24);
    type_text(&mut ui, "draft", NOW);
    let purpose = crate::ui::EditorPurpose::Draft;
    assert_eq!(press(&mut ui, "Ctrl+G", NOW), [Cmd::OpenEditor { text: "draft".to_owned(), purpose: purpose.clone() }]);
    update(&mut ui, Msg::EditorReturned { purpose: purpose.clone(), text: Err("it exited with 1".to_owned()) }, NOW);
    assert_eq!(ui.draft(), "draft");
    update(&mut ui, Msg::EditorReturned { purpose, text: Ok("edited\nthere\n".to_owned()) }, NOW);
    assert_eq!(ui.draft(), "edited\nthere");
    press(&mut ui, "Alt+z", NOW);
    press(&mut ui, "Alt+z", NOW);
    assert_eq!(ui.draft(), "draft");
}

#[test]
fn copy_and_pager_take_the_block() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), said("question"), call(1, &[], true), delta("the answer"), used(1), ended()]);
    let cmds = press_all(&mut ui, "Tab k y", NOW, 1);
    assert_eq!(cmds, [Cmd::Copy("the answer".to_owned())]);
    assert!(matches!(press(&mut ui, "o", NOW).as_slice(), [Cmd::OpenPager(_)]));
    press(&mut ui, "Esc", NOW);
    type_text(&mut ui, "/copy", NOW);
    assert_eq!(press(&mut ui, "Enter", NOW), [Cmd::Copy("the answer".to_owned())]);
}

/// A fresh reader allowed a call blindly in a window of 40×10, and behind a folded card at 60×15.
#[test]
fn p15_what_is_not_on_the_screen_is_never_allowed() {
    for (width, height) in [(40, 10), (1, 1), (59, 40), (200, 14)] {
        let mut ui = with_cards();
        update(&mut ui, Msg::Resize { width, height }, NOW + 5_000);
        press(&mut ui, "Ctrl+Y", NOW + 5_000);
        for key in ["a", "s"] {
            assert_eq!(press(&mut ui, key, NOW + 9_000), [], "{width}x{height} {key}");
        }
    }
    let mut ui = with_cards();
    update(&mut ui, Msg::Resize { width: 60, height: 15 }, NOW + 5_000);
    press(&mut ui, "Ctrl+Y", NOW + 5_000);
    press(&mut ui, "v", NOW + 6_000);
    assert_eq!(press(&mut ui, "a", NOW + 9_000), [], "folded to one line");
    press(&mut ui, "v", NOW + 9_000);
    assert!(!press(&mut ui, "a", NOW + 12_000).is_empty(), "open in full");
}

#[test]
fn p16_a_call_is_edited_outside_and_what_was_not_taken_is_not_lost() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), tool_call(3, "compute", "run_command", json!({"command": "ls"}))]);
    tell_all(&mut ui, [ask(3, json!({"command": "ls"}))]);
    press(&mut ui, "Ctrl+Y", NOW);
    let card = crate::ui::inbox::CardId { conversation: "c1".to_owned(), call: CallId(3) };
    let purpose = crate::ui::EditorPurpose::Arguments(card);
    let text = "{\n  \"command\": \"ls\"\n}".to_owned();
    let open = |text: &str| [Cmd::OpenEditor { text: text.to_owned(), purpose: purpose.clone() }];
    assert_eq!(press(&mut ui, "e", NOW), open(&text));
    let back = |text: &str| Msg::EditorReturned { purpose: purpose.clone(), text: Ok(text.to_owned()) };
    assert_eq!(update(&mut ui, back(&text), NOW), [], "unchanged");
    let submitted = |text: &str| {
        [Cmd::Submit(Command::Edit { conversation: "c1".to_owned(), call: CallId(3), arguments: text.to_owned() })]
    };
    let shown = |number, command: &str, author| {
        let Event::Ask { ask, preview, changed, .. } = ask(3, json!({"command": command})) else { unreachable!() };
        Event::Ask { ask: Ask { author, ..ask }, preview, changed, showing: number }
    };
    assert_eq!(update(&mut ui, back("{\"command\": "), NOW), submitted("{\"command\": "));
    // Until the card comes up anew, nothing of the old one is allowed: not even by keys that were typed ahead.
    assert_eq!(press(&mut ui, "a", NOW + 3_000), []);
    // It was not taken, so the same card comes again; the next edit begins where this one ended.
    tell(&mut ui, shown(2, "ls", Author::Model), NOW + 3_000);
    assert_eq!(press(&mut ui, "a", NOW + 3_100), [], "it has just come up");
    assert_eq!(press(&mut ui, "e", NOW), open("{\"command\": "));
    assert_eq!(update(&mut ui, back("{\"command\": \"pwd\"}"), NOW), submitted("{\"command\": \"pwd\"}"));
    // The new card is as inert as any other that has just come up.
    tell(&mut ui, shown(3, "pwd", Author::Person), NOW + 9_000);
    assert_eq!(press(&mut ui, "a", NOW + 9_010), [Cmd::Submit(Command::Present)], "nothing but that somebody is here");
    assert!(frame(&mut ui, NOW + 9_010).contains("EDITED by you"), "{}", frame(&mut ui, NOW + 9_010));
    let answer =
        Command::Answer { conversation: "c1".to_owned(), call: CallId(3), answer: Answer::AllowedOnce, showing: 3 };
    assert_eq!(press(&mut ui, "a", NOW + 12_000), [Cmd::Submit(answer)]);
    assert_eq!(press(&mut ui, "e", NOW + 12_000), [], "it was answered");
    assert_eq!(update(&mut ui, back("{}"), NOW + 12_000), [], "nor is what comes back then a change");
    press_all(&mut ui, "Esc Up", NOW + 12_000, 1);
    assert_eq!(ui.draft(), "{}", "but it is not lost");
}

fn explain(agent: &str, toolset: &str, name: &str) -> Command {
    Command::Explain { agent: AgentName::new(agent), tool: tool(toolset, name) }
}

#[test]
fn a_cell_of_the_matrix_is_explained_level_by_level() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, three_agents());
    let cmds = press_all(&mut ui, "F4 m", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Report]);
    // The columns begin with the agent that a person talks to, and go round.
    press_all(&mut ui, "Left Right Right", NOW, 1);
    assert!(frame(&mut ui, NOW).contains("coder and memory"), "{}", frame(&mut ui, NOW));
    let cmds = press_all(&mut ui, "Down Down Down Enter", NOW, 1);
    let asked = [explain("coder", "compute", "run_command"), explain("coder", "compute", "execute_python")];
    assert_eq!(submitted(&cmds), asked.iter().collect::<Vec<_>>());
    assert!(frame(&mut ui, NOW).contains('…'), "not answered yet");
    explained(&mut ui, &cmds);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("coder and compute") && shown.contains("execute_python"), "{shown}");
    press_all(&mut ui, "Down Enter", NOW, 1);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("coder and compute.execute_python") && shown.contains("5 runs now          no"), "{shown}");
    // The same tool of another agent is asked about anew.
    let cmds = press(&mut ui, "Right", NOW);
    assert_eq!(submitted(&cmds).first(), Some(&&explain("introspector", "compute", "run_command")));
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("introspector and compute.execute_python") && !shown.contains("5 runs now"), "{shown}");
    // An answer for the one before comes too late.
    explained(&mut ui, &asked.map(Cmd::Submit));
    assert!(!frame(&mut ui, NOW).contains("5 runs now"));
    for (key, words) in [
        ("Esc", "next call  asks     runs now"),
        ("Esc", "agents and toolsets"),
        // The lists are those of the column's agent.
        ("m", "policy of introspector"),
    ] {
        press(&mut ui, key, NOW);
        assert!(frame(&mut ui, NOW).contains(words), "{words}\n{}", frame(&mut ui, NOW));
    }
    press(&mut ui, "Esc", NOW);
    assert_eq!(ui.focus(), Focus::Composer);
}

#[test]
fn a_tools_row_is_explained_and_asked_about_again_when_a_report_comes() {
    let mut ui = begun(120, 40);
    let cmds = press_all(&mut ui, "F3 Down Down Down Enter Down Enter", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Report, &explain("assistant", "compute", "run_command")]);
    explained(&mut ui, &cmds);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("once it is allowed: see 4") && shown.contains("line 30"), "{shown}");
    let again = tell(&mut ui, Event::Report(Box::new(report())), NOW);
    assert_eq!(submitted(&again), [&explain("assistant", "compute", "run_command")]);
    assert!(frame(&mut ui, NOW).contains("5 runs now"), "the old answers stay until then");
    let other = AgentReport { agent: AgentName::new("coder"), entry: false, ..report() };
    assert_eq!(tell(&mut ui, Event::Report(Box::new(other)), NOW), []);
    press(&mut ui, "Esc", NOW);
    assert!(!frame(&mut ui, NOW).contains("5 runs now"));
    assert_eq!(ui.focus(), Focus::Pane, "one level");
    // Core tools belong to no toolset and are explained as well.
    let cmds = press_all(&mut ui, "End Up Enter Down Enter", NOW, 1);
    let core = Command::Explain { agent: AgentName::new("assistant"), tool: ToolId::core("available_tools") };
    assert_eq!(submitted(&cmds), [&core]);
}

#[test]
fn a_cell_without_known_tools_says_so_and_a_check_is_no_switch() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, three_agents());
    let cmds = press_all(&mut ui, "F4 m End Up Right Enter Enter", NOW, 1);
    assert_eq!(submitted(&cmds), [&Command::Report], "nothing is known to ask about");
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("coder and web") && shown.contains("not now: no way out of this machine"), "{shown}");
    assert!(shown.contains("known once it is built"), "{shown}");
    // Its check says no, which no switch undoes: the key switches it off as any other.
    press_all(&mut ui, "Esc Esc F3 /", NOW, 1);
    type_text(&mut ui, "web", NOW);
    let cmds = press_all(&mut ui, "Enter o", NOW, 1);
    let off = Command::Switch { toolset: ToolsetName::new("web"), to: Switched::Off };
    assert_eq!(submitted(&cmds), [&off, &Command::Report]);
    // What is off is switched on again also from an agent whose table does not list it.
    press_all(&mut ui, "Esc Right /", NOW, 1);
    type_text(&mut ui, "repo", NOW);
    let cmds = press_all(&mut ui, "Enter o", NOW, 1);
    assert_eq!(submitted(&cmds)[0], &Command::Switch { toolset: ToolsetName::new("report"), to: Switched::On });
}

#[test]
fn a_matrix_of_many_agents_shows_the_selected_one() {
    let mut ui = begun(120, 40);
    for number in 10..23 {
        let agent = AgentName::new(format!("worker-with-a-long-name-{number}"));
        tell_all(&mut ui, [Event::Report(Box::new(AgentReport { agent, entry: false, ..report() }))]);
    }
    press_all(&mut ui, "F4 m", NOW, 1);
    for place in 0..14 {
        let shown = frame(&mut ui, NOW);
        let page = ["1-6 of 14", "7-12 of 14", "13-14 of 14"][place / 6];
        assert!(shown.contains(&format!("{page} agents")) && shown.contains('['), "{place}\n{shown}");
        let name = if place == 0 { "assistant and".to_owned() } else { format!("name-{} and", 9 + place) };
        assert!(shown.contains(&name), "{name}\n{shown}");
        press(&mut ui, "Right", NOW);
    }
    assert!(frame(&mut ui, NOW).contains("assistant and memory"), "around the end");
}

#[test]
fn p5_the_question_names_who_asks_to_run_what() {
    let heading = |width: u16, keys: &str| {
        let mut ui = begun(width, 24);
        turn_with_card(&mut ui);
        if !keys.is_empty() {
            press_all(&mut ui, keys, NOW + 5_000, 10);
        }
        let shown = frame(&mut ui, NOW + 9_000);
        let line = shown.lines().find(|line| line.contains("ask ")).unwrap_or_else(|| panic!("no card\n{shown}"));
        let line = line.trim_start_matches(['─', ' ']);
        line.split("───").next().unwrap_or(line).trim().to_owned()
    };
    let wide = heading(100, "");
    assert_eq!(wide, "ask 1 of 2 ── Allow assistant to run compute.run_command? ── review");
    let second = "Ctrl+Y n Esc";
    let wide = heading(100, second);
    assert_eq!(wide, "ask 2 of 2 ── Allow coder#1 < assistant to run fs_write.write_file? ── confirm");
    // The last line of the card names the list too; what is asked stays whole as long as it fits.
    let narrow = heading(82, second);
    assert!(narrow.starts_with("ask 2 of 2 ── Allow coder#1 < assistant to run fs_write.write_file?  1-"), "{narrow}");
    let least = heading(70, second);
    assert!(least.starts_with("ask 2 of 2 ── coder#1 < assistant ── fs_write.write_file"), "{least}");
}
