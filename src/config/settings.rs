//! Every setting, declared once: key, kind and range, default, hot or cold, and its line for people.
//!
//! Parsing, error messages, the reference table, `kokua config show` and the check of the example file read these
//! tables. Nothing here reads a file.

/// What may be written for a key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A string that is not empty.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number, both ends included.
    Integer {
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A number, whole or not, both ends included.
    Number {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A number above zero.
    AboveZero,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `false`, `true`, `"low"`, `"medium"` or `"high"`.
    Thinking,
    /// A list of strings.
    Names,
    /// A list of strings, or exactly the string `"all"` (A1).
    NamesOrAll,
    /// A path: absolute, or below the home directory as `~/…`.
    Path,
    /// A list of such paths.
    Paths,
    /// An address with `http://` or `https://`.
    Address,
    /// The name of an environment variable: capitals, digits and `_`, so that no key can be taken for one.
    Variable,
    /// A program and its arguments, as a list.
    Command,
    /// A table of strings.
    Strings,
    /// One key name, or a list of them; any name may be the key.
    KeyNames,
}

impl Kind {
    /// What is accepted, as errors and the reference table say it.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Integer { least, most } if most >= i64::from(u32::MAX) => {
                format!("a whole number of at least {least}")
            }
            Self::Integer { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::AboveZero => "a number above 0".to_owned(),
            Self::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
                or_list(&quoted)
            }
            Self::Thinking => "`false`, `true`, `\"low\"`, `\"medium\"` or `\"high\"`".to_owned(),
            Self::Names => "a list of names".to_owned(),
            Self::NamesOrAll => "a list of names, or `\"all\"`".to_owned(),
            Self::Path => "an absolute path, or one that begins with `~/`".to_owned(),
            Self::Paths => "a list of paths, each absolute or beginning with `~/`".to_owned(),
            Self::Address => "an address that begins with `http://` or `https://`".to_owned(),
            Self::Variable => "the name of an environment variable, in capitals".to_owned(),
            Self::Command => "a list: a program and its arguments".to_owned(),
            Self::Strings => "a table of text values".to_owned(),
            Self::KeyNames => "a key name or a list of key names".to_owned(),
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn or_list(words: &[String]) -> String {
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// What holds where a key is not written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// Nothing, and what happens then.
    Unset(&'static str),
    /// This.
    Boolean(bool),
    /// This.
    Integer(i64),
    /// This.
    Number(f64),
    /// This.
    Text(&'static str),
    /// These.
    Names(&'static [&'static str]),
}

impl Default {
    /// As it would be written, or in words.
    pub fn describe(self) -> String {
        match self {
            Self::Unset(words) => words.to_owned(),
            Self::Boolean(value) => format!("`{value}`"),
            Self::Integer(value) => format!("`{value}`"),
            Self::Number(value) => format!("`{value}`"),
            Self::Text(value) => format!("`\"{value}\"`"),
            Self::Names([]) => "`[]`".to_owned(),
            Self::Names(names) => {
                let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                quoted.join(" ")
            }
        }
    }
}

/// When a value that the program itself changes holds. An edit of the file always waits for the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    /// At once, or from the next turn.
    Hot,
    /// From the next start.
    Cold,
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Its name; never holds a dot.
    pub key: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// What holds when it is not.
    pub default: Default,
    /// When a change holds.
    pub applies: Applies,
    /// One line for people.
    pub doc: &'static str,
}

/// One table of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// Its path; `<name>` stands for a name that the person chooses.
    pub path: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// Its keys.
    pub settings: &'static [Setting],
    /// Set where any key is accepted beside those: what its value must be.
    pub any_key: Option<Setting>,
}

const fn cold(key: &'static str, kind: Kind, default: Default, doc: &'static str) -> Setting {
    Setting { key, kind, default, applies: Applies::Cold, doc }
}

const fn hot(key: &'static str, kind: Kind, default: Default, doc: &'static str) -> Setting {
    Setting { key, kind, default, applies: Applies::Hot, doc }
}

const AT_LEAST_ONE: Kind = Kind::Integer { least: 1, most: u32::MAX as i64 };
const NOT_SENT: Default = Default::Unset("not sent");
const ASSISTANTS: Default = Default::Unset("`[assistant]`'s");

pub(super) const ASSISTANT_MODEL: Setting = cold(
    "model",
    Kind::Text,
    Default::Unset("`$KOKUA_MODEL`, else a running local server, else the rehearsal model"),
    "Model string `provider:model[@base_url][;flags]` for every agent without its own.",
);
pub(super) const ASSISTANT_THINKING: Setting =
    cold("thinking", Kind::Thinking, NOT_SENT, "How hard models think, where the agent does not say.");
pub(super) const ASSISTANT_SYSTEM_MESSAGE: Setting = cold(
    "system_message",
    Kind::Text,
    Default::Unset("the built-in opener"),
    "Opener of the system message, where the agent has none.",
);
pub(super) const ASSISTANT_AGENT: Setting =
    cold("agent", Kind::Text, Default::Text("assistant"), "The entry agent: the one that you talk to.");
pub(super) const ASSISTANT_CONCURRENT_TOOLS: Setting = cold(
    "concurrent_tools",
    Kind::Boolean,
    Default::Boolean(true),
    "Whether several tool calls of one round run together.",
);
pub(super) const ASSISTANT_AGENT_CACHE_CAP: Setting = cold(
    "agent_cache_cap",
    Kind::Integer { least: 1, most: 1000 },
    Default::Integer(8),
    "Agents of conversations kept in memory as they are; the least recently used beyond it is rebuilt from its log.",
);
pub(super) const ASSISTANT_MAX_ITERATIONS: Setting = cold(
    "max_iterations",
    AT_LEAST_ONE,
    Default::Integer(10),
    "Model calls in one turn, before it is wrapped up without tools.",
);
pub(super) const ASSISTANT_MODE: Setting = cold(
    "mode",
    Kind::Text,
    Default::Unset("`work`"),
    "The mode that new conversations begin in; `/mode` gives one another.",
);
pub(super) const ASSISTANT_GENERATE_TITLES: Setting = hot(
    "generate_titles",
    Kind::Boolean,
    Default::Boolean(true),
    "Whether a new conversation is titled by a model call.",
);

pub(super) const CONFIRM: Setting = cold(
    "confirm",
    Kind::Names,
    Default::Names(&[]),
    "Tools that ask you first: `toolset`, `toolset.*`, `toolset.tool`, `core` or `core.tool`.",
);
pub(super) const REVIEW: Setting = cold(
    "review",
    Kind::Names,
    Default::Names(&[]),
    "Tools that ask a reviewer first where there is one, and you otherwise. Same forms as `confirm`.",
);

pub(super) const TEMPERATURE: Setting =
    cold("temperature", Kind::Number { least: 0.0, most: 2.0 }, NOT_SENT, "Sampling temperature.");
pub(super) const TOP_P: Setting = cold("top_p", Kind::Number { least: 0.0, most: 1.0 }, NOT_SENT, "Nucleus sampling.");
pub(super) const TOP_K: Setting = cold("top_k", AT_LEAST_ONE, NOT_SENT, "Sampling among the k likeliest tokens.");
pub(super) const MIN_P: Setting =
    cold("min_p", Kind::Number { least: 0.0, most: 1.0 }, NOT_SENT, "Least probability relative to the likeliest.");
pub(super) const PRESENCE_PENALTY: Setting = cold(
    "presence_penalty",
    Kind::Number { least: -2.0, most: 2.0 },
    NOT_SENT,
    "Penalty for tokens that occurred already.",
);
pub(super) const REPETITION_PENALTY: Setting =
    cold("repetition_penalty", Kind::AboveZero, NOT_SENT, "Factor against repetition; 1 is none.");
pub(super) const MAX_TOKENS: Setting = cold("max_tokens", AT_LEAST_ONE, NOT_SENT, "Output tokens of one model call.");
pub(super) const CONTEXT_LENGTH: Setting =
    cold("context_length", AT_LEAST_ONE, NOT_SENT, "Context window in tokens, where the server takes one.");

const GENERATION: &[Setting] =
    &[TEMPERATURE, TOP_P, TOP_K, MIN_P, PRESENCE_PENALTY, REPETITION_PENALTY, MAX_TOKENS, CONTEXT_LENGTH];

pub(super) const AGENT_DESCRIPTION: Setting =
    cold("description", Kind::Text, Default::Unset("empty"), "One line for you and for agents that delegate to it.");
pub(super) const AGENT_SYSTEM_MESSAGE: Setting =
    cold("system_message", Kind::Text, ASSISTANTS, "Opener of its system message.");
pub(super) const AGENT_DELEGATES_TO: Setting = cold(
    "delegates_to",
    Kind::Names,
    Default::Names(&[]),
    "Agents that it may spawn as workers: declared ones, not itself, in no circle.",
);
pub(super) const AGENT_MODEL: Setting =
    cold("model", Kind::Text, ASSISTANTS, "Its model string; a worker never takes its delegator's.");
pub(super) const AGENT_THINKING: Setting = cold("thinking", Kind::Thinking, ASSISTANTS, "How hard its model thinks.");
pub(super) const AGENT_MAX_ITERATIONS: Setting =
    cold("max_iterations", AT_LEAST_ONE, ASSISTANTS, "Its model calls in one turn.");

pub(super) const AGENT_AVAILABLE: Setting =
    cold("available", Kind::NamesOrAll, Default::Unset("no toolset"), "The toolsets that it can ever call tools of.");
pub(super) const AGENT_RESIDENT: Setting = cold(
    "resident",
    Kind::Names,
    Default::Unset("every available one"),
    "Those of `available` in its context from the start; the others it loads when it needs them.",
);
pub(super) const AGENT_CONFIRM: Setting = cold(
    "confirm",
    Kind::Names,
    Default::Unset("`[assistant.tools]`'s, if it has no `review` either"),
    "Its own approval policy. Either key replaces the whole default pair.",
);
pub(super) const AGENT_REVIEW: Setting = cold(
    "review",
    Kind::Names,
    Default::Unset("`[assistant.tools]`'s, if it has no `confirm` either"),
    "The other half of its own policy.",
);

pub(super) const WITHHOLD: Setting = cold(
    "withhold",
    Kind::Names,
    Default::Names(&[]),
    "What no call in this mode carries: toolsets, `core.<tool>`, `kind:mcp`, `kind:plugin`, `kind:skill`.",
);

pub(super) const NEVER_AUTO_APPROVE: Setting = cold(
    "never_auto_approve",
    Kind::Names,
    Default::Names(&[]),
    "The floor: tools that no reviewer, grant or allow line ever answers for. Same forms as `confirm`.",
);
pub(super) const LOCKED_CONFIG_KEYS: Setting = cold(
    "locked_config_keys",
    Kind::Names,
    Default::Names(SHIPPED_LOCKS),
    "Keys that no tool may write: `*`, `section.*` or `section.key`. It locks itself, always.",
);
pub(super) const BACKGROUNDS: &[&str] = &["park", "deny"];
pub(super) const BACKGROUND: Setting = cold(
    "background",
    Kind::Word(BACKGROUNDS),
    Default::Text("park"),
    "What becomes of a call that asks while its conversation is not on screen: `park` lets its card wait, `deny` answers no.",
);
pub(super) const PRESENCE_MINUTES: Setting = cold(
    "presence_minutes",
    AT_LEAST_ONE,
    Default::Integer(15),
    "Minutes after the last key for which somebody counts as present; with nobody there, what would be parked is denied.",
);
pub(super) const APPROVAL_TIMEOUT_MINUTES: Setting = cold(
    "approval_timeout_minutes",
    Kind::Integer { least: 0, most: u32::MAX as i64 },
    Default::Integer(0),
    "Minutes after which a parked card expires; 0: never.",
);
pub(super) const AUTO_ENABLED: Setting = cold(
    "enabled",
    Kind::Boolean,
    Default::Boolean(false),
    "Whether a model reviewer answers for `review` before you are asked. `true` is refused until there are any.",
);
pub(super) const AUTO_REVIEWERS: Setting =
    cold("reviewers", Kind::Names, Default::Names(&[]), "Names of `[reviewers.<name>]` tables; all must agree.");
pub(super) const AUTO_TIMEOUT_SECONDS: Setting =
    cold("timeout_seconds", Kind::AboveZero, Default::Number(10.0), "Seconds that a reviewer has.");
pub(super) const AUTO_MAX_PER_TURN: Setting =
    cold("max_per_turn", AT_LEAST_ONE, Default::Integer(5), "Calls of one turn that reviewers are asked about.");

pub(super) const MAX_DEPTH: Setting = hot(
    "max_depth",
    Kind::Integer { least: 0, most: 16 },
    Default::Integer(3),
    "How deep workers may compose workers; 0 switches composing off.",
);

pub(super) const BASE_URL: Setting =
    cold("base_url", Kind::Address, Default::Unset("the provider's usual one"), "Where the provider answers.");
pub(super) const API_KEY_ENV: Setting = cold(
    "api_key_env",
    Kind::Variable,
    Default::Unset("the provider's usual one"),
    "The environment variable that holds the key.",
);
pub(super) const API_KEY_COMMAND: Setting = cold(
    "api_key_command",
    Kind::Command,
    Default::Unset("no command"),
    "A program whose first line of output is the key.",
);
pub(super) const STALL_TIMEOUT_S: Setting = cold(
    "stall_timeout_s",
    Kind::Integer { least: 1, most: 86_400 },
    Default::Integer(120),
    "Seconds without a byte after which a stream is given up.",
);
pub(super) const MAX_ATTEMPTS: Setting = cold(
    "max_attempts",
    Kind::Integer { least: 1, most: 20 },
    Default::Integer(5),
    "Tries of one failing model call, the first included.",
);
pub(super) const HEADERS: Setting =
    cold("headers", Kind::Strings, Default::Unset("none"), "Further HTTP headers of every request.");

pub(super) const THEME: Setting =
    hot("theme", Kind::Text, Default::Text("default"), "A theme's name: default, mono or high-contrast.");
pub(super) const MOUSE: Setting =
    cold("mouse", Kind::Boolean, Default::Boolean(false), "Whether the mouse is on at start; F9 switches it.");
pub(super) const BELL: Setting = hot(
    "bell",
    Kind::Boolean,
    Default::Boolean(true),
    "Whether an ask that waits rings and notifies while the terminal is unfocused.",
);
pub(super) const REASONING: Setting =
    hot("reasoning", Kind::Boolean, Default::Boolean(false), "Whether reasoning is shown unfolded.");

const KEY_BINDING: Setting = cold(
    "<action>",
    Kind::KeyNames,
    Default::Unset("as shipped"),
    "Keys of a named action, such as `\"Ctrl+Y\"`; `[]` unbinds it. F1 lists the actions, from 100 columns with their names; docs/keys.md has every name.",
);

pub(super) const DATA_DIR: Setting =
    cold("data_dir", Kind::Path, Default::Unset("`$KOKUA_HOME/data`"), "Where conversations, memory and logs are.");

pub(super) const LOG_LEVELS: &[&str] = &["debug", "info", "warning", "error"];
pub(super) const LOG_LEVEL: Setting =
    cold("level", Kind::Word(LOG_LEVELS), Default::Text("info"), "How much goes to the log file.");

pub(super) const SANDBOXES: &[&str] = &["off", "none", "workspace"];
pub(super) const SANDBOX: Setting = cold(
    "sandbox",
    Kind::Word(SANDBOXES),
    Default::Text("none"),
    "What programs run in: `off` as you, `none` not at all. `workspace` (confined) comes with a later version.",
);
pub(super) const COMMAND_ENV_PASSTHROUGH: Setting = cold(
    "command_env_passthrough",
    Kind::Names,
    Default::Names(&[]),
    "Further environment variables that commands see.",
);

pub(super) const ROOTS: Setting = cold(
    "roots",
    Kind::Paths,
    Default::Names(&[]),
    "Folders that `fs` and `fs_write` stay in; empty: wherever you can go.",
);

pub(super) const DISABLED: Setting =
    hot("disabled", Kind::Names, Default::Names(&[]), "Toolsets that are switched off for every agent.");
pub(super) const BUILD_TIMEOUT_S: Setting = cold(
    "build_timeout_s",
    Kind::Integer { least: 1, most: 3600 },
    Default::Integer(30),
    "Seconds that the build of a toolset may take.",
);

const fn section(path: &'static str, doc: &'static str, settings: &'static [Setting]) -> Section {
    Section { path, doc, settings, any_key: None }
}

/// Every table, in the order of the reference.
pub const SECTIONS: &[Section] = &[
    section(
        "assistant",
        "What holds for every agent that does not say otherwise.",
        &[
            ASSISTANT_AGENT,
            ASSISTANT_MODEL,
            ASSISTANT_THINKING,
            ASSISTANT_SYSTEM_MESSAGE,
            ASSISTANT_MAX_ITERATIONS,
            ASSISTANT_CONCURRENT_TOOLS,
            ASSISTANT_AGENT_CACHE_CAP,
            ASSISTANT_MODE,
            ASSISTANT_GENERATE_TITLES,
        ],
    ),
    section(
        "assistant.tools",
        "The approval policy of every agent that declares none of its own. Not a list of toolsets: those are each \
         agent's.",
        &[CONFIRM, REVIEW],
    ),
    section("assistant.generation", "Sampling. Only keys that are written are sent.", GENERATION),
    section(
        "agents.<name>",
        "One agent. Only tables make agents.",
        &[
            AGENT_DESCRIPTION,
            AGENT_SYSTEM_MESSAGE,
            AGENT_DELEGATES_TO,
            AGENT_MODEL,
            AGENT_THINKING,
            AGENT_MAX_ITERATIONS,
        ],
    ),
    section(
        "agents.<name>.tools",
        "What the agent can call, what is in its context, and what asks first.",
        &[AGENT_AVAILABLE, AGENT_RESIDENT, AGENT_CONFIRM, AGENT_REVIEW],
    ),
    section("agents.<name>.generation", "Its sampling, merged key by key over `[assistant.generation]`.", GENERATION),
    section(
        "modes.<name>",
        "A mode of a conversation. It withholds and gives nothing. `companion` and `work` ship; a table of that name \
         replaces one whole.",
        &[WITHHOLD],
    ),
    section(
        "security",
        "What stands above every policy.",
        &[NEVER_AUTO_APPROVE, LOCKED_CONFIG_KEYS, BACKGROUND, PRESENCE_MINUTES, APPROVAL_TIMEOUT_MINUTES],
    ),
    section(
        "security.auto_approval",
        "Model reviewers, which come with a later version. Until then these keys are checked and do nothing.",
        &[AUTO_ENABLED, AUTO_REVIEWERS, AUTO_TIMEOUT_SECONDS, AUTO_MAX_PER_TURN],
    ),
    section("capabilities", "Composed workers.", &[MAX_DEPTH]),
    section(
        "providers.<name>",
        "How a model provider is reached. Keys of services are never written into this file.",
        &[BASE_URL, API_KEY_ENV, API_KEY_COMMAND, STALL_TIMEOUT_S, MAX_ATTEMPTS, HEADERS],
    ),
    section("display", "The screen.", &[THEME, MOUSE, BELL, REASONING]),
    Section { path: "keys", doc: "Key bindings.", settings: &[], any_key: Some(KEY_BINDING) },
    section("paths", "Where things are.", &[DATA_DIR]),
    section("logging", "The log file, `data/logs/kokua.log`.", &[LOG_LEVEL]),
    section("compute", "Running programs.", &[SANDBOX, COMMAND_ENV_PASSTHROUGH]),
    section("fs", "Files.", &[ROOTS]),
    section("toolsets", "All toolsets.", &[DISABLED, BUILD_TIMEOUT_S]),
];

/// The section with this path, where `<name>` stands for the chosen names.
pub fn section_at(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

/// What `locked_config_keys` is unless it is written (A14).
pub const SHIPPED_LOCKS: &[&str] = &[
    "agents.*",
    "assistant.agent",
    "assistant.tools.*",
    "security.*",
    "reviewers.*",
    "mcp.*",
    "modes.*",
    "toolsets.*",
    "skills.*",
    "keys.*",
    "providers.*",
    "compute.*",
    "fs.*",
    "web.allow_private",
    "paths.*",
    "scheduling.task.*",
    "email.to",
];

/// The first of `patterns` that locks `key` of `section`; the key that holds the patterns is locked always (A14).
pub fn locked_by<'a>(section: &str, key: &str, patterns: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let own = (section == "security" && key == LOCKED_CONFIG_KEYS.key).then_some("security.locked_config_keys");
    let full = format!("{section}.{key}");
    patterns
        .into_iter()
        .find(|pattern| match pattern.strip_suffix(".*") {
            Some(prefix) => section == prefix || section.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')),
            None => *pattern == "*" || **pattern == *full,
        })
        .or(own)
}

/// Model providers, as model strings and `[providers.<name>]` name them.
pub const PROVIDERS: &[&str] = &[
    "openai",
    "anthropic",
    "ollama",
    "openai-compat",
    "openrouter",
    "groq",
    "deepseek",
    "mistral",
    "lmstudio",
    "llamacpp",
    "vllm",
    "rehearsal",
];

/// Sections that belong to no toolset: no toolset may take their names (A3).
pub const SECTIONS_OF_NO_TOOLSET: &[&str] = &[
    "agents",
    "assistant",
    "display",
    "email",
    "keys",
    "logging",
    "modes",
    "paths",
    "providers",
    "reviewers",
    "security",
    "toolsets",
];

/// Sections of later versions, and what they are for.
pub(super) const LATER_SECTIONS: &[(&str, &str)] = &[
    ("reviewers", "model reviewers"),
    ("mcp", "MCP servers"),
    ("skills", "skills"),
    ("scheduling", "scheduled tasks"),
    ("web", "web tools"),
    ("email", "mail"),
    ("planning", "the planning workflow"),
    ("github_backup", "backups"),
    ("image", "image generation"),
    ("speech", "speech generation"),
    ("audio", "audio generation"),
    ("transcription", "transcription"),
    ("documents", "shared documents"),
    ("report", "reports"),
    ("reminders", "reminders"),
];

/// Keys of later versions, by section.
pub(super) const LATER_KEYS: &[(&str, &str)] = &[("compute", "network"), ("compute", "allow"), ("toolsets", "paths")];

/// A key or table of an older layout, and what replaced it. There is no migration: it is said, and nothing is guessed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retired {
    /// The section as in [`SECTIONS`]; empty: the top of the file.
    pub(super) section: &'static str,
    /// The key.
    pub(super) key: &'static str,
    /// What to write instead.
    pub(super) instead: &'static str,
}

const fn retired(section: &'static str, key: &'static str, instead: &'static str) -> Retired {
    Retired { section, key, instead }
}

const TO_AVAILABLE: &str = "list the names in `available` of [agents.<name>.tools]";

pub(super) const RETIRED: &[Retired] = &[
    retired("", "tools", "every agent has its own [agents.<name>.tools]; the approval default is [assistant.tools]"),
    retired("", "subagents", "make each one an [agents.<name>] and name it in `delegates_to` of whoever may spawn it"),
    retired("", "groups", TO_AVAILABLE),
    retired("", "tool_packs", TO_AVAILABLE),
    retired(
        "",
        "mcp_servers",
        "servers come with a later version: as [[mcp.server]] tables that an agent lists by name in `available`",
    ),
    retired("", "frontend", "take it out: `kokua` is the screen, `kokua run` the way without one"),
    retired("assistant", "memory", "list \"memory\" in `available` of [agents.<name>.tools]"),
    retired("assistant", "groups", TO_AVAILABLE),
    retired("assistant", "tool_packs", TO_AVAILABLE),
    retired("assistant", "mcp_servers", TO_AVAILABLE),
    retired(
        "assistant.tools",
        "available",
        "this table is the approval default; list toolsets in [agents.<name>.tools]",
    ),
    retired(
        "assistant.tools",
        "resident",
        "this table is the approval default; list toolsets in [agents.<name>.tools]",
    ),
    retired("agents.<name>", "groups", TO_AVAILABLE),
    retired("agents.<name>", "tool_packs", TO_AVAILABLE),
    retired("agents.<name>", "mcp_servers", TO_AVAILABLE),
    retired("agents.<name>", "confirm_tools", "write `confirm` in [agents.<name>.tools]"),
    retired("security", "confirm_tools", "write the entries as `confirm` in [assistant.tools]"),
    retired("security.auto_approval", "tools", "write the entries as `review` in [assistant.tools]"),
    retired(
        "providers.<name>",
        "api_key",
        "keys are never written into this file: name an environment variable in `api_key_env`, or a program in \
         `api_key_command`",
    ),
];
