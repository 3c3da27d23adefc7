//! The effect of a link partner's pause frames on the queues of a port (IEEE 802.1Qbb).

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{PauseEnd, PortId, QueueId, Time};

use crate::canary::{Canary, sings};
use crate::environment::{Environment, Stop, SwitchEvent};
use crate::port::Scheduler;
use crate::switch::Switch;

impl Switch {
    pub(crate) fn obey_pause<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        frame: PauseFrame,
        environment: &mut E,
    ) {
        let class = frame.class & 7;
        let state = &mut self.core.ports[usize::from(port.0)];
        if frame.is_resume() {
            state.rare().pauses.take_back(class);
            return self.resume_class(now, port, class, environment);
        }
        if state.take_ignored_pause(now, class) {
            return;
        }
        let ends_at = now + state.pause_time(frame.quanta);
        let response = state.config.flow_control.map(|control| control.pause_response()).unwrap_or_default();
        let pauses = &mut state.rare().pauses;
        if response.0 > 0 && !pauses.is_active(now, 1 << class) {
            if pauses.announce(class, now + response, ends_at) {
                environment.schedule(now + response, SwitchEvent::PauseBegins { port, class });
            }
            return;
        }
        self.pause_class(now, port, class, ends_at, environment);
    }

    /// Starts a pause after the response time of the port.
    pub(crate) fn begin_pause<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        if let Some(ends_at) = self.core.ports[usize::from(port.0)].rare().pauses.take_announced(class, now) {
            self.pause_class(now, port, class, ends_at, environment);
        }
    }

    fn pause_class<E: Environment>(&mut self, now: Time, port: PortId, class: u8, ends_at: Time, environment: &mut E) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let queue = state.config.class_queue[usize::from(class)];
        let pauses = state.rare().pauses;
        match &mut state.scheduler {
            Scheduler::Queued(scheduler) => {
                scheduler.pause(queue);
                // Queues of a group or a mechanism pause too, with all the classes that they hold.
                let is_paused = |classes| classes >> class & 1 == 1 || pauses.is_active(now, classes);
                scheduler.set_mixed_paused(&state.config.class_queue, is_paused);
            }
            // A flow's queue can hold packets of any class, so all queues pause.
            Scheduler::Flow(scheduler) => scheduler.pause(),
            // A port gets a FIFO scheduler only if nothing on it can be paused.
            Scheduler::Fifo(_) => return,
        }
        let was_paused = pauses.began_at(class).is_some();
        if state.rare().pauses.begin(class, now, ends_at) {
            environment.schedule(ends_at, SwitchEvent::PauseEnds { port, class });
        }
        if let Some(watchdog) = state.config.flow_control.and_then(|control| control.watchdog)
            && !was_paused
        {
            environment.schedule(now + watchdog.detection, SwitchEvent::PauseWatchdog { port, class });
        }
        self.report_stops(port, environment);
    }

    pub(super) fn resume_class<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        if sings(Canary::LostResume) || self.core.is_in_dropping_storm(port, class) {
            return;
        }
        let state = &mut self.core.ports[usize::from(port.0)];
        let queue = state.config.class_queue[usize::from(class)];
        state.rare().pauses.note_resumed(class, now);
        let pauses = state.rare().pauses;
        match &mut state.scheduler {
            Scheduler::Queued(scheduler) => {
                scheduler.resume(queue);
                // Queues with packets of several classes resume only when none of these classes is paused.
                scheduler.set_mixed_paused(&state.config.class_queue, |classes| pauses.is_active(now, classes));
                self.report_stops(port, environment);
                self.serve_when_free(now, port, environment);
            }
            Scheduler::Flow(scheduler) if !pauses.is_active(now, u8::MAX) => {
                scheduler.resume();
                self.report_stops(port, environment);
                self.serve_flows_when_free(now, port, environment);
            }
            Scheduler::Flow(_) | Scheduler::Fifo(_) => {}
        }
    }

    /// Tells the driver which queues of a port are stopped, if it wants to know.
    pub(crate) fn report_stops<E: Environment>(&self, port: PortId, environment: &mut E) {
        if !E::OBSERVES {
            return;
        }
        let state = &self.core.ports[usize::from(port.0)];
        for queue in (0..state.queue_count()).map(|queue| QueueId(queue as u8)) {
            let by = match &state.scheduler {
                Scheduler::Queued(scheduler) if scheduler.is_paused(queue) && state.is_paused_by_partner(queue) => {
                    Stop::Partner
                }
                Scheduler::Queued(scheduler) if scheduler.is_stopped(queue) => Stop::Mechanism,
                Scheduler::Flow(scheduler) if scheduler.is_paused() => Stop::Partner,
                _ => Stop::No,
            };
            environment.stopped(port, queue, by);
        }
    }

    /// Tells the driver about queues that a hook has stopped, or lets go on.
    #[cold]
    pub(crate) fn report_new_stops<E: Environment>(&mut self, environment: &mut E) {
        self.core.has_new_stops = false;
        (0..self.core.ports.len()).for_each(|port| self.report_stops(PortId(port as u16), environment));
    }

    /// Ends a pause at its time, because a resume frame can be lost.
    pub(crate) fn end_pause<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        match self.core.ports[usize::from(port.0)].rare().pauses.look(class, now) {
            PauseEnd::Over => self.resume_class(now, port, class, environment),
            PauseEnd::Later(at) => environment.schedule(at, SwitchEvent::PauseEnds { port, class }),
            PauseEnd::Nothing => {}
        }
    }
}
