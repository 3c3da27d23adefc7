//! Parts that worlds of all themes have.

use toml::{Table, Value};

/// A part that is written as TOML.
pub fn parsed(text: &str) -> Table {
    text.parse().expect("a part of a world is written as TOML")
}

/// A list of tables.
pub fn list(tables: impl IntoIterator<Item = Table>) -> Value {
    Value::Array(tables.into_iter().map(Value::Table).collect())
}

/// A world of a fabric, whose switches are as `switch` says.
pub fn world(fabric: Table, switch: &str) -> Table {
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    world.insert("switch".into(), parsed(switch).into());
    world
}
