//! What happened in a conversation, as blocks, and the window a person looks at them through.
//!
//! Only what is in view is laid out; a delta lays out the last paragraph alone. It knows no rectangle and decides nothing
//! about the run.

mod block;
mod item;
mod layout;
mod search;
mod window;
mod work;

#[cfg(test)]
mod tests;

pub use block::{
    Block, BlockId, CallRule, Delivery, Receipt, Retry, ToolRow, ToolState, answer_detail, bytes, clock, ending_word,
    kind_word, since, span, tokens,
};
pub use item::Fold;
pub(in crate::ui) use layout::crowd;
pub use search::Found;
pub use window::{End, Window};
pub use work::{WORK_LINES, Work};

use std::collections::HashMap;

use item::Item;
use search::Search;
use window::{Anchor, Move};

use crate::agent::NodeId;

/// The blocks of one conversation or one worker, and where in them the view stands.
#[derive(Debug, Default)]
pub struct Transcript {
    items: Vec<Item>,
    next: u64,
    anchor: Anchor,
    /// Where the window stood in the last frame, if it follows.
    stood: Anchor,
    end: End,
    /// Moves asked for since the last frame; they need a size to be carried out.
    moves: Vec<Move>,
    selected: Option<BlockId>,
    search: Option<Search>,
    ticking: Vec<BlockId>,
    /// The row under which each worker's lines stand.
    works: HashMap<NodeId, BlockId>,
    now: i64,
    frame: u64,
    below: usize,
    above: usize,
    kept: usize,
}

impl Transcript {
    /// An empty one that follows its end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block at the end. Its text is cleaned here or when it is drawn: hand it in as it came.
    pub fn push(&mut self, block: Block) -> BlockId {
        self.insert(self.items.len(), block)
    }

    /// Adds a block right after `id` (a receipt under its call); at the end when `id` is gone.
    pub fn insert_after(&mut self, id: BlockId, block: Block) -> BlockId {
        let index = self.index(id).map_or(self.items.len(), |index| index + 1);
        self.insert(index, block)
    }

    fn insert(&mut self, index: usize, block: Block) -> BlockId {
        let id = BlockId(self.next);
        self.next += 1;
        let item = Item::new(id, block, index > 0);
        if item.ticks() {
            self.ticking.push(id);
        }
        self.items.insert(index, item);
        id
    }

    /// Edits a block in place. Nothing when it is gone.
    pub fn update(&mut self, id: BlockId, edit: impl FnOnce(&mut Block)) {
        let Some(item) = self.item_mut(id) else { return };
        edit(&mut item.block);
        item.changed();
        let ticks = item.ticks();
        self.ticking.retain(|ticking| *ticking != id);
        if ticks {
            self.ticking.push(id);
        }
    }

    /// Adds to the end of what was said, typed or reasoned; only its tail is laid out again. Nothing for other blocks.
    pub fn append_text(&mut self, id: BlockId, text: &str) {
        if let Some(item) = self.item_mut(id) {
            item.append(text);
        }
    }

    /// Takes a block away (a queued message that was delivered elsewhere).
    pub fn remove(&mut self, id: BlockId) {
        if let Some(index) = self.index(id) {
            self.items.remove(index);
            self.ticking.retain(|ticking| *ticking != id);
            if self.selected == Some(id) {
                self.selected = None;
            }
        }
    }

    /// A block, while it is there.
    pub fn get(&self, id: BlockId) -> Option<&Block> {
        self.index(id).and_then(|index| self.items.get(index)).map(|item| &item.block)
    }

    /// Every block in order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = (BlockId, &Block)> {
        self.items.iter().map(|item| (item.id, &item.block))
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The time, milliseconds since the epoch, for running clocks. True when one of them shows: draw again.
    pub fn tick(&mut self, now: i64) -> bool {
        let moved = now.div_euclid(1_000) != self.now.div_euclid(1_000);
        self.now = now;
        if !moved || self.ticking.is_empty() {
            return false;
        }
        for id in self.ticking.clone() {
            if let Some(item) = self.item_mut(id) {
                item.reset();
            }
        }
        true
    }

    /// Whether a clock runs in it: without one, no timer is needed.
    pub fn ticks(&self) -> bool {
        !self.ticking.is_empty()
    }

    /// The selected block.
    pub const fn selected(&self) -> Option<BlockId> {
        self.selected
    }

    /// Selects a block and brings it into view; `None` selects nothing.
    pub fn select(&mut self, id: Option<BlockId>) {
        self.selected = id.filter(|id| self.index(*id).is_some());
        if let Some(id) = self.selected {
            self.moves.push(Move::Reveal(id));
        }
    }

    /// Selects the block after the selected one; the last where none is.
    pub fn select_next(&mut self) {
        let next = match self.selected.and_then(|id| self.index(id)) {
            Some(index) => {
                self.items.iter().skip(index + 1).find(|item| shows(item)).map(|item| item.id).or(self.selected)
            }
            None => self.items.iter().rev().find(|item| shows(item)).map(|item| item.id),
        };
        self.select(next);
    }

    /// Selects the block before the selected one; the last where none is.
    pub fn select_previous(&mut self) {
        let index = self.selected.and_then(|id| self.index(id)).unwrap_or(self.items.len());
        let before = self.items.iter().take(index).rev().find(|item| shows(item)).map(|item| item.id);
        self.select(before.or(self.selected));
    }

    /// Folds or unfolds a block. False when it has only one form.
    pub fn toggle_fold(&mut self, id: BlockId) -> bool {
        let toggled = self.item_mut(id).is_some_and(Item::toggle);
        if toggled {
            self.moves.push(Move::Reveal(id));
        }
        toggled
    }

    /// Whether a block is folded.
    pub fn fold(&self, id: BlockId) -> Option<Fold> {
        self.index(id).and_then(|index| self.items.get(index)).map(|item| item.fold)
    }

    /// The selected block's whole text, for copying.
    pub fn selected_text(&self) -> Option<String> {
        let index = self.index(self.selected?)?;
        self.items.get(index).map(Item::text)
    }

    /// Everything as plain text, for a pager.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for item in &self.items {
            let text = item.text();
            if !text.is_empty() {
                out.push_str(text.trim_end());
                out.push_str("\n\n");
            }
        }
        out
    }

    /// Near the end first: that is where things happen.
    fn index(&self, id: BlockId) -> Option<usize> {
        self.items.iter().rposition(|item| item.id == id)
    }

    fn item_mut(&mut self, id: BlockId) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|item| item.id == id)
    }
}

/// Whether a block draws anything, and so can be selected.
fn shows(item: &Item) -> bool {
    !matches!(item.block, Block::End(crate::agent::effect::TurnEnd::Answered))
}
