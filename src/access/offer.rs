//! Offer: the ordered chain of filters between what is held and what one model call carries (§5), and its ledger.
//!
//! A filter removes and never reorders (O5); withholding never changes what is held (O2).

use serde::{Deserialize, Serialize};

use super::held::Held;
use super::name::{AgentName, ToolId, ToolName, ToolsetName};
use super::registry::Risk;
use super::world::World;

/// A filter of the chain, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// W1: the person switched the toolset off.
    SwitchedOff,
    /// W2: a health check says no.
    Check,
    /// W5: nothing held; the reason of a deferred toolset's row.
    NotLoaded,
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
    /// Indices into [`Held::tools`], ascending.
    pub kept: Vec<usize>,
    /// Why, for every held tool and deferred toolset.
    pub ledger: Ledger,
}

/// What a filter is asked about: one tool, in the world of this instant. What later filters need (the conversation's mode,
/// the spawn's family, the turn's exclusions) joins here.
pub(super) struct Question<'a> {
    pub(super) world: &'a World,
    pub(super) tool: &'a ToolId,
}

/// One filter of the chain: why it withholds, or `None` to keep.
type Rule = fn(&Question<'_>) -> Option<String>;

/// The chain, in its order (O1). W5 (not loaded) withholds nothing that is held, so it has no rule here: it is the reason
/// of the ledger's deferred rows.
const CHAIN: &[(Filter, Rule)] = &[(Filter::SwitchedOff, switched_off), (Filter::Check, check)];

/// W1. Core tools belong to no toolset, so it never withholds them (O8).
fn switched_off(question: &Question<'_>) -> Option<String> {
    question.tool.toolset().and_then(|toolset| question.world.switched_off(toolset))
}

/// W2. Core tools have no health check (O8).
fn check(question: &Question<'_>) -> Option<String> {
    let toolset = question.tool.toolset()?;
    question.world.check_says_no(toolset, &question.tool.name).map(|withheld| withheld.reason.clone())
}

/// The first filter that withholds `tool`, with its reason (O1). Offer and dispatch both ask here.
pub(super) fn first_withheld(world: &World, tool: &ToolId) -> Option<Withheld> {
    let question = Question { world, tool };
    CHAIN.iter().find_map(|(filter, rule)| rule(&question).map(|reason| Withheld { filter: *filter, reason }))
}

/// Every filter that withholds `tool`, in the chain's order: what `explain` shows (O1).
pub(super) fn all_withheld(world: &World, tool: &ToolId) -> Vec<Withheld> {
    let question = Question { world, tool };
    CHAIN.iter().filter_map(|(filter, rule)| Some(Withheld { filter: *filter, reason: rule(&question)? })).collect()
}

/// What a model call of `agent`, holding `held`, carries now: held tools that no filter withholds, in held order (O5), and
/// a row for every held tool and every available toolset that is not held (O9).
pub fn offer(world: &World, agent: &AgentName, held: &Held) -> Offer {
    let mut kept = Vec::with_capacity(held.tools().len());
    let mut tools = Vec::with_capacity(held.tools().len());
    for (index, tool) in held.tools().iter().enumerate() {
        let state = match first_withheld(world, &tool.id) {
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
    let deferred = world
        .table(agent)
        .available
        .iter()
        .filter(|toolset| held.arrival(toolset).is_none())
        .map(|toolset| LedgerToolset {
            toolset: toolset.clone(),
            last_build: world.last_build(toolset).map(|tools| {
                (tools.iter().map(|tool| tool.name.clone()).collect(), tools.iter().map(|tool| tool.bytes).sum())
            }),
            withheld: not_here(world, toolset),
        })
        .collect();
    Offer { kept, ledger: Ledger { tools, deferred } }
}

/// Why an available toolset that is not held is not in a call.
fn not_here(world: &World, toolset: &ToolsetName) -> Withheld {
    if let Some(reason) = world.switched_off(toolset) {
        return Withheld { filter: Filter::SwitchedOff, reason };
    }
    let reason = match (world.refusal(toolset), world.failure(toolset)) {
        (Some(refusal), _) => format!("refused: {}", refusal.entry),
        (None, Some(error)) => format!("not loaded; its last build failed: {error}"),
        (None, None) => "not loaded".to_owned(),
    };
    Withheld { filter: Filter::NotLoaded, reason }
}
