//! Checks that RIMM's numbers fit together, and that a detour can come back.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::routing::{PathRule, Routing};
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_scenario::network::topology::{SwitchId, Topology};

use super::settings::{RimmRelease, RimmSettings, neighbours};

/// Bits of a depth (section V).
const DEPTH_BITS: u32 = 16;
/// The maximum number of origins of detoured packets: an origin has 8 bits.
const ORIGINS_MAX: usize = 256;

pub fn check_entry(settings: &RimmSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let topology = around.topology;
    let before = check.found();
    ports(check, around, settings, section);
    switch(check, around, settings, section);
    release(check, settings, section);
    times(check, settings, section);
    if check.found() == before {
        thresholds(check, topology, settings, section);
        ways_back(check, topology, settings, section);
        round_trip(check, topology, settings, section);
        returns_fit(check, topology, settings, section);
    }
}

/// Requires large queues: the packets of a detour come back together, and the queue must not run empty meanwhile.
fn returns_fit(check: &mut Check<'_>, topology: &Topology, settings: &RimmSettings, section: &str) {
    let scenario = check.scenario;
    for (switch, ports) in settings.ports_by_switch(topology) {
        let away = neighbours(topology, switch)
            .map(|(port, _)| topology.spec(topology.switch(switch).ports[usize::from(port.0)].link))
            .map(|link| link.flight_time() * 2)
            .min()
            .unwrap_or(Duration::ZERO);
        let sent = |at: SwitchPort| {
            let link = topology.switch(switch).ports[usize::from(at.port.0)].link;
            topology.spec(link).rate.bytes_in(away)
        };
        let too_far = ports.into_iter().find(|&at| sent(at) > scenario.queue_max(topology, at));
        check.report_all(too_far.map(|at| {
            let rule = format!(
                "a detour from {} takes at least {away}, in which a port there sends {}, and its queue holds {}: it \
                 would run empty, and then overflow",
                topology.switch(switch).name,
                sent(at),
                scenario.queue_max(topology, at),
            );
            Problem::new(format!("{section}.ports"), "", rule).hint("larger queues, or neighbours that are nearer")
        }));
    }
}

fn ports(check: &mut Check<'_>, around: Surroundings<'_>, settings: &RimmSettings, section: &str) {
    let (topology, field) = (around.topology, format!("{section}.ports"));
    check.ports_named_once(topology, &settings.ports, &field);
    let relieved = |settings: &RimmSettings| settings.ports_by_switch(topology).into_keys();
    let earlier = around.entries::<RimmSettings>().take_while(|(_, other)| !std::ptr::eq(*other, settings));
    let mut taken: BTreeSet<SwitchId> = earlier.flat_map(|(_, other)| relieved(other)).collect();
    let both = relieved(settings).find(|switch| taken.contains(switch));
    check.report_all(both.map(|switch| {
        let name = &topology.switch(switch).name;
        let rule = format!("{name} has RIMM by another entry, and its ports share one set of parameters");
        Problem::new(&field, "", rule)
    }));
    taken.extend(relieved(settings));
    check.require_else(taken.len() <= ORIGINS_MAX, || {
        let rule = format!(
            "{} switches would detour packets, and a detoured packet names one of {ORIGINS_MAX} in 8 bits",
            taken.len()
        );
        Problem::new(field, "", rule).hint("name the ports that are to be relieved")
    });
}

/// Requires a single queue per port, because RIMM watches its depth.
fn switch(check: &mut Check<'_>, around: Surroundings<'_>, settings: &RimmSettings, section: &str) {
    let switch = &check.scenario.switch;
    let own = switch.variants_at(around.topology, settings.switches(around.topology));
    let has_one_queue = own.iter().all(|switch| switch.queue_count() == 1);
    check.require_else(has_one_queue, || {
        let rule = "RIMM watches one queue at each port, and classes would have queues of their own";
        Problem::new("switch.queues_per_port", "", rule).hint("take 1")
    });
    let is_plain = switch.flow_queueing.is_none();
    let rule = "RIMM watches the depth of a queue, and a port that queues by flow has none";
    check.require(is_plain, "switch.flow_queueing", rule);
    let is_length = settings.segment > Bytes::ZERO;
    check.require(is_length, &format!("{section}.segment"), "must be 1 B or more");
    let is_same = around.entries::<RimmSettings>().all(|(_, other)| other.segment == settings.segment);
    let rule = "differs from that of another entry, and switches tell each other depths in segments";
    check.require(is_same, &format!("{section}.segment"), rule);
}

fn release(check: &mut Check<'_>, settings: &RimmSettings, section: &str) {
    let has_gap = settings.release == RimmRelease::FlowletGap || settings.flowlet_gap.is_none();
    let rule = "has an effect with release = \"flowlet-gap\" only";
    check.require(has_gap, &format!("{section}.flowlet_gap"), rule);
    let ends_by_gap = settings.release == RimmRelease::FlowletGap || settings.flow_detour_max.is_none();
    check.require(ends_by_gap, &format!("{section}.flow_detour_max"), rule);
    let has_order = settings.release != RimmRelease::Unordered || settings.predecessor_timeout.is_none();
    let rule = "has no effect with release = \"unordered\": nothing waits for what went before";
    check.require(has_order, &format!("{section}.predecessor_timeout"), rule);
}

fn times(check: &mut Check<'_>, settings: &RimmSettings, section: &str) {
    let times = [
        ("flowlet_gap", settings.flowlet_gap),
        ("congestion_after", Some(settings.congestion_after)),
        ("flow_detour_max", settings.flow_detour_max),
        ("predecessor_timeout", settings.predecessor_timeout),
        ("crossing_lifetime", Some(settings.crossing_lifetime)),
        ("telemetry_lifetime", settings.telemetry_lifetime),
    ];
    for (name, time) in times {
        let is_above = time.is_none_or(|time| time > Duration::ZERO);
        check.require(is_above, &format!("{section}.{name}"), "must be above zero");
    }
}

fn thresholds(check: &mut Check<'_>, topology: &Topology, settings: &RimmSettings, section: &str) {
    let field = || format!("{section}.threshold");
    for at in settings.ports_by_switch(topology).into_values().flatten() {
        let (threshold, limit) =
            (settings.threshold_of(check.scenario, topology, at), check.scenario.queue_max(topology, at));
        let name = || at.name(topology);
        let before = check.found();
        check.require_else(threshold >= settings.segment, || {
            let rule = format!("is {} at {}, less than one segment", threshold.text(), name());
            Problem::new(field(), "", rule)
        });
        check.require_else(threshold < limit, || {
            let rule = format!(
                "is {} at {}, whose queue holds {} at most: it would drop packets before any is detoured",
                threshold.text(),
                name(),
                limit.text()
            );
            Problem::new(field(), "", rule)
        });
        let segments = threshold.0 / settings.segment.0;
        check.require_else(segments < 1 << DEPTH_BITS, || {
            let rule = format!(
                "is {} at {}: {segments} segments of {}, and a depth has {DEPTH_BITS} bits",
                threshold.text(),
                name(),
                settings.segment.text()
            );
            Problem::new(field(), "", rule).hint("take a larger segment")
        });
        if check.found() > before {
            return;
        }
    }
}

/// Requires a neighbour that sends packets of a relieved port back.
fn ways_back(check: &mut Check<'_>, topology: &Topology, settings: &RimmSettings, section: &str) {
    let routing = Routing::new(topology, PathRule::default());
    let ports: Vec<SwitchPort> = settings.ports_by_switch(topology).into_values().flatten().collect();
    let relieved = |at: &SwitchPort| topology.host_ids().any(|host| routing.has_path_back(topology, *at, host));
    check.require_else(ports.iter().any(relieved), || {
        let rule = "no neighbour would send anything back that these ports could detour to it";
        Problem::new(format!("{section}.ports"), "", rule)
            .hint("a switch needs two neighbours that reach the destination through it, or one beside a host")
    });
}

fn round_trip(check: &mut Check<'_>, topology: &Topology, settings: &RimmSettings, section: &str) {
    let Some(timeout) = settings.predecessor_timeout else { return };
    let bound = settings.round_trip_bound(check.scenario, topology);
    check.require_else(timeout >= bound, || {
        let rule = format!(
            "is too short: a packet may be away for {}, through a neighbour whose queue is at the threshold",
            bound.text()
        );
        Problem::new(format!("{section}.predecessor_timeout"), timeout.text(), rule)
    });
}
