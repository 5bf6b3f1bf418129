//! All five answers for a tool of an agent, with every reason. Offering, dispatch, screens and commands ask here.
//!
//! Nothing here decides by itself: it calls the one function that owns each question.

use serde::Serialize;

use super::approval::{CallFacts, Gate};
use super::conditions::Life;
use super::declare::Available;
use super::grant::Answer;
use super::held::Arrival;
use super::name::{AgentName, ToolId, ToolsetName, did_you_mean, near};
use super::offer::{Chain, Filter};
use super::policy::{Decision, GateList};
use super::reason::Reason;
use super::report::source;
use super::world::World;

/// One answer: yes or no, and every reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The answer.
    pub yes: bool,
    /// All reasons, in the order in which the rules ask. Never empty.
    pub reasons: Vec<Reason>,
}

/// The fourth answer: which list gates it, and who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// The list of the entry that decides; `None`: it runs.
    pub list: Option<GateList>,
    /// Who answers a call made now.
    pub answered_by: AnsweredBy,
    /// Every entry that matches, the deciding one first, and the floor's.
    pub reasons: Vec<Reason>,
}

/// Who answers a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AnsweredBy {
    /// Nobody is asked: it is not gated.
    NotAsked,
    /// A person.
    Person,
    /// A reviewer first.
    Reviewer,
    /// Something that a person wrote or said earlier, or that nobody is here.
    Already {
        /// The answer.
        answer: Answer,
    },
}

/// What a call made now comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It runs without a question.
    Runs,
    /// It asks a person.
    Asks,
    /// It asks a reviewer.
    AsksReviewer,
    /// It could be called, and not now: not loaded, or withheld.
    NotNow,
    /// It can never be called with this configuration.
    Never,
}

/// What follows "a call".
impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Runs => "runs without a question",
            Self::Asks => "asks you first",
            Self::AsksReviewer => "asks a reviewer first",
            Self::NotNow => "is not possible now",
            Self::Never => "is never possible with this configuration",
        })
    }
}

/// The five answers for one tool of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// 1: can it ever call it?
    pub available: Finding,
    /// 2: is it in its context?
    pub held: Finding,
    /// 3: does a call made now carry it?
    pub offered: Finding,
    /// 4: does it ask first, and who answers?
    pub approval: Approval,
    /// 5: would it run now, after an answer?
    pub dispatched: Finding,
    /// What all of that comes to.
    pub outcome: Outcome,
}

/// Something in the way of running a tool (axis 5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Obstacle {
    filter: Option<Filter>,
    reason: Reason,
}

impl Obstacle {
    /// What follows the tool's name in the refusal that a model reads.
    pub(super) fn sentence(&self) -> String {
        match self.filter {
            Some(filter) => format!("is {}: {}", filter.words(), self.reason.text),
            None => self.reason.text.clone(),
        }
    }
}

/// Everything in the way of running `tool` now, in the order of the questions: held, available, every filter, and the
/// definition that was shown (O3). Dispatch is refused by the first; nothing: it may run.
pub(super) fn obstacles<'a>(
    world: &'a World,
    life: Life<'a>,
    tool: &'a ToolId,
    digest: &'a str,
) -> impl Iterator<Item = Obstacle> {
    let of_rule = |text: String| Obstacle { filter: None, reason: Reason::rule(text) };
    let place = life.held.place(tool);
    let holding = place.and_then(|index| life.held.tools().get(index));
    let not_held = place.is_none().then(|| of_rule("is not held".to_owned()));
    let not_available =
        (!world.may_hold(life.agent, tool)).then(|| of_rule(format!("is not available to '{}'", life.agent)));
    let withheld = holding.into_iter().flat_map(move |holding| {
        let chain = Chain::new(world, life.conditions);
        let question = chain.held(holding, place.unwrap_or_default());
        let withheld: Vec<_> = chain.withholds(question).collect();
        withheld.into_iter().map(|(filter, reason)| Obstacle { filter: Some(filter), reason })
    });
    let changed = holding
        .filter(|holding| holding.digest != digest)
        .map(|_| of_rule("changed since it was shown; call it again".to_owned()));
    not_held.into_iter().chain(not_available).chain(withheld).chain(changed)
}

/// The five answers for `tool`, each with every reason. `call`: a call of it, so that grants, flags and allow lines are
/// asked too; without one, a call by an attended agent that nothing said earlier answers for.
pub fn explain(world: &World, life: Life<'_>, tool: &ToolId, call: Option<&CallFacts<'_>>) -> Explanation {
    let available = explain_available(world, life, tool);
    let held = explain_held(world, life, tool, available.yes);
    let offered = explain_offered(world, life, tool, &held);
    let approval = explain_approval(world, life.agent, tool, call);
    let digest = life.held.get(tool).map_or("", |holding| holding.digest.as_str());
    let in_the_way: Vec<Reason> = obstacles(world, life, tool, digest)
        .map(|obstacle| Reason { text: format!("it {}", obstacle.sentence()), ..obstacle.reason })
        .collect();
    let dispatched = if in_the_way.is_empty() {
        Finding { yes: true, reasons: vec![Reason::rule("it is held, offered and unchanged")] }
    } else {
        Finding { yes: false, reasons: in_the_way }
    };
    let refused = !held.yes && tool.toolset().is_some_and(|toolset| world.refusal(toolset).is_some());
    let outcome = match (&approval.answered_by, approval.list) {
        _ if !available.yes || refused => Outcome::Never,
        _ if !held.yes || !offered.yes || !dispatched.yes => Outcome::NotNow,
        (AnsweredBy::NotAsked, _) => Outcome::Runs,
        (AnsweredBy::Person, _) => Outcome::Asks,
        (AnsweredBy::Reviewer, _) => Outcome::AsksReviewer,
        (AnsweredBy::Already { answer }, _) if answer.allows() => Outcome::Runs,
        (AnsweredBy::Already { .. }, _) => Outcome::NotNow,
    };
    Explanation { available, held, offered, approval, dispatched, outcome }
}

/// The filter that keeps the whole of `toolset` out of every call of this life, if one does: W1, W2 for all of it, W3 or W4.
/// What W6 says of a toolset depends on whether its tools are held: each tool's row says it.
pub fn off(world: &World, life: Life<'_>, toolset: &ToolsetName) -> Option<(Filter, Reason)> {
    let owner = super::name::Owner::Toolset(toolset.clone());
    let chain = Chain::new(world, life.conditions);
    let mut withholding = chain.withholds(chain.toolset(&owner));
    withholding.find(|(filter, _)| filter.lasts())
}

fn explain_available(world: &World, life: Life<'_>, tool: &ToolId) -> Finding {
    let agent = life.agent;
    let no = |reason: Reason| Finding { yes: false, reasons: vec![reason] };
    let may = world.may_hold(agent, tool);
    let Some(toolset) = tool.toolset() else {
        let here = world.declaration(agent).map(|declared| declared.name.span).unwrap_or_default();
        let earns = if may { "earns" } else { "does not earn" };
        return Finding {
            yes: may,
            reasons: vec![Reason::at(format!("[agents.{agent}] {earns} the core tool"), here)],
        };
    };
    let Some(facts) = world.registry().get(toolset.as_str()) else {
        let hint = did_you_mean(&world.registry().near(toolset.as_str())).map(|hint| format!("; {hint}"));
        return no(Reason::rule(format!("no toolset is named '{toolset}'{}", hint.unwrap_or_default())));
    };
    let because = match (world.declaration(agent), world.composer(agent)) {
        (Some(declared), _) => {
            let (table, here) = (format!("[agents.{agent}.tools]"), declared.name.span);
            match &declared.available {
                Available::Absent => Reason::at(format!("{table} has no available list"), here),
                Available::All(span) if may => Reason::at(format!("available of {table} is \"all\""), *span),
                Available::All(span) => {
                    let text =
                        format!("available of {table} is \"all\", which leaves '{}' to the entry agent", facts.name);
                    Reason::at(text, *span)
                }
                Available::List(words) => match words.iter().find(|listed| listed.value == *toolset) {
                    Some(named) => Reason::at(format!("available of {table} names '{toolset}'"), named.span),
                    None if may => {
                        let skills = words.iter().find(|listed| listed.value.as_str() == "skills");
                        let text = format!("available of {table} names 'skills', so '{agent}' reaches every skill");
                        Reason::at(text, skills.map_or(here, |word| word.span))
                    }
                    None => {
                        let text = format!("available of {table} does not name '{toolset}'");
                        Reason::at(text, words.first().map_or(here, |first| first.span))
                    }
                },
            }
        }
        (None, Some(composer)) => {
            let from = if may { "composed it from" } else { "did not compose it from" };
            Reason::event(format!("'{composer}' {from} '{toolset}'"), "compose_subagent")
        }
        (None, None) => return no(Reason::rule(format!("no agent is named '{agent}'"))),
    };
    let mut reasons = vec![because];
    let build = world.last_build(toolset);
    // What is held stays callable, whatever a later build has (R17).
    let held = life.held.place(tool).is_some();
    let exists = held || build.is_none_or(|tools| tools.iter().any(|facts| facts.name == tool.name));
    if let (false, Some(tools)) = (exists, build) {
        let close = near(tool.name.as_str(), tools.iter().map(|facts| facts.name.as_str()), 3);
        let hint = did_you_mean(&close).map(|hint| format!("; {hint}")).unwrap_or_default();
        reasons.push(Reason::event(format!("'{toolset}' has no such tool{hint}"), "its last build"));
    }
    Finding { yes: may && exists, reasons }
}

fn explain_held(world: &World, life: Life<'_>, tool: &ToolId, available: bool) -> Finding {
    let agent = life.agent;
    let declared = world.declaration(agent);
    let here = declared.map(|declared| declared.name.span).unwrap_or_default();
    let event =
        |otherwise: &str| tool.toolset().and_then(|toolset| life.held.event(toolset)).unwrap_or(otherwise).to_owned();
    if let Some(holding) = life.held.get(tool) {
        let because = match holding.arrival {
            Arrival::Core => Reason::at(format!("[agents.{agent}] earns the core tool"), here),
            Arrival::Preloaded => Reason::event("the conversation had loaded it", event("load_tools")),
            Arrival::Loaded => Reason::event("load_tools loaded it", event("load_tools")),
            Arrival::Skill => Reason::rule("the entry agent always holds the skills that it reaches"),
            Arrival::Resident if declared.is_none() => {
                Reason::rule("a composed worker holds all that it is composed from")
            }
            Arrival::Resident => {
                let words = declared.and_then(|declared| declared.resident.as_ref());
                match words.and_then(|words| words.iter().find(|word| Some(&word.value) == tool.toolset())) {
                    Some(named) => {
                        Reason::at(format!("resident of [agents.{agent}.tools] names its toolset"), named.span)
                    }
                    None => Reason::at(
                        format!("[agents.{agent}.tools] has no resident list: every available toolset is resident"),
                        here,
                    ),
                }
            }
        };
        return Finding { yes: true, reasons: vec![because] };
    }
    let mut reasons = Vec::new();
    if !available {
        reasons.push(Reason::rule("it is not available"));
    }
    match tool.toolset() {
        None if available => reasons.push(Reason::rule("the core tool was not defined")),
        None => {}
        Some(toolset) if life.held.arrival(toolset).is_some() => {
            reasons.push(match life.held.holder(&tool.owner, &tool.name).map(|holder| &holder.id) {
                Some(holder) if *holder != *tool => Reason::rule(format!("{holder} holds its name")),
                _ => Reason::rule("its toolset is held, and the build that it came from had no such tool"),
            });
        }
        Some(toolset) => {
            if let Some(refusal) = world.refusal(toolset) {
                reasons.push(Reason::event(format!("refused: {}", refusal.message), "a build of it"));
            }
            if let Some(error) = world.failure(toolset) {
                reasons.push(Reason::event(format!("'{toolset}' could not be built: {error}"), "its last build"));
            }
            if available && world.table(agent).deferred.contains(toolset) {
                let words = declared.and_then(|declared| declared.resident.as_ref());
                let span = words.and_then(|words| words.first()).map_or(here, |first| first.span);
                let text = format!(
                    "resident of [agents.{agent}.tools] leaves '{toolset}' out{}",
                    if can_load(world, life, toolset) { ": load_tools with that name adds it" } else { "" }
                );
                reasons.push(Reason::at(text, span));
            } else if available && reasons.is_empty() {
                reasons.push(Reason::rule(format!("'{toolset}' is resident and was not built yet")));
            }
        }
    }
    Finding { yes: false, reasons }
}

/// Whether the model can load `toolset` now: it may, and `load_tools` is there to be called.
fn can_load(world: &World, life: Life<'_>, toolset: &ToolsetName) -> bool {
    let loader = ToolId::core("load_tools");
    let digest = life.held.get(&loader).map_or("", |loader| loader.digest.as_str());
    world.may_build(life, toolset).is_none() && obstacles(world, life, &loader, digest).next().is_none()
}

fn explain_offered(world: &World, life: Life<'_>, tool: &ToolId, held: &Finding) -> Finding {
    let chain = Chain::new(world, life.conditions);
    let place = life.held.place(tool);
    let question = match place.and_then(|index| Some((index, life.held.tools().get(index)?))) {
        Some((index, holding)) => chain.held(holding, index),
        None => chain.absent(tool, world.trigger(tool)),
    };
    let withheld = chain.withholds(question).filter(|(filter, _)| filter.decides());
    let withheld = withheld.map(|(_, reason)| reason);
    let not_held = (!held.yes).then(|| Reason::rule("it is not in the context"));
    let reasons: Vec<Reason> = not_held.into_iter().chain(withheld).collect();
    if reasons.is_empty() {
        return Finding { yes: true, reasons: vec![Reason::rule("no filter withholds it")] };
    }
    Finding { yes: false, reasons }
}

fn explain_approval(world: &World, agent: &AgentName, tool: &ToolId, call: Option<&CallFacts<'_>>) -> Approval {
    let mut reasons: Vec<Reason> = Vec::new();
    for (policy, entry) in world.policies.gates(agent, tool) {
        let by_name = if entry.gate.names(tool) { "" } else { ", by the tool's name: whoever holds it" };
        let text = format!("'{}' in {} of [{}]{by_name}", entry.written, entry.list, policy.table);
        let reason = Reason::at(text, entry.span);
        // A composed worker whose composer inherits the default pair meets each entry of it twice.
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let gate = world.gate(agent, tool);
    if let Some(Gate::Server(gate)) = &gate {
        reasons.push(Reason::at(
            format!("no entry matches it, and default of {} is \"confirm\"", gate.table()),
            gate.span,
        ));
    }
    let list = gate.map(|gate| gate.list());
    if list.is_none() {
        let source = source(world, agent);
        reasons.push(Reason { text: format!("in neither list; its pair is {}", source.text), ..source });
    }
    if list.is_none() && world.policies.is_declared(agent) && world.may_hold(agent, tool) {
        let default = world.policies.default_pair();
        if let Some(entry) = default.entries.iter().find(|entry| world.policies.reaches(&entry.gate, tool)) {
            let text = format!(
                "'{}' in {} of [{}] would ask; this agent's own pair replaces it",
                entry.written, entry.list, default.table
            );
            reasons.push(Reason::at(text, entry.span));
        }
    }
    if let Some(floor) = world.policies.floor_reaches(tool) {
        let what = if list.is_some() { "only a person's own answer counts" } else { "gates nothing by itself" };
        let text = format!("'{}' in [security].never_auto_approve: {what}", floor.written);
        reasons.push(Reason::at(text, floor.span));
    }
    let answered_by = match (list, call) {
        (None, _) => AnsweredBy::NotAsked,
        (Some(_), Some(call)) => match world.judge(call) {
            Decision::Run => AnsweredBy::NotAsked,
            Decision::RunAnswered(_, answer) | Decision::AutoDenied(_, answer) => AnsweredBy::Already { answer },
            Decision::Review(_) => AnsweredBy::Reviewer,
            Decision::Ask(_) => AnsweredBy::Person,
            Decision::Unresolved(reason) => AnsweredBy::Already { answer: Answer::AutoDenied { reason } },
        },
        (Some(list), None) if world.reviews(list) && world.policies.floor_reaches(tool).is_none() => {
            AnsweredBy::Reviewer
        }
        (Some(_), None) => AnsweredBy::Person,
    };
    Approval { list, answered_by, reasons }
}
