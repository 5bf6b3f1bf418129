//! What every encoder needs to know of a conversation: ids, names and arguments that a provider accepts.
//!
//! Pure. Ids depend only on the messages before them, so the prefix of a longer request never changes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::agent::{AssistantMessage, CallId, Ending, Message, Opaque, Part, Reasoning, ToolCall};

/// What a wire takes as a call's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdRule {
    /// Anything.
    Any,
    /// At most 40 bytes.
    Short,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Nine letters and digits.
    Nine,
}

impl IdRule {
    fn takes(self, id: &str) -> bool {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match self {
            Self::Any => true,
            Self::Short => id.len() <= 40,
            Self::Word => id.len() <= 64 && id.chars().all(word),
            Self::Nine => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
        }
    }

    fn mint(self, call: CallId) -> String {
        match self {
            Self::Nine => format!("{:09}", call.0),
            _ => format!("call_{}", call.0),
        }
    }
}

/// The id each call of a request goes by: the provider's own, or a minted one where it is empty, was used before, or
/// is not what this wire takes (the conversation may have begun with another provider).
#[derive(Debug)]
pub(super) struct Ids(HashMap<CallId, (String, String)>);

impl Ids {
    /// Of these messages.
    pub(super) fn of(messages: &[Message], rule: IdRule) -> Self {
        let mut used = HashSet::new();
        let mut ids = HashMap::new();
        for call in messages.iter().filter_map(assistant).flat_map(AssistantMessage::calls) {
            let own = &call.provider_id;
            let fits = !own.is_empty() && rule.takes(own) && !used.contains(own);
            let id = if fits { own.clone() } else { rule.mint(call.id) };
            used.insert(id.clone());
            ids.insert(call.id, (id, wire_name(&call.wire)));
        }
        Self(ids)
    }

    /// A call's id; `None` for a call that no message of the request holds.
    pub(super) fn id(&self, call: CallId) -> Option<&str> {
        self.0.get(&call).map(|(id, _)| id.as_str())
    }

    /// A call's name on the wire.
    pub(super) fn name(&self, call: CallId) -> Option<&str> {
        self.0.get(&call).map(|(_, name)| name.as_str())
    }
}

fn assistant(message: &Message) -> Option<&AssistantMessage> {
    match message {
        Message::Assistant(message) => Some(message),
        Message::User(_) | Message::Result(_) => None,
    }
}

/// The name as written where a wire takes it. A model may have made up one that no wire takes; sent back as it was, it
/// would have the provider refuse the conversation for good.
pub(super) fn wire_name(written: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = written.chars().take(64).map(legal).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// The arguments as an object: `{}` where the model wrote something else (its result says what it wrote).
pub(super) fn arguments_object(call: &ToolCall) -> Map<String, Value> {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The arguments as JSON text: as received where that is JSON, else `{}`.
pub(super) fn arguments_text(call: &ToolCall) -> &str {
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
    if is_json { &call.arguments } else { "{}" }
}

/// Whether a result is an error, where the wire can say so.
pub(super) fn is_error(ending: &Ending) -> bool {
    !matches!(ending, Ending::Ok | Ending::Loaded { .. })
}

/// The provider's fields, where they came from `origin`; nobody else's are ever sent.
pub(super) fn own<'a>(opaque: Option<&'a Opaque>, origin: &str) -> Option<&'a Map<String, Value>> {
    opaque.filter(|opaque| opaque.wire == origin).map(|opaque| &opaque.fields)
}

/// The reasoning of a message's parts that came from `origin`, in order.
pub(super) fn own_reasoning<'a>(
    parts: &'a [Part],
    origin: &'a str,
) -> impl Iterator<Item = (&'a Reasoning, &'a Map<String, Value>)> {
    parts.iter().filter_map(move |part| match part {
        Part::Reasoning(reasoning) => own(reasoning.opaque.as_ref(), origin).map(|fields| (reasoning, fields)),
        Part::Text { .. } | Part::Call(_) => None,
    })
}

/// The fields of `object` that are not in `known`, empty ones apart.
pub(super) fn unknown_fields(object: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    object
        .iter()
        .filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
