//! The house kept in order: file length, module headers, descriptions of tools, no bare reminders, no paths of one
//! machine. What clippy or the compiler can say is left to them.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads the sources that it checks")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The longest file; 500 lines is what is aimed at.
const LONGEST: usize = 800;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder` with one of these endings, by its path from the root, with forward slashes.
fn files(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Every text that is ours: sources, tests, documents, the configuration of tools.
fn everything() -> Vec<(String, String)> {
    let endings = &["rs", "md", "toml", "txt", "snap", "json", "sse", "jsonl", "sh"];
    let mut all = Vec::new();
    for folder in ["src", "tests", "benches", "assets", "docs", ".ci"] {
        all.extend(files(folder, endings));
    }
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file()
            && let Ok(text) = fs::read_to_string(&path)
        {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // A worktree's `.git` is a file that names where its repository is.
            if name != "Cargo.lock" && name != ".git" {
                all.push((name, text));
            }
        }
    }
    all
}

fn is_test(file: &str) -> bool {
    file.starts_with("tests/")
        || file.ends_with("_tests.rs")
        || file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "histories"))
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn no_file_is_longer_than_one_can_read() {
    let wrong: Vec<String> = files("src", &["rs"])
        .into_iter()
        .filter(|(file, _)| !is_test(file))
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(file, lines)| format!("{file}: {lines} lines; {LONGEST} is the limit, 500 the aim"))
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_module_says_what_it_is_for() {
    let wrong: Vec<String> = files("src", &["rs"])
        .into_iter()
        .chain(files("tests", &["rs"]))
        .chain(files("benches", &["rs"]))
        .filter(|(file, _)| !file.ends_with("/tests.rs") && !file.ends_with("_tests.rs"))
        .filter(|(_, text)| {
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("//! ").is_none_or(|words| words.split_whitespace().count() < 3)
        })
        .map(|(file, _)| format!("{file}: begins with no `//!` line that says what it is for"))
        .collect();
    assert_none(&wrong);
}

/// The tools that `assets/tools` describes.
fn described_tools() -> BTreeSet<String> {
    files("assets/tools", &["md"])
        .into_iter()
        .filter_map(|(file, _)| Some(Path::new(&file).file_stem()?.to_str()?.to_owned()))
        .collect()
}

/// Every `assets/tools/*.md` is compiled into a toolset, and every one that a toolset compiles in is there. That each
/// *registered* tool has a description of its own is said by the test of the registry: here it is files.
#[test]
fn every_tool_has_a_description_and_every_description_a_tool() {
    let described = described_tools();
    let mut used = BTreeSet::new();
    for (_, text) in files("src", &["rs"]) {
        for part in text.split("assets/tools/").skip(1) {
            if let Some((name, _)) = part.split_once(".md\"") {
                used.insert(name.to_owned());
            }
        }
    }
    let mut wrong: Vec<String> =
        described.difference(&used).map(|name| format!("assets/tools/{name}.md: no source includes it")).collect();
    wrong.extend(used.difference(&described).map(|name| format!("assets/tools/{name}.md: included, and not there")));
    for (file, text) in files("assets/tools", &["md"]) {
        if text.trim().is_empty() {
            wrong.push(format!("{file}: empty"));
        }
    }
    assert_none(&wrong);
}

/// A reminder without a number is forgotten: it names an issue, as in `TODO(12)`.
#[test]
fn no_bare_reminder() {
    let words = ["TODO", "FIXME", "XXX", "HACK"];
    let mut wrong = Vec::new();
    for (file, text) in files("src", &["rs"]).into_iter().chain(files("benches", &["rs"])) {
        for (index, line) in text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for word in words {
                let mut rest = comment;
                while let Some((before, after)) = rest.split_once(word) {
                    let whole = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
                    let numbered = after.strip_prefix('(').is_some_and(|after| after.starts_with(char::is_numeric));
                    if whole && !numbered {
                        wrong.push(format!("{file}:{}: {word} without the number of an issue", index + 1));
                    }
                    rest = after;
                }
            }
        }
    }
    assert_none(&wrong);
}

/// Paths that exist on one machine only. `/home/me` and `/srv` are what examples use.
#[test]
fn nothing_names_a_path_of_one_machine() {
    let own = root().to_string_lossy().into_owned();
    // Spelled in two halves, so that this file is clean too.
    let folders = [["/ro", "ot/"], ["/Use", "rs/"], ["/tmp/", "wt"], ["/wor", "k/shared"], ["C:\\Us", "ers\\"]];
    let mut wrong = Vec::new();
    for (file, text) in everything() {
        for (index, line) in text.lines().enumerate() {
            if line.contains(&own) || folders.iter().any(|halves| line.contains(&halves.concat())) {
                wrong.push(format!("{file}:{}: names a path of one machine", index + 1));
            }
        }
    }
    assert_none(&wrong);
}

/// Two tools that sort the same list differently fight over it forever.
#[test]
fn dependencies_are_sorted() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut wrong = Vec::new();
    for table in ["[dependencies]", "[dev-dependencies]"] {
        let Some((_, rest)) = manifest.split_once(table) else { continue };
        let names: Vec<&str> = rest
            .lines()
            .take_while(|line| !line.starts_with('['))
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
            .collect();
        for pair in names.windows(2) {
            if pair[0] > pair[1] {
                wrong.push(format!("Cargo.toml {table}: {} stands after {}", pair[1], pair[0]));
            }
        }
    }
    assert_none(&wrong);
}

/// A snapshot that no test writes any more looks like a promise and is none.
#[test]
fn every_snapshot_of_a_test_file_has_its_test_file() {
    let wrong: Vec<String> = files("tests", &["snap"])
        .into_iter()
        .filter_map(|(file, text)| {
            let source = text.lines().find_map(|line| line.strip_prefix("source: "))?.to_owned();
            (!root().join(&source).is_file()).then(|| format!("{file}: written by {source}, which is gone"))
        })
        .collect();
    assert_none(&wrong);
}
