//! N1 to N6 and P2: wire names, entries, and names that clash.

use crate::common::*;
use kokua::access::name::near;
use kokua::access::*;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn wire(owner: &str, tool: &str) -> WireName {
    WireName::of(&Owner::Toolset(toolset(owner)), &ToolName::new(tool))
}

#[test]
fn n1_the_first_resident_in_available_order_keeps_the_name_and_trust_order_is_first_for_all() {
    let mut registry = Registry::new([]);
    registry.register(toolset_facts("remote", Kind::Mcp)).unwrap();
    registry.register(toolset_facts("fs", Kind::BuiltIn)).unwrap();
    let agents = vec![
        agent("assistant", 10).available(&["remote", "fs"]),
        agent("everything", 20).all().resident(&["remote", "fs"]),
    ];
    let builds: &[(&str, &[&str])] = &[("remote", &["read_file", "ping"]), ("fs", &["read_file"])];
    let world = started(declare(agents), registry, builds);
    let holder = |name: &str| world.fresh(&agent_name(name)).by_declared("read_file").unwrap().id.to_string();
    assert_eq!(holder("assistant"), "remote.read_file");
    assert_eq!(holder("everything"), "fs.read_file");
}

#[test]
fn n2_a_later_load_never_replaces_a_held_tool() {
    let mut held = Held::default();
    held.add(&toolset("fs"), Arrival::Resident, &tools(&["read_file"]));
    let before = held.tools().to_vec();
    held.add(&toolset("files"), Arrival::Loaded, &tools(&["read_file", "stat"]));
    assert_eq!(&held.tools()[..1], &before[..]);
    assert_eq!(held.by_wire("read_file").unwrap().id, id("fs.read_file"));
}

#[test]
fn n3_a_shadowed_resident_tool_is_said_once_for_each_agent_and_n4_unbuilt_is_not_clean() {
    let agents = vec![
        agent("assistant", 10).available(&["fs", "files"]),
        agent("researcher", 20).available(&["files", "fs"]),
        agent("later", 30).available(&["fs", "web"]),
        agent("deferring", 40).available(&["fs", "files"]).resident(&["fs"]),
    ];
    let builds: &[(&str, &[&str])] = &[("fs", &["read_file", "list"]), ("files", &["read_file"])];
    let world = started(declare(agents), registry(&["fs", "files", "web"]), builds);
    let shadows = world.shadows();
    assert_eq!(
        shadows.alerts,
        [
            "assistant: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name).",
            "researcher: read_file from 'fs' is shadowed by 'files' (the earlier resident toolset keeps the name).",
        ]
    );
    assert_eq!(shadows.not_checked, [agent_name("later")]);
}

#[test]
fn n5_a_legal_name_is_its_own_wire_name_and_any_other_is_hashed() {
    assert_eq!(wire("fs", "read_file").as_str(), "read_file");
    assert_eq!(wire("fs", &"x".repeat(64)).as_str(), "x".repeat(64));
    // SHA-256("fs\0read file") begins with these bytes; a change of the rule would orphan stored calls.
    assert_eq!(wire("fs", "read file").as_str(), "readfile_fe5680");
    assert_ne!(wire("files", "read file"), wire("fs", "read file"));
    assert_eq!(wire("fs", &"y".repeat(65)).as_str().len(), 64);
    assert!(wire("fs", "日本").as_str().starts_with('_'));
    assert_eq!(WireName::of(&Owner::Core, &ToolName::new("load_tools")).as_str(), "load_tools");
}

proptest! {
    #[test]
    fn n5_every_wire_name_is_legal_and_depends_on_nothing_else(owner in "[a-z0-9]{1,8}", tool in "\\PC{1,90}") {
        let name = wire(&owner, &tool);
        prop_assert!((1..=64).contains(&name.as_str().len()));
        prop_assert!(name.as_str().chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        prop_assert_eq!(name, wire(&owner, &tool));
    }

    #[test]
    fn p2_whatever_parses_prints_and_parses_again(text in "\\PC{0,24}|[a-z.*_]{1,12}|core\\.[a-z*]{0,5}") {
        if let Ok(entry) = GateEntry::parse(&text) {
            prop_assert_eq!(GateEntry::parse(&entry.to_string()), Ok(entry));
        }
    }

    #[test]
    fn overlap_is_symmetric_and_what_shares_a_tool_overlaps(
        one in prop::sample::select(ENTRIES.to_vec()), two in prop::sample::select(ENTRIES.to_vec()),
        tool in prop::sample::select(vec!["fs.a", "fs.b", "web.a", "core.load_tools", "core.available_tools"]),
    ) {
        let (one, two) = (GateEntry::parse(one).unwrap(), GateEntry::parse(two).unwrap());
        prop_assert_eq!(one.overlaps(&two), two.overlaps(&one));
        if one.names(&id(tool)) && two.names(&id(tool)) {
            prop_assert!(one.overlaps(&two));
        }
    }
}

const ENTRIES: [&str; 8] = ["fs", "fs.*", "fs.a", "fs.b", "web", "web.a", "core", "core.load_tools"];

#[test]
fn n5_an_equal_wire_name_counts_as_taken() {
    let mut held = Held::default();
    held.add(&toolset("odd"), Arrival::Resident, &tools(&["read file"]));
    let wire = held.tools()[0].wire.clone();
    let outcome = held.add(&toolset("clash"), Arrival::Loaded, &tools(&[wire.as_str(), "fine"]));
    assert_eq!(outcome.skipped, [(ToolName::new(wire.as_str()), "by a tool given to this agent directly".to_owned())]);
    assert_eq!(held_names(&held), ["read file", "fine"]);
}

#[test]
fn n6_an_entry_on_a_tool_that_lost_its_name_resolves() {
    let mut declarations = declare(vec![agent("assistant", 10).available(&["fs", "files"])]);
    declarations.default_pair = default_pair(&["files.read_file"], &[]);
    let builds: &[(&str, &[&str])] = &[("fs", &["read_file"]), ("files", &["read_file"])];
    let mut world = started(declarations, registry(&["fs", "files"]), builds);
    let held = world.fresh(&agent_name("assistant"));
    assert_eq!(held.tools().len(), 1);
    // P19: whoever holds the name is gated.
    assert_eq!(asks(&mut world, "assistant", &held, "fs.read_file").as_deref(), Some("files.read_file"));
}

#[test]
fn p2_entry_forms() {
    let fs = || toolset("fs");
    let table = [
        ("fs", Some(GateEntry::Toolset(fs()))),
        ("fs.*", Some(GateEntry::Toolset(fs()))),
        ("fs.read_file", Some(GateEntry::Tool(fs(), ToolName::new("read_file")))),
        ("fs.read.all.files", Some(GateEntry::Tool(fs(), ToolName::new("read.all.files")))),
        ("fs. spaced name", Some(GateEntry::Tool(fs(), ToolName::new(" spaced name")))),
        ("fs.read*", Some(GateEntry::Tool(fs(), ToolName::new("read*")))),
        ("core", Some(GateEntry::Core)),
        ("core.load_tools", Some(GateEntry::CoreTool(ToolName::new("load_tools")))),
        ("core.*", None),
        ("core.", None),
        ("", None),
        (".", None),
        ("*", None),
        ("*.*", None),
        ("all", None),
        ("fs.", None),
        (" fs", None),
        ("Fs.read", None),
        ("fs.\u{1b}", None),
    ];
    for (text, expected) in table {
        assert_eq!(GateEntry::parse(text).ok(), expected, "{text:?}");
    }
    assert_eq!(GateEntry::parse("core.*").unwrap_err(), "'core.*' is not an entry: write 'core' for every core tool");
    assert_eq!(
        GateEntry::parse("read file").unwrap_err(),
        "'read file' is not an entry: write '<toolset>', '<toolset>.<tool>', 'core' or 'core.<tool>'"
    );
}

#[test]
fn p2_a_bad_entry_fails_startup_with_its_list() {
    let declarations =
        declare(vec![agent("assistant", 10).available(&["fs"]).confirm(&["fs.", "*"]).review(&["core.*"])]);
    assert_eq!(
        faults(World::new(declarations, registry(&["fs"]))),
        [
            "P2 14: 'fs.' is not an entry: no tool is named after the dot (in confirm of [agents.assistant.tools]) | -",
            "P2 14: '*' is not an entry: write '<toolset>', '<toolset>.<tool>', 'core' or 'core.<tool>' (in confirm of [agents.assistant.tools]) | -",
            "P2 15: 'core.*' is not an entry: write 'core' for every core tool (in review of [agents.assistant.tools]) | -",
        ]
    );
}

#[test]
fn near_misses_are_few_and_nearest_first() {
    let known = ["read_file", "write_file", "list_directory", "now"];
    assert_eq!(near("raed_file", known, 3), ["read_file"]);
    assert_eq!(near("Read_File", known, 3), ["read_file"]);
    assert_eq!(near("file", known, 1), ["read_file"]);
    assert_eq!(near("rd_fl", ["read_file", "red"], 3), ["read_file"], "an abbreviation");
    assert_eq!(near("zzzz", known, 3), Vec::<&str>::new());
    assert_eq!(near("", known, 3), Vec::<&str>::new());
    assert_eq!(near(&"x".repeat(10_000), known, 3), Vec::<&str>::new());
}

#[test]
fn names_go_through_json_as_plain_text() {
    let tool = id("fs.read_file");
    let json = serde_json::to_string(&tool).unwrap();
    assert_eq!(json, r#"{"owner":{"toolset":"fs"},"name":"read_file"}"#);
    assert_eq!(serde_json::from_str::<ToolId>(&json).unwrap(), tool);
    assert_eq!(ToolId::parse("fs").unwrap_err(), "'fs' names no single tool: write '<toolset>.<tool>'");
}
