//! Checks single values against their schema: types, ranges, names, quantities.

use serde_json::Value;
use toml::de::DeValue;

use crate::settings::{closest, quantity, shape};

type Verdict = Result<(), (String, Option<String>)>;

fn fail<T>(rule: impl Into<String>, hint: Option<String>) -> Result<T, (String, Option<String>)> {
    Err((rule.into(), hint))
}

pub(crate) fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("\"{name}\"")).collect()
}

/// Returns the rule for a value from a list of `names`, and the closest name to `given` as a hint.
pub(crate) fn one_of(names: &[&str], given: &str) -> (String, Option<String>) {
    let hint = closest(given, names.iter().copied()).map(|name| format!("did you mean \"{name}\"?"));
    (format!("must be one of {}", quoted(names).join(", ")), hint)
}

/// Checks a single value; on failure returns the rule and a hint.
pub(crate) fn check_scalar(schema: &Value, value: &DeValue<'_>) -> Verdict {
    match shape::kind_of(schema) {
        "string" => check_string(schema, value),
        "integer" | "number" => check_number(schema, value),
        "boolean" if matches!(value, DeValue::Boolean(_)) => Ok(()),
        "boolean" => fail("must be true or false", as_boolean(value)),
        "array" => fail("must be a list in square brackets", None),
        "object" => fail("must be a table", None),
        _ => Ok(()),
    }
}

fn check_string(schema: &Value, value: &DeValue<'_>) -> Verdict {
    let name = schema.get("format").and_then(Value::as_str).unwrap_or("");
    let format = quantity::format_named(name);
    let DeValue::String(text) = value else {
        return match format {
            Some(format) => {
                let hint = format!("write it as in \"{}\"", (format.with_unit)(&plain(value)));
                fail(format!("a {name} is text with a unit"), Some(hint))
            }
            None => fail("must be text in quotes", Some(plain(value)).filter(|text| !text.is_empty()).map(in_quotes)),
        };
    };
    let names = shape::names(schema);
    if !names.is_empty() && !names.contains(&text.as_ref()) {
        return Err(one_of(&names, text));
    }
    format.map_or(Ok(()), |format| (format.check)(text)).or_else(|error| fail(error.rule, error.hint))
}

fn check_number(schema: &Value, value: &DeValue<'_>) -> Verdict {
    let whole = shape::kind_of(schema) == "integer";
    let number = match value {
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64),
        DeValue::Float(float) if !whole => float.as_str().parse::<f64>().ok(),
        DeValue::String(text) => return fail("must be a number", as_number(text)),
        _ => return fail(if whole { "must be a whole number" } else { "must be a number" }, None),
    };
    let (least, most) = shape::bounds(schema);
    match number {
        Some(number) if (least..=most).contains(&number) => Ok(()),
        // Larger maximums come from the type.
        Some(number) if number < least && most >= i64::MAX as f64 => fail(format!("must be at least {least}"), None),
        _ if most.is_infinite() => fail(format!("must be at least {least}"), None),
        _ if whole => fail(format!("must be between {least} and {}", most as u64), None),
        _ => fail(format!("must be between {least} and {most}"), None),
    }
}

/// Returns a number or a truth value as text; empty for other values.
fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(integer) => integer.as_str().into(),
        DeValue::Float(float) => float.as_str().into(),
        DeValue::Boolean(truth) => truth.to_string(),
        _ => String::new(),
    }
}

fn in_quotes(text: String) -> String {
    format!("in quotes: \"{text}\"")
}

fn as_boolean(value: &DeValue<'_>) -> Option<String> {
    let text = value.as_str().map_or_else(|| plain(value), str::to_lowercase);
    match text.as_str() {
        "true" | "yes" | "on" | "1" => Some("write true".into()),
        "false" | "no" | "off" | "0" => Some("write false".into()),
        _ => None,
    }
}

/// Suggests a number for text with a number.
fn as_number(text: &str) -> Option<String> {
    let number = number_in(text)?;
    Some(if text.contains('%') {
        format!("as a fraction of one: {number}")
    } else {
        format!("without quotes: {number}")
    })
}

/// Reads `text` as a number or a percentage.
pub(crate) fn number_in(text: &str) -> Option<String> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| (percent / 100.0).to_string()),
        None => text.parse::<f64>().is_ok().then(|| text.into()),
    }
}
