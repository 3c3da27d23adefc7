//! Every variant of every mechanism, enumerated from the scenario schema.
//!
//! A variant is a value of a setting: each value of an enum, both values of a boolean, each `kind` of a union, an
//! optional table, and the same for each setting inside these. Numbers, sizes and times have just one value and give no
//! variants.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values of required settings that the schema cannot supply.
const REQUIRED: [(&str, &str); 3] = [("size", "500 KB"), ("pause", "60 KB"), ("resume", "40 KB")];

/// One setting of a mechanism and its value.
#[derive(Clone, Debug)]
pub struct Variant {
    /// For example `scheduler=two-groups` or `sketch.update=figure-3`.
    pub name: String,
    pub setting: String,
    pub value: Value,
}

/// All variants by kind of mechanism.
pub fn of_all_mechanisms() -> BTreeMap<String, Vec<Variant>> {
    let mechanisms = resolve(&hitless_mechanisms::builtin().schema()["properties"]["mechanism"]["items"]);
    let kinds = mechanisms["oneOf"].as_array().expect("a mechanism is of one kind");
    kinds.iter().map(|kind| (kind_of(kind).expect("a mechanism has a kind").to_owned(), of_settings(kind))).collect()
}

fn of_settings(mechanism: &Value) -> Vec<Variant> {
    let settings = properties(mechanism).expect("a mechanism has settings");
    let others = settings.iter().filter(|(name, _)| *name != "kind");
    let variants = others.flat_map(|(setting, schema)| {
        values(schema).into_iter().map(move |(place, value)| Variant {
            name: format!("{setting}{place}"),
            setting: setting.clone(),
            value,
        })
    });
    variants.collect()
}

/// The values of a setting, each with a suffix to the setting's name: `=value` or `.inner=value`.
fn values(schema: &Value) -> Vec<(String, Value)> {
    let schema = resolve(schema);
    if schema["type"] == "boolean" {
        return [true, false].map(|value| (format!("={value}"), Value::Bool(value))).into();
    }
    if let Some(only) = schema.get("const") {
        return vec![(format!("={}", text(only)), only.clone())];
    }
    if let Some(Value::Array(names)) = schema.get("enum") {
        return names.iter().map(|name| (format!("={}", text(name)), name.clone())).collect();
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf").or_else(|| schema.get("anyOf")) {
        return choices.iter().flat_map(values).collect();
    }
    if properties(schema).is_some() { of_table(schema) } else { Vec::new() }
}

/// A table with only its required settings, and with each variant of each of its settings.
fn of_table(schema: &Value) -> Vec<(String, Value)> {
    let kind = kind_of(schema);
    let least = least(schema);
    let label = kind.map_or(" given".to_owned(), |kind| format!("={kind}"));
    let inner = properties(schema).into_iter().flatten().filter(|(name, _)| *name != "kind");
    let inner = inner.flat_map(|(name, schema)| values(schema).into_iter().map(move |found| (name, found)));
    let prefix = kind.map_or(String::new(), |kind| format!("={kind}"));
    let with = |(name, (place, value)): (&String, (String, Value))| {
        let mut table = least.clone();
        table.insert(name.clone(), value);
        (format!("{prefix}.{name}{place}"), Value::Object(table))
    };
    let inner: Vec<_> = inner.map(with).collect();
    std::iter::once((label, Value::Object(least.clone()))).chain(inner).collect()
}

fn least(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten().map(text);
    let value_of = |name: &str| {
        if let Some(kind) = resolve(&schema["properties"][name]).get("const") {
            return kind.clone();
        }
        let known = REQUIRED.iter().find(|(known, _)| *known == name);
        Value::from(known.unwrap_or_else(|| panic!("a variant needs {name:?}: give REQUIRED a value of it")).1)
    };
    required.map(|name| (name.to_owned(), value_of(name))).collect()
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn kind_of(schema: &Value) -> Option<&str> {
    schema["properties"]["kind"]["const"].as_str()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the schema has a text here")
}

fn resolve(schema: &Value) -> &Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(path) => {
            let definition =
                path.strip_prefix("#").and_then(|path| hitless_mechanisms::builtin().schema().pointer(path));
            resolve(definition.unwrap_or_else(|| panic!("the schema has no {path}")))
        }
        None => schema,
    }
}
