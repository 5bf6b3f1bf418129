//! W3, W4, W6, W7 and O7: what holds for one turn beside the shared world, and for whoever works for it.

use std::collections::BTreeSet;

use crate::common::*;
use kokua::access::declare::ModeDeclaration;
use kokua::access::*;
use pretty_assertions::assert_eq;

/// Something of every kind, `mcp` and `capabilities` by name, and a delegate.
fn installed() -> Registry {
    let mut registry = registry(&["fs", "compute", "mcp", "capabilities", "later"]);
    for (name, kind) in [("weather", Kind::Mcp), ("deploy", Kind::Plugin), ("haiku", Kind::Skill)] {
        registry.register(toolset_facts(name, kind)).unwrap();
    }
    registry
}

const RESIDENT: [&str; 7] = ["fs", "compute", "mcp", "capabilities", "weather", "deploy", "haiku"];
const BUILDS: &[(&str, &[&str])] = &[
    ("fs", &["read_file", "stat"]),
    ("compute", &["run_command"]),
    ("mcp", &["add_mcp_server"]),
    ("capabilities", &["compose_subagent"]),
    ("weather", &["forecast"]),
    ("deploy", &["ship"]),
    ("haiku", &["write_haiku"]),
];

fn tables() -> Declarations {
    let available: Vec<&str> = RESIDENT.into_iter().chain(["later"]).collect();
    declare(vec![
        agent("assistant", 10).available(&available).resident(&RESIDENT).delegates_to(&["coder"]),
        agent("coder", 20).available(&["fs", "compute", "weather"]).resident(&["fs", "compute"]),
    ])
}

fn mode(name: &str, line: usize, withhold: &[&str]) -> ModeDeclaration {
    let withhold = withhold.iter().map(|word| Spanned::new((*word).to_owned(), span(line + 1))).collect();
    ModeDeclaration { name: Spanned::new(name.to_owned(), span(line)), withhold }
}

fn with_modes(modes: Vec<ModeDeclaration>, default: Option<&str>) -> Declarations {
    let mode = default.map(|name| Spanned::new(name.to_owned(), span(2)));
    Declarations { modes, mode, ..tables() }
}

fn world() -> World {
    started(with_modes(vec![mode("no-fs", 40, &["fs", "core.load_tools"])], None), installed(), BUILDS)
}

fn in_mode(world: &World, name: &str) -> Conditions {
    Conditions { mode: Some(world.mode(name).unwrap()), ..Conditions::default() }
}

fn only(names: &[&str], held: &Held) -> Conditions {
    let names = names.iter().map(|name| ToolName::new(*name)).collect();
    Conditions { allow: Some(AllowList::new(names, held)), ..Conditions::default() }
}

fn family(names: &[&str]) -> Conditions {
    Conditions { families: names.iter().map(|name| toolset(name)).collect(), ..Conditions::default() }
}

/// What a call of `agent` with `held` carries.
fn offered<'a>(world: &World, agent: &str, held: &'a Held, conditions: &Conditions) -> Vec<&'a str> {
    let agent = agent_name(agent);
    let kept = offer(world, Life::new(&agent, held).under(conditions)).kept;
    kept.iter().map(|index| held.tools()[*index].id.name.as_str()).collect()
}

/// Why `tool` does not run, if so.
fn dispatch(world: &World, held: &Held, conditions: &Conditions, tool: &str) -> Option<String> {
    let (agent, tool) = (me(), id(tool));
    let digest = held.get(&tool).unwrap().digest.clone();
    world.dispatch(Life::new(&agent, held).under(conditions), &tool, &digest)
}

const ALL: [&str; 12] = [
    "read_file",
    "stat",
    "run_command",
    "add_mcp_server",
    "compose_subagent",
    "forecast",
    "ship",
    "spawn_subagent",
    "activate_skill",
    "write_haiku",
    "available_tools",
    "load_tools",
];

/// The core tools, `activate_skill` too: a skill is named.
fn whole() -> (World, Held) {
    let mut world = world();
    world.define_core(tools(&["spawn_subagent", "activate_skill", "available_tools", "load_tools"]));
    let held = world.fresh(&me());
    assert_eq!(held_names(&held), ALL);
    (world, held)
}

#[test]
fn w3_companion_and_work_are_shipped_and_a_mode_withholds_by_name_kind_and_core_tool() {
    let (world, held) = whole();
    assert_eq!(world.default_mode().as_str(), "work");
    assert_eq!(offered(&world, "assistant", &held, &world.default_conditions()), ALL);
    let companion = in_mode(&world, "companion");
    assert_eq!(
        offered(&world, "assistant", &held, &companion),
        ["read_file", "stat", "run_command", "activate_skill", "write_haiku", "available_tools", "load_tools"]
    );
    assert_eq!(
        dispatch(&world, &held, &companion, "weather.forecast").as_deref(),
        Some("forecast is withheld in this mode: mode 'companion' withholds kind:mcp")
    );
    assert_eq!(
        dispatch(&world, &held, &companion, "core.spawn_subagent").as_deref(),
        Some("spawn_subagent is withheld in this mode: mode 'companion' withholds core.spawn_subagent")
    );
    let mine = in_mode(&world, "no-fs");
    let left: Vec<&str> = ALL.into_iter().filter(|name| !["read_file", "stat", "load_tools"].contains(name)).collect();
    assert_eq!(offered(&world, "assistant", &held, &mine), left);
    let listing = world.available_tools(Life::new(&me(), &held).under(&mine), "fs");
    assert!(listing.starts_with("fs [off: mode 'no-fs' withholds fs]: "), "{listing}");
    // Each word of a mode with its line; a shipped one's stands in no file.
    let agent = me();
    let reasons = |conditions: &Conditions, tool: &str| {
        let life = Life::new(&agent, &held).under(conditions);
        let reasons = explain(&world, life, &id(tool), None).offered.reasons;
        reasons.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&mine, "fs.stat"), ["mode 'no-fs' withholds fs, line 41"]);
    assert_eq!(reasons(&companion, "mcp.add_mcp_server"), ["mode 'companion' withholds mcp"]);
}

#[test]
fn w3_a_declared_mode_replaces_a_shipped_one_whole_and_a_default_mode_is_a_start() {
    let mut world =
        started(with_modes(vec![mode("companion", 40, &["kind:skill"])], Some("companion")), installed(), BUILDS);
    world.define_core(tools(&["spawn_subagent", "activate_skill", "available_tools", "load_tools"]));
    let held = world.fresh(&me());
    assert_eq!(world.default_mode().as_str(), "companion");
    let left: Vec<&str> = ALL.into_iter().filter(|name| *name != "write_haiku").collect();
    assert_eq!(offered(&world, "assistant", &held, &world.default_conditions()), left);
    let known: Vec<(String, String)> = world.modes().map(|(name, words)| (name.to_string(), words.join(" "))).collect();
    assert_eq!(known, [("companion".to_owned(), "kind:skill".to_owned()), ("work".to_owned(), String::new())]);
    assert_eq!(world.mode("compnion").unwrap_err(), "no mode is named 'compnion'; did you mean 'companion'?");
    assert_eq!(world.mode("zzzz").unwrap_err(), "no mode is named 'zzzz'; modes: companion, work");
    // What a fresh agent is printed to carry is what it carries in that mode.
    assert_eq!(report(&world, &me(), None, None).start_tools.0, left.len());
}

#[test]
fn w3_words_that_a_mode_cannot_withhold_fail_the_start_all_together() {
    let modes = vec![
        mode("quiet", 40, &["fss", "kind:builtin", "core.laod_tools", "core.x", "fs", "compute", "fs", "zebra"]),
        mode("Not A Name", 50, &[]),
    ];
    assert_eq!(
        faults(World::new(with_modes(modes, Some("quite")), installed())),
        [
            "W3 2: no mode is named 'quite' ([assistant].mode) | did you mean 'quiet'?",
            "W3 41: 'fss' names no installed toolset (in withhold of [modes.quiet]) | did you mean 'fs'?",
            "W3 41: 'kind:builtin' is no kind of toolset (in withhold of [modes.quiet]) | write kind:mcp, kind:plugin or kind:skill",
            "W3 41: 'core.laod_tools' names no core tool (in withhold of [modes.quiet]) | did you mean 'load_tools'?",
            "W3 41: 'core.x' names no core tool (in withhold of [modes.quiet]) | core tools: spawn_subagent, activate_skill, available_tools, load_tools",
            "A15 41: 'fs' stands twice in withhold of [modes.quiet], first on line 41 | take one of them out",
            "W3 41: 'zebra' names no installed toolset (in withhold of [modes.quiet]) | a mode withholds toolsets, core.<tool>, kind:mcp, kind:plugin and kind:skill; `kokua toolsets` prints every name",
            "W3 50: 'Not A Name' is not a mode's name: 1 to 64 of a-z, 0-9, '_' and '-', the first a letter or digit | -",
        ]
    );
    // A shipped mode names what this install may not have, and that is no fault.
    World::new(declare(vec![agent("assistant", 10).available(&["fs"])]), registry(&["fs"])).unwrap();
}

#[test]
fn w4_a_family_keeps_one_toolset_available_tools_and_activate_skill() {
    let (world, held) = whole();
    assert_eq!(
        offered(&world, "assistant", &held, &family(&["fs"])),
        ["read_file", "stat", "activate_skill", "available_tools"]
    );
    assert_eq!(
        dispatch(&world, &held, &family(&["fs"]), "compute.run_command").as_deref(),
        Some("run_command is outside of this worker's family: this worker was narrowed to 'fs'")
    );
    // Of a worker that a narrowed worker narrowed, a tool must be of each.
    assert_eq!(offered(&world, "assistant", &held, &family(&["fs", "compute"])), ["activate_skill", "available_tools"]);
    assert_eq!(
        offered(&world, "assistant", &held, &family(&["fs", "fs"])),
        offered(&world, "assistant", &held, &family(&["fs"]))
    );
}

#[test]
fn w6_a_turn_with_an_allow_list_offers_what_it_names_and_held_when_it_began() {
    let (mut world, mut held) = whole();
    let guest = only(&["stat", "run_command", "available_tools", "extra"], &held);
    assert_eq!(offered(&world, "assistant", &held, &guest), ["stat", "run_command", "available_tools"]);
    assert_eq!(
        dispatch(&world, &held, &guest, "core.load_tools").as_deref(),
        Some("load_tools is outside of what this turn may call: this turn may call other tools only"),
        "core tools too"
    );
    // What becomes held during the turn is outside, whatever its name.
    let build = tools(&["extra"]);
    world.report_build(&toolset("later"), &build).unwrap();
    held.add(&toolset("later"), Arrival::Loaded, &build);
    assert_eq!(offered(&world, "assistant", &held, &guest), ["stat", "run_command", "available_tools"]);
    assert_eq!(
        dispatch(&world, &held, &guest, "later.extra").as_deref(),
        Some(
            "extra is outside of what this turn may call: it was not held when this turn began, which may call no more \
             than that"
        )
    );
    // The next turn has it.
    let next = only(&["extra"], &held);
    assert_eq!(offered(&world, "assistant", &held, &next), ["extra"]);
    assert_eq!(offered(&world, "assistant", &held, &only(&[], &held)), Vec::<&str>::new());
}

#[test]
fn w7_a_link_is_an_http_link_in_one_of_the_last_three_user_messages() {
    let holds = |newest_first: &[&str]| !Trigger::holding(newest_first.iter().copied()).is_empty();
    for linked in ["see https://example.org/a", "(HTTP://Host)", "<http://[::1]:8080>", "a\nhttps://é.example"] {
        assert!(holds(&[linked]), "{linked}");
    }
    for not_a_link in [
        "",
        "http",
        "https://",
        "https:// example.org",
        "www.example.org",
        "ftp://x.org",
        "xhttp://x",
        "http:/x",
        "file:///etc",
    ] {
        assert!(!holds(&[not_a_link]), "{not_a_link}");
    }
    let link = "https://example.org";
    assert!(holds(&["and then", "what", link]));
    assert!(!holds(&["thanks", "and then", "what", link]), "the fourth is too old");
}

#[test]
fn w7_a_tool_that_waits_for_a_link_is_held_and_offered_when_there_is_one() {
    let agents = vec![agent("assistant", 10).available(&["web"])];
    let mut world = World::new(declare(agents), registry(&["web"])).unwrap();
    let extract = ToolFacts { trigger: Some(Trigger::Link), ..facts("web_extract") };
    world.report_build(&toolset("web"), &[facts("web_search"), extract]).unwrap();
    world.resolve().unwrap();
    let held = world.fresh(&me());
    let without = Conditions::default();
    let with = Conditions { triggers: Trigger::holding(["look at http://example.org"]), ..Conditions::default() };
    assert_eq!(offered(&world, "assistant", &held, &without), ["web_search"]);
    assert_eq!(offered(&world, "assistant", &held, &with), ["web_search", "web_extract"]);
    assert_eq!(
        dispatch(&world, &held, &without, "web.web_extract").as_deref(),
        Some("web_extract is not offered yet: no http(s) link stands in the last 3 user messages")
    );
    assert_eq!(dispatch(&world, &held, &with, "web.web_extract"), None);
    // A worker's task is its one user message: what its spawner was told counts for nothing.
    let worker = |task: &str| with.for_worker(None, &held, task);
    assert_eq!(offered(&world, "assistant", &held, &worker("summarise the page")), ["web_search"]);
    assert_eq!(offered(&world, "assistant", &held, &worker("read https://example.org")).len(), 2);
}

#[test]
fn o7_conditions_pass_to_workers_at_any_depth_and_only_tighten() {
    let (world, held) = whole();
    let worker = world.fresh(&agent_name("coder"));
    let companion = in_mode(&world, "companion");
    let guest = Conditions { mode: companion.mode.clone(), ..only(&["stat", "forecast"], &held) };
    let cases = [Conditions::default(), companion, in_mode(&world, "no-fs"), guest, only(&[], &held), family(&["fs"])];
    for conditions in cases {
        let names = |held, conditions: &Conditions| {
            offered(&world, "coder", held, conditions).into_iter().map(str::to_owned).collect::<BTreeSet<String>>()
        };
        let above = offered(&world, "assistant", &held, &conditions);
        let first = conditions.for_worker(None, &worker, "do it");
        assert_eq!(first.mode, conditions.mode);
        // What they have in common, the worker is not offered where its spawner is not.
        let both: BTreeSet<String> = names(&worker, &Conditions::default());
        let wanted: BTreeSet<String> = both.into_iter().filter(|name| above.contains(&name.as_str())).collect();
        assert_eq!(names(&worker, &first), wanted, "{conditions:?}");
        // Deeper, and narrowed: never more.
        let second = first.for_worker(Some(toolset("compute")), &worker, "do it");
        assert!(names(&worker, &second).is_subset(&wanted), "{conditions:?}");
        let third = second.for_worker(Some(toolset("fs")), &worker, "do it");
        let rest = names(&worker, &third);
        assert!(rest.iter().all(|name| name == "available_tools"), "{rest:?}: of each family");
        assert_eq!(third.mode, conditions.mode);
        assert_eq!(third.allow, conditions.allow.map(|allow| allow.for_worker(&worker)));
    }
}

#[test]
fn o7_load_compose_and_spawn_refuse_what_a_filter_withholds_with_its_reason() {
    let (mut world, held) = whole();
    world.switch_off(words(&["deploy"], 3)).unwrap();
    let agent = me();
    let wants = |world: &mut World, conditions: &Conditions, name: &str| {
        let life = Life::new(&agent, &held).under(conditions);
        let composed =
            world.compose(life, "helper", &[toolset(name)], Nested::Leaf).map(|worker| world.dissolve(&worker));
        (world.may_build(life, &toolset(name)), composed.err())
    };
    let no_fs = in_mode(&world, "no-fs");
    let everything = only(&ALL, &held);
    for (conditions, name, why) in [
        (Conditions::default(), "deploy", "it is switched off: [toolsets].disabled names it"),
        (no_fs.clone(), "fs", "it is withheld in this mode: mode 'no-fs' withholds fs"),
        (family(&["fs"]), "compute", "it is outside of this worker's family: this worker was narrowed to 'fs'"),
        (
            everything.clone(),
            "later",
            "it is outside of what this turn may call: it was not held when this turn began, which may call no more \
             than that",
        ),
    ] {
        assert_eq!(
            wants(&mut world, &conditions, name),
            (Some(why.to_owned()), Some(format!("'{name}': {why}"))),
            "{conditions:?}"
        );
    }
    assert_eq!(wants(&mut world, &no_fs, "compute"), (None, None));
    // So no guest's turn leaves a load behind for the owner's, and it is not told to try.
    let life = Life::new(&agent, &held).under(&everything);
    assert_eq!(
        world.may_load(life, "later").unwrap_err(),
        "Could not load 'later': it is outside of what this turn may call: it was not held when this turn began, which \
         may call no more than that"
    );
    assert_eq!(world.may_load(Life::new(&agent, &held), "later"), Ok(toolset("later")));
    assert!(world.available_tools(life, "later").starts_with("later [off: it was not held when"));
    // W2 and W7 withhold single calls; they refuse no build.
    world.report_check(&toolset("later"), None, Some("unwell".to_owned()));
    assert_eq!(world.may_load(Life::new(&agent, &held), "later"), Ok(toolset("later")));
}

#[test]
fn o8_modes_families_and_allow_lists_may_withhold_core_tools() {
    let (world, held) = whole();
    let loads = |conditions: &Conditions| offered(&world, "assistant", &held, conditions).contains(&"load_tools");
    assert!(loads(&Conditions::default()));
    assert!(!loads(&in_mode(&world, "no-fs")));
    assert!(!loads(&family(&["fs"])));
    assert!(!loads(&only(&["stat"], &held)));
}

#[test]
fn w3_a_mode_that_is_declared_no_more_withholds_everything() {
    let agents = vec![agent("assistant", 10).available(&["fs", "todo"]).resident(&["fs"])];
    let world = started(declare(agents), registry(&["fs", "todo"]), &[("fs", &["stat"])]);
    let (me, held) = (agent_name("assistant"), world.fresh(&agent_name("assistant")));
    let conditions = Conditions { mode: Some(ModeName::new("guest")), ..Conditions::default() };
    let life = Life::new(&me, &held).under(&conditions);
    assert_eq!(offer(&world, life).kept, Vec::<usize>::new());
    assert_eq!(
        world.dispatch(life, &id("fs.stat"), "digest of stat").as_deref(),
        Some("stat is withheld in this mode: mode 'guest' is declared no more")
    );
    assert!(world.may_load(life, "todo").is_err());
}
