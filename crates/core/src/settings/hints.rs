//! Hints for values of the wrong shape: a number for a table, a table for a list, and the like.

use serde_json::Value;
use toml::de::DeValue;

use crate::settings::scalar::{check_scalar, number_in};
use crate::settings::shape::{self, Shape};

/// Suggests the right shape for `value` of `field`; `source` is its text in the file.
pub(crate) fn reshaped(root: &Value, schema: &Value, value: &DeValue<'_>, source: &str, field: &str) -> Option<String> {
    let kind = shape::kind_of(schema);
    match value {
        DeValue::Table(_) if kind == "array" && source.starts_with('[') => Some(format!("write [[{}]]", header(field))),
        DeValue::Array(_) if kind == "object" && source.starts_with("[[") => Some(format!("write [{}]", header(field))),
        DeValue::Array(items) if !["array", "object"].contains(&kind) => {
            let item = items.first().filter(|_| items.len() == 1)?;
            let inner = source.get(1..source.len().checked_sub(1)?)?.trim();
            check_scalar(schema, item.get_ref()).is_ok().then(|| format!("without brackets: {inner}"))
        }
        _ if kind == "array" && !source.contains('\n') => Some(format!("in square brackets: [{source}]")),
        _ if kind == "object" => {
            let written = literal(value, source).and_then(|literal| table_with(root, schema, &literal));
            let example = written.or_else(|| shape::example(root, schema));
            example.map(|example| format!("write it as in {example}"))
        }
        _ => None,
    }
}

/// Returns the first sentence of a field's description.
pub(crate) fn first_sentence(schema: &Value) -> Option<String> {
    let description = schema.get("description")?.as_str()?.replace('\n', " ");
    let end = description.find(". ").unwrap_or(description.trim_end_matches('.').len());
    Some(description[..end].into())
}

/// Returns the header of a table: its field without numbers, `link.changes` for `link[0].changes`.
fn header(field: &str) -> String {
    field.split('.').map(|step| step.split('[').next().unwrap_or("")).collect::<Vec<_>>().join(".")
}

/// Returns a number or text as TOML, and numbers without quotes: "1 %" is 0.01.
fn literal(value: &DeValue<'_>, source: &str) -> Option<String> {
    match value {
        DeValue::String(text) => Some(number_in(text).unwrap_or_else(|| source.into())),
        DeValue::Integer(_) | DeValue::Float(_) => Some(source.into()),
        _ => None,
    }
}

/// Writes the table meant by `literal`: a kind's name, or the main value of a kind. Other required fields get examples.
/// `None` if several tables fit equally.
fn table_with(root: &Value, schema: &Value, literal: &str) -> Option<String> {
    let variants = shape::tagged_variants(schema).map_or_else(|| vec![("", schema)], |(_, variants)| variants);
    let named = variants.iter().find(|(name, _)| literal.trim_matches(['"', '\'']).eq_ignore_ascii_case(name));
    if let Some((_, variant)) = named {
        return shape::table_example(root, variant, None);
    }
    let mut ranked: Vec<(usize, String)> =
        variants.iter().filter_map(|(_, variant)| filled(root, variant, literal)).collect();
    ranked.sort_unstable();
    match ranked.as_slice() {
        [(first, _), (second, _), ..] if first == second => None,
        [(_, best), ..] => Some(best.clone()),
        [] => None,
    }
}

/// Writes a table with `literal` as its only fitting required field; the rank is lower for a better fit.
fn filled(root: &Value, variant: &Value, literal: &str) -> Option<(usize, String)> {
    let shape = Shape::of(root, variant, &|_| None);
    let value = DeValue::parse(literal).ok()?;
    let fits = |name: &&&str| {
        let schema = shape.property(name).map(|schema| shape::resolve(root, schema));
        let is_open = |schema: &&Value| schema.get("const").is_none() && !shape::kind_of(schema).is_empty();
        schema.filter(is_open).is_some_and(|schema| check_scalar(schema, value.get_ref()).is_ok())
    };
    let fitting: Vec<&&str> = shape.required.iter().filter(fits).collect();
    let [name] = fitting.as_slice() else { return None };
    let is_any_text = shape::example(root, shape.property(name)?).as_deref() == Some(shape::ANY_TEXT);
    let text = shape::table_example(root, variant, Some((name, literal)))?;
    Some((shape.required.len() + if is_any_text { 100 } else { 0 }, text))
}
