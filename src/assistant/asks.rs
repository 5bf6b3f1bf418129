//! Cards: a gated call from the question to the person's answer.
//!
//! A card shows exactly what will run. When what it depends on changed by the time it is allowed, it is asked again;
//! nothing here answers by itself.

use std::sync::Arc;

use super::tasks::spawn;
use super::{Driver, Id, Message, Severity};
use crate::access::Answer;
use crate::agent::update::Preview;
use crate::agent::{Ask, CallId, Event, Input, TreeInput};

/// A card that waits.
pub(super) struct Pending {
    ask: Ask,
    /// What was shown last; `None` until it was.
    shown: Option<Shown>,
    /// Which of the driver's parkings it is in, if it waits out of sight (P12).
    pub(super) parked: Option<u64>,
}

/// One showing of a card.
struct Shown {
    number: u64,
    /// Its extra lines. The arguments are the ask's own: another ask is another card.
    preview: Preview,
}

/// A person's yes to a card as it was shown to them.
pub(super) struct Allowed {
    call: CallId,
    answer: Answer,
    /// The showing that they saw.
    showing: u64,
}

/// What a finished preview is for.
enum Purpose {
    Show(Box<Ask>),
    Recheck(Allowed),
}

impl Driver {
    /// Makes the card's preview, off the loop, and then shows it.
    pub(super) fn ask(&mut self, id: &Id, ask: Ask) {
        let call = ask.call;
        if let Some(live) = self.lives.get_mut(id) {
            live.asks.insert(call, Pending { ask: ask.clone(), shown: None, parked: None });
        }
        if !self.is_viewed(id) {
            self.park(id, call);
        }
        let shown = ask.clone();
        self.preview(id, &ask, Purpose::Show(Box::new(shown)));
    }

    /// Shows every open card of a conversation that came into view again, as it was shown last.
    pub(super) async fn show_again(&mut self, id: &Id) {
        let Some(live) = self.lives.get_mut(id) else { return };
        let mut shown = Vec::new();
        for pending in live.asks.values_mut() {
            // In view a card waits, however long.
            pending.parked = None;
            shown
                .extend(pending.shown.as_ref().map(|shown| (pending.ask.clone(), shown.preview.clone(), shown.number)));
        }
        for (ask, preview, showing) in shown {
            let node = ask.call.node();
            self.tell_of(id, node, Event::Ask { ask, preview, changed: false, showing }).await;
        }
    }

    fn preview(&self, id: &Id, ask: &Ask, purpose: Purpose) {
        let Some(live) = self.lives.get(id) else { return };
        let (conversation, messages) = (Arc::clone(id), self.messages.clone());
        let tools = live.tools.get(&ask.call.node());
        let tool = tools.and_then(|tools| tools.get(&ask.tool)).cloned();
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

    fn pending(&self, id: &str, call: CallId) -> Option<&Pending> {
        self.lives.get(id)?.asks.get(&call)
    }

    pub(super) async fn show_card(&mut self, id: &Id, ask: Ask, preview: Preview) {
        let pending = self.pending(id, ask.call);
        if pending.is_none_or(|pending| pending.ask != ask) {
            // It was answered since, or a person changed the arguments: their card has a preview of its own.
            return;
        }
        self.show(id, ask, preview, false).await;
    }

    async fn show(&mut self, id: &Id, ask: Ask, preview: Preview, changed: bool) {
        self.showings += 1;
        let showing = self.showings;
        if let Some(pending) = self.lives.get_mut(id).and_then(|live| live.asks.get_mut(&ask.call)) {
            pending.shown = Some(Shown { number: showing, preview: preview.clone() });
        }
        let node = ask.call.node();
        self.tell_of(id, node, Event::Ask { ask, preview, changed, showing }).await;
    }

    /// A person's answer. Yes is to one showing of the card, and is checked against the world once more before it counts; no
    /// counts at once.
    pub(super) async fn answer(&mut self, id: &Id, call: CallId, answer: Answer, showing: u64) {
        let Some(pending) = self.pending(id, call) else { return };
        match answer {
            Answer::AllowedOnce | Answer::AllowedForConversation => {
                // What was never shown, or is not shown any more, cannot have been allowed.
                if pending.shown.as_ref().is_some_and(|shown| shown.number == showing) {
                    self.preview(id, &pending.ask, Purpose::Recheck(Allowed { call, answer, showing }));
                    // A yes that is being checked does not expire.
                    if let Some(pending) = self.lives.get_mut(id).and_then(|live| live.asks.get_mut(&call)) {
                        pending.parked = None;
                    }
                }
            }
            Answer::Denied | Answer::DeniedWithReason { .. } => self.settle(id, call, answer).await,
            Answer::AllowedByGrant { .. }
            | Answer::AllowedByFlag { .. }
            | Answer::AllowedByLine { .. }
            | Answer::ReviewerApproved { .. }
            | Answer::AutoDenied { .. }
            | Answer::Expired
            | Answer::Withdrawn
            | Answer::Interrupted => {
                self.alert(Severity::Warning, "A person can allow or deny a card, nothing else.".to_owned(), None)
                    .await;
            }
        }
    }

    pub(super) async fn answer_rechecked(&mut self, id: &Id, card: Allowed, preview: Preview) {
        let Allowed { call, answer, showing } = card;
        let Some(pending) = self.pending(id, call) else { return };
        // Another showing since: this yes was not to that one.
        let Some(shown) = pending.shown.as_ref().filter(|shown| shown.number == showing) else { return };
        if shown.preview.digest == preview.digest {
            self.settle(id, call, answer).await;
        } else {
            let ask = pending.ask.clone();
            self.show(id, ask, preview, true).await;
        }
    }

    pub(super) async fn settle(&mut self, id: &Id, call: CallId, answer: Answer) {
        if let Some(live) = self.lives.get_mut(id) {
            live.asks.remove(&call);
        }
        let input = Input::Answered { call, answer };
        self.feed(id, TreeInput::Run { node: call.node(), input }).await;
    }
}

/// What a card shows in place of a preview that could not be made. What would run is still shown whole.
fn without_preview(why: &str) -> Preview {
    // A digest of its own: what could not be read is not what was read before.
    let facts = vec![("no preview".to_owned(), why.to_owned())];
    Preview { facts, digest: why.to_owned(), ..Preview::default() }
}
