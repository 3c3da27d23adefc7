//! PABO: packets of a filling queue bounce back to the switch that they came from (Shi, Wang, Zhang, Zheng, Liu: "PABO:
//! Congestion Mitigation via Packet Bounce", IEEE ICC 2017).
//!
//! In a queue filled to a share x above theta, a packet that has bounced n times bounces with a probability of (1 -
//! exp(-lambda (x - theta) / (n + 1))) / (1 - exp(-lambda (1 - theta) / (n + 1))), which is 0 at theta and 1 when the
//! queue is full. It leaves through its arrival port, if that faces a switch and has room; the switch there sends it
//! again. A packet on its way forward does not bounce to the switch that it must go to.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::{exp, unit};
use hitless_core::wire::shim::DetourCount;
use hitless_core::wire::{PortId, Time};
use hitless_switch::{Context, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};

use super::capacity::{Capacity, Place};
use super::counters::SwitchCounters;
use super::resources;
use super::settings::PaboSettings;
use crate::neighbours::Neighbours;

pub fn bounce_probability(share: f64, threshold: f64, lambda: f64, bounces: u8) -> f64 {
    if share <= threshold {
        return 0.0;
    }
    // exp(-700) is practically 0, and smaller arguments would underflow.
    let part = |above: f64| 1.0 - exp((-lambda * above / (f64::from(bounces) + 1.0)).max(-700.0));
    (part(share - threshold) / part(1.0 - threshold)).min(1.0)
}

#[derive(Debug, hitless_core::state::State)]
pub struct Pabo {
    relieved: Vec<PortId>,
    threshold: f64,
    lambda: f64,
    #[configured]
    capacity: Capacity,
    stream: Stream,
    neighbours: Neighbours,
    #[part]
    counters: SwitchCounters,
}

impl Pabo {
    pub fn new(relieved: Vec<PortId>, settings: &PaboSettings, stream: Stream) -> Self {
        let &PaboSettings { threshold, lambda, capacity, .. } = settings;
        assert!((0.0..1.0).contains(&threshold), "theta is a share of the queue below all of it, not {threshold}");
        assert!(lambda > 0.0, "lambda is above 0, not {lambda}");
        let counters = SwitchCounters::new("pabo", &relieved);
        Self { relieved, threshold, lambda, capacity, stream, neighbours: Neighbours::new(true), counters }
    }

    fn bounces(&mut self, place: Place, context: &mut Context<'_>) -> bool {
        let Some(capacity_bytes) = self.capacity.bytes(place, context) else { return false };
        let share = context.queue(place.port, place.queue).bytes() as f64 / capacity_bytes as f64;
        let bounces = context.packet().shims.get::<DetourCount>().map_or(0, |count| count.0);
        let probability = bounce_probability(share, self.threshold, self.lambda, bounces);
        assert!((0.0..=1.0).contains(&probability), "a packet bounces with a probability of {probability}");
        probability > 0.0 && unit(&mut self.stream) < probability
    }

    /// The arrival port of the current packet, if the packet can return there.
    fn way_back(&self, own: PortId, context: &mut Context<'_>) -> Option<Place> {
        let port = context.port();
        let class = context.packet().class;
        let queue = context.ports().class_queue(port, class);
        let may = port != own && context.ports().faces_switch(port) && self.neighbours.may_take(port, port);
        (may && context.queue(port, queue).has_room()).then_some(Place { port, queue })
    }
}

impl Mechanism for Pabo {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _: &[usize]) -> Needs {
        let hooks = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        self.counters.port(place.port).seen += 1;
        let has_room = context.queue(place.port, place.queue).has_room();
        if has_room && !self.bounces(place, context) {
            self.counters.leaves_by(place.port, context);
            return Verdict::Continue;
        }
        self.counters.port(place.port).full += 1;
        let Some(back) = self.way_back(place.port, context) else {
            self.counters.port(place.port).nowhere_to_go += 1;
            // Without a way back the packet stays with its queue, which takes it or drops it.
            if has_room {
                self.counters.leaves_by(place.port, context);
            }
            return Verdict::Continue;
        };
        self.counters.detour(place.port, back.port, context);
        Verdict::Forward { port: back.port, queue: back.queue }
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.neighbours.on(event, context);
    }

    fn resources(&self) -> Resources {
        resources::of_pabo()
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_0_up_to_the_threshold_and_1_in_a_queue_that_is_more_than_full() {
        for (share, expected) in [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0), (1.2, 1.0)] {
            assert_eq!(bounce_probability(share, 0.5, 1.0, 0), expected, "a share of {share}");
        }
        assert!(bounce_probability(0.75, 0.5, 1.0, 3) < bounce_probability(0.75, 0.5, 1.0, 0));
    }
}
