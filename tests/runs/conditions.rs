//! Triggers and loads over several turns: what a run remembers of its conversation, and what it does not look at.

use kokua::access::{Attendance, Trigger, World};
use kokua::agent::{Delta, Effect, Ending, Input, Message, Moment, Record, Request, Run, ToolOutcome};

use crate::house;

/// A run, its world, what it recorded and its last request.
struct Talk {
    world: World,
    run: Run,
    records: Vec<Record>,
    request: Option<Request>,
    /// The number of its next call.
    next: u64,
}

impl Talk {
    fn step(&mut self, input: Input) {
        for effect in self.run.step(Moment { now: 0, random: 0 }, &mut self.world, input) {
            match effect {
                Effect::Record(record) => self.records.push(record),
                Effect::CallModel(request) => self.request = Some(*request),
                _ => {}
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.step(Input::Said { text: text.to_owned(), attendance: Attendance::Attended, only: None });
    }

    fn answer(&mut self, text: &str) {
        self.step(Input::Delta(Delta::Text { text: text.to_owned() }));
        self.step(Input::ModelEnded(Ok(())));
    }

    /// The model calls a tool without arguments; its call's number.
    fn call(&mut self, tool: &str, arguments: &serde_json::Value) -> kokua::agent::CallId {
        let call = kokua::agent::CallId(self.next);
        self.next += 1;
        self.step(Input::Delta(Delta::CallStart { index: 0, id: "p".to_owned(), name: tool.to_owned() }));
        self.step(Input::Delta(Delta::CallArguments { index: 0, text: arguments.to_string() }));
        self.step(Input::ModelEnded(Ok(())));
        self.step(Input::Checked { call, arguments: Ok(arguments.clone()) });
        call
    }

    fn load(&mut self, toolset: &str) {
        let call = self.call("load_tools", &serde_json::json!({ "name": toolset }));
        let build = house::build(toolset);
        self.world.report_build(&build.toolset, &house::facts(&build)).unwrap();
        self.step(Input::LoadEnded { call, result: Ok(build) });
    }

    fn carries(&self, wire: &str) -> bool {
        self.request.as_ref().unwrap().tools.iter().any(|tool| tool.wire.as_str() == wire)
    }

    /// The results that the last request carries.
    fn results(&self) -> Vec<&str> {
        let messages = &self.request.as_ref().unwrap().messages;
        let result = |message: &&'_ Message| matches!(message, Message::Result(_));
        messages
            .iter()
            .filter(result)
            .map(|message| match message {
                Message::Result(result) => result.text.as_str(),
                _ => "",
            })
            .collect()
    }
}

fn talk(mut world: World, records: Vec<Record>, waits: bool) -> Talk {
    let mut fs = house::build("fs");
    if waits {
        fs.tools[0].facts.trigger = Some(Trigger::Link);
    }
    let mut preloaded = Vec::new();
    for name in kokua::agent::loads(&records) {
        let build = house::build(&name);
        world.report_build(&build.toolset, &house::facts(&build)).unwrap();
        preloaded.push(build);
    }
    let run = Run::new(house::spec(10, true, 1), &world, vec![fs, house::build("compute")], preloaded, &records);
    Talk { world, run, records, request: None, next: 1 }
}

#[test]
fn w7_only_a_persons_words_of_the_last_three_messages_hold_a_trigger() {
    let mut talk = talk(house::world(&[]), Vec::new(), true);
    talk.say("look around");
    assert!(!talk.carries("list_directory"));
    // A link in a result and one in an answer are nobody's request.
    let call = talk.call("read_file", &serde_json::json!({}));
    let text = "see https://example.org".to_owned();
    talk.step(Input::ToolEnded { call, outcome: ToolOutcome { ending: Ending::Ok, text, note: None } });
    assert!(!talk.carries("list_directory"));
    talk.answer("It says https://example.org.");
    talk.say("then");
    assert!(!talk.carries("list_directory"));
    // Said while it works: with the next call.
    let call = talk.call("read_file", &serde_json::json!({}));
    talk.say("I mean http://example.org/a");
    let text = "nothing".to_owned();
    talk.step(Input::ToolEnded { call, outcome: ToolOutcome { ending: Ending::Ok, text, note: None } });
    assert!(talk.carries("list_directory"));
    for (words, holds) in [("one", true), ("two", true), ("three", false)] {
        talk.answer("Ok.");
        talk.say(words);
        assert_eq!(talk.carries("list_directory"), holds, "{words}");
    }
    // It was held all the while.
    assert!(talk.run.held().by_declared("list_directory").is_some());
}

const GUIDANCE: &str = "List before saying empty.";

#[test]
fn r18_guidance_stays_in_the_history_and_loads_are_read_from_endings_alone() {
    let mut first = talk(house::world(&[]), Vec::new(), false);
    first.say("load");
    first.load("documents");
    for _ in 0..5 {
        first.answer("Ok.");
        first.say("go on");
    }
    assert!(first.results().iter().any(|text| text.ends_with(GUIDANCE)), "the load's result is still there");
    first.answer("Ok.");
    assert_eq!(kokua::agent::loads(&first.records), ["documents"]);
    // Whatever becomes of the texts, by which a request could be shortened: the ending is what counts.
    let mut shortened = first.records.clone();
    for record in &mut shortened {
        match record {
            Record::CallEnded { text, .. } => "(shortened)".clone_into(text),
            Record::ModelCall { message, .. } => message.parts.clear(),
            _ => {}
        }
    }
    assert_eq!(kokua::agent::loads(&shortened), ["documents"]);
    let mut again = talk(house::world(&[]), shortened, false);
    assert!(again.run.system().contains(GUIDANCE), "restored with its guidance in the prompt");
    again.say("again");
    assert!(again.carries("save_document"));
    // And a text that says it was loaded, behind another ending, is no load.
    let mut claimed = first.records;
    for record in &mut claimed {
        if let Record::CallEnded { ending, .. } = record {
            *ending = Ending::Ok;
        }
    }
    assert_eq!(kokua::agent::loads(&claimed), Vec::<String>::new());
    let mut none = talk(house::world(&[]), claimed, false);
    none.say("again");
    assert!(!none.carries("save_document"));
    assert!(!none.run.system().contains(GUIDANCE));
}
