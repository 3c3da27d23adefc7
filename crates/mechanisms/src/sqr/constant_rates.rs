//! Constant rates over links that SQR protects: they do not give way, so a link must have room for them.

use std::collections::BTreeMap;

use hitless_network::routing::Routing;
use hitless_network::topology::select::select_hosts;
use hitless_network::topology::{DirectedLink, Node, SwitchId, Topology};
use hitless_scenario::{Check, FlowGroup, FlowPattern, Protocol};
use hitless_settings::Problem;
use hitless_settings::quantity::Quantity;
use hitless_wire::{BitRate, HostId, ServiceKey};

use super::settings::SqrSettings;

/// What protected flows send over each link whatever happens must not be more than the link, or its backup, carries:
/// what is cached during a failure could never be sent.
pub fn constant_rates(
    check: &mut Check<'_>,
    topology: &Topology,
    routing: &Routing,
    settings: &SqrSettings,
    links: &[DirectedLink],
    section: &str,
) {
    for &link in links {
        let total_bps = protected_bps(check, topology, routing, settings, link);
        let (rate, name) = (way_of(check, topology, routing, link), topology.link_name(link));
        check.require_else(total_bps <= rate.as_bps(), || {
            let total = BitRate::from_bps(total_bps).map_or_else(String::new, Quantity::text);
            let rule = format!(
                "protected flows of constant rate send {total} over {name}, and during a failure only {} can pass",
                rate.text()
            );
            Problem::new(format!("{section}.links"), "", rule).hint("what is cached could never be sent")
        });
    }
}

/// The rate of the slowest port that may have to carry what is sent over `link`.
fn way_of(check: &Check<'_>, topology: &Topology, routing: &Routing, link: DirectedLink) -> BitRate {
    let own = topology.link(link.link).settings.rate;
    let Node::Switch(switch) = topology.ends(link).0.node else { return own };
    if !check.reroutes() {
        return own;
    }
    let detours = routing.detours(topology, switch, topology.ends(link).0.port);
    let rate = |port: hitless_wire::PortId| {
        let backup = topology.switch(switch).ports[usize::from(port.0)].link;
        topology.link(backup.link).settings.rate
    };
    detours.iter().map(|detour| rate(detour.port)).chain([own]).min_by_key(|rate| rate.as_bps()).unwrap_or(own)
}

/// What protected flows of constant rate send over `link`, those alone that have no other way.
fn protected_bps(
    check: &Check<'_>,
    topology: &Topology,
    routing: &Routing,
    settings: &SqrSettings,
    link: DirectedLink,
) -> u64 {
    let groups = check.scenario.flows.iter().filter(|group| {
        let service = || ServiceKey { port: group.port, vlan: group.vlan };
        settings.protects(group.class, service)
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
        let first = topology.attachment(source).0;
        always_crosses(topology, routing, first, destination, link, &mut BTreeMap::new())
    };
    (flows.filter(has_no_other_way).count() as u64).saturating_mul(udp.rate.as_bps())
}

/// Whether every way from `switch` to `destination` is over `link`.
fn always_crosses(
    topology: &Topology,
    routing: &Routing,
    switch: SwitchId,
    destination: HostId,
    link: DirectedLink,
    known: &mut BTreeMap<SwitchId, bool>,
) -> bool {
    if let Some(&known) = known.get(&switch) {
        return known;
    }
    let hops = routing.next_hops(switch, destination);
    let crosses = !hops.is_empty()
        && hops.iter().all(|hop| {
            let port = &topology.switch(switch).ports[usize::from(hop.0)];
            match port.peer.node {
                _ if port.link == link => true,
                Node::Switch(next) => always_crosses(topology, routing, next, destination, link, known),
                Node::Host(_) => false,
            }
        });
    known.insert(switch, crosses);
    crosses
}
