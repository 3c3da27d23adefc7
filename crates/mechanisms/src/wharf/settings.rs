//! Wharf's parameters, with the defaults and limits of the published programs (Flightplan).

use hitless_settings::quantity::Text;
use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wharf on one link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WharfSettings {
    /// The protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Data frames of a block (k).
    #[schemars(range(min = 1, max = 50))]
    pub data_frames: u8,
    /// Parity frames behind each block (h): as many lost frames of it can be restored. 0: nothing is coded.
    #[schemars(range(max = 5))]
    pub parity_frames: u8,
    /// How long after its first frame a block is ended that is not full. The published programs count in whole
    /// milliseconds. Twice what `data_frames` full frames take on the link, and at least 10 us: chosen, so that a busy
    /// link flushes nothing.
    #[schemars(extend("x-default" = "by link rate and data_frames"))]
    #[serde(with = "Text::<Duration>")]
    pub flush_after: Duration,
}

impl Default for WharfSettings {
    fn default() -> Self {
        Self::for_rate(BitRate::from_gbps(10), Self::DATA_FRAMES)
    }
}

impl WharfSettings {
    /// Data frames of a block when a scenario does not say.
    pub const DATA_FRAMES: u8 = 5;

    /// The parameters for a link of `rate`.
    pub fn for_rate(rate: BitRate, data_frames: u8) -> Self {
        const LEAST: Duration = Duration::from_us(10);
        let block = rate.time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES) * u64::from(data_frames));
        Self { link: String::new(), data_frames, parity_frames: 1, flush_after: (block * 2).max(LEAST) }
    }
}
