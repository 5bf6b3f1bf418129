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
use crate::access::offer::{Filter, Withheld};
use crate::access::{ToolName, ToolsetName, World};
use crate::tool::Toolset;
use crate::tool::check::{NO_ANSWER, Probe, Standing, probe};

/// Asks every check of what is built once, all at the same time and no longer than `limit`, and tells the world: what is
/// printed or shown before a first call then counts as that call will.
pub async fn ask_all(world: &mut World, toolsets: &BTreeMap<ToolsetName, Arc<dyn Toolset>>, limit: Duration) {
    let mut asked = Vec::new();
    for (toolset, installed) in toolsets {
        for facts in world.last_build(toolset).unwrap_or_default() {
            if let Some(check) = installed.check(facts.name.as_str()) {
                let asking = timeout(limit, tokio::task::spawn_blocking(move || probe(check)));
                let tool = facts.name.clone();
                asked.push(async move { (toolset, tool, asking.await) });
            }
        }
    }
    for (toolset, tool, ended) in join_all(asked).await {
        let standing = match ended {
            Ok(Ok(Probe::Answered(standing))) => standing,
            Ok(Ok(Probe::NoAnswer) | Err(_)) | Err(_) => Err(NO_ANSWER.to_owned()),
        };
        tell(world, toolset, &tool, standing);
    }
}

fn tell(world: &mut World, toolset: &ToolsetName, tool: &ToolName, standing: Standing) {
    let withheld = standing.err().map(|reason| Withheld { filter: Filter::Check, reason });
    world.report_check(toolset, Some(tool.as_str()), withheld);
}

impl Driver {
    /// Asks every check that is due. The last known answer holds until a new one comes; only one that was never answered
    /// is waited for, a moment, because no answer yet is a no.
    pub(super) async fn refresh_checks(&mut self) {
        let now = self.setup.surroundings.now();
        let mut first = Vec::new();
        for (toolset, installed) in &self.setup.toolsets {
            for facts in self.setup.world.last_build(toolset).unwrap_or_default() {
                let (name, tool) = (toolset.as_str(), facts.name.as_str());
                if !self.checks.due(name, tool, now) {
                    continue;
                }
                let Some(check) = installed.check(tool) else { continue };
                self.checks.ask(name, tool, now);
                let asking = tokio::task::spawn_blocking(move || probe(check));
                let of = (toolset.clone(), facts.name.clone());
                if self.checks.answered(name, tool) {
                    self.tell_when_answered(of, asking);
                } else {
                    first.push((of, asking));
                }
            }
        }
        let limit = self.setup.check_timeout;
        let answers = first.into_iter().map(|(of, mut asking)| async move {
            let answer = timeout(limit, &mut asking).await.ok();
            (of, asking, answer.map(|ended| ended.unwrap_or(Probe::NoAnswer)))
        });
        for ((toolset, tool), asking, answer) in join_all(answers).await {
            if let Some(probe) = answer {
                self.take_check(&toolset, &tool, Some(probe));
            } else {
                self.take_check(&toolset, &tool, None);
                self.tell_when_answered((toolset, tool), asking);
            }
        }
    }

    fn tell_when_answered(&self, (toolset, tool): (ToolsetName, ToolName), asking: JoinHandle<Probe>) {
        let messages = self.messages.clone();
        spawn(async move {
            let probe = asking.await.unwrap_or(Probe::NoAnswer);
            let _gone = messages.send(Message::Checked { toolset, tool, probe }).await;
        });
    }

    /// Tells the world what a check says now. `None`: it is still being asked.
    pub(super) fn take_check(&mut self, toolset: &ToolsetName, tool: &ToolName, probe: Option<Probe>) {
        if let Some(probe) = probe {
            self.checks.record(toolset.as_str(), tool.as_str(), probe);
        }
        let standing = self.checks.standing(toolset.as_str(), tool.as_str());
        tell(&mut self.setup.world, toolset, tool, standing);
    }
}
