//! From what is written to the resolved [`Config`]: defaults filled in, paths spelled out, what spans several keys
//! checked. Whether names exist is asked of the caller's check; nothing here knows a toolset.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::disk;
use super::problem::{Problem, Problems};
use super::settings::{self, LATER_SECTIONS, SECTIONS, Setting};
use super::written::{Syntax, Table, Value, Written, did_you_mean, path_of, read};
use super::{
    Agent, Assistant, Capabilities, Compute, Config, Display, Fs, Generation, Locations, LogLevel, Provider, Sandbox,
    Security, Source, Thinking, Toolsets,
};
use crate::access::declare::{Background, EntryList, ModeDeclaration, Pair, ServerDefaults};
use crate::access::name::near;
use crate::access::{AgentDeclaration, AgentName, Available, Declarations, Fault, Span, Spanned, ToolsetName};

/// Reads the configuration.
///
/// # Errors
/// There is none ([`Problems::is_missing`]), or everything that is wrong with it.
pub fn load(locations: &Locations) -> Result<Config, Problems> {
    load_with(locations, |_| Vec::new())
}

/// Reads the configuration and asks `check` about it too, so that what only another room knows (unknown toolsets,
/// entries, actions, models) is reported together with what this room found.
///
/// # Errors
/// There is none ([`Problems::is_missing`]), or everything that is wrong with it.
pub fn load_with(locations: &Locations, check: impl FnOnce(&Config) -> Vec<Fault>) -> Result<Config, Problems> {
    let path = locations.config()?;
    let text = disk::read(&path).map_err(|error| match error {
        disk::ReadError::Missing => {
            let who = locations.named_by().map_or(String::new(), |name| format!(", which {name} names"));
            let message = format!("there is no such file{who}");
            Problems::missing(&path, message, "`kokua config init` writes the shipped one there")
        }
        disk::ReadError::Other(message) => Problems::unreadable(&path, message, None),
    })?;
    parse(Source { path, text }, locations, check)
}

/// As [`load_with`], for a text that is already here.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(
    source: Source,
    locations: &Locations,
    check: impl FnOnce(&Config) -> Vec<Fault>,
) -> Result<Config, Problems> {
    let home = locations.home()?;
    let mut written = read(&source.text);
    if written.syntax == Syntax::Broken {
        return Err(Problems::new(&source, written.problems));
    }
    let config = resolve(&written, source, home, locations);
    let mut problems = std::mem::take(&mut written.problems);
    across_keys(&written, &mut problems);
    let faults = check(&config);
    let own = problems.len();
    let unsure = Unsure::of(&written, &config.declarations);
    for mut fault in faults {
        // What access says of auto-approval it says of a switch whose place it was not told.
        if fault.span.is_none() && matches!(fault.rule, "V1" | "P6") && config.declarations.auto_approval {
            fault.span =
                written.at("security.auto_approval").entry(&settings::AUTO_ENABLED).map(|entry| entry.value.span);
        }
        // A name that nothing has, a word that stands twice: that is so whatever else the table says.
        let sure = matches!(fault.rule, "A2" | "A3" | "A5" | "A7" | "A10" | "A15" | "P2" | "W1");
        let known = fault.span.is_some_and(|span| {
            (!sure && unsure.0.contains(&span)) || problems[..own].iter().any(|problem| problem.span == Some(span))
        });
        if !known {
            problems.push(fault.into());
        }
    }
    if problems.is_empty() { Ok(config) } else { Err(Problems::new(&config.source, problems)) }
}

/// Words of tables that are wrong already: what another check says of them would be said of half a table.
struct Unsure(Vec<Span>);

impl Unsure {
    fn of(written: &Written, declarations: &Declarations) -> Self {
        let tainted = |path: &str| {
            written
                .tainted
                .iter()
                .any(|table| table.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest == ".tools"))
        };
        let mut spans = Vec::new();
        let mut any_agent = tainted("agents") || tainted("assistant");
        for agent in &declarations.agents {
            if tainted(&path_of("agents", agent.name.value.as_str())) {
                any_agent = true;
                match &agent.available {
                    Available::Absent => {}
                    Available::All(span) => spans.push(*span),
                    Available::List(names) => spans.extend(names.iter().map(|name| name.span)),
                }
                spans.extend(agent.resident.iter().flatten().map(|name| name.span));
                spans.extend(agent.delegates_to.iter().map(|name| name.span));
                spans.extend(spans_of_pair(&agent.pair));
            }
        }
        // Whether anybody lists what an entry of the default pair names depends on every agent.
        if any_agent {
            spans.extend(spans_of_pair(&declarations.default_pair));
        }
        if tainted("security") || tainted("security.auto_approval") {
            spans.extend(declarations.floor.iter().map(|entry| entry.span));
        }
        Self(spans)
    }
}

fn spans_of_pair(pair: &Pair) -> impl Iterator<Item = Span> {
    [&pair.confirm, &pair.review]
        .into_iter()
        .flatten()
        .flat_map(|list| std::iter::once(list.key).chain(list.entries.iter().map(|entry| entry.span)))
}

fn resolve(written: &Written, source: Source, home: PathBuf, locations: &Locations) -> Config {
    let assistant = written.at("assistant");
    let compute = written.at("compute");
    let display = written.at("display");
    let security = written.at("security");
    let auto = written.at("security.auto_approval");
    let toolsets = written.at("toolsets");
    let agents = written.names.iter().filter(|(list, _)| *list == "agents").map(|(_, name)| name);
    let data = written
        .at("paths")
        .text(&settings::DATA_DIR)
        .map_or_else(|| home.join("data"), |path| locations.expand(Path::new(&path)));
    Config {
        data,
        home,
        assistant: Assistant {
            model: assistant.text(&settings::ASSISTANT_MODEL),
            thinking: thinking(&assistant, &settings::ASSISTANT_THINKING),
            system_message: assistant.text(&settings::ASSISTANT_SYSTEM_MESSAGE),
            agent: AgentName::new(assistant.text(&settings::ASSISTANT_AGENT).unwrap_or_default()),
            concurrent_tools: assistant.boolean(&settings::ASSISTANT_CONCURRENT_TOOLS),
            agent_cache_cap: count(&assistant, &settings::ASSISTANT_AGENT_CACHE_CAP),
            max_iterations: count(&assistant, &settings::ASSISTANT_MAX_ITERATIONS),
            generate_titles: assistant.boolean(&settings::ASSISTANT_GENERATE_TITLES),
            generation: generation(&written.at("assistant.generation")),
        },
        agents: agents.map(|name| (AgentName::new(&*name.value), agent(written, &name.value))).collect(),
        declarations: declarations(written),
        security: Security {
            locked_config_keys: security.words(&settings::LOCKED_CONFIG_KEYS),
            reviewers: auto.words(&settings::AUTO_REVIEWERS),
            reviewer_timeout_seconds: auto.number(&settings::AUTO_TIMEOUT_SECONDS).unwrap_or(1.0),
            reviews_per_turn: count(&auto, &settings::AUTO_MAX_PER_TURN),
            presence_minutes: count(&security, &settings::PRESENCE_MINUTES),
            approval_timeout_minutes: count(&security, &settings::APPROVAL_TIMEOUT_MINUTES),
        },
        capabilities: Capabilities { max_depth: count(&written.at("capabilities"), &settings::MAX_DEPTH) },
        providers: written
            .names
            .iter()
            .filter(|(list, _)| *list == "providers")
            .map(|(_, name)| (name.value.clone(), provider(&written.at(&path_of("providers", &name.value)))))
            .collect(),
        display: Display {
            theme: display.text(&settings::THEME).unwrap_or_default(),
            mouse: display.boolean(&settings::MOUSE),
            bell: display.boolean(&settings::BELL),
            reasoning: display.boolean(&settings::REASONING),
        },
        keys: written.at("keys").entries().map(|(action, entry)| (action.to_owned(), words(&entry.value))).collect(),
        log_level: match written.at("logging").text(&settings::LOG_LEVEL).as_deref() {
            Some("debug") => LogLevel::Debug,
            Some("warning") => LogLevel::Warning,
            Some("error") => LogLevel::Error,
            _ => LogLevel::Info,
        },
        compute: Compute {
            // Whatever is not exactly "off" runs nothing: a capability is declared, never defaulted.
            sandbox: match compute.text(&settings::SANDBOX).as_deref() {
                Some("off") => Sandbox::Off,
                _ => Sandbox::None,
            },
            command_env_passthrough: compute.words(&settings::COMMAND_ENV_PASSTHROUGH),
        },
        fs: Fs {
            roots: written
                .at("fs")
                .words(&settings::ROOTS)
                .iter()
                .map(|path| locations.expand(Path::new(path)))
                .collect(),
        },
        toolsets: Toolsets { build_timeout_s: count(&toolsets, &settings::BUILD_TIMEOUT_S) },
        source,
    }
}

fn words(value: &Spanned<Value>) -> Vec<String> {
    match &value.value {
        Value::Names(names) => names.iter().map(|name| name.value.clone()).collect(),
        _ => Vec::new(),
    }
}

/// A whole number whose declaration has a default; its range was checked when it was read.
fn count<T: TryFrom<i64> + std::default::Default>(table: &Table<'_>, setting: &Setting) -> T {
    table.integer(setting).and_then(|value| T::try_from(value).ok()).unwrap_or_default()
}

fn maybe<T: TryFrom<i64>>(table: &Table<'_>, setting: &Setting) -> Option<T> {
    table.integer(setting).and_then(|value| T::try_from(value).ok())
}

fn thinking(table: &Table<'_>, setting: &Setting) -> Option<Thinking> {
    match table.text(setting)?.as_str() {
        "false" => Some(Thinking::Off),
        "true" => Some(Thinking::On),
        "low" => Some(Thinking::Low),
        "medium" => Some(Thinking::Medium),
        "high" => Some(Thinking::High),
        _ => None,
    }
}

fn generation(table: &Table<'_>) -> Generation {
    Generation {
        temperature: table.number(&settings::TEMPERATURE),
        top_p: table.number(&settings::TOP_P),
        top_k: maybe(table, &settings::TOP_K),
        min_p: table.number(&settings::MIN_P),
        presence_penalty: table.number(&settings::PRESENCE_PENALTY),
        repetition_penalty: table.number(&settings::REPETITION_PENALTY),
        max_tokens: maybe(table, &settings::MAX_TOKENS),
        context_length: maybe(table, &settings::CONTEXT_LENGTH),
    }
}

fn agent(written: &Written, name: &str) -> Agent {
    let table = written.at(&path_of("agents", name));
    Agent {
        system_message: table.text(&settings::AGENT_SYSTEM_MESSAGE),
        model: table.text(&settings::AGENT_MODEL),
        thinking: thinking(&table, &settings::AGENT_THINKING),
        max_iterations: maybe(&table, &settings::AGENT_MAX_ITERATIONS),
        generation: generation(&written.at(&format!("{}.generation", path_of("agents", name)))),
    }
}

fn provider(table: &Table<'_>) -> Provider {
    Provider {
        base_url: table.text(&settings::BASE_URL),
        api_key_env: table.text(&settings::API_KEY_ENV),
        api_key_command: table.names(&settings::API_KEY_COMMAND).map(|_| table.words(&settings::API_KEY_COMMAND)),
        stall_timeout_s: count(table, &settings::STALL_TIMEOUT_S),
        max_attempts: count(table, &settings::MAX_ATTEMPTS),
        headers: table.strings(&settings::HEADERS),
    }
}

impl std::default::Default for Provider {
    /// As an empty `[providers.<name>]`.
    fn default() -> Self {
        provider(&Written::default().at("providers.<name>"))
    }
}

fn declarations(written: &Written) -> Declarations {
    let assistant = written.at("assistant");
    let named = |names: &[Spanned<String>]| -> Vec<Spanned<ToolsetName>> {
        names.iter().map(|name| Spanned::new(ToolsetName::new(&*name.value), name.span)).collect()
    };
    let agents = written.names.iter().filter(|(list, _)| *list == "agents").map(|(_, name)| {
        let table = written.at(&path_of("agents", &name.value));
        let tools = written.at(&format!("{}.tools", path_of("agents", &name.value)));
        let available = match tools.entry(&settings::AGENT_AVAILABLE) {
            None => Available::Absent,
            Some(entry) => match &entry.value.value {
                Value::Names(names) => Available::List(named(names)),
                _ => Available::All(entry.value.span),
            },
        };
        let delegates = table.names(&settings::AGENT_DELEGATES_TO).unwrap_or_default();
        AgentDeclaration {
            name: Spanned::new(AgentName::new(&*name.value), name.span),
            description: table.text(&settings::AGENT_DESCRIPTION).unwrap_or_default(),
            available,
            resident: tools.names(&settings::AGENT_RESIDENT).map(named),
            pair: pair(&tools, &settings::AGENT_CONFIRM, &settings::AGENT_REVIEW),
            delegates_to: delegates.iter().map(|name| Spanned::new(AgentName::new(&*name.value), name.span)).collect(),
        }
    });
    let modes = written.names.iter().filter(|(list, _)| *list == "modes").map(|(_, name)| {
        let table = written.at(&path_of("modes", &name.value));
        let withhold = table.names(&settings::WITHHOLD).unwrap_or_default().to_vec();
        ModeDeclaration { name: name.clone(), withhold }
    });
    Declarations {
        entry: assistant
            .entry(&settings::ASSISTANT_AGENT)
            .zip(assistant.text(&settings::ASSISTANT_AGENT))
            .map(|(entry, name)| Spanned::new(AgentName::new(name), entry.value.span)),
        default_pair: pair(&written.at("assistant.tools"), &settings::CONFIRM, &settings::REVIEW),
        agents: agents.collect(),
        floor: written.at("security").names(&settings::NEVER_AUTO_APPROVE).unwrap_or_default().to_vec(),
        auto_approval: written.at("security.auto_approval").boolean(&settings::AUTO_ENABLED),
        disabled: named(written.at("toolsets").names(&settings::DISABLED).unwrap_or_default()),
        mode: assistant
            .entry(&settings::ASSISTANT_MODE)
            .zip(assistant.text(&settings::ASSISTANT_MODE))
            .map(|(entry, name)| Spanned::new(name, entry.value.span)),
        modes: modes.collect(),
        server_defaults: ServerDefaults::default(),
        background: match written.at("security").text(&settings::BACKGROUND).as_deref() {
            Some("deny") => Background::Deny,
            _ => Background::Park,
        },
    }
}

fn pair(table: &Table<'_>, confirm: &Setting, review: &Setting) -> Pair {
    let list = |setting: &Setting| {
        let entries = table.names(setting)?.to_vec();
        table.entry(setting).map(|entry| EntryList { key: entry.key, entries })
    };
    Pair { confirm: list(confirm), review: list(review) }
}

/// What one key alone cannot say.
fn across_keys(written: &Written, problems: &mut Vec<Problem>) {
    let mut say = |span: Span, message: String, hint: &str| {
        problems.push(Problem { span: Some(span), message, hint: Some(hint.to_owned()) });
    };

    if let Some(entry) = written.at("compute").entry(&settings::SANDBOX)
        && entry.value.value == Value::Text("workspace".to_owned())
    {
        say(
            entry.value.span,
            "the sandbox \"workspace\" comes with a later version of kokua".to_owned(),
            "until then write \"off\" to run programs as yourself, or \"none\" to run none",
        );
    }

    for (_, name) in written.names.iter().filter(|(list, _)| *list == "providers") {
        let table = written.at(&path_of("providers", &name.value));
        if let Some(command) = table.entry(&settings::API_KEY_COMMAND)
            && table.entry(&settings::API_KEY_ENV).is_some()
        {
            say(
                command.key,
                format!("[providers.{}] has both `api_key_env` and `api_key_command`", name.value),
                "keep the one that holds the key",
            );
        }
    }

    for pattern in written.at("security").names(&settings::LOCKED_CONFIG_KEYS).unwrap_or_default() {
        if let Err((message, hint)) = lock_pattern(&pattern.value) {
            say(pattern.span, message, &hint);
        }
    }

    // Each list is a set (A15). Those of the declarations are judged by access; a command is no set.
    for (path, table) in &written.tables {
        for (key, entry) in table {
            let Value::Names(names) = &entry.value.value else { continue };
            let declared = path.starts_with("agents.")
                || path == "assistant.tools"
                || key == settings::NEVER_AUTO_APPROVE.key
                || key == settings::DISABLED.key;
            if declared || key == settings::API_KEY_COMMAND.key {
                continue;
            }
            let mut first: BTreeMap<&str, Span> = BTreeMap::new();
            for name in names {
                match first.get(name.value.as_str()) {
                    Some(earlier) => say(
                        name.span,
                        format!("'{}' stands twice in `{key}` of [{path}]", name.value),
                        &format!("keep the one in line {}, column {}", earlier.line, earlier.column),
                    ),
                    None => {
                        first.insert(&name.value, name.span);
                    }
                }
            }
        }
    }
}

/// Whether `pattern` can lock anything: `*`, `section.*` or `section.key`, of this version or a later one.
fn lock_pattern(pattern: &str) -> Result<(), (String, String)> {
    const FORMS: &str = "write `*`, `section.*` or `section.key`";
    if pattern == "*" {
        return Ok(());
    }
    let wrong = |hint: String| Err((format!("'{pattern}' locks no key"), hint));
    let mut parts: Vec<&str> = pattern.split('.').collect();
    let key = parts.pop().unwrap_or_default();
    let middle_is_plain = parts.iter().all(|part| !part.is_empty() && !part.contains('*'));
    if parts.is_empty() || !middle_is_plain || pattern.contains(char::is_whitespace) || key.is_empty() {
        return wrong(FORMS.to_owned());
    }
    if key.contains('*') && key != "*" {
        return wrong(FORMS.to_owned());
    }
    let first = parts.first().copied().unwrap_or_default();
    if LATER_SECTIONS.iter().any(|(section, _)| *section == first) {
        return Ok(());
    }
    // Chosen names stand for themselves; below them the sections are known.
    let matches = |section: &str| {
        let expected: Vec<&str> = section.split('.').collect();
        expected.len() == parts.len()
            && expected.iter().zip(&parts).all(|(expected, part)| *expected == "<name>" || expected == part)
    };
    let found: Vec<_> = SECTIONS.iter().filter(|section| matches(section.path)).collect();
    let whole = key == "*" && SECTIONS.iter().any(|section| section.path.split('.').next() == Some(first));
    if found.is_empty() {
        if whole && parts.len() <= 2 {
            return Ok(());
        }
        let known = SECTIONS.iter().filter_map(|section| section.path.split('.').next());
        return wrong(match near(first, known, 1).as_slice() {
            [] => "the section is unknown: docs/config.md lists them".to_owned(),
            [same] if *same == first => FORMS.to_owned(),
            near => did_you_mean(&near.iter().map(|section| format!("{section}.{key}")).collect::<Vec<_>>()),
        });
    }
    let keys = || found.iter().flat_map(|section| section.settings).map(|setting| setting.key);
    if key == "*" || found.iter().any(|section| section.any_key.is_some()) || keys().any(|known| known == key) {
        return Ok(());
    }
    wrong(match near(key, keys(), 2).as_slice() {
        [] => format!("[{}] has no key `{key}`", parts.join(".")),
        near => did_you_mean(&near.iter().map(|key| format!("{}.{key}", parts.join("."))).collect::<Vec<_>>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::SHIPPED_LOCKS;

    #[test]
    fn a14_every_shipped_lock_is_a_pattern_that_could_be_written() {
        for pattern in SHIPPED_LOCKS {
            assert_eq!(lock_pattern(pattern), Ok(()), "{pattern}");
        }
    }

    #[test]
    fn lock_patterns_have_three_forms() {
        for good in
            ["*", "display.*", "agents.coder.*", "agents.coder.model", "agents.coder.tools.confirm", "keys.quit"]
        {
            assert_eq!(lock_pattern(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "display",
            "*.*",
            "a.*.b",
            " display.*",
            "display.",
            ".mouse",
            "display.mo*",
            "dispaly.*",
            "display.mose",
        ] {
            assert!(lock_pattern(bad).is_err(), "{bad}");
        }
    }
}
