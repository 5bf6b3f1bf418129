//! What a tool asks of the other agents of its turn (D3, D6, D7), and what it is answered.
//!
//! Whether a call may ask is decided before it runs, like any other call's right to run.

use std::collections::BTreeSet;

use super::{NodeState, Origin, TreeStep, Wait};
use crate::access::name::shown;
use crate::access::{Nested, ToolsetName};
use crate::agent::call::{CallId, Ending};
use crate::agent::delegate::Request;
use crate::agent::effect::Effect;
use crate::agent::input::ToolOutcome;
use crate::agent::node::{Ground, NodeId};

/// The opener of a composed worker that is given no instructions.
const COMPOSED: &str = include_str!("../../../assets/prompts/composed.md").trim_ascii();
/// Bytes of all answers that one `await_agents` passes on.
const ANSWERS: usize = 48 * 1024;
/// What a composed worker is called that is given no name.
const UNNAMED: &str = "helper";

impl TreeStep<'_> {
    pub(super) fn requested(&mut self, call: CallId, request: Request) {
        let asker = call.node();
        // One that ended meanwhile asks for nothing any more, whatever else its agent does by now.
        if self.tree.run(asker).is_none_or(|run| !run.runs(call)) {
            return;
        }
        let answer = match request {
            Request::Send { to, text } => self.send(asker, &to, &text),
            Request::List => Ok(self.tree.bus.roster(asker)),
            Request::Check { address } => self.check(asker, &address),
            Request::Await { addresses } => match self.wait(call, &addresses) {
                Ok(()) => return self.end_waits(),
                Err(text) => Err(text),
            },
            Request::Stop { address } => self.stop_by(asker, &address),
            Request::Capabilities { filter } => {
                let Some(run) = self.tree.run(asker) else { return };
                Ok(self.world.capabilities(run.life(), &filter))
            }
            Request::Compose { label, task, toolsets, instructions } => {
                match self.compose(call, &label, task, &toolsets, &instructions) {
                    Ok(()) => return,
                    Err(text) => Err(text),
                }
            }
        };
        self.reply(call, answer);
    }

    fn reply(&mut self, call: CallId, answer: Result<String, String>) {
        let (ending, text) = match answer {
            Ok(text) => (Ending::Ok, text),
            Err(text) => (Ending::Failed, text),
        };
        self.out.push((call.node(), Effect::Reply { call, outcome: ToolOutcome { ending, text, note: None } }));
    }

    fn send(&mut self, asker: NodeId, to: &str, text: &str) -> Result<String, String> {
        let (receipt, letters) = self.tree.bus.send(asker, to, text)?;
        self.deliver(letters);
        Ok(receipt)
    }

    /// What a worker does, or what it answered.
    fn check(&mut self, asker: NodeId, address: &str) -> Result<String, String> {
        let node = self.tree.bus.find(address)?;
        if node == asker {
            return Err("That is your own address.".to_owned());
        }
        let doing = self.tree.run(node).map(super::Run::doing);
        let Some(worker) = self.tree.nodes.get_mut(&node) else {
            return Ok(format!("{} is running: {}.", address.trim(), doing.unwrap_or_default()));
        };
        Ok(match &worker.state {
            NodeState::Wiring | NodeState::Running | NodeState::Keeping(..) => {
                let doing = doing.unwrap_or_else(|| "it has just ended".to_owned());
                format!("{} is running: {doing}.", worker.address)
            }
            NodeState::Ended(outcome) => {
                worker.collected |= worker.call.node() == asker;
                format!("{} has finished.\n\n{}", worker.address, outcome.text)
            }
        })
    }

    /// The call waits for each of them, unless one of them waits for it.
    fn wait(&mut self, call: CallId, addresses: &[String]) -> Result<(), String> {
        let asker = call.node();
        let mut nodes = Vec::new();
        for address in addresses {
            let node = self.tree.bus.find(address)?;
            if node == asker {
                return Err("You cannot wait for yourself.".to_owned());
            }
            if self.waits_for(node, asker) {
                let address = shown(address.trim());
                return Err(format!("{address} waits for you, so waiting for it would never end."));
            }
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        if nodes.is_empty() {
            return Err("Name at least one address in `addresses`; list_agents shows them.".to_owned());
        }
        self.tree.waits.push(Wait { call, nodes });
        Ok(())
    }

    /// Whether `from` cannot end before `to` has: it waits for it, or for somebody who does. An agent's turn is open until all
    /// that it spawned have ended.
    fn waits_for(&self, from: NodeId, to: NodeId) -> bool {
        let (mut seen, mut ahead) = (BTreeSet::new(), vec![from]);
        while let Some(node) = ahead.pop() {
            if node == to {
                return true;
            }
            if !seen.insert(node) {
                continue;
            }
            let open = self.tree.nodes.iter().filter(|(_, child)| !child.state.has_ended());
            ahead.extend(open.filter(|(_, child)| child.call.node() == node).map(|(child, _)| *child));
            ahead.extend(self.tree.waits.iter().filter(|wait| wait.call.node() == node).flat_map(|wait| &wait.nodes));
        }
        false
    }

    /// Answers every wait of which all have ended.
    pub(super) fn end_waits(&mut self) {
        let ended = |node: &NodeId| self.tree.nodes.get(node).is_some_and(|node| node.state.has_ended());
        let (over, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.tree.waits).into_iter().partition(|wait| wait.nodes.iter().all(&ended));
        self.tree.waits = open;
        for wait in over {
            // What a tool answers is bounded, so each has its share; the rest of one is a call away.
            let share = ANSWERS / wait.nodes.len().max(1);
            let mut answers = Vec::new();
            for node in &wait.nodes {
                let Some(worker) = self.tree.nodes.get_mut(node) else { continue };
                worker.collected |= worker.call.node() == wait.call.node();
                if let NodeState::Ended(outcome) = &worker.state {
                    let cut = outcome.text.floor_char_boundary(share);
                    let rest = match outcome.text.len() - cut {
                        0 => String::new(),
                        rest => format!(" [{rest} more bytes: check_agent('{}') has all of it]", worker.address),
                    };
                    answers.push(format!("[{}] {}{rest}", worker.address, &outcome.text[..cut]));
                }
            }
            self.reply(wait.call, Ok(answers.join("\n\n")));
        }
    }

    /// D7: whoever spawned a worker may stop it, and so may those above.
    fn stop_by(&mut self, asker: NodeId, address: &str) -> Result<String, String> {
        let node = self.tree.bus.find(address)?;
        let above = |mut node: NodeId| {
            while let Some(worker) = self.tree.nodes.get(&node) {
                node = worker.call.node();
                if node == asker {
                    return true;
                }
            }
            false
        };
        if !above(node) {
            return Err("You can stop agents that you spawned, and those below them.".to_owned());
        }
        let by = self.tree.bus.address_of(asker).unwrap_or_default().to_owned();
        let Some(worker) = self.tree.nodes.get_mut(&node) else { return Err("It is not there any more.".to_owned()) };
        let address = worker.address.clone();
        if worker.state != NodeState::Running {
            return Err(format!("{address} has finished already."));
        }
        // Who stops it needs no message about it.
        worker.collected |= worker.call.node() == asker;
        self.stop_alone(node, &by);
        Ok(format!("Stopped {address}."))
    }

    /// D3: a worker made of toolsets, if a level is left.
    fn compose(
        &mut self,
        call: CallId,
        label: &str,
        task: String,
        toolsets: &[String],
        instructions: &str,
    ) -> Result<(), String> {
        let asker = call.node();
        let depth = match self.tree.nodes.get(&asker).map(|node| &node.origin) {
            // Its count was fixed when it was made.
            Some(Origin::Composed { depth, .. }) => *depth,
            Some(Origin::Spawned) | None => self.tree.max_depth,
        };
        let Some(depth) = depth.checked_sub(1) else {
            return Err(
                "Composing a sub-agent is switched off: [capabilities].max_depth is 0. Ask the user to raise it."
                    .to_owned(),
            );
        };
        let label = if label.trim().is_empty() { UNNAMED } else { label.trim() };
        let could_not = |why: String| format!("Could not compose '{}': {why}", shown(label));
        let toolsets: Vec<ToolsetName> = toolsets.iter().map(|name| ToolsetName::new(name.trim())).collect();
        let nested = if depth == 0 { Nested::Leaf } else { Nested::Composes };
        if task.trim().is_empty() {
            return Err(could_not("it needs a task".to_owned()));
        }
        let Some(run) = self.tree.run(asker) else { return Ok(()) };
        let agent = self.world.compose(run.life(), label, &toolsets, nested).map_err(could_not)?;
        let instructions = if instructions.trim().is_empty() { COMPOSED } else { instructions.trim() };
        let origin = Origin::Composed { label: label.to_owned(), toolsets, depth };
        let (label, instructions) = (label.to_owned(), Some(instructions.to_owned()));
        self.plan(call, agent, &label, task, None, Ground::Foreground, origin, instructions)
    }
}
