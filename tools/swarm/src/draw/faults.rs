//! Faults and their times. All faults end by [`OVER_AFTER_US`], so that each flow can complete.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::parts::{list, parsed};
use super::topology::{DELAYS, Places, RATES};
use crate::dice::Dice;

/// Time after which every link is up and loses at most one frame in a hundred.
pub const OVER_AFTER_US: u64 = 2_000;
/// Latest start of a fault, in microseconds.
const BEGINS_WITHIN_US: u64 = 400;

/// A loss model, for a while.
fn loss(dice: &mut Dice) -> String {
    match dice.between(0, 5) {
        0 | 1 => format!("{{ kind = \"bernoulli\", rate = {} }}", dice.pick(&["0.001", "0.01", "0.1", "0.5", "1.0"])),
        2 | 3 => format!(
            "{{ kind = \"gilbert-elliott\", rate = {}, mean_burst_frames = {} }}",
            dice.pick(&["0.001", "0.02", "0.2"]),
            dice.pick(&["1.5", "4.0", "20.0"])
        ),
        4 => "{ kind = \"bit-errors\", bit_error_rate = 1e-6, fec = \"none\" }".to_owned(),
        _ => "{ kind = \"bernoulli\", rate = 0.05, repair_rate = 0.5 }".to_owned(),
    }
}

/// A mild loss that can last for the whole run.
pub fn lasting_loss(dice: &mut Dice) -> String {
    format!("{{ kind = \"bernoulli\", rate = {} }}", dice.pick(&["0.0001", "0.001", "0.01"]))
}

/// Entries of `[[link]]`: temporary or permanent corruption, and links that go down, come up, or flap.
pub fn impairments(places: &Places, dice: &mut Dice) -> Value {
    let mut entries: BTreeMap<String, Table> = BTreeMap::new();
    for _ in 0..dice.between(0, 3) {
        let names = if dice.once_in(4) { dice.one_of(&places.links) } else { places.core_link(dice) };
        let both = names[0].replace("->", "<->");
        let is_known = entries.contains_key(&both) || names.iter().any(|name| entries.contains_key(name));
        let name = if dice.once_in(3) { both } else { dice.one_of(names).clone() };
        if !is_known {
            let entry = impairment(&name, dice);
            entries.insert(name, entry);
        }
    }
    list(entries.into_values())
}

fn impairment(name: &str, dice: &mut Dice) -> Table {
    let mut text = format!("name = {name:?}\n");
    if dice.once_in(2) {
        text += &format!("schedule = [{}]\n", outages(dice).join(", "));
    }
    if dice.once_in(2) {
        text += &format!("loss = {}\n", lasting_loss(dice));
    }
    if dice.once_in(2) {
        let mut changes = Vec::new();
        let mut at_us = dice.between(0, BEGINS_WITHIN_US);
        for _ in 0..dice.between(1, 3) {
            changes.push(format!("{{ at = \"{at_us} us\", loss = {} }}", loss(dice)));
            at_us += dice.scale(1, 200);
            changes.push(format!("{{ at = \"{at_us} us\", loss = {{ kind = \"none\" }} }}"));
            at_us += dice.scale(1, 200);
        }
        text += &format!("changes = [{}]\n", changes.join(", "));
    } else if dice.once_in(2) {
        text += &format!("changes = [{}]\n", slow_periods(dice).join(", "));
    }
    if dice.once_in(4) {
        text += &format!("rate = \"{}\"\n", dice.pick(&RATES));
    }
    if dice.once_in(4) {
        text += &format!("delay = \"{}\"\n", dice.pick(&DELAYS));
    }
    if dice.once_in(6) && !text.contains("bit-errors") {
        text += &format!("fec = \"{}\"\n", dice.pick(&["rs-528-514", "rs-544-514"]));
    }
    parsed(&text)
}

/// Times at which a link becomes slow or long, and is fast again.
pub fn slow_periods(dice: &mut Dice) -> Vec<String> {
    let mut changes = Vec::new();
    let mut at_ns = dice.between(0, BEGINS_WITHIN_US * 1_000);
    for _ in 0..dice.between(1, 3) {
        let delay = dice.pick(&["", ", delay = \"1 ns\"", ", delay = \"7 us\"", ", delay = \"40 us\""]);
        let rate = dice.pick(&["1 Gbps", "2500 Mbps", "5 Gbps", "100 Gbps"]);
        changes.push(format!("{{ at = \"{at_ns} ns\", rate = \"{rate}\"{delay} }}"));
        at_ns += dice.scale(1, 200_000);
        let delay = dice.pick(&["", ", delay = \"100 ns\""]);
        changes.push(format!("{{ at = \"{at_ns} ns\", rate = \"{}\"{delay} }}", dice.pick(&RATES)));
        at_ns += dice.scale(1, 200_000);
    }
    changes
}

/// A link that goes down and up again, once, or many times in a row (flapping).
fn outages(dice: &mut Dice) -> Vec<String> {
    let mut at_ns = dice.between(0, BEGINS_WITHIN_US * 1_000);
    let is_flapping = dice.once_in(3);
    let (times, longest_ns) = if is_flapping { (dice.between(3, 12), 20_000) } else { (1, 300_000) };
    let mut changes = Vec::new();
    for _ in 0..times {
        changes.push(format!("{{ at = \"{at_ns} ns\", state = \"down\" }}"));
        at_ns += dice.scale(1, longest_ns);
        changes.push(format!("{{ at = \"{at_ns} ns\", state = \"up\" }}"));
        at_ns += dice.scale(1, longest_ns);
    }
    changes
}

/// An entry of `[[failure]]`, with its recovery.
pub fn failures(places: &Places, dice: &mut Dice) -> Table {
    let link = places.core_link(dice)[0].replace("->", "<->");
    let scheme = match dice.between(0, 4) {
        0 => "{ kind = \"same-port\", reconfiguration = \"100 us\" }".to_owned(),
        1 => "{ kind = \"none\" }".to_owned(),
        2 => format!(
            "{{ kind = \"withdraw\", notice = \"{} us\", notice_per_hop = \"{} us\" }}",
            dice.between(0, 15),
            dice.pick(&["0", "1", "20"])
        ),
        _ => format!(
            "{{ kind = \"local-reroute\", backup = \"{}\", reconfiguration = \"{} us\" }}",
            dice.pick(&["probed", "first"]),
            dice.between(0, 100)
        ),
    };
    let detection = match dice.between(0, 3) {
        0 => "{ kind = \"signal-loss\" }",
        1 => "{ kind = \"probes\", interval = \"2 us\" }",
        _ => "{ kind = \"fixed\", delay = \"5 us\" }",
    };
    let outage = if scheme.contains("same-port") { 250 } else { dice.between(50, 300) };
    parsed(&format!(
        "recovery = {{ scheme = {scheme}, detection = {detection} }}\n\
         [[failure]]\nlink = {link:?}\nfirst = \"{} us\"\ncount = {}\nevery = \"{} us\"\njitter = \"{} us\"\n\
         outage = \"{outage} us\"",
        dice.between(1, 200),
        dice.between(1, 2),
        outage + dice.between(20, 300),
        dice.between(0, 10)
    ))
}
