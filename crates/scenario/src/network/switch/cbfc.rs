//! `[switch.cbfc]`: lossless traffic classes by credit-based flow control.

use hitless_core::settings::quantity::Optional;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pfc::PfcWatchdogSettings;

/// Credit-based flow control (CBFC, Ultra Ethernet's link layer): a port or network card sends a frame only if the
/// receiver has granted memory for it. Everything left out follows from the scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CbfcSettings {
    /// Lossless traffic classes; left out: the classes of all flows with a RoCE transport, or of all flows if none has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(range(max = 7)))]
    pub classes: Vec<u8>,
    /// Memory of each lossless class at each receiving port. Left out: by rate, delay, response time and distance of
    /// updates, so that a class keeps each link busy with frames of the maximum length. With less the run warns, and
    /// names the highest throughput.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Memory in one credit; a frame takes whole credits. Left out: 64 B, the shortest Ethernet frame.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub credit: Option<Bytes>,
    /// Time from the arrival of an update until the sender uses its credits. Left out: as for pause frames, the maximum
    /// that IEEE 802.3, clause 31B.3.7, allows for the rate of the link.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub response: Option<Duration>,
    /// Minimum distance of two updates of a class, in bytes on the line. An update takes 8 B. Left out: the maximum of
    /// the longest frame and 800 B.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub update_spacing: Option<Bytes>,
    /// Distance of two frames with the count of consumed credits, in bytes on the line. They repair losses, and are
    /// sent only if links lose frames or fail, while credits are in use. The minimum is 16 such frames (84 B each) for
    /// each lossless class. Left out: the maximum of the class's memory and 16 KiB for each lossless class.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub sync_spacing: Option<Bytes>,
    /// Watchdog that drops the packets of a class that has had no credit for too long, until credit returns or the
    /// restoration time has passed; left out: a class waits for ever. Its action can only be "drop".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<PfcWatchdogSettings>,
}

impl CbfcSettings {
    /// Returns the bytes of one credit.
    pub fn credit_bytes(&self) -> u64 {
        self.credit.map_or(64, |credit| credit.0.max(1))
    }
}
