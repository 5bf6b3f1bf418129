//! Health checks (W2): asked when their answer is 30 s old, off the driver's task, and told to the world.
//!
//! What a check says is never judged here.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::Driver;
use crate::access::offer::{Filter, Withheld};
use crate::tool::check::{Probe, probe};

impl Driver {
    /// Asks every check that is due, all at once, and waits for their answers, but no longer than the limit: one that does
    /// not answer keeps its last answer, and is not asked again for 30 s.
    pub(super) async fn refresh_checks(&mut self) {
        let now = self.setup.surroundings.now();
        let (world, checks) = (&mut self.setup.world, &mut self.checks);
        let mut due = Vec::new();
        for (name, toolset) in &self.setup.toolsets {
            let built = world.last_build(name).unwrap_or_default().iter();
            let tools = built.map(|facts| facts.name.to_string()).filter(|tool| checks.due(name.as_str(), tool, now));
            let tools: Vec<String> = tools.collect();
            if !tools.is_empty() {
                due.push((name, Arc::clone(toolset), tools));
            }
        }
        let asked = due.iter().map(|(_, toolset, tools)| {
            let (toolset, tools) = (Arc::clone(toolset), tools.clone());
            let asking = move || tools.iter().map(|tool| probe(&*toolset, tool)).collect::<Vec<_>>();
            timeout(self.setup.check_timeout, tokio::task::spawn_blocking(asking))
        });
        let answers = join_all(asked).await;
        for ((name, _, tools), answer) in due.iter().zip(answers) {
            let mut probes = answer.ok().and_then(Result::ok).unwrap_or_default().into_iter();
            for tool in tools {
                checks.record(name.as_str(), tool, now, probes.next().unwrap_or(Probe::NoAnswer));
                let standing = checks.standing(name.as_str(), tool);
                let withheld = standing.err().map(|reason| Withheld { filter: Filter::Check, reason });
                world.report_check(name, Some(tool), withheld);
            }
        }
    }
}
