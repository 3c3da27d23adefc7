//! Exceptions of switches.

use toml::{Table, Value};

use super::parts::{list, parsed};
use super::topology::Places;
use crate::dice::Dice;

/// Gives some switches of every third world other settings. It draws from a separate stream, so that worlds without
/// exceptions keep their seeds.
pub fn add_to(world: &mut Table, places: &Places, seed: u64) {
    let dice = &mut Dice::new(seed, "exceptions of switches");
    let switch = world.get_mut("switch").and_then(Value::as_table_mut);
    if let Some(switch) = switch.filter(|_| dice.once_in(3)) {
        switch.insert("exceptions".into(), list(models(places, dice)));
    }
}

const BUFFERS: [&str; 5] = [
    "",
    "",
    "buffer = { kind = \"static\", per_port = \"60 KB\" }\n",
    "buffer = { kind = \"shared\", total = \"400 KB\", alpha = 2.0 }\n",
    "buffer = { kind = \"shared\", total = \"16 MB\", alpha = 0.5 }\n",
];

/// Draws one or two models of switches.
fn models(places: &Places, dice: &mut Dice) -> Vec<Table> {
    let count = dice.between(1, 2).min(places.switches.len() as u64);
    let model = |number: u64| {
        let own: Vec<_> = places.switches.iter().skip(number as usize).step_by(count as usize + 1).collect();
        let mut text = format!("switches = {own:?}\n");
        if dice.once_in(4) {
            text += dice.pick(&["preset = \"ideal\"\n", "preset = \"tofino-like\"\n"]);
        }
        text += dice.pick(&[
            "",
            "",
            "scheduler = \"strict\"\nqueues_per_port = 3\n",
            "scheduler = \"drr\"\nqueues_per_port = 4\n",
        ]);
        text += dice.pick(&BUFFERS);
        for latency in ["ingress", "egress", "mirror", "loopback", "phy"] {
            // An exception changes something, so one latency is always there. Latencies are even: the relation of
            // speeds doubles them, and the mean of two codings is in whole picoseconds.
            if latency == "egress" || dice.once_in(2) {
                text += &format!("{latency}_latency = \"{} ps\"\n", 2 * dice.scale(1, 500_000));
            }
        }
        parsed(&text)
    };
    (0..count).map(model).collect()
}
