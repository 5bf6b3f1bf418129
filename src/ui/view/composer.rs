//! The composer with the rule above it, completions, and the line of keys below, which a prompt takes over.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::paint::{bytes, clock, columns, counted, ends, fitted, keyed, put, rule};
use crate::ui::action::Action;
use crate::ui::explaining::{Explaining, Level};
use crate::ui::layout::draft_width;
use crate::ui::pane::{Overlay, PaneKind, PolicyView, Prompt};
use crate::ui::slash::Argument;
use crate::ui::state::{Focus, Ui};
use crate::ui::text::{clean_line, truncate, width};
use crate::ui::theme::Role;
use crate::ui::tree::Standing;

/// The rule above the composer: what runs, since when, or when it is tried again.
pub(super) fn draw_rule(ui: &Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    let border = ui.theme.style(if ui.focus == Focus::Composer { Role::Focus } else { Role::Border });
    let mut left = Vec::new();
    let mut right = Vec::new();
    if let Some(Prompt::Held { holder, .. }) = ui.prompt.as_ref().filter(|prompt| !held_fits(ui, prompt, area.width)) {
        left.push(Span::styled(holder.clone(), ui.theme.style(Role::Decision)));
    } else if let Some(why) = ui.read_only() {
        left.push(Span::styled("read-only", ui.theme.style(Role::Warning)));
        left.push(Span::styled(format!(" ── {why}"), ui.theme.style(Role::Text)));
    } else if let Some(turn) = &ui.tree.viewed().run {
        if let Some(retry) = turn.retry.as_ref().filter(|retry| retry.until > now) {
            let seconds = (retry.until - now + 999) / 1_000;
            let text = format!("try {} in {seconds} s: {}", retry.attempt, retry.message);
            left.push(Span::styled(text, ui.theme.style(Role::Warning)));
            // On a worker Esc only leads back.
            if ui.tree.viewed().id.is_entry() {
                right.extend(keyed(ui, &[Action::Close], " stops"));
            }
        } else {
            let word = match ui.tree.viewed().standing() {
                Standing::Stopping => "stopping",
                Standing::Waiting => "answered, waits for its workers",
                _ => "running",
            };
            let call = if turn.call > 0 { format!(" · call {}", turn.call) } else { String::new() };
            let writing = match &turn.writing {
                Some((tool, size)) => format!(" · writing {tool}, {}", bytes(*size)),
                None => String::new(),
            };
            let text = format!("{word} {}{call}{writing}", clock(now - turn.since));
            left.push(Span::styled(text, ui.theme.style(Role::Text)));
        }
    }
    if right.is_empty() {
        right = strip(ui, now);
    }
    put(buffer, area, 0, &rule(left, right, usize::from(area.width), border));
}

/// `3 agents · 2 asks · coder#1 0:14` while workers run: the agent that asks first, else the one that came last.
fn strip(ui: &Ui, now: i64) -> Vec<Span<'static>> {
    let workers = ui.tree.running_workers();
    if workers == 0 {
        return Vec::new();
    }
    let mut spans = vec![Span::styled(counted(workers + 1, "agent"), ui.theme.style(Role::Text))];
    let dim = ui.theme.style(Role::Dim);
    if !ui.inbox.is_empty() {
        spans.push(Span::styled(" · ", dim));
        spans.push(Span::styled(counted(ui.inbox.len(), "ask"), ui.theme.style(Role::Decision)));
    }
    let asker = ui.inbox.calls().next().and_then(|call| ui.tree.get(call.node()));
    if let Some(agent) = asker.or_else(|| ui.tree.newest_running()) {
        spans.push(Span::styled(" · ", dim));
        spans.push(Span::styled(truncate(&agent.name, 24).into_owned(), ui.theme.style(Role::Agent)));
        let took = agent.took(now).map(|ms| format!(" {}", clock(ms))).unwrap_or_default();
        spans.push(Span::styled(took, ui.theme.style(Role::Text)));
    }
    spans
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
    if ui.composer.is_empty() && ui.read_only().is_some() {
        let words = "nothing can be said here; / has the commands";
        put(
            buffer,
            draft,
            0,
            &Line::from(fitted(vec![Span::styled(words, ui.theme.style(Role::Dim))], usize::from(draft.width))),
        );
        return Some(Position::new(draft.x, draft.y));
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
    for (actions, words) in hints(ui) {
        let hint = keyed(ui, actions, &format!(" {words}"));
        // A hint that does not fit whole is left out: help lists all.
        if columns(&spans) + columns(&hint) + 2 > usize::from(area.width) {
            continue;
        }
        spans.push(Span::styled(if spans.is_empty() { " " } else { "  " }, dim));
        spans.extend(hint);
    }
    let found = ui.transcript().found().filter(|_| ui.searching.is_some() && ui.overlay.is_none());
    let found = found.map(|found| match found.total {
        0 => "not found ".to_owned(),
        total => format!("match {} of {total} ", found.current),
    });
    let right = found.map(|words| Span::styled(words, dim)).into_iter().collect();
    put(buffer, area, 0, &ends(spans, right, usize::from(area.width)));
    None
}

fn draw_prompt(ui: &Ui, prompt: &Prompt, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let dim = ui.theme.style(Role::Dim);
    // Enter is no action of the key map here.
    let pairs = |enter: &'static str, close: &'static str| {
        let mut spans =
            vec![Span::styled("Enter", ui.theme.style(Role::Key)), Span::styled(format!(" {enter}  "), dim)];
        spans.extend(keyed(ui, &[Action::Close], &format!(" {close}")));
        spans
    };
    let (label, line, mut after) = match prompt {
        Prompt::Search(line) => {
            let mut after = Vec::new();
            match ui.transcript().found() {
                None => {}
                Some(found) if found.total == 0 => after.push(Span::styled("not found", dim)),
                Some(found) => {
                    after.push(Span::styled(format!("{} of {}  ", found.current, found.total), dim));
                    after.push(Span::styled("Up", ui.theme.style(Role::Key)));
                    after.push(Span::styled("/", dim));
                    after.push(Span::styled("Down", ui.theme.style(Role::Key)));
                }
            }
            if !after.is_empty() {
                after.push(Span::raw("  "));
            }
            after.extend(keyed(ui, &[Action::Close], " ends"));
            ("search".to_owned(), line, after)
        }
        Prompt::Reason { .. } => ("why not".to_owned(), line_of(prompt)?, pairs("denies", "back")),
        Prompt::FilterTools(line) | Prompt::FilterConversations(line) => {
            ("filter".to_owned(), line, pairs("keeps", "clears"))
        }
        Prompt::Delete { title, .. } => {
            // A long title gives way to the question.
            let (before, after, rest) = (" delete \"", "\" for good? ", "  y deletes, any other key keeps it");
            let room = usize::from(area.width).saturating_sub(width(before) + width(after) + width(rest));
            let text = format!("{before}{}{after}", truncate(&clean_line(title), room));
            let spans = vec![
                Span::styled(text, ui.theme.style(Role::Decision)),
                Span::styled("  y", ui.theme.style(Role::Key)),
                Span::styled(" deletes, any other key keeps it", dim),
            ];
            put(buffer, area, 0, &ends(spans, Vec::new(), usize::from(area.width)));
            return None;
        }
        Prompt::Held { holder, .. } => {
            let mut spans = held_keys(ui);
            if held_fits(ui, prompt, area.width) {
                spans.insert(0, Span::styled(format!(" {holder}"), ui.theme.style(Role::Decision)));
            }
            put(buffer, area, 0, &ends(spans, Vec::new(), usize::from(area.width)));
            return None;
        }
    };
    after.insert(0, Span::raw("  "));
    after.push(Span::raw(" "));
    let label = format!(" {label} › ");
    let room = usize::from(area.width).saturating_sub(columns(&after) + width(&label) + 1);
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

/// What can be done about a conversation that another program has open.
fn held_keys(ui: &Ui) -> Vec<Span<'static>> {
    let dim = ui.theme.style(Role::Dim);
    let mut spans =
        vec![Span::styled(" Enter", ui.theme.style(Role::Key)), Span::styled(": look at it read-only · ", dim)];
    spans.extend(keyed(ui, &[Action::Close], ": leave it"));
    spans
}

/// Whether who has it stands on one line with the keys; else it stands on the rule above.
fn held_fits(ui: &Ui, prompt: &Prompt, room: u16) -> bool {
    let Prompt::Held { holder, .. } = prompt else { return true };
    width(holder) + 1 + columns(&held_keys(ui)) <= usize::from(room)
}

fn line_of(prompt: &Prompt) -> Option<&crate::ui::line::LineInput> {
    match prompt {
        Prompt::Search(line)
        | Prompt::Reason { line, .. }
        | Prompt::FilterTools(line)
        | Prompt::FilterConversations(line) => Some(line),
        Prompt::Delete { .. } | Prompt::Held { .. } => None,
    }
}

/// Actions whose keys do it together, and what they do.
type Hint = (&'static [Action], &'static str);

fn hints(ui: &Ui) -> Vec<Hint> {
    if ui.composer.history_search().is_some() {
        return vec![(&[Action::Send], "take"), (&[Action::HistorySearch], "older"), (&[Action::Close], "back")];
    }
    let whole = if ui.tree.viewed().id.is_entry() { "stop" } else { "stop the turn" };
    let stop: Option<Hint> = ui.turn().is_some().then_some((&[Action::Interrupt], whole));
    let mut hints: Vec<Hint> = match (&ui.overlay, ui.focus) {
        (Some(Overlay::Palette { .. }), _) => vec![(&[Action::RowOpen], "run"), (&[Action::Close], "close")],
        (Some(Overlay::Card) | None, Focus::Card) => {
            let elsewhere = ui.inbox.shown().is_some_and(|card| card.elsewhere.is_some());
            let mut hints: Vec<Hint> = vec![
                (&[Action::Close], "back"),
                (&[Action::CardUp, Action::CardDown], "scroll"),
                (&[Action::CardFull], if ui.overlay.is_some() { "smaller" } else { "full" }),
                (&[Action::CardAsker], if elsewhere { "its conversation" } else { "its call" }),
            ];
            if ui.inbox.len() > 1 {
                hints.push((&[Action::CardNext, Action::CardPrevious], "other asks"));
            }
            hints
        }
        (Some(Overlay::Explain(view)), _) => explain_hints(ui, view),
        (Some(_), _) => vec![
            (&[Action::Close], "close"),
            (&[Action::PageUp, Action::PageDown], "page"),
            (&[Action::RowUp, Action::RowDown], "scroll"),
        ],
        (None, Focus::Composer) => {
            let mut hints: Vec<Hint> = Vec::new();
            let viewed = ui.tree.viewed();
            if !viewed.id.is_entry() && ui.searching.is_none() {
                hints.push((&[Action::Close], "back to the entry agent"));
            }
            if ui.read_only().is_none() {
                if !viewed.has_ended() {
                    hints.push((&[Action::Send], "send"));
                }
                hints.push((&[Action::Newline], "newline"));
            }
            hints
        }
        (None, Focus::Transcript) if ui.searching.is_some() => vec![
            (&[Action::NextMatch, Action::PreviousMatch], "match"),
            (&[Action::SearchHere], "search"),
            (&[Action::Fold], "fold"),
            (&[Action::Close], "ends the search"),
        ],
        (None, Focus::Transcript) => vec![
            (&[Action::BlockNext, Action::BlockPrevious], "block"),
            (&[Action::Fold], "fold"),
            (&[Action::OpenBlock], "open"),
            (&[Action::CopyBlock], "copy"),
            (&[Action::SearchHere], "search"),
            (&[Action::Close], "back"),
        ],
        (None, Focus::Pane) => pane_hints(ui),
    };
    hints.extend(stop);
    if ui.overlay.is_none() && ui.focus == Focus::Composer {
        if ui.searching.is_some() {
            hints.push((&[Action::Close], "ends the search"));
        }
        hints.push((&[Action::Palette], "commands"));
        if !ui.inbox.is_empty() {
            hints.push((&[Action::OldestAsk], "answer"));
        }
        hints.extend::<[Hint; 4]>([
            (&[Action::Agents], "agents"),
            (&[Action::Tools], "tools"),
            (&[Action::Policy], "policy"),
            (&[Action::Conversations], "conversations"),
        ]);
    }
    hints
}

fn explain_hints(ui: &Ui, view: &Explaining) -> Vec<Hint> {
    let mut hints: Vec<Hint> = match view.level {
        Level::Tools => vec![(&[Action::RowOpen], "every reason"), (&[Action::RowUp, Action::RowDown], "tool")],
        Level::Answers { .. } => vec![(&[Action::RowUp, Action::RowDown], "scroll")],
    };
    hints.push((&[Action::Close], "back"));
    hints.extend(other_agent(ui));
    hints
}

fn other_agent(ui: &Ui) -> Option<Hint> {
    (ui.reports.len() > 1).then_some((&[Action::AgentPrevious, Action::AgentNext], "agent"))
}

fn pane_hints(ui: &Ui) -> Vec<Hint> {
    let filtered = match ui.pane() {
        PaneKind::Tools => !ui.panes.tool_filter.is_empty(),
        PaneKind::Conversations => !ui.panes.conversation_filter.is_empty(),
        PaneKind::Agents | PaneKind::Policy => false,
    };
    let close: Hint = (&[Action::Close], if filtered { "clears the filter" } else { "back" });
    match ui.pane() {
        PaneKind::Agents => {
            let selected = super::panes::selected_agent(ui).and_then(|node| ui.tree.get(node));
            let mut hints: Vec<Hint> = vec![(&[Action::RowOpen], "its transcript")];
            if let Some(agent) = selected.filter(|agent| agent.run.is_some()) {
                hints.push((&[Action::StopAgent], if agent.id.is_entry() { "stop the turn" } else { "stop it alone" }));
            }
            hints.push(close);
            hints
        }
        PaneKind::Tools => {
            let mut hints: Vec<Hint> = vec![
                (&[Action::RowOpen], "open"),
                (&[Action::RequestLoad], "ask to load"),
                (&[Action::Switch], "off/on"),
                (&[Action::FilterTools], "filter"),
                (&[Action::SortByBytes], "sort"),
                close,
            ];
            hints.extend(other_agent(ui));
            hints
        }
        PaneKind::Policy if ui.panes.policy_view == PolicyView::Matrix => {
            let mut hints: Vec<Hint> =
                vec![(&[Action::RowOpen], "explain"), (&[Action::RowUp, Action::RowDown], "toolset")];
            hints.extend(other_agent(ui));
            hints.push((&[Action::Matrix], "lists"));
            hints.push(close);
            hints
        }
        PaneKind::Policy => {
            let mut hints: Vec<Hint> = vec![(&[Action::Matrix], "matrix")];
            if super::panes::selected_grant(ui).is_some() {
                hints.push((&[Action::RevokeGrant], "revoke"));
            }
            hints.push(close);
            hints.extend(other_agent(ui));
            hints
        }
        PaneKind::Conversations => vec![
            (&[Action::RowOpen], "open"),
            (&[Action::NewConversation], "new"),
            (&[Action::RenameConversation], "rename"),
            (&[Action::DeleteConversation], "delete"),
            (&[Action::FilterConversations], "filter"),
            close,
        ],
    }
}
