//! The Messages wire: encode a request with its cache breakpoints, decode a stream.
//!
//! Pure. Thinking is sent back with its signature and in its place, or not at all.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::agent::{AssistantMessage, Delta, Failure, Message, Opaque, Part, Request, StopReason, ToolChoice, Usage};
use crate::config::Thinking;

use super::failure::{Place, cut, in_stream, json, malformed};
use super::history::{self, IdRule, Ids};
use super::options::ModelOptions;
use super::sse::Frame;

/// Output tokens asked for when nothing is configured; the wire has no default.
const MAX_TOKENS: u32 = 8192;
/// The least thinking budget that the wire takes.
const LEAST_BUDGET: u32 = 1024;

/// The body of a request.
pub fn encode(request: &Request, options: &ModelOptions) -> Value {
    let mut body = Map::new();
    let generation = &options.generation;
    body.insert("model".into(), json!(options.place.model));
    let max_tokens = thinking(&mut body, options);
    body.insert("max_tokens".into(), json!(max_tokens));
    body.insert("stream".into(), json!(true));
    if !request.system.trim().is_empty() {
        body.insert("system".into(), json!([cached(json!({"type": "text", "text": request.system}))]));
    }
    if options.sends_tools() && !request.tools.is_empty() {
        let mut tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.wire, "description": tool.description, "input_schema": tool.schema}))
            .collect();
        let last = tools.pop().map(cached);
        tools.extend(last);
        body.insert("tools".into(), Value::Array(tools));
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!({"type": "none"}));
        }
    }
    body.insert("messages".into(), Value::Array(messages(request, options)));
    let free = !thinks(options);
    let settings = [
        ("temperature", generation.temperature.filter(|_| free).map(Value::from)),
        ("top_p", generation.top_p.map(Value::from)),
        ("top_k", generation.top_k.filter(|_| free).map(Value::from)),
    ];
    body.extend(settings.into_iter().filter_map(|(key, value)| value.map(|value| (key.to_owned(), value))));
    Value::Object(body)
}

/// Whether thinking is switched on: then the wire refuses `temperature` and `top_k`.
pub fn thinks(options: &ModelOptions) -> bool {
    options.thinking().is_some_and(|thinking| thinking != Thinking::Off)
}

/// Writes the thinking fields and answers the output limit that they leave.
fn thinking(body: &mut Map<String, Value>, options: &ModelOptions) -> u32 {
    let limit = options.generation.max_tokens;
    let Some(thinking) = options.thinking() else { return limit.unwrap_or(MAX_TOKENS) };
    let (budget, effort) = match thinking {
        Thinking::Off => {
            body.insert("thinking".into(), json!({"type": "disabled"}));
            return limit.unwrap_or(MAX_TOKENS);
        }
        Thinking::On => (8192, None),
        Thinking::Low => (2048, Some("low")),
        Thinking::Medium => (8192, Some("medium")),
        Thinking::High => (16_384, Some("high")),
    };
    if thinks_adaptively(&options.place.model) {
        body.insert("thinking".into(), json!({"type": "adaptive"}));
        if let Some(effort) = effort {
            body.insert("output_config".into(), json!({"effort": effort}));
        }
        return limit.unwrap_or(MAX_TOKENS + budget);
    }
    // The budget counts towards the limit and has to be under it.
    let limit = limit.unwrap_or(MAX_TOKENS + budget).max(LEAST_BUDGET + 1);
    let budget = budget.min(limit - 1);
    body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": budget}));
    limit
}

/// Models from 4.6 on set their own budget. The version is the first one or two short numbers of the name.
fn thinks_adaptively(model: &str) -> bool {
    let mut numbers =
        model.split(['-', '.', '@', ':']).filter(|word| word.len() <= 2).filter_map(|word| word.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    model.starts_with("claude") && version >= (4, 6)
}

fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn messages(request: &Request, options: &ModelOptions) -> Vec<Value> {
    let ids = Ids::of(&request.messages, IdRule::Word);
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message {
            Message::User(user) => ("user", text_block(&user.text).into_iter().collect()),
            Message::Assistant(assistant) => ("assistant", assistant_blocks(assistant, &ids, &options.origin)),
            Message::Result(result) => {
                let block = ids.id(result.call).map(|id| {
                    let mut block = json!({"type": "tool_result", "tool_use_id": id});
                    if !result.text.trim().is_empty() {
                        block["content"] = json!(result.text);
                    }
                    if history::is_error(&result.ending) {
                        block["is_error"] = json!(true);
                    }
                    block
                });
                ("user", block.into_iter().collect::<Vec<_>>())
            }
        };
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    if let Some((_, blocks)) = turns.iter_mut().rev().find(|(role, _)| *role == "user") {
        let last = blocks.pop().map(cached);
        blocks.extend(last);
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// Blank text blocks are refused by the wire.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn assistant_blocks(message: &AssistantMessage, ids: &Ids, origin: &str) -> Vec<Value> {
    let said = message.parts.iter().any(|part| match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Call(_) => true,
        Part::Reasoning(_) => false,
    });
    if !said {
        return Vec::new();
    }
    let block = |part: &Part| match part {
        Part::Text { text } => text_block(text),
        Part::Reasoning(reasoning) => {
            let fields = history::own(reasoning.opaque.as_ref(), origin)?;
            let mut fields = fields.clone();
            match fields.get("type").and_then(Value::as_str) {
                Some("thinking") => {
                    fields.get("signature").and_then(Value::as_str).filter(|signature| !signature.is_empty())?;
                    fields.insert("thinking".into(), json!(reasoning.text));
                    Some(Value::Object(fields))
                }
                Some("redacted_thinking") => Some(Value::Object(fields)),
                _ => None,
            }
        }
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": ids.id(call.id),
            "name": history::wire_name(&call.wire),
            "input": history::arguments_object(call),
        })),
    };
    message.parts.iter().filter_map(block).collect()
}

/// Decodes one stream.
#[derive(Debug)]
pub struct Decoder {
    place: Place,
    origin: String,
    blocks: HashMap<u64, Block>,
    last: u64,
    begun: usize,
    /// Calls that ended without a word of arguments.
    silent: Vec<usize>,
    usage: Usage,
    stopped: bool,
    done: bool,
}

/// An open content block.
#[derive(Debug)]
enum Block {
    Text,
    Thinking {
        fields: Map<String, Value>,
    },
    Redacted {
        fields: Map<String, Value>,
    },
    Call {
        index: usize,
        whole: Map<String, Value>,
        streamed: bool,
        fields: Map<String, Value>,
    },
    /// Of a kind that nothing here asked for.
    Other,
}

impl Decoder {
    /// For one stream.
    pub fn new(options: &ModelOptions) -> Self {
        Self {
            place: options.place.clone(),
            origin: options.origin.clone(),
            blocks: HashMap::new(),
            last: 0,
            begun: 0,
            silent: Vec::new(),
            usage: Usage::default(),
            stopped: false,
            done: false,
        }
    }

    /// The wire's own end marker was seen: nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// A stop reason was seen: an end from here on is no cut.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes one frame.
    ///
    /// # Errors
    /// An error inside the stream, or a frame that is not this wire.
    pub fn push(&mut self, frame: &Frame) -> Result<Vec<Delta>, Failure> {
        let mut out = Vec::new();
        let data = frame.data.trim();
        if data.is_empty() || self.done {
            return Ok(out);
        }
        let event = json(&self.place, "frame", data)?;
        let name = event.get("type").and_then(Value::as_str).or(frame.event.as_deref()).unwrap_or_default();
        let index = event.get("index").and_then(Value::as_u64);
        match name {
            "error" => return Err(in_stream(&self.place, &event)),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(in_stream(&self.place, &event));
            }
            "message_start" => self.usage(event.get("message").and_then(|message| message.get("usage")), &mut out),
            "content_block_start" => {
                // Blocks do not overlap: one that begins ends the one before it, whatever its index.
                let at = index.unwrap_or(self.last + 1);
                if self.blocks.contains_key(&at) {
                    self.close(at, &mut out);
                }
                self.last = at;
                self.open(at, event.get("content_block").unwrap_or(&Value::Null), &mut out);
            }
            "content_block_delta" => {
                let at = index.unwrap_or(self.last);
                self.delta(at, event.get("delta").unwrap_or(&Value::Null), &mut out);
            }
            "content_block_stop" => self.close(index.unwrap_or(self.last), &mut out),
            "message_delta" => {
                self.usage(event.get("usage"), &mut out);
                let delta = event.get("delta");
                if let Some(reason) = delta.and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str) {
                    self.stop(reason, &mut out);
                }
            }
            "message_stop" => self.done = true,
            "message" => return Err(malformed(&self.place, "a whole message where a stream was asked for")),
            // `ping`, and what a later version of the wire adds.
            "" => return Err(malformed(&self.place, "a frame without a type")),
            _ => {}
        }
        Ok(out)
    }

    /// The stream ended.
    ///
    /// # Errors
    /// It broke off: no stop reason was seen.
    pub fn finish(&mut self) -> Result<Vec<Delta>, Failure> {
        if self.stopped {
            return Ok(Vec::new());
        }
        Err(cut(&self.place, "the stream ended without a stop reason"))
    }

    fn open(&mut self, at: u64, content: &Value, out: &mut Vec<Delta>) {
        let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let rest = |known: &[&str]| content.as_object().map(|all| history::unknown_fields(all, known));
        let block = match content.get("type").and_then(Value::as_str) {
            Some("text") => {
                push_text(text("text"), out);
                Block::Text
            }
            Some("thinking") => {
                push_reasoning(text("thinking"), out);
                Block::Thinking { fields: rest(&["thinking"]).unwrap_or_default() }
            }
            Some("redacted_thinking") => Block::Redacted { fields: rest(&[]).unwrap_or_default() },
            Some("tool_use") => {
                let index = self.begun;
                self.begun += 1;
                out.push(Delta::CallStart { index, id: text("id"), name: text("name") });
                let whole = content.get("input").and_then(Value::as_object).cloned().unwrap_or_default();
                let fields = rest(&["type", "id", "name", "input"]).unwrap_or_default();
                Block::Call { index, whole, streamed: false, fields }
            }
            _ => Block::Other,
        };
        self.blocks.insert(at, block);
    }

    fn delta(&mut self, at: u64, delta: &Value, out: &mut Vec<Delta>) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match (delta.get("type").and_then(Value::as_str), self.blocks.get_mut(&at)) {
            (Some("text_delta"), _) => push_text(text("text"), out),
            (Some("thinking_delta"), _) => push_reasoning(text("thinking"), out),
            (Some("signature_delta"), Some(Block::Thinking { fields })) => {
                match fields.entry("signature").or_insert_with(|| json!("")) {
                    Value::String(signature) => signature.push_str(&text("signature")),
                    other => *other = json!(text("signature")),
                }
            }
            (Some("input_json_delta"), Some(Block::Call { index, streamed, .. })) => {
                let piece = text("partial_json");
                if !piece.is_empty() {
                    *streamed = true;
                    out.push(Delta::CallArguments { index: *index, text: piece });
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, at: u64, out: &mut Vec<Delta>) {
        let data = |fields: Map<String, Value>| Opaque { wire: self.origin.clone(), fields };
        match self.blocks.remove(&at) {
            Some(Block::Thinking { fields } | Block::Redacted { fields }) => {
                out.push(Delta::ReasoningData { opaque: data(fields) });
            }
            Some(Block::Call { index, whole, streamed, fields }) => {
                if !streamed && whole.is_empty() {
                    self.silent.push(index);
                } else if !streamed {
                    out.push(Delta::CallArguments { index, text: Value::Object(whole).to_string() });
                }
                if !fields.is_empty() {
                    out.push(Delta::CallData { index, opaque: data(fields) });
                }
            }
            Some(Block::Text | Block::Other) | None => {}
        }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<Delta>) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        let mut open: Vec<u64> = self.blocks.keys().copied().collect();
        open.sort_unstable();
        for at in open {
            self.close(at, out);
        }
        let reason = match reason {
            "end_turn" | "stop_sequence" => StopReason::End,
            "tool_use" => StopReason::Calls,
            "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
            "refusal" => StopReason::Refusal(None),
            other => StopReason::Other(other.to_owned()),
        };
        if reason != StopReason::Length {
            // This wire says `{}` by saying nothing; cut off by the limit it would mean nothing.
            let silent = std::mem::take(&mut self.silent).into_iter();
            out.extend(silent.map(|index| Delta::CallArguments { index, text: "{}".to_owned() }));
        }
        out.push(Delta::Stop { reason });
    }

    fn usage(&mut self, field: Option<&Value>, out: &mut Vec<Delta>) {
        let Some(field) = field else { return };
        let number = |key: &str| field.get(key).and_then(Value::as_u64);
        let cached = number("cache_read_input_tokens");
        // The wire counts cached tokens apart.
        let input = number("input_tokens")
            .map(|fresh| fresh + cached.unwrap_or(0) + number("cache_creation_input_tokens").unwrap_or(0));
        let usage = Usage {
            input: input.or(self.usage.input),
            output: number("output_tokens").or(self.usage.output),
            cached: cached.or(self.usage.cached),
        };
        if usage != self.usage {
            self.usage = usage;
            out.push(Delta::Usage { usage });
        }
    }
}

fn push_text(text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Text { text });
    }
}

fn push_reasoning(text: String, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(Delta::Reasoning { text });
    }
}
