//! Single steps of deflection outside a switch, with the switch's code: for the small examples in the paper.

use hitless_core::engine::RandomStreams;
use hitless_core::engine::draws::unit;

use super::priority::{Arithmetic, QuantileSettings, QueuedRanks, Window, exponential_share};
use super::scan::{ScanStart, first_free};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    pub quantile: f64,
    /// Estimate by the exponential distribution with the mean of the queue.
    pub distribution: f64,
}

/// The relative priorities of packets that arrive one after the other at a queue of `queue_packets` packets, and at a
/// window of the last `window` packets that entered it (appendix C, figure 15). Nothing leaves the queue.
pub fn relative_priorities(ranks: &[u32], window: usize, queue_packets: usize) -> Vec<Estimates> {
    let window = window.try_into().unwrap_or(u32::MAX);
    let settings = QuantileSettings { window, sample_every: 1, ..QuantileSettings::default() };
    let (mut window, mut queue) = (Window::new(settings), QueuedRanks::default());
    let estimate = |(number, &rank): (usize, &u32)| {
        let quantile = window.share_below(rank);
        let distribution = exponential_share(rank, queue.mean(), Arithmetic::Exact);
        if number < queue_packets {
            window.enqueued(rank);
            queue.add(rank, 1);
        }
        Estimates { quantile, distribution }
    };
    ranks.iter().enumerate().map(estimate).collect()
}

/// Counts how often each port is the first free one from a random start, if port i is full with probability
/// `full_probabilities[i]` (appendix E), and how often no port is free.
pub fn scan_counts(full_probabilities: &[f64], draws: u64, seed: u64, start: ScanStart) -> (Vec<u64>, u64) {
    let mut stream = RandomStreams::new(seed).stream("deflection scan");
    let (mut counts, mut none) = (vec![0; full_probabilities.len()], 0);
    let mut is_full = vec![false; full_probabilities.len()];
    for _ in 0..draws {
        for (port, &probability) in is_full.iter_mut().zip(full_probabilities) {
            *port = unit(&mut stream) < probability;
        }
        let begin = start.draw(&mut stream, counts.len());
        match first_free(begin, counts.len(), |port| !is_full[port]) {
            Some(port) => counts[port] += 1,
            None => none += 1,
        }
    }
    (counts, none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_15_has_a_quarter_and_one_minus_e_to_the_minus_two_thirds() {
        let last = *relative_priorities(&[5, 1, 2, 4, 3, 2], 4, 6).last().expect("six packets");
        assert_eq!(last.quantile, 0.25);
        assert!((last.distribution - (1.0 - (-2.0f64 / 3.0).exp())).abs() < 1e-12);
    }

    /// Equation 6: 1/n for each port if all are equally likely to be full. Chi-square with seven degrees of freedom:
    /// 99.9 % below 24.4.
    #[test]
    fn ports_that_are_as_likely_to_be_full_are_as_likely_to_be_chosen() {
        let chi_square = |start| {
            let (counts, none) = scan_counts(&[0.3; 8], 100_000, 1, start);
            assert!((none as f64 - 100_000.0 * 0.3f64.powi(8)).abs() < 20.0, "{none}");
            let expected = (100_000 - none) as f64 / 8.0;
            counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum::<f64>()
        };
        assert!(chi_square(ScanStart::Uniform) < 24.4, "{}", chi_square(ScanStart::Uniform));
        assert!(chi_square(ScanStart::FiveBit) > 10_000.0, "the shipped form is far from it");
    }

    /// Behind a port that is always full, a port is chosen for both.
    #[test]
    fn a_port_behind_a_full_one_is_chosen_twice_as_often() {
        let (counts, none) = scan_counts(&[1.0, 0.0, 0.0, 0.0], 40_000, 1, ScanStart::Uniform);
        assert_eq!((counts[0], none), (0, 0));
        assert!((counts[1] as f64 / counts[2] as f64 - 2.0).abs() < 0.1, "{counts:?}");
    }
}
