//! Relative priority compared with slow implementations.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const EVERY: QuantileSettings =
    QuantileSettings { window: 4, sample_every: 1, of: QuantileOf::Enqueued, divide_by: DivideBy::Fill };

#[test]
fn the_last_of_the_six_packets_of_figure_15() {
    for first_four in [[2, 1, 5, 4], [5, 4, 1, 2], [4, 1, 2, 5]] {
        let mut window = Window::new(EVERY);
        let mut ranks = QueuedRanks::default();
        for rank in first_four.into_iter().chain([3]) {
            window.enqueued(rank);
            ranks.add(rank, 1);
        }
        assert_eq!(window.share_below(2), 0.25, "{first_four:?}");
        let share = exponential_share(2, ranks.mean(), Arithmetic::Exact);
        assert!((share - 0.486_582_9).abs() < 1e-7, "{share}");
    }
}

#[test]
fn a_window_that_is_not_full_is_divided_by_its_entries_or_by_its_size() {
    for (divide_by, expected) in [(DivideBy::Fill, 0.5), (DivideBy::Window, 0.25)] {
        let mut window = Window::new(QuantileSettings { divide_by, ..EVERY });
        assert_eq!(window.share_below(9), 0.0, "of an empty window nothing is smaller");
        [5, 10].into_iter().for_each(|rank| window.offer(rank));
        assert_eq!(window.share_below(9), expected);
    }
}

#[test]
fn a_packet_without_rank_and_an_empty_queue_have_no_relative_priority() {
    assert_eq!(exponential_share(0, 1_000.0, Arithmetic::Exact), 0.0);
    assert_eq!(exponential_share(1_000, 0.0, Arithmetic::Exact), 0.0);
    assert_eq!(exponential_share(u32::MAX, 1.0, Arithmetic::Exact), 1.0);
    assert_eq!((tabled_share(0, 9), tabled_share(9, 0)), (0.0, 0.0));
}

#[test]
fn the_moving_average_is_that_of_a_switch_without_fractions() {
    let mut average = MovingAverage::new(50, Arithmetic::Exact);
    let mut expected = 0u64;
    for rank in [40_000, 0, 7, 1_000_000, u32::MAX, 3] {
        average.add(rank);
        expected = (49 * expected + u64::from(rank)) / 50;
        assert_eq!(u64::from(average.mean()), expected);
    }
}

/// A table's keys are a power of two wide, so that a tabled ratio is off by less than 2 in either direction. The share
/// is off by less than the largest difference between 1 - exp(-x) and 1 - exp(-2x), a quarter.
#[test]
fn the_tabled_distribution_is_within_a_quarter_of_the_exact_one() {
    let mut worst = 0.0f64;
    let values = (0..320).map(|step| 1.07f64.powi(step) as u32);
    for rank in values.clone() {
        for mean in values.clone() {
            let exact = exponential_share(rank, f64::from(mean), Arithmetic::Exact);
            worst = worst.max((exact - tabled_share(rank, mean)).abs());
        }
    }
    assert!(worst < 0.25 && worst > 0.1, "{worst}");
}

#[test]
fn the_tabled_share_grows_with_the_rank_and_falls_with_the_mean() {
    for power in 0..31 {
        assert!(tabled_share(1 << (power + 1), 1 << 20) >= tabled_share(1 << power, 1 << 20));
        assert!(tabled_share(1 << 20, 1 << (power + 1)) <= tabled_share(1 << 20, 1 << power));
    }
}

proptest! {
    #[test]
    fn the_quantile_is_that_of_the_last_packets_sampled(
        ranks in prop::collection::vec(0u32..50, 0..200), rank in 0u32..60,
        size in 1usize..30, sample_every in 1u32..7,
    ) {
        let mut window = Window::new(QuantileSettings { window: size as u32, sample_every, ..EVERY });
        ranks.iter().for_each(|&rank| window.enqueued(rank));
        let taken: Vec<u32> = ranks.chunks_exact(sample_every as usize).map(|chunk| chunk[chunk.len() - 1]).collect();
        let recent = &taken[taken.len().saturating_sub(size)..];
        let smaller = recent.iter().filter(|&&entry| entry < rank).count();
        let expected = if recent.is_empty() { 0.0 } else { smaller as f64 / recent.len() as f64 };
        prop_assert_eq!(window.share_below(rank), expected);
    }

    /// Packets leave a FIFO queue in any rhythm: only the packets still present count in the mean.
    #[test]
    fn the_mean_is_that_of_what_is_in_the_queue(
        steps in prop::collection::vec((0u32..100_000, 64u32..1_600, 0usize..3), 1..200),
    ) {
        let mut queue: VecDeque<(u32, u32)> = VecDeque::new();
        let mut ranks = QueuedRanks::default();
        for (rank, frame_bytes, leaving) in steps {
            queue.drain(..leaving.min(queue.len()));
            let bytes: u64 = queue.iter().map(|packet| u64::from(packet.1)).sum();
            ranks.settle(bytes);
            let sum: u64 = queue.iter().map(|packet| u64::from(packet.0)).sum();
            prop_assert_eq!(ranks.mean(), sum as f64 / queue.len().max(1) as f64);
            queue.push_back((rank, frame_bytes));
            ranks.add(rank, frame_bytes);
        }
    }

    /// After many packets the tabled average of a constant rank is within its range or the next: a factor below 2
    /// either way.
    #[test]
    fn the_tabled_average_finds_the_range_of_a_constant_rank(rank in 100u32..1 << 30, start in 0u32..1 << 30) {
        let mut average = MovingAverage::starting_at(start, 50, Arithmetic::Tables);
        (0..5_000).for_each(|_| average.add(rank));
        let ratio = f64::from(average.mean()) / f64::from(rank);
        prop_assert!(ratio > 0.5 && ratio < 2.0, "{} for {rank}", average.mean());
    }
}

/// Exponential ranks, as in appendix B: the tabled average follows the exact one.
#[test]
fn the_tabled_average_is_within_a_factor_of_two_of_the_exact_one() {
    let mut stream = hitless_core::engine::RandomStreams::new(7).stream("ranks");
    let [mut exact, mut tabled] =
        [Arithmetic::Exact, Arithmetic::Tables].map(|arithmetic| MovingAverage::new(50, arithmetic));
    let mut worst = 1.0f64;
    for count in 0..50_000 {
        let rank = (hitless_core::engine::draws::exponential(&mut stream) * 40_000.0) as u32;
        exact.add(rank);
        tabled.add(rank);
        if count > 1_000 {
            let ratio = f64::from(tabled.mean()) / f64::from(exact.mean());
            worst = worst.max(ratio).max(1.0 / ratio);
        }
    }
    assert!(worst < 2.0, "{worst}");
}
