//! The screen's whole state as one value. It is changed by [`super::update()`] and drawn by [`super::view()`]; it knows no
//! clock and no terminal.

use std::collections::{BTreeMap, VecDeque};

use super::action::KeyMap;
use super::command::Cmd;
use super::composer::Composer;
use super::inbox::Inbox;
use super::layout::{self, Columns, Layout, Wants};
use super::pane::{Opened, Overlay, PaneKind, Panes, Prompt};
use super::theme::{Colours, Theme};
use super::transcript::Transcript;
use super::tree::{ModelCall, Tree, Turn};
use crate::access::{AgentName, AgentReport, ModeName};
use crate::agent::update::{Alert, ConversationSummary, Severity};
use crate::agent::{Command, NodeId};

/// How long a passing hint stays, milliseconds.
pub(super) const FLASH_MS: i64 = 2_000;
/// How long a notice stays in the alert strip; a warning stays until Esc.
const NOTICE_MS: i64 = 8_000;
/// Alerts kept.
const ALERTS: usize = 50;
/// Rows of a card beside its arguments: heading, keys and rule.
pub(super) const CARD_FRAME_ROWS: u16 = 3;

/// What a session of the screen is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How it looks.
    pub theme: Theme,
    /// Whether the terminal shows colours, for a theme chosen later.
    pub colours: Colours,
    /// Which key does what.
    pub keys: KeyMap,
    /// Mouse reports at start.
    pub mouse: bool,
    /// Ring and notify when an ask waits and the terminal is unfocused.
    pub bell: bool,
    /// Show reasoning unfolded.
    pub reasoning: bool,
}

/// The conversation in view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub conversation: String,
    /// Its title.
    pub title: Option<String>,
    /// The entry agent.
    pub agent: AgentName,
    /// Its mode.
    pub mode: ModeName,
    /// It is the rehearsal model.
    pub rehearsal: bool,
    /// The model's window, tokens.
    pub window: Option<u64>,
    /// Its provider is known to refuse more tools than this in one call.
    pub tool_limit: Option<usize>,
    /// Nothing can be said here: who has it open.
    pub read_only: Option<String>,
}

/// An alert in the strip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownAlert {
    /// What.
    pub alert: Alert,
    /// When it goes by itself; `None`: when it is put away.
    pub until: Option<i64>,
}

/// What takes keys first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Focus {
    /// The composer.
    Composer,
    /// The card in the strip.
    Card,
    /// The side pane.
    Pane,
    /// The transcript.
    Transcript,
}

/// Whether somebody looks at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Window {
    /// It has the desktop's focus, or never said otherwise.
    Focused,
    /// It lost it.
    Away,
}

/// What a second press within [`FLASH_MS`] would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Armed {
    Stop,
    Quit,
}

/// The screen.
#[derive(Debug)]
pub struct Ui {
    pub(super) theme: Theme,
    pub(super) colours: Colours,
    pub(super) keys: KeyMap,
    pub(super) mouse: bool,
    pub(super) bell: bool,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) window: Window,
    pub(super) replaying: bool,
    pub(super) session: Option<Session>,
    pub(super) tree: Tree,
    pub(super) composer: Composer,
    pub(super) inbox: Inbox,
    pub(super) reports: BTreeMap<AgentName, AgentReport>,
    pub(super) conversations: Vec<ConversationSummary>,
    pub(super) alerts: VecDeque<ShownAlert>,
    pub(super) focus: Focus,
    pub(super) panes: Panes,
    pub(super) overlay: Option<Overlay>,
    pub(super) prompt: Option<Prompt>,
    pub(super) searching: Option<String>,
    /// When the assistant was last told that somebody is here (P12).
    pub(super) presence_told: Option<i64>,
    flash: Option<(String, i64)>,
    armed: Option<(Armed, i64)>,
}

impl Ui {
    /// A command for the conversation in view, and no other.
    pub(super) fn here(&self, command: Command) -> Cmd {
        Cmd::Submit(Command::In { conversation: self.conversation().to_owned(), command: Box::new(command) })
    }

    /// The id of the conversation in view; empty before there is one.
    pub(super) fn conversation(&self) -> &str {
        self.session.as_ref().map(|session| session.conversation.as_str()).unwrap_or_default()
    }

    /// A screen that was told nothing yet. The first message must be [`super::Msg::Resize`].
    pub fn new(settings: Settings) -> Self {
        Self {
            theme: settings.theme,
            colours: settings.colours,
            keys: settings.keys,
            mouse: settings.mouse,
            bell: settings.bell,
            width: 0,
            height: 0,
            window: Window::Focused,
            replaying: false,
            session: None,
            tree: Tree::new(settings.reasoning),
            composer: Composer::default(),
            inbox: Inbox::default(),
            reports: BTreeMap::new(),
            conversations: Vec::new(),
            alerts: VecDeque::new(),
            focus: Focus::Composer,
            panes: Panes::default(),
            overlay: None,
            prompt: None,
            searching: None,
            presence_told: None,
            flash: None,
            armed: None,
        }
    }

    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.turn().is_some()
    }

    /// Why nothing can be said in the conversation in view: who has it open, as a sentence.
    pub(super) fn read_only(&self) -> Option<String> {
        self.session.as_ref()?.read_only.as_deref().map(super::text::clean_line)
    }

    /// Whether mouse reports are wanted.
    pub fn mouse(&self) -> bool {
        self.mouse
    }

    /// The conversation in view.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// What takes keys first.
    pub fn focus(&self) -> Focus {
        self.focus
    }

    /// The draft as it would be sent.
    pub fn draft(&self) -> String {
        self.composer.text()
    }

    /// The asks that wait.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// In how many milliseconds the screen changes by itself, if it does: a counter of seconds, a card that becomes
    /// ready, a countdown, a hint that goes. At most once a second but for single steps; `None` when nothing moves.
    pub fn next_wake(&self, now: i64) -> Option<u64> {
        if Columns::of(self.width, self.height) == Columns::None {
            return None;
        }
        let mut wake: Option<i64> = None;
        let mut at = |ms: i64| wake = Some(wake.map_or(ms, |sooner| sooner.min(ms)).max(1));
        // Workers run within the turn, and their clocks move with its own.
        if let Some(turn) = self.turn() {
            at(1_000 - (now - turn.since).rem_euclid(1_000));
            let shown = self.tree.viewed().run.as_ref().and_then(|run| run.retry.as_ref());
            if let Some(retry) = shown.filter(|retry| retry.until > now) {
                at((retry.until - now - 1).rem_euclid(1_000) + 1);
            }
        }
        if let Some(card) = self.inbox.shown().filter(|card| card.inert_for(now) > 0) {
            at(card.inert_for(now));
        }
        if let Some((_, until)) = self.flash.as_ref().filter(|(_, until)| *until > now) {
            at(until - now);
        }
        if let Some(until) = self.alerts.iter().filter_map(|shown| shown.until).filter(|until| *until > now).min() {
            at(until - now);
        }
        wake.and_then(|ms| u64::try_from(ms).ok())
    }

    /// The passing hint, if there is one now.
    pub(super) fn flashing(&self, now: i64) -> Option<&str> {
        self.flash.as_ref().filter(|(_, until)| now < *until).map(|(text, _)| text.as_str())
    }

    pub(super) fn flash(&mut self, text: impl Into<String>, now: i64) {
        self.flash = Some((text.into(), now + FLASH_MS));
    }

    /// Whether this press is the second of two; if not, it is the first, and `hint` says what the second would do.
    pub(super) fn second_press(&mut self, what: Armed, hint: &str, now: i64) -> bool {
        if self.armed.take().is_some_and(|(armed, until)| armed == what && now < until) {
            self.flash = None;
            return true;
        }
        self.armed = Some((what, now + FLASH_MS));
        self.flash(hint, now);
        false
    }

    pub(super) fn disarm(&mut self) {
        if self.armed.take().is_some() {
            self.flash = None;
        }
    }

    /// Alerts to draw now, newest first.
    pub(super) fn shown_alerts(&self, now: i64) -> impl Iterator<Item = &Alert> {
        self.alerts
            .iter()
            .rev()
            .filter(move |shown| shown.until.is_none_or(|until| now < until))
            .map(|shown| &shown.alert)
    }

    pub(super) fn alert(&mut self, alert: Alert, now: i64) {
        let until = (alert.severity == Severity::Notice).then_some(now + NOTICE_MS);
        self.alerts.retain(|shown| shown.alert != alert && shown.until.is_none_or(|until| now < until));
        if self.alerts.len() >= ALERTS {
            self.alerts.pop_front();
        }
        self.alerts.push_back(ShownAlert { alert, until });
    }

    pub(super) fn notice(&mut self, message: impl Into<String>, now: i64) {
        self.alert(Alert { severity: Severity::Notice, message: message.into(), hint: None }, now);
    }

    /// The turn that runs: the entry agent's.
    pub(super) fn turn(&self) -> Option<&Turn> {
        self.tree.entry().run.as_ref()
    }

    /// The turn that runs, to change it.
    pub(super) fn turn_mut(&mut self) -> Option<&mut Turn> {
        self.tree.get_mut(NodeId::ENTRY).and_then(|entry| entry.run.as_mut())
    }

    /// The transcript that is looked at.
    pub(super) fn transcript(&self) -> &Transcript {
        &self.tree.viewed().scene.transcript
    }

    /// The transcript that is looked at, to change it.
    pub(super) fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.tree.viewed_mut().scene.transcript
    }

    /// The model call at this place among those of the agent that is looked at, if it is still kept.
    pub(super) fn model_call(&self, place: usize) -> Option<&ModelCall> {
        self.tree.viewed().scene.model_call(place)
    }

    /// The report that panes show.
    pub(super) fn report(&self) -> Option<&AgentReport> {
        let chosen = self.panes.agent.as_ref().and_then(|agent| self.reports.get(agent));
        chosen.or_else(|| self.entry_report())
    }

    /// Every report: the agent's that a person talks to, then the others by name.
    pub(super) fn agents(&self) -> Vec<&AgentReport> {
        let entry = self.entry_report();
        let others = self.reports.values().filter(|report| entry.is_none_or(|entry| entry.agent != report.agent));
        entry.into_iter().chain(others).collect()
    }

    /// The report of the agent that a person talks to.
    pub(super) fn entry_report(&self) -> Option<&AgentReport> {
        let entry = self.session.as_ref().and_then(|session| self.reports.get(&session.agent));
        entry.or_else(|| self.reports.values().find(|report| report.entry))
    }

    /// Tools and bytes that a call of the entry agent carries: made now, as reported; before any report, its last.
    pub(super) fn carries(&self) -> Option<(usize, usize)> {
        self.entry_report().map(|report| report.offered).or(self.tree.entry().carried)
    }

    /// Whether a side pane is drawn, in whatever layout.
    pub(super) fn pane_visible(&self) -> bool {
        match Columns::of(self.width, self.height) {
            Columns::None => false,
            Columns::One => self.panes.opened == Opened::ByPerson,
            Columns::Two | Columns::Three => true,
        }
    }

    /// Whether the list of conversations is drawn.
    pub(super) fn conversations_visible(&self) -> bool {
        let listed = self.pane() == PaneKind::Conversations;
        Columns::of(self.width, self.height) == Columns::Three || (listed && self.pane_visible())
    }

    /// The prompt before the draft.
    pub(super) fn draft_prompt(&self) -> String {
        if self.composer.history_search().is_some() {
            return " history › ".to_owned();
        }
        if self.read_only().is_some() {
            return " read-only › ".to_owned();
        }
        let viewed = self.tree.viewed();
        let name = if self.session.is_some() { viewed.name.as_str() } else { "kokua" };
        let name = super::text::truncate(name, 24);
        if viewed.has_ended() { format!(" {name} has ended › ") } else { format!(" to {name} › ") }
    }

    /// Columns of the shown card's body.
    pub(super) fn card_width(&self) -> u16 {
        match (Columns::of(self.width, self.height), &self.overlay) {
            (Columns::Three, Some(Overlay::Card)) => self.width - layout::SIDE_PANE - layout::DETAIL_PANE - 2,
            (Columns::Three, _) => layout::DETAIL_PANE,
            (Columns::Two, Some(Overlay::Card)) => self.width - layout::SIDE_PANE - 1,
            _ => self.width,
        }
    }

    /// Rows of the shown card's body in a frame.
    pub(super) fn card_rows(&self, layout: &Layout) -> u16 {
        match (&self.overlay, layout.columns) {
            (Some(Overlay::Card), _) => layout.main.height.saturating_sub(CARD_FRAME_ROWS),
            (_, Columns::Three) => layout.right.height.saturating_sub(1),
            _ => layout.card.height.saturating_sub(CARD_FRAME_ROWS),
        }
    }

    /// This frame's rectangles.
    pub(super) fn layout(&mut self, now: i64) -> Layout {
        let prompt = u16::try_from(super::text::width(&self.draft_prompt())).unwrap_or(0);
        let draft = layout::draft_width(self.width, prompt);
        let width = self.card_width();
        let body = self.inbox.shown_mut().map(|card| card.body(width, &self.theme).len());
        let card = match (body, &self.overlay) {
            // In full view the card has the room of the transcript.
            (None, _) | (_, Some(Overlay::Card)) => 0,
            // In three columns its body stands in the right pane; the strip keeps heading, keys and rule.
            _ if Columns::of(self.width, self.height) == Columns::Three => CARD_FRAME_ROWS,
            (Some(body), _) => u16::try_from(body).unwrap_or(u16::MAX).saturating_add(CARD_FRAME_ROWS),
        };
        let wants = Wants {
            composer: self.composer.rows(draft),
            card,
            alerts: super::view::alerts::rows(self, usize::from(self.width), now),
            completions: u16::try_from(self.composer.completions().0.len()).unwrap_or(u16::MAX),
        };
        layout::layout(self.width, self.height, wants)
    }

    /// Whether something stands where the transcript would be.
    pub(super) fn main_covered(&self) -> bool {
        let pane = Columns::of(self.width, self.height) == Columns::One && self.panes.opened == Opened::ByPerson;
        pane || !matches!(self.overlay, None | Some(Overlay::Palette { .. }))
    }

    /// The pane that has keys when the pane has the focus.
    pub(super) fn pane(&self) -> PaneKind {
        self.panes.kind
    }
}
