//! Losses in bursts: the two-state chain of Gilbert (1960) and Elliott (1963).

use hitless_core::engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrival::Chance;

/// Losses in bursts. The chain takes a step for each frame, independent of its length, and no steps in pauses; its
/// first state is drawn from its stationary distribution.
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
    /// Probability that a frame within a burst is lost.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_in_burst: f64,
    /// Probability that a frame outside bursts is lost.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_between_bursts: f64,
}

fn certain() -> f64 {
    1.0
}

impl GilbertElliottLoss {
    /// Returns the share of frames that are in bursts: (rate - loss between) / (loss in - loss between).
    pub fn burst_share(&self) -> f64 {
        (self.rate - self.loss_between_bursts) / (self.loss_in_burst - self.loss_between_bursts)
    }

    /// Returns the probability that a burst begins after a frame outside bursts: p of Gilbert's chain.
    pub fn burst_probability(&self) -> f64 {
        let share = self.burst_share();
        share / (1.0 - share) / self.mean_burst_frames
    }

    /// Returns the violated rule between the four parameters, and its field.
    pub fn fault(&self) -> Option<(&'static str, String)> {
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

/// The chain. It takes one step with each frame, not with time: a burst goes on after a pause.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct GilbertElliott {
    in_burst: bool,
    #[configured]
    begins: Chance,
    #[configured]
    ends: Chance,
    #[configured]
    loss_in_burst: Chance,
    #[configured]
    loss_between_bursts: Chance,
}

impl GilbertElliott {
    /// Starts the chain in its stationary state: the first frame is in a burst with the same probability as any other.
    pub fn new(settings: &GilbertElliottLoss, stream: &mut Stream) -> Self {
        assert!(settings.fault().is_none(), "bursts that there cannot be: {:?}", settings.fault());
        Self {
            in_burst: Chance::of(settings.burst_share()).draw(stream),
            begins: Chance::of(settings.burst_probability()),
            ends: Chance::of(1.0 / settings.mean_burst_frames),
            loss_in_burst: Chance::of(settings.loss_in_burst),
            loss_between_bursts: Chance::of(settings.loss_between_bursts),
        }
    }

    /// Returns whether the next frame is lost, and takes a step.
    #[inline]
    pub fn strikes(&mut self, stream: &mut Stream) -> bool {
        let (loss, leaves) =
            if self.in_burst { (self.loss_in_burst, self.ends) } else { (self.loss_between_bursts, self.begins) };
        // The step comes after the loss, so that the first frame sees the stationary state.
        let lost = loss.draw(stream);
        self.in_burst ^= leaves.draw(stream);
        lost
    }
}
