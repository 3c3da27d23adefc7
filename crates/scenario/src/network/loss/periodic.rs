//! Losses with an exact period, so that a test knows which frames of a link are lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Losses with an exact period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicLoss {
    /// Distance between two lost frames, in frames: 1 loses every frame from `first`.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub every: u64,
    /// Number of the first lost frame, counted from 1 at the start of the model; may be above `every`.
    #[schemars(range(min = 1, max = 1000000000000_u64))]
    pub first: u64,
}

/// A countdown to the next loss.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct Periodic {
    #[configured]
    every: u64,
    /// Number of frames up to and including the next lost one.
    left: u64,
}

impl Periodic {
    pub fn new(settings: PeriodicLoss) -> Self {
        let PeriodicLoss { every, first } = settings;
        assert!(every > 0 && first > 0, "losses every {every} frames from frame {first}");
        Self { every, left: first }
    }

    /// Returns whether the next frame is lost, and counts it.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        self.left -= 1;
        let is_lost = self.left == 0;
        if is_lost {
            self.left = self.every;
        }
        is_lost
    }
}
