//! Judges of progress: flows complete, and mechanisms do not delay them.

use hitless_core::engine::Progress;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::Duration;
use hitless_simulation::{Simulation, Summary};
use toml::{Table, Value};

use super::evidence::{Evidence, Finding, found, times};
use super::promises::guards_all_losses;
use crate::world::{World, shapes_links};

/// Kinds that lose packets forever by design, or can be configured to.
const MAY_STARVE: [&str; 3] = ["every-nth", "rank-guard", "aifo"];
/// Kinds that with default settings do nothing to packets of a healthy fabric without overflows.
pub const AT_REST: [&str; 6] = ["linkguardian", "link-layer-retry", "sqr", "rimm", "dibs", "trimming"];
const FULL_FRAME_BYTES: i64 = 1_518;
const ALL_DONE: &str = "all flows done";
/// Duration of the second run, if flows need longer than the first.
const LONGER: &str = "3 s";
const PLACES: [&str; 3] = ["link", "links", "ports"];
/// Allowed delay of the last flow: a quarter of its time, plus this many picoseconds.
const SLACK_PS: i64 = 100_000_000;

/// Returns whether a transport retries after a complete loss within the bound of a world, and not only after seconds.
fn tries_again_soon(transport: &Table) -> bool {
    let text = |name: &str| transport.get(name).and_then(Value::as_str);
    let parameter = |name: &str| transport.get("congestion")?.get(name)?.as_str();
    let says: &[&str] = match text("kind") {
        Some("tcp") if parameter("kind") == Some("swift") && parameter("base_target").is_none() => return false,
        Some("tcp") => &["rto_max", "rto_initial", "rto_min", "syn_timeout", "tlp_max_ack_delay"],
        Some("packet-pair") => &["rto_max", "rto_initial", "rto_min"],
        // Fewer retries can run out while other connections have their turn.
        Some("roce") if transport.get("retries").and_then(Value::as_integer) != Some(255) => return false,
        Some("roce") => &["timeout"],
        Some("uet") => &["timeout"],
        _ => &[],
    };
    says.iter().all(|name| transport.contains_key(*name))
}

/// Returns whether headers of trimmed packets can fill a line for ever: they always go first, and RDMA without
/// congestion control repeats its window for each (NDP, section 3.1; seed 53,007,127).
fn headers_starve_packets(world: &World) -> bool {
    let go_first = |entry: &Table| entry.get("headers_per_packet").and_then(Value::as_integer) == Some(0);
    let is_rdma = |transport: &Table| transport.get("kind").and_then(Value::as_str) == Some("roce");
    world.entries("mechanism").any(go_first) && world.entries("transport").any(is_rdma)
}

/// Returns whether a mechanism is configured to pass so little that a flow never ends.
fn lets_little_through(entry: &Table) -> bool {
    // With two rounds of few packets, AFQ repeatedly drops a quarter of a window that fills a long path.
    let has_two_rounds = entry.get("queues").and_then(Value::as_integer) == Some(2);
    // All rounds together must hold two full frames of a flow, or the second one is always dropped; the default is 32
    // rounds.
    let rounds = entry.get("queues").and_then(Value::as_integer).unwrap_or(32);
    let per_round = entry.get("bytes_per_round").and_then(Value::as_str).and_then(bytes);
    let holds_little = per_round.is_some_and(|bytes| bytes.saturating_mul(rounds) < 4 * FULL_FRAME_BYTES);
    let has_few_bytes = entry.contains_key("capacity") || entry.contains_key("max_outstanding_bytes");
    has_two_rounds || holds_little || has_few_bytes
}

/// Returns whether packets wait for all of AFQ's steps for longer than Swift's target: Swift takes each wait for
/// congestion, and sends a packet per 100 round trips (seed 93,012,197).
fn waits_beyond_target(world: &World) -> bool {
    let time = |table: &Table, part: &str, name: &str| Duration::read(table.get(part)?.get(name)?.as_str()?).ok();
    let target = world.entries("transport").filter_map(|transport| time(transport, "congestion", "base_target")).min();
    let rounds = |entry: &Table| entry.get("queues").and_then(Value::as_integer).unwrap_or(32) as u64;
    let wait = |entry: &Table| Some(time(entry, "scheduler", "step")?.as_ps().saturating_mul(rounds(entry)));
    let longest_ps = world.entries("mechanism").filter_map(wait).max();
    target.zip(longest_ps).is_some_and(|(target, longest_ps)| longest_ps >= target.as_ps())
}

/// Returns whether a card can drop packets of a window again and again: its queue is short, and senders do not wait for
/// a place in it, or not for packets in the stack.
fn card_drops(world: &World) -> bool {
    let is_false = |name: &str| world.value(name).and_then(Value::as_bool) == Some(false);
    let delays = ["host.kernel", "host.network_card"].iter().any(|stack| world.value(stack).is_some());
    world.value("host.nic_queue").is_some() && (is_false("host.tcp_small_queues") || delays)
}

/// Parses a quantity of bytes without a prefix, as worlds are drawn.
fn bytes(text: &str) -> Option<i64> {
    text.strip_suffix(" B")?.parse().ok()
}

/// Runs the world for longer. Small windows, constant windows into small queues and short rounds make a flow slow; such
/// a flow is not stuck.
fn longer(evidence: &Evidence<'_>) -> Option<Summary> {
    let mut table = evidence.world.table.clone();
    table.insert("duration".into(), LONGER.into());
    let scenario = World::new(table).check(evidence.registry).ok()?;
    Some(Simulation::new(scenario).ok()?.run(&Progress::default()).summary)
}

/// Returns whether RDMA overflows a queue. Without congestion control connections fill a queue again and again: always
/// before the packets of another one, which gives up (seed 38,002,194), or after a pause of a protected link at full
/// load (4,247 drops, and none with a buffer of 1 MB; seed 54,011,126).
fn rdma_overflows(evidence: &Evidence<'_>, summary: &Summary) -> bool {
    let is_rdma = |transport: &Table| transport.get("kind").and_then(Value::as_str) == Some("roce");
    let is_full = summary.drops.get("queue full").is_some_and(|&drops| drops > 0);
    evidence.world.entries("transport").any(is_rdma) && is_full && summary.flows.started > 1
}

pub fn progress(evidence: &Evidence<'_>) -> Finding {
    let is_bound = evidence.world.value("until").and_then(Value::as_str) == Some("all-flows-done")
        && evidence.world.entries("transport").all(tries_again_soon);
    let starves = evidence.world.kinds().iter().any(|kind| MAY_STARVE.contains(kind))
        || card_drops(evidence.world)
        || waits_beyond_target(evidence.world)
        || headers_starve_packets(evidence.world)
        || evidence.world.entries("mechanism").any(lets_little_through);
    if !is_bound || starves {
        return None;
    }
    let mut broken = Vec::new();
    let later = (evidence.outcome.summary.ended_by != ALL_DONE).then(|| longer(evidence)).flatten();
    let summary = later.as_ref().unwrap_or(&evidence.outcome.summary);
    let flows = &summary.flows;
    if summary.ended_by != ALL_DONE {
        broken.push(format!("{} of {} flows had not ended after {LONGER}", flows.unfinished, flows.started));
    }
    if flows.failed > 0 && !rdma_overflows(evidence, summary) {
        broken.push(format!("{} of {} flows were given up by their transport", flows.failed, flows.started));
    }
    Some(broken)
}

pub fn do_no_harm(evidence: &Evidence<'_>) -> Finding {
    let has_faults = evidence.has("link") || evidence.has("failure");
    if has_faults || !evidence.all_are(&AT_REST, &PLACES) {
        return None;
    }
    let (before, with) = last_ends(evidence, &["mechanism"])?;
    let is_late = with > before + before / 4 + SLACK_PS;
    found(is_late.then(|| format!("the last flow ends at {with} ps, and at {before} ps without mechanisms")))
}

pub fn protected_speed(evidence: &Evidence<'_>) -> Finding {
    let is_given = guards_all_losses(evidence, 0.001) && evidence.has("link");
    if !is_given || shapes_links(evidence.scenario) || rdma_overflows(evidence, &evidence.outcome.summary) {
        return None;
    }
    let (before, with) = last_ends(evidence, &["mechanism", "link"])?;
    let is_late = with > before + before / 2 + 3 * SLACK_PS;
    let told = format!("the last flow ends at {with} ps, and at {before} ps over links that lose nothing");
    found(is_late.then_some(told))
}

/// Returns the end of the last flow without these parts of the world, and with them; `None` if packets are lost even
/// without them.
fn last_ends(evidence: &Evidence<'_>, without: &[&str]) -> Option<(i64, i64)> {
    let mut table = evidence.world.table.clone();
    for part in without {
        table.remove(*part);
    }
    let scenario = World::new(table).check(evidence.registry).ok()?;
    let plain = Simulation::new(scenario).ok()?.run(&Progress::default());
    let last = |outcome| times(outcome, "flows", "finished_ps").iter().copied().max();
    let ends = (last(&plain)?, last(evidence.outcome)?);
    plain.summary.drops.is_empty().then_some(ends)
}
