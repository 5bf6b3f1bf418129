//! Cards and keys: several asks at once, and typing that goes on while one arrives.

use crate::common::Home;
use crate::common::pty::Terminal;
use crate::{allow, draft, focus_card, key, quit};

#[test]
fn of_two_gated_calls_the_second_is_still_asked_when_the_first_was_denied() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 100, 40);
    terminal.wait_for("assistant is here");
    terminal.say("run `echo first` and `echo second`");
    terminal.wait_for("WAITS FOR YOU · 2 of 2");
    focus_card(&mut terminal);
    terminal.wait_for("ask 1 of 2");
    terminal.send(b"d");
    let screen = terminal.wait_for("ask 1 of 1");
    assert!(screen.contains("command  echo second"), "{screen}");
    assert!(screen.contains("└ denied") && screen.contains("WAITS FOR YOU · 1 of 1"), "{screen}");
    allow(&mut terminal);
    let screen = terminal.wait_for("Both calls have ended");
    assert!(screen.contains("└ allowed once") && screen.contains("ok · exit 0"), "{screen}");
    let screen = terminal.wait("both results in the answer", |text| text.contains("it answered"));
    assert!(screen.contains("you did not allow it"), "{screen}");
    quit(terminal);
}

#[test]
fn an_open_call_has_its_result_while_the_gated_one_waits() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 100, 40);
    terminal.wait_for("assistant is here");
    terminal.say("calls both");
    terminal.wait("a card and a result", |text| {
        let ended = |line: &str| line.contains("time.get_current_date_and_time") && line.trim_end().ends_with("ok");
        text.contains("WAITS FOR YOU · 1 of 1") && text.lines().any(ended)
    });
    allow(&mut terminal);
    terminal.wait_for("Both calls have ended");
    quit(terminal);
}

#[test]
fn two_hundred_keys_while_a_card_arrives_answer_nothing_and_none_is_lost() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &[], 120, 40);
    terminal.wait_for("assistant is here");
    // Every key that answers or turns a card is among them.
    let keys: String = "adsDevnpgasdfjklaydAS".chars().cycle().take(200).collect();
    terminal.say("run `touch burst`");
    let mut typed = String::new();
    for key in keys.chars() {
        typed.push(key);
        terminal.send(key.to_string().as_bytes());
        // As fast as a screen can show it: the card comes up somewhere in the middle.
        terminal.wait("what was typed", |text| draft(text) == typed);
        if typed.len() == 1 {
            assert!(!terminal.text().contains("WAITS FOR YOU"), "the card was there before the burst");
        }
    }
    let screen = terminal.wait_for("WAITS FOR YOU · 1 of 1");
    assert_eq!(draft(&screen), keys);
    assert!(!home.work().join("burst").exists());

    // The same as one write, while the card is there.
    terminal.send(b"\x15");
    terminal.wait("an empty draft", |text| draft(text).is_empty());
    terminal.type_text(&keys);
    terminal.wait("all keys", |text| draft(text) == keys);
    terminal.wait_for("WAITS FOR YOU · 1 of 1");
    terminal.send(key::CTRL_D);
    terminal.wait_for("WAITS FOR YOU · 1 of 1");
    focus_card(&mut terminal);
    terminal.send(b"d");
    terminal.wait_for("You did not allow `touch burst`");
    assert!(!home.work().join("burst").exists());
}
