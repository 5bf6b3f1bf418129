//! Puts one answer together from the pieces that a model streams.
//!
//! It keeps order and provider data as they came; it never repairs or parses what it collects.

use super::call::CallId;
use super::message::{AssistantMessage, Delta, Opaque, Part, Reasoning, StopReason, ToolCall, Usage};

/// An answer that grows past this many bytes is broken off.
pub const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// An answer so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stream {
    parts: Vec<Part>,
    /// The decoder's index of a call and its place in `parts`.
    calls: Vec<(usize, usize)>,
    usage: Usage,
    stop: Option<StopReason>,
    bytes: usize,
}

impl Stream {
    /// Takes one piece. `false`: the answer is longer than [`ANSWER_LIMIT`] and this piece was left out.
    #[must_use]
    pub fn push(&mut self, delta: Delta) -> bool {
        self.bytes += match &delta {
            Delta::Text { text } | Delta::Reasoning { text } | Delta::CallArguments { text, .. } => text.len(),
            Delta::CallStart { id, name, .. } => 64 + id.len() + name.len(),
            Delta::ReasoningData { .. } | Delta::CallData { .. } => 64,
            Delta::Usage { .. } | Delta::Stop { .. } => 0,
        };
        if self.bytes > ANSWER_LIMIT {
            return false;
        }
        match delta {
            Delta::Text { text } => self.text(text),
            Delta::Reasoning { text } => self.reasoning(text),
            Delta::ReasoningData { opaque } => match self.parts.last_mut() {
                Some(Part::Reasoning(Reasoning { opaque: open @ None, .. })) => *open = Some(opaque),
                _ => self.parts.push(Part::Reasoning(Reasoning { text: String::new(), opaque: Some(opaque) })),
            },
            Delta::CallStart { index, id, name } => {
                if self.calls.iter().all(|(known, _)| *known != index) {
                    self.calls.push((index, self.parts.len()));
                    self.parts.push(Part::Call(ToolCall {
                        id: CallId(0),
                        provider_id: id,
                        shown: String::new(),
                        wire: name,
                        arguments: String::new(),
                        opaque: None,
                    }));
                }
            }
            Delta::CallArguments { index, text } => {
                if let Some(call) = self.call(index) {
                    call.arguments.push_str(&text);
                }
            }
            Delta::CallData { index, opaque } => {
                if let Some(call) = self.call(index) {
                    merge(&mut call.opaque, opaque);
                }
            }
            Delta::Usage { usage } => {
                self.usage.input = usage.input.or(self.usage.input);
                self.usage.output = usage.output.or(self.usage.output);
                self.usage.cached = usage.cached.or(self.usage.cached);
            }
            Delta::Stop { reason } => self.stop = Some(reason),
        }
        true
    }

    fn text(&mut self, text: String) {
        if let Some(Part::Text { text: open }) = self.parts.last_mut() {
            open.push_str(&text);
        } else if !text.is_empty() {
            self.parts.push(Part::Text { text });
        }
    }

    fn reasoning(&mut self, text: String) {
        if let Some(Part::Reasoning(Reasoning { text: open, opaque: None })) = self.parts.last_mut() {
            open.push_str(&text);
        } else if !text.is_empty() {
            self.parts.push(Part::Reasoning(Reasoning { text, opaque: None }));
        }
    }

    fn call(&mut self, index: usize) -> Option<&mut ToolCall> {
        let (_, place) = self.calls.iter().find(|(known, _)| *known == index)?;
        match self.parts.get_mut(*place) {
            Some(Part::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// The tokens counted so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// A whole answer, or what was said before a stop (`stop` stays as streamed). Calls are numbered from `next`, which
    /// moves on; `shown` names each wire name for people.
    pub fn finish(mut self, next: &mut u64, shown: impl Fn(&str) -> String) -> AssistantMessage {
        for part in &mut self.parts {
            if let Part::Call(call) = part {
                call.id = CallId(*next);
                call.shown = shown(&call.wire);
                *next += 1;
            }
        }
        AssistantMessage { parts: self.parts, stop: self.stop }
    }

    /// What is kept of an answer that failed: its words. Its calls never came to be.
    pub fn words(mut self) -> AssistantMessage {
        self.parts.retain(|part| !matches!(part, Part::Call(_)));
        AssistantMessage { parts: self.parts, stop: None }
    }
}

fn merge(kept: &mut Option<Opaque>, more: Opaque) {
    match kept {
        Some(kept) if kept.wire == more.wire => kept.fields.extend(more.fields),
        _ => *kept = Some(more),
    }
}
