//! Conversations that run while another is in view (P12, P14): what a front end is told of them, who counts as present, how long
//! a card waits there, and when their agents may rest.
//!
//! What becomes of a gated call is access's to say.

use std::sync::Arc;

use super::tasks::spawn;
use super::{Driver, Id, Message, Severity};
use crate::access::{Answer, Sight};
use crate::agent::{Alert, CallId, Event, NodeId};

impl Driver {
    /// Where a conversation is, as far as a person is concerned, at this instant.
    pub(super) fn sight(&self, id: &str) -> Sight {
        if self.is_viewed(id) {
            return Sight::OnScreen;
        }
        let quiet = self.setup.surroundings.now().saturating_sub(self.last_key);
        let present = u128::try_from(quiet).unwrap_or(0) < self.setup.presence.as_millis();
        if present { Sight::Unseen } else { Sight::UnseenAndAway }
    }

    /// Tells what happened in a conversation: all of it where it is in view, else only what may need a person.
    pub(super) async fn tell_of(&mut self, id: &Id, node: NodeId, event: Event) {
        if let (Event::Ask { ask, .. }, Some(live)) = (&event, self.lives.get_mut(id)) {
            live.asked.insert(ask.call);
        }
        let told = self.is_viewed(id)
            || match &event {
                Event::Ask { .. } | Event::Answer { .. } | Event::Alert(_) | Event::Titled { .. } => true,
                Event::ToolResult { call, .. } => self.lives.get(id).is_some_and(|live| live.asked.contains(call)),
                Event::End { .. } => node.is_entry(),
                _ => false,
            };
        if told {
            self.update(id.to_string(), node, event).await;
        }
    }

    /// An alert of one conversation.
    pub(super) async fn alert_in(&mut self, id: &Id, severity: Severity, message: String, hint: Option<String>) {
        tracing::warn!(%message, conversation = %id, "alert");
        self.tell_of(id, NodeId::ENTRY, Event::Alert(Alert { severity, message, hint })).await;
    }

    /// A card waits out of sight from now on: it expires, where it may not wait for ever (P12).
    pub(super) fn park(&mut self, id: &Id, call: CallId) {
        let Some(limit) = self.setup.approval_timeout else { return };
        let Some(pending) = self.lives.get_mut(id).and_then(|live| live.asks.get_mut(&call)) else { return };
        self.parkings += 1;
        let parking = self.parkings;
        pending.parked = Some(parking);
        let (conversation, messages) = (Arc::clone(id), self.messages.clone());
        spawn(async move {
            tokio::time::sleep(limit).await;
            let _gone = messages.send(Message::Expired { conversation, call, parking }).await;
        });
    }

    /// The time of a parked card is over, unless it came into view since: when it leaves again, its time begins anew.
    pub(super) async fn expire(&mut self, id: &Id, call: CallId, parking: u64) {
        let pending = self.lives.get(id).and_then(|live| live.asks.get(&call));
        if pending.is_some_and(|pending| pending.parked == Some(parking)) {
            self.settle(id, call, Answer::Expired).await;
        }
    }

    /// A conversation that is not in view and has nothing under way rests, up to the cap (P14, R12).
    pub(super) fn rest_if_over(&mut self, id: &Id) {
        if self.is_viewed(id) || self.lives.get(id).is_none_or(|live| live.tree.is_running()) {
            return;
        }
        self.note_audit_head(id);
        if let Some(live) = self.lives.remove(id) {
            // Those that run count against the cap and are never evicted themselves.
            let running = self.lives.keys().filter(|id| !self.is_viewed(id)).count();
            self.shelf.put(live, running);
        }
    }
}
