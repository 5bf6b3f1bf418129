//! Asks come and go: which event brings a card, which takes it away, and where one leads. The cards of every agent and of
//! every conversation are one inbox; how a card looks is the view's.

use super::command::Cmd;
use super::inbox::{CardId, Showing};
use super::pane::{Overlay, Prompt};
use super::state::{Focus, Ui, Window};
use super::text::clean_line;
use crate::access::{AgentName, Answer};
use crate::agent::{Asker, CallId, Command, Event, NodeId};

/// Takes in what one event says of the cards, whoever it is about.
pub(super) fn tell(ui: &mut Ui, conversation: &str, node: NodeId, event: &Event, now: i64) -> Vec<Cmd> {
    let id = |call: &CallId| CardId { conversation: conversation.to_owned(), call: *call };
    let mut cmds = Vec::new();
    match event {
        Event::Session { .. } => {
            for card in ui.inbox.begin(conversation, now) {
                let id = card.id();
                salvage(ui, &id, card.unsaved(), now);
            }
            name(ui);
        }
        Event::Ask { ask, preview, changed, showing } => {
            let in_view = ui.conversation() == conversation;
            let chain = asker(&ask.chain, Words::Whole);
            let mut sentence = format!("{chain} asks: {}", clean_line(&ask.tool.to_string()));
            // Calls of one answer come up in any order, as their previews are made, and a person begins with the first; but
            // a card that they are at, or can answer already, is not taken from them.
            let unread = ui.focus != Focus::Card && ui.inbox.shown().is_none_or(|card| card.inert_for(now) > 0);
            let showing = Showing { changed: *changed, number: *showing };
            ui.inbox.arrive(conversation, ask.clone(), preview.clone(), showing, now);
            if unread && !ui.inbox.is_wanted() {
                ui.inbox.go_to(1, now);
            }
            name(ui);
            mark_waiting(ui);
            if !in_view {
                sentence = format!("in {}: {sentence}", ui.conversation_name(conversation));
            }
            let rings = ui.bell && ui.window == Window::Away && !(ui.replaying && in_view);
            cmds.extend(rings.then_some(Cmd::Notify(sentence)));
        }
        Event::Answer { call, answer } => {
            over(ui, &id(call), answer, now);
            let granted = matches!(answer, Answer::AllowedForConversation);
            if granted && !ui.replaying && ui.conversation() == conversation {
                cmds.push(Cmd::Submit(Command::Report));
            }
        }
        Event::ToolResult { call, .. } => close(ui, &id(call), now),
        Event::End { .. } => {
            let of_it = |card: &&super::inbox::Card| node.is_entry() || card.ask.call.node() == node;
            let open: Vec<_> = ui.inbox.of(conversation).filter(of_it).map(super::inbox::Card::id).collect();
            for id in open {
                close(ui, &id, now);
            }
        }
        Event::Held { id, holder } => super::elsewhere::held(ui, id, holder, now),
        _ => {}
    }
    cmds
}

/// A card was answered. One of another conversation that nobody here answered leaves no receipt in view: it is said.
fn over(ui: &mut Ui, id: &CardId, answer: &Answer, now: i64) {
    let card = ui.inbox.of(&id.conversation).find(|card| card.ask.call == id.call && !card.answered());
    let said = card.and_then(|card| {
        let place = card.elsewhere.as_ref()?;
        Some(format!("{} in {place} asks no more: {answer}", asker(&card.ask.chain, Words::Whole)))
    });
    if let Some(said) = said {
        ui.notice(said, now);
    }
    close(ui, id, now);
}

fn close(ui: &mut Ui, id: &CardId, now: i64) {
    let Some(card) = ui.inbox.remove(id, now) else { return };
    mark_waiting(ui);
    salvage(ui, id, card.unsaved(), now);
    if ui.inbox.is_empty() {
        if ui.overlay == Some(Overlay::Card) {
            ui.overlay = None;
        }
        if ui.focus == Focus::Card {
            ui.focus = Focus::Composer;
        }
    }
}

/// Nothing that a person typed for a card that is gone is lost: it goes to the composer's history.
fn salvage(ui: &mut Ui, gone: &CardId, arguments: Option<String>, now: i64) {
    if let Some(text) = arguments {
        ui.composer.remember(&text);
        ui.flash("that ask is over; what you made of its arguments is in the composer's history", now);
    }
    match ui.prompt.take() {
        Some(Prompt::Reason { card, line }) if card == *gone => {
            ui.composer.remember(&line.text());
            if !line.is_empty() {
                ui.flash("that ask is over; your sentence is in the composer's history", now);
            }
        }
        other => ui.prompt = other,
    }
}

/// The calls of the conversation in view that wait, each marked with its place.
fn mark_waiting(ui: &mut Ui) {
    let waiting: Vec<_> = ui.inbox.calls().collect();
    let of = ui.inbox.len();
    ui.tree.mark_waiting(&waiting, of);
}

/// Cards of other conversations say which, as they are called by now.
pub(super) fn name(ui: &mut Ui) {
    let mut inbox = std::mem::take(&mut ui.inbox);
    inbox.name(|id| ui.conversation_name(id));
    ui.inbox = inbox;
}

/// Goes to who asks: the call in that agent's transcript, or the conversation that it is of.
pub(super) fn go_to_asker(ui: &mut Ui) -> Vec<Cmd> {
    let Some(card) = ui.inbox.shown() else { return Vec::new() };
    let id = card.id();
    ui.overlay = None;
    if id.conversation != ui.conversation() {
        ui.inbox.want(id.clone());
        return vec![Cmd::Submit(Command::Open { id: id.conversation })];
    }
    ui.focus = Focus::Transcript;
    super::act::look_at(ui, id.call.node());
    let scene = &mut ui.tree.viewed_mut().scene;
    scene.transcript.select(scene.story.block_of(id.call));
    Vec::new()
}

/// How a composed worker is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// In P15's words.
    Whole,
    /// Where they do not fit; they stand in the card itself.
    Short,
}

/// Who asks, innermost first: `coder#1 < assistant`; a composed worker in P15's words: `a worker composed by coder#1,
/// calling itself 'tidy'#1 < coder#1 < assistant`.
pub(super) fn asker(chain: &[Asker], words: Words) -> String {
    let names = chain.iter().enumerate().map(|(at, asker)| match label(&asker.agent) {
        Some(label) if words == Words::Whole => {
            let by = chain.get(at + 1).map_or_else(|| "another agent".to_owned(), short);
            format!("a worker composed by {by}, calling itself '{label}'{}", number(asker))
        }
        _ => short(asker),
    });
    names.collect::<Vec<_>>().join(" < ")
}

/// The entry agent by its name and a worker by its address, so that two of one agent are told apart; a composed one by what
/// it calls itself, which says so (P15).
pub(super) fn short(asker: &Asker) -> String {
    match label(&asker.agent) {
        Some(label) => format!("'{label}'{} (composed)", number(asker)),
        None => clean_line(asker.address.as_deref().unwrap_or(asker.agent.as_str())),
    }
}

/// What tells workers that call themselves alike apart: the `#2` of the address.
fn number(asker: &Asker) -> String {
    let number = asker.address.as_deref().and_then(|address| address.rsplit_once('#'));
    number.map(|(_, number)| format!("#{}", clean_line(number))).unwrap_or_default()
}

/// The label of a composed worker, cleaned: what it is called is a model's word.
pub(super) fn label(agent: &AgentName) -> Option<String> {
    let name = agent.label()?;
    // Workers that call themselves alike are told apart by a number, which is not what they call themselves.
    Some(clean_line(name.split_once('#').map_or(name, |(label, _)| label)))
}
