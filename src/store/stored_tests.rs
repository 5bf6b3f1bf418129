use super::{LineFault, decode};
use crate::agent::{CallId, Ending, Record, TurnEnd};

// The golden lines and the round trip over every record are in tests/store.rs, which see what a file really holds.

#[test]
fn a_line_of_a_newer_kind_is_told_from_a_damaged_one() {
    assert_eq!(decode(br#"{"record":"branched","at":1}"#), Err(LineFault::Newer("branched".into())));
    assert!(
        matches!(decode(br#"{"record":"titled"}"#), Err(LineFault::Unreadable(reason)) if reason == "missing field `title`")
    );
    assert!(matches!(decode(br#"{"record":"titl"#), Err(LineFault::Unreadable(_))));
    assert!(matches!(decode(br#"{"record":"allowed"}"#), Err(LineFault::Unreadable(_))));
    assert!(matches!(decode(b"\0\0\0"), Err(LineFault::Unreadable(_))));
    assert!(matches!(decode(b"[1]"), Err(LineFault::Unreadable(_))));
    assert!(matches!(decode(b"{\"record\":\"titled\",\"title\":\"\xff\"}"), Err(LineFault::Unreadable(_))));
    assert!(matches!(decode(b""), Err(LineFault::Unreadable(_))));
}

#[test]
fn fields_of_a_newer_version_are_passed_over() {
    let line = br#"{"record":"call_ended","at":1,"call":2,"ending":"loaded","toolset":"todo","text":"t","took_ms":3,"cost":4}"#;
    let expected = Record::CallEnded {
        at: 1,
        call: CallId(2),
        ending: Ending::Loaded { toolset: "todo".into() },
        answer: None,
        text: "t".into(),
        note: None,
        took_ms: 3,
    };
    assert_eq!(decode(line), Ok(expected));
    assert_eq!(
        decode(br#"{"record":"turn_ended","at":1,"end":"interrupted"}"#),
        Ok(Record::TurnEnded { at: 1, end: TurnEnd::Interrupted })
    );
}
