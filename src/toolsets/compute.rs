//! `compute`: arithmetic, shell commands and Python. Commands run as the user; under sandbox `none` both exec tools are
//! withheld (W2) and refuse to run.

mod calculate;
mod number;
mod process;

use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use schemars::JsonSchema;
use serde::Deserialize;

use self::process::{Environment, Exit, Finished, Program, Shares};
use super::blocking;
use super::fs::paths::{Paths, is_folder, reason};
use crate::config::{Compute as Config, Sandbox};
use crate::tool::output::one_line;
use crate::tool::{BuildError, Check, Function, Kind, Output, Preview, Risk, Services, Tool, Toolset, digest};

/// Bytes of both streams of a command together.
const COMMAND_BYTES: usize = 20_000;

/// Bytes of each stream of a Python run.
const PYTHON_BYTES: usize = 20_000;

/// How long Python may run.
const PYTHON_TIME: Duration = Duration::from_secs(10);

/// Seconds a command may ask for.
const TIMEOUT: std::ops::RangeInclusive<i64> = 1..=600;

/// Runs the code it reads on its input; see the file.
const RUNNER: &str = include_str!("compute/runner.py");

/// The toolset.
pub(super) struct Compute {
    sandbox: Sandbox,
    passthrough: Vec<String>,
}

impl Compute {
    pub(super) fn new(config: &Config) -> Self {
        Self { sandbox: config.sandbox, passthrough: config.command_env_passthrough.clone() }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Calculate {
    /// Such as 2**10 + sqrt(2).
    expression: String,
}

#[derive(Deserialize, JsonSchema)]
struct RunCommand {
    /// For /bin/sh.
    command: String,
    /// Default: the working folder.
    #[serde(default)]
    cwd: String,
    /// Seconds, 1 to 600.
    #[serde(default = "thirty")]
    timeout: i64,
}

#[derive(Deserialize, JsonSchema)]
struct ExecutePython {
    code: String,
}

fn thirty() -> i64 {
    30
}

impl Toolset for Compute {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Run Python, shell commands, and calculations."
    }

    fn check(&self, tool: &str) -> Option<Check> {
        let runs_programs = matches!(tool, "run_command" | "execute_python");
        let answer = if self.sandbox == Sandbox::None { Err(NO_SANDBOX.to_owned()) } else { Ok(()) };
        runs_programs.then(|| Box::new(move || answer) as Check)
    }

    fn build(&self, services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let place = Arc::new(Place {
            sandbox: self.sandbox,
            folder: services.working_directory.clone(),
            paths: Paths::new(&services.working_directory, &[]),
            commands: Environment::for_commands(&self.passthrough),
            python: Environment::for_python(),
        });
        let (run, shown, python) = (Arc::clone(&place), Arc::clone(&place), place);
        let calculate = Function::new(
            "calculate",
            include_str!("../../assets/tools/calculate.md"),
            Risk::Read,
            |arguments: Calculate, _| {
                blocking("calculate", move |_| match calculate::calculate(&arguments.expression) {
                    Ok(value) => Output::ok(value),
                    Err(fault) => Output::failed(format!("Error: {fault}")),
                })
            },
        );
        let run_command = Function::new(
            "run_command",
            include_str!("../../assets/tools/run_command.md"),
            Risk::Exec,
            move |arguments: RunCommand, _| command(Arc::clone(&run), arguments),
        )
        .with_preview(move |arguments: RunCommand| preview(&shown, &arguments));
        let execute_python = Function::new(
            "execute_python",
            include_str!("../../assets/tools/execute_python.md"),
            Risk::Exec,
            move |arguments: ExecutePython, _| execute(Arc::clone(&python), arguments),
        );
        Ok(vec![calculate.boxed(), run_command.boxed(), execute_python.boxed()])
    }
}

const NO_SANDBOX: &str = "[compute].sandbox is \"none\", so nothing is run";

/// Where one agent's commands run.
struct Place {
    sandbox: Sandbox,
    folder: PathBuf,
    paths: Paths,
    commands: Environment,
    python: Environment,
}

impl Place {
    fn cwd(&self, text: &str) -> Result<PathBuf, String> {
        if text.trim().is_empty() {
            return Ok(self.folder.clone());
        }
        self.paths.resolve(text)
    }
}

fn preview(place: &Place, arguments: &RunCommand) -> Preview {
    let words = shlex::split(&arguments.command).map_or_else(
        || "cannot be split into words: a quote is open".to_owned(),
        // As JSON each word has its own quotes, so nobody has to guess where one ends.
        |words| serde_json::Value::from(words).to_string(),
    );
    let cwd = match place.cwd(&arguments.cwd) {
        Ok(cwd) if is_folder(&cwd) => cwd.display().to_string(),
        Ok(cwd) => format!("{} (does not exist)", cwd.display()),
        Err(fault) => fault,
    };
    let digest = digest(cwd.as_bytes());
    Preview { diff: None, facts: vec![("cwd".to_owned(), cwd), ("words".to_owned(), words)], digest }
}

fn command(place: Arc<Place>, arguments: RunCommand) -> BoxFuture<'static, Output> {
    async move {
        if place.sandbox == Sandbox::None {
            return Output::failed(format!("Error: {NO_SANDBOX}"));
        }
        if arguments.command.contains('\0') {
            return Output::failed("Error: command must not contain a NUL character");
        }
        let cwd = match place.cwd(&arguments.cwd) {
            Ok(cwd) if is_folder(&cwd) => cwd,
            _ => {
                let shown = one_line(&arguments.cwd, 200);
                return Output::failed(format!("Error: working directory does not exist: {shown}"));
            }
        };
        let seconds = arguments.timeout.clamp(*TIMEOUT.start(), *TIMEOUT.end());
        let program = Program {
            name: "/bin/sh",
            arguments: vec!["-c".to_owned(), arguments.command],
            folder: &cwd,
            environment: &place.commands,
            stdin: None,
            time: Duration::from_secs(seconds.unsigned_abs()),
            shares: Shares::Together(COMMAND_BYTES),
        };
        match program.run().await {
            Ok(finished) => command_answer(&finished, seconds),
            Err(error) => Output::failed(format!("Error: could not start /bin/sh: {}", reason(&error))),
        }
    }
    .boxed()
}

/// A non-zero exit is an answer like any other.
fn command_answer(finished: &Finished, seconds: i64) -> Output {
    let (first, note) = match finished.exit {
        Exit::Code(code) => (format!("exit {code}"), format!("exit {code}")),
        Exit::Signal(signal) => (format!("killed by signal {signal}"), format!("signal {signal}")),
        Exit::TimedOut => (format!("Error: command timed out after {seconds}s"), "timed out".to_owned()),
        Exit::TooMuchOutput => {
            ("Error: command was stopped, for it wrote over 64 MiB of output".to_owned(), "too much output".to_owned())
        }
    };
    let mut text = first;
    for (name, stream) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if !stream.is_empty() {
            text.push_str(&format!("\n--- {name} ---\n{}", stream.trim_end_matches('\n')));
        }
    }
    if finished.stdout.is_empty() && finished.stderr.is_empty() {
        text.push_str("\n(no output)");
    }
    let output = match finished.exit {
        Exit::Code(_) | Exit::Signal(_) => Output::ok(text),
        Exit::TimedOut => Output::timed_out(text),
        Exit::TooMuchOutput => Output::failed(text),
    };
    output.with_note(note)
}

fn execute(place: Arc<Place>, arguments: ExecutePython) -> BoxFuture<'static, Output> {
    async move {
        if place.sandbox == Sandbox::None {
            return Output::failed(format!("Error: {NO_SANDBOX}"));
        }
        let prepared = tokio::task::spawn_blocking(move || prepare(&arguments.code)).await;
        let (folder, stdin) = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) => return Output::failed(format!("Error: no temporary folder: {}", reason(&error))),
            Err(_) => return Output::failed("Error: no temporary folder"),
        };
        let finished = run_python(&place, folder.path(), stdin).await;
        // Removing a folder may block, and so may what the code left in it.
        drop(tokio::task::spawn_blocking(move || drop(folder)).await);
        match finished {
            Ok(finished) => python_answer(&finished),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Output::failed(
                "Error: python3 was not found on PATH. Install Python 3, or use calculate or run_command instead.",
            ),
            Err(error) => Output::failed(format!("Error: could not start python3: {}", reason(&error))),
        }
    }
    .boxed()
}

/// A fresh folder and the code as a file to read from, which cannot fill up like a pipe.
fn prepare(code: &str) -> std::io::Result<(tempfile::TempDir, std::fs::File)> {
    let folder = tempfile::tempdir()?;
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(code.as_bytes())?;
    stdin.rewind()?;
    Ok((folder, stdin))
}

async fn run_python(place: &Place, folder: &Path, stdin: std::fs::File) -> std::io::Result<Finished> {
    let program = Program {
        name: "python3",
        arguments: vec!["-c".to_owned(), RUNNER.to_owned()],
        folder,
        environment: &place.python,
        stdin: Some(stdin),
        time: PYTHON_TIME,
        shares: Shares::Each(PYTHON_BYTES),
    };
    program.run().await
}

fn python_answer(finished: &Finished) -> Output {
    let stdout = finished.stdout.trim_end_matches('\n');
    let stderr = finished.stderr.trim_end_matches('\n');
    let with = |error: String| if stdout.is_empty() { error } else { format!("{stdout}\n{error}") };
    match finished.exit {
        Exit::Code(0) => {
            let mut parts: Vec<&str> = [stdout].into_iter().filter(|part| !part.is_empty()).collect();
            let warnings = format!("--- stderr ---\n{stderr}");
            if !stderr.is_empty() {
                parts.push(&warnings);
            }
            let text = if parts.is_empty() { "(no output)".to_owned() } else { parts.join("\n") };
            Output::ok(text).with_note("ok")
        }
        Exit::Code(1) => Output::failed(with(format!("Error:\n{stderr}"))).with_note("error"),
        Exit::Code(code) => {
            Output::failed(with(format!("Error: subprocess exited abnormally (exit {code})\n{stderr}")))
                .with_note("error")
        }
        Exit::Signal(signal) => {
            Output::failed(with(format!("Error: subprocess exited abnormally (signal {signal})\n{stderr}")))
                .with_note("error")
        }
        Exit::TimedOut => {
            let seconds = PYTHON_TIME.as_secs();
            Output::timed_out(with(format!("Error: execution timed out after {seconds}s"))).with_note("timed out")
        }
        Exit::TooMuchOutput => {
            Output::failed(with("Error: execution was stopped, for it wrote over 64 MiB of output".to_owned()))
                .with_note("too much output")
        }
    }
}
