//! How a tool reaches the other agents of the turn it is called in. Any toolset may; what is answered is the tree's to say.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Output;
use crate::agent::delegate::Request;

/// The way from one call to the agents beside it. One question at a time; it is over when its call is.
#[derive(Clone)]
pub struct Agents(Arc<dyn Fn(Request) -> BoxFuture<'static, Output> + Send + Sync>);

impl Agents {
    /// Asks by way of `ask`.
    pub fn new(ask: impl Fn(Request) -> BoxFuture<'static, Output> + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// For a call outside of any turn.
    pub fn nobody() -> Self {
        Self::new(|_| async { Output::failed("No turn is currently running, so there is nobody to send to.") }.boxed())
    }

    /// Asks, and waits for the answer.
    pub fn ask(&self, request: Request) -> BoxFuture<'static, Output> {
        (self.0)(request)
    }
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agents")
    }
}
