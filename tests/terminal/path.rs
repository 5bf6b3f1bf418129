//! The whole way of a first day on the rehearsal model: first run, chat, cards, a load, panes, quit, and the day after.

use std::process::Command;

use crate::common::pty::{BINARY, Terminal};
use crate::common::{Home, example_line};
use crate::{allow, count, draft, focus_card, idle, key, quit};

/// How the program is started.
fn with_network() -> Vec<&'static str> {
    vec![BINARY]
}

/// In a network of its own in which nothing is connected, if this machine lets anybody make one.
fn without_network() -> Option<Vec<&'static str>> {
    let works = Command::new("unshare").args(["-rn", "true"]).output().is_ok_and(|out| out.status.success());
    works.then(|| vec!["unshare", "-rn", BINARY])
}

#[test]
fn from_the_first_run_to_the_next_day() {
    first_day(&with_network());
}

#[test]
fn from_the_first_run_to_the_next_day_with_the_network_unplugged() {
    match without_network() {
        Some(program) => first_day(&program),
        None => eprintln!("not run: `unshare -rn` does not work here"),
    }
}

fn first_day(program: &[&str]) {
    let home = Home::empty();
    let config = home.state().join("config.toml");
    let mut terminal = Terminal::start_program(&home, program, 100, 50);

    // 1. The first run says what it will write and where, and writes nothing before Enter.
    let offer = terminal.wait_for("Enter writes it and goes on");
    assert!(offer.contains(&config.display().to_string()), "{offer}");
    assert!(offer.contains("[compute].sandbox is \"off\"") && offer.contains("as $KOKUA_MODEL says"), "{offer}");
    assert!(!home.state().exists());
    terminal.send(key::ENTER);

    // 2. The rehearsal model is named as such.
    let screen = terminal.wait_for("assistant is here");
    assert_eq!(std::fs::read_to_string(&config).unwrap(), include_str!("../../config.example.toml"));
    assert!(screen.lines().next().unwrap().contains("rehearsal (no real model)"), "{screen}");

    // 3. A streamed answer, with a rule on each call.
    terminal.say("what can you do");
    terminal.wait_for("core.available_tools");
    // Before the answer has filled the screen: what the strip says at a start takes rows from it.
    terminal.wait_for("── call 2 · 26 tools · ");
    let screen = terminal.wait_for("think about rain, stream 200");
    assert!(!screen.contains("**rehearsal"), "Markdown is drawn, not shown:\n{screen}");

    // 4. A call that asks: the draft goes on meanwhile, and only a focused card takes keys.
    terminal.say("run `ls`");
    let screen = terminal.wait_for("WAITS FOR YOU · 1 of 1");
    assert!(screen.contains("Allow assistant to run compute.run_command? ── review"), "{screen}");
    let (confirm, review) = (example_line("confirm = "), example_line("review = "));
    assert!(screen.contains(&format!("[assistant.tools] line {review}")), "{screen}");
    terminal.type_text("add a and d");
    terminal.wait("the draft", |text| draft(text) == "add a and d" && text.contains("WAITS FOR YOU"));
    allow(&mut terminal);
    let screen = terminal.wait_for("hello.txt");
    assert!(screen.contains("ok · exit 0") && screen.contains("└ allowed once"), "{screen}");
    assert_eq!(draft(&screen), "add a and d");
    terminal.send(b"\x15");
    terminal.wait("an empty draft", |text| draft(text).is_empty());

    // Denied: the turn goes on with the denial.
    terminal.say("run `touch denied`");
    terminal.wait_for("WAITS FOR YOU");
    focus_card(&mut terminal);
    terminal.send(b"d");
    let screen = terminal.wait_for("You did not allow `touch denied`, so it did not run.");
    assert!(screen.contains("└ denied"), "{screen}");
    assert!(!home.work().join("denied").exists());

    // Denied with a reason: the model reads it.
    terminal.say("run `touch why`");
    terminal.wait_for("WAITS FOR YOU");
    focus_card(&mut terminal);
    terminal.send(b"D");
    terminal.type_text("not on a Monday");
    terminal.wait_for("not on a Monday");
    terminal.send(key::ENTER);
    terminal.wait_for("You did not allow `touch why`, so it did not run.");
    let screen = terminal.wait("the reason twice: in the receipt and as the model read it", |text| {
        text.lines().any(|line| line.contains("└ denied") && line.contains("not on a Monday"))
            && count(text, "│ not on a Monday") == 1
    });
    assert!(!screen.contains("WAITS FOR YOU"), "{screen}");
    idle(&terminal);
    assert!(!home.work().join("why").exists());

    // 5. A deferred toolset is loaded: the next call's rule shows the growth, F3 the state, F4 the policy with its line.
    terminal.say("load todo");
    let screen = terminal.wait_for("which toolset grew it.");
    assert!(screen.contains("27 tools (+1 todo)"), "{screen}");
    terminal.send(key::F3);
    terminal.wait("todo as loaded", |text| row_of(text, "todo").is_some_and(|row| row.starts_with("L ")));
    terminal.send(key::F4);
    let screen = terminal.wait_for(&format!("inherited from [assistant.tools], line {confirm}"));
    assert!(screen.contains("compute.run_command") && screen.contains(&format!("line {review}")), "{screen}");
    terminal.send(key::ESC);
    terminal.wait_gone("inherited from");

    // 6. They leave, and start again: the conversation is there, and what it loaded is there from the start.
    let exited = quit(terminal);
    assert_eq!(exited.code, 0);
    let terminal = Terminal::start_program(&home, program, 100, 50);
    let screen = terminal.wait_for("which toolset grew it.");
    assert!(screen.contains("load todo") && screen.contains("not on a Monday"), "{screen}");
    assert!(screen.lines().next().unwrap().contains("27 tools"), "{screen}");
    let mut terminal = terminal;
    terminal.send(key::F3);
    terminal.wait("todo as preloaded", |text| row_of(text, "todo").is_some_and(|row| row.starts_with("L ")));
    assert_eq!(quit(terminal).code, 0);
}

/// A toolset's row in the tools pane, from its letter.
fn row_of<'a>(screen: &'a str, toolset: &str) -> Option<&'a str> {
    let at = screen.find("tools of assistant")?;
    screen[at..].lines().find_map(|line| {
        let line = line.trim_start_matches(['›', ' ', '│']);
        (line.split_whitespace().nth(1) == Some(toolset)).then_some(line)
    })
}
