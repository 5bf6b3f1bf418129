//! The configuration in force, key by key, with the line that says so: `kokua config show`. No secret is ever shown.

use std::fmt::Write as _;

use super::Config;
use super::settings::{Default, Kind, SECTIONS, Section, Setting};
use super::written::{Entry, Value, Written, path_of, read};

/// Every key that holds something: as written with its line, or its default. Tables of agents and providers show what
/// is written only, since what they lack comes from elsewhere.
pub fn show(config: &Config) -> String {
    let mut text = String::new();
    for Shown { path, lines } in tables(config) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "[{path}]");
        let lefts = lines.iter().map(|line| line.key.chars().count() + 3 + line.value.chars().count());
        let width = lefts.filter(|width| *width <= 60).max().unwrap_or(0);
        for InForce { key, value, line } in lines {
            let right = line.map_or_else(|| "default".to_owned(), |line| format!("line {line}"));
            let _ = writeln!(text, "{:width$}  # {right}", format!("{key} = {value}"));
        }
    }
    text
}

/// One key that holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// Its name.
    pub key: String,
    /// As it would be written, without what may be secret.
    pub value: String,
    /// Its line; `None`: the default.
    pub line: Option<usize>,
}

/// One table of what is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its path.
    pub path: String,
    /// Its keys.
    pub lines: Vec<InForce>,
}

/// What [`show`] shows, table by table.
pub fn tables(config: &Config) -> Vec<Shown> {
    let written = read(&config.source.text);
    let mut tables = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    for section in SECTIONS {
        match section.path.split_once(".<name>") {
            None => tables.extend(table(section, section.path, &written)),
            // All tables of one name stand together, where the first of them would.
            Some((list, _)) if !shown.contains(&list) => {
                shown.push(list);
                for (_, name) in written.names.iter().filter(|(of, _)| *of == list) {
                    let below = SECTIONS.iter().filter_map(|section| Some((section, section.path.strip_prefix(list)?)));
                    for (section, rest) in below {
                        let path = format!("{}{}", path_of(list, &name.value), rest.trim_start_matches(".<name>"));
                        tables.extend(table(section, &path, &written));
                    }
                }
            }
            Some(_) => {}
        }
    }
    tables
}

fn table(section: &Section, path: &str, written: &Written) -> Option<Shown> {
    let table = written.at(path);
    let named = section.path.contains("<name>");
    let mut lines = Vec::new();
    for setting in section.settings {
        match (table.entry(setting), setting.default) {
            (Some(entry), _) => lines.push(line(setting.key, setting, entry)),
            (None, Default::Unset(_)) => {}
            (None, _) if named => {}
            (None, default) => {
                lines.push(InForce { key: setting.key.to_owned(), value: plain(default), line: None });
            }
        }
    }
    if let Some(setting) = &section.any_key {
        lines.extend(table.entries().map(|(key, entry)| line(key, setting, entry)));
    }
    (!lines.is_empty()).then(|| Shown { path: path.to_owned(), lines })
}

fn line(key: &str, setting: &Setting, entry: &Entry) -> InForce {
    InForce { key: key.to_owned(), value: value(setting, &entry.value.value), line: Some(entry.key.line) }
}

fn value(setting: &Setting, value: &Value) -> String {
    match value {
        Value::Text(text) if setting.kind == Kind::Thinking && (text == "true" || text == "false") => text.clone(),
        Value::Text(text) if setting.kind == Kind::Address || setting.key == "model" => {
            quoted(&without_credentials(text))
        }
        Value::Text(text) => quoted(text),
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        // What a command is called with may be a secret.
        Value::Names(names) if setting.kind == Kind::Command && names.len() > 1 => {
            list(names.iter().take(1).map(|name| name.value.as_str()).chain(["…"]))
        }
        Value::Names(names) => list(names.iter().map(|name| name.value.as_str())),
        Value::All => quoted("all"),
        Value::Strings(strings) => {
            let shown: Vec<String> = strings.keys().map(|name| format!("{} = \"…\"", quoted(name))).collect();
            format!("{{ {} }}", shown.join(", "))
        }
    }
}

fn plain(default: Default) -> String {
    match default {
        Default::Unset(_) => String::new(),
        Default::Boolean(value) => value.to_string(),
        Default::Integer(value) => value.to_string(),
        Default::Number(value) => value.to_string(),
        Default::Text(value) => quoted(value),
        Default::Names(names) => list(names.iter().copied()),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(quoted).collect();
    format!("[{}]", names.join(", "))
}

/// As a basic string on one line, with everything that is not plain text escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            other
                if other.is_control()
                    || matches!(other, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}') =>
            {
                let _ = write!(quoted, "\\u{:04X}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// An address, or a text with one in it such as a model string, without what may be secret in it: what stands before an
/// `@` in its host, and what its query says.
pub fn without_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (hidden, rest) = match host.rsplit_once('@') {
        Some((credentials, _)) => ("…", rest.get(credentials.len()..).unwrap_or_default()),
        None => ("", rest),
    };
    match rest.split_once('?') {
        Some((path, _)) => format!("{scheme}://{hidden}{path}?…"),
        None => format!("{scheme}://{hidden}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_an_address_are_left_out() {
        assert_eq!(without_credentials("https://me:hush@host/v1"), "https://…@host/v1");
        assert_eq!(without_credentials("https://host/a@b"), "https://host/a@b");
        assert_eq!(without_credentials("https://host/v1?key=hush"), "https://host/v1?…");
        assert_eq!(
            without_credentials("openai-compat:m@http://me:hush@host;tools"),
            "openai-compat:m@http://…@host;tools"
        );
        assert_eq!(without_credentials("ollama:qwen3:8b"), "ollama:qwen3:8b");
    }
}
