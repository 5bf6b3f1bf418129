//! `kokua` without a command: the screen.

use std::io::IsTerminal as _;

use super::{ANSWERED, Ended, INTERRUPTED, first_run, start_log};
use crate::app::screen::{self, Left};
use crate::app::{self, Options};
use crate::config::Locations;
use crate::system::environment;

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
        return Err(Ended::usage("error: the screen needs a terminal; `kokua run -p TEXT` answers without one"));
    }
    if environment::variable("TERM").is_some_and(|term| term == "dumb") {
        return Err(Ended::usage("error: TERM=dumb cannot show the screen; `kokua run -p TEXT` answers without one"));
    }
    start_log(&prepared, &options)?;
    match screen::run(prepared).await? {
        Left::Quit => Ok(ANSWERED),
        Left::Interrupted => Ok(INTERRUPTED),
    }
}
