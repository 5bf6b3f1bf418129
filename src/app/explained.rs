//! `kokua explain`: one tool of one agent, asked of the world that a start would make. No driver, no model.

use serde_json::Value;

use super::{Prepared, StartError, other};
use crate::access::{
    AgentName, Attendance, CallFacts, Conditions, Explanation, Life, ModeName, ToolId, ToolsetName, Trigger, explain,
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
        if let Some((message, hint)) = self.capabilities.world.undeclared(agent) {
            return Err(other(message, Some(hint)));
        }
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
        let arguments = arguments.as_deref().map(|text| self.fitting(agent, tool, text)).transpose()?;
        let call = arguments.as_deref().zip(held.get(tool)).map(|(arguments, held)| {
            let conversation = id.as_deref().unwrap_or_default();
            CallFacts::on_screen(conversation, agent, held, arguments, Attendance::Attended)
        });
        let explanation = explain(world, life, tool, call.as_ref());
        let mode = conditions.mode.clone().unwrap_or_else(|| world.default_mode());
        Ok(Explained { explanation, mode, conversation: id })
    }

    /// A stored conversation's whole id and records.
    fn past(&self, id: &str) -> Result<(String, Vec<Record>), StartError> {
        let store = super::conversations(&self.config);
        let id = store.find(id)?;
        let records = store.read(&id)?.records;
        Ok((id, records))
    }

    /// Arguments that fit the tool's schema, as canonical JSON after coercion.
    fn fitting(&self, agent: &AgentName, tool: &ToolId, text: &str) -> Result<String, StartError> {
        let hint = || Some("write one JSON object, as a call would carry it".to_owned());
        let given = crate::agent::call::parse_arguments(text)
            .map_err(|why| other(format!("the arguments are no call's: {why}"), hint()))?;
        let world = &self.capabilities.world;
        let known = match tool.toolset() {
            Some(toolset) => world.last_build(toolset).into_iter().flatten().find(|facts| facts.name == tool.name),
            None => world.core(agent, &tool.name),
        };
        let Some(facts) = known else {
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
