//! The built-in toolsets through the seam: as a driver calls them, and as a person's files see it.

#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and has its deadlines")]

mod checks;
mod compute;
mod everyday;
mod files;
mod index;
mod writes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kokua::access::{AgentName, Declarations};
use kokua::config::{Assistant, Compute, Config, Display, Fs, Generation, LogLevel, Sandbox, Source, Toolsets};
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
    CallContext { conversation: "conv-1".to_owned(), agent: "assistant".to_owned(), now: 1_796_036_400_000 }
}

fn config(home: &Path) -> Config {
    Config {
        source: Source { path: home.join("config.toml"), text: String::new() },
        home: home.to_owned(),
        data: home.join("data"),
        assistant: Assistant {
            model: None,
            thinking: None,
            system_message: None,
            agent: AgentName::new("assistant"),
            concurrent_tools: true,
            agent_cache_cap: 8,
            max_iterations: 10,
            generate_titles: false,
            generation: Generation::default(),
        },
        agents: BTreeMap::new(),
        declarations: Declarations::default(),
        providers: BTreeMap::new(),
        display: Display { theme: "default".to_owned(), mouse: false, bell: false, reasoning: false },
        keys: BTreeMap::new(),
        log_level: LogLevel::Info,
        compute: Compute { sandbox: Sandbox::Off, command_env_passthrough: Vec::new() },
        fs: Fs::default(),
        toolsets: Toolsets { build_timeout_s: 30 },
    }
}
