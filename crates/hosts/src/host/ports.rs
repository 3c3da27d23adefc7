//! The ports of a host with several links, or with a changing line: a card for each, and the choice among them.
//!
//! A flow stays on one port, chosen by the hash of its 5-tuple, as with the policy layer3+4 of Linux's bonding. A
//! spraying connection uses all ports: the entropy value of each packet selects its port, so that consecutive values
//! take all ports in turn. A port is usable for a destination if it is up and the destination can be reached in its
//! plane. The flows and entropy values of an unusable port are spread over the usable ones, and the others stay.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hitless_core::engine::fmix32;
use hitless_core::wire::{BitRate, FlowId, HostId, Packet, PortId, Time, Transport};

use super::class_queues::ClassQueues;
use super::event::Lane;
use super::network_card::{NetworkCard, NetworkCardConfig};

/// The configuration of a port at a host with several, or with a changing line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortConfig {
    pub network_card: NetworkCardConfig,
    /// Plane of the port's switch, below 64.
    pub plane: u32,
    /// Whether rate or delay of the line change during the run.
    pub line_changes: bool,
    /// Highest rate of the line during the run.
    pub highest_rate: BitRate,
}

/// The properties of a flow that decide on the port of its packets.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub destination: HostId,
    pub flow_hash: u32,
    /// Whether each packet can take another port.
    pub spreads: bool,
}

/// The way of a flow's packets out of their host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// Rate now, of all ports together if each packet can take another one.
    pub rate: BitRate,
    pub ports: u16,
    /// Highest rate during the run, whichever port is taken. Receivers use it: a divided run connects them later than
    /// an undivided one, and the sender's line can have changed.
    pub highest_rate: BitRate,
    /// Whether the host has ideal clocks.
    pub is_ideal: bool,
}

/// Flows that wait for room.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct Line {
    /// The flows with their tickets. Tickets grow with time over all lines of a host.
    flows: VecDeque<(u64, FlowId)>,
    pub drain_pending: bool,
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Returns the ticket of the first flow; the maximum if no flow waits.
    fn ticket(&self) -> u64 {
        self.flows.front().map_or(u64::MAX, |&(ticket, _)| ticket)
    }

    fn take_first(&mut self) -> Option<FlowId> {
        self.flows.pop_front().map(|(_, flow)| flow)
    }
}

#[derive(Clone, Debug, hitless_core::state::State)]
struct Port {
    card: NetworkCard,
    #[configured]
    plane: u32,
    #[configured]
    highest_rate: BitRate,
    is_up: bool,
    line: Line,
    /// `None` for a constant line.
    #[part]
    changing: Option<Box<ChangingLine>>,
}

/// A changing line of a port.
#[derive(Clone, Debug, hitless_core::state::State)]
struct ChangingLine {
    /// The frames in front of it.
    queue: ClassQueues,
    #[configured]
    network_card: NetworkCardConfig,
}

impl ChangingLine {
    fn new(network_card: NetworkCardConfig) -> Self {
        // A changing line is refused with flow control.
        Self { queue: ClassQueues::new(&network_card, None), network_card }
    }
}

/// The ports of a host that has several, or a changing line.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Ports {
    #[part]
    ports: Vec<Port>,
    /// Planes of each host's ports, one bit each.
    #[configured]
    planes: Arc<[u64]>,
    /// Ports that do not reach a destination now.
    lost: BTreeMap<HostId, u64>,
    /// Ports of this host that the others do not use, because the fabric cannot reach them.
    unreachable: u64,
    /// The line of spraying connections.
    spraying: Line,
    next_ticket: u64,
}

impl Ports {
    /// Creates the ports of a host; `planes` has the planes of every host.
    pub fn new(configs: &[PortConfig], planes: Arc<[u64]>) -> Self {
        assert!(configs.len() <= 64 && configs.iter().all(|config| config.plane < 64), "sets of ports have 64 bits");
        let port = |config: &PortConfig| Port {
            card: match config.line_changes {
                true => NetworkCard::of_changing_line(&config.network_card),
                false => NetworkCard::new(&config.network_card),
            },
            plane: config.plane,
            highest_rate: config.highest_rate,
            is_up: true,
            line: Line::default(),
            changing: config.line_changes.then(|| Box::new(ChangingLine::new(config.network_card))),
        };
        let ports = configs.iter().map(port).collect();
        Self { ports, planes, lost: BTreeMap::new(), unreachable: 0, spraying: Line::default(), next_ticket: 0 }
    }

    /// Returns the usable ports towards a destination, one bit each.
    fn usable(&self, destination: HostId) -> u64 {
        let planes = self.planes[destination.0 as usize];
        let is_usable = |port: &Port| port.is_up && planes >> port.plane & 1 == 1;
        let usable =
            self.ports.iter().enumerate().fold(0, |ports, (number, port)| ports | u64::from(is_usable(port)) << number);
        usable & !self.lost.get(&destination).copied().unwrap_or(0)
    }

    /// Returns the port for `key`. Without any usable port the choice is as if all were usable.
    fn choose(&self, destination: HostId, key: u32) -> PortId {
        let (count, usable) = (self.ports.len() as u32, self.usable(destination));
        let preferred = key % count;
        if usable >> preferred & 1 == 1 || usable == 0 {
            return PortId(preferred as u16);
        }
        let place = key / count % usable.count_ones();
        let rest = (0..place).fold(usable, |ports, _| ports & (ports - 1));
        PortId(rest.trailing_zeros() as u16)
    }

    pub fn choose_for(&self, packet: &Packet) -> PortId {
        let key = match &packet.transport {
            Transport::Uet(header) => header.entropy().into(),
            _ => key_of(packet.flow_hash),
        };
        self.choose(packet.destination, key)
    }

    pub fn lane(&self, way: Way) -> Lane {
        if way.spreads { Lane::ALL } else { Lane(self.choose(way.destination, key_of(way.flow_hash)).0) }
    }

    /// Returns a flow's port, or all ports together.
    pub fn uplink(&self, way: Way) -> Option<Uplink> {
        let ports = self.ports.iter();
        let is_ideal = ports.clone().all(|port| port.card.is_ideal());
        if way.spreads {
            let sum =
                |bps: &dyn Fn(&Port) -> u64| BitRate::from_bps(ports.clone().map(bps).fold(0, u64::saturating_add));
            let (rate, highest_rate) =
                (sum(&|port| port.card.rate().as_bps())?, sum(&|port| port.highest_rate.as_bps())?);
            return Some(Uplink { rate, ports: self.ports.len() as u16, highest_rate, is_ideal });
        }
        let highest_rate = ports.map(|port| port.highest_rate).max()?;
        let rate = self.ports[usize::from(self.lane(way).0)].card.rate();
        Some(Uplink { rate, ports: 1, highest_rate, is_ideal })
    }

    pub fn card_mut(&mut self, port: PortId) -> &mut NetworkCard {
        &mut self.ports[usize::from(port.0)].card
    }

    /// Returns the card and the queue of a port with a changing line; `None` for a constant one.
    pub fn changing_line(&mut self, port: PortId) -> Option<(&mut NetworkCard, &mut ClassQueues)> {
        let Port { card, changing, .. } = &mut self.ports[usize::from(port.0)];
        changing.as_mut().map(|line| (card, &mut line.queue))
    }

    /// Changes the rate of a port's line for later frames.
    pub fn set_rate(&mut self, now: Time, port: PortId, rate: BitRate) {
        let Port { card, changing, .. } = &mut self.ports[usize::from(port.0)];
        let line = changing.as_ref().expect("the rate of a line changes that was built for a constant one");
        card.set_rate(now, &NetworkCardConfig { rate, ..line.network_card });
    }

    pub fn line_mut(&mut self, lane: Lane) -> &mut Line {
        if lane == Lane::ALL { &mut self.spraying } else { &mut self.ports[usize::from(lane.0)].line }
    }

    /// Returns the cards that must have room for a packet of a lane. Packets avoid ports that are down.
    pub fn cards(&self, lane: Lane) -> impl Iterator<Item = &NetworkCard> {
        let all_are_down = self.ports.iter().all(|port| !port.is_up);
        let ports = self.ports.iter().enumerate().filter(move |&(number, port)| {
            if lane == Lane::ALL { port.is_up || all_are_down } else { number == usize::from(lane.0) }
        });
        ports.map(|(_, port)| &port.card)
    }

    pub fn has_room(&self, lane: Lane, now: Time) -> bool {
        self.cards(lane).all(|card| card.has_room(now))
    }

    /// Returns when the cards of a lane will have drained to half of their limits.
    pub fn drained_at(&self, lane: Lane, now: Time) -> Option<Time> {
        self.cards(lane).map(|card| card.drained_at(now)).max()
    }

    /// Takes a port down or up; returns the flows that waited for it and have to look for another.
    pub fn set_state(&mut self, port: PortId, is_up: bool) -> VecDeque<FlowId> {
        let port = &mut self.ports[usize::from(port.0)];
        port.is_up = is_up;
        std::mem::take(&mut port.line.flows).into_iter().map(|(_, flow)| flow).collect()
    }

    /// Adds a flow to the end of a line.
    pub fn line_up(&mut self, lane: Lane, flow: FlowId) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.line_mut(lane).flows.push_back((ticket, flow));
    }

    /// Returns whether a new flow of a lane must wait: without room, or behind flows that wait for the same port.
    pub fn must_wait(&self, lane: Lane, now: Time) -> bool {
        let is_busy = match lane {
            Lane::ALL => self.flows_in_line() > 0,
            Lane(port) => !self.spraying.is_empty() || !self.ports[usize::from(port)].line.is_empty(),
        };
        is_busy || !self.has_room(lane, now)
    }

    /// Returns the next flow for the cards of a lane, while they have room.
    ///
    /// Spraying connections share cards with the flows of single ports. Tickets order all flows of a port across both
    /// lines. Otherwise the line that is served first would starve the other.
    pub fn next_turn(&mut self, lane: Lane, now: Time) -> Option<FlowId> {
        let spraying = self.spraying.ticket();
        let older = |port: &Port| (port.line.ticket() < spraying).then_some(port.line.ticket());
        let first = match lane {
            Lane::ALL => {
                let with_room = self.ports.iter().enumerate().filter(|(_, port)| port.card.has_room(now));
                let lines = with_room.filter_map(|(number, port)| Some((older(port)?, number)));
                lines.min().map_or(Lane::ALL, |(_, number)| Lane(number as u16))
            }
            Lane(port) if older(&self.ports[usize::from(port)]).is_some() => lane,
            Lane(_) if self.has_room(Lane::ALL, now) => Lane::ALL,
            Lane(_) if self.kept_until(lane, now).is_some() => return None,
            Lane(_) => lane,
        };
        if self.has_room(first, now) { self.line_mut(first).take_first() } else { None }
    }

    /// Returns when a port's card is free for the line of the port. Until then it is kept for a spraying connection
    /// with an older ticket, which waits for other cards. Meanwhile the card sends the frames that it has.
    fn kept_until(&self, lane: Lane, now: Time) -> Option<Time> {
        let port = self.ports.get(usize::from(lane.0))?;
        let all_drained_at = self.drained_at(Lane::ALL, now).filter(|&at| at > now)?;
        let is_kept = self.spraying.ticket() < port.line.ticket() && all_drained_at <= port.card.committed_until();
        is_kept.then_some(all_drained_at)
    }

    /// Returns when the first flow of a lane can have its turn.
    pub fn turn_at(&self, lane: Lane, now: Time) -> Time {
        let drained_at = self.drained_at(lane, now).unwrap_or(now).max(now);
        if lane == Lane::ALL {
            drained_at
        } else {
            self.kept_until(lane, now).map_or(drained_at, |at| drained_at.max(at))
        }
    }

    /// Returns the number of flows in all lines.
    pub fn flows_in_line(&self) -> usize {
        self.spraying.flows.len() + self.ports.iter().map(|port| port.line.flows.len()).sum::<usize>()
    }

    fn planes_reached(&self) -> u64 {
        let ports = self.ports.iter().enumerate().filter(|(number, _)| self.unreachable >> number & 1 == 0);
        ports.fold(0, |planes, (_, port)| planes | 1 << port.plane)
    }

    /// Notes whether the fabric can reach a port of this host; returns the planes without a port that it reaches.
    pub fn set_reachable(&mut self, port: PortId, is_reachable: bool) -> u64 {
        self.unreachable = self.unreachable & !(1 << port.0) | u64::from(!is_reachable) << port.0;
        let all = self.ports.iter().fold(0, |planes, port| planes | 1 << port.plane);
        all & !self.planes_reached()
    }

    /// Notes the planes that do not reach a destination, and forgets the previous ones.
    pub fn set_lost(&mut self, destination: HostId, planes: u64) {
        let ports = self.ports.iter().enumerate();
        let lost = ports.fold(0, |lost, (number, port)| lost | (planes >> port.plane & 1) << number);
        match lost {
            0 => drop(self.lost.remove(&destination)),
            _ => drop(self.lost.insert(destination, lost)),
        }
    }

    /// Notes the destinations that each port does not reach, in the order of ports, and forgets the previous ones.
    pub fn set_lost_by_port<'a>(&mut self, by_port: impl Iterator<Item = &'a [HostId]>) {
        self.lost.clear();
        for (number, lost) in by_port.enumerate() {
            lost.iter().for_each(|&destination| *self.lost.entry(destination).or_default() |= 1 << number);
        }
    }
}

/// Returns the key of a flow. It differs from the hashes of all switches.
fn key_of(flow_hash: u32) -> u32 {
    fmix32(!flow_hash)
}

#[cfg(test)]
mod tests;
