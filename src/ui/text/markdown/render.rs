//! One block of markdown as lines: the walk over its events.
//!
//! Indents are a stack: list items and quotations each add what stands before their first and their other lines.

use std::iter::Peekable;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::table::Table;
use super::{Page, code};
use crate::ui::text::{Wrap, clean, clean_line};
use crate::ui::theme::Role;

pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// What a list item, a quotation or the page adds before its lines.
struct Level {
    first: Vec<Span<'static>>,
    rest: Vec<Span<'static>>,
    /// Its first line is out.
    used: bool,
    /// Blocks in it so far.
    blocks: usize,
    item: bool,
}

/// A list: the number of its next item, if it has numbers, and whether it had one.
struct List {
    next: Option<u64>,
    any: bool,
}

struct Render<'a> {
    page: &'a Page<'a>,
    lines: &'a mut Vec<Line<'static>>,
    levels: Vec<Level>,
    lists: Vec<List>,
    inline: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// Targets of the links and images that are open, and where their words begin.
    targets: Vec<(String, usize)>,
    code: Option<(String, String)>,
    table: Option<Table>,
    heading: usize,
}

pub(super) fn render(source: &str, page: &Page<'_>, lines: &mut Vec<Line<'static>>) {
    let parser = Parser::new_ext(source, options());
    let mut definitions: Vec<_> = parser.reference_definitions().iter().map(|(_, found)| found.span.clone()).collect();
    let level = Level { first: page.first.to_vec(), rest: page.rest.to_vec(), used: false, blocks: 0, item: false };
    let mut render = Render {
        page,
        lines,
        levels: vec![level],
        lists: Vec::new(),
        inline: Vec::new(),
        styles: vec![page.theme.style(Role::Text)],
        targets: Vec::new(),
        code: None,
        table: None,
        heading: 0,
    };
    let mut events = parser.peekable();
    let mut any = false;
    while let Some(event) = events.next() {
        any = true;
        render.event(event, &mut events);
    }
    render.flush();
    if any {
        // Definitions inside of quotations and items make no event: they show after their block.
        definitions.sort_by_key(|span| span.start);
        for span in definitions {
            render.bare(source.get(span).unwrap_or_default());
        }
    } else {
        render.bare(source);
    }
}

impl Render<'_> {
    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, role: Role) {
        let style = self.style().patch(self.page.theme.style(role));
        self.styles.push(style);
    }

    fn pop_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn event<'s, I: Iterator<Item = Event<'s>>>(&mut self, event: Event<'s>, ahead: &mut Peekable<I>) {
        match event {
            Event::Start(tag) => self.start(tag, ahead),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, body)) => body.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                let style = self.style().patch(self.page.theme.style(Role::Code));
                // The ticks stay: without colours they are what says that this is code.
                self.inline.push(Span::styled(format!("`{}`", clean(&text)), style));
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                let style = self.style().patch(self.page.theme.style(Role::Dim));
                self.inline.push(Span::styled(clean(&text).into_owned(), style));
            }
            // A line end in a chat is meant as one.
            Event::SoftBreak | Event::HardBreak => self.inline.push(Span::styled("\n", self.style())),
            Event::Rule => {
                self.block();
                let (first, _) = self.indents();
                let used: usize = first.iter().map(Span::width).sum();
                let rule = "─".repeat(self.page.width.saturating_sub(used.min(self.page.width / 2)));
                self.out(&[Span::styled(rule, self.page.theme.style(Role::Border))], &first, &[]);
            }
            Event::TaskListMarker(done) => {
                self.inline.push(Span::styled(if done { "[x] " } else { "[ ] " }, self.style()));
            }
            // Not asked for: footnotes and formulas arrive as the text they were.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
        }
    }

    fn text(&mut self, text: &str) {
        self.inline.push(Span::styled(clean(text).into_owned(), self.style()));
    }

    fn start<'s, I: Iterator<Item = Event<'s>>>(&mut self, tag: Tag<'s>, ahead: &mut Peekable<I>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.block();
                self.push_style(Role::Heading);
                self.heading = depth(level);
                self.inline.push(Span::styled(format!("{} ", "#".repeat(self.heading)), self.style()));
            }
            Tag::BlockQuote(_) => {
                self.block();
                let bar = vec![Span::styled("│ ", self.page.theme.style(Role::Border))];
                self.levels.push(Level { first: bar.clone(), rest: bar, used: false, blocks: 0, item: false });
                self.push_style(Role::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::List(next) => {
                self.flush();
                if self.levels.last().is_some_and(|level| !level.item) {
                    self.block();
                }
                self.lists.push(List { next, any: false });
            }
            Tag::Item => {
                let loose = matches!(ahead.peek(), Some(Event::Start(Tag::Paragraph)));
                self.item(loose);
            }
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => self.inline.clear(),
            Tag::Emphasis => self.push_style(Role::Emphasis),
            Tag::Strong => self.push_style(Role::Strong),
            Tag::Strikethrough => self.push_style(Role::Struck),
            Tag::Link { dest_url, .. } => {
                self.targets.push((clean_line(&dest_url), self.inline.len()));
                self.push_style(Role::Link);
            }
            Tag::Image { dest_url, .. } => {
                self.inline.push(Span::styled("[image: ", self.style()));
                self.targets.push((clean_line(&dest_url), self.inline.len()));
                self.push_style(Role::Link);
            }
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            // Not asked for.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = 0;
                self.pop_style();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.close();
                self.pop_style();
            }
            TagEnd::CodeBlock => {
                if let Some((info, body)) = self.code.take() {
                    let (first, rest) = self.indents();
                    let page = Page { first: &first, rest: &rest, ..*self.page };
                    code::block(&info, &clean(&body), &page, self.lines);
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                self.close();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let (first, rest) = self.indents();
                    table.append(&Page { first: &first, rest: &rest, ..*self.page }, self.lines);
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop_style(),
            TagEnd::Link | TagEnd::Image => {
                self.pop_style();
                if tag == TagEnd::Image {
                    self.inline.push(Span::styled("]", self.style()));
                }
                let Some((target, from)) = self.targets.pop() else { return };
                let words: String =
                    self.inline.get(from..).unwrap_or_default().iter().map(|span| span.content.as_ref()).collect();
                // Where it goes, unless the words say exactly that.
                if !target.is_empty() && words != target && format!("mailto:{words}") != target {
                    let style = self.style().patch(self.page.theme.style(Role::Dim));
                    self.inline.push(Span::styled(format!(" ({target})"), style));
                }
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn item(&mut self, loose: bool) {
        let Some(list) = self.lists.last_mut() else { return };
        let marker = match &mut list.next {
            Some(number) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            None => "- ".to_owned(),
        };
        let apart = std::mem::replace(&mut list.any, true) && loose;
        if apart {
            self.gap();
        }
        let rest = vec![Span::raw(" ".repeat(marker.len()))];
        let first = vec![Span::styled(marker, self.page.theme.style(Role::Dim))];
        self.levels.push(Level { first, rest, used: false, blocks: 0, item: true });
    }

    /// A block begins: an empty line stands between it and one before it on its level.
    fn block(&mut self) {
        self.flush();
        let Some(level) = self.levels.last_mut() else { return };
        level.blocks += 1;
        if level.blocks > 1 {
            self.gap();
        }
    }

    fn gap(&mut self) {
        let rest: Vec<Span<'static>> = self.levels.iter().flat_map(|level| level.rest.iter().cloned()).collect();
        let empty = rest.iter().all(|span| span.content.trim().is_empty());
        if empty {
            self.lines.push(Line::default());
        } else {
            self.out(&[], &rest, &rest);
        }
    }

    /// A level ends; one that put out nothing still shows its mark.
    fn close(&mut self) {
        if self.levels.last().is_some_and(|level| !level.used) {
            let (first, rest) = self.indents();
            self.out(&[], &first, &rest);
        }
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    /// What stands before the next line and those after it.
    fn indents(&mut self) -> (Vec<Span<'static>>, Vec<Span<'static>>) {
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for level in &mut self.levels {
            first.extend(if level.used { &level.rest } else { &level.first }.iter().cloned());
            rest.extend(level.rest.iter().cloned());
            level.used = true;
        }
        (first, rest)
    }

    /// The words so far, as lines.
    fn flush(&mut self) {
        if self.inline.is_empty() || self.table.is_some() {
            return;
        }
        let mut inline = std::mem::take(&mut self.inline);
        if let Some(last) = inline.last_mut() {
            let trimmed = last.content.trim_end_matches('\n').len();
            last.content.to_mut().truncate(trimmed);
        }
        let (first, mut rest) = self.indents();
        if self.heading > 0 {
            rest.push(Span::raw(" ".repeat(self.heading + 1)));
        }
        self.out(&inline, &first, &rest);
    }

    fn out(&mut self, spans: &[Span<'_>], first: &[Span<'static>], rest: &[Span<'static>]) {
        Wrap::words(self.page.width).indented(first, rest).append(spans, self.lines);
    }

    /// Source that makes no block, as it stands.
    fn bare(&mut self, source: &str) {
        for line in source.lines().filter(|line| !line.trim().is_empty()) {
            let (first, rest) = self.indents();
            self.out(&[Span::styled(line.trim().to_owned(), self.page.theme.style(Role::Dim))], &first, &rest);
        }
    }
}

const fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut targets: Vec<(String, usize)> = Vec::new();
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                out.push_str(&clean(&text));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                targets.push((clean_line(&dest_url), out.len()));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((target, from)) = targets.pop()
                    && out.get(from..) != Some(target.as_str())
                {
                    out.push_str(" (");
                    out.push_str(&target);
                    out.push(')');
                }
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::Start(Tag::Item | Tag::CodeBlock(_))
            | Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock,
            ) => out.push('\n'),
            _ => {}
        }
    }
    out
}
