//! The wall clock. Everything else in the program is told the time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, negative before it. Saturates, so it never fails.
pub fn now_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}

#[cfg(test)]
mod tests {
    use super::now_ms;

    #[test]
    fn the_clock_counts_milliseconds_of_this_century() {
        assert!((1_577_836_800_000..32_503_680_000_000).contains(&now_ms()), "2020 to 3000");
    }
}
