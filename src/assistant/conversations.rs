//! Conversations: which one is in view, and bringing another one there.
//!
//! One that runs goes on when it is left; the agents of the others rest. Nothing here starts or stops a turn.

use std::sync::Arc;

use super::live::Saving;
use super::ports::{Cause, Opened, PortError};
use super::{Driver, Going, Id, Opening, Severity};
use crate::access::Attendance;
use crate::agent::{Activity, Alert, Event, Input, NodeId, Record, TreeInput, replay};

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
        let mut wanted = None;
        let opened = latest.and_then(|id| {
            wanted.clone_from(&id);
            id.map(|id| self.setup.store.open(&id)).transpose()
        });
        match opened {
            Ok(Some(opened)) => self.view(opened).await,
            Ok(None) => self.view_new().await,
            Err(PortError { cause: Cause::Held, message, .. }) if wanted.is_some() => {
                self.view_new().await;
                self.tell(Event::Held { id: wanted.unwrap_or_default(), holder: message }).await;
            }
            Err(error) => {
                self.replaced("A new conversation begins, since the last one could not be opened", error).await;
            }
        }
        Going::On
    }

    pub(super) async fn begin(&mut self) {
        self.leave();
        self.view_new().await;
    }

    pub(super) async fn switch_to(&mut self, id: &str) {
        let id = match self.whole(id) {
            Ok(id) => id,
            Err(error) => return self.complain("The conversation could not be opened", error).await,
        };
        if self.is_viewed(&id) {
            return;
        }
        if let Some(id) = self.live_id(&id) {
            return self.view_again(id).await;
        }
        match self.setup.store.open(&id) {
            Ok(opened) => {
                self.leave();
                self.view(opened).await;
            }
            Err(PortError { cause: Cause::Held, message, .. }) => {
                self.tell(Event::Held { id, holder: message }).await;
            }
            Err(error) => self.complain("The conversation could not be opened", error).await,
        }
    }

    /// A conversation that another program has open: its records as they are now, and nothing is written.
    pub(super) async fn open_read_only(&mut self, id: &str) {
        let id = match self.whole(id) {
            Ok(id) => id,
            Err(error) => return self.complain("The conversation could not be opened", error).await,
        };
        // Its holder may be this program by now.
        if self.lives.get(&*id).is_some_and(|live| live.read_only.is_none()) {
            return self.switch_to(&id).await;
        }
        let holder = match self.setup.store.open(&id) {
            // Whoever had it has left.
            Ok(opened) => {
                self.leave();
                return self.view(opened).await;
            }
            Err(PortError { cause: Cause::Held, message, .. }) => message,
            Err(error) => return self.complain("The conversation could not be opened", error).await,
        };
        match self.setup.store.read(&id) {
            Ok(read) => {
                self.leave();
                let id: Id = id.into();
                self.wire(Arc::clone(&id), read.title, &read.records, &[], None).await;
                if let Some(live) = self.lives.get_mut(&id) {
                    live.read_only = Some(holder);
                }
                self.introduce(&read.records).await;
                self.notice_all(read.notices).await;
            }
            Err(error) => self.complain("The conversation could not be read", error).await,
        }
    }

    /// Whether nothing is written in the conversation in view, because another program has it open; then that is said.
    pub(super) async fn is_refused(&mut self, what: &str) -> bool {
        let Some(holder) = self.live().and_then(|live| live.read_only.clone()) else { return false };
        let hint = Some("/new begins another conversation.".to_owned());
        self.alert(Severity::Notice, format!("{what}: {holder}"), hint).await;
        true
    }

    /// Opens the conversation in view again from its log, if a record could not be written.
    pub(super) async fn mend(&mut self) {
        let broken = |live: &&super::live::Live| live.saving == Saving::Broken && !live.tree.is_running();
        let Some(live) = self.live().filter(broken) else { return };
        let (id, stored) = (live.id.to_string(), live.log.is_some());
        // A mode that could not be written holds all the same.
        let mode = live.tree.entry().life().conditions.mode.clone();
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
            self.feed_viewed(TreeInput::Run { node: NodeId::ENTRY, input: Input::Mode { mode } }).await;
        }
    }

    pub(super) async fn delete(&mut self, id: &str) {
        let removed = match self.whole(id) {
            Ok(id) => {
                if self.lives.get(&*id).is_some_and(|live| live.tree.is_running()) {
                    let hint = Some("Stop it first (Esc twice), or wait for its answer.".to_owned());
                    return self
                        .alert(Severity::Notice, "A turn is running in this conversation.".to_owned(), hint)
                        .await;
                }
                if let Some(holder) = self.lives.get(&*id).and_then(|live| live.read_only.clone()) {
                    return self.alert(Severity::Notice, format!("It is not deleted: {holder}"), None).await;
                }
                if self.is_viewed(&id) {
                    self.leave();
                    self.view_new().await;
                }
                self.shelf.forget(&id);
                self.unread.retain(|unread| **unread != *id);
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
        if self.lives.contains_key(id) { Ok(id.to_owned()) } else { self.setup.store.find(id) }
    }

    pub(super) async fn list(&mut self) {
        match self.setup.store.list() {
            Ok(mut list) => {
                for summary in &mut list {
                    summary.current = self.is_viewed(&summary.id);
                    summary.unread = self.unread.contains(&*summary.id);
                    summary.activity = match self.lives.get(&*summary.id) {
                        Some(live) if !live.asks.is_empty() => Activity::Asking,
                        Some(live) if live.tree.is_running() => Activity::Running,
                        Some(_) | None => Activity::Idle,
                    };
                }
                self.tell(Event::Conversations { list }).await;
            }
            Err(error) => self.complain("The conversations could not be listed", error).await,
        }
    }

    /// Nothing is in view from here on. What runs there goes on; its cards wait out of sight (P12).
    fn leave(&mut self) {
        let Some(id) = self.viewed.take() else { return };
        let open: Vec<_> = self.lives.get(&id).map(|live| live.asks.keys().copied().collect()).unwrap_or_default();
        for call in open {
            self.park(&id, call);
        }
        self.rest_if_over(&id);
    }

    async fn view_new(&mut self) {
        let id: Id = self.setup.surroundings.id().into();
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
        self.notice_all(notices).await;
    }

    async fn notice_all(&mut self, notices: Vec<Alert>) {
        for notice in notices {
            self.alert(notice.severity, notice.message, notice.hint).await;
        }
    }

    /// A conversation that runs comes back into view: what its log has, then what is under way.
    async fn view_again(&mut self, id: Id) {
        let stored = self.lives.get(&id).is_some_and(|live| live.log.is_some());
        let read = if stored { self.setup.store.read(&id).map(|read| read.records) } else { Ok(Vec::new()) };
        match read {
            Ok(records) => {
                self.leave();
                self.viewed = Some(Arc::clone(&id));
                self.introduce(&records).await;
                let now = self.setup.surroundings.now();
                let standing = self.lives.get(&id).map(|live| live.tree.standing(now)).unwrap_or_default();
                for (node, event) in standing {
                    self.tell_of(&id, node, event).await;
                }
                self.show_again(&id).await;
            }
            Err(error) => self.complain("The conversation could not be read", error).await,
        }
    }

    /// Tells front ends which conversation is in view and what happened in it.
    async fn introduce(&mut self, records: &[Record]) {
        let Some(live) = self.live() else { return };
        let mode = live.tree.entry().life().conditions.mode.clone();
        let session = Event::Session {
            conversation: live.id.to_string(),
            title: live.title.clone(),
            agent: self.entry.clone(),
            mode: mode.unwrap_or_else(|| self.setup.capabilities.world.default_mode()),
            model: self.setup.model.label(),
            rehearsal: self.setup.model.is_rehearsal(),
            window: self.window,
            tool_limit: self.setup.model.tool_limit(),
            read_only: live.read_only.clone(),
        };
        let id = Arc::clone(&live.id);
        self.unread.remove(&id);
        self.tell(session).await;
        for (node, event) in replay(records) {
            self.tell_of(&id, node, event).await;
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
