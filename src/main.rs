//! The `kokua` binary: arguments, run, exit code.
fn main() {}
