//! Pause frames of the link partner: which traffic classes wait, and until when (IEEE 802.1Qbb).

use hitless_wire::pause::PauseFrame;
use hitless_wire::{PortId, Time};

use crate::environment::{Environment, SwitchEvent};
use crate::mechanism::Mechanism;
use crate::port::Lane;
use crate::switch::Switch;

/// Until when the partner's pause frames stop each traffic class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    ends_at: [Time; 8],
    /// Classes for which an event looks whether the pause is over, one bit each.
    watched: u8,
}

impl Pauses {
    /// A frame pauses `class` until `ends_at`; whether an event is to look then.
    pub fn begin(&mut self, class: u8, ends_at: Time) -> bool {
        let bit = 1 << class;
        self.ends_at[usize::from(class)] = ends_at;
        let is_watched = self.watched & bit != 0;
        self.watched |= bit;
        !is_watched
    }

    /// A frame has taken the pause of `class` back.
    pub fn take_back(&mut self, class: u8) {
        self.ends_at[usize::from(class)] = Time::NEVER;
    }

    /// Whether any class is paused at `now`.
    pub fn is_active(&self, now: Time) -> bool {
        self.ends_at.iter().any(|&ends_at| ends_at > now && ends_at != Time::NEVER)
    }

    /// The event for `class` looks, at `now`.
    pub fn look(&mut self, class: u8, now: Time) -> PauseEnd {
        let ends_at = self.ends_at[usize::from(class)];
        if ends_at > now && ends_at != Time::NEVER {
            return PauseEnd::Later(ends_at);
        }
        self.watched &= !(1 << class);
        if ends_at == Time::NEVER { PauseEnd::TakenBack } else { PauseEnd::Over }
    }
}

/// What has become of a pause when its time may be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseEnd {
    /// Nobody has taken it back: the class goes on now.
    Over,
    /// A further frame has prolonged it.
    Later(Time),
    /// A frame has taken it back before.
    TakenBack,
}

impl<M: Mechanism> Switch<M> {
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
            state.pauses.take_back(class);
            return self.resume_class(now, port, class, environment);
        }
        let queue = state.config.class_queue[usize::from(class)];
        match &mut state.lane {
            Lane::Managed(lane) => {
                lane.pause(queue);
                // A group has taken the packets of all classes out of their queues.
                lane.set_group_paused(true);
            }
            // Queues of flows are of one class: all are paused, or none.
            Lane::Flow(lane) => lane.pause(),
            // A FIFO lane was given to this port because nothing on it may be paused.
            Lane::Fifo(_) => return,
        }
        let ends_at = now + state.pause_time(frame.quanta);
        if state.pauses.begin(class, ends_at) {
            environment.schedule(ends_at, SwitchEvent::PauseEnds { port, class });
        }
    }

    fn resume_class<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let queue = state.config.class_queue[usize::from(class)];
        match &mut state.lane {
            Lane::Managed(lane) => {
                lane.resume(queue);
                // A group holds the packets of all classes, and so do the queues of flows.
                lane.set_group_paused(state.pauses.is_active(now));
                self.serve_when_free(now, port, environment);
            }
            Lane::Flow(lane) if !state.pauses.is_active(now) => {
                lane.resume();
                self.serve_flows_when_free(now, port, environment);
            }
            Lane::Flow(_) | Lane::Fifo(_) => {}
        }
    }

    /// A resume frame may be lost: no class waits longer than the frame that paused it has asked for.
    pub(crate) fn end_pause<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        match self.core.ports[usize::from(port.0)].pauses.look(class, now) {
            PauseEnd::Over => self.resume_class(now, port, class, environment),
            PauseEnd::Later(at) => environment.schedule(at, SwitchEvent::PauseEnds { port, class }),
            PauseEnd::TakenBack => {}
        }
    }
}
