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

mod account;

use hitless_engine::Stream;
use hitless_engine::draws::below;
use hitless_switch::{Context, Environment, HookSet, Mechanism, PortState, Report, Subscriptions, Verdict};
use hitless_wire::shim::DetourCount;
use hitless_wire::{PortId, Time};

use account::Account;

/// DIBS's parameters.
#[derive(Clone, Debug)]
pub struct DibsConfig {
    /// Ports whose packets are detoured when their queue is full.
    pub relieved: Vec<PortId>,
    /// Whether a packet may be detoured to the port by which it came. It may in the authors' program, and in the example of
    /// section 2.
    pub to_arrival_port: bool,
    /// What the choices are drawn from.
    pub stream: Stream,
}

/// DIBS on one switch.
#[derive(Debug)]
pub struct Dibs {
    relieved: Vec<PortId>,
    to_arrival_port: bool,
    stream: Stream,
    /// By port: whether its link works, as far as is known.
    is_up: Vec<bool>,
    /// The ports that may be chosen for the packet at hand.
    candidates: Vec<PortId>,
    account: Account,
}

impl Dibs {
    /// DIBS as configured.
    pub fn new(config: DibsConfig) -> Self {
        let DibsConfig { relieved, to_arrival_port, stream } = config;
        let account = Account::new(&relieved);
        Self { relieved, to_arrival_port, stream, is_up: Vec::new(), candidates: Vec::new(), account }
    }

    /// A port that has room, each with the same probability.
    fn choose<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Option<Verdict> {
        let (full, arrived_by) = (context.packet().egress_port, context.port());
        let class = context.packet().class;
        self.candidates.clear();
        let may = |&port: &PortId| port != full && (self.to_arrival_port || port != arrived_by);
        self.candidates.extend(context.ports_that_face_switches().filter(may));
        while !self.candidates.is_empty() {
            let drawn = below(&mut self.stream, self.candidates.len());
            let port = self.candidates.swap_remove(drawn);
            let queue = context.class_queue(port, class);
            if self.is_up[usize::from(port.0)] && context.has_room(port, queue) {
                return Some(Verdict::Forward { port, queue });
            }
        }
        None
    }

    fn detour<E: Environment>(&mut self, towards: PortId, context: &mut Context<'_, E>) {
        let arrived_by = context.port();
        let packet = context.packet();
        let port = packet.egress_port;
        let before = packet.shims.get::<DetourCount>();
        let count = DetourCount(before.map_or(0, |count| count.0).saturating_add(1));
        if !packet.shims.replace(count) && packet.push_shim(count).is_err() {
            self.account.uncounted += 1;
        }
        self.account.detoured(port, towards == arrived_by, count);
    }
}

impl Mechanism for Dibs {
    fn subscriptions(&mut self, queue_counts: &[usize]) -> Subscriptions {
        self.is_up = vec![true; queue_counts.len()];
        let hooks = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let (port, queue) = (context.packet().egress_port, context.packet().queue);
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        self.account.port(port).seen += 1;
        if context.has_room(port, queue) {
            if !context.faces_switch(port) {
                self.account.arrived(context.packet().remove_shim::<DetourCount>());
            }
            return Verdict::Continue;
        }
        let Some(Verdict::Forward { port: towards, queue }) = self.choose(context) else {
            self.account.port(port).nowhere_to_go += 1;
            return Verdict::Continue;
        };
        self.detour(towards, context);
        Verdict::Forward { port: towards, queue }
    }

    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _context: &mut Context<'_, E>) {
        self.is_up[usize::from(port.0)] = state == PortState::Up;
    }

    fn report(&self, _now: Time) -> Report {
        self.account.report()
    }
}
