//! A configuration as it is written: every key held against its declaration, with its place; every fault noted.
//!
//! Nothing here knows what a setting means; it never stops at the first fault.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned as TomlSpanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::problem::{Lines, Problem, visible};
use super::settings::{
    AGENT_RESIDENT, Default, Kind, LATER_KEYS, LATER_SECTIONS, PROVIDERS, RETIRED, SECTIONS, Section, Setting, or_list,
    section_at,
};
use crate::access::name::near;
use crate::access::{Span, Spanned};

type Node<'a> = TomlSpanned<DeValue<'a>>;

/// A value that fits its declaration.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Names(Vec<Spanned<String>>),
    /// `"all"`, for [`Kind::NamesOrAll`].
    All,
    Strings(BTreeMap<String, String>),
}

/// A key that was written well: where its name stands and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Span,
    pub(super) value: Spanned<Value>,
}

/// Everything that was written well, and everything that was not.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Tables by path (`agents.coder.tools`), each with its keys.
    pub(super) tables: BTreeMap<String, BTreeMap<String, Entry>>,
    /// The chosen names below `agents`, `modes` and `providers`, in the order of the file.
    pub(super) names: Vec<(&'static str, Spanned<String>)>,
    /// What is wrong, in no order.
    pub(super) problems: Vec<Problem>,
    /// Tables with something wrong in them.
    pub(super) tainted: Vec<String>,
    /// Whether the text is TOML at all.
    pub(super) syntax: Syntax,
}

/// Whether a text is TOML.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    #[default]
    Sound,
    /// The parser had to guess; what stands behind the first fault may be misread.
    Broken,
}

/// Reads a text. Faults of the syntax are all reported; what stands behind the first of them is not looked at further.
pub(super) fn read(text: &str) -> Written {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { lines: Lines::new(text), written: Written::default() };
    reader.table("", "", document.get_ref());
    let mut written = reader.written;
    if !errors.is_empty() {
        written.syntax = Syntax::Broken;
        let first = errors.iter().filter_map(toml::de::Error::span).map(|span| span.start).min().unwrap_or(0);
        let line = text.get(..first).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        written.problems.retain(|problem| problem.span.is_some_and(|span| span.end <= line));
        let lines = Lines::new(text);
        let mut said = BTreeSet::new();
        for problem in errors.iter().map(|error| syntax_problem(&lines, text, error)) {
            // The parser goes on after a guess; what it says of the same line again is mostly the guess's fault.
            if problem.span.is_none_or(|span| said.insert(span.line)) {
                written.problems.push(problem);
            }
        }
    }
    written
}

fn syntax_problem(lines: &Lines<'_>, text: &str, error: &toml::de::Error) -> Problem {
    let message = error.message().trim().replace('\n', "; ");
    let span = error.span().map(|range| lines.span(range));
    let at = span.map_or("", |span| text.get(span.start..).unwrap_or(""));
    let hint = if at.starts_with(['“', '”', '‘', '’', '„']) {
        Some("use straight quotes: \"text\"")
    } else if at.starts_with(|character: char| !character.is_ascii_whitespace() && visible(character) != character) {
        Some("a character stands here that cannot be seen: take it out")
    } else if message.contains("duplicate key") {
        Some("each table and each key is written once: join the two")
    } else if message.contains("array") {
        Some("look for a missing comma or `]` in this line or above it")
    } else if message.contains("string values must be quoted") {
        Some("put text in double quotes: key = \"text\"")
    } else {
        None
    };
    Problem { span, message: format!("not TOML: {message}"), hint: hint.map(str::to_owned) }
}

/// The place of the key at `path`, such as `["keys", "allow"]`; of the innermost part of it that is written.
pub(super) fn place(text: &str, path: &[&str]) -> Option<Span> {
    let (document, _) = DeTable::parse_recoverable(text);
    let lines = Lines::new(text);
    let mut table = document.get_ref();
    let mut found = None;
    for part in path {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == part) else { break };
        found = Some(lines.span(key.span()));
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    found
}

/// Where the first word of a key's value stands, or the key: `[agents.zoe.tools]` above `[agents.zoe]` begins zoe.
fn begins(key: usize, value: &DeValue<'_>) -> usize {
    let DeValue::Table(table) = value else { return key };
    table.iter().map(|(inner, value)| begins(inner.span().start, value.get_ref())).fold(key, usize::min)
}

struct Reader<'a> {
    lines: Lines<'a>,
    written: Written,
}

impl Reader<'_> {
    fn fault(&mut self, table: &str, span: Span, message: String, hint: Option<String>) {
        self.written.problems.push(Problem { span: Some(span), message, hint });
        self.written.tainted.push(table.to_owned());
    }

    /// Reads the table at `path`; `pattern` is its path with `<name>` for the chosen names.
    fn table(&mut self, path: &str, pattern: &str, table: &DeTable<'_>) {
        if section_at(pattern).is_some() {
            self.written.tables.entry(path.to_owned()).or_default();
        }
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, value)| begins(key.span().start, value.get_ref()));
        for (key, value) in entries {
            let span = self.lines.span(key.span());
            self.entry(path, pattern, Spanned::new(key.get_ref().to_string(), span), value);
        }
    }

    fn entry(&mut self, path: &str, pattern: &str, key: Spanned<String>, node: &Node<'_>) {
        let name = key.value.as_str();
        let chosen = join(pattern, "<name>");
        if has_sections(&chosen) {
            self.named(pattern, &key);
            let inner = path_of(path, name);
            return match node.get_ref() {
                DeValue::Table(table) => self.table(&inner, &chosen, table),
                other => self.not_a_table(&inner, &key, other),
            };
        }
        let inner = join(path, name);
        let inner_pattern = join(pattern, name);
        if has_sections(&inner_pattern) {
            return match node.get_ref() {
                DeValue::Table(table) => self.table(&inner, &inner_pattern, table),
                other => self.not_a_table(&inner, &key, other),
            };
        }
        let section = section_at(pattern);
        let setting = section.and_then(|section| {
            section.settings.iter().find(|setting| setting.key == name).or(section.any_key.as_ref()).copied()
        });
        match setting {
            Some(setting) => self.setting(path, &key, setting, node),
            None => self.unknown(path, pattern, section, &key, node),
        }
    }

    fn named(&mut self, pattern: &str, key: &Spanned<String>) {
        let list = match pattern {
            "agents" => "agents",
            "modes" => "modes",
            _ => "providers",
        };
        if list == "providers" && !PROVIDERS.contains(&key.value.as_str()) {
            let hint = match near(&key.value, PROVIDERS.iter().copied(), 2).as_slice() {
                [] => format!("the providers are {}", PROVIDERS.join(", ")),
                near => did_you_mean(near),
            };
            self.fault(
                &path_of(pattern, &key.value),
                key.span,
                format!("unknown provider '{}'", key.value),
                Some(hint),
            );
        }
        self.written.names.push((list, key.clone()));
    }

    fn not_a_table(&mut self, path: &str, key: &Spanned<String>, value: &DeValue<'_>) {
        let header = header(path);
        let is_list = matches!(value, DeValue::Array(_));
        if path.starts_with("agents.") && key.value == "tools" && is_list {
            let message = format!("`tools` as a list is the older layout: {header} is a table now");
            let hint = format!("write the list as `available` of {header}");
            return self.fault(path, key.span, message, Some(hint));
        }
        if path == "assistant.tools" && is_list {
            let message = "`tools` as a list is the older layout: every agent has its own".to_owned();
            return self.fault(
                path,
                key.span,
                message,
                Some("write the list as `available` of [agents.<name>.tools]".to_owned()),
            );
        }
        let message = format!("`{}` is a table, not {}", key.value, kind_of(value));
        self.fault(path, key.span, message, Some(format!("write it as {header}, with its keys below")));
    }

    fn unknown(
        &mut self,
        path: &str,
        pattern: &str,
        section: Option<&'static Section>,
        key: &Spanned<String>,
        node: &Node<'_>,
    ) {
        let name = key.value.as_str();
        let place = if path.is_empty() { String::new() } else { format!(" in {}", header(path)) };
        let is_table = match node.get_ref() {
            DeValue::Table(_) => true,
            DeValue::Array(items) => items.iter().next().is_some_and(|item| item.get_ref().is_table()),
            _ => false,
        };
        let what = if is_table { format!("[{}]", join(path, name)) } else { format!("`{name}`{place}") };
        if let Some(retired) = RETIRED.iter().find(|row| row.section == pattern && row.key == name) {
            let message = if retired.key == "api_key" {
                "a key of a service in a configuration".to_owned()
            } else {
                format!("{what} is of an older layout")
            };
            return self.fault(path, key.span, message, Some(retired.instead.to_owned()));
        }
        if pattern.is_empty()
            && let Some((_, purpose)) = LATER_SECTIONS.iter().find(|(section, _)| *section == name)
        {
            let purpose = if *purpose == name { String::new() } else { format!(" ({purpose})") };
            let message = format!("[{name}]{purpose} comes with a later version of kokua");
            return self.fault(path, key.span, message, Some("take it out until then".to_owned()));
        }
        if LATER_KEYS.contains(&(pattern, name)) {
            let message = format!("{what} comes with a later version of kokua");
            return self.fault(path, key.span, message, Some("take it out until then".to_owned()));
        }
        let hint = what_instead(path, pattern, section, name, is_table);
        let kind = if is_table { "table" } else { "key" };
        let message = if path.is_empty() && !is_table {
            format!("unknown key `{name}` outside of any table")
        } else {
            format!("unknown {kind} {what}")
        };
        self.fault(path, key.span, message, Some(hint));
    }

    fn setting(&mut self, path: &str, key: &Spanned<String>, setting: Setting, node: &Node<'_>) {
        let span = self.lines.span(node.span());
        let read = match setting.kind {
            Kind::Names | Kind::KeyNames | Kind::Paths | Kind::Command | Kind::NamesOrAll => self.names(setting, node),
            Kind::Strings => self.strings(node.get_ref()),
            _ => scalar(setting, node.get_ref()).map_err(|unfit| vec![unfit]),
        };
        match read {
            Ok(value) => {
                let entry = Entry { key: key.span, value: Spanned::new(value, span) };
                self.written.tables.entry(path.to_owned()).or_default().insert(key.value.clone(), entry);
            }
            Err(all) => {
                // What a scalar says is said of nothing else, so the rest of its table can be judged.
                let alone = !matches!(setting.kind, Kind::Names | Kind::NamesOrAll);
                for Unfit { found, hint, span: inner } in all {
                    let message = format!("`{}` must be {}, not {found}", key.value, setting.kind.describe());
                    let span = inner.unwrap_or(span);
                    if alone {
                        self.written.problems.push(Problem { span: Some(span), message, hint });
                    } else {
                        self.fault(path, span, message, hint);
                    }
                }
            }
        }
    }

    fn strings(&self, value: &DeValue<'_>) -> Result<Value, Vec<Unfit>> {
        let DeValue::Table(table) = value else { return Err(vec![Unfit::plain(value)]) };
        let mut strings = BTreeMap::new();
        let mut wrong = Vec::new();
        for (name, item) in table {
            match item.get_ref() {
                DeValue::String(text) => {
                    strings.insert(name.get_ref().to_string(), text.to_string());
                }
                other => wrong.push(Unfit {
                    found: format!("{} under `{}`", kind_of(other), name.get_ref()),
                    hint: Some("put it in double quotes".to_owned()),
                    span: Some(self.lines.span(name.span())),
                }),
            }
        }
        if wrong.is_empty() { Ok(Value::Strings(strings)) } else { Err(wrong) }
    }

    fn names(&self, setting: Setting, node: &Node<'_>) -> Result<Value, Vec<Unfit>> {
        let DeValue::Array(items) = node.get_ref() else {
            return self.word_for_list(setting, node).map_err(|unfit| vec![unfit]);
        };
        let mut names = Vec::new();
        let mut wrong = Vec::new();
        for item in items {
            let span = self.lines.span(item.span());
            let mut say = |found: String, hint: &str| {
                wrong.push(Unfit { found, hint: Some(hint.to_owned()), span: Some(span) });
            };
            match item.get_ref() {
                DeValue::String(text) if text.is_empty() => {
                    say("one with an empty name".to_owned(), "take the \"\" out");
                }
                DeValue::String(text) if setting.kind == Kind::Paths && !is_place(text) => {
                    say("one with a relative path".to_owned(), "write it out from the root, or begin with ~/");
                }
                DeValue::String(text) => names.push(Spanned::new(text.to_string(), span)),
                other => say(format!("one with {}", kind_of(other)), "put each name in double quotes"),
            }
        }
        if setting.kind == Kind::Command && items.is_empty() {
            wrong.push(Unfit::new("empty", "name a program, or take the line out"));
        }
        if wrong.is_empty() { Ok(Value::Names(names)) } else { Err(wrong) }
    }

    /// What is written where a list is expected.
    fn word_for_list(&self, setting: Setting, node: &Node<'_>) -> Result<Value, Unfit> {
        let key = setting.key;
        match (setting.kind, node.get_ref()) {
            (Kind::NamesOrAll, DeValue::String(text)) if text.as_ref() == "all" => Ok(Value::All),
            (Kind::NamesOrAll, DeValue::String(text)) if text.trim().eq_ignore_ascii_case("all") => Err(Unfit {
                found: format!("\"{}\"", short(text)),
                hint: Some(format!("write {key} = \"all\", in small letters and without a list, for every toolset")),
                span: None,
            }),
            (Kind::KeyNames, DeValue::String(text)) if !text.is_empty() => {
                Ok(Value::Names(vec![Spanned::new(text.to_string(), self.lines.span(node.span()))]))
            }
            // Never quoted: a command may hold a secret.
            (Kind::Command, DeValue::String(_)) => {
                Err(Unfit::new("text", &format!("write {key} = [\"program\", \"argument\"]")))
            }
            (Kind::Names, DeValue::String(text)) if text.trim().eq_ignore_ascii_case("all") => Err(Unfit {
                found: format!("\"{}\"", short(text)),
                hint: Some(if key == AGENT_RESIDENT.key {
                    format!("name what is in its context from the start; without `{key}` every listed toolset is")
                } else {
                    "write each name: only `available` takes \"all\"".to_owned()
                }),
                span: None,
            }),
            (_, DeValue::String(text)) => {
                let words: Vec<String> = text
                    .split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty())
                    .map(|word| format!("\"{}\"", short(word)))
                    .collect();
                Err(Unfit::new("text", &format!("write {key} = [{}]", words.join(", "))))
            }
            (_, other) => Err(Unfit::plain(other)),
        }
    }
}

/// A value that is one word or number.
fn scalar(setting: Setting, value: &DeValue<'_>) -> Result<Value, Unfit> {
    let key = setting.key;
    match setting.kind {
        Kind::Text => match value {
            DeValue::String(text) if text.trim().is_empty() => {
                Err(Unfit::new("empty", "take the line out to leave it unset"))
            }
            DeValue::String(text) => Ok(Value::Text(text.to_string())),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                Err(Unfit::new(kind_of(value), "put it in double quotes"))
            }
            other => Err(Unfit::plain(other)),
        },
        Kind::Boolean => match value {
            DeValue::Boolean(value) => Ok(Value::Boolean(*value)),
            DeValue::String(text) => {
                let lower = text.trim().to_lowercase();
                Err(match lower.as_str() {
                    "true" | "yes" | "on" => Unfit::new("text", &format!("write {key} = true")),
                    "false" | "no" | "off" => Unfit::new("text", &format!("write {key} = false")),
                    _ => Unfit::plain(value),
                })
            }
            other => Err(Unfit::plain(other)),
        },
        Kind::Integer { least, most } => match value {
            DeValue::Integer(digits) => match integer(digits) {
                Some(value) if (least..=most).contains(&value) => Ok(Value::Integer(value)),
                _ => Err(Unfit { found: digits.to_string(), hint: None, span: None }),
            },
            DeValue::Float(digits) => Err(Unfit { found: digits.to_string(), hint: None, span: None }),
            other => Err(Unfit::number(key, other)),
        },
        Kind::Number { least, most } => {
            number(key, value, |number| (least..=most).contains(&number)).map(Value::Number)
        }
        Kind::AboveZero => number(key, value, |number| number > 0.0).map(Value::Number),
        Kind::Word(words) => match value {
            DeValue::String(text) if words.contains(&text.as_ref()) => Ok(Value::Text(text.to_string())),
            DeValue::String(text) => Err(Unfit {
                found: format!("\"{}\"", short(text)),
                hint: near(text, words.iter().copied(), 1).first().map(|word| format!("did you mean \"{word}\"?")),
                span: None,
            }),
            other => Err(Unfit::plain(other)),
        },
        Kind::Thinking => match value {
            DeValue::Boolean(value) => Ok(Value::Text(value.to_string())),
            DeValue::String(text) if ["true", "false", "low", "medium", "high"].contains(&text.as_ref()) => {
                Ok(Value::Text(text.to_string()))
            }
            DeValue::String(text) => Err(Unfit {
                found: format!("\"{}\"", short(text)),
                hint: near(text, ["low", "medium", "high"], 1).first().map(|word| format!("did you mean \"{word}\"?")),
                span: None,
            }),
            other => Err(Unfit::plain(other)),
        },
        Kind::Path => match value {
            DeValue::String(text) if is_place(text) => Ok(Value::Text(text.to_string())),
            DeValue::String(_) => Err(Unfit::new("a relative path", "write it out from the root, or begin with ~/")),
            other => Err(Unfit::plain(other)),
        },
        Kind::Variable => match value {
            DeValue::String(text) if is_variable(text) => Ok(Value::Text(text.to_string())),
            // Never quoted: it may be the key itself.
            DeValue::String(_) => Err(Unfit::new(
                "this text",
                "name the variable that holds the key; the key itself is never written into this file",
            )),
            other => Err(Unfit::plain(other)),
        },
        Kind::Address => match value {
            DeValue::String(text) if text.starts_with("http://") || text.starts_with("https://") => {
                Ok(Value::Text(text.to_string()))
            }
            DeValue::String(_) => Err(Unfit::new("an address without a scheme", "begin with http:// or https://")),
            other => Err(Unfit::plain(other)),
        },
        Kind::Strings => Err(Unfit::new(kind_of(value), &format!("write {key} = {{ Name = \"value\" }}"))),
        Kind::Names | Kind::KeyNames | Kind::Paths | Kind::Command | Kind::NamesOrAll => Err(Unfit::plain(value)),
    }
}

/// The near misses of an unknown word, else where the word is known, else what is known here.
fn what_instead(path: &str, pattern: &str, section: Option<&Section>, name: &str, is_table: bool) -> String {
    let tables = tables_in(pattern);
    let keys: Vec<&str> =
        section.map(|section| section.settings).unwrap_or_default().iter().map(|setting| setting.key).collect();
    let headers = |names: &[&str]| -> Vec<String> {
        names
            .iter()
            .map(|name| {
                let chosen = if has_sections(&join(&join(pattern, name), "<name>")) { ".<name>" } else { "" };
                header(&format!("{}{chosen}", join(path, name)))
            })
            .collect()
    };
    let near_tables = near(name, tables.iter().copied(), 2);
    let near_keys = near(name, keys.iter().copied(), 2);
    if is_table && !near_tables.is_empty() {
        return format!("did you mean {}?", or_list(&headers(&near_tables)));
    }
    if !is_table && !near_keys.is_empty() {
        return did_you_mean(&near_keys);
    }
    if !is_table {
        let homes: Vec<String> = SECTIONS
            .iter()
            .filter(|section| section.settings.iter().any(|setting| setting.key == name))
            .map(|section| header(section.path))
            .collect();
        if !homes.is_empty() {
            return format!("`{name}` is a key of {}", or_list(&homes));
        }
    }
    if keys.is_empty() || is_table {
        if tables.is_empty() {
            return "there are no tables inside this one".to_owned();
        }
        return format!("the tables here are {}", headers(&tables).join(", "));
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    format!("the keys here are {}", keys.join(", "))
}

/// Why a value does not fit: what it is, what to write, and the part of it that is to blame.
struct Unfit {
    found: String,
    hint: Option<String>,
    span: Option<Span>,
}

impl Unfit {
    fn new(found: &str, hint: &str) -> Self {
        Self { found: found.to_owned(), hint: Some(hint.to_owned()), span: None }
    }

    fn plain(value: &DeValue<'_>) -> Self {
        Self { found: kind_of(value).to_owned(), hint: None, span: None }
    }

    /// For a number that something else stands for.
    fn number(key: &str, value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
                Self::new("text", &format!("write {key} = {}, without quotes", text.trim()))
            }
            other => Self::plain(other),
        }
    }
}

fn integer(digits: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(digits.as_str(), digits.radix()).ok()
}

fn number(key: &str, value: &DeValue<'_>, fits: impl Fn(f64) -> bool) -> Result<f64, Unfit> {
    let (written, number) = match value {
        DeValue::Integer(digits) => (digits.to_string(), integer(digits).map(|value| value as f64)),
        DeValue::Float(digits) => (digits.to_string(), digits.as_str().parse::<f64>().ok()),
        other => return Err(Unfit::number(key, other)),
    };
    number.filter(|number| number.is_finite() && fits(*number)).ok_or(Unfit { found: written, hint: None, span: None })
}

fn is_variable(text: &str) -> bool {
    let begins = text.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    begins && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn is_place(text: &str) -> bool {
    text == "~" || text.starts_with("~/") || std::path::Path::new(text).is_absolute()
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(true) => "true",
        DeValue::Boolean(false) => "false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// At most 60 characters of a text from the file.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

pub(super) fn did_you_mean<T: std::fmt::Display>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("did you mean {}?", or_list(&quoted))
}

/// `[agents.coder.tools]`.
pub(super) fn header(path: &str) -> String {
    format!("[{path}]")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The path of the table of a chosen name. One that holds a dot is quoted, so that it is nobody else's path.
pub(super) fn path_of(list: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if bare { format!("{list}.{name}") } else { format!("{list}.{name:?}") }
}

/// Whether a table at this path is one, or leads to one.
fn has_sections(path: &str) -> bool {
    SECTIONS
        .iter()
        .any(|section| section.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// The names of the tables directly inside.
fn tables_in(pattern: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = SECTIONS
        .iter()
        .filter_map(|section| {
            let rest = if pattern.is_empty() {
                section.path
            } else {
                section.path.strip_prefix(pattern)?.strip_prefix('.')?
            };
            rest.split('.').next()
        })
        .collect();
    names.dedup();
    names
}

/// One table, read with the defaults of its declaration.
pub(super) struct Table<'a> {
    entries: Option<&'a BTreeMap<String, Entry>>,
}

impl Written {
    /// The table at `path`; where it is not written, every key has its default.
    pub(super) fn at(&self, path: &str) -> Table<'_> {
        Table { entries: self.tables.get(path) }
    }
}

impl<'a> Table<'a> {
    /// The entry of a key, if it was written.
    pub(super) fn entry(&self, setting: &Setting) -> Option<&'a Entry> {
        self.entries?.get(setting.key)
    }

    fn written(&self, setting: &Setting) -> Option<&'a Value> {
        self.entry(setting).map(|entry| &entry.value.value)
    }

    pub(super) fn text(&self, setting: &Setting) -> Option<String> {
        match (self.written(setting), setting.default) {
            (Some(Value::Text(text)), _) => Some(text.clone()),
            (None, Default::Text(text)) => Some(text.to_owned()),
            _ => None,
        }
    }

    pub(super) fn boolean(&self, setting: &Setting) -> bool {
        match (self.written(setting), setting.default) {
            (Some(Value::Boolean(value)), _) => *value,
            (None, Default::Boolean(value)) => value,
            _ => false,
        }
    }

    pub(super) fn integer(&self, setting: &Setting) -> Option<i64> {
        match (self.written(setting), setting.default) {
            (Some(Value::Integer(value)), _) => Some(*value),
            (None, Default::Integer(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn number(&self, setting: &Setting) -> Option<f64> {
        match (self.written(setting), setting.default) {
            (Some(Value::Number(value)), _) => Some(*value),
            (None, Default::Number(value)) => Some(value),
            _ => None,
        }
    }

    /// The names with their places; `None` where nothing was written.
    pub(super) fn names(&self, setting: &Setting) -> Option<&'a [Spanned<String>]> {
        match self.written(setting) {
            Some(Value::Names(names)) => Some(names),
            _ => None,
        }
    }

    /// The names without places, or those of the default.
    pub(super) fn words(&self, setting: &Setting) -> Vec<String> {
        match (self.names(setting), setting.default) {
            (Some(names), _) => names.iter().map(|name| name.value.clone()).collect(),
            (None, Default::Names(names)) => names.iter().map(|name| (*name).to_owned()).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn strings(&self, setting: &Setting) -> BTreeMap<String, String> {
        match self.written(setting) {
            Some(Value::Strings(strings)) => strings.clone(),
            _ => BTreeMap::new(),
        }
    }

    /// Every entry, by key.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.entries.into_iter().flatten().map(|(key, entry)| (key.as_str(), entry))
    }
}
