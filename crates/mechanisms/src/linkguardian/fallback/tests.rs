//! Tests of the policy with series of losses.

use super::*;
use proptest::prelude::*;

fn config() -> FallbackSettings {
    FallbackSettings {
        period: Duration::from_us(100),
        non_blocking_above: 5e-3,
        off_above: 0.1,
        recovery_share: 0.5,
        bad_periods: 2,
        hold: Duration::from_us(1_000),
        hold_max: Duration::from_us(32_000),
        frames_min: 100,
    }
}

/// Feeds the policy the periods of a series; returns the levels.
fn levels(series: impl IntoIterator<Item = (u64, u64)>) -> Vec<Level> {
    let mut policy = Fallback::new(config());
    let periods = series.into_iter().zip(1..);
    periods
        .map(|((frames, losses), number)| {
            policy.observe(Time::ZERO + config().period * number, frames, losses);
            policy.level()
        })
        .collect()
}

fn repeated(count: usize, losses: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::repeat_n((1_000, losses), count)
}

#[test]
fn one_bad_period_is_no_reason_and_two_are() {
    let series = repeated(1, 50).chain(repeated(1, 0)).chain(repeated(2, 50));
    assert_eq!(levels(series), [Level::AsCommanded, Level::AsCommanded, Level::AsCommanded, Level::NonBlocking]);
}

#[test]
fn what_is_beyond_help_is_switched_off_at_once_and_comes_back_step_by_step() {
    let series = repeated(2, 500).chain(repeated(30, 0));
    let levels = levels(series);
    assert_eq!(levels[1], Level::Off);
    let steps: Vec<_> = levels.windows(2).filter(|two| two[0] != two[1]).map(|two| two[1]).collect();
    assert_eq!(steps, [Level::Off, Level::NonBlocking, Level::AsCommanded]);
}

#[test]
fn a_rate_at_the_bound_is_not_above_it_and_each_fall_takes_bad_periods_of_its_own() {
    assert!(levels(repeated(10, 5)).iter().all(|&level| level == Level::AsCommanded));
    let series = repeated(2, 50).chain(repeated(1, 500)).chain(repeated(1, 0));
    assert_eq!(levels(series)[1..], [Level::NonBlocking; 3]);
}

/// A hold is ten periods. With three losses in 1,000 frames the link is not good enough to begin one.
#[test]
fn a_recovery_takes_a_hold_without_a_period_above_its_rate() {
    let recovers_after = |series: Vec<(u64, u64)>| {
        let levels = levels(repeated(2, 50).chain(series));
        levels[2..].iter().position(|&level| level == Level::AsCommanded)
    };
    assert_eq!(recovers_after(repeated(20, 0).collect()), Some(10));
    assert_eq!(recovers_after(repeated(5, 0).chain(repeated(1, 3)).chain(repeated(20, 0)).collect()), Some(16));
}

#[test]
fn between_the_bounds_the_level_stays() {
    let series = repeated(2, 20).chain(repeated(200, 4));
    assert!(levels(series)[1..].iter().all(|&level| level == Level::NonBlocking));
}

#[test]
fn a_few_frames_say_nothing() {
    let series = std::iter::repeat_n((9, 9), 10);
    assert!(levels(series).iter().all(|&level| level == Level::AsCommanded));
}

/// After a quiet time the next hold is short again, so that such a series changes the level more often than doubling
/// alone would allow.
#[test]
fn losses_that_pause_for_the_longest_hold_stay_within_the_bound() {
    let (period, rounds) = (config().period, 20);
    let mut policy = Fallback::new(config());
    let mut number = 0;
    let mut observe = |policy: &mut Fallback, losses: u64| {
        number += 1;
        policy.observe(Time::ZERO + period * number, 1_000, losses);
    };
    for _ in 0..rounds {
        for _ in 0..4 {
            while policy.level() == Level::AsCommanded {
                observe(&mut policy, 50);
            }
            while policy.level() != Level::AsCommanded {
                observe(&mut policy, 0);
            }
        }
        (0..config().hold_max / period).for_each(|_| observe(&mut policy, 0));
    }
    let (changes, most) = (policy.changes(), Fallback::changes_max(&config(), period * number));
    assert_eq!(changes, 8 * rounds);
    assert!(number < rounds * (150 + 320 + 20), "the holds were 1, 2, 4 and 8 ms: {number} periods");
    assert!(changes <= most, "{changes} changes, at most {most}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// For any losses the level changes a bounded number of times: no flapping.
    #[test]
    fn any_series_of_losses_changes_the_level_a_bounded_number_of_times(
        runs in prop::collection::vec((1usize..400, prop_oneof![Just(0u64), 0u64..12, 0u64..300]), 1..60),
    ) {
        let series: Vec<_> = runs.iter().flat_map(|&(count, losses)| repeated(count, losses)).collect();
        let span = config().period * series.len() as u64;
        let mut policy = Fallback::new(config());
        for (&(frames, losses), number) in series.iter().zip(1..) {
            policy.observe(Time::ZERO + config().period * number, frames, losses);
        }
        prop_assert!(policy.changes() <= Fallback::changes_max(&config(), span), "{} changes", policy.changes());
    }

    /// The worst case: losses return as soon as the level has recovered.
    #[test]
    fn losses_that_come_back_with_the_level_make_it_change_ever_more_slowly(periods in 1u64..20_000, high in 51u64..400) {
        let mut policy = Fallback::new(config());
        for number in 1..=periods {
            let losses = if policy.level() == Level::AsCommanded { high } else { 0 };
            policy.observe(Time::ZERO + config().period * number, 1_000, losses);
        }
        let most = Fallback::changes_max(&config(), config().period * periods);
        prop_assert!(policy.changes() <= most, "{} changes, at most {most}", policy.changes());
    }
}
