//! `kokua toolsets`: K2, every name that `available` accepts here. Installed is not held: `kokua agents` says who holds.

use clap::Args;
use serde_json::{Value, json};

use super::print::{self, alerts, bytes, line};
use super::{ANSWERED, Ended};
use crate::access::installed::{InstalledTool, InstalledToolset, installed};
use crate::access::{Kind, Risk};
use crate::app::everything::Everything;
use crate::app::{self, Options};
use crate::assistant::capabilities::Capabilities;

/// `kokua toolsets`.
#[derive(Debug, Args)]
pub(super) struct Toolsets {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// What a tool's health check says (W2).
enum Check<'a> {
    /// It has none.
    None,
    /// It may be offered.
    Yes,
    /// It may not, and why.
    No(&'a str),
}

impl Toolsets {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        let mut prepared = app::prepare(&options).await?;
        prepared.build_rest(Everything::Installed).await;
        let capabilities = &prepared.capabilities;
        let listed = installed(&capabilities.world);
        alerts(&prepared.alerts);
        if self.json {
            let toolsets: Vec<Value> = listed.iter().map(|toolset| machine(capabilities, toolset)).collect();
            print::json(&json!({ "toolsets": toolsets }))?;
            return Ok(ANSWERED);
        }
        line("Every name that an agent's `available` accepts here. Who holds what: kokua agents.")?;
        let mut kind = None;
        for toolset in &listed {
            if kind != Some(toolset.kind) {
                kind = Some(toolset.kind);
                line(&format!("\n{}", title(toolset.kind)))?;
            }
            text(capabilities, toolset)?;
        }
        Ok(ANSWERED)
    }
}

/// What the check of one tool says: the world knows a no, and the toolset whether there is a check at all.
fn check<'a>(capabilities: &Capabilities, toolset: &InstalledToolset, tool: &'a InstalledTool) -> Check<'a> {
    let has_one = |name| capabilities.toolsets.get(&toolset.name).is_some_and(|toolset| toolset.check(name).is_some());
    match &tool.not_now {
        Some(reason) => Check::No(reason),
        None if has_one(tool.name.as_str()) => Check::Yes,
        None => Check::None,
    }
}

fn text(capabilities: &Capabilities, toolset: &InstalledToolset) -> std::io::Result<()> {
    let only = if toolset.entry_agent_only { " (entry agent only)" } else { "" };
    let off = toolset.off.as_ref().map(|why| format!(" (off: {why})")).unwrap_or_default();
    line(&format!("  {}{only}{off}: {}", toolset.name, toolset.description))?;
    for tool in toolset.tools.iter().flatten() {
        let check = match check(capabilities, toolset, tool) {
            Check::None => String::new(),
            Check::Yes => "   ready".to_owned(),
            Check::No(reason) => format!("   not now: {reason}"),
        };
        let text = format!("    {:<28}{:<9}{:>8}{check}", tool.name, risk(tool.risk), bytes(tool.bytes));
        line(text.trim_end())?;
    }
    if let Some(why) = &toolset.refused {
        line(&format!("    refused to everybody: {why}"))?;
    }
    if let Some(error) = &toolset.error {
        line(&format!("    could not be built: {error}"))?;
    }
    Ok(())
}

fn machine(capabilities: &Capabilities, toolset: &InstalledToolset) -> Value {
    let mut value = json!(toolset);
    let rows = value.get_mut("tools").and_then(Value::as_array_mut);
    for (row, tool) in rows.into_iter().flatten().zip(toolset.tools.iter().flatten()) {
        let Some(row) = row.as_object_mut() else { continue };
        row.remove("not_now");
        let (state, reason) = match check(capabilities, toolset, tool) {
            Check::None => ("none", None),
            Check::Yes => ("yes", None),
            Check::No(reason) => ("no", Some(reason)),
        };
        row.insert("check".to_owned(), json!({"state": state, "reason": reason}));
    }
    value
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
