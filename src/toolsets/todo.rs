//! `todo`: an agent's own plan, one for each conversation and agent, at most 20 steps; two workers of one table have two. It
//! is kept in a small file, so that it is there again after a restart; it runs nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocking;
use crate::agent::NodeId;
use crate::system::{FileError, files};
use crate::tool::output::one_line;
use crate::tool::{BuildError, CallContext, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// Steps of one plan.
const MAX_STEPS: usize = 20;

/// Characters of one step or the title.
const MAX_CHARS: usize = 200;

/// The toolset.
pub(super) struct Todo {
    /// Held from reading a plan to writing it: an agent may call twice at once.
    writing: Arc<Mutex<()>>,
}

impl Todo {
    pub(super) fn new() -> Self {
        Self { writing: Arc::new(Mutex::new(())) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Change {
    /// The whole plan, replacing the old one; at most 20 steps.
    steps: Option<Vec<String>>,
    title: Option<String>,
    /// Numbers of finished steps.
    #[serde(default)]
    #[schemars(extend("default" = null))]
    done: Vec<usize>,
    /// Number of the step being worked on.
    active: Option<usize>,
    /// Numbers of steps to take out.
    #[serde(default)]
    #[schemars(extend("default" = null))]
    drop: Vec<usize>,
    /// End the plan.
    close: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Active,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    text: String,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Plan {
    title: Option<String>,
    steps: Vec<Step>,
}

impl Toolset for Todo {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "The agent's own plan of a longer task, step by step."
    }

    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let folder = services.data.join("plans");
        let writing = Arc::clone(&self.writing);
        let todo = Function::new(
            "todo",
            include_str!("../../assets/tools/todo.md"),
            Risk::Read,
            move |change: Change, context| {
                let file = file(&folder, &context);
                let writing = Arc::clone(&writing);
                blocking("todo", move |_| {
                    let _writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
                    update(&file, change).unwrap_or_else(Output::failed)
                })
            },
        );
        Ok(vec![todo.boxed()])
    }
}

/// `<folder>/<conversation>/<agent>.json`, with anything unusual in a name replaced; a worker's has its number too.
fn file(folder: &Path, context: &CallContext) -> PathBuf {
    let agent = super::file_name(&context.agent);
    // No name has a dot left in it, so neither form can be the other.
    let file = match context.node {
        NodeId::ENTRY => format!("{agent}.json"),
        NodeId(number) => format!("{agent}.{number}.json"),
    };
    folder.join(super::file_name(&context.conversation)).join(file)
}

/// Applies `change` to the plan in `file` and answers with the plan. Nothing changes when any part of it is wrong.
fn update(file: &Path, change: Change) -> Result<Output, String> {
    // A plan that cannot be read may still be ended or replaced.
    let before = match read(file) {
        Err(_) if change.close == Some(true) => {
            remove(file)?;
            return Ok(Output::ok("Plan ended.").with_note("plan ended"));
        }
        Err(_) if change.steps.is_some() => None,
        read => read?,
    };
    let looks_only = change.steps.is_none()
        && change.title.is_none()
        && change.done.is_empty()
        && change.active.is_none()
        && change.drop.is_empty()
        && change.close != Some(true);
    if looks_only {
        return Ok(before.map_or_else(|| Output::ok("There is no plan. Send `steps` to make one."), |plan| show(&plan)));
    }
    let (after, close) = apply(before, change).map_err(|fault| format!("{fault} Nothing changed."))?;
    let done = after.steps.iter().filter(|step| step.state == State::Done).count();
    if close {
        remove(file)?;
        return Ok(Output::ok(format!("Plan ended: {done} of {} done.", after.steps.len())).with_note("plan ended"));
    }
    let text = serde_json::to_string_pretty(&after).map_err(|error| format!("The plan was not kept: {error}"))?;
    keep(file, &text).map_err(|error| format!("The plan was not kept: {error}"))?;
    Ok(show(&after))
}

fn keep(file: &Path, text: &str) -> Result<(), FileError> {
    if let Some(folder) = file.parent() {
        files::create_directory(folder)?;
    }
    files::write(file, text.as_bytes())
}

fn remove(file: &Path) -> Result<(), String> {
    files::remove(file).map(drop).map_err(|error| format!("The plan did not end: {error}"))
}

fn read(file: &Path) -> Result<Option<Plan>, String> {
    match files::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            format!("The plan in {} cannot be read ({error}). Send `close` to start again.", file.display())
        }),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(format!("There is a plan, but {error}")),
    }
}

/// The plan after `change`, and whether it is over. Numbers are those the agent saw, or those of `steps`.
fn apply(before: Option<Plan>, change: Change) -> Result<(Plan, bool), String> {
    let mut plan = match (change.steps, before) {
        (Some(texts), before) => {
            if texts.len() > MAX_STEPS {
                return Err(format!("A plan has at most {MAX_STEPS} steps; these are {}.", texts.len()));
            }
            if texts.is_empty() {
                return Err("A plan needs a step; send `close` to end it.".to_owned());
            }
            if texts.iter().any(|text| text.trim().is_empty()) {
                return Err("A step must not be empty.".to_owned());
            }
            let steps =
                texts.iter().map(|text| Step { text: one_line(text.trim(), MAX_CHARS), state: State::Open }).collect();
            Plan { title: before.and_then(|plan| plan.title), steps }
        }
        (None, Some(plan)) => plan,
        (None, None) => return Err("There is no plan yet; send `steps` to make one.".to_owned()),
    };
    if let Some(title) = change.title {
        plan.title = Some(one_line(title.trim(), MAX_CHARS)).filter(|title| !title.is_empty());
    }
    let count = plan.steps.len();
    let numbers = change.done.iter().chain(&change.active).chain(&change.drop);
    if let Some(number) = numbers.into_iter().find(|number| !(1..=count).contains(*number)) {
        return Err(format!("There is no step {number}; the plan has {count}, numbered from 1."));
    }
    for (index, step) in plan.steps.iter_mut().enumerate() {
        let number = index + 1;
        if change.active.is_some() && step.state == State::Active {
            step.state = State::Open;
        }
        if change.active == Some(number) {
            step.state = State::Active;
        }
        if change.done.contains(&number) {
            step.state = State::Done;
        }
    }
    let mut number = 0;
    plan.steps.retain(|_| {
        number += 1;
        !change.drop.contains(&number)
    });
    let close = change.close == Some(true) || plan.steps.is_empty();
    Ok((plan, close))
}

fn show(plan: &Plan) -> Output {
    let done = plan.steps.iter().filter(|step| step.state == State::Done).count();
    let mut lines: Vec<String> = plan.title.iter().cloned().collect();
    for (index, step) in plan.steps.iter().enumerate() {
        let mark = match step.state {
            State::Open => ' ',
            State::Active => '>',
            State::Done => 'x',
        };
        lines.push(format!("{}. [{mark}] {}", index + 1, step.text));
    }
    let summary = format!("{done} of {} done", plan.steps.len());
    lines.push(format!("{summary}."));
    Output::ok(lines.join("\n")).with_note(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(texts: &[&str]) -> Plan {
        let steps = texts.iter().map(|text| Step { text: (*text).to_owned(), state: State::Open }).collect();
        Plan { title: None, steps }
    }

    fn change() -> Change {
        Change { steps: None, title: None, done: Vec::new(), active: None, drop: Vec::new(), close: None }
    }

    #[test]
    fn numbers_mean_the_steps_the_agent_saw_even_when_some_are_dropped() {
        let change = Change { done: vec![1, 3], active: Some(2), drop: vec![1], ..change() };
        let (after, over) = apply(Some(plan(&["a", "b", "c"])), change).unwrap();
        assert!(!over);
        assert_eq!(show(&after).text, "1. [>] b\n2. [x] c\n1 of 2 done.");
    }

    #[test]
    fn one_step_is_active_and_a_finished_one_is_not() {
        let (after, _) = apply(Some(plan(&["a", "b"])), Change { active: Some(1), ..change() }).unwrap();
        let (after, _) = apply(Some(after), Change { active: Some(2), ..change() }).unwrap();
        assert_eq!(show(&after).text, "1. [ ] a\n2. [>] b\n0 of 2 done.");
        let (after, _) = apply(Some(after), Change { done: vec![2], ..change() }).unwrap();
        assert_eq!(show(&after).text, "1. [ ] a\n2. [x] b\n1 of 2 done.");
    }

    #[test]
    fn dropping_the_last_step_ends_the_plan() {
        assert!(apply(Some(plan(&["a"])), Change { drop: vec![1], ..change() }).unwrap().1);
    }

    #[test]
    fn a_step_is_one_short_line() {
        let steps = Some(vec![format!("a\nb{}", "c".repeat(500))]);
        let (after, _) = apply(None, Change { steps, ..change() }).unwrap();
        let text = after.steps.first().map(|step| step.text.clone()).unwrap();
        assert!(text.starts_with("a bc") && text.chars().count() == MAX_CHARS, "{text}");
    }
}
