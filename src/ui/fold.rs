//! What the assistant tells, folded into the screen's state. Every front end is told the same; this one draws it.

use super::command::Cmd;
use super::explaining;
use super::inbox::Showing;
use super::pane::{Overlay, PaneKind, Prompt};
use super::state::{Focus, Session, Ui, Window};
use super::text::clean_line;
use crate::access::ModeName;
use crate::agent::call::CallId;
use crate::agent::update::{Alert, Preview, Severity};
use crate::agent::{Ask, Command, Event, NodeId, Update, UserOrigin};

/// Takes one update in, and answers with what has to be done outside.
pub fn fold(ui: &mut Ui, update: Update, now: i64) -> Vec<Cmd> {
    let Update { conversation, node, event } = update;
    let begins = matches!(event, Event::Session { .. });
    let elsewhere = |session: &Session| session.conversation != conversation;
    if !conversation.is_empty() && !begins && ui.session.as_ref().is_some_and(elsewhere) {
        return fold_elsewhere(ui, &event, now);
    }
    let mut cmds = Vec::new();
    if begins {
        begin(ui);
    }
    ui.tree.tell(node, &event, now, ui.replaying);
    match event {
        Event::Session { title, agent, mode, model, rehearsal, window, tool_limit, read_only, .. } => {
            ui.session =
                Some(Session { conversation, title, agent, mode, model, rehearsal, window, tool_limit, read_only });
            cmds.push(window_title(ui));
        }
        Event::Window { tokens } => {
            if let Some(session) = &mut ui.session {
                session.window = Some(tokens);
            }
        }
        Event::Replayed => {
            ui.replaying = false;
            cmds.push(Cmd::Submit(Command::Report));
            cmds.push(Cmd::Submit(Command::List));
        }
        Event::Mode { mode } => {
            if !ui.replaying {
                ui.notice(format!("mode {} from the next call on", clean_line(mode.as_str())), now);
            }
            if let Some(session) = &mut ui.session {
                session.mode = mode;
            }
        }
        Event::Modes { current, modes } => {
            let lines = modes.iter().map(|(name, withheld)| mode_line(name, withheld, *name == current)).collect();
            ui.overlay = Some(Overlay::Text {
                title: "modes: /mode <name> gives this conversation one".to_owned(),
                lines,
                scroll: 0,
            });
        }
        Event::Titled { title } => {
            if let Some(session) = &mut ui.session {
                session.title = Some(title);
            }
            cmds.push(window_title(ui));
            cmds.extend(list_again(ui));
        }
        Event::Said { text, origin } => {
            // A worker's first words are its task, which nobody typed.
            if ui.replaying && node.is_entry() && origin == UserOrigin::Person {
                ui.composer.remember(&text);
            }
        }
        Event::Call(line) if node.is_entry() => {
            // A check may have changed what calls carry since the last report.
            let reported = ui.entry_report().is_none_or(|report| report.offered == (line.tools, line.tool_bytes));
            let old = !line.grown.is_empty() || !reported;
            if old && !ui.replaying {
                cmds.push(Cmd::Submit(Command::Report));
            }
        }
        Event::Ask { ask, preview, changed, showing } => {
            cmds.extend(asked(ui, ask, preview, Showing { changed, number: showing }, now));
        }
        Event::Answer { call, answer } => {
            let granted = matches!(answer, crate::access::Answer::AllowedForConversation);
            close_card(ui, call, now);
            if granted && !ui.replaying {
                cmds.push(Cmd::Submit(Command::Report));
            }
        }
        Event::ToolResult { call, .. } => close_card(ui, call, now),
        Event::Alert(alert) => {
            if !ui.replaying {
                ui.alert(alert, now);
            }
        }
        Event::End { .. } => {
            // With the turn end those of all its agents.
            let open: Vec<_> = ui.inbox.calls().filter(|call| node.is_entry() || call.node() == node).collect();
            for call in open {
                close_card(ui, call, now);
            }
            if node.is_entry() {
                cmds.extend(list_again(ui));
            }
        }
        Event::Report(report) => {
            let agent = report.agent.clone();
            ui.reports.insert(agent.clone(), *report);
            cmds.extend(explaining::ask_again(ui, &agent));
        }
        Event::Explained { agent, tool, explanation } => explaining::answered(ui, &agent, tool, *explanation),
        Event::Conversations { list } => {
            ui.conversations = list;
            let last = ui.conversations.len().saturating_sub(1);
            let row = ui.panes.row(PaneKind::Conversations).min(last);
            ui.panes.select(PaneKind::Conversations, row);
        }
        Event::Diagnostics { lines } => {
            ui.overlay = Some(Overlay::Text { title: "diagnostics".to_owned(), lines, scroll: 0 });
        }
        // These concern one agent, and its own state has them.
        Event::TurnStarted { .. }
        | Event::Call(_)
        | Event::Delta { .. }
        | Event::Reasoning { .. }
        | Event::Writing { .. }
        | Event::Usage { .. }
        | Event::Retrying { .. }
        | Event::SideCall { .. }
        | Event::UnusedAllows { .. }
        | Event::Held { .. }
        | Event::Spawned(_)
        | Event::Waiting { .. }
        | Event::Undelivered { .. }
        | Event::Queued { .. }
        | Event::ToolCall { .. }
        | Event::Edited { .. }
        | Event::Running { .. }
        | Event::Error { .. } => {}
    }
    cmds
}

/// `> companion   withholds kind:mcp, mcp`.
fn mode_line(name: &ModeName, withheld: &[String], current: bool) -> String {
    let mark = if current { '>' } else { ' ' };
    let withheld = if withheld.is_empty() { "nothing".to_owned() } else { clean_line(&withheld.join(", ")) };
    format!(" {mark} {:<14} withholds {withheld}", clean_line(name.as_str()))
}

/// A turn or a title changes the list of conversations: asked for again where it is on the screen.
fn list_again(ui: &Ui) -> Option<Cmd> {
    (!ui.replaying && ui.conversations_visible()).then_some(Cmd::Submit(Command::List))
}

/// A card comes up. Where nobody looks, it rings.
fn asked(ui: &mut Ui, ask: Ask, preview: Preview, showing: Showing, now: i64) -> Option<Cmd> {
    let sentence = format!("{} asks: {}", asker(&ask.chain), clean_line(&ask.tool.to_string()));
    // Calls of one answer come up in any order, as their previews are made, and a person begins with the first; but a card
    // that they are at, or can answer already, is not taken from them.
    let unread = ui.focus != Focus::Card && ui.inbox.shown().is_none_or(|card| card.inert_for(now) > 0);
    ui.inbox.arrive(ask, preview, showing, now);
    if unread {
        ui.inbox.go_to(1);
    }
    mark_waiting(ui);
    (ui.bell && ui.window == Window::Away && !ui.replaying).then_some(Cmd::Notify(sentence))
}

/// What happens in a conversation that is not in view reaches the person only where it needs them.
fn fold_elsewhere(ui: &mut Ui, event: &Event, now: i64) -> Vec<Cmd> {
    match event {
        Event::Alert(alert) => ui.alert(alert.clone(), now),
        Event::Ask { ask, .. } => {
            let message = format!("{} asks in another conversation: {}", asker(&ask.chain), ask.tool);
            let hint = Some("F6 lists the conversations".to_owned());
            ui.alert(Alert { severity: Severity::Warning, message, hint }, now);
        }
        _ => {}
    }
    Vec::new()
}

fn begin(ui: &mut Ui) {
    ui.tree.clear();
    ui.panes.node = NodeId::ENTRY;
    ui.inbox.clear();
    // Notices are of the conversation before. Warnings stay until a person puts them away.
    ui.alerts.retain(|shown| shown.alert.severity == Severity::Warning);
    ui.searching = None;
    ui.replaying = true;
    salvage_reason(ui, |_| true);
    if matches!(ui.overlay, Some(Overlay::Card | Overlay::Ledger { .. })) {
        ui.overlay = None;
    }
    if matches!(ui.focus, Focus::Card | Focus::Transcript) {
        ui.focus = Focus::Composer;
    }
}

fn close_card(ui: &mut Ui, call: CallId, now: i64) {
    let Some(card) = ui.inbox.remove(call, now) else { return };
    mark_waiting(ui);
    if let Some(text) = card.unsaved() {
        ui.composer.remember(&text);
        ui.flash("that ask is over; what you made of its arguments is in the composer's history", now);
    }
    if salvage_reason(ui, |of| of == call) {
        ui.flash("that ask is over; your sentence is in the composer's history", now);
    }
    if ui.inbox.is_empty() {
        if ui.overlay == Some(Overlay::Card) {
            ui.overlay = None;
        }
        if ui.focus == Focus::Card {
            ui.focus = Focus::Composer;
        }
    }
}

fn mark_waiting(ui: &mut Ui) {
    let waiting: Vec<_> = ui.inbox.calls().collect();
    ui.tree.mark_waiting(&waiting);
}

/// A reason that was being typed for a card that is gone goes to history: nothing a person typed is lost.
fn salvage_reason(ui: &mut Ui, gone: impl Fn(CallId) -> bool) -> bool {
    match ui.prompt.take() {
        Some(Prompt::Reason { call, line }) if gone(call) => {
            ui.composer.remember(&line.text());
            !line.is_empty()
        }
        other => {
            ui.prompt = other;
            false
        }
    }
}

fn window_title(ui: &Ui) -> Cmd {
    let title = ui.session.as_ref().and_then(|session| session.title.as_deref()).map(clean_line);
    Cmd::SetTitle(
        title.filter(|title| !title.is_empty()).map_or_else(|| "kokua".to_owned(), |title| format!("kokua: {title}")),
    )
}

fn asker(chain: &[crate::access::AgentName]) -> String {
    clean_line(&chain.iter().map(crate::access::AgentName::as_str).collect::<Vec<_>>().join(" < "))
}
