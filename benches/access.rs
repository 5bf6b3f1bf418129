//! What a model call and a start pay for access: the offer chain with 500 tools, and the policies of 100 agents over 2,000
//! tools. Budgets (architecture.md, O4): 50 µs and 20 ms.
#![cfg(test)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use kokua::access::declare::{EntryList, Pair};
use kokua::access::{
    AgentDeclaration, AgentName, AllowList, Available, Conditions, Declarations, Held, Kind, Life, Outcome, Registry,
    Risk, Span, Spanned, ToolFacts, ToolName, ToolsetFacts, ToolsetName, World, explain, offer,
};

fn spanned<T>(value: T, line: usize) -> Spanned<T> {
    Spanned::new(value, Span { start: line, end: line + 1, line, column: 1 })
}

fn toolset(index: usize) -> ToolsetName {
    ToolsetName::new(format!("toolset-{index}"))
}

fn tools(of: usize, count: usize) -> Vec<ToolFacts> {
    let tool = |index| ToolFacts {
        name: ToolName::new(format!("toolset_{of}_tool_{index}")),
        risk: Risk::Read,
        bytes: 400,
        digest: "0123456789abcdef".to_owned(),
        trigger: None,
        schema: std::sync::Arc::default(),
    };
    (0..count).map(tool).collect()
}

fn registry(toolsets: usize) -> Registry {
    let mut registry = Registry::new([]);
    for index in 0..toolsets {
        let facts = ToolsetFacts {
            name: toolset(index),
            kind: Kind::BuiltIn,
            description: "A toolset.".to_owned(),
            entry_agent_only: false,
            commands: Vec::new(),
        };
        registry.register(facts).expect("a fresh name");
    }
    registry
}

/// Agents that all list everything, each with its own pair: half of the toolsets whole, half of them by one tool.
fn declarations(agents: usize, toolsets: usize) -> Declarations {
    let agent = |index: usize| AgentDeclaration {
        name: spanned(
            AgentName::new(if index == 0 { "assistant".to_owned() } else { format!("agent-{index}") }),
            index,
        ),
        description: String::new(),
        available: Available::List((0..toolsets).map(|index| spanned(toolset(index), index)).collect()),
        resident: None,
        pair: Pair {
            confirm: Some(EntryList {
                key: Span::default(),
                entries: (0..toolsets / 2).map(|index| spanned(toolset(index).to_string(), index)).collect(),
            }),
            review: Some(EntryList {
                key: Span::default(),
                entries: (toolsets / 2..toolsets)
                    .map(|index| spanned(format!("toolset-{index}.toolset_{index}_tool_0"), index))
                    .collect(),
            }),
        },
        delegates_to: Vec::new(),
    };
    Declarations { agents: (0..agents).map(agent).collect(), ..Declarations::default() }
}

fn offer_chain(criterion: &mut Criterion) {
    let mut world = World::new(declarations(1, 50), registry(50)).expect("sound tables");
    for index in 0..50 {
        world.report_build(&toolset(index), &tools(index, 10)).expect("every entry matches");
    }
    world.resolve().expect("every entry matches");
    world.switch_off(vec![spanned(toolset(3), 1)]).expect("an installed toolset");
    world.report_check(&toolset(7), Some("toolset_7_tool_1"), Some("down".to_owned()));
    let agent = AgentName::new("assistant");
    let held = world.fresh(&agent);
    // A chain that every filter looks at: the mode withholds a kind, and the turn has a list of all its tools.
    let names = held.tools().iter().map(|tool| tool.id.name.clone()).collect();
    let conditions = Conditions {
        mode: Some(world.mode("companion").expect("a shipped mode")),
        allow: Some(AllowList::new(names, &held)),
        ..Conditions::default()
    };
    assert_eq!(held.tools().len(), 500, "the budget is for 500 tools");
    criterion.bench_function("offer of 500 tools", |bencher| {
        let life = Life::new(&agent, &held);
        bencher.iter(|| offer(black_box(&world), black_box(life)));
    });
    criterion.bench_function("offer of 500 tools, every filter awake", |bencher| {
        let life = Life::new(&agent, &held).under(&conditions);
        bencher.iter(|| offer(black_box(&world), black_box(life)));
    });
}

fn policies(criterion: &mut Criterion) {
    let builds: Vec<Vec<ToolFacts>> = (0..40).map(|index| tools(index, 50)).collect();
    let fresh = World::new(declarations(100, 40), registry(40)).expect("sound tables");
    criterion.bench_function("policies of 100 agents over 2,000 tools", |bencher| {
        bencher.iter_batched(
            || fresh.clone(),
            |mut world| {
                for (index, tools) in builds.iter().enumerate() {
                    world.report_build(&toolset(index), tools).expect("every entry matches");
                }
                world.resolve().expect("every entry matches");
                world
            },
            criterion::BatchSize::LargeInput,
        );
    });
    criterion.bench_function("checks of 100 tables", |bencher| {
        bencher.iter_batched(
            || (declarations(100, 40), registry(40)),
            |(declarations, registry)| World::new(declarations, registry),
            criterion::BatchSize::LargeInput,
        );
    });
}

/// Every agent's every tool, each with its five answers and all their reasons.
fn explanations(criterion: &mut Criterion) {
    let mut world = World::new(declarations(100, 40), registry(40)).expect("sound tables");
    for index in 0..40 {
        world.report_build(&toolset(index), &tools(index, 50)).expect("every entry matches");
    }
    world.resolve().expect("every entry matches");
    let agents: Vec<AgentName> = world.declarations().agents.iter().map(|agent| agent.name.value.clone()).collect();
    let held: Vec<Held> = agents.iter().map(|agent| world.fresh(agent)).collect();
    let mut group = criterion.benchmark_group("explain");
    group.sample_size(10);
    group.bench_function("every pair of 100 agents and 2,000 tools", |bencher| {
        bencher.iter(|| {
            let mut asks = 0;
            for (agent, held) in agents.iter().zip(&held) {
                for tool in held.tools() {
                    let explanation = explain(&world, Life::new(agent, held), &tool.id, None);
                    asks += usize::from(explanation.outcome == Outcome::Asks);
                }
            }
            assert!(black_box(asks) > 0);
        });
    });
}

criterion_group!(benches, offer_chain, policies, explanations);
criterion_main!(benches);
