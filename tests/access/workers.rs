//! A9, R11, R13, R15, R19, R20 and P4's composed workers: skills, servers that are away, and agents that live inside a turn.

use crate::common::*;
use kokua::access::*;
use pretty_assertions::assert_eq;

fn core_too() -> Vec<ToolFacts> {
    tools(&["spawn_subagent", "activate_skill", "available_tools", "load_tools"])
}

/// `skills` writes them; two are installed; `files` and `time` are built-in.
fn with_skills() -> Registry {
    let mut registry = registry(&["files", "time"]);
    registry.register(ToolsetFacts { entry_agent_only: true, ..toolset_facts("skills", Kind::BuiltIn) }).unwrap();
    for name in ["haiku", "invoices"] {
        registry.register(toolset_facts(name, Kind::Skill)).unwrap();
    }
    registry
}

fn skilled(agents: Vec<AgentDeclaration>) -> World {
    let mut world = World::new(declare(agents), with_skills()).unwrap();
    world.define_core(core_too());
    let builds: [(&str, &[&str]); 5] = [
        ("files", &["list"]),
        ("time", &["now"]),
        ("skills", &["author_skill"]),
        ("haiku", &["write_haiku"]),
        ("invoices", &["total"]),
    ];
    for (name, offered) in builds {
        world.report_build(&toolset(name), &tools(offered)).unwrap();
    }
    world.resolve().unwrap();
    world
}

#[test]
fn a9_the_entry_agent_reaches_every_skill_by_skills_or_all_and_else_those_it_names() {
    let held = |table: AgentDeclaration| {
        let world = skilled(vec![table]);
        assert!(!names(&world.deferred(&me())).contains(&"haiku"), "a skill of the entry agent is never deferred");
        held_names(&world.fresh(&me())).join(" ")
    };
    let entry = || agent("assistant", 10);
    assert_eq!(held(entry().available(&["time", "skills"])), "now author_skill activate_skill write_haiku total");
    assert_eq!(
        held(entry().all().resident(&["time"])),
        "now activate_skill write_haiku total available_tools load_tools"
    );
    assert_eq!(held(entry().available(&["time", "invoices"])), "now activate_skill total");
    // Listing `skills` and leaving it for a load: the authoring tools wait, the skills do not.
    assert_eq!(
        held(entry().available(&["time", "skills"]).resident(&["time"])),
        "now activate_skill write_haiku total available_tools load_tools"
    );
    assert_eq!(held(entry().available(&["time"])), "now");
    // Each skill is built at the start, for nothing that is held waits for a load (P7).
    let world = skilled(vec![entry().available(&["skills"]).resident(&[])]);
    assert_eq!(names(&world.startup_builds()), ["haiku", "invoices"]);
}

#[test]
fn a9_a_workers_skill_is_a_toolset_like_any_other() {
    let world = skilled(vec![
        agent("assistant", 10).available(&["time"]).delegates_to(&["poet", "clerk"]),
        agent("poet", 20).available(&["time", "haiku"]),
        agent("clerk", 30).available(&["files", "invoices"]).resident(&["files"]),
        agent("plain", 40).available(&["time"]),
    ]);
    let held = |name: &str| held_names(&world.fresh(&agent_name(name))).join(" ");
    assert_eq!(held("poet"), "now write_haiku activate_skill");
    assert_eq!(held("clerk"), "list activate_skill available_tools load_tools", "deferred until it is loaded");
    assert_eq!(held("plain"), "now");
    let clerk = agent_name("clerk");
    let fresh = world.fresh(&clerk);
    assert_eq!(
        world.names_line(Life::new(&clerk, &fresh)).as_deref(),
        Some("Also available, load before use: invoices.")
    );
    assert!(world.may_load(Life::new(&clerk, &fresh), "haiku").is_err(), "the skill of another");
}

#[test]
fn a9_a_skill_that_gains_a_script_is_judged_before_anybody_holds_it_and_grows_at_the_end() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["skills"]).resident(&[])]);
    declarations.default_pair = default_pair(&["haiku.publish", "haiku.write_haiku"], &[]);
    let mut world = World::new(declarations, with_skills()).unwrap();
    world.define_core(core_too());
    let both = tools(&["publish", "write_haiku"]);
    world.report_build(&toolset("haiku"), &both).unwrap();
    world.report_build(&toolset("invoices"), &[]).unwrap();
    world.resolve().unwrap();
    let mut held = world.fresh(&me());
    let before = held.tools().to_vec();
    // A third script stands first in its folder, and one that is held reads otherwise now.
    let mut third = tools(&["admire", "publish", "write_haiku"]);
    third[1].digest = "rewritten".to_owned();
    world.report_build(&toolset("haiku"), &third).unwrap();
    let outcome = held.grow(&toolset("haiku"), &third);
    assert_eq!(held.tools()[..before.len()], before[..], "nothing that was held changed (R17)");
    assert_eq!(held_names(&held)[before.len()..], ["admire"]);
    assert_eq!((outcome.added, outcome.skipped), (vec![before.len()], Vec::new()));
    assert_eq!(held.tools()[before.len()].arrival, Arrival::Skill);
    // One that lost the script its gate is on reaches nobody: the hook says so first.
    world.report_build(&toolset("haiku"), &tools(&["admire", "write_haiku", "erase"])).unwrap_err();
    assert_eq!(held.grow(&toolset("nothing"), &tools(&["erase"])), LoadOutcome::default());
    assert_eq!(world.last_build(&toolset("haiku")).unwrap().len(), 3, "the refused build counts for nothing");
    // A skill that came to be: known to the tables at once, held by nobody before its build was judged.
    world.register_skill(toolset_facts("limerick", Kind::Skill)).unwrap();
    let slot = Slot::Toolset(toolset("limerick"), Arrival::Skill);
    assert!(world.wiring(&me(), &[]).contains(&slot));
    assert_eq!(held.by_declared("rhyme"), None);
    let error = world.register_skill(toolset_facts("files", Kind::Skill)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two toolsets are named 'files': one is built-in, the other skill; rename one of them"
    );
}

/// What an entry agent reaches without naming it counts as its own everywhere: in entries, in what its own pair dropped, in
/// what the model is told, in the ledger.
#[test]
fn a9_a_skill_that_is_reached_and_not_named_has_gates_rows_and_answers() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["time", "skills"]).resident(&["time"]).confirm(&["haiku.write_haiku"]),
        agent("spare", 20).available(&["invoices"]),
    ]);
    declarations.default_pair = default_pair(&["invoices.total"], &[]);
    let mut world = World::new(declarations, with_skills()).unwrap();
    world.define_core(core_too());
    for (name, offered) in [("time", &["now"]), ("haiku", &["write_haiku"]), ("invoices", &["total"])] {
        world.report_build(&toolset(name), &tools(offered)).unwrap();
    }
    world.resolve().unwrap();
    let mut held = world.fresh(&me());
    assert_eq!(asks(&mut world, "assistant", &held, "haiku.write_haiku").as_deref(), Some("haiku.write_haiku"));
    assert_eq!(report(&world, &me(), None, None).dropped_defaults, ["invoices.total"]);
    let agent = me();
    let life = Life::new(&agent, &held);
    assert_eq!(
        world.available_tools(life, "i"),
        "time [resident]: About time.\n\
         skills [loadable]: About skills.\n\
         haiku [resident]: About haiku. Asks first: write_haiku.\n\
         invoices [resident]: About invoices."
    );
    assert_eq!(
        world.may_load(life, "haiku").unwrap_err(),
        "'haiku' is resident: its tools are already in your tool list."
    );
    // One whose build failed is not held, and its row says why.
    world.report_failure(&toolset("invoices"), "no such folder");
    held = Held::default();
    let deferred = offer(&world, Life::new(&agent, &held)).ledger.deferred;
    let row = deferred.iter().find(|row| row.toolset.as_str() == "invoices").unwrap();
    assert_eq!(row.withheld.reason, "not loaded; its last build failed: no such folder");
    // A worker's pair speaks of what the worker lists.
    let worker = agent_name("spare");
    let spare = world.fresh(&worker);
    assert_eq!(asks(&mut world, "spare", &spare, "invoices.total").as_deref(), Some("invoices.total"));
}

#[test]
fn a9_an_agent_that_names_its_skills_is_given_no_new_one() {
    let mut world = skilled(vec![
        agent("assistant", 10).available(&["haiku"]),
        agent("poet", 20).available(&["haiku"]),
        agent("everything", 30).all().resident(&[]),
    ]);
    world.register_skill(toolset_facts("limerick", Kind::Skill)).unwrap();
    let reaches = |name: &str| {
        let slots = world.wiring(&agent_name(name), &[toolset("limerick")]);
        slots.iter().any(|slot| matches!(slot, Slot::Toolset(skill, _) if skill.as_str() == "limerick"))
    };
    assert_eq!(["assistant", "poet", "everything"].map(reaches), [false, false, true]);
}

/// `weather` is a server: resident for the entry agent, deferred for the worker.
fn served() -> World {
    let mut registry = registry(&["time"]);
    registry.register(toolset_facts("weather", Kind::Mcp)).unwrap();
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["time", "weather"]),
        agent("coder", 20).available(&["time", "weather"]).resident(&["time"]),
    ]);
    declarations.default_pair = default_pair(&["weather.forecast"], &[]);
    let mut world = World::new(declarations, registry).unwrap();
    world.define_core(core());
    world.report_build(&toolset("time"), &tools(&["now"])).unwrap();
    world
}

#[test]
fn r11_a_server_that_is_away_is_unknown_its_entries_pend_and_nothing_of_it_is_given() {
    let mut world = served();
    let (weather, coder) = (toolset("weather"), agent_name("coder"));
    world.report_fact(&weather, None, Some(Fact::NotConnected("connection\nrefused".to_owned())));
    // A resident server that is down: no empty build, so nothing says that its entry matches nothing.
    world.resolve().unwrap();
    assert!(report(&world, &me(), None, None).entries[0].pending);
    assert_eq!(held_names(&world.fresh(&me())), ["now"]);
    let held = world.fresh(&coder);
    assert_eq!(
        world.may_load(Life::new(&coder, &held), "weather").unwrap_err(),
        "Could not load 'weather': its server is not connected: connection refused"
    );
    assert_eq!(
        world.compose(Life::new(&coder, &held), "helper", std::slice::from_ref(&weather), Nested::Leaf).unwrap_err(),
        "'weather': its server is not connected: connection refused"
    );
    // It answers: the next load and the next rebuild have it, and the entry is resolved.
    world.report_fact(&weather, None, None);
    assert_eq!(world.may_load(Life::new(&coder, &held), "weather"), Ok(weather.clone()));
    world.report_build(&weather, &tools(&["forecast"])).unwrap();
    assert!(!report(&world, &me(), None, None).entries[0].pending);
    let held = world.fresh(&me());
    assert_eq!(held_names(&held), ["now", "forecast"]);
    // It drops again: held tools stay held and are withheld at once, for a fact is never "last known".
    world.report_fact(&weather, None, Some(Fact::NotConnected("gone away".to_owned())));
    assert_eq!(offer(&world, Life::new(&me(), &held)).kept, [0]);
    assert_eq!(
        world.dispatch(Life::new(&me(), &held), &id("weather.forecast"), "digest of forecast").as_deref(),
        Some("forecast is not available now: its server is not connected: gone away")
    );
    world.report_fact(&weather, None, None);
    assert_eq!(offer(&world, Life::new(&me(), &held)).kept, [0, 1]);
}

#[test]
fn r13_what_was_preloaded_is_held_like_what_is_resident() {
    let mut world = started(
        declare(vec![agent("assistant", 10).available(&["memory", "time", "files"]).resident(&["memory"])]),
        registry(&["memory", "time", "files"]),
        &[("memory", &["recall"]), ("time", &["now", "recall"])],
    );
    let held = world.rebuilt(&me(), &[toolset("time"), toolset("gone")]);
    let agent = me();
    let life = Life::new(&agent, &held);
    assert_eq!(held_names(&held), ["recall", "now", "available_tools", "load_tools"]);
    assert_eq!(held.arrival(&toolset("time")), Some(Arrival::Preloaded));
    assert!(world.available_tools(life, "time").starts_with("time [resident]: "));
    assert_eq!(world.names_line(life).as_deref(), Some("Also available, load before use: files."));
    assert_eq!(
        world.may_load(life, "time").unwrap_err(),
        "'time' is resident: its tools are already in your tool list."
    );
    // A name that it holds was given directly, not by a load (R7).
    let mut held = held.clone();
    world.report_build(&toolset("files"), &tools(&["now"])).unwrap();
    let outcome = held.add(&toolset("files"), Arrival::Loaded, &tools(&["now"]));
    assert_eq!(outcome.skipped, [(ToolName::new("now"), "by a tool given to this agent directly".to_owned())]);
}

#[test]
fn r15_a_workers_residency_is_its_tables_and_its_loads_end_with_it() {
    let mut world = started(
        declare(vec![
            agent("assistant", 10).available(&["time", "files", "capabilities"]).delegates_to(&["coder"]),
            agent("coder", 20).available(&["time", "files"]).resident(&["time"]),
        ]),
        registry(&["time", "files", "capabilities"]),
        &[("time", &["now"]), ("files", &["list"]), ("capabilities", &["compose_subagent"])],
    );
    let coder = agent_name("coder");
    let mut first = world.fresh(&coder);
    assert_eq!(held_names(&first), ["now", "available_tools", "load_tools"]);
    let toolset_to_load = world.may_load(Life::new(&coder, &first), "files").unwrap();
    first.add(&toolset_to_load, Arrival::Loaded, &tools(&["list"]));
    assert_eq!(held_names(&first), ["now", "available_tools", "load_tools", "list"]);
    assert_eq!(held_names(&world.fresh(&coder)), ["now", "available_tools", "load_tools"], "the next spawn has it not");
    // A composed worker has no residency: all that it is composed from is there from its start, and nothing else is.
    let spawner = world.fresh(&me());
    let worker = world
        .compose(Life::new(&me(), &spawner), "helper", &[toolset("files"), toolset("time")], Nested::Leaf)
        .unwrap();
    let held = world.fresh(&worker);
    assert_eq!(worker.as_str(), "composed:helper");
    assert_eq!(held_names(&held), ["list", "now"]);
    assert!(world.deferred(&worker).is_empty());
    assert_eq!(world.names_line(Life::new(&worker, &held)), None);
    assert!(world.may_load(Life::new(&worker, &held), "capabilities").is_err());
    let other = world.compose(Life::new(&me(), &spawner), "helper", &[toolset("time")], Nested::Leaf).unwrap();
    assert_eq!(other.as_str(), "composed:helper#2");
    world.dissolve(&worker);
    assert_eq!(held_names(&world.fresh(&worker)), Vec::<&str>::new());
}

#[test]
fn r19_workflow_commands_come_with_availability_not_residency() {
    let mut registry = registry(&["time"]);
    let planning = ToolsetFacts { commands: vec!["plan".to_owned()], ..toolset_facts("planning", Kind::BuiltIn) };
    registry.register(planning).unwrap();
    let world = World::new(
        declare(vec![
            agent("assistant", 10).available(&["time", "planning"]).resident(&["time"]),
            agent("coder", 20).available(&["time"]),
        ]),
        registry,
    )
    .unwrap();
    assert_eq!(world.workflow(&me(), "plan"), Workflow::Available(&toolset("planning")), "deferred, and not loaded");
    assert_eq!(world.workflow(&agent_name("coder"), "plan"), Workflow::NotDeclared(&toolset("planning")));
    assert_eq!(world.workflow(&me(), "plans"), Workflow::Unknown);
    assert_eq!(world.workflow(&me(), "planning"), Workflow::Unknown, "the word is the command's, not the toolset's");
}

#[test]
fn r20_background_is_in_the_schema_when_messaging_is_available_loaded_or_not() {
    let world = started(
        declare(vec![
            agent("assistant", 10).available(&["time", "messaging"]).resident(&["time"]).delegates_to(&["coder"]),
            agent("coder", 20).available(&["time"]).delegates_to(&["other"]),
            agent("other", 30).available(&["messaging"]),
        ]),
        registry(&["time", "messaging"]),
        &[("time", &["now"]), ("messaging", &["send_message"])],
    );
    let background = |name: &str| world.spawns_in_background(&agent_name(name));
    assert_eq!(["assistant", "coder", "other", "nobody"].map(background), [true, false, true, false]);
}

#[test]
fn p4_a_composed_worker_meets_the_default_pair_and_every_gate_of_its_composer() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "compute", "capabilities"]),
        agent("coder", 20)
            .available(&["fs", "compute", "capabilities"])
            .confirm(&["fs.stat", "compute"])
            .review(&["fs.read_file"]),
    ]);
    declarations.default_pair = default_pair(&["fs.read_file"], &["compute.run_command"]);
    let mut world = started(
        declarations,
        registry(&["fs", "compute", "capabilities"]),
        &[("fs", &["read_file", "stat"]), ("compute", &["run_command", "calculate"]), ("capabilities", &["compose"])],
    );
    let coder = agent_name("coder");
    let both = [toolset("fs"), toolset("compute")];
    let spawner = world.fresh(&coder);
    let child = world.compose(Life::new(&coder, &spawner), "child", &both, Nested::Leaf).unwrap();
    let held = world.fresh(&child);
    let grandchild = world.compose(Life::new(&child, &held), "grandchild", &both, Nested::Leaf).unwrap();
    let gate = |world: &mut World, agent: &AgentName, tool: &str| match decide(world, agent.as_str(), &held, tool) {
        Decision::Ask(reason) => format!("{} {}", reason.list, reason.entry),
        Decision::Run => "runs".to_owned(),
        other => format!("{other:?}"),
    };
    for agent in [&child, &grandchild] {
        // The composer's stat, the default's read_file, and confirm before review where both gate a name.
        let found = ["fs.stat", "fs.read_file", "compute.run_command", "compute.calculate"]
            .map(|tool| gate(&mut world, agent, tool));
        assert_eq!(found, ["confirm fs.stat", "confirm fs.read_file", "confirm compute", "confirm compute"]);
        assert_eq!(world.dispatch(Life::new(agent, &held), &id("fs.stat"), "digest of stat"), None);
    }
    // The agent itself keeps its own, and a worker that the entry agent composed does not meet the coder's.
    assert_eq!(gate(&mut world, &coder, "fs.read_file"), "review fs.read_file");
    assert_eq!(gate(&mut world, &me(), "fs.stat"), "runs");
    let entry = world.fresh(&me());
    let plain = world.compose(Life::new(&me(), &entry), "child", &both, Nested::Leaf).unwrap();
    assert_eq!(plain.as_str(), "composed:child#2");
    assert_eq!(gate(&mut world, &plain, "fs.stat"), "runs");
    // What a person allows once is never this worker's for good.
    let refused = world.grant(call(&child, &held, "fs.stat")).unwrap_err();
    assert_eq!(refused, "fs.stat asks every time: 'composed:child' is a composed worker");
    // An ended worker has no policy, and what has none is refused.
    world.dissolve(&child);
    assert!(matches!(decide(&mut world, "composed:child", &held, "fs.stat"), Decision::Unresolved(_)));
}

#[test]
fn p4_nobody_is_composed_from_what_is_for_others() {
    let mut registry = registry(&["fs", "capabilities"]);
    registry.register(ToolsetFacts { entry_agent_only: true, ..toolset_facts("ask", Kind::BuiltIn) }).unwrap();
    let mut world = started(
        declare(vec![agent("assistant", 10).available(&["fs", "capabilities", "ask"])]),
        registry,
        &[("fs", &["stat"]), ("capabilities", &["compose"]), ("ask", &["ask_user"])],
    );
    let held = world.fresh(&me());
    let mut compose = |names: &[&str]| {
        let toolsets: Vec<ToolsetName> = names.iter().map(|name| toolset(name)).collect();
        world.compose(Life::new(&me(), &held), "x", &toolsets, Nested::Leaf).map(|worker| worker.to_string())
    };
    assert_eq!(compose(&["fs", "ask"]).unwrap_err(), "nobody can be composed from 'ask'");
    assert_eq!(compose(&["capabilities"]).unwrap_err(), "nobody can be composed from 'capabilities'");
    assert_eq!(compose(&["fss"]).unwrap_err(), "nothing installs 'fss'; did you mean 'fs'?");
    assert_eq!(compose(&["fs"]).unwrap(), "composed:x");
}

/// D8: who stands between a worker and its declared agent declares nothing, so their end sheds no gate.
#[test]
fn p4_a_composed_workers_gates_outlive_who_composed_it() {
    let agents = vec![agent("assistant", 10).available(&["fs", "capabilities"]).confirm(&["fs.stat"])];
    let mut world = started(
        declare(agents),
        registry(&["fs", "capabilities"]),
        &[("fs", &["stat", "read_file"]), ("capabilities", &["list_capabilities"])],
    );
    let (me, held) = (agent_name("assistant"), world.fresh(&agent_name("assistant")));
    let first = world.compose(Life::new(&me, &held), "one", &[toolset("fs")], Nested::Leaf).unwrap();
    let held = world.fresh(&first);
    let second = world.compose(Life::new(&first, &held), "two", &[toolset("fs")], Nested::Leaf).unwrap();
    let held = world.fresh(&second);
    assert_eq!(asks(&mut world, second.as_str(), &held, "fs.stat").as_deref(), Some("fs.stat"));
    world.dissolve(&first);
    assert_eq!(asks(&mut world, second.as_str(), &held, "fs.stat").as_deref(), Some("fs.stat"));
    // A label that another takes up again is another worker.
    let stranger = world.compose(Life::new(&second, &held), "one", &[toolset("fs")], Nested::Leaf).unwrap();
    assert_eq!(stranger, first);
    let held = world.fresh(&stranger);
    assert_eq!(asks(&mut world, stranger.as_str(), &held, "fs.stat").as_deref(), Some("fs.stat"));
    assert_eq!(asks(&mut world, stranger.as_str(), &held, "fs.read_file"), None);
}

/// A label is a name, so that nothing forges one of another kind.
#[test]
fn p4_a_label_that_is_no_name_composes_nothing() {
    let agents = vec![agent("assistant", 10).available(&["fs"])];
    let mut world = started(declare(agents), registry(&["fs"]), &[("fs", &["stat"])]);
    let (me, held) = (agent_name("assistant"), world.fresh(&agent_name("assistant")));
    for label in ["", "a b", "x\ny", "composed", "a:b", &"a".repeat(65)] {
        let why = world.compose(Life::new(&me, &held), label, &[toolset("fs")], Nested::Leaf).unwrap_err();
        assert!(why.contains("agent name") || why.contains("cannot name an agent"), "{label:?}: {why}");
        assert!(!why.contains('\n'), "{why:?}");
    }
}
