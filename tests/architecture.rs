//! Which way arrows may point: every source is parsed, every path in it is resolved, and a path that leaves its room by
//! a door that the tables below do not name fails. It never looks at test code (`#[cfg(test)]`, files named `tests.rs`, `src/histories`).
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads the sources that it checks")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// One room of `src`, and the rooms that it may name.
struct Room {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// The adapters' doors. They never name each other: what one needs of another it is given by `app.rs`.
const ADAPTER: &[&str] = &["tool", "agent", "access", "config", "system"];

const ROOMS: &[Room] = &[
    Room { name: "access", may_use: &[] },
    Room { name: "system", may_use: &[] },
    Room { name: "agent", may_use: &["access"] },
    Room { name: "tool", may_use: &["access", "agent"] },
    Room { name: "config", may_use: &["access", "system"] },
    Room { name: "model", may_use: ADAPTER },
    Room { name: "toolsets", may_use: ADAPTER },
    Room { name: "mcp", may_use: ADAPTER },
    Room { name: "skill", may_use: ADAPTER },
    Room { name: "schedule", may_use: ADAPTER },
    Room { name: "store", may_use: ADAPTER },
    Room { name: "sandbox", may_use: ADAPTER },
    Room { name: "assistant", may_use: &["agent", "access", "tool", "config", "system"] },
    Room { name: "ui", may_use: &["agent", "access"] },
    Room { name: "terminal", may_use: &["ui", "assistant", "agent", "access", "config", "system"] },
    Room { name: "cli", may_use: &["app", "config", "assistant", "agent", "access", "system"] },
    Room {
        name: "app",
        may_use: &[
            "access",
            "agent",
            "assistant",
            "config",
            "mcp",
            "model",
            "sandbox",
            "schedule",
            "skill",
            "store",
            "system",
            "terminal",
            "tool",
            "toolsets",
            "ui",
        ],
    },
    Room { name: "main", may_use: &["cli"] },
    Room { name: "lib", may_use: &[] },
];

/// Doors inside rooms that only some may open: "agent's types" and "config's types" mean without these.
const INNER_DOORS: &[(&str, &[&str])] = &[
    ("agent::Run", &["assistant", "app"]),
    ("agent::run", &["assistant", "app"]),
    ("agent::prompt", &["assistant", "app"]),
    ("config::load", &["app", "cli"]),
    ("config::init", &["app", "cli"]),
    ("config::set", &["app", "cli"]),
];

/// Everybody may name it.
const ANYWHERE: &[&str] = &["*"];

/// Every crate of `[dependencies]`, as it is called in code, and the rooms that may name it.
const CRATE_HOMES: &[(&str, &[&str])] = &[
    ("clap", &["cli", "main"]),
    ("crossterm", &["terminal"]),
    ("futures_util", &["tool", "toolsets", "model", "assistant", "terminal", "cli", "app"]),
    ("getrandom", &["system"]),
    ("ignore", &["toolsets"]),
    ("jiff", &["system", "model", "toolsets", "store", "ui", "cli"]),
    ("jsonschema", &["tool"]),
    ("nucleo_matcher", &["ui"]),
    ("num_bigint", &["toolsets"]),
    ("pulldown_cmark", &["ui"]),
    ("ratatui", &["ui", "terminal"]),
    ("reqwest", &["model"]),
    ("rustix", &["system", "toolsets", "terminal"]),
    ("rustls", &["model", "app"]),
    ("schemars", &["tool", "toolsets"]),
    ("secrecy", &["model", "app"]),
    ("serde", ANYWHERE),
    ("serde_json", ANYWHERE),
    ("sha2", &["access", "agent", "tool", "toolsets", "assistant", "store"]),
    ("shlex", &["toolsets", "terminal"]),
    ("similar", &["ui", "toolsets"]),
    ("tempfile", &["system", "config", "store", "toolsets", "terminal"]),
    ("thiserror", ANYWHERE),
    ("tokio", &["system", "model", "toolsets", "store", "assistant", "terminal", "cli", "app", "main"]),
    ("toml", &["config", "model", "ui"]),
    ("toml_edit", &["config"]),
    ("tracing", &["system", "config", "model", "toolsets", "store", "assistant", "terminal", "cli", "app"]),
    ("tracing_subscriber", &["system"]),
    ("tui_textarea", &["ui"]),
    ("unicode_segmentation", &["ui", "tool", "toolsets", "terminal"]),
    ("unicode_width", &["ui", "terminal", "cli", "config"]),
    ("uuid", &["system", "store", "assistant"]),
];

/// Every crate of `[dev-dependencies]`: none of them is named in a source outside test code.
const TEST_CRATES: &[&str] =
    &["criterion", "insta", "portable_pty", "pretty_assertions", "proptest", "syn", "vt100", "wiremock"];

/// Places that compute and nothing else: a room, or the files of a room that start so.
const PURE: &[&str] =
    &["access", "agent", "tool", "ui", "model/openai", "model/anthropic", "model/ollama", "model/gemini", "model/sse"];

/// What a pure place never names.
const IMPURE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "reqwest",
    "tokio",
    "tracing",
    "ratatui::crossterm",
    "ratatui::init",
    "ratatui::restore",
    "ratatui::run",
    "ratatui::try_init",
];

/// Further paths that a room never names.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("config", &["std::net", "std::process", "std::thread"]),
    ("store", &["std::net", "std::process"]),
    ("system", &["std::net"]),
    ("assistant", &["std::fs", "std::net", "std::process"]),
    ("terminal", &["ratatui::crossterm"]),
];

/// Calls that read a clock, the zone of this machine or chance, whatever the type was imported as.
const CLOCKS: &[(&str, &[&str])] = &[
    ("SystemTime", &["now"]),
    ("Instant", &["now"]),
    ("Timestamp", &["now"]),
    ("Zoned", &["now"]),
    ("TimeZone", &["system", "try_system"]),
    ("Uuid", &["new_v4", "now_v7"]),
];

/// Who may read them.
const CLOCK_HOMES: &[&str] = &["system", "terminal", "assistant", "model/http", "toolsets/time"];

/// A path found in a source, resolved as far as its text allows: `["crate", "access", "World"]`, `["std", "fs", "read"]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    path: Vec<String>,
    reexport: bool,
}

/// Collects every path of one file that is not test code.
struct Paths {
    /// Module path of the file and the inline modules being visited, without `crate`.
    module: Vec<String>,
    /// Modules that this file declares: their names are no crates.
    declared: BTreeSet<String>,
    /// What a `use` brought into scope: `config` for `use crate::config`, so that `config::load` is seen through.
    imported: BTreeMap<String, Vec<String>>,
    found: BTreeSet<Found>,
}

impl Paths {
    fn add(&mut self, segments: &[String], reexport: bool) {
        let Some(first) = segments.first() else { return };
        let path = match first.as_str() {
            "crate" | "kokua" => {
                let mut path = vec!["crate".to_owned()];
                path.extend(segments.iter().skip(1).cloned());
                path
            }
            "self" | "super" => {
                let mut base = self.module.clone();
                let mut rest = segments;
                while let Some((head, tail)) = rest.split_first() {
                    match head.as_str() {
                        "self" => {}
                        "super" => {
                            base.pop();
                        }
                        _ => break,
                    }
                    rest = tail;
                }
                let mut path = vec!["crate".to_owned()];
                path.extend(base);
                path.extend(rest.iter().cloned());
                path
            }
            "core" | "alloc" => {
                let mut path = vec!["std".to_owned()];
                path.extend(segments.iter().skip(1).cloned());
                path
            }
            name if self.declared.contains(name) => return,
            _ => segments.to_vec(),
        };
        self.found.insert(Found { path, reexport });
    }

    fn add_use(&mut self, tree: &syn::UseTree, prefix: &mut Vec<String>, reexport: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_use(&path.tree, prefix, reexport);
                prefix.pop();
            }
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.add_use(item, prefix, reexport);
                }
            }
            syn::UseTree::Name(name) => self.add_leaf(&name.ident.to_string(), None, prefix, reexport),
            syn::UseTree::Rename(rename) => {
                self.add_leaf(&rename.ident.to_string(), Some(rename.rename.to_string()), prefix, reexport);
            }
            syn::UseTree::Glob(_) => self.add_leaf("*", None, prefix, reexport),
        }
    }

    fn add_leaf(&mut self, leaf: &str, alias: Option<String>, prefix: &[String], reexport: bool) {
        let mut path = prefix.to_vec();
        if leaf != "self" {
            path.push(leaf.to_owned());
        }
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            self.imported.insert(name, path.clone());
        }
        self.add(&path, reexport);
    }

    /// The paths that begin with an imported name, spelled out.
    fn see_through_imports(&mut self) {
        let spelled: Vec<Vec<String>> = self
            .found
            .iter()
            .filter_map(|found| {
                let (first, rest) = found.path.split_first()?;
                let import = self.imported.get(first).filter(|import| import.first() != Some(first))?;
                Some(import.iter().chain(rest).cloned().collect())
            })
            .collect();
        for path in spelled {
            self.add(&path, false);
        }
    }

    /// Macro calls and attributes are tokens, not syntax: paths are read off their text.
    fn add_tokens(&mut self, text: &str) {
        for path in paths_of_tokens(text) {
            self.add(&path, false);
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test_code(attributes_of(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test_code(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.declared.insert(item.ident.to_string());
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let reexport = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&item.tree, &mut Vec::new(), reexport);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.add(&[item.ident.to_string(), "*".to_owned()], false);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(&segments, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.add_tokens(&call.tokens.to_string());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        visit::visit_attribute(self, attribute);
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(&list.tokens.to_string());
        }
    }
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test_code(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::NameValue(_) => false,
    })
}

/// Every `a :: b :: c` in the text of a token stream, with string and character literals left out.
fn paths_of_tokens(text: &str) -> Vec<Vec<String>> {
    let characters: Vec<char> = text.chars().collect();
    let mut paths = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut joined = false;
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        if character == '"' {
            at += 1;
            while let Some(&inside) = characters.get(at) {
                at += if inside == '\\' { 2 } else { 1 };
                if inside == '"' {
                    break;
                }
            }
        } else if character == '\'' {
            // A character literal closes within the next ten characters (`'\u{10FFFF}'`); a lifetime does not.
            let literal = if characters.get(at + 1) == Some(&'\\') {
                characters.iter().skip(at + 3).take(9).position(|&c| c == '\'').map(|offset| offset + 4)
            } else {
                (characters.get(at + 2) == Some(&'\'')).then_some(3)
            };
            at += literal.unwrap_or(1);
        } else if character.is_alphabetic() || character == '_' {
            let start = at;
            while characters.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                at += 1;
            }
            let word: String = characters.iter().skip(start).take(at - start).collect();
            let hashes = characters.iter().skip(at).take_while(|&&c| c == '#').count();
            if matches!(word.as_str(), "r" | "br" | "cr") && characters.get(at + hashes) == Some(&'"') {
                at += hashes + 1;
                while at < characters.len() {
                    let closes = characters.get(at) == Some(&'"')
                        && characters.iter().skip(at + 1).take(hashes).filter(|&&c| c == '#').count() == hashes;
                    at += 1;
                    if closes {
                        at += hashes;
                        break;
                    }
                }
                continue;
            }
            if !joined {
                paths.push(std::mem::take(&mut path));
            }
            path.push(word);
            joined = false;
            continue;
        } else if character == ':' && characters.get(at + 1) == Some(&':') {
            joined = true;
            at += 2;
            continue;
        } else if character.is_whitespace() {
            at += 1;
            continue;
        } else {
            at += 1;
        }
        paths.push(std::mem::take(&mut path));
        joined = false;
    }
    paths.push(path);
    paths.retain(|path| path.len() > 1);
    paths
}

/// `agent/run.rs` is `["agent", "run"]`, `agent/mod.rs` is `["agent"]`, `lib.rs` is `[]`.
fn module_of(file: &str) -> Vec<String> {
    let mut module: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

fn room_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// Whether a file is in a room (`model`), or among the files of a room that start so (`model/openai`).
fn is_at(file: &str, place: &str) -> bool {
    if place.contains('/') { file.starts_with(place) } else { room_of(file) == place }
}

fn is_test_file(file: &str) -> bool {
    file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "histories") || part.ends_with("_tests.rs"))
}

fn starts_with(path: &[String], prefix: &str) -> bool {
    let prefix: Vec<&str> = prefix.split("::").collect();
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(segment, expected)| segment == expected)
}

fn room(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

/// Everything that is wrong with one file: `file: path: why`.
fn violations(file: &str, source: &str) -> Vec<String> {
    let syntax = match syn::parse_file(source) {
        Ok(syntax) => syntax,
        Err(error) => return vec![format!("{file}: does not parse: {error}")],
    };
    let name = room_of(file);
    let Some(own) = room(name) else {
        return vec![format!("{file}: a new room; give it a row in ROOMS of tests/architecture.rs")];
    };
    let mut paths =
        Paths { module: module_of(file), declared: BTreeSet::new(), imported: BTreeMap::new(), found: BTreeSet::new() };
    paths.visit_file(&syntax);
    paths.see_through_imports();
    let pure = PURE.iter().any(|place| is_at(file, place));

    let mut wrong = BTreeSet::new();
    for Found { path, reexport } in &paths.found {
        let shown = path.join("::");
        let mut say = |why: &str| {
            wrong.insert(format!("{file}: {shown}: {why}"));
        };
        if let [root, target, rest @ ..] = path.as_slice()
            && root == "crate"
        {
            if target == "*" && name != "lib" {
                say("a glob over the whole crate hides which rooms it names");
            } else if target != name && name != "lib" && room(target).is_some() {
                if !own.may_use.contains(&target.as_str()) {
                    say(&format!("{name} must not name {target}"));
                }
                let inside: Vec<String> = std::iter::once(target).chain(rest).cloned().collect();
                for (door, homes) in INNER_DOORS {
                    if starts_with(&inside, door) && !homes.contains(&name) {
                        say(&format!("only {} may name {door}", homes.join(", ")));
                    }
                }
                if *reexport {
                    for user in ROOMS.iter().filter(|user| user.may_use.contains(&name)) {
                        if user.name != target && !user.may_use.contains(&target.as_str()) {
                            say(&format!("re-exported, it would reach {}, which must not name {target}", user.name));
                        }
                    }
                }
            }
            continue;
        }
        let Some(first) = path.first() else { continue };
        if let Some((_, homes)) = CRATE_HOMES.iter().find(|(home, _)| home == first)
            && *homes != ANYWHERE
            && !homes.contains(&name)
        {
            say(&format!("the crate {first} is named in {} only", homes.join(", ")));
        }
        if TEST_CRATES.contains(&first.as_str()) {
            say(&format!("the crate {first} is for tests"));
        }
        if pure && IMPURE.iter().any(|prefix| starts_with(path, prefix)) {
            say("this place is pure: time, disk, network and processes are arguments");
        }
        for (place, prefixes) in FORBIDDEN {
            if *place == name && prefixes.iter().any(|prefix| starts_with(path, prefix)) {
                say(&format!("{name} never does this"));
            }
        }
        if let [.., owner, call] = path.as_slice()
            && CLOCKS.iter().any(|(clock, calls)| clock == owner && calls.contains(&call.as_str()))
            && !CLOCK_HOMES.iter().any(|place| is_at(file, place))
        {
            say(&format!("clocks and chance are read in {} only", CLOCK_HOMES.join(", ")));
        }
    }
    wrong.into_iter().collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `directory`, relative to it, with forward slashes.
fn sources(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(directory).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn arrows_point_where_they_may() {
    let wrong: Vec<String> = sources(&root().join("src"))
        .iter()
        .filter(|(file, _)| !is_test_file(file))
        .flat_map(|(file, source)| violations(file, source))
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_dependency_is_a_decision() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let names = |table: &str| -> BTreeSet<String> {
        manifest
            .get(table)
            .and_then(toml::Value::as_table)
            .map(|table| table.keys().map(|name| name.replace('-', "_")).collect())
            .unwrap_or_default()
    };
    let mut wrong = Vec::new();
    let rows: [(&str, BTreeSet<String>); 2] = [
        ("dependencies", CRATE_HOMES.iter().map(|(name, _)| (*name).to_owned()).collect()),
        ("dev-dependencies", TEST_CRATES.iter().map(|name| (*name).to_owned()).collect()),
    ];
    for (table, known) in rows {
        for name in names(table).difference(&known) {
            wrong.push(format!("Cargo.toml [{table}]: {name} has no row in tests/architecture.rs"));
        }
        for name in known.difference(&names(table)) {
            wrong.push(format!("tests/architecture.rs: {name} is not in [{table}] of Cargo.toml"));
        }
    }
    for table in ["build-dependencies", "target"] {
        if manifest.contains_key(table) {
            wrong.push(format!("Cargo.toml [{table}]: not covered by tests/architecture.rs yet"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn the_tables_name_rooms_that_the_table_of_rooms_knows() {
    let mut wrong = Vec::new();
    let mut look = |name: &str, place: &str| {
        if name != "*" && room(name).is_none() {
            wrong.push(format!("{place}: {name} is no room"));
        }
    };
    for own in ROOMS {
        own.may_use.iter().for_each(|name| look(name, own.name));
    }
    for (crate_name, homes) in CRATE_HOMES {
        homes.iter().for_each(|name| look(name, crate_name));
    }
    for (place, _) in FORBIDDEN {
        look(place, "FORBIDDEN");
    }
    assert_none(&wrong);
}

/// No room may be reached from itself: the rooms are layers.
#[test]
fn the_table_of_rooms_has_no_cycle() {
    fn reaches(from: &str, target: &str, seen: &mut BTreeSet<String>) -> bool {
        room(from).is_some_and(|room| {
            room.may_use
                .iter()
                .any(|next| *next == target || (seen.insert((*next).to_owned()) && reaches(next, target, seen)))
        })
    }
    let wrong: Vec<String> = ROOMS
        .iter()
        .filter(|room| reaches(room.name, room.name, &mut BTreeSet::new()))
        .map(|room| format!("{} reaches itself", room.name))
        .collect();
    assert_none(&wrong);
}

#[test]
fn planted_violations_are_found() {
    let planted: &[(&str, &str, &str)] = &[
        ("access/world.rs", "use crate::ui::State;", "access must not name ui"),
        ("access/world.rs", "use super::super::model::http;", "access must not name model"),
        ("access/world.rs", "mod a { mod b { use super::super::super::super::ui; } }", "access must not name ui"),
        ("access/world.rs", "use crate::{access::World, agent as other};", "access must not name agent"),
        ("access/world.rs", "fn f() { let _ = crate::config::load(x); }", "access must not name config"),
        ("access/world.rs", "fn f() { println!(\"{}\", crate::config::EXAMPLE); }", "access must not name config"),
        ("access/world.rs", "use crate::*;", "a glob over the whole crate"),
        ("access/world.rs", "fn f(a: std::fs::File) {}", "this place is pure"),
        ("access/world.rs", "use std::{fmt, env::var};", "this place is pure"),
        ("access/world.rs", "fn f() { vec![std::thread::current()]; }", "this place is pure"),
        ("ui/view/mod.rs", "use ratatui::crossterm::event;", "this place is pure"),
        ("ui/view/mod.rs", "use std::time::SystemTime;", "this place is pure"),
        ("ui/view/mod.rs", "fn f() { jiff::Zoned::now(); }", "clocks and chance"),
        ("model/openai.rs", "use tokio::time;", "this place is pure"),
        ("model/select.rs", "use uuid::Uuid;", "the crate uuid is named in"),
        ("store/log.rs", "use crate::model::http;", "store must not name model"),
        ("store/log.rs", "use crate::agent::Run;", "only assistant, app may name agent::Run"),
        ("store/log.rs", "use crate::config; fn f() { config::load(); }", "only app, cli may name config::load"),
        ("model/select.rs", "use std::time::Instant as I; fn f() { I::now(); }", "clocks and chance"),
        ("toolsets/fs.rs", "#[derive(clap::Parser)] struct A;", "the crate clap is named in"),
        ("toolsets/fs.rs", "use proptest::prelude::*;", "the crate proptest is for tests"),
        ("agent/mod.rs", "pub use crate::tool::Output;", "agent must not name tool"),
        ("assistant/mod.rs", "pub use crate::tool::Output;", "re-exported, it would reach terminal"),
        ("config/mod.rs", "fn f() { std::process::Command::new(\"a\"); }", "config never does this"),
        ("main.rs", "fn main() { kokua::app::run(); }", "main must not name app"),
        ("attic/mod.rs", "", "a new room"),
    ];
    for (file, source, expected) in planted {
        let found = violations(file, source);
        assert!(found.iter().any(|line| line.contains(expected)), "{file}: {source}\nfound: {found:#?}");
    }
}

#[test]
fn what_is_allowed_is_not_found() {
    let fine: &[(&str, &str)] = &[
        ("access/world.rs", "use super::name::AgentName; use crate::access::declare::Fault; use std::time::Duration;"),
        ("access/world.rs", "fn f() { print(\"std::fs::read\", r#\"crate::ui\"#, '\"', 'a', \"crate::model\"); }"),
        ("access/world.rs", "fn f() { say!(\"std::fs::read\", r#\"crate::ui \" \"#, '\"', \"crate::model\"); }"),
        ("access/world.rs", "#[cfg(test)] mod tests { use proptest::prelude::*; use std::fs; }"),
        ("access/world.rs", "mod toml; fn f() { toml::read(); }"),
        ("tool/mod.rs", "pub use crate::access::Risk; pub use crate::agent::update::Preview;"),
        ("model/http.rs", "use reqwest::Client; use crate::config::Provider; use tokio::time::sleep;"),
        ("toolsets/fs.rs", "use std::fs; use tokio::task::spawn_blocking;"),
        ("app.rs", "use crate::{model, store, terminal, toolsets}; use crate::agent::Run;"),
        ("lib.rs", "pub mod access; pub mod ui;"),
        ("main.rs", "fn main() -> std::process::ExitCode { kokua::cli::main() }"),
    ];
    for (file, source) in fine {
        assert_eq!(violations(file, source), Vec::<String>::new(), "{source}");
    }
}
