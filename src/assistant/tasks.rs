//! Spawned work whose panic is a result, not the end of the program.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::task::AbortHandle;

use crate::system::panic::words;

/// Starts `work` beside the driver. Dropping the handle leaves it running; aborting it drops it.
#[expect(clippy::disallowed_methods, reason = "the one place that starts tasks")]
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(work).abort_handle()
}

/// Runs `work`; `Err` holds the panic's own [`words`]. Dropping the future drops `work`.
pub(super) async fn contained<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(&*panic))
}
