//! Vertigo's switch: queues sorted by urgency, and deflection of what has to leave them (Abdous, Sharafzadeh, Ghorbani:
//! "Burst- tolerant Datacenter Networks with Vertigo", CoNEXT 2021; sections as printed there). "The authors'
//! simulator" is what was published with "Practical Packet Deflection in Datacenters" (PACMNET 1, CoNEXT3, 2023), where
//! it is called Selective Deflection.
//!
//! Senders mark packets with what remains of their flow ([`hitless_core::wire::PriorityMark`]). Each queue is sorted by
//! that mark and serves the smallest first (section 3.2). A packet that meets a full queue drives out those of strictly
//! larger rank from its end, as many as it takes; if that is not enough the packet itself is the victim. Victims go to
//! the less loaded of two random ports that face switches, never to a host. There they are put into their place even if
//! the queue is full: then its worst packets are dropped, and the victim may be one of them. So no packet is deflected
//! twice in one switch; beyond it only the time to live ends a loop. The neighbour routes a victim by its destination
//! as any other packet.
//!
//! Nothing keeps order; the paper restores it at the receiving host (section 3.3).

mod counters;
mod kind;
mod settings;

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use hitless_core::wire::{Packet, PortId, Time};
use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, QueueOrder, Report, Resources, Verdict};

use crate::neighbours::Neighbours;
use counters::SwitchCounters;
pub use settings::VertigoSettings;

/// A port whose queues are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct SortedPort {
    /// The port.
    pub port: PortId,
    /// Whether its partner is a host.
    pub faces_host: bool,
}

/// Vertigo on one switch.
#[derive(Debug)]
pub struct Vertigo {
    ports: Vec<SortedPort>,
    candidates: u8,
    stream: Stream,
    neighbours: Neighbours,
    counters: SwitchCounters,
}

hitless_core::state!(Vertigo { values: ports, candidates, stream, neighbours; parts: counters });

impl Vertigo {
    /// Vertigo at `ports`, which are sorted, and whose victims are deflected. The choices are drawn from `stream`.
    ///
    /// # Panics
    /// With another number of candidates than 1 or 2.
    pub fn new(ports: Vec<SortedPort>, settings: &VertigoSettings, stream: Stream) -> Self {
        let &VertigoSettings { candidates, to_arrival_port, record_ranks, .. } = settings;
        assert!((1..=2).contains(&candidates), "{candidates} candidates for a victim");
        let sorted: Vec<PortId> = ports.iter().map(|sorted| sorted.port).collect();
        Self {
            counters: SwitchCounters::new(&sorted, record_ranks),
            ports,
            candidates,
            stream,
            neighbours: Neighbours::new(to_arrival_port),
        }
    }

    /// The port for the victim at hand, which was to leave by `full`.
    fn choose(&mut self, full: PortId, context: &mut Context<'_>) -> Option<PortId> {
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
        let mut load = |port| context.queue(port, context.ports().class_queue(port, class)).committed_bytes();
        Some(if load(second) < load(first) { second } else { first })
    }

    /// The packet at hand leaves `port` for `towards`.
    fn count_deflected(&mut self, port: PortId, towards: PortId, context: &mut Context<'_>) {
        let packet = context.packet();
        self.counters.detours.once_more(packet);
        self.counters.deflected(port, packet.ingress_port == towards);
    }
}

impl Mechanism for Vertigo {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _: &[usize]) -> Needs {
        let common = HookSet::INGRESS_TOWARDS.with(HookSet::TM_DROP);
        let hooks_of = |at: &SortedPort| if at.faces_host { common.with(HookSet::EGRESS) } else { common };
        Needs {
            hooks: self.ports.iter().map(|at| (at.port, hooks_of(at))).collect(),
            orders: self.ports.iter().map(|at| (at.port, QueueOrder::ByRank)).collect(),
            ..Needs::default()
        }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let packet = context.packet();
        self.counters.seen(packet.egress_port, || packet.urgency());
        Verdict::Continue
    }

    /// Of ports that face hosts: the wanderings of the packet are over.
    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.detours.end(context.packet());
        Verdict::Continue
    }

    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        if context.is_last_try() {
            self.counters.port(port).given_up += 1;
            return Verdict::Continue;
        }
        self.counters.victim(port, reason == DropReason::Evicted);
        let Some(towards) = self.choose(port, context) else {
            self.counters.port(port).nowhere_to_go += 1;
            return Verdict::Continue;
        };
        self.count_deflected(port, towards, context);
        let class = context.packet().class;
        Verdict::Forward { port: towards, queue: context.ports().class_queue(towards, class) }
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.neighbours.on(event, context);
    }

    fn resources(&self) -> Resources {
        Resources::new("vertigo")
            .not_counting("queues sorted by rank that give up their worst packets: no switch of today has them")
            .not_counting("a traffic manager that hands on the packets it refuses")
            .not_counting("the random choice of ports, and the table of those that face switches and are up")
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report()
    }
}
