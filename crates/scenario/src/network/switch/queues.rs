//! Queues of a port: their buffer, their turns, their marking.

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::{BitRate, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::{Port, SwitchId, Topology};

/// How the buffer is shared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BufferSettings {
    /// Every port has a limit of its own.
    Static(StaticBuffer),
    /// All ports share one buffer; a queue may take `alpha` times what is free (Choudhury and Hahne 1998).
    Shared(SharedBuffer),
}

/// A limit for each port.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticBuffer {
    /// What may wait at one port, in packets or bytes.
    #[serde(with = "Text::<QueueLength>")]
    pub per_port: QueueLength,
}

/// One buffer for all ports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBuffer {
    /// Size of the buffer of one switch.
    #[serde(with = "Text::<Bytes>")]
    pub total: Bytes,
    /// A queue may grow to alpha times the free part of the buffer.
    #[schemars(range(min = 0.001, max = 1024.0))]
    pub alpha: f64,
    /// What no queue may exceed in any case; left out: only alpha decides.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<Bytes>,
}

/// How the queues of a port take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// One queue, or several as if they were one.
    Fifo,
    /// The highest class first.
    Strict,
    /// Deficit round robin (Shreedhar and Varghese 1995).
    Drr,
}

/// When a switch decides whether a packet is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPoint {
    /// When it enters its queue, by what is before it (RFC 8257, section 3.1).
    #[default]
    Enqueue,
    /// When it leaves its queue, by what is left behind it: the mark is younger by the time that the packet has waited.
    /// A port then costs an event more for each packet.
    Dequeue,
}

/// Marking of congestion (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnSettings {
    /// A packet is marked when the queue is at least this long at that time, the packet itself not counted; with
    /// `maximum` it may be marked from here on (Kmin of DCQCN).
    #[serde(with = "Text::<QueueLength>")]
    pub threshold: QueueLength,
    /// Mark by chance: with a probability that grows in a straight line from 0 at `threshold` to `probability` here,
    /// and every packet from here on (Kmax of DCQCN). In the unit of `threshold`; left out: all from `threshold` on.
    #[serde(default, with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub maximum: Option<QueueLength>,
    /// The probability just below `maximum` (Pmax of DCQCN); given with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: Option<f64>,
    /// When it is decided.
    #[serde(default)]
    pub at: EcnPoint,
}

/// Ports that differ from the others. Where several entries name a port, the last that says something counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PortSettings {
    /// Switches that they belong to, by name; empty: every switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Rate of the link that they send on; left out: any.
    #[serde(with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// What may wait there, where `switch.buffer` is "static"; left out: as `switch.buffer` says.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub buffer: Option<QueueLength>,
    /// Marking of congestion; left out: as `switch.ecn` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSettings>,
}

impl PortSettings {
    /// Whether they hold for `port` of `switch`.
    pub fn apply_to(&self, topology: &Topology, switch: SwitchId, port: &Port) -> bool {
        let name = &topology.switch(switch).name;
        let of_switch = self.switches.is_empty() || self.switches.contains(name);
        let rate = topology.link(port.link.link).settings.rate;
        of_switch && self.rate.is_none_or(|wanted| wanted == rate)
    }
}
