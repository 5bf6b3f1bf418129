//! The process's environment, read in one place.

/// A variable's value, where it is set and is text.
#[expect(clippy::disallowed_methods, reason = "the one place outside the configuration that reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
