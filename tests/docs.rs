//! Tables in documents that are made from the sources: compared, or with `UPDATE=1` written. Never edited by hand.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads and writes the documents that it checks")]

use std::fs;
use std::path::Path;

/// One generated part of a document: the file, the name in its marker, and what stands between the marks.
struct Generated {
    file: &'static str,
    name: &'static str,
    make: fn() -> String,
}

/// Every generated part. A new table is a row here and a pair of marks in the document:
/// `<!-- generated: NAME -->` and `<!-- end -->`.
const GENERATED: &[Generated] = &[
    Generated { file: "docs/config.md", name: "config keys", make: kokua::config::reference },
    // keys and commands: from `ui::action`; toolsets and tools: from the registry.
];

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
