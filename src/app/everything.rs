//! Builds that no start needs, for commands that look at everything (K1, K2, K4). Nothing built here is given to anybody.

use super::{CHECK_TIMEOUT, Prepared, build_once, warning};
use crate::access::ToolsetName;
use crate::system;

/// How far a command looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Everything {
    /// Every toolset that some agent's table makes available.
    Available,
    /// Every toolset that is installed.
    Installed,
}

impl Prepared {
    /// Builds what startup left out, through the one function and the hook, and asks its checks; each of them no longer
    /// than the limit. The world knows the outcome of each, and whatever could not be built is an alert as well.
    pub async fn build_rest(&mut self, everything: Everything) {
        let world = &self.capabilities.world;
        let names: Vec<ToolsetName> = match everything {
            Everything::Installed => world.registry().names().cloned().collect(),
            Everything::Available => {
                let agents = world.declarations().agents.iter();
                agents.flat_map(|agent| world.available(&agent.name.value)).collect()
            }
        };
        for name in names {
            self.build_once(&name).await;
        }
        self.ask_checks().await;
    }

    /// Builds `name` unless that was tried, through the one function and the hook. The world knows the outcome, and what
    /// could not be built is an alert.
    pub(super) async fn build_once(&mut self, name: &ToolsetName) {
        let refusal = build_once(&mut self.capabilities, name, &mut self.alerts).await;
        self.alerts.extend(refusal.map(|refusal| warning(format!("Could not build '{name}': {refusal}"))));
    }

    /// Asks every check that is due, none longer than the limit.
    pub(super) async fn ask_checks(&mut self) {
        self.capabilities.refresh_checks(system::clock::now_ms(), CHECK_TIMEOUT).await;
    }
}
