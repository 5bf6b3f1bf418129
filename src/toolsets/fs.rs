//! `fs`: looks at folders and files, within `[fs].roots` where those are set. It never writes.

pub(super) mod paths;
pub(super) mod replace;
mod search;
mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use self::paths::{Paths, reason};
use super::{Cancel, blocking};
use crate::tool::output::count;
use crate::tool::{BuildError, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// Entries one listing shows.
const MAX_ENTRIES: usize = 1_000;

/// The toolset.
pub(super) struct Fs {
    roots: Vec<PathBuf>,
}

impl Fs {
    pub(super) fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots }
    }
}

#[derive(Deserialize, JsonSchema)]
struct ListDirectory {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    path: String,
    #[serde(default = "two_thousand")]
    max_lines: i64,
    /// First line, counted from 1.
    #[serde(default = "one")]
    offset: i64,
}

#[derive(Deserialize, JsonSchema)]
struct SearchFiles {
    /// Plain text, not a pattern. Case counts only if it has a capital.
    query: String,
    /// Folder or file.
    #[serde(default = "here")]
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct FindFiles {
    /// Glob such as *.rs or src/**/mod.rs, or part of a name.
    pattern: String,
    #[serde(default = "here")]
    path: String,
}

fn one() -> i64 {
    1
}

fn two_thousand() -> i64 {
    2_000
}

fn here() -> String {
    ".".to_owned()
}

impl Toolset for Fs {
    fn name(&self) -> &'static str {
        "fs"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Look at folders and files, and search them."
    }

    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let paths = Arc::new(Paths::new(&services.working_directory, &self.roots));
        Ok(vec![
            reader(
                "list_directory",
                include_str!("../../assets/tools/list_directory.md"),
                &paths,
                |paths, arguments: ListDirectory, _| list(paths, &arguments.path),
            ),
            reader(
                "read_file",
                include_str!("../../assets/tools/read_file.md"),
                &paths,
                |paths, arguments: ReadFile, cancel| {
                    let path = paths.resolve(&arguments.path)?;
                    window::read(&path, &arguments.path, arguments.offset, arguments.max_lines, cancel)
                },
            ),
            reader(
                "search_files",
                include_str!("../../assets/tools/search_files.md"),
                &paths,
                |paths, arguments: SearchFiles, cancel| {
                    search::search(&existing(paths, &arguments.path)?, &arguments.path, &arguments.query, cancel)
                },
            ),
            reader(
                "find_files",
                include_str!("../../assets/tools/find_files.md"),
                &paths,
                |paths, arguments: FindFiles, cancel| {
                    search::find(&existing(paths, &arguments.path)?, &arguments.path, &arguments.pattern, cancel)
                },
            ),
        ])
    }
}

/// A reading tool over typed arguments; `Err` is a result that tells the model what to change.
fn reader<A>(
    name: &'static str,
    description: &str,
    paths: &Arc<Paths>,
    work: fn(&Paths, A, &Cancel) -> Result<Output, String>,
) -> Arc<dyn Tool>
where
    A: serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    let paths = Arc::clone(paths);
    Function::new(name, description, Risk::Read, move |arguments: A, _| {
        let paths = Arc::clone(&paths);
        blocking(name, move |cancel| work(&paths, arguments, cancel).unwrap_or_else(Output::failed))
    })
    .boxed()
}

fn existing(paths: &Paths, text: &str) -> Result<PathBuf, String> {
    let path = paths.resolve(text)?;
    match path.symlink_metadata() {
        Ok(_) => Ok(path),
        Err(_) => Err(format!("Path does not exist: {text}")),
    }
}

/// Folders first with `/`, then the rest, each sorted without regard to case.
#[expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]
fn list(paths: &Paths, text: &str) -> Result<Output, String> {
    let path = existing(paths, text)?;
    if !path.is_dir() {
        return Err(format!("Not a directory: {text}"));
    }
    let failed = |error: &std::io::Error| format!("Cannot list {text}: {}", reason(error));
    let mut entries: Vec<(bool, String)> = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        // A link to a folder is listed as one.
        let is_folder = entry.path().is_dir();
        entries.push((is_folder, shown(Path::new(&entry.file_name()))));
    }
    if entries.is_empty() {
        return Ok(Output::ok("(empty)").with_note("empty"));
    }
    entries.sort_by_cached_key(|(is_folder, name)| (!is_folder, name.to_lowercase(), name.clone()));
    let total = entries.len();
    let mut lines: Vec<String> = entries
        .into_iter()
        .take(MAX_ENTRIES)
        .map(|(is_folder, name)| if is_folder { name + "/" } else { name })
        .collect();
    if total > lines.len() {
        lines.push(format!("... ({} more entries; find_files can narrow them down)", total - lines.len()));
    }
    Ok(Output::ok(lines.join("\n")).with_note(count(total, "entry", "entries")))
}

/// A name on one line: what cannot be printed is written as an escape.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().any(char::is_control) {
        text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
    } else {
        text.into_owned()
    }
}
