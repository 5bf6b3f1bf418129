//! What a worker does, as lines under the row of the call that spawned it: its model calls and its tools' calls, one line
//! each, those of its own workers one level deeper. Bounded: the last lines, and how many went before them.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use super::Transcript;
use super::block::{Block, BlockId, ToolRow, ToolState, bytes, clock, kind_word, since, span};
use super::item::Fold;
use super::layout::{Layout, condensed, state_words};
use crate::access::Risk;
use crate::agent::effect::TurnEnd;
use crate::agent::message::CallKind;
use crate::agent::node::{Ground, Spawned};
use crate::agent::{CallId, Event, NodeId};
use crate::ui::text::wrap::truncate_spans;
use crate::ui::text::{clean_line, truncate, width};
use crate::ui::theme::Role;
use crate::ui::view::paint::counted;

/// Lines kept under one row.
pub const WORK_LINES: usize = 50;
/// Lines that a folded row shows while its worker runs.
const TAIL: usize = 4;

/// A worker under its row, with those that it spawned.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    address: String,
    model: String,
    ground: Ground,
    state: WorkState,
    /// The worker and those below it, each with its depth under the row's own and the call that spawned it.
    nodes: Vec<(NodeId, u16, CallId)>,
    calls: usize,
    lines: Vec<WorkLine>,
    left_out: usize,
}

/// Where a worker stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WorkState {
    /// Since this moment, milliseconds since the epoch.
    Running(i64),
    /// How it ended, and how long it took, milliseconds.
    Ended(TurnEnd, u64),
    /// It had not ended when its turn did, or when its conversation was read: nothing more is told of it.
    Left,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
struct WorkLine {
    node: NodeId,
    depth: u16,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// A model call: number, kind, tools, their bytes, and which try is next where it failed.
    Model(u32, CallKind, usize, usize, Option<u32>),
    /// A tool's call.
    Tool { call: CallId, name: String, given: String, risk: Option<Risk>, state: ToolState },
}

impl Work {
    fn new(node: NodeId, spawned: &Spawned, now: i64) -> Self {
        Self {
            address: spawned.address.clone(),
            model: spawned.model.clone(),
            ground: spawned.ground,
            state: WorkState::Running(now),
            nodes: vec![(node, 0, spawned.call)],
            calls: 0,
            lines: Vec::new(),
            left_out: 0,
        }
    }

    /// Its worker has not ended.
    pub(super) fn runs(&self) -> bool {
        matches!(self.state, WorkState::Running(_))
    }

    fn depth(&self, node: NodeId) -> Option<u16> {
        self.nodes.iter().find(|(of, ..)| *of == node).map(|(_, depth, _)| *depth)
    }

    /// Takes in one event of a worker that is in it.
    fn tell(&mut self, node: NodeId, event: &Event, now: i64) {
        let Some(depth) = self.depth(node) else { return };
        match event {
            Event::Call(line) => {
                let again = self.lines.iter_mut().rev().find_map(|kept| match &mut kept.what {
                    What::Model(number, _, tools, size, retry) if kept.node == node && *number == line.number => {
                        Some((tools, size, retry))
                    }
                    _ => None,
                });
                if let Some((tools, size, retry)) = again {
                    (*tools, *size, *retry) = (line.tools, line.tool_bytes, None);
                } else {
                    self.add(node, depth, What::Model(line.number, line.kind, line.tools, line.tool_bytes, None));
                }
            }
            Event::Usage { .. } => self.retries(node, None),
            Event::Retrying { attempt, .. } => self.retries(node, Some(*attempt)),
            Event::ToolCall { call, tool, risk, wire, arguments } => {
                self.calls += 1;
                let name = tool.as_ref().map_or_else(|| clean_line(wire), |tool| clean_line(&tool.to_string()));
                let what = What::Tool {
                    call: *call,
                    name,
                    given: condensed(arguments),
                    risk: *risk,
                    state: ToolState::Called,
                };
                self.add(node, depth, what);
            }
            Event::Edited { call, arguments } => {
                if let Some(What::Tool { given, .. }) = self.of(*call) {
                    *given = condensed(arguments);
                }
            }
            Event::Running { call, for_ms } => self.set(*call, ToolState::Running { since: since(now, *for_ms) }),
            // Whether it was allowed is said when it ends; until then it is as called.
            Event::Answer { call, .. } => self.set(*call, ToolState::Called),
            Event::ToolResult { call, ending, note, took_ms, .. } => {
                let (ending, note, took_ms) = (ending.clone(), note.clone(), *took_ms);
                self.set(*call, ToolState::Ended { ending, note, answer: None, took_ms });
            }
            Event::End { end, took_ms } if depth == 0 => self.state = WorkState::Ended(end.clone(), *took_ms),
            _ => {}
        }
    }

    /// A worker of its worker came to be.
    fn spawned(&mut self, node: NodeId, by: CallId) {
        if let Some(depth) = self.depth(by.node()).filter(|_| self.depth(node).is_none()) {
            self.nodes.push((node, depth + 1, by));
        }
    }

    /// A line after the last one of its node, or under the call that spawned that.
    fn add(&mut self, node: NodeId, depth: u16, what: What) {
        let by = self.nodes.iter().find(|(of, ..)| *of == node).map(|(.., by)| *by);
        let spawns = |line: &WorkLine| matches!(&line.what, What::Tool { call, .. } if Some(*call) == by);
        let own = self.lines.iter().rposition(|line| line.node == node);
        let (above, over) = match own {
            Some(at) => (Some(at), depth),
            None => (self.lines.iter().rposition(spawns), depth.saturating_sub(1)),
        };
        // What it spawned stands before its next line.
        let at = above.map_or(self.lines.len(), |at| {
            at + 1 + self.lines.iter().skip(at + 1).take_while(|line| line.depth > over).count()
        });
        self.lines.insert(at, WorkLine { node, depth, what });
        if self.lines.len() > WORK_LINES {
            // What still goes on is kept as long as anything else can go.
            let over = |line: &WorkLine| !matches!(&line.what, What::Tool { state, .. } if goes_on(state));
            let at = self.lines.iter().position(over).unwrap_or(0);
            self.lines.remove(at);
            self.left_out += 1;
        }
    }

    fn of(&mut self, call: CallId) -> Option<&mut What> {
        let is = |line: &&mut WorkLine| matches!(line.what, What::Tool { call: of, .. } if of == call);
        self.lines.iter_mut().rev().find(is).map(|line| &mut line.what)
    }

    /// Whether a call of it stands otherwise.
    fn differs(&self, call: CallId, from: &ToolState) -> bool {
        self.lines.iter().any(|line| match &line.what {
            What::Tool { call: of, state, .. } => *of == call && state != from,
            What::Model(..) => false,
        })
    }

    fn set(&mut self, call: CallId, to: ToolState) {
        if let Some(What::Tool { state, .. }) = self.of(call) {
            *state = to;
        }
    }

    fn retries(&mut self, node: NodeId, attempt: Option<u32>) {
        let last = self.lines.iter_mut().rev().find_map(|line| match &mut line.what {
            What::Model(.., retry) if line.node == node => Some(retry),
            _ => None,
        });
        if let Some(retry) = last {
            *retry = attempt;
        }
    }

    /// What its row says at the right end.
    pub(super) fn state_words(&self, row: &ToolRow, now: i64) -> (String, Role) {
        let seconds = |since: i64| u64::try_from(now.saturating_sub(since)).unwrap_or(0) / 1_000;
        match (&row.state, self.ground, &self.state) {
            (ToolState::Ended { .. }, Ground::Background, WorkState::Running(since)) => {
                (format!("in the background {}", clock(seconds(*since))), Role::Text)
            }
            (ToolState::Ended { took_ms, .. }, Ground::Foreground, _) => {
                let (words, role) = state_words(&row.state, now);
                (format!("{words} · {}", span(*took_ms)), role)
            }
            (_, _, WorkState::Ended(end, took)) => {
                let (word, role) = end_word(end);
                (format!("{word} · {}", span(*took)), role)
            }
            (ToolState::Called, _, WorkState::Running(since)) => {
                state_words(&ToolState::Running { since: *since }, now)
            }
            (state, ..) => state_words(state, now),
        }
    }

    /// Lines of it for copying.
    pub(super) fn plain(&self) -> String {
        let mut out = format!("{} · {}", clean_line(&self.address), clean_line(&self.model));
        if self.left_out > 0 {
            out.push_str(&format!("\n{}", left_out(self.left_out)));
        }
        for line in &self.lines {
            let indent = "  ".repeat(usize::from(line.depth) + 1);
            let words = match &line.what {
                What::Model(number, kind, tools, size, _) => model_words(*number, *kind, *tools, *size),
                What::Tool { name, given, state, .. } => {
                    let running = matches!(state, ToolState::Running { .. });
                    let state = if running { "running".to_owned() } else { state_words(state, 0).0 };
                    format!("{name} {given} · {}", state.trim())
                }
            };
            out.push_str(&format!("\n{indent}{words}"));
        }
        out
    }

    /// How many lines it has.
    pub(super) fn height(&self, fold: Fold) -> usize {
        match fold {
            Fold::Open => self.lines.len() + 1,
            Fold::Folded if self.runs() => self.lines.len().min(TAIL),
            Fold::Folded => 0,
        }
    }
}

fn goes_on(state: &ToolState) -> bool {
    matches!(state, ToolState::Running { .. } | ToolState::Waits { .. } | ToolState::Called)
}

fn end_word(end: &TurnEnd) -> (&'static str, Role) {
    match end {
        TurnEnd::Answered => ("done", Role::Ok),
        TurnEnd::WrappedUp => ("wrapped up", Role::Warning),
        TurnEnd::Stopped => ("stopped", Role::Warning),
        TurnEnd::Failed { .. } => ("failed", Role::Error),
        TurnEnd::Interrupted => ("interrupted", Role::Warning),
    }
}

fn left_out(lines: usize) -> String {
    format!("… {} before these not shown", counted(lines, "line"))
}

fn model_words(number: u32, kind: CallKind, tools: usize, size: usize) -> String {
    let kind = kind_word(kind).map(|word| format!(" · {word}")).unwrap_or_default();
    format!("── call {number}{kind} · {} · {} ──", counted(tools, "tool"), bytes(size))
}

impl Layout<'_> {
    /// What stands under a row: all of it where it is open, the last lines where it is folded and its worker runs.
    pub(super) fn work(&self, work: &Work, fold: Fold, lines: &mut Vec<Line<'static>>) {
        let dim = self.style(Role::Dim);
        let mut said = |words: String| {
            let line = vec![self.blank(4), Span::styled(words, dim)];
            lines.push(Line::from(truncate_spans(line, self.frame.width)));
        };
        if fold == Fold::Open {
            let calls = counted(work.calls, "call");
            let ground = if work.ground == Ground::Background { " · in the background" } else { "" };
            said(format!("{} · {} · {calls}{ground}", clean_line(&work.address), clean_line(&work.model)));
            if work.left_out > 0 {
                said(left_out(work.left_out));
            }
            for line in &work.lines {
                lines.push(self.work_line(line));
            }
            return;
        }
        if !work.runs() {
            return;
        }
        // What waits for a person first, then what goes on, then what came last, its own before what stands below that: a line
        // below is not shown without the one that it stands under. In their own order.
        let rank = |line: &WorkLine| match &line.what {
            What::Tool { state: ToolState::Waits { .. }, .. } => 3,
            What::Tool { state, .. } if goes_on(state) => 2,
            _ => u8::from(line.depth == 0),
        };
        let mut shown: Vec<_> = work.lines.iter().enumerate().map(|(at, line)| (rank(line), at, line)).collect();
        shown.sort_unstable_by_key(|(rank, at, _)| std::cmp::Reverse((*rank, *at)));
        shown.truncate(TAIL);
        shown.sort_unstable_by_key(|(_, at, _)| *at);
        lines.extend(shown.into_iter().map(|(.., line)| self.work_line(line)));
    }

    fn work_line(&self, line: &WorkLine) -> Line<'static> {
        let dim = self.style(Role::Dim);
        let indent = self.blank(4 + 2 * usize::from(line.depth));
        match &line.what {
            What::Model(number, kind, tools, size, retry) => {
                let mut spans = vec![indent, Span::styled(model_words(*number, *kind, *tools, *size), dim)];
                if let Some(attempt) = retry {
                    let words = format!(" failed; try {attempt} follows");
                    spans.push(Span::styled(words, self.style(Role::Warning)));
                }
                Line::from(truncate_spans(spans, self.frame.width))
            }
            What::Tool { name, given, risk, state, .. } => {
                let reads = *risk == Some(Risk::Read);
                self.call_row(
                    indent,
                    if reads { "·" } else { "▸" },
                    reads,
                    name,
                    given,
                    state_words(state, self.frame.now),
                )
            }
        }
    }

    /// The one line of a call: only the arguments give way to a narrow screen.
    pub(super) fn call_row(
        &self,
        indent: Span<'static>,
        mark: &str,
        reads: bool,
        name: &str,
        given: &str,
        (state, role): (String, Role),
    ) -> Line<'static> {
        // P17: what only reads is told and does not ask to be looked at; a failure of it does.
        let role = if reads && role == Role::Ok { Role::Dim } else { role };
        let (named, arguments) = if reads { (Role::Dim, Role::Dim) } else { (Role::Tool, Role::Arguments) };
        let room = self.frame.width.saturating_sub(indent.width() + 2);
        let state = truncate(&state, room).into_owned();
        let left = room.saturating_sub(width(&state) + 2);
        let name = truncate(name, left).into_owned();
        let given = truncate(given, left.saturating_sub(width(&name) + 1)).into_owned();
        let fill = room.saturating_sub(width(&name) + 1 + width(&given) + width(&state));
        let line = vec![
            indent,
            Span::styled(format!("{mark} "), self.style(Role::Dim)),
            Span::styled(name, self.style(named)),
            Span::raw(" "),
            Span::styled(given, self.style(arguments)),
            Span::raw(" ".repeat(fill)),
            Span::styled(state, self.style(role)),
        ];
        Line::from(truncate_spans(line, self.frame.width))
    }
}

impl Transcript {
    /// Tells one event of a worker to the row that it belongs under. `row`: where the call that spawned it has one here, for
    /// [`Event::Spawned`]. Nothing for workers of which no row here knows.
    pub fn tell_work(&mut self, row: Option<BlockId>, node: NodeId, event: &Event, now: i64) {
        if let Event::Spawned(spawned) = event {
            if let Some(id) = row {
                self.works.insert(node, id);
                self.edit_tool(id, |tool| tool.work = Some(Box::new(Work::new(node, spawned, now))));
            } else if let Some(id) = self.works.get(&spawned.call.node()).copied() {
                self.works.insert(node, id);
                self.edit_work(id, |work| work.spawned(node, spawned.call));
            }
            return;
        }
        let drawn = matches!(
            event,
            Event::Call(_)
                | Event::Usage { .. }
                | Event::Retrying { .. }
                | Event::ToolCall { .. }
                | Event::Edited { .. }
                | Event::Running { .. }
                | Event::Answer { .. }
                | Event::ToolResult { .. }
                | Event::End { .. }
        );
        if let Some(id) = self.works.get(&node).copied().filter(|_| drawn) {
            self.edit_work(id, |work| work.tell(node, event, now));
        }
    }

    /// Marks a worker's call that waits with its place among all `of`.
    pub fn mark_work(&mut self, call: CallId, place: usize, of: usize) {
        let state = ToolState::Waits { place, of };
        let Some(id) = self.works.get(&call.node()).copied() else { return };
        let differs = match self.get(id) {
            Some(Block::Tool(row)) => row.work.as_ref().is_some_and(|work| work.differs(call, &state)),
            _ => false,
        };
        if differs {
            self.edit_work(id, |work| work.set(call, state));
        }
    }

    /// The worker that the selected row spawned.
    pub fn selected_worker(&self) -> Option<NodeId> {
        match self.selected().and_then(|id| self.get(id)) {
            Some(Block::Tool(row)) => row.work.as_ref()?.nodes.first().map(|(node, ..)| *node),
            _ => None,
        }
    }

    /// Nothing of it is seen to go on any more.
    pub fn rest(&mut self) {
        // Only those: a row that is edited is laid out again.
        let runs = |id: &BlockId| match self.get(*id) {
            Some(Block::Tool(row)) => row.work.as_ref().is_some_and(|work| work.runs()),
            _ => false,
        };
        let rows: BTreeSet<_> = self.works.values().copied().filter(runs).collect();
        for id in rows {
            self.edit_work(id, |work| work.state = WorkState::Left);
        }
    }

    fn edit_work(&mut self, id: BlockId, edit: impl FnOnce(&mut Work)) {
        self.edit_tool(id, |row| {
            if let Some(work) = &mut row.work {
                edit(work);
            }
        });
    }

    /// Edits the row of a tool in place. Nothing when it is gone.
    pub(in crate::ui) fn edit_tool(&mut self, id: BlockId, edit: impl FnOnce(&mut ToolRow)) {
        self.update(id, |block| {
            if let Block::Tool(row) = block {
                edit(row);
            }
        });
    }
}
