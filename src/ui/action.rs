//! The one table of named actions: the key map, the help overlay, the palette and the reference tables are made of it.
//! Nothing here acts.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::message::{Key, KeyCode};
use crate::access::name::{did_you_mean, near};

/// Where a key is looked up. A narrower context is asked before [`Context::Everywhere`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Whatever has the focus.
    Everywhere,
    /// The composer.
    Composer,
    /// A focused card, in the strip or in full view.
    Card,
    /// The focused transcript.
    Transcript,
    /// Any focused pane or open list.
    Pane,
    /// The agents pane.
    Agents,
    /// The tools pane.
    Tools,
    /// The policy pane.
    Policy,
    /// The conversations pane.
    Conversations,
}

impl Context {
    /// Its heading in help and tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Composer => "composer",
            Self::Card => "focused card",
            Self::Transcript => "transcript",
            Self::Pane => "any pane or list",
            Self::Agents => "agents (F2)",
            Self::Tools => "tools (F3)",
            Self::Policy => "policy (F4)",
            Self::Conversations => "conversations (F6)",
        }
    }

    /// Whether a key can be looked up in both at one moment.
    fn overlaps(self, other: Self) -> bool {
        let pane = |context| matches!(context, Self::Agents | Self::Tools | Self::Policy | Self::Conversations);
        self == other
            || self == Self::Everywhere
            || other == Self::Everywhere
            || (self == Self::Pane && pane(other))
            || (other == Self::Pane && pane(self))
    }

    /// Every context, in the order in which help shows them.
    pub const ALL: [Self; 9] = [
        Self::Everywhere,
        Self::Composer,
        Self::Card,
        Self::Transcript,
        Self::Pane,
        Self::Agents,
        Self::Tools,
        Self::Policy,
        Self::Conversations,
    ];
}

/// Whether the palette lists an action: only those that make sense from wherever the palette was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// In the palette too.
    Palette,
    /// Keys only.
    KeysOnly,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What it does.
    pub action: Action,
    /// Its name in `[keys]`.
    pub name: &'static str,
    /// Where its keys work.
    pub context: Context,
    /// Its keys as shipped.
    pub keys: &'static [&'static str],
    /// What it does, for people.
    pub description: &'static str,
    /// Whether the palette lists it.
    pub listed: Listed,
}

macro_rules! actions {
    ($($context:ident $listed:ident $action:ident $name:literal [$($key:literal),*] $description:literal;)*) => {
        /// A named action.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $description] $action,)*
        }

        /// Every action, in the order of help and tables.
        pub const ACTIONS: &[Row] = &[
            $(Row {
                action: Action::$action,
                name: $name,
                context: Context::$context,
                keys: &[$($key),*],
                description: $description,
                listed: Listed::$listed,
            },)*
        ];
    };
}

actions! {
    Everywhere Palette  Help "help" ["F1"] "the keys in force";
    Everywhere Palette  Agents "agents" ["F2"] "agents pane: who works, on what";
    Everywhere Palette  Tools "tools" ["F3"] "tools pane: resident, loaded, loadable";
    Everywhere Palette  Policy "policy" ["F4"] "policy pane: what asks first, and why";
    Everywhere Palette  Conversations "conversations" ["F6"] "conversations pane";
    Everywhere Palette  ToggleMouse "mouse" ["F9"] "mouse on or off";
    Everywhere KeysOnly Palette "palette" ["Ctrl+P"] "palette of actions and commands";
    Everywhere Palette  OldestAsk "oldest_ask" ["Ctrl+Y"] "answer the ask; again: the first";
    Everywhere KeysOnly FocusNext "focus_next" ["Tab"] "focus: composer, card, pane, transcript";
    Everywhere KeysOnly FocusPrevious "focus_previous" ["Shift+Tab"] "focus the other way round";
    Everywhere KeysOnly Close "close" ["Esc"] "close one level, back to the entry agent; while a turn runs, twice stops it";
    Everywhere KeysOnly Interrupt "interrupt" ["Ctrl+C"] "stop the turn; clear the draft into history; quit (twice)";
    Everywhere KeysOnly QuitIfEmpty "quit" ["Ctrl+D"] "quit when the composer is empty";
    Everywhere Palette  Search "search" ["Ctrl+F"] "search the transcript";
    Everywhere Palette  Pager "pager" ["Ctrl+T"] "whole transcript in $PAGER";
    Everywhere KeysOnly PageUp "page_up" ["PgUp"] "scroll up a page";
    Everywhere KeysOnly PageDown "page_down" ["PgDn"] "scroll down a page";
    Everywhere Palette  Top "top" ["Ctrl+Home"] "scroll to the beginning";
    Everywhere Palette  Bottom "bottom" ["Ctrl+End"] "scroll to the end and follow";
    Everywhere KeysOnly PreviousBlock "previous_block" ["Alt+Up"] "previous block of the transcript";
    Everywhere KeysOnly NextBlock "next_block" ["Alt+Down"] "next block of the transcript";
    Everywhere Palette  Redraw "redraw" ["Ctrl+L"] "draw everything again";
    Everywhere Palette  Suspend "suspend" ["Ctrl+Z"] "suspend to the shell";

    Composer KeysOnly Send "send" ["Enter"] "send; joins a running turn";
    Composer KeysOnly Newline "newline" ["Ctrl+J", "Alt+Enter", "Shift+Enter"] "new line";
    Composer Palette  Editor "editor" ["Ctrl+G"] "draft in $EDITOR";
    Composer Palette  HistorySearch "history_search" ["Ctrl+R"] "search what was sent before";
    Composer KeysOnly HistoryPrevious "history_previous" ["Up"] "previous message, from the first line";
    Composer KeysOnly HistoryNext "history_next" ["Down"] "next message, from the last line";
    Composer KeysOnly HelpIfEmpty "help_if_empty" ["?"] "help when the composer is empty";
    Composer KeysOnly Undo "undo" ["Ctrl+_", "Alt+z"] "undo";
    Composer KeysOnly Redo "redo" ["Alt+Z"] "redo";
    Composer KeysOnly LineStart "line_start" ["Home"] "start of the line";
    Composer KeysOnly LineEnd "line_end" ["End", "Ctrl+E"] "end of the line; with an empty composer, follow";
    Composer KeysOnly WordLeft "word_left" ["Ctrl+Left", "Alt+Left", "Alt+b"] "word to the left";
    Composer KeysOnly WordRight "word_right" ["Ctrl+Right", "Alt+Right", "Alt+f"] "word to the right";
    Composer KeysOnly DeleteWord "delete_word" ["Ctrl+W", "Alt+Backspace"] "delete the word before";
    Composer KeysOnly DeleteNextWord "delete_next_word" ["Alt+d", "Alt+Delete"] "delete the word after";
    Composer KeysOnly DeleteToStart "delete_to_start" ["Ctrl+U"] "delete to the start of the line";
    Composer KeysOnly DeleteToEnd "delete_to_end" ["Ctrl+K"] "delete to the end of the line";

    Card KeysOnly AllowOnce "allow_once" ["a"] "allow this call, once";
    Card KeysOnly AllowConversation "allow_conversation" ["s"] "allow this exact call in this conversation";
    Card KeysOnly Deny "deny" ["d"] "deny this call; the turn goes on";
    Card KeysOnly DenyWithReason "deny_with_reason" ["D"] "deny with a sentence that the model reads";
    Card KeysOnly EditCall "edit_call" ["e"] "edit its arguments in $EDITOR; you are asked again";
    Card KeysOnly CardFull "card_full" ["v"] "full view and back";
    Card KeysOnly CardNext "card_next" ["n"] "next ask";
    Card KeysOnly CardPrevious "card_previous" ["p"] "previous ask";
    Card KeysOnly CardAsker "card_asker" ["g"] "go to who asks: its call, or its conversation";
    Card KeysOnly CardUp "card_up" ["Up"] "scroll the card up";
    Card KeysOnly CardDown "card_down" ["Down"] "scroll the card down";

    Transcript KeysOnly BlockNext "block_next" ["j"] "next block";
    Transcript KeysOnly BlockPrevious "block_previous" ["k"] "previous block";
    Transcript KeysOnly LineUp "line_up" ["Up"] "scroll up a line";
    Transcript KeysOnly LineDown "line_down" ["Down"] "scroll down a line";
    Transcript KeysOnly First "first" ["Home"] "scroll to the beginning";
    Transcript KeysOnly Follow "follow" ["End"] "scroll to the end and follow";
    Transcript KeysOnly Fold "fold" ["Space"] "fold or unfold the block";
    Transcript KeysOnly OpenBlock "open" ["Enter"] "open: a call rule's ledger, a worker's own transcript";
    Transcript KeysOnly CopyBlock "copy" ["y"] "copy the block";
    Transcript KeysOnly PageBlock "page" ["o"] "block in $PAGER";
    Transcript KeysOnly SearchHere "search_here" ["/"] "search";
    Transcript KeysOnly NextMatch "next_match" ["n"] "next match";
    Transcript KeysOnly PreviousMatch "previous_match" ["N"] "previous match";

    Pane KeysOnly RowUp "row_up" ["Up"] "row up";
    Pane KeysOnly RowDown "row_down" ["Down"] "row down";
    Pane KeysOnly RowFirst "row_first" ["Home"] "first row";
    Pane KeysOnly RowLast "row_last" ["End"] "last row";
    Pane KeysOnly AgentNext "agent_next" ["Right"] "another agent's tools or policy";
    Pane KeysOnly AgentPrevious "agent_previous" ["Left"] "the agent before";
    Pane KeysOnly RowOpen "row_open" ["Enter"] "open or choose the row: an agent's transcript; why a tool or a cell is so";

    Agents KeysOnly StopAgent "stop_agent" ["x"] "stop this agent alone; on the first row, the whole turn";

    Tools KeysOnly RequestLoad "request_load" ["l"] "write a request to load it into the composer";
    Tools KeysOnly Switch "switch" ["o"] "switch the toolset off for everybody, or on again";
    Tools KeysOnly FilterTools "filter_tools" ["/"] "filter";
    Tools KeysOnly SortByBytes "sort_by_bytes" ["t"] "sort by bytes, or in the model's order";

    Policy Palette  Matrix "matrix" ["m"] "matrix of agents and toolsets, or the lists again";
    Policy KeysOnly RevokeGrant "revoke_grant" ["r"] "revoke the grant";

    Conversations Palette  NewConversation "new_conversation" ["n"] "new conversation";
    Conversations KeysOnly RenameConversation "rename_conversation" ["r"] "rename the one in view";
    Conversations KeysOnly DeleteConversation "delete_conversation" ["d"] "delete (asks)";
    Conversations KeysOnly FilterConversations "filter_conversations" ["/"] "filter by title";
}

impl Action {
    /// Its row.
    pub fn row(self) -> &'static Row {
        // The table is made together with the enum, in the same order.
        &ACTIONS[self as usize]
    }
}

/// Something wrong with `[keys]`. The caller knows the lines of both names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct KeyFault {
    /// The action's name as written under `[keys]`.
    pub action: String,
    /// The other action of a conflict; it may be one that `[keys]` does not name.
    pub other: Option<String>,
    /// What is wrong: a lower-case fragment.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// Keys that are never bound, each with its reason.
const RESERVED: &[(&str, &str)] = &[
    ("Ctrl+A", "screen uses it"),
    ("Ctrl+B", "tmux uses it"),
    ("Ctrl+S", "it stops a terminal's output"),
    ("Ctrl+Q", "it resumes a terminal's output"),
    ("Ctrl+M", "it is Enter's byte"),
    ("Ctrl+I", "it is Tab's byte"),
    ("Ctrl+H", "it is Backspace's byte"),
    ("Ctrl+[", "it is Esc's byte"),
];

/// Which key does what, in force for one session.
#[derive(Debug, Clone)]
pub struct KeyMap {
    keys: HashMap<(Context, Key), Action>,
    shown: BTreeMap<Action, Vec<Key>>,
}

impl Default for KeyMap {
    fn default() -> Self {
        let mut map = Self { keys: HashMap::new(), shown: BTreeMap::new() };
        for row in ACTIONS {
            // A test holds that every shipped key parses and that none is there twice.
            let keys = row.keys.iter().filter_map(|key| key.parse().ok()).collect();
            map.bind(row, keys);
        }
        map
    }
}

impl KeyMap {
    /// The shipped keys with `[keys]` over them: a name's list replaces all its shipped keys; an empty list unbinds.
    ///
    /// # Errors
    /// Every fault of the table together: unknown names and keys, reserved keys, conflicts within a context or between
    /// contexts in which a key is looked up at one moment.
    pub fn with(overrides: &BTreeMap<String, Vec<String>>) -> Result<Self, Vec<KeyFault>> {
        let mut faults = Vec::new();
        let mut map = Self { keys: HashMap::new(), shown: BTreeMap::new() };
        for name in overrides.keys().filter(|name| !ACTIONS.iter().any(|row| row.name == name.as_str())) {
            faults.push(KeyFault {
                action: name.clone(),
                other: None,
                message: format!("no action is called '{name}'"),
                hint: near_action(name),
            });
        }
        for row in ACTIONS {
            let mut keys = Vec::new();
            match overrides.get(row.name) {
                None => keys.extend(row.keys.iter().filter_map(|key| key.parse::<Key>().ok())),
                Some(written) => {
                    for text in written {
                        match allowed(row, text) {
                            Ok(key) if keys.contains(&key) => {}
                            Ok(key) => keys.push(key),
                            Err(fault) => faults.push(fault),
                        }
                    }
                }
            }
            for key in &keys {
                let taken = map.shown.iter().filter(|(_, keys)| keys.contains(key)).map(|(action, _)| action.row());
                for other in taken.filter(|other| row.context.overlaps(other.context)) {
                    let written = |name: &str| overrides.contains_key(name);
                    let context = |name: &str| if name == row.name { row.context } else { other.context }.title();
                    let (action, other) =
                        if written(row.name) { (row.name, other.name) } else { (other.name, row.name) };
                    faults.push(KeyFault {
                        action: action.to_owned(),
                        other: Some(other.to_owned()),
                        message: format!(
                            "{key} is bound to both '{action}' ({}) and '{other}' ({})",
                            context(action),
                            context(other)
                        ),
                        hint: format!("give '{action}' another key, or '{other}' under [keys] as well"),
                    });
                }
            }
            map.bind(row, keys);
        }
        if faults.is_empty() { Ok(map) } else { Err(faults) }
    }

    fn bind(&mut self, row: &Row, keys: Vec<Key>) {
        for key in &keys {
            self.keys.entry((row.context, *key)).or_insert(row.action);
        }
        self.shown.insert(row.action, keys);
    }

    /// What `key` does where `contexts` are asked in order.
    pub fn find(&self, contexts: &[Context], key: Key) -> Option<Action> {
        contexts.iter().find_map(|context| self.keys.get(&(*context, key)).copied())
    }

    /// An action's keys in force.
    pub fn keys(&self, action: Action) -> &[Key] {
        self.shown.get(&action).map_or(&[], Vec::as_slice)
    }

    /// An action's first key for a hint line, or `unbound`.
    pub fn first(&self, action: Action) -> String {
        self.keys(action).first().map_or_else(|| "unbound".to_owned(), Key::to_string)
    }

    /// An action's keys for a table: `Ctrl+J, Alt+Enter`, or `unbound`.
    pub fn all(&self, action: Action) -> String {
        let names: Vec<_> = self.keys(action).iter().map(Key::to_string).collect();
        if names.is_empty() { "unbound".to_owned() } else { names.join(", ") }
    }
}

fn allowed(row: &Row, text: &str) -> Result<Key, KeyFault> {
    let fault = |message: String, hint: &str| KeyFault {
        action: row.name.to_owned(),
        other: None,
        message,
        hint: hint.to_owned(),
    };
    let key: Key = text
        .parse()
        .map_err(|_| fault(format!("'{text}' is not a key"), "write it like Ctrl+Y, Alt+Enter, F5 or x"))?;
    if let Some((_, reason)) = RESERVED.iter().find(|(name, _)| name.parse() == Ok(key)) {
        return Err(fault(format!("{key} cannot be bound: {reason}"), "choose another key"));
    }
    let types = key.typed().is_some();
    let question = row.action == Action::HelpIfEmpty;
    if types && !question && matches!(row.context, Context::Everywhere | Context::Composer) {
        return Err(fault(format!("{key} types a character here"), "add Ctrl or Alt, or use a function key"));
    }
    if row.context == Context::Card && key.code == KeyCode::Enter {
        return Err(fault(format!("{key} answers no card"), "Enter allows nothing; choose a letter"));
    }
    Ok(key)
}

fn near_action(name: &str) -> String {
    did_you_mean(&near(name, ACTIONS.iter().map(|row| row.name), 3)).unwrap_or_else(|| {
        "F1 lists every action, from 100 columns with its name; docs/keys.md has every name".to_owned()
    })
}

/// The reference table of actions and shipped keys, as Markdown.
pub fn keys_table_markdown() -> String {
    let map = KeyMap::default();
    let mut table = String::from("| where | key | action | does |\n|---|---|---|---|\n");
    for context in Context::ALL {
        for row in ACTIONS.iter().filter(|row| row.context == context) {
            let keys: Vec<_> = map.keys(row.action).iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(
                table,
                "| {} | {} | `{}` | {} |",
                context.title(),
                keys.join(" "),
                row.name,
                row.description.replace('|', "\\|")
            );
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(rows: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        rows.iter()
            .map(|(name, keys)| ((*name).to_owned(), keys.iter().map(|key| (*key).to_owned()).collect()))
            .collect()
    }

    #[test]
    fn every_shipped_key_parses_is_unique_in_its_context_and_is_not_reserved() {
        let map = KeyMap::with(&BTreeMap::new()).unwrap();
        for row in ACTIONS {
            assert_eq!(row.action.row().name, row.name);
            assert_eq!(map.keys(row.action).len(), row.keys.len(), "{}", row.name);
            for key in row.keys {
                allowed(row, key).unwrap();
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = ACTIONS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
    }

    #[test]
    fn a_rebound_action_loses_its_shipped_keys() {
        let map = KeyMap::with(&overrides(&[("editor", &["Ctrl+X"])])).unwrap();
        assert_eq!(map.find(&[Context::Composer], "Ctrl+X".parse().unwrap()), Some(Action::Editor));
        assert_eq!(map.find(&[Context::Composer], "Ctrl+G".parse().unwrap()), None);
    }

    #[test]
    fn each_fault_of_the_table_is_named() {
        let faults = KeyMap::with(&overrides(&[
            ("allow_once", &["d"]),
            ("deny_with_reason", &["Enter"]),
            ("edtor", &["x"]),
            ("editor", &["Ctrl+B"]),
            ("help", &["h"]),
            ("redraw", &["Hyper+X"]),
            ("switch", &["Enter"]),
            ("fold", &["Esc"]),
        ]))
        .unwrap_err();
        let text: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                "no action is called 'edtor'",
                "h types a character here",
                "'Hyper+X' is not a key",
                "Ctrl+B cannot be bound: tmux uses it",
                "d is bound to both 'allow_once' (focused card) and 'deny' (focused card)",
                "Enter answers no card",
                "Esc is bound to both 'fold' (transcript) and 'close' (everywhere)",
                "Enter is bound to both 'switch' (tools (F3)) and 'row_open' (any pane or list)",
            ]
        );
    }

    #[test]
    fn key_names_survive_a_round_trip() {
        for row in ACTIONS {
            for key in row.keys {
                let parsed: Key = key.parse().unwrap();
                assert_eq!(parsed.to_string().parse::<Key>().unwrap(), parsed);
            }
        }
    }
}
