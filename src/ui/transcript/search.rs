//! Search in a transcript: which blocks hold the words, the way from hit to hit, and the marks on the lines in view.
//!
//! Case is ignored unless the query has a capital; runs of white space count as one space, so that a wrapped line
//! matches. Folded text is searched too, and opened when a hit in it is visited.

use ratatui::text::{Line, Span};

use super::window::Move;
use super::{Block, BlockId, Fold, Transcript};
use crate::ui::text::{clean_line, markdown};
use crate::ui::theme::{Role, Theme};

/// The state of a search, for a line such as `3 of 17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Which hit it stands on, from 1; 0 where there is none.
    pub current: usize,
    /// How many there are.
    pub total: usize,
}

/// The words looked for, normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    text: String,
    exact: bool,
}

impl Query {
    fn new(text: &str) -> Self {
        let text = clean_line(text);
        let exact = text.chars().any(char::is_uppercase);
        let mut flat = Flat::default();
        flat.add(&text, exact, 0);
        Self { text: flat.text.trim_end().to_owned(), exact }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn count(&self, text: &str) -> usize {
        let mut flat = Flat::default();
        flat.add(text, self.exact, 0);
        flat.text.matches(&self.text).count()
    }
}

#[derive(Debug)]
pub(super) struct Search {
    pub query: Query,
    /// A hit's block and its place among the block's hits.
    hits: Vec<(BlockId, usize)>,
    current: Option<usize>,
    /// What the view stands on: block, piece, hit within the piece.
    pub shown: Option<(BlockId, usize, usize)>,
}

/// What stands at the beginning of a block's lines and was never said: it is not searched.
pub(super) enum Chrome {
    None,
    /// A label, in the first line that is not empty.
    Label(String),
    /// The whole first line.
    Line,
}

/// A hit on laid-out lines: the line it begins on and the bytes of every line that it covers.
pub(super) struct Hit {
    pub line: usize,
    parts: Vec<(usize, std::ops::Range<usize>)>,
}

impl Transcript {
    /// Looks for `query` from the view's end backwards, and stands on the nearest hit. An empty query ends the search.
    pub fn search(&mut self, query: &str) -> Found {
        let query = Query::new(query);
        if query.is_empty() {
            self.search = None;
            return Found::default();
        }
        let hits = self.hits(&query);
        let current = hits.len().checked_sub(1);
        self.search = Some(Search { query, hits, current, shown: None });
        self.visit()
    }

    /// To the next hit, around the end.
    pub fn search_next(&mut self) -> Found {
        self.step(|current, total| (current + 1) % total)
    }

    /// To the previous hit, around the beginning.
    pub fn search_previous(&mut self) -> Found {
        self.step(|current, total| (current + total - 1) % total)
    }

    /// Ends the search; the view stays.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    /// Where the search stands; `None` without one.
    pub fn found(&self) -> Option<Found> {
        self.search
            .as_ref()
            .map(|search| Found { current: search.current.map_or(0, |current| current + 1), total: search.hits.len() })
    }

    fn hits(&self, query: &Query) -> Vec<(BlockId, usize)> {
        let count = |block: &Block| match block {
            Block::Assistant { text, .. } => query.count(&markdown::plain(text)),
            other => query.count(&super::layout::plain(other)),
        };
        self.items.iter().flat_map(|item| (0..count(&item.block)).map(|nth| (item.id, nth))).collect()
    }

    /// What was said since is looked through as well.
    fn step(&mut self, to: impl Fn(usize, usize) -> usize) -> Found {
        let Some(search) = &self.search else { return Found::default() };
        let before = search.current.and_then(|current| search.hits.get(current).copied());
        let hits = self.hits(&search.query.clone());
        let Some(search) = &mut self.search else { return Found::default() };
        let place = before.and_then(|hit| hits.iter().position(|other| *other == hit));
        search.current = match (place, hits.len()) {
            (_, 0) => None,
            (Some(place), total) => Some(to(place, total)),
            (None, total) => Some(total - 1),
        };
        search.hits = hits;
        self.visit()
    }

    fn visit(&mut self) -> Found {
        let hit = self.search.as_ref().and_then(|search| search.hits.get(search.current?).copied());
        if let Some((block, nth)) = hit {
            if self.fold(block) == Some(Fold::Folded)
                && let Some(item) = self.item_mut(block)
            {
                item.toggle();
            }
            self.queue(Move::Hit(block, nth));
        }
        self.found().unwrap_or_default()
    }
}

/// Text with its case and white space evened out, and where every byte of it came from.
#[derive(Default)]
struct Flat {
    text: String,
    /// For each byte of `text`: line and byte there.
    from: Vec<(u32, u32)>,
    spaced: bool,
}

impl Flat {
    fn add(&mut self, text: &str, exact: bool, line: usize) {
        for (start, character) in text.char_indices() {
            // Bars of code and quotations, and between the columns of a table, are like the ends of lines.
            if character.is_whitespace() || character == '│' {
                self.space(line, start);
                continue;
            }
            let before = self.text.len();
            if exact || character.is_ascii_lowercase() {
                self.text.push(character);
            } else {
                self.text.extend(character.to_lowercase());
            }
            let place = (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(start).unwrap_or(u32::MAX));
            self.from.extend(std::iter::repeat_n(place, self.text.len() - before));
            self.spaced = false;
        }
    }

    fn space(&mut self, line: usize, start: usize) {
        if !self.spaced && !self.text.is_empty() {
            self.text.push(' ');
            self.from.push((u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(start).unwrap_or(u32::MAX)));
        }
        self.spaced = true;
    }
}

/// Every hit of `query` on laid-out `lines`, also across their ends.
pub(super) fn hits(lines: &[Line<'_>], query: &Query, chrome: &Chrome) -> Vec<Hit> {
    let mut flat = Flat::default();
    let mut chrome = Some(chrome);
    for (number, line) in lines.iter().enumerate() {
        let mut text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        if !text.trim().is_empty() {
            let start = text.len() - text.trim_start().len();
            let end = match chrome.take() {
                Some(Chrome::Label(label)) if text[start..].starts_with(label.as_str()) => start + label.len(),
                Some(Chrome::Line) => text.len(),
                _ => 0,
            };
            // Blanked, so that every byte keeps its place.
            text.replace_range(..end, &" ".repeat(end));
        }
        flat.add(&text, query.exact, number);
        flat.space(number, text.len());
    }
    let mut out = Vec::new();
    for (start, found) in flat.text.match_indices(&query.text) {
        let mut parts: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for &(line, byte) in flat.from.get(start..start + found.len()).unwrap_or_default() {
            let (line, byte) = (line as usize, byte as usize);
            match parts.last_mut() {
                Some((last, range)) if *last == line => range.end = range.end.max(byte + 1),
                _ => parts.push((line, byte..byte + 1)),
            }
        }
        if let Some((line, _)) = parts.first() {
            out.push(Hit { line: *line, parts });
        }
    }
    out
}

/// `line` with its hits styled; the `current` one of its piece differently.
pub(super) fn marked(
    line: &Line<'static>,
    number: usize,
    hits: &[Hit],
    current: Option<usize>,
    theme: &Theme,
) -> Line<'static> {
    let here: Vec<(std::ops::Range<usize>, Role)> = hits
        .iter()
        .enumerate()
        .flat_map(|(nth, hit)| hit.parts.iter().map(move |part| (nth, part)))
        .filter(|(_, (line, _))| *line == number)
        .map(|(nth, (_, range))| (range.clone(), if current == Some(nth) { Role::CurrentMatch } else { Role::Match }))
        .collect();
    if here.is_empty() {
        return line.clone();
    }
    let mut spans = Vec::new();
    let mut offset = 0;
    for span in &line.spans {
        let mut run = String::new();
        let mut style = span.style;
        for (byte, character) in span.content.char_indices() {
            let role = here.iter().find(|(range, _)| range.contains(&(offset + byte))).map(|(_, role)| *role);
            let wanted = role.map_or(span.style, |role| span.style.patch(theme.style(role)));
            if wanted != style && !run.is_empty() {
                spans.push(Span::styled(std::mem::take(&mut run), style));
            }
            style = wanted;
            run.push(character);
        }
        spans.push(Span::styled(run, style));
        offset += span.content.len();
    }
    Line { spans, ..line.clone() }
}
