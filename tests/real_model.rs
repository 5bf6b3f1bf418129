//! The binary against a real model behind a real server, where `$KOKUA_REAL_LLM` names one (`.ci/run` serves it).
//! Without that variable there is nothing to test, and the test says so.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and at the environment")]

mod common;

use common::{Home, code, events, of_type};

/// So small a model may write calls, or one argument, without end. What it writes is its own affair; how much is ours:
/// room for a whole call, and for far fewer than an answer may have.
fn bound_the_answer(home: &Home) {
    let path = home.state().join("config.toml");
    let shipped = std::fs::read_to_string(&path).unwrap();
    let bounded = shipped.replace("#[assistant.generation]", "[assistant.generation]");
    let bounded = bounded.replace("#max_tokens = 4096", "max_tokens = 200");
    assert!(bounded.contains("\n[assistant.generation]\n") && bounded.contains("\nmax_tokens = 200\n"), "{bounded}");
    std::fs::write(path, bounded).unwrap();
}

fn a_real_call(wire: &str) {
    let Ok(base) = std::env::var("KOKUA_REAL_LLM") else {
        eprintln!("not run: KOKUA_REAL_LLM names no server");
        return;
    };
    let home = Home::new();
    bound_the_answer(&home);
    std::fs::write(home.work().join("Cargo.toml"), "[package]\nname = \"example\"\n").unwrap();
    let model = format!("{wire}:smollm2-135m@{base};tools");
    let out = home
        .kokua(&["run", "--model", &model, "--json", "-p", "Read Cargo.toml using the read_file tool. #call"])
        .env("ANTHROPIC_API_KEY", "not-a-key")
        .output()
        .unwrap();
    let seen = events(&out.stdout);
    println!("{}", String::from_utf8_lossy(&out.stdout));
    let calls = of_type(&seen, "tool_call");
    assert!(!calls.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    for call in calls {
        let results = of_type(&seen, "tool_result").into_iter().filter(|result| result["call"] == call["call"]).count();
        assert_eq!(results, 1, "{call}");
    }
    assert_eq!(of_type(&seen, "end").len(), 1);
    assert_eq!(seen.last().unwrap()["type"], "end");
    // 3: the small model chose a call that asks first, and nobody was there.
    assert!([0, 3].contains(&code(&out)), "{seen:?}");
}

#[test]
fn a_real_openai_stream_calls_a_tool_and_ends() {
    a_real_call("openai-compat");
}

#[test]
fn a_real_anthropic_stream_calls_a_tool_and_ends() {
    a_real_call("anthropic");
}
