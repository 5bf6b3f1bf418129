//! P1 to P22: what asks first, and what answers.

use crate::common::*;
use kokua::access::*;
use pretty_assertions::assert_eq;

const BUILDS: &[(&str, &[&str])] =
    &[("fs", &["read_file", "stat"]), ("fs_write", &["write_file"]), ("compute", &["calculate", "run_command"])];

fn all_three() -> Registry {
    registry(&["fs", "fs_write", "compute", "files"])
}

/// The shipped shape, and one entry in `confirm`.
fn shipped() -> Declarations {
    let mut declarations = declare(vec![
        agent("assistant", 10)
            .available(&["fs", "fs_write", "compute", "files"])
            .resident(&["fs", "fs_write", "compute"]),
    ]);
    declarations.default_pair = default_pair(&["fs.stat"], &["compute.run_command", "fs_write"]);
    declarations
}

/// The same with another pair.
fn gated(confirm: &[&str], review: &[&str]) -> Declarations {
    Declarations { default_pair: default_pair(confirm, review), ..shipped() }
}

/// The same with a floor.
fn floored(floor: &[&str]) -> Declarations {
    Declarations { floor: entries(floor, 5).entries, ..shipped() }
}

/// The world after startup's builds, and what its entry agent holds.
fn home(declarations: Declarations) -> (World, Held) {
    let world = started(declarations, all_three(), BUILDS);
    let held = world.fresh(&me());
    (world, held)
}

#[test]
fn p1_a_tool_in_neither_list_runs_and_p11_review_asks_as_confirm_does() {
    let (mut world, held) = home(shipped());
    assert_eq!(decide(&mut world, "assistant", &held, "fs.read_file"), Decision::Run);
    assert_eq!(
        decide(&mut world, "assistant", &held, "fs.stat"),
        Decision::Ask(AskReason {
            list: GateList::Confirm,
            entry: "fs.stat".to_owned(),
            source: "from [assistant.tools] line 1".to_owned()
        })
    );
    assert_eq!(
        decide(&mut world, "assistant", &held, "compute.run_command"),
        Decision::Ask(AskReason {
            list: GateList::Review,
            entry: "compute.run_command".to_owned(),
            source: "from [assistant.tools] line 2".to_owned()
        })
    );
    assert_eq!(decide(&mut world, "assistant", &held, "core.load_tools"), Decision::Run);
}

#[test]
fn p1_the_order_is_allow_then_grant_then_unattended_then_card() {
    let (mut world, held) = home(shipped());
    let run = |world: &mut World, attendance| {
        decide_as(world, "assistant", &held, "compute.run_command", "{\"command\":\"ls\"}", attendance)
    };
    assert!(matches!(run(&mut world, Attendance::Attended), Decision::Ask(_)));
    assert!(matches!(run(&mut world, Attendance::Unattended), Decision::AutoDenied(..)));
    let agent = me();
    let call = CallFacts { arguments: "{\"command\":\"ls\"}", ..call(&agent, &held, "compute.run_command") };
    assert_eq!(world.grant(call), Ok(1));
    assert!(matches!(
        run(&mut world, Attendance::Unattended),
        Decision::RunAnswered(_, Answer::AllowedByGrant { grant: 1 })
    ));
    world.allow(&["compute".to_owned()]).unwrap();
    assert!(matches!(run(&mut world, Attendance::Unattended), Decision::RunAnswered(_, Answer::AllowedByFlag { .. })));
    assert_eq!(world.grants("c1")[0].uses, 1);
}

#[test]
fn p3_a_pair_is_inherited_whole_or_declared_whole() {
    let mut declarations = shipped();
    declarations.agents.push(agent("inherits", 20).available(&["fs", "compute"]));
    declarations.agents.push(agent("declares", 30).available(&["fs", "compute"]).confirm(&["fs.read_file"]));
    declarations.agents.push(agent("nothing", 40).available(&["fs", "compute"]).review(&[]));
    let mut world = started(declarations, all_three(), BUILDS);
    let mut asked = |name: &str, tool: &str| {
        let held = world.fresh(&agent_name(name));
        asks(&mut world, name, &held, tool)
    };
    assert_eq!(asked("inherits", "compute.run_command").as_deref(), Some("compute.run_command"));
    assert_eq!(asked("declares", "fs.read_file").as_deref(), Some("fs.read_file"));
    assert_eq!(asked("declares", "compute.run_command"), None);
    assert_eq!(asked("nothing", "compute.run_command"), None);
    let source = |name: &str| report(&world, &agent_name(name), None, None).policy_source;
    assert_eq!(source("inherits"), "inherited from [assistant.tools], line 1");
    assert_eq!(source("declares"), "declared in [agents.declares.tools], line 34");
    assert_eq!(source("nothing"), "declared in [agents.nothing.tools], line 45");
    let bare = World::new(declare(vec![agent("assistant", 10)]), registry(&[])).unwrap();
    assert_eq!(report(&bare, &me(), None, None).policy_source, "inherited from [assistant.tools], which gates nothing");
}

#[test]
fn p6_an_entry_must_name_a_toolset_that_somebody_concerned_lists() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs"]),
        agent("coder", 20).available(&["compute"]).confirm(&["fs", "compuet.run"]),
    ]);
    declarations.default_pair = default_pair(&["fs.stat", "compute"], &["fs_wirte"]);
    assert_eq!(
        faults(World::new(declarations, all_three())),
        [
            "P6 1: 'compute' in confirm of [assistant.tools] names a toolset that no agent without a pair of its own lists | [agents.coder.tools] lists it, and its own pair (line 24) replaces this one whole: write the entry there, or it asks nobody",
            "P6 2: 'fs_wirte' in review of [assistant.tools]: no toolset is named 'fs_wirte' | did you mean 'fs_write'? This install has: fs, fs_write, compute, files. An entry is '<toolset>' or '<toolset>.<tool>'",
            "P6 24: 'fs' in confirm of [agents.coder.tools] names a toolset that this agent does not list | add 'fs' to its available, or take the entry out",
            "P6 24: 'compuet.run' in confirm of [agents.coder.tools]: no toolset is named 'compuet' | did you mean 'compute'? This install has: fs, fs_write, compute, files. An entry is '<toolset>' or '<toolset>.<tool>'",
        ]
    );
}

#[test]
fn p6_a_default_entry_that_nobody_lists_is_pending_where_somebody_composes() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["capabilities"])]);
    declarations.default_pair = default_pair(&["fs"], &[]);
    World::new(declarations, registry(&["capabilities", "fs"])).unwrap();
}

#[test]
fn p6_core_entries_must_be_earned() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "files"]).resident(&["fs"]),
        agent("coder", 20).available(&["fs"]).confirm(&["core.load_tools", "core"]),
    ]);
    declarations.default_pair =
        default_pair(&["core.load_tools", "core.spawn_subagent", "core.activate_skill", "core.laod"], &[]);
    let found = faults(World::new(declarations, all_three()));
    assert_eq!(
        found,
        [
            "P6 1: 'core.spawn_subagent' in confirm of [assistant.tools] gates nothing: no agent that it concerns holds such a tool | an agent earns it by a delegates_to that is not empty; take the entry out",
            "P6 1: 'core.activate_skill' in confirm of [assistant.tools] gates nothing: no agent that it concerns holds such a tool | an agent earns it by a skill; take the entry out",
            "P6 1: 'core.laod' in confirm of [assistant.tools] names no core tool | core tools: spawn_subagent, activate_skill, available_tools, load_tools",
            "P6 24: 'core.load_tools' in confirm of [agents.coder.tools] gates nothing: this agent holds no such tool | an agent earns it when its resident list leaves something of its available out; take the entry out",
            "P6 24: 'core' in confirm of [agents.coder.tools] gates nothing: this agent holds no such tool | an agent earns it when its resident list leaves something of its available out; take the entry out",
        ]
    );
}

#[test]
fn p6_core_load_tools_asks() {
    let (mut world, held) = home(gated(&["core.load_tools"], &[]));
    assert_eq!(asks(&mut world, "assistant", &held, "core.load_tools").as_deref(), Some("core.load_tools"));
    assert_eq!(asks(&mut world, "assistant", &held, "core.available_tools"), None);
}

#[test]
fn p6_an_entry_that_matches_no_built_tool_fails_startup_all_together() {
    let mut declarations = gated(&["fs.stta", "fs_write.write_flie"], &["compute.read_file"]);
    declarations.floor = entries(&["compute.nothing"], 5).entries;
    let mut world = World::new(declarations, all_three()).unwrap();
    for (name, offered) in BUILDS {
        drop(world.report_build(&toolset(name), &tools(offered)));
    }
    assert_eq!(
        texts(&world.resolve().unwrap_err()),
        [
            "P6 1: 'fs.stta' in confirm of [assistant.tools], line 1, matches no tool of 'fs' | did you mean 'fs.stat'?",
            "P6 1: 'fs_write.write_flie' in confirm of [assistant.tools], line 1, matches no tool of 'fs_write' | did you mean 'fs_write.write_file'?",
            "P6 2: 'compute.read_file' in review of [assistant.tools], line 2, matches no tool of 'compute' | its tools: calculate, run_command",
            "P20 5: 'compute.nothing' in [security].never_auto_approve, line 5, matches no tool of 'compute' | its tools: calculate, run_command",
        ]
    );
    // P8: still no policy, so nothing runs.
    let held = world.fresh(&me());
    if let Some(tool) = held.tools().first() {
        let agent = me();
        let call = CallFacts::on_screen("c1", &agent, tool, "{}", Attendance::Attended);
        assert!(matches!(world.decide(call), Decision::Unresolved(_)));
    }
}

#[test]
fn p6_a_whole_toolset_that_provides_nothing_gates_nothing() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs"])]);
    declarations.default_pair = default_pair(&["fs"], &[]);
    let mut world = World::new(declarations, all_three()).unwrap();
    world.report_build(&toolset("fs"), &[]).unwrap_err();
    assert_eq!(
        texts(&world.resolve().unwrap_err()),
        [
            "P6 1: 'fs' in confirm of [assistant.tools], line 1, matches nothing: 'fs' provides no tools | take the entry out"
        ]
    );
}

#[test]
fn p6_one_name_in_both_lists_fails_startup() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs", "files"])]);
    declarations.default_pair = default_pair(&["fs.read_file"], &["files"]);
    let mut world = World::new(declarations, all_three()).unwrap();
    world.report_build(&toolset("fs"), &tools(&["read_file"])).unwrap();
    world.report_build(&toolset("files"), &tools(&["read_file", "copy"])).unwrap_err();
    assert_eq!(
        texts(&world.resolve().unwrap_err()),
        [
            "P6 2: 'fs.read_file' in confirm (line 1) and 'files' in review (line 2) of [assistant.tools] both gate the name 'read_file' | leave a tool in one list only"
        ]
    );
}

#[test]
fn p7_startup_builds_what_is_resident_for_the_entry_agent() {
    let mut declarations = shipped();
    declarations.agents.push(agent("other", 20).available(&["files"]));
    let world = World::new(declarations, all_three()).unwrap();
    assert_eq!(names(&world.startup_builds()), ["fs", "fs_write", "compute"]);
}

#[test]
fn p7_an_entry_on_what_is_not_built_is_pending_until_a_build_resolves_it() {
    let (mut world, mut held) = home(gated(&["files.remove"], &[]));
    let pending = |world: &World| report(world, &me(), None, None).entries[0].pending;
    assert!(pending(&world));
    let build = tools(&["remove", "list"]);
    world.report_build(&toolset("files"), &build).unwrap();
    assert!(!pending(&world));
    held.add(&toolset("files"), Arrival::Loaded, &build);
    assert_eq!(asks(&mut world, "assistant", &held, "files.remove").as_deref(), Some("files.remove"));
    assert_eq!(asks(&mut world, "assistant", &held, "files.list"), None);
}

#[test]
fn p8_a_policy_only_gains_names_and_a_call_before_it_is_refused() {
    let mut world = World::new(shipped(), all_three()).unwrap();
    world.report_build(&toolset("fs"), &tools(&["read_file", "stat"])).unwrap();
    let mut held = Held::default();
    held.add(&toolset("fs"), Arrival::Resident, &tools(&["read_file"]));
    assert_eq!(
        decide(&mut world, "assistant", &held, "fs.read_file"),
        Decision::Unresolved(
            "Tool 'read_file' was not run: no approval policy is resolved for 'assistant' yet.".to_owned()
        )
    );
    world.resolve().unwrap();
    assert_eq!(decide(&mut world, "assistant", &held, "fs.read_file"), Decision::Run);
    assert!(matches!(decide(&mut world, "stranger", &held, "fs.read_file"), Decision::Unresolved(_)));
    // A later build with fewer tools takes no name away.
    world.report_build(&toolset("fs_write"), &tools(&["write_file", "edit_file"])).unwrap();
    world.report_build(&toolset("fs_write"), &tools(&["write_file"])).unwrap();
    held.add(&toolset("files"), Arrival::Loaded, &tools(&["edit_file"]));
    assert_eq!(asks(&mut world, "assistant", &held, "files.edit_file").as_deref(), Some("fs_write"));
}

#[test]
fn p8_a_whole_toolset_entry_gates_later_arrivals() {
    let mut world = started(shipped(), all_three(), BUILDS);
    let later = tools(&["write_file", "truncate"]);
    world.report_build(&toolset("fs_write"), &later).unwrap();
    let mut held = Held::default();
    held.add(&toolset("fs_write"), Arrival::Resident, &later);
    assert_eq!(asks(&mut world, "assistant", &held, "fs_write.truncate").as_deref(), Some("fs_write"));
}

#[test]
fn p9_a_build_that_an_entry_does_not_match_is_refused_for_good() {
    let (mut world, held) = home(gated(&["files.remove"], &[]));
    let refusal = world.report_build(&toolset("files"), &tools(&["remov", "list"])).unwrap_err();
    assert_eq!(refusal.entry, "files.remove");
    assert_eq!(
        world.may_load(Life::new(&me(), &held), "files").unwrap_err(),
        "Could not load 'files': 'files.remove' in confirm of [assistant.tools], line 1, matches no tool of 'files' (did you mean 'files.remov'?). Correct the configuration and restart."
    );
    // Even a build that would match now.
    assert_eq!(world.report_build(&toolset("files"), &tools(&["remove"])), Err(refusal));
    assert_eq!(world.last_build(&toolset("files")), None);
}

#[test]
fn p9_a_renamed_tool_refuses_the_next_build_and_held_tools_stay() {
    let (mut world, held) = home(shipped());
    world.report_build(&toolset("compute"), &tools(&["calculate", "run_shell"])).unwrap_err();
    assert_eq!(asks(&mut world, "assistant", &held, "compute.run_command").as_deref(), Some("compute.run_command"));
    assert_eq!(world.dispatch(Life::new(&me(), &held), &id("compute.run_command"), "digest of run_command"), None);
    assert!(world.available_tools(Life::new(&me(), &held), "compute").starts_with("compute [resident]"));
    // Nobody new gets any of it.
    assert_eq!(world.fresh(&me()).get(&id("compute.calculate")), None);
}

#[test]
fn p9_a_build_that_puts_one_name_in_both_lists_is_refused_and_counts_for_nothing() {
    let (mut world, _) = home(gated(&["files"], &["fs_write"]));
    let refusal = world.report_build(&toolset("files"), &tools(&["write_file", "list"])).unwrap_err();
    assert_eq!(
        refusal.message,
        "'files' in confirm (line 1) and 'fs_write' in review (line 2) of [assistant.tools] both gate the name 'write_file' (leave a tool in one list only). Correct the configuration and restart."
    );
    // The next build of somebody else is judged without it.
    world.report_build(&toolset("fs_write"), &tools(&["write_file"])).unwrap();
    let held = world.fresh(&me());
    assert_eq!(asks(&mut world, "assistant", &held, "fs_write.write_file").as_deref(), Some("fs_write"));
}

#[test]
fn p9_a_build_of_what_nothing_registered_is_refused() {
    let mut world = started(shipped(), all_three(), BUILDS);
    world.report_build(&toolset("stranger"), &tools(&["x"])).unwrap_err();
    assert_eq!(world.last_build(&toolset("stranger")), None);
}

#[test]
fn p10_what_the_text_alone_settles_does_not_wait_for_a_build() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "files", "compute"]),
        agent("coder", 20)
            .available(&["compute"])
            .confirm(&["compute.a", "compute.b"])
            .review(&["compute.b", "compute.c"]),
    ]);
    declarations.default_pair = default_pair(&["fs.stat", "files"], &["fs.*", "compute.a"]);
    assert_eq!(
        faults(World::new(declarations, all_three())),
        [
            "P10 2: 'fs.*' in review of [assistant.tools] and 'fs.stat' in confirm (line 1) gate the same tool | leave a tool in one list only",
            "P10 25: 'compute.b' in review of [agents.coder.tools] and 'compute.b' in confirm (line 24) gate the same tool | leave a tool in one list only",
        ]
    );
}

#[test]
fn p10_review_against_the_floor_only_with_auto_approval_on() {
    let mut declarations = floored(&["fs_write.write_file"]);
    World::new(declarations.clone(), all_three()).unwrap();
    declarations.auto_approval = true;
    let found = faults(World::new(declarations.clone(), all_three()));
    assert_eq!(
        found[0],
        "P10 2: 'fs_write' in review of [assistant.tools] (line 2) reaches the floor's 'fs_write.write_file' ([security].never_auto_approve, line 5) | move it to confirm, or name single tools that the floor does not hold"
    );
    declarations.default_pair.review = None;
    let found = faults(World::new(declarations, all_three()));
    assert!(
        found.iter().any(|text| text.starts_with("P6 -: auto-approval is enabled and no review entry")),
        "{found:?}"
    );
}

#[test]
fn p12_an_unattended_gated_call_is_auto_denied_and_an_ungated_one_runs() {
    let (mut world, held) = home(shipped());
    let mut unattended = |tool: &str| decide_as(&mut world, "assistant", &held, tool, "{}", Attendance::Unattended);
    assert_eq!(unattended("fs.read_file"), Decision::Run);
    let Decision::AutoDenied(reason, answer) = unattended("fs.stat") else { panic!("it ran or asked") };
    assert_eq!(reason.entry, "fs.stat");
    assert_eq!(answer, Answer::AutoDenied { reason: "nobody is here to ask".to_owned() });
}

#[test]
fn p13_the_words_of_an_answer() {
    let reviewed = Answer::ReviewerApproved { model: "m".to_owned(), reason: "in scope".to_owned() };
    let words = [
        (Answer::AllowedOnce, "allowed once", true),
        (Answer::AllowedForConversation, "allowed for this conversation", true),
        (Answer::AllowedByGrant { grant: 3 }, "allowed by grant 3", true),
        (Answer::AllowedByFlag { entry: "fs".to_owned() }, "allowed by --allow", true),
        (Answer::Denied, "denied", false),
        (Answer::DeniedWithReason { reason: "no".to_owned() }, "denied with a reason", false),
        (Answer::AutoDenied { reason: "nobody".to_owned() }, "auto-denied", false),
        (Answer::Expired, "expired", false),
        (Answer::AllowedByLine { line: 2 }, "allowed by allow line 2", true),
        (reviewed, "reviewer approved", true),
        (Answer::Withdrawn, "withdrawn (stopped)", false),
        (Answer::Interrupted, "interrupted", false),
    ];
    for (answer, text, allows) in words {
        assert_eq!((answer.to_string().as_str(), answer.allows()), (text, allows));
    }
}

#[test]
fn p16_a_grant_answers_for_this_exact_call_only_and_is_listed_with_its_uses() {
    let mut declarations = shipped();
    declarations.agents.push(agent("coder", 20).available(&["compute"]));
    let (mut world, held) = home(declarations);
    let (agent, other) = (me(), agent_name("coder"));
    let call = CallFacts { arguments: "{\"a\":1}", ..call(&agent, &held, "compute.run_command") };
    assert_eq!(world.grant(call), Ok(1));
    assert_eq!(world.grant(call), Ok(1), "the same call has one grant");
    assert!(matches!(world.decide(call), Decision::RunAnswered(_, Answer::AllowedByGrant { grant: 1 })));
    assert!(matches!(world.decide(CallFacts { conversation: "c2", ..call }), Decision::Ask(_)));
    assert!(matches!(world.decide(CallFacts { arguments: "{\"a\":2}", ..call }), Decision::Ask(_)));
    assert!(matches!(world.decide(CallFacts { agent: &other, ..call }), Decision::Ask(_)));
    assert_eq!(world.grants("c1").len(), 1);
    assert_eq!(world.grants("c1")[0].uses, 1);
    assert!(world.grants("c2").is_empty());
    let redefined = HeldTool { digest: "another".to_owned(), ..call.tool.clone() };
    let changed = CallFacts { tool: &redefined, ..call };
    assert!(matches!(world.decide(changed), Decision::Ask(_)));
    assert!(world.revoke(1));
    assert!(!world.revoke(1));
    assert!(matches!(world.decide(call), Decision::Ask(_)));
    assert_eq!(world.grant(call), Ok(2), "a number is never used again");
}

#[test]
fn p16_and_p20_no_grant_for_what_the_floor_reaches_by_name_too() {
    let (mut world, held) = home(floored(&["compute.run_command", "files"]));
    let agent = me();
    assert!(world.ungrantable(&agent, &id("compute.run_command")).is_some());
    assert_eq!(
        world.grant(call(&agent, &held, "compute.run_command")).unwrap_err(),
        "compute.run_command asks every time: 'compute.run_command' stands in [security].never_auto_approve, line 5"
    );
    // A pending floor entry counts by its toolset; once built, by its tools' names too.
    assert!(world.ungrantable(&agent, &id("files.anything")).is_some());
    let call = call(&agent, &held, "fs.stat");
    assert_eq!(world.grant(call), Ok(1));
    assert!(matches!(world.decide(call), Decision::RunAnswered(..)));
    world.report_build(&toolset("files"), &tools(&["stat"])).unwrap();
    assert!(matches!(world.decide(call), Decision::Ask(_)), "the floor reached it since");
}

#[test]
fn p19_a_gate_matches_the_name_whoever_holds_it() {
    let (mut world, held) = home(gated(&["files.read_file"], &[]));
    assert_eq!(asks(&mut world, "assistant", &held, "fs.read_file"), None, "pending gates only its own");
    world.report_build(&toolset("files"), &tools(&["read_file"])).unwrap();
    assert_eq!(asks(&mut world, "assistant", &held, "fs.read_file").as_deref(), Some("files.read_file"));
}

#[test]
fn p20_the_floor_names_registered_toolsets() {
    assert_eq!(
        faults(World::new(floored(&["fs_wirte.write_file", "core.nope"]), all_three())),
        [
            "P20 5: 'fs_wirte.write_file' in [security].never_auto_approve: no toolset is named 'fs_wirte' | did you mean 'fs_write'? This install has: fs, fs_write, compute, files. An entry is '<toolset>' or '<toolset>.<tool>'",
            "P20 5: 'core.nope' in [security].never_auto_approve names no core tool | core tools: spawn_subagent, activate_skill, available_tools, load_tools",
        ]
    );
}

#[test]
fn p21_and_p22_allow_answers_gated_calls_of_its_agent_and_the_unused_are_named() {
    let mut declarations = shipped();
    declarations.agents.push(agent("coder", 20).available(&["compute"]));
    let (mut world, held) = home(declarations);
    let entry = |text: &str| text.to_owned();
    world.allow(&[entry("fs_write"), entry("coder=compute.run_command"), entry("fs.read_file")]).unwrap();
    assert!(asks(&mut world, "assistant", &held, "compute.run_command").is_some());
    assert_eq!(decide(&mut world, "assistant", &held, "fs.read_file"), Decision::Run);
    assert!(matches!(
        decide(&mut world, "assistant", &held, "fs_write.write_file"),
        Decision::RunAnswered(_, Answer::AllowedByFlag { entry }) if entry == "fs_write"
    ));
    let coder = world.fresh(&agent_name("coder"));
    assert_eq!(world.unused_allows(), ["coder=compute.run_command", "fs.read_file"]);
    assert!(matches!(
        decide(&mut world, "coder", &coder, "compute.run_command"),
        Decision::RunAnswered(_, Answer::AllowedByFlag { .. })
    ));
    assert_eq!(world.unused_allows(), ["fs.read_file"]);
}

#[test]
fn p22_allow_names_its_own_tool_and_not_another_of_that_name() {
    let (mut world, held) = home(gated(&["fs.read_file", "files"], &[]));
    world.report_build(&toolset("files"), &tools(&["read_file"])).unwrap();
    world.allow(&["files.read_file".to_owned()]).unwrap();
    assert_eq!(asks(&mut world, "assistant", &held, "fs.read_file").as_deref(), Some("fs.read_file"));
    assert_eq!(world.unused_allows(), ["files.read_file"]);
}

#[test]
fn p22_allow_entries_that_cannot_hold_are_all_named_and_none_is_set() {
    let (mut world, held) = home(floored(&["compute.run_command"]));
    let written: Vec<String> = [
        "fs_wirte",
        "fs.stta",
        "codr=fs",
        "*",
        "compute",
        "compute.run_command",
        "core.spawn_subagent",
        "core.lod_tools",
        "fs.a=b",
        "compute.run_cmd",
        "zzzzzz.x",
        "fs.stat",
    ]
    .iter()
    .map(|text| (*text).to_owned())
    .collect();
    assert_eq!(
        world.allow(&written).unwrap_err(),
        [
            "--allow: no toolset is named 'fs_wirte'; did you mean 'fs_write'?",
            "--allow fs.stta: 'fs' has no tool of that name; did you mean 'stat'?",
            "--allow: no agent is named 'codr'; declared agents: assistant",
            "--allow: '*' is not an entry: write '<toolset>', '<toolset>.<tool>', 'core' or 'core.<tool>'",
            "--allow compute: it reaches 'compute.run_command' of [security].never_auto_approve (line 5), which always asks a person",
            "--allow compute.run_command: it reaches 'compute.run_command' of [security].never_auto_approve (line 5), which always asks a person",
            "--allow core.spawn_subagent: 'assistant' holds no such core tool",
            "--allow core.lod_tools: 'assistant' holds no such core tool; did you mean 'load_tools'?",
            "--allow fs.a=b: 'fs' has no tool of that name; its tools: read_file, stat",
            "--allow compute.run_cmd: 'compute' has no tool of that name; did you mean 'run_command'?",
            "--allow: no toolset is named 'zzzzzz'; `kokua toolsets` prints every name",
        ]
    );
    assert!(asks(&mut world, "assistant", &held, "fs.stat").is_some());
    assert!(world.unused_allows().is_empty());
}

#[test]
fn p20_a_floor_that_gates_nothing_is_said() {
    let idle = |confirm: &[&str], floor: &[&str]| {
        let mut declarations = declare(vec![agent("assistant", 10).available(&["fs", "time"])]);
        declarations.default_pair = default_pair(confirm, &[]);
        declarations.floor = entries(floor, 5).entries;
        started(declarations, registry(&["fs", "time"]), &[("fs", &["stat"]), ("time", &["now"])]).idle_floor()
    };
    assert_eq!(idle(&["fs"], &["fs"]), Vec::<String>::new());
    assert_eq!(idle(&["time"], &[]), Vec::<String>::new());
    assert_eq!(
        idle(&["time"], &["fs.stat", "time"]),
        [
            "'fs.stat' in [security].never_auto_approve, line 5, gates nothing by itself: assistant runs fs.stat without asking. Name it in confirm too."
        ]
    );
}
