//! The path of a packet through a port that queues by flow.
//!
//! It is like the path through a queued scheduler, except that the scheduler can drop packets that it had admitted, at
//! an arrival and at a departure. Each of them ends here, with its reason.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Ecn, PortId, Time};

use crate::core::Core;
use crate::environment::{Environment, SwitchEvent};
use crate::queueing::Entry;
use crate::queueing::flow::{Arriving, FlowKey};
use crate::switch::Switch;

impl Core {
    /// Schedules the port's service, for when the line is free, if it has a packet ready.
    fn see_to_flow_service<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        let scheduler = self.flow_scheduler(port);
        if scheduler.has_ready() && !scheduler.service_is_due {
            scheduler.service_is_due = true;
            environment.schedule(scheduler.busy_until.max(now), SwitchEvent::Service { port });
        }
    }
}

impl Switch {
    /// Puts a packet into a port that queues by flow.
    pub(crate) fn enqueue_by_flow<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        is_last_try: bool,
        environment: &mut E,
    ) {
        let descriptor = &mut environment.packets()[packet];
        let port = descriptor.egress_port;
        let arriving = Arriving {
            entry: Entry::new(packet, descriptor.frame_bytes, now),
            flow: FlowKey::of(descriptor),
            class: descriptor.class,
            can_mark: descriptor.ecn != Ecn::NotCapable,
        };
        // The scheduler counts the packet first and then drops the excess, so the buffer does the same.
        self.core.buffer.take(descriptor.frame_bytes);
        if self.core.flow_scheduler(port).offer(&arriving) {
            descriptor.mark_congestion();
        }
        self.refuse_given_up(now, port, is_last_try, environment);
        self.serve_flows_when_free(now, port, environment);
    }

    /// Serves the port now if it is free, or else when it becomes free.
    pub(crate) fn serve_flows_when_free<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        if self.core.flow_scheduler(port).busy_until <= now {
            self.serve_flows(now, port, environment);
        } else {
            self.core.see_to_flow_service(now, port, environment);
        }
    }

    /// Serves a port that queues by flow.
    pub(crate) fn serve_flows<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        let scheduler = self.core.flow_scheduler(port);
        if scheduler.busy_until > now {
            return self.core.see_to_flow_service(now, port, environment);
        }
        // CoDel drops packets when they leave, not when they arrive (RFC 8289, section 5).
        let taken = scheduler.take(now);
        self.refuse_given_up(now, port, false, environment);
        let Some((entry, mark)) = taken else { return };
        if mark {
            environment.packets()[entry.packet].mark_congestion();
        }
        self.core.buffer.give_back(entry.frame_bytes);
        let held_for = self.leave(now, port, entry, environment);
        self.core.flow_scheduler(port).busy_until = now + held_for;
        self.core.see_to_flow_service(now, port, environment);
    }

    #[inline]
    fn refuse_given_up<E: Environment>(&mut self, now: Time, port: PortId, is_last_try: bool, environment: &mut E) {
        let scheduler = self.core.flow_scheduler(port);
        if scheduler.has_ended() {
            let list = scheduler.take_ended();
            for ended in &list {
                self.core.buffer.give_back(ended.frame_bytes);
                self.tm_drop(now, ended.packet, ended.reason, is_last_try, environment);
            }
            self.core.flow_scheduler(port).put_back(list);
        }
    }
}
