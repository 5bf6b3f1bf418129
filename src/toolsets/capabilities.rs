//! `capabilities`: what is installed, and workers composed from it. It only asks: who may compose what is access's to say,
//! and the tree runs it.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::agent::delegate::Request;
use crate::tool::{BuildError, CallContext, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// Characters of a task, and of instructions.
const MAX_CHARS: usize = 50_000;

/// The toolset.
pub(super) struct Capabilities;

#[derive(Deserialize, JsonSchema)]
struct List {
    /// Part of a name or description.
    #[serde(default)]
    filter: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compose {
    /// What to call it: one short word, letters, digits, '-' and '_'.
    name: String,
    /// Everything that it needs to know: it sees nothing of this conversation.
    task: String,
    /// Names from list_capabilities.
    tools: Vec<String>,
    /// Who it is and how it works.
    #[serde(default)]
    instructions: String,
}

impl Toolset for Capabilities {
    fn name(&self) -> &'static str {
        "capabilities"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "See what is installed, and compose a worker from it for one task."
    }

    fn guidance(&self) -> Option<&str> {
        Some(include_str!("../../assets/prompts/capabilities.md").trim())
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let list = Function::new(
            "list_capabilities",
            include_str!("../../assets/tools/list_capabilities.md"),
            Risk::Read,
            |List { filter }, context: CallContext| context.agents.ask(Request::Capabilities { filter }),
        );
        let compose = Function::new(
            "compose_subagent",
            include_str!("../../assets/tools/compose_subagent.md"),
            Risk::Exec,
            |given: Compose, context| compose(given, &context),
        );
        Ok(vec![list.boxed(), compose.boxed()])
    }
}

fn compose(given: Compose, context: &CallContext) -> BoxFuture<'static, Output> {
    let Compose { name, task, tools, instructions } = given;
    let long = |words: &str| words.chars().count() > MAX_CHARS;
    if long(&task) || long(&instructions) {
        let text =
            format!("task and instructions have at most {MAX_CHARS} characters each. Write a file and name its path.");
        return ready(Output::failed(text)).boxed();
    }
    context.agents.ask(Request::Compose { label: name, task, toolsets: tools, instructions })
}
