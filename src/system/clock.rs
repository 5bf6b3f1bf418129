//! The wall clock. Everything else in the program is told the time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, negative before it. Saturates, so it never fails.
pub fn now_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

/// A time of this machine's zone, to the minute: `2026-11-30 14:05`.
pub fn local(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "unknown time    ".to_owned(),
    }
}

/// [`local`] as people say it at `now`: without the day when that is the same.
pub fn local_since(ms: i64, now: i64) -> String {
    let (since, now) = (local(ms), local(now));
    match (since.split_once(' '), now.split_once(' ')) {
        (Some((day, time)), Some((today, _))) if day == today => time.to_owned(),
        _ => since,
    }
}

#[cfg(test)]
mod tests {
    use super::{local, local_since, now_ms};

    #[test]
    fn the_day_is_said_only_when_it_is_another() {
        let (now, day) = (1_700_000_000_000, 86_400_000);
        assert_eq!(local_since(now, now), local(now).split_at(11).1);
        assert_eq!(local_since(now - 2 * day, now), local(now - 2 * day));
    }

    #[test]
    fn the_clock_counts_milliseconds_of_this_century() {
        assert!((1_577_836_800_000..32_503_680_000_000).contains(&now_ms()), "2020 to 3000");
    }
}
