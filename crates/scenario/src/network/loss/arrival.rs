//! An arriving frame, and the chance of losing it.

use hitless_core::engine::Stream;
use hitless_core::wire::Time;
use rand::Rng;

/// The properties of a frame that a loss model uses.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingFrame {
    /// Arrival time of the last bit.
    pub at: Time,
    /// Length, including the check sequence.
    pub frame_bytes: u32,
    /// Whether it is a retransmission by a mechanism of the link.
    pub is_link_retransmission: bool,
}

/// A probability as a threshold for 64 random bits, so that the result does not depend on a library's rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub fn of(probability: f64) -> Self {
        const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        Self((probability * TWO_TO_THE_64) as u64)
    }

    #[inline]
    pub fn draw(self, stream: &mut Stream) -> bool {
        stream.next_u64() < self.0
    }
}
