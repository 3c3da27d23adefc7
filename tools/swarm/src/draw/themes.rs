//! Themes of worlds, and wild worlds.

use toml::Table;

use super::parts::{list, parsed};
use super::settings::Settings;
use super::topology::{self, Places};
use super::{exceptions, faults, lossless, mechanisms, promised, traffic};
use crate::dice::Dice;

/// Maximum duration of a world. It ends earlier if all its flows complete; a world that reaches this time makes no
/// progress.
const DURATION: &str = "60 ms";

const BUFFERS: [&str; 6] = [
    "{ kind = \"static\", per_port = \"300 KB\" }",
    "{ kind = \"static\", per_port = \"30 KB\" }",
    "{ kind = \"static\", per_port = \"8 packets\" }",
    "{ kind = \"shared\", total = \"4 MB\", alpha = 1.0 }",
    "{ kind = \"shared\", total = \"100 KB\", alpha = 0.5 }",
    "{ kind = \"shared\", total = \"1 MB\", alpha = 8.0, queue_max = \"200 KB\" }",
];
const QUEUES: [&str; 9] = [
    "",
    "",
    "",
    "scheduler = \"strict\"\nqueues_per_port = 3",
    "scheduler = \"drr\"\nqueues_per_port = 4",
    "flow_queueing = { kind = \"drr\" }",
    "flow_queueing = { kind = \"fq-codel\" }",
    "flow_queueing = { kind = \"sfq\", perturbation = \"50 us\" }",
    "flow_queueing = { kind = \"ideal-fq\" }",
];
const ORDERED: &str = "reorder_buffer = { timeout = \"100 us\" }";

/// Draws the world of a seed.
pub fn draw(seed: u64, settings: &Settings<'_>) -> Table {
    let mut dice = Dice::new(seed, "theme");
    // A separate stream, so that the other worlds keep their seeds.
    let is_lossless = Dice::new(seed, "lossless world").once_in(16);
    let mut world = match dice.between(0, 13) {
        _ if is_lossless => lossless::lossless(seed),
        0..=6 => wild(seed, settings),
        7 | 8 => promised::protected_link(seed, settings),
        9 => promised::masked_outage(seed),
        10 => promised::shared_link(seed),
        11 => promised::burst(seed, settings),
        12 => promised::detour(seed),
        _ => promised::calm(seed, settings),
    };
    world.insert("name".into(), "world".into());
    world.insert("until".into(), "all-flows-done".into());
    world.insert("duration".into(), DURATION.into());
    world.insert("measure".into(), parsed("order = true").into());
    world
}

/// A wild world: any parts anywhere.
fn wild(seed: u64, settings: &Settings<'_>) -> Table {
    let mut world = Table::new();
    let fabric = topology::any(&mut Dice::new(seed, "topology"));
    let places = Places::of(&fabric).expect("a fabric that is drawn can be built");
    world.insert("topology".into(), fabric.into());
    let entries = some_mechanisms(settings, &places, &mut Dice::new(seed, "mechanisms"));
    let has = |kind: &str| entries.iter().any(|entry| entry["kind"].as_str() == Some(kind));
    let dice = &mut Dice::new(seed, "switch");
    world.insert("switch".into(), switch(has("bolt") || has("afq"), dice).into());
    exceptions::add_to(&mut world, &places, seed);
    let dice = &mut Dice::new(seed, "host");
    world.insert("host".into(), host(has("vertigo"), dice).into());
    let dice = &mut Dice::new(seed, "routing");
    if dice.once_in(5) {
        let choice = dice.pick(&["choice = \"by-sum\"", "choice = \"weighted-hash\"", "choice = \"flowlets\""]);
        world.insert("routing".into(), parsed(choice).into());
    }
    traffic::add_to(&mut world, &places, has("bolt"), &mut Dice::new(seed, "traffic"));
    let dice = &mut Dice::new(seed, "faults");
    world.insert("link".into(), faults::impairments(&places, dice));
    if dice.once_in(3) && !places.core.is_empty() {
        world.extend(faults::failures(&places, dice));
    }
    world.insert("mechanism".into(), list(entries));
    world
}

fn some_mechanisms(settings: &Settings<'_>, places: &Places, dice: &mut Dice) -> Vec<Table> {
    let kinds = settings.kinds();
    // Most settings keep their defaults in most worlds; otherwise hardly any world would be accepted.
    let rarity = dice.pick(&[3, 8, 8, 40]);
    let count = dice.pick(&[0, 1, 1, 1, 2, 2, 3]);
    (0..count).map(|_| mechanisms::entry(dice.pick(&kinds), settings, rarity, places, dice)).collect()
}

fn switch(is_one_queue: bool, dice: &mut Dice) -> Table {
    let mut text = format!(
        "preset = \"{}\"\nbuffer = {}\n",
        dice.pick(&["ideal", "tofino-like", "tofino-like"]),
        dice.pick(&BUFFERS)
    );
    if !is_one_queue {
        text += dice.pick(&QUEUES);
    }
    if dice.once_in(3) {
        text += "\necn = { threshold = \"20 KB\" }";
    }
    if dice.once_in(4) {
        text += "\ndepth_visible = \"ingress-and-egress\"";
    }
    if dice.once_in(6) {
        text += "\nchecked = true";
    }
    parsed(&text)
}

fn host(is_ordered: bool, dice: &mut Dice) -> Table {
    let mut lines = Vec::new();
    if dice.once_in(2) || is_ordered {
        let by = dice.pick(&["remaining-bytes", "attained-service", "dscp"]);
        let by = if is_ordered { "remaining-bytes" } else { by };
        let gap = if by == "attained-service" && dice.once_in(2) { ", flowlet_gap = \"20 us\"" } else { "" };
        lines.push(format!("priority_tagger = {{ by = \"{by}\"{gap} }}"));
        if is_ordered || dice.once_in(2) {
            lines.push(ORDERED.into());
        }
    }
    match dice.between(0, 5) {
        0 => lines.push("time_to_live = 9".into()),
        1 => lines.push("nic_queue = \"60 packets\"".into()),
        2 => lines.push("kernel = { gro = { interrupt_delay = \"5 us\" }, receive = \"1 us\" }".into()),
        3 => lines.push("kernel = { send = \"2 us\", receive = \"2 us\" }\ntimer_tick = \"10 us\"".into()),
        _ => {}
    }
    parsed(&lines.join("\n"))
}
