//! One file per part of the screen: each draws what it is given into a rectangle and decides nothing.

pub(super) mod alerts;
pub mod card;
mod composer;
mod explain;
mod first_run;
mod header;
mod help;
mod ledger;
pub(super) mod paint;
pub mod palette;
pub mod panes;
mod parameters;
pub mod transcript;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

pub use self::first_run::{FirstRun, first_run};

use self::paint::{ends, put, put_all, rule, upright};
use super::explaining::Level;
use super::layout::{Columns, MIN_HEIGHT, MIN_WIDTH};
use super::pane::{Overlay, PaneKind};
use super::state::{Focus, Ui};
use super::text::{Wrap, clean_line, visible, width};
use super::theme::Role;
use super::transcript::End;

/// Draws the whole screen as it is at `now`, milliseconds since the Unix epoch, and puts the cursor at the caret.
pub fn view(ui: &mut Ui, frame: &mut Frame<'_>, now: i64) {
    let area = frame.area();
    // The frame's own size wins: a resize may not have been told yet.
    (ui.width, ui.height) = (area.width, area.height);
    if let Some(caret) = draw(ui, frame.buffer_mut(), now)
        && area.contains(caret)
    {
        frame.set_cursor_position(caret);
    }
}

fn draw(ui: &mut Ui, buffer: &mut Buffer, now: i64) -> Option<Position> {
    let layout = ui.layout(now);
    if layout.columns == Columns::None {
        too_small(layout.whole, buffer);
        return None;
    }
    let viewed = ui.tree.viewed_mut();
    viewed.scene.transcript.tick(now);
    viewed.scene.transcript.set_end(if viewed.run.is_some() { End::Grows } else { End::Rests });
    header::draw(ui, layout.header, buffer);
    let border = ui.theme.style(Role::Border);
    upright(buffer, layout.left_line, border);
    upright(buffer, layout.right_line, border);
    let palette = draw_main(ui, layout.main, buffer, now);
    panes::draw_left(ui, layout.left, buffer, now);
    draw_right(ui, layout.right, buffer, now);
    alerts::draw(ui, layout.alerts, buffer, now);
    if ui.overlay != Some(Overlay::Card) {
        card::draw_strip(ui, layout.card, buffer, now);
    }
    composer::draw_completions(ui, layout.completions, buffer);
    composer::draw_rule(ui, layout.rule, buffer, now);
    let draft = composer::draw(ui, layout.composer, buffer);
    let prompt = composer::draw_hints(ui, layout.hints, buffer, now);
    prompt.or(palette).or(draft)
}

fn draw_main(ui: &mut Ui, area: Rect, buffer: &mut Buffer, now: i64) -> Option<Position> {
    let room = usize::from(area.width);
    match &ui.overlay {
        Some(Overlay::Card) => {
            card::draw_full(ui, area, buffer, now);
            return None;
        }
        Some(Overlay::Help { scroll }) => {
            scrolling(ui, "help", &help::lines(ui, room), *scroll, area, buffer);
            return None;
        }
        Some(Overlay::Ledger { call, scroll }) => {
            if let Some(call) = ui.model_call(*call) {
                scrolling(ui, &ledger::title(call), &ledger::lines(ui, call, room), *scroll, area, buffer);
            }
            return None;
        }
        Some(Overlay::Text { title, lines, scroll }) => {
            scrolling(ui, &clean_line(title), &text_lines(ui, lines, room), *scroll, area, buffer);
            return None;
        }
        Some(Overlay::Explain(view)) => {
            let (lines, selected) = explain::lines(ui, view, room);
            let scroll = match view.level {
                Level::Answers { scroll } => scroll,
                // The selected line is always in sight.
                Level::Tools => selected.map_or(0, |line| (line + 2).saturating_sub(usize::from(area.height))),
            };
            scrolling(ui, &explain::title(view), &lines, scroll, area, buffer);
            return None;
        }
        Some(Overlay::Palette { .. }) | None => {}
    }
    let over = ui.main_covered();
    if over {
        panes::draw(ui, ui.pane(), area, buffer, now);
    } else if ui.transcript().is_empty() && ui.tree.viewed().id.is_entry() {
        welcome(ui, area, buffer);
    } else {
        transcript::draw(&mut ui.tree.viewed_mut().scene.transcript, area, buffer, &ui.theme);
    }
    if ui.overlay.is_some() { palette::draw(ui, area, buffer) } else { None }
}

fn draw_right(ui: &mut Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    if area.is_empty() {
        return;
    }
    let three = Columns::of(ui.width, ui.height) == Columns::Three;
    let card = three && !ui.inbox.is_empty() && ui.focus != Focus::Pane && ui.overlay != Some(Overlay::Card);
    if card {
        card::draw_detail(ui, area, buffer);
        return;
    }
    // What the left column shows already is not shown twice.
    let doubled = three && matches!(ui.pane(), PaneKind::Conversations | PaneKind::Agents);
    let kind = if doubled { PaneKind::Tools } else { ui.pane() };
    panes::draw(ui, kind, area, buffer, now);
}

/// Lines under a rule with a title, scrolled.
fn scrolling(ui: &Ui, title: &str, lines: &[Line<'static>], scroll: usize, area: Rect, buffer: &mut Buffer) {
    let rows = usize::from(area.height).saturating_sub(1);
    let first = scroll.min(lines.len().saturating_sub(rows));
    let place = if lines.len() > rows {
        format!("lines {}-{} of {}", first + 1, (first + rows).min(lines.len()), lines.len())
    } else {
        String::new()
    };
    let left = vec![Span::styled(title.to_owned(), ui.theme.style(Role::Heading))];
    let right = if place.is_empty() { Vec::new() } else { vec![Span::styled(place, ui.theme.style(Role::Dim))] };
    put(buffer, area, 0, &rule(left, right, usize::from(area.width), ui.theme.style(Role::Focus)));
    let body = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
    put_all(buffer, body, lines.iter().skip(first));
}

/// How far the open view can be scrolled, or how many rows its list has.
pub(super) fn overlay_rows(ui: &mut Ui, now: i64) -> usize {
    let area = ui.layout(now).main;
    let room = usize::from(area.width);
    let lines = match &ui.overlay {
        None | Some(Overlay::Card) => return 0,
        Some(Overlay::Palette { query, .. }) => return palette::entries(&query.text()).len(),
        Some(Overlay::Help { .. }) => help::lines(ui, room).len(),
        Some(Overlay::Ledger { call, .. }) => {
            ui.model_call(*call).map_or(0, |call| ledger::lines(ui, call, room).len())
        }
        Some(Overlay::Explain(view)) if view.level == Level::Tools => return view.tools.len(),
        Some(Overlay::Explain(view)) => explain::lines(ui, view, room).0.len(),
        Some(Overlay::Text { lines, .. }) => text_lines(ui, lines, room).len(),
    };
    (lines + 2).saturating_sub(usize::from(area.height))
}

fn text_lines(ui: &Ui, lines: &[String], room: usize) -> Vec<Line<'static>> {
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    let mut out = Vec::new();
    for line in lines {
        wrap.append(&[Span::styled(visible(line), ui.theme.style(Role::Text))], &mut out);
    }
    out
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let needs = format!("needs {MIN_WIDTH}x{MIN_HEIGHT}");
    let whole = format!("{needs}, has {}x{}", area.width, area.height);
    let text = if width(&whole) <= usize::from(area.width) { whole } else { needs };
    put(buffer, area, 0, &ends(vec![Span::raw(text)], Vec::new(), usize::from(area.width)));
}

/// An empty conversation: what one can do.
fn welcome(ui: &Ui, area: Rect, buffer: &mut Buffer) {
    let text = ui.theme.style(Role::Text);
    let dim = ui.theme.style(Role::Dim);
    let mut lines = vec![Line::default()];
    let Some(session) = &ui.session else { return };
    lines.push(Line::styled(format!(" {} is here. Say something.", clean_line(session.agent.as_str())), text));
    lines.push(Line::default());
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(usize::from(area.width).saturating_sub(1)).indented(&indent, &indent);
    if session.rehearsal {
        let warning = "This is the rehearsal model: it answers from a script, and nothing leaves this machine.";
        wrap.append(&[Span::styled(warning, ui.theme.style(Role::Warning))], &mut lines);
        lines.push(Line::default());
    }
    if let Some(report) = ui.entry_report() {
        let (tools, size) = report.start_tools;
        let held = report.toolsets.iter().filter(|row| panes::is_held(&row.state)).count();
        let deferred = report.deferred.len();
        let asks = panes::asks_first(report);
        let text = format!(
            "It starts with {} ({}): {}{}; {} more can be loaded; {} asked about first.",
            paint::counted(tools, "tool"),
            paint::bytes(size),
            paint::counted(held, "toolset"),
            if report.core.is_empty() { "" } else { " and the core tools" },
            paint::counted(deferred, "toolset"),
            if asks == 1 { "1 tool is".to_owned() } else { format!("{asks} tools are") },
        );
        wrap.append(&[Span::styled(text, dim)], &mut lines);
    }
    put_all(buffer, area, &lines);
}
