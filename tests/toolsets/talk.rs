//! `messaging` and `capabilities`: what each call asks of the tree, and what is refused before it asks.

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
            json!({ "to": " researcher#1 ", "text": " look at src \n" }),
            Request::Send { to: "researcher#1".to_owned(), text: " look at src \n".to_owned() },
        ),
        ("list_agents", json!({}), Request::List),
        ("check_agent", json!({ "address": "coder#1" }), Request::Check { address: "coder#1".to_owned() }),
        (
            "await_agents",
            json!({ "addresses": ["coder#1", " coder#2", "coder#1"] }),
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
async fn what_is_out_of_bounds_asks_nobody() {
    let long = "x".repeat(50_001);
    let table = [
        (
            "send_message",
            json!({ "to": "a", "text": long }),
            "A message has at most 20000 characters; this one has 50001.",
        ),
        ("send_message", json!({ "to": "  ", "text": "hi" }), "to must not be empty; list_agents shows every address."),
        ("send_message", json!({ "to": long, "text": "hi" }), "to is no address: it is over 100 characters long."),
        ("check_agent", json!({ "address": "" }), "address must not be empty"),
        ("stop_agent", json!({ "address": long }), "address is no address"),
        ("await_agents", json!({ "addresses": [] }), "addresses must name somebody"),
        ("await_agents", json!({ "addresses": ["a", " "] }), "each of addresses must not be empty"),
        (
            "await_agents",
            json!({ "addresses": (0..101).map(|n| format!("a#{n}")).collect::<Vec<_>>() }),
            "addresses are at most 100; these are 101.",
        ),
        ("compose_subagent", json!({ "name": "x", "task": " ", "tools": ["fs"] }), "task must not be empty"),
        ("compose_subagent", json!({ "name": "x", "task": "t", "tools": [] }), "tools must name at least one toolset"),
        (
            "compose_subagent",
            json!({ "name": "x", "task": "t", "tools": vec!["fs"; 101] }),
            "A worker is composed from at most 100 toolsets; these are 101.",
        ),
        (
            "compose_subagent",
            json!({ "name": "x", "task": "t", "tools": ["fs"], "instructions": long }),
            "task and instructions have at most 50000 characters each.",
        ),
    ];
    for (tool, given, begins) in table {
        let (asked, output) = asked(tool, given).await;
        assert_eq!((asked, output.outcome), (Vec::new(), Outcome::Failed), "{begins}");
        assert!(output.text.starts_with(begins), "{}", output.text);
    }
}

#[tokio::test]
async fn outside_of_a_turn_there_is_nobody() {
    let bench = Bench::new();
    let text = "No turn is currently running, so there is nobody to send to.";
    assert_eq!(bench.refused("list_agents", json!({})).await, text);
    assert_eq!(bench.refused("send_message", json!({ "to": "everyone", "text": "hi" })).await, text);
}
