//! PABO: packets of a queue that fills up bounce back to the switch that they came from (Shi, Wang, Zhang, Zheng, Liu: "PABO:
//! Congestion Mitigation via Packet Bounce", IEEE ICC 2017).
//!
//! Of a queue that is filled to a share x above theta, a packet that has bounced n times bounces with a probability of
//! (1 - exp(-lambda (x - theta) / (n + 1))) / (1 - exp(-lambda (1 - theta) / (n + 1))), which is 0 at theta and 1 when the queue is
//! full. It goes out of the port by which it came, if that faces a switch and has room; the switch there sends it again. A
//! packet that is back where it bounced to, on its way forward, does not bounce to the switch that it is to go to.

use hitless_engine::Stream;
use hitless_engine::draws::{exp, unit};
use hitless_switch::{Context, Environment, HookSet, Mechanism, PortState, Report, Resources, Subscriptions, Verdict};
use hitless_wire::shim::DetourCount;
use hitless_wire::{PortId, Time};

use super::account::{Account, Kind};
use super::capacity::{Capacity, Place};
use super::resources;
use crate::neighbours::Neighbours;

/// PABO's parameters.
#[derive(Clone, Debug)]
pub struct PaboConfig {
    /// Ports whose packets bounce.
    pub relieved: Vec<PortId>,
    /// Theta: up to this share of its capacity a queue bounces none.
    pub threshold: f64,
    /// Lambda: how fast the probability rises above it.
    pub lambda: f64,
    /// What the share is of.
    pub capacity: Capacity,
    /// What the choices are drawn from.
    pub stream: Stream,
}

/// The probability with which a packet bounces that has bounced so often.
pub fn bounce_probability(share: f64, threshold: f64, lambda: f64, bounces: u8) -> f64 {
    if share <= threshold {
        return 0.0;
    }
    let part = |above: f64| 1.0 - exp((-lambda * above / (f64::from(bounces) + 1.0)).max(-700.0));
    (part(share - threshold) / part(1.0 - threshold)).min(1.0)
}

/// PABO on one switch.
#[derive(Debug)]
pub struct Pabo {
    config: PaboConfig,
    neighbours: Neighbours,
    account: Account,
}

impl Pabo {
    /// PABO as configured.
    pub fn new(config: PaboConfig) -> Self {
        let account = Account::new("pabo", Kind::WhenFull, &config.relieved);
        Self { config, neighbours: Neighbours::new(true), account }
    }

    fn bounces<E: Environment>(&mut self, place: Place, context: &mut Context<'_, E>) -> bool {
        let Some(capacity_bytes) = self.config.capacity.bytes(place, context) else { return false };
        let share = context.queue_bytes(place.port, place.queue) as f64 / capacity_bytes as f64;
        let bounces = context.packet().shims.get::<DetourCount>().map_or(0, |count| count.0);
        let probability = bounce_probability(share, self.config.threshold, self.config.lambda, bounces);
        probability > 0.0 && unit(&mut self.config.stream) < probability
    }

    /// Where the packet at hand came from, if it can go back there.
    fn way_back<E: Environment>(&self, own: PortId, context: &mut Context<'_, E>) -> Option<Place> {
        let port = context.port();
        let class = context.packet().class;
        let queue = context.class_queue(port, class);
        let may = port != own && context.faces_switch(port) && self.neighbours.may_take(port, port);
        (may && context.has_room(port, queue)).then_some(Place { port, queue })
    }
}

impl Mechanism for Pabo {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        let hooks = self.config.relieved.iter().map(|&port| (port, HookSet::INGRESS_TOWARDS)).collect();
        Subscriptions { hooks, ..Subscriptions::default() }
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.neighbours.start(context);
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        let place = Place { port: context.packet().egress_port, queue: context.packet().queue };
        self.account.port(place.port).seen += 1;
        let has_room = context.has_room(place.port, place.queue);
        if has_room && !self.bounces(place, context) {
            self.account.leaves_by(place.port, context);
            return Verdict::Continue;
        }
        self.account.port(place.port).full += 1;
        let Some(back) = self.way_back(place.port, context) else {
            self.account.port(place.port).nowhere_to_go += 1;
            if has_room {
                self.account.leaves_by(place.port, context);
            }
            return Verdict::Continue;
        };
        self.account.detour(place.port, back.port, context);
        Verdict::Forward { port: back.port, queue: back.queue }
    }

    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _context: &mut Context<'_, E>) {
        self.neighbours.set_state(port, state);
    }

    fn resources(&self) -> Resources {
        resources::of_pabo(self)
    }

    fn report(&self, _now: Time) -> Report {
        self.account.report()
    }
}
