//! One agent's run as a pure machine, and the vocabulary that models, tools, stores and screens share with it.
//!
//! `Run::step` turns an input into effects. This room never waits, reads a clock, or names another room but `access`.
//!
//! # What a driver owes a run
//!
//! Effects are carried out in the order given, all of them before the next input. A [`Record`] is on disk before the
//! effects after it begin. These effects want an input back, each exactly one unless it is cancelled:
//!
//! | effect | input it wants | cancelled by |
//! |---|---|---|
//! | [`Effect::CallModel`] | any number of [`Input::Delta`], then [`Input::ModelEnded`] | [`Effect::CancelModel`] |
//! | [`Effect::RetryAfter`] | [`Input::RetryDue`] when the time is over | [`Effect::CancelModel`] |
//! | [`Effect::Check`] | [`Input::Checked`], against [`Run::definition`] of its tool | nothing: answer at once |
//! | [`Effect::Ask`] | [`Input::Answered`] or [`Input::Edited`]; the driver tells [`Event::Ask`] with the card's preview | [`Effect::Withdraw`] |
//! | [`Effect::Run`] | [`Input::ToolEnded`] | [`Effect::CancelRun`] |
//! | [`Effect::Load`] | [`Input::LoadEnded`], after the build was reported to `World` | [`Effect::CancelRun`] |
//!
//! [`Effect::Record`], [`Effect::Tell`], [`Effect::Grant`] and the cancelling effects want nothing back.
//!
//! - Inputs that name a call may come late, twice or for a call that ended: they are ignored, because a [`CallId`] is
//!   never used again in its conversation.
//! - [`Input::Delta`], [`Input::ModelEnded`] and [`Input::RetryDue`] name no call: after [`Effect::CancelModel`] the driver
//!   must not pass on what the dropped model call or wait still had to say.
//! - [`Input::Said`], [`Input::Stop`] and [`Input::Leave`] may come at any time.
//! - A turn is open from the [`Input::Said`] that found none until [`Event::End`]; between turns a run has no effects.
//! - At the program's end: [`Input::Leave`], carry out the effects, then drop the run.

mod audit;
pub mod call;
pub mod command;
pub mod cost;
pub mod delegate;
pub mod effect;
pub mod failure;
pub mod input;
pub mod loaders;
mod mail;
pub mod message;
pub mod node;
pub mod prompt;
pub mod record;
pub mod replay;
mod round;
pub mod run;
mod stream;
pub mod title;
mod tree;
mod turn;
pub mod update;

pub use call::{CallId, Ending, canonical};
pub use command::Command;
pub use delegate::{Request as AgentsRequest, Wiring, Worker};
pub use effect::{Ask, Asker, Author, Effect, TurnEnd};
pub use input::{BuiltTool, Input, LoadedToolset, MailKind, Moment, ToolOutcome};
pub use loaders::{core_tools, core_tools_of, define_core, loads};
pub use mail::sender;
pub use message::{
    AssistantMessage, CallKind, Delta, Failure, FailureKind, Message, Opaque, Part, Reasoning, Request, ResultMessage,
    Retry, StopReason, ToolCall, ToolChoice, ToolDefinition, Usage, UserMessage, UserOrigin,
};
pub use node::{Ground, NodeId, Spawned};
pub use record::{OfferRecord, Record};
pub use replay::replay;
pub use run::{AgentSpec, Run, Skipped};
pub use title::{placeholder, title_from, title_request};
pub use tree::{ANSWER_LIMIT, Tree, TreeInput};
pub use turn::QUEUE_LIMIT;
pub use update::{Activity, Alert, CallLine, ConversationSummary, Event, Severity, Update};
