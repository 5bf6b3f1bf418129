//! What models read about capability, word for word: `available_tools`, `load_tools`, `list_capabilities`, unknown names, the
//! names line.
//!
//! Texts only; what is true is asked of the world.

use super::conditions::Life;
use super::held::{Arrival, Held, HeldTool, LoadOutcome};
use super::name::{AgentName, GateEntry, Owner, ToolId, ToolsetName, WireName, near, shown};
use super::offer::{Chain, Filter};
use super::planted::{Bug, planted};
use super::registry::{ToolFacts, ToolsetFacts};
use super::worker::CAPABILITIES;
use super::world::World;

/// The first line of `list_capabilities`: what is installed is not what is held.
const INSTALLED: &str = "Installed here, which is not a list of what you hold. Each line ends with what it is to you: held; loadable \
                         (call load_tools); compose only (name it in compose_subagent); off (not now).";

/// A toolset's state in `available_tools` (R5).
enum Listed {
    Resident,
    Loaded,
    Loadable,
    Refused(String),
    Off(String),
}

impl World {
    /// The names line of the system message (R4), if something is loadable at wiring. Names only.
    pub fn names_line(&self, life: Life<'_>) -> Option<String> {
        let loadable = self.loadable(life);
        if loadable.is_empty() || !self.core_tools(life.agent).contains(&"load_tools") {
            return None;
        }
        Some(format!("Also available, load before use: {}.", joined(&loadable)))
    }

    /// Whether `load_tools(name)` by `agent` may build now; `Err` is the result the model reads (R5, R9, O7). Spaces around
    /// the name are not part of it.
    ///
    /// # Errors
    /// The exact answer: unknown, resident, already loaded, withheld from this turn, not connected, or refused.
    pub fn may_load(&self, life: Life<'_>, name: &str) -> Result<ToolsetName, String> {
        let name = name.trim();
        let named = |toolset: &&ToolsetName| toolset.as_str() == name;
        let listed = self.told(life).find(named);
        let listed = listed.or_else(|| self.registry.names().find(named).filter(|_| planted(Bug::LoadsForOthers)));
        let Some(toolset) = listed else {
            let loadable = self.loadable(life);
            let mut missing =
                self.table(life.agent).available.iter().filter(|other| life.held.arrival(other).is_none());
            let rest = match (loadable.is_empty(), missing.next()) {
                (false, _) => format!("Loadable: {}.", joined(&loadable)),
                (true, None) => "Everything available is already in your tools.".to_owned(),
                (true, Some(_)) => "Nothing can be loaded now; available_tools says why.".to_owned(),
            };
            return Err(format!("No tool group named '{}'. {rest}", shown(name)));
        };
        match life.held.arrival(toolset) {
            Some(Arrival::Loaded) => return Err(format!("'{toolset}' is already loaded.")),
            Some(_) => return Err(format!("'{toolset}' is resident: its tools are already in your tool list.")),
            None => {}
        }
        match self.may_build(life, toolset) {
            Some(why) => Err(could_not_load(toolset, &why)),
            None => Ok(toolset.clone()),
        }
    }

    /// The answer of `available_tools(filter)` (R5): a line for each toolset, in available order. The filter is a part of a
    /// name or description in any casing.
    pub fn available_tools(&self, life: Life<'_>, filter: &str) -> String {
        let filter = filter.trim();
        let wanted = filter.to_lowercase();
        let mut lines = Vec::new();
        for toolset in self.told(life) {
            let description = self.registry.get(toolset.as_str()).map_or("", |facts| facts.description.as_str());
            if !toolset.as_str().contains(&wanted) && !description.to_lowercase().contains(&wanted) {
                continue;
            }
            let state = match self.listed(life, toolset) {
                Listed::Resident => "resident".to_owned(),
                Listed::Loaded => "loaded".to_owned(),
                Listed::Loadable => "loadable".to_owned(),
                Listed::Refused(entry) => format!("refused: {}", shown(&entry)),
                Listed::Off(reason) => format!("off: {reason}"),
            };
            let asks =
                self.asks_first(life.agent, toolset).map(|names| format!(" Asks first: {names}.")).unwrap_or_default();
            lines.push(format!("{toolset} [{state}]: {description}{asks}"));
        }
        if lines.is_empty() {
            return format!(
                "No tool group matches '{}'. Call available_tools with no filter to see them all.",
                shown(filter)
            );
        }
        lines.join("\n")
    }

    /// The answer of `list_capabilities(filter)` (D3): what is installed, by name, each line ending with what it is to this
    /// caller. The filter is a part of a name or description in any casing.
    pub fn capabilities(&self, life: Life<'_>, filter: &str) -> String {
        let filter = filter.trim();
        let wanted = filter.to_lowercase();
        let fits = |facts: &&ToolsetFacts| {
            facts.name.as_str() != CAPABILITIES
                && (facts.name.as_str().contains(&wanted) || facts.description.to_lowercase().contains(&wanted))
        };
        let mut found: Vec<&ToolsetFacts> = self.registry.toolsets().iter().filter(fits).collect();
        if found.is_empty() {
            return format!(
                "No capability matches '{}'. Call list_capabilities with no filter to see them all.",
                shown(filter)
            );
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        let line = |facts: &&ToolsetFacts| {
            format!("{} [{}]: {} - {}", facts.name, facts.kind, facts.description, self.reach(life, facts))
        };
        let lines = found.iter().map(line);
        std::iter::once(INSTALLED.to_owned()).chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// What an installed toolset is to this caller (D3).
    fn reach(&self, life: Life<'_>, facts: &ToolsetFacts) -> &'static str {
        let listed = self.listed(life, &facts.name);
        let loads = self.core_tools(life.agent).contains(&"load_tools")
            && self.table(life.agent).available.contains(&facts.name);
        match listed {
            Listed::Resident | Listed::Loaded => "held",
            Listed::Loadable if loads => "loadable",
            Listed::Loadable if !facts.entry_agent_only && self.may_build(life, &facts.name).is_none() => {
                "compose only"
            }
            Listed::Loadable | Listed::Refused(_) | Listed::Off(_) => "off",
        }
    }

    /// The error result for a wire name that is not held (A12): near names out of `offered` and the toolset to load. Says
    /// nothing about what is held and withheld.
    pub fn unknown_tool(&self, life: Life<'_>, offered: &[&HeldTool], wire: &str) -> String {
        let close = near(wire, offered.iter().map(|tool| tool.wire.as_str()), 3);
        let close: Vec<String> = close.iter().map(|name| format!("'{name}'")).collect();
        let mut sentences = vec![format!("Tool '{}' not found.", shown(wire))];
        if !close.is_empty() {
            sentences.push(format!("Near names you can call: {}.", close.join(", ")));
        }
        if offered.iter().any(|tool| tool.id == ToolId::core("load_tools")) {
            let provides = |toolset: &&ToolsetName| {
                self.last_build(toolset).is_some_and(|tools| tools.iter().any(|tool| has_name(toolset, tool, wire)))
            };
            sentences.push(match self.loadable(life).into_iter().find(provides) {
                Some(toolset) => format!("'{toolset}' provides it: call load_tools with that name first."),
                None => "If it belongs to a tool group you have not loaded, call available_tools to see what you can \
                         load, then load_tools."
                    .to_owned(),
            });
        }
        sentences.join(" ")
    }

    /// The toolsets that a model is told of: the available ones, and the skills that it holds without naming them (A9), which
    /// are never deferred, so never loadable.
    fn told<'a>(&'a self, life: Life<'a>) -> impl Iterator<Item = &'a ToolsetName> {
        let table = self.table(life.agent);
        table.every().filter(move |toolset| table.available.contains(toolset) || life.held.arrival(toolset).is_some())
    }

    /// The loadable toolsets of an agent: available, not held, and neither refused nor off.
    pub(super) fn loadable(&self, life: Life<'_>) -> Vec<&ToolsetName> {
        let is_loadable = |toolset: &&ToolsetName| matches!(self.listed(life, toolset), Listed::Loadable);
        self.table(life.agent).available.iter().filter(is_loadable).collect()
    }

    fn listed(&self, life: Life<'_>, toolset: &ToolsetName) -> Listed {
        let owner = Owner::Toolset(toolset.clone());
        let arrival = life.held.arrival(toolset);
        // What W6 lets through of a held toolset is decided tool by tool.
        let withheld = Chain::new(self, life.conditions).refuses(&owner);
        let withheld = withheld.filter(|(filter, _)| arrival.is_none() || *filter != Filter::Exclusion);
        if let Some((_, reason)) = withheld {
            return Listed::Off(reason.text);
        }
        match (arrival, self.refusal(toolset)) {
            (Some(Arrival::Loaded), _) => Listed::Loaded,
            (Some(_), _) => Listed::Resident,
            (None, Some(refusal)) => Listed::Refused(refusal.entry.clone()),
            (None, None) => Listed::Loadable,
        }
    }

    /// The gated tools of `toolset` under `agent`'s policy, or what the entries say of one that was not built yet.
    fn asks_first(&self, agent: &AgentName, toolset: &ToolsetName) -> Option<String> {
        let gated: Vec<String> = if let Some(tools) = self.last_build(toolset) {
            let asks = |facts: &&ToolFacts| self.gate(agent, &ToolId::of(toolset, &facts.name)).is_some();
            tools.iter().filter(asks).map(|facts| shown(facts.name.as_str())).collect()
        } else {
            let entries = || self.policies.lineage(agent).flat_map(|policy| &policy.entries).map(|entry| &entry.gate);
            if self.server_gate(toolset).is_some()
                || entries().any(|entry| matches!(entry, GateEntry::Toolset(named) if named == toolset))
            {
                return Some("every tool".to_owned());
            }
            let named = |entry: &GateEntry| match entry {
                GateEntry::Tool(named, tool) if named == toolset => Some(shown(tool.as_str())),
                _ => None,
            };
            entries().filter_map(named).collect()
        };
        (!gated.is_empty()).then(|| gated.join(", "))
    }
}

fn has_name(toolset: &ToolsetName, tool: &ToolFacts, wire: &str) -> bool {
    let owner = Owner::Toolset(toolset.clone());
    tool.name.as_str() == wire || WireName::of(&owner, &tool.name).as_str() == wire
}

/// The result of a load that failed (R10) or was refused (P9): `Could not load '<name>': <error>`.
pub fn could_not_load(toolset: &ToolsetName, error: &str) -> String {
    format!("Could not load '{toolset}': {error}")
}

/// The result of a load that succeeded (R7, R8): what is new under the names that the model calls, what is not and why, then
/// the toolset's guidance. `held`: after the load.
pub fn loaded(toolset: &ToolsetName, held: &Held, outcome: &LoadOutcome, guidance: Option<&str>) -> String {
    let added: Vec<&str> =
        outcome.added.iter().filter_map(|index| held.tools().get(*index)).map(|tool| tool.wire.as_str()).collect();
    let mut lines = vec![match (added.is_empty(), outcome.skipped.is_empty()) {
        (false, _) => format!("Loaded '{toolset}': {}.", added.join(", ")),
        (true, false) => format!("Loaded '{toolset}': no new tools."),
        (true, true) => format!("Loaded '{toolset}': it provides no tools right now."),
    }];
    if !outcome.skipped.is_empty() {
        let skipped: Vec<String> =
            outcome.skipped.iter().map(|(name, holder)| format!("{} ({holder})", shown(name.as_str()))).collect();
        lines.push(format!("Not loaded, because the name is already taken: {}.", skipped.join(", ")));
    }
    if !outcome.left_out.is_empty() {
        let left: Vec<String> =
            outcome.left_out.iter().map(|(name, why)| format!("'{}' ({why})", shown(name.as_str()))).collect();
        lines.push(format!("Left out: {}.", left.join(", ")));
    }
    let guidance = guidance.map(str::trim).filter(|text| !text.is_empty());
    lines.extend(guidance.map(str::to_owned));
    lines.join("\n")
}

fn joined(names: &[&ToolsetName]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}
