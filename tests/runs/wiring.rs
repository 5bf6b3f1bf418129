//! How an agent is wired: order, system message, what is beside what it holds.

use std::collections::BTreeSet;

use kokua::access::{AgentName, AllowList, Arrival, ToolId, ToolName};
use kokua::agent::{Delta, Effect, Event, Input, Moment, Record, Run, core_tools};

use crate::house;

#[test]
fn r16_resident_then_preloaded_then_core_and_what_lost_its_name_is_said() {
    let mut world = house::world(&[]);
    for name in ["todo", "documents"] {
        world.report_build(&house::toolset(name), &house::facts(&house::build(name))).unwrap();
    }
    let resident = vec![house::build("fs"), house::build("compute")];
    let preloaded = vec![house::build("todo"), house::build("documents")];
    let run = Run::new(house::spec(10, true, 1), &world, resident, preloaded, &[]);
    let wires: Vec<_> = run.held().tools().iter().map(|tool| tool.wire.as_str()).collect();
    assert_eq!(
        wires,
        [
            "list_directory",
            "read_file",
            "run_command",
            "erase_disk",
            "todo",
            "save_document",
            "available_tools",
            "load_tools"
        ]
    );
    let skipped: Vec<_> = run.skipped().iter().map(|lost| format!("{} {}", lost.toolset, lost.tool)).collect();
    assert_eq!(skipped, ["documents read_file"]);
    // R13: a preloaded toolset's guidance is in the prompt, and it is not among the loadable ones.
    assert_eq!(
        run.system(),
        "You help.\n\nRun one command at a time.\n\nList before saying empty.\n\nAlso available, load before use: bare."
    );
}

#[test]
fn every_held_tool_has_its_own_definition_core_tools_included() {
    let mut world = house::world(&[]);
    let run = house::run(&mut world, house::spec(10, true, 1), &[]);
    for tool in run.held().tools() {
        let definition = run.definition(&tool.id).expect("a definition");
        assert_eq!(definition.wire, tool.wire);
        assert_eq!((definition.bytes(), definition.digest()), (tool.bytes, tool.digest.clone()), "{}", tool.id);
    }
    assert_eq!(run.definition(&ToolId::core("spawn_subagent")), None);
}

#[test]
fn a8_core_tools_are_an_object_schema_and_a_short_description_each() {
    for tool in core_tools() {
        assert_eq!(tool.definition.schema["type"], "object");
        assert!(tool.facts.bytes < 500, "{} costs {} bytes in every call", tool.facts.name, tool.facts.bytes);
    }
}

#[test]
fn what_another_agent_carried_is_not_what_this_one_grew_by() {
    let mut world = house::world(&[]);
    let mut run = house::run(&mut world, house::spec(10, true, 1), &[]);
    let moment = Moment { now: 0, random: 0 };
    let said = || Input::Said { text: "go".to_owned(), attendance: house::ATTENDED, only: None };
    let mut records = Vec::new();
    for input in [said(), Input::Delta(Delta::Text { text: "Ok.".to_owned() }), Input::ModelEnded(Ok(()))] {
        records.extend(run.step(moment, &mut world, input).into_iter().filter_map(|effect| match effect {
            Effect::Record(record) => Some(record),
            _ => None,
        }));
    }
    let mut grown = |records: &[Record]| {
        let mut run = house::run(&mut world, house::spec(10, true, 1), records);
        run.step(moment, &mut world, said()).into_iter().find_map(|effect| match effect {
            Effect::Tell(Event::Call(line)) => Some(line.grown),
            _ => None,
        })
    };
    for record in &mut records {
        match record {
            Record::TurnStarted { agent, .. } => *agent = Some(AgentName::new("another")),
            Record::ModelCall { offer, .. } => offer.resident.clear(),
            _ => {}
        }
    }
    assert_eq!(grown(&records), Some(Vec::new()));
    for record in &mut records {
        if let Record::TurnStarted { agent, .. } = record {
            *agent = Some(house::spec(10, true, 1).name);
        }
    }
    assert_ne!(grown(&records), Some(Vec::new()), "the same agent did grow");
}

#[test]
fn o7_what_a_worker_may_call_lasts_its_life_and_a_turns_own_list_only_tightens_it() {
    let mut world = house::world(&[]);
    let names = |names: &[&str]| names.iter().map(|name| ToolName::new(*name)).collect::<BTreeSet<_>>();
    let mut spec = house::spec(10, true, 1);
    spec.conditions.allow = Some(AllowList::new(names(&["read_file", "run_command"]), &kokua::access::Held::default()));
    let mut run = house::run(&mut world, spec, &[]);
    let moment = Moment { now: 0, random: 0 };
    for (only, expected) in [
        (None, vec!["read_file", "run_command"]),
        (Some(names(&["list_directory", "read_file"])), vec!["read_file"]),
        (None, vec!["read_file", "run_command"]),
    ] {
        let said = Input::Said { text: "go".to_owned(), attendance: house::ATTENDED, only };
        let carried = run.step(moment, &mut world, said).into_iter().find_map(|effect| match effect {
            Effect::CallModel(request) => {
                Some(request.tools.iter().map(|tool| tool.wire.to_string()).collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(carried.unwrap(), expected);
        for input in [Input::Delta(Delta::Text { text: "Ok.".to_owned() }), Input::ModelEnded(Ok(()))] {
            run.step(moment, &mut world, input);
        }
        assert!(!run.is_running());
    }
}

#[test]
fn a9_a_skill_that_is_written_is_held_at_the_end_and_grows_there() {
    let mut world = house::world(&[]);
    let mut run = house::run(&mut world, house::spec(10, true, 1), &[]);
    let before = run.held().tools().to_vec();
    let mut skill = house::build("todo");
    assert_eq!(run.grow(&skill).added, [before.len()]);
    // What was held is neither described anew nor moved (R17).
    skill.tools[0].definition.description = "Another.".to_owned();
    skill.tools.push(house::build("documents").tools[0].clone());
    assert_eq!(run.grow(&skill).added, [before.len() + 1]);
    assert!(run.held().tools().starts_with(&before));
    let about = |tool: &str| run.definition(&ToolId::parse(tool).unwrap()).unwrap().description.clone();
    assert_eq!((about("todo.todo"), about("todo.save_document")), ("todo.".to_owned(), "save_document.".to_owned()));
    assert_eq!(run.held().arrival(&house::toolset("todo")), Some(Arrival::Skill));
}
