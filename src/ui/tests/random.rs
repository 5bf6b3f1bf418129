//! Whatever is pressed, pasted, told and resized: nothing panics, and what was typed is somewhere.

use proptest::prelude::*;

use super::asks::{asked, spawned};
use super::*;
use crate::agent::{Ground, NodeId};
use crate::ui::inbox::CardId;
use crate::ui::{KeyCode, Modifiers, Mouse, MouseKind};

fn any_key() -> impl Strategy<Value = Key> {
    let code = prop_oneof![
        8 => any::<char>().prop_map(KeyCode::Char),
        30 => proptest::sample::select("asdDvnpgy/jklotrf?NqzhbwukeZ ".chars().collect::<Vec<_>>()).prop_map(KeyCode::Char),
        20 => proptest::sample::select(vec![
            KeyCode::Enter, KeyCode::Tab, KeyCode::Esc, KeyCode::Backspace, KeyCode::Delete, KeyCode::Up, KeyCode::Down,
            KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::PageDown,
        ]),
        6 => (1u8..=12).prop_map(KeyCode::F),
    ];
    let modifiers = prop_oneof![
        10 => Just(Modifiers::NONE),
        4 => Just(Modifiers::CTRL),
        1 => Just(Modifiers::ALT),
        1 => Just(Modifiers::SHIFT),
    ];
    (code, modifiers).prop_map(|(code, modifiers)| Key::new(code, modifiers))
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        Just(session(None)),
        Just(Event::Replayed),
        Just(started()),
        any::<String>().prop_map(|text| said(&text)),
        any::<String>().prop_map(|text| delta(&text)),
        any::<String>().prop_map(|text| Event::Reasoning { text }),
        any::<String>().prop_map(|text| Event::Queued { text }),
        (1u32..4, any::<bool>()).prop_map(|(number, with)| call(number, &["todo"], with)),
        (1u32..4).prop_map(used),
        (0u64..6).prop_map(|number| tool_call(number, "compute", "run_command", json!({"command": "x"}))),
        (0u64..6).prop_map(command_ask),
        (0u64..6).prop_map(write_ask),
        (0u64..6, any::<String>()).prop_map(|(number, text)| ask(number, json!({"a\u{1b}b": text, "n": [1, 2]}))),
        (0u64..6).prop_map(|number| result(number, Ending::Interrupted, "")),
        (0u64..6).prop_map(|number| Event::Running { call: CallId(number), for_ms: 0 }),
        (0u64..6).prop_map(|number| Event::Answer { call: CallId(number), answer: crate::access::Answer::Expired }),
        any::<String>().prop_map(|message| Event::Retrying { message, ms: 5_000, attempt: 2 }),
        Just(Event::Report(Box::new(report()))),
        Just(conversations()),
        proptest::sample::select(three_agents().to_vec()),
        (any::<String>(), any::<bool>()).prop_map(|(text, held)| {
            let reasons = vec![Reason { text, place: None }];
            let found = |reasons: &[Reason]| Finding { yes: held, reasons: reasons.to_vec() };
            let explanation = Box::new(crate::access::Explanation {
                available: found(&reasons),
                held: found(&reasons),
                offered: found(&[]),
                approval: Approval {
                    list: held.then_some(GateList::Review),
                    answered_by: AnsweredBy::Person,
                    reasons: reasons.clone(),
                },
                dispatched: found(&reasons),
                outcome: Outcome::Asks,
            });
            Event::Explained { agent: AgentName::new("assistant"), tool: tool("compute", "run_command"), explanation }
        }),
        (0u64..3, any::<String>()).prop_map(|(parent, text)| {
            Event::Spawned(Box::new(crate::agent::Spawned {
                at: NOW,
                call: CallId(parent << 32),
                agent: AgentName::new("coder"),
                address: text.clone(),
                task: text.clone(),
                model: text,
                ground: crate::agent::Ground::Background,
                toolsets: Vec::new(),
            }))
        }),
        any::<String>().prop_map(|text| Event::Waiting { workers: vec![text] }),
        any::<String>().prop_map(|text| Event::Undelivered { from: text.clone(), to: text.clone(), text }),
        any::<String>()
            .prop_map(|text| Event::Said { text: format!("[message from a#1] {text}"), origin: UserOrigin::Agent }),
        Just(Event::Diagnostics { lines: vec!["one\u{1b}[2J".to_owned(), String::new()] }),
        Just(ended()),
    ]
}

fn told(conversation: &str, node: NodeId, event: Event) -> Step {
    Step::Msg(Msg::Update(Box::new(Update { conversation: conversation.to_owned(), node, event })))
}

/// Workers spawn workers, whose calls are made, asked about and ended in any order.
fn any_event_of_a_worker() -> impl Strategy<Value = Step> {
    let conversation = proptest::sample::select(vec!["c1", "c1", "c1", "c2"]);
    let call = || (0u32..5, 0u32..4).prop_map(|(node, number)| CallId::of(NodeId(node), number));
    let agent = proptest::sample::select(vec!["coder", "composed:tidy", "composed:\u{202e}x\n"]);
    let event = prop_oneof![
        4 => (call(), agent.clone(), any::<bool>()).prop_map(|(call, agent, waits)| {
            let ground = if waits { Ground::Foreground } else { Ground::Background };
            spawned(call, agent, "coder#1", ground)
        }),
        4 => call().prop_map(|call| Event::ToolCall {
            call,
            tool: Some(ToolId::core("spawn_subagent")),
            risk: Some(Risk::Exec),
            wire: "spawn_subagent".to_owned(),
            arguments: json!({"agent_type": "coder", "task": "t"}),
        }),
        6 => (call(), agent, 0u64..3).prop_map(|(call, agent, number)| {
            let Event::Ask { ask, preview, changed, .. } = asked(call, &[agent, "assistant"], command_ask(0)) else {
                unreachable!()
            };
            Event::Ask { ask, preview, changed, showing: number }
        }),
        2 => call().prop_map(|call| Event::Running { call, for_ms: 0 }),
        2 => call().prop_map(|call| Event::Answer { call, answer: crate::access::Answer::AllowedForConversation }),
        2 => call().prop_map(|call| Event::ToolResult {
            call,
            ending: Ending::Ok,
            text: String::new(),
            note: None,
            took_ms: 1,
        }),
        1 => Just(Event::Held { id: "c9".to_owned(), holder: "it is open\u{1b}[2J elsewhere".to_owned() }),
        2 => any_event(),
    ];
    (conversation, 0u32..5, event).prop_map(|(conversation, node, event)| {
        let node = if matches!(event, Event::Session { .. } | Event::Replayed) { NodeId::ENTRY } else { NodeId(node) };
        told(conversation, node, event)
    })
}

#[derive(Debug, Clone)]
enum Step {
    Msg(Msg),
    Draw,
    Wait(i64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![(0u16..12, 0u16..8), (50u16..70, 10u16..30), (100u16..210, 14u16..60)];
    prop_oneof![
        12 => any_key().prop_map(|key| Step::Msg(Msg::Key(key))),
        6 => any_event().prop_map(|event| told("c1", NodeId::ENTRY, event)),
        6 => any_event_of_a_worker(),
        2 => (proptest::sample::select(vec!["c1", "c2", "c3", ""]), any_event()).prop_map(|(conversation, event)| {
            let mut event = event;
            if let Event::Session { conversation: of, .. } = &mut event {
                conversation.clone_into(of);
            }
            told(conversation, NodeId::ENTRY, event)
        }),
        1 => any::<String>().prop_map(|text| Step::Msg(Msg::Paste(text))),
        1 => (1usize..40).prop_map(|lines| Step::Msg(Msg::Paste("line\n".repeat(lines)))),
        1 => size.prop_map(|(width, height)| Step::Msg(Msg::Resize { width, height })),
        1 => (0u16..210, 0u16..60, 0usize..3).prop_map(|(column, row, kind)| {
            let kind = [MouseKind::Press, MouseKind::ScrollUp, MouseKind::ScrollDown][kind];
            Step::Msg(Msg::Mouse(Mouse { kind, column, row }))
        }),
        1 => any::<bool>().prop_map(|focused| Step::Msg(Msg::Focus(focused))),
        6 => Just(Step::Draw),
        3 => (-1_000i64..3_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(steps in proptest::collection::vec(any_step(), 1..80)) {
        let mut ui = screen(80, 24);
        let mut now = NOW;
        for step in steps {
            match step {
                Step::Msg(msg) => {
                    let is_key = matches!(msg, Msg::Key(_));
                    let ready = ui.focus() == crate::ui::Focus::Card
                        && ui.inbox().shown().is_some_and(|card| card.inert_for(now) == 0);
                    let reason = match &ui.prompt {
                        Some(crate::ui::pane::Prompt::Reason { card, .. }) => Some(card.clone()),
                        _ => None,
                    };
                    let shown = ui.inbox().shown().map(|card| (card.id(), card.showing.number));
                    let denied = reason.and_then(|id| {
                        let card = ui.inbox().cards().find(|card| card.id() == id)?;
                        Some((id, card.showing.number))
                    });
                    let cmds = update(&mut ui, msg, now);
                    for command in submitted(&cmds) {
                        let Command::Answer { conversation, call, showing, .. } = command else { continue };
                        let answered = (CardId { conversation: conversation.clone(), call: *call }, *showing);
                        prop_assert!(
                            shown.as_ref() == Some(&answered) || denied.as_ref() == Some(&answered),
                            "{answered:?} was not on the screen"
                        );
                    }
                    let allowed = submitted(&cmds).iter().any(|command| matches!(command, Command::Answer { answer:
                        crate::access::Answer::AllowedOnce | crate::access::Answer::AllowedForConversation, .. }));
                    prop_assert!(!allowed || (is_key && ready), "only a key on a focused card that is ready allows");
                }
                Step::Draw if ui.width > 0 && ui.height > 0 => { frame(&mut ui, now); }
                Step::Draw => {}
                Step::Wait(ms) => now += ms,
            }
            if let Some(ms) = ui.next_wake(now) {
                prop_assert!(ms >= 1);
            }
        }
    }

    #[test]
    fn every_size_can_be_drawn(width in 1u16..220, height in 1u16..70, card in any::<bool>(), pane in 0usize..10) {
        let mut ui = begun(width, height);
        tell_all(&mut ui, [conversations()]);
        if card {
            turn_with_card(&mut ui);
        }
        tell_all(&mut ui, three_agents());
        let keys =
            ["F2", "F3", "F4", "F6", "F1", "Ctrl+P", "Ctrl+Y", "Ctrl+F", "F4 m Right", "F4 m Down Enter Enter"];
        let cmds = press_all(&mut ui, keys[pane], NOW, 1);
        explained(&mut ui, &cmds);
        frame(&mut ui, NOW);
    }
}
