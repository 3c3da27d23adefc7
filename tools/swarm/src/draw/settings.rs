//! Random values of settings, drawn from the schema of scenarios: every possible value is drawn at some time, and a new
//! setting needs no code here.

use serde_json::Value;
use toml::Table;

use crate::dice::Dice;

/// Draws values according to a schema.
pub struct Settings<'a> {
    schema: &'a Value,
}

impl<'a> Settings<'a> {
    pub const fn new(schema: &'a Value) -> Self {
        Self { schema }
    }

    /// The schemas of the kinds of mechanisms, each with its name.
    pub fn kinds(&self) -> Vec<(&'a str, &'a Value)> {
        let entry = self.resolved(&self.schema["properties"]["mechanism"]["items"]);
        let kinds = entry["oneOf"].as_array().map_or(&[][..], Vec::as_slice);
        kinds.iter().filter_map(|kind| Some((kind["properties"]["kind"]["const"].as_str()?, kind))).collect()
    }

    /// The schemas of the kinds with these names.
    pub fn kinds_of(&self, names: &[&str]) -> Vec<(&'a str, &'a Value)> {
        self.kinds().into_iter().filter(|(name, _)| names.contains(name)).collect()
    }

    /// Draws a table with all required settings, and each of the others once in `rarity` times, except the names in
    /// `without`.
    pub fn table(&self, schema: &'a Value, rarity: u64, without: &[&str], dice: &mut Dice) -> Table {
        let schema = self.resolved(schema);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut table = Table::new();
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            let is_wanted = required.contains(&name.as_str()) || dice.once_in(rarity);
            if is_wanted && !without.contains(&name.as_str()) {
                table.extend(self.value(of, dice).map(|value| (name.clone(), value)));
            }
        }
        table
    }

    /// Draws the value of a setting; `None` for values such as a path, which cannot be drawn.
    pub fn value(&self, schema: &'a Value, dice: &mut Dice) -> Option<toml::Value> {
        let schema = self.resolved(schema);
        if let Some(only) = schema["const"].as_str() {
            return Some(only.into());
        }
        if let Some(choices) = ["oneOf", "anyOf", "enum"].into_iter().find_map(|key| schema[key].as_array()) {
            let choice = dice.one_of(choices);
            return choice.as_str().map_or_else(|| self.value(choice, dice), |name| Some(name.into()));
        }
        match schema["type"].as_str()? {
            "boolean" => Some(dice.once_in(2).into()),
            "integer" => Some(whole(schema, dice)),
            "number" => Some(number(schema, dice)),
            "string" => quantity(schema["format"].as_str()?, dice).map(Into::into),
            "object" => Some(self.table(schema, 3, &[], dice).into()),
            "array" => self.list(&schema["items"], dice),
            _ => None,
        }
    }

    /// Draws up to three values. A list of tables is a sequence of events, which needs special code.
    fn list(&self, items: &'a Value, dice: &mut Dice) -> Option<toml::Value> {
        let is_plain = matches!(self.resolved(items)["type"].as_str()?, "integer" | "number" | "boolean");
        let count = dice.between(1, 3);
        is_plain.then(|| toml::Value::Array((0..count).filter_map(|_| self.value(items, dice)).collect()))
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str().and_then(|path| self.schema.pointer(path.strip_prefix('#')?)) {
            Some(definition) => self.resolved(definition),
            None => schema,
        }
    }
}

fn whole(schema: &Value, dice: &mut Dice) -> toml::Value {
    let low = schema["minimum"].as_u64().unwrap_or(0);
    let high = schema["maximum"].as_u64().unwrap_or(1 << 20).min(i64::MAX as u64);
    // Large tables only take time.
    (dice.scale(low, high.min(1 << 16).max(low)) as i64).into()
}

fn number(schema: &Value, dice: &mut Dice) -> toml::Value {
    let low = schema["minimum"].as_f64().unwrap_or(0.0);
    let high = schema["maximum"].as_f64().unwrap_or(1_000.0);
    let value = match dice.between(0, 7) {
        0 => low,
        1 => high,
        2 | 3 => low + (high - low) * dice.unit() * 0.01,
        _ => low + (high - low) * dice.unit(),
    };
    value.into()
}

/// A quantity with its unit, as scenarios write it.
pub fn quantity(format: &str, dice: &mut Dice) -> Option<String> {
    Some(match format {
        "duration" | "time" => format!("{} ps", dice.scale(1, 2_000_000_000)),
        "size" => format!("{} B", dice.scale(64, 2_000_000)),
        "rate" => format!("{} Mbps", dice.scale(1_000, 400_000)),
        "queue length" if dice.once_in(2) => format!("{} packets", dice.scale(1, 200)),
        "queue length" => format!("{} B", dice.scale(1_600, 500_000)),
        _ => return None,
    })
}
