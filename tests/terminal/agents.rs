//! Agents at work, watched: a crew of three levels on two models, killed in the middle, and with another conversation in view.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::common::pty::Terminal;
use crate::common::{Home, only_log};
use crate::{focus_card, idle, key, quit};

const RESEARCHER: &str = "Allow researcher#2 < assistant to run compute.run_command?";
const CODER_WRITES: &str = "Allow coder#1 < assistant to run fs_write.write_file?";
const CODER_RUNS: &str = "Allow coder#1 < assistant to run compute.run_command?";
const TESTER: &str = "Allow tester#1 < coder#1 < assistant to run compute.run_command?";

/// What the model says of a coder that a person stopped.
const STOPPED: &str =
    "The crew has ended; of the last I read: Sub-agent 'coder#1' was stopped by the user before it finished.";

fn home() -> Home {
    Home::with_config(include_str!("crew/config.toml"))
}

fn script(home: &Home) -> String {
    home.script(include_str!("crew/script.toml"))
}

fn start(home: &Home, model: &str) -> Terminal {
    Terminal::start(home, &["--model", model], 140, 50)
}

/// What the transcript says, without the pane beside it, its lines joined.
fn told(screen: &str) -> String {
    let left = screen.lines().map(|line| line.split('│').next().unwrap_or_default());
    left.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// What the pane beside the transcript says.
fn pane(screen: &str) -> impl Iterator<Item = &str> {
    screen.lines().filter_map(|line| line.rsplit_once('│')).map(|(_, right)| right)
}

/// The word for how it stands with an agent, in the tree of F2.
fn state<'a>(screen: &'a str, address: &str) -> Option<&'a str> {
    pane(screen).find_map(|row| {
        let mut words = row.split_whitespace().skip_while(|word| *word != address);
        words.next()?;
        words.next()
    })
}

/// The tree of F2 says this of the agents.
fn stand(screen: &str, states: &[(&str, &str)]) -> bool {
    screen.contains("agents  F2") && states.iter().all(|(address, word)| state(screen, address) == Some(word))
}

fn wait_states(terminal: &Terminal, states: &[(&str, &str)]) -> String {
    terminal.wait(&format!("{states:?}"), |screen| stand(screen, states))
}

/// The top row says so many asks; none: that it says nothing of asks.
fn asks(screen: &str, count: usize) -> bool {
    let top = screen.lines().next().unwrap_or_default();
    match count {
        0 => !top.contains(" ask"),
        1 => top.contains(" 1 ask "),
        _ => top.contains(&format!(" {count} asks ")),
    }
}

/// Begins the crew's turn, and waits until three of its calls ask.
fn begin(terminal: &mut Terminal) -> String {
    terminal.wait_for("assistant is here");
    terminal.say("crew");
    terminal.wait("three asks", |screen| {
        asks(screen, 3) && ["echo looked", "note.txt", "echo tested"].iter().all(|call| screen.contains(call))
    })
}

/// From a focused card to the one with this question.
fn to_card(terminal: &mut Terminal, question: &str) {
    loop {
        let screen = terminal.wait_for("─ focused ─");
        if screen.contains(question) {
            return;
        }
        let line = |screen: &str| screen.lines().find(|line| line.starts_with("─ ask ")).map(str::to_owned);
        let before = line(&screen);
        terminal.send(b"n");
        terminal.wait("another ask", |screen| line(screen) != before);
    }
}

/// Allows the focused card, which has this question. One that has just come up says that it takes no yes yet; then again.
fn allow(terminal: &mut Terminal, question: &str) {
    loop {
        terminal.send(b"a");
        let screen =
            terminal.wait("an answer to 'a'", |screen| !screen.contains(question) || screen.contains("just come up"));
        if !screen.contains(question) {
            return;
        }
        terminal.wait_gone("just come up");
    }
}

/// Selects an agent in the tree, which has the keys.
fn select(terminal: &mut Terminal, address: &str) {
    terminal.send(key::F2);
    loop {
        let screen = terminal.wait_for("▸agents  F2");
        let selected = |screen: &str| pane(screen).find(|row| row.starts_with('›')).map(str::to_owned);
        let row = selected(&screen);
        if row.as_ref().is_some_and(|row| row.split_whitespace().any(|word| word == address)) {
            return;
        }
        terminal.send(key::DOWN);
        terminal.wait("another row", |screen| selected(screen) != row);
    }
}

/// The records of the only log: whose, and what.
fn records(home: &Home) -> Vec<(u64, Value)> {
    let log = std::fs::read_to_string(only_log(&home.state())).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| match line["record"].as_str() {
            Some("worker") => (line["node"].as_u64().unwrap(), line["of"].clone()),
            _ => (0, line),
        })
        .collect()
}

/// How each call ended, by its tool and arguments: every call of the log has one ending, under the same agent.
fn endings(home: &Home) -> BTreeMap<String, Value> {
    let records = records(home);
    let mut found = BTreeMap::new();
    let mut count = 0;
    for (node, record) in &records {
        let parts = record.pointer("/message/parts").and_then(Value::as_array).into_iter().flatten();
        for call in parts.filter(|part| part["part"] == "call") {
            let of = |(whose, ending): &&(u64, Value)| {
                whose == node && ending["record"] == "call_ended" && ending["call"] == call["id"]
            };
            let endings: Vec<_> = records.iter().filter(of).collect();
            assert_eq!(endings.len(), 1, "{call}: {endings:?}");
            count += 1;
            found.insert(call["arguments"].as_str().unwrap().to_owned(), endings[0].1.clone());
        }
    }
    let all = records.iter().filter(|(_, record)| record["record"] == "call_ended").count();
    assert_eq!(all, count, "endings of no call");
    found
}

/// How the call with these words in its arguments ended.
fn ending<'a>(endings: &'a BTreeMap<String, Value>, words: &str) -> &'a Value {
    endings.iter().find(|(arguments, _)| arguments.contains(words)).unwrap_or_else(|| panic!("{words}: {endings:?}")).1
}

/// What a server that speaks Ollama's wire answers: the same crew as in `crew/script.toml`.
fn answer(request: &Request) -> ResponseTemplate {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    let spoke = messages.iter().rposition(|message| message["role"] == "assistant");
    let since = &messages[spoke.map_or(0, |at| at + 1)..];
    let results: Vec<_> = since.iter().filter(|message| message["role"] == "tool").collect();
    let answered: Vec<_> = results.iter().map(|message| message["tool_name"].as_str().unwrap()).collect();
    let result = results.last().map(|message| text(message)).unwrap_or_default();
    let users: Vec<_> = messages.iter().filter(|message| message["role"] == "user").map(text).collect();
    let heard = since.iter().find(|message| message["role"] == "user").map(text);
    let system = text(&messages[0]);
    let entry = system.contains("You are the assistant.");
    let worker = system.contains("You are a researcher.")
        || system.contains("You are the coder.")
        || system.contains("You are the tester.");
    let said = if entry { users.last().unwrap() } else { &users[0] };

    let run = |command: &str| ("run_command", json!({"command": command}));
    let spawn = |agent: &str, task: &str| ("spawn_subagent", json!({"agent_type": agent, "task": task}));
    let (words, calls) = match (said.as_str(), &answered[..]) {
        // A title is asked for: nobody of the crew.
        _ if !entry && !worker => (said.clone(), vec![]),
        ("crew", []) => (
            "Three at once.".to_owned(),
            vec![spawn("researcher", "look one"), spawn("researcher", "look two"), spawn("coder", "build it")],
        ),
        ("crew", _) => (format!("The crew has ended; of the last I read: {result}"), vec![]),
        ("look one", _) => ("One is fine.".to_owned(), vec![]),
        ("look two", []) => ("I look.".to_owned(), vec![run("echo looked")]),
        ("look two", _) => {
            (heard.map_or("Two is fine.".to_owned(), |words| format!("Two is fine, and I was told: {words}")), vec![])
        }
        ("build it", []) => {
            let write = ("write_file", json!({"path": "note.txt", "content": "a note\n"}));
            ("I write.".to_owned(), vec![write, spawn("tester", "test it")])
        }
        ("build it", tools) if tools.contains(&"write_file") => ("One thing more.".to_owned(), vec![run("echo last")]),
        ("build it", _) => ("It is built.".to_owned(), vec![]),
        ("test it", []) => ("I test.".to_owned(), vec![run("echo tested")]),
        ("test it", _) => ("It works.".to_owned(), vec![]),
        (other, _) => (format!("You said {other}."), vec![]),
    };
    let mut lines: Vec<Value> = words
        .split_inclusive(' ')
        .map(|piece| json!({"message": {"role": "assistant", "content": piece}, "done": false}))
        .collect();
    lines.extend(calls.into_iter().map(|(name, arguments)| {
        let calls = json!([{"function": {"name": name, "arguments": arguments}}]);
        json!({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": false})
    }));
    lines.push(json!({
        "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 100, "eval_count": 10,
    }));
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    ResponseTemplate::new(200).set_body_raw(body.into_bytes(), "application/x-ndjson")
}

#[test]
fn a_crew_on_the_rehearsal_model() {
    let home = home();
    let model = script(&home);
    crew(&home, &model, 9);
}

#[test]
fn a_crew_on_a_server_that_speaks_ollama() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(async {
        let server = MockServer::start().await;
        Mock::given(method("POST")).and(path("/api/chat")).respond_with(answer).mount(&server).await;
        server
    });
    // A call more: a title.
    crew(&home(), &format!("ollama:crew@{}", server.uri()), 10);

    // What was typed to one researcher reached that one, and in its next request.
    let requests = runtime.block_on(server.received_requests()).unwrap();
    let told = requests.iter().filter(|request| request.url.path() == "/api/chat").filter_map(|request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let messages = body["messages"].as_array().unwrap().clone();
        messages.iter().any(|message| message["content"] == "look at docs too").then_some(messages)
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let roles: Vec<_> = told[0].iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(told[0][1]["content"], "look two");
}

/// The whole way: three at once, asks in the other order, a message to one, one stopped, and the day after.
fn crew(home: &Home, model: &str, calls: usize) {
    let mut terminal = start(home, model);
    let screen = begin(&mut terminal);
    assert!(screen.contains(&format!("─ ask 1 of 3 ── {RESEARCHER} ── confirm ")), "{screen}");
    for (call, place) in [("\"echo looked\"", 1), ("note.txt", 2), ("\"echo tested\"", 3)] {
        let waits = format!("WAITS FOR YOU · {place} of 3");
        assert!(screen.lines().any(|line| line.contains(call) && line.contains(&waits)), "{call}: {screen}");
    }
    terminal.send(key::F2);
    let asking = [("assistant", "running"), ("researcher#1", "done"), ("researcher#2", "asks"), ("coder#1", "asks")];
    let screen = wait_states(&terminal, &[&asking[..], &[("tester#1", "asks")]].concat());
    assert!(screen.contains("4 of 5 run"), "{screen}");

    // The last one first; then the coder's, which goes on to another call that asks.
    focus_card(&mut terminal);
    terminal.wait_for(&format!("─ ask 1 of 3 ── {RESEARCHER}"));
    terminal.send(b"n");
    terminal.wait_for(&format!("─ ask 2 of 3 ── {CODER_WRITES}"));
    terminal.send(b"n");
    terminal.wait_for(&format!("─ ask 3 of 3 ── {TESTER}"));
    allow(&mut terminal, TESTER);
    let screen = wait_states(&terminal, &[&asking[..], &[("tester#1", "done")]].concat());
    assert!(asks(&screen, 2), "{screen}");
    assert!(!home.work().join("note.txt").exists());
    to_card(&mut terminal, CODER_WRITES);
    allow(&mut terminal, CODER_WRITES);
    terminal.wait("the coder's next ask", |screen| {
        asks(screen, 2)
            && screen.lines().any(|line| line.contains("\"echo last\"") && line.contains("WAITS FOR YOU · 2 of 2"))
    });
    assert_eq!(std::fs::read_to_string(home.work().join("note.txt")).unwrap(), "a note\n");

    // A message to one of two researchers, whose call asks: it arrives at its next round.
    select(&mut terminal, "researcher#2");
    terminal.send(key::ENTER);
    let screen = terminal.wait_for(" to researcher#2 › ");
    assert!(screen.starts_with(" researcher#2 < assistant "), "{screen}");
    assert!(screen.contains("task       look two"), "{screen}");
    terminal.say("look at docs too");
    let screen = terminal.wait_for("look at docs too  (queued: joins the turn at its next round)");
    assert!(!screen.contains("I was told"), "{screen}");
    focus_card(&mut terminal);
    to_card(&mut terminal, RESEARCHER);
    allow(&mut terminal, RESEARCHER);
    let screen = terminal.wait_for("Two is fine, and I was told: look at docs too");
    let screen =
        if screen.contains("has ended ›") { screen } else { terminal.wait_for("researcher#2 has ended ›") };
    assert!(!screen.contains("(queued"), "{screen}");
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}:\n{screen}"));
    let order = ["└ allowed once · compute.run_command", "you        look at docs too", "── call 2 ·", "I was told: "];
    assert!(order.map(place).is_sorted(), "{screen}");

    // Back; the coder alone is stopped, and the assistant goes on with what came of that.
    terminal.send(key::ESC);
    terminal.wait_gone("─ focused ─");
    terminal.send(key::ESC);
    terminal.wait_for(" to assistant › ");
    select(&mut terminal, "coder#1");
    let screen = wait_states(&terminal, &[("researcher#2", "done"), ("coder#1", "asks"), ("assistant", "running")]);
    assert!(asks(&screen, 1) && screen.contains(&format!("─ ask 1 of 1 ── {CODER_RUNS}")), "{screen}");
    terminal.send(b"x");
    let screen = terminal.wait("the assistant's answer", |screen| told(screen).contains(STOPPED));
    assert!(asks(&screen, 0) && !screen.contains("WAITS FOR YOU") && !screen.contains("─ ask "), "{screen}");
    idle(&terminal);
    let ended = [
        ("assistant", "done"),
        ("researcher#1", "done"),
        ("researcher#2", "done"),
        ("coder#1", "stopped"),
        ("tester#1", "done"),
    ];
    wait_states(&terminal, &ended);
    terminal.wait_for(&format!("── turn · 5 agents · {calls} calls · in "));
    let endings = endings(home);
    assert_eq!(endings.len(), 8);
    for (words, ended, answered) in [
        ("echo looked", "ok", "allowed_once"),
        ("note.txt", "ok", "allowed_once"),
        ("echo tested", "ok", "allowed_once"),
        ("echo last", "interrupted", "withdrawn"),
    ] {
        let ending = ending(&endings, words);
        assert_eq!((&ending["ending"], &ending["answer"]["answer"]), (&json!(ended), &json!(answered)), "{words}");
    }
    for (words, ended) in [("look one", "ok"), ("look two", "ok"), ("build it", "failed"), ("test it", "ok")] {
        assert_eq!(ending(&endings, words)["ending"], ended, "{words}");
    }

    // The day after: the same tree, and each can be looked at.
    terminal.send(key::ESC);
    terminal.wait_gone("▸agents");
    assert_eq!(quit(terminal).code, 0);
    let mut terminal = start(home, model);
    terminal.wait("the conversation", |screen| told(screen).contains(STOPPED));
    select(&mut terminal, "researcher#2");
    wait_states(&terminal, &ended);
    terminal.send(key::ENTER);
    let screen = terminal.wait_for("Two is fine, and I was told: look at docs too");
    assert!(screen.contains("researcher#2 has ended ›"), "{screen}");
}

/// Kills the program, starts it again and looks at what is left: no ask, this tree, one ending of every call; and it goes on.
fn killed(home: &Home, model: &str, terminal: Terminal, states: &[(&str, &str)]) -> BTreeMap<String, Value> {
    terminal.signal(Signal::KILL);
    terminal.exit();
    let mut terminal = start(home, model);
    terminal.wait_for("── interrupted: the program ended before the turn did ──");
    terminal.send(key::F2);
    let screen = wait_states(&terminal, states);
    assert!(asks(&screen, 0) && !screen.contains("WAITS FOR YOU") && !screen.contains("─ ask "), "{screen}");
    assert!(!screen.contains("running"), "{screen}");
    terminal.send(key::ESC);
    terminal.wait_gone("▸agents");
    terminal.say("hello again");
    let screen = terminal.wait_for("You said hello again.");
    assert!(asks(&screen, 0) && !screen.contains("WAITS FOR YOU"), "{screen}");
    quit(terminal);
    endings(home)
}

const INTERRUPTED: [(&str, &str); 2] = [("assistant", "interrupted"), ("researcher#1", "done")];

#[test]
fn killed_with_three_asks_open() {
    let home = home();
    let model = script(&home);
    let mut terminal = start(&home, &model);
    begin(&mut terminal);
    let left = [("researcher#2", "interrupted"), ("coder#1", "interrupted"), ("tester#1", "interrupted")];
    let endings = killed(&home, &model, terminal, &[INTERRUPTED, [left[0], left[1]], [left[1], left[2]]].concat());
    assert_eq!(endings.len(), 7);
    assert_eq!(ending(&endings, "look one")["ending"], "ok");
    for words in ["look two", "build it", "test it", "echo looked", "note.txt", "echo tested"] {
        assert_eq!(ending(&endings, words)["ending"], "interrupted", "{words}");
    }
    assert!(!home.work().join("note.txt").exists());
}

#[test]
fn killed_when_two_of_three_were_answered_and_a_message_waits() {
    let home = home();
    let model = script(&home);
    let mut terminal = start(&home, &model);
    begin(&mut terminal);
    focus_card(&mut terminal);
    to_card(&mut terminal, TESTER);
    allow(&mut terminal, TESTER);
    to_card(&mut terminal, CODER_WRITES);
    allow(&mut terminal, CODER_WRITES);
    terminal.wait_for("\"echo last\"");
    select(&mut terminal, "researcher#2");
    terminal.send(key::ENTER);
    terminal.wait_for(" to researcher#2 › ");
    terminal.say("look at docs too");
    terminal.wait_for("look at docs too  (queued");
    let left = [("researcher#2", "interrupted"), ("coder#1", "interrupted"), ("tester#1", "done")];
    let endings = killed(&home, &model, terminal, &[INTERRUPTED, [left[0], left[1]], [left[1], left[2]]].concat());
    assert_eq!(endings.len(), 8);
    for words in ["look one", "test it", "note.txt", "echo tested"] {
        assert_eq!(ending(&endings, words)["ending"], "ok", "{words}");
    }
    for words in ["look two", "build it", "echo looked", "echo last"] {
        assert_eq!(ending(&endings, words)["ending"], "interrupted", "{words}");
    }
    assert!(home.work().join("note.txt").exists());
}

#[test]
fn killed_when_one_was_stopped_and_another_asks() {
    let home = home();
    let model = script(&home);
    let mut terminal = start(&home, &model);
    begin(&mut terminal);
    select(&mut terminal, "coder#1");
    terminal.send(b"x");
    let screen = wait_states(&terminal, &[("coder#1", "stopped"), ("tester#1", "stopped"), ("researcher#2", "asks")]);
    assert!(asks(&screen, 1), "its worker's card went with it:\n{screen}");
    let left = [("researcher#2", "interrupted"), ("coder#1", "stopped"), ("tester#1", "stopped")];
    let endings = killed(&home, &model, terminal, &[INTERRUPTED, [left[0], left[1]], [left[1], left[2]]].concat());
    assert_eq!(endings.len(), 7);
    for (words, answered) in [("note.txt", json!("withdrawn")), ("echo tested", json!("withdrawn"))] {
        assert_eq!(ending(&endings, words)["answer"]["answer"], answered, "{words}");
    }
    assert_eq!(ending(&endings, "build it")["ending"], "failed");
    assert_eq!(ending(&endings, "look two")["ending"], "interrupted");
}

/// What F6 says of a conversation: its sign and word, from the row of this title.
fn conversation<'a>(screen: &'a str, title: &str) -> Option<&'a str> {
    pane(screen).find(|row| row.contains(&format!(" {title} "))).map(str::trim)
}

/// The crew works in a conversation that is out of view: a new one is.
fn left_alone(home: &Home) -> Terminal {
    let mut terminal = start(home, &script(home));
    begin(&mut terminal);
    terminal.say("/new");
    terminal.wait_for("assistant is here");
    terminal
}

#[test]
fn a_conversation_out_of_view_goes_on_and_asks_and_is_found_as_it_is() {
    let home = home();
    let mut terminal = left_alone(&home);
    let screen = terminal.wait_for(&format!("─ ask 1 of 3 ── in \"crew\" ── {RESEARCHER}"));
    assert!(screen.contains("answering it does not bring that conversation into view"), "{screen}");
    assert!(asks(&screen, 3), "{screen}");
    terminal.say("hello there");
    terminal.wait_for("You said hello there.");
    terminal.send(key::F6);
    terminal.wait("three asks of the crew", |screen| {
        conversation(screen, "crew").is_some_and(|row| row.contains("A crew") && row.contains("3 asks"))
    });

    // Answered from here, and it goes on there: the coder's last call asks when nobody looks at it.
    focus_card(&mut terminal);
    allow(&mut terminal, RESEARCHER);
    to_card(&mut terminal, TESTER);
    allow(&mut terminal, TESTER);
    to_card(&mut terminal, CODER_WRITES);
    allow(&mut terminal, CODER_WRITES);
    let screen = terminal.wait_for(&format!("─ ask 1 of 1 ── in \"crew\" ── {CODER_RUNS}"));
    assert!(!told(&screen).contains("Three at once."), "another conversation is not drawn here:\n{screen}");
    assert!(home.work().join("note.txt").exists());

    // Back: what happened meanwhile is there.
    terminal.send(key::ESC);
    terminal.wait_gone("─ focused ─");
    terminal.say("/switch crew");
    let screen = terminal.wait_for(&format!("─ ask 1 of 1 ── {CODER_RUNS}"));
    assert!(told(&screen).contains("Three at once.") && screen.contains("\"echo last\""), "{screen}");
    terminal.send(key::F2);
    let stand = [("researcher#2", "done"), ("coder#1", "asks"), ("tester#1", "done"), ("assistant", "running")];
    wait_states(&terminal, &stand);

    // Away again, and something runs here while that one ends: running, then unread.
    terminal.send(key::ESC);
    terminal.wait_gone("▸agents");
    terminal.say("/new");
    terminal.wait_for("assistant is here");
    terminal.say("slowly");
    terminal.wait_for("─ running ");
    terminal.say("/switch hello there");
    terminal.wait_for("You said hello there.");
    terminal.send(key::F6);
    terminal.wait("one runs, one asks", |screen| {
        conversation(screen, "slowly").is_some_and(|row| row.contains("● slowly") && row.contains("running"))
            && conversation(screen, "crew").is_some_and(|row| row.contains("A crew") && row.contains("1 ask"))
    });
    focus_card(&mut terminal);
    allow(&mut terminal, CODER_RUNS);
    terminal.wait("the crew as unread", |screen| {
        asks(screen, 0)
            && conversation(screen, "crew").is_some_and(|row| row.contains("U crew") && row.contains("unread"))
    });
    terminal.say("/switch crew");
    let screen = terminal.wait_for("The crew has ended; of the last I read: It is built.");
    assert!(screen.contains("── turn · 5 agents · 10 calls · in "), "{screen}");
    terminal.wait("the crew as read", |screen| {
        conversation(screen, "crew").is_some_and(|row| row.starts_with("* ") && !row.contains("unread"))
    });

    // What runs is stopped where it is.
    terminal.say("/switch slowly");
    terminal.wait_for("─ running ");
    terminal.send(key::CTRL_C);
    quit(terminal);
}

/// F6 follows what was selected when the list is put in another order.
#[test]
fn the_selected_conversation_stays_selected_when_another_becomes_the_newest() {
    let home = home();
    let mut terminal = left_alone(&home);
    terminal.say("hello there");
    terminal.wait_for("You said hello there.");
    terminal.send(key::F6);
    let order = |screen: &str| {
        let rows: Vec<_> = pane(screen).map(str::to_owned).collect();
        let at = |title: &str| rows.iter().position(|row| row.contains(title));
        at("crew").zip(at("hello there"))
    };
    let selected = |screen: &str| pane(screen).any(|row| row.starts_with('›') && row.contains("hello there"));
    terminal.wait("it as the newest", |screen| order(screen).is_some_and(|(crew, hello)| hello < crew));
    terminal.send(key::HOME);
    terminal.wait("it as the selected one", selected);
    focus_card(&mut terminal);
    allow(&mut terminal, RESEARCHER);
    terminal.send(key::ESC);
    terminal.wait_gone("─ focused ─");
    terminal.send(key::F6);
    terminal.wait("the other above it", |screen| {
        order(screen).is_some_and(|(crew, hello)| crew < hello) && selected(screen)
    });
}
