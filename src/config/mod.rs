//! The configuration: as written, with the place of every word, and resolved.
//!
//! Nothing here starts, connects or builds anything. The types below are what the rest of the program sees.

mod disk;
mod effective;
mod locate;
mod problem;
mod reference;
mod resolve;
pub mod settings;
mod show;
mod write;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::access::{AgentName, Declarations, Span};

pub use effective::Effective;
pub use locate::Locations;
pub use problem::{Problem, Problems};
pub use reference::reference;
pub use resolve::{load, load_with, parse};
pub use show::{InForce, Shown, show, tables, without_credentials};
pub use write::{NewValue, WriteError, Written, init, set};

/// The configuration that is written on the first run.
pub const EXAMPLE: &str = include_str!("../../config.example.toml");

/// Sampling of one agent's model calls. Only keys that were written are sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generation {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// At least 1.
    pub top_k: Option<u32>,
    /// 0 to 1.
    pub min_p: Option<f64>,
    /// -2 to 2.
    pub presence_penalty: Option<f64>,
    /// Over 0.
    pub repetition_penalty: Option<f64>,
    /// Output tokens; at least 1.
    pub max_tokens: Option<u32>,
    /// Window in tokens; at least 1.
    pub context_length: Option<u32>,
}

/// How hard a model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As the model does by default when it thinks.
    On,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
}

/// Where the configuration came from.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Its text, for messages that quote a line.
    pub text: String,
}

impl Source {
    /// Where the key at `path` stands, such as `["keys", "allow"]`, or the innermost part of it that is written: for
    /// checks that only a later room can make, so that their messages point at the line too.
    pub fn place(&self, path: &[&str]) -> Option<Span> {
        written::place(&self.text, path)
    }
}

impl fmt::Debug for Source {
    /// Without the text: a header in it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.path).field("bytes", &self.text.len()).finish()
    }
}

/// `[assistant]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assistant {
    /// Model string, unset: discovery.
    pub model: Option<String>,
    /// Unset: nothing is sent.
    pub thinking: Option<Thinking>,
    /// Opener where an agent has none.
    pub system_message: Option<String>,
    /// The entry agent.
    pub agent: AgentName,
    /// Calls of one round run together.
    pub concurrent_tools: bool,
    /// Live agents kept.
    pub agent_cache_cap: usize,
    /// Model calls per turn.
    pub max_iterations: u32,
    /// Title new conversations with a model call.
    pub generate_titles: bool,
    /// Sampling.
    pub generation: Generation,
}

/// `[agents.<name>]` without what access declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agent {
    /// Opener.
    pub system_message: Option<String>,
    /// Model string; else the assistant's.
    pub model: Option<String>,
    /// Else the assistant's.
    pub thinking: Option<Thinking>,
    /// Else the assistant's.
    pub max_iterations: Option<u32>,
    /// Merged per key over the assistant's.
    pub generation: Generation,
}

/// `[security]` without the floor and `background`, which are in the declarations.
#[derive(Debug, Clone, PartialEq)]
pub struct Security {
    /// Keys that no tool may write (A14): `*`, `section.*` or `section.key`.
    pub locked_config_keys: Vec<String>,
    /// `[security.auto_approval].reviewers` (V1).
    pub reviewers: Vec<String>,
    /// Seconds that a reviewer has; above zero.
    pub reviewer_timeout_seconds: f64,
    /// Calls of one turn that reviewers are asked about; at least 1.
    pub reviews_per_turn: u32,
    /// Minutes after the last key for which somebody is present (P12); at least 1.
    pub presence_minutes: u32,
    /// Minutes after which a parked card expires (P12); 0: never.
    pub approval_timeout_minutes: u32,
}

/// `[capabilities]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// How deep workers may compose workers (D3), 0 to 16; 0: composing is off.
    pub max_depth: u32,
}

/// `[providers.<name>]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Provider {
    /// Where it answers, unset: its usual address.
    pub base_url: Option<String>,
    /// The environment variable that holds its key, unset: its usual one.
    pub api_key_env: Option<String>,
    /// A command whose first line of output is the key.
    pub api_key_command: Option<Vec<String>>,
    /// Seconds without a byte after which a stream is given up.
    pub stall_timeout_s: u64,
    /// Tries of one failing call, the first included.
    pub max_attempts: u32,
    /// Extra headers.
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for Provider {
    /// Without what may be a secret: header values, and credentials in an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("base_url", &self.base_url.as_deref().map(show::without_credentials))
            .field("api_key_env", &self.api_key_env)
            .field("api_key_command", &self.api_key_command.is_some())
            .field("stall_timeout_s", &self.stall_timeout_s)
            .field("max_attempts", &self.max_attempts)
            .field("headers", &self.headers.keys())
            .finish()
    }
}

/// `[display]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Display {
    /// A theme's name.
    pub theme: String,
    /// The mouse at start.
    pub mouse: bool,
    /// Ring and notify when an ask waits and the terminal is unfocused.
    pub bell: bool,
    /// Show reasoning unfolded.
    pub reasoning: bool,
}

/// What `compute` runs in (`[compute].sandbox`). `"workspace"` is refused at start for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sandbox {
    /// As the user.
    Off,
    /// Not at all: both exec tools are withheld (W2).
    None,
}

/// `[compute]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compute {
    /// What the exec tools run in.
    pub sandbox: Sandbox,
    /// Names of further environment variables that a command sees.
    pub command_env_passthrough: Vec<String>,
}

/// `[fs]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fs {
    /// Outside these a call is refused; empty: everywhere.
    pub roots: Vec<PathBuf>,
}

/// `[toolsets]`, without `disabled`, which is in the declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolsets {
    /// Seconds a build may take (R9).
    pub build_timeout_s: u64,
}

/// How much goes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// The usual.
    Info,
    /// What did not work.
    Warning,
    /// What failed.
    Error,
}

/// The resolved configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where from.
    pub source: Source,
    /// `$KOKUA_HOME`.
    pub home: PathBuf,
    /// `[paths].data_dir`, default `$KOKUA_HOME/data`.
    pub data: PathBuf,
    /// `[assistant]`.
    pub assistant: Assistant,
    /// Every `[agents.<name>]`.
    pub agents: BTreeMap<AgentName, Agent>,
    /// What the tables declare about capability.
    pub declarations: Declarations,
    /// `[security]`.
    pub security: Security,
    /// `[capabilities]`.
    pub capabilities: Capabilities,
    /// Every `[providers.<name>]`.
    pub providers: BTreeMap<String, Provider>,
    /// `[display]`.
    pub display: Display,
    /// `[keys]`: action name to key names, as written.
    pub keys: BTreeMap<String, Vec<String>>,
    /// `[logging].level`.
    pub log_level: LogLevel,
    /// `[compute]`.
    pub compute: Compute,
    /// `[fs]`.
    pub fs: Fs,
    /// `[toolsets]`.
    pub toolsets: Toolsets,
}
