//! `kokua conversations`: the stored conversations, without a model and without an agent.

use std::collections::BTreeMap;

use clap::Subcommand;

use super::print::{ending_word, error, line, piece};
use super::{ANSWERED, Ended};
use crate::agent::{CallId, NodeId, Part, Record};
use crate::app::{self, Options};
use crate::assistant::ports::Store as _;
use crate::config::{self, Config, Locations};

/// `kokua conversations`.
#[derive(Debug, Subcommand)]
pub(super) enum Conversations {
    /// Newest first: id, when it changed, turns, title
    List,
    /// What was said in one, as text
    Show {
        /// Its id, the start of it (6 characters or more), or "latest"
        id: String,
    },
    /// Delete one
    Rm {
        /// Its id, or the start of it (6 characters or more)
        id: String,
    },
}

impl Conversations {
    pub(super) fn run(self, options: &Options) -> Result<u8, Ended> {
        let config = config::load(&Locations::from_process(options.config.clone()))
            .map_err(|problems| Ended::usage(problems.to_string()))?;
        let store = app::conversations(&config);
        match self {
            Self::List => {
                let (list, faults) = app::list_conversations(&config)?;
                if list.is_empty() {
                    line("no conversations")?;
                }
                for summary in list {
                    let when = crate::system::clock::local(summary.updated);
                    let turns =
                        if summary.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", summary.turns) };
                    let title = summary.title.replace('\n', " ");
                    line(&format!("{}  {when}  {turns:>9}  {title}", summary.id))?;
                }
                for fault in faults {
                    error(&fault);
                }
            }
            Self::Show { id } => {
                let id = if id == "latest" { latest(&config)? } else { id };
                let read = store.read(&id)?;
                let mut names = Names::default();
                for record in &read.records {
                    show(record, &mut names)?;
                }
                for notice in read.notices {
                    error(&notice.message);
                }
            }
            Self::Rm { id } => {
                let id = store.remove(&id)?;
                line(&format!("deleted {id}"))?;
            }
        }
        Ok(ANSWERED)
    }
}

/// The conversation that changed last, whoever was at it.
pub(super) fn latest(config: &Config) -> Result<String, Ended> {
    app::latest_conversation(config)?.ok_or_else(|| Ended::usage("error: there is no conversation yet"))
}

/// The names of the calls and of the workers so far, and the words that wait for an agent's next round.
#[derive(Default)]
struct Names {
    calls: BTreeMap<CallId, String>,
    workers: BTreeMap<NodeId, String>,
    waiting: BTreeMap<NodeId, Vec<String>>,
}

impl Names {
    /// The words that nobody read, where `record` ends an agent's turn. After a failure they begin its next one.
    fn unread(&mut self, node: NodeId, record: &Record) -> Vec<String> {
        let waiting = self.waiting.entry(node).or_default();
        match record {
            Record::Queued { text, .. } => waiting.push(text.clone()),
            Record::Said { message, .. } => {
                if let Some(at) = waiting.iter().position(|text| *text == message.text) {
                    waiting.remove(at);
                }
            }
            Record::TurnEnded { end, .. } => {
                let words = std::mem::take(waiting);
                return if end.passes_words_on(node) { Vec::new() } else { words };
            }
            _ => {}
        }
        Vec::new()
    }
}

/// Prints one record.
fn show(record: &Record, names: &mut Names) -> std::io::Result<()> {
    for words in names.unread(NodeId::ENTRY, record) {
        line(&format!("[not delivered] > {}", words.replace('\n', "\n> ")))?;
    }
    match record {
        Record::TurnStarted { message, .. } | Record::Said { message, .. } => {
            line(&format!("> {}", message.text.replace('\n', "\n> ")))
        }
        Record::ModelCall { message, .. } => {
            for part in &message.parts {
                match part {
                    Part::Text { text } => line(text)?,
                    Part::Reasoning(_) => {}
                    Part::Call(call) => {
                        names.calls.insert(call.id, call.shown.clone());
                        line(&format!("[tool] {} {}", call.shown, call.arguments))?;
                    }
                }
            }
            Ok(())
        }
        Record::CallEnded { ending, answer, text, .. } => {
            let answer = answer.as_ref().map(|answer| format!(" ({answer})")).unwrap_or_default();
            line(&format!("[result] {}{answer}\n{}", ending_word(ending), text))
        }
        Record::TurnEnded { .. } => piece("\n"),
        Record::Mode { mode, .. } => line(&format!("[mode] {}", mode.as_str())),
        Record::Titled { title } => line(&format!("# {title}")),
        Record::Allowed { call, arguments: Some(arguments), .. } => {
            let name = names.calls.get(call).map_or("a call", String::as_str);
            line(&format!("[edited by you] {name} {arguments}"))
        }
        Record::Undelivered { from, to, text, .. } => line(&format!("[undelivered] {from} to {to}: {text}")),
        Record::Allowed { .. } | Record::Preloaded { .. } | Record::AuditHead(_) | Record::Queued { .. } => Ok(()),
        Record::Worker { node, of } => of_worker(*node, of, names),
        Record::Spawned(_) => Ok(()),
    }
}

/// Prints what of a worker's record belongs to the conversation: that it came to be, its calls, and how it ended.
fn of_worker(node: NodeId, record: &Record, names: &mut Names) -> std::io::Result<()> {
    if let Record::Spawned(spawned) = record {
        names.workers.insert(node, spawned.address.clone());
        return line(&format!("[{}] {}", spawned.address, spawned.task.replace('\n', " ")));
    }
    let address = names.workers.get(&node).cloned().unwrap_or_else(|| node.to_string());
    for words in names.unread(node, record) {
        line(&format!("[{address}] [not delivered] > {}", words.replace('\n', "\n> ")))?;
    }
    match record {
        Record::Said { message, .. } => line(&format!("[{address}] > {}", message.text.replace('\n', "\n> "))),
        Record::ModelCall { message, .. } => {
            if !message.text().trim().is_empty() {
                line(&format!("[{address}] {}", message.text().trim()))?;
            }
            for call in message.calls() {
                names.calls.insert(call.id, call.shown.clone());
                line(&format!("[{address}] [tool] {} {}", call.shown, call.arguments))?;
            }
            Ok(())
        }
        Record::CallEnded { call, ending, answer, .. } => {
            let answer = answer.as_ref().map(|answer| format!(" ({answer})")).unwrap_or_default();
            let name = names.calls.get(call).map_or("a call", String::as_str);
            line(&format!("[{address}] [result] {name}: {}{answer}", ending_word(ending)))
        }
        Record::TurnEnded { end, .. } => line(&format!("[{address}] {}", end.word())),
        _ => Ok(()),
    }
}
