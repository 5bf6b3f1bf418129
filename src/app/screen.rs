//! The screen and the driver, put together.

use super::{LEAVING, Prepared, StartError, Started, failed, other};
use crate::access::Attendance;
use crate::agent::{Alert, Severity};
use crate::assistant::{Opening, Titles};
use crate::config::Config;
use crate::system::{environment, panic};
use crate::terminal::{self, Exit, Signals};
use crate::ui::action::KeyMap;
use crate::ui::theme::{Colours, Theme};
use crate::ui::{Settings, Ui};

/// How a person left the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// By themselves.
    Quit,
    /// A signal or the terminal's end did it.
    Interrupted,
}

/// Runs the full screen until the person leaves. `signals`: where somebody listens to them already.
///
/// # Errors
/// What [`super::start`] finds wrong, before the terminal is taken; or the terminal can't be used.
pub async fn run(mut prepared: Prepared, signals: Option<Signals>) -> Result<Left, StartError> {
    end_screen_on_panic(&prepared.config);
    let mut ui = Ui::new(settings(&prepared.config)?);
    let exec = Alert { severity: Severity::Notice, message: prepared.exec_line(), hint: None };
    prepared.alerts.insert(0, exec);
    let Started { handle, mut updates } =
        super::start(prepared, Attendance::Attended, Titles::Generated, Opening::Latest).await?;
    let surroundings = terminal::Surroundings::choose(environment::variable);
    let submit = |command| {
        handle.submit(command);
    };
    let unusable = |error| failed(format!("the terminal could not be used: {error}"), None);
    let signals = signals.map_or_else(Signals::listen, Ok).map_err(unusable)?;
    let exit = terminal::run(&mut ui, submit, &mut updates, &surroundings, signals).await.map_err(unusable)?;
    // The driver ends what runs and closes the log; it is given a moment, not for ever.
    let ending = async { while updates.recv().await.is_some() {} };
    if tokio::time::timeout(LEAVING, ending).await.is_err() {
        tracing::warn!("the driver took too long to end");
    }
    match exit {
        Exit::Quit => Ok(Left::Quit),
        Exit::Ended | Exit::HungUp => Ok(Left::Interrupted),
        Exit::AssistantGone => Err(failed("the assistant ended unexpectedly; data/logs has more".to_owned(), None)),
    }
}

/// Has a panic of the thread that has the screen give it back before anything is said.
pub(super) fn end_screen_on_panic(config: &Config) {
    panic::install(config.data.join("logs"), || match terminal::restore() {
        terminal::Restored::Free => panic::Terminal::Free,
        terminal::Restored::Taken => panic::Terminal::Taken,
    });
}

/// How the screen looks and which key does what. The configuration was checked.
///
/// # Errors
/// It was not.
pub(super) fn settings(config: &Config) -> Result<Settings, StartError> {
    let set = |name: &str| environment::variable(name).is_some_and(|value| !value.is_empty());
    let dumb = environment::variable("TERM").is_some_and(|value| value == "dumb");
    let colours = if set("NO_COLOR") || dumb { Colours::None } else { Colours::Ansi };
    let theme = Theme::shipped(&config.display.theme, colours).map_err(|error| other(error.to_string(), None))?;
    let keys = KeyMap::with(&config.keys).map_err(|faults| {
        let sentences: Vec<String> = faults.iter().map(ToString::to_string).collect();
        other(sentences.join("; "), None)
    })?;
    let display = &config.display;
    Ok(Settings { theme, colours, keys, mouse: display.mouse, bell: display.bell, reasoning: display.reasoning })
}
