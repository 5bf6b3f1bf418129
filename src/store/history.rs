//! What follows from a conversation's records alone. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::access::Answer;
use crate::agent::call::edited_unknown;
use crate::agent::{CallId, Ending, NodeId, Record, TurnEnd};

/// What the model reads as the result of a call that the program's end cut off.
const INTERRUPTED: &str = "Interrupted: the program ended before this call had a result. It may or may not have run.";

/// What must be written after `records` so that every call has its one ending and no turn is open: for each agent
/// `Interrupted` for each call without a result, in call order, then for the open turn. Everybody below an agent comes before
/// it, those spawned last first, as a stop would have ended them. Nothing for a history that ended in order. The time is the
/// last one known, since nobody knows when the program ended.
pub fn repair(records: &[Record]) -> Vec<Record> {
    let at = records.iter().rev().find_map(time).unwrap_or(0);
    let mut nodes: BTreeMap<NodeId, Vec<&Record>> = BTreeMap::new();
    for (node, record) in records.iter().map(Record::whose) {
        nodes.entry(node).or_default().push(record);
    }
    // A worker's number is above that of whoever spawned it.
    let mended = nodes.into_iter().rev().map(|(node, own)| (node, mend(&own, at)));
    mended.flat_map(|(node, repairs)| repairs.into_iter().map(move |record| record.of(node))).collect()
}

/// What must be written after the records of one agent.
fn mend(records: &[&Record], at: i64) -> Vec<Record> {
    let ended: BTreeSet<CallId> = records.iter().filter_map(|record| ended_call(record)).collect();
    let allowed: BTreeMap<CallId, (&Answer, Option<&Value>)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Allowed { call, answer, arguments, .. } => Some((*call, (answer, arguments.as_ref()))),
            _ => None,
        })
        .collect();
    let calls = records.iter().filter_map(|record| match record {
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
    let open = records.iter().rev().find_map(|record| match record {
        Record::TurnStarted { .. } | Record::Spawned(_) => Some(true),
        Record::TurnEnded { .. } => Some(false),
        _ => None,
    });
    if open == Some(true) {
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
        | Record::Queued { at, .. }
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

fn ended_call(record: &Record) -> Option<CallId> {
    match record {
        Record::CallEnded { call, .. } => Some(*call),
        _ => None,
    }
}

/// Leaves out results that no call of the same agent waits for: a second one for its call, or one whose call was on a line that could not
/// be read. A model's provider refuses a history with either. How many were left out.
pub(super) fn drop_stray_endings(records: &mut Vec<Record>) -> usize {
    let before = records.len();
    let mut waiting: BTreeSet<(NodeId, CallId)> = BTreeSet::new();
    records.retain(|record| {
        let (node, record) = record.whose();
        if let Record::ModelCall { message, .. } = record {
            waiting.extend(message.calls().map(|call| (node, call.id)));
        }
        ended_call(record).is_none_or(|call| waiting.remove(&(node, call)))
    });
    before - records.len()
}
