//! AIFO: a queue that admits as if it were sorted (Yu et al., SIGCOMM 2021). The rival that drops where others deflect.
//!
//! A packet enters a queue of capacity C that holds q if q <= k C, or if the share of recent packets that are more urgent is at
//! most (C - q) / (C (1 - k)). Else it is dropped. The window takes in samples of all packets, admitted or not.

use hitless_switch::{Context, DropReason, Environment, HookSet, Mechanism, Report, Resources, Subscriptions, Verdict};
use hitless_wire::{Packet, PortId, PriorityMark, Time};

use super::capacity::{Capacity, Place, Queues};
use super::priority::{DivideBy, QuantileConfig, Window};
use super::resources;
use crate::configured_ports::ConfiguredPorts;

/// AIFO's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct AifoConfig {
    /// Ports whose packets it admits or drops.
    pub ports: Vec<PortId>,
    /// k: the headroom for bursts, a share of the capacity.
    pub headroom: f64,
    /// Whether all packets enter while the queue is below its headroom.
    pub admits_all_in_headroom: bool,
    /// Entries of the window of a queue.
    pub window: usize,
    /// Of so many packets the window takes the last.
    pub sample_every: u32,
    /// C.
    pub capacity: Capacity,
    /// Whether what was sent before is more urgent, by half its rank each time. AIFO itself knows ranks only.
    pub boosts_retransmissions: bool,
}

/// Counters of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PortCounters {
    seen: u64,
    full: u64,
    dropped: u64,
}

/// AIFO on one switch.
#[derive(Debug)]
pub struct Aifo {
    pub(super) config: AifoConfig,
    pub(super) queues: Queues,
    windows: Vec<Window>,
    ports: ConfiguredPorts<PortCounters>,
}

impl Aifo {
    /// AIFO as configured.
    pub fn new(config: AifoConfig) -> Self {
        let ports = ConfiguredPorts::with_default(config.ports.iter().copied());
        Self { config, queues: Queues::default(), windows: Vec::new(), ports }
    }

    fn rank(&self, packet: &Packet) -> u32 {
        if self.config.boosts_retransmissions {
            return packet.urgency();
        }
        packet.shims.get::<PriorityMark>().map_or(0, |mark| mark.rank_bytes)
    }

    fn admits<E: Environment>(&self, place: Place, rank: u32, context: &mut Context<'_, E>) -> bool {
        let Some(capacity_bytes) = self.config.capacity.bytes(place, context) else { return true };
        let (capacity, depth) = (capacity_bytes as f64, context.queue_bytes(place.port, place.queue) as f64);
        let headroom = self.config.headroom;
        if self.config.admits_all_in_headroom && depth <= headroom * capacity {
            return true;
        }
        let share = self.windows[self.queues.index(place)].share_below(rank);
        share * (1.0 - headroom) * capacity <= capacity - depth
    }
}

impl Mechanism for Aifo {
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
        let AifoConfig { window, sample_every, .. } = self.config;
        let window =
            Window::new(QuantileConfig { window, sample_every, of_evaluated: true, divide_by: DivideBy::Fill });
        self.queues = Queues::new(queue_counts);
        self.windows = vec![window; self.queues.count()];
        let hooks = self.config.ports.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let rank = self.rank(context.packet());
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        let has_room = context.has_room(place.port, place.queue);
        let is_admitted = !has_room || self.admits(place, rank, context);
        self.windows[self.queues.index(place)].offer(rank);
        let counters = self.ports.of(place.port);
        counters.seen += 1;
        // What finds no room, its own queue drops.
        counters.full += u64::from(!has_room);
        counters.dropped += u64::from(!is_admitted);
        if is_admitted { Verdict::Continue } else { Verdict::Drop(DropReason::Mechanism) }
    }

    fn resources(&self) -> Resources {
        resources::of_aifo(self)
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("aifo");
        for (port, &PortCounters { seen, full, dropped }) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            report.count(&scope, "packets seen", seen);
            report.count(&scope, "packets of a full queue", full);
            report.count(&scope, "packets not admitted", dropped);
            report.acted |= seen > 0;
        }
        report
    }
}
