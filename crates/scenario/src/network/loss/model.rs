//! `loss` of a `[[link]]`: which of its frames arrive corrupted.

use hitless_core::wire::BitRate;
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bit_errors::{BitErrorLoss, frame_loss_rate};
use super::gilbert_elliott::GilbertElliottLoss;
use super::periodic::PeriodicLoss;
use super::trace::TraceLoss;

/// Model that decides which frames arrive corrupted and are dropped by the receiving port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossModel {
    /// No losses.
    #[default]
    None,
    /// Loss of each frame with the same probability, independently of all others.
    Bernoulli(BernoulliLoss),
    /// Losses in bursts, by a chain of two states (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliottLoss),
    /// Losses by bit errors on the line, after its forward error correction: longer frames are lost more often, and
    /// frames that share a codeword are lost together.
    BitErrors(BitErrorLoss),
    /// Loss of every Nth frame. Frames of mechanisms and control ordered sets count too; frames lost because the link
    /// is down do not. A change of the model starts the count again.
    Periodic(PeriodicLoss),
    /// Losses recorded in a file.
    Trace(TraceLoss),
}

impl LossModel {
    /// Makes a model with the given rate, with independent losses or with bursts of a mean length.
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

    /// Returns whether the model never loses a frame: all of its rates are zero. A trace counts as if it did.
    pub fn loses_nothing(&self) -> bool {
        match self {
            LossModel::None => true,
            LossModel::Bernoulli(loss) => loss.rate == 0.0 && loss.repair_rate.unwrap_or(0.0) == 0.0,
            LossModel::GilbertElliott(loss) => loss.rate == 0.0,
            LossModel::BitErrors(loss) => loss.bit_error_rate == 0.0,
            LossModel::Periodic(_) | LossModel::Trace(_) => false,
        }
    }

    /// Returns the share of lost frames on a line of `line_rate`; if it depends on the length, that of full frames
    /// (1,518 bytes). For a trace it is the share over its length; for a
    /// period it is the share after the first loss.
    pub fn rate(&self, line_rate: BitRate) -> f64 {
        match self {
            LossModel::None => 0.0,
            LossModel::Bernoulli(loss) => loss.rate,
            LossModel::GilbertElliott(loss) => loss.rate,
            LossModel::BitErrors(loss) => frame_loss_rate(loss, line_rate, MTU_FRAME_BYTES),
            LossModel::Periodic(loss) => 1.0 / loss.every as f64,
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
    /// Probability that a retransmission by a mechanism of the link is lost; left out: equal to `rate`. Use it to
    /// estimate rare events that need both losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub repair_rate: Option<f64>,
}
