//! Killed at any point: reopening works, every call has one ending, and nothing that was told is missing.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and at the environment")]

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use common::{Home, only_log};
use kokua::agent::{Part, Record};
use kokua::store;
use serde_json::Value;

/// Two calls, then two more, each with a result: about thirty lines to be killed at.
const PROMPT: &str = "run `echo one` and `echo two`";

/// Runs until `lines` lines were read, kills, and returns what was read.
fn killed_after(home: &Home, lines: usize) -> Vec<Value> {
    let mut child = home
        .kokua(&["run", "--json", "-p", PROMPT, "--allow", "compute.run_command"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut read = Vec::new();
    for _ in 0..lines {
        let mut line = String::new();
        if out.read_line(&mut line).unwrap() == 0 {
            break;
        }
        read.push(serde_json::from_str(&line).unwrap());
    }
    // SIGKILL: nothing of the program's own runs after this.
    child.kill().unwrap();
    child.wait().unwrap();
    read
}

#[test]
fn killed_at_twenty_points_every_call_has_one_ending_and_nothing_told_is_missing() {
    for lines in 1..=20 {
        let home = Home::new();
        let told = killed_after(&home, lines * 2);
        let Ok(_) = std::fs::read_dir(home.state().join("data/conversations")) else { continue };
        let path = only_log(&home.state());
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // A command that was being born when its parent was killed has the parent's lock until it is one: the store
        // waits for it.
        let (log, opened) = store::Log::open(path.parent().unwrap(), &id).unwrap();
        let mut endings: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut calls = Vec::new();
        for record in &opened.records {
            match record {
                Record::ModelCall { message, .. } => {
                    calls.extend(message.parts.iter().filter_map(|part| match part {
                        Part::Call(call) => Some(call.id.0),
                        _ => None,
                    }));
                }
                Record::CallEnded { call, text, .. } => endings.entry(call.0).or_default().push(text.clone()),
                _ => {}
            }
        }
        for call in &calls {
            assert_eq!(endings.get(call).map(Vec::len), Some(1), "after {lines}: call {call}: {endings:?}");
        }
        for event in &told {
            if event["type"] == "tool_result" {
                let call = event["call"].as_u64().unwrap();
                assert_eq!(endings[&call], [event["text"].as_str().unwrap()], "after {lines}");
            }
            if event["type"] == "tool_call" {
                assert!(calls.contains(&event["call"].as_u64().unwrap()), "after {lines}: {event}");
            }
        }
        drop(log);
        let out = home.kokua(&["run", "--json", "-p", "hello", "--conversation", "latest"]).output().unwrap();
        assert!(out.status.success(), "after {lines}: {out:?}");
    }
}

/// Calls a tool in every round, so that its log is written to all the time.
const BUSY: &str = "[assistant]\nmax_iterations = 1000000\n[agents.assistant.tools]\navailable = [\"time\"]\n";
const AGAIN: &str = "pace_ms = 0\n[[scene]]\nname = \"again\"\nafter = \"whatever\"\n[[scene.call]]\n\
                     tool = \"get_current_date_and_time\"\narguments = {}\n";

#[test]
fn a_conversation_that_another_process_writes_is_read_whole_and_says_whose_it_is() {
    let home = Home::with_config(BUSY);
    let model = home.script(AGAIN);
    let mut child = home
        .kokua(&["run", "--json", "-p", "what time is it", "--model", &model])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"tool_result\"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended");
    }
    // What it prints is read on, or it would wait for its reader.
    let reading = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let path = only_log(&home.state());
    let (directory, id) = (path.parent().unwrap(), path.file_stem().unwrap().to_str().unwrap());

    let mut seen: Vec<Vec<Record>> = Vec::new();
    while seen.len() < 100 {
        let read = store::read(directory, id).unwrap();
        assert_eq!(read.notices, []);
        if seen.last().is_none_or(|before| before.len() < read.records.len()) {
            seen.push(read.records);
        }
    }
    let shown = home.kokua(&["conversations", "show", id]).output().unwrap();
    assert!(shown.status.success(), "{shown:?}");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("time.get_current_date_and_time"), "{shown:?}");
    let held = format!("\"what time is it\" is open in another kokua (process {}, since ", child.id());
    for arguments in [&["run", "-p", "hello", "--conversation", id][..], &["conversations", "rm", id]] {
        let out = home.kokua(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{said}");
        assert!(said.contains(&held), "{said}");
    }

    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap().unwrap();
    let whole = store::read(directory, id).unwrap().records;
    for records in &seen {
        assert!(whole.starts_with(records), "{} of {}", records.len(), whole.len());
    }
    // What the dead one left beside its log keeps nobody out.
    assert!(path.with_extension("holder").exists());
    drop(store::Log::open(directory, id).unwrap());
    assert!(!path.with_extension("holder").exists());
}
