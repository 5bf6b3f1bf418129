//! `kokua` without a command: the screen.

use std::io::IsTerminal as _;

use super::print::{error, line};
use super::{ANSWERED, Ended, INTERRUPTED, start_log};
use crate::app::first_run::{self, Outcome};
use crate::app::screen::{self, Left};
use crate::app::{self, Options};
use crate::config::Locations;
use crate::system::environment;

pub(super) async fn screen(options: Options) -> Result<u8, Ended> {
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let dumb = environment::variable("TERM").is_some_and(|term| term == "dumb");
    let named = Locations::from_process(options.config.clone()).named_by().is_some();
    let mut signals = None;
    let prepared = match app::prepare(&options).await {
        Err(app::StartError::Config(problems)) if problems.is_missing() && !named && interactive && !dumb => {
            match first_run::offer(&options).await? {
                Outcome::Written(prepared, heard) => {
                    signals = Some(heard);
                    *prepared
                }
                Outcome::Left(left) => {
                    // The terminal may be what is gone.
                    let said = line("Nothing was written.");
                    if left == Left::Quit {
                        said?;
                    }
                    return Ok(code(left));
                }
            }
        }
        // The same sentence with and without a configuration: writing one would not help.
        Err(app::StartError::Config(problems)) if problems.is_missing() && interactive && dumb => {
            return Err(no_screen());
        }
        prepared => prepared?,
    };
    if !interactive {
        return Err(Ended::usage("error: the screen needs a terminal; `kokua run -p TEXT` answers without one"));
    }
    if dumb {
        return Err(no_screen());
    }
    for line in start_log(&prepared, &options)? {
        error(&line);
    }
    Ok(code(screen::run(prepared, signals).await?))
}

fn no_screen() -> Ended {
    Ended::usage("error: TERM=dumb cannot show the screen; `kokua run -p TEXT` answers without one")
}

fn code(left: Left) -> u8 {
    match left {
        Left::Quit => ANSWERED,
        Left::Interrupted => INTERRUPTED,
    }
}
