//! The rehearsal model: plays scripts, so that every mechanism can be shown with no weights and no network.
//!
//! The player is pure and deterministic: the same request gives the same performance. It knows only what a request
//! carries; everything behind its calls is real.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use crate::agent::{
    AssistantMessage, CallKind, Delta, Ending, Failure, FailureKind, Message, Request, ResultMessage, Retry,
    StopReason, ToolCall, Usage, UserOrigin,
};

use super::failure::failure;
use super::script::{After, Scene, Script, ScriptedArguments, ScriptedCall, Suggestion, fill};

/// The script that ships: agents at work first, for what is handed on may be anything.
const SHIPPED: [&str; 2] =
    [include_str!("../../assets/rehearsal/agents.toml"), include_str!("../../assets/rehearsal/default.toml")];
/// Words that one scene may stream.
const WORD_LIMIT: usize = 100_000;
/// Characters of a result that a template quotes.
const QUOTE_LIMIT: usize = 1500;

/// A player with its script.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    script: Script,
}

/// One piece of a performance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Milliseconds after the piece before it.
    pub after_ms: u64,
    /// What is streamed.
    pub delta: Delta,
}

/// What one model call plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performance {
    /// The pieces in order.
    pub pieces: Vec<Piece>,
    /// It ends with this.
    pub failure: Option<Failure>,
}

impl Rehearsal {
    /// The one that ships.
    ///
    /// # Errors
    /// Its script is broken; a test keeps that from happening.
    pub fn shipped() -> Result<Self, String> {
        let [agents, alone] = SHIPPED;
        Ok(Self { script: Script::parse(agents)?.or(Script::parse(alone)?) })
    }

    /// A player of this script (`docs/rehearsal.md` describes the format).
    ///
    /// # Errors
    /// What is wrong with the script and where.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        Script::parse(text).map(|script| Self { script })
    }

    /// What it plays for this request: the first scene that fits.
    pub fn play(&self, request: &Request) -> Performance {
        let situation = Situation::of(request, &self.script.suggestions);
        let found = self.script.scenes.iter().find_map(|scene| situation.fits(scene).map(|caught| (scene, caught)));
        let Some((scene, caught)) = found else {
            if request.kind == CallKind::Title {
                // Every script would have to say this.
                return plain(situation.turn.title());
            }
            let message = format!("the rehearsal script has no scene for '{}'", situation.turn.title());
            let hint = "add a scene without conditions at its end".to_owned();
            let failure = failure(FailureKind::BadRequest, &message, hint, Retry::Never);
            return Performance { pieces: Vec::new(), failure: Some(failure) };
        };
        let stretch = situation.stretch(scene);
        Stage { situation: &situation, stretch, caught, pace_ms: scene.pace_ms, pieces: Vec::new(), words: 0 }
            .perform(scene)
    }

    /// The performance at its pace. Dropping it ends it.
    pub fn stream(&self, request: &Request) -> BoxStream<'static, Result<Delta, Failure>> {
        let Performance { pieces, failure } = self.play(request);
        let state = (VecDeque::from(pieces), failure);
        stream::unfold(state, |(mut pieces, mut failure)| async move {
            if let Some(piece) = pieces.pop_front() {
                if piece.after_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(piece.after_ms)).await;
                }
                return Some((Ok(piece.delta), (pieces, failure)));
            }
            failure.take().map(|failure| (Err(failure), (pieces, None)))
        })
        .boxed()
    }
}

/// What a scene's conditions look at.
struct Situation<'a> {
    request: &'a Request,
    suggestions: &'a [Suggestion],
    /// What came since the person spoke last.
    turn: Stretch<'a>,
    /// The whole request, which a worker's is from its task on.
    whole: Stretch<'a>,
    /// Model messages so far, for ids.
    rounds: usize,
}

/// A part of a request: from some words to its end.
struct Stretch<'a> {
    /// The words that it begins with.
    said: &'a str,
    /// Calls of its last round, with their results.
    last: Vec<(&'a ToolCall, &'a ResultMessage)>,
    /// What else was said to the model since it spoke last.
    heard: String,
}

impl<'a> Stretch<'a> {
    /// The part from the words in message `at` on; everything where there are none.
    fn from(messages: &'a [Message], at: Option<usize>) -> Self {
        let said = match at.and_then(|at| messages.get(at)) {
            Some(Message::User(user)) => user.text.as_str(),
            _ => "",
        };
        let since = messages.get(at.map_or(0, |at| at + 1)..).unwrap_or_default();
        let spoke = since.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let last_round = spoke.and_then(|at| since.get(at)).and_then(|message| match message {
            Message::Assistant(assistant) => Some(assistant),
            Message::User(_) | Message::Result(_) => None,
        });
        let fresh = since.get(spoke.map_or(0, |at| at + 1)..).unwrap_or_default();
        let heard = fresh.iter().filter_map(|message| match message {
            Message::User(user) if matches!(user.origin, UserOrigin::Person | UserOrigin::Agent) => {
                Some(user.text.as_str())
            }
            Message::User(_) | Message::Assistant(_) | Message::Result(_) => None,
        });
        let heard = heard.collect::<Vec<_>>().join("\n\n");
        let result_of = |call: &ToolCall| {
            since.iter().rev().find_map(|message| match message {
                Message::Result(result) if result.call == call.id => Some(result),
                _ => None,
            })
        };
        let calls = last_round.into_iter().flat_map(AssistantMessage::calls);
        let last = calls.filter_map(|call| result_of(call).map(|result| (call, result))).collect();
        Self { said, last, heard }
    }

    fn title(&self) -> String {
        let words: Vec<&str> = self.said.split_whitespace().take(6).collect();
        words.join(" ")
    }
}

impl<'a> Situation<'a> {
    fn of(request: &'a Request, suggestions: &'a [Suggestion]) -> Self {
        let messages = &request.messages;
        let person = |message: &Message| matches!(message, Message::User(user) if user.origin == UserOrigin::Person);
        let turn = Stretch::from(messages, messages.iter().rposition(person));
        let whole = Stretch::from(messages, Some(0));
        let rounds = messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        Self { request, suggestions, turn, whole, rounds }
    }

    /// What a scene looks at.
    fn stretch(&self, scene: &Scene) -> &Stretch<'a> {
        if scene.task.is_empty() { &self.turn } else { &self.whole }
    }

    /// Whether every one of these tools is offered, and every one of these toolsets is loadable.
    fn has(&self, tools: &[String], toolsets: &[String]) -> bool {
        let offered = |tool: &String| self.request.tools.iter().any(|offered| offered.wire.as_str() == tool);
        tools.iter().all(offered) && toolsets.iter().all(|toolset| self.loadable().any(|name| name == toolset))
    }

    /// The toolsets that the system message names as loadable.
    fn loadable(&self) -> impl Iterator<Item = &'a str> {
        let line = self.request.system.lines().find_map(|line| line.split_once("load before use:"));
        let names = line.map_or("", |(_, names)| names.trim().trim_end_matches('.'));
        names.split(',').map(str::trim).filter(|name| !name.is_empty())
    }

    /// What the scene's patterns caught, if all its conditions hold.
    fn fits(&self, scene: &Scene) -> Option<BTreeMap<String, String>> {
        let Stretch { said, last, heard } = self.stretch(scene);
        let after = match &scene.after {
            After::Nothing => last.is_empty(),
            After::Anything => !last.is_empty(),
            After::Whatever => true,
            After::Tools(tools) => tools.iter().all(|tool| last.iter().any(|(call, _)| call.wire == *tool)),
        };
        let ended = scene.ended.is_empty()
            || last.iter().any(|(_, result)| scene.ended.iter().any(|word| *word == ending_word(&result.ending)));
        let stands = scene.kind == self.request.kind && after && ended;
        if !stands || !self.has(&scene.offers, &scene.loadable) {
            return None;
        }
        let mut caught = BTreeMap::new();
        for (patterns, text) in [(&scene.said, *said), (&scene.task, *said), (&scene.heard, heard.as_str())] {
            if !patterns.is_empty() {
                caught.extend(patterns.iter().find_map(|pattern| pattern.matches(text))?);
            }
        }
        if let Some(pattern) = &scene.answered {
            let (_, result) = last.last()?;
            caught.extend(pattern.matches(&result.text)?);
        }
        Some(caught)
    }

    /// A name of a template that is not caught by a pattern.
    fn value(&self, stretch: &Stretch<'_>, name: &str) -> Option<String> {
        Some(match name {
            "said" => stretch.said.to_owned(),
            "title" => stretch.title(),
            "tools" => self.request.tools.len().to_string(),
            "offered" => {
                let line = |tool: &crate::agent::ToolDefinition| {
                    let first = tool.description.split(['\n', '.']).next().unwrap_or_default().trim();
                    format!("- `{}`: {first}", tool.wire)
                };
                self.request.tools.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            "loadable" => {
                let names: Vec<_> = self.loadable().collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            }
            "suggestions" => {
                let fit = |suggestion: &&Suggestion| self.has(&suggestion.offers, &suggestion.loadable);
                let lines = self.suggestions.iter().filter(fit).map(|suggestion| format!("- {}", suggestion.text));
                lines.collect::<Vec<_>>().join("\n")
            }
            "result" => quote(stretch.last.last().map_or("", |(_, result)| &result.text)),
            "results" => {
                let line = |(call, result): &(&ToolCall, &ResultMessage)| {
                    let first = result.text.lines().next().unwrap_or_default();
                    format!("- `{}`: {} – {}", call.shown, ending_sentence(&result.ending), quote(first))
                };
                stretch.last.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            // The words of a person who said no, where there are any.
            "reason" => {
                let refused = stretch.last.iter().find(|(_, result)| result.ending == Ending::NotAllowed);
                let text = refused.or(stretch.last.last()).map_or("", |(_, result)| &result.text);
                quote(text.split_once("not approved: ").map_or(text, |(_, reason)| reason))
            }
            _ => return None,
        })
    }
}

/// A performance of nothing but a text.
fn plain(text: String) -> Performance {
    let deltas = [Delta::Text { text }, Delta::Stop { reason: StopReason::End }];
    let pieces = deltas.into_iter().map(|delta| Piece { after_ms: 0, delta });
    Performance { pieces: pieces.collect(), failure: None }
}

fn quote(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTE_LIMIT).collect();
    if quoted.len() < text.len() {
        quoted.push_str(" […]");
    }
    quoted
}

fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Ok => "ok",
        Ending::Failed => "failed",
        Ending::Loaded { .. } => "loaded",
        Ending::InvalidArguments => "invalid_arguments",
        Ending::Unknown => "unknown",
        Ending::Refused => "refused",
        Ending::NotAllowed => "not_allowed",
        Ending::TimedOut => "timed_out",
        Ending::NotExecuted => "not_executed",
        Ending::Interrupted => "interrupted",
    }
}

fn ending_sentence(ending: &Ending) -> &'static str {
    match ending {
        Ending::Ok => "it answered",
        Ending::Failed => "it failed",
        Ending::Loaded { .. } => "loaded",
        Ending::InvalidArguments => "my arguments did not fit",
        Ending::Unknown => "nothing has that name",
        Ending::Refused => "it was refused",
        Ending::NotAllowed => "you did not allow it",
        Ending::TimedOut => "it took too long",
        Ending::NotExecuted => "it was not run",
        Ending::Interrupted => "it was interrupted",
    }
}

/// A performance in the making.
struct Stage<'a> {
    situation: &'a Situation<'a>,
    stretch: &'a Stretch<'a>,
    caught: BTreeMap<String, String>,
    pace_ms: u64,
    pieces: Vec<Piece>,
    words: u64,
}

impl Stage<'_> {
    fn perform(mut self, scene: &Scene) -> Performance {
        if let Some(reasoning) = &scene.reasoning {
            for text in pieces_of(&self.fill(reasoning)) {
                self.say(Delta::Reasoning { text });
            }
        }
        if let Some(text) = &scene.text {
            for text in pieces_of(&self.fill(text)) {
                self.say(Delta::Text { text });
            }
        }
        if let Some(count) = &scene.word_count {
            let count = self.fill(count).trim().parse().unwrap_or(0).min(WORD_LIMIT);
            for number in 1..=count {
                self.say(Delta::Text { text: word(number) });
            }
        }
        for (index, call) in scene.calls.iter().enumerate() {
            self.call(index, call);
        }
        if let Some(fail) = &scene.fail {
            let retry = match fail.kind {
                FailureKind::Unreachable
                | FailureKind::Cut
                | FailureKind::Stalled
                | FailureKind::RateLimited
                | FailureKind::Overloaded => Retry::Backoff { at_least_ms: fail.retry_after_ms },
                _ => Retry::Never,
            };
            let failure = failure(fail.kind, &fail.message, None, retry);
            return Performance { pieces: self.pieces, failure: Some(failure) };
        }
        let natural = if scene.calls.is_empty() { StopReason::End } else { StopReason::Calls };
        let reason = scene.stop.clone().unwrap_or(natural);
        let usage = Usage { input: Some(words_of(self.situation.request)), output: Some(self.words), cached: None };
        self.pieces.push(Piece { after_ms: 0, delta: Delta::Stop { reason } });
        self.pieces.push(Piece { after_ms: 0, delta: Delta::Usage { usage } });
        Performance { pieces: self.pieces, failure: None }
    }

    fn say(&mut self, delta: Delta) {
        self.words += 1;
        self.pieces.push(Piece { after_ms: self.pace_ms, delta });
    }

    fn call(&mut self, index: usize, call: &ScriptedCall) {
        let id = format!("rehearsal_{}_{index}", self.situation.rounds);
        self.say(Delta::CallStart { index, id, name: call.tool.clone() });
        let arguments = match &call.arguments {
            ScriptedArguments::Value(value) => self.fill_value(value).to_string(),
            ScriptedArguments::Raw(text) => self.fill(text),
        };
        for text in pieces_of(&arguments) {
            self.say(Delta::CallArguments { index, text });
        }
    }

    fn fill(&self, template: &str) -> String {
        let value = |name: &str| self.caught.get(name).cloned().or_else(|| self.situation.value(self.stretch, name));
        // Names were checked when the script was read.
        fill(template, &value).unwrap_or_else(|fault| fault)
    }

    fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(list) => list.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, item)| (key.clone(), self.fill_value(item))).collect(),
            other => other.clone(),
        }
    }
}

/// `text` cut after its blanks: about a word each, as models stream.
fn pieces_of(text: &str) -> Vec<String> {
    text.split_inclusive([' ', '\n']).map(str::to_owned).collect()
}

/// The words of `stream N`, in lines of twelve and paragraphs of sixty.
fn word(number: usize) -> String {
    const WORDS: [&str; 12] =
        ["light", "falls", "through", "the", "open", "door", "and", "stays", "a", "while", "on", "stone"];
    let word = WORDS.get((number - 1) % WORDS.len()).copied().unwrap_or_default();
    let end = match number {
        n if n % 60 == 0 => ".\n\n",
        n if n % 12 == 0 => ",\n",
        _ => " ",
    };
    format!("{word}{end}")
}

/// What the rehearsal model counts as tokens: words, of everything that a request carries.
fn words_of(request: &Request) -> u64 {
    let count = |text: &str| u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX);
    let messages = request.messages.iter().map(|message| match message {
        Message::User(user) => count(&user.text),
        Message::Assistant(assistant) => {
            count(&assistant.text()) + assistant.calls().map(|call| 1 + count(&call.arguments)).sum::<u64>()
        }
        Message::Result(result) => count(&result.text),
    });
    let tools = request.tools.iter().map(|tool| 1 + count(&tool.description) + count(&tool.schema.to_string()));
    count(&request.system) + messages.sum::<u64>() + tools.sum::<u64>()
}
