//! What the assistant tells, folded into the screen's state. Every front end is told the same; this one draws it.

use super::command::Cmd;
use super::pane::{Overlay, PaneKind};
use super::state::{Focus, Session, Ui};
use super::text::clean_line;
use super::view::panes;
use super::{cards, elsewhere, explaining};
use crate::access::ModeName;
use crate::agent::update::Severity;
use crate::agent::{Command, Event, NodeId, Update, UserOrigin};

/// Takes one update in, and answers with what has to be done outside.
pub fn fold(ui: &mut Ui, update: Update, now: i64) -> Vec<Cmd> {
    let Update { conversation, node, event } = update;
    let begins = matches!(event, Event::Session { .. });
    let mut cmds = cards::tell(ui, &conversation, node, &event, now);
    let another = |session: &Session| session.conversation != conversation;
    if !conversation.is_empty() && !begins && ui.session.as_ref().is_some_and(another) {
        cmds.extend(elsewhere::tell(ui, &conversation, node, &event, now));
        return cmds;
    }
    if begins {
        begin(ui);
    }
    ui.tree.tell(node, &event, now, ui.replaying);
    match event {
        Event::Session { title, agent, mode, rehearsal, window, tool_limit, read_only, .. } => {
            ui.session = Some(Session { conversation, title, agent, mode, rehearsal, window, tool_limit, read_only });
            cmds.push(window_title(ui));
        }
        Event::Window { tokens } => {
            if let Some(session) = &mut ui.session {
                session.window = Some(tokens);
            }
        }
        Event::Replayed => {
            ui.replaying = false;
            // What another program runs is not seen to go on here.
            if ui.session.as_ref().is_some_and(|session| session.read_only.is_some()) {
                ui.tree.rest();
            }
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
        Event::Alert(alert) => {
            if !ui.replaying {
                ui.alert(alert, now);
            }
        }
        Event::End { .. } => {
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
            // Rows move as conversations change; Enter and `d` mean the one that was selected.
            let selected = panes::selected_conversation(ui).map(|row| row.id.clone());
            ui.conversations = list;
            cards::name(ui);
            let rows = panes::conversations(ui);
            let found = rows.iter().position(|row| Some(&row.id) == selected.as_ref());
            let row = found.unwrap_or_else(|| ui.panes.row(PaneKind::Conversations).min(rows.len().saturating_sub(1)));
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
        | Event::Ask { .. }
        | Event::Answer { .. }
        | Event::ToolResult { .. }
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

fn begin(ui: &mut Ui) {
    ui.tree.clear();
    ui.panes.node = NodeId::ENTRY;
    // Notices are of the conversation before. Warnings stay until a person puts them away.
    ui.alerts.retain(|shown| shown.alert.severity == Severity::Warning);
    ui.searching = None;
    ui.replaying = true;
    if matches!(ui.overlay, Some(Overlay::Card | Overlay::Ledger { .. })) {
        ui.overlay = None;
    }
    if matches!(ui.focus, Focus::Card | Focus::Transcript) {
        ui.focus = Focus::Composer;
    }
}

fn window_title(ui: &Ui) -> Cmd {
    let title = ui.session.as_ref().and_then(|session| session.title.as_deref()).map(clean_line);
    Cmd::SetTitle(
        title.filter(|title| !title.is_empty()).map_or_else(|| "kokua".to_owned(), |title| format!("kokua: {title}")),
    )
}
