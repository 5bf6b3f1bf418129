//! Adapters fitted to the driver's ports. Nothing here decides anything.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::access::audit::Draft;
use crate::access::{AgentName, ToolsetName};
use crate::agent::command::Switched;
use crate::agent::{Alert, ConversationSummary, Delta, Failure, Record, Request, Severity, loads};
use crate::assistant::ports::{self, Cause, PortError};
use crate::config::{self, Config, Locations, NewValue, Source};
use crate::{model, store, system};

/// A model client.
pub(super) struct ModelPort(pub(super) model::Client);

impl ports::Model for ModelPort {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, Failure>> {
        self.0.stream(request)
    }

    fn label(&self) -> String {
        self.0.label().to_owned()
    }

    fn is_rehearsal(&self) -> bool {
        self.0.is_rehearsal()
    }

    fn window(&self) -> Option<u64> {
        self.0.window()
    }

    fn find_window(&self) -> BoxFuture<'static, Option<u64>> {
        let client = self.0.clone();
        Box::pin(async move { client.find_window().await })
    }

    fn tool_limit(&self) -> Option<usize> {
        self.0.tool_limit()
    }
}

/// What a data directory keeps of conversations.
pub(super) struct StorePort {
    data: PathBuf,
    /// Its folder of logs.
    logs: PathBuf,
}

impl StorePort {
    pub(super) fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), logs: store::directory(data) }
    }
}

struct LogPort(store::Log);

impl ports::Log for LogPort {
    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        self.0.append(record).map_err(port_error)
    }
}

impl ports::Store for StorePort {
    fn create(&self, id: &str, agent: &AgentName, at: i64) -> Result<Box<dyn ports::Log>, PortError> {
        let log = store::Log::create(&self.logs, id, agent, at).map_err(port_error)?;
        Ok(Box::new(LogPort(log)))
    }

    fn find(&self, id: &str) -> Result<String, PortError> {
        store::find(&self.logs, id).map_err(port_error)
    }

    fn open(&self, id: &str) -> Result<ports::Opened, PortError> {
        let id = self.find(id)?;
        let (log, opened) = store::Log::open(&self.logs, &id).map_err(port_error)?;
        Ok(ports::Opened {
            id,
            agent: opened.header.agent,
            title: store::title(&opened.records).map(str::to_owned),
            loads: loads(&opened.records),
            records: opened.records,
            notices: opened.notices,
            log: Box::new(LogPort(log)),
        })
    }

    fn list(&self) -> Result<Vec<ConversationSummary>, PortError> {
        let listing = store::list(&self.logs, None).map_err(port_error)?;
        for fault in &listing.faults {
            tracing::warn!(%fault, "a conversation log could not be read");
        }
        Ok(listing.conversations)
    }

    fn read(&self, id: &str) -> Result<ports::Read, PortError> {
        let id = self.find(id)?;
        let opened = store::read(&self.logs, &id).map_err(port_error)?;
        let title = store::title(&opened.records).map(str::to_owned);
        Ok(ports::Read { title, records: opened.records, notices: opened.notices })
    }

    fn remove(&self, id: &str) -> Result<String, PortError> {
        let id = self.find(id)?;
        store::remove(&self.logs, &id).map_err(port_error)?;
        store::forget_answers(&self.data, &id).map_err(port_error)?;
        Ok(id)
    }

    fn keep_answer(&self, id: &str, text: &str) -> Result<PathBuf, PortError> {
        store::keep_answer(&self.data, id, text).map_err(port_error)
    }
}

/// The audit log.
pub(super) struct AuditPort(pub(super) store::AuditLog);

impl ports::Audit for AuditPort {
    fn append(&self, draft: Draft) -> Result<ports::Audited, PortError> {
        let store::audit::Appended { head, torn } = self.0.append(draft).map_err(port_error)?;
        let notices = torn.map(|bytes| Alert {
            severity: Severity::Notice,
            message: format!(
                "The last line of {} was cut off while it was written ({bytes} bytes) and is removed.",
                self.0.path().display()
            ),
            hint: Some("What it was about had not run yet.".to_owned()),
        });
        Ok(ports::Audited { head, notices: notices.into_iter().collect() })
    }
}

pub(super) fn port_error(error: store::StoreError) -> PortError {
    let cause = if error.is_held() {
        Cause::Held
    } else if error.is_of_the_asker() {
        Cause::Asked
    } else {
        Cause::Outside
    };
    PortError { message: error.to_string(), hint: error.hint().map(str::to_owned), cause }
}

/// This machine's clock and chance.
pub(super) struct Machine;

impl ports::Surroundings for Machine {
    fn now(&self) -> i64 {
        system::clock::now_ms()
    }

    fn random(&self) -> u64 {
        system::identity::random()
    }

    fn id(&self) -> String {
        system::identity::new_id()
    }
}

/// What a person switches, in the file that was read.
pub(super) struct SwitchesInFile {
    locations: Locations,
    /// The file's text as it was read or saved last.
    known: Mutex<String>,
}

impl SwitchesInFile {
    pub(super) fn new(locations: Locations, source: &Source) -> Self {
        Self { locations, known: Mutex::new(source.text.clone()) }
    }

    fn set(&self, key: &str, value: impl FnOnce(&Config) -> NewValue) -> Result<(), PortError> {
        let written = config::set(&self.locations, key, value, super::display_faults);
        let written =
            written.map_err(|error| PortError { message: error.to_string(), hint: None, cause: Cause::Outside })?;
        let mut known = self.known();
        // What somebody else had changed before is still to be said (A14).
        if *known == written.before {
            *known = written.config.source.text;
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, String> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ports::Switches for SwitchesInFile {
    fn switch(&self, toolset: &ToolsetName, to: Switched) -> Result<(), PortError> {
        self.set("toolsets.disabled", |config| {
            let off = config.declarations.disabled.iter().map(|word| word.value.to_string());
            let mut off: Vec<String> = off.filter(|name| name != toolset.as_str()).collect();
            if to == Switched::Off {
                off.push(toolset.to_string());
            }
            NewValue::Names(off)
        })
    }

    fn keep_theme(&self, name: &str) -> Result<(), PortError> {
        self.set("display.theme", |_| NewValue::Text(name.to_owned()))
    }

    fn changed(&self) -> bool {
        let Some(now) = self.locations.config().ok().and_then(|path| system::files::read_text(&path).ok()) else {
            return false;
        };
        let mut known = self.known();
        let changed = *known != now;
        *known = now;
        changed
    }
}
