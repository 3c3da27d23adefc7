//! Back to normal: a flow that starts long after all traffic and all events are over.

use hitless_core::engine::Progress;
use hitless_simulation::Simulation;
use toml::{Table, Value};

use super::changes::{WITH_TICKS, parsed, push};
use super::pair::{Equal, Pair, Times};
use super::subject::Subject;
use crate::dice::Dice;
use crate::world::World;

/// Start of the later flows, and the end of both worlds.
const LATER: &str = "200 ms";
const END: &str = "260 ms";

/// Mechanisms that judge a packet by earlier packets, however old: AIFO compares ranks with the last ones it has seen,
/// the example counts packets, and the others draw from a stream that earlier packets have advanced.
const WITH_MEMORY: [&str; 8] =
    ["aifo", "every-nth", "dibs", "simple-deflection", "preemptive-deflection", "pabo", "vertigo", "trimming"];

/// Adds later flows. The first world has only these, and no events: traffic, failures and losses that are over change
/// nothing for them.
///
/// Clocks are ideal, because the delays of a card are drawn frame by frame.
pub fn all_is_over(subject: &Subject, dice: &mut Dice) -> Option<Pair> {
    let world = &subject.world;
    let ends = world.text_of("until") == Some("all-flows-done") && subject.has_none_of(&WITH_MEMORY);
    // Delays of the kernel are drawn packet by packet.
    let draws = |stack: &str| {
        let kind = world.text_of(&format!("host.{stack}.jitter.kind"));
        kind.is_some_and(|kind| kind != "none")
    };
    if draws("kernel") || draws("network_card") {
        return None;
    }
    let keeps_no_phase = |entry: &Table| !entry.contains_key("activation") && !has_rounds_by_time(entry);
    if !ends || !world.entries("link").all(is_lossless_in_the_end) || !world.entries("mechanism").all(keeps_no_phase) {
        return None;
    }
    if subject.shapes_links() {
        return None;
    }
    let outcome = Simulation::new(subject.scenario.clone()).ok()?.run(&Progress::default());
    let flows = outcome.summary.flows;
    if flows.unfinished + flows.failed > 0 {
        return None;
    }
    let mut after = subject.table();
    let (hosts, from) = (subject.hosts(), dice.between(0, subject.hosts().len() as u64 - 1) as usize);
    let to = (from + dice.between(1, hosts.len() as u64 - 1) as usize) % hosts.len();
    for (name, value) in [("clocks", "ideal"), ("duration", END)] {
        after.insert(name.into(), value.into());
    }
    let later = |transport: &str, more: &str| {
        parsed(&format!(
            "{{ name = \"{transport}\", transport = \"{transport}\", sources = [\"{}\"], destinations = [\"{}\"], \
             start = \"{LATER}\", {more} }}",
            hosts[from], hosts[to]
        ))
    };
    push(&mut after, &["transport"], parsed("{ name = \"later-udp\", kind = \"udp\", rate = \"500 Mbps\" }"));
    push(&mut after, &["transport"], parsed("{ name = \"later-tcp\", kind = \"tcp\" }"));
    let groups = [
        later("later-udp", "kind = \"constant-rate\", stop = \"200500 us\""),
        later(
            "later-tcp",
            "kind = \"schedule\", sizes = { kind = \"fixed\", bytes = \"50 KB\" }, period = \"1 ms\", count = 1",
        ),
    ];
    let mut before = after.clone();
    before.insert("flows".into(), Value::Array(groups.to_vec()));
    before.remove("failure");
    let links = before.get_mut("link").and_then(Value::as_array_mut);
    for link in links.into_iter().flatten().filter_map(Value::as_table_mut) {
        link.remove("changes");
        link.remove("schedule");
    }
    if !subject.has_none_of(&["sqr"]) && drops_packets(&before) {
        return None;
    }
    groups.into_iter().for_each(|group| push(&mut after, &["flows"], group));
    // Timer packets come at other moments if a mechanism was active.
    let equal = if subject.has_none_of(&WITH_TICKS) { Equal::Flows } else { Equal::Counts };
    Some(Pair { before, after, times: Times::Same, equal })
}

/// Whether this world drops packets. SQR remembers the least loaded port (section III-D): the copies of later packets
/// begin in another queue, and fill another port (seed 93,017,762; not with a single caching port).
fn drops_packets(table: &Table) -> bool {
    let run = |scenario| Some(Simulation::new(scenario).ok()?.run(&Progress::default()));
    let outcome = World::new(table.clone()).check(hitless_mechanisms::builtin()).ok().and_then(run);
    outcome.is_some_and(|outcome| !outcome.summary.drops.is_empty())
}

/// Whether a link is up and loses nothing after all changes.
fn is_lossless_in_the_end(link: &Table) -> bool {
    let is_none = |model: &Value| model.get("kind").and_then(Value::as_str) == Some("none");
    let last = |list: &str| link.get(list).and_then(Value::as_array).and_then(|changes| changes.last());
    let first_model = link.get("loss").is_none_or(is_none);
    let last_model = last("changes").and_then(|change| change.get("loss")).is_none_or(is_none);
    let is_up = last("schedule").and_then(|change| change.get("state")?.as_str()).is_none_or(|state| state == "up");
    first_model && last_model && is_up
}

/// Whether AFQ's rounds advance by time. A flow then starts at another phase of a round, and loses one packet more or
/// less (seed 24,011,193).
fn has_rounds_by_time(mechanism: &Table) -> bool {
    let scheduler = mechanism.get("scheduler").and_then(|scheduler| scheduler.get("kind")?.as_str());
    let idle = mechanism.get("idle_round").and_then(Value::as_str);
    scheduler == Some("two-groups") || idle == Some("line-rate")
}
