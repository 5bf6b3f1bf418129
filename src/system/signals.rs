//! The signals that ask a command without a screen to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Resolves when the process is asked to stop: Ctrl+C, SIGTERM or SIGHUP. A signal that can't be watched never comes.
pub async fn stop_requested() {
    let mut interrupt = signal(SignalKind::interrupt()).ok();
    let mut terminate = signal(SignalKind::terminate()).ok();
    let mut hangup = signal(SignalKind::hangup()).ok();
    tokio::select! {
        () = heard(&mut interrupt) => {}
        () = heard(&mut terminate) => {}
        () = heard(&mut hangup) => {}
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
