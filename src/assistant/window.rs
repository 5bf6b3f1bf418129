//! The model's window, asked of its server beside everything else. Nobody waits for it, and silence is no news.

use std::sync::Arc;

use super::tasks::{contained, spawn};
use super::{Driver, Message};
use crate::access::Attendance;
use crate::agent::Event;

/// At the start, and once the model has answered: some servers know a window only of a model that is loaded.
pub(super) const ASKS: u8 = 2;

impl Driver {
    /// Asks for the window while nobody knows it and somebody looks.
    pub(super) fn ask_window(&mut self) {
        let known = self.window.is_some() || self.setup.attendance == Attendance::Unattended;
        let Some(left) = self.window_asks.checked_sub(1).filter(|_| !known) else { return };
        self.window_asks = left;
        let (model, messages) = (Arc::clone(&self.setup.model), self.messages.clone());
        spawn(async move {
            if let Ok(Some(tokens)) = contained(async { model.find_window().await }).await {
                let _gone = messages.send(Message::Window { tokens }).await;
            }
        });
    }

    /// The server said it.
    pub(super) async fn take_window(&mut self, tokens: u64) {
        if self.window.is_none() {
            self.window = Some(tokens);
            self.tell(Event::Window { tokens }).await;
        }
    }
}
