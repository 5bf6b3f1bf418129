//! `messaging`: words between the agents of one turn, and a look at those that run in the background. It only asks: who is
//! there, who is reached, who may be stopped, and how long a message may be, is the tree's to say.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::delegate::Request;
use crate::tool::{BuildError, CallContext, Function, Kind, Risk, Services, Tool, Toolset};

/// The toolset.
pub(super) struct Messaging;

#[derive(Deserialize, JsonSchema)]
struct Send {
    /// An address, a name or 'everyone'.
    to: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct List {}

#[derive(Deserialize, JsonSchema)]
struct Check {
    address: String,
}

#[derive(Deserialize, JsonSchema)]
struct Await {
    addresses: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Stop {
    address: String,
}

impl Toolset for Messaging {
    fn name(&self) -> &'static str {
        "messaging"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Talk with the other agents of this turn, and look after those in the background."
    }

    fn guidance(&self) -> Option<&str> {
        Some(include_str!("../../assets/prompts/messaging.md").trim())
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let send = Function::new(
            "send_message",
            include_str!("../../assets/tools/send_message.md"),
            Risk::Write,
            |Send { to, text }, context: CallContext| context.agents.ask(Request::Send { to, text }),
        );
        let list = Function::new(
            "list_agents",
            include_str!("../../assets/tools/list_agents.md"),
            Risk::Read,
            |List {}, context: CallContext| context.agents.ask(Request::List),
        );
        let check = Function::new(
            "check_agent",
            include_str!("../../assets/tools/check_agent.md"),
            Risk::Read,
            |Check { address }, context: CallContext| context.agents.ask(Request::Check { address }),
        );
        let wait = Function::new(
            "await_agents",
            include_str!("../../assets/tools/await_agents.md"),
            Risk::Read,
            |Await { addresses }, context: CallContext| context.agents.ask(Request::Await { addresses }),
        );
        let stop = Function::new(
            "stop_agent",
            include_str!("../../assets/tools/stop_agent.md"),
            Risk::Write,
            |Stop { address }, context: CallContext| context.agents.ask(Request::Stop { address }),
        );
        Ok([send, list, check, wait, stop].into_iter().map(Function::boxed).collect())
    }
}
