//! K5: the chain on the disk. Whatever is changed, dropped, swapped or cut is found; crashes and neighbours are not.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use kokua::access::audit::{Draft, Entry, Head, Outcome, PastCall, What};
use kokua::access::{AgentName, Attendance};
use kokua::agent::Record;
use kokua::store::audit::{LONGEST, Verification, verify};
use kokua::store::{self, AuditLog, Log};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{ID, agent, over, said};

fn draft(number: u64, arguments: &str) -> Draft {
    let past = PastCall {
        call: number,
        wire: "read_file".to_owned(),
        tool: None,
        definition: None,
        arguments: None,
        attendance: Attendance::Attended,
        gate: None,
        answer: None,
        outcome: Outcome::Dispatched,
    };
    let what = What::Call(Box::new(past));
    let entry =
        Entry { at: 7, conversation: Some(ID.to_owned()), agent: Some(AgentName::new("assistant")), node: 0, what };
    Draft::about(entry, arguments.to_owned())
}

/// A log of so many entries, and a conversation that noted its head.
fn kept(data: &Path, entries: u64) -> AuditLog {
    let log = AuditLog::new(data);
    let mut head = None;
    for number in 1..=entries {
        head = Some(log.append(draft(number, "{}")).unwrap().head);
    }
    note(data, ID, head.unwrap());
    log
}

fn note(data: &Path, id: &str, head: Head) {
    let mut conversation = Log::create(&store::directory(data), id, &agent(), 1).unwrap();
    conversation.append_all(&[said(1, "hello"), Record::AuditHead(head), over(2)]).unwrap();
}

fn verified(data: &Path) -> Verification {
    verify(&AuditLog::new(data), &store::directory(data)).unwrap()
}

fn faults(data: &Path) -> Vec<String> {
    verified(data).faults.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Changes the lines of the log.
fn meddle(log: &AuditLog, how: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(log.path()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    how(&mut lines);
    fs::write(log.path(), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn k5_each_line_holds_the_hash_of_the_one_before_and_a_digest_in_place_of_arguments() {
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 3);
    log.append(draft(4, "{\"path\":\"secret\"}")).unwrap();
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(!text.contains("secret"));
    assert_eq!(verified(data.path()), Verification { entries: 4, heads: 1, ..Verification::default() });
    let read = log.read().unwrap();
    assert_eq!(read.entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let digests: Vec<String> = read
        .entries
        .into_iter()
        .filter_map(|entry| match entry.entry.what {
            What::Call(call) => call.arguments,
            _ => None,
        })
        .collect();
    assert!(digests[0] == digests[1] && digests[0] != digests[3], "equal arguments have equal digests");
    // Another home has another key.
    let other = tempfile::tempdir().unwrap();
    let read = kept(other.path(), 1).read().unwrap();
    assert!(matches!(&read.entries[0].entry.what, What::Call(call) if call.arguments.as_ref() != Some(&digests[0])));
}

#[test]
fn k5_no_log_is_no_fault_until_a_conversation_noted_one() {
    let data = tempfile::tempdir().unwrap();
    assert_eq!(verified(data.path()), Verification::default());
    assert_eq!(AuditLog::new(data.path()).read().unwrap(), store::audit::Read::default());
    let log = kept(data.path(), 2);
    fs::remove_file(log.path()).unwrap();
    let cut = format!("entries 1 to 2 were cut off: conversation {ID} noted entry 2");
    assert_eq!(faults(data.path()), [cut]);
    // What is begun anew is not what was noted.
    log.append(draft(1, "{}")).unwrap();
    assert_eq!(faults(data.path()), [format!("entry 2 was cut off: conversation {ID} noted entry 2")]);
    log.append(draft(2, "{\"other\":1}")).unwrap();
    assert_eq!(faults(data.path()), [format!("entry 2 was changed: conversation {ID} noted another hash of it")]);
}

#[test]
fn k5_what_is_wrong_is_said_by_the_entry() {
    let wrong = |how: &dyn Fn(&mut Vec<String>)| {
        let data = tempfile::tempdir().unwrap();
        let log = kept(data.path(), 6);
        meddle(&log, how);
        faults(data.path())
    };
    let changed = wrong(&|lines| lines[2] = lines[2].replace("dispatched", "not_allowed"));
    assert_eq!(changed, ["entry 3 was changed: entry 4 has another hash of it"]);
    let last = wrong(&|lines| lines[5] = lines[5].replace("dispatched", "not_allowed"));
    assert_eq!(last, [format!("entry 6 was changed: conversation {ID} noted another hash of it")]);
    let dropped = wrong(&|lines| drop(lines.drain(1..3)));
    assert_eq!(dropped, ["entries 2 to 3 were dropped before entry 4"]);
    let first = wrong(&|lines| drop(lines.remove(0)));
    assert_eq!(first, ["entry 1 was dropped before entry 2"]);
    let swapped = wrong(&|lines| lines.swap(2, 3));
    assert_eq!(
        swapped,
        [
            "entry 3 was moved: it stands in line 4",
            "entry 4 was moved: it stands in line 3",
            "entry 5 was moved: it stands in line 5"
        ]
    );
    let cut = wrong(&|lines| lines.truncate(4));
    assert_eq!(cut, [format!("entries 5 to 6 were cut off: conversation {ID} noted entry 6")]);
    let text = wrong(&|lines| lines[1] = "not an entry".to_owned());
    assert_eq!(text, ["line 2, where entry 2 was, is not an entry: expected ident"]);
    let renumbered = wrong(&|lines| lines[1] = lines[1].replace("\"n\":2", "\"n\":9"));
    assert_eq!(renumbered, ["entry 2 was changed: it calls itself 9"]);
}

#[test]
fn k5_a_log_that_was_written_anew_from_some_entry_on_is_found_by_what_was_noted() {
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 4);
    // Whoever can write the log can write a chain that fits; what conversations noted still tells.
    meddle(&log, |lines| lines.truncate(1));
    for number in 2..=5 {
        log.append(draft(number, "{\"forged\":true}")).unwrap();
    }
    assert_eq!(faults(data.path()), [format!("entry 4 was changed: conversation {ID} noted another hash of it")]);
}

#[test]
fn k5_a_line_cut_off_by_a_crash_is_said_and_the_next_append_starts_right() {
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 3);
    let whole = fs::read(log.path()).unwrap();
    let torn = br#"{"v":1,"n":4,"before":"#;
    fs::OpenOptions::new().append(true).open(log.path()).unwrap().write_all(torn).unwrap();
    let found = verified(data.path());
    assert_eq!(found.faults, []);
    assert_eq!(
        found.notices,
        [format!("line 4 was cut off while it was written ({} bytes); the next entry takes its place", torn.len())]
    );
    assert_eq!(log.read().unwrap().entries.len(), 3);
    let appended = log.append(draft(4, "{}")).unwrap();
    assert_eq!((appended.head.entries, appended.torn), (4, Some(torn.len() as u64)));
    assert_eq!(fs::read(log.path()).unwrap()[..whole.len()], whole);
    let found = verified(data.path());
    assert_eq!((found.entries, found.faults, found.notices), (4, vec![], vec![]));
    // The very first line, too.
    let data = tempfile::tempdir().unwrap();
    let log = AuditLog::new(data.path());
    fs::create_dir_all(log.path().parent().unwrap()).unwrap();
    fs::write(log.path(), "{\"v\"").unwrap();
    assert_eq!(log.append(draft(1, "{}")).unwrap().head.entries, 1);
    assert_eq!(verified(data.path()).faults, []);
}

#[test]
fn k5_appending_after_a_damaged_line_goes_on_and_the_damage_stays_found() {
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 3);
    meddle(&log, |lines| lines[2] = "gibberish".to_owned());
    assert_eq!(log.append(draft(4, "{}")).unwrap().head.entries, 4);
    assert_eq!(faults(data.path()), ["line 3, where entry 3 was, is not an entry: expected value"]);
}

#[test]
fn k5_two_that_append_at_once_make_one_chain() {
    let data = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4_u64 {
            // Each has a handle of its own, as another process has: the lock is the file's.
            let log = AuditLog::new(data.path());
            scope.spawn(move || {
                for number in 0..25 {
                    log.append(draft(writer * 100 + number, "{}")).unwrap();
                }
            });
        }
    });
    let found = verified(data.path());
    assert_eq!((found.entries, found.faults, found.notices), (100, vec![], vec![]));
    let keys = fs::read_dir(data.path().join("audit")).unwrap().count();
    assert_eq!(keys, 2, "the log and one key");
}

#[test]
fn k5_what_cannot_be_written_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 2);
    let before = fs::read(log.path()).unwrap();
    let mut entry = draft(3, "{}").entry().clone();
    entry.what =
        What::LoadFailed { call: 1, toolset: kokua::access::ToolsetName::new("fs"), error: "x".repeat(LONGEST) };
    let error = log.append(Draft::new(entry)).unwrap_err();
    assert!(error.to_string().ends_with("and 262144 is the most"), "{error}");
    let key = data.path().join("audit/key");
    let kept_key = fs::read(&key).unwrap();
    fs::write(&key, "short").unwrap();
    let error = log.append(draft(3, "{}")).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is not the key of an audit log", key.display()));
    assert!(error.hint().is_some());
    assert_eq!(fs::read(log.path()).unwrap(), before);
    fs::write(&key, kept_key).unwrap();
    log.append(draft(3, "{}")).unwrap();
    // A last line that this program never wrote is not guessed about.
    fs::OpenOptions::new()
        .append(true)
        .open(log.path())
        .unwrap()
        .write_all("y".repeat(9 * LONGEST).as_bytes())
        .unwrap();
    assert!(log.append(draft(4, "{}")).unwrap_err().to_string().contains("too long to be an entry"));
}

#[cfg(unix)]
#[test]
fn k5_the_log_and_its_key_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let log = kept(data.path(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = log.path().parent().unwrap();
    assert_eq!((mode(folder), mode(log.path()), mode(&folder.join("key"))), (0o700, 0o600, 0o600));
    assert_eq!(fs::read(folder.join("key")).unwrap().len(), 32);
}

/// What somebody does to a log.
#[derive(Debug, Clone)]
enum Meddling {
    /// Changes one bit of a byte.
    Change(prop::sample::Index, u8),
    Drop(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
    /// Cuts the file at a byte.
    Cut(prop::sample::Index),
}

fn meddling() -> impl Strategy<Value = Meddling> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), 0..8_u8).prop_map(|(place, bit)| Meddling::Change(place, bit)),
        index().prop_map(Meddling::Drop),
        (index(), index()).prop_map(|(one, other)| Meddling::Swap(one, other)),
        (index(), index()).prop_map(|(one, to)| Meddling::Repeat(one, to)),
        index().prop_map(Meddling::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn k5_whatever_is_changed_dropped_swapped_or_cut_is_found(entries in 1..9_u64, done in meddling()) {
        let data = tempfile::tempdir().unwrap();
        let log = kept(data.path(), entries);
        let before = fs::read(log.path()).unwrap();
        let mut lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
        let after = match done {
            Meddling::Change(place, bit) => {
                let mut bytes = before.clone();
                bytes[place.index(before.len())] ^= 1 << bit;
                bytes
            }
            Meddling::Drop(which) => {
                lines.remove(which.index(lines.len()));
                lines.concat()
            }
            Meddling::Swap(one, other) => {
                let count = lines.len();
                lines.swap(one.index(count), other.index(count));
                lines.concat()
            }
            Meddling::Repeat(which, to) => {
                let line = lines[which.index(lines.len())];
                lines.insert(to.index(lines.len() + 1), line);
                lines.concat()
            }
            Meddling::Cut(place) => before[..place.index(before.len())].to_vec(),
        };
        fs::write(log.path(), &after).unwrap();
        let found = verified(data.path());
        prop_assert_eq!(found.faults.is_empty(), after == before, "{:?}", found);
    }
}
