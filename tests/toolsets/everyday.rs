//! `misc`, `time`, `memory` and `todo`.

use std::sync::Arc;

use kokua::agent::NodeId;
use kokua::tool::{CallContext, Outcome};
use serde_json::{Value, json};

use super::{Bench, context};

#[tokio::test]
async fn echo_says_it() {
    assert_eq!(Bench::new().ok("echo", json!({ "echo_string": "hē\n" })).await, "hē\n");
}

#[tokio::test]
async fn the_clock_is_the_calls() {
    let bench = Bench::new();
    assert_eq!(
        bench.ok("get_current_date_and_time", json!({ "timezone": "Asia/Tokyo" })).await,
        "2026-11-30T20:00:00+09:00 (Monday, Asia/Tokyo, JST, UTC+09:00; 2026-11-30T11:00:00Z)"
    );
    let zone = json!({ "timezone": "Nowhere/City" });
    assert_eq!(
        bench.refused("get_current_date_and_time", zone).await,
        "Unknown timezone: 'Nowhere/City'. Use an IANA name such as 'Asia/Tokyo' or 'America/New_York'."
    );
    let given = json!({ "datetime_str": "soon", "from_timezone": "UTC", "to_timezone": "Asia/Tokyo" });
    assert_eq!(
        bench.refused("convert_time", given).await,
        "Cannot read 'soon' as a date and time. Write it as 2026-03-29T14:30, with the date."
    );
}

async fn store(bench: &Bench, facts: &[&str]) {
    for fact in facts {
        assert_eq!(bench.ok("store_memory", json!({ "content": fact })).await, "Stored.");
    }
}

fn memory_file(bench: &Bench) -> String {
    std::fs::read_to_string(bench.data().join("memory.md")).unwrap()
}

#[tokio::test]
async fn memory_is_a_file_a_person_can_edit() {
    let bench = Bench::new();
    assert_eq!(bench.ok("list_memories", json!({})).await, "Memory is empty.");
    store(&bench, &["Lives in\n  Berlin", "Likes tea"]).await;
    assert_eq!(
        memory_file(&bench),
        "# Memory\n\nOne fact a line. Edit freely; it is read at every call.\n\n- Lives in Berlin\n- Likes tea\n"
    );
    let edited = memory_file(&bench).replace("Likes tea", "Likes coffee") + "\n## Work\n* Works at Acme\n";
    std::fs::write(bench.data().join("memory.md"), edited).unwrap();
    assert_eq!(bench.ok("list_memories", json!({})).await, "- Lives in Berlin\n- Likes coffee\n- Works at Acme");
    store(&bench, &["Has a cat"]).await;
    assert!(memory_file(&bench).ends_with("\n## Work\n* Works at Acme\n- Has a cat\n"));
    assert_eq!(bench.ok("store_memory", json!({ "content": " has a CAT. " })).await, "Already stored.");
}

#[tokio::test]
async fn a_near_miss_and_never_stored_read_differently() {
    let bench = Bench::new();
    assert_eq!(
        bench.ok("search_memories", json!({ "query": "tea" })).await,
        "No relevant memories found. Memory is empty."
    );
    store(&bench, &["Lives in Berlin", "Likes green tea", "Likes black tea"]).await;
    assert_eq!(
        bench.ok("search_memories", json!({ "query": "what tea", "n_results": "1" })).await,
        "- Likes black tea"
    );
    assert_eq!(
        bench.ok("search_memories", json!({ "query": "Berlni" })).await,
        "No memory has these words. Nearest, perhaps not what was meant:\n- Lives in Berlin"
    );
    assert_eq!(bench.ok("search_memories", json!({ "query": "sailing" })).await, "No relevant memories found.");
    assert_eq!(
        bench.refused("forget_memory", json!({ "content": "likes tea" })).await,
        "Nothing was forgotten: no memory reads exactly \"likes tea\". Did you mean:\n- Likes black tea\n- Likes green tea"
    );
    assert_eq!(
        bench.refused("update_memory", json!({ "old": "Plays chess", "new": "Plays go" })).await,
        "Nothing was changed: nothing like \"Plays chess\" was ever stored."
    );
}

#[tokio::test]
async fn memories_are_changed_and_forgotten_by_their_words() {
    let bench = Bench::new();
    store(&bench, &["Lives in Berlin", "Likes tea"]).await;
    let moved = json!({ "old": "- lives in berlin.", "new": "Lives in Oslo" });
    assert_eq!(bench.ok("update_memory", moved).await, "Updated.");
    assert_eq!(
        bench.refused("update_memory", json!({ "old": "Lives in Oslo", "new": "likes tea" })).await,
        "Nothing was changed: \"likes tea\" is stored already."
    );
    assert_eq!(bench.ok("forget_memory", json!({ "content": "Likes tea" })).await, "Forgotten: Likes tea");
    assert!(memory_file(&bench).ends_with("\n- Lives in Oslo\n"));
}

#[tokio::test]
async fn memory_refuses_what_is_no_fact() {
    let bench = Bench::new();
    let table = [
        ("store_memory", json!({ "content": " \n " }), "A memory must not be empty."),
        (
            "store_memory",
            json!({ "content": "x".repeat(1_001) }),
            "A memory has at most 1000 characters. Store one fact at a time.",
        ),
        ("search_memories", json!({ "query": " " }), "query must not be empty; list_memories shows everything."),
        ("search_memories", json!({ "query": "a", "n_results": 0 }), "n_results must be 1 or greater, got 0"),
    ];
    for (tool, given, text) in table {
        assert_eq!(bench.refused(tool, given).await, text);
    }
}

#[tokio::test]
async fn memory_that_cannot_be_kept_is_said_and_left_alone() {
    let bench = Bench::new();
    let file = bench.data().join("memory.md");
    std::fs::write(&file, b"- caf\xe9\n").unwrap();
    let text = bench.refused("store_memory", json!({ "content": "x" })).await;
    assert!(text.contains("memory.md is not UTF-8 text"), "{text}");
    assert_eq!(std::fs::read(&file).unwrap(), b"- caf\xe9\n");
    assert_eq!(bench.ok("list_memories", json!({})).await, "- caf\u{fffd}");
    std::fs::write(&file, "- x\n".repeat(300_000)).unwrap();
    let text = bench.refused("store_memory", json!({ "content": "y" })).await;
    assert!(text.contains("would be over 1 MiB"), "{text}");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let text = bench.refused("list_memories", json!({})).await;
    assert!(text.starts_with("Memory cannot be read: ") && text.contains("memory.md"), "{text}");
}

#[tokio::test]
async fn many_agents_storing_at_once_lose_nothing() {
    let bench = Arc::new(Bench::new());
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..20 {
        let bench = Arc::clone(&bench);
        calls.spawn(async move { bench.ok("store_memory", json!({ "content": format!("fact {n}") })).await });
    }
    calls.join_all().await;
    assert_eq!(memory_file(&bench).matches("- fact ").count(), 20);
}

#[tokio::test]
async fn a_plan_is_made_worked_and_ended() {
    let bench = Bench::new();
    assert_eq!(bench.ok("todo", json!({})).await, "There is no plan. Send `steps` to make one.");
    let output = bench
        .call("todo", json!({ "title": "Tidy", "steps": ["remove build", "write note", "check"], "active": 1 }))
        .await;
    assert_eq!(output.text, "Tidy\n1. [>] remove build\n2. [ ] write note\n3. [ ] check\n0 of 3 done.");
    assert_eq!(output.note.as_deref(), Some("0 of 3 done"));
    assert_eq!(
        bench.ok("todo", json!({ "done": [1], "active": 2, "drop": [3] })).await,
        "Tidy\n1. [x] remove build\n2. [>] write note\n1 of 2 done."
    );
    // Another program over the same home, as after a restart.
    assert_eq!(bench.ok("todo", json!({})).await, "Tidy\n1. [x] remove build\n2. [>] write note\n1 of 2 done.");
    assert_eq!(bench.ok("todo", json!({ "close": true })).await, "Plan ended: 1 of 2 done.");
    assert_eq!(bench.ok("todo", json!({})).await, "There is no plan. Send `steps` to make one.");
}

#[tokio::test]
async fn a_plan_belongs_to_one_conversation_and_agent() {
    let bench = Bench::new();
    bench.ok("todo", json!({ "steps": ["a"] })).await;
    let tool = bench.tool("todo");
    for other in [
        CallContext { conversation: "conv-2".to_owned(), ..context() },
        CallContext { agent: "coder".to_owned(), ..context() },
        // Another worker of the same table.
        CallContext { node: NodeId(1), ..context() },
    ] {
        assert_eq!(tool.call(json!({}), other).await.text, "There is no plan. Send `steps` to make one.");
    }
    let strange = CallContext { conversation: "../../x".to_owned(), agent: "composed:y".to_owned(), ..context() };
    tool.call(json!({ "steps": ["a"] }), strange).await;
    assert!(bench.data().join("plans/______x/composed_y.json").exists());
    let worker = |number: u32| CallContext { agent: "coder".to_owned(), node: NodeId(number), ..context() };
    tool.call(json!({ "steps": ["first's"] }), worker(1)).await;
    tool.call(json!({ "steps": ["second's"] }), worker(2)).await;
    assert_eq!(tool.call(json!({}), worker(1)).await.text, "1. [ ] first's\n0 of 1 done.");
    assert!(bench.data().join("plans/conv-1/coder.2.json").exists());
}

#[tokio::test]
async fn a_plan_that_is_wrong_changes_nothing() {
    let bench = Bench::new();
    let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    let table: [(Value, &str); 6] = [
        (json!({ "done": [1] }), "There is no plan yet; send `steps` to make one. Nothing changed."),
        (json!({ "steps": many }), "A plan has at most 20 steps; these are 21. Nothing changed."),
        (json!({ "steps": [] }), "A plan needs a step; send `close` to end it. Nothing changed."),
        (json!({ "steps": ["a", " "] }), "A step must not be empty. Nothing changed."),
        (
            json!({ "steps": ["a"], "active": 2 }),
            "There is no step 2; the plan has 1, numbered from 1. Nothing changed.",
        ),
        (
            json!({ "steps": ["a"], "done": [0] }),
            "There is no step 0; the plan has 1, numbered from 1. Nothing changed.",
        ),
    ];
    for (given, text) in table {
        assert_eq!(bench.refused("todo", given).await, text);
    }
    assert_eq!(bench.ok("todo", json!({})).await, "There is no plan. Send `steps` to make one.");
}

#[tokio::test]
async fn a_plan_file_that_was_broken_is_said_and_can_be_ended() {
    let bench = Bench::new();
    bench.ok("todo", json!({ "steps": ["a"] })).await;
    let file = bench.data().join("plans/conv-1/assistant.json");
    std::fs::write(&file, "{").unwrap();
    let output = bench.call("todo", json!({ "done": [1] })).await;
    assert_eq!(output.outcome, Outcome::Failed);
    assert!(output.text.contains("cannot be read") && output.text.contains("Send `close`"), "{}", output.text);
    assert_eq!(bench.ok("todo", json!({ "close": true })).await, "Plan ended.");
    assert!(!file.exists());
}
