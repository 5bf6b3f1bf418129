//! The store as its users see it: real files, real locks, every cut of a log.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "what is on the disk is what is tested")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use kokua::access::audit::Head;
use kokua::access::held::Arrival;
use kokua::access::offer::{Filter, LedgerTool, LedgerToolset, RowState, Withheld};
use kokua::access::{AgentName, Answer, Attendance, Ledger, Risk, ToolId, ToolName, ToolsetName};
use kokua::agent::record::OfferRecord;
use kokua::agent::{
    AssistantMessage, CallId, CallKind, Ending, Failure, FailureKind, Ground, NodeId, Opaque, Part, Reasoning, Record,
    Retry, Severity, Spawned, StopReason, ToolCall, TurnEnd, Usage, UserMessage, UserOrigin, loads,
};
use kokua::store::holder::Holder;
use kokua::store::{self, Log, StoreError};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

#[path = "store/audit.rs"]
mod audit;
#[path = "store/workers.rs"]
mod workers;

const ID: &str = "019a0000-0000-7000-8000-000000000001";

fn agent() -> AgentName {
    AgentName::new("assistant")
}

fn said(at: i64, text: &str) -> Record {
    Record::TurnStarted {
        at,
        attendance: Attendance::Attended,
        agent: None,
        message: UserMessage { text: text.into(), origin: UserOrigin::Person },
    }
}

fn call(id: u64) -> Part {
    Part::Call(ToolCall {
        risk: None,
        id: CallId(id),
        provider_id: format!("toolu_{id}"),
        wire: "load_tools".into(),
        shown: "core.load_tools".into(),
        arguments: r#"{"name":"todo"}"#.into(),
        opaque: None,
    })
}

fn model_call(at: i64, parts: Vec<Part>) -> Record {
    Record::ModelCall {
        at,
        number: 1,
        kind: CallKind::Agent,
        message: AssistantMessage { parts, stop: Some(StopReason::Calls) },
        offer: OfferRecord::default(),
        usage: Usage::default(),
        took_ms: 5,
        failure: None,
    }
}

fn ended(at: i64, call: u64, ending: Ending) -> Record {
    Record::CallEnded { at, call: CallId(call), ending, answer: None, text: "done".into(), note: None, took_ms: 7 }
}

fn loaded(at: i64, call: u64, toolset: &str) -> Record {
    ended(at, call, Ending::Loaded { toolset: toolset.into() })
}

fn over(at: i64) -> Record {
    Record::TurnEnded { at, end: TurnEnd::Answered }
}

/// One of everything that a log can hold.
fn everything() -> Vec<Record> {
    let opaque = Opaque {
        wire: "anthropic".into(),
        fields: serde_json::from_str(r#"{"signature":"EqQB","nested":{"z":1,"a":[null,2.5]}}"#).unwrap(),
    };
    vec![
        Record::Preloaded { toolset: "documents".into() },
        Record::TurnStarted {
            at: 1_700_000_000_000,
            attendance: Attendance::Attended,
            agent: Some(AgentName::new("coder")),
            message: UserMessage {
                text: "tidy the build folder\nand say \"done\" é".into(),
                origin: UserOrigin::Person,
            },
        },
        Record::ModelCall {
            at: 1_700_000_001_000,
            number: 1,
            kind: CallKind::Agent,
            message: AssistantMessage {
                parts: vec![
                    Part::Reasoning(Reasoning { text: "hm".into(), opaque: Some(opaque.clone()) }),
                    Part::Text { text: "I will.".into() },
                    Part::Call(ToolCall {
                        risk: None,
                        id: CallId(1),
                        provider_id: String::new(),
                        wire: "run_command".into(),
                        shown: "compute.run_command".into(),
                        arguments: "{\"command\": \"rm".into(),
                        opaque: Some(opaque),
                    }),
                    call(2),
                ],
                stop: Some(StopReason::Other("pause_turn".into())),
            },
            offer: OfferRecord {
                tools: 21,
                tool_bytes: 18_000,
                resident: vec!["memory".into(), "documents".into()],
                loaded: vec!["todo".into()],
                ledger: None,
            },
            usage: Usage { input: Some(7000), output: Some(96), cached: Some(5) },
            took_ms: 1100,
            failure: Some(Failure {
                kind: FailureKind::Cut,
                message: "the stream broke off".into(),
                hint: Some("try again".into()),
                retry: Retry::Backoff { at_least_ms: 250 },
            }),
        },
        Record::CallEnded {
            at: 1_700_000_002_000,
            call: CallId(1),
            ending: Ending::NotAllowed,
            answer: Some(Answer::DeniedWithReason { reason: "not that folder".into() }),
            text: "denied".into(),
            note: Some("14 entries".into()),
            took_ms: 0,
        },
        Record::Allowed {
            at: 1_700_000_002_500,
            call: CallId(2),
            answer: Answer::AllowedForConversation,
            arguments: Some(serde_json::json!({"name": "todo"})),
        },
        loaded(1_700_000_003_000, 2, "todo"),
        Record::Said {
            at: 1_700_000_004_000,
            message: UserMessage { text: "go on".into(), origin: UserOrigin::Continuation },
        },
        Record::TurnEnded {
            at: 1_700_000_005_000,
            end: TurnEnd::Failed { message: "no answer".into(), hint: Some("try later".into()) },
        },
        Record::Titled { title: "Tidy build".into() },
        Record::AuditHead(Head { entries: 12, hash: "ab".repeat(32) }),
    ]
}

/// Writes `records` and gives the log's bytes.
fn written(directory: &Path, records: &[Record]) -> Vec<u8> {
    let mut log = Log::create(directory, ID, &agent(), 1_700_000_000_000).unwrap();
    log.append_all(records).unwrap();
    fs::read(log.path()).unwrap()
}

fn path(directory: &Path) -> std::path::PathBuf {
    directory.join(format!("{ID}.jsonl"))
}

#[test]
fn what_is_appended_is_read_back_after_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("data/conversations");
    let records = everything();
    let mut log = Log::create(&directory, ID, &agent(), 5).unwrap();
    for record in &records {
        log.append(record).unwrap();
    }
    drop(log);
    let (log, opened) = Log::open(&directory, ID).unwrap();
    assert_eq!(opened.records, records);
    assert_eq!(opened.notices, []);
    assert_eq!((opened.header.id.as_str(), opened.header.agent, opened.header.created), (ID, agent(), 5));
    assert_eq!(log.id(), ID);
    assert_eq!(log.path(), path(&directory));
}

/// The format on disk. A change that makes this fail needs a new version, and this file must go on being read.
#[test]
fn version_1_is_what_it_was() {
    let golden = include_bytes!("store/version_1.jsonl");
    let directory = tempfile::tempdir().unwrap();
    fs::write(path(directory.path()), golden).unwrap();
    let (log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records, everything());
    assert_eq!(opened.notices, []);
    drop(log);
    let other = tempfile::tempdir().unwrap();
    let now = written(other.path(), &everything());
    assert_eq!(String::from_utf8(now).unwrap(), String::from_utf8(golden.to_vec()).unwrap());
}

#[test]
fn a_call_keeps_its_ledger_and_an_unknown_word_in_one_costs_no_call() {
    let reason = Withheld { filter: Filter::Check, reason: "no python3 on this machine".into() };
    let row = |name: &str, arrival, state| LedgerTool {
        tool: ToolId::of(&ToolsetName::new("compute"), &ToolName::new(name)),
        arrival,
        risk: Risk::Exec,
        bytes: 901,
        state,
    };
    let ledger = Ledger {
        tools: vec![
            row("run_command", Arrival::Resident, RowState::Offered),
            row("execute_python", Arrival::Loaded, RowState::Withheld(reason)),
        ],
        deferred: vec![LedgerToolset {
            toolset: ToolsetName::new("todo"),
            last_build: Some((vec![ToolName::new("add_todo")], 610)),
            withheld: Withheld { filter: Filter::NotLoaded, reason: "not loaded".into() },
        }],
    };
    let mut record = model_call(2, vec![Part::Text { text: "I will.".into() }]);
    if let Record::ModelCall { offer, .. } = &mut record {
        offer.ledger = Some(ledger);
    }
    let directory = tempfile::tempdir().unwrap();
    let records = vec![said(1, "run it"), record.clone()];
    let bytes = String::from_utf8(written(directory.path(), &records)).unwrap();
    assert_eq!(store::read(directory.path(), ID).unwrap().records, records);

    let newer = bytes.replace("\"filter\":\"check\"", "\"filter\":\"weather\"");
    assert_ne!(newer, bytes);
    fs::write(path(directory.path()), newer).unwrap();
    let opened = store::read(directory.path(), ID).unwrap();
    if let Record::ModelCall { offer, .. } = &mut record {
        offer.ledger = None;
    }
    assert_eq!((opened.records, opened.notices), (vec![said(1, "run it"), record], vec![]));
}

#[test]
fn a_second_writer_is_refused_and_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::create(directory.path(), ID, &agent(), 1).unwrap();
    let error = Log::open(directory.path(), ID).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with(&format!("conversation {ID} is open in this kokua (since ")), "{said}");
    assert!(error.hint().is_some());
    assert!(matches!(&error, StoreError::Held { holder, .. } if said.ends_with(holder)) && error.is_held());
    log.append(&Record::Titled { title: "Tidy the \u{202e}build".into() }).unwrap();
    let said = store::remove(directory.path(), ID).unwrap_err().to_string();
    assert!(said.starts_with("\"Tidy the \\u{202e}build\" is open in this kokua (since "), "{said}");
    assert!(matches!(store::rename(directory.path(), ID, "t"), Err(StoreError::Held { .. })));
    assert_eq!(store::list(directory.path(), Some(ID)).unwrap().conversations.len(), 1, "listing takes no lock");
    drop(log);
    Log::open(directory.path(), ID).unwrap();
}

fn holder(directory: &Path) -> std::path::PathBuf {
    directory.join(format!("{ID}.holder"))
}

#[test]
fn who_has_a_log_is_written_beside_it_while_that_is_so() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let log = Log::create(directory, ID, &agent(), 1).unwrap();
    let written: Holder = serde_json::from_slice(&fs::read(holder(directory)).unwrap()).unwrap();
    assert_eq!(written.process, std::process::id());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(holder(directory)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(store::list(directory, None).unwrap().conversations.len(), 1, "it is no conversation");
    assert_eq!(store::find(directory, &ID[..8]).unwrap(), ID);
    drop(log);
    assert!(!holder(directory).exists());
    let (log, _) = Log::open(directory, ID).unwrap();
    assert!(holder(directory).exists());
    drop(log);
    assert!(!holder(directory).exists());
    // Neither a log that can't be opened nor one that is gone leaves one behind.
    fs::write(path(directory), "no header").unwrap();
    assert!(matches!(Log::open(directory, ID), Err(StoreError::NoHeader { .. })));
    assert!(!holder(directory).exists());
    fs::write(holder(directory), "{}").unwrap();
    store::remove(directory, ID).unwrap();
    assert!(!holder(directory).exists());
}

/// The holder that the file names.
fn leave_behind(directory: &Path, process: u32) {
    let log = Log::open(directory, ID).unwrap();
    let own: Holder = serde_json::from_slice(&fs::read(holder(directory)).unwrap()).unwrap();
    drop(log);
    fs::write(holder(directory), serde_json::to_vec(&Holder { process, ..own }).unwrap()).unwrap();
}

/// A process that ended, and was waited for.
fn dead() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn what_a_process_that_ended_left_behind_keeps_nobody_out() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    drop(Log::create(directory, ID, &agent(), 1).unwrap());
    for left in [None, Some("not JSON"), Some("{\"process\":1}")] {
        leave_behind(directory, dead());
        if let Some(left) = left {
            fs::write(holder(directory), left).unwrap();
        }
        drop(Log::open(directory, ID).unwrap());
        assert!(!holder(directory).exists());
    }
}

/// A command that was being born when its parent ended, or closed the log, has the lock until it is one.
#[test]
fn a_lock_that_nobody_who_runs_has_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    drop(Log::create(directory, ID, &agent(), 1).unwrap());
    for remove in [false, true] {
        for left in [None, Some(dead())] {
            if !path(directory).exists() {
                drop(Log::create(directory, ID, &agent(), 1).unwrap());
            }
            if let Some(process) = left {
                leave_behind(directory, process);
            }
            let held = fs::File::open(path(directory)).unwrap();
            held.lock().unwrap();
            std::thread::scope(|scope| {
                let waiting = scope
                    .spawn(|| if remove { store::remove(directory, ID) } else { Log::open(directory, ID).map(drop) });
                drop(held);
                waiting.join().unwrap().unwrap();
            });
        }
    }
}

#[test]
fn one_that_runs_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    drop(Log::create(directory, ID, &agent(), 1).unwrap());
    let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    leave_behind(directory, child.id());
    let held = fs::File::open(path(directory)).unwrap();
    held.lock().unwrap();
    let error = Log::open(directory, ID).unwrap_err();
    let expected = format!("conversation {ID} is open in another kokua (process {}, since ", child.id());
    assert!(error.to_string().starts_with(&expected), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_long_answer_is_kept_whole_once() {
    let data = tempfile::tempdir().unwrap();
    let text = "wörter ".repeat(2_000);
    let file = store::keep_answer(data.path(), ID, &text).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let name = file.strip_prefix(data.path().join("answers").join(ID)).unwrap().to_str().unwrap();
    let (digits, end) = name.split_at(16);
    assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && end == ".txt", "{name}");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(store::keep_answer(data.path(), ID, &text).unwrap(), file);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before, "it is left as it is");
    assert_ne!(store::keep_answer(data.path(), ID, "another").unwrap(), file);
    fs::write(&file, "changed").unwrap();
    store::keep_answer(data.path(), ID, &text).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // It goes with its conversation, and no other's does.
    let kept = store::keep_answer(data.path(), "another", &text).unwrap();
    store::forget_answers(data.path(), ID).unwrap();
    store::forget_answers(data.path(), "a-third").unwrap();
    assert!(!file.parent().unwrap().exists() && kept.exists());
    assert!(matches!(store::forget_answers(data.path(), ".."), Err(StoreError::NotAnId { .. })));
    let blocked = tempfile::tempdir().unwrap();
    fs::write(blocked.path().join("answers"), "a file").unwrap();
    let error = store::keep_answer(blocked.path(), ID, "x").unwrap_err();
    assert!(error.to_string().contains("answers"), "{error}");
}

#[test]
fn an_id_is_used_once() {
    let directory = tempfile::tempdir().unwrap();
    drop(Log::create(directory.path(), ID, &agent(), 1).unwrap());
    assert!(matches!(Log::create(directory.path(), ID, &agent(), 1), Err(StoreError::File(_))));
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn ids_cannot_leave_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    for id in ["", ".", "..", "../other", "a/b", "a\0b", "a.b", &"x".repeat(65)] {
        assert!(matches!(Log::open(directory.path(), id), Err(StoreError::NotAnId { .. })), "{id:?}");
        assert!(matches!(store::remove(directory.path(), id), Err(StoreError::NotAnId { .. })), "{id:?}");
        assert!(store::find(directory.path(), id).is_err(), "{id:?}");
    }
    assert!(matches!(Log::open(directory.path(), "absent"), Err(StoreError::Unknown { .. })));
}

#[cfg(unix)]
#[test]
fn a_log_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("conversations");
    let log = Log::create(&directory, ID, &agent(), 1).unwrap();
    store::list(&directory, None).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(log.path()), mode(&directory.join("summaries.json"))), (0o700, 0o600, 0o600));
}

#[test]
fn a_torn_last_line_is_removed_with_a_notice_and_the_rest_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = written(directory.path(), &[said(1, "hello"), over(2)]);
    let whole = bytes.len();
    bytes.extend_from_slice(br#"{"record":"titled","ti"#);
    fs::write(path(directory.path()), &bytes).unwrap();
    let (mut log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records, [said(1, "hello"), over(2)]);
    assert_eq!(opened.notices.len(), 1);
    assert!(opened.notices[0].message.contains("was cut off"), "{:?}", opened.notices);
    assert_eq!(fs::read(log.path()).unwrap().len(), whole);
    log.append(&Record::Titled { title: "after".into() }).unwrap();
    drop(log);
    let (_, again) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(again.notices, []);
    assert_eq!(again.records.last(), Some(&Record::Titled { title: "after".into() }));
}

#[test]
fn a_whole_last_line_without_its_end_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = written(directory.path(), &[said(1, "hello"), over(2)]);
    assert_eq!(bytes.pop(), Some(b'\n'));
    fs::write(path(directory.path()), &bytes).unwrap();
    let (mut log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records, [said(1, "hello"), over(2)]);
    log.append(&said(3, "more")).unwrap();
    drop(log);
    let (_, again) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(again.records[..3], [said(1, "hello"), over(2), said(3, "more")]);
}

#[test]
fn a_damaged_line_is_named_by_its_number_and_stays_in_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let records = [said(1, "hello"), model_call(2, vec![call(1)]), ended(3, 1, Ending::Ok), over(4)];
    let text = String::from_utf8(written(directory.path(), &records)).unwrap();
    let damaged: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(index, line)| if index == 2 { line.replace("model_call\"", "model_call") } else { line.to_owned() })
        .collect();
    fs::write(path(directory.path()), damaged.join("\n") + "\n").unwrap();
    let (_log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records, [said(1, "hello"), over(4)], "a result without its call is left out too");
    assert_eq!(opened.notices.len(), 2);
    assert_eq!(opened.notices[0].severity, Severity::Warning);
    assert!(opened.notices[0].message.contains("line 3 cannot be read: "), "{:?}", opened.notices[0]);
    assert!(opened.notices[0].message.contains("3 other lines were"), "{:?}", opened.notices[0]);
    assert!(opened.notices[1].message.contains("1 tool result belongs to no call"), "{:?}", opened.notices[1]);
    assert!(fs::read_to_string(path(directory.path())).unwrap().contains(&damaged[2]));
}

#[test]
fn a_call_whose_result_line_was_damaged_is_ended_once_and_stays_so() {
    let directory = tempfile::tempdir().unwrap();
    let records = [said(1, "a"), model_call(2, vec![call(1)]), ended(3, 1, Ending::Ok), over(4), said(5, "b"), over(6)];
    let text = String::from_utf8(written(directory.path(), &records)).unwrap();
    fs::write(path(directory.path()), text.replace("\"call_ended\"", "\"call_ended")).unwrap();
    let (log, first) = Log::open(directory.path(), ID).unwrap();
    assert!(matches!(first.records.last(), Some(Record::CallEnded { ending: Ending::Interrupted, at: 6, .. })));
    drop(log);
    let (_, second) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(second.records, first.records);
}

#[test]
fn lines_of_a_newer_version_are_skipped_with_a_notice() {
    let directory = tempfile::tempdir().unwrap();
    let text = String::from_utf8(written(directory.path(), &[said(1, "hello"), over(2)])).unwrap();
    let newer = text.replace("\"version\":1", "\"version\":7") + "{\"record\":\"branched\",\"from\":3}\n";
    fs::write(path(directory.path()), &newer).unwrap();
    let (log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records, [said(1, "hello"), over(2)]);
    let notices: Vec<&str> = opened.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!(notices.len(), 2);
    assert!(notices[0].contains("newer kokua (format 7"), "{notices:?}");
    assert!(
        notices[1].contains("1 line of a kind that only a newer kokua knows (branched) was skipped"),
        "{notices:?}"
    );
    assert_eq!(fs::read_to_string(log.path()).unwrap(), newer, "nothing is taken out of the file");
}

#[test]
fn a_file_without_a_header_says_so_and_can_be_removed() {
    let directory = tempfile::tempdir().unwrap();
    for content in ["", "{\"record\":\"conver", "{\"record\":\"titled\",\"title\":\"x\"}\n", "hello\n"] {
        fs::write(path(directory.path()), content).unwrap();
        let error = Log::open(directory.path(), ID).unwrap_err();
        assert!(matches!(error, StoreError::NoHeader { .. }), "{content:?}: {error}");
        assert!(error.hint().unwrap().contains("conversations rm"));
        assert_eq!(fs::read_to_string(path(directory.path())).unwrap(), content, "left as it was");
        store::list(directory.path(), None).unwrap();
    }
    store::remove(directory.path(), ID).unwrap();
    assert!(matches!(store::remove(directory.path(), ID), Err(StoreError::Unknown { .. })));
}

#[test]
fn an_interrupted_turn_is_closed_before_anything_else_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let records = [said(1, "a"), model_call(2, vec![call(1), call(2), call(3)]), ended(9, 2, Ending::Ok)];
    written(directory.path(), &records);
    let (mut log, opened) = Log::open(directory.path(), ID).unwrap();
    let interrupted = |record: &Record, call: u64| matches!(record, Record::CallEnded { call: CallId(id), ending: Ending::Interrupted, at: 9, .. } if *id == call);
    assert!(interrupted(&opened.records[3], 1));
    assert!(interrupted(&opened.records[4], 3));
    assert_eq!(opened.records[5], Record::TurnEnded { at: 9, end: TurnEnd::Interrupted });
    assert_eq!(opened.records.len(), 6);
    assert!(opened.notices[0].message.starts_with("2 calls had no result"));
    log.append(&said(10, "b")).unwrap();
    drop(log);
    let (_, again) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(again.records[..6], opened.records[..]);
    assert_eq!(again.records[6], said(10, "b"));
}

/// The tree is there after a crash: each call of each worker has one ending, each worker has ended, and those below first.
#[test]
fn workers_that_a_crash_cut_off_are_closed_below_who_spawned_them() {
    let of = |node: u32, record: Record| Record::Worker { node: NodeId(node), of: Box::new(record) };
    let spawned = |node: u32, call: CallId| {
        let spawned = Spawned {
            at: 3,
            call,
            agent: AgentName::new("coder"),
            address: format!("coder#{node}"),
            task: "part".to_owned(),
            model: "m".to_owned(),
            ground: Ground::Foreground,
            toolsets: Vec::new(),
        };
        of(node, Record::Spawned(Box::new(spawned)))
    };
    let call_of = |node: u32, number: u32| CallId::of(NodeId(node), number).0;
    let records = [
        said(1, "a"),
        model_call(2, vec![call(1)]),
        spawned(1, CallId(1)),
        of(1, said(3, "part")),
        of(1, model_call(4, vec![call(call_of(1, 1)), call(call_of(1, 2))])),
        spawned(2, CallId(call_of(1, 1))),
        of(2, said(5, "deep")),
        of(2, model_call(6, vec![call(call_of(2, 1))])),
        of(2, ended(7, call_of(2, 1), Ending::Ok)),
        of(2, over(8)),
        of(1, ended(8, call_of(1, 1), Ending::Ok)),
        of(1, ended(9, call_of(1, 2), Ending::Ok)),
        of(1, over(10)),
        ended(10, 1, Ending::Ok),
        over(11),
    ];
    for kept in 0..=records.len() {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path(), &records[..kept]);
        let (log, opened) = Log::open(directory.path(), ID).unwrap();
        let (mut endings, mut open) = (BTreeMap::new(), Vec::new());
        for record in &opened.records {
            let (node, record) = match record {
                Record::Worker { node, of } => (*node, &**of),
                record => (NodeId::ENTRY, record),
            };
            match record {
                Record::Spawned(_) => open.push(node),
                Record::TurnStarted { .. } if node.is_entry() => open.push(node),
                Record::TurnEnded { .. } => assert_eq!(open.pop(), Some(node), "{kept}: those below end first"),
                Record::ModelCall { message, .. } => endings.extend(message.calls().map(|call| (call.id, 0))),
                Record::CallEnded { call, .. } => *endings.get_mut(call).unwrap() += 1,
                _ => {}
            }
        }
        assert!(endings.values().all(|count| *count == 1) && open.is_empty(), "{kept}: {endings:?} {open:?}");
        drop(log);
        let (_, again) = Log::open(directory.path(), ID).unwrap();
        assert_eq!((again.records, again.notices), (opened.records, Vec::new()));
    }
}

#[test]
fn a_conversation_that_is_open_elsewhere_can_be_read_and_is_not_mended() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::create(directory.path(), ID, &agent(), 1).unwrap();
    let records = [said(1, "a"), model_call(2, vec![call(1)])];
    log.append_all(&records).unwrap();
    fs::OpenOptions::new().append(true).open(log.path()).unwrap().write_all(b"{\"rec").unwrap();
    let before = fs::read(log.path()).unwrap();
    let opened = store::read(directory.path(), ID).unwrap();
    assert_eq!((&opened.records[..], &opened.notices[..]), (&records[..], &[][..]));
    assert_eq!(fs::read(log.path()).unwrap(), before);
    assert!(matches!(store::read(directory.path(), "absent"), Err(StoreError::Unknown { .. })));
}

#[test]
fn p16_after_a_crash_the_result_of_an_edited_call_still_begins_with_what_was_allowed() {
    let allowed =
        |call, arguments| Record::Allowed { at: 3, call: CallId(call), answer: Answer::AllowedOnce, arguments };
    let records = [
        said(1, "a"),
        model_call(2, vec![call(1), call(2)]),
        allowed(1, Some(serde_json::json!({"name": "misc"}))),
        allowed(2, None),
    ];
    let texts: Vec<_> = store::repair(&records)
        .into_iter()
        .filter_map(|record| match record {
            Record::CallEnded { answer, text, .. } => Some((answer, text.lines().next().unwrap().to_owned())),
            _ => None,
        })
        .collect();
    let [(Some(Answer::AllowedOnce), edited), (Some(Answer::AllowedOnce), own)] = texts.as_slice() else {
        panic!("{texts:?}")
    };
    assert!(edited.ends_with(r#"What was allowed: {"name":"misc"}"#), "{edited}");
    assert!(own.starts_with("Interrupted:"), "{own}");
}

#[test]
fn r12_loads_come_from_recorded_endings_once_each_in_first_loaded_order() {
    let records = [
        said(1, "load todo, memory and documents"),
        model_call(2, (1..=6).map(call).collect()),
        loaded(3, 2, "todo"),
        loaded(4, 1, "memory"),
        // Denied, failed and already loaded ones are no loads, whatever their text says.
        Record::CallEnded {
            at: 5,
            call: CallId(3),
            ending: Ending::NotAllowed,
            answer: Some(Answer::Denied),
            text: "Loaded 'documents'".into(),
            note: None,
            took_ms: 0,
        },
        ended(6, 4, Ending::Failed),
        ended(7, 5, Ending::Ok),
        loaded(8, 6, "todo"),
        Record::Preloaded { toolset: "documents".into() },
    ];
    assert_eq!(loads(&records), ["todo", "memory"]);
}

#[test]
fn the_list_is_newest_first_with_titles_and_turns() {
    let directory = tempfile::tempdir().unwrap();
    let make = |id: &str, created: i64, records: &[Record]| {
        Log::create(directory.path(), id, &agent(), created).unwrap().append_all(records).unwrap();
    };
    make("aaaaaaa1", 1, &[said(10, "  first\n\nwords  "), over(11), said(12, "more"), over(50)]);
    make("aaaaaaa2", 2, &[said(20, "ignored"), over(21), Record::Titled { title: "Given\u{1b} title".into() }]);
    make("aaaaaaa3", 30, &[]);
    make("aaaaaaa4", 3, &[said(5, &"long ".repeat(100))]);
    fs::write(directory.path().join("notes.txt"), "x").unwrap();
    fs::write(directory.path().join("torn.jsonl"), "{\"rec").unwrap();
    let listing = store::list(directory.path(), Some("aaaaaaa2")).unwrap();
    let rows: Vec<(&str, &str, i64, u32, bool)> = listing
        .conversations
        .iter()
        .map(|row| (row.id.as_str(), row.title.as_str(), row.updated, row.turns, row.current))
        .collect();
    let long = format!("{}long…", "long ".repeat(15)).chars().take(79).collect::<String>() + "…";
    assert_eq!(
        rows,
        [
            ("aaaaaaa1", "first words", 50, 2, false),
            ("aaaaaaa3", "", 30, 0, false),
            ("aaaaaaa2", "Given title", 21, 1, true),
            ("aaaaaaa4", long.as_str(), 5, 1, false),
        ]
    );
    assert_eq!(listing.faults, ["torn.jsonl holds no whole line"]);
}

#[test]
fn a_conversation_is_attended_once_a_person_was_at_one_of_its_turns() {
    let directory = tempfile::tempdir().unwrap();
    let attendance = || store::list(directory.path(), None).unwrap().conversations[0].attendance;
    let turn = |attendance| match said(2, "hello") {
        Record::TurnStarted { at, message, agent, .. } => Record::TurnStarted { at, attendance, agent, message },
        other => other,
    };
    let mut log = Log::create(directory.path(), ID, &agent(), 1).unwrap();
    log.append(&Record::Titled { title: "named before a word was said".into() }).unwrap();
    assert_eq!(attendance(), Attendance::Attended, "only a person names one");
    log.append(&turn(Attendance::Unattended)).unwrap();
    assert_eq!(attendance(), Attendance::Unattended);
    log.append(&turn(Attendance::Attended)).unwrap();
    log.append(&turn(Attendance::Unattended)).unwrap();
    assert_eq!(attendance(), Attendance::Attended);
    // The sidecar of an older version, which did not know, is made again.
    let sidecar = directory.path().join("summaries.json");
    let old = fs::read_to_string(&sidecar).unwrap().replace("\"version\":2", "\"version\":1");
    fs::write(&sidecar, old.replace(",\"attended\":1", "")).unwrap();
    assert_eq!(attendance(), Attendance::Attended);
}

#[test]
fn the_list_is_the_same_with_a_kept_a_lost_and_a_damaged_sidecar() {
    let directory = tempfile::tempdir().unwrap();
    let sidecar = directory.path().join("summaries.json");
    let mut log = Log::create(directory.path(), ID, &agent(), 1).unwrap();
    let step = |records: &[Record], log: &mut Log| {
        log.append_all(records).unwrap();
        let kept = store::list(directory.path(), None).unwrap();
        fs::remove_file(&sidecar).unwrap();
        assert_eq!(store::list(directory.path(), None).unwrap(), kept);
        fs::write(&sidecar, "{\"version\":1,\"conv").unwrap();
        assert_eq!(store::list(directory.path(), None).unwrap(), kept);
        kept.conversations[0].clone()
    };
    assert_eq!(step(&[said(2, "hello"), over(3)], &mut log).turns, 1);
    let row = step(&[said(4, "again"), over(5), Record::Titled { title: "T".into() }], &mut log);
    assert_eq!((row.turns, row.title.as_str(), row.updated), (2, "T", 5));
    drop(log);
    // A torn line that is cut off and written over is not counted twice or lost.
    let mut bytes = fs::read(path(directory.path())).unwrap();
    bytes.extend_from_slice(&[b'x'; 40]);
    fs::write(path(directory.path()), &bytes).unwrap();
    assert_eq!(store::list(directory.path(), None).unwrap().conversations[0].turns, 2);
    let (mut log, _) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(step(&[said(6, "third"), over(7)], &mut log).turns, 3);
    drop(log);
    store::rename(directory.path(), ID, "New").unwrap();
    assert_eq!(store::list(directory.path(), None).unwrap().conversations[0].title, "New");
    store::remove(directory.path(), ID).unwrap();
    assert_eq!(store::list(directory.path(), None).unwrap(), store::Listing::default());
    assert_eq!(store::list(&directory.path().join("absent"), None).unwrap(), store::Listing::default());
}

#[test]
fn a_conversation_is_found_by_the_beginning_of_its_id() {
    let directory = tempfile::tempdir().unwrap();
    for id in ["abcdef-1", "abcdef-2", "abcdefgh", "short"] {
        drop(Log::create(directory.path(), id, &agent(), 1).unwrap());
    }
    let find = |prefix: &str| store::find(directory.path(), prefix);
    assert_eq!(find("abcdefg").unwrap(), "abcdefgh");
    assert_eq!(find("short").unwrap(), "short", "a whole id may be short");
    assert!(matches!(find("abcde"), Err(StoreError::TooShort { .. })));
    assert!(matches!(find("abcdex"), Err(StoreError::Unknown { .. })));
    let error = find("abcdef").unwrap_err();
    assert_eq!(error.to_string(), "'abcdef' names 3 conversations: abcdefgh, abcdef-2, abcdef-1");
}

// Every cut.

/// Turns with calls of which some have results, as a run writes them.
fn histories() -> impl Strategy<Value = Vec<Record>> {
    let ending = prop_oneof![
        Just(Ending::Ok),
        Just(Ending::Failed),
        Just(Ending::Interrupted),
        Just(Ending::Loaded { toolset: "todo".into() }),
    ];
    let round = (prop::collection::vec(ending, 0..4), "\\PC{0,12}");
    let turn = ("[a-zü\"\\\\\n ]{0,20}", prop::collection::vec(round, 0..3));
    prop::collection::vec(turn, 0..4).prop_map(|turns| {
        let (mut records, mut at, mut next) = (Vec::new(), 100, 1);
        for (words, rounds) in turns {
            records.push(said(at, &words));
            for (endings, text) in rounds {
                let first = next;
                next += endings.len() as u64;
                let mut parts = vec![Part::Text { text }];
                parts.extend((first..next).map(call));
                records.push(model_call(at + 1, parts));
                // Results in another order than the calls.
                records.extend(endings.into_iter().zip(first..).map(|(ending, id)| ended(at + 2, id, ending)));
                let results = records.len() - usize::try_from(next - first).unwrap();
                records[results..].reverse();
                at += 10;
            }
            records.push(over(at));
        }
        records
    })
}

/// What must hold after a log was cut after `cut` bytes and reopened, twice.
fn reopens(bytes: &[u8], records: &[Record], cut: usize) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(path(directory.path()), &bytes[..cut]).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    if cut < header {
        assert!(matches!(Log::open(directory.path(), ID), Err(StoreError::NoHeader { .. })));
        return;
    }
    // A line whose end alone is missing is whole too.
    let next_is_end = bytes.get(cut) == Some(&b'\n');
    let lines = bytes[..cut].iter().filter(|byte| **byte == b'\n').count() + usize::from(next_is_end);
    let kept = &records[..lines - 1];
    let (log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(&opened.records[..kept.len()], kept, "nothing of a whole line is lost");
    let mut endings: BTreeMap<CallId, usize> = BTreeMap::new();
    for record in &opened.records {
        match record {
            Record::ModelCall { message, .. } => endings.extend(message.calls().map(|call| (call.id, 0))),
            Record::CallEnded { call, .. } => *endings.get_mut(call).unwrap() += 1,
            _ => {}
        }
    }
    assert!(endings.values().all(|count| *count == 1), "{endings:?}");
    assert!(matches!(opened.records.last(), None | Some(Record::TurnEnded { .. })));
    assert_eq!(opened.records[kept.len()..], store::repair(kept));
    drop(log);
    let (_, again) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(again.records, opened.records);
    assert_eq!(again.notices, []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_of_a_log_reopens_with_one_ending_for_every_call(records in histories(), at in any::<prop::sample::Index>()) {
        let directory = tempfile::tempdir().unwrap();
        let bytes = written(directory.path(), &records);
        reopens(&bytes, &records, at.index(bytes.len() + 1));
    }

    #[test]
    fn repaired_histories_need_no_repair(records in histories(), at in any::<prop::sample::Index>()) {
        let mut records = records;
        records.truncate(at.index(records.len() + 1));
        records.extend(store::repair(&records));
        prop_assert_eq!(store::repair(&records), []);
    }
}

#[test]
fn a_log_reopens_from_every_kind_of_cut() {
    let directory = tempfile::tempdir().unwrap();
    let records = [
        said(1, "ä"),
        model_call(2, vec![call(1), call(2)]),
        ended(3, 2, Ending::Ok),
        ended(4, 1, Ending::Ok),
        over(5),
    ];
    let bytes = written(directory.path(), &records);
    // Every byte around a line's end, and a sample of those inside.
    let near_an_end = |cut: usize| bytes[cut.saturating_sub(3)..(cut + 3).min(bytes.len())].contains(&b'\n');
    for cut in (0..=bytes.len()).filter(|cut| cut % 7 == 0 || near_an_end(*cut)) {
        reopens(&bytes, &records, cut);
    }
}
