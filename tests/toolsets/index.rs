//! What is registered, under which names, and what it costs a model call.

use std::collections::BTreeSet;
use std::path::Path;

use kokua::access::{Kind, Risk};
use kokua::tool::{definition, facts};

use super::Bench;

/// The order of the reference table.
const ROWS: [&str; 9] = ["memory", "capabilities", "time", "messaging", "todo", "fs", "fs_write", "compute", "misc"];

#[test]
fn a16_every_file_is_a_registered_toolset_of_its_name_and_every_toolset_has_a_file() {
    let bench = Bench::new();
    let registered: Vec<&str> = bench.toolsets.iter().map(|toolset| toolset.name()).collect();
    assert_eq!(registered, ROWS);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/toolsets");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|stem| !["mod", "tests"].contains(&stem.as_str()))
        .collect();
    assert_eq!(files, registered.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn every_toolset_is_built_in_describes_itself_and_builds_the_same_twice() {
    let bench = Bench::new();
    for toolset in &bench.toolsets {
        assert_eq!(toolset.kind(), Kind::BuiltIn);
        assert!(toolset.description().ends_with('.') && toolset.description().len() < 100, "{}", toolset.name());
        assert!(!toolset.entry_agent_only());
        let digests = || -> Vec<String> {
            toolset.build(&bench.services()).unwrap().iter().map(|tool| facts(tool.spec()).digest).collect()
        };
        assert_eq!(digests(), digests());
    }
}

#[test]
fn every_tool_has_the_name_and_risk_of_the_reference_table() {
    let bench = Bench::new();
    let letter = |risk| match risk {
        Risk::Read => "r",
        Risk::Write => "w",
        Risk::Exec => "x",
        Risk::Network => "n",
    };
    let rows: Vec<String> = bench
        .toolsets
        .iter()
        .map(|toolset| {
            let tools: Vec<String> = toolset
                .build(&bench.services())
                .unwrap()
                .iter()
                .map(|tool| format!("{} ({})", tool.spec().name, letter(tool.spec().risk)))
                .collect();
            format!("{}: {}", toolset.name(), tools.join(", "))
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn every_tool_has_its_description_in_one_file_of_its_name() {
    let bench = Bench::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tools");
    for tool in bench.toolsets.iter().flat_map(|toolset| toolset.build(&bench.services()).unwrap()) {
        let spec = tool.spec();
        let file = std::fs::read_to_string(folder.join(format!("{}.md", spec.name))).unwrap();
        assert_eq!(file.trim(), spec.description, "{}", spec.name);
        assert!(!spec.description.is_empty());
    }
}

#[test]
fn definitions_are_small() {
    let bench = Bench::new();
    let mut lines = Vec::new();
    let mut shipped = 0;
    for toolset in &bench.toolsets {
        let tools = toolset.build(&bench.services()).unwrap();
        let bytes: Vec<(String, usize)> =
            tools.iter().map(|tool| (tool.spec().name.clone(), facts(tool.spec()).bytes)).collect();
        let total: usize = bytes.iter().map(|(_, bytes)| bytes).sum();
        if ["memory", "fs", "fs_write", "compute", "capabilities", "messaging", "time"].contains(&toolset.name()) {
            shipped += total;
        }
        let guidance = toolset.guidance().map_or(0, str::len);
        lines.push(format!("{}: {total} bytes, guidance {guidance}", toolset.name()));
        lines.extend(bytes.into_iter().map(|(name, bytes)| format!("  {name}: {bytes}")));
    }
    lines.push(format!("resident in the shipped assistant: {shipped}"));
    assert!(shipped < 8_000, "{shipped}");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn schemas() {
    let bench = Bench::new();
    for tool in bench.toolsets.iter().flat_map(|toolset| toolset.build(&bench.services()).unwrap()) {
        let spec = tool.spec();
        assert!(jsonschema::meta::is_valid(&spec.schema), "{}", spec.name);
        let definition = definition(spec);
        insta::assert_json_snapshot!(format!("schema_{}", spec.name), definition);
    }
}
