//! One file per command: what was asked for on the command line, carried out and printed.
//!
//! Nothing here decides anything about access.

mod agents;
mod audit;
mod configuration;
mod conversations;
mod diff;
mod explain;
pub mod print;
mod run;
mod screen;
mod toolsets;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::app::{Options, Prepared, StartError};
use crate::assistant::ports::PortError;

/// Answered.
pub(crate) const ANSWERED: u8 = 0;
/// Failed.
pub(crate) const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
pub(crate) const USAGE: u8 = 2;
/// Something was denied for want of a person.
pub(crate) const UNATTENDED: u8 = 3;
/// `explain`: the call asks a person.
pub(crate) const ASKS: u8 = 10;
/// `explain`: the call asks a reviewer.
pub(crate) const ASKS_REVIEWER: u8 = 11;
/// `explain`: the call is not possible now.
pub(crate) const NOT_NOW: u8 = 12;
/// `explain`: the call is never possible with this configuration.
pub(crate) const NEVER: u8 = 13;
/// Interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// A full-screen terminal for agents whose every capability is declared.
///
/// Without a command: the screen.
#[derive(Debug, Parser)]
#[command(name = "kokua", version, about, max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct Global {
    /// The configuration to read [default: $KOKUA_CONFIG, else config.toml in $KOKUA_HOME, which is ~/.kokua unless set]
    #[arg(long, global = true, value_name = "PATH")]
    config: Option<PathBuf>,
    /// The model for this run, as `provider:model@base_url;flags` (the last two optional), such as ollama:qwen3:8b
    #[arg(long, global = true, value_name = "MODEL")]
    model: Option<String>,
    /// Log everything, and print each agent's resolved policy at start
    #[arg(long, global = true)]
    debug: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One turn without a screen: the answer on stdout, everything else on stderr
    Run(run::Run),
    /// What each agent may call, holds from the start, and asks before doing
    Agents(agents::Agents),
    /// Every name that `available` accepts here, with its tools
    Toolsets(toolsets::Toolsets),
    /// Why a tool of an agent runs, asks, is not there now, or never will be: all five answers with every reason
    Explain(explain::Explain),
    /// The configuration file
    #[command(subcommand)]
    Config(configuration::Configuration),
    /// The log of every decision: who was asked, what ran, what was withheld
    #[command(subcommand)]
    Audit(audit::Audit),
    /// The stored conversations
    #[command(subcommand)]
    Conversations(conversations::Conversations),
}

/// What a command ended with when it did not work: printed to stderr unless there is nothing to say, then the exit code.
#[derive(Debug)]
pub struct Ended {
    code: u8,
    text: String,
}

impl Ended {
    fn failed(text: impl Into<String>) -> Self {
        Self { code: FAILED, text: text.into() }
    }

    fn usage(text: impl Into<String>) -> Self {
        Self { code: USAGE, text: text.into() }
    }
}

impl From<StartError> for Ended {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Failed { .. } => Self::failed(error.to_string()),
            StartError::Config(_) | StartError::Other { .. } => Self::usage(error.to_string()),
        }
    }
}

impl From<PortError> for Ended {
    fn from(error: PortError) -> Self {
        StartError::from(error).into()
    }
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Self {
        // Whoever read has read enough, as `head` does: there is nobody to tell.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self { code: INTERRUPTED, text: String::new() };
        }
        Self::failed(format!("error: the output could not be written: {}", crate::system::files::describe(&error)))
    }
}

/// Runs the command line; the process's exit code.
pub fn main() -> ExitCode {
    let Arguments { global, command } = Arguments::parse();
    let options = Options { config: global.config, model: global.model, debug: global.debug, ..Options::default() };
    let outcome = match command {
        None => with_runtime(screen::screen(options)),
        Some(Command::Run(run)) => with_runtime(run.run(options)),
        Some(Command::Agents(agents)) => with_runtime(agents.run(options)),
        Some(Command::Explain(explain)) => with_runtime(explain.run(options)),
        Some(Command::Toolsets(toolsets)) => with_runtime(toolsets.run(options)),
        Some(Command::Config(configuration)) => with_runtime(configuration.run(options)),
        Some(Command::Audit(audit)) => with_runtime(audit.run(options)),
        Some(Command::Conversations(conversations)) => conversations.run(&options),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(Ended { code, text }) => {
            if !text.is_empty() {
                print::error(text.trim_end());
            }
            ExitCode::from(code)
        }
    }
}

/// Starts the log; each agent's line, to be printed, with `--debug` (K3).
fn start_log(prepared: &Prepared, options: &Options) -> Result<Vec<String>, Ended> {
    let lines = crate::app::log::start(prepared, options.debug)?;
    Ok(if options.debug { lines } else { Vec::new() })
}

fn with_runtime(work: impl Future<Output = Result<u8, Ended>>) -> Result<u8, Ended> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Ended::failed(format!("the program could not start its threads: {error}")))?;
    let outcome = runtime.block_on(work);
    // A build or a file read that hangs on a blocking thread must not keep the program from leaving.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    outcome
}
