//! Framing: from bytes, cut anywhere, to the frames of an event stream or of JSON lines.
//!
//! Pure; it reads no field of a frame. Lenient where the event-stream standard is (unknown fields, fields without a
//! colon, a missing blank line at the end), because model servers are not all written with care.

use crate::agent::Failure;

use super::failure::{Place, malformed};

/// Bytes that one frame may have; more is no model's answer.
const FRAME_LIMIT: usize = 16 << 20;

/// How a wire cuts its stream into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
    /// One JSON value, the whole body.
    Whole,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The event's name, where the framing has one and the server sent it.
    pub event: Option<String>,
    /// Its data.
    pub data: String,
}

/// Puts frames together from bytes. Any cut of the same bytes gives the same frames.
#[derive(Debug)]
pub struct Frames {
    framing: Framing,
    place: Place,
    line: Vec<u8>,
    after_carriage_return: bool,
    first_line: bool,
    event: Option<String>,
    data: Option<String>,
}

impl Frames {
    /// No byte seen yet. `place` is for the failure's sentence.
    pub fn new(framing: Framing, place: Place) -> Self {
        Self {
            framing,
            place,
            line: Vec::new(),
            after_carriage_return: false,
            first_line: true,
            event: None,
            data: None,
        }
    }

    /// Takes bytes and appends the frames that they complete.
    ///
    /// # Errors
    /// A frame over 16 MiB.
    pub fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), Failure> {
        if self.framing == Framing::Whole {
            return self.append(bytes);
        }
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_carriage_return) && first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.append(rest);
            };
            let (head, tail) = rest.split_at(end);
            self.append(head)?;
            self.after_carriage_return = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            self.end_line(&String::from_utf8_lossy(&line), frames)?;
        }
        Ok(())
    }

    /// The frame that the end of the stream completes, if something is left.
    pub fn finish(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        match self.framing {
            Framing::Whole | Framing::Lines => {
                (!line.trim().is_empty()).then(|| Frame { event: None, data: line.into_owned() })
            }
            Framing::Events => {
                // A line without its end is taken only where it is the data of the last frame.
                if line.starts_with("data") {
                    self.field(&line).ok()?;
                }
                self.dispatch()
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > FRAME_LIMIT {
            return Err(malformed(&self.place, "one frame of the stream is over 16 MiB"));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, line: &str, frames: &mut Vec<Frame>) -> Result<(), Failure> {
        let line = if std::mem::take(&mut self.first_line) { line.trim_start_matches('\u{feff}') } else { line };
        match self.framing {
            Framing::Events if line.is_empty() => frames.extend(self.dispatch()),
            Framing::Events => self.field(line)?,
            Framing::Lines | Framing::Whole => {
                if !line.trim().is_empty() {
                    frames.push(Frame { event: None, data: line.to_owned() });
                }
            }
        }
        Ok(())
    }

    fn field(&mut self, line: &str) -> Result<(), Failure> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => self.event = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) if data.len() + value.len() > FRAME_LIMIT => {
                    return Err(malformed(&self.place, "one frame of the stream is over 16 MiB"));
                }
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment has an empty name; id and retry mean nothing to a call that is never resumed.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let event = self.event.take();
        self.data.take().map(|data| Frame { event, data })
    }
}
