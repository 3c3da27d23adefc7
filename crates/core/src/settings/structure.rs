//! Checks a parsed file against the schema: unknown keys, missing fields, types, ranges, names, quantities.
//!
//! The checks are not left to serde because serde stops at the first error and forgets positions in tagged enums.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::document::Document;
use crate::settings::hints;
use crate::settings::scalar::{check_scalar, one_of, quoted};
use crate::settings::shape::{Shape, Undecided};
use crate::settings::{Finding, Problem, closest, shape};

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
                if let Err((rule, hint)) = check_scalar(schema, other) {
                    let written = self.document.written(span.clone());
                    let source = self.document.text.get(span.clone()).unwrap_or("");
                    let hint = hint.or_else(|| hints::reshaped(self.root, schema, other, source, field));
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
        let mut absent: Vec<&str> = shape.required.iter().copied().filter(|name| find(table, name).is_none()).collect();
        for (key, value) in table {
            if let Some(property) = shape.property(key.get_ref()) {
                self.value(property, value, &join(field, key.get_ref()));
                continue;
            }
            let meant = self.meant(&shape, &absent, key.get_ref(), value);
            // A field under another name is one error, not two.
            absent.retain(|name| Some(*name) != meant);
            // Without a valid tag the allowed keys are unknown.
            if shape.undecided.is_empty() || meant.is_some() {
                self.unknown_key(&shape, meant, key.get_ref(), key.span(), field);
            }
        }
        for name in absent {
            match shape.undecided.iter().find(|undecided| undecided.tag == name) {
                Some(undecided) => self.missing_tag(undecided, &shape, table, span.clone(), field),
                None => self.missing(&shape, name, span.clone(), field),
            }
        }
        for undecided in &shape.undecided {
            self.bad_tag(table, undecided, field);
        }
    }

    /// Guesses the field meant by an unknown `key`: a similar name, or the only `absent` field with this type of value.
    fn meant<'s>(
        &self,
        shape: &Shape<'s>,
        absent: &[&'s str],
        key: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<&'s str> {
        if let [undecided, ..] = shape.undecided.as_slice() {
            let is_name = value.get_ref().as_str().is_some_and(|text| undecided.names().contains(&text));
            return (is_name && absent.contains(&undecided.tag)).then_some(undecided.tag);
        }
        let names = || shape.properties.iter().map(|(name, _)| *name);
        let fits = |name: &&&str| {
            let mut probe = Walk { document: self.document, root: self.root, findings: Vec::new() };
            shape.property(name).is_some_and(|schema| {
                probe.value(schema, value, "");
                probe.findings.is_empty()
            })
        };
        let similar = closest(key, absent.iter().copied()).or_else(|| closest(key, names()));
        similar.or_else(|| only(absent.iter().filter(fits)).copied())
    }

    fn unknown_key(&mut self, shape: &Shape<'_>, meant: Option<&str>, key: &str, span: Range<usize>, field: &str) {
        let moved = shape.moved.iter().find(|pair| pair[0] == key).and_then(|pair| pair[1].as_str());
        let hint = match (moved, meant) {
            (Some(spelling), _) => format!("write {spelling}"),
            (None, Some(name)) => format!("did you mean `{name}`?"),
            (None, None) => {
                let names: Vec<&str> = shape.properties.iter().map(|(name, _)| *name).collect();
                format!("known here: {}", names.join(", "))
            }
        };
        self.report(span, Problem::new(join(field, key), "", "there is no such field").hint(hint));
    }

    fn missing(&mut self, shape: &Shape<'_>, name: &str, span: Range<usize>, field: &str) {
        let property = shape.property(name).map(|schema| shape::resolve(self.root, schema));
        let example =
            property.and_then(|schema| shape::example(self.root, schema)).filter(|text| text != shape::ANY_TEXT);
        let hint = example.map(|example| format!("for example: {name} = {example}"));
        let hint = hint.or_else(|| shape.property(name).and_then(hints::first_sentence));
        self.report(span, Problem::new(join(field, name), "", "must be given").maybe_hint(hint));
    }

    fn missing_tag(
        &mut self,
        undecided: &Undecided<'_>,
        shape: &Shape<'_>,
        table: &DeTable<'_>,
        span: Range<usize>,
        field: &str,
    ) {
        let keys = table.keys().map(|key| key.get_ref().as_ref());
        let decisive: Vec<&str> = keys.filter(|key| shape.property(key).is_none()).collect();
        let hint = format!("{} = {}", undecided.tag, quoted(&undecided.names_with(self.root, &decisive)).join(" or "));
        self.report(span, Problem::new(join(field, undecided.tag), "", "must be given").hint(hint));
    }

    fn bad_tag(&mut self, table: &DeTable<'_>, undecided: &Undecided<'_>, field: &str) {
        // Missing tags and other types were already reported.
        let Some((_, value)) = find(table, undecided.tag) else { return };
        let Some(given) = value.get_ref().as_str() else { return };
        let (rule, similar) = one_of(&undecided.names(), given);
        let hint = undecided.choice_within(self.root, given).or(similar);
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

/// Returns the item of an iterator with exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
