//! One block with its layout: pieces of lines at one width and theme, made when they are looked at and dropped when not.
//!
//! A long text is many pieces, so that neither a resize nor a delta lays out more than what is near the view.

use std::ops::Range;

use ratatui::text::Line;

use super::block::{Block, BlockId, ToolState};
use super::layout::{self, Frame};
use crate::ui::text::Cleaner;
use crate::ui::text::markdown::{self, OpenCode};

/// Bytes of plain text in one piece.
const PLAIN_PIECE: usize = 4_096;

/// Whether a block shows one line or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// One line.
    Folded,
    /// All of it.
    Open,
}

/// What lines were made for; other lines are stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub width: u16,
    pub theme: u64,
}

/// Some lines of a block, from a range of its text.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub range: Range<usize>,
    newlines: usize,
    /// An empty line stands before it.
    pub spaced: bool,
    height: Option<usize>,
    pub lines: Option<Vec<Line<'static>>>,
    /// The frame that last looked at it.
    used: u64,
    /// A code block that still streams: what of it is final.
    open: Option<Box<OpenCode>>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub id: BlockId,
    pub block: Block,
    pub fold: Fold,
    /// It is not the first of the transcript: a turn's first words stand apart.
    pub follows: bool,
    cleaner: Cleaner,
    newlines: usize,
    pieces: Vec<Piece>,
    /// How many of `pieces` never change with more text.
    settled: usize,
    /// Bytes of the text that `pieces` cover.
    split: usize,
    key: Option<Key>,
}

impl Item {
    pub(super) fn new(id: BlockId, block: Block, follows: bool) -> Self {
        let fold = match block {
            Block::Reasoning { .. } | Block::Tool(_) => Fold::Folded,
            _ => Fold::Open,
        };
        let mut item = Self {
            id,
            block,
            fold,
            follows,
            cleaner: Cleaner::default(),
            newlines: 0,
            pieces: Vec::new(),
            settled: 0,
            split: 0,
            key: None,
        };
        item.changed();
        item
    }

    /// The block was replaced or edited: its text is cleaned anew, its layout is void.
    pub(super) fn changed(&mut self) {
        self.cleaner = Cleaner::default();
        self.newlines = 0;
        if let Some(text) = text_mut(&mut self.block) {
            let raw = std::mem::take(text);
            self.append(&raw);
        }
        self.reset();
    }

    /// More text at its end; nothing for a block without streamed text.
    pub(super) fn append(&mut self, more: &str) {
        let Some(text) = text_mut(&mut self.block) else { return };
        let before = text.len();
        self.cleaner.push(more, text);
        self.newlines += newlines(&text[before..]);
        if self.fold == Fold::Folded {
            self.reset();
        }
    }

    /// Forgets every line.
    pub(super) fn reset(&mut self) {
        self.pieces.clear();
        self.settled = 0;
        self.split = 0;
        self.key = None;
    }

    pub(super) fn toggle(&mut self) -> bool {
        if !matches!(self.block, Block::Reasoning { .. } | Block::Tool(_)) {
            return false;
        }
        self.fold = match self.fold {
            Fold::Folded => Fold::Open,
            Fold::Open => Fold::Folded,
        };
        self.reset();
        true
    }

    /// Makes its pieces what `key` and the text want, without laying any out.
    pub(super) fn prepare(&mut self, key: Key) {
        if self.key != Some(key) {
            for piece in &mut self.pieces {
                (piece.height, piece.lines, piece.open) = (None, None, None);
            }
            self.key = Some(key);
        }
        let (Block::User { text, .. } | Block::Assistant { text, .. } | Block::Reasoning { text }, Fold::Open) =
            (&self.block, self.fold)
        else {
            if self.pieces.is_empty() {
                self.pieces.push(Piece::default());
            }
            return;
        };
        if !self.pieces.is_empty() && self.split == text.len() {
            return;
        }
        let from = self.pieces.get(self.settled).map_or(self.split, |piece| piece.range.start);
        let mut tail = self.pieces.split_off(self.settled);
        let reused = (!tail.is_empty()).then(|| tail.swap_remove(0));
        let rest = text.get(from..).unwrap_or_default();
        let cut = match self.block {
            Block::Assistant { .. } => markdown::split(rest),
            _ => split_plain(rest),
        };
        for range in cut.ranges {
            let range = range.start + from..range.end + from;
            let spaced = self.pieces.last().is_some_and(|last| {
                matches!(self.block, Block::Assistant { .. })
                    && markdown::ends_blank(text.get(last.range.clone()).unwrap_or_default())
            });
            let newlines = newlines(text.get(range.clone()).unwrap_or_default());
            self.pieces.push(Piece { range, newlines, spaced, ..Piece::default() });
        }
        // A code block that streams keeps the lines that are final, also when it just ended.
        if let (Some(old), Some(new)) = (reused, self.pieces.get_mut(self.settled))
            && old.open.is_some()
            && old.range.start == new.range.start
        {
            (new.open, new.lines) = (old.open, old.lines);
        }
        self.settled += cut.settled;
        self.split = text.len();
        if self.pieces.is_empty() {
            self.pieces.push(Piece::default());
        }
    }

    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Lines of piece `index`, laying it out if that is not known. After [`Self::prepare`].
    pub(super) fn height(&mut self, index: usize, frame: &Frame<'_>) -> usize {
        match self.pieces.get(index).and_then(|piece| piece.height) {
            Some(height) => height,
            None => self.lines(index, frame).len(),
        }
    }

    /// The lines of piece `index`. After [`Self::prepare`].
    pub(super) fn lines(&mut self, index: usize, frame: &Frame<'_>) -> &[Line<'static>] {
        let streams = index + 1 == self.pieces.len();
        let Some(piece) = self.pieces.get_mut(index) else { return &[] };
        piece.used = frame.number;
        if piece.height.is_none() || piece.lines.is_none() {
            let mut lines = piece.lines.take().unwrap_or_default();
            let part = layout::Part {
                block: &self.block,
                fold: self.fold,
                range: piece.range.clone(),
                first: index == 0,
                spaced: piece.spaced || (index == 0 && self.follows && matches!(self.block, Block::User { .. })),
                streams,
            };
            layout::lines(&part, frame, &mut piece.open, &mut lines);
            piece.height = Some(lines.len());
            piece.lines = Some(lines);
        }
        piece.lines.as_deref().unwrap_or_default()
    }

    /// How many lines it takes: known where it was laid out, otherwise guessed from its text.
    pub(super) fn guess(&self, key: Key) -> usize {
        let columns = usize::from(key.width).saturating_sub(14).max(1);
        let guess = |bytes: usize, newlines: usize| (bytes / columns).max(newlines) + 1;
        if self.key == Some(key) && !self.pieces.is_empty() {
            let covered: usize = self
                .pieces
                .iter()
                .map(|piece| piece.height.unwrap_or_else(|| guess(piece.range.len(), piece.newlines)))
                .sum();
            return covered;
        }
        match (&self.block, self.fold) {
            (Block::Tool(row), Fold::Folded) => 1 + row.work.as_ref().map_or(0, |work| work.height(Fold::Folded)),
            (_, Fold::Folded) => 1,
            (Block::User { text, .. } | Block::Assistant { text, .. } | Block::Reasoning { text }, _) => {
                guess(text.len(), self.newlines)
            }
            (Block::Tool(row), _) => {
                let text = row.result.as_deref().unwrap_or_default();
                let work = row.work.as_ref().map_or(0, |work| work.height(Fold::Open));
                guess(text.len(), 0).min(layout::RESULT_LINES) + work
            }
            (Block::Lines { lines, .. }, _) => lines.len() + 1,
            _ => 1,
        }
    }

    /// [`Self::guess`] of the pieces after `index` alone.
    pub(super) fn guess_after(&self, index: usize, key: Key) -> usize {
        let columns = usize::from(key.width).saturating_sub(14).max(1);
        let rest = self.pieces.get(index + 1..).unwrap_or_default();
        rest.iter()
            .map(|piece| piece.height.unwrap_or_else(|| (piece.range.len() / columns).max(piece.newlines) + 1))
            .sum()
    }

    /// Lines kept at this moment.
    pub(super) fn kept(&self) -> usize {
        self.pieces.iter().filter_map(|piece| piece.lines.as_ref()).map(Vec::len).sum()
    }

    /// Drops every line that frame `number` did not look at; heights stay known.
    pub(super) fn drop_unseen(&mut self, number: u64) {
        for piece in &mut self.pieces {
            if piece.used != number {
                (piece.lines, piece.open) = (None, None);
            }
        }
    }

    /// A clock runs in it.
    pub(super) fn ticks(&self) -> bool {
        match &self.block {
            Block::Tool(row) => {
                matches!(row.state, ToolState::Running { .. }) || row.work.as_ref().is_some_and(|work| work.runs())
            }
            Block::Call(rule) => rule.retry.is_some(),
            _ => false,
        }
    }

    /// Its text for copying, without layout.
    pub(super) fn text(&self) -> String {
        layout::plain(&self.block)
    }
}

fn text_mut(block: &mut Block) -> Option<&mut String> {
    match block {
        Block::User { text, .. } | Block::Assistant { text, .. } | Block::Reasoning { text } => Some(text),
        _ => None,
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Plain text in pieces of some kilobytes that end with a line.
fn split_plain(text: &str) -> markdown::Split {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if end - start >= PLAIN_PIECE && line.ends_with('\n') {
            ranges.push(start..end);
            start = end;
        }
    }
    let settled = ranges.len();
    if start < text.len() || ranges.is_empty() {
        ranges.push(start..text.len());
    }
    markdown::Split { ranges, settled }
}
