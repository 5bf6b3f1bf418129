//! `misc`: what fits nowhere else. It touches nothing.

use std::sync::Arc;

use futures_util::future::{FutureExt as _, ready};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::{BuildError, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// The toolset.
pub(super) struct Misc;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text.
    echo_string: String,
}

impl Toolset for Misc {
    fn name(&self) -> &'static str {
        "misc"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "Small utilities for testing."
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let description = include_str!("../../assets/tools/echo.md");
        let echo =
            Function::new("echo", description, Risk::Read, |echo: Echo, _| ready(Output::ok(echo.echo_string)).boxed());
        Ok(vec![echo.boxed()])
    }
}
