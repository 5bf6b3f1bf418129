//! `fs_write`: what is written, what is kept, and what is refused.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use kokua::tool::digest;
use serde_json::{Value, json};

use super::Bench;

#[tokio::test]
async fn a_file_is_created_and_overwritten() {
    let bench = Bench::new();
    let given = json!({ "path": "new/deep/a.txt", "content": "one\ntwo\n" });
    let output = bench.call("write_file", given).await;
    assert_eq!(output.text, "Created new/deep/a.txt: 2 lines written.");
    assert_eq!(output.note.as_deref(), Some("2 lines"));
    assert_eq!(bench.read("new/deep/a.txt"), "one\ntwo\n");
    assert_eq!(
        bench.ok("write_file", json!({ "path": "new/deep/a.txt", "content": "x" })).await,
        "Overwrote new/deep/a.txt: 1 line written, 2 lines replaced."
    );
    let names: Vec<_> =
        std::fs::read_dir(bench.work.join("new/deep")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"], "no temporary file is left");
}

#[tokio::test]
async fn mode_and_links_stay() {
    let bench = Bench::new();
    let path = bench.file("run.sh", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", bench.work.join("link")).unwrap();
    bench.ok("write_file", json!({ "path": "link", "content": "new" })).await;
    assert_eq!(bench.read("run.sh"), "new");
    assert!(bench.work.join("link").is_symlink());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn one_passage_is_replaced() {
    let bench = Bench::new();
    bench.file("a.txt", "one\ntwo\nthree\n");
    let output = bench.call("edit_file", json!({ "path": "a.txt", "old_str": "two", "new_str": "2" })).await;
    assert_eq!(output.text, "Edited a.txt: replaced 1 occurrence.");
    assert_eq!(output.note.as_deref(), Some("line 2"));
    assert_eq!(bench.read("a.txt"), "one\n2\nthree\n");
    bench.ok("edit_file", json!({ "path": "a.txt", "old_str": "one\n", "new_str": "" })).await;
    assert_eq!(bench.read("a.txt"), "2\nthree\n");
}

#[tokio::test]
async fn an_edit_that_is_not_clear_writes_nothing() {
    let bench = Bench::new();
    bench.file("a.txt", "aaa b\nb\n");
    bench.file("dos.txt", "one\r\ntwo\r\n");
    let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "old_str": old, "new_str": new });
    let table = [
        (
            edit("a.txt", "z", "y"),
            "No match in a.txt: that text does not occur; read the file again. Nothing was written.",
        ),
        (
            edit("a.txt", "b", "c"),
            "Ambiguous edit in a.txt: that text appears 2 times. Give more of the text around it. Nothing was written.",
        ),
        (
            edit("a.txt", "aa", "c"),
            "Ambiguous edit in a.txt: that text appears 2 times. Give more of the text around it. Nothing was written.",
        ),
        (edit("a.txt", "", "c"), "No match in a.txt: old_str must not be empty. Nothing was written."),
        (edit("a.txt", "b", "b"), "old_str and new_str are the same, so a.txt would not change. Nothing was written."),
        (
            edit("a.txt", "  aaa", "c"),
            "No match in a.txt: the text occurs with other spaces or line breaks around it. Nothing was written.",
        ),
        (edit("dos.txt", "one\ntwo", "c"), "No match in dos.txt: its lines end with \\r\\n. Nothing was written."),
        (edit("absent", "a", "b"), "File does not exist: absent"),
        (edit(".", "a", "b"), "Not a file: ."),
    ];
    for (given, text) in table {
        assert_eq!(bench.refused("edit_file", given.clone()).await, text, "{given}");
    }
    assert_eq!(bench.read("a.txt"), "aaa b\nb\n");
    assert!(!bench.data().join("backups").exists(), "nothing was about to be written");
}

/// Bug 52.
#[tokio::test]
async fn a_file_that_is_not_utf8_is_never_rewritten_in_part() {
    let bench = Bench::new();
    let path = bench.file("latin.txt", b"caf\xe9 a");
    assert_eq!(
        bench.refused("edit_file", json!({ "path": "latin.txt", "old_str": "a", "new_str": "b" })).await,
        "Cannot edit latin.txt: it is not valid UTF-8 text, and rewriting it would harm it. Nothing was written."
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"caf\xe9 a");
}

#[tokio::test]
async fn what_cannot_be_written_says_why() {
    let bench = Bench::new();
    bench.file("file", "x");
    let read_only = bench.file("fixed", "x");
    std::fs::set_permissions(&read_only, std::fs::Permissions::from_mode(0o444)).unwrap();
    let huge = bench.file("huge", "x");
    std::fs::OpenOptions::new().write(true).open(huge).unwrap().set_len(33 * 1024 * 1024).unwrap();
    symlink("nowhere", bench.work.join("dangling")).unwrap();
    let table = [
        (".", "Not a file: ."),
        ("fixed", "Cannot write fixed: it is read-only"),
        ("huge", "Cannot write huge: it is over 32 MiB, too large to be kept as it was"),
        ("dangling", "Cannot write dangling: it is a link to something that does not exist"),
        ("", "path must not be empty"),
        ("file/below", "Cannot write file/below: a part of the path is a file, not a folder"),
        ("absent/../x", "Cannot resolve absent/../x: no such folder"),
    ];
    for (path, text) in table {
        assert_eq!(bench.refused("write_file", json!({ "path": path, "content": "y" })).await, text);
    }
    assert_eq!(bench.read("file"), "x");
}

#[tokio::test]
async fn p23_the_programs_own_files_are_refused_whatever_the_way_there() {
    let bench = Bench::with(|config, folder| {
        config.source.path = folder.join("elsewhere.toml");
        std::fs::write(&config.source.path, "").unwrap();
    });
    let home = &bench.home;
    std::fs::write(home.join("config.toml"), "x = 1").unwrap();
    symlink(home, bench.work.join("h")).unwrap();
    symlink(home.join("config.toml"), bench.work.join("c")).unwrap();
    let refused = [
        "../home/config.toml",
        "../home/Config.TOML",
        "h/config.toml",
        "c",
        "h/toolsets/mine/toolset.toml",
        "h/data/conversations/a.jsonl",
        "h/data/audit.jsonl",
        "h/data/pins.json",
        "h/data/tokens/x",
        "h/data/backups/x",
        "h/data/plans/x",
        "h/data/new",
        "../elsewhere.toml",
    ];
    for path in refused {
        let expected = format!(
            "{path} belongs to kokua itself (configuration, toolsets, logs and other state); fs_write never writes there."
        );
        assert_eq!(bench.refused("write_file", json!({ "path": path, "content": "y" })).await, expected);
        let edit = json!({ "path": path, "old_str": "x", "new_str": "y" });
        assert_eq!(bench.refused("edit_file", edit).await, expected);
        let preview = bench.tool("write_file").preview(&json!({ "path": path, "content": "y" }));
        assert_eq!(preview.facts, [("will fail".to_owned(), expected)]);
    }
    assert_eq!(std::fs::read_to_string(home.join("config.toml")).unwrap(), "x = 1");
    for path in ["h/data/documents/a.md", "h/data/skills/s/SKILL.md", "h/notes.md"] {
        assert_eq!(
            bench.ok("write_file", json!({ "path": path, "content": "y" })).await,
            format!("Created {path}: 1 line written.")
        );
    }
}

#[test]
fn p23_the_card_of_a_write_into_a_skill_says_that_it_becomes_a_tool() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.data().join("skills")).unwrap();
    let preview = bench.tool("write_file").preview(&json!({ "path": "../home/data/skills/s/run.sh", "content": "y" }));
    assert!(preview.facts.contains(&("note".to_owned(), "this file becomes a tool".to_owned())), "{preview:?}");
}

#[tokio::test]
async fn the_file_as_it_was_is_kept() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "first");
    bench.ok("write_file", json!({ "path": "a.txt", "content": "second" })).await;
    bench.ok("edit_file", json!({ "path": "a.txt", "old_str": "second", "new_str": "third" })).await;
    bench.ok("write_file", json!({ "path": "b.txt", "content": "new" })).await;
    let folder = bench.data().join("backups/conv-1");
    let index = std::fs::read_to_string(folder.join("index.jsonl")).unwrap();
    let entries: Vec<Value> = index.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entry = |tool: &str, path: &std::path::Path, before: Option<&str>, after: &str| {
        json!({
            "at": 1_796_036_400_000_i64, "agent": "assistant", "tool": tool, "path": path.to_str(),
            "before": before.map(|text| digest(text.as_bytes())), "after": digest(after.as_bytes())
        })
    };
    assert_eq!(
        entries,
        [
            entry("write_file", &path, Some("first"), "second"),
            entry("edit_file", &path, Some("second"), "third"),
            entry("write_file", &bench.work.join("b.txt"), None, "new"),
        ]
    );
    let kept = folder.join(digest(b"first"));
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "first");
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn nothing_is_written_when_nothing_can_be_kept() {
    let bench = Bench::new();
    bench.file("a.txt", "first");
    std::fs::write(bench.data().join("backups"), "in the way").unwrap();
    let text = bench.refused("write_file", json!({ "path": "a.txt", "content": "second" })).await;
    assert!(text.starts_with("Nothing was written to a.txt, for the file as it was could not be kept: "), "{text}");
    assert_eq!(bench.read("a.txt"), "first");
}

#[test]
fn the_card_shows_a_unified_diff_and_where_it_goes() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\nthree\n");
    let path = path.display().to_string();
    let edit = bench.tool("edit_file");
    let given = json!({ "path": "a.txt", "old_str": "two", "new_str": "2" });
    let preview = edit.preview(&given);
    assert_eq!(
        preview.diff.as_deref(),
        Some(format!("--- {path}\n+++ {path}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n").as_str())
    );
    assert_eq!(preview.facts, [("file".to_owned(), path.clone())]);
    assert_eq!(edit.preview(&given), preview, "nothing changed");
    bench.file("a.txt", "one\ntwo\nfour\n");
    assert_ne!(edit.preview(&given).digest, preview.digest, "the file changed");

    let new = bench.tool("write_file").preview(&json!({ "path": "b.txt", "content": "x\n" }));
    let file = bench.work.join("b.txt").display().to_string();
    assert_eq!(new.diff, Some(format!("--- /dev/null\n+++ {file}\n@@ -0,0 +1 @@\n+x\n")));
    assert_eq!(new.facts, [("file".to_owned(), file), ("now".to_owned(), "does not exist".to_owned())]);

    let fails = edit.preview(&json!({ "path": "a.txt", "old_str": "zero", "new_str": "0" }));
    assert_eq!(fails.diff, None);
    assert_eq!(fails.facts[1].0, "will fail");
}

#[test]
fn the_card_of_a_large_write_says_what_it_does_not_show() {
    let bench = Bench::new();
    let content: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    let diff = bench.tool("write_file").preview(&json!({ "path": "b.txt", "content": content })).diff.unwrap();
    assert!(diff.len() <= 256 * 1024 && diff.contains("[... truncated "), "{}", diff.len());
}

#[tokio::test]
async fn edits_at_once_are_all_kept() {
    let bench = std::sync::Arc::new(Bench::new());
    let text: String = (0..20).map(|n| format!("<{n}>\n")).collect();
    bench.file("a.txt", text);
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..20 {
        let bench = std::sync::Arc::clone(&bench);
        calls.spawn(async move {
            bench.ok("edit_file", json!({ "path": "a.txt", "old_str": format!("<{n}>"), "new_str": "done" })).await
        });
    }
    calls.join_all().await;
    assert_eq!(bench.read("a.txt"), "done\n".repeat(20));
}
