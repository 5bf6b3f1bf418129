//! F2: the agents of the running or last turn as a tree: how each stands, what it does now, and what it has cost.

use std::borrow::Cow;

use ratatui::text::{Line, Span};

use super::{Content, Row, note};
use crate::agent::TurnEnd;
use crate::ui::spent;
use crate::ui::state::Ui;
use crate::ui::text::{Wrap, clean_line, truncate};
use crate::ui::theme::Role;
use crate::ui::transcript::kind_word;
use crate::ui::tree::{Node, Standing, is_background};
use crate::ui::view::paint::{bytes, bytes_short, clock, counted, ends};

/// From this width a row has its numbers beside it.
const WIDE: usize = 70;
/// Levels that are drawn as indents.
const LEVELS: usize = 6;

/// A standing as a letter and as words, and how both are drawn.
fn words(standing: Standing) -> (&'static str, Cow<'static, str>, Role) {
    match standing {
        Standing::Idle => ("-", "idle".into(), Role::Dim),
        Standing::Running => ("R", "running".into(), Role::Ok),
        Standing::Stopping => ("R", "stopping".into(), Role::Warning),
        Standing::Asks(1) => ("A", "asks".into(), Role::Decision),
        Standing::Asks(number) => ("A", format!("asks {number}").into(), Role::Decision),
        Standing::Waiting => ("W", "waiting".into(), Role::Text),
        Standing::Done => ("D", "done".into(), Role::Dim),
        Standing::Failed => ("F", "failed".into(), Role::Error),
        Standing::Stopped => ("S", "stopped".into(), Role::Warning),
        Standing::Interrupted => ("I", "interrupted".into(), Role::Warning),
    }
}

pub(super) fn content(ui: &Ui, room: usize, now: i64) -> Content {
    let mut made = Content { title: "agents".to_owned(), ..Content::default() };
    if ui.session.is_none() {
        made.rows.push(note(ui, "none yet"));
        return made;
    }
    let rows = ui.tree.rows();
    let dim = ui.theme.style(Role::Dim);
    let running = rows.iter().filter(|agent| agent.run.is_some()).count();
    if rows.len() > 1 {
        let count = if running > 0 { format!("{running} of {} run", rows.len()) } else { rows.len().to_string() };
        made.right.push(Span::styled(count, dim));
    }
    made.rows.extend(rows.iter().map(|agent| row(ui, agent, room, now)));
    // One that is no longer in the tree is not selected: the entry agent is.
    let selected = rows.iter().find(|agent| agent.id == ui.panes.node).or(rows.first());
    if let Some(agent) = selected {
        facts(ui, agent, room, &mut made.foot);
    }
    if rows.len() > 1 {
        let total = format!("turn · {}", spent::words(&ui.tree.cost.total()));
        let indent = [Span::raw(" ")];
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        made.foot.push(Line::default());
        wrap.append(&[Span::styled(total, dim)], &mut made.foot);
        for side in ui.tree.cost.beside() {
            let what = kind_word(side.kind).unwrap_or("beside it");
            wrap.append(&[Span::styled(format!("{what} · {}", spent::words(&side.tally)), dim)], &mut made.foot);
        }
    }
    made
}

fn row(ui: &Ui, agent: &Node, room: usize, now: i64) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let (letter, word, role) = words(agent.standing());
    let state = ui.theme.style(role);
    let viewed = ui.tree.viewed().id == agent.id;
    let indent = "  ".repeat(agent.depth.min(LEVELS));
    let left = vec![
        Span::styled(format!(" {letter}"), state),
        Span::styled(if viewed { "* " } else { "  " }, dim),
        Span::raw(indent.clone()),
        Span::styled(agent.name.clone(), ui.theme.style(if agent.run.is_some() { Role::Agent } else { Role::Text })),
    ];
    let mut right = Vec::new();
    if agent.dropped {
        right.push(Span::styled("not kept · ", dim));
    }
    if room >= WIDE {
        let (tools, size) = match agent.carried {
            Some((tools, size)) => (counted(tools, "tool"), bytes_short(size)),
            None => (String::new(), String::new()),
        };
        let tokens = ui.tree.cost.of(agent.id).and_then(spent::tokens_words).unwrap_or_default();
        right.push(Span::styled(format!("{tokens}  {tools:>9} {size:>7}  "), dim));
    }
    let took = agent.took(now).map(clock).unwrap_or_default();
    if room >= WIDE {
        right.push(Span::styled(format!("{word:>11}"), state));
        right.push(Span::styled(format!("{took:>8} "), dim));
    } else {
        right.push(Span::styled(word, state));
        right.push(Span::styled(if took.is_empty() { " ".to_owned() } else { format!(" {took} ") }, dim));
    }
    let mut lines = vec![ends(left, right, room)];
    if let Some(doing) = doing(agent, now) {
        let text = format!("    {indent}{doing}");
        lines.push(Line::styled(truncate(&text, room.saturating_sub(1)).into_owned(), ui.theme.style(Role::Text)));
    }
    Row { lines, main: 0 }
}

/// What it does now: `call 3 · compute.run_command`; nothing where it has ended.
fn doing(agent: &Node, now: i64) -> Option<String> {
    let run = agent.run.as_ref()?;
    let at = match (agent.at_tool(), &run.writing, run.retry.as_ref().filter(|retry| retry.until > now)) {
        (Some((tool, 0)), ..) => tool.to_owned(),
        (Some((tool, others)), ..) => format!("{tool} +{others}"),
        (None, Some((tool, size)), _) => format!("writing {tool} {}", bytes(*size)),
        (None, None, Some(retry)) => format!("tries again ({}): {}", retry.attempt, retry.message),
        (None, None, None) if !agent.waits_for.is_empty() => format!("open for {}", agent.waits_for.join(", ")),
        (None, None, None) if run.call == 0 => "begins".to_owned(),
        (None, None, None) => String::new(),
    };
    let call = if run.call > 0 { format!("call {}", run.call) } else { String::new() };
    let behind = is_background(agent).then(|| "in the background".to_owned());
    let parts = [call, at].into_iter().chain(behind).filter(|part| !part.is_empty());
    let words = parts.collect::<Vec<_>>().join(" · ");
    (!words.is_empty()).then_some(words)
}

/// What is known of the selected agent.
fn facts(ui: &Ui, agent: &Node, room: usize, lines: &mut Vec<Line<'static>>) {
    let (dim, text) = (ui.theme.style(Role::Dim), ui.theme.style(Role::Text));
    let indent = [Span::raw(" ")];
    let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
    lines.push(Line::default());
    let left = vec![Span::styled(format!(" {}", agent.name), ui.theme.style(Role::Heading))];
    lines.push(ends(left, vec![Span::styled(format!("{} ", agent.model), dim)], room));
    match &agent.spawned {
        Some(spawned) => {
            let task = clean_line(&spawned.task);
            // All of it stands at the top of its transcript.
            wrap.append(&[Span::styled(truncate(&task, 2 * room).into_owned(), text)], lines);
        }
        None => {
            if let Some(report) = ui.entry_report().filter(|report| !report.description.is_empty()) {
                wrap.append(&[Span::styled(clean_line(&report.description), dim)], lines);
            }
        }
    }
    if let Some((TurnEnd::Failed { message, .. }, _)) = &agent.end {
        wrap.append(&[Span::styled(truncate(&clean_line(message), 2 * room).into_owned(), text)], lines);
    }
    let carries = if agent.id.is_entry() { ui.carries() } else { agent.carried };
    if let Some((tools, size)) = carries {
        let words = format!("{}, {} in a call", counted(tools, "tool"), bytes(size));
        wrap.append(&[Span::styled(words, dim)], lines);
    }
    if let Some(tally) = ui.tree.cost.of(agent.id).filter(|tally| tally.model_calls > 0) {
        let tools = match tally.tool_calls {
            0 => String::new(),
            calls => format!(" · {}", counted(usize::try_from(calls).unwrap_or(usize::MAX), "tool call")),
        };
        wrap.append(&[Span::styled(format!("{}{tools}", spent::words(tally)), dim)], lines);
    }
}
