//! The driver: owns the conversation in view, its live run and its pending asks, and carries out what the run asks for.
//!
//! It knows ports and no adapter. One task owns everything in here; other tasks only send it messages, so there is no
//! lock to take and no order to get wrong.

mod asks;
mod audit;
pub mod build;
pub mod capabilities;
pub mod checks;
mod conversations;
mod live;
pub mod ports;
mod resting;
mod tasks;
mod titles;
mod turns;
mod window;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::access::{
    AgentName, Attendance, Life, ModeName, Span, Spanned, ToolId, ToolName, ToolsetName, explain, report,
};
use crate::agent::update::Preview;
use crate::agent::{
    Alert, Ask, CallId, Command, Event, Failure, Input, NodeId, Severity, ToolOutcome, Update, Usage, command,
};
use crate::tool::check::Probe;

use asks::Allowed;
use build::Built;
use capabilities::Capabilities;
use live::Live;
use ports::{Audit, Cause, Model, PortError, Store, Surroundings, Switches};
use resting::Shelf;

/// Updates that may wait for a front end before the driver waits for it.
const UPDATES: usize = 4096;
/// Messages that may wait for the driver before the tasks that send them wait for it.
const MESSAGES: usize = 1024;

/// How the entry agent runs: what the configuration says of it, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// Opener of its system message.
    pub opener: String,
    /// Model calls per turn.
    pub max_iterations: u32,
    /// Calls of one round run together.
    pub concurrent_tools: bool,
    /// Tries of one failing model call.
    pub max_attempts: u32,
}

/// Whether new conversations are titled by a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Titles {
    /// After the first answer.
    Generated,
    /// The first words said are the title.
    FirstWords,
}

/// Which conversation comes into view first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opening {
    /// The one that changed last of those that a person was ever at; a new one where there is none.
    Latest,
    /// A new one.
    New,
    /// This one: an id or a unique prefix. Where it can't be opened, an error is told and the driver ends.
    Stored(String),
}

/// Everything the driver is made of.
pub struct Setup {
    /// Resolved: startup's builds were reported to its world.
    pub capabilities: Capabilities,
    /// Live agents kept in memory, at least 1 (R12).
    pub agent_cache_cap: usize,
    /// How long a health check may take.
    pub check_timeout: Duration,
    /// How long a card's preview may take.
    pub preview_timeout: Duration,
    /// How the entry agent runs.
    pub agent: AgentSettings,
    /// Its model.
    pub model: Arc<dyn Model>,
    /// Where conversations are kept.
    pub store: Arc<dyn Store>,
    /// Where every decision is written.
    pub audit: Arc<dyn Audit>,
    /// Time, chance, ids.
    pub surroundings: Arc<dyn Surroundings>,
    /// Where the person's switches are kept.
    pub switches: Arc<dyn Switches>,
    /// Titles.
    pub titles: Titles,
    /// Whether a person is at the turns started here.
    pub attendance: Attendance,
    /// The only tools that turns started here may call, by declared name (W6); `None`: no such list.
    pub only: Option<BTreeSet<ToolName>>,
    /// The mode that new conversations begin in, where it is another than the configuration's (W3).
    pub mode: Option<ModeName>,
    /// What comes into view first.
    pub opening: Opening,
    /// Said once a conversation is in view: what startup, and later an opening, wants a person to know.
    pub alerts: Vec<Alert>,
}

/// The way in: a front end's commands.
#[derive(Debug, Clone)]
pub struct Handle {
    commands: mpsc::UnboundedSender<Command>,
}

impl Handle {
    /// Hands a command over. `false`: the driver has ended.
    pub fn submit(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }
}

/// Starts the driver. The receiver yields every update in order and ends when the driver has ended.
pub fn start(setup: Setup) -> (Handle, mpsc::Receiver<Update>) {
    let (commands, inbox) = mpsc::unbounded_channel();
    let (updates, outbox) = mpsc::channel(UPDATES);
    let (messages, mailbox) = mpsc::channel(MESSAGES);
    let (entry, window) = (setup.capabilities.world.entry().clone(), setup.model.window());
    let window_asks = window::ASKS;
    let driver = Driver {
        entry,
        live: None,
        shelf: Shelf::new(setup.agent_cache_cap),
        generations: 0,
        showings: 0,
        window,
        window_asks,
        audit_works: true,
        messages,
        updates,
        setup,
    };
    tasks::spawn(driver.run(inbox, mailbox));
    (Handle { commands }, outbox)
}

/// What tasks tell the driver. Each carries what it is for, a model call's number or a conversation: what is no longer
/// live is not told.
enum Message {
    /// The model call of this number said something or ended.
    Model { generation: u64, input: Input },
    /// The back-off of this number is over.
    Retry { generation: u64 },
    /// A tool ended.
    Tool { conversation: Arc<str>, call: CallId, outcome: ToolOutcome },
    /// A load's build ended.
    Built { conversation: Arc<str>, call: CallId, toolset: ToolsetName, result: Result<Built, String> },
    /// A health check answered, or never will.
    Checked { toolset: ToolsetName, tool: ToolName, probe: Probe },
    /// A card's preview is there.
    Previewed { conversation: Arc<str>, ask: Box<Ask>, preview: Preview },
    /// A card was allowed; `preview` is what it would show now.
    Rechecked { conversation: Arc<str>, card: Allowed, preview: Preview },
    /// A title was written, or not.
    Titled { conversation: Arc<str>, title: Option<String>, began: i64, usage: Usage },
    /// The model's server said its window.
    Window { tokens: u64 },
}

/// The owner of everything.
struct Driver {
    setup: Setup,
    entry: AgentName,
    live: Option<Live>,
    /// The agents of conversations that were left.
    shelf: Shelf,
    /// Model calls and back-offs so far, over every conversation: what one says is never taken for another's, not even
    /// where a conversation was left and opened again in between.
    generations: u64,
    /// The model's window in tokens, once somebody knows it.
    window: Option<u64>,
    /// How often its server may still be asked for it.
    window_asks: u8,
    /// Whether the last entry for the audit log was written; what is wrong is said once.
    audit_works: bool,
    /// Cards shown so far, over every conversation: each showing has a number of its own.
    showings: u64,
    messages: mpsc::Sender<Message>,
    updates: mpsc::Sender<Update>,
}

/// Whether the driver goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    On,
    Out,
}

impl Driver {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>, mut messages: mpsc::Receiver<Message>) {
        if self.open_first().await == Going::Out {
            return;
        }
        self.ask_window();
        loop {
            let going = tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => Going::Out,
                },
                Some(message) = messages.recv() => {
                    self.hear(message).await;
                    Going::On
                }
            };
            if going == Going::Out {
                break;
            }
        }
        if self.is_running() {
            self.feed(Input::Leave).await;
        }
        self.note_audit_head();
        let entries = self.setup.capabilities.world.unused_allows();
        if !entries.is_empty() {
            self.tell(Event::UnusedAllows { entries }).await;
        }
    }

    async fn obey(&mut self, command: Command) -> Going {
        match command {
            Command::Say { to: _, text } => self.say(text).await,
            Command::Stop => self.feed(Input::Stop).await,
            Command::StopAgent { .. } | Command::Present | Command::OpenReadOnly { .. } => {}
            Command::Answer { call, answer, showing, .. } => self.answer(call, answer, showing).await,
            Command::Edit { call, arguments, .. } => self.feed(Input::Edited { call, arguments }).await,
            Command::New => self.begin().await,
            Command::Open { id } => self.switch_to(&id).await,
            Command::Delete { id } => self.delete(&id).await,
            Command::Rename { title } => self.rename(title).await,
            Command::List => self.list().await,
            Command::Report => {
                self.refresh_checks().await;
                self.report().await;
            }
            Command::Explain { agent, tool } => {
                self.refresh_checks().await;
                self.explain(agent, tool).await;
            }
            Command::Switch { toolset, to } => self.switch(&toolset, to).await,
            Command::KeepTheme { name } => self.keep_theme(name).await,
            Command::Revoke { grant } => {
                if self.setup.capabilities.world.revoke(grant) {
                    self.audit_revoke(grant).await;
                } else {
                    self.alert(Severity::Notice, format!("There is no grant {grant}."), None).await;
                }
                self.report().await;
            }
            Command::Mode { name } => self.mode(name).await,
            Command::Diagnostics => self.diagnose().await,
            Command::Quit => return Going::Out,
        }
        Going::On
    }

    async fn hear(&mut self, message: Message) {
        match message {
            Message::Model { generation, input } => {
                if let Some(live) = self.live.as_mut().filter(|live| live.model_generation == generation) {
                    if matches!(input, Input::ModelEnded(_)) {
                        live.model_task = None;
                    }
                    self.feed(input).await;
                }
            }
            Message::Retry { generation } => {
                if self.live.as_ref().is_some_and(|live| live.model_generation == generation) {
                    self.feed(Input::RetryDue).await;
                }
            }
            Message::Tool { conversation, call, outcome } => {
                if self.is_live(&conversation) {
                    self.forget_task(call);
                    self.feed(Input::ToolEnded { call, outcome }).await;
                }
            }
            Message::Built { conversation, call, toolset, result } => {
                let accepted = self.accept_load(&toolset, result).await;
                let wanted =
                    self.live.as_mut().filter(|live| live.is(&conversation)).map(|live| live.loads.remove(&call));
                if let (Err(error), None | Some(false)) = (&accepted, wanted)
                    && self.setup.capabilities.world.refusal(&toolset).is_some()
                {
                    // Nobody waits for it any more, but it is refused to everybody from here on (P9).
                    let message = format!("Could not load '{toolset}': {error}");
                    self.alert(Severity::Warning, message, None).await;
                }
                if let Some(live) = self.live.as_mut().filter(|_| wanted == Some(true)) {
                    if let Ok(built) = &accepted {
                        live.keep_tools(built);
                    }
                    self.feed(Input::LoadEnded { call, result: accepted.map(|built| built.loaded()) }).await;
                }
                self.report().await;
            }
            Message::Checked { toolset, tool, probe } => {
                self.hear_check(&toolset, &tool, probe).await;
            }
            Message::Previewed { conversation, ask, preview } => {
                if self.is_live(&conversation) {
                    self.show_card(*ask, preview).await;
                }
            }
            Message::Rechecked { conversation, card, preview } => {
                if self.is_live(&conversation) {
                    self.answer_rechecked(card, preview).await;
                }
            }
            Message::Titled { conversation, title, began, usage } => {
                if self.is_live(&conversation) {
                    self.take_title(title, began, usage).await;
                }
            }
            Message::Window { tokens } => self.take_window(tokens).await,
        }
    }

    /// The hook on a load's build (P8). The run says what failed (R10, P9).
    async fn accept_load(&mut self, toolset: &ToolsetName, result: Result<Built, String>) -> Result<Built, String> {
        let accepted = self.setup.capabilities.judged(toolset, result);
        match &accepted {
            Ok(built) => {
                for sentence in &built.left_out {
                    self.alert(Severity::Warning, sentence.clone(), None).await;
                }
            }
            Err(error) => tracing::warn!(agent = %self.entry, %toolset, %error, "not loaded"),
        }
        accepted
    }

    /// W1: applied and saved, or neither.
    async fn switch(&mut self, toolset: &ToolsetName, to: command::Switched) {
        let mut disabled = self.setup.capabilities.world.declarations().disabled.clone();
        disabled.retain(|word| word.value != *toolset);
        if to == command::Switched::Off {
            disabled.push(Spanned::new(toolset.clone(), Span::default()));
        }
        let before = self.setup.capabilities.world.declarations().disabled.clone();
        // What the world refuses would keep the program from starting, so it must not get into the file.
        let applied = match self.setup.capabilities.world.switch_off(disabled) {
            Ok(()) => {
                let (switches, toolset) = (Arc::clone(&self.setup.switches), toolset.clone());
                let saved = saved(move || switches.switch(&toolset, to)).await;
                saved.map_err(|error| (error.message, error.hint))
            }
            Err(faults) => Err((faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>().join("; "), None)),
        };
        if let Err((error, hint)) = applied {
            // These held until now, so they are no faults.
            let _held = self.setup.capabilities.world.switch_off(before);
            self.alert(Severity::Warning, format!("'{toolset}' was not switched: {error}"), hint).await;
        } else {
            self.audit_switch(toolset, to).await;
        }
        self.report().await;
    }

    async fn keep_theme(&mut self, name: String) {
        let (switches, kept) = (Arc::clone(&self.setup.switches), name.clone());
        match saved(move || switches.keep_theme(&kept)).await {
            Ok(()) => {
                let message = format!("The theme is {name}, saved for the next start.");
                self.alert(Severity::Notice, message, None).await;
            }
            Err(error) => {
                let message = format!("The theme is {name} until you leave; it was not saved: {}", error.message);
                self.alert(Severity::Warning, message, error.hint).await;
            }
        }
    }

    /// W3: another mode for the conversation in view, or which there are.
    async fn mode(&mut self, name: Option<String>) {
        self.mend().await;
        let world = &self.setup.capabilities.world;
        match name.map(|name| world.mode(name.trim())) {
            Some(Ok(mode)) => {
                self.feed(Input::Mode { mode }).await;
                self.report().await;
            }
            Some(Err(sentence)) => {
                self.alert(Severity::Notice, format!("The mode stays as it is: {sentence}"), None).await;
            }
            None => {
                let Some(current) = self.live.as_ref().and_then(|live| live.run.life().conditions.mode.clone()) else {
                    return;
                };
                let words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
                let modes = world.modes().map(|(name, withheld)| (name.clone(), words(withheld))).collect();
                self.tell(Event::Modes { current, modes }).await;
            }
        }
    }

    async fn diagnose(&mut self) {
        let mut lines = vec![
            format!("model       {}", self.setup.model.label()),
            format!("agent       {}", self.entry),
            format!("data        {}", self.setup.capabilities.services.data.display()),
        ];
        match &self.live {
            Some(live) => lines.extend(live.diagnostics(self.setup.surroundings.now())),
            None => lines.push("no conversation is open".to_owned()),
        }
        self.tell(Event::Diagnostics { lines }).await;
    }

    /// F3 and F4 of every declared agent: the running one as it is, the others as they would start.
    async fn report(&mut self) {
        let world = &self.setup.capabilities.world;
        let mut events = Vec::new();
        let agents = world.declarations().agents.iter().map(|agent| agent.name.value.clone());
        for agent in agents {
            let live = self.live.as_ref().filter(|_| agent == self.entry);
            let report = report(world, &agent, live.map(|live| live.run.life()), live.map(|live| &*live.id));
            events.push(Event::Report(Box::new(report)));
        }
        for event in events {
            self.tell(event).await;
        }
    }

    /// All five answers for a tool: of the running agent as it is, of another as it would start.
    async fn explain(&mut self, agent: AgentName, tool: ToolId) {
        let world = &self.setup.capabilities.world;
        let (fresh, conditions) = (world.fresh(&agent), world.default_conditions());
        let live = self.live.as_ref().filter(|_| agent == self.entry);
        let life = live.map_or(Life::new(&agent, &fresh).under(&conditions), |live| live.run.life());
        let explanation = Box::new(explain(world, life, &tool, None));
        self.tell(Event::Explained { agent, tool, explanation }).await;
    }

    async fn tell(&mut self, event: Event) {
        let conversation = self.live.as_ref().map(|live| live.id.to_string()).unwrap_or_default();
        // A front end that is gone hears nothing more; what runs is stopped by the command channel's end.
        let _gone = self.updates.send(Update { conversation, node: NodeId::ENTRY, event }).await;
    }

    async fn alert(&mut self, severity: Severity, message: String, hint: Option<String>) {
        match severity {
            Severity::Notice => tracing::info!(%message, "alert"),
            Severity::Warning => tracing::warn!(%message, "alert"),
        }
        self.tell(Event::Alert(Alert { severity, message, hint })).await;
    }

    fn is_live(&self, conversation: &str) -> bool {
        self.live.as_ref().is_some_and(|live| live.is(conversation))
    }

    fn is_running(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.run.is_running())
    }
}

/// Saves off the driver's thread, which may have to wait for the file. The driver waits with it, two seconds at most.
async fn saved<T: Send + 'static>(
    save: impl FnOnce() -> Result<T, PortError> + Send + 'static,
) -> Result<T, PortError> {
    tokio::task::spawn_blocking(save).await.unwrap_or_else(|_| {
        let message = "saving stopped unexpectedly; the log under data/logs has more".to_owned();
        Err(PortError { message, hint: None, cause: Cause::Outside })
    })
}

/// A model failure as an input, where the client could not even begin.
fn ended(failure: Failure) -> Input {
    Input::ModelEnded(Err(failure))
}
