//! `fs`: what it shows, and what it refuses to look at.

use std::os::unix::fs::symlink;

use kokua::tool::Outcome;
use serde_json::json;

use super::Bench;

#[tokio::test]
async fn a_folder_is_listed_folders_first() {
    let bench = Bench::new();
    bench.file("b.txt", "");
    bench.file("A.txt", "");
    bench.file("zed/x", "");
    bench.file("Alpha/x", "");
    bench.file("odd\nname", "");
    symlink("zed", bench.work.join("link")).unwrap();
    symlink("nowhere", bench.work.join("dangling")).unwrap();
    let output = bench.call("list_directory", json!({ "path": "." })).await;
    assert_eq!(output.text, "Alpha/\nlink/\nzed/\nA.txt\nb.txt\ndangling\nodd\\nname");
    assert_eq!(output.note.as_deref(), Some("7 entries"));
    std::fs::create_dir(bench.work.join("void")).unwrap();
    assert_eq!(bench.ok("list_directory", json!({ "path": "void" })).await, "(empty)");
}

#[tokio::test]
async fn a_long_listing_says_how_many_are_left() {
    let bench = Bench::new();
    for n in 0..1_003 {
        bench.file(&format!("{n:04}"), "");
    }
    let text = bench.ok("list_directory", json!({ "path": "." })).await;
    assert!(
        text.ends_with("0999\n... (3 more entries; find_files can narrow them down)"),
        "{}",
        &text[text.len() - 90..]
    );
}

#[tokio::test]
async fn what_is_not_there_or_not_that_kind_is_said() {
    let bench = Bench::new();
    bench.file("a.txt", "x");
    symlink("nowhere", bench.work.join("dangling")).unwrap();
    rustix_fifo(&bench.work.join("pipe"));
    let table = [
        ("list_directory", json!({ "path": "absent" }), "Path does not exist: absent"),
        ("list_directory", json!({ "path": "a.txt" }), "Not a directory: a.txt"),
        ("list_directory", json!({ "path": "" }), "path must not be empty"),
        ("read_file", json!({ "path": "absent" }), "File does not exist: absent"),
        ("read_file", json!({ "path": "dangling" }), "File does not exist: dangling"),
        ("read_file", json!({ "path": "a.txt/b" }), "File does not exist: a.txt/b"),
        ("read_file", json!({ "path": "." }), "Not a file: ."),
        ("read_file", json!({ "path": "pipe" }), "Not a file: pipe"),
        ("read_file", json!({ "path": "/dev/zero" }), "Not a file: /dev/zero"),
        ("read_file", json!({ "path": "x".repeat(5_000) }), "path must not be over 4096 bytes, got 5000"),
        ("read_file", json!({ "path": "a\u{0}" }), "Cannot resolve a\u{0}: not a possible path"),
        (
            "read_file",
            json!({ "path": "a.txt", "offset": 0 }),
            "offset must be 1 or greater (it is 1-indexed; the first line is offset=1), got 0",
        ),
        ("read_file", json!({ "path": "a.txt", "max_lines": -1 }), "max_lines must be 1 or greater, got -1"),
        ("read_file", json!({ "path": "a.txt", "offset": 9 }), "offset 9 is past the end of a.txt: it has 1 lines"),
        ("search_files", json!({ "query": "x", "path": "absent" }), "Path does not exist: absent"),
        ("search_files", json!({ "query": "" }), "query must be one line of text"),
        ("find_files", json!({ "pattern": "x", "path": "a.txt" }), "Not a directory: a.txt"),
        ("find_files", json!({ "pattern": " " }), "pattern must not be empty; '*' finds everything"),
        ("find_files", json!({ "pattern": "!x" }), "pattern must not begin with '!'"),
    ];
    for (tool, given, text) in table {
        assert_eq!(bench.refused(tool, given.clone()).await, text, "{tool} {given}");
    }
    let text = bench.refused("find_files", json!({ "pattern": "[" })).await;
    assert!(text.starts_with("Not a pattern: [: "), "{text}");
}

/// A named pipe, which would keep a reader waiting.
fn rustix_fifo(path: &std::path::Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn a_file_is_read_in_windows() {
    let bench = Bench::new();
    let text: String = (1..=3_000).map(|n| format!("line {n}\n")).collect();
    bench.file("long.txt", text);
    let output = bench.call("read_file", json!({ "path": "long.txt" })).await;
    assert!(output.text.starts_with("line 1\nline 2\n"));
    assert!(output.text.ends_with(
        "line 2000\n... (truncated: showing lines 1-2000 of 3000; call read_file with offset=2001 to continue)"
    ));
    assert_eq!(output.note.as_deref(), Some("2000 lines"));
    assert_eq!(
        bench.ok("read_file", json!({ "path": "long.txt", "offset": "3000", "max_lines": 5 })).await,
        "line 3000"
    );
    bench.file("latin.txt", b"caf\xe9");
    assert_eq!(
        bench.ok("read_file", json!({ "path": "latin.txt" })).await,
        "caf\u{fffd}\n(not all of it is UTF-8 text; what is not is shown as \u{fffd})"
    );
    bench.file("empty", "");
    assert_eq!(bench.ok("read_file", json!({ "path": "empty" })).await, "(empty file)");
}

#[tokio::test]
async fn a_huge_file_costs_a_window() {
    let bench = Bench::new();
    let path = bench.file("huge", "first\n");
    // Sparse: 80 MiB without the disk for it.
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(80 * 1024 * 1024).unwrap();
    let text = bench.ok("read_file", json!({ "path": "huge", "max_lines": 1 })).await;
    assert_eq!(
        text,
        "first\n... (truncated: showing lines 1-1 of more than 2 (only the first 64 MiB were looked at); \
         call read_file with offset=2 to continue)"
    );
}

#[tokio::test]
async fn text_is_found_in_files() {
    let bench = Bench::new();
    bench.file("src/a.rs", "fn Alpha() {}\n    let needle = 1;\n");
    bench.file("b.txt", "Needle\nneedle\nhay");
    bench.file(".hidden", "needle");
    bench.file("bin", b"needle\0\0needle");
    bench.file(".git/config", "needle");
    bench.file("big", "needle\n".repeat(700_000));
    let output = bench.call("search_files", json!({ "query": "needle" })).await;
    assert_eq!(
        output.text,
        ".hidden:1: needle\nb.txt:1: Needle\nb.txt:2: needle\nsrc/a.rs:2: let needle = 1;\n\
         (1 file over 4 MiB not searched)"
    );
    assert_eq!(output.note.as_deref(), Some("4 matches"));
    assert_eq!(
        bench.ok("search_files", json!({ "query": "Alpha" })).await,
        "src/a.rs:1: fn Alpha() {}\n(1 file over 4 MiB not searched)"
    );
    assert_eq!(bench.ok("search_files", json!({ "query": "needle", "path": "src" })).await, "a.rs:2: let needle = 1;");
    assert_eq!(
        bench.ok("search_files", json!({ "query": "HAY", "path": "src" })).await,
        "No match for 'HAY' in src: 1 file searched."
    );
    assert_eq!(bench.ok("search_files", json!({ "query": "hay", "path": "b.txt" })).await, "b.txt:3: hay");
}

#[tokio::test]
async fn a_match_far_along_a_line_is_shown() {
    let bench = Bench::new();
    bench.file("min.js", format!("{}Ünique{}", "a".repeat(5_000), "b".repeat(5_000)));
    let text = bench.ok("search_files", json!({ "query": "ünique" })).await;
    assert_eq!(text, format!("min.js:1: …{}Ünique{}…", "a".repeat(50), "b".repeat(143)));
}

#[tokio::test]
async fn a_search_stops_and_says_so() {
    let bench = Bench::new();
    bench.file("a", "x\n".repeat(100));
    let output = bench.call("search_files", json!({ "query": "x" })).await;
    assert!(output.text.ends_with("a:80: x\n... (stopped at 80 matches; there are more)"));
    assert_eq!(output.note.as_deref(), Some("80+ matches"));
}

#[tokio::test]
async fn names_are_found_by_glob_or_part() {
    let bench = Bench::new();
    for name in ["src/main.rs", "src/deep/mod.rs", "README.md", "target/x.rs"] {
        bench.file(name, "");
    }
    bench.file(".ignore", "target\n");
    assert_eq!(bench.ok("find_files", json!({ "pattern": "*.rs" })).await, "src/deep/mod.rs\nsrc/main.rs");
    assert_eq!(bench.ok("find_files", json!({ "pattern": "src/**/mod.rs" })).await, "src/deep/mod.rs");
    assert_eq!(bench.ok("find_files", json!({ "pattern": "deep" })).await, "src/deep/");
    assert_eq!(bench.ok("find_files", json!({ "pattern": "readme" })).await, "README.md");
    assert_eq!(bench.ok("find_files", json!({ "pattern": "mod", "path": "src" })).await, "deep/mod.rs");
    let output = bench.call("find_files", json!({ "pattern": "*.py" })).await;
    assert_eq!((output.outcome, output.text.as_str()), (Outcome::Ok, "Nothing named '*.py' in .."));
}

#[tokio::test]
async fn outside_the_roots_nothing_is_seen() {
    let bench = Bench::with(|config, folder| {
        std::fs::create_dir_all(folder.join("out")).unwrap();
        std::fs::write(folder.join("out/secret"), "s").unwrap();
        config.fs.roots = vec![folder.join("work")];
    });
    let root = bench.work.clone();
    symlink(root.join("../out"), root.join("link")).unwrap();
    bench.file("in.txt", "inside");
    assert_eq!(bench.ok("read_file", json!({ "path": "in.txt" })).await, "inside");
    for path in ["../out/secret", "link/secret", "../out/absent", "/etc/passwd", "~"] {
        let expected = format!("{path} is outside the folders that [fs].roots names: {}.", root.display());
        for tool in ["read_file", "list_directory"] {
            assert_eq!(bench.refused(tool, json!({ "path": path })).await, expected);
        }
        assert_eq!(bench.refused("search_files", json!({ "query": "s", "path": path })).await, expected);
        assert_eq!(bench.refused("find_files", json!({ "pattern": "s", "path": path })).await, expected);
        assert_eq!(bench.refused("write_file", json!({ "path": path, "content": "x" })).await, expected);
    }
    // A walk inside does not follow the link out.
    let found = bench.ok("search_files", json!({ "query": "s" })).await;
    assert_eq!(found, "in.txt:1: inside");
}
