//! DIBS, detour-induced buffer sharing: a packet whose queue is full goes to a random neighbour instead (Zarifis, Miao,
//! Calder, Katz-Bassett, Yu, Padhye; EuroSys 2014; sections as printed there).
//!
//! When the queue of the port that routing has chosen has no room for a packet, the switch sends it out of another port that
//! faces a switch and has room, chosen at random and anew for each packet (section 2). The neighbour routes it by its
//! destination as any other packet, perhaps straight back. No port of another host ever gets it. If no such port has
//! room, the packet is dropped by its own queue. Notices of congestion to senders stay on their way. Nothing keeps order, and nothing but the time to live ends a loop.
//!
//! Ingress decides, so it must know there which queues are full: exactly, as in the authors' simulations, which needs hardware
//! that shows depths in ingress. A packet that is on its way to a queue counts as being there; one that will have left
//! the queue when the next arrives is not foreseen.

use hitless_engine::Stream;
use hitless_switch::{Context, Environment, HookSet, Mechanism, PortState, Report, Resources, Subscriptions, Verdict};
use hitless_wire::{PortId, QueueId, Time};

use super::account::{Account, Kind};
use super::resources;
use crate::neighbours::{Neighbours, take_any};

/// DIBS's parameters.
#[derive(Clone, Debug)]
pub struct DibsConfig {
    /// Ports whose packets are detoured when their queue is full.
    pub relieved: Vec<PortId>,
    /// Whether a packet may be detoured to the port by which it came. It may in the authors' program, and in the example of
    /// section 2.
    pub to_arrival_port: bool,
    /// Whether a packet may be detoured to a port that is full as well, whose queue then drops it: naive deflection, which DIBS
    /// is compared with (Practical Packet Deflection, section 2).
    pub to_full_ports: bool,
    /// What the choices are drawn from.
    pub stream: Stream,
}

/// DIBS on one switch.
#[derive(Debug)]
pub struct Dibs {
    relieved: Vec<PortId>,
    to_full_ports: bool,
    stream: Stream,
    neighbours: Neighbours,
    account: Account,
}

impl Dibs {
    /// DIBS as configured.
    pub fn new(config: DibsConfig) -> Self {
        let DibsConfig { relieved, to_arrival_port, to_full_ports, stream } = config;
        let account = Account::new("dibs", Kind::WhenFull, &relieved);
        Self { relieved, to_full_ports, stream, neighbours: Neighbours::new(to_arrival_port), account }
    }

    /// A port that has room, or any, each with the same probability.
    fn choose<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Option<(PortId, QueueId)> {
        let (full, class) = (context.packet().egress_port, context.packet().class);
        let candidates = self.neighbours.eligible(context.port(), Some(full));
        while let Some(port) = take_any(candidates, &mut self.stream) {
            let queue = context.class_queue(port, class);
            if self.to_full_ports || context.has_room(port, queue) {
                return Some((port, queue));
            }
        }
        None
    }
}

impl Mechanism for Dibs {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        let hooks = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.neighbours.start(context);
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let (port, queue) = (context.packet().egress_port, context.packet().queue);
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        self.account.port(port).seen += 1;
        if context.has_room(port, queue) {
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

    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _context: &mut Context<'_, E>) {
        self.neighbours.set_state(port, state);
    }

    fn resources(&self) -> Resources {
        resources::of_dibs(self)
    }

    fn report(&self, _now: Time) -> Report {
        self.account.report()
    }
}
