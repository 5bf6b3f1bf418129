//! One live conversation: its log, its wired run, and the work it has under way.
//!
//! Whatever is in here can be rebuilt from the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::task::AbortHandle;

use super::asks::Pending;
use super::build::Built;
use super::ports::{Log, PortError};
use super::{Driver, Severity};
use crate::access::audit::Head;
use crate::access::{Arrival, Conditions, ModeName, Slot, ToolId, ToolsetName};
use crate::agent::replay::mode;
use crate::agent::{AgentSpec, Alert, CallId, LoadedToolset, Record, Run};
use crate::tool::Tool;

/// Whether what happens is still being saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saving {
    /// Every record so far is in the log.
    Whole,
    /// A record could not be written: nothing more is, until the conversation is opened again from its log.
    Broken,
}

/// One live conversation.
pub(super) struct Live {
    pub(super) id: Arc<str>,
    pub(super) title: Option<String>,
    /// `None` until the first record: an empty conversation leaves no file.
    pub(super) log: Option<Box<dyn Log>>,
    pub(super) saving: Saving,
    /// Records in its log.
    pub(super) recorded: usize,
    pub(super) run: Run,
    pub(super) tools: BTreeMap<ToolId, Arc<dyn Tool>>,
    /// The model call or back-off under way, by the driver's count; what an earlier one says is not heard.
    pub(super) model_generation: u64,
    pub(super) model_task: Option<AbortHandle>,
    pub(super) tasks: BTreeMap<CallId, AbortHandle>,
    /// Calls that wait for a build of their own.
    pub(super) loads: BTreeSet<CallId>,
    pub(super) asks: BTreeMap<CallId, Pending>,
    /// How far the audit log went at this conversation's last entry, until its own log says so.
    pub(super) audited: Option<Head>,
    /// Calls of which the audit log knows less than it should, each with why: they do not run.
    pub(super) unaudited: BTreeMap<CallId, String>,
    pub(super) turn_started: Option<i64>,
    /// The first words said, for the title.
    pub(super) first_words: Option<String>,
}

impl Live {
    pub(super) fn is(&self, conversation: &str) -> bool {
        &*self.id == conversation
    }

    /// Keeps what runs of an accepted build. Only what the run holds is ever dispatched.
    pub(super) fn keep_tools(&mut self, built: &Built) {
        for entry in &built.tools {
            let id = ToolId::of(&built.toolset, &entry.known.facts.name);
            self.tools.insert(id, Arc::clone(&entry.tool));
        }
    }

    /// Appends to the log, which begins with the first record.
    pub(super) fn append(
        &mut self,
        record: &Record,
        begin: impl FnOnce(&str) -> Result<Box<dyn Log>, PortError>,
    ) -> Result<(), PortError> {
        if self.log.is_none() {
            self.log = Some(begin(&self.id)?);
        }
        if let Some(log) = &mut self.log {
            log.append(record)?;
        }
        self.recorded += 1;
        Ok(())
    }

    /// Ends all work under way, for it is left.
    pub(super) fn abandon(mut self) {
        if let Some(task) = self.model_task.take() {
            task.abort();
        }
        for (_, task) in std::mem::take(&mut self.tasks) {
            task.abort();
        }
    }

    pub(super) fn diagnostics(&self, now: i64) -> Vec<String> {
        let mut lines = vec![format!("talk        {}", self.id)];
        match self.turn_started {
            Some(at) if self.run.is_running() => {
                lines.push(format!("turn        running for {} s", (now - at).max(0) / 1000));
            }
            _ => lines.push("turn        none".to_owned()),
        }
        lines.push(format!("model call  {}", if self.model_task.is_some() { "under way" } else { "none" }));
        let calls = self.tasks.keys().chain(&self.loads).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        lines.push(format!("running     {}", if calls.is_empty() { "nothing" } else { &calls }));
        let asks = self.asks.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        lines.push(format!("asking      {}", if asks.is_empty() { "nothing" } else { &asks }));
        if self.saving == Saving::Broken {
            lines.push("log         NOT BEING SAVED".to_owned());
        }
        lines
    }
}

impl Driver {
    /// Brings the entry agent to a conversation: as it was left, where it rests and knows all that is in the log, else wired
    /// anew.
    pub(super) async fn wire(
        &mut self,
        id: Arc<str>,
        title: Option<String>,
        records: &[Record],
        loads: &[String],
        log: Option<Box<dyn Log>>,
    ) {
        let (run, tools) = match self.shelf.take(&id, records.len()) {
            Some(resting) => (resting.run, resting.tools),
            None => self.wired(&id, records, loads).await,
        };
        let first_words = records.iter().find_map(|record| match record {
            Record::TurnStarted { message, .. } => Some(message.text.clone()),
            _ => None,
        });
        self.live = Some(Live {
            id,
            title,
            log,
            saving: Saving::Whole,
            recorded: records.len(),
            run,
            tools,
            model_generation: 0,
            model_task: None,
            tasks: BTreeMap::new(),
            loads: BTreeSet::new(),
            asks: BTreeMap::new(),
            audited: None,
            unaudited: BTreeMap::new(),
            turn_started: None,
            first_words,
        });
    }

    /// The entry agent wired anew in R16's order, with what its conversation had loaded (R12).
    async fn wired(
        &mut self,
        id: &str,
        records: &[Record],
        loads: &[String],
    ) -> (Run, BTreeMap<ToolId, Arc<dyn Tool>>) {
        let mode = self.mode_of(records);
        let loads: Vec<ToolsetName> = loads.iter().map(|name| ToolsetName::new(name.as_str())).collect();
        let mut tools = BTreeMap::new();
        let (mut resident, mut preloaded) = (Vec::new(), Vec::new());
        for slot in self.setup.capabilities.world.wiring(&self.entry, &loads) {
            let Slot::Toolset(name, arrival) = slot else { continue };
            match (self.built_for_wiring(&name).await, arrival) {
                (Ok(built), Arrival::Preloaded) => preloaded.push(keep(&mut tools, &built)),
                (Ok(built), _) => resident.push(keep(&mut tools, &built)),
                // R14: a preload that fails is the log's; the next load reads the real error.
                (Err(error), Arrival::Preloaded) => {
                    tracing::warn!(agent = %self.entry, toolset = %name, %error, "not preloaded");
                }
                (Err(error), _) => {
                    let message = format!("{} starts without '{name}': {error}", self.entry);
                    self.setup.alerts.push(Alert { severity: Severity::Warning, message, hint: None });
                }
            }
        }
        let spec = AgentSpec {
            name: self.entry.clone(),
            conversation: id.to_owned(),
            opener: self.setup.agent.opener.clone(),
            max_iterations: self.setup.agent.max_iterations,
            concurrent_tools: self.setup.agent.concurrent_tools,
            max_attempts: self.setup.agent.max_attempts,
            conditions: Conditions { mode: Some(mode), ..Conditions::default() },
        };
        let run = Run::new(spec, &self.setup.capabilities.world, resident, preloaded, records);
        for skipped in run.skipped() {
            tracing::info!(agent = %self.entry, toolset = %skipped.toolset, tool = %skipped.tool, holder = %skipped.holder,
                "a tool's name was taken");
        }
        (run, tools)
    }

    /// The mode of a conversation (W3). One that is declared no more is said: it withholds everything.
    fn mode_of(&mut self, records: &[Record]) -> ModeName {
        let world = &self.setup.capabilities.world;
        let mode = mode(records, || self.setup.mode.clone().unwrap_or_else(|| world.default_mode()));
        if let Err(sentence) = world.mode(mode.as_str()) {
            let message = format!("This conversation's calls carry no tools: {sentence}");
            let hint = Some("/mode gives it another mode.".to_owned());
            self.setup.alerts.push(Alert { severity: Severity::Warning, message, hint });
        }
        mode
    }

    /// A build for wiring: startup's own the first time, a new one after that; judged either way.
    async fn built_for_wiring(&mut self, name: &ToolsetName) -> Result<Built, String> {
        let capabilities = &mut self.setup.capabilities;
        if let Some(refusal) = capabilities.world.refusal(name) {
            return Err(refusal.message.clone());
        }
        if let Some(built) = capabilities.built.remove(name) {
            return Ok(built);
        }
        self.setup.capabilities.build(name).await
    }
}

fn keep(tools: &mut BTreeMap<ToolId, Arc<dyn Tool>>, built: &Built) -> LoadedToolset {
    for entry in &built.tools {
        tools.insert(ToolId::of(&built.toolset, &entry.known.facts.name), Arc::clone(&entry.tool));
    }
    built.loaded()
}
