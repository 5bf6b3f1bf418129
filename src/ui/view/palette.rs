//! The palette: actions and commands by name, narrowed by what is typed.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::paint::{blank, ends, put, rule};
use crate::ui::action::{ACTIONS, Action, Listed};
use crate::ui::pane::Overlay;
use crate::ui::slash::{self, COMMANDS};
use crate::ui::state::Ui;
use crate::ui::text::{clean_line, width};
use crate::ui::theme::Role;

/// Columns of the box at most.
const WIDTH: u16 = 76;
/// Rows of the box at most.
const HEIGHT: u16 = 18;

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// An action.
    Action(Action),
    /// A command.
    Command(&'static slash::Row),
}

impl Entry {
    fn words(self) -> String {
        match self {
            Self::Action(action) => format!("{} {}", action.row().name.replace('_', " "), action.row().description),
            Self::Command(row) => format!("/{} {}", row.word, row.description),
        }
    }
}

/// The rows that match, the best first.
pub fn entries(query: &str) -> Vec<Entry> {
    // A command that an action does as well is listed once, with its key.
    let doubled = |row: &&slash::Row| ACTIONS.iter().any(|of| of.listed == Listed::Palette && of.name == row.word);
    let commands = COMMANDS.iter().filter(|row| !doubled(row)).map(Entry::Command);
    let actions = ACTIONS.iter().filter(|row| row.listed == Listed::Palette).map(|row| Entry::Action(row.action));
    let all = actions.chain(commands);
    let query = query.trim();
    if query.is_empty() {
        return all.collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut scored: Vec<_> = all
        .filter_map(|entry| {
            let words = entry.words();
            pattern.score(Utf32Str::new(&words, &mut buffer), &mut matcher).map(|score| (score, entry))
        })
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// The selected row.
pub fn chosen(ui: &Ui) -> Option<Entry> {
    let Some(Overlay::Palette { query, selected }) = &ui.overlay else { return None };
    entries(&query.text()).get(*selected).copied()
}

/// Draws the box over the transcript. Answers where the caret stands.
pub fn draw(ui: &Ui, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let Some(Overlay::Palette { query, selected }) = &ui.overlay else { return None };
    let rows = entries(&query.text());
    let box_width = area.width.min(WIDTH);
    let box_height = area.height.min(HEIGHT);
    let frame = Rect {
        x: area.x + (area.width - box_width) / 2,
        y: area.y + (area.height - box_height) / 3,
        width: box_width,
        height: box_height,
    };
    blank(buffer, frame);
    let room = usize::from(frame.width);
    let border = ui.theme.style(Role::Focus);
    let text = ui.theme.style(Role::Text);
    let dim = ui.theme.style(Role::Dim);
    let title = vec![Span::styled("palette", ui.theme.style(Role::Heading))];
    let count = vec![Span::styled(format!("{} of {}", (selected + 1).min(rows.len()), rows.len()), dim)];
    let typed = clean_line(&query.text());
    let prompt = vec![Span::styled(" › ", ui.theme.style(Role::Key)), Span::styled(typed, text)];
    for side in [frame.left(), frame.right().saturating_sub(1)] {
        super::paint::upright(buffer, Rect { x: side, width: 1, ..frame }, border);
    }
    put(buffer, frame, 0, &cornered("┌", rule(title, count, room.saturating_sub(2), border), "┐", border));
    let foot = rule(Vec::new(), Vec::new(), room.saturating_sub(2), border);
    put(buffer, frame, usize::from(frame.height).saturating_sub(1), &cornered("└", foot, "┘", border));
    let inside = Rect { x: frame.x + 1, width: frame.width.saturating_sub(2), ..frame };
    let room = usize::from(inside.width);
    put(buffer, inside, 1, &ends(prompt, Vec::new(), room));
    let list = usize::from(frame.height).saturating_sub(3);
    let first = (selected + 1).saturating_sub(list);
    for (row, entry) in rows.iter().skip(first).take(list).enumerate() {
        let on = first + row == *selected;
        let style = if on { ui.theme.style(Role::Selected) } else { text };
        let (name, description, key) = match entry {
            Entry::Action(action) => {
                (action.row().name.replace('_', " "), action.row().description, ui.keys.all(*action))
            }
            Entry::Command(row) => (format!("/{}", row.word), row.description, String::new()),
        };
        let left = vec![
            Span::styled(if on { " › " } else { "   " }, style),
            Span::styled(format!("{name:<18}"), style),
            Span::styled(description, dim),
        ];
        let right = vec![Span::styled(key, ui.theme.style(Role::Key)), Span::raw(" ")];
        put(buffer, inside, row + 2, &ends(left, right, room));
    }
    let caret = u16::try_from(4 + width(&query.before_caret())).unwrap_or(u16::MAX);
    (frame.height > 1 && frame.width > 0).then(|| Position::new(frame.x + caret.min(frame.width - 1), frame.y + 1))
}

fn cornered(
    left: &'static str,
    middle: Line<'static>,
    right: &'static str,
    style: ratatui::style::Style,
) -> Line<'static> {
    let mut spans = vec![Span::styled(left, style)];
    spans.extend(middle.spans);
    spans.push(Span::styled(right, style));
    Line::from(spans)
}
