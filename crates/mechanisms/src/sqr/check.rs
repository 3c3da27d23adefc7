//! Checks whether SQR can keep its guarantees: the paper's equation 1 and related bounds, with their numbers.

use std::borrow::Cow;

use crate::sqr::metadata::CacheMetadata;
use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::routing::{PathRule, Routing};
use hitless_scenario::network::switch::{BufferSettings, SwitchSettings};
use hitless_scenario::network::topology::select::select_switch_ports;
use hitless_scenario::network::topology::{DirectedLink, Node, Topology};
use hitless_scenario::{Check, FlowGroup};

use super::clock::Clock;
use super::constant_rates::constant_rates;
use super::settings::{SqrCaching, SqrSettings};
use super::two_failures::two_failures;

pub fn check_entry(settings: &SqrSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let topology = around.topology;
    let before = check.found();
    let links = links(check, topology, settings, section);
    ports(check, topology, settings, section);
    delays(check, topology, settings, section);
    hardware(check, settings, around, section);
    // The checks below need valid names and delays.
    if check.found() == before {
        let routing = Routing::new(topology, PathRule::default());
        let failing: Vec<_> = links.iter().copied().filter(|&link| check.fails(topology, link)).collect();
        backups(check, topology, &routing, &failing, section);
        two_failures(check, topology, settings, &failing, section);
        constant_rates(check, topology, &routing, settings, &failing, section);
        buffer(check, topology, settings, &links, section);
    }
}

fn links(check: &mut Check<'_>, topology: &Topology, settings: &SqrSettings, section: &str) -> Vec<DirectedLink> {
    let mut links = Vec::new();
    for (number, name) in settings.links.iter().enumerate() {
        let field = format!("{section}.links[{number}]");
        for link in check.links_named(topology, name, &field) {
            check.require(!links.contains(&link), &field, "this direction is in the list already");
            let is_from_host = !topology.ends(link).0.node.is_switch();
            check.require(!is_from_host, &field, "a host is at the sending end, and SQR runs on switches");
            links.push(link);
        }
    }
    links
}

fn ports(check: &mut Check<'_>, topology: &Topology, settings: &SqrSettings, section: &str) {
    let switches = settings.switches(topology);
    let mut without = switches.clone();
    for (number, name) in settings.caching_ports.iter().enumerate() {
        let field = format!("{section}.caching_ports[{number}]");
        match select_switch_ports(topology, name, 0) {
            Ok(port) => {
                let rule = "is at a switch that sends on none of the protected links";
                check.require(switches.contains(&port.switch), &field, rule);
                without.remove(&port.switch);
            }
            Err(rule) => check.report(Problem::new(field, "", rule)),
        }
    }
    let counts = switches.iter().map(|&switch| topology.switch(switch).ports.len());
    let fit = counts.max().is_none_or(|count| count <= usize::from(CacheMetadata::PORTS));
    let rule = format!("is at a switch of more than {} ports, which a copy cannot tell apart", CacheMetadata::PORTS);
    check.require(fit, &format!("{section}.links"), &rule);
    if let Some(switch) = without.first() {
        let rule = format!("{} has no caching port", topology.switch(*switch).name);
        check.report(Problem::new(format!("{section}.caching_ports"), "", rule));
    }
}

fn delays(check: &mut Check<'_>, topology: &Topology, settings: &SqrSettings, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let (Some(steady), Some(failure)) = (settings.steady_delay, settings.failure_delay) else { return };
    let failing = settings.protected(topology).into_iter().find(|&link| check.fails(topology, link));
    if let Some(failing) = failing {
        require_detection(check, topology, failing, field("links"));
        let detection = check.scenario.detection().bound();
        let needed = settings.steady_bound(check.scenario, topology);
        check.require_else(steady >= needed, || {
            let flight = needed.saturating_sub(detection).text();
            let (needed, detection) = (needed.text(), detection.text());
            let rule =
                format!("is too short: detection takes {detection} and a full frame {flight}, {needed} together");
            Problem::new(field("steady_delay"), "", rule)
        });
    }
    let reconfiguration = settings.reconfiguration_bound(check.scenario, topology);
    let needed = Duration(steady.as_ps().saturating_add(reconfiguration.as_ps()));
    check.require_else(failure >= needed, || {
        let (steady, reconfiguration, needed) = (steady.text(), reconfiguration.text(), needed.text());
        let rule =
            format!("is too short: steady_delay {steady} and reconfiguration {reconfiguration} are {needed} together");
        Problem::new(field("failure_delay"), "", rule)
    });
    let longest = Clock::new(settings.clock_bits).longest();
    for (name, time) in [("failure_delay", failure), ("utilization_window", settings.utilization_window)] {
        check.require_else(time <= longest, || {
            let bits = settings.clock_bits;
            let rule = format!("must be {} at most, half a turn of a clock of {bits} bits", longest.text());
            Problem::new(field(name), time.text(), rule).hint("give more clock_bits")
        });
    }
}

fn require_detection(check: &mut Check<'_>, topology: &Topology, failing: DirectedLink, field: String) {
    check.require_else(check.scenario.recovery.is_some(), || {
        let rule = format!("{} fails, and nobody detects it", topology.link_name(failing));
        let hint = "give [recovery], or SQR is never told that it has to send its copies";
        Problem::new(field, "", rule).hint(hint)
    });
}

fn hardware(check: &mut Check<'_>, settings: &SqrSettings, around: Surroundings<'_>, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let has_window = settings.utilization_window > Duration::ZERO;
    check.require(has_window, &field("utilization_window"), "must be above zero");
    let (switch, topology) = (&check.scenario.switch, around.topology);
    let mirrors = |id| switch.of_switch(topology, id).mirror_latency > Duration::ZERO;
    let takes_time = settings.caching != SqrCaching::Ring || settings.switches(topology).into_iter().all(mirrors);
    check.require_else(takes_time, || {
        let rule = "a ring needs a switch.mirror_latency above 0: copies would go round it in no time";
        Problem::new(field("caching"), "", rule)
            .hint("take switch.preset = \"tofino-like\", or caching = \"delay-queue\"")
    });
    let is_used = settings.any_order_age.is_none() || !settings.any_order(around).is_empty();
    check.require(
        is_used,
        &field("any_order_age"),
        "has no effect: packets of all classes keep their order (any_order)",
    );
    if let Some((class, FlowGroup { name, class: other, .. })) = settings.shared_queue(around) {
        let rule = format!(
            "class {class} shares its queue with class {other} of the flows '{name}', and would wait for their order"
        );
        let hint = "give each class a queue (switch.queues_per_port, and a scheduler other than \"fifo\")";
        check.report(Problem::new(field("any_order"), "", rule).hint(hint));
    }
    if let Some(backstop) = settings.backstop {
        let falls = backstop.resume < backstop.pause;
        check.require(falls, &field("backstop.resume"), "must be below pause");
        let acts = |switch: &Cow<'_, SwitchSettings>| match switch.buffer {
            BufferSettings::Shared(buffer) => backstop.pause <= buffer.total,
            BufferSettings::Static(_) => true,
        };
        let within = switch.variants_at(topology, settings.switches(topology)).iter().all(acts);
        check.require(within, &field("backstop.pause"), "is above switch.buffer.total: it would never act");
    }
}

/// Requires another port for local rerouting.
fn backups(check: &mut Check<'_>, topology: &Topology, routing: &Routing, links: &[DirectedLink], section: &str) {
    if !check.reroutes() {
        return;
    }
    for &link in links {
        let end = topology.ends(link).0;
        let Node::Switch(switch) = end.node else { continue };
        let is_safe = !routing.detours(topology, switch, end.port).is_empty();
        check.require_else(is_safe, || {
            let (link, name) = (topology.link_name(link), &topology.switch(switch).name);
            let rule =
                format!("{link} has no backup: from every other neighbour of {name} some of its packets come back");
            Problem::new(format!("{section}.links"), "", rule)
                .hint("local rerouting needs another way; protect another link, or take the scheme \"same-port\"")
        });
    }
}

/// Equation 1: copies of all packets that the protected ports of a switch send during `failure_delay` must fit into its
/// buffer. After local rerouting, so must all packets that wait for `return_hold`.
fn buffer(check: &mut Check<'_>, topology: &Topology, settings: &SqrSettings, links: &[DirectedLink], section: &str) {
    let Some(failure_delay) = settings.failure_delay else { return };
    let hold = if check.reroutes() { settings.return_hold() } else { Duration::ZERO };
    let (field, delay) = if hold > failure_delay { ("return_hold", hold) } else { ("failure_delay", failure_delay) };
    for switch in settings.switches(topology) {
        let own = check.scenario.switch.of_switch(topology, switch);
        let BufferSettings::Shared(buffer) = own.buffer else { continue };
        let (limit, limit_name) = match settings.backstop {
            Some(backstop) => (backstop.pause, "backstop.pause"),
            None => (buffer.total, "switch.buffer.total"),
        };
        let own = links.iter().filter(|&&link| topology.ends(link).0.node == Node::Switch(switch));
        let rates: Vec<_> = own.map(|&link| topology.line_range(link).highest_rate).collect();
        let needed = Bytes(rates.iter().map(|rate| rate.bytes_in(delay).0).fold(0, u64::saturating_add));
        check.require_else(needed <= limit, || {
            let list: Vec<String> = rates.iter().map(|rate| rate.text()).collect();
            let rule = format!(
                "{} would have to keep ({}) x {} = {}, and {limit_name} is {} (equation 1)",
                topology.switch(switch).name,
                list.join(" + "),
                delay.text(),
                needed.text(),
                limit.text(),
            );
            Problem::new(format!("{section}.{field}"), delay.text(), rule)
        });
    }
}
