//! A frame that arrives, and the chance of losing it.

use hitless_core::engine::Stream;
use hitless_core::wire::Time;
use rand::Rng;

/// What a loss model knows of a frame.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingFrame {
    /// When its last bit arrives.
    pub at: Time,
    /// Its length, check sequence included.
    pub frame_bytes: u32,
    /// Whether a mechanism of the link sends it again.
    pub is_link_retransmission: bool,
}

/// A probability as a threshold for 64 random bits, so that no rounding of a library decides.
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
