//! Judges of progress: flows complete, and mechanisms do not delay them.

use hitless_core::engine::Progress;
use hitless_scenario::network::topology::DirectedLink;
use hitless_simulation::Simulation;
use toml::{Table, Value};

use super::evidence::{Evidence, Finding, found, times};
use super::promises::guards_all_losses;
use crate::world::World;

/// Kinds that lose packets forever by design, or can be configured to.
const MAY_STARVE: [&str; 3] = ["every-nth", "rank-guard", "aifo"];
/// Kinds that with default settings do nothing to packets of a healthy fabric without overflows.
pub const AT_REST: [&str; 6] = ["linkguardian", "link-layer-retry", "sqr", "rimm", "dibs", "trimming"];
const FULL_FRAME_BYTES: i64 = 1_518;
/// Maximum data that a stopped flow has written but not sent, and half of a world in picoseconds.
const WRITTEN_AT_MOST_BYTES: i64 = 4_194_304;
const BOUND_PS: i64 = 30_000_000_000;
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
        Some("roce") => &["timeout", "retries"],
        _ => &[],
    };
    says.iter().all(|name| transport.contains_key(*name))
}

/// Returns whether a mechanism is configured to pass only one or two frames at a time, so that a long flow takes longer
/// than the world.
fn lets_little_through(entry: &Table) -> bool {
    let of_link_layer_retry = "max_outstanding_bytes";
    // One frame per round trip is 1.5 Gb/s at 10G: three flows of 4 MB take 67 of 60 ms (seed 22,002,069).
    let few_frames = entry.get("max_outstanding_frames").and_then(Value::as_integer).is_some_and(|frames| frames <= 8);
    // With two rounds of one or two packets, AFQ repeatedly drops a quarter of a window that fills a long path.
    let of_afq = entry.get("queues").and_then(Value::as_integer) == Some(2);
    // All rounds together must hold two full frames of a flow, or the second one is always dropped; the default is 32
    // rounds.
    let rounds = entry.get("queues").and_then(Value::as_integer).unwrap_or(32);
    let per_round = entry.get("bytes_per_round").and_then(Value::as_str).and_then(bytes);
    let holds_little = per_round.is_some_and(|bytes| bytes.saturating_mul(rounds) < 4 * FULL_FRAME_BYTES);
    // A flow sends one round per step of the scheduler: 70 KB take 47 steps of 1 ms (seed 20,263,018).
    let step_ps = entry.get("scheduler").and_then(|scheduler| scheduler.get("step")).and_then(Value::as_str);
    let per_step = per_round.unwrap_or(FULL_FRAME_BYTES).max(1);
    let steps_slowly = step_ps
        .and_then(|text| text.strip_suffix(" ps")?.parse::<i64>().ok())
        .is_some_and(|step| (WRITTEN_AT_MOST_BYTES / per_step).saturating_mul(step) > BOUND_PS);
    let has_few_bytes = entry.contains_key("capacity") || entry.contains_key(of_link_layer_retry);
    of_afq || holds_little || steps_slowly || few_frames || has_few_bytes
}

/// Parses a quantity of bytes without a prefix, as worlds are drawn.
fn bytes(text: &str) -> Option<i64> {
    text.strip_suffix(" B")?.parse().ok()
}

/// Returns the packets of RoCE that a buffer holds, written as packets or as kilobytes.
fn packets_of_room(room: &str) -> Option<i64> {
    let kilobytes = |text: &str| Some(text.strip_suffix(" KB")?.parse::<i64>().ok()? * 1_000 / 1_086);
    room.strip_suffix(" packets").and_then(|packets| packets.parse().ok()).or_else(|| kilobytes(room))
}

/// Returns whether a transport needs longer than the world for its data: RoCE, whose window is constant, or TCP if a
/// queue of a few packets keeps its window small.
fn starves_by_itself(evidence: &Evidence<'_>, transport: &Table) -> bool {
    let own_window = transport.get("window").and_then(Value::as_integer);
    let room = evidence.world.text_of("switch.buffer.per_port");
    let room = room.and_then(packets_of_room);
    // Several windows at once overflow a small queue, and a lost retransmission costs a timeout: 17 timeouts for 98
    // packets (seed 10,200,694). A window of 51 packets (seed 20,270,144), or 13 windows of 20 (seed 20,507,417), into
    // 30 KB take more than 60 ms.
    let flows = i64::try_from(evidence.outcome.summary.flows.started).unwrap_or(i64::MAX);
    if own_window.zip(room).is_some_and(|(window, room)| room < window.saturating_mul(flows)) {
        return true;
    }
    // Not only of long flows: 59 KB in segments of 200 B at a loss rate of 1 % (seed 21,000,146).
    if small_segments_take_long(evidence, transport) {
        return true;
    }
    if !evidence.world.entries("flows").any(|flows| flows["kind"].as_str() == Some("long")) {
        return false;
    }
    // No flow has room for a window in a queue of fewer packets than flows: 26 flows without SACK and 8 packets take
    // more than 60 ms (seed 20,701,054).
    if room.is_some_and(|room| room < flows) {
        return true;
    }
    // Go-back-N takes each packet out of order for a loss, and resends the window: 3.3 of 4.2 MB in 60 ms with a queue
    // that is hashed again every 50 us, but all of it in 12 ms without (seed 4,000,850).
    let reorders = evidence.world.value("switch.flow_queueing.perturbation").is_some();
    let goes_back = transport.get("recovery").and_then(Value::as_str) != Some("selective-repeat");
    // The data that an application has written when it stops takes one round trip per window. A queue of 8 packets at
    // the end of a path with a round trip of 360 us limits NewReno to about twice that window (seed 10,300,200).
    let window = own_window.or(room.map(|room| 2 * room));
    let takes_long =
        window.is_some_and(|window| round_trips(WRITTEN_AT_MOST_BYTES, window) * round_trip_ps(evidence) > BOUND_PS);
    (own_window.is_some() && goes_back && reorders) || takes_long
}

/// Returns whether a transport with small segments needs longer than the world. One cause is losses that keep its
/// window small (200 B at a loss rate of 1 % and 240 us take about 54 of 60 ms, seed 21,000,146). The other is headers
/// that fill the line (1 B at 10G takes 0.3 s, seed 38,001,013).
fn small_segments_take_long(evidence: &Evidence<'_>, transport: &Table) -> bool {
    const HEADERS_BYTES: f64 = 98.0;
    let Ok(topology) = evidence.scenario.build_topology() else { return false };
    let Some(mss) = transport.get("mss").and_then(Value::as_str).and_then(bytes) else { return false };
    let segments = WRITTEN_AT_MOST_BYTES as f64 / mss as f64;
    let slowest_bps = topology.links.iter().map(|link| link.settings.rate.as_bps()).min().unwrap_or(u64::MAX);
    let on_the_line_ps = segments * (mss as f64 + HEADERS_BYTES) * 8e12 / slowest_bps as f64;
    let links = (0..2 * topology.links.len()).map(DirectedLink::from_index);
    let loss_rate = links.map(|link| evidence.scenario.loss_rate_max(&topology, link)).fold(0.0, f64::max);
    // Mathis et al. 1997: a window of the square root of 3 / (2 p) segments.
    let windows_ps = segments / (1.5 / loss_rate).sqrt() * round_trip_ps(evidence) as f64;
    on_the_line_ps.max(windows_ps) > BOUND_PS as f64
}

/// Number of windows of 1 KB packets in `bytes`.
const fn round_trips(bytes: i64, window: i64) -> i64 {
    bytes / (window * 1_024)
}

/// Twice the path over the slowest links of a fabric; a path has at most six links in any drawn fabric.
fn round_trip_ps(evidence: &Evidence<'_>) -> i64 {
    let Ok(topology) = evidence.scenario.build_topology() else { return 0 };
    let slowest = topology.links.iter().map(|link| link.settings.delay.as_ps()).max().unwrap_or(0);
    i64::try_from(2 * 6 * slowest).unwrap_or(i64::MAX / 8_192)
}

pub fn progress(evidence: &Evidence<'_>) -> Finding {
    let is_bound = evidence.world.value("until").and_then(Value::as_str) == Some("all-flows-done")
        && evidence.world.entries("transport").all(tries_again_soon);
    let starves = evidence.world.kinds().iter().any(|kind| MAY_STARVE.contains(kind))
        // A card with a queue of a few packets drops most of a window, which some transports then resend forever.
        || evidence.world.value("host.nic_queue").is_some()
        || evidence.world.entries("mechanism").any(lets_little_through)
        || evidence.world.entries("transport").any(|transport| starves_by_itself(evidence, transport));
    if !is_bound || starves {
        return None;
    }
    let flows = &evidence.outcome.summary.flows;
    let mut broken = Vec::new();
    if evidence.outcome.summary.ended_by != "all flows done" {
        broken.push(format!("{} of {} flows had not ended at the end of the world", flows.unfinished, flows.started));
    }
    if flows.failed > 0 {
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
    if !guards_all_losses(evidence, 0.001) || !evidence.has("link") {
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
    let mut table = evidence.world.table().clone();
    for part in without {
        table.remove(*part);
    }
    let scenario = World::new(table).check(evidence.registry).ok()?;
    let plain = Simulation::new(scenario).ok()?.run(&Progress::default());
    let last = |outcome| times(outcome, "flows", "finished_ps").iter().copied().max();
    let ends = (last(&plain)?, last(evidence.outcome)?);
    plain.summary.drops.is_empty().then_some(ends)
}
