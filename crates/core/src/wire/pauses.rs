//! Pause frames received by a MAC: the start and the end of the pause of each traffic class (IEEE 802.1Qbb).
//!
//! A resume frame can be lost, so a pause ends at its time at the latest. An event is scheduled for this end; a longer
//! pause in the meantime reuses the event instead of scheduling another.

use crate::wire::{Duration, Time};

/// Returns whether `class` is in a set of traffic classes, one bit each.
pub const fn has_class(classes: u8, class: u8) -> bool {
    // IEEE 802.1Q has eight priorities; a pause frame has one bit for each (802.1Qbb).
    classes >> (class & 7) & 1 == 1
}

/// The pause of each traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct Pauses {
    /// Start of a pause that a frame has requested; [`Time::NEVER`] without a request.
    begins_at: [Time; 8],
    /// [`Time::NEVER`] means that a frame has cancelled the pause.
    ends_at: [Time; 8],
    /// Time of the next event that checks whether the pause of a class is over; [`Time::NEVER`] means no event.
    looks_at: [Time; 8],
    /// Start of the current pause; [`Time::NEVER`] without one.
    began_at: [Time; 8],
    /// Duration of all earlier pauses, added over the classes.
    earlier: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            begins_at: [Time::NEVER; 8],
            ends_at: [Time::ZERO; 8],
            looks_at: [Time::NEVER; 8],
            began_at: [Time::NEVER; 8],
            earlier: Duration::ZERO,
        }
    }
}

impl Pauses {
    /// Records a pause frame that takes effect at `begins_at`; returns whether an event must be scheduled for that
    /// time. A class that is paused, or about to be, only gets the new end.
    pub fn announce(&mut self, class: u8, begins_at: Time, ends_at: Time) -> bool {
        let class = usize::from(class);
        self.ends_at[class] = ends_at;
        let is_new = self.begins_at[class] == Time::NEVER;
        if is_new {
            self.begins_at[class] = begins_at;
        }
        is_new
    }

    /// Handles the event of [`Self::announce`] at `now`. Returns the end of the pause, or `None` if a frame has
    /// cancelled it.
    pub fn take_announced(&mut self, class: u8, now: Time) -> Option<Time> {
        let class = usize::from(class);
        if self.begins_at[class] != now {
            return None;
        }
        self.begins_at[class] = Time::NEVER;
        Some(self.ends_at[class]).filter(|&ends_at| ends_at > now)
    }

    /// Pauses `class` from `now` to `ends_at`; returns whether an event must be scheduled for the end. The newest frame
    /// counts, however long an earlier frame's pause was (IEEE 802.3, annex 31B).
    pub fn begin(&mut self, class: u8, now: Time, ends_at: Time) -> bool {
        let class = usize::from(class);
        self.ends_at[class] = ends_at;
        self.began_at[class] = self.began_at[class].min(now);
        // An earlier event finds the later end and schedules the next check.
        let is_first = ends_at < self.looks_at[class];
        if is_first {
            self.looks_at[class] = ends_at;
        }
        is_first
    }

    pub fn take_back(&mut self, class: u8) {
        self.begins_at[usize::from(class)] = Time::NEVER;
        self.ends_at[usize::from(class)] = Time::NEVER;
    }

    /// Records that `class` waits for credit from now on.
    pub fn note_paused(&mut self, class: u8, now: Time) {
        let began_at = &mut self.began_at[usize::from(class)];
        *began_at = (*began_at).min(now);
    }

    pub fn note_resumed(&mut self, class: u8, now: Time) {
        let began_at = std::mem::replace(&mut self.began_at[usize::from(class)], Time::NEVER);
        self.earlier = Duration(self.earlier.0 + now.saturating_since(began_at).0);
    }

    /// Returns whether any of `classes`, one bit each, is paused at `now`.
    pub fn is_active(&self, now: Time, classes: u8) -> bool {
        let is_paused = |class: usize| {
            let (begins_at, ends_at) = (self.begins_at[class], self.ends_at[class]);
            begins_at == Time::NEVER && ends_at > now && ends_at != Time::NEVER
        };
        (0..8).any(|class| has_class(classes, class) && is_paused(usize::from(class)))
    }

    /// Returns the start of the current pause of `class`.
    pub fn began_at(&self, class: u8) -> Option<Time> {
        Some(self.began_at[usize::from(class)]).filter(|&began_at| began_at != Time::NEVER)
    }

    /// Returns the time that classes were paused until `now`, added over the classes.
    pub fn paused_time(&self, now: Time) -> Duration {
        self.began_at.iter().fold(self.earlier, |sum, &began_at| Duration(sum.0 + now.saturating_since(began_at).0))
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

    /// Returns the pending event of each class, and the end of its pause.
    pub fn events(&self) -> impl Iterator<Item = (Time, Time)> + '_ {
        self.looks_at.iter().copied().zip(self.ends_at.iter().copied())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseEnd {
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
        let now = Time::ZERO;
        assert!(pauses.begin(3, now, Time(1_000)));
        assert!(pauses.begin(3, now, Time(200)), "a shorter pause needs an event of its own");
        assert_eq!(pauses.look(3, Time(200)), PauseEnd::Over);
        assert!(pauses.begin(3, now, Time(5_000)));
        // The first frame's event.
        assert_eq!(pauses.look(3, Time(1_000)), PauseEnd::Nothing);
        assert!(!pauses.begin(3, now, Time(7_000)), "the event at 5,000 looks again");
        assert_eq!(pauses.look(3, Time(5_000)), PauseEnd::Later(Time(7_000)));
        pauses.take_back(3);
        assert_eq!(pauses.look(3, Time(7_000)), PauseEnd::Nothing);
    }

    #[test]
    fn a_pause_begins_after_the_response_time_unless_it_is_cancelled_before() {
        let mut pauses = Pauses::default();
        assert!(pauses.announce(3, Time(100), Time(900)));
        assert!(!pauses.announce(3, Time(150), Time(950)), "the first frame's event is enough");
        assert!(!pauses.is_active(Time(50), u8::MAX));
        assert_eq!(pauses.take_announced(3, Time(100)), Some(Time(950)));
        pauses.begin(3, Time(100), Time(950));
        assert!(pauses.is_active(Time(100), 1 << 3) && !pauses.is_active(Time(100), 1 << 2));
        pauses.take_back(3);
        pauses.note_resumed(3, Time(300));
        assert!(pauses.announce(3, Time(400), Time(1_200)));
        pauses.take_back(3);
        assert_eq!(pauses.take_announced(3, Time(400)), None);
        assert_eq!(pauses.paused_time(Time(5_000)), Duration(200));
    }
}
