//! Packets that the traffic manager cannot admit.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Packet, Time};

use crate::context::Visit;
use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};
use crate::outbox::Effects;
use crate::port::Scheduler;
use crate::switch::Switch;
use crate::verdict::Half;
use crate::verdict::Verdict;

impl Core {
    /// Has the traffic manager try the queue in the descriptor of a packet that another queue has refused. No time
    /// passes, but the event in progress is finished first. A FIFO scheduler takes the packet in its turn, like packets
    /// from ingress.
    pub fn try_another_queue<E: Effects>(&mut self, now: Time, packet: PacketHandle, effects: &mut E) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut effects.packets()[packet];
        let port = &mut self.ports[usize::from(egress_port.0)];
        if let Scheduler::Fifo(_) = port.scheduler {
            return self.offer_fifo(now, packet, effects);
        }
        // The retry is a later event at the same time, so that this hook is not re-entered.
        port.underway_mut(queue).add(frame_bytes);
        self.buffer.announce(frame_bytes);
        effects.schedule(now, SwitchEvent::Enqueue { packet, is_last_try: true });
    }
}

impl Switch {
    /// Asks the hooks about a packet without room; without a subscriber it ends.
    #[cold]
    pub(crate) fn tm_drop<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        reason: DropReason,
        is_last_try: bool,
        environment: &mut E,
    ) {
        match self.run_tm_drop(now, packet, reason, is_last_try, environment) {
            // One retry only: a packet refused twice would otherwise circle between full queues.
            Verdict::Forward { port, queue } if !is_last_try => {
                assert!(self.core.has_queue(port, queue), "a hook names a queue that does not exist");
                environment.decided(packet, Half::Egress, Verdict::Forward { port, queue });
                let descriptor = &mut environment.packets()[packet];
                descriptor.egress_port = port;
                descriptor.queue = queue;
                self.core.try_another_queue(now, packet, environment);
            }
            Verdict::Drop(reason) => self.core.end_inside(now, packet, reason, environment),
            Verdict::Continue | Verdict::Forward { .. } => self.core.end_inside(now, packet, reason, environment),
            Verdict::Hold { .. } => unreachable!("a queue that holds packets back is no place for a refused one"),
        }
    }

    /// Calls `on_tm_drop` of the packet's owner or of the subscribers; returns the first decision.
    fn run_tm_drop<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        reason: DropReason,
        is_last_try: bool,
        environment: &mut E,
    ) -> Verdict {
        let &mut Packet { egress_port, owner, .. } = &mut environment.packets()[packet];
        let hooks = self.core.ports[usize::from(egress_port.0)].hooks;
        let told = if owner == 0 { hooks.tm_drop } else { 1 << (owner - 1) };
        let visit = Visit { now, port: egress_port, packet, is_last_try, queued: (now, 0) };
        let mut decided = Verdict::Continue;
        self.run(told, visit, environment, |mechanism, context| {
            context.pass().begin(Half::Egress);
            let verdict = mechanism.on_tm_drop(reason, context);
            if decided == Verdict::Continue {
                decided = verdict;
            }
            // All subscribers are called, even after a decision.
            Verdict::Continue
        });
        decided
    }
}
