//! The charge of a frame to its flow, by the weight of its class.

/// The weight of a class as a factor for charged bytes: 65,536 / weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge(u32);

impl Charge {
    /// The charge for weight 1: the bytes themselves.
    pub const WHOLE: Charge = Charge(1 << 16);

    /// The charge of a flow that may send `weight` times the bytes of a round in each round (1/1000 to 1000).
    ///
    /// # Panics If the weight is out of range.
    pub fn for_weight(weight: f64) -> Self {
        assert!((0.001..=1_000.0).contains(&weight), "a weight is between 0.001 and 1000, not {weight}");
        Charge((65_536.0 / weight).round() as u32)
    }

    /// The bytes charged for a frame, at least 1.
    #[inline]
    pub fn of(self, frame_bytes: u32) -> u64 {
        if self == Self::WHOLE {
            return u64::from(frame_bytes);
        }
        // Rounded to the nearest byte. A charge of 0 would let a flow of small frames send without limit.
        ((u64::from(frame_bytes) * u64::from(self.0) + (1 << 15)) >> 16).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_is_the_frame_by_its_weight_rounded_and_at_least_a_byte() {
        let table = [(1.0, 1_518, 1_518), (2.0, 1_001, 501), (2.0, 1_000, 500), (3.0, 1_000, 333), (1_000.0, 64, 1)];
        for (weight, frame_bytes, charged) in table {
            assert_eq!(Charge::for_weight(weight).of(frame_bytes), charged, "{frame_bytes} bytes of weight {weight}");
        }
        assert_eq!(Charge::for_weight(0.001).of(1_000), 1_000_000);
    }
}
