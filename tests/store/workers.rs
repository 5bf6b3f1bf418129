//! Workers in a log: their lines on the disk, and what is mended of them after a crash.

use std::fs;

use kokua::access::{AgentName, Answer, Attendance, ToolsetName};
use kokua::agent::{CallId, Ending, Ground, NodeId, Record, Spawned, TurnEnd, UserMessage, UserOrigin};
use kokua::store::{self, Log};
use pretty_assertions::assert_eq;

use super::{ID, call, ended, model_call, over, path, said, written};

fn of(node: u32, record: Record) -> Record {
    record.of(NodeId(node))
}

fn spawned(at: i64, node: u32, by: CallId) -> Record {
    let spawned = Spawned {
        at,
        call: by,
        agent: AgentName::new("researcher"),
        address: format!("researcher#{node}"),
        task: "look".into(),
        model: "tiny:1b".into(),
        ground: Ground::Foreground,
        toolsets: Vec::new(),
    };
    of(node, Record::Spawned(Box::new(spawned)))
}

fn begins(at: i64, node: u32) -> Record {
    let message = UserMessage { text: "look".into(), origin: UserOrigin::Person };
    let agent = Some(AgentName::new("researcher"));
    of(node, Record::TurnStarted { at, attendance: Attendance::Attended, agent, message })
}

const fn id(node: u32, number: u32) -> CallId {
    CallId::of(NodeId(node), number)
}

fn calls(at: i64, node: u32, numbers: impl IntoIterator<Item = u32>) -> Record {
    of(node, model_call(at, numbers.into_iter().map(|number| call(id(node, number).0)).collect()))
}

fn ends(at: i64, node: u32, number: u32) -> Record {
    of(node, ended(at, id(node, number).0, Ending::Ok))
}

/// The entry agent spawned 1 and 2, 1 spawned 3; 2 has ended.
fn at_work() -> Vec<Record> {
    vec![
        said(1, "go"),
        calls(2, 0, [1, 2]),
        spawned(3, 1, id(0, 1)),
        begins(3, 1),
        spawned(4, 2, id(0, 2)),
        begins(4, 2),
        calls(5, 1, [1]),
        spawned(6, 3, id(1, 1)),
        begins(6, 3),
        calls(7, 3, [1, 2, 3]),
        of(3, Record::Allowed { at: 8, call: id(3, 3), answer: Answer::AllowedOnce, arguments: None }),
        ends(8, 3, 2),
        of(2, over(9)),
        ends(9, 0, 2),
    ]
}

#[test]
fn each_line_is_what_it_was() {
    let composed = Spawned {
        at: 6,
        call: id(3, 1),
        agent: AgentName::new("composed:helper"),
        address: "helper#1".into(),
        task: "help".into(),
        model: "tiny:1b".into(),
        ground: Ground::Background,
        toolsets: vec![ToolsetName::new("fs"), ToolsetName::new("compute")],
    };
    let records = [
        spawned(3, 1, id(0, 2)),
        ends(4, 1, 7),
        of(1, over(5)),
        of(4, Record::Spawned(Box::new(composed))),
        Record::Queued { at: 6, text: "é\n".into() },
        Record::Undelivered { at: 7, from: "researcher#1".into(), to: "everyone".into(), text: "é\n".into() },
    ];
    let lines = [
        r#"{"record":"worker","node":1,"of":{"record":"spawned","at":3,"spawned_by":2,"agent":"researcher","address":"researcher#1","task":"look","model":"tiny:1b","ground":"foreground"}}"#,
        r#"{"record":"worker","node":1,"of":{"record":"call_ended","at":4,"call":4294967303,"ending":"ok","text":"done","took_ms":7}}"#,
        r#"{"record":"worker","node":1,"of":{"record":"turn_ended","at":5,"end":"answered"}}"#,
        r#"{"record":"worker","node":4,"of":{"record":"spawned","at":6,"spawned_by":12884901889,"agent":"composed:helper","address":"helper#1","task":"help","model":"tiny:1b","ground":"background","toolsets":["fs","compute"]}}"#,
        r#"{"record":"queued","at":6,"text":"é\n"}"#,
        r#"{"record":"undelivered","at":7,"from":"researcher#1","to":"everyone","text":"é\n"}"#,
    ];
    let directory = tempfile::tempdir().unwrap();
    let text = String::from_utf8(written(directory.path(), &records)).unwrap();
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), lines);
    let opened = store::read(directory.path(), ID).unwrap();
    // A result whose call is not there is left out.
    let kept: Vec<_> = records.iter().filter(|record| !matches!(record.whose().1, Record::CallEnded { .. })).collect();
    assert_eq!(opened.records.iter().collect::<Vec<_>>(), kept);
}

#[test]
fn a_crash_with_workers_ends_everybody_those_below_first() {
    let directory = tempfile::tempdir().unwrap();
    let records = at_work();
    written(directory.path(), &records);
    let (log, opened) = Log::open(directory.path(), ID).unwrap();
    assert_eq!(opened.records[..records.len()], records);
    let mended: Vec<_> = opened.records[records.len()..]
        .iter()
        .map(|record| match record.whose() {
            (node, Record::CallEnded { at: 9, call, ending: Ending::Interrupted, answer, .. }) => {
                assert_eq!(call.node(), node);
                let answer = if answer.is_some() { ", allowed" } else { "" };
                format!("{node} {call}{answer}")
            }
            (node, Record::TurnEnded { at: 9, end: TurnEnd::Interrupted }) => format!("{node} ends"),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "agent-3 call-3.1",
        "agent-3 call-3.3, allowed",
        "agent-3 ends",
        "agent-1 call-1.1",
        "agent-1 ends",
        "agent-0 call-1",
        "agent-0 ends",
    ];
    assert_eq!(mended, expected);
    assert!(opened.notices[0].message.starts_with("4 calls had no result"), "{:?}", opened.notices);
    drop(log);
    let (_, again) = Log::open(directory.path(), ID).unwrap();
    assert_eq!((again.records, again.notices), (opened.records, vec![]));
}

#[test]
fn a_worker_that_had_not_begun_has_its_end() {
    let records = [said(1, "go"), calls(2, 0, [1]), spawned(3, 1, id(0, 1))];
    let end = Record::TurnEnded { at: 3, end: TurnEnd::Interrupted };
    let repairs = store::repair(&records);
    assert_eq!((repairs.len(), repairs.first(), repairs.last()), (3, Some(&of(1, end.clone())), Some(&end)));
}

#[test]
fn every_beginning_of_a_log_with_workers_is_mended_whole() {
    let records = at_work();
    for cut in 0..=records.len() {
        let mut records = records[..cut].to_vec();
        records.extend(store::repair(&records));
        assert_eq!(store::repair(&records), [], "after {cut}");
        let of = |wanted: fn(&Record) -> bool| records.iter().filter(|record| wanted(record.whose().1)).count();
        let begun = of(|record| matches!(record, Record::Spawned(_)))
            + records.iter().filter(|record| matches!(record, Record::TurnStarted { .. })).count();
        assert_eq!(of(|record| matches!(record, Record::TurnEnded { .. })), begun, "after {cut}");
        assert!(matches!(records.last(), None | Some(Record::TurnEnded { .. })), "the entry agent's end is the last");
    }
}

#[test]
fn a_result_is_its_own_agents_or_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut records = at_work();
    let stray = [of(1, ended(9, id(3, 1).0, Ending::Ok)), ended(9, id(3, 1).0, Ending::Ok), ends(9, 3, 2)];
    records.extend(stray.iter().cloned());
    written(directory.path(), &records);
    let opened = store::read(directory.path(), ID).unwrap();
    assert_eq!(opened.records, at_work());
    assert!(opened.notices[0].message.contains("3 tool results belong to no call"), "{:?}", opened.notices);
}

#[test]
fn a_workers_line_that_cannot_be_read_takes_its_results_along_and_nobody_elses() {
    let directory = tempfile::tempdir().unwrap();
    let text = String::from_utf8(written(directory.path(), &at_work())).unwrap();
    let damaged: Vec<_> =
        text.lines().filter(|line| !line.contains(r#""node":3,"of":{"record":"model_call""#)).collect();
    fs::write(path(directory.path()), damaged.join("\n") + "\n").unwrap();
    let (_log, opened) = Log::open(directory.path(), ID).unwrap();
    assert!(opened.notices[0].message.contains("1 tool result belongs to no call"), "{:?}", opened.notices);
    assert!(opened.notices[1].message.starts_with("2 calls had no result"), "{:?}", opened.notices);
}
