//! Where the configuration and the data are: `--config`, `$KOKUA_CONFIG`, `$KOKUA_HOME`, else `~/.kokua`.
//!
//! Everything from outside is a field, so nothing but [`Locations::from_process`] looks at the environment.

use std::path::{Path, PathBuf};

use super::problem::Problems;

/// What decides where things are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Locations {
    /// `--config PATH`.
    pub config_flag: Option<PathBuf>,
    /// `$KOKUA_CONFIG`.
    pub config_variable: Option<PathBuf>,
    /// `$KOKUA_HOME`.
    pub home_variable: Option<PathBuf>,
    /// The person's home directory.
    pub user_home: Option<PathBuf>,
    /// Relative paths of the four above start here.
    pub working_directory: PathBuf,
}

impl Locations {
    /// As this process was started, with the value of `--config`.
    #[expect(clippy::disallowed_methods, reason = "the one place of this room that reads the environment")]
    pub fn from_process(config_flag: Option<PathBuf>) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            config_flag,
            config_variable: variable("KOKUA_CONFIG"),
            home_variable: variable("KOKUA_HOME"),
            user_home: std::env::home_dir().filter(|path| !path.as_os_str().is_empty()),
            working_directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// `$KOKUA_HOME`, else `~/.kokua`.
    ///
    /// # Errors
    /// Neither the variable nor a home directory is set.
    pub fn home(&self) -> Result<PathBuf, Problems> {
        if let Some(home) = &self.home_variable {
            return Ok(self.absolute(home));
        }
        self.user_home.as_ref().map(|home| self.absolute(home).join(".kokua")).ok_or_else(|| {
            Problems::unreadable(
                Path::new("~/.kokua"),
                "there is no home directory to keep it in".to_owned(),
                Some("set KOKUA_HOME to a folder of your own".to_owned()),
            )
        })
    }

    /// The configuration file; whether it exists is another question.
    ///
    /// # Errors
    /// As [`Self::home`], when nothing else names a file.
    pub fn config(&self) -> Result<PathBuf, Problems> {
        match self.config_flag.as_ref().or(self.config_variable.as_ref()) {
            Some(path) => Ok(self.absolute(path)),
            None => Ok(self.home()?.join("config.toml")),
        }
    }

    /// Who named the file, for messages: `--config`, `$KOKUA_CONFIG`, or nobody.
    pub fn named_by(&self) -> Option<&'static str> {
        if self.config_flag.is_some() {
            Some("--config")
        } else if self.config_variable.is_some() {
            Some("$KOKUA_CONFIG")
        } else {
            None
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.working_directory.join(self.expand(path))
    }

    /// A path as written in the file, with a leading `~` spelled out.
    pub(super) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.user_home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Locations {
        Locations {
            config_flag: Some("flag.toml".into()),
            config_variable: Some("/etc/variable.toml".into()),
            home_variable: Some("/srv/kokua".into()),
            user_home: Some("/home/me".into()),
            working_directory: "/here".into(),
        }
    }

    #[test]
    fn the_first_that_is_named_wins() {
        let mut locations = everything();
        assert_eq!(locations.config().unwrap(), Path::new("/here/flag.toml"));
        assert_eq!(locations.named_by(), Some("--config"));
        locations.config_flag = None;
        assert_eq!(locations.config().unwrap(), Path::new("/etc/variable.toml"));
        assert_eq!(locations.named_by(), Some("$KOKUA_CONFIG"));
        locations.config_variable = None;
        assert_eq!(locations.config().unwrap(), Path::new("/srv/kokua/config.toml"));
        locations.home_variable = None;
        assert_eq!(locations.config().unwrap(), Path::new("/home/me/.kokua/config.toml"));
        assert_eq!(locations.named_by(), None);
    }

    #[test]
    fn naming_a_file_does_not_move_the_home() {
        assert_eq!(everything().home().unwrap(), Path::new("/srv/kokua"));
    }

    #[test]
    fn no_home_at_all_says_what_to_set() {
        let none = Locations::default();
        assert!(none.home().unwrap_err().to_string().contains("KOKUA_HOME"));
        let with_flag = Locations { config_flag: Some("/a.toml".into()), ..Locations::default() };
        assert_eq!(with_flag.config().unwrap(), Path::new("/a.toml"));
    }

    #[test]
    fn a_tilde_is_the_home_directory_and_only_in_front() {
        let locations = everything();
        assert_eq!(locations.expand(Path::new("~/notes")), Path::new("/home/me/notes"));
        assert_eq!(locations.expand(Path::new("/a/~/b")), Path::new("/a/~/b"));
        assert_eq!(locations.expand(Path::new("~other/b")), Path::new("~other/b"));
    }
}
