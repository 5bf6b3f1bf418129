//! The terminal is given back whole, whatever ends or stops the program (rule 12 of the screens).

use rustix::process::Signal;

use crate::common::Home;
use crate::common::pty::{BINARY, Exited, Terminal};
use crate::{idle, key, quit};

/// What is taken, and what gives it back.
const MODES: &[(&str, &str, &str)] = &[
    ("alternate screen", "\x1b[?1049h", "\x1b[?1049l"),
    ("bracketed paste", "\x1b[?2004h", "\x1b[?2004l"),
    ("focus reports", "\x1b[?1004h", "\x1b[?1004l"),
    ("mouse presses", "\x1b[?1000h", "\x1b[?1000l"),
    ("mouse coordinates", "\x1b[?1006h", "\x1b[?1006l"),
    ("hidden cursor", "\x1b[?25l", "\x1b[?25h"),
    ("synchronized update", "\x1b[?2026h", "\x1b[?2026l"),
    ("keyboard flags", "\x1b[>1u", "\x1b[<1u"),
    ("title", "\x1b[22;0t", "\x1b[23;0t"),
];

/// The modes that `raw` leaves set.
fn left_set(raw: &[u8]) -> Vec<&'static str> {
    let raw = String::from_utf8_lossy(raw);
    let set =
        |(_, on, off): &&(&str, &str, &str)| raw.rfind(on).is_some_and(|on| raw.rfind(off).is_none_or(|off| off < on));
    MODES.iter().filter(set).map(|(name, ..)| *name).collect()
}

pub(crate) fn assert_whole(exited: &Exited) {
    assert_eq!(left_set(&exited.raw), Vec::<&str>::new());
    assert!(exited.modes_are_as_before);
    assert!(!exited.text.contains("F1 help"), "the shell's own screen is back:\n{}", exited.text);
}

/// A running program with a mouse, which is one thing more to give back.
fn started(home: &Home) -> Terminal {
    let mut terminal = Terminal::start(home, &[], 100, 30);
    terminal.wait_for("assistant is here");
    terminal.say("/mouse");
    terminal.wait_for("mouse on");
    assert_ne!(left_set(&terminal.raw()), Vec::<&str>::new());
    assert!(!terminal.modes_are_as_before());
    terminal
}

#[test]
fn on_quit() {
    let exited = quit(started(&Home::new()));
    assert_eq!(exited.code, 0);
    assert_whole(&exited);
}

#[test]
fn on_ctrl_d() {
    let mut terminal = started(&Home::new());
    terminal.send(key::CTRL_D);
    let exited = terminal.exit();
    assert_eq!(exited.code, 0);
    assert_whole(&exited);
}

#[test]
fn on_signals_that_ask_to_end_also_while_a_turn_runs() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::new();
        let mut terminal = started(&home);
        terminal.say("stream 5000");
        terminal.wait_for("light falls through");
        terminal.signal(signal);
        let exited = terminal.exit();
        assert_eq!(exited.code, 130, "{signal:?}");
        assert_whole(&exited);
        // What was said up to there was kept.
        let again = Terminal::start(&home, &[], 100, 30);
        again.wait_for("light falls through");
    }
}

#[test]
fn a_wrong_configuration_never_takes_it() {
    let home = Home::with_config("[assistant]\nagent = \"nobody\"\n\n[agents.assistant.tools]\navailible = []\n");
    let exited = Terminal::start(&home, &[], 100, 30).exit();
    assert_eq!(exited.code, 2);
    assert!(exited.modes_are_as_before);
    let raw = String::from_utf8_lossy(&exited.raw);
    assert!(MODES.iter().all(|(_, on, _)| !raw.contains(on)), "{raw}");
    assert!(exited.text.contains("config.toml:5"), "{}", exited.text);
    assert!(exited.text.contains("available"), "a near miss is named: {}", exited.text);
}

#[test]
fn on_suspend_and_it_comes_back_on_fg() {
    let home = Home::new();
    // A shell that controls jobs: without one the system stops nobody.
    let mut terminal = Terminal::start_program(&home, &["sh", "-i"], 100, 30);
    terminal.type_text("PS1='shell> '\r");
    terminal.wait("the shell", |text| text.trim_end().ends_with("shell>"));
    terminal.type_text(&format!("{BINARY}\r"));
    terminal.wait_for("assistant is here");
    terminal.say("hello");
    terminal.wait_for("Hello! I am the rehearsal model");
    terminal.type_text("a draft");
    terminal.wait_for("› a draft");
    terminal.send(key::CTRL_Z);
    terminal.wait("the shell again", |text| !text.contains("F1 help") && text.trim_end().ends_with("shell>"));
    assert_eq!(left_set(&terminal.raw()), Vec::<&str>::new());
    // The shell asks the terminal itself.
    terminal.type_text("stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo|isig' | sort | tr '\\n' '+'\r");
    terminal.wait_for("echo+icanon+isig+");
    terminal.type_text("fg\r");
    terminal.wait("the screen as it was", |text| {
        text.contains("Hello! I am the rehearsal model") && text.contains("› a draft") && !text.contains("shell>")
    });
    terminal.type_text(" goes on");
    terminal.wait_for("› a draft goes on");
    idle(&terminal);
    terminal.send(key::CTRL_C);
    terminal.wait_gone("a draft goes on");
    terminal.send(key::CTRL_D);
    terminal.wait("the shell", |text| text.trim_end().ends_with("shell>"));
    assert_eq!(left_set(&terminal.raw()), Vec::<&str>::new());
    terminal.type_text("exit\r");
    terminal.exit();
}

#[test]
fn a_stop_from_outside_is_recovered_from() {
    let home = Home::new();
    let mut terminal = started(&home);
    let entered = |raw: &[u8]| String::from_utf8_lossy(raw).matches("\x1b[?1049h").count();
    terminal.signal(Signal::STOP);
    terminal.signal(Signal::CONT);
    terminal.wait_raw("the alternate screen again", |raw| entered(raw) == 2);
    terminal.wait_for("assistant is here");
    terminal.say("hello");
    terminal.wait_for("Hello! I am the rehearsal model");
    assert_whole(&quit(terminal));
}
