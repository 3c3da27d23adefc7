//! The second stage: `rx`, routing, and `ingress`.

use hitless_core::engine::PacketHandle;
use hitless_core::engine::draws::below;
use hitless_core::wire::{PortId, Time};

use crate::context::Visit;
use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::forwarding::{PathChoice, TwoChoices};
use crate::port::Queueing;
use crate::switch::Switch;
use crate::verdict::Half;
use crate::verdict::Verdict;

impl Core {
    /// Returns the next hop of a packet; the route gives `by_route`.
    #[inline]
    pub fn next_hop<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        by_route: PortId,
        environment: &mut E,
    ) -> PortId {
        if self.path_choice.is_none() { by_route } else { self.chosen_hop(now, packet, by_route, environment) }
    }

    #[inline(never)]
    fn chosen_hop<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        by_route: PortId,
        environment: &mut E,
    ) -> PortId {
        let (flow_hash, class) = (environment.packets()[packet].flow_hash, environment.packets()[packet].class);
        let hops = environment.next_hops(packet);
        // A single next hop leaves nothing to choose and draws no random number.
        let stream = match self.path_choice.as_mut().filter(|_| hops.len() > 1) {
            None => return by_route,
            Some(PathChoice::Flowlets(flowlets)) => return flowlets.choose(now, flow_hash, hops),
            Some(PathChoice::TwoChoices(TwoChoices { stream })) => stream,
        };
        // The first hop is as random as the second, so ties are broken at random.
        let first = below(stream, hops.len());
        let second = (first + 1 + below(stream, hops.len() - 1)) % hops.len();
        let mut depth_bytes = |hop: usize| {
            let queue = self.ports[usize::from(hops[hop].0)].config.class_queue[usize::from(class & 7)];
            self.queue_bytes(now, hops[hop], queue)
        };
        hops[if depth_bytes(second) < depth_bytes(first) { second } else { first }]
    }
}

impl Switch {
    /// Handles a packet from within the switch: it goes through ingress, or round again.
    #[inline]
    pub(crate) fn return_to_ingress<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let descriptor = &mut environment.packets()[packet];
        let (owner, role) = (descriptor.owner, descriptor.role);
        if self.quiet_roles.contains(owner, role)
            && !self.core.pass.is_checked()
            && self.mechanisms[usize::from(owner - 1)].goes_round(descriptor)
        {
            let verdict = Verdict::Forward { port: descriptor.egress_port, queue: descriptor.queue };
            debug_assert!(descriptor.egress_port == port, "a packet goes round through the port that it came from");
            environment.decided(packet, Half::Ingress, verdict);
            return self.leave_ingress(now, packet, environment);
        }
        self.ingress(now, port, packet, environment);
    }

    #[inline]
    pub(crate) fn ingress<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        let owner = environment.packets()[packet].owner;
        self.core.pass.begin(Half::Ingress);
        let visit = Visit { now, port, packet, is_last_try: false, queued: (now, 0) };
        if owner == 0 && hooks.rx != 0 {
            let verdict = self.run(hooks.rx, visit, environment, |mechanism, context| mechanism.rx(context));
            if verdict != Verdict::Continue {
                return self.apply(now, packet, verdict, environment);
            }
        }
        self.ingress_after_rx(visit, environment);
    }

    #[inline]
    fn ingress_after_rx<E: Environment>(&mut self, visit: Visit, environment: &mut E) {
        let Visit { now, port, packet, .. } = visit;
        let owner = environment.packets()[packet].owner;
        if owner != 0 {
            let verdict =
                self.run(1 << (owner - 1), visit, environment, |mechanism, context| mechanism.ingress(context));
            // An owner that releases its packet without a verdict lets it continue below as an ordinary packet.
            if verdict != Verdict::Continue || environment.packets()[packet].owner != 0 {
                return self.apply(now, packet, verdict, environment);
            }
        }
        let Some(egress_port) = environment.route(packet) else {
            return self.core.end_inside(now, packet, DropReason::NoRoute, environment);
        };
        let egress_port = self.core.next_hop(now, packet, egress_port, environment);
        let towards = &self.core.ports[usize::from(egress_port.0)];
        let subscribed = self.core.ports[usize::from(port.0)].hooks.ingress_from | towards.hooks.ingress_towards;
        let descriptor = &mut environment.packets()[packet];
        // The receiving port has decremented the TTL; RFC 1812, section 5.3.1, drops the packet at zero.
        if descriptor.ttl == 0 {
            return self.core.end_inside(now, packet, DropReason::TimeToLive, environment);
        }
        descriptor.egress_port = egress_port;
        descriptor.queue = towards.config.class_queue[usize::from(descriptor.class & 7)];
        if subscribed != 0 {
            let verdict = self.run(subscribed, visit, environment, |mechanism, context| mechanism.ingress(context));
            return self.apply(now, packet, verdict, environment);
        }
        self.leave_ingress(now, packet, environment);
    }

    /// Sends a packet from ingress to its queue. With zero latency, a packet for a group of queues enters its queue
    /// before the next packet is handled, so the round that selected the queue is still the scheduler's.
    #[inline]
    fn leave_ingress<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let port = environment.packets()[packet].egress_port;
        let is_queued_at_once = match self.core.ports[usize::from(port.0)].queueing {
            Queueing::ByEvent => false,
            Queueing::AtOnceIfNext => environment.begins_at_once(now),
            Queueing::AtOnce => true,
        };
        if is_queued_at_once {
            return self.enqueue(now, packet, false, environment);
        }
        self.core.send_to_queue(now, self.core.architecture.ingress_latency, packet, environment);
    }

    fn apply<E: Environment>(&mut self, now: Time, packet: PacketHandle, verdict: Verdict, environment: &mut E) {
        environment.decided(packet, Half::Ingress, verdict);
        match verdict {
            Verdict::Continue => {}
            Verdict::Forward { port, queue } => {
                assert!(self.core.has_queue(port, queue), "a hook names a queue that does not exist");
                let descriptor = &mut environment.packets()[packet];
                descriptor.egress_port = port;
                descriptor.queue = queue;
            }
            Verdict::Drop(reason) => return self.core.end(packet, reason, environment),
            Verdict::Hold { .. } => unreachable!("a packet can be held from egress only"),
        }
        self.leave_ingress(now, packet, environment);
    }
}
