//! The messages of one turn's agents (D6): addresses, selectors, receipts, and what nobody read.
//!
//! It delivers nothing itself: who is running, and when a message joins a round, is the tree's to know.

use std::collections::BTreeMap;

use super::input::MailKind;
use super::node::NodeId;
use crate::access::name::shown;

/// Everybody else of the turn, those who start later included.
pub(super) const EVERYONE: &str = "everyone";

/// Messages of one turn at most.
const MESSAGES: usize = 1_000;
/// Bytes of one message at most.
const MESSAGE_BYTES: usize = 16 * 1024;
/// Characters of a message that nobody read, in what is kept of it.
const KEPT: usize = 2_000;

/// Whether an agent of the turn still reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Liveness {
    /// It runs.
    Running,
    /// It has ended.
    Finished,
}

/// One agent of the turn that has an address.
#[derive(Debug)]
struct Reader {
    node: NodeId,
    address: String,
    liveness: Liveness,
}

impl Reader {
    /// An exact address, or the label in front of `#`.
    fn is(&self, selector: &str) -> bool {
        self.address == selector || self.address.split_once('#').is_some_and(|(label, _)| label == selector)
    }
}

#[derive(Debug)]
struct Mail {
    from: String,
    to: String,
    text: String,
    /// How many agents it was handed to, and how many of those ended without reading it.
    handed: usize,
    unread: usize,
}

/// A message on its way to one agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub to: NodeId,
    pub mail: usize,
    pub kind: MailKind,
    /// The words behind the mark that says whose they are.
    pub text: String,
}

/// A message that nobody read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unread {
    pub from: String,
    pub to: String,
    pub text: String,
}

/// The bus of one turn. Addresses are never given twice.
#[derive(Debug, Default)]
pub(super) struct Bus {
    readers: Vec<Reader>,
    counts: BTreeMap<String, u32>,
    mail: Vec<Mail>,
}

impl Bus {
    /// A bus whose first reader is the entry agent, by its declared name.
    pub(super) fn of(entry: &str) -> Self {
        let reader = Reader { node: NodeId::ENTRY, address: entry.to_owned(), liveness: Liveness::Running };
        Self { readers: vec![reader], ..Self::default() }
    }

    /// The address that the next worker of this label has: `researcher#1`.
    pub(super) fn address(&mut self, label: &str) -> String {
        let count = self.counts.entry(label.to_owned()).or_default();
        *count += 1;
        format!("{label}#{count}")
    }

    /// A worker reads from here on; first what was sent before it started and is for it.
    pub(super) fn open(&mut self, node: NodeId, address: &str) -> Vec<Letter> {
        let reader = Reader { node, address: address.to_owned(), liveness: Liveness::Running };
        let mut letters = Vec::new();
        for (number, mail) in self.mail.iter_mut().enumerate() {
            if mail.to == EVERYONE || reader.is(&mail.to) {
                mail.handed += 1;
                let text = marked(&format!("{}, sent before you started", mail.from), &mail.text);
                letters.push(Letter { to: node, mail: number, kind: MailKind::Message, text });
            }
        }
        self.readers.push(reader);
        letters
    }

    /// A worker has ended: it reads no more.
    pub(super) fn finish(&mut self, node: NodeId) {
        if let Some(reader) = self.readers.iter_mut().find(|reader| reader.node == node) {
            reader.liveness = Liveness::Finished;
        }
    }

    /// One recipient ended without having read this.
    pub(super) fn unread(&mut self, mail: usize) {
        if let Some(mail) = self.mail.get_mut(mail) {
            mail.unread += 1;
        }
    }

    /// The address of an agent of the turn.
    pub(super) fn address_of(&self, node: NodeId) -> Option<&str> {
        self.readers.iter().find(|reader| reader.node == node).map(|reader| reader.address.as_str())
    }

    /// The agent of exactly this address.
    ///
    /// # Errors
    /// The sentence that names those there are.
    pub(super) fn find(&self, address: &str) -> Result<NodeId, String> {
        let found = self.readers.iter().find(|reader| reader.address == address.trim());
        found.map(|reader| reader.node).ok_or_else(|| {
            let addresses: Vec<&str> = self.readers.iter().map(|reader| reader.address.as_str()).collect();
            format!("No agent has the address '{}'. Addresses: {}.", shown(address.trim()), addresses.join(", "))
        })
    }

    /// Sends `text` to whoever `to` names at this instant: the receipt, and the letters.
    ///
    /// # Errors
    /// The result that the model reads: nothing is sent.
    pub(super) fn send(&mut self, sender: NodeId, to: &str, text: &str) -> Result<(String, Vec<Letter>), String> {
        let (to, text) = (to.trim(), text.trim());
        let Some(from) = self.address_of(sender).map(str::to_owned) else {
            return Err("This agent has no address of its own, so it cannot send.".to_owned());
        };
        if text.is_empty() {
            return Err("Blank text was not sent; there is nothing for another agent to read.".to_owned());
        }
        if text.len() > MESSAGE_BYTES {
            return Err(format!("Not sent: {} bytes are more than the limit of {MESSAGE_BYTES}.", text.len()));
        }
        if self.mail.len() >= MESSAGES {
            return Err(format!("Not sent: this turn's agents have sent {MESSAGES} messages, which is the limit."));
        }
        let others = |reader: &&Reader| reader.node != sender;
        let named: Vec<&Reader> =
            self.readers.iter().filter(others).filter(|reader| to == EVERYONE || reader.is(to)).collect();
        let running: Vec<&Reader> =
            named.iter().copied().filter(|reader| reader.liveness == Liveness::Running).collect();
        if running.is_empty() && to != EVERYONE {
            return Err(if let Some(gone) = named.first() {
                format!("Not sent: {} has finished and reads no more.", gone.address)
            } else {
                let mut others: Vec<String> = self
                    .readers
                    .iter()
                    .filter(others)
                    .filter(|reader| reader.liveness == Liveness::Running)
                    .map(|reader| reader.address.clone())
                    .collect();
                others.push(if others.is_empty() {
                    format!("nobody but '{EVERYONE}' who starts later")
                } else {
                    format!("or '{EVERYONE}'")
                });
                format!("No agent matches '{}'. Addressable right now: {}.", shown(to), others.join(", "))
            });
        }
        let number = self.mail.len();
        let letter = |reader: &&Reader| Letter {
            to: reader.node,
            mail: number,
            kind: MailKind::Message,
            text: marked(&from, text),
        };
        let letters: Vec<Letter> = running.iter().map(letter).collect();
        let names: Vec<&str> = running.iter().map(|reader| reader.address.as_str()).collect();
        let receipt = if names.is_empty() {
            "Accepted for every agent that starts later in this turn; nobody else is running.".to_owned()
        } else {
            format!(
                "Accepted for {}. Delivered to whichever of them reads it next, if any of them do.",
                names.join(", ")
            )
        };
        let handed = letters.len();
        let (to, text) = (to.to_owned(), text.to_owned());
        self.mail.push(Mail { from, to, text, handed, unread: 0 });
        Ok((receipt, letters))
    }

    /// The answer of a worker that has ended, for whoever spawned it.
    pub(super) fn announce(&mut self, from: NodeId, to: NodeId, text: &str) -> Option<Letter> {
        let (from, reader) = (self.address_of(from)?.to_owned(), self.address_of(to)?.to_owned());
        let (mail, marked) = (self.mail.len(), marked(&from, text));
        self.mail.push(Mail { from, to: reader, text: text.to_owned(), handed: 1, unread: 0 });
        Some(Letter { to, mail, kind: MailKind::Answer, text: marked })
    }

    /// Who is there, whether each still runs, and how all are reached.
    pub(super) fn roster(&self, asker: NodeId) -> String {
        let line = |reader: &Reader| {
            let you = if reader.node == asker { " (you)" } else { "" };
            let liveness = match reader.liveness {
                Liveness::Running => "running",
                Liveness::Finished => "finished",
            };
            format!("- {}{you}: {liveness}", reader.address)
        };
        let lines: Vec<String> = self.readers.iter().map(line).collect();
        format!("{}\n- {EVERYONE}: every one of the above at once.", lines.join("\n"))
    }

    /// The messages that nobody read. Asked when every agent of the turn has ended.
    pub(super) fn lost(&self) -> Vec<Unread> {
        let lost = self.mail.iter().filter(|mail| mail.handed == mail.unread);
        lost.map(|mail| Unread {
            from: mail.from.clone(),
            to: mail.to.clone(),
            text: mail.text.chars().take(KEPT).collect(),
        })
        .collect()
    }
}

const MARK: &str = "[message from ";

/// What a message is read as (D6): under the mark of its sender, and of what else is to be known of it.
fn marked(from: &str, text: &str) -> String {
    format!("{MARK}{from}] {text}")
}

/// The sender of a message from another agent, and its words without the mark that says so. What the mark says beside the
/// sender stays with the words.
pub fn sender(text: &str) -> Option<(&str, String)> {
    let (mark, words) = text.strip_prefix(MARK)?.split_once("] ")?;
    Some(match mark.split_once(", ") {
        Some((from, more)) => (from, format!("({more}) {words}")),
        None => (mark, words.to_owned()),
    })
}
