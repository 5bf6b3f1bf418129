//! The person's own editor and pager: which they are, the file they are given, and what came back.
//!
//! Whoever calls this has given the terminal back first.

use std::io::{self, Write as _};
use std::process::ExitStatus;

use tempfile::NamedTempFile;
use tokio::process::Command;

/// Bytes of an edited text that are taken.
const LIMIT: u64 = 4_000_000;

/// What the environment says of editors, pagers and what is around the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// `$VISUAL`, else `$EDITOR`, else `vi`: a command line.
    pub editor: String,
    /// `$PAGER`, else `less`: a command line.
    pub pager: String,
}

impl Programs {
    /// Chooses by `lookup`, which gives an environment variable. One that is set to nothing is not set.
    pub fn choose(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        Self {
            editor: set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned()),
            pager: set("PAGER").unwrap_or_else(|| "less".to_owned()),
        }
    }
}

/// Opens `editor` on `text`, in a file with this ending, and gives what was saved.
///
/// # Errors
/// A fragment that names the program: it does not start, says that it failed, or left something that is no text.
pub async fn edit(editor: &str, text: &str, ending: &str) -> Result<String, String> {
    let file = file_of(text, ending).map_err(|error| format!("could not write the text to a file: {error}"))?;
    let status = open(editor, &file).await?;
    if !status.success() {
        return Err(format!("'{editor}' ended with {status}; the text is as it was"));
    }
    let edited = read_back(&file).map_err(|error| format!("could not read what '{editor}' saved: {error}"))?;
    // Editors end a file with a line end; a draft has none.
    let ends = text.ends_with('\n');
    Ok(if ends { edited } else { edited.strip_suffix('\n').unwrap_or(&edited).to_owned() })
}

/// Opens `pager` on `text` until the person leaves it.
///
/// # Errors
/// A fragment that names the program.
pub async fn page(pager: &str, text: &str) -> Result<(), String> {
    let file = file_of(text, ".md").map_err(|error| format!("could not write the text to a file: {error}"))?;
    // How a pager ends says nothing: some report the key that closed them.
    open(pager, &file).await.map(|_| ())
}

fn file_of(text: &str, ending: &str) -> io::Result<NamedTempFile> {
    // Made with mode 0600.
    let mut file = tempfile::Builder::new().prefix("kokua-").suffix(ending).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Reads the file by its name: most editors save by putting a new file in its place.
fn read_back(file: &NamedTempFile) -> io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let mut saved = std::fs::File::options().read(true).open(file.path())?.take(LIMIT + 1);
    saved.read_to_string(&mut text)?;
    if text.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("it is over {LIMIT} bytes")));
    }
    Ok(text.replace("\r\n", "\n"))
}

async fn open(program: &str, file: &NamedTempFile) -> Result<ExitStatus, String> {
    let words = shlex::split(program).filter(|words| !words.is_empty());
    let Some([name, arguments @ ..]) = words.as_deref() else {
        return Err(format!("'{program}' is no command line: a quote is missing"));
    };
    let run = Command::new(name).args(arguments).arg(file.path()).status();
    run.await
        .map_err(|error| format!("could not start '{name}': {error}; set VISUAL, EDITOR or PAGER to one that is there"))
}

#[cfg(test)]
mod tests {
    use super::{Programs, edit, page};

    #[test]
    fn the_first_that_is_set_is_taken() {
        let choose = |set: &[(&str, &str)]| {
            Programs::choose(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(choose(&[]), Programs { editor: "vi".into(), pager: "less".into() });
        assert_eq!(choose(&[("EDITOR", "nano"), ("PAGER", " ")]).editor, "nano");
        assert_eq!(choose(&[("EDITOR", "nano"), ("PAGER", " ")]).pager, "less");
        assert_eq!(choose(&[("EDITOR", "nano"), ("VISUAL", "code --wait")]).editor, "code --wait");
    }

    #[tokio::test]
    async fn what_the_editor_saved_comes_back() {
        assert_eq!(edit("sed -i s/draft/text/", "a draft", ".md").await.unwrap(), "a text");
        assert_eq!(edit("sed -i '$a more'", "a draft\n", ".md").await.unwrap(), "a draft\nmore\n");
        assert_eq!(edit("true", "unchanged", ".json").await.unwrap(), "unchanged");
        page("true", "text").await.unwrap();
        page("false", "text").await.unwrap();
    }

    #[tokio::test]
    async fn an_editor_that_fails_is_named() {
        let said = edit("false", "x", ".md").await.unwrap_err();
        assert!(said.starts_with("'false' ended with exit status: 1"), "{said}");
        let said = edit("no-such-editor-here", "x", ".md").await.unwrap_err();
        assert!(said.starts_with("could not start 'no-such-editor-here'"), "{said}");
        let said = edit("vi 'x", "x", ".md").await.unwrap_err();
        assert!(said.contains("a quote is missing"), "{said}");
    }
}
