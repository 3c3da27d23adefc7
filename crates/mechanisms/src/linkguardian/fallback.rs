//! Automatic fallback: the level of protection for a link, from its receiver's counters (paper, section 5, "Automatic
//! fallback", proposes it as an extension).
//!
//! In-order delivery costs time for each loss, and at high loss rates most of the link's speed. Without order the cost
//! is small, and above some rate no protection is worth its frames. Lowering the level takes
//! [`FallbackSettings::bad_periods`] consecutive bad periods. Raising it takes a time without them, which doubles each
//! time it was too short.

use crate::linkguardian::headers::Level;
use hitless_core::wire::{Duration, Time};

use super::settings::FallbackSettings;

#[derive(Clone, Copy, Debug, hitless_core::state::State)]
pub struct Fallback {
    #[configured]
    config: FallbackSettings,
    level: Level,
    frames: u64,
    losses: u64,
    bad_periods: u32,
    low_since: Option<Time>,
    hold: Duration,
    recovered_at: Option<Time>,
    changes: u64,
}

impl Fallback {
    pub fn new(config: FallbackSettings) -> Self {
        Self {
            config,
            level: Level::AsCommanded,
            frames: 0,
            losses: 0,
            bad_periods: 0,
            low_since: None,
            hold: config.hold,
            recovered_at: None,
            changes: 0,
        }
    }

    pub const fn level(&self) -> Level {
        self.level
    }

    pub const fn changes(&self) -> u64 {
        self.changes
    }

    pub fn observe(&mut self, now: Time, frames: u64, losses: u64) {
        self.frames += frames;
        self.losses += losses;
        // A loss rate of a few frames would be noise.
        if self.frames < self.config.frames_min {
            return;
        }
        let (frames, losses) = (std::mem::take(&mut self.frames), std::mem::take(&mut self.losses));
        assert!(
            self.hold <= self.config.hold_max.max(self.config.hold),
            "a recovery waits no longer than the longest hold"
        );
        let is_above = |rate: f64| losses as f64 > rate * frames as f64;
        let wanted = match (is_above(self.config.off_above), is_above(self.config.non_blocking_above)) {
            (true, _) => Level::Off,
            (false, true) => Level::NonBlocking,
            (false, false) => Level::AsCommanded,
        };
        if wanted > self.level {
            return self.note_bad_period(now, wanted);
        }
        self.bad_periods = 0;
        if self.level == Level::AsCommanded {
            return;
        }
        if is_above(self.recovery_rate()) {
            self.low_since = None;
            return;
        }
        let low_since = *self.low_since.get_or_insert(now);
        if now.saturating_since(low_since) >= self.hold {
            self.recover(now);
        }
    }

    fn recovery_rate(&self) -> f64 {
        // Below the rate that led here by a share, so that a rate at the limit does not change the level again and
        // again.
        let led_here = if self.level == Level::Off { self.config.off_above } else { self.config.non_blocking_above };
        led_here * self.config.recovery_share
    }

    fn note_bad_period(&mut self, now: Time, wanted: Level) {
        self.low_since = None;
        self.bad_periods += 1;
        if self.bad_periods < self.config.bad_periods {
            return;
        }
        self.bad_periods = 0;
        self.level = wanted;
        self.changes += 1;
        // A fall soon after a recovery shows that the recovery was premature: the next one waits twice as long.
        self.hold = match self.recovered_at {
            Some(recovered_at) if now.saturating_since(recovered_at) < self.config.hold_max => {
                (self.hold * 2).min(self.config.hold_max)
            }
            _ => self.config.hold,
        };
    }

    fn recover(&mut self, now: Time) {
        self.level = if self.level == Level::Off { Level::NonBlocking } else { Level::AsCommanded };
        self.changes += 1;
        self.low_since = None;
        self.recovered_at = Some(now);
    }

    /// The maximum number of changes in a time `span`. After a premature recovery the next one takes twice as long, up
    /// to the maximum hold; at most two recoveries make up for one fall; and after a quiet time as long as the maximum
    /// hold, this sequence may begin again.
    pub fn changes_max(config: &FallbackSettings, span: Duration) -> u64 {
        let doublings = u64::from((config.hold_max / config.hold).max(1).ilog2()) + 1;
        let longest_holds = span / config.hold_max;
        3 * (doublings + 1) * (longest_holds + 1)
    }
}

#[cfg(test)]
mod tests;
