//! `kokua run`: one turn without a screen.
//!
//! Nobody is watching, so what asks first is denied unless `--allow` names it; that is never decided here.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use serde_json::Value;

use super::print::{self, error, line, piece};
use super::{ANSWERED, Ended, FAILED, INTERRUPTED, UNATTENDED, start_log};
use crate::access::{Answer, Attendance};
use crate::agent::cost::{CostReport, Tokens, TurnCost};
use crate::agent::{CallKind, Command, Event, NodeId, TurnEnd, Update, UserOrigin};
use crate::app::{self, Options, Prepared, Started};
use crate::assistant::ports::Store as _;
use crate::assistant::{Opening, Titles};
use crate::system::signals::StopSignals;

/// Bytes that are read of standard input; no model takes more.
const MOST_INPUT: u64 = 4 << 20;

/// `kokua run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// What to say [default: standard input, whole]
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,
    /// One JSON event a line on stdout; `retrying` voids the text and reasoning since the last `call` or `retrying`
    #[arg(long)]
    json: bool,
    /// Let calls of this gate entry run unasked in this run: a toolset, or toolset.tool; behind `AGENT=`, those of that
    /// agent alone. May be repeated
    #[arg(long, value_name = "[AGENT=]ENTRY")]
    allow: Vec<String>,
    /// Let this turn call this tool and no other but those of further `--only`: a declared tool name of the entry agent's
    #[arg(long, value_name = "TOOL")]
    only: Vec<String>,
    /// The mode of a new conversation
    #[arg(long, value_name = "NAME", conflicts_with = "conversation")]
    mode: Option<String>,
    /// Go on with a stored conversation: its id, the start of it, or "latest"
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    /// A conversation is in view.
    begun: bool,
    /// Its history is over.
    live: bool,
    denied: bool,
    mid_line: bool,
    /// Text of the running try of a model call was printed.
    printed: bool,
    /// The conversation that was asked for could not be opened.
    refused: bool,
    end: Option<TurnEnd>,
    /// The address of each worker.
    workers: BTreeMap<NodeId, String>,
    /// What the turn cost so far.
    cost: TurnCost,
}

impl Run {
    pub(super) async fn run(self, mut options: Options) -> Result<u8, Ended> {
        let prompt = match self.prompt {
            Some(prompt) => prompt,
            None => input()?,
        };
        if prompt.trim().is_empty() {
            return Err(Ended::usage("error: nothing to say: give -p TEXT, or text on standard input"));
        }
        options.allow = self.allow;
        options.only = self.only;
        options.mode = self.mode;
        let prepared = app::prepare(&options).await?;
        let (opening, if_refused) = opening(self.conversation, &prepared)?;
        let lines = start_log(&prepared, &options)?;
        app::contain_panics(&prepared.config);
        let exec = prepared.exec_line();
        let started = app::start(prepared, Attendance::Unattended, Titles::FirstWords, opening).await?;
        // K6: the first line of a start. One that failed is none, and its error stands alone.
        error(&exec);
        for line in lines {
            error(&line);
        }
        let show = if self.json { json } else { text };
        follow(started, prompt, show, if_refused).await
    }
}

/// The whole of standard input.
fn input() -> Result<String, Ended> {
    let input = std::io::stdin();
    if input.is_terminal() {
        error("Reading what to say from this terminal; Ctrl+D on an empty line ends it.");
    }
    let mut bytes = Vec::new();
    input.take(MOST_INPUT + 1).read_to_end(&mut bytes).map_err(|error| {
        let why = crate::system::files::describe(&error);
        Ended::failed(format!("error: standard input could not be read: {why}"))
    })?;
    if bytes.len() as u64 > MOST_INPUT {
        let limit = MOST_INPUT >> 20;
        return Err(Ended::usage(format!("error: standard input is over {limit} MiB, which no model takes")));
    }
    String::from_utf8(bytes).map_err(|_| Ended::usage("error: standard input is not UTF-8 text"))
}

/// Which conversation comes into view, and the exit code where it can't be opened.
fn opening(conversation: Option<String>, prepared: &Prepared) -> Result<(Opening, u8), Ended> {
    let id = match conversation {
        None => return Ok((Opening::New, FAILED)),
        Some(latest) if latest == "latest" => super::conversations::latest(&prepared.config)?,
        Some(id) => id,
    };
    let found = app::conversations(&prepared.config).find(&id);
    Ok((Opening::Stored(id), found.map_or_else(|error| Ended::from(error).code, |_| FAILED)))
}

/// Says `prompt` and shows what comes of it, up to the end of its turn; the exit code.
async fn follow(
    mut started: Started,
    prompt: String,
    show: fn(&Update, &mut Seen) -> std::io::Result<()>,
    if_refused: u8,
) -> Result<u8, Ended> {
    let mut seen = Seen::default();
    let mut asked = Some(prompt);
    let mut signals = StopSignals::watch();
    // Who asked for the end: a signal, or a stdout that takes nothing more.
    let mut stopping = false;
    let mut unwritten = None;
    let code = loop {
        tokio::select! {
            update = started.updates.recv() => {
                let Some(update) = update else {
                    if seen.refused {
                        break if_refused;
                    }
                    error("error: the assistant ended unexpectedly; data/logs has more");
                    break FAILED;
                };
                let is_ready = matches!(update.event, Event::Replayed);
                seen.live |= is_ready;
                if let Err(error) = show(&update, &mut seen)
                    && unwritten.is_none()
                {
                    unwritten = Some(error);
                    stopping = true;
                    started.handle.submit(Command::Stop);
                }
                if is_ready && let Some(text) = asked.take() {
                    if stopping {
                        break INTERRUPTED;
                    }
                    started.handle.submit(Command::Say { to: NodeId::ENTRY, text });
                }
                if let Some(end) = &seen.end {
                    break exit_code(end, seen.denied, stopping);
                }
            }
            () = signals.next() => {
                // A second one does not wait for what runs to end.
                if stopping {
                    return Ok(INTERRUPTED);
                }
                stopping = true;
                started.handle.submit(Command::Stop);
            }
        }
    };
    started.handle.submit(Command::Quit);
    let mut unused = Vec::new();
    let ending = async {
        while let Some(update) = started.updates.recv().await {
            if let Event::UnusedAllows { entries } = update.event {
                unused = entries;
            }
        }
    };
    if tokio::time::timeout(app::LEAVING, ending).await.is_err() {
        tracing::warn!("the driver took too long to end");
    }
    for entry in unused {
        error(&format!("--allow {entry} never matched a call"));
    }
    match unwritten {
        Some(error) => Err(error.into()),
        None => Ok(code),
    }
}

fn exit_code(end: &TurnEnd, denied: bool, stopping: bool) -> u8 {
    match end {
        TurnEnd::Answered | TurnEnd::WrappedUp if denied => UNATTENDED,
        TurnEnd::Answered | TurnEnd::WrappedUp => ANSWERED,
        TurnEnd::Stopped | TurnEnd::Interrupted if stopping => INTERRUPTED,
        // Nobody here asked for it: the conversation could not be saved.
        TurnEnd::Stopped | TurnEnd::Interrupted | TurnEnd::Failed { .. } => FAILED,
    }
}

/// The events of `--json`, one object a line. History is not repeated.
fn json(update: &Update, seen: &mut Seen) -> std::io::Result<()> {
    observe(update, seen);
    let shown = match &update.event {
        Event::Session { .. } | Event::Alert(_) => true,
        Event::Error { .. } => seen.live || seen.refused,
        Event::Call(_)
        | Event::Delta { .. }
        | Event::Reasoning { .. }
        | Event::ToolCall { .. }
        | Event::Ask { .. }
        | Event::Answer { .. }
        | Event::ToolResult { .. }
        | Event::Usage { .. }
        | Event::Retrying { .. }
        | Event::Spawned(_)
        | Event::Waiting { .. }
        | Event::Undelivered { .. }
        | Event::End { .. } => seen.live,
        Event::Replayed
        | Event::Window { .. }
        | Event::Mode { .. }
        | Event::Modes { .. }
        | Event::Titled { .. }
        | Event::TurnStarted { .. }
        | Event::Said { .. }
        | Event::Queued { .. }
        | Event::Writing { .. }
        | Event::Edited { .. }
        | Event::Running { .. }
        | Event::SideCall { .. }
        | Event::Report(_)
        | Event::Explained { .. }
        | Event::Conversations { .. }
        | Event::UnusedAllows { .. }
        | Event::Held { .. }
        | Event::Diagnostics { .. } => false,
    };
    if seen.end.is_some() {
        print::json(&Cost { r#type: "cost", cost: seen.cost.report() })?;
    }
    if shown { print::json(update) } else { Ok(()) }
}

/// The line before the last one of `--json`.
#[derive(serde::Serialize)]
struct Cost<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    cost: CostReport<'a>,
}

/// `[cost] 3 agents, 7 model calls, model 14.2 s, in 21034, cached not reported, out 1902`.
fn cost_line(cost: &TurnCost) -> String {
    let total = cost.total();
    let tokens = |name: &str, of: Tokens| match of.known {
        Some(known) => format!("{name} {known}{}", if of.is_partial() { "+" } else { "" }),
        None => format!("{name} not reported"),
    };
    let agents = match cost.agents().len() {
        0 | 1 => String::new(),
        agents => format!("{agents} agents, "),
    };
    let calls = if total.model_calls == 1 { "call" } else { "calls" };
    format!(
        "[cost] {agents}{} model {calls}, model {:.1} s, {}, {}, {}",
        total.model_calls,
        seconds(total.model_ms),
        tokens("in", total.input),
        tokens("cached", total.cached),
        tokens("out", total.output)
    )
}

fn observe(update: &Update, seen: &mut Seen) {
    if seen.live || matches!(update.event, Event::Session { .. }) {
        seen.cost.tell(update.node, &update.event);
    }
    match &update.event {
        // Before any conversation is in view an error is the program's own: there will be none.
        Event::Session { .. } => seen.begun = true,
        Event::Error { .. } if !seen.begun => seen.refused = true,
        Event::Answer { answer: Answer::AutoDenied { .. }, .. } if seen.live => seen.denied = true,
        Event::End { end, .. } if seen.live && update.node.is_entry() => seen.end = Some(end.clone()),
        Event::Spawned(spawned) => {
            seen.workers.insert(update.node, spawned.address.clone());
        }
        _ => {}
    }
}

/// The answer on stdout, everything else on stderr.
fn text(update: &Update, seen: &mut Seen) -> std::io::Result<()> {
    observe(update, seen);
    let shown = seen.live || seen.refused || matches!(update.event, Event::Session { .. } | Event::Alert(_));
    if !shown {
        return Ok(());
    }
    let worker = seen.workers.get(&update.node).cloned();
    // What a worker says on the way is its own; its answer is in the result of the call that asked for it.
    if worker.is_some() && matches!(update.event, Event::Delta { .. } | Event::Reasoning { .. } | Event::Error { .. }) {
        return Ok(());
    }
    if let Event::Delta { text } = &update.event {
        seen.mid_line = !text.ends_with('\n');
        seen.printed = true;
        return piece(text);
    }
    if seen.mid_line && !matches!(update.event, Event::Reasoning { .. }) {
        seen.mid_line = false;
        line("")?;
    }
    let error = |line: &str| match &worker {
        Some(address) => error(&format!("{address}: {line}")),
        None => error(line),
    };
    match &update.event {
        Event::Spawned(spawned) => error(&format!("[task] {}", cut(&spawned.task, 200))),
        Event::End { end, .. } if worker.is_some() => error(&format!("[ended] {}", end.word())),
        Event::End { .. } => error(&cost_line(&seen.cost)),
        Event::Said { text, origin: UserOrigin::Agent } => error(&cut(text, 200)),
        Event::Waiting { workers } => error(&format!("[waiting] for {}", workers.join(", "))),
        Event::Undelivered { from, to, text } => error(&format!("[undelivered] {from} to {to}: {}", cut(text, 200))),
        Event::Call(call) => {
            seen.printed = false;
            let kind = match call.kind {
                CallKind::Agent => "",
                CallKind::WrapUp => " (wrap-up)",
                CallKind::Title => " (title)",
            };
            error(&format!(
                "[call {}{kind}] {} tools, {}",
                call.number,
                call.tools,
                super::print::bytes(call.tool_bytes)
            ));
        }
        Event::Said { text, origin: UserOrigin::Continuation | UserOrigin::FinalAnswer } => {
            error(&format!("[continuing] {text}"));
        }
        Event::ToolCall { tool, wire, arguments, .. } => {
            let name = tool.as_ref().map_or_else(|| crate::access::name::shown(wire), ToString::to_string);
            error(&format!("[tool] {name} {}", short(arguments)));
        }
        Event::Answer { answer, .. } => error(&format!("[answer] {answer}")),
        Event::ToolResult { ending, note, text, .. } => {
            let note = note.as_deref().unwrap_or_else(|| text.lines().next().unwrap_or_default());
            error(&format!("[result] {}: {}", print::ending_word(ending), cut(note, 200)));
        }
        Event::Retrying { message, ms, attempt } => {
            error(&format!("[retry] {message}; try {attempt} in {:.1} s", seconds(*ms)));
            if std::mem::take(&mut seen.printed) {
                error("[retry] what was printed of this answer is void; it begins again");
            }
        }
        Event::Session { model, rehearsal: true, .. } => {
            error(&format!("[model] {model}: scripted answers, no real model; the README says how to name one"));
        }
        Event::Alert(alert) => print::alerts(std::slice::from_ref(alert)),
        Event::Error { message, hint } => {
            error(&format!("[error] {message}"));
            if let Some(hint) = hint {
                error(&format!("        {hint}"));
            }
        }
        _ => {}
    }
    Ok(())
}

fn short(arguments: &Value) -> String {
    cut(&arguments.to_string(), 200)
}

fn cut(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most).collect();
    let left = text.chars().count().saturating_sub(most);
    if left > 0 {
        kept.push_str(&format!("… ({left} more characters)"));
    }
    kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
