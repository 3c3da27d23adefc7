//! Simple Deflection: DIBS as a programmable switch can implement it (section 4.1).
//!
//! A packet with a full queue goes to the first port that faces a switch and is not full, in a circle from a random
//! start. If all are full, it stays with its own queue, which drops it. Packets of any kind are deflected.

use hitless_core::engine::Stream;
use hitless_core::wire::{PortId, QueueId, Time};
use hitless_switch::{Context, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};

use super::capacity::{Capacity, CurrentThreshold, Place, Queues};
use super::counters::SwitchCounters;
use super::occupancy::View;
use super::resources;
use super::scan::{ScanStart, first_free};
use super::settings::SimpleDeflectionSettings;
use crate::neighbours::Neighbours;

/// The capacity that egress compares with a queue's depth.
const CAPACITY: Capacity = Capacity::CurrentThreshold(CurrentThreshold {});

#[derive(Debug, hitless_core::state::State)]
pub struct SimpleDeflection {
    relieved: Vec<PortId>,
    #[configured]
    start: ScanStart,
    stream: Stream,
    neighbours: Neighbours,
    #[part]
    view: View,
    queues: Queues,
    #[part]
    counters: SwitchCounters,
}

impl SimpleDeflection {
    /// Simple Deflection for the packets of `relieved`, with random choices from `stream`, on a switch with these
    /// recirculation ports.
    pub fn new(
        relieved: Vec<PortId>,
        settings: &SimpleDeflectionSettings,
        recirculation_ports: Vec<PortId>,
        stream: Stream,
    ) -> Self {
        Self {
            counters: SwitchCounters::new("simple-deflection", &relieved),
            relieved,
            start: settings.start,
            stream,
            neighbours: Neighbours::new(settings.to_arrival_port),
            view: View::new(settings.occupancy, recirculation_ports),
            queues: Queues::default(),
        }
    }

    /// The first port that is not full. The packet's own port is in the circle, and full.
    fn choose(&mut self, context: &mut Context<'_>) -> Option<(PortId, QueueId)> {
        let (full, arrived_by, class) = (context.packet().egress_port, context.port(), context.packet().class);
        let ports = self.neighbours.all();
        if ports.is_empty() {
            return None;
        }
        // "We generate a random number, r, between 0 and the number of neighboring switches" (section 4.1).
        let start = self.start.draw(&mut self.stream, ports.len());
        let is_free = |place: usize| {
            let port = ports[place];
            let place = Place { port, queue: context.ports().class_queue(port, class) };
            port != full
                && self.neighbours.may_take(port, arrived_by)
                && !self.view.test_full(place, self.queues.index(place), context)
        };
        let port = ports[first_free(start, ports.len(), is_free)?];
        Some((port, context.ports().class_queue(port, class)))
    }
}

impl Mechanism for SimpleDeflection {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.queues = Queues::new(queue_counts);
        self.view.size(queue_counts);
        let towards = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS));
        let at_each = (0..queue_counts.len() as u16).map(|port| (PortId(port), self.view.hooks()));
        let hooks = towards.chain(at_each).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        if self.view.owns(context) {
            return self.view.learn(context);
        }
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        let port = place.port;
        self.counters.port(port).seen += 1;
        if !self.view.test_full(place, self.queues.index(place), context) {
            self.counters.leaves_by(port, context);
            return Verdict::Continue;
        }
        let choice = self.choose(context);
        self.counters.relieve(port, choice, context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        if self.view.owns(context) {
            return self.view.read(context);
        }
        let place = Place { port: context.port(), queue: context.packet().queue };
        if let Some(index) = self.queues.find(place) {
            self.view.leaves(place, index, CAPACITY, None, context);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.neighbours.on(event, context);
        if event == Event::Start {
            self.view.start(context);
        }
    }

    fn resources(&self) -> Resources {
        resources::of_simple(&self.view, self.queues.ports() as u64)
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = self.counters.report();
        self.view.report(&mut report);
        report
    }
}
