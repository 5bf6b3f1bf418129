//! Health checks of the built-in toolsets.

use kokua::config::Sandbox;
use kokua::tool::check::{Probe, probe};
use serde_json::json;

use super::Bench;

#[tokio::test]
async fn w2_without_a_sandbox_the_exec_tools_are_withheld_and_calculate_stays() {
    let bench = Bench::with(|config, _| config.compute.sandbox = Sandbox::None);
    let compute = bench.toolsets.iter().find(|toolset| toolset.name() == "compute").unwrap();
    let reason = "[compute].sandbox is \"none\", so nothing is run".to_owned();
    let says = |tool: &str| compute.check(tool).map(probe);
    assert_eq!(says("run_command"), Some(Probe::Answered(Err(reason.clone()))));
    assert_eq!(says("execute_python"), Some(Probe::Answered(Err(reason.clone()))));
    assert_eq!(says("calculate"), None, "nothing to ask");
    // Even a call that came past the check runs nothing.
    let mark = bench.work.join("mark");
    let command = format!("touch {}", mark.display());
    assert_eq!(bench.refused("run_command", json!({ "command": command })).await, format!("Error: {reason}"));
    assert_eq!(bench.refused("execute_python", json!({ "code": "1" })).await, format!("Error: {reason}"));
    assert!(!mark.exists());
}

#[test]
fn w2_everything_else_says_yes() {
    let bench = Bench::new();
    for toolset in &bench.toolsets {
        for tool in toolset.build(&bench.services()).unwrap() {
            let says = toolset.check(&tool.spec().name).map_or(Probe::Answered(Ok(())), probe);
            assert_eq!(says, Probe::Answered(Ok(())));
        }
    }
}
