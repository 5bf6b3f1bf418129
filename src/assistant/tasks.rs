//! Spawned work whose panic is a result, not the end of the program.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::task::AbortHandle;

/// Starts `work` beside the driver. Dropping the handle leaves it running; aborting it drops it.
#[expect(clippy::disallowed_methods, reason = "the one place that starts tasks")]
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(work).abort_handle()
}

/// Runs `work`; `Err` holds the panic's own [`words`]. Dropping the future drops `work`.
pub(super) async fn contained<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| words(&*panic))
}

/// A panic's own words, at most 300 characters of them.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "an unexpected panic".to_owned());
    text.chars().take(300).collect()
}
