//! `kokua agents`: K1, the same report that the tools and policy panes show.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::print::{self, alerts, bytes, line, list};
use super::{ANSWERED, Ended};
use crate::access::capability::{Capability, Snapshot};
use crate::access::policy::GateList;
use crate::access::report::EntryRow;
use crate::access::{AgentReport, report};
use crate::app::everything::Everything;
use crate::app::{self, Options};

/// `kokua agents`.
#[derive(Debug, Args)]
pub(super) struct Agents {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
    /// What each agent gains and loses from OLD to NEW, which is the configuration in force unless it is given; exit
    /// code 1 when one gains something, or when not everything could be compared
    #[arg(long, num_args = 1..=2, value_names = ["OLD", "NEW"])]
    diff: Vec<PathBuf>,
}

impl Agents {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        let mut files = self.diff.into_iter();
        if let Some(old) = files.next() {
            return super::diff::run(options, old, files.next(), self.json).await;
        }
        let mut prepared = app::prepare(&options).await?;
        // Before the rest is built: at a start, an entry on it is pending.
        let mut reports = Vec::new();
        for agent in &prepared.capabilities.world.declarations().agents {
            let name = agent.name.value.clone();
            let model = prepared.model_of(&name).unwrap_or_else(|| "discovered at start".to_owned());
            reports.push((model, report(&prepared.capabilities.world, &name, None, None)));
        }
        prepared.build_rest(Everything::Available).await;
        alerts(&prepared.alerts);
        let whole = Snapshot::of(&prepared.capabilities.world);
        let agents = reports.iter().zip(&whole.agents);
        if self.json {
            let agents: Vec<_> = agents
                .map(|((model, report), whole)| {
                    let mut value = serde_json::to_value(report).unwrap_or_default();
                    if let Some(object) = value.as_object_mut() {
                        object.insert("model".to_owned(), json!(model));
                        object.insert("tool_bytes".to_owned(), super::diff::tool_bytes(whole.weight));
                        let not_built: std::collections::BTreeMap<_, _> = whole.not_built().collect();
                        object.insert("not_built".to_owned(), json!(not_built));
                    }
                    value
                })
                .collect();
            print::json(&json!({ "agents": agents }))?;
        } else {
            for (index, ((model, report), whole)) in agents.enumerate() {
                if index > 0 {
                    line("")?;
                }
                line(&text(model, report, whole))?;
            }
        }
        Ok(ANSWERED)
    }
}

/// One agent's block of lines.
fn text(model: &str, report: &AgentReport, whole: &Capability) -> String {
    let mut lines = vec![match (report.entry, report.description.as_str()) {
        (true, "") => format!("{} (entry agent)", report.agent),
        (true, description) => format!("{} (entry agent): {description}", report.agent),
        (false, "") => report.agent.to_string(),
        (false, description) => format!("{}: {description}", report.agent),
    }];
    let mut row = |name: &str, value: String| lines.push(format!("  {name:<12}{value}"));
    row("model", model.to_owned());
    row("delegates", list(&report.delegates_to));
    let count = report.available.len();
    row(
        "available",
        if report.available_all {
            format!("all ({count}): {}", list(&report.available))
        } else {
            format!("({count}) {}", list(&report.available))
        },
    );
    row("resident", report.resident.as_ref().map_or_else(|| "every available toolset".to_owned(), list));
    row("deferred", list(&report.deferred));
    let off: Vec<String> = report
        .toolsets
        .iter()
        .filter_map(|toolset| Some(format!("{} ({})", toolset.name, toolset.state.off_words()?)))
        .collect();
    if !off.is_empty() {
        row("off", list(off));
    }
    row("core", list(report.core.iter().map(|tool| &tool.name)));
    row("policy", report.policy_source.clone());
    if !report.dropped_defaults.is_empty() {
        row("NOT GATED", format!("{} (this table's own pair replaces the default)", list(&report.dropped_defaults)));
    }
    for (name, which) in [("confirm", GateList::Confirm), ("review", GateList::Review)] {
        row(name, entries(report.entries.iter().filter(|entry| entry.list == which)));
    }
    row("floor", entries(report.floor.iter()));
    let not_built: Vec<String> = whole.not_built().map(|(toolset, why)| format!("{toolset} ({why})")).collect();
    if !not_built.is_empty() {
        row("not built", list(not_built));
    }
    let (tools, size) = report.start_tools;
    let (all_tools, all_size) = whole.weight.all;
    row(
        "tool block",
        format!(
            "{tools} tools, {} at the start; {all_tools} tools, {} with everything loaded",
            bytes(size),
            bytes(all_size)
        ),
    );
    lines.join("\n")
}

/// Resolved names; a pending entry as written and said so.
fn entries<'a>(rows: impl Iterator<Item = &'a EntryRow>) -> String {
    list(rows.flat_map(|row| {
        if row.refusing {
            vec![format!("{} (refuses every build of its toolset, line {})", row.entry, row.line)]
        } else if row.pending {
            vec![format!("{} (pending, line {})", row.entry, row.line)]
        } else {
            row.tools.iter().map(ToString::to_string).collect()
        }
    }))
}
