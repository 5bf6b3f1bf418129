//! Conversations: which one is in view, and bringing another one there.
//!
//! Only one conversation is live at a time; one with a running turn is not left.

use std::sync::Arc;

use super::ports::{Opened, PortError};
use super::{Driver, Going, Opening, Severity};
use crate::agent::{Event, Record, replay};

impl Driver {
    /// Brings the first conversation into view. The one that was asked for by name is opened or nothing is; where the
    /// latest can't be, that is said and a new one begins.
    pub(super) async fn open_first(&mut self) -> Going {
        let stored = match self.setup.opening.clone() {
            Opening::New => None,
            Opening::Stored(id) => Some(id),
            Opening::Latest => match self.setup.store.list() {
                Ok(list) => list.into_iter().next().map(|summary| summary.id),
                Err(error) => {
                    self.complain("The conversations could not be listed", error).await;
                    None
                }
            },
        };
        let opened = match stored {
            Some(id) => match self.setup.store.open(&id) {
                Ok(opened) => Some(opened),
                Err(error) if matches!(self.setup.opening, Opening::Stored(_)) => {
                    let message = format!("The conversation could not be opened: {}", error.message);
                    self.tell(Event::Error { message, hint: error.hint }).await;
                    return Going::Out;
                }
                Err(error) => {
                    self.complain("The conversation could not be opened, so a new one begins", error).await;
                    None
                }
            },
            None => None,
        };
        match opened {
            Some(opened) => self.view(opened).await,
            None => self.view_new().await,
        }
        for alert in std::mem::take(&mut self.setup.alerts) {
            self.alert(alert.severity, alert.message, alert.hint).await;
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
        if self.is_live(id) || !self.may_leave().await {
            return;
        }
        match self.setup.store.open(id) {
            Ok(opened) => {
                self.leave();
                self.view(opened).await;
            }
            Err(error) => self.complain("The conversation could not be opened", error).await,
        }
    }

    /// Opens the conversation in view again from its log, after a record could not be written.
    pub(super) async fn reopen(&mut self) {
        let Some(live) = &self.live else { return };
        let (id, stored) = (live.id.to_string(), live.log.is_some());
        self.leave();
        let opened = if stored { self.setup.store.open(&id).map(Some) } else { Ok(None) };
        match opened {
            Ok(Some(opened)) => self.view(opened).await,
            Ok(None) => self.view_new().await,
            Err(error) => {
                self.complain("The conversation could not be opened again, so a new one begins", error).await;
                self.view_new().await;
            }
        }
    }

    pub(super) async fn delete(&mut self, id: &str) {
        if self.is_live(id) {
            if !self.may_leave().await {
                return;
            }
            self.leave();
            self.view_new().await;
        }
        if let Err(error) = self.setup.store.remove(id) {
            self.complain("The conversation was not deleted", error).await;
        }
        self.list().await;
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
        if let Some(mut live) = self.live.take() {
            live.abandon();
        }
    }

    async fn view_new(&mut self) {
        let id: Arc<str> = self.setup.surroundings.id().into();
        self.wire(id, None, &[], &[], None).await;
        self.introduce(&[]).await;
    }

    async fn view(&mut self, opened: Opened) {
        let Opened { id, title, records, loads, notices, log } = opened;
        self.wire(id.into(), title, &records, &loads, Some(log)).await;
        self.introduce(&records).await;
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
            model: self.setup.model.label(),
            rehearsal: self.setup.model.is_rehearsal(),
            window: self.setup.model.window(),
        };
        self.tell(session).await;
        for event in replay(records) {
            self.tell(event).await;
        }
        self.tell(Event::Replayed).await;
        self.report().await;
    }

    async fn complain(&mut self, what: &str, error: PortError) {
        self.alert(Severity::Warning, format!("{what}: {}", error.message), error.hint).await;
    }
}
