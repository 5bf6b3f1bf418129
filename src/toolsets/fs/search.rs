//! Walks a folder: for text in files, and for names. What `.gitignore` names is left out, links are not followed, and
//! every walk ends: by its bounds, or when nobody waits any more.

#![expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use super::super::Cancel;
use super::shown;
use crate::tool::Output;
use crate::tool::output::{count, one_line};

/// Lines that match, shown by one search.
const MAX_MATCHES: usize = 80;

/// Names shown by one search.
const MAX_NAMES: usize = 200;

/// Entries walked.
const MAX_WALKED: usize = 100_000;

/// Bytes of files read by one search.
const MAX_SEARCHED: u64 = 256 * 1024 * 1024;

/// Larger files are not searched.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Characters shown of a line that matches.
const MAX_LINE_CHARS: usize = 200;

/// `path:line: text` for each line under `root` that holds `query`. `text` is the path as written.
pub(super) fn search(root: &Path, text: &str, query: &str, cancel: &Cancel) -> Result<Output, String> {
    if query.is_empty() || query.contains('\n') {
        return Err("query must be one line of text".to_owned());
    }
    let needle = Needle::new(query);
    let mut found = Found::default();
    let (mut files, mut too_large, mut searched) = (0_usize, 0_usize, 0_u64);
    let end = walk(root, cancel, |path, is_folder| {
        if is_folder {
            return true;
        }
        let Ok(file) = File::open(path) else { return true };
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        if size > MAX_FILE {
            too_large += 1;
            return true;
        }
        let mut bytes = Vec::new();
        if file.take(MAX_FILE).read_to_end(&mut bytes).is_err() {
            return true;
        }
        searched += size;
        // A NUL early on means that it is no text.
        if bytes.iter().take(8_000).any(|byte| *byte == 0) {
            return searched < MAX_SEARCHED;
        }
        files += 1;
        let content = String::from_utf8_lossy(&bytes);
        for (index, line) in content.lines().enumerate() {
            if needle.is_in(line)
                && !found.add(|| format!("{}:{}: {}", relative(path, root), index + 1, needle.excerpt(line)))
            {
                return false;
            }
        }
        searched < MAX_SEARCHED
    });
    let mut notes = Vec::new();
    if too_large > 0 {
        notes.push(format!("{} over 4 MiB not searched", count(too_large, "file", "files")));
    }
    if end == End::Bound && !found.full {
        notes.push("not everything was searched: give a smaller folder".to_owned());
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    if found.lines.is_empty() {
        let query = one_line(query, 80);
        let text = format!("No match for '{query}' in {text}: {} searched{notes}.", count(files, "file", "files"));
        return Ok(Output::ok(text).with_note("no match"));
    }
    Ok(found.answer("match", "matches", MAX_MATCHES, &notes))
}

/// Names under `root` that fit `pattern`: a glob, or without `*?[{` also any part of a name. Folders end with `/`.
pub(super) fn find(root: &Path, text: &str, pattern: &str, cancel: &Cancel) -> Result<Output, String> {
    if pattern.trim().is_empty() {
        return Err("pattern must not be empty; '*' finds everything".to_owned());
    }
    if !root.is_dir() {
        return Err(format!("Not a directory: {text}"));
    }
    let glob = glob(root, pattern.trim())?;
    let part = (!pattern.contains(['*', '?', '[', '{'])).then(|| pattern.trim().to_lowercase());
    let mut found = Found { limit: MAX_NAMES, ..Found::default() };
    let end = walk(root, cancel, |path, is_folder| {
        let fits = glob.matched(path, is_folder).is_whitelist()
            || part.as_ref().is_some_and(|part| {
                path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().contains(part))
            });
        !fits || found.add(|| format!("{}{}", relative(path, root), if is_folder { "/" } else { "" }))
    });
    let notes =
        if end == End::Bound && !found.full { " (not everything was looked at: give a smaller folder)" } else { "" };
    if found.lines.is_empty() {
        let pattern = one_line(pattern, 80);
        return Ok(Output::ok(format!("Nothing named '{pattern}' in {text}{notes}.")).with_note("none"));
    }
    Ok(found.answer("name", "names", MAX_NAMES, notes))
}

/// Lines found so far, up to a limit.
struct Found {
    lines: Vec<String>,
    limit: usize,
    /// There was one more than the limit.
    full: bool,
}

impl Default for Found {
    fn default() -> Self {
        Self { lines: Vec::new(), limit: MAX_MATCHES, full: false }
    }
}

impl Found {
    /// Whether to go on.
    fn add(&mut self, line: impl FnOnce() -> String) -> bool {
        if self.lines.len() >= self.limit {
            self.full = true;
            return false;
        }
        self.lines.push(line());
        true
    }

    fn answer(mut self, one: &str, many: &str, limit: usize, notes: &str) -> Output {
        let note = if self.full { format!("{limit}+ {many}") } else { count(self.lines.len(), one, many) };
        if self.full {
            self.lines.push(format!("... (stopped at {limit} {many}; there are more)"));
        }
        if !notes.is_empty() {
            self.lines.push(notes.trim_start().to_owned());
        }
        Output::ok(self.lines.join("\n")).with_note(note)
    }
}

/// How a walk ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Whole,
    Bound,
}

/// Visits what is under `root` in order of names: regular files and folders, hidden ones too, but not `.git`. `visit`
/// says whether to go on.
fn walk(root: &Path, cancel: &Cancel, mut visit: impl FnMut(&Path, bool) -> bool) -> End {
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .follow_links(false)
        .git_global(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for (walked, entry) in walker.enumerate() {
        if walked >= MAX_WALKED || cancel.is_cancelled() {
            return End::Bound;
        }
        // A folder that cannot be read hides what is in it from everybody.
        let Ok(entry) = entry else { continue };
        let Some(kind) = entry.file_type() else { continue };
        let is_named_file = entry.depth() == 0 && kind.is_file();
        if (entry.depth() == 0 && !is_named_file) || !(kind.is_file() || kind.is_dir()) {
            continue;
        }
        if !visit(entry.path(), kind.is_dir()) {
            return End::Bound;
        }
    }
    End::Whole
}

fn glob(root: &Path, pattern: &str) -> Result<Override, String> {
    // A leading `!` would turn the pattern round, and a leading `./` would match nothing.
    let pattern = pattern.trim_start_matches("./");
    if pattern.starts_with('!') {
        return Err("pattern must not begin with '!'".to_owned());
    }
    let build = || OverrideBuilder::new(root).add(pattern)?.build();
    build().map_err(|error| format!("Not a pattern: {}: {error}", one_line(pattern, 80)))
}

/// The path below `root`; a file that is itself the root by its name.
fn relative(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    shown(if below.as_os_str().is_empty() { Path::new(path.file_name().unwrap_or(path.as_os_str())) } else { below })
}

/// What is looked for. Case counts only if it has a capital.
struct Needle {
    text: String,
    any_case: bool,
}

impl Needle {
    fn new(query: &str) -> Self {
        let any_case = !query.chars().any(char::is_uppercase);
        Self { text: query.to_owned(), any_case }
    }

    /// Where `line` holds it, in characters. In any case it is a guess where lower case has another length.
    fn place(&self, line: &str) -> Option<usize> {
        let place = |line: &str| {
            let (before, _) = line.split_once(&self.text)?;
            Some(before.chars().count())
        };
        place(line).or_else(|| if self.any_case { place(&line.to_lowercase()) } else { None })
    }

    fn is_in(&self, line: &str) -> bool {
        self.place(line).is_some()
    }

    /// The line, or what is around the match where the line is long.
    fn excerpt(&self, line: &str) -> String {
        let line = line.trim();
        let place = self.place(line).unwrap_or(0);
        if place + self.text.chars().count() < MAX_LINE_CHARS {
            return one_line(line, MAX_LINE_CHARS);
        }
        let from: String = line.chars().skip(place.saturating_sub(MAX_LINE_CHARS / 4)).collect();
        format!("…{}", one_line(&from, MAX_LINE_CHARS))
    }
}
