//! Settings of the comparison of ranks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantile::QuantileSettings;

/// How the priority of a packet is compared with the packets of a queue (section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "RelativePrioritySettings")]
pub enum RelativePriority {
    /// By the share of more urgent packets among recent packets of the queue.
    Quantile(QuantileSettings),
    /// By an exponential distribution with the mean of the queue.
    Distribution(DistributionSettings),
}

/// An exponential distribution of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DistributionSettings {
    /// Packets that count in the mean.
    pub mean: Mean,
    /// With mean = "moving-average": weight of the newest packet. Rounded to 1/n with the nearest n (the authors'
    /// program: 1/50).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gain: f64,
    /// Arithmetic of the distribution and the average.
    pub arithmetic: Arithmetic,
}

impl Default for DistributionSettings {
    fn default() -> Self {
        Self { mean: Mean::default(), gain: 0.02, arithmetic: Arithmetic::default() }
    }
}

impl DistributionSettings {
    /// The inverse weight of the newest packet in a moving average.
    pub(super) fn parts(self) -> u32 {
        (1.0 / self.gain).round() as u32
    }
}

/// Packets that count in the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DistributionMean")]
pub enum Mean {
    /// Packets in the queue (section 3.1 and the authors' simulator).
    #[default]
    Exact,
    /// Packets that went to the queue, the newest with the highest weight (section 4.2).
    MovingAverage,
}

/// Arithmetic of the distribution and the average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DistributionArithmetic")]
pub enum Arithmetic {
    /// Multiplication, division and the exponential function.
    #[default]
    Exact,
    /// Look-up tables over powers of two, as a switch requires (section 4.2).
    Tables,
}
