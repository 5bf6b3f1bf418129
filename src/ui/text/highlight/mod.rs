//! Code as styled spans, line by line: comments, literals, numbers, keywords, calls, types, keys. A reader's aid, no parser.
//!
//! Own rules instead of full grammars, because those cost more than a screen may: measured with syntect and its
//! fancy-regex grammars, 0.1 to 1 ms a line, up to 0.3 s for a language's first, and up to 45 MB for one language.

mod languages;

#[cfg(test)]
mod tests;

use ratatui::text::Span;

use self::languages::{Habit, Kind, Language, Quote};
use crate::ui::theme::{Role, Theme};

/// Bytes of a line that is highlighted; a longer one is no code that anybody reads.
pub const LINE_BYTES: usize = 4_000;

/// What a line began in, carried over from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Inside {
    #[default]
    Nothing,
    Comment(&'static str),
    Literal(Quote),
    /// A tag of a markup language, up to `>`.
    Tag,
}

/// Highlights one block, line after line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Highlighter {
    /// None: the fence names no language that is known.
    language: Option<&'static Language>,
    inside: Inside,
}

impl Highlighter {
    /// For a block whose fence says `info`: `rust`, `rust,ignore`, `python title="x"`. Unknown languages stay plain.
    pub fn new(info: &str) -> Self {
        let name = info.trim().split([' ', ',', '{', ':']).next().unwrap_or_default().to_lowercase();
        Self { language: languages::find(&name), inside: Inside::Nothing }
    }

    /// The next line, without its line end. The spans together are the line.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Vec<Span<'static>> {
        let text = theme.style(Role::Text);
        let Some(language) = self.language.filter(|_| line.len() <= LINE_BYTES) else {
            return vec![Span::styled(line.to_owned(), text)];
        };
        let mut pieces = Pieces { language, line, inside: self.inside, out: Vec::new(), at: 0 };
        pieces.read();
        self.inside = pieces.inside;
        let mut spans = Vec::with_capacity(pieces.out.len());
        let mut from = 0;
        for (end, role) in pieces.out {
            let style = if role == Role::Text { text } else { text.patch(theme.style(role)) };
            spans.push(Span::styled(line.get(from..end).unwrap_or_default().to_owned(), style));
            from = end;
        }
        spans
    }
}

/// A line being read: where each run ends and what it is.
struct Pieces<'a> {
    language: &'static Language,
    line: &'a str,
    inside: Inside,
    out: Vec<(usize, Role)>,
    at: usize,
}

impl<'a> Pieces<'a> {
    fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// The next `bytes` are `role`.
    fn take(&mut self, bytes: usize, role: Role) {
        self.at = self.line.len().min(self.at + bytes);
        match self.out.last_mut() {
            Some((end, last)) if *last == role => *end = self.at,
            _ => self.out.push((self.at, role)),
        }
    }

    fn read(&mut self) {
        if self.language.kind == Kind::Diff {
            return self.take(self.line.len(), diff_role(self.line));
        }
        while self.at < self.line.len() {
            match self.inside {
                Inside::Comment(end) => self.until(end, false, Role::Comment),
                Inside::Literal(quote) => self.until(quote.close, quote.escapes, Role::Literal),
                Inside::Nothing | Inside::Tag => self.piece(),
            }
        }
        if let Inside::Literal(quote) = self.inside
            && !quote.lines
        {
            self.inside = Inside::Nothing;
        }
    }

    /// Up to and with `end`, or all that is left.
    fn until(&mut self, end: &str, escapes: bool, role: Role) {
        let rest = self.rest();
        let mut at = 0;
        while let Some(character) = rest.get(at..).and_then(|rest| rest.chars().next()) {
            if rest.get(at..).is_some_and(|rest| rest.starts_with(end)) {
                self.inside = if self.language.kind == Kind::Markup && role == Role::Literal {
                    Inside::Tag
                } else {
                    Inside::Nothing
                };
                return self.take(at + end.len(), role);
            }
            at += character.len_utf8();
            if escapes && character == '\\' {
                at += rest.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            }
        }
        self.take(rest.len(), role);
    }

    fn piece(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let language = self.language;
        if language.kind == Kind::Markup && self.inside == Inside::Nothing {
            return self.between_tags(rest);
        }
        if let Some((open, close)) = language.block_comment
            && rest.starts_with(open)
        {
            self.inside = Inside::Comment(close);
            return self.take(open.len(), Role::Comment);
        }
        if language.line_comments.iter().any(|sign| rest.starts_with(sign)) && (first != '#' || self.after_space()) {
            return self.take(rest.len(), Role::Comment);
        }
        if let Some(quote) = language.quotes.iter().find(|quote| rest.starts_with(quote.open)) {
            return self.quoted(*quote, rest);
        }
        if first.is_ascii_digit() {
            let number =
                rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')).count();
            let trailing = rest[..number].bytes().rev().take_while(|byte| *byte == b'.').count();
            // `0..10` is two numbers.
            let number = rest[..number].find("..").unwrap_or(number - trailing);
            return self.take(number, Role::Number);
        }
        if first.is_alphabetic() || matches!(first, '_' | '$' | '@') {
            return self.word(rest);
        }
        if language.kind == Kind::Markup && first == '>' {
            self.inside = Inside::Nothing;
            return self.take(1, Role::Type);
        }
        if language.kind == Kind::Keys
            && first == '['
            && self.line[..self.at].trim().is_empty()
            && rest.trim_end().ends_with(']')
        {
            return self.take(rest.len(), Role::Type);
        }
        self.take(first.len_utf8(), Role::Text);
    }

    fn after_space(&self) -> bool {
        self.line.get(..self.at).is_some_and(|before| before.chars().next_back().is_none_or(char::is_whitespace))
    }

    fn quoted(&mut self, quote: Quote, rest: &str) {
        if quote.open == "'" && self.language.has(Habit::Lifetimes) {
            // A character, or a lifetime.
            let body = &rest[1..];
            let mut characters = body.char_indices();
            let escaped = body.starts_with('\\');
            let end = if escaped {
                body.get(2..).and_then(|tail| tail.find('\'')).map(|end| end + 2)
            } else {
                characters.nth(1).map(|(at, _)| at)
            };
            if let Some(end) = end
                && body.get(end..).is_some_and(|tail| tail.starts_with('\''))
            {
                return self.take(end + 2, Role::Literal);
            }
            let name = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            return self.take(1 + name, Role::Type);
        }
        let from = self.at;
        self.inside = Inside::Literal(quote);
        self.take(quote.open.len(), Role::Literal);
        self.until(quote.close, quote.escapes, Role::Literal);
        // A key of an object is a text too.
        let key = self.language.kind == Kind::Keys
            && self.inside == Inside::Nothing
            && self.rest().trim_start().starts_with(':');
        if key
            && let Some(last) = self.out.last_mut()
            && self.line.get(from..last.0).is_some_and(|text| text.starts_with(quote.open))
        {
            last.1 = Role::Type;
        }
    }

    fn word(&mut self, rest: &str) {
        let language = self.language;
        let sign = usize::from(rest.starts_with(['@', '$']));
        let inner = |character: char| {
            character.is_alphanumeric() || character == '_' || (language.has(Habit::Dashes) && character == '-')
        };
        let length = sign + rest[sign..].find(|character| !inner(character)).unwrap_or(rest.len() - sign);
        if length == 0 {
            return self.take(1, Role::Text);
        }
        let (word, after) = rest.split_at(length);
        let lower;
        let compared = if language.has(Habit::AnyCase) {
            lower = word.to_lowercase();
            lower.as_str()
        } else {
            word
        };
        let next = after.trim_start();
        let role = match language.kind {
            Kind::Markup => Role::Function,
            Kind::Keys
                if self.line[..self.at].trim_start_matches([' ', '-']).is_empty() && next.starts_with([':', '=']) =>
            {
                Role::Type
            }
            _ if language.is_keyword(compared) => Role::Keyword,
            _ if languages::CONSTANTS.contains(&compared) => Role::Number,
            _ if word.starts_with('@') && length > 1 => Role::Function,
            _ if word.starts_with('$') && language.has(Habit::Dashes) => Role::Type,
            _ if after.starts_with('(')
                || (language.has(Habit::Lifetimes) && after.starts_with('!') && !after.starts_with("!=")) =>
            {
                Role::Function
            }
            _ if language.has(Habit::Capitals) && word.starts_with(char::is_uppercase) => Role::Type,
            _ => Role::Text,
        };
        self.take(length, role);
    }

    fn between_tags(&mut self, rest: &str) {
        if rest.starts_with("<!--") {
            self.inside = Inside::Comment("-->");
            return self.take(4, Role::Comment);
        }
        let Some(open) = rest.find('<') else { return self.take(rest.len(), Role::Text) };
        if open > 0 {
            return self.take(open, Role::Text);
        }
        let name = rest[1..]
            .find(|character: char| !character.is_alphanumeric() && !matches!(character, '/' | '!' | '?' | '-' | ':'));
        self.inside = Inside::Tag;
        self.take(1 + name.unwrap_or(rest.len() - 1), Role::Type);
    }
}

fn diff_role(line: &str) -> Role {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', b'@', ..] => Role::Hunk,
        [b'+', ..] => Role::Added,
        [b'-', ..] => Role::Removed,
        _ => Role::Text,
    }
}
