//! Corruption and failure of a link.

use hitless_core::engine::Stream;
use hitless_core::wire::{BitRate, Duration, Time};
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::{ArrivingFrame, Corruption, LossModel};

/// The fate of a frame on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives intact.
    Arrives,
    /// It arrives with a wrong frame check sequence.
    Corrupted,
    /// The link was down while the frame was in flight.
    LostDown,
}

/// Corruption and failure of one direction of a link, with counters.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct Impairment {
    /// `None` until a loss model is set.
    #[part]
    corruption: Option<Corruption>,
    /// Time of the last failure; `Time::NEVER` while the link is up.
    down_since: Time,
    /// Time of the last repair.
    up_since: Time,
    /// Frames that arrived corrupted.
    pub corrupted: u64,
    /// Frames lost because the link was down.
    pub lost_down: u64,
}

impl Default for Impairment {
    fn default() -> Self {
        Self { corruption: None, down_since: Time::NEVER, up_since: Time::ZERO, corrupted: 0, lost_down: 0 }
    }
}

impl Impairment {
    /// Whether a loss model has been set.
    pub fn corrupts(&mut self) -> bool {
        self.corruption.is_some()
    }

    /// Sets the loss model; `stream` provides the random numbers if the link lacks a stream.
    pub fn set_loss(&mut self, model: &LossModel, line_rate: BitRate, stream: impl FnOnce() -> Stream) {
        match &mut self.corruption {
            Some(corruption) => corruption.set(model, line_rate),
            None => self.corruption = Some(Corruption::new(model, line_rate, stream())),
        }
    }

    /// Removes the loss model.
    pub fn clear_loss(&mut self) {
        self.corruption = None;
    }

    /// Number of runs of 1, 2, ... consecutive corrupted frames.
    pub fn corrupted_runs(&self) -> &[u64] {
        self.corruption.as_ref().map_or(&[], Corruption::runs)
    }

    /// Takes the link down or up.
    pub fn set_state(&mut self, now: Time, state: LinkState) {
        assert!(self.up_since <= now, "a link comes up in the future");
        match state {
            LinkState::Down if self.down_since == Time::NEVER => self.down_since = now,
            LinkState::Up if self.down_since != Time::NEVER => {
                self.down_since = Time::NEVER;
                self.up_since = now;
            }
            _ => {}
        }
    }

    /// Since when the link has been down; `None` while it is up.
    pub fn down_since(&self) -> Option<Time> {
        (self.down_since != Time::NEVER).then_some(self.down_since)
    }

    /// Decides the fate of a frame that arrives after `delay` on the link.
    pub fn fate(&mut self, frame: ArrivingFrame, delay: Duration) -> Fate {
        let left_at = Time(frame.at.as_ps().saturating_sub(delay.as_ps()));
        // A frame is lost if the link was down at any time of its flight: also one that left before the repair and
        // arrives after it.
        if self.down_since <= frame.at || self.up_since > left_at {
            return Fate::LostDown;
        }
        let is_corrupted = self.corruption.as_mut().is_some_and(|corruption| corruption.strikes(frame));
        if is_corrupted { Fate::Corrupted } else { Fate::Arrives }
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::engine::RandomStreams;
    use hitless_scenario::network::loss::BernoulliLoss;

    use super::*;

    fn frame(at: u64) -> ArrivingFrame {
        ArrivingFrame { at: Time(at), frame_bytes: 1_518, is_link_retransmission: false }
    }

    #[test]
    fn a_frame_is_lost_that_was_under_way_while_the_link_was_down() {
        /// The changes of the link's state, the time of the frame's arrival, and its time in flight.
        type Case = (&'static [(u64, LinkState)], u64, u64, Fate);
        let table: [Case; 10] = [
            (&[], 0, 0, Fate::Arrives),
            (&[], 5, 9, Fate::Arrives),
            (&[(10, LinkState::Down)], 9, 3, Fate::Arrives),
            (&[(10, LinkState::Down)], 10, 3, Fate::LostDown),
            (&[(10, LinkState::Down), (20, LinkState::Down)], 15, 3, Fate::LostDown),
            (&[(10, LinkState::Down), (20, LinkState::Up)], 20, 1, Fate::LostDown),
            (&[(10, LinkState::Down), (20, LinkState::Up)], 20, 0, Fate::Arrives),
            (&[(10, LinkState::Down), (20, LinkState::Up)], 25, 5, Fate::Arrives),
            // A second "up" has no effect.
            (&[(10, LinkState::Down), (20, LinkState::Up), (23, LinkState::Up)], 25, 5, Fate::Arrives),
            (&[(4, LinkState::Up)], 5, 3, Fate::Arrives),
        ];
        for (states, at, delay, expected) in table {
            let mut impairment = Impairment::default();
            states.iter().for_each(|&(now, state)| impairment.set_state(Time(now), state));
            let fate = impairment.fate(frame(at), Duration(delay));
            assert_eq!(fate, expected, "{states:?}, a frame at {at} after {delay}");
        }
    }

    #[test]
    fn a_link_whose_loss_is_cleared_corrupts_nothing() {
        let mut impairment = Impairment::default();
        let all = LossModel::Bernoulli(BernoulliLoss { rate: 1.0, repair_rate: None });
        impairment.set_loss(&all, BitRate::from_gbps(10), || RandomStreams::new(1).stream("loss"));
        assert_eq!((impairment.corrupts(), impairment.fate(frame(5), Duration(1))), (true, Fate::Corrupted));
        impairment.clear_loss();
        assert_eq!((impairment.corrupts(), impairment.fate(frame(6), Duration(1))), (false, Fate::Arrives));
    }
}
