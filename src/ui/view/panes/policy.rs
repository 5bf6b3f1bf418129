//! F4: what asks first, where that is declared, what is on the floor, and what a person allowed for this conversation.

use ratatui::text::{Line, Span};

use super::{Content, Row, note};
use crate::access::policy::GateList;
use crate::access::report::EntryRow;
use crate::access::{AgentReport, Grant};
use crate::ui::state::Ui;
use crate::ui::text::{Wrap, clean_line, visible};
use crate::ui::theme::Role;
use crate::ui::view::paint::{counted, ends};

/// One selectable row of the pane.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// An entry of a list; the first of its list carries the heading.
    Gate {
        /// The list's heading, above its first entry.
        heading: Option<&'static str>,
        /// The entry; `None`: the list is empty.
        row: Option<&'a EntryRow>,
    },
    /// An entry of the default pair that this agent's own pair dropped.
    Dropped {
        /// Above the first.
        heading: Option<&'static str>,
        /// As written.
        entry: &'a str,
    },
    /// A grant.
    Grant {
        /// Above the first.
        heading: Option<&'static str>,
        /// It; `None`: there is none.
        grant: Option<&'a Grant>,
    },
}

impl Entry<'_> {
    /// The grant's number, if it is one.
    pub(super) fn grant(&self) -> Option<u32> {
        match self {
            Self::Grant { grant, .. } => grant.map(|grant| grant.number),
            Self::Gate { .. } | Self::Dropped { .. } => None,
        }
    }
}

/// The rows, in order.
pub(super) fn entries(report: &AgentReport) -> Vec<Entry<'_>> {
    let of = |wanted: GateList| report.entries.iter().filter(move |row| row.list == wanted);
    // What nobody expects stands first.
    let dropped = report.dropped_defaults.iter().enumerate();
    let heading = |at: usize| (at == 0).then_some("dropped from the default pair");
    let mut entries: Vec<_> = dropped.map(|(at, entry)| Entry::Dropped { heading: heading(at), entry }).collect();
    entries.extend(listed("confirm: asks you", of(GateList::Confirm)));
    entries.extend(listed("review: asks you (no reviewer)", of(GateList::Review)));
    entries.extend(listed("floor: where it asks, only you", report.floor.iter()));
    let heading = "grants here, until kokua ends";
    if report.grants.is_empty() {
        entries.push(Entry::Grant { heading: Some(heading), grant: None });
    }
    for (at, grant) in report.grants.iter().enumerate() {
        entries.push(Entry::Grant { heading: (at == 0).then_some(heading), grant: Some(grant) });
    }
    entries
}

/// A list's entries, the first with the heading; an empty list is one row that says so.
fn listed<'a>(heading: &'static str, rows: impl Iterator<Item = &'a EntryRow>) -> Vec<Entry<'a>> {
    let mut entries: Vec<_> = rows
        .enumerate()
        .map(|(at, row)| Entry::Gate { heading: (at == 0).then_some(heading), row: Some(row) })
        .collect();
    if entries.is_empty() {
        entries.push(Entry::Gate { heading: Some(heading), row: None });
    }
    entries
}

pub(super) fn content(ui: &Ui, room: usize) -> Content {
    let Some(report) = ui.report() else {
        let rows = vec![note(ui, "nothing reported yet")];
        return Content { title: "policy".to_owned(), rows, ..Content::default() };
    };
    let mut made = Content { title: format!("policy of {}", clean_line(report.agent.as_str())), ..Content::default() };
    made.rows = entries(report).iter().map(|entry| row(ui, entry, room)).collect();
    if let Some(first) = made.rows.first_mut() {
        let indent = [Span::raw("  ")];
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        let source = Span::styled(clean_line(&report.policy_source), ui.theme.style(Role::Text));
        let mut lines = wrap.lines(&[source]);
        first.main += lines.len();
        lines.append(&mut first.lines);
        first.lines = lines;
    }
    made
}

fn row(ui: &Ui, entry: &Entry<'_>, room: usize) -> Row {
    let dim = ui.theme.style(Role::Dim);
    let mut lines = Vec::new();
    let (Entry::Gate { heading, .. } | Entry::Dropped { heading, .. } | Entry::Grant { heading, .. }) = entry;
    if let Some(heading) = heading {
        lines.push(Line::default());
        lines.push(Line::styled(format!("  {heading}"), ui.theme.style(Role::Heading)));
    }
    let main = lines.len();
    match entry {
        Entry::Gate { row: None, .. } | Entry::Grant { grant: None, .. } => {
            lines.push(Line::styled("    nothing", dim));
        }
        Entry::Gate { row: Some(row), .. } => gate(ui, row, room, &mut lines),
        Entry::Dropped { entry, .. } => {
            let text = format!("{} no longer gated: this table's own pair replaces the default", clean_line(entry));
            let (first, rest) = ([Span::raw("    ")], [Span::raw("      ")]);
            let wrap = Wrap::words(room.saturating_sub(1)).indented(&first, &rest);
            wrap.append(&[Span::styled(text, ui.theme.style(Role::Warning))], &mut lines);
        }
        Entry::Grant { grant: Some(grant), .. } => {
            let uses = counted(usize::try_from(grant.uses).unwrap_or(0), "use");
            let left = vec![
                Span::styled(format!("    {} ", grant.number), dim),
                Span::styled(clean_line(&grant.tool.to_string()), ui.theme.style(Role::Tool)),
            ];
            lines.push(ends(left, vec![Span::styled(format!("{uses} "), dim)], room));
            wrapped(visible(&grant.arguments), 6, room, ui.theme.style(Role::Arguments), &mut lines);
        }
    }
    Row { lines, main }
}

fn gate(ui: &Ui, row: &EntryRow, room: usize, lines: &mut Vec<Line<'static>>) {
    let dim = ui.theme.style(Role::Dim);
    let entry = clean_line(&row.entry);
    let right = vec![Span::styled(format!("line {} ", row.line), dim)];
    let style = if row.pending { dim } else { ui.theme.style(Role::Text) };
    lines.push(ends(vec![Span::styled(format!("    {entry}"), style)], right, room));
    if row.refusing {
        wrapped("matches nothing: every build of its toolset is refused".to_owned(), 6, room, dim, lines);
    }
    if row.pending {
        wrapped("pending until its toolset is built".to_owned(), 6, room, dim, lines);
    }
    // An entry that names one tool is that tool; a wider one says what it reaches.
    let only_itself = matches!(row.tools.as_slice(), [only] if only.to_string() == row.entry);
    if !only_itself && !row.tools.is_empty() {
        let names = row.tools.iter().map(|tool| clean_line(tool.name.as_str())).collect::<Vec<_>>().join(", ");
        wrapped(format!("{}: {names}", counted(row.tools.len(), "tool")), 6, room, dim, lines);
    }
}

fn wrapped(text: String, indent: usize, room: usize, style: ratatui::style::Style, lines: &mut Vec<Line<'static>>) {
    let indent = [Span::raw(" ".repeat(indent))];
    Wrap::words(room.saturating_sub(1)).indented(&indent, &indent).append(&[Span::styled(text, style)], lines);
}
