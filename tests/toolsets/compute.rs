//! `compute`: what runs, what is refused, and what a card shows of it.

use std::path::Path;
use std::time::{Duration, Instant};

use kokua::tool::Outcome;
use serde_json::json;

use super::{Bench, context};

#[tokio::test]
async fn calculate_answers_or_says_what_is_wrong() {
    let bench = Bench::new();
    assert_eq!(bench.ok("calculate", json!({ "expression": "2**10" })).await, "1024");
    assert_eq!(bench.ok("calculate", json!({ "expression": 5 })).await, "5");
    assert_eq!(
        bench.refused("calculate", json!({ "expression": "2^10" })).await,
        "Error: '^' is not a power here: write ** instead"
    );
}

#[tokio::test]
async fn a_command_answers_with_its_exit_and_output() {
    let bench = Bench::new();
    bench.file("sub/a.txt", "x");
    let output = bench.call("run_command", json!({ "command": "pwd; echo oops >&2; exit 3" })).await;
    assert_eq!(output.outcome, Outcome::Ok, "a non-zero exit is an answer");
    assert_eq!(output.text, format!("exit 3\n--- stdout ---\n{}\n--- stderr ---\noops", bench.work.display()));
    assert_eq!(output.note.as_deref(), Some("exit 3"));
    assert_eq!(bench.ok("run_command", json!({ "command": "true" })).await, "exit 0\n(no output)");
    assert_eq!(
        bench.ok("run_command", json!({ "command": "ls", "cwd": "sub" })).await,
        "exit 0\n--- stdout ---\na.txt"
    );
    assert_eq!(bench.ok("run_command", json!({ "command": "kill -9 $$" })).await, "killed by signal 9\n(no output)");
}

#[tokio::test]
async fn a_command_that_cannot_start_says_why() {
    let bench = Bench::new();
    bench.file("a.txt", "x");
    for cwd in ["absent", "a.txt"] {
        assert_eq!(
            bench.refused("run_command", json!({ "command": "ls", "cwd": cwd })).await,
            format!("Error: working directory does not exist: {cwd}")
        );
    }
    assert_eq!(
        bench.refused("run_command", json!({ "command": "ls\u{0}" })).await,
        "Error: command must not contain a NUL character"
    );
}

#[tokio::test]
async fn a_command_over_its_time_keeps_what_it_wrote() {
    let bench = Bench::new();
    let given = json!({ "command": "echo begun; sleep 100", "timeout": -5 });
    let output = bench.call("run_command", given).await;
    assert_eq!(output.outcome, Outcome::TimedOut);
    assert_eq!(output.text, "Error: command timed out after 1s\n--- stdout ---\nbegun");
    assert_eq!(output.note.as_deref(), Some("timed out"));
}

/// Bug 50.
#[tokio::test]
async fn both_streams_share_one_bound() {
    let bench = Bench::new();
    let command = "head -c 50000 /dev/zero | tr '\\0' a; head -c 50000 /dev/zero | tr '\\0' b >&2";
    let text = bench.ok("run_command", json!({ "command": command })).await;
    assert_eq!(text.matches('a').count() - text.matches("truncated").count(), 10_000);
    assert!(text.len() < 20_400, "{}", text.len());
    assert_eq!(text.matches("[... truncated 40000 more bytes]").count(), 2);
}

#[tokio::test]
async fn dropping_a_call_ends_the_command() {
    let bench = Bench::new();
    let file = bench.work.join("pid");
    let command = format!("echo $$ > {}; sleep 100", file.display());
    let tool = bench.tool("run_command");
    let call = tokio::spawn(tool.call(json!({ "command": command }), context()));
    let deadline = Instant::now() + Duration::from_secs(20);
    let pid = loop {
        if let Ok(text) = std::fs::read_to_string(&file)
            && let Ok(pid) = text.trim().parse::<u32>()
        {
            break pid;
        }
        assert!(Instant::now() < deadline, "the command never began");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    call.abort();
    let stat = format!("/proc/{pid}/stat");
    while Path::new(&stat).exists() && !std::fs::read_to_string(&stat).unwrap_or_default().contains(") Z ") {
        assert!(Instant::now() < deadline, "the command never ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn the_card_of_a_command_shows_its_words_and_where_it_runs() {
    let bench = Bench::new();
    let tool = bench.tool("run_command");
    let preview = tool.preview(&json!({ "command": "rm -rf 'my build' && mkdir build" }));
    assert_eq!(
        preview.facts,
        [
            ("cwd".to_owned(), bench.work.display().to_string()),
            ("words".to_owned(), r#"["rm","-rf","my build","&&","mkdir","build"]"#.to_owned()),
        ]
    );
    let open = tool.preview(&json!({ "command": "echo 'a", "cwd": "absent" }));
    assert_eq!(open.facts[1].1, "cannot be split into words: a quote is open");
    assert!(open.facts[0].1.ends_with("/absent (does not exist)"));
    assert_ne!(open.digest, preview.digest, "it depends on where it runs");
}

#[tokio::test]
async fn python_prints_and_shows_its_last_expression() {
    let bench = Bench::new();
    let table = [
        ("1 + 1", "2"),
        ("print('é')\nx = 3\nx * 2", "é\n6"),
        ("x = 1", "(no output)"),
        ("None", "(no output)"),
        ("import math\nmath.factorial(5)", "120"),
        ("", "(no output)"),
        ("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nf(10)", "55"),
        ("import sys", ""),
    ];
    for (code, expected) in table {
        let output = bench.call("execute_python", json!({ "code": code })).await;
        if code == "import sys" {
            assert_eq!(output.outcome, Outcome::Failed);
            assert!(output.text.contains("ImportError: 'sys' cannot be imported here"), "{}", output.text);
        } else {
            assert_eq!((output.outcome, output.text.as_str()), (Outcome::Ok, expected), "{code}");
        }
    }
}

#[tokio::test]
async fn a_python_error_is_its_own_traceback() {
    let bench = Bench::new();
    let text = bench.refused("execute_python", json!({ "code": "print('begun')\n1 / 0" })).await;
    assert!(text.starts_with("begun\nError:\nTraceback (most recent call last):\n  File \"<code>\", line 2"), "{text}");
    assert!(text.ends_with("ZeroDivisionError: division by zero"), "{text}");
    assert!(!text.contains("<string>"), "{text}");
    let text = bench.refused("execute_python", json!({ "code": "if" })).await;
    assert!(text.contains("SyntaxError"), "{text}");
    let text = bench.refused("execute_python", json!({ "code": "open('/etc/passwd')" })).await;
    assert!(text.ends_with("NameError: name 'open' is not defined"), "{text}");
    let text = bench.refused("execute_python", json!({ "code": "a = 'x' * (1024 ** 3)" })).await;
    assert!(text.contains("MemoryError"), "{text}");
}
