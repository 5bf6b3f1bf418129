//! `kokua agents --diff`: K4, what each agent gains and loses between two configurations. Nothing is started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::print::{self, bytes, clean, error, line};
use super::{ANSWERED, Ended};
use crate::access::capability::{Snapshot, Stand, Weight};
use crate::access::diff::{AgentDiff, Aspect, Change, Direction, count, diff};
use crate::app::everything::Everything;
use crate::app::{self, Options, StartError};
use crate::config;

/// The exit code when an agent gains something, or when not everything could be compared.
const GAINED: u8 = 1;

/// One configuration.
struct Side {
    /// How it is called in what is printed.
    label: String,
    snapshot: Snapshot,
    /// What else is set, by its whole name, with its line: what may let a tool do more, and is compared as text only.
    others: BTreeMap<String, (String, Option<usize>)>,
}

/// Tables, and keys of tables, that say nothing of what a tool may do, or that the comparison of agents knows.
const COMPARED: [&str; 14] = [
    "display.",
    "keys.",
    "logging.",
    "modes.",
    "assistant.tools.",
    "assistant.agent",
    "assistant.mode",
    "assistant.generate_titles",
    "assistant.agent_cache_cap",
    "security.never_auto_approve",
    "security.auto_approval.enabled",
    "toolsets.disabled",
    "toolsets.build_timeout_s",
    "paths.",
];

/// Of an agent's table: what the comparison knows.
fn is_compared(name: &str) -> bool {
    let of_an_agent = name.starts_with("agents.")
        && [".available", ".resident", ".confirm", ".review", ".delegates_to", ".description"]
            .iter()
            .any(|key| name.ends_with(key));
    of_an_agent || COMPARED.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a setting says what tools may reach, so that a change of it may be a gain.
fn may_widen(name: &str) -> bool {
    ["compute.", "fs.", "security."].iter().any(|table| name.starts_with(table))
}

/// A setting that differs and that nothing here judges.
struct Other<'a> {
    name: &'a str,
    old: Option<&'a (String, Option<usize>)>,
    new: Option<&'a (String, Option<usize>)>,
}

fn others<'a>(old: &'a Side, new: &'a Side) -> Vec<Other<'a>> {
    let names: BTreeSet<&str> = old.others.keys().chain(new.others.keys()).map(String::as_str).collect();
    let value = |side: Option<&'a (String, Option<usize>)>| side.map(|(value, _)| value);
    names
        .into_iter()
        .map(|name| Other { name, old: old.others.get(name), new: new.others.get(name) })
        .filter(|other| value(other.old) != value(other.new))
        .collect()
}

/// Compares `old` with `new`; without that, with the configuration in force.
pub(super) async fn run(options: Options, old: PathBuf, new: Option<PathBuf>, as_json: bool) -> Result<u8, Ended> {
    if new.is_some() && options.config.is_some() {
        return Err(Ended::usage("error: --config and the second file of --diff both name the new configuration"));
    }
    let (old, new) = match (side(&options, Some(old)).await, side(&options, new).await) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(one), Ok(_)) | (Ok(_), Err(one)) => return Err(one),
        (Err(one), Err(other)) if one.text == other.text => return Err(one),
        (Err(one), Err(other)) => {
            return Err(Ended { code: one.code, text: format!("{}\n{}", one.text.trim_end(), other.text) });
        }
    };
    let diffs = diff(&old.snapshot, &new.snapshot);
    let others = others(&old, &new);
    let unjudged = count(&diffs, Direction::Unknown) + others.iter().filter(|other| may_widen(other.name)).count();
    if as_json {
        print::json(&machine(&diffs, unjudged, &others, &old, &new))?;
    } else {
        line(&summary(&diffs, unjudged))?;
        line(&format!("  old  {}\n  new  {}", old.label, new.label))?;
        for agent in &diffs {
            line(&format!("\n{}", block(agent, &old.label, &new.label)))?;
        }
        if !others.is_empty() {
            line("\nother settings, which are not compared (?: they say what tools may reach)")?;
        }
        for Other { name, old: was, new: is } in &others {
            let stand = |side: Option<&(String, Option<usize>)>, label: &str| match side {
                None => "not set".to_owned(),
                Some((value, None)) => format!("{value} (default)"),
                Some((value, Some(line))) => format!("{value} ({label}:{line})"),
            };
            let mark = if may_widen(name) { '?' } else { '~' };
            line(&format!("  {mark} {name}  {} → {}", stand(*was, &old.label), stand(*is, &new.label)))?;
        }
    }
    Ok(if unjudged == 0 && count(&diffs, Direction::Gain) == 0 { ANSWERED } else { GAINED })
}

/// Reads, checks and builds one configuration; `None`: the one in force.
async fn side(options: &Options, path: Option<PathBuf>) -> Result<Side, Ended> {
    let named = path.as_ref().map(|path| path.display().to_string());
    let options = match path {
        Some(path) => Options { config: Some(path), ..options.clone() },
        None => options.clone(),
    };
    let mut prepared = app::prepare(&options).await.map_err(|error| match (error, &named) {
        // Nobody wants the shipped file where a configuration to compare with was expected.
        (StartError::Config(problems), Some(path)) if problems.is_missing() => {
            Ended::usage(format!("error: {path}: there is no such file"))
        }
        (error, _) => error.into(),
    })?;
    prepared.build_rest(Everything::Available).await;
    let label = named.unwrap_or_else(|| prepared.config.source.path.display().to_string());
    for alert in &prepared.alerts {
        error(&format!("[alert] {label}: {}", alert.message));
    }
    let tables = config::tables(&prepared.config).into_iter();
    let others = tables
        .flat_map(|table| table.lines.into_iter().map(move |line| (format!("{}.{}", table.path, line.key), line)))
        .filter(|(name, _)| !is_compared(name))
        .map(|(name, line)| (name, (line.value, line.line)))
        .collect();
    Ok(Side { label, snapshot: Snapshot::of(&prepared.capabilities.world), others })
}

/// Whether anything was gained, before all else; `unjudged` is how many changes may be a gain and may not.
fn summary(diffs: &[AgentDiff], unjudged: usize) -> String {
    let of = |direction| count(diffs, direction);
    let mut rest = Vec::new();
    for (number, what, sign) in [
        (of(Direction::Loss), "lost", '-'),
        (of(Direction::Change), "changed otherwise", '~'),
        (unjudged, "not to be compared", '?'),
    ] {
        if number > 0 {
            rest.push(format!("{number} {what} ({sign})"));
        }
    }
    let first = match of(Direction::Gain) {
        0 if rest.is_empty() => "Nothing is gained and nothing is lost".to_owned(),
        0 if unjudged > 0 => "Nothing is gained as far as it can be compared".to_owned(),
        0 => "Nothing is gained".to_owned(),
        number => format!("Something is gained: {number} (+)"),
    };
    rest.insert(0, first);
    format!("{}.", rest.join(", "))
}

/// One agent's block of lines.
fn block(agent: &AgentDiff, old: &str, new: &str) -> String {
    let mut lines = vec![agent.agent.to_string()];
    let width = |of: fn(&Change) -> usize| agent.changes.iter().map(of).max().unwrap_or(0);
    let aspects = width(|change| word(change.aspect).len()).max("context".len());
    let subjects = width(|change| clean(&change.subject).chars().count()).min(80);
    for change in &agent.changes {
        lines.push(format!(
            "  {} {:<aspects$}  {:<subjects$}  {} → {}",
            sign(change.direction),
            word(change.aspect),
            change.subject,
            stand(&change.old, old),
            stand(&change.new, new),
        ));
    }
    let (was, is) = (agent.old.unwrap_or_default(), agent.new.unwrap_or_default());
    for (which, was, is) in [("at the start", was.resident, is.resident), ("with everything loaded", was.all, is.all)] {
        lines.push(format!("    {:<aspects$}  {} → {} {which}", "context", block_size(was), block_size(is)));
    }
    lines.join("\n")
}

fn block_size((tools, size): (usize, usize)) -> String {
    let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
    format!("{tools}, {}", bytes(size))
}

/// How it stands, and the place that decided it.
fn stand(stand: &Stand, label: &str) -> String {
    match stand.line {
        Some(line) => format!("{} ({label}:{line})", stand.text),
        None => stand.text.clone(),
    }
}

fn sign(direction: Direction) -> char {
    match direction {
        Direction::Gain => '+',
        Direction::Loss => '-',
        Direction::Change => '~',
        Direction::Unknown => '?',
    }
}

fn word(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Agent => "agent",
        Aspect::Entry => "entry agent",
        Aspect::Delegate => "delegate",
        Aspect::Available => "available",
        Aspect::Toolset => "toolset",
        Aspect::Tool => "tool",
        Aspect::Gate => "gate",
        Aspect::Floor => "floor",
        Aspect::Offer => "offer",
        Aspect::Residency => "residency",
        Aspect::Definition => "definition",
    }
}

/// The same for a program.
fn machine(diffs: &[AgentDiff], unjudged: usize, others: &[Other<'_>], old: &Side, new: &Side) -> Value {
    let weight = |weight: Option<Weight>| weight.map(tool_bytes);
    let agents: Vec<Value> = diffs
        .iter()
        .map(|agent| {
            json!({"name": agent.agent, "changes": agent.changes,
                   "tool_bytes": {"old": weight(agent.old), "new": weight(agent.new)}})
        })
        .collect();
    json!({
        "old": old.label,
        "new": new.label,
        "gained": count(diffs, Direction::Gain),
        "lost": count(diffs, Direction::Loss),
        "changed": count(diffs, Direction::Change),
        "not_compared": unjudged,
        "other_settings": others
            .iter()
            .map(|other| json!({"name": other.name, "old": other.old.map(|(value, _)| value),
                                "new": other.new.map(|(value, _)| value)}))
            .collect::<Vec<_>>(),
        "agents": agents,
        "not_built": {"old": old.snapshot.not_built(), "new": new.snapshot.not_built()},
    })
}

/// Bytes of the tool block that an agent starts with, and of the one it has with everything loaded.
pub(super) fn tool_bytes(weight: Weight) -> Value {
    json!({"resident": weight.resident.1, "all": weight.all.1})
}
