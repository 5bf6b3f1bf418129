//! Live agents whose conversation is not in view: kept as they are up to `agent_cache_cap`, the least recently used evicted.
//!
//! An evicted one is rebuilt from its log, which preloads what it had loaded (R12). Nothing here runs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Id;
use super::live::{Live, Saving};
use crate::access::ToolId;
use crate::agent::{NodeId, Run};
use crate::tool::Tool;

/// One agent at rest, and how much of its conversation it knows.
pub(super) struct Resting {
    id: Id,
    /// Records of its log when it was left: where there are more now, somebody else wrote them.
    recorded: usize,
    pub(super) run: Run,
    pub(super) tools: BTreeMap<ToolId, Arc<dyn Tool>>,
}

/// The agents at rest, the one that was left last in front.
pub(super) struct Shelf {
    room: usize,
    agents: VecDeque<Resting>,
}

impl Shelf {
    /// Room for `cap` agents, the one in view among them.
    pub(super) fn new(cap: usize) -> Self {
        Self { room: cap.saturating_sub(1), agents: VecDeque::new() }
    }

    /// Keeps an agent that is left, and evicts what there is no room for. One that the log does not know whole is not kept.
    /// `running`: live conversations that are not in view, which take up room and are never evicted themselves.
    pub(super) fn put(&mut self, live: Live, running: usize) {
        let known = live.saving == Saving::Whole && live.log.is_some() && live.read_only.is_none();
        if known && !live.tree.is_running() {
            let Live { id, recorded, tree, mut tools, .. } = live;
            let tools = tools.remove(&NodeId::ENTRY).unwrap_or_default();
            self.agents.push_front(Resting { id, recorded, run: tree.into_entry(), tools });
            self.agents.truncate(self.room.saturating_sub(running));
        } else {
            live.abandon();
        }
    }

    /// Takes the agent of a conversation whose log has `recorded` records now, if it is at rest and knows all of them.
    pub(super) fn take(&mut self, id: &str, recorded: usize) -> Option<Resting> {
        let place = self.agents.iter().position(|resting| &*resting.id == id)?;
        self.agents.remove(place).filter(|resting| resting.recorded == recorded)
    }

    /// One record was written to the log of an agent at rest that changes nothing for it.
    pub(super) fn note_record(&mut self, id: &str) {
        if let Some(resting) = self.agents.iter_mut().find(|resting| &*resting.id == id) {
            resting.recorded += 1;
        }
    }

    /// Forgets the agent of a conversation that is gone.
    pub(super) fn forget(&mut self, id: &str) {
        self.agents.retain(|resting| &*resting.id != id);
    }
}
