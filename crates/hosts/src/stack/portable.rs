//! Exponential and logarithm with the same bits on every machine.
//!
//! The standard library uses the platform's mathematics library, and the last bit differs between platforms; a delay
//! that differs by one picosecond would change a run. These functions use only IEEE additions, multiplications and
//! divisions.

use std::f64::consts::LN_2;

/// Maximum magnitude of arguments to [`exponential`]; e^±80 is far beyond any delay.
const LIMIT: f64 = 80.0;
/// Enough terms of the series for arguments up to ln(2)/2.
const TERMS: u32 = 16;

/// Returns e^x to about 15 digits; arguments are clamped to ±80.
pub fn exponential(x: f64) -> f64 {
    let x = x.clamp(-LIMIT, LIMIT);
    // x = halvings * ln 2 + rest, so e^x = 2^halvings * e^rest with a small rest.
    let halvings = (x / LN_2).round();
    let rest = x - halvings * LN_2;
    let series = (1..=TERMS).rev().fold(1.0, |sum, term| 1.0 + rest * sum / f64::from(term));
    series * power_of_two(halvings as i32)
}

fn power_of_two(exponent: i32) -> f64 {
    let factor = if exponent < 0 { 0.5 } else { 2.0 };
    (0..exponent.abs()).fold(1.0, |product, _| product * factor)
}

/// Returns ln(x) for x between e^-80 and e^80, by Halley's iteration on [`exponential`].
pub fn logarithm(x: f64) -> f64 {
    let mut estimate = 0.0;
    // It converges cubically once within one of the result; before that it moves by almost 2 per step.
    for _ in 0..64 {
        let power = exponential(estimate);
        estimate += 2.0 * (x - power) / (x + power);
    }
    estimate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_platform_to_fourteen_digits() {
        for step in -700..=700 {
            let x = f64::from(step) / 10.0;
            assert!((exponential(x) / x.exp() - 1.0).abs() < 1e-13, "e^{x}");
            assert!((logarithm(x.exp()) - x).abs() < 1e-12 * x.abs().max(1.0), "ln(e^{x})");
        }
    }
}
