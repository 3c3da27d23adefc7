//! Pause frames of the link partner: which traffic classes wait, and until when (IEEE 802.1Qbb).

use hitless_wire::Time;

use crate::explore::{Digest, State};

/// Until when the partner's pause frames stop each traffic class.
#[derive(Clone, Copy, Debug, Default, hitless_state::Value)]
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

impl State for Pauses {
    /// A time at which nobody looks means nothing.
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.value(self.watched);
        for (class, &ends_at) in self.ends_at.iter().enumerate() {
            if self.watched >> class & 1 == 1 {
                digest.deadline(ends_at);
            }
        }
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
