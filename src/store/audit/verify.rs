//! Whether the audit log is what was written: the chain of its lines, and the heads that conversations noted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::super::catalogue::ids;
use super::super::error::StoreError;
use super::super::{path_of, stored};
use super::{AuditLog, GENESIS, Link, hash};
use crate::access::audit::Head;
use crate::system::FileError;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Entries in the log.
    pub entries: u64,
    /// Heads that conversations noted.
    pub heads: usize,
    /// One sentence for each thing that is wrong, by the number of its entry.
    pub faults: Vec<(u64, String)>,
    /// What is worth knowing and no fault: a line that a crash cut off, a conversation that can't be read.
    pub notices: Vec<String>,
}

/// A head that a conversation's log noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// Which conversation.
    pub conversation: String,
    /// The head.
    pub head: Head,
}

/// The heads in the conversation logs of `directory`, and a fragment for each log that can't be read.
///
/// # Errors
/// The directory can't be read.
pub fn heads(directory: &Path) -> Result<(Vec<Noted>, Vec<String>), StoreError> {
    let (mut noted, mut unread) = (Vec::new(), Vec::new());
    let mut ids = ids(directory)?;
    ids.sort();
    for id in ids {
        let path = path_of(directory, &id)?;
        match heads_of(&path) {
            Ok(heads) => noted.extend(heads.into_iter().map(|head| Noted { conversation: id.clone(), head })),
            // Removed since the directory was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => unread.push(FileError::at("read", &path)(error).to_string()),
        }
    }
    Ok((noted, unread))
}

fn heads_of(path: &Path) -> io::Result<Vec<Head>> {
    #[derive(Deserialize)]
    struct Stored {
        #[serde(flatten)]
        head: Head,
    }
    const KIND: &[u8] = br#"{"record":"audit_head""#;
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let (mut line, mut heads) = (Vec::new(), Vec::new());
    while reader.read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(KIND)
            && let Ok(Stored { head }) = serde_json::from_slice(&line)
        {
            heads.push(head);
        }
        line.clear();
    }
    Ok(heads)
}

/// Verifies the log of `data` against itself and against the heads in the conversations of `conversations`: finds an entry
/// that was changed, dropped, reordered or cut off.
///
/// # Errors
/// The log or the folder can't be read.
pub fn verify(log: &AuditLog, conversations: &Path) -> Result<Verification, StoreError> {
    // Before the log: what is noted then is in it already.
    let (noted, unread) = heads(conversations)?;
    let mut chain = Chain::default();
    let mut torn = None;
    log.each(|number, line, ended| {
        if ended {
            chain
                .lines
                .push((hash(line), serde_json::from_slice::<Link>(line).map_err(|error| stored::reason(&error))));
        } else {
            torn = Some((number, line.len()));
        }
    })?;
    let mut found = chain.verified(&noted);
    found.notices.extend(torn.map(|(number, bytes)| {
        format!("line {number} was cut off while it was written ({bytes} bytes); the next entry takes its place")
    }));
    found.notices.extend(unread);
    Ok(found)
}

/// The lines as they are: the hash of each, and what it says of the chain, or why it says nothing.
#[derive(Default)]
struct Chain {
    lines: Vec<(String, Result<Link, String>)>,
}

impl Chain {
    fn verified(self, noted: &[Noted]) -> Verification {
        let present: BTreeSet<u64> =
            self.lines.iter().filter_map(|(_, link)| link.as_ref().ok().map(|link| link.n)).collect();
        let mut faults: BTreeMap<u64, String> = BTreeMap::new();
        let mut wrong = |entry: u64, sentence: String| {
            faults.entry(entry).or_insert(sentence);
        };
        let mut hashes: BTreeMap<u64, &str> = BTreeMap::new();
        // The number and hash of the line before, and whether it is known to be damaged.
        let (mut last, mut before, mut damaged) = (0_u64, GENESIS, false);
        for (line, (hash, link)) in (1_u64..).zip(&self.lines) {
            // No log has as many; one that says so was changed.
            let follows = last.saturating_add(1);
            let number = match link {
                Err(reason) => {
                    wrong(follows, format!("line {line}, where entry {follows} was, is not an entry: {reason}"));
                    follows
                }
                Ok(link) if link.before == before && link.n != follows => {
                    wrong(follows, format!("entry {follows} was changed: it calls itself {}", link.n));
                    follows
                }
                Ok(link) if link.n == follows => {
                    if link.before != before && !damaged {
                        let changed = last.max(1);
                        wrong(changed, format!("entry {changed} was changed: {}", it_was(last, link.n)));
                    }
                    link.n
                }
                Ok(link) => {
                    let missing: Vec<u64> = if link.n > follows {
                        (follows..link.n).filter(|number| !present.contains(number)).take(2).collect()
                    } else {
                        Vec::new()
                    };
                    match missing.first() {
                        Some(first) => wrong(*first, dropped(follows, link.n, &present)),
                        None => wrong(link.n, format!("entry {} was moved: it stands in line {line}", link.n)),
                    }
                    link.n
                }
            };
            hashes.insert(number, hash);
            (last, before, damaged) = (number, hash, link.is_err());
        }
        let entries = self.lines.len() as u64;
        let end = hashes.keys().next_back().copied().unwrap_or(0);
        if let Some(Noted { conversation, head }) = noted.iter().max_by_key(|noted| noted.head.entries)
            && head.entries > end
        {
            let cut = end + 1;
            let which = span(cut, head.entries);
            wrong(cut, format!("{which} cut off: conversation {conversation} noted entry {}", head.entries));
        }
        for Noted { conversation, head } in noted {
            if hashes.get(&head.entries).is_some_and(|hash| *hash != head.hash) {
                let entry = head.entries;
                wrong(
                    entry,
                    format!("entry {entry} was changed: conversation {conversation} noted another hash of it"),
                );
            }
        }
        Verification { entries, heads: noted.len(), faults: faults.into_iter().collect(), notices: Vec::new() }
    }
}

fn it_was(last: u64, next: u64) -> String {
    if last == 0 { "it does not begin the log".to_owned() } else { format!("entry {next} has another hash of it") }
}

fn dropped(from: u64, to: u64, present: &BTreeSet<u64>) -> String {
    let missing = |number: &u64| !present.contains(number);
    match ((from..to).find(missing), (from..to).rfind(missing)) {
        (Some(first), Some(last)) => format!("{} dropped before entry {to}", span(first, last)),
        _ => format!("something was dropped before entry {to}"),
    }
}

fn span(first: u64, last: u64) -> String {
    if first == last { format!("entry {first} was") } else { format!("entries {first} to {last} were") }
}
