//! Loss rates, and sums of them without drift.

use std::ops::{Add, AddAssign, SubAssign};

/// The share of frames that a link corrupts, above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LossRate(f64);

impl LossRate {
    /// The loss rate of a sound link: the published simulator's floor of 1e-18.
    pub const SOUND: LossRate = LossRate(1e-18);

    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate <= 1.0).then_some(Self(rate))
    }

    pub const fn as_f64(self) -> f64 {
        self.0
    }

    pub fn as_sum(self) -> LossSum {
        // A rate is mantissa * 2^(exponent - 1075); units are 2^-100. At most 1, so the shift left is 48 at most.
        // Subnormal numbers (IEEE 754) have exponent 0, no hidden bit, and the weight of exponent 1.
        let bits = self.0.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        let mantissa = i128::from((bits & 0x000f_ffff_ffff_ffff) | (u64::from(exponent > 0) << 52));
        let shift = exponent.max(1) - (1075 - UNIT_BITS);
        LossSum(if shift >= 0 { mantissa << shift } else { mantissa.checked_shr(-shift as u32).unwrap_or(0) })
    }
}

const UNIT_BITS: i32 = 100;

/// A sum of loss rates in units of 2^-100. It is exact after any additions and subtractions, for rates of 2^-48 (4e-15)
/// and more, and for up to 2^27 links.
///
/// A year adds and subtracts rates between 1e-10 and 1e-2 hundreds of thousands of times. In floating point, the
/// remainder of a large rate would finally exceed the small ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossSum(i128);

impl LossSum {
    pub const ZERO: LossSum = LossSum(0);

    /// Divides by 2^`bits`, rounding down.
    #[must_use]
    pub const fn shrunk(self, bits: u32) -> LossSum {
        LossSum(self.0 >> bits)
    }

    pub fn as_f64(self) -> f64 {
        self.0 as f64 / (1u128 << UNIT_BITS) as f64
    }
}

impl Add for LossSum {
    type Output = LossSum;

    fn add(self, other: LossSum) -> LossSum {
        LossSum(self.0 + other.0)
    }
}

impl AddAssign for LossSum {
    fn add_assign(&mut self, other: LossSum) {
        self.0 += other.0;
    }
}

impl SubAssign for LossSum {
    fn sub_assign(&mut self, other: LossSum) {
        self.0 -= other.0;
    }
}

impl std::iter::Sum for LossSum {
    fn sum<I: Iterator<Item = LossSum>>(sums: I) -> LossSum {
        sums.fold(LossSum::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rate_alone_is_its_own_sum(rate in 4e-15f64..=1.0) {
            prop_assert_eq!(LossRate::new(rate).unwrap().as_sum().as_f64(), rate);
        }

        #[test]
        fn what_is_taken_out_leaves_nothing_behind(rates in prop::collection::vec(4e-15f64..=1.0, 1..50)) {
            let sums: Vec<_> = rates.iter().map(|&rate| LossRate::new(rate).unwrap().as_sum()).collect();
            let mut total: LossSum = sums.iter().copied().sum();
            sums.iter().rev().for_each(|&sum| total -= sum);
            prop_assert_eq!(total, LossSum::ZERO);
        }

        #[test]
        fn any_number_either_is_a_rate_or_is_refused(bits in any::<u64>()) {
            if let Some(rate) = LossRate::new(f64::from_bits(bits)) {
                prop_assert!(rate.as_sum().as_f64() <= rate.as_f64());
            }
        }
    }

    #[test]
    fn a_rate_lies_above_zero_and_is_one_at_most() {
        for (rate, accepted) in
            [(0.0, false), (-1e-3, false), (f64::NAN, false), (1.1, false), (1.0, true), (1e-18, true)]
        {
            assert_eq!(LossRate::new(rate).is_some(), accepted, "{rate}");
        }
    }
}
