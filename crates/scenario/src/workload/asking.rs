//! Requests of clients before flows.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::normal;
use hitless_core::wire::Duration;
use hitless_hosts::Request;

/// Requests of one size, about which servers think for a normally distributed time, cut at 0.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Asking {
    #[configured]
    pub bytes: u64,
    #[configured]
    pub mean: Duration,
    #[configured]
    pub deviation: Duration,
    pub stream: Stream,
}

impl Asking {
    /// Returns the next request.
    pub fn request(&mut self) -> Request {
        let deviation_ps = self.deviation.as_ps() as f64;
        let think_ps = self.mean.as_ps() as f64 + deviation_ps * normal(&mut self.stream);
        Request { bytes: self.bytes, think: Duration(think_ps.round().max(0.0) as u64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::engine::RandomStreams;

    #[test]
    fn thinking_takes_its_mean_with_its_deviation_and_never_less_than_nothing() {
        let think = |mean_us: u64, deviation_us: u64| -> Vec<f64> {
            let stream = RandomStreams::new(3).stream("thinking");
            let [mean, deviation] = [mean_us, deviation_us].map(Duration::from_us);
            let mut asking = Asking { bytes: 250, mean, deviation, stream };
            (0..20_000).map(|_| asking.request().think.as_ps() as f64 / 1e6).collect()
        };
        let (mean, deviation) = moments(&think(20, 3));
        assert!((mean - 20.0).abs() < 0.1 && (deviation - 3.0).abs() < 0.1, "{mean} and {deviation}");
        let cut = think(0, 10);
        let none = cut.iter().filter(|&&think_us| think_us == 0.0).count();
        assert!((9_700..10_300).contains(&none), "{none} of 20,000 would be below 0");
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    }
}
