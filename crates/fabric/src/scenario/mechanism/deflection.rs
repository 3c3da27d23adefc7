//! Parameters of Simple and Preemptive Deflection, AIFO and PABO. Sections are those of the paper (Abdous et al., CoNEXT 2023); "the authors'
//! simulator" and "program" are what they published with it. The defaults are the paper's.

use std::collections::BTreeMap;

use hitless_wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::quantity::Text;
use crate::topology::select::{SwitchPort, select_ports_by_switch};
use crate::topology::{SwitchId, Topology};

/// Simple Deflection on ports of switches: a packet whose queue is full goes to the first port that faces a switch and is not
/// full, in a circle from a random one on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimpleDeflectionSettings {
    /// The ports whose packets are deflected: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A
    /// port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may go back to the switch that it has just come from (the paper does not say; in the authors'
    /// simulator it may).
    pub to_arrival_port: bool,
    /// Where the scan begins.
    pub start: ScanStart,
    /// Where ingress knows from which queues are full (section 4.1).
    pub occupancy: DeflectionOccupancy,
}

/// Where the scan for a port that is not full begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanStart {
    /// At each port that faces a switch with the same probability (appendix E).
    #[default]
    Uniform,
    /// At a random number of five bits, and at the first port where it is beyond the last (the authors' program).
    FiveBit,
}

impl Default for SimpleDeflectionSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            to_arrival_port: true,
            start: ScanStart::default(),
            occupancy: DeflectionOccupancy::default(),
        }
    }
}

impl SimpleDeflectionSettings {
    /// The relieved ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }
}

/// Preemptive Deflection on ports of switches: a packet of low relative priority goes to a neighbouring switch before its queue
/// is full, if it passes the same test there, and is dropped if not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreemptiveDeflectionSettings {
    /// The ports whose packets are deflected: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A
    /// port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// How the priority of a packet, as marked by its sender (host.marking), is compared with those of a queue (section 3.1).
    pub relative_priority: RelativePrioritySettings,
    /// How much relative priority counts (equation 1; section 5.4: about 0.1, and about 0.5 under extreme load).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// Whether a packet enters a queue that has room for it.
    pub decision: DeflectionDecision,
    /// Q: what a queue may hold.
    pub capacity: DeflectionCapacity,
    /// Where ingress knows depths, and means of distributions, from (section 4.2).
    pub occupancy: DeflectionOccupancy,
    /// How many ports are drawn for a packet to be deflected to. Of two (the authors' simulator) the less occupied is taken
    /// that passes the test, and tested once more.
    #[schemars(range(min = 1, max = 2))]
    pub candidates: u8,
    /// Whether the port taken last is one more candidate (the authors' simulator with Swift and Bolt).
    pub memory: bool,
    /// Whether the port that the packet was to leave by is drawn as the others are, though it has failed the test (the authors'
    /// simulator).
    pub draw_own_port: bool,
    /// Whether a packet may go back to the switch that it has just come from (the paper does not say; in the authors'
    /// simulator it may).
    pub to_arrival_port: bool,
}

impl Default for PreemptiveDeflectionSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            relative_priority: RelativePrioritySettings::Quantile(QuantileSettings::default()),
            alpha: 0.1,
            decision: DeflectionDecision::Threshold(ThresholdDecision {}),
            capacity: DeflectionCapacity::default(),
            occupancy: DeflectionOccupancy::default(),
            candidates: 1,
            memory: false,
            draw_own_port: false,
            to_arrival_port: true,
        }
    }
}

impl PreemptiveDeflectionSettings {
    /// The relieved ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }
}

/// How the priority of a packet is compared with those of a queue (section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RelativePrioritySettings {
    /// By the share of recent packets of the queue that are more urgent.
    Quantile(QuantileSettings),
    /// By an exponential distribution with the mean of the queue.
    Distribution(DistributionSettings),
}

/// A window of recent packets of a queue (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuantileSettings {
    /// Packets in the window (section 5.2).
    #[schemars(range(min = 1, max = 10_000))]
    pub window: u32,
    /// One packet in so many enters it (section 5.2).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample_every: u32,
    /// Of which packets.
    pub of: QuantileOf,
    /// What the number of more urgent packets is divided by.
    pub divide_by: QuantileDivisor,
}

impl Default for QuantileSettings {
    fn default() -> Self {
        Self { window: 20, sample_every: 20, of: QuantileOf::default(), divide_by: QuantileDivisor::default() }
    }
}

/// Which packets are offered to a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileOf {
    /// Those that go to the queue (section 4.2).
    #[default]
    Enqueued,
    /// Those that are tested for it, whatever becomes of them, each time (the authors' simulator).
    Evaluated,
}

/// What the number of more urgent packets in a window is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileDivisor {
    /// The packets in it.
    #[default]
    Fill,
    /// The packets in it when it is full: until then too few are deflected (the authors' simulator).
    Window,
}

/// An exponential distribution of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DistributionSettings {
    /// The mean of which packets.
    pub mean: DistributionMean,
    /// With mean = "moving-average": how much the newest packet counts. Taken as 1/n with the nearest n (the authors' program:
    /// 1/50).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gain: f64,
    /// How the distribution and the average are reckoned.
    pub arithmetic: DistributionArithmetic,
}

impl Default for DistributionSettings {
    fn default() -> Self {
        Self { mean: DistributionMean::default(), gain: 0.02, arithmetic: DistributionArithmetic::default() }
    }
}

/// The mean of which packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionMean {
    /// Those in the queue (section 3.1 and the authors' simulator).
    #[default]
    Exact,
    /// Those that went to the queue, the newest counting most (section 4.2).
    MovingAverage,
}

/// How the distribution and the average are reckoned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistributionArithmetic {
    /// With multiplication, division and the exponential function.
    #[default]
    Exact,
    /// With look-up tables over powers of two, as a switch has to (section 4.2).
    Tables,
}

/// Whether a packet enters a queue that has room for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeflectionDecision {
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

/// Q: what a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeflectionCapacity {
    /// The limit of its own: switch.buffer.per_port, or queue_max of a shared buffer.
    StaticLimit(StaticLimit),
    /// A number of bytes, whatever its limit is (section 6: "setting the queue capacity to a constant value").
    Constant(ConstantCapacity),
    /// What the shared buffer grants it at present, at most its own limit.
    CurrentThreshold(CurrentThreshold),
}

impl Default for DeflectionCapacity {
    fn default() -> Self {
        Self::StaticLimit(StaticLimit {})
    }
}

/// A queue's own limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticLimit {}

/// What a shared buffer grants a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CurrentThreshold {}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantCapacity {
    /// How many.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
}

/// Where ingress knows from how full queues are. Where it does not see them, egress keeps of each queue what a packet finds there
/// that leaves, and a queue that nothing leaves keeps its last value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeflectionOccupancy {
    /// It sees them as they are: Tofino 2, and the authors' simulator.
    Immediate(ImmediateOccupancy),
    /// It knows what egress held at the last multiple of a time (section 6, figure 14).
    UpdateGap(UpdateGap),
    /// It is told by control packets that go round by the recirculation ports for ever, one for each queue (section 4.1).
    ControlPackets(ControlPackets),
}

impl Default for DeflectionOccupancy {
    fn default() -> Self {
        Self::Immediate(ImmediateOccupancy {})
    }
}

/// Queues as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImmediateOccupancy {}

/// Queues as they were at the last tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpdateGap {
    /// From tick to tick.
    #[serde(with = "Text::<Duration>")]
    pub gap: Duration,
    /// Whether it knows at once that a queue is full, and only depths and means are late (the authors' simulator).
    pub sees_full_at_once: bool,
}

impl Default for UpdateGap {
    fn default() -> Self {
        Self { gap: Duration::from_us(2), sees_full_at_once: false }
    }
}

/// Packets that tell ingress of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControlPackets {
    /// How many go round at least, as if the switch had more queues (appendix D: up to 512); left out: one for each queue.
    #[schemars(range(max = 65535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u16>,
}

/// AIFO on ports of switches: a queue that admits packets as if it were sorted, and drops the others (Yu et al., SIGCOMM 2021).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AifoSettings {
    /// The ports: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A port is named by one entry
    /// only.
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
    /// One packet in so many enters the window, admitted or not. The default is that of the deflection paper's simulations.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample_every: u32,
    /// C: what a queue may hold.
    pub capacity: DeflectionCapacity,
    /// Whether the rank of a packet is halved each time that it is sent again, as Vertigo and Preemptive Deflection do. AIFO
    /// has nothing of the kind: what it has dropped comes back with the same rank.
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
            capacity: DeflectionCapacity::default(),
            boost_retransmissions: false,
        }
    }
}

impl AifoSettings {
    /// The ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }
}

/// PABO on ports of switches: packets of queues that fill up bounce back to the switch that they came from (Shi et al., ICC 2017).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaboSettings {
    /// The ports whose packets bounce: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A port is
    /// named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Theta: a queue that is filled to a smaller share bounces none.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub threshold: f64,
    /// Lambda: a packet that has bounced n times bounces with a probability of (1 - exp(-lambda (x - theta) / (n + 1))) /
    /// (1 - exp(-lambda (1 - theta) / (n + 1))), the queue being filled to a share x.
    #[schemars(range(min = 0.001, max = 10_000.0))]
    pub lambda: f64,
    /// What a queue may hold.
    pub capacity: DeflectionCapacity,
}

impl Default for PaboSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), threshold: 0.8, lambda: 50.0, capacity: DeflectionCapacity::default() }
    }
}

impl PaboSettings {
    /// The relieved ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }
}
