//! The house that the driver is started in. Nothing here waits for time: a test says when a thing goes on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as blocking};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use kokua::access::audit;
use kokua::access::declare::{Background, EntryList, Pair};
use kokua::access::{
    AgentDeclaration, AgentName, Answer, Attendance, Available, Declarations, Kind, Registry, Risk, Span, Spanned,
    ToolsetFacts, ToolsetName, World,
};
use kokua::agent::command::Switched;
use kokua::agent::update::Preview;
use kokua::agent::{
    CallId, CallKind, Command, ConversationSummary, Delta, Ending, Event, Failure, FailureKind, Message, NodeId,
    Record, Request, Retry, TurnEnd, Update,
};
use kokua::assistant::build::build;
use kokua::assistant::capabilities::Capabilities;
use kokua::assistant::checks::Health;
use kokua::assistant::ports::{
    Audit, Audited, Cause, Log, Model, Models, Opened, PortError, Read, Store, Surroundings, Switches,
};
use kokua::assistant::{AgentSettings, Handle, Opening, Setup, Titles, start};
use kokua::config::{self, Locations, Source};
use kokua::store;
use kokua::tool::{Agents, BuildError, CallContext, Check, Output, Services, Tool, ToolSpec, Toolset};
use kokua::toolsets;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

/// A test that waits longer than this for an event has failed. It is a deadline, not a pace.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

// --- the model -------------------------------------------------------------------------------------------------------

pub(crate) type Piece = Result<Delta, Failure>;

/// One answer of the scripted model.
pub(crate) enum Play {
    Says(Vec<Piece>),
    /// As the test sends it; it ends when the sender is dropped.
    Sent(mpsc::UnboundedReceiver<Piece>),
    /// It repeats this piece without end; the counter says how often it was taken.
    Endless(Delta, Arc<AtomicU64>),
    Panics,
}

pub(crate) fn text(text: &str) -> Piece {
    Ok(Delta::Text { text: text.to_owned() })
}

/// An answer of words.
pub(crate) fn words(words: &str) -> Play {
    Play::Says(vec![text(words)])
}

/// An answer of calls, each a wire name and its arguments.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Play {
    let pieces = calls.iter().enumerate().flat_map(|(index, (name, arguments))| {
        let (id, name) = (format!("p{index}"), (*name).to_owned());
        [Ok(Delta::CallStart { index, id, name }), Ok(Delta::CallArguments { index, text: arguments.to_string() })]
    });
    Play::Says(pieces.collect())
}

pub(crate) fn call(name: &str) -> Play {
    calls(&[(name, json!({}))])
}

pub(crate) fn load(toolset: &str) -> Play {
    calls(&[("load_tools", json!({ "name": toolset }))])
}

/// A call of `spawn_subagent`.
pub(crate) fn spawn(agent: &str, task: &str) -> (&'static str, Value) {
    ("spawn_subagent", json!({ "agent_type": agent, "task": task }))
}

/// The same in the background.
pub(crate) fn spawn_beside(agent: &str, task: &str) -> (&'static str, Value) {
    ("spawn_subagent", json!({ "agent_type": agent, "task": task, "background": true }))
}

/// An answer that the test speaks itself.
pub(crate) fn sent() -> (mpsc::UnboundedSender<Piece>, Play) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Play::Sent(receiver))
}

/// What an agent answers by a rule instead of a script.
type Rule = Box<dyn Fn(&Request) -> Option<Play> + Send>;

#[derive(Default)]
pub(crate) struct Script {
    plays: Mutex<VecDeque<Play>>,
    /// The answers of those whose first user message is this: workers, by their task.
    tasks: Mutex<BTreeMap<String, VecDeque<Play>>>,
    rule: Mutex<Option<Rule>>,
    /// Agents whose model can't be used.
    unusable: Mutex<BTreeSet<String>>,
    titles: Mutex<VecDeque<Play>>,
    requests: Mutex<Vec<Request>>,
    /// What its server says of its window, each time that it is asked.
    windows: Mutex<VecDeque<Option<u64>>>,
}

/// The first thing that was said in a request: of a worker, its task.
pub(crate) fn task(request: &Request) -> &str {
    let first = request.messages.iter().find_map(|message| match message {
        Message::User(user) => Some(user.text.as_str()),
        _ => None,
    });
    first.unwrap_or_default()
}

impl Script {
    fn play(&self, request: &Request) -> Play {
        if request.kind == CallKind::Title {
            return lock(&self.titles).pop_front().expect("a play for every title");
        }
        if let Some(play) = lock(&self.rule).as_ref().and_then(|rule| rule(request)) {
            return play;
        }
        if let Some(plays) = lock(&self.tasks).get_mut(task(request)) {
            return plays.pop_front().unwrap_or_else(|| panic!("no play left for '{}'", task(request)));
        }
        lock(&self.plays).pop_front().expect("a play for every model call")
    }
}

impl Model for Script {
    fn stream(&self, request: Request) -> BoxStream<'static, Piece> {
        let play = self.play(&request);
        lock(&self.requests).push(request);
        match play {
            Play::Says(pieces) => stream::iter(pieces).boxed(),
            Play::Sent(mut pieces) => stream::poll_fn(move |context| pieces.poll_recv(context)).boxed(),
            Play::Endless(delta, taken) => stream::repeat_with(move || {
                taken.fetch_add(1, Ordering::Relaxed);
                Ok(delta.clone())
            })
            .boxed(),
            Play::Panics => stream::once(async { panic!("the wire broke") }).boxed(),
        }
    }

    fn label(&self) -> String {
        "scripted".to_owned()
    }

    fn is_rehearsal(&self) -> bool {
        false
    }

    fn window(&self) -> Option<u64> {
        None
    }

    fn find_window(&self) -> BoxFuture<'static, Option<u64>> {
        let said = lock(&self.windows).pop_front();
        async move { said.flatten() }.boxed()
    }

    fn tool_limit(&self) -> Option<usize> {
        None
    }
}

// --- the store -------------------------------------------------------------------------------------------------------

type Refuses = Box<dyn Fn(&Record) -> bool + Send>;

/// Conversations in memory. One that is open is locked, as the real ones are.
#[derive(Default)]
pub(crate) struct Shelf {
    logs: Mutex<BTreeMap<String, Vec<Record>>>,
    open: Mutex<BTreeSet<String>>,
    refuses: Mutex<Option<Refuses>>,
    refuses_to_open: Mutex<bool>,
    answers: Mutex<Vec<String>>,
}

struct Volume {
    shelf: Arc<Shelf>,
    id: String,
}

fn refused(what: &str) -> PortError {
    PortError { message: what.to_owned(), hint: None, cause: Cause::Outside }
}

impl Log for Volume {
    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        if lock(&self.shelf.refuses).as_ref().is_some_and(|refuses| refuses(record)) {
            return Err(refused("the disk is full"));
        }
        lock(&self.shelf.logs).get_mut(&self.id).expect("a log that was begun").push(record.clone());
        Ok(())
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        lock(&self.shelf.open).remove(&self.id);
    }
}

impl Shelf {
    pub(crate) fn records(&self, id: &str) -> Vec<Record> {
        lock(&self.logs).get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        lock(&self.logs).keys().cloned().collect()
    }

    /// Records of which this is true are not saved from now on.
    pub(crate) fn refuse(&self, refuses: impl Fn(&Record) -> bool + Send + 'static) {
        *lock(&self.refuses) = Some(Box::new(refuses));
    }

    pub(crate) fn refuse_nothing(&self) {
        *lock(&self.refuses) = None;
    }

    /// Another program has this conversation open from here on, or lets go of it.
    pub(crate) fn hold(&self, id: &str) {
        lock(&self.open).insert(id.to_owned());
    }

    pub(crate) fn let_go(&self, id: &str) {
        lock(&self.open).remove(id);
    }

    /// Whoever has it open writes this.
    pub(crate) fn write(&self, id: &str, record: Record) {
        lock(&self.logs).get_mut(id).expect("a log that was begun").push(record);
    }

    /// Whether somebody has its log open.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        lock(&self.open).contains(id)
    }

    pub(crate) fn refuse_to_open(&self) {
        *lock(&self.refuses_to_open) = true;
    }

    fn find(&self, id: &str) -> Result<String, PortError> {
        let logs = lock(&self.logs);
        let mut found = logs.keys().filter(|known| known.starts_with(id));
        match (found.next(), found.next()) {
            (Some(id), None) => Ok(id.clone()),
            (None, _) => Err(refused("there is no such conversation")),
            (Some(_), Some(_)) => Err(refused("several conversations begin so")),
        }
    }
}

pub(crate) struct Shelves(pub(crate) Arc<Shelf>);

impl Store for Shelves {
    fn create(&self, id: &str, _agent: &AgentName, _at: i64) -> Result<Box<dyn Log>, PortError> {
        if *lock(&self.0.refuses_to_open) {
            return Err(refused("the folder cannot be written"));
        }
        // As the real store does: a log is begun once.
        if lock(&self.0.logs).contains_key(id) {
            return Err(refused("it is there already"));
        }
        lock(&self.0.logs).insert(id.to_owned(), Vec::new());
        lock(&self.0.open).insert(id.to_owned());
        Ok(Box::new(Volume { shelf: Arc::clone(&self.0), id: id.to_owned() }))
    }

    fn find(&self, id: &str) -> Result<String, PortError> {
        self.0.find(id)
    }

    fn open(&self, id: &str) -> Result<Opened, PortError> {
        if *lock(&self.0.refuses_to_open) {
            return Err(refused("the folder cannot be read"));
        }
        let id = self.0.find(id)?;
        if !lock(&self.0.open).insert(id.clone()) {
            let holder = "another kokua (process 4242, since 21:04)".to_owned();
            let message = format!("\"{id}\" is open in {holder}");
            return Err(PortError { message, hint: None, cause: Cause::Held });
        }
        let mut records = self.0.records(&id);
        records.extend(store::repair(&records));
        lock(&self.0.logs).insert(id.clone(), records.clone());
        Ok(Opened {
            agent: AgentName::new("assistant"),
            title: store::title(&records).map(str::to_owned),
            loads: kokua::agent::loads(&records),
            records,
            notices: Vec::new(),
            log: Box::new(Volume { shelf: Arc::clone(&self.0), id: id.clone() }),
            id,
        })
    }

    fn read(&self, id: &str) -> Result<Read, PortError> {
        let records = self.0.records(&self.0.find(id)?);
        Ok(Read { title: store::title(&records).map(str::to_owned), records, notices: Vec::new() })
    }

    fn list(&self) -> Result<Vec<ConversationSummary>, PortError> {
        let of_nobody =
            |record: &Record| !matches!(record, Record::TurnStarted { attendance: Attendance::Attended, .. });
        let summary = |(id, records): (&String, &Vec<Record>)| ConversationSummary {
            id: id.clone(),
            title: store::title(records).unwrap_or("untitled").to_owned(),
            updated: 0,
            turns: 0,
            attendance: if records.iter().all(of_nobody) { Attendance::Unattended } else { Attendance::Attended },
            current: false,
            activity: kokua::agent::Activity::Idle,
            unread: false,
        };
        Ok(lock(&self.0.logs).iter().rev().map(summary).collect())
    }

    fn remove(&self, id: &str) -> Result<String, PortError> {
        let id = self.0.find(id)?;
        if lock(&self.0.open).contains(&id) {
            return Err(refused("it is open"));
        }
        lock(&self.0.logs).remove(&id);
        Ok(id)
    }

    fn keep_answer(&self, _: &str, text: &str) -> Result<PathBuf, PortError> {
        let mut answers = lock(&self.0.answers);
        let known = answers.iter().position(|answer| answer == text);
        let number = known.unwrap_or_else(|| {
            answers.push(text.to_owned());
            answers.len() - 1
        });
        Ok(PathBuf::from(format!("/data/answers/{number}.txt")))
    }
}

// --- the audit -------------------------------------------------------------------------------------------------------

type RefusesEntry = Box<dyn Fn(&audit::Entry) -> bool + Send>;

/// The audit log in memory. Digests are the arguments with a word before them.
#[derive(Default)]
pub(crate) struct Minutes {
    entries: Mutex<Vec<audit::Entry>>,
    refuses: Mutex<Option<RefusesEntry>>,
}

impl Minutes {
    pub(crate) fn entries(&self) -> Vec<audit::Entry> {
        lock(&self.entries).clone()
    }

    pub(crate) fn refuse(&self, refuses: impl Fn(&audit::Entry) -> bool + Send + 'static) {
        *lock(&self.refuses) = Some(Box::new(refuses));
    }

    pub(crate) fn refuse_nothing(&self) {
        *lock(&self.refuses) = None;
    }
}

struct SharedMinutes(Arc<Minutes>);

impl Audit for SharedMinutes {
    fn append(&self, draft: audit::Draft) -> Result<Audited, PortError> {
        if lock(&self.0.refuses).as_ref().is_some_and(|refuses| refuses(draft.entry())) {
            return Err(refused("the disk is full"));
        }
        let mut entries = lock(&self.0.entries);
        entries.push(draft.sealed(|arguments| format!("digest of {arguments}")));
        let head = audit::Head { entries: entries.len() as u64, hash: format!("hash {}", entries.len()) };
        Ok(Audited { head, notices: Vec::new() })
    }
}

// --- surroundings and switches ---------------------------------------------------------------------------------------

/// A clock that moves by a millisecond whenever it is read, no chance, and ids `conversation-1`, `conversation-2`, ….
#[derive(Default)]
struct Quiet {
    now: AtomicI64,
    ids: AtomicU64,
}

impl House {
    /// So many seconds pass.
    pub(crate) fn pass(&self, seconds: i64) {
        self.surroundings.now.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }
}

impl Surroundings for Quiet {
    fn now(&self) -> i64 {
        self.now.fetch_add(1, Ordering::Relaxed)
    }

    fn random(&self) -> u64 {
        0
    }

    fn id(&self) -> String {
        format!("conversation-{}", self.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

#[derive(Default)]
pub(crate) struct Knobs {
    saved: Mutex<Vec<Vec<String>>>,
    /// A word for whoever waits for a switch.
    switched: Notify,
    broken: Mutex<bool>,
}

impl Knobs {
    pub(crate) fn saved(&self) -> Vec<Vec<String>> {
        lock(&self.saved).clone()
    }

    pub(crate) fn fail(&self) {
        *lock(&self.broken) = true;
    }
}

struct SharedKnobs(Arc<Knobs>);

impl Switches for SharedKnobs {
    fn switch(&self, toolset: &ToolsetName, to: Switched) -> Result<(), PortError> {
        if *lock(&self.0.broken) {
            return Err(refused("config.toml cannot be written"));
        }
        lock(&self.0.saved).push(vec![format!("{toolset} {to:?}")]);
        self.0.switched.notify_one();
        Ok(())
    }

    fn keep_theme(&self, name: &str) -> Result<(), PortError> {
        if *lock(&self.0.broken) {
            return Err(refused("config.toml cannot be written"));
        }
        lock(&self.0.saved).push(vec![format!("theme {name}")]);
        Ok(())
    }
}

// --- toolsets --------------------------------------------------------------------------------------------------------

/// How one build of a toolset goes.
pub(crate) enum Building {
    Fails(&'static str),
    /// It says that it has begun, and waits for the test's word.
    Waits(oneshot::Sender<()>, blocking::Receiver<()>),
    /// It returns a tool that panics when it is looked at.
    PanicsLater,
    /// It says that it has begun, waits for the test's word, and its tools have other names then.
    Renamed(oneshot::Sender<()>, blocking::Receiver<()>),
}

/// What the tools and toolsets of a bench share with its test.
#[derive(Default)]
pub(crate) struct Stage {
    /// What ran, in order: `run {}`.
    pub(crate) ran: Mutex<Vec<String>>,
    /// What `write` would change, as its preview reads it.
    pub(crate) file: Mutex<String>,
    /// The next preview waits for the test's word.
    pub(crate) preview_waits: Mutex<Option<blocking::Receiver<()>>>,
    /// What the check of `run` says against it.
    pub(crate) unwell: Mutex<Option<&'static str>>,
    /// The next check of `run` waits for the test's word.
    pub(crate) check_waits: Mutex<Option<blocking::Receiver<()>>>,
    /// Conversations as they were when a tool began.
    pub(crate) log_at_run: Mutex<Vec<Record>>,
    /// The next call of `wait` with this `n` goes on at the test's word.
    waits: Mutex<BTreeMap<u64, oneshot::Receiver<()>>>,
    /// What `keep` was given to ask other agents with.
    pub(crate) kept: Mutex<Vec<Agents>>,
    /// The way to the driver, for a tool that uses it.
    handle: Mutex<Option<Handle>>,
    builds: Mutex<BTreeMap<&'static str, VecDeque<Building>>>,
    built: Mutex<BTreeMap<&'static str, u32>>,
    /// How many `hang`s were dropped.
    dropped: Mutex<Option<mpsc::UnboundedSender<()>>>,
}

impl Stage {
    pub(crate) fn ran(&self) -> Vec<String> {
        lock(&self.ran).clone()
    }

    /// The word that `wait` with this `n` waits for.
    pub(crate) fn waiting(&self, n: u64) -> oneshot::Sender<()> {
        let (word, waits) = oneshot::channel();
        lock(&self.waits).insert(n, waits);
        word
    }

    /// The next build of `toolset` goes like this.
    pub(crate) fn building(&self, toolset: &'static str, building: Building) {
        lock(&self.builds).entry(toolset).or_default().push_back(building);
    }

    /// The next build of `toolset` waits for a word on the sender; the receiver says when it has begun.
    pub(crate) fn building_waits(&self, toolset: &'static str) -> (blocking::Sender<()>, oneshot::Receiver<()>) {
        let (begun, begins) = oneshot::channel();
        let (word, waits) = blocking::channel();
        self.building(toolset, Building::Waits(begun, waits));
        (word, begins)
    }

    /// The same, and its tools have other names then.
    pub(crate) fn renaming_waits(&self, toolset: &'static str) -> (blocking::Sender<()>, oneshot::Receiver<()>) {
        let (begun, begins) = oneshot::channel();
        let (word, waits) = blocking::channel();
        self.building(toolset, Building::Renamed(begun, waits));
        (word, begins)
    }

    pub(crate) fn builds_of(&self, toolset: &str) -> u32 {
        lock(&self.built).get(toolset).copied().unwrap_or(0)
    }

    /// A word for each running `hang` that is dropped.
    pub(crate) fn drops(&self) -> mpsc::UnboundedReceiver<()> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *lock(&self.dropped) = Some(sender);
        receiver
    }
}

struct Kit {
    name: &'static str,
    tools: &'static [(&'static str, Risk)],
    guidance: Option<&'static str>,
    stage: Arc<Stage>,
    shelf: Arc<Shelf>,
    knobs: Arc<Knobs>,
}

/// A kit's name, its tools and its guidance.
type Entry = (&'static str, &'static [(&'static str, Risk)], Option<&'static str>);

/// `fs` and `work` are resident, `extra` and `other` deferred. `run`, `write` and `wipe` ask first; `wipe` is on the floor.
const KITS: [Entry; 4] = [
    ("fs", &[("look", Risk::Read), ("boom", Risk::Read), ("hang", Risk::Read)], None),
    ("work", &[("run", Risk::Exec), ("write", Risk::Write), ("wipe", Risk::Exec)], None),
    ("extra", &[("more", Risk::Read)], Some("More is less.")),
    ("other", &[("thing", Risk::Read)], None),
];

/// What a house with workers has as well. `paper` is the clerk's, whose policy names `paper.sign`.
const MORE_KITS: [Entry; 2] = [
    ("odd", &[("tune", Risk::Read), ("wait", Risk::Read), ("keep", Risk::Read)], None),
    ("paper", &[("sign", Risk::Write)], None),
];

impl Toolset for Kit {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "A kit."
    }

    fn guidance(&self) -> Option<&str> {
        self.guidance
    }

    fn check(&self, tool: &str) -> Option<Check> {
        let stage = Arc::clone(&self.stage);
        let check = move || {
            let word = lock(&stage.check_waits).take();
            let _dropped = word.map(|word| word.recv());
            lock(&stage.unwell).map_or(Ok(()), |why| Err(why.to_owned()))
        };
        (tool == "run").then(|| Box::new(check) as Check)
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let number = {
            let mut built = lock(&self.stage.built);
            let number = built.entry(self.name).or_default();
            *number += 1;
            *number
        };
        let building = lock(&self.stage.builds).get_mut(self.name).and_then(VecDeque::pop_front);
        let (mut broken, mut renamed) = (false, false);
        match building {
            None => {}
            Some(Building::Fails(error)) => return Err(BuildError(error.to_owned())),
            Some(Building::Waits(begun, word)) => {
                begun.send(()).expect("a test that waits");
                word.recv().expect("the test's word");
            }
            Some(Building::PanicsLater) => broken = true,
            Some(Building::Renamed(begun, word)) => {
                begun.send(()).expect("a test that waits");
                word.recv().expect("the test's word");
                renamed = true;
            }
        }
        let tool = |(name, risk): &(&'static str, Risk)| -> Arc<dyn Tool> {
            Arc::new(Piecework {
                spec: ToolSpec {
                    name: if renamed { format!("new_{name}") } else { (*name).to_owned() },
                    description: format!("{name}."),
                    schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
                    risk: *risk,
                    trigger: None,
                },
                broken,
                build: number,
                stage: Arc::clone(&self.stage),
                shelf: Arc::clone(&self.shelf),
                knobs: Arc::clone(&self.knobs),
            })
        };
        Ok(self.tools.iter().map(tool).collect())
    }
}

struct Piecework {
    spec: ToolSpec,
    broken: bool,
    build: u32,
    stage: Arc<Stage>,
    shelf: Arc<Shelf>,
    knobs: Arc<Knobs>,
}

impl Tool for Piecework {
    fn spec(&self) -> &ToolSpec {
        assert!(!self.broken, "the tool is broken");
        &self.spec
    }

    fn preview(&self, _arguments: &Value) -> Preview {
        let waits = lock(&self.stage.preview_waits).take();
        if let Some(word) = waits {
            word.recv().expect("the test's word");
        }
        let file = lock(&self.stage.file).clone();
        assert_ne!(file, "unreadable");
        Preview { diff: None, facts: vec![("file".to_owned(), file.clone())], digest: file }
    }

    fn call(&self, arguments: Value, context: CallContext) -> BoxFuture<'static, Output> {
        let (name, stage, build) = (self.spec.name.clone(), Arc::clone(&self.stage), self.build);
        let knobs = Arc::clone(&self.knobs);
        lock(&stage.ran).push(format!("{name} {arguments}"));
        *lock(&stage.log_at_run) = self.shelf.records(&context.conversation);
        async move {
            match name.as_str() {
                "boom" => panic!("it went off"),
                "hang" => {
                    let _dropped = Dropped(stage);
                    std::future::pending().await
                }
                "more" => Output::ok(format!("more of build {build}")),
                "tune" => {
                    let handle = lock(&stage.handle).clone().expect("the way to the driver");
                    handle.submit(Command::Switch { toolset: ToolsetName::new("other"), to: Switched::Off });
                    knobs.switched.notified().await;
                    Output::ok("tuned")
                }
                "wait" => {
                    let _dropped = Dropped(Arc::clone(&stage));
                    let n = arguments.get("n").and_then(Value::as_u64).unwrap_or_default();
                    let word = lock(&stage.waits).remove(&n).expect("a test that says the word");
                    word.await.expect("the test's word");
                    Output::ok(format!("waited for {n}"))
                }
                "keep" => {
                    lock(&stage.kept).push(context.agents);
                    Output::ok("kept")
                }
                name => Output::ok(format!("{name} done")),
            }
        }
        .boxed()
    }
}

struct Dropped(Arc<Stage>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(sender) = &*lock(&self.0.dropped) {
            let _ = sender.send(());
        }
    }
}

// --- the bench -------------------------------------------------------------------------------------------------------

/// What outlives one start of the program.
#[derive(Clone, Default)]
pub(crate) struct House {
    pub(crate) model: Arc<Script>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) minutes: Arc<Minutes>,
    pub(crate) knobs: Arc<Knobs>,
    pub(crate) stage: Arc<Stage>,
    surroundings: Arc<Quiet>,
}

struct SharedModel(Arc<Script>);

/// Every agent's model is the one script.
struct SharedModels(Arc<Script>);

impl Models for SharedModels {
    fn of(&self, agent: &AgentName) -> Result<Arc<dyn Model>, Failure> {
        if lock(&self.0.unusable).contains(agent.as_str()) {
            return Err(Failure {
                kind: FailureKind::Unauthorized,
                message: "there is no key for it".to_owned(),
                hint: Some("Set one.".to_owned()),
                retry: Retry::Never,
            });
        }
        Ok(Arc::new(SharedModel(Arc::clone(&self.0))))
    }
}

impl Model for SharedModel {
    fn stream(&self, request: Request) -> BoxStream<'static, Piece> {
        self.0.stream(request)
    }
    fn label(&self) -> String {
        self.0.label()
    }
    fn is_rehearsal(&self) -> bool {
        self.0.is_rehearsal()
    }
    fn window(&self) -> Option<u64> {
        self.0.window()
    }

    fn find_window(&self) -> BoxFuture<'static, Option<u64>> {
        self.0.find_window()
    }

    fn tool_limit(&self) -> Option<usize> {
        None
    }
}

/// How a bench differs from the usual.
pub(crate) struct Options {
    pub(crate) opening: Opening,
    pub(crate) titles: Titles,
    pub(crate) attendance: Attendance,
    pub(crate) allow: &'static [&'static str],
    pub(crate) max_attempts: u32,
    pub(crate) agent_cache_cap: usize,
    pub(crate) check_timeout: Duration,
    pub(crate) preview_timeout: Duration,
    pub(crate) approval_timeout: Option<Duration>,
    pub(crate) team: Team,
    pub(crate) background: Background,
    pub(crate) max_iterations: u32,
}

/// Who is in the house.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Team {
    /// The assistant, who delegates to nobody.
    Alone,
    /// `coder` (who delegates to `researcher`), `researcher` and `clerk`. All have the real `messaging` but the clerk, and the
    /// assistant the real `capabilities`.
    Workers,
}

impl Options {
    pub(crate) fn workers() -> Self {
        Self { team: Team::Workers, ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            opening: Opening::New,
            titles: Titles::FirstWords,
            attendance: Attendance::Attended,
            allow: &[],
            max_attempts: 1,
            agent_cache_cap: 8,
            check_timeout: DEADLINE,
            preview_timeout: DEADLINE,
            approval_timeout: None,
            team: Team::Alone,
            background: Background::Park,
            max_iterations: 10,
        }
    }
}

/// A running driver and the house around it.
pub(crate) struct Bench {
    pub(crate) house: House,
    handle: Handle,
    updates: mpsc::Receiver<Update>,
    /// The last showing of each card.
    pub(crate) showings: BTreeMap<u64, u64>,
    /// The same for each conversation.
    shown: BTreeMap<(String, u64), u64>,
    /// The one in view.
    pub(crate) conversation: String,
}

fn spanned<T>(value: T, line: usize) -> Spanned<T> {
    Spanned::new(value, Span { start: 0, end: 1, line, column: 1 })
}

/// Every kit that a house has.
fn kits(team: Team) -> impl Iterator<Item = Entry> {
    KITS.into_iter().chain(MORE_KITS.into_iter().filter(move |_| team == Team::Workers))
}

/// The real toolsets of a house with workers.
const REAL: [&str; 2] = ["messaging", "capabilities"];

fn real(team: Team) -> Vec<Arc<dyn Toolset>> {
    if team == Team::Alone {
        return Vec::new();
    }
    let source = Source { path: "/nowhere/config.toml".into(), text: "[agents.assistant]\n".to_owned() };
    let locations = Locations { home_variable: Some("/nowhere".into()), ..Locations::default() };
    let config = config::parse(source, &locations, |_| Vec::new()).unwrap();
    toolsets::all(&config).into_iter().filter(|toolset| REAL.contains(&toolset.name())).collect()
}

fn agent(
    name: &str,
    available: &[&str],
    resident: &[&str],
    confirm: Option<&str>,
    delegates: &[&str],
) -> AgentDeclaration {
    let names = |names: &[&str]| names.iter().map(|name| spanned(ToolsetName::new(*name), 2)).collect();
    let confirm =
        confirm.map(|entry| EntryList { key: spanned((), 4).span, entries: vec![spanned(entry.to_owned(), 4)] });
    AgentDeclaration {
        name: spanned(AgentName::new(name), 1),
        description: String::new(),
        available: Available::List(names(available)),
        resident: Some(names(resident)),
        pair: Pair { confirm, review: None },
        delegates_to: delegates.iter().map(|name| spanned(AgentName::new(*name), 2)).collect(),
    }
}

fn agents(team: Team) -> Vec<AgentDeclaration> {
    match team {
        Team::Alone => vec![agent("assistant", &["fs", "work", "extra", "other"], &["fs", "work"], None, &[])],
        Team::Workers => {
            let (available, resident) =
                (["fs", "work", "odd", "messaging", "extra"], ["fs", "work", "odd", "messaging"]);
            let assistant = ["fs", "work", "odd", "messaging", "capabilities", "extra", "other"];
            vec![
                agent("assistant", &assistant, &assistant[..5], None, &["coder", "researcher", "clerk"]),
                agent("coder", &available, &resident, None, &["researcher"]),
                agent("researcher", &available, &resident, None, &[]),
                agent("clerk", &["paper"], &["paper"], Some("paper.sign"), &[]),
            ]
        }
    }
}

fn world(team: Team, background: Background) -> World {
    let mut registry = Registry::new(["assistant"]);
    for name in kits(team).map(|(name, ..)| name).chain(REAL.into_iter().filter(|_| team == Team::Workers)) {
        let facts = ToolsetFacts {
            name: ToolsetName::new(name),
            kind: Kind::BuiltIn,
            description: format!("About {name}."),
            entry_agent_only: false,
            commands: Vec::new(),
        };
        registry.register(facts).unwrap();
    }
    let confirm = ["work"].iter().map(|entry| spanned((*entry).to_owned(), 3)).collect();
    let declarations = Declarations {
        entry: Some(spanned(AgentName::new("assistant"), 1)),
        default_pair: Pair { confirm: Some(EntryList { key: spanned((), 3).span, entries: confirm }), review: None },
        agents: agents(team),
        floor: vec![spanned("work.wipe".to_owned(), 5)],
        background,
        ..Declarations::default()
    };
    let mut world = World::new(declarations, registry).unwrap();
    kokua::agent::define_core(&mut world);
    world
}

impl House {
    /// What the model's server will say of its window.
    pub(crate) fn windows(&self, windows: &[Option<u64>]) {
        lock(&self.model.windows).extend(windows);
    }

    /// How much of that it was not asked for.
    pub(crate) fn windows_left(&self) -> usize {
        lock(&self.model.windows).len()
    }

    pub(crate) async fn open(&self, options: Options) -> Bench {
        let services = Services { data: "/nowhere".into(), working_directory: "/nowhere".into() };
        let kits = kits(options.team).map(|(name, tools, guidance)| {
            let (stage, shelf) = (Arc::clone(&self.stage), Arc::clone(&self.shelf));
            Arc::new(Kit { name, tools, guidance, stage, shelf, knobs: Arc::clone(&self.knobs) }) as Arc<dyn Toolset>
        });
        let toolsets: BTreeMap<ToolsetName, Arc<dyn Toolset>> =
            kits.chain(real(options.team)).map(|toolset| (ToolsetName::new(toolset.name()), toolset)).collect();
        let mut world = world(options.team, options.background);
        let mut built = BTreeMap::new();
        for name in world.startup_builds() {
            let made = build(Arc::clone(&toolsets[&name]), services.clone(), DEADLINE).await.unwrap();
            made.judge(&mut world).unwrap();
            built.insert(name, made);
        }
        world.resolve().unwrap();
        world.allow(&options.allow.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>()).unwrap();
        let (handle, updates) = start(Setup {
            capabilities: Capabilities {
                world,
                toolsets,
                built,
                services,
                build_timeout: DEADLINE,
                health: Health::default(),
            },
            agent_cache_cap: options.agent_cache_cap,
            check_timeout: options.check_timeout,
            preview_timeout: options.preview_timeout,
            agents: BTreeMap::new(),
            composed: AgentSettings {
                opener: "You help.".to_owned(),
                max_iterations: options.max_iterations,
                concurrent_tools: true,
                max_attempts: options.max_attempts,
            },
            model: Arc::new(SharedModel(Arc::clone(&self.model))),
            models: Arc::new(SharedModels(Arc::clone(&self.model))),
            max_depth: 3,
            presence: Duration::from_mins(15),
            approval_timeout: options.approval_timeout,
            store: Arc::new(Shelves(Arc::clone(&self.shelf))),
            audit: Arc::new(SharedMinutes(Arc::clone(&self.minutes))),
            surroundings: Arc::clone(&self.surroundings) as Arc<dyn Surroundings>,
            switches: Arc::new(SharedKnobs(Arc::clone(&self.knobs))),
            titles: options.titles,
            attendance: options.attendance,
            only: None,
            mode: None,
            opening: options.opening,
            alerts: Vec::new(),
        });
        *lock(&self.stage.handle) = Some(handle.clone());
        Bench {
            house: self.clone(),
            handle,
            updates,
            showings: BTreeMap::new(),
            shown: BTreeMap::new(),
            conversation: String::new(),
        }
    }
}

impl Bench {
    /// A bench whose first, new conversation is in view.
    pub(crate) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let mut bench = House::default().open(options).await;
        bench.until_replayed().await;
        bench
    }

    /// The model's next answers, in order.
    pub(crate) fn plays(&self, plays: impl IntoIterator<Item = Play>) {
        lock(&self.house.model.plays).extend(plays);
    }

    pub(crate) fn titles(&self, plays: impl IntoIterator<Item = Play>) {
        lock(&self.house.model.titles).extend(plays);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.house.model.requests).clone()
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.house.stage
    }

    pub(crate) fn submit(&self, command: Command) {
        assert!(self.handle.submit(command), "the driver has ended");
    }

    pub(crate) fn say(&self, text: &str) {
        self.submit(Command::Say { to: kokua::agent::NodeId::ENTRY, text: text.to_owned() });
    }

    /// Answers what was shown last.
    pub(crate) fn answer(&self, call: u64, answer: Answer) {
        let showing = self.showings.get(&call).copied().unwrap_or_default();
        self.submit(Command::Answer { conversation: self.conversation.clone(), call: CallId(call), answer, showing });
    }

    /// Every event up to the first of which this is true.
    pub(crate) async fn until(&mut self, what: &str, mut found: impl FnMut(&Event) -> bool) -> Vec<Event> {
        let updates = self.until_told(what, |update| found(&update.event)).await;
        updates.into_iter().map(|update| update.event).collect()
    }

    /// Every update up to the first of which this is true.
    pub(crate) async fn until_told(&mut self, what: &str, mut found: impl FnMut(&Update) -> bool) -> Vec<Update> {
        let mut updates = Vec::new();
        loop {
            let next = tokio::time::timeout(DEADLINE, self.updates.recv()).await;
            let update = next.unwrap_or_else(|_| panic!("no {what} after {updates:#?}"));
            let update = update.unwrap_or_else(|| panic!("the driver ended before {what}: {updates:#?}"));
            match &update.event {
                Event::Ask { ask, showing, .. } => {
                    self.showings.insert(ask.call.0, *showing);
                    self.shown.insert((update.conversation.clone(), ask.call.0), *showing);
                }
                Event::Session { conversation, .. } => self.conversation.clone_from(conversation),
                _ => {}
            }
            let last = found(&update);
            updates.push(update);
            if last {
                return updates;
            }
        }
    }

    /// Up to the end of the entry agent's turn.
    pub(crate) async fn until_end(&mut self) -> Vec<Event> {
        let updates = self.until_end_told().await;
        updates.into_iter().map(|update| update.event).collect()
    }

    pub(crate) async fn until_end_told(&mut self) -> Vec<Update> {
        self.until_told("end", |update| update.node.is_entry() && matches!(update.event, Event::End { .. })).await
    }

    /// Brings a conversation into view; what was told up to the end of its history.
    pub(crate) async fn open(&mut self, id: &str) -> Vec<Update> {
        self.submit(Command::Open { id: id.to_owned() });
        self.until_told("history", |update| matches!(update.event, Event::Replayed)).await
    }

    /// A new conversation comes into view; everything told up to its being there.
    pub(crate) async fn leave(&mut self) -> Vec<Update> {
        self.submit(Command::New);
        let mut updates = self.until_told("history", |update| matches!(update.event, Event::Replayed)).await;
        updates.extend(self.until_told("report", |update| matches!(update.event, Event::Report(_))).await);
        updates
    }

    /// Answers a card of another conversation, as it was shown last.
    pub(crate) fn answer_in(&self, conversation: &str, call: CallId, answer: Answer) {
        let showing = self.shown.get(&(conversation.to_owned(), call.0)).copied().unwrap_or_default();
        self.submit(Command::Answer { conversation: conversation.to_owned(), call, answer, showing });
    }

    /// Waits until the driver can tell nothing more before something is read.
    pub(crate) async fn until_full(&self) {
        let full = async {
            while self.updates.len() < self.updates.max_capacity() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(DEADLINE, full).await.expect("more updates than the channel takes");
    }

    /// Everything told so far. The driver has heard every command by then, and nothing that comes later is waited for.
    pub(crate) async fn settled(&mut self) -> Vec<Update> {
        self.submit(Command::Diagnostics);
        self.until_told("diagnostics", |update| matches!(update.event, Event::Diagnostics { .. })).await
    }

    /// The next answers of the worker with this task.
    pub(crate) fn plays_for(&self, task: &str, plays: impl IntoIterator<Item = Play>) {
        lock(&self.house.model.tasks).entry(task.to_owned()).or_default().extend(plays);
    }

    /// Every agent answers by this rule where it says something.
    pub(crate) fn plays_by(&self, rule: impl Fn(&Request) -> Option<Play> + Send + 'static) {
        *lock(&self.house.model.rule) = Some(Box::new(rule));
    }

    /// This agent's model can't be used.
    pub(crate) fn without_model(&self, agent: &str) {
        lock(&self.house.model.unusable).insert(agent.to_owned());
    }

    /// What a worker with this task was sent, call by call.
    pub(crate) fn requests_of(&self, of: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| task(request) == of).collect()
    }

    /// Up to the end of a history.
    pub(crate) async fn until_replayed(&mut self) -> Vec<Event> {
        self.until("history", |event| matches!(event, Event::Replayed)).await
    }

    /// Up to this call's card.
    pub(crate) async fn until_ask(&mut self, number: u64) -> Vec<Event> {
        self.until("card", |event| matches!(event, Event::Ask { ask, .. } if ask.call == CallId(number))).await
    }

    /// Up to this call's start.
    pub(crate) async fn until_running(&mut self, number: u64) -> Vec<Event> {
        self.until("running", |event| matches!(event, Event::Running { call, .. } if *call == CallId(number))).await
    }

    /// Up to the start of a worker's call.
    pub(crate) async fn until_runs(&mut self, node: u32, number: u64) -> Vec<Event> {
        let number = u32::try_from(number).unwrap();
        self.until_running(CallId::of(NodeId(node), number).0).await
    }

    pub(crate) async fn until_report(&mut self) -> Vec<Event> {
        self.until("report", |event| matches!(event, Event::Report(_))).await
    }

    /// Says it and waits for the turn's end.
    pub(crate) async fn turn(&mut self, text: &str) -> Vec<Event> {
        self.say(text);
        self.until_end().await
    }

    /// The lines of `/diag`.
    pub(crate) async fn diagnostics(&mut self) -> Vec<String> {
        self.submit(Command::Diagnostics);
        let events = self.until("diagnostics", |event| matches!(event, Event::Diagnostics { .. })).await;
        match events.into_iter().next_back() {
            Some(Event::Diagnostics { lines }) => lines,
            other => panic!("{other:?}"),
        }
    }

    /// Leaves; everything that was still told.
    pub(crate) async fn quit(self) -> Vec<Event> {
        self.submit(Command::Quit);
        self.drain().await
    }

    /// Everything told until the driver ends.
    pub(crate) async fn drain(self) -> Vec<Event> {
        self.drain_told().await.into_iter().map(|update| update.event).collect()
    }

    pub(crate) async fn drain_told(mut self) -> Vec<Update> {
        let mut updates = Vec::new();
        while let Some(update) = tokio::time::timeout(DEADLINE, self.updates.recv()).await.expect("the driver's end") {
            updates.push(update);
        }
        updates
    }
}

/// The ending and text of each call that ended, in the order told.
pub(crate) fn results(events: &[Event]) -> Vec<(u64, Ending, String)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult { call, ending, text, .. } => Some((call.0, ending.clone(), text.clone())),
            _ => None,
        })
        .collect()
}

/// How each turn told of ended, with whose it was.
pub(crate) fn ends(updates: &[Update]) -> Vec<(String, u32, TurnEnd)> {
    updates
        .iter()
        .filter_map(|update| match &update.event {
            Event::End { end, .. } => Some((update.conversation.clone(), update.node.0, end.clone())),
            _ => None,
        })
        .collect()
}

/// The events of updates.
pub(crate) fn events(updates: &[Update]) -> Vec<Event> {
    updates.iter().map(|update| update.event.clone()).collect()
}

/// The alerts' sentences.
pub(crate) fn alerts(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Alert(alert) => Some(alert.message.clone()),
            _ => None,
        })
        .collect()
}

/// Each record in a word, without the audit's heads: what they are is tested with it.
pub(crate) fn shape(records: &[Record]) -> Vec<&'static str> {
    records
        .iter()
        .filter(|record| !matches!(record, Record::AuditHead(_)))
        .map(|record| match record {
            Record::TurnStarted { .. } => "turn",
            Record::Said { .. } => "said",
            Record::ModelCall { .. } => "model",
            Record::Allowed { .. } => "allowed",
            Record::CallEnded { .. } => "ended",
            Record::TurnEnded { .. } => "end",
            Record::Titled { .. } => "title",
            Record::Mode { .. } => "mode",
            Record::Preloaded { .. } => "preloaded",
            Record::AuditHead(_) => "head",
            Record::Worker { .. } => "worker",
            Record::Spawned(_) => "spawned",
            Record::Queued { .. } => "queued",
            Record::Undelivered { .. } => "undelivered",
        })
        .collect()
}

/// A record without the word whose it is.
pub(crate) fn bare(record: &Record) -> &Record {
    match record {
        Record::Worker { of, .. } => bare(of),
        record => record,
    }
}

/// Every call of a log has exactly one ending, those of workers included.
pub(crate) fn assert_one_ending_each(records: &[Record]) {
    let mut calls: Vec<CallId> = records
        .iter()
        .map(bare)
        .flat_map(|record| match record {
            Record::ModelCall { message, .. } => message.calls().map(|call| call.id).collect(),
            _ => Vec::new(),
        })
        .collect();
    let mut ended: Vec<CallId> = records
        .iter()
        .map(bare)
        .filter_map(|record| match record {
            Record::CallEnded { call, .. } => Some(*call),
            _ => None,
        })
        .collect();
    calls.sort();
    ended.sort();
    assert_eq!(calls, ended);
}
