//! `kokua toolsets`: K2, every name that `available` accepts here. Installed is not held: `kokua agents` says who holds.

use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::print::{self, alerts, bytes, line};
use super::{ANSWERED, Ended};
use crate::access::{self, Held, Kind, Life, Reason, Risk, ToolsetName, World};
use crate::app::{self, Options};
use crate::assistant::build::build;

/// `kokua toolsets`.
#[derive(Debug, Args)]
pub(super) struct Toolsets {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// One tool's line.
struct Row {
    name: String,
    risk: Risk,
    bytes: usize,
    check: Result<(), String>,
}

impl Toolsets {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        let prepared = app::prepare(&options).await?;
        let mut listed = Vec::new();
        for facts in prepared.capabilities.world.registry().toolsets() {
            let Some(toolset) = prepared.capabilities.toolsets.get(&facts.name) else { continue };
            let built =
                build(Arc::clone(toolset), prepared.capabilities.services.clone(), prepared.capabilities.build_timeout)
                    .await;
            let rows = built.map(|built| {
                let row = |facts: crate::access::ToolFacts| Row {
                    check: toolset.check(facts.name.as_str()).map_or(Ok(()), |check| check()),
                    name: facts.name.to_string(),
                    risk: facts.risk,
                    bytes: facts.bytes,
                };
                built.facts().into_iter().map(row).collect::<Vec<_>>()
            });
            listed.push((facts, off(&prepared.capabilities.world, &facts.name), rows));
        }
        alerts(&prepared.alerts);
        if self.json {
            let toolsets: Vec<_> = listed
                .iter()
                .map(|(facts, off, rows)| {
                    let tools = rows.as_ref().map(|rows| {
                        let tool = |row: &Row| {
                            json!({"name": row.name, "risk": row.risk, "bytes": row.bytes,
                                   "check": row.check.as_ref().err()})
                        };
                        rows.iter().map(tool).collect::<Vec<_>>()
                    });
                    json!({"name": facts.name, "kind": facts.kind, "description": facts.description,
                           "entry_agent_only": facts.entry_agent_only, "off": off,
                           "tools": tools.as_ref().ok(), "error": tools.as_ref().err()})
                })
                .collect();
            print::json(&json!({ "toolsets": toolsets }))?;
            return Ok(ANSWERED);
        }
        line("Every name that an agent's `available` accepts here. Who holds what: kokua agents.")?;
        let mut kind = None;
        for (facts, off, rows) in listed {
            if kind != Some(facts.kind) {
                kind = Some(facts.kind);
                line(&format!("\n{}", title(facts.kind)))?;
            }
            let only = if facts.entry_agent_only { " (entry agent only)" } else { "" };
            let off = off.map(|why| format!(" (off: {why})")).unwrap_or_default();
            line(&format!("  {}{only}{off}: {}", facts.name, facts.description))?;
            match rows {
                Ok(rows) => {
                    for row in rows {
                        let check = row.check.err().map(|reason| format!("   not now: {reason}")).unwrap_or_default();
                        let text = format!("    {:<28}{:<9}{:>8}{check}", row.name, risk(row.risk), bytes(row.bytes));
                        line(text.trim_end())?;
                    }
                }
                Err(error) => line(&format!("    could not be built: {error}"))?,
            }
        }
        Ok(ANSWERED)
    }
}

/// Why nobody's calls carry `toolset` in a fresh conversation, if so.
fn off(world: &World, toolset: &ToolsetName) -> Option<Reason> {
    let (held, conditions) = (Held::default(), world.default_conditions());
    access::off(world, Life::new(world.entry(), &held).under(&conditions), toolset).map(|(_, reason)| reason)
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::BuiltIn => "built-in",
        Kind::Plugin => "plugin",
        Kind::Skill => "skill",
        Kind::Mcp => "MCP server",
    }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Read => "read",
        Risk::Write => "write",
        Risk::Exec => "exec",
        Risk::Network => "network",
    }
}
