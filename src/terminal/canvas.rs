//! What the terminal shows and what it should show, and the shortest bytes from one to the other that are worth finding.
//!
//! Text that moved up or down is moved by the terminal itself, which is what a stream of answers mostly needs: without
//! that, each new line sends every line above it again. Nothing here writes to a terminal.

use std::io::{self, Write};
use std::ops::Range;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{Clear, ClearType as Region};
use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::Color;

use super::cells;

/// Changed cells under which nobody looks for text that moved.
const WORTH_LOOKING: usize = 60;
/// Rows that text is looked for away from where it was.
const FURTHEST: usize = 10;
/// Cells that a move must save: about what its own bytes cost.
const WORTH_MOVING: usize = 20;
/// Unchanged cells that are cheaper to send again than to jump over.
const GAP: u16 = 4;

/// Where a canvas has its size from.
pub type SizeOf = Box<dyn Fn() -> io::Result<Size> + Send>;

/// A cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    /// Nobody knows.
    Unknown,
    /// It does not show.
    Hidden,
    /// It shows here.
    At(Position),
}

/// The terminal as ratatui's backend: it takes a whole frame in and gives bytes out.
pub struct Canvas {
    size: SizeOf,
    shown: Buffer,
    wanted: Buffer,
    /// What `shown` says is no longer so.
    unknown: bool,
    cursor: Position,
    cursor_visible: bool,
    /// The terminal's own.
    cursor_shown: Cursor,
}

impl Canvas {
    /// A canvas that knows nothing of what the terminal shows.
    ///
    /// # Errors
    /// The terminal does not say its size.
    pub fn new(size: SizeOf) -> io::Result<Self> {
        let area = Rect::from(size()?);
        Ok(Self {
            size,
            shown: Buffer::empty(area),
            wanted: Buffer::empty(area),
            unknown: true,
            cursor: Position::ORIGIN,
            cursor_visible: false,
            cursor_shown: Cursor::Unknown,
        })
    }

    /// Takes a frame as it should be shown.
    pub fn want(&mut self, frame: Buffer) {
        self.wanted = frame;
        let width = usize::from(self.wanted.area.width).max(1);
        for row in self.wanted.content.chunks_mut(width) {
            let mut cells = row.iter_mut();
            while let Some(cell) = cells.next() {
                // What a wide character leaves behind differs between terminals, so a covered cell equals no other: its
                // colour is one that nothing else has, and on a blank nobody sees it.
                for _ in 1..cell.cell_width() {
                    let Some(covered) = cells.next() else { break };
                    covered.set_symbol(" ").set_style(cell.style()).set_fg(Color::Rgb(0, 0, 1));
                }
            }
        }
    }

    /// Forgets what the terminal shows: the next bytes clear it and draw everything.
    pub fn forget(&mut self) {
        self.unknown = true;
        self.cursor_shown = Cursor::Unknown;
    }

    /// Adds the bytes after which the terminal shows what is wanted to `out`; none when it does already.
    ///
    /// # Errors
    /// None: `out` is memory. The signature is that of what is called.
    pub fn emit(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let before = out.len();
        if std::mem::take(&mut self.unknown) {
            queue!(out, SetAttribute(Attribute::Reset), Clear(Region::All))?;
            self.shown = Buffer::empty(self.wanted.area);
        }
        if let Some(shift) = Shift::find(&self.shown, &self.wanted) {
            shift.write(out)?;
            shift.apply(&mut self.shown);
        }
        let changed = self.shown.diff(&self.wanted);
        if !changed.is_empty() {
            let filled = fill_gaps(&self.wanted, changed);
            cells::write(out, filled);
            self.shown.clone_from(&self.wanted);
        }
        let cursor = if self.cursor_visible { Cursor::At(self.cursor) } else { Cursor::Hidden };
        let moved = out.len() > before;
        match (cursor, self.cursor_shown) {
            (Cursor::At(at), Cursor::At(was)) if at == was && !moved => {}
            (Cursor::At(at), Cursor::At(_)) => queue!(out, MoveTo(at.x, at.y))?,
            (Cursor::At(at), Cursor::Hidden | Cursor::Unknown) => queue!(out, MoveTo(at.x, at.y), Show)?,
            (Cursor::Hidden | Cursor::Unknown, Cursor::Hidden) => {}
            (Cursor::Hidden | Cursor::Unknown, _) => queue!(out, Hide)?,
        }
        self.cursor_shown = cursor;
        Ok(())
    }
}

impl Backend for Canvas {
    type Error = io::Error;

    /// Not taken from: [`Canvas::want`] has the whole frame. ratatui's own changes leave out a cell that a wide
    /// character uncovers when another one takes its place half.
    fn draw<'a, I>(&mut self, _content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.cursor_visible = false;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.cursor_visible = true;
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.cursor = position.into();
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    /// ratatui clears regions of a full screen only when it has a new size: whole, then.
    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        self.forget();
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        (self.size)()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    /// Bytes leave in [`Canvas::emit`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The changed cells, and those between them that cost less than a jump.
fn fill_gaps<'a>(wanted: &'a Buffer, changed: Vec<(u16, u16, &'a Cell)>) -> Vec<(u16, u16, &'a Cell)> {
    // Bytes of such cells are known, and none of them is covered by a wide one.
    let plain = |cell: &Cell| cell.symbol().len() == 1;
    let mut filled: Vec<(u16, u16, &Cell)> = Vec::with_capacity(changed.len() * 2);
    for (x, y, cell) in changed {
        if let Some(&(last_x, last_y, last)) = filled.last()
            && last_y == y
            && x.saturating_sub(last_x) <= GAP + 1
            && plain(last)
        {
            let gap = (last_x + 1..x).filter_map(|x| Some((x, y, wanted.cell((x, y))?)));
            if gap.clone().all(|(_, _, between)| {
                plain(between) && (between.fg, between.bg, between.modifier) == (last.fg, last.bg, last.modifier)
            }) {
                filled.extend(gap);
            }
        }
        filled.push((x, y, cell));
    }
    filled
}

/// Rows that the terminal moves by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shift {
    /// The rows that take part; those that nothing moves into become blank.
    rows: Range<usize>,
    /// How far.
    by: usize,
    /// Which way.
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Shift {
    /// The move after which the fewest cells differ, if one saves enough.
    fn find(shown: &Buffer, wanted: &Buffer) -> Option<Self> {
        let width = usize::from(shown.area.width);
        if shown.area != wanted.area || width == 0 {
            return None;
        }
        let old: Vec<&[Cell]> = shown.content.chunks_exact(width).collect();
        let new: Vec<&[Cell]> = wanted.content.chunks_exact(width).collect();
        let now: Vec<usize> = old.iter().zip(&new).map(|(old, new)| differing(old, new)).collect();
        if now.iter().sum::<usize>() < WORTH_LOOKING {
            return None;
        }
        let blank = Cell::default();
        let written: Vec<usize> = new.iter().map(|row| row.iter().filter(|cell| **cell != blank).count()).collect();
        let height = old.len();
        let mut best: Option<(isize, Self)> = None;
        for by in 1..=FURTHEST.min(height.saturating_sub(1)) {
            for way in [Way::Up, Way::Down] {
                let source = |row: usize| match way {
                    Way::Up => Some(row + by).filter(|source| *source < height),
                    Way::Down => row.checked_sub(by),
                };
                let gain = |row: usize| -> isize {
                    let after = source(row).and_then(|source| Some(differing(old.get(source)?, new.get(row)?)));
                    after.map_or(0, |after| now[row].cast_signed() - after.cast_signed())
                };
                let Some((run, moved)) = best_run(height, |row| source(row).map(|_| gain(row))) else { continue };
                // Where the text comes from and nothing follows it becomes blank.
                let (rows, emptied) = match way {
                    Way::Up => (run.start..run.end + by, run.end..run.end + by),
                    Way::Down => (run.start - by..run.end, run.start - by..run.start),
                };
                let left: isize = emptied.map(|row| now[row].cast_signed() - written[row].cast_signed()).sum();
                let total = moved + left;
                if total >= WORTH_MOVING.cast_signed() && best.as_ref().is_none_or(|(most, _)| total > *most) {
                    best = Some((total, Self { rows, by, way }));
                }
            }
        }
        best.map(|(_, shift)| shift)
    }

    /// Deleting or inserting lines inside margins: what terminals can since the seventies.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (top, bottom) = (self.rows.start + 1, self.rows.end);
        let command = match self.way {
            Way::Up => 'M',
            Way::Down => 'L',
        };
        // Plain attributes first: emptied lines take the background in force. Unset margins afterwards.
        queue!(
            out,
            SetAttribute(Attribute::Reset),
            Print(format_args!("\x1b[{top};{bottom}r\x1b[{top};1H\x1b[{}{command}\x1b[r", self.by)),
        )
    }

    fn apply(&self, shown: &mut Buffer) {
        let width = usize::from(shown.area.width);
        let Some(cells) = shown.content.get_mut(self.rows.start * width..self.rows.end * width) else { return };
        let moved = self.by * width;
        let emptied = match self.way {
            Way::Up => {
                cells.rotate_left(moved);
                cells.len() - moved..cells.len()
            }
            Way::Down => {
                cells.rotate_right(moved);
                0..moved
            }
        };
        cells[emptied].fill(Cell::default());
    }
}

fn differing(old: &[Cell], new: &[Cell]) -> usize {
    old.iter().zip(new).filter(|(old, new)| old != new).count()
}

/// The consecutive rows with the greatest sum, and the sum, if one is over 0. Rows without a value part runs.
fn best_run(height: usize, value: impl Fn(usize) -> Option<isize>) -> Option<(Range<usize>, isize)> {
    let mut best: Option<(Range<usize>, isize)> = None;
    let (mut start, mut sum) = (0, 0);
    for row in 0..height {
        match value(row) {
            Some(value) if sum > 0 => sum += value,
            Some(value) => (start, sum) = (row, value),
            None => {
                sum = 0;
                continue;
            }
        }
        if sum > 0 && best.as_ref().is_none_or(|(_, most)| sum > *most) {
            best = Some((start..row + 1, sum));
        }
    }
    best
}

#[cfg(test)]
#[path = "canvas_tests.rs"]
mod tests;
