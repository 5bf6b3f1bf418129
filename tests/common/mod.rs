//! What the tests of the real binary share: a home of its own, and the command with a clean environment.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod pty;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A `$KOKUA_HOME` and a working folder that vanish with the test.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    /// Without a configuration.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::write(folder.path().join("work/hello.txt"), "hello from a file\n").unwrap();
        Self { folder }
    }

    /// With the shipped configuration.
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        let out = home.kokua(&["config", "init"]).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        home
    }

    /// With this configuration.
    pub(crate) fn with_config(text: &str) -> Self {
        let home = Self::empty();
        std::fs::create_dir_all(home.state()).unwrap();
        std::fs::write(home.state().join("config.toml"), text).unwrap();
        home
    }

    /// `$KOKUA_HOME`.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("kokua")
    }

    /// Where the program is started.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a rehearsal script; the model string that plays it.
    pub(crate) fn script(&self, text: &str) -> String {
        let path = self.folder.path().join("script.toml");
        std::fs::write(&path, text).unwrap();
        format!("rehearsal:{}", path.display())
    }

    /// The environment of every start: nothing of the person who runs the tests.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        vec![
            ("HOME".to_owned(), self.folder.path().display().to_string()),
            ("KOKUA_HOME".to_owned(), self.state().display().to_string()),
            ("KOKUA_MODEL".to_owned(), "rehearsal".to_owned()),
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
            ("TZ".to_owned(), "UTC".to_owned()),
        ]
    }

    /// The binary with `arguments`.
    pub(crate) fn kokua(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kokua"));
        command.args(arguments).env_clear().envs(self.environment()).current_dir(self.work());
        command
    }

    /// `kokua run --json` with a prompt: its exit code and events.
    pub(crate) fn run_json(&self, arguments: &[&str]) -> (i32, Vec<serde_json::Value>) {
        let out = self.kokua(&[&["run", "--json"], arguments].concat()).output().unwrap();
        (code(&out), events(&out.stdout))
    }
}

/// The exit code; the whole output where there is none.
pub(crate) fn code(out: &Output) -> i32 {
    out.status.code().unwrap_or_else(|| panic!("ended by a signal: {out:?}"))
}

/// JSON lines.
pub(crate) fn events(bytes: &[u8]) -> Vec<serde_json::Value> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The events of one type.
pub(crate) fn of_type<'a>(events: &'a [serde_json::Value], kind: &str) -> Vec<&'a serde_json::Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The only conversation log under a home.
pub(crate) fn only_log(state: &Path) -> PathBuf {
    let mut logs: Vec<_> = std::fs::read_dir(state.join("data/conversations"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    logs.remove(0)
}

/// The line of the shipped configuration that begins with `start`, as a message names it.
pub(crate) fn example_line(start: &str) -> usize {
    let mut lines = kokua::config::EXAMPLE.lines();
    lines.position(|line| line.starts_with(start)).expect("a line of the example") + 1
}
