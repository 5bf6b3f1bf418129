//! Arguments against a schema: lax coercion, and one error naming every fault.
//!
//! Arguments that do not parse are never guessed at. Coercion changes a value only where that loses nothing; see
//! [`check`] for the whole list.

use std::cell::Cell;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::output::one_line;

/// Faults named in one result; what is over says how many.
const MAX_FAULTS: usize = 20;

/// Characters of one fault.
const MAX_FAULT_CHARS: usize = 240;

/// Alternatives tried for one call: nested ones multiply, and a server chooses its own schema.
const MAX_ATTEMPTS: u32 = 20_000;

/// `$ref` hops followed for one value, so that a schema that refers to itself ends.
const MAX_HOPS: usize = 16;

/// Coerces `arguments` to `schema` where that loses nothing and checks the rest.
///
/// Coerced: to an integer `"5"`, `" 5 "` and `5.0`; to a number `"2.5"`; to a boolean `"true"` and `"False"`; to a
/// string an integer or a boolean (not a fraction, whose digits may be lost); to an array or an object a string that
/// is one as JSON; and `null` for an argument that is optional means that it was left out. A value that already fits
/// is never touched. An object schema that names properties takes no others unless it says `additionalProperties`.
///
/// # Errors
/// One result text naming every fault, first the unexpected, then the missing, then the unfit:
/// `invalid arguments for tool 'f': unexpected argument 'x'; missing required argument 'y'; 'n' must be …`.
pub fn check(tool: &str, schema: &Value, arguments: Value) -> Result<Value, String> {
    let attempts = Cell::new(MAX_ATTEMPTS);
    let mut coercion = Coercion::new(schema, &attempts);
    let arguments = coercion.value(schema, arguments, &Path::Root);
    if attempts.get() == 0 {
        // The validator would try as many, and it has no bound.
        return Err(format!("invalid arguments for tool '{tool}': they nest too deeply to be checked"));
    }
    coercion.validate(&arguments).map_err(|error| {
        format!("the schema of tool '{tool}' cannot be checked: {}", one_line(&error, MAX_FAULT_CHARS))
    })?;
    let faults: Vec<String> = coercion
        .unexpected
        .into_iter()
        .chain(coercion.missing)
        .chain(coercion.unfit.into_iter().map(|f| f.1))
        .collect();
    if faults.is_empty() {
        return Ok(arguments);
    }
    let more = faults.len().saturating_sub(MAX_FAULTS);
    let mut text: Vec<String> = faults.iter().take(MAX_FAULTS).map(|fault| one_line(fault, MAX_FAULT_CHARS)).collect();
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    Err(format!("invalid arguments for tool '{tool}': {}", text.join("; ")))
}

/// The schema of `T` without what no model needs: `$schema`, titles, formats, `null` alternatives of optional fields,
/// null defaults and a closed `additionalProperties` (see [`check`]). Everything is inlined.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Value::Object(object) = &mut schema {
        // The type's own doc comment describes the code, not the tool.
        object.remove("description");
        // Some model servers insist on the key.
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Removes noise from one schema and all under it. Names of properties and values in `enum`, `const` and `default` are
/// no keywords and stay.
fn tidy(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for noise in ["$schema", "title", "format"] {
        object.remove(noise);
    }
    if object.get("additionalProperties") == Some(&Value::Bool(false)) {
        object.remove("additionalProperties");
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    drop_null(object);
    if let Some(Value::String(description)) = object.get_mut("description") {
        // A doc comment's line breaks are the editor's.
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    for (keyword, inner) in object.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties" | "patternProperties" | "$defs" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.values_mut().for_each(tidy);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(tidy);
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", inner) => tidy(inner),
            _ => {}
        }
    }
}

/// `["string", "null"]` becomes `"string"`; `anyOf: [X, null]` becomes X.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else { return };
    alternatives.retain(|schema| schema.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = alternatives.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (keyword, value) in only {
            object.entry(keyword).or_insert(value);
        }
    }
}

/// Where a value stands in the arguments.
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// For people: `steps[0].text`.
    fn name(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Field(Path::Root, name) => (*name).to_owned(),
            Self::Field(parent, name) => format!("{}.{name}", parent.name()),
            Self::Item(parent, index) => format!("{}[{index}]", parent.name()),
        }
    }

    /// As the validator writes it: `/steps/0/text`.
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Field(parent, name) => {
                format!("{}/{}", parent.pointer(), name.replace('~', "~0").replace('/', "~1"))
            }
            Self::Item(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }

    fn quoted(&self) -> String {
        match self {
            Self::Root => "the arguments".to_owned(),
            _ => format!("'{}'", self.name()),
        }
    }
}

struct Coercion<'a> {
    root: &'a Value,
    /// Alternatives that may still be tried.
    attempts: &'a Cell<u32>,
    unexpected: Vec<String>,
    missing: Vec<String>,
    /// Faults of a value, each with the validator's pointer to it.
    unfit: Vec<(String, String)>,
}

impl<'a> Coercion<'a> {
    fn new(root: &'a Value, attempts: &'a Cell<u32>) -> Self {
        Self { root, attempts, unexpected: Vec::new(), missing: Vec::new(), unfit: Vec::new() }
    }

    fn value(&mut self, schema: &'a Value, value: Value, path: &Path<'_>) -> Value {
        let schema = self.resolve(schema);
        let kinds = kinds(schema);
        if kinds.is_empty() {
            return self.alternatives(schema, value, path);
        }
        let value = if kinds.iter().any(|kind| is(kind, &value)) {
            value
        } else if let Some(coerced) = kinds.iter().find_map(|kind| coerce(kind, &value)) {
            coerced
        } else {
            let expected: Vec<&str> = kinds.iter().map(|kind| article(kind)).collect();
            let text = format!("{} must be {}, got {}", path.quoted(), expected.join(" or "), describe(&value));
            self.unfit.push((path.pointer(), text));
            return value;
        };
        match value {
            Value::Object(fields) => Value::Object(self.object(schema, fields, path)),
            Value::Array(items) => match schema.get("items") {
                Some(inner) => items
                    .into_iter()
                    .enumerate()
                    .map(|(index, item)| self.value(inner, item, &Path::Item(path, index)))
                    .collect(),
                None => Value::Array(items),
            },
            other => other,
        }
    }

    fn object(&mut self, schema: &'a Value, fields: Map<String, Value>, path: &Path<'_>) -> Map<String, Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let closed = is_closed(schema, properties.is_some_and(|p| !p.is_empty()) || matches!(path, Path::Root));
        let mut kept = Map::new();
        for (name, value) in fields {
            let at = Path::Field(path, &name);
            match properties.and_then(|properties| properties.get(&name)) {
                Some(inner) => {
                    let left_out = value.is_null() && !required.contains(&name.as_str()) && !self.takes_null(inner);
                    if !left_out {
                        let value = self.value(inner, value, &at);
                        kept.insert(name, value);
                    }
                }
                None if closed => {
                    self.unexpected.push(format!("unexpected argument '{}'", at.name()));
                }
                None => {
                    let value = match schema.get("additionalProperties") {
                        Some(inner @ Value::Object(_)) => self.value(inner, value, &at),
                        _ => value,
                    };
                    kept.insert(name, value);
                }
            }
        }
        for name in required {
            // A fault of another kind already names a field that is there and does not fit.
            if !kept.contains_key(name) && properties.unwrap_or(&none).contains_key(name) {
                self.missing.push(format!("missing required argument '{}'", Path::Field(path, name).name()));
            }
        }
        kept
    }

    /// A schema without a type: a value that fits stays; otherwise the first alternative that it can be coerced to.
    fn alternatives(&mut self, schema: &'a Value, value: Value, path: &Path<'_>) -> Value {
        let list = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)).and_then(Value::as_array);
        let Some(list) = list else { return value };
        for exact in [true, false] {
            for inner in list {
                let Some(left) = self.attempts.get().checked_sub(1) else { return value };
                self.attempts.set(left);
                let mut attempt = Coercion::new(self.root, self.attempts);
                let coerced = attempt.value(inner, value.clone(), path);
                let fits = attempt.unexpected.is_empty() && attempt.missing.is_empty() && attempt.unfit.is_empty();
                if fits && (!exact || coerced == value) {
                    return coerced;
                }
            }
        }
        value
    }

    /// Follows local references; a reference elsewhere is left to the validator.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..MAX_HOPS {
            let Some(target) = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| self.root.pointer(pointer))
            else {
                break;
            };
            schema = target;
        }
        schema
    }

    fn takes_null(&self, schema: &'a Value) -> bool {
        let schema = self.resolve(schema);
        let kinds = kinds(schema);
        kinds.contains(&"null")
            || (kinds.is_empty()
                && (["anyOf", "oneOf"].iter().all(|key| schema.get(key).is_none())
                    || ["anyOf", "oneOf"]
                        .iter()
                        .filter_map(|key| schema.get(key).and_then(Value::as_array))
                        .flatten()
                        .any(|inner| self.resolve(inner).get("type").is_some_and(|kind| kind == "null"))))
    }

    /// What coercion does not cover: enumerations, bounds, lengths, patterns, combinations.
    fn validate(&mut self, arguments: &Value) -> Result<(), String> {
        use jsonschema::error::ValidationErrorKind as Kind;
        let validator = jsonschema::validator_for(self.root).map_err(|error| error.to_string())?;
        for error in validator.iter_errors(arguments) {
            let pointer = error.instance_path().to_string();
            let known = self.unfit.iter().any(|(at, _)| pointer == *at || pointer.starts_with(&format!("{at}/")));
            let text = match error.kind() {
                Kind::AdditionalProperties { .. } if !self.unexpected.is_empty() => continue,
                Kind::Required { property } => {
                    let name = format!("{pointer}/{}", property.as_str().unwrap_or_default());
                    let text = format!("missing required argument '{}'", pointer_name(&name));
                    if !self.missing.contains(&text) {
                        self.missing.push(text);
                    }
                    continue;
                }
                _ if known => continue,
                _ if pointer.is_empty() => error.to_string(),
                // The validator's own text repeats the value, which may be long.
                _ => format!("'{}': {}", pointer_name(&pointer), shorten(&error)),
            };
            self.unfit.push((pointer, text));
        }
        Ok(())
    }
}

/// The validator's sentence with a short form of the value in it.
fn shorten(error: &jsonschema::ValidationError<'_>) -> String {
    error.masked_with(describe(error.instance())).to_string()
}

/// `/steps/0/text` as `steps[0].text`.
fn pointer_name(pointer: &str) -> String {
    let mut name = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() {
            name.push_str(&format!("[{part}]"));
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&part.replace("~1", "/").replace("~0", "~"));
        }
    }
    name
}

/// The types a schema names, in its order; `integer` stands before `number` for a value that could be either.
fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ => Vec::new(),
    }
}

/// Whether an object takes only the properties it names.
fn is_closed(schema: &Value, by_default: bool) -> bool {
    match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => !open,
        Some(_) => false,
        None => {
            // Properties may be named elsewhere, so only the validator can tell.
            let elsewhere =
                ["patternProperties", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "unevaluatedProperties"];
            by_default && elsewhere.iter().all(|key| schema.get(key).is_none())
        }
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// Coerces where that loses nothing; `None`: it would.
fn coerce(kind: &str, value: &Value) -> Option<Value> {
    match (kind, value) {
        ("integer", Value::String(text)) => {
            let text = text.trim();
            text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
        }
        ("integer", Value::Number(number)) => whole(number.as_f64()?).map(Value::from),
        ("number", Value::String(text)) => {
            let text = text.trim();
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
            match text.parse::<i64>() {
                Ok(integer) => Some(Value::from(integer)),
                Err(_) => serde_json::Number::from_f64(number).map(Value::Number),
            }
        }
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        ("string", Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Some(Value::String(number.to_string()))
        }
        ("array" | "object", Value::String(text)) => {
            serde_json::from_str::<Value>(text).ok().filter(|parsed| is(kind, parsed))
        }
        _ => None,
    }
}

/// A float that is exactly an integer a JSON reader would keep exactly.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn article(kind: &str) -> &str {
    match kind {
        "string" => "a string",
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        "null" => "null",
        other => other,
    }
}

/// A value in a few words.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("\"{}\"", one_line(text, 60)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
