//! What a flow is charged for a frame, by the weight of its class.

/// A weight of a class, as the factor by which bytes are charged: 65,536 / weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge(u32);

impl Charge {
    /// What is charged of weight 1: the bytes themselves.
    pub const WHOLE: Charge = Charge(1 << 16);

    /// The charge of a flow that may send `weight` times the bytes of a round in each round (above 1/1000, below 1000).
    ///
    /// # Panics
    /// With a weight outside of that.
    pub fn for_weight(weight: f64) -> Self {
        assert!((0.001..=1_000.0).contains(&weight), "a weight is between 0.001 and 1000, not {weight}");
        Charge((65_536.0 / weight).round() as u32)
    }

    /// The bytes that are charged for a frame; at least one.
    #[inline]
    pub fn of(self, frame_bytes: u32) -> u64 {
        if self == Self::WHOLE {
            return u64::from(frame_bytes);
        }
        ((u64::from(frame_bytes) * u64::from(self.0) + (1 << 15)) >> 16).max(1)
    }
}
