//! Signals that concern a full screen, and stopping this process as Ctrl+Z does.

use std::io;
use std::time::Duration;

use rustix::process::{Signal, kill_current_process_group};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// One signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Asked to end: SIGTERM, or SIGINT from outside (in raw mode Ctrl+C is a key).
    End,
    /// The terminal was closed: SIGHUP.
    HungUp,
    /// Continued after a stop that somebody else asked for: SIGCONT.
    Continued,
}

/// The signals, from now on.
#[derive(Debug)]
pub struct Signals {
    terminate: Stream,
    interrupt: Stream,
    hangup: Stream,
    resumed: Stream,
}

impl Signals {
    /// Starts listening. From here on none of them ends the process by itself.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            resumed: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
        })
    }

    /// The next one. Dropping the future loses none.
    pub async fn next(&mut self) -> Heard {
        tokio::select! {
            Some(()) = self.terminate.recv() => Heard::End,
            Some(()) = self.interrupt.recv() => Heard::End,
            Some(()) = self.hangup.recv() => Heard::HungUp,
            Some(()) = self.resumed.recv() => Heard::Continued,
            else => std::future::pending().await,
        }
    }

    /// The next one while a child has the terminal: Ctrl+C there is the child's, and so is being continued.
    pub async fn next_ending(&mut self) -> Heard {
        tokio::select! {
            Some(()) = self.terminate.recv() => Heard::End,
            Some(()) = self.hangup.recv() => Heard::HungUp,
            else => std::future::pending().await,
        }
    }

    /// Forgets what came while a child had the terminal.
    pub async fn forget(&mut self) {
        let passed = Duration::ZERO;
        while tokio::time::timeout(passed, self.interrupt.recv()).await.is_ok_and(|heard| heard.is_some()) {}
        while tokio::time::timeout(passed, self.resumed.recv()).await.is_ok_and(|heard| heard.is_some()) {}
    }

    /// Stops this process and those that the shell started with it, as the terminal does for Ctrl+Z; returns once it
    /// goes on. Where there is no shell to return to, the system does not stop it, and this returns soon.
    ///
    /// # Errors
    /// The system refuses.
    pub async fn stop_here(&mut self) -> io::Result<()> {
        self.forget().await;
        kill_current_process_group(Signal::TSTP)?;
        // The stop may come a moment after the call returned; nothing may touch the terminal before.
        let _ = tokio::time::timeout(Duration::from_millis(200), self.resumed.recv()).await;
        Ok(())
    }
}
