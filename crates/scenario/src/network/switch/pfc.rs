//! `[switch.pfc]`: lossless traffic classes by priority flow control.

use hitless_core::settings::quantity::Optional;
use hitless_core::wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Priority flow control (PFC, IEEE 802.1Qbb): switches pause their link partners before a buffer overflows. Hosts and
/// switches obey. Everything left out follows from the scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PfcSettings {
    /// Lossless traffic classes; left out: the classes of all flows with a RoCE transport, or of all flows if none has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), inner(range(max = 7)))]
    pub classes: Vec<u8>,
    /// Bytes of a class from one port at which the link partner is paused. Left out: `switch.buffer.alpha` times the
    /// free part of a shared buffer; with a static buffer, the port's part for the class minus the headroom.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Bytes>,
    /// Distance below the threshold at which the partner resumes. Left out: two of the longest frames.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub xon_offset: Option<Bytes>,
    /// Bytes reserved at each port for each lossless class, for frames that arrive after the threshold. Left out: by
    /// rate, delay and response time of each link. With less than that packets can be dropped, and the run warns.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub headroom: Option<Bytes>,
    /// Time from the arrival of a pause frame at a port or network card until the class stops. Left out: the maximum
    /// that IEEE 802.3, clause 31B.3.7, allows for the rate of the link.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub response: Option<Duration>,
    /// Watchdog that ends pauses that last too long; left out: a pause lasts as long as the partner repeats it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<PfcWatchdogSettings>,
}

/// The watchdog of flow control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PfcWatchdogSettings {
    /// Duration of a pause, or of a wait for credit, with packets waiting, after which the class ignores pause frames,
    /// or drops its packets. Left out: twice the time in which the slowest link of the fabric sends the buffer of a
    /// switch.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub detection: Option<Duration>,
    /// Time without pause frames after which the class obeys them again; with credits, the maximum time of dropping.
    /// Left out: as `detection`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub restoration: Option<Duration>,
    /// What the class does with its packets meanwhile.
    pub action: PfcWatchdogAction,
}

/// The fate of packets after a pause, or a wait for credit, that lasted too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PfcWatchdogAction {
    /// They are dropped, which breaks a cycle of ports that wait for each other.
    #[default]
    Drop,
    /// They are sent; only with `pfc`.
    Forward,
}

/// Returns the response time of a port in pause quanta (IEEE 802.3, clause 31B.3.7; the table is SONiC's). Other rates
/// have the value of the next higher entry.
pub fn response_quanta(rate: BitRate) -> u64 {
    const BY_GBPS: [(u64, u64); 7] = [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905)];
    let found = BY_GBPS.iter().find(|(gbps, _)| rate <= BitRate::from_gbps(*gbps));
    found.map_or(905, |(_, quanta)| *quanta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_time_follows_the_rate() {
        for (gbps, quanta) in [(1, 67), (10, 67), (25, 80), (50, 147), (100, 394), (150, 453), (400, 905), (800, 905)] {
            assert_eq!(response_quanta(BitRate::from_gbps(gbps)), quanta, "{gbps} Gb/s");
        }
    }
}
