//! A tool's parameters as its schema declares them, one line each: `path  string, required`. It checks nothing.

use ratatui::text::{Line, Span};
use serde_json::Value;

use crate::ui::state::Ui;
use crate::ui::text::{clean_line, width};
use crate::ui::theme::Role;
use crate::ui::view::paint::ends;

/// Columns before a parameter's name.
const INDENT: usize = 7;
/// Columns of the longest name that kinds are lined up after.
const NAME: usize = 16;
/// Columns from which a parameter's description stands beside it.
const WIDE: usize = 70;

/// The lines, in the schema's order.
pub(super) fn lines(ui: &Ui, schema: &Value, room: usize, lines: &mut Vec<Line<'static>>) {
    let dim = ui.theme.style(Role::Dim);
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
        lines.push(Line::styled(format!("{:INDENT$}takes no arguments", ""), dim));
        return;
    };
    let is_required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let names: Vec<_> = properties.keys().map(|name| clean_line(name)).collect();
    let column = names.iter().map(|name| width(name)).max().unwrap_or(0).min(NAME);
    for (shown, (name, parameter)) in names.iter().zip(properties) {
        let padding = " ".repeat(column.saturating_sub(width(shown)) + 2);
        let required = if is_required(name) { ", required" } else { "" };
        let mut left = vec![
            Span::raw(" ".repeat(INDENT)),
            Span::styled(format!("{shown}{padding}"), ui.theme.style(Role::Text)),
            Span::styled(format!("{}{required}", clean_line(&kind(parameter))), dim),
        ];
        if let Some(description) = parameter.get("description").and_then(Value::as_str).filter(|_| room > WIDE) {
            left.push(Span::styled(format!("  {}", clean_line(description)), dim));
        }
        lines.push(ends(left, Vec::new(), room.saturating_sub(1)));
    }
}

/// `string`, `array of string`, `"a" or "b"`, `any`.
fn kind(parameter: &Value) -> String {
    let all = |of: &Value, each: fn(&Value) -> String| {
        let parts: Vec<_> = of.as_array().into_iter().flatten().map(each).filter(|part| part != "null").collect();
        (!parts.is_empty()).then(|| parts.join(" or "))
    };
    let word = |value: &Value| value.as_str().unwrap_or("any").to_owned();
    let choice = |list: &Value| all(list, Value::to_string);
    if let Some(choices) = parameter.get("enum").and_then(choice) {
        return choices;
    }
    let base = match (parameter.get("type"), parameter.get("anyOf").or_else(|| parameter.get("oneOf"))) {
        (Some(Value::Array(_)), _) => parameter.get("type").and_then(|types| all(types, word)),
        (Some(one), _) => Some(word(one)),
        (None, Some(alternatives)) => all(alternatives, kind),
        (None, None) => None,
    };
    let base = base.unwrap_or_else(|| "any".to_owned());
    match parameter.get("items").filter(|_| base == "array") {
        Some(items) => format!("array of {}", kind(items)),
        None => base,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_said_in_a_few_words() {
        let table = [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "integer"),
            (json!({"type": ["integer", "string"]}), "integer or string"),
            (json!({"enum": ["read", "write", null]}), "\"read\" or \"write\""),
            (json!({"type": "array", "items": {"type": "string"}}), "array of string"),
            (json!({"type": "array"}), "array"),
            (json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), "number"),
            (json!(true), "any"),
            (json!({}), "any"),
        ];
        for (schema, words) in table {
            assert_eq!(kind(&schema), words, "{schema}");
        }
    }
}
