//! `kokua agents --diff`: K4, what each agent gains and loses between two configurations. Nothing is started.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::print::{self, bytes, clean, error, line};
use super::{ANSWERED, Ended};
use crate::access::capability::{Snapshot, Stand, Weight};
use crate::access::diff::{AgentDiff, Aspect, Change, Direction, count, diff};
use crate::app::everything::Everything;
use crate::app::{self, Options, StartError};

/// The exit code when an agent gains something, or when not everything could be compared.
const GAINED: u8 = 1;

/// One configuration.
struct Side {
    /// How it is called in what is printed.
    label: String,
    snapshot: Snapshot,
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
    if as_json {
        print::json(&machine(&diffs, &old, &new))?;
    } else {
        line(&summary(&diffs))?;
        line(&format!("  old  {}\n  new  {}", old.label, new.label))?;
        for agent in &diffs {
            line(&format!("\n{}", block(agent, &old.label, &new.label)))?;
        }
    }
    let compared = count(&diffs, Direction::Unknown) == 0;
    Ok(if compared && count(&diffs, Direction::Gain) == 0 { ANSWERED } else { GAINED })
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
    Ok(Side { label, snapshot: Snapshot::of(&prepared.capabilities.world) })
}

/// Whether anything was gained, before all else.
fn summary(diffs: &[AgentDiff]) -> String {
    let of = |direction| count(diffs, direction);
    let mut rest = Vec::new();
    for (number, what, sign) in [
        (of(Direction::Loss), "lost", '-'),
        (of(Direction::Change), "changed otherwise", '~'),
        (of(Direction::Unknown), "not to be compared", '?'),
    ] {
        if number > 0 {
            rest.push(format!("{number} {what} ({sign})"));
        }
    }
    let first = match of(Direction::Gain) {
        0 if rest.is_empty() => "Nothing is gained and nothing is lost".to_owned(),
        0 if of(Direction::Unknown) > 0 => "Nothing is gained as far as it can be compared".to_owned(),
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
fn machine(diffs: &[AgentDiff], old: &Side, new: &Side) -> Value {
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
        "not_compared": count(diffs, Direction::Unknown),
        "agents": agents,
        "not_built": {"old": old.snapshot.not_built(), "new": new.snapshot.not_built()},
    })
}

/// Bytes of the tool block that an agent starts with, and of the one it has with everything loaded.
pub(super) fn tool_bytes(weight: Weight) -> Value {
    json!({"resident": weight.resident.1, "all": weight.all.1})
}
