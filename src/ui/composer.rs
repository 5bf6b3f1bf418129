//! The composer: the draft with undo, soft wrap and folded pastes, what was sent before, and completion of commands.
//! A draft is never lost: whatever clears it puts it into history first.

use ratatui::layout::Position;
use tui_textarea::{AtomicRange, CursorMove, CursorRenderMode, Input, Key as AreaKey, TextArea, WrapMode};

use super::action::Action;
use super::message::{Key, KeyCode};
use super::slash;
use super::view::paint::{bytes, counted};

/// A paste of more lines than this is folded to a chip.
pub const PASTE_FOLD_LINES: usize = 10;
/// So is one of more bytes, however few its lines.
pub const PASTE_FOLD_BYTES: usize = 4_000;
/// Rows the composer grows to at most.
pub const MAX_ROWS: u16 = 10;
/// Messages kept in history.
const HISTORY: usize = 500;
/// Bytes of one paste that are kept; what was cut is said by the caller.
const PASTE_BYTES: usize = 4 << 20;

/// A folded paste.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Paste {
    chip: String,
    text: String,
}

/// A search through history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySearch {
    /// What is looked for.
    pub query: String,
    /// The entry that matches, counted from the newest.
    at: Option<usize>,
    draft: Draft,
}

/// A draft put aside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Draft {
    lines: Vec<String>,
    pastes: Vec<Paste>,
}

/// How a paste went in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pasted {
    /// Whole.
    Whole,
    /// Cut at this many bytes.
    Cut(usize),
}

/// The composer.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    pastes: Vec<Paste>,
    pasted: usize,
    history: Vec<String>,
    browsing: Option<(usize, Draft)>,
    search: Option<HistorySearch>,
    selected: usize,
    dismissed: bool,
}

impl Default for Composer {
    fn default() -> Self {
        let mut area = TextArea::default();
        area.set_wrap_mode(WrapMode::Word);
        area.set_cursor_render_mode(CursorRenderMode::Hidden);
        area.set_cursor_line_style(ratatui::style::Style::new());
        area.set_undo_coalescing(true);
        area.set_max_histories(1000);
        area.set_tab_length(4);
        Self {
            area,
            pastes: Vec::new(),
            pasted: 0,
            history: Vec::new(),
            browsing: None,
            search: None,
            selected: 0,
            dismissed: false,
        }
    }
}

impl Composer {
    /// Nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// The draft as shown: folded pastes are chips.
    pub fn shown(&self) -> String {
        self.area.lines().join("\n")
    }

    /// The draft as it would be sent: chips are replaced by what was pasted.
    pub fn text(&self) -> String {
        expand(&self.shown(), &self.pastes)
    }

    /// What the view draws.
    pub fn area(&self) -> &TextArea<'static> {
        &self.area
    }

    /// Rows that the draft needs at `width` columns, [`MAX_ROWS`] at most.
    pub fn rows(&mut self, width: u16) -> u16 {
        self.area.measure(width.max(1)).content_rows.clamp(1, MAX_ROWS)
    }

    /// Messages sent and drafts cleared, oldest first.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Adds to history; the same message twice in a row is kept once.
    pub fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || self.history.last().is_some_and(|last| last == text) {
            return;
        }
        if self.history.len() >= HISTORY {
            self.history.remove(0);
        }
        self.history.push(text.to_owned());
    }

    /// Takes the draft to send it: it goes to history and the composer is empty.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.remember(&text);
        self.reset();
        text
    }

    /// Clears the draft into history.
    pub fn clear(&mut self) {
        drop(self.take());
    }

    fn reset(&mut self) {
        self.area.set_lines(vec![String::new()], (0, 0));
        self.pastes.clear();
        self.pasted = 0;
        self.browsing = None;
        self.search = None;
        self.edited();
    }

    /// Puts `text` in place of the draft, which can be brought back by undo; folded pastes it still names stay folded.
    pub fn replace(&mut self, text: &str) {
        self.area.select_all();
        self.area.delete_char();
        self.area.cancel_selection();
        self.area.insert_str(printable(text));
        self.edited();
    }

    /// Writes `text` for the person to look over and send: into an empty composer as it is, else as a line of its own.
    pub fn suggest(&mut self, text: &str) {
        if !self.is_empty() {
            self.area.move_cursor(CursorMove::Bottom);
            self.area.move_cursor(CursorMove::End);
            self.area.insert_newline();
        }
        self.area.insert_str(printable(text));
        self.edited();
    }

    /// Writes the beginning of a command, alone: a draft that stands there goes to history.
    pub fn suggest_command(&mut self, word: &str) {
        self.clear();
        self.suggest(&format!("/{word} "));
    }

    /// Pastes: folded to a chip over [`PASTE_FOLD_LINES`] lines or [`PASTE_FOLD_BYTES`] bytes.
    pub fn paste(&mut self, text: &str) -> Pasted {
        self.accept_search();
        let (text, outcome) = cut(text);
        let text = printable(text);
        let lines = text.lines().count();
        if lines > PASTE_FOLD_LINES || text.len() > PASTE_FOLD_BYTES {
            self.pasted += 1;
            let size = if lines > PASTE_FOLD_LINES { counted(lines, "line") } else { bytes(text.len()) };
            let chip = format!("[paste {}: {size}]", self.pasted);
            self.area.insert_str(&chip);
            self.pastes.push(Paste { chip, text });
        } else {
            self.area.insert_str(text);
        }
        self.edited();
        outcome
    }

    /// What an editor gave back takes the draft's place.
    pub fn edited_outside(&mut self, text: &str) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if text != self.text() {
            self.pastes.clear();
            self.replace(text);
        }
    }

    /// Types a key that no action is bound to. Whether it did anything.
    pub fn key(&mut self, key: Key) -> bool {
        let modifiers = key.modifiers;
        let code = match key.code {
            KeyCode::Char(character) if !modifiers.ctrl && !modifiers.alt && !character.is_control() => {
                AreaKey::Char(character)
            }
            KeyCode::Backspace => AreaKey::Backspace,
            KeyCode::Delete => AreaKey::Delete,
            KeyCode::Left => return self.moved(CursorMove::Back),
            KeyCode::Right => return self.moved(CursorMove::Forward),
            KeyCode::Up => return self.moved(CursorMove::Up),
            KeyCode::Down => return self.moved(CursorMove::Down),
            KeyCode::Home => return self.moved(CursorMove::Head),
            KeyCode::End => return self.moved(CursorMove::End),
            _ => return false,
        };
        self.area.input_without_shortcuts(Input { key: code, ctrl: false, alt: false, shift: false });
        self.edited();
        true
    }

    fn moved(&mut self, movement: CursorMove) -> bool {
        let before = self.area.cursor();
        self.area.move_cursor(movement);
        self.area.cursor() != before
    }

    /// Puts the caret where the mouse pressed, as of the last frame.
    pub fn click(&mut self, column: u16, row: u16) {
        if let Some((row, column)) = self.area.cursor_at_position(Position::new(column, row)) {
            let bounded = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
            self.area.move_cursor(CursorMove::Jump(bounded(row), bounded(column)));
        }
    }

    /// Carries out an action on the draft's text. Whether it was one.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Newline => self.area.insert_newline(),
            Action::Undo => _ = self.area.undo(),
            Action::Redo => _ = self.area.redo(),
            Action::LineStart => self.area.move_cursor(CursorMove::Head),
            Action::LineEnd => self.area.move_cursor(CursorMove::End),
            Action::WordLeft => self.area.move_cursor(CursorMove::WordBack),
            Action::WordRight => self.area.move_cursor(CursorMove::WordForward),
            Action::DeleteWord => _ = self.area.delete_word(),
            Action::DeleteNextWord => _ = self.area.delete_next_word(),
            Action::DeleteToStart => _ = self.area.delete_line_by_head(),
            Action::DeleteToEnd => _ = self.area.delete_line_by_end(),
            Action::HistoryPrevious => self.up(),
            Action::HistoryNext => self.down(),
            _ => return false,
        }
        if !matches!(action, Action::HistoryPrevious | Action::HistoryNext) {
            self.edited();
        }
        true
    }

    fn up(&mut self) {
        if self.choose(-1) || self.moved(CursorMove::Up) {
            return;
        }
        let older = self.browsing.as_ref().map_or(0, |(at, _)| at + 1);
        self.browse(older);
    }

    fn down(&mut self) {
        if self.choose(1) || self.moved(CursorMove::Down) {
            return;
        }
        match self.browsing.take() {
            Some((0, draft)) => self.restore(draft),
            Some((at, draft)) => {
                self.browsing = Some((at, draft));
                self.browse(at - 1);
            }
            None => {}
        }
    }

    /// Shows the entry of history that is `at` before the newest; the draft is put aside the first time.
    fn browse(&mut self, at: usize) {
        let Some(entry) = self.history.iter().rev().nth(at).cloned() else { return };
        let draft = self.browsing.take().map_or_else(|| self.draft(), |(_, draft)| draft);
        self.replace(&entry);
        self.dismissed = true;
        self.browsing = Some((at, draft));
    }

    fn draft(&self) -> Draft {
        Draft { lines: self.area.lines().to_vec(), pastes: self.pastes.clone() }
    }

    fn restore(&mut self, draft: Draft) {
        self.replace(&draft.lines.join("\n"));
        self.pastes = draft.pastes;
        self.edited();
    }

    /// Begins a search of history, or goes on to the next older match.
    pub fn search_history(&mut self) {
        match &mut self.search {
            None => {
                let draft = self.draft();
                self.search = Some(HistorySearch { query: String::new(), at: None, draft });
                self.find_from(0);
            }
            Some(search) => {
                let from = search.at.map_or(0, |at| at + 1);
                self.find_from(from);
            }
        }
    }

    /// The search of history, while there is one.
    pub fn history_search(&self) -> Option<&HistorySearch> {
        self.search.as_ref()
    }

    /// The entry that the search of history found.
    pub fn history_match(&self) -> Option<&str> {
        let at = self.search.as_ref()?.at?;
        self.history.iter().rev().nth(at).map(String::as_str)
    }

    /// Types into the search of history. Whether the key was taken.
    pub fn search_key(&mut self, key: Key) -> bool {
        let Some(search) = &mut self.search else { return false };
        match (key.code, key.typed()) {
            (_, Some(character)) => search.query.push(character),
            (KeyCode::Backspace, _) => _ = search.query.pop(),
            _ => return false,
        }
        self.find_from(0);
        true
    }

    fn find_from(&mut self, from: usize) {
        let Some(search) = &mut self.search else { return };
        let query = search.query.to_lowercase();
        let found = self
            .history
            .iter()
            .rev()
            .enumerate()
            .skip(from)
            .find(|(_, entry)| entry.to_lowercase().contains(&query))
            .map(|(at, _)| at);
        // Past the oldest match the last one stays; a new query that matches nothing shows nothing.
        if found.is_some() || from == 0 {
            search.at = found;
        }
    }

    /// Ends the search with its match as the draft; the draft before it can be undone to.
    pub fn accept_search(&mut self) {
        let found = self.history_match().map(str::to_owned);
        if self.search.take().is_some()
            && let Some(found) = found
        {
            self.replace(&found);
            self.dismissed = true;
        }
    }

    /// Ends the search with the draft as it was. Whether there was a search.
    pub fn cancel_search(&mut self) -> bool {
        self.search.take().is_some()
    }

    /// Commands that complete what is typed, and which is selected; empty while there is nothing to complete.
    pub fn completions(&self) -> (Vec<&'static slash::Row>, usize) {
        if self.dismissed || self.search.is_some() {
            return (Vec::new(), 0);
        }
        let rows = slash::completions(&self.shown());
        let selected = self.selected.min(rows.len().saturating_sub(1));
        (rows, selected)
    }

    /// Moves the selection of the completion. Whether there is one.
    fn choose(&mut self, by: isize) -> bool {
        let (rows, selected) = self.completions();
        if rows.is_empty() {
            return false;
        }
        self.selected = selected.saturating_add_signed(by).min(rows.len() - 1);
        true
    }

    /// Writes the selected command out. `Some` when there was one to write.
    pub fn complete(&mut self) -> Option<&'static slash::Row> {
        let (rows, selected) = self.completions();
        let row = *rows.get(selected)?;
        let space = if row.argument == slash::Argument::None { "" } else { " " };
        self.replace(&format!("/{}{space}", row.word));
        self.dismissed = true;
        Some(row)
    }

    /// Closes the completion. Whether it was open.
    pub fn dismiss(&mut self) -> bool {
        let open = !self.completions().0.is_empty();
        self.dismissed |= open;
        open
    }

    /// After every edit: chips are single units to the caret, and completion starts over.
    fn edited(&mut self) {
        self.browsing = None;
        self.selected = 0;
        self.dismissed = false;
        let mut ranges = Vec::new();
        for (row, line) in self.area.lines().iter().enumerate() {
            for paste in &self.pastes {
                for (byte, chip) in line.match_indices(&paste.chip) {
                    let start_col = line.get(..byte).map_or(0, |before| before.chars().count());
                    ranges.push(AtomicRange { row, start_col, end_col: start_col + chip.chars().count() });
                }
            }
        }
        self.area.set_atomic_ranges(ranges);
    }
}

/// Text without characters that a draft must not hold: line ends as `\n`, no other control character but tabs.
fn printable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|character| if character == '\r' { '\n' } else { character })
        .filter(|character| matches!(character, '\n' | '\t') || !character.is_control())
        .collect()
}

fn cut(text: &str) -> (&str, Pasted) {
    if text.len() <= PASTE_BYTES {
        return (text, Pasted::Whole);
    }
    let end = (0..=PASTE_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    (text.get(..end).unwrap_or(""), Pasted::Cut(end))
}

fn expand(shown: &str, pastes: &[Paste]) -> String {
    let mut text = String::with_capacity(shown.len());
    let mut rest = shown;
    // From left to right, so that a chip inside a pasted text is left alone.
    while let Some((at, paste)) =
        pastes.iter().filter_map(|paste| rest.find(&paste.chip).map(|at| (at, paste))).min_by_key(|(at, _)| *at)
    {
        text.push_str(rest.get(..at).unwrap_or(""));
        text.push_str(&paste.text);
        rest = rest.get(at + paste.chip.len()..).unwrap_or("");
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(composer: &mut Composer, text: &str) {
        for character in text.chars() {
            composer.key(Key::plain(KeyCode::Char(character)));
        }
    }

    fn lines(count: usize) -> String {
        (0..count).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_long_paste_is_a_chip_and_is_sent_whole() {
        let mut composer = Composer::default();
        typed(&mut composer, "see ");
        composer.paste(&lines(213));
        typed(&mut composer, " and ");
        composer.paste("two\nlines");
        assert_eq!(composer.shown(), "see [paste 1: 213 lines] and two\nlines");
        let sent = composer.take();
        assert_eq!(sent, format!("see {} and two\nlines", lines(213)));
        assert!(composer.is_empty());
        assert_eq!(composer.history(), [sent]);
    }

    #[test]
    fn a_chip_is_deleted_as_one_and_comes_back_by_undo() {
        let mut composer = Composer::default();
        composer.paste(&lines(11));
        composer.key(Key::plain(KeyCode::Backspace));
        assert_eq!(composer.shown(), "");
        composer.act(Action::Undo);
        assert_eq!(composer.text(), lines(11));
    }

    #[test]
    fn control_characters_never_enter_a_draft() {
        let mut composer = Composer::default();
        composer.paste("a\u{1b}[31mb\rc\r\nd\te\u{0}");
        assert_eq!(composer.text(), "a[31mb\nc\nd\te");
    }

    #[test]
    fn history_is_browsed_and_the_draft_comes_back() {
        let mut composer = Composer::default();
        composer.remember("one");
        composer.remember("two");
        typed(&mut composer, "draft");
        composer.act(Action::HistoryPrevious);
        assert_eq!(composer.text(), "two");
        composer.act(Action::HistoryPrevious);
        assert_eq!(composer.text(), "one");
        composer.act(Action::HistoryPrevious);
        assert_eq!(composer.text(), "one");
        composer.act(Action::HistoryNext);
        composer.act(Action::HistoryNext);
        assert_eq!(composer.text(), "draft");
    }

    #[test]
    fn history_search_finds_older_matches_and_gives_the_draft_back() {
        let mut composer = Composer::default();
        for entry in ["build it", "test it", "build that"] {
            composer.remember(entry);
        }
        typed(&mut composer, "draft");
        composer.search_history();
        for character in "build".chars() {
            assert!(composer.search_key(Key::plain(KeyCode::Char(character))));
        }
        assert_eq!(composer.history_match(), Some("build that"));
        composer.search_history();
        assert_eq!(composer.history_match(), Some("build it"));
        composer.search_history();
        assert_eq!(composer.history_match(), Some("build it"));
        assert!(composer.cancel_search());
        assert_eq!(composer.text(), "draft");
        composer.search_history();
        composer.accept_search();
        assert_eq!(composer.text(), "build that");
        composer.act(Action::Undo);
        composer.act(Action::Undo);
        assert_eq!(composer.text(), "draft");
    }

    #[test]
    fn clearing_a_draft_puts_it_into_history() {
        let mut composer = Composer::default();
        typed(&mut composer, "precious");
        composer.clear();
        assert!(composer.is_empty());
        assert_eq!(composer.history(), ["precious"]);
    }

    #[test]
    fn a_command_is_completed_from_its_beginning() {
        let mut composer = Composer::default();
        typed(&mut composer, "/t");
        assert_eq!(composer.completions().0.len(), 2);
        composer.act(Action::HistoryNext);
        assert_eq!(composer.complete().unwrap().word, "theme");
        assert_eq!(composer.text(), "/theme ");
        assert!(composer.completions().0.is_empty());
    }

    #[test]
    fn a_path_is_no_command() {
        let mut composer = Composer::default();
        typed(&mut composer, "/tmp/x");
        assert!(composer.completions().0.is_empty());
    }
}
