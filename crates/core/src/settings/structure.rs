//! Checks a parsed file against the schema: unknown keys, missing fields, types, ranges, names, quantities.
//!
//! The checks are not left to serde because serde stops at the first error and forgets positions in tagged enums.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::document::Document;
use crate::settings::shape::{Shape, Undecided};
use crate::settings::{Finding, Problem, closest, quantity, shape};

/// Returns all findings of the schema about `document`.
pub fn check(document: &Document<'_>, schema: &Value) -> Vec<Finding> {
    let mut walk = Walk { document, root: schema, findings: Vec::new() };
    walk.table(schema, document.root.get_ref(), 0..0, "");
    walk.findings
}

struct Walk<'a> {
    document: &'a Document<'a>,
    root: &'a Value,
    findings: Vec<Finding>,
}

impl<'a> Walk<'a> {
    fn report(&mut self, span: Range<usize>, problem: Problem) {
        self.findings.push(Finding::at(&self.document.lines, span, problem));
    }

    fn value(&mut self, schema: &'a Value, value: &Spanned<DeValue<'_>>, field: &str) {
        let word = shape::word(self.root, schema).filter(|_| matches!(value.get_ref(), DeValue::String(_)));
        let schema = word.unwrap_or_else(|| shape::resolve(self.root, schema));
        let span = value.span();
        match (shape::kind_of(schema), value.get_ref()) {
            ("object", DeValue::Table(table)) => self.table(schema, table, span, field),
            ("array", DeValue::Array(items)) => self.array(schema, items, span, field),
            (_, other) => {
                if let Err((rule, hint)) = check_scalar(self.root, schema, other) {
                    let written = self.document.written(span.clone());
                    self.report(span, Problem::new(field, written, rule).maybe_hint(hint));
                }
            }
        }
    }

    fn array(&mut self, schema: &'a Value, items: &[Spanned<DeValue<'_>>], span: Range<usize>, field: &str) {
        let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
        let count = items.len() as u64;
        if limit("minItems").is_some_and(|least| count < least) || limit("maxItems").is_some_and(|most| count > most) {
            let rule = match (limit("minItems"), limit("maxItems")) {
                (Some(least), Some(most)) if least == most => format!("must have exactly {least} entries"),
                (Some(least), _) => format!("must have at least {least} entries"),
                (None, most) => format!("must have at most {} entries", most.unwrap_or(0)),
            };
            self.report(span, Problem::new(field, "", rule));
        }
        let Some(item_schema) = schema.get("items") else { return };
        for (index, item) in items.iter().enumerate() {
            self.value(item_schema, item, &format!("{field}[{index}]"));
        }
    }

    fn table(&mut self, schema: &'a Value, table: &DeTable<'_>, span: Range<usize>, field: &str) {
        let chosen = |tag: &str| match find(table, tag)?.1.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        };
        let shape = Shape::of(self.root, schema, &chosen);
        for (key, value) in table {
            match shape.property(key.get_ref()) {
                Some(property) => self.value(property, value, &join(field, key.get_ref())),
                // Without a valid tag the allowed keys are unknown.
                None if shape.undecided.is_empty() => self.unknown_key(&shape, key.get_ref(), key.span(), field),
                None => {}
            }
        }
        for name in shape.required.iter().filter(|name| find(table, name).is_none()) {
            match shape.undecided.iter().find(|undecided| undecided.tag == *name) {
                Some(undecided) => self.missing_tag(undecided, table, span.clone(), field),
                None => self.missing(&shape, name, span.clone(), field),
            }
        }
        for undecided in &shape.undecided {
            self.bad_tag(table, undecided, field);
        }
    }

    fn unknown_key(&mut self, shape: &Shape<'_>, key: &str, span: Range<usize>, field: &str) {
        let names: Vec<&str> = shape.properties.iter().map(|(name, _)| *name).collect();
        let moved = shape.moved.iter().find(|pair| pair[0] == key).and_then(|pair| pair[1].as_str());
        let hint = match (moved, closest(key, names.iter().copied())) {
            (Some(spelling), _) => format!("write {spelling}"),
            (None, Some(name)) => format!("did you mean `{name}`?"),
            (None, None) => format!("known here: {}", names.join(", ")),
        };
        self.report(span, Problem::new(join(field, key), "", "there is no such field").hint(hint));
    }

    fn missing(&mut self, shape: &Shape<'_>, name: &str, span: Range<usize>, field: &str) {
        let property = shape.property(name).map(|schema| shape::resolve(self.root, schema));
        let example =
            property.and_then(|schema| shape::example(self.root, schema)).filter(|text| text != shape::ANY_TEXT);
        let hint = example.map(|example| format!("for example: {name} = {example}"));
        self.report(span, Problem::new(join(field, name), "", "must be given").maybe_hint(hint));
    }

    fn missing_tag(&mut self, undecided: &Undecided<'_>, table: &DeTable<'_>, span: Range<usize>, field: &str) {
        let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
        let hint = format!("{} = {}", undecided.tag, quoted(&undecided.names_with(self.root, &keys)).join(" or "));
        self.report(span, Problem::new(join(field, undecided.tag), "", "must be given").hint(hint));
    }

    fn bad_tag(&mut self, table: &DeTable<'_>, undecided: &Undecided<'_>, field: &str) {
        // A missing tag was already reported.
        let Some((_, value)) = find(table, undecided.tag) else { return };
        let given = if let DeValue::String(text) = value.get_ref() { text.as_ref() } else { "" };
        let (rule, hint) = one_of(&undecided.names(), given);
        let written = self.document.written(value.span());
        self.report(value.span(), Problem::new(join(field, undecided.tag), written, rule).maybe_hint(hint));
    }
}

type Key<'t> = Spanned<toml::de::DeString<'t>>;

fn find<'a, 't>(table: &'a DeTable<'t>, name: &str) -> Option<(&'a Key<'t>, &'a Spanned<DeValue<'t>>)> {
    table.iter().find(|(key, _)| key.get_ref() == name)
}

fn join(field: &str, name: &str) -> String {
    if field.is_empty() { name.to_string() } else { format!("{field}.{name}") }
}

type Verdict = Result<(), (String, Option<String>)>;

fn fail<T>(rule: impl Into<String>, hint: Option<String>) -> Result<T, (String, Option<String>)> {
    Err((rule.into(), hint))
}

fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("\"{name}\"")).collect()
}

fn one_of(names: &[&str], given: &str) -> (String, Option<String>) {
    let hint = closest(given, names.iter().copied()).map(|name| format!("did you mean \"{name}\"?"));
    (format!("must be one of {}", quoted(names).join(", ")), hint)
}

fn check_scalar(root: &Value, schema: &Value, value: &DeValue<'_>) -> Verdict {
    match shape::kind_of(schema) {
        "string" => check_string(schema, value),
        "integer" | "number" => check_number(schema, value),
        "boolean" if matches!(value, DeValue::Boolean(_)) => Ok(()),
        "boolean" => fail("must be true or false", None),
        "array" => fail("must be a list in square brackets", None),
        "object" => {
            let example = shape::example(root, schema);
            fail("must be a table", example.map(|example| format!("write it as in {example}")))
        }
        _ => Ok(()),
    }
}

fn check_string(schema: &Value, value: &DeValue<'_>) -> Verdict {
    let name = schema.get("format").and_then(Value::as_str).unwrap_or("");
    let format = quantity::format_named(name);
    let DeValue::String(text) = value else {
        return match format {
            Some(format) => {
                let hint = format!("write it as in \"{}\"", format.example);
                fail(format!("a {name} is text with a unit"), Some(hint))
            }
            None => fail("must be text in quotes", None),
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
        _ if most.is_infinite() => fail(format!("must be at least {least}"), None),
        _ => fail(format!("must be between {least} and {most}"), None),
    }
}

/// Suggests how to write a number that was written as text.
fn as_number(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok()) {
        return Some(format!("as a fraction of one: {}", percent / 100.0));
    }
    text.parse::<f64>().is_ok().then(|| format!("without quotes: {text}"))
}
