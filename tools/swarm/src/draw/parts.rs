use toml::{Table, Value};

/// Parses a part that is written as TOML.
pub fn parsed(text: &str) -> Table {
    text.parse().expect("a part of a world is written as TOML")
}

pub fn list(tables: impl IntoIterator<Item = Table>) -> Value {
    Value::Array(tables.into_iter().map(Value::Table).collect())
}

/// Makes a world of a fabric, with the settings `switch`.
pub fn world(fabric: Table, switch: &str) -> Table {
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    world.insert("switch".into(), parsed(switch).into());
    world
}
