//! Ollama's own wire (`/api/chat`, JSON lines): encode a request, decode a stream.
//!
//! Pure. Calls carry objects and often no id; the window is asked for with every request.

use serde_json::{Map, Value, json};

use crate::agent::{Delta, Failure, Message, Opaque, Request, StopReason, ToolChoice, Usage};
use crate::config::Thinking;

use super::failure::{Place, cut, in_stream, json, malformed};
use super::history::{self, IdRule, Ids};
use super::options::ModelOptions;
use super::sse::Frame;

/// The body of a request.
pub fn encode(request: &Request, options: &ModelOptions) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(options.place.model));
    body.insert("messages".into(), Value::Array(messages(request, options)));
    // This wire has no tool choice: "none" is sending none (O10).
    let offers = request.tool_choice == ToolChoice::Auto && options.sends_tools();
    if offers && !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.wire, "description": tool.description, "parameters": tool.schema}})
        });
        body.insert("tools".into(), tools.collect());
    }
    body.insert("stream".into(), json!(true));
    // Asks for an error instead of losing the start of the conversation without a word.
    body.insert("truncate".into(), json!(false));
    let think = options.thinking().map(|thinking| match thinking {
        Thinking::Off => json!(false),
        Thinking::On => json!(true),
        Thinking::Low => json!("low"),
        Thinking::Medium => json!("medium"),
        Thinking::High => json!("high"),
    });
    body.extend(think.map(|think| ("think".to_owned(), think)));
    let generation = &options.generation;
    let settings = [
        ("temperature", generation.temperature.map(Value::from)),
        ("top_p", generation.top_p.map(Value::from)),
        ("top_k", generation.top_k.map(Value::from)),
        ("min_p", generation.min_p.map(Value::from)),
        ("presence_penalty", generation.presence_penalty.map(Value::from)),
        ("repeat_penalty", generation.repetition_penalty.map(Value::from)),
        ("num_predict", generation.max_tokens.map(Value::from)),
        ("num_ctx", generation.context_length.map(Value::from)),
    ];
    let settings: Map<String, Value> =
        settings.into_iter().filter_map(|(key, value)| value.map(|value| (key.to_owned(), value))).collect();
    if !settings.is_empty() {
        body.insert("options".into(), Value::Object(settings));
    }
    Value::Object(body)
}

fn messages(request: &Request, options: &ModelOptions) -> Vec<Value> {
    let ids = Ids::of(&request.messages, IdRule::Any);
    let mut out: Vec<Value> = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            Message::User(user) => out.push(json!({"role": "user", "content": user.text})),
            Message::Assistant(assistant) => {
                let calls: Vec<Value> = assistant
                    .calls()
                    .map(|call| {
                        let arguments = history::arguments_object(call);
                        json!({"function": {"name": history::wire_name(&call.wire), "arguments": arguments}})
                    })
                    .collect();
                let text = assistant.text();
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                let mut fields = Map::new();
                fields.insert("role".into(), json!("assistant"));
                fields.insert("content".into(), json!(text));
                let thinking: String = history::own_reasoning(&assistant.parts, &options.origin)
                    .map(|(reasoning, _)| reasoning.text.as_str())
                    .collect();
                if !thinking.is_empty() {
                    fields.insert("thinking".into(), json!(thinking));
                }
                if !calls.is_empty() {
                    fields.insert("tool_calls".into(), Value::Array(calls));
                }
                out.push(Value::Object(fields));
            }
            Message::Result(result) => {
                if let Some(name) = ids.name(result.call) {
                    out.push(json!({"role": "tool", "tool_name": name, "content": result.text}));
                }
            }
        }
    }
    out
}

/// Decodes one stream.
#[derive(Debug)]
pub struct Decoder {
    place: Place,
    origin: String,
    thinking: bool,
    begun: usize,
    stopped: bool,
}

impl Decoder {
    /// For one stream.
    pub fn new(options: &ModelOptions) -> Self {
        Self { place: options.place.clone(), origin: options.origin.clone(), thinking: false, begun: 0, stopped: false }
    }

    /// The line that says `done` was seen: nothing follows.
    pub fn is_done(&self) -> bool {
        self.stopped
    }

    /// The same: this wire says why it stopped in its last line.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes one line.
    ///
    /// # Errors
    /// An error inside the stream, or a line that is not this wire.
    pub fn push(&mut self, frame: &Frame) -> Result<Vec<Delta>, Failure> {
        let mut out = Vec::new();
        let data = frame.data.trim();
        if data.is_empty() || self.stopped {
            return Ok(out);
        }
        let line = json(&self.place, "line", data)?;
        if line.get("error").is_some_and(|error| !error.is_null()) {
            return Err(in_stream(&self.place, &line));
        }
        let message = line.get("message");
        let done = line.get("done").and_then(Value::as_bool);
        if message.is_none() && done.is_none() {
            return Err(malformed(&self.place, "a line without a message"));
        }
        if let Some(message) = message {
            self.message(message, &mut out);
        }
        if done == Some(true) {
            self.stop(&line, &mut out);
        }
        Ok(out)
    }

    /// The stream ended.
    ///
    /// # Errors
    /// It broke off: no line said `done`.
    pub fn finish(&mut self) -> Result<Vec<Delta>, Failure> {
        if self.stopped {
            return Ok(Vec::new());
        }
        Err(cut(&self.place, "the stream ended before it said that it was done"))
    }

    fn message(&mut self, message: &Value, out: &mut Vec<Delta>) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let thinking = text(message.get("thinking"));
        if !thinking.is_empty() {
            self.thinking = true;
            out.push(Delta::Reasoning { text: thinking });
        }
        let content = text(message.get("content"));
        if !content.is_empty() {
            self.close_thinking(out);
            out.push(Delta::Text { text: content });
        }
        for entry in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.close_thinking(out);
            let function = entry.get("function");
            let index = self.begun;
            self.begun += 1;
            let name = text(function.and_then(|function| function.get("name")));
            out.push(Delta::CallStart { index, id: text(entry.get("id")), name });
            let arguments = match function.and_then(|function| function.get("arguments")) {
                Some(Value::String(written)) => written.clone(),
                None | Some(Value::Null) => "{}".to_owned(),
                Some(object) => object.to_string(),
            };
            out.push(Delta::CallArguments { index, text: arguments });
        }
    }

    fn close_thinking(&mut self, out: &mut Vec<Delta>) {
        if std::mem::take(&mut self.thinking) {
            out.push(Delta::ReasoningData { opaque: Opaque { wire: self.origin.clone(), fields: Map::new() } });
        }
    }

    fn stop(&mut self, line: &Value, out: &mut Vec<Delta>) {
        self.stopped = true;
        self.close_thinking(out);
        let number = |key: &str| line.get(key).and_then(Value::as_u64);
        let usage = Usage { input: number("prompt_eval_count"), output: number("eval_count"), cached: None };
        if usage != Usage::default() {
            out.push(Delta::Usage { usage });
        }
        let reason = match line.get("done_reason").and_then(Value::as_str) {
            Some("length") => StopReason::Length,
            Some("stop" | "tool_calls") | None if self.begun > 0 => StopReason::Calls,
            Some("stop") | None => StopReason::End,
            Some(other) => StopReason::Other(other.to_owned()),
        };
        out.push(Delta::Stop { reason });
    }
}
