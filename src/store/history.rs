//! What follows from a conversation's records alone. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::access::Answer;
use crate::agent::call::edited_unknown;
use crate::agent::{CallId, Ending, NodeId, Record, TurnEnd};

/// What the model reads as the result of a call that the program's end cut off.
const INTERRUPTED: &str = "Interrupted: the program ended before this call had a result. It may or may not have run.";

/// What must be written after `records` so that every call has its one ending and no turn is open: `Interrupted` for
/// each call without a result, in call order, then for the open turn; of workers first, the last one foremost, since they
/// end before who spawned them. Nothing for a history that ended in order. The time is the last one known, since nobody
/// knows when the program ended.
pub fn repair(records: &[Record]) -> Vec<Record> {
    let at = records.iter().rev().find_map(time).unwrap_or(0);
    let mut agents: BTreeMap<NodeId, Vec<&Record>> = BTreeMap::new();
    for record in records {
        match record {
            Record::Worker { node, of } => agents.entry(*node).or_default().push(of),
            record => agents.entry(NodeId::ENTRY).or_default().push(record),
        }
    }
    let repairs = agents.into_iter().rev().flat_map(|(node, records)| {
        let of_worker = move |record| Record::Worker { node, of: Box::new(record) };
        let repairs = repair_agent(&records, at).into_iter();
        repairs.map(move |record| if node.is_entry() { record } else { of_worker(record) })
    });
    repairs.collect()
}

/// [`repair`] for the records of one agent.
fn repair_agent(records: &[&Record], at: i64) -> Vec<Record> {
    let records = || records.iter().copied();
    let ended: BTreeSet<CallId> = records().filter_map(ended_call).collect();
    let allowed: BTreeMap<CallId, (&Answer, Option<&Value>)> = records()
        .filter_map(|record| match record {
            Record::Allowed { call, answer, arguments, .. } => Some((*call, (answer, arguments.as_ref()))),
            _ => None,
        })
        .collect();
    let calls = records().filter_map(|record| match record {
        Record::ModelCall { message, .. } => Some(message.calls().map(|call| call.id)),
        _ => None,
    });
    let mut repairs: Vec<Record> = calls
        .flatten()
        .filter(|call| !ended.contains(call))
        .map(|call| {
            let (answer, edited) = allowed.get(&call).copied().unzip();
            let edited = edited.flatten();
            let text = edited.map_or_else(|| INTERRUPTED.to_owned(), |what| edited_unknown(what, INTERRUPTED));
            let (ending, answer) = (Ending::Interrupted, answer.cloned());
            Record::CallEnded { at, call, ending, answer, text, note: None, took_ms: 0 }
        })
        .collect();
    let open = records().rev().find_map(|record| match record {
        Record::TurnStarted { .. } => Some(true),
        Record::TurnEnded { .. } => Some(false),
        _ => None,
    });
    // A worker whose first words were cut off was to begin its one turn.
    if open.unwrap_or_else(|| records().any(|record| matches!(record, Record::Spawned(_)))) {
        repairs.push(Record::TurnEnded { at, end: TurnEnd::Interrupted });
    }
    repairs
}

/// The title that was given last, if one was.
pub fn title(records: &[Record]) -> Option<&str> {
    records.iter().rev().find_map(|record| match record {
        Record::Titled { title } => Some(title.as_str()),
        _ => None,
    })
}

/// When a record was made, where it says so.
fn time(record: &Record) -> Option<i64> {
    match record {
        Record::TurnStarted { at, .. }
        | Record::Said { at, .. }
        | Record::ModelCall { at, .. }
        | Record::Allowed { at, .. }
        | Record::CallEnded { at, .. }
        | Record::Mode { at, .. }
        | Record::TurnEnded { at, .. } => Some(*at),
        Record::Undelivered { at, .. } => Some(*at),
        Record::Spawned(spawned) => Some(spawned.at),
        Record::Worker { of, .. } => time(of),
        Record::Titled { .. } | Record::Preloaded { .. } | Record::AuditHead(_) => None,
    }
}

/// A record without the word whose it is.
pub(super) fn bare(record: &Record) -> &Record {
    match record {
        Record::Worker { of, .. } => bare(of),
        record => record,
    }
}

fn ended_call(record: &Record) -> Option<CallId> {
    match record {
        Record::CallEnded { call, .. } => Some(*call),
        _ => None,
    }
}

/// Leaves out results that no call waits for: a second one for its call, or one whose call was on a line that could not
/// be read. A model's provider refuses a history with either. How many were left out.
pub(super) fn drop_stray_endings(records: &mut Vec<Record>) -> usize {
    let before = records.len();
    let mut waiting: BTreeSet<CallId> = BTreeSet::new();
    records.retain(|record| {
        let record = bare(record);
        if let Record::ModelCall { message, .. } = record {
            waiting.extend(message.calls().map(|call| call.id));
        }
        ended_call(record).is_none_or(|call| waiting.remove(&call))
    });
    before - records.len()
}
