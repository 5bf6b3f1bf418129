//! The page of the first run: what is not agreed to is not written, and the terminal is given back with every answer.

use rustix::process::Signal;

use crate::common::Home;
use crate::common::pty::{BINARY, Terminal};
use crate::key;
use crate::restored::assert_whole;

/// The page in a new home, at a size.
fn asked(home: &Home, columns: u16, rows: u16) -> Terminal {
    let terminal = Terminal::start(home, &[], columns, rows);
    terminal.wait_for("Enter writes it and goes on");
    terminal
}

#[test]
fn whoever_leaves_has_nothing_written() {
    for keys in [key::ESC, key::CTRL_C, key::CTRL_D] {
        let home = Home::empty();
        let mut terminal = asked(&home, 100, 30);
        terminal.send(b"y q");
        terminal.send(keys);
        let exited = terminal.exit();
        assert_eq!(exited.code, 0, "{keys:?}");
        assert!(exited.text.contains("Nothing was written."), "{}", exited.text);
        assert!(!home.state().exists());
        assert_whole(&exited);
    }
}

#[test]
fn a_signal_has_nothing_written() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::empty();
        let terminal = asked(&home, 100, 30);
        terminal.signal(signal);
        let exited = terminal.exit();
        assert_eq!(exited.code, 130, "{signal:?}");
        assert!(!home.state().exists());
        assert_whole(&exited);
    }
}

#[test]
fn another_size_draws_it_again_and_one_without_room_cannot_be_agreed_to() {
    let home = Home::empty();
    let mut terminal = asked(&home, 100, 30);
    terminal.resize(20, 5);
    terminal.wait_for("needs 60x15");
    terminal.send(key::ENTER);
    terminal.resize(80, 24);
    terminal.wait_for("Enter writes it and goes on");
    assert!(!home.state().exists());
    terminal.send(key::ENTER);
    terminal.wait_for("assistant is here");
    assert!(home.state().join("config.toml").exists());
    crate::quit(terminal);
}

#[test]
fn a_model_string_that_is_none_is_said_before_anything_is_asked_or_written() {
    let home = Home::empty();
    let exited = Terminal::start(&home, &["--model", "nonsense"], 100, 30).exit();
    assert_eq!(exited.code, 2);
    assert!(exited.text.contains("unknown provider"), "{}", exited.text);
    assert!(!home.state().exists() && exited.modes_are_as_before);
}

#[test]
fn a_folder_that_takes_nothing_is_a_failure_and_a_sentence() {
    let home = Home::empty();
    // There is nothing to read behind the link, and no folder can be made where it stands.
    std::os::unix::fs::symlink(home.work().join("absent/absent"), home.state()).unwrap();
    let mut terminal = Terminal::start(&home, &[], 100, 30);
    terminal.wait_for("Enter writes it and goes on");
    terminal.send(key::ENTER);
    let exited = terminal.exit();
    assert_eq!(exited.code, 1, "{}", exited.text);
    assert!(exited.text.contains("could not be written"), "{}", exited.text);
    assert_whole(&exited);
}

#[test]
fn a_terminal_that_shows_no_screen_is_told_so_and_nothing_is_written() {
    let home = Home::empty();
    let exited = Terminal::start_program(&home, &["env", "TERM=dumb", BINARY], 100, 30).exit();
    assert_eq!(exited.code, 2);
    assert!(exited.text.contains("`kokua run -p TEXT` answers without one"), "{}", exited.text);
    assert!(!home.state().exists() && exited.modes_are_as_before);
}
