//! Titles: one small model call after the first answer, silent when it does not work.
//!
//! A title never delays a turn and never replaces one that a person gave.

use std::sync::Arc;

use super::live::Saving;
use super::tasks::{contained, spawn};
use super::{Driver, Message, Severity, Titles};
use crate::agent::{CallKind, CallLine, Delta, Event, Record, Usage, title_from, title_request};

/// Bytes of an answer, reasoning included, after which there is no title in it.
const ANSWER_LIMIT: usize = 256 * 1024;

impl Driver {
    /// Asks for a title where the conversation has none yet.
    pub(super) fn title_if_new(&mut self) {
        if self.setup.titles == Titles::FirstWords || self.setup.model.is_rehearsal() {
            return;
        }
        let Some(live) = &self.live else { return };
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
    pub(super) async fn take_title(&mut self, title: Option<String>, began: i64, usage: Usage) {
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
        self.tell(Event::SideCall { line, usage, took_ms }).await;
        if let (Some(title), Some(None)) = (title, self.live.as_ref().map(|live| &live.title)) {
            self.set_title(title).await;
        }
    }

    pub(super) async fn rename(&mut self, title: String) {
        self.mend().await;
        match title_from(&title) {
            Some(title) => self.set_title(title).await,
            None => self.alert(Severity::Notice, "A title needs at least one word.".to_owned(), None).await,
        }
    }

    async fn set_title(&mut self, title: String) {
        let store = Arc::clone(&self.setup.store);
        let (entry, now) = (self.entry.clone(), self.setup.surroundings.now());
        // Nothing is written behind a record that is missing.
        let Some(live) = self.live.as_mut().filter(|live| live.saving == Saving::Whole) else { return };
        match live.append(&Record::Titled { title: title.clone() }, |id| store.create(id, &entry, now)) {
            Ok(()) => {
                live.title = Some(title.clone());
                self.tell(Event::Titled { title }).await;
            }
            Err(error) => {
                let sentence = format!("The title was not saved: {}", error.message);
                self.alert(Severity::Warning, sentence, error.hint).await;
            }
        }
    }
}
