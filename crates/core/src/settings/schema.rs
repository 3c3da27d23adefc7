//! The JSON schema of a file, made from the structs and their doc comments.

use serde_json::Value;

/// A schema as schemars has generated it, made one of files: what may be left out is not required, and there is no
/// null.
pub fn completed(mut schema: Value) -> Value {
    drop_null(&mut schema);
    require_marked(&mut schema);
    schema
}

/// TOML has no null: what may be left out is simply not required.
fn drop_null(schema: &mut Value) {
    if let Value::Object(object) = schema {
        if object.get("default").is_some_and(Value::is_null) {
            object.remove("default");
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(mut choices)) = object.remove("anyOf") {
            choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
            match choices.pop() {
                Some(Value::Object(only)) if choices.is_empty() => object.extend(only),
                other => drop(object.insert("anyOf".into(), choices.into_iter().chain(other).collect())),
            }
        }
    }
    match schema {
        Value::Object(object) => object.values_mut().for_each(drop_null),
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}

/// A field of a struct with `serde(default)` can be required all the same: `extend("x-required" = true)`.
fn require_marked(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    let mut marked = Vec::new();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let Value::Object(property) = property else { continue };
            if property.remove("x-required").is_some() {
                property.remove("default");
                marked.push(Value::from(name.as_str()));
            }
        }
    }
    if !marked.is_empty() {
        let required = object.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        required.as_array_mut().into_iter().for_each(|list| list.append(&mut marked));
    }
    object.values_mut().for_each(require_in);
}

fn require_in(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(require_in),
        other => require_marked(other),
    }
}
