//! A window of lines of one file. A file of any size is read through once, and only the window is kept.

#![expect(clippy::disallowed_methods, reason = "the user's files are looked at here; errors name the path as written")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::super::Cancel;
use super::paths::reason;
use crate::tool::Output;
use crate::tool::output::{count, cut_marker, head};

/// Bytes of text one window holds.
const MAX_BYTES: usize = 50_000;

/// Bytes of one line; a longer one is cut and says so.
const MAX_LINE_BYTES: usize = 10_000;

/// Bytes of a file that are looked through; a larger file is read up to here.
const MAX_SCAN: u64 = 64 * 1024 * 1024;

/// Lines `offset` (from 1) on, at most `max_lines` and [`MAX_BYTES`]. `text` is the path as written.
pub(super) fn read(path: &Path, text: &str, offset: i64, max_lines: i64, cancel: &Cancel) -> Result<Output, String> {
    let first = usize::try_from(offset).ok().filter(|offset| *offset >= 1).ok_or_else(|| {
        format!("offset must be 1 or greater (it is 1-indexed; the first line is offset=1), got {offset}")
    })?;
    let limit = usize::try_from(max_lines)
        .ok()
        .filter(|lines| *lines >= 1)
        .ok_or_else(|| format!("max_lines must be 1 or greater, got {max_lines}"))?;
    let failed = |error: &std::io::Error| format!("Cannot read {text}: {}", reason(error));
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Err(failed(&error)),
        Err(_) => return Err(format!("File does not exist: {text}")),
    };
    // Opening a pipe or a device could wait for ever.
    if !metadata.is_file() {
        return Err(format!("Not a file: {text}"));
    }
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mut scan = Scan::new(first, limit);
    let mut reader = BufReader::with_capacity(64 * 1024, file.take(MAX_SCAN));
    loop {
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        let chunk = reader.fill_buf().map_err(|error| failed(&error))?;
        if chunk.is_empty() {
            break;
        }
        scan.push(chunk);
        let used = chunk.len();
        reader.consume(used);
    }
    scan.end();
    scan.answer(text, metadata.len() > MAX_SCAN)
}

/// What is kept while a file goes by.
struct Scan {
    first: usize,
    limit: usize,
    /// Lines that ended so far.
    lines: usize,
    /// The window's lines.
    kept: Vec<String>,
    kept_bytes: usize,
    /// No further line fits.
    full: bool,
    /// The line that is being read: its head, and how many bytes it has.
    line: Vec<u8>,
    line_bytes: usize,
    /// Bytes in the window that were no UTF-8.
    replaced: usize,
}

impl Scan {
    fn new(first: usize, limit: usize) -> Self {
        Self {
            first,
            limit,
            lines: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            full: false,
            line: Vec::new(),
            line_bytes: 0,
            replaced: 0,
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (body, ended) = match part.strip_suffix(b"\n") {
                Some(body) => (body, true),
                None => (part, false),
            };
            if self.wants_line() {
                let room = (MAX_LINE_BYTES + 4).saturating_sub(self.line.len());
                self.line.extend(body.iter().take(room));
            }
            self.line_bytes += body.len();
            if ended {
                self.end_line();
            }
        }
    }

    /// The last line need not end with a newline.
    fn end(&mut self) {
        if self.line_bytes > 0 {
            self.end_line();
        }
    }

    fn wants_line(&self) -> bool {
        !self.full && self.lines + 1 >= self.first && self.kept.len() < self.limit
    }

    fn end_line(&mut self) {
        if self.wants_line() {
            let text = self.take_line();
            // The first line of a window is always shown, or it could never be read.
            if self.kept.is_empty() || self.kept_bytes + text.len() < MAX_BYTES {
                self.kept_bytes += text.len() + 1;
                self.kept.push(text);
            } else {
                self.full = true;
            }
        }
        self.lines += 1;
        self.line.clear();
        self.line_bytes = 0;
    }

    fn take_line(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.line);
        self.replaced += text.matches('\u{fffd}').count();
        let text = text.strip_suffix('\r').unwrap_or(&text);
        if self.line_bytes <= MAX_LINE_BYTES {
            return text.to_owned();
        }
        let head = head(text, MAX_LINE_BYTES);
        format!("{head} {}", cut_marker(self.line_bytes.saturating_sub(head.len())))
    }

    fn answer(self, text: &str, cut_short: bool) -> Result<Output, String> {
        let total = if cut_short {
            format!("more than {} (only the first 64 MiB were looked at)", self.lines)
        } else {
            self.lines.to_string()
        };
        if self.kept.is_empty() && self.first == 1 {
            return Ok(Output::ok("(empty file)").with_note("empty"));
        }
        if self.kept.is_empty() {
            return Err(format!("offset {} is past the end of {text}: it has {total} lines", self.first));
        }
        let last = self.first + self.kept.len() - 1;
        let shown = self.kept.len();
        let mut answer = self.kept.join("\n");
        if last < self.lines || cut_short {
            answer.push_str(&format!(
                "\n... (truncated: showing lines {}-{last} of {total}; call read_file with offset={} to continue)",
                self.first,
                last + 1
            ));
        }
        if self.replaced > 0 {
            answer.push_str("\n(not all of it is UTF-8 text; what is not is shown as \u{fffd})");
        }
        Ok(Output::ok(answer).with_note(count(shown, "line", "lines")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scanned(bytes: &[u8], cuts: usize, first: usize, limit: usize) -> Result<Output, String> {
        let mut scan = Scan::new(first, limit);
        bytes.chunks(cuts.max(1)).for_each(|chunk| scan.push(chunk));
        scan.end();
        scan.answer("f", false)
    }

    #[test]
    fn a_window_says_where_it_stands_and_how_to_go_on() {
        let text = |bytes: &[u8], first, limit| scanned(bytes, 7, first, limit).map(|output| output.text);
        assert_eq!(text(b"a\nb\nc\n", 1, 10).unwrap(), "a\nb\nc");
        assert_eq!(
            text(b"a\nb\nc\nd", 2, 2).unwrap(),
            "b\nc\n... (truncated: showing lines 2-3 of 4; call read_file with offset=4 to continue)"
        );
        assert_eq!(text(b"a\nb", 3, 2).unwrap_err(), "offset 3 is past the end of f: it has 2 lines");
        assert_eq!(text(b"", 1, 2).unwrap(), "(empty file)");
        assert_eq!(text(b"\n\n", 1, 2).unwrap(), "\n");
        assert_eq!(text(b"a\r\nb\r\n", 1, 2).unwrap(), "a\nb");
    }

    #[test]
    fn long_lines_and_long_windows_are_cut_and_say_so() {
        let line = "é".repeat(20_000);
        let output = scanned(line.as_bytes(), 4096, 1, 1).unwrap().text;
        assert!(output.ends_with("[... truncated 30000 more bytes]"), "{}", output.len());
        let many = format!("{}\n", "x".repeat(999)).repeat(100);
        let output = scanned(many.as_bytes(), 4096, 1, 2_000).unwrap();
        assert!(output.text.len() < MAX_BYTES + 200);
        assert!(output.text.ends_with("showing lines 1-50 of 100; call read_file with offset=51 to continue)"));
    }

    #[test]
    fn what_is_not_utf8_is_replaced_and_said() {
        let output = scanned(b"caf\xe9\nok", 3, 1, 9).unwrap().text;
        assert_eq!(output, "caf\u{fffd}\nok\n(not all of it is UTF-8 text; what is not is shown as \u{fffd})");
    }

    proptest! {
        #[test]
        fn windows_put_together_are_the_file(text in "[a-zé\n]{0,200}", cuts in 1usize..50, limit in 1usize..5) {
            let expected: Vec<&str> = text.lines().collect();
            let mut lines = Vec::new();
            let mut offset = 1;
            while lines.len() < expected.len() {
                let output = scanned(text.as_bytes(), cuts, offset, limit).unwrap().text;
                let body = output.split("\n... (truncated").next().unwrap();
                let window: Vec<&str> = body.split('\n').collect();
                offset += window.len();
                lines.extend(window.into_iter().map(str::to_owned));
            }
            prop_assert_eq!(lines, expected);
        }
    }
}
