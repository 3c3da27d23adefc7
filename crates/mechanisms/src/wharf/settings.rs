//! Wharf's parameters, with the defaults and limits of the published programs (Flightplan).

use hitless_core::settings::quantity::Optional;
use hitless_core::wire::Duration;
use hitless_core::wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_scenario::kind::Surroundings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wharf on a link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WharfSettings {
    /// Protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Data frames of a block (k).
    #[schemars(range(min = 1, max = 50))]
    pub data_frames: u8,
    /// Parity frames behind each block (h), and the maximum number of its lost frames that can be restored. 0: no
    /// coding.
    #[schemars(range(max = 5))]
    pub parity_frames: u8,
    /// Time from the first frame of a block after which an incomplete block is flushed. The published programs count in
    /// whole milliseconds. Default: twice the time of `data_frames` maximum frames on the link, with a minimum of 10
    /// us; chosen so that a busy link flushes nothing. If the link changes, its lowest rate counts, and the difference
    /// between its delays is added.
    #[schemars(extend("x-default" = "by link rate, frame size and data_frames"))]
    #[serde(with = "Optional::<Duration>")]
    pub flush_after: Option<Duration>,
}

impl Default for WharfSettings {
    fn default() -> Self {
        Self { link: String::new(), data_frames: 5, parity_frames: 1, flush_after: None }
    }
}

impl WharfSettings {
    /// Fills in defaults from the link.
    pub(super) fn resolve(&mut self, around: Surroundings<'_>) {
        const LEAST: Duration = Duration::from_us(10);
        let range = around.links(&self.link).first().map(|&link| around.topology.line_range(link));
        let frame_bytes = around.scenario.frame_max().0 + u64::from(ETHERNET_OVERHEAD_BYTES);
        let block_bytes = frame_bytes * u64::from(self.data_frames);
        let block = range.map_or(LEAST, |range| range.lowest_rate.time_for(block_bytes));
        // A delay that grows within a block spreads its frames.
        let spread = range.map_or(Duration::ZERO, |range| range.longest_delay.saturating_sub(range.shortest_delay));
        self.flush_after.get_or_insert((block * 2).max(LEAST) + spread);
    }

    /// The time after which an incomplete block ends.
    pub fn flush_time(&self) -> Duration {
        self.flush_after.expect("a scenario that was checked says when blocks end")
    }
}
