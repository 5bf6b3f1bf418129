//! A date and time as a model or a person writes it: ISO 8601, or nearly. It never guesses a date.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// What was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// Local date and time; midnight when no time was written.
    pub(super) datetime: DateTime,
    /// Whether a time was written.
    pub(super) has_time: bool,
    /// `Z` or `+02:00`, if written.
    pub(super) offset: Option<Offset>,
}

/// Reads `2026-03-29T14:30`, `2026-3-29 9:05`, `2026-03-29 2:30 PM`, `…Z`, `…+02:00`. A zone in brackets is left out.
pub(super) fn parse(text: &str) -> Result<Written, String> {
    read(text).ok_or_else(|| {
        let shown = crate::tool::output::one_line(text, 60);
        format!("Cannot read '{shown}' as a date and time. Write it as 2026-03-29T14:30, with the date.")
    })
}

fn read(text: &str) -> Option<Written> {
    let text = text.trim();
    // `…[Europe/Berlin]`: the zone is an argument of its own.
    let text = text.strip_suffix(']').and_then(|text| text.split_once('[')).map_or(text, |(before, _)| before.trim());
    let (date, rest) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?.trim()),
        None => (text, ""),
    };
    let mut parts = date.split('-');
    let date = Date::new(digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?).ok()?;
    if parts.next().is_some() {
        return None;
    }
    if rest.is_empty() {
        return Some(Written { datetime: date.to_datetime(Time::midnight()), has_time: false, offset: None });
    }
    let (clock, offset) = split_offset(rest)?;
    Some(Written { datetime: date.to_datetime(read_clock(clock)?), has_time: true, offset })
}

fn split_offset(text: &str) -> Option<(&str, Option<Offset>)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock.trim(), Some(Offset::UTC)));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, None)) };
    let (clock, offset) = (text.get(..at)?, text.get(at..)?);
    let negative = offset.starts_with('-');
    let digits_only: String = offset.get(1..)?.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits_only.len() {
        1 | 2 => (digits_only.as_str(), "0"),
        4 => digits_only.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (digits(hours, 2)?, digits(minutes, 2)?);
    if minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    Some((clock.trim(), Some(Offset::from_seconds(if negative { -seconds } else { seconds }).ok()?)))
}

fn read_clock(text: &str) -> Option<Time> {
    let lower = text.to_ascii_lowercase().replace('.', "\u{0}");
    // `p.m.` is written with dots too, and so are fractions.
    let (clock, half) = ["\u{0}m\u{0}", "m"]
        .iter()
        .find_map(|tail| {
            let head = lower.strip_suffix(tail)?;
            let half = head.chars().last().filter(|half| matches!(half, 'a' | 'p'))?;
            Some((head.strip_suffix(half)?.trim(), Some(half)))
        })
        .unwrap_or((lower.as_str(), None));
    let mut parts = clock.split(':');
    let mut hour: i8 = digits(parts.next()?, 2)?;
    let minute: i8 = match parts.next() {
        Some(minute) => digits(minute, 2)?,
        None if half.is_some() => 0,
        None => return None,
    };
    let (second, fraction) = match parts.next() {
        Some(second) => second.split_once(['\u{0}', ',']).unwrap_or((second, "0")),
        None => ("0", "0"),
    };
    if parts.next().is_some() || fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if let Some(half) = half {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half == 'p' { 12 } else { 0 };
    }
    // A fraction of a second says nothing to anybody here.
    Time::new(hour, minute, digits(second, 2)?, 0).ok()
}

/// One to `most` digits as a number.
fn digits<N: std::str::FromStr>(text: &str, most: usize) -> Option<N> {
    ((1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parse(text) {
            Ok(written) => {
                let offset = written.offset.map_or(String::new(), |offset| format!(" {offset}"));
                format!("{}{offset}{}", written.datetime, if written.has_time { "" } else { " date only" })
            }
            Err(_) => "no".to_owned(),
        }
    }

    #[test]
    fn iso_and_nearly_iso_are_read_and_nothing_is_guessed() {
        let table = [
            ("2026-03-29T14:30", "2026-03-29T14:30:00"),
            ("2026-03-29T14:30:05.250", "2026-03-29T14:30:05"),
            ("2026-3-9 9:05", "2026-03-09T09:05:00"),
            ("2026-03-29 2:30 PM", "2026-03-29T14:30:00"),
            ("2026-03-29 2:30 p.m.", "2026-03-29T14:30:00"),
            ("2026-03-29 12:00 am", "2026-03-29T00:00:00"),
            ("2026-03-29 12pm", "2026-03-29T12:00:00"),
            ("2026-03-29T14:30Z", "2026-03-29T14:30:00 +00"),
            ("2026-03-29T14:30+02:00[Europe/Berlin]", "2026-03-29T14:30:00 +02"),
            ("2026-03-29T14:30-0330", "2026-03-29T14:30:00 -03:30"),
            ("2026-03-29", "2026-03-29T00:00:00 date only"),
            ("14:30", "no"),
            ("tomorrow", "no"),
            ("2026-02-30T10:00", "no"),
            ("2026-03-29T25:00", "no"),
            ("2026-03-29 13:00 pm", "no"),
            ("2026-03-29 14", "no"),
            ("03/29/2026 14:00", "no"),
            ("2026-03-29T14:30+2:99", "no"),
            ("", "no"),
            ("é", "no"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "[0-9TZ:+. apm\\[\\]é-]{0,30}") {
            drop(parse(&text));
        }
    }
}
