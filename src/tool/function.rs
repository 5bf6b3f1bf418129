//! A tool made of a specification and a function: what every built-in tool is.
//!
//! It adds nothing of its own to a call but the typed arguments.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::schema_of;
use super::{CallContext, Output, Preview, Risk, Tool, ToolSpec};

type Run = dyn Fn(Value, CallContext) -> BoxFuture<'static, Output> + Send + Sync;
type Show = dyn Fn(&Value) -> Preview + Send + Sync;

/// A tool made of a function over typed arguments.
#[derive(Clone)]
pub struct Function {
    spec: ToolSpec,
    run: Arc<Run>,
    show: Option<Arc<Show>>,
}

impl Function {
    /// A tool whose schema is that of `A` and whose call is `run`. `description` is trimmed.
    pub fn new<A, F>(name: &str, description: &str, risk: Risk, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(A, CallContext) -> BoxFuture<'static, Output> + Send + Sync + 'static,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: description.trim().to_owned(),
            schema: schema_of::<A>(),
            risk,
            trigger: None,
        };
        let run = Arc::new(move |arguments: Value, context: CallContext| {
            match serde_json::from_value::<A>(arguments) {
                Ok(arguments) => run(arguments, context),
                // Only a caller that skipped `arguments::check` gets here.
                Err(error) => ready(Output::failed(format!("invalid arguments: {error}"))).boxed(),
            }
        });
        Self { spec, run, show: None }
    }

    /// The same tool with what its card shows beyond the arguments. Arguments that do not fit show nothing.
    #[must_use]
    pub fn with_preview<A, F>(mut self, show: F) -> Self
    where
        A: DeserializeOwned,
        F: Fn(A) -> Preview + Send + Sync + 'static,
    {
        self.show = Some(Arc::new(move |arguments: &Value| {
            serde_json::from_value::<A>(arguments.clone()).map(&show).unwrap_or_default()
        }));
        self
    }

    /// As the seam takes it.
    pub fn boxed(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

impl Tool for Function {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn preview(&self, arguments: &Value) -> Preview {
        self.show.as_ref().map(|show| show(arguments)).unwrap_or_default()
    }

    fn call(&self, arguments: Value, context: CallContext) -> BoxFuture<'static, Output> {
        (self.run)(arguments, context)
    }
}
