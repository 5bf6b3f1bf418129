//! Built-in toolsets, one file each. None of them asks anybody or knows who holds it.
//!
//! A file here is a toolset and is named like it (A16); what a toolset needs beyond one file is in its folder.

mod capabilities;
mod compute;
mod fs;
mod fs_write;
mod memory;
mod messaging;
mod misc;
mod time;
mod todo;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::{BoxFuture, FutureExt as _};

use crate::config::Config;
use crate::tool::{Output, Toolset};

/// Every built-in toolset, in the order of the shipped table: the trust order within its kind (A6).
pub fn all(config: &Config) -> Vec<Arc<dyn Toolset>> {
    vec![
        Arc::new(memory::Memory::new()),
        Arc::new(capabilities::Capabilities),
        Arc::new(time::Time),
        Arc::new(messaging::Messaging),
        Arc::new(todo::Todo::new()),
        Arc::new(fs::Fs::new(config.fs.roots.clone())),
        Arc::new(fs_write::FsWrite::new(config)),
        Arc::new(compute::Compute::new(&config.compute)),
        Arc::new(misc::Misc),
    ]
}

/// Set once the call that started some blocking work was dropped. Work that takes long looks at it between steps.
#[derive(Debug, Clone, Default)]
struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets its flag when it goes.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` where it may block. Dropping the future tells `work` so; a panic in it is a result.
fn blocking<F>(tool: &'static str, work: F) -> BoxFuture<'static, Output>
where
    F: FnOnce(&Cancel) -> Output + Send + 'static,
{
    async move {
        let cancel = Cancel::default();
        let _guard = CancelOnDrop(cancel.clone());
        match tokio::task::spawn_blocking(move || work(&cancel)).await {
            Ok(output) => output,
            Err(error) => Output::failed(format!("Tool '{tool}' raised an error: {}", panic_text(error))),
        }
    }
    .boxed()
}

/// What a panic said, or that the work was ended from outside.
fn panic_text(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => crate::system::panic::words(&*panic),
        Err(_) => "it was ended from outside".to_owned(),
    }
}

/// `name` as one harmless file name: anything but letters, digits, `-` and `_` becomes `_`.
fn file_name(name: &str) -> String {
    let cleaned: String = name
        .chars()
        .take(100)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' })
        .collect();
    if cleaned.is_empty() { "_".to_owned() } else { cleaned }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_result() {
        let output = blocking("f", |_| panic!("it broke")).await;
        assert_eq!(output, Output::failed("Tool 'f' raised an error: it broke"));
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a test that drops a call on purpose")]
    async fn dropping_a_call_tells_its_work() {
        let (begun, begins) = std::sync::mpsc::channel();
        let (ended, ends) = std::sync::mpsc::channel();
        let call = tokio::spawn(blocking("f", move |cancel| {
            begun.send(()).unwrap();
            while !cancel.is_cancelled() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Output::ok("")
        }));
        let wait = |end: std::sync::mpsc::Receiver<()>| {
            tokio::task::spawn_blocking(move || end.recv_timeout(std::time::Duration::from_secs(20)))
        };
        wait(begins).await.unwrap().unwrap();
        call.abort();
        wait(ends).await.unwrap().unwrap();
    }
}
