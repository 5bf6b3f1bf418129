//! Offer: the ordered chain of filters between what is held and what one model call carries (§5), and its ledger.
//!
//! A filter removes and never reorders (O5); withholding never changes what is held (O2).

use serde::{Deserialize, Serialize};

use super::conditions::{Conditions, Life, Trigger};
use super::held::{Held, HeldTool};
use super::mode::Mode;
use super::name::{Owner, ToolId, ToolName, ToolsetName};
use super::planted::{Bug, planted};
use super::reason::Reason;
use super::registry::{Kind, Risk};
use super::world::World;

/// A filter of the chain, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// W1: the person switched the toolset off.
    SwitchedOff,
    /// W2: a health check says no, or a fact does.
    Check,
    /// W3: the conversation's mode.
    Mode,
    /// W4: a worker was narrowed to another toolset.
    Family,
    /// W5: nothing held; the reason of a deferred toolset's row.
    NotLoaded,
    /// W6: outside of what this turn may call.
    Exclusion,
    /// W7: what it waits for is not there.
    Trigger,
}

impl Filter {
    /// What a tool that it withholds is, as a refusal says it: `<tool> is switched off: …`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::SwitchedOff => "switched off",
            Self::Check => "not available now",
            Self::Mode => "withheld in this mode",
            Self::Family => "outside of this worker's family",
            Self::NotLoaded => "not loaded",
            Self::Exclusion => "outside of what this turn may call",
            Self::Trigger => "not offered yet",
        }
    }
}

/// Why something is not in this call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// The first filter that withheld it (O1).
    pub filter: Filter,
    /// Its reason, for people: a lower-case fragment.
    pub reason: String,
}

/// What a ledger row says of its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RowState {
    /// In this call.
    Offered,
    /// Held and not in this call.
    Withheld(Withheld),
}

/// One held tool's row (O9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerTool {
    /// The tool.
    pub tool: ToolId,
    /// How it came to be held: `resident`, `preloaded`, `core`, `loaded`.
    pub arrival: super::held::Arrival,
    /// What it may touch.
    pub risk: Risk,
    /// Bytes of its definition.
    pub bytes: usize,
    /// Offered or withheld, with the reason.
    #[serde(flatten)]
    pub state: RowState,
}

/// One deferred toolset's row (O9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerToolset {
    /// The toolset.
    pub toolset: ToolsetName,
    /// Names and bytes as of its last build; `None`: not built yet.
    pub last_build: Option<(Vec<ToolName>, usize)>,
    /// Why it is not here: not loaded, refused, switched off.
    pub withheld: Withheld,
}

/// Every held, withheld and deferred thing of one model call, each with its one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// A row for each held tool, in wire order.
    pub tools: Vec<LedgerTool>,
    /// A row for each deferred toolset, in available order.
    pub deferred: Vec<LedgerToolset>,
}

/// What one model call carries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offer {
    /// Indices into [`super::held::Held::tools`], ascending.
    pub kept: Vec<usize>,
    /// Why, for every held tool and deferred toolset.
    pub ledger: Ledger,
}

impl Offer {
    /// The held tools that it keeps, in held order.
    pub(super) fn tools<'a>(&'a self, held: &'a Held) -> impl Iterator<Item = &'a HeldTool> {
        self.kept.iter().filter_map(|index| held.tools().get(*index))
    }
}

/// Tools and bytes of a tool block.
pub(super) fn size<'a>(tools: impl Iterator<Item = &'a HeldTool>) -> (usize, usize) {
    tools.fold((0, 0), |(tools, bytes), tool| (tools + 1, bytes + tool.bytes))
}

/// The chain as one agent meets it now, and what it is asked.
pub(super) struct Chain<'a> {
    world: &'a World,
    conditions: &'a Conditions,
    mode: Option<&'a Mode>,
}

/// What a filter is asked about: a tool, or a whole toolset that is not held.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    owner: &'a Owner,
    /// Who provides it; `None` for the program itself.
    kind: Option<Kind>,
    /// `None`: the whole toolset.
    tool: Option<(&'a ToolName, Option<Trigger>)>,
    /// Its place in the held list, if it is held.
    held: Option<usize>,
}

impl<'a> Question<'a> {
    /// About another held tool of the same owner.
    fn beside(self, tool: &'a HeldTool, index: usize) -> Self {
        Self { tool: Some((&tool.id.name, tool.trigger)), held: Some(index), ..self }
    }

    fn of_toolset(&self) -> Option<&'a ToolsetName> {
        match self.owner {
            Owner::Toolset(toolset) => Some(toolset),
            Owner::Core => None,
        }
    }
}

/// One filter: why it withholds, every reason; none to keep.
type Rule = fn(&Chain<'_>, &Question<'_>) -> Vec<Reason>;

/// The chain, in its order (O1).
const CHAIN: [(Filter, Rule); 7] = [
    (Filter::SwitchedOff, switched_off),
    (Filter::Check, check),
    (Filter::Mode, mode),
    (Filter::Family, family),
    (Filter::NotLoaded, not_loaded),
    (Filter::Exclusion, exclusion),
    (Filter::Trigger, trigger),
];

/// Which of the chain count, where not all of it does.
impl Filter {
    /// All but W5: that something is not loaded is what residency says, and nobody decided to withhold it.
    pub(super) fn decides(self) -> bool {
        self != Self::NotLoaded
    }

    /// W1 to W4: what depends neither on loads, nor on what was said, nor on what this turn may call.
    pub(super) fn lasts(self) -> bool {
        matches!(self, Self::SwitchedOff | Self::Check | Self::Mode | Self::Family)
    }

    /// W1, W3, W4 and W6: what nobody can load, compose or spawn into now (O7). A check may say yes by the next call.
    fn forbids_building(self) -> bool {
        matches!(self, Self::SwitchedOff | Self::Mode | Self::Family | Self::Exclusion)
    }
}

/// W1. Core tools belong to no toolset, so it never withholds them (O8).
fn switched_off(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    question.of_toolset().and_then(|toolset| chain.world.switched_off(toolset)).into_iter().collect()
}

/// W2. Core tools have no health check (O8). Facts go first: no check is asked about what is not there.
fn check(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    let Some(toolset) = question.of_toolset() else { return Vec::new() };
    chain.world.says_no(toolset, question.tool.map(|(name, _)| name))
}

/// W3, core tools included (O8). A mode that is declared no more withholds everything: nobody knows what it was to keep out.
fn mode(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    let Some(name) = &chain.conditions.mode else { return Vec::new() };
    let Some(mode) = chain.mode else { return vec![Reason::rule(format!("mode '{name}' is declared no more"))] };
    let tool = question.tool.map(|(tool, _)| tool.as_str());
    let reason = |(word, span): (&str, Option<super::name::Span>)| {
        let text = format!("mode '{name}' withholds {word}");
        span.map_or_else(|| Reason::rule(text.clone()), |span| Reason::at(text.clone(), span))
    };
    mode.withholds(question.owner, question.kind, tool).map(reason).collect()
}

/// W4: a worker that was narrowed keeps its family and what a core tool of it needs.
fn family(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    const KEPT: [&str; 2] = ["available_tools", "activate_skill"];
    let foreign = |family: &&ToolsetName| match question.owner {
        Owner::Core => !question.tool.is_some_and(|(name, _)| KEPT.contains(&name.as_str())),
        Owner::Toolset(toolset) => toolset != *family,
    };
    let reason = |family| Reason::rule(format!("this worker was narrowed to '{family}'"));
    chain.conditions.families.iter().filter(foreign).map(reason).collect()
}

/// W5: nothing that is held.
fn not_loaded(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    match question.of_toolset() {
        Some(toolset) if question.held.is_none() => chain.world.not_loaded(toolset),
        _ => Vec::new(),
    }
}

/// W6: what is not on the turn's list, or became held since the turn began.
fn exclusion(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    let allow = chain.conditions.allow.as_ref();
    allow.and_then(|allow| allow.excludes(question.held)).map(Reason::rule).into_iter().collect()
}

/// W7.
fn trigger(chain: &Chain<'_>, question: &Question<'_>) -> Vec<Reason> {
    match question.tool {
        Some((_, Some(trigger))) if !chain.conditions.triggers.contains(&trigger) => {
            vec![Reason::rule(trigger.missing())]
        }
        _ => Vec::new(),
    }
}

impl<'a> Chain<'a> {
    pub(super) fn new(world: &'a World, conditions: &'a Conditions) -> Self {
        Self { world, conditions, mode: conditions.mode.as_ref().and_then(|mode| world.modes.get(mode)) }
    }

    /// About a held tool.
    pub(super) fn held(&self, tool: &'a HeldTool, index: usize) -> Question<'a> {
        let (owner, tool) = (&tool.id.owner, Some((&tool.id.name, tool.trigger)));
        Question { owner, kind: self.kind(owner), tool, held: Some(index) }
    }

    /// About a tool that is not held.
    pub(super) fn absent(&self, tool: &'a ToolId, trigger: Option<Trigger>) -> Question<'a> {
        let (owner, tool) = (&tool.owner, Some((&tool.name, trigger)));
        Question { owner, kind: self.kind(owner), tool, held: None }
    }

    /// About all of a toolset that is not held.
    pub(super) fn toolset(&self, owner: &'a Owner) -> Question<'a> {
        Question { owner, kind: self.kind(owner), tool: None, held: None }
    }

    fn kind(&self, owner: &Owner) -> Option<Kind> {
        match owner {
            Owner::Toolset(toolset) => self.world.registry().kind(toolset),
            Owner::Core => None,
        }
    }

    /// Every filter that withholds, in the chain's order, with all its reasons (O1): lazily, for an offer reads only the
    /// first.
    pub(super) fn withholds(&self, question: Question<'a>) -> impl Iterator<Item = (Filter, Reason)> {
        self.withholds_by(&CHAIN, question)
    }

    fn withholds_by(
        &self,
        rules: &'a [(Filter, Rule)],
        question: Question<'a>,
    ) -> impl Iterator<Item = (Filter, Reason)> {
        rules.iter().flat_map(move |(filter, rule)| rule(self, &question).into_iter().map(|reason| (*filter, reason)))
    }

    /// The first reason (O1).
    pub(super) fn first(&self, question: Question<'a>) -> Option<Withheld> {
        CHAIN.iter().find_map(|(filter, rule)| {
            let reason = rule(self, &question).into_iter().next()?;
            Some(Withheld { filter: *filter, reason: reason.text })
        })
    }

    /// Why a toolset that is not held can be neither loaded, composed nor spawned into now (O7).
    pub(super) fn refuses(&self, owner: &'a Owner) -> Option<(Filter, Reason)> {
        self.withholds(self.toolset(owner)).find(|(filter, _)| filter.forbids_building())
    }
}

/// What a model call of this agent carries now: held tools that no filter withholds, in held order (O5), and a row for every
/// held tool and every available toolset that is not held (O9).
pub fn offer(world: &World, life: Life<'_>) -> Offer {
    let chain = Chain::new(world, life.conditions);
    let held = life.held.tools();
    let mut kept = Vec::with_capacity(held.len());
    let mut tools = Vec::with_capacity(held.len());
    let mut last: Option<Question<'_>> = None;
    for (index, tool) in held.iter().enumerate() {
        let question = match last {
            // Tools of one toolset stand together: who provides it is looked up once.
            Some(last) if *last.owner == tool.id.owner => last.beside(tool, index),
            _ => chain.held(tool, index),
        };
        last = Some(question);
        let state = match chain.first(question) {
            None => {
                kept.push(index);
                RowState::Offered
            }
            Some(withheld) => RowState::Withheld(withheld),
        };
        tools.push(LedgerTool {
            tool: tool.id.clone(),
            arrival: tool.arrival,
            risk: tool.risk,
            bytes: tool.bytes,
            state,
        });
    }
    if planted(Bug::SortsTheOffer) {
        kept.sort_by_key(|index| held.get(*index).map(|tool| &tool.wire));
    }
    let row = |toolset: &ToolsetName| {
        let owner = Owner::Toolset(toolset.clone());
        let last_build = world.last_build(toolset);
        LedgerToolset {
            toolset: toolset.clone(),
            last_build: last_build.map(|tools| {
                (tools.iter().map(|tool| tool.name.clone()).collect(), tools.iter().map(|tool| tool.bytes).sum())
            }),
            withheld: chain
                .first(chain.toolset(&owner))
                .unwrap_or_else(|| Withheld { filter: Filter::NotLoaded, reason: "not loaded".to_owned() }),
        }
    };
    let deferred = world.table(life.agent).every().filter(|toolset| life.held.arrival(toolset).is_none()).map(row);
    let deferred = deferred.collect();
    Offer { kept, ledger: Ledger { tools, deferred } }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::conditions::UNCONDITIONAL;
    use super::super::declare::{AgentDeclaration, Available, Declarations, Pair};
    use super::super::name::{AgentName, Span, Spanned};
    use super::super::registry::Registry;
    use super::*;

    thread_local! {
        static ASKED: Cell<u32> = const { Cell::new(0) };
    }

    fn keeps(_: &Chain<'_>, _: &Question<'_>) -> Vec<Reason> {
        ASKED.set(ASKED.get() + 1);
        Vec::new()
    }

    fn withholds(_: &Chain<'_>, _: &Question<'_>) -> Vec<Reason> {
        ASKED.set(ASKED.get() + 1);
        vec![Reason::rule("no")]
    }

    /// The time is the bench's to say. What keeps it low: a tool asks each filter at most once, and none behind the first
    /// that withholds it, unless all reasons are wanted.
    #[test]
    fn o4_an_offer_asks_no_filter_behind_the_first_that_withholds() {
        let agent = AgentDeclaration {
            name: Spanned::new(AgentName::new("assistant"), Span::default()),
            description: String::new(),
            available: Available::Absent,
            resident: None,
            pair: Pair::default(),
            delegates_to: Vec::new(),
        };
        let declarations = Declarations { agents: vec![agent], ..Declarations::default() };
        let world = World::new(declarations, Registry::default()).unwrap();
        let chain = Chain::new(&world, UNCONDITIONAL);
        let owner = Owner::Toolset(ToolsetName::new("fs"));
        let asked = |rules: &[(Filter, Rule)], all: bool| {
            ASKED.set(0);
            let reasons = chain.withholds_by(rules, chain.toolset(&owner));
            let found = reasons.take(if all { usize::MAX } else { 1 }).count();
            (found, ASKED.get())
        };
        const KEPT: (Filter, Rule) = (Filter::Check, keeps);
        const NOT: (Filter, Rule) = (Filter::Mode, withholds);
        assert_eq!(asked(&[KEPT; 7], false), (0, 7));
        assert_eq!(asked(&[KEPT, NOT, KEPT, NOT], false), (1, 2));
        assert_eq!(asked(&[KEPT, NOT, KEPT, NOT], true), (2, 4));
    }
}
