//! What a history is made of: one configuration, what its toolsets' builds offer, and what happens. Plain data, generated.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::model::{Agent, Installed, Model, Offered, Pair, Setup, wire};

/// Everything of one history.
#[derive(Debug, Clone)]
pub(super) struct History {
    pub setup: Setup,
    /// What each toolset's next build offers.
    pub builds: BTreeMap<String, Vec<Offered>>,
    /// Toolsets whose first build fails.
    pub failing: Vec<String>,
    pub events: Vec<Event>,
}

/// One thing that happens. Numbers pick from what there is at that moment.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Turn(usize, Turn),
    Happens(Happening),
    Evict(usize),
    /// The program ends, in the middle of a write perhaps: of each conversation so many records are lost.
    Restart([usize; 2]),
    /// A conversation is cut in front of one of its turns.
    Truncate(usize, usize),
    EndWorker(usize),
}

/// What can also happen while a call waits for its answer or its build.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    Switch(Vec<usize>),
    Check(usize, Option<&'static str>, bool),
    Fact(usize, Option<&'static str>, Option<&'static str>),
    Mode(usize, &'static str),
    /// From now on the builds of this toolset offer something else.
    Provide(usize, Vec<Offered>),
    Fails(usize, bool),
    /// A toolset is built for somebody else.
    Build(usize),
    /// A skill is written, or written again.
    Write(&'static str, Vec<Offered>),
    Revoke(usize),
    /// A life spawns one of its delegates, perhaps narrowed to a family, with a link in its task perhaps.
    Spawn(usize, usize, Option<usize>, bool),
    Compose(usize, Vec<usize>, bool),
    /// A worker's turn.
    Works(usize, Box<Turn>),
}

/// A whole turn.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub link: bool,
    pub attended: bool,
    pub only: Option<BTreeSet<&'static str>>,
    pub rounds: Vec<Vec<Call>>,
}

/// One call of a model.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub wants: Wants,
    /// One of two different arguments.
    pub other: bool,
    pub answer: Reply,
    /// What happens before its answer or its end.
    pub meanwhile: Option<Happening>,
}

/// What a model calls.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wants {
    Held(usize),
    Word(&'static str),
    /// A deferred toolset.
    Load(usize),
    /// Any toolset at all, or nothing.
    LoadAny(usize),
    List,
}

/// What comes of a card, and of what runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reply {
    Allow,
    AllowForConversation,
    Deny,
    DenyWhy,
    Expire,
    Stop,
    Leave,
}

const INSTALLED: [(&str, &str, bool); 12] = [
    ("fs", "built-in", false),
    ("files", "built-in", false),
    ("memory", "built-in", false),
    ("skills", "built-in", true),
    ("ask", "built-in", true),
    ("capabilities", "built-in", false),
    ("notes", "plugin", false),
    ("abacus", "plugin", false),
    ("poem", "skill", false),
    ("brew", "skill", false),
    ("mail", "mcp", false),
    ("github", "mcp", false),
];
/// Skills that may be written while the program runs.
const WRITTEN: [&str; 3] = ["poem", "tale", "brew"];
/// Few names over many toolsets, so that they clash; some are no wire names, some nobody can hold.
const TOOLS: [&str; 9] = ["read", "write", "list", "read file", "läs", "send", "*", "load_tools", ""];
/// A legal name that is another tool's wire name: filled in where a build is made.
const THIEF: &str = "thief";
const WORDS: [&str; 5] = ["nothing", "read", "send ", "Load_Tools", "core.load_tools"];
const CORE: [&str; 3] = ["spawn_subagent", "available_tools", "load_tools"];

fn build() -> impl Strategy<Value = Vec<Offered>> {
    let name = prop_oneof![12 => select(TOOLS[..6].to_vec()), 1 => select(TOOLS[6..].to_vec()), 1 => Just(THIEF)];
    let tool = (name, 0_u32..3, prop::bool::weighted(0.15)).prop_map(|(name, version, link)| {
        let stolen = || wire(&("files".to_owned(), "läs".to_owned()));
        Offered { name: if name == THIEF { stolen() } else { name.to_owned() }, version, link }
    });
    vec(tool, 0..6)
}

fn entry() -> impl Strategy<Value = String> {
    let toolset = select(INSTALLED.map(|(name, ..)| name).to_vec());
    let rest = select(vec!["", ".*", ".read", ".write", ".list", ".läs", ".read file", ".send"]);
    prop_oneof![
        8 => (toolset, rest).prop_map(|(toolset, rest)| format!("{toolset}{rest}")),
        1 => select(vec!["core", "core.load_tools", "core.available_tools"]).prop_map(str::to_owned),
    ]
}

fn pair() -> impl Strategy<Value = Pair> {
    (vec(entry(), 0..4), vec(entry(), 0..3))
}

fn agent(name: &'static str) -> impl Strategy<Value = Agent> {
    let lists = subsequence(INSTALLED.to_vec(), 2..=9).prop_shuffle();
    let delegates = subsequence(vec!["coder", "scout"], 0..=2);
    (weighted(0.8, lists), weighted(0.85, vec(any::<bool>(), 12)), weighted(0.4, pair()), delegates).prop_map(
        move |(available, resident, pair, delegates)| {
            let words = |words: Vec<(&str, &str, bool)>| words.into_iter().map(|(name, ..)| name.to_owned()).collect();
            let delegates = delegates.into_iter().filter(|other| *other > name).map(str::to_owned).collect();
            Agent {
                name: name.to_owned(),
                available: available.map(words),
                // Looked up when the registry is known: here only which places are resident.
                resident: resident.map(|places| places.iter().map(ToString::to_string).collect()),
                pair,
                delegates_to: delegates,
            }
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    let installed = subsequence(INSTALLED.to_vec(), 6..=12).prop_shuffle();
    let words = vec!["kind:mcp", "kind:plugin", "kind:skill", "core.load_tools", "core.available_tools", "fs", "mail"];
    let defaults = (weighted(0.5, any::<bool>()), btree_map(select(vec!["mail", "github"]), any::<bool>(), 0..2));
    (
        installed,
        (agent("assistant"), agent("coder"), agent("scout")),
        pair(),
        vec(entry(), 0..3),
        (any::<bool>(), any::<bool>()),
        defaults,
        subsequence(vec!["fs", "notes", "mail"], 0..=1),
        subsequence(words, 0..=3),
    )
        .prop_map(|(installed, agents, pair, floor, (auto, deny), (every, each), disabled, quiet)| {
            let known: BTreeSet<&str> = installed.iter().map(|(name, ..)| *name).collect();
            let owned = |words: Vec<&str>| -> Vec<String> {
                words
                    .into_iter()
                    .filter(|word| word.contains([':', '.']) || known.contains(word))
                    .map(str::to_owned)
                    .collect()
            };
            let companion = vec!["kind:mcp", "kind:plugin", "capabilities", "core.spawn_subagent"];
            let modes = [("companion", owned(companion)), ("work", Vec::new()), ("quiet", owned(quiet))];
            sound(Setup {
                installed: installed.into_iter().map(|(name, kind, only)| (name.to_owned(), kind, only)).collect(),
                core: CORE.map(str::to_owned).to_vec(),
                agents: vec![agents.0, agents.1, agents.2],
                pair,
                floor,
                auto_approval: auto,
                background_deny: deny,
                mcp_confirms: every,
                server_confirms: each.into_iter().map(|(name, asks)| (name.to_owned(), asks)).collect(),
                disabled: owned(disabled),
                modes: modes.into_iter().map(|(name, words)| (name.to_owned(), words)).collect(),
            })
        })
}

/// What startup would refuse is taken out (that it refuses is said by other tests): without it there is no history.
fn sound(mut setup: Setup) -> Setup {
    let installed: Vec<Installed> = setup.installed.clone();
    for (place, agent) in setup.agents.iter_mut().enumerate() {
        if let Some(list) = &mut agent.available {
            list.retain(|name| installed.iter().any(|known| known.0 == *name && (place == 0 || !known.2)));
        } else if agent.resident.is_none() {
            agent.resident = Some(vec!["true".to_owned()]);
        }
    }
    let model = Model::new(setup.clone());
    for agent in &mut setup.agents {
        let reachable = model.available(&agent.name);
        if let Some(places) = &mut agent.resident {
            let marked = |(place, _): &(usize, &String)| places.get(*place).is_some_and(|mark| mark == "true");
            *places = reachable.iter().enumerate().filter(marked).map(|(_, name)| name.clone()).collect();
        }
    }
    let model = Model::new(setup.clone());
    let names: Vec<String> = setup.agents.iter().map(|agent| agent.name.clone()).collect();
    let inheriting: Vec<String> =
        setup.agents.iter().filter(|agent| agent.pair.is_none()).map(|agent| agent.name.clone()).collect();
    let composes = names.iter().any(|agent| model.available(agent).contains(&"capabilities".to_owned()));
    let concerns = |entry: &str, agents: &[String], any: bool| {
        let (owner, tool) = entry.split_once('.').unwrap_or((entry, "*"));
        if owner == "core" {
            let earned = |agent: &String| {
                ["spawn_subagent", "activate_skill", "available_tools", "load_tools"]
                    .iter()
                    .any(|name| (tool == "*" || tool == *name) && model.earns(agent, name))
            };
            return agents.iter().any(earned);
        }
        let lists = agents.iter().any(|agent| model.available(agent).iter().any(|name| name == owner));
        installed.iter().any(|known| known.0 == owner) && (any || lists)
    };
    let once = |list: &mut Vec<String>, concerned: &dyn Fn(&str) -> bool| {
        let mut seen = BTreeSet::new();
        list.retain(|entry| concerned(entry) && seen.insert(entry.trim_end_matches(".*").to_owned()));
    };
    once(&mut setup.floor, &|entry| concerns(entry, &names, true));
    let floor = setup.floor.clone();
    let clean = |pair: &mut Pair, agents: &[String], any: bool| {
        once(&mut pair.0, &|entry| concerns(entry, agents, any));
        once(&mut pair.1, &|entry| concerns(entry, agents, any));
        let confirm = pair.0.clone();
        let auto = setup.auto_approval;
        pair.1
            .retain(|review| !confirm.iter().chain(floor.iter().filter(|_| auto)).any(|other| overlap(review, other)));
    };
    clean(&mut setup.pair, &inheriting, composes);
    for agent in &mut setup.agents {
        if let Some(pair) = &mut agent.pair {
            clean(pair, std::slice::from_ref(&agent.name), false);
        }
    }
    let reviews = |pair: &Pair| !pair.1.is_empty();
    let anywhere = reviews(&setup.pair) || setup.agents.iter().any(|agent| agent.pair.as_ref().is_some_and(reviews));
    setup.auto_approval &= anywhere;
    setup
}

fn overlap(one: &str, other: &str) -> bool {
    let split = |entry: &str| {
        let (owner, tool) = entry.split_once('.').unwrap_or((entry, "*"));
        (owner.to_owned(), tool.to_owned())
    };
    let (one, other) = (split(one), split(other));
    one.0 == other.0 && (one.1 == other.1 || one.1 == "*" || other.1 == "*")
}

fn happening(turns: bool) -> BoxedStrategy<Happening> {
    let one = || 0_usize..12;
    let tool = || weighted(0.5, select(TOOLS[..6].to_vec()));
    let plain = prop_oneof![
        3 => vec(one(), 0..3).prop_map(Happening::Switch),
        2 => (one(), tool(), any::<bool>()).prop_map(|(toolset, tool, no)| Happening::Check(toolset, tool, no)),
        2 => (one(), tool(), weighted(0.6, select(vec!["down", "gone", "changed", "disk"])))
            .prop_map(|(toolset, tool, fact)| Happening::Fact(toolset, tool, fact)),
        3 => (0_usize..2, select(vec!["companion", "work", "quiet"])).prop_map(|(life, mode)| Happening::Mode(life, mode)),
        3 => (one(), build()).prop_map(|(toolset, build)| Happening::Provide(toolset, build)),
        1 => (one(), prop::bool::weighted(0.4)).prop_map(|(toolset, fails)| Happening::Fails(toolset, fails)),
        // Often enough that one which was refused is built again: what is forgotten of a refusal shows only then.
        6 => one().prop_map(Happening::Build),
        2 => (select(WRITTEN.to_vec()), build()).prop_map(|(skill, build)| Happening::Write(skill, build)),
        1 => one().prop_map(Happening::Revoke),
        3 => (one(), one(), weighted(0.3, one()), any::<bool>())
            .prop_map(|(life, agent, family, link)| Happening::Spawn(life, agent, family, link)),
        1 => (one(), vec(one(), 1..4), any::<bool>())
            .prop_map(|(life, toolsets, nested)| Happening::Compose(life, toolsets, nested)),
    ];
    if turns {
        prop_oneof![
            4 => plain,
            1 => (one(), turn(false)).prop_map(|(life, turn)| Happening::Works(life, Box::new(turn))),
        ]
        .boxed()
    } else {
        plain.boxed()
    }
}

/// `nested`: workers may have turns within it.
fn turn(nested: bool) -> BoxedStrategy<Turn> {
    let wants = prop_oneof![
        6 => any::<usize>().prop_map(Wants::Held),
        1 => select(WORDS.to_vec()).prop_map(Wants::Word),
        3 => (0_usize..4).prop_map(Wants::Load),
        1 => (0_usize..14).prop_map(Wants::LoadAny),
        1 => Just(Wants::List),
    ];
    let reply = prop_oneof![
        4 => Just(Reply::Allow),
        2 => Just(Reply::AllowForConversation),
        2 => select(vec![Reply::Deny, Reply::DenyWhy, Reply::Expire]),
        1 => select(vec![Reply::Stop, Reply::Leave]),
    ];
    let call = (wants, prop::bool::weighted(0.2), reply, weighted(0.3, happening(nested)))
        .prop_map(|(wants, other, answer, meanwhile)| Call { wants, other, answer, meanwhile });
    // The same thing twice at once, so that loads join.
    let round = (vec(call, 1..4), prop::bool::weighted(0.3)).prop_map(|(mut calls, twice)| {
        if twice && let Some(first) = calls.first().cloned() {
            calls.push(Call { meanwhile: None, ..first });
        }
        calls
    });
    let names = TOOLS[..6].iter().chain(&CORE).copied().collect::<Vec<_>>();
    let only =
        weighted(0.2, subsequence(names, 2..=8)).prop_map(|names| names.map(|names| names.into_iter().collect()));
    (prop::bool::weighted(0.4), prop::bool::weighted(0.85), only, vec(round, 1..3))
        .prop_map(|(link, attended, only, rounds)| Turn { link, attended, only, rounds })
        .boxed()
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => (0_usize..4, turn(true)).prop_map(|(life, turn)| Event::Turn(life, turn)),
        5 => happening(true).prop_map(Event::Happens),
        1 => (0_usize..2).prop_map(Event::Evict),
        1 => [0_usize..6, 0_usize..6].prop_map(Event::Restart),
        1 => (0_usize..2, 0_usize..8).prop_map(|(life, turn)| Event::Truncate(life, turn)),
        1 => (0_usize..4).prop_map(Event::EndWorker),
    ]
}

/// Any history.
pub(super) fn history() -> impl Strategy<Value = History> {
    let builds = vec(build(), 12);
    let failing = subsequence(INSTALLED.map(|(name, ..)| name).to_vec(), 0..=1);
    (setup(), builds, failing, prop::bool::weighted(0.8), vec(event(), 10..60)).prop_map(
        |(mut setup, builds, failing, matching, events)| {
            let mut builds: BTreeMap<String, Vec<Offered>> =
                INSTALLED.iter().map(|(name, ..)| (*name).to_owned()).zip(builds).collect();
            // Most first builds have what the entries name. Where that is not so, the hook refuses them.
            let pairs = setup.agents.iter().filter_map(|agent| agent.pair.as_ref()).chain([&setup.pair]);
            let written: Vec<String> =
                pairs.flat_map(|pair| pair.0.iter().chain(&pair.1)).chain(&setup.floor).cloned().collect();
            for entry in written.iter().filter(|_| matching) {
                let (toolset, tool) = entry.split_once('.').unwrap_or((entry, "*"));
                let name = if tool == "*" { "read" } else { tool };
                if let Some(build) = builds.get_mut(toolset)
                    && !build.iter().any(|tool| tool.name == name)
                {
                    build.push(Offered { name: name.to_owned(), version: 0, link: false });
                }
            }
            // Names that stand in both lists by way of two toolsets would end the history before it begins.
            let mut model = Model::new(setup.clone());
            if matching && !setup.installed.iter().all(|known| model.build(&known.0, &builds[&known.0])) {
                setup.agents.iter_mut().filter_map(|agent| agent.pair.as_mut()).for_each(|pair| pair.1.clear());
                setup.pair.1.clear();
                setup.auto_approval = false;
            }
            let failing = failing.into_iter().map(str::to_owned).collect();
            History { setup, builds, failing, events }
        },
    )
}
