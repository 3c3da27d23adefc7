//! DIBS, detour-induced buffer sharing: a packet with a full queue goes to a random neighbour instead (Zarifis, Miao,
//! Calder, Katz-Bassett, Yu, Padhye; EuroSys 2014; sections as printed there).
//!
//! If the queue of the routed port has no room for a packet, the switch sends it through another port that faces a
//! switch and has room, chosen at random for each packet (section 2). The neighbour routes it by its destination like
//! any other packet, perhaps straight back. No port of another host ever gets it. If no such port has room, the packet
//! is dropped by its own queue. Congestion notices to senders are not deflected. Nothing keeps order, and only the time
//! to live ends a loop.
//!
//! Ingress decides, so that it must know which queues are full: exactly, as in the authors' simulations, which needs
//! hardware that shows depths in ingress. A packet in transit to a queue counts as being there; departures before the
//! next arrival are not foreseen.

use hitless_core::engine::Stream;
use hitless_core::wire::{PortId, QueueId, Time};
use hitless_switch::{Context, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};

use super::counters::SwitchCounters;
use super::resources;
use super::settings::DibsSettings;
use crate::neighbours::{Neighbours, take_any};

#[derive(Debug, hitless_core::state::State)]
pub struct Dibs {
    relieved: Vec<PortId>,
    to_full_ports: bool,
    stream: Stream,
    neighbours: Neighbours,
    #[part]
    counters: SwitchCounters,
}

impl Dibs {
    /// DIBS that detours packets of `relieved` if their queue is full, with random choices from `stream`.
    pub fn new(relieved: Vec<PortId>, settings: &DibsSettings, stream: Stream) -> Self {
        let counters = SwitchCounters::new("dibs", &relieved);
        let neighbours = Neighbours::new(settings.to_arrival_port);
        Self { relieved, to_full_ports: settings.to_full_ports, stream, neighbours, counters }
    }

    /// Draws a port with room, or any port, uniformly.
    fn choose(&mut self, context: &mut Context<'_>) -> Option<(PortId, QueueId)> {
        let (full, class) = (context.packet().egress_port, context.packet().class);
        let candidates = self.neighbours.eligible(context.port(), Some(full));
        while let Some(port) = take_any(candidates, &mut self.stream) {
            let queue = context.ports().class_queue(port, class);
            if self.to_full_ports || context.queue(port, queue).has_room() {
                return Some((port, queue));
            }
        }
        None
    }
}

impl Mechanism for Dibs {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _: &[usize]) -> Needs {
        let hooks = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, queue) = (context.packet().egress_port, context.packet().queue);
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        self.counters.port(port).seen += 1;
        if context.queue(port, queue).has_room() {
            self.counters.leaves_by(port, context);
            return Verdict::Continue;
        }
        let choice = self.choose(context);
        self.counters.relieve(port, choice, context)
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.neighbours.on(event, context);
    }

    fn resources(&self) -> Resources {
        resources::of_dibs()
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report()
    }
}
