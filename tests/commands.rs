//! `kokua agents`, `kokua agents --diff`, `kokua toolsets` and what a start says of each agent: the real binary.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and at the environment")]

mod common;

use std::process::Output;

use common::{Home, code};
use serde_json::{Value, json};

const SHIPPED: &str = include_str!("../config.example.toml");

fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn parsed(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"))
}

/// A home with the shipped configuration, and a changed copy of it as `name` in the working folder.
fn with_copy(name: &str, from: &str, to: &str) -> Home {
    let home = Home::new();
    assert!(SHIPPED.contains(from), "{from}");
    std::fs::write(home.work().join(name), SHIPPED.replacen(from, to, 1)).unwrap();
    home
}

#[test]
fn k4_a_gate_that_goes_is_a_gain_with_both_lines_and_exit_code_1() {
    let home = with_copy(
        "new.toml",
        "review = [\"compute.run_command\", \"compute.execute_python\", \"fs_write\"]",
        "review = [\"compute.run_command\", \"fs_write\"]",
    );
    std::fs::write(home.work().join("old.toml"), SHIPPED).unwrap();
    let out = home.kokua(&["agents", "--diff", "old.toml", "new.toml"]).output().unwrap();
    assert_eq!((code(&out), stderr(&out)), (1, String::new()));
    insta::assert_snapshot!("diff_gate", stdout(&out));
    // The other way round it is a loss.
    let out = home.kokua(&["agents", "--diff", "new.toml", "old.toml"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    assert!(stdout(&out).starts_with("Nothing is gained, 3 lost (-).\n"), "{out:?}");
}

#[test]
fn k4_without_a_second_file_it_is_the_configuration_in_force() {
    let home =
        with_copy("old.toml", "available = [\"fs\", \"messaging\", \"time\"]", "available = [\"messaging\", \"time\"]");
    let out = home.kokua(&["agents", "--diff", "old.toml", "--json"]).output().unwrap();
    let told = parsed(&out);
    assert_eq!(code(&out), 1, "{out:?}");
    assert_eq!((&told["gained"], &told["lost"], &told["not_compared"]), (&json!(4), &json!(0), &json!(0)));
    assert_eq!(told["new"], home.state().join("config.toml").to_str().unwrap());
    let researcher = &told["agents"][0];
    assert_eq!((&researcher["name"], told["agents"].as_array().unwrap().len()), (&json!("researcher"), 1));
    let line = 1 + SHIPPED.lines().position(|line| line == "available = [\"fs\", \"messaging\", \"time\"]").unwrap();
    assert_eq!(
        researcher["changes"][0],
        json!({"direction": "gain", "aspect": "tool", "subject": "fs.find_files",
               "old": {"text": "not available", "line": line}, "new": {"text": "available, runs without asking", "line": line}})
    );
    let (old, new) = (&researcher["tool_bytes"]["old"], &researcher["tool_bytes"]["new"]);
    assert!(old["resident"].as_u64() < new["resident"].as_u64(), "{researcher}");
    let out = home.kokua(&["--config", "old.toml", "agents", "--diff", "old.toml"]).output().unwrap();
    assert_eq!((code(&out), stdout(&out).lines().next()), (0, Some("Nothing is gained and nothing is lost.")));
    let out = home.kokua(&["--config", "old.toml", "agents", "--diff", "old.toml", "old.toml"]).output().unwrap();
    assert_eq!(code(&out), 2, "{out:?}");
}

#[test]
fn k4_tools_that_are_deferred_are_compared_and_an_agent_that_appears_gains() {
    let home = with_copy("old.toml", "\"time\", \"todo\", \"misc\"]", "\"time\", \"todo\"]");
    let out = home.kokua(&["agents", "--diff", "old.toml"]).output().unwrap();
    assert_eq!(code(&out), 1, "{out:?}");
    assert!(stdout(&out).contains("+ tool     misc.echo"), "{out:?}");
    std::fs::write(home.work().join("two.toml"), format!("{SHIPPED}\n[agents.idle]\n")).unwrap();
    let diff = |new: &str, old: &str| home.kokua(&["--config", new, "agents", "--diff", old]).output().unwrap();
    let (there, back) = (diff("two.toml", "../kokua/config.toml"), diff("../kokua/config.toml", "two.toml"));
    assert_eq!((code(&there), code(&back)), (1, 0), "{there:?} {back:?}");
    let line = SHIPPED.lines().count() + 2;
    let place = format!("two.toml:{line})");
    assert!(stdout(&there).contains("\nidle\n  + agent    idle  not declared → declared ("), "{there:?}");
    assert!(stdout(&there).contains(&place) && stdout(&back).contains(&place), "{there:?} {back:?}");
}

#[test]
fn k4_what_programs_may_run_counts() {
    let home = with_copy("none.toml", "sandbox = \"off\"", "sandbox = \"none\"");
    let out = home.kokua(&["agents", "--diff", "none.toml"]).output().unwrap();
    assert_eq!(code(&out), 1, "{out:?}");
    let printed = stdout(&out);
    assert!(printed.contains("+ offer    compute.run_command") && printed.contains("→ offered"), "{printed}");
}

#[test]
fn k4_a_configuration_that_is_wrong_ends_with_its_problems_and_exit_code_2() {
    let home = with_copy("wrong.toml", "\"todo\", \"misc\"]", "\"todo\", \"mics\"]");
    std::fs::write(home.work().join("worse.toml"), "[assistant]\nmax_iterations = 0\n").unwrap();
    for files in [&["wrong.toml"][..], &["../kokua/config.toml", "wrong.toml"], &["wrong.toml", "worse.toml"]] {
        let out = home.kokua(&[&["agents", "--diff"], files].concat()).output().unwrap();
        assert_eq!((code(&out), stdout(&out)), (2, String::new()), "{files:?}");
        let said = stderr(&out);
        assert!(said.contains("wrong.toml:") && said.contains("did you mean 'misc'?"), "{said}");
        assert_eq!(said.contains("worse.toml:2:"), files.contains(&"worse.toml"), "every problem of both: {said}");
    }
    let out = home.kokua(&["agents", "--diff", "nowhere.toml"]).output().unwrap();
    assert_eq!((code(&out), stderr(&out)), (2, "error: nowhere.toml: there is no such file\n".to_owned()));
}

#[test]
fn k4_a_toolset_that_is_refused_is_said() {
    let home = with_copy("new.toml", "\nconfirm = []\nreview", "\nconfirm = [\"todo.toodo\"]\nreview");
    let out = home.kokua(&["agents", "--diff", "../kokua/config.toml", "new.toml"]).output().unwrap();
    // Nobody can call what is refused.
    assert_eq!(code(&out), 0, "{out:?}");
    assert!(stdout(&out).contains("- tool     todo.todo  available, runs without asking"), "{out:?}");
    assert!(stderr(&out).contains("[alert] new.toml: Could not build 'todo': 'todo.toodo' in confirm"), "{out:?}");
    let out = home.kokua(&["agents", "--diff", "../kokua/config.toml", "new.toml", "--json"]).output().unwrap();
    assert!(parsed(&out)["not_built"]["new"]["todo"].as_str().unwrap().contains("todo.toodo"), "{out:?}");
}

#[test]
fn k1_both_sizes_of_the_tool_block_are_printed() {
    let home = Home::new();
    let told = parsed(&home.kokua(&["agents", "--json"]).output().unwrap());
    let [assistant, researcher] = [0, 1].map(|index| told["agents"][index].clone());
    assert_eq!((&assistant["name"], &assistant["entry"]), (&json!("assistant"), &json!(true)));
    assert_eq!((&researcher["name"], &researcher["entry"]), (&json!("researcher"), &json!(false)));
    assert_eq!(researcher["tool_bytes"]["resident"], researcher["tool_bytes"]["all"], "it defers nothing");
    assert_eq!(assistant["tool_bytes"]["resident"], assistant["start_tools"][1]);
    let (_, events) = home.run_json(&["-p", "load todo"]);
    let calls: Vec<_> = common::of_type(&events, "call").iter().map(|call| call["tool_bytes"].clone()).collect();
    assert_eq!(calls[0], assistant["tool_bytes"]["resident"], "what the first call carried");
    // misc is what `load todo` did not load.
    let installed = parsed(&home.kokua(&["toolsets", "--json"]).output().unwrap());
    let misc = installed["toolsets"].as_array().unwrap().iter().find(|row| row["name"] == "misc").unwrap();
    let all = calls[1].as_u64().unwrap() + misc["bytes"].as_u64().unwrap();
    assert_eq!(assistant["tool_bytes"]["all"], all);
}

#[test]
fn k2_every_installed_toolset_is_printed_with_its_check_and_its_refusal() {
    let config = SHIPPED.replacen("\nconfirm = []\nreview", "\nconfirm = [\"todo.toodo\"]\nreview", 1).replacen(
        "sandbox = \"off\"",
        "sandbox = \"none\"",
        1,
    );
    let home = Home::with_config(&config);
    let out = home.kokua(&["toolsets"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    let printed = stdout(&out);
    assert!(printed.contains("    refused to everybody: 'todo.toodo' in confirm of [assistant.tools]"), "{printed}");
    assert!(!printed.contains("\n    todo "), "nobody gets a tool of it: {printed}");
    let run_command = printed.lines().find(|line| line.contains("run_command")).unwrap();
    assert!(run_command.contains("not now: "), "{printed}");
    let told = parsed(&home.kokua(&["toolsets", "--json"]).output().unwrap());
    let toolset = |name: &str| {
        let rows = told["toolsets"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {told}")).clone()
    };
    let tool = |owner: &str, name: &str| {
        let rows = toolset(owner)["tools"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == name).unwrap()
    };
    assert_eq!(toolset("todo")["tools"], Value::Null);
    assert!(toolset("todo")["refused"].as_str().unwrap().contains("todo.toodo"));
    assert_eq!(toolset("fs")["kind"], "built_in");
    assert_eq!(tool("compute", "run_command")["check"]["state"], "no");
    assert_eq!(tool("compute", "calculate")["check"], json!({"state": "none", "reason": null}));
    let sum: u64 = toolset("fs")["tools"].as_array().unwrap().iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!(toolset("fs")["bytes"], sum);
    let open = parsed(&Home::new().kokua(&["toolsets", "--json"]).output().unwrap());
    let compute = open["toolsets"].as_array().unwrap().iter().find(|row| row["name"] == "compute").unwrap().clone();
    assert_eq!(compute["tools"][1]["check"], json!({"state": "yes", "reason": null}), "{compute}");
}

#[test]
fn a13_no_start_says_anything_about_a_toolset_that_no_agent_names() {
    let home = Home::with_config("[agents.assistant.tools]\navailable = [\"time\"]\n");
    let out = home.kokua(&["run", "--debug", "-p", "hello"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    let log = std::fs::read_to_string(home.state().join("data/logs/kokua.log")).unwrap();
    let said = format!("{}{log}{}", stderr(&out), stderr(&home.kokua(&["agents"]).output().unwrap()));
    assert!(said.contains("1 available, 1 resident"), "{said}");
    for name in ["fs_write", "compute", "todo", "misc", "memory"] {
        assert!(!said.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name), "{name}: {said}");
    }
}

#[test]
fn k3_a_start_has_a_line_for_each_agent() {
    let home = Home::with_config(&format!(
        "{SHIPPED}\n[agents.everything.tools]\navailable = \"all\"\nresident = [\"fs\", \"time\"]\nconfirm = [\"todo\"]\n"
    ));
    let out = home.kokua(&["run", "-p", "hello"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    assert!(!stderr(&out).contains(" available, "), "only the log has it: {out:?}");
    let log = std::fs::read_to_string(home.state().join("data/logs/kokua.log")).unwrap();
    let out = home.kokua(&["run", "--debug", "-p", "hello"]).output().unwrap();
    let said = stderr(&out);
    assert!(said.lines().next().unwrap().contains("run programs as you"), "K6: {said}");
    let table = |name: &str| 1 + SHIPPED.lines().position(|line| line.starts_with(name)).unwrap();
    let expected = [
        format!(
            "assistant: 9 available, 7 resident, inherited from [assistant.tools], line {}; confirm: none; \
             review: compute.run_command, compute.execute_python, fs_write.edit_file, fs_write.write_file",
            table("confirm = []")
        ),
        "researcher: 3 available, 3 resident, declared in [agents.researcher.tools], line".to_owned(),
        "everything: all (9) available, 2 resident, declared in [agents.everything.tools], line".to_owned(),
    ];
    // The first two of the file, and the one that was added behind all others.
    let lines: Vec<&str> = said.lines().skip(1).take(5).collect();
    let lines = [lines[0], lines[1], lines[4]];
    for (line, expected) in lines.iter().zip(&expected) {
        assert!(line.starts_with(expected), "{line}\n{expected}");
        assert!(log.contains(line), "{line}: {log}");
    }
    assert!(lines[2].ends_with("; confirm: todo (pending); review: none"), "{}", lines[2]);
}

/// Each outcome has its exit code, and each answer every reason with its file and line.
#[test]
fn k4_explain_answers_all_five_questions_and_exits_with_what_comes_of_them() {
    let home = with_copy("unused.toml", "disabled = []", "disabled = []");
    let file = home.state().join("config.toml");
    let ran = |arguments: &[&str]| {
        let out = home.kokua(&[&["explain"], arguments].concat()).output().unwrap();
        (code(&out), stdout(&out).replace(file.to_str().unwrap(), "config.toml"), stderr(&out))
    };
    let table: &[(i32, &[&str])] = &[
        (0, &["assistant", "fs.read_file"]),
        (0, &["assistant", "core.load_tools"]),
        (10, &["assistant", "compute.run_command"]),
        (10, &["assistant", "compute.run_command", "{\"command\":\"ls\"}"]),
        (12, &["assistant", "todo.todo"]),
        (13, &["researcher", "compute.run_command"]),
        (13, &["assistant", "fs.raed_file"]),
        (13, &["assistant", "nothing.at_all"]),
        (2, &["redaer", "fs.read_file"]),
        (2, &["assistant", "fs"]),
        (2, &["assistant", "compute.run_command", "{\"cmd\":1}"]),
        (2, &["assistant", "compute.run_command", "[]"]),
        (0, &["assistant", "core.spawn_subagent", "{\"agent_type\":\"coder\",\"task\":\"x\"}"]),
        (2, &["assistant", "core.spawn_subagent", "{\"agent\":\"coder\"}"]),
        (2, &["assistant", "core.load_tools", "{}"]),
        (2, &["assistant", "fs.read_file", "--mode", "holiday"]),
        (2, &["assistant", "fs.read_file", "--conversation", "nope"]),
    ];
    for (expected, arguments) in table {
        let (exit, out, error) = ran(arguments);
        assert_eq!(exit, *expected, "{arguments:?}\n{out}{error}");
        assert_eq!(exit == 2, out.is_empty(), "{arguments:?}\n{out}");
        assert_eq!(exit == 2, !error.is_empty(), "{arguments:?}\n{error}");
    }
    insta::assert_snapshot!("explain_asks", ran(&["assistant", "compute.run_command"]).1);
    insta::assert_snapshot!("explain_not_now", ran(&["assistant", "todo.todo"]).1);
    insta::assert_snapshot!("explain_never", ran(&["researcher", "compute.run_command"]).1);
    let json: Value = serde_json::from_str(&ran(&["assistant", "fs.read_file", "--json"]).1).unwrap();
    assert_eq!((&json["exit_code"], &json["explanation"]["outcome"]), (&json!(0), &json!("runs")));
    assert!(json["explanation"]["available"]["reasons"][0]["line"].as_u64().unwrap() > 0);
}

/// W3 and W1 are reasons like any other, several at once, and a conversation's loads and mode are its own.
#[test]
fn k4_explain_gives_every_reason_and_knows_what_a_conversation_loaded() {
    let home = Home::new();
    let config = home.state().join("config.toml");
    let text = format!("{SHIPPED}\n[modes.look]\nwithhold = [\"compute\", \"todo\"]\n");
    std::fs::write(&config, text.replacen("disabled = []", "disabled = [\"compute\"]", 1)).unwrap();
    let explain = |arguments: &[&str]| home.kokua(&[&["explain"], arguments].concat()).output().unwrap();
    let out = explain(&["assistant", "compute.calculate", "--mode", "look", "--json"]);
    assert_eq!(code(&out), 12, "{out:?}");
    let reasons = parsed(&out)["explanation"]["offered"]["reasons"].clone();
    let texts: Vec<_> = reasons.as_array().unwrap().iter().map(|reason| reason["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["[toolsets].disabled names it", "mode 'look' withholds compute"]);
    assert!(reasons.as_array().unwrap().iter().all(|reason| reason["line"].is_number()), "{reasons}");

    let loaded = home.kokua(&["run", "-p", "load todo"]).output().unwrap();
    assert_eq!(code(&loaded), 0, "{loaded:?}");
    assert_eq!(code(&explain(&["assistant", "todo.todo"])), 12);
    let out = explain(&["assistant", "todo.todo", "--conversation", "latest", "--json"]);
    assert_eq!(code(&out), 0, "{out:?}");
    assert_eq!(parsed(&out)["explanation"]["held"]["reasons"][0]["text"], "the conversation had loaded it");
    // What a conversation loaded is its entry agent's, and a worker's calls of it begin afresh.
    assert_eq!(code(&explain(&["researcher", "todo.todo", "--conversation", "latest"])), 13);
}
