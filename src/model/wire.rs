//! The wires: which encoder, which decoder, which framing, and the whole pure way from bytes to deltas.
//!
//! No I/O; `http` brings the bytes.

use serde_json::Value;

use crate::agent::{Delta, Failure, FailureKind, Request};

use super::failure::cut;
use super::options::ModelOptions;
use super::sse::{Frame, Frames, Framing};
use super::{anthropic, ollama, openai};

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `OpenAI`'s Chat Completions.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
    /// Ollama's own.
    Ollama,
}

impl Wire {
    /// The body of a request.
    pub fn encode(self, request: &Request, options: &ModelOptions) -> Value {
        match self {
            Self::OpenAi => openai::encode(request, options),
            Self::Anthropic => anthropic::encode(request, options),
            Self::Ollama => ollama::encode(request, options),
        }
    }

    /// How its streams are framed.
    pub const fn framing(self) -> Framing {
        match self {
            Self::OpenAi | Self::Anthropic => Framing::Events,
            Self::Ollama => Framing::Lines,
        }
    }
}

/// The state machine of one stream.
#[derive(Debug)]
pub enum Decoder {
    /// `OpenAI`'s.
    OpenAi(openai::Decoder),
    /// Anthropic's.
    Anthropic(anthropic::Decoder),
    /// Ollama's.
    Ollama(ollama::Decoder),
}

impl Decoder {
    /// For one stream of `wire`.
    pub fn new(wire: Wire, options: &ModelOptions) -> Self {
        match wire {
            Wire::OpenAi => Self::OpenAi(openai::Decoder::new(options)),
            Wire::Anthropic => Self::Anthropic(anthropic::Decoder::new(options)),
            Wire::Ollama => Self::Ollama(ollama::Decoder::new(options)),
        }
    }

    fn push(&mut self, frame: &Frame) -> Result<Vec<Delta>, Failure> {
        match self {
            Self::OpenAi(decoder) => decoder.push(frame),
            Self::Anthropic(decoder) => decoder.push(frame),
            Self::Ollama(decoder) => decoder.push(frame),
        }
    }

    fn finish(&mut self) -> Result<Vec<Delta>, Failure> {
        match self {
            Self::OpenAi(decoder) => decoder.finish(),
            Self::Anthropic(decoder) => decoder.finish(),
            Self::Ollama(decoder) => decoder.finish(),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::OpenAi(decoder) => decoder.is_done(),
            Self::Anthropic(decoder) => decoder.is_done(),
            Self::Ollama(decoder) => decoder.is_done(),
        }
    }

    fn has_stopped(&self) -> bool {
        match self {
            Self::OpenAi(decoder) => decoder.has_stopped(),
            Self::Anthropic(decoder) => decoder.has_stopped(),
            Self::Ollama(decoder) => decoder.has_stopped(),
        }
    }
}

/// Framing and decoding of one answer: bytes in, deltas out. Any cut of the same bytes gives the same deltas.
#[derive(Debug)]
pub struct Decoding {
    options: ModelOptions,
    frames: Frames,
    decoder: Decoder,
}

impl Decoding {
    /// For one answer of `wire`, framed as `framing` (a server may answer whole though it was asked to stream).
    pub fn new(wire: Wire, framing: Framing, options: &ModelOptions) -> Self {
        Self {
            options: options.clone(),
            frames: Frames::new(framing, options.place.clone()),
            decoder: Decoder::new(wire, options),
        }
    }

    /// Takes bytes. Deltas that they complete are appended, those before a failure too.
    ///
    /// # Errors
    /// An error inside the stream, or bytes that are not this wire.
    pub fn push(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), Failure> {
        let mut frames = Vec::new();
        let whole = self.frames.push(bytes, &mut frames);
        for frame in &frames {
            deltas.extend(self.decoder.push(frame)?);
        }
        whole
    }

    /// The answer ended.
    ///
    /// # Errors
    /// It broke off, or what was left of it is an error.
    pub fn finish(&mut self, deltas: &mut Vec<Delta>) -> Result<(), Failure> {
        if let Some(frame) = self.frames.finish() {
            match self.decoder.push(&frame) {
                Ok(more) => deltas.extend(more),
                // Half a frame at the end is a cut, not another wire; after a finish reason it is nothing.
                Err(failure) if failure.kind == FailureKind::Malformed => {
                    if self.decoder.has_stopped() {
                        return Ok(());
                    }
                    return Err(cut(&self.options.place, "the stream ended within a frame"));
                }
                Err(failure) => return Err(failure),
            }
        }
        deltas.extend(self.decoder.finish()?);
        Ok(())
    }

    /// Nothing follows: the wire's own end marker was seen.
    pub fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    /// A finish reason was seen: an end from here on is no cut.
    pub fn has_stopped(&self) -> bool {
        self.decoder.has_stopped()
    }
}
