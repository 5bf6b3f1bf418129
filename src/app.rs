//! The composition root: the only place that names every adapter and fits it to the driver's ports.
//!
//! It decides nothing: what is wrong with the configuration is said by `config` and `access`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use tokio::sync::mpsc;

use crate::access::{AgentName, Attendance, Kind, Registry, ToolsetFacts, ToolsetName, World};
use crate::agent::{Alert, ConversationSummary, Delta, Failure, Record, Request, Severity, Update};
use crate::assistant::build::{Built, build};
use crate::assistant::ports::{self, PortError};
use crate::assistant::{self, AgentSettings, Handle, Opening, Setup, Titles};
use crate::config::{self, Config, Locations, Problems};
use crate::tool::{Services, Toolset};
use crate::{model, store, system, toolsets};

/// What the command line asks of every command.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--model`.
    pub model: Option<String>,
    /// `--debug`.
    pub debug: bool,
    /// `--allow`, as written (P21).
    pub allow: Vec<String>,
}

/// Why the program does not start. Exit code 2.
#[derive(Debug)]
pub enum StartError {
    /// The configuration is wrong: every fault of it.
    Config(Problems),
    /// Something else, with what to do.
    Other {
        /// The sentence.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(problems) => problems.fmt(f),
            Self::Other { message, hint: Some(hint) } => write!(f, "error: {message}\n  hint: {hint}"),
            Self::Other { message, hint: None } => write!(f, "error: {message}"),
        }
    }
}

impl From<Problems> for StartError {
    fn from(problems: Problems) -> Self {
        Self::Config(problems)
    }
}

/// A checked configuration with startup's builds: everything that needs no model and no network.
pub struct Prepared {
    /// The configuration.
    pub config: Config,
    /// Resolved.
    pub world: World,
    /// Every installed toolset.
    pub toolsets: BTreeMap<ToolsetName, Arc<dyn Toolset>>,
    /// Startup's accepted builds.
    pub built: BTreeMap<ToolsetName, Built>,
    /// What a build may use.
    pub services: Services,
    /// How long one may take.
    pub build_timeout: Duration,
    /// What a person should know.
    pub alerts: Vec<Alert>,
    /// `--model`, else what the configuration says of the entry agent.
    pub model: Option<String>,
}

/// Reads the configuration, registers what is installed, checks every table, builds what startup builds (P7) and resolves
/// every policy.
///
/// # Errors
/// Every fault of the configuration at once, before anything is built; then every entry that a build shows to be wrong.
pub async fn prepare(options: &Options) -> Result<Prepared, StartError> {
    let config = config::load(&Locations::from_process(options.config.clone()))?;
    let mut registry = Registry::default();
    let mut installed = BTreeMap::new();
    for toolset in toolsets::all(&config) {
        let facts = facts(&*toolset);
        installed.insert(facts.name.clone(), toolset);
        registry.register(facts).map_err(|fault| Problems::from_faults(&config.source, vec![fault]))?;
    }
    let mut world = World::new(config.declarations.clone(), registry)
        .map_err(|faults| Problems::from_faults(&config.source, faults))?;
    let services = Services {
        data: config.data.clone(),
        working_directory: std::env::current_dir().map_err(|error| StartError::Other {
            message: format!("the working folder can't be read: {error}"),
            hint: Some("Start from a folder that exists.".to_owned()),
        })?,
    };
    let build_timeout = Duration::from_secs(config.toolsets.build_timeout_s);
    let mut alerts = Vec::new();
    let mut built = BTreeMap::new();
    for name in world.startup_builds() {
        let Some(toolset) = installed.get(&name) else { continue };
        match build(Arc::clone(toolset), services.clone(), build_timeout).await {
            Ok(made) => {
                alerts.extend(made.left_out.iter().map(|sentence| warning(sentence.clone())));
                match made.judge(&mut world) {
                    Ok(()) => {
                        built.insert(name, made);
                    }
                    Err(refusal) => alerts.push(warning(format!("Could not build '{name}': {}", refusal.message))),
                }
            }
            Err(error) => {
                world.report_failure(&name, &error);
                alerts.push(warning(format!("Could not build '{name}': {error}")));
            }
        }
    }
    world.resolve().map_err(|faults| Problems::from_faults(&config.source, faults))?;
    world.allow(&options.allow).map_err(|faults| StartError::Other {
        message: faults.join("\n       "),
        hint: Some("--allow takes a toolset, toolset.tool, or agent=entry.".to_owned()),
    })?;
    let shadows = world.shadows();
    alerts.extend(shadows.alerts.into_iter().map(warning));
    for agent in shadows.not_checked {
        tracing::info!(%agent, "not checked for shadowed tools: not all of its resident toolsets were built");
    }
    let model = options.model.clone().or_else(|| config.model_of(world.entry()).map(str::to_owned));
    Ok(Prepared { config, world, toolsets: installed, built, services, build_timeout, alerts, model })
}

/// A running driver.
pub struct Started {
    /// The way in.
    pub handle: Handle,
    /// The way out: every update in order, until the driver ends.
    pub updates: mpsc::Receiver<Update>,
}

/// Selects the model and starts the driver.
///
/// # Errors
/// The model string is wrong, or the state folder can't be used.
pub async fn start(
    prepared: Prepared,
    attendance: Attendance,
    titles: Titles,
    opening: Opening,
) -> Result<Started, StartError> {
    let Prepared { config, world, toolsets, built, services, build_timeout, alerts, model } = prepared;
    let entry = world.entry().clone();
    let settings = config.agent(&entry);
    let client = model::select::client(model.as_deref(), &config, &settings, &model::select::Environment::from_process())
        .await
        .map_err(|failure| StartError::Other { message: failure.message, hint: failure.hint })?;
    let kept = store::Store::open(&config.data).map_err(|error| StartError::Other {
        message: error.to_string(),
        hint: Some("Set [paths].data_dir or $KOKUA_HOME to a folder that can be written.".to_owned()),
    })?;
    let setup = Setup {
        agent: AgentSettings {
            opener: settings.system_message.clone(),
            max_iterations: settings.max_iterations,
            concurrent_tools: config.assistant.concurrent_tools,
            max_attempts: client.max_attempts(),
        },
        world,
        toolsets,
        built,
        services,
        build_timeout,
        model: Arc::new(ModelPort(client)),
        store: Arc::new(StorePort(kept)),
        surroundings: Arc::new(Machine),
        switches: Arc::new(SwitchesInFile(config.source.path.clone())),
        titles: if config.assistant.generate_titles { titles } else { Titles::FirstWords },
        attendance,
        opening,
        alerts,
    };
    let (handle, updates) = assistant::start(setup);
    Ok(Started { handle, updates })
}

fn facts(toolset: &dyn Toolset) -> ToolsetFacts {
    ToolsetFacts {
        name: ToolsetName::new(toolset.name()),
        kind: match toolset.kind() {
            Kind::BuiltIn => Kind::BuiltIn,
            Kind::Plugin => Kind::Plugin,
            Kind::Skill => Kind::Skill,
            Kind::Mcp => Kind::Mcp,
        },
        description: toolset.description().to_owned(),
        entry_agent_only: toolset.entry_agent_only(),
    }
}

fn warning(message: String) -> Alert {
    Alert { severity: Severity::Warning, message, hint: None }
}

struct ModelPort(model::Client);

impl ports::Model for ModelPort {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, Failure>> {
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
}

struct StorePort(store::Store);

struct LogPort(store::Log);

impl ports::Log for LogPort {
    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        self.0.append(record).map_err(port_error)
    }
}

impl ports::Store for StorePort {
    fn create(&self, id: &str, agent: &AgentName, at: i64) -> Result<Box<dyn ports::Log>, PortError> {
        let log = self.0.create(id, agent, at).map_err(port_error)?;
        Ok(Box::new(LogPort(log)))
    }

    fn open(&self, id: &str) -> Result<ports::Opened, PortError> {
        let opened = self.0.reopen(id, system::clock::now()).map_err(port_error)?;
        Ok(ports::Opened {
            id: opened.id,
            title: opened.title,
            records: opened.records,
            notices: opened.notices,
            log: Box::new(LogPort(opened.log)),
        })
    }

    fn list(&self) -> Result<Vec<ConversationSummary>, PortError> {
        self.0.list().map_err(port_error)
    }

    fn remove(&self, id: &str) -> Result<String, PortError> {
        self.0.remove(id).map_err(port_error)
    }
}

fn port_error(error: store::StoreError) -> PortError {
    PortError { message: error.to_string(), hint: error.hint() }
}

struct Machine;

impl ports::Surroundings for Machine {
    fn now(&self) -> i64 {
        system::clock::now()
    }

    fn random(&self) -> u64 {
        system::ids::random()
    }

    fn id(&self) -> String {
        system::ids::new()
    }
}

struct SwitchesInFile(PathBuf);

impl ports::Switches for SwitchesInFile {
    fn save(&self, disabled: &[ToolsetName]) -> Result<(), PortError> {
        let names: Vec<&str> = disabled.iter().map(ToolsetName::as_str).collect();
        config::save_disabled(&self.0, &names)
            .map_err(|problems| PortError { message: problems.to_string(), hint: None })
    }
}
