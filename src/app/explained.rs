//! `kokua explain`: one tool of one agent, asked of the world that a start would make. No driver, no model.

use serde_json::Value;

use super::{Prepared, StartError, failed, other};
use crate::access::name::{did_you_mean, near, shown};
use crate::access::{
    AgentName, Attendance, CallFacts, Conditions, Explanation, Life, ModeName, Sight, ToolId, ToolsetName, Trigger,
    explain,
};
use crate::agent::message::UserOrigin;
use crate::agent::replay::mode;
use crate::agent::{Record, canonical};
use crate::assistant::ports::Store as _;
use crate::tool::arguments;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Whose tool.
    pub agent: AgentName,
    /// Which.
    pub tool: ToolId,
    /// The arguments of a call of it, as written.
    pub arguments: Option<String>,
    /// A stored conversation by id or unique prefix, whose loads and mode hold; `None`: a fresh one.
    pub conversation: Option<String>,
}

/// The answer, and what it was asked under.
#[derive(Debug, Clone)]
pub struct Explained {
    /// All five answers.
    pub explanation: Explanation,
    /// The mode of the conversation.
    pub mode: ModeName,
    /// The conversation's whole id.
    pub conversation: Option<String>,
}

impl Prepared {
    /// All five answers to `question`, after building what it names.
    ///
    /// # Errors
    /// There is no such agent or conversation, or the arguments are none of this tool's.
    pub async fn explain(&mut self, question: &Question) -> Result<Explained, StartError> {
        let Question { agent, tool, arguments, conversation } = question;
        self.must_be_declared(agent)?;
        let past = conversation.as_deref().map(|id| self.past(id)).transpose()?;
        let (records, id) = past.map_or((Vec::new(), None), |(id, records)| (records, Some(id)));
        // What a conversation loaded is its entry agent's; a worker of it would begin afresh, in its mode.
        let is_entry = agent == self.capabilities.world.entry();
        let loads: Vec<ToolsetName> = if is_entry {
            crate::agent::loads(&records).into_iter().map(ToolsetName::new).collect()
        } else {
            Vec::new()
        };
        for toolset in loads.iter().chain(tool.toolset()) {
            self.build_once(toolset).await;
        }
        self.ask_checks().await;
        let world = &self.capabilities.world;
        let held = world.rebuilt(agent, &loads);
        let conditions = conditions(self, &records);
        let life = Life::new(agent, &held).under(&conditions);
        let arguments = arguments.as_deref().map(|text| self.fitting(tool, text)).transpose()?;
        let call = arguments.as_deref().zip(held.get(tool)).map(|(arguments, held)| CallFacts {
            conversation: id.as_deref().unwrap_or_default(),
            agent,
            tool: held,
            arguments,
            attendance: Attendance::Attended,
            sight: Sight::OnScreen,
            allow_line: None,
        });
        let explanation = explain(world, life, tool, call.as_ref());
        let mode = conditions.mode.clone().unwrap_or_else(|| world.default_mode());
        Ok(Explained { explanation, mode, conversation: id })
    }

    fn must_be_declared(&self, agent: &AgentName) -> Result<(), StartError> {
        let agents = &self.capabilities.world.declarations().agents;
        let names: Vec<&str> = agents.iter().map(|declared| declared.name.value.as_str()).collect();
        if names.contains(&agent.as_str()) {
            return Ok(());
        }
        let hint = did_you_mean(&near(agent.as_str(), names.iter().copied(), 3))
            .unwrap_or_else(|| format!("declared agents: {}", names.join(", ")));
        Err(other(format!("no agent is named '{}'", shown(agent.as_str())), Some(hint)))
    }

    /// A stored conversation's whole id and records.
    fn past(&self, id: &str) -> Result<(String, Vec<Record>), StartError> {
        let store = super::conversations(&self.config);
        let error = |error: crate::assistant::ports::PortError| match error.cause {
            crate::assistant::ports::Cause::Asked => other(error.message, error.hint),
            crate::assistant::ports::Cause::Outside | crate::assistant::ports::Cause::Held { .. } => {
                failed(error.message, error.hint)
            }
        };
        let id = store.find(id).map_err(error)?;
        Ok((id.clone(), store.read(&id).map_err(error)?.records))
    }

    /// Arguments that fit the tool's schema, as canonical JSON after coercion.
    fn fitting(&self, tool: &ToolId, text: &str) -> Result<String, StartError> {
        let hint = || Some("write one JSON object, as a call would carry it".to_owned());
        let given = crate::agent::call::parse_arguments(text)
            .map_err(|why| other(format!("the arguments are no call's: {why}"), hint()))?;
        let built = tool.toolset().and_then(|toolset| self.capabilities.world.last_build(toolset));
        let core = crate::agent::core_tools();
        let mut known = built.into_iter().flatten().chain(core.iter().map(|tool| &tool.facts));
        let Some(facts) = known.find(|facts| facts.name == tool.name) else {
            return Ok(canonical(&Value::Object(given)));
        };
        arguments::check(tool.name.as_str(), &facts.schema, Value::Object(given))
            .map(|fit| canonical(&fit))
            .map_err(|why| other(why, hint()))
    }
}

/// What the next call of a conversation would be made under: its mode and its triggers.
fn conditions(prepared: &Prepared, records: &[Record]) -> Conditions {
    let said = records.iter().rev().filter_map(|record| match record {
        Record::TurnStarted { message, .. } | Record::Said { message, .. } if message.origin == UserOrigin::Person => {
            Some(message.text.as_str())
        }
        _ => None,
    });
    let world = &prepared.capabilities.world;
    let mode = mode(records, || prepared.mode.clone().unwrap_or_else(|| world.default_mode()));
    Conditions { mode: Some(mode), triggers: Trigger::holding(said), ..Conditions::default() }
}
