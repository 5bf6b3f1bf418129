//! Spawned work whose panic is a result, not the end of the program.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// Runs `work`; `Err` holds the panic's own words, bounded. Dropping the future drops `work`.
pub(super) async fn contained<T>(work: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(crate::system::panic::contained(work)).catch_unwind().await.map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "an unexpected panic".to_owned());
    text.chars().take(300).collect()
}
