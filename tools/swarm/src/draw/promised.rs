//! Worlds that are made for one promise each.

use toml::{Table, Value};

use super::parts::{list, parsed, world};
use super::settings::Settings;
use super::topology::{self, Places};
use super::{faults, mechanisms, traffic};
use crate::dice::Dice;
use crate::judge::AT_REST;

/// Settings of switches with enough room for everything.
const ROOMY: &str = "preset = \"tofino-like\"\nbuffer = { kind = \"static\", per_port = \"4 MB\" }";
/// Kinds that protect a link, and kinds that relieve a queue.
const GUARDS: [&str; 3] = ["linkguardian", "link-layer-retry", "wharf"];
const RELIEVES: [&str; 8] =
    ["rimm", "dibs", "simple-deflection", "preemptive-deflection", "pabo", "vertigo", "trimming", "aifo"];
const ORDERED_BY_URGENCY: &str =
    "priority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"100 us\" }";
/// A rarity at which only required settings are drawn.
const NO_SETTINGS: u64 = u64::MAX;

/// A lossy link, and a link protection with mostly default settings.
pub fn protected_link(seed: u64, settings: &Settings<'_>) -> Table {
    let dice = &mut Dice::new(seed, "protected link");
    let rate = dice.pick(&["10 Gbps", "25 Gbps", "100 Gbps"]);
    let fabric = topology::dumbbell(dice.between(1, 3), rate, dice.pick(&["1 us", "0 s", "1 ps", "100 ns"]));
    let places = Places::of(&fabric).expect("a dumbbell can be built");
    let kinds = settings.kinds_of(&GUARDS);
    let rarity = dice.pick(&[1_000, 1_000, 12]);
    let entries: Vec<Table> = (0..dice.between(1, 2))
        .map(|number| {
            let mut entry = mechanisms::entry(dice.pick(&kinds), settings, rarity, &places, dice);
            entry.insert("link".into(), places.core[0][number as usize].as_str().into());
            if dice.once_in(2) {
                entry.remove("activation");
            }
            if entry["kind"].as_str() == Some("linkguardian") && dice.once_in(3) {
                // Use numbers that wrap within the world; from 0 they would not reach the end.
                entry.insert("handshake".into(), true.into());
                entry.insert("first_number".into(), (65_535 - dice.scale(0, 200) as i64).into());
            }
            entry
        })
        .collect();
    let names: Vec<&String> = places.core[0].iter().filter(|_| !dice.once_in(4)).collect();
    let lossy = names.iter().map(|name| {
        let changes = dice.once_in(3).then(|| format!("changes = [{}]", faults::slow_periods(dice).join(", ")));
        let changes = changes.unwrap_or_default();
        parsed(&format!("name = {name:?}\nloss = {}\n{changes}", faults::lasting_loss(dice)))
    });
    let lossy: Vec<Table> = lossy.collect();
    let mut world = world(fabric, dice.pick(&["preset = \"tofino-like\"", "preset = \"ideal\""]));
    traffic::add_to(&mut world, &places, false, dice);
    world.insert("link".into(), list(lossy));
    world.insert("mechanism".into(), list(entries));
    world
}

/// A failure that is detected, and a mechanism that masks it. By default the packets of spraying connections are exempt
/// from its order.
pub fn masked_outage(seed: u64) -> Table {
    let dice = &mut Dice::new(seed, "masked outage");
    let fabric = topology::triangle(dice.between(1, 3), "10 Gbps", dice.pick(&["1 us", "100 ns", "1 ps", "5 us"]));
    let places = Places::of(&fabric).expect("a triangle can be built");
    let mut world = world(fabric, ROOMY);
    traffic::add_to(&mut world, &places, false, dice);
    let outage = dice.between(300, 800);
    let scheme = dice.pick(&[
        "{ kind = \"same-port\", reconfiguration = \"100 us\" }",
        "{ kind = \"local-reroute\" }",
        "{ kind = \"local-reroute\", backup = \"first\", reconfiguration = \"50 us\" }",
    ]);
    let detection = dice.pick(&["{ kind = \"signal-loss\" }", "{ kind = \"fixed\", delay = \"5 us\" }"]);
    let mut transports = world.get("transport").and_then(Value::as_array).into_iter().flatten();
    let sprays = transports.any(|transport| transport.get("kind").and_then(Value::as_str) == Some("uet"));
    let order = if sprays || Dice::new(seed, "any order").once_in(2) { "any_order = []" } else { "" };
    world.extend(parsed(&format!(
        "recovery = {{ scheme = {scheme}, detection = {detection} }}\n\
         [[failure]]\nlink = \"left<->right\"\nfirst = \"{} us\"\ncount = {}\nevery = \"{} us\"\n\
         outage = \"{outage} us\"\n\
         [[mechanism]]\nkind = \"sqr\"\nlinks = [\"left<->right\"]\ncaching = \"{}\"\n{order}",
        dice.between(5, 250),
        dice.between(1, 2),
        outage * 3,
        dice.pick(&["ring", "ring", "delay-queue"])
    )));
    world
}

/// Hosts that send datagrams at different rates over a link that is shared fairly.
pub fn shared_link(seed: u64) -> Table {
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
        1 => "scheduler = { kind = \"two-groups\" }",
        2 => "queues = 16",
        _ => "",
    };
    let mut world = world(fabric, "preset = \"tofino-like\"");
    world.insert("transport".into(), list(transports));
    world.insert("flows".into(), list(flows));
    world.extend(parsed(&format!("[[mechanism]]\nkind = \"afq\"\nports = [\"left->right\"]\n{scheduler}")));
    world
}

/// Settings of switches with `per_port` of buffer, and with queue depths visible in ingress.
fn seeing_depths(per_port: &str) -> String {
    format!(
        "preset = \"tofino-like\"\nbuffer = {{ kind = \"static\", per_port = \"{per_port}\" }}\n\
         depth_visible = \"ingress-and-egress\""
    )
}

/// Bursts that overflow a port, and a mechanism that sends the excess elsewhere.
pub fn burst(seed: u64, settings: &Settings<'_>) -> Table {
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
    let kinds = settings.kinds_of(&RELIEVES);
    let rarity = dice.pick(&[1_000, 1_000, 8]);
    let mut entry = mechanisms::entry(dice.pick(&kinds), settings, rarity, &places, dice);
    entry.remove("ports");
    let mut world = world(fabric, &seeing_depths(dice.pick(&["100 KB", "30 KB", "60 packets"])));
    world.extend(parsed(&format!("[host]\n{ORDERED_BY_URGENCY}\ntime_to_live = {}", dice.pick(&[12, 64]))));
    traffic::add_to(&mut world, &places, false, dice);
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

/// Bursts towards one host that exceed RIMM's threshold without overflowing any buffer, each too short to count as
/// congestion.
pub fn detour(seed: u64) -> Table {
    let dice = &mut Dice::new(seed, "detour");
    let hosts = dice.between(2, 4);
    let fabric = topology::triangle(hosts, "10 Gbps", dice.pick(&["1 us", "1 us", "100 ns", "5 us"]));
    let places = Places::of(&fabric).expect("a triangle can be built");
    let mut world = world(fabric, &seeing_depths("300 KB"));
    let transport = match dice.between(0, 2) {
        0 => traffic::datagrams("t", 10_000_000_000 / dice.between(1, 3)),
        _ => traffic::transport("t", false, dice),
    };
    let fan_in = dice.between(2, 2 * hosts - 1);
    world.insert("transport".into(), list([transport]));
    world.extend(parsed(&format!(
        "[[flows]]\nname = \"burst\"\ntransport = \"t\"\nkind = \"incast\"\nfan_in = {fan_in}\n\
         size = \"{} B\"\ncount = {}\nperiod = \"{} us\"\nclients = [{:?}]\n\
         [[mechanism]]\nkind = \"rimm\"\nthreshold = \"{} B\"\nneighbour_for_returns = \"{}\"\n\
         neighbour_change = \"{}\"\nmessages = \"{}\"",
        dice.between(2_000, 20_000),
        dice.between(1, 4),
        dice.between(20, 300),
        dice.one_of(&places.hosts),
        dice.between(3_000, 40_000),
        dice.pick(&["same-neighbour", "least-loaded"]),
        dice.pick(&["between-detours", "any-time"]),
        dice.pick(&["first", "in-order"]),
    )));
    world
}

/// A healthy fabric with enough room, and idle mechanisms.
pub fn calm(seed: u64, settings: &Settings<'_>) -> Table {
    let dice = &mut Dice::new(seed, "calm");
    let fabric = topology::any(dice);
    let places = Places::of(&fabric).expect("a fabric that is drawn can be built");
    let mut world = world(fabric, ROOMY);
    traffic::add_to(&mut world, &places, false, dice);
    let kinds = settings.kinds_of(&AT_REST);
    let entries = (0..dice.between(1, 2)).map(|_| {
        let mut entry = mechanisms::entry(dice.pick(&kinds), settings, NO_SETTINGS, &places, dice);
        entry.remove("activation");
        entry
    });
    world.insert("mechanism".into(), list(entries.collect::<Vec<_>>()));
    world
}
