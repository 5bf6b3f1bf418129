//! One agent's run as a pure machine, and the vocabulary that models, tools, stores and screens share with it.
//!
//! `Run::step` turns an input into effects. This room never waits, reads a clock, or names another room but `access`.

pub mod call;
pub mod command;
pub mod effect;
pub mod input;
pub mod message;
pub mod prompt;
pub mod record;
pub mod run;
pub mod update;

pub use call::{CallId, Ending};
pub use command::Command;
pub use effect::{Ask, Effect, TurnEnd};
pub use input::{BuiltTool, Input, LoadedToolset, Moment, ToolOutcome};
pub use message::{
    AssistantMessage, CallKind, Delta, Failure, FailureKind, Message, Opaque, Part, Reasoning, Request, ResultMessage,
    Retry, StopReason, ToolCall, ToolChoice, ToolDefinition, Usage, UserMessage, UserOrigin,
};
pub use record::Record;
pub use run::{AgentSpec, Run};
pub use update::{Alert, CallLine, ConversationSummary, Event, Severity, Update};
