//! The `kokua` binary: arguments, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    kokua::cli::main()
}
