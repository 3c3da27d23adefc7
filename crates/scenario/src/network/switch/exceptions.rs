//! `[[switch.exceptions]]`: some switches that differ from the others.

use hitless_core::settings::quantity::Optional;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queues::{BufferSettings, SchedulerKind};

/// Settings of some switches that differ from `[switch]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchException {
    /// The switches: names, ranges such as "leaf0..leaf3", and patterns with `*` for any characters, such as "leaf*". A
    /// switch has at most one exception.
    #[schemars(length(min = 1))]
    pub switches: Vec<String>,
    /// Source of the fields below that are not given; left out: as in `[switch]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<SwitchPreset>,
    /// Time from the last bit of a frame at a port to the traffic manager; left out: as in `[switch]`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub ingress_latency: Option<Duration>,
    /// Time from the traffic manager to the first bit on the wire; left out: as in `[switch]`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub egress_latency: Option<Duration>,
    /// Time of a mirrored copy back to the traffic manager; left out: as in `[switch]`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub mirror_latency: Option<Duration>,
    /// Time from a recirculation port back to its ingress pipeline; left out: as in `[switch]`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub loopback_latency: Option<Duration>,
    /// Total time in the MACs and coding at both ends of a link between two such switches, or of a host's link; left
    /// out: as in `[switch]`. A link between switches with different values takes their mean, because each end adds
    /// half of its value.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub phy_latency: Option<Duration>,
    /// Number of queues of each port; left out: as in `[switch]`. A class goes to the last queue at switches with fewer
    /// queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub queues_per_port: Option<u8>,
    /// Order of service of a port's queues; left out: as in `[switch]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerKind>,
    /// Bytes per turn of a queue in deficit round robin; left out: as in `[switch]`.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub drr_quantum: Option<Bytes>,
    /// Size of the buffer and its division among ports; left out: as in `[switch]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSettings>,
}

/// A named set of values for `[switch]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchPreset {
    /// The switch of the papers' testbeds.
    #[default]
    TofinoLike,
    /// No pipeline latency, one queue per port, static buffers: an output-queued switch as in most simulators.
    Ideal,
}
