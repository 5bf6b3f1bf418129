//! What can be called here: the world with what is installed and what is built. No build leaves it unjudged (P8).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::build::{Built, build};
use super::checks::Health;
use crate::access::{ToolsetName, World};
use crate::tool::{Services, Toolset};

/// The world and its builds: prepared at startup, then the driver's.
pub struct Capabilities {
    /// Every build is reported to it.
    pub world: World,
    /// Every installed toolset.
    pub toolsets: BTreeMap<ToolsetName, Arc<dyn Toolset>>,
    /// Startup's accepted builds, used for the first wiring.
    pub built: BTreeMap<ToolsetName, Built>,
    /// What a build may use.
    pub services: Services,
    /// How long one may take.
    pub build_timeout: Duration,
    /// What the checks said.
    pub health: Health,
}

impl Capabilities {
    /// Builds an installed toolset through the one function and the hook.
    ///
    /// # Errors
    /// Nothing installs it; its build failed, which the world knows then; or the hook refused it (P9).
    pub async fn build(&mut self, name: &ToolsetName) -> Result<Built, String> {
        let Some(toolset) = self.toolsets.get(name) else { return Err("nothing installs it".to_owned()) };
        let result = build(Arc::clone(toolset), self.services.clone(), self.build_timeout).await;
        self.judged(name, result)
    }

    /// The hook on a build, before any of it is given to anybody.
    ///
    /// # Errors
    /// The build's own, or the refusal.
    pub fn judged(&mut self, name: &ToolsetName, result: Result<Built, String>) -> Result<Built, String> {
        match result {
            Ok(built) => match built.judge(&mut self.world) {
                Ok(()) => Ok(built),
                Err(refusal) => Err(refusal.message),
            },
            Err(error) => {
                self.world.report_failure(name, &error);
                Err(error)
            }
        }
    }

    /// Asks every check that is due ([`Health::refresh`]).
    pub async fn refresh_checks(&mut self, now: i64, limit: Duration) {
        self.health.refresh(&mut self.world, &self.toolsets, now, limit).await;
    }
}
