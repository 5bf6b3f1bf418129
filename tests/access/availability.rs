//! A1 to A17: what an agent can ever call.

use crate::common::*;
use kokua::access::available::expand;
use kokua::access::*;
use pretty_assertions::assert_eq;

#[test]
fn a1_a_list_all_nothing_and_no_key() {
    let agents = vec![
        agent("assistant", 10).available(&["fs", "time"]),
        agent("everything", 20).all().resident(&[]),
        agent("empty", 30).available(&[]),
        agent("bare", 40),
    ];
    let world = World::new(declare(agents), registry(&["time", "fs", "web"])).unwrap();
    assert_eq!(names(&world.available(&agent_name("assistant"))), ["fs", "time"]);
    assert_eq!(names(&world.available(&agent_name("everything"))), ["time", "fs", "web"]);
    assert!(world.available(&agent_name("empty")).is_empty());
    assert!(world.available(&agent_name("bare")).is_empty());
    assert!(world.available(&agent_name("nobody")).is_empty());
}

#[test]
fn a2_an_unknown_name_fails_with_agent_near_misses_and_all_names_of_every_table() {
    let agents = vec![
        agent("assistant", 10).available(&["tiem", "fs"]),
        agent("coder", 20).available(&["fs_wirte", "nonsense"]),
    ];
    assert_eq!(
        faults(World::new(declare(agents), registry(&["time", "fs", "fs_write"]))),
        [
            "A2 12: 'tiem' in available of [agents.assistant.tools] names no installed toolset | did you mean 'time'? This install has: time, fs, fs_write",
            "A2 22: 'fs_wirte' in available of [agents.coder.tools] names no installed toolset | did you mean 'fs_write'? This install has: time, fs, fs_write",
            "A2 22: 'nonsense' in available of [agents.coder.tools] names no installed toolset | this install has: time, fs, fs_write",
        ]
    );
}

#[test]
fn a2_the_entry_agent_must_be_declared() {
    let mut declarations = declare(vec![agent("assistant", 10)]);
    declarations.entry = Some(Spanned::new(agent_name("asistant"), span(3)));
    assert_eq!(
        faults(World::new(declarations, registry(&[]))),
        ["A2 3: the entry agent 'asistant' has no [agents.asistant] table | did you mean 'assistant'?"]
    );
    assert_eq!(
        faults(World::new(declare(vec![]), registry(&[]))),
        ["A2 -: the entry agent 'assistant' has no [agents.assistant] table | write an [agents.assistant] table"]
    );
}

#[test]
fn a3_toolset_names_are_one_namespace_over_all_kinds() {
    let mut registry = Registry::new(["security", "assistant"]);
    registry.register(toolset_facts("fs", Kind::BuiltIn)).unwrap();
    assert_eq!(
        registry.register(toolset_facts("fs", Kind::Mcp)),
        Err(RegisterError::Collision { name: toolset("fs"), first: Kind::BuiltIn, second: Kind::Mcp })
    );
    assert_eq!(
        registry.register(toolset_facts("security", Kind::Plugin)),
        Err(RegisterError::Section(toolset("security")))
    );
    for bad in ["", "Fs", "-fs", "_fs", "f s", "fs.x", "ünder", &"x".repeat(65)] {
        assert!(registry.register(toolset_facts(bad, Kind::Plugin)).is_err(), "{bad}");
    }
    for good in ["f", "0", "f-s_9", &"x".repeat(64)] {
        registry.register(toolset_facts(good, Kind::Plugin)).unwrap();
    }
}

#[test]
fn a3_agent_names() {
    for bad in ["user", "Everyone", "COMPOSED", "core", "All", "", "a b", "-a", "a:b", "a[", &"x".repeat(65)] {
        let found = faults(World::new(declare(vec![agent("assistant", 1), agent(bad, 10)]), registry(&[])));
        assert!(found[0].starts_with("A3 10: "), "{bad}: {found:?}");
    }
    assert_eq!(
        faults(World::new(declare(vec![agent("assistant", 1), agent("Coder", 10), agent("coder", 20)]), registry(&[]))),
        ["A3 20: [agents.coder] and [agents.Coder] (line 10) differ only in case | rename one of them"]
    );
}

#[test]
fn a4_core_and_all_are_refused_at_registration() {
    for bad in ["core", "all", "All", "ALL"] {
        let error = Registry::new([]).register(toolset_facts(bad, Kind::Plugin)).unwrap_err();
        assert_eq!(error.to_string(), format!("'{bad}' is reserved and cannot name a toolset"));
    }
}

#[test]
fn a5_all_inside_a_list_says_how_to_write_it() {
    let agents =
        vec![agent("assistant", 10).available(&["all"]), agent("b", 20).available(&["ALL"]).resident(&["All"])];
    assert_eq!(
        faults(World::new(declare(agents), registry(&["time"]))),
        [
            "A5 12: 'all' stands inside the list available of [agents.assistant.tools] | write available = \"all\", a string and in lower case, or list names",
            "A5 22: 'ALL' stands inside the list available of [agents.b.tools] | write available = \"all\", a string and in lower case, or list names",
            "A5 23: 'All' stands inside the list resident of [agents.b.tools] | name what is in its context from the start; without `resident` every listed toolset is",
        ]
    );
}

#[test]
fn a6_all_expands_in_trust_order_whatever_the_order_of_registration() {
    let mut registry = Registry::new([]);
    for (name, kind) in [
        ("remote-b", Kind::Mcp),
        ("skill-b", Kind::Skill),
        ("remote-a", Kind::Mcp),
        ("time", Kind::BuiltIn),
        ("plugin-b", Kind::Plugin),
        ("skill-a", Kind::Skill),
        ("fs", Kind::BuiltIn),
        ("plugin-a", Kind::Plugin),
    ] {
        registry.register(toolset_facts(name, kind)).unwrap();
    }
    assert_eq!(
        names(&expand(&Available::All(span(1)), Role::Entry, &registry)),
        ["time", "fs", "plugin-a", "plugin-b", "skill-a", "skill-b", "remote-b", "remote-a"]
    );
}

#[test]
fn a7_entry_agent_only() {
    let mut registry = registry(&["time"]);
    registry.register(ToolsetFacts { entry_agent_only: true, ..toolset_facts("ask", Kind::BuiltIn) }).unwrap();
    let agents = |worker| vec![agent("assistant", 10).available(&["ask", "time"]), worker];
    assert_eq!(
        faults(World::new(declare(agents(agent("coder", 20).available(&["ask"]))), registry.clone())),
        [
            "A7 22: 'ask' in available of [agents.coder.tools] is for the entry agent only | take it out, or list it for 'assistant'"
        ]
    );
    let world = World::new(declare(agents(agent("coder", 20).all().resident(&[]))), registry).unwrap();
    assert_eq!(names(&world.available(&agent_name("coder"))), ["time"]);
    assert_eq!(names(&world.available(&agent_name("assistant"))), ["ask", "time"]);
}

#[test]
fn a8_loaders_exactly_when_the_table_defers_something() {
    let agents = vec![
        agent("assistant", 10).available(&["time", "fs"]).resident(&["time"]),
        agent("full", 20).available(&["time"]),
        agent("bare", 30),
    ];
    let world = started(declare(agents), registry(&["time", "fs"]), &[("time", &["now"])]);
    assert_eq!(world.core_tools(&agent_name("assistant")), ["available_tools", "load_tools"]);
    assert!(world.core_tools(&agent_name("full")).is_empty());
    assert!(world.core_tools(&agent_name("bare")).is_empty());
    assert!(world.core_tools(&agent_name("nobody")).is_empty());
    // Whatever was loaded since: the table decides.
    let mut held = world.fresh(&agent_name("assistant"));
    held.add(&toolset("fs"), Arrival::Loaded, &tools(&["read_file"]));
    assert_eq!(world.core_tools(&agent_name("assistant")), ["available_tools", "load_tools"]);
    assert_eq!(
        world.dispatch(Life::new(&agent_name("assistant"), &held), &id("core.load_tools"), "digest of load_tools"),
        None
    );
}

#[test]
fn a10_delegates_are_declared_other_agents_without_a_cycle() {
    let agents = vec![
        agent("assistant", 10).delegates_to(&["reseacher", "assistant"]),
        agent("researcher", 20).delegates_to(&["coder"]),
        agent("coder", 30).delegates_to(&["tester"]),
        agent("tester", 40).delegates_to(&["researcher"]),
    ];
    let found = faults(World::new(declare(agents), registry(&[])));
    let cycles: Vec<_> = found.iter().filter(|text| text.starts_with("A10")).collect();
    assert_eq!(
        cycles,
        [
            "A10 11: 'reseacher' in delegates_to of [agents.assistant] is no declared agent | did you mean 'researcher'?",
            "A10 11: 'assistant' in delegates_to of [agents.assistant] is the agent itself | take it out",
            "A10 41: delegates_to goes round in a circle: researcher -> coder -> tester -> researcher | take one of these steps out",
        ]
    );
}

#[test]
fn a10_two_ways_to_one_agent_are_no_cycle() {
    let agents = vec![
        agent("assistant", 10).delegates_to(&["a", "b"]),
        agent("a", 20).delegates_to(&["c"]),
        agent("b", 30).delegates_to(&["c"]),
        agent("c", 40),
    ];
    assert!(World::new(declare(agents), registry(&[])).is_ok());
}

#[test]
fn a11_what_no_table_lists_is_never_dispatched() {
    let world = started(
        declare(vec![agent("assistant", 10).available(&["time"])]),
        registry(&["time", "fs"]),
        &[("time", &["now"]), ("fs", &["read_file"])],
    );
    let mut held = world.fresh(&agent_name("assistant"));
    assert!(world.may_load(Life::new(&agent_name("assistant"), &held), "fs").is_err());
    // Even a held list that was made wrongly gives nothing.
    held.add(&toolset("fs"), Arrival::Loaded, &tools(&["read_file"]));
    assert_eq!(
        world
            .dispatch(Life::new(&agent_name("assistant"), &held), &id("fs.read_file"), "digest of read_file")
            .as_deref(),
        Some("read_file is not available to 'assistant'")
    );
}

#[test]
fn a12_an_unknown_name_gets_near_names_of_the_offer_and_the_toolset_to_load() {
    let mut world = started(
        declare(vec![agent("assistant", 10).available(&["time", "fs", "web"]).resident(&["time", "web"])]),
        registry(&["time", "fs", "web"]),
        &[("time", &["now", "get_time"]), ("fs", &["read_file"]), ("web", &["get_page"])],
    );
    let me = agent_name("assistant");
    let held = world.fresh(&me);
    world.switch_off(words(&["web"], 3)).unwrap();
    let kept = offer(&world, Life::new(&me, &held)).kept;
    let offered: Vec<&HeldTool> = kept.iter().map(|index| &held.tools()[*index]).collect();
    let answer = |wire: &str| world.unknown_tool(Life::new(&me, &held), &offered, wire);
    assert_eq!(
        answer("get_tiem"),
        "Tool 'get_tiem' not found. Near names you can call: 'get_time'. If it belongs to a tool group you have not loaded, call available_tools to see what you can load, then load_tools."
    );
    assert_eq!(
        answer("read_file"),
        "Tool 'read_file' not found. 'fs' provides it: call load_tools with that name first."
    );
    // get_page is withheld, so nothing is said of it.
    assert!(!answer("get_pag").contains("get_page"));
    // No trimming, case folding or repair.
    assert!(held.by_wire("now").is_some());
    for wrong in ["Now", " now", "now ", "time.now", "now()"] {
        assert!(held.by_wire(wrong).is_none(), "{wrong}");
    }
    // A name with escapes reaches nobody's terminal as such.
    assert!(answer("\u{1b}[31mred").starts_with("Tool '\\u{1b}[31mred' not found."));
    // Without loaders offered, nothing is said of loading.
    assert_eq!(world.unknown_tool(Life::new(&me, &held), &offered[..1], "read_file"), "Tool 'read_file' not found.");
}

#[test]
fn a13_installing_gives_nothing_to_an_agent_with_a_list() {
    let agents = || vec![agent("assistant", 10).available(&["time"]), agent("b", 20).all().resident(&[])];
    let before = World::new(declare(agents()), registry(&["time"])).unwrap();
    let after = World::new(declare(agents()), registry(&["time", "fs"])).unwrap();
    assert_eq!(before.available(&agent_name("assistant")), after.available(&agent_name("assistant")));
    assert_eq!(names(&after.available(&agent_name("b"))), ["time", "fs"]);
}

#[test]
fn a15_duplicates_in_any_list() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "fs"]).resident(&["fs", "fs"]).confirm(&["fs", "fs.*"]),
        agent("b", 20).delegates_to(&["assistant", "assistant"]),
    ]);
    declarations.floor = entries(&["fs.read_file", "fs.read_file"], 5).entries;
    declarations.disabled = words(&["fs", "fs"], 6);
    let found = faults(World::new(declarations, registry(&["fs"])));
    let duplicates: Vec<_> = found.iter().filter(|text| text.starts_with("A15")).collect();
    assert_eq!(
        duplicates,
        [
            "A15 5: 'fs.read_file' stands twice in [security].never_auto_approve, first on line 5 | take one of them out",
            "A15 6: 'fs' stands twice in disabled of [toolsets], first on line 6 | take one of them out",
            "A15 12: 'fs' stands twice in available of [agents.assistant.tools], first on line 12 | take one of them out",
            "A15 13: 'fs' stands twice in resident of [agents.assistant.tools], first on line 13 | take one of them out",
            "A15 14: 'fs.*' in confirm of [agents.assistant.tools] means the same as 'fs' on line 14 | take one of them out",
            "A15 21: 'assistant' stands twice in delegates_to of [agents.b], first on line 21 | take one of them out",
        ]
    );
}

#[test]
fn a17_what_no_agent_can_hold_is_left_out_of_its_own_build() {
    let build = tools(&["read", "", "*", "re\u{7}ad", "load_tools", "read", "write"]);
    let screened = screen(&build);
    assert_eq!(screened.kept, [0, 6]);
    let reasons: Vec<String> = screened.left_out.iter().map(|(_, why)| why.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "its name is empty",
            "'*' is not a tool name",
            "its name holds a control character",
            "the program has a tool of that name itself",
            "an earlier tool of the same toolset has the name",
        ]
    );
    let mut held = Held::default();
    let outcome = held.add(&toolset("odd"), Arrival::Loaded, &build);
    assert_eq!(held_names(&held), ["read", "write"]);
    assert_eq!(outcome.left_out, screened.left_out);
    assert!(outcome.skipped.is_empty());
}
