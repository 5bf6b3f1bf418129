//! Conversations: which one is in view, and bringing another one there.
//!
//! Only one conversation runs at a time; one with a running turn is not left. The agents of others rest.

use std::sync::Arc;

use super::live::Saving;
use super::ports::{Opened, PortError};
use super::{Driver, Going, Opening, Severity};
use crate::access::Attendance;
use crate::agent::{Alert, Event, Input, Record, replay};

impl Driver {
    /// Brings the first conversation into view. Where the latest can't be opened, that is said and a new one begins; one
    /// that was asked for by name is never replaced by another.
    pub(super) async fn open_first(&mut self) -> Going {
        let latest = match self.setup.opening.clone() {
            Opening::New => Ok(None),
            Opening::Latest => self.setup.store.list().map(|list| {
                let mut attended = list.into_iter().filter(|summary| summary.attendance == Attendance::Attended);
                attended.next().map(|latest| latest.id)
            }),
            Opening::Stored(id) => match self.setup.store.open(&id) {
                Ok(opened) => {
                    self.view(opened).await;
                    return Going::On;
                }
                Err(PortError { message, hint, .. }) => {
                    let message = format!("The conversation could not be opened: {message}");
                    self.tell(Event::Error { message, hint }).await;
                    return Going::Out;
                }
            },
        };
        match latest.and_then(|id| id.map(|id| self.setup.store.open(&id)).transpose()) {
            Ok(Some(opened)) => self.view(opened).await,
            Ok(None) => self.view_new().await,
            Err(error) => {
                self.replaced("A new conversation begins, since the last one could not be opened", error).await;
            }
        }
        Going::On
    }

    pub(super) async fn begin(&mut self) {
        if self.may_leave().await {
            self.leave();
            self.view_new().await;
        }
    }

    pub(super) async fn switch_to(&mut self, id: &str) {
        let id = match self.whole(id) {
            Ok(id) => id,
            Err(error) => return self.complain("The conversation could not be opened", error).await,
        };
        if self.is_live(&id) || !self.may_leave().await {
            return;
        }
        match self.setup.store.open(&id) {
            Ok(opened) => {
                self.leave();
                self.view(opened).await;
            }
            Err(error) => self.complain("The conversation could not be opened", error).await,
        }
    }

    /// Opens the conversation in view again from its log, if a record could not be written.
    pub(super) async fn mend(&mut self) {
        let Some(live) = self.live.as_ref().filter(|live| live.saving == Saving::Broken && !live.run.is_running())
        else {
            return;
        };
        let (id, stored) = (live.id.to_string(), live.log.is_some());
        // A mode that could not be written holds all the same.
        let mode = live.run.life().conditions.mode.clone();
        self.leave();
        let opened = if stored { self.setup.store.open(&id).map(Some) } else { Ok(None) };
        match opened {
            Ok(Some(opened)) => self.view(opened).await,
            Ok(None) => self.view_new().await,
            Err(error) => {
                self.replaced("A new conversation begins, since this one could not be opened again", error).await;
            }
        }
        if let Some(mode) = mode {
            self.feed(Input::Mode { mode }).await;
        }
    }

    pub(super) async fn delete(&mut self, id: &str) {
        let removed = match self.whole(id) {
            Ok(id) => {
                if self.is_live(&id) {
                    if !self.may_leave().await {
                        return;
                    }
                    self.leave();
                    self.view_new().await;
                }
                self.shelf.forget(&id);
                self.setup.capabilities.world.lapse_grants(&id);
                self.setup.store.remove(&id)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            self.complain("The conversation was not deleted", error).await;
        }
        self.list().await;
    }

    /// The whole id that this one is or begins. A new conversation is not in the store yet.
    fn whole(&self, id: &str) -> Result<String, PortError> {
        if self.is_live(id) { Ok(id.to_owned()) } else { self.setup.store.find(id) }
    }

    pub(super) async fn list(&mut self) {
        match self.setup.store.list() {
            Ok(mut list) => {
                for summary in &mut list {
                    summary.current = self.is_live(&summary.id);
                }
                self.tell(Event::Conversations { list }).await;
            }
            Err(error) => self.complain("The conversations could not be listed", error).await,
        }
    }

    async fn may_leave(&mut self) -> bool {
        if self.is_running() {
            let hint = Some("Stop it first (Esc twice), or wait for its answer.".to_owned());
            self.alert(Severity::Notice, "A turn is running in this conversation.".to_owned(), hint).await;
            return false;
        }
        true
    }

    fn leave(&mut self) {
        self.note_audit_head();
        if let Some(live) = self.live.take() {
            self.shelf.put(live);
        }
    }

    async fn view_new(&mut self) {
        let id: Arc<str> = self.setup.surroundings.id().into();
        self.wire(id, None, &[], &[], None).await;
        self.introduce(&[]).await;
    }

    async fn view(&mut self, opened: Opened) {
        let Opened { id, agent, title, records, loads, notices, log } = opened;
        self.wire(id.into(), title, &records, &loads, Some(log)).await;
        self.introduce(&records).await;
        if agent != self.entry {
            let message = format!("This conversation began with {agent}. From here on {} answers.", self.entry);
            self.alert(Severity::Notice, message, None).await;
        }
        for notice in notices {
            self.alert(notice.severity, notice.message, notice.hint).await;
        }
    }

    /// Tells front ends which conversation is in view and what happened in it.
    async fn introduce(&mut self, records: &[Record]) {
        let Some(live) = &self.live else { return };
        let session = Event::Session {
            conversation: live.id.to_string(),
            title: live.title.clone(),
            agent: self.entry.clone(),
            mode: live
                .run
                .life()
                .conditions
                .mode
                .clone()
                .unwrap_or_else(|| self.setup.capabilities.world.default_mode()),
            model: self.setup.model.label(),
            rehearsal: self.setup.model.is_rehearsal(),
            window: self.window,
            tool_limit: self.setup.model.tool_limit(),
            read_only: None,
        };
        self.tell(session).await;
        for (_, event) in replay(records) {
            self.tell(event).await;
        }
        self.tell(Event::Replayed).await;
        // Not before: a front end takes what comes earlier for a part of the history.
        for alert in std::mem::take(&mut self.setup.alerts) {
            self.alert(alert.severity, alert.message, alert.hint).await;
        }
        self.report().await;
    }

    /// A new conversation instead of one that can't be opened.
    async fn replaced(&mut self, what: &str, error: PortError) {
        let message = format!("{what}: {}", error.message);
        self.setup.alerts.push(Alert { severity: Severity::Warning, message, hint: error.hint });
        self.view_new().await;
    }

    async fn complain(&mut self, what: &str, error: PortError) {
        self.alert(Severity::Warning, format!("{what}: {}", error.message), error.hint).await;
    }
}
