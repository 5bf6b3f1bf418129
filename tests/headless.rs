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
fn a_half_answer_that_begins_again_is_called_void() {
    let home = Home::new();
    let model = home.script(
        "pace_ms = 0\n[[scene]]\nname = \"half\"\ntext = \"Half an\"\nfail = { kind = \"cut\", message = \"it broke\", retry_after_ms = 1 }\n",
    );
    let out = home.kokua(&["run", "-p", "hello", "--model", &model]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 1, "{stderr}");
    let void = "[retry] what was printed of this answer is void; it begins again";
    assert_eq!(stderr.matches("; try ").count(), 4, "{stderr}");
    assert_eq!(stderr.matches(void).count(), 4, "{stderr}");
    assert_eq!(String::from_utf8_lossy(&out.stdout).lines().collect::<Vec<_>>(), ["Half an"; 5]);

    // Nothing was printed, so nothing is void.
    let silent = home
        .script("[[scene]]\nname = \"none\"\nfail = { kind = \"cut\", message = \"it broke\", retry_after_ms = 1 }\n");
    let out = home.kokua(&["run", "-p", "hello", "--model", &silent]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.contains("; try 2") && !stderr.contains("void"), "{stderr}");
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
    assert_eq!(agents["agents"][0]["name"], "assistant");
}

/// What `kokua agents` prints is what would run: the entry agent's model is the command line's before its own, another's is
/// its own before that.
#[test]
fn d2_agents_prints_each_agents_model() {
    let home = Home::with_config(
        "[agents.assistant]\nmodel = \"ollama:boss\"\ndelegates_to = [\"coder\", \"reader\"]\n[agents.coder]\n\
         model = \"ollama:coder\"\n[agents.reader]\n",
    );
    let models = |arguments: &[&str]| {
        let out = home.kokua(arguments).output().unwrap();
        let agents: Value = serde_json::from_slice(&out.stdout).unwrap();
        let agents = agents["agents"].as_array().unwrap().clone();
        agents.into_iter().map(|agent| agent["model"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        models(&["agents", "--json"]),
        ["ollama:boss", "ollama:coder", "rehearsal"],
        "$KOKUA_MODEL is the default"
    );
    let asked = ["agents", "--json", "--model", "ollama:asked"];
    assert_eq!(models(&asked), ["ollama:asked", "ollama:coder", "ollama:asked"]);
}

#[test]
fn d2_a_worker_without_a_key_is_said_and_the_program_starts() {
    let home = Home::with_config(
        "[agents.assistant]\ndelegates_to = [\"coder\"]\n[agents.coder]\nmodel = \"openai:gpt\"\n[agents.alone]\n\
         model = \"mistral:m\"\n",
    );
    let out = home.kokua(&["run", "-p", "hello"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 0, "{stderr}");
    assert!(stderr.contains("coder can't work for another agent: no key for openai at api.openai.com"), "{stderr}");
    assert!(stderr.contains("OPENAI_API_KEY") && !stderr.contains("alone"), "{stderr}");
}

/// A coder that adds one gate of its own drops the default's others; `kokua agents` says so under its policy.
#[test]
fn k1_dropped_defaults_are_seen_at_once() {
    let home = Home::with_config(include_str!("configs/valid/p3_a_pair_replaces_the_default_whole.toml"));
    let out = home.kokua(&["agents"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    insta::assert_snapshot!("agents_dropped", String::from_utf8_lossy(&out.stdout));
    let out = home.kokua(&["agents", "--json"]).output().unwrap();
    let agents: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(agents["agents"][1]["dropped_defaults"], serde_json::json!(["compute.run_command"]));
}

/// P9: what only an agent that nothing reaches would build is said at the start, not when somebody misses it.
#[test]
fn p9_a_toolset_that_is_refused_after_the_start_is_an_alert() {
    let one = include_str!("configs/valid/p9_an_agent_that_nobody_reaches.toml");
    let home = Home::with_config(&format!("{one}\n[agents.second.tools]\navailable = [\"misc\"]\n"));
    let out = home.kokua(&["config", "check"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 0, "{stderr}");
    assert!(
        stderr.contains("'misc' is refused: 'misc.ecko'") && stderr.contains("did you mean 'misc.echo'?"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("is refused").count(), 1, "two agents would hold it: {stderr}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("3 agents, nothing that stops a start"), "{out:?}");
}

#[test]
fn k1_and_k2_say_which_toolsets_are_off() {
    let config = include_str!("../config.example.toml").replacen("\ndisabled = []", "\ndisabled = [\"todo\"]", 1);
    let line = 1 + config.lines().position(|line| line.starts_with("disabled = ")).unwrap();
    let home = Home::with_config(&config);
    let printed = |arguments: &[&str]| {
        let out = home.kokua(arguments).output().unwrap();
        assert_eq!(code(&out), 0, "{out:?}");
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let why = format!("[toolsets].disabled names it, line {line}");
    let agents = printed(&["agents"]);
    assert!(agents.contains(&format!("  off         todo ({why})\n")), "{agents}");
    let toolsets = printed(&["toolsets"]);
    assert!(toolsets.contains(&format!("  todo (off: {why}): ")), "{toolsets}");
    assert_eq!(toolsets.matches("(off: ").count(), 1, "{toolsets}");
    let agents: Value = serde_json::from_str(&printed(&["agents", "--json"])).unwrap();
    let rows = agents["agents"][0]["toolsets"].as_array().unwrap();
    let todo = rows.iter().find(|row| row["name"] == "todo").unwrap();
    assert_eq!((&todo["state"], &todo["line"]), (&"off".into(), &line.into()), "{todo}");
    let toolsets: Value = serde_json::from_str(&printed(&["toolsets", "--json"])).unwrap();
    for row in toolsets["toolsets"].as_array().unwrap() {
        let off = if row["name"] == "todo" { line.into() } else { Value::Null };
        assert_eq!(row["off"]["line"], off, "{row}");
    }
}

#[test]
fn k6_a_start_that_fails_says_only_why() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "hi", "--model", "nobody:x"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 2, "{stderr}");
    assert!(stderr.starts_with("error: ") && !stderr.contains("run programs"), "{stderr}");
    let out = home.kokua(&["run", "-p", "hi"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.lines().next().unwrap().contains("run programs as you"), "{stderr}");
}

#[test]
fn a_stored_call_that_a_person_changed_is_shown_as_it_ran() {
    let home = Home::new();
    let folder = home.state().join("data/conversations");
    std::fs::create_dir_all(&folder).unwrap();
    let name = "019a0000-0000-7000-8000-000000000001";
    std::fs::write(folder.join(format!("{name}.jsonl")), include_str!("store/version_1.jsonl")).unwrap();
    let out = home.kokua(&["conversations", "show", name]).output().unwrap();
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert_eq!(code(&out), 0, "{out:?}");
    assert_eq!(stdout.matches("[edited by you] core.load_tools {\"name\":\"todo\"}\n").count(), 1, "{stdout}");
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
    let out = home.kokua(&["conversations", "show", "latest"]).output().unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains("> think about rain"), "{out:?}");
    // What is deleted is named.
    let out = home.kokua(&["conversations", "rm", "latest"]).output().unwrap();
    assert_eq!(code(&out), 2, "{out:?}");
    let out = home.kokua(&["conversations", "rm", id]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    for name in [id, "latest"] {
        let out = home.kokua(&["conversations", "show", name]).output().unwrap();
        assert_eq!(code(&out), 2, "{out:?}");
    }
}

#[test]
fn the_log_names_the_resolved_policy_of_each_agent_at_start() {
    let home = Home::new();
    let (code, _) = home.run_json(&["-p", "hello"]);
    assert_eq!(code, 0);
    let log = std::fs::read_to_string(home.state().join("data/logs/kokua.log")).unwrap();
    assert!(log.contains("assistant") && log.contains("compute.run_command"), "{log}");
}

/// The first line of what was said.
fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn k6_the_first_line_of_a_start_says_what_programs_may_do() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "hello"]).output().unwrap();
    let first = first_line(&out.stderr);
    assert!(
        first.contains("run_command and execute_python (assistant, coder, tester) run programs as you")
            && first.contains("\"off\""),
        "{first}"
    );
    let config = home.state().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("sandbox = \"off\"", "sandbox = \"none\"")).unwrap();
    let first = first_line(&home.kokua(&["run", "--json", "-p", "hello"]).output().unwrap().stderr);
    assert!(first.contains("run nothing") && first.contains("\"none\""), "{first}");
    std::fs::write(&config, text.replace("agent = \"assistant\"", "agent = \"researcher\"")).unwrap();
    let first = first_line(&home.kokua(&["run", "-p", "hello"]).output().unwrap().stderr);
    assert!(first.contains("researcher starts without a tool that runs programs"), "{first}");
}

#[test]
fn a_conversation_that_cannot_be_opened_is_never_replaced_by_a_new_one() {
    let home = Home::new();
    let out = home.kokua(&["run", "-p", "hello", "--conversation", "latest"]).output().unwrap();
    assert_eq!(code(&out), 2, "{out:?}");
    let (_, events) = home.run_json(&["-p", "hello"]);
    let id = events[0]["conversation"].as_str().unwrap();
    let log = common::only_log(&home.state());
    let before = std::fs::read(&log).unwrap();
    for arguments in [&["run"][..], &["run", "--json"]] {
        let out = home.kokua(&[arguments, &["-p", "hello", "--conversation", "0000000"]].concat()).output().unwrap();
        assert_eq!(code(&out), 2, "{out:?}");
        let said = [&out.stdout[..], &out.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("no stored conversation begins with '0000000'"), "{out:?}");
    }
    // As another process has it that does not say so.
    let held = std::fs::File::open(&log).unwrap();
    held.try_lock().unwrap();
    for name in [id, "latest"] {
        let out = home.kokua(&["run", "-p", "hello", "--conversation", name]).output().unwrap();
        assert_eq!(code(&out), 1, "{out:?}");
        assert!(String::from_utf8_lossy(&out.stderr).contains("\"hello\" is open in another kokua\n"), "{out:?}");
    }
    drop(held);
    assert_eq!(std::fs::read(common::only_log(&home.state())).unwrap(), before);
    let (code, _) = home.run_json(&["-p", "hello", "--conversation", "latest"]);
    assert_eq!(code, 0);
    assert!(std::fs::read(common::only_log(&home.state())).unwrap().len() > before.len());
}

#[test]
fn a_reader_that_leaves_stops_the_turn_without_a_word() {
    let home = Home::new();
    for arguments in
        [&["run", "--json", "-p", "run `sleep 60`", "--allow", "compute"][..], &["run", "-p", "what can you do"]]
    {
        let mut command = home.kokua(arguments);
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(code(&out), 130, "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("pipe"), "{stderr}");
    }
}

#[test]
fn an_output_that_takes_nothing_is_said() {
    let home = Home::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let out = home.kokua(&["run", "-p", "what can you do"]).stdout(full).output().unwrap();
    assert_eq!(code(&out), 1, "{out:?}");
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.contains("the output could not be written: no space left on device\n"), "{stderr}");
}

#[test]
fn an_interrupt_ends_every_call_and_exits_130() {
    use std::io::BufRead as _;
    let home = Home::new();
    let mut command = home.kokua(&["run", "--json", "-p", "run `sleep 60`", "--allow", "compute"]);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut events = Vec::new();
    for line in std::io::BufReader::new(child.stdout.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["type"] == "answer" {
            let process = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
            rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        }
        events.push(event);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130), "{events:?}");
    assert_eq!(of_type(&events, "tool_result")[0]["ending"], "interrupted");
    assert_eq!(events.last().unwrap()["end"], "stopped");
    let out = home.kokua(&["run", "-p", "hello", "--conversation", "latest"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&out.stderr).contains("interrupted"), "nothing was left to mend: {out:?}");
}

#[test]
fn the_prompt_may_come_on_standard_input() {
    use std::io::Write as _;
    let home = Home::new();
    let with = |input: &[u8]| {
        let mut command = home.kokua(&["run"]);
        let piped = std::process::Stdio::piped;
        let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
        // A program that has read enough closes its end.
        drop(child.stdin.take().unwrap().write_all(input));
        child.wait_with_output().unwrap()
    };
    let out = with(b"what can you do\n");
    assert_eq!(code(&out), 0, "{out:?}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("rehearsal model"), "{out:?}");
    for (input, why) in [
        (b"" as &[u8], "nothing to say"),
        (b" \n\t", "nothing to say"),
        (b"\xff", "UTF-8"),
        (&vec![b'a'; 5 << 20], "over 4 MiB"),
    ] {
        let out = with(input);
        assert_eq!(code(&out), 2, "{out:?}");
        assert!(String::from_utf8_lossy(&out.stderr).contains(why), "{out:?}");
    }
}

#[test]
fn what_a_model_writes_moves_no_terminal() {
    let home = Home::new();
    let (_, events) = home.run_json(&["-p", "run `printf '\\033[2J\\302\\233'`", "--allow", "compute"]);
    assert!(of_type(&events, "tool_result")[0]["text"].as_str().unwrap().contains('\u{9b}'), "{events:?}");
    let out = home
        .kokua(&["run", "--json", "-p", "run `printf '\\033[2J\\302\\233'`", "--allow", "compute"])
        .output()
        .unwrap();
    assert!(String::from_utf8(out.stdout).unwrap().chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn a_data_folder_that_is_none_is_a_sentence_and_a_failure() {
    let home = Home::new();
    std::fs::write(home.state().join("data"), "a file").unwrap();
    let out = home.kokua(&["run", "-p", "hello"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 1, "{stderr}");
    assert!(stderr.contains("data/logs") && stderr.contains("data_dir"), "{stderr}");
    for arguments in [&["list"][..], &["show", "latest"], &["show", "0000000"], &["rm", "0000000"]] {
        let out = home.kokua(&[&["conversations"], arguments].concat()).output().unwrap();
        assert_eq!(code(&out), 1, "{arguments:?}: {out:?}");
        assert!(String::from_utf8_lossy(&out.stderr).contains("could not read the directory"), "{out:?}");
    }
}

#[test]
fn a_log_that_cannot_be_read_is_named_in_the_list() {
    let home = Home::new();
    home.run_json(&["-p", "hello"]);
    std::fs::write(home.state().join("data/conversations/broken.jsonl"), "").unwrap();
    let out = home.kokua(&["conversations", "list"]).output().unwrap();
    assert_eq!(code(&out), 0, "{out:?}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("hello"), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("broken.jsonl"), "{out:?}");
}

#[test]
fn config_check_judges_model_strings_addresses_and_headers_with_their_lines() {
    let home = Home::with_config(
        "[assistant]\nmodel = \"olama:qwen3\"\n[agents.assistant]\nmodel = \"openai-compat:m@http://me:hush@host/v1\"\n\
         [providers.openai]\nbase_url = \"https://me:hush@host\"\n[providers.vllm]\nheaders = { \"a b\" = \"hush\" }\n",
    );
    for arguments in [&["config", "check"][..], &["run", "-p", "hi"]] {
        let out = home.kokua(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(code(&out), 2, "{stderr}");
        for line in ["config.toml:2:", "config.toml:4:", "config.toml:6:", "config.toml:8:"] {
            assert!(stderr.contains(line), "{line}: {stderr}");
        }
        assert!(!stderr.contains("hush"), "{stderr}");
    }
}

#[test]
fn no_secret_is_shown_by_any_command_or_kept_in_the_log() {
    let text = "[agents.assistant]\n[providers.openai]\napi_key_command = [\"echo\", \"hush-1\"]\n\
         base_url = \"http://127.0.0.1:9/v1?key=hush-2\"\nmax_attempts = 1\nheaders = { X-Mine = \"hush-3\" }\n\
         [providers.openai-compat]\napi_key_env = \"MY_KEY\"\nmax_attempts = 1\n";
    let home = Home::with_config(text);
    let mut said = Vec::new();
    for arguments in [
        &["config", "show"][..],
        &["config", "check"],
        &["agents"],
        &["toolsets", "--json"],
        &["run", "--debug", "-p", "hi", "--model", "openai:m"],
        &["run", "--debug", "--json", "-p", "hi", "--model", "openai-compat:m@http://127.0.0.1:9"],
    ] {
        let out = home.kokua(arguments).env("MY_KEY", "hush-4").output().unwrap();
        said.extend(out.stdout);
        said.extend(out.stderr);
    }
    said.extend(std::fs::read(home.state().join("data/logs/kokua.log")).unwrap());
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("no connection to openai at 127.0.0.1:9"), "{said}");
    assert!(!said.contains("hush"), "{said}");
    let wrong = Home::with_config(&text.replace("\"MY_KEY\"", "\"gsk_hush5\""));
    let out = wrong.kokua(&["config", "check"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(code(&out) == 2 && stderr.contains("environment variable") && !stderr.contains("hush"), "{stderr}");
}

#[test]
fn a_conversation_that_is_not_there_is_an_error_and_never_another_one() {
    let home = Home::new();
    let out = home.kokua(&["run", "--conversation", "nothing", "-p", "hello"]).output().unwrap();
    assert_eq!(code(&out), 2);
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(told.contains("The conversation could not be opened"), "{told}");
    assert!(out.stdout.is_empty());
    let (code, events) = home.run_json(&["--conversation", "nothing", "-p", "hello"]);
    assert_eq!((code, events.len()), (2, 1));
    assert_eq!(events[0]["type"], "error");
}

/// What a check withholds was counted until the first call.
#[test]
fn k1_what_is_printed_before_a_call_counts_as_the_call_does() {
    let home = Home::new();
    let config = home.state().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("sandbox = \"off\"", "sandbox = \"none\"")).unwrap();
    let out = home.kokua(&["agents", "--json"]).output().unwrap();
    let printed: Value = serde_json::from_slice(&out.stdout).unwrap();
    let (_, events) = home.run_json(&["-p", "hello"]);
    let call = events.iter().find(|event| event["type"] == "call").unwrap();
    assert_eq!(printed["agents"][0]["start_tools"], serde_json::json!([call["tools"], call["tool_bytes"]]));
    assert_eq!(call["tools"], 24, "without run_command and execute_python");
}

#[test]
fn k5_the_audit_shows_verifies_and_replays_what_runs_decided() {
    let home = Home::new();
    let kokua = |arguments: &[&str]| home.kokua(arguments).output().unwrap();
    let printed = |arguments: &[&str]| String::from_utf8(kokua(arguments).stdout).unwrap();
    assert_eq!(printed(&["audit", "show"]), "nothing was decided yet\n");
    home.run_json(&["-p", "load todo"]);
    home.run_json(&["-p", "run `touch made`"]);
    home.run_json(&["-p", "run `touch made`", "--allow", "compute.run_command"]);

    let text = printed(&["audit", "show"]);
    let rows: Vec<_> = text.lines().map(|row| row.split_once("assistant").unwrap().1.trim()).collect();
    let review = common::example_line("review = ");
    let entry = format!("('compute.run_command' in review from [assistant.tools] line {review})");
    let expected = [
        "call      core.load_tools      ran".to_owned(),
        "load      todo                 loaded: todo".to_owned(),
        format!("answer    compute.run_command  auto-denied: nobody is here to ask {entry}"),
        "call      compute.run_command  not run, auto-denied".to_owned(),
        format!("answer    compute.run_command  allowed by --allow compute.run_command {entry}"),
        "call      compute.run_command  ran, allowed by --allow".to_owned(),
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        printed(&["audit", "show", "--last", "1"]).lines().collect::<Vec<_>>(),
        text.lines().skip(5).collect::<Vec<_>>()
    );
    assert_eq!(printed(&["audit", "show", "--agent", "researcher"]), "");
    let json = printed(&["audit", "show", "--json"]);
    let entries: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), 6);
    assert!(!json.contains("made"), "no argument as text: {json}");
    assert_eq!(entries[3]["arguments"], entries[5]["arguments"]);
    let conversation = entries[0]["conversation"].as_str().unwrap();
    assert_eq!(printed(&["audit", "show", "--json", "--conversation", conversation]).lines().count(), 2);

    // Another policy: no gate, and no todo.
    let config = std::fs::read_to_string(home.state().join("config.toml")).unwrap();
    let other = config.replace("\"compute.run_command\", \"compute.execute_python\", ", "");
    let new = home.work().join("new.toml");
    std::fs::write(&new, &other).unwrap();
    let new = new.to_str().unwrap();
    let replayed = printed(&["audit", "replay", "--config", new]);
    let last = replayed.lines().last().unwrap();
    assert_eq!(
        last, "3 calls: 3 would run, 0 would ask, 0 would be refused, 0 depend on arguments; 1 otherwise than then (*)",
        "{replayed}"
    );
    let starred: Vec<_> = replayed.lines().filter(|row| row.starts_with('*')).collect();
    assert!(starred.len() == 1 && starred[0].ends_with("not allowed        would run"), "{replayed}");
    let same: Value = serde_json::from_str(&printed(&["audit", "replay", "--json"])).unwrap();
    assert_eq!(
        (&same["run"], &same["ask"], &same["refused"], &same["differ"]),
        (&2.into(), &0.into(), &1.into(), &0.into())
    );
    assert_eq!(same["calls"][1]["now"]["verdict"], "refused");

    let whole = kokua(&["audit", "verify"]);
    assert_eq!(code(&whole), 0);
    assert_eq!(
        String::from_utf8_lossy(&whole.stdout),
        "6 entries, unbroken; 3 heads noted in conversations, each as it was\n"
    );
    let log = home.state().join("data/audit/log.jsonl");
    let lines = std::fs::read_to_string(&log).unwrap();
    let cut: String = lines.split_inclusive('\n').take(5).collect();
    std::fs::write(&log, cut).unwrap();
    let found = kokua(&["audit", "verify"]);
    assert_eq!(code(&found), 1);
    assert!(String::from_utf8_lossy(&found.stdout).starts_with("entry 6 was cut off: conversation "), "{found:?}");
    std::fs::write(&log, lines.replace("auto_denied", "allowed_once")).unwrap();
    let found = kokua(&["audit", "verify"]);
    assert_eq!(code(&found), 1);
    assert!(String::from_utf8_lossy(&found.stdout).starts_with("entry 3 was changed"), "{found:?}");
}

#[test]
fn k5_a_log_that_cannot_be_written_refuses_calls_and_the_turn_goes_on() {
    let home = Home::new();
    // A file stands where the folder would be.
    std::fs::create_dir_all(home.state().join("data")).unwrap();
    std::fs::write(home.state().join("data/audit"), "").unwrap();
    let (code, events) = home.run_json(&["-p", "run `touch made`", "--allow", "compute.run_command"]);
    assert_eq!(code, 0, "{events:?}");
    let call = of_type(&events, "tool_call")[0];
    let result = result_of(&events, call);
    assert_eq!(result["ending"], "refused");
    assert!(result["text"].as_str().unwrap().contains("the audit log could not be written: could not"), "{result}");
    assert!(
        of_type(&events, "alert").iter().any(|alert| alert["message"].as_str().unwrap().starts_with("The audit log"))
    );
    assert!(!home.work().join("made").exists());
}

/// The crew that `tests/terminal/agents.rs` watches, with nobody there.
fn crew(home: &Home, arguments: &[&str]) -> std::process::Output {
    let model = home.script(include_str!("terminal/crew/script.toml"));
    home.kokua(&[&["run", "-p", "crew", "--model", &model], arguments].concat()).output().unwrap()
}

/// The entries that let every call of the crew run.
const CREW_ALLOWED: [&str; 8] = [
    "--allow",
    "researcher=compute.run_command",
    "--allow",
    "coder=fs_write",
    "--allow",
    "coder=compute.run_command",
    "--allow",
    "tester=compute",
];

#[test]
fn p12_what_workers_ask_with_nobody_there_is_denied_and_said_by_address() {
    let home = Home::with_config(include_str!("terminal/crew/config.toml"));
    let out = crew(&home, &[]);
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(code(&out), 3, "{stderr}");
    assert!(stdout.contains("The crew has ended; of the last I read: It is built."), "{stdout}");
    for (address, denied) in [("researcher#2", 1), ("coder#1", 2), ("tester#1", 1)] {
        assert_eq!(stderr.matches(&format!("{address}: [answer] auto-denied\n")).count(), denied, "{stderr}");
    }
    assert_eq!(stderr.matches("auto-denied").count(), 4, "{stderr}");
    assert!(!home.work().join("note.txt").exists());
    // An entry without an agent is the entry agent's alone.
    let out = crew(&home, &["--allow", "compute.run_command"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(code(&out), 3, "{stderr}");
    assert!(stderr.contains("--allow compute.run_command never matched a call"), "{stderr}");
}

#[test]
fn p22_what_workers_ask_runs_by_allow_entries_of_theirs() {
    let home = Home::with_config(include_str!("terminal/crew/config.toml"));
    let out = crew(&home, &CREW_ALLOWED);
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert_eq!(code(&out), 0, "{stderr}");
    assert!(stdout.contains("The crew has ended; of the last I read: It is built."), "{stdout}");
    assert!(!stderr.contains("denied") && !stderr.contains("never matched"), "{stderr}");
    assert!(stderr.contains("tester#1: [answer] allowed by --allow\n"), "{stderr}");
    assert_eq!(std::fs::read_to_string(home.work().join("note.txt")).unwrap(), "a note\n");
}

#[test]
fn json_tells_of_workers_by_node() {
    let home = Home::with_config(include_str!("terminal/crew/config.toml"));
    let out = crew(&home, &[&["--json"], &CREW_ALLOWED[..]].concat());
    let events = common::events(&out.stdout);
    assert_eq!(code(&out), 0, "{events:?}");
    let spawned = of_type(&events, "spawned");
    let tree: Vec<_> = spawned
        .iter()
        .map(|one| (one["node"].as_u64().unwrap(), one["address"].as_str().unwrap(), one["task"].as_str().unwrap()))
        .collect();
    let expected = [
        (1, "researcher#1", "look one"),
        (2, "researcher#2", "look two"),
        (3, "coder#1", "build it"),
        (4, "tester#1", "test it"),
    ];
    assert_eq!(tree, expected);
    // Each is spawned by a call of another, which has one result; the tester by the coder's.
    let calls = of_type(&events, "tool_call");
    let node = |event: &Value| event["node"].as_u64().unwrap_or(0);
    let spawner = |one: &Value| node(calls.iter().find(|call| call["call"] == one["spawned_by"]).unwrap());
    assert_eq!(spawned.iter().map(|one| spawner(one)).collect::<Vec<_>>(), [0, 0, 0, 3]);
    assert_eq!(calls.len(), 8);
    for call in calls {
        let results = of_type(&events, "tool_result");
        let own = results.iter().filter(|result| result["call"] == call["call"] && node(result) == node(call));
        assert_eq!(own.count(), 1, "{call}");
        assert_eq!(result_of(&events, call)["ending"], "ok", "{call}");
    }
    let mut ends: Vec<_> =
        of_type(&events, "end").iter().map(|end| (node(end), end["end"].as_str().unwrap())).collect();
    ends.sort_unstable();
    assert_eq!(ends, [0, 1, 2, 3, 4].map(|node| (node, "answered")));
}
