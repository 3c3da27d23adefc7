//! `loss` of a `[[link]]`: which of its frames arrive corrupted.

use hitless_wire::BitRate;
use hitless_wire::packet::MTU_FRAME_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scenario;
use super::error::Problem;
use crate::loss::frame_loss_rate;
use crate::loss::trace::LossTrace;

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

/// Losses in bursts. The chain takes a step with each frame, whatever its length, and none in pauses; its first state is
/// drawn from its stationary distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottLoss {
    /// Share of all frames that are lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// Mean number of frames in a burst, which is the stay in the bad state: 1 / r of Gilbert's chain. With
    /// `loss_in_burst` of 1 it is the mean number of frames lost in a row.
    #[schemars(range(min = 1.0, max = 1e12))]
    pub mean_burst_frames: f64,
    /// Probability that a frame of a burst is lost.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_in_burst: f64,
    /// Probability that another frame is lost.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_between_bursts: f64,
}

fn certain() -> f64 {
    1.0
}

impl GilbertElliottLoss {
    /// The share of frames that are in bursts: (rate - loss between) / (loss in - loss between).
    pub fn burst_share(&self) -> f64 {
        (self.rate - self.loss_between_bursts) / (self.loss_in_burst - self.loss_between_bursts)
    }

    /// The probability that a burst begins behind a frame that is in none: p of Gilbert's chain.
    pub fn burst_probability(&self) -> f64 {
        let share = self.burst_share();
        share / (1.0 - share) / self.mean_burst_frames
    }

    /// What is wrong with the four together: the field and the rule.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
        let Self { rate, mean_burst_frames, loss_in_burst, loss_between_bursts } = *self;
        if loss_in_burst <= loss_between_bursts {
            return Some((
                "loss_in_burst",
                format!("must be above loss_between_bursts, which is {loss_between_bursts}"),
            ));
        }
        if !(loss_between_bursts..loss_in_burst).contains(&rate) {
            let rule = format!(
                "must be below loss_in_burst and not below loss_between_bursts, which are {loss_in_burst} and \
                 {loss_between_bursts}: bursts are some of the frames, not all"
            );
            return Some(("rate", rule));
        }
        let share = self.burst_share();
        let least_frames = share / (1.0 - share);
        (mean_burst_frames < least_frames).then(|| {
            let percent = 100.0 * share;
            let rule =
                format!("must be at least {least_frames:.3}: shorter bursts cannot be {percent:.1} % of all frames");
            ("mean_burst_frames", rule)
        })
    }
}

/// Losses by bit errors, independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitErrorLoss {
    /// Share of bits on the line that arrive wrong, before correction.
    #[schemars(range(min = 0.0, max = 0.5))]
    pub bit_error_rate: f64,
    /// Forward error correction of the link.
    pub fec: ErrorCorrection,
}

/// Forward error correction of an Ethernet link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ErrorCorrection {
    /// None, as 10GBASE-R: a wrong bit spoils its block of 66 bits.
    #[serde(rename = "none")]
    None,
    /// RS(528,514), as 25GBASE-SR and 100GBASE-SR4 (IEEE 802.3, clauses 91 and 108): 7 of 528 symbols of 10 bits.
    #[serde(rename = "rs-528-514")]
    Rs528,
    /// RS(544,514), as PAM4 links of 50G and above (clauses 91, 119 and 134): 15 of 544 symbols of 10 bits. From 200G on
    /// two codewords are interleaved.
    #[serde(rename = "rs-544-514")]
    Rs544,
}

/// Losses as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceLoss {
    /// Path of a file that ends in ".losses", relative to the scenario. Its lines are two whole numbers, `arrived lost`:
    /// "9812 1" says that 9,812 frames arrive and the one behind them is lost. Lines that begin with # say nothing.
    pub file: String,
    /// What comes behind its last frame.
    #[serde(default)]
    pub at_end: TraceEnd,
    /// Digest of the file's numbers, which the effective configuration has. Given, a file with other numbers is
    /// refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What is in the file.
    #[serde(skip)]
    pub trace: LossTrace,
}

/// What comes behind the last frame of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceEnd {
    /// Its first.
    #[default]
    Repeat,
    /// No more losses.
    Stop,
}

/// What a file of a loss trace ends in.
const TRACE_ENDING: &str = ".losses";

impl Scenario {
    /// Reads the files of loss traces, and reports those that cannot be read.
    pub(super) fn read_loss_traces(&mut self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, link) in self.links.iter_mut().enumerate() {
            let of_start = (format!("link[{index}].loss"), &mut link.loss);
            let field_of = |number| format!("link[{index}].changes[{number}].loss");
            let of_changes = link.changes.iter_mut().enumerate().map(|(n, change)| (field_of(n), &mut change.loss));
            for (field, model) in std::iter::once(of_start).chain(of_changes) {
                let LossModel::Trace(loss) = model else { continue };
                problems.extend(
                    loss.read(&self.folder).err().map(|(name, rule)| Problem::new(format!("{field}.{name}"), "", rule)),
                );
            }
        }
        problems
    }
}

impl TraceLoss {
    /// Reads its file; otherwise the field that is wrong and the rule.
    fn read(&mut self, folder: &std::path::Path) -> Result<(), (&'static str, String)> {
        self.trace = read_trace(folder, &self.file).map_err(|rule| ("file", rule))?;
        let digest = self.trace.digest();
        match self.digest.replace(digest.clone()) {
            Some(given) if given != digest => {
                Err(("digest", format!("is not \"{given}\" but \"{digest}\": the file has other numbers now")))
            }
            _ => Ok(()),
        }
    }
}

fn read_trace(folder: &std::path::Path, file: &str) -> Result<LossTrace, String> {
    if !file.ends_with(TRACE_ENDING) {
        return Err(format!("must end in \"{TRACE_ENDING}\""));
    }
    let path = folder.join(file);
    let bytes = std::fs::read(&path).map_err(|error| {
        format!("{} cannot be read: {error}; the path is relative to the folder of the scenario", path.display())
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        format!("{}, line {line}: must be text in UTF-8", path.display())
    })?;
    LossTrace::parse(&text).map_err(|error| format!("{}, {error}", path.display()))
}
