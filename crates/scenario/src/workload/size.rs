//! Distributions of flow sizes.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::{exp, ln, unit};

use super::cdf::Cdf;

/// A distribution of flow sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeSampler {
    Cdf(Cdf),
    Fixed(u64),
    Pareto(Pareto),
}

impl SizeSampler {
    /// Returns the mean in bytes of the drawn sizes, with which loads are computed.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            SizeSampler::Cdf(cdf) => cdf.mean_linear(),
            SizeSampler::Fixed(bytes) => *bytes as f64,
            SizeSampler::Pareto(pareto) => pareto.mean(),
        }
    }

    /// Draws a size in bytes, at least 1.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        match self {
            SizeSampler::Cdf(cdf) => cdf.sample(stream),
            SizeSampler::Fixed(bytes) => *bytes,
            SizeSampler::Pareto(pareto) => pareto.sample(stream),
        }
    }
}

/// A Pareto distribution, truncated at `largest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    shape: f64,
    smallest: f64,
    largest: f64,
    /// Share of the whole distribution up to `largest`.
    kept: f64,
}

impl Pareto {
    /// Makes a Pareto distribution of `shape` (above 1) with the mean `mean` bytes before truncation; `None` if the
    /// shape is at most 1, or if `largest` is not above the minimum.
    pub fn new(shape: f64, mean: f64, largest: f64) -> Option<Self> {
        let smallest = mean * (shape - 1.0) / shape;
        if shape <= 1.0 || largest <= smallest {
            return None;
        }
        let kept = 1.0 - exp(shape * ln(smallest / largest));
        Some(Self { shape, smallest, largest, kept })
    }

    pub fn mean(&self) -> f64 {
        let whole = self.shape * self.smallest / (self.shape - 1.0);
        let left_out = exp((self.shape - 1.0) * ln(self.smallest / self.largest));
        whole * (1.0 - left_out) / self.kept
    }

    fn sample(&self, stream: &mut Stream) -> u64 {
        let survival = 1.0 - unit(stream) * self.kept;
        let bytes = self.smallest * exp(-ln(survival) / self.shape);
        (bytes.round().min(self.largest) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::engine::RandomStreams;

    #[test]
    fn pareto_samples_match_their_mean_and_stay_in_range() {
        for (shape, largest) in [(1.1, 1e7), (1.5, 1e9), (3.0, 1e6)] {
            let pareto = Pareto::new(shape, 30_000.0, largest).unwrap();
            let mut stream = RandomStreams::new(7).stream("pareto");
            let sizes: Vec<u64> = (0..400_000).map(|_| pareto.sample(&mut stream)).collect();
            let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
            assert!((mean / pareto.mean() - 1.0).abs() < 0.05, "{shape}: {mean} for {}", pareto.mean());
            assert!(sizes.iter().all(|&size| size >= 1 && size as f64 <= largest));
        }
    }

    /// AFQ's synthetic workload (section 6.2.1), truncated at the default.
    #[test]
    fn a_pareto_of_shape_1_1_loses_a_quarter_of_its_mean_above_a_gigabyte() {
        let pareto = Pareto::new(1.1, 30_000.0, 1e9).unwrap();
        assert!((pareto.mean() - 21_669.0).abs() < 1.0, "{}", pareto.mean());
        assert!((1.0 / (1.0 - pareto.kept) - 1.32e6).abs() < 1e4, "one in {}", 1.0 / (1.0 - pareto.kept));
    }

    #[test]
    fn an_uncut_pareto_keeps_its_mean() {
        let pareto = Pareto::new(2.5, 30_000.0, 1e14).unwrap();
        assert!((pareto.mean() - 30_000.0).abs() < 1.0);
        assert_eq!(Pareto::new(1.0, 30_000.0, 1e9), None);
        assert_eq!(Pareto::new(2.0, 30_000.0, 10_000.0), None);
    }
}
