//! `fs_write`: writes whole files and replaces one passage of a file, each in one step that a reader never sees half
//! done. The file as it was is kept. It writes neither outside `[fs].roots` nor into this program's own state (P23).

#![expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]

mod backup;
mod guard;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use similar::TextDiff;

use self::backup::Backups;
use self::guard::Guard;
use super::fs::paths::{Paths, reason};
use super::fs::replace::replace;
use super::{Cancel, blocking};
use crate::config::Config;
use crate::tool::output::{bounded, count};
use crate::tool::{BuildError, CallContext, Function, Kind, Output, Preview, Risk, Services, Tool, Toolset, digest};

/// Bytes of a file that is replaced or edited. A larger one is refused, for it could not be kept.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Bytes of a diff on a card; what is cut says how much.
const MAX_DIFF: usize = 256 * 1024;

/// How long a diff may look for the shortest form before it takes a longer one.
const DIFF_EFFORT: Duration = Duration::from_millis(300);

/// The toolset.
pub(super) struct FsWrite {
    roots: Vec<PathBuf>,
    guard: Guard,
    /// Held from reading a file to replacing it, by every agent of this process.
    writing: Arc<Mutex<()>>,
}

impl FsWrite {
    pub(super) fn new(config: &Config) -> Self {
        Self { roots: config.fs.roots.clone(), guard: Guard::new(config), writing: Arc::new(Mutex::new(())) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct WriteFile {
    path: String,
    /// The whole new content.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
struct EditFile {
    path: String,
    /// The passage as it is now; must occur exactly once.
    old_str: String,
    new_str: String,
}

impl Toolset for FsWrite {
    fn name(&self) -> &'static str {
        "fs_write"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Write and edit files."
    }

    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let place = Arc::new(Place {
            paths: Paths::new(&services.working_directory, &self.roots),
            guard: self.guard.clone(),
            backups: Backups::new(services.data.join("backups")),
            writing: Arc::clone(&self.writing),
        });
        Ok(vec![
            writer("write_file", include_str!("../../assets/tools/write_file.md"), &place),
            editor("edit_file", include_str!("../../assets/tools/edit_file.md"), &place),
        ])
    }
}

fn writer(name: &'static str, description: &str, place: &Arc<Place>) -> Arc<dyn Tool> {
    let (at, shown) = (Arc::clone(place), Arc::clone(place));
    Function::new(name, description, Risk::Write, move |arguments: WriteFile, context| {
        let at = Arc::clone(&at);
        blocking(name, move |cancel| at.write(&arguments, &context, cancel).unwrap_or_else(Output::failed))
    })
    .with_preview(move |arguments: WriteFile| shown.preview(&arguments.path, |_| Ok(arguments.content.clone())))
    .boxed()
}

fn editor(name: &'static str, description: &str, place: &Arc<Place>) -> Arc<dyn Tool> {
    let (at, shown) = (Arc::clone(place), Arc::clone(place));
    Function::new(name, description, Risk::Write, move |arguments: EditFile, context| {
        let at = Arc::clone(&at);
        blocking(name, move |cancel| at.edit(&arguments, &context, cancel).unwrap_or_else(Output::failed))
    })
    .with_preview(move |arguments: EditFile| {
        shown.preview(&arguments.path, |old| {
            let old = old.ok_or_else(|| format!("File does not exist: {}", arguments.path))?;
            edited(old, &arguments).map(|new| new.0)
        })
    })
    .boxed()
}

/// Where one agent's writes go and what keeps them in bounds.
struct Place {
    paths: Paths,
    guard: Guard,
    backups: Backups,
    writing: Arc<Mutex<()>>,
}

/// A file before a write: where it really is, and what is in it if it exists.
struct Before {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

impl Before {
    fn text(&self) -> Option<Result<&str, ()>> {
        self.bytes.as_ref().map(|bytes| std::str::from_utf8(bytes).map_err(|_| ()))
    }
}

impl Place {
    fn before(&self, text: &str) -> Result<Before, String> {
        let path = self.paths.resolve(text)?;
        self.guard.check(&path, text)?;
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Before { path, bytes: None }),
            Err(error) => return Err(format!("Cannot write {text}: {}", reason(&error))),
        };
        if !metadata.is_file() && !metadata.is_symlink() {
            return Err(format!("Not a file: {text}"));
        }
        if metadata.is_symlink() {
            // Every link that leads somewhere was followed, so this one leads nowhere.
            return Err(format!("Cannot write {text}: it is a link to something that does not exist"));
        }
        if metadata.permissions().readonly() {
            return Err(format!("Cannot write {text}: it is read-only"));
        }
        if metadata.len() > MAX_FILE {
            return Err(format!("Cannot write {text}: it is over 32 MiB, too large to be kept as it was"));
        }
        let bytes = std::fs::read(&path).map_err(|error| format!("Cannot read {text}: {}", reason(&error)))?;
        Ok(Before { path, bytes: Some(bytes) })
    }

    fn write(&self, arguments: &WriteFile, context: &CallContext, cancel: &Cancel) -> Result<Output, String> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.before(&arguments.path)?;
        let lines = arguments.content.lines().count();
        self.put(&before, &arguments.path, &arguments.content, context, "write_file", cancel)?;
        let written = count(lines, "line", "lines");
        let text = match &before.bytes {
            None => format!("Created {}: {written} written.", arguments.path),
            Some(old) => {
                let replaced = count(String::from_utf8_lossy(old).lines().count(), "line", "lines");
                format!("Overwrote {}: {written} written, {replaced} replaced.", arguments.path)
            }
        };
        Ok(Output::ok(text).with_note(written))
    }

    fn edit(&self, arguments: &EditFile, context: &CallContext, cancel: &Cancel) -> Result<Output, String> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = &arguments.path;
        let before = self.before(path)?;
        let old = match before.text() {
            None => return Err(format!("File does not exist: {path}")),
            Some(Err(())) => {
                return Err(format!(
                    "Cannot edit {path}: it is not valid UTF-8 text, and rewriting it would harm it. Nothing was written."
                ));
            }
            Some(Ok(old)) => old,
        };
        let (new, line) = edited(old, arguments)?;
        self.put(&before, path, &new, context, "edit_file", cancel)?;
        Ok(Output::ok(format!("Edited {path}: replaced 1 occurrence.")).with_note(format!("line {line}")))
    }

    fn put(
        &self,
        before: &Before,
        text: &str,
        content: &str,
        context: &CallContext,
        tool: &str,
        cancel: &Cancel,
    ) -> Result<(), String> {
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        self.backups.keep(context, tool, &before.path, before.bytes.as_deref(), content.as_bytes()).map_err(
            |error| format!("Nothing was written to {text}, for the file as it was could not be kept: {error}"),
        )?;
        replace(&before.path, content.as_bytes()).map_err(|error| format!("Error writing file: {error}"))
    }

    /// What the card shows: where it goes and what changes there. `make` yields the new text from the old.
    fn preview(&self, text: &str, make: impl FnOnce(Option<&str>) -> Result<String, String>) -> Preview {
        let before = match self.before(text) {
            Ok(before) => before,
            Err(fault) => return refused(&fault),
        };
        let mut facts = vec![("file".to_owned(), before.path.display().to_string())];
        let old = match before.text() {
            Some(Err(())) => {
                facts.push(("now".to_owned(), "not UTF-8 text".to_owned()));
                None
            }
            Some(Ok(old)) => Some(old),
            None => {
                facts.push(("now".to_owned(), "does not exist".to_owned()));
                None
            }
        };
        if self.guard.is_skill(&before.path) {
            facts.push(("note".to_owned(), "this file becomes a tool".to_owned()));
        }
        let depends_on =
            [before.path.as_os_str().as_encoded_bytes(), &[0], before.bytes.as_deref().unwrap_or(&[1])].concat();
        let diff = match make(old) {
            Ok(new) => Some(diff(&before.path, before.bytes.is_some(), old.unwrap_or_default(), &new)),
            Err(fault) => {
                facts.push(("will fail".to_owned(), fault));
                None
            }
        };
        Preview { diff, facts, digest: digest(&depends_on) }
    }
}

fn refused(fault: &str) -> Preview {
    Preview { diff: None, facts: vec![("will fail".to_owned(), fault.to_owned())], digest: digest(fault.as_bytes()) }
}

/// The text with its one passage replaced, and the line where that begins.
fn edited(old: &str, arguments: &EditFile) -> Result<(String, usize), String> {
    let EditFile { path, old_str, new_str } = arguments;
    if old_str.is_empty() {
        return Err(format!("No match in {path}: old_str must not be empty. Nothing was written."));
    }
    if old_str == new_str {
        return Err(format!("old_str and new_str are the same, so {path} would not change. Nothing was written."));
    }
    // Matches may overlap, and then it is just as unclear which one is meant.
    let mut places = old
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| old.get(*at..).is_some_and(|rest| rest.starts_with(old_str.as_str())));
    let Some(at) = places.next() else {
        let hint = if old.contains("\r\n") && old_str.contains('\n') && !old_str.contains("\r\n") {
            "its lines end with \\r\\n"
        } else if old.contains(old_str.trim()) && !old_str.trim().is_empty() {
            "the text occurs with other spaces or line breaks around it"
        } else {
            "that text does not occur; read the file again"
        };
        return Err(format!("No match in {path}: {hint}. Nothing was written."));
    };
    let more = places.count();
    if more > 0 {
        return Err(format!(
            "Ambiguous edit in {path}: that text appears {} times. Give more of the text around it. Nothing was written.",
            more + 1
        ));
    }
    let (head, tail) = old.split_at(at);
    let tail = tail.strip_prefix(old_str.as_str()).unwrap_or(tail);
    Ok((format!("{head}{new_str}{tail}"), head.matches('\n').count() + 1))
}

/// A unified diff with three lines around each change.
fn diff(path: &Path, existed: bool, old: &str, new: &str) -> String {
    let name = path.display().to_string();
    let diff = TextDiff::configure().timeout(DIFF_EFFORT).diff_lines(old, new);
    let from = if existed { name.as_str() } else { "/dev/null" };
    let text = diff.unified_diff().context_radius(3).header(from, &name).to_string();
    bounded(&text, MAX_DIFF).into_owned()
}
