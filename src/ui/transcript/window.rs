//! The window on a transcript: follow or an anchored line, moves, and the lines of one frame.
//!
//! Nothing outside of the window and the way to it is laid out; heights elsewhere are guesses until seen.

use ratatui::text::{Line, Span};

use super::item::Key;
use super::layout::Frame;
use super::search::Chrome;
use super::{BlockId, Transcript, search};
use crate::ui::theme::{Role, Theme};

/// Lines kept beyond what four windows hold before those out of view are dropped.
const KEPT: usize = 2_000;
/// Lines that a window with a growing end moves by at once: moving for each line makes a terminal show everything anew.
const STEP: usize = 5;
/// A window moves by no more than this part of its rows.
const STEP_PART: usize = 7;
/// Below this many columns there is no margin.
const MARGINS: u16 = 20;

/// Where the view stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Anchor {
    /// At the end, and stays there as it grows.
    #[default]
    End,
    /// A line of a piece is the first of the window.
    Line {
        block: BlockId,
        piece: usize,
        line: usize,
        /// The height of the piece when the anchor was set: after a resize the same share of it is meant.
        of: usize,
    },
}

/// What the end of a transcript does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// It stays as it is.
    #[default]
    Rests,
    /// A turn runs: more is coming.
    Grows,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Lines(isize),
    /// Windows, less two lines so that the eye finds its place.
    Pages(isize),
    Home,
    End,
    Reveal(BlockId),
    /// A hit of the search: block, and which of its hits.
    Hit(BlockId, usize),
}

/// One frame of a transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// At most as many lines as were asked for, none wider than asked.
    pub lines: Vec<Line<'static>>,
    /// Lines under the window; a guess where they were never laid out. 0 when it follows.
    pub below: usize,
    /// Lines above the window, a guess likewise.
    pub above: usize,
}

/// A line: which item, which of its pieces, which line of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    item: usize,
    piece: usize,
    line: usize,
}

/// The first line of all.
const START: At = At { item: 0, piece: 0, line: 0 };

impl Transcript {
    /// Whether the view stays at the end as it grows.
    pub fn follows(&self) -> bool {
        self.anchor == Anchor::End
            && !self.moves.iter().any(|to| matches!(to, Move::Lines(..0) | Move::Pages(..0) | Move::Home))
    }

    /// Goes to the end and stays there.
    pub fn follow(&mut self) {
        self.moves.push(Move::End);
    }

    /// Says whether more is coming: a window that follows then keeps some empty lines for it.
    pub const fn set_end(&mut self, end: End) {
        self.end = end;
    }

    /// Scrolls by lines; negative is up.
    pub fn scroll(&mut self, lines: isize) {
        self.moves.push(Move::Lines(lines));
    }

    /// One window up.
    pub fn page_up(&mut self) {
        self.moves.push(Move::Pages(-1));
    }

    /// One window down; follows again when that is the end.
    pub fn page_down(&mut self) {
        self.moves.push(Move::Pages(1));
    }

    /// To the beginning.
    pub fn home(&mut self) {
        self.moves.push(Move::Home);
    }

    /// To the end, and follows.
    pub fn end(&mut self) {
        self.moves.push(Move::End);
    }

    pub(super) fn queue(&mut self, to: Move) {
        self.moves.push(to);
    }

    /// Lines under the window as of the last frame; 0 when it follows.
    pub const fn lines_below(&self) -> usize {
        self.below
    }

    /// Lines above the window as of the last frame.
    pub const fn lines_above(&self) -> usize {
        self.above
    }

    /// The lines to draw in `height` rows of `width` columns. Carries out the moves asked for since the last frame.
    pub fn render(&mut self, width: u16, height: u16, theme: &Theme) -> Window {
        self.frame += 1;
        let rows = usize::from(height);
        if width == 0 || rows == 0 {
            return Window::default();
        }
        let inner = if width >= MARGINS { width - 2 } else { width };
        let frame = Frame { width: usize::from(inner), theme, now: self.now, number: self.frame };
        let mut view = View { key: Key { width: inner, theme: theme.id() }, frame, rows };

        let (mut top, mut follow) = match view.anchored(self, self.anchor) {
            // Only what is near the end of an anchored view needs to know where the end is.
            Some(top) => (view.settled(self, top).0, false),
            None => (view.following(self), true),
        };
        for to in std::mem::take(&mut self.moves) {
            let (moved, at_end) = view.moved(self, to, top);
            top = moved;
            follow = match to {
                Move::Lines(_) | Move::Pages(_) | Move::Home => at_end,
                Move::End => true,
                Move::Reveal(_) | Move::Hit(..) => follow && at_end,
            };
        }
        let window = view.lines(self, top, follow, width);
        (self.below, self.above) = (window.below, window.above);
        let stands = view.anchor(self, top);
        (self.anchor, self.stood) = if follow { (Anchor::End, stands) } else { (stands, Anchor::End) };
        self.bound(rows);
        window
    }

    /// Drops lines that this frame did not show once more than a few windows of them are kept.
    fn bound(&mut self, rows: usize) {
        self.kept = self.items.iter().rev().map(super::Item::kept).sum();
        if self.kept > KEPT + rows * 4 {
            for item in &mut self.items {
                item.drop_unseen(self.frame);
            }
        }
    }
}

/// One frame's size, carried through the walk.
struct View<'a> {
    key: Key,
    frame: Frame<'a>,
    rows: usize,
}

impl View<'_> {
    fn pieces(&self, of: &mut Transcript, item: usize) -> usize {
        of.items.get_mut(item).map_or(0, |item| {
            item.prepare(self.key);
            item.pieces()
        })
    }

    fn height(&self, of: &mut Transcript, item: usize, piece: usize) -> usize {
        of.items.get_mut(item).map_or(0, |item| item.height(piece, &self.frame))
    }

    /// `lines` lines before `at`, or the first line.
    fn up(&self, of: &mut Transcript, mut at: At, mut lines: usize) -> At {
        loop {
            if lines <= at.line {
                return At { line: at.line - lines, ..at };
            }
            lines -= at.line;
            let (item, piece) = if at.piece > 0 {
                (at.item, at.piece - 1)
            } else {
                // Items without any piece do not exist, so this ends.
                let Some(item) = at.item.checked_sub(1) else { return START };
                (item, self.pieces(of, item).saturating_sub(1))
            };
            at = At { item, piece, line: self.height(of, item, piece) };
        }
    }

    /// `lines` lines after `at`, or one past the last line.
    fn down(&self, of: &mut Transcript, mut at: At, mut lines: usize) -> At {
        while at.item < of.items.len() {
            let pieces = self.pieces(of, at.item);
            while at.piece < pieces {
                let left = self.height(of, at.item, at.piece).saturating_sub(at.line);
                if lines < left {
                    return At { line: at.line + lines, ..at };
                }
                lines -= left;
                at = At { piece: at.piece + 1, line: 0, ..at };
            }
            at = At { item: at.item + 1, piece: 0, line: 0 };
        }
        at
    }

    /// Where `anchor` is now; `None` at the end.
    fn anchored(&self, of: &mut Transcript, anchor: Anchor) -> Option<At> {
        let Anchor::Line { block, piece, line, of: then } = anchor else { return None };
        // A block that is gone: its place is where the next newer one is.
        let item = of.index(block).or_else(|| of.items.iter().position(|item| item.id > block))?;
        let piece = piece.min(self.pieces(of, item).saturating_sub(1));
        let height = self.height(of, item, piece);
        let line = if height == then { line } else { line * height / then.max(1) };
        Some(At { item, piece, line: line.min(height.saturating_sub(1)) })
    }

    fn anchor(&self, of: &mut Transcript, at: At) -> Anchor {
        let height = self.height(of, at.item, at.piece);
        match of.items.get(at.item) {
            Some(item) => Anchor::Line { block: item.id, piece: at.piece, line: at.line, of: height },
            None => Anchor::End,
        }
    }

    /// The top of the last window.
    fn bottom(&self, of: &mut Transcript) -> At {
        self.up(of, end(of), self.rows)
    }

    /// The top of a window that follows. While the end grows it stays where it was as long as the end fits, and then
    /// moves by several lines, into which more can come.
    fn following(&self, of: &mut Transcript) -> At {
        let bottom = self.bottom(of);
        let room = STEP.min(self.rows / STEP_PART).saturating_sub(1);
        // A person's own moves are from what is there.
        if of.end == End::Rests || !of.moves.is_empty() || bottom == START {
            return bottom;
        }
        let roomy = self.down(of, bottom, room);
        self.anchored(of, of.stood).filter(|stood| (bottom..=roomy).contains(stood)).unwrap_or(roomy)
    }

    /// `top`, or the last window's where less than a window follows; and whether it is the last.
    fn settled(&self, of: &mut Transcript, top: At) -> (At, bool) {
        if self.down(of, top, self.rows) < end(of) { (top, false) } else { (self.bottom(of), true) }
    }

    /// The top after a move, and whether it shows the end.
    fn moved(&mut self, of: &mut Transcript, to: Move, top: At) -> (At, bool) {
        let page = self.rows.saturating_sub(2).max(1);
        let by = |view: &Self, of: &mut Transcript, lines: usize, up: bool| {
            if up { view.up(of, top, lines) } else { view.down(of, top, lines) }
        };
        let top = match to {
            Move::Lines(lines) => by(self, of, lines.unsigned_abs(), lines < 0),
            Move::Pages(pages) => by(self, of, pages.unsigned_abs().saturating_mul(page), pages < 0),
            Move::Home => START,
            Move::End => end(of),
            Move::Reveal(block) => match of.index(block) {
                Some(item) => {
                    let start = At { item, piece: 0, line: 0 };
                    let end = At { item: item + 1, piece: 0, line: 0 };
                    self.revealed(of, top, start, end)
                }
                None => top,
            },
            Move::Hit(block, nth) => match self.find_hit(of, block, nth) {
                Some(at) => {
                    let end = self.down(of, at, 1);
                    // Some lines around it say where one is.
                    if self.revealed(of, top, at, end) == top { top } else { self.up(of, at, self.rows / 3) }
                }
                None => top,
            },
        };
        self.settled(of, top)
    }

    /// The nearest top from which `start..end` shows, or its beginning where it is taller than the window.
    fn revealed(&self, of: &mut Transcript, top: At, start: At, end: At) -> At {
        if start <= top {
            return start;
        }
        // Where something follows, the last row says how much: it shows no line.
        let rows = self.rows - usize::from(self.rows > 1 && end < self::end(of));
        // Walking down a window from the top is cheap; from a far block up is not farther.
        let last = self.down(of, top, rows);
        if end <= last { top } else { self.up(of, end, rows).min(start) }
    }

    /// The line of the `nth` hit in a block, counted in its laid-out text; the last one there is where it shows fewer.
    fn find_hit(&mut self, of: &mut Transcript, block: BlockId, nth: usize) -> Option<At> {
        let at_item = of.index(block)?;
        let query = of.search.as_ref()?.query.clone();
        let mut left = nth;
        let mut last = None;
        for piece in 0..self.pieces(of, at_item) {
            let item = of.items.get_mut(at_item)?;
            let chrome = chrome(item, piece);
            let hits = search::hits(item.lines(piece, &self.frame), &query, &chrome);
            for (index, hit) in hits.iter().enumerate() {
                let at = At { item: at_item, piece, line: hit.line };
                last = Some((at, index));
                if left == 0 {
                    break;
                }
                left -= 1;
            }
            if last.is_some() && left == 0 {
                break;
            }
        }
        let found = last.unwrap_or((At { item: at_item, piece: 0, line: 0 }, 0));
        if let Some(search) = &mut of.search {
            search.shown = last.map(|(at, index)| (block, at.piece, index));
        }
        Some(found.0)
    }

    /// The window's lines from `top`.
    fn lines(&self, of: &mut Transcript, top: At, follow: bool, width: u16) -> Window {
        let margin = usize::from(width >= MARGINS);
        let query = of.search.as_ref().map(|search| search.query.clone()).filter(|query| !query.is_empty());
        let shown = of.search.as_ref().and_then(|search| search.shown);
        let bar = Span::styled("┃", self.frame.theme.style(Role::Focus));
        let mut lines = Vec::with_capacity(self.rows);
        let mut at = top;
        while lines.len() < self.rows && at.item < of.items.len() {
            let pieces = self.pieces(of, at.item);
            let selected = of.items.get(at.item).is_some_and(|item| of.selected == Some(item.id));
            while at.piece < pieces && lines.len() < self.rows {
                let Some(item) = of.items.get_mut(at.item) else { break };
                let id = item.id;
                let chrome = chrome(item, at.piece);
                let all = item.lines(at.piece, &self.frame);
                let hits = query.as_ref().map(|query| search::hits(all, query, &chrome)).unwrap_or_default();
                let room = self.rows - lines.len();
                let current = shown.filter(|(block, piece, _)| (*block, *piece) == (id, at.piece)).map(|(.., nth)| nth);
                for (number, line) in all.iter().enumerate().skip(at.line).take(room) {
                    let mut line = search::marked(line, number, &hits, current, self.frame.theme);
                    if margin > 0 {
                        line.spans.insert(0, if selected { bar.clone() } else { Span::raw(" ") });
                    }
                    lines.push(line);
                }
                let shown_to = (at.line + room).min(all.len());
                at = if shown_to < all.len() {
                    At { line: shown_to, ..at }
                } else {
                    At { piece: at.piece + 1, line: 0, ..at }
                };
            }
            if at.piece >= pieces {
                at = At { item: at.item + 1, piece: 0, line: 0 };
            }
        }
        let below = if follow { 0 } else { self.guess_below(of, at) };
        Window { lines, below, above: self.guess_above(of, top) }
    }

    fn guess_below(&self, of: &mut Transcript, at: At) -> usize {
        if at.item >= of.items.len() {
            return 0;
        }
        let in_item = match of.items.get_mut(at.item) {
            Some(item) if at.piece < item.pieces() => {
                item.height(at.piece, &self.frame).saturating_sub(at.line) + item.guess_after(at.piece, self.key)
            }
            _ => 0,
        };
        in_item + of.items.iter().skip(at.item + 1).map(|item| item.guess(self.key)).sum::<usize>()
    }

    fn guess_above(&self, of: &Transcript, top: At) -> usize {
        let before: usize = of.items.iter().take(top.item).map(|item| item.guess(self.key)).sum();
        let in_item = of.items.get(top.item).map_or(0, |item| match top.piece {
            0 => 0,
            piece => item.guess(self.key).saturating_sub(item.guess_after(piece - 1, self.key)),
        });
        before + in_item + top.line
    }
}

/// What of a piece is not what was said.
fn chrome(item: &super::item::Item, piece: usize) -> Chrome {
    if piece == 0 { super::layout::chrome(&item.block) } else { Chrome::None }
}

/// One past the last line.
const fn end(of: &Transcript) -> At {
    At { item: of.items.len(), piece: 0, line: 0 }
}
