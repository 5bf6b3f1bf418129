//! The screen's tests: tables of keys, random input, and whole frames.

mod agents;
mod asks;
mod frames;
mod keys;
mod random;
mod told;

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::theme::{Colours, Theme};
use super::{Cmd, Key, KeyMap, Msg, Settings, Ui, update, view};
use crate::access::explain::AnsweredBy;
use crate::access::held::Arrival;
use crate::access::offer::{Filter, LedgerTool, LedgerToolset, RowState, Withheld};
use crate::access::policy::GateList;
use crate::access::report::{EntryRow, ToolRow, ToolsetRow, ToolsetState};
use crate::access::{
    AgentName, AgentReport, Approval, AskReason, Attendance, Explanation, Finding, Kind, Ledger, ModeName, Outcome,
    Place, Reason, Risk, Span, ToolId, ToolName, ToolsetName,
};
use crate::agent::message::CallKind;
use crate::agent::update::Preview;
use crate::agent::{
    Ask, Asker, Author, CallId, CallLine, Command, ConversationSummary, Ending, Event, TurnEnd, Update, Usage,
    UserOrigin,
};

/// The sizes that every screen is photographed at.
pub(super) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// The time at which every test begins.
pub(super) const NOW: i64 = 1_790_000_000_000;

pub(super) fn screen(width: u16, height: u16) -> Ui {
    let mut ui = Ui::new(Settings {
        theme: Theme::shipped("default", Colours::Ansi).unwrap(),
        colours: Colours::Ansi,
        keys: KeyMap::default(),
        mouse: false,
        bell: true,
        reasoning: false,
    });
    update(&mut ui, Msg::Resize { width, height }, NOW);
    // Said just now: most tests are about the keys themselves.
    ui.presence_told = Some(NOW);
    ui
}

/// A screen with a conversation in view.
pub(super) fn begun(width: u16, height: u16) -> Ui {
    let mut ui = screen(width, height);
    tell_all(&mut ui, [session(Some("build tidy")), Event::Replayed, Event::Report(Box::new(report()))]);
    ui
}

pub(super) fn tell(ui: &mut Ui, event: Event, now: i64) -> Vec<Cmd> {
    let conversation = match event {
        Event::Report(_) | Event::Conversations { .. } | Event::Diagnostics { .. } => String::new(),
        _ => "c1".to_owned(),
    };
    update(ui, Msg::Update(Box::new(Update { conversation, node: crate::agent::NodeId::ENTRY, event })), now)
}

pub(super) fn tell_all(ui: &mut Ui, events: impl IntoIterator<Item = Event>) {
    for event in events {
        tell(ui, event, NOW);
    }
}

pub(super) fn key(name: &str) -> Key {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn press(ui: &mut Ui, name: &str, now: i64) -> Vec<Cmd> {
    update(ui, Msg::Key(key(name)), now)
}

/// Presses keys separated by spaces, `ms` apart; answers with what all of them asked for.
pub(super) fn press_all(ui: &mut Ui, names: &str, from: i64, ms: i64) -> Vec<Cmd> {
    let mut cmds = Vec::new();
    for (at, name) in (0..).zip(names.split(' ')) {
        cmds.extend(press(ui, name, from + at * ms));
    }
    cmds
}

pub(super) fn type_text(ui: &mut Ui, text: &str, now: i64) {
    for character in text.chars() {
        update(ui, Msg::Key(Key::plain(super::KeyCode::Char(character))), now);
    }
}

/// The frame as text, and the caret.
pub(super) fn frame(ui: &mut Ui, now: i64) -> String {
    let (width, height) = (ui.width, ui.height);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut caret = None;
    terminal
        .draw(|frame| {
            view(ui, frame, now);
        })
        .unwrap();
    if terminal.backend().cursor_visible() {
        caret = Some(terminal.backend().cursor_position());
    }
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for y in 0..height {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer.cell((x, y)).unwrap().symbol();
            line.push_str(symbol);
            x += u16::try_from(super::text::width(symbol).max(1)).unwrap();
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    match caret {
        Some(at) => writeln!(out, "caret at {},{}", at.x, at.y).unwrap(),
        None => out.push_str("no caret\n"),
    }
    out
}

pub(super) fn session(title: Option<&str>) -> Event {
    Event::Session {
        conversation: "c1".to_owned(),
        title: title.map(str::to_owned),
        agent: AgentName::new("assistant"),
        mode: ModeName::new("work"),
        model: "qwen3:8b".to_owned(),
        rehearsal: false,
        window: Some(32_768),
        tool_limit: None,
        read_only: None,
    }
}

/// A command for the conversation in view.
pub(super) fn here(command: Command) -> Command {
    Command::In { conversation: "c1".to_owned(), command: Box::new(command) }
}

pub(super) fn started() -> Event {
    Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None }
}

pub(super) fn said(text: &str) -> Event {
    Event::Said { text: text.to_owned(), origin: UserOrigin::Person }
}

pub(super) fn delta(text: &str) -> Event {
    Event::Delta { text: text.to_owned() }
}

pub(super) fn call(number: u32, grown: &[&str], with_ledger: bool) -> Event {
    let ledger = ledger(!grown.is_empty() || number > 1);
    let offered = || ledger.tools.iter().filter(|tool| tool.state == RowState::Offered);
    Event::Call(CallLine {
        number,
        kind: CallKind::Agent,
        tools: offered().count(),
        tool_bytes: offered().map(|tool| tool.bytes).sum(),
        resident: vec!["memory".to_owned(), "fs".to_owned(), "compute".to_owned()],
        loaded: if number > 1 { vec!["todo".to_owned()] } else { Vec::new() },
        grown: grown.iter().map(|name| (*name).to_owned()).collect(),
        ledger: with_ledger.then_some(ledger),
    })
}

pub(super) fn used(number: u32) -> Event {
    let usage = Usage { input: Some(6_100), output: Some(212), cached: None };
    Event::Usage { number, usage, took_ms: 1_834 }
}

pub(super) fn tool_call(number: u64, toolset: &str, name: &str, arguments: Value) -> Event {
    let risk = match name {
        "list_directory" | "read_file" | "load_tools" => Risk::Read,
        "write_file" => Risk::Write,
        _ => Risk::Exec,
    };
    let (call, tool, wire) = (CallId(number), Some(tool(toolset, name)), name.to_owned());
    Event::ToolCall { call, tool, risk: Some(risk), wire, arguments }
}

pub(super) fn result(number: u64, ending: Ending, note: &str) -> Event {
    Event::ToolResult {
        call: CallId(number),
        ending,
        text: "build/a.o\nbuild/b.o".to_owned(),
        note: Some(note.to_owned()),
        took_ms: 12,
    }
}

pub(super) fn tool(toolset: &str, name: &str) -> ToolId {
    ToolId::of(&ToolsetName::new(toolset), &ToolName::new(name))
}

/// The entry agent by its name, a worker by its address, a composed one by its name (and the first of that label).
pub(super) fn asker(name: &str) -> Asker {
    let address = match name.strip_prefix("composed:") {
        Some(label) => Some(format!("{label}#1")),
        None => name.contains('#').then(|| name.to_owned()),
    };
    let agent = AgentName::new(name.split_once('#').map_or(name, |(agent, _)| agent));
    Asker { agent, address }
}

pub(super) fn ask(number: u64, arguments: Value) -> Event {
    Event::Ask {
        ask: Ask {
            call: CallId(number),
            chain: vec![asker("assistant")],
            tool: tool("compute", "run_command"),
            risk: Risk::Exec,
            arguments,
            author: Author::Model,
            reason: AskReason {
                list: GateList::Review,
                entry: "compute.run_command".to_owned(),
                source: "from [assistant.tools] line 12".to_owned(),
            },
            grantable: true,
        },
        preview: Preview {
            diff: None,
            facts: vec![("words".to_owned(), "rm · -rf · build".to_owned())],
            digest: String::new(),
        },
        changed: false,
        showing: 0,
    }
}

pub(super) fn command_ask(number: u64) -> Event {
    ask(number, json!({"command": "rm -rf build && mkdir build", "cwd": "~/proj"}))
}

/// A turn with tool rows and a card that waits.
pub(super) fn turn_with_card(ui: &mut Ui) {
    tell_all(
        ui,
        [
            started(),
            said("tidy the build folder and add a note"),
            call(1, &[], true),
            delta("I will look at the folder *first*."),
            used(1),
            tool_call(1, "fs", "list_directory", json!({"path": "build/"})),
            tool_call(2, "core", "load_tools", json!({"name": "todo"})),
            Event::Running { call: CallId(1), for_ms: 0 },
            result(1, Ending::Ok, "14 entries"),
            result(2, Ending::Loaded { toolset: "todo".to_owned() }, "+2 tools, 1.1 kB"),
            call(2, &["todo"], true),
            delta("Now the plan:\n\n1. remove `build/`\n2. write a note\n"),
            used(2),
            tool_call(3, "compute", "run_command", json!({"command": "rm -rf build && mkdir build", "cwd": "~/proj"})),
            tool_call(4, "fs_write", "write_file", json!({"path": "NOTE.md", "content": "tidied\n"})),
            command_ask(3),
            write_ask(4),
        ],
    );
}

pub(super) fn write_ask(number: u64) -> Event {
    Event::Ask {
        ask: Ask {
            call: CallId(number),
            chain: vec![asker("coder#1"), asker("assistant")],
            tool: tool("fs_write", "write_file"),
            risk: Risk::Write,
            arguments: json!({
                "path": "NOTE.md",
                "content": "tidied\nby \u{202e}evil\u{200b}\r\nsee build/\n",
                "options": {"mode": "0644", "tags": ["a", "b"], "create_parents": true, "follow_links": false},
            }),
            author: Author::Model,
            reason: AskReason {
                list: GateList::Confirm,
                entry: "fs_write".to_owned(),
                source: "from [agents.coder.tools] line 41".to_owned(),
            },
            grantable: false,
        },
        preview: Preview {
            diff: Some("--- NOTE.md\n+++ NOTE.md\n@@ -1,2 +1,2 @@\n-old note\n+tidied\n see build/\n".to_owned()),
            facts: vec![("file".to_owned(), "~/proj/NOTE.md".to_owned())],
            digest: String::new(),
        },
        changed: true,
        showing: 0,
    }
}

pub(super) fn ended() -> Event {
    Event::End { end: TurnEnd::Answered, took_ms: 0 }
}

fn ledger_tool(toolset: &str, name: &str, arrival: Arrival, risk: Risk, bytes: usize) -> LedgerTool {
    LedgerTool { tool: tool(toolset, name), arrival, risk, bytes, state: RowState::Offered }
}

pub(super) fn ledger(grown: bool) -> Ledger {
    let mut tools = vec![
        ledger_tool("memory", "remember", Arrival::Resident, Risk::Write, 812),
        ledger_tool("memory", "recall", Arrival::Resident, Risk::Read, 640),
        ledger_tool("fs", "list_directory", Arrival::Resident, Risk::Read, 544),
        ledger_tool("fs", "read_file", Arrival::Resident, Risk::Read, 702),
        ledger_tool("fs_write", "write_file", Arrival::Resident, Risk::Write, 655),
        ledger_tool("compute", "run_command", Arrival::Resident, Risk::Exec, 901),
        LedgerTool {
            state: RowState::Withheld(Withheld {
                filter: Filter::Check,
                reason: "no python3 on this machine".to_owned(),
            }),
            ..ledger_tool("compute", "execute_python", Arrival::Resident, Risk::Exec, 733)
        },
        ledger_tool("time", "now", Arrival::Preloaded, Risk::Read, 210),
        LedgerTool { tool: ToolId::core("available_tools"), ..ledger_tool("x", "x", Arrival::Core, Risk::Read, 401) },
        LedgerTool { tool: ToolId::core("load_tools"), ..ledger_tool("x", "x", Arrival::Core, Risk::Read, 377) },
    ];
    if grown {
        tools.push(ledger_tool("todo", "add_todo", Arrival::Loaded, Risk::Write, 610));
        tools.push(ledger_tool("todo", "list_todos", Arrival::Loaded, Risk::Read, 490));
    }
    let deferred = |toolset: &str, last_build, reason: &str| LedgerToolset {
        toolset: ToolsetName::new(toolset),
        last_build,
        withheld: Withheld { filter: Filter::NotLoaded, reason: reason.to_owned() },
    };
    Ledger {
        tools,
        deferred: vec![
            deferred("misc", Some((vec![ToolName::new("calculate"), ToolName::new("uuid")], 900)), "not loaded"),
            deferred("documents", None, "not loaded"),
        ],
    }
}

fn tool_row(name: &str, risk: Risk, bytes: usize, gate: Option<GateList>) -> ToolRow {
    let schema = match name {
        "run_command" => json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command line."},
                "cwd": {"type": "string", "description": "Where it runs; the working directory where it is left out."},
                "timeout_s": {"type": ["integer", "null"]},
            },
            "required": ["command"],
        }),
        "load_tools" => json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
        _ => json!({"type": "object"}),
    };
    let name = ToolName::new(name);
    ToolRow { name, risk, bytes, gate, shadowed_by: None, withheld: None, offered: true, schema: Arc::new(schema) }
}

fn toolset_row(name: &str, description: &str, state: ToolsetState, tools: Option<Vec<ToolRow>>) -> ToolsetRow {
    ToolsetRow { name: ToolsetName::new(name), kind: Kind::BuiltIn, description: description.to_owned(), state, tools }
}

fn entry(text: &str, list: GateList, line: usize, tools: &[(&str, &str)], pending: bool) -> EntryRow {
    EntryRow {
        entry: text.to_owned(),
        list,
        line,
        tools: tools.iter().map(|(toolset, name)| tool(toolset, name)).collect(),
        pending,
        refusing: false,
    }
}

pub(super) fn report() -> AgentReport {
    let names = |names: &[&str]| names.iter().map(|name| ToolsetName::new(*name)).collect::<Vec<_>>();
    let mut python = tool_row("execute_python", Risk::Exec, 733, Some(GateList::Review));
    python.withheld = Some("no python3 on this machine".to_owned());
    python.offered = false;
    AgentReport {
        agent: AgentName::new("assistant"),
        entry: true,
        description: "The assistant the user talks to.".to_owned(),
        delegates_to: Vec::new(),
        available_all: false,
        available: names(&["memory", "fs", "fs_write", "compute", "time", "todo", "misc", "documents", "report"]),
        resident: Some(names(&["memory", "fs", "fs_write", "compute"])),
        deferred: names(&["time", "todo", "misc", "documents"]),
        toolsets: vec![
            toolset_row(
                "memory",
                "What it keeps between conversations.",
                ToolsetState::Resident,
                Some(vec![tool_row("remember", Risk::Write, 812, None), tool_row("recall", Risk::Read, 640, None)]),
            ),
            toolset_row(
                "fs",
                "Reads files and folders.",
                ToolsetState::Resident,
                Some(vec![
                    tool_row("list_directory", Risk::Read, 544, None),
                    tool_row("read_file", Risk::Read, 702, None),
                ]),
            ),
            toolset_row(
                "fs_write",
                "Writes and edits files.",
                ToolsetState::Resident,
                Some(vec![tool_row("write_file", Risk::Write, 655, Some(GateList::Review))]),
            ),
            toolset_row(
                "compute",
                "Runs commands and programs on this machine.",
                ToolsetState::Resident,
                Some(vec![tool_row("run_command", Risk::Exec, 901, Some(GateList::Review)), python]),
            ),
            toolset_row(
                "time",
                "The time, here and elsewhere.",
                ToolsetState::Preloaded,
                Some(vec![tool_row("now", Risk::Read, 210, None)]),
            ),
            toolset_row(
                "todo",
                "A list of things to do.",
                ToolsetState::Loaded,
                Some(vec![tool_row("add_todo", Risk::Write, 610, None), tool_row("list_todos", Risk::Read, 490, None)]),
            ),
            toolset_row("misc", "Small helps.", ToolsetState::Loadable, None),
            toolset_row(
                "documents",
                "Your own documents, searched.",
                ToolsetState::Failed { error: "the index is not readable: permission denied".to_owned() },
                None,
            ),
            toolset_row(
                "report",
                "Writes reports.",
                ToolsetState::Off {
                    by: Filter::SwitchedOff,
                    reason: "switched off in [toolsets].disabled".to_owned(),
                    line: None,
                },
                None,
            ),
            toolset_row("web", "Searches the web.", ToolsetState::NotAvailable, None),
        ],
        core: vec![tool_row("available_tools", Risk::Read, 401, None), tool_row("load_tools", Risk::Read, 377, None)],
        policy_source: "inherited from [assistant.tools], line 12".to_owned(),
        entries: vec![
            entry("config.update_config", GateList::Confirm, 13, &[], true),
            entry("compute.run_command", GateList::Review, 14, &[("compute", "run_command")], false),
            entry("compute.execute_python", GateList::Review, 14, &[("compute", "execute_python")], false),
            entry("fs_write", GateList::Review, 14, &[("fs_write", "write_file"), ("fs_write", "edit_file")], false),
        ],
        floor: vec![entry("config.update_config", GateList::Confirm, 30, &[], true)],
        dropped_defaults: Vec::new(),
        grants: vec![crate::access::Grant {
            number: 1,
            conversation: "c1".to_owned(),
            agent: AgentName::new("assistant"),
            tool: tool("compute", "run_command"),
            digest: String::new(),
            arguments: r#"{"command":"cargo check"}"#.to_owned(),
            uses: 3,
        }],
        start_tools: (9, 5_242),
        offered: (11, 6_342),
    }
}

/// Three agents: the entry agent's report, a coder with a pair of its own, and one with a name that needs room.
pub(super) fn three_agents() -> [Event; 3] {
    let mut coder = AgentReport {
        agent: AgentName::new("coder"),
        entry: false,
        description: "Writes code.".to_owned(),
        core: Vec::new(),
        policy_source: "declared in [agents.coder.tools], line 41".to_owned(),
        entries: vec![entry("compute", GateList::Confirm, 43, &[("compute", "run_command")], false)],
        dropped_defaults: vec!["fs_write".to_owned(), "compute.execute_python".to_owned()],
        grants: Vec::new(),
        ..report()
    };
    for (name, state) in [
        ("memory", ToolsetState::NotAvailable),
        ("time", ToolsetState::Loadable),
        ("todo", ToolsetState::NotAvailable),
        ("misc", ToolsetState::Refused { entry: "misc.calcualte".to_owned() }),
        ("web", ToolsetState::Off { by: Filter::Check, reason: "no way out of this machine".to_owned(), line: None }),
    ] {
        coder.toolsets.iter_mut().filter(|row| row.name.as_str() == name).for_each(|row| row.state = state.clone());
    }
    let mut second = coder.clone();
    second.agent = AgentName::new("introspector");
    second.dropped_defaults.clear();
    second.toolsets.iter_mut().for_each(|row| row.state = ToolsetState::NotAvailable);
    [report(), coder, second].map(|report| Event::Report(Box::new(report)))
}

/// What the driver answers for each tool that was asked about: yes to everything that this fixture does not deny.
pub(super) fn explained(ui: &mut Ui, cmds: &[Cmd]) {
    let because = |text: &str, line: Option<usize>| {
        let place = line.map(|line| Place::Config(Span { line, ..Span::default() }));
        Reason { text: text.to_owned(), place }
    };
    let found = |(yes, reasons)| Finding { yes, reasons };
    for command in submitted(cmds) {
        let Command::Explain { agent, tool } = command else { continue };
        let gated = tool.name.as_str() != "read_file";
        let runs = tool.name.as_str() != "execute_python";
        let explanation = Explanation {
            available: found((true, vec![because("available of [agents.assistant.tools] names 'compute'", Some(18))])),
            held: found((true, vec![because("resident of [agents.assistant.tools] names its toolset", Some(21))])),
            offered: found(if runs {
                (true, vec![because("no filter withholds it", None)])
            } else {
                (false, vec![because("no python3 \u{1b}[2Jon this machine", None)])
            }),
            approval: Approval {
                list: gated.then_some(GateList::Review),
                answered_by: if gated { AnsweredBy::Person } else { AnsweredBy::NotAsked },
                reasons: vec![
                    because("'compute.run_command' in review of [assistant.tools]", Some(14)),
                    because(
                        "'build.run_command' in review of [assistant.tools], by the tool's name: whoever holds it",
                        Some(14),
                    ),
                    because("'compute' in [security].never_auto_approve: only a person's own answer counts", Some(30)),
                ],
            },
            dispatched: found(if runs {
                (true, vec![because("it is held, offered and unchanged", None)])
            } else {
                (false, vec![because("it is not available now: no python3 on this machine", None)])
            }),
            outcome: match (runs, gated) {
                (false, _) => Outcome::NotNow,
                (true, true) => Outcome::Asks,
                (true, false) => Outcome::Runs,
            },
        };
        let (agent, tool) = (agent.clone(), tool.clone());
        tell(ui, Event::Explained { agent, tool, explanation: Box::new(explanation) }, NOW);
    }
}

pub(super) fn conversations() -> Event {
    let row = |id: &str, title: &str, minutes: i64, turns, current| ConversationSummary {
        id: id.to_owned(),
        title: title.to_owned(),
        updated: NOW - minutes * 60_000,
        turns,
        attendance: Attendance::Attended,
        current,
        activity: crate::agent::Activity::Idle,
        unread: false,
    };
    Event::Conversations {
        list: vec![
            row("c1", "build tidy", 0, 3, true),
            row("c2", "trip notes", 190, 12, false),
            row("c3", "csv import, second try", 3_000, 1, false),
        ],
    }
}

/// The commands for the assistant among `cmds`.
pub(super) fn submitted(cmds: &[Cmd]) -> Vec<&Command> {
    cmds.iter()
        .filter_map(|cmd| match cmd {
            // That somebody is here is tested for itself.
            Cmd::Submit(Command::Present) => None,
            Cmd::Submit(command) => Some(command),
            _ => None,
        })
        .collect()
}
