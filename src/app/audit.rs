//! The audit log for commands: read, verified, and made ready to be replayed. No driver, no model.

use super::{Prepared, StartError, failed};
use crate::access::audit::What;
use crate::access::{AgentName, ToolId, ToolsetName};
use crate::config::Config;
use crate::store;
use crate::store::audit::{Numbered, Verification};

/// Every entry of the log, and a fragment for each line that is none.
///
/// # Errors
/// It can't be read.
pub fn entries(config: &Config) -> Result<(Vec<Numbered>, Vec<String>), StartError> {
    let read = store::AuditLog::new(&config.data).read().map_err(store_error)?;
    Ok((read.entries, read.faults))
}

/// Whether the log is what was written.
///
/// # Errors
/// It, or the folder of conversations, can't be read.
pub fn verify(config: &Config) -> Result<Verification, StartError> {
    let log = store::AuditLog::new(&config.data);
    store::audit::verify(&log, &store::directory(&config.data)).map_err(store_error)
}

/// Builds what the entries name and no start builds, so that the world knows which tools there are. What can't be built,
/// the world knows as that.
pub async fn build_named(prepared: &mut Prepared, entries: &[Numbered]) {
    let mut wanted: Vec<ToolsetName> = Vec::new();
    for entry in entries {
        let toolset = match &entry.entry.what {
            What::Call(call) => call.tool.as_ref().and_then(ToolId::toolset),
            What::Load { toolset, .. } => Some(toolset),
            _ => None,
        };
        wanted.extend(toolset.filter(|toolset| !wanted.contains(toolset)).cloned());
    }
    let world = &prepared.capabilities.world;
    // What no agent may hold is refused for that, built or not.
    let agents: Vec<&AgentName> = world.declarations().agents.iter().map(|agent| &agent.name.value).collect();
    let available: Vec<ToolsetName> = agents.iter().flat_map(|agent| world.available(agent)).collect();
    for toolset in wanted.iter().filter(|toolset| available.contains(toolset)) {
        let world = &prepared.capabilities.world;
        if world.last_build(toolset).is_none() && world.failure(toolset).is_none() {
            // The world was told what failed, or that it is refused.
            let _told = prepared.capabilities.build(toolset).await;
        }
    }
}

fn store_error(error: store::StoreError) -> StartError {
    let hint = error.hint().map(str::to_owned);
    failed(error.to_string(), hint)
}
