//! What updates do to the screen, and when it has to be drawn again by itself.

use super::*;
use crate::access::Answer;
use crate::agent::update::{Alert, Severity};
use crate::ui::Focus;
use crate::ui::transcript::Block;

#[test]
fn a_window_that_is_known_later_fills_the_header() {
    let mut ui = screen(100, 30);
    let Event::Session { conversation, title, agent, mode, model, rehearsal, tool_limit, .. } = session(None) else {
        panic!()
    };
    let session = Event::Session {
        conversation,
        title,
        agent,
        mode,
        model,
        rehearsal,
        window: None,
        tool_limit,
        read_only: None,
    };
    tell_all(&mut ui, [session, Event::Replayed, started(), call(1, &[], true), used(1)]);
    let header = |ui: &mut Ui| frame(ui, NOW).lines().next().unwrap_or_default().to_owned();
    assert!(!header(&mut ui).contains("ctx"), "{}", header(&mut ui));
    tell(&mut ui, Event::Window { tokens: 100_000 }, NOW);
    assert!(header(&mut ui).contains("% ctx"), "{}", header(&mut ui));
}

#[test]
fn nothing_moves_when_idle() {
    let mut ui = begun(80, 24);
    assert_eq!(ui.next_wake(NOW), None);
    turn_with_card(&mut ui);
    tell_all(&mut ui, [Event::End { end: TurnEnd::Stopped, took_ms: 0 }]);
    assert_eq!(ui.next_wake(NOW), None);
}

#[test]
fn what_moves_wakes_the_screen_and_at_most_once_a_second() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started()]);
    assert_eq!(ui.next_wake(NOW), Some(1_000));
    assert_eq!(ui.next_wake(NOW + 250), Some(750));
    tell(&mut ui, command_ask(3), NOW);
    assert_eq!(ui.next_wake(NOW), Some(400), "the card becomes ready");
    assert_eq!(ui.next_wake(NOW + 400), Some(600));
    let retrying = Event::Retrying { message: "overloaded".to_owned(), ms: 2_500, attempt: 2 };
    tell(&mut ui, retrying, NOW + 500);
    assert_eq!(ui.next_wake(NOW + 500), Some(500));
    let notice = Alert { severity: Severity::Notice, message: "hm".to_owned(), hint: None };
    let mut ui = begun(80, 24);
    tell(&mut ui, Event::Alert(notice), NOW);
    assert_eq!(ui.next_wake(NOW), Some(8_000));
    assert_eq!(ui.next_wake(NOW + 8_000), None);
}

#[test]
fn an_ask_rings_only_when_nobody_looks() {
    let mut ui = begun(80, 24);
    assert_eq!(tell(&mut ui, command_ask(3), NOW), []);
    update(&mut ui, Msg::Focus(false), NOW);
    assert_eq!(tell(&mut ui, command_ask(4), NOW), [Cmd::Notify("assistant asks: compute.run_command".to_owned())]);
}

#[test]
fn the_inbox_is_in_call_order_and_a_card_that_can_be_answered_stays() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), command_ask(5)]);
    assert_eq!((ui.inbox().place(), ui.inbox().len()), (1, 1));
    for number in [3, 9] {
        tell(&mut ui, command_ask(number), NOW + 400);
    }
    assert_eq!((ui.inbox().place(), ui.inbox().len()), (2, 3));
    assert_eq!(ui.inbox().shown().unwrap().ask.call, CallId(5));
    tell(&mut ui, Event::Answer { call: CallId(3), answer: Answer::Expired }, NOW);
    assert_eq!(ui.inbox().shown().unwrap().ask.call, CallId(5));
    assert_eq!(ui.inbox().place(), 1);
}

/// The previews of two calls of one answer are made at once, and the second one's was there first.
#[test]
fn of_cards_that_come_up_together_the_first_is_shown_unless_a_person_is_at_another() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), command_ask(5), command_ask(4)]);
    assert_eq!(ui.inbox().shown().unwrap().ask.call, CallId(4));
    press(&mut ui, "Ctrl+Y", NOW);
    tell(&mut ui, command_ask(3), NOW);
    assert_eq!(ui.inbox().shown().unwrap().ask.call, CallId(4));
}

#[test]
fn answering_one_card_leaves_the_other() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    tell(&mut ui, Event::Answer { call: CallId(3), answer: Answer::Denied }, NOW);
    assert_eq!(ui.inbox().len(), 1);
    assert!(ui.is_running(), "deny is not stop");
}

#[test]
fn a_stop_takes_every_card_and_the_focus_goes_back() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    press(&mut ui, "Ctrl+Y", NOW);
    tell_all(&mut ui, [3, 4].map(|call| Event::Answer { call: CallId(call), answer: Answer::Withdrawn }));
    tell_all(&mut ui, [Event::End { end: TurnEnd::Stopped, took_ms: 0 }]);
    assert!(ui.inbox().is_empty());
    assert_eq!(ui.focus(), Focus::Composer);
}

#[test]
fn a_reason_that_was_being_typed_is_not_lost() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    press_all(&mut ui, "Ctrl+Y D", NOW, 1);
    type_text(&mut ui, "because", NOW);
    tell(&mut ui, Event::Answer { call: CallId(3), answer: Answer::Expired }, NOW);
    assert!(ui.prompt.is_none());
    assert_eq!(ui.composer.history().last().map(String::as_str), Some("because"));
}

#[test]
fn another_conversation_forgets_the_one_before_but_not_the_draft() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    type_text(&mut ui, "draft", NOW);
    press(&mut ui, "Ctrl+Y", NOW);
    let mut event = session(Some("other"));
    if let Event::Session { conversation, .. } = &mut event {
        *conversation = "c2".to_owned();
    }
    let begin = Update { conversation: "c2".to_owned(), node: crate::agent::NodeId::ENTRY, event };
    let cmds = update(&mut ui, Msg::Update(Box::new(begin)), NOW);
    assert_eq!(cmds, [Cmd::SetTitle("kokua: other".to_owned())]);
    assert!(!ui.is_running() && ui.transcript().is_empty());
    assert_eq!((ui.inbox().len(), ui.focus()), (2, Focus::Composer), "what it asks still waits");
    assert_eq!(ui.draft(), "draft");
    assert_eq!(tell(&mut ui, delta("of the old one"), NOW), []);
    assert!(ui.transcript().is_empty(), "what the old one still says is not drawn here");
    tell(&mut ui, command_ask(7), NOW);
    let card = ui.inbox().shown().unwrap();
    assert_eq!(card.elsewhere.as_deref(), Some("conversation c1"), "but an ask of it reaches the person");
}

#[test]
fn words_said_before_are_in_the_history_of_the_composer() {
    let mut ui = screen(80, 24);
    tell_all(
        &mut ui,
        [session(None), started(), said("first"), ended(), started(), said("second"), ended(), Event::Replayed],
    );
    press_all(&mut ui, "Up Up", NOW, 1);
    assert_eq!(ui.draft(), "first");
}

#[test]
fn a_queued_message_becomes_the_delivered_one() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), said("one"), Event::Queued { text: "two".to_owned() }, said("two")]);
    let users = ui.transcript().blocks().filter(|(_, block)| matches!(block, Block::User { .. })).count();
    assert_eq!(users, 2);
}

#[test]
fn a_call_whose_ledger_did_not_change_keeps_the_one_before() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), call(2, &[], true), used(2), call(3, &[], false)]);
    assert_eq!(ui.model_call(0).unwrap().ledger, ui.model_call(1).unwrap().ledger);
    assert!(ui.model_call(1).unwrap().ledger.is_some());
    assert!(ui.model_call(2).is_none());
}

#[test]
fn a_ledger_that_was_not_kept_is_not_taken_from_another_call() {
    let mut ui = begun(80, 24);
    let mut other = call(3, &[], false);
    if let Event::Call(line) = &mut other {
        line.tool_bytes += 1;
    }
    tell_all(&mut ui, [started(), call(2, &[], true), used(2), other]);
    assert_eq!(ui.model_call(1).unwrap().ledger, None);
}

#[test]
fn many_tools_are_said_in_the_header_and_red_where_the_provider_takes_no_more() {
    let crowded = |limit, tools| {
        let mut ui = screen(80, 24);
        let (mut session, mut call) = (session(None), call(1, &[], false));
        if let (Event::Session { tool_limit, .. }, Event::Call(line)) = (&mut session, &mut call) {
            (*tool_limit, line.tools) = (limit, tools);
        }
        tell_all(&mut ui, [session, Event::Replayed, started(), call]);
        let frame = frame(&mut ui, NOW);
        let line = |nth: usize| frame.lines().nth(nth).unwrap().to_owned();
        (line(0), line(1) + &line(2))
    };
    for (limit, tools, words) in [
        (None, 99, "99 tools "),
        (None, 200, "200 tools ! many"),
        (Some(128), 128, "128 tools !! the provider takes no more"),
        (Some(128), 200, "200 tools !! the provider takes 128"),
    ] {
        let (header, rule) = crowded(limit, tools);
        assert!(header.contains(words) && rule.contains(words), "{header}\n{rule}");
    }
}

#[test]
fn a_call_that_carries_other_than_was_reported_asks_for_a_fresh_report() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started()]);
    assert_eq!(tell(&mut ui, call(1, &[], true), NOW), [Cmd::Submit(Command::Report)], "9 tools, not 11");
    let grown = tell(&mut ui, call(2, &["todo"], true), NOW);
    assert_eq!(grown, [Cmd::Submit(Command::Report)]);
    assert_eq!(tell(&mut ui, call(3, &[], true), NOW), []);
}

/// Tools that the rows of the tools pane count, summed as a person would.
fn rows_sum(frame: &str) -> usize {
    let rows = frame.lines().filter_map(|line| line.split_once('│')).map(|(_, pane)| pane);
    let rows = rows.filter_map(|row| row.strip_prefix([' ', '›'])?.strip_prefix(['R', 'L', '?']));
    let count = |row: &str| row.split_whitespace().nth(1)?.split('/').next()?.parse::<usize>().ok();
    rows.filter_map(count).sum()
}

#[test]
fn the_rows_of_the_tools_pane_sum_to_what_its_heading_and_the_header_say() {
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [started(), said("hello"), call(2, &[], true), used(2), ended()]);
    let shown = frame(&mut ui, NOW);
    assert_eq!(rows_sum(&shown), 11, "{shown}");
    assert!(shown.contains("11 tools  19% ctx") && shown.contains("F3  11, 6.3 kB"), "{shown}");
    // Switched off: what a call now carries follows at once, what the last one carried stays.
    let mut off = report();
    off.toolsets[1].state =
        ToolsetState::Off { by: Filter::SwitchedOff, reason: "[toolsets].disabled names it".to_owned(), line: None };
    off.toolsets[1].tools.iter_mut().flatten().for_each(|tool| tool.offered = false);
    off.offered = (9, 5_096);
    tell_all(&mut ui, [Event::Report(Box::new(off))]);
    let shown = frame(&mut ui, NOW);
    assert_eq!(rows_sum(&shown), 9, "{shown}");
    assert!(shown.contains(" 9 tools  19% ctx") && shown.contains("F3   9, 5.1 kB"), "{shown}");
    assert!(shown.contains("call 2 · 11 tools"), "{shown}");
}

#[test]
fn why_a_toolset_is_off_is_said_once_for_all_of_its_tools() {
    let reason = "[toolsets].disabled names it".to_owned();
    let mut off = report();
    off.toolsets[1].state = ToolsetState::Off { by: Filter::SwitchedOff, reason: reason.clone(), line: Some(7) };
    for tool in off.toolsets[1].tools.iter_mut().flatten() {
        (tool.offered, tool.withheld) = (false, Some(reason.clone()));
    }
    let mut ui = begun(120, 40);
    tell_all(&mut ui, [Event::Report(Box::new(off))]);
    press_all(&mut ui, "F3 Down Enter", NOW, 1);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("read_file") && !shown.contains("withheld"), "{shown}");
    assert_eq!(shown.matches("off: [toolsets].disabled").count(), 1, "{shown}");
    assert!(shown.contains("line 7"), "{shown}");
}

#[test]
fn tools_sorted_by_bytes_say_so() {
    let mut ui = begun(80, 24);
    press(&mut ui, "F3", NOW);
    let shown = frame(&mut ui, NOW);
    assert!(!shown.contains("by bytes") && !shown.contains("bytes▾"), "{shown}");
    press(&mut ui, "t", NOW);
    let shown = frame(&mut ui, NOW);
    assert!(shown.contains("tools of assistant, by bytes") && shown.contains("bytes▾"), "{shown}");
}

#[test]
fn help_names_the_actions_where_there_is_room() {
    for (width, named) in [(80, false), (100, true), (110, true), (120, true), (200, true)] {
        let mut ui = begun(width, 40);
        press(&mut ui, "F1", NOW);
        let shown = frame(&mut ui, NOW);
        assert_eq!(shown.contains("oldest_ask"), named, "{shown}");
        assert_eq!(shown.contains("name in [keys]"), named, "{shown}");
    }
}

#[test]
fn a_tool_shows_its_parameters() {
    let mut ui = begun(80, 40);
    let cmds = press_all(&mut ui, "F3 Down Down Down Enter Down Enter", NOW, 1);
    explained(&mut ui, &cmds);
    let shown = frame(&mut ui, NOW);
    for line in ["       command    string, required  The command line.", "       timeout_s  integer"] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    // What is below must not be counted on the selected row's own last line.
    let mut low = begun(80, 24);
    press_all(&mut low, "F3 Down Down Down Enter", NOW, 1);
    let shown = frame(&mut low, NOW);
    assert!(shown.contains("no python3 on this") && shown.contains("more below"), "{shown}");
    press_all(&mut ui, "Esc Up Enter End Up Enter", NOW, 1);
    let shown = frame(&mut ui, NOW);
    assert!(!shown.contains("run_command") && shown.contains("load_tools"), "{shown}");
    assert_eq!(press(&mut ui, "o", NOW), [], "core tools have no switch");
}

#[test]
fn a_bar_of_the_chart_says_its_turn() {
    let mut ui = begun(80, 40);
    for calls in [1, 2, 1] {
        tell_all(&mut ui, [started()]);
        (1..=calls).for_each(|number| tell_all(&mut ui, [call(number, &[], true)]));
        tell_all(&mut ui, [ended()]);
    }
    press(&mut ui, "F3", NOW);
    let shown = frame(&mut ui, NOW);
    let bars: Vec<_> = shown.lines().filter_map(|line| line.split_once(" ━━")).map(|(label, _)| label).collect();
    assert_eq!(bars, [" turn 3  1", " turn 2  2", "         1", " turn 1  1"], "{shown}");
}

#[test]
fn what_a_failed_try_streamed_goes_and_a_failure_is_said_once() {
    let mut ui = begun(80, 24);
    let reasoning = || Event::Reasoning { text: "thinking".to_owned() };
    let failed = Event::Retrying { message: "the stream broke off".to_owned(), ms: 900, attempt: 2 };
    tell_all(&mut ui, [started(), said("hello"), call(1, &[], true), reasoning(), delta("Half an")]);
    tell_all(&mut ui, [Event::Queued { text: "and this".to_owned() }, failed]);
    let shown = frame(&mut ui, NOW);
    assert!(!shown.contains("Half an") && !shown.contains("reasoning") && shown.contains("and this"), "{shown}");
    tell_all(&mut ui, [reasoning(), delta("Half an"), delta(" answer")]);
    let (message, hint) = ("The request failed: it broke off.".to_owned(), Some("Try again.".to_owned()));
    let end = TurnEnd::Failed { message: message.clone(), hint: hint.clone() };
    tell_all(&mut ui, [Event::Error { message, hint }, Event::End { end, took_ms: 0 }]);
    let shown = frame(&mut ui, NOW);
    for words in ["Half an answer", "reasoning", "The request failed", "Try again."] {
        assert_eq!(shown.matches(words).count(), 1, "{words}: {shown}");
    }
}

#[test]
fn hidden_characters_of_an_argument_are_shown() {
    let mut ui = begun(120, 40);
    turn_with_card(&mut ui);
    press_all(&mut ui, "Ctrl+Y n v", NOW, 1);
    let text = frame(&mut ui, NOW);
    for shown in ["⟨U+202E⟩", "⟨U+200B⟩", "␍", "CHANGED", "0644", "+tidied", "-old note"] {
        assert!(text.contains(shown), "{shown} in\n{text}");
    }
}

#[test]
fn a_long_line_of_wide_characters_shows_its_end_and_the_caret_behind_it() {
    let mut ui = begun(80, 24);
    turn_with_card(&mut ui);
    press_all(&mut ui, "Ctrl+Y D", NOW, 1);
    for length in 1..60 {
        type_text(&mut ui, "語", NOW);
        let frame = frame(&mut ui, NOW);
        let line = frame.lines().nth(23).unwrap();
        let shown = line.matches('語').count();
        assert_eq!(shown, length.min(21), "{line}");
        let caret = " why not › ".chars().count() + shown * 2;
        assert!(frame.ends_with(&format!("caret at {caret},23\n")), "{frame}");
    }
}

#[test]
fn the_newest_calls_stay_in_the_chart_where_there_is_little_room() {
    let mut ui = begun(80, 24);
    for number in 1..=6 {
        tell_all(&mut ui, [started(), call(number, &[], number == 1)]);
    }
    press(&mut ui, "F3", NOW);
    let frame = frame(&mut ui, NOW);
    assert!(frame.contains("turn 6  6 ━") && !frame.contains("turn 1"), "{frame}");
}

#[test]
fn the_caret_stands_behind_what_was_typed_at_every_length() {
    for width in [80u16, 61] {
        for length in 1..200usize {
            let mut ui = begun(width, 24);
            type_text(&mut ui, &"x".repeat(length), NOW);
            let text = frame(&mut ui, NOW);
            let lines: Vec<_> = text.lines().collect();
            let caret =
                lines.last().unwrap().strip_prefix("caret at ").unwrap_or_else(|| panic!("no caret at {length}"));
            let (column, row) = caret.split_once(',').unwrap();
            let (column, row): (usize, usize) = (column.parse().unwrap(), row.parse().unwrap());
            let before = lines[row].chars().nth(column - 1).unwrap_or(' ');
            let prompt = lines.iter().position(|line| line.starts_with(" to assistant")).unwrap();
            let last = lines.iter().rposition(|line| line.contains('x')).unwrap().max(prompt);
            assert!(row == last || row == last + 1, "length {length}, width {width}: {caret}\n{text}");
            let fresh_row = column == 16 && lines[row].trim().is_empty();
            assert!(before == 'x' || fresh_row, "length {length}, width {width}: {caret}\n{text}");
            assert_ne!(lines[row].chars().nth(column), Some('x'), "length {length}");
        }
    }
}

#[test]
fn a_call_that_is_being_written_shows_how_far_it_is_until_it_is_told() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), said("go"), call(1, &[], true)]);
    let writing = |bytes| Event::Writing { tool: "fs_write.write_file".to_owned(), bytes };
    tell_all(&mut ui, [writing(0), writing(2_100)]);
    let screen = frame(&mut ui, NOW);
    assert!(screen.contains("call 1 · writing fs_write.write_file, 2.1 kB"), "{screen}");
    tell_all(&mut ui, [used(1)]);
    assert!(!frame(&mut ui, NOW).contains("writing"), "its row says the rest");
}

#[test]
fn p17_what_only_reads_is_a_status_line_and_anything_else_a_row() {
    let mut ui = begun(120, 40);
    turn_with_card(&mut ui);
    let screen = frame(&mut ui, NOW);
    for row in ["· fs.list_directory", "· core.load_tools", "▸ compute.run_command", "▸ fs_write.write_file"] {
        assert!(screen.contains(row), "{row}:\n{screen}");
    }
}

/// A conversation that two agents answered in read as if the one of now had said it all.
#[test]
fn each_turn_is_labelled_with_the_agent_that_answered_it() {
    let mut ui = begun(80, 24);
    for (agent, words) in [("scribe", "I write."), ("assistant", "I help.")] {
        let agent = Some(AgentName::new(agent));
        let started = Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent };
        tell_all(&mut ui, [started, said("who are you?"), call(1, &[], true), delta(words), used(1), ended()]);
    }
    let screen = frame(&mut ui, NOW);
    assert!(screen.contains(" scribe     I write.") && screen.contains(" assistant  I help."), "{screen}");
}

#[test]
fn p16_the_row_of_an_edited_call_shows_what_ran_and_why_that_failed() {
    let mut ui = begun(80, 24);
    let arguments = json!({"command": "ls there"});
    let text = crate::agent::call::edited_result(&arguments, "no such folder: there");
    tell_all(
        &mut ui,
        [
            started(),
            said("go"),
            call(1, &[], true),
            tool_call(3, "compute", "run_command", json!({"command": "rm -rf here"})),
            Event::Edited { call: CallId(3), arguments },
            Event::Answer { call: CallId(3), answer: Answer::AllowedOnce },
            Event::ToolResult { call: CallId(3), ending: Ending::Failed, text, note: None, took_ms: 1 },
        ],
    );
    let screen = frame(&mut ui, NOW);
    assert!(screen.contains("ls there") && !screen.contains("rm -rf here"), "{screen}");
    assert!(screen.contains("└ no such folder: there"), "{screen}");
}

#[test]
fn a_card_that_came_up_behind_an_editor_is_as_inert_as_any_other() {
    let mut ui = begun(80, 24);
    tell_all(&mut ui, [started(), command_ask(3)]);
    press(&mut ui, "Ctrl+Y", NOW + 9_000);
    update(&mut ui, Msg::Returned, NOW + 10_000);
    assert_eq!(press(&mut ui, "a", NOW + 10_100), []);
    assert_eq!(press(&mut ui, "a", NOW + 12_000).len(), 1);
}
