//! Checks of flows with a constant rate over protected links: they do not slow down, so that links must have room for
//! them.

use std::collections::BTreeMap;

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{BitRate, HostId, ServiceKey};
use hitless_scenario::network::routing::Routing;
use hitless_scenario::network::switch::hardware::architecture;
use hitless_scenario::network::topology::select::{select_hosts, select_switch_ports};
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};
use hitless_scenario::{Check, FlowGroup, FlowPattern, Protocol};

use super::RING_SHARE;
use super::crossing::always_crosses;
use super::settings::SqrSettings;

/// Requires that a link, and each of its backups with the backup's own traffic, can carry the protected flows, and that
/// the ring has time to read their copies.
pub fn constant_rates(
    check: &mut Check<'_>,
    topology: &Topology,
    routing: &Routing,
    settings: &SqrSettings,
    links: &[DirectedLink],
    section: &str,
) {
    for &link in links {
        let sent_bps = bps_over(check, topology, routing, Some(settings), link);
        for way in ways_of(check, topology, routing, link) {
            let own_bps = if way == link { 0 } else { bps_over(check, topology, routing, None, way) };
            let rate = topology.line_range(way).lowest_rate;
            check.require_else(sent_bps == 0 || sent_bps.saturating_add(own_bps) <= rate.as_bps(), || {
                let (name, over) = (topology.link_name(link), topology.link_name(way));
                let beside = if own_bps == 0 { String::new() } else { format!(" beside {}", rate_text(own_bps)) };
                let rule = format!(
                    "protected flows of constant rate send {} over {name}; after a failure {over} has to carry \
                     them{beside}, and carries {}",
                    rate_text(sent_bps),
                    rate.text()
                );
                Problem::new(format!("{section}.links"), "", rule).hint("what waits could never be sent")
            });
        }
    }
    for switch in settings.switches(topology) {
        let own: Vec<_> =
            links.iter().copied().filter(|&link| topology.ends(link).0.node.switch() == Some(switch)).collect();
        ring(check, topology, routing, settings, (switch, &own), section);
    }
}

/// Requires time for reading every copy once and half of the copies twice. The ring reads while its ports do not send,
/// and in its share of a busy port.
fn ring(
    check: &mut Check<'_>,
    topology: &Topology,
    routing: &Routing,
    settings: &SqrSettings,
    (switch, links): (SwitchId, &[DirectedLink]),
    section: &str,
) {
    let copies = links.iter().map(|&link| bps_over(check, topology, routing, Some(settings), link));
    let sent_bps = copies.fold(0, u64::saturating_add);
    // A copy that is read before its time goes round again.
    let copies_bps = sent_bps.saturating_add(sent_bps / 2);
    let names = settings.caching_ports.iter();
    let ports = names.filter_map(|name| select_switch_ports(topology, name, 0).ok()).filter(|at| at.switch == switch);
    let spare = ports.map(|at| {
        let port = &topology.switch(switch).ports[usize::from(at.port.0)];
        let rate_bps = topology.line_range(port.link).lowest_rate.as_bps();
        let sent_bps = bps_over(check, topology, routing, None, port.link).min(rate_bps);
        let reading_bps = architecture(&check.scenario.switch).buffer_read_rate.as_bps().max(rate_bps);
        // A busy port still gives the ring its weight, 1/11; an idle one all of its time.
        let idle = u128::from(reading_bps) * u128::from(rate_bps - sent_bps) / u128::from(rate_bps);
        (idle as u64).max(reading_bps / RING_SHARE)
    });
    let spare_bps = spare.fold(0, u64::saturating_add);
    check.require_else(copies_bps <= spare_bps, || {
        let name = &topology.switch(switch).name;
        let (sent, copies, spare) = (rate_text(sent_bps), rate_text(copies_bps), rate_text(spare_bps));
        let rule = format!(
            "copies of {sent} have to be read one and a half times each at {name}, {copies}, and its caching ports \
             have the time to read {spare} beside flows of constant rate"
        );
        Problem::new(format!("{section}.caching_ports"), "", rule)
            .hint("what is not copied would be lost in a failure: protect less, or send less")
    });
}

fn rate_text(bps: u64) -> String {
    BitRate::from_bps(bps).map_or_else(String::new, Quantity::text)
}

/// The links that may carry the traffic of `link`: itself and its backups.
fn ways_of(check: &Check<'_>, topology: &Topology, routing: &Routing, link: DirectedLink) -> Vec<DirectedLink> {
    let Node::Switch(switch) = topology.ends(link).0.node else { return vec![link] };
    if !check.reroutes() {
        return vec![link];
    }
    let detours = routing.detours(topology, switch, topology.ends(link).0.port);
    let backups = detours.iter().map(|detour| topology.switch(switch).ports[usize::from(detour.port.0)].link);
    [link].into_iter().chain(backups).collect()
}

/// The rate of constant-rate flows over `link` that have no other path; with `settings`, only of protected flows.
fn bps_over(
    check: &Check<'_>,
    topology: &Topology,
    routing: &Routing,
    settings: Option<&SqrSettings>,
    link: DirectedLink,
) -> u64 {
    let groups = check.scenario.flows.iter().filter(|group| {
        let service = || ServiceKey { port: group.port, vlan: group.vlan };
        settings.is_none_or(|settings| settings.protects(group.class, service))
    });
    groups.map(|group| group_bps(check, topology, routing, group, link)).fold(0, u64::saturating_add)
}

fn group_bps(check: &Check<'_>, topology: &Topology, routing: &Routing, group: &FlowGroup, link: DirectedLink) -> u64 {
    let FlowPattern::ConstantRate(pairs) = &group.pattern else { return 0 };
    let mut transports = check.scenario.transports.iter().filter(|transport| transport.name == group.transport);
    let Some(Protocol::Udp(udp)) = transports.next().map(|transport| &transport.protocol) else { return 0 };
    let hosts = |names: &[String]| select_hosts(topology, names).unwrap_or_default();
    let (sources, destinations) = (hosts(&pairs.sources), hosts(&pairs.destinations));
    let count = sources.len().max(destinations.len());
    let flows = sources.iter().cycle().zip(destinations.iter().cycle()).take(count);
    let has_no_other_way = |&(&source, &destination): &(&HostId, &HostId)| {
        let mut known = BTreeMap::new();
        let mut firsts = topology.attachments(source).map(|(switch, _)| switch);
        firsts.all(|first| always_crosses(topology, routing, first, destination, link, &mut known))
    };
    // Flows with several paths may avoid the link, so that only the others surely load it.
    (flows.filter(has_no_other_way).count() as u64).saturating_mul(udp.rate.as_bps())
}
