//! What the whole screen costs with a long transcript: a frame, a new size, a key with its echo, an open ledger, and a tree
//! of 200 workers. Budgets: a frame of 100,000 lines, or with 200 workers, at 200×60 within 8 ms, a new size within 30 ms.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use kokua::access::held::Arrival;
use kokua::access::offer::{Filter, LedgerTool, LedgerToolset, RowState, Withheld};
use kokua::access::{AgentName, Attendance, Ledger, Risk, ToolId, ToolName, ToolsetName};
use kokua::agent::message::CallKind;
use kokua::agent::{CallId, CallLine, Ending, Event, Ground, NodeId, Spawned, TurnEnd, Update, Usage, UserOrigin};
use kokua::ui::theme::{Colours, Theme};
use kokua::ui::{Key, KeyCode, KeyMap, Modifiers, Msg, Settings, Ui, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const WIDTH: u16 = 200;
const HEIGHT: u16 = 60;
/// Of 33 lines and more at the transcript's width: 100,000 lines.
const ANSWERS: usize = 3_000;
const NOW: i64 = 1_790_000_000_000;

fn tell(ui: &mut Ui, event: Event) {
    update(
        ui,
        Msg::Update(Box::new(Update { conversation: "c1".to_owned(), node: kokua::agent::NodeId::ENTRY, event })),
        NOW,
    );
}

/// A paragraph, a list, a table and twelve lines of code.
fn answer(number: usize) -> String {
    let mut text =
        format!("## Part {number}\n\nSome *emphasis*, `code` and a [link](https://example.org/{number}).\n\n");
    text.push_str(&"The words of a paragraph go on for a while so that they wrap. ".repeat(8));
    text.push_str("\n\n- one point\n- another, **strong**\n  - nested\n\n```rust\n");
    for line in 0..12 {
        let _ = writeln!(text, "fn part_{line}(number: u32) -> String {{ format!(\"{{number}} of {line}\") }} // why");
    }
    text.push_str("```\n\n| name | what | bytes |\n|---|---|---:|\n| fs | reads | 120 |\n| web | fetches | 3,400 |\n");
    text
}

/// A screen that was told `answers` turns.
fn screen(answers: usize) -> Ui {
    let mut ui = Ui::new(Settings {
        theme: Theme::shipped("default", Colours::Ansi).expect("it ships"),
        colours: Colours::Ansi,
        keys: KeyMap::default(),
        mouse: false,
        bell: false,
        reasoning: false,
    });
    update(&mut ui, Msg::Resize { width: WIDTH, height: HEIGHT }, NOW);
    tell(
        &mut ui,
        Event::Session {
            conversation: "c1".to_owned(),
            title: Some("a long one".to_owned()),
            agent: AgentName::new("assistant"),
            mode: kokua::access::ModeName::new("work"),
            model: "rehearsal".to_owned(),
            rehearsal: true,
            window: None,
            tool_limit: None,
            read_only: None,
        },
    );
    for number in 0..answers {
        tell(&mut ui, Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None });
        tell(&mut ui, Event::Said { text: format!("question {number}"), origin: UserOrigin::Person });
        tell(&mut ui, Event::Delta { text: answer(number) });
        tell(&mut ui, Event::End { end: TurnEnd::Answered, took_ms: 0 });
    }
    tell(&mut ui, Event::Replayed);
    ui
}

fn frame(terminal: &mut Terminal<TestBackend>, ui: &mut Ui) {
    terminal.draw(|frame| view(ui, frame, NOW)).expect("memory");
}

fn press(ui: &mut Ui, code: KeyCode) {
    black_box(update(ui, Msg::Key(Key::plain(code)), NOW));
}

fn long(criterion: &mut Criterion) {
    let mut ui = screen(ANSWERS);
    let mut terminal = Terminal::new(TestBackend::new(WIDTH, HEIGHT)).expect("memory");
    frame(&mut terminal, &mut ui);
    criterion.bench_function("screen/frame, 100,000 lines", |bench| bench.iter(|| frame(&mut terminal, &mut ui)));
    criterion.bench_function("screen/key to echo, 100,000 lines", |bench| {
        let mut typed = false;
        bench.iter(|| {
            press(&mut ui, if typed { KeyCode::Backspace } else { KeyCode::Char('k') });
            typed = !typed;
            frame(&mut terminal, &mut ui);
        });
    });
    criterion.bench_function("screen/a page up, 100,000 lines", |bench| {
        bench.iter(|| {
            press(&mut ui, KeyCode::PageUp);
            frame(&mut terminal, &mut ui);
        });
    });
    // Every size is new: nothing that was laid out for an earlier one helps.
    let mut width = WIDTH;
    criterion.bench_function("screen/resize, 100,000 lines", |bench| {
        bench.iter(|| {
            width = if width > 120 { width - 1 } else { WIDTH };
            terminal.backend_mut().resize(width, HEIGHT);
            update(&mut ui, Msg::Resize { width, height: HEIGHT }, NOW);
            frame(&mut terminal, &mut ui);
        });
    });
}

/// What criterion does not tell: the 99th percentile of a frame, over still ones, pages never laid out before, and keys.
fn percentile(_: &mut Criterion) {
    let mut ui = screen(ANSWERS);
    let mut terminal = Terminal::new(TestBackend::new(WIDTH, HEIGHT)).expect("memory");
    let mut times: Vec<_> = (0..3_000)
        .map(|number| {
            let began = Instant::now();
            match number % 3 {
                0 => press(&mut ui, KeyCode::PageUp),
                1 => press(&mut ui, KeyCode::Char('k')),
                _ => {}
            }
            frame(&mut terminal, &mut ui);
            began.elapsed()
        })
        .collect();
    times.sort();
    let of = |part: usize| times[(times.len() * part / 1_000).min(times.len() - 1)];
    println!("screen/frame, 100,000 lines: median {:?}, p99 {:?}, slowest {:?}\n", of(500), of(990), of(1_000));
}

/// One frame of a stream: what has come in 33 ms at 100 pieces a second, on a 120×40 screen.
fn stream(criterion: &mut Criterion) {
    let words: String = "light falls through the open door and stays a while on stone. ".repeat(90);
    let pieces: Vec<&str> = words.split_inclusive(' ').collect();
    criterion.bench_function("screen/1,000 deltas in 300 frames at 120×40", |bench| {
        bench.iter_batched(
            || {
                let mut ui = screen(1);
                tell(&mut ui, Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None });
                tell(&mut ui, Event::Said { text: "stream".to_owned(), origin: UserOrigin::Person });
                (ui, Terminal::new(TestBackend::new(120, 40)).expect("memory"))
            },
            |(mut ui, mut terminal)| {
                for (number, piece) in pieces.iter().take(1_000).enumerate() {
                    tell(&mut ui, Event::Delta { text: (*piece).to_owned() });
                    if number % 10 < 3 {
                        frame(&mut terminal, &mut ui);
                    }
                }
                (ui, terminal)
            },
            criterion::BatchSize::PerIteration,
        );
    });
}

/// 200 workers with 20 calls each in the state, half of them running: a frame of the tree, one of a worker's transcript, and
/// a frame for each of what they are told. Budget: p99 within 8 ms at 200×60.
fn workers(criterion: &mut Criterion) {
    const WORKERS: u32 = 200;
    const CALLS: u32 = 20;
    let of = |ui: &mut Ui, node: NodeId, event: Event| {
        update(ui, Msg::Update(Box::new(Update { conversation: "c1".to_owned(), node, event })), NOW);
    };
    let line = |number: u32| {
        Event::Call(CallLine {
            number,
            kind: CallKind::Agent,
            tools: 9,
            tool_bytes: 5_000,
            resident: Vec::new(),
            loaded: Vec::new(),
            grown: Vec::new(),
            ledger: None,
        })
    };
    let mut ui = screen(3);
    let started = || Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None };
    tell(&mut ui, started());
    tell(&mut ui, Event::Said { text: "all of you".to_owned(), origin: UserOrigin::Person });
    tell(&mut ui, line(1));
    for number in 1..=WORKERS {
        let node = NodeId(number);
        // Every tenth spawns the nine after it.
        let parent = if number % 10 == 0 { NodeId::ENTRY } else { NodeId(number / 10 * 10) };
        let by = CallId::of(parent, 1_000 + number);
        let arguments = serde_json::json!({"agent_type": "coder", "task": "look at the part"});
        let (tool, risk, wire) = (Some(ToolId::core("spawn_subagent")), Some(Risk::Read), "spawn_subagent".to_owned());
        of(&mut ui, parent, Event::ToolCall { call: by, tool, risk, wire, arguments });
        of(&mut ui, parent, Event::Running { call: by, for_ms: 0 });
        let spawned = Spawned {
            at: NOW,
            call: by,
            agent: AgentName::new("coder"),
            address: format!("coder#{number}"),
            task: "look at the part and say what it does".to_owned(),
            model: "instant".to_owned(),
            ground: Ground::Foreground,
            toolsets: Vec::new(),
        };
        of(&mut ui, node, Event::Spawned(Box::new(spawned)));
        of(&mut ui, node, started());
        for call in 1..=CALLS {
            of(&mut ui, node, line(call));
            of(&mut ui, node, Event::Delta { text: answer(usize::try_from(call).unwrap_or(0)) });
            let usage = Usage { input: Some(6_000), output: Some(200), cached: None };
            of(&mut ui, node, Event::Usage { number: call, usage, took_ms: 3 });
            let id = CallId::of(node, call);
            let tool = ToolId::of(&ToolsetName::new("fs"), &ToolName::new("read_file"));
            let arguments = serde_json::json!({"path": format!("part-{call}.rs")});
            let (tool, risk, wire) = (Some(tool), Some(Risk::Read), "read_file".to_owned());
            of(&mut ui, node, Event::ToolCall { call: id, tool, risk, wire, arguments });
            of(&mut ui, node, Event::Running { call: id, for_ms: 0 });
            // The last call of every second one still runs.
            if call < CALLS || number % 2 == 0 {
                let (ending, text) = (Ending::Ok, "a line of it\n".repeat(20));
                of(&mut ui, node, Event::ToolResult { call: id, ending, text, note: None, took_ms: 1 });
            }
        }
        if number % 2 == 0 {
            of(&mut ui, node, Event::End { end: TurnEnd::Answered, took_ms: 90 });
        }
    }
    let mut terminal = Terminal::new(TestBackend::new(WIDTH, HEIGHT)).expect("memory");
    press(&mut ui, KeyCode::F(2));
    frame(&mut terminal, &mut ui);
    assert!(format!("{}", terminal.backend()).contains("101 of 201 run"), "the tree is there");
    let mut times: Vec<_> = (0..2_000u32)
        .map(|number| {
            let node = NodeId(number % (WORKERS / 2) * 2 + 1);
            let began = Instant::now();
            // What one of them is told, and a row on in the tree; now and then another one's transcript.
            of(&mut ui, node, Event::Writing { tool: "fs.write_file".to_owned(), bytes: 40 });
            press(&mut ui, KeyCode::Down);
            if number % 7 == 0 {
                press(&mut ui, KeyCode::Enter);
                press(&mut ui, KeyCode::F(2));
            }
            frame(&mut terminal, &mut ui);
            began.elapsed()
        })
        .collect();
    times.sort();
    let at = |part: usize| times[(times.len() * part / 1_000).min(times.len() - 1)];
    println!(
        "screen/frame, 200 workers of 20 calls: median {:?}, p99 {:?}, slowest {:?}\n",
        at(500),
        at(990),
        at(1_000)
    );
    criterion.bench_function("screen/frame, 200 workers of 20 calls in the tree", |bench| {
        bench.iter(|| frame(&mut terminal, &mut ui));
    });
    criterion.bench_function("screen/told and drawn, 200 workers of 20 calls", |bench| {
        bench.iter(|| {
            of(&mut ui, NodeId(1), Event::Delta { text: "word ".to_owned() });
            frame(&mut terminal, &mut ui);
        });
    });
}

/// The ledger of a call with 500 tools and 50 deferred toolsets, open.
fn ledger(criterion: &mut Criterion) {
    let tool = |number: usize| LedgerTool {
        tool: ToolId::of(
            &ToolsetName::new(format!("server-{}", number / 10)),
            &ToolName::new(format!("tool_{number}")),
        ),
        arrival: Arrival::Resident,
        risk: Risk::Network,
        bytes: 400 + number * 7 % 900,
        state: if number % 10 == 3 {
            let reason = "[toolsets].disabled names it".to_owned();
            RowState::Withheld(Withheld { filter: Filter::SwitchedOff, reason })
        } else {
            RowState::Offered
        },
    };
    let deferred = |number: usize| LedgerToolset {
        toolset: ToolsetName::new(format!("skill-{number}")),
        last_build: (!number.is_multiple_of(3)).then(|| {
            (
                (0..8).map(|tool| ToolName::new(format!("tool_{tool}_of_{number}"))).collect(),
                4_000 + number * 31 % 2_000,
            )
        }),
        withheld: Withheld { filter: Filter::NotLoaded, reason: "not loaded".to_owned() },
    };
    let ledger = Ledger { tools: (0..500).map(tool).collect(), deferred: (0..50).map(deferred).collect() };
    let line = CallLine {
        number: 1,
        kind: CallKind::Agent,
        tools: 450,
        tool_bytes: 350_000,
        resident: Vec::new(),
        loaded: Vec::new(),
        grown: Vec::new(),
        ledger: Some(ledger),
    };
    let mut ui = screen(1);
    tell(&mut ui, Event::TurnStarted { at: NOW, attendance: Attendance::Attended, agent: None });
    tell(&mut ui, Event::Call(line));
    let shift_tab = Key { code: KeyCode::Tab, modifiers: Modifiers { shift: true, ..Modifiers::default() } };
    update(&mut ui, Msg::Key(shift_tab), NOW);
    press(&mut ui, KeyCode::Char('k'));
    press(&mut ui, KeyCode::Enter);
    let mut terminal = Terminal::new(TestBackend::new(WIDTH, HEIGHT)).expect("memory");
    frame(&mut terminal, &mut ui);
    assert!(format!("{}", terminal.backend()).contains("held, the largest first"), "it is open");
    criterion.bench_function("screen/frame, a ledger of 500 tools and 50 deferred toolsets", |bench| {
        bench.iter(|| frame(&mut terminal, &mut ui));
    });
    criterion.bench_function("screen/scrolled, a ledger of 500 tools and 50 deferred toolsets", |bench| {
        bench.iter(|| {
            press(&mut ui, KeyCode::Down);
            frame(&mut terminal, &mut ui);
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = long, percentile, stream, ledger, workers
}
criterion_main!(benches);
