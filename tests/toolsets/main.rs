//! The built-in toolsets through the seam: as a driver calls them, and as a person's files see it.

#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and has its deadlines")]

mod checks;
mod compute;
mod everyday;
mod files;
mod index;
mod talk;
mod writes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kokua::config::{self, Config, Locations, Source};
use kokua::tool::{CallContext, Outcome, Output, Services, Tool, Toolset, arguments};
use kokua::toolsets;
use serde_json::Value;

/// One agent's tools over a folder of its own: `work` is where the program was started, `home` is `$KOKUA_HOME`.
struct Bench {
    _folder: tempfile::TempDir,
    work: PathBuf,
    home: PathBuf,
    toolsets: Vec<Arc<dyn Toolset>>,
}

impl Bench {
    fn new() -> Self {
        Self::with(|_, _| {})
    }

    /// With a configuration changed by `change`, which also gets the bench's folder.
    fn with(change: impl FnOnce(&mut Config, &Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (work, home) = (path.join("work"), path.join("home"));
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(home.join("data")).unwrap();
        let mut config = config(&home);
        change(&mut config, &path);
        Self { _folder: folder, work, home, toolsets: toolsets::all(&config) }
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn services(&self) -> Services {
        Services { data: self.data(), working_directory: self.work.clone() }
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.toolsets.iter().flat_map(|toolset| toolset.build(&self.services()).unwrap());
        tools.into_iter().find(|tool| tool.spec().name == name).unwrap_or_else(|| panic!("no tool {name}"))
    }

    /// Checks the arguments and calls, as a driver does.
    async fn call(&self, name: &str, given: Value) -> Output {
        let tool = self.tool(name);
        let given = arguments::check(name, &tool.spec().schema, given).unwrap();
        tool.call(given, context()).await
    }

    /// The text of a call that must answer.
    async fn ok(&self, name: &str, given: Value) -> String {
        let output = self.call(name, given).await;
        assert_eq!(output.outcome, Outcome::Ok, "{}", output.text);
        output.text
    }

    /// The text of a call that must be refused or fail.
    async fn refused(&self, name: &str, given: Value) -> String {
        let output = self.call(name, given).await;
        assert_eq!(output.outcome, Outcome::Failed, "{}", output.text);
        output.text
    }

    /// Writes a file below `work`.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work.join(name)).unwrap()
    }
}

fn context() -> CallContext {
    CallContext {
        conversation: "conv-1".to_owned(),
        agent: "assistant".to_owned(),
        node: kokua::agent::NodeId::ENTRY,
        agents: kokua::tool::Agents::nobody(),
        now: 1_796_036_400_000,
    }
}

fn config(home: &Path) -> Config {
    let text = "[compute]\nsandbox = \"off\"\n[agents.assistant]\n";
    let source = Source { path: home.join("config.toml"), text: text.to_owned() };
    let locations = Locations { home_variable: Some(home.to_owned()), ..Locations::default() };
    config::parse(source, &locations, |_| Vec::new()).unwrap()
}
