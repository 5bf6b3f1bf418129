//! Frames of an event stream and of JSON lines, by the standard and by what servers send.

use kokua::model::Provider;
use kokua::model::failure::Place;
use kokua::model::sse::{Frame, Frames, Framing};
use pretty_assertions::assert_eq;

fn frames(framing: Framing, pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
    let place = Place { provider: Provider::OpenAi, host: "h".to_owned(), model: "m".to_owned() };
    let mut cutter = Frames::new(framing, place);
    let mut out = Vec::new();
    for piece in pieces {
        cutter.push(piece, &mut out).unwrap();
    }
    out.extend(cutter.finish());
    out.into_iter().map(|Frame { event, data }| (event, data)).collect()
}

/// An event's name and data.
type Expected<'a> = &'a [(Option<&'a str>, &'a str)];

fn check(framing: Framing, bytes: &str, expected: Expected<'_>) {
    let expected: Vec<_> =
        expected.iter().map(|(event, data)| (event.map(str::to_owned), (*data).to_owned())).collect();
    let bytes = bytes.as_bytes();
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(frames(framing, &[head, tail]), expected, "cut at {at}");
    }
}

#[test]
fn events() {
    let table: &[(&str, Expected<'_>)] = &[
        ("data: a\n\n", &[(None, "a")]),
        ("data:a\ndata: b\n\n", &[(None, "a\nb")]),
        ("data: a\r\ndata: b\r\n\r\n", &[(None, "a\nb")]),
        ("data: a\rdata: b\r\r", &[(None, "a\nb")]),
        ("\u{feff}data: é世\n\n", &[(None, "é世")]),
        (": comment\n\nevent: ping\n\nevent: x\ndata: {}\n\n", &[(Some("x"), "{}")]),
        ("id: 1\nretry: 5\nunknown: y\nnonsense\ndata: a\n\n", &[(None, "a")]),
        ("data\n\ndata:\n\n", &[(None, ""), (None, "")]),
        ("data: a\n\ndata: no blank line after it", &[(None, "a"), (None, "no blank line after it")]),
        ("data: a\n\nevent: half", &[(None, "a")]),
        ("", &[]),
    ];
    for (bytes, expected) in table {
        check(Framing::Events, bytes, expected);
    }
}

#[test]
fn lines_and_whole_bodies() {
    check(Framing::Lines, "{\"a\":1}\r\n\n{\"b\":2}", &[(None, "{\"a\":1}"), (None, "{\"b\":2}")]);
    check(Framing::Whole, "{\n\"a\": 1\n}\n", &[(None, "{\n\"a\": 1\n}\n")]);
    check(Framing::Whole, "\n", &[]);
}

#[test]
fn a_frame_without_end_is_given_up() {
    let place = Place { provider: Provider::OpenAi, host: "h".to_owned(), model: "m".to_owned() };
    let mut cutter = Frames::new(Framing::Events, place);
    let piece = vec![b'x'; 1 << 20];
    let mut out = Vec::new();
    let failed = (0..64).find_map(|_| cutter.push(&piece, &mut out).err());
    assert_eq!(failed.unwrap().kind, kokua::agent::FailureKind::Malformed);
}
