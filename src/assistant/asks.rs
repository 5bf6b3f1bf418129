//! Cards: a gated call from the question to the person's answer.
//!
//! A card shows exactly what will run. When what it depends on changed by the time it is allowed, it is asked again;
//! nothing here answers by itself.

use std::sync::Arc;

use super::tasks::spawn;
use super::{Driver, Message, Severity};
use crate::access::Answer;
use crate::agent::update::Preview;
use crate::agent::{Ask, CallId, Event, Input, canonical};
use crate::tool::digest;

/// A card that waits.
pub(super) struct Pending {
    ask: Ask,
    /// What was shown last; `None` until it was.
    shown: Option<Shown>,
}

/// One showing of a card.
#[derive(Clone)]
struct Shown {
    number: u64,
    /// Digest of arguments and preview.
    digest: String,
}

/// A person's yes to a card as it was shown to them.
pub(super) struct Allowed {
    call: CallId,
    answer: Answer,
    /// What they saw.
    shown: Shown,
}

/// What a finished preview is for.
enum Purpose {
    Show(Box<Ask>),
    Recheck(Allowed),
}

impl Driver {
    /// Makes the card's preview, off the loop, and then shows it.
    pub(super) fn ask(&mut self, ask: Ask) {
        if let Some(live) = &mut self.live {
            live.asks.insert(ask.call, Pending { ask: ask.clone(), shown: None });
        }
        let shown = ask.clone();
        self.preview(&ask, Purpose::Show(Box::new(shown)));
    }

    fn preview(&self, ask: &Ask, purpose: Purpose) {
        let Some(live) = &self.live else { return };
        let (conversation, messages) = (Arc::clone(&live.id), self.messages.clone());
        let tool = live.tools.get(&ask.tool).cloned();
        let (arguments, limit) = (ask.arguments.clone(), self.setup.preview_timeout);
        spawn(async move {
            let making = tokio::task::spawn_blocking(move || tool.map(|tool| tool.preview(&arguments)));
            let preview = match tokio::time::timeout(limit, making).await {
                Ok(Ok(made)) => made.unwrap_or_default(),
                Ok(Err(_)) => without_preview("it stopped unexpectedly; the log under data/logs has more"),
                Err(_) => without_preview(&format!("it took over {} s", limit.as_secs())),
            };
            let message = match purpose {
                Purpose::Show(ask) => Message::Previewed { conversation, ask, preview },
                Purpose::Recheck(card) => Message::Rechecked { conversation, card, preview },
            };
            let _gone = messages.send(message).await;
        });
    }

    pub(super) async fn show_card(&mut self, ask: Ask, preview: Preview) {
        let Some(pending) = self.live.as_mut().and_then(|live| live.asks.get_mut(&ask.call)) else { return };
        if pending.ask != ask {
            // A person changed the arguments since: their card has a preview of its own.
            return;
        }
        self.showings += 1;
        let showing = self.showings;
        pending.shown = Some(Shown { number: showing, digest: seen(&ask, &preview) });
        self.tell(Event::Ask { ask, preview, changed: false, showing }).await;
    }

    /// A person's answer. Yes is to one showing of the card, and is checked against the world once more before it counts; no
    /// counts at once.
    pub(super) async fn answer(&mut self, call: CallId, answer: Answer, showing: u64) {
        let Some(pending) = self.live.as_ref().and_then(|live| live.asks.get(&call)) else { return };
        match answer {
            Answer::AllowedOnce | Answer::AllowedForConversation => {
                // What was never shown, or is not shown any more, cannot have been allowed.
                if let Some(shown) = pending.shown.clone().filter(|shown| shown.number == showing) {
                    self.preview(&pending.ask, Purpose::Recheck(Allowed { call, answer, shown }));
                }
            }
            Answer::Denied | Answer::DeniedWithReason { .. } => self.settle(call, answer).await,
            Answer::AllowedByGrant { .. }
            | Answer::AllowedByFlag { .. }
            | Answer::AutoDenied { .. }
            | Answer::Expired
            | Answer::Withdrawn
            | Answer::Interrupted => {
                self.alert(Severity::Warning, "A person can allow or deny a card, nothing else.".to_owned(), None)
                    .await;
            }
        }
    }

    pub(super) async fn answer_rechecked(&mut self, card: Allowed, preview: Preview) {
        let Allowed { call, answer, shown } = card;
        let Some(pending) = self.live.as_mut().and_then(|live| live.asks.get_mut(&call)) else { return };
        if pending.shown.as_ref().is_none_or(|last| last.number != shown.number) {
            // Another card was shown since: this yes was not to that one.
            return;
        }
        let digest = seen(&pending.ask, &preview);
        if shown.digest == digest {
            self.settle(call, answer).await;
        } else {
            self.showings += 1;
            let showing = self.showings;
            pending.shown = Some(Shown { number: showing, digest });
            let ask = pending.ask.clone();
            self.tell(Event::Ask { ask, preview, changed: true, showing }).await;
        }
    }

    async fn settle(&mut self, call: CallId, answer: Answer) {
        if let Some(live) = &mut self.live {
            live.asks.remove(&call);
        }
        self.feed(Input::Answered { call, answer }).await;
    }
}

/// Digest of all that a card shows: a yes is to this and nothing else.
fn seen(ask: &Ask, preview: &Preview) -> String {
    digest(format!("{}\n{}", canonical(&ask.arguments), preview.digest).as_bytes())
}

/// What a card shows in place of a preview that could not be made. What would run is still shown whole.
fn without_preview(why: &str) -> Preview {
    // A digest of its own: what could not be read is not what was read before.
    let facts = vec![("no preview".to_owned(), why.to_owned())];
    Preview { facts, digest: why.to_owned(), ..Preview::default() }
}
