//! The first run: shows what the shipped configuration would make, and writes it when the person agrees.

use super::screen::{self, Left};
use super::{Options, Prepared, StartError, failed, other, prepare_shipped, select_model};
use crate::access::report;
use crate::config;
use crate::model::{Because, Provider, Selection};
use crate::terminal::{self, Reply, Signals};
use crate::ui::view::FirstRun;

/// What came of it.
pub enum Outcome {
    /// The file is written, and this is what it makes. The signals go on to the screen: none is lost in between.
    Written(Box<Prepared>, Signals),
    /// Nothing was written.
    Left(Left),
}

/// Asks on a full screen whether the shipped configuration shall be written where there is none.
///
/// # Errors
/// The command line is wrong, the terminal can't be used, or the file can't be written.
pub async fn offer(options: &Options) -> Result<Outcome, StartError> {
    let mut prepared = prepare_shipped(options).await?;
    let selection = select_model(&prepared.config, prepared.named_model(prepared.capabilities.world.entry())).await?;
    let page = FirstRun {
        config: prepared.config.source.path.display().to_string(),
        data: prepared.config.data.display().to_string(),
        report: report(&prepared.capabilities.world, prepared.capabilities.world.entry(), None, None),
        programs: prepared.exec_line(),
        model: sentence(&selection),
    };
    screen::end_screen_on_panic(&prepared.config);
    let theme = screen::settings(&prepared.config)?.theme;
    let unusable = |error| failed(format!("the terminal could not be used: {error}"), None);
    let mut signals = Signals::listen().map_err(unusable)?;
    let asked = terminal::ask(&mut signals, |frame| crate::ui::view::first_run(frame, &theme, &page));
    let reply = asked.await.map_err(unusable)?;
    match reply {
        Reply::No => return Ok(Outcome::Left(Left::Quit)),
        Reply::Ended => return Ok(Outcome::Left(Left::Interrupted)),
        Reply::Yes => {}
    }
    config::init(&prepared.locations).map_err(|error| match error {
        config::WriteError::NoPlace(problems) => StartError::Config(problems),
        config::WriteError::Disk { .. } => failed(error.to_string(), None),
        error => other(error.to_string(), None),
    })?;
    prepared.selection = Some(selection);
    Ok(Outcome::Written(Box::new(prepared), signals))
}

/// Which model would answer, and that none is needed.
fn sentence(selection: &Selection) -> String {
    let label = selection.spec.label();
    let scripted = "It answers from a script, and nothing leaves this machine.";
    match selection.because {
        Because::NothingFound => format!(
            "{label}: no model server runs on this machine, and none is needed. {scripted} `kokua --model` names another."
        ),
        Because::Running => format!("{label}: its {} server runs on this machine.", selection.spec.provider.name()),
        named if selection.spec.provider == Provider::Rehearsal => {
            format!("{label}, as {} says. {scripted}", who(named))
        }
        named => format!("{label}, as {} says.", who(named)),
    }
}

fn who(named: Because) -> &'static str {
    if named == Because::Environment { "$KOKUA_MODEL" } else { "--model" }
}
