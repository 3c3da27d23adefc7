//! Bytes per round from the round trip, and whether the queues fit it (section 5).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{BitRate, Bytes, Duration};
use hitless_scenario::Protocol;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_scenario::network::topology::{LinkSpec, Node};

use super::settings::AfqSettings;

/// DCTCP needs this part of a bandwidth-delay product queued to fill a link (section 5).
const QUEUED_PART: u64 = 6;

/// Derives `bytes_per_round` from `round_trip` unless it was set.
pub fn resolve(settings: &mut AfqSettings, around: Surroundings<'_>) {
    if settings.bytes_per_round == AfqSettings::default().bytes_per_round {
        settings.bytes_per_round = bytes_per_round(settings, around).unwrap_or(settings.bytes_per_round);
    }
}

/// Computes d x l / (6 nQ), with a minimum of one full frame; `None` without d.
pub fn bytes_per_round(settings: &AfqSettings, around: Surroundings<'_>) -> Option<Bytes> {
    let ports = settings.ports_by_switch(around.topology).into_values().flatten();
    let fastest = ports.map(|at| around.link_settings_at(at).rate).max_by_key(|rate| rate.as_bps())?;
    let frame = around.scenario.frame_max().max(Bytes(MTU_FRAME_BYTES.into()));
    settings.round_trip.map(|round_trip| rule(round_trip, fastest, settings.queues.into()).max(frame))
}

fn rule(round_trip: Duration, rate: BitRate, queues: u64) -> Bytes {
    Bytes(rate.bytes_in(round_trip).0.div_ceil(QUEUED_PART * queues.max(1)))
}

/// Distance from each switch to its nearest host, in picoseconds without queues.
pub struct Nearest(Vec<u64>);

impl Nearest {
    /// Runs Dijkstra's algorithm from all hosts at once.
    pub fn new(around: Surroundings<'_>) -> Self {
        let topology = around.topology;
        let mut found = vec![u64::MAX; topology.switches.len()];
        let attached = topology.host_ids().map(|host| {
            let link = topology.link(topology.host(host).port.link.link).settings;
            Reverse((one_way_ps(around, link), topology.attachment(host).0.0))
        });
        let mut waiting: BinaryHeap<_> = attached.collect();
        while let Some(Reverse((distance_ps, switch))) = waiting.pop() {
            let Some(known) = found.get_mut(switch as usize).filter(|known| distance_ps < **known) else { continue };
            *known = distance_ps;
            for port in &topology.switches[switch as usize].ports {
                if let Node::Switch(peer) = port.peer.node {
                    let link = topology.link(port.link.link).settings;
                    waiting.push(Reverse((distance_ps.saturating_add(one_way_ps(around, link)), peer.0)));
                }
            }
        }
        Self(found)
    }

    fn of(&self, node: Node) -> u64 {
        node.switch().map_or(0, |switch| self.0[switch.0 as usize])
    }

    /// The shortest round trip through a port.
    fn round_trip(&self, at: SwitchPort, around: Surroundings<'_>) -> Duration {
        let peer = around.topology.switch(at.switch).ports[usize::from(at.port.0)].peer.node;
        let link_ps = one_way_ps(around, around.link_settings_at(at));
        let ends_ps = self.of(Node::Switch(at.switch)).saturating_add(self.of(peer));
        Duration(ends_ps.saturating_add(link_ps).saturating_mul(2))
    }
}

fn one_way_ps(around: Surroundings<'_>, link: LinkSpec) -> u64 {
    around.scenario.flight_time(link).as_ps()
}

/// Warns if queues are too short for one flow to fill a link, and names the worst port. Datagrams always fill it.
pub fn short_queues(
    settings: &AfqSettings,
    ports: impl Iterator<Item = SwitchPort>,
    nearest: &Nearest,
    around: Surroundings<'_>,
) -> Option<String> {
    let yields = |protocol: &Protocol| !matches!(protocol, Protocol::Udp(_));
    if !around.scenario.transports.iter().any(|transport| yields(&transport.protocol)) {
        return None;
    }
    let needed = |at: SwitchPort| {
        let (rate, round_trip) = (around.link_settings_at(at).rate, nearest.round_trip(at, around));
        (rule(round_trip, rate, settings.queues.into()), round_trip, rate, at)
    };
    let (least, round_trip, rate, at) = ports.map(needed).max_by_key(|(least, ..)| *least)?;
    (least > settings.bytes_per_round).then(|| {
        format!(
            "{} queues x {} are less than a sixth of {} x {} (the rate and the shortest round trip at {}), which a \
             flow needs queued to fill the link: take bytes_per_round = \"{}\" or more",
            settings.queues,
            settings.bytes_per_round.text(),
            rate.text(),
            round_trip.text(),
            at.name(around.topology),
            least.text()
        )
    })
}
