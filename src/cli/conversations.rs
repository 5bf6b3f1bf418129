//! `kokua conversations`: the stored conversations, without a model and without an agent.

use clap::Subcommand;

use super::print::{error, line, piece};
use super::{ANSWERED, Ended};
use crate::agent::{Part, Record};
use crate::app::Options;
use crate::config::{self, Locations};
use crate::store;

/// `kokua conversations`.
#[derive(Debug, Subcommand)]
pub(super) enum Conversations {
    /// Newest first: id, when it changed, turns, title
    List,
    /// What was said in one, as text
    Show {
        /// Its id, or the start of it (6 characters or more)
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
        let folder = store::directory(&config.data);
        let failed = |error: store::StoreError| Ended::failed(complaint(&error));
        match self {
            Self::List => {
                let listing = store::list(&folder, None).map_err(failed)?;
                if listing.conversations.is_empty() {
                    line("no conversations")?;
                }
                for summary in listing.conversations {
                    let when = local(summary.updated);
                    let turns = summary.turns;
                    let title = clean(&summary.title).replace('\n', " ");
                    line(&format!("{}  {when}  {turns:>4} turns  {title}", summary.id))?;
                }
                for fault in listing.faults {
                    error(&fault);
                }
            }
            Self::Show { id } => {
                let id = store::find(&folder, &id).map_err(failed)?;
                let read = store::Log::read(&folder, &id).map_err(failed)?;
                for record in &read.records {
                    show(record)?;
                }
                for notice in read.notices {
                    error(&notice.message);
                }
            }
            Self::Rm { id } => {
                let id = store::find(&folder, &id).map_err(failed)?;
                store::remove(&folder, &id).map_err(failed)?;
                line(&format!("deleted {id}"))?;
            }
        }
        Ok(ANSWERED)
    }
}

fn show(record: &Record) -> std::io::Result<()> {
    match record {
        Record::TurnStarted { message, .. } | Record::Said { message, .. } => {
            line(&format!("> {}", clean(&message.text).replace('\n', "\n> ")))
        }
        Record::ModelCall { message, .. } => {
            for part in &message.parts {
                match part {
                    Part::Text { text } => line(&clean(text))?,
                    Part::Reasoning(_) => {}
                    Part::Call(call) => line(&format!("[tool] {} {}", call.shown, clean(&call.arguments)))?,
                }
            }
            Ok(())
        }
        Record::CallEnded { ending, answer, text, .. } => {
            let answer = answer.as_ref().map(|answer| format!(" ({answer})")).unwrap_or_default();
            line(&format!("[result] {}{answer}\n{}", super::run::ending_word(ending), clean(text)))
        }
        Record::TurnEnded { .. } => piece("\n"),
        Record::Titled { title } => line(&format!("# {}", clean(title))),
        Record::Preloaded { .. } => Ok(()),
    }
}

fn clean(text: &str) -> String {
    crate::ui::text::clean::clean(text).into_owned()
}

/// A time of this machine's zone, to the minute.
fn local(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "unknown time    ".to_owned(),
    }
}

fn complaint(error: &store::StoreError) -> String {
    match error.hint() {
        Some(hint) => format!("error: {error}\n  hint: {hint}"),
        None => format!("error: {error}"),
    }
}
