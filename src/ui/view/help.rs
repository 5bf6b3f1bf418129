//! The help view: the keys in force and the commands, from their tables.

use ratatui::text::{Line, Span};

use crate::ui::action::{ACTIONS, Context};
use crate::ui::slash::{Argument, COMMANDS};
use crate::ui::state::Ui;
use crate::ui::text::width::fit;
use crate::ui::text::{Wrap, width};
use crate::ui::theme::Role;

/// Columns of the keys.
const KEYS: usize = 28;

/// Every line.
pub(super) fn lines(ui: &Ui, room: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(format!(" {}", context.title()), ui.theme.style(Role::Heading)));
        for row in ACTIONS.iter().filter(|row| row.context == context) {
            pair(ui, &ui.keys.all(row.action), row.description, room, &mut lines);
        }
        if context == Context::Card {
            pair(ui, "Enter", "answers nothing", room, &mut lines);
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
        pair(ui, &format!("/{}{argument}", row.word), row.description, room, &mut lines);
    }
    lines
}

fn pair(ui: &Ui, left: &str, right: &str, room: usize, lines: &mut Vec<Line<'static>>) {
    let key = ui.theme.style(Role::Key);
    let text = ui.theme.style(Role::Text);
    let first = [Span::styled(format!("   {}", fit(left, KEYS)), key)];
    let rest = [Span::raw(" ".repeat(3 + KEYS))];
    if width(left) >= KEYS {
        lines.push(Line::styled(format!("   {left}"), key));
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&rest, &rest);
        wrap.append(&[Span::styled(right.to_owned(), text)], lines);
    } else {
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&first, &rest);
        wrap.append(&[Span::styled(right.to_owned(), text)], lines);
    }
}
