//! The composition root: the only place that names every adapter and fits it to the driver's ports.
//!
//! It decides nothing: what is wrong with the configuration is said by `config` and `access`.

mod adapters;
pub mod audit;
pub mod everything;
pub mod explained;
pub mod first_run;
pub mod log;
mod models;
pub mod screen;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::access::name::{did_you_mean, near, shown};
use crate::access::{
    AgentName, Attendance, BuildRefusal, Fault, HeldTool, ModeName, Registry, Risk, ToolId, ToolName, ToolsetFacts,
    ToolsetName, World,
};
use crate::agent::{Alert, ConversationSummary, Severity, Update};
use crate::assistant::build::Built;
use crate::assistant::capabilities::Capabilities;
use crate::assistant::checks::Health;
use crate::assistant::ports::{Cause, PortError};
use crate::assistant::{self, Handle, Opening, Setup, Titles, ports};
use crate::config::{self, Config, Locations, Problems, Sandbox};
use crate::tool::{Services, Toolset};
use crate::ui::action::{KeyFault, KeyMap};
use crate::ui::theme::{Colours, SHIPPED, Theme};
use crate::{model, store, system, toolsets};

use adapters::{AuditPort, Machine, StorePort, SwitchesInFile};
use models::{DefaultModel, Models, settings_of};

/// How long the driver may take to end what runs when the person leaves.
pub const LEAVING: Duration = Duration::from_secs(3);

/// How long a health check may take: one that does not answer must not hold up a conversation.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a card's preview may take: a file that does not answer must not keep its card from a person.
const PREVIEW_TIMEOUT: Duration = Duration::from_secs(5);

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
    /// `--only`, as written (W6).
    pub only: Vec<String>,
    /// `--mode`, as written (W3).
    pub mode: Option<String>,
}

/// Why the program does not start.
#[derive(Debug)]
pub enum StartError {
    /// The configuration is wrong: every fault of it.
    Config(Problems),
    /// Something else that was asked for wrongly, with what to do.
    Other {
        /// The sentence.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// Asked for rightly, and it did not work: the disk or the terminal said no.
    Failed {
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
            Self::Other { message, hint } | Self::Failed { message, hint } => {
                write!(f, "error: {message}")?;
                hint.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
            }
        }
    }
}

impl From<Problems> for StartError {
    fn from(problems: Problems) -> Self {
        Self::Config(problems)
    }
}

impl From<PortError> for StartError {
    fn from(PortError { message, hint, cause }: PortError) -> Self {
        match cause {
            Cause::Asked => other(message, hint),
            Cause::Outside | Cause::Held => failed(message, hint),
        }
    }
}

/// A checked configuration with startup's builds: everything that needs no model and no network.
pub struct Prepared {
    /// The configuration.
    pub config: Config,
    /// Where it was found.
    pub locations: Locations,
    /// What can be called.
    pub capabilities: Capabilities,
    /// What a person should know.
    pub alerts: Vec<Alert>,
    /// Agents not checked for shadowed tools, because a resident toolset of theirs was not built (N4): for the log.
    pub not_checked: Vec<AgentName>,
    /// `--model`.
    pub asked_model: Option<String>,
    /// `--only` of `kokua run` (W6).
    pub only: Option<BTreeSet<ToolName>>,
    /// `--mode` (W3).
    pub mode: Option<ModeName>,
    /// Which model that came to be, where it was selected already.
    selection: Option<model::Selection>,
}

impl Prepared {
    /// K6: what the tools that run programs can do, of those that the entry agent holds from the start.
    pub fn exec_line(&self) -> String {
        let world = &self.capabilities.world;
        // What spawns or composes a worker runs no program itself; what that worker holds is counted with the worker.
        let program = |tool: &HeldTool| {
            tool.risk == Risk::Exec && tool.id.toolset().is_some_and(|toolset| toolset.as_str() != "capabilities")
        };
        let (mut programs, mut holders) = (Vec::new(), Vec::new());
        for agent in world.reachable() {
            let held = world.fresh(agent);
            let names: Vec<&ToolName> =
                held.tools().iter().filter(|tool| program(tool)).map(|tool| &tool.id.name).collect();
            if !names.is_empty() {
                holders.push(agent.as_str());
            }
            let new: Vec<String> =
                names.iter().map(ToString::to_string).filter(|name| !programs.contains(name)).collect();
            programs.extend(new);
        }
        let entry = world.entry();
        let whose = match holders.as_slice() {
            [only] if *only == entry.as_str() => String::new(),
            _ => format!(" ({})", holders.join(", ")),
        };
        let names = format!("{}{whose}", programs.join(" and "));
        match self.config.compute.sandbox {
            _ if programs.is_empty() => format!("{entry} starts without a tool that runs programs."),
            Sandbox::Off => {
                format!("{names} run programs as you, with all that you may do: [compute].sandbox is \"off\".")
            }
            Sandbox::None => format!("{names} run nothing: [compute].sandbox is \"none\"."),
        }
    }

    /// The model string of `agent` as people may see it, as far as it is known without asking any server.
    pub fn model_of(&self, agent: &AgentName) -> Option<String> {
        let named = self.named_model(agent).map(str::to_owned);
        let model =
            named.or_else(|| system::environment::variable("KOKUA_MODEL").filter(|text| !text.trim().is_empty()));
        model.map(|text| config::without_credentials(&text))
    }

    /// The model string of `agent` as the command line or the configuration has it (D2).
    fn named_model(&self, agent: &AgentName) -> Option<&str> {
        models::configured(&self.config, self.asked_model.as_deref(), self.capabilities.world.entry(), Some(agent))
    }
}

/// Reads the configuration, registers what is installed, checks every table, builds what startup builds (P7) and resolves
/// every policy.
///
/// # Errors
/// Every fault of the configuration at once, before anything is built; then every entry that a build shows to be wrong.
pub async fn prepare(options: &Options) -> Result<Prepared, StartError> {
    let locations = Locations::from_process(options.config.clone());
    prepare_from(options, locations, |locations, check| config::load_with(locations, check)).await
}

/// [`prepare`] for a text that need not be in any file, as if `locations` led to it. Writes nothing.
///
/// # Errors
/// As [`prepare`].
pub async fn check_text(source: config::Source, locations: Locations) -> Result<Prepared, StartError> {
    prepare_from(&Options::default(), locations, |locations, check| config::parse(source, locations, check)).await
}

/// [`prepare`] for the shipped configuration, as if it were written already. Writes nothing.
///
/// # Errors
/// As [`prepare`].
async fn prepare_shipped(options: &Options) -> Result<Prepared, StartError> {
    let locations = Locations::from_process(options.config.clone());
    prepare_from(options, locations, |locations, check| {
        let source = config::Source { path: locations.config()?, text: config::EXAMPLE.to_owned() };
        config::parse(source, locations, check)
    })
    .await
}

/// What a configuration is checked with besides its own room.
type Check<'a> = &'a mut dyn FnMut(&Config) -> Vec<Fault>;

async fn prepare_from(
    options: &Options,
    locations: Locations,
    read: impl FnOnce(&Locations, Check<'_>) -> Result<Config, Problems>,
) -> Result<Prepared, StartError> {
    let mut checked = None;
    let config = read(&locations, &mut |config| match Installed::of(config) {
        Ok(installed) => {
            checked = Some(installed);
            Vec::new()
        }
        Err(faults) => faults,
    })?;
    let Some(Installed { world, toolsets }) = checked else {
        return Err(other("the configuration was read and not checked".to_owned(), None));
    };
    let mut alerts = Vec::new();
    let mut capabilities = Capabilities {
        world,
        toolsets,
        built: BTreeMap::new(),
        services: Services { data: config.data.clone(), working_directory: locations.working_directory.clone() },
        build_timeout: Duration::from_secs(config.toolsets.build_timeout_s),
        health: Health::default(),
    };
    for name in capabilities.world.startup_builds() {
        if let Some(made) = build(&mut capabilities, &name, &mut alerts).await {
            capabilities.built.insert(name, made);
        }
    }
    capabilities.world.resolve().map_err(|faults| Problems::from_faults(&config.source, faults))?;
    capabilities.world.allow(&options.allow).map_err(|faults| {
        other(faults.join("\n       "), Some("--allow takes a toolset, toolset.tool, or agent=entry".to_owned()))
    })?;
    // What the other agents start with, so that every report of them is whole.
    let world = &capabilities.world;
    let agents = world.declarations().agents.iter().map(|agent| &agent.name.value);
    for name in agents.flat_map(|agent| world.resident(agent)).collect::<Vec<_>>() {
        // P9: its entries were pending, so nothing else says that they match nothing.
        let refusal = build_once(&mut capabilities, &name, &mut alerts).await;
        alerts.extend(refusal.map(|refusal| warning(format!("'{name}' is refused: {refusal}"))));
    }
    let shadows = capabilities.world.shadows();
    alerts.extend(shadows.alerts.into_iter().map(warning));
    alerts.extend(capabilities.world.idle_floor().into_iter().map(warning));
    let not_checked = shadows.not_checked;
    capabilities.refresh_checks(system::clock::now_ms(), CHECK_TIMEOUT).await;
    let mode = options.mode.as_deref().map(|name| capabilities.world.mode(name)).transpose();
    let mode = mode.map_err(|sentence| other(format!("--mode: {sentence}"), None))?;
    let mut prepared = Prepared {
        config,
        locations,
        capabilities,
        alerts,
        not_checked,
        asked_model: options.model.clone(),
        only: None,
        mode,
        selection: None,
    };
    prepared.only = only(&mut prepared, &options.only).await?;
    Ok(prepared)
}

/// The tools that `--only` names, by declared name (W6): of what the entry agent can ever call, for a stored conversation may
/// hold any of it.
async fn only(prepared: &mut Prepared, names: &[String]) -> Result<Option<BTreeSet<ToolName>>, StartError> {
    if names.is_empty() {
        return Ok(None);
    }
    prepared.build_rest(everything::Everything::Available).await;
    let world = &prepared.capabilities.world;
    let entry = world.entry();
    let toolsets = world.available(entry);
    let built = toolsets.iter().filter_map(|toolset| world.last_build(toolset)).flatten();
    let known: BTreeSet<&str> =
        built.map(|facts| facts.name.as_str()).chain(world.core_tools(entry).iter().copied()).collect();
    // `toolset.tool` is how a tool is written elsewhere.
    let has = |tool: &ToolId| match tool.toolset() {
        None => known.contains(tool.name.as_str()),
        Some(toolset) => {
            let built = world.last_build(toolset).unwrap_or_default();
            toolsets.contains(toolset) && built.iter().any(|facts| facts.name == tool.name)
        }
    };
    let plain = |name: &String| match ToolId::parse(name) {
        Ok(tool) if !known.contains(name.as_str()) && has(&tool) => tool.name.to_string(),
        _ => name.clone(),
    };
    let names: Vec<String> = names.iter().map(plain).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        let hint = did_you_mean(&near(name, known.iter().copied(), 3))
            .unwrap_or_else(|| format!("its tools: {}", known.iter().copied().collect::<Vec<_>>().join(", ")));
        return Err(other(format!("--only: '{entry}' has no tool named '{}'", shown(name)), Some(hint)));
    }
    Ok(Some(names.iter().map(ToolName::new).collect()))
}

/// One build. `None`: it failed, which is an alert, or it is refused; a refusal is one of the faults that `World::resolve`
/// reports together.
async fn build(capabilities: &mut Capabilities, name: &ToolsetName, alerts: &mut Vec<Alert>) -> Option<Built> {
    match capabilities.build(name).await {
        Ok(made) => {
            alerts.extend(made.left_out.iter().map(|sentence| warning(sentence.clone())));
            Some(made)
        }
        Err(error) => {
            if capabilities.world.failure(name).is_some() {
                alerts.push(warning(format!("Could not build '{name}': {error}")));
            }
            None
        }
    }
}

/// [`build`], unless it was tried or nothing installs that; the refusal that it came to, if it came to one.
async fn build_once<'a>(
    capabilities: &'a mut Capabilities,
    name: &ToolsetName,
    alerts: &mut Vec<Alert>,
) -> Option<&'a BuildRefusal> {
    let world = &capabilities.world;
    let tried = world.last_build(name).is_some() || world.failure(name).is_some() || world.refusal(name).is_some();
    if tried || !world.registry().contains(name.as_str()) {
        return None;
    }
    build(capabilities, name, alerts).await;
    capabilities.world.refusal(name)
}

/// What is installed, with every table checked against it.
struct Installed {
    world: World,
    toolsets: BTreeMap<ToolsetName, Arc<dyn Toolset>>,
}

impl Installed {
    fn of(config: &Config) -> Result<Self, Vec<Fault>> {
        let mut registry = Registry::new(config::settings::SECTIONS_OF_NO_TOOLSET.iter().copied());
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
        faults.extend(model_faults(config));
        let later = later_faults(config);
        match World::new(config.declarations.clone(), registry) {
            Ok(mut world) if faults.is_empty() && later.is_empty() => {
                crate::agent::define_core(&mut world);
                Ok(Self { world, toolsets })
            }
            checked => {
                faults.extend(checked.err().into_iter().flatten().chain(later));
                Err(faults)
            }
        }
    }
}

/// What this version cannot do yet: it is said, and nothing is taken for what it is not.
fn later_faults(config: &Config) -> Vec<Fault> {
    let mut faults = Vec::new();
    if config.declarations.auto_approval {
        let message = "[security.auto_approval].enabled: reviewers come with a later version".to_owned();
        let hint = Some("set enabled = false: review entries then ask you, as confirm entries do".to_owned());
        faults.push(Fault { rule: "V1", span: None, message, hint });
    }
    faults
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
        let hint = did_you_mean(&near(&config.display.theme, SHIPPED.map(|(name, _)| name), 1));
        faults.push(Fault { rule: "theme", span, message: error.to_string(), hint });
    }
    faults
}

/// What only the model room knows to be wrong: model strings, addresses and headers.
fn model_faults(config: &Config) -> Vec<Fault> {
    let fault = |path: &[&str], message: String, hint: Option<String>| Fault {
        rule: "model",
        span: config.source.place(path),
        message,
        hint,
    };
    let mut faults = Vec::new();
    let mut check = |path: &[&str], text: Option<&str>| {
        if let Some(Err(error)) = text.map(str::parse::<model::ModelSpec>) {
            faults.push(fault(path, error.message, Some(error.hint)));
        }
    };
    check(&["assistant", "model"], config.assistant.model.as_deref());
    for (name, agent) in &config.agents {
        check(&["agents", name.as_str(), "model"], agent.model.as_deref());
    }
    for (name, provider) in &config.providers {
        if let Some(Err(why)) = provider.base_url.as_deref().map(model::select::check_url) {
            faults.push(fault(&["providers", name, "base_url"], why, None));
        }
        if let Err(why) = model::http::extra_headers(&provider.headers) {
            faults.push(fault(&["providers", name, "headers"], why, None));
        }
    }
    faults
}

fn other(message: String, hint: Option<String>) -> StartError {
    StartError::Other { message, hint }
}

fn failed(message: String, hint: Option<String>) -> StartError {
    StartError::Failed { message, hint }
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
    let Prepared { config, locations, capabilities, mut alerts, not_checked: _, asked_model, only, mode, selection } =
        prepared;
    let entry = capabilities.world.entry().clone();
    let used = DefaultModel::of(&config, &capabilities.world);
    let models = Models::new(&config, &entry, asked_model.as_deref(), selection, used).await?;
    alerts.extend(models.alerts(&capabilities.world));
    let (agents, composed) = settings_of(&config, &models);
    let model = ports::Models::of(&models, &entry).map_err(|failure| other(failure.message, failure.hint))?;
    let setup = Setup {
        agents,
        composed,
        capabilities,
        agent_cache_cap: config.assistant.agent_cache_cap,
        check_timeout: CHECK_TIMEOUT,
        preview_timeout: PREVIEW_TIMEOUT,
        model,
        models: Arc::new(models),
        max_depth: config.capabilities.max_depth,
        presence: minutes(config.security.presence_minutes),
        approval_timeout: (config.security.approval_timeout_minutes > 0)
            .then(|| minutes(config.security.approval_timeout_minutes)),
        store: Arc::new(StorePort::new(&config.data)),
        audit: Arc::new(AuditPort(store::AuditLog::new(&config.data))),
        surroundings: Arc::new(Machine),
        switches: Arc::new(SwitchesInFile::new(locations, &config.source)),
        titles: if config.assistant.generate_titles { titles } else { Titles::FirstWords },
        attendance,
        only,
        mode,
        opening,
        alerts,
    };
    let (handle, updates) = assistant::start(setup);
    Ok(Started { handle, updates })
}

/// That many minutes.
fn minutes(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 60)
}

/// The stored conversation that changed last.
///
/// # Errors
/// The folder can't be read.
pub fn latest_conversation(config: &Config) -> Result<Option<String>, StartError> {
    let (conversations, _) = list_conversations(config)?;
    Ok(conversations.into_iter().next().map(|summary| summary.id))
}

/// The stored conversations, newest first, and a fragment for each that can't be read.
///
/// # Errors
/// The folder can't be read.
pub fn list_conversations(config: &Config) -> Result<(Vec<ConversationSummary>, Vec<String>), PortError> {
    let listing = store::list(&store::directory(&config.data), None).map_err(adapters::port_error)?;
    Ok((listing.conversations, listing.faults))
}

/// Has a panic that is contained leave a crash file and nothing on the terminal, for a command without a screen. One
/// of the command itself is said.
pub fn contain_panics(config: &Config) {
    system::panic::install(config.data.join("logs"), || match std::thread::current().name() {
        Some("main") => system::panic::Terminal::Free,
        _ => system::panic::Terminal::Taken,
    });
}

/// The stored conversations, without a driver.
pub fn conversations(config: &Config) -> impl ports::Store {
    StorePort::new(&config.data)
}

/// Which model that is, without a client for it.
async fn select_model(config: &Config, configured: Option<&str>) -> Result<model::Selection, StartError> {
    select(config, configured).await.map_err(|error| other(error.message, Some(error.hint)))
}

async fn select(config: &Config, configured: Option<&str>) -> Result<model::Selection, model::SpecError> {
    let environment = &system::environment::variable;
    let candidates = model::Candidates::usual(&config.providers, environment);
    model::select(configured, environment, &candidates).await
}

fn facts(toolset: &dyn Toolset) -> ToolsetFacts {
    ToolsetFacts {
        name: ToolsetName::new(toolset.name()),
        kind: toolset.kind(),
        description: toolset.description().to_owned(),
        entry_agent_only: toolset.entry_agent_only(),
        commands: toolset.commands().iter().map(|command| (*command).to_owned()).collect(),
    }
}

fn warning(message: String) -> Alert {
    Alert { severity: Severity::Warning, message, hint: None }
}
