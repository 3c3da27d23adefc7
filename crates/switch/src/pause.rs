//! Pause frames of the link partner: the end of the pause of each traffic class (IEEE 802.1Qbb).
//!
//! A resume frame can be lost, so a pause ends at its time at the latest. An event is scheduled for this end; a longer
//! pause in the meantime reuses the event instead of scheduling another.

use hitless_core::wire::Time;

use crate::explore::{Digest, State};

/// End of the pause of each traffic class.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(crate) struct Pauses {
    /// [`Time::NEVER`] means that a frame has cancelled the pause.
    ends_at: [Time; 8],
    /// Time of the next event that checks whether the pause of a class is over; [`Time::NEVER`] means no event.
    looks_at: [Time; 8],
}

impl Default for Pauses {
    fn default() -> Self {
        Self { ends_at: [Time::ZERO; 8], looks_at: [Time::NEVER; 8] }
    }
}

impl Pauses {
    /// Pauses `class` until `ends_at`; returns whether an event must be scheduled for that time. The newest frame
    /// counts, however long an earlier frame's pause was (IEEE 802.3, annex 31B).
    pub fn begin(&mut self, class: u8, ends_at: Time) -> bool {
        let class = usize::from(class);
        self.ends_at[class] = ends_at;
        // An earlier event finds the later end and schedules the next check.
        let is_first = ends_at < self.looks_at[class];
        if is_first {
            self.looks_at[class] = ends_at;
        }
        is_first
    }

    /// Cancels the pause of `class`.
    pub fn take_back(&mut self, class: u8) {
        self.ends_at[usize::from(class)] = Time::NEVER;
    }

    /// Returns whether any of `classes`, one bit each, is paused at `now`.
    pub fn is_active(&self, now: Time, classes: u8) -> bool {
        let is_paused = |class: usize| self.ends_at[class] > now && self.ends_at[class] != Time::NEVER;
        (0..8).any(|class| classes >> class & 1 == 1 && is_paused(class))
    }

    /// Handles the event for `class` at `now`.
    pub fn look(&mut self, class: u8, now: Time) -> PauseEnd {
        let class = usize::from(class);
        // A frame with a shorter pause scheduled an earlier event, which replaced this one.
        if self.looks_at[class] != now {
            return PauseEnd::Nothing;
        }
        let ends_at = self.ends_at[class];
        self.looks_at[class] = Time::NEVER;
        if ends_at == Time::NEVER {
            PauseEnd::Nothing
        } else if ends_at > now {
            self.looks_at[class] = ends_at;
            PauseEnd::Later(ends_at)
        } else {
            PauseEnd::Over
        }
    }
}

impl State for Pauses {
    /// A time without an event is meaningless.
    fn tell(&self, digest: &mut Digest<'_>) {
        for (&ends_at, &looks_at) in self.ends_at.iter().zip(&self.looks_at) {
            digest.deadline(looks_at);
            if looks_at != Time::NEVER {
                digest.deadline(ends_at);
            }
        }
    }
}

/// The result of checking a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseEnd {
    /// The pause has ended: the class resumes now.
    Over,
    /// A later frame has extended the pause.
    Later(Time),
    /// The pause was cancelled, or another event checks it.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frame_says_how_long_the_pause_lasts() {
        let mut pauses = Pauses::default();
        assert!(pauses.begin(3, Time(1_000)));
        assert!(pauses.begin(3, Time(200)), "a shorter pause needs an event of its own");
        assert_eq!(pauses.look(3, Time(200)), PauseEnd::Over);
        assert!(pauses.begin(3, Time(5_000)));
        // The first frame's event.
        assert_eq!(pauses.look(3, Time(1_000)), PauseEnd::Nothing);
        assert!(!pauses.begin(3, Time(7_000)), "the event at 5,000 looks again");
        assert_eq!(pauses.look(3, Time(5_000)), PauseEnd::Later(Time(7_000)));
        pauses.take_back(3);
        assert_eq!(pauses.look(3, Time(7_000)), PauseEnd::Nothing);
    }
}
