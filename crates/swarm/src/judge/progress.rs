//! That flows come to their end, and are not held up by what is there to help.

use hitless_engine::Progress;
use hitless_simulation::Simulation;
use toml::{Table, Value};

use super::evidence::{Evidence, Finding, times};
use super::promises::guards_all_losses;
use crate::world::World;

/// Kinds whose business it is to lose packets for ever, or that may be told to.
const MAY_STARVE: [&str; 2] = ["every-nth", "rank-guard"];
/// Kinds that at their defaults do nothing to packets of a healthy fabric in which nothing overflows.
pub const AT_REST: [&str; 6] = ["linkguardian", "link-layer-retry", "sqr", "rimm", "dibs", "trimming"];
const PLACES: [&str; 3] = ["link", "links", "ports"];
/// By how much the last flow may be later: a quarter of its time, and so many picoseconds.
const SLACK_PS: i64 = 100_000_000;

/// Whether a flow of a transport that lost everything tries again within the bound of a world, not within seconds.
fn tries_again_soon(transport: &Table) -> bool {
    match transport.get("kind").and_then(Value::as_str) {
        Some("tcp")
            if transport.get("congestion").and_then(Value::as_str) == Some("swift")
                && transport.get("swift").is_none() =>
        {
            false
        }
        Some("tcp") => ["rto_max", "rto_initial", "rto_min", "syn_timeout", "tlp_max_ack_delay"]
            .iter()
            .all(|name| transport.contains_key(*name)),
        Some("packet-pair") => ["rto_max", "rto_initial", "rto_min"].iter().all(|name| transport.contains_key(*name)),
        Some("roce") => transport.contains_key("timeout") && transport.contains_key("retries"),
        _ => true,
    }
}

/// Whether a mechanism is told to let a frame or two through at a time: a long flow then takes longer than the world.
fn lets_little_through(entry: &Table) -> bool {
    let of_link_layer_retry = "max_outstanding_bytes";
    // Of a window that fills a long path AFQ with two rounds, a packet or two, drops a quarter again and again.
    let of_afq = entry.get("queues").and_then(Value::as_integer) == Some(2);
    of_afq || entry.contains_key("capacity") || entry.contains_key(of_link_layer_retry)
}

pub fn progress(evidence: &Evidence<'_>) -> Finding {
    let is_bound = evidence.world.value("until").and_then(Value::as_str) == Some("all-flows-done")
        && evidence.world.entries("transport").all(tries_again_soon);
    let has = |list, key| evidence.world.entries(list).any(|entry: &Table| entry.contains_key(key));
    let starves = evidence.world.kinds().iter().any(|kind| MAY_STARVE.contains(kind))
        // A card of a few packets drops most of a window, which some transports then send again for ever.
        || evidence.world.value("host.nic_queue").is_some()
        || evidence.world.entries("mechanism").any(lets_little_through)
        // What an application has written when it stops is megabytes: a window that never grows takes long over them.
        || (has("transport", "window")
            && evidence.world.entries("flows").any(|flows| flows["kind"].as_str() == Some("long")));
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
    Some(
        is_late
            .then(|| format!("the last flow ends at {with} ps, and at {before} ps without mechanisms"))
            .into_iter()
            .collect(),
    )
}

pub fn protected_speed(evidence: &Evidence<'_>) -> Finding {
    if !guards_all_losses(evidence, 0.001) || !evidence.has("link") {
        return None;
    }
    let (before, with) = last_ends(evidence, &["mechanism", "link"])?;
    let is_late = with > before + before / 2 + 3 * SLACK_PS;
    let told = format!("the last flow ends at {with} ps, and at {before} ps over links that lose nothing");
    Some(is_late.then_some(told).into_iter().collect())
}

/// When the last flow ends without these parts of the world, and when with them; none where it loses packets even so.
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
