//! The commands that start with a slash: one table for completion, the palette and the reference. An unknown word is no
//! command but an ordinary message.

use std::fmt::Write as _;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slash {
    /// Stop the running turn.
    Stop,
    /// Begin a new conversation.
    New,
    /// The conversations pane.
    Conversations,
    /// Go to another conversation.
    Switch,
    /// Title the conversation in view.
    Rename,
    /// The agents pane.
    Agents,
    /// The tools pane.
    Tools,
    /// The policy pane.
    Policy,
    /// Another mode for the conversation.
    Mode,
    /// Diagnostics.
    Diag,
    /// Search the transcript.
    Find,
    /// Copy the last answer.
    Copy,
    /// Another theme.
    Theme,
    /// Mouse on or off.
    Mouse,
    /// The keys as a list.
    Keys,
    /// Help.
    Help,
    /// Leave.
    Quit,
}

/// Whether a command takes words after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Argument {
    /// None.
    None,
    /// May be left out.
    Optional(&'static str),
    /// Must be there.
    Required(&'static str),
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What it does.
    pub slash: Slash,
    /// Its word, without the slash.
    pub word: &'static str,
    /// What follows it.
    pub argument: Argument,
    /// What it does, for people.
    pub description: &'static str,
}

const fn row(slash: Slash, word: &'static str, argument: Argument, description: &'static str) -> Row {
    Row { slash, word, argument, description }
}

/// Every command, in the order of completion and tables.
pub const COMMANDS: &[Row] = &[
    row(Slash::Stop, "stop", Argument::None, "stop the running turn"),
    row(Slash::New, "new", Argument::None, "begin a new conversation"),
    row(Slash::Conversations, "conversations", Argument::None, "list the stored conversations (F6)"),
    row(Slash::Switch, "switch", Argument::Optional("id or title"), "go to another conversation"),
    row(Slash::Rename, "rename", Argument::Required("title"), "title the conversation in view"),
    row(Slash::Agents, "agents", Argument::None, "the agents of the turn (F2)"),
    row(Slash::Tools, "tools", Argument::None, "what is resident, loaded and loadable (F3)"),
    row(Slash::Policy, "policy", Argument::None, "what asks first, and where that is declared (F4)"),
    row(Slash::Mode, "mode", Argument::Optional("name"), "another mode for this conversation, or the list of them"),
    row(Slash::Diag, "diag", Argument::None, "diagnostics of this program"),
    row(Slash::Find, "find", Argument::Optional("words"), "search the transcript"),
    row(Slash::Copy, "copy", Argument::None, "copy the last answer"),
    row(Slash::Theme, "theme", Argument::Optional("name"), "another theme, saved"),
    row(Slash::Mouse, "mouse", Argument::None, "mouse on or off"),
    row(Slash::Keys, "keys", Argument::None, "the keys in force"),
    row(Slash::Help, "help", Argument::None, "help"),
    row(Slash::Quit, "quit", Argument::None, "leave"),
];

/// The command that `text` is, with the words after it; `None`: an ordinary message.
pub fn parse(text: &str) -> Option<(Slash, &str)> {
    let line = text.trim();
    let (word, rest) = line.strip_prefix('/')?.split_once(char::is_whitespace).unwrap_or((line.get(1..)?, ""));
    let row = COMMANDS.iter().find(|row| row.word == word)?;
    let rest = rest.trim();
    // Words after a command that takes none make it a message: "/new ideas for the garden".
    (row.argument != Argument::None || rest.is_empty()).then_some((row.slash, rest))
}

/// Commands whose word starts with what was typed, while `text` is nothing but a slash and a beginning of a word.
pub fn completions(text: &str) -> Vec<&'static Row> {
    let Some(start) = text.strip_prefix('/').filter(|start| start.chars().all(|c| c.is_ascii_alphabetic())) else {
        return Vec::new();
    };
    COMMANDS.iter().filter(|row| row.word.starts_with(start)).collect()
}

/// The reference table of commands, as Markdown.
pub fn commands_table_markdown() -> String {
    let mut table = String::from("| command | does |\n|---|---|\n");
    for row in COMMANDS {
        let argument = match row.argument {
            Argument::None => String::new(),
            Argument::Optional(name) => format!(" [{name}]"),
            Argument::Required(name) => format!(" <{name}>"),
        };
        let _ = writeln!(table, "| `/{}{argument}` | {} |", row.word, row.description);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_an_ordinary_message() {
        let table: &[(&str, Option<(Slash, &str)>)] = &[
            ("/stop", Some((Slash::Stop, ""))),
            ("  /rename  a new title ", Some((Slash::Rename, "a new title"))),
            ("/etc/hosts is odd", None),
            ("/stopp", None),
            ("/new ideas for the garden", None),
            ("stop", None),
            ("/", None),
            ("", None),
            ("/find", Some((Slash::Find, ""))),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), *expected, "{text}");
        }
    }

    #[test]
    fn completion_is_by_beginning_and_only_of_one_word() {
        let words = |text| completions(text).iter().map(|row| row.word).collect::<Vec<_>>();
        assert_eq!(words("/t"), ["tools", "theme"]);
        assert_eq!(words("/").len(), COMMANDS.len());
        assert!(words("/tmp/x").is_empty());
        assert!(words("/tools now").is_empty());
    }
}
