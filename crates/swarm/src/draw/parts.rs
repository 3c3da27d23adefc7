//! Parts that worlds of all themes have.

use toml::{Table, Value};

use super::topology::Places;
use super::traffic;
use crate::dice::Dice;

/// A part that is written as TOML.
pub fn parsed(text: &str) -> Table {
    text.parse().expect("a part of a world is written as TOML")
}

/// A list of tables.
pub fn list(tables: impl IntoIterator<Item = Table>) -> Value {
    Value::Array(tables.into_iter().map(Value::Table).collect())
}

/// One to three groups, of one or two transports, and perhaps datagrams.
pub fn add_traffic(world: &mut Table, places: &Places, needs_bolt: bool, dice: &mut Dice) {
    let mut transports = vec![traffic::transport("t0", needs_bolt, dice)];
    if dice.once_in(3) {
        transports.push(traffic::transport("t1", needs_bolt, dice));
    }
    let names = ["t0", "t1"];
    let groups = dice.between(1, 3) as usize;
    let mut flows: Vec<Table> =
        (0..groups).map(|number| traffic::group(number, names[number % transports.len()], places, dice)).collect();
    if dice.once_in(3) {
        transports.push(traffic::datagrams("u", places.host_rate_bps / dice.between(1, 10)));
        flows.push(traffic::datagram_group(groups, "u", places, dice));
    }
    world.insert("transport".into(), list(transports));
    world.insert("flows".into(), list(flows));
}
