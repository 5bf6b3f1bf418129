//! Events told as the blocks of a transcript: which block a delta, a result or an answer belongs to.

use std::collections::HashMap;

use super::transcript::{Block, BlockId, CallRule, Delivery, Receipt, Retry, ToolRow, ToolState, Transcript, since};
use crate::access::AgentName;
use crate::agent::message::CallKind;
use crate::agent::{CallId, CallLine, Event, NodeId, Severity, UserOrigin, sender};

/// A tool call whose block may still change.
#[derive(Debug)]
struct Open {
    block: BlockId,
    chain: Vec<String>,
    answer: Option<crate::access::Answer>,
}

/// What the last blocks were, so that the next event finds its own.
#[derive(Debug, Default)]
pub(super) struct Story {
    agent: String,
    tool_limit: Option<usize>,
    /// What a worker is asked to do comes first; nobody typed it.
    task_follows: bool,
    unfold_reasoning: bool,
    said: Option<BlockId>,
    reasoned: Option<BlockId>,
    /// What the try that streams has put here: void when it fails and another one follows.
    tried: Vec<BlockId>,
    rules: Vec<BlockId>,
    last_rule: Option<(BlockId, u32)>,
    carried: Option<(usize, usize)>,
    open: HashMap<CallId, Open>,
    blocks: HashMap<CallId, BlockId>,
    queued: Vec<(BlockId, String)>,
}

impl Story {
    /// A story without a beginning. `unfold_reasoning`: show reasoning whole.
    pub(super) fn new(unfold_reasoning: bool) -> Self {
        Self { unfold_reasoning, ..Self::default() }
    }

    /// The block of a tool call.
    pub(super) fn block_of(&self, call: CallId) -> Option<BlockId> {
        self.blocks.get(&call).copied()
    }

    /// A block's place among the model calls of the conversation, if it is the rule of one.
    pub(super) fn place_of_rule(&self, block: BlockId) -> Option<usize> {
        self.rules.iter().rposition(|rule| *rule == block)
    }

    /// Tells one event of `node`, whose story it is.
    pub(super) fn tell(&mut self, transcript: &mut Transcript, node: NodeId, event: &Event, now: i64) {
        if matches!(
            event,
            Event::Reasoning { .. }
                | Event::ToolCall { .. }
                | Event::Call(_)
                | Event::Said { .. }
                | Event::Waiting { .. }
                | Event::Error { .. }
                | Event::End { .. }
        ) {
            self.said = None;
        }
        if matches!(event, Event::Delta { .. } | Event::ToolCall { .. } | Event::Call(_) | Event::End { .. }) {
            self.reasoned = None;
        }
        if matches!(event, Event::Call(_) | Event::Usage { .. } | Event::End { .. }) {
            self.tried.clear();
        }
        match event {
            Event::Session { agent, tool_limit, .. } => {
                agent.as_str().clone_into(&mut self.agent);
                self.tool_limit = *tool_limit;
            }
            Event::TurnStarted { agent: Some(agent), .. } => self.agent = called(agent),
            Event::Spawned(spawned) => {
                self.agent = called(&spawned.agent);
                self.task_follows = true;
                if !spawned.toolsets.is_empty() {
                    let names: Vec<_> = spawned.toolsets.iter().map(crate::access::ToolsetName::as_str).collect();
                    transcript.push(Block::Note(format!("composed from {}", names.join(", "))));
                }
            }
            Event::Said { text, origin } => {
                let all: Vec<&str> = self.queued.iter().map(|(_, queued)| queued.as_str()).collect();
                if self.queued.len() > 1 && all.join("\n\n") == *text {
                    // A turn that failed with them: together they begin the next one.
                    for (id, _) in self.queued.drain(..) {
                        transcript.remove(id);
                    }
                } else if let Some(at) = self.queued.iter().position(|(_, queued)| queued == text) {
                    transcript.remove(self.queued.remove(at).0);
                }
                let said = || (None, text.clone());
                let (from, text) = match origin {
                    UserOrigin::Agent => sender(text).map_or_else(said, |(from, text)| (Some(from), text)),
                    UserOrigin::Person if std::mem::take(&mut self.task_follows) => (Some("task"), text.clone()),
                    _ => said(),
                };
                let from = from.map(str::to_owned);
                transcript.push(Block::User { from, text, origin: *origin, delivery: Delivery::Delivered });
            }
            Event::Queued { text } => {
                let (origin, delivery) = (UserOrigin::Person, Delivery::Queued);
                let block = Block::User { from: None, text: text.clone(), origin, delivery };
                self.queued.push((transcript.push(block), text.clone()));
            }
            Event::Call(line) => {
                // The ledger is kept with the call, not in its block.
                let line = CallLine { ledger: None, ..line.clone() };
                self.begin_call(transcript, line);
            }
            Event::Delta { text } => {
                self.calm_rule(transcript);
                if let Some(id) = self.said {
                    transcript.append_text(id, text);
                } else {
                    let block = Block::Assistant { agent: self.agent.clone(), text: text.clone() };
                    let id = transcript.push(block);
                    self.said = Some(id);
                    self.tried.push(id);
                }
            }
            Event::Reasoning { text } => {
                self.calm_rule(transcript);
                if let Some(id) = self.reasoned {
                    transcript.append_text(id, text);
                } else {
                    let id = transcript.push(Block::Reasoning { text: text.clone() });
                    if self.unfold_reasoning {
                        transcript.toggle_fold(id);
                    }
                    self.reasoned = Some(id);
                    self.tried.push(id);
                }
            }
            Event::Usage { number, usage, took_ms } => {
                if let Some((id, _)) = self.last_rule.filter(|(_, of)| of == number) {
                    transcript.update(id, |block| {
                        if let Block::Call(rule) = block {
                            (rule.usage, rule.took_ms, rule.retry) = (Some(*usage), Some(*took_ms), None);
                        }
                    });
                }
            }
            Event::SideCall { line, usage, took_ms } => {
                let mut rule = CallRule::new(line.clone(), None, None);
                (rule.usage, rule.took_ms) = (Some(*usage), Some(*took_ms));
                transcript.push(Block::Call(Box::new(rule)));
            }
            Event::Retrying { message, ms, attempt } => {
                (self.said, self.reasoned) = (None, None);
                for id in self.tried.drain(..) {
                    transcript.remove(id);
                }
                let at = now.saturating_add(i64::try_from(*ms).unwrap_or(i64::MAX));
                if let Some((id, _)) = self.last_rule {
                    let retry = Retry { message: message.clone(), attempt: *attempt, at };
                    transcript.update(id, |block| {
                        if let Block::Call(rule) = block {
                            rule.retry = Some(retry);
                        }
                    });
                }
            }
            Event::ToolCall { .. }
            | Event::Ask { .. }
            | Event::Edited { .. }
            | Event::Answer { .. }
            | Event::Running { .. }
            | Event::ToolResult { .. } => self.tell_tool(transcript, event, now),
            // The end that follows says it.
            Event::Error { .. } | Event::Writing { .. } => self.calm_rule(transcript),
            Event::End { end, .. } => {
                self.calm_rule(transcript);
                let undelivered = if end.passes_words_on(node) { Vec::new() } else { std::mem::take(&mut self.queued) };
                for (id, _) in undelivered {
                    transcript.update(id, |block| {
                        if let Block::User { delivery, .. } = block {
                            *delivery = Delivery::Undelivered;
                        }
                    });
                }
                transcript.push(Block::End(end.clone()));
                self.last_rule = None;
            }
            Event::Waiting { workers } => {
                let words = format!("answered; the turn stays open for {}", workers.join(", "));
                transcript.push(Block::Note(words));
            }
            Event::Undelivered { from, to, text } => {
                transcript.push(Block::Alert {
                    severity: Severity::Notice,
                    message: format!("{from} wrote to {to}, and nobody read it: {text}"),
                    hint: None,
                });
            }
            Event::Replayed
            | Event::Window { .. }
            | Event::Mode { .. }
            | Event::Modes { .. }
            | Event::Titled { .. }
            | Event::TurnStarted { .. }
            | Event::Alert(_)
            | Event::Report(_)
            | Event::Explained { .. }
            | Event::Conversations { .. }
            | Event::UnusedAllows { .. }
            | Event::Held { .. }
            | Event::Diagnostics { .. } => {}
        }
    }

    fn begin_call(&mut self, transcript: &mut Transcript, line: CallLine) {
        let (kind, number) = (line.kind, line.number);
        let carries = (line.tools, line.tool_bytes);
        let rule = Block::Call(Box::new(CallRule::new(line, self.carried, self.tool_limit)));
        match self.last_rule {
            // The next try of the same call, which carries something else.
            Some((id, of)) if of == number => transcript.update(id, |block| *block = rule),
            _ => {
                let id = transcript.push(rule);
                self.rules.push(id);
                self.last_rule = Some((id, number));
            }
        }
        if kind == CallKind::Agent {
            self.carried = Some(carries);
        }
    }

    fn tell_tool(&mut self, transcript: &mut Transcript, event: &Event, now: i64) {
        match event {
            Event::ToolCall { call, tool, risk, wire, arguments } => {
                let name = tool.as_ref().map_or_else(|| wire.clone(), ToString::to_string);
                let id = transcript.push(Block::Tool(Box::new(ToolRow {
                    risk: *risk,
                    ..ToolRow::new(*call, name, arguments.clone())
                })));
                self.blocks.insert(*call, id);
                self.open.insert(*call, Open { block: id, chain: Vec::new(), answer: None });
            }
            Event::Ask { ask, preview, .. } => {
                let chain = ask.chain.iter().map(super::cards::short).collect();
                let Some(open) = self.open.get_mut(&ask.call) else { return };
                open.chain = chain;
                let diff = preview.diff.clone();
                transcript.edit_tool(open.block, |row| row.diff = diff);
            }
            Event::Edited { call, arguments } => {
                if let Some(open) = self.open.get(call) {
                    transcript.edit_tool(open.block, |row| row.arguments.clone_from(arguments));
                }
            }
            Event::Answer { call, answer } => {
                let Some(open) = self.open.get_mut(call) else { return };
                open.answer = Some(answer.clone());
                let mut tool = String::new();
                transcript.edit_tool(open.block, |row| {
                    tool.clone_from(&row.name);
                    row.state = ToolState::Called;
                });
                let receipt = Receipt { tool, chain: open.chain.clone(), answer: answer.clone() };
                transcript.insert_after(open.block, Block::Receipt(receipt));
            }
            Event::Running { call, for_ms } => {
                if let Some(open) = self.open.get(call) {
                    let since = since(now, *for_ms);
                    transcript.edit_tool(open.block, |row| row.state = ToolState::Running { since });
                }
            }
            Event::ToolResult { call, ending, text, note, took_ms } => {
                if let Some(open) = self.open.remove(call) {
                    transcript.edit_tool(open.block, |row| {
                        row.result = Some(text.clone());
                        row.state = ToolState::Ended {
                            ending: ending.clone(),
                            note: note.clone(),
                            answer: open.answer,
                            took_ms: *took_ms,
                        };
                    });
                }
            }
            _ => {}
        }
    }

    /// Tells one event of a worker: a line under the row of the call that spawned it, or one above it.
    pub(super) fn tell_below(&self, transcript: &mut Transcript, node: NodeId, event: &Event, now: i64) {
        let row = match event {
            Event::Spawned(spawned) => self.block_of(spawned.call),
            _ => None,
        };
        transcript.tell_work(row, node, event, now);
    }

    /// Marks a call that waits with its place among all that do.
    pub(super) fn mark_waiting(&self, transcript: &mut Transcript, call: CallId, place: usize, of: usize) {
        let Some(open) = self.open.get(&call) else { return };
        let state = ToolState::Waits { place, of };
        let same = matches!(transcript.get(open.block), Some(Block::Tool(row)) if row.state == state);
        if !same {
            transcript.edit_tool(open.block, |row| row.state = state);
        }
    }

    /// The last call goes on after all: its countdown goes.
    fn calm_rule(&self, transcript: &mut Transcript) {
        let Some((id, _)) = self.last_rule else { return };
        if matches!(transcript.get(id), Some(Block::Call(rule)) if rule.retry.is_some()) {
            transcript.update(id, |block| {
                if let Block::Call(rule) = block {
                    rule.retry = None;
                }
            });
        }
    }
}

/// What an agent's words stand under: a composed worker's own label.
fn called(agent: &AgentName) -> String {
    agent.label().unwrap_or(agent.as_str()).to_owned()
}
