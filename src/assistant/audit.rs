//! The audit log (K5) as the driver feeds it: what the run decided, and what a person did beside it.
//!
//! What the log does not know does not run: a call whose entry could not be written comes back to the run as refused.

use std::sync::Arc;

use super::turns::Inputs;
use super::{Driver, Id, Severity, saved};
use crate::access::audit::{Draft, Entry, Position, What};
use crate::access::{AgentName, ToolId, ToolsetName};
use crate::agent::command::Switched;
use crate::agent::{CallId, Input, NodeId, Record, TreeInput};

impl Driver {
    /// Writes what the run says. A failure stays with the call that it is about.
    pub(super) async fn audit(&mut self, id: &Id, draft: Draft) {
        // Nothing is dispatched any more, so an entry would say what did not happen.
        if !self.dispatching(id) {
            return;
        }
        let call = draft.call().map(CallId);
        if let Err(why) = self.write(Some(id), draft).await
            && let (Some(live), Some(call)) = (self.lives.get_mut(id), call)
        {
            live.unaudited.entry(call).or_insert_with(|| format!("the audit log could not be written: {why}"));
        }
    }

    /// Appends one entry. What is wrong is said once, until an entry is written again.
    async fn write(&mut self, id: Option<&Id>, draft: Draft) -> Result<(), String> {
        let audit = Arc::clone(&self.setup.audit);
        match saved(move || audit.append(draft)).await {
            Ok(audited) => {
                self.audit_works = true;
                if let Some(live) = id.and_then(|id| self.lives.get_mut(id)) {
                    live.audited = Some(audited.head);
                }
                for notice in audited.notices {
                    self.alert(notice.severity, notice.message, notice.hint).await;
                }
                Ok(())
            }
            Err(error) => {
                if std::mem::replace(&mut self.audit_works, false) {
                    let message = format!("The audit log could not be written: {}", error.message);
                    let hint = error.hint.unwrap_or_else(|| "No call runs until it can be.".to_owned());
                    self.alert(Severity::Warning, message, Some(hint)).await;
                }
                Err(error.message)
            }
        }
    }

    /// Whether the audit log knows too little of this call for it to run or to grant anything.
    pub(super) fn is_unaudited(&self, id: &Id, call: CallId) -> bool {
        self.lives.get(id).is_some_and(|live| live.unaudited.contains_key(&call))
    }

    /// Hands a call back that may not run for want of an entry; whether it was one.
    pub(super) fn stays_out(&mut self, id: &Id, call: CallId, inputs: &mut Inputs) -> bool {
        let why = self.lives.get_mut(id).and_then(|live| live.unaudited.remove(&call));
        let stays = why.is_some();
        let kept_back = |why| TreeInput::Run { node: call.node(), input: Input::KeptBack { call, why } };
        inputs.extend(why.map(kept_back));
        stays
    }

    /// The record that goes before this one, where a turn ends in which something was audited.
    pub(super) fn audit_head_due(&mut self, id: &Id, record: &Record) -> Option<Record> {
        let Record::TurnEnded { .. } = record else { return None };
        let live = self.lives.get_mut(id)?;
        live.unaudited.clear();
        live.audited.take().map(Record::AuditHead)
    }

    /// Notes in the conversation's log how far the audit log goes, as it is left. What can't be written is noted next time.
    pub(super) fn note_audit_head(&mut self, id: &Id) {
        let written = |live: &&mut super::live::Live| live.log.is_some() && live.is_written();
        let Some(live) = self.lives.get_mut(id).filter(written) else { return };
        if let Some(head) = live.audited.take()
            && let Some(log) = &mut live.log
        {
            match log.append(&Record::AuditHead(head)) {
                Ok(()) => live.recorded += 1,
                Err(error) => tracing::warn!(%error, "the head of the audit log was not noted"),
            }
        }
    }

    /// A grant that is not in the log is taken back.
    pub(super) async fn audit_grant(
        &mut self,
        id: &Id,
        (node, agent): (NodeId, &AgentName),
        number: u32,
        tool: &ToolId,
        arguments: &str,
    ) {
        let what = What::Grant { number, tool: tool.clone(), arguments: None };
        let entry = self.audit_entry(Some(id), Some((node, agent.clone())), what);
        if self.write(Some(id), Draft::about(entry, arguments.to_owned())).await.is_err() {
            self.setup.capabilities.world.revoke(number);
        }
    }

    pub(super) async fn audit_revoke(&mut self, number: u32) {
        let id = self.viewed.clone();
        let entry = self.audit_entry(id.as_ref(), None, What::Revoke { number });
        // It narrows, so it holds whether it is written or not; that it is not was said.
        let _said = self.write(id.as_ref(), Draft::new(entry)).await;
    }

    pub(super) async fn audit_switch(&mut self, toolset: &ToolsetName, to: Switched) {
        let to = match to {
            Switched::On => Position::On,
            Switched::Off => Position::Off,
        };
        let what = What::Switch { toolset: toolset.clone(), to };
        let (id, entry) = (self.viewed.clone(), self.audit_entry(None, None, what));
        // A switch runs nothing: each call that it lets through is written for itself.
        let _said = self.write(id.as_ref(), Draft::new(entry)).await;
    }

    fn audit_entry(&self, id: Option<&Id>, agent: Option<(NodeId, AgentName)>, what: What) -> Entry {
        let conversation = id.map(ToString::to_string);
        let (node, agent) = agent.unzip();
        let node = node.unwrap_or(NodeId::ENTRY).0;
        Entry { at: self.setup.surroundings.now(), conversation, agent, node, what }
    }
}
