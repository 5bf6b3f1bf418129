use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::*;
use crate::access::Answer;
use crate::agent::call::{CallId, Ending};
use crate::agent::effect::TurnEnd;
use crate::agent::message::{CallKind, Usage, UserOrigin};
use crate::agent::update::{CallLine, Severity};
use crate::ui::text::tests::nasty;
use crate::ui::theme::{Colours, Role, Theme};
use crate::ui::view;

fn theme() -> Theme {
    Theme::shipped("default", Colours::Ansi).unwrap()
}

fn user(text: &str) -> Block {
    Block::User { from: None, text: text.to_owned(), origin: UserOrigin::Person, delivery: Delivery::Delivered }
}

fn assistant(text: &str) -> Block {
    Block::Assistant { agent: "assistant".to_owned(), text: text.to_owned() }
}

fn call(number: u32, tools: usize, grown: &[&str]) -> CallRule {
    let line = CallLine {
        number,
        kind: CallKind::Agent,
        tools,
        tool_bytes: 18_040,
        resident: vec!["memory".to_owned()],
        loaded: Vec::new(),
        grown: grown.iter().map(|name| (*name).to_owned()).collect(),
        ledger: None,
    };
    let mut rule = CallRule::new(line, Some((19, 16_200)), Some(128));
    rule.usage = Some(Usage { input: Some(7_040), output: Some(96), cached: None });
    rule.took_ms = Some(1_130);
    rule
}

fn ended(ending: Ending, note: Option<&str>, answer: Option<Answer>) -> ToolState {
    ToolState::Ended { ending, note: note.map(str::to_owned), answer, took_ms: 40 }
}

fn row(name: &str, arguments: serde_json::Value, state: ToolState) -> ToolRow {
    ToolRow { state, ..ToolRow::new(CallId(1), name, arguments) }
}

/// A bit of everything.
fn story() -> Transcript {
    let mut story = Transcript::new();
    story.tick(1_014_000);
    story.push(user("tidy the build folder and add a note"));
    story.push(Block::Call(Box::new(call(1, 19, &[]))));
    story.push(Block::Reasoning { text: "They want the folder gone.\n\nLet me look first.".to_owned() });
    story.push(assistant("I will look at it **first**."));
    let listed = ToolRow {
        result: Some("main.o\nlib.o\n".to_owned()),
        ..row("fs.list_directory", json!({"path": "build/"}), ended(Ending::Ok, Some("14 entries"), None))
    };
    story.push(Block::Tool(Box::new(listed)));
    let command = json!({"command": "rm -rf build && mkdir build", "timeout": 30});
    let denied = Answer::DeniedWithReason { reason: "not the cache".to_owned() };
    let state = ended(Ending::NotAllowed, None, Some(denied.clone()));
    story.push(Block::Tool(Box::new(row("compute.run_command", command, state))));
    story.push(Block::Receipt(Receipt {
        tool: "compute.run_command".to_owned(),
        chain: vec!["coder".to_owned(), "assistant".to_owned()],
        answer: denied,
    }));
    story.push(Block::Tool(Box::new(row(
        "compute.run_command",
        json!({"command": "make"}),
        ToolState::Waits { place: 1, of: 2 },
    ))));
    let running = ToolState::Running { since: 1_000_000 };
    story.push(Block::Tool(Box::new(row(
        "spawn_subagent",
        json!({"agent_type": "coder", "task": "remove build/, write NOTE"}),
        running,
    ))));
    story.push(Block::Call(Box::new(call(1, 9, &[]))));
    let failed = ToolRow {
        result: Some(
            "x is not there: the working directory has main.rs and lib.rs, and no folder of that name".to_owned(),
        ),
        ..row("fs.read_file", json!({"path": "x"}), ended(Ending::Failed, None, None))
    };
    story.push(Block::Tool(Box::new(failed)));
    story.push(Block::Call(Box::new(call(2, 24, &["documents"]))));
    story.push(Block::Alert {
        severity: Severity::Warning,
        message: "web could not be loaded for assistant: no such host".to_owned(),
        hint: Some("check the network, then ask for it again".to_owned()),
    });
    story.push(Block::End(TurnEnd::Stopped));
    story
}

fn screen(transcript: &mut Transcript, width: u16, height: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view::transcript::draw(transcript, buffer.area, &mut buffer, &theme());
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(row).collect::<Vec<_>>().join("\n")
}

fn rows(window: &Window) -> Vec<String> {
    window.lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
}

#[test]
fn a_story_at_the_three_sizes() {
    for (width, height) in [(80, 24), (120, 40), (200, 60), (36, 30)] {
        insta::assert_snapshot!(format!("story_{width}x{height}"), screen(&mut story(), width, height));
    }
}

#[test]
fn an_open_row_shows_arguments_result_and_change() {
    let mut transcript = Transcript::new();
    let mut tool = row(
        "fs_write.write_file",
        json!({"path": "NOTE", "content": "one\ntwo", "mode": {"append": true}}),
        ended(Ending::Ok, None, None),
    );
    tool.result = Some(format!("{}\u{1b}[2Jend", "x".repeat(4_100)));
    tool.diff = Some("--- NOTE\n+++ NOTE\n@@ -1 +1,2 @@\n one\n+two\n".to_owned());
    let id = transcript.push(Block::Tool(Box::new(tool)));
    assert_eq!(
        rows(&transcript.render(60, 9, &theme())),
        ["   ▸ fs_write.write_file NOTE mode={\"append\":true} \"on…  ok"]
    );
    assert!(transcript.toggle_fold(id));
    let shown = rows(&transcript.render(60, 200, &theme()));
    assert!(shown.contains(&"       … 107 more characters hidden; copying takes them all".to_owned()), "{shown:#?}");
    assert!(shown.contains(&"       +two".to_owned()));
    assert!(shown.contains(&"         \"append\": true".to_owned()));
    transcript.select(Some(id));
    assert!(transcript.selected_text().unwrap().ends_with("xxxend"), "copying takes all of it, cleaned");
}

#[test]
fn a_folded_row_is_one_line_and_only_arguments_give_way() {
    let long = json!({"command": "x".repeat(500), "other": "y\nz"});
    for width in 1..120_u16 {
        let mut transcript = Transcript::new();
        transcript.push(Block::Tool(Box::new(row(
            "compute.run_command",
            long.clone(),
            ToolState::Waits { place: 1, of: 2 },
        ))));
        let window = transcript.render(width, 9, &theme());
        assert_eq!(window.lines.len(), 1, "at {width}");
        let line = window.lines[0].to_string();
        assert!(line.chars().count() <= usize::from(width));
        if width >= 52 {
            assert!(line.contains("compute.run_command ") && line.contains("WAITS FOR YOU · 1 of 2"), "{line}");
        }
    }
}

#[test]
fn a_folded_row_of_a_failed_call_says_why_under_it() {
    let text = "\nunix: no such file\u{1b}[31m\nsecond line\n";
    for (ending, says) in [
        (Ending::Failed, true),
        (Ending::InvalidArguments, true),
        (Ending::Unknown, true),
        (Ending::Refused, true),
        (Ending::TimedOut, true),
        (Ending::Ok, false),
        (Ending::NotAllowed, false),
        (Ending::NotExecuted, false),
        (Ending::Interrupted, false),
    ] {
        let mut transcript = Transcript::new();
        let failed = ToolRow {
            result: Some(text.to_owned()),
            ..row("fs.read_file", json!({"path": "x"}), ended(ending.clone(), None, None))
        };
        let id = transcript.push(Block::Tool(Box::new(failed)));
        let shown = screen(&mut transcript, 40, 12);
        assert_eq!(shown.contains("    └ unix: no such file"), says, "{ending:?}: {shown}");
        assert!(!shown.contains("second line"), "{shown}");
        transcript.toggle_fold(id);
        let shown = screen(&mut transcript, 40, 12);
        assert!(!shown.contains("└") && shown.contains("second line"), "{ending:?}: {shown}");
    }
}

#[test]
fn a_long_argument_does_not_hide_a_short_one_in_a_row() {
    let mut transcript = Transcript::new();
    let arguments = json!({"content": "one\ntwo\n".repeat(9), "mode": "new", "path": "notes/plan.md"});
    transcript.push(Block::Tool(Box::new(row("fs_write.write_file", arguments, ToolState::Called))));
    let shown = screen(&mut transcript, 60, 1);
    assert_eq!(shown, "   ▸ fs_write.write_file new notes/plan.md \"one tw…  called");
}

#[test]
fn the_line_that_says_why_is_the_error_itself() {
    for (text, line) in [
        ("there is no such file\nlook at /", "there is no such file"),
        ("half done\nError: execution timed out after 60s", "Error: execution timed out after 60s"),
        ("half done\nError:\nTraceback (most recent call last):\n  File x\nNameError: no y\n", "NameError: no y"),
        ("Error:", "Error:"),
    ] {
        let mut transcript = Transcript::new();
        let state = ended(Ending::Failed, Some("error"), None);
        let failed = ToolRow { result: Some(text.to_owned()), ..row("compute.execute_python", json!({}), state) };
        transcript.push(Block::Tool(Box::new(failed)));
        let shown = screen(&mut transcript, 80, 4);
        assert!(shown.lines().nth(1).is_some_and(|second| second == format!("     └ {line}")), "{shown}");
    }
}

#[test]
fn p13_receipts_use_exactly_these_words() {
    let table = [
        (Answer::AllowedOnce, "allowed once"),
        (Answer::AllowedForConversation, "allowed for this conversation"),
        (Answer::AllowedByGrant { grant: 3 }, "allowed by grant 3"),
        (Answer::AllowedByFlag { entry: "fs".to_owned() }, "allowed by --allow"),
        (Answer::Denied, "denied"),
        (Answer::DeniedWithReason { reason: "no".to_owned() }, "denied with a reason"),
        (Answer::AutoDenied { reason: "nobody is here".to_owned() }, "auto-denied"),
        (Answer::Expired, "expired"),
        (Answer::Withdrawn, "withdrawn (stopped)"),
        (Answer::Interrupted, "interrupted"),
    ];
    for (answer, words) in table {
        assert_eq!(&answer.to_string(), words);
        let mut transcript = Transcript::new();
        let detail = answer_detail(&answer).map(|detail| format!(" · {detail}")).unwrap_or_default();
        transcript.push(Block::Receipt(Receipt { tool: "fs.x".to_owned(), chain: vec!["a".to_owned()], answer }));
        let line = rows(&transcript.render(80, 1, &theme())).concat();
        assert!(line.starts_with(&format!("     └ {words}{detail} · fs.x")), "{line}");
    }
}

#[test]
fn what_changed_since_the_call_before_is_bold_and_many_tools_are_loud() {
    let bold = theme().style(Role::Changed);
    let spans = |rule: CallRule| {
        let mut transcript = Transcript::new();
        transcript.push(Block::Call(Box::new(rule)));
        transcript.render(120, 1, &theme()).lines.remove(0).spans
    };
    let styled =
        |rule: CallRule, text: &str| spans(rule).iter().find(|span| span.content.contains(text)).map(|span| span.style);
    assert_eq!(styled(call(2, 24, &["documents"]), "24 tools"), Some(bold));
    assert_eq!(styled(call(2, 24, &["documents"]), "(+documents)"), Some(bold));
    assert_eq!(styled(call(2, 19, &[]), "19 tools"), Some(theme().style(Role::Dim)));
    assert_eq!(styled(call(2, 100, &[]), "100 tools ! many"), Some(theme().style(Role::Warning)));
    let error = Some(theme().style(Role::Error));
    assert_eq!(styled(call(2, 128, &[]), "128 tools !! the provider takes no more"), error);
    assert_eq!(styled(call(2, 129, &[]), "129 tools !! the provider takes 128"), error);
    let unlimited = CallRule { limit: None, ..call(2, 128, &[]) };
    assert_eq!(styled(unlimited, "128 tools ! many"), Some(theme().style(Role::Warning)));
    let nothing_known = CallRule { usage: Some(Usage::default()), took_ms: None, ..call(1, 1, &[]) };
    let line: String = spans(nothing_known).iter().map(|span| span.content.as_ref()).collect();
    assert!(line.starts_with(" ── call 1 · 1 tool · 18.0 kB ───"), "{line}");
}

#[test]
fn clocks_run_and_only_while_something_runs() {
    let mut transcript = Transcript::new();
    assert!(!transcript.tick(1_000) && !transcript.ticks());
    let id = transcript.push(Block::Tool(Box::new(row("x", json!({}), ToolState::Running { since: 1_000 }))));
    assert!(transcript.ticks());
    let shown = |transcript: &mut Transcript| rows(&transcript.render(60, 1, &theme())).concat();
    assert!(transcript.tick(15_000) && !transcript.tick(15_900));
    assert!(shown(&mut transcript).ends_with("running 0:14"));
    assert!(transcript.tick(76_000));
    assert!(shown(&mut transcript).ends_with("running 1:15"));
    transcript.update(id, |block| {
        if let Block::Tool(row) = block {
            row.state = ended(Ending::TimedOut, None, None);
        }
    });
    assert!(!transcript.ticks() && !transcript.tick(99_000));
    assert!(shown(&mut transcript).ends_with("timed out"));
}

/// A hundred paragraphs `line 0` … in as many blocks.
fn long() -> Transcript {
    let mut transcript = Transcript::new();
    for number in 0..100 {
        transcript.push(assistant(&format!("line {number}")));
    }
    transcript
}

fn first_and_last(window: &Window) -> (String, String) {
    let number = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
    let rows = rows(window);
    (number(rows.first().unwrap()), number(rows.last().unwrap()))
}

#[test]
fn it_follows_its_end_until_scrolled_and_then_stays() {
    let mut transcript = long();
    let theme = theme();
    let at = |transcript: &mut Transcript| first_and_last(&transcript.render(80, 10, &theme));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(at(&mut transcript), pair("90", "99"));
    transcript.push(assistant("line 100"));
    assert_eq!(at(&mut transcript), pair("91", "100"));
    assert_eq!(transcript.lines_below(), 0);
    transcript.scroll(-3);
    assert_eq!(at(&mut transcript), pair("88", "97"));
    assert!(!transcript.follows());
    assert_eq!((transcript.lines_below(), transcript.lines_above()), (3, 88));
    transcript.push(assistant("line 101"));
    assert_eq!(at(&mut transcript), pair("88", "97"), "nothing scrolls by itself");
    assert_eq!(transcript.lines_below(), 4);
    transcript.page_up();
    assert_eq!(at(&mut transcript), pair("80", "89"));
    transcript.home();
    assert_eq!(at(&mut transcript), pair("0", "9"));
    transcript.page_up();
    assert_eq!(at(&mut transcript), pair("0", "9"));
    transcript.page_down();
    assert_eq!(at(&mut transcript), pair("8", "17"));
    transcript.scroll(500);
    assert_eq!(at(&mut transcript), pair("92", "101"));
    assert!(transcript.follows(), "the end follows again");
    transcript.page_up();
    transcript.end();
    assert_eq!(at(&mut transcript), pair("92", "101"));
    transcript.home();
    assert_eq!(at(&mut transcript), pair("0", "9"));
    assert!(screen(&mut transcript, 80, 10).ends_with("↓ 93 lines below"));
}

#[test]
fn while_more_is_coming_it_moves_by_several_lines_and_never_hides_the_end() {
    let mut transcript = long();
    let theme = theme();
    transcript.set_end(End::Grows);
    transcript.render(80, 40, &theme);
    let mut seen = Vec::new();
    for number in 100..108 {
        transcript.push(assistant(&format!("line {number}")));
        let (first, last) = first_and_last(&transcript.render(80, 40, &theme));
        assert_eq!(last, number.to_string());
        assert!(transcript.follows());
        seen.push(first);
    }
    assert_eq!(seen, ["64", "64", "64", "64", "69", "69", "69", "69"]);
    transcript.scroll(-1);
    assert_eq!(first_and_last(&transcript.render(80, 40, &theme)).0, "67", "a line up is a line up from the end");
    transcript.end();
    transcript.set_end(End::Rests);
    assert_eq!(first_and_last(&transcript.render(80, 40, &theme)), ("68".to_owned(), "107".to_owned()));
    let mut small = long();
    small.set_end(End::Grows);
    assert_eq!(first_and_last(&small.render(80, 10, &theme)).0, "90", "a small window has no lines to spare");
}

#[test]
fn a_short_transcript_cannot_be_scrolled_away() {
    let mut transcript = Transcript::new();
    transcript.push(assistant("line 0"));
    transcript.scroll(-5);
    transcript.home();
    assert_eq!(transcript.render(80, 10, &theme()).lines.len(), 1);
    assert!(transcript.follows());
}

#[test]
fn selection_walks_blocks_and_brings_them_into_view() {
    let mut transcript = long();
    let theme = theme();
    transcript.push(Block::End(TurnEnd::Answered));
    transcript.render(80, 10, &theme);
    transcript.select_previous();
    assert_eq!(transcript.selected_text().as_deref(), Some("line 99"), "a mark that draws nothing is passed over");
    for _ in 0..20 {
        transcript.select_previous();
    }
    let window = transcript.render(80, 10, &theme);
    assert_eq!(first_and_last(&window), ("79".to_owned(), "88".to_owned()));
    assert!(window.lines[0].to_string().starts_with("┃assistant"));
    assert!(!transcript.follows());
    transcript.select_next();
    transcript.end();
    transcript.select_next();
    assert_eq!(transcript.selected_text().as_deref(), Some("line 81"));
    transcript.select(None);
    assert_eq!(transcript.selected(), None);
}

#[test]
fn a_selected_line_is_not_under_the_notice_of_what_is_below() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    let mut transcript = Transcript::new();
    let ids: Vec<_> = (1..=40).map(|number| transcript.push(Block::Call(Box::new(call(number, 9, &[]))))).collect();
    transcript.home();
    for id in ids {
        transcript.select(Some(id));
        let area = Rect::new(0, 0, 80, 10);
        let mut buffer = Buffer::empty(area);
        crate::ui::view::transcript::draw(&mut transcript, area, &mut buffer, &theme());
        let bars = (0..10).filter(|row| buffer[(0, *row)].symbol() == "┃").count();
        assert_eq!(bars, 1, "{id:?}");
    }
}

#[test]
fn search_counts_walks_around_and_opens_what_is_folded() {
    let mut transcript = long();
    let theme = theme();
    let hidden = transcript.push(Block::Reasoning { text: "a Needle in\nhere, you know".to_owned() });
    transcript.push(assistant("the needle, once more: **nee**dle and `x`"));
    transcript.push(user("no n e e d l e"));
    assert_eq!(transcript.search("needle"), Found { current: 3, total: 3 });
    assert_eq!(transcript.search_next(), Found { current: 1, total: 3 });
    assert_eq!(transcript.fold(hidden), Some(Fold::Open));
    assert_eq!(transcript.search_previous(), Found { current: 3, total: 3 });
    assert_eq!(transcript.search("Needle"), Found { current: 1, total: 1 }, "a capital asks for it");
    assert_eq!(transcript.search("needle in here"), Found { current: 1, total: 1 }, "line ends count as spaces");
    assert_eq!(transcript.search("line 7"), Found { current: 11, total: 11 });
    assert_eq!(transcript.search_next(), Found { current: 1, total: 11 });
    let window = transcript.render(80, 10, &theme);
    let marked: Vec<_> = window
        .lines
        .iter()
        .flat_map(|line| &line.spans)
        .filter(|span| span.style == theme.style(Role::Text).patch(theme.style(Role::CurrentMatch)))
        .map(|span| span.content.to_string())
        .collect();
    assert_eq!(marked, ["line 7"]);
    assert_eq!(transcript.search("assistant").total, 0, "labels were not said");
    assert_eq!(transcript.search("you").total, 1);
    assert_eq!(transcript.search(""), Found::default());
    assert_eq!(transcript.found(), None);
}

#[test]
fn a_hit_that_wraps_is_marked_on_both_lines() {
    let mut transcript = Transcript::new();
    transcript.push(assistant(&format!("{} golden thread", "x".repeat(60))));
    transcript.search("golden thread");
    let theme = theme();
    let window = transcript.render(80, 10, &theme);
    let marked: Vec<_> = window
        .lines
        .iter()
        .flat_map(|line| &line.spans)
        .filter(|span| span.style == theme.style(Role::CurrentMatch))
        .map(|span| span.content.to_string())
        .collect();
    assert_eq!(marked, ["golden", "thread"]);
}

#[test]
fn a_resize_keeps_the_place() {
    let mut transcript = Transcript::new();
    for number in 0..200 {
        transcript.push(assistant(&format!("paragraph {number} {}", "word ".repeat(60))));
    }
    let theme = theme();
    transcript.render(100, 20, &theme);
    transcript.home();
    transcript.scroll(301);
    let top = |transcript: &mut Transcript, width: u16| {
        let window = transcript.render(width, 20, &theme);
        rows(&window)
            .iter()
            .find_map(|row| row.split("paragraph ").nth(1).map(|rest| rest.split(' ').next().unwrap().to_owned()))
            .unwrap()
    };
    let before: usize = top(&mut transcript, 100).parse().unwrap();
    let narrow: usize = top(&mut transcript, 60).parse().unwrap();
    let wide: usize = top(&mut transcript, 180).parse().unwrap();
    assert!(before.abs_diff(narrow) <= 1 && before.abs_diff(wide) <= 1, "{before} {narrow} {wide}");
}

#[test]
fn lines_out_of_view_are_dropped() {
    let mut transcript = Transcript::new();
    for number in 0..5_000 {
        transcript.push(assistant(&format!("paragraph {number}\n\nand another")));
    }
    let theme = theme();
    for _ in 0..300 {
        transcript.page_up();
        transcript.render(100, 40, &theme);
    }
    let kept: usize = transcript.items.iter().map(Item::kept).sum();
    assert!(kept <= 2_400, "{kept}");
}

#[test]
fn a_receipt_stands_under_its_call_and_a_queued_message_can_go() {
    let mut transcript = Transcript::new();
    let call = transcript.push(Block::Tool(Box::new(row("x", json!({}), ToolState::Called))));
    transcript.push(assistant("later"));
    let queued = transcript.push(Block::User {
        from: None,
        text: "and this".to_owned(),
        origin: UserOrigin::Person,
        delivery: Delivery::Queued,
    });
    transcript.insert_after(
        call,
        Block::Receipt(Receipt { tool: "x".to_owned(), chain: Vec::new(), answer: Answer::Denied }),
    );
    insta::assert_snapshot!(screen(&mut transcript, 80, 6), @r"
       ▸ x                                                                   called
         └ denied · x
     assistant  later

     you        and this  (queued: joins the turn at its next round)
    ");
    transcript.remove(queued);
    assert_eq!(transcript.len(), 3);
}

fn block() -> impl Strategy<Value = Block> {
    let arguments = nasty().prop_map(|text| json!({"path": text, "n": 3}));
    let state = prop_oneof![
        Just(ToolState::Called),
        Just(ToolState::Running { since: 0 }),
        Just(ToolState::Waits { place: 1, of: 2 }),
        nasty().prop_map(|note| ended(Ending::Ok, Some(&note), None)),
        nasty().prop_map(|reason| ended(Ending::NotAllowed, None, Some(Answer::DeniedWithReason { reason }))),
    ];
    let tool = (nasty(), arguments, state, nasty()).prop_map(|(name, arguments, state, text)| {
        let diff = Some(text.clone());
        Block::Tool(Box::new(ToolRow { result: Some(text), diff, ..row(&name, arguments, state) }))
    });
    prop_oneof![
        nasty().prop_map(|text| user(&text)),
        (nasty(), nasty()).prop_map(|(agent, text)| Block::Assistant { agent, text }),
        nasty().prop_map(|text| Block::Reasoning { text }),
        tool,
        (0_usize..200).prop_map(|tools| Block::Call(Box::new(call(1, tools, &["x"])))),
        (nasty(), nasty()).prop_map(|(message, hint)| Block::End(TurnEnd::Failed { message, hint: Some(hint) })),
        nasty().prop_map(|message| Block::Alert { severity: Severity::Notice, message, hint: None }),
        Just(Block::End(TurnEnd::Answered)),
        Just(Block::End(TurnEnd::Interrupted)),
        (nasty(), nasty()).prop_map(|(title, line)| Block::Lines { title, lines: vec![line] }),
    ]
}

#[derive(Debug, Clone)]
enum Act {
    Push(Block),
    Append(prop::sample::Index, String),
    Toggle(prop::sample::Index),
    Remove(prop::sample::Index),
    Select(prop::sample::Index),
    Scroll(isize),
    Page(bool),
    Home,
    End,
    Search(String),
    Next,
    Render(u16, u16),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => block().prop_map(Act::Push),
        4 => (any::<prop::sample::Index>(), nasty()).prop_map(|(at, text)| Act::Append(at, text)),
        2 => any::<prop::sample::Index>().prop_map(Act::Toggle),
        1 => any::<prop::sample::Index>().prop_map(Act::Remove),
        1 => any::<prop::sample::Index>().prop_map(Act::Select),
        2 => (-30_isize..30).prop_map(Act::Scroll),
        1 => any::<bool>().prop_map(Act::Page),
        1 => Just(Act::Home),
        1 => Just(Act::End),
        1 => "[a-c]{0,2}".prop_map(Act::Search),
        1 => Just(Act::Next),
        4 => (1_u16..90, 0_u16..30).prop_map(|(width, height)| Act::Render(width, height)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_happens_lines_fit_and_the_cache_never_lies(acts in proptest::collection::vec(act(), 1..30)) {
        let theme = theme();
        let mut transcript = Transcript::new();
        let mut ids: Vec<BlockId> = Vec::new();
        for act in acts {
            let pick = |at: &prop::sample::Index| (!ids.is_empty()).then(|| ids[at.index(ids.len())]);
            match act {
                Act::Push(block) => ids.push(transcript.push(block)),
                Act::Append(at, text) => if let Some(id) = pick(&at) { transcript.append_text(id, &text) },
                Act::Toggle(at) => if let Some(id) = pick(&at) { transcript.toggle_fold(id); },
                Act::Remove(at) => if let Some(id) = pick(&at) { transcript.remove(id) },
                Act::Select(at) => transcript.select(pick(&at)),
                Act::Scroll(lines) => transcript.scroll(lines),
                Act::Page(up) => if up { transcript.page_up() } else { transcript.page_down() },
                Act::Home => transcript.home(),
                Act::End => transcript.end(),
                Act::Search(query) => { transcript.search(&query); }
                Act::Next => { transcript.search_next(); }
                Act::Render(width, height) => {
                    let window = transcript.render(width, height, &theme);
                    prop_assert!(window.lines.len() <= usize::from(height));
                    for line in &window.lines {
                        let text = line.to_string();
                        let columns: usize = line.spans.iter().map(|span| crate::ui::text::width(&span.content)).sum();
                        prop_assert!(columns <= usize::from(width), "{:?} in {}", text, width);
                        prop_assert!(!text.chars().any(char::is_control));
                    }
                    let again = transcript.render(width, height, &theme);
                    prop_assert!(again == window, "the same frame twice");
                    for item in &mut transcript.items {
                        item.reset();
                    }
                    let fresh = transcript.render(width, height, &theme);
                    prop_assert_eq!(rows(&fresh), rows(&window), "cached equals uncached");
                }
            }
        }
    }
}
