//! Prefetches the state that the next arrivals need.
//!
//! The state of a large fabric does not fit into the processor's caches. An arrival reads its link, its packet, two
//! ports and a flow in sequence, and each read depends on the one before. Here the same is read for several arrivals at
//! a time, so that the cache misses overlap. The values change nothing and decide nothing: the run is the same without
//! them.
//! is read: what happens does not depend on it.

use std::hint::black_box;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::PortId;
use hitless_scenario::network::topology::{Node, SwitchId};

use super::edge::Edge;
use super::network::Network;

/// Maximum number of arrivals in a batch.
const BATCH: usize = 32;
/// With fewer directed links, most of the state is in a cache anyway, and prefetching costs more than it saves.
const LINKS_MIN: usize = 4_096;

/// The first arrivals of a batch, up to its capacity.
struct Batch<T> {
    all: [T; BATCH],
    count: usize,
}

impl<T: Copy + Default> Batch<T> {
    fn new() -> Self {
        Self { all: [T::default(); BATCH], count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, each: T) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = each;
            self.count += 1;
        }
    }
}

impl<T> Batch<T> {
    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.all[..self.count]
    }
}

#[derive(Clone, Copy, Default)]
struct AtSwitch {
    packet: PacketHandle,
    switch: u32,
    from: PortId,
    towards: PortId,
    line: u32,
}

#[derive(Clone, Copy, Default)]
struct AtHost {
    packet: PacketHandle,
    host: u32,
    flow: u32,
}

/// Number of next events that have been prefetched.
#[derive(Default)]
pub(super) struct Ahead(u64);

impl Ahead {
    /// Call before an event; prefetches it and the following ones, unless it has been prefetched already.
    #[inline(always)]
    pub fn before_turn<E: Edge>(&mut self, network: &mut Network<E>) {
        if self.0 == 0 {
            self.0 = network.look_ahead().max(1);
        }
        self.0 -= 1;
    }
}

impl<E: Edge> Network<E> {
    /// Whether prefetching pays.
    pub fn is_large(&self) -> bool {
        self.shared.links.iter().len() >= LINKS_MIN
    }

    /// Prefetches the state for the next arrivals; returns the number of events covered.
    ///
    /// Each loop reads one kind of state for every arrival, at addresses found by the previous loop. The reorder window
    /// of a processor holds a few hundred instructions, so short loops let it overlap all misses of one loop.
    #[inline(never)]
    fn look_ahead(&mut self) -> u64 {
        let mut numbers = [0; BATCH];
        let (count, events) = self.shared.queue.sources_ahead(&mut numbers);
        let links = &self.shared.links;
        let mut read = self.shared.queue.read_slots_ahead(|number| links.read_ahead(number));
        let (shared, switches) = (&self.shared, &self.switches);
        let (mut at_switches, mut at_hosts) = (Batch::new(), Batch::new());
        for &number in &numbers[..count] {
            read ^= shared.links[number as usize].read_following();
        }
        for &number in &numbers[..count] {
            let link = &shared.links[number as usize];
            let Some(packet) = link.first() else { continue };
            let to = link.to();
            match to.node {
                Node::Switch(switch) => {
                    at_switches.push(AtSwitch { packet, switch: switch.0, from: to.port, ..AtSwitch::default() });
                }
                Node::Host(host) => at_hosts.push(AtHost { packet, host: host.0, flow: 0 }),
            }
        }
        let (at_switches, at_hosts) = (at_switches.as_mut_slice(), at_hosts.as_mut_slice());
        for each in &*at_switches {
            read ^= u64::from(shared.packets[each.packet].destination.0);
            read ^= switches[each.switch as usize].ports_count() as u64;
        }
        for each in &mut *at_hosts {
            each.flow = shared.packets[each.packet].flow.0;
        }
        for each in &mut *at_switches {
            let packet = &shared.packets[each.packet];
            each.towards = shared.routing.route(SwitchId(each.switch), packet).unwrap_or(each.from);
        }
        for each in &mut *at_switches {
            let (line, ports) = switches[each.switch as usize].read_ports_ahead(each.from, each.towards);
            each.line = line;
            read ^= ports;
        }
        for each in &*at_hosts {
            read ^= self.hosts.read_ahead(each.host, each.flow);
        }
        for each in &*at_switches {
            read ^= switches[each.switch as usize].read_queue_ahead(each.towards);
        }
        for each in &*at_switches {
            read ^= shared.links[each.line as usize].frames_sent();
            read ^= shared.queue.read_source(each.line);
        }
        for each in &*at_hosts {
            read ^= self.hosts.read_flow_ahead(each.flow);
        }
        for each in &*at_switches {
            read ^= shared.links[each.line as usize].read_ahead();
        }
        black_box(read);
        events
    }
}
