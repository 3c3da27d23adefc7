//! Vertigo's switch: queues sorted by urgency, and deflection of their victims (Abdous, Sharafzadeh, Ghorbani: "Burst-
//! tolerant Datacenter Networks with Vertigo", CoNEXT 2021; sections as printed there). "The authors' simulator" was
//! published with "Practical Packet Deflection in Datacenters" (PACMNET 1, CoNEXT3, 2023), where Vertigo is called
//! Selective Deflection.
//!
//! Senders mark packets with the remaining bytes of their flow ([`hitless_core::wire::PriorityMark`]). Each queue is
//! sorted by that mark and serves the smallest first (section 3.2). A packet that meets a full queue evicts packets of
//! strictly larger rank from its end, as many as needed; if that does not suffice, the packet itself is the victim.
//! Victims go to the less loaded of two random ports that face switches, never to a host. There they are inserted even
//! into a full queue: then its worst packets are dropped, possibly including the victim. So no packet is deflected
//! twice in a switch; beyond the switch only the time to live ends a loop. The neighbour routes a victim by its
//! destination like any other packet.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct SortedPort {
    pub port: PortId,
    pub faces_host: bool,
}

#[derive(Debug, hitless_core::state::State)]
pub struct Vertigo {
    ports: Vec<SortedPort>,
    candidates: u8,
    stream: Stream,
    neighbours: Neighbours,
    #[part]
    counters: SwitchCounters,
}

impl Vertigo {
    /// Vertigo that sorts the queues of `ports` and deflects their victims, with random choices from `stream`.
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
        // The first candidate is as random as the second, so that chance breaks a tie.
        let second = (first + 1 + below(&mut self.stream, count - 1)) % count;
        let [first, second] = [first, second].map(|place| eligible[place]);
        // Committed bytes include the packets in transit to the queue.
        let mut load = |port| context.queue(port, context.ports().class_queue(port, class)).committed_bytes();
        Some(if load(second) < load(first) { second } else { first })
    }

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

    /// At ports that face hosts: ends the packet's count of deflections.
    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.detours.end(context.packet());
        Verdict::Continue
    }

    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        if context.packet().is_congestion_notice() {
            return Verdict::Continue;
        }
        // The packet has been deflected to this port already: no second deflection in a switch.
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
