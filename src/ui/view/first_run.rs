//! The page of the first run: what kokua is, what would be written where, and what the shipped file decides.
//!
//! Drawn from what the shipped file resolves to, before there is a [`crate::ui::Ui`] and before anything is written.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{bytes, counted, ends, put, put_all, rule};
use super::too_small;
use crate::access::AgentReport;
use crate::ui::layout::Columns;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, visible};
use crate::ui::theme::{Role, Theme};

/// Columns of the names in front of the facts.
const NAMES: usize = 14;
/// Columns of running text; wider lines are hard to read.
const TEXT: usize = 110;

/// What the page says.
#[derive(Debug, Clone)]
pub struct FirstRun {
    /// The file that Enter writes.
    pub config: String,
    /// The folder of state.
    pub data: String,
    /// The entry agent as the shipped file makes it.
    pub report: AgentReport,
    /// What its programs may do (K6).
    pub programs: String,
    /// Which model would answer, and why that one.
    pub model: String,
}

/// Draws the page.
pub fn first_run(frame: &mut Frame<'_>, theme: &Theme, page: &FirstRun) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if Columns::of(area.width, area.height) == Columns::None {
        too_small(area, buffer);
        return;
    }
    let room = usize::from(area.width);
    let bar = theme.style(Role::Bar);
    buffer.set_style(Rect { height: 1, ..area }, bar);
    put(buffer, area, 0, &ends(vec![Span::styled(" kokua · first run", bar)], Vec::new(), room));

    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let rows = usize::from(body.height);
    let airy = lines(theme, page, room, Gaps::Between);
    let lines = if airy.len() > rows { lines(theme, page, room, Gaps::None) } else { airy };
    put_all(buffer, body, &lines);
    if lines.len() > rows {
        let left = counted(lines.len() - rows + 1, "line");
        let more = Span::styled(format!(" {left} more in a higher terminal"), theme.style(Role::Dim));
        put(buffer, body, rows - 1, &ends(vec![more], Vec::new(), room));
    }

    let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
    let keys = vec![
        Span::styled(" Enter", key),
        Span::styled(" writes it and goes on", dim),
        Span::styled("  Esc", key),
        Span::styled(" leaves, nothing written", dim),
    ];
    put(buffer, area, usize::from(area.height) - 1, &ends(keys, Vec::new(), room));
}

/// Whether empty lines keep the parts apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    Between,
    None,
}

fn lines(theme: &Theme, page: &FirstRun, room: usize, gaps: Gaps) -> Vec<Line<'static>> {
    let wide = room.saturating_sub(1).min(TEXT);
    let text = theme.style(Role::Text);
    let mut lines = vec![Line::default()];
    let indent = [Span::raw(" ")];
    let what = "A terminal for agents on your own machine. An agent may do what one file declares, and nothing else. There \
                is no such file yet.";
    Wrap::words(wide).indented(&indent, &indent).append(&[Span::styled(what, text)], &mut lines);
    let mut part = |title: &str, rows: &[(&str, String)]| {
        if gaps == Gaps::Between {
            lines.push(Line::default());
        }
        let title = vec![Span::styled(title.to_owned(), theme.style(Role::Heading))];
        lines.push(rule(title, Vec::new(), room, theme.style(Role::Border)));
        for (name, value) in rows {
            let first = [Span::styled(format!("   {}", fit(name, NAMES)), theme.style(Role::Dim))];
            let rest = [Span::raw(" ".repeat(3 + NAMES))];
            let wrap = Wrap::words(wide).indented(&first, &rest);
            wrap.append(&[Span::styled(visible(value), text)], &mut lines);
        }
    };
    part(
        "what is written",
        &[
            ("now", page.config.clone()),
            ("later", format!("{}: conversations, memory, logs; made when first needed", page.data)),
        ],
    );
    let report = &page.report;
    let (tools, size) = report.start_tools;
    let deferred = list(report.deferred.iter().map(ToString::to_string));
    let mut entries: Vec<String> = Vec::new();
    for row in report.entries.iter().chain(&report.floor) {
        if !entries.contains(&row.entry) {
            entries.push(row.entry.clone());
        }
    }
    part(
        "what the file decides; it is yours to edit",
        &[
            ("you talk to", format!("{}: {} at the start ({})", report.agent, counted(tools, "tool"), bytes(size))),
            ("it may use", list(report.available.iter().map(ToString::to_string))),
            ("on demand", format!("{deferred}: in its context once it loads them")),
            ("asks first", list(entries.into_iter())),
            ("programs", page.programs.clone()),
        ],
    );
    part("the model", &[("answers", page.model.clone())]);
    lines
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
