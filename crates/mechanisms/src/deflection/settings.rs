//! Parameters of DIBS, Simple and Preemptive Deflection, AIFO and PABO. Sections refer to the paper of Simple and
//! Preemptive Deflection (Abdous et al., CoNEXT 2023), for DIBS to its own (Zarifis et al., EuroSys 2014); "the
//! authors' simulator" and "program" are their published artifacts. The defaults are the papers'.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::Capacity;
use super::occupancy::Occupancy;
use super::priority::{QuantileSettings, RelativePriority};
use super::scan::ScanStart;

/// DIBS on ports of switches: a packet with a full queue goes to a random neighbouring switch, through a port with
/// room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DibsSettings {
    /// Ports that are relieved when their queue is full: "sw2->sw6" is the port that sends on this link, "sw2" all
    /// ports of a switch. Name a port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may return to the switch that it has just come from (section 2).
    pub to_arrival_port: bool,
    /// Whether a packet may go to another full port and be dropped there: naive deflection, the baseline for DIBS
    /// (Practical Packet Deflection, section 2).
    pub to_full_ports: bool,
}

impl Default for DibsSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), to_arrival_port: true, to_full_ports: false }
    }
}

/// Simple Deflection on ports of switches: a packet with a full queue goes to the first port that faces a switch and is
/// not full, in a circle from a random start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimpleDeflectionSettings {
    /// Ports whose packets are deflected: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch.
    /// Name a port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may return to the switch that it has just come from (not stated in the paper; allowed in the
    /// authors' simulator).
    pub to_arrival_port: bool,
    /// Start of the scan.
    pub start: ScanStart,
    /// How ingress knows which queues are full (section 4.1).
    pub occupancy: Occupancy,
}

impl Default for SimpleDeflectionSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), to_arrival_port: true, start: ScanStart::default(), occupancy: Occupancy::default() }
    }
}

/// Preemptive Deflection on ports of switches: a packet of low relative priority goes to a neighbouring switch before
/// its queue is full if it passes the same test there, and is dropped otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreemptiveDeflectionSettings {
    /// Ports whose packets are deflected: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch.
    /// Name a port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// How the priority of a packet, marked by its sender (host.priority_tagger), is compared with the packets of a
    /// queue (section 3.1).
    pub relative_priority: RelativePriority,
    /// Weight of relative priority (equation 1; section 5.4: about 0.1, and about 0.5 under extreme load).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Whether a packet enters a queue that has room for it.
    pub decision: Decision,
    /// Q: capacity of a queue.
    pub capacity: Capacity,
    /// How ingress knows depths, and means of distributions (section 4.2).
    pub occupancy: Occupancy,
    /// Number of ports drawn for a deflected packet. With two (the authors' simulator), the less occupied port that
    /// passes the test is taken and tested once more.
    #[schemars(range(min = 1, max = 2))]
    pub candidates: u8,
    /// Whether the last used port is an additional candidate (the authors' simulator with Swift and Bolt).
    pub memory: bool,
    /// Whether the packet's own port can be drawn like the others, although it has failed the test (the authors'
    /// simulator).
    pub draw_own_port: bool,
    /// Whether a packet may return to the switch that it has just come from (not stated in the paper; allowed in the
    /// authors' simulator).
    pub to_arrival_port: bool,
}

impl Default for PreemptiveDeflectionSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            relative_priority: RelativePriority::Quantile(QuantileSettings::default()),
            alpha: 0.1,
            decision: Decision::Threshold(ThresholdDecision {}),
            capacity: Capacity::default(),
            occupancy: Occupancy::default(),
            candidates: 1,
            memory: false,
            draw_own_port: false,
            to_arrival_port: true,
        }
    }
}

/// Whether a packet enters a queue that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "DeflectionDecision")]
pub enum Decision {
    /// Enter unless the queue holds more than Q (1 - alpha R), with relative priority R (equation 1).
    Threshold(ThresholdDecision),
    /// Always enter while the queue is short; otherwise deflect with a probability (section 6).
    Probabilistic(ProbabilisticDecision),
}

/// The threshold of equation 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThresholdDecision {}

/// Deflection with a probability of R (q - minimum) / (Q - minimum).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProbabilisticDecision {
    /// Maximum depth at which all packets enter. The default follows the authors' simulator.
    #[serde(with = "Text::<Bytes>")]
    pub minimum_threshold: Bytes,
    /// Whether the probability is multiplied by alpha (the authors' simulator).
    pub times_alpha: bool,
}

impl Default for ProbabilisticDecision {
    fn default() -> Self {
        Self { minimum_threshold: Bytes(75_000), times_alpha: false }
    }
}

/// AIFO on ports of switches: a queue that admits packets as a sorted queue would, and drops the others (Yu et al.,
/// SIGCOMM 2021).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AifoSettings {
    /// Ports: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Name a port in a single
    /// entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// k: headroom for bursts, as a share of the capacity.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub headroom: f64,
    /// Whether all packets are admitted while a queue is within its headroom.
    pub admit_in_headroom: bool,
    /// Packets in the window of a queue.
    #[schemars(range(min = 1, max = 10_000))]
    pub window: u32,
    /// Sampling period: one packet in this many enters the window, admitted or not. The default follows the deflection
    /// paper's simulations.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample_every: u32,
    /// C: capacity of a queue.
    pub capacity: Capacity,
    /// Whether each retransmission of a packet halves its rank, as in Vertigo and Preemptive Deflection. Not part of
    /// published AIFO: there a dropped packet returns with the same rank.
    pub boost_retransmissions: bool,
}

impl Default for AifoSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            headroom: 0.1,
            admit_in_headroom: true,
            window: 20,
            sample_every: 15,
            capacity: Capacity::default(),
            boost_retransmissions: false,
        }
    }
}

/// PABO on ports of switches: packets of a filling queue bounce back to the switch that they came from (Shi et al., ICC
/// 2017).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaboSettings {
    /// Ports with bouncing packets: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Name a
    /// port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Theta: a queue filled to at most this share of its capacity bounces no packet.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub threshold: f64,
    /// Lambda: a packet that has bounced n times bounces with a probability of (1 - exp(-lambda (x - theta) / (n + 1)))
    /// / (1 - exp(-lambda (1 - theta) / (n + 1))), with the queue filled to a share x.
    #[schemars(range(min = 0.001, max = 10_000.0))]
    pub lambda: f64,
    /// Capacity of a queue.
    pub capacity: Capacity,
}

impl Default for PaboSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), threshold: 0.8, lambda: 50.0, capacity: Capacity::default() }
    }
}
