//! What a start says and settles: whose gate is whose, what is not checked, and what a misspelled word is told.

use crate::common::*;
use kokua::access::*;
use pretty_assertions::assert_eq;

#[test]
fn a2_a_misspelled_table_of_the_entry_agent_is_pointed_at() {
    let found = faults(World::new(declare(vec![agent("asistant", 10), agent("reader", 20)]), registry(&[])));
    assert_eq!(
        found,
        [
            "A2 10: the entry agent 'assistant' has no [agents.assistant] table, and 'asistant' is close to its name | rename this table to [agents.assistant], or set [assistant].agent to its name"
        ]
    );
}

#[test]
fn a2_what_is_no_toolset_is_told_what_it_is() {
    let agents = vec![agent("assistant", 10).available(&["fs.read_file", "core", "fs.*", "web.get"])];
    let hints: Vec<String> = faults(World::new(declare(agents), registry(&["fs"])))
        .iter()
        .map(|text| text.split_once(" | ").unwrap().1.to_owned())
        .collect();
    let whole = "toolsets are named whole here: write 'fs'. This install has: fs";
    assert_eq!(
        hints,
        [
            whole,
            "core tools belong to no toolset: an agent earns them. This install has: fs",
            whole,
            "this install has: fs",
        ]
    );
}

#[test]
fn a5_a_list_meant_as_all_is_told_once() {
    let agents = vec![agent("assistant", 10).available(&["all"]).resident(&["time", "tiem"])];
    let found = faults(World::new(declare(agents), registry(&["time"])));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("A5 12:") && found[1].starts_with("R1 13: 'tiem'"), "{found:?}");
}

/// N4: not checked is never clean; an agent is whole again once every resident toolset of its was built for somebody.
#[test]
fn n4_an_agent_whose_resident_toolsets_were_not_all_built_is_not_checked() {
    let agents = vec![
        agent("assistant", 10).available(&["fs"]),
        agent("spare", 20).available(&["fs", "files"]),
        agent("deferring", 30).available(&["fs", "files"]).resident(&["fs"]),
    ];
    let mut world = started(declare(agents), registry(&["fs", "files"]), &[("fs", &["read_file"])]);
    let shadows = world.shadows();
    assert_eq!((shadows.alerts, shadows.not_checked), (Vec::new(), vec![agent_name("spare")]));
    world.report_failure(&toolset("files"), "no such folder");
    assert_eq!(world.shadows().not_checked, [agent_name("spare")]);
    world.report_build(&toolset("files"), &tools(&["read_file"])).unwrap();
    let shadows = world.shadows();
    assert_eq!(
        shadows.alerts,
        ["spare: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name)."]
    );
    assert_eq!(shadows.not_checked, []);
}

#[test]
fn p2_an_entry_in_other_letters_is_told_the_right_ones() {
    for (wrong, told) in [
        ("FS_WRITE", "'FS_WRITE' is not an entry: toolsets are named letter by letter, did you mean 'fs_write'?"),
        (" fs.read", "' fs.read' is not an entry: toolsets are named letter by letter, did you mean 'fs'?"),
        ("fs.", "'fs.' is not an entry: no tool is named after the dot"),
        ("All", "'All' is not an entry: write '<toolset>', '<toolset>.<tool>', 'core' or 'core.<tool>'"),
    ] {
        assert_eq!(GateEntry::parse(wrong).unwrap_err(), told);
    }
}

/// P4: three agents hold the same tool, and each is asked by its own policy.
#[test]
fn p4_each_gate_is_bound_to_its_own_agent() {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&["fs", "fs_write"]),
        agent("coder", 20).available(&["fs", "fs_write"]).confirm(&["fs.read_file"]),
        agent("careless", 30).available(&["fs", "fs_write"]).confirm(&[]),
    ]);
    declarations.default_pair = default_pair(&[], &["fs_write"]);
    let builds: &[(&str, &[&str])] = &[("fs", &["read_file"]), ("fs_write", &["write_file"])];
    let mut world = started(declarations, registry(&["fs", "fs_write"]), builds);
    let mut asked = |name: &str| {
        let held = world.fresh(&agent_name(name));
        ["fs.read_file", "fs_write.write_file"].map(|tool| asks(&mut world, name, &held, tool).is_some())
    };
    assert_eq!(asked("assistant"), [false, true]);
    assert_eq!(asked("coder"), [true, false]);
    assert_eq!(asked("careless"), [false, false]);
}

/// P11: with auto-approval off, `review` asks a person exactly as `confirm` does, and nothing is ungated.
#[test]
fn p11_review_asks_as_confirm_does_while_auto_approval_is_off() {
    let of = |confirm: &[&str], review: &[&str]| {
        let mut declarations = declare(vec![agent("assistant", 10).available(&["fs"])]);
        declarations.default_pair = default_pair(confirm, review);
        let mut world = started(declarations, registry(&["fs"]), &[("fs", &["read_file", "stat"])]);
        let held = world.fresh(&me());
        let attended = asks(&mut world, "assistant", &held, "fs.read_file");
        let unattended = decide_as(&mut world, "assistant", &held, "fs.read_file", "{}", Attendance::Unattended);
        assert!(matches!(unattended, Decision::AutoDenied(..)), "{unattended:?}");
        assert_eq!(decide(&mut world, "assistant", &held, "fs.stat"), Decision::Run);
        attended
    };
    assert_eq!(of(&[], &["fs.read_file"]), of(&["fs.read_file"], &[]));
    assert_eq!(of(&[], &["fs.read_file"]).as_deref(), Some("fs.read_file"));
}

#[test]
fn p6_near_core_tools_are_named_as_entries() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs", "time"]).resident(&["fs"])]);
    declarations.default_pair = default_pair(&["core.load_tool"], &[]);
    assert_eq!(
        faults(World::new(declarations, registry(&["fs", "time"]))),
        ["P6 1: 'core.load_tool' in confirm of [assistant.tools] names no core tool | did you mean 'core.load_tools'?"]
    );
}

/// A star is no pattern: it stands alone.
#[test]
fn p6_a_star_inside_a_tool_name_is_told_that_it_stands_alone() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs"])]);
    declarations.default_pair = default_pair(&["fs.read_*"], &[]);
    let mut world = World::new(declarations, registry(&["fs"])).unwrap();
    world.report_build(&toolset("fs"), &tools(&["read_file"])).unwrap_err();
    assert_eq!(
        texts(&world.resolve().unwrap_err()),
        [
            "P6 1: 'fs.read_*' in confirm of [assistant.tools], line 1, matches no tool of 'fs' | a * stands alone, as in 'fs.*'; its tools: read_file"
        ]
    );
}
