//! Writing the configuration: the shipped one on the first run, and one key at a time with every comment kept.
//!
//! Nothing is saved that the next start would refuse.

use std::io;
use std::path::PathBuf;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::problem::Problems;
use super::resolve::{load, parse};
use super::{Config, EXAMPLE, Locations, Source, disk};
use crate::access::Fault;
use crate::system::files::describe;

/// What a key is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// Text.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A list of text.
    Names(Vec<String>),
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// [`init`] never replaces a file.
    #[error("{} is there already; nothing was written", .0.display())]
    Exists(PathBuf),
    /// The disk said no.
    #[error("{} could not be written: {}", .path.display(), describe(.source))]
    Disk {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another program was at it for as long as one waits.
    #[error("nothing was written: another kokua is writing {}; try again", .0.display())]
    Busy(PathBuf),
    /// The file as it would be is not a configuration, or the file as it is.
    #[error("nothing was written, because the configuration would not load:\n{0}")]
    WouldNotLoad(Problems),
    /// There is no place for this key.
    #[error("nothing was written: `{0}` is no key inside a table")]
    NoSuchPlace(String),
    /// No home directory.
    #[error("{0}")]
    NoPlace(Problems),
}

/// Writes the shipped configuration where [`Locations::config`] says, with the folders above it, and returns the path.
///
/// # Errors
/// There is a file already, or the disk said no.
pub fn init(locations: &Locations) -> Result<PathBuf, WriteError> {
    let path = locations.config().map_err(WriteError::NoPlace)?;
    match disk::create(&path, EXAMPLE) {
        Ok(()) => Ok(path),
        // The same kind also says that something stands where a folder would be made.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.symlink_metadata().is_ok() => {
            Err(WriteError::Exists(path))
        }
        Err(source) => Err(WriteError::Disk { path, source }),
    }
}

/// What [`set`] did.
#[derive(Debug)]
pub struct Written {
    /// The file's text before.
    pub before: String,
    /// The configuration that it makes now.
    pub config: Config,
}

/// Sets `key`, such as `toolsets.disabled`, in the file as it is now, to a value that may be made of what it says at that
/// moment. Comments, order and everything else stay as they are; the file is replaced whole or not at all, and of two
/// programs that save at once none takes back what the other saved. Waits for that for two seconds at most.
///
/// # Errors
/// The file as it would be does not load or fails `check`, others wrote all the time, or the disk said no. Then nothing has
/// changed.
pub fn set(
    locations: &Locations,
    key: &str,
    value: impl FnOnce(&Config) -> NewValue,
    check: impl FnOnce(&Config) -> Vec<Fault>,
) -> Result<Written, WriteError> {
    let path = locations.config().map_err(WriteError::WouldNotLoad)?;
    let _held = match disk::lock(&path) {
        Ok(held) => Some(held.ok_or(WriteError::Busy(path))?),
        // What is missing is said below, with what to do.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Err(WriteError::Disk { path, source }),
    };
    let config = load(locations).map_err(WriteError::WouldNotLoad)?;
    let value = value(&config);
    let source = config.source;
    let text = edited(&source.text, key, &value).ok_or_else(|| WriteError::NoSuchPlace(key.to_owned()))?;
    let before = source.text;
    let config = parse(Source { path: source.path, text }, locations, check).map_err(WriteError::WouldNotLoad)?;
    disk::replace(&config.source.path, &config.source.text)
        .map_err(|source| WriteError::Disk { path: config.source.path.clone(), source })?;
    Ok(Written { before, config })
}

/// The text with one key set; `None` where the key has no place in it.
fn edited(text: &str, key: &str, value: &NewValue) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let mut path: Vec<&str> = key.split('.').collect();
    let last = path.pop()?;
    if path.is_empty() {
        return None;
    }
    // The table, made where it is not written yet. A blank line keeps it apart from what stands above.
    let apart = !document.as_table().is_empty();
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, part) in path.iter().enumerate() {
        let is_new = table.get(part).is_none();
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        if let Item::Table(new) = item
            && is_new
        {
            new.set_implicit(depth + 1 < path.len());
            if apart {
                new.decor_mut().set_prefix("\n");
            }
        }
        table = item.as_table_like_mut()?;
    }
    match table.get_mut(last) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            if let (Some(array), NewValue::Names(names)) = (old.as_array_mut(), value) {
                set_names(array, names);
            } else {
                *old = new_value(value);
                *old.decor_mut() = decor;
            }
        }
        Some(Item::None) | None => {
            table.insert(last, Item::Value(new_value(value)));
        }
        Some(_) => return None,
    }
    Some(document.to_string())
}

/// Makes the list hold exactly `names`. Words that stay keep their line and comment, unless the order changes.
fn set_names(array: &mut Array, names: &[String]) {
    let mut at = 0;
    while let Some(value) = array.get(at) {
        if value.as_str().is_some_and(|text| names.iter().any(|name| name == text)) {
            at += 1;
        } else {
            remove(array, at);
        }
    }
    let kept = array.len();
    if !array.iter().filter_map(Value::as_str).eq(names.iter().take(kept).map(String::as_str)) {
        array.clear();
    }
    for name in names.iter().skip(array.len()) {
        push(array, name);
    }
}

/// The comment behind a word of a list belongs, for the parser, to whatever comes next: it goes with its word.
fn remove(array: &mut Array, at: usize) {
    let own = before(array, at);
    let next = before(array, at + 1);
    let joined = match (own.split_once('\n'), next.find('\n')) {
        (Some((comment_of_the_word_before, _)), Some(line)) => {
            format!("{comment_of_the_word_before}{}", next.get(line..).unwrap_or_default())
        }
        _ if at == 0 && at + 1 < array.len() => own,
        _ => next,
    };
    // A last word carries what keeps the bracket away from it.
    let suffix =
        array.get(at).and_then(|value| value.decor().suffix()).and_then(|text| text.as_str()).map(str::to_owned);
    let was_last = at + 1 == array.len();
    array.remove(at);
    if let (true, Some(suffix), Some(last)) = (was_last, suffix, at.checked_sub(1).and_then(|at| array.get_mut(at)))
        && suffix.trim().is_empty()
    {
        last.decor_mut().set_suffix(suffix);
    }
    match array.get_mut(at) {
        Some(value) => value.decor_mut().set_prefix(joined),
        None => array.set_trailing(joined),
    }
}

fn push(array: &mut Array, name: &str) {
    let end = before(array, array.len());
    let mut value = Value::from(name);
    if let Some((comment_of_the_word_before, _)) = end.split_once('\n') {
        let last = before(array, array.len().saturating_sub(1));
        let indent = if array.is_empty() { "    " } else { last.rsplit('\n').next().unwrap_or_default() };
        value.decor_mut().set_prefix(format!("{comment_of_the_word_before}\n{indent}"));
        array.push_formatted(value);
        array.set_trailing("\n");
        array.set_trailing_comma(true);
        return;
    }
    let suffix = match array.len().checked_sub(1).and_then(|last| array.get_mut(last)) {
        Some(last) => {
            let suffix = last.decor().suffix().and_then(|text| text.as_str()).unwrap_or_default().to_owned();
            last.decor_mut().set_suffix("");
            value.decor_mut().set_prefix(" ");
            suffix
        }
        None => String::new(),
    };
    value.decor_mut().set_suffix(suffix);
    array.push_formatted(value);
}

/// What stands before a word of a list, or before its end.
fn before(array: &Array, at: usize) -> String {
    match array.get(at) {
        Some(value) => value.decor().prefix().and_then(|prefix| prefix.as_str()),
        None => array.trailing().as_str(),
    }
    .unwrap_or_default()
    .to_owned()
}

fn new_value(value: &NewValue) -> Value {
    match value {
        NewValue::Text(text) => Value::from(text.as_str()),
        NewValue::Boolean(value) => Value::from(*value),
        NewValue::Integer(value) => Value::from(*value),
        NewValue::Number(value) => Value::from(*value),
        NewValue::Names(names) => Value::Array(names.iter().map(String::as_str).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> NewValue {
        NewValue::Names(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn a_key_is_set_and_every_comment_stays() {
        let text =
            "# top\n[toolsets] # mine\n# above\ndisabled = [\"misc\"] # behind\n\n# below\n[display]\nmouse = true\n";
        assert_eq!(
            edited(text, "toolsets.disabled", &names(&["misc", "todo"])).unwrap(),
            text.replace("[\"misc\"]", "[\"misc\", \"todo\"]")
        );
        assert_eq!(edited(text, "display.mouse", &NewValue::Boolean(false)).unwrap(), text.replace("true", "false"));
    }

    #[test]
    fn words_that_stay_in_a_list_keep_their_comments() {
        let text = "[toolsets]\ndisabled = [\n    \"misc\", # noisy\n    \"todo\", # not today\n]\n";
        let edit = |list: &[&str]| edited(text, "toolsets.disabled", &names(list)).unwrap();
        assert_eq!(edit(&["misc"]), text.replace("    \"todo\", # not today\n", ""));
        assert_eq!(edit(&["todo"]), text.replace("    \"misc\", # noisy\n", ""));
        assert_eq!(edit(&["misc", "todo", "fs"]), text.replace("today\n", "today\n    \"fs\",\n"));
        assert_eq!(edit(&["misc", "todo"]), text);
        for list in [&[][..], &["fs"], &["todo", "misc"], &["fs", "misc"]] {
            let document: DocumentMut = edit(list).parse().unwrap();
            let written: Vec<&str> =
                document["toolsets"]["disabled"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(written, list);
        }
    }

    #[test]
    fn a_list_on_one_line_stays_on_it() {
        let edit = |list: &[&str]| edited("a.b = [ \"x\", \"y\" ]\n", "a.b", &names(list)).unwrap();
        assert_eq!(edit(&["y"]), "a.b = [ \"y\" ]\n");
        assert_eq!(edit(&["x"]), "a.b = [ \"x\" ]\n");
        assert_eq!(edit(&["x", "y", "z"]), "a.b = [ \"x\", \"y\", \"z\" ]\n");
        assert_eq!(edit(&["z"]), "a.b = [\"z\"]\n");
    }

    #[test]
    fn a_new_key_and_a_new_table_find_their_place() {
        assert_eq!(
            edited("[toolsets]\nbuild_timeout_s = 5\n\n[fs]\n", "toolsets.disabled", &names(&[])).unwrap(),
            "[toolsets]\nbuild_timeout_s = 5\ndisabled = []\n\n[fs]\n"
        );
        assert_eq!(
            edited("# only this\n[fs]\nroots = []\n", "assistant.generation.top_k", &NewValue::Integer(3)).unwrap(),
            "# only this\n[fs]\nroots = []\n\n[assistant.generation]\ntop_k = 3\n"
        );
        assert_eq!(
            edited("display = { mouse = true }\n", "display.mouse", &NewValue::Boolean(false)).unwrap(),
            "display = { mouse = false }\n"
        );
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        assert_eq!(edited("", "mouse", &NewValue::Boolean(true)), None);
        assert_eq!(edited("display = 3\n", "display.mouse", &NewValue::Boolean(true)), None);
        assert_eq!(edited("[assistant.tools]\n", "assistant.tools", &NewValue::Boolean(true)), None);
    }

    /// A list as a person may have laid it out: each word with or without its own line and comment.
    fn laid_out(words: &[(String, bool)], lines: bool) -> String {
        if !lines {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            return format!("[a]\nb = [{}] # behind\nc = 1 # after\n", words.join(", "));
        }
        let mut text = "[a]\nb = [\n".to_owned();
        for (word, comment) in words {
            let comment = if *comment { format!(" # of {word}") } else { String::new() };
            text.push_str(&format!("  {word:?},{comment}\n"));
        }
        text + "] # behind\nc = 1 # after\n"
    }

    proptest::proptest! {
        /// Whatever the layout and the change: the list is exactly what was asked for, every word that stays in its
        /// order keeps its comment, and nothing outside of the list moves.
        #[test]
        fn any_list_becomes_what_was_asked(
            old in proptest::collection::btree_map("[a-e]", proptest::bool::ANY, 0..5),
            new in proptest::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 0..6),
            lines in proptest::bool::ANY,
        ) {
            let old: Vec<(String, bool)> = old.into_iter().collect();
            let text = laid_out(&old, lines);
            let written = edited(&text, "a.b", &names(&new)).unwrap();
            let document: DocumentMut = written.parse().unwrap();
            let list: Vec<&str> = document["a"]["b"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            proptest::prop_assert_eq!(&list, &new, "{}", written);
            proptest::prop_assert!(written.starts_with("[a]\nb = [") && written.ends_with("] # behind\nc = 1 # after\n"));
            let kept: Vec<&str> = old.iter().map(|(word, _)| word.as_str()).filter(|word| new.contains(word)).collect();
            if lines && new.starts_with(&kept) {
                for (word, commented) in old.iter().filter(|(word, _)| new.contains(&word.as_str())) {
                    let line = if *commented { format!("  {word:?}, # of {word}\n") } else { format!("  {word:?},\n") };
                    proptest::prop_assert!(written.contains(&line), "{}\n{}", text, written);
                }
                for (word, _) in old.iter().filter(|(word, _)| !new.contains(&word.as_str())) {
                    proptest::prop_assert!(!written.contains(&format!("# of {word}")), "{}\n{}", text, written);
                }
            }
        }
    }
}
