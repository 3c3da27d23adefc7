//! The effect of LinkGuardian on a corrupting link.

use hitless_core::wire::BitRate;

use crate::LossRate;

/// A protected link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protection {
    /// Remaining loss rate.
    pub effective: LossRate,
    /// Remaining speed, in hundredths of a percent.
    pub speed_per_10_000: u64,
}

impl Protection {
    /// Remaining speed for the link rate `rate`, in bits per second.
    pub fn speed_bps(&self, rate: BitRate) -> u64 {
        (u128::from(rate.as_bps()) * u128::from(self.speed_per_10_000) / 10_000) as u64
    }
}

/// Measured loss rates, with remaining loss and speed, in blocking mode at 100G.
///
/// This is the published simulator's table. The first three rows are the paper's (figure 8); the last, for 1e-2, is not
/// in the paper. We assume that a link of another speed keeps the same share of it, which the paper does not say.
const MEASURED: [(f64, Protection); 4] = [
    (1.43e-5, Protection { effective: LossRate::constant(5.97e-10), speed_per_10_000: 9_876 }),
    (9.16e-5, Protection { effective: LossRate::constant(7.56e-9), speed_per_10_000: 9_874 }),
    (1.16e-3, Protection { effective: LossRate::constant(1.29e-9), speed_per_10_000: 9_088 }),
    (1e-2, Protection { effective: LossRate::constant(1e-8), speed_per_10_000: 6_000 }),
];

/// Returns the effect on a link with this loss: the nearest measurement on a linear scale, or the first of two equally
/// near ones.
pub fn protection(loss: LossRate) -> Protection {
    let distance = |measured: f64| (loss.as_f64() - measured).abs();
    let nearer = |best: (f64, Protection), next: (f64, Protection)| {
        if distance(next.0) < distance(best.0) { next } else { best }
    };
    MEASURED.into_iter().reduce(nearer).expect("the table has rows").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_measurement_counts() {
        let cases = [
            (1e-8, 5.97e-10),
            (5.29e-5, 5.97e-10),
            (5.30e-5, 7.56e-9),
            (6.25e-4, 7.56e-9),
            (6.26e-4, 1.29e-9),
            (5.57e-3, 1.29e-9),
            (5.59e-3, 1e-8),
            (1.0, 1e-8),
        ];
        for (loss, effective) in cases {
            let found = protection(LossRate::new(loss).unwrap());
            assert_eq!(found.effective.as_f64(), effective, "at {loss}");
        }
    }

    #[test]
    fn the_speed_of_a_100g_link_is_a_whole_number_of_bits() {
        let found = protection(LossRate::new(1e-3).unwrap());
        assert_eq!(found.speed_bps(BitRate::from_gbps(100)), 90_880_000_000);
    }
}
