//! A team of agents around one tree, and a driver without tasks: it carries effects out in order, checks arguments as the real
//! one does, and answers nothing else unless a test says so. What must hold of every effect is checked on all of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kokua::access::declare::{EntryList, ModeDeclaration, Pair};
use kokua::access::{
    AgentDeclaration, AgentName, Answer, Arrival, Attendance, Available, Conditions, Declarations, ModeName, Risk,
    Slot, Span, Spanned, ToolId, ToolName, ToolsetName, World,
};
use kokua::agent::{
    AgentSpec, AgentsRequest, Ask, BuiltTool, CallId, Delta, Effect, Ending, Event, Failure, FailureKind, Ground,
    Input, LoadedToolset, Message, Moment, NodeId, Record, Request, Retry, Run, Spawned, ToolOutcome, Tree, TreeInput,
    TurnEnd, Wiring, Worker, replay,
};
use kokua::tool::arguments;
use serde_json::{Value, json};

use crate::house;
use crate::properties::told;

pub(crate) const ENTRY: NodeId = NodeId::ENTRY;

type Tool = (&'static str, Risk, Value);

fn text(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn lists(mut schema: Value, name: &str) -> Value {
    schema["properties"][name] = json!({"type": "array", "items": {"type": "string"}});
    schema
}

fn tools(toolset: &str) -> Vec<Tool> {
    match toolset {
        "fs" => vec![("read_file", Risk::Read, text(&["path"]))],
        "compute" => vec![("run_command", Risk::Exec, text(&["command"]))],
        "messaging" => vec![
            ("send_message", Risk::Write, text(&["to", "text"])),
            ("list_agents", Risk::Read, text(&[])),
            ("check_agent", Risk::Read, text(&["address"])),
            ("await_agents", Risk::Read, lists(text(&[]), "addresses")),
            ("stop_agent", Risk::Write, text(&["address"])),
        ],
        "capabilities" => vec![
            ("list_capabilities", Risk::Read, text(&["filter"])),
            ("compose_subagent", Risk::Exec, lists(text(&["name", "task", "instructions"]), "tools")),
        ],
        other => panic!("no toolset {other}"),
    }
}

fn build(name: &ToolsetName) -> LoadedToolset {
    let tools = tools(name.as_str());
    let tools = tools.into_iter().map(|(tool, risk, schema)| BuiltTool::new(tool, risk, &format!("{tool}."), schema));
    LoadedToolset { toolset: name.clone(), tools: tools.collect(), guidance: None }
}

/// What a test sets before its team begins.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub max: u32,
    pub together: bool,
    pub depth: u32,
    /// The entry agent's own `confirm`; nothing: it inherits the default.
    pub own: Option<Vec<&'static str>>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { max: 10, together: true, depth: 3, own: None }
    }
}

fn spanned<T>(value: T) -> Spanned<T> {
    house::spanned(value, 1)
}

/// assistant → researcher, coder; coder → tester. Only the assistant composes. `run_command` asks first; mode `quiet`
/// withholds `compute`.
fn world(setup: &Setup) -> World {
    let registry = house::registry(["fs", "compute", "messaging", "capabilities"]);
    let list = |entries: &[&str]| EntryList {
        key: Span::default(),
        entries: entries.iter().map(|entry| spanned((*entry).to_owned())).collect(),
    };
    let agent = |name: &str, description: &str, available: &[&str], delegates: &[&str]| AgentDeclaration {
        name: spanned(AgentName::new(name)),
        description: description.to_owned(),
        available: Available::List(available.iter().map(|name| spanned(ToolsetName::new(*name))).collect()),
        resident: None,
        pair: Pair::default(),
        delegates_to: delegates.iter().map(|name| spanned(AgentName::new(*name))).collect(),
    };
    let mut agents = vec![
        agent("assistant", "Talks.", &["fs", "compute", "messaging", "capabilities"], &["researcher", "coder"]),
        agent("researcher", "Finds out.\nSlowly.", &["fs", "messaging"], &[]),
        agent("coder", "", &["fs", "compute", "messaging"], &["tester"]),
        agent("tester", "Tests.", &["fs", "compute", "messaging"], &[]),
    ];
    agents[0].pair.confirm = setup.own.as_ref().map(|own| list(own));
    let declarations = Declarations {
        entry: Some(spanned(AgentName::new("assistant"))),
        default_pair: Pair { confirm: Some(list(&["compute.run_command"])), review: None },
        agents,
        modes: vec![ModeDeclaration {
            name: spanned("quiet".to_owned()),
            withhold: vec![spanned("compute".to_owned())],
        }],
        ..Declarations::default()
    };
    let mut world = World::new(declarations, registry).unwrap();
    for name in world.startup_builds() {
        report(&mut world, &build(&name)).unwrap();
    }
    world.resolve().unwrap();
    world
}

fn report(world: &mut World, build: &LoadedToolset) -> Result<(), String> {
    world.report_build(&build.toolset, &house::facts(build)).map_err(|refusal| refusal.message)
}

/// What the driver owes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    Model(NodeId),
    Retry(NodeId),
    Card(Box<Ask>),
    Tool(CallId, ToolId),
    Wire(Box<Wiring>),
    /// A tool is about to ask the tree.
    Asking(CallId, AgentsRequest),
    /// A tool has its answer and is about to end.
    Ending(CallId, ToolOutcome),
}

impl Wanted {
    pub(crate) fn call(&self) -> Option<CallId> {
        match self {
            Self::Model(_) | Self::Retry(_) => None,
            Self::Card(ask) => Some(ask.call),
            Self::Wire(wiring) => Some(wiring.call),
            Self::Tool(call, _) | Self::Asking(call, _) | Self::Ending(call, _) => Some(*call),
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        match self {
            Self::Model(node) | Self::Retry(node) => *node,
            other => other.call().map_or(ENTRY, CallId::node),
        }
    }
}

/// One agent as its effects tell of it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub spawned: Option<Box<Spawned>>,
    /// Whether its turn is open.
    pub open: bool,
    /// The last thing recorded of it.
    last: Option<Record>,
    last_call: CallId,
}

/// A team at work.
pub(crate) struct Team {
    pub world: World,
    pub tree: Tree,
    pub setup: Setup,
    pub records: Vec<Record>,
    pub events: Vec<(NodeId, Event)>,
    /// What the last input did.
    pub effects: Vec<(NodeId, Effect)>,
    pub open: Vec<Wanted>,
    pub requests: BTreeMap<NodeId, Request>,
    pub seen: BTreeMap<NodeId, Seen>,
    /// Wires, asks and passes answers on at once.
    pub prompt: bool,
    /// Why a worker of this name is not wired.
    pub broken: BTreeMap<AgentName, String>,
    /// Where a long answer is kept.
    pub shelf: Result<String, String>,
    /// Inputs that named a call and were taken: they may come again.
    pub past: Vec<TreeInput>,
    pub cancelled: BTreeSet<CallId>,
    endings: BTreeMap<CallId, u32>,
    now: i64,
}

impl Team {
    pub(crate) fn new(setup: Setup) -> Self {
        let mut world = world(&setup);
        let tree = tree(&mut world, &setup, &[]);
        let entry = Seen { spawned: None, open: false, last: None, last_call: CallId(0) };
        Self {
            world,
            tree,
            setup,
            records: Vec::new(),
            events: Vec::new(),
            effects: Vec::new(),
            open: Vec::new(),
            requests: BTreeMap::new(),
            seen: BTreeMap::from([(ENTRY, entry)]),
            prompt: true,
            broken: BTreeMap::new(),
            shelf: Ok("answers/1.txt".to_owned()),
            past: Vec::new(),
            cancelled: BTreeSet::new(),
            endings: BTreeMap::new(),
            now: 0,
        }
    }

    /// A team whose entry agent was told to go.
    pub(crate) fn going(setup: Setup) -> Self {
        let mut team = Self::new(setup);
        team.say(ENTRY, "go");
        team
    }

    /// The program ends between turns and starts again.
    pub(crate) fn reopen(&mut self) {
        assert!(!self.tree.is_running());
        self.tree = tree(&mut self.world, &self.setup, &self.records);
    }

    // What a test does.

    pub(crate) fn say(&mut self, node: NodeId, text: &str) {
        self.say_as(node, text, Attendance::Attended, None);
    }

    pub(crate) fn say_as(&mut self, node: NodeId, text: &str, attendance: Attendance, only: Option<&[&str]>) {
        let only = only.map(|names| names.iter().map(|name| ToolName::new(*name)).collect());
        self.run(node, Input::Said { text: text.to_owned(), attendance, only });
    }

    pub(crate) fn mode(&mut self, name: &str) {
        self.run(ENTRY, Input::Mode { mode: ModeName::new(name) });
    }

    pub(crate) fn stop(&mut self) {
        self.run(ENTRY, Input::Stop);
    }

    /// The model of this agent answers with text.
    pub(crate) fn answers(&mut self, node: impl Into<Who>, text: &str) {
        self.model(node, text, &[], Ok(()));
    }

    /// The model of this agent calls; the new calls.
    pub(crate) fn calls(&mut self, node: impl Into<Who>, calls: &[(&str, Value)]) -> Vec<CallId> {
        let node = self.node(node);
        let before = self.last_call(node);
        self.model(node, "", calls, Ok(()));
        let first = before.number() + 1;
        (first..).take(calls.len()).map(|number| CallId::of(node, number)).collect()
    }

    pub(crate) fn call(&mut self, node: impl Into<Who>, tool: &str, arguments: Value) -> CallId {
        self.calls(node, &[(tool, arguments)])[0]
    }

    pub(crate) fn fails(&mut self, node: impl Into<Who>, kind: FailureKind) {
        let failure = Failure { kind, message: "no such luck".to_owned(), hint: None, retry: Retry::Never };
        self.model(node, "", &[], Err(failure));
    }

    pub(crate) fn model(
        &mut self,
        node: impl Into<Who>,
        text: &str,
        calls: &[(&str, Value)],
        end: Result<(), Failure>,
    ) {
        let node = self.node(node);
        let place = self.open.iter().position(|wanted| *wanted == Wanted::Model(node));
        let place = place.unwrap_or_else(|| panic!("no model call of {node} runs: {:#?}", self.open));
        self.open.remove(place);
        if !text.is_empty() {
            self.run(node, Input::Delta(Delta::Text { text: text.to_owned() }));
        }
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let (id, name) = (String::new(), (*name).to_owned());
            self.run(node, Input::Delta(Delta::CallStart { index, id, name }));
            self.run(node, Input::Delta(Delta::CallArguments { index, text: arguments.to_string() }));
        }
        self.run(node, Input::ModelEnded(end));
    }

    /// A running tool of the world's answers.
    pub(crate) fn ends(&mut self, call: CallId, text: &str) {
        assert!(self.open.iter().any(|wanted| matches!(wanted, Wanted::Tool(id, _) if *id == call)), "{call} runs not");
        self.tool_ended(call, ToolOutcome { ending: Ending::Ok, text: text.to_owned(), note: None });
    }

    pub(crate) fn tool_ended(&mut self, call: CallId, outcome: ToolOutcome) {
        self.run(call.node(), Input::ToolEnded { call, outcome });
    }

    pub(crate) fn card(&mut self, call: CallId, answer: Answer) {
        self.open.retain(|wanted| !matches!(wanted, Wanted::Card(ask) if ask.call == call));
        self.run(call.node(), Input::Answered { call, answer });
    }

    /// Does what is owed for one thing.
    pub(crate) fn oblige(&mut self, wanted: Wanted) {
        self.open.retain(|open| *open != wanted);
        let input = match wanted {
            Wanted::Wire(wiring) => TreeInput::Wired { call: wiring.call, worker: self.wire(&wiring).map(Box::new) },
            Wanted::Asking(call, request) => TreeInput::Requested { call, request },
            Wanted::Ending(call, outcome) => {
                TreeInput::Run { node: call.node(), input: Input::ToolEnded { call, outcome } }
            }
            Wanted::Retry(node) => TreeInput::Run { node, input: Input::RetryDue },
            other => panic!("a test answers {other:?}"),
        };
        self.step(input);
    }

    // What a test reads.

    fn node(&self, who: impl Into<Who>) -> NodeId {
        match who.into() {
            Who::Node(node) => node,
            Who::Address(address) => self.who(&address),
        }
    }

    /// The agent that has had this address last.
    pub(crate) fn who(&self, address: &str) -> NodeId {
        if address == "assistant" {
            return ENTRY;
        }
        let is = |seen: &Seen| seen.spawned.as_ref().is_some_and(|spawned| spawned.address == address);
        let found = self.seen.iter().rev().find(|(_, seen)| is(seen));
        *found.unwrap_or_else(|| panic!("nobody is {address}")).0
    }

    pub(crate) fn address(&self, node: NodeId) -> String {
        let spawned = self.seen.get(&node).and_then(|seen| seen.spawned.as_ref());
        spawned.map_or_else(|| "assistant".to_owned(), |spawned| spawned.address.clone())
    }

    fn last_call(&self, node: NodeId) -> CallId {
        self.seen.get(&node).map_or(CallId::of(node, 0), |seen| seen.last_call)
    }

    /// How a call ended, and what the model reads of it.
    pub(crate) fn result(&self, call: CallId) -> Option<(Ending, &str)> {
        self.records.iter().find_map(|record| match record.whose().1 {
            Record::CallEnded { call: id, ending, text, .. } if *id == call => Some((ending.clone(), text.as_str())),
            _ => None,
        })
    }

    pub(crate) fn ok(&self, call: CallId) -> &str {
        let (ending, text) = self.result(call).unwrap_or_else(|| panic!("{call} has not ended"));
        assert_eq!(ending, Ending::Ok, "{text}");
        text
    }

    pub(crate) fn failed(&self, call: CallId) -> &str {
        let (ending, text) = self.result(call).unwrap_or_else(|| panic!("{call} has not ended"));
        assert_eq!(ending, Ending::Failed, "{text}");
        text
    }

    /// How a node's last turn ended.
    pub(crate) fn end(&self, node: impl Into<Who>) -> Option<TurnEnd> {
        let node = self.node(node);
        self.records.iter().rev().find_map(|record| match record.whose() {
            (of, Record::TurnEnded { end, .. }) if of == node => Some(end.clone()),
            _ => None,
        })
    }

    /// What a node's model reads next, the newest message last.
    pub(crate) fn reads(&self, node: impl Into<Who>) -> Vec<String> {
        let node = self.node(node);
        self.requests[&node]
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::User(user) => Some(user.text.clone()),
                Message::Assistant(_) | Message::Result(_) => None,
            })
            .collect()
    }

    pub(crate) fn wires(&self, node: impl Into<Who>) -> Vec<String> {
        let node = self.node(node);
        self.requests[&node].tools.iter().map(|tool| tool.wire.to_string()).collect()
    }

    pub(crate) fn alerts(&self) -> Vec<(NodeId, &str)> {
        self.events
            .iter()
            .filter_map(|(node, event)| match event {
                Event::Alert(alert) => Some((*node, alert.message.as_str())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn undelivered(&self) -> Vec<(&str, &str, &str)> {
        self.records
            .iter()
            .filter_map(|record| match record {
                Record::Undelivered { from, to, text, .. } => Some((from.as_str(), to.as_str(), text.as_str())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn cards(&self) -> Vec<&Ask> {
        self.open
            .iter()
            .filter_map(|wanted| match wanted {
                Wanted::Card(ask) => Some(&**ask),
                _ => None,
            })
            .collect()
    }

    // The driver.

    pub(crate) fn run(&mut self, node: NodeId, input: Input) {
        self.step(TreeInput::Run { node, input });
    }

    pub(crate) fn step(&mut self, input: TreeInput) {
        self.effects.clear();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            self.now += 7;
            let moment = Moment { now: self.now, random: self.now.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15) };
            if let TreeInput::Run {
                input: Input::ToolEnded { .. } | Input::Answered { .. } | Input::Checked { .. },
                ..
            }
            | TreeInput::Wired { .. }
            | TreeInput::Kept { .. }
            | TreeInput::Requested { .. } = &input
            {
                self.past.push(input.clone());
            }
            if let TreeInput::Run { input: Input::ToolEnded { call, .. }, .. } = &input {
                self.open.retain(|wanted| wanted.call() != Some(*call));
            }
            let effects = self.tree.step(moment, &mut self.world, input);
            for (node, effect) in effects {
                self.effects.push((node, effect.clone()));
                self.check_order(node, &effect);
                self.carry_out(node, effect, &mut inputs);
            }
            if self.prompt && inputs.is_empty() {
                let now = self
                    .open
                    .iter()
                    .position(|wanted| matches!(wanted, Wanted::Wire(_) | Wanted::Asking(..) | Wanted::Ending(..)));
                if let Some(place) = now {
                    let wanted = self.open.remove(place);
                    inputs.push_back(match wanted {
                        Wanted::Wire(wiring) => {
                            TreeInput::Wired { call: wiring.call, worker: self.wire(&wiring).map(Box::new) }
                        }
                        Wanted::Asking(call, request) => TreeInput::Requested { call, request },
                        Wanted::Ending(call, outcome) => {
                            TreeInput::Run { node: call.node(), input: Input::ToolEnded { call, outcome } }
                        }
                        _ => unreachable!("one of these"),
                    });
                }
            }
        }
    }

    /// Builds a worker by the world's own order, each build reported first (P8).
    pub(crate) fn wire(&mut self, wiring: &Wiring) -> Result<Worker, String> {
        if let Some(why) = self.broken.get(&wiring.agent) {
            return Err(why.clone());
        }
        let mut resident = Vec::new();
        for slot in self.world.wiring(&wiring.agent, &[]) {
            if let Slot::Toolset(name, Arrival::Resident | Arrival::Skill) = slot {
                let built = build(&name);
                report(&mut self.world, &built)?;
                resident.push(built);
            }
        }
        let opener = wiring.instructions.clone().unwrap_or_else(|| format!("You are {}.", wiring.agent));
        Ok(Worker { spec: spec(&self.setup, wiring.agent.as_str(), opener), resident, model: "tiny:1b".to_owned() })
    }

    fn carry_out(&mut self, node: NodeId, effect: Effect, inputs: &mut VecDeque<TreeInput>) {
        match effect {
            Effect::Record(record) => self.recorded(record),
            Effect::Audit(draft) => {
                let agent = self.tree.run(node).map(Run::agent);
                // Who has just ended is not there to be asked.
                assert!(agent.is_none() || draft.entry().agent.as_ref() == agent, "K5: whose entry it is");
            }
            Effect::Tell(event) => self.told(node, event),
            Effect::CallModel(request) => {
                self.open.retain(|wanted| *wanted != Wanted::Retry(node));
                assert!(!self.open.iter().any(|wanted| wanted.node() == node), "something of {node} is open");
                self.requests.insert(node, *request);
                self.open.push(Wanted::Model(node));
            }
            Effect::CancelModel => {
                self.open.retain(|wanted| !matches!(wanted, Wanted::Model(of) | Wanted::Retry(of) if *of == node));
            }
            Effect::RetryAfter { .. } => self.open.push(Wanted::Retry(node)),
            Effect::Check { call, tool, arguments: given } => {
                let run = self.tree.run(node).expect("it runs");
                let definition = run.definition(&tool).expect("a definition");
                let arguments = arguments::check(tool.name.as_str(), &definition.schema, given);
                inputs.push_back(TreeInput::Run { node, input: Input::Checked { call, arguments } });
            }
            Effect::Ask(ask) => self.open.push(Wanted::Card(ask)),
            Effect::Withdraw { call } => {
                let withdrawn = |wanted: &Wanted| matches!(wanted, Wanted::Card(ask) if ask.call == call);
                assert!(self.open.iter().any(withdrawn), "an open card is withdrawn");
                self.open.retain(|wanted| !withdrawn(wanted));
            }
            Effect::Grant { .. } => {}
            Effect::Run { call, tool, arguments } => {
                self.open.push(match request(tool.name.as_str(), &arguments) {
                    Some(request) => Wanted::Asking(call, request),
                    None => Wanted::Tool(call, tool),
                });
            }
            Effect::CancelRun { call } => {
                self.cancelled.insert(call);
                self.open.retain(|wanted| wanted.call() != Some(call));
            }
            Effect::Spawn(wiring) => self.open.push(Wanted::Wire(wiring)),
            Effect::Keep { .. } => inputs.push_back(TreeInput::Kept { node, file: self.shelf.clone() }),
            Effect::Reply { call, outcome } => {
                assert_eq!(self.endings.get(&call), Some(&0), "{call} is answered while it runs");
                let answered = |wanted: &Wanted| matches!(wanted, Wanted::Ending(id, _) if *id == call);
                assert!(!self.open.iter().any(answered), "{call} is answered once");
                self.open.push(Wanted::Ending(call, outcome));
            }
            Effect::Load { .. } | Effect::Delegate { .. } | Effect::Unread { .. } => panic!("never leaves: {effect:?}"),
        }
    }

    fn recorded(&mut self, record: Record) {
        let (node, own) = record.whose();
        assert!(!matches!(own, Record::Worker { .. }), "wrapped once");
        let seen = self.seen.get_mut(&node).expect("spawned");
        match own {
            Record::ModelCall { message, .. } => {
                self.open.retain(|wanted| !matches!(wanted, Wanted::Model(of) | Wanted::Retry(of) if *of == node));
                for call in message.calls() {
                    assert_eq!(call.id.node(), node, "D5: a call's number names its agent");
                    assert!(call.id > seen.last_call, "numbers go up and are never used again");
                    seen.last_call = call.id;
                    assert_eq!(self.endings.insert(call.id, 0), None);
                }
            }
            Record::CallEnded { call, .. } => {
                assert_eq!(call.node(), node);
                let count = self.endings.get_mut(call).expect("a recorded call");
                *count += 1;
                assert_eq!(*count, 1, "{call} has one ending");
                self.open.retain(|wanted| wanted.call() != Some(*call));
            }
            Record::TurnStarted { .. } => {
                assert!(node.is_entry() || matches!(seen.last, Some(Record::Spawned(_))), "D5");
                seen.open = true;
            }
            _ => {}
        }
        seen.last = Some(own.clone());
        self.records.push(record);
    }

    fn told(&mut self, node: NodeId, event: Event) {
        // The next try of a call that carries something else takes its place.
        if let Event::Call(line) = &event {
            let mine = |(of, _): &&mut (NodeId, Event)| *of == node;
            let again = self
                .events
                .iter_mut()
                .rev()
                .filter(mine)
                .take_while(|(_, told)| !matches!(told, Event::TurnStarted { .. }))
                .find(|(_, told)| matches!(told, Event::Call(told) if told.number == line.number));
            if let Some((_, told)) = again {
                *told = event;
                return;
            }
        }
        let over = matches!(event, Event::End { .. });
        self.events.push((node, event));
        if over {
            self.ended(node);
        }
    }

    /// An agent has ended: nothing of it is open, nobody below it runs, and its log replays as what was told.
    fn ended(&mut self, node: NodeId) {
        let below: Vec<_> = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.open && seen.spawned.as_ref().is_some_and(|spawned| spawned.call.node() == node))
            .map(|(node, _)| *node)
            .collect();
        assert_eq!(below, [], "nobody below {node} runs when it ends");
        let seen = self.seen.get_mut(&node).expect("it was there");
        assert!(matches!(seen.last, Some(Record::TurnEnded { .. })), "D5: its last record is its end");
        seen.open = false;
        let left: Vec<_> = self.endings.iter().filter(|(call, count)| call.node() == node && **count != 1).collect();
        assert!(left.is_empty(), "every call of {node} has its one ending: {left:?}");
        let open: Vec<_> = self.open.iter().filter(|wanted| wanted.node() == node).collect();
        assert!(open.is_empty(), "nothing of {node} is open: {open:?}");
        let of = |events: &[(NodeId, Event)]| {
            // A mode that comes while a model call runs is in the log before that call, which is recorded when it ends.
            let mine = |(of, event): &&(NodeId, Event)| *of == node && !matches!(event, Event::Mode { .. });
            let own: Vec<_> = events.iter().filter(mine).map(|(_, event)| event.clone()).collect();
            told(&own)
        };
        pretty_assertions::assert_eq!(of(&self.events), of(&replay(&self.records)), "a log replays as what was told");
        if node.is_entry() {
            assert!(self.seen.values().all(|seen| !seen.open), "the entry agent's end is the last");
            assert!(self.open.is_empty(), "nothing is open between turns: {:?}", self.open);
        }
    }

    /// D5: what comes of an agent begins with its `Spawned` and ends with its end.
    fn check_order(&mut self, node: NodeId, effect: &Effect) {
        if let Effect::Record(record) = effect
            && let (of, Record::Spawned(spawned)) = record.whose()
        {
            assert!(!self.seen.contains_key(&of), "numbers of agents are never used again");
            let parent = self.seen.get(&spawned.call.node()).expect("a delegator");
            assert!(parent.open, "who spawns runs");
            let (spawned, last_call) = (Some(spawned.clone()), CallId::of(of, 0));
            self.seen.insert(of, Seen { spawned, open: true, last: None, last_call });
        }
        let seen = self.seen.get(&node).unwrap_or_else(|| panic!("{node} is not there yet: {effect:?}"));
        let between_turns = match effect {
            Effect::Keep { .. } => true,
            // The entry agent is there between turns too.
            Effect::Record(Record::TurnStarted { .. } | Record::Mode { .. } | Record::Preloaded { .. })
            | Effect::Audit(_)
            | Effect::Tell(Event::Alert(_) | Event::Mode { .. }) => node.is_entry(),
            _ => false,
        };
        assert!(seen.open || between_turns, "nothing comes of {node} after its end: {effect:?}");
    }
}

/// An agent, by number or address.
pub(crate) enum Who {
    Node(NodeId),
    Address(String),
}

impl From<NodeId> for Who {
    fn from(node: NodeId) -> Self {
        Self::Node(node)
    }
}

impl From<&str> for Who {
    fn from(address: &str) -> Self {
        Self::Address(address.to_owned())
    }
}

fn spec(setup: &Setup, name: &str, opener: String) -> AgentSpec {
    AgentSpec {
        name: AgentName::new(name),
        node: ENTRY,
        address: None,
        above: Vec::new(),
        conversation: "c1".to_owned(),
        opener,
        max_iterations: setup.max,
        concurrent_tools: setup.together,
        max_attempts: 2,
        conditions: Conditions::default(),
    }
}

fn tree(world: &mut World, setup: &Setup, records: &[Record]) -> Tree {
    let resident = world.resident(&AgentName::new("assistant")).iter().map(build).collect();
    let run = Run::new(spec(setup, "assistant", "You help.".to_owned()), world, resident, Vec::new(), records);
    Tree::new(run, records, setup.depth)
}

/// What a tool of `messaging` or `capabilities` asks, as those tools do.
fn request(tool: &str, arguments: &Value) -> Option<AgentsRequest> {
    let word = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    let words = |key: &str| {
        let list = arguments[key].as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    Some(match tool {
        "send_message" => AgentsRequest::Send { to: word("to"), text: word("text") },
        "list_agents" => AgentsRequest::List,
        "check_agent" => AgentsRequest::Check { address: word("address") },
        "await_agents" => AgentsRequest::Await { addresses: words("addresses") },
        "stop_agent" => AgentsRequest::Stop { address: word("address") },
        "list_capabilities" => AgentsRequest::Capabilities { filter: word("filter") },
        "compose_subagent" => AgentsRequest::Compose {
            label: word("name"),
            task: word("task"),
            toolsets: words("tools"),
            instructions: word("instructions"),
        },
        _ => return None,
    })
}

/// Arguments of `spawn_subagent`.
pub(crate) fn spawn(agent: &str) -> (&'static str, Value) {
    ("spawn_subagent", json!({"agent_type": agent, "task": format!("be a {agent}")}))
}

pub(crate) fn spawn_behind(agent: &str) -> (&'static str, Value) {
    ("spawn_subagent", json!({"agent_type": agent, "task": format!("be a {agent}"), "background": true}))
}

pub(crate) fn send(to: &str, text: &str) -> (&'static str, Value) {
    ("send_message", json!({"to": to, "text": text}))
}

pub(crate) fn wait_for(addresses: &[&str]) -> (&'static str, Value) {
    ("await_agents", json!({"addresses": addresses}))
}

pub(crate) fn compose(name: &str, tools: &[&str]) -> (&'static str, Value) {
    ("compose_subagent", json!({"name": name, "task": "help", "tools": tools, "instructions": ""}))
}

pub(crate) fn ground(seen: &Seen) -> Ground {
    seen.spawned.as_ref().map_or(Ground::Foreground, |spawned| spawned.ground)
}
