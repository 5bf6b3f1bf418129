//! Puts one answer together from the pieces that a model streams.
//!
//! It keeps order and provider data as they came; it never repairs or parses what it collects.

use std::fmt;

use super::call::CallId;
use super::message::{AssistantMessage, Delta, Opaque, Part, Reasoning, StopReason, ToolCall, Usage};
use crate::access::Risk;
use crate::access::name::shown;

/// An answer that grows past this many bytes is broken off.
pub(super) const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// An answer with more calls than this is broken off.
pub(super) const CALL_LIMIT: usize = 128;

/// Why an answer is broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// More than [`ANSWER_LIMIT`] bytes.
    Bytes,
    /// More than [`CALL_LIMIT`] calls.
    Calls,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => write!(f, "the answer grew past {} MiB", ANSWER_LIMIT / (1024 * 1024)),
            Self::Calls => write!(f, "the answer makes more than {CALL_LIMIT} calls"),
        }
    }
}

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
    /// Takes one piece.
    ///
    /// # Errors
    /// The answer has reached a bound, and this piece was left out.
    pub(super) fn push(&mut self, delta: Delta) -> Result<(), TooMuch> {
        self.bytes += match &delta {
            Delta::Text { text } | Delta::Reasoning { text } | Delta::CallArguments { text, .. } => text.len(),
            Delta::CallStart { id, name, .. } => 64 + id.len() + name.len(),
            Delta::ReasoningData { opaque } | Delta::CallData { opaque, .. } => 64 + opaque.bytes(),
            Delta::Usage { .. } | Delta::Stop { .. } => 0,
        };
        if self.bytes > ANSWER_LIMIT {
            return Err(TooMuch::Bytes);
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
                    if self.calls.len() == CALL_LIMIT {
                        return Err(TooMuch::Calls);
                    }
                    self.calls.push((index, self.parts.len()));
                    self.parts.push(Part::Call(ToolCall {
                        id: CallId(0),
                        provider_id: id,
                        shown: String::new(),
                        wire: name,
                        risk: None,
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
        Ok(())
    }

    /// The wire name, bounded, of the call that is being written, by the decoder's index, and bytes of its arguments so far.
    pub(super) fn writing(&mut self, index: usize) -> Option<(String, usize)> {
        self.call(index).map(|call| (shown(&call.wire), call.arguments.len()))
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
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// A whole answer, or what was said before a stop (`stop` stays as streamed). Calls are numbered from `next`, which
    /// moves on; `known` gives each wire name's name for people, and its risk.
    pub(super) fn finish(mut self, next: &mut u64, known: impl Fn(&str) -> (String, Option<Risk>)) -> AssistantMessage {
        for part in &mut self.parts {
            if let Part::Call(call) = part {
                call.id = CallId(*next);
                (call.shown, call.risk) = known(&call.wire);
                *next += 1;
            }
        }
        AssistantMessage { parts: self.parts, stop: self.stop }
    }

    /// Its words so far.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What is kept of an answer that failed: its words. Its calls never came to be.
    pub(super) fn words(mut self) -> AssistantMessage {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn opaque(key: &str) -> Opaque {
        let fields = json!({key: key});
        Opaque { wire: "w".to_owned(), fields: fields.as_object().cloned().unwrap_or_default() }
    }

    fn stream(deltas: Vec<Delta>) -> AssistantMessage {
        let mut stream = Stream::default();
        for delta in deltas {
            stream.push(delta).unwrap();
        }
        stream.finish(&mut 7, |wire| (format!("shown.{wire}"), None))
    }

    fn text(text: &str) -> Delta {
        Delta::Text { text: text.to_owned() }
    }

    fn reasoning(text: &str) -> Delta {
        Delta::Reasoning { text: text.to_owned() }
    }

    fn start(index: usize, name: &str) -> Delta {
        Delta::CallStart { index, id: format!("p{index}"), name: name.to_owned() }
    }

    fn arguments(index: usize, text: &str) -> Delta {
        Delta::CallArguments { index, text: text.to_owned() }
    }

    #[test]
    fn parts_keep_the_order_in_which_they_began() {
        let message = stream(vec![
            reasoning("a"),
            text("b"),
            text("c"),
            start(0, "one"),
            start(1, "two"),
            arguments(0, "{"),
            arguments(1, "[]"),
            text("d"),
            arguments(0, "}"),
            reasoning("e"),
        ]);
        let shape: Vec<_> = message
            .parts
            .iter()
            .map(|part| match part {
                Part::Text { text } => text.clone(),
                Part::Reasoning(reasoning) => format!("({})", reasoning.text),
                Part::Call(call) => format!("{} {}{}", call.id, call.shown, call.arguments),
            })
            .collect();
        assert_eq!(shape, ["(a)", "bc", "call-7 shown.one{}", "call-8 shown.two[]", "d", "(e)"]);
    }

    #[test]
    fn provider_data_closes_the_open_reasoning_or_stands_alone() {
        let message = stream(vec![
            Delta::ReasoningData { opaque: opaque("alone") },
            reasoning("a"),
            reasoning("b"),
            Delta::ReasoningData { opaque: opaque("closes") },
            reasoning("c"),
            Delta::ReasoningData { opaque: opaque("closes too") },
            Delta::ReasoningData { opaque: opaque("alone again") },
        ]);
        let shape: Vec<_> = message
            .parts
            .iter()
            .map(|part| match part {
                Part::Reasoning(Reasoning { text, opaque }) => {
                    let keys = opaque.iter().flat_map(|opaque| opaque.fields.keys());
                    format!("{text}: {}", keys.cloned().collect::<String>())
                }
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(shape, [": alone", "ab: closes", "c: closes too", ": alone again"]);
    }

    #[test]
    fn a_call_keeps_all_its_provider_data_and_only_its_own() {
        let message = stream(vec![
            start(0, "one"),
            start(0, "again"),
            Delta::CallData { index: 0, opaque: opaque("a") },
            Delta::CallData { index: 0, opaque: opaque("b") },
            Delta::CallData { index: 3, opaque: opaque("c") },
            arguments(3, "lost"),
        ]);
        let calls: Vec<_> = message.calls().collect();
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].wire.as_str(), calls[0].arguments.as_str()), ("one", ""));
        assert_eq!(calls[0].opaque.as_ref().map(|opaque| opaque.fields.len()), Some(2));
    }

    #[test]
    fn later_counts_replace_only_what_they_have() {
        let mut stream = Stream::default();
        for usage in [
            Usage { input: Some(5), output: Some(1), cached: None },
            Usage { input: None, output: Some(9), cached: Some(2) },
        ] {
            stream.push(Delta::Usage { usage }).unwrap();
        }
        assert_eq!(stream.usage(), Usage { input: Some(5), output: Some(9), cached: Some(2) });
    }

    #[test]
    fn provider_data_without_end_is_broken_off_at_the_same_bound() {
        let mut stream = Stream::default();
        let fields = json!({"signature": "x".repeat(1024 * 1024)});
        let opaque = Opaque { wire: "w".to_owned(), fields: fields.as_object().cloned().unwrap_or_default() };
        let taken =
            (0..100).take_while(|_| stream.push(Delta::ReasoningData { opaque: opaque.clone() }).is_ok()).count();
        assert_eq!(taken, 15);
    }

    #[test]
    fn an_answer_without_end_is_broken_off_at_its_bound() {
        let mut stream = Stream::default();
        let piece = "x".repeat(1024 * 1024);
        for _ in 0..16 {
            stream.push(text(&piece)).unwrap();
        }
        assert_eq!(stream.push(text("x")), Err(TooMuch::Bytes));
        assert_eq!(stream.words().text().len(), ANSWER_LIMIT);
    }

    #[test]
    fn calls_without_end_are_broken_off_at_their_bound() {
        let mut stream = Stream::default();
        for index in 0..CALL_LIMIT {
            stream.push(start(index, "one")).unwrap();
        }
        stream.push(start(3, "known already")).unwrap();
        assert_eq!(stream.push(start(CALL_LIMIT, "one")), Err(TooMuch::Calls));
        assert_eq!(TooMuch::Calls.to_string(), "the answer makes more than 128 calls");
    }
}
