//! `kokua` without a command: the screen.

use std::io::IsTerminal as _;
use std::time::Duration;

use super::{ANSWERED, Ended, INTERRUPTED, first_run};
use crate::access::Attendance;
use crate::app::{self, Options};
use crate::assistant::{Opening, Titles};
use crate::config::Locations;
use crate::system::{environment, panic};
use crate::terminal::{self, Exit};
use crate::ui::Ui;

/// How long the driver may take to end what runs when the person leaves.
const LEAVING: Duration = Duration::from_secs(3);

pub(super) async fn screen(options: Options) -> Result<u8, Ended> {
    let locations = Locations::from_process(options.config.clone());
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let prepared = match app::prepare(&options).await {
        Err(app::StartError::Config(problems))
            if problems.is_missing() && locations.named_by().is_none() && interactive =>
        {
            if let first_run::Choice::Leave(code) = first_run::offer(&locations)? {
                return Ok(code);
            }
            app::prepare(&options).await?
        }
        prepared => prepared?,
    };
    if !interactive {
        return Err(Ended::usage("the screen needs a terminal; `kokua run -p TEXT` answers without one"));
    }
    app::start_log(&prepared, options.debug)?;
    panic::install(prepared.config.data.join("logs"), || match terminal::restore() {
        terminal::Restored::Free => panic::Terminal::Free,
        terminal::Restored::Taken => panic::Terminal::Taken,
    });
    let mut ui = Ui::new(app::screen_settings(&prepared.config)?);
    let mut started = app::start(prepared, Attendance::Attended, Titles::Generated, Opening::Latest).await?;
    let surroundings = terminal::Surroundings::choose(environment::variable);
    let handle = &started.handle;
    let submit = |command| {
        handle.submit(command);
    };
    let exit = terminal::run(&mut ui, submit, &mut started.updates, &surroundings)
        .await
        .map_err(|error| Ended::failed(format!("the terminal could not be used: {error}")))?;
    // The driver ends what runs and closes the log; it is given a moment, not for ever.
    let ending = async { while started.updates.recv().await.is_some() {} };
    let _slow = tokio::time::timeout(LEAVING, ending).await;
    match exit {
        Exit::Quit => Ok(ANSWERED),
        Exit::Ended | Exit::HungUp => Ok(INTERRUPTED),
        Exit::AssistantGone => Err(Ended::failed("the assistant ended unexpectedly; data/logs has more")),
    }
}
