//! K4: what each agent gains and loses between two configurations.

use crate::common::*;
use kokua::access::capability::{Asks, Snapshot, weight};
use kokua::access::diff::{AgentDiff, Aspect, Change, Direction, count, diff};
use kokua::access::*;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const INSTALLED: &[(&str, &[&str])] = &[
    ("fs", &["read_file", "stat"]),
    ("files", &["read_file", "copy"]),
    ("fs_write", &["write_file", "edit_file"]),
    ("time", &["now"]),
];

/// A world in which everything installed is built but `missing`.
fn world_without(declarations: Declarations, missing: &[&str]) -> World {
    let names: Vec<&str> = INSTALLED.iter().map(|(name, _)| *name).collect();
    let builds: Vec<_> = INSTALLED.iter().copied().filter(|(name, _)| !missing.contains(name)).collect();
    started(declarations, registry(&names), &builds)
}

fn world(declarations: Declarations) -> World {
    world_without(declarations, &[])
}

fn snapshot(declarations: Declarations) -> Snapshot {
    Snapshot::of(&world(declarations))
}

/// `+ tool fs.stat: not available @12 -> available, runs without asking @22`, without the agent's name.
fn rows(diffs: &[AgentDiff]) -> Vec<String> {
    let place = |line: Option<usize>| line.map(|line| format!(" @{line}")).unwrap_or_default();
    let changes = diffs.iter().flat_map(|agent| &agent.changes);
    changes
        .map(|Change { direction, aspect, subject, old, new }| {
            let sign = match direction {
                Direction::Gain => '+',
                Direction::Loss => '-',
                Direction::Change => '~',
                Direction::Unknown => '?',
            };
            let (was, is) = (place(old.line), place(new.line));
            format!("{sign} {aspect:?} {subject}: {}{was} -> {}{is}", old.text, new.text).replace("Aspect::", "")
        })
        .collect()
}

/// What changes where one agent has one table and then another.
fn changes(old: Declarations, new: Declarations) -> Vec<String> {
    let (old, new) = (snapshot(old), snapshot(new));
    let rows = rows(&diff(&old, &new));
    assert_eq!(mirrored(&diff(&new, &old)), sorted(&diff(&old, &new)), "the other way round");
    rows
}

/// Every change with its agent, in an order of its own.
fn sorted(diffs: &[AgentDiff]) -> Vec<(AgentName, String)> {
    let mut all: Vec<_> = diffs
        .iter()
        .flat_map(|agent| agent.changes.iter().map(|change| (agent.agent.clone(), format!("{change:?}"))))
        .collect();
    all.sort();
    all
}

/// [`sorted`], with both sides exchanged.
fn mirrored(diffs: &[AgentDiff]) -> Vec<(AgentName, String)> {
    let mut diffs = diffs.to_vec();
    for change in diffs.iter_mut().flat_map(|agent| &mut agent.changes) {
        std::mem::swap(&mut change.old, &mut change.new);
        change.direction = match change.direction {
            Direction::Gain => Direction::Loss,
            Direction::Loss => Direction::Gain,
            same => same,
        };
    }
    sorted(&diffs)
}

fn one(table: AgentDeclaration) -> Declarations {
    declare(vec![table])
}

fn me(line: usize) -> AgentDeclaration {
    agent("assistant", line)
}

#[test]
fn k4_a_tool_that_can_be_called_is_a_gain_and_says_whether_it_asks() {
    assert_eq!(
        changes(
            one(me(10).available(&["fs"])),
            one(me(20).available(&["fs", "time", "fs_write"]).confirm(&["fs_write.edit_file"])),
        ),
        [
            "+ Tool fs_write.edit_file: not available @12 -> available, asks you: 'fs_write.edit_file' in confirm of [agents.assistant.tools] line 24 @22",
            "+ Tool fs_write.write_file: not available @12 -> available, runs without asking @22",
            "+ Tool time.now: not available @12 -> available, runs without asking @22",
        ]
    );
}

#[test]
fn k4_losing_a_gate_or_a_place_on_the_floor_is_a_gain() {
    let table = |line| me(line).available(&["fs_write", "fs"]);
    let mut old = one(table(10).confirm(&["fs_write"]));
    old.floor = entries(&["fs_write.edit_file"], 5).entries;
    let new = one(table(20).confirm(&["fs_write.write_file"]));
    assert_eq!(
        changes(old, new),
        [
            "+ Gate fs_write.edit_file: asks you: 'fs_write' in confirm of [agents.assistant.tools] @14 -> runs without asking @24",
            "+ Floor fs_write.edit_file: where it asks, only you can answer: 'fs_write.edit_file' in [security].never_auto_approve @5 -> not on the floor",
        ]
    );
    // The foot-gun of the pair: a table that declares only `review` drops the default's gates.
    let mut old = declare(vec![table(10), agent("heir", 40).available(&["fs_write"])]);
    old.default_pair = default_pair(&["fs_write.write_file"], &["fs_write.edit_file"]);
    let mut new = old.clone();
    new.agents[0] = table(10).review(&["fs_write.edit_file"]);
    assert_eq!(
        changes(old, new),
        [
            "+ Gate fs_write.write_file: asks you: 'fs_write.write_file' in confirm of [assistant.tools] @1 -> runs without asking @15"
        ]
    );
}

#[test]
fn k4_review_is_as_strict_as_confirm_until_a_reviewer_may_answer() {
    let table = || me(10).available(&["fs_write"]);
    let confirm = snapshot(one(table().confirm(&["fs_write.edit_file"])));
    let review = snapshot(one(table().review(&["fs_write.edit_file"])));
    // Auto-approval cannot be switched on yet, so the value says what its world would.
    let mut on = review.clone();
    on.agents[0].tools.get_mut(&id("fs_write.edit_file")).unwrap().asks = Asks::Reviewer;
    let only = |old: &Snapshot, new: &Snapshot| {
        rows(&diff(old, new)).iter().map(|row| row.chars().next().unwrap()).collect::<String>()
    };
    assert_eq!(only(&confirm, &review), "~", "P11");
    assert_eq!(only(&confirm, &on), "+");
    assert_eq!(only(&review, &on), "+");
    assert_eq!(only(&on, &review), "-");
}

#[test]
fn k4_a_switch_and_a_check_count_as_they_withhold() {
    let table = |line| me(line).available(&["fs"]);
    let mut off = one(table(10));
    off.disabled = words(&["fs"], 7);
    assert_eq!(
        changes(off, one(table(20))),
        [
            "+ Offer fs.read_file: withheld: [toolsets].disabled names it @7 -> offered",
            "+ Offer fs.stat: withheld: [toolsets].disabled names it @7 -> offered",
        ]
    );
    let mut withheld = world(one(table(10)));
    let no = "the sandbox is none".to_owned();
    withheld.report_check(&toolset("fs"), Some("stat"), Some(no));
    assert_eq!(
        rows(&diff(&snapshot(one(table(10))), &Snapshot::of(&withheld))),
        ["- Offer fs.stat: offered -> withheld: the sandbox is none"]
    );
}

#[test]
fn k4_residency_is_no_gain_unless_loading_asked() {
    let table = |line| me(line).available(&["fs", "time"]);
    // The loaders reach nothing that `available` does not.
    assert_eq!(
        changes(one(table(10).resident(&["fs"])), one(table(20))),
        [
            "~ Tool core.available_tools: available, runs without asking @10 -> not earned @20",
            "~ Tool core.load_tools: available, runs without asking @10 -> not earned @20",
            "~ Residency time: deferred @13 -> resident @22",
        ]
    );
    let rows = changes(one(table(10).resident(&["fs"]).confirm(&["core"])), one(table(20).resident(&["fs", "time"])));
    assert_eq!(
        rows[0],
        "+ Residency time: deferred, and load_tools asks you: 'core' in confirm of [agents.assistant.tools] @14 -> resident @23"
    );
    assert!(rows[1..].iter().all(|row| row.starts_with('~')), "{rows:?}");
}

#[test]
fn k4_an_agent_that_appears_and_one_that_becomes_the_entry_agent_gain() {
    let table = |name, line| agent(name, line).available(&["time"]);
    let old = one(table("assistant", 10));
    let mut new = declare(vec![table("assistant", 10), table("reader", 30)]);
    new.entry = Some(Spanned::new(agent_name("reader"), span(2)));
    assert_eq!(
        changes(old, new),
        [
            "- Entry assistant: the entry agent -> not the entry agent @2",
            "+ Agent reader: not declared -> declared @30",
            "+ Entry reader: not the entry agent -> the entry agent @2",
            "+ Tool time.now: no agent -> available, runs without asking @32",
        ]
    );
}

#[test]
fn k4_a_delegate_is_a_gain() {
    let old = snapshot(declare(vec![me(10), agent("coder", 30)]));
    let mut new = old.clone();
    new.agents[0].delegates.insert(agent_name("coder"), Some(11));
    assert_eq!(rows(&diff(&old, &new)), ["+ Delegate coder: may not be spawned @10 -> may be spawned @11"]);
    assert_eq!(rows(&diff(&new, &old)), ["- Delegate coder: may be spawned @11 -> may not be spawned @10"]);
}

#[test]
fn k4_all_grows_with_what_is_installed_so_it_is_a_gain_over_the_same_list() {
    let names: Vec<&str> = INSTALLED.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        changes(one(me(10).available(&names).resident(&["fs"])), one(me(20).all().resident(&["fs"]))),
        ["+ Available available: a list @12 -> \"all\", with whatever is installed later @22"]
    );
}

#[test]
fn k4_a_tool_whose_name_is_held_from_the_start_can_never_be_called() {
    assert_eq!(
        changes(one(me(10).available(&["files"])), one(me(20).available(&["fs", "files"]).resident(&["fs"]))),
        [
            "+ Tool fs.read_file: not available @12 -> available, runs without asking @22",
            "+ Tool fs.stat: not available @12 -> available, runs without asking @22",
            "- Tool files.read_file: available, runs without asking @12 -> fs.read_file holds its name @22",
            "~ Tool core.available_tools: not earned @10 -> available, runs without asking @20",
            "~ Tool core.load_tools: not earned @10 -> available, runs without asking @20",
            "~ Residency files: resident @12 -> deferred @23",
        ]
    );
}

#[test]
fn k4_a_toolset_that_cannot_be_built_is_said_and_never_taken_for_empty() {
    let table = |line| me(line).available(&["fs", "time"]).resident(&["fs"]);
    let failing = |declarations| {
        let mut world = world_without(declarations, &["time"]);
        world.report_failure(&toolset("time"), "no route");
        Snapshot::of(&world)
    };
    let (built, unknown) = (snapshot(one(table(10))), failing(one(table(20))));
    let named: Vec<_> = unknown.not_built().into_iter().collect();
    assert_eq!(named, [(&toolset("time"), "no route")]);
    let row = "? Toolset time: available @12 -> available, and could not be built: no route @22";
    assert_eq!(rows(&diff(&built, &unknown)), [row]);
    assert_eq!(diff(&unknown, &unknown), []);
    // Whoever had none of it gains it, whatever it has.
    let without = snapshot(one(me(30).available(&["fs"])));
    assert_eq!(
        rows(&diff(&without, &unknown))[0],
        "+ Toolset time: not available @32 -> available, and could not be built: no route @22"
    );
    // Its entries are all that is known of its gates.
    let gated = failing(one(table(20).confirm(&["time.now"])));
    assert_eq!(count(&diff(&gated, &unknown), Direction::Unknown), 1);
    // What the policy refuses, nobody can call (P9).
    let mut refused = world_without(one(table(40).confirm(&["time.later"])), &["time"]);
    refused.report_build(&toolset("time"), &tools(&["now"])).unwrap_err();
    let rows = rows(&diff(&built, &Snapshot::of(&refused)));
    assert!(
        rows[0].starts_with("- Tool time.now: available, runs without asking @12 -> 'time' is refused: "),
        "{rows:?}"
    );
}

#[test]
fn k4_a_definition_that_differs_is_told() {
    let old = snapshot(one(me(10).available(&["time"])));
    let mut new = old.clone();
    let ability = new.agents[0].tools.get_mut(&id("time.now")).unwrap();
    (ability.digest, ability.bytes) = ("another".to_owned(), 120);
    assert_eq!(rows(&diff(&old, &new)), ["~ Definition time.now: a definition of 100 B -> a definition of 120 B"]);
}

#[test]
fn k1_the_block_with_everything_loaded_holds_each_name_once() {
    let world = world(one(me(10).available(&["fs", "files", "time"]).resident(&["files"])));
    let weight = weight(&world, &agent_name("assistant"));
    // files.read_file, files.copy, two loaders; then fs.stat and time.now.
    assert_eq!((weight.resident, weight.all), ((4, 400), (6, 600)));
    assert_eq!(weight.resident, report(&world, &agent_name("assistant"), None, None).start_tools);
}

/// A configuration of two agents at most.
fn generated() -> impl Strategy<Value = Declarations> {
    let names: Vec<&str> = INSTALLED.iter().map(|(name, _)| *name).collect();
    let listed = ["fs", "fs_write", "fs_write.edit_file", "time.now", "files.read_file"];
    let pair = move || prop::option::of(subsequence(listed.to_vec(), 0..=3));
    let table = move |name: &'static str, line| {
        (subsequence(names.clone(), 0..=4), prop::option::of(any::<prop::sample::Index>()), pair(), any::<bool>())
            .prop_map(move |(available, split, own, all)| {
                let table = agent(name, line);
                let resident = split.map(|split| &available[..split.index(available.len() + 1)]);
                let table = if all { table.all() } else { table.available(&available) };
                let table = match (resident, all) {
                    (Some(resident), _) => table.resident(resident),
                    (None, true) => table.resident(&[]),
                    (None, false) => table,
                };
                let lists = |entry: &&str| all || available.contains(&entry.split('.').next().unwrap());
                match own {
                    // An entry on what is not listed, or next to its own toolset, is wrong; other tests say so.
                    Some(own) if own.iter().all(lists) => table.confirm(&own[..own.len().min(1)]),
                    _ => table,
                }
            })
    };
    let floor = select(vec![vec![], vec!["fs_write"], vec!["fs.stat", "time.now"]]);
    let disabled = select(vec![vec![], vec!["fs"], vec!["time"]]);
    (table("assistant", 10), prop::option::of(table("coder", 30)), floor, disabled, any::<bool>()).prop_map(
        |(first, second, floor, disabled, coder_first)| {
            let mut declarations = declare(vec![first]);
            if let Some(second) = second {
                declarations.agents.push(second);
                if coder_first {
                    declarations.entry = Some(Spanned::new(agent_name("coder"), span(2)));
                }
            }
            declarations.floor = entries(&floor, 5).entries;
            declarations.disabled = words(&disabled, 7);
            declarations
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Nothing changes between a configuration and itself, and what is gained one way is lost the other way.
    #[test]
    fn k4_gains_one_way_are_losses_the_other_way(old in generated(), new in generated()) {
        let (old, new) = (snapshot(old), snapshot(new));
        prop_assert_eq!(diff(&old, &old), vec![]);
        let (there, back) = (diff(&old, &new), diff(&new, &old));
        prop_assert_eq!(sorted(&there), mirrored(&back));
        prop_assert_eq!(count(&there, Direction::Gain), count(&back, Direction::Loss));
        // Whatever the new one lets an agent call unasked, and the old one did not, is among the gains.
        for agent in &new.agents {
            let before = old.agents.iter().find(|other| other.agent == agent.agent);
            for (tool, ability) in &agent.tools {
                let was = before.and_then(|before| before.tools.get(tool));
                let more = was.is_none_or(|was| was.asks > ability.asks || (was.floor.is_some() && ability.floor.is_none()));
                let told = there.iter().filter(|one| one.agent == agent.agent).flat_map(|one| &one.changes);
                let told = told.filter(|change| change.subject == tool.to_string());
                let gained = told.clone().any(|change| change.direction == Direction::Gain);
                let is_loader = tool.toolset().is_none() && was.is_none();
                prop_assert!(gained == more || is_loader || told.clone().any(|one| one.aspect == Aspect::Offer));
            }
        }
    }
}
