//! The driver: owns the live conversations, the agents of each and their pending asks, and carries out what those ask for.
//!
//! It knows ports and no adapter. One task owns everything in here; other tasks only send it messages, so there is no
//! lock to take and no order to get wrong.

mod asks;
mod audit;
mod background;
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
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::access::{
    AgentName, Attendance, Life, ModeName, Span, Spanned, ToolId, ToolName, ToolsetName, explain, report,
};
use crate::agent::update::Preview;
use crate::agent::{
    AgentsRequest, Alert, Ask, CallId, Command, Event, Failure, Input, NodeId, Severity, ToolOutcome, TreeInput,
    Update, Usage, Wiring, command,
};
use crate::tool::Output;
use crate::tool::check::Probe;

use asks::Allowed;
use build::Built;
use capabilities::Capabilities;
use live::Live;
use ports::{Audit, Cause, Model, Models, PortError, Store, Surroundings, Switches};
use resting::Shelf;

/// Updates that may wait for a front end before the driver waits for it.
const UPDATES: usize = 4096;
/// Messages that may wait for the driver before the tasks that send them wait for it.
const MESSAGES: usize = 1024;

/// How an agent runs: what the configuration says of it, resolved.
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
    /// How each declared agent runs.
    pub agents: BTreeMap<AgentName, AgentSettings>,
    /// How composed workers run; their opener is their composer's to write.
    pub composed: AgentSettings,
    /// The entry agent's model.
    pub model: Arc<dyn Model>,
    /// Everybody's.
    pub models: Arc<dyn Models>,
    /// Levels that a declared agent may compose (D3); 0: none.
    pub max_depth: u32,
    /// How long after a key somebody counts as present (P12).
    pub presence: Duration,
    /// How long a card waits out of sight; `None`: until it is answered (P12).
    pub approval_timeout: Option<Duration>,
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
        lives: BTreeMap::new(),
        viewed: None,
        unread: BTreeSet::new(),
        last_key: setup.surroundings.now(),
        shelf: Shelf::new(setup.agent_cache_cap),
        generations: 0,
        showings: 0,
        parkings: 0,
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
    Model { conversation: Id, node: NodeId, generation: u64, input: Input },
    /// The back-off of this number is over.
    Retry { conversation: Id, node: NodeId, generation: u64 },
    /// A tool ended.
    Tool { conversation: Id, call: CallId, outcome: ToolOutcome },
    /// A load's build ended.
    Built { conversation: Id, call: CallId, toolset: ToolsetName, result: Result<Built, String> },
    /// What a worker holds from its start was built, or not.
    Wired { conversation: Id, wiring: Box<Wiring>, builds: Vec<(ToolsetName, Result<Built, String>)> },
    /// A tool asks the other agents of its turn.
    Requested { conversation: Id, call: CallId, request: AgentsRequest, reply: oneshot::Sender<Output> },
    /// A card has waited out of sight as long as it may, since this parking.
    Expired { conversation: Id, call: CallId, parking: u64 },
    /// A health check answered, or never will.
    Checked { toolset: ToolsetName, tool: ToolName, probe: Probe },
    /// A card's preview is there.
    Previewed { conversation: Id, ask: Box<Ask>, preview: Preview },
    /// A card was allowed; `preview` is what it would show now.
    Rechecked { conversation: Id, card: Allowed, preview: Preview },
    /// A title was written, or not.
    Titled { conversation: Id, title: Option<String>, began: i64, usage: Usage },
    /// The model's server said its window.
    Window { tokens: u64 },
}

/// A conversation's id.
type Id = Arc<str>;

/// The owner of everything.
struct Driver {
    setup: Setup,
    entry: AgentName,
    /// The conversation in view, and those that run.
    lives: BTreeMap<Id, Live>,
    viewed: Option<Id>,
    /// Conversations whose turn ended while they were not in view.
    unread: BTreeSet<Id>,
    /// When a person last pressed a key; the start counts as one.
    last_key: i64,
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
    /// How often a card came to wait out of sight, over every conversation.
    parkings: u64,
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
        // Every live turn, not only the one in view.
        let running: Vec<Id> = self.lives.keys().cloned().collect();
        for id in running {
            self.feed(&id, TreeInput::Run { node: NodeId::ENTRY, input: Input::Leave }).await;
            self.note_audit_head(&id);
        }
        let entries = self.setup.capabilities.world.unused_allows();
        if !entries.is_empty() {
            self.tell(Event::UnusedAllows { entries }).await;
        }
    }

    async fn obey(&mut self, command: Command) -> Going {
        match command {
            Command::In { conversation, command } if self.is_viewed(&conversation) => {
                return Box::pin(self.obey(*command)).await;
            }
            Command::In { command, .. } => self.too_late(*command).await,
            Command::Say { to, text } => self.say(to, text).await,
            Command::Stop => self.feed_viewed(TreeInput::Run { node: NodeId::ENTRY, input: Input::Stop }).await,
            Command::StopAgent { node } => self.feed_viewed(TreeInput::StopAgent { node }).await,
            Command::Present => self.last_key = self.setup.surroundings.now(),
            Command::Answer { conversation, call, answer, showing } => {
                if let Some(id) = self.live_id(&conversation) {
                    self.answer(&id, call, answer, showing).await;
                }
            }
            Command::Edit { conversation, call, arguments } => {
                if let Some(id) = self.live_id(&conversation) {
                    let input = Input::Edited { call, arguments };
                    self.feed(&id, TreeInput::Run { node: call.node(), input }).await;
                }
            }
            Command::OpenReadOnly { id } => self.open_read_only(&id).await,
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

    /// Another conversation came into view before this was heard.
    async fn too_late(&mut self, command: Command) {
        let message = match command {
            Command::Say { text, .. } => {
                format!("Another conversation came into view first, so this was not sent: {text}")
            }
            _ => "Another conversation came into view first, so nothing was done.".to_owned(),
        };
        self.alert(Severity::Warning, message, None).await;
    }

    async fn hear(&mut self, message: Message) {
        match message {
            Message::Model { conversation, node, generation, input } => {
                if self.hears_model(&conversation, node, generation) {
                    if matches!(input, Input::ModelEnded(_)) {
                        self.set_model_task(&conversation, node, None);
                    }
                    self.feed(&conversation, TreeInput::Run { node, input }).await;
                }
            }
            Message::Retry { conversation, node, generation } => {
                if self.hears_model(&conversation, node, generation) {
                    self.feed(&conversation, TreeInput::Run { node, input: Input::RetryDue }).await;
                }
            }
            Message::Tool { conversation, call, outcome } => {
                if let Some(live) = self.lives.get_mut(&conversation) {
                    live.tasks.remove(&call);
                    live.replies.remove(&call);
                    let input = Input::ToolEnded { call, outcome };
                    self.feed(&conversation, TreeInput::Run { node: call.node(), input }).await;
                }
            }
            Message::Wired { conversation, wiring, builds } => self.wired_worker(&conversation, *wiring, builds).await,
            Message::Requested { conversation, call, request, reply } => {
                // Nobody answers a call that has ended; without its reply, who asks hears that at once.
                if let Some(live) = self.lives.get_mut(&conversation).filter(|live| live.tasks.contains_key(&call)) {
                    if live.replies.contains_key(&call) {
                        let sentence = "This call asks other agents already; one question at a time.";
                        let _gone = reply.send(Output::failed(sentence));
                        return;
                    }
                    live.replies.insert(call, reply);
                    self.feed(&conversation, TreeInput::Requested { call, request }).await;
                }
            }
            Message::Expired { conversation, call, parking } => self.expire(&conversation, call, parking).await,
            Message::Built { conversation, call, toolset, result } => {
                let accepted = self.accept_load(&toolset, result).await;
                let wanted = self.lives.get_mut(&conversation).map(|live| live.loads.remove(&call));
                if let (Err(error), None | Some(false)) = (&accepted, wanted)
                    && self.setup.capabilities.world.refusal(&toolset).is_some()
                {
                    // Nobody waits for it any more, but it is refused to everybody from here on (P9).
                    let message = format!("Could not load '{toolset}': {error}");
                    self.alert(Severity::Warning, message, None).await;
                }
                if let Some(live) = self.lives.get_mut(&conversation).filter(|_| wanted == Some(true)) {
                    let node = call.node();
                    if let Ok(built) = &accepted {
                        live.keep_tools(node, built);
                    }
                    let input = Input::LoadEnded { call, result: accepted.map(|built| built.loaded()) };
                    self.feed(&conversation, TreeInput::Run { node, input }).await;
                }
                self.report().await;
            }
            Message::Checked { toolset, tool, probe } => {
                self.hear_check(&toolset, &tool, probe).await;
            }
            Message::Previewed { conversation, ask, preview } => {
                self.show_card(&conversation, *ask, preview).await;
            }
            Message::Rechecked { conversation, card, preview } => {
                self.answer_rechecked(&conversation, card, preview).await;
            }
            Message::Titled { conversation, title, began, usage } => {
                self.take_title(&conversation, title, began, usage).await;
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
        if name.is_some() && self.is_refused("The mode stays as it is").await {
            return;
        }
        self.mend().await;
        let world = &self.setup.capabilities.world;
        match name.map(|name| world.mode(name.trim())) {
            Some(Ok(mode)) => {
                self.feed_viewed(TreeInput::Run { node: NodeId::ENTRY, input: Input::Mode { mode } }).await;
                self.report().await;
            }
            Some(Err(sentence)) => {
                self.alert(Severity::Notice, format!("The mode stays as it is: {sentence}"), None).await;
            }
            None => {
                let current = self.live().and_then(|live| live.tree.entry().life().conditions.mode.clone());
                let Some(current) = current else { return };
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
        match self.live() {
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
            let live = self.live().filter(|_| agent == self.entry);
            let report = report(world, &agent, live.map(|live| live.tree.entry().life()), live.map(|live| &*live.id));
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
        let live = self.live().filter(|_| agent == self.entry);
        let life = live.map_or(Life::new(&agent, &fresh).under(&conditions), |live| live.tree.entry().life());
        let explanation = Box::new(explain(world, life, &tool, None));
        self.tell(Event::Explained { agent, tool, explanation }).await;
    }

    /// Tells what concerns the conversation in view, or the whole program.
    async fn tell(&mut self, event: Event) {
        let conversation = self.viewed.as_ref().map(ToString::to_string).unwrap_or_default();
        self.update(conversation, NodeId::ENTRY, event).await;
    }

    async fn update(&mut self, conversation: String, node: NodeId, event: Event) {
        // A front end that is gone hears nothing more; what runs is stopped by the command channel's end.
        let _gone = self.updates.send(Update { conversation, node, event }).await;
    }

    async fn alert(&mut self, severity: Severity, message: String, hint: Option<String>) {
        match severity {
            Severity::Notice => tracing::info!(%message, "alert"),
            Severity::Warning => tracing::warn!(%message, "alert"),
        }
        self.tell(Event::Alert(Alert { severity, message, hint })).await;
    }

    /// The conversation in view.
    fn live(&self) -> Option<&Live> {
        self.lives.get(self.viewed.as_ref()?)
    }

    /// The id of a live conversation.
    fn live_id(&self, conversation: &str) -> Option<Id> {
        self.lives.get_key_value(conversation).map(|(id, _)| Arc::clone(id))
    }

    fn is_viewed(&self, conversation: &str) -> bool {
        self.viewed.as_deref() == Some(conversation)
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
