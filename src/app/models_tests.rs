use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DefaultModel, Models, configured, settings_of};
use crate::access::{AgentName, Registry, World};
use crate::assistant::ports::Models as _;
use crate::config::{self, Config, Locations, Source};
use crate::model::{Because, ModelSpec, Selection};

fn config(text: &str) -> Config {
    let locations = Locations { home_variable: Some("/home/me/.kokua".into()), ..Locations::default() };
    let source = Source { path: "config.toml".into(), text: text.to_owned() };
    config::parse(source, &locations, |_| Vec::new()).unwrap()
}

fn name(agent: &str) -> AgentName {
    AgentName::new(agent)
}

/// As a start makes them, with `discovered` as what would be found running where nobody names a model.
fn models(config: &Config, asked: Option<&str>, discovered: &str) -> Models {
    let entry = name("boss");
    let spec = |text: Option<&str>| text.unwrap_or(discovered).parse::<ModelSpec>();
    let of_entry = spec(configured(config, asked, &entry, Some(&entry))).unwrap();
    let default = spec(configured(config, asked, &entry, None)).map_err(Into::into);
    let models = Models::of_specs(config, &entry, of_entry, default);
    // What is printed of an agent is what runs.
    for (agent, plan) in &models.declared {
        assert_eq!(plan.spec, spec(configured(config, asked, &entry, Some(agent))).map_err(Into::into), "{agent}");
    }
    models
}

fn labels(models: &Models, agents: &[&str]) -> Vec<String> {
    agents.iter().map(|agent| models.of(&name(agent)).unwrap().label()).collect()
}

const TEAM: &str = "[agents.boss]\nmodel = \"ollama:big\"\ndelegates_to = [\"coder\", \"reader\"]\n\
                    [agents.coder]\nmodel = \"ollama:code\"\n[agents.reader]\n";

#[test]
fn d2_a_workers_model_is_its_own_or_the_default_never_its_delegators() {
    let agents = ["boss", "coder", "reader", "composed-by-boss"];
    let plain = config(TEAM);
    assert_eq!(labels(&models(&plain, None, "ollama:found"), &agents), ["big", "code", "found", "found"]);
    assert_eq!(
        labels(&models(&plain, Some("ollama:asked"), "ollama:found"), &agents),
        ["asked", "code", "asked", "asked"]
    );
    let common = config(&format!("[assistant]\nmodel = \"ollama:common\"\n{TEAM}"));
    assert_eq!(labels(&models(&common, None, "ollama:found"), &agents), ["big", "code", "common", "common"]);
    assert_eq!(
        labels(&models(&common, Some("ollama:asked"), "ollama:found"), &agents),
        ["asked", "code", "asked", "asked"]
    );
    let nobody = config("[agents.boss]\ndelegates_to = [\"coder\", \"reader\"]\n[agents.coder]\n[agents.reader]\n");
    assert_eq!(labels(&models(&nobody, None, "ollama:found"), &agents), ["found"; 4]);
}

#[tokio::test]
async fn d2_what_was_selected_for_the_entry_agent_is_the_default_unless_its_own_table_named_it() {
    let selected = |text: &str, because| Some(Selection { spec: text.parse().unwrap(), because });
    let nobody = config("[agents.boss]\n[agents.reader]\n");
    let found =
        Models::new(&nobody, &name("boss"), None, selected("ollama:found", Because::Running), DefaultModel::Used).await;
    assert_eq!(labels(&found.ok().unwrap(), &["boss", "reader", "x"]), ["found"; 3]);
    let own = config(&format!("[assistant]\nmodel = \"ollama:common\"\n{TEAM}"));
    let made = Models::new(&own, &name("boss"), None, None, DefaultModel::Used).await;
    assert_eq!(labels(&made.ok().unwrap(), &["boss", "coder", "reader", "x"]), ["big", "code", "common", "common"]);
}

#[tokio::test]
async fn a_model_string_of_the_command_line_that_is_none_is_told_at_the_start() {
    let error =
        Models::new(&config(TEAM), &name("boss"), Some("olama:x"), None, DefaultModel::Used).await.err().unwrap();
    assert!(error.to_string().contains("unknown provider 'olama'"), "{error}");
}

/// The variable is in nobody's environment.
const NO_KEY: &str = "[providers.openai]\napi_key_env = \"KOKUA_TEST_KEY_THAT_NOBODY_SETS\"\n[agents.boss]\n\
                      model = \"ollama:big\"\ndelegates_to = [\"middle\"]\n[agents.middle]\ndelegates_to = [\"coder\"]\n\
                      [agents.coder]\nmodel = \"openai:code\"\n[agents.alone]\nmodel = \"openai:code\"\n";

#[test]
fn d2_a_worker_without_a_key_is_an_error_of_its_own_and_an_alert_where_it_can_be_reached() {
    let config = config(&format!("[assistant]\nagent = \"boss\"\n{NO_KEY}"));
    let models = models(&config, None, "rehearsal");
    let failure = models.of(&name("coder")).err().unwrap();
    assert!(failure.message.contains("KOKUA_TEST_KEY_THAT_NOBODY_SETS"), "{failure}");
    assert!(failure.hint.is_some());
    assert!(models.of(&name("boss")).is_ok() && models.of(&name("middle")).is_ok());
    let world = World::new(config.declarations.clone(), Registry::new([])).unwrap();
    let alerts = models.alerts(&world);
    assert_eq!(alerts.len(), 1, "nobody can spawn 'alone': {alerts:?}");
    assert!(alerts[0].message.starts_with("coder can't work for another agent: no key for openai"), "{alerts:?}");
}

#[tokio::test]
async fn the_entry_agent_without_a_key_starts_and_its_call_says_so() {
    let config = config(&NO_KEY.replace("ollama:big", "openai:big"));
    let models = Models::new(&config, &name("boss"), None, None, DefaultModel::Unused).await.ok().unwrap();
    assert_eq!(models.of(&name("boss")).ok().unwrap().label(), "big");
}

#[test]
fn a_default_that_is_no_model_string_is_an_error_of_the_workers_that_need_it() {
    let config = config(TEAM);
    let default = "olama:x".parse::<ModelSpec>().map_err(Into::into);
    let models = Models::of_specs(&config, &name("boss"), "ollama:big".parse().unwrap(), default);
    assert_eq!(labels(&models, &["boss", "coder"]), ["big", "code"]);
    assert!(models.of(&name("reader")).err().unwrap().message.contains("unknown provider 'olama'"));
    assert!(models.of(&name("composed")).is_err());
    let (settings, composed) = settings_of(&config, &models);
    assert_eq!((settings.len(), composed.max_attempts), (3, 5));
}

#[test]
fn one_client_for_all_who_agree_in_model_thinking_and_sampling() {
    let config = config(
        "[agents.boss]\nmodel = \"ollama:m\"\n[agents.coder]\nmodel = \"ollama:m\"\n[agents.thinker]\n\
         model = \"ollama:m\"\nthinking = true\n[agents.window]\nmodel = \"ollama:m\"\n\
         [agents.window.generation]\ncontext_length = 7\n",
    );
    let models = models(&config, None, "ollama:m");
    let of = |agent: &str| models.usable(Some(&name(agent))).unwrap();
    assert!(Arc::ptr_eq(&of("boss"), &of("coder")) && Arc::ptr_eq(&of("boss"), &of("composed")));
    assert!(!Arc::ptr_eq(&of("boss"), &of("thinker")) && !Arc::ptr_eq(&of("boss"), &of("window")));
    assert!(Arc::ptr_eq(&of("thinker"), &of("thinker")));
    assert_eq!((of("window").0.window(), of("boss").0.window()), (Some(7), None));
}

#[test]
fn d2_each_agent_runs_by_its_own_settings_and_a_composed_one_by_the_assistants() {
    let config = config(
        "[assistant]\nmax_iterations = 7\nsystem_message = \" Common. \"\nconcurrent_tools = false\n\
         [providers.ollama]\nmax_attempts = 2\n[agents.boss]\nmodel = \"ollama:m\"\nmax_iterations = 50\n\
         system_message = \"Boss.\"\n[agents.coder]\nmodel = \"vllm:m\"\n",
    );
    let (settings, composed) = settings_of(&config, &models(&config, None, "rehearsal"));
    let short = |settings: &crate::assistant::AgentSettings| {
        (settings.opener.clone(), settings.max_iterations, settings.concurrent_tools, settings.max_attempts)
    };
    let by_name: BTreeMap<&str, _> =
        settings.iter().map(|(agent, settings)| (agent.as_str(), short(settings))).collect();
    assert_eq!(by_name["boss"], ("Boss.".to_owned(), 50, false, 2));
    assert_eq!(by_name["coder"], ("Common.".to_owned(), 7, false, 5));
    assert_eq!(short(&composed), ("Common.".to_owned(), 7, false, 5));
}

#[test]
fn d2_no_server_is_looked_for_where_nobody_can_come_to_be_who_needs_one() {
    let used = |text: &str| {
        let config = config(&format!("[assistant]\nagent = \"boss\"\n{text}"));
        let registry = crate::app::Installed::of(&config).unwrap_or_else(|faults| panic!("{faults:?}"));
        DefaultModel::of(&config, &registry.world)
    };
    let alone = "[agents.boss]\nmodel = \"ollama:big\"\n[agents.alone]\n";
    assert_eq!(used(alone), DefaultModel::Unused);
    let named = "[agents.boss]\ndelegates_to = [\"coder\"]\n[agents.coder]\nmodel = \"ollama:code\"\n";
    assert_eq!(used(named), DefaultModel::Unused);
    assert_eq!(used(&named.replace("model = \"ollama:code\"\n", "")), DefaultModel::Used);
    let composes = format!("{alone}[agents.boss.tools]\navailable = [\"capabilities\"]\n");
    assert_eq!(used(&composes), DefaultModel::Used);
}
