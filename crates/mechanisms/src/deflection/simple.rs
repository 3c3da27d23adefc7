//! Simple Deflection: DIBS as a programmable switch can do it (section 4.1).
//!
//! A packet whose queue is full goes to the first port that faces a switch and is not full, in a circle from a random one on.
//! If all are full, it stays with its own queue, which drops it. Packets of any kind are deflected.

use hitless_engine::Stream;
use hitless_switch::{Context, Environment, HookSet, Mechanism, PortState, Report, Resources, Subscriptions, Verdict};
use hitless_wire::{PortId, QueueId, Time};

use super::account::{Account, Kind};
use super::capacity::{Capacity, Place, Queues};
use super::occupancy::{Occupancy, View};
use super::resources;
use super::scan::{ScanStart, first_free};
use crate::neighbours::Neighbours;

/// Simple Deflection's parameters.
#[derive(Clone, Debug)]
pub struct SimpleConfig {
    /// Ports whose packets are deflected when their queue is full.
    pub relieved: Vec<PortId>,
    /// Whether a packet may be deflected to the port by which it came.
    pub to_arrival_port: bool,
    /// Where the scan begins.
    pub start: ScanStart,
    /// Where ingress knows from how full queues are.
    pub occupancy: Occupancy,
    /// What a queue may hold, by which egress tells whether it is full. Occupancy that is immediate does not need it.
    pub capacity: Capacity,
    /// What the choices are drawn from.
    pub stream: Stream,
}

/// Simple Deflection on one switch.
#[derive(Debug)]
pub struct SimpleDeflection {
    relieved: Vec<PortId>,
    start: ScanStart,
    stream: Stream,
    neighbours: Neighbours,
    capacity: Capacity,
    pub(super) view: View,
    pub(super) queues: Queues,
    account: Account,
}

impl SimpleDeflection {
    /// Simple Deflection as configured.
    pub fn new(config: SimpleConfig) -> Self {
        let SimpleConfig { relieved, to_arrival_port, start, occupancy, capacity, stream } = config;
        let account = Account::new("simple-deflection", Kind::WhenFull, &relieved);
        let (neighbours, view) = (Neighbours::new(to_arrival_port), View::new(occupancy));
        Self { relieved, start, stream, neighbours, capacity, view, queues: Queues::default(), account }
    }

    /// The first port that is not full. The port that the packet was to leave by is one of the circle, and full.
    fn choose<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Option<(PortId, QueueId)> {
        let (full, arrived_by, class) = (context.packet().egress_port, context.port(), context.packet().class);
        let ports = self.neighbours.all();
        if ports.is_empty() {
            return None;
        }
        let start = self.start.draw(&mut self.stream, ports.len());
        let is_free = |place: usize| {
            let port = ports[place];
            let place = Place { port, queue: context.class_queue(port, class) };
            port != full
                && self.neighbours.may_take(port, arrived_by)
                && !self.view.is_full(place, self.queues.index(place), context)
        };
        let port = ports[first_free(start, ports.len(), is_free)?];
        Some((port, context.class_queue(port, class)))
    }
}

impl Mechanism for SimpleDeflection {
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
        self.queues = Queues::new(queue_counts);
        self.view.size(queue_counts);
        let towards = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS));
        let at_each = (0..queue_counts.len() as u16).map(|port| (PortId(port), self.view.hooks()));
        let hooks = towards.chain(at_each).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.neighbours.start(context);
        self.view.start(context);
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if self.view.owns(context) {
            return self.view.learn(context);
        }
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        let port = place.port;
        self.account.port(port).seen += 1;
        if !self.view.is_full(place, self.queues.index(place), context) {
            self.account.leaves_by(port, context);
            return Verdict::Continue;
        }
        self.account.port(port).full += 1;
        let Some((towards, queue)) = self.choose(context) else {
            self.account.port(port).nowhere_to_go += 1;
            return Verdict::Continue;
        };
        self.account.detour(port, towards, context);
        Verdict::Forward { port: towards, queue }
    }

    fn egress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if self.view.owns(context) {
            return self.view.read(context);
        }
        let place = Place { port: context.port(), queue: context.packet().queue };
        if let Some(index) = self.queues.find(place) {
            self.view.leaves(place, index, self.capacity, None, context);
        }
        Verdict::Continue
    }

    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _context: &mut Context<'_, E>) {
        self.neighbours.set_state(port, state);
    }

    fn resources(&self) -> Resources {
        resources::of_simple(self)
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = self.account.report();
        self.view.report(&mut report);
        report
    }
}
