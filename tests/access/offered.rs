//! W1, W2, W5 and O1 to O9: what one model call carries, and the re-check at dispatch.

use crate::common::*;
use kokua::access::offer::RowState;
use kokua::access::*;
use pretty_assertions::assert_eq;

fn world() -> World {
    let agents =
        vec![agent("assistant", 10).available(&["compute", "time", "todo", "web"]).resident(&["compute", "time"])];
    started(
        declare(agents),
        registry(&["time", "compute", "todo", "web"]),
        &[("compute", &["calculate", "run_command"]), ("time", &["now"])],
    )
}

fn offered(world: &World, held: &Held) -> String {
    let kept = offer(world, Life::new(&me(), held)).kept;
    kept.iter().map(|index| held.tools()[*index].id.name.as_str()).collect::<Vec<_>>().join(" ")
}

fn rows(world: &World, held: &Held) -> Vec<String> {
    let ledger = offer(world, Life::new(&me(), held)).ledger;
    let tools = ledger.tools.iter().map(|row| match &row.state {
        RowState::Offered => format!("{} offered", row.tool),
        RowState::Withheld(withheld) => format!("{} {:?}: {}", row.tool, withheld.filter, withheld.reason),
    });
    let deferred = ledger.deferred.iter().map(|row| {
        let built = row
            .last_build
            .as_ref()
            .map_or("not built yet".to_owned(), |(names, bytes)| format!("{} tools, {bytes} bytes", names.len()));
        format!("{} ({built}) {:?}: {}", row.toolset, row.withheld.filter, row.withheld.reason)
    });
    tools.chain(deferred).collect()
}

#[test]
fn w1_switched_off_withholds_the_toolset_hot_and_knows_its_names() {
    let mut world = world();
    let held = world.fresh(&me());
    assert_eq!(offered(&world, &held), "calculate run_command now available_tools load_tools");
    world.switch_off(words(&["compute"], 3)).unwrap();
    assert_eq!(offered(&world, &held), "now available_tools load_tools");
    let found = texts(&world.switch_off(words(&["compuet"], 3)).unwrap_err());
    assert_eq!(
        found,
        [
            "W1 3: 'compuet' in disabled of [toolsets] names no installed toolset | did you mean 'compute'? This install has: time, compute, todo, web"
        ]
    );
    // The switches stayed as they were.
    assert_eq!(offered(&world, &held), "now available_tools load_tools");
    world.switch_off(vec![]).unwrap();
    assert_eq!(offered(&world, &held), "calculate run_command now available_tools load_tools");
    let mut declarations = declare(vec![agent("assistant", 10)]);
    declarations.disabled = words(&["nothing"], 7);
    assert!(faults(World::new(declarations, registry(&["time"])))[0].starts_with("W1 7: "));
}

#[test]
fn w2_a_check_withholds_a_tool_or_a_toolset_and_unreported_means_yes() {
    let mut world = world();
    let held = world.fresh(&me());
    let compute = toolset("compute");
    world.report_check(&compute, Some("run_command"), Some("sandbox is none".to_owned()));
    assert_eq!(offered(&world, &held), "calculate now available_tools load_tools");
    world.report_check(&compute, None, Some("down".to_owned()));
    assert_eq!(offered(&world, &held), "now available_tools load_tools");
    world.report_check(&compute, None, None);
    world.report_check(&compute, Some("run_command"), None);
    assert_eq!(offered(&world, &held), "calculate run_command now available_tools load_tools");
}

#[test]
fn w5_what_is_deferred_has_its_reason_in_the_ledger_and_nothing_held_is_withheld_by_it() {
    let mut world = world();
    let mut held = world.fresh(&me());
    let todo = |world: &World, held: &Held| rows(world, held).into_iter().find(|row| row.starts_with("todo")).unwrap();
    assert_eq!(todo(&world, &held), "todo (not built yet) NotLoaded: not loaded");
    world.report_failure(&toolset("todo"), "no disk");
    assert_eq!(todo(&world, &held), "todo (not built yet) NotLoaded: not loaded; its last build failed: no disk");
    world.report_build(&toolset("todo"), &tools(&["todo"])).unwrap();
    assert_eq!(todo(&world, &held), "todo (1 tools, 100 bytes) NotLoaded: not loaded");
    held.add(&toolset("todo"), Arrival::Loaded, &tools(&["todo"]));
    assert_eq!(todo(&world, &held), "todo.todo offered");
}

#[test]
fn o9_one_row_for_each_held_tool_and_each_deferred_toolset() {
    let mut world = world();
    let held = world.fresh(&me());
    world.report_check(&toolset("compute"), Some("run_command"), Some("sandbox is none".to_owned()));
    world.report_build(&toolset("todo"), &tools(&["todo"])).unwrap();
    world.report_failure(&toolset("web"), "no route");
    assert_eq!(
        rows(&world, &held),
        [
            "compute.calculate offered",
            "compute.run_command Check: sandbox is none",
            "time.now offered",
            "core.available_tools offered",
            "core.load_tools offered",
            "todo (1 tools, 100 bytes) NotLoaded: not loaded",
            "web (not built yet) NotLoaded: not loaded; its last build failed: no route",
        ]
    );
    world.switch_off(words(&["todo"], 3)).unwrap();
    assert_eq!(rows(&world, &held)[5], "todo (1 tools, 100 bytes) SwitchedOff: [toolsets].disabled names it");
}

#[test]
fn o1_the_first_filter_names_the_reason_and_explain_gives_all() {
    let mut world = world();
    let held = world.fresh(&me());
    world.report_check(&toolset("compute"), Some("run_command"), Some("sandbox is none".to_owned()));
    world.switch_off(words(&["compute"], 3)).unwrap();
    assert_eq!(rows(&world, &held)[1], "compute.run_command SwitchedOff: [toolsets].disabled names it");
    let explanation = explain(&world, Life::new(&me(), &held), &id("compute.run_command"), None);
    let reasons: Vec<_> =
        explanation.offered.reasons.iter().map(|reason| (reason.text.as_str(), reason.line())).collect();
    assert_eq!(reasons, [("[toolsets].disabled names it", Some(3)), ("sandbox is none", None)]);
}

#[test]
fn o2_and_o5_an_offer_is_a_subsequence_and_grows_back_in_place() {
    let mut world = world();
    let held = world.fresh(&me());
    let before = offer(&world, Life::new(&me(), &held)).kept;
    world.switch_off(words(&["compute"], 3)).unwrap();
    assert_eq!(offer(&world, Life::new(&me(), &held)).kept, [2, 3, 4]);
    world.switch_off(vec![]).unwrap();
    assert_eq!(offer(&world, Life::new(&me(), &held)).kept, before);
    assert_eq!(held.tools().len(), 5);
}

#[test]
fn o3_dispatch_asks_every_filter_and_the_definition_again() {
    let mut world = world();
    let held = world.fresh(&me());
    let run = id("compute.run_command");
    let dispatch = |world: &World, digest: &str| world.dispatch(Life::new(&me(), &held), &run, digest);
    assert_eq!(dispatch(&world, "digest of run_command"), None);
    assert_eq!(
        dispatch(&world, "what the card showed").as_deref(),
        Some("run_command changed since it was shown; call it again")
    );
    world.report_check(&toolset("compute"), Some("run_command"), Some("sandbox is none".to_owned()));
    assert_eq!(
        dispatch(&world, "digest of run_command").as_deref(),
        Some("run_command is not available now: sandbox is none")
    );
    world.switch_off(words(&["compute"], 3)).unwrap();
    assert_eq!(
        dispatch(&world, "digest of run_command").as_deref(),
        Some("run_command is switched off: [toolsets].disabled names it")
    );
    assert_eq!(world.dispatch(Life::new(&me(), &held), &id("web.get"), "").as_deref(), Some("get is not held"));
}

#[test]
fn o7_a_load_of_what_is_switched_off_is_refused_with_the_reason() {
    let mut world = world();
    world.switch_off(words(&["todo"], 3)).unwrap();
    assert_eq!(
        world.may_load(Life::new(&me(), &world.fresh(&me())), "todo").unwrap_err(),
        "Could not load 'todo': it is switched off: [toolsets].disabled names it"
    );
}

#[test]
fn o8_switches_and_checks_never_withhold_core_tools() {
    let mut world = world();
    let held = world.fresh(&me());
    for name in ["time", "compute", "todo", "web"] {
        world.report_check(&toolset(name), None, Some("down".to_owned()));
        world.report_check(&toolset(name), Some("load_tools"), Some("down".to_owned()));
    }
    world.switch_off(words(&["time", "compute", "todo", "web"], 3)).unwrap();
    assert_eq!(offered(&world, &held), "available_tools load_tools");
}

#[test]
fn a_world_is_a_value() {
    fn crosses_threads<T: Send + Sync + Clone + 'static>(_: &T) {}
    let mut world = world();
    crosses_threads(&world);
    let before = world.clone();
    let held = world.fresh(&me());
    world.switch_off(words(&["compute"], 3)).unwrap();
    world.report_build(&toolset("todo"), &tools(&["todo"])).unwrap();
    assert_eq!(offered(&before, &held), "calculate run_command now available_tools load_tools");
    assert_eq!(before.last_build(&toolset("todo")), None);
}
