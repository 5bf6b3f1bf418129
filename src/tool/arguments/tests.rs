use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "lines": { "type": "integer", "minimum": 1 },
            "ratio": { "type": "number" },
            "deep": { "type": "boolean" },
            "mode": { "enum": ["fast", "slow"] },
            "steps": { "type": "array", "maxItems": 3, "items": { "type": "object", "properties": {
                "text": { "type": "string" }, "done": { "type": "boolean" }
            }, "required": ["text"] } },
            "tags": { "type": "array", "items": { "type": "string" } },
            "free": { "type": "object" }
        },
        "required": ["path"]
    })
}

#[test]
fn lax_coercion_loses_nothing() {
    let table = [
        (json!({ "path": "a", "lines": "5" }), json!({ "path": "a", "lines": 5 })),
        (json!({ "path": "a", "lines": " 5 " }), json!({ "path": "a", "lines": 5 })),
        (json!({ "path": "a", "lines": 5.0 }), json!({ "path": "a", "lines": 5 })),
        (json!({ "path": "a", "ratio": "2.5" }), json!({ "path": "a", "ratio": 2.5 })),
        (json!({ "path": "a", "ratio": 3 }), json!({ "path": "a", "ratio": 3 })),
        (json!({ "path": "a", "deep": "true" }), json!({ "path": "a", "deep": true })),
        (json!({ "path": "a", "deep": "False" }), json!({ "path": "a", "deep": false })),
        (json!({ "path": 5 }), json!({ "path": "5" })),
        (json!({ "path": true }), json!({ "path": "true" })),
        (json!({ "path": "a", "lines": null }), json!({ "path": "a" })),
        (json!({ "path": "a", "tags": "[\"x\"]" }), json!({ "path": "a", "tags": ["x"] })),
        (json!({ "path": "a", "tags": [1, "x"] }), json!({ "path": "a", "tags": ["1", "x"] })),
        (json!({ "path": "a", "free": "{\"k\": 1}" }), json!({ "path": "a", "free": { "k": 1 } })),
        (
            json!({ "path": "a", "steps": [{ "text": 1, "done": "true" }] }),
            json!({ "path": "a", "steps": [{ "text": "1", "done": true }] }),
        ),
        (json!("{\"path\": \"a\"}"), json!({ "path": "a" })),
    ];
    for (given, expected) in table {
        assert_eq!(check("f", &schema(), given.clone()), Ok(expected), "{given}");
    }
}

#[test]
fn what_would_lose_something_is_refused() {
    let table = [
        (json!({ "path": 1.5 }), "'path' must be a string, got 1.5"),
        (json!({ "path": {} }), "'path' must be a string, got an object"),
        (json!({ "path": null }), "'path' must be a string, got null"),
        (json!({ "path": "a", "lines": "5.5" }), "'lines' must be an integer, got \"5.5\""),
        (json!({ "path": "a", "lines": 5.5 }), "'lines' must be an integer, got 5.5"),
        (json!({ "path": "a", "lines": 1e300 }), "'lines' must be an integer, got 1e+300"),
        (json!({ "path": "a", "lines": true }), "'lines' must be an integer, got true"),
        (json!({ "path": "a", "ratio": "NaN" }), "'ratio' must be a number, got \"NaN\""),
        (json!({ "path": "a", "deep": "yes" }), "'deep' must be true or false, got \"yes\""),
        (json!({ "path": "a", "deep": 1 }), "'deep' must be true or false, got 1"),
        (json!({ "path": "a", "tags": "x" }), "'tags' must be a list, got \"x\""),
        (json!({ "path": "a", "tags": { "0": "x" } }), "'tags' must be a list, got an object"),
        (json!(null), "the arguments must be an object, got null"),
        (json!([]), "the arguments must be an object, got a list of 0"),
        (json!("path"), "the arguments must be an object, got \"path\""),
    ];
    for (given, fault) in table {
        assert_eq!(
            check("f", &schema(), given.clone()),
            Err(format!("invalid arguments for tool 'f': {fault}")),
            "{given}"
        );
    }
}

#[test]
fn every_fault_is_named_in_one_result() {
    let given = json!({ "x": 1, "lines": "many", "mode": "medium", "steps": [{ "done": 1 }], "y": 2 });
    assert_eq!(
        check("f", &schema(), given).unwrap_err(),
        "invalid arguments for tool 'f': unexpected argument 'x'; unexpected argument 'y'; \
         missing required argument 'steps[0].text'; missing required argument 'path'; \
         'lines' must be an integer, got \"many\"; 'steps[0].done' must be true or false, got 1; \
         'mode': \"medium\" is not one of \"fast\" or \"slow\""
    );
}

#[test]
fn the_validator_covers_what_coercion_does_not() {
    let too_many = json!({ "path": "a", "tags": [], "steps": [{ "text": "1" }, { "text": "2" }, { "text": "3" }, { "text": "4" }] });
    let table = [
        (json!({ "path": "a", "lines": 0 }), "'lines': 0 is less than the minimum of 1"),
        (json!({ "path": "a", "lines": "0" }), "'lines': 0 is less than the minimum of 1"),
        (too_many, "'steps': a list of 4 has more than 3 items"),
    ];
    for (given, fault) in table {
        assert_eq!(check("f", &schema(), given).unwrap_err(), format!("invalid arguments for tool 'f': {fault}"));
    }
}

#[test]
fn a_long_value_and_many_faults_are_bounded() {
    let long = check("f", &schema(), json!({ "path": "a", "mode": "m".repeat(100_000) })).unwrap_err();
    assert!(long.len() < 400, "{}", long.len());
    let many: Map<String, Value> = (0..500).map(|n| (format!("x{n}"), json!(1))).collect();
    let many = check("f", &schema(), Value::Object(many)).unwrap_err();
    assert!(many.contains("and 481 more"), "{many}");
    assert!(many.len() < 2_000);
}

#[test]
fn an_open_object_takes_what_it_does_not_name() {
    assert_eq!(check("f", &schema(), json!({ "path": "a", "free": { "any": [1] } })).map(|_| ()), Ok(()));
    let open = json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "integer" } });
    assert_eq!(check("f", &open, json!({ "n": "5" })), Ok(json!({ "n": 5 })));
    let empty = json!({ "type": "object", "properties": {} });
    assert_eq!(
        check("f", &empty, json!({ "n": 5 })).unwrap_err(),
        "invalid arguments for tool 'f': unexpected argument 'n'"
    );
}

#[test]
fn alternatives_prefer_what_fits_as_it_is() {
    let schema = json!({ "type": "object", "properties": {
        "id": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
        "when": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
        "kind": { "type": ["integer", "string"] }
    } });
    assert_eq!(check("f", &schema, json!({ "id": "5" })), Ok(json!({ "id": "5" })));
    assert_eq!(check("f", &schema, json!({ "kind": "5" })), Ok(json!({ "kind": "5" })));
    assert_eq!(check("f", &schema, json!({ "when": "5" })), Ok(json!({ "when": 5 })));
    assert_eq!(check("f", &schema, json!({ "when": null })), Ok(json!({ "when": null })));
    assert!(check("f", &schema, json!({ "id": [] })).is_err());
}

#[test]
fn references_are_followed_and_a_loop_ends() {
    let schema = json!({
        "type": "object",
        "properties": { "node": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "type": "object", "properties": {
            "n": { "type": "integer" }, "next": { "$ref": "#/$defs/node" }
        } } }
    });
    let given = json!({ "node": { "n": "1", "next": { "n": "2" } } });
    assert_eq!(check("f", &schema, given), Ok(json!({ "node": { "n": 1, "next": { "n": 2 } } })));
    let looping = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "$ref": "#/$defs/a" } } });
    // Whatever the validator makes of it, it must end.
    drop(check("f", &looping, json!({})));
}

/// Two alternatives at each of 60 levels would be more tries than there is time.
#[test]
fn alternatives_inside_alternatives_end() {
    let schema = json!({
        "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "anyOf": [
            { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" }, "x": { "type": "integer" } }, "required": ["x"] },
            { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } },
            { "type": "integer" }
        ] } }
    });
    let deep = (0..60).fold(json!("5"), |inner, _| json!({ "a": inner }));
    assert_eq!(
        check("f", &schema, deep).unwrap_err(),
        "invalid arguments for tool 'f': they nest too deeply to be checked"
    );
    let shallow = json!({ "a": { "a": { "a": "5" } } });
    assert_eq!(check("f", &schema, shallow), Ok(json!({ "a": { "a": { "a": 5 } } })));
}

#[test]
fn a_schema_that_is_none_is_said_and_does_not_pass() {
    let broken = json!({ "type": "object", "properties": { "a": { "type": "strnig" } } });
    let text = check("f", &broken, json!({ "a": 1 })).unwrap_err();
    assert!(text.starts_with("the schema of tool 'f' cannot be checked:"), "{text}");
}

/// Not for the model.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Sample {
    /// Where
    /// it is.
    path: String,
    /// Named like a keyword.
    title: Option<String>,
    #[serde(default = "thirty")]
    timeout: i64,
    inner: Option<Inner>,
    which: Option<Which>,
    list: Option<Vec<u32>>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    format: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    One,
    Two,
}

fn thirty() -> i64 {
    30
}

#[test]
fn a_schema_holds_no_noise_and_keeps_names_that_look_like_it() {
    let schema = schema_of::<Sample>();
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Where it is." },
                "title": { "type": "string", "description": "Named like a keyword." },
                "timeout": { "type": "integer", "default": 30 },
                "inner": { "type": "object", "properties": {
                    "format": { "type": "integer", "minimum": 0, "maximum": 255 }
                } },
                "which": { "type": "string", "enum": ["one", "two"] },
                "list": { "type": "array", "items": { "type": "integer", "minimum": 0 } }
            },
            "required": ["path"]
        })
    );
    let names: Vec<&String> = schema.get("properties").unwrap().as_object().unwrap().keys().collect();
    assert_eq!(names, ["path", "title", "timeout", "inner", "which", "list"], "in the order of the fields");
    assert_eq!(schema_of::<()>().get("properties"), Some(&json!({})));
}

/// Any JSON of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        "-?[0-9]{1,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("path|lines|steps|text|done|tags|x", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_passes_fits_and_passing_again_changes_nothing(given in any_json()) {
        match check("f", &schema(), given) {
            Ok(fits) => {
                prop_assert!(jsonschema::is_valid(&schema(), &fits));
                prop_assert_eq!(check("f", &schema(), fits.clone()), Ok(fits));
            }
            Err(text) => prop_assert!(text.starts_with("invalid arguments for tool 'f': ")),
        }
    }

    #[test]
    fn what_fits_is_never_touched(lines in 1i64.., path in "\\PC{0,12}", tags in proptest::collection::vec("\\PC{0,4}", 0..4)) {
        let given = json!({ "path": path, "lines": lines, "tags": tags });
        prop_assert_eq!(check("f", &schema(), given.clone()), Ok(given));
    }
}
