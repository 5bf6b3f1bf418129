//! The signals that ask a command without a screen to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl+C, SIGTERM and SIGHUP, watched from here on: they no longer end the process by themselves.
#[derive(Debug)]
pub struct StopSignals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Begins to watch. A signal that can't be watched never comes.
    pub fn watch() -> Self {
        let watch = |kind| signal(kind).ok();
        Self {
            interrupt: watch(SignalKind::interrupt()),
            terminate: watch(SignalKind::terminate()),
            hangup: watch(SignalKind::hangup()),
        }
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            () = heard(&mut self.interrupt) => {}
            () = heard(&mut self.terminate) => {}
            () = heard(&mut self.hangup) => {}
        }
    }
}

async fn heard(watched: &mut Option<Signal>) {
    match watched {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
