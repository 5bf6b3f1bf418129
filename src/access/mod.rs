//! The five questions a tool call passes: availability, residency, offer, approval, dispatch.
//!
//! Everything here is a pure function of (declarations, what was built, what happened so far). This room never
//! reads a file, a clock, a socket or the environment, and names no other room.

pub mod answers;
pub mod audit;
pub mod available;
pub mod declare;
pub mod explain;
pub mod grant;
pub mod held;
pub mod name;
pub mod offer;
pub mod policy;
pub mod registry;
mod validate;
pub mod world;

pub use available::Role;
pub use declare::{AgentDeclaration, Available, Declarations, Fault};
pub use explain::{AgentReport, Explanation, explain, off, report};
pub use grant::{Answer, Grant};
pub use held::{Arrival, Held, HeldTool, LoadOutcome};
pub use name::{AgentName, GateEntry, Owner, Span, Spanned, ToolId, ToolName, ToolsetName, WireName};
pub use offer::{Filter, Ledger, Offer, Withheld, offer};
pub use policy::{AskReason, BuildRefusal, Decision, GateList};
pub use registry::{Kind, RegisterError, Registry, Risk, ToolFacts, ToolsetFacts, screen};
pub use world::{Attendance, CallFacts, World};
