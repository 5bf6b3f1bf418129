//! `kokua run`: one turn without a screen.
//!
//! Nobody is watching, so what asks first is denied unless `--allow` names it; that is never decided here.

use std::io::Read as _;

use clap::Args;
use serde_json::Value;

use super::print::{error, line, piece};
use super::{ANSWERED, Ended, FAILED, INTERRUPTED, UNATTENDED, start_log};
use crate::access::{Answer, Attendance};
use crate::agent::{CallKind, Command, Ending, Event, TurnEnd, Update, UserOrigin};
use crate::app::{self, Options};
use crate::assistant::{Opening, Titles};

/// `kokua run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// What to say [default: standard input, whole]
    #[arg(short, long, value_name = "TEXT")]
    prompt: Option<String>,
    /// One JSON event a line on stdout
    #[arg(long)]
    json: bool,
    /// Let calls of this gate entry run unasked in this run: a toolset, or toolset.tool. May be repeated
    #[arg(long, value_name = "ENTRY")]
    allow: Vec<String>,
    /// Go on with a stored conversation: its id, the start of it, or "latest"
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    live: bool,
    denied: bool,
    mid_line: bool,
    end: Option<TurnEnd>,
}

impl Run {
    pub(super) async fn run(self, mut options: Options) -> Result<u8, Ended> {
        let prompt = match self.prompt {
            Some(prompt) => prompt,
            None => {
                let mut text = String::new();
                std::io::stdin()
                    .read_to_string(&mut text)
                    .map_err(|error| Ended::usage(format!("standard input could not be read as text: {error}")))?;
                text
            }
        };
        if prompt.trim().is_empty() {
            return Err(Ended::usage("nothing to say: give -p TEXT, or text on standard input"));
        }
        options.allow = self.allow;
        let opening = match self.conversation.as_deref() {
            None => Opening::New,
            Some("latest") => Opening::Latest,
            Some(id) => Opening::Stored(id.to_owned()),
        };
        let prepared = app::prepare(&options).await?;
        start_log(&prepared, &options)?;
        let mut started = app::start(prepared, Attendance::Unattended, Titles::FirstWords, opening).await?;
        let mut seen = Seen::default();
        let mut asked = Some(prompt);
        let mut stop = std::pin::pin!(crate::system::signals::stop_requested());
        let mut stopping = false;
        let code = loop {
            tokio::select! {
                update = started.updates.recv() => {
                    let Some(update) = update else { break FAILED };
                    if matches!(update.event, Event::Replayed) {
                        seen.live = true;
                        if let Some(text) = asked.take() {
                            started.handle.submit(Command::Say { text });
                        }
                    }
                    if self.json { json(&update, &mut seen)? } else { text(&update, &mut seen)? }
                    if let Some(end) = &seen.end {
                        break match end {
                            TurnEnd::Answered | TurnEnd::WrappedUp if seen.denied => UNATTENDED,
                            TurnEnd::Answered | TurnEnd::WrappedUp => ANSWERED,
                            TurnEnd::Stopped | TurnEnd::Interrupted => INTERRUPTED,
                            TurnEnd::Failed { .. } => FAILED,
                        };
                    }
                }
                () = &mut stop, if !stopping => {
                    stopping = true;
                    started.handle.submit(Command::Stop);
                }
            }
        };
        started.handle.submit(Command::Quit);
        let mut unused = Vec::new();
        while let Some(update) = started.updates.recv().await {
            if let Event::UnusedAllows { entries } = update.event {
                unused = entries;
            }
        }
        for entry in unused {
            error(&format!("--allow {entry} never matched a call"));
        }
        Ok(code)
    }
}

/// The events of `--json`, one object a line. History is not repeated.
fn json(update: &Update, seen: &mut Seen) -> std::io::Result<()> {
    observe(&update.event, seen);
    let shown = match &update.event {
        Event::Session { .. } => true,
        Event::Error { .. } => seen.live || is_of_the_start(update),
        Event::Call(_)
        | Event::Delta { .. }
        | Event::Reasoning { .. }
        | Event::ToolCall { .. }
        | Event::Ask { .. }
        | Event::Answer { .. }
        | Event::ToolResult { .. }
        | Event::Usage { .. }
        | Event::Retrying { .. }
        | Event::Alert(_)
        | Event::End { .. } => seen.live,
        Event::Replayed
        | Event::Titled { .. }
        | Event::TurnStarted { .. }
        | Event::Said { .. }
        | Event::Queued { .. }
        | Event::Running { .. }
        | Event::SideCall { .. }
        | Event::Report(_)
        | Event::Conversations { .. }
        | Event::UnusedAllows { .. }
        | Event::Diagnostics { .. } => false,
    };
    if shown {
        line(&serde_json::to_string(update).map_err(std::io::Error::other)?)?;
    }
    Ok(())
}

/// No conversation came into view. An error of a conversation's history has its conversation.
fn is_of_the_start(update: &Update) -> bool {
    update.conversation.is_empty()
}

fn observe(event: &Event, seen: &mut Seen) {
    if !seen.live {
        return;
    }
    match event {
        Event::Answer { answer: Answer::AutoDenied { .. }, .. } => seen.denied = true,
        Event::End { end } => seen.end = Some(end.clone()),
        _ => {}
    }
}

/// The answer on stdout, everything else on stderr.
fn text(update: &Update, seen: &mut Seen) -> std::io::Result<()> {
    observe(&update.event, seen);
    if !seen.live {
        if let Event::Session { model, rehearsal: true, .. } = &update.event {
            error(&format!("[model] {model}: no model is configured and none is running; see the README"));
        }
        if let Event::Error { message, hint } = &update.event
            && is_of_the_start(update)
        {
            error(message);
            if let Some(hint) = hint {
                error(&format!("  hint: {hint}"));
            }
        }
        return Ok(());
    }
    if let Event::Delta { text } = &update.event {
        seen.mid_line = !text.ends_with('\n');
        return piece(text);
    }
    if seen.mid_line && !matches!(update.event, Event::Reasoning { .. }) {
        seen.mid_line = false;
        line("")?;
    }
    match &update.event {
        Event::Call(call) => {
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
            let name = tool.as_ref().map_or_else(|| wire.clone(), ToString::to_string);
            error(&format!("[tool] {name} {}", short(arguments)));
        }
        Event::Answer { answer, .. } => error(&format!("[answer] {answer}")),
        Event::ToolResult { ending, note, text, .. } => {
            let note = note.as_deref().unwrap_or_else(|| text.lines().next().unwrap_or_default());
            error(&format!("[result] {}: {}", ending_word(ending), cut(note, 200)));
        }
        Event::Retrying { message, ms, attempt } => {
            error(&format!("[retry] {message}; try {attempt} in {:.1} s", seconds(*ms)));
        }
        Event::Alert(alert) => {
            error(&format!("[alert] {}", alert.message));
            if let Some(hint) = &alert.hint {
                error(&format!("        {hint}"));
            }
        }
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

pub(super) fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Ok | Ending::Loaded { .. } => "ok",
        Ending::Failed => "failed",
        Ending::InvalidArguments => "invalid arguments",
        Ending::Unknown => "unknown tool",
        Ending::Refused => "refused",
        Ending::NotAllowed => "not allowed",
        Ending::TimedOut => "timed out",
        Ending::NotExecuted => "not executed",
        Ending::Interrupted => "interrupted",
    }
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
