//! The rehearsal model: the shipped script shows every mechanism, and scripts say what is wrong with them.

use futures_util::StreamExt;
use kokua::agent::{
    CallKind, Delta, Ending, FailureKind, Message, Request, Retry, StopReason, ToolChoice, UserMessage, UserOrigin,
};
use kokua::config::Generation;
use kokua::model::rehearsal::Performance;
use kokua::model::{Client, Rehearsal};
use pretty_assertions::assert_eq;

use super::common::{assistant, call, calls, joined, request, result, user};

const TOOLS: &[&str] = &[
    "available_tools",
    "load_tools",
    "run_command",
    "read_file",
    "list_directory",
    "write_file",
    "store_memory",
    "list_memories",
    "get_current_date_and_time",
];

struct Played {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
}

fn play(request: &Request) -> Played {
    let Performance { pieces, failure } = Rehearsal::shipped().unwrap().play(request);
    assert_eq!(failure, None);
    let deltas = joined(pieces.into_iter().map(|piece| piece.delta).collect());
    let text = |wanted: fn(&Delta) -> Option<&str>| deltas.iter().filter_map(wanted).collect::<String>();
    Played {
        text: text(|delta| match delta {
            Delta::Text { text } => Some(text),
            _ => None,
        }),
        reasoning: text(|delta| match delta {
            Delta::Reasoning { text } => Some(text),
            _ => None,
        }),
        calls: calls(&deltas).into_iter().map(|(_, name, arguments)| (name, arguments)).collect(),
    }
}

/// The person's words, then each call with how it ended.
fn after(words: &str, ended: &[(&str, Ending, &str)], tools: &[&str]) -> Played {
    let mut messages = vec![user("hello"), assistant(vec![]), user(words)];
    let parts = (1..).zip(ended).map(|(id, (tool, ..))| call(id, "", tool, "{}"));
    if !ended.is_empty() {
        messages.push(assistant(parts.collect()));
    }
    messages.extend((1..).zip(ended).map(|(id, (_, ending, text))| result(id, ending.clone(), text)));
    play(&request(messages, tools))
}

#[test]
fn plain_requests_become_calls() {
    let table = [
        ("run `ls -la`", "run_command", r#"{"command":"ls -la"}"#),
        ("please run ls", "run_command", r#"{"command":"ls"}"#),
        ("Could you run `git log`, please?", "run_command", r#"{"command":"git log"}"#),
        ("Remember that I like tea", "store_memory", r#"{"content":"I like tea"}"#),
        ("what do you remember?", "list_memories", "{}"),
        ("load todo", "load_tools", r#"{"name":"todo"}"#),
        ("load the documents toolset", "load_tools", r#"{"name":"documents"}"#),
        ("make a plan for a tea party", "load_tools", r#"{"name":"todo"}"#),
        ("read Cargo.toml", "read_file", r#"{"path":"Cargo.toml"}"#),
        ("Read Cargo.toml using the read_file tool. #call", "read_file", r#"{"path":"Cargo.toml"}"#),
        ("list src", "list_directory", r#"{"path":"src"}"#),
        ("list .", "list_directory", r#"{"path":"."}"#),
        ("write a file note.txt with hello there", "write_file", r#"{"content":"hello there\n","path":"note.txt"}"#),
        ("what time is it?", "get_current_date_and_time", "{}"),
        ("What can you do?", "available_tools", "{}"),
    ];
    for (words, tool, arguments) in table {
        assert_eq!(after(words, &[], TOOLS).calls, [(tool.to_owned(), arguments.to_owned())], "{words}");
    }
}

#[test]
fn two_calls_in_one_message() {
    let both = after("calls both", &[], TOOLS).calls;
    assert_eq!([both[0].0.as_str(), both[1].0.as_str()], ["run_command", "get_current_date_and_time"]);
    let two = after("run `echo a` and `echo b`", &[], TOOLS).calls;
    assert_eq!(
        two.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
        [r#"{"command":"echo a"}"#, r#"{"command":"echo b"}"#]
    );
    let denied = ("run_command", Ending::NotAllowed, "Tool 'run_command' was not approved.");
    let ended = [denied, ("run_command", Ending::Ok, "exit 0\nb")];
    let text = after("run `echo a` and `echo b`", &ended, TOOLS).text;
    assert!(text.contains("you did not allow it") && text.contains("it answered – exit 0"), "{text}");
}

#[test]
fn results_are_answered_and_denials_acknowledged() {
    let ok = after("run `ls`", &[("run_command", Ending::Ok, "exit 0\nsrc")], TOOLS);
    assert_eq!(ok.text, "`ls` answered:\n\n```\nexit 0\nsrc\n```\n");
    let text = "Tool 'run_command' was not approved: not on a Sunday";
    let denied = after("run `ls`", &[("run_command", Ending::NotAllowed, text)], TOOLS);
    assert!(denied.text.contains("did not allow `ls`") && denied.text.contains("> not on a Sunday"), "{}", denied.text);
    assert!(denied.calls.is_empty());
    let failed = after("run `ls`", &[("run_command", Ending::TimedOut, "timed out")], TOOLS);
    assert!(failed.text.contains("it took too long"));
    let other = after("something", &[("x", Ending::Unknown, "no such tool")], TOOLS);
    assert!(other.text.contains("nothing has that name"));
}

#[test]
fn a_plan_loads_its_toolset_and_uses_it_in_the_next_round() {
    let loaded = ("load_tools", Ending::Loaded { toolset: "todo".into() }, "Loaded 'todo': todo.");
    let with_todo: Vec<&str> = TOOLS.iter().copied().chain(["todo"]).collect();
    let next = after("make a plan for a tea party", std::slice::from_ref(&loaded), &with_todo);
    assert_eq!(next.calls[0].0, "todo");
    let done = after("make a plan for a tea party", &[("todo", Ending::Ok, "1. [ ] say")], &with_todo);
    assert!(done.text.contains("1. [ ] say") && done.calls.is_empty());
    // Held already: no load.
    assert_eq!(after("make a plan", &[], &with_todo).calls[0].0, "todo");
    // The load was denied.
    let denied = ("load_tools", Ending::NotAllowed, "Tool 'load_tools' was not approved.");
    let told = after("make a plan", &[denied], TOOLS);
    assert!(told.calls.is_empty() && told.text.contains("you did not allow it"));
    assert!(after("load todo", &[loaded], &with_todo).text.contains("I hold 10 tools"));
}

#[test]
fn what_it_can_do_is_what_was_offered() {
    let asked = after("what can you do", &[("available_tools", Ending::Ok, "todo [loadable]: plans.")], TOOLS);
    assert!(asked.text.contains("- `run_command`: Does run_command\n"), "{}", asked.text);
    assert!(asked.text.contains("todo [loadable]: plans."));
    let without = after("what can you do", &[], &["read_file"]);
    assert!(without.calls.is_empty() && without.text.contains("carries 1 tools"));
    assert!(without.text.contains("think about rain"), "{}", without.text);
    for words in ["run `ls`", "remember I like tea", "load todo", "make a plan"] {
        assert!(asked.text.contains(words) == (words != "load todo" && words != "make a plan"), "{}", asked.text);
        assert!(!without.text.contains(words), "{}", without.text);
    }
    let cannot = after("run `ls`", &[], &["read_file"]);
    assert!(cannot.calls.is_empty() && cannot.text.contains("Toolsets that I may load: none."), "{}", cannot.text);
}

#[test]
fn reasoning_streams_and_titles() {
    let thought = after("Please think about rain", &[], TOOLS);
    assert!(thought.reasoning.contains("rain was named") && thought.text.contains("**rain**"));
    let streamed = after("stream 250", &[], &[]);
    assert_eq!(streamed.text.split_whitespace().count(), 250);
    let mut title = request(vec![user("one two three four five six seven")], &[]);
    title.kind = CallKind::Title;
    assert_eq!(play(&title).text, "one two three four five six");
    let mut wrap_up = request(vec![user("x"), assistant(vec![call(1, "", "f", "{}")])], TOOLS);
    wrap_up.messages.push(result(1, Ending::NotExecuted, "not executed"));
    wrap_up.messages.push(Message::User(UserMessage { text: "wrap up".into(), origin: UserOrigin::FinalAnswer }));
    (wrap_up.kind, wrap_up.tool_choice) = (CallKind::WrapUp, ToolChoice::None);
    let played = play(&wrap_up);
    assert!(played.calls.is_empty() && played.text.contains("it was not run"), "{}", played.text);
}

#[test]
fn it_names_itself_otherwise_and_only_offers_what_works() {
    let mut lost = request(vec![user("quantum llamas")], TOOLS);
    lost.system = "Also available, load before use: misc, todo.".to_owned();
    let lost = play(&lost);
    assert!(lost.text.contains("**rehearsal model**"));
    // What it tells people to try is understood: none of it lands in the last scene again.
    for words in [
        "what can you do",
        "remember I like tea",
        "what do you remember",
        "run `ls`",
        "read README.md",
        "list .",
        "write a file note.txt with hello",
        "load todo",
        "make a plan for a tea party",
        "what time is it",
        "think about rain",
        "stream 200",
    ] {
        assert!(lost.text.contains(words), "{words}");
        assert_ne!(after(words, &[], TOOLS).text, lost.text, "{words}");
    }
}

#[test]
fn a_known_request_without_its_tool_says_how_to_get_it() {
    for (words, toolset) in [
        ("run `ls`", "compute"),
        ("calls both", "compute"),
        ("remember I like tea", "memory"),
        ("what do you remember?", "memory"),
        ("make a plan for a tea party", "todo"),
        ("read README.md", "fs"),
        ("list .", "fs"),
        ("write a file note.txt with hello", "fs_write"),
        ("what time is it", "time"),
        ("what are they doing", "messaging"),
        ("tell researcher#1 to look at docs", "messaging"),
        ("compose a worker to try a command", "capabilities"),
        ("what is installed", "capabilities"),
    ] {
        let mut asked = request(vec![user(words)], &[]);
        let text = play(&asked).text;
        assert!(text.contains(&format!("the toolset `{toolset}`. This call carries none")), "{words}: {text}");
        assert!(text.contains("I may load: none."), "{words}: {text}");
        asked.system = format!("Hello.\n\nAlso available, load before use: misc, {toolset}.");
        let text = play(&asked).text;
        assert!(text.contains(&format!("say *load {toolset}*")), "{words}: {text}");
    }
    let text = after("load memory", &[], &[]).text;
    assert!(text.contains("I cannot load `memory`"), "{text}");
}

#[test]
fn what_the_tools_pane_asks_for_is_understood() {
    let asked = after("Please load the toolset misc.", &[], TOOLS);
    assert_eq!(asked.calls, [("load_tools".to_owned(), r#"{"name":"misc"}"#.to_owned())]);
    let loaded = ("load_tools", Ending::Loaded { toolset: "misc".into() }, "Loaded 'misc': echo.");
    assert!(after("Please load the toolset misc.", &[loaded], TOOLS).text.starts_with("Loaded."));
}

#[tokio::test]
async fn the_same_request_plays_the_same_and_ends_with_a_stop_and_usage() {
    let rehearsal = Rehearsal::from_toml("[[scene]]\nname = 'any'\ntext = 'Hello there.'").unwrap();
    let request = request(vec![user("hi")], &["f"]);
    assert_eq!(rehearsal.play(&request), rehearsal.play(&request));
    let client = Client::rehearsing(rehearsal);
    assert!(client.is_rehearsal());
    let deltas: Vec<_> = client.stream(request).map(Result::unwrap).collect().await;
    assert_eq!(deltas[..2], [Delta::Text { text: "Hello ".into() }, Delta::Text { text: "there.".into() }]);
    assert_eq!(deltas[2], Delta::Stop { reason: StopReason::End });
    assert!(matches!(deltas[3], Delta::Usage { usage } if usage.output == Some(2)));
}

#[test]
fn scripts_for_tests_can_be_wrong_on_purpose() {
    let script = r#"
        [[scene]]
        name = "broken arguments"
        said = ["broken"]
        [[scene.call]]
        tool = "f"
        raw = '{{"a": '
        [[scene]]
        name = "cut off"
        said = ["cut"]
        text = "So"
        fail = { kind = "overloaded", message = "busy", retry_after_ms = 1000 }
        [[scene]]
        name = "cap"
        said = ["long"]
        text = "a b"
        stop = "length"
        [[scene]]
        name = "silence"
        said = ["empty"]
    "#;
    let rehearsal = Rehearsal::from_toml(script).unwrap();
    let play = |words: &str| rehearsal.play(&request(vec![user(words)], &[]));
    let deltas: Vec<Delta> = play("broken").pieces.into_iter().map(|piece| piece.delta).collect();
    assert_eq!(calls(&deltas)[0].2, "{\"a\": ");
    let failure = play("cut").failure.unwrap();
    assert_eq!((failure.kind, failure.retry), (FailureKind::Overloaded, Retry::Backoff { at_least_ms: 1000 }));
    let stop =
        |words| play(words).pieces.into_iter().any(|piece| piece.delta == Delta::Stop { reason: StopReason::Length });
    assert!(stop("long") && !stop("empty"));
    assert_eq!(play("empty").pieces.len(), 2);
    assert_eq!(play("else").failure.unwrap().kind, FailureKind::BadRequest);
}

#[test]
fn a_wrong_script_says_where() {
    let table = [
        ("[[scene]]\nname = 'a'\ntext = '{nobody}'", "scene 'a': nothing is called '{nobody}'"),
        ("[[scene]]\nname = 'a'\nsaid = ['x {y', 'z']", "scene 'a': 'x {y': a brace is not closed"),
        ("[[scene]]\nname = 'a'\nsaid = ['x {y}', 'z']\ntext = '{y}'", "scene 'a': nothing is called '{y}'"),
        ("[[scene]]\nname = 'a'\nended = ['denied']", "scene 'a': ended: 'denied' is no ending"),
        ("[[scene]]\nname = 'a'\nafter = 'never'", "scene 'a': after = \"never\""),
        ("[[scene]]\nname = 'a'\nsays = 'x'", "unknown field `says`"),
    ];
    for (script, message) in table {
        let error = Rehearsal::from_toml(script).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_script_file_is_picked_by_the_model_string() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, "[[scene]]\nname = 'any'\ntext = 'mine'").unwrap();
    let new = |path: &std::path::Path| {
        let spec = format!("rehearsal:{}", path.display()).parse().unwrap();
        Client::new(&spec, None, None, Generation::default(), &|_| None)
    };
    assert_eq!(new(&path).unwrap().label(), "rehearsal");
    let missing = new(&folder.path().join("none.toml")).unwrap_err();
    assert!(missing.message.contains("none.toml"), "{missing}");
}

#[test]
fn the_documented_script_plays() {
    let docs = include_str!("../../docs/rehearsal.md");
    let script = docs.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let rehearsal = Rehearsal::from_toml(script).unwrap();
    let request = request(vec![user("run `ls`")], &["run_command"]);
    assert!(rehearsal.play(&request).failure.is_none());
    // Every request that the page lists is understood.
    let line = docs.split("## What the shipped script understands").nth(1).unwrap().split("##").next().unwrap();
    let lost = after("quantum llamas", &[], TOOLS).text;
    for words in line.split('*').skip(1).step_by(2) {
        assert_ne!(after(&words.replace('\n', " "), &[], TOOLS).text, lost, "{words}");
    }
}
