//! The fourth stage: `egress` and `tx`.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, Packet, PortId, Time};

use crate::context::Visit;
use crate::environment::Environment;
use crate::queueing::Entry;
use crate::switch::Switch;
use crate::verdict::Half;
use crate::verdict::Verdict;

impl Switch {
    /// Takes a packet through egress to the MAC; returns how long it occupies the port.
    #[inline]
    pub(crate) fn leave<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        entry: Entry,
        environment: &mut E,
    ) -> Duration {
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        let &mut Packet { owner, role, .. } = &mut environment.packets()[entry.packet];
        // No hook wants it: the packet goes straight to the MAC.
        if hooks.egress | hooks.tx | owner == 0 || self.quiet_roles.contains(owner, role) {
            return self.core.transmit(now, port, entry.packet, environment);
        }
        self.leave_on_slow_path(now, port, entry, environment)
    }

    /// Like [`Self::leave`], for a packet that a mechanism handles.
    fn leave_on_slow_path<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        entry: Entry,
        environment: &mut E,
    ) -> Duration {
        let packet = entry.packet;
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        self.core.pass.begin(Half::Egress);
        let visit = Visit { now, port, packet, is_last_try: false, queued: (entry.enqueued_at, entry.packets_before) };
        let subscribed = owner_or(hooks.egress, packet, environment);
        let mut verdict = self.run(subscribed, visit, environment, |mechanism, context| mechanism.egress(context));
        if verdict == Verdict::Continue {
            let subscribed = owner_or(hooks.tx, packet, environment);
            verdict = self.run(subscribed, visit, environment, |mechanism, context| mechanism.tx(context));
        }
        if verdict == Verdict::Continue {
            return self.core.transmit(now, port, packet, environment);
        }
        self.take_back(now, packet, verdict, environment);
        // The packet was read out of the buffer although it is not sent, which occupies the port's channel.
        let channel_rate =
            self.core.architecture.buffer_read_rate.max(self.core.ports[usize::from(port.0)].config.rate);
        channel_rate.time_for(u64::from(entry.frame_bytes))
    }

    /// Carries out the verdict of an egress hook that did not send the packet.
    fn take_back<E: Environment>(&mut self, now: Time, packet: PacketHandle, verdict: Verdict, environment: &mut E) {
        environment.decided(packet, Half::Egress, verdict);
        let (port, queue) = match verdict {
            Verdict::Forward { port, queue } | Verdict::Hold { port, queue, .. } => (port, queue),
            Verdict::Drop(reason) => return self.core.end(packet, reason, environment),
            Verdict::Continue => unreachable!("a packet that goes on is sent"),
        };
        assert!(self.core.has_queue(port, queue), "a hook names a queue that does not exist");
        // A packet returns from egress to a queue only as a mirror copy, which needs a session.
        self.core.pass.mirror(port, queue);
        let descriptor = &mut environment.packets()[packet];
        descriptor.egress_port = port;
        descriptor.queue = queue;
        let Verdict::Hold { duration, .. } = verdict else {
            return self.core.send_to_queue(now, self.core.architecture.mirror_latency, packet, environment);
        };
        if let Err(reason) = self.core.hold(now, packet, duration, environment) {
            self.tm_drop(now, packet, reason, false, environment);
        }
    }
}

/// Returns the mechanisms to call for a packet: its owner or, without an owner, those in `subscribed`.
#[inline]
fn owner_or<E: Environment>(subscribed: u8, packet: PacketHandle, environment: &mut E) -> u8 {
    let owner = environment.packets()[packet].owner;
    if owner == 0 { subscribed } else { 1 << (owner - 1) }
}
