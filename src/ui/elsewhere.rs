//! The conversations that are not in view: how they are called, what of theirs reaches a person, and the one that another
//! program has open.

use super::command::Cmd;
use super::pane::Prompt;
use super::state::Ui;
use super::text::{clean_line, truncate};
use crate::access::Answer;
use crate::agent::effect::TurnEnd;
use crate::agent::update::{Activity, Alert, ConversationSummary, Severity};
use crate::agent::{Command, Event, NodeId};

/// Columns of a title where it stands in a sentence.
const TITLE: usize = 32;
/// Characters of an id that tell conversations apart: the milliseconds in which it was made.
const SHORT_ID: usize = 13;

impl Ui {
    /// A conversation as a person knows it: its title in quotes where the list has it, else the beginning of its id.
    pub(super) fn conversation_name(&self, id: &str) -> String {
        let known = self.conversations.iter().find(|row| row.id == id).map(|row| clean_line(&row.title));
        match known.filter(|title| !title.is_empty()) {
            Some(title) => format!("\"{}\"", truncate(&title, TITLE)),
            None => format!("conversation {}", clean_line(&id.chars().take(SHORT_ID).collect::<String>())),
        }
    }

    /// What goes on in a conversation: as told in the list, or as this screen knows better.
    pub(super) fn activity(&self, row: &ConversationSummary) -> Activity {
        if self.inbox.of(&row.id).next().is_some() {
            return Activity::Asking;
        }
        // What goes on in the one in view is told at once, the list only when it is asked for.
        match (self.conversation() == row.id, self.is_running()) {
            (true, true) => Activity::Running,
            (true, false) => Activity::Idle,
            (false, _) => row.activity,
        }
    }

    /// A conversation that is not in view runs.
    pub(super) fn others_run(&self) -> bool {
        let view = self.conversation();
        self.conversations.iter().any(|row| row.id != view && self.activity(row) != Activity::Idle)
    }
}

/// What happens in a conversation that is not in view reaches the person only where it needs them.
pub(super) fn tell(ui: &mut Ui, conversation: &str, node: NodeId, event: &Event, now: i64) -> Vec<Cmd> {
    let name = ui.conversation_name(conversation);
    match event {
        Event::Alert(alert) => {
            let message = format!("in {name}: {}", alert.message);
            ui.alert(Alert { message, ..alert.clone() }, now);
        }
        // P12: nobody was asked, so nothing else says it here.
        Event::Answer { answer: Answer::AutoDenied { reason }, .. } => {
            let message = format!("A call in {name} was not allowed: {}", clean_line(reason));
            let hint = Some("F6 leads there; its row says which".to_owned());
            ui.alert(Alert { severity: Severity::Warning, message, hint }, now);
        }
        Event::End { end, .. } if node.is_entry() => match end {
            TurnEnd::Answered | TurnEnd::WrappedUp => ui.notice(format!("Reply ready in {name}."), now),
            TurnEnd::Failed { .. } => {
                let message = format!("A reply in {name} failed.");
                ui.alert(Alert { severity: Severity::Warning, message, hint: None }, now);
            }
            TurnEnd::Stopped | TurnEnd::Interrupted => {}
        },
        _ => {}
    }
    if matches!(event, Event::End { .. })
        && node.is_entry()
        && let Some(row) = ui.conversations.iter_mut().find(|row| row.id == conversation)
    {
        row.activity = Activity::Idle;
    }
    let listed = matches!(event, Event::Ask { .. } | Event::Answer { .. } | Event::End { .. } | Event::Titled { .. });
    (listed && ui.conversations_visible()).then_some(Cmd::Submit(Command::List)).into_iter().collect()
}

/// A conversation that was asked for is open in another program: a person may look at it. What they are typing elsewhere is
/// not taken from them for it.
pub(super) fn held(ui: &mut Ui, id: &str, holder: &str, now: i64) {
    let holder = clean_line(holder);
    if ui.prompt.is_some() {
        let hint = Some("open it again to look at it read-only".to_owned());
        ui.alert(Alert { severity: Severity::Warning, message: holder, hint }, now);
    } else {
        ui.prompt = Some(Prompt::Held { id: id.to_owned(), holder });
    }
}
