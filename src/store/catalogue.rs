//! All stored conversations: listed with a summary each, found by the beginning of an id, renamed, removed.
//!
//! Summaries are derived and kept in `summaries.json` beside the logs; only what was appended since is read again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::holder;
use super::log::{Log, absent_or};
use super::{EXTENSION, path_of};
use crate::access::Attendance;
use crate::access::name::shown;
use crate::agent::{Activity, ConversationSummary, Record};
use crate::system::{FileError, files};

/// Characters of an id that name it when no other id begins with them.
pub const SHORTEST_PREFIX: usize = 6;
/// Characters of a title in a list.
const TITLE: usize = 80;
/// The sidecar.
const SIDECAR: &str = "summaries.json";
/// A sidecar of another version is made again.
const SIDECAR_VERSION: u32 = 2;

/// The stored conversations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Newest first.
    pub conversations: Vec<ConversationSummary>,
    /// One fragment for each log that could not be read.
    pub faults: Vec<String>,
}

/// What is known of one log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Summary {
    /// The file's bytes and time of change when it was looked at.
    length: u64,
    modified: i64,
    /// Bytes up to the end of the last whole line then. A log only grows behind this.
    scanned: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The first words that were said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opening: Option<String>,
    updated: i64,
    turns: u32,
    /// Turns that a person was at.
    attended: u32,
}

/// The sidecar's content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Sidecar {
    version: u32,
    conversations: BTreeMap<String, Summary>,
}

/// As much of a line as a summary needs.
#[derive(Deserialize)]
struct Glance<'a> {
    #[serde(borrow)]
    record: std::borrow::Cow<'a, str>,
    at: Option<i64>,
    created: Option<i64>,
    title: Option<String>,
    message: Option<Words>,
    attendance: Option<Attendance>,
}

#[derive(Deserialize)]
struct Words {
    text: Option<String>,
}

/// Lists the conversations of `directory`, the newest first, without a lock on any. `current` is the one in view.
/// Whole logs are read only when the sidecar is missing.
///
/// # Errors
/// The directory cannot be read. One that is not there yet holds none.
pub fn list(directory: &Path, current: Option<&str>) -> Result<Listing, StoreError> {
    let sidecar_path = directory.join(SIDECAR);
    let mut known = read_sidecar(&sidecar_path);
    let mut fresh = Sidecar { version: SIDECAR_VERSION, conversations: BTreeMap::new() };
    let mut faults = Vec::new();
    let mut changed = false;
    for id in ids(directory)? {
        let before = known.conversations.remove(&id);
        match summarize(directory, &id, before.clone()) {
            // Not even a header: opening it would fail, and says how to go on.
            Ok(Some(Summary { scanned: 0, .. })) => faults.push(format!("{id}.{EXTENSION} holds no whole line")),
            Ok(Some(summary)) => {
                changed |= before.as_ref() != Some(&summary);
                fresh.conversations.insert(id, summary);
            }
            // Removed since the directory was read.
            Ok(None) => changed = true,
            Err(error) => faults.push(error.to_string()),
        }
    }
    // What is left was removed.
    changed |= !known.conversations.is_empty();
    if changed {
        write_sidecar(&sidecar_path, &fresh);
    }
    let mut conversations: Vec<ConversationSummary> = fresh
        .conversations
        .into_iter()
        .map(|(id, summary)| ConversationSummary {
            current: current == Some(id.as_str()),
            title: summary.title.or(summary.opening).unwrap_or_default(),
            updated: summary.updated,
            turns: summary.turns,
            activity: Activity::Idle,
            unread: false,
            // One that has no turn yet was begun to be named, which only a person does.
            attendance: if summary.turns > 0 && summary.attended == 0 {
                Attendance::Unattended
            } else {
                Attendance::Attended
            },
            id,
        })
        .collect();
    // Ids ascend with time, so they decide between equals.
    conversations.sort_by(|one, other| (other.updated, &other.id).cmp(&(one.updated, &one.id)));
    Ok(Listing { conversations, faults })
}

/// The id that `prefix` is or begins, when it begins only one.
///
/// # Errors
/// No such conversation, several, or a prefix under [`SHORTEST_PREFIX`] characters that is no whole id.
pub fn find(directory: &Path, prefix: &str) -> Result<String, StoreError> {
    path_of(directory, prefix)?;
    let mut matching: Vec<String> = ids(directory)?.into_iter().filter(|id| id.starts_with(prefix)).collect();
    if let Some(exact) = matching.iter().position(|id| id == prefix) {
        return Ok(matching.swap_remove(exact));
    }
    if prefix.len() < SHORTEST_PREFIX {
        return Err(StoreError::TooShort { prefix: prefix.to_owned() });
    }
    if matching.len() > 1 {
        matching.sort_by(|one, other| other.cmp(one));
        let count = matching.len();
        matching.truncate(3);
        return Err(StoreError::Ambiguous { prefix: prefix.to_owned(), count, examples: matching });
    }
    matching.pop().ok_or_else(|| StoreError::Unknown { id: prefix.to_owned() })
}

/// Removes a stored conversation for good. `id` is whole.
///
/// # Errors
/// There is none, somebody has it open (this process included), or the disk said no.
pub fn remove(directory: &Path, id: &str) -> Result<(), StoreError> {
    let path = path_of(directory, id)?;
    let file = File::open(&path).map_err(|error| absent_or(error, id, &path))?;
    holder::take(&file, &path).map_err(|error| named(error, directory, id))?;
    files::remove(&path)?;
    holder::clear(&path);
    Ok(())
}

/// `error` with the conversation's title in it, or else its id.
pub(super) fn named(error: StoreError, directory: &Path, id: &str) -> StoreError {
    match error {
        StoreError::Held { holder, .. } => {
            let known = read_sidecar(&directory.join(SIDECAR)).conversations.remove(id);
            let summary = summarize(directory, id, known).ok().flatten().unwrap_or_default();
            let title = summary.title.or(summary.opening).filter(|title| !title.is_empty());
            let conversation =
                title.map_or_else(|| format!("conversation {id}"), |title| format!("\"{}\"", shown(&title)));
            StoreError::Held { conversation, holder }
        }
        error => error,
    }
}

/// Titles a stored conversation that nobody has open. For an open one append [`Record::Titled`] to its [`Log`].
///
/// # Errors
/// As [`Log::open`] and [`Log::append`].
pub fn rename(directory: &Path, id: &str, title: &str) -> Result<(), StoreError> {
    let (mut log, _) = Log::open(directory, id)?;
    log.append(&Record::Titled { title: title.to_owned() })
}

/// Ids of every log in `directory`, in no order. None where there is no directory.
pub(super) fn ids(directory: &Path) -> Result<Vec<String>, StoreError> {
    let failed = FileError::at;
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read the directory", directory)(error).into()),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed("read the directory", directory))?.file_name();
        let path = Path::new(&name);
        if path.extension() == Some(OsStr::new(EXTENSION))
            && let Some(id) = path.file_stem().and_then(OsStr::to_str)
            && path_of(directory, id).is_ok()
        {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

/// The summary of a log, from what was known of it where that still holds. `None`: it is gone.
fn summarize(directory: &Path, id: &str, known: Option<Summary>) -> Result<Option<Summary>, StoreError> {
    let path = path_of(directory, id)?;
    let now = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FileError::at("look at", &path)(error).into()),
    };
    let start = match known {
        Some(known) if known.length == now.len() && known.modified == modified(&now) => return Ok(Some(known)),
        Some(known) if known.scanned <= now.len() && known.length != now.len() => known,
        Some(_) | None => Summary::default(),
    };
    scan(&path, &now, start).map(Some).map_err(|error| FileError::at("read", &path)(error).into())
}

/// Reads on from where `summary` ends. Lines that cannot be read count for nothing here; opening the log reports them.
fn scan(path: &Path, now: &Metadata, mut summary: Summary) -> io::Result<Summary> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(summary.scanned))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        reader.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            break;
        }
        summary.scanned += line.len() as u64;
        if let Ok(glance) = serde_json::from_slice::<Glance<'_>>(&line) {
            summary.take(glance);
        }
    }
    summary.length = now.len();
    summary.modified = modified(now);
    Ok(summary)
}

impl Summary {
    fn take(&mut self, line: Glance<'_>) {
        if let Some(at) = line.at.or(line.created) {
            self.updated = at;
        }
        match &*line.record {
            "turn_started" => {
                self.turns = self.turns.saturating_add(1);
                self.attended = self.attended.saturating_add(u32::from(line.attendance == Some(Attendance::Attended)));
                if self.opening.is_none() {
                    self.opening = line.message.and_then(|words| words.text).map(|text| one_line(&text));
                }
            }
            "titled" => self.title = line.title.map(|title| one_line(&title)),
            _ => {}
        }
    }
}

/// The first words of `text` in one line of at most [`TITLE`] characters, without control characters.
fn one_line(text: &str) -> String {
    // Enough text for the title however much of it is white space; the whole of a pasted book is not walked.
    let start: String = text.trim_start().chars().take(TITLE * 4).collect();
    let words: Vec<&str> =
        start.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() <= TITLE && start.len() == text.trim_start().len() {
        return line;
    }
    let mut cut: String = line.chars().take(TITLE - 1).collect();
    cut.push('…');
    cut
}

/// Time of change in nanoseconds since the Unix epoch, 0 where the system does not say.
fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// The sidecar, empty where it is missing, damaged or of another version: it is only a copy of what the logs say.
fn read_sidecar(path: &Path) -> Sidecar {
    fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Sidecar>(&bytes).ok())
        .filter(|sidecar| sidecar.version == SIDECAR_VERSION)
        .unwrap_or_default()
}

fn write_sidecar(path: &Path, sidecar: &Sidecar) {
    let written = serde_json::to_vec(sidecar)
        .map_err(|error| FileError::at("write", path)(io::Error::other(error)))
        .and_then(|bytes| files::write_derived(path, &bytes));
    if let Err(error) = written {
        // The list is whole all the same; the next one only takes longer.
        tracing::warn!(%error, "the summaries of conversations were not kept");
    }
}
