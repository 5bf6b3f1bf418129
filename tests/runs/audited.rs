//! K5: what a run says to the audit, in which order, and that arguments are only beside it.

use kokua::access::audit::{Draft, Gate, Outcome, What};
use kokua::access::offer::Filter;
use kokua::access::{Answer, Attendance, GateList, Span, Spanned, World};
use kokua::agent::{CallId, Delta, Effect, Input, Moment, Run};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::house;

struct Bench {
    world: World,
    run: Run,
}

impl Bench {
    fn new() -> Self {
        let mut world = house::world(&[]);
        let run = house::run(&mut world, house::spec(10, true, 1), &[]);
        Self { world, run }
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        self.run.step(Moment { now: 5, random: 0 }, &mut self.world, input)
    }

    fn say(&mut self, attendance: Attendance) -> Vec<Effect> {
        self.step(Input::Said { text: "go".to_owned(), attendance, only: None })
    }

    /// The model calls one tool, and its arguments fit as they are.
    fn calls(&mut self, name: &str, arguments: &str) -> Vec<Effect> {
        self.step(Input::Delta(Delta::CallStart { index: 0, id: String::new(), name: name.to_owned() }));
        self.step(Input::Delta(Delta::CallArguments { index: 0, text: arguments.to_owned() }));
        let effects = self.step(Input::ModelEnded(Ok(())));
        let check = effects.iter().find_map(|effect| match effect {
            Effect::Check { call, arguments, .. } => Some((*call, arguments.clone())),
            _ => None,
        });
        match check {
            Some((call, arguments)) => self.step(Input::Checked { call, arguments: Ok(arguments) }),
            None => effects,
        }
    }
}

fn drafts(effects: &[Effect]) -> Vec<&Draft> {
    let drafts = effects.iter().filter_map(|effect| match effect {
        Effect::Audit(draft) => Some(&**draft),
        _ => None,
    });
    drafts.collect()
}

fn place(effects: &[Effect], what: impl Fn(&Effect) -> bool) -> usize {
    effects.iter().position(what).unwrap_or_else(|| panic!("{effects:#?}"))
}

#[test]
fn k5_a_call_is_audited_before_it_runs_with_canonical_arguments_beside_it() {
    let mut bench = Bench::new();
    bench.say(Attendance::Attended);
    let effects = bench.calls("read_file", "{\"b\": 1, \"a\": \"secret\"}");
    let [draft] = drafts(&effects)[..] else { panic!("{effects:#?}") };
    assert_eq!(draft.arguments(), Some("{\"a\":\"secret\",\"b\":1}"));
    assert!(!serde_json::to_string(draft.entry()).unwrap().contains("secret"));
    let What::Call(call) = &draft.entry().what else { panic!("{draft:?}") };
    assert_eq!((call.call, &call.outcome, &call.gate, &call.answer), (1, &Outcome::Dispatched, &None, &None));
    assert_eq!(call.tool.as_ref().unwrap().to_string(), "fs.read_file");
    let audit = place(&effects, |effect| matches!(effect, Effect::Audit(_)));
    assert!(audit < place(&effects, |effect| matches!(effect, Effect::Run { .. })));
}

#[test]
fn k5_an_automatic_denial_is_an_answer_and_a_call_that_was_not_allowed() {
    let mut bench = Bench::new();
    bench.say(Attendance::Unattended);
    let effects = bench.calls("run_command", "{}");
    let [answer, call] = drafts(&effects)[..] else { panic!("{effects:#?}") };
    let denied = Answer::AutoDenied { reason: "nobody is here to ask".to_owned() };
    let gate = Gate {
        list: GateList::Confirm,
        entry: "compute.run_command".to_owned(),
        source: "from [assistant.tools] line 3".to_owned(),
    };
    let What::Answer { answer, gate: by, .. } = &answer.entry().what else { panic!("{answer:?}") };
    assert_eq!((answer, by.as_ref()), (&denied, Some(&gate)));
    let What::Call(call) = &call.entry().what else { panic!("{call:?}") };
    assert_eq!(
        (&call.outcome, call.answer.as_ref(), call.gate.as_ref()),
        (&Outcome::NotAllowed, Some(&denied), Some(&gate))
    );
    assert_eq!(call.attendance, Attendance::Unattended);
}

#[test]
fn k5_arguments_that_are_no_json_and_names_that_nothing_has_are_refusals() {
    let mut bench = Bench::new();
    bench.say(Attendance::Attended);
    let effects = bench.calls("read_file", "{\"path\": \"sec");
    let [draft] = drafts(&effects)[..] else { panic!("{effects:#?}") };
    assert_eq!(draft.arguments(), Some("{\"path\": \"sec"), "as received");
    assert!(matches!(&draft.entry().what, What::Call(call) if call.outcome == Outcome::InvalidArguments));
    let effects = bench.calls(&"x".repeat(5_000), "{}");
    let [draft] = drafts(&effects)[..] else { panic!("{effects:#?}") };
    let What::Call(call) = &draft.entry().what else { panic!("{draft:?}") };
    assert_eq!((&call.outcome, &call.tool), (&Outcome::Unknown, &None));
    assert!(call.wire.len() < 100, "bounded");
}

#[test]
fn k5_an_edited_call_is_audited_with_what_the_person_made_of_it() {
    let mut bench = Bench::new();
    bench.say(Attendance::Attended);
    bench.calls("run_command", "{\"command\":\"ls\"}");
    let call = CallId(1);
    bench.step(Input::Edited { call, arguments: "{\"command\":\"pwd\"}".to_owned() });
    bench.step(Input::Checked { call, arguments: Ok(json!({"command": "pwd"})) });
    let effects = bench.step(Input::Answered { call, answer: Answer::AllowedOnce });
    let arguments: Vec<_> = drafts(&effects).iter().map(|draft| draft.arguments()).collect();
    assert_eq!(arguments, [Some("{\"command\":\"pwd\"}"); 2]);
}

#[test]
fn k5_of_withholding_only_the_change_is_said() {
    let mut bench = Bench::new();
    let switch = |bench: &mut Bench, names: &[&str]| {
        let off = names.iter().map(|name| Spanned::new(house::toolset(name), Span::default()));
        bench.world.switch_off(off.collect()).unwrap();
    };
    let withheld = |effects: &[Effect]| -> Vec<String> {
        let drafts = drafts(effects);
        let changes = drafts.iter().flat_map(|draft| match &draft.entry().what {
            What::Withheld { model_call, changes } => changes
                .iter()
                .map(|change| {
                    let names: Vec<_> = change.tools.iter().map(ToString::to_string).collect();
                    let toolsets: Vec<_> = change.toolsets.iter().map(ToString::to_string).collect();
                    let filter = change.withheld.as_ref().map(|withheld| withheld.filter);
                    assert!(filter.is_none_or(|filter| filter == Filter::SwitchedOff));
                    let what = if filter.is_some() { "off" } else { "on" };
                    format!("{model_call}: {} {} {what}", names.join(" "), toolsets.join(" "))
                })
                .collect(),
            _ => Vec::new(),
        });
        changes.collect()
    };
    let answered = |bench: &mut Bench| {
        bench.step(Input::Delta(Delta::Text { text: "Ok.".to_owned() }));
        bench.step(Input::ModelEnded(Ok(())));
    };
    assert_eq!(withheld(&bench.say(Attendance::Attended)), [""; 0], "not loaded is nobody's decision");
    answered(&mut bench);
    switch(&mut bench, &["fs", "todo"]);
    assert_eq!(withheld(&bench.say(Attendance::Attended)), ["1: fs.list_directory fs.read_file todo off"]);
    answered(&mut bench);
    assert_eq!(withheld(&bench.say(Attendance::Attended)), [""; 0], "unchanged");
    answered(&mut bench);
    switch(&mut bench, &["fs"]);
    assert_eq!(withheld(&bench.say(Attendance::Attended)), ["1:  todo on"]);
    answered(&mut bench);
    // A new life has no call before: all that is withheld is said again.
    bench.run = house::run(&mut bench.world, house::spec(10, true, 1), &[]);
    assert_eq!(withheld(&bench.say(Attendance::Attended)), ["1: fs.list_directory fs.read_file  off"]);
}

#[test]
fn k5_a_call_that_could_not_be_audited_ends_as_refused_and_only_while_it_runs() {
    let mut bench = Bench::new();
    bench.say(Attendance::Attended);
    bench.calls("run_command", "{}");
    let call = CallId(1);
    let why = || "full".to_owned();
    assert_eq!(bench.step(Input::KeptBack { call, why: why() }), [], "it waits for an answer");
    bench.step(Input::Answered { call, answer: Answer::AllowedOnce });
    let effects = bench.step(Input::KeptBack { call, why: why() });
    let [draft] = drafts(&effects)[..] else { panic!("{effects:#?}") };
    assert!(matches!(&draft.entry().what, What::Call(call) if matches!(call.outcome, Outcome::Refused { .. })));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::CallModel(_))), "the turn goes on");
    assert_eq!(bench.step(Input::KeptBack { call, why: why() }), [], "it has its ending");
}
