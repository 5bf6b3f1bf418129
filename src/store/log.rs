//! One conversation's log: made, opened, appended to, and mended when it is opened after a crash.
//!
//! A record is saved when [`Log::append`] returns: its line is on the disk. A log has one writer at a time.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use super::catalogue::named;
use super::error::StoreError;
use super::history::{drop_stray_endings, repair};
use super::holder::{self, Holding};
use super::path_of;
use super::stored::{self, LineFault, StoredHeader, VERSION};
use crate::access::AgentName;
use crate::agent::{Alert, Record, Severity};
use crate::system::{FileError, files, lock};

/// Unreadable lines that get a sentence each when a log is opened; more are counted.
const REPORTED: usize = 5;

/// What a log's first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Version of the program's format that made it.
    pub version: u32,
    /// The conversation.
    pub id: String,
    /// Its entry agent.
    pub agent: AgentName,
    /// When it was made, milliseconds since the Unix epoch.
    pub created: i64,
}

/// What an opened log held.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Its first line.
    pub header: Header,
    /// Its records in order, repairs included: every call has exactly one ending, no turn is open. The ending of a call
    /// may stand after later turns when its own line was damaged, so pair them by the call's id.
    pub records: Vec<Record>,
    /// What a person should know: what could not be read, what was mended.
    pub notices: Vec<Alert>,
}

/// An open log. Dropping it gives the lock back.
#[derive(Debug)]
pub struct Log {
    id: String,
    path: PathBuf,
    /// Before the file, so that it is gone before the lock is.
    _holding: Holding,
    file: File,
    /// Bytes of whole lines. What a failed write left behind it is cut off.
    length: u64,
    /// A failed write could not be cut off.
    broken: bool,
}

impl Log {
    /// Makes the log of a new conversation in `directory` (made too if it is not there), with its header on the disk.
    /// Best called when there is a first record: a log without one is listed as an empty conversation.
    ///
    /// # Errors
    /// The id is not one or is taken, or the disk said no.
    pub fn create(directory: &Path, id: &str, agent: &AgentName, created: i64) -> Result<Self, StoreError> {
        let path = path_of(directory, id)?;
        files::create_directory(directory)?;
        let header = StoredHeader { version: VERSION, id: id.to_owned(), agent: agent.clone(), created };
        let mut line = serde_json::to_vec(&header)
            .map_err(|error| StoreError::Encode { path: path.clone(), reason: error.to_string() })?;
        line.push(b'\n');
        // Written and locked under another name first, so that no log is ever seen without its header or its lock.
        let mut fresh = tempfile::Builder::new()
            .append(true)
            .tempfile_in(directory)
            .map_err(FileError::at("make a file beside", &path))?;
        lock::try_lock(fresh.as_file(), &path)?;
        fresh.write_all(&line).and_then(|()| fresh.as_file().sync_all()).map_err(FileError::at("write", &path))?;
        let file = fresh.persist_noclobber(&path).map_err(|error| FileError::at("create", &path)(error.error))?;
        files::sync_directory(directory).map_err(FileError::at("sync the directory of", &path))?;
        let holding = Holding::begin(&path);
        Ok(Self { id: id.to_owned(), path, _holding: holding, file, length: line.len() as u64, broken: false })
    }

    /// Opens a stored conversation by its whole id and mends it: a last line that a crash cut off is removed, calls
    /// without a result and an open turn are ended as interrupted before anything else is written.
    ///
    /// # Errors
    /// There is none, somebody has it open, it has no header, or the disk said no.
    pub fn open(directory: &Path, id: &str) -> Result<(Self, Opened), StoreError> {
        let path = path_of(directory, id)?;
        let file = File::options().read(true).append(true).open(&path).map_err(|error| absent_or(error, id, &path))?;
        holder::take(&file, &path).map_err(|error| named(error, directory, id))?;
        // Whoever had it may have removed it.
        fs::metadata(&path).map_err(|error| absent_or(error, id, &path))?;
        let holding = Holding::begin(&path);
        let read = Reading::of(&file, &path)?;
        let mut log = Self { id: id.to_owned(), path, _holding: holding, file, length: read.length, broken: false };
        match read.tail {
            Tail::Whole => {}
            Tail::Unended => log.write(b"\n")?,
            Tail::Torn => log.cut().map_err(FileError::at("cut the torn last line of", &log.path))?,
        }
        let Opened { header, mut records, mut notices } = read.opened(&log.path);
        let repairs = repair(&records);
        if !repairs.is_empty() {
            log.append_all(&repairs)?;
            let calls = repairs.iter().filter(|record| matches!(record.whose().1, Record::CallEnded { .. })).count();
            notices.push(Alert {
                severity: Severity::Notice,
                message: match calls {
                    0 => "the last turn was cut off when the program ended and is marked as interrupted".to_owned(),
                    1 => "one call had no result when the program ended and is marked as interrupted".to_owned(),
                    _ => format!("{calls} calls had no result when the program ended and are marked as interrupted"),
                },
                hint: Some("say 'continue' to go on from there".to_owned()),
            });
            records.extend(repairs);
        }
        Ok((log, Opened { header, records, notices }))
    }

    /// The conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves one record: when this returns it is on the disk. May block for as long as the disk takes.
    ///
    /// # Errors
    /// It is not saved, and the log is as it was before; [`StoreError::Broken`] when even that could not be made so.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        self.append_all(std::slice::from_ref(record))
    }

    /// Saves several records with one wait for the disk; all or, on an error, none.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn append_all(&mut self, records: &[Record]) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for record in records {
            let line = stored::encode(record)
                .map_err(|error| StoreError::Encode { path: self.path.clone(), reason: error.to_string() })?;
            lines.extend(line);
            lines.push(b'\n');
        }
        self.write(&lines)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken { path: self.path.clone() });
        }
        match self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line in the middle would damage the next one.
                self.broken = self.cut().is_err();
                Err(FileError::at("write", &self.path)(error).into())
            }
        }
    }

    /// Cuts off everything after the last whole line.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_data()
    }
}

/// Reads a stored conversation by its whole id without opening it: no lock, nothing mended, so that one which another
/// process has open can be shown. A call still running there has no ending, and its turn is open.
///
/// # Errors
/// There is none, it has no header, or the disk said no.
pub fn read(directory: &Path, id: &str) -> Result<Opened, StoreError> {
    let path = path_of(directory, id)?;
    let file = File::open(&path).map_err(|error| absent_or(error, id, &path))?;
    let mut read = Reading::of(&file, &path)?;
    if read.tail == Tail::Torn {
        // Most likely a line that is being written right now.
        read.tail = Tail::Whole;
    }
    Ok(read.opened(&path))
}

/// No such file is no such conversation.
pub(super) fn absent_or(error: io::Error, id: &str, path: &Path) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unknown { id: id.to_owned() },
        _ => FileError::at("open", path)(error).into(),
    }
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// With a line end.
    Whole,
    /// With a whole object whose line end is missing.
    Unended,
    /// In the middle of a line.
    Torn,
}

/// A log as it was read, before anything is mended.
#[derive(Debug)]
struct Reading {
    header: Header,
    records: Vec<Record>,
    /// Bytes up to the end of the last whole line (an unended one included).
    length: u64,
    tail: Tail,
    /// Line numbers from 1, each with why it could not be read; at most [`REPORTED`].
    unreadable: Vec<(usize, String)>,
    unreadable_count: usize,
    /// Kinds of line that only a newer version knows, each once, and how many lines they were.
    newer: Vec<String>,
    newer_count: usize,
}

impl Reading {
    fn of(file: &File, path: &Path) -> Result<Self, StoreError> {
        Self::from(BufReader::with_capacity(1 << 16, file), path)
    }

    fn from(mut reader: impl BufRead, path: &Path) -> Result<Self, StoreError> {
        let failed = FileError::at;
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(failed("read", path))?;
        let header = header(&line, path)?;
        let mut reading = Self {
            header,
            records: Vec::new(),
            length: line.len() as u64,
            tail: if line.ends_with(b"\n") { Tail::Whole } else { Tail::Unended },
            unreadable: Vec::new(),
            unreadable_count: 0,
            newer: Vec::new(),
            newer_count: 0,
        };
        for number in 2.. {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(failed("read", path))? == 0 {
                break;
            }
            reading.take(number, &line);
            if !line.ends_with(b"\n") {
                // The end as it was. More may have been written since, and would be read as a line without its beginning.
                break;
            }
        }
        Ok(reading)
    }

    fn take(&mut self, number: usize, line: &[u8]) {
        let ended = line.ends_with(b"\n");
        let fault = match stored::decode(line) {
            Ok(record) => {
                self.records.push(record);
                None
            }
            Err(LineFault::Newer(kind)) => {
                self.newer_count += 1;
                if !self.newer.contains(&kind) && self.newer.len() < REPORTED {
                    self.newer.push(kind);
                }
                None
            }
            Err(LineFault::Unreadable(reason)) => Some(reason),
        };
        match fault {
            // Only whole objects parse, so what does not parse and does not end was cut off while it was written.
            Some(_) if !ended => {
                self.tail = Tail::Torn;
                return;
            }
            Some(reason) => {
                self.unreadable_count += 1;
                if self.unreadable.len() < REPORTED {
                    self.unreadable.push((number, reason));
                }
            }
            None => {}
        }
        self.length += line.len() as u64;
        if !ended {
            self.tail = Tail::Unended;
        }
    }

    /// What was read, without results that no call waits for.
    fn opened(self, path: &Path) -> Opened {
        let mut notices = self.notices(path);
        let mut records = self.records;
        let stray = drop_stray_endings(&mut records);
        if stray > 0 {
            let (results, belong, are) =
                if stray == 1 { ("result", "belongs", "is") } else { ("results", "belong", "are") };
            notices.push(warning(format!(
                "{}: {stray} tool {results} {belong} to no call that could be read and {are} left out",
                path.display()
            )));
        }
        Opened { header: self.header, records, notices }
    }

    /// What a person should know of how it read.
    fn notices(&self, path: &Path) -> Vec<Alert> {
        let file = path.display();
        let kept = self.records.len();
        let mut notices = Vec::new();
        if self.header.version > VERSION {
            notices.push(Alert {
                severity: Severity::Notice,
                message: format!(
                    "{file} was written by a newer kokua (format {}, this one writes {VERSION})",
                    self.header.version
                ),
                hint: Some("what this version does not know is left out here and stays in the file".to_owned()),
            });
        }
        if self.newer_count > 0 {
            notices.push(Alert {
                severity: Severity::Notice,
                message: format!(
                    "{file}: {} of a kind that only a newer kokua knows ({}) {} skipped; {kept} were read",
                    counted(self.newer_count, "line"),
                    self.newer.join(", "),
                    if self.newer_count == 1 { "was" } else { "were" },
                ),
                hint: None,
            });
        }
        for (number, reason) in &self.unreadable {
            notices.push(warning(format!("{file}, line {number} cannot be read: {reason}; {kept} other lines were")));
        }
        if self.unreadable_count > self.unreadable.len() {
            let more = self.unreadable_count - self.unreadable.len();
            notices.push(warning(format!("{file}: {} more cannot be read", counted(more, "line"))));
        }
        if self.tail == Tail::Torn {
            notices.push(Alert {
                severity: Severity::Notice,
                message: format!("the last line of {file} was cut off while it was written and is removed"),
                hint: Some(format!("everything before it is kept: {}", counted(kept, "record"))),
            });
        }
        notices
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn warning(message: String) -> Alert {
    Alert {
        severity: Severity::Warning,
        message,
        hint: Some("the damaged lines stay in the file as they are; a backup may have them whole".to_owned()),
    }
}

fn header(line: &[u8], path: &Path) -> Result<Header, StoreError> {
    let no_header = |reason| StoreError::NoHeader { path: path.to_owned(), reason };
    if line.is_empty() {
        return Err(no_header("it is empty".to_owned()));
    }
    let StoredHeader { version, id, agent, created } =
        serde_json::from_slice(line).map_err(|error| no_header(stored::reason(&error)))?;
    Ok(Header { version, id, agent, created })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::fs::{self, File};
    use std::io::{self, BufReader, Read};
    use std::path::Path;

    use super::{Log, Reading, Tail};
    use crate::access::AgentName;
    use crate::agent::Record;
    use crate::store::StoreError;

    /// A file that grows while it is read: each piece is followed by an end.
    struct Growing(VecDeque<&'static [u8]>);

    impl Read for Growing {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.pop_front() else { return Ok(0) };
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn a_log_that_grows_while_it_is_read_is_read_to_where_it_ended() {
        let header: &[u8] = b"{\"record\":\"conversation\",\"version\":1,\"id\":\"a\",\"agent\":\"b\",\"created\":1}\n";
        let pieces: [(&[u8], &[u8], Tail); 2] = [
            (b"{\"record\":\"titled\",\"ti", b"tle\":\"t\"}\n", Tail::Torn),
            (b"{\"record\":\"titled\",\"title\":\"t\"}", b"\n", Tail::Unended),
        ];
        for (begun, rest, tail) in pieces {
            let growing = Growing(VecDeque::from([header, begun, b"", rest]));
            let reading = Reading::from(BufReader::new(growing), Path::new("a.jsonl")).unwrap();
            assert_eq!((reading.unreadable_count, reading.tail), (0, tail));
        }
    }

    #[test]
    fn a_failed_write_is_an_error_and_one_that_cannot_be_undone_closes_the_log() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = Log::create(directory.path(), "abc", &AgentName::new("assistant"), 1).unwrap();
        let before = fs::read(log.path()).unwrap();
        // A handle that may only read refuses the write and the cut alike.
        log.file = File::open(log.path()).unwrap();
        let titled = Record::Titled { title: "t".to_owned() };
        assert!(matches!(log.append(&titled), Err(StoreError::File(_))));
        assert!(matches!(log.append(&titled), Err(StoreError::Broken { .. })));
        assert_eq!(fs::read(log.path()).unwrap(), before);
    }
}
