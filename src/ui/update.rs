//! What a message does to the screen: keys find their action by what has the focus, everything else is folded in.
//! Typing always reaches the composer; a card takes a key only while it has the focus.

use super::act::act;
use super::action::{Action, Context};
use super::command::Cmd;
use super::composer::Pasted;
use super::fold::fold;
use super::inbox::{CardId, Edited};
use super::line::LineInput;
use super::message::{EditorPurpose, Key, KeyCode, Mouse, MouseKind, Msg};
use super::pane::{Overlay, PaneKind, Prompt};
use super::state::{Focus, Ui, Window};
use crate::access::Answer;
use crate::agent::Command;

/// How often the assistant is told that somebody is here, milliseconds.
const PRESENT_MS: i64 = 5_000;
/// Lines that one turn of the wheel scrolls.
const WHEEL: isize = 3;

/// Takes one message in. `now` is when it arrived, milliseconds since the Unix epoch. The answer is carried out in order.
pub fn update(ui: &mut Ui, msg: Msg, now: i64) -> Vec<Cmd> {
    match msg {
        Msg::Key(key) => {
            let mut cmds: Vec<_> = present(ui, now).into_iter().collect();
            cmds.extend(press(ui, key, now));
            cmds
        }
        Msg::Paste(text) => {
            ui.inbox.key_pressed(now);
            ui.disarm();
            paste(ui, &text, now);
            present(ui, now).into_iter().collect()
        }
        Msg::Mouse(mouse) => pointed(ui, mouse, now),
        Msg::Resize { width, height } => {
            let visible = ui.conversations_visible();
            (ui.width, ui.height) = (width, height);
            if ui.focus == Focus::Pane && !ui.pane_visible() {
                ui.focus = Focus::Composer;
            }
            // It may be old: nobody asked for it while it was not drawn.
            let list = !visible && ui.conversations_visible() && ui.session.is_some();
            list.then_some(Cmd::Submit(Command::List)).into_iter().collect()
        }
        Msg::Focus(focused) => {
            ui.window = if focused { Window::Focused } else { Window::Away };
            Vec::new()
        }
        Msg::Tick => Vec::new(),
        Msg::Update(update) => fold(ui, *update, now),
        Msg::Returned => {
            ui.inbox.come_up(now);
            Vec::new()
        }
        Msg::EditorReturned { text: Err(error), .. } => {
            ui.notice(format!("the editor did not work: {error}"), now);
            Vec::new()
        }
        Msg::EditorReturned { purpose: EditorPurpose::Draft, text: Ok(text) } => {
            ui.composer.edited_outside(&text);
            Vec::new()
        }
        Msg::EditorReturned { purpose: EditorPurpose::Arguments(card), text: Ok(text) } => edited(ui, card, text, now),
        Msg::Notice(text) => {
            ui.notice(text, now);
            Vec::new()
        }
    }
}

/// Says that somebody is here (P12): at most once every five seconds.
fn present(ui: &mut Ui, now: i64) -> Option<Cmd> {
    // A clock that was set back must not make a person absent.
    if ui.presence_told.is_some_and(|told| (told..told + PRESENT_MS).contains(&now)) {
        return None;
    }
    ui.presence_told = Some(now);
    Some(Cmd::Submit(Command::Present))
}

fn edited(ui: &mut Ui, card: CardId, text: String, now: i64) -> Vec<Cmd> {
    match ui.inbox.edited(&card, &text) {
        Edited::Changed => {
            let CardId { conversation, call } = card;
            return vec![Cmd::Submit(Command::Edit { conversation, call, arguments: text })];
        }
        Edited::Unchanged => ui.flash("unchanged: the card stands as it was", now),
        Edited::Over => {
            ui.composer.remember(&text);
            let key = ui.keys.first(Action::HistoryPrevious);
            ui.notice(format!("that call does not ask any more; {key} brings back what you wrote"), now);
        }
    }
    Vec::new()
}

fn paste(ui: &mut Ui, text: &str, now: i64) {
    match &mut ui.prompt {
        Some(
            Prompt::Search(line)
            | Prompt::Reason { line, .. }
            | Prompt::FilterTools(line)
            | Prompt::FilterConversations(line),
        ) => line.insert(text),
        Some(Prompt::Delete { .. } | Prompt::Held { .. }) | None => {
            if matches!(ui.prompt, Some(Prompt::Held { .. })) {
                ui.prompt = None;
            }
            if let Some(Overlay::Palette { query, selected }) = &mut ui.overlay {
                query.insert(text);
                *selected = 0;
                return;
            }
            to_composer(ui);
            if let Pasted::Cut(bytes) = ui.composer.paste(text) {
                ui.notice(format!("the paste was cut at {bytes} bytes"), now);
            }
        }
    }
    prompt_changed(ui);
}

/// The contexts in which a key is looked up, narrowest first.
fn contexts(ui: &Ui) -> &'static [Context] {
    // A card in full view has its keys only while it has the focus, as in the strip.
    match (ui.overlay.as_ref().filter(|overlay| **overlay != Overlay::Card), ui.focus) {
        (Some(_), _) => &[Context::Pane, Context::Everywhere],
        (None, Focus::Card) => &[Context::Card, Context::Everywhere],
        (None, Focus::Composer) => &[Context::Composer, Context::Everywhere],
        (None, Focus::Transcript) => &[Context::Transcript, Context::Everywhere],
        (None, Focus::Pane) => match ui.pane() {
            PaneKind::Agents => &[Context::Agents, Context::Pane, Context::Everywhere],
            PaneKind::Tools => &[Context::Tools, Context::Pane, Context::Everywhere],
            PaneKind::Policy => &[Context::Policy, Context::Pane, Context::Everywhere],
            PaneKind::Conversations => &[Context::Conversations, Context::Pane, Context::Everywhere],
        },
    }
}

fn press(ui: &mut Ui, key: Key, now: i64) -> Vec<Cmd> {
    ui.inbox.key_pressed(now);
    let everywhere = ui.keys.find(&[Context::Everywhere], key);
    if !matches!(everywhere, Some(Action::Interrupt | Action::Close | Action::QuitIfEmpty)) {
        ui.disarm();
    }
    if ui.prompt.is_some() && !matches!(everywhere, Some(Action::Suspend | Action::Redraw)) {
        return prompt_key(ui, key, now);
    }
    if ui.composer.history_search().is_some()
        && let Some(cmds) = history_key(ui, key)
    {
        return cmds;
    }
    if let Some(Overlay::Palette { query, selected }) = &mut ui.overlay
        && query.key(key)
    {
        *selected = 0;
        return Vec::new();
    }
    match ui.keys.find(contexts(ui), key) {
        Some(action) => act(ui, action, key, now),
        None => typed(ui, key, now),
    }
}

/// The composer has the focus; a card in full view makes room.
fn to_composer(ui: &mut Ui) {
    ui.focus = Focus::Composer;
    if ui.overlay == Some(Overlay::Card) {
        ui.overlay = None;
    }
}

/// A key without an action: what types goes to the composer, whatever had the focus.
fn typed(ui: &mut Ui, key: Key, now: i64) -> Vec<Cmd> {
    if key.typed().is_some() {
        to_composer(ui);
        ui.composer.key(key);
    } else if ui.focus == Focus::Card {
        if key.code == KeyCode::Enter {
            let (allow, deny) = (ui.keys.first(Action::AllowOnce), ui.keys.first(Action::Deny));
            ui.flash(format!("Enter answers nothing: {allow} allows once, {deny} denies"), now);
        }
    } else if ui.focus == Focus::Composer && !matches!(ui.overlay, Some(Overlay::Palette { .. })) {
        ui.composer.key(key);
    }
    Vec::new()
}

fn history_key(ui: &mut Ui, key: Key) -> Option<Vec<Cmd>> {
    if ui.composer.search_key(key) {
        return Some(Vec::new());
    }
    let action = ui.keys.find(&[Context::Composer, Context::Everywhere], key);
    match action {
        Some(Action::HistorySearch | Action::HistoryPrevious) => ui.composer.search_history(),
        Some(Action::Close | Action::Interrupt) => _ = ui.composer.cancel_search(),
        Some(Action::Send) => ui.composer.accept_search(),
        _ => {
            // Any other key takes what was found and then does what it does.
            ui.composer.accept_search();
            return None;
        }
    }
    Some(Vec::new())
}

fn prompt_key(ui: &mut Ui, key: Key, now: i64) -> Vec<Cmd> {
    let leave = matches!(ui.keys.find(&[Context::Everywhere], key), Some(Action::Close | Action::Interrupt));
    if let Some(Prompt::Delete { id, title }) = &ui.prompt {
        let (id, title) = (id.clone(), title.clone());
        ui.prompt = None;
        if key.typed() == Some('y') {
            return vec![Cmd::Submit(Command::Delete { id }), Cmd::Submit(Command::List)];
        }
        ui.flash(format!("kept: {}", super::text::clean_line(&title)), now);
        return Vec::new();
    }
    if let Some(Prompt::Held { id, .. }) = &ui.prompt {
        let id = id.clone();
        ui.prompt = None;
        // It came up by itself: an Enter that a draft waits for is the draft's.
        if key.code == KeyCode::Enter && ui.composer.is_empty() {
            return vec![Cmd::Submit(Command::OpenReadOnly { id })];
        }
        // A key of something else does what it does.
        return if leave { Vec::new() } else { press(ui, key, now) };
    }
    if leave {
        match ui.prompt.take() {
            Some(Prompt::Search(_)) => end_search(ui),
            Some(Prompt::FilterTools(_)) => ui.panes.tool_filter.clear(),
            Some(Prompt::FilterConversations(_)) => ui.panes.conversation_filter.clear(),
            Some(Prompt::Reason { line, .. }) => ui.composer.remember(&line.text()),
            Some(Prompt::Delete { .. } | Prompt::Held { .. }) | None => {}
        }
        return Vec::new();
    }
    if key.code == KeyCode::Enter {
        return match ui.prompt.take() {
            Some(Prompt::Search(line)) => {
                if line.is_empty() {
                    end_search(ui);
                } else {
                    ui.focus = Focus::Transcript;
                }
                Vec::new()
            }
            Some(Prompt::Reason { card, line }) => deny(ui, &card, &line, now),
            _ => Vec::new(),
        };
    }
    if let (Some(Prompt::Search(_)), KeyCode::Up | KeyCode::Down) = (&ui.prompt, key.code) {
        if key.code == KeyCode::Up {
            ui.transcript_mut().search_previous();
        } else {
            ui.transcript_mut().search_next();
        }
        return Vec::new();
    }
    if let Some(
        Prompt::Search(line)
        | Prompt::Reason { line, .. }
        | Prompt::FilterTools(line)
        | Prompt::FilterConversations(line),
    ) = &mut ui.prompt
    {
        line.key(key);
    }
    prompt_changed(ui);
    Vec::new()
}

/// Searches and filters follow what is typed.
fn prompt_changed(ui: &mut Ui) {
    match &ui.prompt {
        Some(Prompt::Search(line)) => {
            let words = line.text();
            ui.transcript_mut().search(&words);
            ui.searching = (!words.is_empty()).then_some(words);
        }
        Some(Prompt::FilterTools(line)) => {
            ui.panes.tool_filter = line.text();
            ui.panes.select(PaneKind::Tools, 0);
        }
        Some(Prompt::FilterConversations(line)) => {
            ui.panes.conversation_filter = line.text();
            ui.panes.select(PaneKind::Conversations, 0);
        }
        Some(Prompt::Reason { .. } | Prompt::Delete { .. } | Prompt::Held { .. }) | None => {}
    }
}

pub(super) fn end_search(ui: &mut Ui) {
    ui.transcript_mut().end_search();
    ui.searching = None;
}

fn deny(ui: &mut Ui, card: &CardId, line: &LineInput, now: i64) -> Vec<Cmd> {
    // The card that was up when the sentence was begun is the one that it denies.
    let Some(place) = ui.inbox.place_of(card) else { return Vec::new() };
    ui.inbox.go_to(place, now);
    let reason = line.text();
    let reason = reason.trim();
    let answer =
        if reason.is_empty() { Answer::Denied } else { Answer::DeniedWithReason { reason: reason.to_owned() } };
    super::act::answer(ui, answer, now)
}

fn pointed(ui: &mut Ui, mouse: Mouse, now: i64) -> Vec<Cmd> {
    let layout = ui.layout(now);
    let at = |rect: ratatui::layout::Rect| rect.contains((mouse.column, mouse.row).into());
    let lines = match mouse.kind {
        MouseKind::ScrollUp => -WHEEL,
        MouseKind::ScrollDown => WHEEL,
        MouseKind::Press => {
            if at(layout.composer) {
                to_composer(ui);
                ui.composer.click(mouse.column, mouse.row);
            } else if at(layout.card) && !ui.inbox.is_empty() {
                super::act::focus_card(ui);
            } else if ui.overlay.is_some() {
                // A view over the transcript keeps the keys until it is closed.
            } else if at(layout.right) || (at(layout.main) && ui.main_covered()) {
                ui.focus = Focus::Pane;
            } else if at(layout.main) && !ui.main_covered() {
                ui.focus = Focus::Transcript;
            }
            return Vec::new();
        }
    };
    if at(layout.card) {
        super::act::scroll_card(ui, lines);
    } else if ui.overlay.is_some() {
        super::act::scroll_overlay(ui, lines, now);
    } else if at(layout.right) || (at(layout.main) && ui.main_covered()) {
        super::act::move_row(ui, lines);
    } else {
        ui.transcript_mut().scroll(lines);
    }
    Vec::new()
}
