//! `messaging` and `capabilities`: what each call asks of the tree.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use kokua::agent::delegate::Request;
use kokua::tool::{Agents, CallContext, Outcome, Output, arguments};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Bench, context};

/// Calls with a tree that answers everything in one way, and says what it was asked.
async fn asked(tool: &str, given: Value) -> (Vec<Request>, Output) {
    let tool = Bench::new().tool(tool);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let agents = Agents::new(move |request| {
        hears.lock().unwrap().push(request);
        async { Output::ok("answered").with_note("noted") }.boxed()
    });
    let given = arguments::check(&tool.spec().name, &tool.spec().schema, given).unwrap();
    let output = tool.call(given, CallContext { agents, ..context() }).await;
    let asked = heard.lock().unwrap().clone();
    (asked, output)
}

#[tokio::test]
async fn every_call_is_one_request_and_its_answer_the_trees() {
    let table = [
        (
            "send_message",
            json!({ "to": "researcher#1", "text": " look at src \n" }),
            Request::Send { to: "researcher#1".to_owned(), text: " look at src \n".to_owned() },
        ),
        ("list_agents", json!({}), Request::List),
        ("check_agent", json!({ "address": "coder#1" }), Request::Check { address: "coder#1".to_owned() }),
        (
            "await_agents",
            json!({ "addresses": ["coder#1", "coder#2"] }),
            Request::Await { addresses: vec!["coder#1".to_owned(), "coder#2".to_owned()] },
        ),
        // Models write a list as text.
        (
            "await_agents",
            json!({ "addresses": "[\"coder#1\"]" }),
            Request::Await { addresses: vec!["coder#1".to_owned()] },
        ),
        ("stop_agent", json!({ "address": "coder#1" }), Request::Stop { address: "coder#1".to_owned() }),
        ("list_capabilities", json!({}), Request::Capabilities { filter: String::new() }),
        ("list_capabilities", json!({ "filter": "web" }), Request::Capabilities { filter: "web".to_owned() }),
        (
            "compose_subagent",
            json!({ "name": "checker", "task": "Look.", "tools": ["fs"] }),
            Request::Compose {
                label: "checker".to_owned(),
                task: "Look.".to_owned(),
                toolsets: vec!["fs".to_owned()],
                instructions: String::new(),
            },
        ),
    ];
    for (tool, given, request) in table {
        let (asked, output) = asked(tool, given).await;
        assert_eq!(asked, [request], "{tool}");
        assert_eq!(output, Output::ok("answered").with_note("noted"));
    }
}

#[tokio::test]
async fn a_task_that_is_too_long_asks_nobody() {
    let long = "x".repeat(50_001);
    for given in [
        json!({ "name": "x", "task": long, "tools": ["fs"] }),
        json!({ "name": "x", "task": "t", "tools": ["fs"], "instructions": long }),
    ] {
        let (asked, output) = asked("compose_subagent", given).await;
        assert_eq!((asked, output.outcome), (Vec::new(), Outcome::Failed));
        assert!(
            output.text.starts_with("task and instructions have at most 50000 characters each."),
            "{}",
            output.text
        );
    }
}

#[tokio::test]
async fn outside_of_a_turn_there_is_nobody() {
    let bench = Bench::new();
    let text = "No turn is currently running, so there is nobody to send to.";
    assert_eq!(bench.refused("list_agents", json!({})).await, text);
    assert_eq!(bench.refused("send_message", json!({ "to": "everyone", "text": "hi" })).await, text);
}
