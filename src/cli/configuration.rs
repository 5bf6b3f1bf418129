//! `kokua config`: write, check, find and show the configuration. Nothing is started.

use clap::Subcommand;

use super::print::{alerts, line};
use super::{ANSWERED, Ended, USAGE};
use crate::app::{self, Options};
use crate::config::{self, Locations};

/// `kokua config`.
#[derive(Debug, Subcommand)]
pub(super) enum Configuration {
    /// Write the shipped configuration; never replaces a file
    Init,
    /// Say everything that is wrong with the file (exit code 2), or that nothing is
    Check,
    /// Where the file is
    Path,
    /// The file as it is understood: every key with its value and where that comes from
    Show,
}

impl Configuration {
    pub(super) async fn run(self, options: Options) -> Result<u8, Ended> {
        let locations = Locations::from_process(options.config.clone());
        match self {
            Self::Init => {
                let path = config::init(&locations).map_err(|error| match error {
                    config::WriteError::NoPlace(problems) => Ended { code: USAGE, text: problems.to_string() },
                    other => Ended::failed(format!("error: {other}")),
                })?;
                line(&format!("wrote {}", path.display()))?;
            }
            Self::Check => {
                let prepared = app::prepare(&options).await?;
                alerts(&prepared.alerts);
                let agents = prepared.config.declarations.agents.len();
                let agents = if agents == 1 { "1 agent".to_owned() } else { format!("{agents} agents") };
                let wrong = if prepared.alerts.is_empty() { "nothing wrong" } else { "nothing that stops a start" };
                line(&format!("{}: {agents}, {wrong}", prepared.config.source.path.display()))?;
            }
            Self::Path => {
                let path = locations.config().map_err(|problems| Ended::usage(problems.to_string()))?;
                line(&path.display().to_string())?;
            }
            Self::Show => {
                let config = config::load(&locations).map_err(|problems| Ended::usage(problems.to_string()))?;
                line(config::show(&config).trim_end())?;
            }
        }
        Ok(ANSWERED)
    }
}
