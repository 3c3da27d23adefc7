//! Parameters of DIBS, Simple and Preemptive Deflection, AIFO and PABO. Sections are those of the paper of Simple and
//! Preemptive Deflection (Abdous et al., CoNEXT 2023), and of DIBS its own (Zarifis et al., EuroSys 2014); "the
//! authors' simulator" and "program" are what they published with them. The defaults are the papers'.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::Capacity;
use super::occupancy::Occupancy;
use super::priority::{QuantileSettings, RelativePriority};
use super::scan::ScanStart;

/// DIBS on ports of switches: a packet whose queue is full goes to a random neighbouring switch whose port has room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DibsSettings {
    /// The ports that are relieved when their queue is full: "sw2->sw6" is the one that sends on this link, "sw2" all
    /// ports of a switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may go back to the switch that it has just come from (section 2).
    pub to_arrival_port: bool,
    /// Whether a packet may go to a port that is full as well, whose queue then drops it: naive deflection, with which
    /// DIBS is compared (Practical Packet Deflection, section 2).
    pub to_full_ports: bool,
}

impl Default for DibsSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), to_arrival_port: true, to_full_ports: false }
    }
}

/// Simple Deflection on ports of switches: a packet whose queue is full goes to the first port that faces a switch and
/// is not full, in a circle from a random one on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimpleDeflectionSettings {
    /// The ports whose packets are deflected: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a
    /// switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may go back to the switch that it has just come from (the paper does not say; in the authors'
    /// simulator it may).
    pub to_arrival_port: bool,
    /// Where the scan begins.
    pub start: ScanStart,
    /// Where ingress knows from which queues are full (section 4.1).
    pub occupancy: Occupancy,
}

impl Default for SimpleDeflectionSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), to_arrival_port: true, start: ScanStart::default(), occupancy: Occupancy::default() }
    }
}

/// Preemptive Deflection on ports of switches: a packet of low relative priority goes to a neighbouring switch before
/// its queue is full, if it passes the same test there, and is dropped if not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreemptiveDeflectionSettings {
    /// The ports whose packets are deflected: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a
    /// switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// How the priority of a packet, as marked by its sender (host.priority_tagger), is compared with those of a queue
    /// (section 3.1).
    pub relative_priority: RelativePriority,
    /// How much relative priority counts (equation 1; section 5.4: about 0.1, and about 0.5 under extreme load).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Whether a packet enters a queue that has room for it.
    pub decision: Decision,
    /// Q: what a queue may hold.
    pub capacity: Capacity,
    /// Where ingress knows depths, and means of distributions, from (section 4.2).
    pub occupancy: Occupancy,
    /// How many ports are drawn for a packet to be deflected to. Of two (the authors' simulator) the less occupied is
    /// taken that passes the test, and tested once more.
    #[schemars(range(min = 1, max = 2))]
    pub candidates: u8,
    /// Whether the port taken last is one more candidate (the authors' simulator with Swift and Bolt).
    pub memory: bool,
    /// Whether the port that the packet was to leave by is drawn as the others are, though it has failed the test (the
    /// authors' simulator).
    pub draw_own_port: bool,
    /// Whether a packet may go back to the switch that it has just come from (the paper does not say; in the authors'
    /// simulator it may).
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
    /// Unless the queue holds more than Q (1 - alpha R), R being the relative priority (equation 1).
    Threshold(ThresholdDecision),
    /// Always while the queue is short; else it is deflected by chance (section 6).
    Probabilistic(ProbabilisticDecision),
}

/// The threshold of equation 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThresholdDecision {}

/// Deflection by chance, with a probability of R (q - minimum) / (Q - minimum).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProbabilisticDecision {
    /// Up to this depth all packets enter. The default is that of the authors' simulator.
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

/// AIFO on ports of switches: a queue that admits packets as if it were sorted, and drops the others (Yu et al.,
/// SIGCOMM 2021).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AifoSettings {
    /// The ports: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A port is named by one
    /// entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// k: the headroom for bursts, a share of what a queue may hold.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub headroom: f64,
    /// Whether all packets are admitted while a queue is within its headroom.
    pub admit_in_headroom: bool,
    /// Packets in the window of a queue.
    #[schemars(range(min = 1, max = 10_000))]
    pub window: u32,
    /// One packet in so many enters the window, admitted or not. The default is that of the deflection paper's
    /// simulations.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample_every: u32,
    /// C: what a queue may hold.
    pub capacity: Capacity,
    /// Whether each retransmission of a packet halves its rank, as Vertigo and Preemptive Deflection do.
    /// AIFO has nothing of the kind: what it has dropped comes back with the same rank.
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

/// PABO on ports of switches: packets of queues that fill up bounce back to the switch that they came from (Shi et al.,
/// ICC 2017).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaboSettings {
    /// The ports whose packets bounce: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A
    /// port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Theta: a queue that is filled to a smaller share bounces none.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub threshold: f64,
    /// Lambda: a packet that has bounced n times bounces with a probability of (1 - exp(-lambda (x - theta) / (n + 1)))
    /// / (1 - exp(-lambda (1 - theta) / (n + 1))), the queue being filled to a share x.
    #[schemars(range(min = 0.001, max = 10_000.0))]
    pub lambda: f64,
    /// What a queue may hold.
    pub capacity: Capacity,
}

impl Default for PaboSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), threshold: 0.8, lambda: 50.0, capacity: Capacity::default() }
    }
}
