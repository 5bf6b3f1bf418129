//! Titles: one small model call after the first answer, silent when it does not work.
//!
//! A title never delays a turn and never replaces one that a person gave.

use std::sync::Arc;

use super::tasks::{contained, spawn};
use super::{Driver, Id, Message, Severity, Titles};
use crate::agent::{CallKind, CallLine, Delta, Event, NodeId, Record, Usage, title_from, title_request};

/// Bytes of an answer, reasoning included, after which there is no title in it.
const ANSWER_LIMIT: usize = 256 * 1024;

impl Driver {
    /// Asks for a title where the conversation has none yet.
    pub(super) fn title_if_new(&mut self, id: &Id) {
        if self.setup.titles == Titles::FirstWords || self.setup.model.is_rehearsal() {
            return;
        }
        let Some(live) = self.lives.get(id) else { return };
        let (None, Some(words)) = (&live.title, &live.first_words) else { return };
        let request = title_request(words);
        let (model, messages, conversation) =
            (Arc::clone(&self.setup.model), self.messages.clone(), Arc::clone(&live.id));
        let began = self.setup.surroundings.now();
        spawn(async move {
            let mut usage = Usage::default();
            let written = contained(async {
                use futures_util::StreamExt as _;
                let mut stream = model.stream(request);
                let mut text = String::new();
                let mut left = ANSWER_LIMIT;
                while let Some(piece) = stream.next().await {
                    match piece {
                        Ok(Delta::Text { text: more }) => {
                            left = left.checked_sub(more.len())?;
                            text.push_str(&more);
                        }
                        Ok(Delta::Reasoning { text: more }) => left = left.checked_sub(more.len())?,
                        Ok(Delta::Usage { usage: counted }) => usage = counted,
                        Ok(_) => {}
                        Err(failure) => {
                            tracing::info!(%failure, "no title");
                            return None;
                        }
                    }
                }
                title_from(&text)
            })
            .await;
            let title = written.ok().flatten();
            let _gone = messages.send(Message::Titled { conversation, title, began, usage }).await;
        });
    }

    /// The call for a title ended: its rule, and the title, unless a person gave one meanwhile.
    pub(super) async fn take_title(&mut self, id: &Id, title: Option<String>, began: i64, usage: Usage) {
        let line = CallLine {
            number: 0,
            kind: CallKind::Title,
            tools: 0,
            tool_bytes: 0,
            resident: Vec::new(),
            loaded: Vec::new(),
            grown: Vec::new(),
            ledger: None,
        };
        let took_ms = u64::try_from(self.setup.surroundings.now() - began).unwrap_or(0);
        self.tell_of(id, NodeId::ENTRY, Event::SideCall { line, usage, took_ms }).await;
        match (title, self.lives.get(id).map(|live| live.title.is_some())) {
            (Some(title), Some(false)) => self.set_title(id, title).await,
            // It rests already, and its log is closed: it is opened for this one record.
            (Some(title), None) => self.title_at_rest(id, title).await,
            (_, Some(_)) | (None, None) => {}
        }
    }

    pub(super) async fn rename(&mut self, title: String) {
        if self.is_refused("The title stays as it is").await {
            return;
        }
        self.mend().await;
        let Some(id) = self.viewed.clone() else { return };
        match title_from(&title) {
            Some(title) => self.set_title(&id, title).await,
            None => self.alert(Severity::Notice, "A title needs at least one word.".to_owned(), None).await,
        }
    }

    async fn set_title(&mut self, id: &Id, title: String) {
        let store = Arc::clone(&self.setup.store);
        let (entry, now) = (self.entry.clone(), self.setup.surroundings.now());
        // Nothing is written behind a record that is missing.
        let Some(live) = self.lives.get_mut(id).filter(|live| live.is_written()) else { return };
        match live.append(&Record::Titled { title: title.clone() }, |id| store.create(id, &entry, now)) {
            Ok(()) => {
                live.title = Some(title.clone());
                self.tell_of(id, NodeId::ENTRY, Event::Titled { title }).await;
            }
            Err(error) => {
                let sentence = format!("The title was not saved: {}", error.message);
                self.alert_in(id, Severity::Warning, sentence, error.hint).await;
            }
        }
    }

    async fn title_at_rest(&mut self, id: &Id, title: String) {
        let Ok(mut opened) = self.setup.store.open(id) else { return };
        if opened.title.is_none() && opened.log.append(&Record::Titled { title: title.clone() }).is_ok() {
            self.shelf.note_record(id);
            self.tell_of(id, NodeId::ENTRY, Event::Titled { title }).await;
        }
    }
}
