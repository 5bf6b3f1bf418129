//! Rehearsal scripts: their format, read from TOML and checked whole before anything plays.
//!
//! Pure. `docs/rehearsal.md` describes the format for people.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::agent::{CallKind, FailureKind, StopReason};

use super::pattern::Pattern;

/// Names that every template may use.
pub const BUILT_IN: [&str; 9] =
    ["said", "title", "offered", "tools", "loadable", "suggestions", "result", "results", "reason"];

/// A checked script.
#[derive(Debug, Clone)]
pub struct Script {
    /// In order: the first that fits plays.
    pub scenes: Vec<Scene>,
    /// What `{suggestions}` lists, in order.
    pub suggestions: Vec<Suggestion>,
}

/// Something that a person may say, suggested where it would be understood.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suggestion {
    /// For people, as Markdown.
    pub text: String,
    /// Wire names that all have to be offered.
    #[serde(default)]
    pub offers: Vec<String>,
    /// Toolsets that all have to be loadable.
    #[serde(default)]
    pub loadable: Vec<String>,
}

/// One scene: when it plays, and what it plays.
#[derive(Debug, Clone)]
pub struct Scene {
    /// For error messages.
    pub name: String,
    /// On what the person said last; none: anything.
    pub said: Vec<Pattern>,
    /// On the words that the request begins with, as a worker's does with its task. Such a scene looks at all that came since;
    /// none: only at what came since the person spoke.
    pub task: Vec<Pattern>,
    /// On what was said to the model since it spoke last, by other agents or on its way; none: whatever was.
    pub heard: Vec<Pattern>,
    /// Wire names that all have to be offered.
    pub offers: Vec<String>,
    /// Toolsets that all have to be loadable.
    pub loadable: Vec<String>,
    /// What the model called last since the person spoke.
    pub after: After,
    /// One of the last results ended so (the words of `Ending`).
    pub ended: Vec<String>,
    /// On the last result's text.
    pub answered: Option<Pattern>,
    /// What the model call is for.
    pub kind: CallKind,
    /// Milliseconds between two pieces.
    pub pace_ms: u64,
    /// Reasoning, a template.
    pub reasoning: Option<String>,
    /// Text, a template.
    pub text: Option<String>,
    /// This many words, a template for a number.
    pub word_count: Option<String>,
    /// Calls, after the text.
    pub calls: Vec<ScriptedCall>,
    /// Why it stops; unset: as what it played demands.
    pub stop: Option<StopReason>,
    /// It fails in the end, instead of stopping.
    pub fail: Option<ScriptedFailure>,
}

/// What was called since the person spoke.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum After {
    /// Nothing yet.
    #[default]
    Nothing,
    /// Something.
    Anything,
    /// Nothing or something.
    Whatever,
    /// In the last round, all of these.
    Tools(Vec<String>),
}

/// A call to make.
#[derive(Debug, Clone)]
pub struct ScriptedCall {
    /// The wire name.
    pub tool: String,
    /// Its arguments.
    pub arguments: ScriptedArguments,
}

/// A call's arguments.
#[derive(Debug, Clone)]
pub enum ScriptedArguments {
    /// A value whose strings are templates.
    Value(Value),
    /// Text as it stands, JSON or not; a template.
    Raw(String),
}

/// A failure to end with.
#[derive(Debug, Clone)]
pub struct ScriptedFailure {
    /// What kind; the retry class follows.
    pub kind: FailureKind,
    /// The sentence.
    pub message: String,
    /// The server's floor.
    pub retry_after_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    pace_ms: u64,
    #[serde(default)]
    scene: Vec<RawScene>,
    #[serde(default)]
    suggestion: Vec<Suggestion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScene {
    name: String,
    #[serde(default)]
    said: Vec<String>,
    #[serde(default)]
    task: Vec<String>,
    #[serde(default)]
    heard: Vec<String>,
    #[serde(default)]
    offers: Vec<String>,
    #[serde(default)]
    loadable: Vec<String>,
    after: Option<RawAfter>,
    #[serde(default)]
    ended: Vec<String>,
    answered: Option<String>,
    kind: Option<CallKind>,
    pace_ms: Option<u64>,
    reasoning: Option<String>,
    text: Option<String>,
    word_count: Option<String>,
    #[serde(default)]
    call: Vec<RawCall>,
    stop: Option<RawStop>,
    fail: Option<RawFailure>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawAfter {
    Word(String),
    Tools(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    tool: String,
    #[serde(default)]
    arguments: BTreeMap<String, Value>,
    raw: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawStop {
    End,
    Length,
    Refusal,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFailure {
    kind: FailureKind,
    message: String,
    #[serde(default)]
    retry_after_ms: u64,
}

impl Script {
    /// Reads and checks a script.
    ///
    /// # Errors
    /// What is wrong and in which scene.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: RawScript = toml::from_str(text).map_err(|error| error.to_string())?;
        let scenes = raw.scene.into_iter().map(|scene| {
            let name = scene.name.clone();
            Scene::check(scene, raw.pace_ms).map_err(|fault| format!("scene '{name}': {fault}"))
        });
        let scenes = scenes.collect::<Result<_, _>>()?;
        Ok(Self { scenes, suggestions: raw.suggestion })
    }

    /// This script, and where none of its scenes fits, the other.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.scenes.extend(other.scenes);
        self.suggestions.extend(other.suggestions);
        self
    }
}

impl Scene {
    fn check(raw: RawScene, pace_ms: u64) -> Result<Self, String> {
        let patterns = |texts: &[String]| -> Result<Vec<Pattern>, String> {
            texts.iter().map(|text| Pattern::parse(text)).collect()
        };
        let (said, task, heard) = (patterns(&raw.said)?, patterns(&raw.task)?, patterns(&raw.heard)?);
        if !said.is_empty() && !task.is_empty() {
            return Err("a scene has either said or task".to_owned());
        }
        let after = match raw.after {
            None => After::Nothing,
            Some(RawAfter::Word(word)) if word == "nothing" => After::Nothing,
            Some(RawAfter::Word(word)) if word == "anything" => After::Anything,
            Some(RawAfter::Word(word)) if word == "whatever" => After::Whatever,
            Some(RawAfter::Word(word)) => {
                return Err(format!("after = \"{word}\": write nothing, anything, whatever, or a list of tools"));
            }
            Some(RawAfter::Tools(tools)) => After::Tools(tools),
        };
        for word in &raw.ended {
            if !ENDINGS.contains(&word.as_str()) {
                return Err(format!("ended: '{word}' is no ending; write one of {}", ENDINGS.join(", ")));
            }
        }
        let calls: Vec<ScriptedCall> = raw.call.into_iter().map(ScriptedCall::check).collect::<Result<_, _>>()?;
        let scene = Self {
            name: raw.name,
            said,
            task,
            heard,
            offers: raw.offers,
            loadable: raw.loadable,
            after,
            ended: raw.ended,
            answered: raw.answered.map(|text| Pattern::parse(&text)).transpose()?,
            kind: raw.kind.unwrap_or(CallKind::Agent),
            pace_ms: raw.pace_ms.unwrap_or(pace_ms),
            reasoning: raw.reasoning,
            text: raw.text,
            word_count: raw.word_count,
            calls,
            stop: raw.stop.map(|stop| match stop {
                RawStop::End => StopReason::End,
                RawStop::Length => StopReason::Length,
                RawStop::Refusal => StopReason::Refusal(None),
            }),
            fail: raw.fail.map(|fail| ScriptedFailure {
                kind: fail.kind,
                message: fail.message,
                retry_after_ms: fail.retry_after_ms,
            }),
        };
        scene.check_templates()?;
        Ok(scene)
    }

    /// Every name in a template is built in, or caught by every pattern that can start the scene.
    fn check_templates(&self) -> Result<(), String> {
        let known = |name: &str| {
            let caught_by_all = |patterns: &[Pattern]| {
                !patterns.is_empty() && patterns.iter().all(|pattern| pattern.names().any(|own| own == name))
            };
            BUILT_IN.contains(&name)
                || [&self.said, &self.task, &self.heard].into_iter().any(|patterns| caught_by_all(patterns))
                || self.answered.as_ref().is_some_and(|pattern| pattern.names().any(|own| own == name))
        };
        let check = |template: &str| fill(template, &|name| known(name).then(String::new)).map(|_| ());
        for template in [&self.reasoning, &self.text, &self.word_count].into_iter().flatten() {
            check(template)?;
        }
        for call in &self.calls {
            match &call.arguments {
                ScriptedArguments::Value(value) => check_value(value, &check)?,
                ScriptedArguments::Raw(text) => check(text)?,
            }
        }
        Ok(())
    }
}

/// The words of `Ending`, as scripts write them.
const ENDINGS: [&str; 10] = [
    "ok",
    "failed",
    "loaded",
    "invalid_arguments",
    "unknown",
    "refused",
    "not_allowed",
    "timed_out",
    "not_executed",
    "interrupted",
];

fn check_value(value: &Value, check: &impl Fn(&str) -> Result<(), String>) -> Result<(), String> {
    match value {
        Value::String(text) => check(text),
        Value::Array(list) => list.iter().try_for_each(|item| check_value(item, check)),
        Value::Object(fields) => fields.values().try_for_each(|item| check_value(item, check)),
        _ => Ok(()),
    }
}

impl ScriptedCall {
    fn check(raw: RawCall) -> Result<Self, String> {
        let arguments = match raw.raw {
            Some(_) if !raw.arguments.is_empty() => return Err("a call has either arguments or raw".to_owned()),
            Some(text) => ScriptedArguments::Raw(text),
            None => ScriptedArguments::Value(raw.arguments.into_iter().collect()),
        };
        Ok(Self { tool: raw.tool, arguments })
    }
}

/// A template with its names filled in: `{name}`; `{{` is a brace, as is one that no name follows.
///
/// # Errors
/// A name that `value` does not know.
pub fn fill(template: &str, value: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((head, tail)) = rest.split_once('{') {
        out.push_str(head);
        if let Some(after) = tail.strip_prefix('{') {
            out.push('{');
            rest = after;
            continue;
        }
        let name = tail.split('}').next().filter(|name| name.len() < tail.len());
        let name = name.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if let Some(name) = name {
            let filled = value(name).ok_or_else(|| format!("nothing is called '{{{name}}}'"))?;
            out.push_str(&filled);
            rest = tail.get(name.len() + 1..).unwrap_or_default();
        } else {
            out.push('{');
            rest = tail;
        }
    }
    out.push_str(rest);
    Ok(out)
}
