//! The loop of the full screen: takes in all that waits, carries out what the screen asks, draws once, sleeps.
//!
//! It never decides what a message means. Nothing here ticks while nothing moves.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, Stdout};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt as _;
use tokio::sync::mpsc::Receiver;

use super::clipboard::{self, Multiplexer};
use super::editor::{self, Programs};
use super::frame::{Screen, terminal_size};
use super::guard::{Guard, Mouse};
use super::pace::{Cause, Pace};
use super::signals::{Heard, Signals};
use super::{input, notify};
use crate::agent::{Command, Update};
use crate::system::clock;
use crate::ui::{self, Cmd, EditorPurpose, Msg, Ui};

/// Messages taken in before a frame is looked at again.
const BATCH: usize = 1024;

/// Why the loop ended. The terminal is given back by then.
#[derive(Debug)]
pub enum Exit {
    /// The person left. [`Command::Quit`] was submitted.
    Quit,
    /// SIGTERM or SIGINT. [`Command::Quit`] was submitted.
    Ended,
    /// The terminal went away: SIGHUP, or it neither reads nor writes. [`Command::Quit`] was submitted.
    HungUp,
    /// Nobody sends updates any more.
    AssistantGone,
}

/// What is around the terminal, from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The person's editor and pager.
    pub programs: Programs,
    /// What stands between.
    pub multiplexer: Multiplexer,
}

impl Surroundings {
    /// Reads them through `lookup`, which gives an environment variable.
    pub fn choose(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let tmux = lookup("TMUX").is_some_and(|value| !value.is_empty());
        let multiplexer = if tmux { Multiplexer::Tmux } else { Multiplexer::None };
        Self { programs: Programs::choose(lookup), multiplexer }
    }
}

/// Runs the full screen until the person leaves or the terminal or the assistant goes away. `submit` takes the screen's
/// commands and must not wait; `updates` stays the caller's, who may have to read on while the assistant ends. Run it on
/// the thread whose panics should end the screen ([`super::restore`]): as the main future, not as a spawned task.
///
/// Since `signals` SIGTERM, SIGINT and SIGHUP do not end the process by themselves, also after this returned: what the
/// caller does then must be bounded in time.
///
/// # Errors
/// The terminal cannot be taken; it is then as it was.
pub async fn run(
    ui: &mut Ui,
    submit: impl Fn(Command),
    updates: &mut Receiver<Update>,
    surroundings: &Surroundings,
    signals: Signals,
) -> io::Result<Exit> {
    let guard = Guard::enter(mouse(ui.mouse()))?;
    let screen = Screen::new(io::stdout(), Box::new(terminal_size))?;
    let mut session = Session {
        ui,
        submit: &submit,
        updates,
        surroundings,
        guard,
        screen,
        signals,
        events: Some(EventStream::new()),
        messages: VecDeque::new(),
        commands: VecDeque::new(),
        wanted: None,
        moves: None,
        pace: Pace::default(),
    };
    session.sized()?;
    let exit = match session.until_exit().await {
        Ok(exit) => exit,
        Err(error) => {
            tracing::warn!(%error, "the terminal went away");
            Exit::HungUp
        }
    };
    if matches!(exit, Exit::Ended | Exit::HungUp) {
        submit(Command::Quit);
    }
    Ok(exit)
}

/// What the loop was woken by.
enum Woken {
    Signal(Heard),
    Terminal(Option<io::Result<Event>>),
    Update(Option<Box<Update>>),
    Time,
}

struct Session<'a, S> {
    ui: &'a mut Ui,
    submit: &'a S,
    updates: &'a mut Receiver<Update>,
    surroundings: &'a Surroundings,
    guard: Guard,
    screen: Screen<Stdout>,
    signals: Signals,
    /// `None` while somebody else reads the terminal.
    events: Option<EventStream>,
    /// To be taken in, in the order they came.
    messages: VecDeque<Msg>,
    /// To be carried out before the next message.
    commands: VecDeque<Cmd>,
    /// A frame is due, and why.
    wanted: Option<Cause>,
    /// When the last frame is no longer what is to be seen, though nothing happens.
    moves: Option<Instant>,
    pace: Pace,
}

impl<S: Fn(Command)> Session<'_, S> {
    /// An error is the terminal's: it is gone.
    async fn until_exit(&mut self) -> io::Result<Exit> {
        loop {
            if let Some(exit) = self.take_in().await? {
                return Ok(exit);
            }
            let now = Instant::now();
            if self.wanted.is_some_and(|cause| self.pace.due(cause, now) <= now) {
                let (ui, time) = (&mut *self.ui, clock::now_ms());
                self.screen.draw(|frame| ui::view(ui, frame, time))?;
                self.pace.drawn(now);
                self.wanted = None;
                // Of what was drawn, not of now: what went while it was drawn is still on the screen.
                self.moves = self.ui.next_wake(time).map(|ms| now + Duration::from_millis(ms.max(1)));
            }
            let until = self.wanted.map_or(self.moves, |cause| Some(self.pace.due(cause, now)));
            match self.woken(until).await {
                Woken::Signal(Heard::End) => return Ok(Exit::Ended),
                Woken::Signal(Heard::HungUp) | Woken::Terminal(None) => return Ok(Exit::HungUp),
                Woken::Signal(Heard::Continued) => self.take_back()?,
                Woken::Terminal(Some(event)) => self.messages.extend(input::message(event?)),
                Woken::Update(None) => return Ok(Exit::AssistantGone),
                Woken::Update(Some(update)) => self.messages.push_back(Msg::Update(update)),
                Woken::Time if self.wanted.is_none() => self.messages.push_back(Msg::Tick),
                Woken::Time => {}
            }
            self.drain().await?;
        }
    }

    /// Sleeps until something happens or `until`.
    async fn woken(&mut self, until: Option<Instant>) -> Woken {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => std::future::pending().await,
            }
        };
        let event = async {
            match &mut self.events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            heard = self.signals.next() => Woken::Signal(heard),
            event = event => Woken::Terminal(event),
            update = self.updates.recv() => Woken::Update(update.map(Box::new)),
            () = time => Woken::Time,
        }
    }

    /// Collects what else waits already, so that it is drawn once.
    async fn drain(&mut self) -> io::Result<()> {
        while self.messages.len() < BATCH {
            let Some(events) = &mut self.events else { break };
            // Polled with this task's own waker: the stream remembers the first one it is given.
            match poll_fn(|context| Poll::Ready(events.poll_next_unpin(context))).await {
                Poll::Ready(Some(event)) => self.messages.extend(input::message(event?)),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        while self.messages.len() < BATCH {
            // That nobody sends any more is found out by the next wait.
            let Ok(update) = self.updates.try_recv() else { break };
            self.messages.push_back(Msg::Update(Box::new(update)));
        }
        Ok(())
    }

    /// Hands every message to the screen and carries out what it answers before the next one.
    async fn take_in(&mut self) -> io::Result<Option<Exit>> {
        loop {
            while let Some(command) = self.commands.pop_front() {
                if let Some(exit) = self.carry_out(command).await? {
                    return Ok(Some(exit));
                }
            }
            let Some(message) = self.messages.pop_front() else { return Ok(None) };
            self.tell(message);
        }
    }

    fn tell(&mut self, message: Msg) {
        let cause = match message {
            Msg::Update(_) | Msg::Tick => Cause::Program,
            _ => Cause::Person,
        };
        self.wanted = self.wanted.max(Some(cause));
        self.commands.extend(ui::update(self.ui, message, clock::now_ms()));
    }

    async fn carry_out(&mut self, command: Cmd) -> io::Result<Option<Exit>> {
        match command {
            Cmd::Submit(command) => (self.submit)(command),
            Cmd::Copy(text) => {
                let said = clipboard::copy(self.screen.out(), &text, self.surroundings.multiplexer)?;
                self.messages.push_front(Msg::Notice(said));
            }
            Cmd::OpenEditor { text, purpose } => {
                let editor = self.surroundings.programs.editor.clone();
                // The ending lets editors colour it.
                let ending = match purpose {
                    EditorPurpose::Draft => ".md",
                    EditorPurpose::Arguments(_) => ".json",
                };
                match self.lend(editor::edit(&editor, &text, ending)).await? {
                    Ok(text) => self.messages.push_front(Msg::EditorReturned { purpose, text }),
                    Err(exit) => return Ok(Some(exit)),
                }
            }
            Cmd::OpenPager(text) => {
                let pager = self.surroundings.programs.pager.clone();
                match self.lend(editor::page(&pager, &text)).await? {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => self.messages.push_front(Msg::Notice(error)),
                    Err(exit) => return Ok(Some(exit)),
                }
            }
            Cmd::SetTitle(text) => notify::title(self.screen.out(), &text)?,
            Cmd::Notify(text) => notify::notify(self.screen.out(), &text)?,
            Cmd::SetMouse(on) => self.guard.set_mouse(mouse(on), self.screen.out())?,
            Cmd::Suspend => {
                self.give_up();
                self.signals.stop_here().await?;
                self.take_back()?;
            }
            Cmd::Redraw => {
                self.screen.forget();
                self.wanted = Some(Cause::Person);
            }
            Cmd::Quit => return Ok(Some(Exit::Quit)),
        }
        Ok(None)
    }

    /// Lends the terminal to a child. Updates go on being taken in, so that no agent waits for an editor to close.
    /// `Err`: a signal ended the loop first.
    async fn lend<T>(&mut self, child: impl Future<Output = T>) -> io::Result<Result<T, Exit>> {
        self.give_up();
        let mut child = pin!(child);
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut child => break ended,
                heard = self.signals.next_ending() => {
                    return Ok(Err(if heard == Heard::HungUp { Exit::HungUp } else { Exit::Ended }));
                }
                Some(update) = self.updates.recv() => self.tell(Msg::Update(Box::new(update))),
            }
        };
        self.signals.forget().await;
        self.take_back()?;
        Ok(Ok(ended))
    }

    fn give_up(&mut self) {
        // Its thread would take keys from whoever reads the terminal next.
        self.events = None;
        self.guard.pause();
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.guard.resume()?;
        self.screen.forget();
        self.events.get_or_insert_with(EventStream::new);
        self.messages.push_front(Msg::Returned);
        self.sized()
    }

    /// Tells the screen its size: the first message, and again after somebody else had the terminal.
    fn sized(&mut self) -> io::Result<()> {
        let size = terminal_size()?;
        self.messages.push_front(Msg::Resize { width: size.width, height: size.height });
        Ok(())
    }
}

fn mouse(on: bool) -> Mouse {
    if on { Mouse::On } else { Mouse::Off }
}

#[cfg(test)]
mod tests {
    use super::{Multiplexer, Surroundings};

    #[test]
    fn the_surroundings_come_from_the_environment() {
        let of = |name: &'static str| {
            Surroundings::choose(move |asked| (asked == name).then(|| "/tmp/tmux-1/default,1,0".to_owned()))
        };
        assert_eq!(of("TMUX").multiplexer, Multiplexer::Tmux);
        assert_eq!(of("TERM").multiplexer, Multiplexer::None);
    }
}
