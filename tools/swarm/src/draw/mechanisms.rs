//! Mechanisms: kinds, places and settings.

use toml::{Table, Value};

use super::parts::{list, parsed};
use super::settings::Settings;
use super::topology::Places;
use crate::dice::Dice;

/// Settings that are drawn here: places, and sequences of events.
const DRAWN_HERE: [&str; 6] = ["link", "links", "ports", "caching_ports", "activation", "kind"];

/// An entry of a kind at a random place; each setting is given once in `rarity` times.
pub fn entry(
    kind: (&str, &serde_json::Value),
    settings: &Settings<'_>,
    rarity: u64,
    places: &Places,
    dice: &mut Dice,
) -> Table {
    let (name, schema) = kind;
    let mut entry = settings.table(schema, rarity, &DRAWN_HERE, dice);
    entry.insert("kind".into(), name.into());
    let has = |setting: &str| schema["properties"].get(setting).is_some();
    if has("link") {
        let link = places.core_link(dice);
        entry.insert("link".into(), dice.one_of(link).as_str().into());
    }
    if has("links") {
        let link = places.core_link(dice);
        let name = if dice.once_in(2) { link[0].replace("->", "<->") } else { dice.one_of(link).clone() };
        entry.insert("links".into(), Value::Array(vec![name.into()]));
    }
    // With links, `ports` are service ports of flows, which worlds do not use.
    if has("ports") && !has("links") && dice.once_in(2) {
        entry.insert("ports".into(), Value::Array(vec![port(places, dice).into()]));
    }
    if has("activation") && dice.once_in(2) {
        entry.insert("activation".into(), activation(dice));
    }
    entry
}

/// All ports of a switch, or the port that sends on a link between switches.
fn port(places: &Places, dice: &mut Dice) -> String {
    if dice.once_in(2) || places.core.is_empty() {
        return dice.one_of(&places.switches).clone();
    }
    let link = places.core_link(dice);
    dice.one_of(link).clone()
}

/// Switches the mechanism on and off during the run, up to six times.
fn activation(dice: &mut Dice) -> Value {
    let mut at_ns = dice.between(0, 100_000);
    let first = dice.once_in(2);
    let changes = (0..dice.between(1, 6)).map(|number| {
        let change = format!("at = \"{at_ns} ns\"\nactive = {}", (number % 2 == 0) == first);
        at_ns += dice.scale(100, 150_000);
        parsed(&change)
    });
    list(changes)
}
