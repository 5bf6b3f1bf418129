//! The header: who answers with which model, and how much its calls carry.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use super::paint::{counted, ends, put};
use crate::access::mode::DEFAULT_MODE;
use crate::ui::action::Action;
use crate::ui::state::Ui;
use crate::ui::text::clean_line;
use crate::ui::theme::Role;
use crate::ui::transcript::crowd;

/// Draws the header.
pub(super) fn draw(ui: &Ui, area: Rect, buffer: &mut Buffer) {
    let bar = ui.theme.style(Role::Bar);
    buffer.set_style(area, bar);
    let mut left = vec![Span::styled(" ", bar)];
    match &ui.session {
        None => left.push(Span::styled("kokua · starting", bar)),
        Some(session) => {
            let viewed = ui.tree.viewed();
            left.push(Span::styled(ui.tree.chain(viewed), ui.theme.style(Role::Agent)));
            let model = viewed.model.clone();
            let model = match session.rehearsal {
                true if model.contains("rehearsal") => format!("{model} (no real model)"),
                true => format!("{model} (rehearsal, no real model)"),
                false => model,
            };
            let role = if session.rehearsal { Role::Warning } else { Role::Bar };
            left.push(Span::styled(" · ", bar));
            left.push(Span::styled(model, ui.theme.style(role)));
            if session.mode.as_str() != DEFAULT_MODE {
                left.push(Span::styled(format!(" · {} mode", clean_line(session.mode.as_str())), bar));
            }
            if let Some(title) = session.title.as_deref().map(clean_line).filter(|title| !title.is_empty()) {
                left.push(Span::styled(format!(" · {title}"), bar));
            }
        }
    }
    let mut right = Vec::new();
    let mut add = |text: String, role: Role| {
        right.push(Span::styled("  ", bar));
        right.push(Span::styled(text, ui.theme.style(role)));
    };
    let entry = ui.tree.viewed().id.is_entry();
    let carries = if entry { ui.carries() } else { ui.tree.viewed().carried };
    if let Some((tools, _)) = carries {
        let limit = ui.session.as_ref().filter(|_| entry).and_then(|session| session.tool_limit);
        match crowd(tools, limit) {
            Some((words, role)) => add(format!("{} {words}", counted(tools, "tool")), role),
            None => add(counted(tools, "tool"), Role::Bar),
        }
    }
    if let Some(percent) = context_percent(ui) {
        let role = if percent >= 90 { Role::Warning } else { Role::Bar };
        add(format!("{percent}% ctx"), role);
    }
    if !ui.inbox.is_empty() {
        add(counted(ui.inbox.len(), "ask"), Role::Decision);
    }
    let workers = ui.tree.running_workers();
    if workers > 0 {
        add(counted(workers + 1, "agent"), Role::Bar);
    }
    add(format!("{} help ", ui.keys.first(Action::Help)), Role::Bar);
    put(buffer, area, 0, &ends(left, right, usize::from(area.width)));
}

/// How full the model's window was at the last call whose tokens are known. Of a worker's model no window is known.
fn context_percent(ui: &Ui) -> Option<u64> {
    let viewed = ui.tree.viewed();
    if !viewed.id.is_entry() {
        return None;
    }
    let window = ui.session.as_ref()?.window.filter(|window| *window > 0)?;
    let usage = viewed.scene.calls.iter().rev().find_map(|call| call.usage)?;
    let used = usage.input? + usage.output.unwrap_or(0);
    Some((used.saturating_mul(100) / window).min(100))
}
