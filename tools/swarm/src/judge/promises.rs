//! The promises of the papers, each with its range.

use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::Duration;
use hitless_simulation::results::OrderCounts;
use toml::{Table, Value};

use super::evidence::{Evidence, Finding, found};

/// Drop reasons that no switch mechanism can prevent: the host's card, and arrivals after the end of a flow.
const OF_HOSTS: [&str; 3] =
    ["network card full", "arrived after the end of the flow", "copy of a packet held for order"];

/// Reports nonzero counts that must be zero, each in a sentence that ends in `why`.
fn counted(counts: [(&str, u64); 2], why: &str) -> Vec<String> {
    let broken = counts.into_iter().filter(|(_, count)| *count > 0);
    broken.map(|(what, count)| format!("{count} packets were {what}{why}")).collect()
}

fn order_faults(order: OrderCounts) -> Vec<String> {
    counted([("reordered", order.packets_reordered), ("duplicated", order.packets_duplicated)], "")
}

fn text<'a>(entry: &'a Table, name: &str) -> &'a str {
    entry.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Returns whether the packets of a flow take one path, and share one queue at each port.
fn goes_one_way(evidence: &Evidence<'_>) -> bool {
    let rehashes = evidence.world.value("switch.flow_queueing.perturbation").is_some();
    let chooses = matches!(evidence.world.text_of("routing.choice"), Some("two-choices" | "flowlets"));
    let sprays = evidence.world.entries("transport").any(|transport| text(transport, "kind") == "uet");
    !rehashes && !chooses && !sprays && !evidence.has("failure")
}

pub fn plain_order(evidence: &Evidence<'_>) -> Finding {
    let is_plain = !evidence.has("mechanism") && goes_one_way(evidence);
    is_plain.then(|| evidence.order().map_or_else(Vec::new, order_faults))
}

/// Returns whether the only faults are corruption of at most this share of frames, on protected links.
pub fn guards_all_losses(evidence: &Evidence<'_>, rate_most: f64) -> bool {
    let settings = ["link", "buffering", "handshake", "first_number", "tail_probes", "timer_period"];
    let is_known = evidence.all_are(&["linkguardian", "link-layer-retry"], &settings);
    let protected: Vec<&str> = evidence.world.entries("mechanism").map(|entry| text(entry, "link")).collect();
    let is_masked = |entry: &Table| {
        let loss = |name: &str| entry.get("loss").and_then(|loss| loss.get(name));
        let rate = loss("rate").and_then(Value::as_float).unwrap_or(1.0);
        let is_bernoulli = loss("kind").and_then(Value::as_str) == Some("bernoulli");
        let mut changes = entry.get("changes").and_then(Value::as_array).into_iter().flatten();
        let keeps_loss = changes.all(|change| change.get("loss").is_none());
        let is_all = keeps_loss && entry.keys().all(|key| ["name", "loss", "changes"].contains(&key.as_str()));
        is_all && is_bernoulli && rate <= rate_most && protected.contains(&text(entry, "name"))
    };
    is_known && !evidence.has("failure") && evidence.world.entries("link").all(is_masked)
}

pub fn protected_link(evidence: &Evidence<'_>) -> Finding {
    // Link Layer Retry sends frames unprotected until its handshake is done (init_action = "best-effort"). A corrupted
    // INIT is repeated after a timeout (seed 24,013,876).
    let is_late = evidence.counter("tx_init_ctl_os") > evidence.counter("rx_init_echo_ctl_os");
    if !guards_all_losses(evidence, 0.01) || !goes_one_way(evidence) || is_late {
        return None;
    }
    let order = evidence.order()?;
    let mut broken = order_faults(order);
    let others = evidence.drops_but_for(&["corrupted on a link"]);
    if order.packets_lost > others {
        broken.push(format!("{} packets were lost on protected links", order.packets_lost - others));
    }
    Some(broken)
}

/// Time of 9,018 B at 10 Gb/s, and more.
const LONGEST_FRAME: Duration = Duration::from_us(8);

pub fn masked_outage(evidence: &Evidence<'_>) -> Finding {
    let is_known = evidence.all_are(&["sqr"], &["links", "caching", "any_order"]);
    // By default SQR neither orders the packets of spraying connections nor sends old copies (seed 58,000,064).
    let sprays = evidence.world.entries("transport").any(|transport| text(transport, "kind") == "uet");
    let is_empty = |entry: &Table| entry.get("any_order").and_then(Value::as_array).is_some_and(Vec::is_empty);
    let orders_all = evidence.world.entries("mechanism").all(is_empty);
    let is_known = is_known && (orders_all || !sprays);
    let repairs = evidence.world.text_of("recovery.scheme.kind").is_some_and(|kind| kind != "none");
    let has_choices = evidence.world.value("routing.choice").is_some();
    // A frame that is on the line while a link is repaired arrives if its last bit leaves afterwards. It overtakes the
    // copies: 1,518 B at 10G and 1.2 us, but not 2 us (seed 54,010,320).
    let reconfiguration = evidence.world.text_of("recovery.scheme.reconfiguration");
    let is_sudden = reconfiguration.and_then(|text| Duration::read(text).ok()).is_some_and(|time| time < LONGEST_FRAME);
    if !is_known || !repairs || evidence.has("link") || has_choices || is_sudden || !evidence.has("failure") {
        return None;
    }
    let mut masked = evidence.world.entries("mechanism").filter_map(|entry| entry.get("links")?.as_array()).flatten();
    let is_masked = |failure: &Table| masked.any(|link| link.as_str() == Some(text(failure, "link")));
    let mut failures = evidence.world.entries("failure");
    let one = failures.next()?;
    let only = failures.next().is_none() && std::iter::once(one).all(is_masked);
    let overflows = evidence.drops_but_for(&[&["lost on a link that was down"], &OF_HOSTS[..]].concat()) > 0;
    if !only || overflows || evidence.counter("copies_refused") > 0 {
        return None;
    }
    // A copy of a packet that had arrived can be sent again: this is not a loss, and the section allows it.
    let order = evidence.order()?;
    // A sender with a timeout below the outage repeats packets that SQR keeps; they count as reordered (277 with a
    // timeout of 500 us, none with 50 ms: seed 54,010,320).
    let times_out = evidence.numbers("flows", "timeouts").iter().any(|&timeouts| timeouts > 0);
    let reordered = if times_out { 0 } else { order.packets_reordered };
    Some(counted([("lost", order.packets_lost), ("reordered", reordered)], " although the failure was masked"))
}

pub fn lossless(evidence: &Evidence<'_>) -> Finding {
    let has_pfc = evidence.world.value("switch.pfc").is_some();
    let is_changed = ["headroom", "watchdog"].iter().any(|name| {
        let path = format!("switch.pfc.{name}");
        evidence.world.value(&path).is_some()
    });
    let loses_pauses = ["link", "failure", "mechanism"].iter().any(|list| evidence.has(list));
    // Lost messages about credits grant nothing.
    let has_credits = evidence.world.value("switch.cbfc").is_some();
    if !has_credits && (!has_pfc || is_changed || loses_pauses) {
        return None;
    }
    let drops: u64 = evidence.numbers("ports", "lossless_drops").iter().sum();
    found((drops > 0).then(|| format!("{drops} packets of lossless classes were dropped")))
}

/// A flow of datagrams between two hosts, and its offered rate in bits per second.
struct Offer {
    name: String,
    rate_bps: f64,
}

pub fn fair_share(evidence: &Evidence<'_>) -> Finding {
    let is_known = evidence.all_are(&["afq"], &["ports", "scheduler", "queues"]) && evidence.has("flows");
    let is_dumbbell = evidence.world.text_of("topology.kind") == Some("dumbbell");
    if !is_known || !is_dumbbell || evidence.has("link") || evidence.has("failure") {
        return None;
    }
    let offers = offers(evidence)?;
    let line_bps = evidence.scenario.build_topology().ok()?.links.last()?.slowest().rate.as_bps() as f64;
    let shares = max_min(&offers, line_bps);
    let names = evidence.texts("flows", "group");
    let delivered = evidence.numbers("flows", "delivered_bytes");
    let window_s = window_s(evidence)?;
    // Share of payload in the bytes of a full frame on the line.
    let payload = 1_472.0 / 1_538.0;
    let slack_bytes = 2.0 * offers.len() as f64 * 1_518.0 + 2.0 * 1_518.0;
    let mut broken = Vec::new();
    for (offer, share_bps) in offers.iter().zip(shares) {
        let due = share_bps / 8.0 * window_s * payload * 0.98 - slack_bytes;
        let got: u64 =
            names.iter().zip(delivered).filter(|(name, _)| **name == offer.name).map(|(_, bytes)| bytes).sum();
        if (got as f64) < due {
            broken.push(format!("{} got {got} bytes of its fair share of {due:.0}", offer.name));
        }
    }
    Some(broken)
}

/// Returns the offers if each group is a single flow of datagrams from a different host, all with the same time and
/// weight.
fn offers(evidence: &Evidence<'_>) -> Option<Vec<Offer>> {
    let mut sources = Vec::new();
    let mut offers = Vec::new();
    for group in evidence.world.entries("flows") {
        let allowed = ["name", "transport", "kind", "sources", "destinations", "stop"];
        let [source] = group.get("sources")?.as_array()?.as_slice() else { return None };
        if text(group, "kind") != "constant-rate" || !group.keys().all(|key| allowed.contains(&key.as_str())) {
            return None;
        }
        if sources.contains(&source) {
            return None;
        }
        sources.push(source);
        let transport =
            evidence.world.entries("transport").find(|known| text(known, "name") == text(group, "transport"))?;
        let is_plain = transport.keys().all(|key| matches!(key.as_str(), "name" | "kind" | "rate"));
        let rate_bps = text(transport, "rate").strip_suffix(" bps")?.parse().ok()?;
        is_plain.then(|| offers.push(Offer { name: text(group, "name").to_owned(), rate_bps }))?;
    }
    Some(offers)
}

/// Returns the duration of sending, if it is the same for all groups.
fn window_s(evidence: &Evidence<'_>) -> Option<f64> {
    let mut stops = evidence.scenario.flows.iter().map(|group| group.stop);
    let first = stops.next()??;
    stops.all(|stop| stop == Some(first)).then(|| first.as_seconds())
}

/// Max-min fair shares of a line (Bertsekas and Gallager, Data Networks, section 6.5.2).
fn max_min(offers: &[Offer], line_bps: f64) -> Vec<f64> {
    let mut rates: Vec<f64> = offers.iter().map(|offer| offer.rate_bps).collect();
    rates.sort_by(f64::total_cmp);
    let (mut left_bps, mut level) = (line_bps, 0.0);
    for (number, rate) in rates.iter().enumerate() {
        let share = left_bps / (rates.len() - number) as f64;
        level = share;
        if *rate > share {
            break;
        }
        level = f64::INFINITY;
        left_bps -= rate;
    }
    offers.iter().map(|offer| offer.rate_bps.min(level)).collect()
}

pub fn detour_order(evidence: &Evidence<'_>) -> Finding {
    let is_known = evidence.all_are(
        &["rimm"],
        &["ports", "threshold", "messages", "record_choices", "neighbour_for_returns", "neighbour_change", "segment"],
    );
    let overflows = evidence.drops_but_for(&OF_HOSTS) > 0;
    // A neighbour without room accepts no packets, and new packets then overtake the detoured ones (section III-A2).
    // Packets that wait longer than the timeout for their predecessor are released. Both are counted.
    let gave_up = evidence.counter("new_packets_past_detoured") + evidence.counter("packets_released_late") > 0;
    if !is_known || overflows || gave_up || evidence.has("link") || !goes_one_way(evidence) {
        return None;
    }
    Some(order_faults(evidence.order()?))
}

pub fn detour_limit(evidence: &Evidence<'_>) -> Finding {
    let kinds = ["dibs", "simple-deflection", "preemptive-deflection", "pabo", "vertigo", "aifo"];
    if !evidence.world.kinds().iter().all(|kind| kinds.contains(kind)) || !evidence.has("mechanism") {
        return None;
    }
    let order = evidence.order()?;
    let most = order.packets_sent * (u64::from(evidence.scenario.host.time_to_live) + 1);
    let crossed: u64 = evidence.numbers("links", "frames_sent").iter().sum();
    found((crossed > most).then(|| format!("{crossed} links were crossed, and {most} are the most")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_min_shares_leave_what_others_do_not_want() {
        let shares = |rates: &[f64]| {
            let offers: Vec<Offer> = rates.iter().map(|&rate_bps| Offer { name: String::new(), rate_bps }).collect();
            max_min(&offers, 10.0)
        };
        assert_eq!(shares(&[10.0, 10.0]), [5.0, 5.0]);
        assert_eq!(shares(&[1.0, 10.0, 10.0]), [1.0, 4.5, 4.5]);
        assert_eq!(shares(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(shares(&[9.0, 1.0, 4.0]), [5.0, 1.0, 4.0]);
    }
}
