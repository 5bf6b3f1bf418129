//! `memory`: facts about the user, one a line in `data/memory.md`, which the person may edit at any time. The file is
//! the truth and is read at every call; there is no index beside it.

mod notes;
mod rank;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::notes::Notes;
use super::blocking;
use crate::system::{FileError, files};
use crate::tool::output::{count, one_line};
use crate::tool::{BuildError, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// Characters of one fact.
const MAX_FACT_CHARS: usize = 1_000;

/// Bytes of the whole file. Over it nothing is stored; what is there stays readable.
const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Facts one search may return.
const MAX_RESULTS: usize = 50;

/// Facts that are shown when nothing fits exactly.
const NEAR_MISSES: usize = 3;

/// The toolset.
pub(super) struct Memory {
    /// Held from reading the file to writing it, by every agent of this process.
    writing: Arc<Mutex<()>>,
}

impl Memory {
    pub(super) fn new() -> Self {
        Self { writing: Arc::new(Mutex::new(())) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Store {
    /// One fact.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    #[serde(default = "five")]
    n_results: i64,
}

#[derive(Deserialize, JsonSchema)]
struct List {}

#[derive(Deserialize, JsonSchema)]
struct Update {
    /// The stored fact, word for word.
    old: String,
    /// What it becomes.
    new: String,
}

#[derive(Deserialize, JsonSchema)]
struct Forget {
    /// The stored fact, word for word.
    content: String,
}

fn five() -> i64 {
    5
}

impl Toolset for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Facts about the user, remembered across conversations."
    }

    fn guidance(&self) -> Option<&str> {
        Some(include_str!("../../assets/prompts/memory.md").trim())
    }

    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let file = Arc::new(services.data.join("memory.md"));
        Ok(vec![
            changing(
                "store_memory",
                include_str!("../../assets/tools/store_memory.md"),
                &file,
                &self.writing,
                |notes, arguments: Store| store(notes, &arguments.content),
            ),
            reading(
                "search_memories",
                include_str!("../../assets/tools/search_memories.md"),
                &file,
                |notes, arguments: Search| search(notes, &arguments.query, arguments.n_results),
            ),
            reading("list_memories", include_str!("../../assets/tools/list_memories.md"), &file, |notes, _: List| {
                list(notes)
            }),
            changing(
                "update_memory",
                include_str!("../../assets/tools/update_memory.md"),
                &file,
                &self.writing,
                |notes, arguments: Update| update(notes, &arguments.old, &arguments.new),
            ),
            changing(
                "forget_memory",
                include_str!("../../assets/tools/forget_memory.md"),
                &file,
                &self.writing,
                |notes, arguments: Forget| forget(notes, &arguments.content),
            ),
        ])
    }
}

/// A tool that looks at what is stored.
fn reading<A>(
    name: &'static str,
    description: &str,
    file: &Arc<PathBuf>,
    work: fn(&Notes, A) -> Output,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    let file = Arc::clone(file);
    Function::new(name, description, Risk::Read, move |arguments: A, _| {
        let file = Arc::clone(&file);
        blocking(name, move |_| match read(&file) {
            Ok(notes) => work(&notes, arguments),
            Err(error) => Output::failed(error),
        })
    })
    .boxed()
}

/// A tool that changes what is stored. `work` answers with the text for the model, or with an answer that changes nothing.
fn changing<A>(
    name: &'static str,
    description: &str,
    file: &Arc<PathBuf>,
    writing: &Arc<Mutex<()>>,
    work: fn(&mut Notes, A) -> Result<String, Output>,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    let (file, writing) = (Arc::clone(file), Arc::clone(writing));
    Function::new(name, description, Risk::Write, move |arguments: A, _| {
        let (file, writing) = (Arc::clone(&file), Arc::clone(&writing));
        blocking(name, move |_| {
            let _writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
            change(&file, |notes| work(notes, arguments))
        })
    })
    .boxed()
}

fn read(file: &Path) -> Result<Notes, String> {
    match files::read(file) {
        // A person may have saved it in another encoding: their words are shown as well as can be, and changes refused.
        Ok(bytes) => Ok(Notes::parse(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.is_missing() => Ok(Notes::default()),
        Err(error) => Err(format!("Memory cannot be read: {error}")),
    }
}

/// Reads, changes and replaces the file, under a lock that another process of this program respects.
fn change(file: &Path, work: impl FnOnce(&mut Notes) -> Result<String, Output>) -> Output {
    let failed = |error: String| Output::failed(format!("Memory cannot be changed: {error}"));
    let _lock = match lock(file) {
        Ok(lock) => lock,
        Err(error) => return failed(error.to_string()),
    };
    let text = match files::read(file).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return failed(format!("{} is not UTF-8 text, and rewriting it would harm it", file.display())),
        Err(error) if error.is_missing() => notes::HEADER.to_owned(),
        Err(error) => return failed(error.to_string()),
    };
    let mut notes = Notes::parse(&text);
    let answer = match work(&mut notes) {
        Ok(answer) => answer,
        Err(output) => return output,
    };
    let text = notes.to_text();
    if text.len() > MAX_FILE_BYTES {
        return failed(format!("{} would be over 1 MiB; forget something first", file.display()));
    }
    match files::write(file, text.as_bytes()) {
        Ok(()) => Output::ok(answer),
        Err(error) => failed(error.to_string()),
    }
}

/// Waits until no other process changes the file. The lock ends with the value.
#[expect(clippy::disallowed_methods, reason = "a lock needs the file itself; its errors name the path")]
fn lock(file: &Path) -> Result<File, FileError> {
    if let Some(folder) = file.parent() {
        files::create_directory(folder)?;
    }
    let path = file.with_extension("lock");
    let lock = files::private().create(true).truncate(false).write(true).open(&path);
    let lock = lock.map_err(FileError::at("open", &path))?;
    lock.lock().map_err(FileError::at("lock", &path))?;
    Ok(lock)
}

/// One line, with its words; refused when empty or too long.
fn fact(text: &str) -> Result<String, Output> {
    let fact = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if fact.is_empty() {
        return Err(Output::failed("A memory must not be empty."));
    }
    if fact.chars().count() > MAX_FACT_CHARS {
        return Err(Output::failed(format!(
            "A memory has at most {MAX_FACT_CHARS} characters. Store one fact at a time."
        )));
    }
    Ok(fact)
}

fn store(notes: &mut Notes, content: &str) -> Result<String, Output> {
    let fact = fact(content)?;
    if notes.position(&fact).is_some() {
        return Err(Output::ok("Already stored."));
    }
    notes.push(&fact);
    Ok("Stored.".to_owned())
}

fn update(notes: &mut Notes, old: &str, new: &str) -> Result<String, Output> {
    let new = fact(new)?;
    let at = find(notes, old, "changed")?;
    if notes.position(&new).is_some_and(|other| other != at) {
        return Err(Output::failed(format!("Nothing was changed: \"{}\" is stored already.", one_line(&new, 120))));
    }
    notes.set(at, &new);
    Ok("Updated.".to_owned())
}

fn forget(notes: &mut Notes, content: &str) -> Result<String, Output> {
    let at = find(notes, content, "forgotten")?;
    let fact = notes.remove(at);
    Ok(format!("Forgotten: {}", one_line(&fact, 200)))
}

/// Where the fact is that reads like `text`. A near miss is shown, so that the next call can name it; something that was
/// never stored is said to be so.
fn find(notes: &Notes, text: &str, done: &str) -> Result<usize, Output> {
    if let Some(at) = notes.position(text) {
        return Ok(at);
    }
    let ranked = rank::rank(notes.facts(), text);
    let near = if ranked.hits.is_empty() { &ranked.near } else { &ranked.hits };
    let near: Vec<&str> = near.iter().take(NEAR_MISSES).map(String::as_str).collect();
    let text = one_line(text, 120);
    Err(Output::failed(if near.is_empty() {
        format!("Nothing was {done}: nothing like \"{text}\" was ever stored.")
    } else {
        format!("Nothing was {done}: no memory reads exactly \"{text}\". Did you mean:\n{}", bullets(&near))
    }))
}

fn search(notes: &Notes, query: &str, n_results: i64) -> Output {
    if query.trim().is_empty() {
        return Output::failed("query must not be empty; list_memories shows everything.");
    }
    if n_results < 1 {
        return Output::failed(format!("n_results must be 1 or greater, got {n_results}"));
    }
    let limit = usize::try_from(n_results).unwrap_or(MAX_RESULTS).min(MAX_RESULTS);
    let ranked = rank::rank(notes.facts(), query);
    let lines = |facts: &[String], limit| {
        let facts: Vec<&str> = facts.iter().take(limit).map(String::as_str).collect();
        (bullets(&facts), facts.len())
    };
    if !ranked.hits.is_empty() {
        let (text, shown) = lines(&ranked.hits, limit);
        return Output::ok(text).with_note(count(shown, "memory", "memories"));
    }
    if ranked.near.is_empty() {
        let text = if notes.is_empty() {
            "No relevant memories found. Memory is empty."
        } else {
            "No relevant memories found."
        };
        return Output::ok(text).with_note("none");
    }
    let (text, _) = lines(&ranked.near, limit.min(NEAR_MISSES));
    Output::ok(format!("No memory has these words. Nearest, perhaps not what was meant:\n{text}"))
        .with_note("near misses")
}

fn list(notes: &Notes) -> Output {
    if notes.is_empty() {
        return Output::ok("Memory is empty.").with_note("none");
    }
    let facts: Vec<&str> = notes.facts().collect();
    Output::ok(bullets(&facts)).with_note(count(facts.len(), "memory", "memories"))
}

fn bullets(facts: &[&str]) -> String {
    facts.iter().map(|fact| format!("- {fact}")).collect::<Vec<_>>().join("\n")
}
