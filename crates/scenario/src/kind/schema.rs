//! The schema of scenarios with the registered kinds.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Tags the schema of a kind's settings with its name.
pub(super) fn tagged(name: &str, summary: &str, schema: Schema) -> Value {
    let mut schema = schema.to_value();
    schema["description"] = summary.into();
    let properties =
        schema.as_object_mut().map(|object| object.entry("properties").or_insert_with(|| Map::new().into()));
    if let Some(properties) = properties {
        properties["kind"] = json!({ "type": "string", "const": name });
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = [Value::from("kind")].into_iter().chain(required).collect();
    schema
}

/// Adds congestion controls to the two places of a scenario's schema that list them: tables, and names of controls
/// without required settings.
pub(super) fn add_congestion(schema: &mut Value, controls: Vec<(&'static str, Value)>) {
    let mut add = |place: &str, item: Value| {
        schema.pointer_mut(place).and_then(Value::as_array_mut).expect("the schema lists controls").push(item);
    };
    for (name, variant) in controls {
        if variant["required"].as_array().is_some_and(|required| required.len() == 1) {
            add("/$defs/CongestionName/enum", name.into());
        }
        add("/$defs/Congestion/oneOf", variant);
    }
}
