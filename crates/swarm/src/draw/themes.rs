//! What a world is about.

use toml::{Table, Value};

use super::settings::Settings;
use super::topology::{self, Places};
use super::{faults, mechanisms, traffic};
use crate::dice::Dice;

/// The latest end of a world. It ends earlier, when all of its flows have: a world that comes so far does not progress.
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
const ORDERED: &str = "ordering = { timeout = \"100 us\" }";
const MARKED: &str = "marking = { by = \"remaining-bytes\" }";

/// Draws the world of a seed.
pub fn draw(seed: u64, settings: &Settings<'_>) -> Table {
    let mut dice = Dice::new(seed, "theme");
    let mut world = match dice.between(0, 9) {
        0..=4 => wild(seed, settings),
        5 | 6 => protected_link(seed, settings),
        7 => masked_outage(seed),
        8 => shared_link(seed),
        _ => burst(seed, settings),
    };
    world.insert("name".into(), "world".into());
    world.insert("until".into(), "all-flows-done".into());
    world.insert("duration".into(), DURATION.into());
    world.insert("measure".into(), Value::Table(parsed("order = true")));
    world
}

fn parsed(text: &str) -> Table {
    text.parse().expect("a part of a world is written as TOML")
}

fn list(tables: impl IntoIterator<Item = Table>) -> Value {
    Value::Array(tables.into_iter().map(Value::Table).collect())
}

/// Anything anywhere.
fn wild(seed: u64, settings: &Settings<'_>) -> Table {
    let mut world = Table::new();
    let fabric = topology::any(&mut Dice::new(seed, "topology"));
    let places = Places::of(&fabric).expect("a fabric that is drawn can be built");
    world.insert("topology".into(), fabric.into());
    let entries = some_mechanisms(settings, &places, &mut Dice::new(seed, "mechanisms"));
    let has = |kind: &str| entries.iter().any(|entry| entry["kind"].as_str() == Some(kind));
    let dice = &mut Dice::new(seed, "switch");
    world.insert("switch".into(), switch(has("bolt") || has("afq"), dice).into());
    let dice = &mut Dice::new(seed, "host");
    world.insert("host".into(), host(has("vertigo"), dice).into());
    if Dice::new(seed, "routing").once_in(5) {
        world.insert("routing".into(), Value::Table(parsed("choice = \"by-sum\"")));
    }
    add_traffic(&mut world, &places, has("bolt"), &mut Dice::new(seed, "traffic"));
    let dice = &mut Dice::new(seed, "faults");
    world.insert("link".into(), faults::impairments(&places, dice).into());
    if dice.once_in(3) && !places.core.is_empty() {
        let (failures, recovery) = faults::failures(&places, dice).expect("a failure is written as TOML");
        world.insert("failure".into(), failures.into());
        world.insert("recovery".into(), recovery.into());
    }
    world.insert("mechanism".into(), list(entries));
    world
}

fn some_mechanisms(settings: &Settings<'_>, places: &Places, dice: &mut Dice) -> Vec<Table> {
    let kinds = settings.kinds();
    // Most settings are at their defaults in most worlds, or hardly any would be accepted.
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
        lines.push(format!("marking = {{ by = \"{by}\"{gap} }}"));
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

/// One to three groups, of one or two transports, and perhaps datagrams.
fn add_traffic(world: &mut Table, places: &Places, needs_bolt: bool, dice: &mut Dice) {
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

/// A link that loses frames, and a mechanism of links with most settings as they are.
fn protected_link(seed: u64, settings: &Settings<'_>) -> Table {
    let dice = &mut Dice::new(seed, "protected link");
    let rate = dice.pick(&["10 Gbps", "25 Gbps", "100 Gbps"]);
    let fabric = topology::dumbbell(dice.between(1, 3), rate, dice.pick(&["1 us", "0 s", "1 ps", "100 ns"]));
    let places = Places::of(&fabric).expect("a dumbbell can be built");
    let kinds: Vec<_> = settings.kinds().into_iter().filter(|kind| guards_a_link(kind.0)).collect();
    let rarity = dice.pick(&[1_000, 1_000, 12]);
    let entries: Vec<Table> = (0..dice.between(1, 2))
        .map(|number| {
            let mut entry = mechanisms::entry(dice.pick(&kinds), settings, rarity, &places, dice);
            entry.insert("link".into(), places.core[0][number as usize].as_str().into());
            if entry["kind"].as_str() == Some("linkguardian") && dice.once_in(3) {
                // Numbers that wrap within the world, which is too short for those that begin at 0.
                entry.insert("handshake".into(), true.into());
                entry.insert("first_number".into(), (65_535 - dice.scale(0, 200) as i64).into());
            }
            entry
        })
        .collect();
    let lossy: Vec<Table> = (0..2)
        .filter(|_| !dice.once_in(4))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|number: usize| {
            let loss = faults::lasting_loss(dice);
            parsed(&format!("name = {:?}\nloss = {loss}", places.core[0][number]))
        })
        .collect();
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    world.insert("switch".into(), Value::Table(parsed(dice.pick(&["preset = \"tofino-like\"", "preset = \"ideal\""]))));
    add_traffic(&mut world, &places, false, dice);
    world.insert("link".into(), list(lossy));
    world.insert("mechanism".into(), list(entries));
    world
}

fn guards_a_link(kind: &str) -> bool {
    matches!(kind, "linkguardian" | "link-layer-retry" | "wharf")
}

/// A link that fails and is found out, and a mechanism that masks it.
fn masked_outage(seed: u64) -> Table {
    let dice = &mut Dice::new(seed, "masked outage");
    let fabric = topology::triangle(dice.between(1, 3), "10 Gbps", dice.pick(&["1 us", "100 ns", "1 ps", "5 us"]));
    let places = Places::of(&fabric).expect("a triangle can be built");
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    world.insert(
        "switch".into(),
        Value::Table(parsed("preset = \"tofino-like\"\nbuffer = { kind = \"static\", per_port = \"4 MB\" }")),
    );
    add_traffic(&mut world, &places, false, dice);
    let outage = dice.between(300, 800);
    let scheme = dice.pick(&[
        "{ kind = \"same-port\", reconfiguration = \"100 us\" }",
        "{ kind = \"local-reroute\" }",
        "{ kind = \"local-reroute\", backup = \"first\", reconfiguration = \"50 us\" }",
    ]);
    let detection = dice.pick(&["{ kind = \"signal-loss\" }", "{ kind = \"fixed\", delay = \"5 us\" }"]);
    world.insert("recovery".into(), Value::Table(parsed(&format!("scheme = {scheme}\ndetection = {detection}"))));
    let failure = format!(
        "link = \"left<->right\"\nfirst = \"{} us\"\ncount = {}\nevery = \"{} us\"\noutage = \"{outage} us\"",
        dice.between(5, 250),
        dice.between(1, 2),
        outage * 3,
    );
    world.insert("failure".into(), list([parsed(&failure)]));
    let caching = dice.pick(&["ring", "ring", "delay-queue"]);
    let entry = format!("kind = \"sqr\"\nlinks = [\"left<->right\"]\ncaching = \"{caching}\"");
    world.insert("mechanism".into(), list([parsed(&entry)]));
    world
}

/// Hosts that send datagrams at rates of their own over one link, which is shared fairly.
fn shared_link(seed: u64) -> Table {
    let dice = &mut Dice::new(seed, "shared link");
    let hosts = dice.between(2, 5);
    let fabric = topology::dumbbell(hosts, "10 Gbps", dice.pick(&["1 us", "0 s", "1 ps"]));
    let (mut transports, mut flows) = (Vec::new(), Vec::new());
    for host in 0..hosts {
        let rate_bps = 10_000_000_000 / dice.between(1, 2 * hosts);
        transports.push(traffic::datagrams(&format!("u{host}"), rate_bps));
        flows.push(parsed(&format!(
            "name = \"g{host}\"\ntransport = \"u{host}\"\nkind = \"constant-rate\"\nsources = [\"h{host}\"]\n\
             destinations = [\"h{}\"]\nstop = \"1 ms\"",
            host + hosts
        )));
    }
    let scheduler = match dice.between(0, 4) {
        0 => "scheduler = { kind = \"deficit-round-robin\" }",
        1 => "scheduler = { kind = \"two-groups\", period = \"200 us\" }",
        2 => "queues = 16",
        _ => "",
    };
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    world.insert("switch".into(), Value::Table(parsed("preset = \"tofino-like\"")));
    world.insert("transport".into(), list(transports));
    world.insert("flows".into(), list(flows));
    world
        .insert("mechanism".into(), list([parsed(&format!("kind = \"afq\"\nports = [\"left->right\"]\n{scheduler}"))]));
    world
}

/// Bursts that overflow a port, and a mechanism that sends the excess elsewhere.
fn burst(seed: u64, settings: &Settings<'_>) -> Table {
    let dice = &mut Dice::new(seed, "burst");
    let fabric = if dice.once_in(2) {
        topology::triangle(dice.between(2, 4), "10 Gbps", "1 us")
    } else {
        parsed(
            "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 3\n\
             host_link = { rate = \"10 Gbps\", delay = \"1 us\" }\n\
             core_link = { rate = \"10 Gbps\", delay = \"1 us\" }",
        )
    };
    let places = Places::of(&fabric).expect("the fabric can be built");
    let kinds: Vec<_> = settings.kinds().into_iter().filter(|kind| relieves_a_queue(kind.0)).collect();
    let rarity = dice.pick(&[1_000, 1_000, 8]);
    let mut entry = mechanisms::entry(dice.pick(&kinds), settings, rarity, &places, dice);
    entry.remove("ports");
    let mut world = Table::new();
    world.insert("topology".into(), fabric.into());
    let buffer = dice.pick(&["100 KB", "30 KB", "60 packets"]);
    let buffer = format!("preset = \"tofino-like\"\nbuffer = {{ kind = \"static\", per_port = \"{buffer}\" }}");
    world.insert("switch".into(), Value::Table(parsed(&format!("{buffer}\ndepth_visible = \"ingress-and-egress\""))));
    world.insert(
        "host".into(),
        Value::Table(parsed(&format!("{MARKED}\n{ORDERED}\ntime_to_live = {}", dice.pick(&[12, 64])))),
    );
    add_traffic(&mut world, &places, false, dice);
    let fan_in = dice.between(3, places.hosts.len() as u64 - 1);
    let burst = format!(
        "name = \"burst\"\ntransport = \"t0\"\nkind = \"incast\"\nfan_in = {fan_in}\nsize = \"{} KB\"\ncount = 3\n\
         period = \"60 us\"\nclients = [{:?}]",
        dice.between(5, 60),
        places.hosts[0]
    );
    world
        .get_mut("flows")
        .and_then(Value::as_array_mut)
        .into_iter()
        .for_each(|flows| flows.push(parsed(&burst).into()));
    world.insert("mechanism".into(), list([entry]));
    world
}

fn relieves_a_queue(kind: &str) -> bool {
    matches!(
        kind,
        "rimm" | "dibs" | "simple-deflection" | "preemptive-deflection" | "pabo" | "vertigo" | "trimming" | "aifo"
    )
}
