//! `time`: the date and time now, and a time of one zone in another. Its clock is the call's.

mod parse;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;

use super::blocking;
use crate::tool::{BuildError, Function, Kind, Output, Risk, Services, Tool, Toolset};

/// The toolset.
pub(super) struct Time;

#[derive(Deserialize, JsonSchema)]
struct Now {
    /// IANA name; default: this machine's zone.
    timezone: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Convert {
    /// ISO 8601, such as 2026-03-29T14:30.
    datetime_str: String,
    /// IANA name.
    from_timezone: String,
    /// IANA name.
    to_timezone: String,
}

impl Toolset for Time {
    fn name(&self) -> &'static str {
        "time"
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn description(&self) -> &'static str {
        "The current date and time, and conversion between time zones."
    }

    fn build(&self, _services: &Services) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let now = Function::new(
            "get_current_date_and_time",
            include_str!("../../assets/tools/get_current_date_and_time.md"),
            Risk::Read,
            // Looking a zone up may read the system's database.
            |arguments: Now, context| {
                blocking("get_current_date_and_time", move |_| {
                    answer(current(context.now, arguments.timezone.as_deref()))
                })
            },
        );
        let convert = Function::new(
            "convert_time",
            include_str!("../../assets/tools/convert_time.md"),
            Risk::Read,
            |arguments: Convert, _| blocking("convert_time", move |_| answer(convert(&arguments))),
        );
        Ok(vec![now.boxed(), convert.boxed()])
    }
}

fn answer(result: Result<String, String>) -> Output {
    result.map_or_else(Output::failed, Output::ok)
}

/// `now` in milliseconds since the Unix epoch.
fn current(now: i64, timezone: Option<&str>) -> Result<String, String> {
    let timezone = match timezone.map(str::trim) {
        None | Some("") => TimeZone::system(),
        Some(name) => zone(name)?,
    };
    let instant = Timestamp::from_millisecond(now).map_err(|error| format!("The clock is out of range: {error}"))?;
    // People read seconds.
    let instant = Timestamp::from_second(instant.as_second()).unwrap_or(instant);
    let there = instant.to_zoned(timezone);
    Ok(format!("{} ({}, {}; {instant})", iso(&there), there.strftime("%A"), place(&there)))
}

fn convert(arguments: &Convert) -> Result<String, String> {
    let written = parse::parse(&arguments.datetime_str)?;
    let from = zone(&arguments.from_timezone)?;
    let to = zone(&arguments.to_timezone)?;
    let mut notes = Vec::new();
    if !written.has_time {
        notes.push("Note: no time was given, so midnight was taken.".to_owned());
    }
    let source = match written.offset {
        Some(offset) => {
            let instant = offset.to_timestamp(written.datetime).map_err(out_of_range)?;
            let there = instant.to_zoned(from.clone());
            if there.offset() != offset {
                notes.push(format!(
                    "Note: the input's own offset UTC{} was used; {} is at UTC{} then.",
                    sign(offset),
                    name(&from),
                    sign(there.offset())
                ));
            }
            there
        }
        None => settle(written.datetime, &from, &to, &mut notes)?,
    };
    let target = source.with_time_zone(to);
    notes.insert(0, format!("{} ({}) = {} ({})", iso(&source), place(&source), iso(&target), place(&target)));
    Ok(notes.join("\n"))
}

/// A local time in its zone. One that the clocks skip or show twice is said, with what was taken.
fn settle(local: DateTime, from: &TimeZone, to: &TimeZone, notes: &mut Vec<String>) -> Result<Zoned, String> {
    let ambiguous = from.to_ambiguous_zoned(local);
    let offset = ambiguous.offset();
    let taken = ambiguous.compatible().map_err(out_of_range)?;
    match offset {
        AmbiguousOffset::Unambiguous { .. } => {}
        AmbiguousOffset::Gap { .. } => notes.push(format!(
            "Note: {local} does not exist in {}, where the clocks go forward over it; {} was taken.",
            name(from),
            iso(&taken)
        )),
        AmbiguousOffset::Fold { after, .. } => {
            let second = after.to_timestamp(local).map_err(out_of_range)?;
            notes.push(format!(
                "Note: {local} comes twice in {}, where the clocks go back over it; the first was taken. The second, at \
                 UTC{}, is {}.",
                name(from),
                sign(after),
                iso(&second.to_zoned(to.clone()))
            ));
        }
    }
    Ok(taken)
}

fn zone(text: &str) -> Result<TimeZone, String> {
    let text = text.trim();
    TimeZone::get(text).map_err(|_| {
        format!("Unknown timezone: '{text}'. Use an IANA name such as 'Asia/Tokyo' or 'America/New_York'.")
    })
}

fn out_of_range(error: jiff::Error) -> String {
    format!("That time is out of range: {error}.")
}

/// `2026-11-30T12:00:00+01:00`.
fn iso(zoned: &Zoned) -> String {
    format!("{}{}", zoned.datetime(), sign(zoned.offset()))
}

/// `Europe/Berlin, CET, UTC+01:00`.
fn place(zoned: &Zoned) -> String {
    let abbreviation = strtime::format("%Z", zoned).unwrap_or_default();
    let offset = format!("UTC{}", sign(zoned.offset()));
    let name = name(zoned.time_zone());
    let mut parts = vec![name];
    for part in [abbreviation, offset] {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join(", ")
}

fn name(timezone: &TimeZone) -> String {
    timezone.iana_name().unwrap_or("this machine's zone").to_owned()
}

/// `+01:00`; seconds only where a zone has them.
fn sign(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if seconds == 0 {
        format!("{sign}{hours:02}:{minutes:02}")
    } else {
        format!("{sign}{hours:02}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests;
