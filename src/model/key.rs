//! Keys: where one comes from, and the only values that hold one.
//!
//! A key is read when a call needs it, is never printed, and goes to its provider's usual address or to the one that the
//! configuration declares it for. Runs `api_key_command`; does nothing else.

use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::io::AsyncReadExt as _;

use crate::config;

use super::select::Provider;

/// A key command may ask the person something; it gets half a minute.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of a key; more is no key.
const KEY_LIMIT: usize = 16 << 10;

/// Reads an environment variable. An argument everywhere, so that nothing here reads the real one.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Send + Sync);

/// Where a client's key comes from.
pub enum KeySource {
    /// It calls without one.
    None,
    /// It was in the environment.
    Known(SecretString),
    /// A command prints it; kept after the first run.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// What it printed.
        kept: Mutex<Option<SecretString>>,
    },
    /// There should be one and is not: why.
    Missing(String),
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "KeySource::None",
            Self::Known(_) => "KeySource::Known(…)",
            Self::Command { .. } => "KeySource::Command(…)",
            Self::Missing(_) => "KeySource::Missing",
        })
    }
}

impl KeySource {
    /// For `provider`: `[providers.<name>]` first, then the usual variable where it is called at its usual address.
    pub fn find(
        provider: Provider,
        declared: Option<&config::Provider>,
        usual_address: bool,
        environment: Environment<'_>,
    ) -> Self {
        let read =
            |variable: &str| environment(variable).map(|value| value.trim().to_owned()).filter(|v| !v.is_empty());
        if let Some(variable) = declared.and_then(|declared| declared.api_key_env.as_deref()) {
            return match read(variable) {
                Some(key) => Self::Known(key.into()),
                None => Self::Missing(format!("the environment has no {variable}")),
            };
        }
        if let Some(argv) = declared.and_then(|declared| declared.api_key_command.clone()) {
            return Self::Command { argv, kept: Mutex::new(None) };
        }
        match provider.key_variable().filter(|_| usual_address) {
            Some(variable) => read(variable).map_or_else(
                || Self::Missing(format!("the environment has no {variable}")),
                |key| Self::Known(key.into()),
            ),
            None => Self::None,
        }
    }

    /// The key, or `None` for a call without one.
    ///
    /// # Errors
    /// Why there is none: a lower-case fragment.
    pub async fn get(&self) -> Result<Option<SecretString>, String> {
        match (self, self.at_hand()) {
            (Self::Command { argv, kept }, Err(_)) => {
                let key = run(argv).await?;
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.clone());
                Ok(Some(key))
            }
            (_, key) => key,
        }
    }

    /// [`Self::get`] without running anything.
    ///
    /// # Errors
    /// Why there is none now: a lower-case fragment.
    pub fn at_hand(&self) -> Result<Option<SecretString>, String> {
        match self {
            Self::None => Ok(None),
            Self::Known(key) => Ok(Some(key.clone())),
            Self::Missing(why) => Err(why.clone()),
            Self::Command { kept, .. } => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
                kept.map(Some).ok_or_else(|| "api_key_command was not run yet".to_owned())
            }
        }
    }

    /// The provider did not accept the key: a command is asked again next time.
    pub fn forget(&self) {
        if let Self::Command { kept, .. } = self {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// What a command printed as its first line. What it says on stderr may quote a secret and is dropped.
async fn run(argv: &[String]) -> Result<SecretString, String> {
    let (program, arguments) = argv.split_first().ok_or("api_key_command is empty")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("api_key_command '{program}' did not start: {error}"))?;
    let mut printed = Vec::new();
    let ending = async {
        if let Some(stdout) = child.stdout.take() {
            stdout.take(KEY_LIMIT as u64 + 1).read_to_end(&mut printed).await?;
        }
        // One that prints more than a key finds its pipe closed here.
        child.wait().await
    };
    let status = tokio::time::timeout(COMMAND_TIMEOUT, ending)
        .await
        .map_err(|_| format!("api_key_command '{program}' took over {} s", COMMAND_TIMEOUT.as_secs()))?
        .map_err(|error| format!("api_key_command '{program}' could not be read: {error}"))?;
    if printed.len() > KEY_LIMIT {
        return Err(format!("api_key_command '{program}' printed more than a key"));
    }
    if !status.success() {
        return Err(format!("api_key_command '{program}' failed ({status})"));
    }
    let text = String::from_utf8_lossy(&printed);
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() {
        return Err(format!("api_key_command '{program}' printed no key"));
    }
    Ok(key.to_owned().into())
}

/// `text` with the key taken out.
pub fn redact(text: &str, key: Option<&SecretString>) -> String {
    match key.map(ExposeSecret::expose_secret).filter(|key| key.len() >= 4) {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    }
}
