//! `kokua` without a command: the screen.

use std::io::IsTerminal as _;

use super::{ANSWERED, Ended, first_run};
use crate::access::Attendance;
use crate::app::{self, Options};
use crate::assistant::{Opening, Titles};
use crate::config::Locations;
use crate::ui::Ui;

pub(super) async fn screen(options: Options) -> Result<u8, Ended> {
    let locations = Locations::from_process(options.config.clone());
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let prepared = match app::prepare(&options).await {
        Err(app::StartError::Config(problems)) if problems.is_missing() && locations.named_by().is_none() && interactive => {
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
    crate::system::panic::install(prepared.config.data.join("logs"), crate::terminal::restored_for_panic);
    let ui = Ui::new(app::screen_settings(&prepared.config)?);
    let started = app::start(prepared, Attendance::Attended, Titles::Generated, Opening::Latest).await?;
    let handle = started.handle.clone();
    crate::terminal::run(ui, started.updates, move |command| {
        handle.submit(command);
    })
    .await
    .map_err(|error| Ended::failed(format!("the terminal could not be used: {error}")))?;
    Ok(ANSWERED)
}
