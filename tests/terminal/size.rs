//! Sizes: nothing panics at any of them, and the screen is right afterwards.

use crate::common::Home;
use crate::common::pty::Terminal;
use crate::{focus_card, quit};

/// From too small for anything to larger than any monitor.
const SIZES: &[(u16, u16)] = &[
    (60, 15),
    (20, 5),
    (1, 1),
    (2, 40),
    (300, 2),
    (110, 20),
    (109, 20),
    (190, 50),
    (59, 15),
    (60, 14),
    (400, 120),
    (80, 24),
];

#[test]
fn through_many_sizes_while_a_turn_streams() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 80, 24);
    terminal.wait_for("assistant is here");
    terminal.say("stream 400");
    terminal.wait_for("light falls through");
    for _ in 0..3 {
        for &(columns, rows) in SIZES {
            terminal.resize(columns, rows);
            match (columns, rows) {
                (..60, _) | (_, ..15) if columns >= 20 && rows >= 2 => {
                    terminal.wait_for("60");
                }
                (..60, _) | (_, ..15) => {}
                _ => {
                    terminal.wait("the whole screen", |text| {
                        text.lines().next().is_some_and(|line| line.contains("F1")) && text.contains("to assistant ›")
                    });
                }
            }
        }
    }
    let screen =
        terminal.wait("the end of the turn", |text| !text.contains("running") && text.contains("door and stays"));
    assert_eq!(screen.lines().count(), 24, "{screen}");
    let fresh = |text: &str| text.lines().filter(|line| line.contains("light falls")).count();
    assert!(fresh(&screen) > 10, "{screen}");
    quit(terminal);
}

#[test]
fn started_in_a_terminal_that_is_too_small() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 30, 6);
    terminal.wait_for("60");
    terminal.resize(80, 24);
    terminal.wait_for("assistant is here");
    quit(terminal);
}

#[test]
fn a_card_keeps_its_place_through_sizes() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 120, 40);
    terminal.wait_for("assistant is here");
    terminal.say("run `echo sized`");
    terminal.wait_for("WAITS FOR YOU");
    for &(columns, rows) in SIZES {
        terminal.resize(columns, rows);
    }
    // The card stood there at the first size already, and a key that comes in between meets a window that can't show it:
    // the last size is drawn when the heading ends in its last column.
    terminal.wait("the card at 80x24", |text| {
        let heading = text.lines().next().unwrap_or_default().trim_end();
        heading.ends_with("F1 help") && heading.chars().count() == 79 && text.contains("command  echo sized")
    });
    focus_card(&mut terminal);
    terminal.send(b"d");
    terminal.wait_for("You did not allow `echo sized`");
    quit(terminal);
}
