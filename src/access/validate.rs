//! Checks every table against the registry before anything is built: all faults of all tables together (A2).
//!
//! It reports and never repairs: a word that is wrong never shrinks a list.

use std::collections::{BTreeMap, BTreeSet};

use super::available::Table;
use super::declare::{AgentDeclaration, Available, Declarations, Fault};
use super::name::{AgentName, CORE_TOOLS, GateEntry, Span, Spanned, ToolsetName, did_you_mean, near, shown};
use super::policy::{Entry, GateList, Policies, Policy, reaches_floor};
use super::registry::Registry;

/// What the checks read.
pub(super) struct Context<'a> {
    pub(super) declarations: &'a Declarations,
    pub(super) registry: &'a Registry,
    pub(super) entry: &'a AgentName,
    pub(super) tables: &'a BTreeMap<AgentName, Table>,
}

/// Every fault that the text and the registry settle, in file order.
pub(super) fn check(context: &Context<'_>, policies: &Policies, mut faults: Vec<Fault>) -> Vec<Fault> {
    let declarations = context.declarations;
    agent_names(declarations, &mut faults);
    entry_agent(context, &mut faults);
    for agent in &declarations.agents {
        available(context, agent, &mut faults);
        resident(context, agent, &mut faults);
        delegates(context, agent, &mut faults);
    }
    cycles(declarations, &mut faults);
    faults.extend(disabled(context.registry, &declarations.disabled));
    entries(context, policies, &mut faults);
    auto_approval(context, policies, &mut faults);
    faults.sort_by_key(|fault| fault.span.map_or((1, Span::default()), |span| (0, span)));
    faults
}

fn fault(rule: &'static str, span: Option<Span>, message: String, hint: impl Into<Option<String>>) -> Fault {
    Fault { rule, span, message, hint: hint.into() }
}

/// A3: well formed, not reserved, and no two that differ only in case.
fn agent_names(declarations: &Declarations, faults: &mut Vec<Fault>) {
    let mut seen: BTreeMap<String, &Spanned<AgentName>> = BTreeMap::new();
    for agent in &declarations.agents {
        let name = agent.name.value.as_str();
        if let Err(message) = AgentName::parse(name) {
            faults.push(fault("A3", Some(agent.name.span), message, "give the table another name".to_owned()));
        }
        if let Some(first) = seen.insert(name.to_ascii_lowercase(), &agent.name) {
            let message = format!(
                "[agents.{}] and [agents.{}] (line {}) differ only in case",
                shown(name),
                first.value,
                first.span.line
            );
            faults.push(fault("A3", Some(agent.name.span), message, "rename one of them".to_owned()));
        }
    }
}

fn entry_agent(context: &Context<'_>, faults: &mut Vec<Fault>) {
    if context.tables.contains_key(context.entry) {
        return;
    }
    let names: Vec<&str> = context.tables.keys().map(AgentName::as_str).collect();
    let close = near(context.entry.as_str(), names.iter().copied(), 3);
    let written = context.declarations.entry.as_ref().map(|word| word.span);
    // Where nobody wrote the name of the entry agent, a table's name is what is misspelled.
    let misspelled = context.declarations.agents.iter().find(|agent| close.first() == Some(&agent.name.value.as_str()));
    if let (None, Some(agent)) = (written, misspelled) {
        let message = format!(
            "the entry agent '{0}' has no [agents.{0}] table, and '{1}' is close to its name",
            context.entry,
            shown(agent.name.value.as_str())
        );
        let hint = format!("rename this table to [agents.{}], or set [assistant].agent to its name", context.entry);
        faults.push(fault("A2", Some(agent.name.span), message, hint));
        return;
    }
    let hint = did_you_mean(&close).unwrap_or_else(|| {
        if names.is_empty() {
            format!("write an [agents.{}] table", context.entry)
        } else {
            format!("declared agents: {}; set [assistant].agent to one of them", names.join(", "))
        }
    });
    let message = format!("the entry agent '{}' has no [agents.{0}] table", shown(context.entry.as_str()));
    faults.push(fault("A2", written, message, hint));
}

/// A2, A5, A7, A15 for `available`.
fn available(context: &Context<'_>, agent: &AgentDeclaration, faults: &mut Vec<Fault>) {
    let Available::List(words) = &agent.available else { return };
    let table = format!("[agents.{}.tools]", agent.name.value);
    duplicates(words, &format!("available of {table}"), faults);
    for word in words {
        let name = word.value.as_str();
        if name.eq_ignore_ascii_case("all") {
            let message = format!("'{name}' stands inside the list available of {table}");
            faults.push(fault("A5", Some(word.span), message, ALL_ALONE.to_owned()));
            continue;
        }
        let Some(facts) = context.registry.get(name) else {
            faults.push(unknown_toolset(context.registry, word, &format!("available of {table}")));
            continue;
        };
        if facts.entry_agent_only && agent.name.value != *context.entry {
            let message = format!("'{name}' in available of {table} is for the entry agent only");
            let hint = format!("take it out, or list it for '{}'", context.entry);
            faults.push(fault("A7", Some(word.span), message, hint));
        }
    }
}

const ALL_ALONE: &str = "write available = \"all\", a string and in lower case, or list names";

/// R1, R2, A5, A15 for `resident`.
fn resident(context: &Context<'_>, agent: &AgentDeclaration, faults: &mut Vec<Fault>) {
    let table = format!("[agents.{}.tools]", agent.name.value);
    let Some(words) = &agent.resident else {
        if let Available::All(span) = agent.available {
            let message = format!("available = \"all\" in {table} needs a resident list");
            let hint = "name what is in its context from the start, such as resident = [\"time\"]; the rest is loaded when asked for";
            faults.push(fault("R2", Some(span), message, hint.to_owned()));
        }
        return;
    };
    duplicates(words, &format!("resident of {table}"), faults);
    let reachable: &[ToolsetName] = context.tables.get(&agent.name.value).map_or(&[], |table| &table.available);
    for word in words {
        let name = word.value.as_str();
        if name.eq_ignore_ascii_case("all") {
            let message = format!("'{name}' stands inside the list resident of {table}");
            let hint =
                "name what is in its context from the start; without `resident` every listed toolset is".to_owned();
            faults.push(fault("A5", Some(word.span), message, hint));
            continue;
        }
        let listed = match &agent.available {
            Available::List(available) => available.iter().any(|other| other.value == word.value),
            Available::All(_) => reachable.contains(&word.value),
            Available::Absent => false,
        };
        // A list with "all" in it was meant to hold everything; that is said already.
        let meant_all = match &agent.available {
            Available::List(words) => words.iter().any(|word| word.value.as_str().eq_ignore_ascii_case("all")),
            Available::All(_) | Available::Absent => false,
        };
        if listed || (meant_all && context.registry.contains(name)) {
            continue;
        }
        let all = matches!(agent.available, Available::All(_));
        faults.push(match (all, context.registry.get(name)) {
            (true, None) => {
                let mut fault = unknown_toolset(context.registry, word, &format!("resident of {table}"));
                fault.rule = "R1";
                fault
            }
            (true, Some(_)) => {
                let message = format!(
                    "'{name}' in resident of {table} is for the entry agent only, so \"all\" leaves it out for a worker"
                );
                fault("R1", Some(word.span), message, "take it out of resident".to_owned())
            }
            (false, known) => {
                let message = format!("'{}' in resident of {table} is not in its available", shown(name));
                let close = near(name, reachable.iter().map(ToolsetName::as_str), 3);
                let hint = did_you_mean(&close).unwrap_or_else(|| match (known, &agent.available) {
                    (_, Available::Absent) => format!("{table} has no available list: write one"),
                    (Some(_), _) => "add it to available, or take it out of resident".to_owned(),
                    (None, _) => "nothing installs that name: take it out of resident".to_owned(),
                });
                fault("R1", Some(word.span), message, hint)
            }
        });
    }
}

/// A10: declared agents, not itself.
fn delegates(context: &Context<'_>, agent: &AgentDeclaration, faults: &mut Vec<Fault>) {
    let place = format!("delegates_to of [agents.{}]", agent.name.value);
    duplicates(&agent.delegates_to, &place, faults);
    for word in &agent.delegates_to {
        let name = word.value.as_str();
        if word.value == agent.name.value {
            let message = format!("'{name}' in {place} is the agent itself");
            faults.push(fault("A10", Some(word.span), message, "take it out".to_owned()));
        } else if !context.tables.contains_key(&word.value) {
            let names: Vec<&str> = context.tables.keys().map(AgentName::as_str).collect();
            let hint = did_you_mean(&near(name, names.iter().copied(), 3))
                .unwrap_or_else(|| format!("declared agents: {}", names.join(", ")));
            faults.push(fault(
                "A10",
                Some(word.span),
                format!("'{}' in {place} is no declared agent", shown(name)),
                hint,
            ));
        }
    }
}

/// A10: each cycle once, printed from the agent that closes it.
fn cycles(declarations: &Declarations, faults: &mut Vec<Fault>) {
    let agents: BTreeMap<&AgentName, &AgentDeclaration> =
        declarations.agents.iter().map(|agent| (&agent.name.value, agent)).collect();
    let mut done: BTreeSet<&AgentName> = BTreeSet::new();
    for start in &declarations.agents {
        // The way down to the agent in hand, each with how many of its delegates were looked at.
        let mut path: Vec<(&AgentName, usize)> = vec![(&start.name.value, 0)];
        while let Some((name, next)) = path.last_mut() {
            let name = *name;
            let delegate =
                agents.get(name).filter(|_| !done.contains(name)).and_then(|agent| agent.delegates_to.get(*next));
            let Some(delegate) = delegate else {
                done.insert(name);
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(begin) = path.iter().position(|(on_path, _)| **on_path == delegate.value) {
                if path.len() - begin > 1 {
                    let mut names: Vec<&str> = path.iter().skip(begin).map(|(name, _)| name.as_str()).collect();
                    names.push(delegate.value.as_str());
                    let message = format!("delegates_to goes round in a circle: {}", names.join(" -> "));
                    faults.push(fault("A10", Some(delegate.span), message, "take one of these steps out".to_owned()));
                }
            } else if !done.contains(&delegate.value) {
                path.push((&delegate.value, 0));
            }
        }
    }
}

/// W1's list: installed names, each once.
pub(super) fn disabled(registry: &Registry, words: &[Spanned<ToolsetName>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    duplicates(words, "disabled of [toolsets]", &mut faults);
    for word in words.iter().filter(|word| !registry.contains(word.value.as_str())) {
        let mut fault = unknown_toolset(registry, word, "disabled of [toolsets]");
        fault.rule = "W1";
        faults.push(fault);
    }
    faults
}

fn unknown_toolset(registry: &Registry, word: &Spanned<ToolsetName>, place: &str) -> Fault {
    let names: Vec<&str> = registry.names().map(ToolsetName::as_str).collect();
    let accepted = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let name = word.value.as_str();
    let instead = match name.split_once('.').map_or(name, |(toolset, _)| toolset) {
        "core" => Some("core tools belong to no toolset: an agent earns them.".to_owned()),
        toolset if registry.contains(toolset) => Some(format!("toolsets are named whole here: write '{toolset}'.")),
        _ => did_you_mean(&registry.near(name)),
    };
    let hint = match instead {
        Some(instead) => format!("{instead} This install has: {accepted}"),
        None => format!("this install has: {accepted}"),
    };
    fault("A2", Some(word.span), format!("'{}' in {place} names no installed toolset", shown(name)), hint)
}

/// A15.
fn duplicates<T: Ord + std::fmt::Display>(words: &[Spanned<T>], place: &str, faults: &mut Vec<Fault>) {
    let mut seen: BTreeMap<&T, Span> = BTreeMap::new();
    for word in words {
        if let Some(first) = seen.get(&word.value) {
            let message = format!("'{}' stands twice in {place}, first on line {}", word.value, first.line);
            faults.push(fault("A15", Some(word.span), message, "take one of them out".to_owned()));
        } else {
            seen.insert(&word.value, word.span);
        }
    }
}

/// What of P6, P10 and P20 the text settles.
fn entries(context: &Context<'_>, policies: &Policies, faults: &mut Vec<Fault>) {
    let all: Vec<&AgentDeclaration> = context.declarations.agents.iter().collect();
    for (owner, policy) in policies.pairs() {
        let concerned: Vec<&AgentDeclaration> = all
            .iter()
            .copied()
            .filter(|agent| match owner {
                Some(owner) => agent.name.value == *owner,
                None => !policies.is_declared(&agent.name.value),
            })
            .collect();
        let scope = if owner.is_some() { Scope::Declared } else { Scope::Default };
        for entry in &policy.entries {
            faults.extend(entry_fault(context, policy, entry, &concerned, scope));
        }
        both_lists(policy, faults);
    }
    for entry in &policies.floor.entries {
        faults.extend(entry_fault(context, &policies.floor, entry, &all, Scope::Floor));
    }
}

/// Whose list an entry stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Declared,
    Default,
    Floor,
}

fn entry_fault(
    context: &Context<'_>,
    policy: &Policy,
    entry: &Entry,
    concerned: &[&AgentDeclaration],
    scope: Scope,
) -> Option<Fault> {
    let (rule, place) = (policy.rule(), policy.place(entry));
    let wrong = |message: String, hint: String| Some(fault(rule, Some(entry.span), message, hint));
    let table = |agent: &AgentDeclaration| context.tables.get(&agent.name.value);
    let Some(toolset) = entry.gate.toolset() else {
        let wanted = match &entry.gate {
            GateEntry::CoreTool(name) if !CORE_TOOLS.contains(&name.as_str()) => {
                let close: Vec<String> =
                    near(name.as_str(), CORE_TOOLS, 3).into_iter().map(|name| format!("core.{name}")).collect();
                let close: Vec<&str> = close.iter().map(String::as_str).collect();
                let hint = did_you_mean(&close).unwrap_or_else(|| format!("core tools: {}", CORE_TOOLS.join(", ")));
                return wrong(format!("{place} names no core tool"), hint);
            }
            GateEntry::CoreTool(name) => Some(name.as_str()),
            _ => None,
        };
        let earned = |agent: &&AgentDeclaration| {
            let earned: &[&str] = table(agent).map_or(&[], |table| &table.core);
            wanted.map_or(!earned.is_empty(), |name| earned.contains(&name))
        };
        if concerned.iter().any(earned) {
            return None;
        }
        let hint = match wanted {
            Some("spawn_subagent") => "an agent earns it by a delegates_to that is not empty; take the entry out",
            Some("activate_skill") => "an agent earns it by a skill; take the entry out",
            _ => "an agent earns it when its resident list leaves something of its available out; take the entry out",
        };
        let nobody = match scope {
            Scope::Declared => "this agent holds no such tool",
            Scope::Default | Scope::Floor => "no agent that it concerns holds such a tool",
        };
        return wrong(format!("{place} gates nothing: {nobody}"), hint.to_owned());
    };
    if !context.registry.contains(toolset.as_str()) {
        let word = Spanned::new(toolset.clone(), entry.span);
        let hint = unknown_toolset(context.registry, &word, "").hint;
        let hint = hint.map(|hint| format!("{hint}. An entry is '<toolset>' or '<toolset>.<tool>'"));
        return Some(fault(rule, Some(entry.span), format!("{place}: no toolset is named '{toolset}'"), hint));
    }
    // An entry agent that lists `skills` reaches every skill (A9), named or not: their gates are its own.
    let lists = |agent: &&AgentDeclaration| table(agent).is_some_and(|table| table.reaches(toolset));
    let nobody = !concerned.iter().any(lists);
    match scope {
        Scope::Declared if nobody => wrong(
            format!("{place} names a toolset that this agent does not list"),
            format!("add '{toolset}' to its available, or take the entry out"),
        ),
        Scope::Default if nobody && !some_agent_composes(context) => {
            let own = context.declarations.agents.iter().find(|agent| lists(agent));
            let hint = match own
                .and_then(|agent| Some((agent, agent.pair.confirm.as_ref().or(agent.pair.review.as_ref())?)))
            {
                Some((agent, key)) => format!(
                    "[agents.{}.tools] lists it, and its own pair (line {}) replaces this one whole: write the entry there, \
                     or it asks nobody",
                    agent.name.value, key.key.line
                ),
                None => {
                    format!(
                        "take the entry out, or add '{toolset}' to the available of an agent that inherits this pair"
                    )
                }
            };
            wrong(format!("{place} names a toolset that no agent without a pair of its own lists"), hint)
        }
        Scope::Declared | Scope::Default | Scope::Floor => None,
    }
}

/// Whether some agent can compose workers, which draw from every registered toolset (P6).
fn some_agent_composes(context: &Context<'_>) -> bool {
    context.tables.values().any(|table| table.available.iter().any(|toolset| toolset.as_str() == "capabilities"))
}

/// P10: `confirm` and `review` of one pair that share a tool by their text.
fn both_lists(policy: &Policy, faults: &mut Vec<Fault>) {
    let of = |list: GateList| policy.entries.iter().filter(move |entry| entry.list == list);
    for review in of(GateList::Review) {
        if let Some(confirm) = of(GateList::Confirm).find(|confirm| confirm.gate.overlaps(&review.gate)) {
            let message = format!(
                "'{}' in review of [{}] and '{}' in confirm (line {}) gate the same tool",
                review.written, policy.table, confirm.written, confirm.span.line
            );
            faults.push(fault("P10", Some(review.span), message, "leave a tool in one list only".to_owned()));
        }
    }
}

/// What only auto-approval asks for (P6, P10).
fn auto_approval(context: &Context<'_>, policies: &Policies, faults: &mut Vec<Fault>) {
    if !context.declarations.auto_approval {
        return;
    }
    let reviews = |policy: &Policy| policy.entries.iter().any(|entry| entry.list == GateList::Review);
    if !policies.pairs().any(|(_, policy)| reviews(policy)) {
        let message = "auto-approval is enabled and no review entry exists anywhere".to_owned();
        faults.push(fault("P6", None, message, "move what a reviewer may answer into a review list".to_owned()));
    }
    for (_, policy) in policies.pairs() {
        for review in policy.entries.iter().filter(|entry| entry.list == GateList::Review) {
            let floor = policies.floor.entries.iter().find(|floor| floor.gate.overlaps(&review.gate));
            if let Some(floor) = floor {
                let hint = "move it to confirm, or name single tools that the floor does not hold".to_owned();
                faults.push(fault("P10", Some(review.span), reaches_floor(policy, review, floor), hint));
            }
        }
    }
}
