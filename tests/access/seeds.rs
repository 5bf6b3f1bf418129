//! The worked examples of the three documents that this product comes from, each with its own names and numbers.

use crate::common::*;
use kokua::access::answers::loaded;
use kokua::access::*;
use kokua::agent::record::OfferRecord;
use kokua::agent::{
    AssistantMessage, CallId, CallKind, Ending, Part, Record, StopReason, ToolCall, TurnEnd, Usage, UserMessage,
    UserOrigin,
};
use kokua::store::Log;
use pretty_assertions::assert_eq;

/// Every toolset of the documents' install, in its own order, with its tools. `skills` is for the entry agent only.
const INSTALLED: [(&str, &[&str]); 23] = [
    ("aimu_agents", &["code_review", "research_report", "create_content"]),
    ("audio", &["generate_audio"]),
    ("benchmark", &["benchmark_model"]),
    ("capabilities", &["list_capabilities", "compose_subagent"]),
    ("compute", &["calculate", "run_command", "execute_python"]),
    ("config", &["read_config", "update_config"]),
    (
        "conversations",
        &[
            "list_conversations",
            "read_conversation",
            "search_conversations",
            "rename_conversation",
            "export_conversation",
        ],
    ),
    ("documents", &["save_document", "read_document", "edit_document", "list_documents", "search_documents"]),
    ("fs", &["list_directory", "read_file"]),
    ("fs_write", &["write_file", "edit_file"]),
    ("github_backup", &["backup_kokua_state"]),
    ("image", &["generate_image"]),
    ("mcp", &["add_mcp_server", "remove_mcp_server"]),
    ("memory", &["store_memory", "search_memories", "list_memories"]),
    ("messaging", &["send_message", "list_agents"]),
    ("misc", &["echo"]),
    ("planning", &[]),
    (
        "scheduling",
        &[
            "schedule_task",
            "list_scheduled_tasks",
            "get_scheduled_task",
            "update_scheduled_task",
            "cancel_scheduled_task",
            "enable_scheduled_task",
            "disable_scheduled_task",
            "run_scheduled_task",
            "stop_scheduled_task",
        ],
    ),
    ("skills", &["author_skill", "update_skill", "add_skill_script"]),
    ("speech", &["generate_speech"]),
    ("time", &["get_current_date_and_time", "convert_time"]),
    ("transcription", &["transcribe_audio"]),
    ("web", &["web_search", "get_web_content"]),
];

/// The twelve that the shipped entry agent lists, and the seven of them that it starts with.
const TWELVE: [&str; 12] = [
    "memory",
    "documents",
    "skills",
    "config",
    "mcp",
    "scheduling",
    "conversations",
    "planning",
    "capabilities",
    "time",
    "benchmark",
    "messaging",
];
const SEVEN: [&str; 7] = ["memory", "config", "conversations", "planning", "capabilities", "time", "messaging"];

/// The shipped approval default.
const CONFIRM: [&str; 3] = ["skills.add_skill_script", "mcp.add_mcp_server", "config.update_config"];
const REVIEW: [&str; 3] = ["compute.run_command", "compute.execute_python", "fs_write"];

fn installed() -> Registry {
    let mut registry = Registry::new(["assistant"]);
    for (name, _) in INSTALLED {
        let description = match name {
            "memory" => "Facts about the user, remembered across conversations.",
            "config" => "Read config.toml and change a runtime setting, persisted back to the file.",
            "skills" => "Author skills, revise them, and attach runnable scripts to them.",
            "mcp" => "Connect and disconnect remote MCP servers at runtime.",
            "scheduling" => "Schedule, list, edit, and cancel recurring or one-off proactive tasks.",
            _ => "Something else.",
        };
        let facts = ToolsetFacts {
            description: description.to_owned(),
            entry_agent_only: name == "skills",
            ..toolset_facts(name, Kind::BuiltIn)
        };
        registry.register(facts).unwrap();
    }
    registry
}

fn build_of(name: &str) -> Vec<ToolFacts> {
    let (_, offered) = INSTALLED.iter().find(|(known, _)| *known == name).unwrap();
    tools(offered)
}

/// The entry agent and the two workers that inherit the default, as they ship.
fn shipped() -> Declarations {
    let mut declarations = declare(vec![
        agent("assistant", 10).available(&TWELVE).resident(&SEVEN).delegates_to(&["researcher", "coder"]),
        agent("researcher", 20).available(&["web", "misc", "time", "messaging"]),
        agent("coder", 30).available(&["fs", "fs_write", "compute", "time", "messaging"]),
    ]);
    declarations.default_pair = default_pair(&CONFIRM, &REVIEW);
    declarations
}

/// Startup: what the entry agent starts with is built, and nothing else.
fn start(declarations: Declarations) -> World {
    let builds: Vec<_> = INSTALLED.iter().copied().filter(|(name, _)| SEVEN.contains(name)).collect();
    started(declarations, installed(), &builds)
}

fn load(world: &mut World, held: &mut Held, name: &str) -> Result<String, String> {
    let toolset = world.may_load(Life::new(&me(), held), name)?;
    let build = build_of(name);
    world.report_build(&toolset, &build).map_err(|refusal| answers::could_not_load(&toolset, &refusal.message))?;
    let outcome = held.add(&toolset, Arrival::Loaded, &build);
    Ok(loaded(&toolset, held, &outcome, None))
}

/// Tool access, "Workers, and the shipped split": seven toolsets of the twelve are in context, five wait, and the system
/// prompt grows by one line of names. Of 37 tools, `spawn_subagent` among them, 17 and the two loaders are sent.
#[test]
fn seed_the_shipped_split() {
    let world = start(shipped());
    assert_eq!(names(&world.available(&me())), TWELVE);
    assert_eq!(names(&world.resident(&me())), SEVEN);
    assert_eq!(names(&world.deferred(&me())), ["documents", "skills", "mcp", "scheduling", "benchmark"]);
    let held = world.fresh(&me());
    assert_eq!(
        held_names(&held),
        [
            "store_memory",
            "search_memories",
            "list_memories",
            "read_config",
            "update_config",
            "list_conversations",
            "read_conversation",
            "search_conversations",
            "rename_conversation",
            "export_conversation",
            "list_capabilities",
            "compose_subagent",
            "get_current_date_and_time",
            "convert_time",
            "send_message",
            "list_agents",
            "spawn_subagent",
            "available_tools",
            "load_tools",
        ]
    );
    let deferred: usize = world.deferred(&me()).iter().map(|name| build_of(name.as_str()).len()).sum();
    assert_eq!((held.tools().len(), deferred), (17 + 2, 37 - 17));
    assert_eq!(
        world.names_line(Life::new(&me(), &held)).as_deref(),
        Some("Also available, load before use: documents, skills, mcp, scheduling, benchmark.")
    );
}

/// "What the model sees": what `available_tools` answers for the shipped entry agent, the lines that the document shows.
#[test]
fn seed_what_the_model_sees() {
    let world = start(shipped());
    let listing = world.available_tools(Life::new(&me(), &world.fresh(&me())), "");
    let lines: Vec<&str> = listing.lines().collect();
    assert_eq!(lines.len(), 12);
    for line in [
        "memory [resident]: Facts about the user, remembered across conversations.",
        "config [resident]: Read config.toml and change a runtime setting, persisted back to the file. Asks first: update_config.",
        "skills [loadable]: Author skills, revise them, and attach runnable scripts to them. Asks first: add_skill_script.",
        "mcp [loadable]: Connect and disconnect remote MCP servers at runtime. Asks first: add_mcp_server.",
        "scheduling [loadable]: Schedule, list, edit, and cancel recurring or one-off proactive tasks.",
    ] {
        assert!(lines.contains(&line), "{line}\n{listing}");
    }
}

/// "The approval gate covers the same seven tools it did": residency moved none of them.
#[test]
fn seed_the_gate_covers_seven_tools() {
    let mut world = start(shipped());
    for (name, offered) in INSTALLED {
        world.report_build(&toolset(name), &tools(offered)).unwrap();
    }
    let report = report(&world, &me(), None, None);
    assert!(report.entries.iter().all(|row| !row.pending));
    let mut gated: Vec<String> =
        report.entries.iter().flat_map(|row| &row.tools).map(|tool| tool.name.to_string()).collect();
    gated.sort();
    assert_eq!(
        gated,
        [
            "add_mcp_server",
            "add_skill_script",
            "edit_file",
            "execute_python",
            "run_command",
            "update_config",
            "write_file",
        ]
    );
}

/// "What a load checks": an entry on what is deferred waits, and its build gates the tool before anybody holds it.
#[test]
fn seed_a_deferred_gate_resolves_when_its_toolset_is_loaded() {
    let mut world = start(shipped());
    let pending = |world: &World| -> Vec<String> {
        let rows = report(world, &me(), None, None).entries;
        rows.into_iter().filter(|row| row.pending).map(|row| row.entry).collect()
    };
    assert_eq!(
        pending(&world),
        ["skills.add_skill_script", "mcp.add_mcp_server", "compute.run_command", "compute.execute_python", "fs_write"]
    );
    let mut held = world.fresh(&me());
    assert_eq!(load(&mut world, &mut held, "mcp").unwrap(), "Loaded 'mcp': add_mcp_server, remove_mcp_server.");
    assert!(!pending(&world).contains(&"mcp.add_mcp_server".to_owned()));
    assert_eq!(asks(&mut world, "assistant", &held, "mcp.add_mcp_server").as_deref(), Some("mcp.add_mcp_server"));
    assert_eq!(asks(&mut world, "assistant", &held, "mcp.remove_mcp_server"), None);
}

/// "`available = "all"`": 23 toolsets are installed, a worker's "all" is 22 of them, and `skills` is the one left out.
#[test]
fn seed_all_on_a_worker_is_twenty_two() {
    let mut declarations = shipped();
    let resident = ["web", "misc", "time", "messaging"];
    declarations.agents[1] = agent("researcher", 20).all().resident(&resident);
    let world = start(declarations);
    let researcher = agent_name("researcher");
    let all = world.available(&researcher);
    assert_eq!(all.len(), 22);
    assert_eq!(names(&all)[..2], ["aimu_agents", "audio"]);
    assert!(!names(&all).contains(&"skills") && names(&all).contains(&"image"));
    // Resident in trust order, whatever the order of the list.
    assert_eq!(names(&world.resident(&researcher)), ["messaging", "misc", "time", "web"]);
    let report = report(&world, &researcher, None, None);
    assert!(report.available_all && report.available.len() == 22);
}

/// "The value is exactly the lowercase string": in a list, in any casing, it fails startup with how to write it.
#[test]
fn seed_all_inside_a_list_fails() {
    for word in ["all", "All", "ALL"] {
        let agents = vec![agent("assistant", 10).available(&[word]).resident(&[])];
        assert_eq!(
            faults(World::new(declare(agents), installed())),
            [format!(
                "A5 12: '{word}' stands inside the list available of [agents.assistant.tools] | write available = \"all\", a string and in lower case, or list names"
            )]
        );
    }
}

/// The same, as text that is not in a list: `"All"` is no value of `available`.
#[test]
fn seed_all_with_a_capital_fails() {
    let text = "[agents.assistant.tools]\navailable = \"All\"\nresident = [\"web\"]\n";
    let source = kokua::config::Source { path: "config.toml".into(), text: text.to_owned() };
    let locations =
        kokua::config::Locations { user_home: Some("/home/me".into()), ..kokua::config::Locations::default() };
    let said = kokua::config::parse(source, &locations, |_| Vec::new()).unwrap_err().to_string();
    assert_eq!(
        said,
        "config.toml:2:13: `available` must be a list of names, or `\"all\"`, not \"All\"\n  2 | available = \"All\"\n    |             ^^^^^\n  write available = \"all\", in small letters and without a list, for every toolset\n"
    );
}

/// "The pair is inherited whole": `confirm = ["fs_write"]` was meant to add a gate, and drops every other one.
#[test]
fn seed_the_pair_foot_gun() {
    let mut declarations = shipped();
    declarations.agents[2] = agent("coder", 30).available(&["compute", "fs_write", "time"]).confirm(&["fs_write"]);
    declarations.agents.push(agent("inherits", 40).available(&["compute", "fs_write"]));
    let mut world = start(declarations);
    for name in ["compute", "fs_write"] {
        world.report_build(&toolset(name), &build_of(name)).unwrap();
    }
    let coder = report(&world, &agent_name("coder"), None, None);
    assert_eq!(coder.policy_source, "declared in [agents.coder.tools], line 34");
    assert_eq!(coder.dropped_defaults, ["compute.run_command", "compute.execute_python"]);
    assert!(coder.entries.iter().all(|row| row.list == GateList::Confirm), "review is empty, not inherited");
    let mut asked = |name: &str, tool: &str| {
        let held = world.fresh(&agent_name(name));
        asks(&mut world, name, &held, tool)
    };
    assert_eq!(asked("coder", "fs_write.write_file").as_deref(), Some("fs_write"));
    assert_eq!(asked("coder", "compute.run_command"), None);
    assert_eq!(asked("inherits", "compute.run_command").as_deref(), Some("compute.run_command"));
}

/// "Exploring with all": a pair of nothing but `core.load_tools` drops `run_command`, `execute_python` and `fs_write`.
#[test]
fn seed_asking_before_each_load_in_the_wrong_place_drops_the_rest() {
    let mut declarations = shipped();
    declarations.agents[2] = agent("coder", 30)
        .available(&["compute", "fs_write", "time"])
        .resident(&["time"])
        .confirm(&["core.load_tools"]);
    let mut world = start(declarations);
    let coder = agent_name("coder");
    assert_eq!(report(&world, &coder, None, None).dropped_defaults, REVIEW);
    let held = world.fresh(&coder);
    assert_eq!(asks(&mut world, "coder", &held, "core.load_tools").as_deref(), Some("core.load_tools"));
}

/// "What a load checks": `mcp.add_mcp_servr` gates nothing, so `mcp` can't be loaded at all until the file is mended.
#[test]
fn seed_a_misspelled_gate_refuses_the_load() {
    let mut declarations = shipped();
    declarations.default_pair = default_pair(&["mcp.add_mcp_servr", "config.update_config"], &REVIEW);
    // Startup can't know: nothing it builds has the tools of `mcp`.
    let mut world = start(declarations.clone());
    let mut held = world.fresh(&me());
    let refused = "Could not load 'mcp': 'mcp.add_mcp_servr' in confirm of [assistant.tools], line 1, matches no tool \
                   of 'mcp' (did you mean 'mcp.add_mcp_server'?). Correct the configuration and restart.";
    assert_eq!(load(&mut world, &mut held, "mcp").unwrap_err(), refused);
    assert_eq!(load(&mut world, &mut held, "mcp").unwrap_err(), refused, "and every later one");
    assert!(held.by_declared("add_mcp_server").is_none() && held.by_declared("remove_mcp_server").is_none());
    assert!(world.available_tools(Life::new(&me(), &held), "mcp").starts_with("mcp [refused: mcp.add_mcp_servr]"));
    // Whoever builds it: a composed worker meets the same refusal.
    assert!(world.report_build(&toolset("mcp"), &build_of("mcp")).is_err());
    // Mended, and started again.
    declarations.default_pair = default_pair(&CONFIRM, &REVIEW);
    let mut world = start(declarations);
    let mut held = world.fresh(&me());
    assert!(load(&mut world, &mut held, "mcp").is_ok());
}

/// "A conflict the entries' own text already settles": `review = ["mcp"]` against the floor's `mcp.add_mcp_server`.
#[test]
fn seed_review_of_a_whole_toolset_against_the_floor() {
    let conflicts = |confirm: &[&str], review: &[&str], auto_approval: bool| -> Vec<String> {
        let mut declarations = shipped();
        declarations.default_pair = default_pair(confirm, review);
        declarations.floor = entries(&CONFIRM, 5).entries;
        declarations.auto_approval = auto_approval;
        let found = World::new(declarations, installed()).err().unwrap_or_default();
        texts(&found).into_iter().filter(|text| text.starts_with("P10")).collect()
    };
    for whole in ["mcp", "mcp.*"] {
        assert_eq!(
            conflicts(&[], &[whole], true),
            [format!(
                "P10 2: '{whole}' in review of [assistant.tools] (line 2) reaches the floor's 'mcp.add_mcp_server' ([security].never_auto_approve, line 5) | move it to confirm, or name single tools that the floor does not hold"
            )]
        );
        // With auto-approval off a person answers anyway, and the floor is about reviewers.
        assert_eq!(conflicts(&[], &[whole], false), [""; 0]);
    }
    // Two lists of one pair conflict with or without it.
    assert_eq!(
        conflicts(&["mcp.add_mcp_server"], &["mcp"], false),
        [
            "P10 2: 'mcp' in review of [assistant.tools] and 'mcp.add_mcp_server' in confirm (line 1) gate the same tool | leave a tool in one list only"
        ]
    );
    // Two different tools of one toolset say nothing about each other.
    assert_eq!(conflicts(&["mcp.add_mcp_server"], &["mcp.remove_mcp_server"], true), [""; 0]);
}

/// "When an agent is rebuilt, it preloads": the log holds both calls, and only the one that was allowed comes back.
#[test]
fn seed_a_denied_load_stays_denied_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let id = "019a0000-0000-7000-8000-000000000001";
    let call = |id: u64| {
        Part::Call(ToolCall {
            risk: None,
            id: CallId(id),
            provider_id: format!("toolu_{id}"),
            wire: "load_tools".to_owned(),
            shown: "core.load_tools".to_owned(),
            arguments: r#"{"name":"..."}"#.to_owned(),
            opaque: None,
        })
    };
    let ended = |call: u64, ending: Ending, answer: Option<Answer>, text: &str| Record::CallEnded {
        at: 1,
        call: CallId(call),
        ending,
        answer,
        text: text.to_owned(),
        note: None,
        took_ms: 0,
    };
    let mut log = Log::create(folder.path(), id, &me(), 1).unwrap();
    let loaded = |name: &str| Ending::Loaded { toolset: name.to_owned() };
    let message = UserMessage { text: "load what you need".to_owned(), origin: UserOrigin::Person };
    log.append_all(&[
        Record::TurnStarted { at: 1, attendance: Attendance::Attended, agent: Some(me()), message },
        Record::ModelCall {
            at: 1,
            number: 1,
            kind: CallKind::Agent,
            message: AssistantMessage { parts: (1..=5).map(call).collect(), stop: Some(StopReason::Calls) },
            offer: OfferRecord::default(),
            usage: Usage::default(),
            took_ms: 0,
            failure: None,
        },
        ended(1, Ending::NotAllowed, Some(Answer::Denied), "Loaded 'skills': author_skill."),
        ended(2, loaded("scheduling"), Some(Answer::AllowedOnce), "Loaded 'scheduling'."),
        ended(
            3,
            Ending::NotAllowed,
            Some(Answer::AutoDenied { reason: "nobody is here to ask".to_owned() }),
            "Loaded 'mcp': add_mcp_server.",
        ),
        ended(4, Ending::Failed, None, "Could not load 'documents': the folder is not readable"),
        ended(5, loaded("benchmark"), Some(Answer::AllowedOnce), "Loaded 'benchmark': benchmark_model."),
        Record::TurnEnded { at: 2, end: TurnEnd::Answered },
    ])
    .unwrap();
    drop(log);

    let stored = Log::open(folder.path(), id).unwrap().1;
    let preloads = kokua::agent::loads(&stored.records);
    assert_eq!(preloads, ["scheduling", "benchmark"]);
    let mut declarations = shipped();
    declarations.default_pair.confirm.as_mut().unwrap().entries.extend(entries(&["core.load_tools"], 1).entries);
    let mut world = start(declarations);
    let mut held = Held::default();
    for name in world.resident(&me()) {
        held.add(&name, Arrival::Resident, &build_of(name.as_str()));
    }
    for name in &preloads {
        world.report_build(&toolset(name), &build_of(name)).unwrap();
        held.add(&toolset(name), Arrival::Preloaded, &build_of(name));
    }
    held.add_core(&core().into_iter().filter(|tool| tool.name.as_str() != "spawn_subagent").collect::<Vec<_>>());
    for denied in ["author_skill", "add_mcp_server", "save_document"] {
        assert!(held.by_declared(denied).is_none(), "{denied}");
    }
    // Restored ones sit with the resident ones, ahead of the loaders; the line names what is still one load away.
    let wires = held_names(&held);
    assert_eq!(wires[16], "schedule_task");
    assert_eq!(wires[wires.len() - 3..], ["benchmark_model", "available_tools", "load_tools"]);
    assert_eq!(
        world.names_line(Life::new(&me(), &held)).as_deref(),
        Some("Also available, load before use: documents, skills, mcp.")
    );
    assert!(world.available_tools(Life::new(&me(), &held), "scheduling").starts_with("scheduling [resident]"));
    // It may be asked for again, and asks again.
    assert_eq!(world.may_load(Life::new(&me(), &held), "skills"), Ok(toolset("skills")));
    assert_eq!(asks(&mut world, "assistant", &held, "core.load_tools").as_deref(), Some("core.load_tools"));
}

/// "Which of two same-named tools wins": a remote `read_file` never hides the program's own, and the loss is said.
#[test]
fn seed_the_shadowed_read_file() {
    let mut registry = Registry::new([]);
    // A server is registered first, and is last in trust order all the same.
    registry.register(toolset_facts("files", Kind::Mcp)).unwrap();
    registry.register(toolset_facts("fs", Kind::BuiltIn)).unwrap();
    let agents = vec![
        agent("assistant", 10).available(&["fs"]),
        agent("researcher", 20).all().resident(&["files", "fs"]),
        agent("reversed", 30).available(&["files", "fs"]),
        agent("unbuilt", 40).available(&["fs"]).resident(&[]),
    ];
    let builds: &[(&str, &[&str])] = &[("files", &["read_file", "stat"]), ("fs", &["read_file"])];
    let world = started(declare(agents), registry, builds);
    assert_eq!(
        world.shadows().alerts,
        [
            "researcher: read_file from 'files' is shadowed by 'fs' (the earlier resident toolset keeps the name).",
            "reversed: read_file from 'fs' is shadowed by 'files' (the earlier resident toolset keeps the name).",
        ]
    );
    let researcher = agent_name("researcher");
    let held = world.fresh(&researcher);
    assert_eq!(held.by_wire("read_file").unwrap().id, id("fs.read_file"));
    let rows = report(&world, &researcher, None, None).toolsets;
    let files = rows.iter().find(|row| row.name == toolset("files")).unwrap();
    assert_eq!(files.tools.as_ref().unwrap()[0].shadowed_by.as_deref(), Some("fs"));
}

/// The same between loads: who holds the name keeps it, and the result says who that is.
#[test]
fn seed_a_later_load_never_replaces_a_held_read_file() {
    let read_file = tools(&["read_file"]);
    let mut held = Held::default();
    held.add(&toolset("files"), Arrival::Loaded, &read_file);
    let outcome = held.add(&toolset("remote"), Arrival::Loaded, &read_file);
    let said = loaded(&toolset("remote"), &held, &outcome, None);
    let taken = "Not loaded, because the name is already taken:";
    assert_eq!(said, format!("Loaded 'remote': no new tools.\n{taken} read_file (by 'files')."));
    let mut held = Held::default();
    held.add(&toolset("fs"), Arrival::Resident, &read_file);
    let outcome = held.add(&toolset("files"), Arrival::Loaded, &read_file);
    let said = loaded(&toolset("files"), &held, &outcome, None);
    assert!(said.ends_with(&format!("{taken} read_file (by a tool given to this agent directly).")), "{said}");
}

/// Capability is declared, "Watch it": mail can be sent by something that is installed and that no table names. A model
/// that asks for it all the same reads an error, and nothing is called.
#[test]
fn seed_send_email_called_without_being_held() {
    let mut registry = installed();
    registry.register(toolset_facts("email-report", Kind::Plugin)).unwrap();
    let builds: Vec<_> = INSTALLED.iter().copied().filter(|(name, _)| SEVEN.contains(name)).collect();
    let mut world = started(shipped(), registry, &builds);
    // Somebody else's build of it changes nothing for who did not declare it.
    world.report_build(&toolset("email-report"), &tools(&["send_email"])).unwrap();
    let held = world.fresh(&me());
    assert!(held.by_wire("send_email").is_none());
    let kept = offer(&world, Life::new(&me(), &held)).kept;
    let offered: Vec<&HeldTool> = kept.iter().map(|index| &held.tools()[*index]).collect();
    assert_eq!(offered.len(), 19);
    let answer = world.unknown_tool(Life::new(&me(), &held), &offered, "send_email");
    assert_eq!(
        answer,
        "Tool 'send_email' not found. If it belongs to a tool group you have not loaded, call available_tools to see what you can load, then load_tools."
    );
    let tool = id("email-report.send_email");
    assert_eq!(
        world.dispatch(Life::new(&me(), &held), &tool, "digest of send_email").as_deref(),
        Some("send_email is not held")
    );
    let found = explained(&world, &me(), &tool);
    assert!(!found.available.yes);
    assert_eq!(
        found.available.reasons[0].to_string(),
        "available of [agents.assistant.tools] does not name 'email-report', line 12"
    );
    assert_eq!(
        world.may_load(Life::new(&me(), &held), "email-report").unwrap_err(),
        "No tool group named 'email-report'. Loadable: documents, skills, mcp, scheduling, benchmark."
    );
}

/// Capability is declared, "What it costs": widening the entry agent widens nothing for its workers.
#[test]
fn seed_a_researcher_cannot_read_a_file() {
    let mut declarations = shipped();
    declarations.agents[0] = agent("assistant", 10).available(&["fs", "time"]).resident(&["fs"]);
    declarations.default_pair = default_pair(&[], &[]);
    let world = started(declarations, installed(), &[("fs", &["list_directory", "read_file"])]);
    let researcher = agent_name("researcher");
    assert!(!explained(&world, &researcher, &id("fs.read_file")).available.yes);
    assert!(explained(&world, &me(), &id("fs.read_file")).held.yes);
}
