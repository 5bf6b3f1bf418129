//! Tables in documents that are made from the sources: compared, or with `UPDATE=1` written. Never edited by hand.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads and writes the documents that it checks")]

#[path = "docs/rules.rs"]
mod rules;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use kokua::config;
use kokua::tool::Services;

/// One generated part of a document: the file, the name in its marker, and what stands between the marks.
struct Generated {
    file: &'static str,
    name: &'static str,
    make: fn() -> String,
}

/// Every generated part. A new table is a row here and a pair of marks in the document:
/// `<!-- generated: NAME -->` and `<!-- end -->`.
const GENERATED: &[Generated] = &[
    Generated { file: "docs/access.md", name: "rules", make: rules::table },
    Generated { file: "docs/config.md", name: "config keys", make: kokua::config::reference },
    Generated { file: "docs/keys.md", name: "keys", make: kokua::ui::keys_table_markdown },
    Generated { file: "docs/keys.md", name: "commands", make: kokua::ui::commands_table_markdown },
    Generated { file: "docs/toolsets.md", name: "toolsets", make: toolsets },
];

/// Every built-in toolset with its tools, as the shipped configuration has them.
fn toolsets() -> String {
    let folder = tempfile::tempdir().unwrap();
    let source = config::Source { path: folder.path().join("config.toml"), text: config::EXAMPLE.to_owned() };
    let locations = config::Locations { home_variable: Some(folder.path().to_owned()), ..Default::default() };
    let config = config::parse(source, &locations, |_| Vec::new()).unwrap();
    let services = Services { data: config.data.clone(), working_directory: folder.path().to_owned() };
    let mut table = String::from("| toolset | tool | risk | bytes | for |\n|---|---|---|---|---|\n");
    for toolset in kokua::toolsets::all(&config) {
        writeln!(table, "| **{}** | | | | {} |", toolset.name(), toolset.description()).unwrap();
        for tool in toolset.build(&services).unwrap() {
            let (spec, facts) = (tool.spec(), kokua::tool::facts(tool.spec()));
            let first = spec.description.lines().next().unwrap_or_default().replace('|', "\\|");
            writeln!(table, "| | `{}` | {:?} | {} | {first} |", spec.name, spec.risk, facts.bytes).unwrap();
        }
    }
    table.replace("| Read |", "| read |").replace("| Write |", "| write |").replace("| Exec |", "| exec |")
}

/// `text` with the part called `name` replaced; `None` where the marks are not there exactly once.
fn replaced(text: &str, name: &str, part: &str) -> Option<String> {
    let mark = format!("<!-- generated: {name}");
    let (before, rest) = text.split_once(&mark)?;
    let (mark_end, rest) = rest.split_once("-->\n")?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    if after.contains(&mark) || mark_end.contains('\n') {
        return None;
    }
    Some(format!("{before}{mark}{mark_end}-->\n\n{}\n\n<!-- end -->{after}", part.trim()))
}

#[test]
fn generated_parts_of_documents_are_up_to_date() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for Generated { file, name, make } in GENERATED {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        match replaced(&text, name, &make()) {
            None => wrong.push(format!("{file}: no marks for `{name}`, or more than one pair")),
            Some(new) if new == text => {}
            Some(new) if update => fs::write(&path, new).unwrap(),
            Some(_) => wrong.push(format!("{file}: `{name}` is out of date; run `UPDATE=1 cargo test --test docs`")),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn only_what_is_between_the_marks_is_replaced() {
    let text = "a\n<!-- generated: x; how -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\n<!-- end -->\n";
    let once = replaced(text, "x", "new\n").unwrap();
    assert_eq!(once, "a\n<!-- generated: x; how -->\n\nnew\n\n<!-- end -->\nb\n<!-- generated: y -->\n<!-- end -->\n");
    assert_eq!(replaced(&once, "x", "new\n").unwrap(), once);
    assert_eq!(replaced(text, "z", "new"), None);
}
