//! The changes, and the mechanisms and settings that each change can affect.

use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{BitRate, Duration};
use toml::{Table, Value};

use super::pair::{Equal, Pair, Times};
use super::subject::Subject;
use crate::dice::Dice;

/// A whole number of ticks of TCP's timestamps (2^20 ps), of receive offload's clock (2^30 ps), and of registers that
/// hold nanoseconds and microseconds.
const SHIFT_PS: u64 = 125 << 30;

/// Maximum extra delay of a link, so that no two links have the same delay.
const UNEVEN_PS: u64 = 100_000;

/// Mechanisms with ticks since the start of the run, like a real clock: timer packets, rounds of an idle port, and
/// SQR's load windows (registers start at zero, as in p4/sqr). A flow that starts later meets another tick. Link Layer
/// Retry shakes hands when the run starts (LLR_INIT); an early frame waits for it (seed 20,271,247).
pub(super) const WITH_TICKS: [&str; 4] = ["linkguardian", "afq", "sqr", "link-layer-retry"];
/// Mechanisms with registers of whole nanoseconds: they round twice a time differently.
const WITH_NANOSECONDS: [&str; 2] = ["sqr", "rimm"];
/// Mechanisms that drop packets in egress, or copies in a loop. The switch reads these from its buffer at a rate of its
/// hardware that no setting changes (seeds 20,507,358 and 20,800,839).
const DROPPING_IN_EGRESS: [&str; 2] = ["every-nth", "linkguardian"];
/// Mechanisms that deflect packets to ports off their path, so an extra port is an extra choice. RIMM's switches also
/// write their queue depths into frames to a neighbour (in-band telemetry), which lengthens these frames.
const DEFLECTING: [&str; 6] = ["dibs", "simple-deflection", "preemptive-deflection", "pabo", "vertigo", "rimm"];
/// Mechanisms with an ingress that decides by queue depth. A port that nothing watches counts the frame in transmission
/// in its depth and knows which frames will have left; a port with a mechanism in egress does neither.
const SEEING_DEPTHS: [&str; 7] =
    ["dibs", "simple-deflection", "preemptive-deflection", "pabo", "vertigo", "rimm", "aifo"];

pub(super) fn parsed(text: &str) -> Value {
    let table: Table = format!("value = {text}").parse().unwrap_or_else(|error| unreachable!("{text}: {error}"));
    table["value"].clone()
}

/// Adds an entry to the list at a path of names.
pub(super) fn push(table: &mut Table, path: &[&str], entry: Value) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        let list = table.entry(*name).or_insert_with(|| Value::Array(Vec::new()));
        list.as_array_mut().into_iter().for_each(|list| list.push(entry.clone()));
    } else if let Some(inner) = table.get_mut(*name).and_then(Value::as_table_mut) {
        push(inner, rest, entry);
    }
}

fn entries_mut<'a>(table: &'a mut Table, list: &str) -> impl Iterator<Item = &'a mut Table> {
    table.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Draws the name of a directed link.
fn link_name(subject: &Subject, dice: &mut Dice) -> String {
    let links = subject.links();
    let link = dice.one_of(&links);
    let ends: Vec<&str> = link["ends"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if dice.once_in(2) { format!("{}->{}", ends[0], ends[1]) } else { format!("{}->{}", ends[1], ends[0]) }
}

/// Adds samples of queues and throughput.
pub fn measurements(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    let before = subject.table();
    let mut after = before.clone();
    let (link, period) = (link_name(subject, dice), dice.between(1, 40));
    let switches = subject.switches();
    let from = link.split("->").next()?;
    let mut samples = format!("{{ order = true, throughput = [{{ links = [\"{link}\"], period = \"{period} us\" }}]");
    if switches.iter().any(|switch| switch == from) {
        samples += &format!(", queue = [{{ ports = [\"{link}\"], period = \"{period} us\" }}]");
    }
    after.insert("measure".into(), parsed(&(samples + " }")));
    Some(Pair { before, after, times: Times::Same, equal: Equal::Counters })
}

/// Adds a loss model of rate zero to a lossless link.
pub fn loss_of_zero(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    let link = link_name(subject, dice);
    let (from, to) = link.split_once("->")?;
    let names = [link.clone(), format!("{from}<->{to}"), format!("{to}<->{from}")];
    let is_known =
        |entry: &Table| entry.get("name").and_then(Value::as_str).is_some_and(|name| names.contains(&name.into()));
    if subject.world.entries("link").any(is_known) {
        return None;
    }
    let before = subject.table();
    let mut after = before.clone();
    let model = dice.pick(&["kind = \"bernoulli\", rate = 0.0", "kind = \"none\""]);
    push(&mut after, &["link"], parsed(&format!("{{ name = \"{link}\", loss = {{ {model} }} }}")));
    Some(Pair { before, after, times: Times::Same, equal: Equal::Course })
}

/// Adds a mechanism at one port that would drop one packet in a billion.
pub fn idle_mechanism(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    if !subject.has_none_of(&SEEING_DEPTHS) {
        return None;
    }
    let link = link_name(subject, dice);
    let before = with_uneven_delays(subject, dice);
    let mut after = before.clone();
    let entry = format!("{{ kind = \"every-nth\", ports = [\"{link}\"], drop_every = 1000000000 }}");
    push(&mut after, &["mechanism"], parsed(&entry));
    Some(Pair { before, after, times: Times::Same, equal: Equal::Drops })
}

/// Writes the fabric as a graph and lists "all" hosts by name, so that two such worlds can have different hosts.
fn as_graph(subject: &Subject) -> Table {
    let mut table = subject.table();
    let names = |names: Vec<String>| Value::Array(names.into_iter().map(Value::from).collect());
    let mut graph = Table::new();
    graph.insert("kind".into(), "graph".into());
    graph.insert("hosts".into(), names(subject.hosts()));
    graph.insert("switches".into(), names(subject.switches()));
    graph.insert("links".into(), Value::Array(subject.links().into_iter().map(Value::Table).collect()));
    table.insert("topology".into(), graph.into());
    for group in entries_mut(&mut table, "flows") {
        for list in ["sources", "destinations", "clients", "servers", "hosts"] {
            if group.get(list) == Some(&parsed("[\"all\"]")) {
                group.insert(list.into(), names(subject.hosts()));
            }
        }
    }
    table
}

/// Writes the fabric as a graph and lengthens each link by up to 100 ns, so that frames hardly ever arrive in the same
/// picosecond.
fn with_uneven_delays(subject: &Subject, dice: &mut Dice) -> Table {
    let mut table = as_graph(subject);
    let links = table.get_mut("topology").and_then(|topology| topology.get_mut("links")).and_then(Value::as_array_mut);
    for link in links.into_iter().flatten() {
        let longer = dice.between(1, UNEVEN_PS);
        let delay = link.get("delay").and_then(Value::as_str).and_then(time);
        let delay = delay.map(|delay| Duration::from_ps(delay.as_ps() + longer).text());
        link.as_table_mut()
            .zip(delay)
            .into_iter()
            .for_each(|(link, delay)| drop(link.insert("delay".into(), delay.into())));
    }
    table
}

/// Gives the directions of each link different rates. A byte still takes a whole number of picoseconds.
///
/// A switch can return a frame on the link of its arrival. At equal rates the frame enters the queue when the previous
/// one leaves, in the same picosecond, and a hash of the time decides whether the queue is full (seed 38,018,704).
fn with_uneven_rates(table: &mut Table, links: &[Table], dice: &mut Dice) -> Option<()> {
    const BYTE_TIME_FACTORS: [(u64, u64); 6] = [(1, 1), (5, 4), (8, 5), (2, 1), (5, 2), (4, 1)];
    let slower = |rate: BitRate, place: u64| {
        let (times, over) = BYTE_TIME_FACTORS[place as usize % BYTE_TIME_FACTORS.len()];
        format!("{} bps", rate.as_bps() * over / times)
    };
    for (number, link) in links.iter().enumerate() {
        let rate = BitRate::read(link["rate"].as_str()?).ok()?;
        let (there, back) = (dice.between(0, 5), dice.between(1, 5));
        let ends = link["ends"].as_array()?;
        let reverse = format!("{}->{}", ends[1].as_str()?, ends[0].as_str()?);
        table["topology"]["links"][number].as_table_mut()?.insert("rate".into(), slower(rate, there).into());
        let entry = format!("{{ name = \"{reverse}\", rate = \"{}\" }}", slower(rate, there + back));
        push(table, &["link"], parsed(&entry));
    }
    Some(())
}

/// Adds a node, attached by a link like the first one of the fabric.
fn add_node(table: &mut Table, list: &str, name: &str, to: &str) {
    push(table, &["topology", list], name.into());
    let mut link = table["topology"]["links"][0].clone();
    link["ends"] = Value::Array(vec![name.into(), to.into()]);
    push(table, &["topology", "links"], link);
}

/// Whether a new host can change paths. A port is a detour only if it reaches all hosts of the failed port
/// (seed 21,003,917).
fn chooses_by_all_hosts(subject: &Subject) -> bool {
    !subject.has_none_of(&DEFLECTING) || subject.world.text_of("recovery.scheme.kind") == Some("local-reroute")
}

/// Adds a host without traffic.
pub fn idle_host(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    if chooses_by_all_hosts(subject) {
        return None;
    }
    let before = as_graph(subject);
    let mut after = before.clone();
    let switches = subject.switches();
    add_node(&mut after, "hosts", "idle", dice.one_of(&switches).as_str());
    Some(Pair { before, after, times: Times::Same, equal: Equal::Counters })
}

/// Adds datagrams between two new hosts at a new switch.
pub fn unrelated_flow(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    if chooses_by_all_hosts(subject) {
        return None;
    }
    let before = as_graph(subject);
    let mut after = before.clone();
    let switches = subject.switches();
    add_node(&mut after, "switches", "island", dice.one_of(&switches).as_str());
    add_node(&mut after, "hosts", "robinson", "island");
    add_node(&mut after, "hosts", "friday", "island");
    push(&mut after, &["transport"], parsed("{ name = \"island\", kind = \"udp\", rate = \"100 Mbps\" }"));
    let group = "{ name = \"island\", transport = \"island\", kind = \"constant-rate\", sources = [\"robinson\"], \
                 destinations = [\"friday\"], stop = \"500 us\" }";
    push(&mut after, &["flows"], parsed(group));
    // Groups may be in any order.
    if dice.once_in(2) {
        after.get_mut("flows").and_then(Value::as_array_mut).into_iter().for_each(|flows| flows.rotate_right(1));
    }
    Some(Pair { before, after, times: Times::Same, equal: Equal::Flows })
}

/// Renames hosts and switches so that they sort in another order.
///
/// Clocks are ideal, because they are drawn by the names of links.
pub fn other_names(subject: &Subject, _: &mut Dice) -> Option<Pair> {
    let mut before = as_graph(subject);
    before.insert("clocks".into(), "ideal".into());
    let names: Vec<String> = [subject.hosts(), subject.switches()].concat();
    let count = names.len();
    let renamed = |name: &str| {
        let place = names.iter().position(|known| known == name)?;
        Some(format!("n{:03}", count - place))
    };
    let mut after = before.clone();
    for (key, value) in &mut after {
        if ["topology", "link", "failure", "mechanism", "flows", "switch"].contains(&key.as_str()) {
            each_text(value, &mut |text| rename(text, &renamed));
        }
    }
    Some(Pair { before, after, times: Times::Same, equal: Equal::Course })
}

/// Renames a node, or both ends of a link.
fn rename(text: &mut String, renamed: &dyn Fn(&str) -> Option<String>) {
    let arrow = ["<->", "->"].into_iter().find(|arrow| text.contains(arrow));
    let new = match arrow.and_then(|arrow| Some((arrow, text.split_once(arrow)?))) {
        Some((arrow, (from, to))) => renamed(from).zip(renamed(to)).map(|(from, to)| format!("{from}{arrow}{to}")),
        None => renamed(text),
    };
    new.into_iter().for_each(|new| *text = new);
}

fn each_text(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, change)),
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| each_text(value, change)),
        _ => {}
    }
}

fn time(text: &str) -> Option<Duration> {
    Duration::read(text).ok()
}

/// Delays every event of the scenario.
pub fn later_start(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    let world = &subject.world;
    // Features with ticks since the start of the run: timer interrupts, hashes of SFQ, probes, codewords on a line with
    // bit errors, and periodic queue reports to ingress. Local rerouting probes loads by default (seed 22,002,311).
    let has_bit_errors = world.entries("link").any(|entry| entry.to_string().contains("\"bit-errors\""));
    let is_told_now = |entry: &Table| {
        let occupancy = entry.get("occupancy").and_then(|occupancy| occupancy.get("kind")).and_then(Value::as_str);
        occupancy.is_none_or(|kind| kind == "immediate")
    };
    let has_ticks = world.text_of("host.timer_tick") != Some("0 s")
        || world.value("switch.flow_queueing.perturbation").is_some()
        || world.text_of("recovery.detection.kind") == Some("probes")
        || world.text_of("recovery.scheme.kind") == Some("local-reroute")
            && world.text_of("recovery.scheme.backup") != Some("first")
        || has_bit_errors
        || subject.shapes_links()
        || !world.entries("mechanism").all(is_told_now);
    if has_ticks || !subject.has_none_of(&WITH_TICKS) {
        return None;
    }
    let before = with_uneven_delays(subject, dice);
    let mut after = before.clone();
    let later = |text: &mut String| {
        time(text).into_iter().for_each(|at| *text = Duration::from_ps(at.as_ps() + SHIFT_PS).text());
    };
    let moments = |entry: &mut Table, names: &[&str]| {
        names
            .iter()
            .for_each(|name| entry.get_mut(*name).into_iter().for_each(|value| each_text(value, &mut { later })));
    };
    moments(&mut after, &["duration"]);
    entries_mut(&mut after, "flows").for_each(|group| moments(group, &["start", "stop"]));
    entries_mut(&mut after, "failure").for_each(|failure| moments(failure, &["first"]));
    for (list, courses) in [("link", ["changes", "schedule"]), ("mechanism", ["activation", "activation"])] {
        for entry in entries_mut(&mut after, list) {
            courses[..if list == "link" { 2 } else { 1 }].iter().for_each(|course| {
                entries_mut(entry, course).for_each(|change| moments(change, &["at"]));
            });
        }
    }
    Some(Pair { before, after, times: Times::Later(SHIFT_PS as i64), equal: Equal::Counters })
}

/// Halves all rates and doubles all times. Clocks are ideal, because an offset in ppm does not scale by a power of two.
///
/// In both worlds hosts use RoCE, because other transports have fixed times: TCP's round-trip time and a packet pair
/// are means, rounded to a picosecond, CUBIC grows by seconds, and a receiver of datagrams waits a millisecond for
/// missing ones.
pub fn half_speed(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    // Probes of a link start at a random time below their interval, a remainder that does not double (seed 25,017,750).
    let is_scaled = subject.has_none_of(&WITH_NANOSECONDS)
        && subject.has_none_of(&DROPPING_IN_EGRESS)
        && subject.world.text_of("recovery.detection.kind") != Some("probes");
    if subject.world.entries("failure").any(draws_times) || !is_scaled || subject.shapes_links() {
        return None;
    }
    let mut before = with_uneven_delays(subject, dice);
    before.insert("clocks".into(), "ideal".into());
    if !subject.has_none_of(&DEFLECTING) {
        with_uneven_rates(&mut before, &subject.links(), dice)?;
    }
    for transport in entries_mut(&mut before, "transport") {
        let name = transport.get("name").and_then(Value::as_str).unwrap_or("");
        let roce = parsed(&format!("{{ name = \"{name}\", kind = \"roce\", timeout = \"1 ms\", retries = 255 }}"));
        if transport.get("kind").and_then(Value::as_str) != Some("roce") {
            transport.clone_from(roce.as_table()?);
        }
    }
    let groups = before.get_mut("flows").and_then(Value::as_array_mut)?;
    groups.retain(|group| group.as_table().is_some_and(|group| !draws_times(group)));
    if groups.is_empty() {
        return None;
    }
    let mut after = before.clone();
    for (_, value) in &mut after {
        each_text(value, &mut |text| {
            if let Some(time) = time(text) {
                *text = Duration::from_ps(2 * time.as_ps()).text();
            } else if let Ok(rate) = BitRate::read(text) {
                *text = format!("{} bps", rate.as_bps() / 2);
            }
        });
    }
    Some(Pair { before, after, times: Times::Twice, equal: Equal::Drops })
}

/// Whether times are drawn (in whole picoseconds, below another bound), or a group has only datagrams.
fn draws_times(entry: &Table) -> bool {
    let is_drawn = |name: &str| entry.get(name).and_then(Value::as_str).is_some_and(|text| text != "0 s");
    let kind = entry.get("kind").and_then(Value::as_str);
    kind == Some("constant-rate")
        || entry.contains_key("flows_per_second")
        || entry.contains_key("queries_per_second")
        || is_drawn("spread")
        || is_drawn("jitter")
}
