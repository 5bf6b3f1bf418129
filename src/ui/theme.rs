//! What each part of the screen looks like, by role. Sixteen ANSI colours in the shipped themes, none under `NO_COLOR`.
//!
//! A style never carries a meaning alone: a word or letter says the same. It reads no file: the caller hands in the text.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// The shipped themes: name and text.
pub const SHIPPED: [(&str, &str); 3] = [
    ("default", include_str!("../../assets/themes/default.toml")),
    ("mono", include_str!("../../assets/themes/mono.toml")),
    ("high-contrast", include_str!("../../assets/themes/high-contrast.toml")),
];

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:literal),+ $(,)?) => {
        /// What a piece of the screen is. Every theme gives each role a style.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role { $($(#[$doc])* $role),+ }

        impl Role {
            /// Every role, in order.
            pub const ALL: &'static [Self] = &[$(Self::$role),+];

            /// Its key in a theme file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$role => $name),+ }
            }
        }
    };
}

roles! {
    /// Running text.
    Text = "text",
    /// Secondary text: rules, hints, counts.
    Dim = "dim",
    /// The header and status lines.
    Bar = "bar",
    /// Borders and separators.
    Border = "border",
    /// The border of what has the focus.
    Focus = "focus",
    /// The label of what a person said.
    User = "user",
    /// The label of what an agent said.
    Agent = "agent",
    /// A tool's name.
    Tool = "tool",
    /// A tool's arguments.
    Arguments = "arguments",
    /// It went well.
    Ok = "ok",
    /// It failed.
    Error = "error",
    /// Worth a look; a hundred tools and more.
    Warning = "warning",
    /// A decision is waiting: the one warm pair, used for nothing else.
    Decision = "decision",
    /// What changed since before.
    Changed = "changed",
    /// A key in a line of keys.
    Key = "key",
    /// The selected row of a list, the selected block's bar.
    Selected = "selected",
    /// What a search found.
    Match = "match",
    /// What a search stands on.
    CurrentMatch = "current_match",
    /// A heading.
    Heading = "heading",
    /// Emphasised words.
    Emphasis = "emphasis",
    /// Strong words.
    Strong = "strong",
    /// Struck words.
    Struck = "struck",
    /// Code in a line of text.
    Code = "code",
    /// A link's words.
    Link = "link",
    /// A quotation.
    Quote = "quote",
    /// An added line.
    Added = "added",
    /// A removed line.
    Removed = "removed",
    /// The head of a hunk or file in a diff.
    Hunk = "hunk",
    /// Code: keywords.
    Keyword = "keyword",
    /// Code: names of functions.
    Function = "function",
    /// Code: types, tags, sections.
    Type = "type",
    /// Code: text literals.
    Literal = "literal",
    /// Code: numbers and constants.
    Number = "number",
    /// Code: comments.
    Comment = "comment",
}

/// Whether the terminal shows colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// It does.
    Ansi,
    /// `NO_COLOR`, `TERM=dumb`: weight and reverse only.
    None,
}

/// A style for every role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: Vec<Style>,
    id: u64,
}

/// What is wrong with a theme file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// It is not TOML of the expected shape.
    #[error("theme: {0}")]
    Syntax(String),
    /// A style has a fault.
    #[error("theme {theme}: {key}: {fault}")]
    Style {
        /// The theme.
        theme: String,
        /// The role's key.
        key: String,
        /// The fault.
        fault: String,
    },
    /// Roles without a style.
    #[error("theme {theme}: no style for {}; a theme gives each role one, `{{}}` for the terminal's own", roles.join(", "))]
    Missing {
        /// The theme.
        theme: String,
        /// Their keys.
        roles: Vec<String>,
    },
    /// No shipped theme has this name.
    #[error("there is no theme {name:?}; there is {}", SHIPPED.map(|(name, _)| name).join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    styles: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    modifiers: Vec<String>,
}

impl Theme {
    /// The theme that `text` describes: `name`, and under `[styles]` a table `{ fg, bg, modifiers }` for every role.
    ///
    /// # Errors
    /// Anything else, naming the key.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        let file: File =
            toml::from_str(text).map_err(|error| ThemeError::Syntax(error.to_string().trim().to_owned()))?;
        let fault =
            |key: &str, fault: String| ThemeError::Style { theme: file.name.clone(), key: key.to_owned(), fault };
        for key in file.styles.keys() {
            if !Role::ALL.iter().any(|role| role.name() == key) {
                return Err(fault(key, "no such role".to_owned()));
            }
        }
        let mut styles = Vec::with_capacity(Role::ALL.len());
        let mut missing = Vec::new();
        for role in Role::ALL {
            let Some(entry) = file.styles.get(role.name()) else {
                missing.push(role.name().to_owned());
                continue;
            };
            styles.push(entry.style().map_err(|why| fault(role.name(), why))?);
        }
        if !missing.is_empty() {
            return Err(ThemeError::Missing { theme: file.name, roles: missing });
        }
        Ok(Self::new(file.name, styles))
    }

    /// The shipped theme `name`, without its colours where the terminal shows none.
    ///
    /// # Errors
    /// [`ThemeError::Unknown`] names those there are.
    pub fn shipped(name: &str, colours: Colours) -> Result<Self, ThemeError> {
        let name = match colours {
            Colours::Ansi => name,
            Colours::None => "mono",
        };
        match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((_, text)) => Self::parse(text),
            None => Err(ThemeError::Unknown { name: name.to_owned() }),
        }
    }

    /// Every role in the terminal's own style: what is left when even the shipped themes cannot be read.
    pub fn plain() -> Self {
        Self::new("plain".to_owned(), vec![Style::new(); Role::ALL.len()])
    }

    fn new(name: String, styles: Vec<Style>) -> Self {
        let mut hasher = DefaultHasher::new();
        styles.hash(&mut hasher);
        Self { name, id: hasher.finish(), styles }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its identity: two themes that look the same have the same. Part of the key of every cached line.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The style of `role`.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Every colour taken out of it, weight and reverse kept: for a theme of one's own under `NO_COLOR`.
    #[must_use]
    pub fn without_colours(self) -> Self {
        let bare = |style: Style| Style { fg: None, bg: None, ..style };
        Self::new(self.name, self.styles.into_iter().map(bare).collect())
    }
}

impl Entry {
    fn style(&self) -> Result<Style, String> {
        let colour = |text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => text.parse::<Color>().map(Some).map_err(|_| format!("{text:?} is no colour")),
        };
        let mut style = Style { fg: colour(&self.fg)?, bg: colour(&self.bg)?, ..Style::new() };
        for name in &self.modifiers {
            style = style.add_modifier(match name.as_str() {
                "bold" => Modifier::BOLD,
                "dim" => Modifier::DIM,
                "italic" => Modifier::ITALIC,
                "underline" => Modifier::UNDERLINED,
                "reverse" => Modifier::REVERSED,
                "strike" => Modifier::CROSSED_OUT,
                _ => {
                    return Err(format!(
                        "{name:?} is no modifier; there is bold, dim, italic, underline, reverse, strike"
                    ));
                }
            });
        }
        Ok(style)
    }
}
