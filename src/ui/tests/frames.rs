//! Whole frames at the three sizes. Look at them: calm, aligned, obvious.

use insta::assert_snapshot;

use super::*;
use crate::agent::update::{Alert, Severity};

fn at_each_size(name: &str, prepare: impl Fn(&mut Ui), now: i64) {
    for (width, height) in SIZES {
        let mut ui = screen(width, height);
        prepare(&mut ui);
        assert_snapshot!(format!("{name}_{width}x{height}"), frame(&mut ui, now));
    }
}

fn begin(ui: &mut Ui) {
    tell_all(ui, [session(Some("build tidy")), Event::Replayed, Event::Report(Box::new(report())), conversations()]);
}

#[test]
fn fresh_start() {
    let prepare = |ui: &mut Ui| {
        tell_all(
            ui,
            [
                Event::Session {
                    conversation: "c1".to_owned(),
                    title: None,
                    agent: AgentName::new("assistant"),
                    mode: ModeName::new("work"),
                    model: "rehearsal".to_owned(),
                    rehearsal: true,
                    window: None,
                    tool_limit: None,
                    read_only: None,
                },
                Event::Replayed,
                Event::Report(Box::new(AgentReport { grants: Vec::new(), ..report() })),
            ],
        );
    };
    at_each_size("fresh", prepare, NOW);
}

#[test]
fn a_turn_with_tool_rows_and_a_card() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        turn_with_card(ui);
        type_text(ui, "and mention the ticket", NOW + 2_000);
    };
    at_each_size("turn_with_card", prepare, NOW + 14_000);
}

#[test]
fn a_focused_card_with_a_diff() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        turn_with_card(ui);
        press_all(ui, "Ctrl+Y n", NOW + 5_000, 10);
    };
    at_each_size("focused_card", prepare, NOW + 14_000);
}

#[test]
fn a_card_in_full_view() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        turn_with_card(ui);
        press_all(ui, "Ctrl+Y n v", NOW + 5_000, 10);
    };
    at_each_size("full_card", prepare, NOW + 14_000);
}

#[test]
fn the_ledger() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        turn_with_card(ui);
        let rule = ui.transcript().blocks().find(|(_, block)| matches!(block, crate::ui::transcript::Block::Call(_)));
        let rule = rule.map(|(id, _)| id);
        ui.transcript_mut().select(rule);
        ui.focus = crate::ui::Focus::Transcript;
        press(ui, "Enter", NOW + 5_000);
    };
    at_each_size("ledger", prepare, NOW + 14_000);
}

#[test]
fn the_tools_pane() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        turn_with_card(ui);
        tell_all(ui, [ended()]);
        press_all(ui, "F3 Down Down Down Enter", NOW + 5_000, 10);
    };
    at_each_size("tools", prepare, NOW + 14_000);
}

#[test]
fn the_policy_pane() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        press(ui, "F4", NOW + 5_000);
    };
    at_each_size("policy", prepare, NOW + 14_000);
}

/// P3: a table with only `confirm` dropped the default's other entries, and that is the first thing that F4 says.
#[test]
fn p3_the_policy_pane_begins_with_the_dropped_defaults() {
    let mut ui = begun(80, 24);
    let coder = AgentReport {
        agent: AgentName::new("coder"),
        policy_source: "declared in [agents.coder.tools], line 41".to_owned(),
        entries: vec![entry(
            "fs_write",
            GateList::Confirm,
            43,
            &[("fs_write", "write_file"), ("fs_write", "edit_file")],
            false,
        )],
        floor: Vec::new(),
        dropped_defaults: vec!["compute.run_command".to_owned(), "compute.execute_python".to_owned()],
        grants: Vec::new(),
        ..report()
    };
    tell_all(&mut ui, [Event::Report(Box::new(coder))]);
    press_all(&mut ui, "F4 Right", NOW + 5_000, 10);
    assert_snapshot!("policy_dropped_80x24", frame(&mut ui, NOW + 14_000));
}

#[test]
fn the_policy_of_an_agent_with_a_pair_of_its_own() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        tell_all(ui, three_agents());
        press_all(ui, "F4 Right", NOW + 5_000, 10);
    };
    at_each_size("policy_own_pair", prepare, NOW + 14_000);
}

#[test]
fn the_matrix() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        tell_all(ui, three_agents());
        press_all(ui, "F4 m Right Down Down", NOW + 5_000, 10);
    };
    at_each_size("matrix", prepare, NOW + 14_000);
}

#[test]
fn a_cell_explained_and_one_of_its_tools() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        tell_all(ui, three_agents());
        let cmds = press_all(ui, "F4 m Down Down Down Enter", NOW + 5_000, 10);
        explained(ui, &cmds);
    };
    at_each_size("explain_cell", prepare, NOW + 14_000);
    at_each_size(
        "explain_tool",
        |ui| {
            prepare(ui);
            press(ui, "Enter", NOW + 6_000);
        },
        NOW + 14_000,
    );
}

#[test]
fn the_conversations_pane() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        press_all(ui, "F6 Down d", NOW + 5_000, 10);
    };
    at_each_size("conversations", prepare, NOW + 14_000);
}

#[test]
fn help() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        press(ui, "?", NOW);
    };
    at_each_size("help", prepare, NOW);
}

#[test]
fn palette() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        press(ui, "Ctrl+P", NOW);
        type_text(ui, "mo", NOW);
    };
    at_each_size("palette", prepare, NOW);
}

#[test]
fn alerts_completion_and_a_failing_model() {
    let prepare = |ui: &mut Ui| {
        begin(ui);
        let alert = |severity, message: &str, hint: Option<&str>| {
            Event::Alert(Alert { severity, message: message.to_owned(), hint: hint.map(str::to_owned) })
        };
        let retrying = Event::Retrying { message: "the server answered 529".to_owned(), ms: 19_000, attempt: 2 };
        tell_all(
            ui,
            [
                started(),
                said("hello"),
                call(1, &[], true),
                retrying,
                alert(Severity::Notice, "the log was cut in the middle of a line", None),
                alert(
                    Severity::Warning,
                    "could not load 'documents' for assistant: the index is not readable",
                    Some("make it readable and load it again"),
                ),
            ],
        );
        type_text(ui, "/t", NOW);
    };
    at_each_size("alerts", prepare, NOW + 4_000);
}

#[test]
fn search_reason_and_history() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    press(&mut ui, "Ctrl+F", NOW);
    type_text(&mut ui, "build", NOW);
    assert_snapshot!("search_80x24", frame(&mut ui, NOW));
    press_all(&mut ui, "Esc Ctrl+Y D", NOW, 10);
    type_text(&mut ui, "not in this folder", NOW);
    assert_snapshot!("reason_80x24", frame(&mut ui, NOW));
    press(&mut ui, "Enter", NOW);
    type_text(&mut ui, "xtidy", NOW + 20);
    press_all(&mut ui, "Enter Ctrl+R t i", NOW + 30, 1);
    assert_snapshot!("history_80x24", frame(&mut ui, NOW + 60));
}

#[test]
fn answered_cards_leave_receipts() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    tell_all(
        &mut ui,
        [
            Event::Answer {
                call: CallId(3),
                answer: crate::access::Answer::DeniedWithReason { reason: "not here".to_owned() },
            },
            result(3, Ending::NotAllowed, ""),
            Event::Answer { call: CallId(4), answer: crate::access::Answer::AllowedOnce },
            Event::Running { call: CallId(4), for_ms: 0 },
        ],
    );
    assert_snapshot!("receipts_80x24", frame(&mut ui, NOW + 4_000));
}

#[test]
fn first_run() {
    use crate::ui::view::{FirstRun, first_run};
    let page = FirstRun {
        config: "/home/me/.kokua/config.toml".to_owned(),
        data: "/home/me/.kokua/data".to_owned(),
        report: report(),
        programs: "run_command and execute_python run programs as you, with all that you may do: [compute].sandbox is \
                   \"off\"."
            .to_owned(),
        model: "rehearsal: no model server runs on this machine, and none is needed. It answers from a script, and \
                nothing leaves this machine. `kokua --model` names another."
            .to_owned(),
    };
    let theme = Theme::shipped("default", Colours::Ansi).unwrap();
    for (width, height) in [(80, 24), (120, 40), (200, 60), (60, 15), (40, 12), (1, 1)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| first_run(frame, &theme, &page)).unwrap();
        assert_snapshot!(format!("first_run_{width}x{height}"), format!("{}", terminal.backend()));
    }
}

#[test]
fn small_and_smallest() {
    for (width, height) in [(60, 15), (59, 24), (1, 1)] {
        let mut ui = begun(width, height);
        turn_with_card(&mut ui);
        assert_snapshot!(format!("small_{width}x{height}"), frame(&mut ui, NOW + 4_000));
    }
    let mut ui = begun(60, 15);
    turn_with_card(&mut ui);
    press(&mut ui, "Tab", NOW);
    assert_snapshot!("small_card_60x15", frame(&mut ui, NOW + 4_000));
}
