use super::*;

const NOON: i64 = 1_796_036_400_000; // 2026-11-30T11:00:00Z

fn converted(datetime: &str, from: &str, to: &str) -> Result<String, String> {
    convert(&Convert { datetime_str: datetime.to_owned(), from_timezone: from.to_owned(), to_timezone: to.to_owned() })
}

#[test]
fn now_names_zone_offset_and_utc() {
    assert_eq!(
        current(NOON + 123, Some("Europe/Berlin")).unwrap(),
        "2026-11-30T12:00:00+01:00 (Monday, Europe/Berlin, CET, UTC+01:00; 2026-11-30T11:00:00Z)"
    );
    assert_eq!(
        current(NOON, Some(" utc ")).unwrap(),
        "2026-11-30T11:00:00+00:00 (Monday, UTC, UTC+00:00; 2026-11-30T11:00:00Z)"
    );
    assert!(current(NOON, None).unwrap().ends_with("; 2026-11-30T11:00:00Z)"));
    assert!(current(i64::MAX, None).is_err());
}

#[test]
fn an_unknown_zone_is_said_with_examples() {
    let text = "Unknown timezone: 'Mars'. Use an IANA name such as 'Asia/Tokyo' or 'America/New_York'.";
    assert_eq!(current(NOON, Some("Mars")).unwrap_err(), text);
    assert_eq!(converted("2026-01-01T00:00", "Mars", "UTC").unwrap_err(), text);
    assert!(converted("2026-01-01T00:00", "UTC", "../../etc/passwd").is_err());
}

#[test]
fn a_time_is_converted() {
    assert_eq!(
        converted("2026-11-30T12:00", "Europe/Berlin", "America/New_York").unwrap(),
        "2026-11-30T12:00:00+01:00 (Europe/Berlin, CET, UTC+01:00) = \
         2026-11-30T06:00:00-05:00 (America/New_York, EST, UTC-05:00)"
    );
    assert_eq!(
        converted("2026-11-30", "Asia/Kolkata", "UTC").unwrap(),
        "2026-11-30T00:00:00+05:30 (Asia/Kolkata, IST, UTC+05:30) = 2026-11-29T18:30:00+00:00 (UTC, UTC+00:00)\n\
         Note: no time was given, so midnight was taken."
    );
}

#[test]
fn a_time_the_clocks_skip_is_said() {
    insta::assert_snapshot!(converted("2026-03-29T02:30", "Europe/Berlin", "UTC").unwrap(), @r"
    2026-03-29T03:30:00+02:00 (Europe/Berlin, CEST, UTC+02:00) = 2026-03-29T01:30:00+00:00 (UTC, UTC+00:00)
    Note: 2026-03-29T02:30:00 does not exist in Europe/Berlin, where the clocks go forward over it; 2026-03-29T03:30:00+02:00 was taken.
    ");
}

#[test]
fn a_time_the_clocks_show_twice_is_said() {
    insta::assert_snapshot!(converted("2026-10-25T02:30", "Europe/Berlin", "UTC").unwrap(), @r"
    2026-10-25T02:30:00+02:00 (Europe/Berlin, CEST, UTC+02:00) = 2026-10-25T00:30:00+00:00 (UTC, UTC+00:00)
    Note: 2026-10-25T02:30:00 comes twice in Europe/Berlin, where the clocks go back over it; the first was taken. The second, at UTC+01:00, is 2026-10-25T01:30:00+00:00.
    ");
}

#[test]
fn an_offset_in_the_input_wins_with_a_note() {
    insta::assert_snapshot!(converted("2026-11-30T12:00+09:00", "Europe/Berlin", "UTC").unwrap(), @r"
    2026-11-30T04:00:00+01:00 (Europe/Berlin, CET, UTC+01:00) = 2026-11-30T03:00:00+00:00 (UTC, UTC+00:00)
    Note: the input's own offset UTC+09:00 was used; Europe/Berlin is at UTC+01:00 then.
    ");
    assert!(!converted("2026-11-30T12:00+01:00", "Europe/Berlin", "UTC").unwrap().contains("Note"));
}
