//! Health checks (W2): asked off the driver's task when their answer is 30 s old, and told to the world.
//!
//! What a check says is never judged here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::tasks::spawn;
use super::{Driver, Message};
use crate::access::{ToolName, ToolsetName, World};
use crate::tool::Toolset;
use crate::tool::check::{Checks, Probe, probe};

/// The answers of every check, and those that are still awaited.
#[derive(Debug, Default)]
pub struct Health {
    checks: Checks,
    late: Vec<Late>,
}

/// A check that took longer than one waits.
#[derive(Debug)]
struct Late {
    toolset: ToolsetName,
    tool: ToolName,
    asking: JoinHandle<Probe>,
}

impl Health {
    /// Asks every check that is due, all at the same time, waits for them no longer than `limit`, and tells the world. One
    /// that does not answer in time keeps its last answer (none yet is a no), costs this wait once, and is not asked beside
    /// itself.
    pub async fn refresh(
        &mut self,
        world: &mut World,
        toolsets: &BTreeMap<ToolsetName, Arc<dyn Toolset>>,
        now: i64,
        limit: Duration,
    ) {
        let mut asked = Vec::new();
        for (toolset, installed) in toolsets {
            for facts in world.last_build(toolset).unwrap_or_default() {
                let (name, tool) = (toolset.as_str(), facts.name.as_str());
                // Most tools have none.
                let Some(check) = installed.check(tool) else { continue };
                if !self.checks.due(name, tool, now) {
                    continue;
                }
                self.checks.ask(name, tool, now);
                let asking = tokio::task::spawn_blocking(move || probe(check));
                asked.push(Late { toolset: toolset.clone(), tool: facts.name.clone(), asking });
            }
        }
        let answers = asked.into_iter().map(|mut asked| async move {
            let answer = timeout(limit, &mut asked.asking).await;
            (asked, answer.map(|ended| ended.unwrap_or(Probe::NoAnswer)).ok())
        });
        for (asked, answer) in join_all(answers).await {
            self.take(world, &asked.toolset, &asked.tool, answer.clone());
            if answer.is_none() {
                self.late.push(asked);
            }
        }
    }

    /// Keeps an answer and tells the world what is known now. `None`: there is none yet. Whether it is another than before.
    fn take(&mut self, world: &mut World, toolset: &ToolsetName, tool: &ToolName, answer: Option<Probe>) -> bool {
        let before = self.checks.standing(toolset.as_str(), tool.as_str());
        if let Some(probe) = answer {
            self.checks.record(toolset.as_str(), tool.as_str(), probe);
        }
        let standing = self.checks.standing(toolset.as_str(), tool.as_str());
        let changed = standing != before;
        world.report_check(toolset, Some(tool.as_str()), standing.err());
        changed
    }
}

impl Driver {
    /// Asks what is due. What is late is told when it comes.
    pub(super) async fn refresh_checks(&mut self) {
        let now = self.setup.surroundings.now();
        let limit = self.setup.check_timeout;
        self.setup.capabilities.refresh_checks(now, limit).await;
        for Late { toolset, tool, asking } in std::mem::take(&mut self.setup.capabilities.health.late) {
            let messages = self.messages.clone();
            spawn(async move {
                let probe = asking.await.unwrap_or(Probe::NoAnswer);
                let _gone = messages.send(Message::Checked { toolset, tool, probe }).await;
            });
        }
    }

    /// A late answer.
    pub(super) async fn hear_check(&mut self, toolset: &ToolsetName, tool: &ToolName, probe: Probe) {
        if self.setup.capabilities.health.take(&mut self.setup.capabilities.world, toolset, tool, Some(probe)) {
            self.report().await;
        }
    }
}
