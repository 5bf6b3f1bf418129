//! The signals that ask a command without a screen to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves when the process is asked to stop: Ctrl+C, SIGTERM or SIGHUP. Never, where signals can't be watched.
pub async fn stop_requested() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut watched: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    if watched.is_empty() {
        return std::future::pending().await;
    }
    let waits = watched.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures_util::future::select_all(waits).await;
}
