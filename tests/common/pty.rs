//! The real binary in a real pty, read through a terminal emulator. Waits are on what the screen says, never on time.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Home;

/// How long a screen may take to say what it is waited for to say, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(40);

struct Seen {
    parser: vt100::Parser,
    bytes: usize,
    raw: Vec<u8>,
    ended: bool,
}

/// A running program and its screen.
pub(crate) struct Terminal {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the binary at `columns`×`rows`.
    pub(crate) fn start(home: &Home, arguments: &[&str], columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_kokua"));
        command.args(arguments);
        command.env_clear();
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        command.cwd(home.work());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let parser = vt100::Parser::new(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap(), 0);
        let seen = Arc::new((Mutex::new(Seen { parser, bytes: 0, raw: Vec::new(), ended: false }), Condvar::new()));
        let told = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let (lock, changed) = &*told;
                let mut seen = lock.lock().unwrap();
                if read == 0 {
                    seen.ended = true;
                    changed.notify_all();
                    return;
                }
                seen.parser.process(&buffer[..read]);
                seen.bytes += read;
                seen.raw.extend_from_slice(&buffer[..read]);
                changed.notify_all();
            }
        });
        Self { seen, writer: pair.master.take_writer().unwrap(), child, master: pair.master }
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

    /// Waits for the end; the exit code.
    pub(crate) fn exit(mut self) -> (u32, Vec<u8>) {
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
        (status.exit_code(), self.raw())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ended = self.child.kill();
    }
}
