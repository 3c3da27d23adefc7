//! Simple Deflection: DIBS as a programmable switch can do it (section 4.1).
//!
//! A packet whose queue is full goes to the first port that faces a switch and is not full, in a circle from a random one on.
//! If all are full, it stays with its own queue, which drops it. Packets of any kind are deflected.

use hitless_engine::Stream;
use hitless_switch::{Context, Environment, HookSet, Mechanism, PortState, Report, Subscriptions, Verdict};
use hitless_wire::{PortId, QueueId, Time};

use super::account::{Account, Kind};
use super::neighbours::{Neighbours, ScanStart, first_free};

/// Simple Deflection's parameters.
#[derive(Clone, Debug)]
pub struct SimpleConfig {
    /// Ports whose packets are deflected when their queue is full.
    pub relieved: Vec<PortId>,
    /// Whether a packet may be deflected to the port by which it came.
    pub to_arrival_port: bool,
    /// Where the scan begins.
    pub start: ScanStart,
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
    account: Account,
}

impl SimpleDeflection {
    /// Simple Deflection as configured.
    pub fn new(config: SimpleConfig) -> Self {
        let SimpleConfig { relieved, to_arrival_port, start, stream } = config;
        let account = Account::new("simple-deflection", Kind::WhenFull, &relieved);
        Self { relieved, start, stream, neighbours: Neighbours::new(to_arrival_port), account }
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
            port != full
                && self.neighbours.may_take(port, arrived_by)
                && context.has_room(port, context.class_queue(port, class))
        };
        let port = ports[first_free(start, ports.len(), is_free)?];
        Some((port, context.class_queue(port, class)))
    }
}

impl Mechanism for SimpleDeflection {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        let hooks = self.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.neighbours.start(context);
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let (port, queue) = (context.packet().egress_port, context.packet().queue);
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

    fn report(&self, _now: Time) -> Report {
        self.account.report()
    }
}
