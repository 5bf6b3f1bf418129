//! What each named action does. Keys, palette and commands all end here.

use super::action::Action;
use super::cards;
use super::command::Cmd;
use super::explaining::{self, Level};
use super::layout::{Columns, FOLD_CARD_BELOW};
use super::line::LineInput;
use super::message::{EditorPurpose, Key};
use super::pane::{Opened, Overlay, PaneKind, PolicyView, Prompt, ToolSort};
use super::slash::{self, Argument, Slash};
use super::state::{Armed, Focus, Ui};
use super::text::clean_line;
use super::theme::{Colours, Theme};
use super::transcript::Block;
use super::tree::Turn;
use super::view::panes as rows;
use crate::access::report::ToolsetState;
use crate::access::{Answer, Filter};
use crate::agent::command::Switched;
use crate::agent::update::Activity;
use crate::agent::{Command, NodeId};

/// Carries out `action`, which `key` asked for.
#[expect(clippy::too_many_lines, reason = "one arm for each action: the compiler sees that none is forgotten")]
pub(super) fn act(ui: &mut Ui, action: Action, key: Key, now: i64) -> Vec<Cmd> {
    match action {
        Action::Help => toggle(ui, Overlay::Help { scroll: 0 }),
        Action::Palette => toggle(ui, Overlay::Palette { query: LineInput::default(), selected: 0 }),
        Action::Agents => return open_pane(ui, PaneKind::Agents),
        Action::Tools => return open_pane(ui, PaneKind::Tools),
        Action::Policy => return open_pane(ui, PaneKind::Policy),
        Action::Conversations => return open_pane(ui, PaneKind::Conversations),
        Action::ToggleMouse => return toggle_mouse(ui, now),
        Action::OldestAsk => {
            if ui.inbox.is_empty() {
                ui.flash("nothing waits for an answer", now);
            } else {
                // The strip says which keys answer the ask that is up: that one is gone to, and from there to the first.
                if ui.focus == Focus::Card {
                    ui.inbox.go_to(1, now);
                }
                focus_card(ui);
            }
        }
        Action::FocusNext => {
            if ui.focus != Focus::Composer || ui.composer.complete().is_none() {
                move_focus(ui, 1);
            }
        }
        Action::FocusPrevious => move_focus(ui, -1),
        Action::Close => return close(ui, now),
        Action::Interrupt => return interrupt(ui, now),
        Action::QuitIfEmpty => return quit_if_empty(ui, key, now),
        Action::Search | Action::SearchHere => start_search(ui),
        Action::Pager => return vec![Cmd::OpenPager(ui.transcript().text())],
        Action::PageUp => page(ui, -1, now),
        Action::PageDown => page(ui, 1, now),
        Action::Top | Action::First => ui.transcript_mut().home(),
        Action::Bottom | Action::Follow => ui.transcript_mut().follow(),
        Action::PreviousBlock | Action::BlockPrevious => select_block(ui, -1),
        Action::NextBlock | Action::BlockNext => select_block(ui, 1),
        Action::Redraw => return vec![Cmd::Redraw],
        Action::Suspend => return vec![Cmd::Suspend],

        Action::Send => return submit_draft(ui, now),
        Action::Editor => {
            return vec![Cmd::OpenEditor { text: ui.composer.text(), purpose: EditorPurpose::Draft }];
        }
        Action::HistorySearch => {
            ui.focus = Focus::Composer;
            ui.composer.search_history();
        }
        Action::HelpIfEmpty if ui.composer.is_empty() => toggle(ui, Overlay::Help { scroll: 0 }),
        Action::HelpIfEmpty => _ = ui.composer.key(key),
        Action::LineEnd if ui.composer.is_empty() => ui.transcript_mut().follow(),
        Action::Newline
        | Action::HistoryPrevious
        | Action::HistoryNext
        | Action::Undo
        | Action::Redo
        | Action::LineStart
        | Action::LineEnd
        | Action::WordLeft
        | Action::WordRight
        | Action::DeleteWord
        | Action::DeleteNextWord
        | Action::DeleteToStart
        | Action::DeleteToEnd => _ = ui.composer.act(action),

        Action::AllowOnce => return answer(ui, Answer::AllowedOnce, now),
        Action::AllowConversation => return answer(ui, Answer::AllowedForConversation, now),
        Action::Deny => return answer(ui, Answer::Denied, now),
        Action::DenyWithReason => {
            if let Some(card) = ui.inbox.shown().filter(|card| !card.answered()) {
                ui.prompt = Some(Prompt::Reason { card: card.id(), line: LineInput::default() });
            }
        }
        Action::EditCall => {
            if let Some(card) = ui.inbox.shown().filter(|card| !card.answered() && !card.changing()) {
                let purpose = EditorPurpose::Arguments(card.id());
                return vec![Cmd::OpenEditor { text: card.text_to_edit(), purpose }];
            }
        }
        Action::CardFull => toggle(ui, Overlay::Card),
        Action::CardNext => ui.inbox.turn(1, now),
        Action::CardPrevious => ui.inbox.turn(-1, now),
        Action::CardAsker => return cards::go_to_asker(ui),
        Action::CardUp => scroll_card(ui, -1),
        Action::CardDown => scroll_card(ui, 1),

        Action::LineUp => ui.transcript_mut().scroll(-1),
        Action::LineDown => ui.transcript_mut().scroll(1),
        Action::Fold => fold_block(ui),
        Action::OpenBlock => open_block(ui, now),
        Action::CopyBlock => return with_block(ui, now, Cmd::Copy),
        Action::PageBlock => return with_block(ui, now, Cmd::OpenPager),
        Action::NextMatch => _ = ui.transcript_mut().search_next(),
        Action::PreviousMatch => _ = ui.transcript_mut().search_previous(),

        Action::RowUp => move_or_scroll(ui, -1, now),
        Action::RowDown => move_or_scroll(ui, 1, now),
        Action::RowFirst => move_or_scroll(ui, isize::MIN, now),
        Action::RowLast => move_or_scroll(ui, isize::MAX, now),
        Action::AgentNext => return other_agent(ui, 1, now),
        Action::AgentPrevious => return other_agent(ui, -1, now),
        Action::RowOpen => return open_row(ui, now),

        Action::StopAgent => return stop_agent(ui, now),
        Action::RequestLoad => request_load(ui, now),
        Action::Switch => return switch(ui, now),
        Action::FilterTools => ui.prompt = Some(Prompt::FilterTools(LineInput::of(&ui.panes.tool_filter))),
        Action::SortByBytes => {
            ui.panes.tool_sort = match ui.panes.tool_sort {
                ToolSort::Model => ToolSort::Bytes,
                ToolSort::Bytes => ToolSort::Model,
            };
        }
        Action::Matrix => return matrix(ui),
        Action::RevokeGrant => return revoke(ui, now),
        Action::NewConversation => return vec![Cmd::Submit(Command::New)],
        Action::RenameConversation if rows::selected_conversation(ui).is_some_and(|row| !row.current) => {
            ui.flash("open it first: only the conversation in view is renamed", now);
        }
        Action::RenameConversation => {
            ui.focus = Focus::Composer;
            ui.composer.suggest_command("rename");
        }
        Action::DeleteConversation => {
            let chosen = rows::selected_conversation(ui);
            if chosen.is_some_and(|row| ui.activity(row) != Activity::Idle) {
                ui.flash("not while a turn of it runs: open it and stop the turn, then delete it", now);
            } else if let Some(row) = chosen {
                ui.prompt = Some(Prompt::Delete { id: row.id.clone(), title: row.title.clone() });
            }
        }
        Action::FilterConversations => {
            ui.prompt = Some(Prompt::FilterConversations(LineInput::of(&ui.panes.conversation_filter)));
        }
    }
    Vec::new()
}

fn toggle(ui: &mut Ui, overlay: Overlay) {
    let same = ui.overlay.as_ref().is_some_and(|open| std::mem::discriminant(open) == std::mem::discriminant(&overlay));
    ui.overlay = (!same).then_some(overlay);
}

pub(super) fn open_pane(ui: &mut Ui, kind: PaneKind) -> Vec<Cmd> {
    let again = ui.pane_visible() && ui.panes.kind == kind && ui.focus == Focus::Pane;
    ui.overlay = None;
    if again {
        ui.panes.opened = Opened::ByWidth;
        ui.focus = Focus::Composer;
        return Vec::new();
    }
    if kind == PaneKind::Agents {
        ui.panes.node = ui.tree.viewed().id;
    }
    ui.panes.kind = kind;
    ui.panes.opened = Opened::ByPerson;
    ui.focus = Focus::Pane;
    vec![Cmd::Submit(match kind {
        PaneKind::Conversations => Command::List,
        PaneKind::Agents | PaneKind::Tools | PaneKind::Policy => Command::Report,
    })]
}

/// The policy pane's other view, or the matrix from wherever a person is.
fn matrix(ui: &mut Ui) -> Vec<Cmd> {
    if ui.overlay.is_none() && ui.focus == Focus::Pane && ui.pane() == PaneKind::Policy {
        ui.panes.policy_view = match ui.panes.policy_view {
            PolicyView::Lists => PolicyView::Matrix,
            PolicyView::Matrix => PolicyView::Lists,
        };
        return Vec::new();
    }
    ui.panes.policy_view = PolicyView::Matrix;
    open_pane(ui, PaneKind::Policy)
}

fn toggle_mouse(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    ui.mouse = !ui.mouse;
    ui.flash(if ui.mouse { "mouse on: the terminal's own selection needs Shift" } else { "mouse off" }, now);
    vec![Cmd::SetMouse(ui.mouse)]
}

pub(super) fn focus_card(ui: &mut Ui) {
    ui.focus = Focus::Card;
    ui.overlay = (ui.height < FOLD_CARD_BELOW).then_some(Overlay::Card);
}

fn move_focus(ui: &mut Ui, by: isize) {
    let order = [Focus::Composer, Focus::Card, Focus::Pane, Focus::Transcript];
    let there = |focus: Focus| match focus {
        Focus::Composer => true,
        Focus::Card => !ui.inbox.is_empty(),
        Focus::Pane => ui.pane_visible(),
        Focus::Transcript => !ui.main_covered(),
    };
    let from = order.iter().position(|focus| *focus == ui.focus).unwrap_or(0);
    let step = |steps: usize| order[(from + order.len()).saturating_add_signed(by * steps.cast_signed()) % order.len()];
    let next = (1..=order.len()).map(step).find(|focus| there(*focus)).unwrap_or(Focus::Composer);
    ui.overlay = None;
    if next == Focus::Card {
        focus_card(ui);
    } else {
        ui.focus = next;
    }
}

/// Esc: one level at a time, and while a turn runs, twice stops it.
fn close(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    if close_one(ui) {
        return Vec::new();
    }
    let waits = |turn: &Turn| turn.retry.as_ref().is_some_and(|retry| retry.until > now);
    if ui.turn().is_some_and(waits) {
        return stop(ui);
    }
    // What the strip says goes with the first press: an alert must not stand between a person and the stop.
    ui.alerts.clear();
    if ui.turn().is_some() && ui.second_press(Armed::Stop, "Esc again stops the turn", now) {
        return stop(ui);
    }
    Vec::new()
}

/// Closes the innermost thing that is open. Whether there was one.
fn close_one(ui: &mut Ui) -> bool {
    if explaining::close(ui) {
        return true;
    }
    if ui.overlay.take().is_some() {
        if ui.focus == Focus::Card && ui.height < FOLD_CARD_BELOW {
            ui.focus = Focus::Composer;
        }
        return true;
    }
    if ui.composer.dismiss() {
        return true;
    }
    if ui.focus == Focus::Pane && clear_filter(ui) {
        return true;
    }
    if ui.focus == Focus::Pane || (ui.pane_visible() && ui.main_covered()) {
        ui.panes.opened = Opened::ByWidth;
        ui.focus = Focus::Composer;
        return true;
    }
    if ui.searching.is_some() {
        super::update::end_search(ui);
        return true;
    }
    if ui.focus != Focus::Composer {
        ui.focus = Focus::Composer;
        ui.transcript_mut().select(None);
        return true;
    }
    if !ui.tree.viewed().id.is_entry() {
        look_at(ui, NodeId::ENTRY);
        return true;
    }
    false
}

/// Looks at another agent's transcript: typed words are then for it.
pub(super) fn look_at(ui: &mut Ui, node: NodeId) {
    if ui.tree.viewed().id == node || !ui.tree.view(node) {
        return;
    }
    // What stood over the transcript before was of that one.
    ui.searching = None;
    if matches!(ui.prompt, Some(Prompt::Search(_))) {
        ui.prompt = None;
    }
    if matches!(ui.overlay, Some(Overlay::Ledger { .. })) {
        ui.overlay = None;
    }
}

/// `x` in the agents pane: stops the selected worker alone; on the entry agent, the turn.
fn stop_agent(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    let Some(node) = rows::selected_agent(ui) else {
        ui.flash("that agent has ended with its turn", now);
        return Vec::new();
    };
    let Some(agent) = ui.tree.get_mut(node) else { return Vec::new() };
    let name = agent.name.clone();
    let Some(run) = agent.run.as_mut() else {
        ui.flash(if node.is_entry() { "nothing runs".to_owned() } else { format!("{name} has ended") }, now);
        return Vec::new();
    };
    if node.is_entry() {
        ui.flash("stopping the turn, with all its agents", now);
        return stop(ui);
    }
    run.stopping = true;
    run.retry = None;
    ui.flash(format!("stopping {name}"), now);
    vec![ui.here(Command::StopAgent { node })]
}

/// Shows all rows of the pane again. Whether some were hidden.
fn clear_filter(ui: &mut Ui) -> bool {
    let filter = match ui.pane() {
        PaneKind::Tools => &mut ui.panes.tool_filter,
        PaneKind::Conversations => &mut ui.panes.conversation_filter,
        PaneKind::Agents | PaneKind::Policy => return false,
    };
    !std::mem::take(filter).is_empty()
}

fn stop(ui: &mut Ui) -> Vec<Cmd> {
    if let Some(turn) = ui.turn_mut() {
        turn.stopping = true;
        turn.retry = None;
    }
    vec![ui.here(Command::Stop)]
}

/// Ctrl+C: stops the turn; clears the draft into history; quits, twice, from an empty and idle composer.
fn interrupt(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    if ui.turn().is_some_and(|turn| !turn.stopping) {
        return stop(ui);
    }
    if ui.overlay.take().is_some() {
        return Vec::new();
    }
    if !ui.composer.is_empty() {
        ui.composer.clear();
        ui.disarm();
        ui.flash("cleared; Up brings it back", now);
        return Vec::new();
    }
    if ui.second_press(Armed::Quit, "Ctrl+C again quits", now) { quit() } else { Vec::new() }
}

fn quit_if_empty(ui: &mut Ui, key: Key, now: i64) -> Vec<Cmd> {
    if !ui.composer.is_empty() {
        if ui.focus == Focus::Composer {
            ui.composer.key(Key { code: super::message::KeyCode::Delete, ..key });
        }
        return Vec::new();
    }
    let runs = match (ui.turn(), ui.others_run()) {
        (None, false) => return quit(),
        (Some(_), _) => "Ctrl+D again stops the turn and quits",
        (None, true) => "another conversation runs: Ctrl+D again stops it and quits",
    };
    if ui.second_press(Armed::Quit, runs, now) {
        return quit();
    }
    Vec::new()
}

fn quit() -> Vec<Cmd> {
    vec![Cmd::Submit(Command::Quit), Cmd::Quit]
}

fn start_search(ui: &mut Ui) {
    ui.overlay = None;
    if ui.main_covered() {
        ui.panes.opened = Opened::ByWidth;
        ui.focus = Focus::Composer;
    }
    ui.prompt = Some(Prompt::Search(LineInput::of(ui.searching.as_deref().unwrap_or(""))));
}

fn page(ui: &mut Ui, by: isize, now: i64) {
    let layout = ui.layout(now);
    let page = |rows: u16, kept: u16| by * isize::try_from(rows.saturating_sub(kept).max(1)).unwrap_or(1);
    let lines = page(layout.main.height, 2);
    if ui.focus == Focus::Card && matches!(ui.overlay, None | Some(Overlay::Card)) {
        // A page of a card never passes over a line that was not in view.
        scroll_card(ui, page(ui.card_rows(&layout), 1));
    } else if ui.overlay.is_some() || ui.focus == Focus::Pane {
        move_or_scroll(ui, lines, now);
    } else if by < 0 {
        ui.transcript_mut().page_up();
    } else {
        ui.transcript_mut().page_down();
    }
}

fn select_block(ui: &mut Ui, by: isize) {
    if !ui.main_covered() {
        ui.focus = Focus::Transcript;
        if by < 0 {
            ui.transcript_mut().select_previous();
        } else {
            ui.transcript_mut().select_next();
        }
    }
}

fn fold_block(ui: &mut Ui) {
    if let Some(block) = ui.transcript().selected() {
        ui.transcript_mut().toggle_fold(block);
    }
}

fn open_block(ui: &mut Ui, now: i64) {
    match ui.transcript().selected().and_then(|block| ui.tree.viewed().scene.story.place_of_rule(block)) {
        Some(call) if ui.model_call(call).is_some_and(|call| call.ledger.is_some()) => {
            ui.overlay = Some(Overlay::Ledger { call, scroll: 0 });
        }
        Some(_) => ui.flash("the ledger of that call is not kept; later calls have theirs", now),
        None => match ui.transcript().selected_worker() {
            Some(worker) => {
                look_at(ui, worker);
                ui.focus = Focus::Composer;
            }
            None => fold_block(ui),
        },
    }
}

fn with_block(ui: &mut Ui, now: i64, wish: impl FnOnce(String) -> Cmd) -> Vec<Cmd> {
    let Some(text) = ui.transcript().selected_text() else {
        ui.flash("choose a block first: j and k", now);
        return Vec::new();
    };
    let cmd = wish(text);
    if matches!(cmd, Cmd::Copy(_)) {
        ui.flash("copied", now);
    }
    vec![cmd]
}

/// Whether the shown card's arguments are on the screen: not in a terminal that is too small for anything, not where
/// the card is one line, unless it is open in full.
fn card_is_readable(ui: &Ui) -> bool {
    let room = Columns::of(ui.width, ui.height) != Columns::None;
    room && (ui.height >= FOLD_CARD_BELOW || ui.overlay == Some(Overlay::Card))
}

/// Answers the card in the strip. *Allow* waits until the card was up for a while; *deny* works at once.
pub(super) fn answer(ui: &mut Ui, answer: Answer, now: i64) -> Vec<Cmd> {
    let Some(card) = ui.inbox.shown().filter(|card| !card.answered()) else { return Vec::new() };
    let (conversation, call, showing) = (card.conversation.clone(), card.ask.call, card.showing.number);
    let allows = !matches!(answer, Answer::Denied | Answer::DeniedWithReason { .. });
    if allows && card.inert_for(now) > 0 {
        ui.flash("this card has just come up: read it, then press again", now);
        return Vec::new();
    }
    if allows && card.changing() {
        ui.flash("your change is being checked: the card comes up anew", now);
        return Vec::new();
    }
    if allows && !card_is_readable(ui) {
        ui.flash("nobody allows what is not on the screen: make room or open the card (v)", now);
        return Vec::new();
    }
    if answer == Answer::AllowedForConversation && !card.ask.grantable {
        ui.flash("this call can only be allowed once", now);
        return Vec::new();
    }
    ui.inbox.mark_answered();
    vec![Cmd::Submit(Command::Answer { conversation, call, answer, showing })]
}

pub(super) fn scroll_card(ui: &mut Ui, lines: isize) {
    let width = ui.card_width();
    if let Some(card) = ui.inbox.shown_mut() {
        let last = card.body(width, &ui.theme).len().saturating_sub(1);
        card.scroll = card.scroll.saturating_add_signed(lines).min(last);
    }
}

pub(super) fn scroll_overlay(ui: &mut Ui, lines: isize, now: i64) {
    let last = super::view::overlay_rows(ui, now).saturating_sub(1);
    match &mut ui.overlay {
        Some(Overlay::Help { scroll } | Overlay::Ledger { scroll, .. } | Overlay::Text { scroll, .. }) => {
            *scroll = scroll.saturating_add_signed(lines).min(last);
        }
        Some(Overlay::Explain(view)) => match &mut view.level {
            Level::Tools => view.selected = view.selected.saturating_add_signed(lines).min(last),
            Level::Answers { scroll } => *scroll = scroll.saturating_add_signed(lines).min(last),
        },
        Some(Overlay::Palette { selected, .. }) => *selected = selected.saturating_add_signed(lines).min(last),
        Some(Overlay::Card) => scroll_card(ui, lines),
        None => {}
    }
}

pub(super) fn move_row(ui: &mut Ui, by: isize) {
    let kind = ui.pane();
    let last = rows::count(ui, kind).saturating_sub(1);
    let row = rows::selected(ui, kind).min(last).saturating_add_signed(by).min(last);
    match kind {
        PaneKind::Agents => ui.panes.node = rows::agent_at(ui, row),
        _ => ui.panes.select(kind, row),
    }
}

fn move_or_scroll(ui: &mut Ui, by: isize, now: i64) {
    if ui.overlay.is_some() {
        scroll_overlay(ui, by, now);
    } else {
        move_row(ui, by);
    }
}

fn open_row(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    match &ui.overlay {
        Some(Overlay::Palette { .. }) => {
            let chosen = super::view::palette::chosen(ui);
            ui.overlay = None;
            return match chosen {
                Some(super::view::palette::Entry::Action(action)) => {
                    act(ui, action, Key::plain(super::message::KeyCode::Enter), now)
                }
                Some(super::view::palette::Entry::Command(row)) => choose_command(ui, row, now),
                None => Vec::new(),
            };
        }
        Some(Overlay::Explain(_)) => {
            explaining::enter(ui);
            return Vec::new();
        }
        Some(_) => {
            ui.overlay = None;
            return Vec::new();
        }
        None => {}
    }
    match ui.pane() {
        PaneKind::Tools => {
            let Some(row) = rows::selected_tools_row(ui) else { return Vec::new() };
            if let Some(tool) = row.id() {
                return explaining::open_tool(ui, tool);
            }
            let name = row.group.name().to_owned();
            if !ui.panes.expanded.remove(&name) {
                ui.panes.expanded.insert(name);
            }
        }
        PaneKind::Policy if ui.panes.policy_view == PolicyView::Matrix => {
            if let Some(owner) = rows::selected_owner(ui) {
                return explaining::open_cell(ui, owner);
            }
        }
        PaneKind::Conversations => {
            if let Some(row) = rows::selected_conversation(ui).filter(|row| !row.current) {
                return vec![Cmd::Submit(Command::Open { id: row.id.clone() })];
            }
        }
        PaneKind::Agents => {
            if let Some(node) = rows::selected_agent(ui) {
                look_at(ui, node);
                // What is typed now is for that agent, also an `x`.
                ui.panes.opened = Opened::ByWidth;
                ui.focus = Focus::Composer;
            }
        }
        PaneKind::Policy => {}
    }
    Vec::new()
}

/// The panes show another agent's report, around the end.
fn other_agent(ui: &mut Ui, by: isize, now: i64) -> Vec<Cmd> {
    let agents = ui.agents();
    let shown = ui.report().map(|report| &report.agent);
    let Some(at) = agents.iter().position(|report| Some(&report.agent) == shown).filter(|_| agents.len() > 1) else {
        ui.flash("there is one agent", now);
        return Vec::new();
    };
    let next = (at + agents.len()).saturating_add_signed(by) % agents.len();
    ui.panes.agent = agents.get(next).map(|report| report.agent.clone());
    ui.panes.select(PaneKind::Tools, 0);
    // In the matrix the agent is the column: the row stays.
    if ui.panes.policy_view == PolicyView::Lists {
        ui.panes.select(PaneKind::Policy, 0);
    }
    explaining::follow_agent(ui)
}

fn request_load(ui: &mut Ui, now: i64) {
    if ui.report().map(|report| &report.agent) != ui.entry_report().map(|report| &report.agent) {
        ui.flash("only that agent itself can load it", now);
        return;
    }
    let Some(group) = rows::selected_tools_row(ui).map(|row| row.group) else { return };
    let Some(row) = group.toolset() else { return ui.flash("it is held already", now) };
    match row.state {
        ToolsetState::Loadable | ToolsetState::Failed { .. } => {
            let words = format!("Please load the toolset {}.", clean_line(row.name.as_str()));
            ui.composer.suggest(&words);
            ui.panes.opened = Opened::ByWidth;
            ui.focus = Focus::Composer;
        }
        ToolsetState::Resident | ToolsetState::Preloaded | ToolsetState::Loaded => ui.flash("it is held already", now),
        ToolsetState::Refused { .. } | ToolsetState::Off { .. } | ToolsetState::NotAvailable => {
            ui.flash("it cannot be loaded: see its state", now);
        }
    }
}

fn switch(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    let Some(group) = rows::selected_tools_row(ui).map(|row| row.group) else { return Vec::new() };
    let Some(row) = group.toolset() else {
        ui.flash("core tools belong to no toolset and have no switch", now);
        return Vec::new();
    };
    let toolset = row.name.clone();
    // It is off for everybody, and an agent whose table does not list it is not told.
    let rows = ui.reports.values().flat_map(|report| &report.toolsets).filter(|row| row.name == toolset);
    let mut states = rows.map(|row| &row.state);
    let is_off = states.any(|state| matches!(state, ToolsetState::Off { by: Filter::SwitchedOff, .. }));
    let to = if is_off { Switched::On } else { Switched::Off };
    vec![Cmd::Submit(Command::Switch { toolset, to }), Cmd::Submit(Command::Report)]
}

fn revoke(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    let Some(grant) = rows::selected_grant(ui) else {
        ui.flash("choose a grant first", now);
        return Vec::new();
    };
    vec![Cmd::Submit(Command::Revoke { grant }), Cmd::Submit(Command::Report)]
}

/// Enter in the composer: runs a command, or says what is written.
pub(super) fn submit_draft(ui: &mut Ui, now: i64) -> Vec<Cmd> {
    let (rows, selected) = ui.composer.completions();
    if let Some(row) = rows.get(selected).copied() {
        return choose_command(ui, row, now);
    }
    let text = ui.composer.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    if let Some((command, argument)) = slash::parse(&text) {
        let argument = argument.to_owned();
        ui.composer.take();
        return run_command(ui, command, &argument, now);
    }
    if let Some(why) = ui.read_only() {
        ui.flash(format!("read-only, your draft stays: {why}"), now);
        return Vec::new();
    }
    let viewed = ui.tree.viewed();
    let to = viewed.id;
    if viewed.has_ended() {
        let back = ui.keys.first(Action::Close);
        let words =
            format!("{} has ended: your draft is kept; {back} goes back to {}", viewed.name, ui.tree.entry().name);
        ui.flash(words, now);
        return Vec::new();
    }
    ui.transcript_mut().follow();
    let text = ui.composer.take();
    vec![ui.here(Command::Say { to, text })]
}

/// A command chosen from a list: runs it, or writes it out where words must follow.
fn choose_command(ui: &mut Ui, row: &slash::Row, now: i64) -> Vec<Cmd> {
    if matches!(row.argument, Argument::Required(_)) {
        ui.focus = Focus::Composer;
        if ui.composer.complete().is_none() {
            ui.composer.suggest_command(row.word);
        }
        return Vec::new();
    }
    if !ui.composer.completions().0.is_empty() {
        ui.composer.take();
    }
    run_command(ui, row.slash, "", now)
}

fn run_command(ui: &mut Ui, command: Slash, argument: &str, now: i64) -> Vec<Cmd> {
    match command {
        Slash::Stop if ui.turn().is_some() => return stop(ui),
        Slash::Stop => ui.flash("nothing runs", now),
        Slash::New => return vec![Cmd::Submit(Command::New)],
        Slash::Conversations => return open_pane(ui, PaneKind::Conversations),
        Slash::Switch => return switch_conversation(ui, argument),
        Slash::Rename | Slash::Mode if ui.read_only().is_some() && !argument.is_empty() => {
            ui.flash(format!("read-only: {}", ui.read_only().unwrap_or_default()), now);
        }
        Slash::Rename if argument.is_empty() => ui.flash("/rename takes the new title", now),
        Slash::Rename => return vec![ui.here(Command::Rename { title: argument.to_owned() })],
        Slash::Agents => return open_pane(ui, PaneKind::Agents),
        Slash::Tools => return open_pane(ui, PaneKind::Tools),
        Slash::Policy => return open_pane(ui, PaneKind::Policy),
        Slash::Mode => {
            let name = Some(argument.to_owned()).filter(|name| !name.is_empty());
            return vec![ui.here(Command::Mode { name })];
        }
        Slash::Diag => return vec![Cmd::Submit(Command::Diagnostics)],
        Slash::Find => {
            start_search(ui);
            if !argument.is_empty() {
                let found = ui.transcript_mut().search(argument);
                ui.searching = Some(argument.to_owned());
                ui.prompt = None;
                ui.focus = Focus::Transcript;
                if found.total == 0 {
                    ui.flash("not found", now);
                }
            }
        }
        Slash::Copy => match last_answer(ui) {
            Some(text) => {
                ui.flash("copied the last answer", now);
                return vec![Cmd::Copy(text)];
            }
            None => ui.flash("there is no answer yet", now),
        },
        Slash::Theme => return theme(ui, argument, now),
        Slash::Mouse => return toggle_mouse(ui, now),
        Slash::Keys | Slash::Help => ui.overlay = Some(Overlay::Help { scroll: 0 }),
        Slash::Quit => return quit(),
    }
    Vec::new()
}

/// By id, its beginning, or words of exactly one title; else the list shows what there is.
fn switch_conversation(ui: &mut Ui, wanted: &str) -> Vec<Cmd> {
    let lower = wanted.to_lowercase();
    let by_id: Vec<_> = ui.conversations.iter().filter(|row| row.id.starts_with(wanted)).collect();
    let by_title: Vec<_> = ui.conversations.iter().filter(|row| row.title.to_lowercase().contains(&lower)).collect();
    let open = |id: &str| vec![Cmd::Submit(Command::Open { id: id.to_owned() })];
    match (by_id.as_slice(), by_title.as_slice()) {
        _ if wanted.is_empty() => {}
        ([one], _) | (_, [one]) => return open(&one.id),
        _ if ui.conversations.is_empty() => return open(wanted),
        _ => wanted.clone_into(&mut ui.panes.conversation_filter),
    }
    open_pane(ui, PaneKind::Conversations)
}

fn last_answer(ui: &Ui) -> Option<String> {
    ui.transcript().blocks().rev().find_map(|(_, block)| match block {
        Block::Assistant { text, .. } => Some(text.clone()),
        _ => None,
    })
}

/// Shown at once; whether it was kept is told by whoever keeps it.
fn theme(ui: &mut Ui, name: &str, now: i64) -> Vec<Cmd> {
    if name.is_empty() {
        let names = super::theme::SHIPPED.map(|(name, _)| name).join(", ");
        ui.notice(format!("theme {} is shown; there is {names}", ui.theme.name()), now);
        return Vec::new();
    }
    // Without colours every name is shown as mono, also one that there is not.
    match Theme::shipped(name, Colours::Ansi).and_then(|_| Theme::shipped(name, ui.colours)) {
        Ok(theme) => {
            ui.theme = theme;
            vec![Cmd::Submit(Command::KeepTheme { name: name.to_owned() })]
        }
        Err(error) => {
            ui.notice(error.to_string(), now);
            Vec::new()
        }
    }
}
