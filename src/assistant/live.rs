//! One live conversation: its log, its agents, and the work it has under way.
//!
//! Whatever is in here can be rebuilt from the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::asks::Pending;
use super::build::Built;
use super::ports::{Log, Model, PortError};
use super::{Driver, Id, Severity};
use crate::access::audit::Head;
use crate::access::{Arrival, Conditions, ModeName, Slot, ToolId, ToolsetName};
use crate::agent::replay::mode;
use crate::agent::{Alert, CallId, LoadedToolset, NodeId, Record, Run, Tree};
use crate::tool::{Output, Tool};

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
    pub(super) id: Id,
    pub(super) title: Option<String>,
    /// `None` until the first record: an empty conversation leaves no file.
    pub(super) log: Option<Box<dyn Log>>,
    pub(super) saving: Saving,
    /// Records in its log.
    pub(super) recorded: usize,
    /// Who has it open, where that is another program: nothing is said or written here then.
    pub(super) read_only: Option<String>,
    pub(super) tree: Tree,
    pub(super) tools: BTreeMap<NodeId, BTreeMap<ToolId, Arc<dyn Tool>>>,
    /// The workers' models.
    pub(super) models: BTreeMap<NodeId, Arc<dyn Model>>,
    /// Each agent's model call or back-off under way, by the driver's count; what an earlier one says is not heard.
    pub(super) calling: BTreeMap<NodeId, (u64, Option<AbortHandle>)>,
    pub(super) tasks: BTreeMap<CallId, AbortHandle>,
    /// Calls that asked other agents, and where their answer goes.
    pub(super) replies: BTreeMap<CallId, oneshot::Sender<Output>>,
    /// Calls that wait for a build of their own, or for their worker's.
    pub(super) loads: BTreeSet<CallId>,
    pub(super) asks: BTreeMap<CallId, Pending>,
    /// Calls of the running turn that asked, answered ones included.
    pub(super) asked: BTreeSet<CallId>,
    /// How far the audit log went at this conversation's last entry, until its own log says so.
    pub(super) audited: Option<Head>,
    /// Calls of which the audit log knows less than it should, each with why: they do not run.
    pub(super) unaudited: BTreeMap<CallId, String>,
    pub(super) turn_started: Option<i64>,
    /// The first words said, for the title.
    pub(super) first_words: Option<String>,
}

impl Live {
    /// Keeps what runs of an accepted build for one agent. Only what its run holds is ever dispatched.
    pub(super) fn keep_tools(&mut self, node: NodeId, built: &Built) {
        keep(self.tools.entry(node).or_default(), built);
    }

    /// A worker has ended: nothing of it is needed any more.
    pub(super) fn bury(&mut self, node: NodeId) {
        self.tools.remove(&node);
        self.models.remove(&node);
        self.calling.remove(&node);
    }

    /// Whether what happens here is written.
    pub(super) fn is_written(&self) -> bool {
        self.saving == Saving::Whole && self.read_only.is_none()
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
        for (_, task) in std::mem::take(&mut self.calling).into_values() {
            task.inspect(AbortHandle::abort);
        }
        for (_, task) in std::mem::take(&mut self.tasks) {
            task.abort();
        }
    }

    pub(super) fn diagnostics(&self, now: i64) -> Vec<String> {
        let mut lines = vec![format!("talk        {}", self.id)];
        match self.turn_started {
            Some(at) if self.tree.is_running() => {
                lines.push(format!("turn        running for {} s", (now - at).max(0) / 1000));
            }
            _ => lines.push("turn        none".to_owned()),
        }
        let calling = self.calling.values().filter(|(_, task)| task.is_some()).count();
        lines.push(format!(
            "model calls {}",
            if calling == 0 { "none".to_owned() } else { format!("{calling} under way") }
        ));
        lines.push(format!("workers     {}", self.tree.runs().count() - 1));
        let calls: BTreeSet<_> = self.tasks.keys().chain(&self.loads).collect();
        let calls = calls.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
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
        id: Id,
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
        let live = Live {
            id: Arc::clone(&id),
            title,
            log,
            saving: Saving::Whole,
            recorded: records.len(),
            read_only: None,
            tree: Tree::new(run, records, self.setup.max_depth),
            tools: BTreeMap::from([(NodeId::ENTRY, tools)]),
            models: BTreeMap::new(),
            calling: BTreeMap::new(),
            tasks: BTreeMap::new(),
            replies: BTreeMap::new(),
            loads: BTreeSet::new(),
            asks: BTreeMap::new(),
            asked: BTreeSet::new(),
            audited: None,
            unaudited: BTreeMap::new(),
            turn_started: None,
            first_words,
        };
        self.lives.insert(Arc::clone(&id), live);
        self.viewed = Some(id);
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
        let conditions = Conditions { mode: Some(mode), ..Conditions::default() };
        let spec = self.spec(&self.entry, id, None, conditions);
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

/// Keeps what runs of a build, and says what a run is given of it.
fn keep(tools: &mut BTreeMap<ToolId, Arc<dyn Tool>>, built: &Built) -> LoadedToolset {
    for entry in &built.tools {
        tools.insert(ToolId::of(&built.toolset, &entry.known.facts.name), Arc::clone(&entry.tool));
    }
    built.loaded()
}
