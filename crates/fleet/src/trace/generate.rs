//! The paper's trace generator (LinkGuardian, appendix D), with a seed.

use hitless_core::engine::draws::{below, exp, exponential, ln, unit};
use hitless_core::engine::{RandomStreams, Stream};

use super::failures::{Failure, LATEST_S, Trace};
use crate::series::MARGIN_S;
use crate::slots::Slots;
use crate::topology::{LinkId, Topology};
use crate::{LossRate, Problem};

const HOUR_S: u64 = 3_600;
/// Maximum number of failures, so that a typing error does not fill the memory.
const FAILURES_MAX: usize = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hazard {
    /// Mean time between the failures of a link, in hours; the minimum is 1, since intervals are whole hours (Meza et
    /// al., IMC 2018: at most 10,000).
    pub mean_hours: f64,
    /// Weibull shape; 1 for failures without memory, above 1 the hazard rises with age.
    pub weibull_shape: f64,
    /// Length of the trace from its first failure, in hours.
    pub duration_hours: u64,
}

impl Default for Hazard {
    /// The paper's year.
    fn default() -> Self {
        Self { mean_hours: 10_000.0, weibull_shape: 1.0, duration_hours: 9_000 }
    }
}

/// Cumulative shares of links by loss rate, in hundredths of a percent, each with its range of loss rates.
///
/// Table 1 of the paper (from CorrOpt, table 1), with the published generator's ranges; its third share is 21.67 %,
/// while the paper prints 21.66 %.
const LOSS_RATES: [(usize, f64, f64); 4] =
    [(4_723, 1e-8, 9e-6), (6_566, 1e-5, 9.9e-5), (8_733, 1e-4, 9.99e-4), (10_000, 1e-3, 1e-2)];

impl Hazard {
    /// Refuses parameters that do not give a trace.
    pub fn check(&self) -> Result<(), Problem> {
        let refuse = |what: &str, option: &str| Err(Problem::new(what, option));
        if !(1.0..=1e8).contains(&self.mean_hours) {
            return refuse("a mean time between failures is 1 hour to 100 million hours", "--mttf-hours");
        }
        if !(0.2..=20.0).contains(&self.weibull_shape) {
            return refuse("a Weibull shape lies between 0.2 and 20", "--weibull-shape");
        }
        if self.duration_hours == 0 || self.duration_hours > LATEST_S / HOUR_S / 2 {
            return refuse("a trace lasts an hour at least, and not beyond the end of time", "--hours");
        }
        Ok(())
    }

    /// Returns the endless failures of a link, by hour.
    fn failures(&self, mut stream: Stream) -> impl Iterator<Item = (u64, LossRate)> {
        let Self { mean_hours, weibull_shape, .. } = *self;
        let scale_hours = mean_hours / gamma_of_one_plus(1.0 / weibull_shape);
        let mut hours = 0u64;
        std::iter::repeat_with(move || {
            let interval = scale_hours * weibull(&mut stream, weibull_shape);
            hours = hours.saturating_add(interval.round_ties_even() as u64);
            (hours, draw_loss(&mut stream))
        })
    }

    /// Maximum number of failures of a trace, given that each needs a unique second.
    fn failures_max(&self) -> usize {
        FAILURES_MAX.min((self.duration_hours * HOUR_S) as usize)
    }

    fn too_many(&self) -> Problem {
        let Self { mean_hours, duration_hours, .. } = self;
        let what = format!(
            "links that fail every {mean_hours} hours fail more than {} times in {duration_hours} hours",
            self.failures_max()
        );
        Problem::new(what, "--mttf-hours, --hours").hint(format!(
            "each takes a second of its own, and a trace has {FAILURES_MAX} at most: let links fail less often, \
             shorten the trace, or take a smaller topology"
        ))
    }
}

/// Makes a trace. Each link has a separate random stream, so that a larger topology does not change the failures of the
/// first links.
///
/// The published generator draws exactly ten failures of each link; a year does not use them up.
pub fn generate(topology: &Topology, hazard: &Hazard, seed: u64, name: &str) -> Result<Trace, Problem> {
    hazard.check()?;
    let links = topology.links.len();
    let mut failures = draw(links, hazard, seed)?;
    failures.sort_unstable_by_key(|failure| failure.time_s);
    let first_s = failures.first().map_or(0, |failure| failure.time_s);
    failures.retain(|failure| failure.time_s <= first_s + hazard.duration_hours * HOUR_S);
    failures.iter_mut().for_each(|failure| failure.time_s += MARGIN_S);
    let rate = topology.links[0].rate;
    let shape = topology.shape.clone();
    Ok(Trace { name: name.into(), shape, link_gbps: rate.as_bps() as f64 / 1e9, links, failures })
}

/// Draws the failures of links 0 to `links` until the end of the trace's last hour, link by link.
fn draw(links: usize, hazard: &Hazard, seed: u64) -> Result<Vec<Failure>, Problem> {
    let streams = RandomStreams::new(seed);
    let of_link = |link: usize| hazard.failures(streams.stream(&format!("link {link} corruption")));
    let first_hours = (0..links).filter_map(|link| of_link(link).next()).map(|(hours, _)| hours).min().unwrap_or(0);
    let last_hours = first_hours.saturating_add(hazard.duration_hours).min(LATEST_S / HOUR_S);
    let mut failures = Vec::new();
    for link in 0..links {
        for (hours, loss) in of_link(link).take_while(|&(hours, _)| hours <= last_hours) {
            if failures.len() == hazard.failures_max() {
                return Err(hazard.too_many());
            }
            failures.push(Failure { time_s: hours * HOUR_S, link: LinkId(link as u32), loss });
        }
    }
    let mut slots = Slots::default();
    failures.iter_mut().for_each(|failure| failure.time_s = slots.take(failure.time_s));
    Ok(failures)
}

/// Draws from the Weibull distribution with scale 1.
fn weibull(stream: &mut Stream, shape: f64) -> f64 {
    let draw = exponential(stream);
    // Inverse transform: an exponential draw to the power of 1 / shape. The logarithm of 0 is infinite.
    if shape == 1.0 || draw == 0.0 { draw } else { exp(ln(draw) / shape) }
}

fn draw_loss(stream: &mut Stream) -> LossRate {
    // The published generator draws a percentage rounded to two decimals: 0 to 100.00, with half the probability for
    // both ends.
    let percentile = below(stream, 20_000).div_ceil(2);
    let bucket = LOSS_RATES.iter().find(|(share, ..)| percentile <= *share);
    let &(_, low, high) = bucket.expect("the last bucket reaches 100 %");
    LossRate::new(low + (high - low) * unit(stream)).expect("the buckets lie within 0 and 1")
}

/// The gamma function at 1 + x, for x of 0 to 5: Stirling's series at a larger argument, then recurrence back.
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
            let hazard = Hazard { weibull_shape, mean_hours: 1_000.0, duration_hours: 100_000 };
            let trace = generate(&topology, &hazard, 1, "t").unwrap();
            let expected = topology.links.len() as f64 * 100.0;
            let found = trace.failures.len() as f64;
            assert!((found / expected - 1.0).abs() < tolerance, "shape {weibull_shape}: {found} of {expected}");
        }
    }

    #[test]
    fn links_fail_to_the_end_of_a_trace_in_which_each_fails_more_than_ten_times() {
        let topology = from_spec("fabric:pods=2").unwrap();
        let long = Hazard { duration_hours: 500_000, ..Hazard::default() };
        for hazard in [Hazard { mean_hours: 200.0, ..Hazard::default() }, long] {
            let trace = generate(&topology, &hazard, 1, "t").unwrap();
            let (first_s, half_s) = (trace.failures[0].time_s, hazard.duration_hours * HOUR_S / 2);
            let late = trace.failures.iter().filter(|failure| failure.time_s - first_s > half_s).count() as f64;
            let share = late / trace.failures.len() as f64;
            assert!((share - 0.5).abs() < 0.02, "{hazard:?}: {share} of the failures lie in the second half");
        }
    }

    #[test]
    fn more_failures_than_a_trace_can_hold_are_refused() {
        // 3,840 failures an hour, and an hour has 3,600 seconds.
        let topology = from_spec("fabric:pods=10").unwrap();
        let hazard = Hazard { mean_hours: 1.0, duration_hours: 10, ..Hazard::default() };
        let problem = generate(&topology, &hazard, 1, "t").unwrap_err();
        assert!(problem.what.contains("more than 36000 times in 10 hours"), "{problem}");
        assert!(problem.place.contains("--mttf-hours") && !problem.hint.is_empty(), "{problem}");
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
