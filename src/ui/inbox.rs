//! The asks that wait for a person, of every agent and every conversation: their order, which one is shown, and when it may
//! be allowed. A card that has just come up is inert to *allow* until the keyboard was quiet, so that no key meant for the
//! composer answers it.

use ratatui::text::Line;

use super::text::visible_json;
use super::theme::Theme;
use crate::agent::update::Preview;
use crate::agent::{Ask, CallId};

/// Quiet after which a card may be allowed, milliseconds.
pub const QUIET_MS: i64 = 400;
/// After this a card may be allowed whatever the keyboard does, milliseconds.
pub const QUIET_AT_MOST_MS: i64 = 1_500;

/// Which card: calls are numbered for each conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CardId {
    /// The call's conversation.
    pub conversation: String,
    /// The call.
    pub call: CallId,
}

/// One ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The conversation that it is of.
    pub conversation: String,
    /// What a person calls that conversation, where it is not the one in view.
    pub elsewhere: Option<String>,
    /// What is asked.
    pub ask: Ask,
    /// Its extra lines.
    pub preview: Preview,
    /// Which showing of it this is.
    pub showing: Showing,
    /// First line of its body that is drawn.
    pub scroll: usize,
    came_up: i64,
    quiet_since: i64,
    armed: bool,
    answered: bool,
    /// What a person made of the arguments and was not taken yet.
    edited: Option<String>,
    /// A change of the arguments is on its way: another showing follows, and this one is not allowed any more.
    changing: bool,
    laid_out: Option<LaidOut>,
}

/// One showing of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Showing {
    /// It was shown before, and what it depends on changed since.
    pub changed: bool,
    /// Its number; an answer is to it.
    pub number: u64,
}

/// A card's body at one width and theme.
#[derive(Debug, Clone, PartialEq)]
struct LaidOut {
    width: u16,
    theme: u64,
    lines: Vec<Line<'static>>,
}

impl Card {
    /// Which it is.
    pub fn id(&self) -> CardId {
        CardId { conversation: self.conversation.clone(), call: self.ask.call }
    }

    fn is(&self, id: &CardId) -> bool {
        self.ask.call == id.call && self.conversation == id.conversation
    }

    /// Milliseconds until it may be allowed; 0: now.
    pub fn inert_for(&self, now: i64) -> i64 {
        if self.armed {
            return 0;
        }
        let ready = (self.quiet_since + QUIET_MS).min(self.came_up + QUIET_AT_MOST_MS);
        // A clock that was set back must not lock a card.
        (ready - now).clamp(0, QUIET_AT_MOST_MS)
    }

    /// It was answered here and waits for the assistant to say so.
    pub fn answered(&self) -> bool {
        self.answered
    }

    /// The arguments as JSON for an editor: as the person left them last, where that was not taken, so that nothing they
    /// wrote is lost.
    pub fn text_to_edit(&self) -> String {
        let whole = || visible_json(&serde_json::to_string_pretty(&self.ask.arguments).unwrap_or_default());
        self.edited.clone().unwrap_or_else(whole)
    }

    /// A change of its arguments is being checked; until it is shown anew it is not allowed.
    pub fn changing(&self) -> bool {
        self.changing
    }

    /// What a person wrote and nobody took, when the card goes.
    pub fn unsaved(self) -> Option<String> {
        self.edited
    }

    /// Its body, laid out once for a width and theme: every argument, nothing left out.
    pub fn body(&mut self, width: u16, theme: &Theme) -> &[Line<'static>] {
        let fresh = self.laid_out.as_ref().is_some_and(|made| made.width == width && made.theme == theme.id());
        if !fresh {
            let lines = super::view::card::body(self, usize::from(width), theme);
            self.scroll = self.scroll.min(lines.len().saturating_sub(1));
            self.laid_out = Some(LaidOut { width, theme: theme.id(), lines });
        }
        self.laid_out.as_ref().map_or(&[], |made| made.lines.as_slice())
    }

    fn come_up(&mut self, now: i64) {
        self.came_up = now;
        self.quiet_since = now;
        self.armed = false;
    }
}

/// What comes of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    /// It is to be checked.
    Changed,
    /// It is what was there.
    Unchanged,
    /// The call asks no more.
    Over,
}

/// All of them: those of the conversation in view first, by call, which is by turn, spawn and order of the calls; then those of
/// the others, in the order in which each conversation's first one came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inbox {
    cards: Vec<Card>,
    shown: usize,
    /// The conversation in view.
    view: String,
    /// Conversations with cards, in the order of their first.
    arrivals: Vec<String>,
    /// A card that the person went to: it comes up when it is told again.
    wanted: Option<CardId>,
}

impl Inbox {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// None waits.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// The one in the strip.
    pub fn shown(&self) -> Option<&Card> {
        self.cards.get(self.shown)
    }

    /// The one in the strip, to scroll it.
    pub fn shown_mut(&mut self) -> Option<&mut Card> {
        self.cards.get_mut(self.shown)
    }

    /// Its place, from 1.
    pub fn place(&self) -> usize {
        self.shown + 1
    }

    /// A card's place, from 1, if it is there.
    pub fn place_of(&self, id: &CardId) -> Option<usize> {
        self.cards.iter().position(|card| card.is(id)).map(|at| at + 1)
    }

    /// Every card in order.
    #[cfg(test)]
    pub fn cards(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter()
    }

    /// The calls of the conversation in view that ask, in order.
    pub fn calls(&self) -> impl Iterator<Item = CallId> {
        self.of(&self.view).map(|card| card.ask.call)
    }

    /// The cards of a conversation.
    pub fn of<'a>(&'a self, conversation: &'a str) -> impl Iterator<Item = &'a Card> {
        self.cards.iter().filter(move |card| card.conversation == conversation)
    }

    fn rank(&self, conversation: &str) -> usize {
        if conversation == self.view {
            return 0;
        }
        1 + self.arrivals.iter().position(|of| of == conversation).unwrap_or(self.arrivals.len())
    }

    /// An ask arrives, or a changed one comes again. The card in the strip stays the same one.
    pub fn arrive(&mut self, conversation: &str, ask: Ask, preview: Preview, showing: Showing, now: i64) {
        let id = CardId { conversation: conversation.to_owned(), call: ask.call };
        let in_strip = self.shown().map(Card::id);
        let old = self.place_of(&id).map(|place| self.cards.remove(place - 1));
        // The same question again: what a person wrote was not taken, and is still theirs, unless it says the same.
        let edited = old.filter(|old| old.ask == ask).and_then(|old| old.edited);
        let edited = edited.filter(|text| serde_json::from_str(text).ok().as_ref() != Some(&ask.arguments));
        if !self.arrivals.contains(&id.conversation) {
            self.arrivals.push(id.conversation.clone());
        }
        let order = (self.rank(conversation), ask.call);
        let at = self.cards.partition_point(|card| (self.rank(&card.conversation), card.ask.call) < order);
        let card = Card {
            conversation: id.conversation.clone(),
            elsewhere: None,
            ask,
            preview,
            showing,
            scroll: 0,
            came_up: now,
            quiet_since: now,
            armed: false,
            answered: false,
            edited,
            changing: false,
            laid_out: None,
        };
        self.cards.insert(at, card);
        self.shown = in_strip.and_then(|id| self.place_of(&id)).map_or(at, |place| place - 1);
        if self.wanted.as_ref() == Some(&id) {
            self.shown = at;
        }
    }

    /// The card in the strip is the one that the person went to: nothing that arrives takes its place.
    pub fn is_wanted(&self) -> bool {
        self.wanted.is_some() && self.shown().map(Card::id) == self.wanted
    }

    /// The person went to where this card is: it comes up when it is told again.
    pub fn want(&mut self, id: CardId) {
        self.wanted = Some(id);
    }

    /// A card's ask is over. If it was the one in the strip, the next comes up and is inert again.
    pub fn remove(&mut self, id: &CardId, now: i64) -> Option<Card> {
        let at = self.place_of(id)? - 1;
        let card = self.cards.remove(at);
        if at < self.shown {
            self.shown -= 1;
        } else if at == self.shown {
            self.shown = self.shown.min(self.cards.len().saturating_sub(1));
            if let Some(next) = self.shown_mut() {
                next.come_up(now);
            }
        }
        let cards = &self.cards;
        self.arrivals.retain(|of| cards.iter().any(|card| card.conversation == *of));
        Some(card)
    }

    /// A conversation comes into view: its cards are told anew, those of the others stay. Answers with the ones that went.
    pub fn begin(&mut self, view: &str, now: i64) -> Vec<Card> {
        let ids: Vec<_> = self.of(view).map(Card::id).collect();
        let gone = ids.iter().filter_map(|id| self.remove(id, now)).collect();
        let in_strip = self.shown().map(Card::id);
        view.clone_into(&mut self.view);
        let mut cards = std::mem::take(&mut self.cards);
        cards.sort_by_key(|card| (self.rank(&card.conversation), card.ask.call));
        self.cards = cards;
        self.shown = in_strip.and_then(|id| self.place_of(&id)).map_or(0, |place| place - 1);
        gone
    }

    /// What a person calls the conversations that are not in view.
    pub fn name(&mut self, name: impl Fn(&str) -> String) {
        for card in &mut self.cards {
            let elsewhere = (card.conversation != self.view).then(|| name(&card.conversation));
            if card.elsewhere != elsewhere {
                (card.elsewhere, card.laid_out) = (elsewhere, None);
            }
        }
    }

    /// The person wrote this as the arguments of a call, outside.
    pub fn edited(&mut self, id: &CardId, text: &str) -> Edited {
        let Some(card) = self.cards.iter_mut().find(|card| card.is(id) && !card.answered) else {
            return Edited::Over;
        };
        if card.text_to_edit() == text {
            return Edited::Unchanged;
        }
        card.edited = Some(text.to_owned());
        card.changing = true;
        Edited::Changed
    }

    /// Nobody saw the cards for a while: each is as if it had just come up.
    pub fn come_up(&mut self, now: i64) {
        for card in &mut self.cards {
            card.come_up(now);
        }
    }

    /// The person moves on to the next (1) or previous (-1), around the end.
    pub fn turn(&mut self, by: isize, now: i64) {
        let count = self.cards.len();
        if count > 0 {
            self.show((self.shown + count).saturating_add_signed(by) % count, now);
        }
    }

    /// Another card comes into the strip: nobody has seen it yet, so it takes no yes for a moment.
    fn show(&mut self, at: usize, now: i64) {
        self.wanted = None;
        if at != self.shown {
            self.shown = at;
            if let Some(card) = self.shown_mut() {
                card.come_up(now);
            }
        }
    }

    /// The person goes to the one at this place, counted from 1.
    pub fn go_to(&mut self, place: usize, now: i64) {
        self.show(place.saturating_sub(1).min(self.cards.len().saturating_sub(1)), now);
    }

    /// Marks the one in the strip as answered here, so that a second key does not answer it twice.
    pub fn mark_answered(&mut self) {
        if let Some(card) = self.shown_mut() {
            card.answered = true;
        }
    }

    /// A key was pressed: every card that is not armed by now waits for quiet again.
    pub fn key_pressed(&mut self, now: i64) {
        for card in &mut self.cards {
            if card.inert_for(now) == 0 {
                card.armed = true;
            } else {
                card.quiet_since = now;
            }
        }
    }
}
