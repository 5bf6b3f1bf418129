//! Composed workers (§8): what `list_capabilities` says, and what a worker that may compose in its turn holds.

use crate::common::*;
use kokua::access::*;
use pretty_assertions::assert_eq;

fn me() -> AgentName {
    agent_name("assistant")
}

/// An entry agent that holds, may load, lacks, and cannot have; a server, and what only an entry agent lists.
fn world() -> World {
    let mut registry = registry(&["time", "capabilities", "files", "compute", "notes", "broken"]);
    registry.register(ToolsetFacts { entry_agent_only: true, ..toolset_facts("ask", Kind::BuiltIn) }).unwrap();
    registry.register(toolset_facts("weather", Kind::Mcp)).unwrap();
    registry.register(toolset_facts("deploy", Kind::Plugin)).unwrap();
    let mut declarations = declare(vec![
        agent("assistant", 10)
            .available(&["time", "capabilities", "files", "notes"])
            .resident(&["time", "capabilities"]),
        agent("coder", 20).available(&["compute", "capabilities"]),
    ]);
    declarations.default_pair = default_pair(&["capabilities.compose_subagent"], &["compute.run_command"]);
    let mut world = started(
        declarations,
        registry,
        &[
            ("time", &["now"]),
            ("capabilities", &["list_capabilities", "compose_subagent"]),
            ("compute", &["run_command"]),
        ],
    );
    world.report_build(&toolset("files"), &tools(&["list"])).unwrap();
    world
}

/// The lines behind the first, by what each ends with.
fn states(text: &str) -> Vec<(String, String)> {
    let state = |line: &str| {
        let (head, state) = line.rsplit_once(" - ").unwrap();
        (head.split_once(' ').unwrap().0.to_owned(), state.to_owned())
    };
    text.lines().skip(1).map(state).collect()
}

fn rows(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
}

#[test]
fn d3_what_is_installed_is_listed_by_name_and_says_what_it_is_to_this_caller() {
    let mut world = world();
    world.switch_off(words(&["deploy"], 3)).unwrap();
    world.report_fact(&toolset("weather"), None, Some(Fact::NotConnected("refused".to_owned())));
    let mut held = world.fresh(&me());
    let me = me();
    let text = world.capabilities(Life::new(&me, &held), " ");
    assert_eq!(
        text.lines().next().unwrap(),
        "Installed here, which is not a list of what you hold. Each line ends with what it is to you: held; loadable \
         (call load_tools); compose only (name it in compose_subagent); off (not now)."
    );
    assert_eq!(text.lines().nth(2).unwrap(), "broken [built-in]: About broken. - compose only");
    let expected = [
        ("ask", "off"),
        ("broken", "compose only"),
        ("compute", "compose only"),
        ("deploy", "off"),
        ("files", "loadable"),
        ("notes", "loadable"),
        ("time", "held"),
        ("weather", "off"),
    ];
    assert_eq!(states(&text), rows(&expected));
    assert!(text.contains("\nweather [mcp]: ") && text.contains("\ndeploy [plugin]: "), "{text}");
    // What it loads it holds; what comes back can be composed from.
    held.add(&toolset("files"), Arrival::Loaded, &tools(&["list"]));
    world.report_fact(&toolset("weather"), None, None);
    world.switch_off(words(&["deploy", "files"], 3)).unwrap();
    let text = world.capabilities(Life::new(&me, &held), "");
    assert!(text.contains("\nfiles [built-in]: About files. - off\n") && text.ends_with(" - compose only"), "{text}");
    // For another agent, which defers nothing, other things are true.
    let coder = agent_name("coder");
    let fresh = world.fresh(&coder);
    let text = world.capabilities(Life::new(&coder, &fresh), "");
    assert!(text.contains("\ntime [built-in]: About time. - compose only\n"), "{text}");
    assert!(text.contains("\ncompute [built-in]: About compute. - held\n"), "{text}");
}

#[test]
fn d3_a_filter_narrows_and_what_matches_nothing_is_said() {
    let world = world();
    let held = world.fresh(&me());
    let (me, list) = (me(), |filter: &str| world.capabilities(Life::new(&me(), &held), filter));
    assert_eq!(states(&list(" TIM ")), rows(&[("time", "held")]));
    assert_eq!(states(&list("about n")), rows(&[("notes", "loadable")]));
    for filter in ["capabilities", "poetry"] {
        let none = format!("No capability matches '{filter}'. Call list_capabilities with no filter to see them all.");
        assert_eq!(world.capabilities(Life::new(&me, &held), filter), none);
    }
}

#[test]
fn d3_a_refused_build_is_off_to_everybody_who_does_not_hold_it() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["time", "files"]).resident(&["time"])]);
    declarations.default_pair = default_pair(&["files.remove"], &[]);
    let mut world = started(declarations, registry(&["time", "files"]), &[("time", &["now"])]);
    assert!(world.report_build(&toolset("files"), &tools(&["list"])).is_err());
    let held = world.fresh(&me());
    let text = world.capabilities(Life::new(&me(), &held), "files");
    assert!(text.ends_with(" - off"), "{text}");
}

#[test]
fn d3_every_line_tells_what_composing_from_it_would() {
    let mut world = world();
    world.report_fact(&toolset("weather"), None, Some(Fact::NotConnected("refused".to_owned())));
    for agent in ["assistant", "coder"].map(agent_name) {
        let held = world.fresh(&agent);
        for (name, state) in states(&world.capabilities(Life::new(&agent, &held), "")) {
            let composed = world.compose(Life::new(&agent, &held), "x", &[toolset(&name)], Nested::Leaf);
            let can = composed.map(|worker| world.dissolve(&worker)).is_ok();
            assert_eq!(can, state != "off", "{agent}: {name} is {state}");
        }
    }
}

#[test]
fn d3_a_worker_composed_while_depth_remains_also_holds_capabilities_and_the_last_one_does_not() {
    let mut world = world();
    let (me, held) = (me(), world.fresh(&me()));
    let first = world.compose(Life::new(&me, &held), " one ", &[toolset("time")], Nested::Composes).unwrap();
    assert_eq!(first.as_str(), "composed:one");
    let held = world.fresh(&first);
    assert_eq!(held_names(&held), ["now", "list_capabilities", "compose_subagent"]);
    assert_eq!(offer(&world, Life::new(&first, &held)).kept, [0, 1, 2]);
    let listed = states(&world.capabilities(Life::new(&first, &held), ""));
    assert!(listed.contains(&("time".to_owned(), "held".to_owned())));
    assert!(listed.contains(&("files".to_owned(), "compose only".to_owned())), "it loads nothing");
    let second = world.compose(Life::new(&first, &held), "two", &[toolset("files")], Nested::Leaf).unwrap();
    let held = world.fresh(&second);
    assert_eq!(held_names(&held), ["list"]);
    // What composes in its turn is withheld from it like anything else (O7).
    let companion = Conditions { mode: Some(world.mode("companion").unwrap()), ..Conditions::default() };
    let (entry, me) = (world.fresh(&me), me);
    let life = Life::new(&me, &entry).under(&companion);
    let why = world.compose(life, "three", &[toolset("time")], Nested::Composes).unwrap_err();
    assert_eq!(why, "'capabilities': it is withheld in this mode: mode 'companion' withholds capabilities");
}

#[test]
fn d3_capabilities_and_entry_only_toolsets_are_refused_however_they_are_written() {
    let mut world = world();
    let (me, held) = (me(), world.fresh(&me()));
    let mut compose = |names: &[&str], nested: Nested| {
        let named: Vec<ToolsetName> = names.iter().map(|name| toolset(name)).collect();
        world.compose(Life::new(&me, &held), "x", &named, nested).map(|worker| {
            let held = world.fresh(&worker);
            world.dissolve(&worker);
            held_names(&held).join(" ")
        })
    };
    for name in ["capabilities", " Capabilities ", "CAPABILITIES"] {
        for nested in [Nested::Composes, Nested::Leaf] {
            let why = compose(&["time", name], nested).unwrap_err();
            assert_eq!(why, "nobody can be composed from 'capabilities'", "{name:?}");
        }
    }
    assert_eq!(compose(&[" ask"], Nested::Composes).unwrap_err(), "nobody can be composed from 'ask'");
    assert_eq!(
        compose(&[], Nested::Composes).unwrap_err(),
        "name at least one toolset; list_capabilities shows them all"
    );
    // Only `capabilities` is known in any casing; a name is compared byte for byte (A3).
    assert_eq!(compose(&["Time"], Nested::Leaf).unwrap_err(), "nothing installs 'Time'; did you mean 'time'?");
    assert_eq!(compose(&[" time ", "time"], Nested::Leaf).unwrap(), "now");
}

/// Composing in its turn is gated too: by the default pair, and by whatever its composer's policy gates.
#[test]
fn d8_a_worker_that_composes_meets_the_gate_of_compose_subagent() {
    let mut world = world();
    let (me, held) = (me(), world.fresh(&me()));
    let first = world.compose(Life::new(&me, &held), "one", &[toolset("time")], Nested::Composes).unwrap();
    let held = world.fresh(&first);
    let asked = asks(&mut world, first.as_str(), &held, "capabilities.compose_subagent");
    assert_eq!(asked.as_deref(), Some("capabilities.compose_subagent"));
    assert_eq!(asks(&mut world, first.as_str(), &held, "capabilities.list_capabilities"), None);
    // A composer with a pair of its own: both hold, at every depth.
    let agents = vec![
        agent("assistant", 10).available(&["time"]),
        agent("coder", 20).available(&["time", "capabilities"]).confirm(&["capabilities.compose_subagent", "time"]),
    ];
    let mut world = started(
        declare(agents),
        registry(&["time", "capabilities"]),
        &[("time", &["now"]), ("capabilities", &["list_capabilities", "compose_subagent"])],
    );
    let coder = agent_name("coder");
    let held = world.fresh(&coder);
    let first = world.compose(Life::new(&coder, &held), "one", &[toolset("time")], Nested::Composes).unwrap();
    let held = world.fresh(&first);
    let second = world.compose(Life::new(&first, &held), "two", &[toolset("time")], Nested::Composes).unwrap();
    for worker in [&first, &second] {
        let held = world.fresh(worker);
        for (tool, entry) in [("capabilities.compose_subagent", "capabilities.compose_subagent"), ("time.now", "time")]
        {
            assert_eq!(asks(&mut world, worker.as_str(), &held, tool).as_deref(), Some(entry), "{worker}");
        }
    }
}
