//! `kokua audit`: what was decided, whether the log of it is whole, and what another configuration would have decided.
//!
//! Everything in the log came from models, servers and people, so all of it is cleaned.

use std::collections::BTreeSet;

use clap::{Args, Subcommand};
use serde_json::json;

use super::print::{self, alerts, clean, error, line};
use super::{ANSWERED, Ended, FAILED};
use crate::access::audit::{Change, Entry, Gate, Outcome, PastCall, Position, Verdict, What, replay};
use crate::access::{Answer, Arrival, ToolId};
use crate::app::{self, Options};
use crate::config::{self, Config, Locations};
use crate::system::clock;

/// Faults that are printed one by one.
const PRINTED: usize = 20;
/// The widest column of what entries are about.
const SUBJECT: usize = 40;
/// Names of one change that are printed.
const NAMES: usize = 12;

/// `kokua audit`.
#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Every decision, oldest first
    Show(Show),
    /// Whether an entry was changed, dropped, moved or cut off; exit code 1 where one was
    Verify,
    /// What the configuration that --config names would have decided of each past call
    Replay(Replay),
}

/// `kokua audit show`.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only what concerns this conversation: its id, or the start of it
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// Only what this agent did
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only the last N of these
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

/// `kokua audit replay`.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        match self {
            Self::Show(show) => show.run(&load(options.config)?),
            Self::Verify => verify(&load(options.config)?),
            Self::Replay(replay) => replay.run(options).await,
        }
    }
}

fn load(path: Option<std::path::PathBuf>) -> Result<Config, Ended> {
    config::load(&Locations::from_process(path)).map_err(|problems| Ended::usage(problems.to_string()))
}

impl Show {
    fn run(self, config: &Config) -> Result<u8, Ended> {
        let (entries, faults) = app::audit::entries(config)?;
        let wanted = |entry: &Entry| {
            let of = self.conversation.as_ref().is_none_or(|id| {
                entry.conversation.as_ref().is_some_and(|conversation| conversation.starts_with(id.as_str()))
            });
            let by = self.agent.as_ref().is_none_or(|name| entry.agent.as_ref().is_some_and(|a| a.as_str() == name));
            of && by
        };
        let chosen: Vec<_> = entries.iter().filter(|numbered| wanted(&numbered.entry)).collect();
        let skipped = self.last.map_or(0, |last| chosen.len().saturating_sub(last));
        let agents = chosen.iter().filter_map(|numbered| numbered.entry.agent.as_ref());
        let width = agents.map(|agent| agent.as_str().len()).max().unwrap_or(0).clamp(3, 64);
        let rows: Vec<_> =
            chosen.into_iter().skip(skipped).map(|numbered| (numbered, told(&numbered.entry.what))).collect();
        let subjects = rows.iter().map(|(_, told)| told.subject.chars().count());
        let wide = subjects.max().unwrap_or(0).min(SUBJECT);
        for (numbered, Told { kind, subject, text }) in &rows {
            if self.json {
                print::json(numbered)?;
                continue;
            }
            let entry = &numbered.entry;
            let agent = entry.agent.as_ref().map_or("you", |agent| agent.as_str());
            let (number, when) = (numbered.number, clock::local(entry.at));
            line(&one_line(&format!("{number:>6}  {when}  {agent:<width$}  {kind:<8}  {subject:<wide$}  {text}")))?;
        }
        if entries.is_empty() && !self.json {
            line("nothing was decided yet")?;
        }
        for fault in faults {
            error(&fault);
        }
        Ok(ANSWERED)
    }
}

fn verify(config: &Config) -> Result<u8, Ended> {
    let found = app::audit::verify(config)?;
    for (_, fault) in found.faults.iter().take(PRINTED) {
        line(&one_line(fault))?;
    }
    if found.faults.len() > PRINTED {
        line(&format!("and {} more", found.faults.len() - PRINTED))?;
    }
    for notice in &found.notices {
        error(notice);
    }
    let (entries, heads) = (count(found.entries, "entry", "entries"), count(found.heads as u64, "head", "heads"));
    if found.faults.is_empty() {
        line(&format!("{entries}, unbroken; {heads} noted in conversations, each as it was"))?;
        Ok(ANSWERED)
    } else {
        line(&format!("{entries}; {}", count(found.faults.len() as u64, "thing is wrong", "things are wrong")))?;
        Ok(FAILED)
    }
}

fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

impl Replay {
    async fn run(self, options: Options) -> Result<u8, Ended> {
        // The log is that of the usual configuration; where that can't be read, the new one says where it is.
        let usual = config::load(&Locations::from_process(None)).ok();
        let mut prepared = app::prepare(&options).await?;
        let (entries, faults) = app::audit::entries(usual.as_ref().unwrap_or(&prepared.config))?;
        app::audit::build_named(&mut prepared, &entries).await;
        let plain: Vec<Entry> = entries.iter().map(|numbered| numbered.entry.clone()).collect();
        let replayed = replay(&plain, &prepared.capabilities.world);
        alerts(&prepared.alerts);
        let rows: Vec<(u64, &Entry, &PastCall, &Verdict)> = replayed
            .iter()
            .filter_map(|replayed| {
                let numbered = entries.get(replayed.place)?;
                let What::Call(call) = &numbered.entry.what else { return None };
                Some((numbered.number, &numbered.entry, &**call, &replayed.verdict))
            })
            .collect();
        let sums = Sums::of(rows.iter().map(|(_, _, call, verdict)| (*call, *verdict)));
        if self.json {
            let calls: Vec<_> = rows
                .iter()
                .map(|(number, entry, call, verdict)| {
                    json!({
                        "number": number, "at": entry.at, "conversation": entry.conversation, "agent": entry.agent,
                        "call": call, "then": then(call), "now": verdict, "differs": differs(call, verdict),
                    })
                })
                .collect();
            print::json(&json!({
                "calls": calls, "run": sums.run, "ask": sums.ask, "refused": sums.refused,
                "depends_on_arguments": sums.depends, "differ": sums.differ,
            }))?;
        } else {
            text(&rows, &sums)?;
        }
        for fault in faults {
            error(&fault);
        }
        Ok(ANSWERED)
    }
}

fn text(rows: &[(u64, &Entry, &PastCall, &Verdict)], sums: &Sums) -> Result<(), Ended> {
    let names: Vec<String> = rows
        .iter()
        .map(|(_, entry, call, _)| {
            let agent = entry.agent.as_ref().map_or("", |agent| agent.as_str());
            format!("{agent} {}", name(call))
        })
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(60);
    for ((number, entry, call, verdict), name) in rows.iter().zip(&names) {
        let mark = if differs(call, verdict) { '*' } else { ' ' };
        let now = match verdict {
            Verdict::Run { answer: None } => "would run".to_owned(),
            Verdict::Run { answer: Some(answer) } => format!("would run: {answer}"),
            Verdict::Ask { gate } => format!("would ask: {}", because(gate)),
            Verdict::Refused { why } => format!("would be refused: {why}"),
            Verdict::DependsOnArguments { why } => format!("depends on arguments: {why}"),
        };
        let (when, then) = (clock::local(entry.at), then(call));
        line(&one_line(&format!("{mark}{number:>6}  {when}  {name:<width$}  {then:<17}  {now}")))?;
    }
    if !rows.is_empty() {
        line("")?;
    }
    line(&format!(
        "{}: {} would run, {} would ask, {} would be refused, {} on arguments; {} otherwise than then{}",
        count(rows.len() as u64, "call", "calls"),
        sums.run,
        sums.ask,
        sums.refused,
        if sums.depends == 1 { "1 depends".to_owned() } else { format!("{} depend", sums.depends) },
        sums.differ,
        if sums.differ > 0 { " (*)" } else { "" },
    ))?;
    Ok(())
}

/// How many of each.
#[derive(Debug, Default)]
struct Sums {
    run: usize,
    ask: usize,
    refused: usize,
    depends: usize,
    differ: usize,
}

impl Sums {
    fn of<'a>(rows: impl Iterator<Item = (&'a PastCall, &'a Verdict)>) -> Self {
        let mut sums = Self::default();
        for (call, verdict) in rows {
            *match verdict {
                Verdict::Run { .. } => &mut sums.run,
                Verdict::Ask { .. } => &mut sums.ask,
                Verdict::Refused { .. } => &mut sums.refused,
                Verdict::DependsOnArguments { .. } => &mut sums.depends,
            } += 1;
            sums.differ += usize::from(differs(call, verdict));
        }
        sums
    }
}

/// What was decided then, in a word or two.
fn then(call: &PastCall) -> &'static str {
    match &call.outcome {
        Outcome::InvalidArguments => "invalid arguments",
        Outcome::Unknown => "unknown tool",
        Outcome::Refused { .. } => "refused",
        Outcome::NotAllowed if asked(call) => "asked: no",
        Outcome::NotAllowed => "not allowed",
        Outcome::Dispatched if asked(call) => "asked: ran",
        Outcome::Dispatched => "ran",
    }
}

/// Whether a card was open: somebody was asked, whatever came of it.
fn asked(call: &PastCall) -> bool {
    match &call.answer {
        None
        | Some(
            Answer::AllowedByGrant { .. }
            | Answer::AllowedByFlag { .. }
            | Answer::AllowedByLine { .. }
            | Answer::AutoDenied { .. },
        ) => false,
        Some(_) => true,
    }
}

/// Whether another thing would have happened: it ran unasked, somebody was asked, or it was refused.
fn differs(call: &PastCall, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Run { .. } => asked(call) || call.outcome != Outcome::Dispatched,
        Verdict::Ask { .. } => !asked(call),
        Verdict::Refused { .. } => asked(call) || call.outcome == Outcome::Dispatched,
        // Nobody knows.
        Verdict::DependsOnArguments { .. } => false,
    }
}

fn name(call: &PastCall) -> String {
    call.tool.as_ref().map_or_else(|| call.wire.clone(), ToString::to_string)
}

fn because(gate: &Gate) -> String {
    format!("'{}' in {} {}", gate.entry, gate.list, gate.source)
}

/// An entry for people.
struct Told {
    /// Its kind in a word.
    kind: &'static str,
    /// What it is about.
    subject: String,
    /// The rest.
    text: String,
}

fn told(what: &What) -> Told {
    let because_of =
        |gate: &Option<Gate>| gate.as_ref().map(|gate| format!(" ({})", because(gate))).unwrap_or_default();
    let (kind, subject, text) = match what {
        What::Call(call) => ("call", name(call), call_told(call)),
        What::Answer { tool, gate, answer, .. } => {
            ("answer", tool.to_string(), format!("{}{}", in_full(answer), because_of(gate)))
        }
        What::Load { toolset, arrival, tools, .. } => {
            let how = if *arrival == Arrival::Loaded { "loaded" } else { "restored" };
            ("load", toolset.to_string(), format!("{how}: {}", print::list(tools)))
        }
        What::LoadFailed { toolset, error, .. } => ("load", toolset.to_string(), format!("failed: {error}")),
        What::Withheld { model_call, changes } => {
            let changes: Vec<String> = changes.iter().map(change_told).collect();
            ("withheld", format!("model call {model_call}"), changes.join("; "))
        }
        What::Grant { number, tool, .. } => ("grant", tool.to_string(), format!("grant {number}, for this exact call")),
        What::Revoke { number } => ("revoke", format!("grant {number}"), String::new()),
        What::Mode { mode } => ("mode", mode.to_string(), String::new()),
        What::Switch { toolset, to } => {
            let to = match to {
                Position::On => "on",
                Position::Off => "off",
            };
            ("switch", toolset.to_string(), to.to_owned())
        }
    };
    Told { kind, subject, text }
}

/// What came of a call, and on whose word. The entry that asked stands with the answer, which is an entry before it.
fn call_told(call: &PastCall) -> String {
    let outcome = match &call.outcome {
        Outcome::Dispatched => "ran".to_owned(),
        Outcome::InvalidArguments => "not run: its arguments did not fit".to_owned(),
        Outcome::Unknown => "not run: nothing held has that name".to_owned(),
        Outcome::Refused { why } => format!("refused: {why}"),
        Outcome::NotAllowed => "not run".to_owned(),
    };
    let answer = call.answer.as_ref().map(|answer| format!(", {answer}")).unwrap_or_default();
    format!("{outcome}{answer}")
}

/// An answer with the sentence it came with.
fn in_full(answer: &Answer) -> String {
    match answer {
        Answer::DeniedWithReason { reason } | Answer::AutoDenied { reason } => format!("{answer}: {reason}"),
        Answer::AllowedByFlag { entry } => format!("{answer} {entry}"),
        other => other.to_string(),
    }
}

fn change_told(change: &Change) -> String {
    // A toolset whose every row is alike is one name.
    let toolsets: BTreeSet<String> = change.tools.iter().filter_map(ToolId::toolset).map(ToString::to_string).collect();
    let names: Vec<String> = change
        .tools
        .iter()
        .map(ToString::to_string)
        .chain(change.toolsets.iter().map(|toolset| format!("{toolset} (deferred)")))
        .collect();
    let shown = if names.len() > NAMES {
        let more = if toolsets.is_empty() { String::new() } else { format!(" of {}", print::list(toolsets)) };
        format!("{} tools and toolsets{more}", names.len())
    } else {
        print::list(names)
    };
    match &change.withheld {
        Some(withheld) => format!("{shown} not offered: {}", withheld.reason),
        None => format!("{shown} offered again"),
    }
}

/// Cleaned, in one line.
fn one_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ").trim_end().to_owned()
}
