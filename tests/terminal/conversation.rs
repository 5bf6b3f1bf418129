//! What is said arrives whole, and stays: pastes, a stopped turn, a killed program, a second start.

use rustix::process::Signal;
use serde_json::Value;

use crate::common::pty::{BINARY, Terminal};
use crate::common::{Home, only_log};
use crate::{allow, count, draft, focus_card, key, quit};

/// What a person said, as the conversation's log holds it.
fn said(home: &Home) -> Vec<String> {
    let log = std::fs::read_to_string(only_log(&home.state())).unwrap();
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts = records.filter_map(|record| Some(record.pointer("/message/text")?.as_str()?.to_owned()));
    texts.collect()
}

/// Pastes as a terminal does when bracketed paste is on.
fn paste(terminal: &mut Terminal, text: &str) {
    terminal.send(b"\x1b[200~");
    terminal.send(text.as_bytes());
    terminal.send(b"\x1b[201~");
}

#[test]
fn a_paste_of_thirty_lines_is_a_chip_and_is_sent_whole() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 80, 24);
    terminal.wait_for("assistant is here");
    let lines: String = (1..=30).map(|line| format!("line {line}: a d s D\r")).collect();
    terminal.type_text("look at ");
    paste(&mut terminal, &lines);
    terminal.wait_for("› look at [paste 1: 30 lines]");
    terminal.send(key::ENTER);
    terminal.wait_for("requests; what stands behind them is real");
    assert_eq!(said(&home), [format!("look at {}", lines.replace('\r', "\n"))]);
    quit(terminal);
}

#[test]
fn a_theme_is_there_again_on_the_next_day() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 80, 24);
    terminal.wait_for("assistant is here");
    terminal.say("/theme mono");
    terminal.wait_for("The theme is mono, saved for the next start.");
    quit(terminal);
    let config = std::fs::read_to_string(home.state().join("config.toml")).unwrap();
    assert_eq!(config, include_str!("../../config.example.toml").replace("theme = \"default\" ", "theme = \"mono\" "));
}

#[test]
fn a_paste_of_a_megabyte_is_a_chip_and_is_sent_whole() {
    for (text, chip) in [
        ("0123456789abcde\r".repeat(1 << 16), "[paste 1: 65536 lines]"),
        ("0123456789abcdef".repeat(1 << 16), "[paste 1: 1.0 MB]"),
    ] {
        let home = Home::new();
        let mut terminal = Terminal::start(&home, &[], 80, 24);
        terminal.wait_for("assistant is here");
        paste(&mut terminal, &text);
        terminal.wait_for(chip);
        terminal.send(key::ENTER);
        terminal.wait_for("requests; what stands behind them is real");
        let said = said(&home);
        assert_eq!(said.len(), 1);
        assert!(said[0] == text.replace('\r', "\n"), "{} bytes of {}", said[0].len(), text.len());
        quit(terminal);
    }
}

#[test]
fn esc_twice_stops_a_turn_and_what_was_said_stays() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 80, 24);
    terminal.wait_for("assistant is here");
    terminal.say("stream 5000");
    terminal.wait_for("light falls through");
    terminal.send(key::ESC);
    terminal.wait_for("Esc again stops the turn");
    terminal.send(key::ESC);
    terminal.wait("stopped", |text| text.contains("stopped") && !text.contains("running"));
    terminal.say("hello");
    let screen = terminal.wait_for("Hello! I am the rehearsal model");
    assert!(screen.contains("light falls through") && screen.contains("stopped"), "{screen}");
    quit(terminal);
    let again = Terminal::start(&home, &[], 80, 24);
    let screen = again.wait_for("Hello! I am the rehearsal model");
    assert!(screen.contains("light falls through") && screen.contains("stopped"), "{screen}");
}

/// A turn runs, and words wait for its next round, which does not come.
fn words_wait(home: &Home) -> Terminal {
    let mut terminal = Terminal::start(home, &[], 100, 30);
    terminal.wait_for("assistant is here");
    terminal.say("stream 5000");
    terminal.wait_for("light falls through");
    terminal.say("one thing more");
    terminal.wait_for("one thing more  (queued: joins the turn at its next round)");
    terminal
}

#[test]
fn what_was_typed_into_a_turn_that_is_stopped_reads_as_not_delivered() {
    let home = Home::new();
    let mut terminal = words_wait(&home);
    terminal.send(key::CTRL_C);
    terminal.wait_for("one thing more  (not delivered: the turn ended before)");
    // It is one key away.
    terminal.send(b"\x1b[A");
    terminal.wait("the words again", |text| draft(text) == "one thing more");
}

#[test]
fn killed_while_words_wait_they_read_as_not_delivered() {
    let home = Home::new();
    let terminal = words_wait(&home);
    terminal.signal(Signal::KILL);
    terminal.exit();
    let terminal = Terminal::start(&home, &[], 100, 30);
    terminal.wait_for("one thing more  (not delivered: the turn ended before)");
    quit(terminal);
    let shown = home.kokua(&["conversations", "show", "latest"]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("[not delivered] > one thing more"));
}

#[test]
fn killed_while_a_card_waits_the_call_reads_as_interrupted() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 100, 30);
    terminal.wait_for("assistant is here");
    terminal.say("run `touch killed`");
    terminal.wait_for("WAITS FOR YOU");
    terminal.signal(Signal::KILL);
    terminal.exit();
    let mut terminal = Terminal::start(&home, &[], 100, 30);
    let screen = terminal.wait("the conversation", |text| text.contains("compute.run_command \"touch killed\""));
    let row = screen.lines().find(|line| line.contains("compute.run_command \"touch killed\"")).unwrap();
    assert!(row.contains("interrupted"), "{screen}");
    assert_eq!(count(&screen, "WAITS FOR YOU"), 0, "{screen}");
    assert!(!screen.contains("denied"), "nobody answered it:\n{screen}");
    assert!(!home.work().join("killed").exists());
    // It goes on from there.
    terminal.say("hello");
    terminal.wait_for("Hello! I am the rehearsal model");
    quit(terminal);
}

#[test]
fn a_second_start_says_who_has_the_conversation_and_loses_nothing() {
    let home = Home::new();
    let mut first = Terminal::start(&home, &[], 100, 30);
    first.wait_for("assistant is here");
    first.say("hello");
    first.wait_for("Hello! I am the rehearsal model");
    first.wait_gone("running");
    let mut second = Terminal::start(&home, &[], 100, 30);
    let screen = second.wait_for("assistant is here");
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let holder = format!("is open in another kokua (process {}, since ", first.pid());
    assert!(words.contains(&holder), "{screen}");
    assert!(words.contains("Enter: look at it read-only"), "{screen}");
    assert_eq!(draft(&screen), "");
    // Looked at, nothing can be said to it; a new one is begun for that.
    second.send(b"\r");
    let screen = second.wait_for("nothing can be said here");
    assert!(screen.contains("Hello! I am the rehearsal model"), "{screen}");
    second.say("not here");
    second.wait_for("your draft stays");
    second.send(b"\x03");
    second.say("/new");
    second.wait_for("assistant is here");
    second.say("hey");
    second.wait_for("Hello! I am the rehearsal model");
    first.say("what time is it");
    first.wait_for("time.get_current_date_and_time");
    quit(second);
    quit(first);
    let logs = home.state().join("data/conversations");
    let text = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    let logs = std::fs::read_dir(logs).unwrap().map(|entry| entry.unwrap().path());
    let mut said: Vec<bool> = logs
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .map(|path| text(path).contains("what time is it"))
        .collect();
    said.sort_unstable();
    assert_eq!(said, [false, true], "each start wrote its own conversation");
}

#[test]
fn p16_a_call_that_was_edited_in_the_editor_is_asked_again_and_says_what_ran() {
    let home = Home::new();
    let program = ["env", "VISUAL=sed -i s/danger/care/", BINARY];
    let mut terminal = Terminal::start_program(&home, &program, 100, 40);
    terminal.wait_for("assistant is here");
    terminal.say("run `echo danger`");
    terminal.wait_for("WAITS FOR YOU · 1 of 1");
    focus_card(&mut terminal);
    terminal.send(b"e");
    let screen = terminal.wait_for("EDITED by you");
    assert!(screen.contains("command  echo care") && screen.contains("WAITS FOR YOU · 1 of 1"), "{screen}");
    allow(&mut terminal);
    terminal.wait_for("as you edited it");
    terminal.wait("what ran and its answer", |text| {
        text.contains("What ran:") && text.contains("{\"command\":\"echo care\"}") && text.contains("│ care")
    });
    quit(terminal);
}

#[test]
fn a_hint_goes_though_nothing_else_moves() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 100, 30);
    terminal.wait_for("assistant is here");
    for _ in 0..2 {
        terminal.send(key::CTRL_C);
        terminal.wait_for("Ctrl+C again quits");
        terminal.wait_gone("Ctrl+C again quits");
    }
    quit(terminal);
}
