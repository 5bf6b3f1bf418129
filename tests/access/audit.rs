//! K5: replaying past calls in another world.

use crate::common::*;
use kokua::access::audit::{Change, Draft, Entry, Gate, Outcome, PastCall, Verdict, What, changes, replay};
use kokua::access::offer::{LedgerTool, RowState};
use kokua::access::*;
use pretty_assertions::assert_eq;

const BUILDS: &[(&str, &[&str])] = &[("fs", &["read_file"]), ("compute", &["run_command"]), ("todo", &["add_todo"])];

/// One agent with `fs` and `compute` resident and `todo` deferred; `confirm` asks first.
fn tables(confirm: &[&str]) -> Declarations {
    let mut declarations =
        declare(vec![agent("assistant", 10).available(&["fs", "compute", "todo"]).resident(&["fs", "compute"])]);
    declarations.default_pair = default_pair(confirm, &[]);
    declarations
}

fn world(declarations: Declarations) -> World {
    started(declarations, registry(&["fs", "compute", "todo"]), BUILDS)
}

fn entry(what: What) -> Entry {
    Entry { at: 1, conversation: Some("c1".to_owned()), agent: Some(agent_name("assistant")), node: 0, what }
}

fn past(tool: &str) -> PastCall {
    let id = id(tool);
    PastCall {
        call: 1,
        wire: id.name.to_string(),
        definition: Some("then".to_owned()),
        tool: Some(id),
        arguments: Some("digest".to_owned()),
        attendance: Attendance::Attended,
        gate: None,
        answer: None,
        outcome: Outcome::Dispatched,
    }
}

fn call(past: PastCall) -> Entry {
    entry(What::Call(Box::new(past)))
}

fn load(toolset_name: &str) -> Entry {
    let (call, toolset, arrival, tools) = (Some(1), toolset(toolset_name), Arrival::Loaded, Vec::new());
    entry(What::Load { call, toolset, arrival, tools })
}

/// The verdicts in words.
fn verdicts(entries: &[Entry], world: &World) -> Vec<String> {
    replay(entries, world)
        .into_iter()
        .map(|replayed| match replayed.verdict {
            Verdict::Run { answer: None } => "run".to_owned(),
            Verdict::Run { answer: Some(answer) } => format!("run: {answer}"),
            Verdict::Ask { gate: Gate { list, entry, source } } => format!("ask: {entry} in {list} {source}"),
            Verdict::Refused { why } => format!("refused: {why}"),
            Verdict::DependsOnArguments { why } => format!("depends: {why}"),
        })
        .collect()
}

fn verdict(past: PastCall, world: &World) -> String {
    verdicts(&[call(past)], world).remove(0)
}

#[test]
fn k5_a_past_call_runs_asks_or_is_refused_as_the_other_policy_says() {
    let run = past("compute.run_command");
    assert_eq!(verdict(run.clone(), &world(tables(&[]))), "run");
    assert_eq!(
        verdict(run.clone(), &world(tables(&["compute"]))),
        "ask: compute in confirm from [assistant.tools] line 1"
    );
    let unattended = PastCall { attendance: Attendance::Unattended, ..run.clone() };
    assert_eq!(
        verdict(unattended, &world(tables(&["compute"]))),
        "refused: 'compute' in confirm from [assistant.tools] line 1 asks first, and nobody is here to ask"
    );
    let without = declare(vec![agent("assistant", 10).available(&["fs", "todo"]).resident(&["fs"])]);
    assert_eq!(verdict(run.clone(), &world(without)), "refused: 'compute' is not available to 'assistant'");
    let other = declare(vec![agent("other", 10).available(&["compute"])]);
    let mut declarations = other;
    declarations.entry = Some(Spanned::new(agent_name("other"), span(1)));
    assert_eq!(verdict(run.clone(), &world(declarations)), "refused: no agent is named 'assistant'");
    let mut off = tables(&[]);
    off.disabled = words(&["compute"], 3);
    assert_eq!(verdict(run, &world(off)), "refused: run_command is switched off: [toolsets].disabled names it");
}

#[test]
fn k5_a_tool_that_no_build_has_any_more_is_refused() {
    let declarations = tables(&[]);
    let world = started(
        declarations,
        registry(&["fs", "compute", "todo"]),
        &[("fs", &["read_file"]), ("compute", &["calculate"])],
    );
    assert_eq!(verdict(past("compute.run_command"), &world), "refused: 'compute' has no tool of that name");
    assert_eq!(verdict(past("core.spawn_subagent"), &world), "refused: 'assistant' does not earn core.spawn_subagent");
}

#[test]
fn k5_loads_happen_again_where_the_other_world_lets_them() {
    let entries = [call(past("todo.add_todo")), load("todo"), call(past("todo.add_todo"))];
    assert_eq!(
        verdicts(&entries, &world(tables(&[]))),
        ["refused: 'todo' is deferred, and nothing had loaded it", "run"]
    );
    // A load in another conversation is none here.
    let mut elsewhere = entries.clone();
    elsewhere[1].conversation = Some("c2".to_owned());
    assert_eq!(verdicts(&elsewhere, &world(tables(&[])))[1], "refused: 'todo' is deferred, and nothing had loaded it");
    // What is resident there needs none.
    let resident = declare(vec![agent("assistant", 10).available(&["fs", "compute", "todo"])]);
    assert_eq!(verdicts(&entries, &world(resident)), ["run", "run"]);
    let mut off = tables(&[]);
    off.disabled = words(&["todo"], 3);
    assert_eq!(
        verdicts(&entries, &world(off))[1],
        "refused: Could not load 'todo': it is switched off: [toolsets].disabled names it"
    );
}

#[test]
fn k5_what_answered_for_a_person_answers_again_where_it_may() {
    let by_flag = |entry: &str| PastCall {
        attendance: Attendance::Unattended,
        answer: Some(Answer::AllowedByFlag { entry: entry.to_owned() }),
        ..past("compute.run_command")
    };
    let by_grant = PastCall { answer: Some(Answer::AllowedByGrant { grant: 7 }), ..past("compute.run_command") };
    let asks = world(tables(&["compute"]));
    assert_eq!(verdict(by_flag("compute.run_command"), &asks), "run: allowed by --allow");
    assert_eq!(verdict(by_grant.clone(), &asks), "run: allowed by grant 7");
    // Neither is left behind for the next call.
    let both = [call(by_flag("compute")), call(by_grant.clone()), call(past("compute.run_command"))];
    assert!(verdicts(&both, &asks)[2].starts_with("ask:"));
    // The floor asks a person every time.
    let mut floor = tables(&["compute"]);
    floor.floor = vec![Spanned::new("compute".to_owned(), span(5))];
    assert!(verdict(by_flag("compute"), &world(floor.clone())).starts_with("refused: 'compute' in confirm"));
    assert!(verdict(by_grant, &world(floor)).starts_with("ask:"));
    // What a person allowed once is not taken for said again.
    let once = PastCall { answer: Some(Answer::AllowedOnce), ..past("compute.run_command") };
    assert!(verdict(once, &asks).starts_with("ask:"));
}

#[test]
fn k5_arguments_that_were_never_checked_are_what_it_depends_on() {
    let world = world(tables(&[]));
    let misfit = |definition: &str| PastCall {
        definition: Some(definition.to_owned()),
        outcome: Outcome::InvalidArguments,
        ..past("fs.read_file")
    };
    let now = world.fresh(&agent_name("assistant")).get(&id("fs.read_file")).unwrap().digest.clone();
    assert_eq!(verdict(misfit(&now), &world), "refused: its arguments do not fit, as then");
    assert!(verdict(misfit("another"), &world).starts_with("depends: they did not fit"));
    let unknown = |wire: &str| PastCall {
        wire: wire.to_owned(),
        tool: None,
        definition: None,
        outcome: Outcome::Unknown,
        ..past("fs.read_file")
    };
    assert_eq!(verdict(unknown("read_fil"), &world), "refused: nothing held has that name");
    assert_eq!(verdict(unknown("read_file"), &world), "depends: fs.read_file is held, and they were never checked");
}

#[test]
fn k5_a_replay_changes_nothing_and_says_where() {
    let world = world(tables(&["compute"]));
    let entries = [entry(What::Revoke { number: 1 }), call(past("compute.run_command")), load("todo")];
    let places: Vec<_> = replay(&entries, &world).into_iter().map(|replayed| replayed.place).collect();
    assert_eq!(places, [1]);
    assert!(world.grants("c1").is_empty() && world.unused_allows().is_empty());
}

#[test]
fn k5_an_entry_reads_back_as_it_was_and_holds_no_arguments() {
    let gate = Gate { list: GateList::Review, entry: "fs".to_owned(), source: "from [x] line 1".to_owned() };
    let full = PastCall {
        gate: Some(gate.clone()),
        answer: Some(Answer::DeniedWithReason { reason: "no".to_owned() }),
        outcome: Outcome::Refused { why: "read_file is not held".to_owned() },
        ..past("fs.read_file")
    };
    let answer = What::Answer {
        call: 1,
        tool: id("fs.read_file"),
        arguments: None,
        gate: Some(gate),
        answer: Answer::AllowedByGrant { grant: 3 },
    };
    let withheld = Withheld { filter: Filter::Check, reason: "no".to_owned() };
    let change =
        Change { withheld: Some(withheld), tools: vec![id("core.load_tools")], toolsets: vec![toolset("todo")] };
    let whats = [
        What::Call(Box::new(full)),
        answer,
        What::Load {
            call: None,
            toolset: toolset("todo"),
            arrival: Arrival::Preloaded,
            tools: vec![ToolName::new("t")],
        },
        What::LoadFailed { call: 4, toolset: toolset("todo"), error: "broken".to_owned() },
        What::Withheld { model_call: 2, changes: vec![change] },
        What::Grant { number: 1, tool: id("fs.read_file"), arguments: Some("d".to_owned()) },
        What::Revoke { number: 1 },
        What::Switch { toolset: toolset("fs"), to: audit::Position::Off },
    ];
    for what in whats {
        let entry = entry(what);
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry, "{text}");
    }
    let draft = Draft::about(call(past("fs.read_file")), "{\"path\":\"secret\"}".to_owned());
    let sealed = draft.sealed(|arguments| format!("{} bytes", arguments.len()));
    let What::Call(call) = sealed.what else { panic!() };
    assert_eq!(call.arguments.as_deref(), Some("17 bytes"));
}

#[test]
fn k5_many_changes_are_cut_into_bounded_entries_without_losing_one() {
    let row = |number: usize| LedgerTool {
        tool: id(&format!("fs.tool_{number}")),
        arrival: Arrival::Resident,
        risk: Risk::Read,
        bytes: 1,
        state: RowState::Withheld(Withheld { filter: Filter::Check, reason: format!("reason {}", number % 2) }),
    };
    let ledger = Ledger { tools: (0..450).map(row).collect(), deferred: Vec::new() };
    let pieces = changes(None, &ledger);
    let rows: Vec<usize> = pieces.iter().map(|piece| piece.iter().map(|change| change.tools.len()).sum()).collect();
    assert_eq!(rows, [200, 200, 50]);
    assert!(changes(Some(&ledger), &ledger).is_empty());
}
