//! Vertigo's switch: queues sorted by urgency, and deflection of what has to leave them (Abdous, Sharafzadeh, Ghorbani: "Burst-
//! tolerant Datacenter Networks with Vertigo", CoNEXT 2021; sections as printed there). "The authors' simulator" is what was
//! published with "Practical Packet Deflection in Datacenters" (PACMNET 1, CoNEXT3, 2023), where it is called Selective
//! Deflection.
//!
//! Senders mark packets with what remains of their flow ([`hitless_wire::PriorityMark`]). Each queue is sorted by that mark and
//! serves the smallest first (section 3.2). A packet that meets a full queue drives out those of strictly larger rank from
//! its end, as many as it takes; if that is not enough the packet itself is the victim. Victims go to the less loaded
//! of two random ports that face switches, never to a host. There they are put into their place even if the queue is full:
//! then its worst packets are dropped, and the victim may be one of them. So no packet is deflected twice in one switch;
//! beyond it only the time to live ends a loop. The neighbour routes a victim by its destination as any other packet.
//!
//! Nothing keeps order; the paper restores it at the receiving host (section 3.3).

mod account;
mod resources;

use hitless_engine::Stream;
use hitless_engine::draws::below;
use hitless_switch::{
    Context, DropReason, Environment, HookSet, Mechanism, PortState, QueueOrder, Report, Resources, Subscriptions,
    Verdict,
};
use hitless_wire::{Packet, PortId, Time};

use crate::neighbours::Neighbours;
use account::Account;

/// A port whose queues are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortedPort {
    /// The port.
    pub port: PortId,
    /// Whether its partner is a host.
    pub faces_host: bool,
}

/// Vertigo's parameters.
#[derive(Clone, Debug)]
pub struct VertigoConfig {
    /// Ports whose queues are sorted, and whose victims are deflected.
    pub ports: Vec<SortedPort>,
    /// Of how many random ports the least loaded gets a victim: 1 or 2.
    pub candidates: u8,
    /// Whether a victim may go to the port by which it came.
    pub to_arrival_port: bool,
    /// Whether the ranks of the packets that arrive for each port are recorded.
    pub records_ranks: bool,
    /// What the choices are drawn from.
    pub stream: Stream,
}

/// Vertigo on one switch.
#[derive(Debug)]
pub struct Vertigo {
    ports: Vec<SortedPort>,
    candidates: u8,
    stream: Stream,
    neighbours: Neighbours,
    account: Account,
}

impl Vertigo {
    /// Vertigo as configured.
    ///
    /// # Panics
    /// With another number of candidates than 1 or 2.
    pub fn new(config: VertigoConfig) -> Self {
        let VertigoConfig { ports, candidates, to_arrival_port, records_ranks, stream } = config;
        assert!((1..=2).contains(&candidates), "{candidates} candidates for a victim");
        let sorted: Vec<PortId> = ports.iter().map(|sorted| sorted.port).collect();
        Self {
            account: Account::new(&sorted, records_ranks),
            ports,
            candidates,
            stream,
            neighbours: Neighbours::new(to_arrival_port),
        }
    }

    /// The port for the victim at hand, which was to leave by `full`.
    fn choose<E: Environment>(&mut self, full: PortId, context: &mut Context<'_, E>) -> Option<PortId> {
        let &mut Packet { ingress_port: arrived_by, class, .. } = context.packet();
        let eligible = self.neighbours.eligible(arrived_by, Some(full));
        let count = eligible.len();
        if count == 0 {
            return None;
        }
        let first = below(&mut self.stream, count);
        if self.candidates == 1 || count == 1 {
            return Some(eligible[first]);
        }
        // The first is as random as the second, so that a tie is broken by chance.
        let second = (first + 1 + below(&mut self.stream, count - 1)) % count;
        let [first, second] = [first, second].map(|place| eligible[place]);
        let mut load = |port| context.committed_bytes(port, context.class_queue(port, class));
        Some(if load(second) < load(first) { second } else { first })
    }

    /// The packet at hand leaves `port` for `towards`.
    fn count_deflected<E: Environment>(&mut self, port: PortId, towards: PortId, context: &mut Context<'_, E>) {
        let packet = context.packet();
        self.account.detours.once_more(packet);
        self.account.deflected(port, packet.ingress_port == towards);
    }
}

impl Mechanism for Vertigo {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        let common = HookSet::INGRESS_TOWARDS.with(HookSet::REFUSED);
        let hooks_of = |at: &SortedPort| if at.faces_host { common.with(HookSet::EGRESS) } else { common };
        Subscriptions {
            hooks: self.ports.iter().map(|at| (at.port, hooks_of(at))).collect(),
            orders: self.ports.iter().map(|at| (at.port, QueueOrder::ByRank)).collect(),
            ..Subscriptions::default()
        }
    }

    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.neighbours.start(context);
    }

    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let packet = context.packet();
        self.account.seen(packet.egress_port, || packet.urgency());
        Verdict::Continue
    }

    /// Of ports that face hosts: the wanderings of the packet are over.
    fn egress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.account.detours.end(context.packet());
        Verdict::Continue
    }

    fn refused<E: Environment>(&mut self, reason: DropReason, context: &mut Context<'_, E>) -> Verdict {
        let port = context.port();
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        if context.is_last_try() {
            self.account.port(port).given_up += 1;
            return Verdict::Continue;
        }
        self.account.victim(port, reason == DropReason::Evicted);
        let Some(towards) = self.choose(port, context) else {
            self.account.port(port).nowhere_to_go += 1;
            return Verdict::Continue;
        };
        self.count_deflected(port, towards, context);
        let class = context.packet().class;
        Verdict::Forward { port: towards, queue: context.class_queue(towards, class) }
    }

    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _context: &mut Context<'_, E>) {
        self.neighbours.set_state(port, state);
    }

    fn resources(&self) -> Resources {
        resources::resources()
    }

    fn report(&self, _now: Time) -> Report {
        self.account.report()
    }
}
