//! AIFO: a FIFO queue with the admission of a sorted queue (Yu et al., SIGCOMM 2021). It drops packets where its
//! competitors deflect them.
//!
//! A packet enters a queue of capacity C with q bytes if q <= k C, or if the share of more urgent packets among recent
//! ones is at most (C - q) / (C (1 - k)). Otherwise it is dropped. The window samples all packets, admitted or not.

use hitless_core::wire::{Packet, PortId, PriorityMark, Time};
use hitless_switch::{Context, DropReason, HookSet, Mechanism, Needs, Report, Resources, Verdict};

use super::capacity::{Place, Queues};
use super::priority::{DivideBy, QuantileOf, QuantileSettings, Window};
use super::resources;
use super::settings::AifoSettings;
use crate::configured_ports::ConfiguredPorts;

hitless_switch::counters! {
    pub struct PortCounters {
        seen as packets_seen = "packets seen",
        full as packets_of_full_queue = "packets of a full queue",
        dropped as packets_not_admitted = "packets not admitted",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Aifo {
    #[configured]
    settings: AifoSettings,
    queues: Queues,
    #[part]
    windows: Vec<Window>,
    #[part]
    ports: ConfiguredPorts<PortCounters>,
}

impl Aifo {
    pub fn new(ports: &[PortId], settings: &AifoSettings) -> Self {
        let ports = ConfiguredPorts::with_default(ports.iter().copied());
        Self { settings: settings.clone(), queues: Queues::default(), windows: Vec::new(), ports }
    }

    fn window(&self) -> QuantileSettings {
        let AifoSettings { window, sample_every, .. } = self.settings;
        QuantileSettings { window, sample_every, of: QuantileOf::Evaluated, divide_by: DivideBy::Fill }
    }

    fn rank(&self, packet: &Packet) -> u32 {
        if self.settings.boost_retransmissions {
            return packet.urgency();
        }
        packet.shims.get::<PriorityMark>().map_or(0, |mark| mark.rank_bytes)
    }

    fn admits(&self, place: Place, rank: u32, context: &mut Context<'_>) -> bool {
        let Some(capacity_bytes) = self.settings.capacity.bytes(place, context) else { return true };
        let (capacity, depth) = (capacity_bytes as f64, context.queue(place.port, place.queue).bytes() as f64);
        let headroom = self.settings.headroom;
        assert!((0.0..=1.0).contains(&headroom), "k is a share of the queue, not {headroom}");
        if self.settings.admit_in_headroom && depth <= headroom * capacity {
            return true;
        }
        let share = self.windows[self.queues.index(place)].share_below(rank);
        // The admission rule without the division, as a switch computes it.
        share * (1.0 - headroom) * capacity <= capacity - depth
    }
}

impl Mechanism for Aifo {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.queues = Queues::new(queue_counts);
        self.windows = vec![Window::new(self.window()); self.queues.count()];
        let hooks = self.ports.iter().map(|(port, _)| (port, HookSet::INGRESS_TOWARDS)).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let rank = self.rank(context.packet());
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        let has_room = context.queue(place.port, place.queue).has_room();
        let is_admitted = !has_room || self.admits(place, rank, context);
        // After the decision, so that a packet is not compared with itself.
        self.windows[self.queues.index(place)].offer(rank);
        let counters = self.ports.of(place.port);
        counters.seen += 1;
        // A packet without room is dropped by its own queue.
        counters.full += u64::from(!has_room);
        counters.dropped += u64::from(!is_admitted);
        if is_admitted { Verdict::Continue } else { Verdict::Drop(DropReason::Mechanism) }
    }

    fn resources(&self) -> Resources {
        resources::of_aifo(self.window(), self.queues.count() as u64)
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("aifo");
        for (port, counters) in self.ports.iter() {
            counters.report(&format!("port {}", port.0), &mut report);
            report.acted |= counters.seen > 0;
        }
        report
    }
}
