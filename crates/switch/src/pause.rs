//! Pause frames of the link partner: which traffic classes wait, and until when (IEEE 802.1Qbb).

use hitless_core::wire::Time;

use crate::explore::{Digest, State};

/// Until when the partner's pause frames stop each traffic class.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(crate) struct Pauses {
    /// [`Time::NEVER`]: a frame has taken the pause back.
    ends_at: [Time; 8],
    /// When the next event looks whether the pause of a class is over; [`Time::NEVER`]: none does.
    looks_at: [Time; 8],
}

impl Default for Pauses {
    fn default() -> Self {
        Self { ends_at: [Time::ZERO; 8], looks_at: [Time::NEVER; 8] }
    }
}

impl Pauses {
    /// A frame pauses `class` until `ends_at`, however long the frame before it has asked for (IEEE 802.3, annex 31B:
    /// the newest time counts); returns whether an event must be scheduled for then.
    pub fn begin(&mut self, class: u8, ends_at: Time) -> bool {
        let class = usize::from(class);
        self.ends_at[class] = ends_at;
        let is_first = ends_at < self.looks_at[class];
        if is_first {
            self.looks_at[class] = ends_at;
        }
        is_first
    }

    /// A frame has taken the pause of `class` back.
    pub fn take_back(&mut self, class: u8) {
        self.ends_at[usize::from(class)] = Time::NEVER;
    }

    /// Whether any class is paused at `now`.
    pub fn is_active(&self, now: Time) -> bool {
        self.ends_at.iter().any(|&ends_at| ends_at > now && ends_at != Time::NEVER)
    }

    /// An event for `class` looks, at `now`.
    pub fn look(&mut self, class: u8, now: Time) -> PauseEnd {
        let class = usize::from(class);
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
    /// A time at which nobody looks means nothing.
    fn tell(&self, digest: &mut Digest<'_>) {
        for (&ends_at, &looks_at) in self.ends_at.iter().zip(&self.looks_at) {
            digest.deadline(looks_at);
            if looks_at != Time::NEVER {
                digest.deadline(ends_at);
            }
        }
    }
}

/// The result of a look at a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseEnd {
    /// Nobody has taken it back: the class goes on now.
    Over,
    /// A further frame has prolonged it.
    Later(Time),
    /// A frame has taken it back, or another event looks.
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
        // The event of the first frame.
        assert_eq!(pauses.look(3, Time(1_000)), PauseEnd::Nothing);
        assert!(!pauses.begin(3, Time(7_000)), "the event at 5,000 looks again");
        assert_eq!(pauses.look(3, Time(5_000)), PauseEnd::Later(Time(7_000)));
        pauses.take_back(3);
        assert_eq!(pauses.look(3, Time(7_000)), PauseEnd::Nothing);
    }
}
