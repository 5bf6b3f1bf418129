//! Offer: the ordered chain of filters between what is held and what one model call carries (§5), and its ledger.
//!
//! A filter removes and never reorders (O5); withholding never changes what is held (O2).

use serde::Serialize;

use super::held::Held;
use super::name::{AgentName, ToolId, ToolName, ToolsetName};
use super::registry::Risk;
use super::world::World;

/// A filter of the chain, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// The first filter that withheld it (O1).
    pub filter: Filter,
    /// Its reason, for people: a lower-case fragment.
    pub reason: String,
}

/// What a ledger row says of its tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RowState {
    /// In this call.
    Offered,
    /// Held and not in this call.
    Withheld(Withheld),
}

/// One held tool's row (O9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerToolset {
    /// The toolset.
    pub toolset: ToolsetName,
    /// Names and bytes as of its last build; `None`: not built yet.
    pub last_build: Option<(Vec<ToolName>, usize)>,
    /// Why it is not here: not loaded, refused, switched off.
    pub withheld: Withheld,
}

/// Every held, withheld and deferred thing of one model call, each with its one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
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

/// What a model call of `agent`, holding `held`, carries now.
pub fn offer(world: &World, agent: &AgentName, held: &Held) -> Offer {
    let _ = (world, agent, held);
    unimplemented!("access")
}
