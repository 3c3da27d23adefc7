//! The path of a packet into a queue that is served by rank.
//!
//! It is like the path into any queue of a queued scheduler, except that the packet can evict packets already admitted.
//! Each evicted packet is then dropped by the traffic manager.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::port::Scheduler;
use crate::queueing::{Claim, Entry};
use crate::switch::Switch;

impl Core {
    /// Offers a packet to the queue in its descriptor, which is served by rank.
    fn offer_by_rank<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        claim: Claim,
        environment: &mut E,
    ) -> Result<(), DropReason> {
        let descriptor = &mut environment.packets()[packet];
        let entry = Entry::new(packet, descriptor.frame_bytes, now);
        let Scheduler::Queued(scheduler) = &mut self.ports[usize::from(descriptor.egress_port.0)].scheduler else {
            unreachable!("only queued schedulers serve by rank")
        };
        if scheduler.offer_by_rank(descriptor.queue, descriptor.urgency(), entry, claim, &mut self.buffer)? {
            descriptor.mark_congestion();
        }
        Ok(())
    }
}

impl Switch {
    /// Puts a packet into a queue that is served by rank.
    pub(crate) fn enqueue_by_rank<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        is_last_try: bool,
        environment: &mut E,
    ) {
        let port = environment.packets()[packet].egress_port;
        let claim = if is_last_try { Claim::AtAnyPrice } else { Claim::OnlyIfItFits };
        let offered = self.core.offer_by_rank(now, packet, claim, environment);
        if self.core.queued(port).has_evicted() {
            self.refuse_evicted(now, port, is_last_try, environment);
        }
        match offered {
            Ok(()) => self.serve_when_free(now, port, environment),
            Err(reason) => self.tm_drop(now, packet, reason, is_last_try, environment),
        }
    }

    #[cold]
    fn refuse_evicted<E: Environment>(&mut self, now: Time, port: PortId, is_last_try: bool, environment: &mut E) {
        let list = self.core.queued(port).take_evicted();
        for victim in &list {
            self.tm_drop(now, victim.packet, DropReason::Evicted, is_last_try, environment);
        }
        self.core.queued(port).put_back(list);
    }
}
