//! Relative priority: how a packet's rank compares with those of the packets in a queue (section 3.1). 0 is that of a
//! packet more urgent than all, 1 that of one less urgent than all.

mod mean;
mod quantile;
mod tables;

pub use mean::{MovingAverage, QueuedRanks};
pub use quantile::{DivideBy, QuantileOf, QuantileSettings, Window};
pub use tables::{bucket, tabled_change, tabled_share};

use hitless_engine::draws::exp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the priority of a packet is compared with those of a queue (section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "RelativePrioritySettings")]
pub enum RelativePriority {
    /// By the share of recent packets of the queue that are more urgent.
    Quantile(QuantileSettings),
    /// By an exponential distribution with the mean of the queue.
    Distribution(DistributionSettings),
}

/// An exponential distribution of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DistributionSettings {
    /// The mean of which packets.
    pub mean: Mean,
    /// With mean = "moving-average": how much the newest packet counts. Taken as 1/n with the nearest n (the authors'
    /// program: 1/50).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gain: f64,
    /// How the distribution and the average are reckoned.
    pub arithmetic: Arithmetic,
}

impl Default for DistributionSettings {
    fn default() -> Self {
        Self { mean: Mean::default(), gain: 0.02, arithmetic: Arithmetic::default() }
    }
}

impl DistributionSettings {
    /// Of how many parts of a moving average the newest packet is one.
    fn parts(self) -> u32 {
        (1.0 / self.gain).round() as u32
    }
}

/// The mean of which packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DistributionMean")]
pub enum Mean {
    /// Those in the queue (section 3.1 and the authors' simulator).
    #[default]
    Exact,
    /// Those that went to the queue, the newest counting most (section 4.2).
    MovingAverage,
}

/// How the distribution and the average are reckoned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DistributionArithmetic")]
pub enum Arithmetic {
    /// With multiplication, division and the exponential function.
    #[default]
    Exact,
    /// With look-up tables over powers of two, as a switch has to (section 4.2).
    Tables,
}

/// The relative priority of packets of one queue.
#[derive(Clone, Debug)]
pub enum Estimator {
    /// By the share of recent packets.
    Quantile(Window),
    /// By the mean of the packets in the queue.
    ExactMean(QueuedRanks, Arithmetic),
    /// By the mean of recent packets.
    MovingAverage(MovingAverage, Arithmetic),
}

impl Estimator {
    /// Of a queue that has had no packet.
    pub fn new(kind: RelativePriority) -> Self {
        match kind {
            RelativePriority::Quantile(settings) => Self::Quantile(Window::new(settings)),
            RelativePriority::Distribution(settings) => match settings.mean {
                Mean::Exact => Self::ExactMean(QueuedRanks::default(), settings.arithmetic),
                Mean::MovingAverage => {
                    let average = MovingAverage::new(settings.parts(), settings.arithmetic);
                    Self::MovingAverage(average, settings.arithmetic)
                }
            },
        }
    }

    /// The relative priority of a packet of `rank`, when `committed_bytes` are in the queue or on their way there.
    #[inline]
    pub fn relative_priority(&mut self, rank: u32, committed_bytes: u64) -> f64 {
        match self {
            Self::Quantile(window) => window.share_below(rank),
            Self::ExactMean(ranks, arithmetic) => {
                ranks.settle(committed_bytes);
                exponential_share(rank, ranks.mean(), *arithmetic)
            }
            Self::MovingAverage(average, arithmetic) => exponential_share(rank, f64::from(average.mean()), *arithmetic),
        }
    }

    /// A packet of `rank` has been compared.
    #[inline]
    pub fn evaluated(&mut self, rank: u32) {
        if let Self::Quantile(window) = self {
            window.evaluated(rank);
        }
    }

    /// A packet of `rank` goes to the queue, behind the `committed_bytes` that are there or on their way.
    #[inline]
    pub fn enqueued(&mut self, rank: u32, frame_bytes: u32, committed_bytes: u64) {
        match self {
            Self::Quantile(window) => window.enqueued(rank),
            Self::ExactMean(ranks, _) => {
                ranks.settle(committed_bytes);
                ranks.add(rank, frame_bytes);
            }
            Self::MovingAverage(average, _) => average.add(rank),
        }
    }

    /// The relative priority of a packet of `rank` when that of the queue's packets is known to have this mean; none:
    /// it does not go by means.
    pub fn by_mean(&self, rank: u32, mean: u32) -> Option<f64> {
        match self {
            Self::Quantile(_) => None,
            Self::ExactMean(_, arithmetic) | Self::MovingAverage(_, arithmetic) => {
                Some(exponential_share(rank, mean.into(), *arithmetic))
            }
        }
    }

    /// What a moving average of `mean` becomes with a packet of `rank`; none: it keeps no such average.
    pub fn next_mean(&self, mean: u32, rank: u32) -> Option<u32> {
        match self {
            Self::MovingAverage(average, _) => Some(average.next(mean, rank)),
            Self::Quantile(_) | Self::ExactMean(..) => None,
        }
    }

    /// The mean of the packets that are in the queue, of which `committed_bytes` are left; none: it does not know them.
    pub fn queued_mean(&mut self, committed_bytes: u64) -> Option<u32> {
        match self {
            Self::ExactMean(ranks, _) => {
                ranks.settle(committed_bytes);
                Some(ranks.mean() as u32)
            }
            Self::Quantile(_) | Self::MovingAverage(..) => None,
        }
    }

    /// Whether it must be told what is committed to the queue.
    pub const fn asks_for_committed_bytes(&self) -> bool {
        matches!(self, Self::ExactMean(..))
    }
}

/// The part of an exponential distribution with `mean` that is below `rank` (section 3.1); none of it when nothing is
/// known.
pub fn exponential_share(rank: u32, mean: f64, arithmetic: Arithmetic) -> f64 {
    if rank == 0 || mean <= 0.0 {
        return 0.0;
    }
    match arithmetic {
        Arithmetic::Exact => 1.0 - exp((-f64::from(rank) / mean).max(-700.0)),
        Arithmetic::Tables => tabled_share(rank, mean as u32),
    }
}

#[cfg(test)]
mod tests;
