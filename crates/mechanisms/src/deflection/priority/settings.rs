//! How ranks are compared, as scenarios say it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantile::QuantileSettings;

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
    pub(super) fn parts(self) -> u32 {
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
