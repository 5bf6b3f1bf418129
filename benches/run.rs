//! What the pure middle costs: an agent's run over a long stream, and a request made into each wire's body.
#![cfg(test)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kokua::access::{
    AgentDeclaration, AgentName, Attendance, Available, Declarations, Kind, Registry, Risk, Span, Spanned, ToolFacts,
    ToolsetFacts, ToolsetName, World,
};
use kokua::agent::message::UserMessage;
use kokua::agent::{
    AgentSpec, AssistantMessage, BuiltTool, CallId, CallKind, Delta, Effect, Ending, Input, LoadedToolset, Message,
    Moment, Part, Request, ResultMessage, Run, StopReason, ToolCall, ToolChoice, UserOrigin,
};
use kokua::model::wire::Wire;
use kokua::model::{ModelOptions, Provider};
use serde_json::json;

const AGENT: &str = "assistant";
const MOMENT: Moment = Moment { now: 1_790_000_000_000, random: 7 };

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span { start: 0, end: 1, line: 1, column: 1 })
}

fn tools() -> Vec<BuiltTool> {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where to look, from the folder the program was started in."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many at most."},
        },
        "required": ["path"],
    });
    (0..20)
        .map(|number| BuiltTool::new(&format!("tool_{number}"), Risk::Read, "Looks at something.", schema.clone()))
        .collect()
}

/// An agent with one resident toolset of twenty tools.
fn agent() -> (World, Run) {
    let name = ToolsetName::new("shelf");
    let mut registry = Registry::new([]);
    let facts = ToolsetFacts {
        name: name.clone(),
        kind: Kind::BuiltIn,
        description: "A shelf.".to_owned(),
        entry_agent_only: false,
        commands: Vec::new(),
    };
    registry.register(facts).expect("a fresh name");
    let declarations = Declarations {
        entry: Some(spanned(AgentName::new(AGENT))),
        agents: vec![AgentDeclaration {
            name: spanned(AgentName::new(AGENT)),
            description: String::new(),
            available: Available::List(vec![spanned(name.clone())]),
            resident: None,
            pair: kokua::access::declare::Pair::default(),
            delegates_to: Vec::new(),
        }],
        ..Declarations::default()
    };
    let mut world = World::new(declarations, registry).expect("sound tables");
    let build = LoadedToolset { toolset: name.clone(), tools: tools(), guidance: None };
    let facts: Vec<ToolFacts> = build.tools.iter().map(|tool| tool.facts.clone()).collect();
    world.report_build(&name, &facts).expect("every entry matches");
    world.resolve().expect("every entry matches");
    let spec = AgentSpec {
        name: AgentName::new(AGENT),
        node: kokua::agent::NodeId::ENTRY,
        address: None,
        above: Vec::new(),
        conversation: "c1".to_owned(),
        opener: "You help.".to_owned(),
        max_iterations: 10,
        concurrent_tools: true,
        max_attempts: 1,
        conditions: kokua::access::Conditions::default(),
    };
    let run = Run::new(spec, &world, vec![build], Vec::new(), &[]);
    (world, run)
}

fn run(criterion: &mut Criterion) {
    let deltas = |count: usize| (0..count).map(|number| Delta::Text { text: format!("word {number} ") });
    criterion.bench_function("run/a turn of 5,000 deltas", |bench| {
        bench.iter_batched(
            || (agent(), deltas(5_000).collect::<Vec<_>>()),
            |((mut world, mut run), deltas)| {
                let said = Input::Said { text: "go on".to_owned(), attendance: Attendance::Attended, only: None };
                let began = run.step(MOMENT, &mut world, said);
                assert!(began.iter().any(|effect| matches!(effect, Effect::CallModel(_))), "{began:?}");
                for delta in deltas {
                    black_box(run.step(MOMENT, &mut world, Input::Delta(delta)));
                }
                run.step(MOMENT, &mut world, Input::Delta(Delta::Stop { reason: StopReason::End }));
                black_box(run.step(MOMENT, &mut world, Input::ModelEnded(Ok(()))));
                assert!(!run.is_running(), "the turn is over");
                (world, run)
            },
            BatchSize::LargeInput,
        );
    });
}

/// Two hundred rounds of a question, a call, its result and an answer, and twenty tools.
fn request() -> Request {
    let mut messages = Vec::new();
    for number in 0..200 {
        let id = CallId(number);
        messages.push(Message::User(UserMessage { text: format!("question {number}"), origin: UserOrigin::Person }));
        messages.push(Message::Assistant(AssistantMessage {
            parts: vec![
                Part::Text { text: "I look.".to_owned() },
                Part::Call(ToolCall {
                    risk: None,
                    id,
                    provider_id: format!("call_{number}"),
                    wire: "tool_1".to_owned(),
                    shown: "shelf.tool_1".to_owned(),
                    arguments: json!({"path": "src", "limit": number}).to_string(),
                    opaque: None,
                }),
            ],
            stop: Some(StopReason::Calls),
        }));
        messages.push(Message::Result(ResultMessage {
            call: id,
            ending: Ending::Ok,
            text: "a line of what was found\n".repeat(20),
        }));
        messages.push(Message::Assistant(AssistantMessage {
            parts: vec![Part::Text { text: "There it is, with some words around it.".to_owned() }],
            stop: Some(StopReason::End),
        }));
    }
    Request {
        kind: CallKind::Agent,
        system: "You help.".to_owned(),
        messages,
        tools: tools().into_iter().map(|tool| tool.definition).collect(),
        tool_choice: ToolChoice::Auto,
    }
}

fn encode(criterion: &mut Criterion) {
    let request = request();
    for (name, wire, provider) in [
        ("Chat Completions", Wire::OpenAi, Provider::Compatible),
        ("Anthropic", Wire::Anthropic, Provider::Anthropic),
        ("Ollama", Wire::Ollama, Provider::Ollama),
    ] {
        let options = ModelOptions::new(provider, "a-model");
        criterion.bench_function(&format!("encode/{name}, 800 messages, to bytes"), |bench| {
            bench.iter(|| serde_json::to_vec(&wire.encode(black_box(&request), &options)).map(|body| body.len()));
        });
    }
}

criterion_group!(benches, run, encode);
criterion_main!(benches);
