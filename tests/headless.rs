//! `kokua run` and its neighbours: the real binary, without a screen, on the rehearsal model.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and at the environment")]

mod common;

use common::{Home, code, of_type};
use serde_json::Value;

fn text_of(events: &[Value]) -> String {
    of_type(events, "delta").iter().map(|event| event["text"].as_str().unwrap()).collect()
}

fn result_of<'a>(events: &'a [Value], call: &Value) -> &'a Value {
    of_type(events, "tool_result").into_iter().find(|result| result["call"] == call["call"]).unwrap()
}

#[test]
fn an_answer_goes_to_stdout_and_the_rest_to_stderr() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "what can you do"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(code(&out), 0, "{stderr}");
    assert!(stdout.contains("rehearsal model"), "{stdout}");
    assert!(stderr.contains("[call 1]") && !stdout.contains("[call 1]"), "{stderr}");
}

#[test]
fn json_tells_what_each_call_carried() {
    let home = Home::new();
    let (code, events) = home.run_json(&["-p", "what can you do"]);
    assert_eq!(code, 0);
    assert_eq!(events[0]["type"], "session");
    let calls = of_type(&events, "call");
    assert_eq!(calls[0]["kind"], "agent");
    assert!(calls[0]["tools"].as_u64().unwrap() > 10);
    assert!(calls[0]["tool_bytes"].as_u64().unwrap() < 10_000, "{}", calls[0]);
    assert!(calls[0]["resident"].as_array().unwrap().contains(&"memory".into()));
    assert_eq!(calls[0]["loaded"], serde_json::json!([]));
    assert_eq!(events.last().unwrap()["type"], "end");
    assert_eq!(events.last().unwrap()["end"], "answered");
}

#[test]
fn p12_a_gated_call_nobody_watches_is_denied_and_the_turn_goes_on() {
    let home = Home::new();
    let (code, events) = home.run_json(&["-p", "run `touch made`"]);
    assert_eq!(code, 3, "{events:?}");
    let call = of_type(&events, "tool_call")[0];
    assert_eq!(of_type(&events, "answer")[0]["answer"], "auto_denied");
    assert_eq!(result_of(&events, call)["ending"], "not_allowed");
    assert!(!text_of(&events).is_empty());
    assert!(!home.work().join("made").exists());
}

#[test]
fn p21_allow_runs_what_it_names_and_p22_says_what_it_never_matched() {
    let home = Home::new();
    let arguments = ["-p", "run `touch made`", "--allow", "compute.run_command", "--allow", "fs_write"];
    let (code, events) = home.run_json(&arguments);
    assert_eq!(code, 0, "{events:?}");
    assert_eq!(of_type(&events, "answer")[0]["answer"], "allowed_by_flag");
    assert!(home.work().join("made").exists());
    let out = home.kokua(&[&["run"], &arguments[..]].concat()).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.contains("--allow fs_write never matched a call"), "{stderr}");
    assert!(!stderr.contains("--allow compute.run_command never"), "{stderr}");
}

#[test]
fn p22_an_allow_entry_that_matches_nothing_is_a_usage_error() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "hello", "--allow", "compute.run_comand"]).output().unwrap();
    assert_eq!(code(&out), 2);
    assert!(String::from_utf8_lossy(&out.stderr).contains("run_comand"), "{out:?}");
}

#[test]
fn r7_a_load_grows_the_next_call_and_r12_a_restart_preloads_it() {
    let home = Home::new();
    let (code, events) = home.run_json(&["-p", "load todo"]);
    assert_eq!(code, 0);
    let calls = of_type(&events, "call");
    assert!(calls.len() >= 2, "{calls:?}");
    assert_eq!(calls[0]["loaded"], serde_json::json!([]));
    assert_eq!(calls[1]["loaded"], serde_json::json!(["todo"]));
    assert!(calls[1]["tool_bytes"].as_u64() > calls[0]["tool_bytes"].as_u64());
    let (code, events) = home.run_json(&["-p", "hello", "--conversation", "latest"]);
    assert_eq!(code, 0);
    let call = of_type(&events, "call")[0];
    assert!(call["resident"].as_array().unwrap().contains(&"todo".into()), "{call}");
    assert_eq!(call["loaded"], serde_json::json!([]));
}

#[test]
fn two_calls_at_once_end_each_for_itself() {
    let home = Home::new();
    let (_, events) = home.run_json(&["-p", "calls both"]);
    let calls = of_type(&events, "tool_call");
    assert_eq!(calls.len(), 2, "{events:?}");
    let endings: Vec<_> = calls.iter().map(|call| result_of(&events, call)["ending"].as_str().unwrap()).collect();
    assert!(endings.contains(&"ok") && endings.contains(&"not_allowed"), "{endings:?}");
}

#[test]
fn without_a_configuration_and_a_terminal_the_message_names_the_command() {
    let home = Home::empty();
    for arguments in [&["run", "-p", "hi"][..], &[], &["agents"]] {
        let out = home.kokua(arguments).output().unwrap();
        assert_eq!(code(&out), 2, "{arguments:?}");
        assert!(String::from_utf8_lossy(&out.stderr).contains("kokua config init"), "{out:?}");
    }
}

#[test]
fn a_broken_configuration_prints_every_fault_with_its_line() {
    let home = Home::with_config(
        "[agents.assistant.tools]\navailable = [\"memry\"]\nresident = [\"time\"]\n\n[assistant]\nmax_iterations = 0\n",
    );
    let out = home.kokua(&["run", "-p", "hi"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 2, "{stderr}");
    assert!(stderr.contains("config.toml:2:") && stderr.contains("memory"), "{stderr}");
    assert!(stderr.contains("config.toml:6:"), "{stderr}");
}

#[test]
fn a_model_string_that_is_none_is_a_usage_error() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "hi", "--model", "olama:qwen3"]).output().unwrap();
    assert_eq!(code(&out), 2, "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("ollama"), "{out:?}");
}

#[test]
fn a_server_that_is_not_there_fails_the_turn_with_a_sentence() {
    let home = Home::with_config(&format!(
        "{}\n[providers.openai-compat]\nmax_attempts = 1\n",
        include_str!("../config.example.toml")
    ));
    // Port 9 of this machine: nothing listens there.
    let out = home.kokua(&["run", "-p", "hi", "--model", "openai-compat:x@http://127.0.0.1:9/v1"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 1, "{stderr}");
    assert!(stderr.contains("[error]") && stderr.contains("127.0.0.1:9"), "{stderr}");
}

#[test]
fn k1_agents_and_k2_toolsets_print_what_the_configuration_says() {
    let home = Home::new();
    let out = home.kokua(&["agents"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    insta::assert_snapshot!("agents", String::from_utf8_lossy(&out.stdout));
    let out = home.kokua(&["toolsets"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    insta::assert_snapshot!("toolsets", String::from_utf8_lossy(&out.stdout));
    let out = home.kokua(&["agents", "--json"]).output().unwrap();
    let agents: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(agents["agents"][0]["agent"], "assistant");
}

#[test]
fn conversations_are_listed_shown_and_removed() {
    let home = Home::new();
    let (code_, events) = home.run_json(&["-p", "think about rain"]);
    assert_eq!(code_, 0);
    let id = events[0]["conversation"].as_str().unwrap();
    let out = home.kokua(&["conversations", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(listed.contains(id) && listed.contains("think about rain"), "{listed}");
    let out = home.kokua(&["conversations", "show", id]).output().unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains("> think about rain"), "{out:?}");
    let out = home.kokua(&["conversations", "rm", id]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    let out = home.kokua(&["conversations", "show", id]).output().unwrap();
    assert_eq!(code(&out), 2, "{out:?}");
}

#[test]
fn the_log_names_the_resolved_policy_of_each_agent_at_start() {
    let home = Home::new();
    let (code, _) = home.run_json(&["-p", "hello"]);
    assert_eq!(code, 0);
    let log = std::fs::read_to_string(home.state().join("data/logs/kokua.log")).unwrap();
    assert!(log.contains("assistant") && log.contains("compute.run_command"), "{log}");
}

#[test]
fn a_conversation_that_is_not_there_is_an_error_and_never_another_one() {
    let home = Home::new();
    let out = home.kokua(&["run", "--conversation", "nothing", "-p", "hello"]).output().unwrap();
    assert_eq!(code(&out), 1);
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(told.contains("The conversation could not be opened"), "{told}");
    assert!(out.stdout.is_empty());
    let (code, events) = home.run_json(&["--conversation", "nothing", "-p", "hello"]);
    assert_eq!((code, events.len()), (1, 1));
    assert_eq!(events[0]["type"], "error");
}
