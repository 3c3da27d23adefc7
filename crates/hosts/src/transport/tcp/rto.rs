//! The round-trip time estimator and the retransmission timeout (RFC 6298).

use super::settings::{RtoFormula, TcpSettings};
use hitless_core::wire::Duration;

/// Smoothed round-trip time, its variation, and the resulting timeout.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct RttEstimator {
    /// SRTT; zero before the first sample.
    srtt: Duration,
    /// RTTVAR.
    rttvar: Duration,
    /// Timeout with backoff.
    rto: Duration,
    /// Minimum of the samples (RFC 8985: RACK.min_RTT).
    min_rtt: Duration,
    /// Bounds of the variance term, and of the timeout: the only difference between the formulas.
    spread_min: Duration,
    rto_min: Duration,
    rto_max: Duration,
}

impl RttEstimator {
    pub fn new(config: &TcpSettings) -> Self {
        let (spread_min, rto_min) = match config.rto_formula {
            // RFC 6298, sections 2.3 and 2.4; the clock is exact, so its granularity G is zero.
            RtoFormula::Rfc6298 => (Duration::ZERO, config.rto_min),
            RtoFormula::Linux => (config.rto_min, Duration::ZERO),
        };
        Self {
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            rto: config.rto_initial,
            min_rtt: Duration::MAX,
            spread_min,
            rto_min,
            rto_max: config.rto_max,
        }
    }

    /// Adds a round-trip sample; this ends the backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
        if self.srtt == Duration::ZERO {
            // RFC 6298, section 2.2.
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            // RFC 6298, section 2.3: beta = 1/4, alpha = 1/8; RTTVAR first.
            let error = Duration(self.srtt.0.abs_diff(rtt.0));
            self.rttvar = Duration(self.rttvar.0 - self.rttvar.0 / 4 + error.0 / 4);
            self.srtt = Duration(self.srtt.0 - self.srtt.0 / 8 + rtt.0 / 8);
        }
        self.rto = self.plain();
        debug_assert!(self.min_rtt <= rtt && self.rto > Duration::ZERO, "a timeout of {:?}", self.rto);
    }

    /// Returns the timeout without backoff.
    #[inline]
    fn plain(&self) -> Duration {
        let spread = (self.rttvar * 4).max(self.spread_min);
        // RFC 6298, section 2.5, allows a maximum of 60 s or more; a scenario can set a lower one.
        (self.srtt + spread).max(self.rto_min).min(self.rto_max)
    }

    /// Doubles the timeout (RFC 6298, section 5.5); the next sample resets it.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.rto_max);
    }

    /// Returns how often the timeout has doubled since the latest sample; 0 before the first.
    pub fn doublings(&self) -> u32 {
        let (mut plain, mut count) = (self.plain(), 0);
        while self.srtt != Duration::ZERO && plain < self.rto {
            plain = plain * 2;
            count += 1;
        }
        count
    }

    #[inline]
    pub fn rto(&self) -> Duration {
        self.rto
    }

    /// Returns the smoothed round-trip time, if there was a sample.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        (self.srtt != Duration::ZERO).then_some(self.srtt)
    }

    /// Returns the minimum sample; [`Duration::MAX`] before the first.
    #[inline]
    pub fn min_rtt(&self) -> Duration {
        self.min_rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(formula: RtoFormula, rto_min: Duration) -> RttEstimator {
        let config = TcpSettings { rto_formula: formula, rto_min, ..TcpSettings::default() };
        RttEstimator::new(&config)
    }

    #[test]
    fn the_timeout_follows_rfc_6298() {
        let mut rtt = estimator(RtoFormula::Rfc6298, Duration::ZERO);
        assert_eq!(rtt.rto(), Duration::from_seconds(1));
        // (sample, SRTT, RTTVAR) in microseconds, by sections 2.2 and 2.3.
        let table = [(800, 800, 400), (800, 800, 300), (1600, 900, 425), (100, 800, 518)];
        for (sample, smoothed, variation) in table {
            rtt.sample(Duration::from_us(sample));
            assert_eq!(rtt.srtt, Duration::from_us(smoothed), "SRTT after {sample}");
            assert_eq!(rtt.rttvar / 1_000_000, Duration(variation), "RTTVAR after {sample}");
            assert_eq!(rtt.rto(), rtt.srtt + rtt.rttvar * 4, "RTO after {sample}");
        }
        assert_eq!(rtt.min_rtt(), Duration::from_us(100));
    }

    #[test]
    fn the_minimum_bounds_the_whole_or_the_variance() {
        let sample = Duration::from_us(30);
        let mut by_rfc = estimator(RtoFormula::Rfc6298, Duration::from_ms(1));
        let mut by_linux = estimator(RtoFormula::Linux, Duration::from_ms(1));
        by_rfc.sample(sample);
        by_linux.sample(sample);
        assert_eq!(by_rfc.rto(), Duration::from_ms(1));
        assert_eq!(by_linux.rto(), Duration::from_us(1_030));
    }

    #[test]
    fn backoff_doubles_to_the_maximum_and_ends_with_a_sample() {
        let mut rtt = estimator(RtoFormula::Rfc6298, Duration::from_ms(1));
        rtt.sample(Duration::from_us(30));
        assert_eq!(rtt.doublings(), 0);
        let timeouts: Vec<(u64, u32)> = (0..3)
            .map(|_| {
                rtt.back_off();
                (rtt.rto().0 / 1_000_000_000, rtt.doublings())
            })
            .collect();
        assert_eq!(timeouts, [(2, 1), (4, 2), (8, 3)]);
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Duration::from_seconds(120));
        rtt.sample(Duration::from_us(30));
        assert_eq!(rtt.rto(), Duration::from_ms(1));
    }
}
