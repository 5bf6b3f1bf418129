//! The Chat Completions wire and the dialects of those who speak it: encode a request, decode a stream.
//!
//! Pure. Text is never split at tags: reasoning is what the wire calls reasoning.

use serde_json::{Map, Value, json};

use crate::agent::{Delta, Failure, Message, Opaque, Part, Request, StopReason, ToolChoice, Usage};
use crate::config::Thinking;

use super::failure::{Place, cut, in_stream, json, malformed};
use super::history::{self, IdRule, Ids};
use super::options::ModelOptions;
use super::select::Provider;
use super::sse::Frame;

/// In [`Opaque::fields`] of reasoning: the name of the message field that its text came in.
const TEXT_FIELD: &str = "text_field";
const DETAILS: &str = "reasoning_details";

/// The body of a request.
pub fn encode(request: &Request, options: &ModelOptions) -> Value {
    let provider = options.place.provider;
    let mut body = Map::new();
    body.insert("model".into(), json!(options.place.model));
    body.insert("messages".into(), Value::Array(messages(request, options)));
    if options.sends_tools() && !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.wire, "description": tool.description, "parameters": tool.schema}})
        });
        body.insert("tools".into(), tools.collect());
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".into(), json!("none"));
        } else if provider == Provider::LlamaCpp {
            // Its default is one call a message.
            body.insert("parallel_tool_calls".into(), json!(true));
        }
    }
    body.insert("stream".into(), json!(true));
    if provider != Provider::Mistral {
        // Mistral sends usage unasked and refuses fields that it does not know.
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    sampling(&mut body, options);
    thinking(&mut body, options);
    Value::Object(body)
}

fn messages(request: &Request, options: &ModelOptions) -> Vec<Value> {
    let ids = Ids::of(&request.messages, id_rule(options.place.provider));
    let mut out: Vec<Value> = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            Message::User(user) => {
                // Many chat templates refuse two user messages in a row.
                let last = out.last_mut().filter(|last| last.get("role") == Some(&json!("user")));
                match last.and_then(|last| last.get_mut("content")) {
                    Some(Value::String(content)) => {
                        content.push_str("\n\n");
                        content.push_str(&user.text);
                    }
                    _ => out.push(json!({"role": "user", "content": user.text})),
                }
            }
            Message::Assistant(assistant) => {
                let text = assistant.text();
                let calls: Vec<Value> = assistant.calls().map(|call| tool_call(call, &ids, &options.origin)).collect();
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                let mut fields = Map::new();
                fields.insert("role".into(), json!("assistant"));
                fields.insert("content".into(), if text.is_empty() { Value::Null } else { json!(text) });
                reasoning(&mut fields, &assistant.parts, &options.origin);
                if !calls.is_empty() {
                    fields.insert("tool_calls".into(), Value::Array(calls));
                }
                out.push(Value::Object(fields));
            }
            Message::Result(result) => {
                if let Some(id) = ids.id(result.call) {
                    out.push(json!({"role": "tool", "tool_call_id": id, "content": result.text}));
                }
            }
        }
    }
    out
}

fn id_rule(provider: Provider) -> IdRule {
    match provider {
        Provider::Mistral => IdRule::Nine,
        Provider::OpenAi => IdRule::Short,
        _ => IdRule::Any,
    }
}

fn tool_call(call: &crate::agent::ToolCall, ids: &Ids, origin: &str) -> Value {
    let mut fields = Map::new();
    fields.insert("id".into(), json!(ids.id(call.id)));
    fields.insert("type".into(), json!("function"));
    let function = json!({"name": history::wire_name(&call.wire), "arguments": history::arguments_text(call)});
    fields.insert("function".into(), function);
    for (key, value) in history::own(call.opaque.as_ref(), origin).into_iter().flatten() {
        fields.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(fields)
}

fn reasoning(message: &mut Map<String, Value>, parts: &[Part], origin: &str) {
    for (reasoning, fields) in history::own_reasoning(parts, origin) {
        if let Some(field) = fields.get(TEXT_FIELD).and_then(Value::as_str) {
            match message.entry(field.to_owned()).or_insert_with(|| json!("")) {
                Value::String(text) => text.push_str(&reasoning.text),
                _ => continue,
            }
        }
        if let Some(Value::Array(details)) = fields.get(DETAILS)
            && let Value::Array(all) = message.entry(DETAILS).or_insert_with(|| json!([]))
        {
            all.extend(details.iter().cloned());
        }
    }
}

fn sampling(body: &mut Map<String, Value>, options: &ModelOptions) {
    let generation = &options.generation;
    let provider = options.place.provider;
    let extended = provider.takes_extended_sampling();
    let repetition = match provider {
        Provider::LlamaCpp | Provider::LmStudio => "repeat_penalty",
        _ => "repetition_penalty",
    };
    let limit = if provider == Provider::OpenAi { "max_completion_tokens" } else { "max_tokens" };
    let settings = [
        ("temperature", generation.temperature.map(Value::from)),
        ("top_p", generation.top_p.map(Value::from)),
        ("presence_penalty", generation.presence_penalty.map(Value::from)),
        (limit, generation.max_tokens.map(Value::from)),
        ("top_k", generation.top_k.filter(|_| extended).map(Value::from)),
        ("min_p", generation.min_p.filter(|_| extended).map(Value::from)),
        (repetition, generation.repetition_penalty.filter(|_| extended).map(Value::from)),
    ];
    body.extend(settings.into_iter().filter_map(|(key, value)| value.map(|value| (key.to_owned(), value))));
}

fn thinking(body: &mut Map<String, Value>, options: &ModelOptions) {
    let Some(thinking) = options.thinking() else { return };
    let effort = match thinking {
        Thinking::Off => Some("none"),
        Thinking::On => None,
        Thinking::Low => Some("low"),
        Thinking::Medium => Some("medium"),
        Thinking::High => Some("high"),
    };
    let on = thinking != Thinking::Off;
    match options.place.provider {
        Provider::OpenRouter => {
            let field = effort.filter(|_| on).map_or(json!({"enabled": on}), |effort| json!({"effort": effort}));
            body.insert("reasoning".into(), field);
        }
        Provider::DeepSeek => {
            body.insert("thinking".into(), json!({"type": if on { "enabled" } else { "disabled" }}));
        }
        Provider::LlamaCpp | Provider::Vllm => {
            let mut arguments = json!({"enable_thinking": on});
            if let (Some(effort), true) = (effort, on) {
                arguments["reasoning_effort"] = json!(effort);
            }
            body.insert("chat_template_kwargs".into(), arguments);
        }
        Provider::Mistral => {
            if on {
                body.insert("prompt_mode".into(), json!("reasoning"));
            }
        }
        _ => {
            if let Some(effort) = effort {
                body.insert("reasoning_effort".into(), json!(effort));
            }
        }
    }
}

/// Decodes one stream.
#[derive(Debug)]
pub struct Decoder {
    place: Place,
    origin: String,
    calls: Vec<Slot>,
    begun: usize,
    text_field: Option<&'static str>,
    details: Vec<Value>,
    refusal: String,
    spoke: bool,
    stopped: bool,
    done: bool,
    usage: Usage,
}

/// One call of the stream.
#[derive(Debug, Default)]
struct Slot {
    wire_index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Our index, once the call has begun.
    index: Option<usize>,
    opaque: Map<String, Value>,
}

impl Decoder {
    /// For one stream.
    pub fn new(options: &ModelOptions) -> Self {
        Self {
            place: options.place.clone(),
            origin: options.origin.clone(),
            calls: Vec::new(),
            begun: 0,
            text_field: None,
            details: Vec::new(),
            refusal: String::new(),
            spoke: false,
            stopped: false,
            done: false,
            usage: Usage::default(),
        }
    }

    /// The wire's own end marker was seen: nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// A finish reason was seen: an end from here on is no cut.
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
        if data == "[DONE]" {
            self.done = true;
            self.stop(None, &mut out);
            return Ok(out);
        }
        let chunk = json(&self.place, "frame", data)?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(in_stream(&self.place, error));
        }
        if frame.event.as_deref() == Some("error") || chunk.get("object") == Some(&json!("error")) {
            return Err(in_stream(&self.place, &chunk));
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        if choices.is_none() && chunk.get("usage").is_none() && chunk.get("object").is_none() {
            return Err(malformed(&self.place, "a frame without choices"));
        }
        if let Some(choice) = choices.and_then(|choices| choices.first()) {
            self.choice(choice, &mut out)?;
        }
        self.usage(&chunk, &mut out);
        Ok(out)
    }

    /// The stream ended.
    ///
    /// # Errors
    /// It broke off: no finish reason was seen.
    pub fn finish(&mut self) -> Result<Vec<Delta>, Failure> {
        if self.stopped {
            return Ok(Vec::new());
        }
        Err(cut(&self.place, "the stream ended without a finish reason"))
    }

    fn choice(&mut self, choice: &Value, out: &mut Vec<Delta>) -> Result<(), Failure> {
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            return Err(in_stream(&self.place, error));
        }
        // Without streaming the same fields come as `message`; a server that sends both repeats itself.
        let delta = choice.get("delta").filter(|delta| delta.is_object());
        let delta = delta.or_else(|| choice.get("message").filter(|_| !self.spoke));
        if let Some(delta) = delta {
            self.reasoning(delta, out);
            self.content(delta.get("content"), out);
            if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
                self.refusal.push_str(refusal);
            }
            if let Some(entries) = delta.get("tool_calls").and_then(Value::as_array).filter(|list| !list.is_empty()) {
                self.close_reasoning(out);
                self.entries(entries, out);
            }
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            None | Some("") => {}
            Some("error") => return Err(in_stream(&self.place, &json!("it ended its answer with an error"))),
            Some(reason) => self.stop(Some(reason), out),
        }
        Ok(())
    }

    fn reasoning(&mut self, delta: &Value, out: &mut Vec<Delta>) {
        // Some send the text under both names.
        for field in ["reasoning_content", "reasoning"] {
            let text = delta.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
            if let Some(text) = text {
                self.spoke = true;
                self.text_field = Some(field);
                out.push(Delta::Reasoning { text: text.to_owned() });
                break;
            }
        }
        for detail in delta.get(DETAILS).and_then(Value::as_array).into_iter().flatten() {
            merge_detail(&mut self.details, detail);
        }
    }

    fn content(&mut self, content: Option<&Value>, out: &mut Vec<Delta>) {
        match content {
            Some(Value::String(text)) if !text.is_empty() => {
                self.close_reasoning(out);
                self.spoke = true;
                out.push(Delta::Text { text: text.clone() });
            }
            // Mistral: a list of parts, thinking among them.
            Some(Value::Array(parts)) => {
                for part in parts {
                    match part.get("type").and_then(Value::as_str) {
                        Some("thinking") => {
                            let pieces = part.get("thinking").and_then(Value::as_array).into_iter().flatten();
                            let text: String = pieces.filter_map(|piece| piece.get("text")?.as_str()).collect();
                            if !text.is_empty() {
                                self.spoke = true;
                                out.push(Delta::Reasoning { text });
                            }
                        }
                        _ => self.content(part.get("text"), out),
                    }
                }
            }
            _ => {}
        }
    }

    fn close_reasoning(&mut self, out: &mut Vec<Delta>) {
        let mut fields = Map::new();
        if let Some(field) = self.text_field.take() {
            fields.insert(TEXT_FIELD.into(), json!(field));
        }
        if !self.details.is_empty() {
            fields.insert(DETAILS.into(), Value::Array(std::mem::take(&mut self.details)));
        }
        if !fields.is_empty() {
            out.push(Delta::ReasoningData { opaque: Opaque { wire: self.origin.clone(), fields } });
        }
    }

    fn entries(&mut self, entries: &[Value], out: &mut Vec<Delta>) {
        self.spoke = true;
        // Two entries of one chunk that carry no index are two calls.
        let mut touched: Vec<usize> = Vec::new();
        for entry in entries.iter().filter_map(Value::as_object) {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
            let function = entry.get("function").and_then(Value::as_object);
            let id = text(entry.get("id"));
            let name = text(function.and_then(|function| function.get("name")));
            let arguments = match function.and_then(|function| function.get("arguments")) {
                Some(Value::String(arguments)) => arguments.clone(),
                None | Some(Value::Null) => String::new(),
                Some(whole) => whole.to_string(),
            };
            let wire_index = entry.get("index").and_then(Value::as_u64);
            let at = self.slot(wire_index, &id, &name, &touched);
            touched.push(at);
            let Some(slot) = self.calls.get_mut(at) else { continue };
            if slot.id.is_empty() {
                slot.id = id;
            }
            if slot.name.is_empty() {
                slot.name = name;
            }
            slot.opaque.extend(history::unknown_fields(entry, &["index", "id", "type", "function"]));
            slot.arguments.push_str(&arguments);
            if let Some(index) = slot.index {
                if !arguments.is_empty() {
                    out.push(Delta::CallArguments { index, text: arguments });
                }
            } else if !slot.name.is_empty() {
                self.begin(at, out);
            }
        }
    }

    /// The slot that an entry belongs to, made if it begins a call. Servers leave out ids, indices, or both, repeat one
    /// index for several calls, or repeat the name in every piece.
    fn slot(&mut self, wire_index: Option<u64>, id: &str, name: &str, touched: &[usize]) -> usize {
        let same_index = |slot: &Slot| slot.wire_index == wire_index;
        let found = match wire_index {
            Some(_) => self.calls.iter().rposition(same_index),
            None if !id.is_empty() => self.calls.iter().rposition(|slot| slot.id == id).or_else(|| {
                // An id that is new, with no name: a piece of the last call by a server that makes ids up as it goes.
                name.is_empty().then(|| self.calls.len().checked_sub(1)).flatten()
            }),
            None => self.calls.len().checked_sub(1),
        };
        let continues = found.filter(|at| {
            let Some(slot) = self.calls.get(*at) else { return false };
            if name.is_empty() || slot.name.is_empty() {
                return true;
            }
            if !id.is_empty() && !slot.id.is_empty() {
                return id == slot.id;
            }
            let whole = serde_json::from_str::<Map<String, Value>>(&slot.arguments).is_ok();
            name == slot.name && !whole && !(wire_index.is_none() && touched.contains(at))
        });
        continues.unwrap_or_else(|| {
            self.calls.push(Slot { wire_index, ..Slot::default() });
            self.calls.len() - 1
        })
    }

    fn begin(&mut self, at: usize, out: &mut Vec<Delta>) {
        let index = self.begun;
        let Some(slot) = self.calls.get_mut(at) else { return };
        slot.index = Some(index);
        self.begun += 1;
        out.push(Delta::CallStart { index, id: slot.id.clone(), name: slot.name.clone() });
        if !slot.arguments.is_empty() {
            out.push(Delta::CallArguments { index, text: slot.arguments.clone() });
        }
    }

    fn stop(&mut self, reason: Option<&str>, out: &mut Vec<Delta>) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.close_reasoning(out);
        // A call that never got a name is still a call: it is answered, not lost.
        for at in 0..self.calls.len() {
            let nameless = self
                .calls
                .get(at)
                .is_some_and(|slot| slot.index.is_none() && !(slot.id.is_empty() && slot.arguments.is_empty()));
            if nameless {
                self.begin(at, out);
            }
        }
        for slot in &mut self.calls {
            let fields = std::mem::take(&mut slot.opaque);
            if let (Some(index), false) = (slot.index, fields.is_empty()) {
                out.push(Delta::CallData { index, opaque: Opaque { wire: self.origin.clone(), fields } });
            }
        }
        let reason = match reason {
            _ if !self.refusal.is_empty() => StopReason::Refusal(Some(std::mem::take(&mut self.refusal))),
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Refusal(None),
            Some("tool_calls" | "function_call") => StopReason::Calls,
            Some("stop") | None if self.begun > 0 => StopReason::Calls,
            Some("stop" | "end_turn" | "eos") | None => StopReason::End,
            Some(other) => StopReason::Other(other.to_owned()),
        };
        if reason != StopReason::Length {
            // An empty string is how many servers say "no arguments"; cut off by the limit it would mean nothing.
            let silent = self.calls.iter().filter(|slot| slot.arguments.trim().is_empty());
            let silent = silent.filter_map(|slot| slot.index);
            out.extend(silent.map(|index| Delta::CallArguments { index, text: "{}".to_owned() }));
        }
        out.push(Delta::Stop { reason });
    }

    fn usage(&mut self, chunk: &Value, out: &mut Vec<Delta>) {
        let field = chunk.get("usage").filter(|usage| usage.is_object());
        let field = field.or_else(|| chunk.get("x_groq").and_then(|groq| groq.get("usage")));
        let Some(field) = field else { return };
        let number = |key: &str| field.get(key).and_then(Value::as_u64);
        let details = field.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
        let usage = Usage {
            input: number("prompt_tokens"),
            output: number("completion_tokens"),
            cached: details.and_then(Value::as_u64).or_else(|| number("prompt_cache_hit_tokens")),
        };
        if usage != self.usage && usage != Usage::default() {
            self.usage = usage;
            out.push(Delta::Usage { usage });
        }
    }
}

/// Adds a piece of `reasoning_details`: text of one entry streams in pieces with the same type and index.
fn merge_detail(details: &mut Vec<Value>, piece: &Value) {
    let Some(piece_fields) = piece.as_object() else { return };
    let same = |last: &Value, key: &str| last.get(key) == piece.get(key);
    let last = details.last_mut().filter(|last| same(last, "type") && same(last, "index") && same(last, "id"));
    let Some(Value::Object(last)) = last else {
        details.push(piece.clone());
        return;
    };
    for (key, value) in piece_fields {
        match (last.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) if matches!(key.as_str(), "text" | "summary" | "data") => {
                text.push_str(more);
            }
            (_, Value::Null) => {}
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}
