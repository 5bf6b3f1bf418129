//! The real binary in a real terminal: what a person does from the first run to the next day, and everything that may
//! happen to a terminal meanwhile.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test looks at the disk and has its deadlines")]

#[path = "../common/mod.rs"]
mod common;

mod agents;
mod burst;
mod conversation;
mod first_run;
mod path;
mod restored;
mod size;

use common::pty::Terminal;

/// Keys as terminals send them.
mod key {
    pub(crate) const CTRL_C: &[u8] = b"\x03";
    pub(crate) const CTRL_D: &[u8] = b"\x04";
    pub(crate) const CTRL_Y: &[u8] = b"\x19";
    pub(crate) const CTRL_Z: &[u8] = b"\x1a";
    pub(crate) const ENTER: &[u8] = b"\r";
    pub(crate) const DOWN: &[u8] = b"\x1b[B";
    pub(crate) const HOME: &[u8] = b"\x1b[H";
    pub(crate) const F2: &[u8] = b"\x1bOQ";
    pub(crate) const F3: &[u8] = b"\x1bOR";
    pub(crate) const F4: &[u8] = b"\x1bOS";
    pub(crate) const F6: &[u8] = b"\x1b[17~";
    /// As terminals with keyboard flags send it: nothing has to be waited for to tell it from a sequence.
    pub(crate) const ESC: &[u8] = b"\x1b[27u";
}

/// The draft in the composer: what stands between its prompt and the line of keys, without line ends.
fn draft(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let Some(at) = lines.iter().rposition(|line| line.contains("assistant › ")) else { return String::new() };
    let below = &lines[at..lines.len().saturating_sub(1).max(at)];
    let text = below.iter().map(|line| line.rsplit("› ").next().unwrap_or(line).trim());
    text.collect()
}

/// How often `words` stand on the screen.
fn count(screen: &str, words: &str) -> usize {
    screen.matches(words).count()
}

/// Focuses the oldest card and allows it. A card that has just come up says that it takes no yes yet; then again.
fn allow(terminal: &mut Terminal) {
    terminal.send(key::CTRL_Y);
    terminal.wait_for("focused");
    let waiting = terminal.text();
    let asks = |screen: &str| screen.lines().next().unwrap_or_default().to_owned();
    let before = asks(&waiting);
    loop {
        terminal.send(b"a");
        let now = terminal.wait("an answer to 'a'", |text| asks(text) != before || text.contains("just come up"));
        if asks(&now) != before {
            return;
        }
        terminal.wait_gone("just come up");
    }
}

/// Waits until no turn runs.
fn idle(terminal: &Terminal) -> String {
    terminal.wait("the end of the turn", |text| !text.contains("─ running ") && !text.contains("─ stopping "))
}

/// Focuses the oldest card.
fn focus_card(terminal: &mut Terminal) {
    terminal.send(key::CTRL_Y);
    terminal.wait_for("focused");
}

/// Leaves with Ctrl+C twice on an empty composer, once no turn runs.
fn quit(mut terminal: Terminal) -> common::pty::Exited {
    idle(&terminal);
    terminal.send(key::CTRL_C);
    terminal.wait_for("Ctrl+C again quits");
    terminal.send(key::CTRL_C);
    terminal.exit()
}
