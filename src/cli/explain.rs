//! `kokua explain`: all five answers for a tool of an agent, with every reason and where it stands (K4).
//!
//! It prints what access says; the exit code is the outcome.

use clap::Args;
use serde_json::json;

use super::print::{self, alerts, line};
use super::{ANSWERED, ASKS, ASKS_REVIEWER, Ended, NEVER, NOT_NOW};
use crate::access::explain::AnsweredBy;
use crate::access::{AgentName, Approval, Outcome, Place, Reason, ToolId};
use crate::app::explained::{Explained, Question};
use crate::app::{self, Options};

/// `kokua explain`. Exit code: 0 it runs, 10 it asks you, 11 it asks a reviewer, 12 not now, 13 never, 2 asked wrongly.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 it runs, 10 it asks you, 11 it asks a reviewer, 12 not now, 13 never.")]
pub(super) struct Explain {
    /// The agent, as its table is named
    agent: String,
    /// The tool: `toolset.tool`, or `core.tool`
    #[arg(value_name = "TOOLSET.TOOL")]
    tool: String,
    /// The arguments of the call, one JSON object
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
    /// In this stored conversation, with what it loaded and its mode: its id, the start of it, or "latest"
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    /// In this mode
    #[arg(long, value_name = "NAME", conflicts_with = "conversation")]
    mode: Option<String>,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        let tool = ToolId::parse(&self.tool).map_err(|why| Ended::usage(format!("error: {why}")))?;
        let mut prepared = app::prepare(&Options { mode: self.mode, ..options }).await?;
        let conversation = match self.conversation {
            Some(latest) if latest == "latest" => Some(super::conversations::latest(&prepared.config)?),
            other => other,
        };
        let agent = AgentName::new(self.agent);
        let question = Question { agent, tool, arguments: self.arguments, conversation };
        let explained = prepared.explain(&question).await?;
        alerts(&prepared.alerts);
        let file = prepared.config.source.path.display().to_string();
        if self.json {
            print::json(&json!({
                "agent": question.agent, "tool": question.tool.to_string(), "file": file, "mode": explained.mode,
                "conversation": explained.conversation, "exit_code": code(explained.explanation.outcome),
                "explanation": explained.explanation,
            }))?;
        } else {
            line(&text(&question, &explained, &file))?;
        }
        Ok(code(explained.explanation.outcome))
    }
}

fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Runs => ANSWERED,
        Outcome::Asks => ASKS,
        Outcome::AsksReviewer => ASKS_REVIEWER,
        Outcome::NotNow => NOT_NOW,
        Outcome::Never => NEVER,
    }
}

/// The outcome first, then a block for each question: its answer and every reason, with file and line.
fn text(question: &Question, explained: &Explained, file: &str) -> String {
    let Explained { explanation, mode, conversation } = explained;
    let scene = match conversation {
        Some(id) => format!("in conversation {id}, mode {mode}"),
        None => format!("in a new conversation, mode {mode}"),
    };
    let mut lines = vec![
        format!("A call of {} by {} {}.", question.tool, question.agent, explanation.outcome),
        format!("  {scene}"),
    ];
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let blocks = [
        ("1 available", yes(explanation.available.yes), &explanation.available.reasons),
        ("2 in its context", yes(explanation.held.yes), &explanation.held.reasons),
        ("3 in a call made now", yes(explanation.offered.yes), &explanation.offered.reasons),
        ("4 asks first", asks(&explanation.approval), &explanation.approval.reasons),
        ("5 runs now", yes(explanation.dispatched.yes), &explanation.dispatched.reasons),
    ];
    for (name, answer, reasons) in blocks {
        lines.push(String::new());
        lines.push(format!("{name:<22}{answer}"));
        lines.extend(reasons.iter().map(|reason| format!("    {}", placed(reason, file))));
    }
    if matches!(explanation.outcome, Outcome::Asks | Outcome::AsksReviewer) {
        lines.push("    once it is allowed: see 4".to_owned());
    }
    lines.join("\n")
}

fn asks(approval: &Approval) -> String {
    match (&approval.answered_by, approval.list) {
        (AnsweredBy::NotAsked, _) | (_, None) => "no".to_owned(),
        (AnsweredBy::Person, Some(list)) => format!("you ({list})"),
        (AnsweredBy::Reviewer, Some(list)) => format!("a reviewer, and you where it does not approve ({list})"),
        (AnsweredBy::Already { answer }, Some(list)) => format!("{answer} ({list})"),
    }
}

/// `reason  config.toml:12:5`, or what happened.
fn placed(reason: &Reason, file: &str) -> String {
    match &reason.place {
        Some(Place::Config(span)) => format!("{}  {file}:{}:{}", reason.text, span.line, span.column),
        Some(Place::Event(event)) => format!("{}  ({event})", reason.text),
        None => reason.text.clone(),
    }
}
