//! When the next frame may be drawn. Pure: time is an argument.
//!
//! Sixty frames a second at most over any stretch of time, with a few in advance so that a key's echo never waits
//! while frames are rare; half as many for what the program does by itself, so that a stream leaves room for keys.

use std::time::{Duration, Instant};

/// Between frames, in the long run.
const INTERVAL: Duration = Duration::from_micros(16_667);
/// Frames that may come early.
const ADVANCE: u32 = 4;
/// Between frames that nobody typed for.
const STREAM: Duration = Duration::from_millis(33);

/// Why a frame is wanted; the greater one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The program moved: a stream, a counter.
    Program,
    /// A person did something and looks for its echo.
    Person,
}

/// The times of frames drawn.
#[derive(Debug, Default, Clone, Copy)]
pub struct Pace {
    last: Option<Instant>,
    /// When the frames drawn so far would be over at one an [`INTERVAL`].
    paid: Option<Instant>,
}

impl Pace {
    /// The earliest time of the next frame for `cause`; in the past when it may be drawn now.
    pub fn due(&self, cause: Cause, now: Instant) -> Instant {
        let sustained = self.paid.and_then(|paid| paid.checked_sub(INTERVAL * ADVANCE)).unwrap_or(now);
        let spaced = match cause {
            Cause::Person => now,
            Cause::Program => self.last.map_or(now, |last| last + STREAM),
        };
        sustained.max(spaced)
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.last = Some(now);
        self.paid = Some(self.paid.map_or(now, |paid| paid.max(now)) + INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Cause, Pace};

    /// Frames drawn within one second when one for `cause` is wanted every millisecond.
    fn frames(cause: Cause) -> usize {
        let (mut pace, start) = (Pace::default(), Instant::now());
        (0..1000)
            .map(|ms| start + Duration::from_millis(ms))
            .filter(|now| {
                let draws = pace.due(cause, *now) <= *now;
                if draws {
                    pace.drawn(*now);
                }
                draws
            })
            .count()
    }

    #[test]
    fn frames_are_bounded() {
        let person = frames(Cause::Person);
        assert!((60..=65).contains(&person), "{person}");
        let program = frames(Cause::Program);
        assert!((29..=31).contains(&program), "{program}");
    }

    #[test]
    fn a_key_in_the_middle_of_a_stream_is_echoed_at_once() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut now = start;
        for _ in 0..100 {
            now = pace.due(Cause::Program, now).max(now);
            pace.drawn(now);
            now += Duration::from_millis(1);
        }
        assert!(pace.due(Cause::Person, now) <= now, "the key is drawn right after a frame of the stream");
        pace.drawn(now);
        assert!(pace.due(Cause::Program, now) > now);
    }

    #[test]
    fn the_first_frame_and_one_after_a_rest_wait_for_nothing() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert!(pace.due(Cause::Program, now) <= now);
        pace.drawn(now);
        let later = now + Duration::from_secs(1);
        assert!(pace.due(Cause::Program, later) <= later);
    }
}
