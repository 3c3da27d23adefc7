//! Losses in bursts: the two-state chain of Gilbert (1960) and Elliott (1963).

use hitless_engine::Stream;

use super::Chance;
use crate::scenario::GilbertElliottLoss;

/// The chain. It takes one step with each frame, not with time: a burst goes on after a pause.
#[derive(Clone, Debug)]
pub(super) struct GilbertElliott {
    in_burst: bool,
    begins: Chance,
    ends: Chance,
    loss_in_burst: Chance,
    loss_between_bursts: Chance,
}

impl GilbertElliott {
    /// The chain in its stationary state: the first frame is in a burst as likely as any other.
    pub fn new(settings: &GilbertElliottLoss, stream: &mut Stream) -> Self {
        Self {
            in_burst: Chance::of(settings.burst_share()).draw(stream),
            begins: Chance::of(settings.burst_probability()),
            ends: Chance::of(1.0 / settings.mean_burst_frames),
            loss_in_burst: Chance::of(settings.loss_in_burst),
            loss_between_bursts: Chance::of(settings.loss_between_bursts),
        }
    }

    /// Whether the next frame is lost, and a step.
    #[inline]
    pub fn strikes(&mut self, stream: &mut Stream) -> bool {
        let (loss, leaves) =
            if self.in_burst { (self.loss_in_burst, self.ends) } else { (self.loss_between_bursts, self.begins) };
        let lost = loss.draw(stream);
        self.in_burst ^= leaves.draw(stream);
        lost
    }
}
