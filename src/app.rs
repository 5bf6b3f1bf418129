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
use tracing::level_filters::LevelFilter;

use crate::access::policy::GateList;
use crate::access::{
    AgentName, AgentReport, Attendance, Fault, Kind, Registry, ToolsetFacts, ToolsetName, World, report,
};
use crate::agent::{Alert, ConversationSummary, Delta, Failure, Record, Request, Severity, Update};
use crate::assistant::build::{Built, build};
use crate::assistant::ports::{self, PortError};
use crate::assistant::{self, AgentSettings, Handle, Opening, Setup, Titles};
use crate::config::{self, Config, Locations, LogLevel, NewValue, Problems};
use crate::tool::{Services, Toolset};
use crate::ui::Settings;
use crate::ui::action::{KeyFault, KeyMap};
use crate::ui::theme::{Colours, Theme};
use crate::{model, store, system, toolsets};

/// The opener of an agent that has none of its own.
const OPENER: &str = include_str!("../assets/prompts/opener.md");

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
    /// Where it was found.
    pub locations: Locations,
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
    let locations = Locations::from_process(options.config.clone());
    let mut checked = None;
    let config = config::load_with(&locations, |config| match Installed::of(config) {
        Ok(installed) => {
            checked = Some(installed);
            Vec::new()
        }
        Err(faults) => faults,
    })?;
    let Some(Installed { mut world, toolsets }) = checked else {
        return Err(other("the configuration was read and not checked".to_owned(), None));
    };
    let services = Services { data: config.data.clone(), working_directory: locations.working_directory.clone() };
    let build_timeout = Duration::from_secs(config.toolsets.build_timeout_s);
    let mut alerts = Vec::new();
    let mut built = BTreeMap::new();
    for name in world.startup_builds() {
        let Some(toolset) = toolsets.get(&name) else { continue };
        match build(Arc::clone(toolset), services.clone(), build_timeout).await {
            Ok(made) => {
                alerts.extend(made.left_out.iter().map(|sentence| warning(sentence.clone())));
                // A refusal is one of the faults that `resolve` reports together.
                if made.judge(&mut world).is_ok() {
                    built.insert(name, made);
                }
            }
            Err(error) => {
                world.report_failure(&name, &error);
                alerts.push(warning(format!("Could not build '{name}': {error}")));
            }
        }
    }
    world.resolve().map_err(|faults| Problems::from_faults(&config.source, faults))?;
    world.allow(&options.allow).map_err(|faults| {
        other(faults.join("\n       "), Some("--allow takes a toolset, toolset.tool, or agent=entry".to_owned()))
    })?;
    let shadows = world.shadows();
    alerts.extend(shadows.alerts.into_iter().map(warning));
    for agent in shadows.not_checked {
        tracing::info!(%agent, "not checked for shadowed tools: not all of its resident toolsets were built");
    }
    let model = options.model.clone().or_else(|| config.effective(world.entry()).model.map(str::to_owned));
    Ok(Prepared { config, locations, world, toolsets, built, services, build_timeout, alerts, model })
}

/// What is installed, with every table checked against it.
struct Installed {
    world: World,
    toolsets: BTreeMap<ToolsetName, Arc<dyn Toolset>>,
}

impl Installed {
    fn of(config: &Config) -> Result<Self, Vec<Fault>> {
        let mut registry = Registry::new(sections());
        let mut toolsets = BTreeMap::new();
        let mut faults = Vec::new();
        for toolset in toolsets::all(config) {
            let facts = facts(&*toolset);
            let name = facts.name.clone();
            match registry.register(facts) {
                Ok(()) => {
                    toolsets.insert(name, toolset);
                }
                Err(error) => {
                    faults.push(Fault { rule: "A3", span: None, message: error.to_string(), hint: None });
                }
            }
        }
        faults.extend(display_faults(config));
        match World::new(config.declarations.clone(), registry) {
            Ok(mut world) if faults.is_empty() => {
                world.define_core(crate::agent::core_tools().into_iter().map(|tool| tool.facts).collect());
                Ok(Self { world, toolsets })
            }
            Ok(_) => Err(faults),
            Err(more) => {
                faults.extend(more);
                Err(faults)
            }
        }
    }
}

/// Sections of the configuration that belong to no toolset: no toolset may be named like one (A3). `[compute]` and `[fs]`
/// are the sections of the toolsets of those names.
fn sections() -> impl Iterator<Item = &'static str> {
    config::settings::SECTIONS
        .iter()
        .filter_map(|section| section.path.split('.').next())
        .filter(|name| !matches!(*name, "compute" | "fs"))
}

/// What only the screen knows to be wrong: keys and theme.
fn display_faults(config: &Config) -> Vec<Fault> {
    let place = |path: &[&str]| config.source.place(path);
    let mut faults = Vec::new();
    if let Err(wrong) = KeyMap::with(&config.keys) {
        for KeyFault { action, message, hint, .. } in wrong {
            let span = place(&["keys", &action]);
            faults.push(Fault { rule: "keys", span, message, hint: Some(hint) });
        }
    }
    if let Err(error) = Theme::shipped(&config.display.theme, Colours::Ansi) {
        let span = place(&["display", "theme"]);
        faults.push(Fault { rule: "theme", span, message: error.to_string(), hint: None });
    }
    faults
}

/// How the screen looks and which key does what. The configuration was checked.
///
/// # Errors
/// It was not.
pub fn screen_settings(config: &Config) -> Result<Settings, StartError> {
    let set = |name: &str| system::environment::variable(name).is_some_and(|value| !value.is_empty());
    let dumb = system::environment::variable("TERM").is_some_and(|value| value == "dumb");
    let colours = if set("NO_COLOR") || dumb { Colours::None } else { Colours::Ansi };
    let theme = Theme::shipped(&config.display.theme, colours).map_err(|error| other(error.to_string(), None))?;
    let keys = KeyMap::with(&config.keys).map_err(|faults| {
        let sentences: Vec<String> = faults.iter().map(ToString::to_string).collect();
        other(sentences.join("; "), None)
    })?;
    let display = &config.display;
    Ok(Settings { theme, colours, keys, mouse: display.mouse, bell: display.bell, reasoning: display.reasoning })
}

/// Starts the log, and writes what each agent starts with: one line an agent (K3). With `debug`, to stderr too.
///
/// # Errors
/// The folder can't be written.
pub fn start_log(prepared: &Prepared, debug: bool) -> Result<(), StartError> {
    let level = match prepared.config.log_level {
        _ if debug => LevelFilter::DEBUG,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
    };
    let logs = prepared.config.data.join("logs");
    system::logging::start(&logs, level).map_err(|error| {
        other(error.to_string(), Some("set [paths].data_dir or $KOKUA_HOME to a folder that can be written".to_owned()))
    })?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), config = %prepared.config.source.path.display(), "start");
    for agent in &prepared.world.declarations().agents {
        let line = summary(&report(&prepared.world, &agent.name.value, None, None));
        tracing::info!("{line}");
        if debug {
            crate::cli::print::error(&line);
        }
    }
    Ok(())
}

/// `assistant: 7 available, 5 resident, confirm: none, review: …`.
fn summary(report: &AgentReport) -> String {
    let list = |which: GateList| {
        let entries = report.entries.iter().filter(|entry| entry.list == which);
        let names: Vec<String> = entries
            .flat_map(|entry| {
                if entry.pending {
                    vec![format!("{} (pending)", entry.entry)]
                } else {
                    entry.tools.iter().map(ToString::to_string).collect()
                }
            })
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let all = if report.available_all { "all " } else { "" };
    let available = report.available.len();
    let resident = available - report.deferred.len();
    format!(
        "{}: {all}({available}) available, {resident} resident; {}; confirm: {}; review: {}",
        report.agent,
        report.policy_source,
        list(GateList::Confirm),
        list(GateList::Review),
    )
}

fn other(message: String, hint: Option<String>) -> StartError {
    StartError::Other { message, hint }
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
    let Prepared { config, locations, world, toolsets, built, services, build_timeout, mut alerts, model } = prepared;
    let client = client(&config, &world, model.as_deref()).await?;
    alerts.extend(client.notices().iter().cloned().map(warning));
    let settings = config.effective(world.entry());
    let setup = Setup {
        agent: AgentSettings {
            opener: settings.system_message.unwrap_or(OPENER).trim().to_owned(),
            max_iterations: settings.max_iterations,
            concurrent_tools: config.assistant.concurrent_tools,
            max_attempts: config.provider(client.spec().provider.name()).max_attempts,
        },
        world,
        toolsets,
        built,
        services,
        build_timeout,
        model: Arc::new(ModelPort(client)),
        store: Arc::new(StorePort(store::directory(&config.data))),
        surroundings: Arc::new(Machine),
        switches: Arc::new(SwitchesInFile(locations)),
        titles: if config.assistant.generate_titles { titles } else { Titles::FirstWords },
        attendance,
        opening,
        alerts,
    };
    let (handle, updates) = assistant::start(setup);
    Ok(Started { handle, updates })
}

/// The entry agent's model: configured, else found running here, else the rehearsal model.
async fn client(config: &Config, world: &World, configured: Option<&str>) -> Result<model::Client, StartError> {
    let environment = |name: &str| system::environment::variable(name);
    let candidates = model::Candidates::usual(&environment);
    let selection = model::select(configured, &environment, &candidates)
        .await
        .map_err(|error| other(error.message, Some(error.hint)))?;
    let settings = config.effective(world.entry());
    let declared = config.providers.get(selection.spec.provider.name());
    model::Client::new(&selection.spec, declared, settings.thinking, settings.generation, &environment)
        .map_err(|failure| other(failure.message, failure.hint))
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
        self.0.label().to_owned()
    }

    fn is_rehearsal(&self) -> bool {
        self.0.is_rehearsal()
    }

    fn window(&self) -> Option<u64> {
        self.0.window()
    }
}

/// The folder of logs.
struct StorePort(PathBuf);

struct LogPort(store::Log);

impl ports::Log for LogPort {
    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        self.0.append(record).map_err(port_error)
    }
}

impl ports::Store for StorePort {
    fn create(&self, id: &str, agent: &AgentName, at: i64) -> Result<Box<dyn ports::Log>, PortError> {
        let log = store::Log::create(&self.0, id, agent, at).map_err(port_error)?;
        Ok(Box::new(LogPort(log)))
    }

    fn open(&self, id: &str) -> Result<ports::Opened, PortError> {
        let id = store::find(&self.0, id).map_err(port_error)?;
        let (log, opened) = store::Log::open(&self.0, &id).map_err(port_error)?;
        Ok(ports::Opened {
            id,
            title: store::title(&opened.records).map(str::to_owned),
            loads: store::loads(&opened.records),
            records: opened.records,
            notices: opened.notices,
            log: Box::new(LogPort(log)),
        })
    }

    fn list(&self) -> Result<Vec<ConversationSummary>, PortError> {
        let listing = store::list(&self.0, None).map_err(port_error)?;
        for fault in &listing.faults {
            tracing::warn!(%fault, "a conversation log could not be read");
        }
        Ok(listing.conversations)
    }

    fn remove(&self, id: &str) -> Result<String, PortError> {
        let id = store::find(&self.0, id).map_err(port_error)?;
        store::remove(&self.0, &id).map_err(port_error)?;
        Ok(id)
    }
}

fn port_error(error: store::StoreError) -> PortError {
    PortError { message: error.to_string(), hint: error.hint().map(str::to_owned) }
}

struct Machine;

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

/// `[toolsets].disabled` of the file that was read.
struct SwitchesInFile(Locations);

impl ports::Switches for SwitchesInFile {
    fn save(&self, disabled: &[ToolsetName]) -> Result<(), PortError> {
        let names = disabled.iter().map(ToString::to_string).collect();
        config::set(&self.0, "toolsets.disabled", &NewValue::Names(names), |_| Vec::new())
            .map(|_| ())
            .map_err(|error| PortError { message: error.to_string(), hint: None })
    }
}
