//! One reason of an answer, with the place or the event that decided it.
//!
//! Texts for people only; nothing is decided by them.

use std::fmt;

use serde::{Serialize, Serializer};

use super::name::Span;

/// Where a reason comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A word of the configuration.
    Config(Span),
    /// Something that happened: `call-7`, `its health check`.
    Event(String),
}

/// One reason; shown as `reason, line 12` or `reason (call-7)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// For people: a sentence fragment.
    pub text: String,
    /// What decided it; `None`: a rule of the program.
    pub place: Option<Place>,
}

impl Reason {
    /// A reason that no word and no event decided.
    pub(super) fn rule(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: None }
    }

    /// A reason that stands in the configuration. A span that names no line is none.
    pub(super) fn at(text: impl Into<String>, span: Span) -> Self {
        Self { text: text.into(), place: (span.line > 0).then_some(Place::Config(span)) }
    }

    /// A reason that something which happened decided.
    pub(super) fn event(text: impl Into<String>, event: impl Into<String>) -> Self {
        Self { text: text.into(), place: Some(Place::Event(event.into())) }
    }

    /// The line of the configuration that decided it, if one did.
    pub fn line(&self) -> Option<usize> {
        match &self.place {
            Some(Place::Config(span)) => Some(span.line),
            Some(Place::Event(_)) | None => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.place {
            Some(Place::Config(span)) => write!(f, ", line {}", span.line),
            Some(Place::Event(event)) => write!(f, " ({event})"),
            None => Ok(()),
        }
    }
}

/// `{"text", "line", "column", "event"}`, the last three only where there are any.
impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("text", &self.text)?;
        match &self.place {
            Some(Place::Config(span)) => {
                map.serialize_entry("line", &span.line)?;
                map.serialize_entry("column", &span.column)?;
            }
            Some(Place::Event(event)) => map.serialize_entry("event", event)?,
            None => {}
        }
        map.end()
    }
}
