//! K1, K4: one value that commands and screens print, and five answers with their reasons.

use crate::common::*;
use kokua::access::report::ToolsetState;
use kokua::access::*;
use pretty_assertions::assert_eq;

fn world() -> World {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "files", "time", "web"]).resident(&["files", "fs"]),
        agent("coder", 20).available(&["fs", "fs_write", "time"]).confirm(&["fs.read_file", "fs_write.edit_file"]),
        agent("everything", 30).all().resident(&[]),
    ]);
    declarations.default_pair = default_pair(&["fs_write", "core.load_tools", "fs.stat"], &["web.get"]);
    declarations.agents.push(agent("writer", 40).available(&["fs_write"]));
    declarations.floor = entries(&["fs.stat"], 5).entries;
    started(
        declarations,
        registry(&["fs", "files", "time", "web", "fs_write"]),
        &[
            ("fs", &["read_file", "stat"]),
            ("files", &["read_file", "copy"]),
            ("fs_write", &["write_file", "edit_file"]),
        ],
    )
}

/// The entry agent's report before it runs.
fn fresh(world: &World) -> AgentReport {
    report(world, &me(), None, None)
}

/// The entry agent's report while it holds `held`.
fn running(world: &World, held: &Held, conversation: Option<&str>) -> AgentReport {
    report(world, &me(), Some(Life::new(&me(), held)), conversation)
}

fn said(yes: bool, reasons: &[Reason]) -> String {
    let reasons: Vec<String> = reasons
        .iter()
        .map(|reason| match reason.line() {
            Some(line) => format!("{} (line {line})", reason.text),
            None => reason.text.clone(),
        })
        .collect();
    format!("{yes}: {}", reasons.join("; "))
}

fn five(world: &World, agent: &str, held: Option<&Held>, tool: &str) -> [String; 5] {
    let (agent, fresh) = (agent_name(agent), world.fresh(&agent_name(agent)));
    let explanation = explain(world, Life::new(&agent, held.unwrap_or(&fresh)), &id(tool), None);
    let found = |finding: &Finding| said(finding.yes, &finding.reasons);
    [
        found(&explanation.available),
        found(&explanation.held),
        found(&explanation.offered),
        said(explanation.approval.list.is_some(), &explanation.approval.reasons),
        found(&explanation.dispatched),
    ]
}

#[test]
fn k4_five_answers_each_with_its_line() {
    let world = world();
    assert_eq!(
        five(&world, "assistant", None, "fs.stat"),
        [
            "true: available of [agents.assistant.tools] names 'fs' (line 12)",
            "true: resident of [agents.assistant.tools] names its toolset (line 13)",
            "true: no filter withholds it",
            "true: 'fs.stat' in confirm of [assistant.tools] (line 1); 'fs.stat' in [security].never_auto_approve: only a person's own answer counts (line 5)",
            "true: it is held, offered and unchanged",
        ]
    );
    assert_eq!(
        five(&world, "assistant", None, "files.read_file"),
        [
            "true: available of [agents.assistant.tools] names 'files' (line 12)",
            "false: fs.read_file holds its name",
            "false: it is not in the context",
            "false: in neither list; its pair is inherited from [assistant.tools] (line 1)",
            "false: it is not held",
        ]
    );
    assert_eq!(
        five(&world, "coder", None, "web.get"),
        [
            "false: available of [agents.coder.tools] does not name 'web' (line 22)",
            "false: it is not available",
            "false: it is not in the context",
            "false: in neither list; its pair is declared in [agents.coder.tools] (line 24)",
            "false: it is not held; it is not available to 'coder'",
        ]
    );
    assert_eq!(
        five(&world, "everything", None, "time.now")[..2],
        [
            "true: available of [agents.everything.tools] is \"all\" (line 32)".to_owned(),
            "false: resident of [agents.everything.tools] leaves 'time' out: load_tools with that name adds it (line 30)".to_owned(),
        ]
    );
    assert_eq!(
        five(&world, "everything", None, "core.load_tools")[..2],
        [
            "true: [agents.everything] earns the core tool (line 30)".to_owned(),
            "true: [agents.everything] earns the core tool (line 30)".to_owned(),
        ]
    );
    assert_eq!(
        five(&world, "coder", None, "fs.copy")[0],
        "false: available of [agents.coder.tools] names 'fs' (line 22); 'fs' has no such tool"
    );
    assert_eq!(five(&world, "nobody", None, "fs.stat")[0], "false: no agent is named 'nobody'");
    assert_eq!(five(&world, "coder", None, "nope.x")[0], "false: no toolset is named 'nope'");
}

#[test]
fn k1_a_report_holds_all_that_is_printed_of_an_agent() {
    let mut world = world();
    let report = fresh(&world);
    assert!(report.entry);
    assert!(!report.available_all);
    assert_eq!(names(&report.available), ["fs", "files", "time", "web"]);
    assert_eq!(report.resident.as_deref().map(names), Some(vec!["fs", "files"]));
    assert_eq!(names(&report.deferred), ["time", "web"]);
    assert_eq!(report.start_tools, (5, 500));
    let states: Vec<(&str, &ToolsetState)> =
        report.toolsets.iter().map(|row| (row.name.as_str(), &row.state)).collect();
    assert_eq!(
        states,
        [
            ("fs", &ToolsetState::Resident),
            ("files", &ToolsetState::Resident),
            ("time", &ToolsetState::Loadable),
            ("web", &ToolsetState::Loadable),
            ("fs_write", &ToolsetState::NotAvailable),
        ]
    );
    let files = report.toolsets[1].tools.as_ref().unwrap();
    assert_eq!(files[0].shadowed_by.as_deref(), Some("fs"));
    assert_eq!(files[1].shadowed_by, None);
    assert_eq!(report.toolsets[0].tools.as_ref().unwrap()[1].gate, Some(GateList::Confirm));
    assert_eq!(report.toolsets[2].tools, None);
    let entries: Vec<(&str, bool, usize)> =
        report.entries.iter().map(|row| (row.entry.as_str(), row.pending, row.tools.len())).collect();
    assert_eq!(
        entries,
        [("fs_write", false, 2), ("core.load_tools", false, 1), ("fs.stat", false, 1), ("web.get", true, 0)]
    );
    assert_eq!(report.floor[0].tools, [id("fs.stat")]);
    assert_eq!(report.grants, []);
    // Every resident toolset that is off or fails its check is said to be off, and the block shrinks.
    world.switch_off(words(&["files"], 7)).unwrap();
    let off = fresh(&world);
    assert_eq!(off.start_tools, (4, 400));
    assert_eq!(
        off.toolsets[1].state,
        ToolsetState::Off { by: Filter::SwitchedOff, reason: "[toolsets].disabled names it".to_owned(), line: Some(7) }
    );
    let no = "no disk".to_owned();
    world.report_check(&toolset("fs"), None, Some(no));
    let unwell = fresh(&world);
    assert!(matches!(unwell.toolsets[0].state, ToolsetState::Off { by: Filter::Check, .. }), "no switch undoes it");
}

#[test]
fn k1_a_dropped_default_is_flagged_where_it_concerns_the_agent() {
    let world = world();
    let dropped = |name: &str| report(&world, &agent_name(name), None, None).dropped_defaults;
    // fs_write.write_file and fs.stat lost their gate; load_tools is nothing that the coder holds, web nothing it lists.
    assert_eq!(dropped("coder"), ["fs_write", "fs.stat"]);
    assert_eq!(dropped("assistant"), Vec::<String>::new());
}

#[test]
fn k1_a_running_agents_report_shows_its_own_loads_and_grants() {
    let mut world = world();
    let mut held = world.fresh(&me());
    let build = tools(&["now"]);
    world.report_build(&toolset("time"), &build).unwrap();
    held.add(&toolset("time"), Arrival::Loaded, &build);
    world.grant(call(&me(), &held, "files.copy")).unwrap();
    let now = running(&world, &held, Some("c1"));
    assert_eq!(now.toolsets[2].state, ToolsetState::Loaded);
    assert_eq!(now.start_tools, (5, 500), "what it started with");
    assert_eq!(now.grants.len(), 1);
    assert!(running(&world, &held, Some("c2")).grants.is_empty());
    let web = |world: &World| running(world, &held, None).toolsets[3].state.clone();
    world.report_failure(&toolset("web"), "no route");
    assert_eq!(web(&world), ToolsetState::Failed { error: "no route".to_owned() });
    world.report_build(&toolset("web"), &tools(&["fetch"])).unwrap_err();
    assert_eq!(web(&world), ToolsetState::Refused { entry: "web.get".to_owned() });
}

/// Tools and bytes of every row that a call made now carries.
fn offered_rows(report: &AgentReport) -> (usize, usize) {
    let toolsets = report.toolsets.iter().flat_map(|row| row.tools.iter().flatten());
    let offered = toolsets.chain(&report.core).filter(|tool| tool.offered);
    offered.fold((0, 0), |(tools, bytes), tool| (tools + 1, bytes + tool.bytes))
}

#[test]
fn k1_the_rows_of_a_report_sum_to_what_a_call_made_now_carries() {
    let mut world = world();
    let fresh = fresh(&world);
    assert_eq!(fresh.core.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["available_tools", "load_tools"]);
    assert_eq!(fresh.core[1].gate, Some(GateList::Confirm));
    assert_eq!(fresh.offered, fresh.start_tools);
    // One of files' two tools lost its name, and a load, a switch and a check each change the call.
    let mut held = world.fresh(&me());
    let now = |world: &World, held: &Held| {
        let report = running(world, held, None);
        assert_eq!(offered_rows(&report), report.offered);
        assert_eq!(report.offered.0, offer(world, Life::new(&me(), held)).kept.len());
        report.offered
    };
    assert_eq!(now(&world, &held), (5, 500));
    let build = tools(&["now", "copy"]);
    world.report_build(&toolset("time"), &build).unwrap();
    assert_eq!(now(&world, &held), (5, 500), "built, not held");
    held.add(&toolset("time"), Arrival::Loaded, &build);
    assert_eq!(now(&world, &held), (6, 600));
    world.switch_off(words(&["files"], 7)).unwrap();
    assert_eq!(now(&world, &held), (5, 500));
    world.report_check(&toolset("fs"), Some("stat"), Some("no".to_owned()));
    assert_eq!(now(&world, &held), (4, 400));
    for agent in ["coder", "everything", "writer"] {
        let report = report(&world, &agent_name(agent), None, None);
        assert_eq!(offered_rows(&report), report.offered, "{agent}");
    }
}

#[test]
fn k1_json_is_flat_where_it_is_read() {
    let world = world();
    let json = serde_json::to_value(fresh(&world)).unwrap();
    assert_eq!(json["toolsets"][0]["state"], "resident");
    assert_eq!(json["entries"][0]["list"], "confirm");
    let ledger = serde_json::to_value(offer(&world, Life::new(&me(), &world.fresh(&me()))).ledger).unwrap();
    assert_eq!(ledger["tools"][0]["state"], "offered");
}

#[test]
fn r17_what_a_later_build_lacks_is_still_held_callable_and_reported_as_it_is_held() {
    let declarations = declare(vec![agent("assistant", 10).available(&["a"])]);
    let mut world = started(declarations, registry(&["a"]), &[("a", &["read", "write"])]);
    let me = me();
    let held = world.fresh(&me);
    let redescribed = ToolFacts { bytes: 900, ..facts("write") };
    world.report_build(&toolset("a"), &[redescribed]).unwrap();
    let life = Life::new(&me, &held);
    let explanation = explain(&world, life, &id("a.read"), None);
    assert_eq!((explanation.available.yes, explanation.outcome), (true, Outcome::Runs));
    let report = report(&world, &me, Some(life), None);
    let rows = report.toolsets[0].tools.as_ref().unwrap();
    let rows: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.bytes, row.offered)).collect();
    assert_eq!(rows, [("write", 100, true), ("read", 100, true)]);
    assert_eq!(report.offered, (2, 200));
    // Nobody else gets it any more.
    let fresh = world.fresh(&me);
    assert_eq!(explain(&world, Life::new(&me, &fresh), &id("a.read"), None).outcome, Outcome::Never);
}

/// Every reason of every answer, for one tool that everything is wrong with.
#[test]
fn k4_each_answer_has_all_its_reasons_each_with_its_place() {
    let mut registry = registry(&["time", "web", "files"]);
    registry.register(toolset_facts("weather", Kind::Mcp)).unwrap();
    let mut declarations = declare(vec![
        agent("assistant", 10)
            .available(&["time", "weather", "web", "files"])
            .resident(&["time", "files"])
            .confirm(&["weather", "files.forecast"])
            .review(&["time.now"]),
    ]);
    declarations.floor = entries(&["weather.forecast"], 5).entries;
    declarations.modes = vec![kokua::access::declare::ModeDeclaration {
        name: Spanned::new("quiet".to_owned(), span(40)),
        withhold: ["kind:mcp", "weather"].map(|word| Spanned::new(word.to_owned(), span(41))).to_vec(),
    }];
    let mut world = World::new(declarations, registry).unwrap();
    world.define_core(core());
    world.report_build(&toolset("time"), &tools(&["now"])).unwrap();
    world.report_build(&toolset("files"), &tools(&["forecast"])).unwrap();
    let waiting = ToolFacts { trigger: Some(Trigger::Link), ..facts("forecast") };
    world.report_build(&toolset("weather"), std::slice::from_ref(&waiting)).unwrap();
    world.resolve().unwrap();
    let weather = toolset("weather");
    world.switch_off(words(&["weather"], 50)).unwrap();
    world.report_fact(&weather, None, Some(Fact::NotConnected("refused".to_owned())));
    world.report_fact(&weather, Some("forecast"), Some(Fact::ChangedSinceAccepted));
    world.report_check(&weather, None, Some("slow".to_owned()));
    world.report_check(&weather, Some("forecast"), Some("no key".to_owned()));
    world.report_failure(&weather, "no route");
    let under = |held: &Held| Conditions {
        mode: Some(world.mode("quiet").unwrap()),
        families: vec![toolset("time"), toolset("web")],
        allow: Some(AllowList::new([ToolName::new("now")].into(), held)),
        triggers: std::collections::BTreeSet::new(),
    };
    let (agent, tool) = (me(), id("weather.forecast"));
    let texts = |reasons: &[Reason]| reasons.iter().map(ToString::to_string).collect::<Vec<_>>();
    let held = world.fresh(&agent);
    let conditions = under(&held);
    let life = Life::new(&agent, &held).under(&conditions);
    let told = explain(&world, life, &tool, None);
    let mut filters = [
        "[toolsets].disabled names it, line 50",
        "its server is not connected: refused (its server)",
        "changed since it was accepted (its server)",
        "slow (its health check)",
        "no key (its health check)",
        "mode 'quiet' withholds kind:mcp, line 41",
        "mode 'quiet' withholds weather, line 41",
        "this worker was narrowed to 'time'",
        "this worker was narrowed to 'web'",
        "it was not held when this turn began, which may call no more than that",
        "no http(s) link stands in the last 3 user messages",
    ];
    assert_eq!(texts(&told.available.reasons), ["available of [agents.assistant.tools] names 'weather', line 12"]);
    assert_eq!(
        texts(&told.held.reasons),
        [
            "'weather' could not be built: no route (its last build)",
            "resident of [agents.assistant.tools] leaves 'weather' out, line 13",
        ]
    );
    assert_eq!(texts(&told.offered.reasons)[0], "it is not in the context");
    assert_eq!(texts(&told.offered.reasons)[1..], filters);
    assert_eq!(
        texts(&told.approval.reasons),
        [
            "'weather' in confirm of [agents.assistant.tools], line 14",
            "'files.forecast' in confirm of [agents.assistant.tools], by the tool's name: whoever holds it, line 14",
            "'weather.forecast' in [security].never_auto_approve: only a person's own answer counts, line 5",
        ]
    );
    assert_eq!(texts(&told.dispatched.reasons), ["it is not held"]);
    assert_eq!(told.outcome, Outcome::NotNow);
    // Held: the fifth answer has every filter, as the third does, and what dispatch says is the first.
    let mut held = Held::default();
    held.add_by(&weather, Arrival::Loaded, Some("call-7".to_owned()), &[waiting]);
    let conditions = under(&held);
    filters[9] = "this turn may call other tools only";
    let life = Life::new(&agent, &held).under(&conditions);
    let told = explain(&world, life, &tool, None);
    assert_eq!(texts(&told.held.reasons), ["load_tools loaded it (call-7)"]);
    assert_eq!(texts(&told.offered.reasons), filters);
    assert_eq!(told.dispatched.reasons.len(), filters.len());
    for (reason, filter) in told.dispatched.reasons.iter().zip(&told.offered.reasons) {
        assert_eq!(reason.place, filter.place);
        assert!(reason.text.ends_with(&filter.text), "{} is not {}", reason.text, filter.text);
    }
    let digest = held.get(&tool).unwrap().digest.clone();
    let refused = world.dispatch(life, &tool, &digest).unwrap();
    assert_eq!(refused.replacen("forecast", "it", 1), told.dispatched.reasons[0].text);
    // A tool that no build has, of a toolset that nobody may hold.
    let other = explain(&world, life, &id("time.zzz"), None).available;
    let of_time = "available of [agents.assistant.tools] names 'time', line 12";
    assert_eq!(texts(&other.reasons), [of_time, "'time' has no such tool (its last build)"]);
}

#[test]
fn k4_every_outcome_has_its_case() {
    let mut declarations =
        declare(vec![agent("assistant", 10).available(&["fs", "web", "odd", "compute"]).resident(&["fs", "compute"])]);
    declarations.default_pair = default_pair(&["fs.stat", "odd.nothing"], &["compute.run", "web"]);
    declarations.auto_approval = true;
    let builds: &[(&str, &[&str])] = &[("fs", &["read_file", "stat"]), ("compute", &["run", "add"])];
    let mut world = started(declarations, registry(&["fs", "web", "odd", "compute", "other"]), builds);
    let (agent, held) = (me(), world.fresh(&me()));
    let outcome = |world: &World, tool: &str| explain(world, Life::new(&agent, &held), &id(tool), None).outcome;
    assert_eq!(outcome(&world, "fs.read_file"), Outcome::Runs);
    assert_eq!(outcome(&world, "core.load_tools"), Outcome::Runs);
    assert_eq!(outcome(&world, "fs.stat"), Outcome::Asks);
    assert_eq!(outcome(&world, "compute.run"), Outcome::AsksReviewer);
    assert_eq!(outcome(&world, "web.get"), Outcome::NotNow, "one load away");
    assert_eq!(outcome(&world, "other.x"), Outcome::Never, "no table lists it");
    assert_eq!(outcome(&world, "core.spawn_subagent"), Outcome::Never, "not earned");
    assert_eq!(outcome(&world, "fs.zzz"), Outcome::Never, "no build has it");
    assert_eq!(outcome(&world, "odd.x"), Outcome::NotNow);
    world.report_build(&toolset("odd"), &tools(&["x"])).unwrap_err();
    assert_eq!(outcome(&world, "odd.x"), Outcome::Never, "refused for good (P9)");
    // Of a call, what answers counts too.
    let of_call = |attendance, allow_line| {
        let call = CallFacts { attendance, allow_line, ..call(&agent, &held, "fs.stat") };
        explain(&world, Life::new(&agent, &held), &id("fs.stat"), Some(&call)).outcome
    };
    assert_eq!(of_call(Attendance::Attended, None), Outcome::Asks);
    assert_eq!(of_call(Attendance::Attended, Some(1)), Outcome::Runs);
    assert_eq!(of_call(Attendance::Unattended, None), Outcome::NotNow, "auto-denied");
    // Held and withheld.
    world.switch_off(words(&["fs"], 3)).unwrap();
    assert_eq!(outcome(&world, "fs.read_file"), Outcome::NotNow);
}
