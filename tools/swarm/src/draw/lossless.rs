//! Worlds with lossless classes: fabrics without cycles of dependent buffers, and bursts that fill them.

use toml::{Table, Value};

use super::exceptions;
use super::faults;
use super::parts::{parsed, world};
use super::topology::Places;
use super::traffic;
use crate::dice::Dice;

/// Draws a world with bursts and flow control.
pub fn lossless(seed: u64) -> Table {
    let dice = &mut Dice::new(seed, "lossless");
    let fabric = fabric(dice);
    let places = Places::of(&fabric).expect("the fabric can be built");
    // A separate stream, so that worlds with pauses keep their seeds.
    let credits = &mut Dice::new(seed, "credits");
    let by_credit = credits.once_in(2);
    let mut switch = parsed(&switch(dice));
    if by_credit {
        switch.remove("pfc");
        switch.insert("cbfc".into(), parsed(&credit_settings(credits)).into());
    }
    let mut world = world(fabric, &switch.to_string());
    exceptions::add_to(&mut world, &places, seed);
    if dice.once_in(3) {
        world.extend(parsed("[host]\nkernel = { send = \"2 us\", receive = \"2 us\" }"));
    }
    traffic::add_to(&mut world, &places, false, dice);
    let fan_in = dice.between(1, places.hosts.len() as u64 - 1);
    let burst = format!(
        "name = \"burst\"\ntransport = \"t0\"\nkind = \"incast\"\nfan_in = {fan_in}\nsize = \"{} KB\"\ncount = {}\n\
         period = \"100 us\"\nclients = [{:?}]",
        dice.scale(5, 500),
        dice.between(1, 3),
        dice.one_of(&places.hosts)
    );
    let flows = world.get_mut("flows").and_then(Value::as_array_mut);
    flows.into_iter().for_each(|flows| flows.push(parsed(&burst).into()));
    if by_credit && credits.once_in(2) {
        world.insert("link".into(), Value::Array(vec![lossy_link(&world, credits).into()]));
    }
    if by_credit && credits.once_in(2) {
        world.extend(faults::failures(&places, credits));
    }
    world
}

/// Draws `[switch.cbfc]`. The check refuses memory below a frame, and another world is drawn.
fn credit_settings(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.once_in(2) {
        text += &format!("buffer = \"{} B\"\n", dice.scale(2_000, 200_000));
    }
    text += dice.pick(&["", "", "credit = \"256 B\"\n", "credit = \"1 B\"\n"]);
    if dice.once_in(3) {
        text += &format!("response = \"{} ns\"\n", dice.scale(0, 2_000));
    }
    if dice.once_in(3) {
        text += &format!("update_spacing = \"{} B\"\n", dice.scale(8, 20_000));
    }
    text + dice.pick(&["", "", "watchdog = {}\n"])
}

/// Draws a link between switches that loses frames, messages about credits included.
fn lossy_link(world: &Table, dice: &mut Dice) -> Table {
    let is_dumbbell = world.get("topology").and_then(|topology| topology.get("kind")).and_then(Value::as_str);
    let ends = if is_dumbbell == Some("dumbbell") { ["left", "right"] } else { ["leaf0", "spine0"] };
    let arrow = dice.pick(&["->", "<->"]);
    let rate = dice.pick(&["1e-3", "1e-2"]);
    parsed(&format!("name = \"{}{arrow}{}\"\nloss = {{ kind = \"bernoulli\", rate = {rate} }}", ends[0], ends[1]))
}

fn fabric(dice: &mut Dice) -> Table {
    let link = |dice: &mut Dice| {
        let rate = dice.pick(&["10 Gbps", "25 Gbps", "100 Gbps", "400 Gbps"]);
        let delay = dice.pick(&["5 ns", "500 ns", "2 us", "20 us"]);
        format!("{{ rate = \"{rate}\", delay = \"{delay}\" }}")
    };
    let (host, core) = (link(dice), link(dice));
    parsed(&if dice.once_in(2) {
        let (left, right) = (dice.between(1, 6), dice.between(1, 3));
        format!(
            "kind = \"dumbbell\"\nhosts_left = {left}\nhosts_right = {right}\nhost_link = {host}\nbottleneck = {core}"
        )
    } else {
        let (leaves, spines, hosts) = (dice.between(2, 3), dice.between(1, 2), dice.between(1, 4));
        format!(
            "kind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\n\
             host_link = {host}\ncore_link = {core}"
        )
    })
}

fn switch(dice: &mut Dice) -> String {
    let mut text = format!("preset = \"{}\"\n", dice.pick(&["ideal", "tofino-like"]));
    // The check refuses a buffer that cannot hold the headroom, and another world is drawn.
    text += dice.pick(&[
        "buffer = { kind = \"shared\", total = \"4 MB\", alpha = 0.125 }\n",
        "buffer = { kind = \"shared\", total = \"32 MB\", alpha = 1.0 }\n",
        "buffer = { kind = \"static\", per_port = \"300 KB\" }\n",
        "buffer = { kind = \"static\", per_port = \"5 MB\" }\n",
    ]);
    text += dice.pick(&["", "", "scheduler = \"drr\"\nqueues_per_port = 4\n", "queues_per_port = 8\n"]);
    let mut settings = Vec::new();
    if dice.once_in(2) {
        settings.push(format!("xoff = \"{} B\"", dice.scale(10_000, 200_000)));
    }
    if dice.once_in(3) {
        settings.push(format!("xon_offset = \"{} B\"", dice.scale(1, 10_000)));
    }
    if dice.once_in(3) {
        settings.push(format!("response = \"{} ns\"", dice.scale(0, 2_000)));
    }
    text += &format!("pfc = {{ {} }}", settings.join(", "));
    if dice.once_in(2) {
        text += "\necn = { threshold = \"20 KB\" }";
    }
    text
}
