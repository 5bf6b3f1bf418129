//! What the driver needs from outside, as traits. Adapters are fitted to them in the composition root.
//!
//! No adapter is named here, and nothing here knows how one works.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::access::audit::{Draft, Head};
use crate::access::{AgentName, ToolsetName};
use crate::agent::command::Switched;
use crate::agent::{Alert, ConversationSummary, Delta, Failure, Record, Request};

/// A model that answers requests.
pub trait Model: Send + Sync {
    /// Starts one call. Dropping the stream cancels it.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, Failure>>;
    /// Its name as a person reads it.
    fn label(&self) -> String;
    /// Whether it is the rehearsal model.
    fn is_rehearsal(&self) -> bool;
    /// Its window in tokens, where the configuration names it.
    fn window(&self) -> Option<u64>;
    /// Its window as its server says; `None` where that says nothing, and soon.
    fn find_window(&self) -> BoxFuture<'static, Option<u64>>;
    /// Tools that its provider is known to take in one call at most.
    fn tool_limit(&self) -> Option<usize>;
}

/// The models of all agents.
pub trait Models: Send + Sync {
    /// The model of a declared agent; of a composed worker (any other name) the default one. Cheap after the first time.
    ///
    /// # Errors
    /// It can't be used, with what to do: no key, no such provider.
    fn of(&self, agent: &AgentName) -> Result<Arc<dyn Model>, Failure>;
}

/// Something outside did not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    /// What and where: a lower-case fragment.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// Whose doing it is.
    pub cause: Cause,
}

/// Whose doing it is that something did not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// What was asked for is not there, or the word for it means several.
    Asked,
    /// The disk said no.
    Outside,
    /// Somebody else has it open; it can be read all the same.
    Held,
}

/// One conversation's log, held open by this program alone.
pub trait Log: Send {
    /// Appends and syncs one record; on `Err` nothing of it is in the log.
    ///
    /// # Errors
    /// The log could not be written, with its path.
    fn append(&mut self, record: &Record) -> Result<(), PortError>;
}

/// A stored conversation, opened.
pub struct Opened {
    /// Its whole id.
    pub id: String,
    /// The entry agent that it was begun with.
    pub agent: AgentName,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its records, every call with its one ending.
    pub records: Vec<Record>,
    /// Toolsets that its recorded endings loaded, in first-loaded order (R12).
    pub loads: Vec<String>,
    /// What had to be mended.
    pub notices: Vec<Alert>,
    /// The log, ready for more.
    pub log: Box<dyn Log>,
}

/// A stored conversation, looked at.
pub struct Read {
    /// Its title.
    pub title: Option<String>,
    /// Its records as they are.
    pub records: Vec<Record>,
    /// What could not be read.
    pub notices: Vec<Alert>,
}

/// Where conversations are kept.
pub trait Store: Send + Sync {
    /// Begins a log.
    ///
    /// # Errors
    /// It could not be created, with its path.
    fn create(&self, id: &str, agent: &AgentName, at: i64) -> Result<Box<dyn Log>, PortError>;
    /// The whole id of the one conversation that this is the id or the beginning of.
    ///
    /// # Errors
    /// None or several match.
    fn find(&self, id: &str) -> Result<String, PortError>;
    /// Opens a conversation by id or unique prefix.
    ///
    /// # Errors
    /// None or several match, it is held by another program, or it can't be read.
    fn open(&self, id: &str) -> Result<Opened, PortError>;
    /// Looks at a conversation by id or unique prefix, one that is in use included, and changes nothing.
    ///
    /// # Errors
    /// None or several match, or it can't be read.
    fn read(&self, id: &str) -> Result<Read, PortError>;
    /// Every conversation, newest first.
    ///
    /// # Errors
    /// The folder can't be read.
    fn list(&self) -> Result<Vec<ConversationSummary>, PortError>;
    /// Deletes a conversation by id or unique prefix, and the answers kept for it; its whole id.
    ///
    /// # Errors
    /// None or several match, or it is in use.
    fn remove(&self, id: &str) -> Result<String, PortError>;
    /// Keeps the whole of a long answer that conversation `id` has; its file. The same text is the same file.
    ///
    /// # Errors
    /// It could not be written, with its path.
    fn keep_answer(&self, id: &str, text: &str) -> Result<PathBuf, PortError>;
}

/// An entry that was appended to the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// How far the log goes now.
    pub head: Head,
    /// What had to be mended.
    pub notices: Vec<Alert>,
}

/// The audit log (K5), which all of one person's programs share.
pub trait Audit: Send + Sync {
    /// Appends and syncs one entry, its arguments as a keyed digest. May block, two seconds and the disk's time at most.
    ///
    /// # Errors
    /// It is not in the log, with its path.
    fn append(&self, draft: Draft) -> Result<Audited, PortError>;
}

/// Time, chance and new ids.
pub trait Surroundings: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> i64;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// A new conversation id: unique, sorting by time.
    fn id(&self) -> String;
}

/// Where what a person switches while the program runs is kept (W1).
pub trait Switches: Send + Sync {
    /// Saves that one toolset is off or on; what else is saved of the others stays. May block.
    ///
    /// # Errors
    /// It could not be saved, with the file.
    fn switch(&self, toolset: &ToolsetName, to: Switched) -> Result<(), PortError>;
    /// Saves the name of the theme. May block.
    ///
    /// # Errors
    /// It could not be saved, with the file.
    fn keep_theme(&self, name: &str) -> Result<(), PortError>;
    /// Whether somebody else changed the configuration since it was read, saved or asked about (A14): `true` once for
    /// each change.
    fn changed(&self) -> bool {
        false
    }
}
