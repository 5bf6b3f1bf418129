//! Code as styled spans, line by line. Grammars are loaded at the first code block, never at start-up.
//!
//! It decides no colours: it finds roles, the theme has the styles.

use std::sync::OnceLock;

use ratatui::text::Span;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::ui::theme::{Role, Theme};

/// Lines of one block that are highlighted; what follows is plain.
pub const LINES: usize = 400;
/// Bytes of a line that is highlighted; a longer one ends the highlighting of its block.
pub const LINE_BYTES: usize = 1_000;

/// Which scope is which role; the first that fits the innermost scope counts.
const ROLES: [(&str, Role); 31] = [
    ("comment", Role::Comment),
    ("punctuation.definition.comment", Role::Comment),
    ("string", Role::Literal),
    ("punctuation.definition.string", Role::Literal),
    ("constant", Role::Number),
    ("keyword.operator", Role::Punctuation),
    ("keyword", Role::Keyword),
    ("storage.modifier.lifetime", Role::Type),
    ("storage", Role::Keyword),
    ("variable.language", Role::Keyword),
    ("variable.function", Role::Function),
    ("entity.name.function", Role::Function),
    ("entity.name.macro", Role::Function),
    ("support.function", Role::Function),
    ("support.macro", Role::Function),
    ("entity.other.attribute-name", Role::Function),
    ("entity.name.type", Role::Type),
    ("entity.name.class", Role::Type),
    ("entity.name.struct", Role::Type),
    ("entity.name.enum", Role::Type),
    ("entity.name.trait", Role::Type),
    ("entity.name.tag", Role::Type),
    ("entity.name.section", Role::Type),
    ("support.type", Role::Type),
    ("support.class", Role::Type),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::Heading),
    ("meta.diff.range", Role::Hunk),
    ("meta.diff.header", Role::Hunk),
    ("punctuation", Role::Punctuation),
];

struct Grammars {
    set: SyntaxSet,
    roles: Vec<(Scope, Role)>,
}

fn grammars() -> &'static Grammars {
    static LOADED: OnceLock<Grammars> = OnceLock::new();
    LOADED.get_or_init(|| Grammars {
        set: two_face::syntax::extra_newlines(),
        roles: ROLES.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role))).collect(),
    })
}

/// Highlights one block, line after line.
#[derive(Debug, Clone, Default)]
pub struct Highlighter {
    /// None: no grammar, or the bounds were passed.
    state: Option<Box<(ParseState, ScopeStack)>>,
    lines: usize,
}

impl Highlighter {
    /// For a block whose fence says `info`: `rust`, `rust,ignore`, `python title="x"`. Unknown languages stay plain.
    pub fn new(info: &str) -> Self {
        let name = info.trim().split([' ', ',', '{', ':']).next().unwrap_or_default().to_lowercase();
        let name = match name.as_str() {
            "" | "text" | "txt" | "plain" | "plaintext" | "output" => return Self::default(),
            "shell" | "console" | "shell-session" | "zsh" => "bash",
            "golang" => "go",
            "jsonc" | "json5" => "json",
            other => other,
        };
        let state = grammars()
            .set
            .find_syntax_by_token(name)
            .map(|syntax| Box::new((ParseState::new(syntax), ScopeStack::new())));
        Self { state, lines: 0 }
    }

    /// The next line, without its line end.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Vec<Span<'static>> {
        let text = theme.style(Role::Text);
        self.lines += 1;
        if self.lines > LINES || line.len() > LINE_BYTES {
            self.state = None;
        }
        let Some(state) = &mut self.state else { return vec![Span::styled(line.to_owned(), text)] };
        let (parser, stack) = state.as_mut();
        let grammars = grammars();
        let Ok(changes) = parser.parse_line(&format!("{line}\n"), &grammars.set) else {
            self.state = None;
            return vec![Span::styled(line.to_owned(), text)];
        };
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut add = |piece: &str, stack: &ScopeStack| {
            if piece.is_empty() {
                return;
            }
            let style = role(stack, &grammars.roles).map_or(text, |role| text.patch(theme.style(role)));
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(piece),
                _ => spans.push(Span::styled(piece.to_owned(), style)),
            }
        };
        let mut from = 0;
        for (at, change) in changes {
            let at = at.min(line.len());
            if at > from {
                add(line.get(from..at).unwrap_or_default(), stack);
                from = at;
            }
            // A grammar that pops more than it pushed has lost its way; the colours so far stand.
            if stack.apply(&change).is_err() {
                break;
            }
        }
        add(line.get(from..).unwrap_or_default(), stack);
        spans
    }
}

fn role(stack: &ScopeStack, roles: &[(Scope, Role)]) -> Option<Role> {
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| roles.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, role)| *role))
}
