//! The delay of a host's network stack: system calls, kernel, interrupts, DMA.
//!
//! A packet waits a fixed time plus jitter on its way from the transport to the network card, and again from the card
//! to the transport. A later packet of a flow never overtakes an earlier one. Packets of a flow that enter together
//! leave together: they share a system call, a segmentation burst or an interrupt.
//!
//! CPU load is not modelled: the delay does not depend on how busy the host is.

mod portable;

use hitless_core::engine::Stream;
use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Duration, Time};
use rand_distr::{Distribution, Exp1, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A random delay.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Jitter {
    /// No random part.
    #[default]
    None,
    /// Exponential distribution.
    Exponential(ExponentialJitter),
    /// Lognormal distribution.
    Lognormal(LognormalJitter),
}

/// An exponential delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields)]
pub struct ExponentialJitter {
    /// Mean.
    #[serde(with = "Text::<Duration>")]
    pub mean: Duration,
}

/// A lognormal delay, given by two quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields)]
pub struct LognormalJitter {
    /// Median.
    #[serde(with = "Text::<Duration>")]
    pub median: Duration,
    /// 99.9th percentile; at least the median.
    #[serde(with = "Text::<Duration>")]
    pub p999: Duration,
}

/// The configuration of a delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct DelayConfig {
    /// Constant part for every packet.
    pub fixed: Duration,
    /// Random part.
    pub jitter: Jitter,
}

impl DelayConfig {
    /// No delay; costs no event and no random number.
    pub const NONE: DelayConfig = DelayConfig::fixed(Duration::ZERO);

    /// Creates a constant delay.
    pub const fn fixed(fixed: Duration) -> Self {
        Self { fixed, jitter: Jitter::None }
    }
}

/// The delays of a host's stack in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackConfig {
    /// Delay from the transport to the network card.
    pub send: DelayConfig,
    /// Delay from the network card to the transport.
    pub receive: DelayConfig,
}

impl StackConfig {
    pub const NONE: StackConfig = StackConfig { send: DelayConfig::NONE, receive: DelayConfig::NONE };
}

/// The 99.9th percentile of the standard normal distribution.
const NORMAL_PERCENTILE_99_9: f64 = 3.090_232_306_167_813;

#[derive(Clone, Copy, Debug)]
enum Draw {
    Nothing,
    Exponential { mean_ps: f64 },
    LogNormal { median_ps: f64, sigma: f64 },
}

#[derive(Clone, Copy, Debug)]
pub struct StackDelay {
    fixed: Duration,
    draw: Draw,
}

impl StackDelay {
    /// Creates the delay that `config` describes, or `None` if it is always zero.
    ///
    /// # Panics
    /// If a log-normal jitter's median is zero or above its 99.9th percentile.
    pub fn new(config: DelayConfig) -> Option<Self> {
        let draw = match config.jitter {
            Jitter::Exponential(ExponentialJitter { mean }) if mean > Duration::ZERO => {
                Draw::Exponential { mean_ps: mean.as_ps() as f64 }
            }
            Jitter::None | Jitter::Exponential { .. } => Draw::Nothing,
            Jitter::Lognormal(LognormalJitter { median, p999 }) => {
                assert!(Duration::ZERO < median && median <= p999, "a median of {median} and a p999 of {p999}");
                let ratio = p999.as_ps() as f64 / median.as_ps() as f64;
                Draw::LogNormal {
                    median_ps: median.as_ps() as f64,
                    sigma: portable::logarithm(ratio) / NORMAL_PERCENTILE_99_9,
                }
            }
        };
        let is_zero = config.fixed == Duration::ZERO && matches!(draw, Draw::Nothing);
        (!is_zero).then_some(Self { fixed: config.fixed, draw })
    }

    pub(crate) fn draw(&self, stream: &mut Stream) -> Duration {
        let jitter_ps = match self.draw {
            Draw::Nothing => return self.fixed,
            Draw::Exponential { mean_ps } => {
                let unit: f64 = Exp1.sample(stream);
                mean_ps * unit
            }
            Draw::LogNormal { median_ps, sigma } => {
                let unit: f64 = StandardNormal.sample(stream);
                median_ps * portable::exponential(sigma * unit)
            }
        };
        self.fixed + Duration(jitter_ps.round() as u64)
    }
}

/// A direction of a flow through a stack; keeps its packets in order.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub struct DelayLine {
    last_entry: Option<Time>,
    last_exit: Time,
}

impl DelayLine {
    /// Returns when a packet that enters now leaves; never before its predecessor.
    ///
    /// Packets that leave at the same time must be handled in order of entry.
    pub fn exit(&mut self, now: Time, delay: &StackDelay, stream: &mut Stream) -> Time {
        // Packets that enter together share one draw.
        if self.last_entry != Some(now) {
            self.last_entry = Some(now);
            self.last_exit = self.last_exit.max(now + delay.draw(stream));
        }
        self.last_exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::engine::RandomStreams;
    use proptest::prelude::*;

    fn jitters() -> impl Strategy<Value = Jitter> {
        prop_oneof![
            Just(Jitter::None),
            (0u64..1_000_000).prop_map(|mean| Jitter::Exponential(ExponentialJitter { mean: Duration(mean) })),
            (1u64..1_000_000, 1u64..50).prop_map(|(median, factor)| {
                Jitter::Lognormal(LognormalJitter { median: Duration(median), p999: Duration(median * factor) })
            }),
        ]
    }

    proptest! {
        #[test]
        fn packets_keep_their_order_and_wait_at_least_the_fixed_part(
            jitter in jitters(),
            fixed in 1u64..1_000_000,
            gaps in proptest::collection::vec(0u64..100_000, 1..100),
            seed in any::<u64>(),
        ) {
            let delay = StackDelay::new(DelayConfig { fixed: Duration(fixed), jitter }).unwrap();
            let mut stream = RandomStreams::new(seed).stream("stack");
            let (mut line, mut now, mut last_exit) = (DelayLine::default(), Time(0), Time(0));
            for gap in gaps {
                now += Duration(gap);
                let exit = line.exit(now, &delay, &mut stream);
                prop_assert!(exit >= last_exit && exit >= now + Duration(fixed));
                prop_assert!(gap > 0 || now == Time(0) || exit == last_exit);
                last_exit = exit;
            }
        }
    }

    fn sorted_draws(jitter: Jitter) -> Vec<u64> {
        let delay = StackDelay::new(DelayConfig { fixed: Duration(0), jitter }).unwrap();
        let mut stream = RandomStreams::new(7).stream("draws");
        let mut draws: Vec<u64> = (0..200_000).map(|_| delay.draw(&mut stream).as_ps()).collect();
        draws.sort_unstable();
        draws
    }

    fn assert_near(value: u64, expected: u64, tolerance_percent: u64) {
        assert!(value.abs_diff(expected) * 100 <= expected * tolerance_percent, "{value} is not near {expected}");
    }

    #[test]
    fn log_normal_jitter_has_the_quantiles_asked_for() {
        let jitter = Jitter::Lognormal(LognormalJitter { median: Duration::from_us(5), p999: Duration::from_us(50) });
        let draws = sorted_draws(jitter);
        assert_near(draws[100_000], 5_000_000, 2);
        assert_near(draws[199_800], 50_000_000, 10);
    }

    #[test]
    fn exponential_jitter_has_the_mean_asked_for() {
        let draws = sorted_draws(Jitter::Exponential(ExponentialJitter { mean: Duration::from_us(3) }));
        assert_near(draws.iter().sum::<u64>() / 200_000, 3_000_000, 2);
    }

    #[test]
    fn a_delay_of_zero_is_none_at_all() {
        assert!(StackDelay::new(DelayConfig::NONE).is_none());
        let jitter = Jitter::Exponential(ExponentialJitter { mean: Duration::ZERO });
        assert!(StackDelay::new(DelayConfig { fixed: Duration::ZERO, jitter }).is_none());
    }

    #[test]
    #[should_panic(expected = "a median of")]
    fn a_percentile_below_the_median_is_refused() {
        let jitter = Jitter::Lognormal(LognormalJitter { median: Duration(2), p999: Duration(1) });
        StackDelay::new(DelayConfig { fixed: Duration(0), jitter });
    }
}
