//! A card: who asks to run what, under which list, with every argument and what it would change. It shows exactly what
//! will run: nothing is left out without saying so, and nothing invisible stays so (P15).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::paint::{bytes, columns, counted, ends, keyed, put, put_all, rule};
use crate::access::policy::GateList;
use crate::agent::Author;
use crate::ui::action::Action;
use crate::ui::cards::{self, Words};
use crate::ui::inbox::Card;
use crate::ui::state::{CARD_FRAME_ROWS, Focus, Ui};
use crate::ui::text::{Wrap, clean_line, diff, visible, width};
use crate::ui::theme::{Role, Theme};

/// Columns before the names of arguments.
const INDENT: usize = 3;
/// Columns of the longest name that values are lined up after.
const NAME: usize = 16;

/// A card's body: what sets its asker apart, the arguments by name, what the tool adds for a person, and the diff.
pub fn body(card: &Card, room: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (ask, preview) = (&card.ask, &card.preview);
    let mut lines = Vec::new();
    let indent = [Span::raw(" ")];
    let mut fact = |words: String, role: Role| {
        let wrap = Wrap::words(room.saturating_sub(1)).indented(&indent, &indent);
        wrap.append(&[Span::styled(words, theme.style(role))], &mut lines);
    };
    if ask.chain.iter().any(|asker| cards::label(&asker.agent).is_some()) {
        fact(format!("asked by {}", cards::asker(&ask.chain, Words::Whole)), Role::Agent);
    }
    if let Some(name) = &card.elsewhere {
        fact(format!("in {name}: answering it does not bring that conversation into view"), Role::Warning);
    }
    if card.showing.changed {
        let text = " CHANGED since it was shown: read it again before you answer";
        lines.push(Line::styled(text, theme.style(Role::Decision)));
    }
    if ask.author == Author::Person {
        let text = " EDITED by you: this is what would run, and its result tells the model";
        lines.push(Line::styled(text, theme.style(Role::Decision)));
    }
    let names: Vec<_> = match &ask.arguments {
        Value::Object(map) => map.keys().map(|name| visible(name).replace('\n', "␊")).collect(),
        _ => vec!["arguments".to_owned()],
    };
    let facts: Vec<_> = preview.facts.iter().map(|(name, _)| clean_line(name)).collect();
    // What takes a row each stands first: a long text must not push a path out of view.
    let mut long = Vec::new();
    let mut place = |mut drawn: Vec<Line<'static>>, lines: &mut Vec<Line<'static>>| {
        if drawn.len() == 1 { lines.append(&mut drawn) } else { long.append(&mut drawn) }
    };
    let column = names.iter().chain(&facts).map(|name| width(name)).max().unwrap_or(0).min(NAME);
    match &ask.arguments {
        Value::Object(map) if map.is_empty() => {
            lines.push(Line::styled(format!("{:INDENT$}no arguments", ""), theme.style(Role::Dim)));
        }
        Value::Object(map) => {
            for (name, value) in names.iter().zip(map.values()) {
                let mut drawn = Vec::new();
                argument(name, value, column, room, theme, &mut drawn);
                place(drawn, &mut lines);
            }
        }
        other => argument("arguments", other, column, room, theme, &mut lines),
    }
    for (name, (_, fact)) in facts.iter().zip(&preview.facts) {
        let mut drawn = Vec::new();
        text(name, &visible(fact), "", column, Role::Dim, room, theme, &mut drawn);
        place(drawn, &mut lines);
    }
    lines.append(&mut long);
    if let Some(changes) = preview.diff.as_deref().filter(|changes| !changes.is_empty()) {
        let indent = [Span::raw(" ".repeat(INDENT))];
        let page = diff::Page { width: room.saturating_sub(1), theme, indent: &indent };
        diff::append(&visible(changes), &page, &mut lines);
    }
    lines
}

fn argument(name: &str, value: &Value, column: usize, room: usize, theme: &Theme, lines: &mut Vec<Line<'static>>) {
    let (shown, size) = match value {
        Value::String(string) if string.is_empty() => ("\"\"".to_owned(), "empty".to_owned()),
        Value::String(string) => {
            // A last line end counts no further line.
            let count = string.lines().count().max(1);
            (visible(string), format!("{}, {}", counted(count, "line"), bytes(string.len())))
        }
        Value::Null => ("null".to_owned(), "nothing".to_owned()),
        Value::Bool(yes) => (yes.to_string(), "yes or no".to_owned()),
        Value::Number(number) => (number.to_string(), "number".to_owned()),
        Value::Array(items) => (pretty(value), counted(items.len(), "item")),
        Value::Object(map) => (pretty(value), counted(map.len(), "entry").replace("entrys", "entries")),
    };
    text(name, &shown, &size, column, Role::Text, room, theme, lines);
}

fn pretty(value: &Value) -> String {
    let compact = value.to_string();
    let text = if compact.len() <= 60 { compact } else { serde_json::to_string_pretty(value).unwrap_or(compact) };
    visible(&text)
}

/// A named text: on one line when it fits, beside its size where that fits too, else below its name, wrapped and whole.
#[expect(clippy::too_many_arguments, reason = "one row of a card; a struct would only rename them")]
fn text(
    name: &str,
    shown: &str,
    size: &str,
    column: usize,
    role: Role,
    room: usize,
    theme: &Theme,
    lines: &mut Vec<Line<'static>>,
) {
    let dim = theme.style(Role::Dim);
    let style = theme.style(role);
    let padding = " ".repeat(column.saturating_sub(width(name)));
    let label = vec![
        Span::raw(" ".repeat(INDENT)),
        Span::styled(name.to_owned(), theme.style(Role::Strong)),
        Span::raw(padding),
        Span::raw("  "),
    ];
    let right = if size.is_empty() { Vec::new() } else { vec![Span::styled(format!("  {size} "), dim)] };
    let taken = columns(&label) + width(shown);
    if taken <= room && !shown.contains('\n') {
        // The size of a line that is in view whole is the least of it.
        let right = if taken + columns(&right) <= room { right } else { Vec::new() };
        let mut left = label;
        left.push(Span::styled(shown.to_owned(), style));
        lines.push(ends(left, right, room));
        return;
    }
    lines.push(ends(label, right, room));
    let indent = [Span::styled(format!("{:INDENT$}│ ", ""), dim)];
    let shown = shown.strip_suffix('\n').unwrap_or(shown);
    let wrap = Wrap::anywhere(room.saturating_sub(1)).indented(&indent, &indent);
    wrap.append(&[Span::styled(shown.to_owned(), style)], lines);
}

/// The card in the strip between transcript and composer.
pub fn draw_strip(ui: &mut Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    if area.is_empty() || ui.inbox.is_empty() {
        return;
    }
    if area.height < CARD_FRAME_ROWS {
        let Some(card) = ui.inbox.shown() else { return };
        let open = keyed(ui, &[Action::OldestAsk], ": open");
        let line = heading(ui, card, usize::from(area.width), open);
        put(buffer, area, 0, &line);
        return;
    }
    let rows = area.height - CARD_FRAME_ROWS;
    draw(ui, area, rows, buffer, now);
}

/// The card over the whole of `area`.
pub fn draw_full(ui: &mut Ui, area: Rect, buffer: &mut Buffer, now: i64) {
    let rows = area.height.saturating_sub(CARD_FRAME_ROWS);
    draw(ui, area, rows, buffer, now);
}

/// The body alone, for the right pane of three columns.
pub fn draw_detail(ui: &mut Ui, area: Rect, buffer: &mut Buffer) {
    let place = draw_body(ui, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, buffer);
    let Some(card) = ui.inbox.shown() else { return };
    let asked = clean_line(&card.ask.tool.to_string());
    let style = ui.theme.style(if ui.focus == Focus::Card { Role::Focus } else { Role::Heading });
    let left = vec![Span::styled(format!(" {asked}"), style)];
    let right = vec![Span::styled(place, ui.theme.style(Role::Dim)), Span::raw(" ")];
    put(buffer, area, 0, &ends(left, right, usize::from(area.width)));
}

fn draw(ui: &mut Ui, area: Rect, body_rows: u16, buffer: &mut Buffer, now: i64) {
    let room = usize::from(area.width);
    let place = draw_body(ui, Rect { y: area.y + 1, height: body_rows, ..area }, buffer);
    let Some(card) = ui.inbox.shown() else { return };
    let place = match (place.is_empty(), ui.focus == Focus::Card) {
        (false, _) => place,
        (true, true) => "focused".to_owned(),
        (true, false) => String::new(),
    };
    let place = if place.is_empty() { Vec::new() } else { vec![Span::styled(place, ui.theme.style(Role::Dim))] };
    put(buffer, area, 0, &heading(ui, card, room, place));
    let footer = usize::from(body_rows) + 1;
    put(buffer, area, footer, &keys(ui, card, room, now));
    put(buffer, area, footer + 1, &source(ui, card, room, now));
}

/// The body from where it is scrolled to. Answers which of its lines are in view, when not all are.
fn draw_body(ui: &mut Ui, area: Rect, buffer: &mut Buffer) -> String {
    // Where another pane draws the body, it is not laid out for this one's width too.
    let Some(card) = ui.inbox.shown_mut().filter(|_| !area.is_empty()) else { return String::new() };
    let rows = usize::from(area.height);
    let count = card.body(area.width, &ui.theme).len();
    card.scroll = card.scroll.min(count.saturating_sub(rows));
    let scroll = card.scroll;
    put_all(buffer, area, card.body(area.width, &ui.theme).iter().skip(scroll));
    scrolled(scroll, count, rows)
}

/// `1-4 of 20`, in lines, when not all are in view.
fn scrolled(first: usize, count: usize, rows: usize) -> String {
    if count <= rows {
        return String::new();
    }
    format!("{}-{} of {count}", first + 1, (first + rows).min(count))
}

fn heading(ui: &Ui, card: &Card, room: usize, right: Vec<Span<'static>>) -> Line<'static> {
    let focused = ui.focus == Focus::Card;
    let border = ui.theme.style(if focused { Role::Focus } else { Role::Border });
    let decision = ui.theme.style(Role::Decision);
    let list = match card.ask.reason.list {
        GateList::Confirm => "confirm",
        GateList::Review => "review",
    };
    let text = ui.theme.style(Role::Text);
    let gap = || Span::styled(" ── ", border);
    let place = Span::styled(format!("ask {} of {}", ui.inbox.place(), ui.inbox.len()), decision);
    let asker = |words: Words| Span::styled(cards::asker(&card.ask.chain, words), ui.theme.style(Role::Agent));
    let tool = Span::styled(clean_line(&card.ask.tool.to_string()), ui.theme.style(Role::Tool));
    let words = |words: &'static str| Span::styled(words, text);
    let mut start = vec![place, gap()];
    if let Some(name) = &card.elsewhere {
        start.extend([Span::styled(format!("in {name}"), ui.theme.style(Role::Warning)), gap()]);
    }
    let question = |asker: Span<'static>| {
        let question = [words("Allow "), asker, words(" to run "), tool.clone(), words("?")];
        start.iter().cloned().chain(question).collect::<Vec<_>>()
    };
    let with_list = |question: Vec<Span<'static>>| question.into_iter().chain([gap(), words(list)]).collect();
    let (whole, short) = (question(asker(Words::Whole)), question(asker(Words::Short)));
    // The body has the chain of a composed worker whole, in P15's words.
    let innermost = card.ask.chain.first().filter(|asker| cards::label(&asker.agent).is_some());
    let innermost = innermost.map(|asker| question(Span::styled(cards::short(asker), ui.theme.style(Role::Agent))));
    // Where it does not fit, the list goes first, for the last line names it; then what the body has; then the words between
    // the names (P5).
    let ends = if right.is_empty() { 0 } else { columns(&right) + 3 };
    let fits = |left: &Vec<Span<'static>>| columns(left) + ends + 3 <= room;
    let tries = [with_list(whole.clone()), whole, with_list(short.clone()), short];
    let left = tries.into_iter().chain(innermost).find(fits);
    let left = left.unwrap_or_else(|| start.into_iter().chain([asker(Words::Short), gap(), tool]).collect());
    rule(left, right, room, border)
}

fn keys(ui: &Ui, card: &Card, room: usize, now: i64) -> Line<'static> {
    let dim = ui.theme.style(Role::Dim);
    if card.answered() {
        return Line::styled(" answered; waiting for it to take effect", dim);
    }
    let focused = ui.focus == Focus::Card;
    // A key that would not be heard does not look as if it were.
    let live = focused && ui.prompt.is_none();
    let inert = !live || card.inert_for(now) > 0;
    let mut wishes = vec![(Action::AllowOnce, "allow once", inert)];
    if card.ask.grantable {
        let words = if card.elsewhere.is_some() { "allow this exact call there" } else { "allow this exact call here" };
        wishes.push((Action::AllowConversation, words, inert));
    }
    wishes.extend([
        (Action::Deny, "deny", !live),
        (Action::DenyWithReason, "deny + why", !live),
        (Action::EditCall, "edit", !live),
    ]);
    let mut spans = Vec::new();
    if !focused {
        spans.push(Span::styled(" ", dim));
        // Behind the oldest ask, the key that goes to that one would answer another card than this.
        let next = ui.inbox.place() > 1 && ui.focus == Focus::Composer;
        let focus = if next { Action::FocusNext } else { Action::OldestAsk };
        spans.extend(keyed(ui, &[focus], " to answer:"));
    }
    for (action, words, off) in wishes {
        let key = ui.keys.first(action);
        if columns(&spans) + width(&key) + width(words) + 4 > room {
            continue;
        }
        let gap = match (spans.is_empty(), focused) {
            (true, _) => " ",
            (false, true) => "   ",
            (false, false) => "  ",
        };
        spans.push(Span::styled(gap, dim));
        spans.push(Span::styled(key, if off { dim } else { ui.theme.style(Role::Key) }));
        spans.push(Span::styled(format!(" {words}"), if off { dim } else { ui.theme.style(Role::Text) }));
    }
    ends(spans, Vec::new(), room)
}

fn source(ui: &Ui, card: &Card, room: usize, now: i64) -> Line<'static> {
    let dim = ui.theme.style(Role::Dim);
    let list = match card.ask.reason.list {
        GateList::Confirm => "confirm",
        GateList::Review => "review",
    };
    let entry = clean_line(&card.ask.reason.entry);
    let mut rule = format!(" rule: {entry} in {list}, {}", clean_line(&card.ask.reason.source));
    if !card.ask.grantable {
        rule.push_str("; floor: only once");
    }
    let waits = card.inert_for(now) > 0 && !card.answered();
    let mut right = match (ui.focus == Focus::Card, waits) {
        (_, true) => vec![Span::styled("allow: in a moment ", dim)],
        (true, false) => keyed(ui, &[Action::Close], ": back "),
        (false, false) => Vec::new(),
    };
    // Where the gate is written matters more than a key that the last line names too.
    if !waits && width(&rule) + columns(&right) + 1 > room {
        right.clear();
    }
    ends(vec![Span::styled(rule, dim)], right, room)
}
