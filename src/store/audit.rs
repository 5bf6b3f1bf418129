//! The audit log on disk (K5): JSON lines in `data/audit/log.jsonl`, each with the hash of the line before it. Several
//! programs may append to it; what is written is never changed.
//!
//! Arguments reach this room as text and leave it as a keyed digest only. The key is made on first use and stays beside the
//! log, for its owner's eyes alone.

mod verify;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::StoreError;
use super::hex;
use crate::access::audit::{Draft, Entry, Head, VERSION};
use crate::system::{FileError, files, identity, lock};

pub use verify::{Verification, heads, verify};

/// What the first line says of the line before it.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Bytes of one line at most. An entry that would be longer is not written, and what it is about does not run.
pub const LONGEST: usize = 256 << 10;
/// Bytes of the key.
const KEY: usize = 32;

/// A line, whole.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    link: Link,
    #[serde(flatten)]
    entry: Entry,
}

/// What the chain needs of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    /// Version of the format.
    v: u32,
    /// The entry's number, from 1.
    n: u64,
    /// Hash of the line before, without its line end.
    before: String,
}

/// An entry that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Numbered {
    /// Its number, from 1.
    pub number: u64,
    /// It.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// In order.
    pub entries: Vec<Numbered>,
    /// A fragment for each line that is no entry of this version; [`verify()`] says what is wrong with the chain.
    pub faults: Vec<String>,
}

/// What came of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The log's head from here on.
    pub head: Head,
    /// Bytes of a line that a crash had cut off, removed before. What it was about never ran.
    pub torn: Option<u64>,
}

/// The log of a data directory.
#[derive(Debug, Clone)]
pub struct AuditLog {
    directory: PathBuf,
    path: PathBuf,
}

impl AuditLog {
    /// The log in `data/audit`. Nothing is made before the first entry.
    pub fn new(data: &Path) -> Self {
        let directory = data.join("audit");
        Self { path: directory.join("log.jsonl"), directory }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one entry: when this returns it is on the disk. Waits two seconds at most for another program that appends.
    ///
    /// # Errors
    /// Nothing of it is in the log: the disk said no, the key can't be used, or the entry is over [`LONGEST`].
    pub fn append(&self, draft: Draft) -> Result<Appended, StoreError> {
        files::create_directory(&self.directory)?;
        let mut file = files::private()
            .read(true)
            .append(true)
            .create(true)
            .open(&self.path)
            .map_err(FileError::at("open", &self.path))?;
        lock::wait_for(&file, &self.path)?;
        let key = self.key()?;
        let failed = FileError::at;
        let length = file.metadata().map_err(failed("look at", &self.path))?.len();
        let tail = tail(&mut file, length).map_err(failed("read", &self.path))?;
        let Some(Tail { whole, last }) = tail else {
            return Err(StoreError::AuditTail { path: self.path.clone() });
        };
        let torn = (whole < length).then_some(length - whole);
        if torn.is_some() {
            file.set_len(whole).map_err(failed("cut the torn last line of", &self.path))?;
        }
        let (n, before) = match last {
            None => (1, GENESIS.to_owned()),
            Some(last) => {
                let number = match serde_json::from_slice::<Link>(&last) {
                    Ok(link) => link.n,
                    // Somebody changed it; `verify` says so. Its number is its line's.
                    Err(_) => self.lines().map_err(failed("read", &self.path))?,
                };
                (number.saturating_add(1), hash(&last))
            }
        };
        let entry = draft.sealed(|arguments| hex(&keyed(&key, arguments.as_bytes())));
        let mut line = serde_json::to_vec(&Line { link: Link { v: VERSION, n, before }, entry })
            .map_err(|error| StoreError::Encode { path: self.path.clone(), reason: error.to_string() })?;
        if line.len() > LONGEST {
            return Err(StoreError::AuditEntry { bytes: line.len(), most: LONGEST });
        }
        let head = Head { entries: n, hash: hash(&line) };
        line.push(b'\n');
        if let Err(error) = file.write_all(&line).and_then(|()| file.sync_data()) {
            // Half a line is cut off by whoever appends next, where it can't be here.
            let _cut = file.set_len(whole);
            return Err(failed("write", &self.path)(error).into());
        }
        if length == 0 {
            files::sync_directory(&self.directory).map_err(failed("sync the directory of", &self.path))?;
        }
        Ok(Appended { head, torn })
    }

    /// The key, made where there is none. Called under the log's lock.
    fn key(&self) -> Result<[u8; KEY], StoreError> {
        let path = self.directory.join("key");
        match files::read(&path) {
            Ok(bytes) => bytes.try_into().map_err(|_| StoreError::AuditKey { path }),
            Err(error) if error.is_missing() => {
                let key = identity::secret().map_err(FileError::at("find chance for", &path))?;
                files::write(&path, &key)?;
                Ok(key)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn lines(&self) -> io::Result<u64> {
        let mut reader = BufReader::new(File::open(&self.path)?);
        let mut lines = 0;
        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(lines);
            }
            lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            let length = bytes.len();
            reader.consume(length);
        }
    }

    /// Every entry, in order. None where there is no log yet.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read(&self) -> Result<Read, StoreError> {
        let mut read = Read::default();
        self.each(|number, line, ended| {
            if ended {
                match serde_json::from_slice::<Line>(line) {
                    Ok(Line { link, entry }) => read.entries.push(Numbered { number: link.n, entry }),
                    Err(error) => read.faults.push(format!("line {number} is no entry of this version: {error}")),
                }
            }
        })?;
        Ok(read)
    }

    /// Every line, with its number from 1 and whether it has its end, as it was at a moment when nobody appended.
    fn each(&self, mut take: impl FnMut(u64, &[u8], bool)) -> Result<(), StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(FileError::at("open", &self.path)(error).into()),
        };
        // Under the lock only its length is read: what stands in it by then is appended to and never changed.
        lock::wait_for(&file, &self.path)?;
        let length = file.metadata().map_err(FileError::at("look at", &self.path))?.len();
        file.unlock().map_err(FileError::at("unlock", &self.path))?;
        let mut reader = BufReader::with_capacity(1 << 16, io::Read::take(file, length));
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(FileError::at("read", &self.path))? == 0 {
                break;
            }
            let ended = line.last() == Some(&b'\n');
            if ended {
                line.pop();
            }
            take(number, &line, ended);
        }
        Ok(())
    }
}

/// How a log ends.
struct Tail {
    /// Bytes of its whole lines.
    whole: u64,
    /// The last whole line, without its end.
    last: Option<Vec<u8>>,
}

/// Reads as much of the end as is needed. `None`: its last line is longer than any that is written.
fn tail(file: &mut File, length: u64) -> io::Result<Option<Tail>> {
    let mut window: u64 = 16 << 10;
    loop {
        let start = length.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        io::Read::by_ref(file).take(length - start).read_to_end(&mut bytes)?;
        let end_of = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
        match end_of(&bytes) {
            Some(end) => {
                let whole = start + end as u64 + 1;
                bytes.truncate(end);
                match end_of(&bytes) {
                    Some(before) => return Ok(Some(Tail { whole, last: Some(bytes.split_off(before + 1)) })),
                    None if start == 0 => return Ok(Some(Tail { whole, last: Some(bytes) })),
                    None => {}
                }
            }
            None if start == 0 => return Ok(Some(Tail { whole: 0, last: None })),
            None => {}
        }
        if window > 2 * LONGEST as u64 {
            return Ok(None);
        }
        window *= 8;
    }
}

/// SHA-256 of a line, as hex digits.
fn hash(line: &[u8]) -> String {
    hex(&Sha256::digest(line))
}

/// HMAC-SHA256 (RFC 2104).
fn keyed(key: &[u8; KEY], text: &[u8]) -> [u8; 32] {
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{KEY, hex, keyed};

    #[test]
    fn k5_the_keyed_digest_is_the_standard_one() {
        // RFC 4231, test case 1, whose key of 20 bytes is the same as one of 32 with zeros behind it.
        let mut key = [0; KEY];
        key[..20].fill(0x0b);
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hex(&keyed(&key, b"Hi There")), expected);
    }
}
