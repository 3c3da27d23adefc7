//! Queues of a port: buffer, scheduling, marking.

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::{BitRate, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::select::fits_pattern;
use crate::network::topology::{Port, SwitchId, Topology};

/// Division of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BufferSettings {
    /// A separate limit for every port.
    Static(StaticBuffer),
    /// One buffer for all ports; a queue can take `alpha` times the free part (Choudhury and Hahne 1998).
    Shared(SharedBuffer),
}

/// A limit for each port.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticBuffer {
    /// Maximum length of a port's queues, in packets or bytes.
    #[serde(with = "Text::<QueueLength>")]
    pub per_port: QueueLength,
}

/// One buffer for all ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Total size of a switch's buffer.
    #[serde(with = "Text::<Bytes>")]
    pub total: Bytes,
    /// Maximum length of a queue, as a multiple of the free part of the buffer.
    #[schemars(range(min = 0.001, max = 1024.0))]
    pub alpha: f64,
    /// Absolute maximum length of a queue; left out: only alpha limits it.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<Bytes>,
}

/// Order of service of a port's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// First in, first out: one queue, or several treated as one.
    Fifo,
    /// Strict priority: the highest class first.
    Strict,
    /// Deficit round robin (Shreedhar and Varghese 1995).
    Drr,
}

/// Time of the decision whether a packet is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPoint {
    /// When it enters its queue, by the packets before it (RFC 8257, section 3.1).
    #[default]
    Enqueue,
    /// When it leaves its queue, by the packets after it: the mark is more recent by the packet's queueing time. This
    /// costs an additional event for each packet.
    Dequeue,
}

/// Marking of congestion (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnSettings {
    /// Queue length at which packets are marked, not counting the packet itself; with `maximum` it is the length at
    /// which random marking starts (Kmin of DCQCN).
    #[serde(with = "Text::<QueueLength>")]
    pub threshold: QueueLength,
    /// Queue length at which every packet is marked (Kmax of DCQCN), in the unit of `threshold`. Between `threshold`
    /// and this length packets are marked at random, with a probability that grows linearly from 0 to `probability`.
    /// Left out: all packets are marked at `threshold` and above.
    #[serde(default, with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub maximum: Option<QueueLength>,
    /// Marking probability just below `maximum` (Pmax of DCQCN); required with `maximum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: Option<f64>,
    /// Time of the decision.
    #[serde(default)]
    pub at: EcnPoint,
}

/// Exceptions for some ports. If several entries apply to a port, the last one with a value wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PortSettings {
    /// Names of the switches, or patterns with `*` for any characters, such as "leaf*"; empty: every switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Rate of the port's link; left out: any rate.
    #[serde(with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Maximum queue length at these ports if `switch.buffer` is "static"; left out: as in `switch.buffer`.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub buffer: Option<QueueLength>,
    /// Marking of congestion; left out: as in `switch.ecn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSettings>,
}

impl PortSettings {
    /// Returns whether the entry applies to `port` of `switch`.
    pub fn apply_to(&self, topology: &Topology, switch: SwitchId, port: &Port) -> bool {
        let name = &topology.switch(switch).name;
        let of_switch = self.switches.is_empty() || self.switches.iter().any(|pattern| fits_pattern(name, pattern));
        let rate = topology.spec(port.link).rate;
        of_switch && self.rate.is_none_or(|wanted| wanted == rate)
    }
}
