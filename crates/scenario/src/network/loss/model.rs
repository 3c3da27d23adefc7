//! `loss` of a `[[link]]`: which of its frames arrive corrupted.

use hitless_core::wire::BitRate;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bit_errors::{BitErrorLoss, frame_loss_rate};
use super::gilbert_elliott::GilbertElliottLoss;
use super::trace::TraceLoss;

/// Which frames arrive corrupted and are dropped by the receiving port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossModel {
    /// None.
    #[default]
    None,
    /// Each frame with the same probability, independently of all others.
    Bernoulli(BernoulliLoss),
    /// In bursts, by a chain of two states (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliottLoss),
    /// By bit errors on the line, behind its forward error correction: longer frames more often, and frames that share
    /// a codeword together.
    BitErrors(BitErrorLoss),
    /// As recorded in a file.
    Trace(TraceLoss),
}

impl LossModel {
    /// Losses that come at `rate`, independently or in bursts of a mean length.
    ///
    /// # Errors
    /// A sentence, when there are no such losses.
    pub fn at_rate(rate: f64, mean_burst_frames: Option<f64>) -> Result<Self, String> {
        if !(0.0..=1.0).contains(&rate) {
            return Err(format!("{rate} is no rate of corruption: a number from 0 to 1"));
        }
        match mean_burst_frames {
            Some(frames) if !(1.0..=1e12).contains(&frames) => {
                Err(format!("{frames} is no mean length of a burst: a number of frames from 1 to 1e12"))
            }
            _ if rate == 0.0 => Ok(Self::None),
            Some(_) if rate == 1.0 => Err("a rate of 1 has no bursts, which are some of the frames and not all".into()),
            None => Ok(Self::Bernoulli(BernoulliLoss { rate, repair_rate: None })),
            Some(mean_burst_frames) => {
                let loss = GilbertElliottLoss { rate, mean_burst_frames, loss_in_burst: 1.0, loss_between_bursts: 0.0 };
                match loss.fault() {
                    None => Ok(Self::GilbertElliott(loss)),
                    Some((field, rule)) => Err(format!("{field} {rule}")),
                }
            }
        }
    }

    /// The share of frames that are lost, of full ones (1,518 bytes) where the length matters, on a line of
    /// `line_rate`; of a trace, while it lasts.
    pub fn rate(&self, line_rate: BitRate) -> f64 {
        match self {
            LossModel::None => 0.0,
            LossModel::Bernoulli(loss) => loss.rate,
            LossModel::GilbertElliott(loss) => loss.rate,
            LossModel::BitErrors(loss) => frame_loss_rate(loss, line_rate, MTU_FRAME_BYTES),
            LossModel::Trace(loss) => loss.trace.lost() as f64 / loss.trace.frames().max(1) as f64,
        }
    }
}

/// Independent losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLoss {
    /// Probability that a frame is lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// Probability that a retransmission by a mechanism of the link is lost; left out: the same. For estimates of rare
    /// events, where both losses must come together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub repair_rate: Option<f64>,
}
