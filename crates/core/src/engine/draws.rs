//! Draws from a stream, and the logarithm and exponential they need, bit-identical on every machine.
//!
//! Addition, multiplication and division are exact to the bit everywhere (IEEE 754); the logarithms and powers of
//! system libraries are not. Hence our own, accurate to a few units in the last place.

use rand::Rng;

use crate::engine::Stream;

/// Draws uniformly from [0, 1), a multiple of 2^-53.
#[inline]
pub fn unit(stream: &mut Stream) -> f64 {
    (stream.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Draws uniformly from `0..count` (Lemire 2019, without the rejection step: the bias is below count / 2^64).
///
/// # Panics
/// When `count` is zero.
#[inline]
pub fn below(stream: &mut Stream, count: usize) -> usize {
    assert!(count > 0, "drawn from nothing");
    ((u128::from(stream.next_u64()) * count as u128) >> 64) as usize
}

/// Draws from the exponential distribution with mean 1.
#[inline]
pub fn exponential(stream: &mut Stream) -> f64 {
    -ln(1.0 - unit(stream))
}

/// Draws from the standard normal distribution by the polar method (Marsaglia and Bray 1964); uses the first number of
/// each pair.
pub fn normal(stream: &mut Stream) -> f64 {
    loop {
        let [x, y] = [unit(stream), unit(stream)].map(|unit| 2.0 * unit - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            // The square root is exact to the bit everywhere (IEEE 754).
            return x * (-2.0 * ln(square) / square).sqrt();
        }
    }
}

const LN_2: f64 = std::f64::consts::LN_2;

/// Natural logarithm of a positive normal number.
pub fn ln(value: f64) -> f64 {
    // value = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), a range in which the series converges
    // fast.
    let bits = value.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)); the argument is below 0.172, so 11 terms reach 1e-18.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..11).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    2.0 * ratio * series + f64::from(exponent) * LN_2
}

/// Exponential function, for results that are normal numbers.
pub fn exp(value: f64) -> f64 {
    // value = power * ln 2 + rest with |rest| < 0.35, where 15 terms of the series reach 1e-19.
    let power = (value / LN_2).round();
    let rest = value - power * LN_2;
    let series = (1..16).rev().fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    series * f64::from_bits(((power as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RandomStreams;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ln_and_exp_agree_with_the_system_library(exponent in -30.0f64..30.0) {
            let value = exponent.exp();
            prop_assert!((ln(value) - value.ln()).abs() <= 1e-14 * value.ln().abs().max(1.0));
            prop_assert!((exp(exponent) - value).abs() <= 1e-13 * value);
        }
    }

    #[test]
    fn draws_have_the_right_means() {
        let mut stream = RandomStreams::new(1).stream("means");
        let count = 200_000;
        let mean = |total: f64| total / f64::from(count);
        assert!((mean((0..count).map(|_| unit(&mut stream)).sum()) - 0.5).abs() < 0.005);
        assert!((mean((0..count).map(|_| exponential(&mut stream)).sum()) - 1.0).abs() < 0.01);
        assert!(mean((0..count).map(|_| normal(&mut stream)).sum()).abs() < 0.01);
        assert!((mean((0..count).map(|_| normal(&mut stream).powi(2)).sum()) - 1.0).abs() < 0.02);
        assert!((mean((0..count).map(|_| below(&mut stream, 7) as f64).sum()) - 3.0).abs() < 0.03);
    }

    #[test]
    fn the_logarithm_never_changes_between_machines() {
        assert_eq!(ln(0.1).to_bits(), 0xc002_6bb1_bbb5_5515);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(exp(0.0), 1.0);
    }
}
