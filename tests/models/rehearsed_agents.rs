//! The shipped script with several agents at work: who hands on, who works, and what each does with what the others say.

use kokua::agent::{Delta, Ending, Message, Request, UserMessage, UserOrigin};
use kokua::model::Rehearsal;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::common::{assistant, call, calls, joined, request, result, user};

const ENTRY: &[&str] = &[
    "read_file",
    "list_directory",
    "run_command",
    "write_file",
    "list_capabilities",
    "compose_subagent",
    "send_message",
    "list_agents",
    "check_agent",
    "await_agents",
    "stop_agent",
    "spawn_subagent",
];
const RESEARCHER: &[&str] = &["list_directory", "find_files", "send_message"];
const CODER: &[&str] = &["list_directory", "write_file", "run_command", "spawn_subagent"];

/// The text, and the calls with their arguments.
fn play(request: &Request) -> (String, Vec<(String, Value)>) {
    let performance = Rehearsal::shipped().unwrap().play(request);
    assert_eq!(performance.failure, None);
    let deltas = joined(performance.pieces.into_iter().map(|piece| piece.delta).collect());
    let text = deltas.iter().filter_map(|delta| match delta {
        Delta::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text = text.collect();
    let calls = calls(&deltas).into_iter();
    (text, calls.map(|(_, name, arguments)| (name, serde_json::from_str(&arguments).unwrap())).collect())
}

fn names(calls: &[(String, Value)]) -> Vec<&str> {
    calls.iter().map(|(name, _)| name.as_str()).collect()
}

/// A round with one call, and its result.
fn round(id: u64, tool: &str, text: &str) -> [Message; 2] {
    [assistant(vec![call(id, "", tool, "{}")]), result(id, Ending::Ok, text)]
}

/// What another agent sent.
fn mail(text: &str) -> Message {
    Message::User(UserMessage { text: text.to_owned(), origin: UserOrigin::Agent })
}

#[test]
fn requests_for_workers_become_calls() {
    let spawn = |agent: &str, task: &str| ("spawn_subagent".to_owned(), json!({ "agent_type": agent, "task": task }));
    let table = [
        ("Ask the researcher to read README.md", vec![spawn("researcher", "Research: read README.md")]),
        ("please ask the coder to make a plan", vec![spawn("coder", "Code: make a plan")]),
        (
            "have two researchers and a coder write a note",
            vec![
                spawn("researcher", "Research: what is here, to write a note"),
                spawn("researcher", "Research: what was written, to write a note"),
                spawn("coder", "Code: write a note"),
            ],
        ),
        (
            "start a researcher in the background",
            vec![(
                "spawn_subagent".to_owned(),
                json!({ "agent_type": "researcher", "task": "Research: whatever there is", "background": true }),
            )],
        ),
        (
            "tell researcher#1 to look at docs",
            vec![("send_message".to_owned(), json!({ "to": "researcher#1", "text": "to look at docs" }))],
        ),
        ("tell everyone to hurry", vec![("send_message".to_owned(), json!({ "to": "everyone", "text": "to hurry" }))]),
        ("what are they doing?", vec![("list_agents".to_owned(), json!({}))]),
        ("check coder#2", vec![("check_agent".to_owned(), json!({ "address": "coder#2" }))]),
        ("wait for coder#2", vec![("await_agents".to_owned(), json!({ "addresses": ["coder#2"] }))]),
        ("stop coder#2", vec![("stop_agent".to_owned(), json!({ "address": "coder#2" }))]),
        ("what is installed", vec![("list_capabilities".to_owned(), json!({}))]),
        (
            "compose a worker to try a command",
            vec![(
                "compose_subagent".to_owned(),
                json!({
                    "name": "checker",
                    "task": "Test: try a command",
                    "tools": ["fs"],
                    "instructions": "You try what you are told, and say what came of it."
                }),
            )],
        ),
    ];
    for (words, expected) in table {
        let (_, calls) = play(&request(vec![user("hello"), assistant(vec![]), user(words)], ENTRY));
        assert_eq!(calls, expected, "{words}");
    }
}

#[test]
fn what_workers_answered_is_said_and_nothing_is_called_again() {
    for words in ["ask the researcher to look", "have two researchers and a coder write", "ask the coder to write"] {
        for ending in [Ending::Ok, Ending::Failed, Ending::NotAllowed] {
            let mut messages = vec![user(words), assistant(vec![call(1, "", "spawn_subagent", "{}")])];
            messages.push(result(1, ending.clone(), "On it: nothing."));
            let (text, calls) = play(&request(messages, ENTRY));
            assert_eq!(calls, [], "{words}");
            assert!(text.contains("On it: nothing."), "{words} {ending:?}: {text}");
        }
    }
    let messages = [vec![user("what are they doing")], round(1, "list_agents", "- assistant (you): running").to_vec()];
    let (text, calls) = play(&request(messages.concat(), ENTRY));
    assert!(calls.is_empty() && text.contains("- assistant (you)"), "{text}");
}

#[test]
fn without_workers_the_answer_says_what_is_missing() {
    for words in ["ask the researcher to read README.md", "start a researcher in the background"] {
        let (text, calls) = play(&request(vec![user(words)], &["read_file", "list_directory"]));
        assert!(calls.is_empty() && text.contains("`delegates_to` names nobody"), "{words}: {text}");
    }
}

#[test]
fn a_researcher_looks_twice_and_answers_whatever_its_task_says() {
    // Its task has words that mean something else when a person says them.
    let mut messages = vec![user("Research: read README.md and run `ls`")];
    let (_, calls) = play(&request(messages.clone(), RESEARCHER));
    assert_eq!(names(&calls), ["list_directory"]);
    messages.extend(round(1, "list_directory", "src/"));
    let (_, calls) = play(&request(messages.clone(), RESEARCHER));
    assert_eq!(names(&calls), ["find_files"]);
    messages.extend(round(2, "find_files", "README.md"));
    let (text, calls) = play(&request(messages, RESEARCHER));
    assert_eq!(calls, []);
    assert!(text.starts_with("On read README.md and run `ls`: "), "{text}");
    let (text, calls) = play(&request(vec![user("Research: anything")], &["echo"]));
    assert!(calls.is_empty() && text.contains("no tool that looks at files"), "{text}");
}

#[test]
fn a_worker_says_what_it_was_told_and_keeps_to_its_task() {
    for message in [mail("[message from coder#1] look at docs"), user("look at docs")] {
        let mut messages = vec![user("Research: bread")];
        messages.extend(round(1, "list_directory", "src/"));
        messages.push(message);
        let (text, calls) = play(&request(messages.clone(), RESEARCHER));
        assert!(text.contains("look at docs"), "{text}");
        assert_eq!(names(&calls), ["find_files"]);
        messages.extend(round(2, "find_files", "Cargo.toml"));
        let (text, calls) = play(&request(messages.clone(), RESEARCHER));
        assert!(calls.is_empty() && text.starts_with("On bread: "), "{text}");
        // One more, behind its answer.
        messages.extend([assistant(vec![]), mail("[message from assistant] and src")]);
        assert_eq!(names(&play(&request(messages, RESEARCHER)).1), ["find_files"]);
    }
}

#[test]
fn a_coder_writes_and_has_its_work_tried_by_a_worker_of_its_own() {
    let task = || vec![user("Code: write a note")];
    let coder = |tools: &[&str]| play(&request(task(), tools)).1;
    let calls = coder(CODER);
    assert_eq!(names(&calls), ["write_file", "spawn_subagent"]);
    assert_eq!(calls[1].1, json!({ "agent_type": "tester", "task": "Test: write a note" }));
    let composing = coder(&["write_file", "compose_subagent"]);
    assert_eq!(names(&composing), ["write_file", "compose_subagent"]);
    assert_eq!(names(&coder(&["write_file"])), ["write_file"]);
    assert!(coder(&["echo"]).is_empty());
    let mut messages = task();
    messages.push(assistant(vec![call(1, "", "write_file", "{}"), call(2, "", "spawn_subagent", "{}")]));
    messages.extend([result(1, Ending::NotAllowed, "no"), result(2, Ending::Ok, "Tried write a note:")]);
    let (text, calls) = play(&request(messages, CODER));
    assert!(
        calls.is_empty() && text.contains("you did not allow it") && text.contains("Tried write a note:"),
        "{text}"
    );
}

#[test]
fn a_tester_runs_a_command_or_composes_who_can() {
    let tester = |tools: &[&str]| play(&request(vec![user("Test: it")], tools)).1;
    assert_eq!(names(&tester(&["run_command", "compose_subagent"])), ["run_command"]);
    let calls = tester(&["list_directory", "list_capabilities", "compose_subagent"]);
    assert_eq!(calls[0].1, json!({ "name": "runner", "task": "Test: it", "tools": ["compute"] }));
    assert!(tester(&["list_directory"]).is_empty());
}

#[test]
fn a_word_from_a_worker_is_told_and_starts_nothing_again() {
    // It ended in the background, after the answer.
    let mut messages = vec![user("start a researcher in the background")];
    messages.extend(round(1, "spawn_subagent", "Started researcher#1 in the background."));
    messages.extend([assistant(vec![]), mail("[message from researcher#1] On it: nothing.")]);
    let (text, calls) = play(&request(messages.clone(), ENTRY));
    assert!(calls.is_empty() && text.contains("**researcher#1** wrote:\n\nOn it: nothing."), "{text}");
    // A person spoke at the same boundary: that comes first.
    messages.push(user("what are they doing"));
    assert_eq!(names(&play(&request(messages, ENTRY)).1), ["list_agents"]);
    let mut messages = vec![user("ask the coder to write")];
    messages.extend(round(1, "spawn_subagent", "It is written."));
    messages.push(mail("[message from coder#1, sent before you started] hello"));
    let (text, calls) = play(&request(messages, ENTRY));
    assert!(calls.is_empty() && text.contains("hello") && text.contains("It is written."), "{text}");
}

#[test]
fn a_scene_looks_at_a_task_or_at_what_was_said() {
    let both = "[[scene]]\nname = 'a'\nsaid = ['x']\ntask = ['y']";
    assert!(Rehearsal::from_toml(both).unwrap_err().contains("scene 'a': a scene has either said or task"));
    let unknown = "[[scene]]\nname = 'a'\nheard = ['x {y}', 'z']\ntext = '{y}'";
    assert!(Rehearsal::from_toml(unknown).unwrap_err().contains("nothing is called '{y}'"));
}
