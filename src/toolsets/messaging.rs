//! `messaging`: words between the agents of one turn, and a look at those that run in the background. It only asks: who is
//! there, who is reached and who may be stopped is the tree's to say.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::delegate::Request;
use crate::tool::{BuildError, CallContext, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// Characters of one message.
const MAX_TEXT_CHARS: usize = 20_000;

/// Characters of an address: a name, `#` and a number.
const MAX_ADDRESS_CHARS: usize = 100;

/// Addresses that one call waits for.
const MAX_ADDRESSES: usize = 100;

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
            |Send { to, text }, context| ask(message(to, text), &context),
        );
        let list = Function::new(
            "list_agents",
            include_str!("../../assets/tools/list_agents.md"),
            Risk::Read,
            |List {}, context| ask(Ok(Request::List), &context),
        );
        let check = Function::new(
            "check_agent",
            include_str!("../../assets/tools/check_agent.md"),
            Risk::Read,
            |Check { address: given }, context| {
                ask(address("address", &given).map(|address| Request::Check { address }), &context)
            },
        );
        let wait = Function::new(
            "await_agents",
            include_str!("../../assets/tools/await_agents.md"),
            Risk::Read,
            |Await { addresses: given }, context| {
                ask(addresses(&given).map(|addresses| Request::Await { addresses }), &context)
            },
        );
        let stop = Function::new(
            "stop_agent",
            include_str!("../../assets/tools/stop_agent.md"),
            Risk::Write,
            |Stop { address: given }, context| {
                ask(address("address", &given).map(|address| Request::Stop { address }), &context)
            },
        );
        Ok([send, list, check, wait, stop].into_iter().map(Function::boxed).collect())
    }
}

/// Asks, unless the arguments are out of bounds already.
fn ask(request: Result<Request, String>, context: &CallContext) -> BoxFuture<'static, Output> {
    match request {
        Ok(request) => context.agents.ask(request),
        Err(fault) => ready(Output::failed(fault)).boxed(),
    }
}

/// The words are sent as they are; whether blank ones are is the tree's to say.
fn message(to: String, text: String) -> Result<Request, String> {
    let length = text.chars().count();
    if length > MAX_TEXT_CHARS {
        return Err(format!(
            "A message has at most {MAX_TEXT_CHARS} characters; this one has {length}. Nothing was sent. Send what matters, or \
             write a file and send its path."
        ));
    }
    let to = address("to", &to)?;
    Ok(Request::Send { to, text })
}

/// An address or a selector without the spaces around it.
fn address(argument: &str, given: &str) -> Result<String, String> {
    let address = given.trim();
    if address.is_empty() {
        return Err(format!("{argument} must not be empty; list_agents shows every address."));
    }
    if address.chars().count() > MAX_ADDRESS_CHARS {
        return Err(format!("{argument} is no address: it is over {MAX_ADDRESS_CHARS} characters long."));
    }
    Ok(address.to_owned())
}

/// Each of them once, in the order given.
fn addresses(given: &[String]) -> Result<Vec<String>, String> {
    let mut all: Vec<String> = Vec::new();
    for one in given {
        let one = address("each of addresses", one)?;
        if !all.contains(&one) {
            all.push(one);
        }
        if all.len() > MAX_ADDRESSES {
            return Err(format!("addresses are at most {MAX_ADDRESSES}; these are {}.", given.len()));
        }
    }
    if all.is_empty() {
        return Err("addresses must name somebody; list_agents shows every address.".to_owned());
    }
    Ok(all)
}
