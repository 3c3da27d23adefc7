//! Bytes per round from the round trip, and a check that the queues suffice for it (section 5).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{BitRate, Bytes, Duration};
use hitless_scenario::Protocol;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::topology::Node;
use hitless_scenario::network::topology::select::SwitchPort;

use super::settings::{AfqScheduler, AfqSettings};

/// DCTCP needs this fraction of a bandwidth-delay product queued to fill a link (section 5).
const QUEUED_PART: u64 = 6;

/// Derives `bytes_per_round` if it is left out: from `round_trip`, or from the links as far as the buffers allow.
pub fn resolve(settings: &mut AfqSettings, around: Surroundings<'_>) {
    let derived = match settings.round_trip {
        Some(round_trip) => by_round_trip(settings, round_trip, around),
        None => by_links(settings, around),
    };
    settings.bytes_per_round.get_or_insert(derived);
}

/// Computes d x l / (6 nQ), with a minimum of one full frame.
pub fn by_round_trip(settings: &AfqSettings, round_trip: Duration, around: Surroundings<'_>) -> Bytes {
    let rates = ports(settings, around).map(|at| around.link_settings_at(at).rate);
    let of_rate = |rate| rule(round_trip, rate, settings.queues.into());
    rates.map(of_rate).max().unwrap_or(Bytes::ZERO).max(full_frame(around))
}

/// The same with the shortest round trip through each port. A turn of a deficit round robin and the buffer limit it.
/// Packet pair has a default of its own, one full frame, and the two must be equal.
fn by_links(settings: &AfqSettings, around: Surroundings<'_>) -> Bytes {
    let frame = full_frame(around);
    let mut transports = around.scenario.transports.iter().map(|transport| &transport.protocol);
    if transports.any(|protocol| matches!(protocol, Protocol::PacketPair(_))) {
        return Bytes(MTU_FRAME_BYTES.into());
    }
    let nearest = Nearest::new(around);
    let needed = |at| rule(nearest.round_trip(at, around), around.link_settings_at(at).rate, settings.queues.into());
    let turn = match settings.scheduler {
        AfqScheduler::DeficitRoundRobin(deficit) => deficit.quantum,
        AfqScheduler::RotatingStrictPriority(_) | AfqScheduler::TwoGroups(_) => Bytes(u64::MAX),
    };
    let room = settings.buffer_min(around.scenario, around.topology).unwrap_or(Bytes(u64::MAX));
    let of_round = Bytes((room.0 as f64 / (f64::from(settings.queues) * settings.heaviest())) as u64);
    let filling = ports(settings, around).map(needed).max().unwrap_or(frame).max(frame);
    filling.min(turn).min(of_round).max(Bytes(MTU_FRAME_BYTES.into()))
}

fn ports(settings: &AfqSettings, around: Surroundings<'_>) -> impl Iterator<Item = SwitchPort> {
    settings.ports_by_switch(around.topology).into_values().flatten()
}

fn full_frame(around: Surroundings<'_>) -> Bytes {
    around.scenario.frame_max().max(Bytes(MTU_FRAME_BYTES.into()))
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
        let ports = topology.hosts.iter().flat_map(|host| &host.ports);
        let attached = ports.filter_map(|port| {
            Some(Reverse((topology.spec(port.link).flight_time().as_ps(), port.peer.node.switch()?.0)))
        });
        let mut waiting: BinaryHeap<_> = attached.collect();
        while let Some(Reverse((distance_ps, switch))) = waiting.pop() {
            // A switch can be in the heap several times; only its first, shortest entry counts.
            let Some(known) = found.get_mut(switch as usize).filter(|known| distance_ps < **known) else { continue };
            *known = distance_ps;
            for port in &topology.switches[switch as usize].ports {
                if let Node::Switch(peer) = port.peer.node {
                    let link = topology.spec(port.link);
                    waiting.push(Reverse((distance_ps.saturating_add(link.flight_time().as_ps()), peer.0)));
                }
            }
        }
        Self(found)
    }

    fn of(&self, node: Node) -> u64 {
        node.switch().map_or(0, |switch| self.0[switch.0 as usize])
    }

    fn round_trip(&self, at: SwitchPort, around: Surroundings<'_>) -> Duration {
        let peer = around.topology.switch(at.switch).ports[usize::from(at.port.0)].peer.node;
        let link_ps = around.link_settings_at(at).flight_time().as_ps();
        let ends_ps = self.of(Node::Switch(at.switch)).saturating_add(self.of(peer));
        Duration(ends_ps.saturating_add(link_ps).saturating_mul(2))
    }
}

/// Warns if queues are too short for a single flow to fill a link, and names the worst port. Datagrams fill a link
/// without a queue.
pub fn short_queues(
    settings: &AfqSettings,
    ports: impl Iterator<Item = SwitchPort>,
    nearest: &Nearest,
    around: Surroundings<'_>,
) -> Option<String> {
    // Only transports with congestion control need a standing queue; constant-rate datagrams fill a link without one.
    let yields = |protocol: &Protocol| !matches!(protocol, Protocol::Udp(_));
    if !around.scenario.transports.iter().any(|transport| yields(&transport.protocol)) {
        return None;
    }
    let needed = |at: SwitchPort| {
        let (rate, round_trip) = (around.link_settings_at(at).rate, nearest.round_trip(at, around));
        (rule(round_trip, rate, settings.queues.into()), round_trip, rate, at)
    };
    let (least, round_trip, rate, at) = ports.map(needed).max_by_key(|(least, ..)| *least)?;
    (least > settings.bytes_per_round()).then(|| {
        format!(
            "{} queues x {} are less than a sixth of {} x {} (the rate and the shortest round trip at {}), which a \
             flow needs queued to fill the link: take bytes_per_round = \"{}\" or more",
            settings.queues,
            settings.bytes_per_round().text(),
            rate.text(),
            round_trip.text(),
            at.name(around.topology),
            least.text()
        )
    })
}
