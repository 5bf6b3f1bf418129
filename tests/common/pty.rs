//! The real binary in a real pty, read through a terminal emulator. Waits are on what the screen says, never on time.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Home;

/// How long a screen may take to say what it is waited for to say, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_mins(2);

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Bytes of `raw` that the screen shows.
    shown: usize,
    ended: bool,
}

impl Seen {
    /// Shows what came, as a terminal does: a synchronized update not before it is whole.
    fn show(&mut self) {
        let begun = rfind(&self.raw, b"\x1b[?2026h");
        let whole = rfind(&self.raw, b"\x1b[?2026l");
        let until = match begun {
            Some(begun) if !self.ended && whole.is_none_or(|whole| whole < begun) => begun,
            _ => self.raw.len(),
        };
        if until > self.shown {
            self.parser.process(&self.raw[self.shown..until]);
            self.shown = until;
        }
    }
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}

/// A running program and its screen.
pub(crate) struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    modes_before: String,
}

/// The tested binary.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_kokua");

/// What the kernel does with keys and lines: everything that `stty -a` tells.
fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

impl Terminal {
    /// Starts the binary at `columns`×`rows`.
    pub(crate) fn start(home: &Home, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_program(home, &[&[BINARY], arguments].concat(), columns, rows)
    }

    /// Starts a program with its arguments, in the environment of [`Home`].
    pub(crate) fn start_program(home: &Home, program: &[&str], columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::from_argv(program.iter().map(Into::into).collect());
        command.env_clear();
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.cwd(home.work());
        let modes_before = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let parser = vt100::Parser::new(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap(), 0);
        let seen = Arc::new((Mutex::new(Seen { parser, raw: Vec::new(), shown: 0, ended: false }), Condvar::new()));
        let told = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let (lock, changed) = &*told;
                let mut seen = lock.lock().unwrap();
                seen.raw.extend_from_slice(&buffer[..read]);
                seen.ended = read == 0;
                seen.show();
                changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Self { seen, writer: pair.master.take_writer().unwrap(), child, master: pair.master, modes_before }
    }

    /// What the screen shows now.
    pub(crate) fn text(&self) -> String {
        self.seen.0.lock().unwrap().parser.screen().contents()
    }

    /// Every byte the program wrote so far.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().raw.clone()
    }

    /// Waits until the screen satisfies `wanted`; the screen then.
    pub(crate) fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let (lock, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = lock.lock().unwrap();
        loop {
            let text = seen.parser.screen().contents();
            if wanted(&text) {
                return text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "the screen never showed {what}:\n{text}");
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Waits until the screen holds `words`.
    pub(crate) fn wait_for(&self, words: &str) -> String {
        self.wait(words, |text| text.contains(words))
    }

    /// Waits until the screen no longer holds `words`.
    pub(crate) fn wait_gone(&self, words: &str) -> String {
        self.wait(&format!("without {words}"), |text| !text.contains(words))
    }

    /// Waits until the bytes written so far satisfy `wanted`.
    pub(crate) fn wait_raw(&self, what: &str, wanted: impl Fn(&[u8]) -> bool) {
        let (lock, changed) = &*self.seen;
        let deadline = Instant::now() + PATIENCE;
        let mut seen = lock.lock().unwrap();
        while !wanted(&seen.raw) {
            let left = deadline.saturating_duration_since(Instant::now());
            let text = seen.parser.screen().contents();
            assert!(!left.is_zero() && !seen.ended, "the program never wrote {what}:\n{text}");
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Whether the kernel's modes of the terminal are those from before the program.
    pub(crate) fn modes_are_as_before(&self) -> bool {
        modes(&*self.master) == self.modes_before
    }

    /// Whether the real cursor is shown, and where it stands: row and column from 0.
    pub(crate) fn cursor(&self) -> Option<(u16, u16)> {
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        (!screen.hide_cursor()).then(|| screen.cursor_position())
    }

    /// Types bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
        self.writer.flush().unwrap();
    }

    /// Types text.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.send(text.as_bytes());
    }

    /// Types a line, waits until it stands in the composer, and sends it.
    pub(crate) fn say(&mut self, text: &str) {
        self.type_text(text);
        self.wait_for(text);
        self.send(b"\r");
    }

    /// Another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.seen
            .0
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap());
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// The program's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Sends a signal to the program.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the program.
    pub(crate) fn exit(mut self) -> Exited {
        {
            let (lock, changed) = &*self.seen;
            let deadline = Instant::now() + PATIENCE;
            let mut seen = lock.lock().unwrap();
            while !seen.ended {
                let left = deadline.saturating_duration_since(Instant::now());
                assert!(!left.is_zero(), "the program did not end:\n{}", seen.parser.screen().contents());
                seen = changed.wait_timeout(seen, left).unwrap().0;
            }
        }
        let status = self.child.wait().unwrap();
        Exited {
            code: status.exit_code(),
            raw: self.raw(),
            text: self.text(),
            modes_are_as_before: self.modes_are_as_before(),
        }
    }
}

/// A program that has ended, and what it left behind.
#[derive(Debug)]
pub(crate) struct Exited {
    /// Its exit code.
    pub(crate) code: u32,
    /// Everything it wrote.
    pub(crate) raw: Vec<u8>,
    /// What the screen shows.
    pub(crate) text: String,
    /// Whether the kernel's modes of the terminal are those from before the program.
    pub(crate) modes_are_as_before: bool,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ended = self.child.kill();
    }
}
