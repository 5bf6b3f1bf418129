//! The composer with the rule above it, completions, and the line of keys below, which a prompt takes over.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::paint::{bytes, clock, ends, fitted, put, rule};
use crate::ui::action::Action;
use crate::ui::layout::draft_width;
use crate::ui::pane::{Overlay, PaneKind, Prompt};
use crate::ui::slash::Argument;
use crate::ui::state::{Focus, Ui};
use crate::ui::text::{clean_line, truncate, width};
use crate::ui::theme::Role;

/// The rule above the composer: what runs, since when, or when it is tried again.
pub(super) fn draw_rule(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    let border = ui.theme.style(if ui.focus == Focus::Composer { Role::Focus } else { Role::Border });
    let mut left = Vec::new();
    let mut right = Vec::new();
    if let Some(turn) = &ui.turn {
        if let Some(retry) = turn.retry.as_ref().filter(|retry| retry.until > now) {
            let seconds = (retry.until - now + 999) / 1_000;
            let text = format!("try {} in {seconds} s: {}", retry.attempt, retry.message);
            left.push(Span::styled(text, ui.theme.style(Role::Warning)));
            let stop = format!("{} stops", ui.keys.first(Action::Close));
            right.push(Span::styled(stop, ui.theme.style(Role::Dim)));
        } else {
            let word = if turn.stopping { "stopping" } else { "running" };
            let call = if turn.call > 0 { format!(" · call {}", turn.call) } else { String::new() };
            let writing = match &turn.writing {
                Some((tool, size)) => format!(" · writing {tool}, {}", bytes(*size)),
                None => String::new(),
            };
            let text = format!("{word} {}{call}{writing}", clock(now - turn.since));
            left.push(Span::styled(text, ui.theme.style(Role::Text)));
        }
    }
    put(buffer, area, 0, &rule(left, right, usize::from(area.width), border));
}

/// The draft. Answers where the caret stands.
pub(super) fn draw(ui: &Ui, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let prompt = ui.draft_prompt();
    let wide = u16::try_from(width(&prompt)).unwrap_or(u16::MAX).min(area.width);
    let searching = ui.composer.history_search();
    let role = if ui.focus == Focus::Composer { Role::User } else { Role::Dim };
    buffer.set_line(area.x, area.y, &Line::styled(prompt, ui.theme.style(role)), area.width);
    let draft =
        Rect { x: area.x + wide, width: draft_width(area.width, wide).min(area.width.saturating_sub(wide)), ..area };
    if draft.is_empty() {
        return None;
    }
    if let Some(search) = searching {
        let query = clean_line(&search.query);
        let found = match ui.composer.history_match() {
            Some(found) => Span::styled(clean_line(found), ui.theme.style(Role::Text)),
            None => Span::styled("nothing sent before matches", ui.theme.style(Role::Dim)),
        };
        let caret = u16::try_from(width(&query)).unwrap_or(u16::MAX).min(draft.width);
        let line = vec![Span::styled(query, ui.theme.style(Role::Match)), Span::raw("   "), found];
        put(buffer, draft, 0, &Line::from(fitted(line, usize::from(draft.width))));
        return Some(Position::new(draft.x + caret, draft.y));
    }
    ui.composer.area().render(draft, buffer);
    let caret = ui.composer.area().rendered_cursor_position();
    // At the end of a full line the caret stands in the column that is kept free.
    caret.or(Some(Position::new(draft.right(), draft.y)))
}

/// Commands that complete what is typed.
pub(super) fn draw_completions(ui: &Ui, area: Rect, buffer: &mut Buffer) {
    let (rows, selected) = ui.composer.completions();
    let height = usize::from(area.height);
    let first = (selected + 1).saturating_sub(height);
    for (row, command) in rows.iter().skip(first).take(height).enumerate() {
        let chosen = first + row == selected;
        let argument = match command.argument {
            Argument::None => String::new(),
            Argument::Optional(name) => format!(" [{name}]"),
            Argument::Required(name) => format!(" <{name}>"),
        };
        let style = ui.theme.style(if chosen { Role::Selected } else { Role::Text });
        let left = vec![
            Span::styled(if chosen { " › " } else { "   " }, style),
            Span::styled(format!("{:<28}", format!("/{}{argument}", command.word)), style),
            Span::styled(command.description, ui.theme.style(Role::Dim)),
        ];
        put(buffer, area, row, &ends(left, Vec::new(), usize::from(area.width)));
    }
}

/// The last line: a prompt, a passing hint, or the keys of what has the focus. Answers where a prompt's caret stands.
pub(super) fn draw_hints(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) -> Option<Position> {
    let dim = ui.theme.style(Role::Dim);
    if let Some(prompt) = &ui.prompt {
        return draw_prompt(ui, prompt, area, buffer);
    }
    if let Some(flash) = ui.flashing(now) {
        let text = Span::styled(format!(" {}", clean_line(flash)), ui.theme.style(Role::Strong));
        put(buffer, area, 0, &ends(vec![text], Vec::new(), usize::from(area.width)));
        return None;
    }
    let mut spans = Vec::new();
    for (action, words) in hints(ui) {
        let key = ui.keys.first(action);
        let wide = spans.iter().map(|span: &Span<'_>| width(&span.content)).sum::<usize>();
        // A hint that does not fit whole is left out: help lists all.
        if wide + width(&key) + width(words) + 3 > usize::from(area.width) {
            continue;
        }
        spans.push(Span::styled(if spans.is_empty() { " " } else { "  " }, dim));
        spans.push(Span::styled(key, ui.theme.style(Role::Key)));
        spans.push(Span::styled(format!(" {words}"), dim));
    }
    let found = ui.transcript.found().filter(|_| ui.searching.is_some() && ui.overlay.is_none());
    let found = found.map(|found| match found.total {
        0 => "not found ".to_owned(),
        total => format!("match {} of {total} ", found.current),
    });
    let right = found.map(|words| Span::styled(words, dim)).into_iter().collect();
    put(buffer, area, 0, &ends(spans, right, usize::from(area.width)));
    None
}

fn draw_prompt(ui: &Ui, prompt: &Prompt, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let (label, line, after) = match prompt {
        Prompt::Search(line) => {
            let after = match ui.transcript.found() {
                None => String::new(),
                Some(found) if found.total == 0 => "not found".to_owned(),
                Some(found) => format!("{} of {}  Up and Down", found.current, found.total),
            };
            ("search".to_owned(), line, after)
        }
        Prompt::Reason { .. } => ("why not".to_owned(), line_of(prompt)?, "Enter denies  Esc back".to_owned()),
        Prompt::FilterTools(line) | Prompt::FilterConversations(line) => {
            ("filter".to_owned(), line, "Enter keeps  Esc clears".to_owned())
        }
        Prompt::Delete { title, .. } => {
            // A long title gives way to the question.
            let (before, after) = (" delete \"", "\" for good?  y deletes, any other key keeps it");
            let room = usize::from(area.width).saturating_sub(width(before) + width(after));
            let text = format!("{before}{}{after}", truncate(&clean_line(title), room));
            let text = Span::styled(text, ui.theme.style(Role::Decision));
            put(buffer, area, 0, &ends(vec![text], Vec::new(), usize::from(area.width)));
            return None;
        }
    };
    let label = format!(" {label} › ");
    let after = vec![Span::styled(format!("  {after} "), ui.theme.style(Role::Dim))];
    let room = usize::from(area.width).saturating_sub(super::paint::columns(&after) + width(&label) + 1);
    // A long line shows the part that ends at the caret.
    let before = line.before_caret();
    let text = line.text();
    let hidden = width(&before).saturating_sub(room);
    let mut passed = 0;
    let start = before.char_indices().find(|(at, _)| {
        passed = width(before.get(..*at).unwrap_or_default());
        passed >= hidden
    });
    let start = start.map_or(before.len(), |(at, _)| at);
    let shown = text.get(start..).unwrap_or_default().to_owned();
    let caret = width(&label) + width(before.get(start..).unwrap_or_default());
    let left = vec![Span::styled(label, ui.theme.style(Role::Key)), Span::styled(shown, ui.theme.style(Role::Text))];
    put(buffer, area, 0, &ends(left, after, usize::from(area.width)));
    let caret = u16::try_from(caret).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
    Some(Position::new(area.x + caret, area.y))
}

fn line_of(prompt: &Prompt) -> Option<&crate::ui::line::LineInput> {
    match prompt {
        Prompt::Search(line)
        | Prompt::Reason { line, .. }
        | Prompt::FilterTools(line)
        | Prompt::FilterConversations(line) => Some(line),
        Prompt::Delete { .. } => None,
    }
}

fn hints(ui: &Ui) -> Vec<(Action, &'static str)> {
    if ui.composer.history_search().is_some() {
        return vec![(Action::Send, "take"), (Action::HistorySearch, "older"), (Action::Close, "back")];
    }
    let stop = ui.turn.is_some().then_some((Action::Interrupt, "stop"));
    let mut hints = match (&ui.overlay, ui.focus) {
        (Some(Overlay::Palette { .. }), _) => vec![(Action::RowOpen, "run"), (Action::Close, "close")],
        (Some(Overlay::Card) | None, Focus::Card) => {
            let mut hints =
                vec![(Action::Close, "back"), (Action::CardUp, "/ Down scroll"), (Action::CardAsker, "its call")];
            if ui.inbox.len() > 1 {
                hints.extend([(Action::CardNext, "next"), (Action::CardPrevious, "previous")]);
            }
            hints
        }
        (Some(_), _) => vec![(Action::Close, "close"), (Action::PageDown, "page"), (Action::RowUp, "/ Down scroll")],
        (None, Focus::Composer) => vec![(Action::Send, "send"), (Action::Newline, "newline")],
        (None, Focus::Transcript) if ui.searching.is_some() => vec![
            (Action::NextMatch, "/ N match"),
            (Action::SearchHere, "search"),
            (Action::Fold, "fold"),
            (Action::Close, "ends the search"),
        ],
        (None, Focus::Transcript) => vec![
            (Action::BlockNext, "/ k block"),
            (Action::Fold, "fold"),
            (Action::OpenBlock, "open"),
            (Action::CopyBlock, "copy"),
            (Action::SearchHere, "search"),
            (Action::Close, "back"),
        ],
        (None, Focus::Pane) => match ui.pane() {
            PaneKind::Agents => vec![(Action::Close, "back")],
            PaneKind::Tools => vec![
                (Action::RowOpen, "its tools"),
                (Action::RequestLoad, "ask to load"),
                (Action::Switch, "off/on"),
                (Action::FilterTools, "filter"),
                (Action::SortByBytes, "sort"),
                (Action::AgentNext, "agent"),
                (Action::Close, "back"),
            ],
            PaneKind::Policy => vec![(Action::RevokeGrant, "revoke"), (Action::Close, "back")],
            PaneKind::Conversations => vec![
                (Action::RowOpen, "open"),
                (Action::NewConversation, "new"),
                (Action::RenameConversation, "rename"),
                (Action::DeleteConversation, "delete"),
                (Action::FilterConversations, "filter"),
                (Action::Close, "back"),
            ],
        },
    };
    hints.extend(stop);
    if ui.overlay.is_none() && ui.focus == Focus::Composer {
        hints.push((Action::Palette, "commands"));
        if !ui.inbox.is_empty() {
            hints.push((Action::OldestAsk, "answer"));
        }
        hints.extend([
            (Action::Agents, "agents"),
            (Action::Tools, "tools"),
            (Action::Policy, "policy"),
            (Action::Conversations, "conversations"),
        ]);
    }
    hints
}
