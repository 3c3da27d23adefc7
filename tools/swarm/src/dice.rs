//! Draws of a world: one stream for each part, so that a change of one part does not affect the others.

use hitless_core::engine::draws::{below, unit};
use hitless_core::engine::{RandomStreams, Stream};

/// Draws the values of a part of a world.
#[derive(Debug)]
pub struct Dice {
    stream: Stream,
}

impl Dice {
    /// Starts the stream of the part called `part`, for the world of a seed.
    pub fn new(seed: u64, part: &str) -> Self {
        Self { stream: RandomStreams::new(seed).stream(part) }
    }

    /// Draws a whole number from `low` to `high`, uniformly.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + below(&mut self.stream, (high - low + 1) as usize) as u64
    }

    /// Draws a whole number from `low` to `high`, with equal probability for each order of magnitude. One draw in eight
    /// is an end of the range, because bugs are often at the edges.
    pub fn scale(&mut self, low: u64, high: u64) -> u64 {
        match self.between(0, 15) {
            0 => low,
            1 => high,
            _ => {
                let digits = |value: u64| 64 - value.leading_zeros() as u64;
                let bits = self.between(digits(low), digits(high));
                let from = if bits == 0 { 0 } else { 1_u64 << (bits - 1) };
                // TOML's integers have 63 bits.
                let to = if bits >= 64 { u64::MAX / 2 } else { (1_u64 << bits) - 1 };
                self.between(from.max(low).min(high), to.min(high).max(low))
            }
        }
    }

    /// Returns true once in `times` draws.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// Draws a number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        unit(&mut self.stream)
    }

    /// Draws a value from a list.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        *self.one_of(from)
    }

    /// Draws a reference into a list.
    pub fn one_of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[below(&mut self.stream, from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_both_ends_and_nothing_beyond() {
        let mut dice = Dice::new(1, "test");
        for (low, high) in [(0, 0), (0, 1), (1, 16), (0, 65_535), (3, 1 << 40), (7, 9)] {
            let drawn: Vec<u64> = (0..400).map(|_| dice.scale(low, high)).collect();
            assert!(drawn.iter().all(|value| (low..=high).contains(value)), "{low} to {high}");
            assert!(drawn.contains(&low) && drawn.contains(&high), "{low} to {high}");
        }
    }
}
