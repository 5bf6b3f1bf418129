//! What every start writes to the log (K3). It never holds a key.

use tracing::level_filters::LevelFilter;

use super::{Prepared, StartError, failed};
use crate::access::policy::GateList;
use crate::access::{AgentReport, report};
use crate::config::LogLevel;
use crate::system;

/// Starts the log, and writes what each agent starts with: one line an agent (K3); those lines. With `debug`, everything
/// is logged.
///
/// # Errors
/// The folder can't be written.
pub fn start(prepared: &Prepared, debug: bool) -> Result<Vec<String>, StartError> {
    let level = match prepared.config.log_level {
        _ if debug => LevelFilter::DEBUG,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
    };
    let logs = prepared.config.data.join("logs");
    system::logging::start(&logs, level).map_err(|error| {
        failed(
            error.to_string(),
            Some("set [paths].data_dir or $KOKUA_HOME to a folder that can be written".to_owned()),
        )
    })?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), config = %prepared.config.source.path.display(), "start");
    tracing::info!("{}", prepared.exec_line());
    for agent in &prepared.not_checked {
        tracing::info!(%agent, "not checked for shadowed tools: not all of its resident toolsets were built");
    }
    let mut lines = Vec::new();
    for agent in &prepared.capabilities.world.declarations().agents {
        let line = summary(&report(&prepared.capabilities.world, &agent.name.value, None, None));
        tracing::info!("{line}");
        lines.push(line);
    }
    Ok(lines)
}

/// K3: `assistant: 7 available, 5 resident, inherited from [assistant.tools], line 24; confirm: none; review: …`.
fn summary(report: &AgentReport) -> String {
    let list = |which: GateList| {
        let entries = report.entries.iter().filter(|entry| entry.list == which);
        let names: Vec<String> = entries
            .flat_map(|entry| {
                if entry.refusing {
                    vec![format!("{} (refusing)", entry.entry)]
                } else if entry.pending {
                    vec![format!("{} (pending)", entry.entry)]
                } else {
                    entry.tools.iter().map(ToString::to_string).collect()
                }
            })
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let count = report.available.len();
    let available = if report.available_all { format!("all ({count})") } else { count.to_string() };
    let resident = count - report.deferred.len();
    format!(
        "{}: {available} available, {resident} resident, {}; confirm: {}; review: {}",
        report.agent,
        report.policy_source,
        list(GateList::Confirm),
        list(GateList::Review),
    )
}
