//! Relative priority: a packet's rank compared with the ranks in a queue (section 3.1). 0 means more urgent than all of
//! them, 1 less urgent than all.

mod mean;
mod quantile;
mod settings;
mod tables;

pub use mean::{MovingAverage, QueuedRanks};
pub use quantile::{DivideBy, QuantileOf, QuantileSettings, Window};
pub use settings::{Arithmetic, DistributionSettings, Mean, RelativePriority};
pub use tables::{bucket, tabled_change, tabled_share};

use hitless_core::engine::draws::exp;
use hitless_core::state::{Damaged, Reader, State, Writer};

#[derive(Clone, Debug)]
pub enum Estimator {
    Quantile(Window),
    ExactMean(QueuedRanks, Arithmetic),
    MovingAverage(MovingAverage, Arithmetic),
}

/// Saves no variant, because the configuration decides it.
impl State for Estimator {
    fn save(&self, out: &mut Writer) {
        match self {
            Self::Quantile(window) => window.save(out),
            Self::ExactMean(ranks, _) => out.value(ranks),
            Self::MovingAverage(average, _) => average.save(out),
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        match self {
            Self::Quantile(window) => window.load(from),
            Self::ExactMean(ranks, _) => {
                *ranks = from.value()?;
                Ok(())
            }
            Self::MovingAverage(average, _) => average.load(from),
        }
    }
}

impl Estimator {
    /// The estimator of a queue without packets.
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

    #[inline]
    pub fn evaluated(&mut self, rank: u32) {
        if let Self::Quantile(window) = self {
            window.evaluated(rank);
        }
    }

    /// Notes that a packet of `rank` goes to the queue, behind `committed_bytes` in it or in transit.
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

    /// The relative priority of a packet of `rank` for a known mean of the queue; `None` if the estimator does not use
    /// means.
    pub fn by_mean(&self, rank: u32, mean: u32) -> Option<f64> {
        match self {
            Self::Quantile(_) => None,
            Self::ExactMean(_, arithmetic) | Self::MovingAverage(_, arithmetic) => {
                Some(exponential_share(rank, mean.into(), *arithmetic))
            }
        }
    }

    /// The new moving average after a packet of `rank`, from an average of `mean`; `None` without a moving average.
    pub fn next_mean(&self, mean: u32, rank: u32) -> Option<u32> {
        match self {
            Self::MovingAverage(average, _) => Some(average.next(mean, rank)),
            Self::Quantile(_) | Self::ExactMean(..) => None,
        }
    }

    /// The mean of the packets in the queue, with `committed_bytes` left; `None` if the estimator does not track them.
    pub fn queued_mean(&mut self, committed_bytes: u64) -> Option<u32> {
        match self {
            Self::ExactMean(ranks, _) => {
                ranks.settle(committed_bytes);
                Some(ranks.mean() as u32)
            }
            Self::Quantile(_) | Self::MovingAverage(..) => None,
        }
    }

    pub const fn asks_for_committed_bytes(&self) -> bool {
        matches!(self, Self::ExactMean(..))
    }
}

/// The share of an exponential distribution with `mean` that is below `rank` (section 3.1); 0 without a mean.
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
