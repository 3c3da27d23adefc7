//! The watchdog of flow control: it ends pauses, and waits for credit, that last too long. A partner that stops a class
//! for ever would stop the fabric.
//!
//! During a storm the class ignores pause frames, and drops its packets or sends them. The storm is over after a time
//! without pause frames (SONiC, "PFC watchdog"). A class without credit drops its packets, until credit returns or the
//! time has passed.

use hitless_core::wire::{PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};
use crate::port::Port;
use crate::queueing::QueuedScheduler;
use crate::switch::Switch;

impl Port {
    /// Records a pause frame for `class`; returns whether a storm lets the class ignore it.
    pub fn take_ignored_pause(&mut self, now: Time, class: u8) -> bool {
        let storm = &mut self.rare().storms[usize::from(class)];
        *storm = storm.map(|_| now);
        storm.is_some()
    }
}

impl Core {
    /// Returns whether a storm makes `port` drop the packets of `class`.
    pub fn is_in_dropping_storm(&self, port: PortId, class: u8) -> bool {
        let state = &self.ports[usize::from(port.0)];
        let drops =
            state.config.flow_control.and_then(|control| control.watchdog).is_some_and(|watchdog| watchdog.drops);
        drops && state.is_in_storm(class)
    }
}

impl Switch {
    /// Looks whether a pause has lasted too long, or whether a storm is over.
    pub(crate) fn watch_pause<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let Some(watchdog) = state.config.flow_control.and_then(|control| control.watchdog) else { return };
        let looks_again = SwitchEvent::PauseWatchdog { port, class };
        if let Some(paused_at) = state.rare().storms[usize::from(class)] {
            let over_at = paused_at + watchdog.restoration;
            if now < over_at {
                return environment.schedule(over_at, looks_again);
            }
            state.rare().storms[usize::from(class)] = None;
            if state.config.flow_control.is_some_and(|control| control.credits().is_some()) {
                let queue = state.config.class_queue[usize::from(class)];
                self.wait_for_credit(now, port, queue, environment);
                return self.serve_when_free(now, port, environment);
            }
            return self.resume_class(now, port, class, environment);
        }
        let queue = state.config.class_queue[usize::from(class)];
        let began_at = state.rare().pauses.began_at(class);
        // A later pause has another event.
        if began_at.is_none_or(|began_at| began_at + watchdog.detection > now) {
            return;
        }
        let is_empty = self.core.queued(port).waiting_packets(queue) == 0;
        if is_empty {
            return environment.schedule(now + watchdog.detection, looks_again);
        }
        let rare = self.core.ports[usize::from(port.0)].rare();
        rare.storms[usize::from(class)] = Some(now);
        rare.storms_seen += 1;
        rare.pauses.take_back(class);
        environment.schedule(now + watchdog.restoration, looks_again);
        if watchdog.drops {
            self.drop_paused(now, port, class, environment);
        } else {
            self.resume_class(now, port, class, environment);
        }
    }

    /// Drops all packets that wait for the end of a pause. The queue stays paused, so that no packet passes it.
    fn drop_paused<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        let queue = self.core.ports[usize::from(port.0)].config.class_queue[usize::from(class)];
        let scheduler: &mut QueuedScheduler = self.core.queued(port);
        for entry in scheduler.drain(queue) {
            self.core.refund(now, entry.packet, environment);
            self.core.buffer.give_back(entry.frame_bytes);
            self.core.end_inside(now, entry.packet, DropReason::PauseWatchdog, environment);
        }
    }
}
