//! The help view: the keys in force and the commands, from their tables.

use ratatui::text::{Line, Span};

use crate::ui::action::{ACTIONS, Context};
use crate::ui::slash::{Argument, COMMANDS};
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, width};
use crate::ui::theme::Role;
use crate::ui::view::paint::ends;

/// Columns of the keys, where names stand at the end of the line and where not.
const KEYS: [usize; 2] = [22, 28];
/// Columns of the longest name in `[keys]`.
const NAME: usize = 20;
/// Columns of the terminal from which the names in `[keys]` are shown.
const NAMES_FROM: u16 = 100;

/// Every line.
pub(super) fn lines(ui: &Ui, room: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        let heading = vec![Span::styled(format!(" {}", context.title()), ui.theme.style(Role::Heading))];
        let names = names(ui).then_some("name in [keys]").filter(|_| lines.is_empty());
        lines.push(named(ui, heading, names, room));
        for row in ACTIONS.iter().filter(|row| row.context == context) {
            pair(ui, &ui.keys.all(row.action), row.description, Some(row.name), room, &mut lines);
        }
        if context == Context::Card {
            pair(ui, "Enter", "answers nothing", None, room, &mut lines);
        }
    }
    lines.push(Line::default());
    lines.push(Line::styled(" commands", ui.theme.style(Role::Heading)));
    for row in COMMANDS {
        let argument = match row.argument {
            Argument::None => String::new(),
            Argument::Optional(name) => format!(" [{name}]"),
            Argument::Required(name) => format!(" <{name}>"),
        };
        pair(ui, &format!("/{}{argument}", row.word), row.description, None, room, &mut lines);
    }
    lines
}

/// Whether there is room for the names.
fn names(ui: &Ui) -> bool {
    ui.width >= NAMES_FROM
}

/// A line with a name in the column at its end.
fn named(ui: &Ui, spans: Vec<Span<'static>>, name: Option<&str>, room: usize) -> Line<'static> {
    match name {
        None => Line::from(spans),
        Some(name) => ends(spans, vec![Span::styled(format!("{name:<NAME$} "), ui.theme.style(Role::Dim))], room),
    }
}

fn pair(ui: &Ui, left: &str, right: &str, name: Option<&str>, room: usize, lines: &mut Vec<Line<'static>>) {
    let key = ui.theme.style(Role::Key);
    let text = [Span::styled(right.to_owned(), ui.theme.style(Role::Text))];
    let names = names(ui);
    let keys = if names { KEYS[0] } else { KEYS[1] };
    let name = name.filter(|_| names);
    let words = room.saturating_sub(if name.is_some() { NAME + 3 } else { 1 });
    let rest = [Span::raw(" ".repeat(3 + keys))];
    if width(left) >= keys {
        lines.push(named(ui, vec![Span::styled(format!("   {left}"), key)], name, room));
        Wrap::words(words).indented(&rest, &rest).append(&text, lines);
    } else {
        let first = [Span::styled(format!("   {}", fit(left, keys)), key)];
        let at = lines.len();
        Wrap::words(words).indented(&first, &rest).append(&text, lines);
        if let Some(line) = lines.get_mut(at) {
            *line = named(ui, std::mem::take(&mut line.spans), name, room);
        }
    }
}
