//! The release binary in a real pty, measured from outside on the rehearsal model: start, memory, idling, streams, keys.
//!
//! It prints figures and asserts nothing about them. `KOKUA_BIN` names another binary than the one built beside it.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "time is what is measured, and the files are its own")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use kokua::access::{AgentName, Attendance};
use kokua::agent::message::UserMessage;
use kokua::agent::{AssistantMessage, CallKind, OfferRecord, Part, Record, StopReason, TurnEnd, Usage, UserOrigin};
use kokua::store::{self, Log};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use tempfile::TempDir;

const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
/// After this long without a byte a turn is over: while one runs, a clock of seconds moves.
const QUIET: Duration = Duration::from_millis(1_600);
/// How long the slowest of all may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// Letters that no streamed word holds.
const KEYS: [char; 6] = ['J', 'K', 'V', 'X', 'Y', 'Z'];

/// Scenes that stream so many words, at three paces.
const SCRIPT: &str = r#"
pace_ms = 0

[[scene]]
name = "at 100 a second"
said = ["slow {count:number}"]
pace_ms = 10
word_count = "{count}"

[[scene]]
name = "a millisecond apart"
said = ["quick {count:number}"]
pace_ms = 1
word_count = "{count}"

[[scene]]
name = "as fast as they come"
said = ["fast {count:number}"]
word_count = "{count}"

[[scene]]
name = "anything else"
text = "yes"
"#;

/// A `$KOKUA_HOME` with the shipped configuration, and a script.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("script.toml"), SCRIPT).unwrap();
        let home = Self { folder };
        let mut command = std::process::Command::new(binary());
        command.args(["config", "init"]).env_clear().envs(home.environment()).current_dir(home.folder.path());
        let made = command.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        home
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let own = |path: &str| self.folder.path().join(path).display().to_string();
        vec![
            ("HOME", own("")),
            ("KOKUA_HOME", own("kokua")),
            ("KOKUA_MODEL", format!("rehearsal:{}", own("script.toml"))),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("TZ", "UTC".to_owned()),
        ]
    }

    fn conversations(&self) -> PathBuf {
        store::directory(&self.folder.path().join("kokua/data"))
    }

    /// Writes a conversation of so many turns, each of a question and an answer.
    fn converse(&self, id: &str, turns: usize) {
        const AT: i64 = 1_790_000_000_000;
        let mut records = Vec::new();
        for number in 0..turns {
            let message = UserMessage { text: format!("question {number}"), origin: UserOrigin::Person };
            let text = "An answer that has **some** words in it, and a few more.\n\n- and\n- a list\n".to_owned();
            records.push(Record::TurnStarted { at: AT, attendance: Attendance::Attended, agent: None, message });
            records.push(Record::ModelCall {
                at: AT,
                number: 1,
                kind: CallKind::Agent,
                message: AssistantMessage { parts: vec![Part::Text { text }], stop: Some(StopReason::End) },
                offer: OfferRecord::default(),
                usage: Usage { input: Some(900), output: Some(80), cached: None },
                took_ms: 900,
                failure: None,
            });
            records.push(Record::TurnEnded { at: AT, end: TurnEnd::Answered });
        }
        let mut log = Log::create(&self.conversations(), id, &AgentName::new("assistant"), AT).unwrap();
        log.append_all(&records).unwrap();
    }
}

fn binary() -> PathBuf {
    std::env::var_os("KOKUA_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_kokua")), PathBuf::from)
}

struct Seen {
    screen: vt100::Parser,
    bytes: usize,
    /// When the last bytes came.
    at: Instant,
    ended: bool,
}

/// A running program.
struct Program {
    started: Instant,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
}

impl Program {
    fn start(home: &Home) -> Self {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(binary());
        command.env_clear();
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.cwd(home.folder.path());
        let screen = vt100::Parser::new(NonZeroU16::new(ROWS).unwrap(), NonZeroU16::new(COLUMNS).unwrap(), 0);
        let seen = Seen { screen, bytes: 0, at: Instant::now(), ended: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let told = Arc::clone(&seen);
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let at = Instant::now();
                let (lock, changed) = &*told;
                let mut seen = lock.lock().unwrap();
                seen.screen.process(&buffer[..read]);
                seen.bytes += read;
                seen.at = at;
                seen.ended = read == 0;
                changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self { started, seen, writer, child, _master: pair.master }
    }

    /// When the bytes came after which the screen is as `wanted`.
    fn wait(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) -> Instant {
        let (lock, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = lock.lock().unwrap();
        while !wanted(seen.screen.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "never {what}:\n{}", seen.screen.screen().contents());
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
        seen.at
    }

    /// Waits until nothing came for [`QUIET`]; when the last bytes came.
    fn rest(&self) -> Instant {
        let (lock, changed) = &*self.seen;
        let mut seen = lock.lock().unwrap();
        loop {
            let quiet = seen.at.elapsed();
            if quiet >= QUIET || seen.ended {
                return seen.at;
            }
            seen = changed.wait_timeout(seen, QUIET.saturating_sub(quiet)).unwrap().0;
        }
    }

    fn send(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    fn bytes(&self) -> usize {
        self.seen.0.lock().unwrap().bytes
    }

    /// Seconds of both clocks that the program used so far.
    fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(self.proc("stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        ticks / 100.0
    }

    /// Resident and anonymous memory, MB.
    fn memory(&self) -> String {
        let rollup = fs::read_to_string(self.proc("smaps_rollup")).unwrap();
        let of = |key: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
        };
        format!("RSS {:.1} MB, anonymous {:.1} MB", of("Rss:"), of("Anonymous:"))
    }

    fn proc(&self, file: &str) -> PathBuf {
        Path::new("/proc").join(self.child.process_id().unwrap().to_string()).join(file)
    }

    /// Waits for something on the screen; how long that took since the start, milliseconds.
    fn first_frame(&self) -> f64 {
        let at = self.wait("a frame", |screen| !screen.contents().trim().is_empty());
        milliseconds(at - self.started)
    }

    /// Sends a line once it stands in the composer.
    fn say(&mut self, line: &str) {
        self.send(line);
        self.wait(line, |screen| screen.contents().contains(line));
        self.send("\r");
    }

    /// Presses a key; milliseconds until the screen shows it.
    fn key(&mut self, key: char) -> f64 {
        let count = |screen: &vt100::Screen| screen.contents().matches(key).count();
        let before = count(self.seen.0.lock().unwrap().screen.screen());
        let pressed = Instant::now();
        self.send(&key.to_string());
        milliseconds(self.wait("an echo", |screen| count(screen) > before) - pressed)
    }

    /// Presses so many keys, some time apart, and clears the composer.
    fn keys(&mut self, count: usize) -> Vec<f64> {
        let mut took = Vec::new();
        for number in 0..count {
            took.push(self.key(KEYS[number % KEYS.len()]));
            // Out of step with frames.
            std::thread::sleep(Duration::from_millis(60 + (number as u64 * 17) % 50));
        }
        self.send(&"\x7f".repeat(count));
        took
    }

    /// Says `line` and waits for the end of the answer: what it took.
    fn stream(&mut self, line: &str) -> String {
        self.rest();
        let (cpu, bytes, began) = (self.cpu(), self.bytes(), Instant::now());
        self.say(line);
        let ended = self.rest();
        format!(
            "{:.2} s, CPU {:.2} s, {:.1} KiB to the terminal",
            (ended - began).as_secs_f64(),
            self.cpu() - cpu,
            (self.bytes() - bytes) as f64 / 1024.0
        )
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

fn spread(mut took: Vec<f64>) -> String {
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took[((took.len() - 1) as f64 * part).round() as usize];
    format!("median {:.1} ms, p95 {:.1} ms, most {:.1} ms", at(0.5), at(0.95), at(1.0))
}

fn starts(home: &Home) -> String {
    spread((0..10).map(|_| Program::start(home).first_frame()).collect())
}

fn say(what: &str, figure: &str) {
    println!("{what:<52} {figure}");
}

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    say("binary", &format!("{:.1} MB", fs::metadata(binary()).unwrap().len() as f64 / 1e6));
    let home = Home::new();
    say("start to first frame, nothing stored", &starts(&home));

    let mut program = Program::start(&home);
    program.first_frame();
    program.rest();
    say("idle", &program.memory());
    let (cpu, bytes) = (program.cpu(), program.bytes());
    std::thread::sleep(Duration::from_secs(5));
    say("idle for 5 s", &format!("CPU {:.2} s, {} bytes", program.cpu() - cpu, program.bytes() - bytes));
    say("key to echo, idle", &spread(program.keys(60)));
    // Titles are made after the first turn, which is not what is measured.
    program.stream("hello");
    say("1,000 deltas at 100 a second", &program.stream("slow 1000"));
    program.rest();
    program.say("slow 1500");
    std::thread::sleep(Duration::from_secs(1));
    say("key to echo while that streams", &spread(program.keys(80)));
    program.rest();
    say("5,000 deltas a millisecond or two apart", &program.stream("quick 5000"));
    say("20,000 deltas as fast as they come", &program.stream("fast 20000"));
    say("after that", &program.memory());
    drop(program);

    let home = Home::new();
    for number in 0..1_000 {
        home.converse(&format!("c{number:04}"), 1);
    }
    say("first start with 1,000 conversations", &format!("{:.1} ms", Program::start(&home).first_frame()));
    Program::start(&home).rest();
    say("start to first frame, 1,000 conversations", &starts(&home));

    let home = Home::new();
    home.converse("long", 5_000);
    let program = Program::start(&home);
    let frame = program.first_frame();
    let shown = program.wait("the conversation", |screen| screen.contents().contains("question 4999"));
    say(
        "a conversation of 10,000 messages",
        &format!("first frame {frame:.1} ms, shown {:.1} ms", milliseconds(shown - program.started)),
    );
    program.rest();
    say("with it, idle", &program.memory());
}
