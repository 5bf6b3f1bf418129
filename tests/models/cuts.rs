//! Any cut of the same bytes gives the same deltas and the same end.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::common::{STREAMS, decode};

#[test]
fn names_say_the_wire() {
    use kokua::model::sse::Framing;
    use kokua::model::wire::Wire;
    for (name, wire, framing, _) in STREAMS {
        assert_eq!(name.contains(".anthropic."), *wire == Wire::Anthropic, "{name}");
        assert_eq!(name.contains(".ollama."), *wire == Wire::Ollama, "{name}");
        assert_eq!(name.ends_with(".ndjson"), *framing == Framing::Lines, "{name}");
        assert_eq!(name.contains("-whole."), *framing == Framing::Whole, "{name}");
    }
}

#[test]
fn every_stream_cut_once_at_every_byte() {
    for (name, wire, framing, bytes) in STREAMS {
        let whole = decode(*wire, *framing, &[bytes]);
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(decode(*wire, *framing, &[head, tail]), whole, "{name} cut at {at}");
        }
    }
}

#[test]
fn every_stream_byte_by_byte_and_with_either_line_end() {
    for (name, wire, framing, bytes) in STREAMS {
        let whole = decode(*wire, *framing, &[bytes]);
        for end in ["\n", "\r\n", "\r"] {
            if end == "\r" && name.ends_with(".ndjson") {
                continue;
            }
            let bytes = String::from_utf8(bytes.to_vec()).unwrap().replace('\n', end).into_bytes();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decode(*wire, *framing, &single), whole, "{name} with {end:?}");
        }
    }
}

#[test]
fn every_stream_broken_off_at_every_byte_is_a_cut_or_complete() {
    use kokua::agent::FailureKind;
    for (name, wire, framing, bytes) in STREAMS.iter().filter(|(name, ..)| !name.contains("error")) {
        let (whole, end) = decode(*wire, *framing, &[bytes]);
        if end.is_err() {
            continue;
        }
        let done = |deltas: &[kokua::agent::Delta]| {
            deltas.iter().any(|delta| matches!(delta, kokua::agent::Delta::Stop { .. }))
        };
        for at in 0..bytes.len() {
            let (deltas, end) = decode(*wire, *framing, &[&bytes[..at]]);
            match end {
                // A finish reason is what makes a stream complete, whatever is missing after it.
                Ok(()) => assert!(done(&deltas), "{name} at {at}: complete without a finish reason"),
                Err(failure) if done(&deltas) => panic!("{name} at {at}: {failure} after a finish reason"),
                Err(failure) => assert_eq!(failure.kind, FailureKind::Cut, "{name} at {at}: {failure}"),
            }
            assert!(deltas.len() <= whole.len(), "{name} at {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn any_cuts_give_the_same(index in 0..STREAMS.len(), mut cuts in prop::collection::vec(0.0..1.0f64, 0..40)) {
        let (_, wire, framing, bytes) = STREAMS[index];
        cuts.sort_by(f64::total_cmp);
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
            let at = (cut * bytes.len() as f64) as usize;
            pieces.push(&bytes[from..at]);
            from = at;
        }
        pieces.push(&bytes[from..]);
        prop_assert_eq!(decode(wire, framing, &pieces), decode(wire, framing, &[bytes]));
    }

    /// Whatever comes, nothing panics and something is said.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400), index in 0..STREAMS.len()) {
        let (_, wire, framing, real) = STREAMS[index];
        let half = &real[..real.len() / 2];
        drop(decode(wire, framing, &[&bytes]));
        drop(decode(wire, framing, &[half, &bytes]));
    }
}
