//! The run: rounds, cap, nudge and wrap-up of one agent, as a value that turns inputs into effects.
//!
//! It never calls a model, a tool or a clock itself.

use super::effect::Effect;
use super::input::{Input, LoadedToolset, Moment};
use super::record::Record;
use crate::access::{AgentName, Held, World};

/// What a run is made of.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// The agent.
    pub name: AgentName,
    /// The conversation's id.
    pub conversation: String,
    /// The opener of its system message.
    pub opener: String,
    /// Model calls per turn; at least 1.
    pub max_iterations: u32,
    /// Whether calls of one round run together.
    pub concurrent_tools: bool,
    /// Tries of one failing model call, the first included; at least 1.
    pub max_attempts: u32,
}

/// One agent's run.
#[derive(Debug)]
pub struct Run {
    spec: AgentSpec,
    held: Held,
}

impl Run {
    /// Wires an agent: resident builds in available order, preloaded ones in first-loaded order (R16), and the history
    /// that its conversation's records hold.
    pub fn new(
        spec: AgentSpec,
        world: &World,
        resident: Vec<LoadedToolset>,
        preloaded: Vec<LoadedToolset>,
        history: &[Record],
    ) -> Self {
        let _ = (world, resident, preloaded, history);
        Self { spec, held: Held::default() }
    }

    /// What it holds.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Its name.
    pub fn agent(&self) -> &AgentName {
        &self.spec.name
    }

    /// Whether a turn is open.
    pub fn is_running(&self) -> bool {
        false
    }

    /// Takes one input. `world` is borrowed for this step only; a grant's use is counted in it.
    pub fn step(&mut self, moment: Moment, world: &mut World, input: Input) -> Vec<Effect> {
        let _ = (moment, world, input);
        unimplemented!("agent")
    }
}
