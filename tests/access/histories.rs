//! The invariants of access.md §11 over generated histories, against a model that is too simple to share a mistake.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::*;
use kokua::access::*;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

const TOOLSETS: [&str; 5] = ["a", "b", "c", "d", "e"];
/// Few names over many toolsets, so that they clash; two of them are no wire names.
const TOOLS: [&str; 5] = ["read", "write", "list", "read file", "läs"];
const AGENTS: [&str; 2] = ["assistant", "coder"];

/// What one generated configuration says.
#[derive(Debug, Clone)]
struct Tables {
    /// Available, and how many of them are resident, for each agent.
    agents: Vec<(Vec<&'static str>, usize)>,
    confirm: Vec<String>,
    review: Vec<String>,
    /// The coder's own pair, if it declares one.
    own: Option<Vec<String>>,
    floor: Vec<String>,
}

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// An agent loads a toolset, whose build offers these tools.
    Load(usize, &'static str, Vec<&'static str>),
    /// A toolset is built for somebody else.
    Build(&'static str, Vec<&'static str>),
    Fail(&'static str),
    Switch(Vec<&'static str>),
    Check(&'static str, Option<&'static str>, bool),
    /// An agent's tool is called; what a person who is asked says; and they may be away.
    Call(usize, Index, Answer, Attendance),
    /// An agent is rebuilt and preloads what it had loaded.
    Rebuild(usize),
    Revoke(u32),
}

fn entry() -> impl Strategy<Value = String> {
    (select(TOOLSETS.to_vec()), select(vec!["", ".*", ".read", ".write", ".list", ".läs"]))
        .prop_map(|(toolset, rest)| format!("{toolset}{rest}"))
}

fn tables() -> impl Strategy<Value = Tables> {
    let table = || (subsequence(TOOLSETS.to_vec(), 1..=5), 0_usize..=3);
    let list = || prop::collection::vec(entry(), 0..3);
    (prop::collection::vec(table(), 2), list(), list(), prop::option::of(list()), list()).prop_map(
        |(agents, confirm, review, own, floor)| {
            // Entries on what nobody concerned lists, and overlaps, fail startup: other tests say so. Here they would
            // only leave no history to look at.
            let lists = |index: usize, text: &str| {
                let toolset = text.split('.').next().unwrap();
                agents[index].0.contains(&toolset)
            };
            let inherits = own.is_none();
            let default = |text: &String| lists(0, text) || (inherits && lists(1, text));
            let mut taken: Vec<GateEntry> = Vec::new();
            let mut free = |text: &String| {
                let parsed = GateEntry::parse(text).unwrap();
                let clash = taken.iter().any(|other| other.overlaps(&parsed));
                taken.push(parsed);
                !clash
            };
            let confirm: Vec<String> = confirm.into_iter().filter(default).filter(&mut free).collect();
            let review: Vec<String> = review.into_iter().filter(default).filter(&mut free).collect();
            let mut seen = BTreeSet::new();
            let own = own.map(|list| {
                list.into_iter().filter(|text| lists(1, text) && seen.insert(GateEntry::parse(text).unwrap())).collect()
            });
            let mut seen = BTreeSet::new();
            let floor = floor.into_iter().filter(|text| seen.insert(GateEntry::parse(text).unwrap())).collect();
            Tables { agents, confirm, review, own, floor }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let build = || subsequence(TOOLS.to_vec(), 0..=5).prop_shuffle();
    let answer = select(vec![Answer::AllowedOnce, Answer::AllowedForConversation, Answer::Denied]);
    let attendance = select(vec![Attendance::Attended, Attendance::Unattended]);
    prop_oneof![
        4 => (0_usize..2, select(TOOLSETS.to_vec()), build()).prop_map(|(agent, t, b)| Step::Load(agent, t, b)),
        2 => (select(TOOLSETS.to_vec()), build()).prop_map(|(t, b)| Step::Build(t, b)),
        1 => select(TOOLSETS.to_vec()).prop_map(Step::Fail),
        1 => subsequence(TOOLSETS.to_vec(), 0..=2).prop_map(Step::Switch),
        1 => (select(TOOLSETS.to_vec()), prop::option::of(select(TOOLS.to_vec())), any::<bool>())
            .prop_map(|(toolset, tool, yes)| Step::Check(toolset, tool, yes)),
        6 => (0_usize..2, any::<Index>(), answer, attendance)
            .prop_map(|(agent, tool, answer, attendance)| Step::Call(agent, tool, answer, attendance)),
        1 => (0_usize..2).prop_map(Step::Rebuild),
        1 => (1_u32..4).prop_map(Step::Revoke),
    ]
}

/// The reference model: plain sets of strings.
#[derive(Default)]
struct Model {
    /// Every name that an accepted build of a toolset ever offered.
    offered: BTreeMap<String, BTreeSet<String>>,
    refused: BTreeSet<String>,
    wires: BTreeMap<ToolId, WireName>,
    resolved: BTreeMap<(usize, String), BTreeSet<ToolId>>,
    granted: BTreeSet<(usize, ToolId)>,
}

impl Model {
    fn accept(&mut self, toolset: &str, tools: &[&str]) {
        let names = self.offered.entry(toolset.to_owned()).or_default();
        names.extend(tools.iter().map(|name| (*name).to_owned()));
    }

    fn reaches(&self, written: &str, tool: &ToolId) -> bool {
        let (toolset, name) = written.split_once('.').unwrap_or((written, "*"));
        let own = tool.toolset().is_some_and(|owner| owner.as_str() == toolset);
        let known = self.offered.get(toolset).is_some_and(|names| names.contains(tool.name.as_str()));
        (own || known) && (name == "*" || name == tool.name.as_str())
    }
}

struct History {
    tables: Tables,
    world: World,
    held: Vec<Held>,
    model: Model,
}

impl History {
    fn gated(&self, agent: usize, tool: &ToolId) -> bool {
        let default = || self.tables.confirm.iter().chain(&self.tables.review);
        match &self.tables.own {
            Some(own) if agent == 1 => own.iter().any(|written| self.model.reaches(written, tool)),
            _ => default().any(|written| self.model.reaches(written, tool)),
        }
    }

    fn on_the_floor(&self, tool: &ToolId) -> bool {
        self.tables.floor.iter().any(|written| self.model.reaches(written, tool))
    }

    fn report(&mut self, toolset: &'static str, tools: &[&'static str]) -> Result<bool, TestCaseError> {
        let accepted = self.world.report_build(&super::common::toolset(toolset), &super::common::tools(tools)).is_ok();
        if self.model.refused.contains(toolset) {
            prop_assert!(!accepted, "a refused toolset stays refused");
        }
        if accepted {
            self.model.accept(toolset, tools);
        } else {
            self.model.refused.insert(toolset.to_owned());
        }
        Ok(accepted)
    }

    fn apply(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Load(agent, name, tools) => {
                let me = agent_name(AGENTS[*agent]);
                let may = self.world.may_load(Life::new(&me, &self.held[*agent]), name);
                let before = self.held[*agent].tools().to_vec();
                if may.is_ok() && self.report(name, tools)? {
                    self.held[*agent].add(&toolset(name), Arrival::Loaded, &super::common::tools(tools));
                }
                let now = self.held[*agent].tools();
                prop_assert!(now.starts_with(&before), "2: a held list only grows by a suffix");
            }
            Step::Build(name, tools) => {
                self.report(name, tools)?;
            }
            Step::Fail(name) => self.world.report_failure(&toolset(name), "it broke"),
            Step::Switch(names) => self.world.switch_off(words(names, 1)).unwrap(),
            Step::Check(name, tool, yes) => {
                self.world.report_check(&toolset(name), *tool, (!yes).then(|| "down".to_owned()));
            }
            Step::Call(agent, index, answer, attendance) => self.call(*agent, *index, answer, *attendance)?,
            Step::Rebuild(agent) => {
                let me = agent_name(AGENTS[*agent]);
                let loads: Vec<ToolsetName> = self.held[*agent]
                    .toolsets()
                    .filter(|(_, arrival)| *arrival != Arrival::Resident)
                    .map(|(name, _)| name.clone())
                    .collect();
                let mut held = Held::default();
                for name in self.world.resident(&me) {
                    // R14: a preload goes through the same hook; what it refuses is not held.
                    if let Some(build) = self.world.last_build(&name).map(<[ToolFacts]>::to_vec)
                        && self.world.report_build(&name, &build).is_ok()
                    {
                        held.add(&name, Arrival::Resident, &build);
                    }
                }
                for name in loads {
                    if let Some(build) = self.world.last_build(&name).map(<[ToolFacts]>::to_vec)
                        && self.world.report_build(&name, &build).is_ok()
                    {
                        held.add(&name, Arrival::Preloaded, &build);
                    }
                }
                self.held[*agent] = held;
            }
            Step::Revoke(number) => {
                if self.world.revoke(*number) {
                    let left: BTreeSet<(usize, ToolId)> = self
                        .world
                        .grants("c1")
                        .iter()
                        .map(|grant| (usize::from(grant.agent.as_str() == AGENTS[1]), grant.tool.clone()))
                        .collect();
                    self.model.granted = left;
                }
            }
        }
        Ok(())
    }

    /// A call from the model's words to dispatch, with the same arguments every time so that grants are met again.
    fn call(
        &mut self,
        agent: usize,
        index: Index,
        answer: &Answer,
        attendance: Attendance,
    ) -> Result<(), TestCaseError> {
        let me = agent_name(AGENTS[agent]);
        let held = self.held[agent].clone();
        if held.tools().is_empty() {
            return Ok(());
        }
        let tool = index.get(held.tools());
        let call = CallFacts {
            conversation: "c1",
            agent: &me,
            tool,
            arguments: "{}",
            attendance,
            sight: Sight::OnScreen,
            allow_line: None,
        };
        let (gated, floor) = (self.gated(agent, &tool.id), self.on_the_floor(&tool.id));
        let decision = self.world.decide(call);
        match &decision {
            Decision::Run => prop_assert!(!gated, "3: {} ran without an answer", tool.id),
            Decision::RunAnswered(_, Answer::AllowedByGrant { .. }) => {
                prop_assert!(gated && !floor, "10: a grant let {} through", tool.id);
                prop_assert!(self.model.granted.contains(&(agent, tool.id.clone())));
            }
            Decision::RunAnswered(_, other) => prop_assert!(false, "nobody gave {other}"),
            Decision::Ask(_) => {
                prop_assert!(gated && attendance == Attendance::Attended);
                if *answer == Answer::AllowedForConversation {
                    let granted = self.world.grant(call).is_ok();
                    prop_assert_eq!(granted, !floor);
                    if granted {
                        self.model.granted.insert((agent, tool.id.clone()));
                    }
                }
            }
            Decision::AutoDenied(_, answer) => {
                prop_assert!(gated && attendance == Attendance::Unattended && !answer.allows());
            }
            Decision::Review(_) => prop_assert!(false, "auto-approval is off"),
            Decision::Unresolved(text) => prop_assert!(false, "{text}"),
        }
        // Whatever is not offered is not dispatched, and the other way round.
        let offered =
            offer(&self.world, Life::new(&me, &held)).kept.iter().any(|kept| held.tools()[*kept].id == tool.id);
        let dispatch = self.world.dispatch(Life::new(&me, &held), &tool.id, &tool.digest);
        prop_assert_eq!(offered, dispatch.is_none());
        Ok(())
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        for (agent, held) in self.held.iter().enumerate() {
            let listed = &self.tables.agents[agent].0;
            let me = agent_name(AGENTS[agent]);
            for tool in held.tools() {
                let owner = tool.id.toolset().map_or("", ToolsetName::as_str);
                prop_assert!(listed.contains(&owner), "1: {} holds {}", me, tool.id);
                let offered = self.model.offered.get(owner).is_some_and(|names| names.contains(tool.id.name.as_str()));
                prop_assert!(offered, "6: {} came from no accepted build", tool.id);
                let wire = self.model.wires.entry(tool.id.clone()).or_insert_with(|| tool.wire.clone());
                prop_assert_eq!(&*wire, &tool.wire, "11: one wire name");
                prop_assert_eq!(held.by_wire(tool.wire.as_str()), Some(tool));
            }
            let kept = offer(&self.world, Life::new(&me, held)).kept;
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "2: an offer keeps the held order");
            prop_assert!(kept.iter().all(|index| *index < held.tools().len()));
            let report = report(&self.world, &me, Some(Life::new(&me, held)), Some("c1"));
            for row in report.entries.iter().chain(&report.floor) {
                let toolset = row.entry.split('.').next().unwrap();
                let built = self.model.offered.contains_key(toolset);
                prop_assert_eq!(row.pending, row.tools.is_empty());
                prop_assert_eq!(row.pending, !built, "12: {} is resolved, pending or refusing", row.entry);
                let before = self.model.resolved.entry((agent, row.entry.clone())).or_default();
                let now: BTreeSet<ToolId> = row.tools.iter().cloned().collect();
                prop_assert!(now.is_superset(before), "5: {} lost a name", row.entry);
                *before = now;
            }
        }
        Ok(())
    }
}

/// A world from the tables whose startup built every resident toolset with all five tools, and its two agents.
fn begin(tables: &Tables) -> Option<History> {
    let mut declarations = declare(Vec::new());
    declarations.default_pair = kokua::access::declare::Pair {
        confirm: Some(entries(&tables.confirm.iter().map(String::as_str).collect::<Vec<_>>(), 1)),
        review: Some(entries(&tables.review.iter().map(String::as_str).collect::<Vec<_>>(), 2)),
    };
    declarations.floor = entries(&tables.floor.iter().map(String::as_str).collect::<Vec<_>>(), 3).entries;
    for (index, (available, resident)) in tables.agents.iter().enumerate() {
        let resident = &available[..(*resident).min(available.len())];
        let mut table = agent(AGENTS[index], 10 * (index + 1)).available(available).resident(resident);
        if let Some(own) = tables.own.as_ref().filter(|_| index == 1) {
            table = table.confirm(&own.iter().map(String::as_str).collect::<Vec<_>>());
        }
        declarations.agents.push(table);
    }
    let mut world = World::new(declarations, registry(&TOOLSETS)).expect("the generator makes sound tables");
    let mut model = Model::default();
    for name in world.startup_builds() {
        // A clash of names across the two lists is P6's to find: then there is no history.
        world.report_build(&name, &tools(&TOOLS)).ok()?;
        model.accept(name.as_str(), &TOOLS);
    }
    world.resolve().ok()?;
    let held = AGENTS
        .iter()
        .map(|name| {
            let mut held = Held::default();
            for name in world.resident(&agent_name(name)) {
                if let Some(build) = world.last_build(&name) {
                    held.add(&name, Arrival::Resident, build);
                }
            }
            held
        })
        .collect();
    Some(History { tables: tables.clone(), world, held, model })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn invariants_1_2_3_5_6_10_11_12_hold_over_any_history(
        tables in tables(), steps in prop::collection::vec(step(), 0..40)
    ) {
        let Some(mut history) = begin(&tables) else { return Ok(()) };
        history.check()?;
        for step in &steps {
            history.apply(step)?;
            history.check()?;
        }
    }

    #[test]
    fn nothing_that_a_table_or_a_model_says_panics(
        names in prop::collection::vec("\\PC{0,12}", 0..6), written in prop::collection::vec("\\PC{0,16}", 0..6),
        wire in "\\PC{0,80}",
    ) {
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        let entries_: Vec<&str> = written.iter().map(String::as_str).collect();
        let mut declarations = declare(vec![
            agent("assistant", 10).available(&texts).resident(&texts).confirm(&entries_).delegates_to(&texts),
            agent(texts.first().unwrap_or(&"x"), 20).all(),
        ]);
        declarations.floor = entries(&entries_, 3).entries;
        declarations.disabled = words(&texts, 4);
        drop(World::new(declarations, registry(&TOOLSETS)));

        let world = started(
            declare(vec![agent("assistant", 10).available(&["a", "b"]).resident(&["a"])]),
            registry(&TOOLSETS),
            &[("a", &["read"])],
        );
        let held = world.fresh(&agent_name("assistant"));
        let offered: Vec<&HeldTool> = held.tools().iter().collect();
        for text in [
            world.unknown_tool(Life::new(&agent_name("assistant"), &held), &offered, &wire),
            world.available_tools(Life::new(&agent_name("assistant"), &held), &wire),
            world.may_load(Life::new(&agent_name("assistant"), &held), &wire).map_or_else(|text| text, |name| name.to_string()),
        ] {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
