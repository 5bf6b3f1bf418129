//! The seam every capability arrives through: what a toolset and a tool are, and what they may use.
//!
//! Built-in, plugin, skill and MCP toolsets all implement [`Toolset`]; nothing gets in another way. This room knows no
//! provider of tools and no front end.

pub mod agents;
pub mod arguments;
pub mod check;
pub mod function;
pub mod output;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::access::{ToolFacts, ToolName, WireName};
use crate::agent::{NodeId, ToolDefinition};

pub use crate::access::{Kind, Risk, Trigger};
pub use crate::agent::update::Preview;
pub use agents::Agents;
pub use function::Function;
pub use output::{Outcome, Output};

/// What a build may use. Everything a toolset needs beyond this it was given when it was registered.
#[derive(Debug, Clone)]
pub struct Services {
    /// `$KOKUA_HOME/data`.
    pub data: PathBuf,
    /// Where the program was started.
    pub working_directory: PathBuf,
}

/// Why a build failed: a lower-case fragment that names what and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildError(pub String);

/// Asks how a tool is (W2). `Err`: not now, and why, as a lower-case fragment for people. May block; it is run off the event
/// loop.
pub type Check = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// A named group of tools.
pub trait Toolset: Send + Sync {
    /// Its name: unique in the registry (A3).
    fn name(&self) -> &str;
    /// Its provider.
    fn kind(&self) -> Kind;
    /// One sentence, for people and for `available_tools`.
    fn description(&self) -> &str;
    /// What its holder is told beyond its tools' descriptions, if anything (R8).
    fn guidance(&self) -> Option<&str> {
        None
    }
    /// Only the entry agent may list it (A7).
    fn entry_agent_only(&self) -> bool {
        false
    }
    /// Slash commands that whoever makes it available can use, loaded or not (R19).
    fn commands(&self) -> &[&str] {
        &[]
    }
    /// The health check of one of its tools (W2), if it has one; a tool without one is always well. This only makes the check:
    /// it must not block.
    fn check(&self, tool: &str) -> Option<Check> {
        let _ = tool;
        None
    }
    /// Makes its tools for one agent. May block; it is run off the event loop, with a time limit.
    ///
    /// # Errors
    /// A fragment that says what failed and where.
    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError>;
}

/// What a tool is, before it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Declared name, verbatim.
    pub name: String,
    /// For the model.
    pub description: String,
    /// An object schema, already without noise (`arguments::schema_of`).
    pub schema: Value,
    /// What it may touch.
    pub risk: Risk,
    /// What it waits for before it is offered (W7), if anything.
    pub trigger: Option<Trigger>,
}

/// What a call is told of where it runs.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The conversation.
    pub conversation: String,
    /// The calling agent.
    pub agent: String,
    /// Which of the conversation's agents that is: two workers of one table have one name.
    pub node: NodeId,
    /// The other agents of its turn.
    pub agents: Agents,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// One tool of a build.
pub trait Tool: Send + Sync {
    /// What it is.
    fn spec(&self) -> &ToolSpec;
    /// What a person should see on the card beyond the arguments. May read files.
    fn preview(&self, arguments: &Value) -> Preview {
        let _ = arguments;
        Preview::default()
    }
    /// Runs it. The arguments fit the schema. Dropping the future cancels it and all it started.
    fn call(&self, arguments: Value, context: CallContext) -> BoxFuture<'static, Output>;
}

/// What access knows of a tool. `bytes` is the length of `{"name":…,"description":…,"schema":…}` as compact JSON: what
/// one model call pays for it; `digest` is the SHA-256 of the same text in hex (O3).
pub fn facts(spec: &ToolSpec) -> ToolFacts {
    let definition = definition(spec);
    ToolFacts {
        name: ToolName::new(&spec.name),
        risk: spec.risk,
        bytes: definition.bytes(),
        digest: definition.digest(),
        trigger: spec.trigger,
        schema: Arc::new(definition.schema),
    }
}

/// What a request carries of a tool. The wire name is the declared one until the held list sets it (N5).
pub fn definition(spec: &ToolSpec) -> ToolDefinition {
    ToolDefinition {
        wire: WireName::new(&spec.name),
        description: spec.description.clone(),
        schema: spec.schema.clone(),
    }
}

/// SHA-256 in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "echo".to_owned(),
            description: "Says it.".to_owned(),
            schema: json!({ "type": "object" }),
            risk: Risk::Read,
            trigger: None,
        }
    }

    #[test]
    fn bytes_and_digest_are_those_of_the_compact_definition() {
        let text = r#"{"name":"echo","description":"Says it.","schema":{"type":"object"}}"#;
        let facts = facts(&spec());
        assert_eq!(facts.bytes, text.len());
        assert_eq!(facts.digest, digest(text.as_bytes()));
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn o3_any_change_of_a_definition_changes_its_digest() {
        let mut changed = spec();
        changed.schema = json!({ "type": "object", "properties": {} });
        assert_ne!(facts(&changed).digest, facts(&spec()).digest);
    }

    #[test]
    fn a_definition_carries_the_declared_name_until_the_held_list_sets_another() {
        assert_eq!(definition(&spec()).wire.as_str(), "echo");
    }
}
