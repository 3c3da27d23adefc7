//! The paper's trace generator (LinkGuardian, appendix D), seeded.

use hitless_engine::draws::{below, exp, exponential, ln, unit};
use hitless_engine::{RandomStreams, Stream};

use super::{Failure, LATEST_S, Trace};
use crate::series::MARGIN_S;
use crate::slots::Slots;
use crate::topology::{LinkId, Topology};
use crate::{LossRate, Problem};

const HOUR_S: u64 = 3_600;

/// When links fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hazard {
    /// Mean time between the failures of a link, in hours (Meza et al., IMC 2018: at most 10,000).
    pub mean_hours: f64,
    /// Shape of the Weibull distribution: 1 for failures without memory, above 1 for links that age.
    pub weibull_shape: f64,
    /// Length of the trace from its first failure, in hours.
    pub duration_hours: u64,
    /// Failures of one link at most, as in the published generator.
    pub failures_per_link: usize,
}

impl Default for Hazard {
    /// The paper's year.
    fn default() -> Self {
        Self { mean_hours: 10_000.0, weibull_shape: 1.0, duration_hours: 9_000, failures_per_link: 10 }
    }
}

/// Shares of links by loss rate, in hundredths of a percent, cumulative, and the range that each is drawn from.
///
/// Table 1 of the paper (from CorrOpt, table 1), with the published generator's ranges; its third share is 21.67 %
/// where the paper prints 21.66 %.
const LOSS_RATES: [(usize, f64, f64); 4] =
    [(4_723, 1e-8, 9e-6), (6_566, 1e-5, 9.9e-5), (8_733, 1e-4, 9.99e-4), (10_000, 1e-3, 1e-2)];

impl Hazard {
    /// Refuses what makes no trace.
    pub fn check(&self) -> Result<(), Problem> {
        let refuse = |what: &str, option: &str| Err(Problem::new(what, option));
        if !(self.mean_hours > 0.0 && self.mean_hours <= 1e8) {
            return refuse("a mean time between failures is above 0, and at most 100 million hours", "--mttf-hours");
        }
        if !(0.2..=20.0).contains(&self.weibull_shape) {
            return refuse("a Weibull shape lies between 0.2 and 20", "--weibull-shape");
        }
        if self.duration_hours == 0 || self.duration_hours > LATEST_S / HOUR_S / 2 {
            return refuse("a trace lasts an hour at least, and not beyond the end of time", "--hours");
        }
        if self.failures_per_link == 0 {
            return refuse("a link fails once at least", "--failures-per-link");
        }
        Ok(())
    }
}

/// Makes a trace. Each link has a random stream of its own, so that a larger topology does not move the links of a
/// smaller one's numbers.
pub fn generate(topology: &Topology, hazard: &Hazard, seed: u64, name: &str) -> Result<Trace, Problem> {
    hazard.check()?;
    let streams = RandomStreams::new(seed);
    let mut slots = Slots::default();
    let mut failures = Vec::new();
    for link in (0..topology.links().len()).map(|at| LinkId(at as u32)) {
        let mut stream = streams.stream(&format!("link {} corruption", link.0));
        fail(link, hazard, &mut stream, &mut slots, &mut failures);
    }
    failures.sort_unstable_by_key(|failure| failure.time_s);
    let first_s = failures.first().map_or(0, |failure| failure.time_s);
    failures.retain(|failure| failure.time_s <= first_s + hazard.duration_hours * HOUR_S);
    failures.iter_mut().for_each(|failure| failure.time_s += MARGIN_S);
    let rate = topology.links()[0].rate;
    let (shape, links) = (topology.shape().clone(), topology.links().len());
    Ok(Trace { name: name.into(), shape, link_gbps: rate.as_bps() as f64 / 1e9, links, failures })
}

/// The failures of one link. As many numbers are drawn whatever they are.
fn fail(link: LinkId, hazard: &Hazard, stream: &mut Stream, slots: &mut Slots, failures: &mut Vec<Failure>) {
    let scale_hours = hazard.mean_hours / gamma_of_one_plus(1.0 / hazard.weibull_shape);
    let mut hours = 0u64;
    for _ in 0..hazard.failures_per_link {
        let interval = scale_hours * weibull(stream, hazard.weibull_shape);
        let loss = draw_loss(stream);
        hours = hours.saturating_add(interval.round_ties_even() as u64);
        if hours <= LATEST_S / HOUR_S {
            failures.push(Failure { time_s: slots.take(hours * HOUR_S), link, loss });
        }
    }
}

/// Weibull with scale 1.
fn weibull(stream: &mut Stream, shape: f64) -> f64 {
    let draw = exponential(stream);
    if shape == 1.0 || draw == 0.0 { draw } else { exp(ln(draw) / shape) }
}

fn draw_loss(stream: &mut Stream) -> LossRate {
    // The published generator draws a percentage rounded to two decimals: 0 to 100.00, the ends half as often.
    let percentile = below(stream, 20_000).div_ceil(2);
    let bucket = LOSS_RATES.iter().find(|(share, ..)| percentile <= *share);
    let &(_, low, high) = bucket.expect("the last bucket reaches 100 %");
    LossRate::new(low + (high - low) * unit(stream)).expect("the buckets lie within 0 and 1")
}

/// The gamma function at 1 + x, for x of 0 to 5: Stirling's series of a larger argument, and back by recurrence.
fn gamma_of_one_plus(x: f64) -> f64 {
    const STEPS: u32 = 10;
    let large = 1.0 + x + f64::from(STEPS);
    let series = 1.0 / (12.0 * large) - 1.0 / (360.0 * large.powi(3)) + 1.0 / (1_260.0 * large.powi(5));
    let half_ln_tau = 0.918_938_533_204_672_7;
    let ln_gamma = (large - 0.5) * ln(large) - large + half_ln_tau + series;
    let shrink: f64 = (0..STEPS).map(|step| 1.0 + x + f64::from(step)).product();
    exp(ln_gamma) / shrink
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::from_spec;

    #[test]
    fn gamma_is_known_at_whole_and_half_numbers() {
        for (x, expected) in [(0.0, 1.0), (1.0, 1.0), (2.0, 2.0), (4.0, 24.0), (0.5, 0.886_226_925_452_758)] {
            assert!((gamma_of_one_plus(x) / expected - 1.0).abs() < 1e-9, "at {x}: {}", gamma_of_one_plus(x));
        }
    }

    #[test]
    fn links_fail_as_often_as_they_should_whatever_the_shape() {
        let topology = from_spec("fabric:pods=10").unwrap();
        for (weibull_shape, tolerance) in [(1.0, 0.02), (2.0, 0.02), (0.7, 0.02)] {
            let hazard = Hazard { weibull_shape, mean_hours: 1_000.0, duration_hours: 100_000, failures_per_link: 200 };
            let trace = generate(&topology, &hazard, 1, "t").unwrap();
            let expected = topology.links().len() as f64 * 100.0;
            let found = trace.failures.len() as f64;
            assert!((found / expected - 1.0).abs() < tolerance, "shape {weibull_shape}: {found} of {expected}");
        }
    }

    #[test]
    fn loss_rates_have_the_shares_of_the_paper() {
        let mut stream = RandomStreams::new(1).stream("loss");
        let count = 200_000;
        let rates: Vec<_> = (0..count).map(|_| draw_loss(&mut stream).as_f64()).collect();
        for (low, high, share) in
            [(1e-8, 1e-5, 0.4723), (1e-5, 1e-4, 0.1843), (1e-4, 1e-3, 0.2167), (1e-3, 1.0, 0.1267)]
        {
            let found = rates.iter().filter(|&&rate| rate >= low && rate < high).count() as f64 / f64::from(count);
            assert!((found - share).abs() < 0.004, "{low} to {high}: {found}");
        }
    }

    #[test]
    fn every_failure_has_a_second_of_its_own_in_a_year() {
        let topology = from_spec("fabric:pods=40").unwrap();
        let trace = generate(&topology, &Hazard::default(), 7, "t").unwrap();
        assert!(trace.failures.windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
        let span_s = trace.failures.last().unwrap().time_s - trace.failures[0].time_s;
        assert!(span_s <= 9_000 * 3_600 && span_s > 8_900 * 3_600, "{span_s}");
        assert_eq!(trace, generate(&topology, &Hazard::default(), 7, "t").unwrap());
        assert_ne!(trace.failures, generate(&topology, &Hazard::default(), 8, "t").unwrap().failures);
    }
}
