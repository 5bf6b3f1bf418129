//! P12, P18, P20 to P22: who can be asked, what a server's tools do, and what never answers for a person.

use crate::common::*;
use kokua::access::declare::{Background, ServerDefault, ServerDefaults};
use kokua::access::*;
use pretty_assertions::assert_eq;

fn gated(background: Background) -> World {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs"])]);
    declarations.default_pair = default_pair(&["fs.stat"], &[]);
    declarations.background = background;
    started(declarations, registry(&["fs"]), &[("fs", &["read_file", "stat"])])
}

#[test]
fn p12_who_can_be_asked_where_the_conversation_is_not_on_screen() {
    use Attendance::{Attended, Unattended};
    use Background::{Deny, Park};
    use Sight::{OnScreen, Unseen, UnseenAndAway};
    const NOBODY: &str = "nobody is here to ask";
    const DENY: &str = "its conversation is not on screen, and [security].background is \"deny\"";
    const AWAY: &str = "its conversation is not on screen and nobody is here";
    for (attendance, sight, background, why) in [
        (Attended, OnScreen, Park, None),
        (Attended, OnScreen, Deny, None),
        (Attended, Unseen, Park, None),
        (Attended, Unseen, Deny, Some(DENY)),
        (Attended, UnseenAndAway, Park, Some(AWAY)),
        (Attended, UnseenAndAway, Deny, Some(AWAY)),
        (Unattended, OnScreen, Park, Some(NOBODY)),
        (Unattended, Unseen, Deny, Some(NOBODY)),
        (Unattended, UnseenAndAway, Park, Some(NOBODY)),
    ] {
        let mut world = gated(background);
        let (agent, held) = (me(), world.fresh(&me()));
        let facts = |tool: &str| CallFacts { attendance, sight, ..call(&agent, &held, tool) };
        let case = format!("{attendance:?} {sight:?} {background:?}");
        assert_eq!(world.decide(facts("fs.read_file")), Decision::Run, "{case}");
        match (world.decide(facts("fs.stat")), why) {
            (Decision::Ask(_), None) => {}
            (Decision::AutoDenied(reason, answer), Some(why)) => {
                assert_eq!(reason.entry, "fs.stat");
                assert_eq!(answer, Answer::AutoDenied { reason: why.to_owned() }, "{case}");
            }
            (other, _) => panic!("{case}: {other:?}"),
        }
        // An answer that was given earlier needs nobody.
        world.grant(facts("fs.stat")).unwrap();
        assert!(matches!(world.decide(facts("fs.stat")), Decision::RunAnswered(..)), "{case}");
    }
}

/// Two servers and a plugin; `maps` has an entry on one of its tools.
fn served(every: Option<ServerDefault>, own: Option<ServerDefault>) -> World {
    let mut registry = registry(&["time"]);
    for (name, kind) in [("deploy", Kind::Plugin), ("maps", Kind::Mcp), ("weather", Kind::Mcp)] {
        registry.register(toolset_facts(name, kind)).unwrap();
    }
    let all = ["time", "deploy", "maps", "weather"];
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&all).resident(&["time", "deploy"]),
        agent("coder", 20).available(&all).confirm(&[]).review(&["maps.route"]),
    ]);
    declarations.server_defaults = ServerDefaults {
        every: every.map(|word| Spanned::new(word, span(60))),
        each: own.map(|word| (toolset("weather"), Spanned::new(word, span(70)))).into_iter().collect(),
    };
    let builds: &[(&str, &[&str])] =
        &[("time", &["now"]), ("deploy", &["ship"]), ("maps", &["route", "find"]), ("weather", &["forecast"])];
    started(declarations, registry, builds)
}

/// What makes each tool of the coder ask, and from where.
fn gates(world: &mut World) -> Vec<String> {
    let held = world.fresh(&agent_name("coder"));
    held.tools()
        .iter()
        .filter_map(|tool| {
            let decision = decide(world, "coder", &held, &tool.id.to_string());
            decision.gate().map(|gate| format!("{}: {} {}, {}", tool.id, gate.list, gate.entry, gate.source))
        })
        .collect()
}

#[test]
fn p18_a_servers_tool_that_no_entry_matches_is_treated_as_in_confirm() {
    use ServerDefault::{Confirm, Run};
    let entry = "maps.route: review maps.route, from [agents.coder.tools] line 25";
    let own = "weather.forecast: confirm default = \"confirm\", from [[mcp.server]] 'weather' line 70";
    let every = |tool: &str| format!("{tool}: confirm default = \"confirm\", from [mcp] line 60");
    assert_eq!(gates(&mut served(None, None)), [entry], "absent means run; plugins are none of it");
    assert_eq!(gates(&mut served(Some(Run), None)), [entry]);
    assert_eq!(gates(&mut served(None, Some(Confirm))), [entry, own]);
    assert_eq!(gates(&mut served(Some(Run), Some(Confirm))), [entry, own], "a server's own key goes first");
    assert_eq!(gates(&mut served(Some(Confirm), Some(Run))), [entry.to_owned(), every("maps.find")]);
    assert_eq!(
        gates(&mut served(Some(Confirm), None)),
        [entry.to_owned(), every("maps.find"), every("weather.forecast")]
    );
}

#[test]
fn p18_stands_outside_every_pair_for_entry_agent_workers_and_composed_workers() {
    let mut world = served(Some(ServerDefault::Confirm), None);
    let held = world.fresh(&agent_name("coder"));
    let worker =
        world.compose(Life::new(&agent_name("coder"), &held), "x", &[toolset("weather")], Nested::Leaf).unwrap();
    for agent in ["assistant", "coder", worker.as_str()] {
        assert_eq!(
            asks(&mut world, agent, &held, "weather.forecast").as_deref(),
            Some("default = \"confirm\""),
            "{agent}"
        );
    }
    // `available_tools` says so before it is built, and names the tools after.
    let mut unbuilt = World::new(world.declarations().clone(), world.registry().clone()).unwrap();
    unbuilt.define_core(core());
    unbuilt.report_build(&toolset("time"), &tools(&["now"])).unwrap();
    unbuilt.report_build(&toolset("deploy"), &tools(&["ship"])).unwrap();
    unbuilt.resolve().unwrap();
    let (agent, fresh) = (me(), unbuilt.fresh(&me()));
    let listing = |world: &World, filter: &str| world.available_tools(Life::new(&agent, &fresh), filter);
    assert_eq!(listing(&unbuilt, "weather"), "weather [loadable]: About weather. Asks first: every tool.");
    assert_eq!(listing(&unbuilt, "deploy"), "deploy [resident]: About deploy.");
    assert_eq!(listing(&world, "maps"), "maps [loadable]: About maps. Asks first: route, find.");
    // Explained with its line.
    let approval = explained(&world, &agent_name("coder"), &id("weather.forecast")).approval;
    assert_eq!(approval.list, Some(GateList::Confirm));
    assert_eq!(approval.reasons[0].to_string(), "no entry matches it, and default of [mcp] is \"confirm\", line 60");
}

#[test]
fn p20_the_floor_stands_before_any_build_and_without_any_gate() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs", "files"]).resident(&["fs"])]);
    declarations.default_pair = default_pair(&["fs.stat"], &[]);
    declarations.floor = entries(&["files", "fs.read_file"], 5).entries;
    let mut world = started(declarations, registry(&["fs", "files"]), &[("fs", &["read_file", "stat"])]);
    // Resolved while nothing of it was built, and it gates nothing by itself: what asks is the pair's to say.
    assert!(world.ungrantable(&me(), &id("files.anything")).is_some());
    let held = world.fresh(&me());
    assert_eq!(decide(&mut world, "assistant", &held, "fs.read_file"), Decision::Run);
    // A build gives a name that another toolset has to the floor, by name.
    assert_eq!(world.ungrantable(&me(), &id("fs.stat")), None);
    world.report_build(&toolset("files"), &tools(&["stat"])).unwrap();
    assert!(world.ungrantable(&me(), &id("fs.stat")).is_some());
}

#[test]
fn p21_an_allow_line_answers_for_its_call_and_never_for_the_floor() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["compute"]),
        agent("coder", 20).available(&["compute"]).confirm(&["compute"]),
    ]);
    declarations.default_pair = default_pair(&["compute.run_command", "compute.erase_disk"], &[]);
    declarations.floor = entries(&["compute.erase_disk"], 5).entries;
    let builds: &[(&str, &[&str])] = &[("compute", &["run_command", "erase_disk", "calculate"])];
    let mut world = started(declarations, registry(&["compute"]), builds);
    let held = world.fresh(&me());
    let decide = |world: &mut World, agent: &str, tool: &str, allow_line, attendance| {
        world.decide(CallFacts { attendance, allow_line, ..call(&agent_name(agent), &held, tool) })
    };
    for (agent, attendance) in [("assistant", Attendance::Attended), ("coder", Attendance::Unattended)] {
        let Decision::RunAnswered(reason, answer) =
            decide(&mut world, agent, "compute.run_command", Some(3), attendance)
        else {
            panic!("{agent} was asked")
        };
        assert_eq!(answer, Answer::AllowedByLine { line: 3 });
        assert_eq!(answer.to_string(), "allowed by allow line 3");
        assert!(reason.entry.starts_with("compute"));
    }
    // The floor asks a person, whatever line stands in the file; and what is not gated was never answered.
    let erase = |world: &mut World, attendance| decide(world, "assistant", "compute.erase_disk", Some(3), attendance);
    assert!(matches!(erase(&mut world, Attendance::Attended), Decision::Ask(_)));
    assert!(matches!(erase(&mut world, Attendance::Unattended), Decision::AutoDenied(..)));
    let calculate = decide(&mut world, "assistant", "compute.calculate", Some(3), Attendance::Attended);
    assert_eq!(calculate, Decision::Run);
    // A line goes before a flag and a grant, which then count no use (P1).
    world.allow(&["compute.run_command".to_owned()]).unwrap();
    decide(&mut world, "assistant", "compute.run_command", Some(3), Attendance::Attended);
    assert_eq!(world.unused_allows(), ["compute.run_command"]);
}

#[test]
fn p21_a_floor_that_was_reached_by_a_later_build_stops_allow_lines_and_flags() {
    let mut declarations =
        declare(vec![agent("assistant", 10).available(&["compute", "files"]).resident(&["compute"])]);
    declarations.default_pair = default_pair(&["compute"], &[]);
    declarations.floor = entries(&["files"], 5).entries;
    let mut world = started(declarations, registry(&["compute", "files"]), &[("compute", &["erase"])]);
    world.allow(&["compute".to_owned()]).unwrap();
    let (agent, held) = (me(), world.fresh(&me()));
    let call = call(&agent, &held, "compute.erase");
    let on_a_line = CallFacts { allow_line: Some(1), ..call };
    assert!(matches!(world.decide(call), Decision::RunAnswered(_, Answer::AllowedByFlag { .. })));
    assert!(matches!(world.decide(on_a_line), Decision::RunAnswered(_, Answer::AllowedByLine { .. })));
    world.report_build(&toolset("files"), &tools(&["erase"])).unwrap();
    assert!(matches!(world.decide(call), Decision::Ask(_)));
    assert!(matches!(world.decide(on_a_line), Decision::Ask(_)));
}

#[test]
fn p22_allow_is_for_the_entry_agent_or_the_agent_it_names_and_never_for_a_composed_worker() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["compute", "capabilities"]),
        agent("coder", 20).available(&["compute"]),
    ]);
    declarations.default_pair = default_pair(&["compute"], &[]);
    let builds: &[(&str, &[&str])] = &[("compute", &["run"]), ("capabilities", &["compose"])];
    let mut world = started(declarations, registry(&["compute", "capabilities"]), builds);
    world.allow(&["compute".to_owned()]).unwrap();
    let held = world.fresh(&me());
    let worker = world.compose(Life::new(&me(), &held), "x", &[toolset("compute")], Nested::Leaf).unwrap();
    assert!(world.allow(&[format!("{worker}=compute")]).is_err(), "it is no declared agent");
    let answered = |world: &mut World, agent: &str| {
        matches!(decide(world, agent, &held, "compute.run"), Decision::RunAnswered(..))
    };
    assert!(answered(&mut world, "assistant"));
    assert!(!answered(&mut world, "coder"));
    assert!(!answered(&mut world, worker.as_str()));
    // It widens nothing: what is not available stays so.
    assert!(world.may_load(Life::new(&agent_name("coder"), &Held::default()), "capabilities").is_err());
}
