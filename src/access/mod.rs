//! The five questions a tool call passes: availability, residency, offer, approval, dispatch.
//!
//! Everything here is a pure function of (declarations, what was built, what happened so far). This room never
//! reads a file, a clock, a socket or the environment, and names no other room.

pub mod answers;
pub mod approval;
pub mod audit;
pub mod available;
pub mod capability;
pub mod conditions;
pub mod declare;
pub mod diff;
pub mod explain;
pub mod grant;
pub mod held;
pub mod installed;
pub mod mode;
pub mod name;
pub mod offer;
pub(crate) mod planted;
pub mod policy;
mod reason;
pub mod registry;
pub mod report;
mod validate;
mod worker;
pub mod world;

pub use approval::{Attendance, CallFacts, Sight};
pub use available::Role;
pub use conditions::{AllowList, Conditions, Life, Trigger};
pub use declare::{AgentDeclaration, Available, Declarations, Fault};
pub use explain::{Approval, Explanation, Finding, Outcome, explain, off};
pub use grant::{Answer, Grant};
pub use held::{Arrival, Held, HeldTool, LoadOutcome, Slot};
pub use mode::ModeName;
pub use name::{AgentName, GateEntry, Owner, Span, Spanned, ToolId, ToolName, ToolsetName, WireName};
pub use offer::{Filter, Ledger, Offer, Withheld, offer};
pub use policy::{AskReason, BuildRefusal, Decision, GateList};
pub use reason::{Place, Reason};
pub use registry::{Kind, RegisterError, Registry, Risk, ToolFacts, ToolsetFacts, screen};
pub use report::{AgentReport, report};
pub use worker::Nested;
pub use world::{Fact, Workflow, World};
