//! Transports and flows; all activity is in the first milliseconds.

use toml::Table;

use super::parts::{list, parsed};
use super::topology::Places;
use crate::dice::Dice;

/// Latest start of a group, in microseconds.
const STARTS_WITHIN_US: u64 = 200;

/// Timeouts that are short enough for retries within a world after a complete loss.
const TIMEOUTS: &str = "rto_min = \"300 us\"\nrto_initial = \"1 ms\"\nrto_max = \"4 ms\"";
const CONGESTIONS: [&str; 6] = ["cubic", "newreno", "dctcp", "bbr", "swift", "cubic"];
/// Settings of TCP that can be combined with any others.
const VARIATIONS: [&str; 12] = [
    "",
    "",
    "sack = false\nrack_tlp = false",
    "handshake = true",
    "delayed_ack_segments = 2\ndelayed_ack_timeout = \"500 us\"",
    "initial_window = 1",
    "initial_window = 200",
    "receive_window = \"100 KB\"",
    "burst_segments = 20",
    "pacing = true",
    "mss = \"200 B\"",
    "nagle = true\nknown_rtt = \"20 us\"",
];

/// Adds one to three groups with one or two transports, and sometimes datagrams.
pub fn add_to(world: &mut Table, places: &Places, needs_bolt: bool, dice: &mut Dice) {
    let mut transports = vec![transport("t0", needs_bolt, dice)];
    if dice.once_in(3) {
        transports.push(transport("t1", needs_bolt, dice));
    }
    let names = ["t0", "t1"];
    let groups = dice.between(1, 3) as usize;
    let mut flows: Vec<Table> =
        (0..groups).map(|number| group(number, names[number % transports.len()], places, dice)).collect();
    if dice.once_in(3) {
        transports.push(datagrams("u", places.host_rate_bps / dice.between(1, 10)));
        flows.push(datagram_group(groups, "u", places, dice));
    }
    world.insert("transport".into(), list(transports));
    world.insert("flows".into(), list(flows));
}

pub fn transport(name: &str, needs_bolt: bool, dice: &mut Dice) -> Table {
    let text = match dice.between(0, 9) {
        0 if !needs_bolt => format!(
            // Go-back-N without congestion control: all windows together must drain within the timeout.
            "kind = \"roce\"\ntimeout = \"1 ms\"\nretries = 255\nrecovery = \"{}\"\nwindow = {}",
            dice.pick(&["go-back-n", "selective-repeat"]),
            dice.between(16, 64)
        ),
        1 if !needs_bolt => format!("kind = \"packet-pair\"\n{TIMEOUTS}\nack_delay = \"100 us\""),
        2 if !needs_bolt => format!(
            "kind = \"uet\"\nmtu = \"1400 B\"\ntimeout = \"500 us\"\nbase_rtt = \"30 us\"\npaths = {}\n\
             congestion = \"{}\"\npath_choice = \"{}\"\nsack_recovery = {}",
            1 << dice.between(0, 6),
            dice.pick(&["nscc", "rccc", "both"]),
            dice.pick(&["oblivious", "bitmap", "reps", "mixed", "mrc"]),
            dice.between(0, 1) == 1,
        ),
        _ => {
            let congestion = if needs_bolt { "bolt" } else { dice.pick(&CONGESTIONS) };
            // Swift gives up its window if the path's delay exceeds its target.
            let target = if congestion == "swift" { ", base_target = \"500 us\"" } else { "" };
            let variation = if congestion == "bbr" { "" } else { dice.pick(&VARIATIONS) };
            format!(
                "kind = \"tcp\"\ncongestion = {{ kind = \"{congestion}\"{target} }}\nsyn_timeout = \"1 ms\"\n\
                 tlp_max_ack_delay = \"300 us\"\n{TIMEOUTS}\n{variation}"
            )
        }
    };
    named(name, &text)
}

pub fn datagrams(name: &str, rate_bps: u64) -> Table {
    named(name, &format!("kind = \"udp\"\nrate = \"{rate_bps} bps\""))
}

fn named(name: &str, text: &str) -> Table {
    parsed(&format!("name = {name:?}\n{text}"))
}

/// Time in microseconds that a host of this rate needs for about two megabytes.
pub fn long_us(host_rate_bps: u64) -> u64 {
    (16_000_000_000_000 / host_rate_bps.max(1)).clamp(20, 300)
}

/// A group of flows that ends by its count, its size or its stop.
pub fn group(number: usize, transport: &str, places: &Places, dice: &mut Dice) -> Table {
    let hosts = places.hosts.len();
    let pairs = || (0..hosts / 2).map(|host| (&places.hosts[host], &places.hosts[hosts - 1 - host]));
    let sources = format!("{:?}", pairs().map(|pair| pair.0).collect::<Vec<_>>());
    let destinations = format!("{:?}", pairs().map(|pair| pair.1).collect::<Vec<_>>());
    let start_us = dice.between(0, STARTS_WITHIN_US);
    let bytes = dice.scale(1, 60_000);
    let paired = format!("sources = {sources}\ndestinations = {destinations}");
    let text = match dice.between(0, 7) {
        0 => format!("kind = \"long\"\n{paired}\nstop = \"{} us\"", start_us + long_us(places.host_rate_bps)),
        1 | 2 if hosts > 2 => format!(
            "kind = \"incast\"\nfan_in = {}\nsize = \"{bytes} B\"\ncount = {}\nperiod = \"{} us\"",
            dice.between(2, hosts as u64 - 1),
            dice.between(1, 5),
            dice.between(10, 200)
        ),
        3 => format!(
            "kind = \"poisson\"\ncount = {}\nflows_per_second = {}\nsizes = {}",
            dice.between(5, 40),
            dice.scale(20_000, 1_000_000) as f64,
            sizes(dice)
        ),
        4 => format!("kind = \"requests\"\n{paired}\nsize = \"{bytes} B\"\ncount = {}", dice.between(1, 12)),
        5 => format!("kind = \"permutation\"\nsize = \"{bytes} B\"\nspread = \"{} us\"", dice.between(0, 100)),
        6 => format!(
            "kind = \"schedule\"\n{paired}\ncount = {}\nperiod = \"{} us\"\nsizes = {}",
            dice.between(1, 20),
            dice.between(1, 40),
            sizes(dice)
        ),
        _ => format!("kind = \"sequence\"\n{paired}\ncount = {}\nsizes = {}", dice.between(1, 15), sizes(dice)),
    };
    finished(number, transport, start_us, &text, dice)
}

/// Datagrams between pairs of hosts.
pub fn datagram_group(number: usize, transport: &str, places: &Places, dice: &mut Dice) -> Table {
    let hosts = places.hosts.len();
    let (from, to) = (dice.between(0, hosts as u64 - 1) as usize, dice.between(1, hosts as u64 - 1) as usize);
    let start_us = dice.between(0, STARTS_WITHIN_US);
    let text = format!(
        "kind = \"constant-rate\"\nsources = [\"{}\"]\ndestinations = [\"{}\"]\nstop = \"{} us\"",
        places.hosts[from],
        places.hosts[(from + to) % hosts],
        start_us + long_us(places.host_rate_bps)
    );
    finished(number, transport, start_us, &text, dice)
}

fn sizes(dice: &mut Dice) -> String {
    match dice.between(0, 2) {
        0 => format!("{{ kind = \"fixed\", bytes = \"{} B\" }}", dice.scale(1, 100_000)),
        1 => "{ kind = \"pareto\", shape = 1.2, mean = \"20 KB\", largest = \"300 KB\" }".to_owned(),
        _ => "{ kind = \"cdf\", table = \"google_searchrpc_homa\", largest = \"100 KB\" }".to_owned(),
    }
}

/// Completes a group with its name, and makes the hosts of some groups lie about their urgency.
fn finished(number: usize, transport: &str, start_us: u64, text: &str, dice: &mut Dice) -> Table {
    let lie = match dice.between(0, 9) {
        0 => format!("rank = {}\n", dice.scale(0, 1 << 31)),
        1 => format!("rank_divisor = {}\n", dice.scale(1, 1 << 20)),
        _ => String::new(),
    };
    parsed(&format!("name = \"g{number}\"\ntransport = \"{transport}\"\nstart = \"{start_us} us\"\n{lie}{text}"))
}
