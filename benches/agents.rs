//! What a crowd of agents costs: ten leads with twenty workers each, twenty calls a worker, from a model that answers at once;
//! first in memory, then over the real logs. What of it the disk takes is said after each.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the time that the disk takes is measured, and the files are its own")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use kokua::access::audit::{Draft, Head};
use kokua::access::declare::Pair;
use kokua::access::{
    AgentDeclaration, AgentName, Attendance, Available, Declarations, Kind, Registry, Risk, Span, Spanned,
    ToolsetFacts, ToolsetName, World,
};
use kokua::agent::command::Switched;
use kokua::agent::{Command, ConversationSummary, Delta, Event, Failure, Message, NodeId, Record, Request, TurnEnd};
use kokua::assistant::build::build;
use kokua::assistant::capabilities::Capabilities;
use kokua::assistant::checks::Health;
use kokua::assistant::ports::{
    Audit, Audited, Cause, Log, Model, Models, Opened, PortError, Read, Store, Surroundings, Switches,
};
use kokua::assistant::{AgentSettings, Opening, Setup, Titles, start};
use kokua::store;
use kokua::tool::{BuildError, CallContext, Output, Services, Tool, ToolSpec, Toolset};
use serde_json::{Value, json};

const LEADS: usize = 10;
const WORKERS: usize = 20;
const CALLS: usize = 20;
const NOW: i64 = 1_790_000_000_000;

// --- the agents ------------------------------------------------------------------------------------------------------

/// Answers at once, by what an agent was asked and how much it was answered so far.
struct AtOnce;

fn calls(made: impl Iterator<Item = (&'static str, Value)>) -> Vec<Delta> {
    let deltas = made.enumerate().flat_map(|(index, (name, arguments))| {
        let start = Delta::CallStart { index, id: format!("p{index}"), name: name.to_owned() };
        [start, Delta::CallArguments { index, text: arguments.to_string() }]
    });
    deltas.collect()
}

fn spawns(agent: &str, task: &str, count: usize) -> Vec<Delta> {
    calls(
        (0..count).map(|number| ("spawn_subagent", json!({ "agent_type": agent, "task": format!("{task} {number}") }))),
    )
}

impl Model for AtOnce {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, Failure>> {
        let results = request.messages.iter().filter(|message| matches!(message, Message::Result(_))).count();
        let task = request.messages.iter().find_map(|message| match message {
            Message::User(user) => Some(user.text.as_str()),
            _ => None,
        });
        let deltas = match task.unwrap_or_default() {
            "go" if results == 0 => spawns("lead", "lead", LEADS),
            lead if lead.starts_with("lead") && results == 0 => spawns("coder", "part", WORKERS),
            part if part.starts_with("part") && results < CALLS => {
                calls(std::iter::once(("look", json!({ "path": format!("src/{results}.rs") }))))
            }
            _ => vec![Delta::Text { text: "That is all that there is to say of it.".to_owned() }],
        };
        stream::iter(deltas.into_iter().map(Ok)).boxed()
    }

    fn label(&self) -> String {
        "instant".to_owned()
    }

    fn is_rehearsal(&self) -> bool {
        false
    }

    fn window(&self) -> Option<u64> {
        Some(100_000)
    }

    fn find_window(&self) -> BoxFuture<'static, Option<u64>> {
        async { None }.boxed()
    }

    fn tool_limit(&self) -> Option<usize> {
        None
    }
}

struct Everybody;

impl Models for Everybody {
    fn of(&self, _: &AgentName) -> Result<Arc<dyn Model>, Failure> {
        Ok(Arc::new(AtOnce))
    }
}

struct Shelf;

impl Toolset for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "A shelf."
    }

    fn guidance(&self) -> Option<&str> {
        None
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let spec = ToolSpec {
            name: "look".to_owned(),
            description: "Looks at a file.".to_owned(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            risk: Risk::Read,
            trigger: None,
        };
        Ok(vec![Arc::new(Look { spec })])
    }
}

struct Look {
    spec: ToolSpec,
}

impl Tool for Look {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, _arguments: Value, _context: CallContext) -> BoxFuture<'static, Output> {
        async { Output::ok("a line of a file\n".repeat(20)) }.boxed()
    }
}

// --- the disk --------------------------------------------------------------------------------------------------------

/// What of the time is the disk's.
#[derive(Default)]
struct Spent {
    records: AtomicU64,
    recording: AtomicU64,
    entries: AtomicU64,
    auditing: AtomicU64,
}

fn timed<T>(count: &AtomicU64, nanos: &AtomicU64, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    count.fetch_add(1, Ordering::Relaxed);
    nanos.fetch_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    done
}

impl Spent {
    fn say(&self, what: &str) {
        let get = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let seconds = |of: &AtomicU64| Duration::from_nanos(get(of)).as_secs_f64();
        let (records, entries) = (get(&self.records), get(&self.entries));
        let (recording, auditing) = (seconds(&self.recording), seconds(&self.auditing));
        eprintln!("{what}: {records} records in {recording:.2} s, {entries} audit entries in {auditing:.2} s");
    }
}

fn failed(error: &store::StoreError) -> PortError {
    PortError { message: error.to_string(), hint: None, cause: Cause::Outside }
}

struct Disk {
    /// `None`: nothing is written.
    folder: Option<PathBuf>,
    audit: Option<store::AuditLog>,
    spent: Arc<Spent>,
}

struct Book {
    log: Option<store::Log>,
    spent: Arc<Spent>,
}

impl Log for Book {
    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        let Self { log, spent } = self;
        timed(&spent.records, &spent.recording, || match log {
            Some(log) => log.append(record).map_err(|error| failed(&error)),
            None => Ok(()),
        })
    }
}

fn unused() -> PortError {
    PortError { message: "nobody asks for it here".to_owned(), hint: None, cause: Cause::Asked }
}

impl Store for Disk {
    fn create(&self, id: &str, agent: &AgentName, at: i64) -> Result<Box<dyn Log>, PortError> {
        let create = |folder: &PathBuf| store::Log::create(&store::directory(folder), id, agent, at);
        let log = self.folder.as_ref().map(create).transpose().map_err(|error| failed(&error))?;
        Ok(Box::new(Book { log, spent: Arc::clone(&self.spent) }))
    }

    fn find(&self, _: &str) -> Result<String, PortError> {
        Err(unused())
    }

    fn open(&self, _: &str) -> Result<Opened, PortError> {
        Err(unused())
    }

    fn read(&self, _: &str) -> Result<Read, PortError> {
        Err(unused())
    }

    fn list(&self) -> Result<Vec<ConversationSummary>, PortError> {
        Ok(Vec::new())
    }

    fn remove(&self, _: &str) -> Result<String, PortError> {
        Err(unused())
    }

    fn keep_answer(&self, _: &str, _: &str) -> Result<PathBuf, PortError> {
        Err(unused())
    }
}

impl Audit for Disk {
    fn append(&self, draft: Draft) -> Result<Audited, PortError> {
        let head = timed(&self.spent.entries, &self.spent.auditing, || match &self.audit {
            Some(log) => log.append(draft).map(|appended| appended.head).map_err(|error| failed(&error)),
            None => Ok(Head { entries: 1, hash: String::new() }),
        })?;
        Ok(Audited { head, notices: Vec::new() })
    }
}

struct Still;

impl Surroundings for Still {
    fn now(&self) -> i64 {
        NOW
    }

    fn random(&self) -> u64 {
        7
    }

    fn id(&self) -> String {
        "crowd".to_owned()
    }
}

impl Switches for Still {
    fn switch(&self, _: &ToolsetName, _: Switched) -> Result<(), PortError> {
        Err(unused())
    }

    fn keep_theme(&self, _: &str) -> Result<(), PortError> {
        Err(unused())
    }
}

// --- the turn --------------------------------------------------------------------------------------------------------

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span { start: 0, end: 1, line: 1, column: 1 })
}

fn world() -> World {
    let shelf = ToolsetName::new("shelf");
    let mut registry = Registry::new([]);
    let facts = ToolsetFacts {
        name: shelf.clone(),
        kind: Kind::BuiltIn,
        description: "A shelf.".to_owned(),
        entry_agent_only: false,
        commands: Vec::new(),
    };
    registry.register(facts).expect("a fresh name");
    let agent = |name: &str, delegate: Option<&str>| AgentDeclaration {
        name: spanned(AgentName::new(name)),
        description: String::new(),
        available: Available::List(vec![spanned(shelf.clone())]),
        resident: None,
        pair: Pair::default(),
        delegates_to: delegate.map(|name| spanned(AgentName::new(name))).into_iter().collect(),
    };
    let agents = vec![agent("assistant", Some("lead")), agent("lead", Some("coder")), agent("coder", None)];
    let declarations =
        Declarations { entry: Some(spanned(AgentName::new("assistant"))), agents, ..Declarations::default() };
    let mut world = World::new(declarations, registry).expect("sound tables");
    kokua::agent::define_core(&mut world);
    world
}

async fn setup(folder: Option<&Path>, audited: Option<&Path>, spent: &Arc<Spent>) -> Setup {
    let services = Services { data: "/nowhere".into(), working_directory: "/nowhere".into() };
    let (name, shelf): (_, Arc<dyn Toolset>) = (ToolsetName::new("shelf"), Arc::new(Shelf));
    let limit = Duration::from_mins(1);
    let mut world = world();
    let made = build(Arc::clone(&shelf), services.clone(), limit).await.expect("it builds");
    made.judge(&mut world).expect("every entry matches");
    world.resolve().expect("every entry matches");
    let disk = Arc::new(Disk {
        folder: folder.map(Path::to_owned),
        audit: audited.map(store::AuditLog::new),
        spent: Arc::clone(spent),
    });
    Setup {
        capabilities: Capabilities {
            world,
            toolsets: BTreeMap::from([(name.clone(), shelf)]),
            built: BTreeMap::from([(name, made)]),
            services,
            build_timeout: limit,
            health: Health::default(),
        },
        agent_cache_cap: 8,
        check_timeout: limit,
        preview_timeout: limit,
        agents: BTreeMap::new(),
        composed: AgentSettings {
            opener: "You help.".to_owned(),
            max_iterations: 30,
            concurrent_tools: true,
            max_attempts: 1,
        },
        model: Arc::new(AtOnce),
        models: Arc::new(Everybody),
        max_depth: 3,
        presence: limit,
        approval_timeout: None,
        store: Arc::clone(&disk) as Arc<dyn Store>,
        audit: disk,
        surroundings: Arc::new(Still),
        switches: Arc::new(Still),
        titles: Titles::FirstWords,
        attendance: Attendance::Attended,
        only: None,
        mode: None,
        opening: Opening::New,
        alerts: Vec::new(),
    }
}

/// The whole turn; how many of its calls and agents ended.
async fn turn(setup: Setup) -> (usize, usize) {
    let (handle, mut updates) = start(setup);
    handle.submit(Command::Say { to: NodeId::ENTRY, text: "go".to_owned() });
    let (mut results, mut ends) = (0, 0);
    while let Some(update) = updates.recv().await {
        match update.event {
            Event::ToolResult { .. } => results += 1,
            Event::End { end: TurnEnd::Answered, .. } => {
                ends += 1;
                if update.node.is_entry() {
                    break;
                }
            }
            _ => {}
        }
    }
    (results, ends)
}

fn crowd(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut group = criterion.benchmark_group("agents");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(1));
    for (what, written, audited) in
        [("in memory", false, false), ("with its log", true, false), ("with its log and the audit log", true, true)]
    {
        let name = format!("{} agents, {} calls, {what}", LEADS * (WORKERS + 1), LEADS * WORKERS * CALLS);
        let mut last = Arc::default();
        group.bench_function(&name, |bench| {
            bench.iter_custom(|times| {
                let mut took = Duration::ZERO;
                for _ in 0..times {
                    let folder = tempfile::tempdir().expect("a temporary folder");
                    let path = |wanted: bool| wanted.then(|| folder.path());
                    last = Arc::new(Spent::default());
                    let setup = runtime.block_on(setup(path(written), path(audited), &last));
                    let began = Instant::now();
                    let ended = runtime.block_on(turn(setup));
                    took += began.elapsed();
                    let agents = LEADS * (WORKERS + 1);
                    assert_eq!(ended, (agents + LEADS * WORKERS * CALLS, agents + 1), "nothing is lost");
                }
                took
            });
        });
        // Left out by a filter, it has nothing to say.
        if last.records.load(Ordering::Relaxed) > 0 {
            last.say(&name);
        }
    }
    group.finish();
}

criterion_group!(benches, crowd);
criterion_main!(benches);
